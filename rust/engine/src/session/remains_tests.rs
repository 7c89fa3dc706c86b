//! Neither a hash nor a passage of what is gone is left in a ledger.

use std::ops::ControlFlow;

use super::key::SessionKey;
use super::ledger::Call;
use super::properties::{Folder, engine};
use super::record::find_in;
use super::stored_epoch::StoredEpoch;
use super::window::assemble::Assembled;
use super::*;
use crate::ErrorKind;
use crate::collection::{self, CollectionName, NewDocument};
use crate::engine::Engine;
use crate::memory::NewMemory;
use crate::models::Model;
use crate::scope::{Scope, ScopeType};
use crate::store::pages::{Pages, PagesMut};

fn user() -> Scope {
    Scope::new(None, ScopeType::User, "u").unwrap()
}

fn begun<'e>(engine: &'e Engine, scope: &'e Scope, id: &'e str, collections: Vec<CollectionName>) -> Session<'e> {
    let session = Session { engine, scope, id };
    let model = Some(Model::named("gpt-4o").unwrap());
    session.open(Options { model, collections: Some(collections), ..Options::default() }, 1).unwrap();
    session
}

fn asked(session: Session<'_>, text: &str, now: i64) -> Assembled {
    session.add(NewMessage::given(serde_json::json!({"role": "user", "content": text}).to_string()), None, now).unwrap();
    session.assemble(&Ask { now, ..Ask::default() }).unwrap()
}

fn answer(text: &str) -> String {
    serde_json::json!({"role": "assistant", "content": text}).to_string()
}

fn replied(session: Session<'_>, prompt: &Assembled, text: &str, now: i64) -> Call {
    let added = session.add_response(answer(text).as_bytes(), Some(prompt), now).unwrap();
    call_of(session, added.added.turn)
}

fn place_of(session: Session<'_>) -> SessionKey {
    session.status().unwrap().place
}

fn call_of(session: Session<'_>, turn: u64) -> Call {
    let place = place_of(session);
    session.engine.store().read(|pages| Call::read(pages, place, turn, 0)).unwrap()
}

/// Whether a key or a value of the store has these bytes.
fn is_stored(engine: &Engine, bytes: &[u8]) -> bool {
    let (mut found, has) = (false, |all: &[u8]| all.windows(bytes.len()).any(|part| part == bytes));
    let scan = engine.store().read(|pages| {
        pages.scan_stored(&[0], &[u8::MAX; 32], &mut |key, value| {
            found |= has(key) || has(value);
            Ok(ControlFlow::Continue(()))
        })
    });
    scan.unwrap();
    found
}

fn is_hash_stored(engine: &Engine, hash: u128) -> bool {
    is_stored(engine, &hash.to_be_bytes()) || is_stored(engine, &(hash as u64).to_be_bytes())
}

/// Whether the hash of a reply stands in the store, or a key that is made of it.
fn is_reply_stored(engine: &Engine, session: Session<'_>, call: &Call) -> bool {
    let seed = session.scope.seed(engine.store().secret());
    is_hash_stored(engine, call.hash) || is_stored(engine, call.name_key(place_of(session), seed).as_slice())
}

fn sent(call: &Call) -> u128 {
    call.sent.as_ref().unwrap().chain
}

#[test]
fn the_hashes_of_a_redacted_reply_and_of_the_prompts_that_saw_it_go() {
    // They confirmed a guess: a code of four digits was found by trying all of them.
    let (folder, scope) = (Folder::new(), user());
    let engine = engine(&folder.0);
    let session = begun(&engine, &scope, "s", Vec::new());
    let first = replied(session, &asked(session, "Tell me the code", 2), "It is 4711.", 3);
    let second = replied(session, &asked(session, "Thank you", 4), "You are welcome.", 5);
    let all = [first.hash, sent(&first), second.hash, sent(&second)];
    assert!(all.iter().all(|hash| is_hash_stored(&engine, *hash)), "the control");
    assert!(is_reply_stored(&engine, session, &first));
    assert!(session.redact(1, None, 6).unwrap());
    assert!(!is_reply_stored(&engine, session, &first), "at once");
    engine.compact().unwrap();
    assert_eq!(all.map(|hash| is_hash_stored(&engine, hash)), [false, true, true, false]);
    let after = replied(session, &asked(session, "And now?", 7), "Nothing.", 8);
    engine.compact().unwrap();
    assert!(is_hash_stored(&engine, sent(&after)), "that of a prompt which never saw it");
    assert!(session.redact(0, None, 9).unwrap());
    engine.compact().unwrap();
    assert!(!is_hash_stored(&engine, sent(&first)) && !is_hash_stored(&engine, sent(&after)));
    assert!(engine.check().unwrap().findings.is_empty());
}

#[test]
fn a_hash_that_an_older_version_left_goes_too() {
    let (folder, scope) = (Folder::new(), user());
    let engine = engine(&folder.0);
    let session = begun(&engine, &scope, "s", Vec::new());
    let early = replied(session, &asked(session, "Hello", 2), "Hello.", 3);
    let mut call = replied(session, &asked(session, "Tell me the code", 4), "It is 4711.", 5);
    let later = replied(session, &asked(session, "Thank you", 6), "You are welcome.", 7);
    assert!(session.redact(3, None, 8).unwrap());
    let (place, seed, owned) = (place_of(session), scope.seed(engine.store().secret()), call.clone());
    let as_before = engine.write(move |txn| {
        let (_, record) = find_in(&*txn, &user(), "s")?.unwrap();
        let epoch = StoredEpoch::read(&*txn, place, record.epoch)?;
        StoredEpoch { taken_back: None, ..epoch }.write(txn, place)?;
        call.forget_reply(txn, place, seed)?;
        txn.delete(call.name_key(place, seed).as_slice())?;
        owned.put_name(txn, place, seed)?;
        owned.clone().write(txn, place, 1)
    });
    as_before.unwrap();
    let call = call_of(session, 1);
    assert!(is_reply_stored(&engine, session, &call) && engine.check().unwrap().findings.is_empty(), "the control");
    engine.compact().unwrap();
    assert!(!is_reply_stored(&engine, session, &call) && !is_hash_stored(&engine, sent(&later)));
    assert!(is_hash_stored(&engine, sent(&early)) && is_hash_stored(&engine, sent(&call)), "neither saw it");
    assert!(engine.check().unwrap().findings.is_empty());
}

#[test]
fn the_hash_of_a_prompt_goes_with_a_memory_that_it_showed() {
    let (folder, scope) = (Folder::new(), user());
    let engine = engine(&folder.0);
    engine.remember(&scope, NewMemory { id: Some("code".into()), ..NewMemory::new("the door code is 4711") }, 1).unwrap();
    let session = begun(&engine, &scope, "s", Vec::new());
    let other = begun(&engine, &scope, "t", Vec::new());
    let shown = replied(session, &asked(session, "what is the door code?", 2), "See above.", 3);
    let not_shown = replied(other, &asked(other, "thank you", 4), "Well.", 5);
    assert!(shown.sent.as_ref().unwrap().items.iter().any(|item| item.memory.is_some()), "the control");
    engine.compact().unwrap();
    assert!(is_hash_stored(&engine, sent(&shown)), "while the memory is there, or what took its place");
    engine.forget(&scope, "code", None, 6).unwrap();
    engine.compact().unwrap();
    assert!(!is_hash_stored(&engine, sent(&shown)) && is_hash_stored(&engine, sent(&not_shown)));
}

#[test]
fn a_redacted_reply_that_is_given_again_is_not_stored_again() {
    let (folder, scope) = (Folder::new(), user());
    let engine = engine(&folder.0);
    let session = begun(&engine, &scope, "s", Vec::new());
    let prompt = asked(session, "Tell me the code", 2);
    replied(session, &prompt, "It is 4711.", 3);
    session.redact(1, None, 4).unwrap();
    for prompt in [None, Some(&prompt)] {
        let again = session.add_response(answer("It is 4711.").as_bytes(), prompt, 5);
        assert_eq!(again.unwrap_err().kind(), ErrorKind::SessionMoved);
    }
    let named = r#"{"id":"r","choices":[{"message":{"role":"assistant","content":"It is 0815."}}]}"#;
    let prompt = asked(session, "Tell me again", 6);
    assert_eq!(session.add_response(named.as_bytes(), Some(&prompt), 7).unwrap().added.index, 3);
    session.redact(3, None, 8).unwrap();
    for prompt in [None, Some(&prompt)] {
        let again = session.add_response(named.as_bytes(), prompt, 9).unwrap().added;
        assert_eq!((again.index, again.action), (3, AddAction::Duplicate));
    }
    let prompt = session.assemble(&Ask { now: 10, ..Ask::default() }).unwrap();
    assert_eq!(session.add_response(answer("Another.").as_bytes(), Some(&prompt), 11).unwrap().added.index, 4);
    session.fork("copy", None, 12).unwrap();
    assert!(engine.check().unwrap().findings.is_empty());
}

/// Adds a document, of which a prompt of the session then shows a passage.
fn letter(engine: &Engine, collection: &CollectionName, id: &str) {
    let new = NewDocument::new(id, "# Letter\n\nThe passage of the letter names port 8443.");
    collection::add::add(engine, collection, collection::Prepared::new(new).unwrap(), None, 1).unwrap();
}

#[test]
fn a_passage_without_numbers_stays_while_any_document_of_its_name_is_there() {
    // "a" has no document "b/letter.md", and one of the two collections "a/b" has no "letter.md".
    let (folder, scope, team) = (Folder::new(), user(), Scope::new(None, ScopeType::Shared, "team").unwrap());
    let engine = engine(&folder.0);
    let name = |scope: &Scope, name: &str| CollectionName::new(scope, name).unwrap();
    let [a, own, other] = [name(&scope, "a"), name(&scope, "a/b"), name(&team, "a/b")];
    letter(&engine, &own, "letter.md");
    for empty in [&a, &other] {
        let new = NewDocument::new("other.md", "Something else.");
        collection::add::add(&engine, empty, collection::Prepared::new(new).unwrap(), None, 1).unwrap();
    }
    let session = begun(&engine, &scope, "s", vec![a, own.clone(), other]);
    let mut call = replied(session, &asked(session, "which port does the letter name?", 2), "8443", 3);
    let passage = |call: &Call| call.sent.as_ref().unwrap().items.iter().any(|item| item.text.contains("names port"));
    assert!(passage(&call), "the control");
    let place = place_of(session);
    let as_before = engine.write(move |txn| {
        call.sent.iter_mut().flat_map(|sent| &mut sent.items).for_each(|item| item.document = None);
        call.write(txn, place, 0)
    });
    as_before.unwrap();
    engine.compact().unwrap();
    assert!(passage(&call_of(session, 0)));
    collection::remove::delete(&engine, &own, "letter.md", 4).unwrap();
    engine.compact().unwrap();
    assert!(!passage(&call_of(session, 0)));
    assert!(engine.check().unwrap().findings.is_empty());
}
