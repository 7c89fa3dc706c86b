//! Courtesies: texts that greet, thank, acknowledge, or let the other one go on, and say nothing else.

use super::speech::{MOST_BYTES, Word, begins_with, is_in, is_question_mark};
use super::speech_words::{List, Phrases};

/// Words that thank.
pub(super) const THANKS: [&str; 7] = ["thank", "thanks", "thankyou", "thx", "cheers", "appreciate", "appreciated"];

/// Phrases for what people thank for when nothing is left to be done. Of two that begin alike the longer one comes first.
#[rustfmt::skip]
pub(super) const THANKED_FOR: [&str; 21] = [
    "for all your help", "for all the help", "for your help", "for you help", "for the help", "for helping me out", "for helping me",
    "for helping", "for your assistance", "for the assistance", "for your time", "for the information", "for the info",
    "the help you provided", "your help", "the help", "all the help i need", "all the help i needed", "all i needed", "all i need",
    "all i want",
];

/// Words and phrases that say nothing beside these.
#[rustfmt::skip]
pub(super) const BESIDE_THANKS: [&str; 22] = [
    "have a good day", "have a great day", "have a nice day", "a lot", "a ton", "a bunch", "a million", "for now", "for today", "no", "nope",
    "nah", "so", "very", "much", "really", "again", "and", "is", "i", "you", "be",
];

/// Whether a text has no word but those of greeting, thanking and acknowledging: "Noted, thanks!", "No, thank you for all your help". Yes and
/// no are answers.
#[must_use]
pub fn acknowledges(text: &str) -> bool {
    let words = words_of(text);
    !words.is_empty() && ((0..words.len()).all(|at| is_courteous(&words, at)) || !text.contains(is_question_mark) && thanks(&words))
}

/// Whether a text only lets the other one go on: "ok, go on", "yes please", "why?". As a question it asks memory nothing.
#[must_use]
pub fn goes_on(text: &str) -> bool {
    let words = words_of(text);
    !words.is_empty() && (0..words.len()).all(|at| is_courteous(&words, at) || is_in(&words, at, List::GoingOn))
}

/// The words of a text; none of one that is too long.
fn words_of(text: &str) -> Vec<Word> {
    if text.len() > MOST_BYTES { Vec::new() } else { Word::all(&text.to_lowercase()) }
}

fn is_courteous(words: &[Word], at: usize) -> bool {
    [List::Courtesy, List::Acknowledgements].iter().any(|list| is_in(words, at, *list))
}

/// Whether words thank for what was done, and say nothing else.
fn thanks(words: &[Word]) -> bool {
    let (mut at, mut is_thanked_for) = (0, false);
    while at < words.len() {
        let thanked_for = begins_with(&words[at..], Phrases::ThankedFor);
        is_thanked_for |= thanked_for.is_some();
        match thanked_for.or_else(|| begins_with(&words[at..], Phrases::BesideThanks)) {
            Some(count) => at += count,
            None if is_courteous(words, at) || is_in(words, at, List::Thanks) => at += 1,
            None => return false,
        }
    }
    is_thanked_for && (0..words.len()).any(|at| is_in(words, at, List::Thanks))
}
