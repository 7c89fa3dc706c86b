//! Wishes, plans, proposals and conditions. "I want to live in Paris", told later than "I live in Rome", is nothing newer.

use crate::gate::Beginnings;

/// Verbs of a wish or a plan, before "to" and a verb.
const WISHES: [&str; 16] = [
    "want", "wants", "wanted", "hope", "hopes", "hoping", "wish", "wishes", "plan", "plans", "planning", "intend", "intends", "like",
    "love", "dream",
];
/// Of these, those that say what somebody does where no "would" stands before them: "I like to swim".
const LIKES: [&str; 2] = ["like", "love"];
/// Words by which such a verb is a wish: "I'd love to", "we would like to".
const WOULD: [&str; 6] = ["would", "i'd", "we'd", "he'd", "she'd", "they'd"];
/// Verbs behind "want to" by which somebody says how it is to be from now on: "I want to be called Bob", "we want to use tabs".
const FROM_NOW_ON: [&str; 8] = ["be", "use", "keep", "stay", "see", "hear", "have", "get"];
/// Words before "of" or "about" of a thought.
const THOUGHTS: [&str; 6] = ["thinking", "think", "dreaming", "dream", "dreams", "talking"];
/// Words that make all of it a possibility.
const MAYBE: [&str; 12] = [
    "might",
    "maybe",
    "perhaps",
    "considering",
    "considers",
    "suggested",
    "suggests",
    "proposed",
    "proposes",
    "proposal",
    "possibly",
    "eventually",
];
/// How the words begin of which one is needed, but for a condition.
static BEGINNINGS: Beginnings = Beginnings::of(&[&WISHES, &THOUGHTS, &MAYBE]);
/// The word that begins a condition.
const IF: &str = "if";
/// Words of a text that are looked at.
const MOST_WORDS: usize = 24;

/// Whether a text, given as its bare words, says what may be, and not what is.
pub(super) fn says_what_may_be(words: &[&str]) -> bool {
    let is = |at: usize, known: &[&str]| words.get(at).is_some_and(|word| known.iter().any(|one| one.eq_ignore_ascii_case(word)));
    let is_wish = |at: usize| {
        let would = || (at.saturating_sub(2)..at).any(|before| is(before, &WOULD));
        is(at, &WISHES) && is(at + 1, &["to"]) && !is(at + 2, &FROM_NOW_ON) && (!is(at, &LIKES) || would())
    };
    let is_thought = |at: usize| is(at, &THOUGHTS) && is(at + 1, &["of", "about"]);
    let may_be = |at: usize| BEGINNINGS.may_have(words[at]) && (is(at, &MAYBE) || is_thought(at) || is_wish(at));
    is(0, &[IF]) || (0..words.len().min(MOST_WORDS)).any(may_be)
}

#[cfg(test)]
mod tests {
    use super::super::words::Words;
    use super::*;

    #[test]
    fn wishes_plans_and_proposals_say_what_may_be() {
        let says = |text: &str| says_what_may_be(&Words::of(text).bare);
        for text in [
            "I want to live in Paris",
            "I'd love to live in Paris one day",
            "We would really like to move to Oslo",
            "I might buy a Volvo",
            "I'm considering a Volvo",
            "We are thinking of moving to Paris",
            "Bob suggested that we move the database to MySQL",
            "If load grows we will move the database to Cassandra",
            "The landlord wants to raise the rent to 950 euros",
            "I plan to switch to Go",
        ] {
            assert!(says(text), "{text}");
        }
        for text in [
            "I live in Paris",
            "I want to be called Bob",
            "We want to use tabs",
            "I like to swim at the Aqua Club",
            "I want the aisle seat",
            "My phone plan is Basic",
            "I moved to Paris in May",
            "The plan costs 9 euros",
        ] {
            assert!(!says(text), "{text}");
        }
    }
}
