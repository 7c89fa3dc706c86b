//! Repair: every value of a damaged store that is intact, in a new store, and a list of what is lost.
//!
//! The tree is walked as far as its branches can be read; where one cannot, the leaves that nobody leads to are taken as they are found in
//! the file, unless they are free (an old version of a page says what was replaced or forgotten since). A value counts
//! where its checksum, which covers its key, is right. The damaged store is not changed. `engine/mend.rs` then makes anew what was made from
//! records of which some are lost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use super::copy::{BATCH_BYTES, check_target};
use super::envelope;
use super::environment::{Environment, Mode, Snapshot};
use super::folder::{Folder, GenerationNumber};
use super::generation;
use super::identity::{Secret, StoreId};
use super::keys::{Key, STORE, Table, u32_at};
use super::meta::{self, Meta};
use super::pages::PagesMut;
use super::read_lock::ReadLock;
use super::tree::page::{Kind, Order, Page};
use crate::{Error, Result, interrupt};

/// How long it waits for a write to the damaged store, where it must.
const PATIENCE: Duration = Duration::from_secs(5);

/// The report on the repair of a damaged store.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Values in the new store.
    pub saved: u64,
    /// Damaged values of which nothing is lost, because they are made anew from others: a sentence each.
    pub rebuilt: Vec<String>,
    /// The losses: damaged pages and values, one sentence each, in the order they were met.
    pub lost: Vec<String>,
}

/// The result of mending.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mended {
    /// The losses that it met.
    pub lost: Vec<String>,
    /// Something was left as it is. Then nobody knows whether everything that is made from records was made anew.
    pub partly: bool,
}

/// Changes the values that were saved, before anybody sees them. It is told whether any is missing; where none is, it only looks whether
/// it could, and completes what an older version did not count.
pub type Mend<'m> = &'m dyn Fn(&mut Environment, bool) -> Result<Mended>;

/// Saves what is intact of the store at `source` in a new store at `target`, which must not exist or be an empty folder.
pub fn repair(source: &Path, target: &Path, format: u32, now: i64) -> Result<Repaired> {
    repair_and(source, target, format, now, &|_, damaged| Ok(Mended { lost: Vec::new(), partly: damaged }))
}

/// Saves what is intact of a damaged store, and lets `mend` make the saved values agree with each other.
pub fn repair_and(source: &Path, target: &Path, format: u32, now: i64, mend: Mend<'_>) -> Result<Repaired> {
    check_target("repairing into", target)?;
    let from = Folder::new(source.to_owned());
    let _read_lock = ReadLock::where_needed(source, Instant::now() + PATIENCE)?;
    let (damaged, next) = in_use(&from, format)?;
    let repaired = generation::found(&Folder::new(target.to_owned()), |workshop| save(&damaged.snapshot()?, workshop, (format, now), mend));
    let number = damaged.number();
    damaged.close();
    let mut repaired = repaired?;
    let newest = from.generations()?.into_iter().rfind(|other| *other > number);
    let is_whole = next.is_ok() && repaired.lost.is_empty();
    repaired.lost.extend(match (next, newest) {
        (Ok(Some(gone)), _) => Some(format!("what was written since gen-{gone} replaced gen-{number}: gen-{gone} is not there")),
        (_, Some(newest)) if !is_whole => Some(format!(
            "perhaps what was written since gen-{newest} replaced gen-{number}: whether it did cannot be read; to save what is in it, write gen-{newest} into CURRENT in a copy of the store, and repair that"
        )),
        _ => None,
    });
    Ok(repaired)
}

/// The generation that was in use, from where CURRENT points along what is retired; and the one that it names as its successor, which is
/// not there.
fn in_use(folder: &Folder, format: u32) -> Result<(Environment, Result<Option<GenerationNumber>>)> {
    let mode = Mode { read_only: true, relaxed: false, building: false, format };
    let mut number = folder.start()?;
    loop {
        let environment = Environment::open_unchecked(&folder.generation(number), number, mode)?;
        let next = environment.snapshot().and_then(|snapshot| meta::retired(&snapshot));
        match next {
            Ok(Some(next)) if next > number && folder.generation(next).is_dir() => number = next,
            next => return Ok((environment, next)),
        }
    }
}

fn save(snapshot: &Snapshot, workshop: &Path, (format, now): (u32, i64), mend: Mend<'_>) -> Result<Repaired> {
    let (mut repaired, mut orphans) = (Repaired::default(), BTreeMap::new());
    let reached = reached(snapshot, &mut repaired)?;
    collect_orphans(snapshot, &reached, &mut orphans);
    let known = Meta::read(snapshot).ok().flatten();
    let sealed = known.map_or_else(|| Meta::read_copy_of_sealed(snapshot).ok().flatten(), |meta| meta.sealed);
    let id = StoreId::random()?;
    let secret = known.map_or_else(Secret::random, |meta| Ok(meta.secret))?;
    let mut new = Environment::build(workshop, 1, Mode::building(format), id, secret)?;
    for number in &reached {
        interrupt::check()?;
        write_leaf(snapshot, &new, *number, &mut repaired)?;
    }
    write_orphans(&new, orphans, &mut repaired)?;
    let mut txn = new.write()?;
    let created_at = known.map_or(now, |meta| meta.created_at);
    Meta { format, created_at, store: Some(id), generation: 1, secret, sealed }.write(&mut txn)?;
    txn.delete(Key::new(STORE, Table::Retired).as_slice())?;
    txn.commit()?;
    let mended = mend(&mut new, !repaired.lost.is_empty() || !repaired.rebuilt.is_empty())?;
    if mended.partly {
        repaired.lost.append(&mut repaired.rebuilt);
    }
    repaired.lost.extend(mended.lost);
    new.finish()?;
    Ok(repaired)
}

/// The leaves that the tree leads to; pages that cannot be read are noted.
fn reached(snapshot: &Snapshot, repaired: &mut Repaired) -> Result<BTreeSet<u64>> {
    let mut reached = BTreeSet::new();
    let mut lost = Vec::new();
    snapshot.tree().salvage(
        &mut |number, _| {
            reached.insert(number);
            Ok(())
        },
        &mut |error| lost.push(loss(&error)),
    )?;
    repaired.lost.append(&mut lost);
    Ok(reached)
}

/// Writes the intact values of a leaf, in one transaction.
fn write_leaf(snapshot: &Snapshot, new: &Environment, number: u64, repaired: &mut Repaired) -> Result<()> {
    let mut txn = new.write()?;
    for entry in snapshot.tree().leaf_entries(number)? {
        match entry.map(|(key, value)| (key, value, envelope::open(key, value))) {
            Ok((key, value, Ok(_))) => {
                txn.put(key, value)?;
                repaired.saved += 1;
            }
            Ok((key, _, Err(error))) if Table::of(key).is_some_and(Table::is_derived) => repaired.rebuilt.push(loss(&error)),
            Ok((key, _, Err(error))) if Table::of(key) == Some(Table::VectorExact) => {
                repaired.lost.push(format!("{}; it is a vector, which `memspan maintain` makes again", loss(&error)));
            }
            Ok((_, _, Err(error))) | Err(error) => repaired.lost.push(loss(&error)),
        }
    }
    txn.commit()
}

/// An error of reading as the loss that it is: a repair is what its advice leads to.
fn loss(error: &Error) -> String {
    let said = error.message();
    let said = said.strip_prefix("reading the store: ").unwrap_or(said);
    ["; nothing was changed: ", "; restore the store "]
        .iter()
        .fold(said, |said, advice| said.split(advice).next().unwrap_or(said))
        .to_owned()
}

/// Values of leaves that nobody leads to and that are not free.
fn collect_orphans(snapshot: &Snapshot, reached: &BTreeSet<u64>, orphans: &mut BTreeMap<Vec<u8>, Vec<u8>>) {
    let Some(free) = snapshot.free_pages() else { return };
    let tree = snapshot.tree();
    let candidates = (2..=tree.last_page()).filter(|number| !reached.contains(number) && !free.contains(number));
    for number in candidates {
        let Ok(bytes) = tree.raw(number) else { continue };
        if Page::new(bytes).check(number, Kind::Leaf, Order::Bytes).is_err() {
            continue;
        }
        for (key, value) in tree.leaf_entries(number).into_iter().flatten().flatten() {
            if key.len() <= super::keys::MAX_KEY && u32_at(key, 0).is_some() && envelope::open(key, value).is_ok() {
                orphans.insert(key.to_vec(), value.to_vec());
            }
        }
    }
}

fn write_orphans(new: &Environment, orphans: BTreeMap<Vec<u8>, Vec<u8>>, repaired: &mut Repaired) -> Result<()> {
    let (mut txn, mut bytes) = (new.write()?, 0);
    for (key, value) in orphans {
        if super::pages::Pages::get(&txn, &key)?.is_some() {
            continue;
        }
        txn.put(&key, &value)?;
        repaired.saved += 1;
        bytes += value.len();
        if bytes > BATCH_BYTES {
            txn.commit()?;
            (txn, bytes) = (new.write()?, 0);
        }
    }
    txn.commit()
}
