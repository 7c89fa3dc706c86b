//! The attribute rows of an index: blocks read when first asked for, with the newest rows of the tail laid over them.

use std::ops::ControlFlow;

use super::layout::{self, IndexId, malformed};
use super::merge::Write;
use super::row::{BLOCK_ROWS, PRESENT, ROW_BYTES, Row};
use super::tail::{Kind, Record};
use crate::Result;
use crate::store::envelope::damaged;
use crate::store::keys::{Key, u32_at};
use crate::store::pages::Pages;

/// Blocks above this number are not remembered, so that a forged number cannot claim memory: 133 million documents.
const REMEMBERED_BLOCKS: u32 = 1 << 20;

/// A reader of rows.
pub(super) struct Rows<'p, P> {
    pages: &'p P,
    index: IndexId,
    blocks: Vec<Option<&'p [u8]>>,
    /// Sorted by number. `None`: the block's row, not present any more.
    newer: Vec<(u32, Option<[u8; ROW_BYTES]>)>,
}

impl<'p, P: Pages> Rows<'p, P> {
    /// The rows as blocks and tail hold them.
    pub fn new(pages: &'p P, index: IndexId, tail: &[Record<'_>]) -> Self {
        let mut rows = Self { pages, index, blocks: Vec::new(), newer: Vec::with_capacity(tail.len()) };
        for record in tail {
            match record.row {
                Some(row) => rows.set(record.number, *row),
                None => rows.remove(record.number),
            }
            debug_assert_eq!(record.row.is_none(), record.kind == Kind::Remove);
        }
        rows
    }

    /// Lays a row over the stored one.
    pub fn set(&mut self, number: u32, row: [u8; ROW_BYTES]) {
        self.lay(number, Some(row));
    }

    /// The row of a document that is not present any more.
    pub fn remove(&mut self, number: u32) {
        let mut row = self.newest(number).copied().flatten();
        if let Some(bytes) = &mut row {
            bytes[2] &= !PRESENT;
        }
        self.lay(number, row);
    }

    fn lay(&mut self, number: u32, row: Option<[u8; ROW_BYTES]>) {
        match self.newer.last() {
            Some(&(last, _)) if last >= number => match self.newer.binary_search_by_key(&number, |&(n, _)| n) {
                Ok(at) => self.newer[at].1 = row,
                Err(at) => self.newer.insert(at, (number, row)),
            },
            _ => self.newer.push((number, row)),
        }
    }

    #[inline]
    fn newest(&self, number: u32) -> Option<&Option<[u8; ROW_BYTES]>> {
        let (first, last) = (self.newer.first()?.0, self.newer.last()?.0);
        if number < first || number > last {
            return None;
        }
        self.newer.binary_search_by_key(&number, |&(n, _)| n).ok().map(|at| &self.newer[at].1)
    }

    /// The row of `number`, present or not; `None` where there never was one.
    pub fn row(&mut self, number: u32) -> Result<Option<Row>> {
        match self.newest(number) {
            Some(Some(bytes)) => Ok(Some(Row::from_bytes(bytes))),
            Some(None) => Ok(self.stored(number)?.map(|row| Row { flags: row.flags & !PRESENT, ..row })),
            None => self.stored(number),
        }
    }

    #[inline]
    fn stored(&mut self, number: u32) -> Result<Option<Row>> {
        let at = (number % BLOCK_ROWS) as usize * ROW_BYTES;
        let block = self.block(number / BLOCK_ROWS)?;
        Ok(block.and_then(|rows| rows.get(at..)?.first_chunk()).map(Row::from_bytes))
    }

    /// The length of a document that postings in the blocks name.
    pub fn stored_length(&mut self, number: u32) -> Result<u32> {
        Ok(self.stored(number)?.ok_or_else(|| self.missing(number))?.length)
    }

    /// The rows of a block.
    #[inline]
    pub fn block(&mut self, block: u32) -> Result<Option<&'p [u8]>> {
        match self.blocks.get(block as usize) {
            Some(&Some(rows)) => Ok(Some(rows)),
            _ => self.read(block),
        }
    }

    #[cold]
    fn read(&mut self, block: u32) -> Result<Option<&'p [u8]>> {
        let key = self.index.attributes(block);
        let Some(value) = self.pages.get(key.as_slice())? else { return Ok(None) };
        let rows = rows_of(key.as_slice(), value)?;
        self.remember(block, rows);
        Ok(Some(rows))
    }

    fn remember(&mut self, block: u32, rows: &'p [u8]) {
        if block < REMEMBERED_BLOCKS {
            if self.blocks.len() <= block as usize {
                self.blocks.resize(block as usize + 1, None);
            }
            self.blocks[block as usize] = Some(rows);
        }
    }

    /// Reads the first `limit` blocks in one scan: a tenth of the time of asking for each.
    pub fn preload(&mut self, limit: u32) -> Result<()> {
        let (from, to) = (self.index.attributes(0), self.index.attributes(limit));
        let pages = self.pages;
        pages.scan(from.as_slice(), to.as_slice(), &mut |key, value| {
            let block = u32_at(key, from.as_slice().len() - 4).ok_or_else(|| malformed(key))?;
            self.remember(block, rows_of(key, value)?);
            Ok(ControlFlow::Continue(()))
        })
    }

    /// The key of the block that holds the row of `number`.
    pub fn key_of(&self, number: u32) -> Key {
        self.index.attributes(number / BLOCK_ROWS)
    }

    /// The error of postings that name a document which has no row.
    pub fn missing(&self, number: u32) -> crate::Error {
        damaged(self.key_of(number).as_slice(), &format!("it has no row for document {number}, which has postings"))
    }

    /// The blocks that hold everything laid over them.
    pub fn writes(&mut self) -> Result<Vec<Write>> {
        let newer = std::mem::take(&mut self.newer);
        let blocks = newer.chunk_by(|a, b| a.0 / BLOCK_ROWS == b.0 / BLOCK_ROWS);
        let writes = blocks.map(|rows| self.write(rows)).collect::<Result<_>>()?;
        self.newer = newer;
        Ok(writes)
    }

    fn write(&mut self, newer: &[(u32, Option<[u8; ROW_BYTES]>)]) -> Result<Write> {
        let block = newer[0].0 / BLOCK_ROWS;
        let mut rows = self.block(block)?.unwrap_or_default().to_vec();
        for &(number, row) in newer {
            let at = (number % BLOCK_ROWS) as usize * ROW_BYTES;
            if rows.len() < at + ROW_BYTES {
                rows.resize(at + ROW_BYTES, 0);
            }
            match row {
                Some(bytes) => rows[at..at + ROW_BYTES].copy_from_slice(&bytes),
                None => rows[at + 2] &= !PRESENT,
            }
        }
        let key: Key = self.index.attributes(block);
        let value = layout::value(&key, rows.len(), |out| out.extend_from_slice(&rows));
        Ok(Write::Put(key, value))
    }
}

fn rows_of<'v>(key: &[u8], value: &'v [u8]) -> Result<&'v [u8]> {
    let rows = layout::body(key, value)?;
    let whole = rows.len() % ROW_BYTES == 0 && rows.len() <= BLOCK_ROWS as usize * ROW_BYTES;
    if whole { Ok(rows) } else { Err(malformed(key)) }
}
