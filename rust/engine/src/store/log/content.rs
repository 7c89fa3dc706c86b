//! The log as it is read: the newest head that is whole, and the records of its epoch.

use std::os::unix::fs::FileExt;

use super::{COVERED, HEAD, HEADS, Log, MOST_PAGES, NUMBERS, RECORD, checksum, seal};
use crate::Result;
use crate::store::folder::GenerationNumber;
use crate::store::identity::StoreId;
use crate::store::meta_pages::{FIELD_BYTES, RawMeta};

/// Bytes of a head.
pub(super) const HEAD_BYTES: usize = 40 + 2 * FIELD_BYTES;

/// The state of the data file when an epoch began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub epoch: u32,
    pub store: StoreId,
    pub generation: GenerationNumber,
    /// The fields of the newest meta page, and of the older one.
    pub metas: [RawMeta; 2],
}

impl Head {
    pub fn encode(&self, page_size: usize) -> Vec<u8> {
        let mut bytes = vec![0; HEAD_BYTES];
        bytes[..4].copy_from_slice(&HEAD);
        bytes[4..8].copy_from_slice(&self.epoch.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.store.0);
        bytes[32..36].copy_from_slice(&self.generation.to_le_bytes());
        bytes[40..40 + FIELD_BYTES].copy_from_slice(&self.metas[0].0);
        bytes[40 + FIELD_BYTES..].copy_from_slice(&self.metas[1].0);
        seal(&mut bytes);
        bytes.resize(page_size, 0);
        bytes
    }

    fn decode(page: &[u8]) -> Option<Self> {
        let bytes = page.get(..HEAD_BYTES).filter(|bytes| is_sealed(bytes, HEAD))?;
        let meta = |at: usize| Some(RawMeta(bytes.get(at..at + FIELD_BYTES)?.try_into().ok()?));
        Some(Self {
            epoch: u32_at(bytes, 4)?,
            store: StoreId(bytes.get(16..32)?.try_into().ok()?),
            generation: u32_at(bytes, 32)?,
            metas: [meta(40)?, meta(40 + FIELD_BYTES)?],
        })
    }
}

/// Whether bytes begin with `magic` and have the checksum that they say.
fn is_sealed(bytes: &[u8], magic: [u8; 4]) -> bool {
    bytes.len() > COVERED && bytes[..4] == magic && bytes[8..16] == checksum(bytes).to_le_bytes()
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// A record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'b> {
    pub transaction: u64,
    pub meta: RawMeta,
    numbers: &'b [u8],
    pages: &'b [u8],
}

impl<'b> Record<'b> {
    /// The record that begins at `bytes`; where it is whole.
    fn decode(bytes: &'b [u8], page_size: usize, epoch: u32) -> Option<Self> {
        let length = Self::claimed(bytes, page_size).filter(|_| u32_at(bytes, 4) == Some(epoch))?;
        let bytes = bytes.get(..length).filter(|bytes| is_sealed(bytes, RECORD))?;
        let count = length / page_size - 1;
        Some(Self {
            transaction: u64_at(bytes, 16)?,
            meta: RawMeta(bytes.get(32..NUMBERS)?.try_into().ok()?),
            numbers: bytes.get(NUMBERS..NUMBERS + 8 * count)?,
            pages: &bytes[page_size..],
        })
    }

    /// How long the record that begins at `bytes` says it is; where there may be such a record.
    pub fn claimed(bytes: &[u8], page_size: usize) -> Option<usize> {
        let count = u32_at(bytes, 24).filter(|count| bytes[..4] == RECORD && u64::from(*count) <= MOST_PAGES)? as usize;
        (NUMBERS + 8 * count <= page_size).then_some((1 + count) * page_size)
    }

    /// Its pages with their numbers.
    pub fn pages(&self, page_size: usize) -> impl Iterator<Item = (u64, &'b [u8])> {
        let numbers = self.numbers.as_chunks().0.iter().map(|number| u64::from_le_bytes(*number));
        numbers.zip(self.pages.chunks_exact(page_size))
    }

    fn length(&self, page_size: usize) -> usize {
        page_size + self.pages.len()
    }
}

/// A log in memory.
#[derive(Debug)]
pub(super) struct Content {
    pub head: Head,
    page_size: usize,
    /// The file behind the heads.
    bytes: Vec<u8>,
}

impl Content {
    /// The records of the epoch, one transaction behind the other; and whether there is one behind a gap, which damage made.
    pub fn records(&self) -> (Vec<Record<'_>>, bool) {
        let (mut records, mut at, mut last) = (Vec::new(), 0, self.head.metas[0].transaction());
        let record_at = |at: usize| Record::decode(self.bytes.get(at..)?, self.page_size, self.head.epoch);
        while let Some(record) = record_at(at).filter(|record| Some(record.transaction) == last.checked_add(1)) {
            at += record.length(self.page_size);
            last = record.transaction;
            records.push(record);
        }
        let behind = (at..self.bytes.len()).step_by(self.page_size).filter_map(record_at);
        (records, behind.into_iter().any(|record| record.transaction > last))
    }
}

impl Log {
    /// Both heads, where they are whole and of this generation.
    pub(super) fn heads(&self) -> Result<[Option<Head>; 2]> {
        let mut heads = [None; 2];
        for (page, head) in heads.iter_mut().enumerate() {
            let mut bytes = [0; HEAD_BYTES];
            match self.file.read_exact_at(&mut bytes, (page * self.page_size) as u64) {
                Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => {}
                Err(e) => return Err(self.failed(&e)),
                Ok(()) => *head = Head::decode(&bytes),
            }
        }
        Ok(heads.map(|head| head.filter(|head| (head.store, head.generation) == (self.store, self.generation))))
    }

    /// Reads what is behind the heads, which may end sooner than it did: a writer gives pages away. How many bytes there were.
    fn read_at_most(&self, bytes: &mut [u8]) -> std::io::Result<usize> {
        let (start, mut read) = (u64::from(HEADS) * self.page_size as u64, 0);
        while read < bytes.len() {
            match self.file.read_at(&mut bytes[read..], start + read as u64) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(read)
    }

    /// All that is in it; none where there is no head.
    pub(super) fn content(&self) -> Result<Option<Content>> {
        let Some(head) = self.heads()?.into_iter().flatten().max_by_key(|head| head.epoch) else { return Ok(None) };
        let mut bytes = vec![0; self.pages()?.saturating_sub(HEADS) as usize * self.page_size];
        let read = self.read_at_most(&mut bytes).map_err(|e| self.failed(&e))?;
        bytes.truncate(read);
        Ok(Some(Content { head, page_size: self.page_size, bytes }))
    }
}
