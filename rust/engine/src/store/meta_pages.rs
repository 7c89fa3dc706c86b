//! LMDB's two meta pages, read with `pread` before the file is mapped: `docs/format.md` shows where their fields stand.
//!
//! Every commit writes one of them, in turn: page 0 those with even numbers, page 1 those with odd ones. So the two numbers always
//! follow each other, which a damaged one seldom does. LMDB itself compares nothing but which is greater.

use std::fs::File;
use std::io::{ErrorKind as IoKind, Result as IoResult};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::folder::{corrupt, io_error};
use super::tree::Root;
use crate::Result;

const MAGIC: u32 = 0xBEEF_C0DE;
const VERSION: u32 = 1;

/// Where the fields begin on the page, and where they end.
const FIELDS: std::ops::Range<usize> = 16..152;

/// Bytes of the page up to the end of the fields.
pub const META_BYTES: usize = FIELDS.end;

/// Bytes of the fields.
pub const FIELD_BYTES: usize = FIELDS.end - FIELDS.start;

/// The fields of a meta page as they are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RawMeta(pub [u8; FIELD_BYTES]);

impl RawMeta {
    /// The fields of the page at 0 or 1.
    pub fn read(file: &File, page_size: u64, which: u64) -> IoResult<Self> {
        let mut fields = [0; FIELD_BYTES];
        file.read_exact_at(&mut fields, which * page_size + FIELDS.start as u64)?;
        Ok(Self(fields))
    }

    /// Writes them to the page whose turn it was.
    pub fn write(&self, file: &File, page_size: u64) -> IoResult<()> {
        file.write_all_at(&self.0, self.which() * page_size + FIELDS.start as u64)
    }

    /// Their meaning.
    #[must_use]
    pub fn page(&self, page_size: u64) -> MetaPage {
        let mut bytes = [0; META_BYTES];
        bytes[FIELDS].copy_from_slice(&self.0);
        MetaPage::of(&bytes, page_size, self.which())
    }

    /// The transaction that wrote them.
    #[must_use]
    pub fn transaction(&self) -> u64 {
        self.0[FIELD_BYTES - 8..].try_into().map_or(0, u64::from_ne_bytes)
    }

    /// The page that they belong to. Both pages of a new file have transaction 0.
    fn which(&self) -> u64 {
        self.transaction() % 2
    }
}

/// Reading goes on beside a writer; pages that do not fit each other are read again.
const TRIES: usize = 50;

/// The fields of one meta page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetaPage {
    /// The transaction that wrote it.
    pub transaction: u64,
    /// The last page in use.
    pub last_page: u64,
    /// The tree of free pages.
    pub free: Root,
    /// The tree of values.
    pub values: Root,
    /// CRC-32 of all its fields.
    pub checksum: u32,
    /// Whether the file is LMDB's.
    has_magic: bool,
    /// Whether its other fields are such as LMDB writes: it trusts them, and a wild page number ends the process.
    sound: bool,
}

impl MetaPage {
    /// The page at 0 or 1.
    pub fn read(file: &File, page_size: u64, which: u64) -> IoResult<Self> {
        let mut bytes = [0; META_BYTES];
        file.read_exact_at(&mut bytes, which * page_size)?;
        Ok(Self::of(&bytes, page_size, which))
    }

    /// The meta page in these bytes.
    #[must_use]
    pub fn of(bytes: &[u8; META_BYTES], page_size: u64, which: u64) -> Self {
        let u16_at = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let u32_at = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        let (last_page, transaction) = (u64_at(136), u64_at(144));
        let root = |at: usize| Root { page: u64_at(at + 40), depth: u16_at(at + 6), entries: u64_at(at + 32) };
        let (free, values) = (root(40), root(88));
        let tree = |root: Root| root.depth < 32 && (root.page == u64::MAX || (2..=last_page).contains(&root.page));
        let in_turn = transaction == 0 || transaction % 2 == which;
        let addressable = last_page < i64::MAX as u64 / page_size.max(1); // no file is longer
        let sound = u32_at(20) == VERSION && u64::from(u32_at(40)) == page_size && tree(free) && tree(values) && in_turn && addressable;
        Self { transaction, last_page, free, values, checksum: crc32fast::hash(&bytes[FIELDS]), has_magic: u32_at(16) == MAGIC, sound }
    }

    /// Where the last page that it counts ends.
    #[must_use]
    pub fn end(&self, page_size: u64) -> u64 {
        self.last_page.saturating_add(1).saturating_mul(page_size)
    }

    /// Whether it is such a page as LMDB writes.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.has_magic && self.sound
    }
}

/// Both of a data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetaPages {
    /// The one that the store goes on from.
    pub newest: MetaPage,
    /// The one before.
    pub older: MetaPage,
}

impl MetaPages {
    fn read_once(file: &File, page_size: u64) -> IoResult<Self> {
        let (even, odd) = (MetaPage::read(file, page_size, 0)?, MetaPage::read(file, page_size, 1)?);
        let (newest, older) = if odd.transaction > even.transaction { (odd, even) } else { (even, odd) };
        Ok(Self { newest, older })
    }

    /// Both, where they fit each other and the file is long enough for them; LMDB maps a file without looking at its length, and reading
    /// past the end of a truncated one kills the process.
    pub fn read(file: &File, page_size: u64, path: &Path) -> Result<Self> {
        for tries_left in (0..TRIES).rev() {
            let pages = Self::read_once(file, page_size).map_err(|e| match e.kind() {
                IoKind::UnexpectedEof => corrupt(path, "the data file is cut off before its two meta pages end"),
                _ => io_error("opening the store", path, &e),
            })?;
            // A commit that gave pages back writes its meta page before the file is as long as that says.
            match pages.fault().map_or_else(|| pages.check_length(file, page_size, path), |fault| Err(corrupt(path, fault))) {
                Ok(()) => return Ok(pages),
                Err(error) if tries_left == 0 => return Err(error),
                Err(_) => std::thread::sleep(std::time::Duration::from_micros(100)),
            }
        }
        unreachable!("the last try returns")
    }

    fn fault(&self) -> Option<&'static str> {
        let follows = self.newest.transaction - self.older.transaction == u64::from(self.newest.transaction > 0);
        if !self.newest.has_magic || !self.older.has_magic {
            Some("the data file is not LMDB's (its magic number is missing)")
        } else if !self.newest.sound {
            Some("the newest meta page of the data file is damaged")
        } else if !follows {
            Some("a meta page of the data file is damaged: the numbers of the two do not follow each other")
        } else {
            None
        }
    }

    fn check_length(&self, file: &File, page_size: u64, path: &Path) -> Result<()> {
        let length = file.metadata().map_err(|e| io_error("opening the store", path, &e))?.len();
        let end = self.newest.end(page_size);
        if length < end {
            return Err(corrupt(path, &format!("the data file is cut off: it has {length} bytes and its last page ends at {end}")));
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that unwraps fails, as it should
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn a_page_that_cannot_be_read_is_not_damaged() {
        let refused = |path: &str| MetaPages::read(&File::open(path).unwrap(), 4096, Path::new("store/gen-1")).unwrap_err();
        let eio = refused("/proc/self/mem"); // nothing is mapped at 0, and so the system says EIO
        assert_eq!(eio.kind(), ErrorKind::StoreIo, "{eio}");
        assert!(eio.message().contains("os error 5") && !eio.message().contains("restore"), "{eio}");
        assert_eq!(refused("/dev/null").kind(), ErrorKind::StoreCorrupt, "it ends before its pages do");
    }
}
