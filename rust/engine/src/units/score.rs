//! Units of scores: fixed point, so that sums and comparisons are the same on every processor.

/// Scores of words are whole numbers of 1 / `SCORE_UNIT`: 2^32.
pub const SCORE_UNIT: f64 = 4_294_967_296.0;

/// A score of 1.0, that is the cosine of two equal directions, in fixed point.
pub const SCORE_ONE: i32 = 1 << 30;
