//! `remember`: one or many memories of one scope, in one transaction.

use super::forget;
use super::heard;
use super::kind::{Kind, trust_of};
use super::learn;
use super::merge::CONSOLIDATION;
use super::new_memory::{CONFIDENCE, IMPORTANCE, NewMemory, Verdict, normal_slot, request_hash};
use super::outcome::{Action, Remembered};
use super::quarantine;
use super::record::{self, Ending, Memory, State, number_in};
use super::revise::keeps_its_time;
use super::slots::Slot;
use super::succession::{expire, file_as_history, holder, supersede, take_slot};
use super::writer::{MEMORIES, PINNED_KINDS, PartitionWriter, content_key, duplicate_key, id_key, newest};
use crate::gate;
use crate::index::bm25::{IndexId, Reader};
use crate::index::vectors::{UnitVector, VectorSet};
use crate::scope::Scope;
use crate::store::identity::{Secret, Seed};
use crate::store::load;
use crate::store::pages::{Pages, PagesMut};
use crate::text::{self, Analysis, analyze};
use crate::{Error, ErrorKind, Result};

/// A new memory, checked and analysed before its transaction begins.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    new: NewMemory,
    slot: Option<String>,
    request: u64,
    /// When it is to be forgotten at the latest.
    ends: Option<i64>,
    analysis: Analysis,
    /// The seed that its words were hashed with.
    seed: Seed,
}

/// The vector of an embedding (number, dimensions) that a current memory of the same kind, slot and text has.
pub(super) fn known_vector<P: Pages>(pages: &P, scope: &Scope, new: &NewMemory, embedding: (u16, usize)) -> Result<Option<UnitVector>> {
    let Some(partition) = scope.find(pages)? else { return Ok(None) };
    let (seed, slot) = (scope.seed(pages.secret()), new.slot.as_deref().map(normal_slot).transpose()?);
    let set = VectorSet::new(partition, embedding.0, embedding.1)?;
    let reader = Reader::open(pages, IndexId { partition, index: MEMORIES })?;
    for number in reader.find(content_key(seed, new.kind, slot.as_deref(), &new.text))? {
        if record::current(pages, partition, number)?.is_some_and(|memory| memory.text == new.text)
            && let Some(vector) = set.get(pages, number)?
        {
            return Ok(Some(UnitVector::stored(vector)));
        }
    }
    Ok(None)
}

/// Checks and analyses a memory.
pub(super) fn prepare(scope: &Scope, secret: Secret, new: NewMemory) -> Result<Prepared> {
    new.check()?;
    let slot = new.slot.as_deref().map(normal_slot).transpose()?;
    let seed = scope.seed(secret);
    let analysis = analyze(&new.text, seed.terms);
    Ok(Prepared { request: request_hash(&new), slot, ends: None, analysis, new, seed })
}

/// Writes a batch; the outcome of each row in order. A row that fails has changed nothing.
pub(super) fn write<P: PagesMut>(
    pages: &mut P,
    scope: &Scope,
    rows: &[Prepared],
    clock: i64,
    embedding: Option<(u16, usize)>,
) -> Result<Vec<Result<Remembered>>> {
    let mut writer = PartitionWriter::open(pages, scope, clock, embedding)?;
    writer.look_up(rows.iter().flat_map(Prepared::keys))?;
    let mut outcomes = Vec::with_capacity(rows.len());
    for row in rows {
        match row.write(&mut writer) {
            // A conflict is noticed before the row has changed anything; any other failure fails the batch.
            Err(error) if error.kind() != ErrorKind::IdConflict => return Err(error),
            outcome => outcomes.push(outcome),
        }
    }
    writer.finish_if_changed()?;
    Ok(outcomes)
}

/// How a new memory stands to those that are known.
enum Standing {
    /// A newer or more trusted value: the new one belongs behind it.
    Behind(Memory),
    /// A value that it replaces, and why.
    Replaces(Memory, String),
    /// It changes none of them.
    Alone,
}

impl Prepared {
    /// The keys by which it may be there already.
    fn keys(&self) -> impl Iterator<Item = u64> {
        let id = self.new.id.as_deref().map(|id| id_key(self.seed, id));
        id.into_iter().chain([content_key(self.seed, self.new.kind, self.slot.as_deref(), &self.new.text)])
    }

    /// The kind that it will be.
    pub(super) fn kind(&self) -> Kind {
        self.new.kind
    }

    /// How far it will be trusted.
    pub(super) fn trust(&self) -> u8 {
        self.new.trust.unwrap_or_else(|| trust_of(&self.new.source))
    }

    /// Whether the policy leaves all of its text.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.new.screened, Verdict::Open | Verdict::Clean)
    }

    /// The same, as made of memories that are known: trusted no more and kept no longer than any of them, with the newest of their events.
    /// The rule of its kind gave them their ends, and gives it none.
    pub(super) fn made_of(&self, known: &[Memory]) -> Self {
        let least = known.iter().map(|memory| memory.trust).min().unwrap_or(0);
        let mut made = self.clone();
        made.ends = known.iter().filter_map(|memory| memory.expires_at).min();
        made.new.default_ttl = None;
        made.new.trust = Some(self.trust().min(least));
        made.new.occurred_at = self.new.occurred_at.or_else(|| known.iter().map(|memory| memory.occurred_at).max());
        let provenance = &mut made.new.provenance;
        provenance.writer = Some(CONSOLIDATION.to_owned());
        provenance.derived_from.extend(known.iter().map(|memory| memory.number));
        provenance.reinforced = known.len().saturating_sub(1) as u32;
        provenance.last_seen = known.iter().map(Memory::last_seen).max().unwrap_or(0);
        made
    }

    /// Gives it the vector of its text, where it came without one.
    pub(super) fn fill_vector(&mut self, embed: impl FnOnce(&str) -> Option<UnitVector>) {
        if self.new.vector.is_none() {
            self.new.vector = embed(&self.new.text);
        }
    }

    pub(super) fn write<P: PagesMut>(&self, writer: &mut PartitionWriter<'_, P>) -> Result<Remembered> {
        load::check_seed(self.seed, writer.seed)?;
        if let Verdict::Refused(types) = &self.new.screened {
            return Ok(self.refused(writer, types));
        }
        let done = self.store(writer)?;
        Ok(match &self.new.screened {
            Verdict::Redacted(types) if matches!(done.action, Action::Added | Action::Superseded) => {
                let reason = Some(format!("the policy took out: {}", types.join(", ")));
                Remembered { action: Action::Redacted, reason, ..done }
            }
            _ => done,
        })
    }

    /// The answer for a text that the policy refuses: a memory that is stored nowhere, without a text.
    fn refused<P: PagesMut>(&self, writer: &PartitionWriter<'_, P>, types: &[String]) -> Remembered {
        self.not_stored(writer, format!("the policy refuses: {}", types.join(", ")))
    }

    /// The answer for a text that is not stored.
    fn not_stored<P: PagesMut>(&self, writer: &PartitionWriter<'_, P>, reason: String) -> Remembered {
        let mut memory = Memory { given_id: Some(self.new.id.clone().unwrap_or_default()), request: 0, ..self.memory(writer) };
        memory.text.clear();
        memory.metadata.clear();
        let (known_until, valid_until) = (writer.now, memory.occurred_at);
        memory.ending = Some(Ending { state: State::Forgotten, known_until, valid_until, superseded_by: None, reason: None });
        Remembered { action: Action::Rejected, memory, reason: Some(reason) }
    }

    fn store<P: PagesMut>(&self, writer: &mut PartitionWriter<'_, P>) -> Result<Remembered> {
        if let Some(answer) = self.by_id(writer)? {
            return Ok(answer);
        }
        let mut memory = self.memory(writer);
        if memory.trust == 0 && PINNED_KINDS.contains(&memory.kind) {
            return quarantine::file(writer, memory, "untrusted: a source of trust 0 gives no preference, constraint or profile");
        }
        let mut met = learn::Met::default();
        if let Some(learning) = &self.new.learning {
            met = learn::meet(writer, &mut memory, learning)?;
            if let Some(known) = met.same {
                return learn::reinforce(writer, &known, &memory);
            }
            // A claim that denies something known ends it, and waits for nobody.
            let ends = learning.doubt.as_deref().is_some_and(|doubt| [gate::DENIAL, gate::LIFTED].contains(&doubt)) && met.ended.is_some();
            if learning.doubt.as_deref() == Some(gate::LIFTED) && !ends {
                return Ok(self.not_stored(writer, gate::LIFTED.to_owned()));
            }
            let doubt = learning.doubt.as_deref().filter(|_| !ends).or(met.named.then_some("another name is known"));
            if let Some(doubt) = doubt {
                return quarantine::file(writer, self.memory(writer), doubt);
            }
            memory.provenance.disputes = met.disputed;
        }
        let weaker = match duplicate(writer, &memory)? {
            Some(known) if outlives(&known, &memory) => return told_again(writer, known, &memory),
            Some(known) => {
                inherit(&mut memory, &known);
                Some(known)
            }
            None => met.ended,
        };
        if let Some(known) = met.left {
            learn::leave_slot(writer, known)?;
        }
        let slot = memory.slot.as_deref().map(|name| writer.slot(name)).transpose()?;
        let replaced = match self.standing(writer, &memory, slot.as_ref(), weaker)? {
            Standing::Behind(current) => return file_as_history(writer, memory, current),
            Standing::Replaces(known, reason) => Some((known, reason)),
            Standing::Alone => None,
        };
        memory.number = writer.next_number()?;
        memory.supersedes = replaced.as_ref().map(|(known, _)| known.number);
        let (mut action, mut reason) = (Action::Added, None);
        if let Some((known, why)) = replaced {
            (action, reason) = (Action::Superseded, Some(why));
            supersede(writer, known, &memory)?;
        }
        if let Some(slot) = slot {
            take_slot(writer, slot, memory.number)?;
        }
        memory.sequence = writer.next_sequence();
        learn::dispute(writer, memory.number, &memory.provenance.disputes)?;
        writer.add(&memory, self.analysis.terms.clone(), self.analysis.length, self.new.vector.clone())?;
        if memory.trust > 0 {
            writer.relate(&memory)?;
        }
        if let Some(learning) = &self.new.learning {
            writer.claims.add(&memory, learning);
        }
        Ok(Remembered { action, memory, reason })
    }

    /// How a new memory stands to the value of its slot, or to `weaker`, which says the same or what it ends.
    fn standing<P: PagesMut>(
        &self,
        writer: &mut PartitionWriter<'_, P>,
        memory: &Memory,
        slot: Option<&Slot>,
        weaker: Option<Memory>,
    ) -> Result<Standing> {
        if let Some(slot) = slot.filter(|slot| !slot.multi)
            && let Some(current) = holder(writer, &slot.current)?
        {
            if current.trust > memory.trust || writer.is_newer(&current, memory)? {
                return Ok(Standing::Behind(current));
            }
            let why = format!("took slot {:?} from {}", slot.name, current.id());
            return Ok(Standing::Replaces(current, why));
        }
        let Some(known) = weaker else { return Ok(Standing::Alone) };
        let is_newer = writer.is_newer(&known, memory)?;
        Ok(match (self.new.learning.is_some(), slot.is_some()) {
            (true, false) if is_newer => Standing::Behind(known),
            (true, true) if is_newer || known.slot.is_some() => Standing::Alone,
            (true, _) => {
                let why = format!("{} holds no longer", known.id());
                Standing::Replaces(known, why)
            }
            (false, false) => {
                let why = format!("says the same as {}, for longer or with more trust", known.id());
                Standing::Replaces(known, why)
            }
            (false, true) => Standing::Alone,
        })
    }

    /// The answer to an id that was used before.
    fn by_id<P: PagesMut>(&self, writer: &mut PartitionWriter<'_, P>) -> Result<Option<Remembered>> {
        let Some(id) = &self.new.id else { return Ok(None) };
        let mut known = writer.find_id(id)?;
        if let Some(number) = number_in(id) {
            known = known.or(newest(writer.pages, writer.partition, number)?.filter(|m| m.given_id.is_none()));
            writer.head.ids_taken = true;
        }
        if known.is_none() && self.new.learning.is_some() {
            let again = heard::again(writer.pages, writer.partition, id)?;
            known = again.map_or(Ok(None), |number| newest(writer.pages, writer.partition, number))?;
        }
        let Some(mut memory) = known else { return Ok(None) };
        let has_words = !matches!(memory.state(), State::Forgotten | State::Expired);
        if has_words && memory.is_expired(writer.clock) {
            // Forgotten already, whether or not maintenance has come by: the answer must not depend on that.
            forget::expire_any(writer, memory.clone())?;
            memory = newest(writer.pages, writer.partition, memory.number)?.unwrap_or(memory);
        }
        if matches!(memory.state(), State::Forgotten | State::Expired) {
            let ended = if memory.state() == State::Expired { "has expired" } else { "was forgotten" };
            let reason = Some(format!("the memory with id {id:?} {ended}, and an id is not used twice"));
            return Ok(Some(Remembered { action: Action::Rejected, memory, reason }));
        }
        if memory.state() == State::Quarantined && self.new.learning.is_some() {
            let reason = Some("it waits for somebody to approve it".to_owned());
            return Ok(Some(Remembered { action: Action::Duplicate, memory, reason }));
        }
        // The hash says that it was asked for in the same way, and a first revision's text can be compared.
        let differs = memory.request != self.request || memory.revision == 1 && memory.text != self.new.text;
        if differs && self.new.learning.is_none() {
            return Err(self.id_conflict(id, &memory));
        }
        let reason = Some(format!("id {id:?} was written before with the same content"));
        Ok(Some(Remembered { action: Action::Duplicate, memory, reason }))
    }

    /// The error of an id that was used with other content. `revise` is a way out only where it can change all that differs.
    fn id_conflict(&self, id: &str, known: &Memory) -> Error {
        let new = &self.new;
        let is_of_another_time = new.occurred_at.is_some_and(|at| at != known.occurred_at);
        let stays: Vec<&str> = [
            ("occurred_at", is_of_another_time && (self.slot.is_some() || keeps_its_time(known))),
            ("kind", new.kind != known.kind),
            ("source", new.source != known.source),
            ("trust", self.trust() != known.trust),
            ("confidence", new.confidence.to_bits() != known.confidence.to_bits()),
        ]
        .into_iter()
        .filter_map(|(name, differs)| differs.then_some(name))
        .collect();
        let is_otherwise_put = new.text != known.text
            || is_of_another_time
            || self.slot != known.slot
            || new.importance.to_bits() != known.importance.to_bits()
            || new.metadata != known.metadata;
        let cure = if !stays.is_empty() {
            let names = stays.join(", ");
            format!("use another id, and forget() that memory first where this one corrects it: revise() does not change its {names}")
        } else if is_otherwise_put && known.state() == State::Current {
            "use another id, or revise() that memory".to_owned()
        } else {
            "use another id, or give the arguments that it was written with".to_owned()
        };
        let rule = "an id is unique in its scope, and it was written before with other content";
        Error::new(ErrorKind::IdConflict, format!("remembering with id={id:?}: {rule}: {cure}")).with("id", id)
    }

    fn memory<P: PagesMut>(&self, writer: &PartitionWriter<'_, P>) -> Memory {
        let new = &self.new;
        Memory {
            number: 0,
            given_id: new.id.clone(),
            text: new.text.clone(),
            kind: new.kind,
            slot: self.slot.clone(),
            importance: new.importance,
            confidence: new.confidence,
            trust: self.trust(),
            source: new.source.clone(),
            sequence: 0,
            revision: 1,
            created_at: writer.now,
            known_from: writer.now,
            clock: writer.behind(),
            occurred_at: new.occurred_at.unwrap_or(writer.told),
            expires_at: new.ttl.or(new.default_ttl).map(|ttl| writer.clock.saturating_add(ttl)).into_iter().chain(self.ends).min(),
            metadata: new.metadata.clone(),
            supersedes: None,
            request: self.request,
            ending: None,
            provenance: new.provenance.clone(),
        }
    }
}

/// The current memory that says exactly the same: text, kind and slot, of an event also the day. One under another id is a memory of its own, so that
/// each id that was acknowledged is found again.
fn duplicate<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, memory: &Memory) -> Result<Option<Memory>> {
    for number in writer.find(duplicate_key(writer.seed, memory))? {
        let Some(known) = record::current(writer.pages, writer.partition, number)? else { continue };
        let same = known.kind == memory.kind
            && known.slot == memory.slot
            && learn::same_event(memory, &known)
            && (memory.given_id.is_none() || known.given_id == memory.given_id)
            && text::duplicate_key(&known.text) == text::duplicate_key(&memory.text);
        if same && known.is_expired(writer.clock) {
            expire(writer, known)?;
        } else if same {
            return Ok(Some(known));
        }
    }
    Ok(None)
}

/// The answer to a memory that is known. Where a program tells what was learnt, the record names no writer any more, as that of what a
/// program tells first: so that it stays where the message that it was learnt from is redacted.
fn told_again<P: PagesMut>(writer: &mut PartitionWriter<'_, P>, mut known: Memory, again: &Memory) -> Result<Remembered> {
    if again.provenance.writer.is_none() && known.provenance.writer.take().is_some() {
        record::put(writer.pages, writer.partition, &known)?;
    }
    let ignored = if again.provenance.writer.is_none() { ignored(&known, again) } else { String::new() };
    let reason = Some(format!("{} says the same{ignored}", known.id()));
    Ok(Remembered { action: Action::Duplicate, memory: known, reason })
}

/// Words for the arguments of a call that a memory which is known already does not take over. A default counts as not given.
fn ignored(known: &Memory, again: &Memory) -> String {
    let differs = |given: f64, default: f64, known: f64| given.to_bits() != default.to_bits() && given.to_bits() != known.to_bits();
    let metadata = !again.metadata.is_empty() && again.metadata != known.metadata;
    let revised = match (metadata, differs(again.importance, IMPORTANCE, known.importance)) {
        (true, true) => "; its metadata and importance stay as they were: revise() changes them",
        (true, false) => "; its metadata stays as it was: revise() changes it",
        (false, true) => "; its importance stays as it was: revise() changes it",
        (false, false) => "",
    };
    let is_otherwise_sure = differs(again.confidence, CONFIDENCE, known.confidence);
    format!("{revised}{}", if is_otherwise_sure { "; its confidence stays as it was" } else { "" })
}

/// Gives a memory that takes the place of one which says the same the metadata and the importance of that, where its call gave none.
fn inherit(memory: &mut Memory, known: &Memory) {
    if memory.metadata.is_empty() {
        memory.metadata.clone_from(&known.metadata);
    }
    if memory.importance.to_bits() == IMPORTANCE.to_bits() {
        memory.importance = known.importance;
    }
}

/// Whether a known memory is kept at least as long as a new one that says the same, and trusted at least as much.
fn outlives(known: &Memory, new: &Memory) -> bool {
    let end = |memory: &Memory| memory.expires_at.unwrap_or(i64::MAX);
    end(known) >= end(new) && known.trust >= new.trust
}
