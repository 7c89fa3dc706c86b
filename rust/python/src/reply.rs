//! `ReplyCore`: what stands around a call of a model in a session: what came so far, what waits, what was refused.

use std::sync::Arc;

use memspan_engine::session::{OpenCall, PartialReply, Refusal};
use pyo3::prelude::*;

use crate::arguments::{maybe_text, text_of};
use crate::budget;
use crate::errors::Hold;
use crate::prompt::PromptCore;
use crate::session::{Named, SessionCore};
use crate::time;
use crate::value::{Json, Moment, value};

value! {
    /// What came of a reply that is not whole. Private.
    StoredPartial("memspan._core") { messages: u64, began_at: Moment, written_at: Moment, error: Option<String>, response: Json }
}

value! {
    /// A tool call that waits, its arguments as the model wrote them. Private.
    PendingCall("memspan._core") { id: String, name: String, arguments: String, message_index: u64 }
}

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
    fn partial(&self, py: Python<'_>) -> PyResult<Option<StoredPartial>> {
        let partial = self.named.run(py, Hold::Attached, |session| session.partial_reply())?;
        Ok(partial.map(|one| StoredPartial {
            messages: one.messages,
            began_at: Moment(one.began_at),
            written_at: Moment(one.written_at),
            error: one.error,
            response: Json(one.response),
        }))
    }

    /// Drops what came.
    fn drop_partial(&self, py: Python<'_>) -> PyResult<bool> {
        self.named.run(py, Hold::Detached, |session| session.drop_partial())
    }

    /// The calls that wait.
    fn open_calls(&self, py: Python<'_>) -> PyResult<Vec<PendingCall>> {
        let calls = self.named.run(py, Hold::Attached, |session| session.open_calls())?;
        let pending = |OpenCall { message, call }| PendingCall {
            id: call.id.into_string(),
            name: call.name.into_string(),
            arguments: call.arguments.into_string(),
            message_index: message,
        };
        Ok(calls.into_iter().map(pending).collect())
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
        let (known, now) = (Arc::clone(&prompt.get().assembled), self.named.now(py)?);
        let next = self.named.run(py, Hold::Detached, |session| session.again(&known, now))?;
        Ok(PromptCore::assembled(&self.named, next, None))
    }
}
