//! Plans that were moved to another day, or are called off: "The dinner with Sam is cancelled" is about "I have a dinner with Sam on December
//! 3 (2026-12-03)", which holds no longer.
//!
//! A wrong end loses a plan, so that all must fit: the sentence says that it is so, without a denial, a condition or a wish; it is the
//! speaker's own; the plan is theirs, names one day which is still to come, says nothing else, and has the same words of content.

use std::ops::Range;

use crate::gate::is_living;
use crate::text::is_filler;
use crate::units::calendar::{is_named, is_short_month};
use crate::units::days::{ranges, without_days};

/// Verbs of what is moved. It is moved to a day.
const MOVED: [&str; 8] = ["moved", "pushed", "shifted", "delayed", "brought", "rebooked", "move", "push"];
/// Verbs of what is called off, or has no day at present.
#[rustfmt::skip]
const CANCELLED: [&str; 11] = [
    "cancelled", "canceled", "cancel", "cancelling", "canceling", "called", "off", "postponed", "postpone", "rescheduled", "reschedule",
];
/// Words before such a verb, where what was moved stands before them.
const PASSIVE: [&str; 8] = ["is", "was", "are", "were", "got", "gets", "has", "been"];
/// Words before such a verb, where what was moved stands behind it. A name may stand there as well.
const ACTIVE: [&str; 15] =
    ["i", "we", "they", "i've", "we've", "i'm", "we're", "had", "have", "to", "just", "are", "unfortunately", "sadly", "sorry"];
/// Words by which it is not so, or not sure, or no plan of now.
#[rustfmt::skip]
const UNSURE: [&str; 31] = [
    "not", "never", "nobody", "none", "no", "neither", "nor", "almost", "nearly", "refused", "refuse", "remind", "unless", "if", "but", "would",
    "might", "may", "should", "could", "want", "wants", "hope", "maybe", "perhaps", "whether", "last", "ago", "back", "cannot", "be",
];
/// Words that end what was moved.
const BEHIND: [&str; 2] = ["because", "since"];
/// Words of a day without its date. They say which plan is meant, and not of which day it is.
const UNDATED: [&str; 5] = ["today", "tonight", "tomorrow", "yesterday", "morning"];
/// Words without content before what was moved or planned.
#[rustfmt::skip]
const OWN: [&str; 26] = [
    "my", "our", "the", "a", "an", "i", "we", "i'm", "we're", "i've", "we've", "user", "user's", "am", "are", "is", "have", "has", "got", "there",
    "there's", "this", "that", "another", "going", "booked",
];
/// Words of somebody else.
const OTHERS: [&str; 6] = ["his", "her", "their", "your", "he", "she"];
/// Verbs behind somebody else.
#[rustfmt::skip]
const DOES: [&str; 15] = [
    "is", "has", "have", "had", "will", "and", "goes", "needs", "wants", "comes", "arrives", "visits", "leaves", "flies", "got",
];
/// Words of an owner, with "my": "my wife".
const MOST_OWNER: usize = 2;
/// Words behind the day of a plan, at most.
const MOST_BEHIND: usize = 4;

/// A plan: the words of its content, and its day.
#[derive(Debug, Clone)]
struct Plan {
    content: Vec<String>,
    day: Range<i64>,
}

/// A plan of which a statement says that it was moved or is called off, and the days that it had by then, where the statement names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moved {
    content: Vec<String>,
    on: Vec<Range<i64>>,
}

impl Moved {
    /// The plan that a sentence in its speaker's words says was moved or is called off, with its [days](ranges).
    #[must_use]
    pub fn of(sentence: &str) -> Option<Self> {
        let plain = without_days(sentence);
        let all = words(&plain);
        let is_unsure = |word: &String| UNSURE.contains(&&**word) || word.ends_with("n't");
        let at = (1..all.len()).find(|at| is_moving(&all, *at))?;
        if sentence.trim_end().ends_with('?') || all.iter().any(is_unsure) || is_of_another(&all[..at]) {
            return None;
        }
        let is_undated = |word: &String| is_named(word) || UNDATED.contains(&&**word);
        let (then, later) = parted(sentence, &all[at]);
        let is_of_unknown = ranges(then).is_empty() && words(&without_days(then)).iter().any(is_undated);
        if is_of_unknown || MOVED.contains(&&*all[at]) && !later.contains(" (") {
            return None;
        }
        let own: Vec<String> = if PASSIVE.contains(&&*all[at - 1]) {
            all[..at].to_vec()
        } else {
            let is_name = |at: usize| plain.split_whitespace().nth(at).is_some_and(|word| word.starts_with(char::is_uppercase));
            if !(0..at).all(|at| ACTIVE.contains(&&*all[at]) || at == 0 && is_name(0)) {
                return None;
            }
            let behind = all[at + 1..].iter().take_while(|word| !BEHIND.contains(&&***word));
            all[..1].iter().chain(behind).filter(|word| !ACTIVE.contains(&&***word)).cloned().collect()
        };
        let content = content_of(&own);
        let is_others = own.iter().any(|word| OTHERS.contains(&&**word));
        (!content.is_empty() && !is_others).then(|| Self { content, on: ranges(then) })
    }

    /// The key of the plans of that content.
    #[must_use]
    pub fn link(&self) -> String {
        link(&self.content)
    }

    /// The key of the plan that a text tells of.
    #[must_use]
    pub fn link_of(text: &str) -> Option<String> {
        Plan::of(text).map(|plan| link(&plan.content))
    }

    /// Whether a memory is that plan, as it was known, and its day had not come on the day `today`.
    #[must_use]
    pub fn is_of(&self, text: &str, today: i64) -> bool {
        let Some(plan) = Plan::of(text).filter(|plan| plan.day.end > today) else { return false };
        let is_then = |on: &Range<i64>| on.start < plan.day.end && plan.day.start < on.end;
        plan.content == self.content && (self.on.is_empty() || self.on.iter().any(is_then))
    }
}

impl Plan {
    /// The plan of a text that says nothing else: one day, somebody's own, few words behind it.
    fn of(text: &str) -> Option<Self> {
        let [day] = &ranges(text)[..] else { return None };
        let (before, behind) = text.split_once(" (")?;
        let behind = words(behind.split_once(')')?.1);
        let own = words(before);
        let first = own.first()?;
        let is_own = OWN.contains(&&**first) || !before.starts_with(char::is_uppercase) || is_plain(first);
        let tells_more = behind.len() > MOST_BEHIND || behind.iter().any(|word| ["and", "but"].contains(&&**word));
        let is_others = own.iter().any(|word| OTHERS.contains(&&**word) || UNSURE.contains(&&**word)) || is_of_another(&own);
        (is_own && !tells_more && !is_others).then(|| Self { content: content_of(&own), day: day.clone() })
    }
}

fn link(content: &[String]) -> String {
    format!("moved {}", content.join(" "))
}

/// A sentence up to the day to which something was moved, and from there on: "The call on Monday (2026-11-30) was moved | to Friday
/// (2026-12-04)". One that is called off has no such day.
fn parted<'s>(sentence: &'s str, verb: &str) -> (&'s str, &'s str) {
    let begin = sentence.to_ascii_lowercase().find(verb).unwrap_or_default();
    let is_moved = MOVED.contains(&verb) || verb.starts_with("postpone") || verb.starts_with("reschedule");
    let to = sentence[begin..].rfind(" to ").filter(|_| is_moved);
    to.map_or((sentence, ""), |to| sentence.split_at(begin + to))
}

/// Whether words tell of somebody else: "my wife has", "my wife's" (which is read as "my wife is"). A dentist appointment is one's own.
fn is_of_another(words: &[String]) -> bool {
    words
        .windows(2)
        .any(|pair| is_living(&pair[0]) && (DOES.contains(&&*pair[1]) || CANCELLED.contains(&&*pair[1]) || MOVED.contains(&&*pair[1])))
        || words.last().is_some_and(|last| words.len() <= MOST_OWNER && is_living(last))
}

/// Whether a text begins with what is planned: "Dinner with Sam", and not "Ana has".
fn is_plain(first: &str) -> bool {
    first.len() > 3 && !first.ends_with('s') && !is_filler(first.as_bytes()) && crate::embedding::has_word(first)
}

/// Whether the word at a place says that something was moved or is called off.
fn is_moving(words: &[String], at: usize) -> bool {
    let word = words[at].as_str();
    match word {
        "called" => words[at..].iter().any(|word| word == "off"),
        "off" => at + 1 == words.len() && PASSIVE.contains(&&*words[at - 1]),
        _ => MOVED.contains(&word) || CANCELLED.contains(&word),
    }
}

/// Words of content, in order, each once: without fillers, owners, and the words of a day.
fn content_of(words: &[String]) -> Vec<String> {
    let is_of_day = |word: &str| is_named(word) || is_short_month(word) || word.starts_with(|sign: char| sign.is_ascii_digit());
    let is_content =
        |word: &&String| !is_filler(word.as_bytes()) && !OWN.contains(&&***word) && !is_of_day(word) && !PASSIVE.contains(&&***word);
    let dayless = |word: &&String| {
        !["today", "tonight", "tomorrow", "next", "week", "morning", "afternoon", "evening", "off", "forward"].contains(&&***word)
    };
    let mut content: Vec<String> = words.iter().filter(is_content).filter(dayless).cloned().collect();
    content.sort_unstable();
    content.dedup();
    content
}

/// Words in small letters, without marks and the ending of a possessive.
fn words(text: &str) -> Vec<String> {
    let bare = |word: &str| word.trim_matches(|sign: char| !sign.is_alphanumeric()).to_lowercase().replace('\u{2019}', "'");
    let words = text.split_whitespace().map(bare).filter(|word| !word.is_empty());
    // "the dinner's cancelled"
    words
        .flat_map(|word| match word.strip_suffix("'s").filter(|word| *word != "there") {
            Some(plain) if plain != "user" => vec![plain.to_owned(), "is".to_owned()],
            _ => vec![word],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TODAY: i64 = 20_785; // 2026-11-28
    const DINNER: &str = "I have a dinner with Sam on December 3 (2026-12-03)";

    fn is_moved(plan: &str, moved: &str) -> bool {
        Moved::of(moved).is_some_and(|moved| moved.is_of(plan, TODAY))
    }

    #[test]
    fn a_plan_that_was_moved_or_called_off_is_found_by_what_it_is() {
        for moved in [
            "The dinner with Sam is cancelled.",
            "The dinner with Sam's cancelled",
            "The dinner with Sam is off",
            "My dinner with Sam was moved to December 5 (2026-12-05)",
            "Dinner with Sam got rescheduled to next week (week of 2026-12-07)",
            "I had to cancel my dinner with Sam",
            "We're cancelling the dinner with Sam",
            "Sam cancelled our dinner",
            "Unfortunately I had to cancel the dinner with Sam because he's ill",
            "The dinner with Sam is cancelled, he's ill",
            "They postponed the dinner with Sam to Friday (2026-12-11)",
            "The dinner with Sam on Thursday (2026-12-03) has been called off",
            "I cancelled the dinner with Sam on December 3 (2026-12-03)",
            "I moved the dinner with Sam from December 3 (2026-12-03) to December 5 (2026-12-05)",
        ] {
            assert!(is_moved(DINNER, moved), "{moved}");
        }
        for (plan, moved) in [
            ("Dinner with Sam is on December 3 (2026-12-03) at 8", "The dinner with Sam is cancelled"),
            ("The user's exam is on December 10 (2026-12-10).", "My exam was moved to December 14 (2026-12-14)"),
            ("I have dinner with Sam tonight (2026-11-28)", "The dinner with Sam is cancelled"),
            ("I have a dentist appointment on December 1 (2026-12-01).", "My dentist appointment was moved to December 3 (2026-12-03)."),
            ("My dentist appointment is on December 1 (2026-12-01)", "The dentist appointment is cancelled."),
            ("I have a flight to Rome on December 10 (2026-12-10)", "I cancelled my flight to Rome"),
            ("I have a dinner with Sam on December 3 (2026-12-03)", "I had to cancel the dinner with Sam on December 3 (2026-12-03)"),
            ("I have a flight to Rome on December 10 (2026-12-10)", "I moved my flight to Rome to December 12 (2026-12-12)"),
            ("We have a team offsite on Friday (2026-12-04)", "The team offsite has been postponed"),
        ] {
            assert!(is_moved(plan, moved), "{plan} | {moved}");
        }
    }

    #[test]
    fn what_is_not_surely_that_plan_stays() {
        for moved in [
            "The lunch with Sam is cancelled.",
            "The dinner is cancelled",
            "The dinner with Ana is off",
            "The dinner with Sam on Friday (2026-12-04) is cancelled",
            "I cancelled the dinner with Sam on December 4 (2026-12-04)",
            "I called Sam about the dinner",
            "We moved to Porto",
            "It was cancelled",
            "The dinner with Sam is on December 3 (2026-12-03)",
            "I can't cancel the dinner with Sam",
            "I didn't cancel the dinner with Sam",
            "Nobody cancelled the dinner with Sam",
            "I almost cancelled the dinner with Sam",
            "We decided not to cancel the dinner with Sam",
            "Remind me to cancel the dinner with Sam",
            "Last month I cancelled my dinner with Sam",
            "The dinner with Sam got cancelled but is back on",
            "The dinner with Sam is cancelled unless Ana comes",
            "The dinner with Sam is off the record",
            "The dinner with Sam was moved into storage",
            "My wife cancelled her dinner with Sam",
            "My wife's dinner with Sam is cancelled",
            "Is the dinner with Sam cancelled?",
            "The dinner with Sam may be cancelled",
        ] {
            assert!(!is_moved(DINNER, moved), "{moved}");
        }
        for (plan, moved) in [
            ("I had a dinner with Sam on November 3 (2026-11-03)", "The dinner with Sam is cancelled"),
            ("I have a meeting on December 3 (2026-12-03)", "I cancelled the meeting at the bank"),
            ("I have an appointment on December 3 (2026-12-03)", "I cancelled the appointment for my cat"),
            ("I have a trip on December 3 (2026-12-03)", "I cancelled the trip to Paris"),
            (DINNER, "Sam cancelled dinner on Friday"),
            (DINNER, "I had to cancel the dinner with Sam on Friday (2026-12-04)"),
            (DINNER, "We had to postpone the dinner with Sam on Friday (2026-12-04)"),
            (DINNER, "I had to cancel the dinner with Sam on Friday"),
            (DINNER, "Today's dinner with Sam was cancelled"),
            ("I have a dinner with Sam soon", "The dinner with Sam is cancelled"),
            ("I cook for the dinner with Sam on December 3 (2026-12-03)", "The dinner with Sam is cancelled"),
            ("My wife has a dentist appointment on December 1 (2026-12-01)", "I cancelled my dentist appointment"),
            ("Ana has an exam on December 10 (2026-12-10)", "My exam was moved to December 14 (2026-12-14)"),
            ("My daughter has an exam on December 10 (2026-12-10)", "My exam was moved to December 14 (2026-12-14)"),
            ("I have a flight to Rome on December 10 (2026-12-10)", "My flight was moved to December 20 (2026-12-20)"),
            ("I have surgery on December 3 (2026-12-03) and am allergic to latex", "My surgery was moved to December 9 (2026-12-09)"),
            ("Dinner with Sam is on December 3 (2026-12-03), lunch on December 5 (2026-12-05)", "The dinner with Sam is cancelled"),
            ("Never deploy before the audit on December 10 (2026-12-10)", "The audit is cancelled"),
        ] {
            assert!(!is_moved(plan, moved), "{plan} | {moved}");
        }
    }
}
