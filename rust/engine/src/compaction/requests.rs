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

/// Whether the last message of the turn behind the request at a place says what came of it.
pub(super) fn is_done(units: &[Unit], at: usize, turn: &[Unit]) -> bool {
    let Some(last) = turn.iter().rfind(|unit| unit.spoken).filter(|unit| !narrates(unit)) else { return false };
    let results = || turn.iter().filter(|unit| !unit.spoken);
    if results().next_back().is_some_and(|result| result.failed) {
        return false;
    }
    let reply: Vec<&Unit> = turn.iter().filter(|unit| unit.spoken && unit.index == last.index).collect();
    if reply.iter().any(|unit| gives_up(&unit.text)) {
        return false;
    }
    let told: Vec<&Unit> = reply.into_iter().filter(|unit| states(unit) && !is_open(&unit.text)).collect();
    let worked = turn.iter().any(|unit| !unit.spoken || unit.calls);
    let says_something = worked || told.iter().any(|unit| unit.terms.all.len() >= SAYS_SOMETHING);
    let terms: HashSet<u64> = told.iter().flat_map(|unit| unit.terms.all.iter().copied()).collect();
    let shares = |asked: &[u64]| asked.iter().any(|term| terms.contains(term));
    let succeeded = !results().any(|result| result.failed);
    let is_told = || is_alone(units, at) && (says_done(&told) || succeeded && results().any(|result| shares(&result.terms.all)));
    let mut reader = Reader::default();
    let asking = reader.every(ASKING);
    let mut is_answered = |request: &str| {
        let terms: Vec<u64> = reader.terms(request).all.into_iter().filter(|term| !asking.contains(term)).collect();
        shares(&terms)
    };
    let answered = requests_of(&units[at]).all(&mut is_answered);
    says_something && !told.is_empty() && (answered || is_told())
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
