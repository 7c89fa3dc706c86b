//! `TaskCore`: the state of one task of a session. Values cross the border as JSON.

use std::sync::Arc;

use memspan_engine::session::{TaskEdit, TaskState};
use pyo3::prelude::*;

use crate::arguments::text_of;
use crate::errors::Hold;
use crate::from_json;
use crate::json;
use crate::rows::ttl;
use crate::session::{Named, SessionCore};

/// A key and its value.
type Entry<'py> = (String, Bound<'py, PyAny>);

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct TaskCore {
    named: Arc<Named>,
    name: String,
    ttl: Option<i64>,
}

#[pymethods]
impl TaskCore {
    /// A task of a session. Reads and writes nothing.
    #[new]
    fn new(session: &Bound<'_, SessionCore>, name: &Bound<'_, PyAny>, ttl_seconds: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let ttl = ttl_seconds.map(ttl).transpose()?;
        Ok(Self { named: Arc::clone(&session.get().named), name: text_of("a task's name", name)?, ttl })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Makes it where there is none, and lets it live on.
    fn touch(&self, py: Python<'_>) -> PyResult<()> {
        self.edit(py, TaskEdit::Touch, None).map(drop)
    }

    /// Sets a key; `false`, and nothing is written, where the task's version is not the one expected.
    fn set(&self, py: Python<'_>, key: &Bound<'_, PyAny>, value: &Bound<'_, PyAny>, version: Option<u64>) -> PyResult<bool> {
        let bytes = json::encode("a value of a task", value)?;
        let edit = TaskEdit::Set(text_of("key", key)?, String::from_utf8_lossy(&bytes).into_owned());
        self.edit(py, edit, version)
    }

    fn remove(&self, py: Python<'_>, key: &Bound<'_, PyAny>) -> PyResult<()> {
        let edit = TaskEdit::Remove(text_of("key", key)?);
        self.edit(py, edit, None).map(drop)
    }

    /// The version, 0 where it is not there, and the value of a key: `None` where it has none, else a tuple of one.
    fn get<'py>(&self, py: Python<'py>, key: &Bound<'py, PyAny>) -> PyResult<(u64, Option<(Bound<'py, PyAny>,)>)> {
        let (key, state) = (text_of("key", key)?, self.state(py)?);
        let value = state.as_ref().and_then(|state| state.value(&key));
        let value = value.map(|value| from_json::decode(py, value).map(|value| (value,))).transpose()?;
        Ok((state.map_or(0, |state| state.version), value))
    }

    fn items<'py>(&self, py: Python<'py>) -> PyResult<Vec<Entry<'py>>> {
        let entries = self.state(py)?.map_or_else(Vec::new, |state| state.entries);
        entries.into_iter().map(|(key, value)| Ok((key, from_json::decode(py, &value)?))).collect()
    }

    /// Clears it; whether there was something.
    fn clear(&self, py: Python<'_>) -> PyResult<bool> {
        self.named.run(py, Hold::Detached, |session| session.clear_task(&self.name))
    }
}

impl TaskCore {
    fn edit(&self, py: Python<'_>, edit: TaskEdit, version: Option<u64>) -> PyResult<bool> {
        let now = self.named.now(py)?;
        let expires_at = self.ttl.map(|ttl| now.saturating_add(ttl));
        self.named.run(py, Hold::Detached, |session| session.edit_task(&self.name, edit, expires_at, version, now))
    }

    fn state(&self, py: Python<'_>) -> PyResult<Option<TaskState>> {
        let now = self.named.now(py)?;
        self.named.run(py, Hold::Attached, |session| session.task(&self.name, now))
    }
}
