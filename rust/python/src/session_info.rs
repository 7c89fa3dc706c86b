//! `SessionInfo`: what a session is, without its messages; and what else its handle reads of it.

use memspan_engine::session::{self, Listed, Listing, SessionState};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::{Hold, run};
use crate::scope::ScopeCore;
use crate::session::SessionCore;
use crate::value::{Attached, Moment, shows};
use crate::{from_json, metadata, time};

/// What a session is, without its messages. Frozen.
///
/// Examples:
///     >>> _ = user.session("s-1", model="gpt-4o", metadata={"channel": "web"})
///     >>> [info] = user.sessions()
///     >>> info.id, info.model, info.messages, info.ended, info.metadata
///     ('s-1', 'gpt-4o', 0, False, {'channel': 'web'})
#[pyclass(frozen, module = "memspan")]
#[derive(Debug)]
pub struct SessionInfo {
    listed: Listed,
}

shows! {
    SessionInfo |it| {
        /// Its id.
        id: &str = &it.listed.record.id;
        /// The model that it runs on now.
        model: &str = &it.listed.model;
        /// How many messages it has.
        messages: u64 = it.listed.record.tally.messages;
        /// How many turns it has, the open one included.
        turns: u64 = it.listed.record.tally.turns;
        /// The number of its epoch.
        epoch: u64 = it.listed.record.epoch;
        /// When it was made: aware, in UTC.
        created_at: Moment = Moment(it.listed.record.created_at);
        /// When something was last added to it: aware, in UTC; when it was made where nothing was.
        last_added_at: Moment = Moment(it.listed.record.last_time.max(it.listed.record.created_at));
        /// Whether it was ended.
        ended: bool = it.listed.record.state == SessionState::Ended;
        /// What its caller keeps with it: a fresh dict at each use. No model ever sees it.
        metadata: Attached = Attached(it.listed.metadata.clone());
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        let same = |other: &Self| {
            self.listed.record == other.listed.record
                && self.listed.model == other.listed.model
                && self.listed.metadata == other.listed.metadata
        };
        other.cast::<Self>().is_ok_and(|other| same(other.get()))
    }

    fn __hash__(&self) -> u64 {
        self.listed.record.tally.messages ^ (self.listed.record.created_at as u64)
    }

    fn __repr__(&self) -> String {
        format!("SessionInfo({:?}, model={:?}, messages={}, ended={})", self.id(), self.model(), self.messages(), self.ended())
    }
}

fn decode<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyDict>> {
    if bytes.is_empty() { Ok(PyDict::new(py)) } else { metadata::decode(py, bytes) }
}

/// Sessions of a scope, a page of them: number and what each is.
#[pyfunction]
pub fn session_infos(
    py: Python<'_>,
    scope: &Bound<'_, ScopeCore>,
    after: u32,
    limit: usize,
    newest_first: bool,
    since: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<(u32, SessionInfo)>> {
    let owner = scope.get();
    let listing = Listing { after, limit, newest_first, since: time::maybe_from_python("since", since)? };
    let page = run(py, Hold::Detached, || session::list(owner.handle.engine()?, &owner.scope, listing))?;
    Ok(page.into_iter().map(|listed| (listed.number, SessionInfo { listed })).collect())
}

/// What a caller keeps with a session.
#[pyfunction]
pub fn session_metadata<'py>(py: Python<'py>, of: &Bound<'py, SessionCore>) -> PyResult<Bound<'py, PyDict>> {
    decode(py, &of.get().named.run(py, Hold::Attached, |session| session.metadata())?)
}

/// Replaces it.
#[pyfunction]
pub fn set_session_metadata(py: Python<'_>, of: &Bound<'_, SessionCore>, given: &Bound<'_, PyAny>) -> PyResult<()> {
    let (encoded, named) = (metadata::encode(Some(given))?, &of.get().named);
    let now = named.now(py)?;
    named.run(py, Hold::Detached, |session| session.set_metadata(encoded, now))
}

/// The system prompt and the tools of a session.
#[pyfunction]
pub fn session_instructions<'py>(py: Python<'py>, of: &Bound<'py, SessionCore>) -> PyResult<(Option<String>, Option<Bound<'py, PyAny>>)> {
    let (system, tools) = of.get().named.run(py, Hold::Attached, |session| session.instructions())?;
    Ok((system, tools.map(|tools| from_json::decode(py, &tools)).transpose()?))
}
