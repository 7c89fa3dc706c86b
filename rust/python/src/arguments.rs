//! Arguments of calls: how each kind is read, with an error that names the argument. `calls!` declares methods by what they take and call.

use memspan_engine::context::{Order, Share};
use memspan_engine::memory::Kind;
use memspan_engine::models::Model;
use memspan_engine::recall::filter::ALL_KINDS;
use memspan_engine::store::Durability;
use memspan_engine::tokens::Encoding;
use memspan_engine::{Result, collection, context, limits, session};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyString, PyTuple};

use crate::errors::{invalid, shown, to_python, type_name};
use crate::plain;
use crate::time::{self, Naive};
use crate::value::{Attached, Moment};

/// The type that an argument is read as.
pub trait Argument<'py>: Sized {
    fn read(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Self>;
}

/// The attribute of an object that stands for several arguments.
pub fn field<'py, T: Argument<'py>>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<T> {
    T::read(name, &value.getattr(name)?)
}

/// The same of a time; `None` where none is given.
pub fn moment(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Option<i64>> {
    field::<Option<Moment>>(value, name).map(|at| at.map(|at| at.0))
}

macro_rules! whole_numbers {
    ($($kind:ty),*) => {
        $(impl<'py> Argument<'py> for $kind {
            fn read(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
                whole(name, value, i64::try_from(<$kind>::MAX).unwrap_or(i64::MAX)).map(|number| number as $kind)
            }
        })*
    };
}
whole_numbers!(u8, u16, u32, u64, usize);

impl<'py, T: Argument<'py>> Argument<'py> for Option<T> {
    fn read(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        if value.is_none() { Ok(None) } else { T::read(name, value).map(Some) }
    }
}

impl<'py, A: Argument<'py>, B: Argument<'py>> Argument<'py> for (A, B) {
    fn read(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        let (one, other): (Bound<'py, PyAny>, Bound<'py, PyAny>) = value.extract()?;
        Ok((A::read(name, &one)?, B::read(name, &other)?))
    }
}

impl<'py, T: Argument<'py>> Argument<'py> for Vec<T> {
    fn read(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        value.try_iter()?.map(|one| T::read(name, &one?)).collect()
    }
}

/// A value that pyo3 reads: its error gets the name of the argument.
macro_rules! extracted {
    ($($kind:ty),*) => {
        $(impl<'py> $crate::arguments::Argument<'py> for $kind {
            fn read(name: &str, value: &pyo3::Bound<'py, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                value.extract().map_err(|error| $crate::errors::of_type(value.py(), name, &pyo3::PyErr::from(error)))
            }
        })*
    };
}
pub(crate) use extracted;
extracted!(bool, std::path::PathBuf, Bound<'py, PyTuple>, Bound<'py, PyDict>, Bound<'py, PyList>, Bound<'py, PyAny>, Py<PyAny>);

/// Keys of metadata with the values of which one must stand there: `where={"project": "x", "stage": ["staging", "prod"]}`.
#[derive(Default)]
pub struct Conditions(pub Vec<(String, Vec<Vec<u8>>)>);

/// Kinds as bits: `None` is all of them, a `str` one, anything else is iterated.
pub struct Kinds(pub u8);

/// Microseconds to live, of seconds.
pub struct Ttl(pub i64);

/// Strings: one, or several.
pub struct Texts(pub Vec<String>);

/// Tokens that a budget or a limit names.
pub struct Tokens(pub u64);

/// How far a source is trusted.
pub struct Trust(pub u8);

/// Reads what was given to a call by name, each by the line that names it. `None` is not given, but where the default is another.
macro_rules! options {
    ($given:ident of $call:literal |$name:ident, $value:ident| $($key:ident => $read:expr;)*) => {
        for (key, value) in $given.iter() {
            let key = key.cast_into::<pyo3::types::PyString>()?;
            let ($name, $value) = (key.to_str()?, &value);
            match $name {
                name if value.is_none() && !matches!(name, "limit" | "relevant_only") => {}
                $(stringify!($key) => $read,)*
                other => {
                    let rule = concat!("a name is one of the arguments of ", $call);
                    let message = format!("reading arguments: {rule}, and {other:?} is none: remove it, or put it into metadata");
                    return Err($crate::errors::invalid(value.py(), message));
                }
            }
        }
    };
}
pub(crate) use options;

/// Says how values of the engine are read of Python's: each by one expression.
macro_rules! reads {
    ($($kind:ty: |$name:ident, $value:ident| $read:expr;)*) => {
        $(impl<'py> $crate::arguments::Argument<'py> for $kind {
            #[allow(unused_variables)] // the engine's errors name what they are about
            fn read($name: &str, $value: &pyo3::Bound<'py, pyo3::PyAny>) -> pyo3::PyResult<Self> {
                $read
            }
        })*
    };
}
pub(crate) use reads;

/// Declares frozen classes that hold one value of the engine's each, and no more.
macro_rules! holds {
    ($($(#[$doc:meta])* $name:ident($kind:ty);)*) => {
        $(
            $(#[$doc])*
            #[pyo3::pyclass(frozen, module = "memspan._core")]
            pub struct $name(pub $kind);
            $crate::value::as_is!($name);
            $crate::arguments::extracted!(pyo3::Py<$name>);
        )*
    };
}
pub(crate) use holds;

reads! {
    String: |name, value| text_of(name, value);
    f64: |name, value| number(name, value);
    Moment: |name, value| time::from_python(name, value, Naive::Utc).map(Self);
    Attached: |name, value| plain::metadata(value).map(Self);
    Tokens: |name, value| checked(value, limits::within(name, Argument::read(name, value)?, 0..=limits::MAX_TOKENS)).map(Self);
    Trust: |name, value|
        checked(value, limits::within(name, Argument::read(name, value)?, 0..=limits::MAX_TRUST.into())).map(|trust| Self(trust as u8));
    Ttl: |name, value| checked(value, limits::ttl(number(name, value)?)).map(Self);
    Kind: |name, value| checked(value, Self::parse(&text_of("kind", value)?));
    Share: |name, value| checked(value, Self::parse(name, number(name, value)?));
    Order: |name, value| checked(value, Self::parse(&text_of(name, value)?));
    Durability: |name, value| checked(value, Self::parse(&text_of(name, value)?));
    Encoding: |name, value| checked(value, Self::from_name(&text_of(name, value)?));
    collection::Format: |name, value| checked(value, Self::parse(&text_of(name, value)?));
    context::Format: |name, value| checked(value, session::format_named(&text_of(name, value)?));
    Model: |name, value| crate::models::named_or_given(value);
    Texts: |name, value|
        if value.is_instance_of::<PyString>() { Ok(Self(vec![text_of(name, value)?])) } else { Argument::read(name, value).map(Self) };
    Kinds: |name, value| kinds(value).map(Self);
    Conditions: |name, value| {
        let map = plain::mapping("where", value)?.copy()?; // what reads a value may change it
        map.iter().map(|(key, wanted)| Ok((text_of("a key of where", &key)?, alternatives(&wanted)?))).collect::<PyResult<_>>().map(Self)
    };
}

/// The engine's word on what was read.
pub fn checked<T>(value: &Bound<'_, PyAny>, read: Result<T>) -> PyResult<T> {
    read.map_err(|error| to_python(value.py(), &error))
}

/// A text: a `str` that UTF-8 can hold.
pub fn text_of(name: &str, value: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = value.py();
    let Ok(text) = value.cast::<PyString>() else {
        return Err(invalid(py, format!("reading {name}: it must be a str, and it is {}: pass a str", type_name(value))));
    };
    text.to_str().map(str::to_owned).map_err(|_| {
        invalid(
            py,
            format!("reading {name}: it must be text that UTF-8 can hold, and it has a lone surrogate: decode it with errors=\"replace\""),
        )
    })
}

/// A number; whether it lies in its range is the engine's to say.
fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let is_number = !value.is_instance_of::<PyBool>()
        && (value.is_instance_of::<PyFloat>() || value.hasattr("__float__")? && !value.is_instance_of::<PyString>());
    match value.extract::<f64>() {
        Ok(number) if is_number => Ok(number),
        Err(error) if !error.is_instance_of::<PyException>(value.py()) => Err(error),
        _ => Err(invalid(
            value.py(),
            format!("reading {name}: it must be a number, and {} is {}: pass a float", shown(value), type_name(value)),
        )),
    }
}

/// A whole number that its type can hold.
fn whole(name: &str, value: &Bound<'_, PyAny>, most: i64) -> PyResult<i64> {
    let py = value.py();
    let is_whole = !value.is_instance_of::<PyBool>() && (value.is_instance_of::<PyInt>() || value.hasattr("__index__")?);
    if !is_whole {
        return Err(invalid(py, format!("reading {name}: it must be an int, and {} is {}: pass an int", shown(value), type_name(value))));
    }
    match value.extract::<i64>() {
        Ok(number) if (0..=most).contains(&number) => Ok(number),
        Err(error) if !error.is_instance_of::<PyException>(py) => Err(error),
        _ => {
            let is_open = most == i64::MAX && value.lt(0)?;
            let range = if is_open { "at least 0".to_owned() } else { format!("from 0 to {most}") };
            Err(invalid(py, format!("reading {name}: it must be {range}, and it is {}: change it", shown(value))))
        }
    }
}

fn kinds(value: &Bound<'_, PyAny>) -> PyResult<u8> {
    if value.is_none() {
        return Ok(ALL_KINDS);
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Kind::read("kind", value)?.bit());
    }
    let items = value.try_iter().map_err(|_| {
        let got = type_name(value);
        let rule = format!("it must be a kind or several of them, and it is {got}: pass for instance [\"preference\"]");
        invalid(value.py(), format!("reading kinds: {rule}"))
    })?;
    let kinds = items.map(|item| Kind::read("kind", &item?)).collect::<PyResult<Vec<_>>>()?;
    checked(value, memspan_engine::recall::filter::bits(&kinds))
}

fn alternatives(wanted: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<u8>>> {
    let several = wanted.is_instance_of::<PyList>()
        || wanted.is_instance_of::<PyTuple>()
        || wanted.is_instance_of::<PySet>()
        || wanted.is_instance_of::<PyFrozenSet>();
    if several { wanted.try_iter()?.map(|one| plain::metadata_value(&one?)).collect() } else { Ok(vec![plain::metadata_value(wanted)?]) }
}

/// Declares the methods of a class that call the engine. Behind the class: what they work on, and the time, where one of them asks for it.
/// Each says what it takes, what is made of it (`with`) while Python's objects may be looked
/// at, how long it takes, what it calls. The result of the call is converted after the engine is left.
macro_rules! calls {
    ($core:ident |$it:ident, $py:ident| ($own:expr, $time:expr) {
        $($(#[$doc:meta])* $name:ident($($arg:ident $(as $label:literal)?: $kind:ty),* $(,)?)
            $pace:tt $(with $ready:ident = $made:expr;)* |$of:ident $(, $now:ident)?| $work:expr;)*
    } $($methods:tt)*) => {
        #[pyo3::pymethods]
        impl $core {
            $(
                $(#[$doc])*
                #[allow(unused_variables)] // few calls look at what they are a method of
                fn $name<'py>(
                    &self,
                    $py: pyo3::Python<'py>,
                    $($arg: &pyo3::Bound<'py, pyo3::PyAny>),*
                ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
                    let $it = self;
                    $(let $arg = <$kind as $crate::arguments::Argument>::read($crate::arguments::calls!(@ $arg $($label)?), $arg)?;)*
                    $(let $now: i64 = $time?;)?
                    $(let $ready = $made;)*
                    let done = $crate::errors::run($py, $crate::arguments::calls!(@ $pace), || {
                        let of: memspan_engine::Result<_> = $own;
                        let $of = of?;
                        $work
                    })?;
                    $crate::value::Show::show(done, $py)
                }
            )*

            $($methods)*
        }
    };
    (@ ($pace:expr)) => { $pace };
    (@ Short) => { $crate::errors::Pace::Short };
    (@ Waits) => { $crate::errors::Pace::Waits };
    (@ Long) => { $crate::errors::Pace::Long };
    (@ Whole) => { $crate::errors::Pace::Whole };
    (@ $arg:ident) => { stringify!($arg) };
    (@ $arg:ident $label:literal) => { $label };
}
pub(crate) use calls;

/// Declares functions that need no open store, as `calls!` declares methods.
macro_rules! functions {
    (|$py:ident| $($(#[$doc:meta])* $name:ident($($arg:ident $(as $label:literal)?: $kind:ty),* $(,)?)
        $pace:tt $(with $ready:ident = $made:expr;)* => $work:expr;)*) => {
        $(
            $(#[$doc])*
            #[pyo3::pyfunction]
            #[allow(clippy::elidable_lifetime_names)] // a function with arguments needs it
            pub fn $name<'py>(
                $py: pyo3::Python<'py>,
                $($arg: &pyo3::Bound<'py, pyo3::PyAny>),*
            ) -> pyo3::PyResult<pyo3::Bound<'py, pyo3::PyAny>> {
                $(let $arg = <$kind as $crate::arguments::Argument>::read($crate::arguments::calls!(@ $arg $($label)?), $arg)?;)*
                $(let $ready = $made;)*
                let done = $crate::errors::run($py, $crate::arguments::calls!(@ $pace), || $work)?;
                $crate::value::Show::show(done, $py)
            }
        )*
    };
}
pub(crate) use functions;
