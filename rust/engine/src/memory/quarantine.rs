//! Memories that wait for somebody to approve them: they were never current, so that no question finds them.
//!
//! They stand among the revisions that ended, as `quarantined`; a table names them. To approve one is to remember it now, as said by
//! the user; to reject one is to forget it. Either way its id is used, so that learning it again adds nothing.

use std::ops::ControlFlow;

use super::new_memory::NewMemory;
use super::outcome::{Action, Remembered};
use super::record::{self, Ending, Memory, State};
use super::remember::Prepared;
use super::writer::PartitionWriter;
use crate::scope::Scope;
use crate::store::envelope::{self, Codec};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table, u32_at};
use crate::store::pages::{Pages, PagesMut};
use crate::{Error, Result};

fn key(partition: Partition, number: u32) -> Key {
    Key::new(partition, Table::Quarantine).u32(number)
}

/// Files a memory that is to be approved first.
pub(super) fn file<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, mut memory: Memory, doubt: &str) -> Result<Remembered> {
    memory.number = writer.next_number()?;
    memory.sequence = writer.next_sequence();
    memory.ending = Some(Ending {
        state: State::Quarantined,
        known_until: writer.now,
        valid_until: memory.occurred_at,
        superseded_by: None,
        reason: Some(doubt.to_owned()),
    });
    writer.add_to_history(&memory)?;
    mark(writer.pages, writer.partition, memory.number)?;
    Ok(Remembered { action: Action::Quarantined, reason: Some(doubt.to_owned()), memory })
}

/// Puts a memory on the list.
pub(super) fn mark(pages: &mut impl PagesMut, partition: Partition, number: u32) -> Result<()> {
    let key = key(partition, number);
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::Raw, &[]))
}

/// Takes a memory off the list; its record is its caller's to end.
pub(super) fn leave<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, number: u32) -> Result<()> {
    writer.pages.delete(key(writer.partition, number).as_slice()).map(drop)
}

/// The memories that wait in a scope, oldest first.
pub fn list<P: Pages + ?Sized>(pages: &P, scope: &Scope) -> Result<Vec<Memory>> {
    let Some(partition) = scope.find(pages)? else { return Ok(Vec::new()) };
    let range = Key::new(partition, Table::Quarantine).prefix_range();
    let mut numbers = Vec::new();
    pages.scan(&range.start, &range.end, &mut |key, _| {
        numbers.extend(u32_at(key, 5));
        Ok(ControlFlow::Continue(()))
    })?;
    let mut waiting = Vec::with_capacity(numbers.len());
    for number in numbers {
        waiting.extend(record::history(pages, partition, number)?.pop());
    }
    Ok(waiting)
}

/// Remembers what waited, as said by the user. Where the policy refuses it by now, it waits on.
pub(super) fn approve<P: PagesMut>(
    pages: &mut P,
    scope: &Scope,
    id: &str,
    clock: i64,
    embedding: Option<(u16, usize)>,
    prepared: &Prepared,
) -> Result<Remembered> {
    let mut writer = PartitionWriter::open(pages, scope, clock, embedding)?;
    let mut waiting = waiting(&*writer.pages, writer.partition, writer.seed, id, writer.clock)?;
    let remembered = prepared.write(&mut writer)?;
    if remembered.action == Action::Rejected {
        return Ok(Remembered { memory: waiting, ..remembered });
    }
    leave(&mut writer, waiting.number)?;
    writer.erase(&mut waiting)?;
    if let Some(ending) = &mut waiting.ending {
        (ending.state, ending.known_until) = (State::Forgotten, writer.now);
        ending.superseded_by = Some(remembered.memory.number);
        ending.reason = Some("approved".to_owned());
    }
    record::put(writer.pages, writer.partition, &waiting)?;
    writer.finish()?;
    Ok(remembered)
}

/// The memory of that id, which waits to be approved.
///
/// # Errors
/// `NotFound` where there is none, `InvalidInput` where it waits for nobody.
pub(super) fn waiting<P: Pages>(pages: &P, partition: Partition, seed: Seed, id: &str, clock: i64) -> Result<Memory> {
    let memory = super::read::find(pages, partition, seed, id)?.ok_or_else(|| super::read::no_such_memory(id))?;
    let state = memory.state_at(clock);
    if state == State::Quarantined { Ok(memory) } else { Err(waits_not(state, id, ["approving", "approved", ""])) }
}

/// The error of a memory that waits for nobody: what was being done, what cannot be done to it, what to do instead.
fn waits_not(state: State, id: &str, [doing, done, instead]: [&str; 3]) -> Error {
    let state = state.name();
    Error::invalid(format!(
        "{doing} {id:?}: only what is quarantined can be {done}, and this one is {state}: take ids from quarantined(){instead}"
    ))
}

/// Forgets what waited; `false` where it was forgotten before.
pub(super) fn reject<P: PagesMut>(pages: &mut P, scope: &Scope, id: &str, clock: i64) -> Result<bool> {
    match super::read::get(pages, scope, id, clock)? {
        Some(memory) if memory.state() != State::Quarantined => {
            Err(waits_not(memory.state(), id, ["rejecting", "rejected", ", or call forget()"]))
        }
        _ => super::forget::forget(pages, scope, id, Some("rejected"), clock),
    }
}

/// The memory that an approval remembers: the same, trusted as the user's own word. It lives as long from now as it was to live. Where the
/// clock ran ahead when it arrived, nobody knows how long that was, and it keeps its end.
#[must_use]
pub fn approved(memory: &Memory, now: i64) -> NewMemory {
    let written_at = memory.written_at(now);
    let occurred_at = if memory.had_happened(now) { memory.occurred_at.min(now) } else { memory.occurred_at };
    let life = |end: i64| if end > written_at { end - written_at } else { end.saturating_sub(now).max(1) };
    NewMemory {
        kind: memory.kind,
        slot: memory.slot.clone(),
        importance: memory.importance,
        confidence: memory.confidence.max(0.9),
        trust: Some(crate::limits::MAX_TRUST),
        source: memory.source.clone(),
        occurred_at: Some(occurred_at),
        ttl: memory.expires_at.map(life),
        metadata: memory.metadata.clone(),
        provenance: super::provenance::Provenance { disputes: Vec::new(), ..memory.provenance.clone() },
        ..NewMemory::new(memory.text.clone())
    }
}
