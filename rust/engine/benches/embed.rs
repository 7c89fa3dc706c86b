//! Time of the built-in embedding per text: `cargo bench -p memspan-engine --bench embed`. Medians of rounds, one thread.
//!
//! Each round embeds 500 different texts, so that rows of the table come from where they are in practice: not the innermost cache.

use std::hint::black_box;
use std::time::Instant;

use memspan_engine::embedding::embed;

const ROUNDS: usize = 31;
const TEXTS: usize = 500;

const WORDS: [&str; 40] = [
    "payments",
    "server",
    "kitten",
    "adopted",
    "Friday",
    "deploy",
    "prefers",
    "tea",
    "database",
    "timeout",
    "meeting",
    "garden",
    "violin",
    "doctor",
    "allergic",
    "peanuts",
    "flight",
    "Lisbon",
    "moved",
    "budget",
    "invoice",
    "release",
    "Kubernetes",
    "refactoring",
    "photograph",
    "museum",
    "daughter",
    "marathon",
    "training",
    "sourdough",
    "bakery",
    "thunderstorm",
    "candidate",
    "interview",
    "contract",
    "landlord",
    "electricity",
    "telescope",
    "volunteer",
    "shelter",
];
const BETWEEN: [&str; 8] = ["the", "of", "with", "and", "because", "in", "a", "she"];

/// A text of so many words; no two numbers give the same.
fn text(number: usize, words: usize) -> String {
    let mut state = number as u64 + 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    (0..words)
        .map(|at| if at % 2 == 0 { BETWEEN[next() % BETWEEN.len()] } else { WORDS[next() % WORDS.len()] })
        .collect::<Vec<_>>()
        .join(" ")
}

fn main() {
    if cfg!(debug_assertions) {
        eprintln!("embed: a debug build is not worth timing: run `cargo bench -p memspan-engine --bench embed`");
        return;
    }
    for words in [7, 20, 250, 2_000] {
        let texts: Vec<String> = (0..TEXTS).map(|number| text(number, words)).collect();
        let mut rounds: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let started = Instant::now();
                for text in &texts {
                    black_box(embed(black_box(text)));
                }
                started.elapsed().as_nanos() as f64 / 1e3 / TEXTS as f64
            })
            .collect();
        rounds.sort_by(f64::total_cmp);
        let accented: String = texts[0].replace('e', "\u{e9}");
        let started = Instant::now();
        for _ in 0..TEXTS {
            black_box(embed(black_box(&accented)));
        }
        let slow = started.elapsed().as_nanos() as f64 / 1e3 / TEXTS as f64;
        println!("{words:>5} words {:>8.1} us; with accents {slow:>8.1} us", rounds[ROUNDS / 2]);
    }
}
