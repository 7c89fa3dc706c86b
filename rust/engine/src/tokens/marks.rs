//! The classes of 64 bytes, a bit each: where a pretoken of ASCII starts is a few shifts of them (`ascii`).
//!
//! The bytes are told apart 32 at a time by AVX2, sixteen by SSE2, which every x86-64 has, else eight at a time in ordinary registers.

/// How many bytes are told apart at once.
pub(super) const BLOCK: usize = 64;

/// A set of bytes each.
#[derive(Default, Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kinds {
    pub(super) lower: u64,
    /// Letters of both cases.
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
    /// The kinds of the bytes from `base` on.
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

    /// The kinds of a text that ends inside of the block.
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
        if is_x86_feature_detected!("avx2") {
            // SAFETY: just detected.
            unsafe { avx2::kinds(block) }
        } else {
            // SAFETY: every x86-64 has SSE2.
            unsafe { sse2::kinds(block) }
        }
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

/// Vectors of one width, which tell bytes of a block apart, by operations under common names.
#[cfg(target_arch = "x86_64")]
macro_rules! kinds_by {
    ($feature:literal, $bytes:literal, $vector:ty) => {
        use super::{BLOCK, Kinds};

        #[target_feature(enable = $feature)]
        pub(super) fn kinds(block: &[u8; BLOCK]) -> Kinds {
            let mut kinds = Kinds::default();
            for (number, part) in block.as_chunks::<$bytes>().0.iter().enumerate() {
                let (part, shift) = (load(part), $bytes * number);
                let spaces = is(part, b' ');
                let letters = bits(within(or(part, all(0x20)), b'a', b'z'));
                // The bit that tells the case of a letter is moved to where a mask is taken.
                kinds.lower |= (letters & bits(left::<2>(part))) << shift;
                kinds.letters |= letters << shift;
                kinds.digits |= bits(within(part, b'0', b'9')) << shift;
                kinds.white |= bits(or(within(part, b'\t', b'\r'), spaces)) << shift;
                kinds.lines |= bits(or(is(part, b'\n'), is(part, b'\r'))) << shift;
                kinds.spaces |= bits(spaces) << shift;
                kinds.quotes |= bits(is(part, b'\'')) << shift;
                kinds.slashes |= bits(is(part, b'/')) << shift;
                kinds.unknown |= bits(part) << shift;
            }
            kinds
        }

        /// Comparisons are of signed bytes, and bytes beyond ASCII are negative.
        #[inline]
        #[target_feature(enable = $feature)]
        fn within(part: $vector, from: u8, to: u8) -> $vector {
            and(above(part, all(from as i8 - 1)), above(all(to as i8 + 1), part))
        }

        #[inline]
        #[target_feature(enable = $feature)]
        fn is(part: $vector, byte: u8) -> $vector {
            equal(part, all(byte as i8))
        }

        #[inline]
        #[target_feature(enable = $feature)]
        fn bits(part: $vector) -> u64 {
            u64::from(mask(part) as u32)
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod sse2 {
    use std::arch::x86_64::{
        __m128i, _mm_and_si128 as and, _mm_cmpeq_epi8 as equal, _mm_cmpgt_epi8 as above, _mm_loadu_si128 as loaded,
        _mm_movemask_epi8 as mask, _mm_or_si128 as or, _mm_set1_epi8 as all, _mm_slli_epi16 as left,
    };

    kinds_by!("sse2", 16, __m128i);

    #[inline]
    #[target_feature(enable = "sse2")]
    fn load(part: &[u8; 16]) -> __m128i {
        // SAFETY: 16 bytes are there, wherever they start.
        unsafe { loaded(part.as_ptr().cast()) }
    }
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_and_si256 as and, _mm256_cmpeq_epi8 as equal, _mm256_cmpgt_epi8 as above, _mm256_loadu_si256 as loaded,
        _mm256_movemask_epi8 as mask, _mm256_or_si256 as or, _mm256_set1_epi8 as all, _mm256_slli_epi16 as left,
    };

    kinds_by!("avx2", 32, __m256i);

    #[inline]
    #[target_feature(enable = "avx2")]
    fn load(part: &[u8; 32]) -> __m256i {
        // SAFETY: 32 bytes are there, wherever they start.
        unsafe { loaded(part.as_ptr().cast()) }
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
            #[cfg(target_arch = "x86_64")]
            // SAFETY: every x86-64 has SSE2.
            assert_eq!(unsafe { sse2::kinds(&block) }, expected(&block));
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
