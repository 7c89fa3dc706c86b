//! `Explanation` and `TermScore`: every number of a score, by name.

use memspan_engine::recall::priors::Prior;
use memspan_engine::recall::when::Range;
use memspan_engine::recall::{self, explain::lexical_score};
use pyo3::prelude::*;
use std::collections::BTreeMap;

use crate::time;
use crate::value::{Tuple, shows};

/// Two moments, either of which may be open.
type TimeRange<'py> = (Option<Bound<'py, PyAny>>, Option<Bound<'py, PyAny>>);

/// What one term of the question adds to the score of one memory.
#[pyclass(frozen, eq, module = "memspan")]
#[derive(Debug, Clone, PartialEq)]
pub struct TermScore(recall::TermScore);

shows! {
    TermScore |it| {
        /// The term as the analyzer sees it, at most 256 bytes.
        text: &str = &it.0.text;
        /// What it is in the question: an identifier, a word, a stem, ...
        role: &'static str = it.0.role;
        /// What a match of that role is worth.
        weight: f64 = it.0.weight;
        /// Memories of the scope that have it.
        frequency: u64 = it.0.frequency;
        /// Its inverse document frequency.
        idf: f64 = it.0.idf;
        /// How often this memory has it, at most 255.
        count: u8 = it.0.count;
        /// What it adds to `Explanation.lexical`.
        score: f64 = lexical_score(it.0.score);
    }

    fn __repr__(&self) -> String {
        let term = &self.0;
        format!(
            "TermScore({:?}, role={:?}, weight={:.2}, frequency={}, idf={:.3}, count={}, score={:.3})",
            term.text,
            term.role,
            term.weight,
            term.frequency,
            term.idf,
            term.count,
            self.score()
        )
    }
}

/// Every number of a score; `str()` prints them as a table.
///
/// `relevance = lexical_weight * lexical_normalised + cosine_weight * cosine_normalised` and what each of `further` adds, and `score` is
/// that, multiplied by `time * recency * importance * usage * certainty / highest_prior`, rounded to units of 2**-30. Where no time was asked for and the candidates
/// are facts, every factor is 1.
///
/// Examples:
///     >>> _ = user.remember("payments-api listens on port 8443")
///     >>> why = user.recall("payments-api port")[0].explain()
///     >>> why.lexical_weight, why.cosine > 0.5, [term.text for term in why.terms if term.role == "identifier"]
///     (0.85, True, ['payments-api'])
#[pyclass(frozen, eq, module = "memspan")]
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation(recall::Explanation, Vec<String>, Option<String>);

impl Explanation {
    pub fn new(explanation: recall::Explanation, duplicates: Vec<String>) -> Self {
        Self(explanation, duplicates, None)
    }

    /// The same of a memory that relations led to.
    pub fn related_by(mut self, path: Option<String>) -> Self {
        self.2 = path;
        self
    }

    fn prior(&self) -> Prior {
        self.0.parts.prior
    }
}

shows! {
    Explanation |it| {
        /// The score of the hit, to the bit.
        score: f64 = it.0.parts.score();
        /// What words and vectors give together, before all that follows: 0 to 1.
        relevance: f64 = it.0.parts.relevance();
        /// How near to that time it happened: 1 within it, 0.9 just outside, towards 0.5 far from it.
        time: f64 = it.prior().time;
        /// Days since it happened; 0 in the future.
        age_days: f64 = it.prior().age_days;
        /// Days in which `recency` loses half of what it can lose; `None` for kinds that do not age.
        half_life_days: Option<f64> = it.prior().half_life_days;
        /// 1 for what is new or does not age, towards 0.9 for old events.
        recency: f64 = it.prior().recency;
        /// The factor of its importance: 0.95 to 1.05; 1 for facts and at 0.5.
        importance: f64 = it.prior().importance;
        /// How often it was recalled, as stored; 0 for facts.
        recalls: u32 = it.prior().recalls;
        /// The factor of `recalls`: 1 to 1.03.
        usage: f64 = it.prior().usage;
        /// The factor of the memory's `confidence`: 0.9 to 1.
        certainty: f64 = it.prior().certainty;
        /// What a closer look at a memory adds: by name its value, 0 to 1, and what it weighs. Empty for passages, without vectors, and where
        /// the built-in embedding knows too little of the question.
        further: BTreeMap<&'static str, (f64, f64)> = it.0.parts.further().map(|(name, weight, value)| (name, (value, weight))).collect();
        /// The highest product of time, recency, importance and usage among the candidates.
        highest_prior: f64 = it.prior().highest;
        /// The ids of memories that the answer leaves out because they say the same as this one.
        duplicates: Tuple<String> = Tuple(it.1.clone());
        /// BM25: the sum of the terms' scores.
        lexical: f64 = lexical_score(it.0.parts.lexical);
        /// The same divided by that of the best candidate: 0 to 1.
        lexical_normalised: f64 = it.0.parts.lexical_normalised;
        /// What the words weigh in the score: 0 to 1.
        lexical_weight: f64 = it.0.parts.lexical_weight;
        /// Of the question's vector and the memory's, -1 to 1; `None` where one of them has none.
        cosine: Option<f64> = it.0.parts.cosine();
        /// Its place between the lowest and the highest cosine of the candidates: 0 to 1.
        cosine_normalised: f64 = it.0.parts.dense_normalised;
        /// What the vectors weigh in the score: 0 to 1.
        cosine_weight: f64 = it.0.parts.dense_weight;
        /// The relations that lead to it from what the question names, in words; `None` where none does.
        related: Option<&str> = it.2.as_deref();
        /// The terms of the question that the memory has.
        terms: Tuple<TermScore> = it.0.terms.iter().cloned().map(TermScore).collect();
        /// Words of the memory.
        length: u32 = it.0.length;
        /// Words of a memory of its scope on average.
        average_length: f64 = it.0.average_length;
    }

    /// The time that the question asks about; `None` where it names none.
    ///
    /// From the first moment to before the second, either of which may be `None`: open. Not read where the caller limits the time.
    #[getter]
    fn time_range<'py>(&self, py: Python<'py>) -> PyResult<Option<TimeRange<'py>>> {
        let sides = |range: Range| Ok((time::maybe_to_python(py, range.since)?, time::maybe_to_python(py, range.until)?));
        self.prior().asked.map(sides).transpose()
    }

    fn __str__(&self) -> String {
        self.0.table(&self.1, self.2.as_deref())
    }

    fn __repr__(&self) -> String {
        let cosine = self.cosine().map_or_else(|| "None".to_owned(), |cosine| format!("{cosine:.3}"));
        format!("Explanation(score={:.3}, lexical={:.3}, cosine={cosine}, terms={})", self.score(), self.lexical(), self.0.terms.len())
    }
}
