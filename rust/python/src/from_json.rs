//! JSON on its way out: the bytes of a request, a message or a value as plain Python objects, in their order.
//!
//! What is read was written by the engine or checked by it, so that anything wrong in it is damage. Whole numbers stay whole,
//! as with `json.loads` (of more than 4,300 digits they become text); it is not used because a prompt would be read twice and decoded once more.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::errors::corrupt;

/// Deeper than anything that is let in ([`crate::json`]), with room for what a request puts around it.
const MAX_DEPTH: usize = 128;

/// The value that a JSON text says.
pub fn decode<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    let mut reader = Reader { py, json, at: 0, text: String::new() };
    let value = reader.value(0)?;
    if reader.peek().is_some() { Err(reader.damaged()) } else { Ok(value) }
}

struct Reader<'py, 'j> {
    py: Python<'py>,
    json: &'j str,
    at: usize,
    /// Room for texts with escapes.
    text: String,
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
        let start = self.at + 1;
        let end = start + plain(&self.json.as_bytes()[start..]);
        if self.json.as_bytes().get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(PyString::new(self.py, &self.json[start..end]));
        }
        self.at = start;
        self.escaped()
    }

    /// The same where something in it is escaped. Written down here because a request has an escape for each line of its texts.
    fn escaped(&mut self) -> PyResult<Bound<'py, PyString>> {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        loop {
            let run = plain(&self.json.as_bytes()[self.at..]);
            text.push_str(&self.json[self.at..self.at + run]);
            self.at += run + 1;
            match self.json.as_bytes().get(self.at - 1) {
                Some(b'"') => break,
                Some(b'\\') => text.push(self.escape()?),
                _ => return Err(self.damaged()),
            }
        }
        let made = PyString::new(self.py, &text);
        self.text = text;
        Ok(made)
    }

    /// The character that an escape says; its backslash is behind us.
    fn escape(&mut self) -> PyResult<char> {
        self.at += 1;
        Ok(match self.json.as_bytes().get(self.at - 1) {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(same @ (b'"' | b'\\' | b'/')) => char::from(*same),
            Some(b'u') => self.numbered()?,
            _ => return Err(self.damaged()),
        })
    }

    /// The character of a `\uXXXX`, or of two that are one (RFC 8259, section 7).
    fn numbered(&mut self) -> PyResult<char> {
        let first = self.unit()?;
        if !(0xD800..0xDC00).contains(&first) || !self.json[self.at..].starts_with("\\u") {
            return char::from_u32(first).ok_or_else(|| self.damaged());
        }
        self.at += 2;
        let second = self.unit()?.checked_sub(0xDC00).filter(|low| *low < 0x400);
        let point = second.map(|low| 0x1_0000 + ((first - 0xD800) << 10) + low);
        point.and_then(char::from_u32).ok_or_else(|| self.damaged())
    }

    fn unit(&mut self) -> PyResult<u32> {
        let digits = self.json.get(self.at..self.at + 4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at += 4;
        digits.ok_or_else(|| self.damaged())
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
            // Python refuses more than 4,300 digits. A model that writes so many gets them back as text, and the session goes on.
            self.py.get_type::<PyInt>().call1((digits,)).unwrap_or_else(|_| PyString::new(self.py, digits).into_any())
        };
        self.at += length;
        Ok(value)
    }
}

/// How many bytes from here on are neither a quotation mark nor an escape: eight at a time, as one number.
fn plain(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    for (at, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let special = zeros(word ^ (EACH * u64::from(b'"'))) | zeros(word ^ (EACH * u64::from(b'\\')));
        if special != 0 {
            return 8 * at + special.trailing_zeros() as usize / 8;
        }
    }
    8 * words.len() + rest.iter().take_while(|byte| !matches!(**byte, b'"' | b'\\')).count()
}

/// One in each byte.
const EACH: u64 = 0x0101_0101_0101_0101;

/// The high bits of bytes that are 0. Only above the lowest of them can there be others (Mycroft's test), and the lowest is what counts.
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(EACH) & !word & (EACH << 7)
}
