//! A vocabulary in memory: what every token spells, which two tokens it was merged from, and how to find it.
//!
//! The data is packed by `tools/build_vocabularies.py`, which names its sources and documents the bytes:
//! a token is stored as its two parents, so that unpacking needs no decompressor and gives what merging needs.

use std::sync::OnceLock;

use super::Encoding;
use super::pieces::{NONE, PieceTable};

/// The longest token of any encoding here, in bytes: what bounds a count from below.
pub(super) const MAX_WIDTH: usize = 128;
/// Ids below are the single bytes.
pub(super) const FIRST_MERGED: u32 = 256;

/// The tokens of an encoding.
pub(super) struct Vocabulary {
    /// Where each token starts in `bytes`, and the end of the last one.
    offsets: Box<[u32]>,
    bytes: Box<[u8]>,
    /// Left and right parent of each token; of a single byte, itself.
    parents: Box<[[u32; 2]]>,
    table: PieceTable,
    /// The token of every two bytes, or `NONE`: where merging begins.
    twos: Box<[u32]>,
}

impl Vocabulary {
    /// The vocabulary of an encoding, unpacked on first use.
    pub(super) fn get(encoding: Encoding) -> &'static Self {
        static LOADED: [OnceLock<Vocabulary>; Encoding::ALL.len()] = [const { OnceLock::new() }; Encoding::ALL.len()];
        LOADED[encoding.number() as usize].get_or_init(|| Self::unpack(encoding.packed()))
    }

    fn unpack(packed: &[u8]) -> Self {
        let parents = unpack_parents(packed);
        let (offsets, bytes) = spell(&parents, &packed[8..8 + FIRST_MERGED as usize]);
        let mut table = PieceTable::with_room_for(&offsets);
        for (id, span) in offsets.windows(2).enumerate() {
            table.insert(&bytes, span[0] as usize..span[1] as usize, id as u32);
        }
        let twos = (0..=u16::MAX).map(|two| table.find_short(&two.to_le_bytes(), 0, 2)).collect();
        Self { offsets, bytes, parents, table, twos }
    }

    /// How many tokens there are; ids run from 0 to one less.
    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    /// What a token spells. `id` must be one of this vocabulary.
    #[inline]
    pub(super) fn spelling(&self, id: u32) -> &[u8] {
        &self.bytes[self.offsets[id as usize] as usize..self.offsets[id as usize + 1] as usize]
    }

    /// How many bytes a token spells.
    #[inline]
    pub(super) fn width(&self, id: u32) -> usize {
        (self.offsets[id as usize + 1] - self.offsets[id as usize]) as usize
    }

    /// The two tokens that a token was merged from.
    #[inline]
    pub(super) fn parents(&self, id: u32) -> [u32; 2] {
        self.parents[id as usize]
    }

    /// The token that spells `text[start..end]`, or `NONE`.
    #[inline]
    pub(super) fn find(&self, text: &[u8], start: usize, end: usize) -> u32 {
        match end - start {
            0..8 => self.table.find_short(text, start, end),
            8..16 => self.table.find_medium(text, start, end),
            _ => self.find_long(text, start, end),
        }
    }

    /// Whether `text[start..end]`, 1 to 7 bytes, is a token.
    #[inline]
    pub(super) fn has_short(&self, text: &[u8], start: usize, end: usize) -> bool {
        self.table.has_short(text, start, end)
    }

    /// The token that spells two bytes, or `NONE`.
    #[inline]
    pub(super) fn find_two(&self, bytes: [u8; 2]) -> u32 {
        self.twos[usize::from(u16::from_le_bytes(bytes))]
    }

    /// `find` for what is probably no token: what merging asks.
    #[inline]
    pub(super) fn find_rare(&self, text: &[u8], start: usize, end: usize) -> u32 {
        match end - start {
            0..8 => self.table.find_rare_short(text, start, end),
            8..16 => self.table.find_rare_medium(text, start, end),
            _ => self.find_long(text, start, end),
        }
    }

    #[inline(never)]
    fn find_long(&self, text: &[u8], start: usize, end: usize) -> u32 {
        let piece = &text[start..end];
        self.table.candidates(piece).find(|&id| self.spelling(id) == piece).unwrap_or(NONE)
    }

    /// The longest token of at most `limit` bytes (and at least one) that the text from `start` on begins with, and its width.
    pub(super) fn longest_prefix(&self, text: &[u8], start: usize, limit: usize) -> (u32, usize) {
        let mut widths = self.table.widths(text, start, limit);
        loop {
            let width = widths.next().unwrap_or(1);
            let id = self.find_rare(text, start, start + width);
            if id != NONE {
                return (id, width);
            }
            debug_assert!(width > 1, "every byte is a token");
        }
    }
}

/// Reads the pairs of parents. The data is embedded and checked by a test, so a damaged one is a bug, not an input.
fn unpack_parents(packed: &[u8]) -> Box<[[u32; 2]]> {
    let count = u32::from_le_bytes([packed[0], packed[1], packed[2], packed[3]]);
    let mut bits = Bits { bytes: &packed[8 + FIRST_MERGED as usize..], held: 0, have: 0 };
    let single = (0..FIRST_MERGED).map(|id| [id, id]);
    single.chain((FIRST_MERGED..count).map(|_| [bits.id(), bits.id()])).collect()
}

/// The spellings of all tokens one behind the other, and where each starts.
fn spell(parents: &[[u32; 2]], single: &[u8]) -> (Box<[u32]>, Box<[u8]>) {
    let mut offsets = Vec::with_capacity(parents.len() + 1);
    let mut bytes = Vec::with_capacity(parents.len() * 8);
    for (id, pair) in parents.iter().enumerate() {
        offsets.push(bytes.len() as u32);
        if let Some(&byte) = single.get(id) {
            bytes.push(byte);
            continue;
        }
        for &part in pair {
            bytes.extend_from_within(offsets[part as usize] as usize..offsets[part as usize + 1] as usize);
        }
    }
    offsets.push(bytes.len() as u32);
    (offsets.into(), bytes.into())
}

/// Bits of a byte string, low first.
struct Bits<'a> {
    bytes: &'a [u8],
    held: u64,
    have: u32,
}

impl Bits<'_> {
    fn take(&mut self, width: u32) -> u32 {
        while self.have < width {
            let (byte, rest) = self.bytes.split_first().map_or((0, self.bytes), |(&byte, rest)| (byte, rest));
            self.held |= u64::from(byte) << self.have;
            (self.bytes, self.have) = (rest, self.have + 8);
        }
        let value = self.held & ((1 << width) - 1);
        self.held >>= width;
        self.have -= width;
        value as u32
    }

    /// An id: its magnitude, then the bits below its leading one.
    fn id(&mut self) -> u32 {
        match self.take(4) {
            0 => self.take(3),
            magnitude => 1 << (magnitude + 2) | self.take(magnitude + 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checksum was computed by the script from the published file, over the tokens rather than over the packed bytes.
    #[test]
    fn unpacks_to_the_tokens_that_were_packed() {
        for (encoding, count) in Encoding::ALL.into_iter().zip([100_256, 199_998, 151_643, 130_072, 127_997]) {
            let (vocabulary, packed) = (Vocabulary::get(encoding), encoding.packed());
            assert_eq!(vocabulary.len(), count);
            let mut hasher = crc32fast::Hasher::new();
            for id in 0..count as u32 {
                hasher.update(&[vocabulary.width(id) as u8]);
                hasher.update(vocabulary.spelling(id));
            }
            assert_eq!(hasher.finalize().to_le_bytes(), packed[4..8]);
        }
    }

    #[test]
    fn finds_every_token_by_its_spelling() {
        for encoding in Encoding::ALL {
            let vocabulary = Vocabulary::get(encoding);
            for id in 0..vocabulary.len() as u32 {
                let spelling = vocabulary.spelling(id);
                assert!(spelling.len() <= MAX_WIDTH);
                assert_eq!(vocabulary.find(spelling, 0, spelling.len()), id);
                assert_eq!(vocabulary.longest_prefix(spelling, 0, spelling.len()), (id, spelling.len()));
            }
        }
    }

    #[test]
    fn parents_are_older_and_spell_the_token() {
        for encoding in Encoding::ALL {
            let vocabulary = Vocabulary::get(encoding);
            for id in FIRST_MERGED..vocabulary.len() as u32 {
                let [left, right] = vocabulary.parents(id);
                assert!(left < id && right < id);
                assert_eq!([vocabulary.spelling(left), vocabulary.spelling(right)].concat(), vocabulary.spelling(id));
            }
        }
    }
}
