//! The limits and defaults of the engine as Python has them: `memspan._core.Limits`, an object whose attributes cannot be set.

use memspan_engine::limits;
use pyo3::prelude::*;

/// Every limit and default that a caller can meet; bytes are those of UTF-8 unless the name says otherwise.
#[pyclass(frozen, name = "_Limits", module = "memspan._core")]
#[derive(Debug)]
pub struct Limits;

#[pymethods]
impl Limits {
    #[classattr]
    const MAX_NAME_BYTES: usize = limits::MAX_NAME_BYTES;
    #[classattr]
    const MAX_TEXT_BYTES: usize = limits::MAX_TEXT_BYTES;
    #[classattr]
    const MAX_METADATA_BYTES: usize = limits::MAX_METADATA_BYTES;
    #[classattr]
    const MAX_TRUST: u8 = limits::MAX_TRUST;
    #[classattr]
    const MAX_MESSAGE_BYTES: usize = limits::MAX_MESSAGE_BYTES;
    #[classattr]
    const MAX_INSTRUCTION_BYTES: usize = limits::MAX_INSTRUCTION_BYTES;
    #[classattr]
    const MAX_READS: usize = limits::MAX_READS;
    #[classattr]
    const MAX_COLLECTIONS: usize = limits::MAX_COLLECTIONS;
    #[classattr]
    const MAX_DOCUMENT_BYTES: usize = limits::MAX_DOCUMENT_BYTES;
    #[classattr]
    const MAX_TASK_VALUE_BYTES: usize = limits::MAX_TASK_VALUE_BYTES;
    #[classattr]
    const MAX_TASK_ENTRIES: usize = limits::MAX_TASK_ENTRIES;
    #[classattr]
    const MAX_TASK_BYTES: usize = limits::MAX_TASK_BYTES;
    #[classattr]
    const MAX_DIMENSIONS: usize = limits::MAX_DIMENSIONS;
    #[classattr]
    const MAX_TOKENS: u64 = limits::MAX_TOKENS;
    #[classattr]
    const MAX_GRANT_WEIGHT: u32 = limits::MAX_GRANT_WEIGHT;
    #[classattr]
    const MAX_ITEM_SCORE: f64 = limits::MAX_ITEM_SCORE;
    #[classattr]
    const MAX_TTL_SECONDS: u64 = limits::MAX_TTL.as_secs();
    #[classattr]
    const MAX_RECALLS: usize = limits::MAX_RECALLS;
    #[classattr]
    const MAX_JSON_DEPTH: usize = limits::MAX_JSON_DEPTH;
    #[classattr]
    const MAX_BATCH_ROWS: usize = limits::MAX_BATCH_ROWS;
    #[classattr]
    const MAX_BATCH_BYTES: usize = limits::MAX_BATCH_BYTES;
    #[classattr]
    const WINDOW_SHARES: (f64, f64) = (limits::WINDOW_SHARES[0], limits::WINDOW_SHARES[1]);
    #[classattr]
    const DEFAULT_FILL: f64 = limits::DEFAULT_FILL as f64 / 1e6;
    #[classattr]
    const DEFAULT_OUTPUT_TOKENS: u64 = limits::DEFAULT_OUTPUT_TOKENS;
    #[classattr]
    const DEFAULT_CUT_STEP: f64 = limits::DEFAULT_CUT_STEP as f64 / 1e6;
    #[classattr]
    const DEFAULT_CHUNK_TOKENS: usize = limits::DEFAULT_CHUNK_TOKENS;
    #[classattr]
    const DEFAULT_BUSY_TIMEOUT_SECONDS: f64 = limits::DEFAULT_BUSY_TIMEOUT.as_secs() as f64;
}
