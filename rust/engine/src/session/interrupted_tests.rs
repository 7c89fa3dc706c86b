//! Tests that long work often checks for an interrupt, and that interrupted work leaves everything whole.

use super::compact::Draft;
use super::properties::{Folder, engine};
use super::writing::Writing;
use super::*;
use crate::context::{Message, Role};
use crate::engine::Engine;
use crate::interrupt::counted::after;
use crate::models::Model;
use crate::scope::{Scope, ScopeType};
use crate::text::{analyze, exact_identifiers, screening};
use crate::tokens::{Encoding, count};
use crate::{ErrorKind, Result};

const MIB: usize = 1 << 20;
/// Looks in a MiB of text, at least: about every 64 KiB.
const LOOKS: usize = 15;
const MANY: usize = usize::MAX - 1;

fn long_text() -> String {
    let mut text = "payments-api listens on port 8443 in prod-eu-west-1, and nobody minds. ".repeat(MIB / 71 + 1);
    text.truncate(MIB);
    text
}

fn named() -> Model {
    Model::named("gpt-4o").unwrap()
}

fn is_interrupted<T>(outcome: Result<T>) -> bool {
    outcome.is_err_and(|error| error.kind() == ErrorKind::Interrupted)
}

#[test]
fn every_way_through_a_text_looks_often() {
    let letter = |at: usize| char::from(b'a' + (at * at % 2_477 % 26) as u8);
    let word: String = (0..MIB).map(letter).collect();
    let (text, cjk) = (long_text(), "\u{65e5}\u{672c}\u{8a9e}\u{306e}".repeat(MIB / 12));
    let ways: [(&str, &dyn Fn() -> usize); 9] = [
        ("counting", &|| count(Encoding::O200k, &text)),
        ("counting a word", &|| count(Encoding::O200k, &word)),
        ("counting a line without spaces", &|| count(Encoding::Cl100k, &cjk)),
        ("analysing", &|| analyze(&text, 0).terms.len()),
        ("analysing a line without spaces", &|| analyze(&cjk, 0).terms.len()),
        ("identifiers", &|| {
            let mut found = 0;
            exact_identifiers(&text, |_| found += 1);
            found
        }),
        ("screening", &|| screening::screen(&text).len()),
        ("embedding", &|| crate::embedding::embed(&text).as_slice().len()),
        ("distinct tokens", &|| crate::embedding::distinct_tokens(&text, 256).len()),
    ];
    for (name, way) in ways {
        let run = |looks| after(looks, || Ok(way()));
        let (whole, looked) = run(MANY);
        assert!(whole.is_ok() && looked >= LOOKS, "{name}: {looked} looks");
        let (ended, looked) = run(LOOKS / 2);
        assert!(is_interrupted(ended) && looked <= LOOKS / 2 + 1, "{name} went on");
    }
}

#[test]
fn a_counter_that_was_interrupted_has_the_text_of_before() {
    let (counter, text) = (crate::models::TextCounter::new(named()), long_text());
    let before = counter.append("two words");
    assert!(is_interrupted(after(3, || Ok(counter.append(&text))).0));
    assert_eq!((counter.count(), counter.append("")), (before, before));
}

fn draft(messages: Vec<Message>) -> Writing {
    Writing::new(Draft::of_messages(None, messages, 0, 2_000, named()).unwrap().0)
}

#[test]
fn a_summary_is_made_whole_or_not_at_all() {
    let many = (0..300).map(|n| Message::text(Role::User, &format!("We decided that service-{n} runs on port {}. Is it {n}?", 8000 + n)));
    for messages in [many.collect(), vec![Message::text(Role::User, &long_text())]] {
        let (whole, looked) = after(MANY, || Ok(draft(Vec::clone(&messages)).make()));
        let whole = whole.unwrap();
        assert!(looked > 1_000, "{looked} looks");
        let writing = draft(messages);
        for looks in [0, 1, 10, looked / 2, looked - 1] {
            assert!(is_interrupted(after(looks, || Ok(writing.make())).0), "at look {looks} of {looked}");
        }
        assert_eq!(writing.make(), whole, "no part was kept");
    }
}

fn user() -> Scope {
    Scope::new(None, ScopeType::User, "u").unwrap()
}

/// A session of so many messages.
fn filled(engine: &Engine, scope: &Scope, messages: usize) {
    let session = Session { engine, scope, id: "s" };
    session.open(Options { model: Some(named()), ..Options::default() }, 1).unwrap();
    let said = |n: usize| {
        let role = ["user", "assistant"][n % 2];
        NewMessage::given(serde_json::json!({"role": role, "content": format!("message {n} on port {}", 8000 + n)}).to_string())
    };
    session.add_many((0..messages).map(said).collect(), 2).unwrap();
}

/// A call of a session, by its name.
type Call<'c> = (&'c str, &'c dyn Fn(Session<'_>) -> Result<()>);

#[test]
fn a_long_change_of_a_session_is_done_or_is_not() {
    let long = NewMessage::given(serde_json::json!({"role": "user", "content": long_text()}).to_string());
    let calls: [Call<'_>; 5] = [
        ("add", &|session| session.add(long.clone(), None, 3).map(drop)),
        ("rewind", &|session| session.rewind(0, 3).map(drop)),
        ("fork", &|session| session.fork("copy", None, 3).map(drop)),
        ("draft", &|session| session.draft(Some(1), None, 1).map(drop)),
        ("delete", &|session| session.delete(3).map(drop)),
    ];
    for (name, call) in calls {
        let (folder, scope) = (Folder::new(), user());
        let engine = engine(&folder.0);
        filled(&engine, &scope, 200);
        let session = Session { engine: &engine, scope: &scope, id: "s" };
        // A session that is being deleted is read no more, and the next sweep goes on.
        let left = || session.messages(0, 1_000).map_or(0, |messages| messages.len());
        for looks in [1, 10, 60] {
            assert!(is_interrupted(after(looks, || call(session)).0), "{name} at look {looks}");
            assert!(left() == 200 || name == "delete" && left() == 0, "{name} at look {looks}: {} are left", left());
        }
        let (done, looked) = after(MANY, || call(session));
        assert!(done.is_ok() && looked > 60 || left() == 0, "{name}: {looked} looks, {done:?}");
        assert!(engine.check().unwrap().findings.is_empty(), "{name}");
    }
}
