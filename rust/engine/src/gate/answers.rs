//! Answers to a model's questions about the user. They are kept with their question where it says what they are about: an answer in a few
//! words may be of anybody and anything, so that nothing that is known ends by it.

use super::lexicon::NUMBERS;
use super::lists::lists;
use super::values::PREPOSITIONS;
use super::words::{Word, among, has, starts, words};

lists! { "answers":
    /// Words before a question.
    OPENINGS,
    /// Questions for what the user is allergic to.
    ALLERGY,
    /// Questions for what medicine they take.
    MEDICINE,
    /// Questions for what they do not eat, and for their health.
    DIET,
    /// Words before an answer.
    LEADS,
    /// Words and phrases with which an answer begins that names nothing.
    NONE,
    /// Words with which an answer begins that is a sentence of its own.
    OWN,
    /// Whole answers that say that it is so.
    YES,
    /// Words of a question that asks what a task needs.
    OF_TASK,
    /// Words with which an answer begins that says what to do.
    DOES_TASK,
    /// Words of a question that offers help and asks for nothing.
    OFFERS,
    /// Phrases, one of which such a question has: "Anything else?", "How can I help?"
    OF_OFFER,
    /// Verbs of a sentence, and who does something.
    SPEAKS,
}

/// Words of an answer at most that is kept with its question.
const MOST_ANSWER: usize = 16;

/// Whether a question asks for the user's health, or for what medicine they take.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Health {
    /// The things they must avoid.
    Avoids,
    /// The medicine they take.
    Takes,
}

/// Whether an answer tells of the user's health: its question says so.
pub(super) fn of_health(question: &str, said: &[Word]) -> Option<Health> {
    let begin = Some(leads(said)).filter(|at| *at < said.len()).unwrap_or(0);
    let first = said.get(begin)?.lower.as_str();
    let names_nothing = NONE.iter().any(|none| starts(said, begin, none).is_some());
    if names_nothing || among(&OWN, first) || among(&DOES_TASK, first) || has(said, "?") || said.len() > MOST_ANSWER {
        return None;
    }
    let asked = words(question);
    let mut at = 0;
    while let Some(next) = OPENINGS.iter().find_map(|opening| starts(&asked, at, opening)).filter(|next| *next < asked.len()) {
        at = next;
    }
    let asks = |phrases: &[&str]| phrases.iter().any(|phrase| starts(&asked, at, phrase).is_some());
    let chooses = asked.iter().any(|word| word.lower == "or") && among(&YES, &said[0].lower);
    if chooses {
        None
    } else if asks(&MEDICINE) {
        Some(Health::Takes)
    } else {
        (asks(&ALLERGY) || asks(&DIET)).then_some(Health::Avoids)
    }
}

/// Whether an answer to a question about the user is a part of a sentence, which says nothing without it. A task says by
/// itself what it needs ("what time would you like?").
pub(super) fn is_fragment(question: &str, said: &[Word]) -> bool {
    let asked = words(question);
    let of_user = ["do you", "are you", "your"].iter().any(|phrase| has(&asked, phrase));
    let of_task = asked.iter().any(|word| among(&OF_TASK, &word.lower));
    let Some(first) = said.first().filter(|_| of_user && !of_task) else { return false };
    let lower = first.lower.as_str();
    let leads = first.is_number() || among(&PREPOSITIONS, lower) || among(&NUMBERS, lower);
    said.len() <= MOST_ANSWER && !among(&OWN, lower) && !among(&DOES_TASK, lower) && (leads || !speaks(said))
}

/// Whether a question only offers help: "Anything else?", "How can I help you today?" An answer needs none of it. "Anything else you're
/// allergic to?" asks for something.
pub(super) fn is_offer(question: &str) -> bool {
    let asked = words(question);
    asked.iter().all(|word| word.is_mark() || among(&OFFERS, &word.lower)) && OF_OFFER.iter().any(|phrase| has(&asked, phrase))
}

/// Whether words have a verb of a sentence, or somebody who does something.
fn speaks(own: &[Word]) -> bool {
    own.iter().any(|word| among(&SPEAKS, &word.lower) || word.lower.contains('\''))
}

/// How many words stand before what an answer names.
fn leads(own: &[Word]) -> usize {
    let mut at = 0;
    while let Some(next) = LEADS.iter().find_map(|lead| starts(own, at, lead)) {
        at = next;
    }
    at
}
