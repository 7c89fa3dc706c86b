//! The pattern of `cl100k_base`:
//!
//! ```text
//! '(?i:[sdmt]|ll|ve|re) | [^\r\n\p{L}\p{N}]?+\p{L}++ | \p{N}{1,3}+ | ?[^\s\p{L}\p{N}]++[\r\n]*+
//! | \s++$ | \s*[\r\n] | \s+(?!\S) | \s
//! ```

use super::load::load_8;
use super::scan::{PREFIX, Pattern, Text, ascii_head};
use super::swar::{CASE, TOPS, letter_run, lower_letters};
use super::unicode::{LETTER, MARK, NEWLINE, NUMBER, WHITE};

/// The pattern of `cl100k_base`.
pub(super) struct Cl100k;

impl Pattern for Cl100k {
    const UNSETTLED: usize = 1;

    #[inline]
    fn end(text: Text<'_>, start: usize) -> usize {
        ascii_word(text, start).unwrap_or_else(|| any(text, start))
    }
}

/// The commonest pretoken: perhaps a space or a sign, then ASCII letters. `None` where the rest of the rule is needed.
#[inline]
fn ascii_word(text: Text<'_>, start: usize) -> Option<usize> {
    let word = load_8(text.bytes, start);
    let letters = lower_letters(word | CASE);
    let head = ascii_head(word, letters)?;
    if word as u8 == b'\'' {
        return None;
    }
    let others = !letters & TOPS & (u64::MAX << (8 * head));
    let end = if others == 0 { letter_run(text.bytes, start + 8) } else { start + others.trailing_zeros() as usize / 8 };
    (text.byte(end) < 128).then_some(end)
}

/// The whole rule.
#[inline(never)]
fn any(text: Text<'_>, start: usize) -> usize {
    let (class, next) = text.at(start);
    if class & LETTER != 0 {
        return text.run(next, LETTER);
    }
    if class & NUMBER != 0 {
        return text.numbers(next);
    }
    let contraction = text.contraction(start);
    if contraction != start {
        return contraction;
    }
    if class & (PREFIX | MARK) != 0 {
        let letters = text.run(next, LETTER);
        if letters != next {
            return letters;
        }
    }
    if class & WHITE == 0 {
        return punctuation(text, next);
    }
    if text.byte(start) == b' ' && text.at(next).0 & Text::PUNCTUATION != 0 {
        return punctuation(text, next);
    }
    white(text, start)
}

#[inline]
fn punctuation(text: Text<'_>, at: usize) -> usize {
    text.run(text.run(at, Text::PUNCTUATION), NEWLINE)
}

/// Unlike o200k, white space at the end of the text is one pretoken, whatever line ends are in it.
fn white(text: Text<'_>, start: usize) -> usize {
    let white = text.white(start);
    if white.end == text.bytes.len() { white.end } else { white.after_newline.unwrap_or(white.before_last) }
}
