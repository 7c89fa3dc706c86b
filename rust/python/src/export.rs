//! A whole store as a file of JSON lines, and back.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::engine::EngineCore;
use crate::errors::{Hold, run};

/// Writes everything that the store of an engine holds; how many values that are.
#[pyfunction]
pub fn export_store(engine: &Bound<'_, EngineCore>, path: PathBuf) -> PyResult<u64> {
    let handle = &engine.get().handle;
    run(engine.py(), Hold::Long, || handle.engine()?.export(&path))
}

/// Reads an export into the empty store of an engine; how many values it has then.
#[pyfunction]
pub fn load_store(engine: &Bound<'_, EngineCore>, path: PathBuf) -> PyResult<u64> {
    let handle = &engine.get().handle;
    run(engine.py(), Hold::Long, || handle.engine()?.load(&path))
}
