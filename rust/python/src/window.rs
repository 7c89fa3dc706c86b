//! `WindowWatch`: when the prompts of sessions reach a share of their model's window.

use memspan_engine::session;
use pyo3::prelude::*;

use crate::errors::Hold;
use crate::session::SessionCore;

/// A share that was reached. Frozen.
#[pyclass(frozen, get_all, module = "memspan._core")]
#[derive(Debug)]
pub struct Reached {
    fraction: f64,
    tokens: u64,
    window: u64,
}

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
    fn look(&self, py: Python<'_>, of: &Bound<'_, SessionCore>, prompt_tokens: Option<u64>) -> PyResult<Vec<Reached>> {
        let reached = of.get().named.run(py, Hold::Attached, |session| self.0.look(&session, prompt_tokens))?;
        let value = |one: session::Reached| Reached { fraction: one.percent as f64 / 100.0, tokens: one.tokens, window: one.window };
        Ok(reached.into_iter().map(value).collect())
    }
}
