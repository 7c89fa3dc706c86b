//! The longest part of a text, from its start or to its end, that is at most so many tokens.
//!
//! The result was counted again: cutting a text can change how the words beside the cut are cut into pretokens, so a cut between two tokens
//! does not always give a text of that many. "At most" is exact, "longest" is to a few characters.
//!
//! A cut is between two extended grapheme clusters of UAX #29: no flag, no emoji and no letter with its marks is torn. Only where the first
//! cluster alone (the last one, at the end) is too much, it is cut between two of its characters, as a text of nothing but marks has to be.

use std::borrow::Cow;
use std::iter;

use super::ascii::Cuts;
use super::encode::{encode_piece, piece_end};
use super::vocabulary::{MAX_WIDTH, Vocabulary};
use super::{Encoding, count_until};
use crate::units::clusters::{border_at_or_before, border_at_or_behind, is_border};

/// How many characters a cut moves before it falls back to the border of a pretoken, and how many clusters beyond it are tried.
const TRIES: usize = 8;

/// Bytes on either side of a cut: where all of them are ASCII it is cut between any two characters.
const NEAR: usize = 16;

/// The start of `text` that is at most `max_tokens` tokens: the rest is cut off its end.
///
/// Linear in what is returned, and in a cluster that is cut; not in the text.
#[must_use]
pub fn truncate_end(encoding: Encoding, text: &str, max_tokens: usize) -> &str {
    let near = cut_from_start(encoding, text, max_tokens);
    if near.at == text.len() || is_plain(text, near.at) {
        return &text[..near.at];
    }
    let fits = |cut: usize| count_until(encoding, &text[..cut], max_tokens).is_some();
    let (mut cut, mut step) = (border_at_or_before(text, near.at), 1);
    // A shorter text may have more tokens, by a few beside the cut, and a longer one fewer.
    while cut > 0 && cut < near.at && !fits(cut) {
        cut = border_at_or_before(text, cut.saturating_sub(step));
        step *= 2;
    }
    let longer = iter::successors(Some(cut), |cut| (*cut < text.len()).then(|| border_at_or_behind(text, cut + 1))).skip(1).take(TRIES);
    let may_fit = |cut: &usize| count_until(encoding, &text[near.exact.min(*cut)..*cut], near.room).is_some();
    let cut = longer.filter(may_fit).last().filter(|cut| fits(*cut)).unwrap_or(cut);
    if cut == 0 { &text[..near.at] } else { &text[..cut] }
}

/// The end of `text` that is at most `max_tokens` tokens: the rest is cut off its start.
///
/// Linear in what is returned, and in a cluster that is cut or a row of flags, of which all have to be counted; not in the text.
#[must_use]
pub fn truncate_start(encoding: Encoding, text: &str, max_tokens: usize) -> &str {
    let near = cut_to_end(encoding, text, max_tokens);
    if near.at == 0 || is_plain(text, near.at) {
        return &text[near.at..];
    }
    let fits = |cut: usize| count_until(encoding, &text[cut..], max_tokens).is_some();
    let (mut cut, mut step) = (border_at_or_behind(text, near.at), 1);
    while cut < text.len() && cut > near.at && !fits(cut) {
        cut = border_at_or_behind(text, cut.saturating_add(step).min(text.len()));
        step *= 2;
    }
    let longer = iter::successors(Some(cut), |cut| cut.checked_sub(1).map(|at| border_at_or_before(text, at))).skip(1).take(TRIES);
    let may_fit = |cut: &usize| count_until(encoding, &text[*cut..near.exact.max(*cut)], near.room).is_some();
    let cut = longer.filter(may_fit).last().filter(|cut| fits(*cut)).unwrap_or(cut);
    if cut == text.len() { &text[near.at..] } else { &text[cut..] }
}

/// Whether a cut is between two clusters, and everything near it is ASCII, as mostly.
fn is_plain(text: &str, at: usize) -> bool {
    text.as_bytes()[at.saturating_sub(NEAR)..text.len().min(at + NEAR)].is_ascii() && is_border(text, at)
}

/// A cut between two characters.
struct Near {
    at: usize,
    /// The border of a pretoken beside it, up to which the tokens are counted.
    exact: usize,
    /// How many tokens there is room for beyond that border.
    room: usize,
}

fn cut_from_start(encoding: Encoding, mut text: &str, max_tokens: usize) -> Near {
    if is_searched(encoding, text) {
        let at = searched(encoding, cuts(text).collect(), max_tokens, |cut| &text[..cut]).len();
        return Near { at, exact: 0, room: max_tokens };
    }
    let mut beside = None;
    while let Some(piece) = first_too_much(encoding, text, max_tokens) {
        let (exact, room) = *beside.get_or_insert((piece.start, piece.room));
        let mut cut = piece.start + widths(encoding, piece.tokens.iter().take(piece.room));
        for _ in 0..TRIES {
            while !text.is_char_boundary(cut) {
                cut -= 1;
            }
            if count_until(encoding, &text[..cut], max_tokens).is_some() {
                return Near { at: cut, exact, room };
            }
            cut = cut.saturating_sub(1).max(piece.start);
        }
        text = &text[..piece.start];
    }
    let (exact, room) = beside.unwrap_or_default();
    Near { at: text.len(), exact, room }
}

fn cut_to_end(encoding: Encoding, text: &str, max_tokens: usize) -> Near {
    if is_searched(encoding, text) {
        let kept = searched(encoding, cuts(text).rev().collect(), max_tokens, |cut| &text[cut..]);
        return Near { at: text.len() - kept.len(), exact: text.len(), room: max_tokens };
    }
    let Some(window) = window_too_much(encoding, text, max_tokens) else { return Near { at: 0, exact: 0, room: 0 } };
    let piece = last_too_much(encoding, window, max_tokens);
    let before = text.len() - window.len();
    let near = |cut: usize| Near { at: before + cut, exact: before + piece.end, room: piece.room };
    let mut cut = piece.end - widths(encoding, piece.tokens.iter().rev().take(piece.room));
    for _ in 0..TRIES {
        while !window.is_char_boundary(cut) {
            cut += 1;
        }
        if count_until(encoding, &window[cut..], max_tokens).is_some() {
            return near(cut);
        }
        cut = (cut + 1).min(piece.end);
    }
    // The border of a pretoken is exact from there on, because the patterns do not look behind.
    near(piece.end)
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
    use unicode_segmentation::UnicodeSegmentation;

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

    #[test]
    fn nothing_is_torn_that_a_reader_takes_for_one_character() {
        let texts = [
            "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466} \u{1f3f3}\u{fe0f}\u{200d}\u{1f308} ",
            "\u{1f1e9}\u{1f1ea}\u{1f1eb}\u{1f1f7}\u{1f1ef}\u{1f1f5}",
            "Vie\u{323}\u{302}t Nam Nguye\u{302}\u{303}n e\u{301}cole ",
            "\u{915}\u{94d}\u{937}\u{924}\u{94d}\u{930}\u{93f}\u{92f} \u{936}\u{94d}\u{930}\u{940}\u{92e}\u{93e}\u{928}\u{94d} ",
            "\u{e19}\u{e49}\u{e33}\u{e40}\u{e07}\u{e34}\u{e19}\u{e01}\u{e33}\u{e25}\u{e31}\u{e07}\u{e43}\u{e08} ",
            "\u{1112}\u{1161}\u{11ab}\u{1100}\u{1173}\u{11af}",
            "\u{1f44d}\u{1f3ff}\u{270c}\u{1f3fd}1\u{fe0f}\u{20e3}",
            "one line\r\n\r\nand one more\r\n",
        ];
        for encoding in Encoding::ALL {
            for text in texts.map(|text| text.repeat(12)) {
                let borders: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).chain([text.len()]).collect();
                for max_tokens in 0..70 {
                    let (head, tail) = (truncate_end(encoding, &text, max_tokens), truncate_start(encoding, &text, max_tokens));
                    let fits = |part: &str| count(encoding, part) <= max_tokens;
                    let longest_head = borders.iter().rev().find(|at| fits(&text[..**at])).copied().unwrap_or(0);
                    let longest_tail = borders.iter().find(|at| fits(&text[**at..])).map_or(0, |at| text.len() - at);
                    assert!(fits(head) && fits(tail));
                    assert!(longest_head == 0 || borders.contains(&head.len()), "{encoding:?}: {head:?} for {max_tokens}");
                    assert!(longest_tail == 0 || borders.contains(&(text.len() - tail.len())), "{encoding:?}: {tail:?} for {max_tokens}");
                    let least = if text.is_ascii() { 3 } else { 0 };
                    assert!(head.len() + least >= longest_head, "{encoding:?}: {head:?} for {max_tokens}, and {:?}", &text[..longest_head]);
                    assert!(tail.len() + least >= longest_tail, "{encoding:?}: {tail:?} for {max_tokens}, and {longest_tail} bytes");
                }
            }
        }
        let family = texts[0].split(' ').next().unwrap();
        let (head, tail) = (truncate_end(Encoding::O200k, family, 3), truncate_start(Encoding::O200k, family, 3));
        assert!(!head.is_empty() && !tail.is_empty() && head.len() < family.len(), "one that is too long alone is cut: {head:?} {tail:?}");
    }

    /// A million characters that are one cluster, and a million of which none is known to be one before all are counted. In quadratic time it
    /// would not end.
    #[test]
    fn a_text_of_nothing_but_marks_is_cut() {
        for text in ["\u{301}", "\u{1f1e9}", "\u{915}\u{94d}", "\u{1f469}\u{200d}"].map(|one| one.repeat(1_000_000)) {
            for part in [truncate_end(Encoding::O200k, &text, 1_000), truncate_start(Encoding::O200k, &text, 1_000)] {
                assert!((990..=1_000).contains(&count(Encoding::O200k, part)), "{:?}", text.chars().next());
            }
        }
    }
}
