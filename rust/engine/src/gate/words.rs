//! Sentences and words of a message, with their place in it.

/// A word, a number, or one of `?` and `!`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// In lowest case.
    pub lower: String,
    /// Its first byte.
    pub start: usize,
    /// Behind its last.
    pub end: usize,
    /// Whether it begins with a capital.
    pub capital: bool,
}

impl Word {
    /// Whether it is a number.
    pub fn is_number(&self) -> bool {
        self.lower.as_bytes()[0].is_ascii_digit()
    }

    /// Whether it ends a sentence and says nothing.
    pub fn is_mark(&self) -> bool {
        matches!(self.lower.as_str(), "?" | "!")
    }
}

/// The words of a text. Letters of every script count; an apostrophe, a hyphen or a point inside joins.
pub fn words(text: &str) -> Vec<Word> {
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::with_capacity(text.len() / 5), 0);
    while at < bytes.len() {
        let end = match bytes[at] {
            byte if byte.is_ascii_digit() => {
                at + run(bytes, at, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b',' | b':' | b'-' | b'/'))
            }
            byte if is_letter(byte) => letters(bytes, at),
            b'?' | b'!' => at + 1,
            _ => {
                at += 1;
                continue;
            }
        };
        let mut last = end;
        while last > at + 1 && matches!(bytes[last - 1], b'.' | b',' | b':' | b'-' | b'/' | b'\'') {
            last -= 1;
        }
        let capital = bytes[at].is_ascii_uppercase();
        out.push(Word { lower: text[at..last].to_lowercase().replace('\u{2019}', "'"), start: at, end: last, capital });
        at = end;
    }
    out
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

fn run(bytes: &[u8], at: usize, class: impl Fn(u8) -> bool) -> usize {
    bytes[at..].iter().take_while(|byte| class(**byte)).count()
}

/// Letters, joined by `'`, `-`, `_` or a point between two of them ("node.js", "prod-eu-west-1", "don't").
fn letters(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at += run(bytes, at, |byte| is_letter(byte) || byte.is_ascii_digit() || byte == b'_');
        let joins = matches!(bytes.get(at), Some(b'\'' | b'-' | b'.' | b'/' | b'+' | b'#'))
            && bytes.get(at + 1).is_some_and(|byte| is_letter(*byte) || byte.is_ascii_digit());
        if !joins {
            // "C++" and "C#" end in their signs.
            return at + run(bytes, at, |byte| byte == b'+' || byte == b'#').min(2);
        }
        at += 1;
    }
}

/// Whether the words hold this run of words somewhere.
pub fn has(words: &[Word], phrase: &str) -> bool {
    (0..words.len()).any(|at| starts(words, at, phrase).is_some())
}

/// Whether a list has a word. Most of a list differs in length or in the first letter, and is not compared.
pub fn among(list: &[&str], word: &str) -> bool {
    let first = word.as_bytes().first();
    list.iter().any(|one| one.len() == word.len() && one.as_bytes().first() == first && *one == word)
}

/// The place behind a run of words that begins at `at`. Most phrases end at their first letter.
pub fn starts(words: &[Word], at: usize, phrase: &str) -> Option<usize> {
    if words.get(at)?.lower.as_bytes().first() != phrase.as_bytes().first() {
        return None;
    }
    let mut here = at;
    for wanted in phrase.split(' ') {
        if words.get(here)?.lower != wanted {
            return None;
        }
        here += 1;
    }
    Some(here)
}

/// The bytes of some words with the signs that stand against them: "-18", "$50", "20 %", "(555) 123", "~/.config". A mark that
/// ends a sentence is none of them, nor is a bracket or a quotation mark without its other half.
pub fn widened(text: &str, start: usize, end: usize) -> (usize, usize) {
    let bytes = text.as_bytes();
    let sign = |byte: &u8| byte.is_ascii_punctuation() && !matches!(byte, b',' | b';' | b':' | b'?' | b'!');
    let (mut from, mut to) = (start, end);
    from -= bytes[..from].iter().rev().take_while(|byte| sign(byte)).count();
    to += bytes[to..].iter().take_while(|byte| sign(byte)).count();
    // "< 5" and "80 %" have a space between.
    let compares = |byte: &u8| matches!(byte, b'<' | b'>' | b'=' | b'~' | b'$' | b'#');
    if from == start && from > 1 && bytes[from - 1] == b' ' && compares(&bytes[from - 2]) {
        from -= 1 + bytes[..from - 1].iter().rev().take_while(|byte| compares(byte)).count();
    }
    if to == end && bytes.get(to) == Some(&b' ') && matches!(bytes.get(to + 1), Some(b'%' | b'$')) {
        to += 2;
    }
    while trim(&bytes[from..to], (start - from, end - from)).is_some_and(|(front, back)| {
        (from, to) = (from + front, to - back);
        front + back > 0
    }) {}
    (from, to)
}

/// How many signs at the two ends of a text say nothing of it. `kept` are the words.
fn trim(text: &[u8], kept: (usize, usize)) -> Option<(usize, usize)> {
    let (front, back) = (kept.0 > 0, kept.1 < text.len());
    let (first, last) = (*text.first()?, *text.last()?);
    let count = |byte: u8| text.iter().map(|one| usize::from(*one == byte)).sum::<usize>();
    let other = |byte: u8| match byte {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b')' => b'(',
        b']' => b'[',
        _ => b'{',
    };
    let alone = |byte: u8| match byte {
        b'"' | b'\'' | b'`' => count(byte) % 2 == 1,
        b'(' | b'[' | b'{' | b')' | b']' | b'}' => count(byte) != count(other(byte)),
        _ => false,
    };
    let pair = matches!((first, last), (b'"', b'"') | (b'\'', b'\'') | (b'`', b'`') | (b'*', b'*') | (b'_', b'_') | (b'(', b')'));
    if front && back && pair {
        return Some((1, 1));
    }
    if back && (matches!(last, b'.' | b'-' | b'(' | b'[' | b'{') || alone(last)) {
        return Some((0, 1));
    }
    let dots = text.starts_with(b"...") || matches!(first, b')' | b']' | b'}' | b'&');
    (front && (dots || alone(first))).then_some((1, 0))
}

/// A sentence of a text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Its first byte.
    pub start: usize,
    /// Behind its last.
    pub end: usize,
}

const ABBREVIATIONS: [&str; 12] = ["mr", "mrs", "ms", "dr", "st", "e.g", "i.e", "vs", "no", "approx", "etc", "inc"];

/// The sentences of a text: they end at `.`, `?`, `!` before white space, and at line breaks.
pub fn sentences(text: &str) -> Vec<Span> {
    let (bytes, mut out, mut start) = (text.as_bytes(), Vec::new(), 0);
    for at in 0..bytes.len() {
        let breaks = match bytes[at] {
            b'\n' => true,
            b'.' | b'?' | b'!' => {
                bytes.get(at + 1).is_none_or(u8::is_ascii_whitespace) && !(bytes[at] == b'.' && is_abbreviation(text, start, at))
            }
            _ => false,
        };
        if breaks {
            push(text, start, at + 1, &mut out);
            start = at + 1;
        }
    }
    push(text, start, bytes.len(), &mut out);
    out
}

fn is_abbreviation(text: &str, start: usize, at: usize) -> bool {
    let word = text[start..at].rsplit(|letter: char| letter.is_whitespace()).next().unwrap_or_default();
    ABBREVIATIONS.contains(&word.to_ascii_lowercase().as_str())
        || (word.len() == 1 && word != "I" && word.as_bytes()[0].is_ascii_alphabetic())
}

fn push(text: &str, start: usize, end: usize, out: &mut Vec<Span>) {
    let piece = &text[start..end];
    let trimmed = piece.trim();
    if trimmed.bytes().any(|byte| byte.is_ascii_alphanumeric() || byte >= 0x80) {
        let start = start + (piece.len() - piece.trim_start().len());
        out.push(Span { start, end: start + trimmed.len() });
    }
}
