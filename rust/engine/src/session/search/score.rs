//! The score of a message: a weighted sum of what is known of it and of its neighbours.
//!
//! ```text
//! words       BM25 / the best BM25 of the question
//! before      the words of the message before it in its session: an answer follows what asks for it
//! answers     the same, where the message before ends with a question mark
//! after       the words of the message behind it
//! meaning     cosine of the built-in embedding, 0 where it is negative
//! closeness   `embedding::Wanted`, token by token
//! speaker     1 where the question names who speaks
//! length      logarithm of its distinct tokens: "Sure!" answers nothing
//! asks        1 where it ends with a question mark; what asks is rarely the answer
//! identified  1 where it holds every identifier of the question
//! ```
//!
//! The weights are those of a softmax over the candidates of each question, fitted on the development conversations of `LoCoMo` by
//! `tools/transcripts/fit.py`, which has the figures; that of identifiers is set, so that what holds them comes first.

/// What a score is made of, in the order of [`Features`].
pub const FEATURES: [&str; COUNT] =
    ["words", "before", "answers", "after", "meaning", "closeness", "speaker", "length", "asks", "identified"];

const COUNT: usize = 10;
/// The weight of each.
const WEIGHTS: [f64; COUNT] = [1.92, 1.55, 2.39, 0.81, 4.90, 4.61, 2.76, 2.64, -0.69, 6.0];

/// Units of a score in 1.0.
pub const SCORE_ONE: i64 = 1 << 30;
/// From so many distinct tokens on a message does not count as longer.
const LONG: usize = 64;
/// What the logarithm of a length is divided by.
const LENGTH_UNIT: f64 = 5.0;

/// What is known of a message, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Features(pub [f64; COUNT]);

impl Features {
    /// From 0 (nothing speaks for it) to [`SCORE_ONE`], in whole numbers, so that they compare alike everywhere.
    #[must_use]
    pub fn score(&self) -> i64 {
        let sum: f64 = self.0.iter().zip(WEIGHTS).map(|(feature, weight)| feature * weight).sum();
        let least: f64 = WEIGHTS.iter().filter(|weight| **weight < 0.0).sum();
        let most: f64 = WEIGHTS.iter().filter(|weight| **weight > 0.0).sum();
        (((sum - least) / (most - least)).clamp(0.0, 1.0) * SCORE_ONE as f64) as i64
    }

    /// Its own words.
    #[must_use]
    pub fn words(&self) -> f64 {
        self.0[0]
    }

    /// Cosine of its vector with the question's.
    #[must_use]
    pub fn meaning(&self) -> f64 {
        self.0[4]
    }

    /// From 0 to 1: how sure it is that the message answers; as of a memory, the mean of what it has of the question and its cosine.
    #[must_use]
    pub fn sureness(&self) -> f64 {
        f64::midpoint(self.closeness(), self.meaning())
    }

    /// How much of the question it has, token by token.
    #[must_use]
    pub fn closeness(&self) -> f64 {
        self.0[5]
    }

    /// The words of the message before it.
    #[must_use]
    pub fn before(&self) -> f64 {
        self.0[1]
    }

    /// What speaks for a message before its tokens are read.
    #[must_use]
    pub fn first_sight(words: f64, before: f64, after: f64, meaning: f64) -> f64 {
        words + 0.7 * before + 0.2 * after + meaning
    }

    /// The feature of a message with `tokens` distinct tokens.
    #[must_use]
    pub fn length(tokens: usize) -> f64 {
        libm::log(tokens.clamp(1, LONG) as f64) / LENGTH_UNIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_from_zero_to_one_and_each_feature_moves_it_as_its_weight_says() {
        let nothing = Features::default();
        for (at, weight) in WEIGHTS.iter().enumerate() {
            let mut one = nothing;
            one.0[at] = 1.0;
            assert_eq!(one.score() > nothing.score(), *weight > 0.0, "{}", FEATURES[at]);
        }
        let all = Features(WEIGHTS.map(|weight| f64::from(u8::from(weight > 0.0))));
        let none = Features(WEIGHTS.map(|weight| f64::from(u8::from(weight < 0.0))));
        assert_eq!((none.score(), all.score()), (0, SCORE_ONE));
    }

    #[test]
    fn an_identifier_outweighs_all_that_is_usual() {
        let (mut usual, mut identified) = (Features([0.8, 0.2, 0.0, 0.2, 0.6, 0.8, 0.0, 0.6, 0.0, 0.0]), Features::default());
        identified.0[9] = 1.0;
        identified.0[0] = 1.0;
        identified.0[5] = 0.4;
        identified.0[7] = 0.4;
        assert!(identified.score() > usual.score());
        usual.0[9] = 1.0;
        assert!(identified.score() < usual.score());
    }

    #[test]
    fn lengths_grow_to_a_bound() {
        assert!(Features::length(0).abs() < 1e-12 && Features::length(8) < Features::length(30));
        assert_eq!(Features::length(64).to_bits(), Features::length(10_000).to_bits());
    }
}
