//! Sessions on disk: copies of a store have the same ones, several processes talk in one, what is taken back may be said again.

mod support;

use std::fmt::Write as _;
use std::path::Path;

use memspan_engine::ErrorKind;
use memspan_engine::engine::Engine;
use memspan_engine::models::Model;
use memspan_engine::scope::Scope;
use memspan_engine::session::{AddAction, Due, NewMessage, Options, Policy, Session, SessionBudget};
use support::talk::{answered, begin, body, calling, completion, everything, interrupted, reply, result, said, say};
use support::{Folder, assert_sound, join, open, role, spawn, talk, user, wait_until};

const NOW: i64 = 1_000_000_000;

fn of<'e>(engine: &'e Engine, scope: &'e Scope, id: &'e str) -> Session<'e> {
    Session { engine, scope, id }
}

/// Two sessions, one a copy of the other, with all that a session can have.
fn talked(path: &Path) -> Engine {
    let engine = open(path, false);
    talk::talked(&engine, &user("u"));
    assert_sound(&engine);
    engine
}

#[test]
fn a_copy_of_a_store_has_the_same_sessions() {
    let (folder, copy) = (Folder::in_memory(), Folder::in_memory());
    let engine = talked(&folder.0);
    engine.compact().expect("compacted"); // takes the hashes of the prompts that saw what was redacted: no later one takes more
    let before = everything(&engine, &user("u"), NOW);
    assert!(before.len() > 80 && before.iter().any(|line| line.contains("interrupted")));
    engine.backup(&copy.0).expect("copied");
    let backup = open(&copy.0, false);
    assert!(everything(&backup, &user("u"), NOW) == before, "a backup says what the store says");
    engine.compact().expect("compacted");
    assert!(everything(&engine, &user("u"), NOW) == before, "and so does the next generation");
    drop(engine);
    let engine = open(&folder.0, false);
    assert!(everything(&engine, &user("u"), NOW) == before, "and a process that opens it");
    assert_sound(&engine);
    assert_sound(&backup);
    of(&backup, &user("u"), "copy").delete(NOW).expect("deleted");
    assert_sound(&backup);
}

#[test]
fn a_response_that_was_taken_back_may_be_given_again() {
    // A response stayed known after a rewind had removed its message: given again it was answered with whatever stood in its
    // place, or with damage where nothing did, and was never stored. A copy did not know the responses it had.
    let folder = Folder::in_memory();
    let (engine, scope) = (open(&folder.0, false), user("u"));
    let session = of(&engine, &scope, "s");
    begin(session, 1);
    say(session, &said("hello"), 2);
    for id in [Some("r"), None] {
        let response = completion(id, &answered("hi"));
        let first = session.add_response(response.as_bytes(), None, 3).expect("added");
        session.rewind(1, 4).expect("taken back");
        assert_sound(&engine);
        let again = session.add_response(response.as_bytes(), None, 5).expect("added again");
        assert_eq!((again.added.action, again.added.index), (AddAction::Added, first.added.index));
        let copy = format!("copy of {id:?}");
        session.fork(&copy, None, 6).expect("copied");
        let copied = of(&engine, &scope, &copy).add_response(response.as_bytes(), None, 7).expect("known");
        assert_eq!((copied.added.action, copied.added.index), (AddAction::Duplicate, first.added.index));
        session.rewind(1, 8).expect("taken back");
    }
    assert_sound(&engine);
}

#[test]
fn an_earlier_reply_of_the_same_words_stays_known_when_a_later_one_is_taken_back() {
    // Both were known by one key: taking the later one back made the earlier one unknown, and giving it again added it twice.
    let folder = Folder::in_memory();
    let (engine, scope) = (open(&folder.0, false), user("u"));
    let session = of(&engine, &scope, "s");
    begin(session, 1);
    let response = completion(None, &answered("OK"));
    for turn in 0..2 {
        say(session, &said("go on"), 2);
        let added = session.add_response(response.as_bytes(), None, 3).expect("added").added;
        assert_eq!((added.index, added.action), (2 * turn + 1, AddAction::Added));
    }
    session.rewind(2, 4).expect("taken back");
    assert_sound(&engine);
    let again = session.add_response(response.as_bytes(), None, 5).expect("known").added;
    assert_eq!((again.index, again.action), (1, AddAction::Duplicate));
}

#[test]
fn rewinding_to_where_a_switch_left_off_keeps_the_sums_true() {
    // Where the message before a switch's origin had an open call, the tokens of its result were taken from a sum of 0.
    let folder = Folder::in_memory();
    let (engine, scope) = (open(&folder.0, false), user("u"));
    let session = of(&engine, &scope, "s");
    begin(session, 1);
    say(session, &said(&"long ago ".repeat(300)), 2);
    reply(session, None, &calling(&["never".to_owned()]), 3);
    say(session, &said("and now?"), 4);
    reply(session, None, &answered("wait"), 4);
    say(session, &said("and then?"), 4);
    let mut small = Model::named("gpt-4").expect("a model");
    small.context_window = 4_096 + 700;
    let kept = session.switch_model(&small, memspan_engine::session::NewInstructions::default(), None, 5).expect("switched").kept;
    assert_eq!(kept.origin, 2, "the two newest turns fit");
    assert_sound(&engine);
    session.rewind(2, 6).expect("taken back");
    assert_sound(&engine);
    assert_eq!(interrupted(&body(&talk::assemble(session, 7))), 1);
    let late = session.add(NewMessage::given(result("never", "late").to_string()), None, 8).expect("its call is open again");
    assert_eq!(late.index, 2);
    assert_sound(&engine);
}

#[test]
fn redacting_what_another_model_counted_keeps_the_sums_true() {
    // The marker was compared with the count of the model before, and counted more than the message did with the one of now.
    let folder = Folder::in_memory();
    let (engine, scope) = (open(&folder.0, false), user("u"));
    let session = of(&engine, &scope, "s");
    let budget = Some(SessionBudget { max_input_tokens: Some(500), ..SessionBudget::default() });
    let options = Options { model: Some(Model::named("gpt-4").expect("a model")), budget, ..Options::default() };
    session.open(options, 1).expect("opened");
    for _ in 0..40 {
        say(session, &said("\u{421}\u{43f}\u{430}\u{441}\u{438}\u{431}\u{43e}"), 2);
        say(session, &answered("\u{421}\u{43f}\u{430}\u{441}\u{438}\u{431}\u{43e}"), 2);
    }
    let model = Model::named("gpt-4o").expect("a model");
    session.switch_model(&model, memspan_engine::session::NewInstructions::default(), None, 3).expect("switched");
    for index in 0..80 {
        session.redact(index, None, 4).expect("redacted");
    }
    assert_sound(&engine);
    say(session, &said("hello"), 5);
    assert!(talk::assemble(session, 6).prompt.total_tokens <= 500);
}

#[test]
fn the_prompt_of_a_call_that_was_taken_back_is_not_that_of_another() {
    let folder = Folder::in_memory();
    let (engine, scope) = (open(&folder.0, false), user("u"));
    let session = of(&engine, &scope, "s");
    begin(session, 1);
    say(session, &said("the first"), 2);
    reply(session, None, &answered("yes"), 3);
    let call = session.turn(0).expect("there").calls[0].id();
    assert!(session.sent_prompt(0, call, 4).expect("there").is_some());
    session.rewind(0, 5).expect("taken back");
    let kind = || session.sent_prompt(0, call, 9).expect_err("it was taken back").kind();
    assert_eq!(kind(), ErrorKind::NotFound);
    say(session, &said("another"), 6);
    reply(session, None, &answered("no"), 7);
    assert_eq!(kind(), ErrorKind::NotFound, "though another call has its number");
    session.rewind(1, 8).expect("taken back");
    assert_eq!(kind(), ErrorKind::NotFound);
}

#[test]
fn a_task_that_ended_in_what_was_taken_back_makes_no_compaction_due() {
    let folder = Folder::in_memory();
    let (engine, scope) = (open(&folder.0, false), user("u"));
    let session = of(&engine, &scope, "s");
    begin(session, 1);
    session.set_policy(Policy { every_turns: 100, ..Policy::default() }, 1).expect("set");
    let talk = |session: Session<'_>, turns: usize| {
        for turn in 0..turns {
            say(session, &said(&format!("question {turn}")), 2);
            say(session, &answered(&format!("answer {turn}")), 2);
        }
    };
    talk(session, 6);
    session.task_ended(3).expect("noted");
    let due = |id| of(&engine, &scope, id).compaction_due(9).expect("read");
    assert_eq!(due("s"), Some(Due::TaskEnd));
    session.fork("before", Some(2), 4).expect("copied");
    session.fork("whole", None, 4).expect("copied");
    session.rewind(2, 4).expect("taken back");
    for id in ["s", "before"] {
        assert_eq!(due(id), None, "{id}");
        talk(of(&engine, &scope, id), 6);
        assert_eq!(due(id), None, "{id} is as long as it was when the task ended");
    }
    assert_eq!(due("whole"), Some(Due::TaskEnd));
    assert_eq!(session.budget().expect("read").1.every_turns, 100, "what its caller wants stays");
    session.task_ended(5).expect("noted");
    session.rewind(14, 6).expect("nothing to take back");
    assert_eq!(due("s"), Some(Due::TaskEnd));
    assert_sound(&engine);
}

const EACH: usize = 40;

/// The other process: adds to one session as fast as it can, every third message only where it expects.
fn add_to_one(store: &Path, name: &str) {
    let (engine, scope) = (open(store, false), user("u"));
    let session = of(&engine, &scope, "s");
    wait_until("the start", || store.join("start").exists());
    let (mut log, mut moved) = (String::new(), 0);
    for at in 0..EACH {
        let new = || NewMessage::given(said(&format!("{name} {at}")).to_string());
        let added = loop {
            let seen = session.status().expect("there").record.tally.messages;
            let expected = (at % 3 == 0).then_some(seen);
            match session.add(new(), expected, at as i64) {
                Ok(added) => {
                    assert!(expected.is_none_or(|expected| expected == added.index));
                    break added;
                }
                Err(error) => {
                    assert_eq!(error.kind(), ErrorKind::SessionMoved, "{error}");
                    moved += 1;
                }
            }
        };
        let _ = writeln!(log, "{} {name} {at}", added.index);
    }
    std::fs::write(store.join(format!("log-{name}")), format!("{log}moved {moved}\n")).expect("noted");
}

#[test]
fn two_processes_add_to_one_session() {
    if let Some((name, store)) = role() {
        return add_to_one(&store, &name);
    }
    let folder = Folder::new();
    let (engine, scope) = (open(&folder.0, false), user("u"));
    let session = of(&engine, &scope, "s");
    begin(session, 1);
    let others: Vec<_> = ["a", "b"].iter().map(|name| spawn("two_processes_add_to_one_session", name, &folder.0)).collect();
    std::fs::write(folder.0.join("start"), "").expect("told");
    others.into_iter().for_each(join);

    let said: Vec<String> = session.messages(0, u64::MAX).expect("read").into_iter().map(|message| message.text).collect();
    assert_eq!(said.len(), 2 * EACH, "nothing was lost, and nothing twice");
    for name in ["a", "b"] {
        let log = std::fs::read_to_string(folder.0.join(format!("log-{name}"))).expect("its log");
        for line in log.lines().filter(|line| !line.starts_with("moved")) {
            let (index, text) = line.split_once(' ').expect("two words");
            assert_eq!(said[index.parse::<usize>().expect("a number")], text, "each stands where it was told to stand");
        }
        let own: Vec<_> = said.iter().filter(|text| text.starts_with(name)).cloned().collect();
        assert_eq!(own, (0..EACH).map(|at| format!("{name} {at}")).collect::<Vec<_>>(), "in the order in which they were said");
    }
    let added = session.messages(0, u64::MAX).expect("read").iter().map(|message| message.record.added_at).collect::<Vec<_>>();
    assert!(added.is_sorted_by(|before, after| before < after), "each later than the one before");
    let stale = session.add(NewMessage::given(talk::said("late").to_string()), Some(3), 9).expect_err("it went on");
    assert_eq!(stale.kind(), ErrorKind::SessionMoved);
    assert_sound(&engine);
}
