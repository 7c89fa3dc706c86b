//! The indexes of a partition: words ([`bm25`]) and vectors ([`vectors`]), each exact, each a table of one-page blocks.

pub mod bm25;
pub mod vectors;

pub use bm25::runs;
