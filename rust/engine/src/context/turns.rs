//! Turns and tool rounds: where a transcript may be cut, and which tool calls still wait.
//!
//! A turn begins at a user message and ends before the next one. Messages before the first user message belong to the
//! first turn. Within a turn an assistant message and the results of its calls are one unit, a *round*: results follow their
//! call directly, and any other message closes the calls that have none. They are then rendered with an "interrupted" result,
//! for ever, since the model may have seen it; a late result is refused. So no call is ever without its results and no result
//! without its call, wherever the window is cut.
//!
//! [`Tally`] is the running state: the store keeps it beside the session and pushes each message through it.

use super::framing::Framing;
use super::history::History;
use super::lower::kind_of;
use super::message::{Format, Message, Part, Role, ToolResult};
use crate::tokens::Counter;
use crate::{Error, ErrorKind, Result};

/// The text of a result that never came.
pub const INTERRUPTED: &str = "[interrupted: this call has no result]";

/// How the text of a result begins whose call was cancelled.
const CANCELLED: &str = "[cancelled: ";

/// How many ids of closed calls are remembered, to tell a late result from one that never had a call.
const CLOSED_KEPT: usize = 64;

/// The text of the result of a call that was cancelled. Brackets of a reason that are not in pairs become parentheses, so that all of it is
/// one bracket.
#[must_use]
pub fn cancelled(reason: &str) -> String {
    let text = format!("{CANCELLED}{reason}]");
    if is_one_bracket(&text) { text } else { format!("{CANCELLED}{}]", reason.replace('[', "(").replace(']', ")")) }
}

/// Whether a result says that its call was cancelled, and nothing else: a tool may begin its own text so. Version 0.19.0 and those before
/// stored reasons with brackets that are not in pairs.
#[must_use]
pub fn is_cancelled(result: &ToolResult) -> bool {
    let is_unpaired = |text: &str| text.ends_with(']') && text.matches('[').count() != text.matches(']').count();
    is_cancelled_in_pairs(result) || matches!(&result.parts[..], [Part::Text(text)] if text.starts_with(CANCELLED) && is_unpaired(text))
}

/// Whether a result says that its call was cancelled, as version 0.19.0 reads it.
#[must_use]
pub(super) fn is_cancelled_in_pairs(result: &ToolResult) -> bool {
    matches!(&result.parts[..], [Part::Text(text)] if text.starts_with(CANCELLED) && is_one_bracket(text))
}

/// Whether a result begins as one of a cancelled call.
#[must_use]
pub fn begins_as_cancelled(result: &ToolResult) -> bool {
    matches!(result.parts.first(), Some(Part::Text(text)) if text.starts_with(CANCELLED))
}

/// Whether the bracket that a text begins with is closed by its last character.
fn is_one_bracket(text: &str) -> bool {
    let mut depth = 0_u64;
    for (at, character) in text.char_indices() {
        match character {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1 == text.len() && at > 0;
        }
    }
    false
}

/// The result that is rendered for a call that has none.
#[must_use]
pub fn interrupted(call_id: &str) -> Message {
    Message::tool_result(call_id, INTERRUPTED, true)
}

/// Where a message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Its index in the session.
    pub index: u64,
    /// The number of its turn.
    pub turn: u64,
    /// It is the first of its turn.
    pub opens_turn: bool,
    /// Everything that is rendered before it: messages, kept blocks of former turns, interrupted results.
    pub tokens_before: u64,
}

/// The state of a transcript after its newest message. Every field is plain data for the store to keep.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Messages so far.
    pub messages: u64,
    /// Turns so far.
    pub turns: u64,
    /// Tokens of everything rendered so far, without results that are still open.
    pub tokens: u64,
    /// The newest turn has its user message.
    pub has_user: bool,
    /// An assistant message without calls stands behind that user message: the turn was answered, whatever follows.
    pub is_answered: bool,
    /// Ids of the newest round's calls that have no result, in the order of the calls.
    pub open: Vec<Box<str>>,
    /// Ids of the newest round's calls that have one.
    pub answered: Vec<Box<str>>,
    /// Ids that were closed without a result, newest last.
    pub closed: Vec<Box<str>>,
}

impl Tally {
    /// Places the next message. `tokens` is its count as it will be rendered ([`Framing::message`] of the guarded form).
    ///
    /// # Errors
    /// A result without its call is `InvalidInput`; one whose call was answered or closed is `ToolCallClosed`.
    pub fn push(&mut self, message: &Message, tokens: u64, framing: &Framing, counter: &dyn Counter) -> Result<Placed> {
        if message.tool_results().next().is_some() {
            self.answer(message)?;
        } else {
            self.close(framing, counter);
            self.open = message.tool_calls().map(|call| call.id.clone()).collect();
        }
        let opens_turn = self.turns == 0 || message.opens_turn() && self.has_user;
        self.turns += u64::from(opens_turn);
        self.has_user = self.has_user && !opens_turn || message.opens_turn();
        self.is_answered = !message.opens_turn() && (self.is_answered || answers_turn(message));
        let placed = Placed { index: self.messages, turn: self.turns - 1, opens_turn, tokens_before: self.tokens };
        self.messages += 1;
        self.tokens = self.tokens.saturating_add(tokens);
        Ok(placed)
    }

    /// Counts a volatile block that stays in its turn ([`super::block::stays`]); called before the next turn's user message.
    pub fn keep_block(&mut self, tokens: u64) {
        self.tokens = self.tokens.saturating_add(tokens);
    }

    /// Tokens of the results that would be rendered for calls that are still open.
    #[must_use]
    pub fn pending_tokens(&self, framing: &Framing, counter: &dyn Counter) -> u64 {
        self.open.iter().map(|id| framing.interrupted(id, counter)).sum()
    }

    /// The state before message `at`, for `rewind` and `fork`: messages that were pushed later are forgotten, and calls whose results came
    /// later are open again. Reads the messages of one round; ids that were closed earlier are not remembered.
    pub fn resume(history: &dyn History, at: u64, framing: &Framing, counter: &dyn Counter) -> Result<Self> {
        let turns = turns_before(history, at)?;
        let mut tally = Self { messages: at, turns, tokens: history.tokens_before(at)?, ..Self::default() };
        tally.has_user = turns > 1 || Self::any_user(history, at)?;
        tally.is_answered = is_answered(history, at)?;
        tally.reopen(history, at)?;
        if at < history.messages() && history.message(at)?.message.tool_results().next().is_none() {
            tally.tokens = tally.tokens.saturating_sub(tally.pending_tokens(framing, counter)); // an origin counts from 0
        }
        Ok(tally)
    }

    fn any_user(history: &dyn History, at: u64) -> Result<bool> {
        for index in 0..at {
            if history.message(index)?.message.opens_turn() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn reopen(&mut self, history: &dyn History, at: u64) -> Result<()> {
        for index in (0..at).rev() {
            let stored = history.message(index)?;
            let message = &stored.message;
            if message.tool_results().next().is_none() {
                self.open = message.tool_calls().map(|call| call.id.clone()).filter(|id| !self.answered.contains(id)).collect();
                return Ok(());
            }
            let mut results: Vec<_> = message.tool_results().map(|result| result.call_id.clone()).collect();
            results.append(&mut self.answered);
            self.answered = results;
        }
        Ok(())
    }

    /// Changes nothing where it refuses a result. One alone, which nearly all messages have, needs no copy of what waits.
    fn answer(&mut self, message: &Message) -> Result<()> {
        let mut results = message.tool_results();
        if let (Some(result), None) = (results.next(), results.next()) {
            let at = self.open.iter().position(|id| *id == result.call_id).ok_or_else(|| self.no_call(&result.call_id, &self.answered))?;
            self.answered.push(self.open.remove(at));
            return Ok(());
        }
        let mut open = self.open.clone();
        let mut answered = self.answered.clone();
        for result in message.tool_results() {
            match open.iter().position(|id| *id == result.call_id) {
                Some(at) => answered.push(open.remove(at)),
                None => return Err(self.no_call(&result.call_id, &answered)),
            }
        }
        (self.open, self.answered) = (open, answered);
        Ok(())
    }

    fn close(&mut self, framing: &Framing, counter: &dyn Counter) {
        self.tokens += self.pending_tokens(framing, counter);
        self.closed.append(&mut self.open);
        let surplus = self.closed.len().saturating_sub(CLOSED_KEPT);
        self.closed.drain(..surplus);
        self.answered.clear();
    }

    fn no_call(&self, id: &str, answered: &[Box<str>]) -> Error {
        let at = self.messages;
        let known = |ids: &[Box<str>]| ids.iter().any(|known| &**known == id);
        let (kind, got) = if known(answered) {
            (ErrorKind::ToolCallClosed, "one that already has a result")
        } else if known(&self.closed) {
            (ErrorKind::ToolCallClosed, "one that was closed without a result when the conversation went on")
        } else {
            (ErrorKind::InvalidInput, "one that no open call has")
        };
        let message = format!(
            "cannot add a tool result: its id must be that of an open call, got \"{id}\", {got} (message {at}, {} open): \
             add results before the next message, each once",
            self.open.len()
        );
        Error::new(kind, message).with("call_id", id).with("index", at as i64)
    }
}

/// Whether an assistant message without calls stands behind the last user message before `at`. Reads the messages of a turn.
pub(crate) fn is_answered<H: History + ?Sized>(history: &H, at: u64) -> Result<bool> {
    for index in (0..at).rev() {
        let stored = history.message(index)?;
        if stored.message.opens_turn() || answers_turn(&stored.message) {
            return Ok(!stored.message.opens_turn());
        }
    }
    Ok(false)
}

/// Whether the last that an assistant said before `at` answers the turn: rounds behind an earlier answer go on with it. Reads the messages
/// of a round.
pub(crate) fn ends_in_answer<H: History + ?Sized>(history: &H, at: u64) -> Result<bool> {
    for index in (0..at).rev() {
        let stored = history.message(index)?;
        if stored.message.opens_turn() || opens_round(&stored.message) {
            return Ok(answers_turn(&stored.message));
        }
    }
    Ok(false)
}

/// How many turns begin before message `at`.
fn turns_before(history: &dyn History, at: u64) -> Result<u64> {
    let (mut low, mut high) = (0, history.turns());
    while low < high {
        let middle = low + (high - low) / 2;
        if history.turn_start(middle)? < at { low = middle + 1 } else { high = middle }
    }
    Ok(low)
}

/// Whether a message begins a round: an assistant speaks.
#[must_use]
pub fn opens_round(message: &Message) -> bool {
    message.role == Role::Assistant
}

/// Whether a message ends the tool rounds of its turn: an assistant speaks, calls nothing, and did not pause.
pub(super) fn answers_turn(message: &Message) -> bool {
    opens_round(message) && message.tool_calls().next().is_none() && !is_paused(message)
}

/// Whether a reply ends in the call of a tool that Anthropic runs, without its result: the model paused there, and goes on where the next
/// request ends with that reply (`stop_reason: "pause_turn"`).
pub(crate) fn is_paused(message: &Message) -> bool {
    let own = message.parts.iter().rev().find_map(|part| match part {
        Part::Vendor { format: Format::Anthropic, raw } => {
            Some(kind_of(raw)).filter(|kind| kind.ends_with("_tool_use") || kind.ends_with("_tool_result"))
        }
        _ => None,
    });
    own.is_some_and(|kind| kind.ends_with("_tool_use"))
}

#[cfg(test)]
mod tests {
    use super::super::history::Transcript;
    use super::super::message::{Part, ToolCall};
    use super::super::testing::{Random, WordCounter, words};
    use super::*;

    const FRAMING: Framing = Framing::GPT_4O;

    fn message(random: &mut Random) -> Message {
        let id = |random: &mut Random| format!("c{}", random.below(4));
        match random.below(6) {
            0 => Message::text(Role::User, &words(random.below(9))),
            1 => Message::text(Role::System, "note"),
            2 => Message::text(Role::Assistant, &words(random.below(9))),
            3 => {
                let calls = (0..=random.below(2)).map(|n| ToolCall {
                    id: format!("c{n}").into(),
                    name: "f".into(),
                    arguments: "{}".into(),
                    custom: false,
                });
                Message { role: Role::Assistant, name: None, parts: calls.map(Part::ToolCall).collect() }
            }
            _ => Message::tool_result(&id(random), &words(random.below(9)), false),
        }
    }

    #[test]
    fn a_rewound_state_is_the_state_of_that_time() {
        let mut random = Random::new(61);
        for _ in 0..400 {
            let mut transcript = Transcript::default();
            let mut states = vec![Tally::default()];
            for _ in 0..25 {
                if transcript.push(message(&mut random), &FRAMING, &WordCounter).is_ok() {
                    states.push(transcript.tally().clone());
                }
            }
            for (at, state) in states.iter().enumerate() {
                let resumed = Tally::resume(&transcript, at as u64, &FRAMING, &WordCounter).unwrap();
                assert_eq!(resumed, Tally { closed: Vec::new(), ..state.clone() });
            }
        }
    }

    #[test]
    fn every_message_of_a_turn_belongs_to_it() {
        let mut transcript = Transcript::default();
        let roles = [Role::System, Role::Assistant, Role::User, Role::Assistant, Role::System, Role::User, Role::User, Role::Assistant];
        let mut place = |role: &Role| transcript.push(Message::text(*role, "x"), &FRAMING, &WordCounter).unwrap();
        let turns: Vec<u64> = roles.iter().map(|role| place(role).turn).collect();
        assert_eq!(turns, [0, 0, 0, 0, 0, 1, 2, 2]);
    }
}
