//! What is to be remembered: the arguments of `remember` and the rows of `remember_many` (strings, mappings or `NewMemory` objects),
//! converted and checked before anything is embedded or written.

use std::collections::HashMap;
use std::sync::Arc;

use memspan_engine::limits::{MAX_TRUST, ttl as ttl_of};
use memspan_engine::memory::{NewMemory, Verdict};
use memspan_engine::scope::Scope;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping, PyString};

use crate::arguments::{kind, maybe_text, number, text_of, whole};
use crate::engine::EngineCore;
use crate::errors::{Hold, invalid, run, to_python, type_name};
use crate::metadata;
use crate::scope::ScopeCore;
use crate::time;
use crate::vectors::{Source, Space, Vectors, given_vector};

/// What `remember` takes besides the text, as it was given.
#[derive(Default)]
pub struct Fields<'py> {
    pub kind: Option<Bound<'py, PyAny>>,
    pub slot: Option<Bound<'py, PyAny>>,
    pub importance: Option<Bound<'py, PyAny>>,
    pub confidence: Option<Bound<'py, PyAny>>,
    pub trust: Option<Bound<'py, PyAny>>,
    pub source: Option<Bound<'py, PyAny>>,
    pub id: Option<Bound<'py, PyAny>>,
    pub ttl_seconds: Option<Bound<'py, PyAny>>,
    pub occurred_at: Option<Bound<'py, PyAny>>,
    pub metadata: Option<Bound<'py, PyAny>>,
    pub vector: Option<Bound<'py, PyAny>>,
}

impl<'py> Fields<'py> {
    /// Sets the field of that name.
    fn set(&mut self, py: Python<'py>, name: &str, value: Option<Bound<'py, PyAny>>) -> PyResult<()> {
        let field = match name {
            "kind" => &mut self.kind,
            "slot" => &mut self.slot,
            "importance" => &mut self.importance,
            "confidence" => &mut self.confidence,
            "trust" => &mut self.trust,
            "source" => &mut self.source,
            "id" => &mut self.id,
            "ttl_seconds" => &mut self.ttl_seconds,
            "occurred_at" => &mut self.occurred_at,
            "metadata" => &mut self.metadata,
            "vector" => &mut self.vector,
            other => {
                return Err(invalid(
                    py,
                    format!(
                        "reading a row: a key is one of the arguments of remember(), and {other:?} is none: remove it, or put it into metadata"
                    ),
                ));
            }
        };
        *field = value;
        Ok(())
    }

    /// Fields by their names.
    pub fn of(given: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let mut fields = Self::default();
        for (name, value) in given.into_iter().flatten() {
            fields.set(name.py(), &text_of("the name of an argument", &name)?, (!value.is_none()).then_some(value))?;
        }
        Ok(fields)
    }

    /// The engine's form, checked. `space` is that of the embedder, without which no vector is taken.
    pub fn into_new(self, text: &Bound<'_, PyAny>, space: Space) -> PyResult<NewMemory> {
        let mut new = NewMemory::new(text_of("text", text)?);
        if let Some(name) = &self.kind {
            new.kind = kind(name)?;
        }
        if let Some(importance) = &self.importance {
            new.importance = number("importance", importance)?;
        }
        if let Some(confidence) = &self.confidence {
            new.confidence = number("confidence", confidence)?;
        }
        if let Some(source) = &self.source {
            new.source = text_of("source", source)?;
        }
        new.slot = maybe_text("slot", self.slot.as_ref())?;
        new.id = maybe_text("id", self.id.as_ref())?;
        new.trust = self.trust.as_ref().map(|trust| whole("trust", trust, 0, MAX_TRUST.into())).transpose()?.map(|trust| trust as u8);
        new.ttl = self.ttl_seconds.as_ref().map(ttl).transpose()?;
        new.occurred_at = time::maybe_from_python("occurred_at", self.occurred_at.as_ref())?;
        new.metadata = metadata::encode(self.metadata.as_ref())?;
        new.vector = self.vector.as_ref().map(|vector| given_vector(vector, space.map(|(dimensions, _)| dimensions))).transpose()?;
        new.made_by = space.map_or(0, |(_, place)| place);
        new.check().map_err(|error| to_python(text.py(), &error))?;
        Ok(new)
    }
}

/// Microseconds to live.
pub fn ttl(seconds: &Bound<'_, PyAny>) -> PyResult<i64> {
    ttl_of(number("ttl_seconds", seconds)?).map_err(|error| to_python(seconds.py(), &error))
}

/// One memory on its way into the store: checked, and not yet embedded. Frozen.
#[pyclass(frozen, module = "memspan._core")]
pub struct Draft(pub NewMemory);

#[pymethods]
impl Draft {
    /// The text to embed; `None` where a vector came with it.
    pub fn to_embed(&self) -> Option<&str> {
        (self.0.vector.is_none() && !matches!(self.0.screened, Verdict::Refused(_))).then_some(self.0.text.as_str())
    }
}

/// A row that cannot be written: its place among those that were given, its id, what is wrong. Private.
#[pyclass(frozen, get_all, module = "memspan._core")]
#[derive(Debug)]
pub struct FailedRow {
    place: usize,
    id: Option<String>,
    error: Py<PyAny>,
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
        let reader = RowReader { owner, default, space: owner.handle.space() };
        let screening = run(py, Hold::Attached, || Ok(owner.handle.engine()?.screening()))?;
        for (place, row) in rows.iter().enumerate() {
            match reader.read(&row) {
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

    /// What is to be embedded by the embedder at `place`: the texts of the rows without a vector of their own, each of a scope once, and
    /// none that a current memory of the same scope, kind, slot and text has a vector of.
    fn to_embed(&self, py: Python<'_>, owner: &Bound<'_, EngineCore>, place: u32) -> PyResult<ToEmbed> {
        let rows: Vec<(&Scope, &NewMemory)> =
            self.kept.iter().map(|(scope, new)| (&**scope, new)).filter(|(_, new)| new.vector.is_none()).collect();
        let owner = owner.get();
        let known = run(py, Hold::Detached, || owner.handle.engine()?.known_vectors(place, &rows))?;
        let (mut texts, mut sources, mut asked) = (Vec::new(), Vec::with_capacity(rows.len()), HashMap::new());
        for ((scope, new), known) in rows.iter().zip(known) {
            sources.push(match known {
                Some(vector) => Source::Known(vector),
                None => Source::Asked(*asked.entry((*scope, new.text.as_str())).or_insert_with(|| {
                    texts.push(new.text.clone());
                    texts.len() - 1
                })),
            });
        }
        Ok(ToEmbed { texts, sources, place })
    }

    /// The rows that cannot be written.
    fn failed(&self, py: Python<'_>) -> Vec<FailedRow> {
        let error = |error: &PyErr| error.clone_ref(py).into_value(py).into_any();
        self.failed.iter().map(|(place, id, raised)| FailedRow { place: *place, id: id.clone(), error: error(raised) }).collect()
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
    texts: Vec<String>,
    sources: Vec<Source>,
    place: u32,
}

#[pymethods]
impl ToEmbed {
    /// What the embedder is asked.
    #[getter]
    fn texts(&self) -> Vec<&str> {
        self.texts.iter().map(String::as_str).collect()
    }

    /// Rows for which nothing need be asked.
    #[getter]
    fn reused(&self) -> usize {
        self.sources.len() - self.texts.len()
    }

    /// A vector for each row, from those of [`texts`](Self::texts).
    fn completed(&self, embedded: &Bound<'_, Vectors>) -> Vectors {
        embedded.get().arranged(&self.sources)
    }

    fn __len__(&self) -> usize {
        self.sources.len()
    }

    fn __repr__(&self) -> String {
        format!("ToEmbed({} texts for {} rows, by embedder {})", self.texts.len(), self.sources.len(), self.place)
    }
}

impl Rows {
    /// The rows with their vectors; `embedded` has one for each of [`Rows::to_embed`].
    pub fn with_vectors(&self, embedded: Option<&Vectors>) -> Vec<(Arc<Scope>, NewMemory)> {
        let place = embedded.map_or(0, |vectors| vectors.place);
        let mut embedded = embedded.map(|vectors| vectors.rows.iter()).into_iter().flatten();
        let mut rows = self.kept.clone();
        for (_, new) in rows.iter_mut().filter(|(_, new)| new.vector.is_none()) {
            new.vector = embedded.next().cloned().flatten();
            new.made_by = place;
        }
        rows
    }
}

struct RowReader<'a> {
    owner: &'a EngineCore,
    default: Option<Arc<Scope>>,
    space: Space,
}

impl RowReader<'_> {
    fn read(&self, row: &Bound<'_, PyAny>) -> PyResult<(Arc<Scope>, NewMemory)> {
        if row.is_instance_of::<PyString>() {
            let scope = self.default.clone().ok_or_else(|| no_scope(row.py()))?;
            return Ok((scope, Fields::default().into_new(row, self.space)?));
        }
        self.read_mapping(&as_mapping(row)?)
    }

    fn read_mapping(&self, map: &Bound<'_, PyDict>) -> PyResult<(Arc<Scope>, NewMemory)> {
        let py = map.py();
        let (mut fields, mut text, mut scope) = (Fields::default(), None, self.default.clone());
        for (key, value) in map {
            let value = if value.is_none() { None } else { Some(value) };
            match (text_of("a key of a row", &key)?.as_str(), value) {
                ("text", value) => text = value,
                ("scope", None) => {}
                ("scope", Some(value)) => scope = Some(self.scope_of(&value)?),
                (name, value) => fields.set(py, name, value)?,
            }
        }
        let text = text.ok_or_else(|| invalid(py, "reading a row: it must have a text, and it has none: add \"text\""))?;
        Ok((scope.ok_or_else(|| no_scope(py))?, fields.into_new(&text, self.space)?))
    }

    /// The scope that a `Scope` object stands for, if it belongs to the engine that is written to.
    fn scope_of(&self, value: &Bound<'_, PyAny>) -> PyResult<Arc<Scope>> {
        let core = scope_core(value, "scope")?;
        if Arc::ptr_eq(&core.get().handle, &self.owner.handle) {
            return Ok(Arc::clone(&core.get().scope));
        }
        Err(invalid(
            value.py(),
            "reading a row: its scope must be one of this engine, and it belongs to another: take it from this engine's user() or shared()",
        ))
    }
}

/// A mapping as a `dict`, or the fields of a `NewMemory`.
fn as_mapping<'py>(row: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
    if row.cast::<PyMapping>().is_ok() {
        return metadata::mapping("a row", row);
    }
    let fields = row.getattr("__dict__").ok().and_then(|fields| fields.cast_into::<PyDict>().ok());
    fields.ok_or_else(|| {
        let got = type_name(row);
        invalid(row.py(), format!("reading a row: it must be a str, a mapping or a NewMemory, and it is {got}: pass one of these"))
    })
}

fn no_scope(py: Python<'_>) -> PyErr {
    invalid(
        py,
        "reading a row: it must say whose memory it is, and it has no scope: add \"scope\": engine.user(...), or call remember_many of a scope",
    )
}

/// What is inside of a `Scope` object.
pub fn scope_core<'py>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Bound<'py, ScopeCore>> {
    let core = value.getattr("_core").ok().and_then(|core| core.cast_into::<ScopeCore>().ok());
    core.ok_or_else(|| {
        let got = type_name(value);
        invalid(value.py(), format!("reading {name}: it must be a Scope, and it is {got}: pass engine.user(...) or engine.shared(...)"))
    })
}

/// The id of a row that could not be read, as far as it can be told.
fn id_of(row: &Bound<'_, PyAny>) -> Option<String> {
    row.get_item("id").or_else(|_| row.getattr("id")).ok()?.extract().ok()
}
