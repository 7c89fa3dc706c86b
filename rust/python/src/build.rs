//! What was built, and what it runs on.

use memspan_engine::index::vectors::Kernel;
use memspan_engine::store::folder::FORMAT_VERSION;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Facts about this build, for reports of errors and of measurements.
#[pyfunction]
pub fn build_info(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let info = PyDict::new(py);
    info.set_item("version", env!("CARGO_PKG_VERSION"))?;
    info.set_item("profile", if cfg!(debug_assertions) { "debug" } else { "release" })?;
    info.set_item("target", format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS))?;
    info.set_item("kernel", format!("{:?}", Kernel::best()).to_lowercase())?;
    info.set_item("abi3", cfg!(feature = "abi3"))?;
    info.set_item("format", FORMAT_VERSION)?;
    Ok(info)
}
