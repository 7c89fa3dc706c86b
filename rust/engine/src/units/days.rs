//! Days in brackets, which learning puts behind the words that name them: "on Monday (2025-05-05)", "May 3 to 9 (2025-05-03 to 2025-05-09)".
//! A text is the same with and without them.

use std::borrow::Cow;
use std::ops::Range;

use super::calendar::valid;

/// Before the Monday of a week.
const WEEK: &str = "week of ";
/// Between the first and the last day of some.
const THROUGH: [&str; 4] = ["to", "until", "till", "through"];
/// Between two days.
const AND: &str = "and";
/// Verbs before two days of which the second takes the place of the first: "moved from Monday to Friday".
const MOVES: [&str; 8] = ["moved", "rescheduled", "postponed", "shifted", "pushed", "changed", "delayed", "rebooked"];
/// The longest text of a bracket: what is longer is not a day.
const LONGEST: &str = "2025-05-05 through 2025-05-09";
/// Words from one such day to the next one, at most: "(2025-12-20) to the 3rd of January (2026-01-03)".
const MOST_BETWEEN: usize = 6;

/// A text without such days, weeks and months. The space before a bracket goes with it.
#[must_use]
pub fn without_days(text: &str) -> Cow<'_, str> {
    let (mut out, mut done, mut at) = (String::new(), 0, 0);
    // One byte is found faster than two.
    while let Some(next) = text[at..].find('(') {
        let open = at + next;
        at = open + 1;
        let before = if open > done { &text[done..open] } else { out.as_str() };
        if let Some(day) = day_before_bracket(&text[at..]).filter(|_| before.ends_with(' ')) {
            out.push_str(&text[done..open]);
            out.pop();
            at += day.len() + ")".len();
            done = at;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

/// The rest of a text without the day that it begins with.
#[must_use]
pub fn behind_day(rest: &str) -> &str {
    bracket(rest).map_or(rest, |day| &rest[day.len() + " ()".len()..])
}

/// The days that stand so in a text, by their numbers since 1970. Those from a day through another one are one range.
#[must_use]
pub fn ranges(text: &str) -> Vec<Range<i64>> {
    let (mut out, mut rest): (Vec<Range<i64>>, &str) = (Vec::new(), text);
    let moves = text.split_whitespace().any(|word| MOVES.contains(&word));
    while let Some(at) = rest.find(" (") {
        let Some(inside) = bracket(&rest[at..]) else {
            rest = &rest[at + 2..];
            continue;
        };
        let mut words = rest[..at].split_whitespace();
        let goes_on = !moves && words.next().is_some_and(|word| THROUGH.contains(&word)) && words.count() < MOST_BETWEEN;
        let parts: Vec<&str> = inside.split(' ').collect();
        let named = match parts[..] {
            [first, joined, last] if THROUGH.contains(&joined) => vec![day_of(first).zip(day_of(last))],
            [first, AND, last] => [first, last].map(|one| day_of(one).map(|day| (day, day))).to_vec(),
            [one] => vec![day_of(one).map(|day| (day, day))],
            _ => Vec::new(),
        };
        for (first, last) in named.into_iter().flatten() {
            match out.last_mut().filter(|before| goes_on && before.start < first) {
                Some(before) => before.end = last + 1,
                None => out.push(first..last + 1),
            }
        }
        rest = &rest[at + " ()".len() + inside.len()..];
    }
    out
}

/// The day, days, week or month in brackets that a text begins with.
fn bracket(rest: &str) -> Option<&str> {
    day_before_bracket(rest.strip_prefix(" (")?)
}

/// The day, days, week or month that a text begins with, up to the bracket that closes it.
fn day_before_bracket(text: &str) -> Option<&str> {
    let end = text.bytes().take(LONGEST.len() + 1).position(|byte| byte == b')')?;
    Some(&text[..end]).filter(|inside| is_day(inside))
}

/// Whether a text is a day, days, a week or a month as learning writes it: "2025-05-05", "2025-05-05 to 2025-05-09", "week of 2025-05-05",
/// "2025-05".
fn is_day(text: &str) -> bool {
    if let Some((first, rest)) = text.split_once(' ').filter(|_| !text.starts_with(WEEK)) {
        let last = rest.split_once(' ').filter(|(joined, _)| THROUGH.contains(joined) || *joined == AND);
        return day_of(first).is_some() && last.is_some_and(|(_, last)| day_of(last).is_some());
    }
    let parts = text.strip_prefix(WEEK).unwrap_or(text).split('-');
    let is_part = |(at, part): (usize, &str)| part.len() == if at == 0 { 4 } else { 2 } && part.bytes().all(|byte| byte.is_ascii_digit());
    let count = parts.clone().count();
    (2..=3).contains(&count) && parts.enumerate().all(is_part)
}

/// The number of a day, as "2025-05-05".
fn day_of(text: &str) -> Option<i64> {
    let parts: Vec<i64> = text.split('-').map(str::parse).collect::<Result<_, _>>().ok()?;
    match parts[..] {
        [year, month, of_month] if text.len() == "2025-05-05".len() => valid(year, month, of_month),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_in_brackets_are_left_out() {
        for (text, left) in [
            ("The oven broke on Thursday (2025-05-08), the invoice too (2025-05)", "The oven broke on Thursday, the invoice too"),
            ("next week (week of 2025-05-12)", "next week"),
            ("May 3 to 9 (2025-05-03 to 2025-05-09), May 1 and 2 (2025-05-01 and 2025-05-02)", "May 3 to 9, May 1 and 2"),
            ("(2025-05-03 or 2025-05-09) x (2025-05-03 to May)", "(2025-05-03 or 2025-05-09) x (2025-05-03 to May)"),
            ("Release 1 (2025) (a) () (2025-5-1) (", "Release 1 (2025) (a) () (2025-5-1) ("),
            ("May 3 (2025-05-03 through 2025-05-09) x", "May 3 x"),
            ("x  (2025-05-03)(2025-05-04) (2025-05-05)", "x"),
            ("x(2025-05-03) (y (2025-05-03) (2025-05-03", "x(2025-05-03) (y (2025-05-03"),
            ("", ""),
        ] {
            assert_eq!(without_days(text), left);
        }
        assert!(matches!(without_days("plain (text)"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_long_text_of_brackets_is_read_once() {
        let open = " (".repeat(2_000_000);
        assert!(matches!(without_days(&open), Cow::Borrowed(_)) && ranges(&open).is_empty());
        let days = "x (2025-05-05)".repeat(300_000);
        assert_eq!((without_days(&days), ranges(&days).len()), (Cow::Owned("x".repeat(300_000)), 300_000));
    }

    #[test]
    fn days_of_a_text_are_ranges() {
        let of = |text: &str| ranges(text).into_iter().map(|days| (days.start - 20_000, days.end - 20_000)).collect::<Vec<_>>();
        assert_eq!(of("on Monday (2024-10-07) and Tuesday (2024-10-08), in May (2025-05)"), [(3, 4), (4, 5)]);
        assert_eq!(of("October 7 to 9 (2024-10-07 to 2024-10-09)"), [(3, 6)]);
        assert_eq!(of("October 7 and 9 (2024-10-07 and 2024-10-09)"), [(3, 4), (5, 6)]);
        assert_eq!(of("from Monday (2024-10-07) to Friday (2024-10-11) (all days)"), [(3, 8)]);
        assert_eq!(of("on Monday (2024-10-07) to see Ana and Tom, who comes with Eva on Friday (2024-10-11)"), [(3, 4), (7, 8)]);
        assert_eq!(of("moved from Monday (2024-10-07) to Friday (2024-10-11)"), [(3, 4), (7, 8)]);
        assert_eq!(of("from Friday (2024-10-11) to Monday (2024-10-07)"), [(7, 8), (3, 4)]);
        assert_eq!(of("next week (week of 2024-10-07) (2024-02-30)"), []);
        assert_eq!(behind_day(" (2024-10-07) at 9"), " at 9");
        assert_eq!(behind_day(" at 9 (2024-10-07)"), " at 9 (2024-10-07)");
    }
}
