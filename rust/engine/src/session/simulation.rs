//! Never over the window, through whole sessions: a tokenizer that the session does not know counts what is sent.
//!
//! The truth is another encoding's count, times a factor of each class of content, plus tokens of its own for each message. Content is
//! of four classes, and the topic of a conversation shifts every few turns. Each turn retrieves more than fits; some call tools.
//! Figures are printed: `cargo test -p memspan-engine --lib session::simulation -- --nocapture`, and with `--ignored` the long form.

use std::fmt::Write as _;

use serde_json::json;

use super::properties::{Folder, engine};
use super::{Ask, Assembled, NewMessage, Options, Session, SessionBudget};
use crate::context::segment::Body;
use crate::context::{Budget, Counter, Factor, Framing, Grant, Item};
use crate::models::Model;
use crate::scope::{Scope, ScopeType};
use crate::tokens::bound::Class;
use crate::tokens::fuzz::Fuzz;
use crate::tokens::{CachedCounter, Encoding};

const LIMIT: u64 = 16_000;

/// The closed tokenizer.
struct Truth {
    encoding: Encoding,
    /// Thousandths, of each class.
    ratios: [u64; Class::ALL.len()],
}

impl Counter for Truth {
    fn count(&self, text: &str) -> u64 {
        let ratio = self.ratios[Class::of(text) as usize];
        (CachedCounter::new(self.encoding).count(text) * ratio).div_ceil(1_000)
    }
}

impl Truth {
    /// The cost of a prompt.
    fn of(&self, prompt: &Assembled) -> u64 {
        let framing = Framing::ANTHROPIC;
        let segments = prompt.prompt.segments.iter().map(|segment| match &segment.body {
            Body::Tools(tools) => tools.tokens * 2,
            Body::Text(text) => self.count(&text.text) + 4,
            Body::Message(_, stored) => framing.message(&stored.message, self).tokens,
            Body::Block(block) => block.text.split_inclusive("</document>\n").map(|part| self.count(part)).sum(),
        });
        segments.sum::<u64>() + framing.reply
    }
}

/// Content of a class, of about so many bytes.
fn text(source: &mut Fuzz, class: Class, size: usize) -> String {
    const WORDS: &str = "the of and to in that memory window session which because prompt tokens answer question user service between \
        deployment morning several whether Berlin naturally considered reviewing yesterday infrastructure";
    const CODE: &str = "fn main() {|    let mut total = 0;|    for item in &self.items {|        total += item.len();|    }|    Ok(total)|}|\
        def handler(event, context):|    return {\"status\": 200}|if (x !== null && y >= 0) {|  console.log(`${x}`);|<div class=\"row\">|</div>|\
        SELECT id, name FROM users WHERE age > 21;";
    const CJK: &str = "今天天气很好我们去公园散步吧明日は会議がありますので資料を準備してください한국어문장도있습니다的一是不了人在有他这为之大来以个中上";
    const PARTS: [&str; 8] = ["payments", "prod_eu", "getUserById", "auth-timeout", "X-Request", "TOKEN", "s3", "v2"];
    let (words, lines): (Vec<&str>, Vec<&str>) = (WORDS.split(' ').collect(), CODE.split('|').collect());
    let characters: Vec<char> = CJK.chars().collect();
    let mut out = String::new();
    while out.len() < size {
        match class {
            Class::Prose => out += &(words[source.below(words.len())].to_owned() + if source.below(9) == 0 { ". " } else { " " }),
            Class::Code => out += &(lines[source.below(lines.len())].to_owned() + "\n"),
            Class::Dense => {
                let part = PARTS[source.below(PARTS.len())];
                write!(out, "{part}-{:08x} ", source.below(1 << 30)).unwrap();
            }
            Class::Cjk => out.push(characters[source.below(characters.len())]),
        }
    }
    out
}

/// The prompt that was sent.
#[derive(Default)]
struct Seen {
    requests: u64,
    over: u64,
    /// Requests that left something retrieved out, once the history was long; and their truth.
    filled: u64,
    used: u64,
    /// Requests that o200k x 1.1 would have let through although they were over: filled by that guess.
    rival: u64,
    planned: u64,
}

struct Conversation<'e> {
    session: Session<'e>,
    truth: Truth,
    source: Fuzz,
    about: Class,
    now: i64,
    seen: Seen,
}

impl Conversation<'_> {
    fn tick(&mut self) -> i64 {
        self.now += 1_000;
        self.now
    }

    /// Mostly of what the conversation is about.
    fn content(&mut self, most: usize) -> String {
        let class = if self.source.below(10) < 8 { self.about } else { Class::ALL[self.source.below(4)] };
        let size = 100 + self.source.below(most);
        text(&mut self.source, class, size)
    }

    fn add(&mut self, message: &serde_json::Value) {
        let now = self.tick();
        self.session.add(NewMessage::given(message.to_string()), None, now).unwrap();
    }

    /// A prompt, its truth noted.
    fn assemble(&mut self, items: Vec<Item>) -> (Assembled, u64) {
        let asked = items.len() as u64;
        let prompt = self.session.assemble(&Ask { items, now: self.now, ..Ask::default() }).unwrap();
        let cost = self.truth.of(&prompt);
        self.seen.requests += 1;
        self.seen.over += u64::from(cost > LIMIT);
        assert!(prompt.prompt.total_tokens <= LIMIT);
        let sections: u64 = prompt.prompt.sections.iter().map(|section| section.tokens).sum();
        assert_eq!(sections, prompt.prompt.total_tokens, "sections add up");
        let shown = prompt.prompt.block.as_ref().map_or(0, |block| block.items.len() as u64);
        if asked > 0 && shown < asked && self.seen.requests > 60 {
            self.seen.filled += 1;
            self.seen.used += cost;
            self.seen.planned += prompt.prompt.total_tokens;
            // The same content, filled until the guess says that it is full.
            let counted = prompt.prompt.counted_tokens.max(1);
            self.seen.rival += u64::from(LIMIT * 1_000 / 1_100 * cost / counted > LIMIT);
        }
        (prompt, cost)
    }

    fn reply(&mut self, message: &serde_json::Value, prompt: &Assembled, cost: u64) {
        let now = self.tick();
        let response = json!({
            "id": format!("r{now}"), "type": "message", "role": "assistant", "content": message, "stop_reason": "end_turn",
            "usage": {"input_tokens": cost - cost / 2, "cache_read_input_tokens": cost / 2, "cache_creation_input_tokens": 0, "output_tokens": 7},
        });
        self.session.add_response(response.to_string().as_bytes(), Some(prompt), now).unwrap();
    }

    fn turn(&mut self) {
        if self.source.below(6) == 0 {
            self.about = Class::ALL[self.source.below(4)];
        }
        let question = self.content(300);
        self.add(&json!({"role": "user", "content": question}));
        let items = (0..60)
            .map(|n| Item {
                section: "retrieved".into(),
                id: format!("doc-{n}").into(),
                attributes: Vec::new(),
                text: self.content(500).into(),
                memory: None,
                message: None,
                document: None,
                form: crate::context::Form::dated(),
                score: None,
            })
            .collect();
        let (mut prompt, mut cost) = self.assemble(items);
        for round in 0..self.source.below(3) {
            let id = format!("call_{}_{round}", self.now);
            self.reply(&json!([{"type": "tool_use", "id": id, "name": "find", "input": {"query": "port"}}]), &prompt, cost);
            let result = self.content(900);
            self.add(&json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]}));
            (prompt, cost) = self.assemble(Vec::new());
        }
        let answer = self.content(700);
        self.reply(&json!([{"type": "text", "text": answer}]), &prompt, cost);
    }
}

fn closed(prior: u32) -> Model {
    Model {
        name: "closed-1".into(),
        context_window: 24_000,
        max_input_tokens: 24_000,
        max_output_tokens: 4_096,
        encoding: Encoding::O200k,
        factor: Factor::new(prior),
        framing: Framing::ANTHROPIC,
        append_only: false,
        min_cached_tokens: 0,
        base_url: "".into(),
    }
}

fn budget() -> SessionBudget {
    let grants = vec![("retrieved".into(), Grant { floor: 500, weight: 4, ceiling: u64::MAX })];
    SessionBudget { max_input_tokens: Some(LIMIT), sections: Budget { grants, ..Budget::default() }, ..SessionBudget::default() }
}

fn play(requests: u64, least_used: u64) {
    let truths = [
        (Truth { encoding: Encoding::Qwen2, ratios: [1_250, 1_400, 1_150, 1_300] }, 2_500),
        (Truth { encoding: Encoding::Cl100k, ratios: [1_300, 1_300, 1_300, 1_300] }, 2_500),
        (Truth { encoding: Encoding::Tekken, ratios: [1_000, 1_100, 1_000, 1_000] }, 2_500),
    ];
    for (seed, (truth, prior)) in truths.into_iter().enumerate() {
        let (folder, name) = (Folder::new(), truth.encoding.name());
        let engine = engine(&folder.0);
        let scope = Scope::new(None, ScopeType::User, "u").unwrap();
        let session = Session { engine: &engine, scope: &scope, id: "s" };
        let options =
            Options { model: Some(closed(prior)), budget: Some(budget()), system: Some("You help.".into()), ..Options::default() };
        session.open(options, 1).unwrap();
        let source = Fuzz::new(seed as u64 + 1);
        let mut talk = Conversation { session, truth, source, about: Class::Prose, now: 10, seen: Seen::default() };
        while talk.seen.requests < requests {
            talk.turn();
        }
        let Seen { requests, over, filled, used, rival, planned } = talk.seen;
        let used = used * 1_000 / (filled.max(1) * LIMIT);
        let learned = super::learned(&engine).unwrap();
        let factors = learned[0].learned.factors().map(Factor::per_mille);
        println!(
            "{name}: {requests} requests, {over} over; {used} per mille of the limit used in {filled} filled ones, {} planned; o200k x 1.1 over in {} per mille; \
             factors {factors:?}, {} exceeded, {} epochs",
            planned * 1_000 / (filled.max(1) * LIMIT),
            rival * 1_000 / filled.max(1),
            learned[0].learned.exceeded(),
            session.status().unwrap().record.epoch
        );
        assert_eq!(over, 0, "{name}");
        assert!(filled > 20, "{name}: {filled} filled");
        assert!(used >= least_used, "{name}: {used} per mille of the limit used");
        assert!(engine.check().unwrap().is_sound());
    }
}

#[test]
fn no_request_of_a_session_is_over_the_window_and_most_of_it_is_used_while_it_learns() {
    play(240, 700);
}

#[test]
#[ignore = "takes minutes: the published figure"]
fn five_thousand_requests_of_sessions() {
    play(5_000, 850);
}

fn opened(session: Session<'_>, prior: u32) -> Session<'_> {
    session.open(Options { model: Some(closed(prior)), budget: Some(budget()), ..Options::default() }, 1).unwrap();
    session
}

#[test]
fn a_refusal_that_names_the_count_makes_the_next_prompt_smaller() {
    let folder = Folder::new();
    let engine = engine(&folder.0);
    let scope = Scope::new(None, ScopeType::User, "u").unwrap();
    // A prior that is far too low: words cost three times as much.
    let session = opened(Session { engine: &engine, scope: &scope, id: "s" }, 1_100);
    let mut source = Fuzz::new(5);
    for turn in 0..40 {
        let said = text(&mut source, Class::Prose, 2_000);
        session.add(NewMessage::given(json!({"role": "user", "content": said}).to_string()), None, 10 + 2 * turn).unwrap();
        if turn < 39 {
            let said = json!({"role": "assistant", "content": "So it is."});
            session.add(NewMessage::given(said.to_string()), None, 11 + 2 * turn).unwrap();
        }
    }
    let prompt = session.assemble(&Ask { now: 200, ..Ask::default() }).unwrap();
    let cost = prompt.prompt.counted_tokens * 3;
    assert!(cost > LIMIT);
    let next =
        session.refused(&prompt, super::Refusal { input_tokens: Some(cost), limit_tokens: Some(LIMIT), output_tokens: None }, 201).unwrap();
    assert!(next.prompt.counted_tokens * 3 <= LIMIT, "{} of {}", next.prompt.counted_tokens, prompt.prompt.counted_tokens);
    assert!(next.prompt.counted_tokens > 0 && next.prompt.total_tokens <= LIMIT);
    let learned = super::learned(&engine).unwrap();
    assert_eq!((learned.len(), &*learned[0].model, learned[0].learned.exceeded()), (1, "closed-1", 1));
    // Another session of the model begins with what was learned, and one that was reset with the prior.
    let prose = learned[0].learned.factor(Class::Prose);
    assert!(prose.per_mille() >= 3_000);
    assert!(super::forget_learned(&engine, "closed-1").unwrap() && !super::forget_learned(&engine, "closed-1").unwrap());
    assert!(engine.check().unwrap().is_sound());
}

#[test]
fn a_larger_prior_is_not_held_down_by_bills_of_the_one_before() {
    let folder = Folder::new();
    let engine = engine(&folder.0);
    let scope = Scope::new(None, ScopeType::User, "u").unwrap();
    let prompt_of = |id: &'static str, prior: u32| {
        let session = opened(Session { engine: &engine, scope: &scope, id }, prior);
        let said = "the port of the service is known to whoever asks for it ".repeat(80);
        session.add(NewMessage::given(json!({"role": "user", "content": said}).to_string()), None, 10).unwrap();
        (session.assemble(&Ask { now: 11, ..Ask::default() }).unwrap(), session)
    };
    let (prompt, session) = prompt_of("s", 1_350);
    let body = json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "8443"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": prompt.prompt.counted_tokens * 13 / 10, "output_tokens": 3}});
    session.add_response(body.to_string().as_bytes(), Some(&prompt), 12).unwrap();
    assert_eq!(super::learned(&engine).unwrap()[0].learned.factors(), [Factor::new(1_350); Class::ALL.len()]);
    let [same, larger] = [("t", 1_350), ("u", 2_500)].map(|(id, prior)| prompt_of(id, prior).0.prompt);
    assert!(same.total_tokens < same.counted_tokens * 14 / 10 + 60, "{}", same.total_tokens);
    assert!(larger.total_tokens >= larger.counted_tokens * 24 / 10, "{} of {}", larger.total_tokens, larger.counted_tokens);
}

/// Google's search brings tokens into the request that are billed, and that no prompt can plan.
#[test]
fn tokens_of_a_providers_tools_are_billed_and_teach_nothing() {
    let folder = Folder::new();
    let engine = engine(&folder.0);
    let scope = Scope::new(None, ScopeType::User, "u").unwrap();
    let session = opened(Session { engine: &engine, scope: &scope, id: "s" }, 2_500);
    session
        .add(NewMessage::given(json!({"role": "user", "content": "which port does it have? ".repeat(40)}).to_string()), None, 10)
        .unwrap();
    let prompt = session.assemble(&Ask { now: 11, ..Ask::default() }).unwrap();
    let cost = prompt.prompt.counted_tokens;
    let body = json!({"candidates": [{"content": {"role": "model", "parts": [{"text": "8443"}]}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": cost, "toolUsePromptTokenCount": 50_000, "candidatesTokenCount": 3}});
    let replied = session.add_response(body.to_string().as_bytes(), Some(&prompt), 12).unwrap();
    assert_eq!((replied.usage.unwrap().input_tokens, replied.exceeded, replied.usage_ignored), (cost + 50_000, false, false));
}

#[test]
fn an_answered_prompt_is_the_anchor_of_the_next_and_replays_as_it_was() {
    let folder = Folder::new();
    let engine = engine(&folder.0);
    let scope = Scope::new(None, ScopeType::User, "u").unwrap();
    let session = opened(Session { engine: &engine, scope: &scope, id: "s" }, 2_500);
    let said = "the port of the service is known to whoever asks for it ".repeat(40);
    session.add(NewMessage::given(json!({"role": "user", "content": said}).to_string()), None, 10).unwrap();
    let first = session.assemble(&Ask { now: 11, ..Ask::default() }).unwrap();
    assert_eq!(first.prompt.total_tokens, first.prompt.factor.bound(first.prompt.counted_tokens), "nothing is known yet");
    let cost = first.prompt.counted_tokens * 12 / 10;
    let body = json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "8443"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": cost, "output_tokens": 3}});
    let replied = session.add_response(body.to_string().as_bytes(), Some(&first), 12).unwrap();
    assert_eq!((replied.usage.unwrap().input_tokens, replied.exceeded), (cost, false));
    session.add(NewMessage::given(json!({"role": "user", "content": "and the other?"}).to_string()), None, 13).unwrap();
    let second = session.assemble(&Ask { now: 14, ..Ask::default() }).unwrap();
    assert!(second.prompt.total_tokens > cost && second.prompt.total_tokens < cost + 120, "{} after {cost}", second.prompt.total_tokens);
    let replayed = session.sent_prompt(0, session.turn(0).unwrap().calls[0].id(), 15).unwrap().unwrap();
    assert!(replayed.same_bytes);
    assert_eq!(replayed.assembled.prompt.total_tokens, first.prompt.total_tokens);
    let usage = session.usage(0, 10).unwrap();
    assert_eq!((usage.len(), usage[0].planned, usage[0].billed.unwrap().input_tokens), (1, Some(first.prompt.total_tokens), cost));
    // Impossible usage is stored and not believed.
    let body = json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "9000"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": -5, "output_tokens": 3}});
    let replied = session.add_response(body.to_string().as_bytes(), Some(&second), 16).unwrap();
    assert!(replied.usage_ignored && replied.usage.is_none());
    assert_eq!(session.status().unwrap().record.tally.messages, 4);
    // Nor what is more than the request has bytes.
    session.add(NewMessage::given(json!({"role": "user", "content": "and the third?"}).to_string()), None, 16).unwrap();
    let third = session.assemble(&Ask { now: 16, ..Ask::default() }).unwrap();
    let body = json!({"type": "message", "role": "assistant", "content": [{"type": "text", "text": "9001"}], "stop_reason": "end_turn",
        "usage": {"input_tokens": 20 * third.prompt.total_tokens + 9_000, "output_tokens": 3}});
    let learned = crate::session::learned(&engine).unwrap();
    let replied = session.add_response(body.to_string().as_bytes(), Some(&third), 16).unwrap();
    assert!(replied.usage_ignored && !replied.exceeded);
    assert_eq!(crate::session::learned(&engine).unwrap(), learned);
    assert!(engine.metrics().unwrap().contains(&("usages_ignored", 2)));
    // A rewind voids the anchor.
    session.rewind(1, 17).unwrap();
    assert!(session.status().unwrap().record.window.unwrap().anchor.is_none());
    assert!(engine.check().unwrap().is_sound());
}
