//! Days in brackets, which learning puts behind the words that name them: "on Monday (2025-05-05)". A text is the same with and without
//! them.

use std::borrow::Cow;

/// Before the Monday of a week.
const WEEK: &str = "week of ";

/// A text without such days, weeks and months.
#[must_use]
pub fn without_days(text: &str) -> Cow<'_, str> {
    let mut left = Cow::Borrowed(text);
    let mut from = 0;
    while let Some(at) = left[from..].find(" (").map(|at| from + at) {
        match left[at + 2..].find(')').filter(|length| is_day(&left[at + 2..at + 2 + length])) {
            Some(length) => left.to_mut().replace_range(at..at + length + 3, ""),
            None => from = at + 2,
        }
    }
    left
}

/// Whether a text is a day, a week or a month as learning writes it: "2025-05-05", "week of 2025-05-05", "2025-05".
fn is_day(text: &str) -> bool {
    let parts = text.strip_prefix(WEEK).unwrap_or(text).split('-');
    let is_part = |(at, part): (usize, &str)| part.len() == if at == 0 { 4 } else { 2 } && part.bytes().all(|byte| byte.is_ascii_digit());
    let count = parts.clone().count();
    (2..=3).contains(&count) && parts.enumerate().all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_in_brackets_are_left_out() {
        for (text, left) in [
            ("The oven broke on Thursday (2025-05-08), the invoice too (2025-05)", "The oven broke on Thursday, the invoice too"),
            ("next week (week of 2025-05-12)", "next week"),
            ("Release 1 (2025) (a) () (2025-5-1) (", "Release 1 (2025) (a) () (2025-5-1) ("),
            ("", ""),
        ] {
            assert_eq!(without_days(text), left);
        }
        assert!(matches!(without_days("plain (text)"), Cow::Borrowed(_)));
    }
}
