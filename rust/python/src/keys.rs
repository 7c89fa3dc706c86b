//! Keys of encrypted stores on their way into the engine.

use memspan_engine::store::vault::StoreKey;
use pyo3::prelude::*;

use crate::engine::EngineCore;
use crate::errors::{Hold, run, to_python};

/// The key that a caller gave; `None` for a store that is not encrypted.
pub fn store_key(py: Python<'_>, given: Option<&[u8]>) -> PyResult<Option<StoreKey>> {
    given.map(StoreKey::new).transpose().map_err(|error| to_python(py, &error))
}

/// Makes `key` the one that opens the store, or leaves it plain.
#[pyfunction(name = "rekey")]
#[pyo3(signature = (core, key))]
pub fn rekey_store(core: &Bound<'_, EngineCore>, key: Option<&[u8]>) -> PyResult<()> {
    let (py, handle) = (core.py(), &core.get().handle);
    let key = store_key(py, key)?;
    run(py, Hold::Long, || handle.engine().and_then(|engine| engine.rekey(key)))
}

/// Whether the store's values are encrypted.
#[pyfunction]
pub fn is_encrypted(core: &Bound<'_, EngineCore>) -> PyResult<bool> {
    let (py, handle) = (core.py(), &core.get().handle);
    run(py, Hold::Attached, || Ok(handle.engine()?.store().is_encrypted()))
}
