//! Copying a generation, value by value: backups, compaction.
//!
//! Every value's checksum is verified on the way, and the copy is written in key order, so that its pages are full and
//! nothing that was deleted comes along.

use std::io::ErrorKind as IoKind;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::envelope;
use super::environment::{Environment, Mode, Snapshot, WriteTransaction};
use super::folder::{Folder, io_error};
use super::fork;
use super::gate::Store;
use super::generation::{self, Replaced, Site};
use super::identity::StoreId;
use super::keys::{Key, STORE, Table};
use super::meta::Meta;
use super::pages::Pages;
use crate::{Error, ErrorKind, Result, interrupt};

/// Bytes in one transaction of a copy.
pub(super) const BATCH_BYTES: usize = 8 << 20;

/// Writes a whole, verified, compacted copy of the store to `target`, a folder that does not exist or is empty.
pub fn backup(store: &Store, target: &Path) -> Result<u64> {
    check_target("backing up to", target)?;
    let id = StoreId::random()?;
    let build = |workshop: &Path| {
        store.read(|snapshot| {
            let meta = Meta { format: store.format(), store: Some(id), generation: 1, ..Meta::expect(snapshot)? };
            copy(snapshot, workshop, meta)
        })
    };
    fork::giving_way(|| generation::found(&Folder::new(target.to_owned()), build))
}

/// Refuses a target that holds something, or that cannot be a folder.
pub(super) fn check_target(doing: &str, target: &Path) -> Result<()> {
    let wrong = match std::fs::read_dir(target) {
        Ok(mut entries) => entries.next().map(|_| "it holds something"),
        Err(error) if error.kind() == IoKind::NotFound => None,
        Err(error) if error.kind() == IoKind::NotADirectory && target.symlink_metadata().is_ok() => Some("it is a file"),
        Err(error) if error.kind() == IoKind::NotADirectory => Some("what should be a folder above it is a file"),
        Err(error) => return Err(io_error(doing, target, &error)),
    };
    wrong.map_or(Ok(()), |wrong| {
        let target = target.display();
        Err(Error::invalid(format!("{doing} {target}: the target must not exist or be an empty folder, and {wrong}: give another path")))
    })
}

/// Rewrites the store into a new generation and moves every process over to it.
pub fn compact(store: &Arc<Store>, busy_timeout: Duration) -> Result<u64> {
    let build = |site: &Site<'_>| rewrite(store, site).map(Some);
    let compacted = fork::giving_way(|| generation::replace_open(store, busy_timeout, generation::EITHER, build, || ()))?;
    let Some(Replaced { made, left }) = compacted else { return Ok(0) };
    let now = "the store is in its new generation, and nothing is lost";
    let next = "they have what was forgotten: compact it again, or open it again for writing";
    left.map_or(Ok(made), |why| Err(generation::left_over(store, "compacting", now, &why, next)))
}

/// Copies the open generation.
fn rewrite(store: &Store, site: &Site<'_>) -> Result<u64> {
    let meta = Meta { format: store.format(), generation: site.number, ..Meta::expect(&site.snapshot)? };
    copy(&site.snapshot, &site.workshop, meta)
}

/// Copies all values of a snapshot as they are stored into the generation in `workshop` that `meta` describes, and syncs it; how many.
pub(super) fn copy(snapshot: &Snapshot, workshop: &Path, meta: Meta) -> Result<u64> {
    let new = Environment::build(workshop, meta.generation, Mode::building(meta.format), meta.identity()?, meta.secret)?;
    let retired = Key::new(STORE, Table::Retired);
    let copied = copy_values(snapshot, &new, |key, value, txn| if key == retired.as_slice() { Ok(()) } else { txn.append(key, value) })?;
    let mut txn = new.write()?;
    meta.write(&mut txn)?;
    txn.commit()?;
    new.finish()?;
    Ok(copied)
}

/// Gives every value of a snapshot to `put`, in key order and with its checksum verified, in transactions of a new generation; how many
/// there are, which is how many the tree counts. `put` writes what becomes of a value.
pub(super) fn copy_values(
    snapshot: &Snapshot,
    new: &Environment,
    mut put: impl FnMut(&[u8], &[u8], &mut WriteTransaction<'_>) -> Result<()>,
) -> Result<u64> {
    let (mut from, mut seen) = (Some(vec![0]), 0);
    while let Some(first) = from.take() {
        let (mut txn, mut bytes) = (new.write()?, 0);
        snapshot.scan_stored(&first, &[u8::MAX; 32], &mut |key, value| {
            if bytes >= BATCH_BYTES {
                from = Some(key.to_vec());
                return Ok(ControlFlow::Break(()));
            }
            envelope::open(key, value)?;
            put(key, value, &mut txn)?;
            bytes += key.len() + value.len();
            seen += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        txn.commit()?;
        if from.is_some() {
            new.sync()?; // so that the last one does not wait for all of it
            interrupt::check()?;
        }
    }
    if seen == snapshot.tree().entries() { Ok(seen) } else { Err(missing(seen, snapshot.tree().entries())) }
}

/// The error of a tree that does not hold what its meta page counts.
fn missing(seen: u64, counted: u64) -> Error {
    Error::new(
        ErrorKind::StoreCorrupt,
        format!(
            "copying the store: its meta page counts {counted} values and {seen} are there; nothing was changed: restore it from a backup, \
             or save what is intact with `memspan check STORE --repair NEW`"
        ),
    )
}

/// Reads every value and compares its checksum; the damaged ones' errors.
pub fn verify(store: &Store) -> Result<(u64, Vec<Error>)> {
    store.read(|snapshot| {
        let (mut seen, mut damaged) = (0, Vec::new());
        snapshot.scan_stored(&[0], &[u8::MAX; 32], &mut |key, value| {
            seen += 1;
            match envelope::open(key, value) {
                Err(error) if error.kind() == ErrorKind::StoreCorrupt => damaged.push(error),
                other => drop(other?),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok((seen, damaged))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::envelope::Codec;
    use crate::store::pages::PagesMut;
    use crate::store::{Durability, StoreOptions};

    /// A fork waits for the gate, and every thread of the process for the fork: a copy of a gigabyte must not keep them.
    #[test]
    fn a_compaction_gives_way_to_forks_and_comes_to_its_end() {
        let path = std::env::temp_dir().join(format!("memspan-gives-way-{}", std::process::id()));
        let busy_timeout = Duration::from_secs(20);
        let options = StoreOptions { durability: Durability::Relaxed, read_only: false, busy_timeout, now: 1 };
        let store = Store::open(&path, &options).expect("open");
        let fill = |txn: &mut crate::store::WriteTransaction<'_>| {
            (0..3000_u32).try_for_each(|number| {
                let key = Key::new(7, Table::Access).u32(number);
                txn.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::Raw, &[7; 4000]))
            })
        };
        store.write(busy_timeout, fill).expect("more than a batch");
        let once = || generation::replace_open(&store, busy_timeout, "", |site| rewrite(&store, site).map(Some), || ());
        let waiting = interrupt::Wait::begin();
        assert!(interrupt::giving_way(once).is_none(), "it gave way");
        assert_eq!(store.size().expect("open").0, 1, "and nothing was switched");
        let copied = compact(&store, busy_timeout).expect("it does not give way for ever");
        drop(waiting);
        assert_eq!((copied, store.size().expect("open").0), (3001, 2));
        store.close();
        let _ = std::fs::remove_dir_all(path);
    }
}
