//! The doctor's look at a collection: what its records say against text, words, vectors, ids, expiry and counters.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Display, Formatter};
use std::ops::ControlFlow;

use super::head::Head;
use super::record::{self, ChunkRecord, Document, Revision, State};
use super::writer::index;
use crate::Result;
use crate::audit::{Index, Report};
use crate::index::vectors::VectorSet;
use crate::memory::embedding;
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table, u32_at};
use crate::store::pages::Pages;
use crate::text::analyze;

/// A chunk, as findings call it.
struct Chunk(u32);

impl Display for Chunk {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "chunk {}", self.0)
    }
}

const PAGE: usize = 256;

/// Checks one collection.
pub(crate) fn check<P: Pages>(
    pages: &P,
    report: &mut Report,
    partition: Partition,
    seed: Seed,
    expiry: &BTreeSet<(i64, u32)>,
) -> Result<()> {
    let Some(head) = report.read(partition, "head", Head::read(pages, partition))? else { return Ok(()) };
    let index = Index::read_runs(pages, report, index(partition))?;
    let chunks: BTreeSet<u32> = record::chunk_numbers(pages, partition, 0, usize::MAX)?.into_iter().collect();
    let seed = head.seed(seed);
    let mut visit = Visit { pages, partition, seed, report, index, chunks, seen: 0, current: BTreeMap::new(), sum: Head::default() };
    visit.revisions()?;
    visit.documents(expiry)?;
    visit.ids()?;
    visit.vectors(&head)?;
    visit.finish(&head);
    Ok(())
}

struct Visit<'v, P> {
    pages: &'v P,
    partition: Partition,
    seed: Seed,
    report: &'v mut Report,
    index: Index<'v, P>,
    /// Chunks that no revision has taken yet.
    chunks: BTreeSet<u32>,
    seen: u64,
    /// Current revisions, with their bytes and how many chunks they have; each document takes its own.
    current: BTreeMap<u32, (u32, u64, usize)>,
    sum: Head,
}

impl<P: Pages> Visit<'_, P> {
    fn note(&mut self, part: &'static str, what: impl Into<String>) {
        self.report.note(self.partition, part, what);
    }

    fn read<T>(&mut self, part: &'static str, result: Result<T>) -> Result<Option<T>> {
        self.report.read(self.partition, part, result)
    }

    /// The first four bytes behind the table in a table's keys, each once.
    fn numbers(&self, table: Table) -> Result<BTreeSet<u32>> {
        let range = Key::new(self.partition, table).prefix_range();
        let mut found = BTreeSet::new();
        self.pages.scan(&range.start, &range.end, &mut |key, _| {
            found.extend(u32_at(key, 5));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    fn revisions(&mut self) -> Result<()> {
        let unfinished: BTreeSet<u32> = self.numbers(Table::CollectionWork)?;
        let numbers = self.numbers(Table::CollectionRevision)?;
        for number in &numbers {
            let read = Revision::read(self.pages, self.partition, *number);
            let Some(Some(revision)) = self.read("revision", read)? else { continue };
            if (revision.state == State::Current) == unfinished.contains(number) {
                self.note("revision", format!("revision {number} is {:?}, and the list of unfinished ones says otherwise", revision.state));
            }
            for chunk in revision.numbers() {
                self.chunk(&revision, chunk)?;
            }
            if revision.state == State::Current {
                self.current.insert(*number, (revision.document, revision.bytes, revision.count()));
            }
        }
        for number in unfinished.difference(&numbers) {
            self.note("revision", format!("revision {number} is listed as unfinished, and it is missing"));
        }
        for number in self.numbers(Table::CollectionText)?.difference(&numbers) {
            self.note("document", format!("a text belongs to revision {number}, which is missing"));
        }
        for chunk in std::mem::take(&mut self.chunks) {
            self.note("chunk", format!("chunk {chunk} belongs to no revision"));
        }
        Ok(())
    }

    fn chunk(&mut self, revision: &Revision, number: u32) -> Result<()> {
        self.seen += 1;
        if !self.chunks.remove(&number) {
            self.note("chunk", format!("chunk {number} of revision {} is missing, or another has it too", revision.number));
            return Ok(());
        }
        let read = ChunkRecord::read(self.pages, self.partition, number);
        let Some(chunk) = self.read("chunk", read)? else { return Ok(()) };
        if chunk.revision != revision.number {
            self.note("chunk", format!("chunk {number} says that it is of revision {}, and {} has it", chunk.revision, revision.number));
        }
        let read = record::text(self.pages, self.partition, chunk.revision, chunk.span.clone());
        let Some(text) = self.read("chunk", read)? else {
            self.index.skip_terms(number);
            return Ok(());
        };
        if text.chars().count() != chunk.characters.len() {
            self.note("chunk", format!("chunk {number} has {} characters, and says {:?}", text.chars().count(), chunk.characters));
        }
        let analysis = analyze(&record::indexed(&chunk.path, &text), self.seed.terms);
        self.index.terms(self.report, &Chunk(number), number, &analysis.terms);
        self.index.length(self.report, &Chunk(number), number, analysis.length);
        Ok(())
    }

    fn documents(&mut self, expiry: &BTreeSet<(i64, u32)>) -> Result<()> {
        let (mut first, mut expiry) = (0, expiry.clone());
        loop {
            let read = Document::page(self.pages, self.partition, first, PAGE);
            let Some(page) = self.read("document", read)? else { break };
            let Some(last) = page.last() else { break };
            first = last.number.saturating_add(1);
            for document in page {
                self.document(&document, &mut expiry)?;
            }
        }
        for (at, number) in expiry {
            self.note("expiry", format!("document {number} is to expire at {at}, and it is missing or says otherwise"));
        }
        for (number, (document, ..)) in std::mem::take(&mut self.current) {
            self.note("revision", format!("revision {number} is that of document {document}, which does not refer to it"));
        }
        Ok(())
    }

    fn document(&mut self, document: &Document, expiry: &mut BTreeSet<(i64, u32)>) -> Result<()> {
        self.sum.documents += 1;
        self.sum.bytes += document.bytes;
        self.sum.last_document = document.number;
        let expected = (document.number, document.bytes, document.chunks as usize);
        match self.current.remove(&document.revision) {
            Some(found) if found == expected => {}
            found => {
                let what = format!("document {} expects {expected:?} of its revision, and finds {found:?}", document.number);
                self.note("document", what);
            }
        }
        let read = record::by_id(self.pages, self.partition, self.seed, &document.id);
        if let Some(found) = self.read("document", read)?
            && found.map(|found| found.number) != Some(document.number)
        {
            self.note("document", format!("the id of document {} leads elsewhere", document.number));
        }
        let read = record::text(self.pages, self.partition, document.revision, 0..document.bytes as usize);
        if let Some(text) = self.read("document", read)?
            && text.chars().count() as u64 != document.characters
        {
            self.note(
                "document",
                format!("document {} has {} characters, and says {}", document.number, text.chars().count(), document.characters),
            );
        }
        if document.expires_at.is_some_and(|at| !expiry.remove(&(at, document.number))) {
            self.note("expiry", format!("document {} is to expire, and the index of expiry does not say so", document.number));
        }
        Ok(())
    }

    fn ids(&mut self) -> Result<()> {
        let range = Key::new(self.partition, Table::CollectionId).prefix_range();
        let mut ids = 0;
        self.pages.scan(&range.start, &range.end, &mut |_, _| {
            ids += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        if ids != self.sum.documents {
            self.note("document", format!("{ids} ids lead to documents, and there are {}", self.sum.documents));
        }
        Ok(())
    }

    fn vectors(&mut self, head: &Head) -> Result<()> {
        if head.embedding == 0 {
            return Ok(());
        }
        let dims = embedding::dimensions(self.pages, head.embedding);
        let Some(dims) = self.read("vector", dims)? else { return Ok(()) };
        let Some(set) = self.read("vector", VectorSet::new(self.partition, head.embedding, dims))? else { return Ok(()) };
        let Some(numbers) = self.read("vector", set.audit(self.pages))? else { return Ok(()) };
        let graph = set.audit_graph(self.pages, &numbers);
        self.read("graph", graph)?;
        self.report.vectors += numbers.len() as u64;
        if numbers.len() as u64 != head.vectors {
            self.note("head", format!("it counts {} vectors, and there are {}", head.vectors, numbers.len()));
        }
        for number in numbers {
            let read = ChunkRecord::find(self.pages, self.partition, number);
            if self.read("vector", read)?.is_some_and(|chunk| chunk.is_none()) {
                self.note("vector", format!("there is a vector of chunk {number}, which is missing"));
            }
        }
        Ok(())
    }

    fn finish(self, head: &Head) {
        let Self { report, index, sum, seen, partition, .. } = self;
        index.leftovers(report, "chunk");
        report.documents += sum.documents;
        report.chunks += seen;
        let counted = (head.documents, head.bytes, head.chunks);
        let found = (sum.documents, sum.bytes, seen);
        if counted != found {
            report.note(partition, "head", format!("it counts {counted:?} documents, bytes and chunks, and there are {found:?}"));
        }
        if head.last_document < sum.last_document {
            report.note(partition, "head", format!("document {} is newer than its counters say", sum.last_document));
        }
    }
}
