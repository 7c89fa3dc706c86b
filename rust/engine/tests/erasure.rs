//! What is forgotten, redacted, deleted or erased is in no byte of any file of the store: texts, hashes of words as they are stored, vectors as they
//! are stored exactly and as codes, names. Every search is run before, too, and must meet what it looks for.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use memspan_engine::ErrorKind;
use memspan_engine::collection::{self, CollectionName, NewDocument, Prepared};
use memspan_engine::engine::{Engine, EngineOptions};
use memspan_engine::index::vectors::graph::GraphOptions;
use memspan_engine::memory::revise::Revision;
use memspan_engine::memory::{NewMemory, access};
use memspan_engine::models::Model;
use memspan_engine::scope::Scope;
use memspan_engine::session::{NewMessage, Options, Session};
use memspan_engine::store::identity::Seed;
use memspan_engine::store::pages::Pages;
use memspan_engine::store::vault::{StoreKey, record_of};
use memspan_engine::store::writer_lock::WriterLock;
use memspan_engine::text::Analyzer;
use support::{Folder, assert_sound, embed, one, open, options, user, with_id};

/// What is looked for, each with what it is.
type Needles = Vec<(String, Vec<u8>)>;

const SAID: &str = "zqmessage my grandmother is called zqfeather";
const LETTER: &str = "# Letter\n\nThe zqletter says that the zqparcel is late.";

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("listed").map(|entry| entry.expect("an entry").path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// How often each needle stands in the files of a store; those that do not are left out.
fn met(folder: &Path, needles: &Needles) -> BTreeMap<String, usize> {
    let all: Vec<Vec<u8>> = files(folder).iter().map(|file| std::fs::read(file).expect("read")).collect();
    let count = |needle: &[u8]| all.iter().map(|bytes| memchr_count(bytes, needle)).sum::<usize>();
    needles.iter().map(|(what, needle)| (what.clone(), count(needle))).filter(|(_, count)| *count > 0).collect()
}

fn memchr_count(bytes: &[u8], needle: &[u8]) -> usize {
    let (first, rest) = needle.split_first().expect("not empty");
    bytes.iter().enumerate().filter(|(at, byte)| *byte == first && bytes[at + 1..].starts_with(rest)).count()
}

/// The hashes of all that is indexed of a text.
fn hashes(seed: Seed, text: &str) -> BTreeSet<u64> {
    let mut analysis = memspan_engine::text::Analysis::default();
    Analyzer::new().document(text, seed.terms, &mut analysis);
    analysis.terms.iter().map(|term| term.hash).collect()
}

/// Those hashes of `text` that no text of `others` has, in both orders of bytes: keys have the one, pages of postings and tails the other.
fn terms(seed: Seed, text: &str, others: &BTreeSet<u64>) -> Needles {
    let both = |hash: &u64| [("key", hash.to_be_bytes()), ("value", hash.to_le_bytes())].map(|(r#where, bytes)| (r#where, *hash, bytes));
    let own = hashes(seed, text);
    assert!(own.difference(others).count() > 0, "{text} has a word of its own");
    let named = |(r#where, hash, bytes): (&str, u64, [u8; 8])| (format!("hash {hash:x} of {text:.12} in a {where}"), bytes.to_vec());
    own.difference(others).flat_map(both).map(named).collect()
}

/// The hashes of the memories of [`fill`], but one.
fn other_facts(seed: Seed, but: usize) -> BTreeSet<u64> {
    (0..=300).filter(|number| *number != but).flat_map(|number| hashes(seed, &fact(number))).collect()
}

/// The vector of a text as it is stored exactly, and as the codes of blocks and graphs (`docs/format.md`).
fn vectors(text: &str) -> Needles {
    let most = |values: &[f32]| values.iter().fold(0.0_f32, |most, value| most.max(value.abs()));
    let unit = embed(text);
    let exact: Vec<i16> = {
        let inverse = 32_767.0 / f64::from(most(unit.as_slice()));
        unit.as_slice().iter().map(|value| ((f64::from(*value) * inverse + 32_768.5) as i32 - 32_768) as i16).collect()
    };
    let scale = (f64::from(most(unit.as_slice())) / 32_767.0) as f32;
    let read: Vec<f32> = exact.iter().map(|code| (f64::from(*code) * f64::from(scale)) as f32).collect();
    let code = |value: &f32| ((f64::from(*value) * 127.0 / f64::from(most(&read)) + 128.5) as i32 - 128) as i8 as u8;
    vec![
        (format!("exact vector of {text:.12}"), exact.iter().flat_map(|code| code.to_le_bytes()).collect()),
        (format!("codes of {text:.12}"), read.iter().map(code).collect()),
    ]
}

fn texts<'t>(all: impl IntoIterator<Item = &'t str>) -> Needles {
    all.into_iter().map(|text| (format!("text {text}"), text.as_bytes().to_vec())).collect()
}

fn fact(number: usize) -> String {
    format!("zqfact{number} zqport{} is what service {} has on day {}", 8000 + number, number % 7, number % 31)
}

fn letters(scope: &Scope) -> CollectionName {
    CollectionName::new(scope, "zqcollection").expect("a name")
}

fn session<'e>(engine: &'e Engine, scope: &'e Scope) -> Session<'e> {
    Session { engine, scope, id: "zqsession" }
}

/// A scope with something in every table: 300 memories and a graph over their vectors, slots, history, long texts, a session, a collection.
fn fill(engine: &Engine, scope: &Scope) {
    for number in 0..300 {
        let id = format!("zqid{number}");
        let new = match number {
            3 => NewMemory {
                slot: Some("zqslot".into()),
                metadata: vec![0x81, 0xa1, b'k', 0xa6, b'z', b'q', b'm', b'e', b't', b'a'],
                ..with_id(&id, &fact(3))
            },
            4 => NewMemory { source: "zqsource".into(), ..with_id(&id, &format!("{} {}", fact(4), "zqlong ".repeat(3000))) },
            _ => with_id(&id, &fact(number)),
        };
        one(engine, scope, new, number as i64);
    }
    let revision = Revision { text: Some("zqrevised is new".into()), vector: Some(embed("zqrevised is new")), ..Revision::default() };
    engine.revise(scope, "zqid5", revision, 400).expect("revised");
    engine.maintain_graphs(401, &mut || Ok(())).expect("built");
    one(engine, scope, with_id("zqid300", &fact(300)), 402);
    let session = session(engine, scope);
    session.open(Options { model: Some(Model::named("gpt-4o").expect("known")), ..Options::default() }, 403).expect("opened");
    for said in [SAID, "zqkept is said, too"] {
        session.add(NewMessage::given(format!(r#"{{"role":"user","content":"{said}"}}"#)), None, 404).expect("added");
    }
    let document = Prepared::new(NewDocument::new("zqdocument", LETTER)).expect("a document");
    collection::add::add(engine, &letters(scope), document, None, 405).expect("added");
}

/// A store with one scope to be emptied and one that stays.
fn store(folder: &Folder) -> (Engine, Scope, Seed) {
    let graph = GraphOptions { threshold: 100, m: 8, ..GraphOptions::default() };
    let engine = open(&folder.0, true).with_graph(graph).expect("rules");
    let scope = user("zqalice");
    fill(&engine, &scope);
    one(&engine, &user("bob"), with_id("tea", "prefers tea"), 500);
    let seed = scope.seed(engine.store().secret());
    (engine, scope, seed)
}

/// Of a memory: its text, its words, its vectors.
fn of_memory(seed: Seed, number: usize) -> Needles {
    let fact = fact(number);
    let first = fact.split(' ').next().expect("a word");
    [texts([&*format!("{first} ")]), terms(seed, &fact, &other_facts(seed, number)), vectors(&fact)].concat()
}

#[test]
fn a_forgotten_memory_is_in_no_byte_after_a_compaction() {
    let folder = Folder::in_memory();
    let (engine, scope, seed) = store(&folder);
    // In the graph and in blocks; in the tail alone.
    let needles = [of_memory(seed, 40), of_memory(seed, 300)].concat();
    let before = met(&folder.0, &needles);
    for fact in ["zqfact40 zqp", "zqfact300 zq"] {
        for what in ["text", "exact vector", "codes", "hash"] {
            let is_met = before.keys().any(|met| met.starts_with(what) && met.contains(&fact[..8]));
            assert!(is_met, "the control meets {what} of {fact}: {before:?}");
        }
    }
    for id in ["zqid40", "zqid300"] {
        assert!(engine.forget(&scope, id, None, 600).expect("forgotten"));
    }
    engine.compact().expect("compacted");
    assert_eq!(met(&folder.0, &needles), BTreeMap::new());
    assert!(!met(&folder.0, &of_memory(seed, 41)).is_empty(), "its neighbour stays");
    assert_sound(&engine);
}

#[test]
fn what_is_superseded_redacted_deleted_and_dropped_is_in_no_byte_after_a_compaction() {
    let folder = Folder::in_memory();
    let (engine, scope, seed) = store(&folder);
    let nothing = BTreeSet::new();
    let mut collection_seed = letters(&scope).seed(engine.store().secret());
    collection_seed.terms = collection_seed.terms.with_stems(true);
    let message = [texts(["zqfeather"]), terms(seed, "zqfeather", &nothing)].concat();
    let letter = [texts(["zqparcel"]), terms(collection_seed, "zqparcel", &nothing), terms(seed, "zqparcel", &nothing)].concat();
    let revised = [of_memory(seed, 5), texts(["zqrevised"]), terms(seed, "zqrevised", &nothing), vectors("zqrevised is new")].concat();
    let long = texts(["zqlong", "zqsource"]);
    for needles in [&message, &letter, &revised, &long] {
        let before = met(&folder.0, needles);
        assert!(before.keys().any(|what| what.starts_with("text")), "the control: {before:?}");
    }
    for part in [&message, &letter] {
        assert!(met(&folder.0, part).keys().any(|what| what.starts_with("hash")), "the control: hashes of {part:?}");
    }
    let session = session(&engine, &scope);
    assert!(session.redact(0, None, 600).expect("redacted"));
    for id in ["zqid5", "zqid4"] {
        assert!(engine.forget(&scope, id, None, 601).expect("forgotten"));
    }
    assert!(collection::remove::delete(&engine, &letters(&scope), "zqdocument", 602).expect("deleted"));
    engine.compact().expect("compacted");
    assert_eq!(met(&folder.0, &[message, letter, revised, long].concat()), BTreeMap::new());
    let deleted = [texts(["zqkept", "zqsession"]), terms(seed, "zqkept", &nothing)].concat();
    assert!(met(&folder.0, &deleted).len() > 2, "the control: {:?}", met(&folder.0, &deleted));
    session.delete(603).expect("deleted");
    collection::remove::drop_collection(&engine, &letters(&scope)).expect("dropped");
    engine.compact().expect("compacted");
    assert_eq!(met(&folder.0, &[deleted, texts(["zqcollection", "zqdocument"])].concat()), BTreeMap::new());
    assert_sound(&engine);
}

#[test]
fn an_erased_scope_is_in_no_byte_of_any_file() {
    let folder = Folder::in_memory();
    let (engine, scope, seed) = store(&folder);
    let nothing = BTreeSet::new();
    let mut collection_seed = letters(&scope).seed(engine.store().secret());
    collection_seed.terms = collection_seed.terms.with_stems(true);
    // A hash is of the scope: none is another scope's.
    let memories: Needles = (0..=300).flat_map(|number| of_memory(seed, number)).collect();
    let words = [terms(seed, SAID, &nothing), terms(collection_seed, "zqletter zqparcel", &nothing), vectors("zqrevised is new")].concat();
    let names =
        texts(["zqalice", "zqid", "zqslot", "zqmeta", "zqsource", "zqsession", "zqcollection", "zqdocument", "zqfeather", "zqlong"]);
    let needles = [memories, words, names.clone(), texts(["zq"])].concat();
    let before = met(&folder.0, &needles);
    assert!(names.iter().all(|(what, _)| before.contains_key(what)), "the control: {before:?}");
    assert!(before.len() > 4 * 300, "the control: {}", before.len());
    let erased = engine.erase(&scope).expect("erased");
    assert_eq!((erased.memories, erased.messages, erased.documents), (301, 2, 1));
    assert_eq!(met(&folder.0, &needles), BTreeMap::new());
    assert_eq!(support::memories(&engine, &user("bob"), 700).len(), 1);
    assert_sound(&engine);
}

#[test]
fn recalls_of_a_scope_that_another_process_erased_are_not_written_back() {
    for key in [None, Some(1)] {
        let folder = Folder::new();
        let open = || match key {
            Some(byte) => {
                Engine::open_encrypted(&folder.0, options(true), false, StoreKey::new(&[byte; 32]).expect("a key")).expect("open")
            }
            None => open(&folder.0, true),
        };
        let (one_engine, other) = (open(), open());
        one(&one_engine, &user("u"), with_id("a", "Drinks tea"), 1);
        one(&one_engine, &user("v"), with_id("b", "Drinks coffee"), 1);
        one_engine.note_recalled(1, [1].into_iter(), 5_000_000);
        one_engine.note_recalled(2, [1].into_iter(), 5_000_000);
        other.erase(&user("u")).expect("erased");
        assert_eq!(one_engine.flush_accesses().expect("stored"), 1, "of the scope that is still there");
        let mut own = 0;
        let scan = other.store().read(|snapshot| {
            snapshot.scan_stored(&[0], &[u8::MAX; 32], &mut |stored, _| {
                own += usize::from(stored[..4] == [0, 0, 0, 1] || stored == record_of(1).as_slice());
                Ok(ControlFlow::Continue(()))
            })
        });
        scan.expect("read");
        assert_eq!(own, 0, "neither a value of the partition, nor a key for it");
    }
}

#[test]
fn recalls_that_could_not_be_stored_wait_for_the_next_write() {
    let folder = Folder::new();
    let impatient = EngineOptions { busy_timeout: Duration::from_millis(20), ..options(true) };
    let engine = Engine::open(&folder.0, impatient).expect("open");
    one(&engine, &user("u"), with_id("a", "Drinks tea"), 1);
    engine.note_recalled(1, [1].into_iter(), 5_000_000);
    let other = WriterLock::open(&folder.0).expect("the lock");
    let held = other.acquire(Instant::now()).expect("taken");
    assert_eq!(engine.flush_accesses().expect_err("busy").kind(), ErrorKind::StoreBusy);
    drop(held);
    engine.note_recalled(1, [1].into_iter(), 6_000_000);
    assert_eq!(engine.flush_accesses().expect("stored"), 1);
    let stored = engine.store().read(|snapshot| access::get(snapshot, 1, 1)).expect("read");
    assert_eq!((stored.recalls, stored.last_seconds), (2, 6));
}
