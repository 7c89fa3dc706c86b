//! Which documents are the most promising, and of which the vector is read for that.
//!
//! In a long history a walk of all vectors costs more than the rest of a search. Few of them can matter:
//!
//! ```text
//! words    what a document has without its vector, of all documents, in single precision
//! bar      the sight of those with most words, their vectors read: the least of as many as are wanted
//! reach    documents that a cosine of MOST_COSINE would bring up to the bar: of these the vectors are read, and of no others
//! ```
//!
//! The others are not among the best, unless one means the question almost word for word and has hardly a word of it. Where too many are
//! within reach, as for a question whose words nobody wrote, all vectors are walked.

use super::{Best, CHUNK, COSINE_ONE, Field, SLACK, wide};
use crate::Result;
use crate::index::vectors::VectorSet;
use crate::recall::ranking::{MOST_COSINE, SIGHT};
use crate::session::search::question::Meaning;
use crate::store::pages::Pages;
use crate::units::score::SCORE_ONE;

/// Up to so many documents all vectors are walked. Measured: at 5,000 both take as long.
const FEW: u32 = 8_192;
/// Documents with most words that set the bar, for each that is wanted.
const SEEDS: usize = 2;
/// One in so many documents costs as much as a walk of all.
const DEAR: usize = 10;
/// Units of words that are compared.
const UNIT: f32 = (1 << 20) as f32;

impl Field {
    /// The most promising documents, best first, of equals the newest; and whether there are no others. Dates and identifiers are entered.
    pub fn promising<P: Pages>(&mut self, pages: &P, vectors: &VectorSet, meaning: &Meaning, most: usize) -> Result<(Vec<u32>, bool)> {
        self.note_words();
        if meaning.vector.is_none() {
            self.is_scanned = true; // there is nothing to read
        }
        let within = if self.is_scanned || self.last() < FEW { None } else { self.within_reach(pages, vectors, meaning, most)? };
        let Some(numbers) = within else {
            self.scan(pages, vectors, meaning)?;
            return Ok(self.best_of_all(most));
        };
        let mut best = Best::new(most);
        for number in numbers.into_iter().filter(|number| self.may_be_hit(*number)) {
            best.offer((self.sight(number), number));
        }
        Ok((best.in_order().into_iter().map(|one| one.1).collect(), false))
    }

    /// Reads the vectors of documents, which ascend, and of those beside them.
    pub fn complete<P: Pages>(&mut self, pages: &P, vectors: &VectorSet, meaning: &Meaning, numbers: &[u32]) -> Result<()> {
        if self.is_scanned {
            return Ok(());
        }
        let mut around: Vec<u32> = Vec::with_capacity(3 * numbers.len());
        for number in numbers {
            let behind = around.last().map_or(0, |last| last + 1);
            around.extend(behind.max(number.saturating_sub(1))..=number.saturating_add(1));
        }
        self.enter_cosines(pages, vectors, meaning, &around)
    }

    fn note_words(&mut self) {
        let chunks = self.kept.0.own.len().div_ceil(CHUNK);
        if self.kept.0.peaks.len() == chunks {
            return;
        }
        let shares = self.shares();
        self.kept.0.words.reserve(chunks * CHUNK);
        self.kept.0.peaks.reserve(chunks);
        for first in (0..chunks).map(|chunk| chunk * CHUNK) {
            let (estimates, highest) = self.estimates(&shares, first);
            self.kept.0.words.extend_from_slice(&estimates);
            self.kept.0.peaks.push(highest);
        }
    }

    /// The documents that can be among the best, ascending, their vectors read; `None` where they are too many, or the best too few.
    fn within_reach<P: Pages>(&mut self, pages: &P, vectors: &VectorSet, meaning: &Meaning, most: usize) -> Result<Option<Vec<u32>>> {
        let seeds = self.seeds(most.saturating_mul(SEEDS));
        if seeds.len() < most {
            return Ok(None);
        }
        self.enter_cosines(pages, vectors, meaning, &seeds)?;
        let mut best = Best::new(most);
        seeds.iter().filter(|number| self.may_be_hit(**number)).for_each(|number| best.offer((self.sight(*number), *number)));
        let Some((bar, _)) = best.in_order().get(most - 1).copied() else { return Ok(None) };
        let least = (bar as f64 / f64::from(SCORE_ONE)) as f32 - SIGHT.meaning as f32 * MOST_COSINE - SLACK;
        let numbers = self.above(least);
        if numbers.len() > self.last() as usize / DEAR {
            return Ok(None);
        }
        self.enter_cosines(pages, vectors, meaning, &without(&numbers, &seeds))?;
        Ok(Some(numbers))
    }

    /// Documents with most words, ascending.
    fn seeds(&self, most: usize) -> Vec<u32> {
        let (mut best, arrays) = (Best::new(most), &self.kept.0);
        for (first, peak) in (0_u32..).step_by(CHUNK).zip(&arrays.peaks) {
            let least = (best.bar.0 as f32 / UNIT).max(f32::MIN_POSITIVE);
            if *peak >= least {
                self.chunk_from(first, least).for_each(|number| best.offer(((arrays.words[number as usize] * UNIT) as i64, number)));
            }
        }
        let mut numbers: Vec<u32> = best.in_order().into_iter().map(|one| one.1).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Documents that have so much without their vectors, ascending.
    fn above(&self, least: f32) -> Vec<u32> {
        let mut numbers = Vec::new();
        for (first, peak) in (0_u32..).step_by(CHUNK).zip(&self.kept.0.peaks) {
            let least = least - self.more_than_estimated(first);
            if *peak >= least {
                numbers.extend(self.chunk_from(first, least));
            }
        }
        numbers
    }

    /// The documents of the chunk from `first` on that have so much without their vectors.
    fn chunk_from(&self, first: u32, least: f32) -> Places {
        let words = self.kept.0.words[first as usize..].first_chunk();
        words.map_or_else(Places::default, |words| Places::of(first, self.last(), words, least).without(self.left_out(first)))
    }

    fn enter_cosines<P: Pages>(&mut self, pages: &P, vectors: &VectorSet, meaning: &Meaning, numbers: &[u32]) -> Result<()> {
        let Some(vector) = &meaning.vector else { return Ok(()) };
        let mut scores = std::mem::take(&mut self.kept.0.some);
        scores.clear();
        vectors.scores_of(pages, vector, numbers, &mut scores)?;
        for near in &scores {
            self.kept.0.cosines[near.number as usize] = near.score.max(0);
        }
        self.kept.0.some = scores;
        Ok(())
    }

    /// Enters the cosines of all documents.
    fn scan<P: Pages>(&mut self, pages: &P, vectors: &VectorSet, meaning: &Meaning) -> Result<()> {
        let (arrays, scores) = &mut *self.kept;
        if let Some(vector) = meaning.vector.as_ref().filter(|_| !self.is_scanned) {
            vectors.scan(pages, vector, scores)?;
            scores.spread(&mut arrays.cosines);
            self.is_scanned = true;
        }
        Ok(())
    }

    /// The best of all documents, whose cosines are entered.
    fn best_of_all(&self, most: usize) -> (Vec<u32>, bool) {
        let (mut best, arrays) = (Best::new(most), &self.kept.0);
        let meaning = (SIGHT.meaning / COSINE_ONE) as f32;
        for first in (0..=self.last()).step_by(CHUNK) {
            let more = self.more_than_estimated(first);
            let bar = (best.bar.0 as f64 / f64::from(SCORE_ONE)) as f32 - more - SLACK;
            let chunk = (arrays.words[first as usize..].first_chunk(), arrays.cosines[first as usize..].first_chunk());
            let (Some(words), Some(cosines)) = chunk else { break };
            let (estimates, highest) = wide::with_cosines(words, cosines, meaning);
            if highest < bar {
                continue;
            }
            for number in Places::of(first, self.last(), &estimates, bar).without(self.left_out(first)) {
                if self.may_be_hit(number) {
                    best.offer((self.sight(number), number));
                }
            }
        }
        let all = !best.is_cut && best.kept.len() <= most;
        (best.in_order().into_iter().map(|one| one.1).collect(), all)
    }
}

/// Those of some numbers that others lack; both ascend.
fn without(numbers: &[u32], others: &[u32]) -> Vec<u32> {
    let mut others = others.iter().peekable();
    let is_new = |number: &&u32| {
        while others.next_if(|other| *other < *number).is_some() {}
        others.peek() != Some(number)
    };
    numbers.iter().filter(is_new).copied().collect()
}

/// Documents of a chunk, ascending: a bit for each.
#[derive(Default)]
struct Places {
    first: u32,
    bits: u64,
}

impl Places {
    /// Those of the chunk from `first` on, up to number `last`, of which there is so much. Document 0 is none.
    fn of(first: u32, last: u32, amounts: &[f32; CHUNK], least: f32) -> Self {
        let bits = wide::reaching(amounts, least);
        let is_there = u64::MAX >> (CHUNK as u32 - 1).saturating_sub(last - first);
        Self { first, bits: bits & is_there & !u64::from(first == 0) }
    }

    /// The others.
    fn without(self, bits: u64) -> Self {
        Self { bits: self.bits & !bits, ..self }
    }
}

impl Iterator for Places {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let at = self.bits.trailing_zeros();
        self.bits &= self.bits.checked_sub(1)?;
        Some(self.first + at)
    }
}

const _: () = assert!(CHUNK == u64::BITS as usize);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_with_enough_that_are_documents() {
        let amounts: [f32; CHUNK] = std::array::from_fn(|at| (at % 3) as f32);
        for (first, last) in [(0, 10), (0, 63), (64, 64), (64, 90), (64, 127), (64, 500)] {
            let expected: Vec<u32> = (first.max(1)..=last.min(first + 63)).filter(|number| (number - first) % 3 == 2).collect();
            assert_eq!(Places::of(first, last, &amounts, 2.0).collect::<Vec<_>>(), expected, "{first} {last}");
        }
    }

    #[test]
    fn numbers_without_others_are_those_that_the_others_lack() {
        let every = |step: usize| (0..60).step_by(step).collect::<Vec<u32>>();
        for (numbers, others) in [(every(1), every(3)), (every(4), every(1)), (every(7), Vec::new()), (Vec::new(), every(2))] {
            let expected: Vec<u32> = numbers.iter().copied().filter(|number| !others.contains(number)).collect();
            assert_eq!(without(&numbers, &others), expected);
        }
    }
}
