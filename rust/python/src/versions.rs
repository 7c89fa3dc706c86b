//! Versions of a session's instructions, for `Session.versions`.

use memspan_engine::session::InstructionsVersion;
use pyo3::prelude::*;

use crate::errors::Hold;
use crate::session::SessionCore;
use crate::time;

/// A version: tools or a system prompt, its number, the first epoch with it, since when, the text.
type VersionRow<'py> = (bool, u64, u64, Bound<'py, PyAny>, String);

/// Every version of the instructions that a session had.
#[pyfunction]
pub fn session_versions<'py>(py: Python<'py>, core: &Bound<'py, SessionCore>) -> PyResult<Vec<VersionRow<'py>>> {
    let versions = core.get().named.run(py, Hold::Detached, |session| session.versions())?;
    let row = |version: InstructionsVersion| {
        let since = time::to_python(py, version.since)?;
        Ok((version.is_tools, version.number, version.epoch, since, version.text))
    };
    versions.into_iter().map(row).collect()
}
