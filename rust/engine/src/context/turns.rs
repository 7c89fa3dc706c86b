//! Turns and tool rounds: where a transcript may be cut, and which tool calls still wait.
//!
//! A turn begins at a user message and ends before the next one; what stands before the first user message belongs to the
//! first turn. Within a turn an assistant message and the results of its calls are one unit, a *round*: results follow their
//! call directly, and any other message closes the calls that have none. They are then rendered with an "interrupted" result,
//! for ever, since the model may have seen it; a late result is refused. So no call is ever without its results and no result
//! without its call, wherever the window is cut.
//!
//! [`Tally`] is the running state: the store keeps it beside the session and pushes each message through it.

use super::framing::{Counter, Framing};
use super::message::{Message, Role};
use crate::{Error, ErrorKind, Result};

/// The text of a result that never came.
pub const INTERRUPTED: &str = "[interrupted: this call has no result]";

/// How many ids of closed calls are remembered, to tell a late result from one that never had a call.
const CLOSED_KEPT: usize = 64;

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
        let placed = Placed { index: self.messages, turn: self.turns - 1, opens_turn, tokens_before: self.tokens };
        self.messages += 1;
        self.tokens += tokens;
        Ok(placed)
    }

    /// Counts a volatile block that stays in its turn ([`super::block::stays`]); called before the next turn's user message.
    pub fn keep_block(&mut self, tokens: u64) {
        self.tokens += tokens;
    }

    /// Tokens of the results that would be rendered for calls that are still open.
    #[must_use]
    pub fn pending_tokens(&self, framing: &Framing, counter: &dyn Counter) -> u64 {
        self.open.iter().map(|id| framing.interrupted(id, counter)).sum()
    }

    fn answer(&mut self, message: &Message) -> Result<()> {
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

/// Whether a message begins a round: an assistant speaks.
#[must_use]
pub fn opens_round(message: &Message) -> bool {
    message.role == Role::Assistant
}
