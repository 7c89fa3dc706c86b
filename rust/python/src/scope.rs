//! `ScopeCore`: the memory of one scope, as the package's `Scope` calls it.

use std::sync::{Arc, OnceLock};

use memspan_engine::Result;
use memspan_engine::engine::Engine;
use memspan_engine::memory::forget::Stale;
use memspan_engine::memory::revise::Revision;
use memspan_engine::recall::when::{self, Range};
use memspan_engine::recall::{self, Fusion, Request};
use memspan_engine::scope::Scope;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arguments::{FilterArguments, kinds, maybe_text, number, text_of, whole};
use crate::engine::Handle;
use crate::errors::{Hold, hold_for, invalid, run};
use crate::memory::{Memory, Remembered, known, known_one};
use crate::metadata;
use crate::recall::{Answer, Found, Recall};
use crate::rows::Draft;
use crate::time;
use crate::vectors::Vectors;

const DAY_MICROSECONDS: f64 = 86_400e6;

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct ScopeCore {
    pub handle: Arc<Handle>,
    pub scope: Arc<Scope>,
}

impl ScopeCore {
    pub fn new(handle: &Arc<Handle>, scope: Scope) -> Self {
        Self { handle: Arc::clone(handle), scope: Arc::new(scope) }
    }

    /// Runs a read of this scope, attached where the scope is small.
    fn read<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&Engine) -> Result<T> + Send) -> PyResult<T> {
        let hold = run(py, Hold::Attached, || self.handle.hold(std::slice::from_ref(&self.scope)))?;
        run(py, hold, || work(self.handle.engine()?))
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

    /// Writes a draft; `embedded` has its vector where it did not bring its own.
    fn remember(&self, py: Python<'_>, draft: &Bound<'_, Draft>, embedded: Option<&Bound<'_, Vectors>>) -> PyResult<Remembered> {
        let mut new = draft.get().0.clone();
        if let Some(vectors) = embedded {
            (new.vector, new.made_by) = (vectors.get().first(), vectors.get().place);
        }
        let now = self.handle.clock.now(py)?;
        self.write(py, |engine| Remembered::new(engine, &self.scope, engine.remember(&self.scope, new, now)?))
    }

    #[allow(clippy::too_many_arguments)] // those of `revise()`, one by one
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

    #[allow(clippy::too_many_arguments)] // those of `recall()`, one by one
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
        zone: Option<&Bound<'py, PyAny>>,
        vector: Option<&Bound<'py, Vectors>>,
        degraded: Option<&str>,
    ) -> PyResult<Recall> {
        let now = self.handle.clock.now(py)?;
        let mut filter = FilterArguments { kinds, conditions, since, until, valid_at, known_at, min_trust }.filter(now)?;
        let text = text_of("query", query)?;
        if !filter.limits_time() {
            filter.preferred = asked_time(&text, now, zone)?;
        }
        let mut request = Request {
            text,
            vector: vector.and_then(|vector| vector.get().query()),
            scopes: self.searched(scopes)?,
            limit: whole("limit", limit, 0, i64::MAX)? as usize,
            filter,
            fusion: Fusion::default(),
            min_score: min_score.map_or(Ok(0.0), fraction)?,
            max_tokens: max_tokens.map(|value| whole("max_tokens", value, 0, i64::MAX)).transpose()?.map(|value| value as usize),
        };
        let hold = match hold_for(&request.text) {
            Hold::Detached => Hold::Detached,
            Hold::Attached => run(py, Hold::Attached, || self.handle.hold(&request.scopes))?,
        };
        let (answer, found) = run(py, hold, || {
            let engine = self.handle.engine()?;
            request.vector = request.vector.take().or_else(|| recall::question_vector(engine, &request.text));
            let mut answer = recall::recall(engine, &request)?;
            let found = known_hits(engine, &request, std::mem::take(&mut answer.hits))?;
            Ok((answer, found))
        })?;
        let why = answer.degraded.map(|why| degraded.map_or(why, str::to_owned));
        Ok(Recall::new(Answer {
            found,
            queries: answer.queries,
            confidence: OnceLock::new(),
            scopes: scopes.clone().unbind(),
            degraded: why.filter(|_| !request.text.trim().is_empty()),
            hybrid: request.vector.is_some() || answer.by_vectors,
        }))
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

    /// Current memories from number `first` on, at most `limit`, and the number to go on from; `None` after the last.
    fn memories(&self, py: Python<'_>, kinds: u8, first: u32, limit: usize) -> PyResult<(Vec<Memory>, Option<u32>)> {
        let now = self.handle.clock.now(py)?;
        let page = self.read(py, |engine| known(engine, &self.scope, engine.memories(&self.scope, first, limit, kinds, now)?))?;
        let next = page.last().filter(|_| page.len() == limit).and_then(|last| last.memory.number.checked_add(1));
        Ok((page.into_iter().map(Memory).collect(), next))
    }

    /// Slots with their current memories: name, whether it is multi, memories. All of them, or the one of that name.
    fn slots(&self, py: Python<'_>, only: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<(String, bool, Vec<Memory>)>> {
        let (only, now) = (maybe_text("a slot's name", only)?, self.handle.clock.now(py)?);
        let slots = self.read(py, |engine| {
            let slots = engine.slots(&self.scope, only.as_deref(), now)?;
            slots.into_iter().map(|(slot, held)| Ok((slot.name, slot.multi, known(engine, &self.scope, held)?))).collect::<Result<Vec<_>>>()
        })?;
        Ok(slots.into_iter().map(|(name, multi, held)| (name, multi, held.into_iter().map(Memory).collect())).collect())
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

    fn forget_stale(
        &self,
        py: Python<'_>,
        unused_days: &Bound<'_, PyAny>,
        max_importance: &Bound<'_, PyAny>,
        dry_run: bool,
    ) -> PyResult<Vec<Memory>> {
        let days = number("unused_days", unused_days)?;
        if !(0.0..=36_525.0).contains(&days) {
            return Err(invalid(
                py,
                format!("forgetting what is stale: unused_days must be from 0 to 36,525 (100 years), and it is {days}: change it"),
            ));
        }
        let now = self.handle.clock.now(py)?;
        let stale = Stale { unused_since: now - (days * DAY_MICROSECONDS) as i64, max_importance: importance(max_importance)? };
        let found = self.write(py, |engine| known(engine, &self.scope, engine.forget_stale(&self.scope, stale, now, dry_run)?))?;
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
    /// The scopes behind `Scope` objects, the first of which is this one.
    fn searched(&self, scopes: &Bound<'_, PyTuple>) -> PyResult<Vec<Scope>> {
        let mut searched = vec![Scope::clone(&self.scope)];
        for scope in scopes.iter().skip(1) {
            let other = crate::rows::scope_core(&scope, "also")?;
            if !Arc::ptr_eq(&other.get().handle, &self.handle) {
                return Err(invalid(
                    scope.py(),
                    "recalling: also= takes scopes of the same engine, and one belongs to another: take it from this engine's user() or shared()",
                ));
            }
            if searched.contains(&other.get().scope) {
                return Err(invalid(
                    scope.py(),
                    format!("recalling: every scope is searched once, and {scope} is named twice: leave it out of also="),
                ));
            }
            searched.push(Scope::clone(&other.get().scope));
        }
        Ok(searched)
    }
}

/// The time that a question asks about, by the clock of a `tzinfo`; of UTC where there is none.
fn asked_time(text: &str, now: i64, zone: Option<&Bound<'_, PyAny>>) -> PyResult<Option<Range>> {
    let Some(zone) = zone else { return Ok(when::read(text, now, 0)) };
    let Some(local) = when::read_local(text, time::to_local(now, zone)?) else { return Ok(None) };
    let side = |side: Option<i64>| side.map(|side| time::from_local(side, zone)).transpose();
    Ok(Some(Range { since: side(local.since)?, until: side(local.until)? }))
}

/// The hits of an answer, their memories with the ids that they name.
fn known_hits(engine: &Engine, request: &Request, hits: Vec<recall::Hit>) -> Result<Vec<Found>> {
    let mut by_scope = vec![Vec::new(); request.scopes.len()];
    let mut rest = Vec::with_capacity(hits.len());
    for hit in hits {
        by_scope[hit.scope].push(hit.memory);
        rest.push((hit.scope, hit.parts, hit.duplicates));
    }
    let mut memories = Vec::with_capacity(by_scope.len());
    for (scope, found) in request.scopes.iter().zip(by_scope) {
        memories.push(known(engine, scope, found)?.into_iter());
    }
    let mut found = Vec::with_capacity(rest.len());
    for (scope, parts, duplicates) in rest {
        found.extend(memories[scope].next().map(|known| Found::new(known, scope, parts, duplicates)));
    }
    Ok(found)
}

fn fraction(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let given = number("min_score", value)?;
    if (0.0..=1.0).contains(&given) {
        return Ok(given);
    }
    Err(invalid(value.py(), format!("recalling: min_score is a number from 0 to 1, and it is {given}: scale it")))
}

fn importance(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let given = number("max_importance", value)?;
    if (0.0..=1.0).contains(&given) {
        return Ok(given);
    }
    Err(invalid(value.py(), format!("forgetting what is stale: max_importance is a number from 0 to 1, and it is {given}: scale it")))
}
