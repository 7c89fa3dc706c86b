//! From a text to its chunks, with a fast path for the plain words that most of a text is made of.

use super::chars::{CLOSER, LETTER, OPENER, SPACE, UPPER, is};
use super::fold::normalise;
use super::identifiers;
use super::spans::{Span, Spans};
use super::terms::{Sink, Term};
use super::words::{grams, is_acronym_plural};
use crate::interrupt::Steps;

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
    let (bytes, mut steps) = (text.as_bytes(), Steps::default());
    let mut at = 0;
    while at < bytes.len() {
        steps.reach(at);
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
pub(super) fn simple_word(bytes: &[u8]) -> Option<(&[u8], usize)> {
    let start = end_of(bytes, 0, OPENER);
    let (mut at, mut capitals) = (start, 0);
    while at < bytes.len() && is(bytes[at], LETTER) {
        capitals += usize::from(is(bytes[at], UPPER));
        at += 1;
    }
    let word = &bytes[start..at];
    let end = end_of(bytes, at, CLOSER);
    let ends = end == bytes.len() || is(bytes[end], SPACE);
    let simple = ends && (1..=LONGEST_SIMPLE_BYTES).contains(&word.len());
    (simple && !has_inner_capitals(word, capitals)).then_some((word, end))
}

#[inline]
fn end_of(bytes: &[u8], mut at: usize, flags: u8) -> usize {
    while at < bytes.len() && is(bytes[at], flags) {
        at += 1;
    }
    at
}

/// Capitals that are neither the first letter alone nor all letters nor all but a plural's `s`.
#[inline]
fn has_inner_capitals(word: &[u8], capitals: usize) -> bool {
    capitals > usize::from(is(word[0], UPPER)) && capitals < word.len() && !is_acronym_plural(word)
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
    let mut steps = Steps::default();
    for span in Spans::new(chunk) {
        match span {
            Span::Run(range) => {
                steps.reach(range.end);
                identifiers::run(chunk, range.start, range.end, buffers, sink);
            }
            Span::Grams(range) => grams(&chunk[range], &mut buffers.term, sink),
        }
    }
}
