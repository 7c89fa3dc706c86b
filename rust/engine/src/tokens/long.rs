//! The tokens of a long pretoken (a line of Chinese, base64, a million spaces), in time linear in its length.
//!
//! A sequence of tokens is what merging gives if and only if every two neighbours are ([`super::backtrack`]). So the piece is
//! merged window by window: tokens that end well inside a window are kept, the next window starts behind them, and the two tokens that
//! meet there are checked. A text that repeats the last token needs no merging, only that check. Where two tokens do not fit,
//! or a window is all one token, a larger window follows; where that does not do (no text is known that gets there), the
//! piece is left to `backtrack`, which is slower and linear for every input.

use super::backtrack::{self, stay_apart};
use super::merge;
use super::vocabulary::Vocabulary;
use crate::interrupt::Steps;

/// The usual window.
const WINDOW: usize = merge::MAX_PIECE;
/// The largest: two of the longest tokens.
const MAX_WINDOW: usize = 4 * WINDOW;

/// Appends the tokens of `text[start..end]`.
pub(super) fn encode(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize, tokens: &mut Vec<u32>) {
    let floor = tokens.len();
    let mut piece = Piece { vocabulary, text, at: start, end, floor, tokens };
    if !piece.merge_windows() {
        tokens.truncate(floor);
        backtrack::encode(vocabulary, text, start, end, tokens);
    }
}

/// A piece of which `tokens[floor..]` spell what stands before `at`, and are what merging that gives.
struct Piece<'a> {
    vocabulary: &'a Vocabulary,
    text: &'a [u8],
    at: usize,
    end: usize,
    floor: usize,
    tokens: &'a mut Vec<u32>,
}

/// The outcome of a window.
enum Outcome {
    Kept,
    /// It is one token, or ends in one that is most of it.
    TooSmall,
    /// Its first token does not fit the one before.
    Misfit,
}

impl Piece<'_> {
    /// All windows to the end; `false` if the largest window did not do.
    fn merge_windows(&mut self) -> bool {
        let (mut window, mut may_repeat, mut steps) = (WINDOW, true, Steps::default());
        while self.at < self.end {
            steps.reach(self.at);
            match self.merge_window(window) {
                Outcome::Kept if may_repeat => self.repeat(),
                Outcome::Kept => {}
                _ if window == MAX_WINDOW => return false,
                Outcome::TooSmall => window = MAX_WINDOW,
                Outcome::Misfit => {
                    (window, may_repeat) = (MAX_WINDOW, false);
                    self.undo_to(self.at.saturating_sub(WINDOW), self.floor);
                }
            }
        }
        true
    }

    /// Merges one window and keeps what ends well inside it.
    fn merge_window(&mut self, window: usize) -> Outcome {
        let (kept, stop) = (self.tokens.len(), self.end.min(self.at + window));
        if window == MAX_WINDOW {
            merge::encode::<MAX_WINDOW>(self.vocabulary, self.text, self.at, stop, self.tokens);
        } else {
            merge::encode::<WINDOW>(self.vocabulary, self.text, self.at, stop, self.tokens);
        }
        if kept > self.floor && !stay_apart(self.vocabulary, self.text, self.at, self.tokens[kept - 1], self.tokens[kept]) {
            self.tokens.truncate(kept);
            return Outcome::Misfit;
        }
        self.at = stop;
        if stop < self.end {
            self.undo_to(stop - window / 4, kept);
        }
        if self.tokens.len() > kept { Outcome::Kept } else { Outcome::TooSmall }
    }

    /// Takes back tokens, but for the first `keep`, until they end at `position` or before.
    fn undo_to(&mut self, position: usize, keep: usize) {
        while self.at > position && self.tokens.len() > keep {
            self.at -= self.tokens.pop().map_or(0, |id| self.vocabulary.width(id));
        }
    }

    /// Takes the last token again as often as the text repeats it, if two of it fit.
    fn repeat(&mut self) {
        let Some(&last) = self.tokens.last() else { return };
        let spelling = self.vocabulary.spelling(last);
        let mut rest = &self.text[self.at..self.end];
        if !rest.starts_with(spelling) || !stay_apart(self.vocabulary, self.text, self.at, last, last) {
            return;
        }
        while let Some(behind) = rest.strip_prefix(spelling) {
            self.tokens.push(last);
            rest = behind;
        }
        self.at = self.end - rest.len();
    }
}
