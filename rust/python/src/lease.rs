//! Who answers a session: the lease, alone, with the message that is to be answered, and with the reply that ends it.

use std::sync::Arc;

use memspan_engine::session::{Claim, Lease, Leased};
use pyo3::prelude::*;

use crate::arguments::{maybe_text, number, text_of};
use crate::errors::{Hold, invalid};
use crate::json;
use crate::prompt::PromptCore;
use crate::session::{AddedRow, NewRow, SessionCore, added_row, new_message};
use crate::time;

/// A lease may last at most a day: whoever answers for longer takes it again.
const MOST_SECONDS: f64 = 86_400.0;

/// Whoever holds a lease.
#[pyclass(frozen, get_all, module = "memspan._core")]
#[derive(Debug)]
pub struct LeaseHolder {
    holder: String,
    since: Py<PyAny>,
    until: Py<PyAny>,
}

impl LeaseHolder {
    fn of(py: Python<'_>, lease: Lease) -> PyResult<Self> {
        let (since, until) = (time::to_python(py, lease.since)?.unbind(), time::to_python(py, lease.until)?.unbind());
        Ok(Self { holder: lease.holder, since, until })
    }
}

/// Takes the lease, or prolongs it; whoever holds it, where that is another. `dead` is a holder that is known to have died.
#[pyfunction]
pub fn take_lease(
    py: Python<'_>,
    session: &Bound<'_, SessionCore>,
    holder: &Bound<'_, PyAny>,
    seconds: &Bound<'_, PyAny>,
    dead: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<LeaseHolder>> {
    let (named, claim) = (&session.get().named, claim(session, holder, seconds, dead)?);
    let other = named.run(py, Hold::Detached, |session| session.claim_lease(claim))?;
    other.map(|lease| LeaseHolder::of(py, lease)).transpose()
}

/// Takes the lease and adds a message in one transaction: what became of it, or whoever holds the lease.
#[pyfunction]
pub fn add_leased<'py>(
    py: Python<'py>,
    session: &Bound<'py, SessionCore>,
    row: NewRow<'py>,
    holder: &Bound<'py, PyAny>,
    seconds: &Bound<'py, PyAny>,
    dead: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Option<AddedRow>, Option<LeaseHolder>)> {
    let (new, claim) = (new_message(&row)?, claim(session, holder, seconds, dead)?);
    Ok(match session.get().named.run(py, Hold::Detached, |session| session.add_leased(new, claim))? {
        Leased::Added(added) => (Some(added_row(added)), None),
        Leased::Held(lease) => (None, Some(LeaseHolder::of(py, lease)?)),
    })
}

/// Adds a reply, which ends the holder's lease where it calls no tool; its turn, whether its usage contradicts itself, whether the lease
/// is over.
#[pyfunction]
pub fn add_response_leased(
    py: Python<'_>,
    session: &Bound<'_, SessionCore>,
    response: &Bound<'_, PyAny>,
    prompt: Option<&Bound<'_, PromptCore>>,
    holder: &Bound<'_, PyAny>,
) -> PyResult<(u64, bool, bool)> {
    let (bytes, holder) = (json::encode("a response", response)?, text_of("a lease's holder", holder)?);
    let prompt = prompt.map(|prompt| Arc::clone(&prompt.get().assembled));
    let named = &session.get().named;
    let now = named.now(py)?;
    let replied = named.run(py, Hold::Detached, |session| session.add_reply(&bytes, prompt.as_deref(), Some(&holder), now))?;
    Ok((replied.added.turn, replied.usage_ignored, replied.is_last))
}

/// Gives the lease back.
#[pyfunction]
pub fn release_lease(py: Python<'_>, session: &Bound<'_, SessionCore>, holder: &Bound<'_, PyAny>) -> PyResult<bool> {
    let holder = text_of("a lease's holder", holder)?;
    session.get().named.run(py, Hold::Detached, |session| session.release_lease(&holder))
}

fn claim(
    session: &Bound<'_, SessionCore>,
    holder: &Bound<'_, PyAny>,
    seconds: &Bound<'_, PyAny>,
    dead: Option<&Bound<'_, PyAny>>,
) -> PyResult<Claim> {
    let (py, given) = (session.py(), number("seconds", seconds)?);
    if !(given > 0.0 && given <= MOST_SECONDS) {
        return Err(invalid(
            py,
            format!("taking a lease: seconds must be above 0 and at most 86,400, and it is {given}: give the time that one reply may take"),
        ));
    }
    let now = session.get().named.now(py)?;
    let until = now.saturating_add((given * 1e6) as i64);
    Ok(Claim { holder: text_of("a lease's holder", holder)?, dead: maybe_text("a dead holder", dead)?, until, now })
}
