//! `ScopeCore`: the memory of one scope, as the package's `Scope` calls it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memspan_engine::Result;
use memspan_engine::engine::{Engine, Erased};
use memspan_engine::memory::forget::Stale;
use memspan_engine::memory::revise::Revision;
use memspan_engine::memory::slots::Slot;
use memspan_engine::memory::{Listing, NewMemory};
use memspan_engine::recall::{self, Fusion, Request};
use memspan_engine::scope::Scope;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arguments::{FilterArguments, kinds, maybe_text, number, text_of, whole};
use crate::engine::{ATTACHED_UP_TO, Handle};
use crate::errors::{Hold, hold_for, invalid, run};
use crate::memory::{Memory, Remembered, known, known_one};
use crate::metadata;
use crate::recall::Recall;
use crate::rows::{Draft, Fields};
use crate::time;
use crate::value::{Tuple, value};
use crate::vectors::Vectors;

value! {
    /// What was erased. Private.
    ErasedCounts("memspan._core") {
        memories: u64, revisions: u64, messages: u64, documents: u64, ledger_entries: u64, terms: u64, vectors: u64, values: u64,
        bytes_checked: u64
    }
}

value! {
    /// A slot with its current memories. Private.
    HeldSlot("memspan._core") { name: String, multi: bool, memories: Tuple<Memory> }
}

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct ScopeCore {
    pub handle: Arc<Handle>,
    pub scope: Arc<Scope>,
    /// How many memories it had when it was last asked: whether a read is short enough to keep the interpreter.
    documents: AtomicU64,
}

impl ScopeCore {
    pub fn new(handle: &Arc<Handle>, scope: Scope) -> Self {
        Self { handle: Arc::clone(handle), scope: Arc::new(scope), documents: AtomicU64::new(u64::MAX) }
    }

    /// Runs a read of this scope, attached where the scope was small when it was last asked.
    fn read<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&Engine) -> Result<T> + Send) -> PyResult<T> {
        run(py, self.hold(), || work(self.handle.engine()?))
    }

    fn hold(&self) -> Hold {
        if self.documents.load(Ordering::Relaxed) <= ATTACHED_UP_TO { Hold::Attached } else { Hold::Detached }
    }

    /// Runs a write, detached.
    fn write<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&Engine) -> Result<T> + Send) -> PyResult<T> {
        run(py, Hold::Detached, || work(self.handle.engine()?))
    }
}

#[pymethods]
impl ScopeCore {
    #[getter]
    fn id(&self) -> &str {
        &self.scope.id
    }

    #[getter]
    fn tenant(&self) -> Option<&str> {
        self.scope.tenant.as_deref()
    }

    #[getter]
    fn scope_type(&self) -> &'static str {
        self.scope.scope_type.name()
    }

    /// A memory on its way into the store: checked, and as the engine's policy leaves it.
    #[pyo3(signature = (text, **fields))]
    fn draft(&self, text: &Bound<'_, PyAny>, fields: Option<&Bound<'_, PyDict>>) -> PyResult<Draft> {
        let mut new = Fields::of(fields)?.into_new(text, self.handle.space())?;
        let screening = run(text.py(), Hold::Attached, || Ok(self.handle.engine()?.screening()))?;
        new.screen(screening);
        Ok(Draft(new))
    }

    /// Writes a memory. `embed` makes the vector of a text, or `None`, where the embedder is a caller's: it is asked outside of any
    /// transaction, unless the memory brings its vector or the same is remembered with one.
    #[pyo3(signature = (text, embed, **fields))]
    fn remember(
        &self,
        text: &Bound<'_, PyAny>,
        embed: Option<&Bound<'_, PyAny>>,
        fields: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Remembered> {
        let py = text.py();
        let new = match embed {
            None => Fields::of(fields)?.into_new(text, self.handle.space())?,
            Some(embed) => self.embedded(self.draft(text, fields)?, embed)?,
        };
        let now = self.handle.clock.now(py)?;
        self.write(py, |engine| Remembered::new(engine, &self.scope, engine.remember(&self.scope, new, now)?))
    }

    fn revise<'py>(
        &self,
        py: Python<'py>,
        memory_id: &Bound<'py, PyAny>,
        text: Option<&Bound<'py, PyAny>>,
        slot: Option<&Bound<'py, PyAny>>,
        importance: Option<&Bound<'py, PyAny>>,
        metadata: Option<&Bound<'py, PyAny>>,
        reason: Option<&Bound<'py, PyAny>>,
        vector: Option<&Bound<'py, Vectors>>,
    ) -> PyResult<Remembered> {
        let id = text_of("memory_id", memory_id)?;
        let revision = Revision {
            text: maybe_text("text", text)?,
            slot: maybe_text("slot", slot)?,
            importance: importance.map(|value| number("importance", value)).transpose()?,
            metadata: metadata.map(|value| metadata::encode(Some(value))).transpose()?,
            reason: maybe_text("reason", reason)?,
            vector: vector.and_then(|vector| vector.get().first()),
            made_by: vector.map_or(0, |vector| vector.get().place),
        };
        let now = self.handle.clock.now(py)?;
        self.write(py, |engine| Remembered::new(engine, &self.scope, engine.revise(&self.scope, &id, revision, now)?))
    }

    fn recall<'py>(
        &self,
        py: Python<'py>,
        scopes: &Bound<'py, PyTuple>,
        query: &Bound<'py, PyAny>,
        limit: &Bound<'py, PyAny>,
        kinds: Option<&Bound<'py, PyAny>>,
        conditions: Option<&Bound<'py, PyAny>>,
        since: Option<&Bound<'py, PyAny>>,
        until: Option<&Bound<'py, PyAny>>,
        valid_at: Option<&Bound<'py, PyAny>>,
        known_at: Option<&Bound<'py, PyAny>>,
        min_score: Option<&Bound<'py, PyAny>>,
        min_trust: Option<&Bound<'py, PyAny>>,
        max_tokens: Option<&Bound<'py, PyAny>>,
        relevant_only: bool,
        zone: Option<&Bound<'py, PyAny>>,
        vector: Option<&Bound<'py, Vectors>>,
        degraded: Option<&str>,
    ) -> PyResult<Recall> {
        let now = self.handle.clock.now(py)?;
        let filter = FilterArguments { kinds, conditions, since, until, valid_at, known_at, min_trust, relevant_only }.filter(now)?;
        let mut request = Request {
            text: text_of("query", query)?,
            vector: vector.and_then(|vector| vector.get().query()),
            scopes: self.searched(scopes)?,
            limit: whole("limit", limit, 0, i64::MAX)? as usize,
            filter,
            fusion: Fusion::default(),
            min_score: min_score.map_or(Ok(0.0), |value| number("min_score", value))?,
            max_tokens: max_tokens.map(|value| whole("max_tokens", value, 0, i64::MAX)).transpose()?.map(|value| value as usize),
        };
        match zone {
            None => request.read_time_in_utc(),
            Some(zone) => request.read_time(|now| time::to_local(now, zone), |local| time::from_local(local, zone))?,
        }
        let text = hold_for(&request.text);
        let hold = if text == Hold::Attached && scopes.len() == 1 { self.hold() } else { Hold::Detached };
        let answer = run(py, hold, || recall::ask(self.handle.engine()?, request, degraded))?;
        self.documents.store(answer.documents, Ordering::Relaxed);
        Ok(Recall::new(answer, scopes.clone().unbind()))
    }

    fn get(&self, py: Python<'_>, memory_id: &Bound<'_, PyAny>) -> PyResult<Option<Memory>> {
        let (id, now) = (text_of("memory_id", memory_id)?, self.handle.clock.now(py)?);
        let found = run(py, Hold::Attached, || {
            let engine = self.handle.engine()?;
            engine.get(&self.scope, &id, now)?.map(|memory| known_one(engine, &self.scope, memory)).transpose()
        })?;
        Ok(found.map(Memory))
    }

    fn history(&self, py: Python<'_>, memory_id: &Bound<'_, PyAny>) -> PyResult<Vec<Memory>> {
        let id = text_of("memory_id", memory_id)?;
        let now = self.handle.clock.now(py)?;
        let found = self.read(py, |engine| known(engine, &self.scope, engine.history(&self.scope, &id, now)?))?;
        Ok(found.into_iter().map(Memory).collect())
    }

    /// Memories from number `from` on, and the number to go on from; `None` after the last.
    fn memories(
        &self,
        py: Python<'_>,
        kinds: u8,
        newest_first: bool,
        all: bool,
        since: Option<&Bound<'_, PyAny>>,
        from: Option<u32>,
        limit: usize,
    ) -> PyResult<(Vec<Memory>, Option<u32>)> {
        let now = self.handle.clock.now(py)?;
        let listing = Listing { kinds, newest_first, all, since: time::maybe_from_python("since", since)? };
        let (page, next) = self.read(py, |engine| {
            let (page, next) = engine.listed(&self.scope, listing, from, limit, now)?;
            Ok((known(engine, &self.scope, page)?, next))
        })?;
        Ok((page.into_iter().map(Memory).collect(), next))
    }

    /// Slots with their current memories. All of them, or the one of that name.
    fn slots(&self, py: Python<'_>, only: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<HeldSlot>> {
        let (only, now) = (maybe_text("a slot's name", only)?, self.handle.clock.now(py)?);
        self.read(py, |engine| {
            let held = |slot: (Slot, Vec<_>)| {
                let memories = known(engine, &self.scope, slot.1)?.into_iter().map(Memory).collect();
                Ok(HeldSlot { name: slot.0.name, multi: slot.0.multi, memories })
            };
            engine.slots(&self.scope, only.as_deref(), now)?.into_iter().map(held).collect()
        })
    }

    fn declare_slot(&self, py: Python<'_>, name: &Bound<'_, PyAny>, multi: bool) -> PyResult<()> {
        let name = text_of("a slot's name", name)?;
        self.write(py, |engine| engine.declare_slot(&self.scope, &name, multi))
    }

    fn forget(&self, py: Python<'_>, memory_id: &Bound<'_, PyAny>, reason: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let (id, reason) = (text_of("memory_id", memory_id)?, maybe_text("reason", reason)?);
        let now = self.handle.clock.now(py)?;
        self.write(py, |engine| engine.forget(&self.scope, &id, reason.as_deref(), now))
    }

    /// Erases everything of the scope.
    fn erase(&self, py: Python<'_>) -> PyResult<ErasedCounts> {
        let erased = run(py, Hold::Long, || self.handle.engine()?.erase(&self.scope))?;
        let Erased { memories, revisions, messages, documents, ledger_entries, terms, vectors, values, bytes_checked, .. } = erased;
        Ok(ErasedCounts { memories, revisions, messages, documents, ledger_entries, terms, vectors, values, bytes_checked })
    }

    fn forget_stale(
        &self,
        py: Python<'_>,
        unused_days: &Bound<'_, PyAny>,
        max_importance: &Bound<'_, PyAny>,
        dry_run: bool,
    ) -> PyResult<Vec<Memory>> {
        let (days, importance) = (number("unused_days", unused_days)?, number("max_importance", max_importance)?);
        let now = self.handle.clock.now(py)?;
        let found = self.write(py, |engine| {
            let stale = Stale::new(days, importance, now)?;
            known(engine, &self.scope, engine.forget_stale(&self.scope, stale, now, dry_run)?)
        })?;
        Ok(found.into_iter().map(Memory).collect())
    }

    /// The bits of kinds, for `memories`.
    #[staticmethod]
    fn kind_bits(kinds_given: Option<&Bound<'_, PyAny>>) -> PyResult<u8> {
        kinds(kinds_given)
    }

    /// Whether two handles name the same scope of the same engine.
    fn is_same(&self, other: &Bound<'_, Self>) -> bool {
        Arc::ptr_eq(&self.handle, &other.get().handle) && self.scope == other.get().scope
    }
}

impl ScopeCore {
    /// The draft with its vector: its own, that of the same memory, or what `embed` makes.
    fn embedded(&self, draft: Draft, embed: &Bound<'_, PyAny>) -> PyResult<NewMemory> {
        let (py, place) = (embed.py(), self.handle.space().map_or(0, |(_, place)| place));
        let Some(text) = draft.to_embed() else { return Ok(draft.0) };
        let known = run(py, Hold::Attached, || self.handle.engine()?.known_vector(place, &self.scope, &draft.0))?;
        let (vector, made_by) = match known {
            Some(vector) => (Some(vector), place),
            None => match embed.call1((text,))?.extract::<Option<Bound<'_, Vectors>>>()? {
                Some(made) => (made.get().first(), made.get().place),
                None => (None, draft.0.made_by),
            },
        };
        Ok(NewMemory { vector, made_by, ..draft.0 })
    }

    /// The scopes behind `Scope` objects, the first of which is this one.
    pub fn searched(&self, scopes: &Bound<'_, PyTuple>) -> PyResult<Vec<Scope>> {
        let mut searched = vec![Scope::clone(&self.scope)];
        for scope in scopes.iter().skip(1) {
            let other = crate::rows::scope_core(&scope, "also")?;
            if !Arc::ptr_eq(&other.get().handle, &self.handle) {
                return Err(invalid(
                    scope.py(),
                    "recalling: also= takes scopes of the same engine, and one belongs to another: take it from this engine's user() or shared()",
                ));
            }
            searched.push(Scope::clone(&other.get().scope));
        }
        Ok(searched)
    }
}
