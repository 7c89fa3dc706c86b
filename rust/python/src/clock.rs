//! The time now: the system's, or that of the callable that was given to `open()`.

use std::time::{SystemTime, UNIX_EPOCH};

use pyo3::prelude::*;

use crate::errors::invalid;
use crate::time::{self, Naive};

/// Where the time comes from. Asked once a call, before the engine is entered.
#[derive(Debug)]
pub enum Clock {
    /// The system's clock.
    System,
    /// A callable that returns an aware `datetime`.
    Callable(Py<PyAny>),
}

impl Clock {
    /// The clock that was given.
    pub fn new(clock: &Bound<'_, PyAny>) -> PyResult<Self> {
        if clock.is_callable() {
            return Ok(Self::Callable(clock.clone().unbind()));
        }
        let rule = "clock must be a callable that returns an aware datetime";
        let next = "pass for instance memspan.testing.FakeClock()";
        Err(invalid(clock.py(), format!("opening a store: {rule}, and {clock} cannot be called: {next}")))
    }

    /// Microseconds since 1970 (UTC).
    pub fn now(&self, py: Python<'_>) -> PyResult<i64> {
        match self {
            Self::System => Ok(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as i64)),
            Self::Callable(clock) => time::from_python("the clock", clock.bind(py).call0()?.as_any(), Naive::Refused),
        }
    }
}
