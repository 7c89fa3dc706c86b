//! `Recall` and `Recalled`: an answer and its hits. What Python never looks at is never made.

use std::sync::{Arc, OnceLock};

use memspan_engine::recall::{Answer, Found, tokens_of};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::slice::PySliceIndices;
use pyo3::types::{PyIterator, PySlice, PyTuple};

use crate::errors::{hold_for, run};
use crate::explanation::Explanation;
use crate::memory::{Memory, shortened};
use crate::value::shows;

/// An answer, with what is worked out of it when it is first asked for.
#[derive(Debug)]
pub struct Answered {
    answer: Answer,
    confidence: OnceLock<f64>,
    tokens: Vec<OnceLock<usize>>,
    /// The `Scope` objects of the question, in its order.
    scopes: Py<PyTuple>,
}

impl Answered {
    fn confidence(&self) -> f64 {
        *self.confidence.get_or_init(|| self.answer.confidence())
    }
}

/// An answer: a frozen sequence of `Recalled`, the best first. A slice of it is one too.
///
/// Examples:
///     >>> _ = user.remember_many(["payments-api listens on port 8443", "Prefers tea"])
///     >>> recall = user.recall("payments-api port")
///     >>> len(recall), recall[0].memory.text, recall.degraded, recall.mode
///     (1, 'payments-api listens on port 8443', False, 'hybrid')
#[pyclass(frozen, eq, sequence, module = "memspan")]
#[derive(Debug)]
pub struct Recall {
    answer: Arc<Answered>,
    /// Places of the hits in the answer: all of them, or those of a slice.
    places: Vec<usize>,
}

impl PartialEq for Recall {
    fn eq(&self, other: &Self) -> bool {
        let same = |name: fn(&Answered) -> (u64, bool)| name(&self.answer) == name(&other.answer);
        same(|all| (all.confidence().to_bits(), all.answer.degraded.is_some())) && self.hits().eq(other.hits())
    }
}

impl Recall {
    pub fn new(answer: Answer, scopes: Py<PyTuple>) -> Self {
        let tokens = answer.found.iter().map(|_| OnceLock::new()).collect();
        let places = (0..answer.found.len()).collect();
        Self { answer: Arc::new(Answered { answer, confidence: OnceLock::new(), tokens, scopes }), places }
    }

    /// A hit among those of other sources.
    pub(crate) fn weighed(&self, at: usize, score: f64) -> Recalled {
        Recalled { weighed: Some(score), ..self.hit(at) }
    }

    fn hit(&self, at: usize) -> Recalled {
        Recalled { answer: Arc::clone(&self.answer), place: self.places[at], weighed: None }
    }

    fn hits(&self) -> impl DoubleEndedIterator<Item = Recalled> + ExactSizeIterator + '_ {
        (0..self.places.len()).map(|at| self.hit(at))
    }
}

#[pymethods]
impl Recall {
    /// 0 to 1: how sure the engine is that the best answers the question.
    ///
    /// The mean of its cosine and of the share of the question's words, by their rarity, that it has; that share alone where there is no
    /// vector. 0 where nothing was found. It orders answers by how far to trust them, and is not a probability: docs/ranking.md measures it.
    #[getter]
    fn confidence(&self) -> f64 {
        self.answer.confidence()
    }

    /// Whether vectors are missing that could have been used.
    #[getter]
    fn degraded(&self) -> bool {
        self.answer.answer.degraded.is_some()
    }

    /// Why they are.
    #[getter]
    fn degraded_reason(&self) -> Option<&str> {
        self.answer.answer.degraded.as_deref()
    }

    /// "hybrid" where words and vectors were searched, "lexical" where words alone.
    #[getter]
    fn mode(&self) -> &'static str {
        if self.answer.answer.hybrid { "hybrid" } else { "lexical" }
    }

    fn __len__(&self) -> usize {
        self.places.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = index.cast::<PySlice>() {
            let PySliceIndices { start, step, slicelength, .. } = slice.indices(self.places.len() as isize)?;
            let places = (0..slicelength as isize).map(|n| self.places[(start + n * step) as usize]).collect();
            return Ok(Bound::new(py, Self { answer: Arc::clone(&self.answer), places })?.into_any());
        }
        let given: isize = index.extract()?;
        let at = if given < 0 { given + self.places.len() as isize } else { given };
        if at < 0 || at >= self.places.len() as isize {
            return Err(PyIndexError::new_err(format!("recall has {} hits, and there is none at index {given}", self.places.len())));
        }
        Ok(Bound::new(py, self.hit(at as usize))?.into_any())
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyTuple::new(py, self.hits())?.try_iter()
    }

    fn __reversed__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        PyTuple::new(py, self.hits().rev())?.try_iter()
    }

    fn __contains__(&self, value: &Bound<'_, PyAny>) -> bool {
        value.cast::<Recalled>().is_ok_and(|wanted| self.hits().any(|hit| hit == *wanted.get()))
    }

    #[pyo3(signature = (value, start=0, stop=None, /))]
    fn index(&self, value: &Bound<'_, PyAny>, start: usize, stop: Option<usize>) -> PyResult<usize> {
        let wanted = value.cast::<Recalled>().ok();
        (start..stop.unwrap_or(usize::MAX).min(self.places.len()))
            .find(|at| wanted.is_some_and(|wanted| self.hit(*at) == *wanted.get()))
            .ok_or_else(|| PyValueError::new_err("that is no hit of this recall"))
    }

    #[pyo3(signature = (value, /))]
    fn count(&self, value: &Bound<'_, PyAny>) -> usize {
        value.cast::<Recalled>().map_or(0, |wanted| self.hits().filter(|hit| hit == wanted.get()).count())
    }

    fn __copy__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'_, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __repr__(&self) -> String {
        let best = self.places.first().map_or_else(String::new, |_| format!(", best={}", self.hit(0).__repr__()));
        let degraded = self.degraded_reason().map_or_else(String::new, |reason| format!(", degraded={reason:?}"));
        format!("Recall({} hits, {}, confidence={:.3}{degraded}{best})", self.places.len(), self.mode(), self.confidence())
    }
}

/// One hit of a recall.
#[pyclass(frozen, eq, module = "memspan")]
#[derive(Debug, Clone)]
pub struct Recalled {
    answer: Arc<Answered>,
    place: usize,
    /// What it scores beside hits of other sources.
    weighed: Option<f64>,
}

/// The same memory with the same score for the same reasons. How old it was to the microsecond is none: nobody asks twice at once.
impl PartialEq for Recalled {
    fn eq(&self, other: &Self) -> bool {
        let why = |hit: &Self| (hit.found().parts.fixed, hit.found().parts.lexical, hit.found().parts.dense);
        why(self) == why(other) && self.found().named == other.found().named
    }
}

impl Recalled {
    fn found(&self) -> &Found {
        &self.answer.answer.found[self.place]
    }
}

shows! {
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
        if let Some(tokens) = self.answer.tokens[self.place].get() {
            return Ok(*tokens);
        }
        // Counted before the cell is entered: a thread that held it while it waits for the interpreter would block the others for ever.
        let tokens = run(py, hold_for(self.text()), || Ok(tokens_of(self.text())))?;
        Ok(*self.answer.tokens[self.place].get_or_init(|| tokens))
    }

    /// Whose memory it is.
    #[getter]
    fn scope<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.answer.scopes.bind(py).get_item(self.found().scope)
    }

    /// Where the score comes from. Cost: the text is analysed again.
    fn explain(&self, py: Python<'_>) -> PyResult<Explanation> {
        let query = &self.answer.answer.queries[self.found().scope];
        let why = run(py, hold_for(self.text()), || Ok(query.explain(self.found().parts, self.text())))?;
        Ok(Explanation::new(why, self.found().duplicates.clone()).related_by(self.found().related.clone()))
    }

    fn __copy__(&self) -> Self {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.clone()
    }

    fn __hash__(&self) -> u64 {
        self.found().parts.fixed as u64 ^ u64::from(self.found().named.memory.number)
    }

    fn __repr__(&self) -> String {
        format!("Recalled({:.3}, {:?}, id={:?})", self.score(), shortened(self.text()), self.found().named.id)
    }
}
