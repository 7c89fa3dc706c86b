//! Merging memories into one: the originals are superseded by it and stay in its history; all in one transaction.

use super::PINNED_KINDS;
use super::outcome::{Action, Remembered};
use super::record::{self, Memory};
use super::remember::Prepared;
use super::succession::supersede;
use super::writer::PartitionWriter;
use crate::scope::Scope;
use crate::store::pages::PagesMut;
use crate::{Error, Result};

/// The writer of a memory whose text is new.
pub(super) const CONSOLIDATION: &str = "consolidation";

/// Puts one memory in the place of several: one of them (`keep`), or a new text. A text that one of them has keeps that one. Nothing is
/// done, and the answer is `None`, where
///
/// - one of them changed or ended since it was read, with these revisions, or holds a slot;
/// - a memory of trust 0 would become part of what every prompt begins with;
/// - the policy takes something out of the new text, which the originals have, or another memory says the same for as long.
pub(super) fn write<P: PagesMut>(
    pages: &mut P,
    scope: &Scope,
    originals: &[(u32, u32)],
    keep: Option<u32>,
    new: Option<&Prepared>,
    clock: i64,
    embedding: Option<(u16, usize)>,
) -> Result<Option<Remembered>> {
    let Some(partition) = scope.find(pages)? else { return Ok(None) };
    let mut writer = PartitionWriter::at(pages, partition, scope.seed(pages.secret()), clock, embedding)?;
    let mut known = Vec::with_capacity(originals.len());
    for (number, revision) in originals {
        match record::current(&*writer.pages, partition, *number)? {
            Some(memory) if memory.revision == *revision && memory.slot.is_none() && !memory.is_expired(clock) => known.push(memory),
            _ => return Ok(None),
        }
    }
    let (least, new) = (known.iter().map(|memory| memory.trust).min().unwrap_or(0), new.map(|new| new.made_of(&known)));
    let keep = keep.and_then(|number| known.iter().find(|memory| memory.number == number));
    let trust = new.as_ref().map_or(least, Prepared::trust);
    if trust == 0 && new.as_ref().map(Prepared::kind).or(keep.map(|memory| memory.kind)).is_some_and(|kind| PINNED_KINDS.contains(&kind)) {
        return Ok(None); // what nobody vouches for neither becomes a constraint nor takes one's trust away
    }
    let (kept, action) = match (&new, keep) {
        (Some(new), _) if !new.is_whole() => return Ok(None),
        (Some(new), _) => {
            let done = new.write(&mut writer)?;
            let is_one_of_them = known.iter().any(|memory| memory.number == done.memory.number);
            match done.action {
                Action::Added | Action::Superseded if done.memory.ending.is_none() => (done.memory, Action::Added),
                Action::Duplicate if is_one_of_them => (stand_for(&mut writer, &done.memory, &known)?, Action::Reinforced),
                Action::Duplicate => {
                    writer.finish_if_changed()?;
                    return Ok(None);
                }
                other => return Err(not_merged(other)),
            }
        }
        (None, Some(kept)) => (stand_for(&mut writer, kept, &known)?, Action::Reinforced),
        (None, None) => return Ok(None),
    };
    let said_by_rules = new.is_none();
    for memory in known.iter().filter(|memory| memory.number != kept.number) {
        // A new text may have taken the place of one of them when it was written.
        let Some(memory) = record::current(&*writer.pages, partition, memory.number)? else { continue };
        if kept.trust > 0 {
            writer.leave_relations(memory.number, &kept, said_by_rules)?;
        }
        supersede(&mut writer, memory, &kept)?;
    }
    if kept.trust > 0 {
        writer.relate(&kept)?;
    }
    writer.finish()?;
    Ok(Some(Remembered { action, memory: kept, reason: Some(format!("merged {} memories", originals.len())) }))
}

/// Stores one of the memories as the one that stands for all of them.
fn stand_for<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, before: &Memory, known: &[Memory]) -> Result<Memory> {
    let mut kept = before.clone();
    kept.provenance.derived_from.extend(known.iter().map(|memory| memory.number).filter(|number| *number != kept.number));
    kept.provenance.reinforced = kept.provenance.reinforced.saturating_add(known.len() as u32 - 1);
    kept.provenance.last_seen = known.iter().map(Memory::last_seen).max().unwrap_or(0);
    kept.trust = known.iter().map(|memory| memory.trust).min().unwrap_or(0);
    writer.index_anew(before, &kept)?;
    Ok(kept)
}

/// The error of a text that does not become current: what was written of it is undone.
fn not_merged(action: Action) -> Error {
    Error::invalid(format!(
        "merging memories: the text that takes their place must become current, and it would be {}: give one without an id and a slot",
        action.name()
    ))
}
