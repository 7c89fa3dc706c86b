//! What a text is about, as numbers: its terms, how rare each is among the texts of this compaction, how much of it was not said yet.
//!
//! Terms are those of [`crate::text`]. `idf(t) = ln((n + 1) / (df + 1/2))` in units of 1/1024, from one pinned logarithm, so that scores
//! are whole numbers and equal everywhere.

use std::collections::{HashMap, HashSet};

use crate::text::{Analysis, Analyzer};

/// Units of an idf of 1.
const ONE: f64 = 1024.0;

/// Reads terms.
#[derive(Debug, Default)]
pub(super) struct Reader {
    analyzer: Analyzer,
    analysis: Analysis,
}

impl Reader {
    /// The terms of a text, each once, sorted.
    pub fn terms(&mut self, text: &str) -> Vec<u64> {
        self.analyzer.document(text, 0, &mut self.analysis);
        self.analysis.terms.iter().map(|term| term.hash).collect()
    }
}

/// In how many texts each term is. Looked up, never iterated.
#[derive(Debug, Default)]
pub(super) struct Frequencies {
    texts: u64,
    of: HashMap<u64, u32>,
}

impl Frequencies {
    pub fn add(&mut self, terms: &[u64]) {
        self.texts += 1;
        for term in terms {
            *self.of.entry(*term).or_default() += 1;
        }
    }

    /// How rare a term is.
    pub fn idf(&self, term: u64) -> i64 {
        let df = f64::from(self.of.get(&term).copied().unwrap_or(0));
        ((libm::log((self.texts as f64 + 1.0) / (df + 0.5)) * ONE) as i64).max(0)
    }

    /// The sum over terms.
    pub fn mass(&self, terms: &[u64]) -> i64 {
        terms.iter().map(|term| self.idf(*term)).sum()
    }
}

/// What was said.
#[derive(Debug, Default)]
pub(super) struct Covered(HashSet<u64>);

impl Covered {
    pub fn add(&mut self, terms: &[u64]) {
        self.0.extend(terms);
    }

    /// The share of a text's mass that is new, in 1/256.
    pub fn novelty(&self, terms: &[u64], frequencies: &Frequencies) -> i64 {
        let (mut new, mut all) = (0, 0);
        for term in terms {
            let idf = frequencies.idf(*term);
            all += idf;
            new += if self.0.contains(term) { 0 } else { idf };
        }
        if all == 0 { 0 } else { new * 256 / all }
    }
}

/// The share of the mass of `asked` that is also in `other`, in 1/256; both sorted.
pub(super) fn shared(asked: &[u64], other: &[u64], frequencies: &Frequencies) -> i64 {
    let all = frequencies.mass(asked);
    let common: i64 = asked.iter().filter(|term| other.binary_search(term).is_ok()).map(|term| frequencies.idf(*term)).sum();
    if all == 0 { 0 } else { common * 256 / all }
}
