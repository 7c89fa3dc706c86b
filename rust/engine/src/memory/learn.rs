//! What a claim that was heard does to what is known: says it again, takes the place of something, ends it, or stands beside it.
//!
//! All of it happens in the transaction that stores the claim, so that no other writer comes between the look and the write. The
//! candidates are the memories that the caller found near, and those that the same batch has just written.

use super::near::{Relation, relation, speaks_of};
use super::record::{self, Memory};
use super::remember::{Action, Remembered};
use super::writer::PartitionWriter;
use crate::Result;
use crate::store::envelope::{self, Codec};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};

/// What of a new memory makes it a claim: what it is compared with, and what it says about others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Learning {
    /// Numbers of memories that may say the same or otherwise.
    pub near: Vec<u32>,
    /// The value that it replaces, in the user's words.
    pub replaces: Option<String>,
    /// What holds no longer, in the user's words.
    pub ends: Option<String>,
    /// Why somebody must approve it first.
    pub doubt: Option<String>,
}

/// What a claim meets.
#[derive(Default)]
pub(super) struct Met {
    /// A memory that says the same.
    pub same: Option<Memory>,
    /// A memory whose place it takes.
    pub ended: Option<Memory>,
    /// Memories that may not hold along with it.
    pub disputed: Vec<u32>,
}

/// Compares a claim with what is near. It takes the slot of the memory that it replaces or ends.
pub(super) fn meet<P: PagesMut>(writer: &PartitionWriter<'_, P>, memory: &mut Memory, learning: &Learning) -> Result<Met> {
    let batch = writer.first_number..writer.head.next_number;
    let mut met = Met::default();
    for number in learning.near.iter().copied().chain(batch) {
        let Some(known) = record::current(&*writer.pages, writer.partition, number)? else { continue };
        if known.is_expired(writer.now) {
            continue;
        }
        if let Some(named) = learning.replaces.as_ref().or(learning.ends.as_ref())
            && met.ended.is_none()
            && may_replace(memory, &known)
            && speaks_of(&known.text, named)
        {
            memory.slot = memory.slot.take().or_else(|| known.slot.clone());
            met.ended = Some(known);
            continue;
        }
        let comparable = known.slot == memory.slot || known.slot.is_none() || memory.slot.is_none();
        match relation(&memory.text, memory.kind, &known.text, known.kind) {
            Relation::Same if known.slot == memory.slot && same_event(memory, &known) => met.same = met.same.or(Some(known)),
            Relation::Contradicts if comparable && may_replace(memory, &known) && met.ended.is_none() => {
                memory.slot = memory.slot.take().or_else(|| known.slot.clone());
                met.ended = Some(known);
            }
            Relation::Contradicts | Relation::Disputes
                if comparable && known.slot != memory.slot || known.slot.is_none() && memory.slot.is_none() =>
            {
                if matches!(relation(&memory.text, memory.kind, &known.text, known.kind), Relation::Contradicts | Relation::Disputes) {
                    met.disputed.push(number);
                }
            }
            _ => {}
        }
    }
    Ok(met)
}

/// Events are told again on their day; on another day something happened again.
fn same_event(new: &Memory, known: &Memory) -> bool {
    const DAY: i64 = 86_400_000_000;
    use super::kind::Kind;
    !matches!(new.kind, Kind::Episodic | Kind::TaskOutcome) || new.occurred_at.div_euclid(DAY) == known.occurred_at.div_euclid(DAY)
}

/// A claim ends nothing that is trusted more.
fn may_replace(new: &Memory, known: &Memory) -> bool {
    new.trust >= known.trust
}

/// Counts that a memory was said again, where that was later than the last time, and by somebody who is trusted as much: what an assistant
/// repeats of its prompt makes nothing truer.
pub(super) fn reinforce<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, mut known: Memory, again: &Memory) -> Result<Remembered> {
    let last = known.provenance.last_seen.max(known.occurred_at);
    if again.occurred_at > last && again.trust >= known.trust {
        known.provenance.reinforced = known.provenance.reinforced.saturating_add(1);
        known.provenance.last_seen = again.occurred_at;
        // Half of what was missing, for a source as sure as the first; the sum never passes 1.
        known.confidence += (1.0 - known.confidence) * again.confidence * 0.5;
        record::put(writer.pages, writer.partition, &known)?;
    }
    let reason = Some(format!("{} says the same", known.id()));
    Ok(Remembered { action: Action::Reinforced, memory: known, reason })
}

/// Marks two memories as saying otherwise.
pub(super) fn dispute<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, number: u32, others: &[u32]) -> Result<()> {
    for other in others {
        if let Some(mut known) = record::current(&*writer.pages, writer.partition, *other)?
            && !known.provenance.disputes.contains(&number)
        {
            known.provenance.disputes.push(number);
            record::put(writer.pages, writer.partition, &known)?;
        }
    }
    Ok(())
}

/// How far a session was learnt from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LearnMark {
    /// The first message that was not read.
    pub next: u64,
    /// The session's count of changes then: after a change it is read again.
    pub edits: u64,
    /// When the session was made: another one of the same id is read from its begin.
    pub created_at: i64,
}

fn mark_key(partition: Partition, seed: Seed, session: &str) -> Key {
    Key::new(partition, Table::LearnMark).u128(seed.hash128(session.as_bytes()))
}

/// How far that session was learnt from; the begin where it never was.
pub fn mark<P: Pages + ?Sized>(pages: &P, partition: Partition, seed: Seed, session: &str) -> Result<LearnMark> {
    let key = mark_key(partition, seed, session);
    let Some(value) = pages.get(key.as_slice())? else { return Ok(LearnMark::default()) };
    let mut r = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
    Ok(LearnMark { next: r.uint()?, edits: r.uint()?, created_at: r.int()? })
}

/// Says how far that session was learnt from.
pub fn put_mark(pages: &mut impl PagesMut, partition: Partition, seed: Seed, session: &str, mark: LearnMark) -> Result<()> {
    let key = mark_key(partition, seed, session);
    let mut body = Writer::array(3);
    body.uint(mark.next);
    body.uint(mark.edits);
    body.int(mark.created_at);
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, body.bytes()))
}
