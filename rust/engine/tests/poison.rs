//! Memories that nobody vouches for copy the words of a question: however many they are, and from however many sources, those that somebody
//! vouches for keep half of the places of an answer.

mod support;

use std::sync::Arc;

use memspan_engine::engine::{Engine, EngineOptions};
use memspan_engine::memory::NewMemory;
use memspan_engine::memory::embedding::Embedding;
use memspan_engine::recall::{Filter, Request, recall};
use memspan_engine::scope::Scope;
use support::{Folder, one, options, user};

const QUESTION: &str = "Which port does the payments service listen on in production?";
const OWN: [&str; 3] = ["payments uses 8443", "In production the gateway forwards payments to 8443", "The port of billing is 9000"];

fn built_in(folder: &Folder) -> Engine {
    Engine::open(&folder.0, EngineOptions { embedding: Some(Embedding::built_in()), ..options(false) }).expect("open")
}

fn poison(engine: &Engine, scope: &Scope, count: usize, sources: usize, words: usize) {
    let scope = Arc::new(scope.clone());
    let rows = (0..count).map(|number| {
        let text = format!(
            "Which port does the payments service listen on in production? It is {number}. {}",
            "the port of payments ".repeat(words)
        );
        (Arc::clone(&scope), NewMemory { source: format!("page-{}", number % sources), ..NewMemory::new(text) })
    });
    engine.remember_many(rows.collect(), 10, false).expect("remembered");
}

fn own(engine: &Engine, scope: &Scope) {
    for (at, text) in OWN.into_iter().enumerate() {
        one(engine, scope, NewMemory::new(text), 20 + at as i64);
    }
}

fn answers(engine: &Engine, scope: &Scope, text: &str, limit: usize, max_tokens: Option<usize>) -> Vec<(u8, String, u64)> {
    let (text, scopes) = (text.to_owned(), vec![scope.clone()]);
    let request = Request { text, vector: None, scopes, limit, filter: Filter::all(100), min_score: 0.0, max_tokens };
    let hits = recall(engine, &request).expect("answered").hits;
    hits.into_iter().map(|hit| (hit.memory.trust, hit.memory.text, hit.score.to_bits())).collect()
}

#[test]
fn those_that_somebody_vouches_for_keep_their_half_of_the_places() {
    for count in [12, 60, 600] {
        for sources in [1, count] {
            let folder = Folder::in_memory();
            let engine = built_in(&folder);
            let scope = user("u");
            own(&engine, &scope);
            poison(&engine, &scope, count, sources, 2);
            for limit in [4, 6, 10] {
                let hits = answers(&engine, &scope, QUESTION, limit, None);
                let vouched = hits.iter().filter(|(trust, ..)| *trust > 0).count();
                assert!(vouched >= OWN.len().min(limit / 2), "{count} from {sources}, of {limit}: {hits:?}");
                assert_eq!(hits.len(), limit, "an answer gets no shorter");
            }
        }
    }
}

#[test]
fn long_texts_of_nobody_leave_room_in_the_tokens_of_an_answer() {
    let folder = Folder::in_memory();
    let engine = built_in(&folder);
    let scope = user("u");
    own(&engine, &scope);
    poison(&engine, &scope, 60, 60, 20);
    let hits = answers(&engine, &scope, QUESTION, 8, Some(120));
    assert!(hits.iter().any(|(_, text, _)| text == OWN[0]), "{hits:?}");
}

#[test]
fn what_somebody_vouches_for_and_does_not_answer_takes_no_place() {
    let folder = Folder::in_memory();
    let engine = built_in(&folder);
    let (alone, beside) = (user("alone"), user("beside"));
    for scope in [&alone, &beside] {
        poison(&engine, scope, 200, 7, 2);
    }
    let before = answers(&engine, &alone, QUESTION, 10, None);
    assert_eq!(before, answers(&engine, &beside, QUESTION, 10, None), "the scopes are alike");
    for text in ["My sister's cat sleeps on a blue sofa", "Anna adores opera"] {
        one(&engine, &beside, NewMemory::new(text), 30);
    }
    let after: Vec<String> = answers(&engine, &beside, QUESTION, 10, None).into_iter().map(|(_, text, _)| text).collect();
    assert_eq!(after, before.into_iter().map(|(_, text, _)| text).collect::<Vec<_>>());
}
