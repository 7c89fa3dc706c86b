//! Answers to questions: what is asked, the hits, and where their scores come from.

use std::sync::{Arc, OnceLock};

use memspan_engine::collection;
use memspan_engine::recall::filter::ALL_KINDS;
use memspan_engine::recall::when::Range;
use memspan_engine::recall::{self, Filter, Fusion, explain::lexical_score, tokens_of};
use memspan_engine::scope::Scope;
use memspan_engine::session::{self, TranscriptHit, sources};
use memspan_engine::units::score::SCORE_ONE;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arguments::{self, Argument, Conditions, Kinds, Options, Trust, option};
use crate::errors::{hold_for, run};
use crate::memory::{Memory, shortened};
use crate::time;
use crate::value::{Moment, Named, Show, Tuple, properties, shows};
use crate::vectors::Vectors;

fn time_of(options: Options<'_, '_>, name: &str) -> PyResult<Option<i64>> {
    Ok(option::<Moment>(options, name)?.map(|at| at.0))
}

fn conditions(options: Options<'_, '_>) -> PyResult<Vec<(String, Vec<Vec<u8>>)>> {
    Ok(option::<Conditions>(options, "where")?.unwrap_or_default().0)
}

fn range(options: Options<'_, '_>) -> PyResult<Range> {
    Ok(Range { since: time_of(options, "since")?, until: time_of(options, "until")? })
}

/// What is asked of memories.
pub fn question(
    scopes: Vec<Scope>,
    query: &Bound<'_, PyAny>,
    vector: Option<&Bound<'_, Vectors>>,
    options: Options<'_, '_>,
    now: i64,
) -> PyResult<recall::Request> {
    let Range { since, until } = range(options)?;
    let filter = Filter {
        kinds: option::<Kinds>(options, "kinds")?.map_or(ALL_KINDS, |kinds| kinds.0),
        metadata: conditions(options)?,
        since,
        until,
        valid_at: time_of(options, "valid_at")?,
        known_at: time_of(options, "known_at")?,
        min_trust: option::<Trust>(options, "min_trust")?.map_or(0, |trust| trust.0),
        relevant_only: option(options, "relevant_only")?.unwrap_or_default(),
        ..Filter::all(now)
    };
    let mut request = recall::Request {
        text: String::read("query", query)?,
        vector: vector.and_then(|vector| vector.get().query()),
        scopes,
        limit: option(options, "limit")?.unwrap_or_default(),
        filter,
        fusion: Fusion::default(),
        min_score: option(options, "min_score")?.unwrap_or_default(),
        max_tokens: option(options, "max_tokens")?,
    };
    match option::<Bound<'_, PyAny>>(options, "timezone")? {
        None => request.read_time_in_utc(),
        Some(zone) => request.read_time(|now| time::to_local(now, &zone), |local| time::from_local(local, &zone))?,
    }
    Ok(request)
}

/// What is asked of transcripts.
pub fn transcripts(query: &Bound<'_, PyAny>, options: Options<'_, '_>, now: i64) -> PyResult<session::TranscriptRequest> {
    let (said, metadata) = (range(options)?, conditions(options)?);
    let limit = option(options, "limit")?.unwrap_or_default();
    Ok(session::TranscriptRequest { said, metadata, ..session::TranscriptRequest::new(&String::read("query", query)?, limit, now) })
}

/// What is asked of collections.
pub fn passages(
    name: &collection::CollectionName,
    query: &Bound<'_, PyAny>,
    vector: Option<&Bound<'_, Vectors>>,
    degraded: Option<String>,
    options: Options<'_, '_>,
    now: i64,
) -> PyResult<collection::Request> {
    let limit = option(options, "limit")?.unwrap_or_default();
    Ok(collection::Request {
        metadata: conditions(options)?,
        updated: range(options)?,
        documents: option::<arguments::Texts>(options, "documents")?.map(|texts| texts.0),
        min_score: option(options, "min_score")?.unwrap_or_default(),
        relevant_only: option(options, "relevant_only")?.unwrap_or_default(),
        vector: vector.and_then(|vector| vector.get().query()),
        embedder_failed: degraded,
        ..collection::Request::new(String::read("query", query)?, vec![name.clone()], limit, now)
    })
}

/// What is known of an answer besides its hits, and the hits. Private.
#[pyclass(frozen, module = "memspan._core")]
pub struct Found {
    hits: Py<PyTuple>,
    degraded: Option<String>,
    hybrid: bool,
    confidence: Box<dyn Fn() -> f64 + Send + Sync>,
}

properties! {
    Found |it| {
        hits: &Py<PyTuple> = &it.hits;
        degraded_reason: Option<&str> = it.degraded.as_deref();
        mode: &'static str = if it.hybrid { "hybrid" } else { "lexical" };
        confidence: f64 = (it.confidence)();
    }
}

impl Found {
    /// An answer of memories, which belong to `scopes`.
    pub fn of_memories(answer: recall::Answer, scopes: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let answer = Arc::new(Answered { answer, scopes: scopes.clone().unbind() });
        let hits = (0..answer.answer.found.len()).map(|place| Recalled::new(&answer, place, None));
        let (degraded, hybrid) = (answer.answer.degraded.clone(), answer.answer.hybrid);
        let hits = PyTuple::new(scopes.py(), hits.collect::<Vec<_>>())?.unbind();
        Ok(Self { hits, degraded, hybrid, confidence: Box::new(move || answer.answer.confidence()) })
    }

    pub fn of_transcripts(py: Python<'_>, found: Vec<TranscriptHit>) -> PyResult<Self> {
        let confidence = found.first().map_or(0.0, |best| best.confidence);
        let hits = Tuple(found.into_iter().map(Said::of).collect()).show(py)?.cast_into::<PyTuple>()?.unbind();
        Ok(Self { hits, degraded: None, hybrid: true, confidence: Box::new(move || confidence) })
    }

    pub fn of_passages(py: Python<'_>, found: collection::Search) -> PyResult<Self> {
        let found = Arc::new(found);
        let hits = (0..found.hits.len()).map(|rank| Passage { found: Arc::clone(&found), rank, weighed: None });
        let hits = PyTuple::new(py, hits.collect::<Vec<_>>())?.unbind();
        Ok(Self { hits, degraded: found.degraded.clone(), hybrid: found.hybrid, confidence: Box::new(move || found.confidence()) })
    }

    /// An answer of several sources, in one order.
    pub fn of_sources(answer: sources::Answer, scopes: &Bound<'_, PyTuple>) -> PyResult<Self> {
        let py = scopes.py();
        let memories = answer.memories.map(|answer| Arc::new(Answered { answer, scopes: scopes.clone().unbind() }));
        let passages: Vec<_> = answer.passages.into_iter().map(Arc::new).collect();
        let one = |hit: &sources::Ranked| match hit.source {
            sources::Source::Memories => {
                memories.as_ref().map(|answer| Recalled::new(answer, hit.place, Some(hit.score))).into_bound_py_any(py)
            }
            sources::Source::Transcripts => Said(answer.transcripts[hit.answer][hit.place].clone(), hit.score).show(py),
            sources::Source::Collections => {
                Passage { found: Arc::clone(&passages[hit.answer]), rank: hit.place, weighed: Some(hit.score) }.into_bound_py_any(py)
            }
        };
        let hits = PyTuple::new(py, answer.order.iter().map(one).collect::<PyResult<Vec<_>>>()?)?.unbind();
        let confidence = answer.confidence;
        Ok(Self { hits, degraded: answer.degraded, hybrid: answer.hybrid, confidence: Box::new(move || confidence) })
    }
}

/// A message with what it scores.
struct Said(TranscriptHit, f64);

impl Said {
    fn of(hit: TranscriptHit) -> Self {
        let score = hit.score as f64 / session::TRANSCRIPT_SCORE_ONE as f64;
        Self(hit, score)
    }
}

/// An answer with the `Scope` objects of the question, in its order.
#[derive(Debug)]
struct Answered {
    answer: recall::Answer,
    scopes: Py<PyTuple>,
}

/// One hit of a recall.
#[pyclass(frozen, eq, module = "memspan")]
#[derive(Debug, Clone)]
pub struct Recalled {
    answer: Arc<Answered>,
    place: usize,
    /// What it scores beside hits of other sources.
    weighed: Option<f64>,
    tokens: OnceLock<usize>,
}

/// The same memory with the same score for the same reasons. How old it was to the microsecond is none: nobody asks twice at once.
impl PartialEq for Recalled {
    fn eq(&self, other: &Self) -> bool {
        let why = |hit: &Self| (hit.found().parts.fixed, hit.found().parts.lexical, hit.found().parts.dense);
        why(self) == why(other) && self.found().named == other.found().named
    }
}

impl Recalled {
    fn new(answer: &Arc<Answered>, place: usize, weighed: Option<f64>) -> Self {
        Self { answer: Arc::clone(answer), place, weighed, tokens: OnceLock::new() }
    }

    fn found(&self) -> &recall::Found {
        &self.answer.answer.found[self.place]
    }
}

properties! {
    Recalled |it| {
        /// The memory's text.
        text: &str = &it.found().named.memory.text;
        /// "memories".
        source: &'static str = "memories";
        /// What was found.
        memory: Memory = Memory(Arc::clone(&it.found().named));
        /// 0 to 1: how it compares with the other answers to this question. Not comparable between questions.
        score: f64 = it.weighed.unwrap_or_else(|| it.found().parts.score());
    }

    /// Tokens of its text, exact for `o200k_base` (GPT-4o and later). Counted on first use.
    #[getter]
    fn tokens(&self, py: Python<'_>) -> PyResult<usize> {
        if let Some(tokens) = self.tokens.get() {
            return Ok(*tokens);
        }
        // Counted before the cell is entered: a thread that held it while it waits for the interpreter would block the others for ever.
        let tokens = run(py, hold_for(self.text()), || Ok(tokens_of(self.text())))?;
        Ok(*self.tokens.get_or_init(|| tokens))
    }

    /// Whose memory it is.
    #[getter]
    fn scope<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.answer.scopes.bind(py).get_item(self.found().scope)
    }

    /// Where the score comes from. Cost: the text is analysed again.
    fn explain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (found, query) = (self.found(), &self.answer.answer.queries[self.found().scope]);
        let why = run(py, hold_for(self.text()), || Ok(query.explain(found.parts, self.text())))?;
        Why::new(why, found.duplicates.clone(), found.related.clone()).show(py)
    }

    fn __hash__(&self) -> u64 {
        self.found().parts.fixed as u64 ^ u64::from(self.found().named.memory.number)
    }

    fn __repr__(&self) -> String {
        format!("Recalled({:.3}, {:?}, id={:?})", self.score(), shortened(self.text()), self.found().named.id)
    }
}

/// A chunk that answers a question, with its citation: `document text[start:end] == passage.text`.
#[pyclass(frozen, eq, module = "memspan.collection")]
#[derive(Debug, Clone)]
pub struct Passage {
    found: Arc<collection::Search>,
    rank: usize,
    /// What it scores beside hits of other sources.
    weighed: Option<f64>,
}

impl Passage {
    fn hit(&self) -> &collection::Hit {
        &self.found.hits[self.rank]
    }
}

impl PartialEq for Passage {
    fn eq(&self, other: &Self) -> bool {
        let same = |one: &Self| (one.hit().characters.clone(), one.score().to_bits());
        same(self) == same(other) && self.hit().document == other.hit().document && self.hit().text == other.hit().text
    }
}

properties! {
    Passage |it| {
        /// Where it begins in the document's text, in characters as Python counts them.
        start: usize = it.hit().characters.start;
        /// Where it ends, exclusive.
        end: usize = it.hit().characters.end;
        /// `start` and `end`.
        span: (usize, usize) = (it.start(), it.end());
        /// The document's text from `start` to `end`.
        text: &str = &it.hit().text;
        /// 0 to 1: how it compares with the other hits of the answer. Not comparable between questions.
        score: f64 = it.weighed.unwrap_or(it.hit().score);
        /// "collections".
        source: &'static str = "collections";
    }

    /// The document it is part of: id, version, source, metadata.
    #[getter]
    fn document<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        collection::Document::clone(&self.hit().document).show(py)
    }

    /// The headings above it, outermost first; for code the lines that open the enclosing blocks.
    #[getter]
    fn heading<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.hit().path.iter())
    }

    /// Tokens of its text, exact for `o200k_base` (GPT-4o and later). Counted at each use.
    #[getter]
    fn tokens(&self, py: Python<'_>) -> PyResult<usize> {
        run(py, hold_for(self.text()), || Ok(tokens_of(self.text())))
    }

    /// Where the score comes from. Cost: the text is analysed again.
    fn explain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (hit, query) = (self.hit(), &self.found.queries[self.hit().collection]);
        let why = run(py, hold_for(&hit.text), || Ok(query.explain(hit.parts, &hit.indexed())))?;
        Why::new(why, Vec::new(), None).show(py)
    }

    fn __hash__(&self) -> u64 {
        (self.start() as u64) ^ ((self.end() as u64) << 32) ^ self.score().to_bits()
    }

    fn __repr__(&self) -> String {
        let (hit, text) = (self.hit(), shortened(self.text()));
        format!("Passage({:.3}, {text:?}, document={:?}, span=({}, {}))", self.score(), hit.document.id, self.start(), self.end())
    }
}

/// Every number of a score, with what an answer says of the hit besides.
struct Why {
    explained: recall::Explanation,
    named: Vec<(&'static str, f64)>,
    duplicates: Vec<String>,
    related: Option<String>,
    table: String,
}

impl Why {
    fn new(explained: recall::Explanation, duplicates: Vec<String>, related: Option<String>) -> Self {
        let (named, table) = (explained.named(), explained.table(&duplicates, related.as_deref()));
        Self { explained, named, duplicates, related, table }
    }
}

shows! {
    Why as Explanation |it| {
        score = it.explained.parts.score(), parts = Named(it.named), relevance = it.explained.parts.relevance(),
        time_range = it.explained.parts.prior.asked.map(|range| (range.since.map(Moment), range.until.map(Moment))),
        time = it.explained.parts.prior.time, age_days = it.explained.parts.prior.age_days,
        half_life_days = it.explained.parts.prior.half_life_days, recency = it.explained.parts.prior.recency,
        importance = it.explained.parts.prior.importance, recalls = it.explained.parts.prior.recalls,
        usage = it.explained.parts.prior.usage, certainty = it.explained.parts.prior.certainty,
        raised = it.explained.parts.raised as f64 / f64::from(SCORE_ONE),
        further = Named(it.explained.parts.further().map(|(name, weight, value)| (name, (value, weight))).collect()),
        highest_prior = it.explained.parts.prior.highest, related, duplicates = Tuple(it.duplicates),
        lexical = lexical_score(it.explained.parts.lexical), lexical_normalised = it.explained.parts.lexical_normalised,
        lexical_weight = it.explained.parts.lexical_weight, cosine = it.explained.parts.cosine(),
        cosine_normalised = it.explained.parts.dense_normalised, cosine_weight = it.explained.parts.dense_weight,
        terms = Tuple(it.explained.terms), length = it.explained.length, average_length = it.explained.average_length, table
    }
    Said as TranscriptHit |it| { session_id = it.0.session_id, message = it.0.message, score = it.1, parts = Tuple(it.0.features.values().to_vec()) }
    recall::TermScore as TermScore |it| { text, role, weight, frequency, idf, count, score = lexical_score(it.score) }
}

/// What the score of a message is made of.
#[pyfunction]
pub fn explain_message(py: Python<'_>, score: f64, parts: Vec<f64>) -> PyResult<Bound<'_, PyAny>> {
    let named: Vec<_> = session::FEATURES.iter().copied().zip(parts).collect();
    let explained = recall::Explanation::of_message(score, &named);
    let table = recall::Explanation::table_of_message(explained.parts.score(), &named);
    Why { explained, named, duplicates: Vec::new(), related: None, table }.show(py)
}
