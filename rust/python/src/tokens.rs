//! Counting and truncating texts, and counting messages with their frame.

use std::sync::{Arc, Mutex, PoisonError};

use memspan_engine::context::{Message, Part};
use memspan_engine::models::Profile;
use memspan_engine::tokens::{self, Encoding, shared_cache};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping, PyString};

use crate::arguments::{text_of, whole};
use crate::errors::{Hold, hold_for, invalid, run};
use crate::messages;
use crate::models::model;
use crate::value::value;

/// A text up to so many bytes is looked up in the cache before the interpreter is given up: hashing it takes 25 us.
const SOON_HASHED: usize = 256 << 10;
/// Messages of so many bytes take a millisecond if the cache knows none of them.
const SOON_COUNTED: usize = 64 << 10;

/// Tokens of a text, of a message, or of a request of messages.
#[pyfunction]
pub fn count_tokens(
    py: Python<'_>,
    content: &Bound<'_, PyAny>,
    model_name: &Bound<'_, PyAny>,
    tools: Option<&Bound<'_, PyAny>>,
) -> PyResult<u64> {
    let profile = model(model_name)?;
    let model = &profile.model;
    if let Ok(text) = content.cast::<PyString>() {
        no_tools(py, tools, "a str")?;
        return Ok(model.factor.bound(count_text(py, model.encoding, text)?));
    }
    if is_message(content)? {
        no_tools(py, tools, "one message")?;
        let messages = [messages::message(content)?];
        return run(py, hold_for_all(&messages), || Ok(model.count_messages(&messages)));
    }
    let tools = messages::tools(tools)?;
    let items = messages::items(content)?;
    let messages = (0..items.len()?).map(|index| messages::message_at(&items, index)).collect::<PyResult<Vec<_>>>()?;
    run(py, hold_for_all(&messages), || Ok(model.count_request(&messages, tools.as_deref())))
}

fn is_message(content: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(content.is_instance_of::<PyDict>() || content.cast::<PyMapping>().is_ok() || content.hasattr("model_dump")?)
}

fn no_tools(py: Python<'_>, tools: Option<&Bound<'_, PyAny>>, what: &str) -> PyResult<()> {
    if tools.is_none() {
        return Ok(());
    }
    Err(invalid(py, format!("counting tokens: tools belong to a request, and this is {what}: pass a list of messages, or leave tools out")))
}

fn count_text(py: Python<'_>, encoding: Encoding, text: &Bound<'_, PyString>) -> PyResult<u64> {
    let Ok(utf8) = text.to_str() else { return Err(text_of("text", text).err().unwrap_or_else(|| invalid(py, "reading text"))) };
    if utf8.len() <= SOON_HASHED
        && let Some(tokens) = shared_cache().known(encoding, utf8)
    {
        return Ok(tokens as u64);
    }
    run(py, hold_for(utf8), || Ok(shared_cache().count(encoding, utf8) as u64))
}

fn hold_for_all(messages: &[Message]) -> Hold {
    let size: usize = messages.iter().flat_map(|message| &message.parts).map(size).sum();
    if size > SOON_COUNTED { Hold::Detached } else { Hold::Attached }
}

/// About how many bytes of a part are counted.
fn size(part: &Part) -> usize {
    match part {
        Part::Text(text) | Part::Refusal(text) => text.len(),
        Part::ToolCall(call) => call.arguments.len(),
        Part::ToolResult(result) => result.parts.iter().map(size).sum(),
        Part::Vendor { raw, .. } => raw.len(),
        Part::Image(_) | Part::Document(_) => 0,
    }
}

/// The longest start or end of a text that is at most so many tokens; the very text where all of it is.
#[pyfunction]
pub fn truncate<'py>(
    text: &Bound<'py, PyAny>,
    max_tokens: &Bound<'py, PyAny>,
    model_name: &Bound<'py, PyAny>,
    keep: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = text.py();
    let profile = model(model_name)?;
    let model = &profile.model;
    let max_tokens = whole("max_tokens", max_tokens, 0, i64::MAX)? as u64;
    let cut = match keep {
        "start" => tokens::truncate_end,
        "end" => tokens::truncate_start,
        other => {
            return Err(invalid(py, format!("reading keep: it must be \"start\" or \"end\", and it is {other:?}: say which part stays")));
        }
    };
    let owned = text_of("text", text)?;
    let room = usize::try_from(model.factor.room(max_tokens)).unwrap_or(usize::MAX);
    let kept = run(py, hold_for(&owned), || Ok(cut(model.encoding, &owned, room)))?;
    Ok(if kept.len() == owned.len() { text.clone() } else { PyString::new(py, kept).into_any() })
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
        let text = text_of("text", text)?;
        // Locked inside: whoever waits for the lock must not hold what its owner waits for.
        let counted = run(py, hold_for(&text), || Ok(self.lock().append(&text)))?;
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

value! {
    /// Hits, misses and capacity of the cache of counts that the process shares. Private.
    CacheMetrics("memspan._core") { hits: u64, misses: u64, capacity: usize }
}

#[pyfunction]
pub fn count_cache_metrics() -> CacheMetrics {
    let metrics = shared_cache().metrics();
    CacheMetrics { hits: metrics.hits, misses: metrics.misses, capacity: metrics.capacity }
}
