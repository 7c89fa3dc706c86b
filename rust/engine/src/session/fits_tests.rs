//! Tests that a session moves to no model that cannot take its newest message and its instructions.

use super::properties::{Folder, engine};
use super::*;
use crate::models::Model;
use crate::scope::{Scope, ScopeType};
use crate::{ErrorKind, Result};

const MANY: usize = 6_000;

fn small() -> Model {
    Model::named("gpt-4").unwrap()
}

fn begun<'e>(engine: &'e crate::engine::Engine, scope: &'e Scope, system: &str) -> Session<'e> {
    let session = Session { engine, scope, id: "s" };
    let model = Some(Model::named("gpt-4o").unwrap());
    session.open(Options { model, system: Some(system.to_owned()), ..Options::default() }, 1).unwrap();
    session
}

fn say(session: Session<'_>, role: &str, text: &str) {
    let message = serde_json::json!({"role": role, "content": text}).to_string();
    session.add(NewMessage::given(message), None, 2).unwrap();
}

fn switched(session: Session<'_>, told: NewInstructions<'_>) -> Result<SwitchPlan> {
    let draft = session.switch_draft(&small(), 3)?.map(Writing::new);
    let compacted = draft.as_ref().map(|writing| (&writing.draft, writing.stored(Written::default())));
    session.switch_model(&small(), told, compacted, 3)
}

fn is_refused<T: std::fmt::Debug>(done: Result<T>) {
    assert_eq!(done.unwrap_err().kind(), ErrorKind::BudgetExceeded);
}

/// The switch is refused as planned, and the session goes on as if nobody had asked.
fn stays(session: Session<'_>) {
    let before = (session.status().unwrap(), session.summary().unwrap());
    let prompt = session.assemble(&Ask { now: 3, ..Ask::default() }).unwrap();
    is_refused(session.plan_switch(&small(), 3));
    is_refused(switched(session, NewInstructions::default()));
    let after = (session.status().unwrap(), session.summary().unwrap());
    assert_eq!((&before.0.record, &before.0.epoch, before.1), (&after.0.record, &after.0.epoch, after.1), "nothing is written");
    let again = session.assemble(&Ask { now: 3, ..Ask::default() }).unwrap();
    assert_eq!((again.prompt.chain, &*again.model.name), (prompt.prompt.chain, "gpt-4o"));
}

#[test]
fn a_newest_message_that_does_not_fit_keeps_the_model() {
    let (folder, scope) = (Folder::new(), Scope::new(None, ScopeType::User, "u").unwrap());
    let engine = engine(&folder.0);
    let session = begun(&engine, &scope, "You help.");
    say(session, "user", "hello");
    say(session, "assistant", "hi");
    say(session, "user", &"word ".repeat(MANY));
    stays(session);
    // With another turn behind it, the long one leaves the prompts.
    say(session, "assistant", "ok");
    say(session, "user", "go on");
    let planned = session.plan_switch(&small(), 3).unwrap();
    let done = switched(session, NewInstructions::default()).unwrap();
    assert!(planned.kept.kept > 0 && done.kept.kept > 0);
    session.assemble(&Ask { now: 4, ..Ask::default() }).unwrap();
}

#[test]
fn instructions_that_do_not_fit_keep_the_model_unless_others_come_with_it() {
    let (folder, scope) = (Folder::new(), Scope::new(None, ScopeType::User, "u").unwrap());
    let engine = engine(&folder.0);
    let session = begun(&engine, &scope, &"word ".repeat(MANY));
    say(session, "user", "hello");
    stays(session);
    is_refused(switched(session, NewInstructions { system: Some(&"other ".repeat(MANY)), tools: None }));
    switched(session, NewInstructions { system: Some("You help."), tools: None }).unwrap();
    session.assemble(&Ask { now: 4, ..Ask::default() }).unwrap();
}

#[test]
fn a_plan_and_its_switch_agree() {
    for (name, words) in
        ["gpt-4", "claude-sonnet-4-5", "gemini-2.5-pro"].into_iter().flat_map(|name| (900..1_100).step_by(25).map(move |n| (name, n)))
    {
        let (folder, scope) = (Folder::new(), Scope::new(None, ScopeType::User, "u").unwrap());
        let engine = engine(&folder.0);
        let session = begun(&engine, &scope, "You help.");
        let mut to = Model::named(name).unwrap();
        (to.context_window, to.max_output_tokens) = (2_000, 100);
        say(session, "user", "hello");
        say(session, "assistant", "hi");
        say(session, "user", &"word ".repeat(words));
        let planned = session.plan_switch(&to, 3).map(drop).map_err(|error| error.kind());
        let done = session.switch_model(&to, NewInstructions::default(), None, 3).map(drop).map_err(|error| error.kind());
        assert_eq!(planned, done, "{name}, {words} words");
        session.assemble(&Ask { now: 4, ..Ask::default() }).unwrap();
    }
}
