//! Metadata on its way out: MessagePack as a `dict`.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyList, PyString};
use rmp::Marker;

use crate::errors::corrupt;

/// A fresh `dict`; an empty one where there is no metadata.
pub fn decode<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    if bytes.is_empty() {
        return Ok(PyDict::new(py));
    }
    let mut reader = Reader { py, bytes };
    reader.value(0).and_then(|value| value.cast_into::<PyDict>().map_err(|_| reader.damaged()))
}

/// How deep mappings and lists stand in one another.
const MAX_DEPTH: usize = 32;

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
