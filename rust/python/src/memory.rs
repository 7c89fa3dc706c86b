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
use pyo3::types::{PyBytes, PyDict};

use crate::errors::{Hold, invalid, run};
use crate::{metadata, time};

/// Revisions of one scope with the ids that they name.
pub fn known(engine: &Engine, scope: &Scope, memories: Vec<memory::Memory>) -> Result<Vec<Arc<Named>>> {
    Ok(engine.named(scope, memories)?.into_iter().map(Arc::new).collect())
}

/// The same for one.
pub fn known_one(engine: &Engine, scope: &Scope, memory: memory::Memory) -> Result<Arc<Named>> {
    engine.named_one(scope, memory).map(Arc::new)
}

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

impl Memory {
    fn inner(&self) -> &memory::Memory {
        &self.0.memory
    }
}

#[pymethods]
impl Memory {
    /// The id that was given, or one of the form `mem-7`; the same for all its revisions.
    #[getter]
    fn id(&self) -> &str {
        &self.0.id
    }

    /// What is remembered; empty once it is forgotten or expired.
    #[getter]
    fn text(&self) -> &str {
        &self.inner().text
    }

    /// What it is about.
    #[getter]
    fn kind(&self) -> &'static str {
        self.inner().kind.name()
    }

    /// The attribute that it gives a value to: case-folded, in Unicode normal form C.
    #[getter]
    fn slot(&self) -> Option<&str> {
        self.inner().slot.as_deref()
    }

    /// 0 to 1.
    #[getter]
    fn importance(&self) -> f64 {
        self.inner().importance
    }

    /// 0 to 1: how sure the source was.
    #[getter]
    fn confidence(&self) -> f64 {
        self.inner().confidence
    }

    /// 0 to 3: how far the source is trusted.
    #[getter]
    fn trust(&self) -> u8 {
        self.inner().trust
    }

    /// Who said it.
    #[getter]
    fn source(&self) -> &str {
        &self.inner().source
    }

    /// 1, and one more with each `revise`.
    #[getter]
    fn revision(&self) -> u32 {
        self.inner().revision
    }

    /// Place in the order of the scope's writes, from 1.
    #[getter]
    fn sequence(&self) -> u64 {
        self.inner().sequence
    }

    /// When its first revision was written.
    #[getter]
    fn created_at<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        time::to_python(py, self.inner().created_at)
    }

    /// When this revision was written: `known_at` finds it from then on.
    #[getter]
    fn known_from<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        time::to_python(py, self.inner().known_from)
    }

    /// When the store learnt that it is not current any more; `None` while it is.
    #[getter]
    fn known_until<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        time::maybe_to_python(py, self.inner().ending.as_ref().map(|ending| ending.known_until))
    }

    /// When what it says happened or began to hold: `valid_at` finds it from then on.
    #[getter]
    fn occurred_at<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        time::to_python(py, self.inner().occurred_at)
    }

    /// When what it says stopped to hold, exclusive; `None` while it is current.
    #[getter]
    fn valid_until<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        time::maybe_to_python(py, self.inner().ending.as_ref().map(|ending| ending.valid_until))
    }

    /// When it is to be forgotten; `None` for never.
    #[getter]
    fn expires_at<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        time::maybe_to_python(py, self.inner().expires_at)
    }

    /// What the caller attached: a fresh dict at each use. A tuple comes back as a list.
    #[getter]
    fn metadata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        metadata::decode(py, &self.inner().metadata)
    }

    /// Why it is not current any more, or that it is.
    #[getter]
    fn state(&self) -> &'static str {
        self.inner().state().name()
    }

    /// Why it ended, in the caller's words or the engine's.
    #[getter]
    fn reason(&self) -> Option<&str> {
        self.inner().ending.as_ref().and_then(|ending| ending.reason.as_deref())
    }

    /// The id of the memory whose slot it took.
    #[getter]
    fn supersedes(&self) -> Option<&str> {
        self.0.supersedes.as_deref()
    }

    /// The id of the memory that took its slot.
    #[getter]
    fn superseded_by(&self) -> Option<&str> {
        self.0.superseded_by.as_deref()
    }

    /// The session in which it was said, where it was learnt from one.
    #[getter]
    fn session(&self) -> Option<&str> {
        self.inner().provenance.session.as_deref()
    }

    /// The index of the message that it was learnt from.
    #[getter]
    fn message(&self) -> Option<u64> {
        self.inner().provenance.message
    }

    /// What wrote it: "rules", "model", "consolidation" or "tool"; `None` for a caller.
    #[getter]
    fn writer(&self) -> Option<&str> {
        self.inner().provenance.writer.as_deref()
    }

    /// The ids of the memories that it was made from.
    #[getter]
    fn derived_from(&self) -> Vec<&str> {
        self.0.derived_from.iter().map(String::as_str).collect()
    }

    /// The ids of memories that say otherwise, where neither is known to be newer or truer.
    #[getter]
    fn disputes(&self) -> Vec<&str> {
        self.0.disputes.iter().map(String::as_str).collect()
    }

    /// How often it was said again.
    #[getter]
    fn reinforced(&self) -> u32 {
        self.inner().provenance.reinforced
    }

    /// When it was said last.
    #[getter]
    fn last_seen<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        time::to_python(py, self.inner().provenance.last_seen.max(self.inner().occurred_at))
    }

    /// How often it was recalled: what is stored, and what this process has recalled since. A prompt that shows it counts, too.
    #[getter]
    fn access_count(&self) -> u32 {
        self.0.access.recalls
    }

    /// When it was last recalled, to the second; `None` where it never was.
    #[getter]
    fn last_recalled_at<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        time::maybe_to_python(py, self.0.access.last_at())
    }

    /// Every field by name, in the order of this class.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let fields = PyDict::new(py);
        let memory = self.inner();
        fields.set_item("id", self.id())?;
        fields.set_item("text", &memory.text)?;
        fields.set_item("kind", memory.kind.name())?;
        fields.set_item("slot", self.slot())?;
        fields.set_item("importance", memory.importance)?;
        fields.set_item("confidence", memory.confidence)?;
        fields.set_item("trust", memory.trust)?;
        fields.set_item("source", &memory.source)?;
        fields.set_item("revision", memory.revision)?;
        fields.set_item("sequence", memory.sequence)?;
        fields.set_item("created_at", self.created_at(py)?)?;
        fields.set_item("known_from", self.known_from(py)?)?;
        fields.set_item("known_until", self.known_until(py)?)?;
        fields.set_item("occurred_at", self.occurred_at(py)?)?;
        fields.set_item("valid_until", self.valid_until(py)?)?;
        fields.set_item("expires_at", self.expires_at(py)?)?;
        fields.set_item("metadata", self.metadata(py)?)?;
        fields.set_item("state", self.state())?;
        fields.set_item("reason", self.reason())?;
        fields.set_item("supersedes", self.supersedes())?;
        fields.set_item("superseded_by", self.superseded_by())?;
        fields.set_item("session", self.session())?;
        fields.set_item("message", self.message())?;
        fields.set_item("writer", self.writer())?;
        fields.set_item("derived_from", self.derived_from())?;
        fields.set_item("disputes", self.disputes())?;
        fields.set_item("reinforced", self.reinforced())?;
        fields.set_item("last_seen", self.last_seen(py)?)?;
        Ok(fields)
    }

    fn __copy__(&self) -> Self {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.clone()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Pickled<'py>)> {
        let body = PyBytes::new(py, &self.inner().encode());
        let restore = py.import("memspan._core")?.getattr("restore_memory")?;
        Ok((restore, (self.inner().number, body, self.0.supersedes.clone(), self.0.superseded_by.clone())))
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

/// What a pickled memory is: its number, its record as a store has it, the ids that it names.
type Pickled<'py> = (u32, Bound<'py, PyBytes>, Option<String>, Option<String>);

/// What a pickled `Remembered` is.
type PickledAnswer = (&'static str, Memory, Option<String>);

/// Makes a memory of what `Memory.__reduce__` gave.
#[pyfunction]
pub fn restore_memory(
    py: Python<'_>,
    number: u32,
    body: &[u8],
    supersedes: Option<String>,
    superseded_by: Option<String>,
) -> PyResult<Memory> {
    let memory = run(py, Hold::Attached, || memory::Memory::decode(b"pickle", number, body))?;
    let (derived_from, disputes) = (Vec::new(), Vec::new());
    Ok(Memory(Arc::new(Named { id: memory.id(), supersedes, superseded_by, derived_from, disputes, access: Access::default(), memory })))
}

/// Makes an answer of what `Remembered.__reduce__` gave.
#[pyfunction]
pub fn restore_remembered(py: Python<'_>, action: &str, memory: Memory, reason: Option<String>) -> PyResult<Remembered> {
    let action = Action::ALL.into_iter().find(|known| known.name() == action);
    let action = action.ok_or_else(|| {
        invalid(py, "restoring a pickled Remembered: its action must be one of this version: pickle and restore with the same one")
    })?;
    Ok(Remembered { action, memory, reason })
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
    /// The answer to a write, its ids looked up.
    pub fn new(engine: &Engine, scope: &Scope, remembered: memory::Remembered) -> Result<Self> {
        let memory = Memory(known_one(engine, scope, remembered.memory)?);
        Ok(Self { action: remembered.action, memory, reason: remembered.reason })
    }
}

#[pymethods]
impl Remembered {
    /// One word.
    ///
    /// "added": a new memory. "updated": a new revision. "superseded": a new memory took the slot of another. "duplicate": it was there
    /// already. "rejected": its id belongs to a forgotten one, or the policy refuses it (it is then stored nowhere and has no text).
    /// "redacted": a new memory, without what the policy takes out. "reinforced": a memory that was there counts that it was said again.
    /// "quarantined": it waits for `Scope.approve`.
    #[getter]
    fn action(&self) -> &'static str {
        self.action.name()
    }

    /// The memory as it is stored now; for a duplicate, the one that was there.
    #[getter]
    fn memory(&self) -> Memory {
        self.memory.clone()
    }

    /// Why, where that is not plain.
    #[getter]
    fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    fn __copy__(&self) -> Self {
        self.clone()
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Self {
        self.clone()
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
