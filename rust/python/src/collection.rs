//! `CollectionCore`: documents of a scope, as the package's `Collection` calls it.

use std::sync::{Arc, Mutex, PoisonError};

use memspan_engine::Result;
use memspan_engine::collection::{self, Added, CollectionName, Document, Format, Head, NewDocument, Prepared, remove, search};
use memspan_engine::engine::Engine;
use memspan_engine::store::Snapshot;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answers::{Found, passages};
use crate::arguments::{Argument, Ttl, calls, extracted, option};
use crate::engine::{ATTACHED_UP_TO, Handle};
use crate::errors::{Hold, hold_for, run};
use crate::scope::ScopeCore;
use crate::time;
use crate::value::{Attached, Moment, shows};
use crate::vectors::Vectors;

shows! {
    Added as AddedDocument |it| { action = it.action.name(), document = it.document }
    Head as Counts |it| { documents, chunks, bytes }
    Document as DocumentInfo |it| {
        id, version, format = it.format.name(), source, metadata = Attached(it.metadata), created_at = Moment(it.created_at),
        updated_at = Moment(it.updated_at), expires_at = it.expires_at.map(Moment), size_bytes = it.bytes, characters, chunks
    }
    Whole as Document |it| {
        id = it.0.id, version = it.0.version, format = it.0.format.name(), source = it.0.source, metadata = Attached(it.0.metadata),
        created_at = Moment(it.0.created_at), updated_at = Moment(it.0.updated_at), expires_at = it.0.expires_at.map(Moment),
        size_bytes = it.0.bytes, characters = it.0.characters, chunks = it.0.chunks, text = it.1
    }
}

/// A document with its text.
struct Whole(Document, String);

/// A document on its way into the store: checked. Frozen.
#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct DocumentDraft(Mutex<Prepared>);
extracted!(Py<DocumentDraft>);

#[pymethods]
impl DocumentDraft {
    #[new]
    #[pyo3(signature = (id, text, **options))]
    fn new(id: &Bound<'_, PyAny>, text: &Bound<'_, PyAny>, options: Option<&Bound<'_, PyDict>>) -> PyResult<Self> {
        let new = NewDocument {
            id: String::read("a document's id", id)?,
            text: String::read("text", text)?,
            version: option(options, "version")?,
            metadata: option::<Attached>(options, "metadata")?.map_or_else(Vec::new, |metadata| metadata.0),
            format: option::<Format>(options, "format")?,
            source: option(options, "source")?,
            ttl: option::<Ttl>(options, "ttl_seconds")?.map(|ttl| ttl.0),
            chunk_tokens: option(options, "chunk_tokens")?.unwrap_or_default(),
            if_version: option::<Bound<'_, PyAny>>(options, "expected")?
                .map(|given| given.extract::<(Option<String>,)>())
                .transpose()?
                .map(|one| one.0),
        };
        run(id.py(), Hold::Long, || Prepared::new(new)).map(|prepared| Self(Mutex::new(prepared)))
    }
}

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct CollectionCore {
    pub handle: Arc<Handle>,
    pub name: CollectionName,
}
extracted!(Py<CollectionCore>);

/// A collection in its engine: what its calls work on.
struct Named<'a> {
    engine: &'a Engine,
    name: &'a CollectionName,
}

impl Named<'_> {
    fn read<T>(&self, work: impl FnOnce(&Snapshot) -> Result<T>) -> Result<T> {
        self.engine.store().read(work)
    }
}

calls! {
    CollectionCore |it| {
        /// What a caller's embedder must embed of a draft, chunk by chunk; nothing of one that is stored already.
        to_embed(draft: Py<DocumentDraft>) Long |own, now| {
            let mut prepared = draft.get().0.lock().unwrap_or_else(PoisonError::into_inner);
            prepared.wanted(own.engine, own.name, now)
        };
        /// Adds a draft; what became of it, and the document. `embedded` has the vectors of `to_embed`.
        add(draft: Py<DocumentDraft>, embedded: Option<Py<Vectors>>) Long |own, now| {
            let prepared = draft.get().0.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let made = embedded.map(|made| (made.get().place, made.get().rows.clone()));
            collection::add::add_embedded(own.engine, own.name, prepared, made, now)
        };
        /// The document of that id with its text.
        get(id as "a document's id": String) Detached |own, now|
            Ok(own.read(|pages| collection::get(pages, own.name, &id, now))?.map(|(document, text)| Whole(document, text)));
        /// The same without its text.
        info(id as "a document's id": String) Attached |own, now| own.read(|pages| collection::info(pages, own.name, &id, now));
        /// Documents from number `first` on, at most `limit`, and the number to go on from; `None` after the last.
        page(first: u32, limit: usize) Detached |own, now| own.read(|pages| collection::page(pages, own.name, first, limit, now));
        /// Removes a document; whether it was there.
        delete(id as "a document's id": String) Detached |own, now| remove::delete(own.engine, own.name, &id, now);
        /// Says in how many seconds a document is to be removed; `None` keeps it.
        expire(id as "a document's id": String, ttl_seconds: Option<Ttl>) Detached |own, now|
            remove::expire_at(own.engine, own.name, &id, ttl_seconds.map(|ttl| now.saturating_add(ttl.0)), now);
        /// Removes the collection; how many documents it had.
        drop() Long |own| remove::drop_collection(own.engine, own.name);
        counts() Attached |own| own.read(|pages| collection::count(pages, own.name));
    }

    /// The collection of that name in a scope; nothing is read or written.
    #[staticmethod]
    fn open(scope: &Bound<'_, ScopeCore>, name: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name = String::read("a collection's name", name)?;
        let owner = scope.get();
        let name = run(scope.py(), Hold::Attached, || CollectionName::new(&owner.scope, &name))?;
        Ok(Self { handle: Arc::clone(&owner.handle), name })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name.name
    }

    /// The time now, by the engine's clock.
    #[pyo3(name = "now")]
    fn time_now<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        time::to_python(py, self.now(py)?)
    }

    #[pyo3(signature = (query, vector, degraded, **options))]
    fn search<'py>(
        &self,
        query: &Bound<'py, PyAny>,
        vector: Option<&Bound<'py, Vectors>>,
        degraded: Option<String>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Found> {
        let py = query.py();
        let request = passages(&self.name, query, vector, degraded, options, self.now(py)?)?;
        let chunks = self.run(py, Hold::Attached, |own| Ok(own.read(|pages| collection::count(pages, own.name))?.chunks))?;
        let hold = if chunks <= ATTACHED_UP_TO / 4 { hold_for(&request.text) } else { Hold::Detached };
        Found::of_passages(py, self.run(py, hold, |own| search::ask(own.engine, &request))?)
    }

    /// Whether two handles name the same collection of the same engine.
    fn is_same(&self, other: &Bound<'_, Self>) -> bool {
        Arc::ptr_eq(&self.handle, &other.get().handle) && self.name == other.get().name
    }
}

impl CollectionCore {
    fn now(&self, py: Python<'_>) -> PyResult<i64> {
        self.handle.clock.now(py)
    }

    fn run<T: Send>(&self, py: Python<'_>, hold: Hold, work: impl FnOnce(Named<'_>) -> Result<T> + Send) -> PyResult<T> {
        run(py, hold, || work(Named { engine: self.handle.engine()?, name: &self.name }))
    }
}
