//! `TranscriptHit`: what was said and answers a question.

use memspan_engine::recall::tokens_of;
use memspan_engine::recall::when::Range;
use memspan_engine::session;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict};

use crate::arguments::{text_of, whole};
use crate::errors::{Hold, hold_for, run};
use crate::scope::ScopeCore;
use crate::time;
use crate::turn::Message;
use crate::value::{Tuple, value};

value! {
    /// A message that answers a question.
    TranscriptHit("memspan.transcript") { session_id: String, message: Message, score: f64, parts: Tuple<f64> }

    /// "transcripts".
    #[getter]
    fn source(&self) -> &'static str {
        "transcripts"
    }

    /// The message's texts.
    #[getter]
    fn text(&self) -> &str {
        self.message.text()
    }

    /// The message's index in its session.
    #[getter]
    fn index(&self) -> u64 {
        self.message.index()
    }

    /// Whose words they are.
    #[getter]
    fn role(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.message.role(py)
    }

    /// Tokens of the text (`o200k_base`). Counted at each use.
    #[getter]
    fn tokens(&self, py: Python<'_>) -> PyResult<usize> {
        run(py, hold_for(self.text()), || Ok(tokens_of(self.text())))
    }

    /// What the score is made of, each part from 0 to 1, before its weight.
    fn explain<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        session::FEATURES.iter().zip(&self.parts.0).collect::<Vec<_>>().into_py_dict(py)
    }

    /// The same hit with the score that compares it with hits of other sources. Private.
    fn weighed(&self, score: f64) -> Self {
        Self { score, ..self.clone() }
    }
}

/// Messages of a scope's sessions that answer a question, the best first, and how sure the engine is of the best.
#[pyfunction]
pub fn search_transcripts(
    py: Python<'_>,
    scope: &Bound<'_, ScopeCore>,
    query: &Bound<'_, PyAny>,
    limit: &Bound<'_, PyAny>,
    since: Option<&Bound<'_, PyAny>>,
    until: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Vec<TranscriptHit>, f64)> {
    let owner = scope.get();
    let said = Range { since: time::maybe_from_python("since", since)?, until: time::maybe_from_python("until", until)? };
    let (text, limit) = (text_of("query", query)?, whole("limit", limit, 0, 1 << 20)? as usize);
    let request = session::TranscriptRequest { text, limit, now: owner.handle.clock.now(py)?, said };
    let hits = run(py, Hold::Detached, || session::search(owner.handle.engine()?, &owner.scope, &request))?;
    let confidence = hits.first().map_or(0.0, |best| best.confidence);
    let hit = |hit: session::TranscriptHit| TranscriptHit {
        session_id: hit.session_id,
        score: hit.score as f64 / session::TRANSCRIPT_SCORE_ONE as f64,
        parts: hit.features.values().into_iter().collect(),
        message: Message::from(hit.message),
    };
    Ok((hits.into_iter().map(hit).collect(), confidence))
}
