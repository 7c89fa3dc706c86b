//! Prompts of a session's ledger: a turn that goes on keeps its prefix.

use super::properties::{Folder, engine};
use super::*;
use crate::engine::Engine;
use crate::memory::NewMemory;
use crate::models::Model;
use crate::scope::{Scope, ScopeType};

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

fn assembled(session: Session<'_>) -> Assembled {
    session.assemble(&Ask { now: 3, ..Ask::default() }).unwrap()
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
    let replayed = session.sent_prompt(replied.added.turn, replied.call, 4).unwrap().unwrap();
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
