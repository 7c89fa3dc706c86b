//! A store whose hashes of words become keyed, because it becomes encrypted: every index is written anew from the texts.
//!
//! It works on a generation that nobody has seen yet, so it may stop anywhere.

use crate::Result;
use crate::collection::{self, CollectionName};
use crate::memory;
use crate::scope::{self, Row, Scope};
use crate::session;
use crate::store::environment::{Environment, WriteTransaction};
use crate::store::identity::Secret;
use crate::store::keys::Partition;

const PAGE: usize = 256;

/// Writes the words of all scopes and collections anew, under the hashes of the secret that `environment` has.
pub(super) fn rehash(environment: &Environment) -> Result<()> {
    let mut after = 0;
    loop {
        let rows = scope::rows(&environment.snapshot()?, after, PAGE)?;
        let Some((last, _)) = rows.last() else { return Ok(()) };
        after = *last;
        for (partition, row) in rows {
            rehash_row(environment, partition, row)?;
        }
    }
}

fn rehash_row(environment: &Environment, partition: Partition, row: Row) -> Result<()> {
    let secret = environment.identity().1;
    match row {
        Row::Scope(scope) => rehash_scope(environment, partition, &scope, secret),
        Row::Collection { owner, name } => match scope::row(&environment.snapshot()?, owner)? {
            Some(Row::Scope(scope)) => rehash_collection(environment, partition, &CollectionName { scope, name }, secret),
            _ => write(environment, |txn| collection::rehash::clear(txn, partition)),
        },
        // The rest of it is being removed, and nobody finds it.
        Row::Dropped { .. } => write(environment, |txn| collection::rehash::clear(txn, partition)),
    }
}

fn rehash_scope(environment: &Environment, partition: Partition, scope: &Scope, secret: Secret) -> Result<()> {
    let seed = scope.seed(secret);
    write(environment, |txn| {
        memory::rehash::rehash(txn, partition, seed)?;
        session::rehash::clear(txn, partition)
    })?;
    page_by_page(environment, |txn, after| session::rehash::rehash(txn, partition, seed, after))
}

pub(super) fn rehash_collection(environment: &Environment, partition: Partition, name: &CollectionName, secret: Secret) -> Result<()> {
    let seed = name.seed(secret);
    write(environment, |txn| collection::rehash::clear(txn, partition))?;
    page_by_page(environment, |txn, after| collection::rehash::rehash(txn, partition, seed, after))
}

fn page_by_page(environment: &Environment, mut step: impl FnMut(&mut WriteTransaction<'_>, u32) -> Result<Option<u32>>) -> Result<()> {
    let mut after = Some(0);
    while let Some(last) = after {
        write(environment, |txn| {
            after = step(txn, last)?;
            Ok(())
        })?;
    }
    Ok(())
}

pub(super) fn write(environment: &Environment, work: impl FnOnce(&mut WriteTransaction<'_>) -> Result<()>) -> Result<()> {
    let mut txn = environment.write()?;
    work(&mut txn)?;
    txn.commit()?;
    // Pages that it took at the end of the file and gave back were never written, and a reader looks for the last one.
    environment.grow_ahead(|| None)
}
