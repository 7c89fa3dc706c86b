//! Learning from what was said: the transaction that stores it looks again at what it was read from.
//!
//! A model may be asked for a minute in between. Text that was redacted, rewound, deleted or erased then must not come back as a memory.
//! Messages that were added meanwhile change nothing: the next call reads them.

use super::key::SessionKey;
use super::record::{SessionRecord, SessionState};
use crate::life::{self, judgement::ReadFrom};
use crate::memory::{Core, LearnMark, NewMemory, Remembered};
use crate::scope::Scope;
use crate::store::pages::Pages;
use crate::{Error, ErrorKind, Result};

/// Stores claims of one scope as [`life::learn`] does, where what they were read from is as it was. `None`, and nothing is stored, where
/// the session was changed or deleted, or where another process learnt from it: it is to be read again.
///
/// # Errors
/// `NotFound` where the scope was erased meanwhile.
pub fn learn(
    engine: &Core,
    scope: &Scope,
    claims: Vec<NewMemory>,
    from: ReadFrom,
    mark: Option<(String, LearnMark, LearnMark)>,
    now: i64,
) -> Result<Option<Vec<Remembered>>> {
    let owned = scope.clone();
    life::learn(engine, scope, claims, mark, move |txn| holds(txn, &owned, from), now)
}

/// Whether the session is the one that was read, with nothing taken back since.
fn holds<P: Pages>(pages: &P, scope: &Scope, from: ReadFrom) -> Result<bool> {
    let Some(partition) = from.partition else { return Ok(true) };
    if scope.find(pages)? != Some(partition) {
        return Err(erased(scope));
    }
    let Some((session, edits, created_at)) = from.session else { return Ok(true) };
    let record = SessionRecord::read(pages, SessionKey { partition, session })?;
    let is_same = |record: SessionRecord| record.state != SessionState::Hidden && (record.edits, record.created_at) == (edits, created_at);
    Ok(record.is_some_and(is_same))
}

fn erased(scope: &Scope) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!(
            "learning: the {} {:?} was erased while its messages were judged, so nothing was stored: call learn() again to begin it anew",
            scope.scope_type.name(),
            scope.id
        ),
    )
}
