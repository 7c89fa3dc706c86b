//! Vectors that an embedder made, one for each text: a row may be missing.

use super::{Query, UnitVector};

/// Rows of one embedding.
#[derive(Debug, Clone, Default)]
pub struct Made {
    /// A vector for each text, where there is one.
    pub rows: Vec<Option<UnitVector>>,
    /// The place of the embedder among those that the engine was given.
    pub place: u32,
    /// The fault of the first row that has no vector.
    pub first_error: Option<String>,
}

impl Made {
    /// Vectors from numbers, row by row: a bad row is one without a vector.
    #[must_use]
    pub fn of_rows(values: &[f32], dimensions: usize, place: u32) -> Self {
        let mut first_error = None;
        let unit =
            |row: &[f32]| UnitVector::new(row, dimensions).map_err(|error| first_error.get_or_insert(error.to_string()).clone()).ok();
        Self { rows: values.chunks(dimensions).map(unit).collect(), place, first_error }
    }

    /// Rows of texts that could not be embedded.
    #[must_use]
    pub fn missing(count: usize, place: u32) -> Self {
        Self { rows: vec![None; count], place, first_error: None }
    }

    /// The rows of several calls, one after the other.
    #[must_use]
    pub fn joined(parts: &[&Self]) -> Self {
        let rows = parts.iter().flat_map(|part| part.rows.iter().cloned()).collect();
        let place = parts.first().map_or(0, |part| part.place);
        Self { rows, place, first_error: parts.iter().find_map(|part| part.first_error.clone()) }
    }

    /// The rows in two: those before `at`, and those from there on.
    #[must_use]
    pub fn split(&self, at: usize) -> (Self, Self) {
        let (before, after) = self.rows.split_at(at.min(self.rows.len()));
        let part = |rows: &[Option<UnitVector>]| {
            let first_error = self.first_error.clone().filter(|_| rows.iter().any(Option::is_none));
            Self { rows: rows.to_vec(), place: self.place, first_error }
        };
        (part(before), part(after))
    }

    /// How many rows have no vector.
    #[must_use]
    pub fn bad(&self) -> usize {
        self.rows.iter().filter(|row| row.is_none()).count()
    }

    /// Each row with the place of who made it.
    pub fn each(&self) -> impl Iterator<Item = (Option<UnitVector>, u32)> + '_ {
        self.rows.iter().cloned().map(|row| (row, self.place))
    }

    /// The first row.
    #[must_use]
    pub fn first(&self) -> Option<UnitVector> {
        self.rows.first().cloned().flatten()
    }

    /// The first row, ready for a scan.
    #[must_use]
    pub fn query(&self) -> Option<Query> {
        self.first().map(|unit| Query::from_unit(unit).made_by(self.place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_row_is_a_row_without_a_vector() {
        let made = Made::of_rows(&[1.0, 0.0, f32::NAN, 0.0, 0.0, 2.0], 2, 7);
        assert_eq!((made.rows.len(), made.bad(), made.first_error.is_some()), (3, 1, true));
        assert_eq!(made.each().map(|(row, place)| (row.is_some(), place)).collect::<Vec<_>>(), [(true, 7), (false, 7), (true, 7)]);
        let (whole, broken) = made.split(1);
        assert_eq!((whole.bad(), whole.first_error.is_some(), broken.bad(), broken.first_error.is_some()), (0, false, 1, true));
        let joined = Made::joined(&[&Made::missing(1, 7), &made]);
        assert_eq!((joined.rows.len(), joined.bad(), joined.place), (4, 2, 7));
        assert!(joined.first().is_none() && joined.query().is_none() && made.query().is_some());
    }
}
