//! A repaired store answers: whatever value or page was lost, nothing names it, and everything else is there.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use memspan_engine::collection::{self, CollectionName, NewDocument, Prepared, Request, search};
use memspan_engine::engine::{Engine, mend};
use memspan_engine::memory::revise::Revision;
use memspan_engine::memory::{Kind, NewMemory};
use memspan_engine::session::Session;
use memspan_engine::store::keys::{Key, STORE, Table, u32_at};
use memspan_engine::store::vault::StoreKey;
use support::losses::{keys, repaired_without};
use support::talk::{answered, begin, everything, reply, said, say};
use support::{Folder, ask, assert_sound, memories, one, open, options, user, with_id, with_vector};

const PAGE: usize = 4096;
const NOW: i64 = 5_000;

/// Two scopes with memories of every sort (a slot, a time to live, an id, revisions, one forgotten, one that waits), and a collection.
fn filled(folder: &Folder) -> Engine {
    fill(open(&folder.0, true))
}

fn fill(engine: Engine) -> Engine {
    let scope = user("u");
    one(&engine, &scope, with_vector("payments-api listens on port 8443"), 100);
    one(&engine, &scope, NewMemory { slot: Some("language".into()), ..with_vector("prefers Python") }, 200);
    one(&engine, &scope, NewMemory { slot: Some("language".into()), ..with_vector("prefers Go") }, 300);
    one(&engine, &scope, NewMemory { ttl: Some(1_000_000), ..with_vector("is tired today") }, 400);
    one(&engine, &scope, with_id("given", "has an id of its own"), 500);
    let long = (0..1_500).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ");
    one(&engine, &scope, with_vector(&long), 600);
    let revised = one(&engine, &scope, with_vector("meets on Tuesday"), 700).memory.id();
    engine.revise(&scope, &revised, Revision { text: Some("meets on Friday".into()), ..Revision::default() }, 800).expect("revised");
    let gone = one(&engine, &scope, with_vector("a secret"), 900).memory.id();
    engine.forget(&scope, &gone, None, 1_000).expect("forgotten");
    one(&engine, &scope, NewMemory { kind: Kind::Preference, source: "web".into(), ..with_vector("likes spam") }, 1_050);
    for number in 0..30 {
        one(&engine, &scope, with_vector(&format!("fact {number} of many about topic{number}")), 1_100 + number);
        one(&engine, &user("other"), with_vector(&format!("another fact {number} of a neighbour")), 1_200 + number);
    }
    let docs = CollectionName::new(&scope, "docs").expect("a name");
    for number in 0..6 {
        let text = format!("# Guide {number}\n\n{}", format!("Part {number} says how deploys of service{number} go. ").repeat(60));
        let new = NewDocument { chunk_tokens: 60, ..NewDocument::new(format!("d{number}"), &text) };
        collection::add::add(&engine, &docs, Prepared::new(new).expect("prepared"), None, 1_300 + number).expect("added");
    }
    engine
}

fn texts(engine: &Engine, scope: &str) -> BTreeMap<u32, String> {
    memories(engine, &user(scope), NOW).into_iter().map(|memory| (memory.number, memory.text)).collect()
}

/// Everything can be called, and finds what is left: of `expected` all but `lost`.
fn assert_answers(saved: &Path, expected: &[BTreeMap<u32, String>; 2], lost: &BTreeSet<u32>, what: &str) {
    let engine = open(saved, true);
    let report = engine.check().expect("checked");
    assert!(report.is_sound(), "{what}: {:#?}", report.findings);
    for (scope, expected) in ["u", "other"].into_iter().zip(expected) {
        let found = texts(&engine, scope);
        let left = expected.iter().filter(|(number, _)| found.contains_key(number) || !lost.contains(number));
        assert_eq!(found, left.map(|(number, text)| (*number, text.clone())).collect(), "{what}: memories of {scope}");
        for text in found.values().filter(|text| text.len() < 100) {
            let answers = ask(&engine, &user(scope), text, 5, NOW).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert!(answers.contains(text), "{what}: {text:?} is not found");
        }
        for (number, text) in &found {
            let id = memories(&engine, &user(scope), NOW).into_iter().find(|memory| memory.number == *number).expect("listed").id();
            assert_eq!(&engine.get(&user(scope), &id, NOW).expect("read").expect("there").text, text, "{what}");
            engine.history(&user(scope), &id, NOW).unwrap_or_else(|error| panic!("{what}: {error}"));
        }
    }
    let docs = CollectionName::new(&user("u"), "docs").expect("a name");
    let answer = search::ask(&engine, &Request::new("how do deploys of service3 go?", vec![docs.clone()], 8, NOW));
    answer.unwrap_or_else(|error| panic!("{what}: {error}"));
    let again = NewDocument { chunk_tokens: 60, ..NewDocument::new("d1", "# Anew\n\nDeploys go well.") };
    collection::add::add(&engine, &docs, Prepared::new(again).expect("prepared"), None, NOW).expect("added");
    for scope in ["u", "other"] {
        let before = texts(&engine, scope);
        let new = one(&engine, &user(scope), NewMemory { slot: Some("tool".into()), ..with_vector("prefers Rust now") }, NOW);
        assert!(!before.contains_key(&new.memory.number), "{what}: its number was given before");
        assert!(ask(&engine, &user(scope), "prefers Rust now", 3, NOW + 1).expect("answered").contains(&"prefers Rust now".to_owned()));
        if let Some(first) = before.keys().next() {
            let id = memories(&engine, &user(scope), NOW).into_iter().find(|memory| memory.number == *first).expect("listed").id();
            assert!(engine.forget(&user(scope), &id, None, NOW + 2).expect("forgotten"), "{what}");
        }
    }
    engine.expire(2_000_000).expect("expired");
    assert_sound(&engine);
    engine.erase(&user("other")).expect("erased");
    assert_sound(&engine);
}

fn numbers_of(lost: &[Vec<u8>]) -> BTreeSet<u32> {
    lost.iter().filter(|key| key[4] == Table::Memory as u8).filter_map(|key| u32_at(key, 5)).collect()
}

#[test]
fn whatever_value_is_lost_the_repaired_store_answers_with_the_others() {
    let folder = Folder::in_memory();
    let engine = filled(&folder);
    let expected = [texts(&engine, "u"), texts(&engine, "other")];
    let all = keys(&engine);
    let of_store = [Table::Meta, Table::DataKey].map(|table| table as u8);
    let mut seen = BTreeMap::<(u32, u8), usize>::new();
    for key in all.iter().filter(|key| !of_store.contains(&key[4])) {
        let of_table = seen.entry((u32_at(key, 0).expect("a partition"), key[4])).or_default();
        *of_table += 1;
        if *of_table > 12 {
            continue; // a table's values are alike
        }
        let (lost, saved) = ([key.clone()], Folder::in_memory());
        let repaired = repaired_without(&engine, &lost, &saved);
        let numbers = numbers_of(&lost);
        if !numbers.is_empty() {
            assert!(repaired.lost.iter().any(|one| one.contains("memor")), "{:?} says nothing of {numbers:?}", repaired.lost);
        }
        let is_derived = Table::of(key).is_some_and(Table::is_derived);
        assert_eq!((repaired.rebuilt.len(), repaired.lost.is_empty()), (usize::from(is_derived), is_derived), "{key:02x?} {repaired:?}");
        assert_answers(&saved.0, &expected, &numbers, &format!("without {key:02x?}"));
    }
}

#[test]
fn whatever_table_is_lost_the_repaired_store_answers_with_the_others() {
    let folder = Folder::in_memory();
    let engine = filled(&folder);
    let expected = [texts(&engine, "u"), texts(&engine, "other")];
    let all = keys(&engine);
    let of_store = [Table::Meta, Table::DataKey].map(|table| table as u8);
    let tables: BTreeSet<&[u8]> = all.iter().filter(|key| !of_store.contains(&key[4])).map(|key| &key[..5]).collect();
    for table in tables {
        let lost: Vec<Vec<u8>> = all.iter().filter(|key| key.starts_with(table)).cloned().collect();
        let saved = Folder::in_memory();
        repaired_without(&engine, &lost, &saved);
        // Of partition 1; partition 2 is the neighbour's, and the numbers of both are alike.
        assert_answers(&saved.0, &expected, &numbers_of(&lost), &format!("without table {table:02x?}"));
    }
}

#[test]
fn what_belongs_to_nobody_is_said_and_its_number_is_not_given_again() {
    let folder = Folder::in_memory();
    let engine = filled(&folder);
    let nobody: Vec<Vec<u8>> = [Table::ScopeByName, Table::ScopeByNumber]
        .into_iter()
        .flat_map(|table| {
            let prefix = Key::new(STORE, table);
            keys(&engine).into_iter().filter(move |key| key.starts_with(prefix.as_slice()))
        })
        .collect();
    let saved = Folder::in_memory();
    let repaired = repaired_without(&engine, &nobody, &saved);
    assert_eq!(repaired.lost.iter().filter(|one| one.contains("whose it was")).count(), 2, "{:?}", repaired.lost);
    let engine = open(&saved.0, true);
    assert_sound(&engine);
    one(&engine, &user("u"), with_vector("begins anew"), NOW);
    assert_eq!(memories(&engine, &user("u"), NOW).len(), 1);
    assert_sound(&engine);
}

#[test]
fn a_session_beside_lost_memories_goes_on_as_before() {
    let folder = Folder::in_memory();
    let engine = filled(&folder);
    let scope = user("u");
    let session = Session { engine: &engine, scope: &scope, id: "s" };
    begin(session, 2_000);
    say(session, &said("which port does payments-api listen on?"), 2_001);
    reply(session, Some("r"), &answered("On 8443."), 2_002);
    let before = everything(&engine, &scope, NOW);
    let neighbours: Vec<Vec<u8>> =
        keys(&engine).into_iter().filter(|key| key[4] == Table::Memory as u8 && u32_at(key, 0) != Some(1)).take(3).collect();
    let saved = Folder::in_memory();
    let repaired = repaired_without(&engine, &neighbours, &saved);
    assert!(repaired.lost.iter().any(|one| one.contains("memories of user \"other\"")), "{:?}", repaired.lost);
    let engine = open(&saved.0, true);
    assert_sound(&engine);
    assert_eq!(everything(&engine, &scope, NOW), before);
    say(Session { engine: &engine, scope: &scope, id: "s" }, &said("and in staging?"), NOW);
    assert_sound(&engine);
}

#[test]
fn whatever_page_is_lost_the_repaired_store_answers() {
    without_each_page(|path| open(path, true), None, 1);
}

#[test]
fn an_encrypted_store_is_mended_with_its_key() {
    let key = || StoreKey::new(&[7; 32]).expect("a key");
    let open = |path: &Path| Engine::open_encrypted(path, options(true), false, key()).expect("opened");
    without_each_page(open, Some(&key()), 4);
}

/// Repairs the store without its pages, one at a time, every `step`th of them.
fn without_each_page(open: impl Fn(&Path) -> Engine, key: Option<&StoreKey>, step: usize) {
    let (folder, compacted) = (Folder::in_memory(), Folder::in_memory());
    let engine = fill(open(&folder.0));
    let expected = [texts(&engine, "u"), texts(&engine, "other")];
    engine.backup(&compacted.0).expect("compacted");
    engine.close().expect("closed");
    let path = compacted.0.join("gen-1/data.mdb");
    let data = fs::read(&path).expect("its data");
    let mut repairs = 0;
    for page in (2..data.len() / PAGE).step_by(step) {
        let mut damaged = data.clone();
        damaged[page * PAGE..(page + 1) * PAGE].fill(0xa5);
        fs::write(&path, &damaged).expect("written");
        let saved = Folder::in_memory();
        let Ok(repaired) = mend::repair(&compacted.0, &saved.0, key, 9) else { continue };
        repairs += 1;
        let engine = open(&saved.0);
        let report = engine.check().expect("checked");
        assert!(report.is_sound(), "page {page}: {:#?} {:?}", report.findings, repaired.lost);
        for (scope, expected) in ["u", "other"].into_iter().zip(&expected) {
            let found = texts(&engine, scope);
            for (number, text) in &found {
                assert_eq!(expected.get(number), Some(text), "page {page}");
            }
            for text in expected.values().filter(|text| text.len() < 100) {
                let answers = ask(&engine, &user(scope), text, 5, NOW).unwrap_or_else(|error| panic!("page {page}: {error}"));
                assert!(answers.contains(text) == found.values().any(|one| one == text), "page {page}: {text:?}");
            }
        }
    }
    assert!(repairs > 20 / step, "{repairs}");
}
