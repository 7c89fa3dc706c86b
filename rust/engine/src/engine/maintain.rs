//! Maintenance of a whole store: expiry and missing vectors, of scopes and of collections alike.
//!
//! How one scope changes its embedding is [`crate::memory::maintain`], how a collection does `collection/pending.rs`.

use std::sync::Arc;

use super::Engine;
use crate::collection;
use crate::index::vectors::{UnitVector, VectorSet};
use crate::memory::embedding::EmbeddingNumber;
use crate::memory::forget;
use crate::memory::maintain::{self, Pending, STEP};
use crate::memory::record;
use crate::scope::{self, Head, Row};
use crate::session;
use crate::store::keys::Partition;
use crate::store::pages::{Pages, PagesMut};
use crate::store::reserve;
use crate::{Error, ErrorKind, Result};

impl Engine {
    /// Forgets the memories, and removes the documents, whose time to live is over; how many.
    pub fn expire(&self, now: i64) -> Result<u64> {
        self.check_writable()?;
        reserve::freeing(|| self.expire_all(now))
    }

    fn expire_all(&self, now: i64) -> Result<u64> {
        let mut expired = 0;
        loop {
            let due = self.store().read(|snapshot| maintain::due(snapshot, now))?;
            if due.is_empty() {
                return Ok(expired + self.expire_superseded(now)?);
            }
            let before = expired;
            for (partition, numbers) in due {
                expired += match self.store().read(|snapshot| scope::row(snapshot, partition))? {
                    Some(Row::Scope(scope)) => {
                        let seed = scope.seed(self.store().secret());
                        let expire =
                            |step: Vec<u32>| self.write_to(partition, move |txn| forget::expire_many(txn, partition, seed, &step, now));
                        maintain::in_steps(&numbers, expire)?.into_iter().sum()
                    }
                    Some(Row::Collection { .. }) => collection::expire(self, partition, &numbers, now)?,
                    Some(Row::Dropped { .. }) | None => 0,
                };
            }
            if expired == before {
                return Ok(expired + self.expire_superseded(now)?); // another process was faster, or the index names what is not there: the doctor says which
            }
        }
    }

    /// Forgets the memories that were superseded, or wait for approval, and whose time to live is over; how many. Reads what is not current, in
    /// every scope.
    fn expire_superseded(&self, now: i64) -> Result<u64> {
        let (mut after, mut expired) = (0, 0);
        loop {
            let page = self.scopes(after, STEP)?;
            let Some((last, _)) = page.last() else { return Ok(expired) };
            after = *last;
            for (partition, scope) in page {
                let seed = scope.seed(self.store().secret());
                let due = self.store().read(|snapshot| forget::ended_due(snapshot, partition, now))?;
                let expire = |step: Vec<u32>| self.write_to(partition, move |txn| forget::expire_many(txn, partition, seed, &step, now));
                expired += maintain::in_steps(&due, expire)?.into_iter().sum::<u64>();
            }
        }
    }

    /// The next partition behind `after` with memories that lack a vector of this engine's embedding, made ready for them: what nobody
    /// needs is removed, and where the partition is searched by another embedding, this one is built beside it.
    ///
    /// For tests, which make vectors step by step; programs call [`Self::maintain`].
    pub fn next_pending(&self, after: Partition) -> Result<Option<Partition>> {
        self.next_lacking(after, false)
    }

    /// [`next_pending`](Self::next_pending), which also gives up what is being built of any other embedding. For tests; programs call
    /// [`Self::reembed`].
    pub fn next_to_reembed(&self, after: Partition) -> Result<Option<Partition>> {
        self.next_lacking(after, true)
    }

    fn next_lacking(&self, mut after: Partition, alone: bool) -> Result<Option<Partition>> {
        let embedder = self.embedder();
        let number = {
            let embedder = Arc::clone(&embedder);
            self.write(move |txn| Ok(embedder.number_in_write(txn)?.map(|(number, _)| number)))
        };
        let number = match number {
            // A known number needs no write, and there may be no vector to make.
            Err(error) if error.kind() == ErrorKind::StoreFull => {
                self.store().read(|snapshot| embedder.number(snapshot))?.map_or(Err(error), |number| Ok(Some(number)))
            }
            other => other,
        };
        let Some(number) = number? else { return Ok(None) };
        loop {
            let next = self.store().read(|snapshot| next_pending(snapshot, number, after, alone))?;
            let Some(partition) = next else { return Ok(None) };
            if self.store().read(|snapshot| collection::is_collection(snapshot, partition))? {
                while self.write_to(partition, move |txn| collection::adopt(txn, partition, number))? {}
                return Ok(Some(partition));
            }
            self.sweep(partition)?;
            self.write_to(partition, move |txn| maintain::begin(txn, partition, number, alone))?;
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
        while self.write_to(partition, move |txn| maintain::sweep(txn, partition))? {}
        Ok(())
    }

    /// Ends the work on a partition, after each of its memories was tried and `refused` of them got no vector: it is searched by the new
    /// vectors from now on, unless most were refused, and the old ones are removed.
    pub fn conclude(&self, partition: Partition, refused: u64) -> Result<()> {
        let Some((number, _)) = self.store().read(|snapshot| self.vector_set(snapshot, partition))? else { return Ok(()) };
        self.write_to(partition, move |txn| maintain::conclude(txn, partition, number, refused))?;
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
        self.write_to(partition, move |txn| fill(txn, partition, set, number, &vectors))
    }

    /// Makes the vectors that are missing, where the embedding is the built-in one; how many. Each step is a write of its own.
    /// For tests; programs call [`Self::maintain`].
    pub fn make_vectors(&self) -> Result<u64> {
        self.make_missing(None, false, &mut |_| Ok(()))
    }

    /// Makes the vectors of this engine's embedding that are missing, scope by scope; how many. `embed` is who makes them, where the
    /// embedding is a caller's. After each step `progress` is told how many it made; its error, and one of `embed`, end the work: what
    /// was made stays, and the next call goes on behind it.
    ///
    /// The new vectors of a scope are made beside the old ones, by which its questions are answered meanwhile.
    pub fn reembed(&self, embed: Option<&mut dyn Embed>, progress: &mut dyn FnMut(u64) -> Result<()>) -> Result<u64> {
        self.make_missing(embed, true, progress)
    }

    /// Does what can wait, in many short transactions. `now` is the time, `between` is called between two steps of a long build; its
    /// error ends the work. An embedder that fails ends the making of vectors alone: the report says why.
    pub fn maintain(&self, embed: Option<&mut dyn Embed>, now: i64, between: &mut dyn FnMut() -> Result<()>) -> Result<Maintained> {
        let mut done = Maintained { expired: self.expire(now)?, ..Maintained::default() };
        let made = self.make_missing(embed, false, &mut |step| {
            done.made += step;
            Ok(())
        });
        match made {
            Err(error) if error.kind() == ErrorKind::Embedder => done.embedder_failed = Some(error),
            other => drop(other?),
        }
        done.recalls = self.flush_accesses_if_there_is_room()?;
        done.sessions = session::sweep(self, now)?;
        done.collections = collection::sweep(self, now)?;
        done.messages = session::fill_rows(self)? + self.fill_tokens()?;
        done.graphs = self.maintain_graphs(now, between)?;
        Ok(done)
    }

    /// Stores the tokens that memories of an older version lack, in every scope; how many there were.
    fn fill_tokens(&self) -> Result<u64> {
        let (mut after, mut filled) = (0, 0);
        loop {
            let page = self.scopes(after, STEP)?;
            let Some((last, _)) = page.last() else { return Ok(filled) };
            after = *last;
            for (partition, _) in page {
                let mut first = 0;
                loop {
                    let bare = self.store().read(|pages| record::without_tokens(pages, partition, first, STEP))?;
                    let Some(last) = bare.last() else { break };
                    first = last.saturating_add(1);
                    filled += self.write_to(partition, move |txn| {
                        bare.iter().try_fold(0, |sum, number| Ok(sum + u64::from(record::rewrite(txn, partition, *number)?)))
                    })?;
                }
            }
        }
    }

    fn make_missing(&self, mut embed: Option<&mut dyn Embed>, alone: bool, progress: &mut dyn FnMut(u64) -> Result<()>) -> Result<u64> {
        let (mut made, mut after) = (0, 0);
        let embedder = self.embedder();
        if !embedder.embeds && embed.is_none() {
            return Ok(0);
        }
        while let Some(partition) = self.next_lacking(after, alone)? {
            let (mut first, mut refused) = (0, 0);
            loop {
                let page = self.pending(partition, first)?;
                let Some(last) = page.last() else { break };
                first = last.number.saturating_add(1);
                let vectors = match &mut embed {
                    Some(embed) if !embedder.embeds => embed.embed(&page)?,
                    _ => page.iter().map(|one| embedder.embed(&one.text)).collect(),
                };
                refused += vectors.iter().filter(|vector| vector.is_none()).count() as u64;
                let made_of = |(one, vector): (Pending, Option<UnitVector>)| Some((one.number, one.revision, vector?));
                let step = self.fill(embedder.place, partition, page.into_iter().zip(vectors).filter_map(made_of).collect())?;
                made += step;
                progress(step)?;
            }
            self.conclude(partition, refused)?;
            after = partition;
        }
        Ok(made)
    }
}

/// Makes vectors that are missing, where the engine cannot: a caller's embedder.
pub trait Embed {
    /// One for each text, `None` where it makes none of it; an error of kind [`ErrorKind::Embedder`] where it cannot be asked.
    fn embed(&mut self, texts: &[Pending]) -> Result<Vec<Option<UnitVector>>>;
}

/// The report of maintenance.
#[derive(Debug, Clone, Default)]
pub struct Maintained {
    /// Memories forgotten and documents removed because their time was over.
    pub expired: u64,
    /// Vectors made.
    pub made: u64,
    /// Memories whose recalls were stored.
    pub recalls: u64,
    /// Sessions of which something was cleared away.
    pub sessions: u64,
    /// Collections and revisions of which something was cleared away.
    pub collections: u64,
    /// Messages and memories of an older version that were made ready for searches.
    pub messages: u64,
    /// Graphs built.
    pub graphs: u64,
    /// Why the embedder made no more vectors.
    pub embedder_failed: Option<Error>,
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
                Row::Dropped { .. } => false,
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
