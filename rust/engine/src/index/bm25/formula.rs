//! The BM25 formula: the contribution of one term to a document's score, and the most that it can be.
//!
//! ```text
//! idf(t)   = ln(1 + (N - df + 0.5) / (df + 0.5))
//! c(t, d)  = weight * idf * (k1 + 1) * count / (count + k1 * (1 - b) + k1 * b / average * length)
//! score(d) = sum over t of round(2^32 * c), half to even
//! ```
//!
//! In f64, in the order that the functions below write down, with a logarithm that is the same on every machine.
//! Multiplying by 2^32 is exact, wherever it is done.

use super::Statistics;
use crate::units::score::SCORE_UNIT;
use crate::{Error, Result};

/// The largest weight of a query term: keeps a sum of 4,096 contributions below 2^63.
pub(super) const MAX_WEIGHT: f32 = 1000.0;

const MAX_K1: f64 = 10.0;

/// 1.5 * 2^52. Added to a number between -2^51 and 2^51 it leaves the nearest whole number in the low bits, without the
/// branches of a cast. No contribution is larger: 1,000 * ln(2^65) * 11 * 2^32 is below 2^51.
const ROUNDING: f64 = 6_755_399_441_055_744.0;

/// The two constants of BM25.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    k1: f64,
    b: f64,
}

impl Default for Parameters {
    /// k1 = 0.9, b = 0.4: measured on conversations, whose turns are short and repeat their terms little.
    fn default() -> Self {
        Self { k1: 0.9, b: 0.4 }
    }
}

impl Parameters {
    /// k1 = 1.2, b = 0.75, as for most collections of documents and code: their passages differ in length and repeat what they are about.
    pub const OF_DOCUMENTS: Self = Self { k1: 1.2, b: 0.75 };

    /// `k1`, how slowly repetition saturates, is 0 to 10; `b`, how much length counts, is 0 to 1.
    pub fn new(k1: f64, b: f64) -> Result<Self> {
        within("k1", k1, MAX_K1)?;
        within("b", b, 1.0)?;
        Ok(Self { k1, b })
    }
}

fn within(name: &'static str, value: f64, max: f64) -> Result<()> {
    if (0.0..=max).contains(&value) {
        return Ok(());
    }
    let message = format!("setting up BM25: {name} must be a number from 0 to {max}, got {value}: choose one in that range");
    Err(Error::invalid(message).with(name, value))
}

/// The formula with the statistics of one index filled in.
#[derive(Debug, Clone, Copy)]
pub struct Formula {
    documents: f64,
    gain: f64,
    base: f64,
    slope: f64,
}

impl Formula {
    /// The formula for one index.
    #[must_use]
    pub fn new(parameters: Parameters, statistics: Statistics) -> Self {
        let Parameters { k1, b } = parameters;
        let documents = statistics.documents as f64;
        let average = if statistics.total_length == 0 { 1.0 } else { statistics.total_length as f64 / documents.max(1.0) };
        // The least positive number changes nothing but k1 = 0, where a key, whose count is 0, would make 0 / 0.
        let base = k1 * (1.0 - b) + f64::MIN_POSITIVE;
        Self { documents, gain: k1 + 1.0, base, slope: k1 * b / average }
    }

    /// Inverse document frequency. A frequency above the number of documents counts as that number.
    #[must_use]
    pub fn idf(&self, frequency: u64) -> f64 {
        let frequency = frequency as f64;
        let without = self.documents.max(frequency) - frequency;
        libm::log(1.0 + (without + 0.5) / (frequency + 0.5))
    }

    /// All of a term that does not depend on the document, in score units.
    #[must_use]
    pub fn factor(&self, weight: f32, frequency: u64) -> f64 {
        f64::from(weight) * self.idf(frequency) * self.gain * SCORE_UNIT
    }

    /// By how much more [`Self::factor`] is than what a document of the average length gets that has the term once.
    #[must_use]
    pub fn gain(&self) -> f64 {
        self.gain
    }

    /// The contribution of a term to a document of `length` that has it `count` times.
    #[inline]
    #[must_use]
    pub fn contribution(&self, factor: f64, count: u8, length: u32) -> i64 {
        self.units(factor, f64::from(count), f64::from(length))
    }

    /// [`Self::contribution`] for many documents at once; `counts` and `lengths` are as long as `out`.
    #[inline]
    pub(super) fn contributions(&self, factor: f64, counts: &[u8], lengths: &[u16], out: &mut [i64]) {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.contributions_avx2(factor, counts, lengths, out) };
        }
        self.contributions_of(factor, counts, lengths, out);
    }

    /// Computes [`Self::contributions`] four at once. Rust never fuses or reorders floating point, so the bits are the same.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn contributions_avx2(&self, factor: f64, counts: &[u8], lengths: &[u16], out: &mut [i64]) {
        self.contributions_of(factor, counts, lengths, out);
    }

    #[allow(clippy::inline_always)] // a loop is compiled for an instruction set only inside the function that enables it
    #[inline(always)]
    fn contributions_of(&self, factor: f64, counts: &[u8], lengths: &[u16], out: &mut [i64]) {
        for ((out, &count), &length) in out.iter_mut().zip(counts).zip(lengths) {
            *out = self.units(factor, f64::from(count), f64::from(length));
        }
    }

    #[allow(clippy::inline_always)] // as above
    #[inline(always)]
    fn units(&self, factor: f64, count: f64, length: f64) -> i64 {
        let norm = self.base + self.slope * length;
        let units = factor * count / (count + norm);
        (units + ROUNDING).to_bits() as i64 - ROUNDING.to_bits() as i64
    }

    /// No document with at most this count and at least this length gets more. The one unit is for rounding: the
    /// quotient of two growing numbers may fall by its last bit.
    pub(super) fn bound(&self, factor: f64, max_count: u8, min_length: u32) -> i64 {
        if max_count == 0 { 0 } else { self.contribution(factor, max_count, min_length).saturating_add(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_outside_their_range_are_refused() {
        for (k1, b) in [(-1.0, 0.4), (10.5, 0.4), (f64::NAN, 0.4), (0.9, 1.1), (0.9, -0.1), (0.9, f64::INFINITY)] {
            assert!(Parameters::new(k1, b).is_err(), "{k1} {b}");
        }
        let error = Parameters::new(-1.0, 0.4).expect_err("k1 is negative");
        assert!(error.message().contains("k1 must be a number from 0 to 10, got -1"), "{error}");
        assert!(Parameters::new(0.0, 0.0).is_ok() && Parameters::new(10.0, 1.0).is_ok());
    }

    #[test]
    fn a_bound_holds_for_every_count_and_length_below_it() {
        for (k1, b) in [(0.0, 0.0), (0.9, 0.4), (1.2, 0.75), (10.0, 1.0)] {
            let statistics = Statistics { documents: 1000, total_length: 24_321 };
            let formula = Formula::new(Parameters { k1, b }, statistics);
            let factor = formula.factor(1.7, 13);
            for max_count in [1, 2, 3, 7, 254, 255] {
                for min_length in [0, 1, 24, 1000] {
                    let bound = formula.bound(factor, max_count, min_length);
                    for count in 1..=max_count {
                        for length in min_length..min_length + 40 {
                            assert!(formula.contribution(factor, count, length) <= bound);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn statistics_that_make_no_sense_give_finite_scores() {
        for statistics in
            [Statistics::default(), Statistics { documents: 0, total_length: 9 }, Statistics { documents: 3, total_length: 0 }]
        {
            let formula = Formula::new(Parameters::default(), statistics);
            let factor = formula.factor(1.0, 50);
            assert!(factor.is_finite() && factor > 0.0);
            assert!(formula.contribution(factor, 1, u32::MAX) >= 0);
            assert_eq!(formula.contribution(factor, 0, 0), 0);
        }
    }
}
