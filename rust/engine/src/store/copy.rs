//! Copying a generation, value by value: backups, compaction.
//!
//! Every value's checksum is verified on the way, and the copy is written in key order, so that its pages are full and
//! nothing that was deleted comes along.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::envelope;
use super::environment::{Environment, Mode, Snapshot};
use super::folder::{Folder, Found, GenerationNumber};
use super::fork;
use super::gate::Store;
use super::identity::StoreId;
use super::keys::{Key, STORE, Table};
use super::meta::{self, Meta};
use super::pages::Pages;
use crate::{Error, ErrorKind, Result};

/// How many forks a compaction gives way to, beginning anew behind each; then it goes on to its end.
const MOST_FORKS: u32 = 5;

/// Bytes in one transaction of a copy.
pub(super) const BATCH_BYTES: usize = 8 << 20;

/// Writes a whole, verified, compacted copy of the store to `target`, a folder that does not exist or is empty.
pub fn backup(store: &Store, target: &Path) -> Result<u64> {
    check_target("backing up to", target)?;
    let folder = Folder::new(target.to_owned());
    folder.make()?;
    let (workshop, id) = (folder.workshop(1)?, StoreId::random()?);
    let copied = store.read(|snapshot| copy(snapshot, &workshop, 1, store.format(), id, false)).inspect_err(|_| discard(&workshop))?;
    folder.publish(&workshop, 1)?;
    folder.name_current(1)?;
    Ok(copied.unwrap_or_default())
}

/// Refuses a target that holds something.
pub(super) fn check_target(doing: &str, target: &Path) -> Result<()> {
    if Folder::new(target.to_owned()).look()? == Found::Store || std::fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_some())
    {
        return Err(Error::invalid(format!(
            "{doing} {}: the target must not exist or be an empty folder, and it holds something: give another path",
            target.display()
        )));
    }
    Ok(())
}

/// Rewrites the store into a new generation and moves every process over to it.
pub fn compact(store: &Arc<Store>, busy_timeout: Duration) -> Result<u64> {
    let mut forks = 0;
    let (copied, next) = loop {
        let gives_way = forks < MOST_FORKS;
        if let Some(done) = store.exclusively(busy_timeout, |environment| rewrite(store, environment, gives_way))? {
            break done;
        }
        forks += 1;
        fork::let_by();
    };
    store.read(|_| Ok(()))?; // moves this process on
    store.exclusively(busy_timeout, |environment| tidy(store.folder(), environment, next))?;
    Ok(copied)
}

/// Copies the open generation and switches over; none where a fork came between, and `gives_way` says that it may.
fn rewrite(store: &Store, environment: &Environment, gives_way: bool) -> Result<Option<(u64, GenerationNumber)>> {
    let (next, folder) = (environment.number() + 1, store.folder());
    let (workshop, snapshot) = (folder.workshop(next)?, environment.snapshot()?);
    let id = identity(&snapshot)?;
    let copied = copy(&snapshot, &workshop, next, store.format(), id, gives_way).inspect_err(|_| discard(&workshop))?;
    let Some(copied) = copied else {
        discard(&workshop);
        return Ok(None);
    };
    switch(folder, environment, &snapshot, &workshop, next).inspect_err(|_| discard(&workshop))?;
    folder.name_current(next)?;
    Ok(Some((copied, next)))
}

pub(super) fn identity(snapshot: &Snapshot) -> Result<StoreId> {
    let id = Meta::read(snapshot)?.and_then(|meta| meta.store);
    id.ok_or_else(|| envelope::damaged(Key::new(STORE, Table::Meta).as_slice(), "it does not say which store it is"))
}

/// Publishes the generation in `workshop`, a copy of `snapshot`, and retires the one it was copied from: in one transaction, which is
/// begun first, so that nothing is written between the copy and the switch, also where the writers' lock was deleted.
pub(super) fn switch(folder: &Folder, from: &Environment, snapshot: &Snapshot, workshop: &Path, next: GenerationNumber) -> Result<()> {
    let mut last = from.write()?;
    if last.id() != snapshot.id() + 1 {
        return Err(Error::new(
            ErrorKind::StoreBusy,
            format!(
                "replacing a generation of {}: nothing may be written while it is copied, and another process wrote: somebody removed the file `lock`; nothing was changed: try again",
                folder.root().display()
            ),
        ));
    }
    folder.publish(workshop, next)?;
    meta::retire(&mut last, next)?;
    last.commit()
}

/// Removes the generations that are not in use, inside a transaction of the one that is: it keeps all others from switching meanwhile.
pub(super) fn tidy(folder: &Folder, environment: &Environment, number: GenerationNumber) -> Result<()> {
    let transaction = match environment.write() {
        Err(error) if error.kind() == ErrorKind::FilesReplaced => return Ok(()), // swept: it is in use no more
        other => other?,
    };
    if environment.number() != number || meta::retired(&transaction)?.is_some() {
        return Ok(());
    }
    folder.name_current(number)?;
    folder.sweep(number)
}

/// Removes a copy that came to nothing: on a full disk its room is what everyone waits for.
pub(super) fn discard(workshop: &Path) {
    let _ = std::fs::remove_dir_all(workshop); // what stays is swept by the next to open the store
}

/// Copies all values of a snapshot into a new generation in `workshop`, and syncs it; none where it gave way to a fork.
fn copy(snapshot: &Snapshot, workshop: &Path, number: GenerationNumber, format: u32, id: StoreId, gives_way: bool) -> Result<Option<u64>> {
    let meta = Meta::read(snapshot)?.ok_or_else(|| envelope::damaged(Key::new(STORE, Table::Meta).as_slice(), "it is missing"))?;
    let meta = Meta { format, store: Some(id), generation: number, ..meta };
    let mode = Mode { read_only: false, relaxed: false, building: true, format };
    let environment = Environment::build(workshop, number, mode, id, meta.secret)?;
    let mut from = vec![0];
    let mut copied = 0;
    while let Some(next) = copy_batch(snapshot, &environment, &from, &mut copied)? {
        from = next;
        if gives_way {
            environment.sync()?; // so that the last one does not wait for all of it
            if fork::is_waiting() {
                environment.close();
                return Ok(None);
            }
        }
    }
    if copied != snapshot.tree().entries() {
        return Err(missing(copied, snapshot.tree().entries()));
    }
    let mut txn = environment.write()?;
    meta.write(&mut txn)?;
    txn.commit()?;
    environment.finish(id)?;
    Ok(Some(copied))
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

fn copy_batch(snapshot: &Snapshot, environment: &Environment, from: &[u8], copied: &mut u64) -> Result<Option<Vec<u8>>> {
    let retired = Key::new(STORE, Table::Retired);
    let mut txn = environment.write()?;
    let (mut bytes, mut next) = (0, None);
    snapshot.scan_stored(from, &[u8::MAX; 32], &mut |key, value| {
        if bytes >= BATCH_BYTES {
            next = Some(key.to_vec());
            return Ok(ControlFlow::Break(()));
        }
        envelope::open(key, value)?;
        if key != retired.as_slice() {
            txn.append(key, value)?;
            bytes += key.len() + value.len();
            *copied += 1;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    txn.commit()?;
    Ok(next)
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
    use std::sync::atomic::Ordering;

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
        let once = |gives_way| store.exclusively(busy_timeout, |environment| rewrite(&store, environment, gives_way)).expect("copied");
        fork::WAITING.fetch_add(1, Ordering::Relaxed);
        assert!(once(true).is_none(), "it gave way");
        assert_eq!(store.size().expect("open").0, 1, "and nothing was switched");
        let copied = compact(&store, busy_timeout).expect("it does not give way for ever");
        fork::WAITING.fetch_sub(1, Ordering::Relaxed);
        assert_eq!((copied, store.size().expect("open").0), (3001, 2));
        store.close();
        let _ = std::fs::remove_dir_all(path);
    }
}
