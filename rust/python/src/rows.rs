//! What is to be remembered: the arguments of `remember`, converted and checked before anything is embedded or written.

use std::sync::Arc;

use memspan_engine::Result;
use memspan_engine::engine::Engine;
use memspan_engine::memory::{NewMemory, ToEmbed as Wanted};
use memspan_engine::scope::Scope;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::{Argument, Trust, Ttl, checked, extracted, functions};
use crate::errors::invalid;
use crate::life::detected;
use crate::value::{Attached, Moment, as_is};
use crate::vectors::{Space, Vectors, given_vector};

/// A memory of the arguments of `remember`, checked. `space` is that of the embedder, without which no vector is taken.
pub fn new_memory(text: &Bound<'_, PyAny>, fields: &Bound<'_, PyDict>, space: Space) -> PyResult<NewMemory> {
    let mut new = NewMemory::new(String::read("text", text)?);
    new.made_by = space.map_or(0, |(_, place)| place);
    for (name, value) in fields.iter().filter(|(_, value)| !value.is_none()) {
        set(&mut new, &String::read("the name of an argument", &name)?, &value, space)?;
    }
    checked(text, new.check())?;
    Ok(new)
}

fn set(new: &mut NewMemory, name: &str, value: &Bound<'_, PyAny>, space: Space) -> PyResult<()> {
    match name {
        "kind" => new.kind = Argument::read(name, value)?,
        "slot" => new.slot = Some(Argument::read(name, value)?),
        "importance" => new.importance = Argument::read(name, value)?,
        "confidence" => new.confidence = Argument::read(name, value)?,
        "trust" => new.trust = Some(Trust::read(name, value)?.0),
        "source" => new.source = Argument::read(name, value)?,
        "id" => new.id = Some(Argument::read(name, value)?),
        "ttl_seconds" => new.ttl = Some(Ttl::read(name, value)?.0),
        "occurred_at" => new.occurred_at = Some(Moment::read(name, value)?.0),
        "metadata" => new.metadata = Attached::read(name, value)?.0,
        "found" => new.detected = detected(&new.text, Some(Argument::read(name, value)?)),
        "vector" => new.vector = Some(given_vector(value, space.map(|(dimensions, _)| dimensions))?),
        other => {
            let rule = "a key is one of the arguments of remember()";
            return Err(invalid(value.py(), format!("reading a row: {rule}, and {other:?} is none: remove it, or put it into metadata")));
        }
    }
    Ok(())
}

/// One memory on its way into the store: checked, of a scope, and not yet embedded. Frozen.
#[pyclass(frozen, module = "memspan._core")]
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

    /// The text to embed; `None` where a vector came with it.
    pub fn to_embed(&self) -> Option<&str> {
        self.new.to_embed()
    }
}

/// Drafts with their vectors; `embedded` has one for each that has none of its own.
pub fn with_vectors(drafts: &[Py<Draft>], embedded: Option<&Vectors>) -> Vec<(Arc<Scope>, NewMemory)> {
    let mut made = embedded.into_iter().flat_map(Vectors::made);
    let mut rows: Vec<_> = drafts.iter().map(|draft| (Arc::clone(&draft.get().scope), draft.get().new.clone())).collect();
    for (_, new) in rows.iter_mut().filter(|(_, new)| new.vector.is_none()) {
        (new.vector, new.made_by) = made.next().unwrap_or_default();
    }
    rows
}

/// The texts of some drafts that an embedder is asked, and where each draft's vector comes from. Frozen.
#[pyclass(frozen, module = "memspan._core")]
pub struct ToEmbed {
    wanted: Wanted,
    place: u32,
}
as_is!(ToEmbed);

impl ToEmbed {
    pub fn new(engine: &Engine, drafts: &[Py<Draft>], place: u32) -> Result<Self> {
        let rows: Vec<_> = drafts.iter().map(|draft| (&*draft.get().scope, &draft.get().new)).collect();
        Ok(Self { wanted: engine.to_embed(place, &rows)?, place })
    }
}

#[pymethods]
impl ToEmbed {
    /// What the embedder is asked.
    #[getter]
    fn texts(&self) -> Vec<&str> {
        self.wanted.texts.iter().map(String::as_str).collect()
    }

    /// Drafts for which nothing need be asked.
    #[getter]
    fn reused(&self) -> usize {
        self.wanted.reused()
    }

    /// A vector for each draft, from those of [`texts`](Self::texts).
    fn completed(&self, embedded: &Bound<'_, Vectors>) -> Vectors {
        let Vectors { rows, first_error, .. } = embedded.get();
        Vectors { rows: self.wanted.completed(rows), place: self.place, first_error: first_error.clone() }
    }

    fn __len__(&self) -> usize {
        self.wanted.len()
    }
}

/// Checks that a text can be one before it is given to anybody else: whether it has more than white space.
#[pyfunction]
pub fn check_text(name: &str, text: &Bound<'_, PyAny>) -> PyResult<bool> {
    String::read(name, text).map(|text| !text.trim().is_empty())
}

functions! { |py|
    check_memory_text(text: String) Short => NewMemory::new(text).check();
}
