//! Answers to questions: what is asked, the hits, and where their scores come from.

use std::sync::Arc;

use memspan_engine::collection;
use memspan_engine::recall::{self, Filter, Fusion, explain::lexical_score, tokens_of};
use memspan_engine::scope::Scope;
use memspan_engine::session::{self, TranscriptHit, TranscriptRequest, sources};
use memspan_engine::units::score::SCORE_ONE;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arguments::{Argument, Conditions, Kinds, Texts, Trust, functions, options};
use crate::errors::{Pace, run};
use crate::time;
use crate::value::{Moment, Named, Show, Tuple, keeps, shows};
use crate::vectors::Vectors;

fn moment(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    Moment::read(name, value).map(|at| Some(at.0))
}

/// What is asked of memories.
pub fn question(
    scopes: Vec<Scope>,
    text: String,
    vector: Option<&Py<Vectors>>,
    given: &Bound<'_, PyDict>,
    now: i64,
) -> PyResult<recall::Request> {
    let (filter, vector) = (Filter::all(now), vector.and_then(|vector| vector.get().0.query()));
    let mut request =
        recall::Request { text, vector, scopes, limit: 0, filter, fusion: Fusion::default(), min_score: 0.0, max_tokens: None };
    let mut zone = None;
    options! { given of "recall()" |name, value|
        limit => request.limit = Argument::read(name, value)?;
        kinds => request.filter.kinds = Kinds::read(name, value)?.0;
        where => request.filter.metadata = Conditions::read(name, value)?.0;
        since => request.filter.since = moment(name, value)?;
        until => request.filter.until = moment(name, value)?;
        valid_at => request.filter.valid_at = moment(name, value)?;
        known_at => request.filter.known_at = moment(name, value)?;
        min_trust => request.filter.min_trust = Trust::read(name, value)?.0;
        relevant_only => request.filter.relevant_only = Argument::read(name, value)?;
        min_score => request.min_score = Argument::read(name, value)?;
        max_tokens => request.max_tokens = Some(Argument::read(name, value)?);
        timezone => zone = Some(value.clone());
    }
    match zone {
        None => request.read_time_in_utc(),
        Some(zone) => request.read_time(|now| time::to_local(now, &zone), |local| time::from_local(local, &zone))?,
    }
    Ok(request)
}

/// What is asked of transcripts.
pub fn transcripts(query: &str, given: &Bound<'_, PyDict>, now: i64) -> PyResult<TranscriptRequest> {
    let mut request = TranscriptRequest::new(query, 0, now);
    options! { given of "search_transcripts()" |name, value|
        limit => request.limit = Argument::read(name, value)?;
        where => request.metadata = Conditions::read(name, value)?.0;
        since => request.said.since = moment(name, value)?;
        until => request.said.until = moment(name, value)?;
    }
    Ok(request)
}

/// What is asked of a collection.
pub fn passages(name: &collection::CollectionName, query: String, given: &Bound<'_, PyDict>, now: i64) -> PyResult<collection::Request> {
    let mut request = collection::Request::new(query, vec![name.clone()], 0, now);
    options! { given of "search()" |name, value|
        limit => request.limit = Argument::read(name, value)?;
        where => request.metadata = Conditions::read(name, value)?.0;
        since => request.updated.since = moment(name, value)?;
        until => request.updated.until = moment(name, value)?;
        documents => request.documents = Some(Texts::read(name, value)?.0);
        min_score => request.min_score = Argument::read(name, value)?;
        relevant_only => request.relevant_only = Argument::read(name, value)?;
    }
    Ok(request)
}

/// Hits that are made when they are looked at.
type Hits = Box<dyn Fn(Python<'_>) -> PyResult<Bound<'_, PyAny>> + Send + Sync>;

fn later(make: impl Fn(Python<'_>) -> PyResult<Bound<'_, PyAny>> + Send + Sync + 'static) -> Hits {
    Box::new(make)
}

/// What is known of an answer besides its hits, and the hits.
pub struct Found {
    hits: Hits,
    degraded: Option<String>,
    hybrid: bool,
    confidence: Box<dyn Fn() -> f64 + Send + Sync>,
}

impl Found {
    /// An answer of memories, which belong to `scopes`: the `Scope` objects of the question, in its order.
    pub fn of_memories(answer: recall::Answer, scopes: Py<PyTuple>) -> Self {
        let (degraded, hybrid) = (answer.degraded.clone(), answer.hybrid);
        let answer = Arc::new(Answered { answer, scopes });
        let whole = Arc::clone(&answer);
        let hits = later(move |py| {
            let hit = |place| Recalled { answer: Arc::clone(&answer), place, weighed: None };
            Tuple((0..answer.answer.found.len()).map(hit).collect()).show(py)
        });
        Self { hits, degraded, hybrid, confidence: Box::new(move || whole.answer.confidence()) }
    }

    pub fn of_transcripts(found: Vec<TranscriptHit>) -> Self {
        let confidence = found.first().map_or(0.0, |best| best.confidence);
        let score = |hit: &TranscriptHit| hit.score as f64 / session::TRANSCRIPT_SCORE_ONE as f64;
        let hits = later(move |py| Tuple(found.iter().map(|hit| Said(hit.clone(), score(hit))).collect()).show(py));
        Self { hits, degraded: None, hybrid: true, confidence: Box::new(move || confidence) }
    }

    pub fn of_passages(found: collection::Search) -> Self {
        let (degraded, hybrid) = (found.degraded.clone(), found.hybrid);
        let found = Arc::new(found);
        let whole = Arc::clone(&found);
        let hits = later(move |py| {
            let hit = |rank| Passage { found: Arc::clone(&found), rank, weighed: None };
            Tuple((0..found.hits.len()).map(hit).collect()).show(py)
        });
        Self { hits, degraded, hybrid, confidence: Box::new(move || whole.confidence()) }
    }

    /// An answer of several sources, in one order.
    pub fn of_sources(answer: sources::Answer, scopes: Py<PyTuple>) -> Self {
        let sources::Answer { order, memories, transcripts, passages, degraded, hybrid, confidence, .. } = answer;
        let memories = memories.map(|answer| Arc::new(Answered { answer, scopes }));
        let passages: Vec<_> = passages.into_iter().map(Arc::new).collect();
        let hits = later(move |py| {
            let one = |hit: &sources::Ranked| match hit.source {
                sources::Source::Memories => {
                    let of = |answer| Recalled { answer: Arc::clone(answer), place: hit.place, weighed: Some(hit.score) };
                    memories.as_ref().map(of).show(py)
                }
                sources::Source::Transcripts => Said(transcripts[hit.answer][hit.place].clone(), hit.score).show(py),
                sources::Source::Collections => {
                    Passage { found: Arc::clone(&passages[hit.answer]), rank: hit.place, weighed: Some(hit.score) }.show(py)
                }
            };
            Ok(PyTuple::new(py, order.iter().map(one).collect::<PyResult<Vec<_>>>()?)?.into_any())
        });
        Self { hits, degraded, hybrid, confidence: Box::new(move || confidence) }
    }
}

/// A message with what it scores.
struct Said(TranscriptHit, f64);

/// An answer with the `Scope` objects of the question.
struct Answered {
    answer: recall::Answer,
    scopes: Py<PyTuple>,
}

/// One hit of a recall, and what it scores beside hits of other sources.
struct Recalled {
    answer: Arc<Answered>,
    place: usize,
    weighed: Option<f64>,
}

impl Recalled {
    fn found(&self) -> &recall::Found {
        &self.answer.answer.found[self.place]
    }

    fn text(&self) -> &str {
        &self.found().named.memory.text
    }

    fn why(&self) -> Why {
        let (found, query) = (self.found(), &self.answer.answer.queries[self.found().scope]);
        Why::new(query.explain(found.parts, self.text()), found.duplicates.clone(), found.related.clone())
    }
}

/// A chunk that answers a question, and what it scores beside hits of other sources.
struct Passage {
    found: Arc<collection::Search>,
    rank: usize,
    weighed: Option<f64>,
}

impl Passage {
    fn hit(&self) -> &collection::Hit {
        &self.found.hits[self.rank]
    }

    fn why(&self) -> Why {
        let hit = self.hit();
        Why::new(self.found.queries[hit.collection].explain(hit.parts, &hit.indexed()), Vec::new(), None)
    }
}

/// What takes as long as the text is.
fn of_text<T: Send>(py: Python<'_>, text: &str, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    run(py, Pace::of_text(text), || Ok(work()))
}

keeps! {
    Found as Found |it, py| {
        hits = (it.hits)(py)?, degraded_reason = it.degraded.as_deref(), mode = if it.hybrid { "hybrid" } else { "lexical" },
        confidence = (it.confidence)()
    }
    Recalled as Recalled |it, py| {
        text = it.text(), memory = Arc::clone(&it.found().named), score = it.weighed.unwrap_or_else(|| it.found().parts.score()),
        source = "memories", scope = it.answer.scopes.bind(py).get_item(it.found().scope)?,
        tokens = of_text(py, it.text(), || tokens_of(it.text()))?, explanation = of_text(py, it.text(), || it.why())?
    }
    Passage as Passage |it, py| {
        document = collection::Document::clone(&it.hit().document), start = it.hit().characters.start, end = it.hit().characters.end,
        text = &*it.hit().text, score = it.weighed.unwrap_or(it.hit().score), source = "collections", heading = Tuple(it.hit().path.clone()),
        tokens = of_text(py, &it.hit().text, || tokens_of(&it.hit().text))?, explanation = of_text(py, &it.hit().text, || it.why())?
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

functions! { |py|
    explain_message(score: f64, parts: Vec<f64>) Short => {
        let named: Vec<_> = session::FEATURES.iter().copied().zip(parts).collect();
        let explained = recall::Explanation::of_message(score, &named);
        let table = recall::Explanation::table_of_message(explained.parts.score(), &named);
        Ok(Why { explained, named, duplicates: Vec::new(), related: None, table })
    };
}
