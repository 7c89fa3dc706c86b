//! The one gate to a store: who may touch the environment, and when.
//!
//! It opens the environment when it is first needed, once per canonical path in a process. It runs every read on a snapshot and every write
//! in a group. It follows a store that was compacted into a new generation, which waits for no read: each ends in the generation that it
//! began in. It closes before a fork and opens again behind it.
//! It turns what LMDB would do (wait for ever, crash, create) into typed errors.

mod commit;
mod open;

pub(in crate::store) use commit::outcome;

use std::ops::Deref;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard, TryLockError};
use std::time::{Duration, Instant};

use crate::process::{Renewable, lock};
use crate::store::environment::{Environment, Mode, Snapshot, WriteTransaction};
use crate::store::folder::{Folder, GenerationNumber};
use crate::store::group_commit::GroupCommit;
use crate::store::identity::{Secret, StoreId};
use crate::store::meta;
use crate::store::metrics::{Metrics, add};
use crate::store::migrate::Formats;
use crate::store::presence::Presence;
use crate::store::read_lock::ReadLock;
use crate::store::vault::StoreKey;
use crate::store::waiting;
use crate::store::writer_lock::WriterLock;
use crate::{Error, ErrorKind, Result};

/// How much a commit waits for the disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// An acknowledged write is on disk.
    #[default]
    Full,
    /// A power cut may undo the last commit; the death of the process loses nothing.
    Relaxed,
}

impl Durability {
    /// The durability of that name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "full" => Ok(Self::Full),
            "relaxed" => Ok(Self::Relaxed),
            other => Err(Error::invalid(format!(
                "opening a store: durability is \"full\" (what is acknowledged is on disk) or \"relaxed\" (a power cut may undo the last commit), and it is {other:?}: choose one"
            ))),
        }
    }
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
    pub(in crate::store) gate: Renewable<Gate>,
    metrics: Metrics,
    /// Open handles. Not the reference count: a fork in another thread holds a reference for a moment, and its child keeps one for ever.
    handles: AtomicUsize,
    /// It is about to be closed, and takes no more calls.
    closing: AtomicBool,
    /// How often this process opened its files, and was done with them. Cached texts are dropped each time, because some may have been
    /// erased, and a read of the generation before may have cached them once more.
    openings: Arc<AtomicUsize>,
    /// The identity of the store when it was first opened. The store at the path must stay the same.
    identity: OnceLock<Identity>,
    /// The key that opens it, where it is encrypted. Taken with the gate's lock held, so that no fork finds it taken.
    key: Mutex<Option<Arc<StoreKey>>>,
}

/// The values that handles sharing this store need. There is no lock: the child of a fork might find it taken for ever.
#[derive(Debug)]
struct Modes {
    writable: AtomicBool,
    full: AtomicBool,
    /// How long opening may wait where no call says so: milliseconds.
    patience: AtomicU64,
}

/// The identity of the store. The key of its hashes changes where an empty store takes what was exported from another: then it is
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
    pub(in crate::store) state: RwLock<State>,
    group: GroupCommit,
}

impl Gate {
    pub(in crate::store) fn new(state: State) -> Self {
        Self { state: RwLock::new(state), group: GroupCommit::default() }
    }
}

/// Where the environment is.
#[derive(Debug)]
pub enum State {
    /// Not open (not yet, or because of a fork): opened by the next call that needs it.
    Suspended,
    /// Open.
    Open(Current),
    /// Closed for good.
    Closed,
}

/// The parts that calls which begin now use. It is taken for a moment only: a call keeps a reference, and the parts of a generation that was
/// replaced close with the last of these.
#[derive(Debug)]
pub struct Current(Mutex<Arc<Opened>>);

/// The open parts in the hands of a call, which keep the store from being closed, and the process from a fork.
struct InUse<'g> {
    opened: Arc<Opened>,
    /// Dropped last: who waits for the gate finds nobody who uses what it guards.
    _gate: RwLockReadGuard<'g, State>,
}

impl Deref for InUse<'_> {
    type Target = Opened;

    fn deref(&self) -> &Opened {
        &self.opened
    }
}

/// The open parts of a store. The environment is dropped first: LMDB lets go of its files before the presence lock goes.
#[derive(Debug)]
pub struct Opened {
    environment: Environment,
    /// The generation before, where it must not be alone.
    left: Option<Environment>,
    lock: Option<WriterLock>,
    presence: Option<Presence>,
    /// The lock of a reader that cannot announce itself.
    _read_lock: Option<ReadLock>,
    _counted: Counted,
}

/// Counts the end of an opening.
#[derive(Debug)]
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Relaxed);
    }
}

impl Opened {
    /// Does what can also be done another time, where nobody is writing just now and this process may.
    fn at_leisure(&self, work: impl FnOnce() -> Result<()>) {
        if let Some(Ok(_guard)) = self.lock.as_ref().map(|lock| lock.acquire(Instant::now())) {
            let _ = work();
        }
    }

    /// Closes the environment. The last process to do so says that nobody has it open any more; it opens it again unless this is `for_good`.
    fn close(self, for_good: bool) {
        if self.lock.is_some() && self.presence.as_ref().is_some_and(Presence::is_last) {
            self.environment.mark_closed(for_good);
        }
        self.environment.close();
        self.left.into_iter().for_each(Environment::close);
    }
}

impl Current {
    fn new(opened: Opened) -> Self {
        Self(Mutex::new(Arc::new(opened)))
    }

    fn get(&self) -> Arc<Opened> {
        Arc::clone(&lock(&self.0))
    }

    /// Its parts, where nobody else uses them: always for who holds the gate alone.
    fn alone(&mut self) -> Option<&mut Opened> {
        Arc::get_mut(self.0.get_mut().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    pub(in crate::store) fn suspend(&mut self) {
        if let Self::Open(_) = self {
            self.close(Self::Suspended);
        }
    }

    fn close(&mut self, next: Self) {
        let for_good = matches!(next, Self::Closed);
        if let Self::Open(current) = std::mem::replace(self, next)
            && let Some(opened) = Arc::into_inner(current.0.into_inner().unwrap_or_else(PoisonError::into_inner))
        {
            opened.close(for_good);
        }
    }
}

/// How long a store that is to be closed takes calls of other threads.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often a call opens the store anew because its files were replaced under it: by somebody, or by one compaction after another.
const MOST_REOPENINGS: usize = 20;

impl Store {
    /// The key of its hashes.
    #[must_use]
    pub fn secret(&self) -> Secret {
        self.identity.get().map_or_else(Secret::default, |identity| identity.newest().secret)
    }

    /// Whether its values are encrypted.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.unforked(|| lock(&self.key).is_some())
    }

    /// The key that this process opens the store with.
    pub(in crate::store) fn key(&self) -> Option<Arc<StoreKey>> {
        lock(&self.key).clone()
    }

    /// Makes `key` the one that this process opens the store with from now on. To be called within [`Self::exclusively`].
    pub(in crate::store) fn exchange_key(&self, key: Option<Arc<StoreKey>>) {
        *lock(&self.key) = key;
    }

    /// Whether the files were opened anew since `seen` was set: behind an erasure or a compaction of any process, and behind a fork.
    pub(crate) fn is_reopened(&self, seen: &AtomicUsize) -> bool {
        let now = self.openings.load(Relaxed);
        seen.swap(now, Relaxed) != now
    }

    /// Forgets data keys and decrypted values.
    pub fn forget_decrypted(&self) {
        if let State::Open(current) = &*self.gate.get().state.read().unwrap_or_else(PoisonError::into_inner)
            && let Some(vault) = current.get().environment.vault()
        {
            vault.forget();
        }
    }

    /// The format of its bytes.
    #[must_use]
    pub fn format(&self) -> u32 {
        self.formats.newest
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
        let opened = self.opened(self.gate.get())?;
        Ok((opened.environment.number(), opened.environment.sizes()?.0))
    }

    /// The files of the store.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Counters since the store was opened.
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
            let opened = self.opened(self.gate.get())?;
            match opened.environment.snapshot() {
                Err(error) if error.kind() == ErrorKind::MapResized => {
                    drop(opened);
                    self.adopt_map_size()?;
                }
                Err(error) if error.kind() == ErrorKind::FilesReplaced && reopened < MOST_REOPENINGS => {
                    drop(opened);
                    self.suspend();
                    reopened += 1;
                }
                Err(error) => return Err(error),
                Ok(snapshot) => match meta::retired(&snapshot)? {
                    None => return work(&snapshot),
                    Some(next) => {
                        drop(snapshot);
                        drop(opened);
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

    /// The open parts, opened if they are not, for a call that uses them.
    fn opened<'g>(&self, gate: &'g Gate) -> Result<InUse<'g>> {
        if self.closing.load(Relaxed) && self.handles.load(Relaxed) <= 1 {
            return Err(self.closed());
        }
        loop {
            let state = gate.state.read().unwrap_or_else(PoisonError::into_inner);
            match &*state {
                State::Open(current) => {
                    let opened = current.get();
                    return Ok(InUse { opened, _gate: state });
                }
                State::Closed => return Err(self.closed()),
                State::Suspended => {}
            }
            drop(state);
            let mut state = gate.state.write().unwrap_or_else(PoisonError::into_inner);
            if matches!(*state, State::Suspended) {
                *state = State::Open(Current::new(self.open_newest()?));
            }
        }
    }

    /// Moves on to the generation that replaced the open one.
    fn follow(&self, next: GenerationNumber) -> Result<()> {
        if self.moves_on(next) {
            return Ok(());
        }
        let mut state = self.gate.get().state.write().unwrap_or_else(PoisonError::into_inner);
        if matches!(&*state, State::Open(current) if current.get().environment.number() < next) {
            state.suspend();
            *state = State::Open(Current::new(self.open_newest()?));
            add(&self.metrics.generations_followed, 1);
        }
        Ok(())
    }

    /// Moves on beside calls under way, which end in the generation that they began in; the last of them closes it. Fails where that must
    /// be closed first, or anything is in the way.
    fn moves_on(&self, next: GenerationNumber) -> bool {
        let state = self.gate.get().state.read().unwrap_or_else(PoisonError::into_inner);
        let State::Open(current) = &*state else { return true };
        let mut opened = lock(&current.0);
        if opened.environment.number() >= next {
            return true;
        }
        let Ok(Some(newest)) = self.open_behind(&opened, next) else { return false };
        let before = std::mem::replace(&mut *opened, Arc::new(newest));
        drop(opened);
        if let Some(before) = Arc::into_inner(before) {
            before.close(false);
        }
        add(&self.metrics.generations_followed, 1);
        true
    }

    fn suspend(&self) {
        self.gate.get().state.write().unwrap_or_else(PoisonError::into_inner).suspend();
    }

    fn adopt_map_size(&self) -> Result<()> {
        let state = self.gate.get().state.write().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Open(current) => current.get().environment.adopt_map_size(),
            _ => Ok(()),
        }
    }

    /// Runs `work` with the writer lock held and no transaction open: for what replaces the generation.
    pub fn exclusively<T>(&self, busy_timeout: Duration, work: impl Fn(&Environment) -> Result<T>) -> Result<T> {
        let deadline = Instant::now() + busy_timeout;
        let mut reopened = 0;
        loop {
            let opened = self.opened(self.gate.get())?;
            let acquired = self.writer_lock(&opened)?.acquire(deadline);
            let replaced = matches!(&acquired, Err(error) if error.kind() == ErrorKind::FilesReplaced);
            if replaced && reopened < MOST_REOPENINGS {
                drop(acquired);
                drop(opened);
                self.suspend();
                reopened += 1;
                continue;
            }
            let guard = acquired?;
            // A writer that was killed behind its commit has not told readers of it, and its commit may be the one that retired this
            // generation. A transaction that begins notices it, and a snapshot does not.
            let noticed = match opened.environment.write() {
                Err(error) if error.kind() == ErrorKind::FilesReplaced => Ok(()), // swept: the snapshot says that it was replaced
                other => other.map(drop),
            };
            if let Err(error) = noticed {
                drop(guard);
                drop(opened);
                self.start_afresh(&error);
                return Err(error);
            }
            // Not within the `match`: it would keep the snapshot to its end, and an environment closes only when none is left.
            let retired = meta::retired(&opened.environment.snapshot()?)?;
            match retired {
                None => {
                    let done = work(&opened.environment);
                    drop(guard);
                    drop(opened);
                    return done.inspect_err(|error| self.start_afresh(error));
                }
                Some(next) => {
                    drop(guard);
                    drop(opened);
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

    /// Waits for the calls under way where this handle is the last, and hears signals meanwhile, as [`Self::close`] does not. Calls that begin
    /// behind a second are refused, so that it comes to an end beside busy threads.
    pub fn await_calls(&self) -> Result<()> {
        let began = Instant::now();
        let waited = waiting::until(began + Duration::from_secs(1 << 30), || {
            self.closing.store(began.elapsed() > PATIENCE, Relaxed);
            let is_free = || !matches!(self.gate.get().state.try_write(), Err(TryLockError::WouldBlock));
            Ok((self.handles.load(Relaxed) > 1 || is_free()).then_some(()))
        });
        waited.map(drop).inspect_err(|_| self.closing.store(false, Relaxed))
    }

    /// Closes the store for this process. Calls under way finish, and later ones are refused.
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

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that unwraps fails, as it should
mod tests;
