//! The registry of models, as plain values: the frozen `Model` of the face is made of them.

use std::sync::Arc;

use memspan_engine::context::{Dialect, Factor, Framing};
use memspan_engine::models::{self, Model, Prices, Profile, nearest_framing_name};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFrozenSet, PyString};

use crate::arguments::{Argument, checked, field, functions, reads};
use crate::value::dict;

/// The model of a name.
pub fn model(name: &Bound<'_, PyAny>) -> PyResult<Arc<Profile>> {
    let found = match name.cast::<PyString>().map(|name| name.to_str()) {
        Ok(Ok(name)) => models::get(name),
        _ => models::get(&String::read("model", name)?),
    };
    checked(name, found)
}

/// The model of a name, or the one that a `memspan.Model` describes, registered or not.
pub fn named_or_given(value: &Bound<'_, PyAny>) -> PyResult<Model> {
    if value.is_instance_of::<PyString>() || !value.hasattr("context_window")? {
        return checked(value, Model::named(&String::read("model", value)?));
    }
    let model = described(value, &capabilities(value)?)?;
    checked(value, models::check(&model))?;
    Ok(model)
}

functions! { |py|
    model_names() Short => Ok(models::names().iter().map(ToString::to_string).collect::<Vec<_>>());
    /// Adds a model for this process, or replaces the one of its name: what counting and planning need of it.
    register_model(given: Profile) Short => models::register(given);
}

/// The arguments that `memspan.Model` is made with; prices and cache rules as dicts.
#[pyfunction]
pub fn model_fields<'py>(py: Python<'py>, name: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let profile = model(name)?;
    let (model, cache) = (&profile.model, profile.cache);
    let fields = dict! { py;
        name = name.clone(), context_window = model.context_window, max_output_tokens = model.max_output_tokens,
        encoding = model.encoding.name(), factor = model.factor.as_f64(), framing = nearest_framing_name(model.framing),
        append_only = model.append_only, min_cached_tokens = model.min_cached_tokens, max_input_tokens = model.max_input_tokens,
        base_url = &*model.base_url,
        usable_window = profile.usable_window, vendor = &*profile.vendor, retires_on = profile.retires_on.as_deref(),
        prices = prices(py, profile.prices)?.into_any(),
        cache = dict! { py; step_tokens = cache.step_tokens, ttl_seconds = cache.ttl_seconds, breakpoints = cache.breakpoints }.into_any(),
    };
    fields.set_item("capabilities", PyFrozenSet::new(py, profile.capabilities.iter().map(|name| &**name))?)?;
    Ok(fields)
}

/// Dollars for a million tokens.
fn prices(py: Python<'_>, prices: Prices) -> PyResult<Bound<'_, PyDict>> {
    let dollars = |price: Option<u64>| price.map(|millionths| millionths as f64 / 1e6);
    Ok(dict! { py;
        input = dollars(prices.input), output = dollars(prices.output), cache_read = dollars(prices.cache_read),
        cache_write = dollars(prices.cache_write), cache_write_long = dollars(prices.cache_write_long),
    })
}

reads! {
    Profile: |name, given| {
        let capabilities = capabilities(given)?;
        let model = described(given, &capabilities)?;
        Ok(Self { vendor: field::<String>(given, "vendor")?.into(), capabilities, ..Self::of(model) })
    };
}

/// A `memspan.Model`, as far as counting and planning need it.
fn described(given: &Bound<'_, PyAny>, capabilities: &[Box<str>]) -> PyResult<Model> {
    let framing = checked(given, models::framing(&field::<String>(given, "framing")?))?;
    let context_window = field(given, "context_window")?;
    Ok(Model {
        name: field::<String>(given, "name")?.into(),
        context_window,
        max_input_tokens: field::<Option<u64>>(given, "max_input_tokens")?.unwrap_or(context_window),
        max_output_tokens: field(given, "max_output_tokens")?,
        encoding: field(given, "encoding")?,
        factor: checked(given, Factor::parse(field(given, "factor")?))?,
        framing: Framing { media: models::media(capabilities), ..framing },
        append_only: field(given, "append_only")?,
        min_cached_tokens: field(given, "min_cached_tokens")?,
        base_url: models::address(&field::<String>(given, "base_url")?).into(),
    })
}

/// The capabilities of a model, sorted.
fn capabilities(given: &Bound<'_, PyAny>) -> PyResult<Vec<Box<str>>> {
    let mut names: Vec<String> = Argument::read("a capability", &given.getattr("capabilities")?)?;
    names.sort_unstable();
    Ok(names.into_iter().map(Into::into).collect())
}

/// The dialects of chat completions, as dicts.
#[pyfunction]
pub fn dialect_fields(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let row = |one: &Dialect| {
        Ok(dict! { py;
            name = &*one.name, system_anywhere = one.system_anywhere, text_parts = one.text_parts, stream_usage = one.stream_usage,
            output_parameter = &*one.output_parameter, empty_assistant = one.empty_assistant, sent_back = one.sent_back.clone(),
            begins_with_assistant = one.begins_with_assistant, ends_with_assistant = one.ends_with_assistant, reasoning = &*one.reasoning,
            alternates = one.alternates, user_after_tool = one.user_after_tool, tool_choice = one.tool_choice.clone(), strict = one.strict,
        })
    };
    models::dialects().iter().map(row).collect()
}
