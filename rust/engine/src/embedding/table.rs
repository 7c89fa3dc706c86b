//! The table: a row of int8 for each token, and the sum of a text's rows.
//!
//! `v_d = scale_d * sum row[token][d]`. The sum of a million tokens fits an `i32` (127 * 2^20 < 2^31), and a text of 1 MiB has no
//! more; a longer one is summed up to there. Written by `tools/embedding/pack.py`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::wordpiece::{self, Token, UNKNOWN};
use crate::index::vectors::UnitVector;

/// Numbers in a row.
pub(super) const DIMENSIONS: usize = 256;

/// Scales (f32 each), then the rows.
static FILE: &[u8] = include_bytes!("data/table.bin");
const ROWS: usize = DIMENSIONS * 4;
const _: () = assert!(FILE.len() == ROWS + wordpiece::count() * DIMENSIONS);

/// Tokens that are summed at most: the sum of more might not fit.
const MAX_TOKENS: usize = 1 << 24;
/// Rows that an `i16` can sum: 256 * 127 < 2^15.
const ROWS_PER_PART: usize = 256;

/// The sum of the rows of some tokens.
pub(super) struct Sum {
    total: [i32; DIMENSIONS],
    /// What was added since `total` was: half as wide, so that twice as many are added at a time.
    part: [i16; DIMENSIONS],
    rows: usize,
}

impl Sum {
    /// Of nothing.
    pub fn new() -> Self {
        Self { total: [0; DIMENSIONS], part: [0; DIMENSIONS], rows: 0 }
    }

    /// Adds the row of a token.
    pub fn add(&mut self, token: Token) {
        if self.rows == MAX_TOKENS {
            return;
        }
        for (sum, &byte) in self.part.iter_mut().zip(row(token)) {
            *sum += i16::from(byte as i8);
        }
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS_PER_PART) {
            self.carry();
        }
    }

    fn carry(&mut self) {
        for (total, part) in self.total.iter_mut().zip(&mut self.part) {
            *total += i32::from(std::mem::take(part));
        }
    }

    /// The direction of the sum; that of the unknown token where there is none.
    pub fn finish(mut self) -> UnitVector {
        self.carry();
        let values: [f32; DIMENSIONS] = std::array::from_fn(|d| (f64::from(self.total[d]) * f64::from(scale(d))) as f32);
        UnitVector::new(&values, DIMENSIONS).unwrap_or_else(|_| unknown())
    }
}

fn unknown() -> UnitVector {
    let row = row(UNKNOWN);
    let values: [f32; DIMENSIONS] = std::array::from_fn(|d| f32::from(row[d] as i8) * scale(d));
    UnitVector::new(&values, DIMENSIONS).expect("the unknown token's row is not zero: tested")
}

pub(super) fn row(token: Token) -> &'static [u8] {
    let start = ROWS + token as usize * DIMENSIONS;
    &FILE[start..start + DIMENSIONS]
}

/// Whether a token's row has a direction of its own: not that of a word without pieces, nor one that nothing was fitted to.
pub(super) fn says_something(token: Token) -> bool {
    token != UNKNOWN && row(token).iter().any(|code| *code != 0)
}

/// How long a token's row is: what says much has a long one. Worked out once.
pub(super) fn length(token: Token) -> f64 {
    /// The bits of each length; 0 where it is not known yet. Zeros that the system hands out as they are touched.
    static LENGTHS: [AtomicU64; wordpiece::count()] = [const { AtomicU64::new(0) }; wordpiece::count()];
    let place = &LENGTHS[token as usize];
    let known = place.load(Relaxed);
    if known != 0 {
        return f64::from_bits(known);
    }
    let length = length_of(token);
    place.store(length.to_bits(), Relaxed);
    length
}

fn length_of(token: Token) -> f64 {
    let squares = row(token).iter().enumerate().map(|(d, &code)| {
        let value = f64::from(code as i8) * f64::from(scale(d));
        value * value
    });
    squares.sum::<f64>().sqrt()
}

/// The number of a row's code in one dimension.
#[cfg(test)]
pub(super) fn code(token: Token, dimension: usize) -> i8 {
    row(token)[dimension] as i8
}

/// What one unit of a code stands for in a dimension.
pub(super) fn scale(dimension: usize) -> f32 {
    let at = dimension * 4;
    f32::from_le_bytes([FILE[at], FILE[at + 1], FILE[at + 2], FILE[at + 3]])
}
