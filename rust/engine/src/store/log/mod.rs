//! The log of a generation: the pages that its last commits wrote, one commit behind the other.
//!
//! LMDB scatters the pages of a commit over its file, and a disk takes its time over each. So nothing waits for that file here. A commit
//! appends its pages to the log, in one piece, and waits for that piece alone. The first to open a generation compares the log with
//! the data file and writes there what a power cut took ([`recovery`]). When the log is full the data file is synced, and the log begins
//! anew: its next epoch.
//!
//! ```text
//! page 0, 1   heads, written in turn, by epoch
//!             0 "mslg"   4 u32 epoch   8 u64 checksum of the bytes from 16 on   16 identity of the store   32 u32 generation   36 u32 0
//!             40 fields of the data file's newest meta page when the epoch began, all of it on disk   176 those of the older one
//! page 2 ...  records, one for each commit of the epoch
//!             0 "mslr"   4 u32 epoch   8 u64 checksum of the bytes from 16 on, pages included   16 u64 transaction   24 u32 pages
//!             28 u32 0   32 fields of its meta page   168 u64 number of each page, to the end of this page; then the pages
//! ```
//!
//! Two things make that sound. A commit changes no page of the tree before it, nor of the one before that, so that a commit which the log
//! lacks spoils nothing. And a writer that meets a commit which is not in the log syncs the data file before it writes.

mod content;
pub mod recovery;
mod syncer;

use std::fs::File;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use self::content::Head;
use self::syncer::{Synced, Syncer};
use super::files::{open_regular, own, require_named};
use super::folder::{GenerationNumber, PRIVATE, io_error};
use super::identity::StoreId;
use super::meta_pages::{FIELD_BYTES, RawMeta};
use super::tree::changed::Run;
use crate::Result;
use crate::process::lock;

const HEAD: [u8; 4] = *b"mslg";
const RECORD: [u8; 4] = *b"mslr";
/// Where the checksum of a head or record begins to cover it.
const COVERED: usize = 16;
/// Where the numbers of a record's pages begin.
const NUMBERS: usize = 32 + FIELD_BYTES;
/// The heads.
const HEADS: u32 = 2;
/// The pages of a new log, and the most that it grows to: 256 KiB and 4 MiB.
const PAGES: [u32; 2] = [64, 1024];
/// Up to so many pages it grows however small the data file is.
const SMALL: u32 = 128;
/// How many pages it gives away at a time where the disk is full: a small commit has room in them.
const GIVEN: u32 = 16;
/// A commit of more pages syncs the data file instead.
const MOST_PAGES: u64 = 256;

/// Where the next record goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The epoch, from 1 on.
    pub epoch: u32,
    /// The page.
    pub page: u32,
}

impl Place {
    /// Whether nothing was appended in its epoch.
    #[must_use]
    pub fn is_first(self) -> bool {
        self.page == HEADS
    }
}

/// The log of an open generation.
#[derive(Debug)]
pub struct Log {
    file: File,
    path: PathBuf,
    page_size: usize,
    store: StoreId,
    generation: GenerationNumber,
    /// Room for a record. Only those who hold the writer lock take it.
    room: Mutex<Vec<u8>>,
    /// None until a commit does not wait for the disk.
    syncer: Mutex<Option<Syncer>>,
}

/// A commit that is to be logged.
#[derive(Debug)]
pub struct Commit<'c> {
    /// Its number.
    pub transaction: u64,
    /// The fields of its meta page.
    pub meta: RawMeta,
    /// Its pages.
    pub runs: &'c [Run],
}

impl Log {
    /// Opens the log of the generation in `folder`, whose data file has pages of `page_size` bytes. A file that is missing is made, and has
    /// nothing in it; none where this may not be.
    pub fn open(folder: &Path, store: StoreId, generation: GenerationNumber, page_size: usize, read_only: bool) -> Result<Option<Self>> {
        let path = folder.join("log");
        let mut options = own();
        options.read(true).write(true).create(true).mode(PRIVATE).truncate(false);
        match if read_only { open_regular(&path) } else { options.open(&path) } {
            Ok(file) => Ok(Some(Self { file, path, page_size, store, generation, room: Mutex::default(), syncer: Mutex::default() })),
            Err(_) if read_only => Ok(None),
            Err(e) => Err(io_error("opening the log of the store", &path, &e)),
        }
    }

    /// Makes the log of a generation that was built and synced, durably.
    pub fn create(
        folder: &Path,
        store: StoreId,
        generation: GenerationNumber,
        page_size: usize,
        metas: [RawMeta; 2],
    ) -> Result<Option<Place>> {
        let log = Self::open(folder, store, generation, page_size, false)?;
        log.map(|log| log.fill().and_then(|()| log.restart(metas, PAGES[0]))).transpose()
    }

    fn failed(&self, error: &std::io::Error) -> crate::Error {
        io_error("writing the log of the store", &self.path, error)
    }

    /// Whether the open file is the one at its path. The next to open does not see writes to a removed file.
    pub fn check_file(&self) -> Result<()> {
        require_named(&self.file, &self.path)
    }

    /// How many pages it has, and no more than it may have: what is behind them is not ours.
    fn pages(&self) -> Result<u32> {
        let length = self.file.metadata().map_err(|e| self.failed(&e))?.len();
        Ok(u32::try_from(length / self.page_size as u64).map_or(PAGES[1], |pages| pages.min(PAGES[1])))
    }

    /// Appends a commit at `place`, whose pages `page` reads; the place behind it, or none where it is too large for what is left. It is on
    /// disk behind the next [`Self::sync`].
    pub fn append<'p>(&self, place: Place, commit: &Commit<'_>, page: impl Fn(Run) -> Result<&'p [u8]>) -> Result<Option<Place>> {
        let count: u64 = commit.runs.iter().map(|run| run.pages).sum();
        let fits = count <= MOST_PAGES && NUMBERS + 8 * count as usize <= self.page_size;
        if !fits || u64::from(place.page) + 1 + count > u64::from(self.pages()?) {
            return Ok(None);
        }
        let mut room = lock(&self.room);
        room.clear();
        room.resize(self.page_size, 0);
        room[..4].copy_from_slice(&RECORD);
        room[4..8].copy_from_slice(&place.epoch.to_le_bytes());
        room[16..24].copy_from_slice(&commit.transaction.to_le_bytes());
        room[24..28].copy_from_slice(&(count as u32).to_le_bytes());
        room[32..NUMBERS].copy_from_slice(&commit.meta.0);
        let numbers = commit.runs.iter().flat_map(|run| run.first..run.first + run.pages);
        for (at, number) in numbers.enumerate() {
            room[NUMBERS + 8 * at..][..8].copy_from_slice(&number.to_le_bytes());
        }
        for run in commit.runs {
            room.extend_from_slice(page(*run)?);
        }
        seal(&mut room);
        self.write(&room, place.page)?;
        Ok(Some(Place { page: place.page + 1 + count as u32, ..place }))
    }

    fn write(&self, bytes: &[u8], page: u32) -> Result<()> {
        self.file.write_all_at(bytes, u64::from(page) * self.page_size as u64).map_err(|e| self.failed(&e))
    }

    /// Waits until everything that was written to it is on disk.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|e| io_error("syncing the log of the store", &self.path, &e))
    }

    /// Begins to sync what was written, before `place`, and does not wait for it.
    pub fn begin_sync(&self, place: Place) {
        let mut syncer = lock(&self.syncer);
        if syncer.is_none() {
            *syncer = Syncer::new(&self.file);
        }
        if let Some(syncer) = &*syncer {
            syncer.ask(place);
        }
    }

    /// Waits until everything before `place` is on disk, whose sync was begun here or in another process; `false` where the system has
    /// lost some of it.
    pub fn finish_sync(&self, place: Place) -> bool {
        match lock(&self.syncer).as_ref().and_then(Syncer::wait) {
            Some(Synced::Upto(synced)) if synced == place => true,
            Some(Synced::Failed) => false,
            _ => self.sync().is_ok(),
        }
    }

    /// Begins the next epoch, durably, with as many pages as are wanted where there is room for them. The data file is on disk as far as
    /// `metas`, the newest first, say.
    pub fn restart(&self, metas: [RawMeta; 2], wanted: u32) -> Result<Place> {
        self.grow(HEADS, wanted.clamp(PAGES[0], PAGES[1]))?;
        let epoch = self.heads()?.iter().flatten().map(|head| head.epoch).fold(0, u32::max).wrapping_add(1).max(1);
        let head = Head { epoch, store: self.store, generation: self.generation, metas };
        self.write(&head.encode(self.page_size), epoch % HEADS)?;
        self.sync()?;
        Ok(Place { epoch, page: HEADS })
    }

    /// The pages to ask for when a log was full, beside a data file of so many pages.
    pub fn wanted(&self, data_pages: u64) -> Result<u32> {
        let most = u32::try_from(data_pages / 4).unwrap_or(u32::MAX).max(SMALL);
        Ok(self.pages()?.saturating_mul(2).min(most))
    }

    /// Makes it as long as a new one, where it gave pages away.
    pub fn fill(&self) -> Result<()> {
        self.grow(PAGES[0], PAGES[0])
    }

    /// Gives pages at its end back to the disk; `false` where it has none but the heads. Nothing in it is needed: its epoch has no record. A
    /// commit for which it is too short then is synced where it is.
    pub fn give_room(&self) -> Result<bool> {
        let pages = self.pages()?;
        if pages <= HEADS {
            return Ok(false);
        }
        let left = pages.saturating_sub(GIVEN).max(HEADS);
        self.file.set_len(u64::from(left) * self.page_size as u64).map_err(|e| self.failed(&e))?;
        Ok(true)
    }

    /// Extends the file by zeros. Syncing pages that were written before takes half as long as syncing new ones. On a full disk it does
    /// without some, but for the `least` that there must be.
    fn grow(&self, least: u32, wanted: u32) -> Result<()> {
        let pages = self.pages()?;
        if pages >= wanted {
            return Ok(());
        }
        let zeros = vec![0; self.page_size];
        for page in pages..wanted {
            match self.write(&zeros, page) {
                Err(error) if page < least => return Err(error),
                Err(_) => break,
                Ok(()) => {}
            }
        }
        Ok(())
    }
}

fn seal(bytes: &mut [u8]) {
    let sum = checksum(bytes);
    bytes[8..16].copy_from_slice(&sum.to_le_bytes());
}

/// Gives every head and record of a log's bytes the checksum of what it says: a fuzzer that looks behind the checksums makes such logs.
pub fn seal_all(bytes: &mut [u8], page_size: usize) {
    for at in (0..bytes.len()).step_by(page_size) {
        let rest = &mut bytes[at..];
        let covered = if rest.starts_with(&HEAD) { Some(content::HEAD_BYTES) } else { content::Record::claimed(rest, page_size) };
        if let Some(covered) = covered.and_then(|length| rest.get_mut(..length)) {
            seal(covered);
        }
    }
}

fn checksum(bytes: &[u8]) -> u64 {
    let epoch = bytes[4..8].try_into().map_or(0, u32::from_le_bytes);
    xxh3_64_with_seed(&bytes[COVERED..], u64::from(epoch))
}

#[cfg(test)]
mod tests;
