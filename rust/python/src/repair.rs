//! Saving what is intact of a damaged store.

use std::path::PathBuf;

use memspan_engine::store::folder::FORMAT_VERSION;
use memspan_engine::store::repair;
use pyo3::prelude::*;

use crate::clock::Clock;
use crate::errors::{Hold, run};

/// Saves every intact value of the store at `source` in a new one at `target`: how many, and what was lost.
#[pyfunction(name = "repair")]
pub fn repair_store(py: Python<'_>, source: PathBuf, target: PathBuf) -> PyResult<(u64, Vec<String>)> {
    let now = Clock::new(None)?.now(py)?;
    let repaired = run(py, Hold::Long, || repair::repair(&source, &target, FORMAT_VERSION, now))?;
    Ok((repaired.saved, repaired.lost))
}
