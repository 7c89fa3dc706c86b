//! Time of the analyzer per text: `cargo bench -p memspan-engine --bench analyze`. Medians of rounds, one thread.

use std::hint::black_box;
use std::time::Instant;

use memspan_engine::text::{Analysis, Analyzer};

const ROUNDS: usize = 31;

/// Words of the texts, in the frequencies of English: every sixth an article or a preposition, every twelfth an identifier.
const WORDS: [&str; 36] = [
    "the",
    "service",
    "listens",
    "on",
    "port",
    "8443",
    "in",
    "production",
    "and",
    "Caroline",
    "prefers",
    "Go",
    "for",
    "scripting",
    "because",
    "the",
    "tooling",
    "is",
    "simpler,",
    "payments-api",
    "was",
    "deployed",
    "yesterday",
    "after",
    "a",
    "review",
    "of",
    "fix/auth-timeout",
    "we",
    "decided",
    "to",
    "keep",
    "weekly",
    "meetings",
    "with",
    "everyone.",
];

const ACCENTED: [&str; 12] = ["die", "Straße", "führt", "über", "Köln", "café", "où", "l’élève", "écrit", "señor", "“quoted”", "naïve"];

fn text(words: &[&str], count: usize) -> String {
    (0..count).map(|i| words[(i * 7) % words.len()]).collect::<Vec<_>>().join(" ")
}

/// Median nanoseconds of one call.
fn nanoseconds(mut call: impl FnMut()) -> f64 {
    let started = Instant::now();
    call();
    let calls = (2_000_000 / started.elapsed().as_nanos().max(100)).clamp(1, 20_000);
    let mut rounds: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let started = Instant::now();
            (0..calls).for_each(|_| call());
            started.elapsed().as_nanos() as f64 / calls as f64
        })
        .collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

fn report(name: &str, text: &str, nanoseconds: f64) {
    let per_100_bytes = nanoseconds * 100.0 / text.len() as f64;
    println!("{name:<32} {:>7} bytes {nanoseconds:>12.0} ns {per_100_bytes:>8.0} ns per 100 bytes", text.len());
}

fn main() {
    if cfg!(debug_assertions) {
        eprintln!("analyze: a debug build is not worth timing: run `cargo bench -p memspan-engine --bench analyze`");
        return;
    }
    let (mut analyzer, mut out) = (Analyzer::new(), Analysis::default());
    for (name, words, count) in [
        ("document, 20 words", &WORDS[..], 20),
        ("document, 24 words", &WORDS, 24),
        ("document, 250 words", &WORDS, 250),
        ("document, 2,000 words", &WORDS, 2_000),
        ("document, 250 accented words", &ACCENTED, 250),
        ("document, 250 Cyrillic words", &["сервис", "слушает", "порт", "в", "новый", "ёлка"], 250),
        ("document, 250 Han characters", &["数据库", "服务器", "端口号"], 83),
        ("document, 250 identifiers", &["payments-api", "getUserById", "src/auth/login.rs:42", "8443", "v1.2.3"], 250),
    ] {
        let text = text(words, count);
        report(name, &text, nanoseconds(|| analyzer.document(black_box(&text), 7, black_box(&mut out))));
    }
    for (name, query) in [
        ("query, 7 words", "which port does the payments-api service use?".to_owned()),
        ("query, 7 plain words", "what did Caroline decide about the meetings?".to_owned()),
        ("query, 250 words", text(&WORDS, 250)),
    ] {
        report(name, &query, nanoseconds(|| drop(black_box(analyzer.query(black_box(&query), 7)))));
    }
}
