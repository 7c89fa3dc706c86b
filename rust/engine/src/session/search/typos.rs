//! The question with its misspelt words read as what was said: the rules are [`crate::text::typos`], the look-ups are here.
//!
//! A question is a message itself as soon as it was asked. So a word that only messages have which ask is as good as one that nobody wrote.

use super::Asking;
use super::row::{MAX_TOKENS, Row};
use crate::Result;
use crate::embedding::distinct_tokens;
use crate::index::bm25::runs::{Prepared, Snapshot};
use crate::index::bm25::{Parameters, QueryTerm};
use crate::recall::{Corrections, Question};
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::text::typos::{Frequencies, Spelling, repair};
use crate::text::with_analyzer;
use crate::units::term_key::TermKey;

/// A word that more messages have is one. The rows of as many are read. Set.
const MOST_READ: u64 = 8;

/// The words of a scope's messages.
struct Messages<'p, P> {
    pages: &'p P,
    partition: Partition,
    index: &'p Snapshot<'p, P>,
    /// The terms of the question.
    known: &'p Prepared<'p>,
    key: TermKey,
    question: &'p str,
    asking: Asking,
}

impl<P: Pages> Frequencies for Messages<'_, P> {
    fn has_form(&mut self, word: &str) -> Result<bool> {
        let hashes: Vec<u64> = with_analyzer(|analyzer| analyzer.query(word, self.key)).terms.iter().map(|term| term.hash).collect();
        let known = hashes.iter().map(|hash| self.known.frequency(*hash)).collect::<Option<Vec<u64>>>();
        let frequencies = known.map_or_else(|| self.index.frequencies(&hashes), Ok)?;
        match frequencies.into_iter().max().unwrap_or(0) {
            0 => Ok(false),
            1..=MOST_READ => self.is_stated(&hashes),
            _ => Ok(true),
        }
    }

    fn of_spellings(&mut self, words: &[Spelling]) -> Result<Vec<u64>> {
        let hashes: Vec<u64> = words.iter().map(|word| word.hash(self.key)).collect();
        self.index.frequencies(&hashes)
    }
}

impl<P: Pages> Messages<'_, P> {
    /// Whether one of the few messages with a word does more than ask, and is not the question itself.
    fn is_stated(&self, hashes: &[u64]) -> Result<bool> {
        let terms: Vec<QueryTerm> = hashes.iter().map(|&hash| QueryTerm { hash, weight: 1.0 }).collect();
        for hit in self.index.score_all(&terms, Parameters::default())?.hits {
            let states = |row: Row<'_>| row.is_empty != Some(true) && !self.is_itself(&row);
            if Row::expect(self.pages, self.partition, hit.number, states)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether a message is the one that asks, or says the same.
    fn is_itself(&self, row: &Row<'_>) -> bool {
        let Asking::ByMessage(session, index) = self.asking else { return false };
        (row.session, row.index) == (session, index) || *row.tokens == *distinct_tokens(self.question, MAX_TOKENS)
    }
}

/// The question read so, and what changed in it; `None` where nothing did.
pub(super) fn repaired<P: Pages>(
    (pages, partition): (&P, Partition),
    (index, known): (&Snapshot<'_, P>, &Prepared<'_>),
    key: TermKey,
    question: &Question,
    asking: Asking,
) -> Result<Option<(Question, Corrections)>> {
    let mut messages = Messages { pages, partition, index, known, key, question: question.text(), asking };
    let repaired = repair(question.text(), |word| question.is_word(word), &mut messages)?;
    Ok(repaired.map(|repaired| (Question::new(&repaired.text), repaired.changes)))
}
