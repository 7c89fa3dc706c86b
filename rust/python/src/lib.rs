//! The Python border of memspan: conversions and frozen classes, no algorithm.
#![allow(missing_docs)]
use pyo3::prelude::*;

#[pymodule]
fn _core(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
