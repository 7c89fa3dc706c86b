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
//! The start is found by galloping back from the newest turn over the stored sums: O(log window) look-ups. It does not know
//! what the volatile sections hold, and must not: the prefix would depend on it.

use std::ops::Range;
use std::sync::Arc;

use super::history::{History, Stored};
use super::turns::opens_round;
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
            return Ok(self.empty(history.turns()));
        }
        let base = history.tokens_before(self.origin)?;
        let total = history.tokens_before(end)? + pending;
        let stored = total.saturating_sub(base);
        let (steps, offset) = self.offset(stored, self.grant);
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

    /// The window that begins inside of the turn before `next`, where that is not to be left out whole; `target` tokens are skipped at least.
    fn parted(&self, history: &dyn History, next: (u64, u64), target: u64, total: u64) -> Result<Option<Window>> {
        let (turn, end) = next;
        let spare = if self.step == 0 { self.grant / 4 } else { self.step };
        let Some(first_turn) = turn.checked_sub(1).filter(|_| self.parts_turns) else { return Ok(None) };
        if turn + 1 < history.turns() && history.tokens_before(end)?.saturating_sub(target) <= spare {
            return Ok(None);
        }
        let start = history.turn_start(first_turn)?;
        if start < self.origin {
            return Ok(None);
        }
        let head = head_of(history, start, end)?;
        let whole = history.tokens_before(head.end)? - history.tokens_before(head.start)?;
        for (shown, head_tokens) in [(head.clone(), whole), (head.start..head.start, OPENING_TOKENS.min(whole))] {
            let room = self.grant.saturating_sub(head_tokens);
            let (_, offset) = self.offset(total - history.tokens_before(self.origin)?, room);
            let target = history.tokens_before(self.origin)? + offset;
            let resume = first_round(history, head.end..end, target)?.unwrap_or(end);
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

    fn empty(&self, turns: u64) -> Window {
        let cut = Cut { start: self.origin, ..Cut::default() };
        let none = self.origin..self.origin;
        Window { cut, steps: 0, first_turn: turns, parts: [none.clone(), none], tokens: 0, stored_tokens: 0, rounds: None }
    }

    /// The newest turn's user message, and of its rounds those the rule keeps.
    fn newest_turn(&self, history: &dyn History, total: u64) -> Result<Window> {
        let (end, turn) = (history.messages(), history.turns() - 1);
        let head = head_of(history, history.turn_start(turn)?.max(self.origin), end)?;
        let before_rounds = history.tokens_before(head.end)?;
        let head_tokens = before_rounds - history.tokens_before(head.start)?;
        let (_, offset) = self.offset(total - before_rounds, self.grant.saturating_sub(head_tokens));
        let by_rule = first_round(history, head.end..end, before_rounds + offset)?.unwrap_or(head.end);
        let room = self.grant.saturating_sub(head_tokens);
        let resume = self.newest_rounds(history, head.end..by_rule, total, room)?;
        let tokens = head_tokens + total - history.tokens_before(resume)?;
        let cut = Cut { start: head.start, resume: (resume > head.end).then_some(resume), shortened: resume > head.end && head.is_empty() };
        Ok(Window { cut, steps: 0, first_turn: turn, parts: [head, resume..end], tokens, stored_tokens: 0, rounds: None })
    }

    /// Where the rounds begin that stay: where the rule says, or so far before it that as many stay as are wanted and fit `room`.
    fn newest_rounds(&self, history: &dyn History, left_out: Range<u64>, total: u64, room: u64) -> Result<u64> {
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

/// The user message of the turn that starts at `start`, with what follows it before the first round.
fn head_of(history: &dyn History, start: u64, end: u64) -> Result<Range<u64>> {
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
fn first_round(history: &dyn History, range: Range<u64>, target: u64) -> Result<Option<u64>> {
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
mod tests {
    use super::super::framing::Framing;
    use super::super::history::Transcript;
    use super::super::message::{Message, Part, Role, ToolCall};
    use super::super::testing::{Random, WordCounter, words};
    use super::*;
    use crate::tokens::Counter;

    const FRAMING: Framing = Framing::GPT_4O;

    fn push(transcript: &mut Transcript, message: Message) {
        transcript.push(message, &FRAMING, &WordCounter).unwrap();
    }

    fn call(id: &str) -> Message {
        let call = ToolCall { id: id.into(), name: "f".into(), arguments: "{}".into(), custom: false };
        Message { role: Role::Assistant, name: None, parts: vec![Part::ToolCall(call)] }
    }

    /// A transcript of plain turns and turns with tool rounds.
    fn transcript(random: &mut Random, turns: u64) -> Transcript {
        let mut transcript = Transcript::default();
        for turn in 0..turns {
            push(&mut transcript, Message::text(Role::User, &words(1 + random.below(40))));
            for round in 0..random.below(4) {
                let id = format!("{turn}-{round}");
                push(&mut transcript, call(&id));
                if random.chance(80) {
                    push(&mut transcript, Message::tool_result(&id, &words(random.below(60)), false));
                }
            }
            if random.chance(90) {
                push(&mut transcript, Message::text(Role::Assistant, &words(random.below(40))));
            }
        }
        transcript
    }

    /// The rule word by word: every turn, from the first.
    fn naive(grid: Grid, history: &Transcript, pending: u64) -> Option<u64> {
        let base = history.tokens_before(grid.origin).unwrap();
        let stored = history.tally().tokens + pending - base;
        let k = if stored > grid.grant { (stored - grid.grant).div_ceil(grid.step) } else { 0 };
        (0..history.turns())
            .map(|turn| history.turn_start(turn).unwrap())
            .find(|start| *start >= grid.origin && history.tokens_before(*start).unwrap() >= base + k * grid.step)
    }

    #[test]
    fn the_gallop_finds_what_the_rule_says() {
        let mut random = Random::new(3);
        for _ in 0..2_000 {
            let turns = 1 + random.below(30);
            let history = transcript(&mut random, turns);
            let origin = history.turn_start(random.below(history.turns())).unwrap();
            let grant = 1 + random.below(2_000);
            let grid = Grid { origin, grant, step: (grant / 4).max(1), rounds: 1, parts_turns: false };
            let pending = history.tally().pending_tokens(&FRAMING, &WordCounter);
            let window = grid.window(&history, pending).unwrap();
            if let Some(start) = naive(grid, &history, pending) {
                assert_eq!(window.cut, Cut { start, ..Cut::default() });
                assert!(window.tokens <= grant);
            } else {
                assert_eq!(window.first_turn, history.turns() - 1);
            }
        }
    }

    /// A transcript whose window began at a turn before.
    struct Before<'t>(&'t Transcript, u64);

    impl History for Before<'_> {
        fn messages(&self) -> u64 {
            self.0.messages()
        }

        fn turns(&self) -> u64 {
            self.0.turns()
        }

        fn turn_start(&self, turn: u64) -> Result<u64> {
            self.0.turn_start(turn)
        }

        fn tokens_before(&self, index: u64) -> Result<u64> {
            self.0.tokens_before(index)
        }

        fn likely_turn(&self) -> Option<u64> {
            Some(self.1)
        }

        fn message(&self, index: u64) -> Result<Arc<Stored>> {
            self.0.message(index)
        }

        fn kept_block(&self, turn: u64) -> Result<Option<Arc<crate::context::Block>>> {
            self.0.kept_block(turn)
        }
    }

    #[test]
    fn wherever_the_last_window_began_this_one_begins_where_the_rule_says() {
        let mut random = Random::new(8);
        for _ in 0..500 {
            let turns = 1 + random.below(30);
            let history = transcript(&mut random, turns);
            let origin = history.turn_start(random.below(history.turns())).unwrap();
            let grant = 1 + random.below(2_000);
            let grid = Grid { origin, grant, step: (grant / 4).max(1), rounds: 1, parts_turns: false };
            let expected = grid.window(&history, 0).unwrap();
            for before in 0..=turns {
                assert_eq!(grid.window(&Before(&history, before), 0).unwrap(), expected, "{before} of {turns}");
            }
        }
    }

    #[test]
    fn once_cut_history_holds_more_than_a_step_less_than_its_grant_less_one_turn() {
        let mut random = Random::new(4);
        for _ in 0..2_000 {
            let turns = 5 + random.below(60);
            let history = transcript(&mut random, turns);
            let grant = 500 + random.below(2_000);
            let grid = Grid { origin: 0, grant, step: grant / 4, rounds: 1, parts_turns: false };
            let window = grid.window(&history, 0).unwrap();
            if window.steps == 0 || window.cut.resume.is_some() {
                continue;
            }
            let largest = (0..history.turns()).map(|turn| turn_tokens(&history, turn)).max().unwrap();
            assert!(window.tokens + largest > grant - grid.step, "{} of {grant}", window.tokens);
        }
    }

    fn turn_tokens(history: &Transcript, turn: u64) -> u64 {
        let start = history.tokens_before(history.turn_start(turn).unwrap()).unwrap();
        let next = history.turn_start(turn + 1).map_or(history.tally().tokens, |next| history.tokens_before(next).unwrap());
        next - start
    }

    #[test]
    fn a_turn_larger_than_its_place_is_cut_at_rounds() {
        let mut random = Random::new(5);
        for _ in 0..500 {
            let mut history = transcript(&mut random, 2);
            push(&mut history, Message::text(Role::User, &words(10)));
            let user = history.messages() - 1;
            for round in 0..=random.below(30) {
                let id = format!("r{round}");
                push(&mut history, call(&id));
                push(&mut history, Message::tool_result(&id, &words(random.below(100)), false));
                let grid = Grid { origin: 0, grant: 400, step: 100, rounds: 1, parts_turns: false };
                let window = grid.window(&history, 0).unwrap();
                assert!(window.tokens <= 400, "every round is at most 210");
                let Some(resume) = window.cut.resume else { continue };
                assert_eq!(window.parts, [user..user + 1, resume..history.messages()]);
                assert!(opens_round(&history.message(resume).unwrap().message));
            }
        }
    }

    #[test]
    fn a_parted_window_fits_and_holds_the_last_answer_where_there_is_room() {
        let (mut random, mut parted, mut shortened) = (Random::new(12), 0, 0);
        for _ in 0..3_000 {
            let turns = 1 + random.below(6);
            let mut history = transcript(&mut random, turns);
            push(&mut history, Message::text(Role::User, &words(1 + random.below(600))));
            for round in 0..random.below(6) {
                push(&mut history, call(&format!("r{round}")));
                push(&mut history, Message::tool_result(&format!("r{round}"), &words(random.below(300)), false));
            }
            push(&mut history, Message::text(Role::Assistant, &words(1 + random.below(40))));
            let answer = history.messages() - 1;
            push(&mut history, Message::text(Role::User, &words(1 + random.below(300))));
            let grant = 300 + random.below(900);
            let grid = Grid { origin: 0, grant, step: grant / 4, rounds: 1, parts_turns: true };
            let window = grid.window(&history, 0).unwrap();
            let newest = history.tally().tokens - history.tokens_before(answer + 1).unwrap();
            let with_answer = history.tally().tokens - history.tokens_before(answer).unwrap();
            assert!(window.tokens <= grant.max(newest), "{} of {grant}", window.tokens);
            if with_answer + OPENING_TOKENS <= grant {
                assert!(window.parts.iter().any(|part| part.contains(&answer)), "{window:?} of {grant}");
            }
            if window.first_turn + 1 < history.turns() && window.cut.resume.is_some() {
                (parted, shortened) = (parted + 1, shortened + u64::from(window.cut.shortened));
                assert!(opens_round(&history.message(window.parts[1].start).unwrap().message) || window.cut.shortened);
                assert_eq!(window.left_out(), window.parts[0].end..window.parts[1].start);
            }
        }
        assert!(parted > 300 && shortened > 30, "{parted}, {shortened}");
    }

    #[test]
    fn windows_with_the_same_cut_begin_alike_however_they_grow() {
        let (mut random, mut alike, mut turned) = (Random::new(13), 0, 0);
        for _ in 0..400 {
            let mut history = transcript(&mut random, 2);
            let grant = 300 + random.below(900);
            let grid = Grid { origin: 0, grant, step: grant / 4, rounds: 1, parts_turns: true };
            let mut before: Option<Window> = None;
            for round in 0..12 {
                if random.chance(30) {
                    push(&mut history, Message::text(Role::User, &words(1 + random.below(400))));
                } else {
                    push(&mut history, call(&format!("c{round}")));
                    push(&mut history, Message::tool_result(&format!("c{round}"), &words(random.below(300)), false));
                }
                let window = grid.window(&history, 0).unwrap();
                if let Some(before) = before.filter(|before| before.cut == window.cut && window.cut.resume.is_some()) {
                    assert_eq!((&before.parts[0], before.parts[1].start), (&window.parts[0], window.parts[1].start), "{grid:?}");
                    alike += 1;
                    turned += u64::from(window.cut.shortened);
                }
                before = Some(window);
            }
        }
        assert!(alike > 50 && turned > 5, "{alike}, {turned}");
    }

    #[test]
    fn an_origin_is_found_by_recounting_what_fits() {
        let mut random = Random::new(6);
        for _ in 0..500 {
            let turns = 1 + random.below(20);
            let history = transcript(&mut random, turns);
            let grant = random.below(1_500);
            let mut asked = 0;
            let mut recount = |index: u64| {
                asked += 1;
                Ok(history.message(index)?.cost.tokens * 2)
            };
            let origin = origin_within(&history, grant, &mut recount).unwrap();
            let from = |start: u64| (start..history.messages()).map(|index| history.message(index).unwrap().cost.tokens * 2).sum::<u64>();
            let starts = (0..history.turns()).map(|turn| history.turn_start(turn).unwrap());
            let newest = history.turn_start(history.turns() - 1).unwrap();
            let fitting = starts.clone().find(|start| from(*start) <= grant).unwrap_or(newest);
            let before_newest = history.turn_start(history.turns().saturating_sub(2)).unwrap();
            assert_eq!(origin, if fitting == newest { before_newest } else { fitting });
            let before = starts.filter(|start| *start < origin).max().unwrap_or(0);
            assert!(asked <= history.messages() - before, "no further than the first turn that does not fit");
        }
    }

    /// Counts how often the history is asked.
    struct Counted<'a>(&'a Transcript, std::cell::Cell<u64>);

    impl History for Counted<'_> {
        fn messages(&self) -> u64 {
            self.0.messages()
        }
        fn turns(&self) -> u64 {
            self.0.turns()
        }
        fn turn_start(&self, turn: u64) -> crate::Result<u64> {
            self.1.set(self.1.get() + 1);
            self.0.turn_start(turn)
        }
        fn tokens_before(&self, index: u64) -> crate::Result<u64> {
            self.1.set(self.1.get() + 1);
            self.0.tokens_before(index)
        }
        fn message(&self, index: u64) -> crate::Result<std::sync::Arc<super::super::history::Stored>> {
            self.1.set(self.1.get() + 1);
            self.0.message(index)
        }
        fn kept_block(&self, turn: u64) -> crate::Result<Option<std::sync::Arc<super::super::block::Block>>> {
            self.0.kept_block(turn)
        }
    }

    #[test]
    fn the_search_costs_the_logarithm_of_the_window() {
        let mut history = Transcript::default();
        let mut look_ups = Vec::new();
        for turn in 0..50_000 {
            push(&mut history, Message::text(Role::User, "word word"));
            if [999, 49_999].contains(&turn) {
                let counted = Counted(&history, std::cell::Cell::new(0));
                Grid { origin: 0, grant: 1_000, step: 250, rounds: 1, parts_turns: false }.window(&counted, 0).unwrap();
                look_ups.push(counted.1.get());
            }
        }
        assert!(look_ups.iter().all(|count| *count < 50), "{look_ups:?}");
        assert!(look_ups[1] <= look_ups[0] + 6, "flat in the length of the history: {look_ups:?}");
        assert!(WordCounter.count("word word") > 0);
    }
}
