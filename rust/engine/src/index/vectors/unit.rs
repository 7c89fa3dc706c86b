//! A vector that was checked and brought to length 1: the only kind that is stored or searched with.
//!
//! `x_i / sqrt(sum x_i^2)`, computed in f64 in the fixed order of [`exact_dot`], rounded once to f32. Components below the
//! smallest normal f32 count as zero, before and after: a host process that flushes subnormal numbers (any library built
//! with `-ffast-math` switches that on for the thread) then stores the same bytes as one that does not.

use super::MAX_DIMENSIONS;
use super::kernel::exact_dot;
use crate::{Error, Result};

/// A vector of length 1 (L2), without NaN, infinity, subnormal numbers or negative zero.
#[derive(Debug, Clone, PartialEq)]
pub struct UnitVector(Vec<f32>);

impl UnitVector {
    /// Checks `values` and brings it to length 1. `dims` is what the embedding declares.
    pub fn new(values: &[f32], dims: usize) -> Result<Self> {
        check_length(values.len(), dims)?;
        check_finite(values)?;
        let mut unit: Vec<f32> = values.iter().map(|&x| without_subnormal(x)).collect();
        let norm = exact_dot(&unit, &unit).sqrt();
        if norm == 0.0 {
            return Err(all_zero(dims));
        }
        for x in &mut unit {
            *x = without_subnormal((f64::from(*x) / norm) as f32);
        }
        Ok(Self(unit))
    }

    /// The vector of what has no direction: its cosine with every other is 0.
    #[must_use]
    pub fn without_direction(dims: usize) -> Self {
        Self(vec![0.0; dims])
    }

    /// Whether it points anywhere.
    #[must_use]
    pub fn has_direction(&self) -> bool {
        self.0.iter().any(|x| *x != 0.0)
    }

    /// A vector as it was stored, that is checked before.
    #[must_use]
    pub fn stored(values: Vec<f32>) -> Self {
        Self(values)
    }

    /// The components.
    #[must_use]
    pub fn as_slice(&self) -> &[f32] {
        &self.0
    }
}

/// `x`, or +0 where `x` is a zero or a subnormal number.
fn without_subnormal(x: f32) -> f32 {
    if x.abs() < f32::MIN_POSITIVE { 0.0 } else { x }
}

fn check_length(got: usize, dims: usize) -> Result<()> {
    if got == dims && (1..=MAX_DIMENSIONS).contains(&dims) {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "reading a vector: its length must be that of the embedding, {dims} dimensions (at most {MAX_DIMENSIONS}), got {got}: \
         pass the vector that the store's embedder makes, or `reembed()` to change the embedder"
    ))
    .with("dimensions", dims)
    .with("got", got))
}

fn check_finite(values: &[f32]) -> Result<()> {
    let Some(at) = values.iter().position(|x| !x.is_finite()) else { return Ok(()) };
    Err(Error::invalid(format!(
        "reading a vector: every component must be finite, got {} at index {at} of {}: look at what the embedder returned for this text",
        values[at],
        values.len()
    ))
    .with("index", at)
    .with("got", values[at].to_string()))
}

fn all_zero(dims: usize) -> Error {
    Error::invalid(format!(
        "reading a vector: it needs a direction, that is a component other than zero, got {dims} zeros (a magnitude below {:e} counts as zero): \
         leave the vector out where the embedder has nothing to say about a text",
        f32::MIN_POSITIVE
    ))
    .with("dimensions", dims)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn a_unit_vector_has_length_one() {
        for scale in [f32::MIN_POSITIVE * 8.0, 1e-20, 1.0, 1e20, f32::MAX / 2.0] {
            let values: Vec<f32> = [3.0, -4.0, 0.0, 12.0].iter().map(|x| x / 16.0 * scale).collect();
            let unit = UnitVector::new(&values, 4).unwrap();
            assert_eq!(unit.as_slice(), [3.0 / 13.0, -4.0 / 13.0, 0.0, 12.0 / 13.0], "{scale:e}");
        }
    }

    #[test]
    fn negative_zero_and_subnormal_numbers_become_zero() {
        let unit = UnitVector::new(&[1.0, -0.0, 1e-40, f32::MIN_POSITIVE], 4).unwrap();
        let bits: Vec<u32> = unit.as_slice().iter().map(|x| x.to_bits()).collect();
        assert_eq!(bits, [1.0_f32.to_bits(), 0, 0, f32::MIN_POSITIVE.to_bits()]);
        let unit = UnitVector::new(&[1e30, f32::MIN_POSITIVE], 2).unwrap();
        assert_eq!(unit.as_slice()[1].to_bits(), 0, "what turns subnormal on division is zero too");
    }

    #[test]
    fn bad_vectors_are_named_errors() {
        let bad: [(&[f32], usize, &str); 8] = [
            (&[], 0, "got 0"),
            (&[], 2, "got 0"),
            (&[1.0, 2.0, 3.0], 2, "got 3"),
            (&[0.0, -0.0], 2, "zeros"),
            (&[1e-40, 0.0], 2, "zeros"),
            (&[1.0, f32::NAN], 2, "NaN at index 1"),
            (&[f32::INFINITY, 1.0], 2, "inf at index 0"),
            (&[1.0, f32::NEG_INFINITY], 2, "-inf at index 1"),
        ];
        for (values, dims, says) in bad {
            let error = UnitVector::new(values, dims).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
            assert!(error.message().contains(says), "{error}");
        }
        assert!(UnitVector::new(&vec![1.0; MAX_DIMENSIONS + 1], MAX_DIMENSIONS + 1).is_err());
        assert!(UnitVector::new(&vec![1.0; MAX_DIMENSIONS], MAX_DIMENSIONS).is_ok());
    }
}
