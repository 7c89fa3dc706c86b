//! The scan: a score for every vector of a partition.

use std::cell::Cell;
use std::ops::ControlFlow;

use super::block::Block;
use super::kernel::{HALF, Half, Kernel, ROWS, TILE, prefetch};
use super::select::Best;
use super::some::Multiplier;
use super::{Query, Scored, VectorSet};
use crate::Result;
use crate::index::vectors::select;
use crate::store::pages::Pages;

/// So many vectors are read whole before rows may be left out: in as few as that nothing is won.
const READ_WHOLE: usize = 1_024;

/// Of so many vectors that may be left out it is counted how many are: where a third is read all the same, the next are read whole.
const TRIED: usize = 240;

/// So many are read whole before it is tried again: the bar rises meanwhile.
const UNTRIED: usize = 2_048;

/// Scores that a thread keeps room for between two scans: 8 MiB.
const MOST_SPARE: usize = 1 << 20;

thread_local! {
    /// Room of an earlier scan, so that the next one neither allocates nor clears it.
    static SPARE: Cell<Option<Scores>> = const { Cell::new(None) };
}

/// The score of every vector of a set, numbers ascending. Kept by the caller and filled again by each scan.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    /// Room for the largest scan so far; what a scan filled is the first `len`.
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

    /// The first `n` of those that `keep` lets through: score descending, number ascending. O(len); `keep` is asked about the best `n`,
    /// and only if it refuses one of them about others.
    pub fn best(&self, n: usize, keep: impl FnMut(u32) -> bool) -> Vec<Scored> {
        let (numbers, scores) = self.filled();
        select::best(numbers, scores, n, keep)
    }

    fn filled(&self) -> (&[u32], &[i32]) {
        (&self.numbers[..self.len], &self.values[..self.len])
    }

    /// Adds one score.
    #[inline]
    fn push(&mut self, number: u32, score: i32) {
        self.grow(&[number.to_le_bytes()])[0] = score;
    }

    /// Adds `numbers` and returns the slice that their scores go to.
    #[inline]
    fn grow(&mut self, numbers: &[[u8; 4]]) -> &mut [i32] {
        let (from, to) = (self.len, self.len + numbers.len());
        if to > self.numbers.len() {
            self.numbers.resize(to.next_power_of_two(), 0);
            self.values.resize(to.next_power_of_two(), 0);
        }
        for (number, &stored) in self.numbers[from..to].iter_mut().zip(numbers) {
            *number = u32::from_le_bytes(stored);
        }
        self.len = to;
        &mut self.values[from..to]
    }
}

/// Whether it pays to leave out rows.
struct Trial {
    /// Before so many vectors it does not.
    whole_until: usize,
    /// Vectors since it was judged, and those of them that were read to their end.
    tried: usize,
    ended: usize,
}

impl Trial {
    /// Notes a block, up to which there were so many vectors.
    fn note(&mut self, seen: usize, tried: usize, ended: usize) {
        (self.tried, self.ended) = (self.tried + tried, self.ended + ended);
        if self.tried >= TRIED {
            let pays = self.ended * 3 <= self.tried;
            *self = Self { whole_until: if pays { 0 } else { seen + UNTRIED }, tried: 0, ended: 0 };
        }
    }
}

/// Rows that are to be read to their end, a few at a time: what is asked of memory for one of them comes while others are looked for.
struct Due<'p> {
    query: Multiplier,
    rows: [&'p [u8]; ROWS],
    numbers: [u32; ROWS],
    scales: [[u8; 4]; ROWS],
    len: usize,
}

impl<'p> Due<'p> {
    fn new(query: &Query) -> Self {
        Self { query: Multiplier::new(query), rows: [&[]; ROWS], numbers: [0; ROWS], scales: [[0; 4]; ROWS], len: 0 }
    }

    /// Takes a row, and scores those that came before where there is no room for more.
    fn add(&mut self, block: &Block<'p>, at: usize, scores: &mut Scores) {
        let row = block.row(at);
        prefetch(row, HALF, HALF);
        (self.rows[self.len], self.numbers[self.len], self.scales[self.len]) = (row, block.number(at), block.scales()[at]);
        self.len += 1;
        if self.len == ROWS {
            self.score(scores);
        }
    }

    fn score(&mut self, scores: &mut Scores) {
        let Some(last) = self.len.checked_sub(1) else { return };
        let rows = std::array::from_fn(|at| self.rows[at.min(last)]);
        for (at, score) in self.query.scores(rows, self.scales).into_iter().enumerate().take(self.len) {
            scores.push(self.numbers[at], score);
        }
        self.len = 0;
    }
}

/// The rows of a block whose numbers are among `also`, a bit each. They and what is before them is taken from it.
fn among(block: &Block<'_>, also: &mut &[u32]) -> u16 {
    let (mut rows, last) = (0, block.number(block.len() - 1));
    while let Some((number, others)) = also.split_first().filter(|(number, _)| **number <= last) {
        if let Some(at) = block.place(*number) {
            rows |= 1 << at;
        }
        *also = others;
    }
    rows
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

    /// [`scan`](Self::scan) for the best `n` that `keep` lets through: beyond the first [`READ_WHOLE`] vectors, rows that cannot be among
    /// them may be left out, but for those of `also`, which ascend. The best, and whether none was left out. `keep` is asked about what is
    /// better than the best so far.
    pub(super) fn scan_for<'p, P: Pages + ?Sized>(
        &self,
        pages: &'p P,
        query: &Query,
        n: usize,
        also: &[u32],
        scores: &mut Scores,
        mut keep: impl FnMut(u32) -> bool,
    ) -> Result<(Vec<Scored>, bool)> {
        self.check_query(query)?;
        scores.len = 0;
        let (half, score_block, mut best) = (Half::of(query), Kernel::best().block_scorer(), Best::new(n));
        let (mut due, mut also) = (Due::new(query), also);
        let (mut left_out, mut trial) = (0, Trial { whole_until: READ_WHOLE, tried: 0, ended: 0 });
        let mut score = |key: &[u8], value: &'p [u8], next: &[u8]| -> Result<()> {
            let block = self.open_block(key, value)?;
            let from = scores.len;
            let bar = best.bar.filter(|_| block.len() <= TILE && from + left_out >= trial.whole_until);
            match half.as_ref().zip(bar) {
                None => {
                    due.score(scores);
                    score_block(query, &block, next, scores.grow(block.numbers()));
                }
                Some((half, bar)) => {
                    let mut rows = half.above(query, &block, next, bar);
                    let ended = rows.count_ones() as usize;
                    left_out += block.len() - ended;
                    trial.note(from + left_out, block.len(), ended);
                    rows |= among(&block, &mut also);
                    while rows != 0 {
                        due.add(&block, rows.trailing_zeros() as usize, scores);
                        rows &= rows - 1;
                    }
                }
            }
            best.push_all(&scores.numbers[from..scores.len], &scores.values[from..scores.len], &mut keep);
            Ok(())
        };
        self.walk_blocks(pages, self.blocks().as_slice(), &mut score)?;
        let from = scores.len;
        due.score(scores);
        best.push_all(&scores.numbers[from..scores.len], &scores.values[from..scores.len], &mut keep);
        Ok((best.into_sorted(), left_out == 0))
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

    /// Calls `score` with every block from the key `from` on, and the value of the one after it.
    fn walk_blocks<'p, P: Pages + ?Sized>(
        &self,
        pages: &'p P,
        from: &[u8],
        score: &mut impl FnMut(&'p [u8], &'p [u8], &'p [u8]) -> Result<()>,
    ) -> Result<()> {
        // One block behind the walk, which reads the tree's leaves only: a block is fetched while the one before is scored.
        let mut due: Option<(&'p [u8], &'p [u8])> = None;
        pages.scan(from, &self.blocks().prefix_range().end, &mut |key, value| {
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
