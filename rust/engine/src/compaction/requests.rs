//! Whether a request to find something out was done in its turn.
//!
//! The message that ends the turn does so where it speaks of the request or of what the tools returned, or says that it is done, or
//! gives a number, a name or a yes to a message that is nothing but the request. It does not where it gives up, puts off or does not know
//! (`replies.rs`), nor where the last call failed or was cancelled. Each of several requests of one message is judged by itself: an answer
//! to one does not close another.

use std::collections::HashSet;

use super::cues::{asks, is_request, words};
use super::questions::narrates;
use super::replies::Reply;
use super::rules::Unit;
use super::terms::Reader;
use super::units::sentences;
use crate::text::speech::{acknowledges, answers_nothing};

/// The terms of a reply that is more than "Noted, thanks.".
const SAYS_SOMETHING: usize = 3;
/// The words of requests, which are not about anything.
pub(super) const ASKING: &str = "figure find out not sure know idea";
/// A sentence that begins so says that it is done.
pub(super) const DONE: [&str; 12] =
    ["done", "fixed", "solved", "resolved", "finished", "completed", "all done", "its done", "it is done", "erledigt", "fertig", "hecho"];
/// A sentence with one of these puts the answer off.
const PUTS_OFF: [&str; 7] = ["let me ask", "ill ask", "i will ask", "will tell us", "will let us know", "hard to say", "too early to say"];
/// A sentence puts the answer off that is nothing but this, or has it before a comma.
const WAITS: [&str; 17] = [
    "later",
    "maybe later",
    "hold on",
    "hang on",
    "one moment",
    "one second",
    "just a moment",
    "a moment",
    "well see",
    "we will see",
    "that depends",
    "it depends",
    "depends",
    "cant say",
    "cannot say",
    "good question",
    "leave it open",
];
/// One that begins so does.
const DEFERS_FIRST: [&str; 24] = [
    "ask me tomorrow",
    "ask me later",
    "ask me again",
    "ask me next",
    "ask me on",
    "remind me",
    "give me a day",
    "give me a week",
    "give me a minute",
    "give me a moment",
    "give me a second",
    "give me some time",
    "still thinking",
    "im still thinking",
    "still waiting",
    "im still waiting",
    "im waiting for",
    "i am waiting for",
    "were waiting for",
    "that depends on",
    "cant say yet",
    "i cant say yet",
    "skip that for now",
    "not yet decided",
];
/// One with one of these does.
const DEFERS: [&str; 25] = [
    "let me think",
    "let us think",
    "lets think",
    "ill think about",
    "i will think about",
    "think it over",
    "ill let you know",
    "i will let you know",
    "well let you know",
    "ill tell you",
    "i will tell you",
    "to sleep on it",
    "have to talk to",
    "need to talk to",
    "park that",
    "park it",
    "back to that later",
    "back to it later",
    "back to this later",
    "about that later",
    "open for now",
    "decides that next",
    "decide that later",
    "lets discuss",
    "let us discuss",
];

/// The answer that the last message of a turn gives to the requests before it.
struct Outcome {
    reply: Reply,
    terms: HashSet<u64>,
    says_something: bool,
    /// It says that it is done, or speaks of what the tools returned.
    tells: bool,
}

impl Outcome {
    fn of(turn: &[Unit], reader: &mut Reader) -> Option<Self> {
        let last = turn.iter().rfind(|unit| unit.spoken).filter(|unit| !narrates(unit))?;
        let results = || turn.iter().filter(|unit| !unit.spoken);
        if results().next_back().is_some_and(|result| result.failed) {
            return None;
        }
        let texts: Vec<&str> = turn.iter().filter(|unit| unit.spoken && unit.index == last.index).map(|unit| &*unit.text).collect();
        let reply = Reply::of(&texts, reader)?;
        let terms: HashSet<u64> = reply.told.iter().flat_map(|clause| clause.terms.all.iter().copied()).collect();
        let worked = turn.iter().any(|unit| !unit.spoken || unit.calls);
        let says_something = worked && !reply.told.is_empty() || terms.len() >= SAYS_SOMETHING;
        let succeeded = !results().any(|result| result.failed);
        let says_done = reply.told.iter().any(|clause| begins(&words(&clause.text), &DONE));
        let tells = says_done || succeeded && results().any(|result| result.terms.all.iter().any(|term| terms.contains(term)));
        Some(Self { reply, terms, says_something, tells })
    }
}

/// Judges requests, one after another. The turn behind the requests of one message is read once.
#[derive(Default)]
pub(super) struct Requests<'u> {
    turn: &'u [Unit],
    outcome: Option<Outcome>,
    reader: Reader,
    asking: Vec<u64>,
}

impl<'u> Requests<'u> {
    /// Whether the last message of the turn behind the request at a place says what came of it.
    pub fn is_done(&mut self, units: &[Unit], at: usize, turn: &'u [Unit]) -> bool {
        let reader = &mut self.reader;
        if !std::ptr::eq(self.turn, turn) {
            (self.turn, self.outcome) = (turn, Outcome::of(turn, reader));
        }
        let Some(outcome) = self.outcome.as_ref() else { return false };
        if self.asking.is_empty() {
            self.asking = reader.every(ASKING);
        }
        let asked: Vec<(&str, Vec<u64>)> = requests_of(&units[at])
            .map(|request| (request, reader.terms(request).all.into_iter().filter(|term| !self.asking.contains(term)).collect()))
            .collect();
        if asked.iter().any(|(request, terms)| outcome.reply.fails(request, terms)) {
            return false;
        }
        let is_answered = |(_, terms): &(&str, Vec<u64>)| terms.iter().any(|term| outcome.terms.contains(term));
        if outcome.says_something && (asked.iter().all(is_answered) || outcome.tells && is_alone(units, at)) {
            return true;
        }
        is_all(units, at) && asked.iter().all(|(request, terms)| outcome.reply.is_terse(request, terms))
    }
}

/// Whether the message of a place says nothing but its request.
fn is_all(units: &[Unit], at: usize) -> bool {
    let is_same = |unit: &&Unit| unit.index == units[at].index && unit.spoken;
    let mut beside = units[..at].iter().rev().take_while(is_same).chain(units[at + 1..].iter().take_while(is_same));
    let says = |sentence: &&str| !acknowledges(sentence) && sentence.chars().any(char::is_alphanumeric);
    sentences(&units[at].text).iter().filter(|sentence| says(sentence)).count() == 1 && beside.next().is_none()
}

/// Whether the message of a place makes one request.
fn is_alone(units: &[Unit], at: usize) -> bool {
    let is_same = |unit: &&Unit| unit.index == units[at].index;
    let before = units[..at].iter().rev().take_while(is_same);
    let mut requests = units[at..].iter().take_while(is_same).chain(before).flat_map(requests_of);
    requests.next().is_some() && requests.next().is_none()
}

/// The sentences of a unit that ask to find something out.
fn requests_of(unit: &Unit) -> impl Iterator<Item = &str> {
    sentences(&unit.text).into_iter().filter(|sentence| is_request(sentence))
}

/// Whether a reply says that its speaker does not know, or not yet.
pub(super) fn puts_off(text: &str) -> bool {
    !asks(text) && answers_nothing(text) || has(text, &PUTS_OFF) || waits(text)
}

/// Whether the first sentence of a reply puts the answer off, and no later one has a number. Behind an answer it is a caveat.
fn waits(text: &str) -> bool {
    let says = |sentence: &&str| !acknowledges(sentence) && sentence.chars().any(char::is_alphanumeric);
    let mut stated = sentences(text).into_iter().filter(says);
    stated.next().is_some_and(defers) && !stated.any(|sentence| sentence.contains(char::is_numeric))
}

/// "Postgres, I'll let you know the version" answers; "Hm, let me think" does not.
fn defers(sentence: &str) -> bool {
    let before_but = sentence.split(" but ").next().unwrap_or(sentence);
    let (said, head) = (words(before_but), words(before_but.split(',').next().unwrap_or_default()));
    let behind = usize::from(head.first().is_some_and(|word| matches!(&**word, "sorry" | "hm" | "hmm" | "well" | "ok" | "okay")));
    let is_answer = behind == 0 && before_but.contains(',') && !begins(&head, &DEFERS_FIRST) && !has_one(&head, &DEFERS);
    WAITS.contains(&&*head[behind..].join(" ")) || !is_answer && (begins(&said[behind..], &DEFERS_FIRST) || has_one(&said, &DEFERS))
}

fn has(text: &str, phrases: &[&str]) -> bool {
    has_one(&words(text), phrases)
}

/// Whether words have one of some phrases.
pub(super) fn has_one(words: &[String], phrases: &[&str]) -> bool {
    (0..words.len()).any(|at| begins(&words[at..], phrases))
}

/// Whether words begin with one of some phrases.
pub(super) fn begins(words: &[String], phrases: &[&str]) -> bool {
    let is_first = |phrase: &str| {
        let mut rest = words.iter();
        phrase.split(' ').all(|word| rest.next().is_some_and(|next| next == word))
    };
    phrases.iter().any(|phrase| is_first(phrase))
}
