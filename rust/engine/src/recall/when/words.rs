//! Words of a question, and the roles of a word in an expression of time.

use crate::units::calendar::{Days, MONTHS, WEEKDAYS, day, is_short_month, months, valid};
use crate::units::numbers;

/// One word without the punctuation around it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word<'t> {
    /// In small letters, without `'s`.
    pub lower: String,
    /// As it stands there.
    pub text: &'t str,
}

impl Word<'_> {
    pub fn is_capital(&self) -> bool {
        self.text.starts_with(|c: char| c.is_ascii_uppercase())
    }

    /// A number in digits, or from one to ninety-nine in letters; "a" and "an" are one.
    pub fn count(&self) -> Option<i64> {
        match self.lower.as_str() {
            "a" | "an" => Some(1),
            word => numbers::in_words(word).filter(|number| *number > 0).map(i64::from).or_else(|| digits(word, 1, 3)),
        }
    }

    /// The day of a month: `7`, `7th`, `22nd`; and whether it has the ending.
    pub fn of_month(&self) -> Option<(i64, bool)> {
        let bare = ["st", "nd", "rd", "th"].iter().find_map(|ending| self.lower.strip_suffix(ending));
        let number = digits(bare.unwrap_or(&self.lower), 1, 2)?;
        (1..=31).contains(&number).then_some((number, bare.is_some()))
    }

    /// Days of a month: `3-9`.
    pub fn days_of_month(&self) -> Option<(i64, i64)> {
        let (from, to) = self.lower.split_once(['-', '\u{2013}'])?;
        let (from, to) = (digits(from, 1, 2)?, digits(to, 1, 2)?);
        (1 <= from && from < to && to <= 31).then_some((from, to))
    }

    /// A year in four digits, 1900 to 2099.
    pub fn year(&self) -> Option<i64> {
        digits(&self.lower, 4, 4).filter(|year| (1900..2100).contains(year))
    }

    /// A month by its name (from 1), and whether the name is a word of its own as well, or short for one.
    pub fn month(&self) -> Option<(i64, bool)> {
        if let Some(at) = MONTHS.iter().position(|name| *name == self.lower) {
            return Some((at as i64 + 1, matches!(at, 2 | 4)));
        }
        let short = self.is_capital() && is_short_month(&self.lower);
        MONTHS.iter().position(|name| short && name.starts_with(&self.lower)).map(|at| (at as i64 + 1, true))
    }

    /// A weekday by its name, 0 for Monday; a short name needs its capital.
    pub fn weekday(&self) -> Option<i64> {
        let short = self.is_capital() && (3..=5).contains(&self.lower.len());
        WEEKDAYS.iter().position(|name| *name == self.lower || short && name.starts_with(&self.lower)).map(|at| at as i64)
    }

    /// The first month of a season of the northern half of the world.
    pub fn season(&self) -> Option<i64> {
        match self.lower.as_str() {
            "spring" => Some(3),
            "summer" => Some(6),
            "autumn" | "fall" => Some(9),
            "winter" => Some(12),
            _ => None,
        }
    }

    /// `q2` -> 2.
    pub fn quarter(&self) -> Option<i64> {
        self.lower.strip_prefix('q').and_then(|number| digits(number, 1, 1)).filter(|number| (1..=4).contains(number))
    }

    /// A month and a day in it without a year, where one of the two cannot be a month: `11/24`, `24/11`. `24/7` is none.
    pub fn day_of_year(&self) -> Option<(i64, i64)> {
        let (a, b) = self.lower.split_once('/').filter(|_| self.lower != "24/7")?;
        let (month, of_month) = match (digits(a, 1, 2)?, digits(b, 1, 2)?) {
            (a, b) if a > 12 => (b, a),
            (a, b) => (a, b),
        };
        ((1..=12).contains(&month) && of_month > 12 && of_month <= 31).then_some((month, of_month))
    }

    /// A date in digits: `2026-03-01` (a time may follow), `2026-03`, `2026/03/01`, `3/2026`, `15.6.2025`, `2025-q2`, and
    /// `6/15/2025` where one of the two cannot be a month.
    pub fn date(&self) -> Option<Days> {
        let text = self
            .lower
            .split_once('t')
            .filter(|(_, time)| time.starts_with(|c: char| c.is_ascii_digit()))
            .map_or(self.lower.as_str(), |(date, _)| date);
        let separator = text.chars().find(|c| matches!(c, '-' | '/' | '.'))?;
        let parts: Vec<&str> = text.split(separator).collect();
        let year = |part: &str| digits(part, 4, 4).filter(|year| (1900..2100).contains(year));
        let small = |part: &str| digits(part, 1, 2);
        match (separator, parts.as_slice()) {
            ('-' | '/', [y, m]) if year(y).is_some() && m.starts_with('q') => {
                let quarter = digits(&m[1..], 1, 1).filter(|quarter| (1..=4).contains(quarter))?;
                Some(months(year(y)?, quarter * 3 - 2, 3))
            }
            ('-' | '/', [y, m]) if year(y).is_some() => month(year(y)?, digits(m, 2, 2)?),
            ('/', [m, y]) => month(year(y)?, small(m)?),
            ('-' | '/', [y, m, d]) if year(y).is_some() => valid(year(y)?, small(m)?, small(d)?).map(Days::one),
            ('.', [d, m, y]) => valid(year(y)?, small(m)?, small(d)?).map(Days::one),
            ('/', [a, b, y]) => {
                let (a, b, year) = (small(a)?, small(b)?, year(y)?);
                match (a > 12, b > 12) {
                    (true, false) => valid(year, b, a).map(Days::one),
                    (false, true) => valid(year, a, b).map(Days::one),
                    _ if a == b => valid(year, a, b).map(Days::one),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

fn month(year: i64, month: i64) -> Option<Days> {
    (1..=12).contains(&month).then(|| Days::new(day(year, month, 1), day(year, month + 1, 1)))
}

fn digits(text: &str, least: usize, most: usize) -> Option<i64> {
    let all = (least..=most).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if all { text.parse().ok() } else { None }
}

/// Words of which every expression of time without a digit has one, besides the names of months and weekdays.
#[rustfmt::skip]
const TELLING: [&str; 22] = [
    "today", "tonight", "now", "yesterday", "tomorrow", "last", "previous", "past", "this", "current", "next", "coming", "ago",
    "spring", "summer", "autumn", "fall", "winter", "weekend", "upcoming", "calendar", "agenda",
];

/// The first three letters of all these names: most words of a question begin like none of them.
const HEADS: [[u8; 3]; 41] = heads();

const fn heads() -> [[u8; 3]; 41] {
    let mut heads = [[0; 3]; 41];
    let mut at = 0;
    while at < heads.len() {
        let name = match at {
            0..22 => TELLING[at],
            22..34 => MONTHS[at - 22],
            _ => WEEKDAYS[at - 34],
        };
        let (head, _) = name.as_bytes().split_at(3);
        heads[at].copy_from_slice(head);
        at += 1;
    }
    heads
}

/// Whether a text has a digit, such a word, or what may be short for one. Most questions have neither, and need not be cut into words.
pub(in crate::recall) fn may_name_time(text: &str) -> bool {
    let begins = |name: &&str, run: &[u8]| name.as_bytes().get(..run.len()).is_some_and(|start| start.eq_ignore_ascii_case(run));
    let tells = |run: &[u8]| {
        let head = run.first_chunk::<3>().map(|head| head.map(|letter| letter.to_ascii_lowercase()));
        head.is_some_and(|head| HEADS.contains(&head)) && TELLING.iter().chain(&MONTHS).chain(&WEEKDAYS).any(|name| begins(name, run))
    };
    text.bytes().any(|byte| byte.is_ascii_digit()) || text.as_bytes().split(|byte| !byte.is_ascii_alphabetic()).any(tells)
}

/// Before the name of a month.
const MID: &str = "mid-";

/// The words of a text, cut at white space, and behind "mid-".
pub(super) fn split(text: &str) -> Vec<Word<'_>> {
    let around = |c: char| c.is_ascii_punctuation() || matches!(c, '\u{2018}' | '\u{2019}' | '\u{201C}' | '\u{201D}' | '\u{2026}');
    let word = |chunk: &'_ str| chunk.trim_matches(around).len();
    let is_part = |chunk: &str| chunk.get(..MID.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(MID));
    let parts = |chunk| if is_part(chunk) { chunk.split_at(MID.len() - 1) } else { (chunk, "") };
    text.split_whitespace()
        .map(parts)
        .flat_map(|(chunk, rest)| [chunk, rest.trim_start_matches('-')])
        .filter(|chunk| word(chunk) > 0)
        .map(|chunk| {
            // A mark of a path, a flag or an issue makes it a name: `#2024`, `/2024-05`, `--since`.
            let named = chunk.starts_with(['#', '/', '-', '@', '$', '.', '_']) || chunk.ends_with(['/', '_']);
            let text = if named { chunk } else { chunk.trim_matches(around) };
            let bare = text.strip_suffix("'s").or_else(|| text.strip_suffix("\u{2019}s")).unwrap_or(text);
            let lower = bare.to_ascii_lowercase();
            // "May '24"
            let is_short_year = chunk.starts_with(['\'', '\u{2019}']) && digits(bare, 2, 2).is_some();
            Word { lower: if is_short_year { format!("20{lower}") } else { lower }, text: bare }
        })
        .collect()
}
