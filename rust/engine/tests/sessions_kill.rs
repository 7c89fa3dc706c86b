//! kill -9 at random points while two processes talk in their sessions: what was acknowledged is there, what was under way is
//! there whole or not at all, every prompt is one that a provider takes, and every old one is composed again byte for byte.

mod support;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};

use memspan_engine::ErrorKind;
use memspan_engine::engine::Engine;
use memspan_engine::memory::NewMemory;
use memspan_engine::scope::Scope;
use memspan_engine::session::{self, MessageState, NewMessage, Session};
use serde_json::{Value, json};
use support::talk::{answered, assemble, begin, body, calling, completion, interrupted, pictured, result, said};
use support::{Chance, Folder, assert_sound, one, open, role, spawn, user};

/// What the session of a writer should hold.
#[derive(Debug, Clone, Default, PartialEq)]
struct Talk {
    /// The messages as they were given; `None` once redacted.
    messages: Vec<Option<String>>,
    /// Of every call: its turn, its number, the hash of what was sent, its reply.
    calls: Vec<(u64, u64, u64, u64)>,
    redacted: bool,
}

/// All sessions of a writer, by id.
type Talks = BTreeMap<String, Talk>;

fn text(value: &Value) -> String {
    value.as_str().expect("a text").to_owned()
}

fn number(value: &Value) -> u64 {
    value.as_u64().expect("a number")
}

/// What an operation makes of the sessions; `done` is what it answered, where it did.
fn apply(talks: &mut Talks, operation: &Value, done: Option<&Value>) {
    let id = text(&operation["id"]);
    let talk = talks.entry(id.clone()).or_default();
    match operation["do"].as_str().expect("an operation") {
        "begin" => {}
        "add" => talk.messages.extend(operation["messages"].as_array().expect("a list").iter().map(|message| Some(message.to_string()))),
        "reply" => {
            talk.messages.push(Some(operation["message"].to_string()));
            let call =
                done.map(|done| (number(&done["turn"]), number(&done["call"]), number(&done["hash"]), talk.messages.len() as u64 - 1));
            talk.calls.extend(call);
        }
        "rewind" => {
            talk.messages.truncate(number(&operation["index"]) as usize);
            talk.calls.retain(|call| call.3 < talk.messages.len() as u64);
        }
        "redact" => {
            // It goes from every copy too: no two messages of a writer say the same.
            let index = number(&operation["index"]) as usize;
            let given = talk.messages[index].clone();
            for talk in talks.values_mut().filter(|talk| talk.messages.get(index) == Some(&given)) {
                talk.messages[index] = None;
                talk.redacted = true;
            }
        }
        "fork" => {
            let (mut copy, at) = (talk.clone(), number(&operation["at"]));
            copy.messages.truncate(at as usize);
            copy.calls.retain(|call| call.3 < at);
            talks.insert(text(&operation["copy"]), copy);
        }
        "delete" => drop(talks.remove(&id)),
        other => panic!("no operation {other}"),
    }
}

/// What was acknowledged, the same with the operation that was under way, and how many were acknowledged.
fn read_log(path: &Path) -> (Talks, Talks, usize) {
    let (mut talks, mut count, mut pending) = (Talks::new(), 0, None);
    for line in std::fs::read_to_string(path).unwrap_or_default().lines() {
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue }; // cut off in the middle
        if let Some(done) = line.get("done") {
            apply(&mut talks, &pending.take().expect("begun"), Some(done));
            count += 1;
        } else {
            pending = Some(line);
        }
    }
    let mut perhaps = talks.clone();
    if let Some(pending) = &pending {
        apply(&mut perhaps, pending, None);
    }
    (talks, perhaps, count)
}

/// A writer: one session that goes on, copies of it that come and go, each operation noted before and after.
struct Writer<'e> {
    engine: &'e Engine,
    scope: &'e Scope,
    name: String,
    talks: Talks,
    log: File,
    chance: Chance,
    now: i64,
    made: u64,
}

impl Writer<'_> {
    fn note(&mut self, line: &Value) {
        writeln!(self.log, "{line}").expect("noted");
    }

    fn session<'s>(&'s self, id: &'s str) -> Session<'s> {
        Session { engine: self.engine, scope: self.scope, id }
    }

    fn run(&mut self, operation: &Value, act: impl FnOnce(&Self, i64) -> Value) {
        self.note(operation);
        self.now += 1;
        let done = act(self, self.now);
        apply(&mut self.talks, operation, Some(&done));
        self.note(&json!({ "done": done }));
    }

    fn begin(&mut self) {
        let id = self.name.clone();
        self.run(&json!({"do": "begin", "id": id}), |writer, now| {
            begin(writer.session(&id), now);
            json!(true)
        });
    }

    fn words(&mut self) -> String {
        self.made += 1;
        let most = if self.chance.one_in(6) { 400 } else { 30 };
        let words = "which port does payments-api listen on ".repeat(1 + self.chance.below(most) / 6);
        format!("{} {} {words}", self.name, self.made)
    }

    fn add(&mut self, id: &str, messages: &[Value]) {
        let operation = json!({"do": "add", "id": id, "messages": messages});
        self.run(&operation, |writer, now| {
            let new = messages.iter().map(|message| NewMessage::given(message.to_string())).collect();
            let added = writer.session(id).add_many(new, now).expect("added");
            json!(added.last().map(|added| added.index))
        });
    }

    fn reply(&mut self, id: &str, message: &Value) {
        self.run(&json!({"do": "reply", "id": id, "message": message}), |writer, now| {
            let prompt = assemble(writer.session(id), now);
            let replied = writer.session(id).add_response(completion(None, message).as_bytes(), Some(&prompt), now).expect("added");
            json!({"turn": replied.added.turn, "call": replied.call, "hash": hash(&body(&prompt))})
        });
    }

    fn turn(&mut self, id: &str) {
        let words = self.words();
        let message = if self.chance.one_in(5) { pictured(&words, 20_000 + self.chance.below(400_000)) } else { said(&words) };
        self.add(id, &[message]);
        for _ in 0..self.chance.below(3) {
            self.made += 1;
            let ids: Vec<String> = (0..=self.chance.below(2)).map(|at| format!("{}-{}-{at}", self.name, self.made)).collect();
            self.reply(id, &calling(&ids));
            let words = self.words();
            let results: Vec<Value> = ids.iter().map(|call| result(call, &words)).collect();
            if self.chance.one_in(2) {
                self.add(id, &results);
            } else {
                for result in results {
                    self.add(id, &[result]);
                }
            }
        }
        let words = self.words();
        self.reply(id, &answered(&words));
    }

    fn step(&mut self) {
        let ids: Vec<String> = self.talks.keys().cloned().collect();
        let id = ids[self.chance.below(ids.len())].clone();
        let messages = self.talks[&id].messages.len();
        match self.chance.below(12) {
            0..=6 => self.turn(&id),
            7 => {
                let index = messages.saturating_sub(self.chance.below(4));
                self.run(&json!({"do": "rewind", "id": id, "index": index}), |writer, now| {
                    writer.session(&id).rewind(index as u64, now).expect("taken back");
                    json!(true)
                });
            }
            8 if messages > 0 => {
                let index = self.chance.below(messages);
                self.run(&json!({"do": "redact", "id": id, "index": index}), |writer, now| {
                    json!(writer.session(&id).redact(index as u64, Some("asked to"), now).expect("redacted"))
                });
            }
            9 | 10 if ids.len() < 4 => {
                let (at, copy) = (messages.saturating_sub(self.chance.below(5)), format!("{}+{}", self.name, self.made));
                self.made += 1;
                self.run(&json!({"do": "fork", "id": id, "copy": copy, "at": at}), |writer, now| {
                    writer.session(&id).fork(&copy, Some(at as u64), now).expect("copied");
                    json!(true)
                });
            }
            _ if id != self.name => self.run(&json!({"do": "delete", "id": id}), |writer, now| {
                writer.session(&id).delete(now).expect("deleted");
                json!(true)
            }),
            _ => {}
        }
    }
}

/// FNV-1a.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// The child: writes until it is killed.
fn write(store: &Path, name: &str) {
    let (engine, scope) = (open(store, false), user("everyone"));
    let log = File::create(store.with_extension(name)).expect("a log");
    let seed = hash(name.as_bytes());
    let talks = Talks::new();
    let mut writer = Writer { engine: &engine, scope: &scope, name: name.into(), talks, log, chance: Chance(seed), now: 10, made: 0 };
    writer.begin();
    for at in 0.. {
        writer.step();
        if at % 8 == 0 {
            one(&engine, &scope, NewMemory::new(format!("{name} learnt that payments-api listens on port {at}")), at);
        }
    }
}

fn stored(engine: &Engine, scope: &Scope, name: &str) -> Talks {
    let mut talks = Talks::new();
    for listed in session::list(engine, scope, &session::Listing { limit: usize::MAX, ..session::Listing::default() }).expect("listed") {
        let id = listed.record.id;
        if id == name || id.starts_with(&format!("{name}+")) {
            let messages = Session { engine, scope, id: &id }.messages(0, u64::MAX).expect("read");
            let given = |message: session::StoredMessage| (message.record.state == MessageState::Given).then_some(message.given);
            talks.insert(id, Talk { messages: messages.into_iter().map(given).collect(), ..Talk::default() });
        }
    }
    talks
}

fn same(found: &Talks, expected: &Talks) -> bool {
    let messages = |talks: &Talks| talks.iter().map(|(id, talk)| (id.clone(), talk.messages.clone())).collect::<Vec<_>>();
    messages(found) == messages(expected)
}

const NOW: i64 = 1_000_000;

/// Fails unless the store holds what a writer was told that it does; what it should hold.
fn verify(engine: &Engine, scope: &Scope, name: &str, log: &Path) -> Talks {
    let (acknowledged, perhaps, _) = read_log(log);
    let found = stored(engine, scope, name);
    let which = [acknowledged, perhaps].into_iter().find(|talks| same(&found, talks));
    let talks = which.unwrap_or_else(|| panic!("{name}: neither what was acknowledged nor that and the last operation"));
    for (id, talk) in &talks {
        let session = Session { engine, scope, id };
        let waiting = session.status().expect("there").record.tally.open.len();
        let prompt = body(&assemble(session, NOW));
        assert!(interrupted(&prompt) >= waiting, "{id}: what was interrupted is shown as that");
        for (turn, call, sent, _) in &talk.calls {
            let sent_by = session.turn(*turn).expect("there").calls[*call as usize].id();
            let replayed = session.sent_prompt(*turn, sent_by, NOW).expect("read").expect("it is known what was sent");
            let same = hash(&body(&replayed.assembled)) == *sent;
            // A prompt may show what another session said, which may have been taken back since: then it says what is gone.
            assert!(same || !replayed.erased.is_empty(), "{id}: turn {turn}, call {call} was sent something else");
        }
    }
    talks
}

/// A session whose process died goes on: its open calls are closed, and their late results refused.
fn go_on(engine: &Engine, scope: &Scope, talks: &Talks) -> usize {
    let mut waited = 0;
    for id in talks.keys() {
        let session = Session { engine, scope, id };
        let open = session.status().expect("there").record.tally.open;
        session.add(NewMessage::given(said("go on").to_string()), None, NOW).expect("added");
        if let Some(call) = open.first() {
            let late = session.add(NewMessage::given(result(call, "late").to_string()), None, NOW);
            assert_eq!(late.expect_err("it is too late").kind(), ErrorKind::ToolCallClosed);
            waited += 1;
        }
        interrupted(&body(&assemble(session, NOW)));
    }
    waited
}

/// A child that does not outlive a test that fails.
struct Doomed(Child);

impl Doomed {
    fn kill(mut self) {
        assert!(self.0.try_wait().expect("asked").is_none(), "it was to die of the signal, not of an error");
        self.0.kill().expect("killed");
        self.0.wait().expect("gone");
    }
}

impl Drop for Doomed {
    fn drop(&mut self) {
        let _ = self.0.kill();
    }
}

/// Waits until each has written some lines. A busy machine may take long to start a process.
fn wait_for_lines(logs: &[PathBuf], lines: usize) {
    let started = Instant::now();
    while !logs.iter().all(|log| std::fs::read_to_string(log).is_ok_and(|log| log.lines().count() > lines)) {
        assert!(started.elapsed() < Duration::from_secs(300), "the writers do not write");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Rounds of writing and killing on one store; how many operations were acknowledged, and how many sessions died with open calls.
fn rounds(test: &str, rounds: usize, seed: u64) -> (usize, usize) {
    let (folder, mut chance) = (Folder::new(), Chance(seed));
    let scope = user("everyone");
    drop(open(&folder.0, false));
    let (mut acknowledged, mut waited) = (0, 0);
    for round in 0..rounds {
        let names = ["a", "b"].map(|letter| format!("{letter}{seed}-{round}"));
        let children: Vec<Doomed> = names.iter().map(|name| Doomed(spawn(test, name, &folder.0))).collect();
        let logs: Vec<_> = names.iter().map(|name| folder.0.with_extension(name)).collect();
        wait_for_lines(&logs, 8);
        for child in children {
            std::thread::sleep(Duration::from_millis(chance.below(400) as u64));
            child.kill();
        }
        let engine = open(&folder.0, false);
        assert_sound(&engine);
        for (name, log) in names.iter().zip(&logs) {
            let talks = verify(&engine, &scope, name, log);
            acknowledged += read_log(log).2;
            waited += go_on(&engine, &scope, &talks);
            let _ = std::fs::remove_file(log);
        }
        assert_sound(&engine);
        session::sweep(&engine, i64::MAX / 2).expect("swept");
        assert_sound(&engine);
    }
    (acknowledged, waited)
}

#[test]
fn no_acknowledged_message_is_lost() {
    if let Some((name, store)) = role() {
        return write(&store, &name);
    }
    let (acknowledged, _) = rounds("no_acknowledged_message_is_lost", 3, 1);
    assert!(acknowledged >= 3 * 2 * 4, "{acknowledged}");
}

#[test]
#[ignore = "long: make soak"]
fn no_acknowledged_message_is_lost_for_long() {
    if let Some((name, store)) = role() {
        return write(&store, &name);
    }
    let (mut acknowledged, mut waited) = (0, 0);
    for seed in 10..20 {
        let (more, died) = rounds("no_acknowledged_message_is_lost_for_long", 10, seed);
        (acknowledged, waited) = (acknowledged + more, waited + died);
    }
    assert!(acknowledged > 1_000 && waited > 10, "{acknowledged} operations, {waited} died with open calls");
}

/// The control: the harness finds one message that is missing, and one that is not what it was.
#[test]
fn a_store_that_lost_a_message_is_found_out() {
    let folder = Folder::in_memory();
    let (engine, scope) = (open(&folder.0, false), user("everyone"));
    let path = folder.0.with_extension("c");
    let log = File::create(&path).expect("a log");
    let (chance, talks) = (Chance(5), Talks::new());
    let mut writer = Writer { engine: &engine, scope: &scope, name: "c".into(), talks, log, chance, now: 10, made: 0 };
    writer.begin();
    (0..6).for_each(|_| writer.turn("c"));
    let talks = verify(&engine, &scope, "c", &path);
    let session = Session { engine: &engine, scope: &scope, id: "c" };
    let last = talks["c"].messages.len() as u64 - 1;
    let looks = || std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| verify(&engine, &scope, "c", &path)));
    session.rewind(last - 1, 100).expect("taken back");
    assert!(looks().is_err(), "two messages less than were acknowledged");
    for message in &talks["c"].messages[last as usize - 1..] {
        session.add(NewMessage::given(message.clone().expect("given")), None, 101).expect("added");
    }
    assert!(looks().is_err(), "the messages are there again, and what their calls were sent is not");
    let _ = std::fs::remove_file(path);
}
