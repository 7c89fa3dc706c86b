//! The core: one open store, its embedders and what was recalled; and what can be done with the memories in it.
//!
//! The rooms above take this and no engine: recall, collections and sessions need no more. Every call takes the time from its caller, so that the same calls give the same bytes. Nothing here asks a model: a caller's
//! vectors come in ready made. Where the embedding is the built-in one, a text that comes without a vector gets it here, before the
//! transaction.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::time::Duration;

use super::access::{self, AccessBuffer, Accesses};
use super::embedders::{Embedder, Embedders};
use super::embedding::{self, Embedding, EmbeddingNumber};
use super::forget::{self, Origin, Stale, Which};
use super::kind::{Kind, KindRule};
use super::learn::{self, LearnMark};
use super::maintain;
use super::merge;
use super::named::Named;
use super::quarantine;
use super::read::{self, Listing};
use super::record::{self, Memory};
use super::remember::{self, Action, NewMemory, Prepared, Remembered, Verdict};
use super::revise::{self, Revision};
use super::slots::{self, Slot};
use crate::embedding::RecentTokens;
use crate::gate::Category;
use crate::index::vectors::graph::GraphOptions;
use crate::index::vectors::{UnitVector, VectorSet};
use crate::interrupt;
use crate::limits::{MAX_BATCH_BYTES, MAX_BATCH_ROWS};
use crate::scope::{self, Head, Scope, Witness};
use crate::store::environment::WriteTransaction;
use crate::store::identity::Secret;
use crate::store::keys::Partition;
use crate::store::metrics::add;
use crate::store::pages::Pages;
use crate::store::vault::StoreKey;
use crate::store::{Durability, Store, StoreOptions, reserve};
use crate::text::screening::{Screened, Screening};
use crate::{Error, ErrorKind, Result};

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

/// One open store with its embedders.
#[derive(Debug)]
pub struct Core {
    store: Arc<Store>,
    /// It was closed, and the store with it where nobody else has it open.
    left: AtomicBool,
    read_only: bool,
    busy_timeout: Duration,
    embedders: Embedders,
    /// The built-in embedding's number in this store; 0 until it is known.
    built_in_number: AtomicU16,
    graph: GraphOptions,
    screening: Screening,
    rules: [KindRule; 7],
    accesses: Arc<AccessBuffer>,
    recent_tokens: RecentTokens,
    witness: Option<Arc<dyn Witness>>,
}

/// What became of many rows.
#[derive(Debug)]
pub struct Written {
    /// What became of each, in order.
    pub outcomes: Vec<Result<Remembered>>,
    /// Transactions that it took.
    pub transactions: u64,
}

impl Drop for Core {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Core {
    /// Opens the store at `path`, or makes one there.
    pub fn open(path: &Path, options: EngineOptions) -> Result<Self> {
        Self::open_with_key(path, options, None)
    }

    /// The same for a store that is encrypted, or is made so.
    pub fn open_with_key(path: &Path, options: EngineOptions, key: Option<StoreKey>) -> Result<Self> {
        let store_options = StoreOptions {
            durability: options.durability,
            read_only: options.read_only,
            busy_timeout: options.busy_timeout,
            now: options.now,
        };
        Ok(Self {
            store: key.map_or_else(|| Store::open(path, &store_options), |key| Store::open_encrypted(path, &store_options, key))?,
            left: AtomicBool::new(false),
            read_only: options.read_only,
            busy_timeout: options.busy_timeout,
            embedders: Embedders::new(options.embedding),
            built_in_number: AtomicU16::default(),
            graph: GraphOptions::default(),
            screening: Screening::default(),
            rules: [KindRule::default(); 7],
            accesses: Arc::default(),
            recent_tokens: RecentTokens::default(),
            witness: None,
        })
    }

    /// Opens the store with the built-in embedding, unless it has met another one: then by words alone, because vectors that somebody
    /// paid for are not given up by default. `options.embedding` does not count.
    pub fn open_by_default(path: &Path, options: &EngineOptions, key: Option<StoreKey>) -> Result<Self> {
        let mut core = Self::open_with_key(path, EngineOptions { embedding: None, ..options.clone() }, key)?;
        if core.embeddings()?.iter().all(|known| known.name == Embedding::built_in().name) {
            core.embedders = Embedders::new(Some(Embedding::built_in()));
        }
        Ok(core)
    }

    /// Shows every write from now on to `witness`, with its home.
    pub fn set_witness(&mut self, witness: Arc<dyn Witness>) {
        self.witness = Some(witness);
    }

    /// Sets how graphs over vectors are built and searched.
    pub fn set_graph(&mut self, graph: GraphOptions) -> Result<()> {
        graph.check()?;
        self.graph = graph;
        Ok(())
    }

    /// Sets what is done with secrets and personal data in what is to be stored. Nothing, where nobody says otherwise.
    pub fn set_screening(&mut self, screening: Screening) {
        self.screening = screening;
    }

    /// Sets how long memories of each kind live, in the order of [`Kind::ALL`].
    pub fn set_rules(&mut self, rules: [KindRule; 7]) {
        self.rules = rules;
    }

    /// Days in which memories of each kind lose half of their worth, where the program says so, in the order of [`Kind::ALL`].
    #[must_use]
    pub fn half_lives(&self) -> [Option<f64>; 7] {
        self.rules.map(|rule| rule.half_life.map(|half_life| half_life as f64 / 86_400e6))
    }

    /// Forgets, of each kind that has more memories in a scope than its rule allows, the least valuable; how many.
    pub fn forget_over_cap(&self, scope: &Scope, now: i64) -> Result<u64> {
        let mut forgotten = 0;
        for kind in Kind::ALL {
            let rule = self.rules[kind as usize];
            let Some(cap) = rule.cap else { continue };
            let Some((partition, numbers)) = self.store.read(|snapshot| over_cap(snapshot, scope, kind, rule, cap, now))? else { continue };
            forgotten += self.forget_numbers(scope, partition, (numbers, Which::Current), "over the cap of its kind", now)?.len() as u64;
        }
        Ok(forgotten)
    }

    /// A memory ready to be written, as the policy and the rule of its kind leave it.
    fn prepared(&self, embedder: &Embedder, scope: &Scope, mut new: NewMemory) -> Result<Prepared> {
        new.screen(self.screening);
        add(&self.store.metrics().texts_screened, u64::from(matches!(new.screened, Verdict::Redacted(_) | Verdict::Refused(_))));
        new.default_ttl = self.rules[new.kind as usize].ttl;
        prepare(embedder, scope, self.store.secret(), new)
    }

    /// What is done with secrets and personal data.
    #[must_use]
    pub fn screening(&self) -> Screening {
        self.screening
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

    /// The vector of a question, where the embedding is the built-in one.
    #[must_use]
    pub fn embed_question(&self, question: &str) -> Option<UnitVector> {
        self.embedders.now().embed_question(question)
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

    /// The same for one, counted as reused.
    pub fn known_vector(&self, place: u32, scope: &Scope, new: &NewMemory) -> Result<Option<UnitVector>> {
        let known = self.known_vectors(place, &[(scope, new)])?.pop().flatten();
        add(&self.store.metrics().vectors_reused, u64::from(known.is_some()));
        Ok(known)
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
        self.leave();
        match flushed {
            Err(error) if error.kind() != ErrorKind::Closed => Err(error),
            _ => Ok(()),
        }
    }

    fn leave(&self) {
        if !self.left.swap(true, Ordering::Relaxed) {
            self.forget_tokens();
            self.store.leave();
        }
    }

    pub(crate) fn write<T, F>(&self, operation: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut WriteTransaction<'_>) -> Result<T> + Send + 'static,
    {
        self.check_writable()?;
        interrupt::check()?;
        let (freeing, mut operation) = (reserve::is_freeing(), operation);
        let operation = move |txn: &mut WriteTransaction<'_>| {
            if !freeing {
                txn.require_room()?;
            }
            operation(txn)
        };
        let Some(witness) = self.witness.clone() else { return self.store.write(self.busy_timeout, operation) };
        let mut operation = operation;
        self.store.write(self.busy_timeout, move |txn| {
            txn.record();
            let done = operation(txn);
            let changes = txn.recorded();
            let done = done?;
            witness.written(&scope::homes(txn, changes)?)?;
            Ok(done)
        })
    }

    /// Refuses what a read-only engine must not even begin.
    pub(crate) fn check_writable(&self) -> Result<()> {
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
        let prepared = self.prepared(&embedder, scope, new)?;
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
            match self.prepared(&embedder, &scope, row) {
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
        let screened = revision.text.as_deref().map(|text| self.screening.apply(text));
        if let Some(Screened::Rejected(types)) = &screened {
            let types: Vec<_> = types.iter().map(|one| one.name()).collect();
            let memory = self.get(scope, id, now)?.ok_or_else(|| read::no_such_memory(id))?;
            let reason = Some(format!("the policy refuses: {}", types.join(", ")));
            return Ok(Remembered { action: Action::Rejected, memory, reason });
        }
        let redacted = matches!(screened, Some(Screened::Redacted(..)));
        if let Some(Screened::Redacted(text, _)) = screened {
            (revision.text, revision.vector) = (Some(text), None);
        }
        let vector = revision.vector.take().filter(|_| revision.made_by == embedder.place);
        revision.vector = vector.or_else(|| embedder.embed(revision.text.as_deref()?));
        let (scope, id) = (scope.clone(), id.to_owned());
        self.write(move |txn| {
            let embedding = embedder.number_in_write(txn)?;
            let done = revise::write(txn, &scope, &id, &revision, now, embedding)?;
            Ok(Remembered { action: if redacted { Action::Redacted } else { done.action }, ..done })
        })
    }

    /// Forgets a memory; `false` where it was forgotten before.
    pub fn forget(&self, scope: &Scope, id: &str, reason: Option<&str>, now: i64) -> Result<bool> {
        let (scope, id, reason) = (scope.clone(), id.to_owned(), reason.map(str::to_owned));
        let forgotten = reserve::freeing(|| self.write(move |txn| forget::forget(txn, &scope, &id, reason.as_deref(), now)));
        self.forget_tokens();
        forgotten
    }

    /// Stores claims of one scope in one transaction, with how far their session was learnt from. Nothing is stored where another
    /// process learnt from it meanwhile: `None`.
    pub fn learn(
        &self,
        scope: &Scope,
        claims: Vec<NewMemory>,
        mark: Option<(String, LearnMark, LearnMark)>,
        now: i64,
    ) -> Result<Option<Vec<Remembered>>> {
        let embedder = Arc::clone(self.embedders.now());
        let rows = claims.into_iter().map(|claim| self.prepared(&embedder, scope, claim)).collect::<Result<Vec<_>>>()?;
        let (scope, count) = (scope.clone(), rows.len() as u64);
        let written = self.write(move |txn| {
            let embedding = embedder.number_in_write(txn)?;
            let (partition, seed) = (scope.find_or_make(txn)?, scope.seed(txn.secret()));
            if let Some((session, before, after)) = &mark {
                if learn::mark(txn, partition, seed, session)? != *before {
                    return Ok(None);
                }
                learn::put_mark(txn, partition, seed, session, *after)?;
            }
            remember::write(txn, &scope, &rows, now, embedding)?.into_iter().collect::<Result<Vec<_>>>().map(Some)
        })?;
        let metrics = self.store.metrics();
        add(&metrics.memories_written, count);
        let became = |wanted: fn(Action) -> bool| written.iter().flatten().filter(|done| wanted(done.action)).count() as u64;
        add(&metrics.gate_stored, became(Action::keeps));
        add(&metrics.gate_quarantined, became(|action| action == Action::Quarantined));
        Ok(written)
    }

    /// Counts what the write gate judged.
    pub fn note_judged(&self, categories: impl Iterator<Item = Category>) {
        let metrics = self.store.metrics();
        for category in categories {
            add(&metrics.gate_seen, 1);
            let of_category = match category {
                Category::Preference => &metrics.gate_preference,
                Category::Decision => &metrics.gate_decision,
                Category::TaskOutcome => &metrics.gate_task_outcome,
                Category::Constraint => &metrics.gate_constraint,
                Category::Semantic => &metrics.gate_semantic,
                Category::Episodic => &metrics.gate_episodic,
                Category::Profile => &metrics.gate_profile,
                Category::Discard => &metrics.gate_discard,
            };
            add(of_category, 1);
        }
    }

    /// How far a session was learnt from.
    pub fn learn_mark(&self, scope: &Scope, session: &str) -> Result<LearnMark> {
        self.store.read(|snapshot| match scope.find(snapshot)? {
            Some(partition) => learn::mark(snapshot, partition, scope.seed(snapshot.secret()), session),
            None => Ok(LearnMark::default()),
        })
    }

    /// What waits for somebody to approve it, oldest first.
    pub fn quarantined(&self, scope: &Scope) -> Result<Vec<Memory>> {
        self.store.read(|snapshot| quarantine::list(snapshot, scope))
    }

    /// Remembers what waited, as the user's own word.
    pub fn approve(&self, scope: &Scope, id: &str, now: i64) -> Result<Remembered> {
        let memory = self.get(scope, id, now)?.ok_or_else(|| read::no_such_memory(id))?;
        let embedder = Arc::clone(self.embedders.now());
        let prepared = self.prepared(&embedder, scope, quarantine::approved(&memory))?;
        let (scope, id) = (scope.clone(), id.to_owned());
        self.write(move |txn| {
            let embedding = embedder.number_in_write(txn)?;
            quarantine::approve(txn, &scope, &id, now, embedding, &prepared)
        })
    }

    /// Puts one memory in the place of several, given by number and revision: one of them, or a new text. `None` where one of them is not
    /// what it was any more.
    pub fn merge(
        &self,
        scope: &Scope,
        originals: Vec<(u32, u32)>,
        keep: Option<u32>,
        new: Option<NewMemory>,
        now: i64,
    ) -> Result<Option<Remembered>> {
        let embedder = Arc::clone(self.embedders.now());
        let new = new.map(|new| self.prepared(&embedder, scope, new)).transpose()?;
        let scope = scope.clone();
        self.write(move |txn| {
            let embedding = embedder.number_in_write(txn)?;
            merge::write(txn, &scope, &originals, keep, new.as_ref(), now, embedding)
        })
    }

    /// Forgets all that comes from there; what was (or, in a dry run, would be) forgotten. One transaction a step of [`maintain::STEP`].
    pub fn forget_from(&self, scope: &Scope, origin: &Origin, now: i64, dry_run: bool) -> Result<Vec<Memory>> {
        let found = self.store.read(|snapshot| {
            let Some(partition) = scope.find(snapshot)? else { return Ok(None) };
            let numbers = forget::from_origin(snapshot, partition, origin)?;
            let memories = numbers.iter().map(|number| super::writer::newest(snapshot, partition, *number)).collect::<Result<Vec<_>>>()?;
            Ok(Some((partition, numbers, memories.into_iter().flatten().collect::<Vec<_>>())))
        })?;
        let Some((partition, numbers, memories)) = found else { return Ok(Vec::new()) };
        if dry_run {
            return Ok(memories);
        }
        self.forget_numbers(scope, partition, (numbers, Which::WithWords), "its origin is not trusted any more", now)
    }

    /// Forgets memories by their numbers, one transaction for each step of [`maintain::STEP`]; what they were.
    fn forget_numbers(
        &self,
        scope: &Scope,
        partition: Partition,
        (numbers, which): (Vec<u32>, Which),
        reason: &'static str,
        now: i64,
    ) -> Result<Vec<Memory>> {
        let (seed, mut forgotten) = (scope.seed(self.store.secret()), Vec::new());
        for step in numbers.chunks(maintain::STEP) {
            let step = step.to_vec();
            forgotten.extend(self.write(move |txn| forget::forget_many(txn, partition, seed, (&step, which), reason, now))?);
        }
        self.forget_tokens();
        Ok(forgotten)
    }

    /// Forgets what is neither used nor important; what was (or, in a dry run, would be) forgotten.
    pub fn forget_stale(&self, scope: &Scope, stale: Stale, now: i64, dry_run: bool) -> Result<Vec<Memory>> {
        // What was recalled and is not on disk yet counts in both cases, so that a dry run names what the call removes.
        let buffered = if dry_run || self.read_only { self.store.unforked(|| self.accesses.buffered()) } else { Accesses::default() };
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
                let waiting = buffered.get(&(partition, memory.number)).map_or(0, |access| access.last_seconds);
                let recalled_at = i64::from(access::get(snapshot, partition, memory.number)?.last_seconds.max(waiting)) * 1_000_000;
                if stale.takes(&memory, recalled_at) {
                    found.push(memory);
                }
            }
            Ok((Some(partition), found))
        })?;
        let Some(partition) = partition.filter(|_| !dry_run) else { return Ok(found) };
        let numbers = found.iter().map(|memory| memory.number).collect();
        self.forget_numbers(scope, partition, (numbers, Which::Current), "stale", now)
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

    /// Every revision of a memory and of those whose slot it took, oldest first.
    pub fn history(&self, scope: &Scope, id: &str, now: i64) -> Result<Vec<Memory>> {
        self.store.read(|snapshot| read::history(snapshot, scope, id, now))
    }

    /// Current memories from number `first` on, at most `limit`, of the kinds whose bits are set.
    pub fn memories(&self, scope: &Scope, first: u32, limit: usize, kinds: u8, now: i64) -> Result<Vec<Memory>> {
        self.store.read(|snapshot| read::page(snapshot, scope, first, limit, kinds, now))
    }

    /// Memories in either order, superseded ones among them where asked for, and the number to go on from.
    pub fn listed(&self, scope: &Scope, listing: Listing, from: Option<u32>, limit: usize, now: i64) -> Result<(Vec<Memory>, Option<u32>)> {
        self.store.read(|snapshot| read::listed(snapshot, scope, listing, from, limit, now))
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
            let (partition, seed) = (scope.find_or_make(txn)?, scope.seed(txn.secret()));
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

    /// Notes that memories were recalled; stored with a later write.
    pub fn note_recalled(&self, partition: Partition, numbers: impl Iterator<Item = u32>, now: i64) {
        if !self.read_only {
            self.store.unforked(|| self.accesses.note(partition, numbers, now));
        }
    }

    /// Adds to memories of a partition the recalls of this process that are not on disk yet. Not within a read: it takes its lock.
    pub(crate) fn add_recalls<'n>(&self, partition: Partition, named: impl Iterator<Item = &'n mut Named>) {
        self.store.unforked(|| self.accesses.add_to(partition, named.map(|one| (one.memory.number, &mut one.access))));
    }

    /// Drops the recalls of a partition that are still buffered: it is erased.
    pub(crate) fn forget_recalled(&self, partition: Partition) {
        self.store.unforked(|| self.accesses.forget(partition));
    }

    /// The tokens of texts that were cut lately. Within a read, when no fork can come.
    pub(crate) fn recent_tokens(&self) -> &RecentTokens {
        &self.recent_tokens
    }

    /// Drops the tokens of all texts: some were erased. Not within a read: it takes its lock.
    pub(crate) fn forget_tokens(&self) {
        self.store.unforked(|| self.recent_tokens.forget());
    }

    /// Whether nothing may be written through it.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.read_only
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

    /// How long a write may queue.
    #[must_use]
    pub fn busy_timeout(&self) -> Duration {
        self.busy_timeout
    }
}

/// A memory ready to be written; a vector that another embedder made is none.
fn prepare(embedder: &Embedder, scope: &Scope, secret: Secret, mut new: NewMemory) -> Result<Prepared> {
    new.vector = new.vector.filter(|_| new.made_by == embedder.place);
    let mut prepared = remember::prepare(scope, secret, new)?;
    prepared.fill_vector(|text| embedder.embed(text));
    Ok(prepared)
}

/// The memories of a kind that a scope has above a cap, the least valuable first.
fn over_cap<P: Pages>(
    snapshot: &P,
    scope: &Scope,
    kind: Kind,
    rule: KindRule,
    cap: usize,
    now: i64,
) -> Result<Option<(Partition, Vec<u32>)>> {
    let Some(partition) = scope.find(snapshot)? else { return Ok(None) };
    let (mut values, mut blocks) = (Vec::new(), access::AccessBlocks::new(snapshot, partition));
    let mut memories = Vec::new();
    record::each_current(snapshot, partition, 0, &mut |memory| {
        if memory.kind == kind && !memory.is_expired(now) {
            let uses = memory.provenance.reinforced;
            let age = now - memory.occurred_at.max(memory.provenance.last_seen);
            memories.push((memory.number, memory.importance, memory.confidence, uses, age));
        }
        std::ops::ControlFlow::Continue(())
    })?;
    for (number, importance, confidence, uses, age) in memories {
        let recalls = blocks.get(number)?.recalls;
        let value = rule.value(importance, confidence, uses.saturating_add(recalls), age);
        values.push(((value * f64::from(1u32 << 31)) as u64, number)); // fixed point before values are compared
    }
    values.sort_unstable();
    values.truncate(values.len().saturating_sub(cap));
    Ok(Some((partition, values.into_iter().map(|(_, number)| number).collect())))
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
