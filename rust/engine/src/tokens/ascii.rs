//! Where pretokens of ASCII start, by the patterns of the families of `cl100k` and `o200k`: a bit for each of 64 bytes, by a few
//! shifts of what [`super::marks`] tells of them, without a look at each pretoken.
//!
//! Most pretokens of most texts are such. One beside another character, at the end of a block or of the text, is left to the whole rule.

use super::marks::{BLOCK, Kinds};
use super::scan::{Pattern, Text};

/// How a pattern treats ASCII.
#[derive(Clone, Copy)]
pub(super) struct Ascii {
    /// Upper case behind lower case begins a pretoken, and slashes go with the line ends behind punctuation: the family of `o200k`.
    pub(super) cased: bool,
    /// Where `'s` and its like belong.
    pub(super) contractions: Contractions,
    /// How many digits are a pretoken: one or three.
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

impl Contractions {
    /// Where a quote may begin one: behind a letter, or where a sign begins a pretoken.
    #[inline]
    fn led_by(self, behind_letter: u64, new_sign: u64) -> u64 {
        match self {
            Self::Behind => behind_letter,
            Self::Apart => new_sign,
            Self::Unknown => 0,
        }
    }
}

/// A text that is cut, with the pretokens that begin in the 64 bytes where it is being cut.
pub(super) struct Cuts<'a> {
    pub(super) text: Text<'a>,
    /// Where the pretoken starts whose end the starts tell.
    next: usize,
    known: Starts,
}

/// Where pretokens start, a bit each from `base` on: the text between two of them is a pretoken.
#[derive(Clone, Copy)]
struct Starts {
    base: usize,
    bits: u64,
}

impl<'a> Cuts<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text: Text::new(text), next: 0, known: Starts { base: 0, bits: 0 } }
    }

    /// The end of the pretoken that starts at `start`, which is inside the text and at a character.
    #[inline(always)]
    pub(super) fn end<P: Pattern>(&mut self, start: usize) -> usize {
        if P::ASCII.is_none() {
            return P::end(self.text, start);
        }
        if start != self.next || self.known.bits == 0 {
            self.known = starts::<P>(self.text, start);
        }
        // Not from the end before, so that many ends are found at a time.
        self.next = self.known.base + self.known.bits.trailing_zeros() as usize;
        self.known.bits &= self.known.bits.wrapping_sub(1);
        self.next
    }
}

/// Where pretokens start behind the one at `start`, at least the next.
#[inline(never)]
fn starts<P: Pattern>(text: Text<'_>, start: usize) -> Starts {
    if let Some(ascii) = P::ASCII
        && text.byte(start) | text.byte(start + 1) < 128
    {
        let bits = ascii.starts(text, start) & !1;
        if bits != 0 {
            return Starts { base: start, bits };
        }
    }
    Starts { base: P::end(text, start), bits: 1 }
}

impl Ascii {
    /// Where pretokens start in the block from `base` on, where one does, as far as its kinds tell. The last one may end where they do not.
    #[inline]
    fn starts(self, text: Text<'_>, base: usize) -> u64 {
        let kinds = Kinds::from(text.bytes, base);
        let Kinds { letters, lower, digits, white, lines, spaces, .. } = kinds;
        let (signs, blanks) = (kinds.signs(), white & !lines);
        let new_sign = signs & !(signs << 1) & !(spaces << 1);
        let new_letter = letters & !(letters << 1) & !(blanks << 1) & !(new_sign << 1);
        let new_case = if self.cased { letters & !lower & lower << 1 } else { 0 };
        let new_white = white & !(white << 1) & !(lines & signs << 1);
        let indent = blanks & lines << 1;
        let last_blank = blanks & !(white >> 1);
        let starts = 1 | new_sign | new_letter | new_case | new_white | indent | last_blank | self.digits(digits);
        let quotes = kinds.quotes & letters >> 1 & self.contractions.led_by(letters << 1, new_sign);
        self.contracted(starts, quotes, text, base) & (1u64 << self.told(&kinds) >> 1).saturating_sub(1) | 1
    }

    /// The starts of a block, with the contractions that begin at some of its quotes.
    #[inline(always)]
    fn contracted(self, mut starts: u64, mut quotes: u64, text: Text<'_>, base: usize) -> u64 {
        while quotes != 0 {
            let quote = quotes.trailing_zeros();
            quotes &= quotes - 1;
            let behind = text.contraction(base + quote as usize) - base;
            let end = 1u64.checked_shl(behind as u32).unwrap_or(0);
            let inside = end.wrapping_sub(1 << quote);
            if inside != 0 && self.contractions == Contractions::Behind {
                starts &= !inside;
                quotes &= !end;
            }
            starts |= end;
        }
        starts
    }

    /// How many bytes of a block are told: what starts before the last of them is right, since a start is told by the bytes around it.
    #[inline]
    fn told(self, kinds: &Kinds) -> u32 {
        let told = (kinds.unknown | self.untold(kinds)).trailing_zeros();
        // White space may be cut otherwise where a text ends with it.
        let white_end = (!kinds.white.unbounded_shl(BLOCK as u32 - told)).leading_zeros();
        told.min(told + 2 - white_end)
    }

    /// Where numbers start, of which a pretoken takes only so many digits.
    #[inline]
    fn digits(self, digits: u64) -> u64 {
        if self.digits == 1 {
            return digits;
        }
        let mut new = digits & !(digits << 1);
        let mut all = new;
        while new != 0 {
            new = new << 3 & digits & digits << 1 & digits << 2;
            all |= new;
        }
        all
    }

    /// Cases that these bits do not tell apart: line ends behind an indent, slashes behind line ends.
    #[inline]
    fn untold(self, kinds: &Kinds) -> u64 {
        let blanks = kinds.white & !kinds.lines;
        let indent = blanks & kinds.lines << 1;
        let behind_indent = blanks.wrapping_add(indent) & !blanks & kinds.lines;
        let slashes = if self.cased { kinds.slashes & kinds.lines << 1 } else { 0 };
        slashes | if behind_indent == 0 { 0 } else { indent }
    }
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
    fn starts_are_those_of_the_whole_rule() {
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
        for _ in 0..50_000 {
            let text: String = (0..fuzz.below(60)).map(|_| PARTS[fuzz.below(PARTS.len())]).collect();
            check::<Cl100k>(&text);
            check::<Llama3>(&text);
            check::<Qwen2>(&text);
            check::<O200k>(&text);
            check::<Tekken>(&text);
        }
    }
}
