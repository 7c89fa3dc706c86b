//! `CollectionCore`: documents of a scope, as the package's `Collection` calls it.

use std::sync::{Arc, Mutex, PoisonError};

use memspan_engine::Result;
use memspan_engine::collection::{self, Added, CollectionName, Document, Format, Head, NewDocument, Prepared, remove, search};
use memspan_engine::engine::Engine;
use memspan_engine::store::Snapshot;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::answers::{self, Found};
use crate::arguments::{Argument, Ttl, calls, extracted, options};
use crate::engine::Handle;
use crate::errors::{Pace, run};
use crate::value::{Attached, Moment, as_is, shows};
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
    fn new(id: &Bound<'_, PyAny>, text: &Bound<'_, PyAny>, given: &Bound<'_, PyDict>) -> PyResult<Self> {
        let mut new = NewDocument::new(String::read("a document's id", id)?, String::read("text", text)?);
        options! { given of "add()" |name, value|
            version => new.version = Some(Argument::read(name, value)?);
            metadata => new.metadata = Attached::read(name, value)?.0;
            format => new.format = Some(Format::read(name, value)?);
            source => new.source = Some(Argument::read(name, value)?);
            ttl_seconds => new.ttl = Some(Ttl::read(name, value)?.0);
            chunk_tokens => new.chunk_tokens = Argument::read(name, value)?;
            expected => new.if_version = Some(value.extract::<(Option<String>,)>()?.0);
        }
        run(id.py(), Pace::Long, || Prepared::new(new)).map(|prepared| Self(Mutex::new(prepared)))
    }
}

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct CollectionCore {
    pub handle: Arc<Handle>,
    pub name: CollectionName,
}
as_is!(CollectionCore);
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
    CollectionCore |it, py| (it.own(), it.handle.now(py)) {
        to_embed(draft: Py<DocumentDraft>) Long |own, now| {
            let mut prepared = draft.get().0.lock().unwrap_or_else(PoisonError::into_inner);
            prepared.wanted(own.engine, own.name, now)
        };
        add(draft: Py<DocumentDraft>, embedded: Option<Py<Vectors>>) Whole |own, now| {
            let prepared = draft.get().0.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let made = embedded.map(|made| (made.get().0.place, made.get().0.rows.clone()));
            collection::add::add_embedded(own.engine, own.name, prepared, made, now)
        };
        get(id as "a document's id": String) Long |own, now|
            Ok(own.read(|pages| collection::get(pages, own.name, &id, now))?.map(|(document, text)| Whole(document, text)));
        info(id as "a document's id": String) Short |own, now| own.read(|pages| collection::info(pages, own.name, &id, now));
        page(first: u32, limit: usize) Waits |own, now| own.read(|pages| collection::page(pages, own.name, first, limit, now));
        delete(id as "a document's id": String) Whole |own, now| remove::delete(own.engine, own.name, &id, now);
        expire(id as "a document's id": String, ttl_seconds: Option<Ttl>) Waits |own, now|
            remove::expire_at(own.engine, own.name, &id, ttl_seconds.map(|ttl| now.saturating_add(ttl.0)), now);
        drop() Whole |own| remove::drop_collection(own.engine, own.name);
        search(query: String, vector: Option<Py<Vectors>>, degraded: Option<String>, given: Bound<'py, PyDict>)
            (it.pace(py, &request.text)?) with request = answers::passages(&it.name, query, &given, it.handle.now(py)?)?; |own| {
                let vector = vector.and_then(|vector| vector.get().0.query());
                let request = collection::Request { vector, embedder_failed: degraded, ..request };
                search::ask(own.engine, &request).map(|found| Found::new(found, None))
            };
        time() Short |own, now| Ok(Moment(now));
        counts() Short |own| own.read(|pages| collection::count(pages, own.name));
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name.name
    }

    /// Whether two handles name the same collection of the same engine.
    fn is_same(&self, other: &Bound<'_, Self>) -> bool {
        Arc::ptr_eq(&self.handle, &other.get().handle) && self.name == other.get().name
    }
}

impl CollectionCore {
    fn own(&self) -> Result<Named<'_>> {
        Ok(Named { engine: self.handle.engine()?, name: &self.name })
    }

    fn pace(&self, py: Python<'_>, query: &str) -> PyResult<Pace> {
        let counts = || self.own()?.read(|pages| collection::count(pages, &self.name));
        run(py, Pace::Short, counts).map(|counts| Pace::of_chunks(counts.chunks, query))
    }
}
