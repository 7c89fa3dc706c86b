//! Merging memories into one: the originals are superseded by it and stay in its history; all in one transaction.

use super::PINNED_KINDS;
use super::outcome::{Action, Remembered};
use super::record;
use super::remember::Prepared;
use super::succession::supersede;
use super::writer::PartitionWriter;
use crate::Result;
use crate::scope::Scope;
use crate::store::pages::PagesMut;

/// The writer of a memory whose text is new.
pub(super) const CONSOLIDATION: &str = "consolidation";

/// Puts one memory in the place of several: one of them (`keep`), or a new text. Nothing is done where one of them changed or ended since
/// it was read, with these revisions, or where a memory of trust 0 would become part of what every prompt begins with: `None`.
pub(super) fn write<P: PagesMut>(
    pages: &mut P,
    scope: &Scope,
    originals: &[(u32, u32)],
    keep: Option<u32>,
    new: Option<&Prepared>,
    clock: i64,
    embedding: Option<(u16, usize)>,
) -> Result<Option<Remembered>> {
    let mut writer = PartitionWriter::open(pages, scope, clock, embedding)?;
    let mut known = Vec::with_capacity(originals.len());
    for (number, revision) in originals {
        match record::current(&*writer.pages, writer.partition, *number)? {
            Some(memory) if memory.revision == *revision => known.push(memory),
            _ => return Ok(None),
        }
    }
    let trust = known.iter().map(|memory| memory.trust).min().unwrap_or(0);
    let kept_kind = || keep.and_then(|number| known.iter().find(|memory| memory.number == number)).map(|memory| memory.kind);
    if trust == 0 && new.map(Prepared::kind).or_else(kept_kind).is_some_and(|kind| PINNED_KINDS.contains(&kind)) {
        return Ok(None); // what nobody vouches for neither becomes a constraint nor takes one's trust away
    }
    let (mut kept, action) = match (new, keep.and_then(|number| known.iter().find(|memory| memory.number == number))) {
        (Some(new), _) => {
            let done = new.write(&mut writer)?;
            if done.action != Action::Added {
                return Ok(None); // it is there already, or the policy refuses it
            }
            (done.memory, Action::Added)
        }
        (None, Some(kept)) => (kept.clone(), Action::Reinforced),
        (None, None) => return Ok(None),
    };
    if new.is_some() {
        kept.provenance.writer = Some(CONSOLIDATION.to_owned());
    }
    kept.provenance.derived_from.extend(known.iter().map(|memory| memory.number).filter(|number| *number != kept.number));
    kept.provenance.reinforced = kept.provenance.reinforced.saturating_add(known.len() as u32 - 1);
    kept.provenance.last_seen = known.iter().map(|memory| memory.occurred_at).max().unwrap_or(0);
    kept.trust = kept.trust.min(trust);
    writer.index_anew(&kept)?;
    for memory in known.into_iter().filter(|memory| memory.number != kept.number) {
        supersede(&mut writer, memory, &kept)?;
    }
    writer.finish()?;
    Ok(Some(Remembered { action, memory: kept, reason: Some(format!("merged {} memories", originals.len())) }))
}
