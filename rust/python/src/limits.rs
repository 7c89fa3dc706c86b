//! The limits and defaults of the engine as Python has them: `memspan._core.Limits`, an object whose attributes cannot be set.

use memspan_engine::limits;
use pyo3::prelude::*;

/// Every limit and default that a caller can meet; bytes are those of UTF-8 unless the name says otherwise.
#[pyclass(frozen, name = "_Limits", module = "memspan._core")]
#[derive(Debug)]
pub struct Limits;

macro_rules! constants {
    ($($name:ident: $kind:ty = $value:expr;)*) => {
        #[pymethods]
        impl Limits {
            $(#[classattr] const $name: $kind = $value;)*
        }
    };
}

constants! {
    MAX_NAME_BYTES: usize = limits::MAX_NAME_BYTES;
    MAX_TEXT_BYTES: usize = limits::MAX_TEXT_BYTES;
    MAX_METADATA_BYTES: usize = limits::MAX_METADATA_BYTES;
    MAX_TRUST: u8 = limits::MAX_TRUST;
    MAX_MESSAGE_BYTES: usize = limits::MAX_MESSAGE_BYTES;
    MAX_INSTRUCTION_BYTES: usize = limits::MAX_INSTRUCTION_BYTES;
    MAX_READS: usize = limits::MAX_READS;
    MAX_COLLECTIONS: usize = limits::MAX_COLLECTIONS;
    MAX_DOCUMENT_BYTES: usize = limits::MAX_DOCUMENT_BYTES;
    MAX_TASK_VALUE_BYTES: usize = limits::MAX_TASK_VALUE_BYTES;
    MAX_TASK_ENTRIES: usize = limits::MAX_TASK_ENTRIES;
    MAX_TASK_BYTES: usize = limits::MAX_TASK_BYTES;
    MAX_DIMENSIONS: usize = limits::MAX_DIMENSIONS;
    MAX_TOKENS: u64 = limits::MAX_TOKENS;
    MAX_GRANT_WEIGHT: u32 = limits::MAX_GRANT_WEIGHT;
    MAX_ITEM_SCORE: f64 = limits::MAX_ITEM_SCORE;
    MAX_TTL_SECONDS: u64 = limits::MAX_TTL.as_secs();
    MAX_RECALLS: usize = limits::MAX_RECALLS;
    MAX_JSON_DEPTH: usize = limits::MAX_JSON_DEPTH;
    MAX_BATCH_ROWS: usize = limits::MAX_BATCH_ROWS;
    MAX_BATCH_BYTES: usize = limits::MAX_BATCH_BYTES;
    DEFAULT_FILL: f64 = limits::DEFAULT_FILL as f64 / 1e6;
    DEFAULT_OUTPUT_TOKENS: u64 = limits::DEFAULT_OUTPUT_TOKENS;
    DEFAULT_CUT_STEP: f64 = limits::DEFAULT_CUT_STEP as f64 / 1e6;
    DEFAULT_CHUNK_TOKENS: usize = limits::DEFAULT_CHUNK_TOKENS;
    DEFAULT_BUSY_TIMEOUT_SECONDS: f64 = limits::DEFAULT_BUSY_TIMEOUT.as_secs() as f64;
}
