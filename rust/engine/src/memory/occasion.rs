//! Things of which an occasion has one: a time of day, a day, a number of people; and whether a sentence corrects what was said before.
//!
//! "Sorry, make it half past 6 for 3 people" may not hold along with "a table for 2 at 5:15 pm", though the sentences have no word in
//! common. Both are kept as they were said, and marked. English; forms that say a number plainly.

use crate::units::numbers;

/// One value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Value {
    /// Minutes of a clock of twelve hours.
    Time(u32),
    /// The day of a month.
    Day(u32),
    /// How many come.
    People(u32),
}

/// The values that a sentence names, and whether it corrects others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Occasion {
    values: Vec<Value>,
    corrects: bool,
}

/// Words that a correction begins with.
const OPENINGS: [&str; 8] = ["no", "nope", "sorry", "actually", "wait", "oops", "instead", "correction"];
/// Runs of words that correct wherever they stand.
const CORRECTING: [&str; 14] = [
    "actually",
    "instead",
    "rather",
    "change",
    "make it",
    "try again",
    "try booking",
    "second thought",
    "i meant",
    "not the",
    "switch",
    "move it",
    "need to change",
    "sorry",
];
const PEOPLE: [&str; 8] = ["people", "persons", "person", "guests", "adults", "of us", "seats", "tickets"];
const SEATS: [&str; 5] = ["table for", "reservation for", "party of", "group of", "booking for"];
/// Letters of a sentence that are read at most.
const MOST: usize = 400;

impl Occasion {
    /// Reads a text; what somebody was asked before it (`Asked "...": `) does not belong to it.
    pub fn of(text: &str) -> Self {
        let own = text.strip_prefix("Asked \u{201C}").and_then(|rest| rest.split_once("\u{201D}: ")).map_or(text, |(_, own)| own);
        let read = own.char_indices().nth(MOST).map_or(own, |(end, _)| &own[..end]).to_lowercase();
        if !read.bytes().any(|byte| byte.is_ascii_digit()) && !numbers::has_any(&read) {
            return Self::default();
        }
        let words: Vec<&str> =
            read.split(|letter: char| letter.is_whitespace() || ",;!?()".contains(letter)).filter(|word| !word.is_empty()).collect();
        let words: Vec<&str> = words.iter().map(|word| word.trim_end_matches('.')).collect();
        let plain = words.join(" ");
        let has = |phrase: &str| plain.match_indices(phrase).any(|(at, _)| is_free(&plain, at, at + phrase.len()));
        let corrects = words.first().is_some_and(|word| OPENINGS.contains(word)) || CORRECTING.iter().any(|phrase| has(phrase));
        let values =
            (0..words.len()).filter_map(|at| time(&words, at).or_else(|| people(&words, at)).or_else(|| day(&words, at))).collect();
        Self { values, corrects }
    }

    /// Whether it gives any value.
    pub fn has_values(&self) -> bool {
        !self.values.is_empty()
    }

    /// Whether it may correct anything.
    pub fn is_correction(&self) -> bool {
        self.corrects && !self.values.is_empty()
    }

    /// Whether it gives another value to what an older one gives one to.
    pub fn corrects(&self, old: &Self) -> bool {
        let other = |new: &Value| {
            let mut same_kind = old.values.iter().filter(|value| std::mem::discriminant(*value) == std::mem::discriminant(new)).peekable();
            same_kind.peek().is_some() && !same_kind.any(|value| value == new)
        };
        self.corrects && self.values.iter().any(other)
    }
}

fn is_free(text: &str, from: usize, to: usize) -> bool {
    let bytes = text.as_bytes();
    (from == 0 || bytes[from - 1] == b' ') && bytes.get(to).is_none_or(|byte| *byte == b' ')
}

fn number(word: &str) -> Option<u32> {
    word.parse().ok().or_else(|| numbers::in_words(word))
}

/// "5:15", "6 pm", "7pm", "half past 5", "quarter to 7", "1 o'clock", "1 in the afternoon".
fn time(words: &[&str], at: usize) -> Option<Value> {
    let word = |place: usize| words.get(place).copied().unwrap_or_default();
    let hour = |text: &str| number(text).filter(|hour| (1..=24).contains(hour));
    let clock = |hours: u32, minutes: u32| Some(Value::Time((hours % 12 * 60 + minutes) % 720));
    if let (past @ ("past" | "to"), Some(hours)) = (word(at), hour(word(at + 1)))
        && let Some(minutes) = match word(at.wrapping_sub(1)) {
            "half" => Some(30),
            "quarter" => Some(15),
            _ => None,
        }
    {
        return if past == "past" { clock(hours, minutes) } else { clock(hours + 11, 60 - minutes) };
    }
    let bare = word(at).trim_end_matches("am").trim_end_matches("pm");
    if let Some((hours, minutes)) = bare.split_once(':') {
        let (hours, minutes) = (hour(hours)?, minutes.parse().ok().filter(|minutes| *minutes < 60)?);
        return clock(hours, minutes);
    }
    let hours = hour(bare)?;
    let suffixed = bare.len() < word(at).len() || matches!(word(at + 1), "am" | "pm" | "a.m" | "p.m" | "o'clock" | "o\"clock" | "oclock");
    let of_day = word(at + 1) == "in" && word(at + 2) == "the" && matches!(word(at + 3), "morning" | "afternoon" | "evening" | "night");
    let is_half = matches!(word(at.wrapping_sub(1)), "past" | "to");
    if (suffixed || of_day) && !is_half { clock(hours, 0) } else { None }
}

/// "3 people", "1 person", "a table for 2", "a party of five".
fn people(words: &[&str], at: usize) -> Option<Value> {
    let count = number(words[at])?;
    let behind = words[at + 1..].iter().take(2).copied().collect::<Vec<_>>().join(" ");
    let before = words[at.saturating_sub(2)..at].join(" ");
    let named = PEOPLE.iter().any(|word| behind.split(' ').next() == Some(word) || behind == *word);
    (named || SEATS.contains(&before.as_str())).then_some(Value::People(count))
}

/// "the 8th of March", "(2025-01-06)".
fn day(words: &[&str], at: usize) -> Option<Value> {
    let word = words[at];
    let iso = word.len() == 10 && word.as_bytes()[4] == b'-' && word.as_bytes()[7] == b'-' && words.get(at.wrapping_sub(1)) != Some(&"of");
    let ordinal = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending));
    let day: u32 = if iso { word[8..].parse().ok()? } else { ordinal?.parse().ok()? };
    (1..=31).contains(&day).then_some(Value::Day(day))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<Value> {
        Occasion::of(text).values
    }

    #[test]
    fn plain_forms_of_a_value_are_read() {
        for (text, value) in [
            ("Please make it for half past 5 in the evening.", Value::Time(330)),
            ("a quarter to 7 in the evening", Value::Time(405)),
            ("Can you make it for twelve pm?", Value::Time(0)),
            ("at 17:15.", Value::Time(315)),
            ("at 7pm", Value::Time(420)),
            ("I'd like 1 o'clock", Value::Time(60)),
            ("for 3 people", Value::People(3)),
            ("just 1 person", Value::People(1)),
            ("a table for two", Value::People(2)),
            ("on the 8th of March", Value::Day(8)),
            ("next Monday (2025-01-06)", Value::Day(6)),
        ] {
            assert_eq!(values(text), [value], "{text}");
        }
        for text in ["for 3 days", "room 12", "version 1.2", "week (week of 2025-01-06)", "I like tea", "2 of 7", "99:99", "one of them"] {
            assert_eq!(values(text), [], "{text}");
        }
    }

    #[test]
    fn a_correction_gives_another_value_of_the_same_kind() {
        let corrects = |new: &str, old: &str| Occasion::of(new).corrects(&Occasion::of(old));
        let booked = "Reserve a table for 2 on the 2nd of this month at 17:15.";
        assert!(corrects("Sorry, could you change the booking to 18:30?", booked));
        assert!(corrects("Asked \u{201C}At 5:15 pm?\u{201D}: No, make it for 3 people.", booked));
        assert!(corrects("Sorry, it's actually for the 8th of March.", booked));
        assert!(!corrects("No, at quarter past 5 for 2 people", booked), "the same values");
        assert!(!corrects("I come back at 8 pm", booked), "nothing says that it corrects");
        assert!(!corrects("Sorry, I am late for 3 days", booked), "no value of a kind that it has");
        assert!(!corrects("Asked \u{201C}At 5:15 pm?\u{201D}: No, that is all", "at 6 pm"), "the question is not the answer");
    }
}
