//! memspan-engine: an embedded memory-and-context engine for LLM applications.
//!
//! Everything that computes or stores is here, without Python; the binding only converts.
//! Start reading at [`store`] for what is on disk, at [`memory`] for what a write does, at [`recall`] for how a memory is found.

pub mod allocator;
pub mod audit;
pub mod collection;
pub mod compaction;
pub mod context;
pub mod embedding;
pub mod engine;
pub mod error;
pub mod export;
pub mod gate;
pub mod index;
pub mod interrupt;
pub mod life;
pub mod limits;
pub mod memory;
pub mod models;
pub mod plain;
pub mod process;
pub mod recall;
pub mod scope;
pub mod session;
pub mod store;
pub mod text;
pub mod tokens;
pub mod units;

pub use error::{Error, ErrorKind, Field, Result};
