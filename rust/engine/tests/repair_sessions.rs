//! Sessions of a repaired store: whatever value of them was lost, what is left can be read, searched, prompted, gone on with and deleted.

mod support;

use std::collections::BTreeSet;

use memspan_engine::engine::Engine;
use memspan_engine::session::{self, Ask, Listing, Session, TaskEdit, TranscriptRequest};
use memspan_engine::store::keys::{Table, u32_at};
use support::losses::{keys, repaired_without};
use support::talk::{self, answered, reply, said, say};
use support::{Folder, assert_sound, open, user};

const NOW: i64 = 1_000_000_000;

/// Sessions, one a copy of the other; both have turns with calls, blocks that stay, a redacted message and one with a picture.
fn filled(folder: &Folder) -> Engine {
    let engine = open(&folder.0, true);
    talk::talked(&engine, &user("u"));
    assert_sound(&engine);
    engine
}

fn ids(engine: &Engine) -> Vec<String> {
    let listed = session::list(engine, &user("u"), &Listing { limit: usize::MAX, ..Listing::default() }).expect("listed");
    let mut ids: Vec<String> = listed.into_iter().map(|listed| listed.record.id).collect();
    ids.sort_unstable();
    ids
}

/// Every call of every session answers; `left` are those that must be there.
fn assert_usable(engine: &Engine, left: &[&str], what: &str) {
    let scope = user("u");
    let report = engine.check().expect("checked");
    assert!(report.is_sound(), "{what}: {:#?}", report.findings);
    assert_eq!(ids(engine), left, "{what}");
    let found = session::search(engine, &scope, &TranscriptRequest::new("which port does payments-api listen on?", 5, NOW));
    found.unwrap_or_else(|error| panic!("{what}: {error}"));
    for id in left {
        let session = Session { engine, scope: &scope, id };
        session.messages(0, u64::MAX).unwrap_or_else(|error| panic!("{what}: {error}"));
        drop(session.assemble(&Ask { now: NOW, ..Ask::default() }).unwrap_or_else(|error| panic!("{what}: {error}")));
        session.cancel_tool_calls("it was lost", NOW).unwrap_or_else(|error| panic!("{what}: {error}"));
        say(session, &said("and in staging, on which port?"), NOW);
        reply(session, Some("new"), &answered("On 9443."), NOW);
        let next = format!("next of {id}");
        session.fork(&next, None, NOW).unwrap_or_else(|error| panic!("{what}: {error}"));
        session.redact(1, None, NOW).unwrap_or_else(|error| panic!("{what}: {error}"));
        session.rewind(3, NOW).unwrap_or_else(|error| panic!("{what}: {error}"));
        let report = engine.check().expect("checked");
        assert!(report.is_sound(), "{what}, used: {:#?}", report.findings);
        session.delete(NOW).unwrap_or_else(|error| panic!("{what}: {error}"));
    }
    session::sweep(engine, i64::MAX / 2).expect("swept");
    engine.compact().expect("compacted");
    assert_sound(engine);
}

#[test]
fn whatever_message_is_lost_its_session_goes_on() {
    let folder = Folder::in_memory();
    let engine = filled(&folder);
    let messages: Vec<Vec<u8>> =
        keys(&engine).into_iter().filter(|key| key[4] == Table::Transcript as u8 && u32_at(key, 9) != Some(u32::MAX)).collect();
    assert!(messages.len() > 60);
    for (at, key) in messages.iter().enumerate() {
        let saved = Folder::in_memory();
        let lost: Vec<Vec<u8>> = messages[at..].iter().take(1 + at % 4).cloned().collect();
        let repaired = repaired_without(&engine, &lost, &saved);
        let (session, index) = (u32_at(key, 5).expect("a session"), u32_at(key, 9).expect("a message"));
        let what = format!("{} messages from {index} of session {session}", lost.len());
        assert!(repaired.lost.iter().any(|one| one.contains("messages ") && one.contains("of session \"")), "{what}: {:?}", repaired.lost);
        assert_usable(&open(&saved.0, true), &["copy", "s"], &what);
    }
}

#[test]
fn whatever_is_derived_from_messages_is_made_anew() {
    let folder = Folder::in_memory();
    let engine = filled(&folder);
    let tables = [
        vec![Table::Turn],
        vec![Table::Recount],
        vec![Table::MessageId],
        vec![Table::SessionByName],
        vec![Table::Document],
        vec![Table::SessionsHead],
        vec![Table::MessageVector],
        vec![Table::Tail],
        vec![Table::RunCatalog],
        vec![Table::Call],
        vec![Table::Task],
        vec![Table::Meta],
        vec![Table::Turn, Table::Memory],
        vec![Table::Turn, Table::Call],
    ];
    for tables in tables {
        let lost: Vec<Vec<u8>> = keys(&engine).into_iter().filter(|key| tables.iter().any(|table| key[4] == *table as u8)).collect();
        assert!(!lost.is_empty(), "{tables:?}");
        let saved = Folder::in_memory();
        let repaired = repaired_without(&engine, &lost, &saved);
        assert!(!repaired.lost.iter().any(|one| one.contains("contradictions")), "{tables:?}: {:?}", repaired.lost);
        let derived = if tables.iter().all(|table| table.is_derived()) { lost.len() } else { 0 };
        assert_eq!((repaired.rebuilt.len(), repaired.lost.is_empty()), (derived, derived > 0), "{tables:?}: {repaired:?}");
        assert_usable(&open(&saved.0, true), &["copy", "s"], &format!("{tables:?}"));
    }
}

/// Other values of one session: its record, each epoch, and every blob, of which some are texts of its prompts.
#[test]
fn a_session_goes_on_without_an_epoch_and_none_is_harmed_by_one_without_a_record() {
    let folder = Folder::in_memory();
    let engine = filled(&folder);
    let keys = keys(&engine);
    let of_first = |table: Table| keys.iter().filter(move |key| key[4] == table as u8 && u32_at(key, 5) == Some(1));
    let of_table = |table: Table| keys.iter().filter(move |key| key[4] == table as u8);
    for lost in of_first(Table::Epoch).chain(of_table(Table::Blob)).chain(of_table(Table::Call)) {
        let saved = Folder::in_memory();
        let repaired = repaired_without(&engine, std::slice::from_ref(lost), &saved);
        assert!(repaired.lost.iter().any(|one| one.contains("of session \"")), "{:?}", repaired.lost);
        assert_usable(&open(&saved.0, true), &["copy", "s"], &format!("{lost:x?}"));
    }
    let record: Vec<Vec<u8>> = of_first(Table::Transcript).filter(|key| u32_at(key, 9) == Some(u32::MAX)).cloned().collect();
    let epochs: Vec<Vec<u8>> = of_first(Table::Epoch).cloned().collect();
    let messages: Vec<Vec<u8>> = of_first(Table::Transcript).cloned().collect();
    for (lost, left) in [(record, 34), (epochs, 34), (messages, 0)] {
        let saved = Folder::in_memory();
        let repaired = repaired_without(&engine, &lost, &saved);
        assert!(repaired.lost.iter().any(|one| one.contains(&format!("{left} messages"))), "{:?}", repaired.lost);
        assert_usable(&open(&saved.0, true), &["copy"], &format!("{lost:x?}"));
    }
}

/// Loses one chunk of each value that has several: what is left of the value goes, and nothing else does.
#[test]
fn nothing_is_left_of_a_value_that_lost_a_part() {
    let folder = Folder::in_memory();
    let engine = filled(&folder);
    let (scope, long) = (user("u"), "a long plan of many steps. ".repeat(600));
    let session = Session { engine: &engine, scope: &scope, id: "s" };
    session.set_metadata(format!("{{\"plan\":\"{long}\"}}").into_bytes(), NOW).expect("set");
    session.edit_task("long", TaskEdit::Set("plan".into(), format!("\"{long}\"")), None, None, NOW).expect("set");
    let chunked = [Table::Transcript, Table::Task, Table::Call, Table::Epoch, Table::SessionMetadata];
    let parts = keys(&engine).into_iter().filter(|key| chunked.iter().any(|table| key[4] == *table as u8) && !key.ends_with(&[0, 0]));
    let mut tables = BTreeSet::new();
    for lost in parts {
        tables.insert(lost[4]);
        let saved = Folder::in_memory();
        let repaired = repaired_without(&engine, std::slice::from_ref(&lost), &saved);
        assert!(repaired.lost.iter().any(|one| one.contains("session ")), "{lost:x?}: {:?}", repaired.lost);
        let left: &[&str] = match (lost[4] == Table::Transcript as u8 && u32_at(&lost, 9) == Some(u32::MAX), u32_at(&lost, 5)) {
            (true, Some(1)) => &["copy"],
            (true, _) => &["s"],
            (false, _) => &["copy", "s"],
        };
        assert_usable(&open(&saved.0, true), left, &format!("{lost:x?}"));
    }
    assert!(tables.len() >= 3, "{tables:?}");
}
