//! The time in a question: "what did we decide last Tuesday?" -> the day that is meant, as a range of event time.
//!
//! It is a pure function of the text and the local time, and knows English. It reads days, weeks, months, quarters, seasons, years, dates
//! in words and in digits, "3 weeks ago", "in the last 10 days", and since, before, after, until, between and from ... to around
//! them; docs/ranking.md has the table. Where past and future would both fit, the past is meant: "in May" is the last May that
//! has begun. A question for what is to come means the next one: "Do I have anything on Friday?", "What are my plans for May?"
//!
//! It deliberately does not read times of day, holidays, repeated days ("on Fridays"), other languages, dates that two countries read
//! differently (`3/4/2025`), and texts of more than [`MAX_BYTES`], which are not questions. A time that is read is a preference, never a
//! filter ([`super::priors`]): a wrong reading costs ranks, not answers.

mod period;
mod words;

#[cfg(test)]
mod tests;

use crate::units::calendar::{self, DAY, Days};
use words::Word;
pub(super) use words::may_name_time;

/// A longer text is not read.
pub const MAX_BYTES: usize = 1000;

/// Words of a question for what was: "since April" ends today.
const PAST: [&str; 5] = ["did", "had", "went", "done", HAPPENED];
/// A word of a question for events that are over: "this year" ends today, too. So it does with "so far".
const HAPPENED: &str = "happened";

/// Words of a question for what is to come.
#[rustfmt::skip]
const AHEAD: [&str; 18] = [
    "upcoming", "coming", "happening", "happens", "planned", "plan", "plans", "planning", "schedule", "scheduled", "calendar", "agenda", "busy",
    "free", "available", "due", "will", "shall",
];
/// Verbs before "I" or "we" in such a question: "Do I have anything on Friday?", "Am I in Berlin on Monday?"
const OF_NOW: [&str; 7] = ["do", "am", "are", "can", "could", "should", "must"];
/// Verbs behind "do I" that ask for what was as well: "Do I know whom I met on Monday?"
const KNOWING: [&str; 4] = ["know", "remember", "recall", "think"];
/// Words of a question for what was, beside [`PAST`].
const OVER: [&str; 5] = ["was", "were", "been", "ago", "yesterday"];
/// Words of an expression that says by itself on which side of today it lies.
const SIDED: [&str; 11] = ["last", "previous", "past", "this", "current", "next", "coming", "ago", "today", "tomorrow", "yesterday"];
/// Days from today from which a name of a day, a month or a date is read again, where what it names is over: a week, a month, a year.
const LATER: [i64; 3] = [6, 31, 365];
/// The longest time whose days are told one by one.
const MOST_DAYS: i64 = 31;
/// Microseconds that are added to a midnight anywhere on Earth to come to the day that begins there, in UTC: the offsets of all zones but
/// UTC-11 and UTC+14 lie between 10 hours and a half behind it and 13 and a half ahead.
const ANY_ZONE: i64 = DAY * 9 / 16;

/// A range of time, in microseconds since 1970; open where a side is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Range {
    /// At or after this.
    pub since: Option<i64>,
    /// Before this.
    pub until: Option<i64>,
}

impl Range {
    /// Whether a time lies in it.
    #[must_use]
    pub fn contains(&self, at: i64) -> bool {
        self.since.is_none_or(|since| at >= since) && self.until.is_none_or(|until| at < until)
    }

    /// Its days in local time, where they are few enough to be told one by one; none where a side is open.
    pub(crate) fn days(&self) -> std::ops::Range<i64> {
        let day = |side: i64| side.saturating_add(ANY_ZONE).div_euclid(DAY);
        let days = self.since.zip(self.until).map_or(0..0, |(since, until)| day(since)..day(until));
        if days.end.saturating_sub(days.start) <= MOST_DAYS { days } else { 0..0 }
    }

    /// This range with each side moved, for instance from local time to UTC.
    #[must_use]
    pub fn map(self, mut side: impl FnMut(i64) -> i64) -> Self {
        Self { since: self.since.map(&mut side), until: self.until.map(&mut side) }
    }
}

/// The time that a question asks about; `None` where it names none.
///
/// `now` and the range are in UTC; `offset_seconds` is what the local time is ahead of it. Of several expressions the range
/// covers all. Cost: linear in the text, about a microsecond for a question.
#[must_use]
pub fn read(text: &str, now: i64, offset_seconds: i32) -> Option<Range> {
    let offset = i64::from(offset_seconds) * 1_000_000;
    read_local(text, now.saturating_add(offset)).map(|range| range.map(|side| side.saturating_sub(offset)))
}

/// The time that a question asks about in local time: what the clock on the wall shows, as if it were UTC. For zones whose offset changes.
#[must_use]
pub fn read_local(text: &str, now: i64) -> Option<Range> {
    if text.len() > MAX_BYTES || !may_name_time(text) {
        return None;
    }
    let words = words::split(text);
    let today = now.div_euclid(DAY);
    let (has, is_ahead) = (|known: &[&str]| has(&words, known), is_ahead(&words));
    let mut days = days(&words, today, is_ahead, |_, _| ())?;
    if is_ahead && days.end > Some(today) {
        days.first = days.first.max(Some(today)); // "by Friday", "this week"
    }
    let begins = days.first.is_some_and(|first| first <= today);
    let is_over = || has(&[HAPPENED]) || words.windows(2).any(|pair| pair[0].lower == "so" && pair[1].lower == "far");
    if begins && (days.end.is_none() && has(&PAST) || days.end.is_none_or(|end| end > today) && is_over()) {
        days.end = Some(today + 1);
    }
    let time = |day: Option<i64>| day.map(|day| day.saturating_mul(DAY));
    Some(Range { since: time(days.first), until: time(days.end) })
}

/// The time that a question asks about, in UTC, by a clock on a wall: `to_local` gives the clock's time at a time in UTC, `from_local` the
/// way back.
pub fn read_on_a_wall<E>(
    text: &str,
    now: i64,
    to_local: impl FnOnce(i64) -> Result<i64, E>,
    from_local: impl Fn(i64) -> Result<i64, E>,
) -> Result<Option<Range>, E> {
    let Some(local) = read_local(text, to_local(now)?) else { return Ok(None) };
    let side = |side: Option<i64>| side.map(&from_local).transpose();
    Ok(Some(Range { since: side(local.since)?, until: side(local.until)? }))
}

/// The date of a time in UTC, with the time of day where it is not midnight: `2025-06-18`, `2025-06-18T22:00Z`.
#[must_use]
pub fn day_of(at: i64) -> String {
    let ((year, month, day), minutes) = (calendar::date(at.div_euclid(DAY)), at.rem_euclid(DAY) / 60_000_000);
    let time = if minutes == 0 { String::new() } else { format!("T{:02}:{:02}Z", minutes / 60, minutes % 60) };
    format!("{year:04}-{month:02}-{day:02}{time}")
}

/// Whether a text names a time, and its words in small letters that are of none.
#[must_use]
pub fn beside(text: &str) -> (bool, Vec<String>) {
    let (mut names, mut beside) = (false, Vec::new());
    each_word(text, |word, is_of_time| if is_of_time { names = true } else { beside.push(word) });
    (names, beside)
}

/// Its words in small letters that are of a time.
#[must_use]
pub fn within(text: &str) -> Vec<String> {
    let mut within = Vec::new();
    if text.len() <= MAX_BYTES && may_name_time(text) {
        each_word(text, |word, is_of_time| within.extend(is_of_time.then_some(word)));
    }
    within
}

/// Calls `of` with each word in small letters, and whether it is of a time, which does not depend on what day it is.
fn each_word(text: &str, mut of: impl FnMut(String, bool)) {
    let words = words::split(text);
    days(&words, 0, is_ahead(&words), |word, is_of_time| of(word.lower.clone(), is_of_time));
}

/// Whether a question asks for what is to come: "Do I have anything on Friday?", "What are my plans for May?"
#[must_use]
pub fn asks_ahead(question: &str) -> bool {
    is_ahead(&words::split(question))
}

/// Whether a word in small letters is one for what is to come.
pub(super) fn is_of_ahead(word: &str) -> bool {
    AHEAD.contains(&word)
}

fn has(words: &[Word<'_>], known: &[&str]) -> bool {
    words.iter().any(|word| known.contains(&word.lower.as_str()))
}

fn is_ahead(words: &[Word<'_>]) -> bool {
    let is = |at: usize, known: &[&str]| words.get(at).is_some_and(|word| known.contains(&word.lower.as_str()));
    let follow = |at: usize, first: &[&str], second: &[&str]| is(at, first) && is(at + 1, second);
    let asks = |at: usize| {
        let of_us = follow(at, &OF_NOW, &["i", "we"]) && !is(at + 2, &KNOWING);
        of_us || follow(at, &["i", "we"], &["have"]) || follow(at, &["is", "are"], &["there"])
    };
    // "What's on Friday?"
    let what_is = follow(0, &["what"], &["on"]) || follow(0, &["what"], &["is"]) && is(2, &["on"]);
    let is_ahead = what_is || has(words, &AHEAD) || (0..words.len()).any(asks);
    is_ahead && !has(words, &PAST) && !has(words, &OVER)
}

/// All expressions of a text together, of a question for what is to come as far as they can lie ahead; `of` is given each word, and whether it
/// is of one.
fn days(words: &[Word<'_>], today: i64, is_ahead: bool, mut of: impl FnMut(&Word<'_>, bool)) -> Option<Days> {
    let (mut all, mut is_soon, mut at): (Option<Days>, bool, usize) = (None, false, 0);
    while at < words.len() {
        let found = expression(words, at, today);
        let found = found.map(|(days, used)| (if is_ahead { coming(words, at, (days, used), today) } else { days }, used));
        if let Some((days, _)) = found {
            all = Some(all.map_or(days, |others| others.and(days)));
        }
        let soon = soon(words, at).filter(|_| is_ahead && found.is_none());
        is_soon |= soon.is_some();
        let used = found.map(|(_, used)| used).or(soon);
        words[at..].iter().take(used.unwrap_or(1)).for_each(|word| of(word, used.is_some()));
        at += used.unwrap_or(1);
    }
    all.or_else(|| is_soon.then(|| Days::new(today, today + MOST_DAYS)))
}

/// The words at a place that ask for the days to come, whichever they are: "coming up", "upcoming", "on my calendar".
fn soon(words: &[Word<'_>], at: usize) -> Option<usize> {
    let name = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    match (name(at), name(at + 1)) {
        ("coming", "up") => Some(2),
        ("upcoming", _) => Some(1),
        ("calendar" | "agenda", _) if at > 0 && matches!(name(at - 1), "my" | "our" | "the") => Some(1),
        _ => None,
    }
}

/// The days that an expression names, or, where these are over and it has no side of its own, the next ones.
fn coming(words: &[Word<'_>], at: usize, (days, used): (Days, usize), today: i64) -> Days {
    let is_over = |days: &Days| days.end.is_some_and(|end| end <= today);
    let is_fixed = |word: &Word<'_>| SIDED.contains(&word.lower.as_str()) || word.year().is_some() || word.date().is_some();
    // On a Saturday "this Friday" is the one to come.
    let from = at + usize::from(words[at].lower == "this" && words.get(at + 1).is_some_and(|word| word.weekday().is_some()));
    if !is_over(&days) || words[from..at + used].iter().any(is_fixed) {
        return days;
    }
    let later = LATER.into_iter().filter_map(|away| expression(words, at, today + away)).map(|(days, _)| days);
    later.into_iter().find(|days| !is_over(days)).unwrap_or(days)
}

/// The expression that begins at a word, and how many words it has.
fn expression(words: &[Word<'_>], at: usize, today: i64) -> Option<(Days, usize)> {
    let period = |at| period::read(words, at, today);
    let word = words.get(at)?;
    let open = |since: fn(Days) -> Days| period(at + 1).map(|(days, used)| (since(days), used + 1));
    match word.lower.as_str() {
        "since" => open(|days| Days { end: None, ..days }),
        "after" => open(|days| Days { first: days.end, end: None }),
        "before" => open(|days| Days { first: None, end: days.first }),
        "until" | "till" | "by" => open(|days| Days { first: None, ..days }),
        "between" | "from" => between(words, at + 1, today).map(|(days, used)| (days, used + 1)),
        _ => period(at),
    }
}

/// The day of "3 and 20 February", whose month is that of the next, and its one word.
fn number_alone(words: &[Word<'_>], at: usize) -> Option<(i64, usize)> {
    let of_month = |at: usize| words.get(at).and_then(Word::of_month);
    let has_month = of_month(at + 2).is_some() && words.get(at + 3).is_some_and(|word| word.month().is_some());
    of_month(at).filter(|_| has_month).map(|(of_month, _)| (of_month, 1))
}

/// The range that begins at a word behind "between" or "from", and how many words it has. A day without a month ("the 3rd") is of the
/// month that brings it nearest to the other day.
fn between(words: &[Word<'_>], at: usize, today: i64) -> Option<(Days, usize)> {
    let period = |at| period::read(words, at, today);
    let joins = |at: usize| words.get(at).is_some_and(|word| ["and", "to", "until", "till", "through"].contains(&word.lower.as_str()));
    if let Some((of_month, used)) = period::day_alone(words, at).or_else(|| number_alone(words, at)).filter(|(_, used)| joins(at + used)) {
        let next = at + used + 1;
        let last = || period::last_day_alone(words, next).and_then(|(day, used)| Some((Days::one(period::last_such(day, today)?), used)));
        let (to, more) = period(next).or_else(last)?;
        let first = period::last_such(of_month, to.first?)?;
        return Some((Days { first: Some(first), end: to.end }, used + more + 1));
    }
    let (from, used) = period(at)?;
    let next = at + used + 1;
    let day = || {
        // "from May 3 to 9"
        let plain = || words.get(at + used - 1)?.of_month().and_then(|_| period::last_number(words, next));
        let (of_month, used) = period::last_day_alone(words, next).or_else(plain)?;
        Some((Days::one(period::next_such(of_month, from.first?)?), used))
    };
    // "From Monday to Wednesday last week" begins on the Monday before that Wednesday.
    let to = period(next).or_else(day).filter(|_| joins(at + used));
    let from = match to.and_then(|(to, _)| to.first).filter(|_| used <= 2) {
        Some(last) => {
            words[at + used - 1].weekday().map_or(from, |wanted| Days::one(last - (calendar::weekday(last) - wanted).rem_euclid(7)))
        }
        None => from,
    };
    match to {
        Some((to, more)) if to.end > from.first => Some((Days { first: from.first, end: to.end }, used + more + 1)),
        _ => Some((from, used)),
    }
}
