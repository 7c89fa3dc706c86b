//! Values on their way out: each of the engine's that Python sees has one line that names the fields of its frozen class.
//!
//! The classes are declared in `memspan/_results.py` and `memspan._records.py`; here they are filled by name.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

use crate::{from_json, metadata, time};

/// What Python is given for a value.
pub trait Show {
    fn show(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>>;
}

macro_rules! plain {
    ($($kind:ty),*) => {
        $(impl $crate::value::Show for $kind {
            fn show(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
                pyo3::IntoPyObjectExt::into_bound_py_any(self, py)
            }
        })*
    };
}
pub(crate) use plain;
plain!((), bool, u8, u16, u32, u64, usize, i64, f64, &str, String, PathBuf, PyErr);

macro_rules! texts {
    ($($kind:ty),*) => {
        $(impl Show for $kind {
            fn show(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
                (&*self).into_bound_py_any(py)
            }
        })*
    };
}
texts!(Box<str>, Arc<str>);

impl Show for Bound<'_, PyAny> {
    fn show(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        Ok(self.unbind().into_bound(py))
    }
}

impl<T: Show> Show for Option<T> {
    fn show(self, py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
        self.map_or_else(|| Ok(py.None().into_bound(py)), |value| value.show(py))
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

/// A value that Python sees as something else than what it is kept as.
macro_rules! seen {
    ($($(#[$doc:meta])* $name:ident($kind:ty) |$py:ident, $kept:ident| $shown:expr;)*) => {
        $(
            $(#[$doc])*
            pub struct $name(pub $kind);

            impl<'py> IntoPyObject<'py> for $name {
                type Target = PyAny;
                type Output = Bound<'py, PyAny>;
                type Error = PyErr;

                fn into_pyobject(self, $py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
                    let $kept = self.0;
                    $shown
                }
            }
            plain!($name);
        )*
    };
}

seen! {
    /// An aware `datetime` in UTC.
    Moment(i64) |py, at| time::to_python(py, at);
    /// What a caller attached, as MessagePack: a fresh dict.
    Attached(Vec<u8>) |py, bytes| Ok(metadata::decode(py, &bytes)?.into_any());
    /// JSON: fresh plain objects.
    Json(String) |py, text| from_json::decode(py, &text);
    /// A hash in 32 hexadecimal digits.
    Hex(u128) |py, hash| format!("{hash:032x}").into_bound_py_any(py);
}

/// Says how values of the engine become frozen values of Python's: the class, and its fields. A field without an expression is that of
/// the same name.
macro_rules! shows {
    ($($kind:ty as $class:ident |$it:ident| { $($field:ident $(= $shown:expr)?),* $(,)? })*) => {
        $(impl $crate::value::Show for $kind {
            fn show(self, py: pyo3::Python<'_>) -> pyo3::PyResult<pyo3::Bound<'_, pyo3::PyAny>> {
                static CLASS: pyo3::sync::PyOnceLock<pyo3::Py<pyo3::types::PyType>> = pyo3::sync::PyOnceLock::new();
                let (made, fields) = $crate::value::new(py, &CLASS, stringify!($class))?;
                let $it = self;
                $(pyo3::types::PyDictMethods::set_item(&fields, pyo3::intern!(py, stringify!($field)), $crate::value::Show::show(shows!(@ $it $field $($shown)?), py)?)?;)*
                Ok(made)
            }
        })*
    };
    (@ $it:ident $field:ident) => { $it.$field };
    (@ $it:ident $field:ident $shown:expr) => { $shown };
}
pub(crate) use shows;

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
pub fn new<'py>(py: Python<'py>, class: &'static PyOnceLock<Py<PyType>>, name: &str) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyDict>)> {
    let find = || -> PyResult<Py<PyType>> {
        let public = py.import("memspan._results")?.getattr(name);
        Ok(public.or_else(|_| py.import("memspan._records")?.getattr(name))?.cast_into::<PyType>()?.unbind())
    };
    let class = class.get_or_try_init(py, find)?.bind(py);
    let made = class.call_method1(pyo3::intern!(py, "__new__"), (class,))?;
    let fields = made.getattr(pyo3::intern!(py, "__dict__"))?.cast_into::<PyDict>()?;
    Ok((made, fields))
}

/// Declares what a class of the border shows of what it holds, one property each, and its methods. It is frozen: a copy is itself.
macro_rules! properties {
    ($name:ident |$it:ident| { $($(#[$doc:meta])* $field:ident: $kind:ty = $shown:expr;)* } $($methods:tt)*) => {
        #[pyo3::pymethods]
        impl $name {
            $(
                $(#[$doc])*
                #[getter]
                #[allow(unused_variables)] // what is the same of all looks at none
                pub fn $field(&self) -> $kind {
                    let $it = self;
                    $shown
                }
            )*

            fn __copy__(slf: pyo3::Bound<'_, Self>) -> pyo3::Bound<'_, Self> {
                slf
            }

            fn __deepcopy__<'py>(slf: pyo3::Bound<'py, Self>, _memo: &pyo3::Bound<'_, pyo3::PyAny>) -> pyo3::Bound<'py, Self> {
                slf
            }

            $($methods)*
        }

        #[allow(dead_code)] // not every class is printed field by field
        impl $name {
            /// The names of what it shows, in order.
            const SHOWN: &'static [&'static str] = &[$(stringify!($field)),*];
        }
    };
}
pub(crate) use properties;
