//! Sessions as the tests from outside use them: messages, tool rounds, replies with what was sent, and all that a session says.

use memspan_engine::context::render::{self, RequestOptions};
use memspan_engine::engine::Engine;
use memspan_engine::memory::{Kind, NewMemory};
use memspan_engine::models::Model;
use memspan_engine::scope::Scope;
use memspan_engine::session::{self, Added, Ask, Assembled, NewMessage, Options, Replied, Session, SessionBudget, TaskEdit};
use serde_json::{Value, json};

use super::one;

/// Opens a session with a small window, so that it is cut soon.
pub fn begin(session: Session<'_>, now: i64) {
    let mut model = Model::named("gpt-4o").expect("a model");
    model.context_window = 12_000;
    let budget = SessionBudget { max_input_tokens: Some(2_500), ..SessionBudget::default() };
    let (system, tools) = (Some("You help.".to_owned()), Some(tools().into_bytes()));
    session.open(Options { model: Some(model), system, tools, budget: Some(budget), ..Options::default() }, now).expect("opened");
}

fn tools() -> String {
    let parameters = json!({"type": "object", "properties": {"query": {"type": "string", "description": "What to find."}}});
    json!([{"type": "function", "function": {"name": "find", "description": "Finds a thing.", "parameters": parameters}}]).to_string()
}

pub fn said(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

pub fn answered(text: &str) -> Value {
    json!({"role": "assistant", "content": text})
}

pub fn calling(ids: &[String]) -> Value {
    let calls = ids.iter().map(|id| json!({"id": id, "type": "function", "function": {"name": "find", "arguments": "{\"query\":\"x\"}"}}));
    json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()})
}

pub fn result(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

/// A message with an image of about `bytes`.
pub fn pictured(text: &str, bytes: usize) -> Value {
    let data = format!("data:image/png;base64,{}", "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzk".repeat(bytes / 44 + 1));
    json!({"role": "user", "content": [{"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": data}}]})
}

pub fn say(session: Session<'_>, message: &Value, now: i64) -> Added {
    session.add(NewMessage::given(message.to_string()), None, now).expect("added")
}

pub fn assemble(session: Session<'_>, now: i64) -> Assembled {
    session.assemble(&Ask { now, ..Ask::default() }).expect("assembled")
}

/// The request of a prompt.
pub fn body(prompt: &Assembled) -> Vec<u8> {
    render::to_openai(&prompt.prompt, RequestOptions::new(Some("gpt-4o"), false))
}

/// A chat completion around a message, which stands in it as it is given here.
pub fn completion(id: Option<&str>, message: &Value) -> String {
    let id = id.map_or_else(String::new, |id| format!("\"id\":\"{id}\","));
    format!("{{{id}\"choices\":[{{\"index\":0,\"message\":{message},\"finish_reason\":\"stop\"}}],\"usage\":{{\"prompt_tokens\":7}}}}")
}

/// Assembles, and adds a reply to that; what was sent.
pub fn reply(session: Session<'_>, id: Option<&str>, message: &Value, now: i64) -> (Replied, Vec<u8>) {
    let prompt = assemble(session, now);
    let replied = session.add_response(completion(id, message).as_bytes(), Some(&prompt), now).expect("added");
    (replied, body(&prompt))
}

/// Two sessions, one a copy of the other, with all that a session can have.
pub fn talked(engine: &Engine, scope: &Scope) {
    one(engine, scope, NewMemory { kind: Kind::Constraint, ..NewMemory::new("never deploy on Friday") }, 1);
    one(engine, scope, NewMemory::new("payments-api listens on port 8443 in prod-eu-west-1"), 2);
    let session = Session { engine, scope, id: "s" };
    begin(session, 3);
    for turn in 0..8 {
        say(session, &said(&format!("turn {turn}: which port does payments-api listen on? {}", "please ".repeat(40 * turn))), 10);
        let id = format!("call-{turn}");
        reply(session, Some(&format!("r-{turn}")), &calling(std::slice::from_ref(&id)), 11);
        say(session, &result(&id, &"it listens on 8443 and on 9000 ".repeat(10 + 60 * (turn % 4))), 12);
        reply(session, None, &answered(&format!("Number {turn}: on 8443.")), 13);
    }
    say(session, &pictured("and this?", 300_000), 14);
    session.redact(4, Some("asked to"), 15).expect("redacted");
    session.fork("copy", Some(30), 16).expect("copied");
    session.switch_model(&Model::named("gpt-4").expect("a model"), session::NewInstructions::default(), None, 17).expect("switched");
    reply(session, Some("last"), &calling(&["open".to_owned()]), 18);
    session.edit_task("review", TaskEdit::Set("plan".into(), "\"read\"".into()), None, None, 19).expect("set");
}

/// All that the sessions of a scope say: ids, messages, the next prompt and every old one, byte for byte.
pub fn everything(engine: &Engine, scope: &Scope, now: i64) -> Vec<String> {
    let mut all = Vec::new();
    for listed in session::list(engine, scope, &session::Listing { limit: usize::MAX, ..session::Listing::default() }).expect("listed") {
        let session = Session { engine, scope, id: &listed.record.id };
        all.push(format!("session {} {:?}", listed.record.id, session.status().expect("there").epoch));
        all.extend(
            session.messages(0, u64::MAX).expect("read").into_iter().map(|message| format!("{:?} {}", message.record, message.given)),
        );
        all.push(String::from_utf8_lossy(&body(&assemble(session, now))).into_owned());
        all.push(format!("{:?}", session.tasks(now).expect("read")));
        for turn in 0..listed.record.tally.turns {
            for call in session.turn(turn).expect("there").calls {
                let replayed = session.sent_prompt(turn, call.id(), now).expect("read").expect("its caller said what was sent");
                all.push(format!("{} {}", replayed.same_bytes, String::from_utf8_lossy(&body(&replayed.assembled))));
            }
        }
    }
    all
}

/// Every call in a request has its result behind it, and no result is without its call; the results that say "interrupted".
pub fn interrupted(body: &[u8]) -> usize {
    let request: Value = serde_json::from_slice(body).expect("JSON");
    let (mut open, mut interrupted): (Vec<&str>, usize) = (Vec::new(), 0);
    for message in request["messages"].as_array().expect("a list") {
        if message["role"] == "tool" {
            let at = open.iter().position(|id| message["tool_call_id"] == *id).expect("a result has its call before it");
            open.remove(at);
            interrupted += usize::from(message["content"].as_str().is_some_and(|text| text.contains("interrupted")));
        } else {
            assert!(open.is_empty(), "calls {open:?} have no result in {request}");
            let calls = message["tool_calls"].as_array();
            open.extend(calls.into_iter().flatten().map(|call| call["id"].as_str().expect("an id")));
        }
    }
    assert!(open.is_empty(), "calls {open:?} have no result in {request}");
    interrupted
}
