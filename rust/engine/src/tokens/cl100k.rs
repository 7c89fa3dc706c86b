//! The pattern of cl100k_base:
//!
//! ```text
//! '(?i:[sdmt]|ll|ve|re) | [^\r\n\p{L}\p{N}]?+\p{L}++ | \p{N}{1,3}+ | ?[^\s\p{L}\p{N}]++[\r\n]*+
//! | \s++$ | \s*[\r\n] | \s+(?!\S) | \s
//! ```

use super::scan::{PREFIX, Pattern, Text};
use super::unicode::{LETTER, MARK, NEWLINE, NUMBER, WHITE};

/// The pattern of cl100k_base.
pub(super) struct Cl100k;

impl Pattern for Cl100k {
    const UNSETTLED: usize = 1;

    #[inline]
    fn end(text: Text<'_>, start: usize) -> usize {
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
