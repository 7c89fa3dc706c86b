//! Maintenance of a whole store: expiry and missing vectors, of scopes and of collections alike.
//!
//! How one scope changes its embedding is [`crate::memory::maintain`], how a collection does `collection/pending.rs`.

use super::Engine;
use crate::Result;
use crate::collection;
use crate::index::vectors::{UnitVector, VectorSet};
use crate::memory::embedding::EmbeddingNumber;
use crate::memory::forget;
use crate::memory::maintain::{self, Pending, STEP};
use crate::scope::{self, Head, Row};
use crate::store::keys::Partition;
use crate::store::pages::{Pages, PagesMut};

impl Engine {
    /// Forgets the memories, and removes the documents, whose time to live is over; how many.
    pub fn expire(&self, now: i64) -> Result<u64> {
        self.check_writable()?;
        let mut expired = 0;
        loop {
            let due = self.store().read(|snapshot| maintain::due(snapshot, now))?;
            if due.is_empty() {
                return Ok(expired);
            }
            let before = expired;
            for (partition, numbers) in due {
                expired += match self.store().read(|snapshot| scope::row(snapshot, partition))? {
                    Some(Row::Scope(scope)) => {
                        let seed = scope.term_seed();
                        self.write(move |txn| forget::expire_many(txn, partition, seed, &numbers, now))?
                    }
                    Some(Row::Collection { .. }) => collection::expire(self, partition, &numbers, now)?,
                    Some(Row::Dropped) | None => 0,
                };
            }
            if expired == before {
                return Ok(expired); // another process was faster, or the index names what is not there: the doctor says which
            }
        }
    }

    /// The next partition behind `after` with memories that lack a vector of this engine's embedding, made ready for them: what nobody
    /// needs is removed, and where the partition is searched by another embedding, this one is built beside it.
    pub fn next_pending(&self, after: Partition) -> Result<Option<Partition>> {
        self.next_lacking(after, false)
    }

    /// [`next_pending`](Self::next_pending), which also gives up what is being built of any other embedding.
    pub fn next_to_reembed(&self, after: Partition) -> Result<Option<Partition>> {
        self.next_lacking(after, true)
    }

    fn next_lacking(&self, mut after: Partition, alone: bool) -> Result<Option<Partition>> {
        let embedder = self.embedder();
        let Some((number, _)) = self.write(move |txn| embedder.number_in_write(txn))? else { return Ok(None) };
        loop {
            let next = self.store().read(|snapshot| next_pending(snapshot, number, after, alone))?;
            let Some(partition) = next else { return Ok(None) };
            if self.store().read(|snapshot| collection::is_collection(snapshot, partition))? {
                while self.write(move |txn| collection::adopt(txn, partition, number))? {}
                return Ok(Some(partition));
            }
            self.sweep(partition)?;
            self.write(move |txn| maintain::begin(txn, partition, number, alone))?;
            self.sweep(partition)?;
            if self.store().read(|snapshot| Ok(maintain::lacks(&Head::read(snapshot, partition)?, number)))? {
                return Ok(Some(partition));
            }
            after = partition;
        }
    }

    /// Removes the vectors of a partition that nobody needs, step by step.
    fn sweep(&self, partition: Partition) -> Result<()> {
        if self.store().read(|snapshot| Ok(Head::read(snapshot, partition)?.leaving == 0))? {
            return Ok(());
        }
        while self.write(move |txn| maintain::sweep(txn, partition))? {}
        Ok(())
    }

    /// Ends the work on a partition, after each of its memories was tried and `refused` of them got no vector: it is searched by the new
    /// vectors from now on, unless most were refused, and the old ones are removed.
    pub fn conclude(&self, partition: Partition, refused: u64) -> Result<()> {
        let Some((number, _)) = self.store().read(|snapshot| self.vector_set(snapshot, partition))? else { return Ok(()) };
        self.write(move |txn| maintain::conclude(txn, partition, number, refused))?;
        self.sweep(partition)
    }

    /// Memories of a partition from number `first` on that lack a vector of this engine's embedding.
    pub fn pending(&self, partition: Partition, first: u32) -> Result<Vec<Pending>> {
        self.store().read(|snapshot| match self.vector_set(snapshot, partition)? {
            Some((_, set)) => pending(snapshot, partition, set, first),
            None => Ok(Vec::new()),
        })
    }

    /// Stores vectors that the embedder at `place` made later: number, revision, vector. The last one that was missing switches.
    pub fn fill(&self, place: u32, partition: Partition, vectors: Vec<(u32, u32, UnitVector)>) -> Result<u64> {
        let Some((number, set)) = self.store().read(|snapshot| self.vector_set_of(place, snapshot, partition))? else { return Ok(0) };
        self.write(move |txn| fill(txn, partition, set, number, &vectors))
    }

    /// Makes the vectors that are missing, where the embedding is the built-in one; how many. Each step is a write of its own.
    pub fn make_vectors(&self) -> Result<u64> {
        let (mut made, mut partition) = (0, 0);
        while self.embedder().embeds
            && let Some(next) = self.next_pending(partition)?
        {
            partition = next;
            let mut first = Some(0);
            while let Some(from) = first {
                let step = self.make_some(partition, from)?;
                made += step.0;
                first = step.1;
            }
        }
        Ok(made)
    }

    /// Makes some of the vectors that a partition lacks, from number `first` on, where the embedding is the built-in one; how many, and
    /// the number to go on from. After the last the partition is [concluded](Self::conclude).
    pub fn make_some(&self, partition: Partition, first: u32) -> Result<(u64, Option<u32>)> {
        let embedder = self.embedder();
        let page = if embedder.embeds { self.pending(partition, first)? } else { Vec::new() };
        let Some(last) = page.last().map(|one| one.number) else {
            self.conclude(partition, 0)?;
            return Ok((0, None));
        };
        let vector_of = |one: Pending| Some((one.number, one.revision, embedder.embed(&one.text)?));
        let made = self.fill(embedder.place, partition, page.into_iter().filter_map(vector_of).collect())?;
        Ok((made, Some(last.saturating_add(1))))
    }
}

/// The next partition behind `after` in which memories, or chunks of a collection, lack a vector of `embedding`, or vectors that nobody
/// needs are left. With `alone`, also one that builds vectors of another embedding.
fn next_pending<P: Pages + ?Sized>(pages: &P, embedding: EmbeddingNumber, after: Partition, alone: bool) -> Result<Option<Partition>> {
    let mut after = after;
    loop {
        let page = scope::rows(pages, after, STEP)?;
        let Some((last, _)) = page.last() else { return Ok(None) };
        after = *last;
        for (partition, row) in page {
            let lacks = match row {
                Row::Scope(_) => {
                    let head = Head::read(pages, partition)?;
                    head.leaving != 0 || maintain::lacks(&head, embedding) || (alone && head.building != 0)
                }
                Row::Collection { .. } => collection::next_pending(pages, partition, embedding)?,
                Row::Dropped => false,
            };
            if lacks {
                return Ok(Some(partition));
            }
        }
    }
}

/// Memories of a partition, or chunks of a collection, from number `first` on that lack a vector of `set`.
fn pending<P: Pages + ?Sized>(pages: &P, partition: Partition, set: VectorSet, first: u32) -> Result<Vec<Pending>> {
    if collection::is_collection(pages, partition)? {
        return collection::pending(pages, partition, set, first);
    }
    maintain::pending(pages, partition, set, first)
}

/// Stores vectors that were made later, of memories or of chunks; how many were stored.
fn fill(
    pages: &mut impl PagesMut,
    partition: Partition,
    set: VectorSet,
    embedding: EmbeddingNumber,
    vectors: &[(u32, u32, UnitVector)],
) -> Result<u64> {
    if collection::is_collection(pages, partition)? {
        return collection::fill(pages, partition, set, embedding, vectors);
    }
    maintain::fill(pages, partition, set, embedding, vectors)
}
