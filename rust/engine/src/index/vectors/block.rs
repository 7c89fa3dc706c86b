//! One block of int8 vectors: a value of at most one page, memory numbers ascending.
//!
//! ```text
//! 0   u16  vectors in the block, n            all little-endian, after the 8 bytes of the envelope
//! 2   u16  dimensions, d
//! 4   u16  where the rows begin in the body, r
//! 6   u16  0
//! 8   u32 x n  memory numbers, ascending; the first is that of the block's key
//!     f32 x n  scales
//! r   i8 x n x d  codes, row by row
//! ```
//!
//! A value of a page stands 16 bytes into the page, so the rows begin at a cache line of memory where r + 24 is a multiple
//! of 64: a scan then loads whole lines. Where the gap would cost a vector, there is none.

use super::VectorSet;
use crate::Result;
use crate::store::envelope::{self, Codec, ENVELOPE_BYTES, ONE_PAGE_BODY};
use crate::store::verified;

/// Layout of a block's body.
pub(super) const BLOCK_SCHEMA: u8 = 1;

const HEADER_BYTES: usize = 8;

/// Bytes that each vector takes besides its row: number and scale.
const COLUMN_BYTES: usize = 8;

/// The bytes before the body in a page of its own: LMDB's page header and the envelope.
const BEFORE_BODY: usize = 16 + ENVELOPE_BYTES;

const CACHE_LINE: usize = 64;

/// How many vectors of `dims` dimensions a block holds: as many as fit one page, and at least one.
#[must_use]
pub fn vectors_per_block(dims: usize) -> usize {
    ((ONE_PAGE_BODY - HEADER_BYTES) / (dims + COLUMN_BYTES)).max(1)
}

/// Where the rows of `count` vectors begin in the body.
fn rows_start(count: usize, dims: usize) -> usize {
    let packed = HEADER_BYTES + count * COLUMN_BYTES;
    let aligned = (packed + BEFORE_BODY).next_multiple_of(CACHE_LINE) - BEFORE_BODY;
    if aligned + count * dims <= ONE_PAGE_BODY { aligned } else { packed }
}

/// One vector of a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry<'a> {
    pub number: u32,
    pub scale: f32,
    pub row: &'a [u8],
}

/// A block, borrowed from its page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'p> {
    numbers: &'p [[u8; 4]],
    scales: &'p [[u8; 4]],
    rows: &'p [u8],
    dims: usize,
}

impl<'p> Block<'p> {
    /// Takes a body apart; `None` where its lengths contradict each other. Constant time.
    #[inline]
    fn parse(body: &'p [u8], dims: usize) -> Option<Self> {
        let (header, columns) = body.split_first_chunk::<HEADER_BYTES>()?;
        let header = u64::from_le_bytes(*header);
        let field = |bits: u32| usize::from((header >> bits) as u16);
        let (count, stored_dims, rows_at, zero) = (field(0), field(16), field(32), field(48));
        if count == 0 || stored_dims != dims || zero != 0 || rows_at < HEADER_BYTES + count * COLUMN_BYTES {
            return None;
        }
        let rows = body.get(rows_at..)?;
        let (numbers, rest) = columns.split_at_checked(4 * count)?;
        let (scales, _) = rest.split_at_checked(4 * count)?;
        if rows.len() != count * dims {
            return None;
        }
        Some(Self { numbers: numbers.as_chunks().0, scales: scales.as_chunks().0, rows, dims })
    }

    /// Checks beyond the checksum: numbers ascending from the key's, scales that are scales.
    fn is_consistent(&self, first: Option<u32>) -> bool {
        let ascending = self.numbers.windows(2).all(|pair| u32::from_le_bytes(pair[0]) < u32::from_le_bytes(pair[1]));
        let scaled = (0..self.len()).all(|at| self.scale(at) > 0.0 && self.scale(at) <= 1.0);
        ascending && scaled && first == Some(self.number(0))
    }

    /// Vectors in the block, at least one.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    pub fn dims(&self) -> usize {
        self.dims
    }

    pub fn number(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.numbers[at])
    }

    pub fn scale(&self, at: usize) -> f32 {
        f32::from_le_bytes(self.scales[at])
    }

    /// Memory numbers, ascending, little-endian.
    pub fn numbers(&self) -> &'p [[u8; 4]] {
        self.numbers
    }

    /// Scales, little-endian.
    pub fn scales(&self) -> &'p [[u8; 4]] {
        self.scales
    }

    /// `len() * dims()` codes, row by row.
    pub fn rows(&self) -> &'p [u8] {
        self.rows
    }

    /// The codes of one vector.
    pub fn row(&self, at: usize) -> &'p [u8] {
        &self.rows[at * self.dims..(at + 1) * self.dims]
    }

    /// Where the vector of `number` stands in it.
    pub fn place(&self, number: u32) -> Option<usize> {
        self.numbers.binary_search_by_key(&number, |stored| u32::from_le_bytes(*stored)).ok()
    }

    /// The vectors, in the order of their numbers.
    pub fn entries(self) -> impl ExactSizeIterator<Item = Entry<'p>> {
        (0..self.len()).map(move |at| Entry { number: self.number(at), scale: self.scale(at), row: self.row(at) })
    }
}

impl VectorSet {
    /// The block at `key`. Its checksum and its order are checked the first time this process sees it there.
    #[inline(always)]
    #[allow(clippy::inline_always)] // a block returned through memory is read before it is written: 12 % of a scan (measured)
    pub(super) fn open_block<'p>(&self, key: &[u8], value: &'p [u8]) -> Result<Block<'p>> {
        let body = verified::open(key, value, BLOCK_SCHEMA, Codec::Packed as u8, |body| {
            let block = Block::parse(body, self.dims);
            block.is_some_and(|block| block.is_consistent(self.first_of(key)))
        })?;
        Block::parse(body, self.dims).ok_or_else(|| envelope::damaged(key, "its lengths contradict each other"))
    }

    /// The number in a block's key.
    pub(super) fn first_of(&self, key: &[u8]) -> Option<u32> {
        let prefix = self.blocks();
        let rest = key.strip_prefix(prefix.as_slice())?;
        rest.try_into().ok().map(u32::from_be_bytes)
    }
}

/// The whole value of a block at `key`, envelope included. `entries` are ascending, at least one, at most what a block holds.
pub(super) fn encode(key: &[u8], dims: usize, entries: &[Entry<'_>]) -> Vec<u8> {
    let rows_at = rows_start(entries.len(), dims);
    let mut value = Vec::with_capacity(ENVELOPE_BYTES + rows_at + entries.len() * dims);
    value.resize(ENVELOPE_BYTES, 0);
    for field in [entries.len(), dims, rows_at, 0] {
        value.extend_from_slice(&(field as u16).to_le_bytes());
    }
    value.extend(entries.iter().flat_map(|entry| entry.number.to_le_bytes()));
    value.extend(entries.iter().flat_map(|entry| entry.scale.to_le_bytes()));
    value.resize(ENVELOPE_BYTES + rows_at, 0);
    for entry in entries {
        value.extend_from_slice(entry.row);
    }
    envelope::seal_in_place(key, BLOCK_SCHEMA, Codec::Packed as u8, &mut value);
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::store::envelope::ONE_PAGE;

    fn entries(rows: &[Vec<u8>]) -> Vec<Entry<'_>> {
        rows.iter().enumerate().map(|(at, row)| Entry { number: 7 + 3 * at as u32, scale: 0.5 / (at + 1) as f32, row }).collect()
    }

    #[test]
    fn a_full_block_fits_one_page_and_comes_back() {
        for dims in [1, 2, 3, 63, 64, 100, 255, 256, 384, 512, 768, 1024, 1536, 2028, 3072, 4056] {
            let set = VectorSet::new(1, 2, dims).unwrap();
            let rows: Vec<Vec<u8>> = (0..vectors_per_block(dims)).map(|at| vec![at as u8; dims]).collect();
            let key = set.block_key(7);
            let value = encode(key.as_slice(), dims, &entries(&rows));
            assert!(value.len() <= ONE_PAGE, "{dims}: {}", value.len());
            let block = set.open_block(key.as_slice(), &value).unwrap();
            let back: Vec<_> = block.entries().map(|entry| (entry.number, entry.scale, entry.row.to_vec())).collect();
            let given: Vec<_> = entries(&rows).iter().map(|entry| (entry.number, entry.scale, entry.row.to_vec())).collect();
            assert_eq!(back, given, "{dims}");
        }
    }

    #[test]
    fn common_dimensions_fill_the_page_and_start_at_a_cache_line() {
        for (dims, count) in [(256, 15), (384, 10), (512, 7), (768, 5), (1024, 3), (1536, 2), (3072, 1), (8192, 1)] {
            assert_eq!(vectors_per_block(dims), count);
            if dims < ONE_PAGE {
                assert_eq!((rows_start(count, dims) + BEFORE_BODY) % CACHE_LINE, 0, "{dims}");
            }
        }
    }

    #[test]
    fn every_bit_flip_and_every_cut_is_damage_and_none_a_panic() {
        let set = VectorSet::new(1, 2, 5).unwrap();
        let rows: Vec<Vec<u8>> = (0..4).map(|at| vec![at; 5]).collect();
        let key = set.block_key(7);
        let value = encode(key.as_slice(), 5, &entries(&rows));
        for bit in 0..value.len() * 8 {
            let mut flipped = value.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(set.open_block(key.as_slice(), &flipped).unwrap_err().kind(), ErrorKind::StoreCorrupt, "bit {bit}");
        }
        for len in 0..value.len() {
            assert!(set.open_block(key.as_slice(), &value[..len]).is_err(), "cut to {len}");
        }
        assert!(set.open_block(set.block_key(8).as_slice(), &value).is_err(), "at another key");
    }

    /// A writer's bug, not a bad disk: the checksum is right and the content is not.
    #[test]
    fn a_sealed_block_that_contradicts_itself_is_damage() {
        let set = VectorSet::new(1, 2, 2).unwrap();
        let key = set.block_key(7);
        let rows = [vec![1, 2], vec![3, 4]];
        let good = encode(key.as_slice(), 2, &entries(&rows));
        assert!(set.open_block(key.as_slice(), &good).is_ok());
        let spoil = |at: usize, bytes: &[u8]| {
            let mut value = good.clone();
            value[ENVELOPE_BYTES + at..][..bytes.len()].copy_from_slice(bytes);
            envelope::seal_in_place(key.as_slice(), BLOCK_SCHEMA, Codec::Packed as u8, &mut value);
            set.open_block(key.as_slice(), &value).map(|_| ())
        };
        for count in [0_u16, 1, 3, u16::MAX] {
            assert!(spoil(0, &count.to_le_bytes()).is_err(), "count {count}");
        }
        for dims in [0_u16, 1, 3, u16::MAX] {
            assert!(spoil(2, &dims.to_le_bytes()).is_err(), "dims {dims}");
        }
        for rows_at in [0_u16, 8, 23, u16::MAX] {
            assert!(spoil(4, &rows_at.to_le_bytes()).is_err(), "rows at {rows_at}");
        }
        assert!(spoil(6, &[1]).is_err(), "reserved");
        assert!(spoil(8, &6_u32.to_le_bytes()).is_err(), "first number is not the key's");
        assert!(spoil(12, &7_u32.to_le_bytes()).is_err(), "numbers do not ascend");
        for scale in [f32::NAN, f32::INFINITY, -0.5, 0.0, 1.5] {
            assert!(spoil(16, &scale.to_le_bytes()).is_err(), "scale {scale}");
        }
    }
}
