//! Why: every number of a score, by name.
//!
//! An explanation needs no store: the statistics of the question are kept with the answer, and the words of the memory are analysed again.
//! Its numbers add up to the score of the answer, to the bit.

use std::sync::Arc;

use super::designated::{Designated, asked_for, is_of_another};
use super::{Question, when};
use crate::index::bm25::{Formula, Parameters, Query, QueryTerm, Statistics};
use crate::text::analyze;
use crate::text::{self, Analysis, Role};
use crate::units::score::SCORE_UNIT;
use crate::units::term_key::TermKey;

/// The query to one scope's words.
#[derive(Debug, Clone, Default)]
pub struct LexicalQuery {
    /// The question, as the analyzer sees it.
    query: Arc<text::Query>,
    /// The question's terms, as the index is asked for them.
    asked: Vec<QueryTerm>,
    /// The scope's statistics when it was asked.
    pub statistics: Statistics,
    /// How many memories of the scope have each term.
    pub frequencies: Vec<u64>,
    /// The constants of the formula.
    pub parameters: Parameters,
    key: TermKey,
    /// The hashes of the identifiers that are of a time, such as the year of "in 2023".
    of_time: Vec<u64>,
    /// The things that the question tells from others of their name: "station D".
    designated: Vec<Designated>,
}

/// The contribution of one term of the question to one memory's score.
#[derive(Debug, Clone, PartialEq)]
pub struct TermScore {
    /// The term.
    pub text: String,
    /// Its role in the question: an identifier, a word, a stem.
    pub role: &'static str,
    /// The weight of a match in that role.
    pub weight: f64,
    /// Memories of the scope that have it.
    pub frequency: u64,
    /// Its inverse document frequency.
    pub idf: f64,
    /// How often this memory has it.
    pub count: u8,
    /// Its contribution, in units of 2^-32.
    pub score: i64,
}

/// Every number of one hit's score.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The terms that the memory has.
    pub terms: Vec<TermScore>,
    /// Words of the memory.
    pub length: u32,
    /// Words of a memory of its scope on average.
    pub average_length: f64,
    /// Where the score comes from.
    pub parts: super::fusion::Parts,
}

impl LexicalQuery {
    /// The question as one scope's index is asked.
    #[must_use]
    pub fn new(question: &Question, key: TermKey, statistics: Statistics) -> Self {
        let query = question.terms(key);
        let asked = query.terms.iter().map(|term| QueryTerm { hash: term.hash, weight: term.weight }).collect();
        let frequencies = vec![0; query.terms.len()];
        let of_time = identifiers_of_time(question.text(), &query);
        let designated = asked_for(question.text());
        Self { asked, query, statistics, frequencies, parameters: Parameters::default(), key, of_time, designated }
    }

    /// The key of its terms.
    pub(super) fn key(&self) -> TermKey {
        self.key
    }

    /// Its terms.
    #[must_use]
    pub fn terms(&self) -> &[text::QueryTerm] {
        &self.query.terms
    }

    /// The hashes of its identifiers.
    #[must_use]
    pub fn identifiers(&self) -> &[u64] {
        &self.query.identifiers
    }

    /// This query, scored by other constants.
    #[must_use]
    pub fn by(self, parameters: Parameters) -> Self {
        Self { parameters, ..self }
    }

    /// The query to the index.
    #[must_use]
    pub fn question(&self) -> Query<'_> {
        Query { terms: &self.asked, parameters: self.parameters, statistics: self.statistics }
    }

    /// The contribution of each term to the score of a text of this scope. Missing terms are left out.
    #[must_use]
    pub fn terms_of(&self, text: &str) -> Vec<TermScore> {
        self.score(&analyze(text, self.key))
    }

    /// Whether a text holds every identifier of the question, and there is one.
    #[must_use]
    pub fn has_every_identifier(&self, text: &str) -> bool {
        !self.identifiers().is_empty() && self.missing(text).is_empty()
    }

    /// Whether a text lacks an identifier of the question, and is about another thing then, or designates another thing of the same name. A
    /// year lacks where the text has another one: mostly a text does not say when it was written.
    #[must_use]
    pub fn lacks_identifier(&self, text: &str) -> bool {
        self.missing(text).iter().any(|hash| !self.of_time.contains(hash) || has_year(text)) || is_of_another(&self.designated, text)
    }

    /// The identifiers of the question that a text does not have.
    fn missing(&self, text: &str) -> Vec<u64> {
        if self.identifiers().is_empty() {
            return Vec::new();
        }
        let terms = analyze(text, self.key).terms;
        let is_missing = |hash: &u64| terms.binary_search_by_key(hash, |term| term.hash).is_err();
        self.identifiers().iter().copied().filter(is_missing).collect()
    }

    fn score(&self, analysis: &Analysis) -> Vec<TermScore> {
        let formula = self.formula();
        let count_of = |hash| analysis.terms.binary_search_by_key(&hash, |term| term.hash).map_or(0, |at| analysis.terms[at].count);
        let entry = |(term, frequency): (&text::QueryTerm, &u64)| TermScore {
            text: term.text.clone(),
            role: term.role.name(),
            weight: f64::from(term.weight),
            frequency: *frequency,
            idf: formula.idf(*frequency),
            count: count_of(term.hash),
            score: formula.contribution(formula.factor(term.weight, *frequency), count_of(term.hash), analysis.length),
        };
        self.terms().iter().zip(&self.frequencies).map(entry).filter(|term| term.count > 0).collect()
    }

    fn formula(&self) -> Formula {
        Formula::new(self.parameters, self.statistics)
    }

    /// The share of the question's terms, by weight and rarity, that a text has: 0 to 1. A word that the text has in another form
    /// counts half; stems and accented forms are not asked for on their own. A term that no memory has counts as one that a
    /// single memory has: in a small scope its idf would drown all others. Identifiers that the text lacks do not count, and neither do
    /// their parts: [`Self::lacks_identifier`] tells of them.
    #[must_use]
    pub fn coverage(&self, text: &str) -> f64 {
        let (formula, analysis) = (self.formula(), analyze(text, self.key));
        let has = |term: &text::QueryTerm| analysis.terms.binary_search_by_key(&term.hash, |known| known.hash).is_ok();
        let stems: Vec<_> = self.terms().iter().filter(|term| term.role == Role::Stem && has(term)).collect();
        let (mut all, mut there) = (0.0, 0.0);
        for (term, frequency) in self.terms().iter().zip(&self.frequencies) {
            let is_of_identifier = matches!(term.role, Role::Whole | Role::Segment | Role::Part);
            if matches!(term.role, Role::Stem | Role::Accent) || is_of_identifier && !has(term) {
                continue;
            }
            let weight = f64::from(term.weight) * formula.idf((*frequency).max(1));
            all += weight;
            if has(term) {
                there += weight;
            } else if term.role == Role::Word && stems.iter().any(|stem| may_be_stem(&stem.text, &term.text)) {
                there += weight * f64::from(text::STEM_WEIGHT);
            }
        }
        if all > 0.0 { there / all } else { 0.0 }
    }

    /// Every number of a hit's score, from its parts and its memory's text.
    #[must_use]
    pub fn explain(&self, parts: super::fusion::Parts, text: &str) -> Explanation {
        let analysis = analyze(text, self.key);
        let average_length = self.statistics.total_length as f64 / (self.statistics.documents.max(1)) as f64;
        Explanation { terms: self.score(&analysis), length: analysis.length, average_length, parts }
    }
}

/// A BM25 score in its own unit.
#[must_use]
pub fn lexical_score(fixed: i64) -> f64 {
    fixed as f64 / SCORE_UNIT
}

/// Whether a term can be the stem of a word: the word begins with it, but for its last letter.
fn may_be_stem(stem: &str, word: &str) -> bool {
    stem.char_indices().next_back().is_some_and(|(last, _)| last > 1 && word.starts_with(&stem[..last]))
}

/// The hashes of a question's identifiers that are of a time.
pub(crate) fn identifiers_of_time(question: &str, query: &text::Query) -> Vec<u64> {
    if query.identifiers.is_empty() {
        return Vec::new();
    }
    let within = when::within(question);
    let is_within = |term: &&text::QueryTerm| term.role == Role::Whole && within.contains(&term.text);
    query.terms.iter().filter(is_within).map(|term| term.hash).collect()
}

/// Whether a text has a number that may be a year.
fn has_year(text: &str) -> bool {
    let numbers = text.split(|letter: char| !letter.is_ascii_digit());
    numbers.filter(|number| number.len() == 4).any(|number| number.starts_with("19") || number.starts_with("20"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_year_lacks_only_where_there_is_another() {
        let lacks = |question: &str, text: &str| {
            LexicalQuery::new(&Question::new(question), TermKey::default(), Statistics::default()).lacks_identifier(text)
        };
        assert!(!lacks("What did John attend in March 2023?", "John went to the convention."));
        assert!(!lacks("What did John attend in March 2023?", "John went to the convention of 2023."));
        assert!(lacks("What was the revenue in 2023?", "The revenue in 2024 was 5 million."));
        assert!(lacks("What did John pay for order 48812 in March 2023?", "John paid 5 for order 48899."));
        assert!(
            lacks("Who shipped order 2023?", "Ann shipped order 1977.") && lacks("Who shipped order 2023?", "Ann shipped the other one.")
        );
        assert!(!lacks("Who shipped the order?", "Ann shipped order 1977."));
    }

    #[test]
    fn an_identifier_that_is_lacking_takes_nothing_from_the_words() {
        let of = |question: &str, text: &str| {
            LexicalQuery::new(&Question::new(question), TermKey::default(), Statistics::default()).coverage(text)
        };
        let text = "Invoices stand under My account, Documents.";
        // Beside an identifier, filler is not asked for.
        assert!(of("invoice", text) > 0.0 && (of("where is my invoice INV-2026-118?", text) - of("invoice", text)).abs() < 1e-9);
        assert!((of("INV-2026-118", text)).abs() < 1e-9 && of("INV-2026-118", "See INV-2026-118.") > 0.99);
    }
}
