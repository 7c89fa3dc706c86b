//! Records that say anything: each value of the golden store gets another body with a right checksum, and whatever reads it gives an answer
//! or an error. Nothing panics, and nothing takes long. `MEMSPAN_RECORDS` says how many bodies are tried (400 by default).
//!
//! Flipped bits never come as far as a decoder, since checksums find them. What does is a store that another version wrote, or a bug of ours.

mod support;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use memspan_engine::collection::{self, CollectionName, Request, search};
use memspan_engine::context::render::{RequestOptions, to_openai};
use memspan_engine::engine::Engine;
use memspan_engine::life::relations;
use memspan_engine::memory::NewMemory;
use memspan_engine::scope::Scope;
use memspan_engine::session::{self, Ask, Listing, NewMessage, Session, TaskEdit, TranscriptRequest};
use memspan_engine::store::envelope::{self, ENVELOPE_BYTES};
use memspan_engine::store::keys::Table;
use memspan_engine::store::pages::PagesMut;
use memspan_engine::{Result, export};
use support::{ALL_KINDS, Chance, Folder, ask, copy_folder, open, remember, values};

/// Behind all that the golden store holds.
const NOW: i64 = 1_767_225_600_000_000 + 200 * 86_400_000_000;
/// Bodies that are tried on one copy of the store.
const ON_ONE_COPY: usize = 40;

fn put(engine: &Engine, key: &[u8], value: &[u8]) {
    let (key, value) = (key.to_vec(), value.to_vec());
    engine.store().write(Duration::from_secs(5), move |txn| txn.put(&key, &value)).expect("written");
}

/// The value with another body.
fn sealed(key: &[u8], value: &[u8], body: &[u8]) -> Vec<u8> {
    let mut other = vec![0; ENVELOPE_BYTES];
    other.extend(body);
    envelope::seal_in_place(key, value[0], value[1], &mut other);
    other
}

/// All that can be read. An error of one part does not keep the others from being read.
fn read_all(engine: &Engine) {
    let _ = (engine.contents(), engine.check(), session::learned(engine));
    let _ = engine.store().read(|snapshot| export::write(snapshot, &BTreeSet::new(), &mut std::io::sink()));
    let Ok(scopes) = engine.scopes(0, 100) else { return };
    for (_, scope) in scopes {
        let _ = (engine.memories(&scope, 0, usize::MAX, ALL_KINDS, NOW), engine.slots(&scope, None, NOW), engine.quarantined(&scope));
        for id in ["meeting", "mem-1", "mem-3", "mem-15"] {
            let _ = engine.history(&scope, id, 0);
        }
        for question in ["which port does payments-api use?", "what did we decide about service-3?", "alergic"] {
            let _ = ask(engine, &scope, question, 5, NOW);
            let _ = session::search(engine, &scope, &TranscriptRequest::new(question, 10, NOW));
        }
        let _ = (relations::neighbors(engine, &scope, "Anna", None, NOW), engine.learn_mark(&scope, "talk"));
        read_sessions(engine, &scope);
        read_collection(engine, &scope);
    }
}

fn read_sessions(engine: &Engine, scope: &Scope) {
    let Ok(listed) = session::list(engine, scope, &Listing { limit: usize::MAX, ..Listing::default() }) else { return };
    for id in listed.iter().map(|listed| &listed.record.id) {
        let session = Session { engine, scope, id };
        let _ = (session.status(), session.messages(0, u64::MAX), session.tasks(NOW), session.metadata(), session.notes());
        let _ = (session.summary(), session.lease(NOW), session.partial_reply());
        if let Ok(prompt) = session.assemble(&Ask { now: NOW, ..Ask::default() }) {
            let _ = to_openai(&prompt.prompt, RequestOptions::new(Some("m"), false));
        }
        for turn in 0..4 {
            for call in session.turn(turn).map(|turn| turn.calls).unwrap_or_default() {
                let _ = session.sent_prompt(turn, call.id(), NOW);
            }
        }
    }
}

fn read_collection(engine: &Engine, scope: &Scope) {
    let Ok(name) = CollectionName::new(scope, "handbook") else { return };
    let documents = engine.store().read(|pages| collection::page(pages, &name, 0, 100, NOW));
    for document in documents.map(|(page, _)| page).unwrap_or_default() {
        let _ = engine.store().read(|pages| collection::get(pages, &name, &document.id, NOW));
    }
    let _ = search::ask(engine, &Request::new("which port does service-17 answer on?", vec![name], 3, NOW));
}

/// All that can be written beside the record.
fn write_all(engine: &Engine) -> Result<()> {
    for (_, scope) in engine.scopes(0, 100)? {
        let _ = remember(engine, &scope, NewMemory { slot: Some("editor".into()), ..NewMemory::new("writes in Helix") }, NOW);
        let _ = (engine.forget(&scope, "mem-3", None, NOW), engine.forget(&scope, "meeting", None, NOW));
        for listed in session::list(engine, &scope, &Listing { limit: usize::MAX, ..Listing::default() }).unwrap_or_default() {
            let session = Session { engine, scope: &scope, id: &listed.record.id };
            let _ = session.add(NewMessage::given(r#"{"role":"user","content":"and now?"}"#.to_owned()), None, NOW);
            let _ = session.assemble(&Ask { now: NOW, ..Ask::default() });
            let _ = (session.redact(1, Some("asked to"), NOW), session.fork("copy", Some(4), NOW));
            let _ = session.edit_task("review", TaskEdit::Set("plan".into(), "\"read\"".into()), None, None, NOW);
        }
        if let Ok(name) = CollectionName::new(&scope, "handbook") {
            let _ = collection::remove::delete(engine, &name, "guide", NOW);
        }
        let _ = engine.erase(&scope);
    }
    let _ = engine.compact();
    Ok(())
}

#[test]
fn a_record_that_says_anything_is_an_answer_or_an_error() {
    let bodies: usize = std::env::var("MEMSPAN_RECORDS").ok().and_then(|count| count.parse().ok()).unwrap_or(400);
    let seed = std::env::var("MEMSPAN_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(16);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/format-8/store");
    let mut chance = Chance(seed);
    for round in 0..bodies.div_ceil(ON_ONE_COPY) {
        let folder = Folder::in_memory();
        copy_folder(&golden, &folder.0);
        let engine = open(&folder.0, true);
        let mut values = values(&engine);
        values.retain(|(key, _)| key[4] != Table::Meta as u8);
        let others: Vec<Vec<u8>> = values.iter().map(|(_, value)| value[ENVELOPE_BYTES..].to_vec()).collect();
        for number in 0..ON_ONE_COPY {
            let at = chance.below(values.len());
            let (key, value) = &values[at];
            let other = sealed(key, value, &chance.mutated(&others[at], &others));
            put(&engine, key, &other);
            let began = Instant::now();
            let is_last = number + 1 == ON_ONE_COPY;
            let done = catch_unwind(AssertUnwindSafe(|| {
                read_all(&engine);
                if is_last {
                    let _ = write_all(&engine);
                }
            }));
            assert!(done.is_ok(), "round {round}, body {number}: the value at {key:02x?} became {other:02x?}");
            assert!(began.elapsed() < Duration::from_secs(30), "round {round}, body {number}: {key:02x?} {other:02x?} took too long");
            if !is_last {
                put(&engine, key, value);
            }
        }
    }
}
