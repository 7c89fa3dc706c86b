//! Plans that were moved to another day, or are called off: "The dinner with Sam is cancelled" is about "I have a dinner with Sam on December
//! 3 (2026-12-03)", which holds no longer.

use std::ops::Range;

use crate::text::is_filler;
use crate::units::calendar::is_named;
use crate::units::days::{ranges, without_days};

/// Verbs of what is moved, and of what is called off.
#[rustfmt::skip]
const MOVED: [&str; 15] = [
    "moved", "rescheduled", "postponed", "pushed", "shifted", "delayed", "rebooked", "cancelled", "canceled", "cancel", "called", "move", "postpone",
    "reschedule", "brought",
];
/// Words behind "is" that call something off.
const OFF: [&str; 2] = ["off", "cancelled"];
/// Words before such a verb, where what was moved stands before them.
const PASSIVE: [&str; 8] = ["is", "was", "are", "were", "got", "gets", "has", "been"];
/// Words that end what was moved.
const BEHIND: [&str; 12] = ["to", "until", "till", "on", "at", "by", "for", "from", "because", "off", "back", "forward"];
/// Words that begin what is said of it, where it has a slot.
const OWNERS: [&str; 12] = ["my", "our", "the", "a", "an", "user's", "this", "that", "your", "his", "her", "their"];
/// Words of a plan before what is planned: "We have a team | offsite".
const MOST_BEFORE: usize = 4;
/// Words that one may have.
const MOST_WORDS: usize = 6;

/// A statement that names days: its words before the first of them, and all of them.
#[derive(Debug, Clone)]
pub struct Plan {
    words: Vec<String>,
    days: Vec<Range<i64>>,
}

/// A plan of which a statement says that it was moved or is called off, and the days that it names of it.
#[derive(Debug, Clone)]
pub struct Moved {
    subject: Vec<String>,
    on: Vec<Range<i64>>,
}

impl Plan {
    pub fn of(text: &str) -> Option<Self> {
        let days = if text.contains(" (") { ranges(text) } else { return None };
        let before = text.split(" (").next().unwrap_or_default();
        (!days.is_empty()).then(|| Self { words: words(before), days })
    }

    /// Whether it is what was moved, and its day had not come on the day `today`: the words of that stand near its beginning.
    pub fn is_moved(&self, moved: &Moved, today: i64) -> bool {
        let begin = self.words.iter().position(|word| moved.subject.contains(word));
        let has_all = moved.subject.iter().all(|word| self.words.contains(word));
        let is_ahead = self.days.iter().any(|days| days.end > today);
        let is_then = |days: &Range<i64>| moved.on.iter().any(|on| on.start < days.end && days.start < on.end);
        has_all && begin.is_some_and(|at| at <= MOST_BEFORE) && is_ahead && (moved.on.is_empty() || self.days.iter().any(is_then))
    }
}

impl Moved {
    /// Of a statement in plain words.
    pub fn of(text: &str) -> Option<Self> {
        let plain = without_days(text);
        let all = words(&plain);
        let is_off = |at: usize| OFF.contains(&&*all[at]) && at > 0 && ["is", "was", "are"].contains(&&*all[at - 1]);
        let at = (0..all.len()).find(|at| MOVED.contains(&&*all[*at]) || is_off(*at))?;
        if all[at] == "called" && !all[at..].iter().any(|word| word == "off") {
            return None;
        }
        let is_passive = at > 0 && PASSIVE.contains(&&*all[at - 1]) || is_off(at);
        // "The interview on Friday is cancelled": of one that is on that day.
        let on = if is_passive { ranges(text) } else { Vec::new() };
        let is_of_old = text.find(" (").is_some_and(|day| text.to_lowercase().find(&*all[at]).is_some_and(|verb| day < verb));
        let subject: Vec<String> = if is_passive {
            all[..at]
                .iter()
                .take_while(|word| !["on", "at", "in"].contains(&&***word))
                .filter(|word| !PASSIVE.contains(&&***word))
                .cloned()
                .collect()
        } else {
            all[at + 1..].iter().take_while(|word| !BEHIND.contains(&&***word)).cloned().collect()
        };
        Self::named(subject, if is_of_old { on } else { Vec::new() })
    }

    /// Of a value that names days, of the slot with that name.
    pub fn of_slot(slot: &str) -> Option<Self> {
        Self::named(words(slot), Vec::new())
    }

    fn named(subject: Vec<String>, on: Vec<Range<i64>>) -> Option<Self> {
        let is_content = |word: &String| !is_filler(word.as_bytes()) && !OWNERS.contains(&&**word) && word != "user" && !is_named(word);
        let subject: Vec<String> = subject.into_iter().filter(is_content).collect();
        (1..=MOST_WORDS).contains(&subject.len()).then_some(Self { subject, on })
    }
}

/// Words in small letters, without marks.
fn words(text: &str) -> Vec<String> {
    let bare = |word: &str| word.trim_matches(|sign: char| !sign.is_alphanumeric()).to_lowercase();
    text.split_whitespace().map(bare).filter(|word| !word.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TODAY: i64 = 20_785; // 2026-11-28

    fn is_moved(plan: &str, moved: &str) -> bool {
        Plan::of(plan).zip(Moved::of(moved)).is_some_and(|(plan, moved)| plan.is_moved(&moved, TODAY))
    }

    #[test]
    fn a_plan_that_was_moved_or_called_off_is_found_by_what_it_is() {
        let dinner = "I have a dinner with Sam on December 3 (2026-12-03)";
        for moved in [
            "The dinner with Sam is cancelled.",
            "The dinner with Sam is off",
            "My dinner with Sam was moved to December 5 (2026-12-05)",
            "Dinner with Sam got rescheduled to next week (week of 2026-12-07)",
            "I had to cancel my dinner with Sam",
            "Sam cancelled our dinner",
            "They postponed the dinner to Friday (2026-12-11)",
            "The dinner on Thursday (2026-12-03) has been called off",
        ] {
            assert!(is_moved(dinner, moved), "{moved}");
        }
        for moved in [
            "The lunch with Sam is cancelled.",
            "The dinner with Ana is off",
            "The dinner on Friday (2026-12-04) is cancelled",
            "I called Sam about the dinner",
            "We moved to Porto",
            "It was cancelled",
            "The dinner with Sam is on December 3 (2026-12-03)",
        ] {
            assert!(!is_moved(dinner, moved), "{moved}");
        }
        for plan in [
            "I had a dinner with Sam on November 3 (2026-11-03)",
            "I have a dinner with Sam soon",
            "I am cooking something special tonight for the dinner with Sam on December 3 (2026-12-03)",
        ] {
            assert!(!is_moved(plan, "The dinner with Sam is cancelled"), "{plan}");
        }
        let dentist = Plan::of("I have a dentist appointment on December 1 (2026-12-01)").unwrap();
        assert!(dentist.is_moved(&Moved::of_slot("dentist appointment").unwrap(), TODAY));
        assert!(!dentist.is_moved(&Moved::of_slot("eye appointment").unwrap(), TODAY));
    }
}
