//! The stored rows of each document of an index: its attribute row, and its length once more in a block of lengths. The newest rows
//! of the tail are laid over both.

use super::blocks::{self, Blocks};
use super::layout::IndexId;
use super::lengths::Lengths;
use super::merge::Write;
use super::row::{BLOCK_ROWS, PRESENT, ROW_BYTES, Row};
use super::tail::{Kind, Record};
use crate::store::envelope::damaged;
use crate::store::keys::{Key, Table};
use crate::store::pages::Pages;
use crate::{Error, Result};

/// Lengths of a block.
const BLOCK_LENGTHS: u32 = 2032;

/// Stored for this length and every longer one: the row has it.
const LONG: u16 = u16::MAX;

/// A row laid over a stored one. `None`: the stored one, not present any more.
type Newer = Option<[u8; ROW_BYTES]>;

#[allow(clippy::struct_field_names)] // its rows, and their lengths apart
pub(super) struct Rows<'p, P> {
    rows: Blocks<'p, P>,
    lengths: Blocks<'p, P>,
    /// Sorted by number.
    newer: Vec<(u32, Newer)>,
}

impl<'p, P: Pages> Rows<'p, P> {
    /// The rows as blocks and tail hold them.
    pub fn new(pages: &'p P, index: IndexId, tail: &[Record<'_>]) -> Self {
        let mut rows = Self {
            rows: Blocks::new(pages, index, Table::Attributes, ROW_BYTES),
            lengths: Blocks::new(pages, index, Table::Lengths, size_of::<u16>()),
            newer: Vec::with_capacity(tail.len()),
        };
        for record in tail {
            match record.row {
                Some(row) => rows.set(record.number, *row),
                None if record.kind == Kind::Remove => rows.remove(record.number),
                None => {}
            }
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

    fn lay(&mut self, number: u32, row: Newer) {
        match self.newer.last() {
            Some(&(last, _)) if last >= number => match self.newer.binary_search_by_key(&number, |&(n, _)| n) {
                Ok(at) => self.newer[at].1 = row,
                Err(at) => self.newer.insert(at, (number, row)),
            },
            _ => self.newer.push((number, row)),
        }
    }

    #[inline]
    fn newest(&self, number: u32) -> Option<&Newer> {
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
        let rows = self.rows.get(number / BLOCK_ROWS)?;
        Ok(rows.and_then(|rows| rows.get(at..)?.first_chunk()).map(Row::from_bytes))
    }

    /// The block of lengths that `number` belongs to, each little-endian, [`LONG`] for what is longer.
    #[inline]
    fn lengths(&mut self, number: u32) -> Result<&'p [[u8; 2]]> {
        let block = self.lengths.get(number / BLOCK_LENGTHS)?.ok_or_else(|| self.missing(number))?;
        Ok(block.as_chunks().0)
    }

    #[cold]
    fn length_of_row(&mut self, number: u32) -> Result<u32> {
        Ok(self.stored(number)?.ok_or_else(|| self.missing(number))?.length)
    }

    /// The key of the block that holds the row of `number`.
    pub fn key_of(&self, number: u32) -> Key {
        self.rows.key(number / BLOCK_ROWS)
    }

    /// The error of postings that name a document which has no row.
    #[cold]
    pub fn missing(&self, number: u32) -> Error {
        damaged(self.key_of(number).as_slice(), &format!("it has no row for document {number}, which has postings"))
    }

    /// The blocks that hold everything laid over them.
    pub fn writes(&mut self) -> Result<Vec<Write>> {
        let newer = std::mem::take(&mut self.newer);
        let mut writes = Vec::new();
        for rows in newer.chunk_by(|a, b| a.0 / BLOCK_ROWS == b.0 / BLOCK_ROWS) {
            writes.push(self.write_rows(rows)?);
        }
        for rows in newer.chunk_by(|a, b| a.0 / BLOCK_LENGTHS == b.0 / BLOCK_LENGTHS) {
            writes.extend(self.write_lengths(rows)?);
        }
        self.newer = newer;
        Ok(writes)
    }

    fn write_rows(&mut self, newer: &[(u32, Newer)]) -> Result<Write> {
        let block = newer[0].0 / BLOCK_ROWS;
        let mut rows = self.rows.copy(block)?;
        for &(number, row) in newer {
            let at = (number % BLOCK_ROWS) as usize;
            match row {
                Some(row) => blocks::put(&mut rows, at, &row),
                None => *rows.get_mut(at * ROW_BYTES + 2).ok_or_else(|| self.missing(number))? &= !PRESENT,
            }
        }
        Ok(Write::put(self.rows.key(block), &rows))
    }

    /// `None` where no length changes: a document that goes leaves its length.
    fn write_lengths(&mut self, newer: &[(u32, Newer)]) -> Result<Option<Write>> {
        let block = newer[0].0 / BLOCK_LENGTHS;
        let before = self.lengths.get(block)?;
        let mut lengths = before.unwrap_or_default().to_vec();
        for (number, row) in newer.iter().filter_map(|&(number, row)| Some((number, row?))) {
            let length = u16::try_from(Row::from_bytes(&row).length).unwrap_or(LONG);
            blocks::put(&mut lengths, (number % BLOCK_LENGTHS) as usize, &length.to_le_bytes());
        }
        let changed = before != Some(&lengths) && !lengths.is_empty();
        Ok(changed.then(|| Write::put(self.lengths.key(block), &lengths)))
    }
}

impl<P: Pages> Lengths for Rows<'_, P> {
    fn length(&mut self, number: u32) -> Result<u32> {
        match self.newest(number) {
            Some(Some(bytes)) => Ok(Row::from_bytes(bytes).length),
            _ => self.stored_length(number),
        }
    }

    #[inline]
    fn stored_length(&mut self, number: u32) -> Result<u32> {
        match self.lengths(number)?.get((number % BLOCK_LENGTHS) as usize) {
            Some(bytes) if *bytes != LONG.to_le_bytes() => Ok(u16::from_le_bytes(*bytes) as u32),
            _ => self.length_of_row(number),
        }
    }

    #[inline]
    fn stored_lengths(&mut self, numbers: &[u32], out: &mut [u16]) -> Result<bool> {
        let mut short = true;
        let mut from = 0;
        while let Some(&number) = numbers.get(from) {
            let block = self.lengths(number)?;
            let first = number - number % BLOCK_LENGTHS;
            let in_block = match numbers.last() {
                Some(&last) if last - first < BLOCK_LENGTHS => numbers.len() - from,
                _ => numbers[from..].partition_point(|&number| number - first < BLOCK_LENGTHS),
            };
            for (out, &number) in out[from..].iter_mut().zip(&numbers[from..from + in_block]) {
                *out = block.get((number - first) as usize).map_or(LONG, |bytes| u16::from_le_bytes(*bytes));
                short &= *out != LONG;
            }
            from += in_block;
        }
        Ok(short)
    }
}
