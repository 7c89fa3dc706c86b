//! Collections from outside: random operations against a naive model, isolation, what happens to the pieces of long documents, and
//! death while one is written.
#![allow(clippy::format_collect, clippy::format_push_string)] // short texts: what reads best

mod support;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memspan_engine::ErrorKind;
use memspan_engine::collection::{self, Action, CollectionName, NewDocument, Prepared, Request, remove, search};
use memspan_engine::engine::{Engine, EngineOptions};
use memspan_engine::index::vectors::graph::GraphOptions;
use memspan_engine::memory::embedding::Embedding;
use memspan_engine::scope::{Scope, ScopeType};
use memspan_engine::store::keys::{Key, Table};
use memspan_engine::store::pages::Pages;
use support::{Chance, Folder, assert_sound, open, options, role, spawn, user, wait_until};

fn name(scope: &Scope, name: &str) -> CollectionName {
    CollectionName::new(scope, name).expect("a name")
}

fn built_in(path: &std::path::Path) -> Engine {
    Engine::open(path, EngineOptions { embedding: Some(Embedding::built_in()), ..options(false) }).expect("open")
}

fn add(engine: &Engine, docs: &CollectionName, id: &str, text: &str, version: Option<&str>, now: i64) -> memspan_engine::Result<Action> {
    let new = NewDocument { version: version.map(str::to_owned), chunk_tokens: 40, ..NewDocument::new(id, text) };
    collection::add::add(engine, docs, Prepared::new(new)?, None, now).map(|added| added.action)
}

fn ask(engine: &Engine, docs: &CollectionName, text: &str, limit: usize, now: i64) -> Vec<(String, String)> {
    let answer = search::ask(engine, &Request::new(text, vec![docs.clone()], limit, now)).expect("answered");
    for hit in &answer.hits {
        let (_, whole) = get(engine, docs, &hit.document.id, now).expect("its document is there");
        assert_eq!(&whole[hit.span.clone()], hit.text);
        let characters: String = whole.chars().skip(hit.characters.start).take(hit.characters.len()).collect();
        assert_eq!(characters, hit.text);
        assert!((0.0..=1.0).contains(&hit.score));
        let explained = answer.queries[0].explain(hit.parts, &hit.indexed());
        assert_eq!(explained.terms.iter().map(|term| term.score).sum::<i64>(), hit.parts.lexical, "{hit:?}");
    }
    answer.hits.into_iter().map(|hit| (hit.document.id.clone(), hit.text)).collect()
}

fn get(engine: &Engine, docs: &CollectionName, id: &str, now: i64) -> Option<(String, String)> {
    let found = engine.store().read(|pages| collection::get(pages, docs, id, now)).expect("read");
    found.map(|(document, text)| (document.version, text))
}

fn text_of(chance: &mut Chance, word: &str) -> String {
    let most = if chance.one_in(6) { 120 } else { 4 };
    let sections = 1 + chance.below(most);
    let mut text = String::new();
    for section in 0..sections {
        text.push_str(&format!("# Section {section}\n\nThe word is {word}, und das Wörtchen heißt {}.\n\n", chance.below(50)));
        text.push_str(&"More is said here about ports and deploys. ".repeat(chance.below(6)));
        text.push('\n');
    }
    text
}

#[test]
fn random_operations_agree_with_a_naive_model() {
    let folder = Folder::in_memory();
    let engine = built_in(&folder.0);
    let mut chance = Chance(11);
    let collections = [name(&user("u-1"), "notes"), name(&user("u-1"), "code"), name(&user("u-2"), "notes")];
    let mut model: Vec<BTreeMap<String, (String, String)>> = vec![BTreeMap::new(); 3];
    for now in 1..=160 {
        let which = chance.below(3);
        let (docs, held) = (&collections[which], &mut model[which]);
        let id = format!("doc-{}", chance.below(6));
        match chance.below(10) {
            0..=5 => {
                let version = chance.below(3).to_string();
                let text = text_of(&mut chance, &format!("w{which}x{now}"));
                let done = add(&engine, docs, &id, &text, Some(&version), now);
                match held.get(&id) {
                    Some((known, _)) if *known == version => assert_eq!(done.expect_err("other content").kind(), ErrorKind::IdConflict),
                    known => {
                        let expected = if known.is_some() { Action::Replaced } else { Action::Added };
                        assert_eq!(done.expect("added"), expected);
                        assert_eq!(add(&engine, docs, &id, &text, Some(&version), now).expect("again"), Action::Duplicate);
                        held.insert(id.clone(), (version, text));
                    }
                }
            }
            6 | 7 => assert_eq!(remove::delete(&engine, docs, &id, now).expect("deleted"), held.remove(&id).is_some()),
            8 if chance.one_in(8) => {
                assert_eq!(remove::drop_collection(&engine, docs).expect("dropped"), held.len() as u64);
                held.clear();
            }
            _ => {}
        }
        assert_eq!(get(&engine, docs, &id, now), model[which].get(&id).cloned());
        if now % 20 == 0 {
            for (docs, held) in collections.iter().zip(&model) {
                let (page, _) = engine.store().read(|pages| collection::page(pages, docs, 0, 100, now)).expect("listed");
                let listed: BTreeMap<String, String> = page.into_iter().map(|one| (one.id, one.version)).collect();
                assert_eq!(listed, held.iter().map(|(id, (version, _))| (id.clone(), version.clone())).collect());
                for (id, text) in ask(&engine, docs, "which word is said in the section?", 50, now) {
                    assert!(held[&id].1.contains(&text));
                }
                for (id, (_, text)) in held.iter().take(2) {
                    let word = text.split("word is ").nth(1).and_then(|rest| rest.split(',').next()).expect("a word");
                    assert_eq!(ask(&engine, docs, word, 1, now)[0].0, *id, "{word}");
                }
            }
            assert_sound(&engine);
        }
    }
    assert_eq!(collection::sweep(&engine, 1 << 60).expect("swept"), 0, "nothing was left behind");
}

#[test]
fn one_scope_never_sees_anothers() {
    let folder = Folder::in_memory();
    let engine = open(&folder.0, false);
    let other_tenant = Scope::new(Some("t"), ScopeType::User, "u-1").expect("a name");
    let shared = Scope::new(None, ScopeType::Shared, "u-1").expect("a name");
    let scopes = [user("u-1"), user("u-2"), other_tenant, shared];
    for (n, scope) in scopes.iter().enumerate() {
        add(&engine, &name(scope, "notes"), "a", &format!("the secret of {n} is quokka{n}"), None, 1).expect("added");
    }
    for (n, scope) in scopes.iter().enumerate() {
        let found = ask(&engine, &name(scope, "notes"), "the secret quokka0 quokka1 quokka2 quokka3", 10, 2);
        assert_eq!(found, [("a".to_owned(), format!("the secret of {n} is quokka{n}"))]);
        assert!(ask(&engine, &name(scope, "note"), "secret", 10, 2).is_empty());
    }
    let listed = engine.scopes(0, 100).expect("listed");
    assert_eq!(listed.into_iter().map(|(_, scope)| scope).collect::<Vec<_>>(), scopes, "collections are no scopes");
    assert_eq!(engine.contents().expect("counted").collections, 4);
    assert_sound(&engine);
}

#[test]
fn what_expires_is_not_found_and_goes() {
    let folder = Folder::in_memory();
    let engine = open(&folder.0, false);
    let docs = name(&user("u-1"), "notes");
    let new = NewDocument { ttl: Some(100), ..NewDocument::new("a", "short lived") };
    collection::add::add(&engine, &docs, Prepared::new(new).expect("fine"), None, 10).expect("added");
    add(&engine, &docs, "b", "long lived", None, 20).expect("added");
    assert_eq!(ask(&engine, &docs, "lived", 5, 50).len(), 2);
    assert_eq!(ask(&engine, &docs, "lived", 5, 1000).len(), 1);
    assert_eq!(get(&engine, &docs, "a", 1000), None);
    assert_eq!(engine.expire(1000).expect("expired"), 1);
    assert_eq!(engine.store().read(|pages| collection::count(pages, &docs)).expect("counted").documents, 1);
    remove::expire_at(&engine, &docs, "b", Some(2000), 1100).expect("set").expect("there");
    remove::drop_collection(&engine, &docs).expect("dropped");
    assert_eq!(engine.expire(3000).expect("nothing left"), 0);
    assert_sound(&engine);
}

#[test]
fn a_document_that_is_added_again_is_kept_until_the_later_end() {
    let folder = Folder::in_memory();
    let engine = open(&folder.0, false);
    let docs = name(&user("u-1"), "notes");
    let again = |id: &str, ttl, now| {
        let new = NewDocument { ttl, ..NewDocument::new(id, "the same text") };
        let added = collection::add::add(&engine, &docs, Prepared::new(new).expect("fine"), None, now).expect("added");
        let stored = engine.store().read(|pages| collection::info(pages, &docs, id, now)).expect("read").expect("there");
        assert_eq!(stored, added.document);
        (added.action, added.document.expires_at)
    };
    assert_eq!(again("a", Some(100), 10), (Action::Added, Some(110)));
    assert_eq!(again("a", Some(1_000), 20), (Action::Duplicate, Some(1_020)));
    assert_eq!(again("a", Some(10), 30), (Action::Duplicate, Some(1_020)), "the later one");
    assert_eq!(engine.expire(500).expect("nothing is over"), 0);
    assert_eq!(again("b", Some(100), 500), (Action::Added, Some(600)));
    assert_eq!(again("b", None, 510), (Action::Duplicate, None));
    assert_eq!(again("b", Some(10), 520), (Action::Duplicate, None));
    assert_eq!(engine.expire(2_000).expect("expired"), 1);
    assert_eq!((get(&engine, &docs, "a", 2_000), get(&engine, &docs, "b", 2_000).is_some()), (None, true));
    assert_sound(&engine);
}

#[test]
fn a_passage_says_that_it_holds_every_identifier() {
    let folder = Folder::in_memory();
    let engine = built_in(&folder.0);
    let docs = name(&user("u-1"), "notes");
    for (id, text) in [
        ("a", "OPS-7001 opens the vault of Lisbon with OPS-7002"),
        ("b", "OPS-7001 opens the vault"),
        ("c", "the vault of Lisbon has two tickets"),
        ("d", "tickets of Lisbon: OPS-7002, OPS-7001"),
    ] {
        add(&engine, &docs, id, text, None, 10).expect("added");
    }
    let asked = |text: &str| {
        let answer = search::ask(&engine, &Request::new(text, vec![docs.clone()], 10, 20)).expect("answered");
        assert_eq!(answer.hits.len(), 4);
        let mut held: Vec<String> = answer.hits.iter().filter(|hit| hit.parts.identified).map(|hit| hit.document.id.clone()).collect();
        held.sort();
        held
    };
    assert_eq!(asked("which vault of Lisbon do OPS-7001 and OPS-7002 open?"), ["a", "d"]);
    assert_eq!(asked("which vault of Lisbon does OPS-7001 open?"), ["a", "b", "d"]);
    assert!(asked("which vault of Lisbon opens?").is_empty());
}

#[test]
fn a_word_is_found_in_every_form_and_an_identifier_whole() {
    let folder = Folder::in_memory();
    let engine = open(&folder.0, false);
    let docs = name(&user("u-1"), "notes");
    add(&engine, &docs, "a", "The generator was connected to getUserById on k8s-prod, port 8443.", None, 10).expect("added");
    for question in ["connections of generations", "connecting", "GENERATORS", "getUserById", "getuserbyid", "user ids", "k8s-prod", "8443"]
    {
        assert_eq!(ask(&engine, &docs, question, 5, 20).len(), 1, "{question}");
    }
    assert!(ask(&engine, &docs, "converted 8444", 5, 20).is_empty());
    assert!(remove::delete(&engine, &docs, "a", 30).expect("deleted"));
    assert_sound(&engine);
}

#[test]
fn readers_see_the_version_before_until_the_new_one_is_whole() {
    let folder = Folder::in_memory();
    let engine = Arc::new(open(&folder.0, false));
    let docs = name(&user("u-1"), "notes");
    let long =
        |word: &str| (0..2_000).map(|n| format!("Paragraph {n} has the word {word} and a few more of them.\n\n")).collect::<String>();
    add(&engine, &docs, "big", &long("walrus"), Some("1"), 1).expect("added");
    let over = Arc::new(AtomicBool::new(false));
    let (answered, first_answer) = std::sync::mpsc::channel();
    let reader = {
        let (engine, docs, over) = (Arc::clone(&engine), docs.clone(), Arc::clone(&over));
        std::thread::spawn(move || {
            let (mut before, mut after) = (0, 0);
            while !over.load(Ordering::Relaxed) || after == 0 {
                let request = Request::new("walrus ocelot paragraph 700", vec![docs.clone()], 10, 5);
                let answer = search::ask(&engine, &request).expect("answered");
                assert_eq!(answer.hits.len(), 10);
                let versions: Vec<&str> = answer.hits.iter().map(|hit| hit.document.version.as_str()).collect();
                assert!(versions.iter().all(|version| *version == versions[0]), "{versions:?}");
                *(if versions[0] == "1" { &mut before } else { &mut after }) += 1;
                let _ = answered.send(());
            }
            (before, after)
        })
    };
    first_answer.recv().expect("the reader is at work");
    add(&engine, &docs, "big", &long("ocelot"), Some("2"), 2).expect("replaced");
    over.store(true, Ordering::Relaxed);
    let (before, after) = reader.join().expect("joined");
    assert!(before > 0 && after > 0, "{before} {after}");
    assert_sound(&engine);
}

#[test]
fn vectors_that_could_not_be_made_are_made_later() {
    let folder = Folder::in_memory();
    let docs = name(&user("u-1"), "notes");
    {
        let engine = open(&folder.0, false);
        let text = (0..700).map(|n| format!("Paragraph {n} speaks of harbours.\n\n")).collect::<String>();
        add(&engine, &docs, "a", &text, None, 1).expect("added");
    }
    let engine = built_in(&folder.0);
    let degraded = || search::ask(&engine, &Request::new("harbours", vec![docs.clone()], 3, 5)).expect("answered").degraded;
    assert!(degraded().is_some());
    let chunks = engine.store().read(|pages| collection::count(pages, &docs)).expect("counted").chunks;
    assert!(chunks > 100);
    assert_eq!(engine.make_vectors().expect("made"), chunks);
    assert_eq!(degraded(), None);
    assert_sound(&engine);
}

#[test]
fn a_large_collection_gets_a_graph_too() {
    let folder = Folder::in_memory();
    let docs = name(&user("u-1"), "notes");
    let engine = built_in(&folder.0).with_graph(GraphOptions { threshold: 200, m: 8, ..GraphOptions::default() }).expect("rules");
    let words = ["harbours", "bridges", "invoices", "orchards", "violins", "glaciers", "kitchens"];
    let text_of = |n: usize| format!("Paragraph {n} of {} and {}.\n\n", words[n % 7], words[n / 7 % 7]).repeat(5);
    for n in 0..400 {
        add(&engine, &docs, &format!("doc-{n}"), &text_of(n), None, 1).expect("added");
    }
    let answers = || words.map(|word| ask(&engine, &docs, word, 5, 5));
    let built = || engine.maintain_graphs(5, &mut || Ok(())).expect("maintained");
    let by_scan = answers();
    assert_eq!((built(), built()), (1, 0));
    assert_sound(&engine);
    assert_eq!(answers(), by_scan);
    // What was replaced, removed and added since counts at once.
    add(&engine, &docs, "doc-3", "Lighthouses and nothing else.", Some("2"), 6).expect("replaced");
    assert!(remove::delete(&engine, &docs, "doc-7", 7).expect("deleted"));
    add(&engine, &docs, "new", "Lanterns are new here.", None, 8).expect("added");
    assert_eq!(ask(&engine, &docs, "lighthouses", 1, 9)[0].0, "doc-3");
    assert_eq!(ask(&engine, &docs, "lanterns", 1, 9)[0].0, "new");
    assert!(ask(&engine, &docs, "Paragraph 7 of harbours", 400, 9).iter().all(|(id, _)| id != "doc-7"));
    assert_sound(&engine);
    assert_eq!(remove::drop_collection(&engine, &docs).expect("dropped"), 400);
    assert_eq!(built(), 0);
    assert_sound(&engine);
}

#[test]
fn too_much_is_an_error() {
    let folder = Folder::in_memory();
    let engine = open(&folder.0, false);
    let docs = name(&user("u-1"), "notes");
    let refused = |new: NewDocument| Prepared::new(new).expect_err("refused").kind();
    assert_eq!(refused(NewDocument::new("a", "x".repeat(memspan_engine::limits::MAX_DOCUMENT_BYTES + 1))), ErrorKind::InvalidInput);
    assert_eq!(refused(NewDocument::new("", "x")), ErrorKind::InvalidInput);
    assert_eq!(refused(NewDocument { chunk_tokens: 1, ..NewDocument::new("a", "x") }), ErrorKind::InvalidInput);
    assert_eq!(add(&engine, &docs, "empty", "", None, 1).expect("nothing is something"), Action::Added);
    assert_eq!(add(&engine, &docs, "empty", "", None, 1).expect("nothing is something"), Action::Duplicate);
    assert_eq!(get(&engine, &docs, "empty", 2).expect("there").1, "");
    let question = "wörd and more of it ".repeat(60_000);
    assert!(ask(&engine, &docs, &question, 5, 2).is_empty());
    assert_sound(&engine);
}

fn long(word: usize) -> String {
    (0..3_000).map(|n| format!("Line {n} of the document has word{word} in it.\n\n")).collect()
}

/// Whether a revision is being written or removed at this moment.
fn is_writing(path: &std::path::Path) -> bool {
    let engine = open(path, false);
    let read = engine.store().read(|pages| {
        let mut found = false;
        for partition in 1..10 {
            let range = Key::new(partition, Table::CollectionWork).prefix_range();
            pages.scan(&range.start, &range.end, &mut |_, _| {
                found = true;
                Ok(ControlFlow::Break(()))
            })?;
        }
        Ok(found)
    });
    read.expect("read")
}

/// The other process: replaces one long document for ever.
#[test]
fn killed_child() {
    let Some((role, path)) = role() else { return };
    assert_eq!(role, "replace");
    let engine = open(&path, false);
    let docs = name(&user("u-1"), "notes");
    for version in 0.. {
        add(&engine, &docs, "big", &long(version), Some(&version.to_string()), version as i64 + 1).expect("added");
    }
}

#[test]
fn death_while_a_long_document_is_written_leaves_the_one_before() {
    let folder = Folder::new();
    let docs = name(&user("u-1"), "notes");
    drop(open(&folder.0, false));
    let (mut unfinished, started, mut chance) = (0, Instant::now(), Chance(5));
    for round in 0..5 {
        let mut child = spawn("killed_child", "replace", &folder.0);
        wait_until("a document that is being written", || is_writing(&folder.0));
        std::thread::sleep(Duration::from_millis(chance.below(40) as u64));
        child.kill().expect("killed");
        child.wait().expect("gone");
        let engine = open(&folder.0, false);
        if let Some((version, text)) = get(&engine, &docs, "big", 1 << 40) {
            assert_eq!(text, long(version.parse().expect("a number")));
            for (id, text) in ask(&engine, &docs, "line 700 of the document", 20, 1 << 40) {
                assert!(id == "big" && text.contains(&format!("word{version} ")), "round {round}: {version} {text}");
            }
        }
        assert_sound(&engine);
        unfinished += collection::sweep(&engine, 1 << 60).expect("swept");
        assert_eq!(collection::sweep(&engine, 1 << 60).expect("swept"), 0);
        assert_sound(&engine);
        remove::drop_collection(&engine, &docs).expect("dropped");
        assert_sound(&engine);
        if started.elapsed() > Duration::from_secs(40) {
            break;
        }
    }
    assert!(unfinished > 0, "no death came in the middle of a write: this test proved nothing");
}
