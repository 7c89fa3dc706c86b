//! The classes of 64 bytes, a bit each: where a pretoken of ASCII starts is a few shifts of them (`ascii`).
//!
//! The bytes are told apart sixteen at a time by SSE2, which every x86-64 has, else eight at a time in ordinary registers.

/// How many bytes are told apart at once.
pub(super) const BLOCK: usize = 64;

/// A set of bytes each.
#[derive(Default, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kinds {
    pub(super) lower: u64,
    /// Of both cases.
    pub(super) letters: u64,
    pub(super) digits: u64,
    pub(super) white: u64,
    /// `\r` and `\n`, which are white too.
    pub(super) lines: u64,
    /// ` ` alone.
    pub(super) spaces: u64,
    /// `'` alone.
    pub(super) quotes: u64,
    /// `/` alone.
    pub(super) slashes: u64,
    /// Bytes beyond ASCII, the end of the text, and the last byte of the block.
    pub(super) unknown: u64,
}

impl Kinds {
    /// Those of the bytes from `base` on.
    #[inline]
    pub(super) fn from(bytes: &[u8], base: usize) -> Self {
        let rest = &bytes[base..];
        let mut kinds = match rest.first_chunk() {
            Some(block) => Self::of(block),
            None => Self::of_tail(rest),
        };
        kinds.unknown |= 1 << (BLOCK - 1);
        kinds
    }

    /// Those of a text that ends inside of the block.
    #[inline(never)]
    fn of_tail(rest: &[u8]) -> Self {
        let mut block = [0; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        let mut kinds = Self::of(&block);
        kinds.unknown |= u64::MAX << rest.len();
        kinds
    }

    /// ASCII that is neither letter nor digit nor white.
    #[inline]
    pub(super) fn signs(&self) -> u64 {
        !(self.letters | self.digits | self.white | self.unknown)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn of(block: &[u8; BLOCK]) -> Self {
        let mut kinds = Self::default();
        for (number, part) in block.as_chunks::<16>().0.iter().enumerate() {
            // SAFETY: every x86-64 has SSE2.
            let part = unsafe { sse2::kinds(*part) };
            let shift = 16 * number;
            kinds.lower |= part.lower << shift;
            kinds.letters |= part.letters << shift;
            kinds.digits |= part.digits << shift;
            kinds.white |= part.white << shift;
            kinds.lines |= part.lines << shift;
            kinds.spaces |= part.spaces << shift;
            kinds.quotes |= part.quotes << shift;
            kinds.slashes |= part.slashes << shift;
            kinds.unknown |= part.unknown << shift;
        }
        kinds
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline]
    fn of(block: &[u8; BLOCK]) -> Self {
        Self::of_words(block)
    }

    #[cfg(any(test, not(target_arch = "x86_64")))]
    fn of_words(block: &[u8; BLOCK]) -> Self {
        use super::swar::{CASE, bits, lower_letters, within};
        let mut kinds = Self::default();
        for (number, word) in block.as_chunks::<8>().0.iter().enumerate() {
            let (word, shift) = (u64::from_le_bytes(*word), 8 * number);
            kinds.lower |= bits(lower_letters(word)) << shift;
            kinds.letters |= bits(lower_letters(word | CASE)) << shift;
            kinds.digits |= bits(within(word, b'0', b'9')) << shift;
            kinds.white |= bits(within(word, b'\t', b'\r') | within(word, b' ', b' ')) << shift;
            kinds.lines |= bits(within(word, b'\n', b'\n') | within(word, b'\r', b'\r')) << shift;
            kinds.spaces |= bits(within(word, b' ', b' ')) << shift;
            kinds.quotes |= bits(within(word, b'\'', b'\'')) << shift;
            kinds.slashes |= bits(within(word, b'/', b'/')) << shift;
            kinds.unknown |= bits(word) << shift;
        }
        kinds
    }
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8,
    };

    use super::Kinds;

    #[inline]
    #[target_feature(enable = "sse2")]
    pub(super) fn kinds(part: [u8; 16]) -> Kinds {
        let halves = part.as_chunks::<8>().0;
        let part = _mm_set_epi64x(i64::from_le_bytes(halves[1]), i64::from_le_bytes(halves[0]));
        let folded = _mm_or_si128(part, _mm_set1_epi8(0x20));
        let spaces = is(part, b' ');
        Kinds {
            lower: bits(within(part, b'a', b'z')),
            letters: bits(within(folded, b'a', b'z')),
            digits: bits(within(part, b'0', b'9')),
            white: bits(_mm_or_si128(within(part, b'\t', b'\r'), spaces)),
            lines: bits(_mm_or_si128(is(part, b'\n'), is(part, b'\r'))),
            spaces: bits(spaces),
            quotes: bits(is(part, b'\'')),
            slashes: bits(is(part, b'/')),
            unknown: bits(part),
        }
    }

    /// Comparisons are of signed bytes, and bytes beyond ASCII are negative.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn within(part: __m128i, from: u8, to: u8) -> __m128i {
        let (below, above) = (_mm_set1_epi8(from as i8 - 1), _mm_set1_epi8(to as i8 + 1));
        _mm_and_si128(_mm_cmpgt_epi8(part, below), _mm_cmpgt_epi8(above, part))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn is(part: __m128i, byte: u8) -> __m128i {
        _mm_cmpeq_epi8(part, _mm_set1_epi8(byte as i8))
    }

    #[inline]
    #[target_feature(enable = "sse2")]
    fn bits(part: __m128i) -> u64 {
        u64::from(_mm_movemask_epi8(part) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(bytes: &[u8]) -> Kinds {
        let set = |is: fn(&u8) -> bool| bytes.iter().enumerate().map(|(at, byte)| u64::from(is(byte)) << at).sum();
        Kinds {
            lower: set(u8::is_ascii_lowercase),
            letters: set(u8::is_ascii_alphabetic),
            digits: set(u8::is_ascii_digit),
            white: set(|byte| matches!(byte, 9..=13 | 32)),
            lines: set(|byte| matches!(byte, b'\r' | b'\n')),
            spaces: set(|byte| *byte == b' '),
            quotes: set(|byte| *byte == b'\''),
            slashes: set(|byte| *byte == b'/'),
            unknown: set(|byte| *byte >= 128),
        }
    }

    #[test]
    fn every_byte_is_told_in_every_place_and_in_both_ways() {
        for first in 0..=255u8 {
            let block: [u8; BLOCK] = std::array::from_fn(|at| first.wrapping_add((at * 37) as u8));
            assert_eq!((Kinds::of(&block), Kinds::of_words(&block)), (expected(&block), expected(&block)));
        }
    }

    #[test]
    fn the_end_of_a_text_is_unknown() {
        for size in 0..80 {
            let text = vec![b'a'; size];
            let kinds = Kinds::from(&text, 0);
            let known = (1 << size.min(63)) - 1;
            assert_eq!((kinds.lower & known, kinds.unknown, kinds.signs()), (known, !known, 0));
        }
    }
}
