//! A vocabulary in memory: what every token spells, which two tokens it was merged from, and how to find it.
//!
//! The data is packed by `tools/build_vocabularies.py`, which names its sources and documents the bytes:
//! a token is stored as its two parents, so that unpacking needs no decompressor and gives what merging needs.

use super::Encoding;
use super::bigrams::{Bigrams, character};
use super::packed::Packed;
use super::pieces::{NARROW, NONE, PieceTable};
use super::recent::Recent;
use crate::process::Dear;

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
    /// The first token that a merge makes; those before are bytes, characters and words.
    first_merged: u32,
    /// Tokens whose parents here only spell them: their last merge is of a younger token.
    odd: Box<[u32]>,
    /// Which characters stand side by side in a token.
    bigrams: Bigrams,
    merges_characters: bool,
    recent: Recent,
}

impl Vocabulary {
    /// The vocabulary of an encoding, unpacked on first use: 10 MB and 50 ms of a core.
    pub(super) fn get(encoding: Encoding) -> &'static Self {
        static LOADED: [Dear<Vocabulary>; Encoding::ALL.len()] = [const { Dear::new() }; Encoding::ALL.len()];
        LOADED[encoding.number() as usize].get_or_init(|| Self::unpack(encoding))
    }

    fn unpack(encoding: Encoding) -> Self {
        let mut packed = Packed::read(encoding.packed(), encoding.merges_characters());
        let first_merged = packed.offsets.len() as u32;
        let parents: Box<[[u32; 2]]> = (0..first_merged)
            .map(|id| [id, id])
            .chain((first_merged..packed.count).map(|_| [packed.bits.id(), packed.bits.id()]))
            .collect();
        let odd = std::mem::take(&mut packed.odd);
        let (offsets, bytes) = spell(&parents, packed);
        let mut table = PieceTable::with_room_for(&offsets);
        for (id, span) in offsets.windows(2).enumerate() {
            table.insert(&bytes, span[0] as usize..span[1] as usize, id as u32);
        }
        let twos = (0..=u16::MAX).map(|two| table.find_word(&two.to_le_bytes(), 0, 2)).collect();
        let (bigrams, merges_characters, recent) = (Bigrams::new(), encoding.merges_characters(), Recent::new());
        let mut vocabulary = Self { offsets, bytes, parents, table, twos, first_merged, odd, bigrams, merges_characters, recent };
        vocabulary.bigrams = vocabulary.pairs();
        vocabulary
    }

    /// The characters that meet in each token; where characters are merged, those inside its parents meet in them.
    fn pairs(&self) -> Bigrams {
        let mut bigrams = Bigrams::new();
        for id in self.first_merged as usize..self.len() {
            let token = self.spelling(id as u32);
            if self.merges_characters {
                bigrams.insert(token, self.width(self.parents[id][0]));
            } else if !token.is_ascii() {
                bigrams.insert_all(token);
            }
        }
        bigrams
    }

    /// The counts of pretokens that were merged lately.
    #[inline]
    pub(super) fn recent(&self) -> &Recent {
        &self.recent
    }

    /// The end of the part of `text[..end]` from `start` on that no token leaves. Where characters are merged, pretokens are such parts.
    #[inline]
    pub(super) fn part_end(&self, text: &[u8], start: usize, end: usize) -> usize {
        if self.merges_characters { end } else { self.bigrams.part_end(text, start, end) }
    }

    /// Whether merging begins with characters rather than with bytes.
    #[inline]
    pub(super) fn merges_characters(&self) -> bool {
        self.merges_characters
    }

    /// Which characters stand side by side in a token, if characters are merged and not bytes.
    #[inline]
    pub(super) fn bigrams(&self) -> Option<&Bigrams> {
        self.merges_characters.then_some(&self.bigrams)
    }

    /// Whether a token is found before anything is merged: one of several characters that no merge makes.
    #[inline]
    pub(super) fn is_word(&self, id: u32) -> bool {
        (FIRST_MERGED..self.first_merged).contains(&id) && self.width(id) > character(self.spelling(id), 0).1
    }

    /// Whether no merge makes a token.
    #[inline]
    pub(super) fn is_single(&self, id: u32) -> bool {
        id < self.first_merged
    }

    /// Whether the parents of a token are not what its last merge is of.
    #[inline]
    pub(super) fn is_odd(&self, id: u32) -> bool {
        self.odd.contains(&id)
    }

    /// How many bytes at `at` merging begins with as one part: a byte, or a character that is a token.
    #[inline]
    pub(super) fn first_width(&self, text: &[u8], at: usize) -> usize {
        if !self.merges_characters {
            return 1;
        }
        let width = character(text, at).1;
        if width > 1 && at + width <= text.len() && self.find(text, at, at + width) != NONE { width } else { 1 }
    }

    /// How many tokens there are; ids run from 0 to one less.
    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    /// The bytes of a token. `id` must be one of this vocabulary.
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
            1..=NARROW => self.table.find_word(text, start, end),
            _ => self.find_long(text, start, end),
        }
    }

    /// Whether a key with this hash is seen at first sight to be a token.
    #[inline(always)]
    pub(super) fn shows(&self, key: [u64; 2], hash: u64) -> bool {
        self.table.shows(key, hash)
    }

    /// Brings nearer what counting a key with this hash reads first.
    #[inline(always)]
    pub(super) fn bring(&self, hash: u64) {
        self.table.bring(hash);
        self.recent.bring(hash);
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
            1..=NARROW => self.table.find_rare_word(text, start, end),
            ..16 if !self.table.may_have_word(text, start, end) => NONE,
            _ => self.find_long(text, start, end),
        }
    }

    /// The same in a short word with zeros behind it, from one of the first sixteen bytes on.
    #[inline]
    pub(super) fn find_rare_in(&self, word: &[u8; 32], start: usize, end: usize) -> u32 {
        if end - start <= NARROW { self.table.find_rare_in(word, start, end) } else { self.find_rare(word, start, end) }
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

/// The spellings of all tokens one behind the other, and where each starts.
fn spell(parents: &[[u32; 2]], packed: Packed) -> (Box<[u32]>, Box<[u8]>) {
    let (mut offsets, mut bytes) = (packed.offsets, packed.bytes);
    let first_merged = offsets.len();
    for pair in &parents[first_merged..] {
        offsets.push(bytes.len() as u32);
        for &part in pair {
            let start = offsets[part as usize] as usize;
            // The next token starts where one ends; behind the last one nothing is asked for.
            let end = offsets[part as usize + 1] as usize;
            bytes.extend_from_within(start..end);
        }
    }
    offsets.push(bytes.len() as u32);
    (offsets.into(), bytes.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The checksum was computed by the script from the published file, over the tokens rather than over the packed bytes.
    #[test]
    fn unpacks_to_the_tokens_that_were_packed() {
        for (encoding, count) in Encoding::ALL.into_iter().zip([100_256, 199_998, 151_643, 130_072, 127_997, 262_026]) {
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
            for id in vocabulary.first_merged..vocabulary.len() as u32 {
                let [left, right] = vocabulary.parents(id);
                assert!(left < id && right < id);
                assert_eq!([vocabulary.spelling(left), vocabulary.spelling(right)].concat(), vocabulary.spelling(id));
            }
        }
    }
}
