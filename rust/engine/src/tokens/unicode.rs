//! The character classes that the patterns of the tokenizers tell apart, as Unicode 16.0 has them.
//!
//! The version is part of the format: `tiktoken` behaves like Unicode 16, so a newer table would count wrongly. The table is
//! made by `tools/build_unicode_classes.py`, which documents its bytes.

use crate::process::Once;

/// A set of classes, one bit each, so that a pattern's character class is one `&`.
pub(super) type Class = u8;

/// The end of the text: in no set.
pub(super) const END: Class = 0;
/// Lu and Lt.
pub(super) const UPPER: Class = 1;
/// Ll.
pub(super) const LOWER: Class = 2;
/// Lm and Lo: letters that stand on both sides of the o200k pattern.
pub(super) const CASELESS: Class = 4;
/// Mn, Mc, Me.
pub(super) const MARK: Class = 8;
/// Nd, Nl, No.
pub(super) const NUMBER: Class = 16;
/// White space but for the two line ends.
pub(super) const SPACE: Class = 32;
/// `\r` and `\n`.
pub(super) const NEWLINE: Class = 64;
/// Everything else.
pub(super) const OTHER: Class = 128;
/// `\p{L}`.
pub(super) const LETTER: Class = UPPER | LOWER | CASELESS;
/// `\s`.
pub(super) const WHITE: Class = SPACE | NEWLINE;

const RUNS: &[u8] = include_bytes!("data/unicode16.bin");
/// Runs of P and S, and of all else between them.
const SIGNS: &[u8] = include_bytes!("data/unicode16_signs.bin");
/// The file's class numbers as bits.
const BITS: [Class; 8] = [OTHER, UPPER, LOWER, CASELESS, MARK, NUMBER, SPACE, NEWLINE];
/// Two planes are flat (128 KiB, one load a character); above are a dozen long runs.
const FLAT: usize = 0x2_0000;

/// The class of every code point.
pub(super) struct Classes {
    flat: Box<[Class]>,
    /// First code point and class of each run from `FLAT` on.
    high: Vec<(u32, Class)>,
}

impl Classes {
    /// The one table of the process.
    pub(super) fn get() -> &'static Self {
        static CLASSES: Once<Classes> = Once::new();
        CLASSES.get_or_init(Self::load)
    }

    fn load() -> Self {
        let (mut flat, mut high) = (vec![OTHER; FLAT].into_boxed_slice(), Vec::new());
        let (mut start, mut bytes) = (0usize, RUNS.iter());
        while let Some(run) = next_number(&mut bytes) {
            let (class, end) = (BITS[run & 7], start + (run >> 3));
            flat[start.min(FLAT)..end.min(FLAT)].fill(class);
            if end > FLAT {
                high.push((start.max(FLAT) as u32, class));
            }
            start = end;
        }
        Self { flat, high }
    }

    /// The table with other classes for some: for patterns that tell others apart.
    pub(super) fn map(change: impl Fn(Class) -> Class) -> Self {
        let base = Self::get();
        let flat = base.flat.iter().map(|class| change(*class)).collect();
        let high = base.high.iter().map(|(first, class)| (*first, change(*class))).collect();
        Self { flat, high }
    }

    /// Gives punctuation and symbols a class. None of them stands above the flat part.
    pub(super) fn mark_signs(&mut self, class: Class) {
        let (mut start, mut bytes) = (0usize, SIGNS.iter());
        while let Some(run) = next_number(&mut bytes) {
            let end = start + (run >> 3);
            if run & 7 == 1 {
                self.flat[start..end].fill(class);
            }
            start = end;
        }
    }

    /// Adds a class to those of code points of the flat part.
    pub(super) fn add(&mut self, range: std::ops::Range<usize>, class: Class) {
        self.flat[range].iter_mut().for_each(|classes| *classes |= class);
    }

    /// The class of a code point; anything from U+110000 on is `OTHER`.
    #[inline]
    pub(super) fn of(&self, code_point: u32) -> Class {
        match self.flat.get(code_point as usize) {
            Some(&class) => class,
            None => self.high_class(code_point),
        }
    }

    #[cold]
    fn high_class(&self, code_point: u32) -> Class {
        let after = self.high.partition_point(|&(first, _)| first <= code_point);
        self.high[after - 1].1
    }
}

/// The next LEB128 number.
fn next_number(bytes: &mut std::slice::Iter<'_, u8>) -> Option<usize> {
    let (mut value, mut shift) = (0usize, 0);
    loop {
        let byte = *bytes.next()?;
        value |= usize::from(byte & 127) << shift;
        if byte < 128 {
            return Some(value);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_cover_every_code_point() {
        let mut bytes = RUNS.iter();
        let total: usize = std::iter::from_fn(|| next_number(&mut bytes)).map(|run| run >> 3).sum();
        assert_eq!(total, 0x11_0000);
    }

    #[test]
    fn signs_are_neither_letters_nor_white_and_all_of_ascii_punctuation() {
        let mut classes = Classes::map(|class| class);
        classes.mark_signs(255);
        for code_point in 0..FLAT as u32 {
            let (before, after) = (Classes::get().of(code_point), classes.of(code_point));
            assert!(before == after || before == OTHER, "U+{code_point:04X}");
        }
        assert!((0..128u8).all(|byte| (classes.of(u32::from(byte)) == 255) == byte.is_ascii_punctuation()));
        assert_eq!(["€", "。", "←", "😀", "🪽"].map(|sign| classes.of(sign.chars().next().expect("one") as u32)), [255; 5]);
    }

    #[test]
    fn ascii_agrees_with_the_standard_library() {
        for byte in 0..128u8 {
            let expected = match byte {
                b'\r' | b'\n' => NEWLINE,
                b'\t' | 0x0B | 0x0C | b' ' => SPACE,
                b'A'..=b'Z' => UPPER,
                b'a'..=b'z' => LOWER,
                b'0'..=b'9' => NUMBER,
                _ => OTHER,
            };
            assert_eq!(Classes::get().of(u32::from(byte)), expected, "byte {byte}");
        }
    }

    #[test]
    fn known_characters_of_every_class() {
        let cases = [('ǅ', UPPER), ('ſ', LOWER), ('\u{212A}', UPPER), ('中', CASELESS), ('ʰ', CASELESS), ('\u{301}', MARK), ('Ⅷ', NUMBER)];
        let more = [('\u{A0}', SPACE), ('\u{85}', SPACE), ('\u{200B}', OTHER), ('\u{2A6DF}', CASELESS), ('\u{E0100}', MARK), ('😀', OTHER)];
        for (character, class) in cases.into_iter().chain(more) {
            assert_eq!(Classes::get().of(character as u32), class, "U+{:04X}", character as u32);
        }
    }

    /// U+A7DA became a letter in 16.0, U+A7D2 in 17.0: the version is pinned from both sides.
    #[test]
    fn version_is_sixteen() {
        assert_eq!(Classes::get().of(0xA7DA), UPPER);
        assert_eq!(Classes::get().of(0xA7D2), OTHER);
    }
}
