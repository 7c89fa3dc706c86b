//! A session without a store: does what `add`, `assemble` and `add_response` do, and checks each prompt.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde_json::Value;

use super::super::block::{self, stays};
use super::super::segment::SegmentKind;
use super::super::testing::{Random, WordCounter, nasty, words};
use super::super::*;
use super::recount;

pub(super) const FRAMING: Framing = Framing::GPT_4O;
const TOOLS: &[u8] = br#"[{"type":"function","function":{"name":"find","description":"Finds a thing.","parameters":{"type":"object",
    "properties":{"query":{"type":"string","description":"What to find."},"place":{"type":"string","enum":["here","there"]}},"required":["query"]}}}]"#;

pub(super) struct Session {
    pub(super) random: Random,
    pub(super) transcript: Held,
    pub(super) fixed: Fixed,
    pub(super) epoch: Epoch,
    pub(super) budget: Budget,
    pub(super) limit: u64,
    pub(super) append_only: bool,
    /// How many prompts are made for one that is checked to the last byte.
    pub(super) check_every: u64,
    /// A prompt of the newest turn was sent, with this block; perhaps none.
    sent: bool,
    block: Option<Arc<Block>>,
    prompts: u64,
    calls: u64,
    previous: Option<(u64, Prompt)>,
}

/// A transcript that knows the tokens of the block that its newest turn was sent with.
#[derive(Default)]
pub(super) struct Held {
    transcript: Transcript,
    held: u64,
}

impl Deref for Held {
    type Target = Transcript;

    fn deref(&self) -> &Transcript {
        &self.transcript
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut Transcript {
        &mut self.transcript
    }
}

impl History for Held {
    fn messages(&self) -> u64 {
        self.transcript.messages()
    }

    fn turns(&self) -> u64 {
        self.transcript.turns()
    }

    fn turn_start(&self, turn: u64) -> crate::Result<u64> {
        self.transcript.turn_start(turn)
    }

    fn tokens_before(&self, index: u64) -> crate::Result<u64> {
        self.transcript.tokens_before(index)
    }

    fn turn_around(&self, index: u64) -> crate::Result<Option<u64>> {
        self.transcript.turn_around(index)
    }

    fn is_answered(&self) -> crate::Result<bool> {
        self.transcript.is_answered()
    }

    fn message(&self, index: u64) -> crate::Result<Arc<Stored>> {
        self.transcript.message(index)
    }

    fn kept_block(&self, turn: u64) -> crate::Result<Option<Arc<Block>>> {
        self.transcript.kept_block(turn)
    }

    fn held(&self) -> u64 {
        self.held
    }
}

impl Session {
    pub(super) fn new(seed: u64, limit: u64, budget: Budget, tools: bool) -> Self {
        let tools = tools.then(|| FixedTools::new(Tools::parse(TOOLS).unwrap().unwrap(), &FRAMING, &WordCounter));
        let system = Some(FixedText::system("You help.", &FRAMING, &WordCounter));
        let fixed = Fixed { tools, system, ..Fixed::default() };
        let transcript = Held::default();
        let opening = opening(None, Reason::Began, &fixed);
        let epoch = Epoch::open(opening, limit, &budget, &transcript, 0).unwrap();
        let random = Random::new(seed);
        Self {
            random,
            transcript,
            fixed,
            epoch,
            budget,
            limit,
            append_only: false,
            check_every: 1,
            sent: false,
            block: None,
            prompts: 0,
            calls: 0,
            previous: None,
        }
    }

    /// The steps of `add`: the block of the turn before stays or goes, the message is placed, the epoch may end.
    pub(super) fn add(&mut self, message: Message) {
        if message.opens_turn() {
            self.end_turn();
        }
        self.transcript.push(message, &FRAMING, &WordCounter).unwrap();
        let pending = self.pending();
        let window = self.epoch.window(self.limit, &self.budget, &self.transcript, pending).unwrap();
        if self.budget.cut_step.millionths() > 0 && self.epoch.is_over(&window) {
            self.new_epoch(Reason::Cut);
        }
    }

    fn pending(&self) -> u64 {
        let held = self.block.as_ref().filter(|_| self.append_only).map_or(0, |block| block.tokens);
        held + self.transcript.tally().pending_tokens(&FRAMING, &WordCounter)
    }

    fn end_turn(&mut self) {
        (self.sent, self.transcript.held) = (false, 0);
        let Some(block) = self.block.take() else { return };
        let start = self.transcript.turn_start(self.transcript.turns() - 1).unwrap();
        let after = self.transcript.tally().tokens - self.transcript.tokens_before(start).unwrap();
        if stays(block.tokens, after, self.append_only) && self.budget.order == Order::CacheFirst {
            self.transcript.keep_block(block);
        }
    }

    /// A new snapshot of what is pinned: one more preference each time.
    pub(super) fn new_epoch(&mut self, reason: Reason) {
        let items = (0..=self.epoch.number % 4).map(|n| item("pinned", &format!("prefers {n}"), n, None)).collect();
        self.fixed.pinned = FixedText::pinned(items, &FRAMING, &WordCounter);
        let pending = self.pending();
        let opening = opening(Some(&self.epoch), reason, &self.fixed);
        self.epoch = Epoch::open(opening, self.limit, &self.budget, &self.transcript, pending).unwrap();
    }

    pub(super) fn inputs<'a>(&'a self, volatile: Volatile<'a>) -> Inputs<'a> {
        Inputs {
            framing: &FRAMING,
            counter: &WordCounter,
            limit: self.limit,
            output_tokens: 500,
            budget: &self.budget,
            epoch: &self.epoch,
            fixed: &self.fixed,
            history: &self.transcript,
            volatile,
            append_only: self.append_only,
            bounds: None,
        }
    }

    /// The steps of `assemble`, and of `add_response` on the ledger.
    pub(super) fn assemble(&mut self) -> Prompt {
        let candidates = self.candidates();
        self.assemble_with(&candidates)
    }

    pub(super) fn assemble_with(&mut self, candidates: &[Item]) -> Prompt {
        let sent = self.block.as_ref().map_or_else(Vec::new, |block| block.items.clone());
        // In an epoch that began since then a block is chosen anew.
        let goes_on = self.sent && self.previous.as_ref().is_some_and(|(epoch, _)| *epoch == self.epoch.number);
        let volatile = if goes_on { Volatile::Frozen(&sent) } else { Volatile::Fresh(candidates) };
        let prompt = compose(&self.inputs(volatile)).unwrap();
        self.prompts += 1;
        if self.prompts.is_multiple_of(self.check_every) {
            let again = compose(&self.inputs(volatile)).unwrap();
            assert!(render::to_openai(&prompt, OPTIONS) == render::to_openai(&again, OPTIONS), "same inputs, same bytes");
            check(&prompt);
            self.check_prefix(&prompt);
            self.check_replay(&prompt);
        }
        self.sent = self.transcript.messages() > 0 && self.is_open();
        self.block = prompt.block.clone().filter(|_| self.sent);
        self.transcript.held = self.block.as_ref().map_or(0, |block| block.tokens);
        self.previous = Some((self.epoch.number, prompt.clone()));
        prompt
    }

    fn is_open(&self) -> bool {
        let newest = self.transcript.turn_start(self.transcript.turns() - 1).unwrap();
        let answers = |message: &Message| message.role == Role::Assistant && message.tool_calls().next().is_none();
        (newest..self.transcript.messages()).all(|index| !answers(&self.transcript.message(index).unwrap().message))
    }

    /// Within an epoch a prompt begins with the bytes of the one before, up to that one's boundary. Only where a round that
    /// cannot be shortened leaves an append-only block no room does the limit come first.
    fn check_prefix(&self, prompt: &Prompt) {
        let Some((epoch, previous)) = &self.previous else { return };
        if *epoch != self.epoch.number || self.budget.cut_step.millionths() == 0 || self.budget.order == Order::Classic {
            return;
        }
        if self.append_only && prompt.explained.iter().any(|line| matches!(line.why, Why::OverRoom { .. })) {
            return;
        }
        let Some(boundary) = previous.boundary() else { return };
        let bytes = render::openai_prefix(&previous.segments[..boundary.segments], OPTIONS.model, prompt.shape);
        assert!(render::to_openai(prompt, OPTIONS).starts_with(&bytes), "the boundary of the call before does not hold");
        assert_eq!(prompt.chain[boundary.segments], boundary.hash);
    }

    /// The ledger's record is enough to make the same bytes again.
    fn check_replay(&self, prompt: &Prompt) {
        let items = prompt.block.as_ref().map_or(&[][..], |block| &block.items);
        let replayed = compose(&self.inputs(Volatile::Sent(items, prompt.set_aside))).unwrap();
        assert!(render::to_openai(&replayed, OPTIONS) == render::to_openai(prompt, OPTIONS), "an old call gives the same bytes");
        assert_eq!((&replayed.chain, &replayed.breakpoints), (&prompt.chain, &prompt.breakpoints));
    }

    pub(super) fn candidates(&mut self) -> Vec<Item> {
        let mut items = Vec::new();
        for section in ["task", "recalled", "recalled", "recalled", "notes", "retrieved", "retrieved", "newer"] {
            if self.random.chance(60) {
                let pieces = self.random.below(12);
                let text = nasty(&mut self.random, pieces);
                let score = self.random.chance(80).then(|| self.random.below(1_000) as i64);
                items.push(item(section, &text, self.random.below(20), score));
            }
        }
        items
    }

    /// One turn of the conversation, with a prompt before each message of the model.
    pub(super) fn turn(&mut self, size: u64, mut each: impl FnMut(&Self, &Prompt)) {
        let text = if self.random.chance(50) { words(self.random.below(size) + 1) } else { nasty(&mut self.random, 5) };
        let mut message = Message::text(Role::User, &text);
        message.name = self.random.chance(20).then(|| "ada".into());
        self.add(message);
        let rounds = if self.fixed.tools.is_some() { self.random.below(4) } else { 0 };
        for _ in 0..rounds {
            let prompt = self.assemble();
            each(self, &prompt);
            self.round(size);
        }
        if self.random.chance(95) {
            let prompt = self.assemble();
            each(self, &prompt);
            let reply = words(self.random.below(size));
            self.add(Message::text(Role::Assistant, &reply));
        }
    }

    pub(super) fn round(&mut self, size: u64) {
        let ids: Vec<String> = (0..=self.random.below(3)).map(|n| format!("call_{}_{n}", self.calls)).collect();
        self.calls += 1;
        let call = |id: &String| {
            Part::ToolCall(message::ToolCall {
                id: id.as_str().into(),
                name: "find".into(),
                arguments: "{\"query\":\"x\"}".into(),
                custom: false,
            })
        };
        self.add(Message { role: Role::Assistant, name: None, parts: ids.iter().map(call).collect() });
        for id in ids {
            if self.random.chance(90) {
                let pieces = self.random.below(size / 4 + 2);
                let text = nasty(&mut self.random, pieces);
                self.add(Message::tool_result(&id, &text, false));
            }
        }
    }
}

pub(super) const OPTIONS: render::RequestOptions<'static> = render::RequestOptions::new(Some("m"), false);

fn opening<'a>(previous: Option<&'a Epoch>, reason: Reason, fixed: &Fixed) -> Opening<'a> {
    let fixed_tokens = fixed.tokens(&FRAMING);
    Opening { previous, reason, origin: 0, pinned: Vec::new(), versions: [0, 1, 1], factor: Factor::EXACT, fixed_tokens }
}

pub(in super::super) fn item(section: &str, text: &str, memory: u64, score: Option<i64>) -> Item {
    let memory = matches!(section, "recalled" | "pinned").then_some(MemoryRef { partition: 1, memory, revision: 1 });
    Item {
        section: section.into(),
        id: "i".into(),
        attributes: vec![("kind".into(), text.chars().take(9).collect::<String>().into())],
        text: text.into(),
        memory,
        message: None,
        document: None,
        form: crate::context::Form::default(),
        score,
    }
}

/// The rows of the history and of the newest turn add up to their messages.
fn check_explained_messages(prompt: &Prompt) {
    let messages = prompt.segments.iter().filter(|segment| segment.kind == SegmentKind::Message).map(|segment| segment.tokens).sum::<u64>();
    let of_messages = |row: &&Explained| row.why.is_included() && row.memory.is_none() && row.id.starts_with("message");
    let rows: Vec<&Explained> = prompt.explained.iter().filter(of_messages).collect();
    assert!(rows.iter().all(|row| ["history", "turn"].contains(&&*row.section)));
    assert_eq!(rows.iter().map(|row| row.tokens).sum::<u64>(), messages);
    let turn: u64 = rows.iter().filter(|row| &*row.section == "turn").map(|row| row.tokens).sum();
    let used = prompt.sections.iter().find(|section| &*section.name == "turn").map_or(0, |section| section.tokens);
    assert!(turn <= used && (turn == used || turn == 0), "{turn} of {used}: a block alone has a frame of its own");
}

/// The properties of every prompt.
pub(super) fn check(prompt: &Prompt) {
    let body = render::to_openai(prompt, OPTIONS);
    assert!(prompt.total_tokens <= prompt.max_input_tokens);
    assert_eq!(prompt.total_tokens, recount::openai(&body, &WordCounter), "the stated total is what is sent");
    assert_eq!(prompt.sections.iter().map(|section| section.tokens).sum::<u64>(), prompt.total_tokens);
    check_explained_messages(prompt);
    assert!(prompt.breakpoints.len() <= 4 && prompt.exact);
    check_openai_pairs(&body);
    check_anthropic(&render::to_anthropic(prompt, OPTIONS));
    check_block(prompt, &body);
    assert!(!render::to_text(prompt).is_empty());
}

/// Each call is followed by its result, and each result follows its call.
fn check_openai_pairs(body: &[u8]) {
    let request: Value = serde_json::from_slice(body).unwrap();
    let mut waiting: Vec<String> = Vec::new();
    for message in request["messages"].as_array().unwrap() {
        if message["role"] == "tool" {
            let text = message["content"].to_string();
            assert!(["<|", "</context>", "\u{202e}", "\nHuman:"].iter().all(|token| !text.contains(token)), "{text}");
            let id = message["tool_call_id"].as_str().unwrap();
            let at = waiting.iter().position(|waiting| waiting == id).expect("a result without its call");
            waiting.remove(at);
            continue;
        }
        assert!(waiting.is_empty(), "calls without results: {waiting:?}");
        waiting = message["tool_calls"].as_array().into_iter().flatten().map(|call| call["id"].as_str().unwrap().to_owned()).collect();
    }
    assert!(waiting.is_empty(), "calls without results: {waiting:?}");
}

/// Roles alternate, calls stand last and their results first in the next message, at most four breakpoints.
pub(super) fn check_anthropic(body: &[u8]) {
    let request: Value = serde_json::from_slice(body).unwrap();
    let mut waiting: Vec<String> = Vec::new();
    let ids = |blocks: &[Value], kind: &str, key: &str| -> Vec<String> {
        blocks.iter().filter(|block| block["type"] == kind).map(|block| block[key].as_str().unwrap().to_owned()).collect()
    };
    for (index, message) in request["messages"].as_array().unwrap().iter().enumerate() {
        assert_eq!(message["role"], if index % 2 == 0 { "user" } else { "assistant" });
        let blocks = message["content"].as_array().unwrap();
        assert!(!blocks.is_empty());
        let results = ids(blocks, "tool_result", "tool_use_id");
        let sorted = |ids: &[String]| {
            let mut ids = ids.to_vec();
            ids.sort();
            ids
        };
        assert_eq!(sorted(&results), sorted(&waiting));
        assert!(blocks[..results.len()].iter().all(|block| block["type"] == "tool_result"), "results stand first");
        waiting = ids(blocks, "tool_use", "id");
        assert!(blocks[blocks.len() - waiting.len()..].iter().all(|block| block["type"] == "tool_use"), "calls stand last");
        assert!(blocks.iter().all(|block| block["type"] != "text" || !block["text"].as_str().unwrap().trim().is_empty()));
    }
    assert!(waiting.is_empty());
    assert!(request["max_tokens"].as_u64().is_some());
    assert!(String::from_utf8_lossy(body).matches(",\"cache_control\":{\"type\":\"ephemeral\"}}").count() <= 4);
}

/// The block is in the request as it is in the prompt, and every item of it reads back.
fn check_block(prompt: &Prompt, body: &[u8]) {
    let Some(own) = &prompt.block else { return };
    let read = block::read(&own.text).expect("our own block");
    let pairs = read.iter().zip(&own.items);
    assert!(
        read.len() == own.items.len() && pairs.into_iter().all(|(read, item)| *read.text == *item.text && *read.section == *item.section)
    );
    if prompt.segments.iter().any(|segment| matches!(segment.body, segment::Body::Block(_))) {
        let request: Value = serde_json::from_slice(body).unwrap();
        let contents = request["messages"].as_array().unwrap().iter().map(|message| &message["content"]);
        let sent =
            contents.flat_map(|content| content.as_array().map_or(vec![content], |parts| parts.iter().map(|part| &part["text"]).collect()));
        assert!(sent.into_iter().any(|text| text.as_str() == Some(&*own.text)));
    }
    let lower = own.text.to_lowercase();
    assert!(["<|", "</|", "[inst]", "\u{202e}", "\0"].iter().all(|token| !lower.contains(token)));
}
