//! Runs of ASCII letters, eight bytes a step, in ordinary 64-bit registers.
//!
//! In each byte of a word: with the top bit taken off, adding `0x80 - a` sets the top bit exactly where the byte is at least
//! `a`. So "at least `a`, not above `z`, and not above 127" is three additions and masks for eight bytes at once.

use super::load::load_8;

const ONES: u64 = 0x0101_0101_0101_0101;
pub(super) const TOPS: u64 = 0x80 * ONES;
/// The bit that makes an upper-case letter lower case.
pub(super) const CASE: u64 = 0x20 * ONES;

/// The top bit of each byte of `word` that is in `a..=z`.
#[inline]
pub(super) fn lower_letters(word: u64) -> u64 {
    within(word, b'a', b'z')
}

/// The top bit of each byte of `word` from `first` to `last`, which are ASCII.
#[inline]
pub(super) fn within(word: u64, first: u8, last: u8) -> u64 {
    let low = word & !TOPS;
    let from_first = low + (0x80 - first as u64) * ONES;
    let above_last = low + (0x80 - last as u64 - 1) * ONES;
    from_first & !above_last & !word & TOPS
}

/// The top bits of the eight bytes side by side, the first byte's the lowest.
#[cfg(any(test, not(target_arch = "x86_64")))]
pub(super) fn bits(word: u64) -> u64 {
    ((word & TOPS) >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The end of the run of bytes from `at` on that `pick` marks.
#[inline]
fn run(bytes: &[u8], mut at: usize, pick: impl Fn(u64) -> u64) -> usize {
    loop {
        let others = !pick(load_8(bytes, at)) & TOPS;
        if others != 0 {
            return at + others.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
}

/// The end of the run of `A..=Z` and `a..=z` from `at` on.
#[inline]
pub(super) fn letter_run(bytes: &[u8], at: usize) -> usize {
    run(bytes, at, |word| lower_letters(word | CASE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_end_where_a_byte_loop_ends_them() {
        for other in 0..=255u8 {
            for length in 0..20 {
                let mut bytes = b"abcmnoxyzABCMNOXYZzz"[..length].to_vec();
                bytes.push(other);
                bytes.extend_from_slice(b"zzzzzzzzz");
                for at in 0..=length {
                    let end = |is: fn(&u8) -> bool| at + bytes[at..].iter().take_while(|byte| is(byte)).count();
                    assert_eq!(letter_run(&bytes, at), end(u8::is_ascii_alphabetic), "{bytes:?} from {at}");
                }
            }
        }
    }
}
