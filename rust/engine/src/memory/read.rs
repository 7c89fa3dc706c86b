//! Looking up without a question: by id, by kind, by slot, and what a memory said before.

use std::ops::ControlFlow;

use super::record::{self, Ending, Memory, State, number_in};
use super::slots::Slot;
use super::writer::{MEMORIES, id_key, newest};
use crate::index::bm25::{IndexId, Reader};
use crate::scope::Scope;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::units::clip::first_chars;
use crate::{Error, ErrorKind, Result};

/// The newest revision of the memory with that id, in whatever state.
pub(super) fn find<P: Pages>(pages: &P, partition: Partition, seed: u64, id: &str) -> Result<Option<Memory>> {
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
    let memory = find(pages, partition, scope.term_seed(), id)?;
    Ok(memory.filter(|m| !matches!(m.state(), State::Forgotten | State::Expired) && !m.is_expired(now)))
}

/// Every revision of a memory and of those whose slot it took, oldest first.
pub(super) fn history<P: Pages>(pages: &P, scope: &Scope, id: &str, now: i64) -> Result<Vec<Memory>> {
    let Some(partition) = scope.find(pages)? else { return Err(no_such_memory(id)) };
    let newest = find(pages, partition, scope.term_seed(), id)?.ok_or_else(|| no_such_memory(id))?;
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

/// What maintenance will do to a memory whose time to live is over: its words are gone from then on, not from maintenance on.
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

/// The slots of a scope with the memories that hold them.
pub(super) fn slots<P: Pages>(pages: &P, scope: &Scope, only: Option<&str>, now: i64) -> Result<Vec<(Slot, Vec<Memory>)>> {
    let Some(partition) = scope.find(pages)? else { return Ok(Vec::new()) };
    let slots = match only {
        Some(name) => vec![super::slots::get(pages, partition, scope.term_seed(), name)?],
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
