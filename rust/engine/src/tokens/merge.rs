//! Byte-pair merging of one pretoken that is not a token.
//!
//! The rule (tiktoken's `byte_pair_merge`): start from single bytes; while two neighbours together spell a token, merge the
//! pair whose token has the lowest id, the leftmost of equals. Short pieces do just that; the work is quadratic in the length
//! of the piece, so longer ones take [`super::backtrack`], which gives the same tokens in linear time.

use super::pieces::NONE;
use super::vocabulary::Vocabulary;

/// Pieces of up to this many bytes are merged here.
pub(super) const MAX_PIECE: usize = 32;

/// The parts of a piece while they are merged.
struct Parts {
    /// Where each part starts, and the end of the last, relative to the piece.
    starts: [u8; MAX_PIECE + 1],
    /// The id that each part and the next one would merge to; the last entry is of no pair.
    merged: [u32; MAX_PIECE],
    count: usize,
}

/// How many tokens `text[start..end]` merges to.
pub(super) fn count(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> usize {
    merge(vocabulary, text, start, end).count
}

/// Appends the tokens that `text[start..end]` merges to.
pub(super) fn encode(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize, tokens: &mut Vec<u32>) {
    let parts = merge(vocabulary, text, start, end);
    let spans = parts.starts[..=parts.count].windows(2);
    tokens.extend(spans.map(|span| vocabulary.find(text, start + usize::from(span[0]), start + usize::from(span[1]))));
}

fn merge(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> Parts {
    let count = end - start;
    let mut parts = Parts { starts: [0; MAX_PIECE + 1], merged: [NONE; MAX_PIECE], count };
    for i in 0..=count {
        parts.starts[i] = i as u8;
    }
    let find = |from: u8, to: u8| vocabulary.find(text, start + usize::from(from), start + usize::from(to));
    for i in 1..count {
        parts.merged[i - 1] = find(i as u8 - 1, i as u8 + 1);
    }
    while let Some(at) = parts.next() {
        parts.join(at);
        let starts = &parts.starts;
        if at + 1 < parts.count {
            parts.merged[at] = find(starts[at], starts[at + 2]);
        }
        if at > 0 {
            parts.merged[at - 1] = find(starts[at - 1], starts[at + 1]);
        }
    }
    parts
}

impl Parts {
    /// The leftmost pair of the lowest id.
    fn next(&self) -> Option<usize> {
        let pairs = &self.merged[..self.count - 1];
        let (at, &lowest) = pairs.iter().enumerate().min_by_key(|&(_, &id)| id)?;
        (lowest != NONE).then_some(at)
    }

    /// Makes one part of part `at` and the next.
    fn join(&mut self, at: usize) {
        self.starts.copy_within(at + 2..=self.count, at + 1);
        self.merged.copy_within(at + 1..self.count, at);
        self.count -= 1;
        self.merged[self.count - 1] = NONE;
    }
}
