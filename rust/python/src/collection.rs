//! `CollectionCore`: documents of a scope, as the package's `Collection` calls it; `DocumentDraft` and `SearchCore`.

use std::sync::{Arc, Mutex, PoisonError};

use memspan_engine::collection::{self, Added, CollectionName, Document, Format, NewDocument, Prepared, Request, remove, search};
use memspan_engine::index::vectors::UnitVector;
use memspan_engine::recall::{self, when::Range};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arguments::{conditions, maybe_text, number, text_of, whole};
use crate::engine::{ATTACHED_UP_TO, Handle};
use crate::errors::{Hold, hold_for, run, to_python};
use crate::explanation::Explanation;
use crate::rows::ttl;
use crate::scope::ScopeCore;
use crate::vectors::Vectors;
use crate::{metadata, time};

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct CollectionCore {
    handle: Arc<Handle>,
    name: CollectionName,
}

impl CollectionCore {
    /// The engine that it belongs to.
    pub fn handle(&self) -> &Arc<Handle> {
        &self.handle
    }

    /// Which one it is.
    pub fn collection(&self) -> &CollectionName {
        &self.name
    }
}

/// A document on its way into the store: checked. Frozen.
#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct DocumentDraft(Mutex<Prepared>);

impl DocumentDraft {
    fn prepared(&self) -> Prepared {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[pymethods]
impl DocumentDraft {
    #[new]
    #[pyo3(signature = (id, text, version, metadata, format, source, ttl_seconds, chunk_tokens, expected=None))]
    #[allow(clippy::too_many_arguments)] // those of `add()`, one by one
    fn new(
        id: &Bound<'_, PyAny>,
        text: &Bound<'_, PyAny>,
        version: Option<&Bound<'_, PyAny>>,
        metadata: Option<&Bound<'_, PyAny>>,
        format: Option<&Bound<'_, PyAny>>,
        source: Option<&Bound<'_, PyAny>>,
        ttl_seconds: Option<&Bound<'_, PyAny>>,
        chunk_tokens: &Bound<'_, PyAny>,
        expected: Option<(Option<String>,)>,
    ) -> PyResult<Self> {
        let py = id.py();
        let format = maybe_text("format", format)?.map(|name| Format::parse(&name)).transpose().map_err(|error| to_python(py, &error))?;
        let new = NewDocument {
            id: text_of("a document's id", id)?,
            text: text_of("text", text)?,
            version: maybe_text("version", version)?,
            metadata: metadata::encode(metadata)?,
            format,
            source: maybe_text("source", source)?,
            ttl: ttl_seconds.map(ttl).transpose()?,
            chunk_tokens: whole("chunk_tokens", chunk_tokens, 0, i64::MAX)? as usize,
            if_version: expected.map(|(version,)| version),
        };
        run(py, Hold::Long, || Prepared::new(new)).map(|prepared| Self(Mutex::new(prepared)))
    }
}

/// What Python is told of a document: see `DocumentInfo`.
fn row<'py>(py: Python<'py>, document: &Document) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(
        py,
        [
            document.id.as_str().into_pyobject(py)?.into_any(),
            document.version.as_str().into_pyobject(py)?.into_any(),
            document.format.name().into_pyobject(py)?.into_any(),
            document.source.as_deref().into_pyobject(py)?.into_any(),
            metadata::decode(py, &document.metadata)?.into_any(),
            time::to_python(py, document.created_at)?,
            time::to_python(py, document.updated_at)?,
            time::maybe_to_python(py, document.expires_at)?.into_pyobject(py)?.into_any(),
            document.bytes.into_pyobject(py)?.into_any(),
            document.characters.into_pyobject(py)?.into_any(),
            document.chunks.into_pyobject(py)?.into_any(),
        ],
    )
}

#[pymethods]
impl CollectionCore {
    /// The collection of that name in a scope; nothing is read or written.
    #[staticmethod]
    fn open(scope: &Bound<'_, ScopeCore>, name: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (py, scope) = (scope.py(), scope.get());
        let text = text_of("a collection's name", name)?;
        let name = CollectionName::new(&scope.scope, &text).map_err(|error| to_python(py, &error))?;
        Ok(Self { handle: Arc::clone(&scope.handle), name })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name.name
    }

    /// What a caller's embedder must embed of a draft, chunk by chunk; nothing of one that is stored already.
    fn to_embed(&self, py: Python<'_>, draft: &Bound<'_, DocumentDraft>) -> PyResult<Vec<String>> {
        let (draft, now) = (draft.get(), self.handle.clock.now(py)?);
        run(py, Hold::Long, || {
            let mut prepared = draft.0.lock().unwrap_or_else(PoisonError::into_inner);
            if self.handle.engine()?.store().read(|pages| collection::add::known(pages, &self.name, &prepared, now))?.is_some() {
                return Ok(Vec::new());
            }
            prepared.cut();
            memspan_engine::interrupt::check()?;
            Ok((0..prepared.chunks()).map(|chunk| prepared.to_embed(chunk)).collect())
        })
    }

    /// Adds a draft; what became of it, and the document. `embedded` has the vectors of `to_embed`.
    fn add<'py>(
        &self,
        py: Python<'py>,
        draft: &Bound<'py, DocumentDraft>,
        embedded: Option<&Bound<'py, Vectors>>,
    ) -> PyResult<(&'static str, Bound<'py, PyTuple>)> {
        let (draft, now) = (draft.get(), self.handle.clock.now(py)?);
        let given = embedded.map(|vectors| (vectors.get().place, vectors.get().rows.clone()));
        let Added { action, document } = run(py, Hold::Long, || {
            let engine = self.handle.engine()?;
            // Vectors that another embedder made are none: the engine's may have been exchanged meanwhile.
            let own = |(place, rows): (u32, Vec<Option<UnitVector>>)| {
                rows.into_iter().map(|row| row.filter(|_| place == engine.embedding_place())).collect()
            };
            collection::add::add(engine, &self.name, draft.prepared(), given.map(own), now)
        })?;
        Ok((action.name(), row(py, &document)?))
    }

    /// The document of that id with its text.
    fn get<'py>(&self, py: Python<'py>, id: &Bound<'py, PyAny>) -> PyResult<Option<(Bound<'py, PyTuple>, String)>> {
        let (id, now) = (text_of("a document's id", id)?, self.handle.clock.now(py)?);
        let found = run(py, Hold::Detached, || self.handle.engine()?.store().read(|pages| collection::get(pages, &self.name, &id, now)))?;
        found.map(|(document, text)| Ok((row(py, &document)?, text))).transpose()
    }

    /// The same without its text.
    fn info<'py>(&self, py: Python<'py>, id: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let (id, now) = (text_of("a document's id", id)?, self.handle.clock.now(py)?);
        let found = run(py, Hold::Attached, || self.handle.engine()?.store().read(|pages| collection::info(pages, &self.name, &id, now)))?;
        found.map(|document| row(py, &document)).transpose()
    }

    /// Documents from number `first` on, at most `limit`, and the number to go on from; `None` after the last.
    fn page<'py>(&self, py: Python<'py>, first: u32, limit: usize) -> PyResult<(Vec<Bound<'py, PyTuple>>, Option<u32>)> {
        let now = self.handle.clock.now(py)?;
        let (page, next) =
            run(py, Hold::Detached, || self.handle.engine()?.store().read(|pages| collection::page(pages, &self.name, first, limit, now)))?;
        Ok((page.iter().map(|document| row(py, document)).collect::<PyResult<_>>()?, next))
    }

    /// Removes a document; whether it was there.
    fn delete(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (id, now) = (text_of("a document's id", id)?, self.handle.clock.now(py)?);
        run(py, Hold::Detached, || remove::delete(self.handle.engine()?, &self.name, &id, now))
    }

    /// Says in how many seconds a document is to be removed; `None` keeps it.
    fn expire<'py>(
        &self,
        py: Python<'py>,
        id: &Bound<'py, PyAny>,
        ttl_seconds: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let (id, now) = (text_of("a document's id", id)?, self.handle.clock.now(py)?);
        let at = ttl_seconds.map(ttl).transpose()?.map(|ttl| now.saturating_add(ttl));
        let found = run(py, Hold::Detached, || remove::expire_at(self.handle.engine()?, &self.name, &id, at, now))?;
        found.map(|document| row(py, &document)).transpose()
    }

    /// Removes the collection; how many documents it had.
    fn drop(&self, py: Python<'_>) -> PyResult<u64> {
        run(py, Hold::Long, || remove::drop_collection(self.handle.engine()?, &self.name))
    }

    /// Documents, chunks, bytes of text.
    fn counts(&self, py: Python<'_>) -> PyResult<(u64, u64, u64)> {
        let head = run(py, Hold::Attached, || self.handle.engine()?.store().read(|pages| collection::count(pages, &self.name)))?;
        Ok((head.documents, head.chunks, head.bytes))
    }

    /// The time now, by the engine's clock.
    fn now<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        time::to_python(py, self.handle.clock.now(py)?)
    }

    #[allow(clippy::too_many_arguments)] // those of `search()`, one by one
    fn search<'py>(
        &self,
        py: Python<'py>,
        query: &Bound<'py, PyAny>,
        limit: &Bound<'py, PyAny>,
        conditions_given: Option<&Bound<'py, PyAny>>,
        since: Option<&Bound<'py, PyAny>>,
        until: Option<&Bound<'py, PyAny>>,
        documents: Option<&Bound<'py, PyAny>>,
        min_score: Option<&Bound<'py, PyAny>>,
        relevant_only: bool,
        vector: Option<&Bound<'py, Vectors>>,
        degraded: Option<&str>,
    ) -> PyResult<SearchCore> {
        let now = self.handle.clock.now(py)?;
        let limit = whole("limit", limit, 0, i64::MAX)? as usize;
        let mut request = Request::new(text_of("query", query)?, vec![self.name.clone()], limit, now);
        request.metadata = conditions(conditions_given)?;
        request.updated = Range { since: time::maybe_from_python("since", since)?, until: time::maybe_from_python("until", until)? };
        request.documents = documents.map(ids).transpose()?;
        request.min_score = min_score.map_or(Ok(0.0), |value| number("min_score", value))?;
        request.relevant_only = relevant_only;
        request.vector = vector.and_then(|vector| vector.get().query());
        let is_small = hold_for(&request.text) == Hold::Attached && self.counts(py)?.1 <= ATTACHED_UP_TO / 4;
        let hold = if is_small { Hold::Attached } else { Hold::Detached };
        request.embedder_failed = degraded.map(str::to_owned);
        run(py, hold, || search::ask(self.handle.engine()?, &request)).map(SearchCore)
    }

    /// Whether two handles name the same collection of the same engine.
    fn is_same(&self, other: &Bound<'_, Self>) -> bool {
        Arc::ptr_eq(&self.handle, &other.get().handle) && self.name == other.get().name
    }
}

fn ids(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if let Ok(one) = value.cast::<pyo3::types::PyString>() {
        return Ok(vec![text_of("documents", one)?]);
    }
    value.try_iter()?.map(|id| text_of("an id of documents", &id?)).collect()
}

/// An answer to a search.
#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct SearchCore(collection::Search);

impl From<collection::Search> for SearchCore {
    fn from(found: collection::Search) -> Self {
        Self(found)
    }
}

/// A hit: its document, begin, end, text, headings, score.
type HitRow<'py> = (Bound<'py, PyTuple>, usize, usize, &'py str, Bound<'py, PyTuple>, f64);

#[pymethods]
impl SearchCore {
    #[getter]
    fn degraded_reason(&self) -> Option<&str> {
        self.0.degraded.as_deref()
    }

    #[getter]
    fn mode(&self) -> &'static str {
        if self.0.hybrid { "hybrid" } else { "lexical" }
    }

    #[getter]
    fn confidence(&self) -> f64 {
        self.0.confidence()
    }

    fn __len__(&self) -> usize {
        self.0.hits.len()
    }

    fn hit<'py>(slf: &'py Bound<'py, Self>, place: usize) -> PyResult<HitRow<'py>> {
        let (py, hit) = (slf.py(), &slf.get().0.hits[place]);
        Ok((row(py, &hit.document)?, hit.characters.start, hit.characters.end, &hit.text, PyTuple::new(py, &hit.path)?, hit.score))
    }

    /// Where the score of a hit comes from.
    fn explain(&self, py: Python<'_>, place: usize) -> PyResult<Explanation> {
        let hit = &self.0.hits[place];
        let query = &self.0.queries[hit.collection];
        let why = run(py, hold_for(&hit.text), || Ok(query.explain(hit.parts, &hit.indexed())))?;
        Ok(Explanation::new(why, Vec::new()))
    }

    /// Tokens of a hit's text (`o200k_base`).
    fn tokens(&self, py: Python<'_>, place: usize) -> PyResult<usize> {
        let text = &self.0.hits[place].text;
        run(py, hold_for(text), || Ok(recall::tokens_of(text)))
    }
}

/// The names of a scope's collections, in the order in which they were first written to.
#[pyfunction]
pub fn collection_names(py: Python<'_>, scope: &Bound<'_, ScopeCore>) -> PyResult<Vec<String>> {
    let scope = scope.get();
    let found = run(py, Hold::Attached, || scope.handle.engine()?.store().read(|pages| collection::list(pages, &scope.scope)))?;
    Ok(found.into_iter().map(|(_, name)| name).collect())
}
