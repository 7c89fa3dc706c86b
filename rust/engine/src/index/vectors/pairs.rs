//! Codes of many vectors side by side, so that each can be multiplied by all: what clustering asks for.

use super::kernel::{Dots, Kernel, ROWS};
use super::query::QUERY_ALIGN;

/// Int8 codes of vectors of one length, padded so that no kernel has a remainder.
#[derive(Clone)]
pub struct Codes {
    padded: usize,
    bytes: Vec<u8>,
    sums: Vec<i32>,
    dots: Dots,
}

impl Codes {
    /// No codes, of vectors of that many dimensions.
    #[must_use]
    pub fn new(dims: usize) -> Self {
        Self { padded: dims.next_multiple_of(QUERY_ALIGN), bytes: Vec::new(), sums: Vec::new(), dots: Kernel::best().dots() }
    }

    /// Adds the codes of a vector, each from -127 to 127.
    pub fn push(&mut self, codes: impl Iterator<Item = i8>) {
        let first = self.bytes.len();
        self.bytes.extend(codes.map(|code| code.max(-127) as u8));
        self.sums.push(self.bytes[first..].iter().map(|byte| i32::from(*byte as i8)).sum());
        self.bytes.resize(first + self.padded, 0);
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sums.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sums.is_empty()
    }

    /// The dot products of one with those from `first` to before `last`, in order.
    pub fn each_dot(&self, one: usize, first: usize, last: usize, mut visit: impl FnMut(usize, i32)) {
        let row = |at: usize| &self.bytes[at * self.padded..(at + 1) * self.padded];
        for from in (first..last).step_by(ROWS) {
            // Where fewer than four are left, the last stands in for those behind it.
            let at = |place: usize| row((from + place).min(last - 1));
            let dots = self.dots.of(row(one), self.sums[one], [at(0), at(1), at(2), at(3)]);
            for (place, dot) in dots.iter().enumerate().take(last - from) {
                visit(from + place, *dot);
            }
        }
    }
}

impl std::fmt::Debug for Codes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Codes").field("len", &self.len()).field("padded", &self.padded).finish_non_exhaustive()
    }
}

impl Default for Codes {
    fn default() -> Self {
        Self::new(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::vectors::testing::Random;

    #[test]
    fn every_dot_product_is_the_plain_sum() {
        let mut random = Random::new(5);
        for dims in [1, 16, 64, 100, 256] {
            let rows: Vec<Vec<i8>> = (0..11).map(|_| (0..dims).map(|_| (random.next() as i8).max(-127)).collect()).collect();
            let mut codes = Codes::new(dims);
            for row in &rows {
                codes.push(row.iter().copied());
            }
            for one in 0..rows.len() {
                let mut seen = Vec::new();
                codes.each_dot(one, one, rows.len(), |at, dot| seen.push((at, dot)));
                let plain = |at: usize| rows[one].iter().zip(&rows[at]).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>();
                assert_eq!(seen, (one..rows.len()).map(|at| (at, plain(at))).collect::<Vec<_>>(), "{dims}");
            }
        }
    }
}
