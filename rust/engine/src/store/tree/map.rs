//! The data file, mapped once more and read-only: LMDB does not tell where its own map begins.
//!
//! Both show the same pages of the system's cache. A map may be longer than the file. Bytes behind the file's end must
//! not be touched, which is why a snapshot compares its last page with the file's length ([`DataFile::view`]).

use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU16, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};

use super::super::files::own;
use super::super::folder::{corrupt, io_error};
use super::super::meta_pages::META_BYTES;
use crate::Result;

/// Room for growth, before the file is mapped anew.
const HEADROOM: u64 = 64 << 20;

/// A map of a file.
#[derive(Debug)]
pub struct Map {
    start: *const u8,
    bytes: usize,
    /// Its pages that were checked.
    pub checked: Checked,
}

// SAFETY: nothing is ever written through it, and it lives until its last owner drops it.
unsafe impl Send for Map {}
// SAFETY: as above.
unsafe impl Sync for Map {}

impl Map {
    fn new(file: &File, bytes: usize, page_size: usize) -> std::io::Result<Self> {
        // SAFETY: a new map of a file that is open; nothing of ours lies at an address that the system chooses.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0) };
        if start == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        Ok(Self { start: start.cast(), bytes, checked: Checked::for_pages(bytes / page_size) })
    }

    /// Bytes of the map; the caller has compared `from + length` with the end of the file.
    #[must_use]
    pub fn bytes(&self, from: usize, length: usize) -> Option<&[u8]> {
        if from.checked_add(length)? > self.bytes {
            return None;
        }
        // SAFETY: within the map, which lives as long as `self`; LMDB writes no page that a snapshot can reach.
        Some(unsafe { std::slice::from_raw_parts(self.start.add(from), length) })
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: the map that `new` made, and nobody borrows from it any more.
        unsafe { libc::munmap(self.start.cast_mut().cast(), self.bytes) };
    }
}

/// Which pages of a map this process has checked: two bytes a page, made of its kind and bounds.
///
/// A page that LMDB writes anew comes from memory, not from the disk; nearly always its bounds differ, and it is checked again.
pub struct Checked(Box<[AtomicU16]>);

impl std::fmt::Debug for Checked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checked").field("pages", &self.0.len()).finish_non_exhaustive()
    }
}

impl Checked {
    fn for_pages(pages: usize) -> Self {
        Self((0..pages).map(|_| AtomicU16::new(0)).collect())
    }

    /// The mark of a page with this kind and these bounds; never 0.
    fn mark(is_leaf: bool, (lower, upper): (u16, u16)) -> u16 {
        let kind_and_bounds = u32::from(lower | u16::from(is_leaf)) << 16 | u32::from(upper); // `lower` is even
        (kind_and_bounds.wrapping_mul(0x9E37_79B1) >> 17) as u16 | 1 << 15
    }

    /// Whether a page of this kind and with these bounds was checked.
    #[must_use]
    pub fn has(&self, page: u64, is_leaf: bool, bounds: (u16, u16)) -> bool {
        self.0.get(page as usize).is_some_and(|mark| mark.load(Relaxed) == Self::mark(is_leaf, bounds))
    }

    /// Notes that it was.
    pub fn note(&self, page: u64, is_leaf: bool, bounds: (u16, u16)) {
        if let Some(mark) = self.0.get(page as usize) {
            mark.store(Self::mark(is_leaf, bounds), Relaxed);
        }
    }
}

/// The data file of an open generation.
#[derive(Debug)]
pub struct DataFile {
    file: File,
    /// LMDB's reader table, opened without the right to read it: closing another descriptor would drop LMDB's locks on it.
    readers: Option<(File, u64)>,
    path: Arc<PathBuf>,
    page_size: usize,
    map: RwLock<Arc<Map>>,
}

/// The part of the file that a snapshot sees.
#[derive(Debug, Clone)]
pub struct Mapped {
    /// The map that holds its pages.
    pub map: Arc<Map>,
    /// The generation's folder, for errors.
    pub path: Arc<PathBuf>,
    /// Bytes of a page.
    pub page_size: usize,
}

impl Mapped {
    /// The bytes of one of the two meta pages.
    #[must_use]
    pub fn meta(&self, which: u64) -> Option<&[u8; META_BYTES]> {
        self.map.bytes(which as usize * self.page_size, META_BYTES)?.try_into().ok()
    }
}

/// `lock.mdb` and its length, where the system can look at a file without opening it.
fn reader_table(path: &Path) -> Option<(File, u64)> {
    let path_only = if cfg!(target_os = "linux") { libc::O_PATH } else { return None };
    let file = OpenOptions::new().read(true).custom_flags(path_only).open(path.join("lock.mdb")).ok()?;
    let length = file.metadata().ok()?.len();
    Some((file, length))
}

/// Where a file ends. `lseek` costs a third of `fstat`, and nothing reads from the descriptor's position.
fn end_of(mut file: &File) -> std::io::Result<u64> {
    file.seek(SeekFrom::End(0)).or_else(|_| Ok(file.metadata()?.len())) // in what was opened by its name alone nobody can seek
}

impl DataFile {
    /// Maps the data file of the generation in `path`.
    pub fn open(path: &Path, page_size: usize) -> Result<Self> {
        let failed = |e: &std::io::Error| io_error("mapping the store", path, e);
        let file = own().read(true).open(path.join("data.mdb")).map_err(|e| failed(&e))?;
        let length = file.metadata().map_err(|e| failed(&e))?.len();
        let map = Map::new(&file, (length + HEADROOM) as usize, page_size).map_err(|e| failed(&e))?;
        let readers = reader_table(path);
        Ok(Self { file, readers, path: Arc::new(path.to_owned()), page_size, map: RwLock::new(Arc::new(map)) })
    }

    /// Measures the reader table by a descriptor that can be sought in, which is closed no sooner than `table`.
    pub fn measure_readers_by(&mut self, table: &File) {
        if let Some((readers, _)) = &mut self.readers
            && let Ok(table) = table.try_clone()
        {
            *readers = table;
        }
    }

    fn length(&self) -> Result<u64> {
        end_of(&self.file).map_err(|e| io_error("measuring the store", &self.path, &e))
    }

    /// The length of the file. Refuses where another program cut off the files before LMDB touches them: reading past an end kills the
    /// process.
    pub fn check_length(&self) -> Result<u64> {
        let length = self.length()?;
        if length < 2 * self.page_size as u64 {
            return Err(corrupt(&self.path, "another program cut the data file off before its two meta pages end"));
        }
        if let Some((table, length)) = &self.readers
            && end_of(table).is_ok_and(|end| end < *length)
        {
            return Err(corrupt(&self.path, "another program cut off lock.mdb, LMDB's table of readers, while the store was open"));
        }
        Ok(length)
    }

    /// The map for a snapshot whose last page is `last_page`; refuses where the file ends before it. It had `length` bytes just now.
    pub fn view(&self, last_page: u64, length: u64) -> Result<Mapped> {
        let failed = |e: &std::io::Error| io_error("mapping the store", &self.path, e);
        let end = last_page.saturating_add(1).saturating_mul(self.page_size as u64);
        let length = if length < end { self.length()? } else { length };
        if length < end {
            return Err(corrupt(
                &self.path,
                &format!("another program cut the data file off: it has {length} bytes and its last page ends at {end}"),
            ));
        }
        let mut map = Arc::clone(&self.map.read().unwrap_or_else(PoisonError::into_inner));
        if (map.bytes as u64) < end {
            let larger = Map::new(&self.file, (length + length / 2 + HEADROOM) as usize, self.page_size).map_err(|e| failed(&e))?;
            map = Arc::new(larger);
            *self.map.write().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&map);
        }
        Ok(Mapped { map, path: Arc::clone(&self.path), page_size: self.page_size })
    }
}
