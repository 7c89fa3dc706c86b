//! The limits and defaults of the engine as Python has them: `memspan._core.Limits`, an object whose attributes cannot be set.

use memspan_engine::limits;
use pyo3::prelude::*;

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
