//! Values that are known by their form alone: a number, letters with digits, an e-mail address. One that stands behind an opening of
//! correction takes the place of the value of the same form that its speaker said before: "sorry, X4471229".

use super::words::words;

/// The form of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Shape {
    /// Digits, in so many groups: "1,540", "0475 12 34 56".
    Digits { count: usize, groups: usize },
    /// Letters with digits, and the order of its parts: "X4471220" is "a0", "OPS-771" is "a-0".
    Code(String),
    /// An e-mail address.
    Mail,
}

/// A value in a text, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shaped {
    pub start: usize,
    pub end: usize,
    pub shape: Shape,
}

/// Digits from which on groups are a number to call, whatever the groups are.
const OF_PHONE: usize = 6;

impl Shape {
    /// Whether a value of this form may take the place of one of another: groups of digits differ in how a telephone number is written.
    fn follows(&self, old: &Self) -> bool {
        match (self, old) {
            (Self::Digits { count: a, groups: 1 }, Self::Digits { count: b, groups: 1 }) => a.abs_diff(*b) <= 1,
            (Self::Digits { count: a, groups }, Self::Digits { count: b, groups: old }) => a.min(b) >= &OF_PHONE || groups == old && a == b,
            _ => self == old,
        }
    }

    /// Whether it is a number of few digits, which stands for many things.
    pub fn is_small(&self) -> bool {
        matches!(self, Self::Digits { count, groups: 1 } if *count < 5)
    }
}

/// The form of one word. A time of day, a date and a number with its unit ("82kg", "5th") have none.
fn shape(word: &str) -> Option<Shape> {
    if let Some((name, host)) = word.split_once('@') {
        let is_mail = !name.is_empty() && !host.contains('@') && host.split('.').filter(|part| !part.is_empty()).count() > 1;
        return is_mail.then_some(Shape::Mail);
    }
    let count = word.bytes().filter(u8::is_ascii_digit).count();
    let is_date = word.len() == 10 && word.bytes().filter(|byte| *byte == b'-').count() == 2;
    let letters = word.chars().filter(|letter| letter.is_alphabetic()).count();
    if count == 0 || word.contains(':') || letters == 0 && is_date {
        return None;
    }
    if letters == 0 {
        return Some(Shape::Digits { count, groups: 1 });
    }
    let unit = word.trim_start_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, '.' | ','));
    if unit.len() < word.len() && unit.len() <= 3 && unit.chars().all(char::is_alphabetic) {
        return None;
    }
    let mut parts = String::new();
    for sign in word.chars() {
        let part = if sign.is_ascii_digit() {
            '0'
        } else if sign.is_alphabetic() {
            'a'
        } else {
            sign
        };
        if !parts.ends_with(part) {
            parts.push(part);
        }
    }
    Some(Shape::Code(parts))
}

/// The values of a text that have a form, in order. Groups of digits with nothing but a space between them are one.
pub(super) fn shaped(text: &str) -> Vec<Shaped> {
    let (mut out, mut at): (Vec<Shaped>, usize) = (Vec::new(), 0);
    for chunk in text.split_inclusive([' ', '\n', '\t', '\u{A0}']) {
        let rest = chunk.trim_start_matches(|sign: char| !sign.is_alphanumeric() && sign != '+');
        at += chunk.len();
        let word = rest.trim_end_matches(|sign: char| !sign.is_alphanumeric());
        let start = at - rest.len();
        let Some(shape) = (!word.is_empty()).then(|| shape(word)).flatten() else { continue };
        let joined = |last: &Shaped| [" ", ") ", "\u{A0}"].contains(&&text[last.end..start]);
        match (out.last_mut().filter(|last| joined(last)), shape) {
            (Some(Shaped { end, shape: Shape::Digits { count, groups }, .. }), Shape::Digits { count: more, .. }) => {
                (*end, *count, *groups) = (start + word.len(), *count + more, *groups + 1);
            }
            (_, shape) => out.push(Shaped { start, end: start + word.len(), shape }),
        }
    }
    out
}

/// The form of a text that is one such value and nothing else, but for a sign of a currency: "\u{20AC}1,540".
pub(super) fn alone(text: &str) -> Option<Shape> {
    let [one] = <[Shaped; 1]>::try_from(shaped(text)).ok()?;
    let beside = |rest: &str| rest.chars().all(|sign| !sign.is_alphanumeric() && !sign.is_whitespace());
    (beside(text[..one.start].trim_start()) && beside(text[one.end..].trim_end())).then_some(one.shape)
}

/// The only value of a text whose place one of this form may take, with the sign of its currency where the other has one, too. Of several
/// none is meant for sure.
pub(super) fn followed<'t>(text: &'t str, value: &str) -> Option<&'t str> {
    let shape = alone(value)?;
    let mut old = shaped(text).into_iter().filter(|old| shape.follows(&old.shape));
    let (one, None) = (old.next()?, old.next()) else { return None };
    let is_currency = |sign: char| sign == '$' || matches!(sign, '\u{A3}' | '\u{A5}' | '\u{20A0}'..='\u{20CF}');
    let sign = text[..one.start].chars().next_back().filter(|sign| is_currency(*sign) && value.starts_with(is_currency));
    let wrong = &text[one.start - sign.map_or(0, char::len_utf8)..one.end];
    let same = words(wrong).iter().map(|word| &word.lower).eq(words(value).iter().map(|word| &word.lower));
    (!same).then_some(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_known_by_their_form() {
        for (text, found) in [
            ("The user's passport number is X4471220.", "X4471220"),
            ("My phone number is 0475 12 34 56, call me", "0475 12 34 56"),
            ("Call (555) 123-4567 or +32 475 12 34 56.", "555) 123-4567|+32 475 12 34 56"),
            ("ana.k@acme.io, not ana@acme", "ana.k@acme.io"),
            ("OPS-771 and 1-ABC-234", "OPS-771|1-ABC-234"),
            ("at 9:30 on 2025-01-03 with 82kg on the 5th", ""),
            ("\u{20AC}1,450 for 2", "1,450|2"),
            ("no value here", ""),
            ("\u{E9}\u{A0}0475\u{A0}12 34, \u{A0}v1.2.3", "0475\u{A0}12 34|v1.2.3"),
        ] {
            let values: Vec<&str> = shaped(text).iter().map(|one| &text[one.start..one.end]).collect();
            assert_eq!(values.join("|"), found, "{text}");
        }
    }

    #[test]
    fn a_value_follows_the_only_one_of_its_form() {
        for (text, value, old) in [
            ("The user's passport number is X4471220.", "X4471229", Some("X4471220")),
            ("The user's flight is TP1234 from gate 12.", "TP1243", Some("TP1234")),
            ("The budget is \u{20AC}1,450 for 2", "1,540", Some("1,450")),
            ("The budget is \u{20AC}1,450.", "$1,540", Some("\u{20AC}1,450")),
            ("My phone number is 0475 12 34 56", "0475123465", Some("0475 12 34 56")),
            ("My passport number is X4471220", "x4471220", None),
            ("TP1234 or TP1235", "TP1243", None),
            ("The ticket is OPS-771", "ERR_SF_00390144", None),
            ("The ticket is OPS-771", "771", None),
            ("We have 2 kids", "1,540", None),
            ("My mail is ana@acme.io", "Ana", None),
        ] {
            assert_eq!(followed(text, value), old, "{text} {value}");
        }
    }
}
