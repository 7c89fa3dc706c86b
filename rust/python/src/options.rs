//! What `memspan.open()` takes, read field by field of the values that the package makes.

use memspan_engine::index::vectors::graph::GraphOptions;
use memspan_engine::limits::MAX_DIMENSIONS;
use memspan_engine::memory::KindRule;
use memspan_engine::memory::embedding::Embedding;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::{maybe_text, number, text_of, whole};
use crate::errors::to_python;

/// A `memspan.KindRule`.
#[derive(FromPyObject)]
struct RuleOfKind {
    ttl_days: Option<f64>,
    half_life_days: Option<f64>,
    cap: Option<usize>,
}

/// Rules of kinds by name.
pub fn rules_of(given: &Bound<'_, PyDict>) -> PyResult<[KindRule; 7]> {
    let mut rules = [KindRule::default(); 7];
    for (name, rule) in given {
        let RuleOfKind { ttl_days, half_life_days, cap } = rule.extract()?;
        rules[crate::arguments::kind(&name)? as usize] = KindRule::of_days(ttl_days, half_life_days, cap);
    }
    Ok(rules)
}

/// What an embedder says of itself.
#[derive(FromPyObject)]
pub struct Identity<'py> {
    name: Bound<'py, PyAny>,
    dimensions: Bound<'py, PyAny>,
    revision: Option<Bound<'py, PyAny>>,
}

/// A `memspan.GraphOptions`.
#[derive(FromPyObject)]
pub struct Graph<'py> {
    threshold: Bound<'py, PyAny>,
    m: Bound<'py, PyAny>,
    ef_construction: Bound<'py, PyAny>,
    ef_search: Bound<'py, PyAny>,
    rebuild_share: Bound<'py, PyAny>,
}

/// A `memspan.Policy`, as far as the engine carries it out.
#[derive(FromPyObject)]
pub struct Treatments {
    pub secrets: String,
    pub personal_data: String,
}

pub fn graph_of(graph: &Graph<'_>) -> PyResult<GraphOptions> {
    let size = |name: &str, value| whole(name, value, 0, i64::MAX).map(|size| size as usize);
    Ok(GraphOptions {
        threshold: whole("graph.threshold", &graph.threshold, 0, i64::MAX)? as u64,
        m: size("graph.m", &graph.m)?,
        ef_construction: size("graph.ef_construction", &graph.ef_construction)?,
        ef_search: size("graph.ef_search", &graph.ef_search)?,
        rebuild_share: number("graph.rebuild_share", &graph.rebuild_share)?,
    })
}

pub fn embedding_of(Identity { name, dimensions, revision }: &Identity<'_>) -> PyResult<Embedding> {
    let dimensions = whole("the embedder's dimensions", dimensions, 1, MAX_DIMENSIONS as i64)? as u32;
    let revision = maybe_text("the embedder's revision", revision.as_ref())?.unwrap_or_default();
    Embedding::new(text_of("the embedder's name", name)?, dimensions, revision).map_err(|error| to_python(name.py(), &error))
}
