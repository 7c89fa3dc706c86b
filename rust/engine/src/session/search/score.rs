//! The score of a message: a weighted sum of what is known of it and of its neighbours; and how sure it is that it answers.
//!
//! [`crate::recall::ranking`] says what the parts mean and what they weigh.

use crate::process::Lazy;
use crate::recall::moved_odds;
use crate::recall::ranking::{CHEAP, LONG, NAMED_CLOSER, NEAR_MESSAGES, SIGHT, Sight, WEIGHTS};
pub use crate::recall::ranking::{FEATURES, Features};

/// Units of a score in 1.0.
pub const SCORE_ONE: i64 = crate::units::score::SCORE_ONE as i64;
/// The divisor of the logarithm of a length.
const LENGTH_UNIT: f64 = 5.0;
/// The sums of all weights below 0 and above: the bounds of a score.
const LEAST: f64 = sum_of_weights(false);
const MOST: f64 = sum_of_weights(true);
/// [`Features::length_of`] by the number of tokens.
static LENGTHS: Lazy<[f64; LONG + 1]> = Lazy::new(|| std::array::from_fn(|tokens| libm::log(tokens.max(1) as f64) / LENGTH_UNIT));
/// [`Features::nearness`] by the number of messages between.
static NEARNESS: Lazy<[f64; 1024]> = Lazy::new(|| std::array::from_fn(|away| nearness(away as u64)));

const fn sum_of_weights(positive: bool) -> f64 {
    let (mut sum, mut at) = (0.0, 0);
    while at < WEIGHTS.len() {
        if (WEIGHTS[at] > 0.0) == positive {
            sum += WEIGHTS[at];
        }
        at += 1;
    }
    sum
}

fn nearness(away: u64) -> f64 {
    libm::exp(-(away as f64) / NEAR_MESSAGES)
}

impl Sight {
    /// In units of [`SCORE_ONE`].
    pub fn fixed(&self) -> i64 {
        let sum = self.words * SIGHT.words
            + self.window * SIGHT.window
            + self.meaning * SIGHT.meaning
            + self.name * SIGHT.name
            + self.before_two * SIGHT.before_two
            + self.after_two * SIGHT.after_two
            + self.within * SIGHT.within
            + self.behind * SIGHT.behind
            + self.identified * SIGHT.identified;
        (sum * SCORE_ONE as f64) as i64
    }
}

impl Features {
    /// The sum of its parts by their weights, which a softmax turns into shares.
    pub(super) fn sum(&self) -> f64 {
        self.weighed(&WEIGHTS)
    }

    /// From 0 (nothing speaks for it) to [`SCORE_ONE`], in whole numbers, so that they compare alike everywhere.
    #[must_use]
    pub fn score(&self) -> i64 {
        (((self.sum() - LEAST) / (MOST - LEAST)).clamp(0.0, 1.0) * SCORE_ONE as f64) as i64
    }

    /// How far a score is above that of a message for which nothing speaks.
    #[must_use]
    pub fn above_nothing(score: i64) -> f64 {
        (score as f64 / SCORE_ONE as f64 + LEAST / (MOST - LEAST)).max(0.0)
    }

    /// A score that is known before the sessions are: what ranks them, and finds the three best.
    pub(super) fn cheap(&self, own: f64) -> f64 {
        own + CHEAP.before * self.before + CHEAP.closeness * self.closeness + self.meaning + CHEAP.speaker * self.speaker
    }

    /// From 0 to 1: how near it is to the question, as of a memory: the mean of what it has of the question and its cosine.
    #[must_use]
    pub fn sureness(&self) -> f64 {
        f64::midpoint(self.closeness, self.meaning)
    }

    /// The same of it and the messages beside it together.
    #[must_use]
    pub fn sureness_around(&self) -> f64 {
        f64::midpoint(self.closeness_around, self.meaning_around)
    }

    /// From 0 to 1: how sure it is that the message answers: [`Self::sureness`], its odds moved by `named`, how much closer those whom the
    /// question names come to it than others.
    pub(super) fn confidence(&self, named: f64) -> f64 {
        moved_by_name(self.sureness(), named)
    }

    /// The feature of a message with `tokens` distinct tokens.
    pub(super) fn length_of(tokens: usize) -> f64 {
        LENGTHS[tokens.min(LONG)]
    }

    /// How near a message stands to another of its session: 1 beside it, a third three messages away.
    pub(super) fn nearness(one: u64, other: u64) -> f64 {
        let away = one.abs_diff(other);
        NEARNESS.get(away as usize).copied().unwrap_or_else(|| nearness(away))
    }
}

/// How sure a message is, its odds moved by `named`.
pub(super) fn moved_by_name(sure: f64, named: f64) -> f64 {
    moved_odds(sure, NAMED_CLOSER * named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_from_zero_to_one_and_grows_with_what_speaks_for_it() {
        assert_eq!(FEATURES.len(), Features::default().values().len());
        let few = Features { closeness: 0.4, window: 0.5, ..Features::default() };
        let more = Features { closeness: 0.8, ..few };
        assert!(0 < few.score() && few.score() < more.score() && more.score() <= SCORE_ONE);
        let identified = Features { identified: 1.0, closeness: 0.2, ..Features::default() };
        assert!(identified.score() > more.score());
    }

    #[test]
    fn who_is_named_and_comes_closer_is_surer() {
        let hit = Features { closeness: 0.6, meaning: 0.4, ..Features::default() };
        assert!((hit.confidence(0.0) - hit.sureness()).abs() < 1e-12);
        assert!(hit.confidence(0.2) > hit.confidence(0.0) && hit.confidence(0.0) > hit.confidence(-0.3));
        let certain = Features { closeness: 1.0, meaning: 1.0, ..Features::default() };
        assert!((certain.confidence(-1.0) - 1.0).abs() < 1e-12 && Features::default().confidence(1.0).abs() < 1e-12);
    }

    #[test]
    fn lengths_grow_to_a_bound() {
        assert!(Features::length_of(0).abs() < 1e-12 && Features::length_of(8) < Features::length_of(30));
        assert_eq!(Features::length_of(64).to_bits(), Features::length_of(10_000).to_bits());
    }
}
