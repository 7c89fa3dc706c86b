//! The content of a text as numbers: its terms, the weight of each among the texts of this compaction, and the share that is new.
//!
//! Terms are those of [`crate::text`], without the filler of sentences. `weight(t) = 1 + ln(df)`, ten times that for a fact (a word with a
//! digit, or capitalised within a sentence): a conversation is about the names that it says often, and each counts once (concept coverage:
//! Gillick and Favre, "A scalable global model for summarization", 2009). `idf(t) = ln((n + 1) / (df + 1/2))` tells whether two texts are
//! about the same thing. Both are in units of 1/1024, from one pinned logarithm, so that scores are whole numbers and equal everywhere.

use std::collections::{HashMap, HashSet};

use crate::interrupt;
use crate::text::{Analysis, Analyzer, is_filler};

/// Units of a weight of 1.
const ONE: f64 = 1024.0;
/// The weight of a fact, as a multiple of a word's. 5, 8 and 12 keep .83, .84 and .84 of SGD's states in 40 % of the tokens (2026-11-22,
/// dialogues of which none is quoted).
const FACT: i64 = 10;

/// The terms of a text, sorted, each once, and those of them that are facts.
#[derive(Debug, Clone, Default)]
pub(super) struct Terms {
    pub all: Vec<u64>,
    pub facts: Vec<u64>,
}

/// Reads terms.
#[derive(Debug, Default)]
pub(super) struct Reader {
    analyzer: Analyzer,
    analysis: Analysis,
    content: String,
    facts: String,
}

impl Reader {
    /// Every term of a text.
    pub fn every(&mut self, text: &str) -> Vec<u64> {
        interrupt::step();
        self.analyzer.document(text, 0, &mut self.analysis);
        self.analysis.terms.iter().map(|term| term.hash).collect()
    }

    /// The terms that say something.
    pub fn terms(&mut self, text: &str) -> Terms {
        self.sort_out(text);
        let (content, facts) = (std::mem::take(&mut self.content), std::mem::take(&mut self.facts));
        let terms = Terms { all: self.every(&content), facts: if facts.is_empty() { Vec::new() } else { self.every(&facts) } };
        (self.content, self.facts) = (content, facts);
        terms
    }

    fn sort_out(&mut self, text: &str) {
        self.content.clear();
        self.facts.clear();
        let mut begins = true;
        for chunk in text.split_whitespace() {
            let word = chunk.trim_matches(|c: char| !c.is_alphanumeric());
            let ended = chunk.ends_with(['.', '!', '?', ':']);
            if !word.is_empty() && !filler(word) {
                push(&mut self.content, chunk);
                let capital = !begins && word.starts_with(char::is_uppercase);
                if capital || word.chars().any(char::is_numeric) {
                    push(&mut self.facts, chunk);
                }
            }
            begins = ended;
        }
    }
}

fn push(text: &mut String, chunk: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(chunk);
}

/// Whether a word says nothing by itself: those of at most eight letters, folded, without apostrophes.
pub(super) fn filler(word: &str) -> bool {
    let mut folded = [0_u8; 8];
    let mut length = 0;
    for byte in word.bytes().filter(|byte| *byte != b'\'') {
        if length == folded.len() || !byte.is_ascii_alphabetic() {
            return false;
        }
        folded[length] = byte.to_ascii_lowercase();
        length += 1;
    }
    is_filler(&folded[..length])
}

/// In how many texts each term is, and what follows from that. Looked up, never iterated but to fill the tables.
#[derive(Debug, Default)]
pub(super) struct Frequencies {
    texts: u32,
    of: HashMap<u64, u32>,
    facts: HashSet<u64>,
}

impl Frequencies {
    pub fn add(&mut self, terms: &Terms) {
        interrupt::step();
        self.texts += 1;
        for term in &terms.all {
            *self.of.entry(*term).or_default() += 1;
        }
        self.facts.extend(&terms.facts);
    }

    /// The weight of every term.
    pub fn weigh(&self) -> Weights {
        let weigh = |(term, df): (&u64, &u32)| {
            let df = f64::from(*df);
            let weight = ((1.0 + libm::log(df)) * ONE) as i64 * if self.facts.contains(term) { FACT } else { 1 };
            let idf = ((libm::log((f64::from(self.texts) + 1.0) / (df + 0.5)) * ONE) as i64).max(0);
            (*term, (weight, idf))
        };
        Weights(self.of.iter().map(weigh).collect())
    }
}

/// Weight and idf by term.
#[derive(Debug, Default)]
pub(super) struct Weights(HashMap<u64, (i64, i64)>);

impl Weights {
    fn weight(&self, term: u64) -> i64 {
        self.0.get(&term).map_or(0, |known| known.0)
    }

    fn idf(&self, term: u64) -> i64 {
        self.0.get(&term).map_or(0, |known| known.1)
    }

    /// The weight of a text.
    pub fn mass(&self, terms: &[u64]) -> i64 {
        terms.iter().map(|term| self.weight(*term)).sum()
    }

    /// The rarest of some terms: enough of them that a text with none of them [shares](Self::shared) less than `least`, which is above 0.
    pub fn rarest(&self, terms: &[u64], least: i64) -> Vec<u64> {
        let mut rarest = terms.to_vec();
        rarest.sort_by_key(|term| -self.idf(*term));
        let all: i64 = terms.iter().map(|term| self.idf(*term)).sum();
        let mut rest = all;
        let mut has_enough = |term: &u64| {
            let before = rest;
            rest -= self.idf(*term);
            all > 0 && before * 256 >= least * all
        };
        let count = rarest.iter().take_while(|term| has_enough(term)).count();
        rarest.truncate(count);
        rarest
    }

    /// The share of what is rare in `asked` that is also in `other`, in 1/256; both sorted.
    pub fn shared(&self, asked: &[u64], other: &[u64]) -> i64 {
        let (mut all, mut common) = (0, 0);
        for term in asked {
            let idf = self.idf(*term);
            all += idf;
            common += if other.binary_search(term).is_ok() { idf } else { 0 };
        }
        if all == 0 { 0 } else { common * 256 / all }
    }
}

/// Which chosen lines tell that a text is not new.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Beside {
    /// All.
    #[default]
    All,
    /// The lines of its message and of later ones: it revises something, so that older lines do not say it.
    Later,
    /// The lines of its message and of older ones: it is revised, and stays beside the line that does so.
    Older,
    /// None: it stands between two such lines, or both are of one message.
    None,
}

impl Beside {
    /// Both.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, one) | (one, Self::All) => one,
            (one, other) if one == other => one,
            _ => Self::None,
        }
    }
}

/// The terms that were said, each with the first and the last message that said it.
#[derive(Debug, Default)]
pub(super) struct Covered(HashMap<u64, (u64, u64)>);

impl Covered {
    /// Adds terms of a line of these messages, ascending.
    pub fn add(&mut self, terms: &[u64], messages: &[u64]) {
        let (first, last) = (messages.first().copied().unwrap_or(0), messages.last().copied().unwrap_or(0));
        for term in terms {
            let known = self.0.entry(*term).or_insert((first, last));
            *known = (known.0.min(first), known.1.max(last));
        }
    }

    /// The share of the mass of a message's text that is new, in 1/256.
    pub fn novelty(&self, terms: &[u64], (message, beside): (u64, Beside), weights: &Weights) -> i64 {
        interrupt::step();
        let (mut new, mut all) = (0, 0);
        for term in terms {
            let weight = weights.weight(*term);
            all += weight;
            let is_said = self.0.get(term).is_some_and(|(first, last)| match beside {
                Beside::All => true,
                Beside::Later => *last >= message,
                Beside::Older => *first <= message,
                Beside::None => false,
            });
            new += if is_said { 0 } else { weight };
        }
        if all == 0 { 0 } else { new * 256 / all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_the_rarest_terms_shares_less() {
        let mut state = 7_u64;
        let mut next = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % below
        };
        let mut texts = Vec::new();
        for _ in 0..200 {
            let mut all: Vec<u64> = (0..next(9)).map(|_| next(6) * next(6)).collect();
            all.sort_unstable();
            all.dedup();
            texts.push(all);
        }
        let mut frequencies = Frequencies::default();
        for all in &texts {
            frequencies.add(&Terms { all: all.clone(), facts: Vec::new() });
        }
        let weights = frequencies.weigh();
        let (mut near, mut fewer) = (0, 0);
        for asked in &texts {
            for least in [1, 128, 256] {
                let rarest = weights.rarest(asked, least);
                fewer += usize::from(!rarest.is_empty() && rarest.len() < asked.len());
                for other in texts.iter().filter(|other| weights.shared(asked, other) >= least) {
                    near += 1;
                    assert!(rarest.iter().any(|term| other.contains(term)), "{asked:?} {other:?} {least}");
                }
            }
        }
        assert!(near > 1_000 && fewer > 100, "{near} {fewer}");
    }
}
