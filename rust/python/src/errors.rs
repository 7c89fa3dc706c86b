//! Errors on their way to Python: the engine's become the classes of `memspan.exceptions`, panics become `memspan.Error`.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use memspan_engine::engine::pace::Pace;
use memspan_engine::process::Once;
use memspan_engine::{Error, ErrorKind, Field, Result, interrupt};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Runs a call of the engine: a short one keeps the interpreter, a long one runs in a thread of its own, so that Ctrl-C ends it. Errors and
/// panics come back as Python exceptions.
pub fn run<T: Send>(py: Python<'_>, pace: Pace, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    // Unwind safe: the engine's locks ignore poison, and what they guard is whole between any two statements.
    let outcome = match pace {
        Pace::Short => catch_unwind(AssertUnwindSafe(work)),
        Pace::Long | Pace::Whole if interrupt::on_main_thread() => py.detach(|| interrupt::watched(work, look_for_signals)),
        _ => py.detach(|| catch_unwind(AssertUnwindSafe(work))),
    };
    if pace == Pace::Whole && matches!(outcome, Ok(Ok(_))) {
        look_for_signals(); // so that what came meanwhile is raised with the word that the call was done
    }
    // The exception of a handler while the call ran: the signal was heard, and nobody else will raise it.
    let Some(raised) = (pace != Pace::Short).then(|| RAISED.take()).flatten() else { return finish(py, outcome) };
    match outcome {
        Ok(Ok(_)) => drop((pace == Pace::Whole).then(|| raised.value(py).setattr("outcome", "done"))),
        Ok(Err(error)) if error.kind() == ErrorKind::Interrupted => {}
        failed => raised.set_cause(py, finish(py, failed).err()),
    }
    Err(raised)
}

thread_local! {
    /// The exception of a signal handler while this thread waited.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Lets signal handlers run while a call waits; whether one of them raised. Only Python's main thread runs them.
pub fn look_for_signals() -> bool {
    interrupt::on_main_thread()
        && Python::attach(|py| {
            let raised = py.check_signals().err();
            let ends = raised.is_some();
            RAISED.with_borrow_mut(|kept| *kept = raised.or(kept.take()));
            ends
        })
}

/// The same for a call that reads Python objects on its way, and so keeps the interpreter.
pub fn run_reading<T>(py: Python<'_>, work: impl FnOnce() -> Result<T>) -> PyResult<T> {
    finish(py, catch_unwind(AssertUnwindSafe(work)))
}

fn finish<T>(py: Python<'_>, outcome: std::thread::Result<Result<T>>) -> PyResult<T> {
    match outcome.unwrap_or_else(|payload| Err(Error::of_panic(payload.as_ref()))) {
        Err(error) if error.kind() == ErrorKind::Interrupted => {
            Err(RAISED.take().unwrap_or_else(|| PyKeyboardInterrupt::new_err(error.message().to_owned())))
        }
        result => result.map_err(|error| to_python(py, &error)),
    }
}

/// The Python exception for an error of the engine.
pub fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    static FROM_ENGINE: Once<Py<PyAny>> = Once::new();
    let make = || -> PyResult<PyErr> {
        let values = PyDict::new(py);
        for (name, value) in error.fields() {
            match value {
                Field::Int(number) => values.set_item(name, number)?,
                Field::Float(number) => values.set_item(name, number)?,
                Field::Text(text) => values.set_item(name, text)?,
            }
        }
        let find = || PyResult::Ok(py.import("memspan.exceptions")?.getattr("from_engine")?.unbind());
        let from_engine = FROM_ENGINE.get_or_try_init(find)?.bind(py);
        Ok(PyErr::from_value(from_engine.call1((error.kind().name(), error.message(), values))?))
    };
    make().unwrap_or_else(|raised| raised)
}

/// `InvalidInput` with its whole message.
pub fn invalid(py: Python<'_>, message: impl Into<String>) -> PyErr {
    to_python(py, &Error::invalid(message))
}

/// The error of a value of the wrong type, with the name of the argument; an error of another kind stays as it is.
pub fn of_type(py: Python<'_>, name: &str, error: &PyErr) -> PyErr {
    if error.is_instance_of::<PyTypeError>(py) {
        return PyTypeError::new_err(format!("argument '{name}': {}", error.value(py)));
    }
    error.clone_ref(py)
}

/// `a str`, `an int`: the type of a value that should have another.
pub fn type_name(value: &Bound<'_, PyAny>) -> String {
    let name = value.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    let article = if name.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// The first 40 characters of a value's repr.
pub fn shown(value: &Bound<'_, PyAny>) -> String {
    let text = value.repr().map_or_else(|_| "it".to_owned(), |repr| repr.to_string_lossy().into_owned());
    if text.chars().count() > 40 { text.chars().take(40).chain("...".chars()).collect() } else { text }
}
