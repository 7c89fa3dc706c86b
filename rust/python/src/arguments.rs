//! Arguments of calls, each checked on its own, so that an error names the one that is wrong.

use memspan_engine::limits::MAX_TRUST;
use memspan_engine::memory::Kind;
use memspan_engine::recall::Filter;
use memspan_engine::recall::filter::ALL_KINDS;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

use crate::errors::{invalid, to_python, type_name};
use crate::metadata;
use crate::time;

/// A text: a `str` that UTF-8 can hold.
pub fn text_of(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = value.py();
    let Ok(text) = value.cast::<PyString>() else {
        return Err(invalid(py, format!("reading {name}: it must be a str, and it is {}: pass a str", type_name(value))));
    };
    text.to_str().map(str::to_owned).map_err(|_| {
        invalid(
            py,
            format!("reading {name}: it must be text that UTF-8 can hold, and it has a lone surrogate: decode it with errors=\"replace\""),
        )
    })
}

/// A text, or none.
pub fn maybe_text(name: &str, value: Option<&Bound<'_, PyAny>>) -> PyResult<Option<String>> {
    value.map(|value| text_of(name, value)).transpose()
}

/// A number; whether it lies in its range is the engine's to say.
pub fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let is_number = !value.is_instance_of::<PyBool>()
        && (value.is_instance_of::<PyFloat>() || value.hasattr("__float__")? && !value.is_instance_of::<PyString>());
    match value.extract::<f64>() {
        Ok(number) if is_number => Ok(number),
        _ => Err(invalid(
            value.py(),
            format!("reading {name}: it must be a number, and {} is {}: pass a float", metadata::shown(value), type_name(value)),
        )),
    }
}

/// A whole number from `least` to `most`.
pub fn whole(name: &str, value: &Bound<'_, PyAny>, least: i64, most: i64) -> PyResult<i64> {
    let py = value.py();
    let is_whole = !value.is_instance_of::<PyBool>() && (value.is_instance_of::<PyInt>() || value.hasattr("__index__")?);
    if !is_whole {
        return Err(invalid(
            py,
            format!("reading {name}: it must be an int, and {} is {}: pass an int", metadata::shown(value), type_name(value)),
        ));
    }
    match value.extract::<i64>() {
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        _ => {
            let range = if most == i64::MAX { format!("at least {least}") } else { format!("from {least} to {most}") };
            Err(invalid(py, format!("reading {name}: it must be {range}, and it is {}: change it", metadata::shown(value))))
        }
    }
}

/// A kind of memory by its name.
pub fn kind(value: &Bound<'_, PyAny>) -> PyResult<Kind> {
    Kind::parse(&text_of("kind", value)?).map_err(|error| to_python(value.py(), &error))
}

/// Kinds as bits: `None` is all of them, a `str` one, anything else is iterated.
pub fn kinds(value: Option<&Bound<'_, PyAny>>) -> PyResult<u8> {
    let Some(value) = value else { return Ok(ALL_KINDS) };
    if value.is_instance_of::<PyString>() {
        return Ok(kind(value)?.bit());
    }
    let items = value.try_iter().map_err(|_| {
        invalid(
            value.py(),
            format!(
                "reading kinds: it must be a kind or several of them, and it is {}: pass for instance [\"preference\"]",
                type_name(value)
            ),
        )
    })?;
    let mut bits = 0;
    for item in items {
        bits |= kind(&item?)?.bit();
    }
    if bits == 0 {
        return Err(invalid(value.py(), "reading kinds: at least one kind must be named, and none is: leave kinds out for all of them"));
    }
    Ok(bits)
}

/// `where={"project": "x", "stage": ["staging", "prod"]}`: keys of the metadata with the values of which one must stand there.
pub fn conditions(value: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, Vec<Vec<u8>>)>> {
    let Some(value) = value else { return Ok(Vec::new()) };
    let map: Bound<'_, PyDict> = metadata::mapping("where", value)?;
    map.iter().map(|(key, wanted)| Ok((text_of("a key of where", &key)?, alternatives(&wanted)?))).collect()
}

fn alternatives(wanted: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<u8>>> {
    use pyo3::types::{PyFrozenSet, PyList, PySet, PyTuple};
    let several = wanted.is_instance_of::<PyList>()
        || wanted.is_instance_of::<PyTuple>()
        || wanted.is_instance_of::<PySet>()
        || wanted.is_instance_of::<PyFrozenSet>();
    let value = |one: &Bound<'_, PyAny>| {
        let mut bytes = Vec::new();
        metadata::encode_value(&mut bytes, one, 1).map(|()| bytes)
    };
    if several { wanted.try_iter()?.map(|one| value(&one?)).collect() } else { Ok(vec![value(wanted)?]) }
}

/// What a recall lets through.
pub struct FilterArguments<'a, 'py> {
    pub kinds: Option<&'a Bound<'py, PyAny>>,
    pub conditions: Option<&'a Bound<'py, PyAny>>,
    pub since: Option<&'a Bound<'py, PyAny>>,
    pub until: Option<&'a Bound<'py, PyAny>>,
    pub valid_at: Option<&'a Bound<'py, PyAny>>,
    pub known_at: Option<&'a Bound<'py, PyAny>>,
    pub min_trust: Option<&'a Bound<'py, PyAny>>,
    pub relevant_only: bool,
}

impl FilterArguments<'_, '_> {
    /// The filter, at a time.
    pub fn filter(&self, now: i64) -> PyResult<Filter> {
        Ok(Filter {
            kinds: kinds(self.kinds)?,
            metadata: conditions(self.conditions)?,
            since: time::maybe_from_python("since", self.since)?,
            until: time::maybe_from_python("until", self.until)?,
            valid_at: time::maybe_from_python("valid_at", self.valid_at)?,
            known_at: time::maybe_from_python("known_at", self.known_at)?,
            preferred: None,
            min_trust: self.min_trust.map_or(Ok(0), |trust| whole("min_trust", trust, 0, MAX_TRUST.into()))? as u8,
            relevant_only: self.relevant_only,
            now,
        })
    }
}

/// Checks that a text can be one before it is given to anybody else: whether it has more than white space.
#[pyfunction]
pub fn check_text(name: &str, text: &Bound<'_, PyAny>) -> PyResult<bool> {
    text_of(name, text).map(|text| !text.trim().is_empty())
}

/// Checks a text as `remember` does, before it is embedded.
#[pyfunction]
pub fn check_memory_text(text: &Bound<'_, PyAny>) -> PyResult<()> {
    let new = memspan_engine::memory::NewMemory::new(text_of("text", text)?);
    new.check().map_err(|error| to_python(text.py(), &error))
}
