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
use super::embedding::{self, Embedding, EmbeddingNumber};
use super::forget::{self, Stale};
use super::maintain::{self, Pending};
use super::read;
use super::record::{self, Memory};
use super::remember::{self, NewMemory, Prepared, Remembered};
use super::revise::{self, Revision};
use super::scope::{self, Head, Scope};
use super::slots::{self, Slot};
use super::writer;
use crate::index::vectors::graph::GraphOptions;
use crate::index::vectors::{UnitVector, VectorSet};
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
    embedding: Option<Arc<Embedding>>,
    /// Whether that is the built-in one, so that nobody else need make its vectors.
    embeds: bool,
    /// The embedding's number in this store; 0 until it is known.
    embedding_number: Arc<AtomicU16>,
    graph: GraphOptions,
    accesses: AccessBuffer,
    warm: WarmSessions,
}

/// What is in a store.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Contents {
    /// Scopes that were ever written to.
    pub scopes: u64,
    /// Current memories.
    pub memories: u64,
    /// Current memories that have a vector.
    pub vectors: u64,
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
            embeds: options.embedding.as_ref().is_some_and(Embedding::is_built_in),
            embedding: options.embedding.map(Arc::new),
            embedding_number: Arc::default(),
            graph: GraphOptions::default(),
            accesses: AccessBuffer::default(),
            warm: WarmSessions::default(),
        })
    }

    /// Opens the store with the built-in embedding, unless it has met another one: then by words alone, because vectors that somebody
    /// paid for are not given up by default. `options.embedding` does not count.
    pub fn open_by_default(path: &Path, options: &EngineOptions) -> Result<Self> {
        let mut engine = Self::open(path, EngineOptions { embedding: None, ..options.clone() })?;
        if engine.embeddings()?.iter().all(|known| known.name == Embedding::built_in().name) {
            engine.embedding = Some(Arc::new(Embedding::built_in()));
            engine.embeds = true;
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
        self.embeds.then(|| crate::embedding::embed(text))
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
        self.embedding.as_deref()
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
        let prepared = self.prepare(scope, new)?;
        let mut outcomes = self.commit(vec![Group { scope: Arc::new(scope.clone()), rows: vec![prepared] }], now, None)?;
        outcomes.pop().and_then(|mut group| group.pop()).unwrap_or_else(|| Err(Error::invalid("remembering: no row was given")))
    }

    fn prepare(&self, scope: &Scope, new: NewMemory) -> Result<Prepared> {
        let mut prepared = remember::prepare(scope, new)?;
        prepared.fill_vector(|text| self.embed(text));
        Ok(prepared)
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
        for (at, (scope, row)) in rows.into_iter().enumerate() {
            let bytes = row.text.len() + row.metadata.len();
            match self.prepare(&scope, row) {
                Err(error) if all_or_nothing => return Err(error.with("row", at)),
                Err(error) => outcomes[at] = Some(Err(error)),
                Ok(prepared) => {
                    if batch.is_full(bytes) {
                        written.transactions += self.commit_batch(std::mem::take(&mut batch), now, all_or_nothing, &mut outcomes)?;
                    }
                    batch.push(at, scope, prepared, bytes);
                }
            }
        }
        written.transactions += self.commit_batch(batch, now, all_or_nothing, &mut outcomes)?;
        written.outcomes.extend(outcomes.into_iter().flatten());
        Ok(written)
    }

    /// Commits a batch and files its outcomes; how many transactions that took.
    fn commit_batch(&self, batch: Batch, now: i64, all: bool, outcomes: &mut [Option<Result<Remembered>>]) -> Result<u64> {
        if batch.places.is_empty() {
            return Ok(0);
        }
        let places = Arc::new(batch.places);
        let must_hold = if all { Some(Arc::clone(&places)) } else { None };
        let mut written: Vec<Vec<_>> =
            self.commit(batch.groups, now, must_hold)?.into_iter().map(|group| group.into_iter().map(Some).collect()).collect();
        for place in places.iter() {
            outcomes[place.at] = written[place.group][place.row].take();
        }
        Ok(1)
    }

    /// Writes groups of rows in one transaction; with `must_hold` it is undone where one of these rows fails.
    fn commit(&self, groups: Vec<Group>, now: i64, must_hold: Option<Arc<Vec<Place>>>) -> Result<Vec<Vec<Result<Remembered>>>> {
        let count: usize = groups.iter().map(|group| group.rows.len()).sum();
        let embedding = self.embedding_in_write();
        let accesses = self.store.unforked(|| self.accesses.take(false));
        let written = self.write(move |txn| {
            let embedding = embedding.number(txn)?;
            let mut outcomes = Vec::with_capacity(groups.len());
            for group in &groups {
                outcomes.push(remember::write(txn, &group.scope, &group.rows, now, embedding)?);
            }
            for place in must_hold.iter().flat_map(|places| places.iter()) {
                if let Err(error) = &outcomes[place.group][place.row] {
                    return Err(error.clone().with("row", place.at));
                }
            }
            store_accesses(txn, accesses.as_ref())?;
            Ok(outcomes)
        })?;
        add(&self.store.metrics().memories_written, count as u64);
        Ok(written)
    }

    /// Corrects a memory.
    pub fn revise(&self, scope: &Scope, id: &str, mut revision: Revision, now: i64) -> Result<Remembered> {
        revision.check()?;
        revision.vector = revision.vector.or_else(|| self.embed(revision.text.as_deref()?));
        let (scope, id, embedding) = (scope.clone(), id.to_owned(), self.embedding_in_write());
        self.write(move |txn| {
            let embedding = embedding.number(txn)?;
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
            }
        }
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
        match self.store.unforked(|| self.accesses.take(true)) {
            None => Ok(0),
            Some(accesses) => {
                let count = accesses.len() as u64;
                self.write(move |txn| access::store(txn, &accesses))?;
                Ok(count)
            }
        }
    }

    /// Forgets the memories whose time to live is over; how many.
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
                let scope = self.store.read(|snapshot| scope::list(snapshot, partition - 1, 1))?;
                let Some((_, scope)) = scope.into_iter().next() else { continue };
                let seed = scope.term_seed();
                expired += self.write(move |txn| forget::expire_many(txn, partition, seed, &numbers, now))?;
            }
            if expired == before {
                return Ok(expired); // another process was faster, or the index names what is not there: the doctor says which
            }
        }
    }

    /// The next partition behind `after` with memories that lack a vector of this engine's embedding; their vectors of
    /// another embedding are dropped.
    pub fn next_pending(&self, after: Partition) -> Result<Option<Partition>> {
        let Some((number, _)) = self.write(self.registration())? else { return Ok(None) };
        let next = self.store.read(|snapshot| maintain::next_pending(snapshot, number, after))?;
        if let Some((partition, _)) = next {
            self.write(move |txn| maintain::adopt(txn, partition, number))?;
        }
        Ok(next.map(|(partition, _)| partition))
    }

    /// Memories of a partition from number `first` on that lack a vector of this engine's embedding.
    pub fn pending(&self, partition: Partition, first: u32) -> Result<Vec<Pending>> {
        self.store.read(|snapshot| match self.vector_set(snapshot, partition)? {
            Some((_, set)) => maintain::pending(snapshot, partition, set, first),
            None => Ok(Vec::new()),
        })
    }

    /// Stores vectors that were made later: number, revision, vector.
    pub fn fill(&self, partition: Partition, vectors: Vec<(u32, u32, UnitVector)>) -> Result<u64> {
        let Some((number, set)) = self.store.read(|snapshot| self.vector_set(snapshot, partition))? else { return Ok(0) };
        self.write(move |txn| maintain::fill(txn, partition, set, number, &vectors))
    }

    /// Makes the vectors that are missing, where the embedding is the built-in one; how many. Each step is a write of its own.
    pub fn make_vectors(&self) -> Result<u64> {
        let (mut made, mut partition) = (0, 0);
        while self.embeds
            && let Some(next) = self.next_pending(partition)?
        {
            partition = next;
            let mut page = self.pending(partition, 0)?;
            while let Some(last) = page.last().map(|one| one.number) {
                let vector_of = |one: Pending| Some((one.number, one.revision, self.embed(&one.text)?));
                made += self.fill(partition, page.into_iter().filter_map(vector_of).collect())?;
                page = self.pending(partition, last.saturating_add(1))?;
            }
        }
        Ok(made)
    }

    /// The number of this engine's embedding and its vectors in a partition; `None` without an embedder or any vector.
    ///
    /// It reads the snapshot that its caller holds: a second one would wait for whoever waits for the first to end.
    pub fn vector_set<P: Pages + ?Sized>(&self, pages: &P, partition: Partition) -> Result<Option<(EmbeddingNumber, VectorSet)>> {
        let Some(embedding) = &self.embedding else { return Ok(None) };
        let mut number = self.embedding_number.load(Ordering::Relaxed);
        if number == 0 {
            let Some(found) = embedding::find(pages, embedding)? else { return Ok(None) };
            number = found;
            self.embedding_number.store(number, Ordering::Relaxed);
        }
        let set = VectorSet::new(partition, number, embedding.dimensions as usize)?;
        Ok(Some((number, set.with_ef_search(self.graph.ef_search))))
    }

    fn embedding_in_write(&self) -> EmbeddingInWrite {
        EmbeddingInWrite { embedding: self.embedding.clone(), number: Arc::clone(&self.embedding_number) }
    }

    fn registration(&self) -> impl FnMut(&mut WriteTransaction<'_>) -> Result<Option<(EmbeddingNumber, usize)>> + Send + 'static + use<> {
        let embedding = self.embedding_in_write();
        move |txn| embedding.number(txn)
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

/// This engine's embedding, for use inside a transaction.
struct EmbeddingInWrite {
    embedding: Option<Arc<Embedding>>,
    number: Arc<AtomicU16>,
}

impl EmbeddingInWrite {
    /// Its number and dimensions; registered where the store does not know it yet.
    fn number(&self, txn: &mut WriteTransaction<'_>) -> Result<Option<(EmbeddingNumber, usize)>> {
        let Some(embedding) = &self.embedding else { return Ok(None) };
        let known = self.number.load(Ordering::Relaxed);
        // A number is remembered only once a snapshot has shown it (see `vector_set`): this transaction may yet be undone.
        let number = if known == 0 { embedding::find_or_make(txn, embedding)? } else { known };
        Ok(Some((number, embedding.dimensions as usize)))
    }
}

fn store_accesses(txn: &mut WriteTransaction<'_>, accesses: Option<&Accesses>) -> Result<()> {
    accesses.map_or(Ok(()), |accesses| access::store(txn, accesses))
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
