//! The vectors of a partition: stored exactly and as int8 blocks, scanned whole, their best compared exactly.
//!
//! The search is exact on purpose: partitions are small, and a scan of one costs less and finds more than a graph with a
//! filter. Partitions far beyond that have a graph besides: see [`graph`]. This module does not make embeddings,
//! or choose among partitions.
//!
//! ```text
//! write    UnitVector (f32, length 1) -> VectorExact in 16 bits a component, VectorBlock as int8 codes with one scale
//! recall   Query -> scan: trunc(2^30 * dot(codes) * scale * scale) for every vector
//!                -> Scores::best: the first n, score descending, number ascending
//!                -> cosine: trunc(2^30 * scale * dot(f32 and i16 as f64)) for those n
//! ```
//!
//! Every step gives the same bits on every processor: integers are exact in any order, floating point has one fixed
//! order of operations and is never fused. The bytes are described in `docs/format.md`.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a test may panic

mod audit;
mod block;
mod clear;
mod exact;
pub mod graph;
mod kernel;
mod made;
mod pairs;
mod query;
mod scan;
mod select;
mod some;
mod unit;
mod write;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use block::vectors_per_block;
pub use kernel::Kernel;
pub use made::Made;
pub use pairs::Codes;
pub use query::Query;
pub use scan::Scores;
pub use select::Scored;
pub use unit::UnitVector;

use crate::limits::MAX_DIMENSIONS;
use crate::store::keys::{Key, Partition, Table};
use crate::{Error, Result};

/// The vectors of one embedding in one partition. A name for a place, not a handle: cheap to make and to copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorSet {
    partition: Partition,
    embedding: u16,
    dims: usize,
    /// The table of its blocks.
    blocks: Table,
    ef_search: usize,
}

impl VectorSet {
    /// The vectors that `embedding` (its number in the store) made in `partition`, of `dims` dimensions each.
    pub fn new(partition: Partition, embedding: u16, dims: usize) -> Result<Self> {
        if (1..=MAX_DIMENSIONS).contains(&dims) {
            return Ok(Self { partition, embedding, dims, blocks: Table::VectorBlock, ef_search: graph::DEFAULT_EF_SEARCH });
        }
        Err(Error::invalid(format!(
            "opening the vectors of embedding {embedding}: an embedding has 1 to {MAX_DIMENSIONS} dimensions, got {dims} (partition {partition}): \
             pass an embedder whose `dimensions` lies in that range"
        ))
        .with("dimensions", dims)
        .with("embedding", i64::from(embedding)))
    }

    /// Whether both sets are of one embedding.
    #[must_use]
    pub fn is_comparable(&self, other: &Self) -> bool {
        self.embedding == other.embedding
    }

    /// The vectors of a partition's messages, which `revision` of the built-in embedding made: codes only, without exact vectors, because
    /// transcripts are large and a text's vector can be made again.
    #[must_use]
    pub fn of_messages(partition: Partition, revision: u16, dims: usize) -> Self {
        Self { partition, embedding: revision, dims, blocks: Table::MessageVector, ef_search: graph::DEFAULT_EF_SEARCH }
    }

    /// Whether each vector is stored exactly, too. Only such sets have graphs.
    fn is_exact(&self) -> bool {
        self.blocks == Table::VectorBlock
    }

    /// This set, whose searches by a graph keep at least `ef_search` nodes in sight.
    #[must_use]
    pub fn with_ef_search(mut self, ef_search: usize) -> Self {
        self.ef_search = ef_search.max(1);
        self
    }

    /// Dimensions of every vector of the set.
    #[must_use]
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// The prefix of every block key of the set.
    fn blocks(&self) -> Key {
        Key::new(self.partition, self.blocks).u16(self.embedding)
    }

    /// Key of the block whose first vector belongs to `first`.
    fn block_key(&self, first: u32) -> Key {
        self.blocks().u32(first)
    }

    /// The prefix of the keys of the exact vector of `number`.
    fn exact(&self, number: u32) -> Key {
        Key::new(self.partition, Table::VectorExact).u16(self.embedding).u32(number)
    }
}
