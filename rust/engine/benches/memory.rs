//! What a service feels, without Python: bulk load, durable remember, recall, cold open; 100 users.
//!
//! `cargo bench -p memspan-engine --bench memory [-- MEMORIES [REPEATS]]`. Prints medians and 99th percentiles in microseconds.

mod support;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use memspan_engine::engine::{Engine, EngineOptions};
use memspan_engine::index::vectors::{Query, UnitVector};
use memspan_engine::memory::NewMemory;
use memspan_engine::memory::embedding::Embedding;
use memspan_engine::recall::{Filter, Request, recall};
use memspan_engine::scope::{Scope, ScopeType};
use memspan_engine::store::Durability;
use support::{Random, Times};

const DIMS: usize = 384;
const USERS: usize = 100;
const VOCABULARY: f64 = 20_000.0;

fn memory(at: usize) -> String {
    let mut random = Random(at as u64 + 1);
    let mut words: Vec<String> = (0..14 + random.next() as usize % 20).map(|_| random.word(VOCABULARY)).collect();
    words.insert(3, format!("ID-{at:06}"));
    words.join(" ")
}

fn question(at: usize) -> String {
    let text = memory(at);
    let words: Vec<&str> = text.split(' ').filter(|w| !w.starts_with("ID-")).collect();
    words[words.len() - 7..].join(" ")
}

fn embed(text: &str) -> Vec<f32> {
    let mut vector = vec![0.0; DIMS];
    for word in text.split(' ') {
        let mut random = Random(word.bytes().fold(7, |hash, byte| hash * 31 + u64::from(byte)));
        for _ in 0..4 {
            let bits = random.next();
            vector[bits as usize % DIMS] += if bits >> 63 == 0 { 1.0 } else { -1.0 };
        }
    }
    vector
}

fn new_memory(at: usize) -> NewMemory {
    let text = memory(at);
    let vector = UnitVector::new(&embed(&text), DIMS).expect("a vector");
    NewMemory { vector: Some(vector), ..NewMemory::new(text) }
}

fn scope(at: usize) -> Scope {
    Scope::new(None, ScopeType::User, &format!("user{:02}", at % USERS)).expect("a name")
}

fn open(path: &Path) -> Engine {
    let options = EngineOptions {
        durability: Durability::Full,
        read_only: false,
        busy_timeout: Duration::from_secs(5),
        embedding: Some(Embedding { name: "hash".into(), dimensions: DIMS as u32, revision: String::new() }),
        now: 0,
    };
    Engine::open(path, options).expect("open")
}

fn ask(engine: &Engine, at: usize, dense: bool, times: &mut Times) -> bool {
    let text = question(at);
    let vector = dense.then(|| Query::new(&embed(&text), DIMS).expect("a vector"));
    let request = Request { text, vector, scopes: vec![scope(at)], limit: 10, filter: Filter::all(1), min_score: 0.0, max_tokens: None };
    let answer = times.take(|| recall(engine, &request)).expect("answered");
    let wanted = memory(at);
    answer.hits.iter().any(|hit| hit.memory.text == wanted)
}

fn main() {
    const { assert!(!cfg!(debug_assertions), "a debug build is not to be timed") };
    let count: usize = std::env::args().find_map(|a| a.parse().ok()).unwrap_or(100_000);
    let path = std::env::temp_dir().join(format!("memspan-bench-{}", std::process::id()));
    let engine = open(&path);
    let mut writing = Duration::ZERO;
    for first in (0..count).step_by(5000) {
        for user in 0..USERS {
            let scope = Arc::new(scope(user));
            let ours = (first..(first + 5000).min(count)).filter(|at| at % USERS == user);
            let rows: Vec<_> = ours.map(|at| (Arc::clone(&scope), new_memory(at))).collect();
            let started = Instant::now();
            engine.remember_many(rows, 0, true).expect("written");
            writing += started.elapsed();
        }
    }
    println!("{count} memories, {:.0}/s in batches of {}", count as f64 / writing.as_secs_f64(), 5000 / USERS);
    println!("{:.1} MB on disk", engine.contents().expect("contents").file_bytes as f64 / 1e6);
    drop(engine);
    let mut times = Times::default();
    for _ in 0..20 {
        times.take(|| {
            let engine = open(&path);
            ask(&engine, 17, true, &mut Times::default());
            engine
        });
    }
    times.report("open + first recall");
    let engine = open(&path);
    let repeats: usize = std::env::args().filter_map(|a| a.parse().ok()).nth(1).unwrap_or(1);
    for dense in [true, false].repeat(repeats) {
        let mut times = Times::default();
        let found = (0..1000).filter(|i| ask(&engine, i * 7919 % count, dense, &mut times)).count();
        times.report(&format!("recall, {} ({found}/1000 found)", if dense { "hybrid" } else { "lexical" }));
    }
    let mut times = Times::default();
    for at in 0..500 {
        let new = new_memory(10_000_000 + at);
        times.take(|| engine.remember(&scope(at), new, 0)).expect("written");
    }
    times.report("remember, durable, one thread");
    let started = Instant::now();
    std::thread::scope(|threads| {
        for thread in 0..32 {
            let engine = &engine;
            threads.spawn(move || {
                for at in 0..100 {
                    engine.remember(&scope(thread), new_memory(20_000_000 + thread * 1000 + at), 0).expect("written");
                }
            });
        }
    });
    println!("remember, durable, 32 threads: {:.0}/s", 3200.0 / started.elapsed().as_secs_f64());
    for (name, value) in engine.store().metrics().snapshot() {
        print!("{name}={value} ");
    }
    println!();
    engine.close().expect("closed");
    let _ = std::fs::remove_dir_all(&path);
}
