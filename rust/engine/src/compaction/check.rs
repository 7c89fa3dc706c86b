//! Checks the lines of a model against the messages that they name: a line that says more than its messages is refused.
//!
//! A reply is JSON of one shape: `summary`, `decisions`, `constraints`, `open_questions`, each a list of `{"text", "messages"}`; anything
//! else is an error, which the model is told once. A line is refused if one of these is not in the messages it names: an identifier (byte
//! for byte and whole), a number word, the unit of a number, a day or a month, a capitalised name, a quotation. It is also refused if less than half of its terms
//! are theirs (another language, another topic), or if it says no where they do not, or the other way round. Constraints and
//! decisions are checked against people's messages alone: a page that a tool read decides nothing. This module does not look for facts
//! that the model left out: the rules put those back ([`super::compact`]).
//!
//! It does not notice that two identifiers of one message changed places.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use super::Source;
use super::measures;
use super::rules::for_each_text;
use super::said::{Said, Statements};
use super::summary::{Line, Section, Summary};
use super::terms::Reader;
use super::units::{one_line, without_markers};
use crate::text::exact_identifiers;
use crate::units::calendar::{is_named, is_short_month};

/// The largest reply that is read.
pub const MAX_REPLY_BYTES: usize = 256 << 10;
/// The longest line.
const MAX_LINE_BYTES: usize = 600;
/// Lines of a reply.
const MAX_LINES: usize = 400;
/// The share of a line's terms (of 256) that must be in its messages, at least.
const LEAST_SUPPORT: usize = 128;
/// From this share on (of 256) a unit of the source is what a line restates.
const RESTATES: usize = 128;

pub(super) const NUMBER_WORDS: [(&str, &str); 34] = [
    ("two", "2"),
    ("three", "3"),
    ("four", "4"),
    ("five", "5"),
    ("six", "6"),
    ("seven", "7"),
    ("eight", "8"),
    ("nine", "9"),
    ("ten", "10"),
    ("eleven", "11"),
    ("twelve", "12"),
    ("thirteen", "13"),
    ("fourteen", "14"),
    ("fifteen", "15"),
    ("sixteen", "16"),
    ("seventeen", "17"),
    ("eighteen", "18"),
    ("nineteen", "19"),
    ("twenty", "20"),
    ("thirty", "30"),
    ("forty", "40"),
    ("fifty", "50"),
    ("sixty", "60"),
    ("seventy", "70"),
    ("eighty", "80"),
    ("ninety", "90"),
    ("hundred", "100"),
    ("thousand", "1000"),
    ("million", "1000000"),
    ("billion", "1000000000"),
    ("dozen", "12"),
    ("twice", "2"),
    ("half", "50"),
    ("double", "2"),
];
/// Words for times; months and weekdays are in `units/calendar.rs`.
const DATE_WORDS: [&str; 6] = ["today", "tomorrow", "yesterday", "tonight", "noon", "midnight"];
const NEGATIONS: [&str; 22] = [
    "not",
    "no",
    "never",
    "none",
    "nobody",
    "nothing",
    "without",
    "cannot",
    "cant",
    "dont",
    "doesnt",
    "didnt",
    "isnt",
    "arent",
    "wont",
    "mustnt",
    "shouldnt",
    "neither",
    "nor",
    "refuse",
    "refused",
    "forbidden",
];
/// Words that may begin a sentence of a summary, whatever the messages say.
const STARTERS: [&str; 74] = [
    "of",
    "a",
    "an",
    "the",
    "user",
    "users",
    "assistant",
    "tool",
    "tools",
    "they",
    "both",
    "it",
    "its",
    "this",
    "that",
    "these",
    "there",
    "all",
    "any",
    "each",
    "one",
    "after",
    "before",
    "during",
    "while",
    "when",
    "where",
    "whether",
    "what",
    "which",
    "who",
    "how",
    "why",
    "if",
    "in",
    "on",
    "at",
    "by",
    "for",
    "from",
    "to",
    "with",
    "as",
    "and",
    "also",
    "then",
    "currently",
    "previously",
    "initially",
    "finally",
    "later",
    "next",
    "open",
    "agreed",
    "decided",
    "confirmed",
    "chose",
    "selected",
    "requested",
    "asked",
    "wants",
    "needs",
    "prefers",
    "must",
    "should",
    "use",
    "keep",
    "do",
    "is",
    "are",
    "was",
    "can",
    "could",
    "still",
];

/// A line that was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The line that the model wrote.
    pub text: String,
    /// Why: what it names that its messages do not.
    pub reason: String,
}

/// A reply that was held against the messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// The lines that may be shown.
    pub lines: Vec<Line>,
    /// The lines that may not.
    pub refused: Vec<Refused>,
}

/// Checks a model's reply against the messages and the summary before.
///
/// # Errors
/// The fault of a reply that is not of the shape, in words for the model.
pub fn check(reply: &str, previous: Option<&Summary>, sources: &[Source]) -> Result<Checked, String> {
    let mut evidence = Evidence::new(previous, sources);
    let mut checked = Checked::default();
    for (section, text, messages) in read(reply)? {
        match evidence.judge(section, &text, &messages) {
            Ok(()) => {
                let score = (1 << 30) - checked.lines.len() as i64;
                checked.lines.push(Line { section, text: text.into(), sources: messages, score, by_model: true });
            }
            Err(reason) => checked.refused.push(Refused { text, reason }),
        }
    }
    Ok(checked)
}

/// Holds a free text against another: it may name no identifier, number word, day, name or quotation that the other lacks.
///
/// # Errors
/// The first that it lacks.
pub fn is_said(text: &str, said: &str) -> Result<(), String> {
    is_said_by(text, &[&Said::new(said)])
}

fn is_said_by(text: &str, said: &[&Said]) -> Result<(), String> {
    check_identifiers(text, said)?;
    check_words(text, said)?;
    measures::check(text, said)?;
    check_names(text, said)?;
    check_quotes(text, said)
}

const SECTIONS: [Section; 4] = [Section::Summary, Section::Decisions, Section::Constraints, Section::Questions];

fn read(reply: &str) -> Result<Vec<(Section, String, Vec<u64>)>, String> {
    if reply.len() > MAX_REPLY_BYTES {
        return Err(format!("the reply has {} bytes, and may have {MAX_REPLY_BYTES}", reply.len()));
    }
    let value: Value = serde_json::from_str(unfenced(reply)).map_err(|error| format!("the reply is not JSON: {error}"))?;
    let object = value.as_object().ok_or("the reply must be one JSON object")?;
    if let Some(key) = object.keys().find(|key| SECTIONS.iter().all(|section| section.name() != key.as_str())) {
        let key: String = key.chars().take(40).collect();
        return Err(format!("the reply has a key {key:?}, which is not one of the four"));
    }
    let mut lines = Vec::new();
    for section in SECTIONS {
        let list = object.get(section.name()).and_then(Value::as_array).ok_or_else(|| format!("{:?} must be a list", section.name()))?;
        for (at, line) in list.iter().enumerate() {
            let bad = || format!("{}[{at}] must be {{\"text\": string, \"messages\": [numbers, at least one]}}", section.name());
            lines.push((section, read_text(line).ok_or_else(bad)?, read_messages(line).ok_or_else(bad)?));
        }
    }
    if lines.len() > MAX_LINES { Err(format!("the reply has {} lines, and may have {MAX_LINES}", lines.len())) } else { Ok(lines) }
}

/// The reply without the fence that some models put around JSON.
fn unfenced(reply: &str) -> &str {
    let trimmed = reply.trim();
    let Some(rest) = trimmed.strip_prefix("```") else { return trimmed };
    let rest = rest.strip_prefix("json").unwrap_or(rest);
    rest.strip_suffix("```").unwrap_or(rest).trim()
}

fn read_text(line: &Value) -> Option<String> {
    let object = line.as_object().filter(|object| object.len() == 2)?;
    Some(one_line(object.get("text")?.as_str()?)).filter(|text| !text.is_empty())
}

fn read_messages(line: &Value) -> Option<Vec<u64>> {
    let mut messages = line.get("messages")?.as_array()?.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>()?;
    messages.sort_unstable();
    messages.dedup();
    (!messages.is_empty() && messages.len() <= 64).then_some(messages)
}

/// The content of a message.
#[derive(Default)]
struct Texts {
    all: Said,
    /// Without the arguments of calls and their results.
    said: Said,
}

impl Texts {
    fn add(&mut self, text: &str, said: bool) {
        self.all.text.extend([text, "\n"]);
        if said {
            self.said.text.extend([text, "\n"]);
        }
    }
}

/// The contents of the messages, by message.
struct Evidence {
    texts: BTreeMap<u64, Texts>,
    reader: Reader,
}

impl Evidence {
    fn new(previous: Option<&Summary>, sources: &[Source]) -> Self {
        let mut texts: BTreeMap<u64, Texts> = BTreeMap::new();
        for source in sources {
            let texts = texts.entry(source.index).or_default();
            for_each_text(&source.message, &mut |text, said| texts.add(text, said));
            source.message.tool_calls().for_each(|call| texts.add(&call.name, false));
        }
        for line in previous.iter().flat_map(|before| &before.lines) {
            for index in &line.sources {
                texts.entry(*index).or_default().add(&line.text, true);
            }
        }
        Self { texts, reader: Reader::default() }
    }

    fn judge(&mut self, section: Section, text: &str, messages: &[u64]) -> Result<(), String> {
        if text.len() > MAX_LINE_BYTES {
            return Err(format!("it has {} bytes, and a line may have {MAX_LINE_BYTES}", text.len()));
        }
        let binds = matches!(section, Section::Constraints | Section::Decisions);
        let Self { texts, reader } = self;
        let of = |index: &u64| {
            let texts = texts.get(index).ok_or_else(|| format!("message {index} is not among those that were given"))?;
            Ok(if binds { &texts.said } else { &texts.all })
        };
        let said = messages.iter().map(of).collect::<Result<Vec<&Said>, String>>()?;
        if binds && said.iter().all(|one| one.text.is_empty()) {
            return Err("only calls of tools and their results say it, and what binds is what people said".into());
        }
        is_said_by(text, &said)?;
        check_support(section, text, &said, reader)
    }
}

/// Both for a line of events.
#[cfg(test)]
pub(super) fn is_supported(text: &str, said: &[&Said], reader: &mut Reader) -> Result<(), String> {
    is_said_by(text, said).and_then(|()| check_support(Section::Summary, text, said, reader))
}

/// Most of a line must be what its messages are about, and it must not turn them round.
fn check_support(section: Section, text: &str, said: &[&Said], reader: &mut Reader) -> Result<(), String> {
    let terms = reader.every(text);
    let said: Vec<&Statements> = said.iter().map(|one| one.statements(reader)).collect();
    let common = terms.iter().filter(|term| said.iter().any(|one| one.has(**term))).count();
    if common * 256 / terms.len().max(1) < LEAST_SUPPORT {
        return Err("less than half of it is in its messages".into());
    }
    if section == Section::Questions {
        return Ok(());
    }
    let mut closest = (0, "");
    for one in said.into_iter().filter_map(|one| one.closest(&terms)) {
        closest = if one.0 > closest.0 { one } else { closest };
    }
    if closest.0 >= RESTATES && negates(closest.1) != negates(text) {
        return Err(format!("it reverses what was said: {:?}", closest.1.chars().take(120).collect::<String>()));
    }
    Ok(())
}

pub(super) fn negates(text: &str) -> bool {
    words(text).any(|(_, word)| NEGATIONS.contains(&word.as_str()))
}

fn check_identifiers(text: &str, said: &[&Said]) -> Result<(), String> {
    let mut missing = None;
    exact_identifiers(text, |range| {
        if missing.is_none() && !said.iter().any(|one| has_whole(&one.text, &text[range.clone()])) {
            missing = Some(text[range].to_owned());
        }
    });
    missing.or_else(|| foreign_compound(text, said)).map_or(Ok(()), |identifier| Err(format!("{identifier:?} is not in its messages")))
}

/// A word with a hyphen, `payments-db`, that the messages do not have: it may name something.
fn foreign_compound(text: &str, said: &[&Said]) -> Option<String> {
    let has = |word: &str| said.iter().any(|one| one.lower().contains(word));
    let words = text.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
    words.filter(|word| word.contains('-')).find(|word| !has(&word.to_lowercase())).map(str::to_owned)
}

/// Whether an identifier stands in a text and is not a piece of a longer one.
fn has_whole(text: &str, identifier: &str) -> bool {
    text.match_indices(identifier).any(|(at, _)| {
        let before: Vec<char> = text[..at].chars().rev().take(2).collect();
        let after: Vec<char> = text[at + identifier.len()..].chars().take(2).collect();
        let first = identifier.chars().next().unwrap_or(' ');
        let last = identifier.chars().next_back().unwrap_or(' ');
        !continues(first, &before) && !continues(last, &after)
    })
}

/// Whether what stands beside `edge`, nearest first, goes on with the same number or word.
fn continues(edge: char, beside: &[char]) -> bool {
    let joins = |c: char| c.is_alphanumeric() && c.is_ascii() || c == '_';
    match beside {
        [next, ..] if edge.is_alphanumeric() && joins(*next) => true,
        [next, behind] => edge.is_numeric() && behind.is_numeric() && matches!(next, '.' | ',' | '-' | ':' | '/'),
        _ => false,
    }
}

/// The words of a message, folded.
#[derive(Debug)]
pub(super) struct Words(HashSet<String>);

impl Words {
    pub(super) fn of(text: &str) -> Self {
        Self(words(text).map(|(_, word)| word).collect())
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.0.contains(word) || ["s", "es", "d", "ed", "ing"].iter().any(|end| self.is_form(word, end))
    }

    /// Another form of a word: `asked` of `ask`, `migrated` of `migrate`, `books` of `book`.
    fn is_form(&self, word: &str, end: &str) -> bool {
        let stem = word.strip_suffix(end).filter(|stem| stem.len() > 2);
        stem.is_some_and(|stem| self.0.contains(stem) || self.0.contains(&format!("{stem}e"))) || self.0.contains(&format!("{word}{end}"))
    }
}

/// Words with their place, folded, without apostrophes.
fn words(text: &str) -> impl Iterator<Item = (usize, String)> + '_ {
    let mut at = 0;
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '\'' | '\u{2019}')).filter_map(move |word| {
        let start = at + text[at..].find(word).unwrap_or(0);
        at = start + word.len();
        let folded: String = word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
        (!folded.is_empty()).then_some((start, folded))
    })
}

fn check_words(text: &str, said: &[&Said]) -> Result<(), String> {
    let has = |word: &str| said.iter().any(|one| one.words().0.contains(word));
    for (_, word) in words(text) {
        let number = NUMBER_WORDS.iter().find(|(name, _)| *name == word);
        if number.is_some_and(|(name, digits)| !has(name) && !has(digits)) {
            return Err(format!("the number {word:?} is not in its messages"));
        }
        if (DATE_WORDS.contains(&word.as_str()) || is_named(&word) || is_short_month(&word)) && word != "may" && !has_date(&has, &word) {
            return Err(format!("the date {word:?} is not in its messages"));
        }
    }
    Ok(())
}

/// A day or a month by its own name, or by its first three letters.
fn has_date(has: &impl Fn(&str) -> bool, word: &str) -> bool {
    has(word) || word.len() > 5 && word.get(..3).is_some_and(has)
}

/// Capitalised words are names, but for those that begin a sentence and are ordinary there.
fn check_names(text: &str, said: &[&Said]) -> Result<(), String> {
    for (start, word) in words(text) {
        let capital = text[start..].chars().find(|c| c.is_alphanumeric()).is_some_and(char::is_uppercase);
        if !capital || said.iter().any(|one| one.words().has(&word)) {
            continue;
        }
        let before = text[..start].trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '(' | '\u{201c}'));
        let begins = before.is_empty() || before.ends_with(['.', '!', '?', ':', '\u{3002}']);
        if !(begins && STARTERS.contains(&word.as_str())) && word != "i" {
            return Err(format!("the name {word:?} is not in its messages"));
        }
    }
    Ok(())
}

fn check_quotes(text: &str, said: &[&Said]) -> Result<(), String> {
    const MARKS: [(char, char); 6] =
        [('"', '"'), ('\u{201c}', '\u{201d}'), ('\u{ab}', '\u{bb}'), ('`', '`'), ('\u{300c}', '\u{300d}'), ('\u{201e}', '\u{201c}')];
    if !text.contains(MARKS.map(|(open, _)| open)) {
        return Ok(());
    }
    let flat: Vec<&str> = said.iter().map(|one| one.flat()).filter(|flat| !flat.is_empty()).collect();
    let said = flat.join(" "); // a quotation may go on in the next message
    let said = without_markers(&said);
    for (open, close) in MARKS {
        let mut rest = text;
        while let Some((_, after)) = rest.split_once(open) {
            let Some((quoted, behind)) = after.split_once(close) else { break };
            let quoted = one_line(quoted);
            if !said.contains(quoted.trim_end_matches(['.', ','])) {
                return Err(format!("the quotation {:?} is not in its messages", quoted.chars().take(80).collect::<String>()));
            }
            rest = behind;
        }
    }
    Ok(())
}
