//! An explanation as people read it: the sum, its factors, and a line for each term.

use std::fmt::Write as _;

use super::disputed::LATER;
use super::explain::{Explanation, lexical_score};
use super::fusion::Parts;
use super::when::{self, Range};
use crate::units::score::SCORE_ONE;

/// Every number of a hit's score, with what its answer says of the hit besides.
#[derive(Debug, Clone)]
pub struct HitExplanation {
    /// The numbers.
    pub explanation: Explanation,
    /// The parts of the score, by name, each before its weight.
    pub named: Vec<(&'static str, f64)>,
    /// The ids of memories that were left out because they say the same.
    pub duplicates: Vec<String>,
    /// The relations that led to it, in words.
    pub related: Option<String>,
    /// All of it as a table.
    pub table: String,
}

impl HitExplanation {
    /// The explanation of a memory or a passage, which was found among the scope's memories or the collection's chunks.
    #[must_use]
    pub fn new(explanation: Explanation, among: &str, duplicates: Vec<String>, related: Option<String>) -> Self {
        let (named, table) = (explanation.named(), explanation.table(among, &duplicates, related.as_deref()));
        Self { explanation, named, duplicates, related, table }
    }

    /// The explanation of a message, whose score is made of the `named` parts.
    #[must_use]
    pub fn of_message(score: f64, named: Vec<(&'static str, f64)>) -> Self {
        let explanation = Explanation::of_message(score, &named);
        let table = Explanation::table_of_message(explanation.parts.score(), &named);
        Self { explanation, named, duplicates: Vec::new(), related: None, table }
    }
}

impl Explanation {
    /// The explanation of a message, whose score is made of the `named` parts.
    #[must_use]
    pub fn of_message(score: f64, named: &[(&'static str, f64)]) -> Self {
        let value = |name: &str| named.iter().find(|(own, _)| *own == name).map_or(0.0, |(_, value)| *value);
        let fixed = |value: f64| (value * f64::from(SCORE_ONE)) as i64;
        let parts = Parts {
            lexical_normalised: value("words"),
            dense: Some(fixed(value("meaning")) as i32),
            dense_normalised: value("meaning"),
            fixed: fixed(score),
            ..Parts::default()
        };
        Self { terms: Vec::new(), length: 0, average_length: 0.0, parts }
    }

    /// The parts of the score of a memory or a passage, by name, each before its weight.
    #[must_use]
    pub fn named(&self) -> Vec<(&'static str, f64)> {
        let (parts, prior) = (&self.parts, self.parts.prior);
        let mut named = vec![("words", parts.lexical_normalised), ("meaning", parts.dense_normalised)];
        named.extend(parts.further().map(|(name, _, value)| (name, value)));
        named.extend([("time", prior.time), ("recency", prior.recency), ("importance", prior.importance)]);
        named.extend([("usage", prior.usage), ("certainty", prior.certainty)]);
        named.extend(parts.overview.map(|_| ("overview", 1.0)));
        named
    }

    /// The parts of a message's score as a table.
    #[must_use]
    pub fn table_of_message(score: f64, named: &[(&'static str, f64)]) -> String {
        named.iter().filter(|(_, value)| *value != 0.0).fold(format!("score {score:.3}"), |mut table, (name, value)| {
            let _ = write!(table, "\n  {name:<18} {value:.3}");
            table
        })
    }

    /// Every number of a score as a table. `among`: all that were searched; `same_as`: memories that say the same and are left out;
    /// `related`: the relations that led to it.
    #[must_use]
    pub fn table(&self, among: &str, same_as: &[String], related: Option<&str>) -> String {
        let mut table = format!("score {:.3}", self.parts.score());
        let _ = write!(
            table,
            " = {:.2} x {:.3} words (BM25 {:.3})",
            self.parts.lexical_weight,
            self.parts.lexical_normalised,
            lexical_score(self.parts.lexical)
        );
        if let Some(cosine) = self.parts.cosine() {
            let _ = write!(table, " + {:.2} x {:.3} vector (cosine {cosine:.3})", self.parts.dense_weight, self.parts.dense_normalised);
        }
        for (name, weight, value) in self.parts.further().filter(|(_, weight, value)| weight * value != 0.0) {
            let _ = write!(table, " + {weight:.2} x {value:.3} {}", name.replace('_', " "));
        }
        match related {
            Some(path) if self.parts.related > 0.0 => _ = write!(table, "\n  at least {:.3}: {path}", self.parts.related),
            Some(path) => _ = write!(table, "\n  {path}"),
            None => {}
        }
        let prior = self.parts.prior;
        if prior.product().to_bits() != prior.highest.to_bits() || prior.asked.is_some() || prior.certainty < 1.0 {
            let _ = write!(table, "\n  relevance {:.3}", self.parts.relevance());
            if let Some(range) = prior.asked {
                let _ = write!(table, " x time {:.3} ({})", prior.time, shown(range));
            }
            if let Some(half_life) = prior.half_life_days {
                let _ = write!(table, " x recency {:.3} ({:.1} days old, half-life {half_life})", prior.recency, prior.age_days);
            }
            let _ = write!(table, " x importance {:.3} x use {:.3} ({} recalls)", prior.importance, prior.usage, prior.recalls);
            let _ = write!(table, " x certainty {:.3} / {:.3}, the highest prior", prior.certainty, prior.highest);
        }
        if self.parts.is_raised || self.parts.succeeds && self.parts.raised > 0 {
            let raised = self.parts.raised as f64 / f64::from(SCORE_ONE);
            let why = match related {
                Some(path) if path.starts_with(LATER) => "it is later than what led to it",
                _ if self.parts.succeeds => "it says something newer of what stands before it",
                _ => "it stands before what is older of the same, or of somebody else",
            };
            let _ = write!(table, "\n  raised by {raised:.3}: {why}");
        }
        if !same_as.is_empty() {
            let _ = write!(table, "\n  says the same as {}", same_as.join(", "));
        }
        let width = self.terms.iter().map(|term| term.text.chars().count()).max().unwrap_or(0).min(40);
        for term in &self.terms {
            let text: String = term.text.chars().take(40).collect();
            let _ = write!(
                table,
                "\n  {text:<width$}  {:<18} {:>7.3}  weight {:.2}, idf {:.3} ({} of the {among}), {} here",
                term.role,
                lexical_score(term.score),
                term.weight,
                term.idf,
                term.frequency,
                times(term.count)
            );
        }
        table
    }
}

fn times(count: u8) -> String {
    match count {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}

/// A range by its days in UTC.
fn shown(range: Range) -> String {
    let side = |side: Option<i64>| side.map_or_else(String::new, when::day_of);
    format!("{}..{}", side(range.since), side(range.until))
}
