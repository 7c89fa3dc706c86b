//! Hash tables from the bytes of a token to its id.
//!
//! Most pretokens are tokens of at most 7 bytes: those bytes and their number pack into one 64-bit key, so that finding one
//! is a load, a mask, a multiplication and usually one comparison. Tokens of 8 to 15 bytes have 128-bit keys, the few longer
//! ones are compared byte by byte. The tables are filled once and have a fixed content, so no input can make them degenerate.

use std::ops::Range;

use super::load::{bring, load_8, load_16};

/// No token.
pub(super) const NONE: u32 = u32::MAX;
/// Odd 64-bit constants with well-mixed bits (the fractional parts of the golden ratio and of the square root of 3).
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
const MIX_HIGH: u64 = 0xBB67_AE85_84CA_A73B;
/// Widths above this share one bit in the sets of widths.
const WIDE: usize = 31;
/// Hashed prefixes of four bytes.
const PREFIX_BITS: u32 = 16;

/// Token ids by spelling.
pub(super) struct PieceTable {
    short: Table<u64>,
    medium: Table<u128>,
    long: Table<u64>,
    /// By the hash of the first four bytes: which widths tokens that begin so can have.
    widths: Box<[u32]>,
    /// The widths above `WIDE` that occur, longest first.
    wide: Vec<u8>,
}

/// Open addressing with linear probing, two thirds full. Key and id stand together, because the cost of a lookup is the cache lines it
/// touches.
///
/// In front stands a filter of about ten bits a token, small enough for the second-level cache: merging mostly asks for what is
/// no token, and without the filter each such question is a miss in the caches.
struct Table<K> {
    slots: Box<[(K, u32)]>,
    filter: Box<[u64]>,
    filter_shift: u32,
}

trait Key: Copy + Eq + Default {
    fn hash(self) -> u64;
}

impl Key for u64 {
    #[inline]
    fn hash(self) -> u64 {
        (self ^ self >> 32).wrapping_mul(MIX)
    }
}

impl Key for u128 {
    #[inline]
    fn hash(self) -> u64 {
        let folded = (self as u64).wrapping_mul(MIX_HIGH) ^ (self >> 64) as u64;
        (folded ^ folded >> 32).wrapping_mul(MIX)
    }
}

impl<K: Key> Table<K> {
    fn with_room_for(count: usize) -> Self {
        let words = (count / 8 + 8).next_power_of_two();
        Self {
            slots: vec![(K::default(), NONE); count + count / 2 + 64].into(),
            filter: vec![0; words].into(),
            filter_shift: 64 - words.trailing_zeros(),
        }
    }

    /// The filter's word for a hash, and the two bits in it.
    #[inline]
    fn marks(&self, hash: u64) -> (usize, u64) {
        ((hash >> self.filter_shift) as usize & (self.filter.len() - 1), 1 << (hash >> 20 & 63) | 1 << (hash >> 26 & 63))
    }

    /// Where the search for a key starts: the hash's upper half as a fraction of the table.
    #[inline]
    fn first_slot(&self, hash: u64) -> usize {
        (((hash >> 32) * self.slots.len() as u64) >> 32) as usize
    }

    /// The slots to look at for a key, in order, up to the first unused one.
    #[inline]
    fn chain(&self, hash: u64) -> impl Iterator<Item = &(K, u32)> {
        let (before, from_first) = self.slots.split_at(self.first_slot(hash));
        from_first.iter().chain(before)
    }

    fn insert(&mut self, key: K, id: u32) {
        let hash = key.hash();
        let mut slot = self.first_slot(hash);
        while self.slots[slot].1 != NONE {
            slot = (slot + 1) % self.slots.len();
        }
        self.slots[slot] = (key, id);
        let (word, bits) = self.marks(hash);
        self.filter[word] |= bits;
    }

    #[inline]
    fn find(&self, key: K) -> u32 {
        self.find_hashed(key, key.hash())
    }

    #[inline]
    fn find_hashed(&self, key: K, hash: u64) -> u32 {
        for &(found, id) in self.chain(hash) {
            if found == key {
                return id;
            }
            if id == NONE {
                break;
            }
        }
        NONE
    }

    /// Whether the key is in the first slot that is looked at. Older tokens, which are commoner, were there before others.
    #[inline(always)]
    fn is_first(&self, key: K) -> bool {
        let (known, id) = self.slots[self.first_slot(key.hash())];
        known == key && id != NONE
    }

    /// Like `find`, for keys that are often not there.
    #[inline]
    fn find_rare(&self, key: K) -> u32 {
        let hash = key.hash();
        let (word, bits) = self.marks(hash);
        if self.filter[word] & bits == bits { self.find_hashed(key, hash) } else { NONE }
    }

    /// All ids under a key that several entries may share.
    fn find_all(&self, key: K) -> impl Iterator<Item = u32> {
        self.chain(key.hash()).take_while(|slot| slot.1 != NONE).filter(move |slot| slot.0 == key).map(|slot| slot.1)
    }
}

/// The key of 1 to 7 bytes.
#[inline]
pub(super) fn short_key(text: &[u8], start: usize, end: usize) -> u64 {
    let size = end - start;
    load_8(text, start) & !(u64::MAX << (8 * size)) | (size as u64) << 56
}

/// The key of 8 to 15 bytes.
#[inline]
pub(super) fn medium_key(text: &[u8], start: usize, end: usize) -> u128 {
    let size = end - start;
    load_16(text, start) & !(u128::MAX << (8 * size)) | (size as u128) << 120
}

/// The low and high words of the key of 1 to 15 bytes: themselves, and their number in the highest byte.
#[inline(always)]
pub(super) fn word_key(text: &[u8], start: usize, end: usize) -> [u64; 2] {
    let (size, bytes) = (end - start, load_16(text, start));
    let [low, high] = MASKS[size & 15];
    [bytes as u64 & low, (bytes >> 64) as u64 & high | (size as u64) << 56]
}

/// Ones for the first bytes of sixteen, by their number.
static MASKS: [[u64; 2]; 16] = {
    let (mut masks, mut size) = ([[0; 2]; 16], 1);
    while size < 16 {
        let mask = u128::MAX >> (128 - 8 * size);
        masks[size] = [mask as u64, (mask >> 64) as u64];
        size += 1;
    }
    masks
};

fn long_key(piece: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(piece)
}

fn prefix_slot(first_four: u32) -> usize {
    (first_four.wrapping_mul(MIX as u32) >> (32 - PREFIX_BITS)) as usize
}

impl PieceTable {
    /// An empty table for tokens that start at these offsets.
    pub(super) fn with_room_for(offsets: &[u32]) -> Self {
        let count = |range: Range<u32>| offsets.windows(2).filter(|pair| range.contains(&(pair[1] - pair[0]))).count();
        Self {
            short: Table::with_room_for(count(1..8)),
            medium: Table::with_room_for(count(8..16)),
            long: Table::with_room_for(count(16..u32::MAX)),
            widths: vec![0; 1 << PREFIX_BITS].into(),
            wide: Vec::new(),
        }
    }

    /// Adds the token that spells `bytes[at]`.
    pub(super) fn insert(&mut self, bytes: &[u8], at: Range<usize>, id: u32) {
        match at.len() {
            ..8 => self.short.insert(short_key(bytes, at.start, at.end), id),
            8..16 => self.medium.insert(medium_key(bytes, at.start, at.end), id),
            _ => self.long.insert(long_key(&bytes[at.clone()]), id),
        }
        self.note_width(load_8(bytes, at.start) as u32, at.len());
    }

    fn note_width(&mut self, first_four: u32, width: usize) {
        if width >= 4 {
            self.widths[prefix_slot(first_four)] |= 1 << width.min(WIDE);
        }
        if width >= WIDE && !self.wide.contains(&(width as u8)) {
            self.wide.push(width as u8);
            self.wide.sort_unstable_by(|a, b| b.cmp(a));
        }
    }

    /// The token that spells `text[start..end]`, 1 to 7 bytes.
    #[inline]
    pub(super) fn find_short(&self, text: &[u8], start: usize, end: usize) -> u32 {
        self.short.find(short_key(text, start, end))
    }

    /// The token that spells `text[start..end]`, 8 to 15 bytes.
    #[inline]
    pub(super) fn find_medium(&self, text: &[u8], start: usize, end: usize) -> u32 {
        self.medium.find(medium_key(text, start, end))
    }

    /// Whether the word of a key is of less than 8 bytes and seen at first sight to be a token, as most are: the question that is asked most.
    #[inline(always)]
    pub(super) fn shows(&self, [low, high]: [u64; 2]) -> bool {
        high & (u64::MAX >> 8) == 0 && self.short.is_first(low | high)
    }

    /// Brings nearer what [`Self::shows`] reads.
    #[inline(always)]
    pub(super) fn bring(&self, [low, high]: [u64; 2]) {
        bring(&self.short.slots[self.short.first_slot((low | high).hash())]);
    }

    /// `find_short` for what is probably no token.
    #[inline]
    pub(super) fn find_rare_short(&self, text: &[u8], start: usize, end: usize) -> u32 {
        self.short.find_rare(short_key(text, start, end))
    }

    /// `find_medium` for what is probably no token.
    #[inline]
    pub(super) fn find_rare_medium(&self, text: &[u8], start: usize, end: usize) -> u32 {
        self.medium.find_rare(medium_key(text, start, end))
    }

    /// The tokens of 16 and more bytes that may spell `piece`.
    pub(super) fn candidates(&self, piece: &[u8]) -> impl Iterator<Item = u32> {
        self.long.find_all(long_key(piece))
    }

    /// The widths up to `limit` that a token at `start` may have, longest first.
    pub(super) fn widths(&self, text: &[u8], start: usize, limit: usize) -> impl Iterator<Item = usize> {
        let noted = if limit < 4 { 0 } else { self.widths[prefix_slot(load_8(text, start) as u32)] };
        let mut mask = (noted | 0b1110) & ((2u64 << limit.min(WIDE)) - 1) as u32;
        let wide = if mask >> WIDE == 0 { &[][..] } else { &self.wide[..] };
        mask &= (1 << WIDE) - 1;
        let narrow = std::iter::from_fn(move || {
            let width = mask.checked_ilog2()?;
            mask ^= 1 << width;
            Some(width as usize)
        });
        wide.iter().map(|&width| usize::from(width)).filter(move |&width| width <= limit).chain(narrow)
    }
}

const _: () = assert!(MIX & 1 == 1 && MIX_HIGH & 1 == 1);
