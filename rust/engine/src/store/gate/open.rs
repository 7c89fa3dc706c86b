//! Opening a store: found or made, brought to the newest format, shared within a process, repaired.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::{Counted, Durability, Gate, Identity, Modes, Opened, State, Store, StoreOptions};
use crate::process::{Renewable, lock};
use crate::store::environment::{Environment, Mode};
use crate::store::folder::{Folder, Found, GenerationNumber, Manifest, corrupt, io_error};
use crate::store::fork::registry;
use crate::store::generation;
use crate::store::identity::{Secret, StoreId};
use crate::store::meta::{self, Meta};
use crate::store::metrics::Metrics;
use crate::store::migrate::{self, Formats};
use crate::store::presence::{Presence, check_file_system};
use crate::store::read_lock::ReadLock;
use crate::store::vault::{StoreKey, Vault, wrong_key};
use crate::store::writer_lock::WriterLock;
use crate::{Error, ErrorKind, Result};

impl Store {
    /// Opens the store at `path`, or makes one there; a store that is open in this process is shared.
    pub fn open(path: &Path, options: &StoreOptions) -> Result<Arc<Self>> {
        Self::open_with(path, options, Formats::KNOWN, None)
    }

    /// Opens a store that is encrypted, or is made so.
    pub fn open_encrypted(path: &Path, options: &StoreOptions, key: StoreKey) -> Result<Arc<Self>> {
        Self::open_with(path, options, Formats::KNOWN, Some(&Arc::new(key)))
    }

    /// Opens a store for an engine that knows other formats.
    pub(in crate::store) fn open_with(
        path: &Path,
        options: &StoreOptions,
        formats: Formats,
        key: Option<&Arc<StoreKey>>,
    ) -> Result<Arc<Self>> {
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
            refuse_removed(path)?;
            folder.make()?;
        }
        let root = path.canonicalize().map_err(|e| io_error("opening the store", path, &e))?;
        check_file_system(&root)?;
        let store = Self::shared(&root, options, formats, key.cloned());
        let checked = store.look_again().and_then(|()| store.check_key(key)).and_then(|()| store.check(options));
        checked.inspect_err(|_| store.leave())?;
        Ok(store)
    }

    /// Says that one who opened it is done with it; the last one closes it.
    pub fn leave(&self) {
        let registry = lock(registry());
        let is_last = self.handles.fetch_sub(1, Relaxed) == 1;
        self.closing.store(false, Relaxed); // of a wait that found another handle
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
            closing: AtomicBool::new(false),
            openings: Arc::default(),
            identity: OnceLock::new(),
            key: Mutex::new(key),
        });
        registry.push(Arc::downgrade(&store));
        store
    }

    /// Closes the files that are open where others are at their paths by now. The next call opens those, and refuses them where they are of
    /// another store.
    pub fn look_again(&self) -> Result<()> {
        let is_elsewhere = match &*self.gate.get().state.read().unwrap_or_else(PoisonError::into_inner) {
            State::Open(current) => !current.get().environment.is_in_place(),
            _ => false,
        };
        if is_elsewhere {
            if self.folder.look()? == Found::Nothing {
                return Err(removed(self.folder.root()));
            }
            self.suspend();
        }
        Ok(())
    }

    /// A handle that shares an open store must have its key.
    fn check_key(&self, given: Option<&Arc<StoreKey>>) -> Result<()> {
        let known = self.unforked(|| lock(&self.key).clone());
        match (known.is_some(), given.is_some()) {
            _ if known.as_ref() == given => Ok(()),
            _ if self.read(|_| Ok(())).is_err_and(|error| error.kind() == ErrorKind::WrongKey) => self.take_key(given),
            (_, false) => Err(wrong_key(self.folder.root(), "missing", "the store is encrypted, and no key was given: open it with key=")),
            (true, true) => {
                Err(wrong_key(self.folder.root(), "wrong", "the key is not the one that this process has it open with: give that one"))
            }
            (false, true) => {
                Err(wrong_key(self.folder.root(), "not encrypted", "a key was given, and the store is open without one: open it without"))
            }
        }
    }

    /// Another process gave the store another key, and nobody here can use it by the one before: from now on all handles of this process
    /// have the given one, if that is right.
    fn take_key(&self, given: Option<&Arc<StoreKey>>) -> Result<()> {
        let take = |key| self.unforked(|| std::mem::replace(&mut *lock(&self.key), key));
        let before = take(given.cloned());
        self.read(|_| Ok(())).inspect_err(|_| drop(take(before)))
    }

    /// Makes or repairs what is on disk, opens it, and reads its first record. A store that turns out not to be writable stays open for
    /// those who read it.
    fn check(&self, options: &StoreOptions) -> Result<()> {
        let widened = self.widen(options);
        let opened = self.check_as(options);
        if widened && opened.as_ref().is_err_and(|error| error.kind() == ErrorKind::ReadOnly) {
            self.narrow();
        }
        opened
    }

    fn check_as(&self, options: &StoreOptions) -> Result<()> {
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
        Ok(self.opened(self.gate.get())?.environment.unverified())
    }

    /// Says that all of the store was read and found whole.
    pub fn vouch(&self, busy_timeout: Duration) -> Result<()> {
        let deadline = Instant::now() + busy_timeout;
        let mut state = self.gate.get().state.write().unwrap_or_else(PoisonError::into_inner);
        if let State::Open(current) = &mut *state
            && let Some(Opened { environment, lock, .. }) = current.alone()
        {
            let _guard = lock.as_ref().map(|lock| lock.acquire(deadline)).transpose()?;
            environment.vouch(lock.is_some() && self.modes.writable.load(Relaxed))?;
        }
        drop(state);
        if self.modes.writable.load(Relaxed) { self.repair() } else { Ok(()) }
    }

    /// A second handle may need more than the first: writing, or full durability. Says whether the store is opened anew for writing.
    fn widen(&self, options: &StoreOptions) -> bool {
        let full = options.durability == Durability::Full;
        let reopen = !self.modes.writable.fetch_or(!options.read_only, Relaxed) && !options.read_only;
        let sync_meta = !self.modes.full.fetch_or(full, Relaxed) && full;
        if !reopen && !sync_meta {
            return false; // and do not wait for a compaction that is under way
        }
        let mut state = self.gate.get().state.write().unwrap_or_else(PoisonError::into_inner);
        if reopen {
            state.suspend();
        }
        match &*state {
            State::Open(current) if sync_meta => current.get().environment.set_relaxed(false),
            _ => {}
        }
        reopen
    }

    /// Nobody can write to it: the next call that needs it opens it for reading.
    fn narrow(&self) {
        self.modes.writable.store(false, Relaxed);
        self.suspend();
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
        environment.finish()?;
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

    /// Makes CURRENT name the generation in use and removes those it left behind, if nobody is writing just now, and as far as it can: the
    /// store is whole without.
    fn repair(&self) -> Result<()> {
        let opened = self.opened(self.gate.get())?;
        if !self.folder.is_tidy(opened.environment.number())? {
            opened.at_leisure(|| generation::tidy(&self.folder, &opened.environment));
        }
        Ok(())
    }

    /// Opens the generation in use, beginning where CURRENT points and following what is retired.
    pub(super) fn open_newest(&self) -> Result<Opened> {
        let number = self.start()?;
        self.open_from(number, number)
    }

    /// The generation to begin with. A folder that was taken away while it was open is told as [`Self::open`] tells it.
    fn start(&self) -> Result<GenerationNumber> {
        self.folder.start().map_err(|error| match self.folder.look() {
            Ok(Found::Nothing) if self.identity.get().is_some() => removed(self.folder.root()),
            _ => error,
        })
    }

    /// Opens the generation `next` behind one that is open and stays so; `None` where it is not known yet to be replaced for good.
    pub(super) fn open_behind(&self, opened: &Opened, next: GenerationNumber) -> Result<Option<Opened>> {
        let (environment, own) = (&opened.environment, opened.environment.number());
        let deadline = Instant::now() + Duration::from_millis(self.modes.patience.load(Relaxed));
        let number = match &opened.lock {
            Some(lock) => successor(environment, next, Some(lock), deadline)?,
            None if environment.is_logged()? => next,
            None => own,
        };
        if number == own { Ok(None) } else { self.open_from(own, number).map(Some) }
    }

    /// The generation in use, looked for from `number` on, where `named` was the newest that is known.
    fn open_from(&self, named: GenerationNumber, mut number: GenerationNumber) -> Result<Opened> {
        let deadline = Instant::now() + Duration::from_millis(self.modes.patience.load(Relaxed));
        let mode = self.mode(false);
        let writable = |result: Result<_>| if mode.read_only { Ok(result.ok()) } else { result.map(Some) };
        let (presence, read_lock) = match Presence::announce(self.folder.root(), deadline) {
            Err(error) if mode.read_only && error.kind() == ErrorKind::ReadOnly => {
                (None, ReadLock::where_needed(self.folder.root(), deadline)?)
            }
            other => (Some(other?), None),
        };
        let lock = writable(WriterLock::open(self.folder.root()))?;
        let (mut tries, mut left) = (0, None);
        loop {
            match self.open_generation(number, mode, deadline) {
                Ok((environment, None)) => {
                    self.openings.fetch_add(1, Relaxed);
                    let counted = Counted(Arc::clone(&self.openings));
                    let opened = self.recognise(Opened { environment, left, lock, presence, _read_lock: read_lock, _counted: counted })?;
                    if number != named && !mode.read_only && opened.environment.unverified().is_none() {
                        opened.at_leisure(|| generation::name(&self.folder, &opened.environment));
                    }
                    return Ok(opened);
                }
                Ok((environment, Some(next))) if mode.read_only => {
                    left = leave(environment, lock.as_ref(), deadline);
                    number = next;
                }
                Ok((environment, Some(next))) => {
                    let after = successor(&environment, next, lock.as_ref(), deadline);
                    environment.close();
                    number = after?;
                }
                // It was swept between reading CURRENT and opening: read again, and never create.
                Err(_) if tries < 100 && !self.folder.generation(number).is_dir() => {
                    tries += 1;
                    left = None;
                    number = self.start()?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// The store at the path must be the one that was there before.
    fn recognise(&self, opened: Opened) -> Result<Opened> {
        let (store, secret) = opened.environment.identity();
        if self.identity.get_or_init(|| Identity::new(store, secret)).is_still(store, secret) {
            return Ok(opened);
        }
        opened.environment.close();
        Err(left_behind(self.folder.root(), "another store took the place of the one that this process has open there"))
    }

    /// Whether its folder holds no store any more, or another one: then nothing can be stored in it again.
    pub(crate) fn is_gone(&self) -> bool {
        let Some(known) = self.identity.get().and_then(|identity| identity.newest().store) else { return false };
        match self.folder.look() {
            Ok(Found::Nothing) => true,
            Ok(Found::Store) => {
                let there = self.folder.start().ok().and_then(|number| Manifest::store_of(&self.folder.generation(number)));
                there.is_some_and(|there| there != known)
            }
            Err(_) => false,
        }
    }

    fn open_generation(&self, number: GenerationNumber, mode: Mode, deadline: Instant) -> Result<(Environment, Option<GenerationNumber>)> {
        let mut environment = Environment::open(&self.folder, number, mode, deadline)?;
        if !mode.read_only {
            environment.clear_stale_readers()?;
        }
        let next = meta::retired(&environment.snapshot()?)?;
        if next.is_none() {
            environment.unlock(self.folder.root(), lock(&self.key).clone().as_deref())?;
        }
        Ok((environment, next))
    }
}

/// Refuses to make a store in the place of one that this process still has open: no engine would know which of the two it is of.
fn refuse_removed(path: &Path) -> Result<()> {
    let by_parent = || Some(path.parent()?.join(".").canonicalize().ok()?.join(path.file_name()?));
    let Some(root) = path.canonicalize().ok().or_else(by_parent) else { return Ok(()) };
    let registry = lock(registry());
    let open = registry.iter().filter_map(std::sync::Weak::upgrade).find(|store| store.folder.root() == root && !store.is_closed());
    drop(registry);
    if open.is_some_and(|store| store.identity.get().is_some()) {
        return Err(removed(path));
    }
    Ok(())
}

fn removed(path: &Path) -> Error {
    left_behind(path, "the folder of the store that this process has open there was removed or emptied")
}

/// The error of a store whose folder was taken away while this process has it open.
fn left_behind(path: &Path, why: &str) -> Error {
    let next = "close every engine of that path in this process, and open it again";
    Error::new(ErrorKind::StoreCorrupt, format!("opening {}: {why}; nothing was changed: {next}", path.display()))
}

/// Leaves a generation that was replaced, for one who may not write: nothing of theirs depends on that commit, and so they wait for no disk.
/// But where its process died before it was in the log, the next to open the generation alone takes it back, and writes there. So such a
/// generation stays open: then nobody is alone in it, and the next writer brings the commit to the disk.
fn leave(environment: Environment, lock: Option<&WriterLock>, deadline: Instant) -> Option<Environment> {
    let is_logged = || environment.is_logged().unwrap_or(false);
    // One who lives holds the writer lock until it is there.
    if is_logged() || (lock.is_some_and(|lock| lock.acquire(deadline).is_ok()) && is_logged()) {
        environment.close();
        return None;
    }
    Some(environment)
}

/// The generation to go over to from `environment`, which `next` replaced, for one who writes. That commit must be in the log before
/// anything is built on it: where its process died in between, the next to open the generation alone takes it back. The answer is the same
/// generation then.
fn successor(environment: &Environment, next: GenerationNumber, lock: Option<&WriterLock>, deadline: Instant) -> Result<GenerationNumber> {
    if environment.is_logged()? {
        return environment.sync().map(|()| next); // nor need its process have waited for the disk
    }
    let _guard = lock.map(|lock| lock.acquire(deadline)).transpose()?;
    match environment.write() {
        Ok(transaction) => Ok(meta::retired(&transaction)?.unwrap_or(environment.number())),
        Err(error) if error.kind() == ErrorKind::FilesReplaced => Ok(next), // swept, which others do who have seen to it
        Err(error) => Err(error),
    }
}
