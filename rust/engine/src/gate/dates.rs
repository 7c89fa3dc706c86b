//! Days that a sentence names from where it stands ("tomorrow", "next Friday", "3 weeks ago"), said so that they stay true.
//!
//! The word stays and the day is put behind it: "tomorrow (2025-03-02)". Where the day is not plain, nothing is added. "On Monday" is the
//! last one where the words beside it tell of what was ("we signed on Monday"), none where they tell of a plan ("we agreed to sign on
//! Monday"), and else the next one.

use super::constraint::ends_in_past;
use super::lexicon::PAST;
use super::lists::lists;
use super::words::{Word, among};
use crate::units::calendar::{DAY, MONTHS, WEEKDAYS, date};

lists! { "dates":
    /// Verbs of what was, beside those of the lexicon and those in "-ed".
    PASSED,
    /// Verbs of what was that tell of what was still to come.
    PLANS,
    /// Verbs of what is or will be.
    AHEAD,
    /// Things that somebody gets, buys or prepares before their day.
    APPOINTED,
    /// Words between two clauses.
    PARTS,
}

/// Words behind a day that are looked at, where none before it tells when it was.
const MOST_BEHIND: usize = 8;
/// Words before a participle that stands for an adjective: "the signed contract".
const ARTICLES: [&str; 10] = ["a", "an", "the", "my", "our", "your", "his", "her", "their", "this"];

/// A day that a sentence names.
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    /// The place behind the words that name it.
    pub place: usize,
    /// As it is said.
    pub day: String,
    /// How many days it is from when it was said; `None` of a week, a month or a year.
    pub days: Option<i64>,
}

/// A day as `2025-06-18`.
fn day_of(at: i64) -> String {
    let (year, month, day) = date(at.div_euclid(DAY));
    format!("{year:04}-{month:02}-{day:02}")
}

/// The days that a sentence names. `at` is when it was said.
pub fn named(words: &[Word], at: i64) -> Vec<Named> {
    let (today, mut out, mut here) = (at.div_euclid(DAY), Vec::new(), 0);
    while here < words.len() {
        match expression(words, here, today) {
            Some((used, day, days)) => {
                if !is_said(words, here + used) {
                    out.push(Named { place: words[here + used - 1].end, day, days });
                }
                here += used;
            }
            None => here += 1,
        }
    }
    out
}

/// How many days ago something was, where a sentence names one day, and that is over; else 0.
pub fn days_ago(words: &[Word], at: i64) -> i64 {
    match &named(words, at)[..] {
        [Named { days: Some(days), .. }] => (-days).max(0),
        _ => 0,
    }
}

/// Whether a sentence tells of what was on a day, in a week or in a month that it names: the verb stands before that.
pub fn tells_of_past_day(words: &[Word]) -> bool {
    let is_past = |here: usize| when(words, here) != When::Ahead && here > 1;
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    (0..words.len()).any(|here| {
        let names = word(here) == "last" && ["week", "month", "year"].contains(&word(here + 1));
        (names || expression(words, here, 0).is_some_and(|(_, _, days)| days.is_some_and(|days| days < 0))) && is_past(here)
    })
}

/// When something on a weekday is, by the words beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Passed,
    Ahead,
    Unsaid,
}

/// When something on the weekday is whose words begin at `here`: by the nearest verb before it, or else by the first behind it.
fn when(words: &[Word], here: usize) -> When {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let is_past = |at: usize| ends_in_past(word(at)) || among(&PAST, word(at)) || among(&PASSED, word(at));
    let verb = |at: usize| {
        let before = |back: usize| at.checked_sub(back).map_or("", word);
        let begins = ["have", "has", "i", "we", "he", "she", "they", "you"].contains(&word(at));
        // "I see him", "we have to", "she has surgery", and not "we have signed".
        let of_now = || begins && at + 1 < here && !is_past(at + 1) && !["have", "has", "just", "never"].contains(&word(at + 1));
        if among(&AHEAD, word(at)) || of_now() {
            return Some(When::Ahead);
        }
        let in_ed = ends_in_past(word(at));
        if among(&PLANS, word(at)) || ["was", "were", "been"].contains(&word(at)) && among(&PLANS, word(at + 1)) {
            return Some(When::Unsaid);
        }
        let is_adjective = || in_ed && ARTICLES.contains(&before(1));
        let of_present = || in_ed && (among(&AHEAD, before(1)) || before(1) == "be" || among(&AHEAD, before(2)));
        match is_past(at) && !is_adjective() {
            true if of_present() => Some(When::Ahead),
            // "I got an appointment on Thursday" tells of what is to come.
            true if (at + 1..here).any(|at| among(&APPOINTED, word(at))) => Some(When::Unsaid),
            true => Some(When::Passed),
            false => None,
        }
    };
    let clause = (0..here).rev().find(|at| among(&PARTS, word(*at))).map_or(0, |at| at + 1);
    let behind = || (here + 2..words.len().min(here + 2 + MOST_BEHIND)).find_map(verb);
    (clause..here).rev().find_map(verb).or_else(behind).unwrap_or(When::Ahead)
}

/// The text with its days in it. The places are those of `words`, less `offset`.
pub fn resolved(text: &str, words: &[Word], offset: usize, at: i64) -> String {
    let (mut out, mut copied) = (String::with_capacity(text.len() + 16), 0);
    for Named { place, day, .. } in named(words, at) {
        let place = place - offset;
        if dated(&text[place..]) {
            continue;
        }
        out.push_str(&text[copied..place]);
        out.push_str(" (");
        out.push_str(&day);
        out.push(')');
        copied = place;
    }
    out.push_str(&text[copied..]);
    out
}

/// Whether a day as a number follows: "Friday 2026-11-27", "Friday (27.11.)".
fn dated(rest: &str) -> bool {
    rest.trim_start_matches([' ', ',', '(']).starts_with(|next: char| next.is_ascii_digit())
}

/// Whether the words behind a day say which one it is: "Friday | the 13th", "Friday, | March 13".
fn is_said(words: &[Word], at: usize) -> bool {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let is_number = |at: usize| words.get(at).is_some_and(Word::is_number);
    let is_ordinal = |at: usize| is_number(at) && ["st", "nd", "rd", "th"].iter().any(|ending| word(at).ends_with(ending));
    let of_month = MONTHS.contains(&word(at)) && (is_number(at + 1) || word(at + 1) == "the" && is_ordinal(at + 2));
    of_month || word(at) == "the" && is_ordinal(at + 1)
}

/// How many words of an expression begin at `here`, the day that they name, and how many days it is from today, where it is one.
fn expression(words: &[Word], here: usize, today: i64) -> Option<(usize, String, Option<i64>)> {
    let word = |at: usize| words.get(here + at).map_or("", |word| word.lower.as_str());
    let is_shown = |days: i64| date(today + days).0 > 0; // no calendar of a program has a year 0
    let one = |used: usize, days: i64| is_shown(days).then(|| (used, day_of((today + days) * DAY), Some(days)));
    let step = |which: &str| if which == "next" { 1 } else { -1 };
    match (word(0), word(1)) {
        ("today" | "tonight", _) => one(1, 0),
        ("day", "after") if word(2) == "tomorrow" => one(3, 2),
        ("day", "before") if word(2) == "yesterday" => one(3, -2),
        ("tomorrow", _) => one(1, 1),
        ("yesterday", _) => one(1, -1),
        ("this", "morning" | "afternoon" | "evening") => one(2, 0),
        ("last", "night") => one(2, -1),
        (which @ ("next" | "last"), "week") => {
            Some((2, format!("week of {}", day_of((today + monday(today) + 7 * step(which)) * DAY)), None))
        }
        (which @ ("next" | "last"), "month") => Some((2, month(today, step(which)), None)),
        (which @ ("next" | "last"), "year") => Some((2, (year(today) + step(which)).to_string(), None)),
        (which @ ("next" | "last"), name) if WEEKDAYS.contains(&name) => one(2, weekday(name, which, today)),
        ("this" | "on", name) if WEEKDAYS.contains(&name) => match when(words, here) {
            When::Passed => one(2, weekday(name, "last", today)),
            When::Ahead => one(2, weekday(name, "this", today)),
            When::Unsaid => None,
        },
        ("in", number) => counted(number, word(2)).and_then(|days| one(3, days)),
        (number, unit) if word(2) == "ago" => counted(number, unit).and_then(|days| one(3, -days)),
        (number, unit) if word(2) == "from" && ["today", "now", "tomorrow"].contains(&word(3)) => {
            counted(number, unit).and_then(|days| one(4, days + i64::from(word(3) == "tomorrow")))
        }
        _ => None,
    }
}

/// Days until the Monday of this week, 0 or less. 1970-01-01 was a Thursday.
fn monday(today: i64) -> i64 {
    -(today + 3).rem_euclid(7)
}

/// Days to a weekday: "on" and "this" are the next one that comes, today not counted, "next" that of the week after.
fn weekday(name: &str, which: &str, today: i64) -> i64 {
    let wanted = WEEKDAYS.iter().position(|day| *day == name).map_or(0, |at| at as i64);
    let of_week = monday(today) + wanted;
    match which {
        "next" => of_week + 7,
        "last" => {
            if of_week < 0 {
                of_week
            } else {
                of_week - 7
            }
        }
        _ => {
            if of_week > 0 {
                of_week
            } else {
                of_week + 7
            }
        }
    }
}

fn counted(number: &str, unit: &str) -> Option<i64> {
    let count = match number {
        "a" | "an" | "one" => 1,
        "two" => 2,
        "three" => 3,
        "four" => 4,
        digits => digits.parse().ok().filter(|count| (1..1000).contains(count))?,
    };
    match unit {
        "day" | "days" => Some(count),
        "week" | "weeks" => Some(count * 7),
        _ => None,
    }
}

fn year(today: i64) -> i64 {
    day_of(today * DAY)[..4].parse().unwrap_or(1970)
}

fn month(today: i64, step: i64) -> String {
    let date = day_of(today * DAY);
    let months = year(today) * 12 + date[5..7].parse::<i64>().unwrap_or(1) - 1 + step;
    format!("{:04}-{:02}", months.div_euclid(12), months.rem_euclid(12) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::words::words;

    const AT: i64 = 1_735_689_600_000_000; // Wednesday, 2025-01-01

    #[test]
    fn a_day_is_counted_from_a_word_for_another_one() {
        for (text, day) in [
            ("the day after tomorrow", "2025-01-03"),
            ("the day before yesterday", "2024-12-30"),
            ("a week from tomorrow", "2025-01-09"),
            ("two weeks from today", "2025-01-15"),
        ] {
            assert_eq!(resolved(text, &words(text), 0, AT), format!("{text} ({day})"));
        }
    }

    #[test]
    fn a_weekday_has_no_day_where_the_sentence_says_which_one_it_is() {
        for text in ["on Friday the 13th", "on Friday, March 13", "on Friday, the 3rd of May", "next Friday, May the 9th"] {
            assert_eq!(named(&words(text), AT), [], "{text}");
        }
        for text in ["on Friday the team meets", "on Friday, may we come?", "on Friday we may march"] {
            assert_eq!(named(&words(text), AT)[0].day, "2025-01-03", "{text}");
        }
    }

    #[test]
    fn a_weekday_of_what_was_is_the_last_one() {
        let day = |text: &str| named(&words(text), AT).into_iter().map(|one| one.day).next().unwrap_or_default();
        for text in [
            "We signed the contract with Globex on Monday.",
            "I injured my knee this Monday.",
            "The oven broke on Monday",
            "On Monday we signed it",
            "The outage on Monday was caused by db-07",
            "We have signed it on Monday",
            "There was a fire on Monday",
            "I didn't sleep on Monday",
        ] {
            assert_eq!(day(text), "2024-12-30", "{text}");
        }
        for text in [
            "I have a dentist appointment on Monday",
            "We are signing on Monday",
            "I need to call Ana on Monday",
            "I'm excited about the trip on Monday",
            "The signed contract is due on Monday",
            "On Monday the team meets",
            "I was wondering if we could meet on Monday",
            "The test failed so we deploy on Monday.",
            "Ana said she comes on Monday",
            "I had to cancel the dentist; I see him on Monday.",
            "The release we tested goes out on Monday.",
            "My mother, who broke her hip, has surgery on Monday.",
            "I have an exam on Monday which I studied for.",
        ] {
            assert_eq!(day(text), "2025-01-06", "{text}");
        }
        for text in ["We agreed to meet on Monday", "I booked a table on Monday", "The meeting on Monday was cancelled"] {
            assert_eq!(day(text), "", "{text}");
        }
        assert_eq!(day("It broke on Wednesday"), "2024-12-25", "of today one says that it is today");
        assert_eq!((days_ago(&words("Three days ago the disk broke"), AT), days_ago(&words("It is due tomorrow"), AT)), (3, 0));
        assert_eq!(days_ago(&words("Yesterday it broke, and today it runs"), AT), 0, "of two days it is neither");
    }
}
