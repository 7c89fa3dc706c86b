//! The one gate to a store: who may touch the environment, and when.
//!
//! It opens the environment when it is first needed, once per canonical path in a process; runs every read on a snapshot
//! and every write in a group; follows a store that another process has compacted into a new generation; closes before a
//! fork and opens again behind it; and turns what LMDB would do (wait for ever, crash, create) into typed errors.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

use super::copy;
use super::environment::{Environment, Mode, Snapshot, WriteTransaction};
use super::folder::{Folder, Found, GenerationNumber, corrupt, io_error};
use super::fork::{Renewable, lock, registry};
use super::group_commit::{Committer, Decision, GroupCommit};
use super::identity::{Secret, StoreId};
use super::meta::{self, Meta};
use super::metrics::{Metrics, add};
use super::migrate::{self, Formats};
use super::presence::{Presence, check_file_system};
use super::vault::{StoreKey, Vault, wrong_key};
use super::writer_lock::WriterLock;
use crate::{Error, ErrorKind, Result};

/// How much a commit waits for the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// What is acknowledged is on disk.
    Full,
    /// A power cut may undo the last commit; the death of the process loses nothing.
    Relaxed,
}

/// How a store is opened.
#[derive(Debug, Clone)]
pub struct StoreOptions {
    /// How much a commit waits for the disk.
    pub durability: Durability,
    /// Refuse every write, and make nothing.
    pub read_only: bool,
    /// How long a write may queue before [`ErrorKind::StoreBusy`].
    pub busy_timeout: Duration,
    /// The time a new store is said to be made at, microseconds since 1970 (UTC).
    pub now: i64,
}

/// A store, open in this process.
#[derive(Debug)]
pub struct Store {
    folder: Folder,
    formats: Formats,
    modes: Modes,
    pub(super) gate: Renewable<Gate>,
    metrics: Metrics,
    /// How many opened it and did not leave. Not the count of references: a fork of another thread holds one for a moment, and its
    /// child for ever.
    handles: AtomicUsize,
    /// Which store it was when it was first opened: what is at the path later must be the same.
    identity: OnceLock<Identity>,
    /// What opens it, where it is encrypted. Taken with the gate's lock held, so that no fork finds it taken.
    key: Mutex<Option<Arc<StoreKey>>>,
}

/// What the handles that share this store need of it. No lock: the child of a fork might find it taken for ever.
#[derive(Debug)]
struct Modes {
    writable: AtomicBool,
    full: AtomicBool,
    /// How long opening may wait where no call says so: milliseconds.
    patience: AtomicU64,
}

/// Which store it is. What its hashes are keyed with changes where an empty store takes what was exported from another: then it is
/// appended. No lock: the child of a fork might find it taken for ever.
#[derive(Debug)]
struct Identity {
    store: Option<StoreId>,
    secret: Secret,
    next: OnceLock<Box<Self>>,
}

impl Identity {
    fn new(store: Option<StoreId>, secret: Secret) -> Self {
        Self { store, secret, next: OnceLock::new() }
    }

    fn newest(&self) -> &Self {
        std::iter::successors(Some(self), |one| one.next.get().map(|next| &**next)).last().unwrap_or(self)
    }

    /// Whether it is this store, whose secret is noted.
    fn is_still(&self, store: Option<StoreId>, secret: Secret) -> bool {
        let newest = self.newest();
        if newest.store == store && newest.secret != secret {
            let _ = newest.next.set(Box::new(Self::new(store, secret))); // one thread opens a store at a time
        }
        newest.store == store
    }
}

/// Replaced as a whole in the child of a fork.
#[derive(Debug)]
pub struct Gate {
    pub(super) state: RwLock<State>,
    group: GroupCommit,
}

impl Gate {
    pub(super) fn new(state: State) -> Self {
        Self { state: RwLock::new(state), group: GroupCommit::default() }
    }
}

/// Where the environment is.
#[derive(Debug)]
pub enum State {
    /// Not open (not yet, or because of a fork): opened by whoever needs it next.
    Suspended,
    /// Open.
    Open(Box<Opened>),
    /// Closed for good.
    Closed,
}

/// What is open of a store. The environment is dropped first: LMDB lets go of its files before the presence lock goes.
#[derive(Debug)]
pub struct Opened {
    environment: Environment,
    lock: Option<WriterLock>,
    presence: Option<Presence>,
}

impl Opened {
    /// Closes the environment. The last process to do so says that nobody has it open any more.
    fn close(self) {
        if self.lock.is_some() && self.presence.as_ref().is_some_and(Presence::is_last) {
            self.environment.mark_closed();
        }
        self.environment.close();
    }
}

impl State {
    pub(super) fn suspend(&mut self) {
        if let Self::Open(_) = self {
            self.close(Self::Suspended);
        }
    }

    fn close(&mut self, next: Self) {
        if let Self::Open(opened) = std::mem::replace(self, next) {
            opened.close();
        }
    }
}

/// How often a call opens the store anew because its files were replaced under it: by somebody, or by one compaction after another.
const MOST_REOPENINGS: usize = 20;

impl Store {
    /// Opens the store at `path`, or makes one there; a store that is open in this process is shared.
    pub fn open(path: &Path, options: &StoreOptions) -> Result<Arc<Self>> {
        Self::open_with(path, options, Formats::KNOWN, None)
    }

    /// The same for a store that is encrypted, or is made so.
    pub fn open_encrypted(path: &Path, options: &StoreOptions, key: StoreKey) -> Result<Arc<Self>> {
        Self::open_with(path, options, Formats::KNOWN, Some(Arc::new(key)))
    }

    /// The same for an engine that knows other formats.
    pub(super) fn open_with(path: &Path, options: &StoreOptions, formats: Formats, key: Option<Arc<StoreKey>>) -> Result<Arc<Self>> {
        let folder = Folder::new(path.to_owned());
        if folder.look()? == Found::Nothing {
            if options.read_only {
                return Err(Error::new(
                    ErrorKind::NotFound,
                    format!(
                        "opening {} read-only: a store must be there, and there is none: check the path, or open it without read_only",
                        path.display()
                    ),
                ));
            }
            folder.make()?;
        }
        let root = path.canonicalize().map_err(|e| io_error("opening the store", path, &e))?;
        check_file_system(&root)?;
        let store = Self::shared(&root, options, formats, key.clone());
        store.check_key(key.as_ref()).and_then(|()| store.check(options)).inspect_err(|_| store.leave())?;
        Ok(store)
    }

    /// Says that one who opened it is done with it; the last one closes it.
    pub fn leave(&self) {
        let registry = lock(registry());
        let is_last = self.handles.fetch_sub(1, Relaxed) == 1;
        if is_last {
            self.close();
        }
        drop(registry); // nobody is given a store that closes now
    }

    /// The store of this process at `root`, made where it is missing.
    fn shared(root: &Path, options: &StoreOptions, formats: Formats, key: Option<Arc<StoreKey>>) -> Arc<Self> {
        let mut registry = lock(registry());
        registry.retain(|weak| weak.strong_count() > 0);
        let open = registry.iter().filter_map(std::sync::Weak::upgrade).find(|store| store.folder.root() == root && !store.is_closed());
        if let Some(store) = open {
            store.handles.fetch_add(1, Relaxed);
            return store;
        }
        let full = options.durability == Durability::Full;
        let patience = AtomicU64::new(options.busy_timeout.as_millis() as u64);
        let modes = Modes { writable: AtomicBool::new(!options.read_only), full: AtomicBool::new(full), patience };
        let store = Arc::new(Self {
            folder: Folder::new(root.to_owned()),
            formats,
            modes,
            gate: Renewable::new(Gate::new(State::Suspended)),
            metrics: Metrics::default(),
            handles: AtomicUsize::new(1),
            identity: OnceLock::new(),
            key: Mutex::new(key),
        });
        registry.push(Arc::downgrade(&store));
        store
    }

    /// Whoever shares an open store must have its key.
    fn check_key(&self, given: Option<&Arc<StoreKey>>) -> Result<()> {
        let known = self.unforked(|| lock(&self.key).clone());
        match (known.is_some(), given.is_some()) {
            _ if known.as_ref() == given => Ok(()),
            (_, false) => Err(wrong_key(self.folder.root(), "missing", "the store is encrypted, and no key was given: open it with key=")),
            (true, true) => {
                Err(wrong_key(self.folder.root(), "wrong", "the key is not the one that this process has it open with: give that one"))
            }
            (false, true) => {
                Err(wrong_key(self.folder.root(), "not encrypted", "a key was given, and the store is open without one: open it without"))
            }
        }
    }

    /// Makes or repairs what is on disk, opens it, and reads its first record.
    fn check(&self, options: &StoreOptions) -> Result<()> {
        self.widen(options)?;
        let deadline = Instant::now() + options.busy_timeout;
        if self.folder.look()? == Found::Nothing {
            self.create(deadline, options.now)?;
        }
        self.migrate(deadline, options.read_only)?;
        let meta = self.read(Meta::read)?;
        if meta.is_none() {
            return Err(corrupt(self.folder.root(), "the store has no meta record: it was damaged, or written by something else"));
        }
        if !options.read_only && self.unverified()?.is_none() {
            self.repair()?;
        }
        Ok(())
    }

    /// Why nothing vouches for what is in the store, if so: then all of it is to be read before it is used, and [`Self::vouch`] to be called.
    pub fn unverified(&self) -> Result<Option<&'static str>> {
        let state = self.opened(self.gate.get())?;
        let State::Open(opened) = &*state else { return Ok(None) };
        Ok(opened.environment.unverified())
    }

    /// Says that all of the store was read and found whole.
    pub fn vouch(&self, busy_timeout: Duration) -> Result<()> {
        let deadline = Instant::now() + busy_timeout;
        let mut state = self.gate.get().state.write().unwrap_or_else(PoisonError::into_inner);
        if let State::Open(opened) = &mut *state {
            let Opened { environment, lock, .. } = &mut **opened;
            let _guard = lock.as_ref().map(|lock| lock.acquire(deadline)).transpose()?;
            environment.vouch(lock.is_some() && self.modes.writable.load(Relaxed))?;
        }
        drop(state);
        if self.modes.writable.load(Relaxed) { self.repair() } else { Ok(()) }
    }

    /// A second handle may need more than the first: writing, or full durability.
    fn widen(&self, options: &StoreOptions) -> Result<()> {
        let full = options.durability == Durability::Full;
        let reopen = !self.modes.writable.fetch_or(!options.read_only, Relaxed) && !options.read_only;
        let sync_meta = !self.modes.full.fetch_or(full, Relaxed) && full;
        if !reopen && !sync_meta {
            return Ok(()); // and do not wait for a compaction that is under way
        }
        let mut state = self.gate.get().state.write().unwrap_or_else(PoisonError::into_inner);
        if reopen {
            state.suspend();
        }
        match &*state {
            State::Open(opened) if sync_meta => opened.environment.set_relaxed(false),
            _ => Ok(()),
        }
    }

    fn create(&self, deadline: Instant, now: i64) -> Result<()> {
        let _no_fork = self.gate.get().state.write().unwrap_or_else(PoisonError::into_inner);
        let writers = WriterLock::open(self.folder.root())?;
        let _guard = writers.acquire(deadline)?;
        if self.folder.look()? == Found::Store {
            return Ok(()); // another process was faster
        }
        let workshop = self.folder.workshop(1)?;
        let (id, secret) = (StoreId::random()?, Secret::random()?);
        let secret = Secret { terms_keyed: lock(&self.key).is_some(), ..secret };
        let sealed = lock(&self.key).as_ref().map(|key| Vault::new()?.seal_for(key, secret)).transpose()?;
        let environment = Environment::build(&workshop, 1, self.mode(true), id, secret)?;
        let mut txn = environment.write()?;
        Meta { format: self.formats.newest, created_at: now, store: Some(id), generation: 1, secret, sealed }.write(&mut txn)?;
        txn.commit()?;
        environment.finish(id)?;
        self.folder.publish(&workshop, 1)?;
        self.folder.name_current(1)
    }

    /// Brings a store of an older format to this engine's, unless it is open here and so has been.
    fn migrate(&self, deadline: Instant, read_only: bool) -> Result<()> {
        if matches!(*self.gate.get().state.read().unwrap_or_else(PoisonError::into_inner), State::Open(_)) {
            return Ok(());
        }
        let state = self.gate.get().state.write().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Open(_)) { Ok(()) } else { migrate::to_newest(&self.folder, self.formats, read_only, deadline) }
    }

    /// What its hashes are keyed with.
    #[must_use]
    pub fn secret(&self) -> Secret {
        self.identity.get().map_or_else(Secret::default, |identity| identity.newest().secret)
    }

    /// Whether its values are encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.unforked(|| lock(&self.key).is_some())
    }

    /// What this process opens the store with.
    pub(super) fn key(&self) -> Option<Arc<StoreKey>> {
        lock(&self.key).clone()
    }

    /// Makes `key` the one that this process opens the store with from now on. To be called within [`Self::exclusively`].
    pub(super) fn exchange_key(&self, key: Option<Arc<StoreKey>>) {
        *lock(&self.key) = key;
    }

    /// Forgets data keys and decrypted values.
    pub fn forget_decrypted(&self) {
        if let State::Open(opened) = &*self.gate.get().state.read().unwrap_or_else(PoisonError::into_inner)
            && let Some(vault) = opened.environment.vault()
        {
            vault.forget();
        }
    }

    /// The format of its bytes.
    #[must_use]
    pub fn format(&self) -> u32 {
        self.formats.newest
    }

    /// Makes CURRENT name the generation in use and removes those it left behind, if nobody is writing just now.
    fn repair(&self) -> Result<()> {
        let gate = self.gate.get();
        let state = self.opened(gate)?;
        let State::Open(opened) = &*state else { return Ok(()) };
        let number = opened.environment.number();
        if self.folder.is_tidy(number)? {
            return Ok(());
        }
        let Some(Ok(_guard)) = opened.lock.as_ref().map(|lock| lock.acquire(Instant::now())) else { return Ok(()) };
        copy::tidy(&self.folder, &opened.environment, number)
    }

    fn mode(&self, building: bool) -> Mode {
        Mode {
            read_only: !self.modes.writable.load(Relaxed),
            relaxed: !self.modes.full.load(Relaxed),
            building,
            format: self.formats.newest,
        }
    }

    /// The store's folder.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.root().to_owned()
    }

    /// The number of the generation in use, and the bytes of its data file.
    pub fn size(&self) -> Result<(GenerationNumber, u64)> {
        let state = self.opened(self.gate.get())?;
        let State::Open(opened) = &*state else { return Err(self.closed()) };
        Ok((opened.environment.number(), opened.environment.sizes()?.0))
    }

    /// The files of the store.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// What happened since the store was opened.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// Runs `work`, which takes a lock of its own, at a time when no fork can come: the child would find that lock taken by a
    /// thread that does not exist in it. `work` must not use the store.
    pub fn unforked<T>(&self, work: impl FnOnce() -> T) -> T {
        let _no_fork = self.gate.get().state.read().unwrap_or_else(PoisonError::into_inner);
        work()
    }

    /// Runs `work` on a snapshot of what is committed now.
    pub fn read<T>(&self, work: impl FnOnce(&Snapshot) -> Result<T>) -> Result<T> {
        add(&self.metrics.reads, 1);
        let mut reopened = 0;
        loop {
            let state = self.opened(self.gate.get())?;
            let State::Open(opened) = &*state else { continue };
            match opened.environment.snapshot() {
                Err(error) if error.kind() == ErrorKind::MapResized => {
                    drop(state);
                    self.adopt_map_size()?;
                }
                Err(error) if error.kind() == ErrorKind::FilesReplaced && reopened < MOST_REOPENINGS => {
                    drop(state);
                    self.suspend();
                    reopened += 1;
                }
                Err(error) => return Err(error),
                Ok(snapshot) => match meta::retired(&snapshot)? {
                    None => return work(&snapshot),
                    Some(next) => {
                        drop(snapshot);
                        drop(state);
                        self.follow(next)?;
                    }
                },
            }
        }
    }

    /// Runs `operation` in a write transaction and returns its result when the commit is durable.
    ///
    /// The operation may run more than once and on another thread of this process, each time on a clean transaction.
    pub fn write<T, F>(&self, busy_timeout: Duration, mut operation: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut WriteTransaction<'_>) -> Result<T> + Send + 'static,
    {
        let result = Arc::new(Mutex::new(None));
        let kept = Arc::clone(&result);
        let deadline = Instant::now() + busy_timeout;
        let operation = Box::new(move |txn: &mut WriteTransaction<'_>| {
            let value = operation(txn)?;
            *lock(&kept) = Some(value);
            Ok(())
        });
        self.gate.get().group.write(self, &self.metrics, deadline, operation)?;
        lock(&result)
            .take()
            .ok_or_else(|| Error::new(ErrorKind::StoreIo, "writing to the store: the operation left no result: please report it"))
    }

    /// The environment, opened if it is not, behind a lock that keeps it open.
    fn opened<'g>(&self, gate: &'g Gate) -> Result<RwLockReadGuard<'g, State>> {
        loop {
            let state = gate.state.read().unwrap_or_else(PoisonError::into_inner);
            match *state {
                State::Open(_) => return Ok(state),
                State::Closed => return Err(self.closed()),
                State::Suspended => {}
            }
            drop(state);
            let mut state = gate.state.write().unwrap_or_else(PoisonError::into_inner);
            if matches!(*state, State::Suspended) {
                *state = State::Open(Box::new(self.open_newest()?));
            }
        }
    }

    /// Opens the generation in use, beginning where CURRENT points and following what is retired.
    fn open_newest(&self) -> Result<Opened> {
        let deadline = Instant::now() + Duration::from_millis(self.modes.patience.load(Relaxed));
        let mode = self.mode(false);
        let writable = |result: Result<_>| if mode.read_only { Ok(result.ok()) } else { result.map(Some) };
        let presence = match Presence::announce(self.folder.root(), deadline) {
            Err(error) if mode.read_only && error.kind() == ErrorKind::ReadOnly => None,
            other => Some(other?),
        };
        let lock = writable(WriterLock::open(self.folder.root()))?;
        let mut number = self.folder.start()?;
        let mut tries = 0;
        loop {
            match self.open_generation(number, mode, deadline) {
                Ok((environment, None)) => return self.recognise(Opened { environment, lock, presence }),
                Ok((environment, Some(next))) => {
                    environment.close();
                    number = next;
                }
                // It was swept between reading CURRENT and opening: read again, and never create.
                Err(_) if tries < 100 && !self.folder.generation(number).is_dir() => {
                    tries += 1;
                    number = self.folder.start()?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// What is at the path must be the store that was there before.
    fn recognise(&self, opened: Opened) -> Result<Opened> {
        let (store, secret) = opened.environment.identity();
        if self.identity.get_or_init(|| Identity::new(store, secret)).is_still(store, secret) {
            return Ok(opened);
        }
        opened.environment.close();
        Err(corrupt(self.folder.root(), "another store took the place of the one that this process had opened; close it and open it again"))
    }

    fn open_generation(&self, number: GenerationNumber, mode: Mode, deadline: Instant) -> Result<(Environment, Option<GenerationNumber>)> {
        let mut environment = Environment::open(&self.folder, number, mode, deadline)?;
        if !mode.read_only {
            environment.clear_stale_readers()?;
        }
        let next = meta::retired(&environment.snapshot()?)?;
        let key = lock(&self.key).clone();
        match if next.is_none() { environment.unlock(self.folder.root(), key.as_deref()) } else { Ok(()) } {
            Ok(()) => Ok((environment, next)),
            Err(error) => {
                environment.close();
                Err(error)
            }
        }
    }

    /// Moves on to the generation that replaced the open one.
    fn follow(&self, next: GenerationNumber) -> Result<()> {
        let mut state = self.gate.get().state.write().unwrap_or_else(PoisonError::into_inner);
        if matches!(&*state, State::Open(opened) if opened.environment.number() < next) {
            state.suspend();
            *state = State::Open(Box::new(self.open_newest()?));
            add(&self.metrics.generations_followed, 1);
        }
        Ok(())
    }

    fn suspend(&self) {
        self.gate.get().state.write().unwrap_or_else(PoisonError::into_inner).suspend();
    }

    fn adopt_map_size(&self) -> Result<()> {
        let state = self.gate.get().state.write().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Open(opened) => opened.environment.adopt_map_size(),
            _ => Ok(()),
        }
    }

    /// Runs `work` with the writer lock held and no transaction open: for what replaces the generation.
    pub fn exclusively<T>(&self, busy_timeout: Duration, work: impl Fn(&Environment) -> Result<T>) -> Result<T> {
        let deadline = Instant::now() + busy_timeout;
        let mut reopened = 0;
        loop {
            let state = self.opened(self.gate.get())?;
            let State::Open(opened) = &*state else { continue };
            let acquired = self.writer_lock(opened)?.acquire(deadline);
            let replaced = matches!(&acquired, Err(error) if error.kind() == ErrorKind::FilesReplaced);
            if replaced && reopened < MOST_REOPENINGS {
                drop(acquired);
                drop(state);
                self.suspend();
                reopened += 1;
                continue;
            }
            let guard = acquired?;
            // Not within the `match`: it would keep the snapshot to its end, and an environment closes only when none is left.
            let retired = meta::retired(&opened.environment.snapshot()?)?;
            match retired {
                None => return work(&opened.environment),
                Some(next) => {
                    drop(guard);
                    drop(state);
                    self.follow(next)?;
                }
            }
        }
    }

    fn writer_lock<'o>(&self, opened: &'o Opened) -> Result<&'o WriterLock> {
        opened.lock.as_ref().ok_or_else(|| {
            Error::new(
                ErrorKind::ReadOnly,
                format!("writing to the store {}: it was opened with read_only=True: open it again without", self.folder.root().display()),
            )
        })
    }

    /// Closes the store for this process: what is under way finishes, what comes later is refused.
    pub fn close(&self) {
        let mut state = self.gate.get().state.write().unwrap_or_else(PoisonError::into_inner);
        state.close(State::Closed);
        *state = State::Closed;
    }

    fn is_closed(&self) -> bool {
        matches!(*self.gate.get().state.read().unwrap_or_else(PoisonError::into_inner), State::Closed)
    }

    fn closed(&self) -> Error {
        Error::new(
            ErrorKind::Closed,
            format!("using the store {}: it was closed: open it again with memspan.open()", self.folder.root().display()),
        )
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.close();
    }
}

impl Committer for Store {
    fn transact(&self, deadline: Instant, work: &mut dyn FnMut(&mut WriteTransaction<'_>) -> Decision) -> Result<()> {
        let mut reopened = 0;
        loop {
            let state = self.opened(self.gate.get())?;
            let State::Open(opened) = &*state else { continue };
            let attempt = self.attempt(opened, deadline, work);
            drop(state);
            match attempt {
                Ok(None) => return Ok(()),
                Ok(Some(next)) => self.follow(next)?,
                Err(error) if error.kind() == ErrorKind::MapResized => self.adopt_map_size()?,
                // Told before anything was written.
                Err(error) if error.kind() == ErrorKind::FilesReplaced && reopened < MOST_REOPENINGS => {
                    self.suspend();
                    reopened += 1;
                }
                Err(error) => {
                    self.start_afresh(&error);
                    return Err(error);
                }
            }
        }
    }
}

impl Store {
    /// LMDB refuses every write after it failed to write a meta page, until the environment is opened anew; so it is, by
    /// whoever needs it next, after any failure of the disk.
    fn start_afresh(&self, error: &Error) {
        if matches!(error.kind(), ErrorKind::StoreFull | ErrorKind::StoreIo | ErrorKind::OutcomeUnknown) {
            self.suspend();
        }
    }

    /// One transaction in the open generation; the number of the next one, if it has been retired.
    fn attempt(
        &self,
        opened: &Opened,
        deadline: Instant,
        work: &mut dyn FnMut(&mut WriteTransaction<'_>) -> Decision,
    ) -> Result<Option<GenerationNumber>> {
        let environment = &opened.environment;
        let _guard = self.writer_lock(opened)?.acquire(deadline)?;
        loop {
            let mut txn = environment.write()?;
            if let Some(next) = meta::retired(&txn)? {
                return Ok(Some(next));
            }
            match work(&mut txn) {
                Decision::Again => {}
                Decision::Nothing => return Ok(None),
                Decision::Commit => {
                    let id = txn.id();
                    txn.commit().map_err(|error| outcome(environment, id, error))?;
                    let _ = environment.grow_ahead(); // a full disk is told by the next commit that needs the room
                    return Ok(None);
                }
            }
        }
    }
}

/// A failed commit: known not to have happened where the disk was full, unknown where a sync failed.
fn outcome(environment: &Environment, transaction: u64, error: Error) -> Error {
    if error.kind() != ErrorKind::StoreIo {
        return error;
    }
    if !environment.may_show(transaction)
        && let Err(full) = environment.find_room()
        && full.kind() == ErrorKind::StoreFull
    {
        return full;
    }
    Error::new(
        ErrorKind::OutcomeUnknown,
        format!(
            "{}; whether this write is on disk is unknown (generation {}): read it back before writing it again, and give it an id so that a retry is harmless",
            error.message(),
            environment.number()
        ),
    )
    .with("outcome", "unknown")
}
