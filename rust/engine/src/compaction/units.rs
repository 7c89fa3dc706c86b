//! Units: pieces of a message's text that make sense by themselves and stand on one line.
//!
//! A text is cut at line feeds, then at the ends of sentences; neighbouring sentences of a line are joined again while they stay
//! short, so that "The cap is $500. Never exceed it." stays together. Sentences end at `.`, `!`, `?` before white space and no small
//! letter, and at the full stops of scripts without spaces. Not here: what a unit says.

use crate::interrupt::{self, Steps};
use crate::units::abbreviations;
use crate::units::clusters::is_border;

/// Sentences are joined up to so many bytes.
const JOINED_BYTES: usize = 80;
/// A longer sentence is cut between words.
const LONGEST_BYTES: usize = 320;
/// More words whose full stop ends no sentence: where a unit ends too late, nothing is lost.
const ABBREVIATIONS: [&str; 7] = ["etc", "fig", "sec", "dept", "inc", "ltd", "jr"];

/// The units of a text, in order.
#[must_use]
pub fn units(text: &str) -> Vec<String> {
    let mut units = Vec::new();
    for line in text.split(['\n', '\r', '\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}']) {
        let mut joined = String::new();
        interrupt::step();
        for sentence in sentences(line) {
            let clean = one_line(sentence);
            if clean.is_empty() {
                continue;
            }
            if !joined.is_empty() && joined.len() + clean.len() >= JOINED_BYTES {
                units.push(std::mem::take(&mut joined));
            }
            if !joined.is_empty() {
                joined.push(' ');
            }
            joined.push_str(&clean);
        }
        if !joined.is_empty() {
            units.push(joined);
        }
    }
    units
}

/// The sentences of one line, each at most `LONGEST_BYTES` but for a word that is longer.
#[must_use]
pub fn sentences(line: &str) -> Vec<&str> {
    let (mut found, mut start) = (Vec::new(), 0);
    let mut characters = line.char_indices().peekable();
    let (mut steps, mut closed) = (Steps::default(), Closed::default());
    while let Some((at, character)) = characters.next() {
        steps.reach(at);
        let end = at + character.len_utf8();
        if ends_sentence(line, start, at, character, &mut closed) {
            let end = closed.behind(line, end).end;
            while characters.next_if(|(next, _)| *next < end).is_some() {}
            found.push(&line[start..end]);
            start = end;
        } else if end - start >= LONGEST_BYTES && character.is_whitespace() {
            found.push(&line[start..end]);
            start = end;
        } else if end - start >= 4 * LONGEST_BYTES && !character.is_ascii() && is_border(&line[start..], end - start) {
            found.push(&line[start..end]); // a script without spaces and without full stops
            start = end;
        }
    }
    found.extend(Some(&line[start..]).filter(|rest| !rest.is_empty()));
    found
}

fn is_closer(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '"' | '\'' | ')' | ']' | '\u{201d}' | '\u{2019}' | '\u{bb}' | '\u{300d}' | '*' | '`')
}

/// A run of marks that close a sentence, found once for all marks in it: a line may have a million of them.
#[derive(Debug, Clone, Copy, Default)]
struct Closed {
    /// Where it ends.
    end: usize,
    /// Whether white space or the end of the line stands behind it.
    spaced: bool,
    /// Whether a small letter comes next.
    small: bool,
}

impl Closed {
    /// The run that goes on, or would begin, at `from`.
    fn behind(&mut self, line: &str, from: usize) -> Self {
        if from > self.end {
            let rest = line[from..].trim_start_matches(is_closer);
            let spaced = rest.chars().next().is_none_or(char::is_whitespace);
            let small = rest.trim_start().chars().next().is_some_and(char::is_lowercase);
            *self = Self { end: line.len() - rest.len(), spaced, small };
        }
        *self
    }
}

fn ends_sentence(line: &str, start: usize, at: usize, character: char, closed: &mut Closed) -> bool {
    match character {
        '\u{3002}' | '\u{ff01}' | '\u{ff1f}' | '\u{ff61}' => true,
        '\u{61f}' | '\u{6d4}' | '\u{964}' | '!' | '?' | '.' => {
            let closed = closed.behind(line, at + character.len_utf8());
            closed.spaced && !(character == '.' && (closed.small || is_abbreviation(&line[start..at], &line[closed.end..])))
        }
        _ => false,
    }
}

/// The word before a full stop is an abbreviation, a single letter, or the number of a list item.
fn is_abbreviation(before: &str, behind: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or_default();
    let alone = word.len() == before.trim_start().len();
    let folded = word.trim_start_matches(['(', '"']).to_ascii_lowercase();
    let is_article = folded == "art" && behind.trim_start().starts_with(|sign: char| sign.is_ascii_digit()); // "see art. 5"
    ABBREVIATIONS.contains(&folded.as_str())
        || abbreviations::goes_on(before, behind)
        || is_article
        || folded.chars().count() == 1 && folded.chars().all(char::is_alphabetic)
        || alone && folded.bytes().all(|byte| byte.is_ascii_digit())
}

/// A text on one line: white space and control characters become single spaces, markers of list items go.
#[must_use]
pub fn one_line(text: &str) -> String {
    joined(words(text).skip_while(|word| is_marker(word)))
}

/// A text in one line, with the markers that it begins with.
pub(super) fn flat(text: &str) -> String {
    joined(words(text))
}

/// A text that [`flat`] made, without those.
pub(super) fn without_markers(flat: &str) -> &str {
    let mut rest = flat;
    while let Some((_, behind)) = rest.split_once(' ').filter(|(word, _)| is_marker(word)) {
        rest = behind;
    }
    if is_marker(rest) { "" } else { rest }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty())
}

fn is_marker(word: &str) -> bool {
    word.bytes().all(|byte| matches!(byte, b'-' | b'*' | b'#' | b'>' | b'=' | b'|')) || word == "\u{2022}"
}

fn joined<'t>(words: impl Iterator<Item = &'t str>) -> String {
    let mut out = String::new();
    for word in words {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_they_do() {
        let split = |text: &str| units(text).join(" | ");
        let long =
            "The budget cap of this project is five hundred dollars in total for all of us together and nobody may exceed it at all.";
        assert_eq!(split(&format!("{long} {long}")), format!("{long} | {long}"));
        assert_eq!(split("Use v1.2.3 of a.io. OK?"), "Use v1.2.3 of a.io. OK?");
        assert_eq!(split("one\ntwo\r\n\n- three\n## four"), "one | two | three | four");
        assert_eq!(sentences("See e.g. Dr. Smith. Then go.").len(), 2);
        assert_eq!(sentences("1. First thing. 2. Second").len(), 2);
        assert_eq!(sentences("Am 3. Mai bei Fr. Klein, Hauptstr. 5, f\u{FC}r ca. 500 Euro, siehe art. 7. Dann nicht mehr.").len(), 2);
        assert_eq!(sentences("\u{6211}\u{4eec}\u{3002}\u{597d}\u{3002}").len(), 2);
    }

    #[test]
    fn nothing_is_lost_and_every_unit_is_one_line() {
        let mut random = crate::context::testing::Random::new(7);
        for _ in 0..2_000 {
            let text = crate::context::testing::nasty(&mut random, 8);
            let joined: String = units(&text).concat();
            let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
            assert_eq!(letters(&joined), letters(&text));
            assert!(units(&text).iter().all(|unit| !unit.contains(['\n', '\r', '\u{2028}']) && !unit.is_empty()));
        }
    }

    #[test]
    fn a_long_text_without_an_end_is_cut_between_words() {
        let text = "word ".repeat(100_000);
        assert!(units(&text).iter().all(|unit| unit.len() <= LONGEST_BYTES + 5));
        assert!(units(&"\u{4f60}".repeat(100_000)).iter().all(|unit| unit.len() <= 4 * LONGEST_BYTES + 3));
    }

    #[test]
    fn a_million_marks_are_looked_at_once() {
        for marks in [".".repeat(1_000_000), ".!?)".repeat(250_000)] {
            assert_eq!(sentences(&format!("{marks}a")).len(), 1);
            assert_eq!(sentences(&format!("Yes{marks} No{marks}")).len(), 2);
        }
    }
}
