//! One generation's LMDB environment: opened after its files were checked, read by snapshots, written by one transaction.

mod durable;
mod open;
mod readers;
mod snapshot;
mod transaction;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use heed::types::Bytes;
use heed::{Database, Env, MdbError, RoTxn, WithoutTls};

use crate::store::files::{FileId, require_named};
use crate::store::folder::{GenerationNumber, corrupt, io_error};
use crate::store::identity::{Secret, StoreId};
use crate::store::log::Log;
use crate::store::meta_pages::MetaPage;
use crate::store::progress::{Progress, Verdict};
use crate::store::tree::map::DataFile;
use crate::store::tree::{Root, Tree, free};
use crate::store::vault::Vault;
use crate::store::vault::kept::Kept;
use crate::{Error, ErrorKind, Result};

use readers::ReaderTable;
pub use snapshot::Snapshot;
pub use transaction::WriteTransaction;

/// The file grows by this much at a time, filled with zeros: a sync of pages that were written before takes half as
/// long as one that also has to record where the file ends (61 against 136 us on ext4, 32 KiB a sync, measured 2026-11).
const GROWTH_BYTES: u64 = 1 << 20;

/// So much must be free within the file where it cannot grow. Of that a part serves nobody yet: the pages that the last commits gave back,
/// and those that readers look at.
const ENOUGH_BYTES: u64 = GROWTH_BYTES / 2;

/// The zeros by which the file grows.
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
    /// The layout of its bytes.
    format: u32,
    relaxed: AtomicBool,
    id: Option<StoreId>,
    secret: Secret,
    /// None where the store is not encrypted, or was not unlocked: then stored bytes are read as they are.
    vault: Option<Arc<Vault>>,
    /// None of a generation that is being built: nobody else knows it yet.
    shared: Option<Shared>,
}

/// The binding of an open generation to its files and to the other processes that have it open.
#[derive(Debug)]
struct Shared {
    data: FileId,
    /// None of a format before 4.
    progress: Option<Progress>,
    /// None of a format before 8, and where nothing may be written and there is none.
    log: Option<Log>,
    verdict: Verdict,
    /// None where the mount is read-only: LMDB does without, too.
    table: Option<ReaderTable>,
}

/// How a generation is opened.
#[derive(Debug, Clone, Copy)]
pub struct Mode {
    /// Nothing may be written.
    pub read_only: bool,
    /// A commit does not wait for the disk, and the next one does: a power cut may undo the last one.
    pub relaxed: bool,
    /// A commit waits for nothing: only for a generation that is being built and is synced at its end.
    pub building: bool,
    /// The format that the generation must have, or is made in.
    pub format: u32,
}

impl Mode {
    /// The mode of a generation of `format` that is being built.
    #[must_use]
    pub fn building(format: u32) -> Self {
        Self { read_only: false, relaxed: false, building: true, format }
    }
}

/// Wherever an environment goes, its addresses may hold another file next.
impl Drop for Environment {
    fn drop(&mut self) {
        crate::store::verified::forget_all();
    }
}

impl Environment {
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

    /// The identity of its store, and the key of its hashes.
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
        if record { self.record_as_whole() } else { Ok(()) }
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
            let length = self.pages.check_length()?;
            let txn = self.read_transaction()?;
            let id = txn.id() as u64;
            if let Some((pages, free)) = self.tree_of(id, length)? {
                return Ok(Snapshot { _txn: txn, pages, free, id, secret: self.secret, vault: self.vault.clone(), kept: Kept::default() });
            }
        }
        Err(corrupt(&self.path, "the newest meta page of the data file is damaged"))
    }

    /// The tree of a transaction, and that of the free pages, in a file that had `length` bytes; none where its meta page names another
    /// one by now.
    fn tree_of(&self, transaction: u64, length: u64) -> Result<Option<(Tree, Root)>> {
        let meta = |mapped: &crate::store::tree::map::Mapped| {
            Some(MetaPage::of(mapped.meta(transaction & 1)?, u64::from(page_size()), transaction & 1))
        };
        let mapped = self.pages.view(1, length)?;
        let Some(first) = meta(&mapped).filter(|meta| meta.transaction == transaction && meta.is_sound()) else { return Ok(None) };
        let mapped = self.pages.view(first.last_page, length)?;
        // Read twice, apart: a page that is being written differs.
        std::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
        match meta(&mapped) {
            Some(again) if again == first => {
                Ok(Some((Tree::new(mapped, first.values, first.last_page, self.vault.is_some())?, first.free)))
            }
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
        shared.table.as_ref().map_or(Ok(()), |table| require_named(table.file(), &self.path.join("lock.mdb")))
    }

    /// Whether they are. Others are there after a compaction, and where the store was moved away or a backup put in its place.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.check_files().is_ok()
    }

    /// A write transaction; the caller holds the writer lock. Refused where the files are not those that are open, and where it would
    /// build on an older tree than the newest, or than the last one acknowledged.
    pub fn write(&self) -> Result<WriteTransaction<'_>> {
        self.check_files()?;
        self.progress().map_or(Ok(()), Progress::check_file)?;
        self.log().map_or(Ok(()), Log::check_file)?;
        let length = self.pages.check_length()?;
        let txn = self.env.write_txn().map_err(|e| lmdb_error("writing to the store", &self.path, e))?;
        let (id, newest) = (txn.id() as u64, self.newest());
        if self.shared.is_some() && id != newest + 1 {
            return Err(behind(&self.path, id.saturating_sub(1), newest));
        }
        let standing = self.standing(newest)?;
        let base = self.tree_of(id.saturating_sub(1), length)?;
        let (base, free) = base.ok_or_else(|| corrupt(&self.path, "the meta page of the last transaction is damaged"))?;
        if !self.free_checked.load(Relaxed) {
            base.check_free(free, base.last_page() < free::SMALL)?;
            self.free_checked.store(true, Relaxed);
        }
        Ok(WriteTransaction {
            txn,
            base,
            base_free: free,
            standing,
            tree: self.tree,
            secret: self.secret,
            environment: self,
            changes: 0,
            dirty: false,
            recorded: None,
            kept: Kept::default(),
            fresh: Vec::new(),
            written: Vec::new(),
            half_done: false,
            reach: None,
        })
    }

    fn progress(&self) -> Option<&Progress> {
        self.shared.as_ref()?.progress.as_ref()
    }

    fn log(&self) -> Option<&Log> {
        self.shared.as_ref()?.log.as_ref()
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

    /// Extends the data file by zeros when the next commits are about to pass its end, and a log that gave its pages away. The caller holds
    /// the writer lock. While this fails, what is left is for writes that take something away. Where the disk is full, `free_pages` says
    /// how many pages are free within the file: many of them serve as well.
    pub fn grow_ahead(&self, free_pages: impl FnOnce() -> Option<u64>) -> Result<()> {
        match self.grow_data() {
            Err(error) if error.kind() == ErrorKind::StoreFull && free_pages() >= Some(ENOUGH_BYTES / u64::from(page_size())) => {}
            other => other?,
        }
        self.log().map_or(Ok(()), Log::fill)
    }

    /// Lengthens the data file over the pages that the newest commit took and gave back, which LMDB counts and never writes. A file that is
    /// shorter than it says is taken for one that was cut off. Should this fail, an opening makes up for it by the log.
    pub(super) fn cover(&self) {
        let end = (self.env.info().last_page_number as u64 + 1) * u64::from(page_size());
        if self.data.metadata().is_ok_and(|data| data.len() < end) {
            let _ = self.data.set_len(end);
        }
    }

    fn grow_data(&self) -> Result<()> {
        let failed = |e: &std::io::Error| {
            io_error("growing the store", &self.path, e)
                .and("where nothing can be removed, enlarge the volume, or move the store to a larger one with `memspan backup`")
        };
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

    /// The error of a commit that LMDB refused with `error`. It tells a short write, which is how a disk fills up, as an error of the device.
    fn refused(&self, error: Error) -> Error {
        if error.kind() != ErrorKind::StoreIo {
            return error;
        }
        let written = self.data.metadata().and_then(|data| self.data.write_all_at(&ZEROS, data.len()));
        let found = written.map_err(|e| io_error("growing the store", &self.path, &e));
        found.err().filter(|found| found.kind() == ErrorKind::StoreFull).unwrap_or(error)
    }

    /// Waits until everything committed is on disk.
    pub fn sync(&self) -> Result<()> {
        self.env.force_sync().map_err(|e| lmdb_error("syncing the store", &self.path, e))?;
        self.data.sync_all().map_err(|e| io_error("syncing the store", &self.path, &e))?;
        self.log().map_or(Ok(()), Log::sync)
    }

    /// Adopts a map that another process made larger. No transaction of this process may be open.
    pub fn adopt_map_size(&self) -> Result<()> {
        // SAFETY: the gate holds its write lock, so that no transaction of this environment is open in this process.
        unsafe { self.env.resize(0) }.map_err(|e| lmdb_error("growing the map", &self.path, e))
    }

    /// Makes commits wait for the disk (or not).
    pub fn set_relaxed(&self, relaxed: bool) {
        self.relaxed.store(relaxed, Relaxed);
    }

    /// Bytes of the data file, and bytes in use.
    pub fn sizes(&self) -> Result<(u64, u64)> {
        let length = self.data.metadata().map_err(|e| io_error("measuring the store", &self.path, &e))?.len();
        Ok((length, (self.env.info().last_page_number as u64 + 1) * u64::from(page_size())))
    }

    /// Says in the files that nobody has the generation open any more. The caller knows that nobody else has. Where it is closed `for_good`,
    /// all of it is in the data file.
    pub fn mark_closed(&self, for_good: bool) {
        if let Some(Shared { progress: Some(progress), verdict: Verdict::Sound, .. }) = &self.shared {
            let emptied = if for_good { self.empty_log() } else { Ok(()) };
            if emptied.is_ok() {
                progress.close(self.newest());
            }
        }
    }

    /// Closes the environment; returns when LMDB has let go of its files.
    pub fn close(self) {
        let closed = self.env.clone().prepare_for_closing();
        drop(self);
        closed.wait();
    }
}

/// The error of a reader table that does not know the newest transaction.
fn behind(path: &Path, table: u64, newest: u64) -> Error {
    Error::new(
        ErrorKind::StoreCorrupt,
        format!(
            "using the store at {}: LMDB's reader table is at transaction {table} and the data file at {newest}; nothing was written: close the store in all processes and open it again, which makes the table anew",
            path.display()
        ),
    )
}

/// The system's page size, which is LMDB's.
#[must_use]
pub fn page_size() -> u32 {
    // SAFETY: sysconf has no preconditions.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as u32 }
}

/// LMDB's error as ours.
#[must_use]
#[allow(clippy::needless_pass_by_value)] // every caller is a map_err
pub fn lmdb_error(doing: &str, path: &Path, error: heed::Error) -> Error {
    let (kind, next) = match &error {
        heed::Error::Io(e) => return io_error(doing, path, e),
        heed::Error::Mdb(MdbError::MapFull) => (
            ErrorKind::StoreFull,
            "the address space reserved for it is used up: close the store and open it again, which reserves more; above 1 TiB, split the store",
        ),
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
