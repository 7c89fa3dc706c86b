//! Long tool results that a caller summarises: which texts they are, and adding the message with what became of them.

use memspan_engine::compaction::check::is_said;
use memspan_engine::session::NewMessage;
use pyo3::prelude::*;

use crate::budget::tokens;
use crate::errors::Hold;
use crate::session::{AddedRow, NewRow, SessionCore, added_row, new_message};

/// The texts of a message's tool results that prompts would show shortened, by their places.
#[pyfunction]
pub fn long_results(py: Python<'_>, core: &Bound<'_, SessionCore>, row: NewRow<'_>) -> PyResult<Vec<(u32, String)>> {
    let new = new_message(&row)?;
    core.get().named.run(py, Hold::Detached, |session| session.long_results(&new))
}

/// What a summary says that its text does not: an identifier, a number, a date, a name or a quotation.
#[pyfunction]
pub fn unsaid(summary: &str, text: &str) -> Option<String> {
    is_said(summary, text).err()
}

/// Adds a message, with shorter texts of its long tool results.
#[pyfunction]
pub fn add_shortened(
    py: Python<'_>,
    core: &Bound<'_, SessionCore>,
    row: NewRow<'_>,
    shortened: Vec<(u32, String)>,
    expect_index: Option<&Bound<'_, PyAny>>,
) -> PyResult<AddedRow> {
    let new = NewMessage { shortened, ..new_message(&row)? };
    let (named, expect_index) = (&core.get().named, tokens("expect_index", expect_index)?);
    let now = named.now(py)?;
    named.run(py, Hold::Detached, |session| session.add(new, expect_index, now)).map(added_row)
}
