//! The cut: where the window of history begins. It moves in steps, so that between two steps a prompt only grows at its end.
//!
//! For a limit: `G` tokens are history's grant, `S = floor(cut_step * G)`, `E` the stored tokens from the origin through the
//! newest message. `k = max(0, ceil((E - G) / S))`, and the window starts at the first turn at or after `k * S`. So history
//! holds at most `G`, and once cut more than `G - S`, less one turn. If no turn starts there, the newest turn is larger than
//! its place: its user message stays and the same rule, with what that message leaves of `G`, counts its rounds; the last
//! round always stays. With `S = 0` the window slides: it starts at the first turn (or round) that fits.
//!
//! Where the first turn at or after `k * S` starts more than `S` behind it, or is the newest, the turn before is not left out whole: it is
//! *parted*. Its user message stays, and its rounds are counted like those of the newest turn. Of a user message that is too long for
//! that, the beginning and the end are shown. So the answer that the user refers to next is there, however much came before it.
//!
//! A compaction may end inside of a turn: the origin is one of its rounds then. Its user message stays before that round, whatever the
//! summary says of it, and its tokens count as stored ones. It stays where the messages behind the origin were taken back, too.
//!
//! The start is found by galloping back from the newest turn over the stored sums: O(log window) look-ups. It does not know
//! what the volatile sections hold, and must not: the prefix would depend on it.

use std::ops::Range;
use std::sync::Arc;

use super::history::{History, Stored};
use super::turns::{ends_in_answer, opens_round};
use crate::Result;

/// The numbers of the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grid {
    /// The first message that counts: 0, or after compaction or a model switch the first that was kept.
    pub origin: u64,
    /// `G`.
    pub grant: u64,
    /// `S`; 0 slides.
    pub step: u64,
    /// Newest rounds of the newest turn that stay where they fit.
    pub rounds: u64,
    /// Whether a large turn may be parted. Epochs of older renderers left it out.
    pub parts_turns: bool,
    /// Whether a turn that `origin` lies in keeps its user message. In epochs of older renderers it does not.
    pub keeps_heads: bool,
}

/// Tokens that the beginning and the end of a user message have, where it is too long to be shown whole before the rounds of its turn.
pub(super) const OPENING_TOKENS: u64 = 256;

/// The beginning of a window, identical for as long as its epoch: the epoch records it, and a change of it begins the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cut {
    /// The first message of the window.
    pub start: u64,
    /// Where its first turn goes on after its user message, if rounds between were left out.
    pub resume: Option<u64>,
    /// Whether that user message is shown by its beginning and its end alone.
    pub shortened: bool,
}

/// The window of history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Its beginning.
    pub cut: Cut,
    /// `k`.
    pub steps: u64,
    /// Its first turn.
    pub first_turn: u64,
    /// The messages: all from the start, or the user message of its first turn and what stays behind it. The first part is empty where that
    /// message is too long to be shown whole.
    pub parts: [Range<u64>; 2],
    /// Tokens of those messages, interrupted results included.
    pub tokens: u64,
    /// `E`.
    pub stored_tokens: u64,
    /// The line that stands for the messages that were left out before the second part.
    pub rounds: Option<Arc<Stored>>,
}

impl Window {
    /// The messages of its first turn that it leaves out.
    #[must_use]
    pub fn left_out(&self) -> Range<u64> {
        if self.cut.resume.is_some() { self.parts[0].end..self.parts[1].start } else { 0..0 }
    }
}

impl Grid {
    /// Finds the window. `pending` are the tokens of results rendered for calls that are still open
    /// ([`super::turns::Tally::pending_tokens`]).
    pub fn window(&self, history: &dyn History, pending: u64) -> Result<Window> {
        let end = history.messages();
        if end <= self.origin {
            return self.before_origin(history, pending);
        }
        let base = history.tokens_before(self.origin)?;
        let total = history.tokens_before(end)? + pending;
        let opening = self.opening(history)?;
        let head_tokens = opening.as_ref().map_or(Ok(0), |(_, head)| tokens_of(history, head))?;
        let stored = total.saturating_sub(base) + head_tokens;
        let (steps, offset) = self.offset(stored, self.grant);
        if let Some((first_turn, head)) = opening.filter(|_| offset == 0) {
            let cut = Cut { start: head.start, resume: Some(self.origin), shortened: false };
            let parts = [head, self.origin..end];
            return Ok(Window { cut, steps, first_turn, parts, tokens: stored, stored_tokens: stored, rounds: None });
        }
        match first_turn(history, self.origin, base + offset)? {
            Some((turn, start)) => {
                if let Some(window) = self.parted(history, (turn, start), base + offset, total)? {
                    return Ok(Window { steps, stored_tokens: stored, ..window });
                }
                let tokens = total - history.tokens_before(start)?;
                let cut = Cut { start, ..Cut::default() };
                Ok(Window { cut, steps, first_turn: turn, parts: [start..end, end..end], tokens, stored_tokens: stored, rounds: None })
            }
            None => Ok(Window { steps, stored_tokens: stored, ..self.newest_turn(history, total)? }),
        }
    }

    /// The turn that the origin lies in, and its user message, where the origin is one of its rounds.
    fn opening(&self, history: &dyn History) -> Result<Option<(u64, Range<u64>)>> {
        if self.keeps_heads { opening(history, self.origin) } else { Ok(None) }
    }

    /// The window that begins inside of the turn before `next`, where that is not to be left out whole; `target` tokens are skipped at least.
    fn parted(&self, history: &dyn History, next: (u64, u64), target: u64, total: u64) -> Result<Option<Window>> {
        let (turn, end) = next;
        let spare = if self.step == 0 { self.grant / 4 } else { self.step };
        let Some(first_turn) = turn.checked_sub(1).filter(|_| self.parts_turns) else { return Ok(None) };
        if turn + 1 < history.turns() && history.tokens_before(end)?.saturating_sub(target) <= spare {
            return Ok(None);
        }
        let start = history.turn_start(first_turn)?;
        if end <= self.origin || start < self.origin && !self.keeps_heads {
            return Ok(None);
        }
        let head = head_of(history, start, end)?;
        let (whole, from) = (tokens_of(history, &head)?, head.end.max(self.origin));
        for (shown, head_tokens) in [(head.clone(), whole), (head.start..head.start, OPENING_TOKENS.min(whole))] {
            let room = self.grant.saturating_sub(head_tokens);
            let (_, offset) = self.offset(total - history.tokens_before(self.origin)?, room);
            let target = history.tokens_before(self.origin)? + offset;
            let resume = first_round(history, from..end, target)?.unwrap_or(end);
            let tokens = total - history.tokens_before(resume)?;
            if head_tokens + tokens > self.grant {
                continue;
            }
            let (shown_tokens, is_whole) = if shown.is_empty() { (0, false) } else { (whole, resume == head.end) };
            let cut = Cut { start: head.start, resume: (!is_whole).then_some(resume), shortened: shown.is_empty() };
            let tokens = shown_tokens + tokens;
            let parts = [shown, resume..history.messages()];
            return Ok(Some(Window { cut, steps: 0, first_turn, parts, tokens, stored_tokens: 0, rounds: None }));
        }
        Ok(None)
    }

    /// `k`, and the tokens that are skipped at least.
    fn offset(&self, stored: u64, grant: u64) -> (u64, u64) {
        let over = stored.saturating_sub(grant);
        if self.step == 0 {
            return (0, over);
        }
        let steps = over.div_ceil(self.step);
        (steps, steps.saturating_mul(self.step))
    }

    /// The window of a transcript that ends at the origin: the user message of a turn that was compacted to its last round, and goes on.
    /// Else it is empty.
    fn before_origin(&self, history: &dyn History, pending: u64) -> Result<Window> {
        let end = history.messages();
        let newest = history.turns().checked_sub(1).filter(|_| self.keeps_heads && end == self.origin);
        let Some(turn) = newest else { return Ok(self.empty(history.turns())) };
        let head = head_of(history, history.turn_start(turn)?, end)?;
        if head.is_empty() || ends_in_answer(history, end)? {
            return Ok(self.empty(history.turns()));
        }
        let tokens = tokens_of(history, &head)? + pending;
        let cut = Cut { start: head.start, resume: (head.end < end).then_some(end), shortened: false };
        Ok(Window { cut, steps: 0, first_turn: turn, parts: [head, end..end], tokens, stored_tokens: tokens, rounds: None })
    }

    fn empty(&self, turns: u64) -> Window {
        let cut = Cut { start: self.origin, ..Cut::default() };
        let none = self.origin..self.origin;
        Window { cut, steps: 0, first_turn: turns, parts: [none.clone(), none], tokens: 0, stored_tokens: 0, rounds: None }
    }

    /// The newest turn's user message, and of its rounds those the rule keeps.
    fn newest_turn(&self, history: &dyn History, total: u64) -> Result<Window> {
        let (end, turn) = (history.messages(), history.turns() - 1);
        let start = history.turn_start(turn)?;
        let head = head_of(history, if self.keeps_heads { start } else { start.max(self.origin) }, end)?;
        let (head_tokens, from) = (tokens_of(history, &head)?, head.end.max(self.origin));
        let room = self.grant.saturating_sub(head_tokens);
        let before_rounds = history.tokens_before(from)?;
        let (_, offset) = self.offset(total - before_rounds, room);
        let by_rule = first_round(history, from..end, before_rounds + offset)?.unwrap_or(from);
        let resume = self.newest_rounds(history, from..by_rule, total, room)?;
        let tokens = head_tokens + total - history.tokens_before(resume)?;
        let cut = Cut { start: head.start, resume: (resume > head.end).then_some(resume), shortened: resume > head.end && head.is_empty() };
        Ok(Window { cut, steps: 0, first_turn: turn, parts: [head, resume..end], tokens, stored_tokens: 0, rounds: None })
    }

    /// Where the rounds begin that stay: where the rule says, or so far before it that as many stay as are wanted and fit `room`.
    pub(crate) fn newest_rounds(&self, history: &dyn History, left_out: Range<u64>, total: u64, room: u64) -> Result<u64> {
        let opens = |index: u64| Ok::<_, crate::Error>(opens_round(&history.message(index)?.message));
        let (mut resume, mut kept) = (left_out.end, 0);
        for index in (left_out.end..history.messages()).rev().take_while(|_| self.rounds > 1) {
            kept += u64::from(opens(index)?);
        }
        for index in left_out.rev().take_while(|_| self.rounds > 1) {
            if kept >= self.rounds || total - history.tokens_before(index)? > room {
                break;
            }
            if opens(index)? {
                (resume, kept) = (index, kept + 1);
            }
        }
        Ok(resume)
    }
}

/// Where history begins after a change of the counter (a model switch): the oldest turn from which on everything fits `grant`, and
/// at least the newest one and the one before, which the window parts. `recount` counts a message anew; it is asked from the newest back
/// and no further than what fits.
pub fn origin_within(history: &dyn History, grant: u64, recount: &mut dyn FnMut(u64) -> Result<u64>) -> Result<u64> {
    let (mut end, mut left, mut origin) = (history.messages(), Some(grant), history.messages());
    for turn in (0..history.turns()).rev() {
        let start = history.turn_start(turn)?;
        for index in (start..end).rev() {
            let tokens = recount(index)?;
            left = left.and_then(|left| left.checked_sub(tokens));
            if left.is_none() && turn + 1 < history.turns() {
                let newest_alone = turn + 2 == history.turns();
                return Ok(if newest_alone { start } else { origin });
            }
        }
        (end, origin) = (start, start);
    }
    Ok(origin)
}

/// The turn that message `origin` lies in, and its user message, where that is left out before one of its rounds.
fn opening(history: &dyn History, origin: u64) -> Result<Option<(u64, Range<u64>)>> {
    if origin == 0 || origin >= history.messages() {
        return Ok(None);
    }
    let Some(turn) = history.turn_around(origin)? else { return Ok(None) };
    let head = head_of(history, history.turn_start(turn)?, origin)?;
    Ok(Some((turn, head)).filter(|(_, head)| !head.is_empty() && head.end < origin))
}

/// Tokens of the messages from `origin` on, and of the user message of the turn that it lies in.
pub(crate) fn tokens_from(history: &dyn History, origin: u64) -> Result<u64> {
    let head = opening(history, origin)?.map_or(Ok(0), |(_, head)| tokens_of(history, &head))?;
    Ok(head + history.tokens_before(history.messages())?.saturating_sub(history.tokens_before(origin)?))
}

/// Tokens of the messages of a range.
pub(crate) fn tokens_of(history: &dyn History, range: &Range<u64>) -> Result<u64> {
    if range.is_empty() {
        return Ok(0);
    }
    let (before, until) = (history.tokens_before(range.start)?, history.tokens_before(range.end)?);
    if until > before {
        return Ok(until - before);
    }
    // Version 0.19.0 counted a session that was taken back to its origin from there on, and not what stands before it.
    range.clone().map(|index| Ok(history.message(index)?.cost.tokens)).sum()
}

/// The user message of the turn that starts at `start`, with what follows it before the first round.
pub(crate) fn head_of(history: &dyn History, start: u64, end: u64) -> Result<Range<u64>> {
    let mut user = None;
    for index in start..end {
        let stored = history.message(index)?;
        match user {
            None if stored.message.opens_turn() => user = Some(index),
            Some(user) if opens_round(&stored.message) => return Ok(user..index),
            _ => {}
        }
    }
    Ok(user.map_or(start..start, |user| user..end))
}

/// The first turn from `origin` on with at least `target` tokens before it, and its start.
fn first_turn(history: &dyn History, origin: u64, target: u64) -> Result<Option<(u64, u64)>> {
    let turns = history.turns();
    let fits = |turn: u64| -> Result<bool> {
        let start = history.turn_start(turn)?;
        Ok(start >= origin && history.tokens_before(start)? >= target)
    };
    if let Some(likely) = history.likely_turn().filter(|likely| *likely < turns)
        && fits(likely)?
        && (likely == 0 || !fits(likely - 1)?)
    {
        return Ok(Some((likely, history.turn_start(likely)?)));
    }
    let (mut low, mut high, mut stride) = (0, turns, 1);
    while high > 0 && fits(turns.saturating_sub(stride))? {
        high = turns.saturating_sub(stride);
        stride *= 2;
    }
    low = low.max(turns.saturating_sub(stride));
    while low < high {
        let middle = low + (high - low) / 2;
        if fits(middle)? { high = middle } else { low = middle + 1 }
    }
    if high == turns { Ok(None) } else { Ok(Some((high, history.turn_start(high)?))) }
}

/// The first round in `range` with at least `target` tokens before it, or else the last one; `None` where it has none.
pub(crate) fn first_round(history: &dyn History, range: Range<u64>, target: u64) -> Result<Option<u64>> {
    let (mut low, mut high) = (range.start, range.end);
    while low < high {
        let middle = low + (high - low) / 2;
        if history.tokens_before(middle)? >= target { high = middle } else { low = middle + 1 }
    }
    for index in (low..range.end).chain((range.start..low).rev()) {
        if opens_round(&history.message(index)?.message) {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

#[cfg(test)]
#[path = "cut_tests.rs"]
mod tests;
