//! Byte-pair merging of one pretoken that is not a token.
//!
//! The rule (tiktoken's `byte_pair_merge`): start from single bytes, or as `SentencePiece` from characters; while two neighbours together spell a token, merge the
//! pair whose token has the lowest id, the leftmost of equals. This is that rule, for up to `N` bytes; its work is quadratic
//! in the length of the piece, so [`super::long`] cuts longer ones.

use super::pieces::NONE;
use super::vocabulary::Vocabulary;

/// Pieces of up to this many bytes are merged whole.
pub(super) const MAX_PIECE: usize = 64;
/// A pair that does not merge: above every other.
const NO_PAIR: i32 = i32::MAX;
/// Pairs are ordered by id and then by position, which takes the low bits.
const POSITION_BITS: u32 = 12;

/// The parts of a piece while they are merged. A part is known by the position of its first byte.
struct Parts<const N: usize> {
    /// The token that each part would merge to with the next one, and its own position; `NO_PAIR` where no part starts.
    pairs: [i32; N],
    /// Where the next part starts.
    next: [u16; N],
    /// Where the part before starts; of the first, 0.
    previous: [u16; N],
    count: usize,
}

/// How many tokens `text[start..end]` merges to; it has at most `MAX_PIECE` bytes.
#[inline(never)]
pub(super) fn count(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> usize {
    match end - start {
        ..=9 if !vocabulary.merges_characters() => count_short::<8>(vocabulary, &text[start..end]),
        ..=16 if !vocabulary.merges_characters() => count_short::<16>(vocabulary, &text[start..end]),
        ..=16 => merge::<16>(vocabulary, text, start, end).count,
        17..=32 => merge::<32>(vocabulary, text, start, end).count,
        _ => merge::<MAX_PIECE>(vocabulary, text, start, end).count,
    }
}

/// The same of at most `PAIRS + 1` bytes that are merged as bytes: where parts start is a bit each.
fn count_short<const PAIRS: usize>(vocabulary: &Vocabulary, piece: &[u8]) -> usize {
    let (size, mut bytes) = (piece.len(), [0; 32]);
    bytes[..size].copy_from_slice(piece);
    let mut starts = (2u32 << size) - 1;
    // In words of 64 bits, which a compiler compares one by one: a vector would wait for the stores before it.
    let mut pairs: [u64; PAIRS] = std::array::from_fn(|at| {
        let id = vocabulary.find_two([bytes[at], bytes[at + 1]]);
        if at + 1 < size { ordered(id, at) } else { u64::MAX }
    });
    let next = |starts: u32, at: usize| at + 1 + (starts >> (at + 1)).trailing_zeros() as usize;
    loop {
        let lowest = lowest_of(pairs);
        if lowest >= ordered(NONE, 0) {
            return starts.count_ones() as usize - 1;
        }
        let at = lowest as usize % PAIRS;
        let gone = next(starts, at);
        let after = next(starts, gone);
        starts &= !(1 << gone);
        let find = |from: usize, to: usize| ordered(vocabulary.find_rare_in(&bytes, from % 16, to), from);
        if gone < PAIRS {
            pairs[gone] = u64::MAX;
        }
        pairs[at] = if after < size { find(at, next(starts, after)) } else { u64::MAX };
        if at > 0 {
            let before = (starts & ((1 << at) - 1)).ilog2() as usize;
            pairs[before] = find(before, after);
        }
    }
}

/// The lowest of some, by halves: one by one each would wait for the one before.
#[inline(always)]
fn lowest_of<const PAIRS: usize>(mut pairs: [u64; PAIRS]) -> u64 {
    let mut half = PAIRS / 2;
    while half > 0 {
        for at in 0..half {
            pairs[at] = pairs[at].min(pairs[at + half]);
        }
        half /= 2;
    }
    pairs[0]
}

/// A pair as [`count_short`] orders them. Bytes that are not a token are above every other.
#[inline]
fn ordered(id: u32, position: usize) -> u64 {
    u64::from(id) << 4 | position as u64
}

/// Appends the tokens that `text[start..end]` merges to; it has at most `N` bytes.
pub(super) fn encode<const N: usize>(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize, tokens: &mut Vec<u32>) {
    let parts = merge::<N>(vocabulary, text, start, end);
    let mut at = 0;
    while at < end - start {
        let next = usize::from(parts.next[at]);
        tokens.push(vocabulary.find(text, start + at, start + next));
        at = next;
    }
}

fn merge<const N: usize>(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> Parts<N> {
    let characters = vocabulary.bigrams().is_some() && !text[start..end].is_ascii();
    let mut parts = if characters {
        Parts::<N>::of_characters(vocabulary, text, start, end)
    } else {
        Parts::<N>::of_bytes(vocabulary, &text[start..end])
    };
    let size = end - start;
    let pair = |from: usize, to: usize| packed(vocabulary.find_rare(text, start + from, start + to), from);
    while let Some(first) = parts.lowest() {
        let (last, after) = if vocabulary.merges_characters() { (first, parts.join(first, size)) } else { parts.join_run(first, size) };
        if last > first {
            // All of them are the same token, so what two of them spell is found once.
            let two = vocabulary.find_rare(text, start + first, start + usize::from(parts.next[usize::from(parts.next[first])]));
            let mut at = first;
            while at < last {
                parts.pairs[at] = packed(two, at);
                at = usize::from(parts.next[at]);
            }
        }
        if after < size {
            parts.pairs[last] = pair(last, usize::from(parts.next[after]));
        }
        if first > 0 {
            let before = usize::from(parts.previous[first]);
            parts.pairs[before] = pair(before, usize::from(parts.next[first]));
        }
    }
    parts
}

/// A pair as its parts are ordered; without a token, `NO_PAIR`.
#[inline]
fn packed(id: u32, position: usize) -> i32 {
    if id == NONE { NO_PAIR } else { (id << POSITION_BITS) as i32 | position as i32 }
}

impl<const N: usize> Parts<N> {
    /// Every byte a part.
    #[inline]
    fn of_bytes(vocabulary: &Vocabulary, piece: &[u8]) -> Self {
        let mut parts = Self { pairs: [NO_PAIR; N], next: [0; N], previous: [0; N], count: piece.len() };
        for (at, bytes) in piece.windows(2).enumerate() {
            parts.pairs[at] = packed(vocabulary.find_two([bytes[0], bytes[1]]), at);
        }
        for at in 0..N {
            parts.next[at] = at as u16 + 1;
            parts.previous[at] = (at as u16).saturating_sub(1);
        }
        parts
    }

    /// Every character that is a token a part, and of the others every byte.
    fn of_characters(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> Self {
        let mut parts = Self { pairs: [NO_PAIR; N], next: [0; N], previous: [0; N], count: 0 };
        let (mut before, mut at) = (0, 0);
        while at < end - start {
            let next = at + vocabulary.first_width(&text[..end], start + at);
            (parts.next[at], parts.previous[at]) = (next as u16, before as u16);
            if at > 0 {
                parts.pairs[before] = packed(vocabulary.find_rare(text, start + before, start + next), before);
            }
            parts.count += 1;
            (before, at) = (at, next);
        }
        parts
    }

    /// Where the pair to merge next starts. Over all `N` without a branch, which a compiler turns into vector code.
    #[inline]
    fn lowest(&self) -> Option<usize> {
        let lowest = self.pairs.iter().fold(NO_PAIR, |lowest, &pair| lowest.min(pair));
        (lowest != NO_PAIR).then_some(lowest as usize & ((1 << POSITION_BITS) - 1))
    }

    /// Joins the pair at `at`, and as long as the next two parts are the same pair, them too; gives where the last of them starts and ends.
    ///
    /// No merge comes between: where bytes are merged, what a token makes with its neighbours has a higher id than itself.
    #[inline]
    fn join_run(&mut self, mut at: usize, size: usize) -> (usize, usize) {
        let id = self.pairs[at] >> POSITION_BITS;
        loop {
            let after = self.join(at, size);
            if after >= size || self.pairs[after] >> POSITION_BITS != id {
                return (at, after);
            }
            at = after;
        }
    }

    /// Makes one part of the part at `at` and the next; gives the end of it, where its new pair is not known yet.
    #[inline]
    fn join(&mut self, at: usize, size: usize) -> usize {
        let gone = usize::from(self.next[at]);
        let after = usize::from(self.next[gone]);
        self.pairs[gone] = NO_PAIR;
        self.pairs[at] = NO_PAIR;
        self.next[at] = after as u16;
        if after < size {
            self.previous[after] = at as u16;
        }
        self.count -= 1;
        after
    }
}

const _: () = assert!(MAX_PIECE <= 1 << POSITION_BITS);

#[cfg(test)]
mod tests {
    use super::super::Encoding;
    use super::super::fuzz::Fuzz;
    use super::*;

    /// The short way, the long way and the encoder agree on any bytes.
    #[test]
    fn short_words_are_counted_as_they_are_encoded() {
        let mut fuzz = Fuzz::new(78);
        for encoding in Encoding::ALL.into_iter().filter(|encoding| !encoding.merges_characters()) {
            let vocabulary = Vocabulary::get(encoding);
            for _ in 0..200_000 {
                let letters = [b"etaoinshrdlu " as &[u8], b"aeiouEIO0189-_\xC3\xA9\xE4\xB8\xAD"][fuzz.below(2)];
                let word: Vec<u8> = (0..2 + fuzz.below(15)).map(|_| letters[fuzz.below(letters.len())]).collect();
                let expected = merge::<16>(vocabulary, &word, 0, word.len()).count;
                assert_eq!(count(vocabulary, &word, 0, word.len()), expected, "{encoding:?}: {word:?}");
            }
        }
    }

    /// Runs, which are joined many at a time, as the rule says: pair by pair.
    #[test]
    fn runs_are_merged_as_pair_by_pair() {
        fn pair_by_pair(vocabulary: &Vocabulary, piece: &[u8]) -> Vec<u32> {
            let mut starts: Vec<usize> = (0..=piece.len()).collect();
            loop {
                let pairs = starts.windows(3).map(|ends| vocabulary.find(piece, ends[0], ends[2])).zip(1..);
                match pairs.min() {
                    Some((id, at)) if id != NONE => starts.remove(at),
                    _ => break,
                };
            }
            starts.windows(2).map(|ends| vocabulary.find(piece, ends[0], ends[1])).collect()
        }
        let mut fuzz = Fuzz::new(79);
        for encoding in Encoding::ALL.into_iter().filter(|encoding| !encoding.merges_characters()) {
            let vocabulary = Vocabulary::get(encoding);
            for _ in 0..5_000 {
                let signs = [b"-+" as &[u8], b"-=+*|#_ ", b"ab", b"aeinst"][fuzz.below(4)];
                let mut piece = Vec::new();
                while piece.len() < 2 + fuzz.below(MAX_PIECE - 1) {
                    piece.extend(vec![signs[fuzz.below(signs.len())]; 1 + fuzz.below(30)]);
                }
                piece.truncate(MAX_PIECE);
                let (expected, mut tokens) = (pair_by_pair(vocabulary, &piece), Vec::new());
                encode::<MAX_PIECE>(vocabulary, &piece, 0, piece.len(), &mut tokens);
                assert_eq!(tokens, expected, "{encoding:?}: {:?}", String::from_utf8_lossy(&piece));
                assert_eq!(count(vocabulary, &piece, 0, piece.len()), expected.len());
            }
        }
    }
}
