//! Runs inside a chunk: letters and digits with the connectors that join them, or characters of a script without spaces.
//!
//! A connector joins only between letters, digits or marks, so that the dot that ends a sentence, quotes, brackets and the
//! backticks of Markdown never become part of a word. `..` and `--` always separate.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use super::chars::{CONNECTOR, DIGIT, LETTER, URL_CONNECTOR, is, is_gram, is_word};

/// One run of a chunk, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Span {
    /// A word or an identifier; starts and ends with a letter, a digit or a mark (`C++` and `C#` aside).
    Run(Range<usize>),
    /// Text to be cut into bigrams.
    Grams(Range<usize>),
}

/// The runs of a normalised chunk, in order. Linear: the look-ahead is bounded.
pub(super) struct Spans<'a> {
    chunk: &'a str,
    at: usize,
}

impl<'a> Spans<'a> {
    pub(super) fn new(chunk: &'a str) -> Self {
        Self { chunk, at: 0 }
    }

    fn char_at(&self, at: usize) -> Option<char> {
        match *self.chunk.as_bytes().get(at)? {
            byte @ 0..0x80 => Some(byte as char),
            _ => self.chunk[at..].chars().next(),
        }
    }

    fn byte_at(&self, at: usize) -> u8 {
        self.chunk.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn is_run_char(&self, at: usize) -> bool {
        self.char_at(at).is_some_and(|c| is_word(c) && !is_gram(c))
    }

    /// The end of the characters from `at` on that satisfy `rule`.
    fn end_of(&self, at: usize, rule: impl Fn(char) -> bool) -> usize {
        let mut end = at;
        while let Some(c) = self.char_at(end).filter(|c| rule(*c)) {
            end += c.len_utf8();
        }
        end
    }

    fn run(&self, start: usize) -> Range<usize> {
        let (mut end, mut url) = (start, false);
        loop {
            let piece = end;
            end = self.end_of(piece, |c| is_word(c) && !is_gram(c));
            let sign = self.language_sign(piece, end);
            let connectors = self.connectors(start, end, url);
            if sign > 0 || connectors == 0 {
                return start..end + sign;
            }
            url |= self.chunk[end..].starts_with("://");
            end += connectors;
        }
    }

    /// How many bytes at `at` join what stands before and after them; 0 if they separate it.
    fn connectors(&self, start: usize, at: usize, url: bool) -> usize {
        let count = match self.byte_at(at) {
            b'\'' => usize::from(self.joins_letters(at)),
            b',' => usize::from(self.joins_thousands(start, at)),
            _ => self.count_connectors(at, url),
        };
        if count > 0 && self.is_run_char(at + count) { count } else { 0 }
    }

    fn count_connectors(&self, at: usize, url: bool) -> usize {
        const LONGEST: usize = 4; // `:///` of a file URL
        let url = url || self.chunk[at..].starts_with("://");
        let flags = if url { CONNECTOR | URL_CONNECTOR } else { CONNECTOR };
        let count = (0..=LONGEST).take_while(|ahead| is(self.byte_at(at + ahead), flags)).count();
        let doubled = (at + 1..at + count).any(|i| matches!(self.byte_at(i), b'.' | b'-') && self.byte_at(i) == self.byte_at(i - 1));
        if count > LONGEST || doubled { 0 } else { count }
    }

    fn joins_letters(&self, at: usize) -> bool {
        !is(self.byte_at(at.wrapping_sub(1)), DIGIT) && !is(self.byte_at(at + 1), DIGIT)
    }

    /// `1,200`: one to three digits, then groups of exactly three.
    fn joins_thousands(&self, start: usize, at: usize) -> bool {
        let bytes = self.chunk.as_bytes();
        let before = bytes[start..at].iter().rev().take_while(|b| is(**b, DIGIT)).take(4).count();
        let leading = at - before == start || !matches!(self.byte_at(at - before - 1), b',');
        let after = (1..=4).take_while(|ahead| is(self.byte_at(at + ahead), DIGIT)).count();
        after == 3 && (before == 3 || leading && (1..3).contains(&before))
    }

    /// `C++`, `g++`, `C#`, `F#`: the length of the sign that belongs to one or two letters and ends their run.
    fn language_sign(&self, start: usize, end: usize) -> usize {
        let letters = &self.chunk.as_bytes()[start..end];
        let sign = match (self.byte_at(end), self.byte_at(end + 1)) {
            (b'+', b'+') => 2,
            (b'#', _) => 1,
            _ => 0,
        };
        let fits = letters.len() <= 2 && letters.iter().all(|b| is(*b, LETTER)) && !self.is_run_char(end + sign);
        if fits { sign } else { 0 }
    }
}

impl Iterator for Spans<'_> {
    type Item = Span;

    fn next(&mut self) -> Option<Span> {
        let start = self.end_of(self.at, |c| !is_word(c));
        let span = match self.char_at(start)? {
            c if is_gram(c) => Span::Grams(start..self.end_of(start, |c| is_gram(c) || is_combining_mark(c))),
            _ => Span::Run(self.run(start)),
        };
        let (Span::Run(range) | Span::Grams(range)) = &span;
        self.at = range.end;
        Some(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(chunk: &str) -> Vec<&str> {
        Spans::new(chunk).map(|(Span::Run(r) | Span::Grams(r))| &chunk[r]).collect()
    }

    #[test]
    fn punctuation_around_never_breaks_an_identifier() {
        for around in ["X", "X.", "`X`", "(X),", "\"X\"?", "**X**:", "[X](", "{X}", "<X>", "--X--", "…X…", "'X'", "X…", "#X!", "_X_"]
        {
            for id in ["payments-api", "fix/auth-timeout", "8443", "v1.2.3", "getUserById", "a_b.c", "x@y.com", "https://a.io/b?c=d&e=%20f"]
            {
                assert_eq!(runs(&around.replace('X', id)), [id], "{around}");
            }
        }
    }

    #[test]
    fn separators_separate() {
        assert_eq!(runs("a--b...c=d?e,f"), ["a", "b", "c", "d", "e", "f"]);
        assert_eq!(runs("word—word–word"), ["word", "word", "word"]);
        assert_eq!(runs("これはpayments-apiです"), ["これは", "payments-api", "です"]);
        assert_eq!(runs("8443,443,1,200,300 80,443"), ["8443", "443", "1,200,300", "80,443"]);
        assert_eq!(runs("1,2000 1234,567"), ["1", "2000", "1234", "567"]);
        assert_eq!(runs("C++/C#,f#"), ["C++", "C#", "f#"]);
        assert_eq!(runs("don't 'tis users' 6'2"), ["don't", "tis", "users", "6", "2"]);
    }
}
