//! What is read of a transcript: `Message`, and the rows that the package's `Turn` and `Call` are made of.

use memspan_engine::context::{self, Arguments};
use memspan_engine::session::{Call, MessageState, StoredMessage, TurnView, UsageTokens};
use pyo3::prelude::*;

use crate::errors::to_python;
use crate::from_json;
use crate::memory::shortened;
use crate::value::{Json, Moment, Tuple, shows, value};

/// A message of a session, as it was given. Fields are made when they are read.
///
/// Examples:
///     >>> session = user.session("s-1", model="gpt-4o")
///     >>> _ = session.add({"role": "user", "content": "which port?"}, author="ann")
///     >>> message = session.messages[0]
///     >>> message
///     Message(0, "user", "which port?")
///     >>> message.given, message.tokens, message.author
///     ({'role': 'user', 'content': 'which port?'}, 7, 'ann')
#[pyclass(frozen, eq, from_py_object, module = "memspan")]
#[derive(Debug, Clone)]
pub struct Message(StoredMessage);

impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.0.record == other.0.record && self.0.given == other.0.given
    }
}

impl From<StoredMessage> for Message {
    fn from(stored: StoredMessage) -> Self {
        Self(stored)
    }
}

shows! {
    Message |it| {
        /// Its place in the session, from 0.
        index: u64 = it.0.record.placed.index;
        /// Its texts, one a line; what a tool was called with and what it returned are among them.
        text: &str = &it.0.text;
        /// The shape it was given in: "openai" or "anthropic".
        format: &'static str = it.0.record.format.name();
        /// Tokens of the form that is sent, its frame included, as counted when it was added.
        tokens: u64 = it.0.record.cost.tokens;
        /// Its turn, from 0.
        turn: u64 = it.0.record.placed.turn;
        /// The caller's id.
        id: Option<&str> = it.0.record.id.as_deref();
        /// Who wrote it, in the caller's words.
        author: Option<&str> = it.0.record.author.as_deref();
        /// When it was said, where the caller knew: aware, in UTC.
        created_at: Option<Moment> = it.0.record.created_at.map(Moment);
        /// When it was added: aware, in UTC.
        added_at: Moment = Moment(it.0.record.added_at);
        /// Whether its text was taken out.
        redacted: bool = it.0.record.state == MessageState::Redacted;
        /// Why it was.
        reason: Option<&str> = it.0.record.reason.as_deref();
    }

    /// Who speaks: "system", "developer", "user", "assistant" or "tool".
    #[getter]
    pub fn role(&self, py: Python<'_>) -> PyResult<&'static str> {
        let parsed = context::Message::parse(self.0.given.as_bytes(), Some(self.0.record.format), Arguments::Keep);
        parsed.map(|message| message.role.name()).map_err(|error| to_python(py, &error))
    }

    /// What the SDK was or would be given: a fresh dict at each use, equal to the one that was added.
    #[getter]
    fn given<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        from_json::decode(py, &self.0.given)
    }

    /// Its `content` as it was given: a str, a list of parts, or `None`.
    #[getter]
    fn content<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.given(py)?.call_method1("get", ("content",))
    }

    fn __copy__(&self) -> Self {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.clone()
    }

    fn __hash__(&self) -> u64 {
        self.0.record.request ^ self.0.record.placed.index
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let redacted = if self.redacted() { ", redacted" } else { "" };
        Ok(format!("Message({}, {:?}, {:?}{redacted})", self.index(), self.role(py)?, shortened(&self.0.text)))
    }
}

value! {
    /// What a provider billed for a call, and its own words for it. Private.
    Billed("memspan._core") { input_tokens: u64, output_tokens: u64, cached_tokens: u64, cache_write_tokens: u64, raw: Option<Json> }
}

value! {
    /// A call as it is stored: what `memspan.transcript.Call` shows. Private.
    StoredCall("memspan._core") {
        number: u16, reply: u64, added_at: Moment, response_id: Option<String>, model: Option<String>, finish: Option<String>,
        usage: Option<Billed>, sent: bool
    }
}

value! {
    /// A turn as it is stored: what `memspan.transcript.Turn` shows. Private.
    StoredTurn("memspan._core") { number: u64, start: u64, end: u64, calls: Tuple<StoredCall> }
}

impl Billed {
    pub fn new(tokens: UsageTokens, raw: Option<Json>) -> Self {
        let UsageTokens { input_tokens, output_tokens, cached_tokens, cache_write_tokens } = tokens;
        Self { input_tokens, output_tokens, cached_tokens, cache_write_tokens, raw }
    }
}

impl From<TurnView> for StoredTurn {
    fn from(turn: TurnView) -> Self {
        Self { number: turn.number, start: turn.start, end: turn.end, calls: turn.calls.into_iter().map(StoredCall::from).collect() }
    }
}

impl From<Call> for StoredCall {
    fn from(call: Call) -> Self {
        let raw = call.usage.and_then(|raw| String::from_utf8(raw).ok()).map(Json);
        Self {
            number: call.number,
            reply: call.reply,
            added_at: Moment(call.added_at),
            response_id: call.response_id,
            model: call.model,
            finish: call.finish,
            usage: call.usage_tokens.map(|billed| Billed::new(billed, raw)),
            sent: call.sent.is_some(),
        }
    }
}
