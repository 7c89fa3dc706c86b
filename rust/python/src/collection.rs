//! `CollectionCore`: documents of a scope, as the package's `Collection` calls it; drafts, documents and passages.

use std::sync::{Arc, Mutex, PoisonError};

use memspan_engine::collection::{self, Added, CollectionName, Format, NewDocument, Prepared, Request, remove, search};
use memspan_engine::index::vectors::UnitVector;
use memspan_engine::recall::{self, when::Range};
use pyo3::prelude::*;

use crate::arguments::{conditions, maybe_text, number, text_of, whole};
use crate::engine::{ATTACHED_UP_TO, Handle};
use crate::errors::{Hold, hold_for, run, to_python};
use crate::explanation::Explanation;
use crate::memory::shortened;
use crate::rows::ttl;
use crate::scope::ScopeCore;
use crate::value::{Attached, Moment, Tuple, shows, value};
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

value! {
    /// A document as it is stored, without its text.
    DocumentInfo("memspan.collection") {
        id: String, version: String, format: String, source: Option<String>, metadata: Attached, created_at: Moment,
        updated_at: Moment, expires_at: Option<Moment>, size_bytes: u64, characters: u64, chunks: u32
    }
}

value! {
    /// A document with its text.
    Document("memspan.collection") {
        id: String, version: String, format: String, source: Option<String>, metadata: Attached, created_at: Moment,
        updated_at: Moment, expires_at: Option<Moment>, size_bytes: u64, characters: u64, chunks: u32, text: String
    }
}

value! {
    /// What became of a document.
    AddedDocument("memspan.collection") { action: String, document: DocumentInfo }
}

value! {
    /// Documents, chunks and bytes of text. Private.
    Counts("memspan._core") { documents: u64, chunks: u64, bytes: u64 }
}

impl From<&collection::Document> for DocumentInfo {
    fn from(document: &collection::Document) -> Self {
        Self {
            id: document.id.clone(),
            version: document.version.clone(),
            format: document.format.name().to_owned(),
            source: document.source.clone(),
            metadata: Attached(document.metadata.clone()),
            created_at: Moment(document.created_at),
            updated_at: Moment(document.updated_at),
            expires_at: document.expires_at.map(Moment),
            size_bytes: document.bytes,
            characters: document.characters,
            chunks: document.chunks,
        }
    }
}

impl From<(collection::Document, String)> for Document {
    fn from((document, text): (collection::Document, String)) -> Self {
        let DocumentInfo { id, version, format, source, metadata, created_at, updated_at, expires_at, size_bytes, characters, chunks } =
            DocumentInfo::from(&document);
        Self { id, version, format, source, metadata, created_at, updated_at, expires_at, size_bytes, characters, chunks, text }
    }
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
    fn add(&self, py: Python<'_>, draft: &Bound<'_, DocumentDraft>, embedded: Option<&Bound<'_, Vectors>>) -> PyResult<AddedDocument> {
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
        Ok(AddedDocument { action: action.name().to_owned(), document: DocumentInfo::from(&document) })
    }

    /// The document of that id with its text.
    fn get(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<Option<Document>> {
        let (id, now) = (text_of("a document's id", id)?, self.handle.clock.now(py)?);
        let found = run(py, Hold::Detached, || self.handle.engine()?.store().read(|pages| collection::get(pages, &self.name, &id, now)))?;
        Ok(found.map(Document::from))
    }

    /// The same without its text.
    fn info(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<Option<DocumentInfo>> {
        let (id, now) = (text_of("a document's id", id)?, self.handle.clock.now(py)?);
        let found = run(py, Hold::Attached, || self.handle.engine()?.store().read(|pages| collection::info(pages, &self.name, &id, now)))?;
        Ok(found.as_ref().map(DocumentInfo::from))
    }

    /// Documents from number `first` on, at most `limit`, and the number to go on from; `None` after the last.
    fn page(&self, py: Python<'_>, first: u32, limit: usize) -> PyResult<(Vec<DocumentInfo>, Option<u32>)> {
        let now = self.handle.clock.now(py)?;
        let (page, next) =
            run(py, Hold::Detached, || self.handle.engine()?.store().read(|pages| collection::page(pages, &self.name, first, limit, now)))?;
        Ok((page.iter().map(DocumentInfo::from).collect(), next))
    }

    /// Removes a document; whether it was there.
    fn delete(&self, py: Python<'_>, id: &Bound<'_, PyAny>) -> PyResult<bool> {
        let (id, now) = (text_of("a document's id", id)?, self.handle.clock.now(py)?);
        run(py, Hold::Detached, || remove::delete(self.handle.engine()?, &self.name, &id, now))
    }

    /// Says in how many seconds a document is to be removed; `None` keeps it.
    fn expire(&self, py: Python<'_>, id: &Bound<'_, PyAny>, ttl_seconds: Option<&Bound<'_, PyAny>>) -> PyResult<Option<DocumentInfo>> {
        let (id, now) = (text_of("a document's id", id)?, self.handle.clock.now(py)?);
        let at = ttl_seconds.map(ttl).transpose()?.map(|ttl| now.saturating_add(ttl));
        let found = run(py, Hold::Detached, || remove::expire_at(self.handle.engine()?, &self.name, &id, at, now))?;
        Ok(found.as_ref().map(DocumentInfo::from))
    }

    /// Removes the collection; how many documents it had.
    fn drop(&self, py: Python<'_>) -> PyResult<u64> {
        run(py, Hold::Long, || remove::drop_collection(self.handle.engine()?, &self.name))
    }

    fn counts(&self, py: Python<'_>) -> PyResult<Counts> {
        let head = run(py, Hold::Attached, || self.handle.engine()?.store().read(|pages| collection::count(pages, &self.name)))?;
        Ok(Counts { documents: head.documents, chunks: head.chunks, bytes: head.bytes })
    }

    /// The time now, by the engine's clock.
    fn now<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        time::to_python(py, self.handle.clock.now(py)?)
    }

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
    ) -> PyResult<Found> {
        let now = self.handle.clock.now(py)?;
        let limit = whole("limit", limit, 0, i64::MAX)? as usize;
        let mut request = Request::new(text_of("query", query)?, vec![self.name.clone()], limit, now);
        request.metadata = conditions(conditions_given)?;
        request.updated = Range { since: time::maybe_from_python("since", since)?, until: time::maybe_from_python("until", until)? };
        request.documents = documents.map(ids).transpose()?;
        request.min_score = min_score.map_or(Ok(0.0), |value| number("min_score", value))?;
        request.relevant_only = relevant_only;
        request.vector = vector.and_then(|vector| vector.get().query());
        let is_small = hold_for(&request.text) == Hold::Attached && self.counts(py)?.chunks <= ATTACHED_UP_TO / 4;
        let hold = if is_small { Hold::Attached } else { Hold::Detached };
        request.embedder_failed = degraded.map(str::to_owned);
        run(py, hold, || search::ask(self.handle.engine()?, &request)).map(|found| Found(Arc::new(found)))
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

/// What is known of an answer besides its hits, and the hits. Private.
#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct Found(Arc<collection::Search>);

shows! {
    Found |it| {
        degraded_reason: Option<&str> = it.0.degraded.as_deref();
        mode: &'static str = if it.0.hybrid { "hybrid" } else { "lexical" };
        confidence: f64 = it.0.confidence();
    }

    fn passages(&self) -> Tuple<Passage> {
        let passage = |rank: usize| Passage { found: Arc::clone(&self.0), rank, weighed: None };
        (0..self.0.hits.len()).map(passage).collect()
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
    /// A hit among those of other sources.
    pub(crate) fn among(found: &Arc<collection::Search>, rank: usize, score: f64) -> Self {
        Self { found: Arc::clone(found), rank, weighed: Some(score) }
    }

    fn hit(&self) -> &collection::Hit {
        &self.found.hits[self.rank]
    }
}

impl PartialEq for Passage {
    fn eq(&self, other: &Self) -> bool {
        let same = |one: &Self| (one.hit().characters.clone(), one.score().to_bits());
        same(self) == same(other) && self.document() == other.document() && self.hit().text == other.hit().text
    }
}

shows! {
    Passage |it| {
        /// The document it is part of: id, version, source, metadata.
        document: DocumentInfo = DocumentInfo::from(&*it.hit().document);
        /// Where it begins in the document's text, in characters as Python counts them.
        start: usize = it.hit().characters.start;
        /// Where it ends, exclusive.
        end: usize = it.hit().characters.end;
        /// `start` and `end`.
        span: (usize, usize) = (it.start(), it.end());
        /// The document's text from `start` to `end`.
        text: &str = &it.hit().text;
        /// The headings above it, outermost first; for code the lines that open the enclosing blocks.
        heading: Tuple<String> = it.hit().path.iter().cloned().collect();
        /// 0 to 1: how it compares with the other hits of the answer. Not comparable between questions.
        score: f64 = it.weighed.unwrap_or(it.hit().score);
        /// "collections".
        source: &'static str = "collections";
    }

    /// Tokens of its text, exact for `o200k_base` (GPT-4o and later). Counted at each use.
    #[getter]
    fn tokens(&self, py: Python<'_>) -> PyResult<usize> {
        let text = self.text();
        run(py, hold_for(text), || Ok(recall::tokens_of(text)))
    }

    /// Where the score comes from. Cost: the text is analysed again.
    fn explain(&self, py: Python<'_>) -> PyResult<Explanation> {
        let hit = self.hit();
        let query = &self.found.queries[hit.collection];
        let why = run(py, hold_for(&hit.text), || Ok(query.explain(hit.parts, &hit.indexed())))?;
        Ok(Explanation::new(why, Vec::new()))
    }

    fn __copy__(&self) -> Self {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.clone()
    }

    fn __hash__(&self) -> u64 {
        (self.start() as u64) ^ ((self.end() as u64) << 32) ^ self.score().to_bits()
    }

    fn __repr__(&self) -> String {
        let (hit, text) = (self.hit(), shortened(self.text()));
        format!("Passage({:.3}, {text:?}, document={:?}, span=({}, {}))", self.score(), hit.document.id, self.start(), self.end())
    }
}

/// The names of a scope's collections, in the order in which they were first written to.
#[pyfunction]
pub fn collection_names(py: Python<'_>, scope: &Bound<'_, ScopeCore>) -> PyResult<Vec<String>> {
    let scope = scope.get();
    let found = run(py, Hold::Attached, || scope.handle.engine()?.store().read(|pages| collection::list(pages, &scope.scope)))?;
    Ok(found.into_iter().map(|(_, name)| name).collect())
}
