//! `Memory` and `Remembered`: one revision of a memory, and what became of a write.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use memspan_engine::Result;
use memspan_engine::engine::Engine;
use memspan_engine::memory::access::Access;
use memspan_engine::memory::{self, Action, Named};
use memspan_engine::scope::Scope;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict};

use crate::arguments::extracted;
use crate::errors::{Hold, run};
use crate::value::{Attached, Moment, plain, properties};

/// One revision of a memory. Times are aware, in UTC, exact to the microsecond.
///
/// Equal where every field is; two scopes' memories can be equal.
///
/// Examples:
///     >>> memory = user.remember("Prefers Go for scripting", "preference", slot="scripting-language").memory
///     >>> memory
///     Memory("mem-1", "Prefers Go for scripting", kind="preference", slot="scripting-language")
///     >>> memory.known_from.isoformat(), memory.state
///     ('2025-01-01T00:00:00+00:00', 'current')
#[pyclass(frozen, eq, from_py_object, module = "memspan")]
#[derive(Debug, Clone, PartialEq)]
pub struct Memory(pub Arc<Named>);
plain!(Memory, Remembered);
extracted!(Memory);

impl Memory {
    pub fn new(named: Named) -> Self {
        Self(Arc::new(named))
    }

    /// Its number and its revision.
    pub fn place(&self) -> (u32, u32) {
        (self.inner().number, self.inner().revision)
    }

    fn inner(&self) -> &memory::Memory {
        &self.0.memory
    }
}

properties! {
    Memory |it| {
        /// The id that was given, or one of the form `mem-7`; the same for all its revisions.
        id: &str = &it.0.id;
        /// What is remembered; empty once it is forgotten or expired.
        text: &str = &it.inner().text;
        /// What it is about.
        kind: &'static str = it.inner().kind.name();
        /// The attribute that it gives a value to: case-folded, in Unicode normal form C.
        slot: Option<&str> = it.inner().slot.as_deref();
        /// 0 to 1.
        importance: f64 = it.inner().importance;
        /// 0 to 1: how sure the source was.
        confidence: f64 = it.inner().confidence;
        /// 0 to 3: how far the source is trusted.
        trust: u8 = it.inner().trust;
        /// Who said it.
        source: &str = &it.inner().source;
        /// 1, and one more with each `revise`.
        revision: u32 = it.inner().revision;
        /// Place in the order of the scope's writes, from 1.
        sequence: u64 = it.inner().sequence;
        /// When its first revision was written.
        created_at: Moment = Moment(it.inner().created_at);
        /// When this revision was written: `known_at` finds it from then on.
        known_from: Moment = Moment(it.inner().known_from);
        /// When the store learnt that it is not current any more; `None` while it is.
        known_until: Option<Moment> = it.inner().ending.as_ref().map(|ending| ending.known_until).map(Moment);
        /// When what it says happened or began to hold: `valid_at` finds it from then on.
        occurred_at: Moment = Moment(it.inner().occurred_at);
        /// When what it says stopped to hold, exclusive; `None` while it is current.
        valid_until: Option<Moment> = it.inner().ending.as_ref().map(|ending| ending.valid_until).map(Moment);
        /// When it is to be forgotten; `None` for never.
        expires_at: Option<Moment> = it.inner().expires_at.map(Moment);
        /// What the caller attached: a fresh dict at each use. A tuple comes back as a list.
        metadata: Attached = Attached(it.inner().metadata.clone());
        /// Why it is not current any more, or that it is.
        state: &'static str = it.inner().state().name();
        /// Why it ended, in the caller's words or the engine's.
        reason: Option<&str> = it.inner().ending.as_ref().and_then(|ending| ending.reason.as_deref());
        /// The id of the memory whose slot it took.
        supersedes: Option<&str> = it.0.supersedes.as_deref();
        /// The id of the memory that took its slot.
        superseded_by: Option<&str> = it.0.superseded_by.as_deref();
        /// The session in which it was said, where it was learnt from one.
        session: Option<&str> = it.inner().provenance.session.as_deref();
        /// The index of the message that it was learnt from.
        message: Option<u64> = it.inner().provenance.message;
        /// What wrote it: "rules", "model", "consolidation" or "tool"; `None` for a caller.
        writer: Option<&str> = it.inner().provenance.writer.as_deref();
        /// The ids of the memories that it was made from.
        derived_from: Vec<&str> = it.0.derived_from.iter().map(String::as_str).collect();
        /// The ids of memories that say otherwise, where neither is known to be newer or truer.
        disputes: Vec<&str> = it.0.disputes.iter().map(String::as_str).collect();
        /// How often it was said again.
        reinforced: u32 = it.inner().provenance.reinforced;
        /// When it was said last.
        last_seen: Moment = Moment(it.inner().provenance.last_seen.max(it.inner().occurred_at));
        /// How often it was recalled: what is stored, and what this process has recalled since. A prompt that shows it counts, too.
        access_count: u32 = it.0.access.recalls;
        /// When it was last recalled, to the second; `None` where it never was.
        last_recalled_at: Option<Moment> = it.0.access.last_at().map(Moment);
    }

    /// Every field by name, in the order of this class; the counts of recalls are none.
    fn to_dict<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyDict>> {
        let counters = ["access_count", "last_recalled_at"]; // of the scope, not of what is remembered
        let named = Self::SHOWN.iter().filter(|name| !counters.contains(name)).map(|name| Ok((*name, slf.getattr(*name)?)));
        named.collect::<PyResult<Vec<_>>>()?.into_py_dict(slf.py())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Pickled<'py>)> {
        let body = PyBytes::new(py, &self.inner().encode());
        let restore = py.import("memspan._core")?.getattr("restore_memory")?;
        let slot = (self.0.supersedes.clone(), self.0.superseded_by.clone());
        let others = (self.0.derived_from.clone(), self.0.disputes.clone());
        Ok((restore, (self.inner().number, body, slot, others, (self.0.access.recalls, self.0.access.last_seconds))))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        (&self.0.id, self.inner().revision, self.inner().sequence).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let memory = self.inner();
        let slot = memory.slot.as_ref().map_or_else(String::new, |slot| format!(", slot={slot:?}"));
        let state = memory.ending.as_ref().map_or_else(String::new, |ending| format!(", state={:?}", ending.state.name()));
        format!("Memory({:?}, {:?}, kind={:?}{slot}{state})", self.0.id, shortened(&memory.text), memory.kind.name())
    }
}

/// The ids of the memory whose slot it took, and of the one that took its own.
type InSlot = (Option<String>, Option<String>);

/// What a pickled memory is: its number, its record as a store has it, its neighbours in the slot, the ids that it was made from and that
/// say otherwise, how often and when it was recalled.
type Pickled<'py> = (u32, Bound<'py, PyBytes>, InSlot, (Vec<String>, Vec<String>), (u32, u32));

/// What a pickled `Remembered` is.
type PickledAnswer = (&'static str, Memory, Option<String>);

/// Makes a memory of what `Memory.__reduce__` gave.
#[pyfunction]
pub fn restore_memory(
    py: Python<'_>,
    number: u32,
    body: &[u8],
    slot: InSlot,
    others: (Vec<String>, Vec<String>),
    access: (u32, u32),
) -> PyResult<Memory> {
    let memory = run(py, Hold::Attached, || memory::Memory::decode(b"pickle", number, body))?;
    let ((supersedes, superseded_by), (derived_from, disputes)) = (slot, others);
    let access = Access { recalls: access.0, last_seconds: access.1 };
    Ok(Memory::new(Named { id: memory.id(), supersedes, superseded_by, derived_from, disputes, access, memory }))
}

/// Makes an answer of what `Remembered.__reduce__` gave.
#[pyfunction]
pub fn restore_remembered(py: Python<'_>, action: &str, memory: Memory, reason: Option<String>) -> PyResult<Remembered> {
    Ok(Remembered { action: run(py, Hold::Attached, || Action::parse(action))?, memory, reason })
}

/// A text as a repr shows it: its first 60 characters.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// What became of a write.
///
/// Examples:
///     >>> _ = user.remember("Prefers tea")
///     >>> user.remember("  Prefers tea")
///     Remembered("duplicate", Memory("mem-1", "Prefers tea", kind="semantic"), reason="mem-1 says the same")
#[pyclass(frozen, eq, module = "memspan")]
#[derive(Debug, Clone, PartialEq)]
pub struct Remembered {
    action: Action,
    memory: Memory,
    reason: Option<String>,
}

impl Remembered {
    /// The answers to the writes of one batch, their ids looked up in one snapshot.
    pub fn several(engine: &Engine, scope: &Scope, remembered: Vec<memory::Remembered>) -> Result<Vec<Self>> {
        let (whys, memories): (Vec<_>, _) = remembered.into_iter().map(|one| ((one.action, one.reason), one.memory)).unzip();
        let named = engine.named(scope, memories)?.into_iter().map(Memory::new);
        Ok(whys.into_iter().zip(named).map(|((action, reason), memory)| Self { action, memory, reason }).collect())
    }

    /// The answer to a write, its ids looked up.
    pub fn new(engine: &Engine, scope: &Scope, remembered: memory::Remembered) -> Result<Self> {
        let memory = Memory::new(engine.named_one(scope, remembered.memory)?);
        Ok(Self { action: remembered.action, memory, reason: remembered.reason })
    }
}

properties! {
    Remembered |it| {
        /// One word.
        ///
        /// "added": a new memory. "updated": a new revision. "superseded": a new memory took the slot of another. "duplicate": it was there
        /// already. "rejected": its id belongs to a forgotten one, or the policy refuses it (it is then stored nowhere and has no text).
        /// "redacted": a new memory, without what the policy takes out. "reinforced": a memory that was there counts that it was said again.
        /// "quarantined": it waits for `Scope.approve`.
        action: &'static str = it.action.name();
        /// The memory as it is stored now; for a duplicate, the one that was there.
        memory: Memory = it.memory.clone();
        /// Why, where that is not plain.
        reason: Option<&str> = it.reason.as_deref();
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, PickledAnswer)> {
        let restore = py.import("memspan._core")?.getattr("restore_remembered")?;
        Ok((restore, (self.action.name(), self.memory.clone(), self.reason.clone())))
    }

    fn __hash__(&self) -> u64 {
        self.memory.__hash__() ^ self.action as u64
    }

    fn __repr__(&self) -> String {
        let reason = self.reason.as_ref().map_or_else(String::new, |reason| format!(", reason={reason:?}"));
        format!("Remembered({:?}, {}{reason})", self.action.name(), self.memory.__repr__())
    }
}
