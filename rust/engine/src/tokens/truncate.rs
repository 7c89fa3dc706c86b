//! The longest part of a text, from its start or to its end, that is at most so many tokens.
//!
//! The result was counted again: cutting a text can change how the words beside the cut are cut into pretokens, so a cut between two tokens
//! does not always give a text of that many. "At most" is exact, "longest" is to a few characters.

use std::borrow::Cow;

use super::ascii::Cuts;
use super::encode::{encode_piece, piece_end};
use super::vocabulary::{MAX_WIDTH, Vocabulary};
use super::{Encoding, count_until};

/// How many characters a cut moves before it falls back to the border of a pretoken.
const TRIES: usize = 8;

/// The start of `text` that is at most `max_tokens` tokens: the rest is cut off its end.
///
/// Linear in what is returned, not in the text.
#[must_use]
pub fn truncate_end(encoding: Encoding, mut text: &str, max_tokens: usize) -> &str {
    if is_searched(encoding, text) {
        return searched(encoding, cuts(text).collect(), max_tokens, |cut| &text[..cut]);
    }
    while let Some(piece) = first_too_much(encoding, text, max_tokens) {
        let mut cut = piece.start + widths(encoding, piece.tokens.iter().take(piece.room));
        for _ in 0..TRIES {
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            if count_until(encoding, &text[..cut], max_tokens).is_some() {
                return &text[..cut];
            }
            cut = cut.saturating_sub(1).max(piece.start);
        }
        text = &text[..piece.start];
    }
    text
}

/// The end of `text` that is at most `max_tokens` tokens: the rest is cut off its start.
///
/// Linear in what is returned, not in the text.
#[must_use]
pub fn truncate_start(encoding: Encoding, text: &str, max_tokens: usize) -> &str {
    if is_searched(encoding, text) {
        return searched(encoding, cuts(text).rev().collect(), max_tokens, |cut| &text[cut..]);
    }
    let Some(window) = window_too_much(encoding, text, max_tokens) else { return text };
    let piece = last_too_much(encoding, window, max_tokens);
    let mut cut = piece.end - widths(encoding, piece.tokens.iter().rev().take(piece.room));
    for _ in 0..TRIES {
        while !window.is_char_boundary(cut) {
            cut += 1;
        }
        if count_until(encoding, &window[cut..], max_tokens).is_some() {
            return &window[cut..];
        }
        cut = (cut + 1).min(piece.end);
    }
    // The border of a pretoken is exact from there on, because the patterns do not look behind.
    &window[piece.end..]
}

/// Whether what is counted is not what is returned, so that no token tells where to cut.
fn is_searched(encoding: Encoding, text: &str) -> bool {
    matches!(encoding, Encoding::Loaded(_)) || matches!(encoding.normalized(text), Cow::Owned(_))
}

/// The longest part that fits, by halving. `part` gives what is kept for a cut.
fn searched<'a>(encoding: Encoding, mut cuts: Vec<usize>, max_tokens: usize, part: impl Fn(usize) -> &'a str) -> &'a str {
    let fits = |cut: usize| count_until(encoding, part(cut), max_tokens).is_some();
    cuts.truncate(cuts.partition_point(|cut| fits(*cut)));
    // Longer parts have more tokens but for a few beside the cut, so the last one that halving found is asked again.
    while cuts.pop_if(|cut| !fits(*cut)).is_some() {}
    cuts.pop().map_or("", part)
}

/// Every place at which `text` can be cut.
fn cuts(text: &str) -> impl DoubleEndedIterator<Item = usize> {
    text.char_indices().map(|(at, _)| at).chain([text.len()])
}

/// The pretoken that does not fit any more.
struct Piece {
    start: usize,
    end: usize,
    tokens: Vec<u32>,
    /// How many of its tokens still fit.
    room: usize,
}

/// From the start of the text; `None` if all fits.
fn first_too_much(encoding: Encoding, text: &str, max_tokens: usize) -> Option<Piece> {
    let (vocabulary, mut cuts) = (Vocabulary::get(encoding), Cuts::new(text));
    let (mut start, mut room, mut tokens) = (0, max_tokens, Vec::new());
    while start < text.len() {
        let whole = piece_end(encoding, &mut cuts, start);
        // Of a pretoken without end only what can fit is looked at.
        let end = whole.min(start.saturating_add(room.saturating_add(2).saturating_mul(MAX_WIDTH)));
        tokens.clear();
        encode_piece(vocabulary, text.as_bytes(), start, end, &mut tokens);
        if tokens.len() > room {
            return Some(Piece { start, end, tokens, room });
        }
        (start, room) = (end, room - tokens.len());
    }
    None
}

/// From the end of a text that does not fit.
fn last_too_much(encoding: Encoding, text: &str, max_tokens: usize) -> Piece {
    let (vocabulary, mut cuts) = (Vocabulary::get(encoding), Cuts::new(text));
    let (mut spans, mut tokens, mut at) = (Vec::new(), Vec::new(), 0);
    while at < text.len() {
        let (start, before) = (at, tokens.len());
        at = piece_end(encoding, &mut cuts, start);
        encode_piece(vocabulary, text.as_bytes(), start, at, &mut tokens);
        spans.push((start, at, before));
    }
    let fewest = tokens.len().saturating_sub(max_tokens);
    let (start, end, before) = spans[spans.partition_point(|&(_, _, before)| before < fewest) - 1];
    let after = spans.iter().find(|span| span.0 == end).map_or(tokens.len(), |span| span.2);
    Piece { start, end, room: max_tokens - (tokens.len() - after), tokens: tokens[before..after].to_vec() }
}

/// The end of the text that is certainly too much; `None` if the whole text is not.
fn window_too_much(encoding: Encoding, text: &str, max_tokens: usize) -> Option<&str> {
    let mut size = max_tokens.saturating_mul(4).saturating_add(64);
    loop {
        let mut start = text.len().saturating_sub(size);
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        if count_until(encoding, &text[start..], max_tokens).is_none() {
            return Some(&text[start..]);
        }
        if start == 0 {
            return None;
        }
        size = size.saturating_mul(2);
    }
}

fn widths<'a>(encoding: Encoding, tokens: impl Iterator<Item = &'a u32>) -> usize {
    tokens.map(|&id| Vocabulary::get(encoding).width(id)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::count;
    use crate::tokens::fuzz::Fuzz;

    #[test]
    fn never_too_much_and_nearly_all() {
        for encoding in Encoding::ALL {
            let mut fuzz = Fuzz::new(11);
            for _ in 0..800 {
                let text = fuzz.string();
                let total = count(encoding, &text);
                let max_tokens = fuzz.below(total + 2);
                let (head, tail) = (truncate_end(encoding, &text, max_tokens), truncate_start(encoding, &text, max_tokens));
                assert!(text.starts_with(head) && text.ends_with(tail));
                for part in [head, tail] {
                    assert!(count(encoding, part) <= max_tokens, "{part:?} of {text:?} for {max_tokens}");
                    assert!(max_tokens < total || part == text, "{text:?} fits {max_tokens} and was cut");
                }
            }
        }
    }

    /// How much of the limit is used: 99.9 % of it on ordinary text.
    #[test]
    fn cuts_of_prose_use_the_limit() {
        let text = "The quick brown fox jumps over the lazy dog; naturally, it wasn't amused (it's 1,024 years old).\n".repeat(60);
        for encoding in Encoding::ALL {
            for max_tokens in (1..1_200).step_by(37) {
                assert!(count(encoding, truncate_end(encoding, &text, max_tokens)) + 2 > max_tokens);
                assert!(count(encoding, truncate_start(encoding, &text, max_tokens)) + 2 > max_tokens);
            }
        }
    }

    #[test]
    fn zero_tokens_are_no_text_and_huge_limits_all() {
        for encoding in Encoding::ALL {
            assert_eq!(truncate_end(encoding, "hello", 0), "");
            assert_eq!(truncate_start(encoding, "hello", 0), "");
            assert_eq!(truncate_end(encoding, "hello", usize::MAX), "hello");
            assert_eq!(truncate_start(encoding, "hello", usize::MAX), "hello");
            let long = "é".repeat(300_000);
            assert!(count(encoding, truncate_end(encoding, &long, 7)) == 7);
            assert!(count(encoding, truncate_start(encoding, &long, 7)) == 7);
        }
    }
}
