//! `SourcesCore`: an answer of several sources, in one order.

use std::sync::{Mutex, PoisonError};

use memspan_engine::recall::{self, Fusion};
use memspan_engine::session::sources::{Answer, Request, Source, ask};
use memspan_engine::session::{TRANSCRIPT_SCORE_ONE, TranscriptHit};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::arguments::{FilterArguments, number, text_of, whole};
use crate::collection::SearchCore;
use crate::errors::{Hold, run};
use crate::recall::Recall;
use crate::scope::ScopeCore;
use crate::time;
use crate::turn::Message;
use crate::vectors::Vectors;

/// A hit among the answers: source (0 memories, 1 transcripts, 2 collections), answer, place, score.
type Place = (u8, usize, usize, f64);

/// What several sources answered, and the order of all hits.
#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct SourcesCore {
    #[pyo3(get)]
    memories: Option<Py<Recall>>,
    /// Of each scope.
    transcripts: Mutex<Vec<Vec<TranscriptHit>>>,
    /// Of each collection.
    #[pyo3(get)]
    passages: Vec<Py<SearchCore>>,
    #[pyo3(get)]
    order: Vec<Place>,
    #[pyo3(get)]
    confidence: f64,
    #[pyo3(get)]
    degraded_reason: Option<String>,
    hybrid: bool,
}

#[pymethods]
impl SourcesCore {
    #[getter]
    fn mode(&self) -> &'static str {
        if self.hybrid { "hybrid" } else { "lexical" }
    }

    /// A message that was found: session, message, score, what the score is made of.
    fn transcript<'py>(&self, py: Python<'py>, answer: usize, place: usize) -> PyResult<Bound<'py, PyTuple>> {
        let hit = self.transcripts.lock().unwrap_or_else(PoisonError::into_inner)[answer][place].clone();
        let (score, parts) = (hit.score as f64 / TRANSCRIPT_SCORE_ONE as f64, PyList::new(py, hit.features.values())?);
        (hit.session_id, Message::from(hit.message), score, parts).into_pyobject(py)
    }
}

/// Asks several sources one question.
#[pyfunction]
#[pyo3(signature = (scope, scopes, query, limit, sources, conditions, since, until, min_score, max_tokens, relevant_only, zone, vector, degraded))]
#[allow(clippy::too_many_arguments)] // those of `search()`, one by one
pub fn search_sources<'py>(
    py: Python<'py>,
    scope: &Bound<'py, ScopeCore>,
    scopes: &Bound<'py, PyTuple>,
    query: &Bound<'py, PyAny>,
    limit: &Bound<'py, PyAny>,
    sources: Vec<u8>,
    conditions: Option<&Bound<'py, PyAny>>,
    since: Option<&Bound<'py, PyAny>>,
    until: Option<&Bound<'py, PyAny>>,
    min_score: Option<&Bound<'py, PyAny>>,
    max_tokens: Option<&Bound<'py, PyAny>>,
    relevant_only: bool,
    zone: Option<&Bound<'py, PyAny>>,
    vector: Option<&Bound<'py, Vectors>>,
    degraded: Option<String>,
) -> PyResult<SourcesCore> {
    let owner = scope.get();
    let now = owner.handle.clock.now(py)?;
    let (kinds, valid_at, known_at, min_trust) = (None, None, None, None);
    let filter = FilterArguments { kinds, conditions, since, until, valid_at, known_at, min_trust, relevant_only }.filter(now)?;
    let mut question = recall::Request {
        text: text_of("query", query)?,
        vector: vector.and_then(|vector| vector.get().query()),
        scopes: owner.searched(scopes)?,
        limit: whole("limit", limit, 0, 1 << 20)? as usize,
        filter,
        fusion: Fusion::default(),
        min_score: min_score.map_or(Ok(0.0), |value| number("min_score", value))?,
        max_tokens: max_tokens.map(|value| whole("max_tokens", value, 0, i64::MAX)).transpose()?.map(|value| value as usize),
    };
    match zone {
        None => question.read_time_in_utc(),
        Some(zone) => question.read_time(|now| time::to_local(now, zone), |local| time::from_local(local, zone))?,
    }
    let request = Request { question, sources: sources.into_iter().filter_map(source_of).collect(), embedder_failed: degraded };
    let Answer { memories, transcripts, passages, order, confidence, degraded, hybrid } =
        run(py, Hold::Detached, || ask(owner.handle.engine()?, &request))?;
    Ok(SourcesCore {
        memories: memories.map(|answer| Py::new(py, Recall::new(answer, scopes.clone().unbind()))).transpose()?,
        transcripts: Mutex::new(transcripts),
        passages: passages.into_iter().map(|found| Py::new(py, SearchCore::from(found))).collect::<PyResult<_>>()?,
        order: order.iter().map(|one| (one.source as u8, one.answer, one.place, one.score)).collect(),
        confidence,
        degraded_reason: degraded,
        hybrid,
    })
}

fn source_of(number: u8) -> Option<Source> {
    [Source::Memories, Source::Transcripts, Source::Collections].get(usize::from(number)).copied()
}
