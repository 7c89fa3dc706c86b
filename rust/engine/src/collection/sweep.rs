//! Removes the remains of a process that died: revisions that were being written or removed, and collections that were dropped.

use super::name::{has_values, is_collection};
use super::record::{Revision, State};
use super::remove;
use crate::memory::Core;
use crate::scope::{self, Row};
use crate::store::keys::{Key, Partition, STORE, Table};
use crate::store::pages::{Pages, PagesMut};
use crate::store::reserve;
use crate::{Result, interrupt};

/// A revision that nothing was written to for so long is not being written any more: a day, in microseconds.
const ABANDONED: i64 = crate::units::calendar::DAY;
const PAGE: usize = 256;

/// Sweeps every collection; how many revisions and dropped collections it removed.
pub fn sweep(engine: &Core, now: i64) -> Result<u64> {
    reserve::freeing(|| sweep_all(engine, now))
}

fn sweep_all(engine: &Core, now: i64) -> Result<u64> {
    let (mut removed, mut after) = (0, 0);
    loop {
        let rows = engine.store().read(|pages| scope::rows(pages, after, PAGE))?;
        let Some((last, _)) = rows.last() else { return Ok(removed) };
        after = *last;
        for (partition, row) in rows {
            removed += match row {
                Row::Scope(_) => 0,
                Row::Collection { .. } => collection(engine, partition, now)?,
                Row::Dropped { .. } => dropped(engine, partition)?,
            };
        }
    }
}

fn collection(engine: &Core, partition: Partition, now: i64) -> Result<u64> {
    let left = engine.store().read(|pages| {
        let mut left = Vec::new();
        for number in Revision::unfinished(pages, partition)? {
            let revision = Revision::read(pages, partition, number)?;
            if revision.is_some_and(|revision| revision.state == State::Removing || revision.written_at < now - ABANDONED) {
                left.push(number);
            }
        }
        Ok(left)
    })?;
    for number in &left {
        remove::revision(engine, partition, *number, now)?;
    }
    Ok(left.len() as u64)
}

/// Removes every revision of a collection that no call has finished, however young it is: a compaction must not copy it.
pub(crate) fn sweep_unfinished(engine: &Core, partition: Partition) -> Result<()> {
    for number in engine.store().read(|pages| Revision::unfinished(pages, partition))? {
        remove::revision(engine, partition, number, 0)?;
    }
    Ok(())
}

/// Removes the same from `pages` that are nobody else's: an export shows nothing of it.
pub(crate) fn drop_unfinished<P: PagesMut>(pages: &mut P, partition: Partition) -> Result<()> {
    for number in Revision::unfinished(&*pages, partition)? {
        while remove::step(pages, partition, number, 0)? {
            interrupt::check()?;
        }
    }
    Ok(())
}

/// Removes what is left of a dropped collection, unless an erasure does, which counts it; whether there was something.
pub(crate) fn dropped(engine: &Core, partition: Partition) -> Result<u64> {
    let has_values = engine.store().read(|pages| {
        debug_assert!(is_collection(pages, partition)?);
        let is_erased = pages.get(Key::new(STORE, Table::Erasing).u32(partition).as_slice())?.is_some();
        Ok(!is_erased && has_values(pages, partition)?)
    })?;
    if has_values {
        remove::empty(engine, partition)?;
    }
    Ok(u64::from(has_values))
}
