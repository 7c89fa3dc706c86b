//! A scope that lost records: everything that was made from its memories is made anew from those that are left, so that nothing names one
//! that is not there.
//!
//! A memory is the word of its newest revision. Where that is lost, the earlier ones stay in its history and none becomes current again.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::doctor::numbers_in;
use super::embedding::{self, EmbeddingNumber};
use super::maintain::OF_VECTORS;
use super::quarantine;
use super::record::{self, Memory, State};
use super::relation;
use super::slots::{self, Slot};
use super::writer::{MEMORIES, PartitionWriter, newest};
use crate::index::vectors::{UnitVector, VectorSet};
use crate::scope::Head;
use crate::store::chunks;
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, STORE, Table, u32_at};
use crate::store::pages::PagesMut;
use crate::text::{ANALYZER_VERSION, analyze};
use crate::{ErrorKind, Result, interrupt};

/// Memories that are put into the index at once.
const BATCH: usize = 512;
/// Ids of lost memories that are named; the others are counted.
const NAMED: usize = 20;

/// Mends the memories of a scope; the losses, of `whose`, are added to `lost`.
pub(crate) fn mend<P: PagesMut>(pages: &mut P, partition: Partition, seed: Seed, whose: &str, lost: &mut Vec<String>) -> Result<()> {
    let had_head = pages.get(Key::new(partition, Table::Head).as_slice())?.is_some();
    let before = Head::read(pages, partition)?;
    let broken = sift(pages, partition)?;
    let mut kept = Kept::default();
    for number in numbers(pages, partition)? {
        interrupt::check()?;
        kept.settle(pages, partition, number)?;
    }
    kept.say_lost(had_head.then_some(&before), broken, whose, lost);
    let current: BTreeSet<u32> = kept.current.keys().copied().collect();
    let (embedding, vectors) = mend_vectors(pages, partition, before.embedding, &current)?;
    let head = kept.head(pages, partition, before, had_head)?;
    Head { embedding, vectors, ..head }.write(pages, partition)?;
    kept.slots(pages, partition, seed)?;
    clear_expiry(pages, partition)?;
    chunks::clear(pages, Key::new(partition, Table::Quarantine))?;
    for number in &kept.waiting {
        quarantine::mark(pages, partition, *number)?;
    }
    relation::mend(pages, partition, seed, |number| kept.all.contains(&number))?;
    index(pages, partition, seed, &kept.all)
}

/// Takes out the records that cannot be read; the numbers of their memories.
fn sift<P: PagesMut>(pages: &mut P, partition: Partition) -> Result<BTreeSet<u32>> {
    let number = |key: Key| u32_at(key.as_slice(), 5).unwrap_or(0);
    let revision = |key: Key| u32_at(key.as_slice(), 9).unwrap_or(0);
    let table = |table| Key::new(partition, table);
    let mut broken = chunks::sift(pages, table(Table::Memory), |pages, key| Ok(record::current(pages, partition, number(key))?.is_some()))?;
    let ended = |pages: &P, key| Ok(record::ended(pages, partition, number(key), revision(key))?.is_some());
    broken.extend(chunks::sift(pages, table(Table::History), ended)?);
    chunks::sift(pages, table(Table::Slot), |pages, key| Ok(slots::at(pages, key)?.is_some()))?;
    Ok(broken.into_iter().map(number).collect())
}

fn numbers<P: PagesMut>(pages: &P, partition: Partition) -> Result<BTreeSet<u32>> {
    let current = numbers_in(pages, partition, Table::Memory)?;
    Ok(numbers_in(pages, partition, Table::History)?.into_iter().chain(current).map(|(number, _)| number).collect())
}

/// The memories that stay.
#[derive(Default)]
struct Kept {
    all: BTreeSet<u32>,
    /// With the place in the order of writes, and the slot.
    current: BTreeMap<u32, (u64, Option<String>)>,
    waiting: Vec<u32>,
    ids: BTreeSet<String>,
    /// Memories of which only earlier revisions are left.
    outdated: Vec<String>,
    sequence: u64,
    last_time: i64,
}

impl Kept {
    /// Makes the revisions of one memory agree with each other and with the memories that are there.
    fn settle<P: PagesMut>(&mut self, pages: &mut P, partition: Partition, number: u32) -> Result<()> {
        let stored: Vec<Memory> =
            record::history(pages, partition, number)?.into_iter().chain(record::current(pages, partition, number)?).collect();
        let mut revisions = stored.clone();
        let is_gone = |memory: &Memory| matches!(memory.state(), State::Forgotten | State::Expired);
        // An old page may bring back what was forgotten since, and what was revised.
        if revisions.iter().any(is_gone) {
            revisions.retain(is_gone);
        } else {
            for (at, revision) in revisions.iter_mut().enumerate() {
                revision.revision = at as u32 + 1;
            }
        }
        if let Some(last) = revisions.last_mut()
            && let Some(ending) = last.ending.as_mut().filter(|ending| ending.state == State::Revised)
        {
            ending.state = State::Superseded;
            self.outdated.push(last.id());
        }
        for revision in &mut revisions {
            let is_there = |other: &u32| exists(pages, partition, *other);
            revision.supersedes = revision.supersedes.filter(is_there);
            if let Some(ending) = &mut revision.ending {
                ending.superseded_by = ending.superseded_by.filter(is_there);
            }
        }
        if revisions != stored {
            for old in &stored {
                match old.ending {
                    None => drop(record::remove_current(pages, partition, number)?),
                    Some(_) => drop(chunks::remove(pages, record::history_key(partition, number, old.revision))?),
                }
            }
            revisions.iter().try_for_each(|revision| record::put(pages, partition, revision))?;
        }
        self.add(&revisions);
        Ok(())
    }

    fn add(&mut self, revisions: &[Memory]) {
        let Some(newest) = revisions.last() else { return };
        self.all.insert(newest.number);
        self.ids.extend(newest.given_id.clone());
        match newest.state() {
            State::Current => drop(self.current.insert(newest.number, (newest.sequence, newest.slot.clone()))),
            State::Quarantined => self.waiting.push(newest.number),
            _ => {}
        }
        for revision in revisions {
            self.sequence = self.sequence.max(revision.sequence);
            let until = revision.ending.as_ref().map_or(i64::MIN, |ending| ending.known_until);
            self.last_time = self.last_time.max(revision.known_from).max(until);
        }
    }

    /// Says which memories are lost, as far as that is known: each had a number, and is somewhere under it.
    fn say_lost(&self, before: Option<&Head>, broken: BTreeSet<u32>, whose: &str, lost: &mut Vec<String>) {
        let given = before.map_or(1..1, |head| 1..head.next_number);
        let mut gone: BTreeSet<u32> = given.chain(broken).filter(|number| !self.all.contains(number)).collect();
        gone.retain(|number| !self.ids.contains(&record::generated_id(*number)));
        let ids: Vec<String> = gone.iter().take(NAMED).map(|number| record::generated_id(*number)).collect();
        if !gone.is_empty() {
            let more = gone.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            lost.push(format!("memories of {whose}, by the order in which they were written: {}{more}", ids.join(", ")));
        }
        if before.is_none() && !self.all.is_empty() {
            lost.push(format!("the counters of {whose}: memories that were lost too cannot be counted"));
        }
        for id in &self.outdated {
            lost.push(format!("the newest revision of memory {id:?} of {whose}: earlier ones are in its history"));
        }
    }

    /// The counters, before any memory is put into the index again.
    fn head<P: PagesMut>(&self, pages: &P, partition: Partition, before: Head, had_head: bool) -> Result<Head> {
        let mut next = self.all.last().map_or(1, |last| last + 1).max(before.next_number);
        if !had_head {
            // Recalls are counted for 256 numbers together: a number that may have been given is not given again.
            let range = Key::new(partition, Table::Access).prefix_range();
            pages.scan(&range.start, &range.end, &mut |key, _| {
                next = next.max(u32_at(key, 5).unwrap_or(0).saturating_add(1).saturating_mul(256));
                Ok(ControlFlow::Continue(()))
            })?;
        }
        Ok(Head {
            next_number: next,
            sequence: before.sequence.max(self.sequence),
            last_time: before.last_time.max(self.last_time),
            analyzer: ANALYZER_VERSION,
            ids_taken: before.ids_taken || self.ids.iter().any(|id| record::number_in(id).is_some()),
            kinds_indexed: true,
            ..Head::default()
        })
    }

    /// The slots, each with the memories that hold it.
    fn slots<P: PagesMut>(&self, pages: &mut P, partition: Partition, seed: Seed) -> Result<()> {
        let known = slots::list(pages, partition)?;
        let mut multi: BTreeMap<String, bool> = known.into_iter().map(|slot| (slot.name, slot.multi)).collect();
        let mut holders: BTreeMap<&str, BTreeSet<(u64, u32)>> = BTreeMap::new();
        for (number, (sequence, slot)) in &self.current {
            if let Some(name) = slot {
                holders.entry(name).or_default().insert((*sequence, *number));
                multi.entry(name.clone()).or_default();
            }
        }
        chunks::clear(pages, Key::new(partition, Table::Slot))?;
        for (name, multi) in multi {
            let current: Vec<u32> = holders.get(name.as_str()).into_iter().flatten().map(|(_, number)| *number).collect();
            slots::put(pages, partition, seed, &Slot { multi: multi || current.len() > 1, name, current })?;
        }
        Ok(())
    }
}

fn exists<P: PagesMut>(pages: &P, partition: Partition, number: u32) -> bool {
    let any = |prefix: Key| {
        let (range, mut found) = (prefix.prefix_range(), false);
        let scanned = pages.scan(&range.start, &range.end, &mut |_, _| {
            found = true;
            Ok(ControlFlow::Break(()))
        });
        found && scanned.is_ok()
    };
    any(record::current_key(partition, number)) || any(Key::new(partition, Table::History).u32(number))
}

/// Puts all memories into an index that has none.
fn index<P: PagesMut>(pages: &mut P, partition: Partition, seed: Seed, all: &BTreeSet<u32>) -> Result<()> {
    for table in [Table::Tail, Table::Postings, Table::Attributes, Table::Lengths] {
        chunks::clear(pages, Key::new(partition, table).u8(MEMORIES))?;
    }
    let all: Vec<u32> = all.iter().copied().collect();
    for batch in all.chunks(BATCH) {
        interrupt::check()?;
        let mut writer = PartitionWriter::at(pages, partition, seed, i64::MIN, None)?;
        for number in batch {
            match newest(writer.pages, partition, *number)? {
                Some(memory) if memory.ending.is_none() => {
                    let analysis = analyze(&memory.text, seed.terms);
                    writer.add(&memory, analysis.terms, analysis.length, None)?;
                }
                Some(memory) => writer.add_to_history(&memory)?,
                None => {}
            }
        }
        writer.finish()?;
    }
    Ok(())
}

/// Removes what the index of expiry says of a partition.
pub(crate) fn clear_expiry(pages: &mut impl PagesMut, partition: Partition) -> Result<()> {
    let (range, mut keys) = (Key::new(STORE, Table::Expiry).prefix_range(), Vec::new());
    pages.scan(&range.start, &range.end, &mut |key, _| {
        keys.extend((u32_at(key, 13) == Some(partition)).then(|| key.to_vec()));
        Ok(ControlFlow::Continue(()))
    })?;
    keys.iter().try_for_each(|key| pages.delete(key).map(drop))
}

/// Keeps the exact vectors of `numbers`, of the embedding that is searched, and makes everything else of them anew: the embedding, which is
/// 0 where none is left, and how many there are. Where it is not known which embedding is searched, that with the most vectors is.
pub(crate) fn mend_vectors<P: PagesMut>(
    pages: &mut P,
    partition: Partition,
    searched: EmbeddingNumber,
    numbers: &BTreeSet<u32>,
) -> Result<(EmbeddingNumber, u64)> {
    let mut found: BTreeMap<EmbeddingNumber, BTreeSet<u32>> = BTreeMap::new();
    let range = Key::new(partition, Table::VectorExact).prefix_range();
    pages.scan(&range.start, &range.end, &mut |key, _| {
        if let (Some([high, low]), Some(number)) = (key.get(5..7), u32_at(key, 7)) {
            found.entry(u16::from_be_bytes([*high, *low])).or_default().insert(number);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    let most = found.iter().max_by_key(|(_, numbers)| numbers.len()).map_or(0, |(embedding, _)| *embedding);
    let embedding = if searched == 0 { most } else { searched };
    let set = match embedding::dimensions(pages, embedding).and_then(|dims| VectorSet::new(partition, embedding, dims)) {
        Err(error) if error.kind() != ErrorKind::StoreCorrupt => return Err(error),
        set => set.ok(),
    };
    let mut vectors = Vec::new();
    if let Some(set) = &set {
        for number in found.remove(&embedding).unwrap_or_default().intersection(numbers) {
            match set.get(pages, *number) {
                Ok(vector) => vectors.extend(vector.map(|vector| (*number, UnitVector::stored(vector)))),
                Err(error) if error.kind() == ErrorKind::StoreCorrupt => {}
                Err(error) => return Err(error),
            }
        }
    }
    for table in OF_VECTORS {
        chunks::clear(pages, Key::new(partition, table))?;
    }
    let Some(set) = set.filter(|_| !vectors.is_empty()) else { return Ok((0, 0)) };
    for batch in vectors.chunks(BATCH) {
        set.put_many(pages, &batch.iter().map(|(number, vector)| (*number, vector)).collect::<Vec<_>>())?;
    }
    Ok((embedding, vectors.len() as u64))
}
