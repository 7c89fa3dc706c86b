//! Dates of a month: "May 3", "the 3rd of May 2025", "May 3 to 9", "Thursday the 26th".
//!
//! One without a year is the last such day where the words beside it tell of what was, the nearest where they tell of a plan, and else the
//! next one. A sentence of what comes each year ("my birthday is on May 3") names no day.

use super::tense::{When, is_arranged, when};
use super::{BEHIND, LEADS, Named, STREETS, YEARLY, YEARLY_THINGS};
use crate::gate::words::{Word, among};
use crate::units::calendar::{self, DAY, MONTHS, WEEKDAYS, date, is_short_month, iso_date, valid};

/// Months whose names are words or names of people.
const OTHERWISE: [i64; 5] = [3, 4, 5, 6, 8];
/// Words between the first and the last day of some.
const THROUGH: [&str; 5] = ["to", "until", "till", "through", "and"];

/// One or two days of a month, as they stand among words.
struct Dated {
    used: usize,
    month: i64,
    first: i64,
    /// The word before the last day, and that day.
    last: Option<(&'static str, i64)>,
    year: Option<i64>,
}

/// The date whose words begin at `here`. Where it ends what began so many days from today, it is behind that.
pub(super) fn read(words: &[Word], here: usize, today: i64, began: Option<i64>) -> Option<Named> {
    let Some(found) = dated(words, here) else {
        return numbered(words, here, today).or_else(|| in_digits(words, here, today));
    };
    let such = |year: i64, of_month: i64| valid(year, found.month, of_month);
    let first = match found.year {
        Some(year) => such(year, found.first)?,
        None if is_yearly(words) => return None,
        None => match began {
            Some(began) => (0..2).filter_map(|later| such(date(today + began).0 + later, found.first)).find(|day| *day > today + began)?,
            None => chosen(words, here, today, |year| such(year, found.first), 8)?,
        },
    };
    let last = found.last.and_then(|(joined, of_month)| Some((joined, such(date(first).0, of_month).filter(|last| *last > first)?)));
    Some(named(here, found.used, today, first, last))
}

fn named(first_word: usize, used: usize, today: i64, first: i64, last: Option<(&str, i64)>) -> Named {
    let day = |day: i64| iso_date(day * DAY);
    let text = last.map_or_else(|| day(first), |(joined, last)| format!("{} {joined} {}", day(first), day(last)));
    Named { first: first_word, end: first_word + used, day: text, days: Some(first - today) }
}

/// Days behind what has just been.
const JUST_BEEN: i64 = 15;

/// The day of a year, or of a month, that is meant, of those in up to `most` before and behind this one.
fn chosen(words: &[Word], here: usize, today: i64, of: impl Fn(i64) -> Option<i64>, most: i64) -> Option<i64> {
    let this = date(today).0;
    let last = (0..=most).filter_map(|back| of(this - back)).find(|day| *day <= today);
    let next = (0..=most).filter_map(|ahead| of(this + ahead)).find(|day| *day >= today);
    let before = here.checked_sub(1).map_or("", |at| words[at].lower.as_str());
    match when(words, here) {
        _ if before == "since" => last,
        When::Unsaid if ["to", "until", "till"].contains(&before) => next, // "it was moved to May 3", "delayed until May 3"
        // "Signed up for the marathon on 3 October": but for one that has just been, it is still to come.
        When::Unsaid | When::Passed if is_arranged(words, here) && before == "for" => next,
        When::Unsaid | When::Passed if is_arranged(words, here) => last.filter(|last| today - last < JUST_BEEN).or(next),
        // "The offer came, starting May 4" tells of what is to come as well.
        When::Passed if !begins_behind(words, here, before) => last,
        When::Ahead => next,
        When::Unsaid | When::Passed => [next, last].into_iter().flatten().min_by_key(|day| (day - today).abs()),
    }
}

/// Whether something begins on a date, is due then or lasts until then, whatever the verb before says of: "starting May 4", "as of May 4",
/// "the invoice, due on May 4", "renewed until May 4", "slipped to May 4". Something that was due, or is paid, is over.
fn begins_behind(words: &[Word], here: usize, before: &str) -> bool {
    let word = |back: usize| here.checked_sub(back).map_or("", |at| words[at].lower.as_str());
    let has = |some: &[&str]| words[..here].iter().any(|word| some.contains(&word.lower.as_str()));
    let clause = words[..here].iter().rev().take(8).take_while(|word| !["and", "but"].contains(&word.lower.as_str()));
    let is_lasting = || clause.clone().any(|word| ["renewed", "extended", "prescribed"].contains(&word.lower.as_str()));
    let is_due = || (before == "due" || before == "on" && word(2) == "due") && !has(&["was", "were", "paid", "missed"]);
    // "Staff engineer from 1 May", and not "from 1 to 9 May"
    let ends = || words[here..].iter().take(6).any(|word| ["to", "until", "till", "through"].contains(&word.lower.as_str()));
    let begins =
        ["starting", "beginning", "effective"].contains(&before) || before == "of" && word(2) == "as" || before == "from" && !ends();
    begins || is_due() || ["until", "till"].contains(&before) && is_lasting() || before == "to" && word(2) == "slipped"
}

/// Whether a sentence tells of what comes on the same day of each year, or more often.
fn is_yearly(words: &[Word]) -> bool {
    let is_thing = |at: usize| {
        let behind = words.get(at + 1).map_or("", |word| word.lower.as_str());
        among(&YEARLY, &words[at].lower) && !among(&YEARLY_THINGS, behind)
    };
    (0..words.len()).any(is_thing)
}

/// "May 3", "May 3-9, 2025", "3 to 9 May", "the 3rd of May".
fn dated(words: &[Word], here: usize) -> Option<Dated> {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let is_led = here > 0 && (among(&LEADS, word(here - 1)) || WEEKDAYS.contains(&word(here - 1)));
    let is_capital = |at: usize| words.get(at).is_some_and(|word| word.capital);
    let (found, is_ordinal) = month_first(words, here, is_led).or_else(|| day_first(words, here, is_led))?;
    let end = here + found.used;
    let year = word(end).parse::<i64>().ok().filter(|year| (1900..2100).contains(year));
    let is_elsewhere = word(end + 1) == "year" && ["next", "last"].contains(&word(end)); // it says which year by another one
    let begins_with_month = number(word(here)).is_none() && days(word(here)).is_none();
    let is_plain = begins_with_month && !OTHERWISE.contains(&found.month);
    let is_name = is_capital(end) && !is_ordinal && !begins_with_month; // "3 March Road"
    let is_street = is_name || among(&STREETS, word(end)) || is_elsewhere;
    let is_sure = year.is_some() || is_ordinal || is_led || is_plain || found.last.is_some();
    (is_sure && !is_street).then_some(Dated { used: found.used + usize::from(year.is_some()), year, ..found })
}

/// "May 3", "May the 3rd", "May 3-9", "May 3 to 9", and whether its day is an ordinal.
fn month_first(words: &[Word], here: usize, is_led: bool) -> Option<(Dated, bool)> {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let month = month_at(words, here, is_led)?;
    let at = here + 1 + usize::from(word(here + 1) == "the");
    let (first, last, is_ordinal) = days(word(at))?;
    // "May 3 and 9 June" are of two months, and "December 3 and 12 people come" has one day.
    let is_over = |at: usize| words.get(at).is_none_or(|next| next.is_mark() || among(&BEHIND, &next.lower));
    let is_day = |(joined, _): &(&str, i64)| *joined != "and" || is_over(at + 3);
    let is_other = last.is_none() && month_at(words, at + 3, is_led).is_none();
    let other = through(words, at + 1, first).filter(|other| is_other && is_day(other));
    let used = at + 1 - here + if other.is_some() { 2 } else { 0 };
    Some((Dated { used, month, first, last: last.or(other), year: None }, is_ordinal))
}

/// "3 May", "3rd of May", "3-9 May", "3 to 9 May", and whether its day is an ordinal.
fn day_first(words: &[Word], here: usize, is_led: bool) -> Option<(Dated, bool)> {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let (first, last, is_ordinal) = days(word(here))?;
    let other = through(words, here + 1, first).filter(|_| last.is_none());
    let behind = here + 1 + if other.is_some() { 2 } else { 0 };
    let at = behind + usize::from(word(behind) == "of");
    let month = month_at(words, at, is_led)?;
    Some((Dated { used: at + 1 - here, month, first, last: last.or(other), year: None }, is_ordinal))
}

/// The month that a word names. Short names, "may" and "march" need a capital or a word that leads to a date.
fn month_at(words: &[Word], at: usize, is_led: bool) -> Option<i64> {
    // "... and may 3 of us rest", "a team of 5-10 may grow"
    const NO_LEADS: [&str; 8] = ["and", "or", "the", "this", "next", "last", "of", "for"];
    let word = words.get(at)?;
    let lower = word.lower.as_str();
    let is_short = is_short_month(lower) && (word.capital || is_led);
    let found = MONTHS.iter().position(|name| *name == lower || is_short && name.starts_with(lower))?;
    let before = |back: usize| at.checked_sub(back).map_or("", |at| words[at].lower.as_str());
    let is_joined = before(1) != "of" && (1..=2).any(|back| among(&NO_LEADS, before(back)));
    (word.capital || is_led && !is_joined || !["may", "march"].contains(&lower)).then_some(found as i64 + 1)
}

/// "to 9", behind the 3rd of the same month: the word, and the last day.
fn through(words: &[Word], at: usize, first: i64) -> Option<(&'static str, i64)> {
    let joined = THROUGH.iter().find(|joined| words.get(at).is_some_and(|word| word.lower == **joined))?;
    number(&words.get(at + 1)?.lower).filter(|(last, _)| *last > first).map(|(last, _)| (*joined, last))
}

/// "Thursday the 26th", "on the 3rd", "from the 8th to the 14th": the days of that number, in the month that is meant; that weekday, where
/// one stands before it.
fn numbered(words: &[Word], here: usize, today: i64) -> Option<Named> {
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let ordinal = |at: usize| number(word(at)).filter(|(_, is_ordinal)| *is_ordinal).map(|(of_month, _)| of_month);
    let of_month = ordinal(here + 1).filter(|_| word(here) == "the")?;
    let before = here.checked_sub(1).map_or("", word);
    let weekday = WEEKDAYS.iter().position(|name| *name == before);
    let joined = THROUGH.contains(&word(here + 2)) && word(here + 2) != "and";
    let behind = here + 3 + usize::from(word(here + 3) == "the");
    let last = ordinal(behind).filter(|last| joined && *last > of_month);
    let used = if last.is_some() { behind + 1 - here } else { 2 };
    let beside = beside(words, here, here + used);
    let is_over = words.get(here + used).is_none_or(|next| next.is_mark() || among(&BEHIND, &next.lower));
    let is_led = ["on", "by", "until", "till", "since", "for", "to", "is"].contains(&before);
    let is_moved = words[..here].iter().any(|word| MOVED.contains(&word.lower.as_str())); // "moved from the 8th to the 14th"
    let is_range = last.is_some() && !is_moved && (before == "from" || is_led || beside != Beside::Nothing);
    // "the 3rd and 4th of May"
    if weekday.is_none() && !(is_led || is_range) || !is_over && weekday.is_none() || dated(words, here + 1).is_some() {
        return None;
    }
    let (year, month, _) = date(today);
    let is_such = |day: &i64| weekday.is_none_or(|wanted| calendar::weekday(*day) == wanted as i64);
    let such = |step: i64, of_month: i64| {
        let first = date(calendar::day(year, month + step, 1));
        valid(first.0, first.1, of_month)
    };
    let first = match beside {
        // Months are counted as `chosen` counts years: from this one.
        Beside::Nothing => chosen(words, here, today, |of| such(of - year, of_month).filter(is_such), 12)?,
        Beside::Month(month, Some(year)) => valid(year, month, of_month).filter(is_such)?,
        Beside::Month(month, None) => chosen(words, here, today, |year| valid(year, month, of_month).filter(is_such), 8)?,
        Beside::From(step) => such(step, of_month).filter(is_such)?,
        Beside::Unsure => return None,
    };
    let (year, month, _) = date(first);
    let last = match last {
        Some(last) => Some(("to", valid(year, month, last)?)),
        None => None,
    };
    Some(named(here, used, today, first, last))
}

/// The month that the words around a day name for it.
#[derive(Debug, PartialEq, Eq)]
enum Beside {
    Nothing,
    /// A month, and its year where that is said.
    Month(i64, Option<i64>),
    /// A month that is so many months from this one.
    From(i64),
    /// It may be one, and may be somebody's name, or has another day.
    Unsure,
}

/// Words before a day among which its month is looked for.
const BEFORE: usize = 8;
/// Verbs by which something gets another day.
const MOVED: [&str; 9] = ["moved", "postponed", "pushed", "rescheduled", "shifted", "delayed", "brought", "changed", "slipped"];

/// "In May, from the 8th", "next month on the 4th", "the 8th to the 14th in May": the month beside the words of a day. Another clause has a month
/// of its own: "She died in February, the funeral is on the 12th".
fn beside(words: &[Word], here: usize, end: usize) -> Beside {
    const LED_BY: [&str; 6] = ["in", "this", "next", "last", "during", "until"];
    const OF_OTHERS: [&str; 4] = ["from", "since", "of", "for"];
    const JOINS: [&str; 8] = ["and", "but", "so", "because", "then", "which", "while", "or"];
    const BEFORE_DAY: [&str; 9] = ["on", "from", "by", "until", "till", "to", "probably", "maybe", "about"];
    let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let is_parted = |at: usize| words.get(at + 1).is_some_and(|next| next.start > words[at].end + 1);
    let is_other = |at: usize| is_parted(at) && words[at + 1..here].iter().any(|word| !BEFORE_DAY.contains(&word.lower.as_str()));
    let is_own = |at: &usize| !words[*at].is_mark() && !JOINS.contains(&word(*at)) && !is_other(*at);
    let before = (here.saturating_sub(BEFORE)..here).rev().take_while(is_own);
    for at in before.chain(end..end + 2) {
        let led_by = at.checked_sub(1).map_or("", word);
        let step = ["last", "this", "next"].iter().position(|which| *which == led_by);
        if let Some(step) = step.filter(|_| word(at) == "month") {
            return Beside::From(step as i64 - 1);
        }
        let Some(month) = month_at(words, at, led_by == "in").filter(|_| !OF_OTHERS.contains(&led_by)) else { continue };
        let ends_day = at.checked_sub(1).is_some_and(|at| number(word(at)).is_some());
        let begins_day = |at: usize| at != here && number(word(at + usize::from(word(at) == "the"))).is_some();
        let year = word(at + 1).parse().ok().filter(|year| (1900..2100).contains(year));
        let is_unsure = ends_day || begins_day(at + 1) || !LED_BY.contains(&led_by);
        return if is_unsure { Beside::Unsure } else { Beside::Month(month, year) };
    }
    Beside::Nothing
}

/// A date in digits that all countries read alike: "2026/12/03", "11/24/2026", and behind a word that leads to one "24.11.2026" and "11/24". One
/// that is written as it is stored, "2026-12-03", stays as it is.
fn in_digits(words: &[Word], here: usize, today: i64) -> Option<Named> {
    const LED_BY: [&str; 11] = ["on", "by", "until", "till", "since", "before", "after", "from", "due", "is", "to"];
    let word = words[here].lower.as_str();
    let sign = word.chars().find(|sign| ['/', '.'].contains(sign)).filter(|_| word.starts_with(|digit: char| digit.is_ascii_digit()))?;
    let parts: Vec<i64> = word.split(sign).map(|part| part.parse().ok().filter(|_| part.len() <= 4)).collect::<Option<_>>()?;
    let is_led = here > 0 && among(&LED_BY, &words[here - 1].lower);
    let is_year = |year: &i64| (1900..2100).contains(year);
    let of = |a: i64, b: i64| match (a > 12, b > 12) {
        (true, false) => Some((b, a)),
        (false, true) => Some((a, b)),
        _ => None,
    };
    let day = match (sign, &parts[..]) {
        ('/', [year, month, of_month]) if is_year(year) => valid(*year, *month, *of_month)?,
        ('.', [of_month, month, year]) if is_led && is_year(year) => valid(*year, *month, *of_month)?,
        ('/', [a, b, year]) if is_year(year) => of(*a, *b).and_then(|(month, of_month)| valid(*year, month, of_month))?,
        ('/', [a, b]) if is_led && word != "24/7" && !is_yearly(words) => {
            let (month, of_month) = of(*a, *b)?;
            chosen(words, here, today, |year| valid(year, month, of_month), 8)?
        }
        _ => return None,
    };
    Some(named(here, 1, today, day, None))
}

/// The first and the last day of a word: "3", "3rd", "3-9", and whether the first is an ordinal.
#[allow(clippy::type_complexity)] // a day, another one behind its word, and what kind of number it is
fn days(word: &str) -> Option<(i64, Option<(&'static str, i64)>, bool)> {
    if let Some((first, last)) = word.split_once(['-', '\u{2013}']) {
        let ((first, is_ordinal), (last, _)) = (number(first)?, number(last)?);
        return (first < last).then_some((first, Some(("to", last)), is_ordinal));
    }
    let (first, is_ordinal) = number(word)?;
    Some((first, None, is_ordinal))
}

/// The day of a month, and whether it is an ordinal.
fn number(word: &str) -> Option<(i64, bool)> {
    let bare = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending));
    let text = bare.unwrap_or(word);
    let number = text.parse::<i64>().ok().filter(|number| text.len() <= 2 && (1..=31).contains(number))?;
    Some((number, bare.is_some()))
}

#[cfg(test)]
mod tests {
    use super::super::{days_ago, resolved};
    use crate::gate::words::words;

    const AT: i64 = 1_735_689_600_000_000; // Wednesday, 2025-01-01

    #[test]
    fn a_date_has_its_year() {
        for (text, dated) in [
            ("I have a dinner with Sam on December 3", "I have a dinner with Sam on December 3 (2025-12-03)"),
            ("I went to Rome on 5 May.", "I went to Rome on 5 May (2024-05-05)."),
            ("The exam is on the 3rd of May at 9", "The exam is on the 3rd of May (2025-05-03) at 9"),
            ("We agreed to meet on December 30", "We agreed to meet on December 30 (2024-12-30)"),
            ("We signed it on March 2, 2023, in Rome", "We signed it on March 2, 2023 (2023-03-02), in Rome"),
            ("It is due on Jan 1", "It is due on Jan 1 (2025-01-01)"),
            ("on Friday, March 14, we fly", "on Friday, March 14 (2025-03-14), we fly"),
            ("the leap day, February 29, is free", "the leap day, February 29 (2028-02-29), is free"),
            ("My birthday is on May 5", "My birthday is on May 5"),
            ("we march 3 miles, may 3 of us rest?", "we march 3 miles, may 3 of us rest?"),
            ("It is on May 5 2025-05-05", "It is on May 5 2025-05-05"),
            ("on February 31", "on February 31"),
            ("May 2025 and May 40", "May 2025 and May 40"),
            ("I had surgery on December 5", "I had surgery on December 5 (2024-12-05)"),
            ("The deadline was extended to January 15", "The deadline was extended to January 15 (2025-01-15)"),
            ("I was going to meet Ana on May 3", "I was going to meet Ana on May 3 (2025-05-03)"),
            ("The birthday party is on December 5", "The birthday party is on December 5 (2025-12-05)"),
            ("We're away from May 3 to 9", "We're away from May 3 to 9 (2025-05-03 to 2025-05-09)"),
            ("We meet on May 3 and 9 June", "We meet on May 3 (2025-05-03) and 9 June (2025-06-09)"),
            ("The dentist is on 2026/12/03", "The dentist is on 2026/12/03 (2026-12-03)"),
            ("Signed on 24.11.2024 in Rome", "Signed on 24.11.2024 (2024-11-24) in Rome"),
            ("My flight is on 11/24.", "My flight is on 11/24 (2025-11-24)."),
            ("We flew on 24/11", "We flew on 24/11 (2024-11-24)"),
            ("Due by 1/31, not 2/1.", "Due by 1/31 (2025-01-31), not 2/1."),
            (
                "We are on 24/7 duty from 9/5 to 3/4, version 1.2.2024, 3/16 cups",
                "We are on 24/7 duty from 9/5 to 3/4, version 1.2.2024, 3/16 cups",
            ),
            ("The fair is May 3-9", "The fair is May 3-9 (2025-05-03 to 2025-05-09)"),
            ("It is on the 3rd and 4th of December", "It is on the 3rd and 4th of December (2025-12-03 and 2025-12-04)"),
            ("the trip of December 20 to January 3", "the trip of December 20 (2025-12-20) to January 3 (2026-01-03)"),
            ("The dinner is on Dec. 3, 7pm", "The dinner is on Dec. 3 (2025-12-03), 7pm"),
            ("it's on dec 3rd", "it's on dec 3rd (2025-12-03)"),
            ("The review is on Thursday the 16th", "The review is on Thursday the 16th (2025-01-16)"),
            ("I need it by the 3rd.", "I need it by the 3rd (2025-01-03)."),
            ("Then ops can shut it down on the 3rd", "Then ops can shut it down on the 3rd (2025-01-03)"),
            ("They will cut the ribbon on the 3rd", "They will cut the ribbon on the 3rd (2025-01-03)"),
            ("My brother Will cut his hand on the 3rd", "My brother Will cut his hand on the 3rd (2024-12-03)"),
            ("Will bought a car on the 3rd", "Will bought a car on the 3rd (2024-12-03)"),
            ("The band I listen to split on the 3rd", "The band I listen to split on the 3rd (2024-12-03)"),
            ("We shut it down on the 3rd", "We shut it down on the 3rd (2024-12-03)"),
            ("We arrived on the 3rd at noon", "We arrived on the 3rd (2024-12-03) at noon"),
            ("we are away from January 5 to December 31", "we are away from January 5 (2025-01-05) to December 31 (2025-12-31)"),
            ("away from December 20 to January 3", "away from December 20 (2025-12-20) to January 3 (2026-01-03)"),
            ("I use it since May 3", "I use it since May 3 (2024-05-03)"),
            ("signed up for the Leeds 10k on 14 june", "signed up for the Leeds 10k on 14 june (2025-06-14)"),
            ("i registered for the marathon on 3 october", "i registered for the marathon on 3 october (2025-10-03)"),
            ("booked a table for 30 november", "booked a table for 30 november (2025-11-30)"),
            ("i registered for the race on 20 december", "i registered for the race on 20 december (2024-12-20)"),
            ("i enrolled on 1 september and left", "i enrolled on 1 september (2024-09-01) and left"),
            ("i signed up on 3 march for the gym", "i signed up on 3 march (2024-03-03) for the gym"),
            ("I signed the contract on 14 june", "I signed the contract on 14 june (2024-06-14)"),
            ("They gave me an appointment on March 4", "They gave me an appointment on March 4 (2025-03-04)"),
            ("My contract was renewed until May 4", "My contract was renewed until May 4 (2025-05-04)"),
            ("I was prescribed antibiotics until January 14", "I was prescribed antibiotics until January 14 (2025-01-14)"),
            ("I got the offer, starting May 4", "I got the offer, starting May 4 (2025-05-04)"),
            ("We received the invoice, due on May 4", "We received the invoice, due on May 4 (2025-05-04)"),
            ("We terminated the lease as of May 4", "We terminated the lease as of May 4 (2025-05-04)"),
            ("The release slipped to April 27", "The release slipped to April 27 (2025-04-27)"),
            ("I slipped on March 4", "I slipped on March 4 (2024-03-04)"),
            ("I gave a talk on March 4", "I gave a talk on March 4 (2024-03-04)"),
            ("I paid the invoice due on March 4", "I paid the invoice due on March 4 (2024-03-04)"),
            ("I was hired and worked there until May 4", "I was hired and worked there until May 4 (2024-05-04)"),
            ("I worked there until May 4", "I worked there until May 4 (2024-05-04)"),
            ("My plan renewed on May 5", "My plan renewed on May 5 (2024-05-05)"),
            ("I finished the course on the 5th.", "I finished the course on the 5th (2024-12-05)."),
            ("It is on December 3 next year", "It is on December 3 next year (2026)"),
            ("On December 3 and 12 people come", "On December 3 (2025-12-03) and 12 people come"),
            ("It was moved to the 27th.", "It was moved to the 27th (2025-01-27)."),
            ("I quit my job on November 2", "I quit my job on November 2 (2024-11-02)"),
            ("I had to book a hotel for January 10", "I had to book a hotel for January 10 (2025-01-10)"),
            ("my flight is on march 9", "my flight is on march 9 (2025-03-09)"),
            ("i'm on call from march 9 to march 16", "i'm on call from march 9 (2025-03-09) to march 16 (2025-03-16)"),
            (
                "the oven arrives on 3 march, the audit is on may 3",
                "the oven arrives on 3 march (2025-03-03), the audit is on may 3 (2025-05-03)",
            ),
            ("we march 3 miles and may 3 of us rest?", "we march 3 miles and may 3 of us rest?"),
            ("The delivery is delayed until the 12th.", "The delivery is delayed until the 12th (2025-01-12)."),
            ("I'm on holiday 10-24 august", "I'm on holiday 10-24 august (2025-08-10 to 2025-08-24)"),
            ("a team of 5-10 may grow, on the 3rd of may", "a team of 5-10 may grow, on the 3rd of may (2025-05-03)"),
            ("We met on May 3 Avenue", "We met on May 3 Avenue"),
            ("The office is at 3 March Road", "The office is at 3 March Road"),
            ("Does Section 3 May apply?", "Does Section 3 May apply?"),
            ("March 5 miles a day", "March 5 miles a day"),
            ("We met on the 3rd floor of it", "We met on the 3rd floor of it"),
            ("I told August 5 times", "I told August 5 times"),
        ] {
            assert_eq!(resolved(text, &words(text), 0, AT), dated);
        }
        assert_eq!(days_ago(&words("I went to Rome on 30 December"), AT), 2);
    }

    #[test]
    fn a_day_is_of_the_month_beside_it() {
        for (text, dated) in [
            (
                "A trip to Lisbon in May, from the 8th to the 14th",
                "A trip to Lisbon in May, from the 8th to the 14th (2025-05-08 to 2025-05-14)",
            ),
            (
                "In October I'm in Ghent from the 3rd until the 5th",
                "In October I'm in Ghent from the 3rd until the 5th (2025-10-03 to 2025-10-05)",
            ),
            ("I have surgery in June, on the 24th", "I have surgery in June, on the 24th (2025-06-24)"),
            (
                "The fair is in September 2026, the 9th to the 11th",
                "The fair is in September 2026, the 9th to the 11th (2026-09-09 to 2026-09-11)",
            ),
            ("We're in Rome next month, on the 4th", "We're in Rome next month (2025-02), on the 4th (2025-02-04)"),
            ("I'm away from the 8th to the 14th in May", "I'm away from the 8th to the 14th (2025-05-08 to 2025-05-14) in May"),
            ("We went to Rome in November, on the 3rd", "We went to Rome in November, on the 3rd (2024-11-03)"),
            ("I see May on the 8th", "I see May on the 8th"),
            ("I may come on the 8th", "I may come on the 8th (2025-01-08)"),
            ("She died in November, the funeral is on the 12th", "She died in November, the funeral is on the 12th (2025-01-12)"),
            ("I fell in November and the cast comes off on the 12th", "I fell in November and the cast comes off on the 12th (2025-01-12)"),
            ("The invoice from November is due on the 15th", "The invoice from November is due on the 15th (2025-01-15)"),
            ("We move in June, I give notice by the 15th", "We move in June, I give notice by the 15th (2025-01-15)"),
            ("It was moved from the 8th to the 14th", "It was moved from the 8th to the 14th (2025-01-14)"),
            ("The concert in October is on the 12th", "The concert in October is on the 12th (2025-10-12)"),
        ] {
            assert_eq!(resolved(text, &words(text), 0, AT), dated);
        }
    }
}
