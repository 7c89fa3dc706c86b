//! The corpus of the fuzzer, replayed: each file, and mutations of it by a generator of chance, through its decoder. `MEMSPAN_FUZZ` says how
//! many mutations of each (200 by default).

mod support;
#[path = "../../../fuzz/targets.rs"]
mod targets;

use std::path::Path;
use std::time::{Duration, Instant};

use support::Chance;

fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let mut files: Vec<_> = std::fs::read_dir(&folder).expect("a corpus").map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    files.iter().map(|file| std::fs::read(file).expect("read")).collect()
}

#[test]
fn every_decoder_bears_its_corpus_and_mutations_of_it() {
    let mutations: usize = std::env::var("MEMSPAN_FUZZ").ok().and_then(|count| count.parse().ok()).unwrap_or(200);
    for (name, target) in targets::TARGETS {
        let (inputs, mut chance) = (corpus(name), Chance(name.len() as u64));
        assert!(inputs.len() >= 2, "{name}: a corpus is committed");
        for input in &inputs {
            target(input);
            for _ in 0..mutations {
                let bytes = chance.mutated(input, &inputs);
                let began = Instant::now();
                target(&bytes);
                assert!(began.elapsed() < Duration::from_secs(5), "{name}: {} bytes took too long", bytes.len());
            }
        }
    }
}
