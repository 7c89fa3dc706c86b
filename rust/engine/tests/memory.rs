//! The engine as a caller of the crate sees it: remember, recall, slots, forgetting, reopening.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use memspan_engine::ErrorKind;
use memspan_engine::engine::{Engine, EngineOptions};
use memspan_engine::index::vectors::{Query, UnitVector};
use memspan_engine::life::relations;
use memspan_engine::memory::embedding::Embedding;
use memspan_engine::memory::forget::Stale;
use memspan_engine::memory::revise::Revision;
use memspan_engine::memory::{Action, Kind, NewMemory, Remembered, State};
use memspan_engine::recall::{Filter, Recall, Request, recall};
use memspan_engine::scope::{Scope, ScopeType};
use memspan_engine::store::Durability;

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("memspan-test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self(std::env::temp_dir().join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const DIMS: usize = 64;

fn options(embedding: bool) -> EngineOptions {
    EngineOptions {
        durability: Durability::Full,
        read_only: false,
        busy_timeout: Duration::from_secs(5),
        embedding: embedding.then(|| Embedding { name: "hash".into(), dimensions: DIMS as u32, revision: String::new() }),
        now: 0,
    }
}

fn user(id: &str) -> Scope {
    Scope::new(None, ScopeType::User, id).expect("a name")
}

/// Words hashed into a vector: texts that share words are near.
fn embed(text: &str) -> Vec<f32> {
    let mut vector = vec![0.01; DIMS];
    for word in text.to_lowercase().split_whitespace() {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in word.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        vector[(hash % DIMS as u64) as usize] += if hash >> 63 == 0 { 1.0 } else { -1.0 };
    }
    vector
}

fn with_vector(text: &str) -> NewMemory {
    NewMemory { vector: Some(UnitVector::new(&embed(text), DIMS).expect("a vector")), ..NewMemory::new(text) }
}

fn one(engine: &Engine, scope: &Scope, new: NewMemory, now: i64) -> Remembered {
    engine.remember(scope, new, now).expect("written")
}

fn of(scope: &Scope, rows: Vec<NewMemory>) -> Vec<(Arc<Scope>, NewMemory)> {
    let scope = Arc::new(scope.clone());
    rows.into_iter().map(|row| (Arc::clone(&scope), row)).collect()
}

fn ask(engine: &Engine, scopes: &[Scope], text: &str, vector: bool, filter: Filter) -> Recall {
    let vector = vector.then(|| Query::new(&embed(text), DIMS).expect("a vector"));
    let request = Request { text: text.into(), vector, scopes: scopes.to_vec(), limit: 5, filter, min_score: 0.0, max_tokens: None };
    recall(engine, &request).expect("answered")
}

fn texts(recall: &Recall) -> Vec<&str> {
    recall.hits.iter().map(|hit| hit.memory.text.as_str()).collect()
}

#[test]
fn what_was_remembered_is_found_at_once_and_after_reopening() {
    let folder = Folder::new();
    let scope = user("u-42");
    for round in 0..2 {
        let engine = Engine::open(&folder.0, options(false)).expect("open");
        if round == 0 {
            one(&engine, &scope, NewMemory::new("payments-api listens on port 8443 in prod-eu-west-1"), 10);
            one(&engine, &scope, NewMemory::new("Prefers Go for scripting"), 20);
        }
        let found = ask(&engine, std::slice::from_ref(&scope), "which port does payments-api use?", false, Filter::all(30));
        assert_eq!(texts(&found)[0], "payments-api listens on port 8443 in prod-eu-west-1");
        assert!(found.degraded.is_none() && found.confidence() > 0.5);
        assert!(ask(&engine, &[user("someone else")], "payments-api", false, Filter::all(30)).hits.is_empty());
        engine.close().expect("closed");
    }
}

#[test]
fn a_slot_has_one_value_and_older_ones_are_history() {
    let folder = Folder::new();
    let engine = Engine::open(&folder.0, options(true)).expect("open");
    let scope = user("u");
    let slot = |text: &str, occurred_at| NewMemory { slot: Some("Language ".into()), occurred_at: Some(occurred_at), ..with_vector(text) };
    let python = one(&engine, &scope, slot("Prefers Python", 100), 1000);
    let go = one(&engine, &scope, slot("Prefers Go", 300), 2000);
    assert_eq!((python.action, go.action), (Action::Added, Action::Superseded));
    let older = one(&engine, &scope, slot("Prefers Perl", 200), 3000);
    assert_eq!(older.action, Action::Added);
    assert_eq!(older.memory.state(), State::Superseded);
    let weak = one(&engine, &scope, NewMemory { source: "assistant".into(), ..slot("Prefers COBOL", 400) }, 4000);
    assert_eq!(weak.memory.state(), State::Superseded);

    let current = engine.slots(&scope, Some("LANGUAGE"), 5000).expect("slot");
    assert_eq!(current[0].1[0].text, "Prefers Go");
    let found = ask(&engine, std::slice::from_ref(&scope), "prefers", true, Filter::all(5000));
    assert_eq!(texts(&found), ["Prefers Go"]);

    let at = |valid_at, known_at| Filter { valid_at, known_at, ..Filter::all(5000) };
    let past = |filter| texts(&ask(&engine, std::slice::from_ref(&scope), "prefers", true, filter)).join(",");
    assert_eq!(past(at(Some(150), None)), "Prefers Python");
    assert_eq!(past(at(Some(250), None)), "Prefers Perl");
    assert_eq!(past(at(Some(350), None)), "Prefers Go");
    assert_eq!(past(at(None, Some(1500))), "Prefers Python");
    assert_eq!(past(at(Some(250), Some(2500))), "Prefers Python", "before the store knew of Perl");

    let history: Vec<_> = engine.history(&scope, &go.memory.id(), 0).expect("history").into_iter().map(|m| m.text).collect();
    assert_eq!(history, ["Prefers Python", "Prefers Perl", "Prefers Go"]);
    assert!(engine.forget(&scope, &go.memory.id(), Some("asked to"), 6000).expect("forgotten"));
    assert!(engine.slots(&scope, Some("language"), 7000).expect("slot")[0].1.is_empty(), "nothing is resurrected");
    assert!(ask(&engine, std::slice::from_ref(&scope), "prefers go", true, Filter::all(7000)).hits.is_empty());
}

#[test]
fn ids_make_a_retry_harmless() {
    let folder = Folder::new();
    let engine = Engine::open(&folder.0, options(false)).expect("open");
    let scope = user("u");
    let new = |text: &str| NewMemory { id: Some("order-17".into()), ..NewMemory::new(text) };
    assert_eq!(one(&engine, &scope, new("ordered a chair"), 1).action, Action::Added);
    let again = one(&engine, &scope, new("ordered a chair"), 2);
    assert_eq!((again.action, again.memory.id().as_str()), (Action::Duplicate, "order-17"));
    let rows = |all| engine.remember_many(of(&scope, vec![NewMemory::new("x"), new("ordered a table")]), 3, all);
    let conflict = rows(true).expect_err("a conflict");
    assert_eq!(conflict.kind(), ErrorKind::IdConflict);
    assert_eq!(engine.memories(&scope, 0, 10, 0x7f, 4).expect("list").len(), 1, "the batch was undone");
    let rows = rows(false).expect("rows").outcomes;
    assert!(rows[0].is_ok() && rows[1].is_err());
    assert!(engine.forget(&scope, "order-17", None, 6).expect("forgotten"));
    assert_eq!(one(&engine, &scope, new("ordered a chair"), 7).action, Action::Rejected);
    assert_eq!(engine.get(&scope, "order-17", 8).expect("get"), None);
    assert_eq!(one(&engine, &scope, NewMemory::new("x"), 9).action, Action::Duplicate);

    let taken = NewMemory { id: Some("mem-4".into()), ..NewMemory::new("has the id of a number to come") };
    assert_eq!(one(&engine, &scope, taken, 10).memory.number, 3);
    assert_eq!(one(&engine, &scope, NewMemory::new("the next"), 11).memory.id(), "mem-5");
}

#[test]
fn revising_keeps_the_id_and_forgets_the_old_words() {
    let folder = Folder::new();
    let engine = Engine::open(&folder.0, options(true)).expect("open");
    let scope = user("u");
    let memory = one(&engine, &scope, with_vector("the meeting is on tuesday"), 1).memory;
    let text = "the meeting is on friday";
    let vector = Some(UnitVector::new(&embed(text), DIMS).expect("a vector"));
    let revision = Revision { text: Some(text.into()), vector, reason: Some("moved".into()), ..Revision::default() };
    let revised = engine.revise(&scope, &memory.id(), revision, 2).expect("revised").memory;
    assert_eq!((revised.id(), revised.revision), (memory.id(), 2));
    assert!(ask(&engine, std::slice::from_ref(&scope), "tuesday", false, Filter::all(3)).hits.is_empty());
    assert_eq!(ask(&engine, std::slice::from_ref(&scope), "friday", true, Filter::all(3)).hits.len(), 1);
    let contents = engine.contents().expect("contents");
    assert_eq!((contents.memories, contents.vectors), (1, 1));
    let bumped = Revision { importance: Some(0.9), ..Revision::default() };
    engine.revise(&scope, &memory.id(), bumped, 4).expect("revised");
    assert_eq!(engine.contents().expect("contents").vectors, 1, "the vector of an unchanged text stays");
    let then = Filter { known_at: Some(1), ..Filter::all(5) };
    assert_eq!(texts(&ask(&engine, std::slice::from_ref(&scope), "meeting", false, then)), ["the meeting is on tuesday"]);
    assert_eq!(
        engine.revise(&scope, "nobody", Revision { importance: Some(0.1), ..Revision::default() }, 6).expect_err("none").kind(),
        ErrorKind::NotFound
    );
}

#[test]
fn what_has_a_time_to_live_expires() {
    let folder = Folder::new();
    let engine = Engine::open(&folder.0, options(false)).expect("open");
    let scope = user("u");
    let short = NewMemory { ttl: Some(100), slot: Some("mood".into()), ..NewMemory::new("is tired") };
    one(&engine, &scope, short.clone(), 1000);
    assert_eq!(ask(&engine, std::slice::from_ref(&scope), "tired", false, Filter::all(1050)).hits.len(), 1);
    assert!(ask(&engine, std::slice::from_ref(&scope), "tired", false, Filter::all(1100)).hits.is_empty());
    assert_eq!(one(&engine, &scope, NewMemory { ttl: None, ..short }, 1200).action, Action::Added, "an expired duplicate is none");
    assert_eq!(engine.expire(2000).expect("swept"), 0);
    one(&engine, &scope, NewMemory { ttl: Some(5), ..NewMemory::new("gone soon") }, 3000);
    assert_eq!(engine.expire(4000).expect("swept"), 1);
    assert_eq!(engine.contents().expect("contents").memories, 1);
}

#[test]
fn stale_memories_are_forgotten_but_not_what_must_hold() {
    let folder = Folder::new();
    let engine = Engine::open(&folder.0, options(false)).expect("open");
    let scope = user("u");
    for (text, kind, importance) in
        [("idle", Kind::Semantic, 0.1), ("rule", Kind::Constraint, 0.1), ("dear", Kind::Semantic, 0.9), ("used", Kind::Semantic, 0.1)]
    {
        one(&engine, &scope, NewMemory { kind, importance, ..NewMemory::new(text) }, 1_000_000);
    }
    assert_eq!(ask(&engine, std::slice::from_ref(&scope), "used", false, Filter::all(50_000_000)).hits.len(), 1);
    let stale = Stale { unused_since: 40_000_000, max_importance: 0.4 };
    engine.flush_accesses().expect("stored");
    assert_eq!(engine.forget_stale(&scope, stale, 60_000_000, true).expect("dry").len(), 1);
    let forgotten = engine.forget_stale(&scope, stale, 60_000_000, false).expect("done");
    assert_eq!(forgotten.iter().map(|m| m.text.as_str()).collect::<Vec<_>>(), ["idle"]);
    assert_eq!(engine.contents().expect("contents").memories, 3);
}

#[test]
fn pending_vectors_are_made_later() {
    let folder = Folder::new();
    let scope = user("u");
    let plain = Engine::open(&folder.0, options(false)).expect("open");
    for at in 0..600 {
        one(&plain, &scope, NewMemory::new(format!("note number {at}")), at);
    }
    plain.close().expect("closed");
    drop(plain);
    let engine = Engine::open(&folder.0, options(true)).expect("open");
    let found = ask(&engine, std::slice::from_ref(&scope), "note 77", true, Filter::all(700));
    assert!(found.degraded.is_some() && !found.hits.is_empty());
    let (mut after, mut made) = (0, 0);
    while let Some(partition) = engine.next_pending(after).expect("next") {
        let mut first = 0;
        loop {
            let pending = engine.pending(partition, first).expect("pending");
            let Some(last) = pending.last() else { break };
            first = last.number + 1;
            let vectors = pending.iter().map(|p| (p.number, p.revision, UnitVector::new(&embed(&p.text), DIMS).expect("vector"))).collect();
            made += engine.fill(0, partition, vectors).expect("filled");
        }
        after = partition;
    }
    assert_eq!(made, 600);
    let found = ask(&engine, std::slice::from_ref(&scope), "note number 77", true, Filter::all(700));
    assert!(found.degraded.is_none());
    assert_eq!(texts(&found)[0], "note number 77");
}

#[test]
fn a_backup_and_a_compaction_keep_everything() {
    let folder = Folder::new();
    let copy = Folder::new();
    let engine = Engine::open(&folder.0, options(true)).expect("open");
    let scope = user("u");
    let rows = (0..2500).map(|at| with_vector(&format!("fact {at} about thing-{}", at % 50))).collect();
    let written = engine.remember_many(of(&scope, rows), 10, true).expect("written");
    assert_eq!((written.outcomes.len(), written.transactions), (2500, 3));
    let before = ask(&engine, std::slice::from_ref(&scope), "fact 1234 about thing-34", true, Filter::all(20));
    engine.backup(&copy.0).expect("backup");
    let restored = Engine::open(&copy.0, options(true)).expect("open the backup");
    assert_eq!(engine.compact().expect("compacted"), engine.backup(&copy.0.join("b")).unwrap_or(0));
    for engine in [&engine, &restored] {
        let after = ask(engine, std::slice::from_ref(&scope), "fact 1234 about thing-34", true, Filter::all(20));
        assert_eq!(texts(&after), texts(&before));
        assert_eq!(
            after.hits.iter().map(|h| h.parts.fixed).collect::<Vec<_>>(),
            before.hits.iter().map(|h| h.parts.fixed).collect::<Vec<_>>()
        );
    }
    assert_eq!(engine.contents().expect("contents").generation, 2);
    one(&engine, &scope, with_vector("after the switch"), 30);
    assert!(engine.backup(&copy.0).is_err(), "a backup never overwrites");
}

#[test]
fn many_threads_share_syncs_and_lose_nothing() {
    let folder = Folder::new();
    let engine = Arc::new(Engine::open(&folder.0, options(true)).expect("open"));
    std::thread::scope(|threads| {
        for thread in 0..16 {
            let engine = Arc::clone(&engine);
            threads.spawn(move || {
                let scope = user(&format!("u{}", thread % 4));
                for at in 0..40 {
                    one(&engine, &scope, with_vector(&format!("thread {thread} wrote {at}")), at);
                    assert!(
                        !ask(&engine, std::slice::from_ref(&scope), &format!("thread {thread} wrote {at}"), true, Filter::all(99))
                            .hits
                            .is_empty()
                    );
                }
            });
        }
    });
    assert_eq!(engine.contents().expect("contents").memories, 640);
    let metrics = engine.store().metrics().snapshot();
    let of = |name| metrics.iter().find(|(n, _)| *n == name).map_or(0, |(_, v)| *v);
    assert_eq!(of("writes"), 640);
    assert!(of("commits") <= 640);
}

#[test]
fn a_revision_gives_a_memory_the_time_at_which_it_happened() {
    let folder = Folder::new();
    let engine = Engine::open(&folder.0, options(false)).expect("open");
    let scope = user("u");
    let said = NewMemory { id: Some("runs".into()), occurred_at: Some(5_000), ..NewMemory::new("payments-api runs on prod-eu-west-1") };
    one(&engine, &scope, said.clone(), 9_000);
    let at = |time| Revision { occurred_at: Some(time), ..Revision::default() };
    let revised = engine.revise(&scope, "runs", at(2_000), 10_000).expect("revised").memory;
    assert_eq!((revised.occurred_at, revised.revision, revised.created_at), (2_000, 2, 9_000));
    let within = |since, until| {
        let filter = Filter { since: Some(since), until: Some(until), ..Filter::all(11_000) };
        ask(&engine, std::slice::from_ref(&scope), "payments-api", false, filter).hits.len()
    };
    assert_eq!((within(1_000, 3_000), within(4_000, 6_000)), (1, 0));
    let held = |time| relations::neighbors(&engine, &scope, "payments-api", Some(time), 11_000).expect("neighbors").len();
    assert_eq!((held(1_000), held(2_000), held(6_000)), (0, 1, 1), "what it says of others holds since then");
    assert_eq!(one(&engine, &scope, said.clone(), 12_000).action, Action::Duplicate, "a retry is one still");
    let moved = NewMemory { occurred_at: Some(7_000), ..said };
    let error = engine.remember(&scope, moved, 12_500).expect_err("another time");
    assert!(error.to_string().contains("use another id, or revise() that memory"), "{error}");

    // The values of a slot, and what was merged, ended by the time of what took their place.
    for text in ["lives in Lisbon", "lives in Porto"] {
        one(&engine, &scope, NewMemory { slot: Some("home".into()), ..NewMemory::new(text) }, 13_000);
    }
    for id in ["mem-2", "mem-3"] {
        let error = engine.revise(&scope, id, at(1_000), 14_000).expect_err("a value of a slot");
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    }
    let own = engine.get(&scope, "mem-3", 15_000).expect("get").expect("a memory").occurred_at;
    let same = Revision { importance: Some(0.9), ..at(own) };
    assert_eq!(engine.revise(&scope, "mem-3", same, 15_000).expect("its own time").memory.revision, 2);
    assert!(engine.check().expect("checked").findings.is_empty());
}

/// A process that was stopped while it reads holds the pages of its snapshot, and the file grows until it goes on.
#[test]
fn free_bytes_say_that_a_reader_stands_still() {
    let folder = Folder::new();
    let engine = Engine::open(&folder.0, EngineOptions { durability: Durability::Relaxed, ..options(false) }).unwrap();
    let free = || engine.metrics().unwrap().into_iter().find(|(name, _)| *name == "free_bytes").unwrap().1;
    let write = |round: usize| {
        let before = free();
        for number in 0..40 {
            engine.remember(&user("u"), NewMemory::new(format!("round {round} counts to {number}")), 1).unwrap();
        }
        free().saturating_sub(before)
    };
    write(1);
    let read_beside = engine.store().read(|_| Ok(write(2))).unwrap();
    let alone = write(3);
    assert!(read_beside > 1 << 18 && alone < read_beside / 4, "{read_beside} bytes behind a reader, {alone} without one");
}
