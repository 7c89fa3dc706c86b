//! Values that calls return: frozen classes of plain fields, each declared once by `value!`.
//!
//! A value is compared, hashed, printed, copied, pickled and matched field by field, as a frozen dataclass is. What its fields mean is said in
//! `_core.pyi`, where editors read it.

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyTuple, PyType};

use crate::{from_json, json, metadata, time};

/// Declares a value: its name, the module that exports it, its fields, and methods of its own.
macro_rules! value {
    ($(#[$meta:meta])* $name:ident($module:literal) { $($field:ident: $kind:ty),* $(,)? } $($methods:tt)*) => {
        $(#[$meta])*
        #[pyo3::pyclass(frozen, get_all, eq, from_py_object, new = "from_fields", module = $module)]
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name { $(pub $field: $kind),* }

        #[pyo3::pymethods]
        impl $name {
            #[classattr]
            fn __match_args__(py: pyo3::Python<'_>) -> pyo3::PyResult<pyo3::Bound<'_, pyo3::types::PyTuple>> {
                pyo3::types::PyTuple::new(py, [$(stringify!($field)),*] as [&str; [$(stringify!($field)),*].len()])
            }

            fn __reduce__<'py>(slf: &pyo3::Bound<'py, Self>) -> pyo3::PyResult<$crate::value::Pickled<'py>> {
                $crate::value::pickled(slf.as_any())
            }

            fn __copy__(slf: pyo3::Bound<'_, Self>) -> pyo3::Bound<'_, Self> {
                slf
            }

            fn __deepcopy__<'py>(slf: pyo3::Bound<'py, Self>, _memo: &pyo3::Bound<'_, pyo3::PyAny>) -> pyo3::Bound<'py, Self> {
                slf
            }

            fn __hash__(slf: &pyo3::Bound<'_, Self>) -> pyo3::PyResult<u64> {
                $crate::value::hash(slf.as_any())
            }

            fn __repr__(slf: &pyo3::Bound<'_, Self>) -> pyo3::PyResult<String> {
                $crate::value::repr(slf.as_any())
            }

            $($methods)*
        }
    };
}
pub(crate) use value;

/// Declares what a class shows of what it holds, one property each, and its methods.
macro_rules! shows {
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

            $($methods)*
        }

        #[allow(dead_code)] // not every class is printed field by field
        impl $name {
            /// The names of what it shows, in order.
            const SHOWN: &'static [&'static str] = &[$(stringify!($field)),*];
        }
    };
}
pub(crate) use shows;

/// Names and values of a value's fields.
fn fields<'py>(value: &Bound<'py, PyAny>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let names: Vec<String> = value.getattr("__match_args__")?.extract()?;
    names.into_iter().map(|name| value.getattr(name.as_str()).map(|field| (name, field))).collect()
}

/// What a pickled value is: its class, and the fields that make it anew.
pub type Pickled<'py> = (Bound<'py, PyType>, Bound<'py, PyTuple>);

pub fn pickled<'py>(value: &Bound<'py, PyAny>) -> PyResult<Pickled<'py>> {
    let fields = fields(value)?.into_iter().map(|(_, field)| field);
    Ok((value.get_type(), PyTuple::new(value.py(), fields.collect::<Vec<_>>())?))
}

/// Of all fields but dicts, which have no hash.
pub fn hash(value: &Bound<'_, PyAny>) -> PyResult<u64> {
    let mut hasher = DefaultHasher::new();
    for (_, field) in fields(value)? {
        field.hash().unwrap_or_default().hash(&mut hasher);
    }
    Ok(hasher.finish())
}

pub fn repr(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let named = fields(value)?.into_iter().map(|(name, field)| Ok(format!("{name}={}", field.repr()?)));
    Ok(format!("{}({})", value.get_type().name()?, named.collect::<PyResult<Vec<_>>>()?.join(", ")))
}

/// A field that Python sees as something else than what it is kept as.
macro_rules! field {
    ($(#[$meta:meta])* $name:ident($kind:ty), |$py:ident, $kept:ident| $shown:expr, |$given:ident| $read:expr) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq)]
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

        impl<'py> FromPyObject<'_, 'py> for $name {
            type Error = PyErr;

            fn extract($given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
                $read.map(Self)
            }
        }
    };
}

field!(
    /// An aware `datetime` in UTC.
    Moment(i64),
    |py, at| time::to_python(py, at),
    |given| time::from_python("a time", &given, time::Naive::Utc)
);
field!(
    /// What a caller attached, as MessagePack: a fresh dict at each use.
    Attached(Vec<u8>),
    |py, bytes| Ok(metadata::decode(py, &bytes)?.into_any()),
    |given| metadata::encode(Some(&given))
);
field!(
    /// JSON: fresh plain objects at each use.
    Json(String),
    |py, text| from_json::decode(py, &text),
    |given| json::encode("a value", &given).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
);

/// Several, as a tuple.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuple<T>(pub Vec<T>);

impl<'py, T: IntoPyObject<'py>> IntoPyObject<'py> for Tuple<T> {
    type Target = PyTuple;
    type Output = Bound<'py, PyTuple>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.into_iter().map(|one| one.into_bound_py_any(py)).collect::<PyResult<Vec<_>>>()?)
    }
}

impl<'a, 'py, T: for<'b> FromPyObject<'b, 'py>> FromPyObject<'a, 'py> for Tuple<T> {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        given.try_iter()?.map(|one| one?.extract().map_err(Into::into)).collect::<PyResult<_>>().map(Self)
    }
}

impl<T> FromIterator<T> for Tuple<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Self(items.into_iter().collect())
    }
}
