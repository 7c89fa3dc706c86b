//! From words to tokens: the longest pieces of the vocabulary, left to right.
//!
//! The vocabulary lies in the file ready for look-ups, so that nothing is built at start: an open-addressing table from the hash of a
//! piece to its number. `tools/embedding/pack.py` writes it and documents its bytes. Source of the algorithm: Wu et al., "Google's
//! Neural Machine Translation System", 2016, section 4.1, in the greedy form of BERT.

use super::normalise::{MAX_WORD_CHARS, Word, each_word};

/// The number of a token: its row in the table.
pub(super) type Token = u16;

/// A word that has no pieces.
pub(super) const UNKNOWN: Token = 0;
const UNKNOWN_SPELLING: &str = "[UNK]";

/// The longest piece of the vocabulary, in bytes.
const MAX_PIECE: usize = 24;
const SLOTS: usize = 1 << 16;
const EMPTY: Token = Token::MAX;
/// Set in the end of a piece that continues a word.
const CONTINUES: u32 = 1 << 31;

static FILE: &[u8] = include_bytes!("data/wordpiece.bin");

/// Where each part of the file begins: tokens (u32), then their ends (u32 each), slots (u16 each), texts.
const TOKENS: usize = u32_at(FILE, 0) as usize;
const ENDS: usize = 4;
const TABLE: usize = ENDS + TOKENS * 4;
const TEXTS: usize = TABLE + SLOTS * 2;
const _: () = assert!(TOKENS < EMPTY as usize && FILE.len() == TEXTS + (u32_at(FILE, TABLE - 4) & !CONTINUES) as usize);

const fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// How many tokens there are.
pub(super) const fn count() -> usize {
    TOKENS
}

/// Calls `each` for every token of a text, in order.
pub(super) fn each_token(text: &str, each: &mut impl FnMut(Token)) {
    each_word(text, &mut |word| pieces(word, each));
}

/// Calls `each` with each token and the word that it is of; an unknown word may have no bytes.
pub(super) fn each_token_of_word(text: &str, each: &mut impl FnMut(&[u8], Token)) {
    each_word(text, &mut |word| pieces(word, &mut |token| each(word.bytes().unwrap_or_default(), token)));
}

/// Calls `each` with each word and all its tokens.
pub(super) fn each_word_with_tokens(text: &str, each: &mut impl FnMut(&[u8], &[Token])) {
    each_word(text, &mut |word| with_pieces(word, |tokens| each(word.bytes().unwrap_or_default(), tokens)));
}

fn pieces(word: &Word, each: &mut impl FnMut(Token)) {
    with_pieces(word, |tokens| tokens.iter().for_each(|&token| each(token)));
}

/// The pieces of one word, or the unknown token: a word is never cut in part.
fn with_pieces(word: &Word, each: impl FnOnce(&[Token])) {
    let bytes = word.bytes().unwrap_or_default();
    if let Some(token) = whole(bytes) {
        return each(&[token]); // most words are tokens
    }
    let (mut found, mut count, mut start) = ([UNKNOWN; MAX_WORD_CHARS], 0, 0);
    while start < bytes.len() {
        let Some((token, len)) = longest(&bytes[start..], start > 0) else { return each(&[UNKNOWN]) };
        found[count] = token;
        count += 1;
        start += len;
    }
    // Without a piece it is too long to be cut.
    each(if count == 0 { &[UNKNOWN] } else { &found[..count] });
}

/// The token that a word of letters and digits of ASCII is, whose normal form has small letters; [`UNKNOWN`] where it is several. `None` of
/// another word.
pub(super) fn of_ascii(word: &[u8]) -> Option<Token> {
    let (mut letters, mut hash, mut is_plain) = ([0; MAX_PIECE], HASH_BEGINS, !word.is_empty());
    let letters = letters.get_mut(..word.len())?;
    for (letter, byte) in letters.iter_mut().zip(word) {
        is_plain &= byte.is_ascii_alphanumeric();
        *letter = byte.to_ascii_lowercase();
        hash = next_hash(hash, *letter);
    }
    is_plain.then(|| find(hash, letters, false).unwrap_or(UNKNOWN))
}

/// The token that a word is.
fn whole(word: &[u8]) -> Option<Token> {
    if word.len() > MAX_PIECE { None } else { find(word.iter().fold(HASH_BEGINS, |hash, byte| next_hash(hash, *byte)), word, false) }
}

/// The longest piece that `bytes` begin with, and its length.
fn longest(bytes: &[u8], continues: bool) -> Option<(Token, usize)> {
    let mut hashes = [0; MAX_PIECE + 1];
    hashes[0] = if continues { HASH_CONTINUES } else { HASH_BEGINS };
    let most = bytes.len().min(MAX_PIECE);
    for at in 0..most {
        hashes[at + 1] = next_hash(hashes[at], bytes[at]);
    }
    (1..=most).rev().find_map(|len| Some((find(hashes[len], &bytes[..len], continues)?, len)))
}

// FNV-1a, whose every prefix is a hash: one pass gives those of all lengths.
const HASH_BEGINS: u32 = 0x811c_9dc5;
const HASH_CONTINUES: u32 = HASH_BEGINS ^ 1;

fn next_hash(hash: u32, byte: u8) -> u32 {
    (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
}

/// The token of a piece: slots from its hash on, up to an empty one. There are always empty ones.
fn find(hash: u32, piece: &[u8], continues: bool) -> Option<Token> {
    let mut slot = ((hash >> 16 ^ hash) as usize) % SLOTS;
    loop {
        let at = TABLE + slot * 2;
        let token = Token::from_le_bytes([FILE[at], FILE[at + 1]]);
        if token == EMPTY {
            return None;
        }
        if self::piece(token) == (piece, continues) {
            return Some(token);
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// The text of a token, and whether it continues a word.
fn piece(token: Token) -> (&'static [u8], bool) {
    let end_of = |token: usize| u32_at(FILE, ENDS + token * 4);
    let token = token as usize;
    let start = token.checked_sub(1).map_or(0, |before| end_of(before) & !CONTINUES);
    let end = end_of(token);
    (&FILE[TEXTS + start as usize..TEXTS + (end & !CONTINUES) as usize], end & CONTINUES != 0)
}

/// A token as vocabularies spell it.
pub(super) fn spelling(token: Token) -> String {
    if token == UNKNOWN {
        return UNKNOWN_SPELLING.to_owned();
    }
    let (text, continues) = piece(token);
    let text = String::from_utf8_lossy(text);
    if continues { format!("##{text}") } else { text.into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// The vocabulary as a map, and the algorithm as the paper has it.
    fn naive(word: &str, vocabulary: &HashMap<String, Token>) -> Vec<Token> {
        let chars: Vec<char> = word.chars().collect();
        let (mut tokens, mut start) = (Vec::new(), 0);
        while start < chars.len() {
            let prefix = if start > 0 { "##" } else { "" };
            let spelled = |end: usize| format!("{prefix}{}", chars[start..end].iter().collect::<String>());
            let Some(end) = (start + 1..=chars.len()).rev().find(|&end| vocabulary.contains_key(&spelled(end))) else {
                return vec![UNKNOWN];
            };
            tokens.push(vocabulary[&spelled(end)]);
            start = end;
        }
        tokens
    }

    fn vocabulary() -> HashMap<String, Token> {
        (1..count() as Token).map(|token| (spelling(token), token)).collect()
    }

    fn tokens(text: &str) -> Vec<Token> {
        let mut tokens = Vec::new();
        each_token(text, &mut |token| tokens.push(token));
        tokens
    }

    #[test]
    fn every_token_is_found_by_its_spelling() {
        let vocabulary = vocabulary();
        assert_eq!(vocabulary.len() + 1, count());
        for token in 1..count() as Token {
            let (text, continues) = piece(token);
            assert!(text.len() <= MAX_PIECE, "{}", spelling(token));
            assert_eq!(longest(text, continues), Some((token, text.len())), "{}", spelling(token));
        }
    }

    #[test]
    fn words_are_cut_as_a_map_and_the_paper_would() {
        let (vocabulary, mut state) = (vocabulary(), 7u64);
        let spellings: Vec<String> =
            (1..count() as Token).map(|token| piece(token).0).map(|b| String::from_utf8(b.to_vec()).unwrap()).collect();
        for _ in 0..2_000 {
            let mut word = String::new();
            for _ in 0..=state % 4 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                word.push_str(&spellings[(state >> 33) as usize % spellings.len()]);
            }
            let mut expected = Vec::new();
            each_word(&word, &mut |word| {
                let normal = word.bytes().map(|bytes| String::from_utf8(bytes.to_vec()).unwrap());
                expected.extend(normal.map_or(vec![UNKNOWN], |normal| naive(&normal, &vocabulary)));
            });
            assert_eq!(tokens(&word), expected, "{word}");
        }
    }

    #[test]
    fn a_word_without_pieces_is_one_unknown_token() {
        assert_eq!(tokens("\u{1f600}"), [UNKNOWN]);
        assert_eq!(tokens(&format!("good{}", '\u{1f600}')), [UNKNOWN]);
        assert_eq!(tokens(&"x".repeat(101)), [UNKNOWN]);
        assert!(tokens(" \t").is_empty());
    }
}
