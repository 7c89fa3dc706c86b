//! `VectorTrial`: a bare set of vectors in a store of its own, for `memspan bench crossover` and the benches. Private.

use std::path::PathBuf;
use std::sync::Mutex;

use memspan_engine::index::vectors::graph::GraphOptions;
use memspan_engine::index::vectors::graph::trial::Trial;
use memspan_engine::index::vectors::{Query, UnitVector};
use pyo3::prelude::*;

use crate::errors::{Hold, run, to_python};
use crate::vectors::numbers;

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct VectorTrial {
    trial: Mutex<Trial>,
    dimensions: usize,
}

impl VectorTrial {
    fn with<T: Send>(&self, py: Python<'_>, work: impl FnOnce(&mut Trial) -> memspan_engine::Result<T> + Send) -> PyResult<T> {
        run(py, Hold::Detached, || work(&mut self.trial.lock().unwrap_or_else(std::sync::PoisonError::into_inner)))
    }
}

#[pymethods]
impl VectorTrial {
    /// An empty set in an empty folder.
    #[new]
    fn new(py: Python<'_>, folder: PathBuf, dimensions: usize) -> PyResult<Self> {
        let trial = run(py, Hold::Detached, || Trial::new(&folder, dimensions))?;
        Ok(Self { trial: Mutex::new(trial), dimensions })
    }

    /// Adds the rows of a matrix, as the next numbers; the first is 1.
    fn add(&self, matrix: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = matrix.py();
        let (_, values) = numbers(matrix)?;
        self.with(py, |trial| {
            let rows = values.chunks(self.dimensions).map(|row| UnitVector::new(row, self.dimensions));
            trial.add(&rows.collect::<memspan_engine::Result<Vec<_>>>()?)
        })
    }

    /// Builds the graph over all that was added.
    fn build(&self, py: Python<'_>, m: usize, ef_construction: usize) -> PyResult<()> {
        self.with(py, |trial| trial.build(&GraphOptions { m, ef_construction, ..GraphOptions::default() }))
    }

    /// The numbers of the nearest `limit`, best first: by the graph with `ef` nodes in sight, without `ef` by a scan.
    #[pyo3(signature = (vector, limit, ef=None))]
    fn search(&self, vector: &Bound<'_, PyAny>, limit: usize, ef: Option<usize>) -> PyResult<Vec<u32>> {
        let py = vector.py();
        let (_, values) = numbers(vector)?;
        let query = Query::new(&values, self.dimensions).map_err(|error| to_python(py, &error))?;
        // Attached, like a short recall: giving the interpreter up would be part of the measurement.
        let trial = self.trial.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let found = run(py, Hold::Attached, || trial.search(&query, limit, ef))?;
        Ok(found.into_iter().map(|one| one.number).collect())
    }
}
