//! A recall with the built-in embedding, all in, without Python: one user of 500 and one of 5,000 memories.
//!
//! `cargo bench -p memspan-engine --bench recall [-- MEMORIES...]`. Memories of 20 words and a number, questions of 7 words of one of them;
//! limit 5. Prints medians and 99th percentiles in microseconds.

mod support;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use memspan_engine::engine::{Engine, EngineOptions};
use memspan_engine::memory::NewMemory;
use memspan_engine::memory::embedding::Embedding;
use memspan_engine::recall::{Filter, Request, recall};
use memspan_engine::scope::{Scope, ScopeType};
use memspan_engine::store::Durability;
use support::{Random, Times};

const VOCABULARY: f64 = 20_000.0;
const QUESTIONS: usize = 4_000;

fn memory(at: usize) -> String {
    let mut random = Random(at as u64 + 1);
    let words: Vec<String> = (0..20).map(|_| random.word(VOCABULARY)).collect();
    format!("ID-{at:06} {}", words.join(" "))
}

fn question(at: usize) -> String {
    memory(at).split(' ').skip(5).take(7).collect::<Vec<_>>().join(" ")
}

fn open(path: &Path, dense: bool) -> Engine {
    let embedding = dense.then(Embedding::built_in);
    let options =
        EngineOptions { durability: Durability::Relaxed, read_only: false, busy_timeout: Duration::from_secs(5), embedding, now: 0 };
    Engine::open(path, options).expect("open")
}

fn main() {
    const { assert!(!cfg!(debug_assertions), "a debug build is not to be timed") };
    let path = std::env::temp_dir().join(format!("memspan-bench-{}", std::process::id()));
    let engine = open(&path, true);
    let given: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    for count in if given.is_empty() { vec![500, 5_000] } else { given } {
        let scope = Scope::new(None, ScopeType::User, &format!("user{count}")).expect("a name");
        let shared = Arc::new(scope.clone());
        engine.remember_many((0..count).map(|at| (Arc::clone(&shared), NewMemory::new(memory(at)))).collect(), 0, true).expect("written");
        let mut times = Times::default();
        let mut found = 0;
        for round in 0..QUESTIONS + 100 {
            let wanted = round * 7919 % count;
            let request = Request {
                text: question(wanted),
                vector: None,
                scopes: vec![scope.clone()],
                limit: 5,
                filter: Filter::all(1),
                min_score: 0.0,
                max_tokens: None,
            };
            let timed = if round < 100 { &mut Times::default() } else { &mut times };
            let answer = timed.take(|| recall(&engine, &request)).expect("answered");
            found += usize::from(answer.hits.iter().any(|hit| hit.memory.text == memory(wanted)));
        }
        times.report(&format!("recall among {count} memories ({found}/{} found)", QUESTIONS + 100));
    }
    engine.close().expect("closed");
    let _ = std::fs::remove_dir_all(&path);
}
