//! Everything that an index of runs holds, for the doctor, and what contradicts what.
//!
//! Not for queries: it decodes the whole index, and takes 16 bytes of memory for each posting.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::super::audit::{Indexed, stored};
use super::super::layout::{self, IndexId, PostingKey, malformed};
use super::super::tail::Kind;
use super::Runs;
use super::catalog::{Catalog, Merge, SealedRun};
use super::lengths::RunLengths;
use crate::store::keys::{Key, Table, u32_at};
use crate::store::pages::Pages;
use crate::{ErrorKind, Result};

/// Bytes of a key before the number of a run or block.
const PREFIX: usize = 6;

/// The content of an index of runs.
#[derive(Debug, Clone, Default)]
pub struct Audit {
    /// Every document that is present, and its length.
    pub lengths: BTreeMap<u32, u32>,
    /// Every posting that a search finds, by document, then hash.
    pub postings: Vec<Indexed>,
    /// The faults, damaged values among them.
    pub findings: Vec<String>,
}

impl Audit {
    /// The value, or a finding where it could not be read because it is damaged.
    fn read<T: Default>(&mut self, result: Result<T>) -> Result<T> {
        match result {
            Err(error) if error.kind() == ErrorKind::StoreCorrupt => {
                self.findings.push(error.message().to_owned());
                Ok(T::default())
            }
            other => other,
        }
    }

    fn note(&mut self, what: String) {
        self.findings.push(what);
    }
}

impl Runs {
    /// Reads every value of an index, and compares them with each other.
    pub fn verify<P: Pages>(pages: &P, index: IndexId) -> Result<Audit> {
        let mut audit = Audit::default();
        let catalog = audit.read(Catalog::read(pages, index))?;
        let runs = Self { index, shape: super::Shape::default(), catalog };
        let lengths = lengths(pages, index);
        audit.lengths = audit.read(lengths)?;
        runs.verify_statistics(&mut audit);
        let mut sealed = Vec::new();
        for run in &runs.catalog.runs {
            let postings = runs.verify_run(pages, run, &mut audit)?;
            sealed.push(postings);
        }
        for merge in &runs.catalog.merges {
            runs.verify_merge(pages, merge, &sealed, &mut audit)?;
        }
        let others = other_blocks(pages, &runs);
        audit.read(others)?.into_iter().for_each(|what| audit.note(what));
        audit.postings = sealed.into_iter().flatten().collect();
        runs.verify_tail(pages, &mut audit)?;
        audit.postings.sort_unstable();
        Ok(audit)
    }

    fn verify_statistics(&self, audit: &mut Audit) {
        let (documents, words) = (audit.lengths.len() as u64, audit.lengths.values().map(|&length| u64::from(length)).sum());
        let counted = self.catalog.statistics;
        if (counted.documents, counted.total_length) != (documents, words) {
            let super::Statistics { documents: n, total_length } = counted;
            audit.note(format!("sealed runs count {n} documents of {total_length} words, and there are {documents} of {words}"));
        }
    }

    fn verify_run<P: Pages>(&self, pages: &P, run: &SealedRun, audit: &mut Audit) -> Result<Vec<Indexed>> {
        let postings = audit.read(stored(pages, self.index.run(run.id)))?;
        if postings.len() as u64 != run.postings {
            audit.note(format!("sealed run {} counts {} postings and has {}", run.id, run.postings, postings.len()));
        }
        let numbers: BTreeSet<u32> = postings.iter().map(|posting| posting.number).collect();
        for number in numbers {
            if number < run.first || number > run.last {
                audit.note(format!("sealed run {} has postings of document {number}, which belongs to another", run.id));
            }
            if !audit.lengths.contains_key(&number) {
                audit.note(format!("sealed run {} has postings of document {number}, which has no length", run.id));
            }
        }
        Ok(postings)
    }

    /// The output of a merge holds what its sources have before the place where it stands, and nothing else.
    fn verify_merge<P: Pages>(&self, pages: &P, merge: &Merge, sealed: &[Vec<Indexed>], audit: &mut Audit) -> Result<()> {
        let sources = self.catalog.sources(merge).and_then(|sources| sealed.get(sources)).unwrap_or_default();
        let before = |posting: &&Indexed| PostingKey { term: posting.hash, number: posting.number } < merge.next;
        let expected: BTreeSet<Indexed> = sources.iter().flatten().filter(before).copied().collect();
        let found: BTreeSet<Indexed> = audit.read(stored(pages, self.index.run(merge.output)))?.into_iter().collect();
        if found != expected {
            let (lost, extra) = (expected.difference(&found).count(), found.difference(&expected).count());
            audit.note(format!("sealed run {}, which is being made, lacks {lost} postings and has {extra} others", merge.output));
        }
        Ok(())
    }

    fn verify_tail<P: Pages>(&self, pages: &P, audit: &mut Audit) -> Result<()> {
        let tail = match self.tail(pages) {
            Ok(tail) => tail,
            damaged => return audit.read(damaged.map(drop)),
        };
        for record in &tail.records {
            let number = record.number;
            if record.kind == Kind::Document && audit.lengths.insert(number, record.length).is_some() {
                audit.note(format!("document {number} stands in the tail, and its length among the sealed ones"));
            }
            let indexed = record.terms().map(|term| Indexed { number, hash: term.hash, count: term.count });
            audit.postings.extend(indexed);
        }
        Ok(())
    }
}

fn lengths<P: Pages>(pages: &P, index: IndexId) -> Result<BTreeMap<u32, u32>> {
    let range = Key::new(index.partition, Table::RunLengths).u8(index.index).prefix_range();
    let (mut blocks, mut found) = (Vec::new(), BTreeMap::new());
    pages.scan(&range.start, &range.end, &mut |key, _| {
        blocks.push(u32_at(key, PREFIX).ok_or_else(|| malformed(key))?);
        Ok(ControlFlow::Continue(()))
    })?;
    let mut lengths = RunLengths::new(pages, index);
    for block in blocks {
        lengths.each(block, &mut |number, length| {
            found.insert(number, length);
        })?;
    }
    Ok(found)
}

/// Blocks that belong to no run that the catalog names, or are damaged in a run that nobody reads any more.
fn other_blocks<P: Pages>(pages: &P, runs: &Runs) -> Result<Vec<String>> {
    let catalog = &runs.catalog;
    let read = catalog.runs.iter().map(|run| run.id).chain(catalog.merges.iter().map(|merge| merge.output));
    let (read, dropped): (BTreeSet<u32>, BTreeSet<u32>) = (read.collect(), catalog.dropped.iter().map(|run| run.id).collect());
    let (mut foreign, mut found) = (BTreeMap::new(), Vec::new());
    let range = runs.index.runs().prefix_range();
    pages.scan(&range.start, &range.end, &mut |key, value| {
        let id = u32_at(key, PREFIX).ok_or_else(|| malformed(key))?;
        if dropped.contains(&id) {
            found.extend(layout::body(key, value).err().map(|error| error.message().to_owned()));
        } else if !read.contains(&id) {
            *foreign.entry(id).or_insert(0_u64) += 1;
        }
        Ok(ControlFlow::Continue(()))
    })?;
    found.extend(foreign.iter().map(|(id, blocks)| format!("{blocks} blocks belong to sealed run {id}, which does not exist")));
    Ok(found)
}
