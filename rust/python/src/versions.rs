//! Versions of a session's instructions, for `Session.versions`.

use memspan_engine::session::InstructionsVersion;
use pyo3::prelude::*;

use crate::errors::Hold;
use crate::session::SessionCore;
use crate::value::{Moment, value};

value! {
    /// A version of the tools or of the system prompt: its number, the first epoch with it, since when. Private.
    StoredVersion("memspan._core") { is_tools: bool, number: u64, epoch: u64, since: Moment, text: String }
}

/// Every version of the instructions that a session had.
#[pyfunction]
pub fn session_versions(py: Python<'_>, core: &Bound<'_, SessionCore>) -> PyResult<Vec<StoredVersion>> {
    let versions = core.get().named.run(py, Hold::Detached, |session| session.versions())?;
    let stored = |InstructionsVersion { is_tools, number, epoch, since, text, .. }| StoredVersion {
        is_tools,
        number,
        epoch,
        since: Moment(since),
        text,
    };
    Ok(versions.into_iter().map(stored).collect())
}
