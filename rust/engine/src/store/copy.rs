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
use super::gate::Store;
use super::keys::{Key, STORE, Table};
use super::meta;
use super::pages::Pages;
use crate::{Error, ErrorKind, Result};

/// Bytes in one transaction of a copy.
const BATCH_BYTES: usize = 8 << 20;

/// Writes a whole, verified, compacted copy of the store to `target`, a folder that does not exist or is empty.
pub fn backup(store: &Store, target: &Path) -> Result<u64> {
    let folder = Folder::new(target.to_owned());
    if folder.look()? == Found::Store || std::fs::read_dir(target).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::invalid(format!(
            "backing up to {}: the target must not exist or be an empty folder, and it holds something: give another path",
            target.display()
        )));
    }
    folder.make()?;
    let workshop = folder.workshop(1)?;
    let copied = store.read(|snapshot| copy(snapshot, &workshop, 1, store.format())).inspect_err(|_| discard(&workshop))?;
    folder.publish(&workshop, 1)?;
    folder.name_current(1)?;
    Ok(copied)
}

/// Rewrites the store into a new generation and moves every process over to it.
pub fn compact(store: &Arc<Store>, busy_timeout: Duration) -> Result<u64> {
    let (copied, next) = store.exclusively(busy_timeout, |environment| {
        let next = environment.number() + 1;
        let folder = store.folder();
        let workshop = folder.workshop(next)?;
        let copied = copy(&environment.snapshot()?, &workshop, next, store.format()).inspect_err(|_| discard(&workshop))?;
        folder.publish(&workshop, next)?;
        let mut last = environment.write()?;
        meta::retire(&mut last, next)?;
        last.commit()?;
        folder.name_current(next)?;
        Ok((copied, next))
    })?;
    store.read(|_| Ok(()))?; // moves this process on
    store.exclusively(busy_timeout, |environment| if environment.number() == next { store.folder().sweep(next) } else { Ok(()) })?;
    Ok(copied)
}

/// Removes a copy that came to nothing: on a full disk its room is what everyone waits for.
fn discard(workshop: &Path) {
    let _ = std::fs::remove_dir_all(workshop); // what stays is swept by the next to open the store
}

/// Copies all values of a snapshot into a new generation in `workshop`, and syncs it.
fn copy(snapshot: &Snapshot, workshop: &Path, number: GenerationNumber, format: u32) -> Result<u64> {
    let environment = Environment::create(workshop, number, Mode { read_only: false, relaxed: false, building: true, format })?;
    let mut from = vec![0];
    let mut copied = 0;
    while let Some(next) = copy_batch(snapshot, &environment, &from, &mut copied)? {
        from = next;
    }
    if copied != snapshot.tree().entries() {
        return Err(missing(copied, snapshot.tree().entries()));
    }
    environment.sync()?;
    environment.close();
    Ok(copied)
}

/// The error of a tree that does not hold what its meta page counts.
fn missing(seen: u64, counted: u64) -> Error {
    Error::new(
        ErrorKind::StoreCorrupt,
        format!(
            "copying the store: its meta page counts {counted} values and {seen} are there; nothing was changed: restore it from a backup, \
             or save what is intact with `memspan doctor STORE --repair NEW`"
        ),
    )
}

fn copy_batch(snapshot: &Snapshot, environment: &Environment, from: &[u8], copied: &mut u64) -> Result<Option<Vec<u8>>> {
    let retired = Key::new(STORE, Table::Retired);
    let mut txn = environment.write()?;
    let (mut bytes, mut next) = (0, None);
    snapshot.scan(from, &[u8::MAX; 32], &mut |key, value| {
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
        snapshot.scan(&[0], &[u8::MAX; 32], &mut |key, value| {
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
