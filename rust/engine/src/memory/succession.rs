//! Which value holds a slot: what ends one, and where an older one belongs among those before it.

use std::ops::Bound::{Excluded, Unbounded};

use super::ages;
use super::outcome::{Action, Remembered};
use super::record::{self, Ending, Memory, State};
use super::writer::{PartitionWriter, newest};
use crate::Result;
use crate::store::pages::PagesMut;
use crate::units::clock::AHEAD;

/// The memory that holds a slot now.
pub(super) fn holder<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, current: &[u32]) -> Result<Option<Memory>> {
    let Some(number) = current.last() else { return Ok(None) };
    let Some(memory) = record::current(writer.pages, writer.partition, *number)? else { return Ok(None) };
    if memory.is_expired(writer.clock) {
        expire(writer, memory)?;
        return Ok(None);
    }
    Ok(Some(memory))
}

impl<P: PagesMut> PartitionWriter<'_, P> {
    /// Whether the event of a memory that is known is newer than that of one which is written now.
    ///
    /// An event that had happened by the clock of its own write has happened by now. If its time is still to come, that clock ran ahead, and it
    /// was at some time since the write before it: the new memory is newer unless it is older than that.
    pub(super) fn is_newer(&self, known: &Memory, memory: &Memory) -> Result<bool> {
        if known.occurred_at <= memory.occurred_at {
            return Ok(false);
        }
        if known.occurred_at <= self.told || memory.occurred_at > self.told || !known.had_happened(self.told) {
            return Ok(true);
        }
        let before = ages::told_before(&*self.pages, self.partition, known.known_from, self.told)?;
        Ok(before.unwrap_or(self.told - AHEAD) > memory.occurred_at)
    }
}

pub(super) fn take_slot<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, mut slot: super::slots::Slot, number: u32) -> Result<()> {
    if !slot.multi {
        slot.current.clear();
    }
    slot.current.push(number);
    writer.put_slot(&slot)
}

/// Files a value that is older or less trusted than the slot's current one.
pub(super) fn file_as_history<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, mut memory: Memory, current: Memory) -> Result<Remembered> {
    memory.number = writer.next_number()?;
    memory.sequence = writer.next_sequence();
    let less_trusted = memory.trust < current.trust;
    let reason = if less_trusted {
        format!("trust {} does not replace trust {} in this slot: kept in history only", memory.trust, current.trust)
    } else {
        "its event is older than that of the slot's current value: kept in history only".to_owned()
    };
    let mut ending = Ending {
        state: State::Superseded,
        known_until: writer.now,
        valid_until: memory.occurred_at,
        superseded_by: Some(current.number),
        reason: Some(reason.clone()),
    };
    if !less_trusted {
        ending.valid_until = insert_into_chain(writer, &mut memory, current)?;
    }
    memory.ending = Some(ending);
    writer.add_to_history(&memory)?;
    Ok(Remembered { action: Action::Added, memory, reason: Some(reason) })
}

/// Ends `current` in favour of `memory`, which takes its slot.
pub(super) fn supersede<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, current: Memory, memory: &Memory) -> Result<()> {
    let ending = Ending {
        state: State::Superseded,
        known_until: writer.now,
        valid_until: memory.occurred_at,
        superseded_by: Some(memory.number),
        reason: None,
    };
    writer.end(current, ending)
}

/// Forgets a memory whose time to live is over.
pub(super) fn expire<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, memory: Memory) -> Result<()> {
    writer.leave_slot(&memory)?;
    let ending = expiry(&memory, writer.now);
    writer.end(memory, ending)
}

/// How a memory ends whose time to live is over at `now`.
pub(super) fn expiry(memory: &Memory, now: i64) -> Ending {
    let at = memory.expires_at.unwrap_or(now);
    Ending { state: State::Expired, known_until: at, valid_until: at, superseded_by: None, reason: None }
}

/// Puts an older value where it belongs among the values of a slot, which are chained newest event first; returns when it
/// stopped holding: when the next newer one began. The others' endings stay what the store knew when they ended.
///
/// All values before one that this batch filed are newer than it. So what is older than that one is looked for behind it: a slot that is
/// filled newest value first would be walked through once a value.
fn insert_into_chain<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, memory: &mut Memory, current: Memory) -> Result<i64> {
    let slot = current.number;
    let known = filed_before(writer, slot, memory.occurred_at)?;
    let (mut newer, mut until) = known.unwrap_or_else(|| {
        let until = current.occurred_at;
        (current, until)
    });
    loop {
        let older = match newer.supersedes {
            Some(number) => newest(writer.pages, writer.partition, number)?,
            None => None,
        };
        match older {
            Some(older) if older.occurred_at > memory.occurred_at => {
                until = until.min(older.occurred_at); // that of a clock which ran ahead is later than that of the value which followed
                newer = older;
            }
            older => {
                memory.supersedes = older.as_ref().map(|m| m.number);
                newer.supersedes = Some(memory.number);
                record::put(writer.pages, writer.partition, &newer)?;
                writer.filed.entry(slot).or_default().insert(memory.occurred_at, (memory.number, until));
                return Ok(until);
            }
        }
    }
}

/// The oldest value that this batch filed in a chain and that is newer than `at`, and when the one behind it stopped holding.
fn filed_before<P: PagesMut>(writer: &PartitionWriter<'_, P>, slot: u32, at: i64) -> Result<Option<(Memory, i64)>> {
    let filed = writer.filed.get(&slot).and_then(|filed| filed.range((Excluded(at), Unbounded)).next());
    let Some((occurred_at, (number, until))) = filed else { return Ok(None) };
    let known = newest(&*writer.pages, writer.partition, *number)?;
    Ok(known.map(|known| (known, *until.min(occurred_at))))
}
