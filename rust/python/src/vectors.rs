//! Vectors: float32 or float64 arrays by the buffer protocol, or lists of numbers, checked and brought to length 1.

use std::ffi::CStr;

use memspan_engine::index::vectors::{Made, UnitVector};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::prelude::*;

use crate::arguments::{holds, reads};
use crate::errors::{invalid, to_python, type_name};

holds! {
    /// Vectors of one embedding, one for each text that was embedded.
    Vectors(Made);
}

#[pymethods]
impl Vectors {
    /// An embedder's result for `count` texts: a wrong shape is an error, a bad row is a row without a vector.
    #[staticmethod]
    fn embedded(matrix: &Bound<'_, PyAny>, count: usize, dimensions: usize, place: u32) -> PyResult<Self> {
        let Numbers { shape, values } = numbers(matrix)?;
        if shape == [count, dimensions] {
            return Ok(Self(Made::of_rows(&values, dimensions, place)));
        }
        let rule = format!("its shape must be ({count}, {dimensions}), texts by dimensions, and it is {shape:?}");
        Err(invalid(matrix.py(), format!("reading what embed() returned: {rule}: look at the embedder")))
    }

    #[staticmethod]
    fn joined(parts: Vec<PyRef<'_, Self>>) -> Self {
        Self(Made::joined(&parts.iter().map(|part| &part.0).collect::<Vec<_>>()))
    }

    fn split(&self, at: usize) -> (Self, Self) {
        let (before, after) = self.0.split(at);
        (Self(before), Self(after))
    }

    #[staticmethod]
    fn missing(count: usize, place: u32) -> Self {
        Self(Made::missing(count, place))
    }

    fn __len__(&self) -> usize {
        self.0.rows.len()
    }

    #[getter]
    fn bad(&self) -> usize {
        self.0.bad()
    }

    #[getter]
    fn first_error(&self) -> Option<&str> {
        self.0.first_error.as_deref()
    }
}

/// The requirements of a vector: its dimensions, and the place of its embedder.
pub type Space = Option<(usize, u32)>;

/// The vector that a caller gave: anything wrong with it is an error.
pub fn given_vector(vector: &Bound<'_, PyAny>, dimensions: Option<usize>) -> PyResult<UnitVector> {
    let py = vector.py();
    let rule = "a vector needs an embedder that says what made it, and the store was opened without one";
    let missing = || invalid(py, format!("reading vector: {rule}: pass embedder= to memspan.open()"));
    let dimensions = dimensions.ok_or_else(missing)?;
    let Numbers { shape, values } = numbers(vector)?;
    if shape.len() != 1 {
        return Err(invalid(py, format!("reading vector: it has one axis, and this one has the shape {shape:?}: pass a single row")));
    }
    UnitVector::new(&values, dimensions).map_err(|error| to_python(py, &error))
}

/// The shape and the numbers, row by row, of an array or of lists.
pub struct Numbers {
    shape: Vec<usize>,
    pub values: Vec<f32>,
}

impl Numbers {
    /// Numbers of a row.
    pub fn dimensions(&self) -> usize {
        self.shape.last().copied().unwrap_or_default()
    }
}

reads! {
    Numbers: |name, value| numbers(value);
}

fn numbers(value: &Bound<'_, PyAny>) -> PyResult<Numbers> {
    if let Some(read) = buffer(value, |x: f32| x).or_else(|| buffer(value, |x: f64| x as f32)) {
        return read;
    }
    let is_array = value.hasattr("dtype").unwrap_or(false); // it says what its numbers are, and they must be floats
    if let (Ok(row), false) = (value.extract::<Vec<f64>>(), is_array) {
        return Ok(Numbers { shape: vec![row.len()], values: row.into_iter().map(|x| x as f32).collect() });
    }
    if let (Ok(rows), false) = (value.extract::<Vec<Vec<f64>>>(), is_array)
        && rows.windows(2).all(|pair| pair[0].len() == pair[1].len())
    {
        let shape = vec![rows.len(), rows.first().map_or(0, Vec::len)];
        return Ok(Numbers { shape, values: rows.into_iter().flatten().map(|x| x as f32).collect() });
    }
    let kind = value.getattr("dtype").map_or_else(|_| type_name(value), |dtype| format!("an array of {dtype}"));
    let rule = format!("it must be an array of float32 or float64, or a list of floats, and it is {kind}");
    let next = "pass a list of floats, or an array of dtype float32";
    Err(invalid(value.py(), format!("reading a vector: {rule}: {next}")))
}

/// The numbers that an object gives by the buffer protocol; `None` where its numbers are of another type.
fn buffer<T: Element>(value: &Bound<'_, PyAny>, number: impl Fn(T) -> f32) -> Option<PyResult<Numbers>> {
    let buffer = PyBuffer::<T>::get(value).ok().filter(|buffer| is_native(buffer.format()))?;
    let numbers = |values: Vec<T>| Numbers { shape: buffer.shape().to_vec(), values: values.into_iter().map(number).collect() };
    Some(buffer.to_vec(value.py()).map(numbers))
}

/// Whether a buffer's numbers are in this machine's byte order: the buffer protocol says it, and pyo3 does not look.
fn is_native(format: &CStr) -> bool {
    let other = if cfg!(target_endian = "little") { [b'>', b'!'] } else { [b'<', b'<'] };
    !format.to_bytes().first().is_some_and(|order| other.contains(order))
}
