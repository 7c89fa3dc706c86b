//! Days that a sentence names from where it stands ("tomorrow", "next Friday", "3 weeks ago"), said so that they stay true.
//!
//! The word stays and the day is put behind it: "tomorrow (2025-03-02)". Where the day is not plain, nothing is added.

use super::words::Word;
use crate::units::calendar::{DAY, MONTHS, WEEKDAYS, date};

/// A day as `2025-06-18`.
fn day_of(at: i64) -> String {
    let (year, month, day) = date(at.div_euclid(DAY));
    format!("{year:04}-{month:02}-{day:02}")
}

/// The days that a sentence names, with the place behind the words that name them. `at` is when it was said.
pub fn named(words: &[Word], at: i64) -> Vec<(usize, String)> {
    let (today, mut out, mut here) = (at.div_euclid(DAY), Vec::new(), 0);
    while here < words.len() {
        match expression(&words[here..], today) {
            Some((used, day)) => {
                if !is_said(words, here + used) {
                    out.push((words[here + used - 1].end, day));
                }
                here += used;
            }
            None => here += 1,
        }
    }
    out
}

/// The text with its days in it. The places are those of `words`, less `offset`.
pub fn resolved(text: &str, words: &[Word], offset: usize, at: i64) -> String {
    let (mut out, mut copied) = (String::with_capacity(text.len() + 16), 0);
    for (place, day) in named(words, at) {
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

fn expression(words: &[Word], today: i64) -> Option<(usize, String)> {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let day = |days: i64| day_of((today + days) * DAY);
    match (word(0), word(1)) {
        ("today" | "tonight", _) => Some((1, day(0))),
        ("day", "after") if word(2) == "tomorrow" => Some((3, day(2))),
        ("day", "before") if word(2) == "yesterday" => Some((3, day(-2))),
        ("tomorrow", _) => Some((1, day(1))),
        ("yesterday", _) => Some((1, day(-1))),
        ("this", "morning" | "afternoon" | "evening") => Some((2, day(0))),
        ("last", "night") => Some((2, day(-1))),
        (which @ ("next" | "last"), "week") => Some((2, format!("week of {}", day(monday(today) + if which == "next" { 7 } else { -7 })))),
        (which @ ("next" | "last"), "month") => Some((2, month(today, if which == "next" { 1 } else { -1 }))),
        (which @ ("next" | "last"), "year") => Some((2, (year(today) + if which == "next" { 1 } else { -1 }).to_string())),
        (which @ ("next" | "last" | "this" | "on"), name) if WEEKDAYS.contains(&name) => Some((2, day(weekday(name, which, today)))),
        ("in", number) => counted(number, word(2)).map(|days| (3, day(days))),
        (number, unit) if word(2) == "ago" => counted(number, unit).map(|days| (3, day(-days))),
        (number, unit) if word(2) == "from" && ["today", "now", "tomorrow"].contains(&word(3)) => {
            counted(number, unit).map(|days| (4, day(days + i64::from(word(3) == "tomorrow"))))
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
            assert_eq!(named(&words(text), AT)[0].1, "2025-01-03", "{text}");
        }
    }
}
