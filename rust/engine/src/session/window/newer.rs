//! Of two recalled memories that say something of the same the newer one, where no slot says so: both are shown with their dates, and the
//! older one says when the newer was written.
//!
//! Two memories of kinds that hold (facts, preferences, decisions, constraints, the profile) are taken for such a pair where their vectors
//! are near and the newer one has every word of the question that the older one has: so another person's city is no newer one of mine. It
//! forgets nothing and leaves nothing out: near is not the same, and the reader decides.

use std::cell::OnceCell;

use crate::embedding::embed;
use crate::index::vectors::UnitVector;
use crate::memory::{Kind, Memory};
use crate::recall::Hit;
use crate::text::{Role, analyze, with_analyzer};

/// The least cosine of two memories that say something of the same (docs/ranking.md has the figures of the rule).
const SAME_THING: f64 = 0.45;
/// The least share of the older one's score that the newer one has.
const LEAST_SHARE: f64 = 0.5;

/// For each hit when something newer was said of the same, if it was.
pub(super) fn newer(question: &str, hits: &[Hit]) -> Vec<Option<i64>> {
    let held: Vec<&Hit> = hits.iter().filter(|hit| holds(hit.memory.kind)).collect();
    if held.len() < 2 {
        return vec![None; hits.len()];
    }
    let asked = with_analyzer(|analyzer| analyzer.query(question, 0));
    let words: Vec<u64> = asked.terms.iter().filter(|term| term.role == Role::Word).map(|term| term.hash).collect();
    let seen: Vec<Seen<'_>> = hits.iter().map(|hit| Seen::of(hit, &words)).collect();
    let newest = |older: &Seen<'_>| seen.iter().filter(|newer| newer.replaces(older)).map(|newer| newer.hit.memory.occurred_at).max();
    seen.iter().map(newest).collect()
}

fn holds(kind: Kind) -> bool {
    matches!(kind, Kind::Semantic | Kind::Preference | Kind::Decision | Kind::Constraint | Kind::Profile)
}

/// A hit with what pairs are told by.
struct Seen<'h> {
    hit: &'h Hit,
    vector: OnceCell<UnitVector>,
    /// The words of the question that it has.
    words: Vec<u64>,
}

impl<'h> Seen<'h> {
    fn of(hit: &'h Hit, asked: &[u64]) -> Self {
        let analysis = analyze(&hit.memory.text, 0);
        let has = |hash: &u64| analysis.terms.binary_search_by_key(hash, |term| term.hash).is_ok();
        let words = asked.iter().copied().filter(has).collect();
        Self { hit, vector: OnceCell::new(), words }
    }

    fn replaces(&self, older: &Self) -> bool {
        let (new, old): (&Memory, &Memory) = (&self.hit.memory, &older.hit.memory);
        new.occurred_at > old.occurred_at
            && self.hit.scope == older.hit.scope
            && holds(new.kind)
            && holds(old.kind)
            && new.ending.is_none()
            && (new.slot.is_none() || old.slot.is_none() || new.slot == old.slot)
            && self.hit.score >= LEAST_SHARE * older.hit.score
            && older.words.iter().all(|word| self.words.contains(word))
            && self.cosine(older) >= SAME_THING
    }

    fn cosine(&self, other: &Self) -> f64 {
        self.vector().as_slice().iter().zip(other.vector().as_slice()).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    }

    fn vector(&self) -> &UnitVector {
        self.vector.get_or_init(|| embed(&self.hit.memory.text))
    }
}
