//! Long-term memory: what a write does to records, slots, indexes and vectors, in one transaction.
//!
//! [`record`] is one memory as it is stored; [`scope`] finds the partition of a user and keeps its counters; [`remember`],
//! [`revise`] and [`forget`] are the writes; [`read`] lists and looks up. How a memory is found by a question is [`crate::recall`].

pub mod access;
pub mod doctor;
mod embedders;
pub mod embedding;
pub mod engine;
pub mod forget;
pub mod graphs;
pub mod kind;
pub mod learn;
pub mod maintain;
mod near;
pub mod provenance;
pub mod quarantine;
pub mod read;
pub mod record;
pub mod remember;
pub mod revise;
pub mod scope;
pub mod slots;
mod writer;

pub use doctor::{Finding, Report};
pub use engine::{Contents, Engine, EngineOptions, Written};
pub use kind::Kind;
pub use provenance::Provenance;
pub use record::{Ending, Memory, State};
pub use remember::{Action, NewMemory, Remembered};
pub(crate) use scope::check_id;
pub use scope::{Head, Scope, ScopeType};
pub(crate) use writer::{MEMORIES, PINNED_KINDS, analyze, importance_of, kind_key, with_analyzer};
