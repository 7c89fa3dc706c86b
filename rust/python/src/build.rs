//! What was built, what it runs on, and what saves a damaged store: calls that need no open store.

use std::path::PathBuf;

use memspan_engine::index::vectors::Kernel;
use memspan_engine::store::{self, folder::FORMAT_VERSION};
use pyo3::prelude::*;

use crate::arguments::functions;
use crate::clock::Clock;
use crate::value::{Named, Show};

/// Facts about this build, for reports of errors and of measurements.
#[pyfunction]
pub fn build_info(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let info = Named(vec![
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("profile", if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned()),
        ("target", format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)),
        ("kernel", format!("{:?}", Kernel::best()).to_lowercase()),
    ]);
    let info = info.show(py)?;
    info.set_item("abi3", cfg!(feature = "abi3"))?;
    info.set_item("format", FORMAT_VERSION)?;
    Ok(info)
}

functions! { |py|
    /// Saves every intact value of the store at `source` in a new one at `target`: how many, and what was lost.
    repair(source: PathBuf, target: PathBuf) Long with now = Clock::System.now(py)?; => {
        let repaired = store::repair::repair(&source, &target, FORMAT_VERSION, now)?;
        Ok((repaired.saved, repaired.lost))
    };
}
