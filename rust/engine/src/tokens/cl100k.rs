//! The pattern of `cl100k_base`, and those of Llama 3 and Qwen 2, which differ from it in two places:
//!
//! ```text
//! '(?i:[sdmt]|ll|ve|re) | [^\r\n\p{L}\p{N}]?+\p{L}++ | \p{N}{1,3}+ | ?[^\s\p{L}\p{N}]++[\r\n]*+
//! | \s++$ | \s*[\r\n] | \s+(?!\S) | \s
//! ```
//!
//! Llama 3 has no `\s++$`: white space at the end of the text is cut behind its last line end, as anywhere. Qwen 2 is the same with
//! `\p{N}`, each digit alone.

use super::ascii::{Ascii, Contractions};
use super::scan::{PREFIX, Pattern, Text};
use super::unicode::{LETTER, MARK, NEWLINE, NUMBER, WHITE};

/// The family: how many digits are a pretoken, and whether white space at the end of the text is one.
pub(super) struct Words<const DIGITS: usize, const WHOLE_END: bool>;

/// The pattern of `cl100k_base`.
pub(super) type Cl100k = Words<3, true>;
/// The pattern of Llama 3.
pub(super) type Llama3 = Words<3, false>;
/// The pattern of Qwen 2.
pub(super) type Qwen2 = Words<1, false>;

impl<const DIGITS: usize, const WHOLE_END: bool> Pattern for Words<DIGITS, WHOLE_END> {
    // Behind a line end, white space at the end of the text is a pretoken of its own until another line end follows.
    const UNSETTLED: usize = if WHOLE_END { 1 } else { 2 };

    const ASCII: Option<Ascii> = Some(Ascii { cased: false, contractions: Contractions::Apart, digits: DIGITS });

    fn end(text: Text<'_>, start: usize) -> usize {
        any::<DIGITS, WHOLE_END>(text, start)
    }
}

/// The whole rule.
fn any<const DIGITS: usize, const WHOLE_END: bool>(text: Text<'_>, start: usize) -> usize {
    let (class, next) = text.at(start);
    if class & LETTER != 0 {
        return text.run(next, LETTER);
    }
    if class & NUMBER != 0 {
        return text.numbers(next, DIGITS);
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
    white::<WHOLE_END>(text, start)
}

#[inline]
fn punctuation(text: Text<'_>, at: usize) -> usize {
    text.run(text.run(at, Text::PUNCTUATION), NEWLINE)
}

fn white<const WHOLE_END: bool>(text: Text<'_>, start: usize) -> usize {
    let white = text.white(start);
    let at_end = white.end == text.bytes.len();
    if WHOLE_END && at_end {
        return white.end;
    }
    white.after_newline.unwrap_or(if at_end { white.end } else { white.before_last })
}
