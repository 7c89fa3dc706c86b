//! (being written)

pub mod bm25;
pub mod vectors;
