//! Whether a question asks for something of the user's own life: "which editor do I use?", "what town do we live in?".
//!
//! Many answers to such a question share no word with it ("moved to VS Code"), and no other source has them. So a prompt takes the next
//! nearest memories as well. Who asks what to do ("how do I sort a list?", "should I wait?"), or asks for a service ("can you check my
//! code?"), asks the model.

use super::whose::speaks_of_own;
use super::words::{bare_words, is_any};
use crate::text::speech::asks;

/// Words of the longest question that looks something up: set.
const MOST_WORDS: usize = 24;
/// Marks at which what was said before a question ends.
const ENDS: [char; 4] = ['.', '!', ';', '\n'];
/// The user, as the subject of a question.
const SUBJECTS: [&str; 2] = ["i", "we"];
/// Before the user they ask what to do, what may be done, or what comes of it.
const ADVISES: [&str; 9] = ["can", "could", "should", "shall", "would", "may", "might", "must", "if"];
/// What follows "how do I" where that asks how something is, and not how it is done.
const HABITS: [&str; 14] =
    ["like", "prefer", "take", "drink", "eat", "feel", "spell", "pay", "travel", "commute", "get", "usually", "normally", "know"];
/// What follows "why" where that asks for the user's own reasons.
const REASONS: [&str; 4] = ["did", "do", "was", "were"];
/// Who asks for a service begins with one of these and "you".
const SERVICES: [&str; 4] = ["can", "could", "would", "will"];
/// Services that are an answer.
const TELLS: [&str; 5] = ["tell", "remind", "recall", "remember", "say"];

/// Whether a question asks for something of the user's own life.
pub(super) fn asks_of_own(question: &str) -> bool {
    let question = question.trim_end().trim_end_matches(ENDS);
    let last = question.rsplit(ENDS).next().unwrap_or(question);
    let words: Vec<&str> = bare_words(last).take(MOST_WORDS + 1).collect();
    words.len() <= MOST_WORDS
        && speaks_of_own(words.iter().copied())
        && asks(last)
        && !asks_for_advice(&words)
        && !asks_for_a_service(&words)
}

fn asks_for_advice(words: &[&str]) -> bool {
    let is = |at: usize, known: &[&str]| words.get(at).is_some_and(|word| is_any(word, known));
    let needs = |at: usize| is(at, &["need"]) || is(at, &["have"]) && is(at + 1, &["to"]);
    let advises = |at: usize| is(at, &SUBJECTS) && (at > 0 && is(at - 1, &ADVISES) || needs(at + 1));
    let is_how = is(0, &["how"]) && is(1, &["do", "to"]) && !is(3, &HABITS);
    let is_why = is(0, &["why"]) && !is(1, &REASONS);
    is_how || is_why || (0..words.len()).any(advises)
}

fn asks_for_a_service(words: &[&str]) -> bool {
    let [first, second, rest @ ..] = words else { return false };
    is_any(first, &SERVICES) && is_any(second, &["you"]) && !rest.iter().take(2).any(|word| is_any(word, &TELLS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_about_the_users_own_life_are_told_from_those_to_the_model() {
        for own in [
            "which editor do I use?",
            "what town do we live in",
            "Who was my boss before I quit?",
            "do I eat meat?",
            "Where's my car parked?",
            "how do I take my coffee?",
            "how much do I pay for electricity a month?",
            "Is my sister still vegan?",
            "why did I leave Freightly?",
            "Can you remind me what our wifi is called?",
            "I'm back. Which editor do I use?",
            "when is our anniversary?",
            "am I allergic to anything?",
        ] {
            assert!(asks_of_own(own), "{own:?}");
        }
        for other in [
            "how do I sort a list in Python?",
            "How do we deploy to Kubernetes?",
            "should I use a mutex here?",
            "what can I cook with chickpeas?",
            "Can you check my code?",
            "could you write me a poem about spring?",
            "what happens if I drop the table?",
            "why is my build failing?",
            "do I need a visa for Japan?",
            "do I have to rinse rice?",
            "what's the capital of France?",
            "Which editor does Anna use?",
            "I use Vim.",
            "thanks!",
            "",
        ] {
            assert!(!asks_of_own(other), "{other:?}");
        }
    }
}
