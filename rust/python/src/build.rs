//! Functions that need no open store: the build, the machine, limits and defaults, and the repair of a damaged store.

use std::path::PathBuf;

use memspan_engine::store::{folder::FORMAT_VERSION, vault::StoreKey};
use memspan_engine::{engine::mend, index::vectors::Kernel, limits};
use pyo3::prelude::*;

use crate::arguments::functions;
use crate::time::Clock;
use crate::value::{Named, Show};

/// Facts about this build, for reports of errors and of measurements.
#[pyfunction]
pub fn build_info(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let checked = option_env!("MEMSPAN_PROOF").map_or("debug", |_| "proof"); // `.ci/run` proves the engine with its assertions
    let info = Named(vec![
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("profile", if cfg!(debug_assertions) { checked } else { "release" }.to_owned()),
        ("target", format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)),
        ("kernel", format!("{:?}", Kernel::best()).to_lowercase()),
    ]);
    let info = info.show(py)?;
    info.set_item("abi3", cfg!(feature = "abi3"))?;
    info.set_item("format", FORMAT_VERSION)?;
    Ok(info)
}

functions! { |py|
    /// Saves every intact value of the store at `source` in a new one at `target`: how many, what was made anew, and what was lost.
    repair(source: PathBuf, target: PathBuf, key: Option<Vec<u8>>) Whole with now = Clock::System.now(py)?; => {
        let key = key.as_deref().map(StoreKey::new).transpose()?;
        let repaired = mend::repair(&source, &target, key.as_ref(), now)?;
        Ok((repaired.saved, (repaired.rebuilt, repaired.lost)))
    };
}

/// Every limit and default that a caller can meet; bytes are those of UTF-8 unless the name says otherwise.
#[pyclass(frozen, name = "_Limits", module = "memspan._core")]
#[derive(Debug)]
pub struct Limits;

macro_rules! constants {
    (same { $($($name:ident),*: $kind:ty;)* } made { $($made:ident: $made_kind:ty = $value:expr;)* }) => {
        #[pymethods]
        impl Limits {
            $($(#[classattr] const $name: $kind = limits::$name;)*)*
            $(#[classattr] const $made: $made_kind = $value;)*
        }
    };
}

constants! {
    same {
        MAX_NAME_BYTES, MAX_TEXT_BYTES, MAX_METADATA_BYTES, MAX_MESSAGE_BYTES, MAX_INSTRUCTION_BYTES, MAX_DOCUMENT_BYTES: usize;
        MAX_TASK_VALUE_BYTES, MAX_TASK_ENTRIES, MAX_TASK_BYTES, MAX_READS, MAX_COLLECTIONS, MAX_DIMENSIONS, MAX_RECALLS: usize;
        MAX_JSON_DEPTH, MAX_BATCH_ROWS, MAX_BATCH_BYTES, DEFAULT_CHUNK_TOKENS: usize;
        MAX_TRUST: u8;
        MAX_TOKENS, DEFAULT_OUTPUT_TOKENS: u64;
        MAX_GRANT_WEIGHT: u32;
        MAX_KEPT_EXCHANGES, MAX_SUMMARY_TOKENS, MAX_KEPT_ROUNDS: u64;
        MAX_HITS: usize;
        MAX_ITEM_SCORE, MAX_DAYS: f64;
    } made {
        MAX_TTL_SECONDS: u64 = limits::MAX_TTL.as_secs();
        MAX_WAIT_SECONDS: u64 = limits::MAX_WAIT.as_secs();
        DEFAULT_FILL: f64 = limits::DEFAULT_FILL as f64 / 1e6;
        DEFAULT_CUT_STEP: f64 = limits::DEFAULT_CUT_STEP as f64 / 1e6;
        DEFAULT_BUSY_TIMEOUT_SECONDS: f64 = limits::DEFAULT_BUSY_TIMEOUT.as_secs() as f64;
    }
}
