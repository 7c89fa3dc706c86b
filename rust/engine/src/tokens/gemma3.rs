//! Where a text may be cut for `gemma3`, the tokenizer of Gemma 3 and of Gemini: it has no pattern, so this is made from its tokens.
//!
//! `SentencePiece` merges a text as a whole, but for words that are found first: runs of line ends, tabs and spaces, tags of HTML, special
//! tokens. Between two characters that no token has side by side ([`super::bigrams`]) nothing merges, so a cut there changes no count. Of
//! ASCII that leaves words with at most a space before them, single digits, and runs of signs with a space before them: no token
//! has a letter and a sign, or a space but at its start. One exception: `> </` is a token.

use super::bigrams::character;
use super::load::load_8;
use super::scan::{Pattern, Text};
use super::swar::{CASE, TOPS, letter_run, lower_letters};
use super::vocabulary::Vocabulary;
use super::{Encoding, pieces::NONE};

/// Line ends, tabs, and spaces from two on, are words up to this many.
const LONGEST_RUN: usize = 31;
/// How many bytes a tag has at most.
const LONGEST_TAG: usize = 18;

pub(super) struct Gemma3;

impl Pattern for Gemma3 {
    /// `<start_of_tur` is six pretokens, and one with the rest behind it.
    const UNSETTLED: usize = 6;

    #[inline]
    fn end(text: Text<'_>, start: usize) -> usize {
        ascii_word(text.bytes, start).unwrap_or_else(|| any(text.bytes, start))
    }
}

/// The commonest pretoken: perhaps a space, then ASCII letters.
#[inline]
fn ascii_word(bytes: &[u8], start: usize) -> Option<usize> {
    let word = load_8(bytes, start);
    let letters = lower_letters(word | CASE);
    let head = u32::from(word as u8 == b' ');
    let others = !letters & TOPS & (u64::MAX << (8 * head));
    let end = if others == 0 { letter_run(bytes, start + 8) } else { start + others.trailing_zeros() as usize / 8 };
    let is_word = end > start + head as usize && bytes.get(end).is_none_or(|byte| *byte < 128);
    is_word.then_some(end)
}

/// The whole rule.
#[inline(never)]
fn any(bytes: &[u8], start: usize) -> usize {
    let first = bytes[start];
    if matches!(first, b'\n' | b'\t') || first == b' ' && bytes.get(start + 1) == Some(&b' ') {
        return run(bytes, start, first);
    }
    let vocabulary = Vocabulary::get(Encoding::Gemma3);
    if let Some(end) = tag(vocabulary, bytes, start) {
        return end;
    }
    joined(vocabulary, bytes, start)
}

/// The end of up to `LONGEST_RUN` times the byte at `start`.
fn run(bytes: &[u8], start: usize, byte: u8) -> usize {
    start + bytes[start..].iter().take(LONGEST_RUN).take_while(|other| **other == byte).count()
}

/// The end of the word of signs and letters that begins at `at`, if one does.
fn tag(vocabulary: &Vocabulary, bytes: &[u8], at: usize) -> Option<usize> {
    let close = match bytes.get(at) {
        Some(b'<') => b'>',
        Some(b'[') => b']',
        _ => return None,
    };
    let width = bytes[at..].iter().take(LONGEST_TAG).position(|byte| *byte == close)? + 1;
    let id = vocabulary.find(bytes, at, at + width);
    (id != NONE && vocabulary.is_word(id)).then_some(at + width)
}

/// The end of the characters from `start` on, each of which some token has behind the one before.
fn joined(vocabulary: &Vocabulary, bytes: &[u8], start: usize) -> usize {
    let Some(bigrams) = vocabulary.bigrams() else { return bytes.len() };
    let (mut left, width) = character(bytes, start);
    let mut at = start + width;
    while at < bytes.len() {
        let (right, width) = character(bytes, at);
        if !bigrams.has(left, right) || ends_before(vocabulary, bytes, at) {
            break;
        }
        (left, at) = (right, at + width);
    }
    at.min(bytes.len())
}

/// Whether a pretoken ends before the white space or the tag at `at`, though tokens seem to have these characters side by side.
fn ends_before(vocabulary: &Vocabulary, bytes: &[u8], at: usize) -> bool {
    match bytes[at] {
        b' ' => !bytes[at + 1..].starts_with(b"</") || tag(vocabulary, bytes, at + 1).is_some(),
        b'<' | b'[' => tag(vocabulary, bytes, at).is_some(),
        byte => matches!(byte, b'\n' | b'\t'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        let (mut at, mut pieces) = (0, Vec::new());
        while at < text.len() {
            let end = Gemma3::end(Text::new(text), at);
            pieces.push(&text[at..end]);
            at = end;
        }
        pieces
    }

    #[test]
    fn texts_are_cut_where_no_token_crosses() {
        assert_eq!(cut("It's  a test, 42 times."), ["It", "'", "s", "  ", "a", " test", ",", " ", "4", "2", " times", "."]);
        assert_eq!(cut("x\n\n\n\ty"), ["x", "\n\n\n", "\t", "y"]);
        assert_eq!(cut("<div><p> </p> </div><divx"), ["<div>", "<", "p", "> </", "p", ">", " ", "</div>", "<", "divx"]);
        assert_eq!(cut("<unused6241><unused6242>[multimodal]").len(), 1 + 7 + 1);
        assert_eq!(cut(&" ".repeat(64)).iter().map(|run| run.len()).collect::<Vec<_>>(), [31, 31, 2]);
        assert_eq!(cut(&" ".repeat(63)).iter().map(|run| run.len()).collect::<Vec<_>>(), [31, 31, 1]);
    }

    /// Every word is a pretoken by itself, whatever stands before it.
    #[test]
    fn words_are_found_behind_anything() {
        let vocabulary = Vocabulary::get(Encoding::Gemma3);
        for id in (0..vocabulary.len() as u32).filter(|id| vocabulary.is_word(*id)) {
            let word = std::str::from_utf8(vocabulary.spelling(id)).expect("text");
            for before in ["", "a", "=", "> ", "é", "中", "9"] {
                if before.ends_with(' ') && word.starts_with(' ') {
                    continue;
                }
                assert_eq!(cut(&format!("{before}{word}x")).iter().rev().nth(1), Some(&word), "{before:?} before {word:?}");
            }
        }
    }

    /// No token reaches over a cut of its own text.
    #[test]
    fn no_token_is_cut() {
        let vocabulary = Vocabulary::get(Encoding::Gemma3);
        for id in 256..vocabulary.len() as u32 {
            let text = std::str::from_utf8(vocabulary.spelling(id)).expect("text");
            assert_eq!(cut(text), [text]);
        }
    }
}
