//! Tokenizers from a user's own file.

use std::path::PathBuf;

use memspan_engine::tokens::{self, Encoding, shared_cache};
use pyo3::prelude::*;

use crate::arguments::{maybe_text, text_of};
use crate::errors::{Hold, hold_for, run, to_python};

/// Loads a file, and gives the name of its encoding.
#[pyfunction]
pub fn load_tokenizer(py: Python<'_>, path: PathBuf, pattern: Option<&Bound<'_, PyAny>>) -> PyResult<&'static str> {
    let pattern = maybe_text("pattern", pattern)?;
    run(py, Hold::Detached, || tokens::load(&path, pattern.as_deref())).map(Encoding::name)
}

/// Tokens of a text in an encoding.
#[pyfunction]
pub fn count_by_encoding(py: Python<'_>, name: &str, text: &Bound<'_, PyAny>) -> PyResult<usize> {
    let encoding = Encoding::from_name(name).map_err(|error| to_python(py, &error))?;
    let text = text_of("text", text)?;
    run(py, hold_for(&text), || Ok(shared_cache().count(encoding, &text)))
}
