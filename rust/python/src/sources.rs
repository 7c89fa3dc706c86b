//! `SourcesCore`: an answer of several sources, in one order.

use std::sync::Arc;

use memspan_engine::recall::{self, Fusion};
use memspan_engine::session::sources::{self, Answer, Request, Source, ask};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arguments::{FilterArguments, number, text_of, whole};
use crate::collection::Passage;
use crate::errors::{Hold, run};
use crate::recall::Recall;
use crate::scope::ScopeCore;
use crate::time;
use crate::transcripts::TranscriptHit;
use crate::vectors::Vectors;

/// What several sources answered: their hits in one order, and what is known of them. Private.
#[pyclass(frozen, get_all, module = "memspan._core")]
#[derive(Debug)]
pub struct SourcesCore {
    hits: Py<PyTuple>,
    confidence: f64,
    degraded_reason: Option<String>,
    mode: &'static str,
}

/// The hits of all answers, in their order. The answer to memories belongs to `scopes`.
fn hits<'py>(py: Python<'py>, answer: Answer, scopes: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyTuple>> {
    let memories = answer.memories.map(|answer| Recall::new(answer, scopes.clone().unbind()));
    let passages: Vec<_> = answer.passages.into_iter().map(Arc::new).collect();
    let one = |hit: &sources::Ranked| -> PyResult<Bound<'py, PyAny>> {
        Ok(match hit.source {
            Source::Memories => memories.as_ref().map(|answer| answer.weighed(hit.place, hit.score)).into_bound_py_any(py)?,
            Source::Transcripts => {
                let said = TranscriptHit::from(answer.transcripts[hit.answer][hit.place].clone());
                TranscriptHit { score: hit.score, ..said }.into_bound_py_any(py)?
            }
            Source::Collections => Passage::among(&passages[hit.answer], hit.place, hit.score).into_bound_py_any(py)?,
        })
    };
    PyTuple::new(py, answer.order.iter().map(one).collect::<PyResult<Vec<_>>>()?)
}

/// Asks several sources one question.
#[pyfunction]
#[pyo3(signature = (scope, scopes, query, limit, asked, conditions, since, until, min_score, max_tokens, relevant_only, zone, vector, degraded))]
pub fn search_sources<'py>(
    py: Python<'py>,
    scope: &Bound<'py, ScopeCore>,
    scopes: &Bound<'py, PyTuple>,
    query: &Bound<'py, PyAny>,
    limit: &Bound<'py, PyAny>,
    asked: Vec<u8>,
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
    let request = Request { question, sources: asked.into_iter().filter_map(source_of).collect(), embedder_failed: degraded };
    let mut answer = run(py, Hold::Detached, || ask(owner.handle.engine()?, &request))?;
    Ok(SourcesCore {
        confidence: answer.confidence,
        degraded_reason: answer.degraded.take(),
        mode: if answer.hybrid { "hybrid" } else { "lexical" },
        hits: hits(py, answer, scopes)?.unbind(),
    })
}

fn source_of(number: u8) -> Option<Source> {
    [Source::Memories, Source::Transcripts, Source::Collections].get(usize::from(number)).copied()
}
