//! Cuts a text into pretokens ("pieces"), as the regular expressions of the tokenizers do, without a regular expression.
//!
//! The patterns have no look-behind, so where a piece ends depends only on the text from its start on. Here is what they share;
//! each family has its own file.

use super::ascii::Ascii;
use super::unicode::{Class, Classes, LETTER, MARK, NEWLINE, NUMBER, OTHER, WHITE};

/// The bytes of a valid UTF-8 text with the table to read them by.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) bytes: &'a [u8],
    classes: &'static Classes,
}

/// Where a pretoken ends: the pattern of an encoding.
pub(super) trait Pattern {
    /// How many pretokens from the end of a text can change when more is appended.
    const UNSETTLED: usize;
    /// How it treats ASCII, if it is of a family whose ASCII is cut without [`Self::end`].
    const ASCII: Option<Ascii> = None;
    /// The end of the pretoken that starts at `start`, which is inside the text and at a character.
    fn end(text: Text<'_>, start: usize) -> usize;
}

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), classes: Classes::get() }
    }

    /// This text with other classes.
    #[inline]
    pub(super) fn with(self, classes: &'static Classes) -> Self {
        Self { classes, ..self }
    }

    /// The byte at a position, 0 past the end.
    #[inline]
    pub(super) fn byte(self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// Class and end of the character at `at`; (`END`, `at`) at the end of the text.
    #[inline]
    pub(super) fn at(self, at: usize) -> (Class, usize) {
        match self.bytes.get(at) {
            None => (super::unicode::END, at),
            Some(&byte) if byte < 128 => (self.classes.of(u32::from(byte)), at + 1),
            Some(&lead) => self.wide(at, lead),
        }
    }

    #[inline(never)]
    fn wide(self, at: usize, lead: u8) -> (Class, usize) {
        let tail = |i: usize| u32::from(self.byte(at + i) & 63);
        let (code_point, size) = match lead {
            ..0xE0 => (u32::from(lead & 31) << 6 | tail(1), 2),
            0xE0..0xF0 => (u32::from(lead & 15) << 12 | tail(1) << 6 | tail(2), 3),
            0xF0.. => (u32::from(lead & 7) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3), 4),
        };
        (self.classes.of(code_point), at + size)
    }

    /// The end of the run of characters of `set` from `at` on.
    #[inline]
    pub(super) fn run(self, mut at: usize, set: Class) -> usize {
        loop {
            let (class, next) = self.at(at);
            if class & set == 0 {
                return at;
            }
            at = next;
        }
    }

    /// `\p{N}{1,most}`, when the first number ends at `at`.
    #[inline]
    pub(super) fn numbers(self, mut at: usize, most: usize) -> usize {
        for _ in 1..most {
            let (class, next) = self.at(at);
            if class & NUMBER == 0 {
                break;
            }
            at = next;
        }
        at
    }

    /// `[^\s\p{L}\p{N}]`: what makes a pretoken of punctuation.
    pub(super) const PUNCTUATION: Class = OTHER | MARK;

    /// The end of `(?i:'s|'t|'re|'ve|'m|'ll|'d)` at `at`, or `at`. Ignoring case makes U+017F an `s` too.
    #[inline]
    pub(super) fn contraction(self, at: usize) -> usize {
        if self.byte(at) == b'\'' { self.contraction_tail(at) } else { at }
    }

    fn contraction_tail(self, at: usize) -> usize {
        match (self.byte(at + 1) | 32, self.byte(at + 2) | 32) {
            (b's' | b't' | b'm' | b'd', _) => at + 2,
            (b'r' | b'v', b'e') | (b'l', b'l') => at + 3,
            _ if self.bytes.get(at + 1..at + 3) == Some("ſ".as_bytes()) => at + 3,
            _ => at,
        }
    }

    /// The white space from `start` on: where it ends, and what of it is a pretoken when more than white space follows.
    /// The patterns cut after the last line end, else before the last character, which may open the next pretoken.
    pub(super) fn white(self, start: usize) -> White {
        let (mut at, mut last, mut after_newline) = (start, start, None);
        loop {
            let (class, next) = self.at(at);
            if class & WHITE == 0 {
                break;
            }
            if class == NEWLINE {
                after_newline = Some(next);
            }
            (last, at) = (at, next);
        }
        White { end: at, after_newline, before_last: if last == start { at } else { last } }
    }
}

/// A run of white space.
pub(super) struct White {
    /// Where the run ends.
    pub(super) end: usize,
    /// Behind its last line end, if it has one.
    pub(super) after_newline: Option<usize>,
    /// Before its last character; the end when it has only one.
    pub(super) before_last: usize,
}

/// `[^\r\n\p{L}\p{N}]` without the marks.
pub(super) const PREFIX: Class = OTHER | super::unicode::SPACE;
const _: () = assert!(PREFIX & LETTER == 0);
