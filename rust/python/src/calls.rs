//! Functions of Python's that the engine calls: an embedder, what is told of progress, signal handlers.

use memspan_engine::engine::Embed;
use memspan_engine::index::vectors::UnitVector;
use memspan_engine::memory::maintain::Pending;
use memspan_engine::{Error, ErrorKind, Result};
use pyo3::prelude::*;

use crate::vectors::Vectors;

/// A caller's embedder, called from the engine, and what it raised.
pub struct Calls {
    embed: Option<Py<PyAny>>,
    pub raised: Option<PyErr>,
}

impl Calls {
    pub fn new(embed: Option<Py<PyAny>>) -> Self {
        Self { embed, raised: None }
    }

    pub fn embedder(&mut self) -> Option<&mut dyn Embed> {
        if self.embed.is_some() { Some(self) } else { None }
    }

    /// The engine's result, unless Python raised something on its way.
    pub fn or_raise<T>(self, done: PyResult<T>) -> PyResult<T> {
        self.raised.map_or(done, Err)
    }
}

impl Embed for Calls {
    fn embed(&mut self, texts: &[Pending]) -> Result<Vec<Option<UnitVector>>> {
        let Self { embed: Some(embed), raised } = self else { return Ok(vec![None; texts.len()]) };
        let texts: Vec<&str> = texts.iter().map(|one| one.text.as_str()).collect();
        let made = call(embed, (texts,), raised)?;
        Python::attach(|py| match made.bind(py).cast::<Vectors>() {
            Ok(vectors) => Ok(vectors.get().0.rows.clone()),
            Err(_) => Err(Error::new(ErrorKind::Embedder, "embedding texts: the embedder returned no vectors: look at the embedder")),
        })
    }
}

/// Calls a function of Python's; what it raises is kept, and passes the engine as an error of the embedder or, if it is none of our
/// errors (an interrupt, say), as one that ends everything.
pub fn call<'a>(
    function: &Py<PyAny>,
    arguments: impl for<'py> pyo3::call::PyCallArgs<'py>,
    raised: &'a mut Option<PyErr>,
) -> Result<Py<PyAny>> {
    Python::attach(|py| {
        function.call1(py, arguments).map_err(|error| {
            let ours = error.value(py).hasattr("reason").unwrap_or(false);
            *raised = Some(error);
            Error::new(if ours { ErrorKind::Embedder } else { ErrorKind::InvalidInput }, "calling Python: it raised")
        })
    })
}
