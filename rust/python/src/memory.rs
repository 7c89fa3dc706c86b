//! Memories: what is to be remembered, checked before anything is embedded or written; one revision as Python reads it; what became of a
//! write.

use std::sync::Arc;

use memspan_engine::memory::revise::Revision;
use memspan_engine::memory::{Answered, Named, NewMemory, ToEmbed as Wanted, give_vectors};
use memspan_engine::scope::Scope;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::{Argument, Trust, Ttl, calls, checked, extracted, functions, holds, options};
use crate::value::{Attached, Moment, as_is, keeps};
use crate::vectors::{Space, Vectors, given_vector};

keeps! {
    Arc<Named> as Memory |it, py| {
        id = &*it.id, text = &*it.memory.text, kind = it.memory.kind.name(), slot = it.memory.slot.as_deref(),
        importance = it.memory.importance, confidence = it.memory.confidence, trust = it.memory.trust, source = &*it.memory.source,
        revision = it.memory.revision, sequence = it.memory.sequence, created_at = Moment(it.memory.created_at),
        known_from = Moment(it.memory.known_from), known_until = it.memory.ending.as_ref().map(|ending| Moment(ending.known_until)),
        occurred_at = Moment(it.memory.occurred_at), valid_until = it.memory.ending.as_ref().map(|ending| Moment(ending.valid_until)),
        expires_at = it.memory.expires_at.map(Moment), metadata = Attached(it.memory.metadata.clone()),
        state = it.memory.state().name(), reason = it.memory.ending.as_ref().and_then(|ending| ending.reason.as_deref()),
        supersedes = it.supersedes.as_deref(), superseded_by = it.superseded_by.as_deref(),
        session = it.memory.provenance.session.as_deref(), message = it.memory.provenance.message,
        writer = it.memory.provenance.writer.as_deref(), derived_from = it.derived_from.clone(), disputes = it.disputes.clone(),
        reinforced = it.memory.provenance.reinforced, last_seen = Moment(it.memory.last_seen()),
        access_count = it.access.recalls, last_recalled_at = it.access.last_at().map(Moment), _number = it.memory.number
    }
    Answered as Remembered |it, py| { action = it.action.name(), memory = Arc::clone(&it.memory), reason = it.reason.as_deref() }
}

/// A memory of the arguments of `remember`, checked. `space` is that of the embedder, without which no vector is taken.
pub fn new_memory(text: &Bound<'_, PyAny>, fields: &Bound<'_, PyDict>, space: Space) -> PyResult<NewMemory> {
    let mut new = NewMemory::new(String::read("text", text)?);
    new.made_by = space.map_or(0, |(_, place)| place);
    options! { fields of "remember()" |name, value|
        kind => new.kind = Argument::read(name, value)?;
        slot => new.slot = Some(Argument::read(name, value)?);
        importance => new.importance = Argument::read(name, value)?;
        confidence => new.confidence = Argument::read(name, value)?;
        trust => new.trust = Some(Trust::read(name, value)?.0);
        source => new.source = Argument::read(name, value)?;
        id => new.id = Some(Argument::read(name, value)?);
        ttl_seconds => new.ttl = Some(Ttl::read(name, value)?.0);
        occurred_at => new.occurred_at = Some(Moment::read(name, value)?.0);
        metadata => new.metadata = Attached::read(name, value)?.0;
        found => new.detected = Argument::read(name, value)?;
        vector => new.vector = Some(given_vector(value, space.map(|(dimensions, _)| dimensions))?);
    }
    checked(text, new.check())?;
    Ok(new)
}

/// One memory on its way into the store: checked, of a scope, and not yet embedded. Frozen.
#[pyclass(frozen, module = "memspan._core")]
#[derive(Clone)]
pub struct Draft {
    pub scope: Arc<Scope>,
    pub new: NewMemory,
}
as_is!(Draft);
extracted!(Py<Draft>);

#[pymethods]
impl Draft {
    #[getter]
    fn id(&self) -> Option<&str> {
        self.new.id.as_deref()
    }
}

/// Drafts with their vectors; `embedded` has one for each that wants one.
pub fn with_vectors(drafts: &[Py<Draft>], embedded: Option<&Py<Vectors>>) -> Vec<Draft> {
    let mut drafts: Vec<_> = drafts.iter().map(|draft| draft.get().clone()).collect();
    give_vectors(drafts.iter_mut().map(|draft| &mut draft.new), embedded.map(|made| &made.get().0));
    drafts
}

holds! {
    /// The texts of some drafts that an embedder is asked, and where each draft's vector comes from.
    ToEmbed(Wanted);
}

calls! {
    ToEmbed |it, py| (Ok(&it.0), ()) {
        texts() Short |own| Ok(own.texts.clone());
        reused() Short |own| Ok(own.reused());
        completed(embedded: Py<Vectors>) Short |own| Ok(Vectors(own.completed(&embedded.get().0)));
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

functions! { |py|
    check_memory_text(text: String) Short => Revision { text: Some(text), ..Revision::default() }.check();
    /// Checks that a text can be one before it is given to anybody else: whether it has more than white space.
    check_text(name: String, text: Bound<'py, PyAny>) Short with text = String::read(&name, &text)?; => Ok(!text.trim().is_empty());
}
