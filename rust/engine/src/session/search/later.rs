//! The messages behind a statement that have a word of it which few others have. "do I have an agent?" finds "my agent is Tobias Frell" and
//! not "fired tobias", which was said later. The name that the statement has and the question lacks leads from the one to the other.
//!
//! Nothing is read into it: a later message may say the same, something else, or that it is over.

use std::cmp::Reverse;

use super::Found;
use super::rank::glance;
use super::row::Row;
use crate::Result;
use crate::embedding;
use crate::index::bm25::runs::Runs;
use crate::index::bm25::{Hit, Parameters, QueryTerm};
use crate::recall::ranking::later::{MOST_HAVING, MOST_OF_ONE, MOST_READ};
use crate::recall::{self, in_small_letters};
use crate::scope::Scope;
use crate::session::key::SessionKey;
use crate::session::transcript::words::index;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::text::{QueryTerm as QueryWord, Role, is_filler, with_analyzer};
use crate::units::clip::clip;
use crate::units::term_key::TermKey;

/// The most bytes of a statement in which words are looked for.
const MOST_BYTES: usize = 600;

/// Bytes of the shortest word that may lead to something.
const SHORTEST: usize = 3;

/// A statement that was found.
pub(in crate::session) struct Statement<'s> {
    pub text: &'s str,
    /// When it was made, in microseconds since 1970.
    pub at: i64,
}

/// For each statement the messages that others than the model said later and that share a rare word with it which the question lacks: those
/// with most of such words first, of equals the newest. Costs an analysis of the telling words of all statements, a look-up for each, and
/// the rows of some documents.
pub(in crate::session) fn later<P: Pages>(
    pages: &P,
    (scope, partition): (&Scope, Partition),
    asked: &recall::Question,
    statements: &[Statement<'_>],
) -> Result<Vec<Vec<Found>>> {
    let key = scope.seed(pages.secret()).terms;
    let words: Vec<Vec<u64>> = statements.iter().map(|one| telling(one.text, key, asked)).collect();
    let mut all: Vec<u64> = words.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let runs = Runs::open(pages, index(partition))?;
    let snapshot = runs.snapshot(pages)?;
    let terms: Vec<QueryTerm> = all.into_iter().map(|hash| QueryTerm { hash, weight: 1.0 }).collect();
    let prepared = snapshot.prepare(&terms, Parameters::default())?;
    let is_rare = |hash: u64| prepared.frequency(hash).is_some_and(|frequency| (2..=MOST_HAVING).contains(&frequency));
    let of = |(one, own): (&Statement<'_>, &Vec<u64>)| {
        let rare: Vec<u64> = own.iter().copied().filter(|hash| is_rare(*hash)).collect();
        let hits = if rare.is_empty() { Vec::new() } else { snapshot.score(&prepared, |hash| rare.contains(&hash))? };
        behind(pages, partition, hits, one.at)
    };
    statements.iter().zip(&words).map(of).collect()
}

/// The words of a text that the question lacks, and that name somebody or say what it is about.
fn telling(text: &str, key: TermKey, asked: &recall::Question) -> Vec<u64> {
    let text = clip(text, MOST_BYTES);
    let names = recall::names(text);
    let bare = text.split_whitespace().map(|word| word.trim_matches(|letter: char| !letter.is_alphanumeric()));
    let words: Vec<&str> = bare.filter(|word| names.iter().any(|name| word.starts_with(name)) || is_telling(word)).collect();
    let (query, known) = (with_analyzer(|analyzer| analyzer.query(&words.join(" "), key)), asked.terms(key));
    let is_asked = |hash: u64| known.terms.iter().any(|term| term.hash == hash);
    let is_word = |term: &QueryWord| matches!(term.role, Role::Whole | Role::Word) && !is_asked(term.hash);
    query.terms.iter().filter(|term| is_word(term)).map(|term| term.hash).collect()
}

/// Whether a word says what a text is about: it has a letter, and the table has it as one that tells, or not at all.
fn is_telling(word: &str) -> bool {
    let may_tell = word.len() >= SHORTEST && word.chars().any(char::is_alphabetic);
    may_tell && !in_small_letters(word, is_filler) && embedding::is_telling(word)
}

/// Those of some documents that state something and were said later than a time.
fn behind<P: Pages>(pages: &P, partition: Partition, mut hits: Vec<Hit>, at: i64) -> Result<Vec<Found>> {
    let mut found = Vec::new();
    hits.sort_unstable_by_key(|hit| Reverse((hit.score, hit.number)));
    for hit in hits.into_iter().take(MOST_READ) {
        let row = Row::expect(pages, partition, hit.number)?;
        let place = SessionKey { partition, session: row.session };
        let states = row.by_model == Some(false) && row.is_empty == Some(false) && !row.is_courtesy && !row.asks;
        if states && row.at.is_some_and(|then| then > at) && glance(pages, place, &[])?.is_visible {
            found.push(Found::of(place, row.index, hit.number));
        }
        if found.len() == MOST_OF_ONE {
            break;
        }
    }
    Ok(found)
}
