//! Identifiers: kept whole, by the identifiers inside them, and by their parts.
//!
//! `https://payments-api.internal:8443/health` is one whole; `payments-api.internal:8443`, `payments-api.internal` and
//! `payments-api` are identifiers inside it; `https`, `payments`, `api`, `internal`, `8443`, `health` are its parts. The whole is
//! case folded, without the scheme of a URL, with `/` for `\`. A sign before it (`#4521`, `$HOME`, `@alice`, `:8443`, `/etc`)
//! tells that it is an identifier and is not part of it, so that `PR #4521`, `#4521` and `4521` are one term.

use super::chars::{ALNUM, CONNECTOR, DIGIT, LETTER, LOWER, UPPER, URL_CONNECTOR, is};
use super::fold::fold;
use super::scan::Buffers;
use super::terms::{Role, Sink, TermClass};
use super::words::{abbreviation, accented, is_abbreviation, is_acronym_plural, without_clitics, word};

/// An atom longer than this is a blob (base64, a hash): not cut at its capitals.
const LONGEST_CAMEL_BYTES: usize = 64;
/// The most pieces that camelCase is cut into, for the same reason.
const MOST_CAMEL_PARTS: usize = 8;

/// The terms of the run `start..end` of a chunk.
pub(super) fn run<S: Sink>(chunk: &str, start: usize, end: usize, buffers: &mut Buffers, sink: &mut S) {
    let run = without_clitics(&chunk[start..end]);
    if !run.bytes().any(connects) {
        atom(run, is_marked(chunk.as_bytes(), start, end), buffers, sink);
    } else if is_abbreviation(run) {
        abbreviation(run, &mut buffers.term, sink);
    } else {
        composite(run, buffers, sink);
    }
}

fn connects(byte: u8) -> bool {
    is(byte, CONNECTOR | URL_CONNECTOR) || byte == b','
}

/// Whether what stands around a run says that it is an identifier: a sigil, a path's slash, a flag's dashes, a call's brackets.
fn is_marked(chunk: &[u8], start: usize, end: usize) -> bool {
    let before = |back: usize| start.checked_sub(back).map_or(0, |at| chunk[at]);
    let sigil = match before(1) {
        b'#' | b'@' | b'$' | b'/' | b'\\' => true,
        b'.' => before(2) != b'.',
        b'-' => before(2) == b'-' && before(3) == 0,
        b'{' => before(2) == b'$',
        _ => false,
    };
    sigil || chunk[end..].starts_with(b"()") || chunk[end..].starts_with(b"/")
}

/// A run without connectors: a plain word, or an identifier of one piece.
fn atom<S: Sink>(text: &str, marked: bool, buffers: &mut Buffers, sink: &mut S) {
    if marked || is_identifier(text) {
        one_piece(text, Role::Whole, buffers, sink);
    } else {
        word(text, buffers, sink);
    }
}

/// An identifier of one piece, or a part of a longer one: the folded text in the class of words, then its own parts.
fn one_piece<S: Sink>(text: &str, role: Role, buffers: &mut Buffers, sink: &mut S) {
    let term = &mut buffers.term;
    term.clear();
    fold(text, term);
    if term.bytes().is_empty() {
        return; // a lone mark
    }
    sink.advance(1);
    accented(text, term, &mut buffers.accented, sink);
    sink.term(role, TermClass::Word, term);
    for_each_camel_part(text, |part| {
        term.clear();
        fold(part, term);
        sink.term(part_role(part), TermClass::Word, term);
    });
}

/// A number of three and more digits is an identifier wherever it stands.
fn part_role(part: &str) -> Role {
    if is_number(part.as_bytes()) { Role::Segment } else { Role::Part }
}

fn is_number(text: &[u8]) -> bool {
    text.len() >= 3 && text.iter().all(|b| is(*b, DIGIT))
}

/// A number, letters mixed with digits (`k8s`, `a1b2c3`; not `2nd`, `5pm`, `10k`), or camelCase.
fn is_identifier(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = bytes.iter().filter(|b| is(**b, DIGIT)).count();
    if digits == 0 {
        return has_camel_case(bytes);
    }
    let leading = bytes.iter().take_while(|b| is(**b, DIGIT)).count();
    digits > 2 || leading < digits
}

fn has_camel_case(bytes: &[u8]) -> bool {
    !is_acronym_plural(bytes) && (1..bytes.len()).any(|at| starts_part(bytes, at))
}

/// Whether a part of camelCase starts at `at`: `get|User`, `HTTP|Server`, `S3|Bucket`.
fn starts_part(bytes: &[u8], at: usize) -> bool {
    let next_is_lower = bytes.get(at + 1).is_some_and(|b| is(*b, LOWER));
    is(bytes[at], UPPER) && (is(bytes[at - 1], LOWER) || next_is_lower && is(bytes[at - 1], UPPER | DIGIT))
}

/// Calls `each` with the parts of camelCase and with the letters and digits of `python3`; one letter alone is not a part.
fn for_each_camel_part(text: &str, mut each: impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let parts = 1 + (1..bytes.len()).filter(|at| starts_part(bytes, *at)).count();
    let blob = bytes.len() > LONGEST_CAMEL_BYTES || parts > MOST_CAMEL_PARTS || parts > 1 && bytes.len() < 2 * parts;
    if blob || is_acronym_plural(bytes) {
        return;
    }
    let mut start = 0;
    for at in 1..=bytes.len() {
        if at == bytes.len() || starts_part(bytes, at) {
            for_each_letters_and_digits(&text[start..at], parts > 1, &mut each);
            start = at;
        }
    }
}

fn for_each_letters_and_digits(part: &str, of_several: bool, each: &mut impl FnMut(&str)) {
    let bytes = part.as_bytes();
    let letters = bytes.iter().take_while(|b| is(**b, LETTER)).count();
    let border = letters > 0 && letters < bytes.len() && bytes[letters..].iter().all(|b| is(*b, DIGIT));
    if border {
        each(&part[letters..]);
    }
    if border && letters > 1 {
        each(&part[..letters]);
    } else if of_several && bytes.len() > 1 {
        each(part);
    }
}

/// A run with connectors.
fn composite<S: Sink>(run: &str, buffers: &mut Buffers, sink: &mut S) {
    let colon = run.bytes().position(|b| b == b':').filter(|at| run[*at..].starts_with("://"));
    if let Some(at) = colon {
        atoms(&run[..at], buffers, sink);
    }
    let body = colon.map_or(run, |at| trimmed(&run[at..]));
    if !body.bytes().any(connects) {
        return one_piece(body, Role::Whole, buffers, sink);
    }
    whole(body, Role::Whole, buffers, sink);
    if body.bytes().any(|b| connects(b) && !matches!(b, b'-' | b'_')) {
        segments(body, buffers, sink);
    }
    atoms(body, buffers, sink);
}

/// The whole form of an identifier. A number with thousands separators is the number.
fn whole<S: Sink>(text: &str, role: Role, buffers: &mut Buffers, sink: &mut S) {
    let term = &mut buffers.term;
    term.clear();
    fold(without_version_letter(text), term);
    if text.bytes().any(|b| matches!(b, b'\\' | b'/' | b',')) {
        term.rewrite(|before, byte| match byte {
            b'\\' | b'/' => (before != b'/').then_some(b'/'),
            b',' => None,
            _ => Some(byte),
        });
    }
    let class = if is_number(term.bytes()) { TermClass::Word } else { TermClass::Whole };
    sink.term(role, class, term);
}

/// `v1.2.3` is `1.2.3`.
fn without_version_letter(text: &str) -> &str {
    if is_version(text) { text.trim_start_matches(['v', 'V']) } else { text }
}

fn is_version(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = usize::from(bytes.first().is_some_and(|b| matches!(b, b'v' | b'V')));
    let numbers = bytes.get(digit).is_some_and(|b| is(*b, DIGIT)) && text.contains('.');
    numbers && bytes.iter().all(|b| is(*b, ALNUM) || matches!(b, b'.' | b'-' | b'+' | b'_'))
}

/// The identifiers inside one: between `:`, `@` and their like, then between slashes, then between dots; versions between dashes.
/// Each level passes over the text once.
fn segments<S: Sink>(body: &str, buffers: &mut Buffers, sink: &mut S) {
    let outer = |b: u8| matches!(b, b':' | b'@' | b'#' | b'?' | b'=' | b'&' | b'%' | b'+' | b'~' | b'$');
    let slash = |b: u8| matches!(b, b'/' | b'\\');
    for_each_piece(body, slash, |piece| {
        if piece.bytes().any(outer) {
            segment(piece, body, buffers, sink); // `host:8443`, `login.rs:120`; what has no such sign comes below
        }
    });
    for_each_piece(body, outer, |piece| {
        segment(piece, body, buffers, sink);
        segment(iso_date(piece).unwrap_or(piece), piece, buffers, sink);
        for_each_piece(piece, slash, |name| {
            segment(name, piece, buffers, sink);
            if is_version(name) {
                return;
            }
            for_each_piece(name, |b| b == b'.', |label| segment(label, name, buffers, sink));
            for_each_piece(
                name,
                |b| b == b'-',
                |version| {
                    if is_version(version) {
                        segment(version, name, buffers, sink);
                    }
                },
            );
        });
    });
}

/// The pieces of a text between separators (all of them ASCII), without connectors at their ends.
fn for_each_piece<'a>(text: &'a str, separates: impl Fn(u8) -> bool, mut each: impl FnMut(&'a str)) {
    let bytes = text.as_bytes();
    let mut start = 0;
    for at in 0..=bytes.len() {
        if at == bytes.len() || separates(bytes[at]) {
            let piece = trimmed(&text[start..at]);
            if !piece.is_empty() {
                each(piece);
            }
            start = at + 1;
        }
    }
}

/// The text without connectors at its ends.
fn trimmed(text: &str) -> &str {
    let bytes = text.as_bytes();
    let start = bytes.iter().position(|b| !connects(*b)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|b| !connects(*b)).map_or(start, |last| last + 1);
    &text[start..end]
}

/// The date of a timestamp: `2024-05-12` of `2024-05-12T10`.
fn iso_date(piece: &str) -> Option<&str> {
    let fits = |(at, byte)| if matches!(at, 4 | 7) { byte == b'-' } else { is(byte, DIGIT) };
    let date = piece.get(..10).filter(|date| date.bytes().enumerate().all(fits))?;
    piece[10..].starts_with('T').then_some(date)
}

fn segment<S: Sink>(piece: &str, parent: &str, buffers: &mut Buffers, sink: &mut S) {
    if piece.len() < parent.len() && piece.bytes().any(connects) {
        whole(piece, Role::Segment, buffers, sink);
    }
}

/// The parts between all connectors.
fn atoms<S: Sink>(text: &str, buffers: &mut Buffers, sink: &mut S) {
    for_each_piece(text, connects, |part| one_piece(part, part_role(part), buffers, sink));
}
