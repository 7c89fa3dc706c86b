//! JSON on its way out: the bytes of a request, a message or a value as plain Python objects, in their order.
//!
//! What is read was written by the engine or checked by it, so that anything wrong in it is damage. Whole numbers stay whole,
//! as with `json.loads` (of more than 4,300 digits they become text); it is not used because a prompt would be read twice and decoded once more.

use jiter::{Jiter, JiterResult, Peek};
use memspan_engine::limits::MAX_JSON_DEPTH;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use crate::errors::corrupt;

/// The value that a JSON text says.
pub fn decode<'py>(py: Python<'py>, json: &str) -> PyResult<Bound<'py, PyAny>> {
    let mut reader = Reader { py, json: Jiter::new(json.as_bytes()) };
    let first = reader.json.peek();
    let first = reader.sound(first)?;
    let value = reader.value(first, 0)?;
    let end = reader.json.finish();
    reader.sound(end)?;
    Ok(value)
}

struct Reader<'py, 'j> {
    py: Python<'py>,
    json: Jiter<'j>,
}

impl<'py, 'j> Reader<'py, 'j> {
    fn sound<T>(&self, read: JiterResult<T>) -> PyResult<T> {
        read.map_err(|_| self.damaged())
    }

    fn damaged(&self) -> PyErr {
        let at = self.json.current_index();
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
        let end = self.json.known_number_bytes(peek).map(<[u8]>::len);
        let length = self.sound(end)?;
        let digits = self.json.slice_to_current(start);
        debug_assert_eq!(digits.len(), length);
        let Ok(digits) = std::str::from_utf8(digits) else { return Err(self.damaged()) };
        if digits.contains(['.', 'e', 'E']) {
            return digits.parse().map(|number| PyFloat::new(py, number).into_any()).map_err(|_| self.damaged());
        }
        match digits.parse::<i64>() {
            Ok(small) => Ok(small.into_pyobject(py)?.into_any()),
            // Python refuses more than 4,300 digits. A model that writes so many gets them back as text, and the session goes on.
            Err(_) => Ok(py.get_type::<PyInt>().call1((digits,)).unwrap_or_else(|_| PyString::new(py, digits).into_any())),
        }
    }
}
