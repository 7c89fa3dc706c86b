//! The tokens of a long pretoken (a line of Chinese, base64, a million spaces), in time linear in its length.
//!
//! A sequence of tokens is what merging gives if and only if every two neighbours are ([`super::backtrack`]). So the piece is
//! merged window by window: what ends well inside a window is kept, the next window starts behind it, and the two tokens that
//! meet there are checked. Where they do not fit, or a window is all one token, the window grows; where the largest does not
//! do (no text is known that gets there), the piece is left to `backtrack`, which is slower and linear for every input.

use super::backtrack::{self, stay_apart};
use super::merge;
use super::vocabulary::Vocabulary;

/// The largest window: more than two of the longest tokens.
const MAX_WINDOW: usize = 4 * merge::MAX_PIECE;

/// Appends the tokens of `text[start..end]`.
pub(super) fn encode(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize, tokens: &mut Vec<u32>) {
    let floor = tokens.len();
    let (mut at, mut window) = (start, merge::MAX_PIECE);
    while at < end {
        let kept = tokens.len();
        if let Some(next) = encode_window(vocabulary, text, at, end, window, floor, tokens) {
            at = next;
            continue;
        }
        if window == MAX_WINDOW {
            tokens.truncate(floor);
            return backtrack::encode(vocabulary, text, start, end, tokens);
        }
        window = MAX_WINDOW;
        tokens.truncate(kept);
        // The token before may be the wrong one.
        if kept > floor {
            at -= tokens.pop().map_or(0, |id| vocabulary.width(id));
        }
    }
}

/// Appends what of one window stays; gives its end, `None` if nothing can stay.
fn encode_window(
    vocabulary: &Vocabulary,
    text: &[u8],
    at: usize,
    end: usize,
    window: usize,
    floor: usize,
    tokens: &mut Vec<u32>,
) -> Option<usize> {
    let (kept, stop) = (tokens.len(), end.min(at + window));
    if window == MAX_WINDOW {
        merge::encode::<MAX_WINDOW>(vocabulary, text, at, stop, tokens);
    } else {
        merge::encode::<{ merge::MAX_PIECE }>(vocabulary, text, at, stop, tokens);
    }
    if kept > floor && !stay_apart(vocabulary, text, at, tokens[kept - 1], tokens[kept]) {
        return None;
    }
    if stop == end {
        return Some(end);
    }
    let mut next = stop;
    while next > stop - window / 4 && tokens.len() > kept {
        next -= tokens.pop().map_or(0, |id| vocabulary.width(id));
    }
    (tokens.len() > kept).then_some(next)
}
