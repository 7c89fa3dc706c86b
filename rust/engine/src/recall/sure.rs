//! How sure an answer is: of the first hit alone, and of what stands beside it.
//!
//! ```text
//! sure        the mean of how close the first hit is to the question and of its cosine; where there was no closer look the share of the
//!             question's words (by rarity) that it has, in the place of closeness, and that alone without vectors. What a relation or
//!             the name of its slot leads to is as sure as that says
//! margin      how far its relevance is above that of the tenth: an answer stands out of what is merely about the same
//! named       how much closer those memories come that are about somebody whom the question names: "Bob" is not "Anna"
//! confidence  the odds of `sure`, moved by both
//! ```
//!
//! A first hit that lacks an identifier of the question is about another invoice or host, and half as sure; that it stands out says nothing.
//!
//! The answer to a question without content ([`super::Overview`]) has a set confidence: it was chosen by when it was, or by what it is.
//!
//! The weights are fitted (`recall/ranking.rs`). Where there are fewer than ten hits, or no closer look, or nobody is named, nothing is moved.

use super::contenders::Contender;
use super::explain::LexicalQuery;
use super::fusion::Parts;
use super::ranking::memories::{Features, MARGIN, NAMED, OF_ANOTHER, OVERVIEW, USUAL_MARGIN};

/// A text of so many words is a bare value.
const BARE: usize = 2;
/// The place that the first is compared with.
const TENTH: usize = 9;

/// The evidence beside the first hit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Beside {
    /// By how much the margin is above the usual one.
    pub margin: f64,
    /// By how much those with a name of the question come closer.
    pub named: f64,
}

impl Beside {
    /// Of the hits of a closer look, in order; `names` says whether the question has any.
    pub(super) fn of(hits: &[Contender<'_>], names: bool) -> Self {
        let margin = hits.first().zip(hits.get(TENTH)).map_or(0.0, |(first, tenth)| {
            let relevance = |hit: &Contender<'_>| hit.parts.relevance();
            relevance(first) - relevance(tenth) - USUAL_MARGIN
        });
        Self { margin, named: if names { closer_by_name(hits) } else { 0.0 } }
    }

    /// From 0 to 1: how sure an answer is, from what was asked of the scope of its first hit, and the text and the parts of that.
    #[must_use]
    pub fn confidence(&self, query: Option<&LexicalQuery>, text: &str, parts: &Parts) -> f64 {
        let sure = nearness(query, text, parts);
        if lacks_identifier(query, text, parts) { sure * OF_ANOTHER } else { self.moved(sure) }
    }

    fn moved(&self, sure: f64) -> f64 {
        moved_odds(sure, MARGIN * self.margin + NAMED * self.named)
    }
}

/// A confidence whose odds are moved by so much, in logarithms.
pub(crate) fn moved_odds(sure: f64, by: f64) -> f64 {
    let moved = libm::exp(by);
    (sure * moved / (sure * moved + 1.0 - sure).max(f64::MIN_POSITIVE)).clamp(0.0, 1.0)
}

/// How much closer to the question those come that begin with a name of it, or, where none does, that have one; 0 where none has.
fn closer_by_name(hits: &[Contender<'_>]) -> f64 {
    // A bare value, such as that of a slot, tells of nobody.
    let tells = |hit: &&Contender<'_>| hit.memory.text.split_whitespace().nth(BARE).is_some();
    let features = || hits.iter().filter(tells).filter_map(|hit| hit.parts.closer).map(|(features, _)| features);
    let by = |is: fn(&Features) -> bool| {
        let closest = |of: bool| features().filter(|one| is(one) == of).map(|one| one.closeness).fold(0.0, f64::max);
        features().any(|one| is(&one)).then(|| closest(true) - closest(false))
    };
    by(|one| one.subject > 0.0).or_else(|| by(|one| one.name > 0.0)).unwrap_or(0.0)
}

/// Whether the question has an identifier that a hit lacks.
fn lacks_identifier(query: Option<&LexicalQuery>, text: &str, parts: &Parts) -> bool {
    !parts.identified && query.is_some_and(|query| query.lacks_identifier(text))
}

/// From 0 to 1: how sure a first hit alone is, from what was asked of its scope, its text and the parts of its score.
#[must_use]
pub fn confidence(query: Option<&LexicalQuery>, text: &str, parts: &Parts) -> f64 {
    let sure = nearness(query, text, parts);
    if lacks_identifier(query, text, parts) { sure * OF_ANOTHER } else { sure }
}

/// The same, whatever identifiers it lacks.
fn nearness(query: Option<&LexicalQuery>, text: &str, parts: &Parts) -> f64 {
    if parts.overview {
        return OVERVIEW;
    }
    let by_words = || query.map_or(0.0, |query| query.coverage(text));
    let close = || parts.closer.map_or_else(by_words, |(features, _)| features.closeness);
    let near = parts.cosine().map_or_else(close, |cosine| f64::midpoint(close(), cosine.max(0.0)));
    near.max(parts.related).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_out_and_who_is_named_move_the_odds() {
        let plain = Beside::default();
        assert!((plain.moved(0.4) - 0.4).abs() < 1e-12);
        assert!(Beside { margin: 0.1, named: 0.0 }.moved(0.4) > 0.4 && Beside { margin: 0.0, named: -0.5 }.moved(0.4) < 0.4);
        assert!(plain.moved(0.0).abs() < 1e-12 && (Beside { margin: -1.0, named: -1.0 }.moved(1.0) - 1.0).abs() < 1e-12);
        assert_eq!(Beside::of(&[], true), Beside { margin: 0.0, named: 0.0 });
    }
}
