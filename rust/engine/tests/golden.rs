//! The golden store: bytes that format 1 has had since its first day, and all that must be found in them for ever.
//!
//! `tests/golden/format-1` holds a compacted store and `expected.json`, both made by [`make_it`] with a fixed clock. When this
//! test fails, the format has changed: give it a new number and a migration, and keep this store. Made anew (before a release
//! only) by `cargo test -p memspan-engine --test golden make_it -- --ignored`.

mod support;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use memspan_engine::context::{Factor, Framing};
use memspan_engine::memory::revise::Revision;
use memspan_engine::memory::{Engine, Kind, Memory, NewMemory, Scope, ScopeType};
use memspan_engine::models::Model;
use memspan_engine::session::{self, NewMessage, Options, Session, SessionBudget, TaskEdit};
use memspan_engine::store::pages::Pages;
use memspan_engine::tokens::Encoding;
use serde_json::{Value, json};
use support::{ALL_KINDS, Folder, ask, assert_sound, copy_folder, embed, one, open, options, talk, with_id, with_vector};

/// 1 January 2026, in microseconds since 1970.
const START: i64 = 1_767_225_600_000_000;
const DAY: i64 = 86_400_000_000;

const QUERIES: [&str; 9] =
    ["which port does payments-api use?", "scripting", "allergic", "金曜日", "paragraph1199", "Tuesday", "4711", "port 9077", "cafe"];

fn place() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/format-1")
}

fn scopes() -> [Scope; 3] {
    let scope = |tenant, kind, id| Scope::new(tenant, kind, id).expect("a name");
    [scope(None, ScopeType::User, "u-42"), scope(Some("acme"), ScopeType::User, "u-42"), scope(None, ScopeType::Shared, "handbook")]
}

/// Every kind of record that format 1 knows.
fn fill(engine: &Engine) {
    let [user, tenant, shared] = scopes();
    let mut now = START;
    let mut write = |scope: &Scope, new: NewMemory| {
        now += DAY / 24;
        one(engine, scope, new, now).memory.id()
    };
    write(&user, with_vector("payments-api listens on port 8443 in prod-eu-west-1"));
    write(
        &user,
        NewMemory { slot: Some("scripting-language".into()), kind: Kind::Preference, ..with_vector("Prefers Python for scripting") },
    );
    write(&user, NewMemory { slot: Some("scripting-language".into()), kind: Kind::Preference, ..with_vector("Prefers Go for scripting") });
    let earlier = NewMemory {
        slot: Some("scripting-language".into()),
        occurred_at: Some(START - DAY),
        ..with_vector("Preferred Perl for scripting")
    };
    write(&user, earlier);
    engine.declare_slot(&user, "allergy", true).expect("declared");
    for food in ["peanuts", "milk"] {
        write(&user, NewMemory { slot: Some("Allergy".into()), kind: Kind::Constraint, ..with_vector(&format!("Is allergic to {food}")) });
    }
    let meeting = write(&user, with_id("meeting", "Meets the auditors on Tuesday"));
    let secret = write(&user, with_id("secret", "The door code is 4711"));
    write(&user, NewMemory { ttl: Some(3650 * DAY), ..with_vector("Is on parental leave") });
    let metadata = vec![0x82, 0xa4, b'p', b'a', b'g', b'e', 0x07, 0xa4, b't', b'a', b'g', b's', 0x92, 0xa1, b'a', 0xc0];
    write(
        &user,
        NewMemory { metadata, source: "tool".into(), importance: 0.9, confidence: 0.25, ..with_vector("Deploys with fix/auth-timeout") },
    );
    write(&user, NewMemory::new("A memory whose vector is pending"));
    write(&user, with_vector("東京の会議は金曜日です。Zürich, café, naïve, ΑΒΓ, текст, 😀"));
    let long: Vec<String> = (0..1200).map(|n| format!("paragraph{n}")).collect();
    write(&user, with_vector(&format!("A long text over more than a page: {}", long.join(" "))));
    write(&tenant, with_vector("The other tenant's u-42 prefers Rust"));
    write(&shared, NewMemory { kind: Kind::Decision, ..with_vector("Everybody deploys on Thursdays") });
    for at in 0..140 {
        write(&shared, with_vector(&format!("Rule {at}: service-{} answers on port {}", at % 9, 9000 + at)));
    }
    let text = Some("Meets the auditors on Friday".to_owned());
    let vector = text.as_deref().map(embed);
    let revision = Revision { text, vector, reason: Some("moved".into()), ..Revision::default() };
    engine.revise(&user, &meeting, revision, START + 20 * DAY).expect("revised");
    engine.forget(&user, &secret, Some("asked to"), START + 21 * DAY).expect("forgotten");
    let short = NewMemory { ttl: Some(DAY), ..with_vector("Is in a bad mood") };
    one(engine, &user, short, START + 22 * DAY);
    engine.expire(START + 30 * DAY).expect("expired");
    assert_eq!(ask(engine, &user, "payments-api", 1, START + 31 * DAY).expect("found").len(), 1);
    talk_in(engine, &user);
    engine.flush_accesses().expect("stored");
}

/// Two models that no registry knows, so that its changes change no byte of this store.
fn model(name: &str, encoding: Encoding) -> Model {
    Model {
        name: name.into(),
        context_window: 16_000,
        max_output_tokens: 4_096,
        encoding,
        factor: Factor::EXACT,
        framing: Framing::GPT_4O,
        append_only: false,
        min_cached_tokens: 1_024,
    }
}

/// A session with every kind of record, and its copy: a tool round, an image, a redacted message, calls, a switch of models.
fn talk_in(engine: &Engine, scope: &Scope) {
    let session = Session { engine, scope, id: "s-1" };
    let now = START + 32 * DAY;
    let budget = SessionBudget { max_input_tokens: Some(3_000), ..SessionBudget::default() };
    let tools =
        json!([{"type": "function", "function": {"name": "find", "description": "Finds a thing.", "parameters": {"type": "object"}}}]);
    let options = Options {
        model: Some(model("golden-1", Encoding::O200k)),
        system: Some("You help. 東京".into()),
        tools: Some(tools.to_string().into_bytes()),
        reads: Some(vec![scopes()[2].clone()]),
        budget: Some(budget),
    };
    session.open(options, now).expect("opened");
    let question = talk::said("Which port does payments-api listen on in prod-eu-west-1?").to_string();
    let new = NewMessage { id: Some("m-1".into()), author: Some("Zoë".into()), created_at: Some(now - 5), ..NewMessage::given(question) };
    session.add(new, Some(0), now + 1).expect("added");
    talk::reply(session, Some("r-1"), &talk::calling(&["call-1".into()]), now + 2);
    talk::say(session, &talk::result("call-1", &"It listens on port 8443, and on 9000 for metrics. ".repeat(200)), now + 3);
    talk::reply(session, None, &talk::answered("On 8443."), now + 4);
    talk::say(session, &talk::pictured("And this?", 9_000), now + 5);
    talk::reply(session, Some("r-2"), &talk::answered("A \u{1f600} picture."), now + 6);
    talk::say(session, &talk::said("My password is hunter2"), now + 7);
    session.redact(6, Some("asked to"), now + 8).expect("redacted");
    session.switch_model(&model("golden-2", Encoding::Cl100k), Some("You help, briefly."), None, now + 9).expect("switched");
    talk::reply(session, Some("r-3"), &talk::calling(&["call-2".into(), "call-3".into()]), now + 10);
    session
        .edit_task("review", TaskEdit::Set("plan".into(), "{\"read\": [1, 2]}".into()), Some(now + 400 * DAY), None, now + 11)
        .expect("set");
    session.fork("s-2", Some(6), now + 12).expect("copied");
    Session { engine, scope, id: "s-2" }.end(now + 13).expect("ended");
}

/// All that the sessions of a scope hold: messages as given, the next prompt, and what every call was sent.
fn sessions_json(engine: &Engine, scope: &Scope, now: i64) -> Value {
    let one = |listed: session::Listed| {
        let session = Session { engine, scope, id: &listed.record.id };
        let status = session.status().expect("there");
        let messages = session.messages(0, u64::MAX).expect("read").into_iter().map(|message| {
            let (record, placed) = (&message.record, message.record.placed);
            json!({
                "given": message.given, "turn": placed.turn, "tokens": record.cost.tokens, "tokens_before": placed.tokens_before,
                "redacted": record.state == session::MessageState::Redacted, "added_at": record.added_at, "id": record.id,
                "author": record.author, "created_at": record.created_at, "reason": record.reason, "call": record.call,
            })
        });
        let calls = (0..status.record.tally.turns)
            .flat_map(|turn| session.turn(turn).expect("there").calls.into_iter().map(move |call| (turn, call)));
        let calls = calls.map(|(turn, call)| {
            let replayed = session.sent_prompt(turn, call.number, now).expect("read").expect("known");
            let sent = String::from_utf8(talk::body(&replayed.assembled)).expect("UTF-8");
            let usage = call.usage.map(|usage| String::from_utf8(usage).expect("UTF-8"));
            json!({
                "turn": turn, "reply": call.reply, "response_id": call.response_id, "usage": usage, "sent": sent,
                "same_bytes": replayed.same_bytes,
            })
        });
        let tasks = session.tasks(now).expect("read").into_iter().map(|task| json!({"name": task.name, "entries": task.entries}));
        let found = session::search(engine, scope, "port 9000", 2).expect("found").into_iter();
        let found = found.map(|hit| (hit.session_id, hit.message.record.placed.index));
        json!({
            "id": listed.record.id, "model": &*status.epoch.model.name, "open": status.record.tally.open,
            "messages": messages.collect::<Vec<_>>(), "calls": calls.collect::<Vec<_>>(), "tasks": tasks.collect::<Vec<_>>(),
            "prompt": String::from_utf8(talk::body(&talk::assemble(session, now))).expect("UTF-8"),
            "found": found.collect::<Vec<_>>(),
        })
    };
    session::list(engine, scope, 0, 100).expect("listed").into_iter().map(one).collect()
}

/// A text as JSON.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn list(items: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", items.into_iter().collect::<Vec<_>>().join(", "))
}

fn maybe<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "null".into(), show)
}

fn memory_json(memory: &Memory) -> String {
    let ending = memory.ending.as_ref();
    let metadata: String = memory.metadata.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
    let fields = [
        ("id", quoted(&memory.id())),
        ("text", quoted(&memory.text)),
        ("kind", quoted(memory.kind.name())),
        ("slot", maybe(memory.slot.as_deref(), quoted)),
        ("importance", format!("{:?}", memory.importance)),
        ("confidence", format!("{:?}", memory.confidence)),
        ("trust", memory.trust.to_string()),
        ("source", quoted(&memory.source)),
        ("sequence", memory.sequence.to_string()),
        ("revision", memory.revision.to_string()),
        ("created_at", memory.created_at.to_string()),
        ("known_from", memory.known_from.to_string()),
        ("occurred_at", memory.occurred_at.to_string()),
        ("expires_at", maybe(memory.expires_at, |at| at.to_string())),
        ("metadata", quoted(&metadata)),
        ("supersedes", maybe(memory.supersedes, |number| number.to_string())),
        ("state", quoted(memory.state().name())),
        ("known_until", maybe(ending, |ending| ending.known_until.to_string())),
        ("valid_until", maybe(ending, |ending| ending.valid_until.to_string())),
        ("reason", maybe(ending.and_then(|ending| ending.reason.as_deref()), quoted)),
    ];
    format!("{{{}}}", fields.map(|(name, value)| format!("{}: {value}", quoted(name))).join(", "))
}

/// All that the store holds and answers, as JSON, a memory a line. Times are microseconds since 1970, metadata is `MessagePack` in hex.
fn everything(engine: &Engine) -> String {
    let now = START + 40 * DAY;
    let scopes = engine.scopes(0, 100).expect("scopes").into_iter().map(|(_, scope)| {
        let memories = engine.memories(&scope, 0, usize::MAX, ALL_KINDS, now).expect("listed");
        let histories = ["meeting", "secret", "mem-1", "mem-3", "mem-15"].map(|id| {
            let history = engine.history(&scope, id, 0).unwrap_or_default();
            format!("\n{}: {}", quoted(id), list(history.iter().map(|memory| format!("\n{}", memory_json(memory)))))
        });
        let slots = engine.slots(&scope, None, now).expect("slots").into_iter().map(|(slot, holders)| {
            format!("\n{}: {}", quoted(&slot.name), list(holders.iter().map(|memory| quoted(&memory.id()))))
        });
        let answers = QUERIES.map(|query| {
            let found = ask(engine, &scope, query, 3, now).expect("answered");
            format!("\n{}: {}", quoted(query), list(found.iter().map(|text| quoted(text))))
        });
        format!(
            "\n{{\"tenant\": {}, \"type\": {}, \"id\": {},\n\"memories\": {},\n\"history\": {{{}}},\n\"slots\": {{{}}},\n\"recall\": {{{}}},\n\"sessions\": {:#}}}",
            maybe(scope.tenant.as_deref(), quoted),
            quoted(scope.scope_type.name()),
            quoted(&scope.id),
            list(memories.iter().map(|memory| format!("\n{}", memory_json(memory)))),
            histories.join(","),
            slots.collect::<Vec<_>>().join(","),
            answers.join(","),
            sessions_json(engine, &scope, now),
        )
    });
    let scopes = list(scopes);
    let contents = engine.contents().expect("contents");
    format!("{{\"memories\": {}, \"vectors\": {}, \"scopes\": {scopes}}}\n", contents.memories, contents.vectors)
}

/// Every key and value of a store.
fn values(engine: &Engine) -> Vec<(Vec<u8>, Vec<u8>)> {
    let read = engine.store().read(|snapshot| {
        let mut found = Vec::new();
        snapshot.scan(&[0], &[255; 32], &mut |key, value| {
            found.push((key.to_vec(), value.to_vec()));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    });
    read.expect("read")
}

#[test]
fn everything_in_the_golden_store_is_found() {
    let copy = Folder::new();
    copy_folder(&place().join("store"), &copy.0);
    let expected = std::fs::read_to_string(place().join("expected.json")).expect("expected.json");
    let engine = open(&copy.0, true);
    let found = everything(&engine);
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found, expected);
    assert_sound(&engine);
    one(&engine, &scopes()[0], with_vector("written to a copy of the golden store"), START + 50 * DAY);
    engine.compact().expect("compacted");
    assert_sound(&engine);
}

#[test]
fn the_same_writes_give_the_same_bytes() {
    let (source, golden) = (Folder::new(), Folder::new());
    let engine = open(&source.0, true);
    fill(&engine);
    copy_folder(&place().join("store"), &golden.0);
    let (made, golden) = (values(&engine), values(&open(&golden.0, true)));
    for (made, golden) in made.iter().zip(&golden) {
        assert!(made == golden, "the value at {:02x?} differs from that at {:02x?}", made.0, golden.0);
    }
    assert_eq!(made.len(), golden.len());
}

#[test]
#[ignore = "makes the golden store anew: only when the format has not been released yet"]
fn make_it() {
    let source = Folder::new();
    let engine = Engine::open(&source.0, options(true)).expect("open");
    fill(&engine);
    let store = place().join("store");
    let _ = std::fs::remove_dir_all(&store);
    engine.backup(&store).expect("backup");
    for lock in ["lock", "open", "gen-1/lock.mdb"] {
        let _ = std::fs::remove_file(store.join(lock));
    }
    std::fs::write(place().join("expected.json"), everything(&engine)).expect("written");
}
