//! Byte-pair merging by a file's own rule, for any vocabulary.
//!
//! While two neighbours can merge, the pair of the lowest rank does, the leftmost of equals (Sennrich, Haddow and Birch, "Neural
//! machine translation of rare words with subword units", 2016, algorithm 1). A heap of candidate pairs over a linked list of parts makes
//! that O(n log n) for a piece of any length. Ranks are those of a list of pairs (`tokenizer.json`), or those of the tokens that two
//! parts spell together: their ids (tiktoken, tekken), or the order of their scores (`SentencePiece`).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

/// No token, or no part.
pub(super) const NONE: u32 = u32::MAX;
/// A character that is not a token, until it is spelled otherwise.
const STRANGE: u32 = NONE - 1;

/// A vocabulary and its rule.
pub(super) struct Merges {
    /// Ids by what they spell.
    pub(super) vocabulary: HashMap<Box<[u8]>, u32>,
    /// The tokens of single bytes; of `SentencePiece`, those that stand for bytes of characters without a token.
    pub(super) bytes: Box<[u32; 256]>,
    pub(super) rule: Rule,
    /// A piece that is a token is that token, whether merging reaches it or not.
    pub(super) whole_pieces: bool,
    /// The token for characters that have neither a token nor bytes, once for a run of them.
    pub(super) unknown: u32,
}

/// Which pairs merge, and which of them first.
pub(super) enum Rule {
    /// Pairs of a list merge, in its order.
    Listed(Pairs),
    /// Those that together spell a token, in the order of ids.
    Spelled,
    /// Those that together spell a token, in the order of these ranks by id.
    Ranked(Box<[u32]>),
}

/// Rank and result by the two ids.
pub(super) type Pairs = HashMap<u64, (u32, u32), BuildHasherDefault<PairHasher>>;

/// The key of a pair.
pub(super) fn pair(left: u32, right: u32) -> u64 {
    u64::from(left) << 32 | u64::from(right)
}

/// Two ids are well spread by one multiplication.
#[derive(Default)]
pub(super) struct PairHasher(u64);

impl Hasher for PairHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0 ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 ^= self.0 >> 29;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// A part of a piece while it is merged: where it stands in the text, and its neighbours.
struct Part {
    id: u32,
    start: u32,
    end: u32,
    previous: u32,
    next: u32,
}

/// A pair that could merge, ordered by rank and then by place. It is out of date when the parts are not those any more.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    rank: u32,
    at: u32,
    left: u32,
    right: u32,
    result: u32,
}

impl Merges {
    /// Appends the tokens of a pretoken.
    pub(super) fn encode_bytes(&self, piece: &[u8], tokens: &mut Vec<u32>) {
        if (self.whole_pieces || matches!(self.rule, Rule::Spelled))
            && let Some(id) = self.vocabulary.get(piece)
        {
            tokens.push(*id);
            return;
        }
        let parts = piece.iter().enumerate().map(|(at, byte)| (self.bytes[usize::from(*byte)], at, at + 1));
        self.merge(piece, parts, tokens);
    }

    /// Appends the tokens of a text that is not cut: of its characters, and of the bytes of those that are not tokens.
    pub(super) fn encode_characters(&self, text: &str, tokens: &mut Vec<u32>) {
        let mut parts: Vec<(u32, usize, usize)> = Vec::with_capacity(text.len());
        for (start, character) in text.char_indices() {
            let end = start + character.len_utf8();
            let spelling = &text.as_bytes()[start..end];
            if let Some(id) = self.vocabulary.get(spelling) {
                parts.push((*id, start, end));
            } else if spelling.iter().all(|byte| self.bytes[usize::from(*byte)] != NONE) {
                parts.extend(spelling.iter().enumerate().map(|(at, byte)| (self.bytes[usize::from(*byte)], start + at, start + at + 1)));
            } else if let Some(last) = parts.last_mut().filter(|last| last.0 == self.unknown) {
                last.2 = end;
            } else {
                parts.push((self.unknown, start, end));
            }
        }
        self.merge(text.as_bytes(), parts.into_iter(), tokens);
    }

    /// Appends the tokens of a text where characters that are not tokens can still merge into one, and are spelled in bytes only if they
    /// did not.
    pub(super) fn encode_pieces(&self, text: &str, tokens: &mut Vec<u32>) {
        let parts = text.char_indices().map(|(start, character)| {
            let end = start + character.len_utf8();
            (self.vocabulary.get(&text.as_bytes()[start..end]).copied().unwrap_or(STRANGE), start, end)
        });
        self.each_merged(text.as_bytes(), parts, |part| match part.id {
            STRANGE if self.unknown == NONE => {
                let bytes = &text.as_bytes()[part.start as usize..part.end as usize];
                tokens.extend(bytes.iter().map(|byte| self.bytes[usize::from(*byte)]));
            }
            STRANGE if tokens.last() == Some(&self.unknown) => {}
            STRANGE => tokens.push(self.unknown),
            id => tokens.push(id),
        });
    }

    fn merge(&self, text: &[u8], parts: impl Iterator<Item = (u32, usize, usize)>, tokens: &mut Vec<u32>) {
        self.each_merged(text, parts, |part| tokens.push(part.id));
    }

    /// Calls `visit` with the parts that merging leaves, in order.
    fn each_merged(&self, text: &[u8], parts: impl Iterator<Item = (u32, usize, usize)>, mut visit: impl FnMut(&Part)) {
        let mut parts: Vec<Part> = parts
            .enumerate()
            .map(|(at, (id, start, end))| Part {
                id,
                start: start as u32,
                end: end as u32,
                previous: (at as u32).wrapping_sub(1),
                next: at as u32 + 1,
            })
            .collect();
        let Some(last) = parts.last_mut() else { return };
        last.next = NONE;
        let mut heap: BinaryHeap<Reverse<Candidate>> = BinaryHeap::with_capacity(parts.len());
        heap.extend((0..parts.len()).filter_map(|at| self.candidate(text, &parts, at as u32)).map(Reverse));
        while let Some(Reverse(best)) = heap.pop() {
            if join(&mut parts, &best) {
                let previous = parts[best.at as usize].previous;
                heap.extend([best.at, previous].into_iter().filter_map(|at| self.candidate(text, &parts, at)).map(Reverse));
            }
        }
        let mut at = 0;
        while at != NONE {
            visit(&parts[at as usize]);
            at = parts[at as usize].next;
        }
    }

    /// The pair of the part at `at` and the one behind it, if it merges.
    fn candidate(&self, text: &[u8], parts: &[Part], at: u32) -> Option<Candidate> {
        let left = parts.get(at as usize)?;
        let right = parts.get(left.next as usize)?;
        let spelled = || self.vocabulary.get(&text[left.start as usize..right.end as usize]).copied();
        let (rank, result) = match &self.rule {
            Rule::Listed(pairs) => *pairs.get(&pair(left.id, right.id))?,
            Rule::Spelled => spelled().map(|id| (id, id))?,
            Rule::Ranked(ranks) => spelled().map(|id| (ranks[id as usize], id))?,
        };
        Some(Candidate { rank, at, left: left.id, right: right.id, result })
    }
}

/// Merges a candidate if its parts are still what they were.
fn join(parts: &mut [Part], best: &Candidate) -> bool {
    let left = &parts[best.at as usize];
    let (id, gone) = (left.id, left.next);
    let Some(right) = parts.get(gone as usize).filter(|right| id == best.left && right.id == best.right) else { return false };
    let (end, next) = (right.end, right.next);
    parts[gone as usize].id = NONE;
    let left = &mut parts[best.at as usize];
    (left.id, left.end, left.next) = (best.result, end, next);
    if let Some(after) = parts.get_mut(next as usize) {
        after.previous = best.at;
    }
    true
}
