//! The pattern of `o200k_base` and `o200k_harmony`, and Mistral's `tekken`, which has no contractions and cuts each digit off:
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! | [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! | \p{N}{1,3} | ?[^\s\p{L}\p{N}]+[\r\n/]* | \s*[\r\n]+ | \s+(?!\S) | \s+
//! ```

use super::ascii::{Ascii, Contractions};
use super::scan::{PREFIX, Pattern, Text};
use super::unicode::{CASELESS, LOWER, MARK, NUMBER, UPPER, WHITE};

/// Lm, Lo and M stand in both character classes of a word.
const BOTH: u8 = CASELESS | MARK;

/// The family: how many digits are a pretoken, and whether a word takes its contraction along.
pub(super) struct Cased<const DIGITS: usize, const CONTRACTIONS: bool>;

/// The pattern of `o200k_base`.
pub(super) type O200k = Cased<3, true>;
/// The pattern of `tekken`.
pub(super) type Tekken = Cased<1, false>;

impl<const DIGITS: usize, const CONTRACTIONS: bool> Pattern for Cased<DIGITS, CONTRACTIONS> {
    const UNSETTLED: usize = 2;

    const ASCII: Option<Ascii> =
        Some(Ascii { cased: true, contractions: if CONTRACTIONS { Contractions::Behind } else { Contractions::Unknown }, digits: DIGITS });

    fn end(text: Text<'_>, start: usize) -> usize {
        any::<DIGITS, CONTRACTIONS>(text, start)
    }
}

/// The whole rule.
fn any<const DIGITS: usize, const CONTRACTIONS: bool>(text: Text<'_>, start: usize) -> usize {
    let (class, next) = text.at(start);
    if class & NUMBER != 0 {
        return text.numbers(next, DIGITS);
    }
    // A mark could be the optional first character too, but what it would lead to is what it leads to as a letter.
    let body = if class & PREFIX != 0 { next } else { start };
    let word = word(text, body);
    if word != body {
        return if CONTRACTIONS { text.contraction(word) } else { word };
    }
    if class & WHITE == 0 {
        return punctuation(text, next);
    }
    if text.byte(start) == b' ' && text.at(next).0 & Text::PUNCTUATION != 0 {
        return punctuation(text, next);
    }
    white(text, start)
}

/// The end of a word from `start` on, `start` if there is none.
///
/// The first alternative wants a lower-case or caseless end. Where upper case is followed by none, it gives characters back
/// until the last caseless one; only if there is none does the second alternative take the upper case alone.
#[inline]
fn word(text: Text<'_>, start: usize) -> usize {
    let (mut at, mut after_caseless) = (start, start);
    loop {
        let (class, next) = text.at(at);
        if class & LOWER != 0 {
            return text.run(next, LOWER | BOTH);
        }
        if class & (UPPER | BOTH) == 0 {
            return if after_caseless == start { at } else { after_caseless };
        }
        at = next;
        if class & BOTH != 0 {
            after_caseless = at;
        }
    }
}

#[inline]
fn punctuation(text: Text<'_>, at: usize) -> usize {
    let mut end = text.run(at, Text::PUNCTUATION);
    while matches!(text.byte(end), b'\r' | b'\n' | b'/') {
        end += 1;
    }
    end
}

fn white(text: Text<'_>, start: usize) -> usize {
    let white = text.white(start);
    white.after_newline.unwrap_or(if white.end == text.bytes.len() { white.end } else { white.before_last })
}
