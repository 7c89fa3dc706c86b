//! Looking up without a question: by id, by kind, by slot, and what a memory said before.

use std::ops::ControlFlow;

use super::conditions::has_metadata;
use super::record::{self, Ending, Memory, State, number_in};
use super::slots::Slot;
use super::writer::{MEMORIES, id_key, newest};
use crate::index::bm25::{IndexId, Reader};
use crate::scope::{Head, Scope};
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::units::clip::first_chars;
use crate::{Error, ErrorKind, Result};

/// The newest revision of the memory with that id, in whatever state.
pub(super) fn find<P: Pages>(pages: &P, partition: Partition, seed: Seed, id: &str) -> Result<Option<Memory>> {
    let index = IndexId { partition, index: MEMORIES };
    for number in Reader::open(pages, index)?.find(id_key(seed, id))? {
        if let Some(memory) = newest(pages, partition, number)?
            && memory.given_id.as_deref() == Some(id)
        {
            return Ok(Some(memory));
        }
    }
    match number_in(id) {
        Some(number) => Ok(newest(pages, partition, number)?.filter(|memory| memory.given_id.is_none())),
        None => Ok(None),
    }
}

/// The memory with that id if its text is still there: current or superseded, not forgotten.
pub(super) fn get<P: Pages>(pages: &P, scope: &Scope, id: &str, now: i64) -> Result<Option<Memory>> {
    let Some(partition) = scope.find(pages)? else { return Ok(None) };
    let memory = find(pages, partition, scope.seed(pages.secret()), id)?;
    Ok(memory.filter(|m| !matches!(m.state(), State::Forgotten | State::Expired) && !m.is_expired(now)))
}

/// Every revision of a memory and of those whose slot it took, oldest first.
pub(super) fn history<P: Pages>(pages: &P, scope: &Scope, id: &str, now: i64) -> Result<Vec<Memory>> {
    let Some(partition) = scope.find(pages)? else { return Err(no_such_memory(id)) };
    let newest = find(pages, partition, scope.seed(pages.secret()), id)?.ok_or_else(|| no_such_memory(id))?;
    let mut revisions = Vec::new();
    let mut next = Some(newest.number);
    while let Some(number) = next {
        let current = record::current(pages, partition, number)?;
        let mut own = record::history(pages, partition, number)?;
        own.extend(current);
        next = own.last().and_then(|memory| memory.supersedes).filter(|n| *n != number);
        revisions.splice(0..0, own);
    }
    for memory in &mut revisions {
        if memory.is_expired(now) {
            hide_expired(memory);
        }
    }
    Ok(revisions)
}

/// Does what maintenance will do to a memory whose time to live is over: its words are gone from then on, not from maintenance on.
fn hide_expired(memory: &mut Memory) {
    let at = memory.expires_at.take().unwrap_or(memory.known_from);
    memory.text.clear();
    memory.metadata.clear();
    memory.slot = None;
    memory.ending = Some(Ending { state: State::Expired, known_until: at, valid_until: at, superseded_by: None, reason: None });
}

/// Current memories from number `first` on, at most `limit`, of the kinds whose bits are set.
pub(super) fn page<P: Pages>(pages: &P, scope: &Scope, first: u32, limit: usize, kinds: u8, now: i64) -> Result<Vec<Memory>> {
    let mut found = Vec::new();
    if let Some(partition) = scope.find(pages)? {
        record::each_current(pages, partition, first, &mut |memory| {
            if memory.kind.bit() & kinds != 0 && !memory.is_expired(now) {
                found.push(memory);
            }
            if found.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
    }
    Ok(found)
}

/// Which memories of a scope are wanted, in what order.
#[derive(Debug, Clone)]
pub struct Listing {
    /// Bits of the kinds that are wanted.
    pub kinds: u8,
    /// The one that was written last comes first.
    pub newest_first: bool,
    /// Superseded values too, not only what is current.
    pub all: bool,
    /// Only revisions written at or after this time, microseconds since 1970.
    pub since: Option<i64>,
    /// Only revisions written before this time.
    pub until: Option<i64>,
    /// Keys of the metadata with the values (MessagePack) of which one must stand there, or be an item of a list that does.
    pub metadata: Vec<(String, Vec<Vec<u8>>)>,
}

/// Memories from number `from` on (by default the first or the last there is), at least `limit` where there are so many; and the number to go on from.
///
/// A memory's revisions stay together, so a page may hold a few more.
pub(super) fn listed<P: Pages>(
    pages: &P,
    scope: &Scope,
    listing: &Listing,
    from: Option<u32>,
    limit: usize,
    now: i64,
) -> Result<(Vec<Memory>, Option<u32>)> {
    let Some(partition) = scope.find(pages)? else { return Ok((Vec::new(), None)) };
    let Some(last) = Head::read(pages, partition)?.next_number.checked_sub(1) else { return Ok((Vec::new(), None)) };
    let mut found = Vec::new();
    let mut number = from.unwrap_or(if listing.newest_first { last } else { 0 });
    while number <= last {
        found.extend(wanted(pages, partition, number, listing, now)?);
        let Some(next) = (if listing.newest_first { number.checked_sub(1) } else { Some(number + 1).filter(|next| *next <= last) }) else {
            break;
        };
        if found.len() >= limit {
            return Ok((found, Some(next)));
        }
        number = next;
    }
    Ok((found, None))
}

/// The revisions of one memory that are wanted, in the order that is wanted.
fn wanted<P: Pages>(pages: &P, partition: Partition, number: u32, listing: &Listing, now: i64) -> Result<Vec<Memory>> {
    let mut revisions = if listing.all { record::history(pages, partition, number)? } else { Vec::new() };
    revisions.extend(record::current(pages, partition, number)?);
    // A time after now is one of the scope's own, as a memory shows it.
    let written_at = |memory: &Memory, limit: i64| if limit > now { memory.known_from } else { memory.written_at(now) };
    revisions.retain(|memory| {
        let readable = !matches!(memory.state(), State::Forgotten | State::Expired) && !memory.is_expired(now);
        readable
            && memory.kind.bit() & listing.kinds != 0
            && listing.since.is_none_or(|since| written_at(memory, since) >= since)
            && listing.until.is_none_or(|until| written_at(memory, until) < until)
            && has_metadata(&listing.metadata, &memory.metadata)
    });
    if listing.newest_first {
        revisions.reverse();
    }
    Ok(revisions)
}

/// The slots of a scope with the memories that hold them.
pub(super) fn slots<P: Pages>(pages: &P, scope: &Scope, only: Option<&str>, now: i64) -> Result<Vec<(Slot, Vec<Memory>)>> {
    let Some(partition) = scope.find(pages)? else { return Ok(Vec::new()) };
    let slots = match only {
        Some(name) => vec![super::slots::get(pages, partition, scope.seed(pages.secret()), name)?],
        None => super::slots::list(pages, partition)?,
    };
    slots
        .into_iter()
        .map(|slot| {
            let mut memories = Vec::new();
            for number in &slot.current {
                memories.extend(record::current(pages, partition, *number)?.filter(|memory| !memory.is_expired(now)));
            }
            Ok((slot, memories))
        })
        .collect()
}

/// The error of an id that no memory has.
pub(super) fn no_such_memory(id: &str) -> Error {
    let shown = first_chars(id, 80);
    Error::new(
        ErrorKind::NotFound,
        format!("looking up memory {shown:?}: no memory of this scope has that id: take ids from remember() or recall()"),
    )
    .with("id", shown)
}
