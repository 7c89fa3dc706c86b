//! Everything that a session's tables can say wrongly is put into a store on purpose, and the doctor names it.

use super::super::ledger::Call;
use super::super::properties::{Folder, engine};
use super::super::record::{self, SessionRecord};
use super::super::stored_epoch::StoredEpoch;
use super::super::transcript::blob;
use super::super::transcript::message::MessageRecord;
use super::super::transcript::view::{TurnRecord, find_recount, write_recount};
use super::super::writer::{KnownId, put_id};
use super::super::{Ask, NewMessage, Options, Replied, Session, SessionBudget, SessionKey, SessionState, TaskEdit};
use super::*;
use crate::engine::Engine;
use crate::memory::{Kind, NewMemory};
use crate::models::Model;
use crate::scope::{Scope, ScopeType};
use crate::store::chunks;
use crate::store::environment::WriteTransaction;
use crate::store::pages::PagesMut;

const PLACE: SessionKey = SessionKey { partition: 1, session: 1 };

fn scope() -> Scope {
    Scope::new(None, ScopeType::User, "u").unwrap()
}

fn add(session: Session<'_>, id: Option<&str>, json: &serde_json::Value, now: i64) {
    let new = NewMessage { id: id.map(str::to_owned), ..NewMessage::given(json.to_string()) };
    session.add(new, None, now).unwrap();
}

fn reply(session: Session<'_>, id: Option<&str>, message: &serde_json::Value, now: i64) -> Replied {
    let prompt = session.assemble(&Ask { now, ..Ask::default() }).unwrap();
    let id = id.map_or_else(String::new, |id| format!(r#""id":"{id}","#));
    let response = format!(r#"{{{id}"choices":[{{"index":0,"message":{message},"finish_reason":"stop"}}],"usage":{{"prompt_tokens":9}}}}"#);
    session.add_response(response.as_bytes(), Some(&prompt), now).unwrap()
}

/// Session 1: a tool round with a block that stays, an image, a redacted message, a switch of models, a task. Session 2: a copy.
fn store() -> (Folder, Engine) {
    let folder = Folder::new();
    let engine = engine(&folder.0);
    let scope = scope();
    let memory = NewMemory { kind: Kind::Semantic, ..NewMemory::new("payments-api listens on port 8443 in prod-eu-west-1") };
    engine.remember(&scope, memory, 1).unwrap();
    let session = Session { engine: &engine, scope: &scope, id: "s" };
    let options = Options {
        model: Some(Model::named("gpt-4o").unwrap()),
        system: Some("You help.".into()),
        budget: Some(SessionBudget { max_input_tokens: Some(4_000), ..SessionBudget::default() }),
        ..Options::default()
    };
    session.open(options, 2).unwrap();
    add(
        session,
        Some("m0"),
        &serde_json::json!({"role": "user", "content": "which port does payments-api listen on in prod-eu-west-1?"}),
        3,
    );
    let call = serde_json::json!({"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{}"}});
    reply(session, Some("r1"), &serde_json::json!({"role": "assistant", "content": null, "tool_calls": [call]}), 4);
    let long = "the service answers on port 8443 and on 9000 ".repeat(200);
    add(session, None, &serde_json::json!({"role": "tool", "tool_call_id": "c1", "content": long}), 5);
    reply(session, None, &serde_json::json!({"role": "assistant", "content": "On 8443."}), 6);
    let image = format!("data:image/png;base64,{}", "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzk".repeat(200));
    let image = serde_json::json!({"type": "image_url", "image_url": {"url": image}});
    add(session, Some("m4"), &serde_json::json!({"role": "user", "content": [{"type": "text", "text": "and this?"}, image]}), 7);
    reply(session, Some("r3"), &serde_json::json!({"role": "assistant", "content": "A picture."}), 8);
    add(session, Some("m6"), &serde_json::json!({"role": "user", "content": "my password is hunter2"}), 9);
    session.redact(6, Some("asked to"), 10).unwrap();
    let mut model = Model::named("gpt-4").unwrap();
    model.context_window = 16_000;
    session.switch_model(&model, crate::session::NewInstructions::default(), None, 11).unwrap();
    reply(session, Some("r4"), &serde_json::json!({"role": "assistant", "content": "Noted."}), 12);
    session.edit_task("review", TaskEdit::Set("plan".into(), "\"read\"".into()), None, None, 13).unwrap();
    session.fork("copy", Some(5), 14).unwrap();
    assert_eq!(parts(&engine), Vec::<&str>::new());
    (folder, engine)
}

fn parts(engine: &Engine) -> Vec<&'static str> {
    let mut parts: Vec<_> = engine.check().unwrap().findings.iter().map(|finding| finding.part).collect();
    parts.sort_unstable();
    parts.dedup();
    parts
}

/// The doctor's findings after `harm` was done to the store.
fn after(harm: impl FnMut(&mut WriteTransaction<'_>) -> Result<()> + Send + 'static) -> Vec<&'static str> {
    let (_folder, engine) = store();
    engine.write(harm).unwrap();
    parts(&engine)
}

/// Its findings without the values under a key.
fn without(prefix: Key) -> Vec<&'static str> {
    after(move |txn| {
        let (range, mut found) = (prefix.prefix_range(), Vec::new());
        txn.scan(&range.start, &range.end, &mut |key, _| {
            found.push(key.to_vec());
            Ok(ControlFlow::Continue(()))
        })?;
        assert!(!found.is_empty(), "nothing there to take away");
        found.iter().try_for_each(|key| txn.delete(key).map(drop))
    })
}

fn table(table: Table) -> Key {
    Key::new(1, table)
}

fn message(txn: &mut WriteTransaction<'_>, index: u64, change: impl Fn(&mut MessageRecord)) -> Result<()> {
    let mut record = MessageRecord::expect(txn, PLACE, index)?;
    change(&mut record);
    record.write(txn, PLACE)
}

fn session_record(txn: &mut WriteTransaction<'_>, change: impl Fn(&mut SessionRecord)) -> Result<()> {
    let mut record = SessionRecord::read(txn, PLACE)?.unwrap();
    change(&mut record);
    record.write(txn, PLACE)
}

#[test]
fn what_is_missing_is_named() {
    assert_eq!(without(table(Table::SessionByName)), ["session"]);
    assert_eq!(without(PLACE.record()), ["blob", "document", "postings", "row", "session", "vector"]);
    assert_eq!(without(PLACE.message(3)), ["call", "document", "message", "postings", "row", "vector"]);
    assert_eq!(without(PLACE.message(2).u16(1)), ["document", "key", "message", "postings", "row", "vector"]);
    assert_eq!(without(PLACE.turn(1)), ["tokens", "turn"]);
    assert_eq!(without(PLACE.recount(1, 2)), ["tokens"]);
    assert_eq!(without(PLACE.call(0, 1)), ["call", "message id", "tokens", "turn"]);
    assert_eq!(without(PLACE.call(0, 0)), ["call", "message id"]);
    assert_eq!(without(PLACE.epoch(0)), ["blob", "epoch"]);
    assert_eq!(after(|txn| txn.delete(PLACE.id(scope().seed(txn.secret()), "m0").as_slice()).map(drop)), ["message id"]);
    assert_eq!(without(table(Table::Blob)), ["blob", "document", "message", "postings", "row", "vector"]);
    assert_eq!(without(table(Table::BlobChunk)), ["blob", "document", "message", "postings", "row", "vector"]);
    assert_eq!(without(table(Table::Document)), ["document", "vector"]);
    assert_eq!(without(table(Table::MessageVector)), ["vector"]);
    assert_eq!(without(table(Table::SessionsHead)), ["head"]);
    assert_eq!(without(table(Table::Tail).u8(1)), ["postings", "row"]);
}

#[test]
fn what_a_message_says_wrongly_is_named() {
    assert_eq!(after(|txn| message(txn, 5, |record| record.placed.tokens_before += 1)), ["tokens"]);
    assert_eq!(after(|txn| message(txn, 7, |record| record.cost.tokens -= 1)), ["session", "tokens"]);
    assert_eq!(after(|txn| message(txn, 4, |record| record.placed.opens_turn = false)), ["turn"]);
    assert_eq!(after(|txn| message(txn, 3, |record| record.placed.turn = 1)), ["call", "turn"]);
    assert_eq!(after(|txn| message(txn, 3, |record| record.digest.hash ^= 1)), ["message"]);
    assert_eq!(after(|txn| message(txn, 3, |record| record.call = None)), ["call"]);
    assert_eq!(after(|txn| message(txn, 3, |record| record.document = 0)), ["document", "postings", "row", "vector"]);
    assert_eq!(after(|txn| message(txn, 0, |record| record.id = Some("other".into()))), ["message id"]);
    assert_eq!(after(|txn| message(txn, 0, |record| record.added_at = i64::MAX)), ["message"]);
    assert_eq!(after(|txn| message(txn, 0, |record| record.rest = b"{".to_vec())), ["document", "message", "postings", "row", "vector"]);
    let other_words = |record: &mut MessageRecord| record.rest = String::from_utf8_lossy(&record.rest).replace("8443", "8444").into();
    assert_eq!(after(move |txn| message(txn, 3, other_words)), ["document", "message", "postings"]);
    assert_eq!(after(|txn| message(txn, 4, |record| record.holes.clear())), ["blob", "message", "tokens"]);
    let surplus = |txn: &mut WriteTransaction<'_>| {
        let record = MessageRecord::expect(txn, PLACE, 3)?;
        MessageRecord { placed: crate::context::Placed { index: 8, ..record.placed }, ..record }.write(txn, PLACE)
    };
    assert_eq!(after(surplus), ["message"]);
}

#[test]
fn what_a_record_says_wrongly_is_named() {
    assert_eq!(after(|txn| session_record(txn, |record| record.tally.messages += 1)), ["message"]);
    assert_eq!(after(|txn| session_record(txn, |record| record.tally.messages = u64::MAX)), ["message"]);
    assert_eq!(after(|txn| session_record(txn, |record| record.tally.turns += 1)), ["call", "session"]);
    assert_eq!(after(|txn| session_record(txn, |record| record.tally.tokens += 1)), ["session"]);
    assert_eq!(after(|txn| session_record(txn, |record| record.tally.open.push("c1".into()))), ["session"]);
    assert_eq!(after(|txn| session_record(txn, |record| record.epoch -= 1)), ["call", "epoch"]);
    assert_eq!(after(|txn| session_record(txn, |record| record.id = "other".into())), ["session"]);
    assert_eq!(after(|txn| session_record(txn, |record| record.state = SessionState::Hidden)), ["session"]);
    let sent = |record: &mut SessionRecord| record.sent = Some(super::super::record::SentBlock { turn: 2, call: 4, tokens: 1 });
    assert_eq!(after(move |txn| session_record(txn, sent)), ["call"]);
    let renamed = |txn: &mut WriteTransaction<'_>| {
        let seed = scope().seed(txn.secret()).apart(1);
        record::name(txn, SessionKey { session: 9, ..PLACE }, seed, "nobody")
    };
    assert_eq!(after(renamed), ["session"]);
}

#[test]
fn what_stands_beside_the_messages_is_compared_with_them() {
    let turn = |start, kept| move |txn: &mut WriteTransaction<'_>| TurnRecord { start, kept }.write(txn, PLACE, 1);
    assert_eq!(after(turn(3, None)), ["turn"]);
    assert_eq!(after(turn(4, Some(7))), ["tokens", "turn"]);
    let call = |change: fn(&mut Call)| {
        move |txn: &mut WriteTransaction<'_>| {
            let mut call = Call::read(txn, PLACE, 0, 1)?;
            change(&mut call);
            call.write(txn, PLACE, 0)
        }
    };
    assert_eq!(after(call(|call| call.reply = 2)), ["call", "message id"]);
    assert_eq!(after(call(|call| call.hash ^= 1)), ["message id"]);
    assert_eq!(after(call(|call| call.sent.as_mut().unwrap().epoch = 99)), ["call"]);
    let epoch = |txn: &mut WriteTransaction<'_>| {
        let epoch = StoredEpoch::read(txn, PLACE, 0)?;
        StoredEpoch { system: None, ..epoch }.write(txn, PLACE)
    };
    assert_eq!(after(epoch), ["blob"]);
    let recount = |txn: &mut WriteTransaction<'_>| {
        let (cost, before) = find_recount(txn, PLACE, 1, 3)?.unwrap();
        write_recount(txn, PLACE, 1, 3, cost, before + 1)
    };
    assert_eq!(after(recount), ["tokens"]);
    let id = |index| {
        move |txn: &mut WriteTransaction<'_>| {
            put_id(txn, PLACE, scope().seed(txn.secret()).apart(7), "x", KnownId { index, request: 0, gone: false })
        }
    };
    assert_eq!(after(id(0)), ["message id"]);
    assert_eq!(after(id(77)), ["message id"]);
    let task = |txn: &mut WriteTransaction<'_>| {
        let seed = scope().seed(txn.secret());
        let (key, other) = (super::super::task::key(1, 1, seed, "review"), super::super::task::key(1, 1, seed.apart(3), "review"));
        let (schema, body) = chunks::get(txn, key)?.unwrap();
        let body = body.to_vec();
        chunks::put(txn, other, schema, envelope::Codec::MessagePack, &body)
    };
    assert_eq!(after(task), ["task"]);
    let stray = |txn: &mut WriteTransaction<'_>| TurnRecord { start: 0, kept: None }.write(txn, SessionKey { session: 2, ..PLACE }, 9);
    assert_eq!(after(stray), ["turn"]);
    let nobody = |txn: &mut WriteTransaction<'_>| TurnRecord { start: 0, kept: None }.write(txn, SessionKey { session: 9, ..PLACE }, 0);
    assert_eq!(after(nobody), ["head", "session"]);
}

#[test]
fn blobs_are_counted_and_read() {
    let system = |txn: &WriteTransaction<'_>| blob::hash(scope().seed(txn.secret()), b"You help.");
    let more = move |txn: &mut WriteTransaction<'_>| blob::reference(txn, 1, system(txn), 9).map(drop);
    assert_eq!(after(more), ["blob"]);
    let fewer = move |txn: &mut WriteTransaction<'_>| blob::release(txn, 1, system(txn));
    assert_eq!(after(fewer), ["blob"]);
    let other = move |txn: &mut WriteTransaction<'_>| {
        let key = Key::new(1, Table::BlobChunk).u128(system(txn)).u16(0);
        txn.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, envelope::Codec::Raw, b"You harm."))
    };
    assert_eq!(after(other), ["blob"]);
    let chunk = |number| {
        move |txn: &mut WriteTransaction<'_>| {
            let key = Key::new(1, Table::BlobChunk).u128(5).u16(number);
            txn.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, envelope::Codec::Raw, b"lost"))
        }
    };
    assert_eq!(after(chunk(0)), ["blob"]);
    let staged = |txn: &mut WriteTransaction<'_>| blob::stage(txn, 1, 5, &vec![7; 100_000], 3, 20).map(drop);
    assert_eq!(after(staged), Vec::<&str>::new(), "what was written ahead and never used is swept one day");
    let (_folder, engine) = store();
    engine.write(staged).unwrap();
    engine.write(chunk(9)).unwrap();
    assert_eq!(parts(&engine), ["blob"]);
}

/// Renames the encodings in every epoch to ones that a caller's file defines, which nobody has loaded here.
fn unload_tokenizers(txn: &mut WriteTransaction<'_>) -> Result<()> {
    for number in 0..=SessionRecord::read(txn, PLACE)?.unwrap().epoch {
        let (schema, body) = chunks::get(txn, PLACE.epoch(number))?.unwrap();
        let mut body = body.to_vec();
        for at in 0..body.len() - 4 {
            if &body[at..at + 4] == b"200k" || &body[at..at + 4] == b"100k" {
                body[at] = b'9';
            }
        }
        chunks::put(txn, PLACE.epoch(number), schema, envelope::Codec::MessagePack, &body)?;
    }
    Ok(())
}

#[test]
fn a_session_whose_tokenizer_is_not_loaded_is_sound_and_can_be_swept() {
    let (_folder, engine) = store();
    engine.write(unload_tokenizers).unwrap();
    let scope = scope();
    let status = Session { engine: &engine, scope: &scope, id: "s" }.status();
    assert_eq!(status.unwrap_err().kind(), ErrorKind::InvalidInput, "this process cannot count for it");
    assert_eq!(parts(&engine), Vec::<&str>::new());
    let hide = |txn: &mut WriteTransaction<'_>| {
        super::super::key::unname(txn, 1, self::scope().seed(txn.secret()), "s")?;
        session_record(txn, |record| (record.state, record.last_time) = (SessionState::Hidden, 0))
    };
    engine.write(hide).unwrap();
    assert_eq!(super::super::sweep(&engine, 200_000_000_000).unwrap(), 1);
    assert_eq!(parts(&engine), Vec::<&str>::new());
}

#[test]
fn epochs_of_a_deleted_session_go_in_bounded_steps() {
    const STEP: u64 = 1_024;
    let (_folder, engine) = store();
    let hide = |txn: &mut WriteTransaction<'_>| {
        super::super::key::unname(txn, 1, scope().seed(txn.secret()), "s")?;
        let known = SessionRecord::read(txn, PLACE)?.unwrap().epoch;
        let mut epoch = StoredEpoch { system: None, tools: None, ..StoredEpoch::read(txn, PLACE, known)? };
        for number in known + 1..=2 * STEP + 5 {
            epoch.epoch.number = number;
            epoch.write(txn, PLACE)?;
        }
        session_record(txn, |record| (record.state, record.epoch) = (SessionState::Hidden, 2 * STEP + 5))
    };
    engine.write(hide).unwrap();
    let seed = scope().seed(engine.store().secret());
    let step = || {
        let goes_on = engine.write(move |txn| super::super::edit::purge_step(txn, PLACE, seed)).unwrap();
        let left = engine.store().read(|pages| keys(pages, PLACE.all(Table::Epoch), false)).unwrap();
        (goes_on, left.len() as u64)
    };
    assert_eq!(step(), (true, 2 * STEP + 6), "messages go first");
    assert_eq!(step(), (true, STEP + 6));
    assert_eq!(step(), (true, 6));
    while step().0 {}
    assert_eq!(step(), (false, 0));
}

#[test]
fn a_session_that_is_half_deleted_or_half_copied_is_sound() {
    let (_folder, engine) = store();
    let hide = |txn: &mut WriteTransaction<'_>| {
        super::super::key::unname(txn, 1, scope().seed(txn.secret()), "s")?;
        session_record(txn, |record| record.state = SessionState::Hidden)
    };
    engine.write(hide).unwrap();
    assert_eq!(parts(&engine), Vec::<&str>::new());
    let seed = scope().seed(engine.store().secret());
    assert!(engine.write(move |txn| super::super::edit::purge_step(txn, PLACE, seed)).unwrap());
    assert_eq!(parts(&engine), Vec::<&str>::new(), "its messages are gone, the rest of it is not");
    super::super::sweep(&engine, 200_000_000_000).unwrap();
    let report = engine.check().unwrap();
    assert_eq!((report.findings.len(), report.sessions), (0, 1));
    let left = engine.store().read(|pages| {
        let found: Result<Vec<_>> = PARTS.iter().map(|part| keys(pages, PLACE.all(*part), false)).collect();
        Ok(found?.concat())
    });
    assert_eq!(left.unwrap(), Vec::<Vec<u8>>::new(), "nothing is left of it");
}
