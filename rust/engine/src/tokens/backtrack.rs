//! The tokens of a long pretoken, in time linear in its length.
//!
//! Two facts make it exact (A. Neubeck and H. van Antwerpen, "So many tokens, so little time", GitHub blog, December 2024).
//! A sequence of tokens is what merging gives if and only if every two neighbours alone are what merging their bytes gives.
//! And the tokens of every prefix are unique, so a position at which no token fits is dead whatever follows. So: take the
//! longest token that fits its left neighbour, and on a dead end step back and take a shorter one. Each position dies at most once.
//!
//! Both need a vocabulary in which merging reaches every token and parents are older than their token; tests hold that. The few tokens
//! of gemma3 whose parents are not older are merged to see.

use super::merge;
use super::vocabulary::{MAX_WIDTH, Vocabulary};

/// Appends the tokens of `text[start..end]`.
pub(super) fn encode(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize, tokens: &mut Vec<u32>) {
    let floor = tokens.len();
    let mut dead = vec![0u64; (end - start) / 64 + 1];
    let (mut at, mut limit) = (start, usize::MAX);
    while at < end {
        let last = tokens[floor..].last().copied();
        let alive = |position: usize| dead[(position - start) / 64] >> ((position - start) % 64) & 1 == 0;
        if let Some((id, width)) = fitting(vocabulary, text, at, limit.min(end - at), last, alive) {
            tokens.push(id);
            (at, limit) = (at + width, usize::MAX);
        } else {
            dead[(at - start) / 64] |= 1 << ((at - start) % 64);
            let undone = tokens.pop().map_or(1, |id| vocabulary.width(id));
            (at, limit) = (at - undone, undone - 1);
        }
    }
}

/// The longest token at `at` of at most `limit` bytes that leads to a position alive and fits behind `last`.
fn fitting(
    vocabulary: &Vocabulary,
    text: &[u8],
    at: usize,
    mut limit: usize,
    last: Option<u32>,
    alive: impl Fn(usize) -> bool,
) -> Option<(u32, usize)> {
    // A character that is a token is never spelled in bytes.
    let least = vocabulary.first_width(text, at);
    while limit >= least {
        let (id, width) = vocabulary.longest_prefix(text, at, limit);
        if alive(at + width) && last.is_none_or(|last| stay_apart(vocabulary, text, at, last, id)) {
            return Some((id, width));
        }
        limit = width - 1;
    }
    None
}

/// Whether `left` and `right`, which meet at `boundary`, are what merging their bytes gives.
///
/// Undoes their merges, youngest first. At each step the two parts that meet at the boundary existed together until the merge
/// just undone, so merging across would have come first if its id is lower; of equal ids the leftmost merge comes first.
pub(super) fn stay_apart(vocabulary: &Vocabulary, text: &[u8], boundary: usize, mut left: u32, mut right: u32) -> bool {
    if vocabulary.is_odd(left) || vocabulary.is_odd(right) {
        return are_merged_so(vocabulary, text, boundary, left, right);
    }
    let mut undone = u32::MAX;
    loop {
        let (start, end) = (boundary - vocabulary.width(left), boundary + vocabulary.width(right));
        if vocabulary.find_rare(text, start, end) < undone {
            return false;
        }
        if vocabulary.is_single(left.max(right)) {
            return true;
        }
        if left > right {
            undone = left;
            left = vocabulary.parents(left)[1];
        } else {
            undone = right + 1;
            right = vocabulary.parents(right)[0];
        }
    }
}

/// Whether `left` and `right` are what merging the bytes of both gives, found by merging them.
#[cold]
fn are_merged_so(vocabulary: &Vocabulary, text: &[u8], boundary: usize, left: u32, right: u32) -> bool {
    let mut tokens = Vec::new();
    let (start, end) = (boundary - vocabulary.width(left), boundary + vocabulary.width(right));
    merge::encode::<{ 2 * MAX_WIDTH }>(vocabulary, text, start, end, &mut tokens);
    tokens == [left, right]
}
