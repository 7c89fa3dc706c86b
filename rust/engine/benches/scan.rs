//! The vector scan: 384 dimensions, through LMDB and through memory, per kernel, with what stands before and behind it.
//!
//! `cargo bench -p memspan-engine --bench scan -- 5000` prints medians; the arguments are numbers of vectors.

#![allow(clippy::unwrap_used, missing_docs)] // a bench may panic

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use memspan_engine::index::vectors::{Kernel, Query, Scores, UnitVector, VectorSet};
use memspan_engine::store::environment::{Environment, Mode};
use memspan_engine::store::folder::FORMAT_VERSION;
use memspan_engine::store::keys::{Key, Table};
use memspan_engine::store::pages::{MemoryPages, Pages};

const DIMS: usize = 384;

fn vectors(count: usize) -> Vec<UnitVector> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    (0..count).map(|_| UnitVector::new(&(0..DIMS).map(|_| next()).collect::<Vec<_>>(), DIMS).unwrap()).collect()
}

/// Median of one call in microseconds: enough calls to a sample that the clock does not count, about 0.4 s in all.
fn median(mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    (0..20).for_each(|_| call());
    let each = start.elapsed().as_secs_f64() / 20.0;
    let calls = (200e-6 / each).ceil().max(1.0) as usize;
    let mut samples: Vec<f64> = (0..((0.4 / (each * calls as f64)) as usize).clamp(31, 2001))
        .map(|_| {
            let start = Instant::now();
            (0..calls).for_each(|_| call());
            start.elapsed().as_secs_f64() / calls as f64
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2] * 1e6
}

fn main() {
    if cfg!(debug_assertions) {
        eprintln!("a debug build is not timed: run `cargo bench -p memspan-engine --bench scan`");
        return;
    }
    let counts: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    for count in if counts.is_empty() { vec![1000, 5000, 20_000] } else { counts } {
        measure(count);
    }
}

fn measure(count: usize) {
    let vectors = vectors(count + 1);
    let query = Query::from_unit(vectors[count].clone());
    let set = VectorSet::new(1, 1, DIMS).unwrap();
    let batch: Vec<_> = (1..).zip(&vectors[..count]).collect();
    let folder = std::env::temp_dir().join(format!("memspan-bench-scan-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let environment =
        Environment::create(&folder, 1, Mode { read_only: false, relaxed: false, building: true, format: FORMAT_VERSION }).unwrap();
    let start = Instant::now();
    for batch in batch.chunks(1000) {
        let mut txn = environment.write().unwrap();
        set.put_many(&mut txn, batch).unwrap();
        txn.commit().unwrap();
    }
    println!("{count} vectors of {DIMS}: written in batches of 1,000, {:.2} us each", start.elapsed().as_secs_f64() * 1e6 / count as f64);
    let pages = environment.snapshot().unwrap();
    let mut memory = MemoryPages::new();
    set.put_many(&mut memory, &batch).unwrap();
    scans(set, &pages, &memory, &query);
    steps(set, &pages, &query);
    drop(pages);
    environment.close();
    std::fs::remove_dir_all(&folder).unwrap();
}

fn scans(set: VectorSet, pages: &impl Pages, memory: &MemoryPages, query: &Query) {
    let mut scores = Scores::new();
    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        let through_lmdb = median(|| set.scan_with(pages, black_box(query), kernel, &mut scores).unwrap());
        let in_memory = median(|| set.scan_with(memory, black_box(query), kernel, &mut scores).unwrap());
        println!("  scan {:12}  LMDB {through_lmdb:8.2} us   map in memory {in_memory:8.2} us", format!("{kernel:?}"));
    }
}

/// What stands before and behind the scan.
fn steps(set: VectorSet, pages: &impl Pages, query: &Query) {
    let range = Key::new(1, Table::VectorBlock).u16(1).prefix_range();
    let mut blocks = 0;
    let walk = median(|| {
        blocks = 0;
        let mut count = |_: &[u8], value: &[u8]| {
            black_box(value);
            blocks += 1;
            Ok(ControlFlow::Continue(()))
        };
        pages.scan(&range.start, &range.end, &mut count).unwrap();
    });
    println!("  walk of {blocks:5} blocks {walk:8.2} us, {:.1} ns each", walk * 1e3 / f64::from(blocks));
    let mut scores = Scores::new();
    set.scan(pages, query, &mut scores).unwrap();
    println!("  best 40              {:8.2} us", median(|| drop(black_box(scores.best(40, |_| true)))));
    let candidates = scores.best(40, |_| true);
    let rerank = median(|| set.rerank(pages, query, &mut black_box(candidates.clone())).unwrap());
    println!("  rerank 40            {rerank:8.2} us");
}
