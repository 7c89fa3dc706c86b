//! JSON on its way out: the bytes of a request, a message or a value as plain Python objects, in their order.
//!
//! What is read was written by the engine or checked by it, so that anything wrong in it is damage. Whole numbers stay whole,
//! as with `json.loads`, which is not used because a prompt would be read twice and decoded once more. A number that Python does not hold,
//! of more than 4,300 digits or beyond its floats, becomes text: a model that writes one gets it back, and the session goes on.

use jiter::{Jiter, JiterResult, Peek};
use memspan_engine::limits::MAX_JSON_DEPTH;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::errors::corrupt;

/// The value that a JSON text says.
pub fn decode<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    let mut reader = Reader { py, text: json, before: 0, json: Jiter::new(json.as_bytes()) };
    let first = reader.json.peek();
    let first = reader.sound(first)?;
    let value = reader.value(first, 0)?;
    let end = reader.json.finish();
    reader.sound(end)?;
    Ok(value)
}

/// Digits of a whole number that Python and jiter read.
const MOST_DIGITS: usize = 4300;

struct Reader<'py, 'j> {
    py: Python<'py>,
    /// What `json` reads, and how many bytes were before it.
    text: &'j str,
    before: usize,
    json: Jiter<'j>,
}

impl<'py, 'j> Reader<'py, 'j> {
    fn sound<T>(&self, read: JiterResult<T>) -> PyResult<T> {
        read.map_err(|_| self.damaged())
    }

    fn damaged(&self) -> PyErr {
        let at = self.before + self.json.current_index();
        corrupt(self.py, format!("reading JSON: it must be well formed, and it is not at byte {at}: restore the store from a backup"))
    }

    fn value(&mut self, peek: Peek, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        match peek {
            Peek::String => match self.json.known_str() {
                Ok(text) => Ok(PyString::new(py, text).into_any()),
                Err(_) => Err(self.damaged()),
            },
            Peek::Object if depth < MAX_JSON_DEPTH => self.map(depth),
            Peek::Array if depth < MAX_JSON_DEPTH => self.list(depth),
            Peek::True | Peek::False => {
                let read = self.json.known_bool(peek);
                Ok(PyBool::new(py, self.sound(read)?).to_owned().into_any())
            }
            Peek::Null => {
                let read = self.json.known_null();
                self.sound(read).map(|()| py.None().into_bound(py))
            }
            _ if peek.is_num() => self.number(peek),
            _ => Err(self.damaged()),
        }
    }

    fn map(&mut self, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        let map = PyDict::new(self.py);
        let mut key = self.key(Jiter::known_object)?;
        while let Some(name) = key {
            let peek = self.json.peek();
            let peek = self.sound(peek)?;
            map.set_item(name, self.value(peek, depth + 1)?)?;
            key = self.key(Jiter::next_key)?;
        }
        Ok(map.into_any())
    }

    fn key(&mut self, read: for<'r> fn(&'r mut Jiter<'j>) -> JiterResult<Option<&'r str>>) -> PyResult<Option<Bound<'py, PyString>>> {
        match read(&mut self.json) {
            Ok(name) => Ok(name.map(|name| PyString::new(self.py, name))),
            Err(_) => Err(self.damaged()),
        }
    }

    fn list(&mut self, depth: usize) -> PyResult<Bound<'py, PyAny>> {
        let list = PyList::empty(self.py);
        let first = self.json.known_array();
        let mut next = self.sound(first)?;
        while let Some(peek) = next {
            list.append(self.value(peek, depth + 1)?)?;
            let step = self.json.array_step();
            next = self.sound(step)?;
        }
        Ok(list.into_any())
    }

    fn number(&mut self, peek: Peek) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py;
        let start = self.json.current_index();
        let Ok(length) = self.json.known_number_bytes(peek).map(<[u8]>::len) else { return self.long_number(start) };
        let digits = &self.text[start..start + length];
        if digits.contains(['.', 'e', 'E']) {
            let number: f64 = digits.parse().map_err(|_| self.damaged())?;
            return Ok(if number.is_finite() { PyFloat::new(py, number).into_any() } else { PyString::new(py, digits).into_any() });
        }
        match digits.parse::<i64>() {
            Ok(small) => Ok(small.into_pyobject(py)?.into_any()),
            Err(_) => Ok(py.get_type::<PyInt>().call1((digits,)).unwrap_or_else(|_| PyString::new(py, digits).into_any())),
        }
    }

    /// A number that jiter refuses for its length, as text; reading goes on behind it, since jiter keeps no state but its place.
    fn long_number(&mut self, start: usize) -> PyResult<Bound<'py, PyAny>> {
        let rest = &self.text[start..];
        let end = rest.find(|sign: char| !matches!(sign, '0'..='9' | '+' | '-' | '.' | 'e' | 'E')).unwrap_or(rest.len());
        if end <= MOST_DIGITS {
            return Err(self.damaged());
        }
        (self.before, self.text) = (self.before + start + end, &rest[end..]);
        self.json = Jiter::new(self.text.as_bytes());
        Ok(PyString::new(self.py, &rest[..end]).into_any())
    }
}
