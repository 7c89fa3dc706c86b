//! Identifiers as they stand in a text, byte for byte, which a summary must not change.
//!
//! The runs are those of [`super::spans`], so that what is kept whole here is what search keeps whole. A run is an identifier if it has a
//! digit, capitals inside, a connector other than one hyphen between plain words, eight and more hexadecimal letters, or four and more
//! capitals. A sign before it (`#`, `$`, `@`, `--`, `/`) and a per cent sign behind it belong to it here. A URL goes on to white
//! space or a bracket. This module does not know what an identifier means, and finds no names of people, which have no shape.

use std::ops::Range;

use super::chars::{CONNECTOR, LETTER, LOWER, SPACE, UPPER, is};
use super::spans::{Span, Spans};
use crate::interrupt::Steps;

/// Signs before a run that are part of the identifier.
const SIGILS: &[u8] = b"#$@~/\\.+-%_";
/// More of them are decoration (`-----`).
const MOST_SIGILS: usize = 3;
/// Letters of a hexadecimal word that is no English one.
const LEAST_HEX: usize = 8;
/// Capitals of a code name.
const LEAST_CAPITALS: usize = 4;

/// Calls `each` with the range of every identifier of `text`, in order. Ranges do not overlap. Cost: linear.
pub fn exact_identifiers(text: &str, mut each: impl FnMut(Range<usize>)) {
    let (bytes, mut steps) = (text.as_bytes(), Steps::default());
    let mut at = 0;
    while at < bytes.len() {
        steps.reach(at);
        if is(bytes[at], SPACE) {
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().position(|byte| is(*byte, SPACE)).unwrap_or(bytes.len() - at);
        chunk(&text[at..end], |range| each(at + range.start..at + range.end));
        at = end;
    }
}

/// Whether a text has one.
#[must_use]
pub fn has_identifier(text: &str) -> bool {
    let mut any = false;
    exact_identifiers(text, |_| any = true);
    any
}

fn chunk(chunk: &str, mut each: impl FnMut(Range<usize>)) {
    if chunk.bytes().all(|byte| is(byte, LOWER)) && !is_hexadecimal(chunk.as_bytes()) {
        return; // a plain word, as most are
    }
    let mut done = 0;
    for span in Spans::new(chunk) {
        let Span::Run(run) = span else { continue };
        if run.start < done || !is_identifier(&chunk[run.clone()]) && !is_marked(chunk, run.start) {
            continue;
        }
        let range = widened(chunk, run, done);
        done = range.end;
        each(range);
    }
}

fn is_identifier(run: &str) -> bool {
    let bytes = run.as_bytes();
    let connectors = bytes.iter().filter(|byte| is(**byte, CONNECTOR)).count();
    let hyphens = run.matches('-').count();
    run.chars().any(char::is_numeric)
        || connectors > 1
        || connectors > hyphens && !is_initials(bytes)
        || hyphens == 1 && bytes.iter().any(|byte| is(*byte, UPPER))
        || has_inner_capital(bytes)
        || is_hexadecimal(bytes)
}

/// `e.g`, `p.m`: single letters between dots.
fn is_initials(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'.').all(|part| part.len() == 1)
}

fn has_inner_capital(bytes: &[u8]) -> bool {
    let capitals = bytes.iter().filter(|byte| is(**byte, UPPER)).count();
    let lower = bytes.iter().skip(1).zip(bytes).any(|(byte, before)| is(*byte, UPPER) && is(*before, LOWER));
    lower || capitals >= LEAST_CAPITALS && capitals == bytes.len()
}

fn is_hexadecimal(bytes: &[u8]) -> bool {
    bytes.len() >= LEAST_HEX && bytes.iter().all(u8::is_ascii_hexdigit)
}

/// A flag (`--force`), a path (`/etc`), a name (`@alice`), a number sign, a variable (`$HOME`).
fn is_marked(chunk: &str, start: usize) -> bool {
    let before = |back: usize| start.checked_sub(back).map_or(0, |at| chunk.as_bytes()[at]);
    match before(1) {
        b'@' | b'#' | b'$' | b'/' => true,
        b'-' => before(2) == b'-' && before(3) == 0,
        _ => false,
    }
}

/// The run with what belongs to it on both sides; `done` is where the one before it ends.
fn widened(chunk: &str, run: Range<usize>, done: usize) -> Range<usize> {
    let bytes = chunk.as_bytes();
    let mut start = run.start;
    while start > done && run.start - start < MOST_SIGILS && SIGILS.contains(&bytes[start - 1]) {
        start -= 1;
    }
    let url = chunk[run.clone()].contains("://");
    let mut end = if url { run.end + url_tail(&chunk[run.end..]) } else { run.end };
    if bytes.get(end) == Some(&b'%') || bytes.get(end) == Some(&b'/') && bytes.get(end + 1).is_none_or(|byte| !is(*byte, LETTER)) {
        end += 1;
    }
    start..end
}

/// How far a URL goes on behind its run: no closing punctuation at its end.
fn url_tail(rest: &str) -> usize {
    let stops =
        |c: char| c.is_control() || c.is_whitespace() || matches!(c, '"' | '<' | '>' | '`' | '{' | '}' | '|' | '\\' | '^' | ')' | ']');
    let end = rest.find(stops).unwrap_or(rest.len());
    rest[..end].trim_end_matches(['.', ',', ';', ':', '!', '?', '\'', '*', '\u{3002}', '\u{ff0c}']).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        exact_identifiers(text, |range| found.push(&text[range]));
        found
    }

    #[test]
    fn identifiers_stand_as_they_are() {
        for (text, expected) in [
            ("payments-api:8443 is up.", &["payments-api:8443"][..]),
            ("See https://a.io/b?c=d,e;f#g, please.", &["https://a.io/b?c=d,e;f#g"]),
            ("commit a1b2c3d of fix/auth-timeout (PR #4521)", &["a1b2c3d", "fix/auth-timeout", "#4521"]),
            ("It costs $3.50, or 15%.", &["$3.50", "15%"]),
            ("run `deploy.sh --force` in /srv/app/", &["deploy.sh", "--force", "/srv/app/"]),
            ("call getUserById on 2026-11-15 at 10:30", &["getUserById", "2026-11-15", "10:30"]),
            ("codename LANTERN, deadbeef", &["LANTERN", "deadbeef"]),
            ("well-known words, e.g. these, don't count", &[]),
            ("端口是8443在prod-eu-1", &["8443", "prod-eu-1"]),
            ("408-971-8523 or 192.168.0.1", &["408-971-8523", "192.168.0.1"]),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
    }

    #[test]
    fn any_text_is_scanned_and_ranges_do_not_overlap() {
        let mut random = crate::context::testing::Random::new(5);
        for _ in 0..3_000 {
            let text = crate::context::testing::nasty(&mut random, 6);
            let mut last = 0;
            exact_identifiers(&text, |range| {
                assert!(range.start >= last && range.end > range.start && !text[range.clone()].is_empty());
                last = range.end;
            });
        }
    }
}
