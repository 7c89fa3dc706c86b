//! Counting and truncating texts, counting messages with their frame, and tokenizers from a user's own file.

use std::path::PathBuf;
use std::sync::Arc;

use memspan_engine::Error;
use memspan_engine::context::Fit;
use memspan_engine::models::{Keep, Model, TextCounter};
use memspan_engine::tokens::{self, Encoding, shared_cache};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};

use crate::arguments::{Argument, calls, functions, holds};
use crate::errors::{Pace, invalid, run, run_reading};
use crate::messages;
use crate::models::model;
use crate::value::{Show, Tuple, shows};

/// Tokens of a text, of a message, or of a request of messages.
#[pyfunction]
pub fn count_tokens(py: Python<'_>, content: &Bound<'_, PyAny>, model_name: &Bound<'_, PyAny>, tools: &Bound<'_, PyAny>) -> PyResult<u64> {
    let profile = model(model_name)?;
    let model = &profile.model;
    if let Ok(text) = content.cast::<PyString>() {
        no_tools(tools, "a str")?;
        return Ok(model.factor.bound(count_text(py, model.encoding, text)?));
    }
    if is_message(content)? {
        no_tools(tools, "one message")?;
        let messages = [messages::message(content)?];
        return run(py, Pace::of_messages(&messages), || Ok(model.count_messages(&messages)));
    }
    let (tools, messages) = (messages::tools(tools)?, messages::Conversation::read("messages", content)?.0);
    run(py, Pace::of_messages(&messages), || Ok(model.count_request(&messages, tools.as_deref())))
}

fn is_message(content: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(content.is_instance_of::<PyDict>() || content.cast::<PyMapping>().is_ok() || content.hasattr("model_dump")?)
}

fn no_tools(tools: &Bound<'_, PyAny>, what: &str) -> PyResult<()> {
    if tools.is_none() {
        return Ok(());
    }
    let next = "pass a list of messages, or leave tools out";
    Err(invalid(tools.py(), format!("counting tokens: tools belong to a request, and this is {what}: {next}")))
}

fn count_text(py: Python<'_>, encoding: Encoding, text: &Bound<'_, PyString>) -> PyResult<u64> {
    let Ok(utf8) = text.to_str() else { return String::read("text", text).map(|_| 0) };
    if Pace::is_soon_hashed(utf8)
        && let Some(tokens) = shared_cache().known(encoding, utf8)
    {
        return Ok(tokens as u64);
    }
    run(py, Pace::of_text(utf8), || Ok(shared_cache().count(encoding, utf8) as u64))
}

holds! {
    /// How many tokens a growing text is.
    TokenCounterCore(TextCounter);
}

calls! {
    TokenCounterCore |it, py| (Ok(&it.0), ()) {
        append(text: String) (Pace::of_text(&text)) |own| Ok(own.append(&text));
        count() Short |own| Ok(own.count());
        clear() Short |own| { own.clear(); Ok(()) };
        model_name() Short |own| Ok(Arc::clone(&own.model().name));
    }

    #[new]
    fn new(model_name: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self(TextCounter::new(model(model_name)?.model.clone())))
    }
}

shows! {
    tokens::CacheMetrics as CacheMetrics |it| { hits, misses, capacity }
}

functions! { |py|
    count_cache_metrics() Short => Ok(shared_cache().metrics());
    /// Loads a tokenizer's file; the name of its encoding.
    load_tokenizer(path: PathBuf, pattern: Option<String>) Long => tokens::load(&path, pattern.as_deref()).map(Encoding::name);
    count_by_encoding(name: Encoding, text: String) (Pace::of_text(&text)) => Ok(shared_cache().count(name, &text));
    truncate(text: String, max_tokens: u64, model_name as "model": Model, keep: String) (Pace::of_text(&text)) =>
        Ok(model_name.truncate(&text, max_tokens, Keep::parse(&keep)?).to_owned());
}

shows! {
    Fitted<'_> as Fitted |it| { messages = Tuple(it.0), tokens = it.1, exact = it.2 }
}

/// The result of `fit`: the very objects, the tokens of a request with them, and whether that is exact.
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
