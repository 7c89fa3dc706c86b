//! One period: a day, a week, a month, a year, by its name or by how far it is from today.

use super::words::Word;
use crate::text::is_filler;
use crate::units::calendar::{Days, date, day, months, valid, weekday, weekday_by};

/// The words of which one must stand before a name that could be something else: a month ("June said"), a year, a season.
const LEADS: [&str; 17] = [
    "in", "of", "since", "until", "till", "before", "after", "by", "during", "between", "and", "from", "to", "through", "early", "late",
    "mid",
];

/// The period that begins at a word, and how many words it has. One right behind it says which it is, or the other way round: "on Friday,
/// last week", "last year in May", "the 3rd of last month".
pub(super) fn read(words: &[Word<'_>], at: usize, today: i64) -> Option<(Days, usize)> {
    let (own, used) = single(words, at, today)?;
    let behind = at + used;
    if let Some((day, more)) = numbered(words, at, behind, today) {
        return Some((Days::one(day), used + more));
    }
    let next = behind + usize::from(words.get(behind).is_some_and(|word| word.lower == "of"));
    let qualified = single(words, next, today).and_then(|(other, more)| {
        // The shorter one is read as on the last day of the longer one.
        let within = |at: usize, frame: Days| {
            let (days, _) = single(words, at, frame.end? - 1)?;
            (days.first >= frame.first && days.end <= frame.end).then_some(days)
        };
        let days = match (length(own)?, length(other)?) {
            (one, two) if 2 * one <= two => within(at, other)?,
            (one, two) if one >= 2 * two => within(next, own)?,
            _ if is_weekday(words, behind - 1) && !is_weekday(words, next + more - 1) => on_weekday(words[behind - 1].weekday()?, other)?,
            _ => return None,
        };
        Some((days, next - at + more))
    });
    Some(qualified.unwrap_or((own, used)))
}

/// How many days it has.
fn length(days: Days) -> Option<i64> {
    Some(days.end? - days.first?)
}

/// The day of a date without a year that is such a weekday, in the year that is read or one beside it: "Monday, July 7".
fn on_weekday(wanted: i64, day: Days) -> Option<Days> {
    let first = day.first?;
    if weekday(first) == wanted {
        return Some(day);
    }
    let (year, month, of_month) = date(first);
    let beside = [1, -1, 2].into_iter().filter_map(|away| valid(year + away, month, of_month)).find(|day| weekday(*day) == wanted);
    Some(beside.map_or(day, Days::one))
}

fn is_weekday(words: &[Word<'_>], at: usize) -> bool {
    words.get(at).is_some_and(|word| word.weekday().is_some())
}

/// The day of "Tuesday the 12th", whose number stands at `behind`: the last such Tuesday of a year, or the last such day.
fn numbered(words: &[Word<'_>], at: usize, behind: usize, today: i64) -> Option<(i64, usize)> {
    let wanted = words.get(behind - 1).and_then(Word::weekday).filter(|_| behind - at <= 2)?;
    let (of_month, used) = last_day_alone(words, behind)?;
    let name = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let is_of_month = name(behind + used) == "of" || words.get(behind + used).is_some_and(|word| word.month().is_some());
    if is_of_month {
        return None; // "Monday the 16th of June"
    }
    let last = last_such(of_month, today)?;
    let (year, month, _) = date(last);
    let such = (0..12).filter_map(|back| valid_in(year, month - back, of_month)).find(|day| weekday(*day) == wanted);
    Some((such.unwrap_or(last), used))
}

/// The period of one expression, and how many words it has.
fn single(words: &[Word<'_>], at: usize, today: i64) -> Option<(Days, usize)> {
    let name = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    // "earlier this week"
    let from = at + usize::from(matches!(name(at), "earlier" | "later") && matches!(name(at + 1), "this" | "last" | "in" | "today"));
    // "in the last week", "during the summer", "on the 7th of May", "in the year 2024"
    let skipped = match name(from) {
        "in" | "on" | "during" | "within" | "over" | "at" | "around" | "for" => 1,
        _ => 0,
    };
    let start = from + skipped + usize::from(name(from + skipped) == "the");
    let start = start + usize::from(name(start) == "year" && words.get(start + 1).is_some_and(|word| word.year().is_some()));
    let found = part(words, start, today)
        .or_else(|| fixed(words, start, today))
        .or_else(|| related(words, start, today))
        .or_else(|| ago(words, start, today))
        .or_else(|| dated(words, start, from, today));
    let (days, used) = found?;
    // "yesterday evening", "on Friday morning"
    let of_day = matches!(name(start + used), "morning" | "afternoon" | "evening" | "night") && length(days) == Some(1);
    Some((days, start - at + used + usize::from(of_day)))
}

/// A part of a period: "the first week of May", "early May", "the end of last year"; and the week that a day is in: "the week of May 11".
fn part(words: &[Word<'_>], at: usize, today: i64) -> Option<(Days, usize)> {
    let name = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let of = |at: usize| {
        let of = usize::from(matches!(name(at), "of" | "in"));
        let (days, used) = single(words, at + of, today)?;
        Some((days.first?, days.end?, of + used))
    };
    if name(at) == "week" && matches!(name(at + 1), "of" | "starting" | "beginning" | "from") {
        let the = usize::from(name(at + 2) == "the");
        let (days, used) = dated(words, at + 2 + the, at + 1, today)?;
        let monday = days.first.filter(|_| length(days) == Some(1)).map(|day| day - weekday(day))?;
        return Some((Days::new(monday, monday + 7), 2 + the + used));
    }
    if let Some(third) = third(name(at)) {
        let (first, end, used) = of(at + 1)?;
        let side = |third: i64| first + (end - first) * third / 3;
        return (end - first > 3).then(|| (Days::new(side(third), side(third + 1)), 1 + used));
    }
    let place = ["first", "second", "third", "fourth", "fifth"].iter().position(|known| *known == name(at)).map(|at| at as i64);
    if place.is_none() && name(at) != "last" {
        return None;
    }
    let (count, counted) = several(words, at + 1).filter(|_| words.get(at + 1).and_then(unit).is_none()).unwrap_or((1, 0));
    let unit_at = at + 1 + counted;
    let framed = || of(unit_at + 1).filter(|_| matches!(name(unit_at + 1), "of" | "in"));
    let parted = |length: i64| {
        let (first, end, used) = framed()?;
        let length = length * count;
        let start = place.map_or(end - length, |place| first + place * length);
        let days = Days::new(start.max(first), (start + length).min(end));
        (length < end - first && days.first < days.end).then(|| (days, unit_at + 1 - at + used))
    };
    let by_months = |length: i64| {
        let (first, end, used) = framed()?;
        let ((year, month, _), (last_year, last_month, _)) = (date(first), date(end - 1));
        let days = match place {
            Some(place) => months(year, month + place * length, length),
            None => months(last_year, last_month + 1 - length, length),
        };
        (days.first >= Some(first) && days.end <= Some(end) && length < 12).then(|| (days, unit_at + 1 - at + used))
    };
    match name(unit_at) {
        "day" | "days" => parted(1),
        "week" | "weeks" => parted(7),
        // The months of a year by the calendar, which are not of one length.
        "month" | "months" => by_months(count),
        "quarter" | "quarters" => by_months(3 * count),
        "half" => {
            let (first, end, used) = framed().filter(|(first, end, _)| end - first > 3)?;
            let half = first + (end - first) / 2;
            Some((if place == Some(0) { Days::new(first, half) } else { Days::new(half, end) }, 2 + used))
        }
        _ => {
            let wanted = words.get(unit_at)?.weekday()?;
            let (first, end, used) = framed()?;
            let day = match place {
                Some(place) => first + (wanted - weekday(first)).rem_euclid(7) + 7 * place,
                None => end - 1 - (weekday(end - 1) - wanted).rem_euclid(7),
            };
            (day >= first && day < end).then(|| (Days::one(day), 2 + used))
        }
    }
}

/// Which third of a period a word is for.
fn third(word: &str) -> Option<i64> {
    match word {
        "early" | "beginning" | "start" => Some(0),
        "mid" | "middle" => Some(1),
        "late" | "end" => Some(2),
        _ => None,
    }
}

/// Words that mean one day.
fn fixed(words: &[Word<'_>], at: usize, today: i64) -> Option<(Days, usize)> {
    let name = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    match (name(at), name(at + 1), name(at + 2)) {
        ("day", "before", "yesterday") => Some((Days::one(today - 2), 3)),
        ("day", "after", "tomorrow") => Some((Days::one(today + 2), 3)),
        ("today" | "tonight" | "now", ..) => Some((Days::one(today), 1)),
        ("yesterday", ..) => Some((Days::one(today - 1), 1)),
        ("tomorrow", ..) => Some((Days::one(today + 1), 1)),
        ("this", "morning" | "afternoon" | "evening", _) => Some((Days::one(today), 2)),
        ("last", "night" | "evening", _) => Some((Days::one(today - 1), 2)),
        ("weekend", "before", "last") => {
            let saturday = today - weekday(today) + 5 - 14;
            Some((Days::new(saturday, saturday + 2), 3))
        }
        ("week" | "month" | "year", "before", "last") => Some((around(today, unit(&words[at])?, -2), 3)),
        ("half", "a", "year") if name(at + 3) == "ago" => Some((around(today, Unit::Month, -6), 4)),
        ("weekend", ..) if at > 0 && name(at - 1) == "the" => {
            let saturday = today - (weekday(today) + 2).rem_euclid(7);
            Some((Days::new(saturday, saturday + 2), 1))
        }
        _ => None,
    }
}

/// Last, this, next and past, and what follows: a unit, a weekday, a month, a season, or "3 days".
fn related(words: &[Word<'_>], at: usize, today: i64) -> Option<(Days, usize)> {
    let step = match words.get(at)?.lower.as_str() {
        "last" | "previous" | "past" => -1,
        "this" | "current" => 0,
        "next" | "coming" => 1,
        _ => return None,
    };
    let next = words.get(at + 1)?;
    // "in the next two weeks"
    if let Some((count, used)) = several(words, at + 1).filter(|_| step > 0)
        && let Some(unit) = words.get(at + 1 + used).and_then(unit)
    {
        return Some((Days::new(today, back(today, unit, -count) + 1), used + 2));
    }
    let rolling = step < 0 && (words[at].lower == "past" || words[at].lower == "last");
    if let Some((count, used)) = several(words, at + 1).filter(|_| rolling)
        && let Some(word) = words.get(at + 1 + used)
    {
        if word.lower == "hours" {
            return Some((Days::new(today - (count + 23) / 24, today + 1), used + 2));
        }
        if let Some(unit) = unit(word) {
            return Some((Days { first: Some(back(today, unit, count)), end: Some(today + 1) }, used + 2));
        }
    }
    let found = match unit(next) {
        Some(unit) if words[at].lower == "past" => Days::new(back(today, unit, 1), today + 1),
        Some(unit) => around(today, unit, step),
        None if next.lower == "weekend" => {
            let saturday = today - weekday(today) + 5;
            let ours = saturday + 7 * step;
            Days::new(ours, ours + 2)
        }
        None if next.lower == "quarter" => {
            let (year, month, _) = date(today);
            months(year, (month - 1) / 3 * 3 + 1 + 3 * step, 3)
        }
        None => named(&words[at].lower, next, step, today)?,
    };
    Some((found, 2))
}

/// "last Tuesday", "this May", "next summer". "This Tuesday" may be over, where learning reads the one to come: one asks for it later.
fn named(which: &str, word: &Word<'_>, step: i64, today: i64) -> Option<Days> {
    if let Some(wanted) = word.weekday() {
        let word = if step < 0 { "last" } else { which };
        return Some(Days::one(if step == 0 { today - weekday(today) + wanted } else { weekday_by(word, wanted, today) }));
    }
    let (first, count) = word.month().map(|(month, _)| (month, 1)).or_else(|| word.season().map(|month| (month, 3)))?;
    let year = date(today).0;
    let of = |year| months(year, first, count);
    Some(match step {
        0 if of(year - 1).end > Some(today) => of(year - 1),
        0 => of(year),
        1 => {
            if of(year).first > Some(today) {
                of(year)
            } else {
                of(year + 1)
            }
        }
        _ => [year, year - 1].map(of).into_iter().find(|days| days.end <= Some(today)).unwrap_or_else(|| of(year - 2)),
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Day,
    Week,
    Month,
    Year,
}

fn unit(word: &Word<'_>) -> Option<Unit> {
    match word.lower.as_str() {
        "day" | "days" => Some(Unit::Day),
        "week" | "weeks" => Some(Unit::Week),
        "month" | "months" => Some(Unit::Month),
        "year" | "years" => Some(Unit::Year),
        _ => None,
    }
}

/// The unit that is `step` units from the one of today.
fn around(today: i64, unit: Unit, step: i64) -> Days {
    let (year, month, _) = date(today);
    match unit {
        Unit::Day => Days::one(today + step),
        Unit::Week => Days::new(today - weekday(today) + 7 * step, today - weekday(today) + 7 * step + 7),
        Unit::Month => months(year, month + step, 1),
        Unit::Year => months(year + step, 1, 12),
    }
}

/// The same day so many units before.
fn back(today: i64, unit: Unit, count: i64) -> i64 {
    let (year, month, of_month) = date(today);
    match unit {
        Unit::Day => today - count,
        Unit::Week => today - 7 * count,
        Unit::Month => (day(year, month - count, of_month)).min(day(year, month - count + 1, 1) - 1),
        Unit::Year => (day(year - count, month, of_month)).min(day(year - count, month + 1, 1) - 1),
    }
}

/// "3", "three", "a", "a couple of", "a few", "several": how many, and how many words it took.
fn several(words: &[Word<'_>], at: usize) -> Option<(i64, usize)> {
    let name = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    match (name(at), name(at + 1), name(at + 2)) {
        ("a", "couple", "of") => Some((2, 3)),
        ("a", "couple", _) | ("couple", "of", _) => Some((2, 2)),
        ("a", "few", _) => Some((3, 2)),
        ("couple", ..) => Some((2, 1)),
        ("few" | "several", ..) => Some((3, 1)),
        _ => words.get(at)?.count().map(|count| (count, 1)),
    }
}

/// "3 weeks ago": the longer ago, the less exactly it is meant.
fn ago(words: &[Word<'_>], at: usize, today: i64) -> Option<(Days, usize)> {
    let (count, used) = several(words, at)?;
    let name = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let behind = at + used + 1;
    if matches!(name(at + used), "hour" | "hours" | "minute" | "minutes") {
        return (name(behind) == "ago").then(|| (Days::one(today), used + 2));
    }
    let unit = unit(words.get(at + used)?)?;
    if name(behind) == "from" && name(behind + 1) == "now" {
        return Some((Days::one(back(today, unit, -count)), used + 3));
    }
    if name(behind) != "ago" {
        return None;
    }
    if name(behind + 1) == "today" {
        return Some((Days::one(back(today, unit, count)), used + 3));
    }
    let exact = !matches!(words.get(at + used - 1).map(|word| word.lower.as_str()), Some("few" | "several"));
    let (there, (year, month, _)) = (back(today, unit, count), date(back(today, unit, count)));
    let days = match unit {
        Unit::Day if exact => Days::one(there),
        Unit::Day => Days::new(today - 6, today - 1),
        Unit::Week if exact => Days::new(there - 3, there + 4),
        Unit::Week => Days::new(today - 7 * 6, today - 7),
        Unit::Month if exact => months(year, month, 1),
        Unit::Month => months(year, month - 3, 6),
        Unit::Year if exact => months(year, 1, 12),
        Unit::Year => months(year - 3, 1, 6 * 12),
    };
    Some((days, used + 2))
}

/// A date in words or digits. `lead` is where the whole expression begins: the word there, or the one before, may be the preposition.
fn dated(words: &[Word<'_>], at: usize, lead: usize, today: i64) -> Option<(Days, usize)> {
    let word = words.get(at)?;
    if let Some(days) = word.date() {
        return Some((days, 1));
    }
    let before = |at: usize| at.checked_sub(1).and_then(|at| words.get(at)).map_or("", |word| word.lower.as_str());
    // "my plans for May"
    let is_planned = || words[lead].lower == "for" && lead < at && super::is_of_ahead(before(lead));
    let led = LEADS.contains(&before(at)) || lead < at && LEADS.contains(&words[lead].lower.as_str()) || is_planned();
    let in_digits = || {
        let is_on = matches!(words[lead].lower.as_str(), "on" | "for" | "around") && lead < at || led;
        let (month, of_month) = word.day_of_year().filter(|_| is_on)?;
        Some((Days::one(of_year(None, month, of_month, today)?), 1))
    };
    day_first(words, at, today)
        .or_else(in_digits)
        .or_else(|| month_first(words, at, led, today))
        .or_else(|| weekday_alone(words, at, &before, today))
        .or_else(|| quarter_or_season(words, at, led, today))
        .or_else(|| word.year().filter(|_| led).map(|year| (months(year, 1, 12), 1)))
}

/// "7 May", "7th of May, 2023", "the 15th".
fn day_first(words: &[Word<'_>], at: usize, today: i64) -> Option<(Days, usize)> {
    let (of_month, ordinal) = words.get(at)?.of_month()?;
    let of = usize::from(words.get(at + 1).is_some_and(|word| word.lower == "of"));
    if let Some(name) = words.get(at + 1 + of)
        && let Some((month, ambiguous)) = name.month()
        && (!ambiguous || name.is_capital() || ordinal)
    {
        let year = words.get(at + 2 + of).and_then(Word::year);
        return Some((Days::one(of_year(year, month, of_month, today)?), 2 + of + usize::from(year.is_some())));
    }
    let is_behind_the = at > 1 && words[at - 1].lower == "the";
    let is_led = is_behind_the
        && match words[at - 2].lower.as_str() {
            "on" | "since" | "before" | "after" => true,
            "until" | "till" | "by" => is_over(words, at + 1),
            _ => false,
        };
    last_such(of_month, today).filter(|_| ordinal && is_led).map(|day| (Days::one(day), 1))
}

/// "the 3rd", without a month: its number, and how many words it took.
pub(super) fn day_alone(words: &[Word<'_>], at: usize) -> Option<(i64, usize)> {
    let the = usize::from(words.get(at)?.lower == "the");
    let (of_month, _) = words.get(at + the)?.of_month().filter(|(_, ordinal)| *ordinal)?;
    Some((of_month, the + 1))
}

/// A day without a month, where no word of content is behind it: "the 2nd floor" does not name a day.
pub(super) fn last_day_alone(words: &[Word<'_>], at: usize) -> Option<(i64, usize)> {
    day_alone(words, at).filter(|(_, used)| is_over(words, at + used))
}

/// A day by its bare number, under the same condition.
pub(super) fn last_number(words: &[Word<'_>], at: usize) -> Option<(i64, usize)> {
    words.get(at)?.of_month().filter(|_| is_over(words, at + 1)).map(|(of_month, _)| (of_month, 1))
}

fn is_over(words: &[Word<'_>], at: usize) -> bool {
    words.get(at).is_none_or(|next| is_filler(next.lower.as_bytes()))
}

/// The last day of that number in its month, up to a day.
pub(super) fn last_such(of_month: i64, day: i64) -> Option<i64> {
    let (year, month, _) = date(day);
    (0..3).filter_map(|back| valid_in(year, month - back, of_month)).find(|such| *such <= day)
}

/// The first one, from a day on.
pub(super) fn next_such(of_month: i64, day: i64) -> Option<i64> {
    let (year, month, _) = date(day);
    (0..3).filter_map(|ahead| valid_in(year, month + ahead, of_month)).find(|such| *such >= day)
}

fn valid_in(year: i64, month: i64, of_month: i64) -> Option<i64> {
    let (year, month, _) = date(day(year, month, 1));
    valid(year, month, of_month)
}

/// "May 7th, 2023", "May 2023", "in May".
fn month_first(words: &[Word<'_>], at: usize, led: bool, today: i64) -> Option<(Days, usize)> {
    let name = words.get(at)?;
    let (month, ambiguous) = name.month()?;
    let is_sure = |ordinal: bool| !ambiguous || name.is_capital() || ordinal || at > 0 && words[at - 1].lower == "on";
    let the = usize::from(words.get(at + 1).is_some_and(|word| word.lower == "the"));
    if let Some((of_month, ordinal)) = words.get(at + 1 + the).and_then(Word::of_month).filter(|(_, ordinal)| the == 0 || *ordinal)
        && is_sure(ordinal)
    {
        let year = words.get(at + 2 + the).and_then(Word::year);
        return Some((Days::one(of_year(year, month, of_month, today)?), 2 + the + usize::from(year.is_some())));
    }
    if let Some((from, to)) = words.get(at + 1).and_then(Word::days_of_month).filter(|_| is_sure(false)) {
        let year = words.get(at + 2).and_then(Word::year);
        let first = of_year(year, month, from, today)?;
        return Some((Days::new(first, first + to - from + 1), 2 + usize::from(year.is_some())));
    }
    let of = usize::from(words.get(at + 1).is_some_and(|word| word.lower == "of"));
    if let Some(year) = words.get(at + 1 + of).and_then(Word::year) {
        return Some((months(year, month, 1), 2 + of));
    }
    led.then(|| (latest(today, |year| months(year, month, 1)), 1))
}

/// The day in its year, or the last such day that has come.
fn of_year(year: Option<i64>, month: i64, of_month: i64, today: i64) -> Option<i64> {
    match year {
        Some(year) => valid(year, month, of_month),
        // The 29th of February comes every fourth year, but for the turn of some centuries.
        None => (0..=8).filter_map(|back| valid(date(today).0 - back, month, of_month)).find(|day| *day <= today),
    }
}

/// The last of these periods, one a year, that has begun.
fn latest(today: i64, of: impl Fn(i64) -> Days) -> Days {
    let this = of(date(today).0);
    if this.first <= Some(today) { this } else { of(date(today).0 - 1) }
}

/// "on Friday", "Friday", "what did we do friday?": the last one, or today. Not "on a Friday", "every Friday".
fn weekday_alone<'w>(words: &'w [Word<'_>], at: usize, before: &dyn Fn(usize) -> &'w str, today: i64) -> Option<(Days, usize)> {
    let word = &words[at];
    let wanted = word.weekday()?;
    let repeated = ["a", "an", "every", "each", "any", "most", "black", "good", "or"].contains(&before(at));
    let meant = at > 0 && (word.is_capital() || at + 1 == words.len()) || before(at) == "on";
    (meant && !repeated).then(|| (Days::one(today - (weekday(today) - wanted).rem_euclid(7)), 1))
}

/// "Q2 2025", "2025 Q2", "Q2", "summer 2024", "in the summer of 2024", "in summer".
fn quarter_or_season(words: &[Word<'_>], at: usize, led: bool, today: i64) -> Option<(Days, usize)> {
    let word = &words[at];
    if let (Some(year), Some(quarter)) = (word.year(), words.get(at + 1).and_then(Word::quarter)) {
        return Some((months(year, quarter * 3 - 2, 3), 2));
    }
    let quarter = word.quarter().map(|quarter| quarter * 3 - 2);
    let first = quarter.or_else(|| word.season())?;
    let of = usize::from(words.get(at + 1).is_some_and(|word| word.lower == "of"));
    match words.get(at + 1 + of).and_then(Word::year) {
        Some(year) => Some((months(year, first, 3), 2 + of)),
        None if quarter.is_some() && word.is_capital() || led => Some((latest(today, |year| months(year, first, 3)), 1)),
        None => None,
    }
}
