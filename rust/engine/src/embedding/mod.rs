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
mod forms;
mod normalise;
mod table;
mod wordpiece;

#[cfg(test)]
mod tests;

pub(crate) use closeness::{Content, Nearness, Wanted};
pub(crate) use forms::{FIRST_PERSON, SECOND_PERSON, TIME, forms};

use crate::index::vectors::UnitVector;

/// What the store calls its vectors by.
pub const NAME: &str = "memspan/static-minilm";
/// The table's version: another table gives other vectors.
pub const REVISION: &str = "1";
/// Numbers in a vector.
pub const DIMENSIONS: usize = table::DIMENSIONS;

/// The vector of a text. Every text has one: a text without any token has that of an unknown word.
#[must_use]
pub fn embed(text: &str) -> UnitVector {
    let mut sum = table::Sum::new();
    wordpiece::each_token(text, &mut |token| sum.add(token));
    sum.finish()
}

/// The vector of a question: of its words that say what it is about, and of all where there are none.
///
/// "What", "did" and "the" are in every question, and what they have in common with a text tells nothing.
#[must_use]
pub fn embed_question(question: &str) -> UnitVector {
    Content::of(question, &[]).vector().unwrap_or_else(|| embed(question))
}

/// The distinct tokens of a text in the order of its words, at most `most`, each as two bytes, little-endian.
#[must_use]
pub(crate) fn distinct_tokens(text: &str, most: usize) -> Vec<u8> {
    let (mut seen, mut found) = (vec![false; wordpiece::count()], Vec::new());
    wordpiece::each_token(text, &mut |token| {
        if found.len() < most * 2 && !std::mem::replace(&mut seen[token as usize], true) {
            found.extend(token.to_le_bytes());
        }
    });
    found
}

/// The tokens of a text as the vocabulary spells them: `##` before a piece that continues a word, `[UNK]` for an unknown word.
#[must_use]
pub fn tokens(text: &str) -> Vec<String> {
    let mut spelled = Vec::new();
    wordpiece::each_token(text, &mut |token| spelled.push(wordpiece::spelling(token)));
    spelled
}
