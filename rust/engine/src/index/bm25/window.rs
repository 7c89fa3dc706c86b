//! A window of document numbers, with a score for each: what one step of a search works on.

use std::cell::Cell;
use std::convert::Infallible;

use super::Hit;
use super::formula::Formula;
use super::lengths::Lengths;
use super::list::RUN;
use crate::Result;

/// Documents of the smallest window: 32 KiB of scores, which stay in the first cache while the terms are added up.
const SMALLEST: usize = 4096;

/// Documents of the largest one, for terms so rare that going from window to window would cost more than what is found.
const LARGEST: usize = 32_768;

/// Documents that share a mark. A mark for each would be a store more for each posting; none, and an almost empty window
/// would have to be searched whole.
const GROUP: usize = 8;

thread_local! {
    /// An empty window, so that a search neither allocates nor clears one.
    static SPARE: Cell<Option<Box<Window>>> = const { Cell::new(None) };
}

pub(super) struct Window {
    /// The first document.
    pub start: u32,
    /// The first document that is not in it any more.
    pub end: u32,
    scores: Vec<i64>,
    /// 1 for each eight documents of which one has a score.
    touched: Vec<u8>,
    lengths: [u16; RUN],
    contributions: [i64; RUN],
}

impl Window {
    /// An empty window before all documents.
    #[allow(clippy::large_stack_arrays)] // made once a thread; 36 KiB
    pub fn take() -> Box<Self> {
        let window = SPARE.take().unwrap_or_else(|| {
            Box::new(Self {
                start: 0,
                end: 0,
                scores: vec![0; LARGEST],
                touched: vec![0; LARGEST / GROUP],
                lengths: [0; RUN],
                contributions: [0; RUN],
            })
        });
        debug_assert!(window.scores.iter().all(|score| *score == 0) && window.touched.iter().all(|mark| *mark == 0));
        window
    }

    /// Gives back a window that was drained. One that was not, after an error, is dropped instead.
    pub fn give_back(mut self: Box<Self>) {
        (self.start, self.end) = (0, 0);
        SPARE.set(Some(self));
    }

    /// Moves the window, which is empty. It is as large as holds about [`SMALLEST`] postings, where one of `sparsity`
    /// documents has one.
    pub fn move_to(&mut self, start: u32, sparsity: u64) {
        let size = sparsity.saturating_mul(SMALLEST as u64).clamp(SMALLEST as u64, LARGEST as u64);
        self.start = start;
        self.end = start.saturating_add(size as u32);
    }

    /// Adds what a term gives to documents of the window: at most a run of them, ascending.
    #[inline]
    pub fn score(&mut self, numbers: &[u32], counts: &[u8], formula: &Formula, factor: f64, lengths: &mut impl Lengths) -> Result<()> {
        let n = numbers.len().min(RUN);
        if lengths.stored_lengths(&numbers[..n], &mut self.lengths)? {
            formula.contributions(factor, &counts[..n], &self.lengths[..n], &mut self.contributions[..n]);
        } else {
            for (i, (&number, &count)) in numbers.iter().zip(counts).enumerate().take(n) {
                self.contributions[i] = formula.contribution(factor, count, lengths.stored_length(number)?);
            }
        }
        let (scores, touched) = (&mut self.scores[..LARGEST], &mut self.touched[..LARGEST / GROUP]);
        for (&number, &contribution) in numbers.iter().zip(&self.contributions[..n]) {
            let at = number.wrapping_sub(self.start) as usize % LARGEST;
            scores[at] += contribution;
            touched[at / GROUP] = 1;
        }
        Ok(())
    }

    /// Empties the window into `visit`: the documents with a score, in the order of numbers.
    #[inline]
    pub fn drain<E>(&mut self, mut visit: impl FnMut(u32, i64) -> Result<(), E>) -> Result<(), E> {
        self.drain_groups(|first, scores| {
            for (number, &score) in (first..).zip(scores) {
                if score > 0 {
                    visit(number, score)?;
                }
            }
            Ok(())
        })
    }

    /// Empties the window into `hits`.
    pub fn drain_into(&mut self, hits: &mut Vec<Hit>) {
        let mut n = hits.len();
        let drained: Result<(), Infallible> = self.drain_groups(|first, scores| {
            if hits.len() < n + GROUP {
                hits.resize(n + 64 * GROUP, Hit { number: 0, score: 0 });
            }
            // Written whether it counts or not: which of a group have a score is beyond any guess of a branch.
            for (number, &score) in (first..).zip(scores) {
                hits[n] = Hit { number, score };
                n += usize::from(score > 0);
            }
            Ok(())
        });
        let Ok(()) = drained;
        hits.truncate(n);
    }

    /// Empties the window into `visit`: the first of some documents, and the score of each, 0 where it has none.
    #[inline]
    pub fn drain_each(&mut self, mut visit: impl FnMut(u32, &[i64])) {
        let drained: Result<(), Infallible> = self.drain_groups(|first, scores| {
            visit(first, scores);
            Ok(())
        });
        let Ok(()) = drained;
    }

    #[inline]
    fn drain_groups<E>(&mut self, mut visit: impl FnMut(u32, &[i64; GROUP]) -> Result<(), E>) -> Result<(), E> {
        let size = (self.end - self.start) as usize;
        let (marks, _) = self.touched[..LARGEST / GROUP].as_chunks_mut::<8>();
        let (groups, _) = self.scores[..LARGEST].as_chunks_mut::<GROUP>();
        for (place, marks) in marks.iter_mut().enumerate().take(size.div_ceil(8 * GROUP)) {
            let mut left = u64::from_le_bytes(std::mem::take(marks));
            while left != 0 {
                let group = (place * 8 + left.trailing_zeros() as usize / 8) % (LARGEST / GROUP);
                left &= left - 1;
                visit(self.start + (group * GROUP) as u32, &groups[group])?;
                groups[group] = [0; GROUP];
            }
        }
        Ok(())
    }
}
