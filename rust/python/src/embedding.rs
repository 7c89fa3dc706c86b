//! `BuiltInCore`: the built-in embedding, as the package's `BuiltIn` calls it.

use memspan_engine::embedding;
use pyo3::prelude::*;
use pyo3::types::PyByteArray;

use crate::arguments::Argument;
use crate::errors::{Pace, run};

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

    /// The vectors of texts, row by row: float32 in this machine's byte order.
    #[staticmethod]
    fn embed<'py>(py: Python<'py>, texts: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyByteArray>> {
        let texts = Vec::<String>::read("a text", texts)?;
        let bytes = run(py, Pace::Waits, || {
            let mut bytes = Vec::with_capacity(texts.len() * embedding::DIMENSIONS * size_of::<f32>());
            for text in &texts {
                embedding::embed(text).as_slice().iter().for_each(|x| bytes.extend_from_slice(&x.to_ne_bytes()));
            }
            Ok(bytes)
        })?;
        Ok(PyByteArray::new(py, &bytes))
    }

    /// The vector of a question, by its content words: float32 in this machine's byte order.
    #[staticmethod]
    fn embed_query<'py>(py: Python<'py>, text: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyByteArray>> {
        let question = embedding::embed_question(&String::read("text", text)?);
        let bytes: Vec<u8> = question.as_slice().iter().flat_map(|x| x.to_ne_bytes()).collect();
        Ok(PyByteArray::new(py, &bytes))
    }

    /// The tokens of a text, as the vocabulary spells them.
    #[staticmethod]
    fn tokens(text: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        Ok(embedding::tokens(&String::read("a text", text)?))
    }
}
