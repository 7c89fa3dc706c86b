//! Who answers a session: the lease, alone, with the message that is to be answered, and with the reply that ends it.

use std::sync::Arc;

use memspan_engine::limits;
use memspan_engine::session::{Claim, Lease, Leased};
use pyo3::prelude::*;

use crate::arguments::{maybe_text, number, text_of};
use crate::errors::{Hold, to_python};
use crate::json;
use crate::prompt::PromptCore;
use crate::session::{Added, NewRow, SessionCore, new_message};
use crate::value::{Moment, value};

value! {
    /// Whoever holds a lease. Private.
    LeaseHolder("memspan._core") { holder: String, since: Moment, until: Moment }
}

value! {
    /// A reply under a lease: its turn, whether its usage contradicts itself, whether the lease is over with it. Private.
    LastReply("memspan._core") { turn: u64, usage_ignored: bool, is_last: bool }
}

impl From<Lease> for LeaseHolder {
    fn from(Lease { holder, since, until, .. }: Lease) -> Self {
        Self { holder, since: Moment(since), until: Moment(until) }
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
    Ok(other.map(LeaseHolder::from))
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
) -> PyResult<(Option<Added>, Option<LeaseHolder>)> {
    let (new, claim) = (new_message(&row)?, claim(session, holder, seconds, dead)?);
    Ok(match session.get().named.run(py, Hold::Detached, |session| session.add_leased(new, claim))? {
        Leased::Added(added) => (Some(added.into()), None),
        Leased::Held(lease) => (None, Some(lease.into())),
    })
}

/// Adds a reply, which ends the holder's lease where it calls no tool.
#[pyfunction]
pub fn add_response_leased(
    py: Python<'_>,
    session: &Bound<'_, SessionCore>,
    response: &Bound<'_, PyAny>,
    prompt: Option<&Bound<'_, PromptCore>>,
    holder: &Bound<'_, PyAny>,
) -> PyResult<LastReply> {
    let (bytes, holder) = (json::encode("a response", response)?, text_of("a lease's holder", holder)?);
    let prompt = prompt.map(|prompt| Arc::clone(&prompt.get().assembled));
    let named = &session.get().named;
    let now = named.now(py)?;
    let replied = named.run(py, Hold::Detached, |session| session.add_reply(&bytes, prompt.as_deref(), Some(&holder), now))?;
    Ok(LastReply { turn: replied.added.turn, usage_ignored: replied.usage_ignored, is_last: replied.is_last })
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
    let lasts = limits::lease(number("seconds", seconds)?).map_err(|error| to_python(session.py(), &error))?;
    let now = session.get().named.now(session.py())?;
    let until = now.saturating_add(lasts);
    Ok(Claim { holder: text_of("a lease's holder", holder)?, dead: maybe_text("a dead holder", dead)?, until, now })
}
