//! What is to be remembered: the arguments of `remember` and the rows of `remember_many` (strings, mappings or `NewMemory` objects),
//! converted and checked before anything is embedded or written.

use std::sync::Arc;

use memspan_engine::memory::{NewMemory, ToEmbed as Wanted, Verdict};
use memspan_engine::scope::Scope;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyString};

use crate::arguments::{self, Argument, Attached, Trust, Ttl, checked, extracted};
use crate::engine::EngineCore;
use crate::errors::{Hold, invalid, run, type_name};
use crate::scope::{GivenScope, ScopeCore};
use crate::value::shows;
use crate::vectors::{Space, Vectors, given_vector};
use crate::written;

/// A memory of the arguments of `remember`, checked. `space` is that of the embedder, without which no vector is taken.
pub fn new_memory(text: &Bound<'_, PyAny>, fields: Option<&Bound<'_, PyDict>>, space: Space) -> PyResult<NewMemory> {
    let mut new = NewMemory::new(String::read("text", text)?);
    new.made_by = space.map_or(0, |(_, place)| place);
    for (name, value) in fields.into_iter().flatten().filter(|(_, value)| !value.is_none()) {
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
        "occurred_at" => new.occurred_at = Some(arguments::Moment::read(name, value)?.0),
        "metadata" => new.metadata = Attached::read(name, value)?.0,
        "vector" => new.vector = Some(given_vector(value, space.map(|(dimensions, _)| dimensions))?),
        other => {
            let rule = "a key is one of the arguments of remember()";
            return Err(invalid(value.py(), format!("reading a row: {rule}, and {other:?} is none: remove it, or put it into metadata")));
        }
    }
    Ok(())
}

/// One memory on its way into the store: checked, and not yet embedded. Frozen.
#[pyclass(frozen, module = "memspan._core")]
pub struct Draft(pub NewMemory);
extracted!(Py<Draft>);

#[pymethods]
impl Draft {
    /// The text to embed; `None` where a vector came with it.
    pub fn to_embed(&self) -> Option<&str> {
        (self.0.vector.is_none() && !matches!(self.0.screened, Verdict::Refused(_))).then_some(self.0.text.as_str())
    }
}

/// A row that cannot be written: its place among those that were given, its id, what is wrong.
struct FailedRow(usize, Option<String>, PyErr);

shows! {
    FailedRow as FailedRow |it| { place = it.0, id = it.1, error = it.2 }
}

/// Many of them, of one scope or of several. Frozen.
#[pyclass(frozen, module = "memspan._core")]
pub struct Rows {
    kept: Vec<(Arc<Scope>, NewMemory)>,
    /// Place of each of `kept` in what was given.
    places: Vec<usize>,
    failed: Vec<(usize, Option<String>, PyErr)>,
}

#[pymethods]
impl Rows {
    /// Converts `rows`; those without a scope of their own belong to `scope`. A row that cannot be is kept as an error.
    #[new]
    fn new(
        py: Python<'_>,
        owner: &Bound<'_, EngineCore>,
        rows: &Bound<'_, PyList>,
        scope: Option<&Bound<'_, ScopeCore>>,
    ) -> PyResult<Self> {
        let mut all = Self { kept: Vec::with_capacity(rows.len()), places: Vec::with_capacity(rows.len()), failed: Vec::new() };
        let (owner, default) = (owner.get(), scope.map(|scope| Arc::clone(&scope.get().scope)));
        let screening = run(py, Hold::Attached, || Ok(owner.handle.engine()?.screening()))?;
        for (place, row) in rows.iter().enumerate() {
            match read(owner, default.clone(), &row) {
                Ok(mut row) => {
                    row.1.screen(screening);
                    all.kept.push(row);
                    all.places.push(place);
                }
                // What is no error of ours (an interrupt, say) is not swallowed.
                Err(error) if !error.is_instance_of::<PyValueError>(py) => return Err(error),
                Err(error) => all.failed.push((place, id_of(&row), error)),
            }
        }
        Ok(all)
    }

    /// Rows that can be written.
    fn __len__(&self) -> usize {
        self.kept.len()
    }

    /// What is to be embedded by the embedder at `place`.
    fn to_embed(&self, py: Python<'_>, owner: &Bound<'_, EngineCore>, place: u32) -> PyResult<ToEmbed> {
        let rows: Vec<(&Scope, &NewMemory)> = self.kept.iter().map(|(scope, new)| (&**scope, new)).collect();
        let owner = owner.get();
        Ok(ToEmbed { wanted: run(py, Hold::Detached, || owner.handle.engine()?.to_embed(place, &rows))?, place })
    }

    /// The rows that cannot be written.
    fn failed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let row = |(place, id, error): &(usize, Option<String>, PyErr)| FailedRow(*place, id.clone(), error.clone_ref(py));
        crate::value::Show::show(self.failed.iter().map(row).collect::<Vec<_>>(), py)
    }

    /// The place of row `at` among what was given, and its id.
    fn place(&self, at: usize) -> PyResult<(usize, Option<&str>)> {
        let place = self.places.get(at).ok_or_else(|| PyIndexError::new_err("there is no such row"))?;
        Ok((*place, self.kept[at].1.id.as_deref()))
    }
}

/// The texts of some rows that an embedder is asked, and where each row's vector comes from. Frozen.
#[pyclass(frozen, module = "memspan._core")]
pub struct ToEmbed {
    wanted: Wanted,
    place: u32,
}

#[pymethods]
impl ToEmbed {
    /// What the embedder is asked.
    #[getter]
    fn texts(&self) -> Vec<&str> {
        self.wanted.texts.iter().map(String::as_str).collect()
    }

    /// Rows for which nothing need be asked.
    #[getter]
    fn reused(&self) -> usize {
        self.wanted.reused()
    }

    /// A vector for each row, from those of [`texts`](Self::texts).
    fn completed(&self, embedded: &Bound<'_, Vectors>) -> Vectors {
        let Vectors { rows, first_error, .. } = embedded.get();
        Vectors { rows: self.wanted.completed(rows), place: self.place, first_error: first_error.clone() }
    }

    fn __len__(&self) -> usize {
        self.wanted.len()
    }
}

impl Rows {
    /// The rows with their vectors; `embedded` has one for each of [`Rows::to_embed`].
    pub fn with_vectors(&self, embedded: Option<&Vectors>) -> Vec<(Arc<Scope>, NewMemory)> {
        let mut made = embedded.into_iter().flat_map(Vectors::made);
        let mut rows = self.kept.clone();
        for (_, new) in rows.iter_mut().filter(|(_, new)| new.vector.is_none()) {
            (new.vector, new.made_by) = made.next().unwrap_or_default();
        }
        rows
    }
}

fn read(owner: &EngineCore, default: Option<Arc<Scope>>, row: &Bound<'_, PyAny>) -> PyResult<(Arc<Scope>, NewMemory)> {
    let (py, space) = (row.py(), owner.handle.space());
    let mut scope = default;
    let new = if row.is_instance_of::<PyString>() {
        new_memory(row, None, space)?
    } else {
        let fields = as_mapping(row)?.copy()?;
        let take = |name| -> PyResult<Option<Bound<'_, PyAny>>> {
            let value = fields.get_item(name)?;
            if value.is_some() {
                fields.del_item(name)?;
            }
            Ok(value.filter(|value| !value.is_none()))
        };
        let text = take("text")?;
        if let Some(own) = take("scope")? {
            scope = Some(scope_of(owner, &own)?);
        }
        let text = text.ok_or_else(|| invalid(py, "reading a row: it must have a text, and it has none: add \"text\""))?;
        new_memory(&text, Some(&fields), space)?
    };
    let rule = "reading a row: it must say whose memory it is, and it has no scope";
    Ok((scope.ok_or_else(|| invalid(py, format!("{rule}: add \"scope\": engine.user(...), or call remember_many of a scope")))?, new))
}

/// The scope that a `Scope` object stands for, if it belongs to the engine that is written to.
fn scope_of(owner: &EngineCore, value: &Bound<'_, PyAny>) -> PyResult<Arc<Scope>> {
    let core = GivenScope::read("scope", value)?.0;
    if Arc::ptr_eq(&core.get().handle, &owner.handle) {
        return Ok(Arc::clone(&core.get().scope));
    }
    Err(invalid(
        value.py(),
        "reading a row: its scope must be one of this engine, and it belongs to another: take it from this engine's user() or shared()",
    ))
}

/// A mapping as a `dict`, or the fields of a `NewMemory`.
fn as_mapping<'py>(row: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    if row.cast::<PyMapping>().is_ok() {
        return written::mapping("a row", row);
    }
    let fields = row.getattr("__dict__").ok().and_then(|fields| fields.cast_into::<PyDict>().ok());
    fields.ok_or_else(|| {
        let got = type_name(row);
        invalid(row.py(), format!("reading a row: it must be a str, a mapping or a NewMemory, and it is {got}: pass one of these"))
    })
}

/// The id of a row that could not be read, as far as it can be told.
fn id_of(row: &Bound<'_, PyAny>) -> Option<String> {
    row.get_item("id").or_else(|_| row.getattr("id")).ok()?.extract().ok()
}

/// Checks that a text can be one before it is given to anybody else: whether it has more than white space.
#[pyfunction]
pub fn check_text(name: &str, text: &Bound<'_, PyAny>) -> PyResult<bool> {
    String::read(name, text).map(|text| !text.trim().is_empty())
}

/// Checks a text as `remember` does, before it is embedded.
#[pyfunction]
pub fn check_memory_text(text: &Bound<'_, PyAny>) -> PyResult<()> {
    new_memory(text, None, None).map(drop)
}
