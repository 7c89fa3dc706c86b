//! One generation's LMDB environment: opened after its files were checked, read by snapshots, written by one transaction.

use std::fs::File;
use std::ops::Bound::{Excluded, Included};
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions, FlagSetMode, MdbError, RoTxn, RwTxn, WithoutTls};

use super::folder::{GenerationNumber, Manifest, corrupt, io_error};
use super::pages::{Pages, PagesMut};
use super::tree::map::DataFile;
use super::tree::{Root, Tree, free};
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
    /// Whether a write of this process has looked at the list of free pages.
    free_checked: AtomicBool,
    path: PathBuf,
    number: GenerationNumber,
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
    /// Makes an empty generation in `path`, an empty folder.
    pub fn create(path: &Path, number: GenerationNumber, mode: Mode) -> Result<Self> {
        Manifest::of_this_machine(page_size(), mode.format).write(path)?;
        Self::map(path, number, mode)
    }

    /// Opens the generation in `path` after checking its manifest and its length.
    pub fn open(path: &Path, number: GenerationNumber, mode: Mode) -> Result<Self> {
        let manifest = Manifest::read(path, mode.format)?;
        check_data_file(&path.join("data.mdb"), u64::from(manifest.page_size))?;
        Self::map(path, number, mode)
    }

    fn map(path: &Path, number: GenerationNumber, mode: Mode) -> Result<Self> {
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
        Ok(Self { env, tree, data, pages, free_checked: AtomicBool::new(false), path: path.to_owned(), number })
    }

    /// Which generation this is.
    #[must_use]
    pub fn number(&self) -> GenerationNumber {
        self.number
    }

    /// A snapshot of what is committed now.
    pub fn snapshot(&self) -> Result<Snapshot> {
        for _ in 0..META_TRIES {
            self.pages.check_length()?;
            let txn = self.read_transaction()?;
            if let Some((pages, _)) = self.tree_of(txn.id() as u64)? {
                return Ok(Snapshot { _txn: txn, pages });
            }
        }
        Err(corrupt(&self.path, "the newest meta page of the data file is damaged"))
    }

    /// The tree of a transaction, and that of the free pages; none where its meta page names another one by now.
    fn tree_of(&self, transaction: u64) -> Result<Option<(Tree, Root)>> {
        let meta = |mapped: &super::tree::map::Mapped| MetaPage::of(mapped.meta(transaction & 1)?);
        let mapped = self.pages.view(1)?;
        let Some(first) = meta(&mapped).filter(|meta| meta.transaction == transaction && meta.sound) else { return Ok(None) };
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

    /// A write transaction; the caller holds the writer lock.
    pub fn write(&self) -> Result<WriteTransaction<'_>> {
        self.pages.check_length()?;
        let txn = self.env.write_txn().map_err(|e| lmdb_error("writing to the store", &self.path, e))?;
        let base = self.tree_of((txn.id() as u64).saturating_sub(1))?;
        let (base, free) = base.ok_or_else(|| corrupt(&self.path, "the meta page of the last transaction is damaged"))?;
        if !self.free_checked.load(Relaxed) {
            base.check_free(free, base.last_page() < free::SMALL)?;
            self.free_checked.store(true, Relaxed);
        }
        Ok(WriteTransaction { txn, base, tree: self.tree, path: &self.path, changes: 0 })
    }

    /// Checks the list of free pages, and that no page is used twice.
    pub fn check_pages(&self) -> Result<()> {
        let txn = self.read_transaction()?;
        let Some((tree, free)) = self.tree_of(txn.id() as u64)? else { return Ok(()) };
        tree.check_free(free, true)
    }

    /// Takes back the reader slots of processes that died.
    pub fn clear_stale_readers(&self) -> Result<usize> {
        self.env.clear_stale_readers().map_err(|e| lmdb_error("clearing stale readers", &self.path, e))
    }

    /// Extends the file by zeros when the next commits are about to pass its end. The caller holds the writer lock.
    pub fn grow_ahead(&self) -> Result<()> {
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
        (0..2).any(|which| !matches!(MetaPage::read(&self.data, page_size, which), Ok(Some(meta)) if meta.transaction < transaction))
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
        let mode = if relaxed { FlagSetMode::Enable } else { FlagSetMode::Disable };
        // SAFETY: NO_META_SYNC changes which syncs a commit does, nothing about memory; the caller holds the gate's write lock.
        unsafe { self.env.set_flags(EnvFlags::NO_META_SYNC, mode) }.map_err(|e| lmdb_error("setting durability", &self.path, e))
    }

    /// Bytes of the data file, and bytes in use.
    pub fn sizes(&self) -> Result<(u64, u64)> {
        let length = self.data.metadata().map_err(|e| io_error("measuring the store", &self.path, &e))?.len();
        Ok((length, (self.env.info().last_page_number as u64 + 1) * u64::from(page_size())))
    }

    /// Closes the environment; returns when LMDB has let go of its files.
    pub fn close(self) {
        drop(self.data);
        self.env.prepare_for_closing().wait();
        super::verified::forget_all(); // its addresses may hold another file next
    }
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

/// Bytes of a meta page that mean something.
pub const META_BYTES: usize = 152;

/// What one of the two meta pages says, as far as it is looked at here; `docs/format.md` shows all of it.
#[derive(PartialEq)]
struct MetaPage {
    transaction: u64,
    last_page: u64,
    free: Root,
    values: Root,
    /// Whether its other fields are such as LMDB writes: it trusts them, and a wild page number ends the process.
    sound: bool,
}

impl MetaPage {
    fn read(file: &File, page_size: u64, which: u64) -> std::io::Result<Option<Self>> {
        let mut bytes = [0; META_BYTES];
        file.read_exact_at(&mut bytes, which * page_size)?;
        Ok(Self::of(&bytes))
    }

    fn of(bytes: &[u8; META_BYTES]) -> Option<Self> {
        const MAGIC: u32 = 0xBEEF_C0DE;
        const VERSION: u32 = 1;
        let u16_at = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let u32_at = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let u64_at = |at: usize| bytes[at..at + 8].try_into().map(u64::from_ne_bytes).unwrap_or_default();
        if u32_at(16) != MAGIC {
            return None;
        }
        let last_page = u64_at(136);
        let root = |at: usize| Root { page: u64_at(at + 40), depth: u16_at(at + 6), entries: u64_at(at + 32) };
        // The trees of free pages and of values: depth, and root page where there is one.
        let tree = |root: Root| root.depth < 32 && (root.page == u64::MAX || (2..=last_page).contains(&root.page));
        let (free, values) = (root(40), root(88));
        let sound = u32_at(20) == VERSION && u32_at(40) == page_size() && tree(free) && tree(values);
        Some(Self { transaction: u64_at(144), last_page, free, values, sound })
    }
}

/// LMDB maps a file without looking at its length: reading past the end of a truncated one kills the process with SIGBUS,
/// and a file of no bytes reads as an empty store. So its two meta pages are read first.
fn check_data_file(path: &Path, page_size: u64) -> Result<()> {
    let file = File::open(path).map_err(|e| {
        if e.kind() == std::io::ErrorKind::NotFound {
            corrupt(path, "the data file is missing")
        } else {
            io_error("opening the store", path, &e)
        }
    })?;
    let mut newest: Option<MetaPage> = None;
    for which in 0..2 {
        let meta =
            MetaPage::read(&file, page_size, which).map_err(|_| corrupt(path, "the data file is cut off before its two meta pages end"))?;
        let meta = meta.ok_or_else(|| corrupt(path, "the data file is not LMDB's (its magic number is missing)"))?;
        if newest.as_ref().is_none_or(|newest| meta.transaction > newest.transaction) {
            newest = Some(meta);
        }
    }
    let newest = newest.filter(|meta| meta.sound).ok_or_else(|| corrupt(path, "the newest meta page of the data file is damaged"))?;
    let length = file.metadata().map_err(|e| io_error("opening the store", path, &e))?.len();
    let end = newest.last_page.saturating_add(1).saturating_mul(page_size);
    if length < end {
        return Err(corrupt(path, &format!("the data file is cut off: it has {length} bytes and its last page ends at {end}")));
    }
    Ok(())
}

/// A read transaction: what was committed when it began.
pub struct Snapshot {
    /// Keeps LMDB from writing over its pages.
    _txn: RoTxn<'static, WithoutTls>,
    pages: Tree,
}

impl Snapshot {
    /// Its tree.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.pages
    }
}

/// The write transaction of a generation.
pub struct WriteTransaction<'e> {
    txn: RwTxn<'e>,
    /// What was committed before: the pages that LMDB walks until it copies them.
    base: Tree,
    tree: Handle,
    path: &'e Path,
    changes: u64,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("pages", &self.pages).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for WriteTransaction<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriteTransaction").field("path", &self.path).field("changes", &self.changes).finish_non_exhaustive()
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

    /// Appends a value at a key above all others: pages are filled to the brim.
    pub fn append(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.changes += 1;
        self.tree
            .put_with_flags(&mut self.txn, heed::PutFlags::APPEND, key, value)
            .map_err(|e| lmdb_error("writing to the store", self.path, e))
    }

    /// Commits; returns when the commit is as durable as the environment's mode says.
    pub fn commit(self) -> Result<()> {
        let path = self.path;
        self.txn.commit().map_err(|e| lmdb_error("committing to the store", path, e))
    }
}

impl Pages for Snapshot {
    fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        self.pages.get(key)
    }

    fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        self.pages.floor(key)
    }

    fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        self.pages.scan(from, to, visit)
    }
}

/// Until something is written, what was committed before is all there is; after that LMDB reads, where the pages are whole.
impl Pages for WriteTransaction<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        if self.changes == 0 {
            return self.base.get(key);
        }
        self.base.secure(key, false)?;
        self.tree.get(&self.txn, key).map_err(read_error)
    }

    fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        if self.changes == 0 {
            return self.base.floor(key);
        }
        self.base.secure_range(key, key)?;
        self.tree.get_lower_than_or_equal_to(&self.txn, key).map_err(read_error)
    }

    fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        if self.changes == 0 {
            return self.base.scan(from, to, visit);
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
        self.base.secure(key, false)?;
        self.changes += 1;
        self.tree.put(&mut self.txn, key, value).map_err(|e| lmdb_error("writing to the store", self.path, e))
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        self.base.secure(key, true)?;
        self.changes += 1;
        self.tree.delete(&mut self.txn, key).map_err(|e| lmdb_error("writing to the store", self.path, e))
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
        _ => (ErrorKind::StoreCorrupt, "restore it from a backup, or run `memspan doctor` on it"),
    };
    Error::new(kind, format!("{doing} at {}: LMDB says: {error}: {next}", path.display())).with("path", path.display().to_string())
}
