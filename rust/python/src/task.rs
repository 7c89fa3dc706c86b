//! `TaskCore`: the state of one task of a session. Values cross the border as JSON.

use std::sync::Arc;

use memspan_engine::Result;
use memspan_engine::session::{Session, TaskEdit};
use pyo3::prelude::*;

use crate::arguments::{Argument, Ttl, calls};
use crate::messages::Given;
use crate::session::{SessionCore, SessionId};
use crate::value::Json;

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct TaskCore {
    named: Arc<SessionId>,
    name: String,
    ttl: Option<i64>,
}

calls! {
    TaskCore |it, py| (it.named.own(), it.named.handle.now(py)) {
        touch() Waits |session, now| it.edit(&session, TaskEdit::Touch, None, now).map(drop);
        set(key: String, value as "a value of a task": Given, version: Option<u64>) Waits |session, now|
            it.edit(&session, TaskEdit::Set(key, value.text()), version, now);
        remove(key: String) Waits |session, now| it.edit(&session, TaskEdit::Remove(key), None, now).map(drop);
        get(key: String) Short |session, now| {
            let state = session.task(&it.name, now)?.unwrap_or_default();
            Ok((state.version, state.value(&key).map(|value| vec![Json(value.to_owned())])))
        };
        items() Short |session, now| {
            let entries = session.task(&it.name, now)?.unwrap_or_default().entries;
            Ok(entries.into_iter().map(|(key, value)| (key, Json(value))).collect::<Vec<_>>())
        };
        clear() Waits |session| session.clear_task(&it.name);
    }

    /// A task of a session. Reads and writes nothing.
    #[new]
    fn new(session: &Bound<'_, SessionCore>, name: &Bound<'_, PyAny>, ttl_seconds: &Bound<'_, PyAny>) -> PyResult<Self> {
        let ttl = Option::<Ttl>::read("ttl_seconds", ttl_seconds)?.map(|ttl| ttl.0);
        Ok(Self { named: Arc::clone(&session.get().named), name: String::read("a task's name", name)?, ttl })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.name
    }
}

impl TaskCore {
    fn edit(&self, session: &Session<'_>, edit: TaskEdit, version: Option<u64>, now: i64) -> Result<bool> {
        session.edit_task(&self.name, edit, self.ttl.map(|ttl| now.saturating_add(ttl)), version, now)
    }
}
