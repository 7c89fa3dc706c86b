//! Plain values: what JSON and MessagePack say as Python's objects, and back. Forms, depths and what a form cannot say are the engine's.

use memspan_engine::Error;
use memspan_engine::plain::make::Make;
use memspan_engine::plain::write::{Cannot, Form, Given, write};
use memspan_engine::plain::{Plain, Whole};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

use crate::errors::{invalid, shown, to_python, type_name};

/// Python makes objects of plain values.
pub struct Objects<'py>(pub Python<'py>);

impl<'py> Make for Objects<'py> {
    type Value = Bound<'py, PyAny>;
    type Error = Raised;

    fn make(&self, plain: Plain<'_>) -> Bound<'py, PyAny> {
        let py = self.0;
        match plain {
            Plain::Null => py.None().into_bound(py),
            Plain::Bool(yes) => PyBool::new(py, yes).to_owned().into_any(),
            Plain::Int(number) => PyInt::new(py, number).into_any(),
            Plain::Uint(number) => PyInt::new(py, number).into_any(),
            Plain::Digits(digits) => py.get_type::<PyInt>().call1((&*digits,)).unwrap_or_else(|_| PyString::new(py, &digits).into_any()),
            Plain::Float(number) => PyFloat::new(py, number).into_any(),
            Plain::Text(text) => PyString::new(py, &text).into_any(),
            Plain::Bytes(bytes) => PyBytes::new(py, &bytes).into_any(),
            Plain::List(()) => PyList::empty(py).into_any(),
            Plain::Map(()) => PyDict::new(py).into_any(),
        }
    }

    fn put(&self, into: &mut Bound<'py, PyAny>, key: Option<Bound<'py, PyAny>>, value: Bound<'py, PyAny>) -> Result<(), Raised> {
        match key {
            Some(key) => into.set_item(key, value)?,
            None => into.cast::<PyList>().map_err(PyErr::from)?.append(value)?,
        }
        Ok(())
    }
}

/// The JSON of a message, a tool or a list of them; `what` names it in errors.
pub fn json(what: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    Ok(write(what, Form::Json, &Object(value.clone()))?)
}

/// MessagePack of a mapping; empty where it has no key.
pub fn metadata(given: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    let map = mapping("metadata", given)?;
    if map.is_empty() { Ok(Vec::new()) } else { metadata_value(&map) }
}

/// MessagePack of one value of it.
pub fn metadata_value(value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    Ok(write("metadata", Form::MessagePack, &Object(value.clone()))?)
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

struct Object<'py>(Bound<'py, PyAny>);

/// Python's exception while a value was looked at or made, or the engine's error.
pub struct Raised(PyErr);

impl From<Error> for Raised {
    fn from(error: Error) -> Self {
        Python::attach(|py| Self(to_python(py, &error)))
    }
}

impl From<Raised> for PyErr {
    fn from(raised: Raised) -> Self {
        raised.0
    }
}

impl From<PyErr> for Raised {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl Given for Object<'_> {
    type Error = Raised;

    fn look(&self, form: Form) -> Result<Result<Whole<'_, Self>, Cannot>, Raised> {
        let (value, is_json) = (&self.0, form == Form::Json);
        if let Ok(text) = value.cast::<PyString>() {
            return Ok(text.to_str().map(|text| Plain::Text(text.into())).map_err(|_| Cannot::Surrogate));
        }
        if value.is_instance_of::<PyInt>() && !value.is_instance_of::<PyBool>() {
            return Ok(whole(value, is_json));
        }
        Ok(Ok(if value.is_none() {
            Plain::Null
        } else if let Ok(yes) = value.cast::<PyBool>() {
            Plain::Bool(yes.is_true())
        } else if let Ok(number) = value.cast::<PyFloat>() {
            float(number, is_json)?
        } else if let Ok(map) = value.cast::<PyDict>() {
            entries(map)
        } else if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
            Plain::List(value.try_iter()?.map(|item| item.map(Self)).collect::<PyResult<_>>()?)
        } else if is_json && value.cast::<PyMapping>().is_ok() {
            entries(&mapping("a mapping", value)?)
        } else if is_json && value.hasattr("model_dump")? {
            return dumped(value);
        } else if let (Ok(raw), false) = (value.cast::<PyBytes>(), is_json) {
            Plain::Bytes(raw.as_bytes().into())
        } else {
            return Ok(Err(Cannot::Kind));
        }))
    }

    fn in_words(&self) -> String {
        format!("{} is {}", shown(&self.0), type_name(&self.0))
    }
}

fn entries<'py>(map: &Bound<'py, PyDict>) -> Whole<'static, Object<'py>> {
    Plain::Map(map.iter().map(|(key, value)| (Object(key), Object(value))).collect())
}

fn whole<'py>(number: &Bound<'py, PyAny>, is_json: bool) -> Result<Whole<'static, Object<'py>>, Cannot> {
    if let Ok(small) = number.extract::<i64>() {
        return Ok(Plain::Int(small));
    }
    if let Ok(large) = number.extract::<u64>() {
        return Ok(Plain::Uint(large));
    }
    let digits = number.py().get_type::<PyInt>().call_method1("__repr__", (number,));
    match digits {
        Err(_) if is_json => Err(Cannot::LongNumber),
        digits => Ok(Plain::Digits(digits.map_or_else(|_| String::new(), |digits| digits.to_string()).into())),
    }
}

/// Not its own repr: a subclass (numpy's floats are one) may write anything there.
fn float<'py>(number: &Bound<'py, PyFloat>, is_json: bool) -> PyResult<Whole<'static, Object<'py>>> {
    let value = number.value();
    if !is_json || !value.is_finite() {
        return Ok(Plain::Float(value));
    }
    let digits = PyFloat::new(number.py(), value).repr()?;
    Ok(Plain::Digits(digits.to_string_lossy().into_owned().into()))
}

/// The fields of an object of a provider's SDK (a pydantic model).
fn dumped<'py>(value: &Bound<'py, PyAny>) -> Result<Result<Whole<'static, Object<'py>>, Cannot>, Raised> {
    let fields = value.py().import("memspan._fields")?.call_method1("dumped", (value,))?;
    if fields.hasattr("model_dump")? {
        return Ok(Err(Cannot::Kind));
    }
    Ok(Object(fields).look(Form::Json)?.map(Plain::into_owned))
}
