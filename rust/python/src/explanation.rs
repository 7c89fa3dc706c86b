//! `Explanation` and `TermScore`: every number of a score, by name.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use memspan_engine::recall::fusion::Parts;
use memspan_engine::recall::priors::Prior;
use memspan_engine::recall::when::Range;
use memspan_engine::recall::{self, explain::lexical_score};
use memspan_engine::units::score::SCORE_ONE;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

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
/// Of a message (`Scope.search_transcripts`) `parts` has every number, `cosine` is that of its meaning, and what is told of words, age and
/// use besides is 0, 1 or empty. Of a memory or a passage:
///
/// `relevance = lexical_weight * lexical_normalised + cosine_weight * cosine_normalised` and what each of `further` adds, and `score` is
/// that, multiplied by `time * recency * importance * usage * certainty / highest_prior` and `raised`, rounded to units of 2**-30. Where
/// no time was asked for and the candidates are facts, every factor is 1.
///
/// Examples:
///     >>> _ = user.remember("payments-api listens on port 8443")
///     >>> why = user.recall("payments-api port")[0].explain()
///     >>> why.lexical_weight, why.cosine > 0.5, [term.text for term in why.terms if term.role == "identifier"]
///     (0.85, True, ['payments-api'])
#[pyclass(frozen, eq, module = "memspan")]
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation(recall::Explanation, Vec<String>, Vec<(&'static str, f64)>, Option<String>);

impl Explanation {
    pub fn new(explanation: recall::Explanation, duplicates: Vec<String>) -> Self {
        let (parts, prior) = (&explanation.parts, explanation.parts.prior);
        let mut named = vec![("words", parts.lexical_normalised), ("meaning", parts.dense_normalised)];
        named.extend(parts.further().map(|(name, _, value)| (name, value)));
        named.extend([("time", prior.time), ("recency", prior.recency), ("importance", prior.importance)]);
        named.extend([("usage", prior.usage), ("certainty", prior.certainty)]);
        Self(explanation, duplicates, named, None)
    }

    /// The same of a memory that relations led to.
    pub fn related_by(mut self, path: Option<String>) -> Self {
        self.3 = path;
        self
    }

    /// That of a message, whose score is made of these.
    pub fn of_message(score: f64, named: Vec<(&'static str, f64)>) -> Self {
        let value = |name: &str| named.iter().find(|(own, _)| *own == name).map_or(0.0, |(_, value)| *value);
        let fixed = |value: f64| (value * SCORE_ONE as f64) as i64;
        let parts = Parts {
            lexical_normalised: value("words"),
            dense: Some(fixed(value("meaning")) as i32),
            dense_normalised: value("meaning"),
            fixed: fixed(score),
            ..Parts::default()
        };
        Self(recall::Explanation { terms: Vec::new(), length: 0, average_length: 0.0, parts }, Vec::new(), named, None)
    }

    /// Whether it is that of a message: no weights of words and vectors are told of one.
    fn is_of_message(&self) -> bool {
        self.0.parts.lexical_weight + self.0.parts.dense_weight == 0.0
    }

    /// The parts of a message's score as a table.
    fn named_table(&self) -> String {
        self.2.iter().filter(|(_, value)| *value != 0.0).fold(format!("score {:.3}", self.score()), |mut table, (name, value)| {
            let _ = write!(table, "\n  {name:<18} {value:.3}");
            table
        })
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
        /// What the score was raised by, because the memory says something newer of what a better one says; mostly 0.
        raised: f64 = it.0.parts.raised as f64 / f64::from(SCORE_ONE);
        /// What a closer look at a memory adds: by name its value and what it weighs. Empty for passages, without vectors, and where
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
        related: Option<&str> = it.3.as_deref();
        /// The terms of the question that the memory has.
        terms: Tuple<TermScore> = it.0.terms.iter().cloned().map(TermScore).collect();
        /// Words of the memory.
        length: u32 = it.0.length;
        /// Words of a memory of its scope on average.
        average_length: f64 = it.0.average_length;
    }

    /// What the score is made of, by name, each before its weight: of a memory or a passage "words", "meaning", those
    /// of `further`, "time", "recency", "importance", "usage" and "certainty"; of a message what `TranscriptHit.explain` says.
    #[getter]
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.2.clone().into_py_dict(py)
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
        if self.is_of_message() { self.named_table() } else { self.0.table(&self.1, self.3.as_deref()) }
    }

    fn __repr__(&self) -> String {
        let cosine = self.cosine().map_or_else(|| "None".to_owned(), |cosine| format!("{cosine:.3}"));
        format!("Explanation(score={:.3}, lexical={:.3}, cosine={cosine}, terms={})", self.score(), self.lexical(), self.0.terms.len())
    }
}
