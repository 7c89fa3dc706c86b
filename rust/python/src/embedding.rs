//! The built-in embedding, as the package's `BuiltIn` calls it.

use memspan_engine::embedding;
use pyo3::prelude::*;

use crate::arguments::functions;
use crate::value::Floats;

/// The built-in embedding.
#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct BuiltInCore;

#[pymethods]
impl BuiltInCore {
    #[classattr]
    const NAME: &'static str = embedding::NAME;

    #[classattr]
    const DIMENSIONS: usize = embedding::DIMENSIONS;

    #[classattr]
    const REVISION: &'static str = embedding::REVISION;
}

functions! { |py|
    built_in_rows(texts as "a text": Vec<String>) Waits =>
        Ok(Floats(texts.iter().flat_map(|text| embedding::embed(text).as_slice().to_vec()).collect()));
    built_in_question(text: String) Short => Ok(Floats(embedding::embed_question(&text).as_slice().to_vec()));
    built_in_tokens(text as "a text": String) Short => Ok(embedding::tokens(&text));
}
