//! The limits within which a sentence says that something is so: for how long ("until Friday", "for three months", "on weekends"), and what
//! for ("for implants", "for the hotel"). Within other limits something else may be so: "my dentist is Dr Lee for implants" takes nothing
//! from "my dentist is Dr Kay".

use super::left::leaves;
use super::lexicon::NUMBERS;
use super::lists::lists;
use super::sentence::Sentence;
use super::signs::straight;
use super::words::{Word, among, starts, words};
use crate::units::calendar::{WEEKDAYS, is_named};

lists! { "limit":
    /// Words that begin a limit of time, which goes to the end of the sentence.
    BEGINS,
    /// Limits of time that stand alone.
    ALONE,
    /// Words behind "for" that begin a limit of time.
    FOR_A_TIME,
    /// Words behind "for" that limit nothing: "for good", "for everything", "for me".
    NO_LIMIT,
    /// Words before "for" whose object it begins: "I work | for Acme".
    TAKES_FOR,
    /// Times that come again: "on weekends", "in the summer".
    AGAIN,
    /// Occasions, for which somebody is somewhere for a time: "I live in Lisbon for the conference".
    OCCASIONS,
    /// Units of time.
    UNITS,
    /// Verbs of what happens once.
    HAPPENED,
    /// Verbs behind a purpose, and words that end it: "my budget for the trip is 500".
    VERBS,
}

/// Words between "for" or "in the" and the noun at most.
const MOST_BETWEEN: usize = 2;
/// Words up to the verb of what happened at most.
const MOST_BEFORE_VERB: usize = 4;
/// Words up to the end of a limit that leads at most.
const MOST_LEADING: usize = 8;

/// The limits of a sentence; the words of each, without an article.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// For how long, or when.
    pub time: Option<String>,
    /// Its purpose.
    pub purpose: Option<String>,
    /// One of them stands before what is said.
    leads: bool,
}

/// Whether somebody does something besides from a word on: "I live in Leeds | and play padel on Mondays".
pub(super) fn does_besides(s: &Sentence<'_>, at: usize) -> bool {
    ["and", "but"].contains(&s.word(at)) && ["play", "swim", "train", "teach", "study"].contains(&s.word(at + 1))
}

impl Limits {
    /// The limits that a text of one sentence names.
    #[must_use]
    pub fn of(text: &str) -> Self {
        Self::of_sentence(&Sentence { text, words: &words(text) })
    }

    pub(super) fn of_sentence(s: &Sentence<'_>) -> Self {
        let leads = leading(s).is_some();
        let first = if leads { 0 } else { 2 };
        let own = |at: usize| ["i", "my", "we", "our", "i'm", "it", "it's", "you", "they", "the"].contains(&s.word(at));
        // "I live in Leeds and | play padel on Mondays": the second verb has the limits of its own.
        let begins = |at: &usize| ["and", "but", "so"].contains(&s.word(*at)) && own(at + 1) || does_besides(s, *at);
        let last = (2..s.words.len()).find(begins).unwrap_or(s.words.len());
        let at = |find: &dyn Fn(usize) -> bool| (first..last).find(|at| find(*at));
        // "I left Acme this week" says when, and "I quit smoking for a week" for how long.
        let happened = s.words.iter().take(MOST_BEFORE_VERB).any(|word| among(&HAPPENED, &word.lower));
        let time = at(&|at| if happened { is_for_a_time(s, at) } else { is_time(s, at) }).map(|at| tail(s, at, &[]));
        let purpose = at(&|at| is_purpose(s, at)).map(|at| tail(s, at + 1, &VERBS));
        Self { time, purpose, leads }
    }

    /// Whether what is said within them gives a slot no value by itself. A purpose that the slot names is none, and of where somebody lives,
    /// works and what they are called it is a reason: "I moved to Lisbon for a girl".
    pub(super) fn leave(&self, slot: &str) -> bool {
        // "The budget for the remodel went up": the purpose is read on to the end.
        let of = slot.rsplit_once(" for ").map(|(_, of)| of.trim_start_matches("the "));
        let names = |purpose: &String| slot.ends_with(purpose.as_str()) || of.is_some_and(|of| purpose.starts_with(of));
        let limits = |purpose: &String| !names(purpose) && (self.leads || !is_personal(slot) || is_occasion(purpose));
        self.time.is_some() || self.purpose.as_ref().is_some_and(limits)
    }

    /// Whether nothing limits what is said.
    #[must_use]
    pub fn are_none(&self) -> bool {
        self.time.is_none() && self.purpose.is_none()
    }

    /// Whether what was said within these limits and within the others may both be so.
    #[must_use]
    pub fn are_beside(&self, others: &Self, slot: Option<&str>) -> bool {
        let for_a_time = || [self, others].iter().any(|one| one.leads || one.purpose.as_deref().is_some_and(is_occasion));
        self.time != others.time || self.purpose != others.purpose && (for_a_time() || !slot.is_some_and(is_personal))
    }
}

/// Whether a slot says who somebody is.
fn is_personal(slot: &str) -> bool {
    ["home", "employer", "occupation", "name", "age"].contains(&slot)
}

fn is_occasion(purpose: &str) -> bool {
    purpose.rsplit(' ').next().is_some_and(|noun| among(&OCCASIONS, noun))
}

/// Where a limit is over that stands before what is said: "For implants, | my dentist is Dr Lee".
pub(super) fn leading(s: &Sentence<'_>) -> Option<usize> {
    let begins = ["for", "on", "in", "at", "during", "when", "while", "until", "if"].contains(&s.word(0)) && !among(&NO_LIMIT, s.word(1));
    (2..s.words.len().min(MOST_LEADING)).find(|at| s.parted(*at)).filter(|_| begins)
}

/// Whether a limit of time begins at a word.
fn is_time(s: &Sentence<'_>, at: usize) -> bool {
    let begins = |phrases: &[&str]| phrases.iter().any(|phrase| starts(s.words, at, phrase).is_some());
    // "The 12th of this month" and "the deadline is this week" give a date.
    let dates = ["of", "in", "by", "is", "are", "from", "to", "be", "on", "for", "after", "around", "about", "day"];
    let is_date = at > 0 && (dates.contains(&s.word(at - 1)) || is_named(s.word(at - 1)));
    let alone = || !is_date && ALONE.iter().any(|phrase| starts(s.words, at, phrase).is_some_and(|end| is_end(s, end)));
    let polite = ["if", "when", "whenever"].contains(&s.word(at)) && s.word(at + 1) == "you"; // "if you need it"
    (at == 0 || !s.parted(at)) && !polite && begins(&BEGINS) || alone() || is_for_a_time(s, at) || is_again(s, at)
}

/// Whether a word begins how long something is so: "for three months", "until Friday".
fn is_for_a_time(s: &Sentence<'_>, at: usize) -> bool {
    let is_counted = |at: usize| s.words.get(at).is_some_and(Word::is_number) || among(&NUMBERS, s.word(at));
    let unit = || (at + 1..(at + 3 + MOST_BETWEEN).min(s.words.len())).any(|at| among(&UNITS, s.word(at)));
    let is_for = s.word(at) == "for" && (is_counted(at + 1) || among(&FOR_A_TIME, s.word(at + 1))) && unit();
    is_for || ["until", "till", "temporarily"].contains(&s.word(at)) || starts(s.words, at, "for now").is_some()
}

/// Whether a time that comes again is named at a word: "on weekends", "every Saturday", "in the winter".
fn is_again(s: &Sentence<'_>, at: usize) -> bool {
    let is_value = at > 0 && ["is", "are"].contains(&s.word(at - 1)); // "Leo's swimming is on Fridays"
    if is_value || !["on", "at", "in", "during", "over", "every"].contains(&s.word(at)) {
        return false;
    }
    let noun = at + 1 + usize::from(["the", "my"].contains(&s.word(at + 1)));
    let word = s.word(noun);
    let is_day = WEEKDAYS.contains(&word.strip_suffix('s').unwrap_or(word)) && (word.ends_with('s') || s.word(at) == "every");
    (is_day || among(&AGAIN, word)) && is_end(s, noun + 1)
}

/// Whether "for" at a word says what for.
fn is_purpose(s: &Sentence<'_>, at: usize) -> bool {
    let first = at + 1 + usize::from(["the", "my", "our", "all", "any"].contains(&s.word(at + 1)));
    s.word(at) == "for"
        && first < s.words.len()
        && !s.excepts(at)
        && !(at > 0 && (["a", "an"].contains(&s.word(at - 1)) || among(&TAKES_FOR, s.word(at - 1)))) // "a for loop", "I work for Acme"
        && !among(&NO_LIMIT, s.word(at + 1))
        && !is_time(s, at)
        && !s.words[first].is_number()
        && !(at == 0 && leading(s).is_none())
        && !s.words.iter().any(|word| leaves(&word.lower)) // "I left Acme for Globex"
}

/// Whether a sentence, or a part of it, is over before a word.
fn is_end(s: &Sentence<'_>, at: usize) -> bool {
    at >= s.words.len() || s.parted(at) || s.words[at].is_mark() || ["and", "but", "so", "because", "since"].contains(&s.word(at))
}

/// The words from there to the end of the part, or to one of some words, without an article before them.
fn tail(s: &Sentence<'_>, at: usize, ends: &[&str]) -> String {
    let at = at + usize::from(["the", "a", "an", "my", "our"].contains(&s.word(at)));
    let end = (at + 1..s.words.len()).find(|end| is_end(s, *end) || among(ends, s.word(*end))).unwrap_or(s.words.len());
    s.between(at, end).map_or_else(String::new, |text| straight(&text.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_time_or_a_purpose() {
        for (text, time, purpose) in [
            ("My teacher is Mr Kim for math.", None, Some("math")),
            ("My dentist is Dr Lee for the implants.", None, Some("implants")),
            ("I no longer use Postgres for analytics any more.", None, Some("analytics")),
            ("My doctor is Dr Lee while Dr Kay is away.", Some("while dr kay is away"), None),
            ("My phone number is 555-9999 until Friday.", Some("until friday"), None),
            ("I'm living in Madrid for three months.", Some("for three months"), None),
            ("I'm working at Globex for the summer.", Some("for the summer"), None),
            ("I stopped taking metformin for two days.", Some("for two days"), None),
            ("I live in Lyon on weekends.", Some("on weekends"), None),
            ("The user works for Initech too.", Some("too"), None),
            ("My flight is at 14:00 on the way back.", Some("on the way back"), None),
            ("My name is Neo for now", Some("for now"), None),
            ("My budget for the trip is 500 euros.", None, Some("trip")),
            ("For implants, my dentist is Dr Lee.", None, Some("implants")),
            ("My doctor is Dr Lee when Dr Kay is away.", Some("when dr kay is away"), None),
            ("I quit smoking for a month.", Some("for a month"), None),
        ] {
            let limits = Limits::of(text);
            assert_eq!((limits.time.as_deref(), limits.purpose.as_deref()), (time, purpose), "{text}");
        }
        for text in [
            "The user works for Globex.",
            "I left Acme for Globex.",
            "I use a for loop.",
            "I moved out of Lisbon for good.",
            "I use Vim for everything.",
            "My budget is 500 euros.",
            "The deadline is Friday.",
            "The user has worked at Acme for years.",
            "I use Postgres except for billing.",
            "The user's return date is 12th of this month.",
            "The deadline is this week.",
            "I'd like the departure date to be today.",
            "The show date is Friday next week.",
            "I left Acme this week.",
            "I moved to Lisbon in the summer.",
            "I got fired this month.",
            "My number is 555-1234 if you need it.",
            "Leo's swimming is on Fridays.",
        ] {
            assert_eq!(Limits::of(text), Limits::default(), "{text}");
        }
    }
}
