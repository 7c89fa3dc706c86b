//! What the patterns of the families of `cl100k` and `o200k` cut of ASCII, told by [`super::marks`] without looking at each character.
//!
//! Most pretokens of most texts are such. A run beside another character, or at the end of the text, is left to the whole rule.

use super::marks::{BLOCK, Kinds, Marks};
use super::scan::{Pattern, Text};

/// How a pattern treats ASCII.
#[derive(Clone, Copy)]
pub(super) struct Ascii {
    /// Upper case behind lower case begins a pretoken, and slashes go with the line ends behind punctuation: the family of `o200k`.
    pub(super) cased: bool,
    /// Where `'s` and its like belong.
    pub(super) contractions: Contractions,
    /// How many digits are a pretoken.
    pub(super) digits: usize,
}

/// Where `'s` and its like belong.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Contractions {
    /// To the word before.
    Behind,
    /// Nowhere: they are pretokens.
    Apart,
    /// They are nothing of their own.
    Unknown,
}

/// A text that is cut, with the marks of the bytes where it is being cut.
pub(super) struct Cuts<'a> {
    pub(super) text: Text<'a>,
    marks: Marks,
}

impl<'a> Cuts<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text: Text::new(text), marks: Marks::new(text.as_bytes(), 0) }
    }

    /// The end of the pretoken that starts at `start`, which is inside the text and at a character.
    #[inline(always)]
    pub(super) fn end<P: Pattern>(&mut self, start: usize) -> usize {
        let Some(ascii) = P::ASCII else { return P::end(self.text, start) };
        match ascii.end(self.text, &self.marks, start) {
            Some(end) => end,
            None => self.end_elsewhere::<P>(ascii, start),
        }
    }

    /// The same where the marks do not reach, or do not tell.
    #[inline(never)]
    fn end_elsewhere<P: Pattern>(&mut self, ascii: Ascii, start: usize) -> usize {
        if self.text.byte(start) | self.text.byte(start + 1) < 128 {
            self.marks = Marks::new(self.text.bytes, start);
            if let Some(end) = ascii.end(self.text, &self.marks, start) {
                return end;
            }
        }
        P::end(self.text, start)
    }
}

impl Ascii {
    /// The end of the pretoken at `start`, if the marks tell it.
    #[inline(always)]
    fn end(self, text: Text<'_>, marks: &Marks, start: usize) -> Option<usize> {
        let (kinds, at) = (&marks.kinds, start.wrapping_sub(marks.base));
        if at >= BLOCK || Kinds::is(kinds.unknown, at) {
            return None;
        }
        let end = if Kinds::is(kinds.letters, at) {
            self.word(kinds, at)
        } else if Kinds::is(kinds.letters, at + 1) && !Kinds::is(kinds.digits | kinds.lines, at) {
            if self.contractions == Contractions::Apart && text.byte(start) == b'\'' {
                return None;
            }
            self.word(kinds, at + 1)
        } else {
            return self.other(text, marks, at);
        };
        if Kinds::is(kinds.unknown, end) {
            return None;
        }
        let end = marks.base + end;
        Some(if self.contractions == Contractions::Behind { text.contraction(end) } else { end })
    }

    /// The end of the word whose letters begin at `at`.
    #[inline(always)]
    fn word(self, kinds: &Kinds, at: usize) -> usize {
        if self.cased { Kinds::run(kinds.lower, Kinds::run(kinds.letters & !kinds.lower, at)) } else { Kinds::run(kinds.letters, at) }
    }

    /// The end of what is no word.
    #[inline(always)]
    fn other(self, text: Text<'_>, marks: &Marks, at: usize) -> Option<usize> {
        let kinds = &marks.kinds;
        let signs = at + usize::from(text.byte(marks.base + at) == b' ');
        let end = if Kinds::is(kinds.signs(), signs) {
            return self.signs(text, marks, signs);
        } else if Kinds::is(kinds.digits, at) {
            Kinds::run(kinds.digits, at).min(at + self.digits)
        } else {
            white(kinds, at)?
        };
        (!Kinds::is(kinds.unknown, end)).then_some(marks.base + end)
    }

    /// The end of the punctuation that begins at `at`, and of the line ends behind it.
    #[inline(always)]
    fn signs(self, text: Text<'_>, marks: &Marks, at: usize) -> Option<usize> {
        let end = Kinds::run(marks.kinds.signs(), at);
        if Kinds::is(marks.kinds.unknown, end) {
            return None;
        }
        let mut end = marks.base + end;
        while matches!(text.byte(end), b'\r' | b'\n') || self.cased && text.byte(end) == b'/' {
            end += 1;
        }
        Some(end)
    }
}

/// The end of the white space that begins at `at`: behind its last line end, else before its last character unless that is all.
#[inline]
fn white(kinds: &Kinds, at: usize) -> Option<usize> {
    let end = Kinds::run(kinds.white, at);
    if Kinds::is(kinds.unknown, end) {
        return None;
    }
    let lines = kinds.lines & ((1 << end) - 1) & (u64::MAX << at);
    Some(match (BLOCK - lines.leading_zeros() as usize, end - at) {
        (0, 1) => end,
        (0, _) => end - 1,
        (behind, _) => behind,
    })
}

#[cfg(test)]
mod tests {
    use super::super::cl100k::{Cl100k, Llama3, Qwen2};
    use super::super::fuzz::Fuzz;
    use super::super::o200k::{O200k, Tekken};
    use super::*;

    fn check<P: Pattern>(text: &str) {
        let (mut cuts, mut at) = (Cuts::new(text), 0);
        while at < text.len() {
            let end = cuts.end::<P>(at);
            assert_eq!(end, P::end(Text::new(text), at), "{:?} of {text:?}", &text[at..]);
            at = end;
        }
    }

    /// Words, signs, digits and white space in every order, across the ends of blocks, now and then with what is not ASCII.
    #[test]
    fn marks_cut_as_the_whole_rule_does() {
        const PARTS: [&str; 24] = [
            "a",
            "Word",
            "ABC",
            "abcDEF",
            " ",
            "  ",
            "\n",
            "\r\n",
            "\t",
            "7",
            "1234",
            "'s",
            "'LL",
            "'",
            ".",
            "//",
            "/\n",
            "!?",
            "é",
            "中",
            "\u{a0}",
            "\0",
            "~_",
            "longerthansixteenletters",
        ];
        let mut fuzz = Fuzz::new(77);
        for _ in 0..20_000 {
            let text: String = (0..fuzz.below(60)).map(|_| PARTS[fuzz.below(PARTS.len())]).collect();
            check::<Cl100k>(&text);
            check::<Llama3>(&text);
            check::<Qwen2>(&text);
            check::<O200k>(&text);
            check::<Tekken>(&text);
        }
    }
}
