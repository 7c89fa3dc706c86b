//! Density clustering: DBSCAN's definition, exact, over unit vectors held as int8.
//!
//! ```text
//! neighbours of a   every b (a itself too) with cosine(a, b) >= closeness
//! core              a vector with at least `min_points` neighbours
//! cluster           cores that are neighbours of each other, one after the other, and the neighbours of these
//! ```
//!
//! Numbered in the order of the first core; a vector at the border of two clusters belongs to the first that reaches it, as in
//! scikit-learn. Source: Ester, Kriegel, Sander and Xu, "A density-based algorithm for discovering clusters", 1996. Every pair is
//! multiplied once, by the kernels of the scan, in squares of rows that stay in the processor's cache. A pair takes one bit: 20,000 vectors
//! take 50 MB however dense they lie.

use std::ops::Range;

use crate::index::vectors::Codes;
use crate::{Result, interrupt};

/// Rows on a side of a square: two times 256 rows of 256 bytes lie in a cache of the second level.
const SIDE: usize = 256;

/// Vectors of one length, as int8 with a norm each.
#[derive(Debug, Clone, Default)]
pub struct Points {
    codes: Codes,
    norms: Vec<f64>,
}

impl Points {
    /// No vectors, of that many dimensions.
    #[must_use]
    pub fn new(dims: usize) -> Self {
        Self { codes: Codes::new(dims), norms: Vec::new() }
    }

    /// Vectors one after the other, each of that many numbers.
    #[must_use]
    pub fn of_rows(values: &[f32], dims: usize) -> Self {
        let mut points = Self::new(dims);
        values.chunks_exact(dims.max(1)).for_each(|row| points.push(row));
        points
    }

    /// Adds a vector.
    pub fn push(&mut self, vector: &[f32]) {
        let most = vector.iter().fold(0.0f32, |most, value| most.max(value.abs())).max(f32::MIN_POSITIVE);
        let codes = || vector.iter().map(|value| (value / most * 127.0).round() as i8);
        let squares: i64 = codes().map(|code| i64::from(code) * i64::from(code)).sum();
        self.codes.push(codes());
        self.norms.push(libm::sqrt(squares as f64));
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.norms.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.norms.is_empty()
    }
}

/// Which vectors are neighbours of which: a row of bits for each.
struct Neighbours {
    words: usize,
    bits: Vec<u64>,
}

impl Neighbours {
    fn of(points: &Points, closeness: f64) -> Result<Self> {
        let count = points.len();
        let mut near = Self { words: count.div_ceil(64), bits: vec![0; count.div_ceil(64) * count] };
        for rows in (0..count).step_by(SIDE) {
            for columns in (rows..count).step_by(SIDE) {
                interrupt::check()?;
                near.square(points, closeness, rows..(rows + SIDE).min(count), columns..(columns + SIDE).min(count));
            }
        }
        Ok(near)
    }

    fn square(&mut self, points: &Points, closeness: f64, rows: Range<usize>, columns: Range<usize>) {
        for a in rows {
            let norm = points.norms[a];
            points.codes.each_dot(a, columns.start.max(a), columns.end, |b, dot| {
                if a == b || f64::from(dot) / (norm * points.norms[b]) >= closeness {
                    self.set(a, b);
                    self.set(b, a);
                }
            });
        }
    }

    fn set(&mut self, a: usize, b: usize) {
        self.bits[a * self.words + b / 64] |= 1 << (b % 64);
    }

    fn row(&self, at: usize) -> &[u64] {
        &self.bits[at * self.words..(at + 1) * self.words]
    }

    fn count(&self, at: usize) -> usize {
        self.row(at).iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// The cluster of each vector; `None` for noise. An error where the caller wants an end.
pub fn dbscan(points: &Points, closeness: f64, min_points: usize) -> Result<Vec<Option<u32>>> {
    let near = Neighbours::of(points, closeness)?;
    let is_core = |at: usize| near.count(at) >= min_points;
    let mut clusters: Vec<Option<u32>> = vec![None; points.len()];
    let mut open: Vec<u64> = vec![u64::MAX; near.words];
    let mut next = 0;
    for seed in 0..points.len() {
        if clusters[seed].is_some() || !is_core(seed) {
            continue;
        }
        let mut reached = vec![seed];
        (clusters[seed], open[seed / 64]) = (Some(next), open[seed / 64] & !(1 << (seed % 64)));
        while let Some(at) = reached.pop() {
            if !is_core(at) {
                continue;
            }
            for (place, (word, left)) in near.row(at).iter().zip(&mut open).enumerate() {
                let mut new = word & *left;
                *left &= !word;
                while new != 0 {
                    let here = place * 64 + new.trailing_zeros() as usize;
                    clusters[here] = Some(next);
                    reached.push(here);
                    new &= new - 1;
                }
            }
        }
        next += 1;
    }
    Ok(clusters)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(angle: f64) -> [f32; 2] {
        [libm::cos(angle) as f32, libm::sin(angle) as f32]
    }

    #[test]
    fn dense_runs_are_clusters_and_what_is_alone_is_noise() {
        let mut points = Points::new(2);
        for angle in [0.0, 0.05, 0.1, 1.5, 0.15, 3.0, 3.05, 3.1] {
            points.push(&at(angle));
        }
        let clusters = dbscan(&points, libm::cos(0.07), 2).unwrap();
        assert_eq!(clusters, [Some(0), Some(0), Some(0), None, Some(0), Some(1), Some(1), Some(1)]);
        assert_eq!(dbscan(&points, libm::cos(0.07), 3).unwrap()[0], Some(0), "a border belongs to the core that reaches it");
        assert!(dbscan(&points, 0.999_999, 2).unwrap().iter().all(Option::is_none));
    }
}
