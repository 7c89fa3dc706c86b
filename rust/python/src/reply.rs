//! `ReplyCore`: what stands around a call of a model in a session: what came so far, what waits, what was refused.

use std::sync::Arc;

use memspan_engine::session::{PartialReply, Refusal};
use pyo3::prelude::*;

use crate::arguments::{maybe_text, text_of};
use crate::budget;
use crate::errors::Hold;
use crate::prompt::PromptCore;
use crate::session::{Named, SessionCore};
use crate::time;

/// Messages, when it began, when it was written, why it ended, the response as JSON.
type PartialRow<'py> = (u64, Bound<'py, PyAny>, Bound<'py, PyAny>, Option<String>, String);

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct ReplyCore {
    named: Arc<Named>,
}

#[pymethods]
impl ReplyCore {
    #[new]
    fn new(session: &Bound<'_, SessionCore>) -> Self {
        Self { named: Arc::clone(&session.get().named) }
    }

    /// Keeps what came of a reply.
    fn keep_partial(
        &self,
        py: Python<'_>,
        response: &Bound<'_, PyAny>,
        messages: u64,
        began_at: &Bound<'_, PyAny>,
        error: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let partial = PartialReply {
            messages,
            began_at: time::maybe_from_python("began_at", Some(began_at))?.unwrap_or_default(),
            written_at: self.named.now(py)?,
            error: maybe_text("error", error)?,
            response: text_of("a response", response)?,
        };
        self.named.run(py, Hold::Detached, |session| session.keep_partial(partial))
    }

    /// What came of a reply that is not whole.
    fn partial<'py>(&self, py: Python<'py>) -> PyResult<Option<PartialRow<'py>>> {
        let Some(one) = self.named.run(py, Hold::Attached, |session| session.partial_reply())? else { return Ok(None) };
        Ok(Some((one.messages, time::to_python(py, one.began_at)?, time::to_python(py, one.written_at)?, one.error, one.response)))
    }

    /// Drops what came.
    fn drop_partial(&self, py: Python<'_>) -> PyResult<bool> {
        self.named.run(py, Hold::Detached, |session| session.drop_partial())
    }

    /// The calls that wait: id, name, arguments, message.
    fn open_calls(&self, py: Python<'_>) -> PyResult<Vec<(String, String, String, u64)>> {
        let calls = self.named.run(py, Hold::Attached, |session| session.open_calls())?;
        let row = |one: memspan_engine::session::OpenCall| {
            (one.call.id.into_string(), one.call.name.into_string(), one.call.arguments.into_string(), one.message)
        };
        Ok(calls.into_iter().map(row).collect())
    }

    /// A smaller prompt for one that was refused: what it was, what it may be, what its reply may have.
    fn refused(
        &self,
        py: Python<'_>,
        prompt: &Bound<'_, PromptCore>,
        input_tokens: Option<&Bound<'_, PyAny>>,
        limit_tokens: Option<&Bound<'_, PyAny>>,
        output_tokens: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<PromptCore> {
        let refusal = Refusal {
            input_tokens: budget::tokens("input_tokens", input_tokens)?,
            limit_tokens: budget::tokens("limit_tokens", limit_tokens)?,
            output_tokens: budget::tokens("output_tokens", output_tokens)?,
        };
        let (assembled, now) = (Arc::clone(&prompt.get().assembled), self.named.now(py)?);
        let next = self.named.run(py, Hold::Detached, |session| session.refused(&assembled, refusal, now))?;
        Ok(PromptCore::assembled(&self.named, next, None))
    }

    /// Asks again what a prompt was asked for, of the session as it is now.
    fn again(&self, py: Python<'_>, prompt: &Bound<'_, PromptCore>) -> PyResult<PromptCore> {
        let now = self.named.now(py)?;
        // A limit that was named for one model says nothing of another.
        let known = &prompt.get().assembled.ask;
        let ask = memspan_engine::session::Ask { max_input_tokens: None, max_output_tokens: None, now, ..(**known).clone() };
        let next = self.named.run(py, Hold::Detached, |session| session.assemble(&ask))?;
        Ok(PromptCore::assembled(&self.named, next, None))
    }
}
