//! How a memory says something, whatever it is compared with: as a change, as what was, as a wish or a plan, of some days of the week.
//! "I want to live in Paris", told later than "I live in Rome", is nothing newer.

use super::super::bygone::may_tell_of_past;
use super::super::words::{Words, is_any};
use crate::gate::Beginnings;

/// Words that say that it is otherwise than before.
const CHANGE: [&str; 27] = [
    "now",
    "switched",
    "changed",
    "moved",
    "instead",
    "anymore",
    "longer",
    "new",
    "newer",
    "updated",
    "renamed",
    "replaced",
    "rescheduled",
    "postponed",
    "again",
    "since",
    "became",
    "becomes",
    "migrated",
    "ported",
    "upgraded",
    "actually",
    "correction",
    "not",
    "raised",
    "lowered",
    "left",
];
/// How they begin.
static CHANGES: Beginnings = Beginnings::of(&[&CHANGE]);
/// Days that come again each week, and the ends of weeks.
const DAYS: [&str; 9] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "weekend", "weekday"];
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
const MAYBE: [&str; 10] =
    ["might", "maybe", "perhaps", "considering", "considers", "suggested", "suggests", "proposed", "proposes", "proposal"];
/// How the words begin of which one is needed, but for a condition.
static BEGINNINGS: Beginnings = Beginnings::of(&[&WISHES, &THOUGHTS, &MAYBE]);
/// The word that begins a condition.
const IF: &str = "if";
/// Words of a text that are looked at.
const MOST_WORDS: usize = 24;

/// How something is said, whatever it is compared with.
#[allow(clippy::struct_excessive_bools)] // each by itself
pub(super) struct Manner {
    /// It is otherwise than before.
    pub says_change: bool,
    /// It may tell of what was ([`super::super::bygone::tells_of_past`]).
    pub may_be_past: bool,
    /// It is a wish, a plan or a proposal.
    pub may_be: bool,
    /// It is so on some days of each week.
    pub at_times: bool,
}

impl Manner {
    pub fn of(text: &Words<'_>) -> Self {
        Self {
            says_change: says_change(&text.bare),
            may_be_past: may_tell_of_past(text),
            may_be: says_what_may_be(&text.bare),
            at_times: is_at_times(&text.bare),
        }
    }
}

/// Whether a text says that something is otherwise than before.
pub(in crate::recall) fn says_change(words: &[&str]) -> bool {
    words.iter().take(MOST_WORDS).any(|word| CHANGES.may_have(word) && is_any(word, &CHANGE))
}

/// Whether a text says that something is so on some days of each week: "on Saturdays", "at weekends".
fn is_at_times(words: &[&str]) -> bool {
    let days = |word: &str| word.strip_suffix(['s', 'S']).is_some_and(|day| is_any(day, &DAYS));
    words.windows(2).take(MOST_WORDS).any(|pair| is_any(pair[0], &["on", "at"]) && days(pair[1]))
}

/// Whether a text, given as its bare words, says what may be, and not what is.
fn says_what_may_be(words: &[&str]) -> bool {
    let is = |at: usize, known: &[&str]| words.get(at).is_some_and(|word| is_any(word, known));
    let is_wish = |at: usize| {
        let would = || (at.saturating_sub(2)..at).any(|before| is(before, &WOULD));
        is(at, &WISHES) && is(at + 1, &["to"]) && !is(at + 2, &FROM_NOW_ON) && (!is(at, &LIKES) || would())
    };
    let is_thought = |at: usize| is(at, &THOUGHTS) && is(at + 1, &["of", "about"]);
    // "As Ana proposed, the deadline is May 9" says what is so.
    let is_maybe = |at: usize| is(at, &MAYBE) && !(at.saturating_sub(2)..at).any(|before| is(before, &["as"]));
    let may_be = |at: usize| BEGINNINGS.may_have(words[at]) && (is_maybe(at) || is_thought(at) || is_wish(at));
    is(0, &[IF]) && !is(1, &["you"]) || (0..words.len().min(MOST_WORDS)).any(may_be)
}

#[cfg(test)]
mod tests {
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
            "As Ana proposed, the deadline is May 9",
            "If you call me, my phone number is 555",
            "We eventually chose MySQL",
        ] {
            assert!(!says(text), "{text}");
        }
    }

    #[test]
    fn what_is_so_on_some_days_says_which() {
        let is = |text: &str| is_at_times(&Words::of(text).bare);
        assert!(is("I work at the food bank on Saturdays.") && is("We sleep late at weekends"));
        assert!(!is("I moved on Saturday") && !is("I work for Thursdays Inc") && !is("I take it these days"));
    }
}
