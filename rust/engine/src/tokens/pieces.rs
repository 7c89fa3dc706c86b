//! Hash tables from the bytes of a token to its id.
//!
//! Nearly all pretokens and tokens are of at most 15 bytes: those bytes and their number are one key of two 64-bit words, so that finding
//! one is a load, a mask, a multiplication and usually one comparison. The few longer ones are compared byte by byte. The tables are filled
//! once and have a fixed content, so no input can make them degenerate.

use std::ops::Range;

use super::load::{bring, load_8, load_16};

/// No token.
pub(super) const NONE: u32 = u32::MAX;
/// An odd 64-bit constant with well-mixed bits (the fractional part of the golden ratio).
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
/// Where a key has its number of bytes.
const SIZE: u64 = 0xFF << 56;
/// Up to so many bytes a key in a table has room for the token's id; the id of a wider one is found as those of long tokens are.
pub(super) const NARROW: usize = 12;
const ID_SHIFT: u32 = 32;
/// Widths above this share one bit in the sets of widths.
const WIDE: usize = 31;
/// Hashed prefixes of four bytes.
const PREFIX_BITS: u32 = 16;

/// Token ids by spelling.
pub(super) struct PieceTable {
    words: Words,
    long: Long,
    /// By the hash of the first four bytes: which widths tokens that begin so can have.
    widths: Box<[u32]>,
    /// The widths above `WIDE` that occur, longest first.
    wide: Vec<u8>,
}

/// The tokens of up to 15 bytes. Open addressing with linear probing, two thirds full. Four keys are one cache line, with their ids in the bits
/// that most spellings leave free. A common token is in the first slot that is looked at, since older tokens were put in before others.
///
/// In front stands a filter of about ten bits a token, small enough for the second-level cache: merging mostly asks for what is
/// no token, and without the filter each such question is a miss in the caches.
struct Words {
    keys: Box<[[u64; 2]]>,
    filter: Box<[u64]>,
    filter_shift: u32,
}

/// Where the tables are looked at for a key.
#[inline(always)]
pub(super) fn hash([low, high]: [u64; 2]) -> u64 {
    let folded = low ^ high.rotate_left(29);
    (folded ^ folded >> 32).wrapping_mul(MIX)
}

impl Words {
    fn with_room_for(count: usize) -> Self {
        let (words, slots) = ((count / 8 + 8).next_power_of_two(), count + count / 2 + 64);
        Self { keys: vec![[0; 2]; slots].into(), filter: vec![0; words].into(), filter_shift: 64 - words.trailing_zeros() }
    }

    /// The filter's word for a hash, and the two bits in it.
    #[inline]
    fn marks(&self, hash: u64) -> (usize, u64) {
        ((hash >> self.filter_shift) as usize & (self.filter.len() - 1), 1 << (hash >> 20 & 63) | 1 << (hash >> 26 & 63))
    }

    /// Where the search for a key starts: the hash's upper half as a fraction of the table.
    #[inline(always)]
    fn first_slot(&self, hash: u64) -> usize {
        (((hash >> 32) * self.keys.len() as u64) >> 32) as usize
    }

    fn insert(&mut self, key: [u64; 2], id: u32) {
        let hash = hash(key);
        let mut slot = self.first_slot(hash);
        while self.keys[slot] != [0; 2] {
            slot = self.next(slot);
        }
        self.keys[slot] = key;
        if size(key) <= NARROW {
            self.keys[slot][1] |= u64::from(id) << ID_SHIFT;
        }
        let (word, bits) = self.marks(hash);
        self.filter[word] |= bits;
    }

    #[inline(always)]
    fn next(&self, slot: usize) -> usize {
        if slot + 1 == self.keys.len() { 0 } else { slot + 1 }
    }

    #[inline]
    fn find(&self, key: [u64; 2]) -> u32 {
        self.find_hashed(key, hash(key))
    }

    #[inline]
    fn find_hashed(&self, key: [u64; 2], hash: u64) -> u32 {
        let mut slot = self.first_slot(hash);
        loop {
            let found = self.keys[slot];
            if is_key(found, key) {
                return (found[1] << 8 >> (8 + ID_SHIFT)) as u32;
            }
            if found[1] == 0 {
                return NONE;
            }
            slot = self.next(slot);
        }
    }

    /// Like `find`, for keys that are often not there.
    #[inline]
    fn find_rare(&self, key: [u64; 2]) -> u32 {
        let hash = hash(key);
        if self.may_have(hash) { self.find_hashed(key, hash) } else { NONE }
    }

    /// False of most keys that are not there.
    #[inline]
    fn may_have(&self, hash: u64) -> bool {
        let (word, bits) = self.marks(hash);
        self.filter[word] & bits == bits
    }
}

/// How many bytes a key has.
#[inline(always)]
fn size([_, high]: [u64; 2]) -> usize {
    (high >> 56) as usize
}

/// Whether what is found in a slot is a key, whose id it may have with it. Without branches: which half differs cannot be foretold.
#[inline(always)]
fn is_key(found: [u64; 2], key: [u64; 2]) -> bool {
    (found[0] ^ key[0]) | ((found[1] ^ key[1]) & SPELLED[size(key) & 15]) == 0
}

/// By the number of bytes: the bits of a key's second word that are not for an id.
static SPELLED: [u64; 16] = {
    let (mut spelled, mut size) = ([SIZE; 16], 0);
    while size < 16 {
        spelled[size] |= MASKS[size][1];
        size += 1;
    }
    spelled
};

/// The longer tokens, by the hash of their bytes, which several may share.
struct Long(Box<[(u64, u32)]>);

impl Long {
    fn with_room_for(count: usize) -> Self {
        Self(vec![(0, NONE); count + count / 2 + 64].into())
    }

    #[inline]
    fn first_slot(&self, hash: u64) -> usize {
        (((hash >> 32) * self.0.len() as u64) >> 32) as usize
    }

    fn insert(&mut self, hash: u64, id: u32) {
        let mut slot = self.first_slot(hash);
        while self.0[slot].1 != NONE {
            slot = (slot + 1) % self.0.len();
        }
        self.0[slot] = (hash, id);
    }

    fn find_all(&self, hash: u64) -> impl Iterator<Item = u32> {
        let (before, from_first) = self.0.split_at(self.first_slot(hash));
        let chain = from_first.iter().chain(before);
        chain.take_while(|slot| slot.1 != NONE).filter(move |slot| slot.0 == hash).map(|slot| slot.1)
    }
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
            words: Words::with_room_for(count(1..16)),
            long: Long::with_room_for(count(NARROW as u32 + 1..u32::MAX)),
            widths: vec![0; 1 << PREFIX_BITS].into(),
            wide: Vec::new(),
        }
    }

    /// Adds the token that spells `bytes[at]`.
    pub(super) fn insert(&mut self, bytes: &[u8], at: Range<usize>, id: u32) {
        if at.len() < 16 {
            self.words.insert(word_key(bytes, at.start, at.end), id);
        }
        if at.len() > NARROW {
            self.long.insert(long_key(&bytes[at.clone()]), id);
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

    /// The token that spells `text[start..end]`, 1 to `NARROW` bytes.
    #[inline]
    pub(super) fn find_word(&self, text: &[u8], start: usize, end: usize) -> u32 {
        self.words.find(word_key(text, start, end))
    }

    /// `find_word` for what is probably no token.
    #[inline]
    pub(super) fn find_rare_word(&self, text: &[u8], start: usize, end: usize) -> u32 {
        self.words.find_rare(word_key(text, start, end))
    }

    /// The same in a short word with zeros behind it, from one of the first sixteen bytes on.
    #[inline]
    pub(super) fn find_rare_in(&self, word: &[u8; 32], start: usize, end: usize) -> u32 {
        self.words.find_rare(word_key(word, start, end))
    }

    /// False of most of `text[start..end]`, 1 to 15 bytes, that are not a token.
    #[inline]
    pub(super) fn may_have_word(&self, text: &[u8], start: usize, end: usize) -> bool {
        self.words.may_have(hash(word_key(text, start, end)))
    }

    /// Whether a key with this hash is seen at first sight to be a token, as most are: the question that is asked most.
    #[inline(always)]
    pub(super) fn shows(&self, key: [u64; 2], hash: u64) -> bool {
        is_key(self.words.keys[self.words.first_slot(hash)], key)
    }

    /// Brings nearer what [`Self::shows`] reads.
    #[inline(always)]
    pub(super) fn bring(&self, hash: u64) {
        bring(&self.words.keys[self.words.first_slot(hash)]);
    }

    /// The tokens of more than `NARROW` bytes that may spell `piece`.
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

const _: () = assert!(MIX & 1 == 1);
