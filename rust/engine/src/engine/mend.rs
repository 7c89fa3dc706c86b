//! A repaired store: what is intact of a damaged one, without anything that names what is lost.
//!
//! A repair saves values. Those that were made from others (words, vectors, slots, counters, the order of expiry) still name the ones
//! that were lost, and every search that met such a name would be refused. So where anything was lost, each scope and collection is made
//! anew from the records that are left. That happens before anybody sees the store.
//!
//! A message that was lost has a stand-in without a text, so that the others of its session can be read and go on.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use super::rehash;
use crate::collection::{self, CollectionName};
use crate::memory;
use crate::scope::{self, Row, Scope};
use crate::session::{self, SessionKey};
use crate::store::chunks;
use crate::store::environment::{Environment, Snapshot};
use crate::store::folder::FORMAT_VERSION;
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, STORE, u32_at};
use crate::store::meta::Meta;
use crate::store::pages::Pages;
use crate::store::repair::{Mended, Repaired, repair_and};
use crate::store::vault::{StoreKey, record_of};
use crate::{ErrorKind, Result};

/// Scopes that are listed at once.
const SCOPES: usize = 256;

/// Saves what is intact of the store at `source` in a new store at `target`, which answers as if what is lost had never been there. Where
/// the store is encrypted, that needs its `key`: without, the values are saved as they are. A key that does not open it is refused.
pub fn repair(source: &Path, target: &Path, key: Option<&StoreKey>, now: i64) -> Result<Repaired> {
    repair_and(source, target, FORMAT_VERSION, now, &|saved, damaged| match mend(saved, source, key, damaged) {
        Err(error) if error.kind() == ErrorKind::StoreCorrupt => {
            Ok(Mended { lost: vec![format!("more than could be told apart: {}", error.message())], partly: true })
        }
        mended => mended,
    })
}

/// Makes the values of a generation agree with each other, where any is missing.
fn mend(saved: &mut Environment, source: &Path, key: Option<&StoreKey>, damaged: bool) -> Result<Mended> {
    let mut mended = Mended::default();
    let is_encrypted = Meta::read(&saved.snapshot()?)?.is_some_and(|meta| meta.sealed.is_some());
    if is_encrypted && key.is_none() {
        mended.partly = damaged; // nobody reads the values without it
        return Ok(mended);
    }
    saved.unlock(source, key)?;
    if !damaged {
        return count_orders(saved).map(|()| mended);
    }
    owners(saved, &mut mended.lost)?;
    for (partition, row) in scope::rows(&saved.snapshot()?, 0, usize::MAX)? {
        match one(saved, partition, row, &mut mended) {
            Err(error) if error.kind() == ErrorKind::StoreCorrupt => {
                mended.partly = true;
                mended.lost.push(format!("what was made from the records of partition {partition}: {}", error.message()));
            }
            other => other?,
        }
    }
    Ok(mended)
}

/// Counts in which order messages were said, in every scope of a store that nobody sees yet and whose version did not count it.
pub(super) fn count_orders(saved: &Environment) -> Result<()> {
    let mut after = 0;
    loop {
        let rows = scope::rows(&saved.snapshot()?, after, SCOPES)?;
        let Some((last, _)) = rows.last() else { return Ok(()) };
        after = *last;
        for (partition, row) in rows {
            if matches!(row, Row::Scope(_)) {
                count_order(saved, partition)?;
            }
        }
    }
}

fn count_order(saved: &Environment, partition: Partition) -> Result<()> {
    let lacks = session::has_no_order(&saved.snapshot()?, partition)?;
    if lacks { rehash::write(saved, |txn| session::count_order(txn, partition)) } else { Ok(()) }
}

fn one(saved: &Environment, partition: Partition, row: Row, mended: &mut Mended) -> Result<()> {
    let lost = &mut mended.lost;
    let secret = saved.identity().1;
    match row {
        Row::Scope(scope) => {
            let whose = format!("{} {:?}", scope.scope_type.name(), scope.id);
            rehash::write(saved, |txn| memory::mend::mend(txn, partition, scope.seed(secret), &whose, lost))?;
            sessions(saved, partition, &scope, &whose, mended)
        }
        Row::Collection { owner, name } => {
            let Some(Row::Scope(scope)) = scope::row(&saved.snapshot()?, owner)? else {
                lost.push(format!("collection {name:?}: the scope that it belongs to"));
                return drop_partition(saved, partition);
            };
            let name = CollectionName { scope, name };
            rehash::write(saved, |txn| {
                name.lead_to(txn, owner, partition)?;
                collection::mend::mend(txn, partition, &name, lost)
            })?;
            rehash::rehash_collection(saved, partition, &name, secret)
        }
        Row::Dropped { .. } => Ok(()),
    }
}

/// Mends the sessions of a scope, where anything of them is lost.
fn sessions(saved: &Environment, partition: Partition, scope: &Scope, whose: &str, mended: &mut Mended) -> Result<()> {
    let seed = scope.seed(saved.identity().1);
    if session::mend::damage(&saved.snapshot()?, partition, seed)?.is_none() {
        return count_order(saved, partition);
    }
    blobs(saved, partition, seed)?;
    for session in session::mend::sessions(&saved.snapshot()?, partition)? {
        let mut said = None;
        let done = rehash::write(saved, |txn| {
            said = session::mend::mend(txn, scope, SessionKey { partition, session })?;
            Ok(())
        });
        match done {
            Ok(()) => mended.lost.extend(said.map(|said| format!("{said}, of {whose}"))),
            Err(error) if error.kind() == ErrorKind::StoreIo => return Err(error),
            Err(error) => {
                mended.partly = true;
                mended.lost.push(format!("session {session} of {whose}: {}", error.message()));
            }
        }
    }
    let documents = session::mend::documents(&saved.snapshot()?, partition)?;
    rehash::write(saved, |txn| {
        session::mend::heads(txn, partition, seed, documents.keys().next_back().copied().unwrap_or(0))?;
        session::mend::recount_blobs(txn, partition)?;
        session::mend::forget_words(txn, partition)
    })?;
    let documents: Vec<_> = documents.into_iter().collect();
    for some in documents.chunks(session::mend::PAGE) {
        rehash::write(saved, |txn| session::mend::find_anew(txn, partition, seed, some))?;
    }
    if let Some(left) = session::mend::damage(&saved.snapshot()?, partition, seed)? {
        mended.partly = true;
        mended.lost.push(format!("{left} ({whose})"));
    }
    Ok(())
}

/// Gives blobs the names that they have under another secret.
fn blobs(saved: &Environment, partition: Partition, seed: Seed) -> Result<()> {
    let mut renamed = BTreeMap::new();
    for name in session::mend::blobs::hashes(&saved.snapshot()?, partition)? {
        rehash::write(saved, |txn| {
            renamed.extend(session::mend::blobs::rename(txn, partition, seed, name)?.map(|now| (name, now)));
            Ok(())
        })?;
    }
    if renamed.is_empty() { Ok(()) } else { rehash::write(saved, |txn| session::mend::blobs::refer(txn, partition, &renamed)) }
}

/// Gives every partition that has values to whom it belongs, as far as either of two values says it, and empties the others.
fn owners(saved: &Environment, lost: &mut Vec<String>) -> Result<()> {
    let snapshot = saved.snapshot()?;
    let all = partitions(&snapshot)?;
    // The data key of a scope that is being erased is gone, and so it is if it was lost: then nobody reads its values.
    let is_readable = |partition| Ok(saved.vault().is_none() || snapshot.get(record_of(partition).as_slice())?.is_some());
    let mut named: BTreeMap<Partition, Row> =
        scope::named(&snapshot)?.into_iter().map(|(partition, scope)| (partition, Row::Scope(scope))).collect();
    for &owner in &all {
        if is_readable(owner)? {
            named.extend(
                collection::of_owner(&snapshot, owner)?.into_iter().map(|(partition, name)| (partition, Row::Collection { owner, name })),
            );
        }
    }
    for partition in all {
        let known = scope::row(&snapshot, partition)?.or_else(|| named.remove(&partition));
        match known {
            Some(Row::Dropped { .. }) => {}
            Some(row) if is_readable(partition)? => rehash::write(saved, |txn| {
                scope::put_row(txn, partition, &row)?;
                if let Row::Scope(scope) = &row
                    && scope.find(txn)?.is_none()
                {
                    scope.lead_to(txn, partition)?;
                }
                Ok(())
            })?,
            Some(row) => {
                lost.push(format!("everything of partition {partition}, {row:?}: the key of its values"));
                drop_partition(saved, partition)?;
            }
            None => {
                lost.push(format!("everything of partition {partition}: whose it was"));
                drop_partition(saved, partition)?;
            }
        }
    }
    Ok(())
}

/// Leaves nothing of a partition, whose number is never given again.
fn drop_partition(saved: &Environment, partition: Partition) -> Result<()> {
    rehash::write(saved, |txn| {
        if let Some(Row::Scope(scope)) = scope::row(txn, partition)? {
            scope.unlink(txn)?;
        }
        scope::put_row(txn, partition, &Row::Dropped { owner: 0 })?;
        memory::mend::clear_expiry(txn, partition)?;
        chunks::clear(txn, Key::of_partition(partition))
    })
}

/// The partitions that have a value or belong to somebody, the store's own left out.
fn partitions(snapshot: &Snapshot) -> Result<BTreeSet<Partition>> {
    let rows = scope::rows(snapshot, 0, usize::MAX)?;
    let (mut found, mut next) = (rows.into_iter().map(|(partition, _)| partition).collect::<BTreeSet<_>>(), Some(STORE + 1));
    while let Some(from) = next {
        let mut first = None;
        snapshot.scan_stored(Key::of_partition(from).as_slice(), &[u8::MAX; 32], &mut |key, _| {
            first = u32_at(key, 0);
            Ok(ControlFlow::Break(()))
        })?;
        found.extend(first);
        next = first.and_then(|partition| partition.checked_add(1));
    }
    Ok(found)
}
