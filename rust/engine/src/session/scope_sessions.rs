//! The sessions of a scope together: which there are, and the end of old ones. [`mod@super::search`] finds what was said in them.

use super::core::SessionCore;
use super::key::{SessionKey, SessionsHead};
use super::metadata;
use super::record::{SessionRecord, SessionState};
use super::session::Session;
use super::stored_epoch::StoredEpoch;
use crate::Result;
use crate::memory::{Core, check_conditions, has_metadata, may_be_right};
use crate::scope::Scope;
use crate::store::keys::Partition;
use crate::store::pages::Pages;

/// A session in a list.
#[derive(Debug, Clone)]
pub struct Listed {
    /// Its number: the list goes on behind it.
    pub number: u32,
    /// Its record.
    pub record: SessionRecord,
    /// The name of its model.
    pub model: String,
    /// The caller's metadata, as MessagePack.
    pub metadata: Vec<u8>,
}

/// Which sessions are wanted.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// The number of the last session of the page before; 0 for the first page.
    pub after: u32,
    /// At most so many.
    pub limit: usize,
    /// The one that was made last comes first.
    pub newest_first: bool,
    /// Only sessions to which something was added at or after this time, microseconds since 1970.
    pub since: Option<i64>,
    /// Only sessions to which something was added last before this time.
    pub until: Option<i64>,
    /// Keys of the metadata with the values (MessagePack) of which one must stand there, or be an item of a list that does.
    pub metadata: Vec<(String, Vec<Vec<u8>>)>,
}

/// Sessions in the order in which they were made, or the other way round.
///
/// # Errors
/// `InvalidInput` for conditions on metadata that cannot be met.
pub fn list(engine: &Core, scope: &Scope, listing: &Listing) -> Result<Vec<Listed>> {
    check_conditions("listing sessions", &listing.metadata)?;
    engine.store().read(|pages| {
        let Some(partition) = scope.find(pages)? else { return Ok(Vec::new()) };
        let last = SessionsHead::read(pages, partition)?.sessions;
        let first = if listing.newest_first && listing.after > 0 { listing.after - 1 } else { last };
        let mut backwards = (1..=first).rev();
        let mut forwards = listing.after.saturating_add(1)..=last;
        let numbers: &mut dyn Iterator<Item = u32> = if listing.newest_first { &mut backwards } else { &mut forwards };
        let mut found = Vec::new();
        while found.len() < listing.limit
            && let Some(number) = numbers.next()
        {
            found.extend(listed(pages, partition, number, listing)?);
        }
        Ok(found)
    })
}

/// Deletes the sessions to which nothing was added since `before`, one after the other; how many. One that is resumed meanwhile stays.
pub fn delete_old(engine: &SessionCore, scope: &Scope, before: i64, now: i64) -> Result<u64> {
    let old = engine.store().read(|pages| {
        let Some(partition) = scope.find(pages)? else { return Ok(Vec::new()) };
        let (mut found, mut made, dates) = (Vec::new(), i64::MIN, may_be_right(pages, now)?);
        for session in 1..=SessionsHead::read(pages, partition)?.sessions {
            let Some(record) = SessionRecord::read(pages, SessionKey { partition, session })? else { continue };
            made = made.max(Some(record.created_at).filter(|at| *at <= now).unwrap_or(made));
            if record.state != SessionState::Hidden && (record.is_old(before, made, now) || dates && record.is_ahead(made, now)) {
                found.push((record.id, made));
            }
        }
        Ok(found)
    })?;
    let mut deleted = 0;
    for (id, made) in old {
        deleted += u64::from(Session { engine, scope, id: &id }.delete_old(before, made, now)?);
    }
    Ok(deleted)
}

fn listed<P: Pages>(pages: &P, partition: Partition, number: u32, listing: &Listing) -> Result<Option<Listed>> {
    let place = SessionKey { partition, session: number };
    let Some(record) = SessionRecord::read(pages, place)? else { return Ok(None) };
    let added_at = record.last_added_at();
    let is_within = listing.since.is_none_or(|since| added_at >= since) && listing.until.is_none_or(|until| added_at < until);
    if record.state == SessionState::Hidden || !is_within {
        return Ok(None);
    }
    let metadata = metadata::read(pages, place)?;
    if !has_metadata(&listing.metadata, &metadata) {
        return Ok(None);
    }
    let epoch = StoredEpoch::read(pages, place, record.epoch)?;
    Ok(Some(Listed { number, model: epoch.model.name.to_string(), record, metadata }))
}
