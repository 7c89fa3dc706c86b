//! Prompts of a session's ledger: a turn that goes on keeps its prefix, and an old call gives its bytes.

use super::properties::{Folder, engine};
use super::*;
use crate::context::explain::Why;
use crate::context::limit::section;
use crate::context::{Item, Share};
use crate::engine::Engine;
use crate::memory::NewMemory;
use crate::models::Model;
use crate::scope::{Scope, ScopeType};
use crate::store::pages::PagesMut;

fn user() -> Scope {
    Scope::new(None, ScopeType::User, "u").unwrap()
}

fn begun<'e>(engine: &'e Engine, scope: &'e Scope, budget: SessionBudget) -> Session<'e> {
    let session = Session { engine, scope, id: "s" };
    let model = Some(Model::named("gpt-4o").unwrap());
    session.open(Options { model, system: Some("You help.".into()), budget: Some(budget), ..Options::default() }, 1).unwrap();
    session
}

fn add(session: Session<'_>, message: &serde_json::Value) {
    session.add(NewMessage::given(message.to_string()), None, 2).unwrap();
}

/// A chunk of the caller's own.
fn chunk(text: &str) -> Item {
    Item::given(0, section::RETRIEVED, Some("i"), text, None)
}

fn assembled(session: Session<'_>) -> Assembled {
    session.assemble(&Ask { now: 3, ..Ask::default() }).unwrap()
}

/// The call that a reply answered.
fn call_of(session: Session<'_>, replied: &Replied) -> CallId {
    session.turn(replied.added.turn).unwrap().calls[usize::from(replied.call)].id()
}

fn reply(session: Session<'_>, prompt: &Assembled, message: &serde_json::Value) -> Replied {
    let response = serde_json::json!({"choices": [{"message": message, "finish_reason": "stop"}]}).to_string();
    session.add_response(response.as_bytes(), Some(prompt), 3).unwrap()
}

/// Whether a prompt begins with what stands before the boundary of another.
fn goes_on_from(later: &Assembled, before: &Assembled) -> bool {
    let boundary = before.prompt.boundary().unwrap();
    later.epoch == before.epoch && later.prompt.chain.get(boundary.segments) == Some(&boundary.hash)
}

#[test]
fn a_turn_that_goes_on_keeps_its_prefix_also_when_it_is_taken_back_or_copied() {
    let (folder, scope) = (Folder::new(), user());
    let engine = engine(&folder.0);
    engine.remember(&scope, NewMemory::new("payments-api listens on port 8443".to_owned()), 1).unwrap();
    let session = begun(&engine, &scope, SessionBudget::default());
    let call = serde_json::json!({"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}});
    add(session, &serde_json::json!({"role": "user", "content": "which port does payments-api use?"}));
    let first = assembled(session);
    assert!(first.prompt.carried && first.prompt.block.is_some(), "the control");
    reply(session, &first, &serde_json::json!({"role": "assistant", "content": "I will look it up."}));
    let answered = assembled(session);
    let replied = reply(session, &answered, &serde_json::json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    add(session, &serde_json::json!({"role": "tool", "tool_call_id": "c", "content": "8443"}));
    let last = assembled(session);
    assert!(!last.prompt.carried && last.prompt.block.is_some());
    assert!(goes_on_from(&last, &answered), "the answered message stays as it was");
    let replayed = session.sent_prompt(replied.added.turn, call_of(session, &replied), 4).unwrap().unwrap();
    assert!(replayed.same_bytes && replayed.erased.is_empty());
    session.fork("copy", Some(replied.added.index + 1), 5).unwrap();
    let copy = Session { engine: &engine, scope: &scope, id: "copy" };
    add(copy, &serde_json::json!({"role": "tool", "tool_call_id": "c", "content": "8443"}));
    let copied = assembled(copy);
    assert!(!copied.prompt.carried);
    let before_the_block = last.prompt.chain.len() - 1;
    assert_eq!(copied.prompt.chain[..before_the_block], last.prompt.chain[..before_the_block]);
    session.rewind(1, 6).unwrap();
    assert!(assembled(session).prompt.carried, "its user message is open again");
    assert!(engine.check().unwrap().is_sound(), "{:#?}", engine.check().unwrap().findings);
}

#[test]
fn an_old_call_of_a_sliding_window_gives_its_bytes() {
    let mut gave_way = 0;
    for (name, factor_of_bill) in [("gpt-4o", 100), ("claude-sonnet-4-5", 80), ("claude-sonnet-4-5", 130)] {
        let (folder, scope) = (Folder::new(), user());
        let engine = engine(&folder.0);
        let session = Session { engine: &engine, scope: &scope, id: "s" };
        let mut budget = SessionBudget { max_input_tokens: Some(1_200), output_tokens: Some(100), ..SessionBudget::default() };
        budget.sections.cut_step = Share::new(0);
        session.open(Options { model: Some(Model::named(name).unwrap()), budget: Some(budget), ..Options::default() }, 1).unwrap();
        for words in (700..1_200).step_by(20) {
            add(session, &serde_json::json!({"role": "user", "content": "hi"}));
            add(session, &serde_json::json!({"role": "assistant", "content": "ok"}));
            add(session, &serde_json::json!({"role": "user", "content": "word ".repeat(words)}));
            let items = vec![chunk(&"item ".repeat(40))];
            let Ok(prompt) = session.assemble(&Ask { now: 3, items, ..Ask::default() }) else {
                session.rewind(session.status().unwrap().record.tally.messages - 1, 3).unwrap();
                continue;
            };
            gave_way += u64::from(prompt.prompt.block.is_none());
            let tokens = prompt.prompt.counted_tokens * factor_of_bill / 100;
            let response = serde_json::json!({
                "object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": tokens, "completion_tokens": 1, "total_tokens": tokens + 1},
            });
            let done = session.add_response(response.to_string().as_bytes(), Some(&prompt), 3).unwrap();
            let replayed = session.sent_prompt(done.added.turn, call_of(session, &done), 4).unwrap().unwrap();
            assert!(replayed.same_bytes, "{name}, {words} words, {:?}", replayed.erased);
        }
    }
    assert!(gave_way > 0, "the control: some blocks gave way");
}

#[test]
fn a_question_is_read_alike_behind_its_message_and_behind_a_tool_result() {
    let (folder, scope) = (Folder::new(), user());
    let engine = engine(&folder.0);
    let before = Session { engine: &engine, scope: &scope, id: "before" };
    before.open(Options { model: Some(Model::named("gpt-4o").unwrap()), ..Options::default() }, 1).unwrap();
    add(before, &serde_json::json!({"role": "user", "content": "The checkout service pages the team called Kestrel."}));
    let session = begun(&engine, &scope, SessionBudget::default());
    let log = "2026-06-01 10:00:00 INFO handled req 1\n2026-06-01 10:00:01 INFO handled req 2\n2026-06-01 10:00:02 WARN slow";
    add(session, &serde_json::json!({"role": "user", "content": format!("Which team does the chekcout service page?\n\n{log}")}));
    let read_as = || {
        let explained = assembled(session).prompt.explained;
        explained.iter().filter(|one| matches!(one.why, Why::ReadAs { .. })).map(|one| one.id.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(read_as(), ["chekcout"]);
    let call = serde_json::json!({"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}});
    add(session, &serde_json::json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    add(session, &serde_json::json!({"role": "tool", "tool_call_id": "c", "content": "no page was sent"}));
    assert_eq!(read_as(), ["chekcout"], "the user's message is the question, and not the result behind it");
}

/// `assemble` reads the record next. Its end is taken away here, to see who looks at it.
#[test]
fn the_question_of_a_round_is_known_by_the_beginning_of_the_sent_call() {
    let (folder, scope) = (Folder::new(), user());
    let engine = engine(&folder.0);
    let session = begun(&engine, &scope, SessionBudget::default());
    let call = serde_json::json!({"id": "c", "type": "function", "function": {"name": "find", "arguments": "{}"}});
    add(session, &serde_json::json!({"role": "user", "content": "which port does payments-api use?"}));
    assert!(session.question().unwrap().is_some());
    let items = vec![chunk(&"payments-api has a port. ".repeat(600))];
    let prompt = session.assemble(&Ask { items, now: 3, ..Ask::default() }).unwrap();
    reply(session, &prompt, &serde_json::json!({"role": "assistant", "content": null, "tool_calls": [call]}));
    add(session, &serde_json::json!({"role": "tool", "tool_call_id": "c", "content": "8443"}));
    assert_eq!(session.question().unwrap(), None);
    assert!(session.assemble(&Ask { now: 3, ..Ask::default() }).is_ok());
    let end = session.status().unwrap().place.call(0, 0).u16(1);
    assert!(engine.write(move |txn| txn.delete(end.as_slice())).unwrap());
    assert_eq!(session.question().unwrap(), None);
    assert!(session.assemble(&Ask { now: 3, ..Ask::default() }).is_err());
}
