//! Values of which a thing has one at a time: a version, a limit, a day, a host, a switch that is on or off.

use crate::gate::sentence::Sentence;
use crate::gate::words::Word;
use crate::units::calendar::{MONTHS, WEEKDAYS};

/// The kind of a value. Two values of one kind say otherwise of one thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    Version,
    Count,
    Duration,
    Size,
    Percent,
    Clock,
    Day,
    Place,
    Switch,
}

impl Kind {
    /// Whether a value of one kind may stand where one of another stood: "react is at 17" and "at 19.1", "at 10" and "at 9:30".
    pub fn follows(self, other: Self) -> bool {
        let plain = |kind: Self| matches!(kind, Self::Version | Self::Count | Self::Clock);
        self == other || self == Self::Plain && plain(other) || plain(self) && other == Self::Plain
    }
}

/// A value, with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub kind: Kind,
    pub text: String,
    /// Its first word, and the one behind its last.
    pub from: usize,
    pub to: usize,
}

const DURATIONS: [&str; 19] = [
    "ms", "s", "sec", "secs", "second", "seconds", "min", "mins", "minute", "minutes", "h", "hour", "hours", "day", "days", "week",
    "weeks", "months", "years",
];
const SIZES: [&str; 12] = ["b", "kb", "mb", "gb", "tb", "kib", "mib", "gib", "ki", "mi", "gi", "bytes"];
const CLOCK: [&str; 4] = ["am", "pm", "utc", "o'clock"];
/// Words behind which "on" and "off" say how a switch is.
const BEHIND_SWITCH: [&str; 11] = ["in", "for", "at", "again", "now", "by", "since", "everywhere", "across", "on", "and"];

/// The values that words say.
pub(super) fn values(s: &Sentence<'_>) -> Vec<Value> {
    let (mut found, mut at): (Vec<Value>, usize) = (Vec::new(), 0);
    while at < s.words.len() {
        let value = value(s, at);
        at = value.as_ref().map_or(at + 1, |value| value.to);
        found.extend(value);
    }
    found
}

fn value(s: &Sentence<'_>, at: usize) -> Option<Value> {
    let of = |kind: Kind, text: String, to: usize| Some(Value { kind, text, from: at, to });
    let word = s.word(at);
    if let Some((text, to)) = day(s, at) {
        return of(Kind::Day, text, to);
    }
    if let Some(is_on) = switch(s, at) {
        return of(Kind::Switch, if is_on { "on" } else { "off" }.to_owned(), at + 1);
    }
    if let Some(version) = word.strip_prefix('v').filter(|rest| rest.starts_with(|first: char| first.is_ascii_digit())) {
        return of(Kind::Version, version.to_owned(), at + 1);
    }
    let is_place = |word: &Word| word.lower.contains(['.', '/', '_', '-']) && word.lower.chars().any(char::is_alphabetic);
    let (whole, to) = spelled(s, at);
    if !s.words[at].is_number() {
        let shown = to > at + 1 || is_place(&s.words[at]) || s.text[..s.words[at].start].ends_with(['#', '/']);
        return if shown { of(Kind::Place, whole, to) } else { None };
    }
    if whole.contains("://") || to > at + 1 && whole.contains('/') {
        return of(Kind::Place, whole, to);
    }
    let (kind, to) = amount(s, at)?;
    of(kind, s.between(at, to)?.to_lowercase(), to)
}

/// The kind of a number, and where it ends with its unit.
fn amount(s: &Sentence<'_>, at: usize) -> Option<(Kind, usize)> {
    let word = s.word(at);
    let digits = word.trim_start_matches(|sign: char| sign.is_ascii_digit() || matches!(sign, '.' | ',' | ':' | '-'));
    let next = s.words.get(at + 1).filter(|_| !s.parted(at + 1)).map_or("", |word| word.lower.as_str());
    let (unit, to) = if digits.is_empty() { (next, at + 2) } else { (digits, at + 1) };
    let is_percent = s.text[s.words[at].end..].trim_start().starts_with('%');
    let kind = match unit {
        _ if is_percent => return Some((Kind::Percent, at + 1)),
        "percent" => Kind::Percent,
        unit if DURATIONS.contains(&unit) => Kind::Duration,
        unit if SIZES.contains(&unit) => Kind::Size,
        unit if CLOCK.contains(&unit) => Kind::Clock,
        _ if !digits.is_empty() => return None,
        _ if word.contains(':') => return Some((Kind::Clock, at + 1)),
        _ if word.contains('.') => return Some((Kind::Version, at + 1)),
        unit if unit.len() > 3 && !super::is_idle(unit) => Kind::Count,
        _ => return Some((Kind::Plain, at + 1)),
    };
    Some((kind, to))
}

/// A day of the week or of a month, and the word behind it.
fn day(s: &Sentence<'_>, at: usize) -> Option<(String, usize)> {
    let word = s.word(at);
    let singular = word.strip_suffix('s').unwrap_or(word);
    if WEEKDAYS.contains(&word) || WEEKDAYS.contains(&singular) {
        return Some((singular.to_owned(), at + 1));
    }
    let is_month = |word: &str| MONTHS.contains(&word) || word.len() == 3 && MONTHS.iter().any(|month| month.starts_with(word));
    let is_day = |at: usize| s.words.get(at).is_some_and(|word| word.is_number() && word.lower.len() <= 4);
    if is_month(word) && is_day(at + 1) {
        return Some((format!("{} {}", &word[..3], s.word(at + 1)), at + 2));
    }
    (is_day(at) && is_month(s.word(at + 1))).then(|| (format!("{} {word}", &s.word(at + 1)[..3]), at + 2))
}

/// Whether a word says that something is on, or off.
fn switch(s: &Sentence<'_>, at: usize) -> Option<bool> {
    let ends = || s.words.get(at + 1).is_none_or(|next| s.parted(at + 1) || BEHIND_SWITCH.contains(&next.lower.as_str()));
    match s.word(at) {
        "true" | "enabled" | "active" => Some(true),
        "false" | "disabled" | "inactive" => Some(false),
        "on" if ends() => Some(true),
        "off" if ends() => Some(false),
        _ => None,
    }
}

/// The letters up to the next space ("/etc/app/app.toml"), and the word behind them.
fn spelled(s: &Sentence<'_>, at: usize) -> (String, usize) {
    let end = s.text[s.words[at].end..].find(char::is_whitespace).map_or(s.text.len(), |rest| s.words[at].end + rest);
    let to = s.words.partition_point(|word| word.start < end).max(at + 1);
    (s.text[s.words[at].start..end].trim_end_matches([',', ';', '.', ':', ')', '`', '"', '!']).to_lowercase(), to)
}
