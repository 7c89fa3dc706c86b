//! Whether a request to find something out was done in its turn.
//!
//! The message that ends the turn does so where it speaks of the request or of what the tools returned, or says that it is done. It does
//! not where it gives up, puts off or does not know, nor where the last call failed or was cancelled. Each of several requests of one
//! message is judged by itself: an answer to one does not close another.

use std::collections::HashSet;

use super::cues::{asks, is_open, is_request, words};
use super::questions::{narrates, states};
use super::rules::Unit;
use super::terms::Reader;
use super::units::sentences;
use crate::text::speech::answers_nothing;

/// The terms of a reply that is more than "Noted, thanks.".
const SAYS_SOMETHING: usize = 3;
/// The words of requests, which are not about anything.
const ASKING: &str = "figure find out not sure know idea";
/// A sentence that begins so says that it is done.
const DONE: [&str; 12] =
    ["done", "fixed", "solved", "resolved", "finished", "completed", "all done", "its done", "it is done", "erledigt", "fertig", "hecho"];
/// A sentence that begins so says that nothing came of it.
const GIVES_UP_FIRST: [&str; 13] = [
    "stopped",
    "cancelled",
    "canceled",
    "aborted",
    "interrupted",
    "nothing",
    "could not",
    "couldnt",
    "unable",
    "failed to",
    "found nothing",
    "no results",
    "no luck",
];
/// A sentence with one of these puts the answer off.
const PUTS_OFF: [&str; 7] = ["let me ask", "ill ask", "i will ask", "will tell us", "will let us know", "hard to say", "too early to say"];
/// A sentence with one of these gives up.
const GIVES_UP: [&str; 33] = [
    "i could not",
    "i couldnt",
    "we could not",
    "we couldnt",
    "i cannot",
    "i cant",
    "i was not able",
    "i wasnt able",
    "i am not able",
    "im not able",
    "i was unable",
    "i am unable",
    "im unable",
    "i did not find",
    "i didnt find",
    "i did not get",
    "i didnt get",
    "i found nothing",
    "found no",
    "i was stopped",
    "i was interrupted",
    "i was cancelled",
    "i stopped",
    "i gave up",
    "i failed to",
    "tool timed out",
    "call timed out",
    "tool failed",
    "call failed",
    "will try",
    "ill try",
    "try again",
    "try once more",
];

/// The answer that the last message of a turn gives to the requests before it.
struct Outcome {
    terms: HashSet<u64>,
    says_something: bool,
    /// It says that it is done, or speaks of what the tools returned.
    tells: bool,
}

impl Outcome {
    fn of(turn: &[Unit]) -> Option<Self> {
        let last = turn.iter().rfind(|unit| unit.spoken).filter(|unit| !narrates(unit))?;
        let results = || turn.iter().filter(|unit| !unit.spoken);
        if results().next_back().is_some_and(|result| result.failed) {
            return None;
        }
        let reply: Vec<&Unit> = turn.iter().filter(|unit| unit.spoken && unit.index == last.index).collect();
        if reply.iter().any(|unit| gives_up(&unit.text)) {
            return None;
        }
        let told: Vec<&Unit> = reply.into_iter().filter(|unit| states(unit) && !is_open(&unit.text)).collect();
        let terms: HashSet<u64> = told.iter().flat_map(|unit| unit.terms.all.iter().copied()).collect();
        let worked = turn.iter().any(|unit| !unit.spoken || unit.calls);
        let says_something = told.iter().any(|unit| worked || unit.terms.all.len() >= SAYS_SOMETHING);
        let succeeded = !results().any(|result| result.failed);
        let tells = says_done(&told) || succeeded && results().any(|result| result.terms.all.iter().any(|term| terms.contains(term)));
        Some(Self { terms, says_something, tells })
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
        if !std::ptr::eq(self.turn, turn) {
            (self.turn, self.outcome) = (turn, Outcome::of(turn));
        }
        let Some(outcome) = self.outcome.as_ref().filter(|outcome| outcome.says_something) else { return false };
        if self.asking.is_empty() {
            self.asking = self.reader.every(ASKING);
        }
        let (reader, asking) = (&mut self.reader, &self.asking);
        let mut is_answered = |request: &str| {
            let terms = reader.terms(request).all;
            terms.iter().any(|term| !asking.contains(term) && outcome.terms.contains(term))
        };
        requests_of(&units[at]).all(&mut is_answered) || outcome.tells && is_alone(units, at)
    }
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

fn says_done(told: &[&Unit]) -> bool {
    let is_done = |sentence: &str| !asks(sentence) && begins(&words(sentence), &DONE);
    told.iter().any(|unit| sentences(&unit.text).into_iter().any(is_done))
}

/// Whether a reply says that nothing came of a request.
fn gives_up(text: &str) -> bool {
    let begins_so = |sentence: &str| begins(&words(sentence), &GIVES_UP_FIRST);
    puts_off(text) || has(text, &GIVES_UP) || sentences(text).into_iter().any(begins_so)
}

/// Whether a reply says that its speaker does not know, or not yet.
pub(super) fn puts_off(text: &str) -> bool {
    !asks(text) && answers_nothing(text) || has(text, &PUTS_OFF)
}

fn has(text: &str, phrases: &[&str]) -> bool {
    let words = words(text);
    (0..words.len()).any(|at| begins(&words[at..], phrases))
}

/// Whether words begin with one of some phrases.
fn begins(words: &[String], phrases: &[&str]) -> bool {
    let is_first = |phrase: &str| {
        let mut rest = words.iter();
        phrase.split(' ').all(|word| rest.next().is_some_and(|next| next == word))
    };
    phrases.iter().any(|phrase| is_first(phrase))
}
