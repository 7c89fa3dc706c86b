//! Counting a text that grows at its end, at the cost of what was appended.
//!
//! A pretoken cannot change any more once enough of the text stands behind it: with cl100k only the last one can, with o200k
//! the last two (`中A` is two pretokens, `中Ab` one; restarting at the last one is wrong for 3 appended texts in 100), with gemma3 the last
//! six (`<start_of_turn` becomes one with `>` behind it). So the
//! counter keeps the bytes of those only. A single pretoken that grows without end (a megabyte of letters) is counted anew
//! each time, because its tokens may change back to its start.

use std::borrow::Cow;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, is_nfc_quick};

use super::Encoding;
use super::count::each_piece;

/// The most pretokens at the end of a text that can change in any encoding.
const MOST_UNSETTLED: usize = 8;

/// How many tokens a growing text is.
#[derive(Debug, Clone)]
pub struct TokenCounter {
    encoding: Encoding,
    settled: usize,
    /// The pretokens that may still change.
    tail: String,
    tail_tokens: usize,
}

impl TokenCounter {
    /// A counter of an empty text.
    #[must_use]
    pub fn new(encoding: Encoding) -> Self {
        Self { encoding, settled: 0, tail: String::new(), tail_tokens: 0 }
    }

    /// The encoding that it counts by.
    #[must_use]
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// How many tokens the whole text is: what [`super::count()`] gives for it.
    #[must_use]
    pub fn count(&self) -> usize {
        self.settled + self.tail_tokens
    }

    /// Appends to the text and gives the new count.
    pub fn append(&mut self, text: &str) -> usize {
        let mut tail = self.extended(text);
        // Where the newest pretokens start, and the count before each, in a ring.
        let (mut newest, mut pieces, mut total) = ([(0, 0); MOST_UNSETTLED], 0, 0);
        each_piece(self.encoding, &tail, |start, tokens| {
            newest[pieces % MOST_UNSETTLED] = (start, total);
            pieces += 1;
            total += tokens;
            true
        });
        let oldest = pieces.checked_sub(self.encoding.unsettled());
        let (mut unsettled, mut before) = oldest.map_or((0, 0), |piece| newest[piece % MOST_UNSETTLED]);
        if !self.encoding.is_local() || self.encoding.composes() && !starts_apart(&tail[unsettled..]) {
            (unsettled, before) = (0, 0);
        }
        tail.drain(..unsettled);
        self.tail = tail; // only now: counting may be interrupted, and the text is what it was then
        self.settled += before;
        self.tail_tokens = total - before;
        self.count()
    }

    /// The tail is kept in normal form: the form of a whole is that of its first part's form with the rest behind it.
    fn extended(&self, text: &str) -> String {
        let tail = [&*self.tail, text].concat();
        match self.encoding.normalized(&tail) {
            Cow::Owned(normal) => normal,
            Cow::Borrowed(_) => tail,
        }
    }

    /// Forgets the text.
    pub fn clear(&mut self) {
        (self.settled, self.tail_tokens) = (0, 0);
        self.tail.clear();
    }
}

/// Whether normalisation never reaches across the start of `text`: its first character combines with none before it.
fn starts_apart(text: &str) -> bool {
    let apart = |first: char| canonical_combining_class(first) == 0 && is_nfc_quick(std::iter::once(first)) == IsNormalized::Yes;
    text.chars().next().is_none_or(apart)
}
