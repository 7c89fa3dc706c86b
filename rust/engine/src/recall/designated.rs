//! Things that are told apart by a letter or an ordinal alone: "station D" is not "station B", nor "the fourth workshop" the first. A number
//! mostly says how much or when, and of those that name things the analyzer knows most ("port 80").

use super::words::bare_words;
use crate::text::is_filler_written;

/// Ordinals of things, and the digits that they are written with.
const ORDINALS: [(&str, &str); 10] = [
    ("first", "1st"),
    ("second", "2nd"),
    ("third", "3rd"),
    ("fourth", "4th"),
    ("fifth", "5th"),
    ("sixth", "6th"),
    ("seventh", "7th"),
    ("eighth", "8th"),
    ("ninth", "9th"),
    ("tenth", "10th"),
];
/// Letters of a noun at least.
const LEAST_LETTERS: usize = 3;
/// Nouns of which an ordinal tells how often, and not which, without an "s" at their end.
const COUNTED: [&str; 8] = ["time", "day", "week", "month", "year", "hour", "minute", "thing"];

/// First words of questions for yes or no.
#[rustfmt::skip]
const ASKS_WHETHER: [&str; 20] = [
    "do", "did", "does", "is", "are", "am", "was", "were", "have", "has", "had", "can", "could", "will", "would", "should", "may", "isn't",
    "didn't", "don't",
];

/// One of several things of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Designated {
    /// Its name, in small letters and without an "s" at its end.
    noun: String,
    which: Which,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Which {
    /// "station D"
    Letter(u8),
    /// "the fourth workshop", by its place in [`ORDINALS`]
    Ordinal(usize),
}

/// The things that a question is about. One for yes or no is answered by another: "is my office on the fourth floor?"
pub(super) fn asked_for(question: &str) -> Vec<Designated> {
    let begins = bare_words(question).next().is_some_and(|first| ASKS_WHETHER.iter().any(|word| first.eq_ignore_ascii_case(word)));
    if begins { Vec::new() } else { designated(question) }
}

/// The things that a text designates, in its order.
fn designated(text: &str) -> Vec<Designated> {
    let mut before: Option<&str> = None;
    let mut found = Vec::new();
    for word in bare_words(text) {
        if let Some(before) = before.replace(word) {
            let (noun, which) = match letter(word) {
                Some(which) => (before, Some(which)),
                None => (word, ordinal(before)),
            };
            found.extend(which.and_then(|which| Some(Designated { noun: name(noun)?, which })));
        }
    }
    found
}

/// Whether a text designates another one of the same things, alike, and none that is asked for.
pub(super) fn is_of_another(asked: &[Designated], text: &str) -> bool {
    if asked.is_empty() {
        return false; // as mostly
    }
    let told = designated(text);
    asked.iter().any(|asked| {
        let is_such =
            |one: &&Designated| one.noun == asked.noun && std::mem::discriminant(&one.which) == std::mem::discriminant(&asked.which);
        told.iter().any(|one| is_such(&one)) && !told.contains(asked)
    })
}

fn letter(word: &str) -> Option<Which> {
    match word.as_bytes() {
        [b'I'] => None,
        [letter @ b'A'..=b'Z'] => Some(Which::Letter(*letter)),
        _ => None,
    }
}

fn ordinal(word: &str) -> Option<Which> {
    let is_it = |(long, short): &(&str, &str)| word.eq_ignore_ascii_case(long) || word.eq_ignore_ascii_case(short);
    ORDINALS.iter().position(is_it).map(Which::Ordinal)
}

/// The name of a thing, as [`Designated`] has it.
fn name(word: &str) -> Option<String> {
    let is_name = word.len() >= LEAST_LETTERS && word.bytes().all(|byte| byte.is_ascii_alphabetic()) && !is_filler_written(word);
    let name = word.to_ascii_lowercase().trim_end_matches('s').to_owned();
    (is_name && !COUNTED.contains(&&*name) && ordinal(word).is_none()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_letter_or_ordinal_of_the_same_is_another_thing() {
        let is_other = |asked: &str, told: &str| is_of_another(&asked_for(asked), told);
        for (asked, told) in [
            ("how many limpets at station D?", "station B: tagged 14 limpets"),
            ("what did the fourth workshop make?", "the first workshop made 420"),
            ("who has room D?", "room B is booked for Ann, rooms are scarce"),
            ("what was the 2nd draft about?", "the third draft is about bees"),
            ("what is vitamin D good for?", "I take vitamin C"),
        ] {
            assert!(is_other(asked, told), "{asked} {told}");
        }
        for (asked, told) in [
            ("how many limpets at station D?", "station D: tagged 14, station B: 9"),
            ("how many limpets at station D?", "tagged 14 limpets"),
            ("how many limpets at station D?", "the second station: 9"),
            ("what did I tell you the second time?", "the first time we met"),
            ("what did I do on day 3?", "day 1 was fun"),
            ("what am I allergic to, and should I know?", "what I said: plan B"),
            ("who has the first edition?", "the first editions of both are Ann's"),
            ("Is A good?", "Is B good?"),
            ("when is my flight, March 15?", "my flight is on March 14"),
            ("how much do I owe Sam, 40 euros?", "I owe Sam 60 euros"),
            ("is my office on the fourth floor?", "my office is on the third floor"),
        ] {
            assert!(!is_other(asked, told), "{asked} {told}");
        }
    }
}
