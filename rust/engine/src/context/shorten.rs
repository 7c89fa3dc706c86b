//! Large tool results: stored whole, shown as head and tail around a marker that says how to read the rest.
//!
//! Two thirds of the room go to the head, one third to the tail; both end at a line where one is near, else between two clusters of
//! characters. A text that is made again from a ledger is cut between two characters, as it always was. The
//! count of the shown text, escaped as it will be sent, is at most the limit. The marker counts characters, as a reader of the rest does,
//! and names no tool, because the model may have none that reads it.

use super::escape::escape;
use crate::tokens::Counter;
use crate::units::clip::clip;
use crate::units::clusters::{border_at_or_before, border_at_or_behind};

/// The least a result is shortened to: less says nothing.
pub const LEAST_TOKENS: u64 = 48;

/// Bytes of the longest cluster that is kept whole. A family of emoji has some forty, and what is longer is a letter with marks without end.
const LONGEST: usize = 128;

/// Where a text is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// Between two characters: texts that are made again from a ledger, of any version.
    Characters,
    /// Between two of those that a reader sees.
    Clusters,
}

/// A shortened text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortened {
    /// Head, marker, tail.
    pub text: String,
    /// Bytes of the original that are not shown.
    pub left_out_bytes: usize,
}

/// Shortens `text` to at most `max_tokens` as it will be sent; `None` if it fits, or if not even the marker does.
#[must_use]
pub fn shorten(text: &str, key: Option<&str>, max_tokens: u64, counter: &dyn Counter, between: Between) -> Option<Shortened> {
    if sent_within(text, max_tokens, counter) {
        return None;
    }
    let whole = text.chars().count();
    let bare = counter.count(&marker(whole, whole, key));
    let mut room = max_tokens.checked_sub(bare)?;
    loop {
        let head = head_bytes(text, room * 2 / 3, counter, between);
        let tail = text.len() - tail_bytes(&text[head..], room / 3, counter, between);
        let left_out_bytes = tail - head;
        let left_out = text[head..tail].chars().count();
        let shown = format!("{}{}{}", &text[..head], marker(left_out, whole, key), &text[tail..]);
        if sent_within(&shown, max_tokens, counter) {
            return Some(Shortened { text: shown, left_out_bytes });
        }
        room = if room == 0 { return None } else { room - room.div_ceil(16) };
    }
}

/// A caller's short form of a text, with a marker that says where the whole is.
#[must_use]
pub fn summarised(text: &str, told: &str, key: &str) -> String {
    format!("{}\n[... a summary of {} characters, stored as \"{key}\" ...]\n", told.trim_end(), text.chars().count())
}

fn marker(left_out: usize, whole: usize, key: Option<&str>) -> String {
    let stored = key.map_or_else(String::new, |key| format!(", stored as \"{key}\""));
    format!("\n[... {left_out} of {whole} characters left out{stored} ...]\n")
}

/// Whether a text has at most so many tokens as it will be sent.
pub fn sent_within(text: &str, limit: u64, counter: &dyn Counter) -> bool {
    counter.count_within(&escape(text), limit).is_some()
}

/// Bytes of the longest prefix found that is within `tokens`, at a line's end if that costs at most a quarter.
fn head_bytes(text: &str, tokens: u64, counter: &dyn Counter, between: Between) -> usize {
    let end = longest(text.len(), tokens, |bytes| sent_within(&text[..floor(text, bytes, between)], tokens, counter));
    let end = floor(text, end, between);
    let line = text[..end].rfind('\n').map_or(0, |at| at + 1);
    if line > end - end / 4 { line } else { end }
}

/// Bytes of the longest suffix found that is within `tokens`.
fn tail_bytes(text: &str, tokens: u64, counter: &dyn Counter, between: Between) -> usize {
    let length = text.len();
    let bytes = longest(length, tokens, |bytes| sent_within(&text[ceil(text, length - bytes, between)..], tokens, counter));
    let start = ceil(text, length - bytes, between);
    let line = text[start..].find('\n').map_or(length, |at| start + at + 1);
    length - if line < start + (length - start) / 4 { line } else { start }
}

/// The largest number of bytes up to `most` that `fits`: doubling from four bytes a token, then halving.
fn longest(most: usize, tokens: u64, fits: impl Fn(usize) -> bool) -> usize {
    let mut low = 0;
    let mut high = usize::try_from(tokens).unwrap_or(usize::MAX).saturating_mul(4).min(most);
    while high < most && fits(high) {
        low = high;
        high = high.saturating_mul(2).clamp(1, most);
        if tokens == 0 {
            break;
        }
    }
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if fits(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

fn floor(text: &str, at: usize, between: Between) -> usize {
    let cut = clip(text, at).len();
    match between {
        Between::Characters => cut,
        Between::Clusters => Some(border_at_or_before(text, at)).filter(|border| cut - border <= LONGEST).unwrap_or(cut),
    }
}

fn ceil(text: &str, at: usize, between: Between) -> usize {
    let cut = (at..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    match between {
        Between::Characters => cut,
        Between::Clusters => Some(border_at_or_behind(text, at)).filter(|border| border - cut <= LONGEST).unwrap_or(cut),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Random, WordCounter, nasty, words};
    use super::*;

    #[test]
    fn what_is_shown_is_within_the_limit_and_from_both_ends() {
        let mut random = Random::new(13);
        for _ in 0..500 {
            let pieces = random.below(200);
            let text = nasty(&mut random, pieces);
            let limit = LEAST_TOKENS + random.below(200);
            match shorten(&text, Some("r-1"), limit, &WordCounter, Between::Clusters) {
                None => assert!(WordCounter.count(&escape(&text)) <= limit),
                Some(short) => {
                    assert!(WordCounter.count(&escape(&short.text)) <= limit);
                    let (head, rest) = short.text.split_once("\n[... ").unwrap();
                    let tail = rest.split_once(" ...]\n").unwrap().1;
                    assert!(text.starts_with(head) && text.ends_with(tail));
                    assert_eq!(head.len() + tail.len() + short.left_out_bytes, text.len());
                }
            }
        }
    }

    #[test]
    fn most_of_the_room_is_used() {
        let shorten = |length, key, most| shorten(&words(length), key, most, &WordCounter, Between::Clusters);
        assert!(WordCounter.count(&shorten(10_000, None, 1_000).unwrap().text) > 900);
        assert_eq!(shorten(10, None, 1_000), None);
        assert_eq!(shorten(10, Some("k"), 3), None, "not even the marker fits");
    }

    #[test]
    fn nothing_that_a_reader_takes_for_one_character_is_torn() {
        let family = "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}";
        let counter = crate::tokens::CachedCounter::new(crate::tokens::Encoding::O200k);
        for limit in 48..200 {
            let short = shorten(&family.repeat(200), None, limit, &counter, Between::Clusters).unwrap();
            let (head, rest) = short.text.split_once("\n[... ").unwrap();
            let tail = rest.split_once(" ...]\n").unwrap().1;
            assert_eq!((head.len() % family.len(), tail.len() % family.len()), (0, 0), "{limit}");
        }
    }
}
