//! Maintenance removes the remains of an interrupted delete or fork, and blobs that nobody refers to, in bounded steps.

use super::edit::purge_step;
use super::key::{SessionKey, SessionsHead};
use super::record::{SessionRecord, SessionState};
use super::transcript::blob;
use crate::Result;
use crate::memory::Core;
use crate::store::identity::Seed;
use crate::store::keys::Partition;

/// A session hidden for so long is no longer being worked on: a day, in microseconds.
const ABANDONED: i64 = crate::units::calendar::DAY;
const SCOPES: usize = 256;
/// Chunks that one transaction removes.
const CHUNKS: usize = 256;

/// Removes a hidden session, step by step.
pub(super) fn purge(engine: &Core, place: SessionKey, seed: Seed, now: i64) -> Result<()> {
    while engine.write(move |txn| purge_step(txn, place, seed, now))? {}
    Ok(())
}

/// Sweeps every scope; how many abandoned sessions it removed.
pub fn sweep(engine: &Core, now: i64) -> Result<u64> {
    let (mut after, mut removed) = (0, 0);
    loop {
        let page = engine.scopes(after, SCOPES)?;
        let Some((last, _)) = page.last() else { return Ok(removed) };
        after = *last;
        for (partition, scope) in page {
            for place in abandoned(engine, partition, now)? {
                purge(engine, place, scope.seed(engine.store().secret()), now)?;
                removed += 1;
            }
            while engine.write(move |txn| blob::sweep(txn, partition, now - ABANDONED, CHUNKS))? {}
        }
    }
}

fn abandoned(engine: &Core, partition: Partition, now: i64) -> Result<Vec<SessionKey>> {
    engine.store().read(|pages| {
        let mut found = Vec::new();
        for session in 1..=SessionsHead::read(pages, partition)?.sessions {
            let place = SessionKey { partition, session };
            let record = SessionRecord::read(pages, place)?;
            if record.is_some_and(|record| record.state == SessionState::Hidden && record.last_time < now - ABANDONED) {
                found.push(place);
            }
        }
        Ok(found)
    })
}
