//! Sessions of a repaired store: whatever value of them was lost, what is left can be read, searched, prompted, gone on with and deleted.

mod support;

use memspan_engine::engine::Engine;
use memspan_engine::session::{self, Ask, Listing, Session, TranscriptRequest};
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
    let listed = session::list(engine, &user("u"), Listing { limit: usize::MAX, ..Listing::default() }).expect("listed");
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
        Table::Turn,
        Table::Recount,
        Table::MessageId,
        Table::SessionByName,
        Table::Document,
        Table::SessionsHead,
        Table::MessageVector,
        Table::Tail,
        Table::RunCatalog,
        Table::Call,
        Table::Task,
    ];
    for table in tables {
        let lost: Vec<Vec<u8>> = keys(&engine).into_iter().filter(|key| key[4] == table as u8).collect();
        assert!(!lost.is_empty(), "{table:?}");
        let saved = Folder::in_memory();
        let repaired = repaired_without(&engine, &lost, &saved);
        assert!(!repaired.lost.iter().any(|one| one.contains("contradictions")), "{table:?}: {:?}", repaired.lost);
        assert_usable(&open(&saved.0, true), &["copy", "s"], &format!("{table:?}"));
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
    for lost in [record, epochs] {
        let saved = Folder::in_memory();
        let repaired = repaired_without(&engine, &lost, &saved);
        assert!(repaired.lost.iter().any(|one| one.contains("34 messages")), "{:?}", repaired.lost);
        assert_usable(&open(&saved.0, true), &["copy"], &format!("{lost:x?}"));
    }
}
