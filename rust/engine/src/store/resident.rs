//! Keeps the pages of the map that this process holds resident few: on a small machine they are somebody else's memory.
//!
//! A read of one page makes the kernel map the fifteen beside it, so that after a few hundred recalls most of a large store
//! counts as resident. When more than [`LIMIT_BYTES`] of file pages have come since the store was opened, the whole map is
//! let go (`MADV_DONTNEED`). The bytes stay in the kernel's page cache: touching them again costs a fault, not a read. A store
//! smaller than the limit is never let go. Linux only; elsewhere this does nothing.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// File pages beyond this are let go. Two figures decided: 32 users of 1,000 memories fit, and a process that recalls from
/// 100,000 memories stays near 100 MB.
const LIMIT_BYTES: u64 = 48 << 20;

/// Reads between two looks at the process's own numbers, which cost about 4 us.
const READS_BETWEEN: u64 = 64;

/// Watches one map.
#[derive(Debug)]
pub struct Resident {
    data: PathBuf,
    reads: AtomicU64,
    /// File pages that were resident when the store was opened, in bytes: the program itself.
    before: u64,
}

impl Resident {
    /// Watches the map of the data file at `data`, which has just been opened.
    #[must_use]
    pub fn new(data: PathBuf) -> Self {
        Self { data, reads: AtomicU64::new(0), before: resident_file_bytes().unwrap_or(0) }
    }

    /// Called after every read; now and then it looks, and lets go.
    pub fn after_read(&self) {
        if self.reads.fetch_add(1, Relaxed) % READS_BETWEEN != READS_BETWEEN - 1 {
            return;
        }
        if resident_file_bytes().is_some_and(|now| now > self.before + LIMIT_BYTES)
            && let Some((start, length)) = map_of(&self.data)
        {
            let_go(start, length);
        }
    }
}

/// Bytes of file pages that are mapped in this process.
fn resident_file_bytes() -> Option<u64> {
    let statm = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = statm.split(' ').nth(2)?.parse().ok()?;
    Some(pages * u64::from(super::environment::page_size()))
}

/// Where the file at `data` is mapped: address and length.
fn map_of(data: &Path) -> Option<(usize, usize)> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let line = maps.lines().find(|line| line.split_once('/').is_some_and(|(_, path)| Path::new("/").join(path) == data))?;
    let (start, end) = line.split(' ').next()?.split_once('-')?;
    let (start, end) = (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
    end.checked_sub(start).map(|length| (start, length))
}

#[cfg(target_os = "linux")]
fn let_go(start: usize, length: usize) {
    // SAFETY: the range is one shared mapping of a file, which the gate keeps open while this runs. Dropping its pages changes
    // no byte of it: whoever reads them next, on any thread, faults them in again from the page cache.
    unsafe { libc::madvise(std::ptr::with_exposed_provenance_mut(start), length, libc::MADV_DONTNEED) };
}

#[cfg(not(target_os = "linux"))]
fn let_go(_start: usize, _length: usize) {}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_programs_own_file_is_found_among_the_maps() {
        let own = std::env::current_exe().expect("a path");
        let (start, length) = map_of(&own).expect("mapped");
        assert!(start > 0 && length > 0);
        assert!(resident_file_bytes().expect("statm") > 0);
        assert_eq!(map_of(Path::new("/no/such/file")), None);
    }
}
