//! Which two characters stand side by side in any token: where two do not, no merge can ever join them, so a text may be cut there.
//!
//! Of a `SentencePiece` vocabulary, which merges characters, two ASCII characters are told exactly, and pretokens are cut by it. Of one that
//! merges bytes, ASCII is not asked about, and long pretokens of other scripts are cut; tokens that have only a part of one of the two
//! characters are told by the two bytes that meet. A bit may be set without a reason, which only makes a part longer than it need be.

use super::load::load_8;

/// Bits of the filter: about thirty for each pair of characters of a vocabulary, so three in a hundred answers are a needless yes.
const FILTER_BITS: u32 = 20;

/// The pairs.
pub(super) struct Bigrams {
    /// By the first character: which follow it.
    ascii: Box<[u128; 128]>,
    filter: Box<[u64]>,
    /// By the last byte of the one: with which byte the other begins, where a token has only a part of them.
    torn: Box<[[u64; 4]; 256]>,
}

impl Bigrams {
    pub(super) fn new() -> Self {
        Self { ascii: Box::new([0; 128]), filter: vec![0; 1 << (FILTER_BITS - 6)].into(), torn: Box::new([[0; 4]; 256]) }
    }

    /// All that meet in a token that may begin or end inside of a character.
    pub(super) fn insert_all(&mut self, token: &[u8]) {
        for at in 1..token.len() {
            if token[at] & 0xC0 == 0x80 || token[at] | token[at - 1] < 128 {
                continue;
            }
            if is_torn(token, at) {
                self.torn[usize::from(token[at - 1])][usize::from(token[at] >> 6)] |= 1 << (token[at] & 63);
            } else {
                self.insert(token, at);
            }
        }
    }

    /// The end of the part of `text[..end]` from `start` on that no token leaves: it goes on while some token has two neighbours side by side.
    #[inline]
    pub(super) fn part_end(&self, text: &[u8], start: usize, end: usize) -> usize {
        let (mut left, width) = character(text, start);
        let mut at = start + width;
        while at < end {
            let (right, width) = character(text, at);
            let (last, first) = (text[at - 1], text[at]);
            let meet = (left | right) < 128
                || self.has(left, right)
                || self.torn[usize::from(last)][usize::from(first >> 6)] >> (first & 63) & 1 == 1;
            if !meet {
                return at;
            }
            (left, at) = (right, at + width);
        }
        end
    }

    /// The pair that meets at `at` in `bytes`, which is UTF-8.
    pub(super) fn insert(&mut self, bytes: &[u8], at: usize) {
        let (left, right) = (character_before(bytes, at), character(bytes, at).0);
        if (left | right) < 128 {
            self.ascii[left as usize] |= 1 << right;
        } else {
            let (word, bit) = slot(left, right);
            self.filter[word] |= bit;
        }
    }

    /// Whether a token may have them side by side.
    #[inline]
    pub(super) fn has(&self, left: u32, right: u32) -> bool {
        if (left | right) < 128 {
            return self.ascii[left as usize & 127] >> right & 1 == 1;
        }
        let (word, bit) = slot(left, right);
        self.filter[word] & bit != 0
    }
}

#[inline]
fn slot(left: u32, right: u32) -> (usize, u64) {
    let hash = (u64::from(left) << 32 | u64::from(right)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let hash = (hash ^ hash >> 32).wrapping_mul(0xBB67_AE85_84CA_A73B);
    ((hash >> (64 - FILTER_BITS + 6)) as usize, 1 << (hash >> 20 & 63))
}

/// The character at `at` and how many bytes it has; a byte that begins none is one of its own.
#[inline]
pub(super) fn character(bytes: &[u8], at: usize) -> (u32, usize) {
    let word = load_8(bytes, at) as u32;
    let tail = |i: u32| word >> (8 * i) & 63;
    match word & 0xFF {
        byte @ ..0xC0 => (byte, 1),
        byte @ 0xC0..0xE0 => ((byte & 31) << 6 | tail(1), 2),
        byte @ 0xE0..0xF0 => ((byte & 15) << 12 | tail(1) << 6 | tail(2), 3),
        byte => ((byte & 7) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4),
    }
}

fn character_before(bytes: &[u8], at: usize) -> u32 {
    character(bytes, start_before(bytes, at)).0
}

/// Where the character that ends at `at` begins; 0 where it begins before the bytes do.
fn start_before(bytes: &[u8], at: usize) -> usize {
    (0..at).rev().find(|&start| bytes[start] & 0xC0 != 0x80).unwrap_or(0)
}

/// Whether one of the characters that meet at `at` is not there as a whole.
fn is_torn(bytes: &[u8], at: usize) -> bool {
    let before = start_before(bytes, at);
    std::str::from_utf8(&bytes[before..at]).is_err() || at + character(bytes, at).1 > bytes.len()
}

#[cfg(test)]
mod tests {
    use super::super::Encoding;
    use super::super::vocabulary::Vocabulary;
    use super::*;

    #[test]
    fn what_was_put_in_is_found_and_little_else() {
        let texts = ["ab", "aé", "éa", "中文", "😀ß", "~\u{7f}", "a中"];
        let mut bigrams = Bigrams::new();
        let pairs = texts.map(|text| {
            let (left, right) = (text.chars().next().unwrap(), text.chars().nth(1).unwrap());
            bigrams.insert(text.as_bytes(), left.len_utf8());
            (u32::from(left), u32::from(right))
        });
        assert!(pairs.iter().all(|&(left, right)| bigrams.has(left, right)));
        let others = (0..2_000).flat_map(|left| (0..200).map(move |right| (left, right)));
        assert!(others.filter(|&(left, right)| bigrams.has(left, right)).count() < 20);
    }

    /// Whatever is cut, no token has its two sides: those that begin or end inside of a character too.
    #[test]
    fn no_token_leaves_its_part() {
        for encoding in Encoding::ALL.into_iter().filter(|encoding| !encoding.merges_characters()) {
            let vocabulary = Vocabulary::get(encoding);
            for id in 0..vocabulary.len() as u32 {
                let token = vocabulary.spelling(id);
                // Missing bytes of its first and last character, in every way that gives the fewest reasons to hold them together.
                let head = token.iter().take_while(|byte| **byte & 0xC0 == 0x80).count();
                let last = (0..token.len()).rev().find(|&at| token[at] & 0xC0 != 0x80).unwrap_or(0);
                let missing = character(token, last).1.saturating_sub(token.len() - last);
                for lead in [&[][..], &[0xC3], &[0xE4, 0xB8], &[0xF0, 0x9F, 0x98]] {
                    let text = [lead, token, &[0xBF; 3][..missing]].concat();
                    let (first, last) = (lead.len(), lead.len() + token.len());
                    let mut at = if std::str::from_utf8(&text).is_ok() { 0 } else { text.len() };
                    while at < text.len() {
                        at = vocabulary.part_end(&text, at, text.len());
                        assert!(at <= first || at >= last || head == token.len(), "{encoding:?}: {token:?} is cut at {at} of {text:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn characters_are_read_as_the_language_reads_them() {
        for text in ["a", "é", "中", "😀", "\u{7ff}", "\u{800}", "\u{10ffff}", "\0"] {
            let expected = text.chars().next().map(|first| (u32::from(first), text.len())).unwrap();
            assert_eq!(character(text.as_bytes(), 0), expected);
        }
    }
}
