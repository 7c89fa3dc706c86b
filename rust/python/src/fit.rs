//! `fit`: which messages of a list are sent. Read from the end, and converted only as far as they are looked at.
//!
//! It keeps the interpreter: messages are Python's until each is read. That is microseconds for what was counted before, and
//! some milliseconds once for a hundred thousand new tokens.

use memspan_engine::Error;
use memspan_engine::context::{Factor, fit as engine_fit};
use pyo3::prelude::*;

use crate::arguments::Argument;
use crate::errors::{Hold, run, run_reading};
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
    let model = &profile.model;
    let named = Option::<u64>::read("max_input_tokens", max_input_tokens)?;
    let limit = run(py, Hold::Attached, || named.map_or_else(|| model.default_input_limit(), Ok))?;
    let (tools, items) = (messages::tools(tools)?, messages::items(given)?);
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
    let (room, counter) = (model.factor.room(limit), model.counter());
    let fitted = run_reading(py, || engine_fit(count, &mut read, tools.as_deref(), room, &model.framing, &counter));
    let fitted = match raised {
        Some(error) => return Err(error),
        None => fitted?,
    };
    let kept = fitted.kept.iter().map(|index| items.get_item(*index)).collect::<PyResult<Vec<_>>>()?;
    Fitted(kept, model.factor.bound(fitted.tokens), fitted.exact && model.factor == Factor::EXACT).show(py)
}
