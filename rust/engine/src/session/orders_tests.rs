//! Standing orders that a later message ends, and those that it leaves.

use super::properties::{Folder, engine};
use super::*;
use crate::engine::Engine;
use crate::gate::Heard;
use crate::life::judgement::Judgement;
use crate::scope::{Scope, ScopeType};

const DAY: i64 = crate::units::calendar::DAY;

/// The texts that are known to a user after messages, one a day.
fn known(engine: &Engine, user: &str, messages: &[&str]) -> Vec<String> {
    let (scope, mut now) = (Scope::new(None, ScopeType::User, user).unwrap(), 2 * DAY);
    for text in messages {
        now += DAY;
        let judged = Judgement::given(engine, &scope, vec![Heard::new(0, "user", text, None)], 0, false, now).unwrap();
        let claims = judged.memories(vec![None; judged.wanted().count()], None).unwrap();
        learn(engine, &scope, claims, judged.from(), None, now + 1).unwrap();
    }
    let known = engine.memories(&scope, 0, 100, 0x7f, now + 2).unwrap();
    known.into_iter().map(|memory| memory.text).collect()
}

/// Whether what the first message told is still known after the second one.
fn stays(engine: &Engine, place: usize, first: &str, second: &str) -> (bool, Vec<String>) {
    let before = known(engine, &format!("before-{place}"), &[first]);
    let after = known(engine, &format!("after-{place}"), &[first, second]);
    assert!(!before.is_empty(), "{first}");
    (before.iter().all(|one| after.contains(one)), after)
}

#[test]
fn what_names_a_thing_and_says_more_is_ended_by_no_order_about_it() {
    let folder = Folder::new();
    let engine = engine(&folder.0);
    let facts = [
        "My daughter Mia loves emojis and is allergic to nuts",
        "I'm allergic to nuts and love emojis",
        "My wife is German",
        "I'm learning German",
        "I speak German",
        "I sell tables",
        "We have two tables in the garden",
        "I earn in dollars",
        "I love emojis",
        "My boss Tom uses emojis in mails",
        "Always call me Ana and use emojis",
        "Always answer in English and in bullet points",
        "Always use bullets for recipes",
        "Always put the table of contents first",
        "Use metric units and markdown",
    ];
    let lifts = [
        "No more emojis please",
        "No more German please",
        "No more bullet points please",
        "No more dollars please",
        "Don't use emojis any more",
        "Don't use tables any more",
        "You don't have to use emojis any more",
        "Stop using markdown",
        "Stop answering in English",
        "Enough with the emojis",
        "Emojis are fine again",
    ];
    for (place, (fact, lift)) in facts.iter().flat_map(|fact| lifts.iter().map(move |lift| (fact, lift))).enumerate() {
        let (stays, after) = stays(&engine, place, fact, lift);
        assert!(stays, "{fact} | {lift}: {after:?}");
    }
}

#[test]
fn an_order_stays_where_somebody_complains_or_speaks_of_one_text() {
    let folder = Folder::new();
    let engine = engine(&folder.0);
    let (english, no_emojis, bullets) = ("Always answer in English.", "Never use emojis.", "Always answer in bullet points.");
    let cases = [
        (english, "Your answers are in Dutch again!"),
        (english, "Your reply is in Dutch, not English"),
        (english, "In Dutch again!"),
        (english, "No more German please"),
        ("Please answer in English.", "Your reply is in Dutch, not English"),
        (no_emojis, "You used emojis again"),
        (no_emojis, "Emojis again!"),
        (no_emojis, "No emojis again!"),
        (no_emojis, "Using emojis again!"),
        (no_emojis, "The emojis are back!"),
        (no_emojis, "you always use emojis!"),
        ("Always answer in full sentences.", "You are using bullets again"),
        ("Please answer briefly.", "Your answers are long again"),
        ("Always answer briefly.", "Your answers are long again"),
        (bullets, "The answer is in prose again"),
        (bullets, "In this answer, full sentences please, no bullets"),
        (bullets, "In the email, full sentences, no bullets"),
        (bullets, "For the report, full sentences please, no bullets"),
        (bullets, "For the report, always write full sentences, no bullets"),
        (bullets, "For the email, don't use bullets any more"),
        (bullets, "Give me the text in paragraphs, no bullets"),
        (bullets, "the text is in paragraphs, no bullets"),
        (bullets, "Write me an email to Tom. Use full sentences, no bullets."),
        (bullets, "Write me an email to Tom. Full sentences please, no bullets."),
        (bullets, "Put this in paragraphs, no bullets"),
        (english, "Write the email in Dutch, not English"),
        (no_emojis, "Use emojis in the email again"),
        ("Please answer in bullet points.", "In the email, full sentences, no bullets"),
        ("Please write in paragraphs.", "No more bullet points please"),
        ("Always write in paragraphs.", "Never use bullets."),
        ("Keep answers under 200 words.", "Please always be brief"),
        ("Keep answers under 200 words.", "Always write at least 20 words"),
        ("Always write at least 20 words", "Keep answers under 200 words."),
    ];
    for (place, (order, said)) in cases.into_iter().enumerate() {
        let (stays, after) = stays(&engine, place, order, said);
        assert!(stays, "{order} | {said}: {after:?}");
    }
}

#[test]
fn an_order_ends_where_it_is_withdrawn_or_another_one_is_given() {
    let folder = Folder::new();
    let engine = engine(&folder.0);
    let (bullets, brief, no_emojis) = ("Always answer in bullet points.", "Please answer briefly.", "Never use emojis.");
    let cases = [
        (bullets, "no more bullet points please, write full sentences"),
        (bullets, "Thanks! No more bullet points please, write full sentences."),
        (bullets, "no more bullet points please"),
        (bullets, "don't use bullets any more"),
        (bullets, "please write full sentences again"),
        (bullets, "write full sentences, no bullets please"),
        ("Please answer in bullet points.", "no more bullet points please"),
        (brief, "please give me long detailed answers from now on"),
        (brief, "your answers may be longer from now on"),
        ("keep your answers under 50 words", "you can write longer answers again"),
        ("Keep answers under 200 words.", "Keep answers under 100 words."),
        ("answer in lowercase only", "use normal capitalisation again"),
        (no_emojis, "You can use emojis again"),
        (no_emojis, "Emojis are fine again"),
        ("Always use emojis.", "No more emojis please"),
        ("Always answer in German.", "No more German please"),
        ("Always answer in German.", "Stop replying in German"),
        ("Always answer in French.", "Answer in English again please"),
        ("Always answer in French.", "In future, always answer in English"),
    ];
    for (place, (order, said)) in cases.into_iter().enumerate() {
        let (stays, after) = stays(&engine, place, order, said);
        assert!(!stays && after.len() == 1, "{order} | {said}: {after:?}");
    }
}
