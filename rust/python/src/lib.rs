//! The Python border of memspan: conversions and frozen classes, no algorithm.
//!
//! `EngineCore` and `ScopeCore` are what the package's `Engine` and `Scope` call; everything else here is a value that they return.
//! Rules that hold for every call: arguments are converted before the engine is entered and results after it is left, so that
//! no Python code ever runs inside a transaction or under a lock of the engine; what can wait for a disk runs detached from
//! the interpreter, what takes microseconds stays attached; a panic becomes `memspan.Error`.

#![allow(clippy::doc_markdown, clippy::doc_link_with_quotes)] // docstrings: written for Python's tools
#![allow(clippy::needless_pass_by_value)] // what pyo3 converts an argument into is made for the call and belongs to it

mod arguments;
mod build;
mod clock;
mod embedding;
mod engine;
mod errors;
mod explanation;
mod memory;
mod metadata;
mod recall;
mod rows;
mod scope;
mod time;
mod vectors;

use pyo3::prelude::*;

/// What `memspan._core` holds.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::arguments::{check_memory_text, check_text};
    #[pymodule_export]
    use super::build::build_info;
    #[pymodule_export]
    use super::embedding::BuiltInCore;
    #[pymodule_export]
    use super::engine::EngineCore;
    #[pymodule_export]
    use super::explanation::{Explanation, TermScore};
    #[pymodule_export]
    use super::memory::{Memory, Remembered, restore_memory, restore_remembered};
    #[pymodule_export]
    use super::recall::{Recall, Recalled};
    #[pymodule_export]
    use super::rows::{Draft, Rows};
    #[pymodule_export]
    use super::scope::ScopeCore;
    #[pymodule_export]
    use super::vectors::Vectors;
}
