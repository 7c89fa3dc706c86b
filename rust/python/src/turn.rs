//! What is read of a transcript: `Message`, and the rows that the package's `Turn` and `Call` are made of.

use memspan_engine::context::{self, Arguments};
use memspan_engine::session::{Call, MessageState, StoredMessage, TurnView, UsageTokens};
use pyo3::prelude::*;

use crate::errors::to_python;
use crate::from_json;
use crate::memory::shortened;
use crate::time;

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
#[pyclass(frozen, eq, module = "memspan")]
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

#[pymethods]
impl Message {
    /// Its place in the session, from 0.
    #[getter]
    fn index(&self) -> u64 {
        self.0.record.placed.index
    }

    /// Who speaks: "system", "developer", "user", "assistant" or "tool".
    #[getter]
    fn role(&self, py: Python<'_>) -> PyResult<&'static str> {
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

    /// Its texts, one a line; what a tool was called with and what it returned are among them.
    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    /// The shape it was given in: "openai" or "anthropic".
    #[getter]
    fn format(&self) -> &'static str {
        self.0.record.format.name()
    }

    /// Tokens of the form that is sent, its frame included, as counted when it was added.
    #[getter]
    fn tokens(&self) -> u64 {
        self.0.record.cost.tokens
    }

    /// Its turn, from 0.
    #[getter]
    fn turn(&self) -> u64 {
        self.0.record.placed.turn
    }

    /// The caller's id.
    #[getter]
    fn id(&self) -> Option<&str> {
        self.0.record.id.as_deref()
    }

    /// Who wrote it, in the caller's words.
    #[getter]
    fn author(&self) -> Option<&str> {
        self.0.record.author.as_deref()
    }

    /// When it was said, where the caller knew: aware, in UTC.
    #[getter]
    fn created_at<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        time::maybe_to_python(py, self.0.record.created_at)
    }

    /// When it was added: aware, in UTC.
    #[getter]
    fn added_at<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        time::to_python(py, self.0.record.added_at)
    }

    /// Whether its text was taken out.
    #[getter]
    fn redacted(&self) -> bool {
        self.0.record.state == MessageState::Redacted
    }

    /// Why it was.
    #[getter]
    fn reason(&self) -> Option<&str> {
        self.0.record.reason.as_deref()
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

/// What was billed: input, output, cached, written to a cache.
pub type UsageRow = (u64, u64, u64, u64);

/// A call: number, reply, when, id of the response, model, why it ended, usage, usage as given, whether its prompt is known.
pub type CallRow<'py> =
    (u16, u64, Bound<'py, PyAny>, Option<String>, Option<String>, Option<String>, Option<UsageRow>, Option<Bound<'py, PyAny>>, bool);

/// A turn: number, first message, the message behind its last, calls.
pub type TurnRow<'py> = (u64, u64, u64, Vec<CallRow<'py>>);

/// A turn for Python.
pub fn turn_row(py: Python<'_>, turn: TurnView) -> PyResult<TurnRow<'_>> {
    let calls = turn.calls.into_iter().map(|call| call_row(py, call)).collect::<PyResult<Vec<_>>>()?;
    Ok((turn.number, turn.start, turn.end, calls))
}

fn call_row(py: Python<'_>, call: Call) -> PyResult<CallRow<'_>> {
    let tokens = |one: UsageTokens| (one.input_tokens, one.output_tokens, one.cached_tokens, one.cache_write_tokens);
    let raw = call.usage.as_deref().and_then(|raw| std::str::from_utf8(raw).ok());
    Ok((
        call.number,
        call.reply,
        time::to_python(py, call.added_at)?,
        call.response_id,
        call.model,
        call.finish,
        call.usage_tokens.map(tokens),
        raw.map(|raw| from_json::decode(py, raw)).transpose()?,
        call.sent.is_some(),
    ))
}
