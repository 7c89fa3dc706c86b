//! The Python border of memspan: conversions and frozen classes, no algorithm.
//!
//! `EngineCore`, `ScopeCore`, `SessionCore`, `TaskCore` and `CollectionCore` are what the package's `Engine`, `Scope`, `Session`, `Task` and
//! `Collection` call; everything
//! else here is a value that they return.
//! Rules that hold for every call: arguments are converted before the engine is entered and results after it is left, so that
//! no Python code ever runs inside a transaction or under a lock of the engine; what can wait for a disk runs detached from
//! the interpreter, what takes microseconds stays attached; a panic becomes `memspan.Error`.

#![allow(clippy::doc_markdown, clippy::doc_link_with_quotes)] // docstrings: written for Python's tools
#![allow(clippy::struct_field_names)] // named as Python has them
#![allow(clippy::too_many_arguments)] // Python's keywords, one by one, and the fields of values
#![allow(clippy::unused_self)] // a constant may be a property
#![allow(clippy::needless_pass_by_value)] // what pyo3 converts an argument into is made for the call and belongs to it

mod arguments;
mod budget;
mod build;
mod calls;
mod clock;
mod collection;
mod compaction;
mod embedding;
mod engine;
mod errors;
mod explanation;
mod export;
mod fit;
mod from_json;
mod json;
mod keys;
mod lease;
mod life;
mod limits;
mod memory;
mod messages;
mod metadata;
mod models;
mod options;
mod prompt;
mod recall;
mod repair;
mod reply;
mod rows;
mod scope;
mod session;
mod session_budget;
mod session_info;
mod sources;
mod task;
mod time;
mod tokenizers;
mod tokens;
mod tool_results;
mod transcripts;
mod turn;
mod value;
mod vectors;
mod versions;
mod window;

use pyo3::prelude::*;

/// What `memspan._core` holds.
#[pymodule(gil_used = false)]
mod _core {
    use super::limits::Limits;
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::arguments::{check_memory_text, check_text};
    #[pymodule_export]
    use super::build::build_info;
    #[pymodule_export]
    use super::collection::{
        AddedDocument, CollectionCore, Counts, Document, DocumentDraft, DocumentInfo, Found, Passage, collection_names,
    };
    #[pymodule_export]
    use super::compaction::{
        CheckedReply, CommittedCompaction, LeavingMessage, MadeSummary, PlannedSwitch, RefusedLine, SummaryIdentifier, SummaryText,
    };
    #[pymodule_export]
    use super::compaction::{
        CompactionDraft, add_note, brief_draft, commit_compaction, compaction_draft, compaction_due, plan_switch, read_summary,
        remove_note, session_draft, session_notes, session_summary, set_policy, switch_draft, switch_model, task_ended,
    };
    #[pymodule_export]
    use super::embedding::BuiltInCore;
    #[pymodule_export]
    use super::engine::{EngineCore, LearnedClass, LearnedTokens, Maintained};
    #[pymodule_export]
    use super::explanation::{Explanation, TermScore};
    #[pymodule_export]
    use super::export::{export_store, load_store};
    #[pymodule_export]
    use super::fit::{Fitted, fit};
    #[pymodule_export]
    use super::keys::{is_encrypted, rekey_store};
    #[pymodule_export]
    use super::lease::{LastReply, LeaseHolder, add_leased, add_response_leased, release_lease, take_lease};
    #[pymodule_export]
    use super::life::{Beside, FoundCluster, Group, Judged, LearnState, LearnedFrom, Mark, Relation, SensitivePart};
    #[pymodule_export]
    use super::life::{
        approve, clusters, dbscan, forget_from, gate_features, judge, learn, learn_mark, merge, neighbors, paths, quarantined, relate,
        screen, screened, shown_texts,
    };
    #[pymodule_export]
    use super::memory::{Memory, Remembered, restore_memory, restore_remembered};
    #[pymodule_export]
    use super::models::{dialect_fields, model_fields, model_names, register_model};
    #[pymodule_export]
    use super::prompt::{Breakpoint, Explained, PromptCore, SharedSegments, UsedGrant, UsedSection};
    #[pymodule_export]
    use super::recall::{Recall, Recalled};
    #[pymodule_export]
    use super::repair::repair_store;
    #[pymodule_export]
    use super::reply::{PendingCall, ReplyCore, StoredPartial};
    #[pymodule_export]
    use super::rows::{Draft, FailedRow, Rows, ToEmbed};
    #[pymodule_export]
    use super::scope::{ErasedCounts, HeldSlot, ScopeCore};
    #[pymodule_export]
    use super::session::{Added, Fill, Replied, SessionCore, SessionStatus, StoredUsage, ToolText};
    #[pymodule_export]
    use super::session_budget::{StoredBudget, StoredGrant, session_budget};
    #[pymodule_export]
    use super::session_info::{SessionInfo, session_infos, session_instructions, session_metadata, set_session_metadata};
    #[pymodule_export]
    use super::sources::{SourcesCore, search_sources};
    #[pymodule_export]
    use super::task::TaskCore;
    #[pymodule_export]
    use super::tokenizers::{count_by_encoding, load_tokenizer};
    #[pymodule_export]
    use super::tokens::{CacheMetrics, TokenCounterCore, count_cache_metrics, count_tokens, truncate};
    #[pymodule_export]
    use super::tool_results::{add_shortened, long_results, unsaid};
    #[pymodule_export]
    use super::transcripts::{TranscriptHit, search_transcripts};
    #[pymodule_export]
    use super::turn::{Billed, Message, StoredCall, StoredTurn};
    #[pymodule_export]
    use super::vectors::Vectors;
    #[pymodule_export]
    use super::versions::{StoredVersion, session_versions};
    #[pymodule_export]
    use super::window::{Reached, WindowWatch};

    /// One object, since attributes of a class could be set.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("Limits", Limits)
    }
}
