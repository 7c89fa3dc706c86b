//! The core: one open store, its embedders and what was recalled; and what can be done with the memories in it.
//!
//! The rooms above take this and no engine: recall, collections and sessions need no more. Every call takes the time from its caller, so that the same calls give the same bytes. Nothing here asks a model: a caller's
//! vectors come in ready made. Where the embedding is the built-in one, a text that comes without a vector gets it here, before the
//! transaction.

mod embed;
mod forget;
mod remember;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::time::Duration;

use crate::index::vectors::graph::GraphOptions;
use crate::interrupt;
use crate::limits::DEFAULT_BUSY_TIMEOUT;
use crate::memory::access::{self, AccessBuffer};
use crate::memory::conditions::check_conditions;
use crate::memory::embedders::Embedders;
use crate::memory::embedding::Embedding;
use crate::memory::heard::{self, LearnMark};
use crate::memory::kind::KindRule;
use crate::memory::named::Named;
use crate::memory::new_memory::{check_length, normal_slot};
use crate::memory::quarantine;
use crate::memory::read::{self, Listing};
use crate::memory::record::Memory;
use crate::memory::slots::{self, Slot};
use crate::memory::superseded::{self, ByMessage, Superseded};
use crate::scope::{self, Head, Scope, Witness};
use crate::store::environment::WriteTransaction;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::store::vault::StoreKey;
use crate::store::{Durability, Store, StoreOptions, reserve};
use crate::text::screening::Screening;
use crate::{Error, ErrorKind, Result};

pub use remember::Written;

/// How an engine is opened.
#[derive(Debug, Clone)]
pub struct EngineOptions {
    /// How much a commit waits for the disk.
    pub durability: Durability,
    /// Refuse every write.
    pub read_only: bool,
    /// How long a write may queue.
    pub busy_timeout: Duration,
    /// The embedding that makes the vectors, where there is one.
    pub embedding: Option<Embedding>,
    /// The time now, microseconds since 1970 (UTC).
    pub now: i64,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self { durability: Durability::default(), read_only: false, busy_timeout: DEFAULT_BUSY_TIMEOUT, embedding: None, now: 0 }
    }
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
    superseded: Superseded,
    witness: Option<Arc<dyn Witness>>,
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

    /// Opens the store at `path`, or makes one there: encrypted, where there is a key.
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
            superseded: Superseded::default(),
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

    /// The superseded memories of a scope by the messages that taught them. Reads all that ended, where one more did since. It is
    /// called in a read of the store, which a fork waits for: so it may not wait for forks itself.
    pub(crate) fn superseded<P: Pages>(&self, pages: &P, partition: Partition) -> Result<Arc<ByMessage>> {
        let ended = superseded::ended(pages, partition)?;
        if let Some(kept) = self.superseded.kept(partition, ended) {
            return Ok(kept);
        }
        let found = Arc::new(superseded::read(pages, partition)?);
        self.superseded.keep(partition, ended, &found);
        Ok(found)
    }

    /// Sets what is done with secrets and personal data in what is to be stored. Nothing, where nobody says otherwise.
    pub fn set_screening(&mut self, screening: Screening) {
        self.screening = screening;
    }

    /// Sets how long memories of each kind live, in the order of [`Kind::ALL`](crate::memory::Kind::ALL).
    pub fn set_rules(&mut self, rules: [KindRule; 7]) {
        self.rules = rules;
    }

    /// Days in which memories of each kind lose half of their worth, where the program says so, in the order of [`Kind::ALL`](crate::memory::Kind::ALL).
    #[must_use]
    pub fn half_lives(&self) -> [Option<f64>; 7] {
        self.rules.map(|rule| rule.half_life.map(|half_life| half_life as f64 / 86_400e6))
    }

    /// The policy for secrets and personal data.
    #[must_use]
    pub fn screening(&self) -> Screening {
        self.screening
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

    /// Stores recalls that are still buffered and closes the store unless others of this process use it. Recalls that cannot be stored,
    /// because the disk is full, the store has another key by now, or its folder was removed or replaced, are lost. It stays open where the
    /// caller is interrupted while calls under way are waited for.
    pub fn close(&self) -> Result<()> {
        let flushed = if self.read_only { Ok(0) } else { self.flush_accesses() };
        let is_lost = flushed.is_err() && self.store.is_gone();
        self.store.await_calls()?;
        self.leave();
        match flushed {
            Err(error) if !is_lost && !matches!(error.kind(), ErrorKind::Closed | ErrorKind::StoreFull | ErrorKind::WrongKey) => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether it was closed.
    #[must_use]
    pub fn has_left(&self) -> bool {
        self.left.load(Ordering::Relaxed)
    }

    fn leave(&self) {
        if !self.left.swap(true, Ordering::Relaxed) {
            self.store.leave();
        }
    }

    pub(crate) fn write<T, F>(&self, operation: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut WriteTransaction<'_>) -> Result<T> + Send + 'static,
    {
        self.write_within(self.busy_timeout, operation)
    }

    /// Runs a write of a caller who waits no longer than `most` for other writers.
    pub(crate) fn write_within<T, F>(&self, most: Duration, operation: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut WriteTransaction<'_>) -> Result<T> + Send + 'static,
    {
        let busy_timeout = most.min(self.busy_timeout);
        self.check_writable()?;
        interrupt::check()?;
        let (reach, mut operation) = (reserve::reach(), operation);
        let operation = move |txn: &mut WriteTransaction<'_>| {
            txn.require_room(reach)?;
            txn.begin_operation();
            let done = operation(txn)?;
            txn.check_whole()?;
            txn.written().iter().try_for_each(|partition| scope::check_kept(txn, *partition))?;
            Ok(done)
        };
        let Some(witness) = self.witness.clone() else { return self.store.write(busy_timeout, operation) };
        let mut operation = operation;
        self.store.write(busy_timeout, move |txn| {
            txn.record();
            let done = operation(txn);
            let changes = txn.recorded();
            let done = done?;
            witness.written(&scope::homes(txn, changes)?)?;
            Ok(done)
        })
    }

    /// Runs a write of what looks at a partition by its number, in a transaction of its own: it is skipped where the partition was erased
    /// or dropped meanwhile.
    pub(crate) fn write_to<T, F>(&self, partition: Partition, mut operation: F) -> Result<T>
    where
        T: Default + Send + 'static,
        F: FnMut(&mut WriteTransaction<'_>) -> Result<T> + Send + 'static,
    {
        self.write(move |txn| if scope::is_dropped(txn, partition)? { Ok(T::default()) } else { operation(txn) })
    }

    /// A scope for a call of many writes, which ends with `NotFound` where the scope is erased after this.
    pub fn begun(&self, scope: &Scope) -> Result<Scope> {
        let scope = scope.begun();
        self.store.read(|snapshot| scope.find(snapshot))?;
        Ok(scope)
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

    /// How far a session was learnt from.
    pub fn learn_mark(&self, scope: &Scope, session: &str) -> Result<LearnMark> {
        self.store.read(|snapshot| match scope.find(snapshot)? {
            Some(partition) => heard::mark(snapshot, partition, scope.seed(snapshot.secret()), session),
            None => Ok(LearnMark::default()),
        })
    }

    /// Memories that wait for somebody to approve them, oldest first.
    pub fn quarantined(&self, scope: &Scope) -> Result<Vec<Memory>> {
        self.store.read(|snapshot| quarantine::list(snapshot, scope))
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
    ///
    /// # Errors
    /// `InvalidInput` for conditions on metadata that cannot be met.
    pub fn listed(
        &self,
        scope: &Scope,
        listing: &Listing,
        from: Option<u32>,
        limit: usize,
        now: i64,
    ) -> Result<(Vec<Memory>, Option<u32>)> {
        check_conditions("listing memories", &listing.metadata)?;
        self.store.read(|snapshot| read::listed(snapshot, scope, listing, from, limit, now))
    }

    /// The slots of a scope with the memories that hold them; all of them, or the one of that name.
    pub fn slots(&self, scope: &Scope, only: Option<&str>, now: i64) -> Result<Vec<(Slot, Vec<Memory>)>> {
        let only = only.map(normal_slot).transpose()?;
        self.store.read(|snapshot| read::slots(snapshot, scope, only.as_deref(), now))
    }

    /// Says whether a slot holds several values at a time.
    pub fn declare_slot(&self, scope: &Scope, name: &str, multi: bool) -> Result<()> {
        check_length("declaring a slot", "slot", name, "")?;
        let (scope, name) = (scope.clone(), normal_slot(name)?);
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

    /// Whether nothing may be written through it.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Stores the recalls that are still buffered; of how many memories. Those of a scope that was erased meanwhile go, and where the write
    /// fails they wait for the next.
    pub fn flush_accesses(&self) -> Result<u64> {
        let accesses = Arc::new(self.store.unforked(|| self.accesses.take()));
        if accesses.is_empty() {
            return Ok(0);
        }
        let taken = Arc::clone(&accesses);
        let stored = self.write(move |txn| {
            let live = access::of_scopes(txn, &taken)?;
            access::store(txn, &live).map(|()| live.len() as u64)
        });
        stored.inspect_err(|_| self.store.unforked(|| self.accesses.give_back(&accesses)))
    }

    /// Stores the recalls that are still buffered before other work, which a full disk does not keep from being done: there the recalls
    /// wait. Returns how many memories they are of.
    pub fn flush_accesses_if_there_is_room(&self) -> Result<u64> {
        match self.flush_accesses() {
            Err(error) if error.kind() == ErrorKind::StoreFull => Ok(0),
            stored => stored,
        }
    }

    /// How long a write may queue.
    #[must_use]
    pub fn busy_timeout(&self) -> Duration {
        self.busy_timeout
    }
}
