//! Fusion: one order out of two.
//!
//! ```text
//! w_l * lexical / max(lexical) + w_d * (cosine - min) / (max - min)      over the candidates of all scopes
//! ```
//!
//! Weighted sums keep what ranks throw away: on conversations reciprocal rank fusion falls below BM25 alone where the vectors are weak
//! (57.3 against 62.0 R@10 on LoCoMo). That relevance is multiplied by what counts besides it ([`super::priors`]). Scores are
//! rounded to units of 2^-30 before they are compared.

use std::borrow::Borrow;
use std::cmp::Reverse;

use super::candidates::Candidate;
use super::priors::{Moment, Prior};
use super::ranking::memories::FAIRLY_NEAR;
use super::ranking::memories::{BEYOND, FEATURES, Features, IDENTIFIED_LEXICAL, LEXICAL, WEIGHTS};
use super::ranking::{NEAR, WINDOW};
use crate::Result;
use crate::units::score::SCORE_ONE;

/// Units of a fused score in 1.0.
const ONE: f64 = SCORE_ONE as f64;

/// The weight of the words; the vectors have the rest. `identified` says whether a candidate holds every identifier of the question.
#[must_use]
pub(crate) fn weight_of_words(identified: bool) -> f64 {
    if identified { IDENTIFIED_LEXICAL } else { LEXICAL }
}

/// Where a score comes from.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[allow(clippy::struct_excessive_bools)] // facts that do not depend on each other
pub struct Parts {
    /// BM25, in units of 2^-32.
    pub lexical: i64,
    /// The words' part of the score before its weight, 0 to 1.
    pub lexical_normalised: f64,
    /// The weight of the words.
    pub lexical_weight: f64,
    /// The cosine, in units of 2^-30; exact for the best.
    pub dense: Option<i32>,
    /// The vectors' part of the score before its weight, 0 to 1.
    pub dense_normalised: f64,
    /// The weight of the vectors.
    pub dense_weight: f64,
    /// The words of the events told beside it, over those of the best candidate with its own.
    pub around: f64,
    /// The result of a closer look at a memory, with the weight of each part; `None` where there was none.
    pub closer: Option<(Features, [f64; WEIGHTS.len()])>,
    /// It holds every identifier of the question, and there is one.
    pub identified: bool,
    /// The relevance that relations give it; 0 where there are none.
    pub related: f64,
    /// How sure it is without the words of the time that the question asks about, where it is of that time; 0 of all others.
    pub then: f64,
    /// The prior: the factors besides relevance.
    pub prior: Prior,
    /// The score, in units of 2^-30.
    pub fixed: i64,
    /// The part of the score that it has for being newer than one that scored more.
    pub raised: i64,
    /// It stands before others of its score.
    pub is_raised: bool,
    /// It says something newer than one for which the question speaks, as it does not for this one.
    pub succeeds: bool,
    /// When it is, where it answers a question that has no content ([`super::Overview`]): neither its words nor its meaning say how well.
    pub overview: Option<i64>,
}

impl Parts {
    /// The score, 0 to 1.
    #[must_use]
    pub fn score(&self) -> f64 {
        self.fixed as f64 / ONE
    }

    /// The score of words, vectors and a closer look together, or of relations where that is more: 0 to 1.
    #[must_use]
    pub fn relevance(&self) -> f64 {
        let sum = |(features, weights): &(Features, [f64; WEIGHTS.len()])| features.weighed(weights);
        let indexed = || self.lexical_weight * self.lexical_normalised + self.dense_weight * self.dense_normalised;
        self.closer.as_ref().map_or_else(indexed, sum).max(self.related)
    }

    /// The parts that a closer look adds to words and vectors: name, weight, value.
    pub fn further(&self) -> impl Iterator<Item = (&'static str, f64, f64)> + '_ {
        let closer = self.closer.iter().flat_map(|(features, weights)| FEATURES.iter().zip(weights).zip(features.values()));
        closer.skip(2).map(|((name, weight), value)| (*name, *weight, value))
    }

    /// Takes what a closer look gave for its relevance.
    pub(super) fn look_closer(&mut self, features: Features, weights: [f64; WEIGHTS.len()]) {
        (self.lexical_normalised, self.lexical_weight) = (features.words, weights[0]);
        (self.dense_normalised, self.dense_weight) = (features.meaning, weights[1]);
        self.closer = Some((features, weights));
        self.weigh(self.prior);
    }

    /// Takes at least so high a score, and stands before others that have it.
    pub(super) fn raise_to(&mut self, least: i64) {
        if self.fixed <= least {
            (self.fixed, self.raised) = (least, self.raised + least - self.fixed);
            self.is_raised = true;
        }
    }

    /// Stands right behind others of so high a score, though the question does not speak for it: it says something newer than one of them.
    pub(super) fn stand_behind(&mut self, score: i64) {
        if self.fixed < score {
            self.raised += score - 1 - self.fixed;
            (self.fixed, self.succeeds) = (score - 1, true);
        }
    }

    /// Takes the score of what it ties with.
    pub(super) fn settle_at(&mut self, score: i64) {
        (self.fixed, self.raised) = (score, self.raised + score - self.fixed);
    }

    /// Takes what counts besides relevance.
    pub(super) fn weigh(&mut self, prior: Prior) {
        self.prior = prior;
        self.fixed = (self.relevance() * prior.share() * ONE) as i64;
    }

    /// Whether the question speaks for it: it, or the event told beside it, has a word of it, it is about somebody whom the question
    /// names, its meaning is near, relations lead to it, it happened in the few days that the question names, or it says something newer
    /// than one of these. Normalised scores cannot say this: even among irrelevant answers one scores best.
    #[must_use]
    pub fn is_relevant(&self) -> bool {
        let is_named = || self.closer.is_some_and(|(features, _)| features.name > 0.0);
        let is_near = || self.cosine().is_some_and(|cosine| cosine >= NEAR);
        self.lexical > 0 || self.around > 0.0 || self.related > 0.0 || self.succeeds || is_near() || is_named() || self.prior.is_of_days()
    }

    /// Whether the question speaks for it, or its meaning is fairly near.
    #[must_use]
    pub fn is_fairly_relevant(&self) -> bool {
        self.cosine().is_some_and(|cosine| cosine >= FAIRLY_NEAR) || self.is_relevant()
    }

    /// The cosine, -1 to 1.
    #[must_use]
    pub fn cosine(&self) -> Option<f64> {
        self.dense.map(|dense| f64::from(dense) / ONE)
    }
}

/// The best candidates in order, each with the parts of its score: `BEYOND` more than `limit`, for those that say the same. `words` is the
/// weight of the words.
pub fn rank(
    words: f64,
    limit: usize,
    moment: &Moment,
    candidates: Vec<Candidate>,
    mut exact: impl FnMut(&Candidate) -> Result<Option<i32>>,
) -> Result<Vec<(Candidate, Parts)>> {
    let priors: Vec<Prior> = candidates.iter().map(|candidate| Prior::of(&candidate.attributes, moment)).collect();
    let scale = Scale::of(&candidates, &priors);
    let weights = scale.weights(words);
    let mut order = in_order(&candidates, |at| scale.sight(weights, &candidates[at], &priors[at]));
    let (mut vouched, mut holders) = (0, 0);
    let mut place = 0;
    // However many of nobody's stand before them, those that somebody vouches for are among those to choose from. So are those that
    // hold every identifier.
    order.retain(|&at| {
        let candidate = &candidates[at];
        place += 1;
        vouched += usize::from(candidate.attributes.trust > 0);
        holders += usize::from(candidate.identified);
        place <= limit.saturating_add(BEYOND)
            || candidate.attributes.trust > 0 && vouched <= limit
            || candidate.identified && holders <= limit
    });
    let mut candidates = candidates;
    if scale.any_dense {
        let mut as_they_lie = order.clone();
        as_they_lie.sort_unstable();
        for at in as_they_lie {
            candidates[at].dense = exact(&candidates[at])?.or(candidates[at].dense);
        }
    }
    let parts: Vec<Parts> = order.iter().map(|&at| weighted(weights, &scale, &candidates[at], priors[at])).collect();
    let places = if scale.any_dense {
        let kept: Vec<&Candidate> = order.iter().map(|&at| &candidates[at]).collect();
        in_order(&kept, |place| parts[place].fixed)
    } else {
        (0..order.len()).collect()
    };
    let mut candidates: Vec<Option<Candidate>> = candidates.into_iter().map(Some).collect();
    let mut ranked = Vec::with_capacity(places.len());
    ranked.extend(places.into_iter().filter_map(|place| Some((candidates[order[place]].take()?, parts[place]))));
    Ok(ranked)
}

/// The places of candidates by score descending, then scope, then number, then the newest revision: no two are equal.
fn in_order<C: Borrow<Candidate>>(candidates: &[C], score: impl Fn(usize) -> i64) -> Vec<usize> {
    let revision = |candidate: &Candidate| candidate.past.as_ref().map_or(u32::MAX, |memory| memory.revision);
    let key = |(at, candidate): (usize, &C)| {
        let candidate = candidate.borrow();
        ((Reverse(score(at)), candidate.scope, candidate.number, Reverse(revision(candidate))), at)
    };
    let mut keys: Vec<_> = candidates.iter().enumerate().map(key).collect();
    keys.sort_unstable();
    keys.into_iter().map(|(_, at)| at).collect()
}

/// The scale of the scores.
#[derive(Debug)]
struct Scale {
    best_lexical: i64,
    best_window: i64,
    lowest_dense: i32,
    highest_dense: i32,
    any_lexical: bool,
    any_dense: bool,
    highest_prior: f64,
}

impl Scale {
    fn of(candidates: &[Candidate], priors: &[Prior]) -> Self {
        let dense = || candidates.iter().filter_map(|candidate| candidate.dense);
        let best_lexical = candidates.iter().map(|candidate| candidate.lexical).max().unwrap_or(0);
        Self {
            best_lexical,
            best_window: candidates.iter().map(|candidate| candidate.window).max().unwrap_or(0).max(1),
            lowest_dense: dense().min().unwrap_or(0),
            highest_dense: dense().max().unwrap_or(0),
            any_lexical: best_lexical > 0,
            any_dense: dense().next().is_some(),
            highest_prior: priors.iter().map(Prior::product).reduce(f64::max).unwrap_or(1.0),
        }
    }

    fn lexical(&self, score: i64) -> f64 {
        if self.any_lexical { score as f64 / self.best_lexical as f64 } else { 0.0 }
    }

    fn window(&self, score: i64) -> f64 {
        score as f64 / self.best_window as f64
    }

    /// The highest is 1, the lowest 0; where all are alike, all are 1.
    fn dense(&self, score: i32) -> f64 {
        let span = i64::from(self.highest_dense) - i64::from(self.lowest_dense);
        if span == 0 { 1.0 } else { ((i64::from(score) - i64::from(self.lowest_dense)) as f64 / span as f64).clamp(0.0, 1.0) }
    }

    /// The score of first sight, which selects memories for a closer look. The words beside a memory count as its own.
    fn sight(&self, (lexical, dense): (f64, f64), candidate: &Candidate, prior: &Prior) -> i64 {
        let near = candidate.dense.map_or(0.0, |dense| self.dense(dense));
        let related = candidate.related.as_ref().map_or(0.0, |related| related.relevance);
        let relevance = (lexical * self.window(candidate.window) + dense * near).max(related);
        (relevance * (prior.product() / self.highest_prior) * ONE) as i64
    }

    /// Where one side has nothing to say, the other has all the weight.
    fn weights(&self, words: f64) -> (f64, f64) {
        match (self.any_lexical, self.any_dense) {
            (true, true) => (words, 1.0 - words),
            (_, false) => (1.0, 0.0),
            (false, true) => (0.0, 1.0),
        }
    }
}

fn weighted((lexical_weight, dense_weight): (f64, f64), scale: &Scale, candidate: &Candidate, prior: Prior) -> Parts {
    let (lexical, dense) = (scale.lexical(candidate.lexical), candidate.dense.map_or(0.0, |dense| scale.dense(dense)));
    let prior = Prior { highest: scale.highest_prior, ..prior };
    let mut parts = Parts {
        lexical: candidate.lexical,
        lexical_normalised: lexical,
        lexical_weight,
        dense: candidate.dense,
        dense_normalised: dense,
        dense_weight,
        around: scale.window(candidate.window - WINDOW[0] * candidate.lexical),
        identified: candidate.identified,
        related: candidate.related.as_ref().map_or(0.0, |related| related.relevance),
        ..Parts::default()
    };
    parts.weigh(prior);
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Kind;
    use crate::recall::priors::Attributes;
    use crate::recall::when::Range;

    const LONG_AGO: i64 = -1000 * 86_400_000_000;

    fn candidate(number: u32, lexical: i64, dense: i32) -> Candidate {
        let attributes = Attributes {
            kind: Kind::Episodic,
            importance: 128,
            occurred_at: 0,
            recalls: 0,
            doubt: 0,
            said_again: 0,
            names_day: false,
            trust: 3,
        };
        Candidate {
            scope: 0,
            number,
            lexical,
            window: 10 * lexical,
            dense: Some(dense),
            identified: false,
            attributes,
            past: None,
            related: None,
        }
    }

    fn order(words: f64) -> Vec<u32> {
        let candidates = vec![candidate(1, 100, 0), candidate(2, 70, 1 << 29), candidate(3, 95, 1 << 28)];
        let ranked = rank(words, 3, &Moment::default(), candidates, |candidate| Ok(candidate.dense)).expect("no store");
        ranked.into_iter().map(|(candidate, _)| candidate.number).collect()
    }

    #[test]
    fn identifiers_give_the_words_the_last_word() {
        assert_eq!(order(weight_of_words(false)), [2, 3, 1]);
        assert_eq!(order(weight_of_words(true)), [3, 1, 2], "vectors still decide among those that nearly tie");
        assert_eq!(order(1.0), [1, 3, 2]);
    }

    #[test]
    fn the_asked_time_comes_first_unless_nothing_is_of_it() {
        let candidates = |times: [i64; 2]| {
            let at = |number, lexical, occurred_at| {
                let mut candidate = candidate(number, lexical, 0);
                candidate.attributes.occurred_at = occurred_at;
                candidate
            };
            vec![at(1, 100, times[0]), at(2, 80, times[1])]
        };
        let asked = Some(Range { since: Some(0), until: Some(1000) });
        let best = |times| {
            let ranked = rank(1.0, 2, &Moment { asked, ..Moment::default() }, candidates(times), |_| Ok(None)).expect("no store");
            (ranked[0].0.number, ranked[0].1.score())
        };
        assert_eq!(best([LONG_AGO, 500]), (2, (0.8 * ONE).floor() / ONE));
        assert_eq!(best([500, 500]), (1, 1.0));
        assert_eq!(best([LONG_AGO, LONG_AGO]), (1, 1.0), "nothing is of that time: everything is as it was");
    }
}
