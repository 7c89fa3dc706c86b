//! Errors on their way to Python: the engine's become the classes of `memspan.exceptions`, panics become `memspan.Error`.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use memspan_engine::{Error, ErrorKind, Field, Result, interrupt};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;

/// Whether a call keeps the interpreter while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// Microseconds: giving the interpreter up and taking it back would cost more, and much more where other threads are busy.
    Attached,
    /// It may wait for a disk or a lock, or take longer than a millisecond.
    Detached,
    /// It may take longer than anybody wants to wait: in a thread of its own, so that Ctrl-C ends it.
    Long,
}

/// Above so many bytes a text takes long enough to analyse or count that the interpreter is given up.
const SHORT_TEXT: usize = 16 << 10;

/// How a text is analysed.
pub fn hold_for(text: &str) -> Hold {
    if text.len() > SHORT_TEXT { Hold::Detached } else { Hold::Attached }
}

/// Runs a call of the engine: errors and panics come back as Python exceptions.
pub fn run<T: Send>(py: Python<'_>, hold: Hold, work: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    // Unwind safe: the engine's locks ignore poison, and what they guard is whole between any two statements.
    let caught = || catch_unwind(AssertUnwindSafe(work));
    let outcome = match hold {
        Hold::Attached => caught(),
        Hold::Long if interrupt::on_main_thread() => watched(py, caught)?,
        Hold::Detached | Hold::Long => py.detach(caught),
    };
    finish(py, outcome)
}

/// How often a long call looks for a signal.
const LOOK: Duration = Duration::from_millis(50);

/// Runs `work` in a thread while this one, Python's main thread, looks for signals; a signal whose handler raises has it end.
fn watched<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let (flag, mut raised) = (Arc::new(AtomicBool::new(false)), None);
    let outcome = std::thread::scope(|scope| {
        let (finished, mut finish) = mpsc::channel::<()>();
        let theirs = Arc::clone(&flag);
        let worker = scope.spawn(move || {
            let _finished = finished; // its end is told by being dropped
            interrupt::under(theirs, work)
        });
        loop {
            let waited;
            (waited, finish) = py.detach(move || (finish.recv_timeout(LOOK), finish));
            if !matches!(waited, Err(mpsc::RecvTimeoutError::Timeout)) {
                return py.detach(move || worker.join());
            }
            if let Err(error) = py.check_signals() {
                flag.store(true, Ordering::Relaxed);
                raised.get_or_insert(error);
            }
        }
    });
    match (raised, outcome) {
        (Some(error), _) => Err(error),
        (None, Ok(value)) => Ok(value),
        (None, Err(payload)) => Err(raise(py, "Internal", &internal(payload.as_ref()), &[])),
    }
}

thread_local! {
    /// What a signal handler raised while this thread waited.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Lets signal handlers run while a call waits; whether one of them raised. Only Python's main thread runs them.
pub fn look_for_signals() -> bool {
    interrupt::on_main_thread()
        && Python::attach(|py| {
            let raised = py.check_signals().err();
            let ends = raised.is_some();
            RAISED.with_borrow_mut(|kept| *kept = raised);
            ends
        })
}

/// The same for a call that reads Python objects on its way, and so keeps the interpreter.
pub fn run_reading<T>(py: Python<'_>, work: impl FnOnce() -> Result<T>) -> PyResult<T> {
    finish(py, catch_unwind(AssertUnwindSafe(work)))
}

fn finish<T>(py: Python<'_>, outcome: std::thread::Result<Result<T>>) -> PyResult<T> {
    match outcome {
        Ok(Err(error)) if error.kind() == ErrorKind::Interrupted => {
            Err(RAISED.take().unwrap_or_else(|| PyKeyboardInterrupt::new_err(error.message().to_owned())))
        }
        Ok(result) => result.map_err(|error| to_python(py, &error)),
        Err(payload) => Err(raise(py, "Internal", &internal(payload.as_ref()), &[])),
    }
}

fn internal(payload: &(dyn std::any::Any + Send)) -> String {
    let said = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
    format!(
        "running the engine: it found itself in a state that must not be ({}); nothing half done was written: please report this with the steps that led here",
        said.unwrap_or("no message")
    )
}

/// The Python exception for an error of the engine.
pub fn to_python(py: Python<'_>, error: &Error) -> PyErr {
    raise(py, &format!("{:?}", error.kind()), error.message(), error.fields())
}

fn raise(py: Python<'_>, kind: &str, message: &str, fields: &[(&'static str, Field)]) -> PyErr {
    static FROM_ENGINE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || -> PyResult<PyErr> {
        let values = PyDict::new(py);
        for (name, value) in fields {
            match value {
                Field::Int(number) => values.set_item(name, number)?,
                Field::Float(number) => values.set_item(name, number)?,
                Field::Text(text) => values.set_item(name, text)?,
            }
        }
        let from_engine = FROM_ENGINE.import(py, "memspan.exceptions", "from_engine")?;
        Ok(PyErr::from_value(from_engine.call1((kind, message, values))?))
    };
    make().unwrap_or_else(|error| error)
}

/// `InvalidInput` with its whole message.
pub fn invalid(py: Python<'_>, message: impl Into<String>) -> PyErr {
    to_python(py, &Error::invalid(message))
}

/// The error of a damaged value that only the border can see.
pub fn corrupt(py: Python<'_>, message: impl Into<String>) -> PyErr {
    to_python(py, &Error::new(ErrorKind::StoreCorrupt, message))
}

/// The error of a value of the wrong type, with the name of the argument; what is no error of types stays what it is.
pub fn of_type(py: Python<'_>, name: &str, error: &PyErr) -> PyErr {
    if error.is_instance_of::<PyTypeError>(py) {
        return PyTypeError::new_err(format!("argument '{name}': {}", error.value(py)));
    }
    error.clone_ref(py)
}

/// `a str`, `an int`: the type of a value that should have another.
pub fn type_name(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(
        |_| "an object".to_owned(),
        |name| {
            let name = name.to_string();
            let article = if name.starts_with(['a', 'e', 'i', 'o', 'u', 'A', 'E', 'I', 'O']) { "an" } else { "a" };
            format!("{article} {name}")
        },
    )
}
