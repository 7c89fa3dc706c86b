//! Python values on their way in: written as JSON, which messages and tools are, or as MessagePack, which metadata is.
//!
//! Dicts, lists and plain values. Objects of providers' SDKs (pydantic models) are asked for their fields where JSON is written. Nothing is
//! changed or left out; a tuple comes back as a list.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};
use rmp::encode as put;

use crate::errors::{invalid, type_name};

/// How a value is written, and what may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    MessagePack,
}

impl Form {
    /// How deep dicts and lists may stand in one another: what any JSON parser takes, and less in metadata.
    fn most_levels(self) -> usize {
        if self == Self::Json { 100 } else { 32 }
    }
}

/// The JSON of a message, a tool or a list of them; `what` names it in errors.
pub fn json(what: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let mut writer = Writer { what, form: Form::Json, bytes: Vec::with_capacity(256) };
    writer.value(value, 0)?;
    Ok(writer.bytes)
}

/// MessagePack of a mapping; empty where it has no key.
pub fn metadata(given: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let map = mapping("metadata", given)?;
    if map.is_empty() { Ok(Vec::new()) } else { metadata_value(&map) }
}

/// MessagePack of one value of it.
pub fn metadata_value(value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let mut writer = Writer { what: "metadata", form: Form::MessagePack, bytes: Vec::new() };
    writer.value(value, 0)?;
    Ok(writer.bytes)
}

/// A `dict`, or another mapping as one.
pub fn mapping<'py>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let py = value.py();
    if let Ok(dict) = value.cast::<PyDict>() {
        return Ok(dict.clone());
    }
    if value.cast::<PyMapping>().is_ok() {
        return py.get_type::<PyDict>().call1((value,))?.cast_into::<PyDict>().map_err(PyErr::from);
    }
    Err(invalid(py, format!("reading {name}: it must be a dict with str keys, and it is {}: pass a dict", type_name(value))))
}

/// The first 40 characters of a value's repr.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "it".to_owned(), |repr| repr.to_string_lossy().into_owned());
    if text.chars().count() > 40 { text.chars().take(40).chain("...".chars()).collect() } else { text }
}

// Writing to a vector cannot fail, which is why results of the writers below are dropped.
struct Writer<'a> {
    what: &'a str,
    form: Form,
    bytes: Vec<u8>,
}

impl Writer<'_> {
    fn value(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if let Ok(text) = value.cast::<PyString>() {
            return self.text(text);
        }
        if value.is_none() {
            self.either("null", |bytes| drop(put::write_nil(bytes)));
        } else if let Ok(yes) = value.cast::<PyBool>() {
            self.either(if yes.is_true() { "true" } else { "false" }, |bytes| drop(put::write_bool(bytes, yes.is_true())));
        } else if value.is_instance_of::<PyInt>() {
            self.int(value)?;
        } else if let Ok(number) = value.cast::<PyFloat>() {
            self.float(number)?;
        } else {
            return self.nested(value, depth + 1);
        }
        Ok(())
    }

    fn either(&mut self, json: &str, pack: impl FnOnce(&mut Vec<u8>)) {
        if self.form == Form::Json { self.bytes.extend_from_slice(json.as_bytes()) } else { pack(&mut self.bytes) }
    }

    fn nested(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        let (most, is_json) = (self.form.most_levels(), self.form == Form::Json);
        if depth > most {
            let next = if is_json { "flatten them" } else { "flatten them, or store them as one str" };
            return Err(
                self.wrong(value, &format!("dicts and lists stand at most {most} deep in one another, and these stand deeper: {next}"))
            );
        }
        if let Ok(map) = value.cast::<PyDict>() {
            return self.map(map, depth);
        }
        if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            return self.list(value, depth);
        }
        if let Ok(raw) = value.cast::<PyBytes>()
            && !is_json
        {
            let _ = put::write_bin(&mut self.bytes, raw.as_bytes());
            return Ok(());
        }
        if is_json && value.cast::<PyMapping>().is_ok() {
            return self.map(&mapping(self.what, value)?, depth);
        }
        if is_json && let Ok(dump) = value.getattr("model_dump") {
            let options = PyDict::new(value.py());
            options.set_item("mode", "json")?;
            return self.value(&dump.call((), Some(&options))?, depth);
        }
        let rule = match self.form {
            Form::Json => "it is made of None, bool, int, float, str, lists and dicts, or objects with model_dump()",
            Form::MessagePack => "a value is None, a bool, int, float, str or bytes, or a list or dict of these",
        };
        Err(self.wrong(value, &format!("{rule}, and {} is {}: convert it", shown(value), type_name(value))))
    }

    fn map(&mut self, map: &Bound<'_, PyDict>, depth: usize) -> PyResult<()> {
        self.either("{", |bytes| drop(put::write_map_len(bytes, map.len() as u32)));
        for (at, (key, value)) in map.iter().enumerate() {
            self.either(if at > 0 { "," } else { "" }, |_| {});
            let Ok(key) = key.cast::<PyString>() else {
                let message = format!("every key must be a str, and {} is {}: make it a str", shown(&key), type_name(&key));
                return Err(self.wrong(&key, &message));
            };
            self.text(key)?;
            self.either(":", |_| {});
            self.value(&value, depth)?;
        }
        self.either("}", |_| {});
        Ok(())
    }

    fn list(&mut self, list: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        let length = list.len()? as u32;
        self.either("[", |bytes| drop(put::write_array_len(bytes, length)));
        for (at, item) in list.try_iter()?.enumerate() {
            self.either(if at > 0 { "," } else { "" }, |_| {});
            self.value(&item?, depth)?;
        }
        self.either("]", |_| {});
        Ok(())
    }

    fn text(&mut self, text: &Bound<'_, PyString>) -> PyResult<()> {
        let Ok(utf8) = text.to_str() else {
            let rule = "text must be what UTF-8 can hold, and one has a lone surrogate: decode it with errors=\"replace\"";
            return Err(self.wrong(text, rule));
        };
        match self.form {
            Form::Json => drop(serde_json::to_writer(&mut self.bytes, utf8)), // any str has a JSON form
            Form::MessagePack => drop(put::write_str(&mut self.bytes, utf8)),
        }
        Ok(())
    }

    fn int(&mut self, number: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(small) = number.extract::<i64>() {
            self.either(&small.to_string(), |bytes| drop(put::write_sint(bytes, small)));
        } else if self.form == Form::Json {
            let digits = number.py().get_type::<PyInt>().call_method1("__repr__", (number,));
            let rule = "a whole number has at most 4,300 digits, and one has more: give it as a str";
            let digits = digits.map_err(|_| self.wrong(number, rule))?.to_string();
            self.bytes.extend_from_slice(digits.as_bytes());
        } else if let Ok(large) = number.extract::<u64>() {
            let _ = put::write_uint(&mut self.bytes, large);
        } else {
            return Err(self.wrong(number, &format!("an int has at most 64 bits, and {} has more: store it as a str", shown(number))));
        }
        Ok(())
    }

    fn float(&mut self, number: &Bound<'_, PyFloat>) -> PyResult<()> {
        let value = number.value();
        if self.form == Form::MessagePack {
            let _ = put::write_f64(&mut self.bytes, value);
        } else if value.is_finite() {
            // Not its own repr: a subclass (numpy's floats are one) may write anything there.
            self.bytes.extend_from_slice(PyFloat::new(number.py(), value).repr()?.to_string_lossy().as_bytes());
        } else {
            return Err(self.wrong(number, &format!("JSON has no number like {value}: leave it out, or give it as a str")));
        }
        Ok(())
    }

    fn wrong(&self, at: &Bound<'_, PyAny>, rule: &str) -> PyErr {
        invalid(at.py(), format!("reading {}: {rule}", self.what))
    }
}
