//! `fit`: which messages of a list are sent. Read from the end, and converted only as far as they are looked at.
//!
//! It keeps the interpreter: messages are Python's until each is read. That is microseconds for what was counted before, and
//! some milliseconds once for a hundred thousand new tokens.

use memspan_engine::Error;
use memspan_engine::context::Fit;
use pyo3::prelude::*;

use crate::arguments::Argument;
use crate::errors::run_reading;
use crate::messages;
use crate::models::model;
use crate::value::{Show, Tuple, shows};

shows! {
    Fitted<'_> as Fitted |it| { messages = Tuple(it.0), tokens = it.1, exact = it.2 }
}

/// What `fit` kept: the very objects, the tokens of a request with them, and whether that is exact.
struct Fitted<'py>(Vec<Bound<'py, PyAny>>, u64, bool);

/// Which messages a request keeps.
#[pyfunction]
pub fn fit<'py>(
    given: &Bound<'py, PyAny>,
    model_name: &Bound<'py, PyAny>,
    max_input_tokens: &Bound<'py, PyAny>,
    tools: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, profile) = (given.py(), model(model_name)?);
    let limit = Option::<u64>::read("max_input_tokens", max_input_tokens)?;
    let (tools, items) = (messages::tools(tools)?, messages::items(given)?);
    let count = items.len()?;
    // An error of Python's on its way through the engine.
    let mut raised = None;
    let mut read = |index: usize| {
        messages::message_at(&items, index).map_err(|error| {
            let passing = Error::invalid(error.to_string());
            raised = Some(error);
            passing
        })
    };
    let fitted = run_reading(py, || profile.model.fit(count, &mut read, tools.as_deref(), limit));
    let Fit { kept, tokens, exact } = raised.map_or(fitted, Err)?;
    let kept = kept.into_iter().map(|index| items.get_item(index)).collect::<PyResult<Vec<_>>>()?;
    Fitted(kept, tokens, exact).show(py)
}
