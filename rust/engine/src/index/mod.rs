//! (being written)

pub mod bm25;
