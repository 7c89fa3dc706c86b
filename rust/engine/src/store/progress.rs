//! The file `progress` of a generation: which transaction was acknowledged last, apart from LMDB's own files.
//!
//! LMDB believes its newest meta page, whatever became of it. So every commit leaves its number here, too. Every opening and every
//! transaction compares it: an older tree than the last acknowledged one is an error. The record is one
//! `pwrite` of 96 bytes behind the commit, which announces the next one as well; the first commit since the store was closed is
//! announced before it. None is synced: after a power cut the file may be older than the data, and its number is then a lower bound.
//!
//! ```text
//! 0  "mspg"        4  u32 CRC-32 of bytes 8..96     8  identity of the store      24  u32 generation     28  u32 flags
//! 32 u64 last transaction acknowledged        40 u64 the one under way, else the same      48 u64 the last known to be on disk
//! 56 u64 inode of data.mdb                    64 boot id                       80 u32 CRC-32 of the fields of the last one's meta page
//! 84 u32 epoch of the log, 0 for none         88 u32 page of the log behind the last one's record
//! ```
//!
//! Of the flags bit 0 says that the last process closed the store, and bit 1 that a sync failed.
//!
//! The inode tells a copy of the folder from the folder itself. A copy of files that were being written is torn in ways that cannot
//! be told from its meta pages, and this file says nothing of when the others were copied: it may have been first, while the store
//! was closed, and the data file behind it, while somebody wrote. So a copy is [`Verdict::Unverified`]: it is checked as a whole before
//! it is used, once. Where nothing can be written that would be every time, and a copy of a closed store is taken for whole.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::files::{FileId, open_regular, own, require_named};
use super::folder::{GenerationNumber, PRIVATE, corrupt, io_error};
use super::identity::StoreId;
use super::log::Place;
use super::meta_pages::{MetaPage, MetaPages};
use crate::Result;

const MAGIC: [u8; 4] = *b"mspg";

/// Bytes of the file.
pub const BYTES: usize = 96;

/// The content of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Record {
    store: StoreId,
    generation: GenerationNumber,
    closed: bool,
    /// A sync of the data file failed, and the system has forgotten what it had still to write.
    failed: bool,
    last: u64,
    next: u64,
    durable: u64,
    inode: u64,
    boot: [u8; 16],
    meta: u32,
    /// Where the log goes on; none where the writer of the next transaction has to sync the data file first.
    place: Option<Place>,
}

impl Record {
    /// Behind the commit of the next transaction.
    fn behind(&self, meta: u32, synced: bool, place: Option<Place>) -> Self {
        let (last, durable) = (self.next, if synced { self.next } else { self.last.max(self.durable) });
        Self { last, next: last.saturating_add(1), durable, meta, place, ..*self }
    }

    fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[8..24].copy_from_slice(&self.store.0);
        bytes[24..28].copy_from_slice(&self.generation.to_le_bytes());
        bytes[28] = u8::from(self.closed) | u8::from(self.failed) << 1;
        for (at, number) in [(32, self.last), (40, self.next), (48, self.durable), (56, self.inode)] {
            bytes[at..at + 8].copy_from_slice(&number.to_le_bytes());
        }
        bytes[64..80].copy_from_slice(&self.boot);
        let Place { epoch, page } = self.place.unwrap_or(Place { epoch: 0, page: 0 });
        for (at, number) in [(80, self.meta), (84, epoch), (88, page)] {
            bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
        }
        seal(&mut bytes);
        bytes
    }

    fn decode(bytes: &[u8; BYTES]) -> Option<Self> {
        let u32_at = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        let sixteen = |at: usize| bytes[at..at + 16].try_into().ok();
        if bytes[..4] != MAGIC || u32_at(4) != crc32fast::hash(&bytes[8..]) {
            return None;
        }
        Some(Self {
            store: StoreId(sixteen(8)?),
            generation: u32_at(24),
            closed: bytes[28] & 1 == 1,
            failed: bytes[28] >> 1 & 1 == 1,
            last: u64_at(32),
            next: u64_at(40),
            durable: u64_at(48),
            inode: u64_at(56),
            boot: sixteen(64)?,
            meta: u32_at(80),
            place: (u32_at(84) > 0).then(|| Place { epoch: u32_at(84), page: u32_at(88) }),
        })
    }
}

/// Gives the bytes of the file their checksum.
pub fn seal(bytes: &mut [u8; BYTES]) {
    let sum = crc32fast::hash(&bytes[8..]);
    bytes[4..8].copy_from_slice(&sum.to_le_bytes());
}

/// The verdict on a generation that is being opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It is what was acknowledged last.
    Sound,
    /// Nothing contradicts, and nothing vouches for it: all of it is to be read before it is used. Why.
    Unverified(&'static str),
}

/// The file of one generation, open.
#[derive(Debug)]
pub struct Progress {
    file: Option<File>,
    path: PathBuf,
    store: StoreId,
    generation: GenerationNumber,
    data: FileId,
    boot: [u8; 16],
    read_only: bool,
}

impl Progress {
    /// Writes the file of a generation that was built and synced, durably; `place` is where its log begins.
    pub fn create(
        folder: &Path,
        store: StoreId,
        generation: GenerationNumber,
        data: &File,
        pages: &MetaPages,
        place: Option<Place>,
    ) -> Result<()> {
        let path = folder.join("progress");
        let failed = |e: &std::io::Error| io_error("writing the generation's progress", &path, e);
        let file = own().read(true).write(true).create(true).mode(PRIVATE).truncate(false).open(&path).map_err(|e| failed(&e))?;
        let last = pages.newest.transaction;
        let inode = FileId::of(data).map_err(|e| failed(&e))?.inode;
        let meta = pages.newest.checksum;
        let record =
            Record { store, generation, closed: true, failed: false, last, next: last, durable: last, inode, boot: boot_id(), meta, place };
        file.write_all_at(&record.encode(), 0).and_then(|()| file.sync_all()).map_err(|e| failed(&e))
    }

    /// Opens the file in `folder`, which need not be there.
    pub fn open(folder: &Path, store: StoreId, generation: GenerationNumber, data: FileId, read_only: bool) -> Result<Self> {
        let path = folder.join("progress");
        let writable = || own().read(true).write(true).create(true).truncate(false).open(&path);
        let file = match if read_only { open_regular(&path) } else { writable() } {
            Ok(file) => Some(file),
            Err(_) if read_only => None,
            Err(e) => return Err(io_error("opening the generation's progress", &path, &e)),
        };
        Ok(Self { file, path, store, generation, data, boot: boot_id(), read_only })
    }

    /// Whether the open file is the one at its path. The next to open does not see writes to a removed file.
    pub fn check_file(&self) -> Result<()> {
        self.file.as_ref().map_or(Ok(()), |file| require_named(file, &self.path))
    }

    fn load(&self) -> Option<Record> {
        let mut bytes = [0; BYTES];
        self.file.as_ref()?.read_exact_at(&mut bytes, 0).ok()?;
        Record::decode(&bytes)
    }

    fn store(&self, record: &Record) -> Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        file.write_all_at(&record.encode(), 0).map_err(|e| io_error("writing the generation's progress", &self.path, &e))
    }

    /// Judges a generation that is being opened, beside those who may be writing to it.
    pub fn judge(&self, mut pages: impl FnMut() -> Result<MetaPages>) -> Result<Verdict> {
        let mut record = self.load();
        loop {
            let pages = pages()?;
            let verdict = match &record {
                None => Ok(Verdict::Unverified("its file `progress` is missing or damaged")),
                Some(record) => self.compare(record, &pages),
            };
            // A commit between the two readings explains every difference.
            let again = self.load();
            if again == record {
                return verdict;
            }
            record = again;
        }
    }

    fn compare(&self, record: &Record, pages: &MetaPages) -> Result<Verdict> {
        let newest = &pages.newest;
        if (record.store, record.generation) != (self.store, self.generation) {
            return Err(corrupt(&self.path, "the generation's files are of two stores, or of two generations"));
        }
        if newest.transaction < record.durable {
            return Err(self.older(newest.transaction, record.durable));
        }
        if newest.transaction == record.last && newest.checksum != record.meta {
            return Err(corrupt(&self.path, "the newest meta page of the data file is not the one that was written last: it is damaged"));
        }
        if record.inode != self.data.inode {
            let was_closed = record.closed && newest.transaction == record.last;
            return Ok(match was_closed {
                true if self.read_only => Verdict::Sound,
                true => Verdict::Unverified("it is a copy, and the store may have been in use while it was made"),
                false => Verdict::Unverified("it is a copy that was made while the store was in use"),
            });
        }
        self.within_a_boot(record, pages).map(|()| Verdict::Sound)
    }

    /// Data written since the machine started is in the system's cache, on disk or not.
    fn within_a_boot(&self, record: &Record, pages: &MetaPages) -> Result<()> {
        let newest = pages.newest.transaction;
        if !self.same_boot(record) || newest == record.last {
            return Ok(());
        }
        if newest < record.last {
            return Err(self.older(newest, record.last));
        }
        let announced = newest == record.next && pages.older.transaction == record.last && pages.older.checksum == record.meta;
        if announced {
            return Ok(());
        }
        Err(corrupt(&self.path, "the data file's newest meta page names a transaction that nobody began: it is damaged"))
    }

    fn same_boot(&self, record: &Record) -> bool {
        record.boot == self.boot && self.boot != [0; 16]
    }

    fn older(&self, newest: u64, last: u64) -> crate::Error {
        let why = format!(
            "the data file ends with transaction {newest}, and transaction {last} was acknowledged: what was written last is damaged, or the \
             files are of two times (a copy of a store in use, made without memspan backup); to go on with the older state all the same, remove \
             the files `progress` and `log`"
        );
        corrupt(&self.path, &why).with("newest", newest as i64).with("acknowledged", last as i64)
    }

    /// The record of `base`, the newest transaction of the data file; refuses to go back behind what was acknowledged. The caller
    /// holds the writer lock. `checksum` reads the newest meta page.
    pub fn standing(&self, base: u64, checksum: impl FnOnce() -> Result<u32>) -> Result<Standing> {
        let known = self.load().filter(|record| (record.store, record.generation) == (self.store, self.generation));
        if let Some(record) = &known
            && base < if self.same_boot(record) { record.last } else { record.durable }
        {
            return Err(self.older(base, record.last));
        }
        let of_base = known.filter(|record| record.last == base);
        let meta = of_base.map_or_else(checksum, |record| Ok(record.meta))?;
        let goes_on = of_base.filter(|record| self.same_boot(record) && record.inode == self.data.inode);
        let place = goes_on.and_then(|record| record.place);
        let (durable, failed) = known.map_or((0, false), |record| (record.durable, record.failed));
        let (store, generation, inode, boot) = (self.store, self.generation, self.data.inode, self.boot);
        let record = Record {
            store,
            generation,
            closed: false,
            failed,
            last: base,
            next: base.saturating_add(1),
            durable,
            inode,
            boot,
            meta,
            place,
        };
        Ok(Standing { record, is_known: known == Some(record) })
    }

    /// Says that the newest transaction is on disk, and where the log goes on.
    pub fn settled(&self, standing: &mut Standing, place: Option<Place>) -> Result<()> {
        standing.record = Record { durable: standing.record.last, failed: false, place, ..standing.record };
        standing.is_known = true;
        self.store(&standing.record)
    }

    /// Notes that a sync of the data file failed.
    pub fn failed(&self) {
        let _ = self.load().map(|record| self.store(&Record { failed: true, place: None, ..record }));
    }

    /// Says that the log has no place for a record: it begins anew. Nothing else changes until it has.
    pub fn forget_place(&self) -> Result<()> {
        let record = self.load().filter(|record| record.place.is_some());
        record.map_or(Ok(()), |record| self.store(&Record { place: None, ..record }))
    }

    /// The last transaction that everybody must find who opens the generation: acknowledged, and on disk where the machine was restarted
    /// since; 0 where nothing says.
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        let known = self.load().filter(|record| (record.store, record.generation) == (self.store, self.generation));
        known.map_or(0, |record| if self.same_boot(&record) { record.last } else { record.durable })
    }

    /// Whether the data file is the one that was written to since the machine started.
    #[must_use]
    pub fn is_of_this_boot(&self) -> bool {
        self.load().is_some_and(|record| self.same_boot(&record) && record.inode == self.data.inode)
    }

    /// Whether `newest` is what the file names as the last, and all of it is in the system's cache, or was on disk when the store was closed.
    #[must_use]
    pub fn vouches_for(&self, newest: &MetaPage) -> bool {
        self.load().is_some_and(|record| {
            let is_last = (record.last, record.meta, record.inode) == (newest.transaction, newest.checksum, self.data.inode);
            let is_on_disk = record.closed && record.place.is_some_and(Place::is_first);
            is_last && (self.same_boot(&record) || is_on_disk)
        })
    }

    /// Announces the next transaction.
    pub fn announce(&self, standing: &Standing) -> Result<()> {
        if standing.is_known { Ok(()) } else { self.store(&standing.record) }
    }

    /// Says that what was announced is committed, and on disk where `synced` says so. The log goes on at `place`.
    pub fn committed(&self, standing: &Standing, meta: u32, synced: bool, place: Option<Place>) {
        // It announces the next one, too. Where this fails, the announced number is there, and stands for it.
        let _ = self.store(&standing.record.behind(meta, synced, place));
    }

    /// Vouches for what the data file says now: all of it was read and found whole. The log goes on at `place`.
    pub fn vouch(&self, pages: &MetaPages, place: Option<Place>) -> Result<()> {
        let last = pages.newest.transaction;
        let (store, generation, inode, boot, meta) = (self.store, self.generation, self.data.inode, self.boot, pages.newest.checksum);
        let durable = self.load().map_or(0, |record| record.durable.min(last));
        self.store(&Record { store, generation, closed: false, failed: false, last, next: last, durable, inode, boot, meta, place })
    }

    /// Says that nobody has the generation open any more. The caller knows it.
    pub fn close(&self, newest: u64) {
        let record = self.load().filter(|record| !record.closed && record.last == newest && record.inode == self.data.inode);
        if let Some(record) = record {
            let _ = self.store(&Record { closed: true, next: record.last, ..record }); // else it counts as in use, which costs a check of a copy
        }
    }
}

/// The record of the newest transaction, as the writer of the next one takes it.
#[derive(Debug, Clone, Copy)]
pub struct Standing {
    record: Record,
    /// Whether the file says so, word for word.
    is_known: bool,
}

impl Standing {
    /// Whether the newest transaction is on disk.
    #[must_use]
    pub fn is_durable(&self) -> bool {
        self.record.durable == self.record.last
    }

    /// Where the log goes on; none where it lacks the newest transaction.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.record.place
    }

    /// Whether a sync of the data file failed since the log began.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.record.failed
    }

    /// This progress once the newest transaction is on disk. The file says less, and that does no harm.
    #[must_use]
    pub fn durable(self) -> Self {
        Self { record: Record { durable: self.record.last, ..self.record }, ..self }
    }

    /// This progress behind the transaction that comes next.
    #[must_use]
    pub fn behind(&self, meta: u32) -> Self {
        Self { record: self.record.behind(meta, false, None), is_known: false }
    }
}

/// Which start of the machine this is; zeros where the system does not say.
fn boot_id() -> [u8; 16] {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: String = text.trim().chars().filter(|c| *c != '-').collect();
    StoreId::from_hex(&digits).map_or([0; 16], |id| id.0)
}

#[cfg(test)]
#[path = "progress_tests.rs"]
mod tests;
