//! The life of a memory, as the package calls it: screening, the write gate, and what `learn` writes.

use memspan_engine::gate;
use memspan_engine::text::screening::{self, Screened, Screening, Treatment};
use pyo3::prelude::*;

use crate::arguments::text_of;
use crate::errors::invalid;

/// What is to be done with findings, by its name.
pub fn treatment(py: Python<'_>, what: &str, name: &str) -> PyResult<Treatment> {
    match name {
        "allow" => Ok(Treatment::Allow),
        "redact" => Ok(Treatment::Redact),
        "reject" => Ok(Treatment::Reject),
        _ => Err(invalid(py, format!("reading a policy: {what} is \"allow\", \"redact\" or \"reject\", and it is {name:?}: choose one"))),
    }
}

/// Secrets and personal data in a text: type, first letter, letter behind the last.
#[pyfunction]
pub fn screen(text: &Bound<'_, PyAny>) -> PyResult<Vec<(&'static str, usize, usize)>> {
    let text = text_of("text", text)?;
    let letters = |to: usize| text[..to].chars().count();
    Ok(screening::screen(&text).into_iter().map(|one| (one.what.name(), letters(one.start), letters(one.end))).collect())
}

/// A text as a policy leaves it, and the types that it minded; `None` where nothing of it may be stored.
#[pyfunction]
pub fn screened(text: &Bound<'_, PyAny>, secrets: &str, personal_data: &str) -> PyResult<(Option<String>, Vec<&'static str>)> {
    let py = text.py();
    let policy = Screening { secrets: treatment(py, "secrets", secrets)?, personal_data: treatment(py, "personal_data", personal_data)? };
    let text = text_of("text", text)?;
    let names = |types: Vec<screening::Sensitive>| types.into_iter().map(screening::Sensitive::name).collect();
    Ok(match policy.apply(&text) {
        Screened::Clean => (Some(text), Vec::new()),
        Screened::Redacted(left, types) => (Some(left), names(types)),
        Screened::Rejected(types) => (None, names(types)),
    })
}

/// What the gate's models see of a message: names of features, and numbers. For whoever fits their weights.
#[pyfunction]
pub fn gate_features(text: &Bound<'_, PyAny>, before: &Bound<'_, PyAny>) -> PyResult<(Vec<String>, Vec<f64>)> {
    Ok(gate::described(&text_of("text", text)?, &text_of("before", before)?))
}
