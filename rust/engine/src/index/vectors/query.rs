//! The int8 codes of a vector, and a query made ready for a scan.
//!
//! Symmetric quantisation, one scale a vector: `scale = max |x_i| / 127`, `code_i = floor(x_i * (127 / max) + 128.5) - 128`, so that codes
//! lie in -127..=127 and `x_i ~ code_i * scale`. A query has no -128, which is what keeps the AVX2 kernel exact.

use super::UnitVector;
use crate::Result;

/// Bytes to which the codes of a query are padded with zeros: the widest register of any kernel.
pub(super) const QUERY_ALIGN: usize = 64;

/// A query: its direction, and its codes in a buffer that every kernel can load from.
#[derive(Debug, Clone)]
pub struct Query {
    unit: UnitVector,
    buffer: Vec<i8>,
    /// Where the codes begin in `buffer`: at a cache line. (A clone may lie elsewhere: slower, not wrong.)
    start: usize,
    pub(super) scale: f32,
    made_by: u32,
    /// Sum of the codes: kernels that need unsigned rows add 128 to each code and take 128 * sum off again.
    pub(super) sum: i32,
}

impl Query {
    /// Checks `values`, brings it to length 1, and quantises it.
    pub fn new(values: &[f32], dims: usize) -> Result<Self> {
        Ok(Self::from_unit(UnitVector::new(values, dims)?))
    }

    /// Quantises a vector that was checked before.
    #[must_use]
    pub fn from_unit(unit: UnitVector) -> Self {
        let padded = unit.as_slice().len().next_multiple_of(QUERY_ALIGN);
        let mut buffer: Vec<i8> = Vec::with_capacity(padded + QUERY_ALIGN);
        let start = buffer.as_ptr().align_offset(QUERY_ALIGN).min(QUERY_ALIGN);
        buffer.resize(start, 0);
        let scale = quantise(unit.as_slice(), &mut buffer);
        buffer.resize(start + padded, 0);
        let sum = buffer.iter().map(|&code| i32::from(code)).sum();
        Self { unit, buffer, start, scale, made_by: 0, sum }
    }

    /// This query, as made by the embedder at `place` of its engine, which is not the first one.
    #[must_use]
    pub fn made_by(self, place: u32) -> Self {
        Self { made_by: place, ..self }
    }

    /// The place of its embedder among those of its engine.
    #[must_use]
    pub fn place(&self) -> u32 {
        self.made_by
    }

    /// The direction, as it is reranked with.
    #[must_use]
    pub fn unit(&self) -> &UnitVector {
        &self.unit
    }

    /// Dimensions.
    #[must_use]
    pub fn dims(&self) -> usize {
        self.unit.as_slice().len()
    }

    /// The codes, zeros behind them up to a multiple of [`QUERY_ALIGN`], aligned to it.
    pub(super) fn codes(&self) -> &[i8] {
        &self.buffer[self.start..]
    }
}

/// Appends the codes of `unit` to `codes` and returns their scale.
pub(super) fn quantise(unit: &[f32], codes: &mut Vec<i8>) -> f32 {
    let max = unit.iter().fold(0.0_f32, |max, x| max.max(x.abs()));
    if max == 0.0 {
        codes.extend(unit.iter().map(|_| 0_i8));
        return f32::MIN_POSITIVE; // a scale is above 0; times codes of 0 it is 0
    }
    let inverse = 127.0 / f64::from(max);
    // Truncation of a positive number is `floor` without a call into libm. The sum is rounded, so 128.5 is part of the format.
    codes.extend(unit.iter().map(|&x| ((f64::from(x) * inverse + 128.5) as i32 - 128).clamp(-127, 127) as i8));
    max / 127.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::vectors::testing::Random;

    #[test]
    fn codes_are_within_half_a_step_and_never_minus_128() {
        let mut random = Random::new(1);
        for dims in [1, 2, 63, 64, 65, 384, 1100] {
            let unit = UnitVector::new(&random.vector(dims), dims).unwrap();
            let mut codes = Vec::new();
            let scale = quantise(unit.as_slice(), &mut codes);
            assert!(codes.iter().any(|code| code.abs() == 127));
            for (&x, &code) in unit.as_slice().iter().zip(&codes) {
                assert!((-127..=127).contains(&code));
                assert!((f64::from(x) - f64::from(code) * f64::from(scale)).abs() <= f64::from(scale) * 0.500_001);
            }
        }
    }

    #[test]
    fn a_query_is_padded_with_zeros_and_aligned() {
        let query = Query::new(&[1.0, -1.0, 0.5], 3).unwrap();
        assert_eq!(query.codes().len(), 64);
        assert_eq!(query.codes()[..3], [127, -127, 64]);
        assert!(query.codes()[3..].iter().all(|&code| code == 0));
        assert_eq!(query.codes().as_ptr() as usize % QUERY_ALIGN, 0);
        assert_eq!(query.sum, 64);
    }
}
