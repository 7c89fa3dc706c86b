//! Character classes for the normaliser: whether a character is dropped, white space, an ideograph, a mark or punctuation.
//!
//! The classes are those of the tokenizer that the teacher was trained with (BERT's, as Hugging Face `tokenizers` has it), read off
//! it character by character by `tools/embedding/pack.py`: tables of another Unicode version would cut words elsewhere.

/// The treatment of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Part of a word.
    Letter,
    /// Control, format, private use: taken out.
    Dropped,
    /// Ends a word.
    Space,
    /// An ideograph: a word by itself.
    Ideograph,
    /// A combining mark: taken out once its letter is decomposed.
    Mark,
    /// A word by itself.
    Punctuation,
}

/// The class numbers of the file.
const CLASSES: [Class; 6] = [Class::Letter, Class::Dropped, Class::Space, Class::Ideograph, Class::Mark, Class::Punctuation];

/// Runs of one class: the first code point and the class in the low three bits, 4 bytes each, in order.
const RUNS: &[u8] = include_bytes!("data/classes.bin");

/// The class of a character.
pub(super) fn of(c: char) -> Class {
    let wanted = (c as u32) << 3 | 7;
    let (mut low, mut high) = (0, RUNS.len() / 4); // the run is in low..high, and the first run begins at 0
    while high - low > 1 {
        let middle = low.midpoint(high);
        if run(middle) <= wanted { low = middle } else { high = middle }
    }
    CLASSES.get((run(low) & 7) as usize).copied().unwrap_or(Class::Letter)
}

fn run(at: usize) -> u32 {
    RUNS.get(at * 4..at * 4 + 4).and_then(|bytes| bytes.try_into().ok()).map_or(0, u32::from_le_bytes)
}

/// Whether a byte is an ASCII character of class [`Class::Letter`].
#[inline]
pub(super) fn is_ascii_letter(byte: u8) -> bool {
    const IS: [bool; 256] = {
        let mut is = [false; 256];
        let mut byte = 0;
        while byte < 128 {
            is[byte] = (byte as u8).is_ascii_alphanumeric();
            byte += 1;
        }
        is
    };
    IS[byte as usize]
}

/// The class of an ASCII character, without a search.
#[inline]
pub(super) fn of_ascii(byte: u8) -> Class {
    match byte {
        b'\t' | b'\n' | b'\r' | b' ' => Class::Space,
        0..=31 | 127 => Class::Dropped,
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
        _ => Class::Punctuation,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_in_order_and_begin_at_zero() {
        let runs: Vec<u32> = (0..RUNS.len() / 4).map(run).collect();
        assert_eq!(runs[0] >> 3, 0);
        assert!(runs.windows(2).all(|pair| pair[0] >> 3 < pair[1] >> 3 && pair[0] & 7 != pair[1] & 7));
        assert!(runs.iter().all(|run| ((run & 7) as usize) < CLASSES.len()));
    }

    #[test]
    fn the_search_finds_what_a_walk_finds() {
        let mut at = 0;
        for c in '\0'..=char::MAX {
            while at + 1 < RUNS.len() / 4 && run(at + 1) >> 3 <= c as u32 {
                at += 1;
            }
            assert_eq!(of(c), CLASSES[(run(at) & 7) as usize], "{c:?}");
        }
    }

    #[test]
    fn ascii_is_as_in_the_table() {
        for byte in 0..128u8 {
            assert_eq!(of_ascii(byte), of(char::from(byte)), "{byte}");
            assert_eq!(is_ascii_letter(byte), of_ascii(byte) == Class::Letter, "{byte}");
        }
    }
}
