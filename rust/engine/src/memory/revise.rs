//! `revise`: a correction. The memory keeps its number and id. Its former text becomes history, which answers no question any more.

use super::new_memory::{check_fraction, check_metadata, check_name, check_text, normal_slot};
use super::outcome::{Action, Remembered};
use super::record::{self, Ending, Memory, State};
use super::succession::{holder, supersede};
use super::writer::{PartitionWriter, Vector};
use crate::index::vectors::UnitVector;
use crate::scope::Scope;
use crate::store::pages::PagesMut;
use crate::text::analyze;
use crate::text::screening::Detected;
use crate::{Error, ErrorKind, Result};

/// The fields that are to be changed; `None` leaves a field as it is.
#[derive(Debug, Clone, Default)]
pub struct Revision {
    /// The new text.
    pub text: Option<String>,
    /// The new slot.
    pub slot: Option<String>,
    /// The new importance, 0 to 1.
    pub importance: Option<f64>,
    /// The new metadata, MessagePack of a mapping.
    pub metadata: Option<Vec<u8>>,
    /// When it happened or began to hold, in truth: microseconds since 1970.
    pub occurred_at: Option<i64>,
    /// Why.
    pub reason: Option<String>,
    /// The embedding of the new text; `None` leaves it to the built-in one, or pending where that is not the store's.
    pub vector: Option<UnitVector>,
    /// Who made that: the place of the embedder among those of the engine.
    pub made_by: u32,
    /// Findings of the caller's own detectors in the text.
    pub detected: Vec<Detected>,
}

impl Revision {
    /// Checks what needs no transaction.
    pub fn check(&self) -> Result<()> {
        let others = self.importance.is_some() || self.metadata.is_some() || self.occurred_at.is_some();
        if self.text.is_none() && self.slot.is_none() && !others {
            return Err(Error::invalid(
                "revising a memory: at least one of text, slot, importance, metadata and occurred_at must be given, and none is: name \
                 what changed",
            ));
        }
        let doing = "revising a memory";
        self.text.as_deref().map_or(Ok(()), |text| check_text(doing, text))?;
        self.slot.as_deref().map_or(Ok(()), |slot| check_name(doing, "slot", slot))?;
        self.importance.map_or(Ok(()), |value| check_fraction(doing, "importance", value))?;
        self.metadata.as_deref().map_or(Ok(()), |metadata| check_metadata(doing, metadata))?;
        self.reason.as_deref().map_or(Ok(()), |reason| check_name(doing, "reason", reason))
    }
}

/// Writes a revision.
pub(super) fn write<P: PagesMut>(
    pages: &mut P,
    scope: &Scope,
    id: &str,
    revision: &Revision,
    clock: i64,
    embedding: Option<(u16, usize)>,
) -> Result<Remembered> {
    let Some(partition) = scope.find(pages)? else { return Err(super::read::no_such_memory(id)) };
    let mut writer = PartitionWriter::at(pages, partition, scope.seed(pages.secret()), clock, embedding)?;
    let old = super::read::find(writer.pages, partition, writer.seed, id)?.ok_or_else(|| super::read::no_such_memory(id))?;
    let state = old.state_at(writer.clock);
    if state != State::Current {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            format!("revising {id:?}: only a current memory can be revised, and this one is {}: remember() a new one", state.name()),
        ));
    }
    let mut memory = revised(&old, revision, &mut writer)?;
    check_time(&old, &memory)?;
    let displaced = if memory.slot == old.slot { None } else { displaced(&mut writer, &memory)? };
    let same_text = memory.text == old.text;
    writer.unindex(&old, if same_text { Vector::Keep } else { Vector::Drop })?;
    file_old(&mut writer, &old, revision)?;
    if memory.slot != old.slot {
        move_slot(&mut writer, &old, &mut memory, displaced)?;
    }
    let analysis = analyze(&memory.text, writer.seed.terms);
    writer.add(&memory, analysis.terms, analysis.length, revision.vector.clone())?;
    if !same_text {
        writer.end_relations(memory.number, writer.told)?;
        writer.relate(&memory)?;
    } else if memory.occurred_at != old.occurred_at {
        writer.date_relations(&memory, old.occurred_at)?;
    }
    writer.finish()?;
    Ok(Remembered { action: Action::Updated, memory, reason: revision.reason.clone() })
}

fn revised<P: PagesMut>(old: &Memory, revision: &Revision, writer: &mut PartitionWriter<'_, P>) -> Result<Memory> {
    let mut memory = old.clone();
    memory.text = revision.text.clone().unwrap_or(memory.text);
    memory.importance = revision.importance.unwrap_or(memory.importance);
    memory.metadata = revision.metadata.clone().unwrap_or(memory.metadata);
    memory.occurred_at = revision.occurred_at.unwrap_or(memory.occurred_at);
    if let Some(slot) = &revision.slot {
        memory.slot = Some(normal_slot(slot)?);
    }
    memory.revision += 1;
    (memory.known_from, memory.clock) = (writer.now, writer.behind());
    memory.sequence = writer.next_sequence();
    Ok(memory)
}

/// Whether a memory's time stays, because others ended by it: it is the value of a slot, or took the place of others.
pub(super) fn keeps_its_time(memory: &Memory) -> bool {
    memory.slot.is_some() || memory.supersedes.is_some() || !memory.provenance.derived_from.is_empty()
}

fn check_time(old: &Memory, memory: &Memory) -> Result<()> {
    if memory.occurred_at == old.occurred_at || !keeps_its_time(old) && !keeps_its_time(memory) {
        return Ok(());
    }
    let id = old.id();
    Err(Error::invalid(format!(
        "revising {id:?}: occurred_at of a memory that has a slot, or that took the place of others, stays, because theirs ended by it: \
         forget() it, and remember() the fact with its time under another id"
    ))
    .with("id", &*id))
}

fn file_old<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, old: &Memory, revision: &Revision) -> Result<()> {
    let mut filed = old.clone();
    filed.ending = Some(Ending {
        state: State::Revised,
        known_until: writer.now,
        valid_until: old.occurred_at,
        superseded_by: None,
        reason: revision.reason.clone(),
    });
    record::put(writer.pages, writer.partition, &filed)
}

/// The memory whose slot a revised one is about to take: one that is less trusted or of an older event must not.
fn displaced<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, memory: &Memory) -> Result<Option<Memory>> {
    let Some(name) = &memory.slot else { return Ok(None) };
    let slot = writer.slot(name)?;
    let holder = if slot.multi { None } else { holder(writer, &slot.current)? };
    let stays = |current: &Memory| Ok::<_, Error>(current.trust > memory.trust || writer.is_newer(current, memory)?);
    match &holder {
        Some(current) if stays(current)? => Err(Error::invalid(format!(
            "revising {:?}: a memory that is less trusted, or of an older event, does not take a slot, and slot {name:?} is held by {} \
             (trust {} against {}): remember() the newer value instead",
            memory.id(),
            current.id(),
            current.trust,
            memory.trust
        ))),
        _ => Ok(holder),
    }
}

/// Leaves the old slot empty and takes the new one, whose current value is superseded.
fn move_slot<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, old: &Memory, memory: &mut Memory, displaced: Option<Memory>) -> Result<()> {
    writer.leave_slot(old)?;
    let Some(name) = memory.slot.clone() else { return Ok(()) };
    if let Some(current) = displaced {
        memory.supersedes = Some(current.number);
        supersede(writer, current, memory)?;
    }
    let mut slot = writer.slot(&name)?;
    if !slot.multi {
        slot.current.clear();
    }
    slot.current.push(memory.number);
    writer.put_slot(&slot)
}
