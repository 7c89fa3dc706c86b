//! From a text to its chunks, with a fast path for the plain words that most of a text is made of.

use super::chars::{CLOSER, LETTER, OPENER, SPACE, UPPER, is};
use super::fold::normalise;
use super::identifiers;
use super::spans::{Span, Spans};
use super::terms::{Sink, Term};
use super::words::{grams, is_acronym_plural};

/// Terms under construction.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    pub(super) term: Term,
    pub(super) accented: Term,
}

/// Memory that is used again from text to text.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    buffers: Buffers,
    normalised: String,
    no_fast_path: bool,
}

impl Scratch {
    #[cfg(test)]
    pub(super) fn without_fast_path() -> Self {
        Self { no_fast_path: true, ..Self::default() }
    }
}

/// The longest word that the fast path takes.
const LONGEST_SIMPLE_BYTES: usize = 48;

/// Sends the terms of a text to `sink`.
pub(super) fn scan<S: Sink>(text: &str, scratch: &mut Scratch, sink: &mut S) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if is(bytes[at], SPACE) {
            at += 1;
        } else if let Some((word, next)) = simple_word(&bytes[at..]).filter(|_| !scratch.no_fast_path) {
            let term = &mut scratch.buffers.term;
            term.clear();
            term.push_letters(word);
            sink.advance(1);
            sink.word(term);
            at += next;
        } else {
            let end = at + bytes[at..].iter().position(|b| is(*b, SPACE)).unwrap_or(bytes.len() - at);
            chunk(&text[at..end], scratch, sink);
            at = end;
        }
    }
}

/// A plain word of ASCII letters between white space, and where its chunk ends; what it takes must give the same terms as [`chunk`].
#[inline]
fn simple_word(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let start = bytes.iter().take(LONGEST_SIMPLE_BYTES).position(|b| !is(*b, OPENER))?;
    let word = &bytes[start..];
    let letters = word.iter().take(LONGEST_SIMPLE_BYTES + 1).position(|b| !is(*b, LETTER)).unwrap_or(word.len());
    let after = &word[letters..];
    let closers = after.iter().position(|b| !is(*b, CLOSER)).unwrap_or(after.len());
    let ends = after.get(closers).is_none_or(|b| is(*b, SPACE));
    let word = &word[..letters];
    (ends && (1..=LONGEST_SIMPLE_BYTES).contains(&letters) && !has_inner_capitals(word)).then_some((word, start + letters + closers))
}

/// Capitals that are neither the first letter alone nor all letters nor all but a plural's `s`.
fn has_inner_capitals(word: &[u8]) -> bool {
    let inner = word[1..].iter().filter(|b| is(**b, UPPER)).count();
    inner > 0 && !(inner + 1 == word.len() && is(word[0], UPPER)) && !is_acronym_plural(word)
}

/// Any chunk.
fn chunk<S: Sink>(text: &str, scratch: &mut Scratch, sink: &mut S) {
    if text.is_ascii() {
        return runs(text, &mut scratch.buffers, sink);
    }
    normalise(text, &mut scratch.normalised);
    runs(&scratch.normalised, &mut scratch.buffers, sink);
}

fn runs<S: Sink>(chunk: &str, buffers: &mut Buffers, sink: &mut S) {
    for span in Spans::new(chunk) {
        match span {
            Span::Run(range) => identifiers::run(chunk, range.start, range.end, buffers, sink),
            Span::Grams(range) => grams(&chunk[range], &mut buffers.term, sink),
        }
    }
}
