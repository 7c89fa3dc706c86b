//! The table: a row of int8 for each token, and the sum of a text's rows.
//!
//! `v_d = scale_d * sum row[token][d]`. The sum of 2^24 tokens fits an `i32` (127 * 2^24 < 2^31). Tokens of a longer text beyond these
//! are left out. Written by `tools/embedding/pack.py`.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::wordpiece::{self, Token, UNKNOWN};
use crate::index::vectors::UnitVector;

/// Numbers in a row.
pub(super) const DIMENSIONS: usize = 256;

/// Scales (f32 each), then the rows.
static FILE: &[u8] = include_bytes!("data/table.bin");
const ROWS: usize = DIMENSIONS * 4;
const _: () = assert!(FILE.len() == ROWS + wordpiece::count() * DIMENSIONS);

/// Most tokens that are summed: 127 * 2^24 still fits an `i32`.
const MAX_TOKENS: usize = 1 << 24;
/// Rows that are summed at a time, in an `i16` each: 128 * 127 < 2^15.
const ROWS_AT_A_TIME: usize = 128;
/// Numbers of a row that are summed at a time.
const LANES: usize = 64;

/// The sum of the rows of some tokens.
pub(super) struct Sum {
    total: [i32; DIMENSIONS],
    /// Tokens that are not in `total` yet.
    waiting: [Token; ROWS_AT_A_TIME],
    count: usize,
    /// How many may still be added.
    room: usize,
}

impl Sum {
    /// The sum of no tokens.
    pub fn new() -> Self {
        Self { total: [0; DIMENSIONS], waiting: [UNKNOWN; ROWS_AT_A_TIME], count: 0, room: MAX_TOKENS }
    }

    /// Adds the row of a token.
    pub fn add(&mut self, token: Token) {
        if self.room == 0 {
            return;
        }
        self.room -= 1;
        self.waiting[self.count] = token;
        self.count += 1;
        if self.count == ROWS_AT_A_TIME {
            self.carry();
        }
    }

    fn carry(&mut self) {
        let tokens = &self.waiting[..std::mem::take(&mut self.count)];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { add_rows_avx2(&mut self.total, tokens) };
        }
        add_rows(&mut self.total, tokens);
    }

    /// The direction of the sum; that of the unknown token where there is none.
    pub fn finish(mut self) -> UnitVector {
        self.carry();
        let mut values = [0.0; DIMENSIONS];
        for ((value, total), scale) in values.iter_mut().zip(&self.total).zip(&SCALES) {
            *value = (f64::from(*total) * f64::from(*scale)) as f32;
        }
        UnitVector::new(&values, DIMENSIONS).unwrap_or_else(|_| unknown())
    }

    /// About the cosine of the sum with a vector of length 1: off by less than a thousandth. `None` where the sum has no direction.
    pub fn near_cosine(mut self, unit: &[f32]) -> Option<f64> {
        self.carry();
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: this CPU has AVX2.
            return unsafe { near_cosine_avx2(&self.total, unit) };
        }
        near_cosine(&self.total, unit)
    }
}

/// Adds rows, a part of each at a time, so that sums stay in registers.
#[allow(clippy::inline_always)] // into each caller, for its registers
#[inline(always)]
fn add_rows(total: &mut [i32; DIMENSIONS], tokens: &[Token]) {
    for (part, total) in total.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        let mut sums = [0_i16; LANES];
        for token in tokens {
            let codes: &[u8; LANES] = &row(*token).as_chunks().0[part];
            for lane in 0..LANES {
                sums[lane] += i16::from(codes[lane] as i8);
            }
        }
        for lane in 0..LANES {
            total[lane] += i32::from(sums[lane]);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_rows_avx2(total: &mut [i32; DIMENSIONS], tokens: &[Token]) {
    add_rows(total, tokens);
}

/// Both sums of a cosine, in eight lanes, which every CPU adds in the same order.
#[allow(clippy::inline_always)] // into each caller, for its registers
#[inline(always)]
fn near_cosine(total: &[i32; DIMENSIONS], unit: &[f32]) -> Option<f64> {
    let (mut dots, mut squares) = ([0.0_f32; 8], [0.0_f32; 8]);
    let (totals, scales, units) = (total.as_chunks::<8>().0, SCALES.as_chunks::<8>().0, unit.as_chunks::<8>().0);
    for ((totals, scales), units) in totals.iter().zip(scales).zip(units) {
        for lane in 0..8 {
            let value = totals[lane] as f32 * scales[lane];
            dots[lane] += value * units[lane];
            squares[lane] += value * value;
        }
    }
    let sum = |lanes: [f32; 8]| lanes.iter().map(|lane| f64::from(*lane)).sum::<f64>();
    let (dot, square) = (sum(dots), sum(squares));
    (square > 0.0 && square.is_finite()).then(|| dot / square.sqrt())
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn near_cosine_avx2(total: &[i32; DIMENSIONS], unit: &[f32]) -> Option<f64> {
    near_cosine(total, unit)
}

fn unknown() -> UnitVector {
    let row = row(UNKNOWN);
    let values: [f32; DIMENSIONS] = std::array::from_fn(|d| f32::from(row[d] as i8) * scale(d));
    UnitVector::new(&values, DIMENSIONS).expect("the unknown token's row is not zero: tested")
}

/// A token's row. A token that no version had, which only a false record says, has the row of the unknown one.
pub(super) fn row(token: Token) -> &'static [u8] {
    let start = ROWS + token as usize * DIMENSIONS;
    FILE.get(start..start + DIMENSIONS).unwrap_or(const { FILE.split_at(ROWS).1.split_at(DIMENSIONS).0 })
}

/// Whether a token's row has a direction of its own: not that of a word without pieces, nor one that nothing was fitted to.
pub(super) fn says_something(token: Token) -> bool {
    token != UNKNOWN && row(token).iter().any(|code| *code != 0)
}

/// How long a token's row is: an informative token has a long one. Worked out once.
pub(super) fn length(token: Token) -> f64 {
    /// The bits of each length; 0 where it is not known yet. Zeros that the system hands out as they are touched.
    static LENGTHS: [AtomicU64; wordpiece::count()] = [const { AtomicU64::new(0) }; wordpiece::count()];
    let place = LENGTHS.get(token as usize).unwrap_or(&LENGTHS[UNKNOWN as usize]);
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

/// The value of one unit of a code in each dimension.
static SCALES: [f32; DIMENSIONS] = {
    let (mut scales, mut at) = ([0.0; DIMENSIONS], 0);
    while at < DIMENSIONS {
        scales[at] = f32::from_le_bytes([FILE[4 * at], FILE[4 * at + 1], FILE[4 * at + 2], FILE[4 * at + 3]]);
        at += 1;
    }
    scales
};

/// The scale of one dimension.
pub(super) fn scale(dimension: usize) -> f32 {
    SCALES[dimension]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_add_up_in_any_number() {
        let codes = |token: Token| row(token).iter().map(|code| i32::from(*code as i8));
        let loudest = (0..wordpiece::count() as Token).max_by_key(|token| codes(*token).map(i32::abs).max()).expect("there are tokens");
        for count in [0, 1, 127, 128, 129, 1000] {
            let tokens = (0..count).map(|at| if count == 1000 { loudest } else { at * 7 % wordpiece::count() as Token });
            let (mut sum, mut expected) = (Sum::new(), [0; DIMENSIONS]);
            for token in tokens {
                sum.add(token);
                expected.iter_mut().zip(codes(token)).for_each(|(sum, code)| *sum += code);
            }
            let mut portable = sum.total;
            add_rows(&mut portable, &sum.waiting[..sum.count]);
            sum.carry();
            assert_eq!(sum.total, portable, "{count}");
            assert_eq!(sum.total, expected, "{count}");
        }
    }

    #[test]
    fn a_near_cosine_is_near() {
        let unit = |tokens: &[Token]| {
            let mut sum = Sum::new();
            for token in tokens {
                sum.add(*token);
            }
            sum
        };
        let (question, mut compared) = (unit(&[700, 4321]).finish(), 0);
        for from in (1..20_000).step_by(371) {
            let tokens: Vec<Token> = (from..=from + from % 90).collect();
            let exact: f64 = unit(&tokens).finish().as_slice().iter().zip(question.as_slice()).map(|(a, b)| f64::from(a * b)).sum();
            let Some(near) = unit(&tokens).near_cosine(question.as_slice()) else {
                assert!(!tokens.iter().any(|token| says_something(*token)), "{from}");
                continue;
            };
            compared += 1;
            assert!((near - exact).abs() < 1e-5, "{from} {near} {exact}");
        }
        assert!(compared > 40, "{compared}");
        assert_eq!(Sum::new().near_cosine(question.as_slice()), None);
    }
}
