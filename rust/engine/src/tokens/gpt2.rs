//! The pattern of GPT-2, which byte-level tokenizers have where their file names no other:
//!
//! ```text
//! 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
//! ```

use super::scan::{Pattern, Text};
use super::unicode::{LETTER, NUMBER, WHITE};

/// The pattern of GPT-2.
pub(super) struct Gpt2;

impl Pattern for Gpt2 {
    const UNSETTLED: usize = 2;

    fn end(text: Text<'_>, start: usize) -> usize {
        let contraction = contraction(text, start);
        if contraction != start {
            return contraction;
        }
        let body = if text.byte(start) == b' ' { start + 1 } else { start };
        let (class, next) = text.at(body);
        match class {
            _ if class & LETTER != 0 => text.run(next, LETTER),
            NUMBER => text.run(next, NUMBER),
            _ if class & Text::PUNCTUATION != 0 => text.run(next, Text::PUNCTUATION),
            _ => white(text, start),
        }
    }
}

/// Lower case only, unlike the patterns that came later.
fn contraction(text: Text<'_>, at: usize) -> usize {
    match (text.byte(at), text.byte(at + 1), text.byte(at + 2)) {
        (b'\'', b's' | b't' | b'm' | b'd', _) => at + 2,
        (b'\'', b'r' | b'v', b'e') | (b'\'', b'l', b'l') => at + 3,
        _ => at,
    }
}

fn white(text: Text<'_>, start: usize) -> usize {
    let white = text.white(start);
    if white.end == text.bytes.len() { white.end } else { white.before_last }
}

const _: () = assert!(WHITE & (LETTER | NUMBER | Text::PUNCTUATION) == 0);
