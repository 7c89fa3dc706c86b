//! JSON on its way out: the bytes of a request, a message or a value as plain Python objects, in their order.
//!
//! What is read was written by the engine or checked by it, so that anything wrong in it is damage. Whole numbers stay whole
//! whatever their size, as with `json.loads`; it is not used because a prompt would be read twice and decoded once more.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::errors::corrupt;

/// Deeper than anything that is let in ([`crate::json`]), with room for what a request puts around it.
const MAX_DEPTH: usize = 128;
/// Bytes of a text that are looked at together.
const LANES: usize = 16;

/// The value that a JSON text says.
pub fn decode<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    let mut reader = Reader { py, json, at: 0 };
    let value = reader.value(0)?;
    if reader.peek().is_some() { Err(reader.damaged()) } else { Ok(value) }
}

struct Reader<'py, 'j> {
    py: Python<'py>,
    json: &'j str,
    at: usize,
}

impl<'py> Reader<'py, '_> {
    fn damaged(&self) -> PyErr {
        corrupt(
            self.py,
            format!("reading JSON: it must be well formed, and it is not at byte {}: restore the store from a backup", self.at),
        )
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.json.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')).count();
        self.json.as_bytes().get(self.at).copied()
    }

    /// Goes over a byte that must stand here.
    fn expect(&mut self, byte: u8) -> PyResult<()> {
        if self.peek() != Some(byte) {
            return Err(self.damaged());
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        match self.peek() {
            Some(b'"') => Ok(self.text()?.into_any()),
            Some(b'{') if depth < MAX_DEPTH => self.map(depth),
            Some(b'[') if depth < MAX_DEPTH => self.list(depth),
            Some(b't') => self.word("true", PyBool::new(py, true).to_owned().into_any()),
            Some(b'f') => self.word("false", PyBool::new(py, false).to_owned().into_any()),
            Some(b'n') => self.word("null", py.None().into_bound(py)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => Err(self.damaged()),
        }
    }

    fn word(&mut self, word: &str, value: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if !self.json[self.at..].starts_with(word) {
            return Err(self.damaged());
        }
        self.at += word.len();
        Ok(value)
    }

    fn map(&mut self, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        let map = PyDict::new(self.py);
        self.at += 1;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(map.into_any());
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.damaged());
            }
            let key = self.text()?;
            self.expect(b':')?;
            map.set_item(key, self.value(depth + 1)?)?;
            if !self.goes_on(b'}')? {
                return Ok(map.into_any());
            }
        }
    }

    fn list(&mut self, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        let list = PyList::empty(self.py);
        self.at += 1;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(list.into_any());
        }
        loop {
            list.append(self.value(depth + 1)?)?;
            if !self.goes_on(b']')? {
                return Ok(list.into_any());
            }
        }
    }

    /// Goes over a comma, or over what ends the list or the map.
    fn goes_on(&mut self, end: u8) -> PyResult<bool> {
        let next = self.peek();
        if next != Some(b',') && next != Some(end) {
            return Err(self.damaged());
        }
        self.at += 1;
        Ok(next == Some(b','))
    }

    /// The text that begins at a quotation mark.
    fn text(&mut self) -> PyResult<Bound<'py, PyString>> {
        let start = self.at;
        let bytes = self.json.as_bytes();
        let (mut end, mut escaped) = (start + 1, false);
        loop {
            end += plain(&bytes[end..]);
            match bytes.get(end) {
                Some(b'"') => break,
                Some(_) => (end, escaped) = ((end + 2).min(bytes.len()), true),
                None => return Err(self.damaged()),
            }
        }
        self.at = end + 1;
        if !escaped {
            return Ok(PyString::new(self.py, &self.json[start + 1..end]));
        }
        let text: String = serde_json::from_str(&self.json[start..=end]).map_err(|_| self.damaged())?;
        Ok(PyString::new(self.py, &text))
    }

    fn number(&mut self) -> PyResult<Bound<'py, PyAny>> {
        let rest = &self.json[self.at..];
        let length = rest.bytes().take_while(|byte| matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9')).count();
        let digits = &rest[..length];
        let value = if digits.contains(['.', 'e', 'E']) {
            PyFloat::new(self.py, digits.parse().map_err(|_| self.damaged())?).into_any()
        } else if let Ok(small) = digits.parse::<i64>() {
            small.into_pyobject(self.py)?.into_any()
        } else {
            self.py.get_type::<PyInt>().call1((digits,))?
        };
        self.at += length;
        Ok(value)
    }
}

/// How many bytes from here on are neither a quotation mark nor an escape.
fn plain(bytes: &[u8]) -> usize {
    let special = |byte: &u8| *byte == b'"' || *byte == b'\\';
    let clean = bytes.chunks_exact(LANES).take_while(|lanes| !lanes.iter().fold(false, |found, byte| found | special(byte))).count();
    let at = clean * LANES;
    at + bytes[at..].iter().take_while(|byte| !special(byte)).count()
}
