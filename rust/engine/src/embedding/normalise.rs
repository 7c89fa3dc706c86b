//! From a text to words in normal form: BERT's uncased normaliser and pre-tokenizer in one pass, without allocation.
//!
//! ```text
//! clean        control, format and private-use characters out; every white space a space
//! ideographs   each a word by itself
//! accents      canonical decomposition (NFD), combining marks out
//! case         lower, character by character (no final sigma)
//! split        at spaces, and around every punctuation mark
//! ```
//!
//! Source: Devlin et al., "BERT", 2018, and its published tokenization.py; the order of the steps is that of Hugging Face `tokenizers`.

use unicode_normalization::UnicodeNormalization;

use super::classes::{self, Class};
use crate::interrupt::Steps;

/// The longest word that is cut into pieces, in characters; a longer one is unknown.
pub(super) const MAX_WORD_CHARS: usize = 100;

/// One word in normal form.
pub(super) struct Word {
    bytes: [u8; MAX_WORD_CHARS * 4],
    len: usize,
    chars: usize,
}

impl Word {
    fn new() -> Self {
        Self { bytes: [0; MAX_WORD_CHARS * 4], len: 0, chars: 0 }
    }

    /// Its bytes; `None` where it is too long to be cut.
    pub fn bytes(&self) -> Option<&[u8]> {
        (self.chars <= MAX_WORD_CHARS).then_some(&self.bytes[..self.len])
    }

    fn push(&mut self, c: char) {
        self.chars += 1;
        if self.chars <= MAX_WORD_CHARS {
            self.len += c.encode_utf8(&mut self.bytes[self.len..]).len();
        }
    }

    fn push_ascii(&mut self, byte: u8) {
        self.chars += 1;
        if self.chars <= MAX_WORD_CHARS {
            self.bytes[self.len] = byte;
            self.len += 1;
        }
    }

    /// ASCII letters and digits, in lower case.
    fn push_letters(&mut self, letters: &[u8]) {
        let room = MAX_WORD_CHARS.saturating_sub(self.chars).min(letters.len());
        self.bytes[self.len..self.len + room].copy_from_slice(&letters[..room]);
        self.bytes[self.len..self.len + room].make_ascii_lowercase();
        (self.len, self.chars) = (self.len + room, self.chars + letters.len());
    }

    /// Hands it over, if there is one, and begins the next.
    fn finish(&mut self, each: &mut impl FnMut(&Word)) {
        if self.chars > 0 {
            each(self);
            (self.len, self.chars) = (0, 0);
        }
    }
}

/// Calls `each` for every word of a text, in order.
pub(super) fn each_word(text: &str, each: &mut impl FnMut(&Word)) {
    let (mut word, mut steps) = (Word::new(), Steps::default());
    if text.is_ascii() {
        let mut rest = text.as_bytes();
        while let Some(&byte) = rest.first() {
            steps.reach(text.len() - rest.len());
            let letters = rest.iter().take_while(|byte| classes::is_ascii_letter(**byte)).count();
            if letters == 0 {
                ascii(&mut word, byte, each);
            }
            word.push_letters(&rest[..letters]);
            rest = &rest[letters.max(1)..];
        }
    } else {
        let cleaned = text.chars().flat_map(cleaned);
        let stripped = cleaned.nfd().filter(|&c| c.is_ascii() || classes::of(c) != Class::Mark);
        for (at, c) in stripped.flat_map(char::to_lowercase).enumerate() {
            steps.reach(at);
            split(&mut word, c, each);
        }
    }
    word.finish(each);
}

fn ascii(word: &mut Word, byte: u8, each: &mut impl FnMut(&Word)) {
    match classes::of_ascii(byte) {
        Class::Space => word.finish(each),
        Class::Dropped => {}
        Class::Punctuation => {
            word.finish(each);
            word.push_ascii(byte);
            word.finish(each);
        }
        _ => word.push_ascii(byte.to_ascii_lowercase()),
    }
}

/// A character as the first two steps leave it: nothing, a space, itself, or itself between spaces.
fn cleaned(c: char) -> impl Iterator<Item = char> {
    let class = if c.is_ascii() { classes::of_ascii(c as u8) } else { classes::of(c) };
    let made = match class {
        Class::Dropped => [None; 3],
        Class::Space => [Some(' '), None, None],
        Class::Ideograph => [Some(' '), Some(c), Some(' ')],
        _ => [Some(c), None, None],
    };
    made.into_iter().flatten()
}

/// The last step, on characters in normal form.
fn split(word: &mut Word, c: char, each: &mut impl FnMut(&Word)) {
    if c.is_ascii() {
        return ascii(word, c as u8, each);
    }
    match classes::of(c) {
        Class::Space => word.finish(each),
        Class::Punctuation => {
            word.finish(each);
            word.push(c);
            word.finish(each);
        }
        _ => word.push(c),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        each_word(text, &mut |word| words.push(word.bytes().map_or("?".into(), |bytes| String::from_utf8(bytes.to_vec()).unwrap())));
        words
    }

    #[test]
    fn words_in_normal_form() {
        assert_eq!(words("  Hello,\tWORLD!\r\n"), ["hello", ",", "world", "!"]);
        assert_eq!(words("Caf\u{e9} cafe\u{301} \u{130}stanbul"), ["cafe", "cafe", "istanbul"]);
        assert_eq!(words("a\u{200b}b\u{0}c\u{fffd}d\u{ad}e"), ["abcde"]);
        assert_eq!(words("ab\u{4e2d}\u{6587}cd"), ["ab", "\u{4e2d}", "\u{6587}", "cd"]);
        assert_eq!(words("it\u{2019}s \u{ab}so\u{bb}"), ["it", "\u{2019}", "s", "\u{ab}", "so", "\u{bb}"]);
        assert_eq!(words("\u{3a3}\u{3a3} Stra\u{df}e"), ["\u{3c3}\u{3c3}", "stra\u{df}e"]);
        assert_eq!(words("a\u{a0}b\u{2003}c\u{3000}d\u{85}e"), ["a", "b", "c", "de"]);
        assert_eq!(words(" \n\u{200b} "), [""; 0]);
    }

    #[test]
    fn a_word_of_more_than_100_characters_has_no_bytes() {
        assert_eq!(words(&"x".repeat(100)), ["x".repeat(100)]);
        assert_eq!(words(&"x".repeat(101)), ["?"]);
        assert_eq!(words(&"\u{10348}".repeat(100)), ["\u{10348}".repeat(100)]);
        assert_eq!(words(&format!("{} a", "\u{10348}".repeat(101))), ["?", "a"]);
    }

    #[test]
    fn ascii_goes_the_same_way_among_other_characters() {
        let text: String = (0..128u8).map(char::from).flat_map(|c| ['x', c, 'y', ' ']).collect();
        let mixed = format!("{text}\u{e9}");
        let mut expected = words(&text);
        expected.push("e".into());
        assert_eq!(words(&mixed), expected);
    }
}
