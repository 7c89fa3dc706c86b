//! A text that is taken back while another call works on it stays away.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::properties::{Folder, engine};
use super::session::Status;
use super::*;
use crate::engine::{Engine, EngineOptions};
use crate::interrupt::counted::after;
use crate::life::judgement::Judgement;
use crate::memory::{LearnMark, Remembered};
use crate::models::Model;
use crate::scope::{Scope, ScopeType};
use crate::store::Durability;
use crate::store::keys::{Key, Table};
use crate::store::pages::{Pages, PagesMut};
use crate::store::vault::{StoreKey, record_of};
use crate::{ErrorKind, Result};

const DAY: i64 = crate::units::calendar::DAY;
/// The partition of the only scope.
const OWN: u32 = 1;

fn user() -> Scope {
    Scope::new(None, ScopeType::User, "u").unwrap()
}

fn said(text: &str) -> NewMessage {
    NewMessage::given(serde_json::json!({"role": "user", "content": text}).to_string())
}

fn begun<'e>(engine: &'e Engine, scope: &'e Scope, id: &'e str) -> Session<'e> {
    let session = Session { engine, scope, id };
    session.open(Options { model: Some(Model::named("gpt-4o").unwrap()), ..Options::default() }, 1).unwrap();
    session
}

fn erased(engine: &Engine, session: Session<'_>) {
    engine.erase(session.scope).unwrap();
}

fn compacted(engine: &Engine) {
    engine.compact().unwrap();
}

/// How many values a table of the scope has.
fn left(engine: &Engine, table: Table) -> usize {
    let (range, mut count) = (Key::new(OWN, table).prefix_range(), 0);
    let scan = engine.store().read(|pages| {
        pages.scan_stored(&range.start, &range.end, &mut |_, _| {
            count += 1;
            Ok(ControlFlow::Continue(()))
        })
    });
    scan.unwrap();
    count
}

/// Learns from a session, where `meanwhile` is what happens while a model is asked; what was stored, and the memories.
fn learnt(meanwhile: impl FnOnce(&Engine, Session<'_>)) -> (Result<Option<Vec<Remembered>>>, Vec<String>, Vec<Scope>) {
    let (folder, scope) = (Folder::new(), user());
    let engine = engine(&folder.0);
    let session = begun(&engine, &scope, "s");
    session.add_many(vec![said("I live in Porto. I work at Acme."), said("ok then")], 2).unwrap();
    let (before, now) = (LearnMark::default(), session.status().unwrap().learn_mark());
    let judged = session.judged(0, 2, 0, false, 3).unwrap();
    let claims = judged.memories(vec![None; judged.wanted().count()], Some("s")).unwrap();
    assert!(claims.len() > 1, "the control");
    meanwhile(&engine, session);
    let done = learn(&engine, &scope, claims, judged.from(), Some(("s".into(), before, now)), 9);
    let known = engine.memories(&scope, 0, 100, 0x7f, 10).unwrap().into_iter().map(|memory| memory.text).collect();
    (done, known, engine.scopes(0, 10).unwrap().into_iter().map(|(_, scope)| scope).collect())
}

#[test]
fn what_was_taken_back_while_a_model_was_asked_is_not_learnt() {
    type Change = (&'static str, fn(&Engine, Session<'_>));
    let changes: [Change; 4] = [
        ("redacted", |_, session| assert!(session.redact(0, None, 4).unwrap())),
        ("rewound", |_, session| session.rewind(0, 4).unwrap()),
        ("deleted", |_, session| session.delete(4).unwrap()),
        ("made anew", |engine, session| {
            session.delete(4).unwrap();
            begun(engine, session.scope, session.id).add(said("I live in Lisbon."), None, 5).unwrap();
        }),
    ];
    for (name, change) in changes {
        let (done, known, _) = learnt(change);
        assert!(done.unwrap().is_none(), "{name}: it is to be read again");
        assert_eq!(known, Vec::<String>::new(), "{name}");
    }
    let (done, known, scopes) = learnt(erased);
    assert_eq!(done.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!((known, scopes), (Vec::new(), Vec::new()), "an erased scope does not get its name back");
    let (done, known, _) = learnt(|_, session| assert_eq!(session.add(said("I like tea."), None, 4).unwrap().index, 2));
    assert_eq!(done.unwrap().unwrap().len(), known.len(), "what is added meanwhile keeps nothing away");
    assert!(known.len() > 1);
}

#[test]
fn messages_of_no_session_teach_an_erased_scope_nothing() {
    let (folder, scope) = (Folder::new(), user());
    let engine = engine(&folder.0);
    let heard = || vec![crate::gate::Heard::new(0, "user", "I live in Porto.", None)];
    let store = |judged: &Judgement| {
        let claims = judged.memories(vec![None; judged.wanted().count()], None).unwrap();
        learn(&engine, &scope, claims, judged.from(), None, 3)
    };
    let new = Judgement::given(&engine, &scope, heard(), 0, false, 2).unwrap();
    assert_eq!(store(&new).unwrap().unwrap().len(), 1, "a scope that is not there yet is begun");
    let judged = Judgement::given(&engine, &scope, heard(), 0, false, 2).unwrap();
    engine.erase(&scope).unwrap();
    assert_eq!(store(&judged).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(engine.scopes(0, 10).unwrap().is_empty());
}

/// A store with a session of 600 messages whose delete was interrupted behind its first transactions.
fn half_deleted(folder: &Folder) -> Engine {
    let (engine, scope) = (engine(&folder.0), user());
    let session = begun(&engine, &scope, "s");
    session.add_many((0..600).map(|n| said(&format!("message {n}"))).collect(), 2).unwrap();
    let full = left(&engine, Table::Transcript);
    let mut looks = 1;
    while list(&engine, &scope, &Listing { limit: 9, ..Listing::default() }).unwrap().len() == 1 {
        let (done, _) = after(looks, || session.delete(3));
        assert_eq!(done.unwrap_err().kind(), ErrorKind::Interrupted);
        looks += 10;
    }
    assert!((2..=full).contains(&left(&engine, Table::Transcript)), "the control: its text is there");
    engine
}

#[test]
fn the_delete_of_a_session_that_was_interrupted_is_gone_on_with_at_once() {
    type GoesOn = (&'static str, fn(&Engine));
    let ways: [GoesOn; 3] = [
        ("maintenance", |engine| assert_eq!(sweep(engine, 4).unwrap(), 1)),
        ("a compaction", |engine| compacted(engine)),
        ("the same call", |engine| {
            let deleted = Session { engine, scope: &user(), id: "s" }.delete(4);
            assert_eq!(deleted.unwrap_err().kind(), ErrorKind::NotFound);
        }),
    ];
    for (name, goes_on) in ways {
        let folder = Folder::new();
        let engine = half_deleted(&folder);
        goes_on(&engine);
        assert_eq!((left(&engine, Table::Transcript), left(&engine, Table::Epoch)), (0, 0), "{name}");
        assert!(engine.check().unwrap().findings.is_empty(), "{name}");
    }
}

#[test]
fn a_fork_that_was_interrupted_waits_a_day_for_maintenance_and_no_time_for_a_compaction() {
    let (folder, scope) = (Folder::new(), user());
    let engine = engine(&folder.0);
    let session = begun(&engine, &scope, "s");
    session.add_many((0..600).map(|n| said(&format!("message {n}"))).collect(), 2).unwrap();
    let whole = left(&engine, Table::Transcript);
    let mut looks = 1;
    while left(&engine, Table::Transcript) == whole {
        let (done, _) = after(looks, || session.fork("copy", None, 3));
        assert_eq!(done.unwrap_err().kind(), ErrorKind::Interrupted);
        looks += 10;
    }
    let begun = left(&engine, Table::Transcript);
    assert_eq!(sweep(&engine, 4).unwrap(), 0, "it may be going on");
    assert_eq!(left(&engine, Table::Transcript), begun);
    engine.compact().unwrap();
    assert_eq!(left(&engine, Table::Transcript), whole, "a compaction copies nothing of it");
    session.fork("copy", None, 5).unwrap();
    assert!(engine.check().unwrap().findings.is_empty());
}

/// A text that is written ahead of its message.
fn long() -> String {
    "a long message ".repeat(60_000)
}

#[test]
fn a_message_that_was_refused_leaves_nothing_behind_the_end_of_its_session() {
    type Ends = (&'static str, fn(&Engine, Session<'_>));
    let ways: [Ends; 2] = [("delete", |_, session| session.delete(4).unwrap()), ("a compaction", |engine, _| compacted(engine))];
    for (name, ends) in ways {
        let (folder, scope) = (Folder::new(), user());
        let engine = engine(&folder.0);
        let session = begun(&engine, &scope, "s");
        let refused = session.add(said(&long()), Some(7), 3);
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::SessionMoved);
        assert!(left(&engine, Table::BlobChunk) > 100, "the control: it was written ahead");
        ends(&engine, session);
        assert_eq!((left(&engine, Table::BlobChunk), left(&engine, Table::Blob)), (0, 0), "{name}");
    }
}

#[test]
fn a_compaction_takes_nothing_from_a_message_that_is_being_added() {
    let (folder, scope) = (Folder::new(), user());
    let engine = engine(&folder.0);
    let session = begun(&engine, &scope, "s");
    let prepared = session.prepare(said(&long()), crate::context::Arguments::MustBeJson, 2).unwrap();
    engine.compact().unwrap();
    session.edit("adding a message", 3, move |writer| writer.add(&prepared, None, None)).unwrap();
    assert_eq!(session.messages(0, 1).unwrap()[0].text, long());
    assert!(engine.check().unwrap().findings.is_empty());
}

/// An engine of a new store, encrypted or not.
fn opened(folder: &Folder, encrypted: bool) -> Engine {
    let options = EngineOptions { durability: Durability::Relaxed, embedding: None, ..EngineOptions::default() };
    let key = encrypted.then(|| StoreKey::new(&[7; 32]).unwrap());
    Engine::open_as(&folder.0, options, false, key).unwrap()
}

#[test]
fn nothing_is_written_ahead_for_what_was_erased_or_deleted() {
    type Goes = (&'static str, fn(&Engine, Session<'_>));
    let ways: [Goes; 2] = [("erased", |engine, session| erased(engine, session)), ("deleted", |_, session| session.delete(4).unwrap())];
    for (encrypted, (name, goes)) in [false, true].into_iter().flat_map(|encrypted| ways.map(|way| (encrypted, way))) {
        let (folder, scope) = (Folder::new(), user());
        let engine = opened(&folder, encrypted);
        let session = begun(&engine, &scope, "s");
        let status: Status = session.status().unwrap();
        let data: Arc<[u8]> = long().into_bytes().into();
        goes(&engine, session);
        let refused = session.write_ahead(&status, 7, &data, 5);
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::NotFound, "{name}");
        assert_eq!((left(&engine, Table::BlobChunk), left(&engine, Table::Blob)), (0, 0), "{name}");
        let has_key = engine.store().read(|pages| Ok(pages.get(record_of(OWN).as_slice())?.is_some())).unwrap();
        assert_eq!(has_key, encrypted && name == "deleted", "{name}: no new key is drawn");
        if name == "deleted" {
            begun(&engine, &scope, "s");
            let refused = session.write_ahead(&status, 7, &data, 5);
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::SessionMoved, "it is another session");
        }
    }
}

#[test]
fn no_write_by_its_number_reaches_a_partition_that_was_erased() {
    for encrypted in [false, true] {
        let (folder, scope) = (Folder::new(), user());
        let engine = opened(&folder, encrypted);
        begun(&engine, &scope, "s");
        engine.erase(&scope).unwrap();
        let key = Key::new(OWN, Table::SessionsHead);
        let put = engine.write(move |txn| key::SessionsHead { sessions: 1, ..Default::default() }.write(txn, OWN));
        assert_eq!(put.unwrap_err().kind(), ErrorKind::NotFound);
        let skipped = engine.write_to(OWN, move |txn| txn.put(key.as_slice(), b"never").map(|()| true));
        assert!(!skipped.unwrap());
        let stored =
            engine.store().read(|pages| Ok((pages.get(record_of(OWN).as_slice())?.is_some(), pages.get(key.as_slice())?.is_some())));
        assert_eq!(stored.unwrap(), (false, false), "neither a key nor a value");
        begun(&engine, &scope, "s");
        assert_eq!(engine.scopes(0, 9).unwrap().len(), 1, "a later write begins the scope anew");
    }
}

#[test]
fn maintenance_removes_tasks_whose_time_is_over() {
    let (folder, scope) = (Folder::new(), user());
    let engine = engine(&folder.0);
    let session = begun(&engine, &scope, "s");
    let set = |name: &str, until| session.edit_task(name, TaskEdit::Set("k".into(), "1".into()), until, None, 2).unwrap();
    assert!(set("short", Some(3 * DAY)) && set("long", Some(9 * DAY)) && set("kept", None));
    let values = left(&engine, Table::Task);
    engine.maintain(None, 2 * DAY, &mut || Ok(())).unwrap();
    assert_eq!(left(&engine, Table::Task), values);
    engine.maintain(None, 4 * DAY, &mut || Ok(())).unwrap();
    assert_eq!(left(&engine, Table::Task), values - values / 3);
    let names: Vec<String> = session.tasks(4 * DAY).unwrap().into_iter().map(|task| task.name).collect();
    assert_eq!(names, ["kept", "long"]);
}

#[test]
fn a_session_that_is_resumed_before_it_is_hidden_is_not_deleted_as_an_old_one() {
    let (folder, scope) = (Folder::new(), user());
    let engine = engine(&folder.0);
    let session = begun(&engine, &scope, "s");
    session.add(said("old talk"), None, 2).unwrap();
    let listed = list(&engine, &scope, &Listing { limit: 9, ..Listing::default() }).unwrap();
    assert!(listed[0].record.last_added_at() < 10, "it was listed as an old one");
    session.add(said("I am back"), None, 20).unwrap();
    assert!(!session.delete_old(10, 1, 21).unwrap());
    assert_eq!(session.messages(0, 9).unwrap().len(), 2);
    assert!(session.delete_old(21, 1, 22).unwrap());
    assert!(!session.delete_old(21, 1, 22).unwrap(), "it is not there any more");
    assert_eq!(left(&engine, Table::Transcript), 0);
    erased(&engine, session);
    assert!(!session.delete_old(21, 1, 22).unwrap(), "nor is its scope");
}
