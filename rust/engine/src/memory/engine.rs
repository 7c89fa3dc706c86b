//! The engine: one open store and what can be done with the memories in it.
//!
//! Every call takes the time from its caller, so that the same calls give the same bytes. Nothing here asks a model: a caller's
//! vectors come in ready made. Where the embedding is the built-in one, a text that comes without a vector gets it here, before the
//! transaction.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use super::access::{self, AccessBuffer, Accesses};
use super::doctor::{self, Report};
use super::embedders::{Embedder, Embedders};
use super::embedding::{self, Embedding, EmbeddingNumber};
use super::forget::{self, Stale};
use super::maintain::{self, Pending};
use super::read;
use super::record::{self, Memory};
use super::remember::{self, NewMemory, Prepared, Remembered};
use super::revise::{self, Revision};
use super::scope::{self, Head, Row, Scope};
use super::slots::{self, Slot};
use super::writer;
use crate::collection;
use crate::index::vectors::graph::GraphOptions;
use crate::index::vectors::{UnitVector, VectorSet};
use crate::interrupt;
use crate::session::WarmSessions;
use crate::store::environment::WriteTransaction;
use crate::store::keys::Partition;
use crate::store::metrics::add;
use crate::store::pages::Pages;
use crate::store::{Durability, Store, StoreOptions, copy};
use crate::{Error, ErrorKind, Result};

/// Rows of one transaction.
pub const MAX_BATCH_ROWS: usize = 1000;
/// Bytes of text in one transaction.
pub const MAX_BATCH_BYTES: usize = 256 << 10;

/// How an engine is opened.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// How much a commit waits for the disk.
    pub durability: Durability,
    /// Refuse every write.
    pub read_only: bool,
    /// How long a write may queue.
    pub busy_timeout: Duration,
    /// What makes the vectors, where something does.
    pub embedding: Option<Embedding>,
    /// The time now, microseconds since 1970 (UTC).
    pub now: i64,
}

/// One open store.
#[derive(Debug)]
pub struct Engine {
    store: Arc<Store>,
    read_only: bool,
    busy_timeout: Duration,
    embedders: Embedders,
    /// The built-in embedding's number in this store; 0 until it is known.
    built_in_number: AtomicU16,
    graph: GraphOptions,
    accesses: Arc<AccessBuffer>,
    warm: WarmSessions,
}

/// What is in a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Contents {
    /// Scopes that were ever written to.
    pub scopes: u64,
    /// Their collections.
    pub collections: u64,
    /// Documents of the collections.
    pub documents: u64,
    /// Their chunks.
    pub chunks: u64,
    /// Chunks that have a vector.
    pub chunk_vectors: u64,
    /// Current memories.
    pub memories: u64,
    /// Current memories that have a vector.
    pub vectors: u64,
    /// Current memories and chunks that have none of the engine's embedding, where it has one.
    pub to_embed: u64,
    /// Bytes of the data file.
    pub file_bytes: u64,
    /// Number of the generation.
    pub generation: u32,
}

/// What became of many rows.
#[derive(Debug)]
pub struct Written {
    /// What became of each, in order.
    pub outcomes: Vec<Result<Remembered>>,
    /// Transactions that it took.
    pub transactions: u64,
}

impl Engine {
    /// Opens the store at `path`, or makes one there.
    pub fn open(path: &Path, options: EngineOptions) -> Result<Self> {
        let store_options = StoreOptions {
            durability: options.durability,
            read_only: options.read_only,
            busy_timeout: options.busy_timeout,
            now: options.now,
        };
        Ok(Self {
            store: Store::open(path, &store_options)?,
            read_only: options.read_only,
            busy_timeout: options.busy_timeout,
            embedders: Embedders::new(options.embedding),
            built_in_number: AtomicU16::default(),
            graph: GraphOptions::default(),
            accesses: Arc::default(),
            warm: WarmSessions::default(),
        })
    }

    /// Opens the store with the built-in embedding, unless it has met another one: then by words alone, because vectors that somebody
    /// paid for are not given up by default. `options.embedding` does not count.
    pub fn open_by_default(path: &Path, options: &EngineOptions) -> Result<Self> {
        let mut engine = Self::open(path, EngineOptions { embedding: None, ..options.clone() })?;
        if engine.embeddings()?.iter().all(|known| known.name == Embedding::built_in().name) {
            engine.embedders = Embedders::new(Some(Embedding::built_in()));
        }
        Ok(engine)
    }

    /// The embeddings that the store has met, in that order.
    pub fn embeddings(&self) -> Result<Vec<Embedding>> {
        self.store.read(|snapshot| Ok(embedding::list(snapshot)?.into_iter().map(|(_, embedding)| embedding).collect()))
    }

    /// The vector of a text, where the embedding is the built-in one.
    #[must_use]
    pub fn embed(&self, text: &str) -> Option<UnitVector> {
        self.embedders.now().embed(text)
    }

    /// Makes `embedding` the one of this engine from now on; its place among those that the engine was given. Vectors that were made
    /// for the one before and come later are not stored among its own.
    pub fn exchange_embedding(&self, embedding: &Embedding) -> u32 {
        self.embedders.push(embedding).place
    }

    /// The place of the embedding that makes vectors now, among those that the engine was given.
    #[must_use]
    pub fn embedding_place(&self) -> u32 {
        self.embedders.now().place
    }

    /// The place of the embedding that a scope is searched by; `None` where that is none of those that the engine was given.
    pub fn place_of(&self, scope: &Scope) -> Result<Option<u32>> {
        self.store.read(|snapshot| {
            let Some(partition) = scope.find(snapshot)? else { return Ok(None) };
            let number = Head::read(snapshot, partition)?.embedding;
            let known = embedding::list(snapshot)?.into_iter().find(|(known, _)| *known == number);
            Ok(known.and_then(|(_, embedding)| self.embedders.of(&embedding)).map(|embedder| embedder.place))
        })
    }

    /// Compares how the embedder at `place` embeds [`embedding::PROBE`] with how it did when the store met it; an error says that it is
    /// another model under the same name. Where the store knows nothing of that, the next write of this engine keeps it.
    pub fn check_probe(&self, place: u32, vector: &UnitVector) -> Result<()> {
        let Some(embedder) = self.embedders.at(place) else { return Ok(()) };
        let Some(embedding) = &embedder.embedding else { return Ok(()) };
        let codes = embedding::probe_codes(vector);
        self.store.read(|snapshot| embedding::compare_probe(snapshot, embedding, &codes))?;
        embedder.note_probe(codes);
        Ok(())
    }

    /// The vectors that current memories of the same scope, kind, slot and text have already, so that no embedder need be asked again;
    /// `None` for each row without one. Made by the embedder at `place`.
    pub fn known_vectors(&self, place: u32, rows: &[(&Scope, &NewMemory)]) -> Result<Vec<Option<UnitVector>>> {
        let Some(embedder) = self.embedders.at(place) else { return Ok(vec![None; rows.len()]) };
        self.store.read(|snapshot| {
            let Some((number, dims)) = embedder.number(snapshot)?.zip(embedder.embedding.as_ref().map(|one| one.dimensions)) else {
                return Ok(vec![None; rows.len()]);
            };
            rows.iter().map(|(scope, new)| remember::known_vector(snapshot, scope, new, (number, dims as usize))).collect()
        })
    }

    /// The same engine with other rules for graphs over vectors.
    pub fn with_graph(mut self, graph: GraphOptions) -> Result<Self> {
        graph.check()?;
        self.graph = graph;
        Ok(self)
    }

    /// How graphs over vectors are built and searched.
    #[must_use]
    pub fn graph(&self) -> &GraphOptions {
        &self.graph
    }

    /// The store.
    #[must_use]
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// What makes the vectors.
    #[must_use]
    pub fn embedding(&self) -> Option<&Embedding> {
        self.embedders.now().embedding.as_ref()
    }

    /// Stores recalls that are still buffered and closes the store unless others of this process use it.
    pub fn close(&self) -> Result<()> {
        let flushed = if self.read_only { Ok(0) } else { self.flush_accesses() };
        if Arc::strong_count(&self.store) == 1 {
            self.store.close();
        }
        match flushed {
            Err(error) if error.kind() != ErrorKind::Closed => Err(error),
            _ => Ok(()),
        }
    }

    /// What this process has read of its sessions.
    pub(crate) fn warm(&self) -> &WarmSessions {
        &self.warm
    }

    pub(crate) fn write<T, F>(&self, operation: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut WriteTransaction<'_>) -> Result<T> + Send + 'static,
    {
        self.check_writable()?;
        interrupt::check()?;
        self.store.write(self.busy_timeout, operation)
    }

    /// Refuses what a read-only engine must not even begin.
    fn check_writable(&self) -> Result<()> {
        if self.read_only {
            return Err(Error::new(
                ErrorKind::ReadOnly,
                format!("writing to the store {}: it was opened with read_only=True: open it again without", self.store.path().display()),
            ));
        }
        Ok(())
    }

    /// Remembers one memory.
    pub fn remember(&self, scope: &Scope, new: NewMemory, now: i64) -> Result<Remembered> {
        let embedder = Arc::clone(self.embedders.now());
        let prepared = prepare(&embedder, scope, new)?;
        let groups = vec![Group { scope: Arc::new(scope.clone()), rows: vec![prepared] }];
        let mut outcomes = self.commit(embedder, groups, now, None)?;
        outcomes.pop().and_then(|mut group| group.pop()).unwrap_or_else(|| Err(Error::invalid("remembering: no row was given")))
    }

    /// Remembers rows of one or many scopes; the outcome of each in order.
    ///
    /// Up to 1,000 rows and 256 KB of text are one transaction; more are several, one after the other. With `all_or_nothing`
    /// the first row that fails fails its transaction, and the call; the error's field `row` says which it was. Within a
    /// transaction the rows of a scope are written together, in their order.
    pub fn remember_many(&self, rows: Vec<(Arc<Scope>, NewMemory)>, now: i64, all_or_nothing: bool) -> Result<Written> {
        let mut written = Written { outcomes: Vec::with_capacity(rows.len()), transactions: 0 };
        let mut outcomes: Vec<Option<Result<Remembered>>> = Vec::new();
        outcomes.resize_with(rows.len(), || None);
        let mut batch = Batch::default();
        let embedder = Arc::clone(self.embedders.now());
        for (at, (scope, row)) in rows.into_iter().enumerate() {
            let bytes = row.text.len() + row.metadata.len();
            match prepare(&embedder, &scope, row) {
                Err(error) if all_or_nothing => return Err(error.with("row", at)),
                Err(error) => outcomes[at] = Some(Err(error)),
                Ok(prepared) => {
                    if batch.is_full(bytes) {
                        let full = std::mem::take(&mut batch);
                        written.transactions += self.commit_batch(&embedder, full, now, all_or_nothing, &mut outcomes)?;
                    }
                    batch.push(at, scope, prepared, bytes);
                }
            }
        }
        written.transactions += self.commit_batch(&embedder, batch, now, all_or_nothing, &mut outcomes)?;
        written.outcomes.extend(outcomes.into_iter().flatten());
        Ok(written)
    }

    /// Commits a batch and files its outcomes; how many transactions that took.
    fn commit_batch(
        &self,
        embedder: &Arc<Embedder>,
        batch: Batch,
        now: i64,
        all: bool,
        outcomes: &mut [Option<Result<Remembered>>],
    ) -> Result<u64> {
        if batch.places.is_empty() {
            return Ok(0);
        }
        let places = Arc::new(batch.places);
        let must_hold = if all { Some(Arc::clone(&places)) } else { None };
        let mut written: Vec<Vec<_>> = self
            .commit(Arc::clone(embedder), batch.groups, now, must_hold)?
            .into_iter()
            .map(|group| group.into_iter().map(Some).collect())
            .collect();
        for place in places.iter() {
            outcomes[place.at] = written[place.group][place.row].take();
        }
        Ok(1)
    }

    /// Writes groups of rows in one transaction; with `must_hold` it is undone where one of these rows fails.
    fn commit(
        &self,
        embedder: Arc<Embedder>,
        groups: Vec<Group>,
        now: i64,
        must_hold: Option<Arc<Vec<Place>>>,
    ) -> Result<Vec<Vec<Result<Remembered>>>> {
        let count: usize = groups.iter().map(|group| group.rows.len()).sum();
        let buffered = Arc::clone(&self.accesses);
        let (written, stored) = self.write(move |txn| {
            let embedding = embedder.number_in_write(txn)?;
            let mut outcomes = Vec::with_capacity(groups.len());
            for group in &groups {
                outcomes.push(remember::write(txn, &group.scope, &group.rows, now, embedding)?);
            }
            for place in must_hold.iter().flat_map(|places| places.iter()) {
                if let Err(error) = &outcomes[place.group][place.row] {
                    return Err(error.clone().with("row", place.at));
                }
            }
            let mut stored = Accesses::new();
            for group in &groups {
                if let Some(partition) = group.scope.find(txn)? {
                    stored.append(&mut buffered.due(partition));
                }
            }
            access::store(txn, &stored)?;
            Ok((outcomes, stored))
        })?;
        self.store.unforked(|| self.accesses.stored(&stored));
        add(&self.store.metrics().memories_written, count as u64);
        Ok(written)
    }

    /// Corrects a memory.
    pub fn revise(&self, scope: &Scope, id: &str, mut revision: Revision, now: i64) -> Result<Remembered> {
        revision.check()?;
        let embedder = Arc::clone(self.embedders.now());
        let vector = revision.vector.take().filter(|_| revision.made_by == embedder.place);
        revision.vector = vector.or_else(|| embedder.embed(revision.text.as_deref()?));
        let (scope, id) = (scope.clone(), id.to_owned());
        self.write(move |txn| {
            let embedding = embedder.number_in_write(txn)?;
            revise::write(txn, &scope, &id, &revision, now, embedding)
        })
    }

    /// Forgets a memory; `false` where it was forgotten before.
    pub fn forget(&self, scope: &Scope, id: &str, reason: Option<&str>, now: i64) -> Result<bool> {
        let (scope, id, reason) = (scope.clone(), id.to_owned(), reason.map(str::to_owned));
        self.write(move |txn| forget::forget(txn, &scope, &id, reason.as_deref(), now))
    }

    /// Forgets what is neither used nor important; what was (or, in a dry run, would be) forgotten.
    pub fn forget_stale(&self, scope: &Scope, stale: Stale, now: i64, dry_run: bool) -> Result<Vec<Memory>> {
        self.flush_accesses_if_writable(dry_run)?;
        let (partition, found) = self.store.read(|snapshot| {
            let Some(partition) = scope.find(snapshot)? else { return Ok((None, Vec::new())) };
            let mut candidates = Vec::new();
            record::each_current(snapshot, partition, 0, &mut |memory| {
                if stale.takes(&memory, 0) && !memory.is_expired(now) {
                    candidates.push(memory);
                }
                std::ops::ControlFlow::Continue(())
            })?;
            let mut found = Vec::new();
            for memory in candidates {
                let recalled_at = i64::from(access::get(snapshot, partition, memory.number)?.last_seconds) * 1_000_000;
                if stale.takes(&memory, recalled_at) {
                    found.push(memory);
                }
            }
            Ok((Some(partition), found))
        })?;
        let Some(partition) = partition.filter(|_| !dry_run) else { return Ok(found) };
        let (seed, mut forgotten) = (scope.term_seed(), Vec::new());
        for step in found.chunks(maintain::STEP) {
            let numbers: Vec<u32> = step.iter().map(|memory| memory.number).collect();
            forgotten.extend(self.write(move |txn| forget::forget_many(txn, partition, seed, &numbers, "stale", now))?);
        }
        Ok(forgotten)
    }

    fn flush_accesses_if_writable(&self, dry_run: bool) -> Result<()> {
        if dry_run || self.read_only { Ok(()) } else { self.flush_accesses().map(drop) }
    }

    /// The memory with that id, current or superseded.
    pub fn get(&self, scope: &Scope, id: &str, now: i64) -> Result<Option<Memory>> {
        self.store.read(|snapshot| read::get(snapshot, scope, id, now))
    }

    /// How many current memories the scopes have together.
    pub fn documents(&self, scopes: &[Scope]) -> Result<u64> {
        self.store.read(|snapshot| {
            let mut documents = 0;
            for scope in scopes {
                if let Some(partition) = scope.find(snapshot)? {
                    documents += Head::read(snapshot, partition)?.documents;
                }
            }
            Ok(documents)
        })
    }

    /// The ids of memories by their numbers, whatever became of them; `None` where there is none of that number.
    pub fn ids(&self, scope: &Scope, numbers: &[u32]) -> Result<Vec<Option<String>>> {
        self.store.read(|snapshot| {
            let Some(partition) = scope.find(snapshot)? else { return Ok(vec![None; numbers.len()]) };
            numbers.iter().map(|number| Ok(writer::newest(snapshot, partition, *number)?.map(|memory| memory.id()))).collect()
        })
    }

    /// Every revision of a memory and of those whose slot it took, oldest first.
    pub fn history(&self, scope: &Scope, id: &str, now: i64) -> Result<Vec<Memory>> {
        self.store.read(|snapshot| read::history(snapshot, scope, id, now))
    }

    /// Current memories from number `first` on, at most `limit`, of the kinds whose bits are set.
    pub fn memories(&self, scope: &Scope, first: u32, limit: usize, kinds: u8, now: i64) -> Result<Vec<Memory>> {
        self.store.read(|snapshot| read::page(snapshot, scope, first, limit, kinds, now))
    }

    /// The slots of a scope with the memories that hold them; all of them, or the one of that name.
    pub fn slots(&self, scope: &Scope, only: Option<&str>, now: i64) -> Result<Vec<(Slot, Vec<Memory>)>> {
        let only = only.map(remember::normal_slot).transpose()?;
        self.store.read(|snapshot| read::slots(snapshot, scope, only.as_deref(), now))
    }

    /// Says whether a slot holds several values at a time.
    pub fn declare_slot(&self, scope: &Scope, name: &str, multi: bool) -> Result<()> {
        remember::check_name("slot", name)?;
        let (scope, name) = (scope.clone(), remember::normal_slot(name)?);
        self.write(move |txn| {
            let (partition, seed) = (scope.find_or_make(txn)?, scope.term_seed());
            let mut slot = slots::get(txn, partition, seed, &name)?;
            if slot.multi && !multi && slot.current.len() > 1 {
                return Err(Error::invalid(format!(
                    "declaring slot {name:?}: a slot with several current values cannot become one with a single value, and it has {}: forget all but one first",
                    slot.current.len()
                )));
            }
            slot.multi = multi;
            slots::put(txn, partition, seed, &slot)
        })
    }

    /// The scopes behind partition `after`, in the order in which they were first written to.
    pub fn scopes(&self, after: Partition, limit: usize) -> Result<Vec<(Partition, Scope)>> {
        self.store.read(|snapshot| scope::list(snapshot, after, limit))
    }

    /// What is in the store. Costs one read per scope.
    pub fn contents(&self) -> Result<Contents> {
        let mut contents = Contents::default();
        let mut after = 0;
        let embedder = self.embedders.now();
        // An embedding that the store does not know has made no vector; no partition has number 0 for it.
        let number = embedder.embedding.as_ref().map(|_| self.store.read(|snapshot| embedder.number(snapshot))).transpose()?;
        let number = number.map(Option::unwrap_or_default);
        loop {
            let page = self.store.read(|snapshot| {
                let page = scope::list(snapshot, after, maintain::STEP)?;
                page.iter().map(|(partition, _)| Ok((*partition, Head::read(snapshot, *partition)?))).collect::<Result<Vec<_>>>()
            })?;
            let Some((last, _)) = page.last() else { break };
            after = *last;
            for (_, head) in page {
                contents.scopes += 1;
                contents.memories += head.documents;
                contents.vectors += head.vectors;
                contents.to_embed += number.map_or(0, |number| head.documents.saturating_sub(head.vectors_of(number)));
            }
        }
        let (collections, heads) = self.store.read(collection::contents)?;
        (contents.collections, contents.documents) = (collections, heads.documents);
        (contents.chunks, contents.chunk_vectors) = (heads.chunks, heads.vectors);
        contents.to_embed += number.map_or(0, |_| heads.chunks.saturating_sub(heads.vectors));
        (contents.generation, contents.file_bytes) = self.store.size()?;
        Ok(contents)
    }

    /// Notes that memories were recalled; stored with a later write.
    pub fn note_recalled(&self, partition: Partition, numbers: impl Iterator<Item = u32>, now: i64) {
        if !self.read_only {
            self.store.unforked(|| self.accesses.note(partition, numbers, now));
        }
    }

    /// Stores the recalls that are still buffered; of how many memories.
    pub fn flush_accesses(&self) -> Result<u64> {
        let accesses = self.store.unforked(|| self.accesses.take());
        let count = accesses.len() as u64;
        if count > 0 {
            self.write(move |txn| access::store(txn, &accesses))?;
        }
        Ok(count)
    }

    /// Forgets the memories, and removes the documents, whose time to live is over; how many.
    pub fn expire(&self, now: i64) -> Result<u64> {
        self.check_writable()?;
        let mut expired = 0;
        loop {
            let due = self.store.read(|snapshot| maintain::due(snapshot, now))?;
            if due.is_empty() {
                return Ok(expired);
            }
            let before = expired;
            for (partition, numbers) in due {
                expired += match self.store.read(|snapshot| scope::row(snapshot, partition))? {
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
        let embedder = Arc::clone(self.embedders.now());
        let Some((number, _)) = self.write(move |txn| embedder.number_in_write(txn))? else { return Ok(None) };
        loop {
            let next = self.store.read(|snapshot| maintain::next_pending(snapshot, number, after, alone))?;
            let Some(partition) = next else { return Ok(None) };
            if self.store.read(|snapshot| collection::is_collection(snapshot, partition))? {
                while self.write(move |txn| collection::adopt(txn, partition, number))? {}
                return Ok(Some(partition));
            }
            self.sweep(partition)?;
            self.write(move |txn| maintain::begin(txn, partition, number, alone))?;
            self.sweep(partition)?;
            if self.store.read(|snapshot| Ok(maintain::lacks(&Head::read(snapshot, partition)?, number)))? {
                return Ok(Some(partition));
            }
            after = partition;
        }
    }

    /// Removes the vectors of a partition that nobody needs, step by step.
    fn sweep(&self, partition: Partition) -> Result<()> {
        if self.store.read(|snapshot| Ok(Head::read(snapshot, partition)?.leaving == 0))? {
            return Ok(());
        }
        while self.write(move |txn| maintain::sweep(txn, partition))? {}
        Ok(())
    }

    /// Ends the work on a partition, after each of its memories was tried and `refused` of them got no vector: it is searched by the new
    /// vectors from now on, unless most were refused, and the old ones are removed.
    pub fn conclude(&self, partition: Partition, refused: u64) -> Result<()> {
        let Some((number, _)) = self.store.read(|snapshot| self.vector_set(snapshot, partition))? else { return Ok(()) };
        self.write(move |txn| maintain::conclude(txn, partition, number, refused))?;
        self.sweep(partition)
    }

    /// Memories of a partition from number `first` on that lack a vector of this engine's embedding.
    pub fn pending(&self, partition: Partition, first: u32) -> Result<Vec<Pending>> {
        self.store.read(|snapshot| match self.vector_set(snapshot, partition)? {
            Some((_, set)) => maintain::pending(snapshot, partition, set, first),
            None => Ok(Vec::new()),
        })
    }

    /// Stores vectors that the embedder at `place` made later: number, revision, vector. The last one that was missing switches.
    pub fn fill(&self, place: u32, partition: Partition, vectors: Vec<(u32, u32, UnitVector)>) -> Result<u64> {
        let Some((number, set)) = self.store.read(|snapshot| self.vector_set_of(place, snapshot, partition))? else { return Ok(0) };
        self.write(move |txn| maintain::fill(txn, partition, set, number, &vectors))
    }

    /// Makes the vectors that are missing, where the embedding is the built-in one; how many. Each step is a write of its own.
    pub fn make_vectors(&self) -> Result<u64> {
        let (mut made, mut partition) = (0, 0);
        while self.embedders.now().embeds
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
        let embedder = self.embedders.now();
        let page = if embedder.embeds { self.pending(partition, first)? } else { Vec::new() };
        let Some(last) = page.last().map(|one| one.number) else {
            self.conclude(partition, 0)?;
            return Ok((0, None));
        };
        let vector_of = |one: Pending| Some((one.number, one.revision, embedder.embed(&one.text)?));
        let made = self.fill(embedder.place, partition, page.into_iter().filter_map(vector_of).collect())?;
        Ok((made, Some(last.saturating_add(1))))
    }

    /// The number of this engine's embedding and its vectors in a partition; `None` without an embedder or any vector.
    ///
    /// It reads the snapshot that its caller holds: a second one would wait for whoever waits for the first to end.
    pub fn vector_set<P: Pages + ?Sized>(&self, pages: &P, partition: Partition) -> Result<Option<(EmbeddingNumber, VectorSet)>> {
        self.vector_set_of(self.embedders.now().place, pages, partition)
    }

    /// The same of the embedding at `place` among those that the engine was given.
    pub fn vector_set_of<P: Pages + ?Sized>(
        &self,
        place: u32,
        pages: &P,
        partition: Partition,
    ) -> Result<Option<(EmbeddingNumber, VectorSet)>> {
        let Some(embedder) = self.embedders.at(place) else { return Ok(None) };
        let Some(number) = embedder.number(pages)? else { return Ok(None) };
        let dims = embedder.embedding.as_ref().map_or(0, |embedding| embedding.dimensions as usize);
        let set = VectorSet::new(partition, number, dims)?;
        Ok(Some((number, set.with_ef_search(self.graph.ef_search))))
    }

    /// The vectors of a partition that is searched by the built-in embedding, whose number `searched` then is.
    pub fn built_in_set<P: Pages + ?Sized>(&self, pages: &P, partition: Partition, searched: EmbeddingNumber) -> Result<Option<VectorSet>> {
        let mut number = self.built_in_number.load(Ordering::Relaxed);
        if number == 0 {
            number = embedding::find(pages, &Embedding::built_in())?.unwrap_or(0);
            self.built_in_number.store(number, Ordering::Relaxed);
        }
        if number == 0 || number != searched {
            return Ok(None);
        }
        let set = VectorSet::new(partition, number, crate::embedding::DIMENSIONS)?;
        Ok(Some(set.with_ef_search(self.graph.ef_search)))
    }

    /// What makes this engine's vectors, for use inside a transaction.
    pub(crate) fn embedder(&self) -> Arc<Embedder> {
        Arc::clone(self.embedders.now())
    }

    /// A whole, verified, compacted copy in `target`; how many values it has.
    pub fn backup(&self, target: &Path) -> Result<u64> {
        copy::backup(&self.store, target)
    }

    /// Reads everything and says what contradicts what. Costs the whole store; see [`doctor`].
    pub fn check(&self) -> Result<Report> {
        self.store.read(doctor::check)
    }

    /// Rewrites the store into a new generation and moves every process over to it.
    pub fn compact(&self) -> Result<u64> {
        self.check_writable()?;
        copy::compact(&self.store, self.busy_timeout)
    }

    /// How long a write may queue.
    #[must_use]
    pub fn busy_timeout(&self) -> Duration {
        self.busy_timeout
    }
}

/// A memory ready to be written; a vector that another embedder made is none.
fn prepare(embedder: &Embedder, scope: &Scope, mut new: NewMemory) -> Result<Prepared> {
    new.vector = new.vector.filter(|_| new.made_by == embedder.place);
    let mut prepared = remember::prepare(scope, new)?;
    prepared.fill_vector(|text| embedder.embed(text));
    Ok(prepared)
}

/// What one transaction writes, sorted by scope.
#[derive(Default)]
struct Batch {
    groups: Vec<Group>,
    places: Vec<Place>,
    bytes: usize,
}

/// Rows of one scope.
struct Group {
    scope: Arc<Scope>,
    rows: Vec<Prepared>,
}

/// Where a row of the caller stands in a batch.
struct Place {
    at: usize,
    group: usize,
    row: usize,
}

impl Batch {
    fn is_full(&self, next: usize) -> bool {
        !self.places.is_empty() && (self.places.len() == MAX_BATCH_ROWS || self.bytes + next > MAX_BATCH_BYTES)
    }

    fn push(&mut self, at: usize, scope: Arc<Scope>, row: Prepared, bytes: usize) {
        // Rows of a scope mostly come together: looking from the end costs O(scopes of this batch) only where they do not.
        let known = self.groups.iter().rposition(|group| Arc::ptr_eq(&group.scope, &scope) || group.scope == scope);
        let group = known.unwrap_or_else(|| {
            self.groups.push(Group { scope, rows: Vec::new() });
            self.groups.len() - 1
        });
        let rows = &mut self.groups[group].rows;
        self.places.push(Place { at, group, row: rows.len() });
        rows.push(row);
        self.bytes += bytes;
    }
}
