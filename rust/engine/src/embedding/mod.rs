//! The built-in embedding: a text's vector without a neural network, a download or Python.
//!
//! A static table has one row of int8 for each token of a `WordPiece` vocabulary, fitted so that the sum of a text's rows points where
//! a sentence transformer (all-MiniLM-L6-v2) points; how it was fitted is in `tools/embedding`. It does not read word
//! order, and reads no language but English well. A caller's own embedder takes its place at `open`.
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
mod kept;
mod normalise;
mod table;
mod wordpiece;

#[cfg(test)]
mod tests;

pub(crate) use closeness::{Content, Nearness, Wanted};
pub(crate) use cut::Cut;
pub(crate) use forms::{APOSTROPHE, OWN, TIME, count_forms, forms};
#[cfg(test)]
pub(crate) use forms::{FIRST_PERSON, SECOND_PERSON};
#[cfg(test)]
pub(crate) use kept::compared_tokens;
pub(crate) use kept::{KeptTokens, Tokens, distinct_tokens, embed_beside, near_cosine_beside, near_cosine_of};

use crate::index::vectors::UnitVector;

/// The name of its vectors in the store.
pub const NAME: &str = "memspan/static-minilm";
/// The table's version: another table gives other vectors.
pub const REVISION: &str = "1";
/// Numbers in a vector.
pub const DIMENSIONS: usize = table::DIMENSIONS;
/// The length of a row from which on its word says what a text is about. Those of months and weekdays are shorter (.7), and those of "rent"
/// and "dog" longer (1.1). Set.
const TELLING: f64 = 0.8;

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

/// Whether the table knows enough of a text to say what it means: one in three of its tokens that are not punctuation. Of scripts that the
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

/// How much a word says of what a text is about, where it does: it has the length of a long row, as "rent" has one and "moved" has none, or
/// no end where the vocabulary does not have it whole.
#[must_use]
pub(crate) fn telling(word: &str) -> Option<f64> {
    if let Some(token) = wordpiece::of_ascii(word.as_bytes()) {
        let length = if token == wordpiece::UNKNOWN { f64::INFINITY } else { table::length(token) };
        return Some(length).filter(|length| *length >= TELLING);
    }
    let (mut count, mut longest) = (0, 0.0);
    wordpiece::each_token(word, &mut |token| {
        count += 1;
        longest = table::length(token);
    });
    if count > 1 { Some(f64::INFINITY) } else { Some(longest).filter(|length| *length >= TELLING) }
}

/// Whether a word begins with a token of a time: "Monday", "May".
#[must_use]
pub(crate) fn is_of_time(word: &str) -> bool {
    let of = |tokens: &[u8]| forms(tokens).any(|form| form & TIME != 0);
    match wordpiece::of_ascii(word.as_bytes()).filter(|token| *token != wordpiece::UNKNOWN) {
        Some(token) => of(&token.to_le_bytes()),
        None => of(&distinct_tokens(word, 1)),
    }
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
/// "What", "did" and "the" are in every question, and their presence in a text tells nothing.
#[must_use]
pub fn embed_question(question: &str) -> UnitVector {
    Content::of(&Cut::of(question), &[]).vector().unwrap_or_else(|| UnitVector::without_direction(DIMENSIONS))
}

/// The tokens of a text as the vocabulary spells them: `##` before a piece that continues a word, `[UNK]` for an unknown word.
#[must_use]
pub fn tokens(text: &str) -> Vec<String> {
    let mut spelled = Vec::new();
    wordpiece::each_token(text, &mut |token| spelled.push(wordpiece::spelling(token)));
    spelled
}
