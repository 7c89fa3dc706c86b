//! What one turn costs without Python: adding a message, assembling and rendering a prompt, searching transcripts.
//!
//! `cargo bench -p memspan-engine --bench session [-- MESSAGES]`. Prints medians and 99th percentiles in microseconds, and pages
//! of 4 KiB.

mod support;

use std::path::Path;
use std::time::Duration;

use memspan_engine::context::render::{self, RequestOptions};
use memspan_engine::engine::{Engine, EngineOptions};
use memspan_engine::memory::{Kind, NewMemory};
use memspan_engine::models::Model;
use memspan_engine::scope::{Scope, ScopeType};
use memspan_engine::session::{self, Ask, NewMessage, Options, Session};
use memspan_engine::store::Durability;
use support::{Random, Times};

const VOCABULARY: f64 = 20_000.0;

/// About 250 tokens for 95 words.
fn text(at: usize, words: usize) -> String {
    let mut random = Random(at as u64 + 1);
    (0..words).map(|_| random.word(VOCABULARY)).collect::<Vec<_>>().join(" ")
}

fn message(at: usize, words: usize) -> NewMessage {
    let role = if at.is_multiple_of(2) { "user" } else { "assistant" };
    NewMessage::given(format!("{{\"role\":\"{role}\",\"content\":\"ID-{at:06} {}\"}}", text(at, words)))
}

fn open(path: &Path) -> Engine {
    let options =
        EngineOptions { durability: Durability::Full, read_only: false, busy_timeout: Duration::from_secs(5), embedding: None, now: 0 };
    Engine::open(path, options).expect("open")
}

/// Kilobytes that this process wrote so far.
fn written() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").expect("Linux counts what a process writes");
    io.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse::<u64>().ok()).expect("a number") / 1024
}

fn fill(session: &Session<'_>, from: usize, to: usize, words: usize) {
    for first in (from..to).step_by(250) {
        let batch = (first..to.min(first + 250)).map(|at| message(at, words)).collect();
        session.add_many(batch, 1 + first as i64).expect("added");
    }
}

fn main() {
    const { assert!(!cfg!(debug_assertions), "a debug build is not to be timed") };
    let most: usize = std::env::args().find_map(|a| a.parse().ok()).unwrap_or(50_000);
    let path = std::env::temp_dir().join(format!("memspan-bench-{}", std::process::id()));
    let engine = open(&path);
    let scope = Scope::new(None, ScopeType::User, "u").expect("a name");
    let memories = (0..1_000).map(|at| {
        let kind = if at % 100 == 0 { Kind::Preference } else { Kind::Semantic };
        (std::sync::Arc::new(scope.clone()), NewMemory { kind, ..NewMemory::new(text(7_000_000 + at, 22)) })
    });
    engine.remember_many(memories.collect(), 0, true).expect("remembered");
    let session = Session { engine: &engine, scope: &scope, id: "s" };
    let model = Model::named("gpt-4o").expect("a model");
    session.open(Options { model: Some(model), system: Some("You help.".into()), ..Options::default() }, 1).expect("opened");
    let mut have = 0;
    for messages in [50, 500, 5_000, 50_000].into_iter().filter(|messages| *messages <= most) {
        fill(&session, have, messages, 95);
        have = messages;
        let options = RequestOptions::new(Some("gpt-4o"), false);
        let (mut add, mut cold, mut warm, mut rendered, mut whole) =
            (Times::default(), Times::default(), Times::default(), Times::default(), Times::default());
        let (mut tokens, mut pages) = (0, Vec::new());
        for round in 0..60 {
            let before = written();
            add.take(|| session.add(message(have, 95), None, (have + 10) as i64)).expect("added");
            pages.push((written() - before) / 4);
            have += 1;
            let ask = Ask { max_input_tokens: Some(8_000), now: (have + 10) as i64, ..Ask::default() };
            let times = if round == 0 { &mut cold } else { &mut whole };
            let prompt = times.take(|| session.assemble(&ask)).expect("assembled");
            let prompt = {
                drop(prompt);
                warm.take(|| session.assemble(&ask)).expect("assembled")
            };
            rendered.take(|| render::to_openai(&prompt.prompt, options));
            tokens = prompt.prompt.total_tokens;
        }
        println!("--- {messages} messages of 250 tokens, prompts of {tokens} tokens");
        add.report("add, durable");
        pages.sort_unstable();
        println!("    pages of an add: p50 {}, most {}", pages[pages.len() / 2], pages[pages.len() - 1]);
        cold.report("assemble, first of a process");
        whole.report("assemble after an add");
        warm.report("assemble again");
        for (what, query) in [("a question of 5 words", Some("which port does payments use")), ("without memory", Some(""))] {
            let mut times = Times::default();
            let ask = Ask { query: query.map(str::to_owned), max_input_tokens: Some(8_000), now: have as i64 + 10, ..Ask::default() };
            for _ in 0..300 {
                times.take(|| session.assemble(&ask)).expect("assembled");
            }
            times.report(&format!("assemble again, {what}"));
        }
        rendered.report("to_openai");
        let mut search = Times::default();
        let mut found = 0;
        for at in 0..200 {
            let wanted = at * 7919 % messages;
            let question = text(wanted, 95).split(' ').skip(20).take(3).collect::<Vec<_>>().join(" ");
            let hits = search
                .take(|| session::search(&engine, &scope, &session::TranscriptRequest::new(&question, 10, have as i64)))
                .expect("found");
            found += usize::from(hits.iter().any(|hit| hit.message.record.placed.index == wanted as u64));
        }
        search.report(&format!("search_transcripts, 3 words ({found}/200 found)"));
    }
    engine.close().expect("closed");
    let _ = std::fs::remove_dir_all(&path);
}
