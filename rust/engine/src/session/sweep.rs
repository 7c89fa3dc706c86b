//! Maintenance and compactions remove the remains of an interrupted delete or fork, blobs that nobody refers to, and tasks whose time is
//! over, in bounded steps.
//!
//! | remains | maintenance | compaction |
//! |---|---|---|
//! | a session that was being deleted | at once | at once |
//! | a fork that is not whole | after a day | at once: one that is still going on begins anew |
//! | a blob that was written ahead | after a day | at once: its message writes what is missing of it |

use super::edit::purge_step;
use super::key::{SessionKey, SessionsHead};
use super::record::{SessionRecord, SessionState};
use super::task;
use super::transcript::blob;
use crate::memory::Core;
use crate::scope::Scope;
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::pages::{Pages, PagesMut};
use crate::store::reserve;
use crate::{Result, interrupt};

/// A session hidden for so long is no longer being worked on: a day, in microseconds.
const ABANDONED: i64 = crate::units::calendar::DAY;
/// The last write of a hidden session that is being removed: it is older than whatever may still be worked on, for versions before, too.
pub(super) const REMOVED: i64 = i64::MIN;
const SCOPES: usize = 256;
/// Chunks that one transaction removes.
const CHUNKS: usize = 256;

/// Removes a hidden session, step by step.
pub(super) fn purge(engine: &Core, place: SessionKey, seed: Seed) -> Result<()> {
    while engine.write_to(place.partition, move |txn| purge_step(txn, place, seed))? {}
    Ok(())
}

/// Removes the blobs of a scope that nothing refers to, and that were written before `before`.
pub(super) fn sweep_blobs(engine: &Core, partition: Partition, before: i64) -> Result<()> {
    while engine.write_to(partition, move |txn| blob::sweep(txn, partition, before, CHUNKS))? {}
    Ok(())
}

/// Goes on with the deletes of a scope that were interrupted.
pub(super) fn sweep_removed(engine: &Core, scope: &Scope) -> Result<()> {
    let Some(partition) = engine.store().read(|pages| scope.find(pages))? else { return Ok(()) };
    for place in hidden(engine, partition, REMOVED + 1)? {
        purge(engine, place, scope.seed(engine.store().secret()))?;
    }
    Ok(())
}

/// Removes everything of a scope that no call has finished, however young it is: a compaction must not copy it.
pub(crate) fn sweep_unfinished(engine: &Core, partition: Partition, scope: &Scope) -> Result<()> {
    for place in hidden(engine, partition, i64::MAX)? {
        purge(engine, place, scope.seed(engine.store().secret()))?;
    }
    sweep_blobs(engine, partition, i64::MAX)
}

/// Removes the same from `pages` that are nobody else's: an export shows nothing of it.
pub(crate) fn drop_unfinished<P: PagesMut>(pages: &mut P, partition: Partition, scope: &Scope) -> Result<()> {
    let seed = scope.seed(pages.secret());
    for place in hidden_in(&*pages, partition, i64::MAX)? {
        while purge_step(pages, place, seed)? {
            interrupt::check()?;
        }
    }
    while blob::sweep(pages, partition, i64::MAX, CHUNKS)? {}
    Ok(())
}

/// Sweeps every scope; how many abandoned sessions it removed.
pub fn sweep(engine: &Core, now: i64) -> Result<u64> {
    reserve::freeing(|| sweep_all(engine, now))
}

fn sweep_all(engine: &Core, now: i64) -> Result<u64> {
    let (mut after, mut removed) = (0, 0);
    loop {
        let page = engine.scopes(after, SCOPES)?;
        let Some((last, _)) = page.last() else { return Ok(removed) };
        after = *last;
        for (partition, scope) in page {
            for place in hidden(engine, partition, now - ABANDONED)? {
                purge(engine, place, scope.seed(engine.store().secret()))?;
                removed += 1;
            }
            sweep_blobs(engine, partition, now - ABANDONED)?;
            for session in engine.store().read(|pages| task::over(pages, partition, now))? {
                engine.write_to(partition, move |txn| task::expire(txn, partition, session, now))?;
            }
        }
    }
}

/// The hidden sessions of a scope to which nothing was written since `before`.
fn hidden(engine: &Core, partition: Partition, before: i64) -> Result<Vec<SessionKey>> {
    engine.store().read(|pages| hidden_in(pages, partition, before))
}

fn hidden_in<P: Pages>(pages: &P, partition: Partition, before: i64) -> Result<Vec<SessionKey>> {
    let mut found = Vec::new();
    for session in 1..=SessionsHead::read(pages, partition)?.sessions {
        let place = SessionKey { partition, session };
        let record = SessionRecord::read(pages, place)?;
        let last = |record: &SessionRecord| record.clock.map_or(record.last_time, |at| at.min(record.last_time));
        if record.is_some_and(|record| record.state == SessionState::Hidden && last(&record) < before) {
            found.push(place);
        }
    }
    Ok(found)
}
