//! The Python border of memspan: conversions and frozen classes, no algorithm.
//!
//! `EngineCore`, `ScopeCore`, `SessionCore`, `TaskCore` and `CollectionCore` are what the package's `Engine`, `Scope`, `Session`,
//! `Task` and `Collection` call. Everything else here is a value that they return.
//! Rules that hold for every call: arguments are converted before the engine is entered and results after it is left, so that
//! no Python code ever runs inside a transaction or under a lock of the engine; what can wait for a disk runs detached from
//! the interpreter, what takes microseconds stays attached; a panic becomes `memspan.Error`.

#![allow(clippy::doc_markdown, clippy::doc_link_with_quotes)] // docstrings: written for Python's tools
#![allow(clippy::struct_field_names)] // named as Python has them
#![allow(clippy::too_many_arguments)] // Python's keywords, one by one, and the fields of values
#![allow(clippy::unused_self)] // a constant may be a property
#![allow(clippy::needless_pass_by_value)] // what pyo3 converts an argument into is made for the call and belongs to it

mod answers;
mod arguments;
mod budget;
mod build;
mod calls;
mod collection;
mod compaction;
mod embedding;
mod engine;
mod errors;
mod life;
mod memory;
mod messages;
mod models;
mod plain;
mod prompt;
mod scope;
mod session;
mod session_values;
mod task;
mod time;
mod tokens;
mod value;
mod vectors;

use memspan_engine::allocator::Allocator;
use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// The contents of `memspan._core`.
#[pymodule(gil_used = false)]
mod _core {
    use super::build::Limits;
    use pyo3::prelude::*;
    use pyo3::types::{PyDict, PyMapping, PySequence, PyTuple};

    #[pymodule_export]
    use super::{
        answers::explain_message,
        build::{build_info, repair},
        collection::{CollectionCore, DocumentDraft},
        compaction::{CompactionDraft, compaction_draft, read_summary, unsaid},
        embedding::{BuiltInCore, built_in_question, built_in_rows, built_in_tokens},
        engine::EngineCore,
        life::{Judged, dbscan, gate_features, screen, screened},
        memory::{Draft, ToEmbed, check_memory_text, check_text},
        models::{dialect_fields, model_fields, model_names, register_model},
        prompt::PromptCore,
        scope::ScopeCore,
        session::{SessionCore, WindowWatch},
        task::TaskCore,
        tokens::{TokenCounterCore, count_by_encoding, count_cache_metrics, count_tokens, fit, load_tokenizer, truncate},
        value::Kept,
        vectors::Vectors,
    };

    /// One object, since attributes of a class could be set.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        touch(module.py())?;
        module.add("Limits", Limits)
    }

    /// Has all made that pyo3 and the engine make by a first use, under locks that a child of a fork may find taken for ever.
    fn touch(py: Python<'_>) -> PyResult<()> {
        memspan_engine::store::fork::registry();
        let (dict, tuple, moment) = (PyDict::new(py), PyTuple::empty(py), crate::time::to_python(py, 0)?);
        crate::time::from_python("touch", &moment, crate::time::Naive::Utc)?;
        crate::errors::type_name(&moment);
        let _ = (dict.cast::<PySequence>(), tuple.cast::<PyMapping>());
        Ok(())
    }
}
