//! The vector scan: 384 dimensions, through LMDB and through memory, per kernel, with selection and rerank.
//!
//! `cargo bench -p memspan-engine --bench scan` prints the median of each; an argument is the number of vectors.
//! "plain" is the floor: the same codes in one array, the same instructions, no blocks and no numbers.

#![allow(clippy::unwrap_used, missing_docs)]

use std::hint::black_box;
use std::ops::{Bound, ControlFlow};
use std::time::Instant;

use heed::types::Bytes;
use heed::{Database, EnvOpenOptions, RoTxn, RwTxn};
use memspan_engine::index::vectors::{Kernel, Query, Scores, UnitVector, VectorSet};
use memspan_engine::store::pages::{MemoryPages, Pages, PagesMut};
use memspan_engine::{Error, ErrorKind, Result};

const DIMS: usize = 384;

type Db = Database<Bytes, Bytes>;

struct Reading<'t>(Db, &'t RoTxn<'t>);

struct Writing<'t, 'e>(Db, &'t mut RwTxn<'e>);

#[allow(clippy::needless_pass_by_value)] // the shape of map_err
fn io(error: heed::Error) -> Error {
    Error::new(ErrorKind::StoreIo, error.to_string())
}

fn walk<'p>(
    db: Db,
    txn: &'p RoTxn<'_>,
    from: &[u8],
    to: &[u8],
    visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let range = (Bound::Included(from), Bound::Excluded(to));
    for entry in db.range(txn, &range).map_err(io)? {
        let (key, value) = entry.map_err(io)?;
        if visit(key, value)?.is_break() {
            break;
        }
    }
    Ok(())
}

impl Pages for Reading<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        self.0.get(self.1, key).map_err(io)
    }

    fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        self.0.get_lower_than_or_equal_to(self.1, key).map_err(io)
    }

    fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        walk(self.0, self.1, from, to, visit)
    }
}

impl Pages for Writing<'_, '_> {
    fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        self.0.get(self.1, key).map_err(io)
    }

    fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        self.0.get_lower_than_or_equal_to(self.1, key).map_err(io)
    }

    fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        walk(self.0, self.1, from, to, visit)
    }
}

impl PagesMut for Writing<'_, '_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.0.put(self.1, key, value).map_err(io)
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        self.0.delete(self.1, key).map_err(io)
    }
}

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

/// Median of one call in microseconds: enough calls to a sample that the clock does not count, at least 0.4 s in all.
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
        eprintln!("a debug build is not timed");
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
    // SAFETY: the folder is this process's own and nothing else opens it.
    let env = unsafe { EnvOpenOptions::new().map_size(1 << 30).open(&folder) }.unwrap();
    let mut txn = env.write_txn().unwrap();
    let db: Db = env.create_database(&mut txn, None).unwrap();
    txn.commit().unwrap();
    let start = Instant::now();
    for batch in batch.chunks(1000) {
        let mut txn = env.write_txn().unwrap();
        set.put_many(&mut Writing(db, &mut txn), batch).unwrap();
        txn.commit().unwrap();
    }
    println!(
        "{count} vectors of {DIMS}: written in batches of 1,000, {:.2} us each with the disk",
        start.elapsed().as_secs_f64() * 1e6 / count as f64
    );
    let txn = env.read_txn().unwrap();
    let pages = Reading(db, &txn);
    let mut memory = MemoryPages::new();
    set.put_many(&mut memory, &batch).unwrap();
    let mut scores = Scores::new();
    for kernel in Kernel::ALL.into_iter().filter(|kernel| kernel.is_available()) {
        let through_lmdb = median(|| set.scan_with(&pages, black_box(&query), kernel, &mut scores).unwrap());
        let in_memory = median(|| set.scan_with(&memory, black_box(&query), kernel, &mut scores).unwrap());
        println!("  scan {:12} LMDB {through_lmdb:8.2} us   memory {in_memory:8.2} us", format!("{kernel:?}"));
    }
    let from = [0, 0, 0, 1, 0x11, 0, 1];
    let to = [0, 0, 0, 1, 0x11, 0, 2];
    let mut blocks = 0;
    let walk = median(|| {
        blocks = 0;
        pages
            .scan(&from, &to, &mut |_, value| {
                black_box(value);
                blocks += 1;
                Ok(ControlFlow::Continue(()))
            })
            .unwrap();
    });
    println!("  walk alone         {walk:8.2} us, {:.1} ns a block", walk * 1e3 / f64::from(blocks));
    let best = median(|| drop(black_box(scores.best(40, |_| true))));
    println!("  best 40            {best:8.2} us");
    let candidates = scores.best(40, |_| true);
    let rerank = median(|| set.rerank(&pages, &query, &mut black_box(candidates.clone())).unwrap());
    println!("  rerank 40          {rerank:8.2} us");
    drop(txn);
    drop(env);
    std::fs::remove_dir_all(&folder).unwrap();
}
