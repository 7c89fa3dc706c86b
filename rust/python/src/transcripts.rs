//! `TranscriptHit`: what was said and answers a question.

use memspan_engine::recall::tokens_of;
use memspan_engine::recall::when::Range;
use memspan_engine::session;
use pyo3::prelude::*;

use crate::arguments::{conditions, text_of, whole};
use crate::errors::{Hold, hold_for, run};
use crate::explanation::Explanation;
use crate::scope::ScopeCore;
use crate::time;
use crate::turn::Message;
use crate::value::{Tuple, value};

value! {
    /// A message that answers a question.
    ///
    /// Attributes:
    ///     session_id: Its session.
    ///     message: The message.
    ///     score: From 0 to 1, higher is better: a weighted sum of what `explain` names. Not comparable between questions, whose best
    ///         words count as 1 whatever they are.
    ///     parts: What `explain` names, without the names.
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

    /// What the score is made of: `parts` has each part from 0 to 1, before its weight.
    ///
    /// "words" is BM25 against the best message's, "window" that with a share of the words of the messages beside it, without names;
    /// "before" and "before_two" are the words of the messages before it in its session, "after_two" of the second one behind;
    /// "answers" is "before" where that message asks; "meaning" is the cosine of the built-in embedding with what the question is about,
    /// "closeness" the same word by word ("..._around": with the messages beside it), "exact" the share of the question's very words,
    /// "phrase" what stands together there and here; "speaker" is 1 where the question names who speaks, "name" where the message has
    /// that name; "first_person", "own_words" and "second_person" are shares of "I" and "you"; "time_asked" is 1 where the question asks
    /// when and it names a time; "opening", "place", "near_best" and "session" say where it stands; "within" and "behind" are 1 where it
    /// was said when the question asks about, or in the ten days after; "length" grows with its distinct words; "identified" is 1 where it
    /// holds every identifier of the question. docs/ranking.md has what each weighs.
    ///
    /// Examples:
    ///     >>> _ = user.session("s-1", model="gpt-4o").add({"role": "user", "content": "payments-api listens on port 8443"})
    ///     >>> [hit] = user.search_transcripts("port of payments-api")
    ///     >>> hit.explain().parts["words"], hit.explain().parts["identified"]
    ///     (1.0, 1.0)
    fn explain(&self) -> Explanation {
        Explanation::of_message(self.score, session::FEATURES.iter().copied().zip(self.parts.0.iter().copied()).collect())
    }

}

/// Messages of a scope's sessions that answer a question, the best first, and how sure the engine is of the best.
#[pyfunction]
pub fn search_transcripts(
    py: Python<'_>,
    scope: &Bound<'_, ScopeCore>,
    query: &Bound<'_, PyAny>,
    limit: &Bound<'_, PyAny>,
    conditions_given: Option<&Bound<'_, PyAny>>,
    since: Option<&Bound<'_, PyAny>>,
    until: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Vec<TranscriptHit>, f64)> {
    let owner = scope.get();
    let said = Range { since: time::maybe_from_python("since", since)?, until: time::maybe_from_python("until", until)? };
    let (text, limit) = (text_of("query", query)?, whole("limit", limit, 0, 1 << 20)? as usize);
    let metadata = conditions(conditions_given)?;
    let request =
        session::TranscriptRequest { said, metadata, ..session::TranscriptRequest::new(&text, limit, owner.handle.clock.now(py)?) };
    let hits = run(py, Hold::Detached, || session::search(owner.handle.engine()?, &owner.scope, &request))?;
    let confidence = hits.first().map_or(0.0, |best| best.confidence);
    Ok((hits.into_iter().map(TranscriptHit::from).collect(), confidence))
}

impl From<session::TranscriptHit> for TranscriptHit {
    fn from(hit: session::TranscriptHit) -> Self {
        Self {
            session_id: hit.session_id,
            score: hit.score as f64 / session::TRANSCRIPT_SCORE_ONE as f64,
            parts: hit.features.values().into_iter().collect(),
            message: Message::from(hit.message),
        }
    }
}
