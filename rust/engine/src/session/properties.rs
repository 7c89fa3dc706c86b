//! Sessions on a real store, by random operations: every prompt is within its limit and counted truly, cold and warm views give
//! the same bytes, and every old call is composed again byte for byte after the session went on.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::*;
use crate::context::Framing;
use crate::context::properties::recount;
use crate::context::render::{self, RequestOptions};
use crate::context::segment::SegmentKind;
use crate::context::testing::{Random, nasty, words};
use crate::engine::{Engine, EngineOptions};
use crate::memory::{Kind, NewMemory};
use crate::models::Model;
use crate::scope::{Scope, ScopeType};
use crate::store::Durability;
use crate::tokens::CachedCounter;
use crate::{ErrorKind, Result};

pub(super) struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let parent = if PathBuf::from("/dev/shm").is_dir() { PathBuf::from("/dev/shm") } else { std::env::temp_dir() };
        Self(parent.join(format!("memspan-sessions-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(super) fn engine(path: &std::path::Path) -> Engine {
    let options =
        EngineOptions { durability: Durability::Relaxed, read_only: false, busy_timeout: Duration::from_secs(20), embedding: None, now: 0 };
    Engine::open(path, options).unwrap()
}

const OPTIONS: RequestOptions<'static> = RequestOptions::new(Some("m"), false);
const TOOLS: &[u8] = br#"[{"type":"function","function":{"name":"find","description":"Finds a thing.","parameters":{"type":"object",
    "properties":{"query":{"type":"string","description":"What to find."}},"required":["query"]}}}]"#;

fn body(assembled: &Assembled) -> Vec<u8> {
    render::to_openai(&assembled.prompt, OPTIONS)
}

/// A sent prompt: turn, call, bytes, and whether something in it was erased since.
struct Sent {
    turn: u64,
    call: u16,
    body: Vec<u8>,
    reply: u64,
}

struct Play {
    engine: Engine,
    scope: Scope,
    id: String,
    random: Random,
    now: i64,
    calls: u64,
    sent: Vec<Sent>,
    memories: Vec<String>,
    erased: bool,
}

impl Play {
    fn session(&self) -> Session<'_> {
        Session { engine: &self.engine, scope: &self.scope, id: &self.id }
    }

    fn tick(&mut self) -> i64 {
        self.now += 1_000_000;
        self.now
    }

    fn add(&mut self, json: &serde_json::Value) -> Added {
        let now = self.tick();
        self.session().add(NewMessage::given(json.to_string()), None, now).unwrap()
    }

    fn text(&mut self, most: u64) -> String {
        let size = self.random.below(most) + 1;
        if self.random.chance(30) { nasty(&mut self.random, size / 3 + 1) } else { words(size) }
    }

    fn assemble(&mut self) -> Result<Assembled> {
        let ask = Ask { now: self.now, ..Ask::default() };
        let warm = self.session().assemble(&ask)?;
        self.engine.warm().forget();
        let cold = self.session().assemble(&ask)?;
        assert!(body(&warm) == body(&cold), "what is kept in memory is what is on disk");
        assert_eq!(warm.prompt.chain, cold.prompt.chain);
        let counter = CachedCounter::new(warm.model.encoding);
        assert!(warm.prompt.total_tokens <= warm.prompt.max_input_tokens);
        let dearer = warm.model.framing.per_tool - Framing::GPT_4O.per_tool; // what the recount knows is GPT-4o's price of a tool
        let tools = u64::from(warm.prompt.segments.iter().any(|segment| segment.kind == SegmentKind::Tools));
        let recounted = recount::openai(&body(&warm), &counter) + dearer * tools;
        assert_eq!(warm.prompt.total_tokens, recounted, "the stated total is what is sent");
        Ok(warm)
    }

    /// A turn: user message, perhaps tool rounds, each with a prompt and a reply.
    fn turn(&mut self, size: u64) {
        let text = self.text(size);
        self.add(&serde_json::json!({"role": "user", "content": text}));
        for _ in 0..self.random.below(4) {
            let ids: Vec<String> = (0..=self.random.below(2)).map(|n| format!("call_{}_{n}", self.calls)).collect();
            let calls: Vec<_> = ids
                .iter()
                .map(|id| serde_json::json!({"id": id, "type": "function", "function": {"name": "find", "arguments": "{}"}}))
                .collect();
            self.reply(&serde_json::json!({"role": "assistant", "content": null, "tool_calls": calls}));
            for id in ids {
                if self.random.chance(90) {
                    let text = self.text(4 * size);
                    self.add(&serde_json::json!({"role": "tool", "tool_call_id": id, "content": text}));
                }
            }
            if self.random.chance(10) {
                let now = self.tick();
                self.session().cancel_tool_calls("changed my mind", now).unwrap();
            }
        }
        if self.random.chance(90) {
            let text = self.text(size);
            self.reply(&serde_json::json!({"role": "assistant", "content": text}));
        }
    }

    fn reply(&mut self, message: &serde_json::Value) {
        let assembled = self.assemble().unwrap();
        self.calls += 1;
        let response = serde_json::json!({
            "object": "chat.completion", "id": format!("r{}", self.calls), "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": assembled.prompt.total_tokens, "completion_tokens": 1, "total_tokens": 1},
        });
        let now = self.tick();
        let done = self.session().add_response(response.to_string().as_bytes(), Some(&assembled), now).unwrap();
        assert_eq!(done.added.action, AddAction::Added);
        let again = self.session().add_response(response.to_string().as_bytes(), Some(&assembled), now).unwrap();
        assert_eq!((again.added.action, again.added.index, again.call), (AddAction::Duplicate, done.added.index, done.call));
        self.sent.push(Sent { turn: done.added.turn, call: done.call, body: body(&assembled), reply: done.added.index });
    }

    fn remember(&mut self) {
        let kind = *self.random.pick(&[Kind::Constraint, Kind::Preference, Kind::Profile, Kind::Semantic, Kind::Episodic]);
        let text = self.text(12);
        let text = format!("memory {} {text}", self.calls);
        let now = self.tick();
        let done = self.engine.remember(&self.scope, NewMemory { kind, ..NewMemory::new(text) }, now).unwrap();
        self.memories.push(done.memory.id());
    }

    fn forget(&mut self) {
        if let Some(id) = self.memories.pop() {
            let now = self.tick();
            self.engine.forget(&self.scope, &id, None, now).unwrap();
            self.erased = true;
        }
    }

    fn rewind(&mut self) {
        let messages = self.session().status().unwrap().record.tally.messages;
        let at = messages.saturating_sub(self.random.below(9));
        let now = self.tick();
        self.session().rewind(at, now).unwrap();
        self.sent.retain(|sent| sent.reply < at);
    }

    fn redact(&mut self) {
        let messages = self.session().status().unwrap().record.tally.messages;
        if messages > 0 {
            let (index, now) = (self.random.below(messages), self.now);
            self.session().redact(index, Some("asked to"), now).unwrap();
            self.erased = true;
        }
    }

    fn switch(&mut self) {
        let name = *self.random.pick(&["gpt-4o", "gpt-4", "gpt-3.5-turbo"]);
        let (mut model, now) = (Model::named(name).unwrap(), self.tick());
        model.context_window = 9_000 + self.random.below(4_000);
        let plan = self.session().switch_model(&model, crate::session::NewInstructions::default(), None, now).unwrap();
        let status = self.session().status().unwrap();
        assert_eq!(status.epoch.epoch.origin, plan.kept.origin);
        assert_eq!(&*status.epoch.model.name, name);
    }

    fn fork(&mut self) {
        let messages = self.session().status().unwrap().record.tally.messages;
        let at = messages.saturating_sub(self.random.below(5));
        let (new_id, now) = (format!("{}+", self.id), self.tick());
        self.session().fork(&new_id, Some(at), now).unwrap();
        self.id = new_id;
        self.sent.retain(|sent| sent.reply < at);
        let here = self.session().messages(0, u64::MAX).unwrap();
        assert_eq!(here.len() as u64, at);
    }

    /// Every call that is still there gives back its bytes.
    fn check_ledger(&self) {
        for sent in &self.sent {
            let replayed = self
                .session()
                .sent_prompt(sent.turn, self.session().turn(sent.turn).unwrap().calls[usize::from(sent.call)].id(), self.now)
                .unwrap()
                .unwrap();
            let same = body(&replayed.assembled) == sent.body;
            assert_eq!(same, replayed.same_bytes, "the chain proves the bytes");
            assert!(
                same || self.erased && !replayed.erased.is_empty(),
                "turn {} call {}\n{}\n\n{}",
                sent.turn,
                sent.call,
                String::from_utf8_lossy(&sent.body),
                String::from_utf8_lossy(&body(&replayed.assembled))
            );
        }
    }

    /// The doctor finds nothing.
    fn check_store(&self, seed: u64, step: u64) {
        let report = self.engine.check().unwrap();
        assert!(report.is_sound(), "seed {seed} step {step}: {:#?}", report.findings);
    }

    fn step(&mut self) {
        match self.random.below(20) {
            0..=9 => self.turn(60),
            10..=12 => self.remember(),
            13 => self.forget(),
            14 => self.rewind(),
            15 => self.redact(),
            16 => self.switch(),
            17 => self.fork(),
            18 => {
                let (text, now) = (self.text(9), self.tick());
                let value = serde_json::Value::from(text).to_string();
                assert!(self.session().edit_task("t", TaskEdit::Set("plan".into(), value), None, None, now).unwrap());
            }
            _ => {
                self.add(&serde_json::json!({"role": "system", "content": "a note"}));
            }
        }
    }
}

fn play(seed: u64, steps: u64) {
    let folder = Folder::new();
    let mut random = Random::new(seed);
    let mut model = Model::named("gpt-4o").unwrap();
    model.context_window = 9_000 + random.below(6_000);
    let mut budget = SessionBudget { max_input_tokens: Some(1_500 + random.below(2_500)), ..SessionBudget::default() };
    if seed.is_multiple_of(4) {
        budget.sections.cut_step = crate::context::Share::new(0);
    }
    model.append_only = seed % 5 == 3;
    let scope = Scope::new(None, ScopeType::User, "u").unwrap();
    let engine = engine(&folder.0);
    let mut play = Play { engine, scope, id: "s".into(), random, now: 1, calls: 0, sent: Vec::new(), memories: Vec::new(), erased: false };
    let options = Options {
        model: Some(model),
        system: Some("You help.".into()),
        tools: (!seed.is_multiple_of(3)).then(|| TOOLS.to_vec()),
        budget: Some(budget),
        ..Options::default()
    };
    play.session().open(options, 1).unwrap();
    for step in 0..steps {
        play.step();
        let assembled = play.assemble();
        assert!(assembled.is_ok(), "seed {seed} step {step}: {:?}", assembled.err());
        if step % 10 == 9 {
            play.check_ledger();
            play.check_store(seed, step);
        }
    }
    play.check_ledger();
    play.session().delete(play.now + 1).unwrap();
    assert_eq!(play.session().status().unwrap_err().kind(), ErrorKind::NotFound);
    assert!(play.session().open(Options::default(), play.now).is_err(), "nothing is left of it");
    play.check_store(seed, steps);
}

/// A reply without an id is known by what it says, and people say "OK" more than once.
#[test]
fn the_same_words_are_another_reply_in_another_turn() {
    let folder = Folder::new();
    let (engine, scope) = (engine(&folder.0), Scope::new(None, ScopeType::User, "u").unwrap());
    let session = Session { engine: &engine, scope: &scope, id: "s" };
    session.open(Options { model: Some(Model::named("gpt-4o").unwrap()), ..Options::default() }, 1).unwrap();
    let reply = br#"{"role":"assistant","content":"OK"}"#;
    for turn in 0..3 {
        session.add(NewMessage::given(r#"{"role":"user","content":"go on"}"#), None, 2).unwrap();
        let prompt = session.assemble(&Ask::default()).unwrap();
        for (prompt, action) in [(Some(&prompt), AddAction::Added), (Some(&prompt), AddAction::Duplicate), (None, AddAction::Duplicate)] {
            let done = session.add_response(reply, prompt, 3).unwrap();
            assert_eq!((done.added.index, done.added.action), (2 * turn + 1, action));
        }
    }
}

/// A service names its instructions with every request: unchanged ones must not even wait for the writer lock.
#[test]
fn opening_a_session_as_it_is_writes_nothing() {
    let folder = Folder::new();
    let (engine, scope) = (engine(&folder.0), Scope::new(None, ScopeType::User, "u").unwrap());
    let session = Session { engine: &engine, scope: &scope, id: "s" };
    let options = |system: &str| Options {
        model: Some(Model::named("gpt-4o").unwrap()),
        system: Some(system.into()),
        tools: Some(TOOLS.to_vec()),
        ..Options::default()
    };
    let commits = || engine.store().metrics().snapshot().into_iter().find(|(name, _)| *name == "commits").unwrap().1;
    session.open(options("You help."), 1).unwrap();
    let before = commits();
    assert_eq!(session.open(options("You help."), 2).unwrap().record.epoch, 0);
    assert_eq!(commits(), before);
    assert_eq!(session.open(options("You kill."), 3).unwrap().record.epoch, 1, "as long, and another");
    assert_eq!(commits(), before + 1, "the control: what is new is written");
}

/// The block of a call was counted for the model of that time, and stays in its turn by the count of the present model.
#[test]
fn a_rewind_behind_a_switch_counts_by_the_new_model() {
    let folder = Folder::new();
    let (engine, scope) = (engine(&folder.0), Scope::new(None, ScopeType::User, "u").unwrap());
    let session = Session { engine: &engine, scope: &scope, id: "s" };
    session.open(Options { model: Some(Model::named("gpt-4o").unwrap()), ..Options::default() }, 1).unwrap();
    engine.remember(&scope, NewMemory::new("Окно развёртывания payments-api открыто во вторник утром".to_owned()), 1).unwrap();
    let reply = |message: serde_json::Value| {
        let prompt = session.assemble(&Ask { now: 3, ..Ask::default() }).unwrap();
        let response = serde_json::json!({"choices": [{"message": message, "finish_reason": "stop"}]}).to_string();
        session.add_response(response.as_bytes(), Some(&prompt), 3).unwrap()
    };
    let add = |message: serde_json::Value| session.add(NewMessage::given(message.to_string()), None, 2).unwrap();
    add(serde_json::json!({"role": "user", "content": "когда окно payments-api?"}));
    let call = serde_json::json!({"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}});
    reply(serde_json::json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    add(serde_json::json!({"role": "tool", "tool_call_id": "c", "content": "nothing"}));
    let last = reply(serde_json::json!({"role": "assistant", "content": "во вторник"})).added.index;
    let tokens = || session.status().unwrap().record.sent.expect("a block was sent").tokens;
    let before = tokens();
    session.switch_model(&Model::named("gpt-4").unwrap(), crate::session::NewInstructions::default(), None, 4).unwrap();
    let switched = tokens();
    assert!(switched > before, "the vocabularies differ: {before}, {switched}");
    session.rewind(last, 5).unwrap();
    assert_eq!(tokens(), switched);
    add(serde_json::json!({"role": "user", "content": "thanks"}));
    assert!(engine.check().unwrap().is_sound(), "{:#?}", engine.check().unwrap().findings);
}

#[test]
fn sessions_keep_their_promises_whatever_is_done_to_them() {
    for seed in 0..12 {
        play(seed, 40);
    }
}

#[test]
#[ignore = "long: make soak"]
fn sessions_keep_their_promises_for_long() {
    for seed in 100..400 {
        play(seed, 120);
    }
}
