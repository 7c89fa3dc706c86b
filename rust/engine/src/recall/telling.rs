//! The words by which a statement leads to others of the same thing: "my agent is Tobias Frell" leads by "tobias" to "fired tobias", which
//! the question "do I have an agent?" does not find. They name somebody or say what a text is about, the question lacks them, and few texts
//! have them.
//!
//! Nothing is read into what they lead to: it may say the same, something else, or that it is over.

use std::cmp::Reverse;
use std::sync::Arc;

use super::Question;
use super::closer::name;
use super::ranking::later::{MOST_HAVING, MOST_WORDS};
use super::words::{bare_words, without_s};
use crate::Result;
use crate::embedding;
use crate::text::{is_filler_written, with_analyzer};
use crate::units::clip::clip;
use crate::units::kept::Kept;
use crate::units::term_key::TermKey;

/// The most bytes of a statement in which words are looked for.
const MOST_BYTES: usize = 600;

/// The words of so many texts are kept: 200 KiB at most.
const TEXTS_KEPT: usize = 1 << 10;

/// The most words of a text that are kept: one with hyphens may be several.
const MOST_KEPT: usize = 2 * MOST_WORDS;

/// Bytes of the shortest word that may lead to something.
const SHORTEST: usize = 3;

/// For each statement the documents of a scope that have a telling word of it which others have, too, but few, each with how many of such
/// words it has: those with most first, of equals the newest. `of_rare` has the documents of each of some terms, none of one that more than so many have. Costs an
/// analysis of the telling words.
pub(crate) fn led_to<'s>(
    statements: impl Iterator<Item = &'s str>,
    key: TermKey,
    asked: &Question,
    of_rare: impl FnOnce(&[u64], usize) -> Result<Vec<Vec<u32>>>,
) -> Result<Vec<Vec<(usize, u32)>>> {
    let words: Vec<Vec<u64>> = statements.map(|text| telling(text, key, asked)).collect();
    let mut all: Vec<u64> = words.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    if all.is_empty() {
        return Ok(words.iter().map(|_| Vec::new()).collect());
    }
    let having = of_rare(&all, MOST_HAVING)?;
    let having = |hash: &u64| all.binary_search(hash).map_or(&[][..], |at| &having[at]);
    // One that a single document has leads nowhere: that is mostly the statement itself.
    let rare = |own: &Vec<u64>| own.iter().map(having).filter(|documents| documents.len() > 1).flatten().copied().collect();
    Ok(words.iter().map(|own| most_first(rare(own))).collect())
}

/// The words of a text that the question lacks, and that name somebody or say what it is about.
fn telling(text: &str, key: TermKey, asked: &Question) -> Vec<u64> {
    let known = asked.terms(key);
    let is_asked = |hash: &u64| known.terms.iter().any(|term| term.hash == *hash);
    words(text, key).iter().copied().filter(|hash| !is_asked(hash)).collect()
}

/// The words of a text that name somebody or say what it is about.
pub(super) fn words(text: &str, key: TermKey) -> Arc<[u64]> {
    static KNOWN: Kept<Arc<[u64]>, TEXTS_KEPT, TermKey> = Kept::empty();
    let text = whole_words(text);
    let find = || with_analyzer(|analyzer| analyzer.words(&most_telling(text).join(" "), key)).into();
    KNOWN.of(text, key, find, |words| words.len() <= MOST_KEPT)
}

/// The words of the beginning of a text, the last of them whole: half a word is one that the table does not have.
fn whole_words(text: &str) -> &str {
    let beginning = clip(text, MOST_BYTES);
    let is_cut = text[beginning.len()..].starts_with(|letter: char| !letter.is_whitespace());
    if is_cut { beginning.rsplit_once(char::is_whitespace).map_or(beginning, |(whole, _)| whole) } else { beginning }
}

/// The words of a text that tell most: names, words that the table does not have, and others by what they tell in it.
fn most_telling(text: &str) -> Vec<&str> {
    let telling = |(at, word)| {
        let tells = || name(at, word).map(|_| f64::INFINITY).or_else(|| tells(word));
        if is_filler_written(without_s(word)) { None } else { tells().map(|tells| (tells, word)) }
    };
    let mut words: Vec<(f64, &str)> = bare_words(text).enumerate().filter_map(telling).collect();
    words.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    words.truncate(MOST_WORDS);
    words.into_iter().map(|(_, word)| word).collect()
}

/// How much a word that is not filler says of what a text is about, where it has a letter and says anything. "Don't" says nothing, and
/// "Anna's" what "Anna" does.
fn tells(word: &str) -> Option<f64> {
    let word = without_s(word);
    if word.as_bytes().contains(&b'\'') || !word.is_ascii() && word.contains('\u{2019}') {
        return None;
    }
    let tells = if word.len() >= SHORTEST { embedding::telling(word) } else { None };
    tells.filter(|_| word.chars().any(char::is_alphabetic))
}

/// The place of a text among those that one statement leads to, the least first: most words of it first, of equals the shortest, which is
/// about little else, and then the newest.
pub(crate) fn place(words: usize, length: usize, number: u32) -> (Reverse<usize>, usize, Reverse<u32>) {
    (Reverse(words), length, Reverse(number))
}

/// Each of some documents once, with how often it stands there: the most often first, of equals the newest.
fn most_first(mut numbers: Vec<u32>) -> Vec<(usize, u32)> {
    numbers.sort_unstable();
    let mut counted: Vec<(usize, u32)> = numbers.chunk_by(|one, next| one == next).map(|same| (same.len(), same[0])).collect();
    counted.sort_unstable_by_key(|one| Reverse(*one));
    counted
}
