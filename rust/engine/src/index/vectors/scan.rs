//! The scan: a score for every vector of a partition.

use std::cell::Cell;
use std::ops::ControlFlow;

use super::kernel::Kernel;
use super::{Query, Scored, VectorSet};
use crate::Result;
use crate::index::vectors::select;
use crate::store::pages::Pages;

/// Scores that a thread keeps room for between two scans: 8 MiB.
const MOST_SPARE: usize = 1 << 20;

/// Scores that are written together where their numbers follow one another.
const ROW: usize = 16;

thread_local! {
    /// Room of an earlier scan, so that the next one neither allocates nor clears it.
    static SPARE: Cell<Option<Scores>> = const { Cell::new(None) };
}

/// The score of every vector of a set, numbers ascending. Kept by the caller and filled again by each scan.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    /// Room for the largest scan so far; a scan fills the first `len`.
    numbers: Vec<u32>,
    values: Vec<i32>,
    len: usize,
}

impl Scores {
    /// No scores yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// No scores yet, with the room of an earlier scan of this thread.
    pub(super) fn with_spare_room() -> Self {
        Self { len: 0, ..SPARE.take().unwrap_or_default() }
    }

    /// Leaves the room to the next scan of this thread.
    pub(super) fn give_back(self) {
        if self.numbers.len() <= MOST_SPARE {
            SPARE.set(Some(self));
        }
    }

    /// Vectors that were scored.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the set held no vector.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The score of one memory, in O(log n).
    #[must_use]
    pub fn get(&self, number: u32) -> Option<i32> {
        let (numbers, scores) = self.filled();
        numbers.binary_search(&number).ok().map(|at| scores[at])
    }

    /// Every score, numbers ascending.
    #[must_use = "an iterator does nothing by itself"]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Scored> {
        let (numbers, scores) = self.filled();
        numbers.iter().zip(scores).map(|(&number, &score)| Scored { number, score })
    }

    /// Writes every score to the place of its number, 0 for one below; of numbers that have no place nothing.
    pub(crate) fn spread(&self, places: &mut [i32]) {
        let (numbers, scores) = self.filled();
        let ((rows, rest), (rows_of_scores, rest_of_scores)) = (numbers.as_chunks::<ROW>(), scores.as_chunks::<ROW>());
        for (numbers, scores) in rows.iter().zip(rows_of_scores) {
            // They ascend, so that the first and the last tell of all between.
            let is_run = numbers[ROW - 1].wrapping_sub(numbers[0]) == ROW as u32 - 1;
            match places.get_mut(numbers[0] as usize..).and_then(|places| places.first_chunk_mut()).filter(|_| is_run) {
                Some(places) => *places = scores.map(|score| score.max(0)),
                None => spread_each(numbers, scores, places),
            }
        }
        spread_each(rest, rest_of_scores, places);
    }

    /// The first `n` of those that `keep` lets through: score descending, number ascending. O(len); `keep` is asked about the best `n`,
    /// and only if it refuses one of them about others.
    pub fn best(&self, n: usize, keep: impl FnMut(u32) -> bool) -> Vec<Scored> {
        let (numbers, scores) = self.filled();
        select::best(numbers, scores, n, keep)
    }

    fn filled(&self) -> (&[u32], &[i32]) {
        (&self.numbers[..self.len], &self.values[..self.len])
    }

    /// Adds `numbers` and returns the slice that their scores go to.
    #[inline]
    fn grow(&mut self, numbers: &[[u8; 4]]) -> &mut [i32] {
        let (from, to) = (self.len, self.len + numbers.len());
        if to > self.numbers.len() {
            self.numbers.resize(to.next_power_of_two(), 0);
            self.values.resize(to.next_power_of_two(), 0);
        }
        let (fours, rest) = self.numbers[from..to].as_chunks_mut::<4>();
        let (stored_fours, stored_rest) = numbers.as_chunks::<4>();
        for (four, &stored) in fours.iter_mut().zip(stored_fours) {
            *four = stored.map(u32::from_le_bytes);
        }
        for (number, &stored) in rest.iter_mut().zip(stored_rest) {
            *number = u32::from_le_bytes(stored);
        }
        self.len = to;
        &mut self.values[from..to]
    }
}

fn spread_each(numbers: &[u32], scores: &[i32], places: &mut [i32]) {
    for (number, score) in numbers.iter().zip(scores) {
        if let Some(place) = places.get_mut(*number as usize) {
            *place = (*score).max(0);
        }
    }
}

impl VectorSet {
    /// Scores every vector of the set against `query` with the fastest kernel of this processor.
    pub fn scan<P: Pages + ?Sized>(&self, pages: &P, query: &Query, scores: &mut Scores) -> Result<()> {
        self.scan_with(pages, query, Kernel::best(), scores)
    }

    /// [`scan`](Self::scan) with a given kernel, for tests and benches: the scores are the same.
    pub fn scan_with<P: Pages + ?Sized>(&self, pages: &P, query: &Query, kernel: Kernel, scores: &mut Scores) -> Result<()> {
        self.scan_blocks(pages, query, kernel, self.blocks().as_slice(), scores)
    }

    /// Scores the vectors from number `first` on, and those before it that stand in one block with it.
    pub(super) fn scan_from<P: Pages + ?Sized>(&self, pages: &P, query: &Query, first: u32, scores: &mut Scores) -> Result<()> {
        let key = self.block_key(first);
        let from = pages.floor(key.as_slice())?.filter(|(key, _)| self.first_of(key).is_some()).map(|(key, _)| key.to_vec());
        self.scan_blocks(pages, query, Kernel::best(), from.as_deref().unwrap_or(key.as_slice()), scores)
    }

    fn scan_blocks<P: Pages + ?Sized>(&self, pages: &P, query: &Query, kernel: Kernel, from: &[u8], scores: &mut Scores) -> Result<()> {
        self.check_query(query)?;
        scores.len = 0;
        let score_block = kernel.block_scorer();
        let mut score = |key: &[u8], value: &[u8], next: &[u8]| -> Result<()> {
            let block = self.open_block(key, value)?;
            score_block(query, &block, next, scores.grow(block.numbers()));
            Ok(())
        };
        self.walk_blocks(pages, from, &mut score)
    }

    /// Calls `score`, which opens it, with every block from the key `from` on, and the value of the one after it.
    fn walk_blocks<'p, P: Pages + ?Sized>(
        &self,
        pages: &'p P,
        from: &[u8],
        score: &mut impl FnMut(&'p [u8], &'p [u8], &'p [u8]) -> Result<()>,
    ) -> Result<()> {
        // One block behind the walk, which reads the tree's leaves only: a block is fetched while the one before is scored.
        let mut due: Option<(&'p [u8], &'p [u8])> = None;
        pages.scan_to_open(from, &self.blocks().prefix_range().end, &mut |key, value| {
            if let Some((key, before)) = due {
                score(key, before, value)?;
            }
            due = Some((key, value));
            Ok(ControlFlow::Continue(()))
        })?;
        due.map_or(Ok(()), |(key, value)| score(key, value, &[]))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_score_is_written_to_the_place_of_its_number() {
        let with_gaps = |every: u32| (0..100).filter(|number| number % every > 0).collect::<Vec<u32>>();
        for numbers in [Vec::new(), vec![9], (3..70).collect(), with_gaps(2), with_gaps(17), (0..16).chain(17..33).chain([40]).collect()] {
            let mut scores = Scores::new();
            let stored: Vec<[u8; 4]> = numbers.iter().map(|number| number.to_le_bytes()).collect();
            scores.grow(&stored).iter_mut().zip(1..).for_each(|(score, value)| *score = if value % 3 == 0 { -value } else { value });
            for room in [0, 10, 40, 70, 100] {
                let (mut places, mut expected) = (vec![7; room], vec![7; room]);
                scores.spread(&mut places);
                for one in scores.iter().filter(|one| (one.number as usize) < room) {
                    expected[one.number as usize] = one.score.max(0);
                }
                assert_eq!(places, expected, "{numbers:?} {room}");
            }
        }
    }
}
