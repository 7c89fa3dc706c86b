//! The write half of a partition: collects what a batch of writes does to its index and vectors, and applies it at the end.
//!
//! Records, slots and the expiry index are written at once; postings and vectors are merged once a batch, so that each
//! page is rewritten once. Lookups by key see what the batch has done so far.

use std::collections::{BTreeMap, HashMap};

use super::claims::Claims;
use super::embedding::{self, Embedding, EmbeddingNumber};
use super::kind::Kind;
use super::record::{self, Ending, Memory, State};
use super::relation::{self, Given, Relation};
use super::slots::{self, Slot};
use crate::gate;
use crate::index::bm25::{self, IndexId, Op, Reader, Row, Statistics};
use crate::index::vectors::{UnitVector, VectorSet};
use crate::scope::{Head, Scope};
use crate::store::envelope::{self, Codec};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition};
use crate::store::pages::PagesMut;
use crate::text::{self, ANALYZER_VERSION, TermClass, TermCount, analyze};
use crate::units::clock::told;
use crate::{ErrorKind, Result};

/// The index of memories among the indexes of a partition.
pub(crate) const MEMORIES: u8 = 0;

/// Memories that are read at most to find one that says what a forgotten one said.
const MOST_ASKED: usize = 32;

/// A write transaction seen from one partition.
pub(super) struct PartitionWriter<'t, P: PagesMut> {
    pub pages: &'t mut P,
    pub partition: Partition,
    pub seed: Seed,
    pub head: Head,
    /// Transaction time of this batch: later than that of every write before it.
    pub now: i64,
    /// The time that the clock says, which may be earlier: a time to live runs from here, and so does not follow a clock that once ran ahead.
    pub clock: i64,
    /// The time of events that happen now: `now`, or the clock's where `now` ran ahead of it.
    pub told: i64,
    /// The claims that this batch has learnt so far.
    pub claims: Claims,
    /// The relations that it read and gave.
    relations: relation::Batch,
    operations: Vec<IndexOperation>,
    /// Key term -> numbers added (true) or removed (false) by this batch.
    keys: HashMap<u64, Vec<(u32, bool)>>,
    /// Key term -> the numbers that the index holds under it: until the end of the batch they stay.
    stored: HashMap<u64, Vec<u32>>,
    vectors: BTreeMap<u32, Change>,
    embedding: Option<(u16, usize)>,
    /// Whether the vectors that are searched are the built-in ones, while the engine's own embedding is building others.
    old_is_built_in: bool,
    sequence_before: u64,
    /// The values that this batch filed in chains of slots, by the number of the slot's current value.
    pub filed: HashMap<u32, Filed>,
    finished: bool,
}

/// Values that were filed in one chain, by the times of their events: the number of the last one of each, and when it stopped holding.
pub(super) type Filed = BTreeMap<i64, (u32, i64)>;

/// The fate of a memory's vector when the memory leaves the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vector {
    /// It goes.
    Drop,
    /// It stays: the memory comes back with the same text.
    Keep,
}

/// A batch's change of the vectors of one memory: first the memory loses those it had, then it gets these.
#[derive(Default)]
struct Change {
    drop: bool,
    /// The vector by the engine's embedding.
    own: Option<UnitVector>,
    /// The vector by the built-in embedding, where the partition is still searched by it.
    old: Option<UnitVector>,
}

enum IndexOperation {
    Add { number: u32, row: Row, terms: Vec<TermCount>, keys: Vec<u64> },
    Remove { number: u32, terms: Vec<TermCount>, keys: Vec<u64> },
}

impl<'t, P: PagesMut> PartitionWriter<'t, P> {
    /// The partition of `scope`, made where nothing was written to it before. `embedding` is its number and dimensions.
    pub fn open(pages: &'t mut P, scope: &Scope, clock: i64, embedding: Option<(u16, usize)>) -> Result<Self> {
        let partition = scope.find_or_make(pages)?;
        Self::at(pages, partition, scope.seed(pages.secret()), clock, embedding)
    }

    pub fn at(pages: &'t mut P, partition: Partition, seed: Seed, clock: i64, embedding: Option<(u16, usize)>) -> Result<Self> {
        let mut head = Head::read(pages, partition)?;
        if head.documents == 0 {
            head.analyzer = ANALYZER_VERSION;
        }
        let now = clock.max(head.last_time + 1);
        let mut writer = Self {
            pages,
            partition,
            seed,
            head,
            now,
            clock,
            told: told(now, clock),
            claims: Claims::default(),
            relations: relation::Batch::default(),
            operations: Vec::new(),
            keys: HashMap::new(),
            stored: HashMap::new(),
            vectors: BTreeMap::new(),
            embedding,
            old_is_built_in: false,
            sequence_before: head.sequence,
            filed: HashMap::new(),
            finished: false,
        };
        if let Some((number, _)) = embedding {
            // Vectors that another embedder is building are not given up by a mere write.
            if writer.head.building == 0 || writer.head.building == number {
                writer.head.begin(number);
            }
            if writer.head.embedding != number {
                let built_in = embedding::find(writer.pages, &Embedding::built_in())?;
                writer.old_is_built_in = built_in == Some(writer.head.embedding);
            }
        }
        Ok(writer)
    }

    /// The clock's time, where that of this batch ran ahead of it.
    pub fn behind(&self) -> Option<i64> {
        (self.told != self.now).then_some(self.told)
    }

    /// The next number of the scope.
    pub fn next_number(&mut self) -> Result<u32> {
        loop {
            let number = self.head.next_number;
            self.head.next_number += 1;
            if !self.head.ids_taken || self.find_id(&record::generated_id(number))?.is_none() {
                return Ok(number);
            }
        }
    }

    /// The next place in the scope's order.
    pub fn next_sequence(&mut self) -> u64 {
        self.head.sequence += 1;
        self.head.sequence
    }

    /// Looks up at once what the batch is going to ask for: the tail of the index is read once.
    pub fn look_up(&mut self, keys: impl Iterator<Item = u64>) -> Result<()> {
        let reader = Reader::open(&*self.pages, self.index())?;
        self.stored = keys.map(|key| Ok((key, reader.find(key)?))).collect::<Result<_>>()?;
        Ok(())
    }

    /// The numbers under a key term, this batch included.
    pub fn find(&self, key: u64) -> Result<Vec<u32>> {
        let mut numbers = match self.stored.get(&key) {
            Some(stored) => stored.clone(),
            None => Reader::open(&*self.pages, self.index())?.find(key)?,
        };
        for (number, added) in self.keys.get(&key).into_iter().flatten() {
            numbers.retain(|n| n != number);
            if *added {
                numbers.push(*number);
            }
        }
        Ok(numbers)
    }

    /// The newest revision of the memory to which the caller gave that id, current or not.
    pub fn find_id(&self, id: &str) -> Result<Option<Memory>> {
        for number in self.find(id_key(self.seed, id))? {
            if let Some(memory) = newest(self.pages, self.partition, number)?
                && memory.given_id.as_deref() == Some(id)
            {
                return Ok(Some(memory));
            }
        }
        Ok(None)
    }

    /// Makes a memory current and findable.
    pub fn add(&mut self, memory: &Memory, terms: Vec<TermCount>, length: u32, vector: Option<UnitVector>) -> Result<()> {
        record::put(self.pages, self.partition, memory)?;
        if let Some(at) = memory.expires_at {
            let key = Key::of_expiry(at, self.partition, memory.number);
            self.pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::Raw, &[]))?;
        }
        let keys = keys_of(self.seed, memory, &self.head);
        for key in &keys {
            self.keys.entry(*key).or_default().push((memory.number, true));
        }
        self.operations.push(IndexOperation::Add { number: memory.number, row: row_of(memory, length), terms, keys });
        let old = self.old_is_built_in.then(|| crate::embedding::embed(&memory.text));
        if vector.is_some() || old.is_some() {
            let change = self.vectors.entry(memory.number).or_default();
            // One that is added anew, with the vectors that this batch gave it, comes without them.
            change.own = vector.or(change.own.take());
            change.old = old.or(change.old.take());
        }
        Ok(())
    }

    /// Stores a memory that is never searched: only its id can be looked up.
    pub fn add_to_history(&mut self, memory: &Memory) -> Result<()> {
        record::put(self.pages, self.partition, memory)?;
        if let Some(id) = &memory.given_id {
            let key = id_key(self.seed, id);
            self.keys.entry(key).or_default().push((memory.number, true));
            let row = row_of(memory, 0);
            self.operations.push(IndexOperation::Add { number: memory.number, row, terms: Vec::new(), keys: vec![key] });
            self.operations.push(IndexOperation::Remove { number: memory.number, terms: Vec::new(), keys: Vec::new() });
        }
        Ok(())
    }

    /// Takes a current memory out of what is searched and files it as `ending` says. Its id stays known.
    pub fn end(&mut self, mut memory: Memory, ending: Ending) -> Result<()> {
        self.unindex(&memory, Vector::Drop)?;
        record::remove_current(self.pages, self.partition, memory.number)?;
        if matches!(ending.state, State::Forgotten | State::Expired) {
            self.end_same_before(&memory, &ending)?;
            self.erase(&mut memory)?;
        } else {
            self.end_relations(memory.number, ending.valid_until)?;
        }
        memory.ending = Some(ending);
        record::put(self.pages, self.partition, &memory)
    }

    /// Ends the memories as `ending` says that were superseded by one which ends, because it said the same for longer or with more trust:
    /// their words are its words.
    pub fn end_same_before(&mut self, memory: &Memory, ending: &Ending) -> Result<()> {
        let said = |memory: &Memory| (memory.kind, text::duplicate_key(&memory.text));
        let mut same: Vec<_> = record::history(self.pages, self.partition, memory.number)?.iter().map(said).collect();
        same.push(said(memory));
        let (mut newer, mut before) = (memory.number, memory.supersedes);
        while let Some(number) = before {
            let older = newest(self.pages, self.partition, number)?;
            let is_same = |older: &Memory| {
                let by = older.ending.as_ref().filter(|ending| ending.state == State::Superseded).and_then(|ending| ending.superseded_by);
                by == Some(newer) && same.contains(&said(older))
            };
            let Some(mut older) = older.filter(is_same) else { break };
            (newer, before) = (number, older.supersedes);
            self.erase(&mut older)?;
            older.ending = Some(Ending { superseded_by: Some(memory.number), ..ending.clone() });
            record::put(self.pages, self.partition, &older)?;
        }
        Ok(())
    }

    /// Ends what a memory said of how things stand to each other.
    pub fn end_relations(&mut self, memory: u32, at: i64) -> Result<()> {
        if relation::end_of(self.pages, self.partition, memory, at)? {
            self.relations.clear();
        }
        Ok(())
    }

    /// Stores what a memory that was just written says of how things stand to each other.
    pub fn relate(&mut self, memory: &Memory) -> Result<()> {
        for given in stated(memory) {
            self.relations.give(self.pages, self.partition, self.seed, &given)?;
        }
        Ok(())
    }

    /// Gives relations that hold since a memory's former time, and that it says, its time, or the earlier one of another that says so, too.
    pub fn date_relations(&mut self, memory: &Memory, before: i64) -> Result<()> {
        let said = stated(memory);
        for given in &said {
            if let Given::Known(known) = self.relations.give(self.pages, self.partition, self.seed, given)?
                && known.since == before
            {
                let other = self.also_said(&known, memory.number)?.map_or(i64::MAX, |other| other.since);
                relation::put(self.pages, self.partition, &Relation { since: memory.occurred_at.min(other), ..known })?;
            }
        }
        for relation in relation::said_by(self.pages, self.partition, memory.number)? {
            if relation.since == before && !said.iter().any(|said| said.says(&relation)) {
                relation::put(self.pages, self.partition, &Relation { since: memory.occurred_at, ..relation })?;
            }
        }
        Ok(())
    }

    /// Leaves to another memory what one says of how things stand to each other: all of it, or as far as the other says it too.
    pub fn leave_relations(&mut self, from: u32, to: &Memory, all: bool) -> Result<()> {
        let said = stated(to);
        for relation in relation::said_by(self.pages, self.partition, from)? {
            if all || said.iter().any(|said| said.says_of_more(&relation)) {
                let relation = Relation { memory: Some(to.number), ..relation };
                relation::hand_over(self.pages, self.partition, from, &relation)?;
            }
        }
        Ok(())
    }

    /// Leaves what a memory says of how things stand to each other to others that say it too. The words and the time are theirs.
    fn leave_relations_to_others(&mut self, memory: u32) -> Result<()> {
        for relation in relation::said_by(self.pages, self.partition, memory)? {
            let also_said = match self.also_said(&relation, memory) {
                Err(error) if error.kind() == ErrorKind::StoreCorrupt => None, // a damaged page keeps nothing from being forgotten
                found => found?,
            };
            if let Some(said) = also_said {
                relation::hand_over(self.pages, self.partition, memory, &Relation { number: relation.number, ..said })?;
            }
        }
        Ok(())
    }

    /// A relation as another current memory says it. Those are looked at that have the rarest word of its ends, a few of the newest.
    fn also_said(&self, relation: &Relation, memory: u32) -> Result<Option<Relation>> {
        let reader = Reader::open(&*self.pages, self.index())?;
        let names = format!("{} {}", relation.subject, relation.object);
        let terms: Vec<u64> = analyze(&names, self.seed.terms).terms.iter().map(|term| term.hash).collect();
        let rarest = reader.frequencies(&terms)?.into_iter().zip(&terms).filter(|(count, _)| *count > 0).min();
        let Some((_, rarest)) = rarest else { return Ok(None) };
        let others = reader.find(*rarest)?.into_iter().rev().filter(|number| *number != memory);
        for number in others.take(MOST_ASKED) {
            let other = record::current(&*self.pages, self.partition, number)?;
            let Some(other) = other.filter(|other| other.trust > 0 && !other.is_expired(self.clock)) else { continue };
            if let Some(said) = stated(&other).into_iter().find(|said| said.says(relation)) {
                return Ok(Some(said));
            }
        }
        Ok(None)
    }

    /// Stores a current memory whose text stays and whose standing does not: trust, confidence, how often it was said, how long it is kept.
    pub fn index_anew(&mut self, before: &Memory, memory: &Memory) -> Result<()> {
        let analysis = analyze(&memory.text, self.seed.terms);
        self.take_out(before, analysis.terms.clone(), Vector::Keep)?;
        self.add(memory, analysis.terms, analysis.length, None)
    }

    /// Takes a memory out of the index, and out of the vectors as `vector` says; its record stays.
    pub fn unindex(&mut self, memory: &Memory, vector: Vector) -> Result<()> {
        self.take_out(memory, analyze(&memory.text, self.seed.terms).terms, vector)
    }

    /// Takes a memory with the given terms out of the index, and out of the vectors as `vector` says; its record stays.
    fn take_out(&mut self, memory: &Memory, terms: Vec<TermCount>, vector: Vector) -> Result<()> {
        if let Some(at) = memory.expires_at {
            self.pages.delete(Key::of_expiry(at, self.partition, memory.number).as_slice())?;
        }
        let mut keys = keys_of(self.seed, memory, &self.head);
        for key in &keys {
            self.keys.entry(*key).or_default().push((memory.number, false));
        }
        if let Some(id) = &memory.given_id {
            let id = id_key(self.seed, id);
            keys.retain(|key| *key != id);
            self.keys.entry(id).or_default().push((memory.number, true));
        }
        self.operations.push(IndexOperation::Remove { number: memory.number, terms, keys });
        if vector == Vector::Drop {
            self.forget_vector(memory.number);
        }
        Ok(())
    }

    /// Removes the words of a memory and of its earlier revisions; what is left says that there was one.
    pub fn erase(&mut self, memory: &mut Memory) -> Result<()> {
        for earlier in record::history(self.pages, self.partition, memory.number)? {
            crate::store::chunks::remove(self.pages, record::history_key(self.partition, earlier.number, earlier.revision))?;
        }
        self.relations.clear();
        self.leave_relations_to_others(memory.number)?;
        relation::erase_of(self.pages, self.partition, self.seed, memory.number)?;
        memory.text.clear();
        memory.metadata.clear();
        if super::kind::trust_of(&memory.source) == 0 {
            memory.source.clear(); // an address or a name, and not just who said it
        }
        memory.slot = None;
        memory.expires_at = None;
        memory.provenance = super::provenance::Provenance::default();
        memory.request = 0; // a hash of the text would confirm a guess of it
        Ok(())
    }

    /// Drops the vector of a memory, if it has one.
    pub fn forget_vector(&mut self, number: u32) {
        self.vectors.insert(number, Change { drop: true, ..Change::default() });
    }

    /// The slot of that normal name.
    pub fn slot(&self, name: &str) -> Result<Slot> {
        slots::get(self.pages, self.partition, self.seed, name)
    }

    /// Stores a slot.
    pub fn put_slot(&mut self, slot: &Slot) -> Result<()> {
        slots::put(self.pages, self.partition, self.seed, slot)
    }

    /// Takes a memory out of the slot it holds; the slot has no value until a new one comes.
    pub fn leave_slot(&mut self, memory: &Memory) -> Result<()> {
        let Some(name) = &memory.slot else { return Ok(()) };
        let mut slot = self.slot(name)?;
        slot.current.retain(|number| *number != memory.number);
        self.put_slot(&slot)
    }

    fn index(&self) -> IndexId {
        IndexId { partition: self.partition, index: MEMORIES }
    }

    /// Finishes a batch of which every row may have been a duplicate.
    pub fn finish_if_changed(self) -> Result<()> {
        if self.has_changed() { self.finish() } else { Ok(()) }
    }

    fn has_changed(&self) -> bool {
        !self.operations.is_empty() || !self.vectors.is_empty() || self.head.sequence != self.sequence_before
    }

    /// Applies what was collected and writes the head: the last step of every batch.
    pub fn finish(mut self) -> Result<()> {
        self.finished = true;
        let operations = std::mem::take(&mut self.operations);
        let mut statistics = Statistics { documents: self.head.documents, total_length: self.head.total_length };
        let ops: Vec<Op<'_>> = operations.iter().map(IndexOperation::as_op).collect();
        bm25::apply(self.pages, self.index(), &mut statistics, &ops)?;
        self.head.documents = statistics.documents;
        self.head.total_length = statistics.total_length;
        self.apply_vectors()?;
        self.head.last_time = self.now;
        self.head.write(self.pages, self.partition)
    }

    fn apply_vectors(&mut self) -> Result<()> {
        let changes = std::mem::take(&mut self.vectors);
        if changes.is_empty() {
            return Ok(());
        }
        let own = self.embedding.map(|(number, _)| number);
        let (searched, building, leaving) = (self.head.embedding, self.head.building, self.head.leaving);
        let old = self.old_is_built_in.then_some(searched);
        for number in [searched, building, leaving].into_iter().filter(|number| *number != 0) {
            let vector_of = |change: &Change| match number {
                _ if number == leaving => None,
                _ if Some(number) == own => change.own.clone(),
                _ if Some(number) == old => change.old.clone(),
                _ => None,
            };
            let (added, removed) = self.apply_to(number, &changes, vector_of)?;
            if number == searched {
                self.head.vectors = self.head.vectors + added - removed;
            } else if number == building {
                self.head.built = self.head.built + added - removed;
            }
        }
        Ok(())
    }

    /// Changes the vectors of one embedding; how many were added and removed.
    fn apply_to(
        &mut self,
        number: EmbeddingNumber,
        changes: &BTreeMap<u32, Change>,
        vector_of: impl Fn(&Change) -> Option<UnitVector>,
    ) -> Result<(u64, u64)> {
        let dims = match self.embedding {
            Some((own, dims)) if own == number => dims,
            _ => embedding::dimensions(self.pages, number)?,
        };
        let set = VectorSet::new(self.partition, number, dims)?;
        let (mut upserts, mut removed) = (Vec::new(), 0);
        // Removals go first, so that a block is not filled only to be emptied.
        for (memory, change) in changes {
            match vector_of(change) {
                Some(vector) => upserts.push((*memory, vector)),
                None if change.drop => removed += u64::from(set.remove(self.pages, *memory)?),
                None => {}
            }
        }
        Ok((put_vectors(self.pages, set, &upserts)?, removed))
    }
}

/// Records are stored at once, and what finds them at the end: a batch that is dropped before has stored what nothing finds.
impl<P: PagesMut> Drop for PartitionWriter<'_, P> {
    fn drop(&mut self) {
        if !self.finished && self.has_changed() {
            self.pages.left_half_done();
        }
    }
}

impl IndexOperation {
    fn as_op(&self) -> Op<'_> {
        match self {
            Self::Add { number, row, terms, keys } => Op::Add { number: *number, row: *row, terms, keys },
            Self::Remove { number, terms, keys } => Op::Remove { number: *number, terms, keys },
        }
    }
}

/// Stores vectors; how many of their memories had none before.
pub(super) fn put_vectors(pages: &mut impl PagesMut, set: VectorSet, vectors: &[(u32, UnitVector)]) -> Result<u64> {
    let mut new = 0;
    for (number, _) in vectors {
        new += u64::from(!set.contains(pages, *number)?);
    }
    let borrowed: Vec<_> = vectors.iter().map(|(number, vector)| (*number, vector)).collect();
    set.put_many(pages, &borrowed)?;
    Ok(new)
}

/// The relations that a memory states.
fn stated(memory: &Memory) -> Vec<Relation> {
    let slotted = memory.slot.as_deref().and_then(|slot| gate::of_slot(&memory.text, slot));
    let given = |gate::Stated { subject, relation, object }| {
        let (since, memory) = (memory.occurred_at, Some(memory.number));
        Relation { number: 0, subject, relation, object, since, until: None, memory }
    };
    gate::related(&memory.text).into_iter().chain(slotted).map(given).collect()
}

/// The newest revision of a memory: the current one, or the last that ended.
pub(super) fn newest<P: crate::store::pages::Pages + ?Sized>(pages: &P, partition: Partition, number: u32) -> Result<Option<Memory>> {
    match record::current(pages, partition, number)? {
        Some(memory) => Ok(Some(memory)),
        None => Ok(record::history(pages, partition, number)?.pop()),
    }
}

/// Importance as a row of the index has it: 0 to 255.
pub(crate) fn importance_of(memory: &Memory) -> u8 {
    (memory.importance * 255.0).round() as u8
}

/// How far a memory is doubted: 0 not at all, 15 wholly.
pub(crate) fn doubt_of(memory: &Memory) -> u8 {
    ((1.0 - memory.confidence.clamp(0.0, 1.0)) * 15.0).round() as u8
}

/// How often it was said again, as a power of two: 0 never, n at least 2^(n - 1) times, 7 at most.
pub(crate) fn said_again(memory: &Memory) -> u8 {
    (u32::BITS - memory.provenance.reinforced.leading_zeros()).min(7) as u8
}

/// The key term of a given id.
pub(super) fn id_key(seed: Seed, id: &str) -> u64 {
    text::term_hash(TermClass::Key, &format!("id\0{id}"), seed.terms)
}

/// The key term by which an exact duplicate is found: kind, slot and text.
pub(super) fn duplicate_key(seed: Seed, memory: &Memory) -> u64 {
    content_key(seed, memory.kind, memory.slot.as_deref(), &memory.text)
}

/// The key term by which an exact duplicate is found, of what is not a memory yet; `slot` is in normal form.
pub(super) fn content_key(seed: Seed, kind: Kind, slot: Option<&str>, text: &str) -> u64 {
    let (slot, text) = (slot.unwrap_or_default(), text::duplicate_key(text));
    text::term_hash(TermClass::Key, &format!("same\0{}\0{slot}\0{text}", kind.name()), seed.terms)
}

pub(super) fn keys_of(seed: Seed, memory: &Memory, head: &Head) -> Vec<u64> {
    let mut keys = vec![duplicate_key(seed, memory)];
    keys.extend(memory.given_id.as_deref().map(|id| id_key(seed, id)));
    keys.extend((head.kinds_indexed && PINNED_KINDS.contains(&memory.kind)).then(|| kind_key(seed, memory.kind)));
    keys
}

/// The kinds that every prompt of a scope's sessions begins with, most binding first: they are found by kind, without a scan.
pub(crate) const PINNED_KINDS: [Kind; 3] = [Kind::Constraint, Kind::Profile, Kind::Preference];

/// The key term of one of [`PINNED_KINDS`].
pub(crate) fn kind_key(seed: Seed, kind: Kind) -> u64 {
    text::term_hash(TermClass::Key, &format!("kind\0{}", kind.name()), seed.terms)
}

pub(super) fn row_of(memory: &Memory, length: u32) -> Row {
    Row {
        kind: memory.kind as u8,
        trust: memory.trust,
        // Above the bit of the index: four of doubt, three of how often it was said again. Versions before 0.5 wrote none.
        flags: doubt_of(memory) << 1 | said_again(memory) << 5,
        importance: importance_of(memory),
        length,
        occurred_at: memory.occurred_at,
        known_from: memory.known_from,
        expires_at: memory.expires_at.unwrap_or(i64::MAX),
    }
}
