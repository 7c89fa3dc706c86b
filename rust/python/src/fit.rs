//! `fit`: which messages of a list are sent. Read from the end, and converted only as far as they are looked at.
//!
//! It keeps the interpreter: messages are Python's until each is read. That is microseconds for what was counted before, and
//! some milliseconds once for a hundred thousand new tokens.

use memspan_engine::Error;
use memspan_engine::context::{Factor, fit as engine_fit};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arguments::whole;
use crate::errors::{Hold, run, run_reading};
use crate::messages;
use crate::models::model;

/// What `fit` kept: the very objects, the tokens of a request with them, and whether that is exact. Private.
#[pyclass(frozen, get_all, module = "memspan._core")]
#[derive(Debug)]
pub struct Fitted {
    messages: Py<PyTuple>,
    tokens: u64,
    exact: bool,
}

/// The kept messages (the very objects), the tokens of a request with them, and whether that is exact.
#[pyfunction]
pub fn fit<'py>(
    given: &Bound<'py, PyAny>,
    model_name: &Bound<'py, PyAny>,
    max_input_tokens: Option<&Bound<'py, PyAny>>,
    tools: Option<&Bound<'py, PyAny>>,
) -> PyResult<Fitted> {
    let py = given.py();
    let profile = model(model_name)?;
    let model = &profile.model;
    let named = max_input_tokens.map(|limit| whole("max_input_tokens", limit, 0, i64::MAX)).transpose()?.map(|limit| limit as u64);
    let limit = match named {
        Some(limit) => limit,
        None => run(py, Hold::Attached, || model.default_input_limit())?,
    };
    let tools = messages::tools(tools)?;
    let items = messages::items(given)?;
    let count = items.len()?;
    // An error of the border on its way through the engine.
    let mut raised = None;
    let mut read = |index: usize| {
        messages::message_at(&items, index).map_err(|error| {
            let passing = Error::invalid(error.to_string());
            raised = Some(error);
            passing
        })
    };
    let room = model.factor.room(limit);
    let counter = model.counter();
    let fitted = run_reading(py, || engine_fit(count, &mut read, tools.as_deref(), room, &model.framing, &counter));
    let fitted = match raised {
        Some(error) => return Err(error),
        None => fitted?,
    };
    let kept = fitted.kept.iter().map(|index| items.get_item(*index)).collect::<PyResult<Vec<_>>>()?;
    let (tokens, exact) = (model.factor.bound(fitted.tokens), fitted.exact && model.factor == Factor::EXACT);
    Ok(Fitted { messages: PyTuple::new(py, kept)?.unbind(), tokens, exact })
}
