//! `WindowWatch`: when the prompts of sessions reach a share of their model's window.

use memspan_engine::session;
use pyo3::prelude::*;

use crate::errors::{Pace, run};
use crate::session::SessionCore;
use crate::value::Show;

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct WindowWatch(session::WindowWatch);

#[pymethods]
impl WindowWatch {
    #[new]
    fn new() -> Self {
        Self(session::WindowWatch::default())
    }

    /// The shares that a session reaches for the first time in its epoch, by its own prompt or one of so many tokens.
    fn look<'py>(&self, py: Python<'py>, of: &Bound<'py, SessionCore>, prompt_tokens: Option<u64>) -> PyResult<Bound<'py, PyAny>> {
        let of = of.get();
        run(py, Pace::Short, || self.0.look(&of.named.own()?, prompt_tokens))?.show(py)
    }
}
