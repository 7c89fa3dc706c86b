//! One generation's LMDB environment: opened after its files were checked, read by snapshots, written by one transaction.

use std::fs::File;
use std::ops::Bound::{Excluded, Included};
use std::ops::ControlFlow;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, FlagSetMode, MdbError, RoTxn, RwTxn, WithoutTls};

use super::changes::Change;
use super::door::Door;
use super::envelope::damaged;
use super::files::{FileId, require_named};
use super::folder::{Folder, GenerationNumber, Manifest, corrupt, io_error};
use super::identity::{Secret, StoreId};
use super::keys::{Key, Partition, STORE, Table, u32_at};
use super::meta::Meta;
use super::meta_pages::{MetaPage, MetaPages};
use super::pages::{Pages, PagesMut};
use super::progress::{Announced, Progress, Verdict};
use super::tree::map::DataFile;
use super::tree::{Root, Tree, free};
use super::vault::cipher::Cipher;
use super::vault::kept::Kept;
use super::vault::{StoreKey, Vault, is_exempt, record_of, wrong_key};
use super::verified;
use crate::{Error, ErrorKind, Result};

/// Room in the address space, reserved once; the file grows as it is used. Halved where the system refuses.
const MAP_BYTES: usize = if cfg!(target_pointer_width = "64") { 1 << 40 } else { 1 << 30 };
const SMALLEST_MAP_BYTES: usize = 1 << 28;

/// The file grows by this much at a time, filled with zeros: a sync of pages that were written before takes half as
/// long as one that also has to record where the file ends (61 against 136 us on ext4, 32 KiB a sync, measured 2026-11).
const GROWTH_BYTES: u64 = 1 << 20;

/// Readers at one time, over all processes.
const MAX_READERS: u32 = 2048;

/// What the file grows by.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

type Handle = Database<'static, Bytes, Bytes>;

/// A reader that meets a meta page half way to the next but one tries again; so often only where the page is damaged.
const META_TRIES: usize = 100;

/// An open generation.
#[derive(Debug)]
pub struct Environment {
    env: Env<WithoutTls>,
    tree: Handle,
    data: File,
    pages: DataFile,
    /// Whether the file could be grown ahead of its last page: what is left else is for writes that take something away.
    is_roomy: AtomicBool,
    /// Whether a write of this process has looked at the list of free pages.
    free_checked: AtomicBool,
    path: PathBuf,
    number: GenerationNumber,
    relaxed: AtomicBool,
    id: Option<StoreId>,
    secret: Secret,
    /// None where the store is not encrypted, or was not unlocked: then stored bytes are read as they are.
    vault: Option<Arc<Vault>>,
    /// None of a generation that is being built: nobody else knows it yet.
    shared: Option<Shared>,
}

/// What binds an open generation to its files and to the other processes that have it open.
#[derive(Debug)]
struct Shared {
    data: FileId,
    /// None of a format before 4.
    progress: Option<Progress>,
    verdict: Verdict,
    /// LMDB's `lock.mdb` with a shared lock of ours. LMDB's own belongs to the process and goes with any descriptor of the file that
    /// anybody in it closes (a backup tool, `shutil.copytree`); then the next to open would reset the table under its readers.
    /// None where the file system is read-only: LMDB does without, too.
    table: Option<File>,
}

/// How a generation is opened.
#[derive(Debug, Clone, Copy)]
pub struct Mode {
    /// Nothing may be written.
    pub read_only: bool,
    /// A commit does not wait for LMDB's meta page: a power cut may undo the last one.
    pub relaxed: bool,
    /// A commit waits for nothing: only for a generation that is being built and is synced at its end.
    pub building: bool,
    /// The format that the generation must have, or is made in.
    pub format: u32,
}

impl Environment {
    /// Makes an empty generation in `path`, an empty folder, for a store of its own.
    pub fn create(path: &Path, number: GenerationNumber, mode: Mode) -> Result<Self> {
        Self::build(path, number, mode, StoreId::random()?, Secret::random()?)
    }

    /// Makes an empty generation of the store `id` in `path`, an empty folder.
    pub fn build(path: &Path, number: GenerationNumber, mode: Mode, id: StoreId, secret: Secret) -> Result<Self> {
        Manifest::of_this_machine(page_size(), mode.format, id, number).write(path)?;
        Self::map(path, number, mode, secret)
    }

    /// The same generation, whose values are encrypted from now on.
    #[must_use]
    pub fn encrypted_by(mut self, vault: Vault) -> Self {
        self.vault = Some(Arc::new(vault));
        self
    }

    /// Syncs a generation that was built, and vouches for what is in it.
    pub fn finish(self, id: StoreId) -> Result<()> {
        self.sync()?;
        let pages = MetaPages::read(&self.data, u64::from(page_size()), &self.path)?;
        Progress::create(&self.path, id, self.number, &self.data, &pages)?;
        self.close();
        Ok(())
    }

    /// Opens a damaged generation to save what is intact of it: its two meta pages must be LMDB's, and nothing else is looked at.
    pub fn open_unchecked(path: &Path, number: GenerationNumber, mode: Mode) -> Result<Self> {
        MetaPages::read(&open_data_file(&path.join("data.mdb"))?, u64::from(page_size()), path)?;
        Self::map(path, number, mode, Secret::default())
    }

    /// Opens a generation of the store in `folder`, behind the [`Door`], and checks whatever can be checked without reading all of it.
    pub fn open(folder: &Folder, number: GenerationNumber, mode: Mode, deadline: Instant) -> Result<Self> {
        let _door = match Door::enter(folder.root(), deadline) {
            Err(error) if mode.read_only && error.kind() == ErrorKind::ReadOnly => None,
            other => Some(other?),
        };
        let path = folder.generation(number);
        let manifest = Manifest::read(&path, mode.format)?;
        let file = open_data_file(&path.join("data.mdb"))?;
        let data = FileId::of(&file).map_err(|e| io_error("opening the store", &path, &e))?;
        let pages = || MetaPages::read(&file, u64::from(manifest.page_size), &path);
        let newest = pages()?.newest.transaction;
        let progress = manifest.store.map(|id| Progress::open(&path, id, number, data, mode.read_only)).transpose()?;
        let verdict = progress.as_ref().map_or(Ok(Verdict::Sound), |progress| progress.judge(pages))?;
        let mut environment = Self::map(&path, number, mode, Secret::default())?;
        let table = join_table(&path.join("lock.mdb"), mode.read_only)?;
        environment.shared = Some(Shared { data, progress, verdict, table });
        match environment.identify(&manifest, newest) {
            Ok(secret) => (environment.id, environment.secret) = (manifest.store, secret),
            Err(error) => {
                environment.close();
                return Err(error);
            }
        }
        Ok(environment)
    }

    /// Whether the tree is that of the manifest's store, and of the newest transaction; the store's secret.
    fn identify(&self, manifest: &Manifest, newest: u64) -> Result<Secret> {
        let snapshot = self.snapshot()?;
        // The number in the reader table is written behind the meta page.
        if snapshot.id() + 1 < newest {
            return Err(behind(&self.path, snapshot.id(), newest));
        }
        let meta = Meta::read(&snapshot)?;
        let Some(id) = manifest.store else { return Ok(Secret::default()) };
        match meta {
            Some(meta) if meta.store == Some(id) && meta.generation == self.number && manifest.generation == self.number => Ok(meta.secret),
            Some(_) => Err(corrupt(&self.path, "its manifest and its data file are of two stores, or of two generations")),
            None => Err(corrupt(&self.path, "the store has no meta record: it was damaged, or written by something else")),
        }
    }

    fn map(path: &Path, number: GenerationNumber, mode: Mode, secret: Secret) -> Result<Self> {
        let env = reserve(path, mode)?;
        let failed = |e| lmdb_error("opening the store", path, e);
        let txn = env.read_txn().map_err(failed)?;
        let tree = env
            .open_databases_and_commit(txn, |opener, txn| {
                opener.open_database::<Bytes, Bytes>(txn, None).map(CommitOrAbort::<_, ()>::Commit)
            })
            .map_err(failed)?
            .commit()
            .flatten()
            .ok_or_else(|| corrupt(path, "LMDB finds no tree in the data file"))?;
        let data = env.try_clone_inner_file().map_err(failed)?;
        let pages = DataFile::open(path, page_size() as usize)?;
        let (relaxed, free_checked, is_roomy) = (AtomicBool::new(mode.relaxed), AtomicBool::new(false), AtomicBool::new(true));
        Ok(Self {
            env,
            tree,
            data,
            pages,
            is_roomy,
            free_checked,
            path: path.to_owned(),
            number,
            relaxed,
            id: None,
            secret,
            vault: None,
            shared: None,
        })
    }

    /// Opens what is encrypted with the caller's key, which must be there where the store is encrypted, and only there.
    pub fn unlock(&mut self, root: &Path, key: Option<&StoreKey>) -> Result<()> {
        let sealed = Meta::read(&self.snapshot()?)?.and_then(|meta| meta.sealed);
        let (vault, secret) = match (sealed, key) {
            (None, None) => return Ok(()),
            (None, Some(_)) => {
                let why = "a key was given, and the store is not encrypted: open it without, or encrypt it with `memspan rekey`";
                return Err(wrong_key(root, "not encrypted", why));
            }
            (Some(_), None) => {
                return Err(wrong_key(root, "missing", "the store is encrypted, and no key was given: open it with key="));
            }
            (Some(sealed), Some(key)) => Vault::open(key, &sealed)?.ok_or_else(|| {
                wrong_key(root, "wrong", "the key is not the one that the store was encrypted with; nothing was read: give the right one")
            })?,
        };
        (self.vault, self.secret) = (Some(Arc::new(vault)), secret);
        Ok(())
    }

    /// The keys of an encrypted store.
    #[must_use]
    pub fn vault(&self) -> Option<&Arc<Vault>> {
        self.vault.as_ref()
    }

    /// Which generation this is.
    #[must_use]
    pub fn number(&self) -> GenerationNumber {
        self.number
    }

    /// Which store it is of, and what its hashes are keyed with.
    #[must_use]
    pub fn identity(&self) -> (Option<StoreId>, Secret) {
        (self.id, self.secret)
    }

    /// Why nothing vouches for what is in it, if so.
    #[must_use]
    pub fn unverified(&self) -> Option<&'static str> {
        match self.shared.as_ref()?.verdict {
            Verdict::Sound => None,
            Verdict::Unverified(why) => Some(why),
        }
    }

    /// Vouches for what is in it: all of it was read and found whole. Where `record` says so it is written down, and the caller holds
    /// the writer lock.
    pub fn vouch(&mut self, record: bool) -> Result<()> {
        let Some(shared) = &mut self.shared else { return Ok(()) };
        shared.verdict = Verdict::Sound;
        let Some(progress) = shared.progress.as_ref().filter(|_| record) else { return Ok(()) };
        progress.vouch(&MetaPages::read(&self.data, u64::from(page_size()), &self.path)?)
    }

    /// A snapshot of what is committed now.
    pub fn snapshot(&self) -> Result<Snapshot> {
        let mut snapshot = self.begin_snapshot()?;
        // A commit writes its meta page, waits for the disk, and then the number in the reader table, where snapshots begin. One that
        // is two behind began before another commit, or the table is not the one that the writers use.
        let mut tries = 0;
        while snapshot.id() + 1 < self.newest() {
            self.check_files()?;
            if tries == 100 {
                return Err(behind(&self.path, snapshot.id(), self.newest()));
            }
            tries += 1;
            snapshot = self.begin_snapshot()?;
        }
        Ok(snapshot)
    }

    fn begin_snapshot(&self) -> Result<Snapshot> {
        for _ in 0..META_TRIES {
            self.pages.check_length()?;
            let txn = self.read_transaction()?;
            let id = txn.id() as u64;
            if let Some((pages, free)) = self.tree_of(id)? {
                return Ok(Snapshot { _txn: txn, pages, free, id, secret: self.secret, vault: self.vault.clone(), kept: Kept::default() });
            }
        }
        Err(corrupt(&self.path, "the newest meta page of the data file is damaged"))
    }

    /// The tree of a transaction, and that of the free pages; none where its meta page names another one by now.
    fn tree_of(&self, transaction: u64) -> Result<Option<(Tree, Root)>> {
        let meta =
            |mapped: &super::tree::map::Mapped| Some(MetaPage::of(mapped.meta(transaction & 1)?, u64::from(page_size()), transaction & 1));
        let mapped = self.pages.view(1)?;
        let Some(first) = meta(&mapped).filter(|meta| meta.transaction == transaction && meta.is_sound()) else { return Ok(None) };
        let mapped = self.pages.view(first.last_page)?;
        // Read twice, apart: a page that is being written differs.
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        match meta(&mapped) {
            Some(again) if again == first => Ok(Some((Tree::new(mapped, first.values, first.last_page)?, first.free))),
            _ => Ok(None),
        }
    }

    fn read_transaction(&self) -> Result<RoTxn<'static, WithoutTls>> {
        let txn = match self.env.clone().static_read_txn() {
            Err(heed::Error::Mdb(MdbError::ReadersFull)) => {
                self.clear_stale_readers()?;
                self.env.clone().static_read_txn()
            }
            other => other,
        };
        txn.map_err(|e| lmdb_error("reading the store", &self.path, e))
    }

    /// The transaction of the newest meta page.
    fn newest(&self) -> u64 {
        self.env.info().last_txn_id as u64
    }

    /// Whether the open files are still those at their paths.
    fn check_files(&self) -> Result<()> {
        let Some(shared) = &self.shared else { return Ok(()) };
        shared.data.require_at(&self.path.join("data.mdb"))?;
        shared.table.as_ref().map_or(Ok(()), |table| require_named(table, &self.path.join("lock.mdb")))
    }

    /// A write transaction; the caller holds the writer lock. Refused where the files are not those that are open, and where it would
    /// build on an older tree than the newest, or than the last one acknowledged.
    pub fn write(&self) -> Result<WriteTransaction<'_>> {
        self.check_files()?;
        self.progress().map_or(Ok(()), Progress::check_file)?;
        self.pages.check_length()?;
        let txn = self.env.write_txn().map_err(|e| lmdb_error("writing to the store", &self.path, e))?;
        let (id, newest) = (txn.id() as u64, self.newest());
        if self.shared.is_some() && id != newest + 1 {
            return Err(behind(&self.path, id.saturating_sub(1), newest));
        }
        let base = self.tree_of(id.saturating_sub(1))?;
        let (base, free) = base.ok_or_else(|| corrupt(&self.path, "the meta page of the last transaction is damaged"))?;
        if !self.free_checked.load(Relaxed) {
            base.check_free(free, base.last_page() < free::SMALL)?;
            self.free_checked.store(true, Relaxed);
        }
        Ok(WriteTransaction {
            txn,
            base,
            tree: self.tree,
            secret: self.secret,
            environment: self,
            changes: 0,
            dirty: false,
            recorded: None,
            kept: Kept::default(),
            fresh: Vec::new(),
        })
    }

    fn progress(&self) -> Option<&Progress> {
        self.shared.as_ref()?.progress.as_ref()
    }

    pub(super) fn announce(&self, transaction: u64) -> Result<Option<Announced>> {
        let Some(progress) = self.progress() else { return Ok(None) };
        progress.announce(transaction - 1, || self.checksum_of(transaction - 1)).map(Some)
    }

    fn committed(&self, announced: &Announced, transaction: u64) {
        let Some(progress) = self.progress() else { return };
        if let Ok(checksum) = self.checksum_of(transaction) {
            progress.committed(announced, checksum, !self.relaxed.load(Relaxed));
        }
    }

    /// The checksum of the meta page of the newest transaction, which the caller knows.
    fn checksum_of(&self, transaction: u64) -> Result<u32> {
        let page = MetaPage::read(&self.data, u64::from(page_size()), transaction & 1);
        Ok(page.map_err(|e| io_error("reading the store", &self.path, &e))?.checksum)
    }

    /// Takes back the reader slots of processes that died.
    pub fn clear_stale_readers(&self) -> Result<usize> {
        self.env.clear_stale_readers().map_err(|e| lmdb_error("clearing stale readers", &self.path, e))
    }

    /// Extends the file by zeros when the next commits are about to pass its end. The caller holds the writer lock.
    pub fn grow_ahead(&self) -> Result<()> {
        let grown = self.grow();
        self.is_roomy.store(grown.is_ok(), Relaxed);
        grown
    }

    fn grow(&self) -> Result<()> {
        let failed = |e: &std::io::Error| io_error("growing the store", &self.path, e);
        let used = (self.env.info().last_page_number as u64 + 1) * u64::from(page_size());
        let mut length = self.data.metadata().map_err(|e| failed(&e))?.len();
        if length >= used + GROWTH_BYTES / 4 {
            return Ok(());
        }
        let wanted = used + GROWTH_BYTES.min((used / 4).next_multiple_of(ZEROS.len() as u64).max(ZEROS.len() as u64));
        while length < wanted {
            let step = (wanted - length).min(ZEROS.len() as u64);
            self.data.write_all_at(&ZEROS[..step as usize], length).map_err(|e| failed(&e))?;
            length += step;
        }
        Ok(())
    }

    /// Whether a transaction whose commit failed is in the file all the same: its pages are written before the meta page that
    /// names it, and so is their sync.
    #[must_use]
    pub fn may_show(&self, transaction: u64) -> bool {
        let page_size = u64::from(page_size());
        (0..2).any(|which| !MetaPage::read(&self.data, page_size, which).is_ok_and(|meta| meta.transaction < transaction))
    }

    /// Whether the file cannot grow: LMDB tells a short write, which is how a disk fills up, as an error of the device.
    pub fn find_room(&self) -> Result<()> {
        let written = self.data.metadata().and_then(|data| self.data.write_all_at(&ZEROS, data.len()));
        written.map_err(|e| io_error("growing the store", &self.path, &e))
    }

    /// Waits until everything committed is on disk.
    pub fn sync(&self) -> Result<()> {
        self.env.force_sync().map_err(|e| lmdb_error("syncing the store", &self.path, e))?;
        self.data.sync_all().map_err(|e| io_error("syncing the store", &self.path, &e))
    }

    /// Adopts a map that another process made larger. No transaction of this process may be open.
    pub fn adopt_map_size(&self) -> Result<()> {
        // SAFETY: the gate holds its write lock, so that no transaction of this environment is open in this process.
        unsafe { self.env.resize(0) }.map_err(|e| lmdb_error("growing the map", &self.path, e))
    }

    /// Makes commits wait for the meta page (or not).
    pub fn set_relaxed(&self, relaxed: bool) -> Result<()> {
        self.relaxed.store(relaxed, Relaxed);
        let mode = if relaxed { FlagSetMode::Enable } else { FlagSetMode::Disable };
        // SAFETY: NO_META_SYNC changes which syncs a commit does, nothing about memory; the caller holds the gate's write lock.
        unsafe { self.env.set_flags(EnvFlags::NO_META_SYNC, mode) }.map_err(|e| lmdb_error("setting durability", &self.path, e))
    }

    /// Bytes of the data file, and bytes in use.
    pub fn sizes(&self) -> Result<(u64, u64)> {
        let length = self.data.metadata().map_err(|e| io_error("measuring the store", &self.path, &e))?.len();
        Ok((length, (self.env.info().last_page_number as u64 + 1) * u64::from(page_size())))
    }

    /// Says in the files that nobody has the generation open any more. The caller knows that nobody else has.
    pub fn mark_closed(&self) {
        if let Some(Shared { progress: Some(progress), verdict: Verdict::Sound, .. }) = &self.shared {
            progress.close(self.newest());
        }
    }

    /// Closes the environment; returns when LMDB has let go of its files.
    pub fn close(self) {
        drop(self.data);
        self.env.prepare_for_closing().wait();
        verified::forget_all(); // its addresses may hold another file next
    }
}

/// Joins those who have the reader table open, with a lock that stays as long as the descriptor.
fn join_table(path: &Path, read_only: bool) -> Result<Option<File>> {
    let failed = |e: &std::io::Error| io_error("opening the store", path, e);
    let file = match File::open(path) {
        Err(e) if read_only && e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        other => other.map_err(|e| failed(&e))?,
    };
    // SAFETY: all zeros is a flock of type F_RDLCK from the file's beginning, as it must be for an open file description.
    let mut range: libc::flock = unsafe { std::mem::zeroed() };
    range.l_type = libc::F_RDLCK as i16;
    range.l_whence = libc::SEEK_SET as i16;
    range.l_len = 1; // as LMDB's
    // SAFETY: the descriptor belongs to `file`, and `range` outlives the call.
    if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const range) } != 0 {
        return Err(failed(&std::io::Error::last_os_error()));
    }
    Ok(Some(file))
}

/// The error of a reader table that does not know the newest transaction.
fn behind(path: &Path, table: u64, newest: u64) -> Error {
    Error::new(
        ErrorKind::StoreCorrupt,
        format!(
            "using the store at {}: LMDB's reader table is at transaction {table} and the data file at {newest}; nothing was written: close              the store in all processes and open it again, which makes the table anew",
            path.display()
        ),
    )
}

fn reserve(path: &Path, mode: Mode) -> Result<Env<WithoutTls>> {
    let mut flags = EnvFlags::empty();
    flags.set(EnvFlags::READ_ONLY, mode.read_only);
    flags.set(EnvFlags::NO_META_SYNC, mode.relaxed);
    flags.set(EnvFlags::NO_SYNC, mode.building);
    let mut map_bytes = MAP_BYTES;
    loop {
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(map_bytes).max_readers(MAX_READERS);
        // SAFETY: the file was checked, lies on a local file system, and is opened once per process (the gate's registry);
        // of the unsafe flags NO_META_SYNC is what durability="relaxed" names, and NO_SYNC is for a generation not yet published.
        let opened = unsafe { options.flags(flags).open(path) };
        match opened {
            // EINVAL: an address space that is small for another reason, under valgrind for one.
            Err(heed::Error::Io(e)) if matches!(e.raw_os_error(), Some(libc::ENOMEM | libc::EINVAL)) && map_bytes > SMALLEST_MAP_BYTES => {
                map_bytes /= 2;
            }
            // The last handle of the same store is being closed by another thread just now.
            Err(heed::Error::EnvAlreadyOpened) if closes_soon(path) => {}
            other => return other.map_err(|e| lmdb_error("opening the store", path, e)),
        }
    }
}

/// Waits for an environment of this process to be closed; `false` where it is not.
fn closes_soon(path: &Path) -> bool {
    heed::env_closing_event(path).is_none_or(|event| event.wait_timeout(Duration::from_secs(10)))
}

/// The system's page size, which is LMDB's.
#[must_use]
pub fn page_size() -> u32 {
    // SAFETY: sysconf has no preconditions.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as u32 }
}

fn open_data_file(path: &Path) -> Result<File> {
    File::open(path).map_err(|e| {
        if e.kind() == std::io::ErrorKind::NotFound {
            corrupt(path, "the data file is missing")
        } else {
            io_error("opening the store", path, &e)
        }
    })
}

/// A read transaction: what was committed when it began.
pub struct Snapshot {
    /// Keeps LMDB from writing over its pages.
    _txn: RoTxn<'static, WithoutTls>,
    pages: Tree,
    free: Root,
    id: u64,
    secret: Secret,
    vault: Option<Arc<Vault>>,
    kept: Kept,
}

impl Snapshot {
    /// The pages that are free; none where that cannot be read.
    #[must_use]
    pub fn free_pages(&self) -> Option<std::collections::BTreeSet<u64>> {
        self.pages.free_pages(self.free)
    }

    /// Checks the list of free pages, and that no page is used twice.
    pub fn check_pages(&self) -> Result<()> {
        self.pages.check_free(self.free, true)
    }

    /// Its tree.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.pages
    }

    /// The transaction that it shows the end of.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }
}

/// The write transaction of a generation.
pub struct WriteTransaction<'e> {
    txn: RwTxn<'e>,
    /// What was committed before: the pages that LMDB walks until it copies them.
    base: Tree,
    tree: Handle,
    secret: Secret,
    environment: &'e Environment,
    changes: u64,
    /// Something was really changed: LMDB leaves no trace of a commit that changed nothing.
    dirty: bool,
    recorded: Option<Vec<Change>>,
    kept: Kept,
    /// Data keys that this transaction made.
    fresh: Vec<(Partition, Arc<Cipher>)>,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("pages", &self.pages).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for WriteTransaction<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriteTransaction").field("path", &self.environment.path).field("changes", &self.changes).finish_non_exhaustive()
    }
}

impl WriteTransaction<'_> {
    /// Its number in LMDB's count.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.txn.id() as u64
    }

    /// Values put and deleted so far: whether a failed operation left something behind.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Refuses to begin a write that takes nothing away while the file cannot be grown: what is left is kept for forgetting.
    pub fn require_room(&self) -> Result<()> {
        if self.environment.is_roomy.load(Relaxed) { Ok(()) } else { self.environment.grow_ahead() }
    }

    /// Records every put and delete from now on.
    pub fn record(&mut self) {
        self.recorded = Some(Vec::new());
    }

    /// What was put and deleted since [`record`](Self::record), in order; recording ends.
    pub fn recorded(&mut self) -> Vec<Change> {
        self.recorded.take().unwrap_or_default()
    }

    fn note(&mut self, key: &[u8], value: Option<&[u8]>) {
        if let Some(recorded) = &mut self.recorded {
            recorded.push(Change { key: key.to_vec(), value: value.map(<[u8]>::to_vec) });
        }
    }

    /// Appends a value at a key above all others: pages are filled to the brim.
    pub fn append(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.note(key, Some(value));
        self.changes += 1;
        self.dirty = true;
        self.tree
            .put_with_flags(&mut self.txn, heed::PutFlags::APPEND, key, value)
            .map_err(|e| lmdb_error("writing to the store", &self.environment.path, e))
    }

    /// Commits; returns when the commit is as durable as the environment's mode says.
    pub fn commit(self) -> Result<()> {
        if !self.dirty {
            return Ok(()); // a number that is announced and never in the file would read as a lost write
        }
        let (environment, id) = (self.environment, self.id());
        let announced = environment.announce(id)?;
        self.txn.commit().map_err(|e| lmdb_error("committing to the store", &environment.path, e))?;
        if let Some(announced) = announced {
            environment.committed(&announced, id);
        }
        Ok(())
    }
}

impl Snapshot {
    fn reveal<'s>(&'s self, vault: &'s Vault, key: &[u8], stored: &'s [u8]) -> Result<&'s [u8]> {
        vault.reveal(&self.kept, key, stored, |record| self.pages.get(record))
    }
}

impl Pages for Snapshot {
    fn secret(&self) -> Secret {
        self.secret
    }

    fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        let stored = self.pages.get(key)?;
        let (Some(vault), Some(stored)) = (&self.vault, stored) else { return Ok(stored) };
        self.reveal(vault, key, stored).map(Some)
    }

    fn get_beside_damage(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        self.pages.get_beside_damage(key)
    }

    fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        let entry = self.pages.floor(key)?;
        let (Some(vault), Some((key, stored))) = (&self.vault, entry) else { return Ok(entry) };
        Ok(Some((key, self.reveal(vault, key, stored)?)))
    }

    fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        match &self.vault {
            None => self.pages.scan(from, to, visit),
            Some(vault) => self.pages.scan(from, to, &mut |key, stored| visit(key, self.reveal(vault, key, stored)?)),
        }
    }

    fn scan_stored<'p>(
        &'p self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.pages.scan_stored(from, to, visit)
    }

    fn authenticate(&self, key: &[u8], stored: &[u8]) -> Result<()> {
        let Some(vault) = self.vault.as_ref().filter(|_| !is_exempt(key)) else { return Ok(()) };
        let partition = u32_at(key, 0).unwrap_or_default();
        match vault.data_key(partition, |record| self.pages.get(record))? {
            Some(data_key) => vault.decrypt(&data_key, key, stored).map(drop),
            None if self.pages.get(Key::new(STORE, Table::Erasing).u32(partition).as_slice())?.is_some() => Ok(()),
            None => Err(damaged(key, "the data key of its partition is missing")),
        }
    }
}

/// Until something is written, what was committed before is all there is; after that LMDB reads, where the pages are whole.
impl Pages for WriteTransaction<'_> {
    fn secret(&self) -> Secret {
        self.secret
    }

    fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        let stored = self.stored(key)?;
        let (Some(vault), Some(stored)) = (self.vault(), stored) else { return Ok(stored) };
        self.reveal(vault, key, stored).map(Some)
    }

    fn get_beside_damage(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        if self.changes == 0 { self.base.get_beside_damage(key) } else { self.get(key) }
    }

    fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        let entry = self.floor_stored(key)?;
        let (Some(vault), Some((key, stored))) = (self.vault(), entry) else { return Ok(entry) };
        Ok(Some((key, self.reveal(vault, key, stored)?)))
    }

    fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        self.scan_stored(from, to, &mut |key, stored| {
            verified::intact(key, stored)?;
            visit(key, self.vault().map_or(Ok(stored), |vault| self.reveal(vault, key, stored))?)
        })
    }

    fn scan_stored<'p>(
        &'p self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        if self.changes == 0 {
            return self.base.scan_stored(from, to, visit);
        }
        self.base.secure_range(from, to)?;
        for entry in self.tree.range(&self.txn, &(Included(from), Excluded(to))).map_err(read_error)? {
            let (key, value) = entry.map_err(read_error)?;
            if visit(key, value)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl PagesMut for WriteTransaction<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let environment = self.environment;
        match environment.vault.as_ref().filter(|_| !is_exempt(key)) {
            None => self.put_stored(key, value)?,
            Some(vault) => self.put_encrypted(vault, key, value)?,
        }
        self.note(key, Some(value));
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        self.base.secure(key, true)?;
        self.note(key, None);
        self.changes += 1;
        let known = self.tree.delete(&mut self.txn, key).map_err(|e| lmdb_error("writing to the store", &self.environment.path, e))?;
        self.dirty |= known;
        Ok(known)
    }
}

impl WriteTransaction<'_> {
    fn vault(&self) -> Option<&Vault> {
        self.environment.vault.as_deref()
    }

    fn stored(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        if self.changes == 0 {
            return self.base.get(key);
        }
        self.base.secure(key, false)?;
        self.tree.get(&self.txn, key).map_err(read_error)
    }

    #[allow(clippy::type_complexity)] // a key and a value
    fn floor_stored(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        if self.changes == 0 {
            return self.base.floor(key);
        }
        self.base.secure_range(key, key)?;
        self.tree.get_lower_than_or_equal_to(&self.txn, key).map_err(read_error)
    }

    /// Stores bytes as they are: what the caller encrypted, or need not.
    pub fn put_stored(&mut self, key: &[u8], stored: &[u8]) -> Result<()> {
        self.base.secure(key, false)?;
        self.changes += 1;
        self.dirty = true;
        self.tree.put(&mut self.txn, key, stored).map_err(|e| lmdb_error("writing to the store", &self.environment.path, e))
    }

    fn reveal<'s>(&'s self, vault: &'s Vault, key: &[u8], stored: &'s [u8]) -> Result<&'s [u8]> {
        let partition = u32_at(key, 0).unwrap_or_default();
        if let Some((_, data_key)) = self.fresh.iter().find(|(made, _)| *made == partition).filter(|_| !is_exempt(key)) {
            return vault.reveal_with(&self.kept, data_key, key, stored);
        }
        vault.reveal(&self.kept, key, stored, |record| self.base.get(record))
    }

    fn put_encrypted(&mut self, vault: &Vault, key: &[u8], value: &[u8]) -> Result<()> {
        self.kept.let_go();
        let data_key = self.data_key(vault, u32_at(key, 0).unwrap_or_default())?;
        let stored = Vault::encrypt(&data_key, key, value)?;
        self.put_stored(key, &stored)?;
        vault.remember(key, value, &stored)
    }

    /// The data key of a partition, made and stored where it has none.
    fn data_key(&mut self, vault: &Vault, partition: Partition) -> Result<Arc<Cipher>> {
        if let Some((_, made)) = self.fresh.iter().find(|(made, _)| *made == partition) {
            return Ok(Arc::clone(made));
        }
        if let Some(known) = vault.data_key(partition, |record| self.base.get(record))? {
            return Ok(known);
        }
        let (made, record) = vault.new_data_key(partition)?;
        self.put_stored(record_of(partition).as_slice(), &record)?;
        self.fresh.push((partition, Arc::clone(&made)));
        Ok(made)
    }
}

fn read_error(error: heed::Error) -> Error {
    lmdb_error("reading the store", Path::new("(open)"), error)
}

/// LMDB's error as ours.
#[must_use]
#[allow(clippy::needless_pass_by_value)] // every caller is a map_err
pub fn lmdb_error(doing: &str, path: &Path, error: heed::Error) -> Error {
    let (kind, next) = match &error {
        heed::Error::Io(e) => return io_error(doing, path, e),
        heed::Error::Mdb(MdbError::MapFull) => (ErrorKind::StoreFull, "the address space reserved for it is used up: split the store"),
        heed::Error::Mdb(MdbError::ReadersFull) => {
            (ErrorKind::StoreBusy, "too many reads are under way in all processes together: try again")
        }
        heed::Error::Mdb(MdbError::MapResized) => (ErrorKind::MapResized, "the gate adopts the new size and tries again"),
        heed::Error::Mdb(MdbError::Panic) => (ErrorKind::StoreIo, "an earlier write failed half way; the store is opened anew: try again"),
        heed::Error::Mdb(MdbError::Other(code)) => return io_error(doing, path, &std::io::Error::from_raw_os_error(*code)),
        _ => (ErrorKind::StoreCorrupt, "restore it from a backup, or run `memspan check` on it"),
    };
    Error::new(kind, format!("{doing} at {}: LMDB says: {error}: {next}", path.display())).with("path", path.display().to_string())
}
