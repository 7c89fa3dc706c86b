//! `forget`: removes the words of a memory from every index and every revision, and leaves a tombstone without text.

use super::kind::Kind;
use super::record::{self, Ending, Memory, State};
use super::remember::expire;
use super::writer::PartitionWriter;
use crate::limits::MAX_DAYS;
use crate::scope::Scope;
use crate::store::keys::Partition;
use crate::store::pages::PagesMut;
use crate::units::calendar::DAY;
use crate::{Error, Result};

/// Forgets one memory, current or not; `false` where it was forgotten before.
pub(super) fn forget<P: PagesMut>(pages: &mut P, scope: &Scope, id: &str, reason: Option<&str>, clock: i64) -> Result<bool> {
    let Some(partition) = scope.find(pages)? else { return Err(super::read::no_such_memory(id)) };
    let mut writer = PartitionWriter::at(pages, partition, scope.term_seed(), clock, None)?;
    let memory = super::read::find(writer.pages, partition, writer.seed, id)?.ok_or_else(|| super::read::no_such_memory(id))?;
    if matches!(memory.state(), State::Forgotten | State::Expired) {
        return Ok(false);
    }
    let expired = memory.ending.is_none() && memory.is_expired(writer.now);
    if expired {
        expire(&mut writer, memory)?;
    } else {
        forget_one(&mut writer, memory, reason)?;
    }
    writer.finish()?;
    Ok(!expired)
}

/// Forgets those of `numbers` that are still current and unimportant enough; the ids of those that were.
pub(super) fn forget_many<P: PagesMut>(
    pages: &mut P,
    partition: Partition,
    seed: u64,
    numbers: &[u32],
    reason: &str,
    clock: i64,
) -> Result<Vec<Memory>> {
    let mut writer = PartitionWriter::at(pages, partition, seed, clock, None)?;
    let mut forgotten = Vec::new();
    for number in numbers {
        match record::current(writer.pages, partition, *number)? {
            Some(memory) if memory.is_expired(writer.now) => expire(&mut writer, memory)?,
            Some(memory) => {
                forgotten.push(memory.clone());
                forget_one(&mut writer, memory, Some(reason))?;
            }
            None => {}
        }
    }
    writer.finish()?;
    Ok(forgotten)
}

/// Forgets those of `numbers` whose time to live is over.
pub(crate) fn expire_many<P: PagesMut>(pages: &mut P, partition: Partition, seed: u64, numbers: &[u32], clock: i64) -> Result<u64> {
    let mut writer = PartitionWriter::at(pages, partition, seed, clock, None)?;
    let mut expired = 0;
    for number in numbers {
        match record::current(writer.pages, partition, *number)? {
            Some(memory) if memory.is_expired(clock) => {
                expire(&mut writer, memory)?;
                expired += 1;
            }
            _ => {}
        }
    }
    writer.finish()?;
    Ok(expired)
}

fn forget_one<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, mut memory: Memory, reason: Option<&str>) -> Result<()> {
    let ending = Ending {
        state: State::Forgotten,
        known_until: writer.now,
        valid_until: memory.occurred_at,
        superseded_by: memory.ending.as_ref().and_then(|ending| ending.superseded_by),
        reason: reason.map(str::to_owned),
    };
    if memory.ending.is_none() {
        writer.leave_slot(&memory)?;
        return writer.end(memory, ending);
    }
    // Superseded before: it is in no index any more, only its words are left.
    writer.erase(&mut memory)?;
    writer.forget_vector(memory.number);
    memory.ending = Some(ending);
    record::put(writer.pages, writer.partition, &memory)
}

/// What `forget_stale` takes.
#[derive(Debug, Clone, Copy)]
pub struct Stale {
    /// Not written and not recalled since, microseconds since 1970 (UTC).
    pub unused_since: i64,
    /// Not more important than this.
    pub max_importance: f64,
}

impl Stale {
    /// What was not used for so many days before `now`, and is no more important than that.
    pub fn new(unused_days: f64, max_importance: f64, now: i64) -> Result<Self> {
        if !(0.0..=MAX_DAYS).contains(&unused_days) {
            return Err(Error::invalid(format!(
                "forgetting what is stale: unused_days must be from 0 to {MAX_DAYS} (100 years), and it is {unused_days}: change it"
            )));
        }
        if !(0.0..=1.0).contains(&max_importance) {
            return Err(Error::invalid(format!(
                "forgetting what is stale: max_importance is a number from 0 to 1, and it is {max_importance}: scale it"
            )));
        }
        Ok(Self { unused_since: now - (unused_days * DAY as f64) as i64, max_importance })
    }

    /// Whether a memory that was last recalled at `recalled_at` is stale. What must hold and who somebody is never are.
    #[must_use]
    pub fn takes(&self, memory: &Memory, recalled_at: i64) -> bool {
        !matches!(memory.kind, Kind::Constraint | Kind::Profile)
            && memory.importance <= self.max_importance
            && memory.known_from.max(recalled_at) < self.unused_since
    }
}
