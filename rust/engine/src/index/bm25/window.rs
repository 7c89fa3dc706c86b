//! A window of document numbers, with a score for each: what one step of a search works on.

use super::formula::Formula;
use super::list::RUN;
use super::rows::{BLOCK_LENGTHS, Rows};
use crate::Result;
use crate::store::pages::Pages;

/// Documents of a window: 32 KiB of scores.
pub(super) const WINDOW: usize = 4096;

pub(super) struct Window {
    /// The first document.
    pub start: u32,
    /// The first document that is not in it any more.
    pub end: u32,
    scores: Vec<i64>,
    /// One bit for each document that has a score.
    matched: Vec<u64>,
    lengths: [f64; RUN],
    contributions: [i64; RUN],
}

impl Window {
    /// A window for numbers that probably stay below `documents`.
    pub fn new(documents: u64) -> Self {
        let size = (documents as usize).clamp(64, WINDOW).next_multiple_of(64);
        Self { start: 0, end: 0, scores: vec![0; size], matched: vec![0; size / 64], lengths: [0.0; RUN], contributions: [0; RUN] }
    }

    /// Moves the window, which is empty.
    pub fn move_to(&mut self, start: u32) {
        self.start = start;
        self.end = start.saturating_add(self.scores.len() as u32);
    }

    /// Adds what a term gives to documents of the window: at most a run of them, ascending.
    pub fn score<P: Pages>(
        &mut self,
        numbers: &[u32],
        counts: &[u8],
        formula: &Formula,
        factor: f64,
        rows: &mut Rows<'_, P>,
    ) -> Result<()> {
        let mut from = 0;
        while let Some(&number) = numbers.get(from) {
            let block = rows.lengths(number)?;
            let first = number - number % BLOCK_LENGTHS;
            let to = from + numbers[from..].partition_point(|&number| number - first < BLOCK_LENGTHS);
            for (length, &number) in self.lengths[from..to].iter_mut().zip(&numbers[from..to]) {
                *length = f64::from(rows.length_in(block, number)?);
            }
            from = to;
        }
        formula.contributions(factor, counts, &self.lengths[..counts.len()], &mut self.contributions);
        self.add(numbers, counts);
        Ok(())
    }

    fn add(&mut self, numbers: &[u32], counts: &[u8]) {
        let (mut word, mut bits) = (0, 0);
        for ((&number, &count), &contribution) in numbers.iter().zip(counts).zip(&self.contributions) {
            let at = number.wrapping_sub(self.start) as usize;
            if at / 64 != word {
                // Neighbours share a word: kept in a register, it is not stored and loaded again for each.
                self.matched[word] |= bits;
                (word, bits) = (at / 64, 0);
            }
            self.scores[at] += contribution;
            bits |= u64::from(count > 0) << (at % 64);
        }
        self.matched[word] |= bits;
    }

    /// Empties the window into `visit`, in the order of numbers.
    pub fn drain<E>(&mut self, mut visit: impl FnMut(u32, i64) -> Result<(), E>) -> Result<(), E> {
        for (word, matched) in self.matched.iter_mut().enumerate() {
            let mut bits = std::mem::take(matched);
            while bits != 0 {
                let at = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                visit(self.start + at as u32, std::mem::take(&mut self.scores[at]))?;
            }
        }
        Ok(())
    }
}
