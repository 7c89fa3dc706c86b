//! Long-term memory: what a write does to records, slots, indexes and vectors, in one transaction.
//!
//! [`record`] is one memory as it is stored. [`remember`], [`revise`] and [`forget`] are the writes. [`read`] lists and looks up. [`core`]
//! is an open store with its embedders, which the rooms above take. How a memory is found by a question is `recall`.

pub mod access;
mod ages;
#[cfg(test)]
mod batch_tests;
mod claims;
mod conditions;
pub mod core;
pub(crate) mod doctor;
mod embedders;
pub mod embedding;
pub mod forget;
pub mod heard;
pub mod kind;
pub mod learn;
pub mod maintain;
pub(crate) mod mend;
mod merge;
mod named;
mod near;
pub mod new_memory;
mod occasion;
pub mod outcome;
mod outline;
mod own;
pub mod provenance;
pub mod quarantine;
pub mod read;
pub mod record;
pub(crate) mod rehash;
pub mod relation;
pub mod remember;
pub mod revise;
mod revisions;
pub mod slots;
mod succession;
pub(crate) mod superseded;
mod to_embed;
mod writer;

pub(crate) use ages::{Ages, may_be_right};
pub(crate) use conditions::{check_conditions, has_metadata};
pub use core::{Core, EngineOptions, Written};
pub use forget::Origin;
pub use heard::LearnMark;
pub use kind::{Kind, KindRule};
pub use learn::Learning;
pub use named::{Answered, Named};
pub use near::Moved;
pub(crate) use near::{holds_beside, is_of_another_thing};
pub use new_memory::{NewMemory, Verdict};
pub use outcome::{Action, Remembered};
pub(crate) use outline::{Outline, Stored};
pub use provenance::Provenance;
pub use read::Listing;
pub use record::{Ending, Memory, State};
pub use relation::Relation;
pub use to_embed::{ToEmbed, give_vectors};
pub(crate) use writer::{MEMORIES, PINNED_KINDS, doubt_of, importance_of, kind_key, said_again};
