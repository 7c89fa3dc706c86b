//! A scope changes its embedding: the old vectors serve until the new ones are whole, whatever dies in between.

mod support;

use memspan_engine::ErrorKind;
use memspan_engine::engine::{Engine, EngineOptions};
use memspan_engine::index::vectors::graph::GraphOptions;
use memspan_engine::index::vectors::{Query, UnitVector};
use memspan_engine::memory::NewMemory;
use memspan_engine::memory::embedding::Embedding;
use memspan_engine::memory::revise::Revision;
use memspan_engine::recall::when::Range;
use memspan_engine::recall::{Filter, Recall, Request, recall};
use memspan_engine::scope::Scope;
use support::{DIMS, Folder, assert_sound, embed, one, options, user, with_vector};

fn named(name: &str) -> Embedding {
    Embedding { name: name.into(), dimensions: DIMS as u32, revision: String::new() }
}

fn open(folder: &Folder, embedding: Option<Embedding>) -> Engine {
    Engine::open(&folder.0, EngineOptions { embedding, ..options(false) }).expect("open")
}

/// Another embedder's vector: nothing like [`embed`]'s.
fn other(text: &str) -> UnitVector {
    let turned: Vec<f32> = embed(text).as_slice().iter().rev().copied().collect();
    UnitVector::new(&turned, DIMS).expect("a vector")
}

fn ask(engine: &Engine, scopes: &[Scope], text: &str, vector: Option<Query>) -> Recall {
    let request = Request {
        text: text.into(),
        vector,
        scopes: scopes.to_vec(),
        limit: 5,
        filter: Filter::all(1_000_000),
        min_score: 0.0,
        max_tokens: None,
    };
    recall(engine, &request).expect("recalled")
}

fn cosine(found: &Recall) -> Option<f64> {
    found.hits.first().and_then(|hit| hit.parts.cosine())
}

fn fill(engine: &Engine, scope: &Scope, count: usize, vector: impl Fn(&str) -> Option<UnitVector>) {
    let rows = (0..count).map(|at| {
        let text = format!("note number {at}");
        (std::sync::Arc::new(scope.clone()), NewMemory { vector: vector(&text), ..NewMemory::new(text) })
    });
    engine.remember_many(rows.collect(), 10, true).expect("written");
}

/// Makes at most `steps` steps of vectors; whether all are made.
fn make(engine: &Engine, steps: usize, alone: bool, vector: impl Fn(&str) -> UnitVector) -> bool {
    let (mut after, mut left) = (0, steps);
    while let Some(partition) = if alone { engine.next_to_reembed(after) } else { engine.next_pending(after) }.expect("next") {
        let mut first = 0;
        loop {
            if left == 0 {
                return false;
            }
            left -= 1;
            let page = engine.pending(partition, first).expect("pending");
            let Some(last) = page.last() else { break };
            first = last.number + 1;
            let made = page.iter().map(|one| (one.number, one.revision, vector(&one.text))).collect();
            engine.fill(engine.embedding_place(), partition, made).expect("filled");
        }
        engine.conclude(partition, 0).expect("concluded");
        after = partition;
    }
    true
}

#[test]
fn the_old_vectors_serve_until_the_new_ones_are_whole() {
    let (folder, scope) = (Folder::new(), user("u"));
    let scopes = std::slice::from_ref(&scope);
    fill(&open(&folder, Some(named("old"))), &scope, 600, |text| Some(embed(text)));
    let engine = open(&folder, Some(named("old")));
    assert_eq!(engine.exchange_embedding(&named("new")), 1);
    assert_eq!(engine.contents().expect("contents").to_embed, 600);
    let question = |place| Query::from_unit(if place == 0 { embed("note number 77") } else { other("note number 77") }).made_by(place);

    assert!(!make(&engine, 1, true, other), "one step of three");
    assert_eq!(engine.contents().expect("contents").to_embed, 600 - 256);
    assert_eq!(engine.place_of(&scope).expect("read"), Some(0), "the old ones are searched");
    let found = ask(&engine, scopes, "note number 77", Some(question(0)));
    assert_eq!((found.degraded.as_deref(), found.by_vectors), (None, true));
    assert!(cosine(&found).is_some_and(|cosine| cosine > 0.999));
    let found = ask(&engine, scopes, "note number 77", Some(question(1)));
    assert!(found.degraded.is_some() && !found.by_vectors, "a vector of the new one is never compared with the old ones");
    assert_sound(&engine);

    // What is written meanwhile: found by its words until the switch, and not embedded again.
    let new = NewMemory { vector: Some(other("written meanwhile")), made_by: 1, ..NewMemory::new("written meanwhile") };
    one(&engine, &scope, new, 20);
    let stale = NewMemory { vector: Some(embed("by the old one")), made_by: 0, ..NewMemory::new("by the old one") };
    one(&engine, &scope, stale, 21);
    assert_eq!(
        engine.contents().expect("contents").to_embed,
        600 - 256 + 1,
        "the vector of the old embedder was not taken for one of the new"
    );
    let revised = Revision { text: Some("note number 1 was wrong".into()), vector: Some(other("x")), made_by: 1, ..Revision::default() };
    engine.revise(&scope, "mem-2", revised, 22).expect("revised");
    engine.forget(&scope, "mem-4", None, 23).expect("forgotten");
    engine.forget(&scope, "mem-500", None, 24).expect("forgotten");
    assert_sound(&engine);

    assert!(make(&engine, 9, true, other));
    assert_eq!(engine.place_of(&scope).expect("read"), Some(1));
    assert_eq!(engine.contents().expect("contents").to_embed, 0);
    let found = ask(&engine, scopes, "note number 77", Some(question(1)));
    assert_eq!(found.degraded, None);
    assert!(cosine(&found).is_some_and(|cosine| cosine > 0.999));
    let report = engine.check().expect("checked");
    assert!(report.is_sound(), "{:#?}", report.findings);
    assert_eq!(report.vectors, 600, "nothing of the old embedding is left");
}

#[test]
fn a_graph_goes_with_the_old_vectors_and_comes_again_with_the_new() {
    let (folder, scope) = (Folder::new(), user("u"));
    let scopes = std::slice::from_ref(&scope);
    let engine = open(&folder, Some(named("old"))).with_graph(GraphOptions { threshold: 300, m: 8, ..GraphOptions::default() });
    let engine = engine.expect("rules");
    fill(&engine, &scope, 600, |text| Some(embed(text)));
    for day in 0..5 {
        let text = format!("note number 77 of day {day}");
        one(&engine, &scope, NewMemory { occurred_at: Some(900), ..with_vector(&text) }, 900 + day);
    }
    let answers = |place: u32| {
        let vector = if place == 0 { embed } else { other };
        let numbers = |preferred: Option<Range>| -> Vec<String> {
            let request = Request {
                text: "of day 3, note number 77".into(),
                vector: Some(Query::from_unit(vector("of day 3 note number 77")).made_by(place)),
                scopes: scopes.to_vec(),
                limit: 12,
                filter: Filter { preferred, ..Filter::all(1_000_000) },
                min_score: 0.0,
                max_tokens: None,
            };
            let found = recall(&engine, &request).expect("recalled");
            assert_eq!(found.degraded, None);
            found.hits.iter().map(|hit| hit.memory.text.clone()).collect()
        };
        [numbers(None), numbers(Some(Range { since: Some(800), until: Some(1000) }))]
    };
    let built = || engine.maintain_graphs(1_000, &mut || Ok(())).expect("maintained");
    let by_scan = answers(0);
    assert_eq!([&by_scan[0][0], &by_scan[1][0]], ["note number 77 of day 3"; 2]);
    assert_eq!((built(), built()), (1, 0));
    assert_eq!(answers(0), by_scan);
    assert_sound(&engine);

    engine.exchange_embedding(&named("new"));
    assert_eq!(built(), 0, "the vectors that are searched are not those of the new embedder, and keep their graph");
    assert!(!make(&engine, 1, true, other));
    engine.forget(&scope, "mem-100", None, 1_001).expect("forgotten");
    assert_eq!(answers(0), by_scan);
    assert_sound(&engine);
    assert!(make(&engine, 9, true, other));
    assert_sound(&engine); // nothing of the old graph is left: the doctor knows whose values they are
    let by_scan = answers(1);
    assert_eq!((built(), built()), (1, 0));
    assert_eq!(answers(1), by_scan);
    assert_sound(&engine);
}

#[test]
fn another_process_goes_on_where_one_died() {
    let (folder, scope) = (Folder::new(), user("u"));
    fill(&open(&folder, Some(named("old"))), &scope, 700, |text| Some(embed(text)));
    fill(&open(&folder, Some(named("old"))), &user("v"), 300, |text| Some(embed(text)));
    let (mut steps, mut made) = (0, 0);
    loop {
        // Each round is an engine of its own, which ends after one step: only the store remembers.
        let engine = open(&folder, Some(named("new")));
        let done = make(&engine, 1, false, other);
        assert_sound(&engine);
        let left = engine.contents().expect("contents").to_embed;
        assert!(left + made <= 1000, "what was made stays made");
        made = 1000 - left;
        steps += 1;
        assert!(steps < 20);
        if done {
            break;
        }
    }
    assert_eq!(made, 1000);
    assert_eq!(open(&folder, Some(named("new"))).check().expect("checked").vectors, 1000);
}

#[test]
fn the_built_in_embedding_serves_by_itself_until_another_is_whole() {
    let (folder, scope) = (Folder::new(), user("u"));
    let built_in = open(&folder, Some(Embedding::built_in()));
    fill(&built_in, &scope, 40, |_| None);
    one(&built_in, &scope, NewMemory::new("she adopted a kitten"), 11);
    drop(built_in);
    let engine = open(&folder, Some(named("new")));
    let paraphrase = "which pet does she have";
    for vector in [None, Some(Query::from_unit(other(paraphrase)))] {
        let found = ask(&engine, std::slice::from_ref(&scope), paraphrase, vector);
        assert_eq!((found.degraded.as_deref(), found.by_vectors), (None, true));
        assert_eq!(found.hits[0].memory.text, "she adopted a kitten");
    }
    one(&engine, &scope, NewMemory { vector: Some(other("x")), ..NewMemory::new("her dog sleeps all day") }, 12);
    let found = ask(&engine, std::slice::from_ref(&scope), "a puppy that is tired", None);
    assert_eq!(found.degraded, None, "a memory that is written meanwhile gets the old vector too");
    assert!(found.hits.iter().any(|hit| hit.memory.text.contains("dog") && hit.parts.cosine().is_some()));
    assert_sound(&engine);
    assert!(make(&engine, 9, false, other));
    assert_eq!(engine.check().expect("checked").vectors, 42);
}

#[test]
fn the_built_in_embedding_takes_over_by_itself() {
    let folder = Folder::new();
    fill(&open(&folder, Some(named("old"))), &user("u"), 300, |text| Some(embed(text)));
    fill(&open(&folder, None), &user("v"), 300, |_| None);
    let engine = open(&folder, Some(Embedding::built_in()));
    assert_eq!(engine.make_vectors().expect("made"), 600);
    assert_eq!(engine.make_vectors().expect("made"), 0);
    assert_eq!(engine.check().expect("checked").vectors, 600);
    assert_sound(&engine);
}

#[test]
fn what_another_was_building_is_given_up_on_purpose_only() {
    let (folder, scope) = (Folder::new(), user("u"));
    fill(&open(&folder, Some(named("a"))), &scope, 300, |text| Some(embed(text)));
    let b = open(&folder, Some(named("b")));
    assert!(!make(&b, 1, false, other));
    let a = open(&folder, Some(named("a")));
    one(&a, &scope, NewMemory { vector: Some(embed("by a")), ..NewMemory::new("by a") }, 20);
    assert!(make(&a, 9, false, embed));
    assert_eq!(b.contents().expect("contents").to_embed, 301 - 256, "maintenance of a leaves what b builds");
    assert!(make(&a, 9, true, embed));
    assert_eq!(b.contents().expect("contents").to_embed, 301);
    assert_eq!(a.check().expect("checked").vectors, 301);
    assert_sound(&a);
    // A third embedder takes the place of what the second was building.
    assert!(!make(&b, 1, false, other));
    let c = open(&folder, Some(named("c")));
    assert!(make(&c, 9, false, other));
    assert_eq!((c.contents().expect("contents").to_embed, c.check().expect("checked").vectors), (0, 301));
    assert_sound(&c);
}

#[test]
fn texts_that_the_new_embedder_refuses_hold_up_nothing_unless_they_are_most() {
    let (folder, scope) = (Folder::new(), user("u"));
    fill(&open(&folder, Some(named("old"))), &scope, 10, |text| Some(embed(text)));
    let engine = open(&folder, Some(named("new")));
    for (refused, place) in [(6, None), (2, Some(0))] {
        let partition = engine.next_pending(0).expect("next").expect("a partition");
        let page = engine.pending(partition, 0).expect("pending");
        let made = page.iter().take(page.len() - refused).map(|one| (one.number, one.revision, other(&one.text))).collect();
        engine.fill(0, partition, made).expect("filled");
        engine.conclude(partition, refused as u64).expect("concluded");
        assert_eq!(engine.place_of(&scope).expect("read"), place, "{refused} of 10 refused");
        assert_sound(&engine);
    }
    let found = ask(&engine, std::slice::from_ref(&scope), "note", Some(Query::from_unit(other("note"))));
    assert!(found.degraded.is_some_and(|why| why.contains("2 of 10")));
}

#[test]
fn scopes_of_different_embeddings_say_so() {
    let folder = Folder::new();
    let (u, v) = (user("u"), user("v"));
    fill(&open(&folder, Some(named("old"))), &u, 3, |text| Some(embed(text)));
    fill(&open(&folder, Some(Embedding::built_in())), &v, 3, |_| None);
    let engine = open(&folder, Some(named("old")));
    let question = Some(Query::from_unit(embed("note number 1")));
    assert_eq!(ask(&engine, std::slice::from_ref(&u), "note number 1", question.clone()).degraded, None);
    assert_eq!(ask(&engine, std::slice::from_ref(&v), "note number 1", question.clone()).degraded, None);
    let both = ask(&engine, &[u, v], "note number 1", question);
    assert!(both.degraded.is_some_and(|why| why.contains("different embedders")));
}

#[test]
fn a_text_that_is_there_has_its_vector_already_and_only_in_its_own_scope() {
    let (folder, u, v) = (Folder::new(), user("u"), user("v"));
    let engine = open(&folder, Some(named("old")));
    fill(&engine, &u, 3, |text| Some(embed(text)));
    let (same, other_text, other_kind) = (
        NewMemory::new("note number 1"),
        NewMemory::new("Note  number 1"),
        NewMemory { kind: memspan_engine::memory::Kind::Episodic, ..NewMemory::new("note number 1") },
    );
    let known = engine.known_vectors(0, &[(&u, &same), (&u, &other_text), (&u, &other_kind), (&v, &same)]).expect("read");
    let (stored, made) = (known[0].as_ref().expect("it is there"), embed("note number 1"));
    let difference = stored.as_slice().iter().zip(made.as_slice()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(difference < 2e-5, "16 bits a component: {difference}");
    assert_eq!(known[1..], [None, None, None]);
    engine.forget(&u, "mem-2", None, 20).expect("forgotten");
    assert_eq!(engine.known_vectors(0, &[(&u, &same)]).expect("read"), [None], "nothing is left of what was forgotten");
}

#[test]
fn a_model_that_changed_under_its_name_is_noticed_by_the_next_process() {
    let (folder, scope) = (Folder::new(), user("u"));
    let engine = open(&folder, Some(named("model")));
    engine.check_probe(0, &embed("probe")).expect("nothing to compare with");
    fill(&engine, &scope, 3, |text| Some(embed(text)));
    drop(engine);
    let engine = open(&folder, Some(named("model")));
    engine.check_probe(0, &embed("probe")).expect("the same");
    let error = engine.check_probe(0, &other("probe")).expect_err("another model");
    assert_eq!(error.kind(), ErrorKind::Embedder);
    open(&folder, Some(Embedding { revision: "2".into(), ..named("model") })).check_probe(0, &other("probe")).expect("another identity");
    // A store from before probes were kept learns it from the first one that comes.
    let engine = open(&folder, Some(named("plain")));
    fill(&engine, &user("w"), 3, |text| Some(embed(text)));
    engine.check_probe(0, &embed("probe")).expect("nothing to compare with");
    one(&engine, &user("w"), with_vector("the next write keeps it"), 20);
    assert!(open(&folder, Some(named("plain"))).check_probe(0, &other("probe")).is_err());
}
