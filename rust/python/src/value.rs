//! Values on their way out: each of the engine's that Python sees has one line that names the fields of its frozen class.
//!
//! The classes are declared in `memspan._results`, `memspan._records` and `memspan._kept`. `shows!` fills one by name, `keeps!` keeps the
//! engine's value and makes a field when it is read.

use std::path::PathBuf;
use std::sync::Arc;

use memspan_engine::plain::read;
use memspan_engine::process::Once;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyByteArray, PyBytes, PyDict, PyList, PyTuple, PyType};

use crate::errors::to_python;
use crate::plain::{Objects, Raised};
use crate::time;

/// The Python object for a value.
pub trait Show {
    fn show(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>>;
}

macro_rules! as_is {
    ($($kind:ty),*) => {
        $(impl $crate::value::Show for $kind {
            fn show(self, py: pyo3::Python<'_>) -> pyo3::PyResult<pyo3::Bound<'_, pyo3::PyAny>> {
                pyo3::IntoPyObjectExt::into_bound_py_any(self, py)
            }
        })*
    };
}
pub(crate) use as_is;
as_is!((), bool, u8, u16, u32, u64, usize, i64, f64, &str, String, PathBuf, PyErr, Py<PyAny>, Kept);

/// A value that Python sees as something else than what it is kept as.
macro_rules! seen {
    ($($kind:ty |$py:ident, $kept:ident| $shown:expr;)*) => {
        $(impl Show for $kind {
            fn show(self, $py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
                let $kept = self;
                $shown
            }
        })*
    };
}

/// An aware `datetime` in UTC.
pub struct Moment(pub i64);

/// A caller's mapping, as MessagePack: a fresh dict.
pub struct Attached(pub Vec<u8>);

/// JSON: fresh plain objects.
pub struct Json<T>(pub T);

/// A hash in 32 hexadecimal digits.
pub struct Hex(pub u128);

/// Bytes.
pub struct Raw(pub Vec<u8>);

/// Numbers as float32 in this machine's byte order: a `bytearray`, which the caller may write to.
pub struct Floats(pub Vec<f32>);

seen! {
    Box<str> |py, text| text.into_bound_py_any(py);
    Arc<str> |py, text| (&*text).into_bound_py_any(py);
    Bound<'_, PyAny> |py, value| Ok(value.unbind().into_bound(py));
    Moment |py, at| time::to_python(py, at.0);
    Attached |py, bytes| Ok(read::metadata(&bytes.0, &Objects(py))?);
    Json<&str> |py, text| Ok(read::json(text.0, &Objects(py))?);
    Json<String> |py, text| Ok(read::json(&text.0, &Objects(py))?);
    Result<Py<PyAny>, Raised> |py, made| Ok(made?.into_bound(py));
    Floats |py, numbers| PyByteArray::new(py, &numbers.0.iter().flat_map(|x| x.to_ne_bytes()).collect::<Vec<_>>()).into_bound_py_any(py);
    Raw |py, bytes| PyBytes::new(py, &bytes.0).into_bound_py_any(py);
    Hex |py, hash| format!("{:032x}", hash.0).into_bound_py_any(py);
}

impl<T: Show> Show for Option<T> {
    fn show(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        self.map_or_else(|| Ok(py.None().into_bound(py)), |value| value.show(py))
    }
}

impl<T: Show> Show for Result<T, memspan_engine::Error> {
    fn show(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        self.map_or_else(|error| to_python(py, &error).show(py), |value| value.show(py))
    }
}

impl<T: Show> Show for Vec<T> {
    fn show(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let all = self.into_iter().map(|one| one.show(py)).collect::<PyResult<Vec<_>>>()?;
        Ok(PyList::new(py, all)?.into_any())
    }
}

impl<A: Show, B: Show> Show for (A, B) {
    fn show(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        (self.0.show(py)?, self.1.show(py)?).into_bound_py_any(py)
    }
}

/// Several, as a tuple.
pub struct Tuple<T>(pub Vec<T>);

impl<T: Show> Show for Tuple<T> {
    fn show(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let all = self.0.into_iter().map(|one| one.show(py)).collect::<PyResult<Vec<_>>>()?;
        Ok(PyTuple::new(py, all)?.into_any())
    }
}

/// Several by name.
pub struct Named<T>(pub Vec<(&'static str, T)>);

impl<T: Show> Show for Named<T> {
    fn show(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        let values = PyDict::new(py);
        self.0.into_iter().try_for_each(|(name, value)| values.set_item(name, value.show(py)?))?;
        Ok(values.into_any())
    }
}

/// A `str` that is made once. pyo3's `intern!` has a lock, which the child of a fork may find taken for ever.
macro_rules! interned {
    ($py:expr, $text:expr) => {{
        static TEXT: memspan_engine::process::Once<pyo3::Py<pyo3::types::PyString>> = memspan_engine::process::Once::new();
        TEXT.get_or_init(|| pyo3::types::PyString::intern($py, $text).unbind()).bind($py)
    }};
}
pub(crate) use interned;

/// Says how values of the engine become frozen values of Python's: the class, and its fields. A field without an expression is that of
/// the same name.
macro_rules! shows {
    ($($kind:ty as $class:ident |$it:ident| { $($field:ident $(= $shown:expr)?),* $(,)? })*) => {
        $(impl $crate::value::Show for $kind {
            fn show(self, py: pyo3::Python<'_>) -> pyo3::PyResult<pyo3::Bound<'_, pyo3::PyAny>> {
                static CLASS: memspan_engine::process::Once<pyo3::Py<pyo3::types::PyType>> = memspan_engine::process::Once::new();
                let (made, fields) = $crate::value::new(py, &CLASS, stringify!($class))?;
                let $it = self;
                $(
                    let shown = $crate::value::Show::show(shows!(@ $it $field $($shown)?), py)?;
                    pyo3::types::PyDictMethods::set_item(&fields, $crate::value::interned!(py, stringify!($field)), shown)?;
                )*
                Ok(made)
            }
        })*
    };
    (@ $it:ident $field:ident) => { $it.$field };
    (@ $it:ident $field:ident $shown:expr) => { $shown };
}
pub(crate) use shows;

/// A value of the engine's whose fields are made when Python reads them.
pub trait Fields: Send + Sync {
    fn field<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>>;
}

/// Python's handle of such a value.
#[pyclass(frozen, module = "memspan._core")]
pub struct Kept(pub Box<dyn Fields>);

#[pymethods]
impl Kept {
    fn field<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.0.field(py, name)
    }
}

/// Says what each field of a value is that is kept. `as` names the class that reads them; without it Python is given what is kept.
macro_rules! keeps {
    ($($kind:ty $(as $class:ident)? |$it:ident, $py:ident| { $($field:ident = $shown:expr),* $(,)? })*) => {
        $(
            impl $crate::value::Fields for $kind {
                fn field<'py>(&self, $py: pyo3::Python<'py>, name: &str) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
                    let $it = self;
                    match name {
                        $(stringify!($field) => $crate::value::Show::show($shown, $py),)*
                        other => Err(pyo3::exceptions::PyAttributeError::new_err(other.to_owned())),
                    }
                }
            }

            impl $crate::value::Show for $kind {
                fn show(self, py: pyo3::Python<'_>) -> pyo3::PyResult<pyo3::Bound<'_, pyo3::PyAny>> {
                    let kept = $crate::value::Kept(Box::new(self));
                    $crate::value::keeps!(@ py kept $($class)?)
                }
            }
        )*
    };
    (@ $py:ident $kept:ident) => { $crate::value::Show::show($kept, $py) };
    (@ $py:ident $kept:ident $class:ident) => {{
        static CLASS: memspan_engine::process::Once<pyo3::Py<pyo3::types::PyType>> = memspan_engine::process::Once::new();
        let (made, fields) = $crate::value::new($py, &CLASS, stringify!($class))?;
        pyo3::types::PyDictMethods::set_item(&fields, $crate::value::interned!($py, "_kept"), $kept)?;
        Ok(made)
    }};
}
pub(crate) use keeps;

/// A `dict` of values by name.
macro_rules! dict {
    ($py:expr; $($name:ident = $value:expr),* $(,)?) => {{
        let values = pyo3::types::PyDict::new($py);
        $(pyo3::types::PyDictMethods::set_item(&values, stringify!($name), $crate::value::Show::show($value, $py)?)?;)*
        values
    }};
}
pub(crate) use dict;

/// A value of a class, and the fields that it is to be given.
pub fn new<'py>(py: Python<'py>, class: &'static Once<Py<PyType>>, name: &str) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyDict>)> {
    let find = || -> PyResult<Py<PyType>> {
        let home = |module: &str| py.import(module)?.getattr(name);
        let class = home("memspan._results").or_else(|_| home("memspan._records")).or_else(|_| home("memspan._kept"))?;
        Ok(class.cast_into::<PyType>()?.unbind())
    };
    let class = class.get_or_try_init(find)?.bind(py);
    let made = class.call_method1(interned!(py, "__new__"), (class,))?;
    let fields = made.getattr(interned!(py, "__dict__"))?.cast_into::<PyDict>()?;
    Ok((made, fields))
}
