//! The pattern of `DeepSeek` V3: three patterns, each cutting what the ones before it left whole.
//!
//! ```text
//! \p{N}{1,3}
//! [一-龥぀-ゟ゠-ヿ]+
//! [!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+ | [^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+ | ?[\p{P}\p{S}]+[\r\n]*
//! | \s*[\r\n]+ | \s+(?!\S) | \s+
//! ```
//!
//! So a number, or the border of what the second pattern takes, is to the third what the end of the text is; and the third cuts what
//! the second took once more (`フ゛テ` are three: `゛` is a symbol). Text that no alternative matches (control characters, unassigned code
//! points) is a pretoken too, up to where the next match begins.

use super::scan::{Pattern, Text};
use super::swar::letter_run;
use super::unicode::{Class, Classes, END, MARK, NEWLINE, NUMBER, OTHER, SPACE, WHITE};
use crate::process::Once;

/// Letters of every case.
const LETTER: Class = super::unicode::UPPER;
/// `\p{P}` and `\p{S}`.
const SIGN: Class = super::unicode::LOWER;
/// Marks the characters of the second pattern, beside their class.
const CJK: Class = super::unicode::CASELESS;
/// `[\p{L}\p{M}]`.
const WORD: Class = LETTER | MARK;

/// The pattern of `deepseek_v3`.
pub(super) struct DeepSeek;

impl Pattern for DeepSeek {
    const UNSETTLED: usize = 2;

    fn end(text: Text<'_>, start: usize) -> usize {
        let text = text.with(classes());
        let (class, next) = text.at(start);
        let part = Part { text, side: class & CJK };
        match class & !CJK {
            NUMBER => text.numbers(next, 3),
            SIGN => part.signs(start, next),
            LETTER | MARK => part.run(next, WORD),
            kind if kind != NEWLINE && part.is(next, WORD) => part.run(next, WORD),
            OTHER => part.unmatched(next),
            _ if text.byte(start) == b' ' && part.is(next, SIGN) => part.signs(next, next),
            _ => white(text, start),
        }
    }
}

/// The text that the third pattern sees: characters on one side of the second.
#[derive(Clone, Copy)]
struct Part<'a> {
    text: Text<'a>,
    side: Class,
}

impl Part<'_> {
    /// Whether the character at `at` belongs to it and to a set.
    fn is(self, at: usize, set: Class) -> bool {
        let class = self.text.at(at).0;
        class & CJK == self.side && class & set != 0
    }

    fn run(self, mut at: usize, set: Class) -> usize {
        while self.is(at, set) {
            at = self.text.at(at).1;
        }
        at
    }

    fn signs(self, start: usize, next: usize) -> usize {
        let bytes = self.text.bytes;
        if next > start && self.text.byte(start).is_ascii_punctuation() && self.text.byte(next).is_ascii_alphabetic() {
            return letter_run(bytes, next);
        }
        self.run(self.run(next, SIGN), NEWLINE)
    }

    /// Up to the next character that an alternative matches: any other, or one that letters follow.
    fn unmatched(self, mut at: usize) -> usize {
        while self.is(at, OTHER) && !self.is(self.text.at(at).1, WORD) {
            at = self.text.at(at).1;
        }
        at
    }
}

fn white(text: Text<'_>, start: usize) -> usize {
    let white = text.white(start);
    let behind = text.at(white.end).0;
    let at_end = behind == END || behind & (NUMBER | CJK) != 0;
    white.after_newline.unwrap_or(if at_end { white.end } else { white.before_last })
}

/// The classes that this pattern tells apart.
fn classes() -> &'static Classes {
    static CLASSES: Once<Classes> = Once::new();
    CLASSES.get_or_init(|| {
        let mut classes = Classes::map(|class| match class {
            NUMBER | MARK | SPACE | NEWLINE | OTHER => class,
            _ => LETTER,
        });
        classes.mark_signs(SIGN);
        for range in [0x4E00..0x9FA6, 0x3040..0x3100] {
            classes.add(range, CJK);
        }
        classes
    })
}

const _: () = assert!(WHITE & (LETTER | SIGN | CJK | MARK | NUMBER | OTHER) == 0);
