//! The scores of some vectors: those of given numbers, which a walk of the blocks would compute for all.

use std::ops::ControlFlow;

use super::block::Block;
use super::kernel::{Dots, Kernel, ROWS, score_factor, to_score};
use super::query::QUERY_ALIGN;
use super::{Query, Scored, VectorSet, vectors_per_block};
use crate::Result;
use crate::store::pages::Pages;

/// The next blocks are walked where so many numbers stand in [`NEAR`] of them; fewer are looked up. To begin a walk takes as many
/// instructions as two look-ups, and a look-up as many as four blocks of a walk.
const MANY: usize = 6;
const NEAR: u32 = 8;

impl VectorSet {
    /// Appends the scores of `numbers`, which ascend, to `scores`: each as a [scan](Self::scan) gives it, none where there is no vector.
    pub fn scores_of<P: Pages + ?Sized>(&self, pages: &P, query: &Query, numbers: &[u32], scores: &mut Vec<Scored>) -> Result<()> {
        self.check_query(query)?;
        let (rows, end) = (Multiplier::new(query), self.blocks().prefix_range().end);
        let near = NEAR.saturating_mul(vectors_per_block(self.dims) as u32);
        let are_many = |left: &[u32], from: u32| left.get(MANY - 1).is_some_and(|number| *number < from.saturating_add(near));
        let (mut left, mut beside) = (numbers, 0);
        while let [number, others @ ..] = left {
            let Some((first, block)) = self.block_with(pages, *number, beside)? else {
                left = others;
                continue;
            };
            let next = block.number(block.len() - 1).saturating_add(1);
            left = rows.score(&block, left, next.max(number.saturating_add(1)), scores);
            beside = first;
            if !are_many(left, next) {
                continue;
            }
            // One block behind the walk: the key of the next says which numbers the one before may hold.
            let mut due: Option<(&[u8], &[u8])> = None;
            pages.scan(self.block_key(next).as_slice(), &end, &mut |key, value| {
                let first = self.first_of(key).unwrap_or(u32::MAX);
                if let Some((key, before)) = due.filter(|_| left.first().is_some_and(|number| *number < first)) {
                    left = rows.score(&self.open_block(key, before)?, left, first, scores);
                }
                (due, beside) = (Some((key, value)), first);
                Ok(if are_many(left, first) { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            })?;
        }
        Ok(())
    }

    /// The block that holds `number`, if any does, and its first number. Blocks that were only added to are full, so that the place of one
    /// says where others are.
    fn block_with<'p, P: Pages + ?Sized>(&self, pages: &'p P, number: u32, beside: u32) -> Result<Option<(u32, Block<'p>)>> {
        if let Some(after) = number.checked_sub(beside) {
            let first = number - after % vectors_per_block(self.dims) as u32;
            let key = self.block_key(first);
            if let Some(value) = pages.get(key.as_slice())? {
                let block = self.open_block(key.as_slice(), value)?;
                if block.number(block.len() - 1) >= number {
                    return Ok(Some((first, block)));
                }
            }
        }
        let Some((key, value)) = pages.floor(self.block_key(number).as_slice())? else { return Ok(None) };
        let Some(first) = self.first_of(key) else { return Ok(None) };
        Ok(Some((first, self.open_block(key, value)?)))
    }
}

/// A query ready to be multiplied by single rows.
pub(super) struct Multiplier {
    codes: Vec<u8>,
    sum: i32,
    dots: Dots,
    factor: f64,
}

impl Multiplier {
    pub fn new(query: &Query) -> Self {
        let codes = query.codes().iter().map(|code| *code as u8).collect();
        Self { codes, sum: query.sum, dots: Kernel::best().dots(), factor: score_factor(query) }
    }

    /// Scores those of `numbers` that a block has and that are below `next`; returns the others behind them.
    fn score<'n>(&self, block: &Block<'_>, numbers: &'n [u32], next: u32, scores: &mut Vec<Scored>) -> &'n [u32] {
        let (here, left) = numbers.split_at(numbers.partition_point(|number| *number < next));
        let mut places = here.iter().filter_map(|number| block.place(*number));
        while let Some(first) = places.next() {
            let (mut group, mut count) = ([first; ROWS], 1);
            for (slot, place) in group[1..].iter_mut().zip(places.by_ref()) {
                (*slot, count) = (place, count + 1);
            }
            let (mut rows, mut scales) = ([block.row(first); ROWS], [block.scales()[first]; ROWS]);
            for at in 1..count {
                (rows[at], scales[at]) = (block.row(group[at]), block.scales()[group[at]]);
            }
            let made = self.scores(rows, scales);
            for (place, score) in group.into_iter().zip(made).take(count) {
                scores.push(Scored { number: block.number(place), score });
            }
        }
        left
    }

    /// The scores of rows with these scales.
    pub fn scores(&self, rows: [&[u8]; ROWS], scales: [[u8; 4]; ROWS]) -> [i32; ROWS] {
        let dots = self.multiply(rows);
        std::array::from_fn(|at| to_score(dots[at], scales[at], self.factor))
    }

    fn multiply(&self, rows: [&[u8]; ROWS]) -> [i32; ROWS] {
        if rows[0].len().is_multiple_of(QUERY_ALIGN) {
            return self.dots.of(&self.codes, self.sum, rows);
        }
        rows.map(|row| self.codes.iter().zip(row).map(|(&a, &b)| i32::from(a as i8) * i32::from(b as i8)).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::vectors::testing::Random;
    use crate::index::vectors::{Scores, UnitVector};
    use crate::store::pages::MemoryPages;

    #[test]
    fn each_score_is_that_of_a_scan() {
        let mut random = Random::new(3);
        for dims in [5, 64, 256, 384] {
            let (set, mut pages) = (VectorSet::new(7, 1, dims).unwrap(), MemoryPages::new());
            for number in (3..2_000).filter(|number| number % 97 != 0) {
                set.put(&mut pages, number, &UnitVector::new(&random.vector(dims), dims).unwrap()).unwrap();
            }
            for number in (500..600).chain(900..903) {
                set.remove(&mut pages, number).unwrap();
            }
            VectorSet::new(8, 1, dims).unwrap().put(&mut pages, 1, &UnitVector::new(&random.vector(dims), dims).unwrap()).unwrap();
            let (query, mut all) = (Query::new(&random.vector(dims), dims).unwrap(), Scores::new());
            set.scan(&pages, &query, &mut all).unwrap();
            for share in [1, 2, 7, 40, 500] {
                let numbers: Vec<u32> = (0..2_100).filter(|_| (random.next() as u32).is_multiple_of(share)).collect();
                let mut some = Vec::new();
                set.scores_of(&pages, &query, &numbers, &mut some).unwrap();
                let expected: Vec<Scored> =
                    numbers.iter().filter_map(|&number| all.get(number).map(|score| Scored { number, score })).collect();
                assert_eq!(some, expected, "{dims} {share}");
            }
        }
    }

    #[test]
    fn a_set_without_vectors_has_no_scores() {
        let (set, query, mut scores) = (VectorSet::new(7, 1, 4).unwrap(), Query::new(&[1.0, 0.0, 0.0, 0.0], 4).unwrap(), Vec::new());
        set.scores_of(&MemoryPages::new(), &query, &[0, 1, 5], &mut scores).unwrap();
        assert!(scores.is_empty());
    }
}
