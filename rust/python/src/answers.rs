//! Answers to questions: what is asked, the hits, and where their scores come from.

use std::sync::Arc;

use memspan_engine::collection;
use memspan_engine::recall::{self, Filter, HitExplanation, explain::lexical_score, tokens_of, when};
use memspan_engine::scope::Scope;
use memspan_engine::session::sources::{self, Ranked};
use memspan_engine::session::{self, TranscriptHit, TranscriptRequest};
use memspan_engine::units::score::SCORE_ONE;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arguments::{Argument, Conditions, Kinds, Texts, Trust, functions, options};
use crate::errors::{Pace, run};
use crate::time::named_in;
use crate::value::{Moment, Named, Show, Tuple, keeps, shows};
use crate::vectors::Vectors;

fn moment(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    Moment::read(name, value).map(|at| Some(at.0))
}

/// The query to memories.
pub fn question(
    scopes: Vec<Scope>,
    text: String,
    vector: Option<&Py<Vectors>>,
    given: &Bound<'_, PyDict>,
    now: i64,
) -> PyResult<recall::Request> {
    let (filter, vector) = (Filter::all(now), vector.and_then(|vector| vector.get().0.query()));
    let mut request = recall::Request { text, vector, scopes, limit: 0, filter, min_score: 0.0, max_tokens: None };
    let mut asked = when::read(&request.text, now, 0);
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
        timezone => asked = named_in(value, &request.text, now)?;
    }
    request.prefer(asked);
    Ok(request)
}

/// The query to transcripts.
pub fn transcripts(query: &str, given: &Bound<'_, PyDict>, now: i64) -> PyResult<TranscriptRequest> {
    let mut request = TranscriptRequest::new(query, 0, now);
    options! { given of "search_transcripts()" |name, value|
        limit => request.limit = Argument::read(name, value)?;
        where => request.metadata = Conditions::read(name, value)?.0;
        since => request.said.since = moment(name, value)?;
        until => request.said.until = moment(name, value)?;
        timezone => request.preferred = named_in(value, query, now)?;
    }
    Ok(request)
}

/// The query to a collection.
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

/// An answer, with the `Scope` objects of the question, in its order, where memories were asked.
pub struct Found {
    answer: sources::Answer,
    scopes: Option<Py<PyTuple>>,
}

impl Found {
    pub fn new(answer: impl Into<sources::Answer>, scopes: Option<Py<PyTuple>>) -> Arc<Self> {
        Arc::new(Self { answer: answer.into(), scopes })
    }

    fn hit<'py>(self: &Arc<Self>, py: Python<'py>, one: Ranked) -> PyResult<Bound<'py, PyAny>> {
        match one.source {
            sources::Source::Memories => Recalled(Arc::clone(self), one).show(py),
            sources::Source::Transcripts => ScoredMessage(self.answer.transcripts[one.answer][one.place].clone(), one.score).show(py),
            sources::Source::Collections => Passage(Arc::clone(self), one).show(py),
        }
    }

    fn scope<'py>(&self, py: Python<'py>, place: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.scopes.as_ref().map(|scopes| scopes.bind(py).get_item(place)).transpose()
    }
}

/// A message with what it scores.
struct ScoredMessage(TranscriptHit, f64);

/// One hit of a recall.
struct Recalled(Arc<Found>, Ranked);

impl Recalled {
    fn found(&self) -> &recall::Found {
        let memories = self.0.answer.memories.as_ref();
        &memories.expect("a ranked memory is of an answer of memories").found[self.1.place]
    }

    fn text(&self) -> &str {
        &self.found().named.memory.text
    }
}

/// A chunk that answers a question.
struct Passage(Arc<Found>, Ranked);

impl Passage {
    fn hit(&self) -> &collection::Hit {
        &self.0.answer.passages[self.1.answer].hits[self.1.place]
    }
}

/// Work whose time grows with the text.
fn of_text<T: Send>(py: Python<'_>, text: &str, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    run(py, Pace::of_text(text), || Ok(work()))
}

keeps! {
    Arc<Found> as Found |it, py| {
        hits = Tuple(it.answer.order.iter().map(|one| it.hit(py, *one)).collect::<PyResult<_>>()?),
        degraded_reason = it.answer.degraded.as_deref(), mode = it.answer.mode(), confidence = it.answer.confidence()
    }
    Recalled as Recalled |it, py| {
        text = it.text(), memory = Arc::clone(&it.found().named), score = it.1.score, source = it.1.source.name(),
        scope = it.0.scope(py, it.found().scope)?, tokens = of_text(py, it.text(), || tokens_of(it.text()))?,
        explanation = of_text(py, it.text(), || it.0.answer.explain(it.1))?
    }
    Passage as Passage |it, py| {
        document = collection::Document::clone(&it.hit().document), start = it.hit().characters.start, end = it.hit().characters.end,
        text = &*it.hit().text, score = it.1.score, source = it.1.source.name(), heading = Tuple(it.hit().path.clone()),
        tokens = of_text(py, &it.hit().text, || tokens_of(&it.hit().text))?,
        explanation = of_text(py, &it.hit().text, || it.0.answer.explain(it.1))?
    }
}

shows! {
    HitExplanation as Explanation |it| {
        score = it.explanation.parts.score(), parts = Named(it.named), relevance = it.explanation.parts.relevance(),
        time_range = it.explanation.parts.prior.asked.map(|range| (range.since.map(Moment), range.until.map(Moment))),
        time = it.explanation.parts.prior.time, age_days = it.explanation.parts.prior.age_days,
        half_life_days = it.explanation.parts.prior.half_life_days, recency = it.explanation.parts.prior.recency,
        importance = it.explanation.parts.prior.importance, recalls = it.explanation.parts.prior.recalls,
        usage = it.explanation.parts.prior.usage, certainty = it.explanation.parts.prior.certainty,
        raised = it.explanation.parts.raised as f64 / f64::from(SCORE_ONE),
        further = Named(it.explanation.parts.further().map(|(name, weight, value)| (name, (value, weight))).collect()),
        highest_prior = it.explanation.parts.prior.highest, related, duplicates = Tuple(it.duplicates),
        lexical = lexical_score(it.explanation.parts.lexical), lexical_normalised = it.explanation.parts.lexical_normalised,
        lexical_weight = it.explanation.parts.lexical_weight, cosine = it.explanation.parts.cosine(),
        cosine_normalised = it.explanation.parts.dense_normalised, cosine_weight = it.explanation.parts.dense_weight,
        terms = Tuple(it.explanation.terms), length = it.explanation.length, average_length = it.explanation.average_length, table
    }
    ScoredMessage as TranscriptHit |it| {
        session_id = it.0.session_id, message = it.0.message, score = it.1, parts = Tuple(it.0.features.values().to_vec())
    }
    recall::TermScore as TermScore |it| { text, role, weight, frequency, idf, count, score = lexical_score(it.score) }
}

functions! { |py|
    explain_message(score: f64, parts: Vec<f64>) Short =>
        Ok(HitExplanation::of_message(score, session::FEATURES.into_iter().zip(parts).collect()));
}
