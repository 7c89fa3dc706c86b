//! Metadata: a `dict` with text keys on the Python side, MessagePack on the other.
//!
//! What comes back equals what was given, except that a tuple comes back as a list.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use rmp::Marker;
use rmp::encode as put;

use crate::arguments::text_of;
use crate::errors::{corrupt, invalid, type_name};

/// How deep mappings and lists may stand in one another.
const MAX_DEPTH: usize = 32;

/// MessagePack of a mapping; empty where there is none or it has no key.
pub fn encode(metadata: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<u8>> {
    let mut bytes = Vec::new();
    let Some(metadata) = metadata else { return Ok(bytes) };
    let map = mapping("metadata", metadata)?;
    if !map.is_empty() {
        encode_map(&mut bytes, &map, 1)?;
    }
    Ok(bytes)
}

/// A `dict`, or another mapping as one.
pub fn mapping<'py>(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    let py = value.py();
    if let Ok(dict) = value.cast::<PyDict>() {
        return Ok(dict.clone());
    }
    if value.cast::<pyo3::types::PyMapping>().is_ok() {
        return py.get_type::<PyDict>().call1((value,))?.cast_into::<PyDict>().map_err(PyErr::from);
    }
    Err(invalid(py, format!("reading {name}: it must be a dict with str keys, and it is {}: pass a dict", type_name(value))))
}

fn encode_map(bytes: &mut Vec<u8>, map: &Bound<'_, PyDict>, depth: usize) -> PyResult<()> {
    let py = map.py();
    check_depth(py, depth)?;
    let _ = put::write_map_len(bytes, map.len() as u32);
    for (key, value) in map {
        if !key.is_instance_of::<PyString>() {
            return Err(invalid(
                py,
                format!("reading metadata: every key must be a str, and {} is {}: make it a str", shown(&key), type_name(&key)),
            ));
        }
        let _ = put::write_str(bytes, &text_of("a key of metadata", &key)?);
        encode_value(bytes, &value, depth)?;
    }
    Ok(())
}

fn check_depth(py: Python<'_>, depth: usize) -> PyResult<()> {
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    Err(invalid(
        py,
        format!(
            "reading metadata: dicts and lists stand at most {MAX_DEPTH} deep in one another, and these stand deeper: flatten them, or store them as one str"
        ),
    ))
}

/// MessagePack of one value.
pub fn encode_value(bytes: &mut Vec<u8>, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
    if value.is_none() {
        let _ = put::write_nil(bytes);
    } else if let Ok(yes) = value.cast::<PyBool>() {
        let _ = put::write_bool(bytes, yes.is_true());
    } else if value.is_instance_of::<PyString>() {
        let _ = put::write_str(bytes, &text_of("a value of metadata", value)?);
    } else if value.is_instance_of::<PyInt>() {
        encode_int(bytes, value)?;
    } else if let Ok(number) = value.cast::<PyFloat>() {
        let _ = put::write_f64(bytes, number.value());
    } else if let Ok(raw) = value.cast::<PyBytes>() {
        let _ = put::write_bin(bytes, raw.as_bytes());
    } else if let Ok(map) = value.cast::<PyDict>() {
        encode_map(bytes, map, depth + 1)?;
    } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        check_depth(value.py(), depth + 1)?;
        let _ = put::write_array_len(bytes, value.len()? as u32);
        for item in value.try_iter()? {
            encode_value(bytes, &item?, depth + 1)?;
        }
    } else {
        return Err(invalid(
            value.py(),
            format!(
                "reading metadata: a value is None, a bool, int, float, str or bytes, or a list or dict of these, and {} is {}: convert it",
                shown(value),
                type_name(value)
            ),
        ));
    }
    Ok(())
}

fn encode_int(bytes: &mut Vec<u8>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(number) = value.extract::<i64>() {
        let _ = put::write_sint(bytes, number);
    } else if let Ok(number) = value.extract::<u64>() {
        let _ = put::write_uint(bytes, number);
    } else {
        return Err(invalid(
            value.py(),
            format!("reading metadata: an int has at most 64 bits, and {} has more: store it as a str", shown(value)),
        ));
    }
    Ok(())
}

/// The first 40 characters of a value's repr.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "it".to_owned(), |repr| repr.to_string_lossy().into_owned());
    if text.chars().count() > 40 { text.chars().take(40).chain("...".chars()).collect() } else { text }
}

/// A fresh `dict`; an empty one where there is no metadata.
pub fn decode<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    if bytes.is_empty() {
        return Ok(PyDict::new(py));
    }
    let mut reader = Reader { py, bytes };
    reader.value(0).and_then(|value| value.cast_into::<PyDict>().map_err(|_| reader.damaged()))
}

struct Reader<'py, 'b> {
    py: Python<'py>,
    bytes: &'b [u8],
}

impl<'py, 'b> Reader<'py, 'b> {
    fn damaged(&self) -> PyErr {
        corrupt(self.py, "reading metadata: its bytes are not MessagePack of a mapping; restore the store from a backup")
    }

    fn value(&mut self, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        use rmp::decode as get;
        let marker = self.bytes.first().map(|byte| Marker::from_u8(*byte)).filter(|_| depth <= MAX_DEPTH).ok_or_else(|| self.damaged())?;
        let py = self.py;
        Ok(match marker {
            Marker::Null => {
                self.bytes = &self.bytes[1..];
                py.None().into_bound(py)
            }
            Marker::True | Marker::False => {
                self.bytes = &self.bytes[1..];
                PyBool::new(py, marker == Marker::True).to_owned().into_any()
            }
            Marker::F64 => PyFloat::new(py, get::read_f64(&mut self.bytes).map_err(|_| self.damaged())?).into_any(),
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
                let length = get::read_str_len(&mut self.bytes).map_err(|_| self.damaged())?;
                let text = std::str::from_utf8(self.take(length)?).map_err(|_| self.damaged())?;
                PyString::new(py, text).into_any()
            }
            Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => {
                let length = get::read_bin_len(&mut self.bytes).map_err(|_| self.damaged())?;
                PyBytes::new(py, self.take(length)?).into_any()
            }
            Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => self.list(depth)?,
            Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => self.map(depth)?,
            Marker::U64 => get::read_u64(&mut self.bytes).map_err(|_| self.damaged())?.into_pyobject(py)?.into_any(),
            _ => get::read_int::<i64, _>(&mut self.bytes).map_err(|_| self.damaged())?.into_pyobject(py)?.into_any(),
        })
    }

    fn list(&mut self, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        let length = rmp::decode::read_array_len(&mut self.bytes).map_err(|_| self.damaged())?;
        let list = PyList::empty(self.py);
        for _ in 0..length {
            list.append(self.value(depth + 1)?)?;
        }
        Ok(list.into_any())
    }

    fn map(&mut self, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        let length = rmp::decode::read_map_len(&mut self.bytes).map_err(|_| self.damaged())?;
        let dict = PyDict::new(self.py);
        for _ in 0..length {
            let key = self.value(depth + 1)?;
            dict.set_item(key, self.value(depth + 1)?)?;
        }
        Ok(dict.into_any())
    }

    fn take(&mut self, length: u32) -> PyResult<&'b [u8]> {
        if length as usize > self.bytes.len() {
            return Err(self.damaged());
        }
        let (taken, rest) = self.bytes.split_at(length as usize);
        self.bytes = rest;
        Ok(taken)
    }
}
