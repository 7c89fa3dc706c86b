//! An approximate graph for partitions that an exact scan does not answer in time: HNSW (Malkov and Yashunin,
//! "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable Small World graphs", 2018).
//!
//! A graph is an immutable segment: built in memory from one snapshot, written ahead in transactions of one value, and taken into use by a
//! small last one. A segment does not have what is written later: newer numbers are the *tail* and are scanned; of older numbers that are
//! removed or get another vector, the writer's own transaction notes the change. So a search sees every vector of its snapshot and none
//! that is gone, whatever the age of the segment.
//!
//! ```text
//! due, begin, Build::insert.., Build::put.., finish, sweep    the life of a segment    maintain.rs, build.rs
//! VectorSet::nearest -> scan | beam over the segment + changed vectors + scan of the tail    nearest.rs, search.rs
//! ```
//!
//! A segment is few large values, not many of one page: a step of a search touches some thirty vectors that lie anywhere,
//! and a look-up in the tree for each would cost more than its dot product. This module does not decide when
//! maintenance runs, and it holds nothing in memory between two searches.

mod audit;
mod build;
mod catalog;
mod changes;
mod maintain;
mod nearest;
mod search;
mod segment;
mod shape;

#[cfg(test)]
mod tests;

pub use build::Build;
pub use maintain::Due;
pub use nearest::Nearest;

use crate::{Error, Result};

/// How graphs are built, and from where on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GraphOptions {
    /// Vectors in a partition from which on it gets a graph.
    pub threshold: u64,
    /// Links of a node in the upper layers, about half as many as at the bottom: M. 4 to 64.
    pub m: usize,
    /// How many nodes are kept in sight while the neighbours of a new one are looked for. M to 4,096.
    pub ef_construction: usize,
    /// How many nodes are kept in sight by a search; a search that needs more takes more. 1 to 65,535.
    pub ef_search: usize,
    /// The share of newer and changed vectors from which on a graph is built anew. Above 0, up to 1.
    pub rebuild_share: f64,
}

impl Default for GraphOptions {
    fn default() -> Self {
        Self { threshold: 200_000, m: 16, ef_construction: 200, ef_search: DEFAULT_EF_SEARCH, rebuild_share: 0.2 }
    }
}

/// Nodes kept in sight by a search that was not told otherwise.
pub(super) const DEFAULT_EF_SEARCH: usize = 128;

impl GraphOptions {
    /// Refuses what lies outside of the bounds.
    pub fn check(&self) -> Result<()> {
        let bounds = [
            ("graph_threshold", self.threshold, 1, u64::MAX),
            ("graph_m", self.m as u64, 4, 64),
            ("graph_ef_construction", self.ef_construction as u64, self.m as u64, 4096),
            ("graph_ef_search", self.ef_search as u64, 1, 65_535),
        ];
        for (name, got, least, most) in bounds {
            if !(least..=most).contains(&got) {
                return Err(Error::invalid(format!("opening a store: {name} must lie between {least} and {most}, got {got}"))
                    .with("got", got.to_string()));
            }
        }
        if self.rebuild_share > 0.0 && self.rebuild_share <= 1.0 {
            return Ok(());
        }
        Err(Error::invalid(format!("opening a store: graph_rebuild_share must be above 0 and at most 1, got {}", self.rebuild_share)))
    }
}
