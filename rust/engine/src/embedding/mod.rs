//! The built-in embedding: a text's vector without a neural network, a download or Python.
//!
//! A static table has one row of int8 for each token of a `WordPiece` vocabulary, fitted so that the sum of a text's rows points where
//! a sentence transformer (all-MiniLM-L6-v2) points; how it was fitted is in `tools/embedding`. What it does not do: read word
//! order, or any language but English well. A caller's own embedder takes its place at `open`.
//!
//! ```text
//! text -> normalise   control characters out, accents stripped, lower case; words and single punctuation marks
//!      -> wordpiece   the longest pieces of the vocabulary, left to right; a word without pieces is one unknown token
//!      -> table       v_d = scale_d * sum over the tokens of row[token][d], brought to length 1
//! ```
//!
//! The sum is one of integers and the scaling has one order of operations, so a text has the same bytes on every processor.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

mod classes;
mod closeness;
mod cut;
mod forms;
mod normalise;
mod table;
mod wordpiece;

#[cfg(test)]
mod tests;

pub(crate) use closeness::{Content, Nearness, Wanted};
pub(crate) use cut::Cut;
#[cfg(test)]
pub(crate) use forms::{FIRST_PERSON, SECOND_PERSON};
pub(crate) use forms::{TIME, count_forms, forms};

use std::cell::Cell;

use crate::index::vectors::UnitVector;

/// What the store calls its vectors by.
pub const NAME: &str = "memspan/static-minilm";
/// The table's version: another table gives other vectors.
pub const REVISION: &str = "1";
/// Numbers in a vector.
pub const DIMENSIONS: usize = table::DIMENSIONS;

/// The vector of a text; one of no direction, which is near to nothing, where the table knows too little of it ([`knows`]).
#[must_use]
pub fn embed(text: &str) -> UnitVector {
    let (mut sum, mut known) = (table::Sum::new(), Known::default());
    wordpiece::each_token_of_word(text, &mut |word, token| {
        known.note(word, token);
        sum.add(token);
    });
    if known.is_enough() { sum.finish() } else { UnitVector::without_direction(DIMENSIONS) }
}

/// The vector of a text but for `left_out`, tokens as [`distinct_tokens`] has them: of what it says of somebody, not of whom it says it.
#[must_use]
pub(crate) fn embed_beside(text: &str, left_out: &[u8]) -> UnitVector {
    let mut sum = table::Sum::new();
    wordpiece::each_token(text, &mut |token| {
        if !left_out.as_chunks::<2>().0.contains(&token.to_le_bytes()) {
            sum.add(token);
        }
    });
    sum.finish()
}

/// Whether the table knows enough of a text to say what it means: one in three of its tokens that are no punctuation. Of scripts that the
/// table was not fitted to every text would have the vector of its full stop, and all of them would mean the same.
#[must_use]
pub fn knows(text: &str) -> bool {
    let mut known = Known::default();
    wordpiece::each_token_of_word(text, &mut |word, token| known.note(word, token));
    known.is_enough()
}

/// Whether the vocabulary has a word whole.
#[must_use]
pub(crate) fn has_word(word: &str) -> bool {
    let (mut count, mut unknown) = (0, false);
    wordpiece::each_token(word, &mut |token| {
        count += 1;
        unknown |= token == wordpiece::UNKNOWN;
    });
    count == 1 && !unknown
}

/// Tokens of words that the table says something of, and all tokens of words.
#[derive(Debug, Default)]
struct Known {
    known: usize,
    all: usize,
}

impl Known {
    /// Of so many tokens one must be known.
    const ONE_IN: usize = 3;

    fn note(&mut self, word: &[u8], token: u16) {
        let has_no_letter = || std::str::from_utf8(word).is_ok_and(|word| !word.chars().any(char::is_alphanumeric));
        let is_mark = !word.first().is_none_or(u8::is_ascii_alphanumeric) && token != wordpiece::UNKNOWN && has_no_letter();
        if !is_mark {
            self.all += 1;
            self.known += usize::from(table::says_something(token));
        }
    }

    fn is_enough(&self) -> bool {
        self.known > 0 && self.known * Self::ONE_IN >= self.all
    }
}

/// The vector of a question: of its words that say what it is about, of all where there are none; without direction where the table
/// [does not know](knows) them.
///
/// "What", "did" and "the" are in every question, and what they have in common with a text tells nothing.
#[must_use]
pub fn embed_question(question: &str) -> UnitVector {
    Content::of(&Cut::of(question), &[]).vector().unwrap_or_else(|| UnitVector::without_direction(DIMENSIONS))
}

/// The distinct tokens of a text in the order of its words, at most `most`, each as two bytes, little-endian.
#[must_use]
pub(crate) fn distinct_tokens(text: &str, most: usize) -> Vec<u8> {
    let mut seen = SEEN.take().unwrap_or_else(|| vec![false; wordpiece::count()]);
    let mut found = Vec::with_capacity(2 * most.min(text.len() / 2 + 1));
    let mut rest = text;
    while !rest.is_empty() && found.len() < most * 2 {
        let (part, behind) = rest.split_at(end_of_part(rest));
        wordpiece::each_token(part, &mut |token| {
            if found.len() < most * 2 && !std::mem::replace(&mut seen[token as usize], true) {
                found.extend(token.to_le_bytes());
            }
        });
        rest = behind;
    }
    found.as_chunks::<2>().0.iter().for_each(|token| seen[u16::from_le_bytes(*token) as usize] = false);
    SEEN.set(Some(seen));
    found
}

/// Bytes of a text that are cut into tokens at a time, where it has more than are wanted.
const PART_BYTES: usize = 8 << 10;

/// Where a part of a text ends: at a space, which ends every word.
fn end_of_part(text: &str) -> usize {
    let behind = text.as_bytes().get(PART_BYTES..).unwrap_or_default();
    behind.iter().position(|byte| matches!(byte, b' ' | b'\n')).map_or(text.len(), |at| PART_BYTES + at)
}

/// The most tokens of a text that are compared with a question's.
const MOST_COMPARED: usize = 256;
/// Which vocabulary and rules made stored tokens: another one makes others.
const TOKENS_VERSION: u8 = 1;

/// The tokens of a text that are compared with a question's, as [`distinct_tokens`] has them.
#[must_use]
pub(crate) fn compared_tokens(text: &str) -> Vec<u8> {
    distinct_tokens(text, MOST_COMPARED)
}

/// The same as they are stored beside a text: a version, then the tokens. Nothing of a text without any.
#[must_use]
pub(crate) fn stored_tokens(text: &str) -> Vec<u8> {
    let mut stored = compared_tokens(text);
    if !stored.is_empty() {
        stored.insert(0, TOKENS_VERSION);
    }
    stored
}

/// The tokens in what was stored; `None` where another version stored them, or none.
#[must_use]
pub(crate) fn tokens_in(stored: &[u8]) -> Option<&[u8]> {
    stored.split_first().filter(|(version, tokens)| **version == TOKENS_VERSION && tokens.len().is_multiple_of(2)).map(|(_, tokens)| tokens)
}

/// Whether the stored tokens of a text tell that the table [knows] it: each says something, and one is of a word. If not, its words do.
#[must_use]
pub(crate) fn surely_knows(text: &str, stored: &[u8]) -> bool {
    let says = |token: &[u8; 2]| table::says_something(u16::from_le_bytes(*token));
    let all = |tokens: &[u8]| tokens.len() < 2 * MOST_COMPARED && tokens.as_chunks::<2>().0.iter().all(says);
    tokens_in(stored).is_some_and(all) && text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

thread_local! {
    /// Which tokens a text has had; all false between two texts.
    static SEEN: Cell<Option<Vec<bool>>> = const { Cell::new(None) };
}

/// The tokens of a text as the vocabulary spells them: `##` before a piece that continues a word, `[UNK]` for an unknown word.
#[must_use]
pub fn tokens(text: &str) -> Vec<String> {
    let mut spelled = Vec::new();
    wordpiece::each_token(text, &mut |token| spelled.push(wordpiece::spelling(token)));
    spelled
}
