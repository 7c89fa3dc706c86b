//! Days of the civil calendar, as numbers since 1970-01-01.
//!
//! Source: Howard Hinnant, "chrono-compatible low-level date algorithms".

/// Microseconds of a day.
pub(crate) const DAY: i64 = 86_400_000_000;

/// The months in English.
pub(crate) const MONTHS: [&str; 12] =
    ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"];
/// The days of a week in English, from Monday on.
pub(crate) const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// Whether a word in small letters names a month or a weekday.
pub(crate) fn is_named(word: &str) -> bool {
    MONTHS.contains(&word) || WEEKDAYS.contains(&word)
}

/// Whether a word in small letters is short for a month: its first three letters, or "sept".
pub(crate) fn is_short_month(word: &str) -> bool {
    (word.len() == 3 || word == "sept") && MONTHS.iter().any(|name| name.starts_with(word))
}

/// Whole days, from the first to before the end; open where a side is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Days {
    pub first: Option<i64>,
    pub end: Option<i64>,
}

impl Days {
    /// From `first` to before `end`.
    pub fn new(first: i64, end: i64) -> Self {
        Self { first: Some(first), end: Some(end) }
    }

    /// One day.
    pub fn one(day: i64) -> Self {
        Self::new(day, day + 1)
    }

    /// Both: what two open ends enclose ("after 2022 and before 2024"), else all of it from the earlier to the later.
    pub fn and(self, other: Self) -> Self {
        let (first, end) = (self.first.max(other.first), later(self.end, other.end, i64::min));
        let opposite = self.first.is_none() != other.first.is_none() && self.end.is_none() != other.end.is_none();
        if opposite && first < end {
            return Self { first, end };
        }
        Self {
            first: later(self.first, other.first, i64::min).filter(|_| self.first.is_some() && other.first.is_some()),
            end: hull_end(self.end, other.end),
        }
    }
}

fn later(a: Option<i64>, b: Option<i64>, choose: fn(i64, i64) -> i64) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(choose(a, b)),
        (one, other) => one.or(other),
    }
}

fn hull_end(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    a.zip(b).map(|(a, b)| a.max(b))
}

/// A day by its date; a month beyond the year is one of another year.
pub(crate) fn day(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = (year + (month - 1).div_euclid(12), (month - 1).rem_euclid(12) + 1);
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// Year, month and day of the month.
pub(crate) fn date(day: i64) -> (i64, i64, i64) {
    let shifted = day + 719_468;
    let era = shifted.div_euclid(146_097);
    let of_era = shifted - era * 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let (number, of_month) = ((month + 2) % 12 + 1, of_year - (153 * month + 2) / 5 + 1);
    (year + era * 400 + i64::from(number <= 2), number, of_month)
}

/// The day of a time (microseconds since 1970), as ISO 8601.
pub(crate) fn iso_date(microseconds: i64) -> String {
    let (year, month, of_month) = date(microseconds.div_euclid(DAY));
    if !(0..10_000).contains(&year) {
        return format!("{year:04}-{month:02}-{of_month:02}");
    }
    let digits = 10_000 * year + 100 * month + of_month;
    let digit = |unit: i64| char::from(b'0' + (digits / unit % 10) as u8);
    let year = [digit(10_000_000), digit(1_000_000), digit(100_000), digit(10_000)];
    year.into_iter().chain(['-', digit(1_000), digit(100), '-', digit(10), digit(1)]).collect()
}

/// The date, where the calendar has it.
pub(crate) fn valid(year: i64, month: i64, of_month: i64) -> Option<i64> {
    let number = day(year, month, of_month);
    (date(number) == (year, month, of_month)).then_some(number)
}

/// 0 for Monday.
pub(crate) fn weekday(day: i64) -> i64 {
    (day + 3).rem_euclid(7)
}

/// The day of a weekday beside such a word: "last" is the one before today, "next" that of the week after, each other word the one that
/// comes. None is today.
pub(crate) fn weekday_by(word: &str, wanted: i64, today: i64) -> i64 {
    match word {
        "last" => today - 1 - (weekday(today - 1) - wanted).rem_euclid(7),
        "next" => today - weekday(today) + 7 + wanted,
        _ => today + 1 + (wanted - weekday(today + 1)).rem_euclid(7),
    }
}

/// `count` months from the month `month` of `year` on.
pub(crate) fn months(year: i64, month: i64, count: i64) -> Days {
    Days::new(day(year, month, 1), day(year, month + count, 1))
}

#[cfg(test)]
mod tests {
    use super::{DAY, iso_date};

    #[test]
    fn days_have_their_dates() {
        for (days, expected) in
            [(0, "1970-01-01"), (-1, "1969-12-31"), (11_016, "2000-02-29"), (20_779, "2026-11-22"), (-719_162, "0001-01-01")]
        {
            assert_eq!(iso_date(days * DAY), expected);
            assert_eq!(iso_date(days * DAY + DAY - 1), expected);
        }
    }
}
