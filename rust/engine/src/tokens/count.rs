//! Counting: cut, look up, merge any piece that is not a token.

use super::ascii::Cuts;
use super::cl100k::{Cl100k, Qwen2};
use super::deepseek::DeepSeek;
use super::gemma3::Gemma3;
use super::o200k::{O200k, Tekken};
use super::pieces::{NONE, hash, word_key};
use super::scan::Pattern;
use super::vocabulary::Vocabulary;
use super::{Encoding, long, merge};
use crate::interrupt::Steps;

/// How many tokens `text` is: as many as tiktoken's `len(encode_ordinary(text))` is.
///
/// Linear in the length of the text, whatever is in it. The first call for an encoding unpacks its vocabulary (about 25 ms).
#[must_use]
pub fn count(encoding: Encoding, text: &str) -> usize {
    count_up_to(encoding, &encoding.normalized(text), usize::MAX)
}

/// How many tokens `text` is, if at most `limit`; `None` as soon as it is known to be more.
#[must_use]
pub fn count_until(encoding: Encoding, text: &str, limit: usize) -> Option<usize> {
    let text = encoding.normalized(text);
    let fewest = text.len() / encoding.max_width();
    let count = if fewest > limit { fewest } else { count_up_to(encoding, &text, limit) };
    (count <= limit).then_some(count)
}

/// The count, or some number above `limit` if the count is above it.
fn count_up_to(encoding: Encoding, text: &str, limit: usize) -> usize {
    let mut total = 0;
    each_piece(encoding, text, |_, tokens| {
        total += tokens;
        total <= limit
    });
    total
}

/// Calls `visit` with the start of each pretoken and its number of tokens, until it returns `false`. The text is in normal form.
pub(super) fn each_piece(encoding: Encoding, text: &str, mut visit: impl FnMut(usize, usize) -> bool) {
    if let Encoding::Loaded(loaded) = encoding {
        return loaded.each_piece(text, |start, tokens| visit(start, tokens.len()));
    }
    let vocabulary = Vocabulary::get(encoding);
    match encoding {
        Encoding::Cl100k => each_piece_of::<Cl100k>(vocabulary, text, &mut visit),
        Encoding::O200k => each_piece_of::<O200k>(vocabulary, text, &mut visit),
        Encoding::Qwen2 => each_piece_of::<Qwen2>(vocabulary, text, &mut visit),
        Encoding::Tekken => each_piece_of::<Tekken>(vocabulary, text, &mut visit),
        Encoding::DeepSeekV3 => each_piece_of::<DeepSeek>(vocabulary, text, &mut visit),
        Encoding::Gemma3 => each_piece_of::<Gemma3>(vocabulary, text, &mut visit),
        Encoding::Loaded(_) => {}
    }
}

/// How many pretokens are cut before the first of them is counted: meanwhile the caches fetch what their counting reads.
const AHEAD: usize = 32;

#[inline]
fn each_piece_of<P: Pattern>(vocabulary: &Vocabulary, text: &str, visit: &mut impl FnMut(usize, usize) -> bool) {
    let (mut cuts, bytes, mut at) = (Cuts::new(text), text.as_bytes(), 0);
    let (mut words, mut steps) = ([Word::default(); AHEAD], Steps::default());
    while at < bytes.len() {
        steps.reach(at);
        let mut cut = 0;
        while cut < AHEAD && at < bytes.len() {
            let end = cuts.end::<P>(at);
            words[cut] = Word::new(bytes, at, end);
            vocabulary.bring(words[cut].hash);
            (cut, at) = (cut + 1, end);
        }
        for word in &words[..cut] {
            if !visit(word.start, count_word(vocabulary, bytes, word)) {
                return;
            }
        }
    }
}

/// A pretoken, or a part of one that no token leaves. Only below 16 bytes its key says what it spells.
#[derive(Default, Clone, Copy)]
struct Word {
    start: usize,
    end: usize,
    key: [u64; 2],
    hash: u64,
}

impl Word {
    #[inline(always)]
    fn new(text: &[u8], start: usize, end: usize) -> Self {
        let key = word_key(text, start, end);
        Self { start, end, key, hash: hash(key) }
    }
}

/// How many tokens `text[start..end]` is, a pretoken or a part of one that no token leaves.
#[inline]
fn count_piece(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> usize {
    count_word(vocabulary, text, &Word::new(text, start, end))
}

#[inline(always)]
fn count_word(vocabulary: &Vocabulary, text: &[u8], &Word { start, end, key, hash }: &Word) -> usize {
    if end - start >= 16 {
        count_wide(vocabulary, text, start, end)
    } else if vocabulary.shows(key, hash) {
        1
    } else {
        vocabulary.recent().count(key, hash, || count_new(vocabulary, text, start, end))
    }
}

/// Counts less than 16 bytes that were not counted lately.
#[inline(never)]
fn count_new(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> usize {
    if vocabulary.find(text, start, end) == NONE { merge::count(vocabulary, text, start, end) } else { 1 }
}

/// Counts 16 bytes and more.
#[inline(never)]
fn count_wide(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> usize {
    if vocabulary.find_rare(text, start, end) != NONE {
        return 1;
    }
    if text[start] >= 128 || text[start + 1] >= 128 {
        count_parts(vocabulary, text, start, end)
    } else {
        count_long(vocabulary, text, start, end)
    }
}

/// A long pretoken of other scripts (a line of Chinese is one), part by part: it is cut where no token has its characters side by side.
fn count_parts(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> usize {
    let (mut at, mut tokens, mut steps) = (start, 0, Steps::default());
    while at < end {
        steps.reach(at - start);
        let next = vocabulary.part_end(text, at, end);
        tokens += match text[at..next] {
            [first @ 0xE0..0xF0, second, third] => {
                vocabulary.recent().alone([first, second, third], || count_piece(vocabulary, text, at, next))
            }
            _ if at == start && next == end => count_long(vocabulary, text, at, next),
            _ => count_piece(vocabulary, text, at, next),
        };
        at = next;
    }
    tokens
}

#[inline(never)]
fn count_long(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> usize {
    if end - start <= merge::MAX_PIECE {
        return merge::count(vocabulary, text, start, end);
    }
    let mut tokens = Vec::new();
    long::encode(vocabulary, text, start, end, &mut tokens);
    tokens.len()
}
