//! Vectors: float32 or float64 arrays by the buffer protocol, or lists of numbers, checked and brought to length 1.

use std::ffi::CStr;

use memspan_engine::index::vectors::{Query, UnitVector};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

use crate::arguments::extracted;
use crate::errors::{invalid, to_python, type_name};

/// Vectors of one embedding, one for each text that was embedded. Frozen.
#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct Vectors {
    pub rows: Vec<Option<UnitVector>>,
    /// Who made them: the place of the embedder among those that the engine was given.
    pub place: u32,
    pub first_error: Option<String>,
}
extracted!(Py<Vectors>);

#[pymethods]
impl Vectors {
    /// What an embedder returned for `count` texts: a wrong shape is an error, a bad row is a row without a vector.
    #[staticmethod]
    fn embedded(matrix: &Bound<'_, PyAny>, count: usize, dimensions: usize, place: u32) -> PyResult<Self> {
        let (shape, values) = numbers(matrix)?;
        if shape != [count, dimensions] {
            return Err(invalid(
                matrix.py(),
                format!(
                    "reading what embed() returned: its shape must be ({count}, {dimensions}), texts by dimensions, and it is {shape:?}: look at the embedder"
                ),
            ));
        }
        let mut first_error = None;
        let unit =
            |row: &[f32]| UnitVector::new(row, dimensions).map_err(|error| first_error.get_or_insert(error.to_string()).clone()).ok();
        Ok(Self { rows: values.chunks(dimensions).map(unit).collect(), place, first_error })
    }

    /// Rows, with a vector or without.
    fn __len__(&self) -> usize {
        self.rows.len()
    }

    /// How many rows have no vector.
    #[getter]
    fn bad(&self) -> usize {
        self.rows.iter().filter(|row| row.is_none()).count()
    }

    /// What is wrong with the first row that has no vector.
    #[getter]
    fn first_error(&self) -> Option<&str> {
        self.first_error.as_deref()
    }

    /// The rows of several embedders' calls, one after the other.
    #[staticmethod]
    fn joined(parts: Vec<PyRef<'_, Self>>) -> Self {
        let rows = parts.iter().flat_map(|part| part.rows.iter().cloned()).collect();
        let place = parts.first().map_or(0, |part| part.place);
        Self { rows, place, first_error: parts.iter().find_map(|part| part.first_error.clone()) }
    }

    /// The rows in two: those before `at`, and those from there on.
    fn split(&self, at: usize) -> (Self, Self) {
        let (before, after) = self.rows.split_at(at.min(self.rows.len()));
        let part = |rows: &[Option<UnitVector>]| {
            let first_error = self.first_error.clone().filter(|_| rows.iter().any(Option::is_none));
            Self { rows: rows.to_vec(), place: self.place, first_error }
        };
        (part(before), part(after))
    }

    /// Rows of texts that could not be embedded.
    #[staticmethod]
    fn missing(count: usize, place: u32) -> Self {
        Self { rows: vec![None; count], place, first_error: None }
    }

    fn __repr__(&self) -> String {
        format!("Vectors({}, bad={})", self.rows.len(), self.bad())
    }
}

impl Vectors {
    /// Each row with the place of who made it.
    pub fn made(&self) -> impl Iterator<Item = (Option<UnitVector>, u32)> + '_ {
        self.rows.iter().cloned().map(|row| (row, self.place))
    }

    /// The first row.
    pub fn first(&self) -> Option<UnitVector> {
        self.rows.first().cloned().flatten()
    }

    /// The first row, ready for a scan.
    pub fn query(&self) -> Option<Query> {
        self.first().map(|unit| Query::from_unit(unit).made_by(self.place))
    }
}

/// What a vector must be: its dimensions, and the place of the embedder that it is of.
pub type Space = Option<(usize, u32)>;

/// The vector that a caller gave: anything wrong with it is an error.
pub fn given_vector(vector: &Bound<'_, PyAny>, dimensions: Option<usize>) -> PyResult<UnitVector> {
    let py = vector.py();
    let Some(dimensions) = dimensions else {
        return Err(invalid(
            py,
            "reading vector: a vector needs an embedder that says what made it, and the store was opened without one: pass embedder= to memspan.open()",
        ));
    };
    let (shape, values) = numbers(vector)?;
    if shape.len() != 1 {
        return Err(invalid(py, format!("reading vector: it has one axis, and this one has the shape {shape:?}: pass a single row")));
    }
    UnitVector::new(&values, dimensions).map_err(|error| to_python(py, &error))
}

/// The shape and the numbers, row by row, of an array or of lists.
pub fn numbers(value: &Bound<'_, PyAny>) -> PyResult<(Vec<usize>, Vec<f32>)> {
    let py = value.py();
    if let Ok(buffer) = PyBuffer::<f32>::get(value)
        && is_native(buffer.format())
    {
        return Ok((buffer.shape().to_vec(), buffer.to_vec(py)?));
    }
    if let Ok(buffer) = PyBuffer::<f64>::get(value)
        && is_native(buffer.format())
    {
        return Ok((buffer.shape().to_vec(), buffer.to_vec(py)?.into_iter().map(|x| x as f32).collect()));
    }
    if let Ok(row) = value.extract::<Vec<f64>>()
        && !is_array(value)
    {
        return Ok((vec![row.len()], row.into_iter().map(|x| x as f32).collect()));
    }
    if let Ok(rows) = value.extract::<Vec<Vec<f64>>>()
        && !is_array(value)
        && rows.windows(2).all(|pair| pair[0].len() == pair[1].len())
    {
        let shape = vec![rows.len(), rows.first().map_or(0, Vec::len)];
        return Ok((shape, rows.into_iter().flatten().map(|x| x as f32).collect()));
    }
    let kind = value.getattr("dtype").map_or_else(|_| type_name(value), |dtype| format!("an array of {dtype}"));
    Err(invalid(
        py,
        format!(
            "reading a vector: it must be an array of float32 or float64, or a list of floats, and it is {kind}: pass a list of floats, or an array of dtype float32"
        ),
    ))
}

/// Whether a buffer's numbers are in this machine's byte order: the buffer protocol says it, and pyo3 does not look.
fn is_native(format: &CStr) -> bool {
    let other = if cfg!(target_endian = "little") { [b'>', b'!'] } else { [b'<', b'<'] };
    !format.to_bytes().first().is_some_and(|order| other.contains(order))
}

/// Whether a value has a type of its own for its numbers, which must then be one of floats.
fn is_array(value: &Bound<'_, PyAny>) -> bool {
    value.hasattr("dtype").unwrap_or(false)
}
