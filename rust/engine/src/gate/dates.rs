//! Days that a sentence names from where it stands ("tomorrow", "next Friday", "3 weeks ago", "on May 3"), said so that they stay true.
//!
//! The word stays and the day is put behind it: "tomorrow (2025-03-02)". Where the day is not plain, nothing is added. "On Monday" is the
//! last one where the words beside it tell of what was ("we signed on Monday"), none where they tell of a plan ("we agreed to sign on
//! Monday"), and else the next one.

mod of_month;
mod tense;

use self::tense::{When, when};
use super::lists::lists;
use super::words::{Word, words as words_of};
use crate::units::calendar::{self, DAY, MONTHS, WEEKDAYS, date, iso_date};

lists! { "dates":
    /// Verbs of what was, beside those of the lexicon and those in "-ed".
    PASSED,
    /// Verbs of what was that tell of what was still to come.
    PLANS,
    /// Verbs of what is or will be.
    AHEAD,
    /// Things that somebody gets, buys or prepares before their day.
    APPOINTED,
    /// Verbs of getting, buying or preparing them.
    APPOINTING,
    /// Words between two clauses.
    PARTS,
    /// Words before a date of a month. Without one "may 3 of us come?" and "3 March Road" name none.
    LEADS,
    /// Words behind a day that is named by its number alone: "on the 3rd at 9".
    BEHIND,
    /// Words behind the name of a street.
    STREETS,
    /// Words for the same day of each year, and for what comes more than once.
    YEARLY,
    /// Words behind one of these for something that comes once: "birthday party".
    YEARLY_THINGS,
}

/// Words behind a weekday by which it is each one.
const OF_EACH: [&str; 5] = ["mornings", "afternoons", "evenings", "nights", "lunchtimes"];

/// A day that a sentence names.
#[derive(Debug, PartialEq, Eq)]
pub struct Named {
    /// The first word that names it.
    first: usize,
    /// Behind the last.
    end: usize,
    /// As it is written: "2025-05-03", "week of 2025-05-05", "2025-05", "2025-05-03 to 2025-05-09".
    pub day: String,
    /// How many days it is from when it was said, the first of several; `None` of a week, a month or a year.
    pub days: Option<i64>,
}

/// The days that a sentence names. `at` is when it was said.
pub fn named(words: &[Word], at: i64) -> Vec<Named> {
    let (today, mut out, mut here) = (at.div_euclid(DAY), Vec::new(), 0);
    while here < words.len() {
        let relative = || expression(words, here, today).map(|(used, day, days)| Named { first: here, end: here + used, day, days });
        // "from January 1 to December 31": the second day is behind the first.
        let before = out.last().filter(|before: &&Named| before.end + 1 == here && words[here - 1].lower == "to");
        let first = before.and_then(|before| before.days);
        let Some(found) = of_month::read(words, here, today, first).or_else(relative) else {
            here += 1;
            continue;
        };
        here = found.end;
        if !is_said(words, here) {
            out.push(found);
        }
    }
    out
}

/// Whether a sentence names a day from where it stands, or a date.
pub fn names_day(words: &[Word], at: i64) -> bool {
    !named(words, at).is_empty()
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
        let is_over = || expression(words, here, 0).is_some_and(|(_, _, days)| days.is_some_and(|days| days < 0));
        (names || of_month::read(words, here, 0, None).is_some() || is_over()) && is_past(here)
    })
}

/// The text with its days in it. The places are those of `words`, less `offset`.
pub fn resolved(text: &str, words: &[Word], offset: usize, at: i64) -> String {
    with_days(text, words, offset, named(words, at))
}

/// A text with its days in it, where the text says in other words what `sentence` says: "I started at Acme on May 3" tells of the past,
/// "The user works for Acme on May 3" does not.
pub fn resolved_as(text: &str, sentence: &[Word], at: i64) -> String {
    let (own, said) = (words_of(text), named(sentence, at));
    let mut days = named(&own, at);
    for one in &mut days {
        let is_same = |other: &&Named| {
            let (own, other) = (&own[one.first..one.end], &sentence[other.first..other.end]);
            own.len() == other.len() && own.iter().zip(other).all(|(own, other)| own.lower == other.lower)
        };
        if let Some(same) = said.iter().find(is_same) {
            one.day.clone_from(&same.day);
        }
    }
    with_days(text, &own, 0, days)
}

fn with_days(text: &str, words: &[Word], offset: usize, days: Vec<Named>) -> String {
    let (mut out, mut copied) = (String::with_capacity(text.len() + 16), 0);
    for Named { end, day, .. } in days {
        let place = words[end - 1].end - offset;
        if is_dated(&text[place..]) {
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

/// Whether a day as a number follows: "Friday 2026-11-27", "Friday (27.11.)", "Friday 13". A time of day is none: "Friday 7pm", "Friday, 7:30".
fn is_dated(rest: &str) -> bool {
    let mut next = rest.trim_start_matches([' ', ',', '(']).split_whitespace();
    let number = next.next().unwrap_or_default().trim_end_matches([')', ',', '!', '?', ';']);
    let is_sign = |sign: char| sign.is_ascii_digit() || ['.', '-', '/'].contains(&sign);
    let mut is_time = || next.next().is_some_and(|unit| unit.starts_with(|letter: char| letter.is_alphabetic()));
    let is_parted = number.trim_end_matches('.').contains(['.', '-', '/']);
    number.starts_with(|sign: char| sign.is_ascii_digit()) && number.chars().all(is_sign) && (is_parted || !is_time())
}

/// Whether the words behind a weekday say which one it is: "Friday | the 13th", "Friday, | March 13".
fn is_said(words: &[Word], at: usize) -> bool {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let is_number = |at: usize| words.get(at).is_some_and(Word::is_number);
    let is_ordinal = |at: usize| is_number(at) && ["st", "nd", "rd", "th"].iter().any(|ending| word(at).ends_with(ending));
    let of_month = MONTHS.contains(&word(at)) && (is_number(at + 1) || word(at + 1) == "the" && is_ordinal(at + 2));
    let is_day = is_number(at) && MONTHS.contains(&word(at + 1 + usize::from(word(at + 1) == "of")));
    of_month || is_day || word(at) == "the" && is_ordinal(at + 1)
}

/// How many words of an expression begin at `here`, the day that they name, and how many days it is from today, where it is one.
fn expression(words: &[Word], here: usize, today: i64) -> Option<(usize, String, Option<i64>)> {
    let word = |at: usize| words.get(here + at).map_or("", |word| word.lower.as_str());
    let is_shown = |days: i64| date(today + days).0 > 0; // no calendar of a program has a year 0
    let one = |used: usize, days: i64| is_shown(days).then(|| (used, iso_date((today + days) * DAY), Some(days)));
    let step = |which: &str| if which == "next" { 1 } else { -1 };
    // "on Friday next week", "Friday of last week"
    let named = usize::from(!WEEKDAYS.contains(&word(0)));
    let of = named + 1 + usize::from(word(named + 1) == "of");
    if let (Some(day), which @ ("next" | "last"), "week") = (WEEKDAYS.iter().position(|day| *day == word(named)), word(of), word(of + 1)) {
        return one(of + 2, day as i64 - calendar::weekday(today) + 7 * step(which));
    }
    match (word(0), word(1)) {
        ("today" | "tonight", _) => one(1, 0),
        ("day", "after") if word(2) == "tomorrow" => one(3, 2),
        ("day", "before") if word(2) == "yesterday" => one(3, -2),
        ("tomorrow", _) => one(1, 1),
        ("yesterday", _) => one(1, -1),
        ("this", "morning" | "afternoon" | "evening") => one(2, 0),
        ("last", "night") => one(2, -1),
        // "next week on Thursday"
        (which @ ("next" | "last"), "week") if WEEKDAYS.contains(&word(2 + usize::from(word(2) == "on"))) => {
            let on = usize::from(word(2) == "on");
            let day = WEEKDAYS.iter().position(|day| *day == word(2 + on))?;
            one(3 + on, day as i64 - calendar::weekday(today) + 7 * step(which))
        }
        // "The last week of July" stands in July, whenever it was said.
        ("next" | "last", "week" | "month") if word(2) == "of" && word(3) != "this" => None,
        (which @ ("next" | "last"), "week") => {
            Some((2, format!("week of {}", iso_date((today - calendar::weekday(today) + 7 * step(which)) * DAY)), None))
        }
        (which @ ("next" | "last"), "month") => Some((2, month(today, step(which)), None)),
        (which @ ("next" | "last"), "year") => Some((2, (date(today).0 + step(which)).to_string(), None)),
        (which @ ("next" | "last"), name) if WEEKDAYS.contains(&name) => one(2, weekday(name, which, today)),
        // "on Tuesday afternoons" is each week
        (_, name) if WEEKDAYS.contains(&name) && OF_EACH.contains(&word(2)) => None,
        ("this" | "on", name) if WEEKDAYS.contains(&name) => match when(words, here) {
            When::Passed => one(2, weekday(name, "last", today)),
            When::Ahead => one(2, weekday(name, "this", today)),
            When::Unsaid => None,
        },
        // "I stayed until Friday" is over, and "I booked it for Friday" is not.
        (before @ ("by" | "until" | "till" | "for" | "due"), name) if WEEKDAYS.contains(&name) => match (when(words, here), before) {
            (When::Passed, "until" | "till") => one(2, weekday(name, "last", today)),
            (When::Passed, "by" | "for") => None,
            _ => one(2, weekday(name, "this", today)),
        },
        // "The dinner was moved to Friday", "the demo is Monday": of today one says that it is today.
        ("to" | "is", name) if WEEKDAYS.contains(&name) && !is_of_today(words, here) => one(2, weekday(name, "this", today)),
        ("in", number) => counted(number, word(2)).and_then(|days| one(3, days)),
        (number, unit) if word(2) == "ago" => counted(number, unit).and_then(|days| one(3, -days)),
        (number, unit) if word(2) == "from" && ["today", "now", "tomorrow"].contains(&word(3)) => {
            counted(number, unit).and_then(|days| one(4, days + i64::from(word(3) == "tomorrow")))
        }
        _ => None,
    }
}

/// Whether the words before a weekday are of today, or of a day that nobody names: "today is Friday", "from Monday to Friday".
fn is_of_today(words: &[Word], here: usize) -> bool {
    let before = here.checked_sub(1).map_or("", |at| words[at].lower.as_str());
    here == 0 || ["today", "it", "tomorrow", "yesterday", "this", "that", "day"].contains(&before) || WEEKDAYS.contains(&before)
}

/// Days to a weekday. "On" is that which "this" is.
fn weekday(name: &str, which: &str, today: i64) -> i64 {
    let wanted = WEEKDAYS.iter().position(|day| *day == name).map_or(0, |at| at as i64);
    calendar::weekday_by(which, wanted, today) - today
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

fn month(today: i64, step: i64) -> String {
    let (year, month, _) = date(today);
    let months = year * 12 + month - 1 + step;
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
            let days: Vec<Option<i64>> = named(&words(text), AT).into_iter().map(|one| one.days).collect();
            assert!(days.iter().all(|days| *days > Some(7)), "{text}: {days:?}");
        }
        for text in ["on Friday the team meets", "on Friday, may we come?", "on Friday we may march"] {
            assert_eq!(named(&words(text), AT)[0].day, "2025-01-03", "{text}");
        }
    }

    #[test]
    fn a_time_of_day_is_no_date() {
        for (text, dated) in [
            ("dinner tomorrow, 7pm", "dinner tomorrow (2025-01-02), 7pm"),
            ("a call on Friday 7pm", "a call on Friday (2025-01-03) 7pm"),
            ("a call on Friday, 7:30", "a call on Friday (2025-01-03), 7:30"),
            ("a call on Friday (7 pm)", "a call on Friday (2025-01-03) (7 pm)"),
            ("on Friday 13 the shop is closed", "on Friday (2025-01-03) 13 the shop is closed"),
            ("on Friday 13.", "on Friday 13."),
            ("the show is on Friday next week", "the show is on Friday next week (2025-01-10)"),
            ("the show date is Friday of next week", "the show date is Friday of next week (2025-01-10)"),
            ("we meet next week on Thursday", "we meet next week on Thursday (2025-01-09)"),
            ("it was Monday last week", "it was Monday last week (2024-12-23)"),
            ("next Friday week 2 begins", "next Friday (2025-01-10) week 2 begins"),
            ("on Friday (3.1.)", "on Friday (3.1.)"),
            ("I go bowling on Friday afternoons", "I go bowling on Friday afternoons"),
            ("she comes the last week of July", "she comes the last week of July"),
            ("I start at a startup named Sunpeg on August 1", "I start at a startup named Sunpeg on August 1 (2025-08-01)"),
            ("I called Sam on March 3", "I called Sam on March 3 (2024-03-03)"),
            ("they found it, to be done on 5 August", "they found it, to be done on 5 August (2025-08-05)"),
            ("on Friday 2025-01-03", "on Friday 2025-01-03"),
        ] {
            assert_eq!(resolved(text, &words(text), 0, AT), dated);
        }
    }

    #[test]
    fn a_weekday_that_something_is_due_by_is_the_next_one() {
        let day = |text: &str| named(&words(text), AT).into_iter().map(|one| one.day).next().unwrap_or_default();
        for text in ["The report is due Friday", "I need it by Friday", "I booked a table for Friday", "I'm away until Friday"] {
            assert_eq!(day(text), "2025-01-03", "{text}");
        }
        assert_eq!((&*day("I stayed until Friday"), &*day("I paid for Friday")), ("2024-12-27", ""));
    }

    #[test]
    fn what_is_said_in_other_words_has_the_days_of_what_was_said() {
        let said = words("I started at Acme on November 2 and leave on March 5");
        let text = "The user works for Acme on November 2 and sleeps on March 6";
        assert_eq!(resolved_as(text, &said, AT), "The user works for Acme on November 2 (2024-11-02) and sleeps on March 6 (2025-03-06)");
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
            "I had surgery on Monday",
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
            "We are going to meet on Monday",
        ] {
            assert_eq!(day(text), "2025-01-06", "{text}");
        }
        for text in [
            "We agreed to meet on Monday",
            "We were going to meet on Monday",
            "I booked a table on Monday",
            "The meeting on Monday was cancelled",
        ] {
            assert_eq!(day(text), "", "{text}");
        }
        assert_eq!(day("It broke on Wednesday"), "2024-12-25", "of today one says that it is today");
        assert_eq!((days_ago(&words("Three days ago the disk broke"), AT), days_ago(&words("It is due tomorrow"), AT)), (3, 0));
        assert_eq!(days_ago(&words("Yesterday it broke, and today it runs"), AT), 0, "of two days it is neither");
    }
}
