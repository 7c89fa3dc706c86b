//! The scan: a score for every vector of a partition.

use std::ops::ControlFlow;

use super::kernel::{Kernel, prefetch};
use super::{Query, Scored, VectorSet};
use crate::Result;
use crate::index::vectors::select;
use crate::store::pages::Pages;

/// The score of every vector of a set, numbers ascending. Kept by the caller and filled again by each scan.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    numbers: Vec<u32>,
    scores: Vec<i32>,
}

impl Scores {
    /// No scores yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Vectors that were scored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether the set held no vector.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// The score of one memory, in O(log n).
    #[must_use]
    pub fn get(&self, number: u32) -> Option<i32> {
        self.numbers.binary_search(&number).ok().map(|at| self.scores[at])
    }

    /// Every score, numbers ascending.
    #[must_use = "an iterator does nothing by itself"]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Scored> {
        self.numbers.iter().zip(&self.scores).map(|(&number, &score)| Scored { number, score })
    }

    /// The first `n` of those that `keep` lets through: score descending, number ascending. O(len) and at most one call of
    /// `keep` a number, in ascending order.
    pub fn best(&self, n: usize, keep: impl FnMut(u32) -> bool) -> Vec<Scored> {
        select::best(&self.numbers, &self.scores, n, keep)
    }

    fn clear(&mut self) {
        self.numbers.clear();
        self.scores.clear();
    }

    /// Room for `count` more, and the slice that their scores go to.
    fn grow(&mut self, numbers: &[[u8; 4]]) -> &mut [i32] {
        self.numbers.extend(numbers.iter().map(|&bytes| u32::from_le_bytes(bytes)));
        let start = self.scores.len();
        self.scores.resize(start + numbers.len(), 0);
        &mut self.scores[start..]
    }
}

/// Blocks that are fetched ahead of the one being scored. The walk reads the tree's leaves only, so it can run ahead of
/// the memory that the blocks come from; what it costs and what it gains is in `benches/scan.rs`.
const AHEAD: usize = 2;

impl VectorSet {
    /// Scores every vector of the set against `query` with the fastest kernel of this processor.
    pub fn scan<P: Pages + ?Sized>(&self, pages: &P, query: &Query, scores: &mut Scores) -> Result<()> {
        self.scan_with(pages, query, Kernel::best(), scores)
    }

    /// [`scan`](Self::scan) with a given kernel, for tests and benches: the scores are the same.
    pub fn scan_with<P: Pages + ?Sized>(&self, pages: &P, query: &Query, kernel: Kernel, scores: &mut Scores) -> Result<()> {
        self.check_query(query)?;
        scores.clear();
        let score_block = kernel.block_scorer();
        let mut score = |(key, value): (&[u8], &[u8])| -> Result<()> {
            let block = self.open_block(key, value)?;
            score_block(query, &block, scores.grow(block.numbers()));
            Ok(())
        };
        let range = self.blocks().prefix_range();
        let mut ahead = [None; AHEAD];
        let mut turn = 0;
        pages.scan(&range.start, &range.end, &mut |key, value| {
            prefetch(value);
            let due = ahead[turn].replace((key, value));
            turn = (turn + 1) % AHEAD;
            due.map_or(Ok(()), &mut score)?;
            Ok(ControlFlow::Continue(()))
        })?;
        (0..AHEAD).try_for_each(|step| ahead[(turn + step) % AHEAD].map_or(Ok(()), &mut score))
    }

    pub(super) fn check_query(&self, query: &Query) -> Result<()> {
        if query.dims() == self.dims {
            return Ok(());
        }
        Err(crate::Error::invalid(format!(
            "searching the vectors of embedding {}: a query must have as many dimensions as the vectors, {}, got {} (partition {}): \
             embed the query with the embedder that the memories were embedded with",
            self.embedding,
            self.dims,
            query.dims(),
            self.partition
        ))
        .with("dimensions", self.dims)
        .with("got", query.dims()))
    }
}
