//! The counter of a text, and how far its count can be from the truth.

use crate::{Error, Result};

/// Counts the tokens of ordinary text: special-token strings in it are text.
pub trait Counter {
    /// Tokens of `text`.
    fn count(&self, text: &str) -> u64;

    /// Tokens of `text` if they are at most `limit`. A counter that can stop early should.
    fn count_within(&self, text: &str, limit: u64) -> Option<u64> {
        Some(self.count(text)).filter(|tokens| *tokens <= limit)
    }

    /// Whether `count(a + b) = count(a) + count(b)` for every `a` that ends with `>\n` and `b` that starts with `<`. True of
    /// o200k and cl100k (a pretoken ends after `>\n`, before `<`); saves counting a block a second time.
    fn splits_at_tags(&self) -> bool {
        false
    }
}

/// A bound for closed tokenizers, in thousandths: real tokens are at most `counted * factor / 1000`. Frozen in an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Factor(u32);

impl Factor {
    /// The counter is the model's own.
    pub const EXACT: Self = Self(1000);

    /// A factor of `per_mille` thousandths; below 1,000 it is 1,000, since a bound is never below the count.
    #[must_use]
    pub fn new(per_mille: u32) -> Self {
        Self(per_mille.max(1000))
    }

    /// A factor from 1 to 100, rounded up: a bound must not become smaller on its way in.
    pub fn parse(factor: f64) -> Result<Self> {
        if (1.0..=100.0).contains(&factor) {
            return Ok(Self::new((factor * 1000.0 - 1e-6).ceil() as u32));
        }
        Err(Error::invalid(format!(
            "registering a model: factor must be from 1 to 100, and it is {factor}: pass 1 where the encoding is the model's own"
        )))
    }

    /// Thousandths.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        f64::from(self.0) / 1000.0
    }

    /// In thousandths.
    #[must_use]
    pub fn per_mille(self) -> u32 {
        self.0
    }

    /// The bound for a counted number, rounded up.
    #[must_use]
    pub fn bound(self, counted: u64) -> u64 {
        counted.saturating_mul(self.0.into()).div_ceil(1000)
    }

    /// How much may be counted so that the bound stays within `limit`, rounded down.
    #[must_use]
    pub fn room(self, limit: u64) -> u64 {
        u64::try_from(u128::from(limit) * 1000 / u128::from(self.0)).unwrap_or(u64::MAX)
    }
}
