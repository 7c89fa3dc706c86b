//! Messages and tools on their way in: what a provider's SDK takes, as the JSON that it would send.
//!
//! Dicts, lists and plain values; objects of the SDKs (pydantic models) are asked for their fields. Nothing is changed or left out.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

use crate::errors::{invalid, type_name};
use crate::metadata::shown;

/// How deep dicts and lists may stand in one another: what any JSON parser takes.
const MAX_DEPTH: usize = 100;

/// The JSON of a message, a tool or a list of them; `what` names it in errors.
pub fn encode(what: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let mut writer = Writer { what, bytes: Vec::with_capacity(256) };
    writer.value(value, 0)?;
    Ok(writer.bytes)
}

struct Writer<'a> {
    what: &'a str,
    bytes: Vec<u8>,
}

impl Writer<'_> {
    fn value(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if let Ok(text) = value.cast::<PyString>() {
            return self.text(text);
        }
        if value.is_none() {
            self.raw("null");
        } else if let Ok(yes) = value.cast::<PyBool>() {
            self.raw(if yes.is_true() { "true" } else { "false" });
        } else if value.is_instance_of::<PyInt>() {
            self.int(value)?;
        } else if let Ok(number) = value.cast::<PyFloat>() {
            self.float(number)?;
        } else {
            return self.nested(value, depth + 1);
        }
        Ok(())
    }

    fn nested(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if depth > MAX_DEPTH {
            let message = format!("dicts and lists stand at most {MAX_DEPTH} deep in one another, and these stand deeper: flatten them");
            return Err(self.wrong(value, &message));
        }
        if let Ok(map) = value.cast::<PyDict>() {
            return self.map(map, depth);
        }
        if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            return self.list(value, depth);
        }
        if value.cast::<PyMapping>().is_ok() {
            let map = value.py().get_type::<PyDict>().call1((value,))?;
            return self.map(map.cast::<PyDict>()?, depth);
        }
        if let Ok(dump) = value.getattr("model_dump") {
            let options = PyDict::new(value.py());
            options.set_item("mode", "json")?;
            return self.value(&dump.call((), Some(&options))?, depth);
        }
        let message = format!(
            "it is made of None, bool, int, float, str, lists and dicts, or objects with model_dump(), and {} is {}: convert it",
            shown(value),
            type_name(value)
        );
        Err(self.wrong(value, &message))
    }

    fn map(&mut self, map: &Bound<'_, PyDict>, depth: usize) -> PyResult<()> {
        let mut before = "{";
        for (key, value) in map {
            self.raw(before);
            before = ",";
            let Ok(key) = key.cast::<PyString>() else {
                let message = format!("every key must be a str, and {} is {}: make it a str", shown(&key), type_name(&key));
                return Err(self.wrong(&key, &message));
            };
            self.text(key)?;
            self.raw(":");
            self.value(&value, depth)?;
        }
        self.raw(if map.is_empty() { "{}" } else { "}" });
        Ok(())
    }

    fn list(&mut self, list: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        self.raw("[");
        for (at, item) in list.try_iter()?.enumerate() {
            if at > 0 {
                self.raw(",");
            }
            self.value(&item?, depth)?;
        }
        self.raw("]");
        Ok(())
    }

    fn text(&mut self, text: &Bound<'_, PyString>) -> PyResult<()> {
        let Ok(utf8) = text.to_str() else {
            return Err(
                self.wrong(text, "text must be what UTF-8 can hold, and one has a lone surrogate: decode it with errors=\"replace\"")
            );
        };
        // Writing to a vector cannot fail, and any str has a JSON form.
        let _ = serde_json::to_writer(&mut self.bytes, utf8);
        Ok(())
    }

    fn int(&mut self, number: &Bound<'_, PyAny>) -> PyResult<()> {
        match number.extract::<i64>() {
            Ok(small) => self.raw(&small.to_string()),
            Err(_) => match number.py().get_type::<PyInt>().call_method1("__repr__", (number,)) {
                Ok(digits) => self.raw(&digits.to_string()),
                Err(_) => return Err(self.wrong(number, "a whole number has at most 4,300 digits, and one has more: give it as a str")),
            },
        }
        Ok(())
    }

    fn float(&mut self, number: &Bound<'_, PyFloat>) -> PyResult<()> {
        if !number.value().is_finite() {
            let message = format!("JSON has no number like {}: leave it out, or give it as a str", number.value());
            return Err(self.wrong(number, &message));
        }
        // Not its own repr: a subclass (numpy's floats are one) may write anything there.
        self.raw(&PyFloat::new(number.py(), number.value()).repr()?.to_string_lossy());
        Ok(())
    }

    fn raw(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn wrong(&self, at: &Bound<'_, PyAny>, rule: &str) -> PyErr {
        invalid(at.py(), format!("reading {}: {rule}", self.what))
    }
}
