//! From how many vectors on a graph answers sooner than a scan, on this machine: what `GraphOptions.threshold` should be.
//!
//! ```text
//! cargo bench -p memspan-engine --bench crossover -- [--dimensions 256] [--max-size 400000] [--seconds 120]
//! cargo bench -p memspan-engine --bench crossover -- --vectors FILE --queries FILE [--dimensions 256] [--ef 80,128,256]
//! ```
//!
//! The first doubles the number of vectors in clusters from 10,000 on. The second measures the float32 rows of two files, for
//! `benches/bench_graph.py`, which has a rival measure the same. A row: vectors, microseconds of a scan, of the graph, its recall of the ten
//! nearest by all exact cosines, seconds to build.

#![allow(clippy::unwrap_used, missing_docs)] // a bench may panic

mod trial;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use memspan_engine::index::vectors::graph::GraphOptions;
use memspan_engine::index::vectors::{Query, UnitVector};
use trial::Trial;

const SMALLEST: usize = 10_000;
const QUERIES: usize = 100;
const TOP: usize = 10;
const CLUSTERS: u64 = 2_000;
/// A graph that is a few microseconds faster is worth neither being approximate nor being built.
const WORTH: f64 = 2.0;
const WORTH_FROM_US: f64 = 1_000.0;

fn main() {
    if cfg!(debug_assertions) {
        eprintln!("a debug build is not timed: run `cargo bench -p memspan-engine --bench crossover`");
        return;
    }
    let (dimensions, efs) = (number("--dimensions", 256), option("--ef").unwrap_or_else(|| GraphOptions::default().ef_search.to_string()));
    let efs: Vec<usize> = efs.split(',').map(|ef| ef.parse().unwrap()).collect();
    match (option("--vectors"), option("--queries")) {
        (Some(vectors), Some(queries)) => {
            let (vectors, queries) = (rows(Path::new(&vectors), dimensions), rows(Path::new(&queries), dimensions));
            let mut measured = Measured::new(dimensions, queries);
            measured.grow(&vectors);
            let built = measured.build();
            for ef in efs {
                measured.row(ef, built);
            }
        }
        _ => crossover(dimensions, number("--max-size", 400_000), number("--seconds", 120) as f64, efs[0]),
    }
}

fn option(name: &str) -> Option<String> {
    std::env::args().skip_while(|argument| argument != name).nth(1)
}

fn number(name: &str, default: usize) -> usize {
    option(name).map_or(default, |value| value.parse().unwrap())
}

/// Doubles the vectors up to `max_size`, and begins no size behind `seconds`; always the first.
fn crossover(dimensions: usize, max_size: usize, seconds: f64, ef: usize) {
    let (began, mut size, mut worth) = (Instant::now(), 0, None);
    let mut measured = Measured::new(dimensions, clustered(QUERIES, dimensions, 0));
    while size < max_size && (size == 0 || began.elapsed().as_secs_f64() < seconds) {
        let more = size.max(SMALLEST).min(max_size - size);
        for first in (0..more).step_by(SMALLEST) {
            measured.grow(&clustered(SMALLEST.min(more - first), dimensions, (size + first + 1) as u64));
        }
        size += more;
        let (scan, graph) = measured.row(ef, measured.build());
        worth = worth.or_else(|| (scan >= WORTH_FROM_US && scan >= WORTH * graph).then_some(size));
    }
    match worth {
        Some(size) => println!("recommended: GraphOptions(threshold={size})"),
        None => println!("a scan was faster at every size: no graph is needed"),
    }
}

/// A set of vectors in a folder of its own, and the questions to it.
struct Measured {
    folder: std::path::PathBuf,
    trial: Trial,
    queries: Vec<Query>,
    size: usize,
}

impl Measured {
    fn new(dimensions: usize, queries: Vec<UnitVector>) -> Self {
        let folder = std::env::temp_dir().join(format!("memspan-crossover-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let trial = Trial::new(&folder, dimensions).unwrap();
        println!("{:>9} {:>10} {:>10} {:>5} {:>10} {:>8}", "vectors", "scan us", "graph us", "ef", "recall@10", "build s");
        Self { folder, trial, queries: queries.into_iter().map(Query::from_unit).collect(), size: 0 }
    }

    fn grow(&mut self, vectors: &[UnitVector]) {
        self.trial.add(vectors).unwrap();
        self.size += vectors.len();
    }

    /// Builds the graph over all vectors; in seconds.
    fn build(&self) -> f64 {
        let began = Instant::now();
        self.trial.build(&GraphOptions { m: 16, ef_construction: 200, ..GraphOptions::default() }).unwrap();
        began.elapsed().as_secs_f64()
    }

    /// Prints what was measured, microseconds of a scan and of the graph, and returns them.
    fn row(&self, ef: usize, built: f64) -> (f64, f64) {
        let ((exact, scan), (found, graph)) = (self.timed(None), self.timed(Some(ef)));
        let hits: usize = exact.iter().zip(&found).map(|(exact, found)| exact.intersection(found).count()).sum();
        let recall = hits as f64 / exact.iter().map(BTreeSet::len).sum::<usize>() as f64;
        println!("{:>9} {scan:>10.1} {graph:>10.1} {ef:>5} {recall:>10.4} {built:>8.1}", self.size);
        (scan, graph)
    }

    /// What every question finds, and the median of its microseconds at the second time: the first touch of a page is no part of a search.
    fn timed(&self, ef: Option<usize>) -> (Vec<BTreeSet<u32>>, f64) {
        let search =
            |query: &Query| -> BTreeSet<u32> { self.trial.search(query, TOP, ef).unwrap().into_iter().map(|one| one.number).collect() };
        let found: Vec<_> = self.queries.iter().map(search).collect();
        let mut times: Vec<f64> = self
            .queries
            .iter()
            .map(|query| {
                let began = Instant::now();
                std::hint::black_box(search(query));
                began.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        times.sort_by(f64::total_cmp);
        (found, times[times.len() / 2])
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The rows of a file of float32.
fn rows(path: &Path, dimensions: usize) -> Vec<UnitVector> {
    let bytes = std::fs::read(path).unwrap();
    let floats: Vec<f32> = bytes.chunks_exact(4).map(|four| f32::from_le_bytes(four.try_into().unwrap())).collect();
    floats.chunks_exact(dimensions).map(|row| UnitVector::new(row, dimensions).unwrap()).collect()
}

/// Vectors in clusters of several widths, as texts about some thousand subjects have.
fn clustered(count: usize, dimensions: usize, seed: u64) -> Vec<UnitVector> {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let mut vector = || {
        let (cluster, width) = (random.next() % CLUSTERS, 0.4 + 0.8 * random.uniform());
        let mut centre = Random(cluster.wrapping_mul(0xD134_2543_DE82_EF95) | 1);
        let row: Vec<f32> = (0..dimensions).map(|_| (centre.normal() + width * random.normal()) as f32).collect();
        UnitVector::new(&row, dimensions).unwrap()
    };
    (0..count).map(|_| vector()).collect()
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Near enough to a normal distribution: a sum of four uniform ones, of variance 1.
    fn normal(&mut self) -> f64 {
        ((0..4).map(|_| self.uniform()).sum::<f64>() - 2.0) * 3_f64.sqrt()
    }
}
