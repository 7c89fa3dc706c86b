//! Plain words, and text that is cut into bigrams.

use unicode_normalization::char::is_combining_mark;

use super::chars::{LETTER, LOWER, UPPER, is};
use super::fold::{fold, fold_accented};
use super::scan::Buffers;
use super::terms::{Role, Sink, Term, TermClass};
use crate::interrupt::Steps;

/// The word without what English and Romance languages hang on it: `user's`, `we'll` -> `user`, `we`; `l'école` -> `école`.
/// Other apostrophes are dropped by folding: `don't` -> `dont`, `O'Brien` -> `obrien`.
pub(super) fn without_clitics(run: &str) -> &str {
    const ENDINGS: [&str; 6] = ["s", "ll", "re", "ve", "d", "m"];
    const ELISIONS: [&str; 14] = ["l", "d", "j", "m", "t", "s", "n", "c", "qu", "un", "dell", "nell", "all", "sull"];
    if !run.as_bytes().contains(&b'\'') {
        return run;
    }
    let run = match run.rsplit_once('\'') {
        Some((word, ending)) if ENDINGS.iter().any(|e| e.eq_ignore_ascii_case(ending)) => word,
        _ => run,
    };
    match run.split_once('\'') {
        Some((article, word)) if ELISIONS.iter().any(|e| e.eq_ignore_ascii_case(article)) => word,
        _ => run,
    }
}

/// `e.g`, `U.S.A`: single letters with dots between them are one word.
pub(super) fn is_abbreviation(run: &str) -> bool {
    let bytes = run.as_bytes();
    bytes.len() % 2 == 1 && bytes.iter().enumerate().all(|(i, b)| if i % 2 == 0 { is(*b, LETTER) } else { *b == b'.' })
}

/// `APIs`, `PRs`, `URLs`: a plural, not camelCase.
pub(super) fn is_acronym_plural(word: &[u8]) -> bool {
    word.len() > 2 && word.ends_with(b"s") && word[..word.len() - 1].iter().all(|b| is(*b, UPPER))
}

/// One plain word: its term, its stem, its accented form.
pub(super) fn word<S: Sink>(word: &str, buffers: &mut Buffers, sink: &mut S) {
    let term = &mut buffers.term;
    term.clear();
    fold(word, term);
    if term.bytes().is_empty() {
        return; // a lone mark
    }
    sink.advance(1);
    accented(word, term, &mut buffers.accented, sink);
    sink.word(term);
}

/// The accented form as a term of its own, if there is one. `term` is the word without accents.
pub(super) fn accented<S: Sink>(word: &str, term: &Term, scratch: &mut Term, sink: &mut S) {
    if word.is_ascii() {
        return;
    }
    scratch.clear();
    fold_accented(word, scratch);
    if scratch.bytes() != term.bytes() {
        sink.term(Role::Accent, TermClass::Accent, scratch);
    }
}

/// Abbreviations lose their dots.
pub(super) fn abbreviation<S: Sink>(run: &str, term: &mut Term, sink: &mut S) {
    term.clear();
    term.push_letters(run.as_bytes());
    term.rewrite(|_, byte| is(byte, LOWER).then_some(byte));
    sink.advance(1);
    sink.word(term);
}

/// Every two neighbouring characters; single ones in documents, and where a query has just one. A character takes its marks along.
pub(super) fn grams<S: Sink>(text: &str, term: &mut Term, sink: &mut S) {
    let mut before: Option<&str> = None;
    let (mut rest, mut steps) = (text, Steps::default());
    while !rest.is_empty() {
        steps.reach(text.len() - rest.len());
        let unit = first_unit(rest);
        rest = &rest[unit.len()..];
        sink.advance(1);
        if S::SINGLES || (before.is_none() && rest.is_empty()) {
            gram(&[unit], term, sink);
        }
        if let Some(before) = before {
            gram(&[before, unit], term, sink);
        }
        before = Some(unit);
    }
}

fn first_unit(text: &str) -> &str {
    let end = text.char_indices().skip(1).find(|(_, c)| !is_combining_mark(*c)).map_or(text.len(), |(at, _)| at);
    &text[..end]
}

fn gram<S: Sink>(units: &[&str], term: &mut Term, sink: &mut S) {
    term.clear();
    for unit in units {
        term.push(unit.as_bytes());
    }
    sink.term(Role::Gram, TermClass::Gram, term);
}
