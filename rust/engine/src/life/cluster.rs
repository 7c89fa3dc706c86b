//! Density clustering: DBSCAN's definition, exact, over unit vectors held as int8.
//!
//! ```text
//! neighbours of a   every b (a itself too) with cosine(a, b) >= closeness
//! core              a vector with at least `min_points` neighbours
//! cluster           cores that are neighbours of each other, one after the other, and the neighbours of these
//! ```
//!
//! Numbered in the order of the first core; a vector at the border of two clusters belongs to the first that reaches it, as in
//! scikit-learn. Source: Ester, Kriegel, Sander and Xu, "A density-based algorithm for discovering clusters", 1996. O(n^2 d) with no
//! matrix of distances: memory is the lists of neighbours.

/// Vectors of one length, as int8 with a scale each.
#[derive(Debug, Clone, Default)]
pub struct Points {
    dims: usize,
    codes: Vec<i8>,
    norms: Vec<f64>,
}

impl Points {
    /// No vectors, of that many dimensions.
    #[must_use]
    pub fn new(dims: usize) -> Self {
        Self { dims, codes: Vec::new(), norms: Vec::new() }
    }

    /// Adds a vector.
    pub fn push(&mut self, vector: &[f32]) {
        let most = vector.iter().fold(0.0f32, |most, value| most.max(value.abs())).max(f32::MIN_POSITIVE);
        let first = self.codes.len();
        self.codes.extend(vector.iter().map(|value| (value / most * 127.0).round() as i8));
        let squares: i64 = self.codes[first..].iter().map(|code| i64::from(*code) * i64::from(*code)).sum();
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

    /// The cosine of two of them.
    #[must_use]
    pub fn cosine(&self, a: usize, b: usize) -> f64 {
        let row = |at: usize| &self.codes[at * self.dims..(at + 1) * self.dims];
        let dot: i32 = row(a).iter().zip(row(b)).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        f64::from(dot) / (self.norms[a] * self.norms[b])
    }
}

/// The cluster of each vector; `None` for noise.
#[must_use]
pub fn dbscan(points: &Points, closeness: f64, min_points: usize) -> Vec<Option<u32>> {
    let neighbours = neighbours(points, closeness);
    let mut clusters: Vec<Option<u32>> = vec![None; points.len()];
    let mut next = 0;
    for seed in 0..points.len() {
        if clusters[seed].is_some() || neighbours[seed].len() < min_points {
            continue;
        }
        let mut open = vec![seed];
        clusters[seed] = Some(next);
        while let Some(at) = open.pop() {
            if neighbours[at].len() < min_points {
                continue;
            }
            for near in neighbours[at].iter().map(|near| *near as usize) {
                if clusters[near].is_none() {
                    clusters[near] = Some(next);
                    open.push(near);
                }
            }
        }
        next += 1;
    }
    clusters
}

fn neighbours(points: &Points, closeness: f64) -> Vec<Vec<u32>> {
    let mut lists: Vec<Vec<u32>> = (0..points.len()).map(|at| vec![at as u32]).collect();
    for a in 0..points.len() {
        for b in a + 1..points.len() {
            if points.cosine(a, b) >= closeness {
                lists[a].push(b as u32);
                lists[b].push(a as u32);
            }
        }
    }
    lists
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
        let clusters = dbscan(&points, libm::cos(0.07), 2);
        assert_eq!(clusters, [Some(0), Some(0), Some(0), None, Some(0), Some(1), Some(1), Some(1)]);
        assert_eq!(dbscan(&points, libm::cos(0.07), 3)[0], Some(0), "a border belongs to the core that reaches it");
        assert!(dbscan(&points, 0.999_999, 2).iter().all(Option::is_none));
    }
}
