//! One write transaction on a collection: each call here is a bounded step of adding or removing a document.

use super::head::Head;
use super::record::{self, ChunkRecord, Document, Revision, State};
use super::{CHUNKS, CollectionName};
use crate::Result;
use crate::index::bm25::runs::{self, Runs};
use crate::index::bm25::{IndexId, TermCount};
use crate::index::vectors::{UnitVector, VectorSet};
use crate::memory::embedding;
use crate::store::envelope::{self, Codec, damaged};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table};
use crate::store::pages::PagesMut;
use crate::text::analyze;
use crate::text::{Analysis, STEMS};
use crate::units::clock::told;

/// Parts of a text that one transaction writes or removes: 1 MiB.
pub(super) const STEP_PARTS: usize = 256;
/// Chunks that one transaction writes.
pub(super) const STEP_CHUNKS: usize = 32;
/// Chunks that one transaction removes: each leaves a page for each of its words, and neighbours share most of these pages. With 16 the
/// removal of a document of 10,000 chunks wrote them three times as often and took 2.6 times as long; no step took longer for it.
pub(super) const STEP_REMOVED: usize = 64;

/// A chunk, analysed before its transaction begins.
#[derive(Debug, Clone)]
pub(super) struct NewChunk {
    pub record: ChunkRecord,
    pub analysis: Analysis,
    pub vector: Option<UnitVector>,
}

/// The index of a collection's chunks.
pub(super) fn index(partition: Partition) -> IndexId {
    IndexId { partition, index: CHUNKS }
}

/// A collection in a write transaction; [`Self::finish`] is the last call.
pub(super) struct Writer<'t, P> {
    pub pages: &'t mut P,
    pub partition: Partition,
    pub seed: Seed,
    pub head: Head,
    /// Time of this transaction: later than that of every write before it.
    pub now: i64,
    /// The time that documents show: `now`, or the clock's where `now` ran ahead of it.
    pub told: i64,
    embedding: Option<(u16, usize)>,
}

impl<'t, P: PagesMut> Writer<'t, P> {
    /// The collection of that name, made where nothing was written to it before. `embedding` is its number and dimensions.
    pub fn open(pages: &'t mut P, name: &CollectionName, clock: i64, embedding: Option<(u16, usize)>) -> Result<Self> {
        let partition = name.find_or_make(pages)?;
        Self::at(pages, partition, name.seed(pages.secret()), clock, embedding)
    }

    pub fn at(pages: &'t mut P, partition: Partition, seed: Seed, clock: i64, embedding: Option<(u16, usize)>) -> Result<Self> {
        let mut head = Head::read(pages, partition)?;
        if head.chunks == 0 {
            head.analyzer = STEMS;
        }
        if let Some((number, _)) = embedding
            && head.embedding == 0
        {
            head.embedding = number;
        }
        let now = clock.max(head.last_time + 1);
        Ok(Self { pages, partition, seed: head.seed(seed), head, now, told: told(now, clock), embedding })
    }

    /// Writes the head.
    pub fn finish(mut self) -> Result<()> {
        self.head.last_time = self.now;
        self.head.write(self.pages, self.partition)
    }

    /// Begins a revision, which nobody sees.
    pub fn begin(&mut self) -> Revision {
        self.head.last_revision += 1;
        let (number, written_at) = (self.head.last_revision, self.told);
        Revision { number, state: State::Writing, document: 0, written_at, bytes: 0, chunks: Vec::new() }
    }

    /// The revision that an earlier transaction began; `None` where it was removed meanwhile.
    pub fn resume(&mut self, number: u32) -> Result<Option<Revision>> {
        let revision = Revision::read(self.pages, self.partition, number)?.filter(|revision| revision.state == State::Writing);
        Ok(revision.map(|revision| Revision { written_at: self.told, ..revision }))
    }

    /// Writes the next parts of a text, at most `most`; says whether it is whole.
    pub fn put_text(&mut self, revision: &mut Revision, text: &str, most: usize) -> Result<bool> {
        let (first, all) = (record::parts(revision.bytes), record::parts(text.len() as u64));
        for part in first..all.min(first + most) {
            record::put_part(self.pages, self.partition, revision.number, part, text.as_bytes())?;
            revision.bytes = text.len().min((part + 1) * record::PART_BYTES) as u64;
        }
        Ok(revision.bytes == text.len() as u64)
    }

    /// Adds chunks behind all others. They are in the index from now on, and found once their revision is current.
    pub fn append(&mut self, revision: &mut Revision, chunks: &[NewChunk]) -> Result<()> {
        if chunks.is_empty() {
            return Ok(());
        }
        let mut runs = Runs::open(self.pages, index(self.partition))?;
        let mut vectors = Vec::new();
        for chunk in chunks {
            self.head.last_chunk += 1;
            let number = self.head.last_chunk;
            ChunkRecord { revision: revision.number, ..chunk.record.clone() }.write(self.pages, self.partition, number)?;
            let Analysis { terms, length, .. } = &chunk.analysis;
            runs.append(self.pages, &runs::Document { number, length: *length, terms })?;
            vectors.extend(chunk.vector.as_ref().map(|vector| (number, vector)));
            revision.push(number);
        }
        self.head.chunks += chunks.len() as u64;
        match self.embedding {
            Some((number, dims)) if number == self.head.embedding && !vectors.is_empty() => {
                VectorSet::new(self.partition, number, dims)?.put_many(self.pages, &vectors)?;
                self.head.vectors += vectors.len() as u64;
            }
            _ => {}
        }
        Ok(())
    }

    /// Makes a revision that of its document: from this commit on it is found, and the one before is not. Returns the document as it is
    /// stored, and the revision that is to be removed.
    pub fn switch(
        &mut self,
        mut revision: Revision,
        mut document: Document,
        before: Option<&Document>,
    ) -> Result<(Document, Option<Revision>)> {
        if let Some(before) = before {
            document.number = before.number;
            document.created_at = before.created_at;
            self.head.bytes -= before.bytes;
            self.drop_expiry(before)?;
        } else {
            self.head.last_document += 1;
            self.head.documents += 1;
            document.number = self.head.last_document;
            document.created_at = self.told;
        }
        document.updated_at = self.told;
        self.head.bytes += document.bytes;
        document.revision = revision.number;
        (revision.state, revision.document) = (State::Current, document.number);
        revision.write(self.pages, self.partition)?;
        document.write(self.pages, self.partition)?;
        record::put_id(self.pages, self.partition, self.seed, &document)?;
        self.put_expiry(&document)?;
        let replaced = before.map(|before| self.retire(before.revision)).transpose()?;
        Ok((document, replaced))
    }

    /// Removes a short revision at once; returns the number of one that is too long for this transaction.
    pub fn remove_short(&mut self, mut revision: Revision) -> Result<Option<u32>> {
        let number = revision.number;
        if revision.count() > STEP_REMOVED || record::parts(revision.bytes) > STEP_PARTS {
            return Ok(Some(number));
        }
        while self.remove_step(revision, STEP_REMOVED)? {
            match Revision::read(self.pages, self.partition, number)? {
                Some(left) => revision = left,
                None => break,
            }
        }
        Ok(None)
    }

    /// Says that a revision is to be removed: nobody sees it any more.
    fn retire(&mut self, revision: u32) -> Result<Revision> {
        let missing = || {
            damaged(
                Key::new(self.partition, Table::CollectionRevision).u32(revision).as_slice(),
                "a document refers to it and it is missing",
            )
        };
        let mut revision = Revision::read(self.pages, self.partition, revision)?.ok_or_else(missing)?;
        (revision.state, revision.written_at) = (State::Removing, self.told);
        revision.write(self.pages, self.partition)?;
        Ok(revision)
    }

    /// Takes a document away: nobody sees it any more, and its id is free. Returns the revision that is to be removed.
    pub fn unlink(&mut self, document: &Document) -> Result<Revision> {
        self.drop_expiry(document)?;
        document.delete(self.pages, self.partition)?;
        self.pages.delete(record::id_key(self.partition, self.seed, &document.id).as_slice())?;
        self.head.documents -= 1;
        self.head.bytes -= document.bytes;
        self.retire(document.revision)
    }

    /// Another time at which a document is to be removed.
    pub fn expire_at(&mut self, mut document: Document, at: Option<i64>) -> Result<Document> {
        self.drop_expiry(&document)?;
        document.expires_at = at;
        self.put_expiry(&document)?;
        document.write(self.pages, self.partition)?;
        Ok(document)
    }

    fn put_expiry(&mut self, document: &Document) -> Result<()> {
        let Some(at) = document.expires_at else { return Ok(()) };
        let key = Key::of_expiry(at, self.partition, document.number);
        self.pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::Raw, &[]))
    }

    fn drop_expiry(&mut self, document: &Document) -> Result<()> {
        let Some(at) = document.expires_at else { return Ok(()) };
        self.pages.delete(Key::of_expiry(at, self.partition, document.number).as_slice()).map(drop)
    }

    /// Removes some of a revision that nobody sees: chunks first, from its end, then its text, then itself. Says whether more is left.
    pub fn remove_step(&mut self, mut revision: Revision, most: usize) -> Result<bool> {
        let numbers = revision.pop(most);
        if numbers.is_empty() {
            let parts = record::parts(revision.bytes);
            let left = parts.saturating_sub(STEP_PARTS);
            for part in left..parts {
                record::delete_part(self.pages, self.partition, revision.number, part)?;
            }
            if left == 0 {
                revision.delete(self.pages, self.partition)?;
                return Ok(false);
            }
            revision.bytes = (left * record::PART_BYTES) as u64;
        } else {
            self.remove_chunks(&numbers)?;
        }
        revision.state = State::Removing;
        revision.written_at = self.told;
        revision.write(self.pages, self.partition)?;
        Ok(true)
    }

    fn remove_chunks(&mut self, numbers: &[u32]) -> Result<()> {
        let mut terms: Vec<(u32, Vec<TermCount>)> = Vec::with_capacity(numbers.len());
        for number in numbers {
            let chunk = ChunkRecord::read(self.pages, self.partition, *number)?;
            terms.push((*number, analyze(&chunk.indexed(self.pages, self.partition)?, self.seed.terms).terms));
        }
        let borrowed: Vec<(u32, &[TermCount])> = terms.iter().map(|(number, terms)| (*number, terms.as_slice())).collect();
        Runs::open(self.pages, index(self.partition))?.delete(self.pages, &borrowed)?;
        if self.head.embedding != 0 {
            let dims = match self.embedding {
                Some((number, dims)) if number == self.head.embedding => dims,
                _ => embedding::dimensions(self.pages, self.head.embedding)?,
            };
            let set = VectorSet::new(self.partition, self.head.embedding, dims)?;
            for number in numbers {
                self.head.vectors -= u64::from(set.remove(self.pages, *number)?);
            }
        }
        for number in numbers {
            ChunkRecord::delete(self.pages, self.partition, *number)?;
        }
        self.head.chunks -= numbers.len() as u64;
        Ok(())
    }
}
