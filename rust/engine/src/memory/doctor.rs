//! One scope: what its records say against everything that was made from them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter};
use std::ops::ControlFlow;

use super::outline::Stored;
use super::revisions::{self, Numbers};
use crate::Result;
use crate::audit::{Index, Report};
use crate::index::bm25::IndexId;
use crate::index::vectors::VectorSet;
use crate::memory::embedding;
use crate::memory::heard;
use crate::memory::maintain::OF_VECTORS;
use crate::memory::record::{self, Memory};
use crate::memory::slots;
use crate::memory::writer::{MEMORIES, id_key, keys_of, row_of};
use crate::scope::{Head, Scope};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table, u32_at};
use crate::store::pages::Pages;
use crate::text::{ANALYZER_VERSION, TermCount, analyze};

/// A memory, as findings call it.
struct Document(u32);

impl Display for Document {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "memory {}", self.0)
    }
}

/// The parts of a current memory that are remembered while its scope is checked.
struct Current {
    slot: Option<String>,
    expires_at: Option<i64>,
}

/// Checks one scope.
pub(crate) fn check<P: Pages>(
    pages: &P,
    report: &mut Report,
    partition: Partition,
    scope: &Scope,
    expiry: &BTreeSet<(i64, u32)>,
) -> Result<()> {
    let Some(head) = report.read(partition, "head", Head::read(pages, partition))? else { return Ok(()) };
    let mut visit = Visit { pages, partition, seed: scope.seed(pages.secret()), head, report, current: BTreeMap::new(), length: 0 };
    let mut numbers = Numbers::default();
    let mut index = Index::read(pages, visit.report, IndexId { partition, index: MEMORIES })?;
    visit.memories(&mut index, &mut numbers)?;
    visit.ended(&mut index, &mut numbers)?;
    index.leftovers(visit.report, "memory");
    visit.head();
    visit.vectors()?;
    visit.slots()?;
    visit.expiry(expiry);
    visit.said_again()?;
    revisions::check(visit.report, partition, &visit.head, &numbers);
    Ok(())
}

struct Visit<'v, P> {
    pages: &'v P,
    partition: Partition,
    seed: Seed,
    head: Head,
    report: &'v mut Report,
    current: BTreeMap<u32, Current>,
    length: u64,
}

impl<P: Pages> Visit<'_, P> {
    fn note(&mut self, part: &'static str, what: impl Into<String>) {
        self.report.note(self.partition, part, what);
    }

    fn read<T>(&mut self, part: &'static str, result: Result<T>) -> Result<Option<T>> {
        self.report.read(self.partition, part, result)
    }

    fn memories(&mut self, index: &mut Index<'_, P>, numbers: &mut Numbers) -> Result<()> {
        for (number, _) in numbers_in(self.pages, self.partition, Table::Memory)? {
            let Some(Some(memory)) = self.read("memory", record::current(self.pages, self.partition, number))? else {
                index.skip_terms(number);
                continue;
            };
            self.report.memories += 1;
            self.memory(index, &memory)?;
            numbers.add(&memory);
            self.current.insert(number, Current { slot: memory.slot, expires_at: memory.expires_at });
        }
        Ok(())
    }

    fn memory(&mut self, index: &mut Index<'_, P>, memory: &Memory) -> Result<()> {
        let (number, analysis) = (memory.number, analyze(&memory.text, self.seed.terms));
        let record = Stored::read(self.pages, self.partition, number)?;
        let stored = record.outline()?.tokens;
        if stored.are_not_of(&memory.text) {
            self.note("memory", format!("the tokens of memory {number} are not those of its text"));
        }
        if memory.ending.is_some() {
            self.note("memory", format!("memory {number} stands among the current ones and has ended"));
        }
        self.length += u64::from(analysis.length);
        index.row(self.report, &Document(number), number, row_of(memory, analysis.length))?;
        let expected = merged(analysis.terms, &keys_of(self.seed, memory, &self.head));
        self.compare(index, number, &expected);
        Ok(())
    }

    fn compare(&mut self, index: &mut Index<'_, P>, number: u32, expected: &[TermCount]) {
        // Terms of another analyzer are made anew when the scope is written to; until then they cannot be compared.
        if self.head.analyzer == ANALYZER_VERSION {
            index.terms(self.report, &Document(number), number, expected);
        } else {
            index.skip_terms(number);
        }
    }

    fn ended(&mut self, index: &mut Index<'_, P>, numbers: &mut Numbers) -> Result<()> {
        let mut ids: BTreeMap<u32, u64> = BTreeMap::new();
        for (number, revision) in numbers_in(self.pages, self.partition, Table::History)? {
            let ended = record::ended(self.pages, self.partition, number, revision);
            let Some(Some(memory)) = self.read("history", ended)? else { continue };
            self.report.ended += 1;
            if memory.ending.is_none() {
                self.note("history", format!("revision {revision} of memory {number} stands in history and has not ended"));
            }
            if !self.current.contains_key(&number)
                && let Some(id) = &memory.given_id
            {
                ids.insert(number, id_key(self.seed, id));
            }
            numbers.add(&memory);
        }
        for (number, key) in ids {
            self.compare(index, number, &[TermCount { hash: key, count: 0 }]);
        }
        Ok(())
    }

    fn head(&mut self) {
        let (documents, length) = (self.current.len() as u64, self.length);
        if self.head.documents != documents {
            self.note("head", format!("it counts {} memories and there are {documents}", self.head.documents));
        }
        if self.head.total_length != length {
            self.note("head", format!("it sums {} words and there are {length}", self.head.total_length));
        }
    }

    fn vectors(&mut self) -> Result<()> {
        self.foreign_vectors()?;
        self.vectors_of(self.head.embedding, Some(self.head.vectors))?;
        self.vectors_of(self.head.building, Some(self.head.built))?;
        // Vectors that are being removed are not counted; but a forgotten memory has nothing left even there.
        self.vectors_of(self.head.leaving, None)
    }

    fn vectors_of(&mut self, embedding: u16, counted: Option<u64>) -> Result<()> {
        let mut numbers = Vec::new();
        if embedding != 0 {
            let dimensions = embedding::dimensions(self.pages, embedding);
            let set = dimensions.and_then(|dims| VectorSet::new(self.partition, embedding, dims));
            let audited = set.clone().and_then(|set| set.audit(self.pages));
            let Some(found) = self.read("vector", audited)? else { return Ok(()) };
            let graph = set.and_then(|set| set.audit_graph(self.pages, &found));
            self.read("graph", graph)?;
            numbers = found;
        }
        self.report.vectors += numbers.len() as u64;
        if let Some(counted) = counted.filter(|counted| *counted != numbers.len() as u64) {
            self.note("head", format!("it counts {counted} vectors and there are {}", numbers.len()));
        }
        for number in numbers.iter().filter(|number| !self.current.contains_key(number)).copied().collect::<Vec<_>>() {
            self.note("vector", format!("memory {number} has a vector and is not current"));
        }
        Ok(())
    }

    /// Vectors of another embedding than the head names are never searched, and never removed.
    fn foreign_vectors(&mut self) -> Result<()> {
        for table in OF_VECTORS {
            let (mut foreign, range) = (0_u64, Key::new(self.partition, table).prefix_range());
            self.pages.scan(&range.start, &range.end, &mut |key, _| {
                let number = key.get(5..7).map_or(0, |bytes| u16::from_be_bytes([bytes[0], bytes[1]]));
                foreign += u64::from(![self.head.embedding, self.head.building, self.head.leaving].contains(&number));
                Ok(ControlFlow::Continue(()))
            })?;
            if foreign > 0 {
                self.note("vector", format!("{foreign} values in {table:?} belong to another embedding than the head's"));
            }
        }
        Ok(())
    }

    fn slots(&mut self) -> Result<()> {
        let Some(slots) = self.read("slot", slots::list(self.pages, self.partition))? else { return Ok(()) };
        let mut held = BTreeSet::new();
        for slot in slots {
            if !slot.multi && slot.current.len() > 1 {
                self.note("slot", format!("slot {:?} has {} current values and is not multi", slot.name, slot.current.len()));
            }
            for number in slot.current {
                let names = self.current.get(&number).is_some_and(|memory| memory.slot.as_ref() == Some(&slot.name));
                if !names || !held.insert(number) {
                    self.note("slot", format!("slot {:?} refers to memory {number}, which does not hold it", slot.name));
                }
            }
        }
        let holders = self.current.iter().filter(|(_, memory)| memory.slot.is_some()).map(|(number, _)| *number);
        for number in holders.filter(|number| !held.contains(number)).collect::<Vec<_>>() {
            self.note("slot", format!("memory {number} names a slot that does not refer to it"));
        }
        Ok(())
    }

    fn said_again(&mut self) -> Result<()> {
        let range = Key::new(self.partition, Table::SaidAgain).prefix_range();
        let (pages, given) = (self.pages, 1..self.head.next_number);
        pages.scan(&range.start, &range.end, &mut |key, value| {
            if let Some(number) = self.read("claim", heard::read_again(key, value))?.filter(|number| !given.contains(number)) {
                self.note("claim", format!("a claim said memory {number} again, and no memory has that number"));
            }
            Ok(ControlFlow::Continue(()))
        })
    }

    fn expiry(&mut self, found: &BTreeSet<(i64, u32)>) {
        let expected: BTreeSet<_> = self.current.iter().filter_map(|(number, memory)| Some((memory.expires_at?, *number))).collect();
        for (at, number) in expected.symmetric_difference(found) {
            let what =
                if found.contains(&(*at, *number)) { "the index says so and its record does not" } else { "the index does not know" };
            self.report.note(self.partition, "expiry", format!("memory {number} is to expire at {at}: {what}"));
        }
    }
}

/// The numbers in a table's keys, with the revision where there is one.
pub(crate) fn numbers_in<P: Pages>(pages: &P, partition: Partition, table: Table) -> Result<Vec<(u32, u32)>> {
    let range = Key::new(partition, table).prefix_range();
    let mut found = Vec::new();
    pages.scan(&range.start, &range.end, &mut |key, _| {
        if key.ends_with(&[0, 0]) {
            found.extend(u32_at(key, 5).map(|number| (number, u32_at(key, 9).unwrap_or(0))));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// Terms and keys as the index keeps them: sorted, each hash once.
pub(super) fn merged(mut terms: Vec<TermCount>, keys: &[u64]) -> Vec<TermCount> {
    terms.extend(keys.iter().map(|&hash| TermCount { hash, count: 0 }));
    terms.sort_unstable();
    terms.dedup_by(|later, kept| {
        let same = later.hash == kept.hash;
        if same {
            kept.count = kept.count.saturating_add(later.count);
        }
        same
    });
    terms
}
