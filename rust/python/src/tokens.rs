//! Counting and truncating texts, counting messages with their frame, and tokenizers from a user's own file.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use memspan_engine::models::{Keep, Model, Profile};
use memspan_engine::tokens::{self, Encoding, shared_cache};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};

use crate::arguments::{Argument, functions};
use crate::errors::{Pace, invalid, run};
use crate::messages;
use crate::models::model;
use crate::value::shows;

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

/// How many tokens a growing text is.
#[pyclass(frozen, module = "memspan._core")]
pub struct TokenCounterCore {
    profile: Arc<Profile>,
    counter: Mutex<tokens::TokenCounter>,
}

#[pymethods]
impl TokenCounterCore {
    #[new]
    fn new(model_name: &Bound<'_, PyAny>) -> PyResult<Self> {
        let profile = model(model_name)?;
        Ok(Self { counter: Mutex::new(tokens::TokenCounter::new(profile.model.encoding)), profile })
    }

    fn append(&self, py: Python<'_>, text: &Bound<'_, PyAny>) -> PyResult<u64> {
        let text = String::read("text", text)?;
        // Locked inside: whoever waits for the lock must not hold what its owner waits for.
        let counted = run(py, Pace::of_text(&text), || Ok(self.lock().append(&text)))?;
        Ok(self.profile.model.factor.bound(counted as u64))
    }

    fn count(&self) -> u64 {
        self.profile.model.factor.bound(self.lock().count() as u64)
    }

    fn clear(&self) {
        self.lock().clear();
    }

    fn model_name(&self) -> &str {
        &self.profile.model.name
    }
}

impl TokenCounterCore {
    fn lock(&self) -> std::sync::MutexGuard<'_, tokens::TokenCounter> {
        self.counter.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

shows! {
    tokens::CacheMetrics as CacheMetrics |it| { hits, misses, capacity }
}

functions! { |py|
    count_cache_metrics() Short => Ok(shared_cache().metrics());
    /// Loads a tokenizer's file; the name of its encoding.
    load_tokenizer(path: PathBuf, pattern: Option<String>) Waits => tokens::load(&path, pattern.as_deref()).map(Encoding::name);
    count_by_encoding(name: Encoding, text: String) (Pace::of_text(&text)) => Ok(shared_cache().count(name, &text));
    truncate(text: String, max_tokens: u64, model_name as "model": Model, keep: String) (Pace::of_text(&text)) =>
        Ok(model_name.truncate(&text, max_tokens, Keep::parse(&keep)?).to_owned());
}
