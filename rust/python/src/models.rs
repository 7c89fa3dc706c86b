//! The registry of models, as plain values: the frozen `Model` of the face is made of them.

use std::sync::Arc;

use memspan_engine::context::{Factor, Format, Framing};
use memspan_engine::models::{self, Model, Profile};
use memspan_engine::tokens::Encoding;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyString};

use crate::arguments::{number, text_of, whole};
use crate::errors::to_python;

/// The model of a name.
pub fn model(name: &Bound<'_, PyAny>) -> PyResult<Arc<Profile>> {
    let found = match name.cast::<PyString>().map(|name| name.to_str()) {
        Ok(Ok(name)) => models::get(name),
        _ => models::get(&text_of("model", name)?),
    };
    found.map_err(|error| to_python(name.py(), &error))
}

/// The model of a name, or the one that a `memspan.Model` describes, registered or not.
pub fn named_or_given(value: &Bound<'_, PyAny>) -> PyResult<Model> {
    if value.is_instance_of::<PyString>() || !value.hasattr("context_window")? {
        return Model::named(&text_of("model", value)?).map_err(|error| to_python(value.py(), &error));
    }
    let model = value.extract::<Described<'_>>()?.model(value.py())?;
    models::check(&model).map_err(|error| to_python(value.py(), &error))?;
    Ok(model)
}

/// All names, sorted.
#[pyfunction]
pub fn model_names() -> Vec<String> {
    models::names().iter().map(ToString::to_string).collect()
}

/// The arguments that `memspan.Model` is made with; prices and cache rules as dicts.
#[pyfunction]
pub fn model_fields<'py>(py: Python<'py>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let profile = model(name)?;
    let model = &profile.model;
    let fields = PyDict::new(py);
    fields.set_item("name", name)?;
    fields.set_item("context_window", model.context_window)?;
    fields.set_item("max_output_tokens", model.max_output_tokens)?;
    fields.set_item("encoding", model.encoding.name())?;
    fields.set_item("factor", f64::from(model.factor.per_mille()) / 1000.0)?;
    fields.set_item("framing", framing_name(model))?;
    fields.set_item("append_only", model.append_only)?;
    fields.set_item("min_cached_tokens", model.min_cached_tokens)?;
    fields.set_item("max_input_tokens", model.max_input_tokens)?;
    fields.set_item("usable_window", profile.usable_window)?;
    fields.set_item("vendor", &*profile.vendor)?;
    fields.set_item("capabilities", PyFrozenSet::new(py, profile.capabilities.iter().map(|name| &**name))?)?;
    fields.set_item("retires_on", profile.retires_on.as_deref())?;
    fields.set_item("prices", prices(py, &profile)?)?;
    fields.set_item("cache", cache(py, &profile)?)?;
    Ok(fields)
}

/// The name of a frame; of one that was put together by hand, its vendor's.
fn framing_name(model: &Model) -> &'static str {
    models::framing_name(model.framing).unwrap_or(match model.framing.format {
        Format::Anthropic => "claude",
        Format::OpenAi | Format::Responses | Format::Gemini => "gpt-4o",
    })
}

fn prices<'py>(py: Python<'py>, profile: &Profile) -> PyResult<Bound<'py, PyDict>> {
    let (values, prices) = (PyDict::new(py), profile.prices);
    let named = [
        ("input", prices.input),
        ("output", prices.output),
        ("cache_read", prices.cache_read),
        ("cache_write", prices.cache_write),
        ("cache_write_long", prices.cache_write_long),
    ];
    for (name, price) in named {
        values.set_item(name, price.map(|millionths| millionths as f64 / 1e6))?;
    }
    Ok(values)
}

fn cache<'py>(py: Python<'py>, profile: &Profile) -> PyResult<Bound<'py, PyDict>> {
    let values = PyDict::new(py);
    values.set_item("step_tokens", profile.cache.step_tokens)?;
    values.set_item("ttl_seconds", profile.cache.ttl_seconds)?;
    values.set_item("breakpoints", profile.cache.breakpoints)?;
    Ok(values)
}

/// A `memspan.Model`, as far as counting and planning need it.
#[derive(FromPyObject)]
pub struct Described<'py> {
    name: Bound<'py, PyAny>,
    context_window: Bound<'py, PyAny>,
    max_output_tokens: Bound<'py, PyAny>,
    max_input_tokens: Option<Bound<'py, PyAny>>,
    encoding: Bound<'py, PyAny>,
    factor: Bound<'py, PyAny>,
    framing: Bound<'py, PyAny>,
    append_only: bool,
    min_cached_tokens: Bound<'py, PyAny>,
    vendor: String,
    capabilities: Bound<'py, PyAny>,
}

/// Adds a model for this process, or replaces the one of its name: what counting and planning need of it.
#[pyfunction]
pub fn register_model(py: Python<'_>, given: Described<'_>) -> PyResult<()> {
    let model = given.model(py)?;
    let capabilities = names(&given.capabilities)?;
    models::register(Profile { vendor: given.vendor.into(), capabilities, ..Profile::of(model) }).map_err(|error| to_python(py, &error))
}

impl Described<'_> {
    fn model(&self, py: Python<'_>) -> PyResult<Model> {
        let tokens = |name: &str, value| whole(name, value, 0, i64::MAX).map(|tokens| tokens as u64);
        let encoding = Encoding::from_name(&text_of("encoding", &self.encoding)?).map_err(|error| to_python(py, &error))?;
        let framing = models::framing(&text_of("framing", &self.framing)?).map_err(|error| to_python(py, &error))?;
        let framing = Framing { media: models::media(&names(&self.capabilities)?), ..framing };
        let context_window = tokens("context_window", &self.context_window)?;
        Ok(Model {
            name: text_of("name", &self.name)?.into(),
            context_window,
            max_input_tokens: self.max_input_tokens.as_ref().map_or(Ok(context_window), |most| tokens("max_input_tokens", most))?,
            max_output_tokens: tokens("max_output_tokens", &self.max_output_tokens)?,
            encoding,
            factor: Factor::parse(number("factor", &self.factor)?).map_err(|error| to_python(py, &error))?,
            framing,
            append_only: self.append_only,
            min_cached_tokens: tokens("min_cached_tokens", &self.min_cached_tokens)?,
        })
    }
}

/// What a model can do, sorted.
fn names(capabilities: &Bound<'_, PyAny>) -> PyResult<Vec<Box<str>>> {
    let mut names = Vec::new();
    for name in capabilities.try_iter()? {
        names.push(text_of("a capability", &name?)?.into());
    }
    names.sort_unstable();
    Ok(names)
}

/// The dialects of chat completions, as dicts.
#[pyfunction]
pub fn dialect_fields(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let mut rows = Vec::new();
    for one in models::dialects() {
        let fields = PyDict::new(py);
        fields.set_item("name", &*one.name)?;
        fields.set_item("output_parameter", &*one.output_parameter)?;
        fields.set_item("begins_with_assistant", one.begins_with_assistant)?;
        fields.set_item("ends_with_assistant", one.ends_with_assistant)?;
        fields.set_item("alternates", one.alternates)?;
        fields.set_item("user_after_tool", one.user_after_tool)?;
        fields.set_item("system_anywhere", one.system_anywhere)?;
        fields.set_item("text_parts", one.text_parts)?;
        fields.set_item("stream_usage", one.stream_usage)?;
        fields.set_item("strict", one.strict)?;
        fields.set_item("tool_choice", one.tool_choice.iter().map(|name| &**name).collect::<Vec<_>>())?;
        fields.set_item("reasoning", &*one.reasoning)?;
        rows.push(fields);
    }
    Ok(rows)
}
