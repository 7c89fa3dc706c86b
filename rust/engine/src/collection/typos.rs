//! The question with its misspelt words read as what the collections have: the rules are [`crate::text::typos`], the look-ups are here.

use std::cell::OnceCell;

use super::name::CollectionName;
use super::{Head, writer};
use crate::Result;
use crate::index::bm25::runs::{Runs, Snapshot};
use crate::recall::{Corrections, Question};
use crate::store::pages::Pages;
use crate::text::typos::{Frequencies, Spelling, repair};
use crate::text::with_analyzer;
use crate::units::term_key::TermKey;

/// The words of some collections. Their indexes are opened for the first word that is looked up: most questions have none.
struct Chunks<'p, P> {
    pages: &'p P,
    collections: &'p [CollectionName],
    question: &'p Question,
    runs: &'p OnceCell<Vec<(Runs, TermKey)>>,
    /// Each with the key of its terms.
    indexes: Vec<(Snapshot<'p, P>, TermKey)>,
}

impl<P: Pages> Chunks<'_, P> {
    fn open(&mut self) -> Result<()> {
        if self.runs.get().is_some() {
            return Ok(());
        }
        let mut opened = Vec::with_capacity(self.collections.len());
        for name in self.collections {
            if let Some(partition) = name.find(self.pages)? {
                let seed = Head::read(self.pages, partition)?.seed(name.seed(self.pages.secret()));
                opened.push((Runs::open(self.pages, writer::index(partition))?, seed.terms));
            }
        }
        let snapshots = self.runs.get_or_init(|| opened).iter().map(|(runs, key)| Ok((runs.snapshot(self.pages)?, *key)));
        self.indexes = snapshots.collect::<Result<_>>()?;
        Ok(())
    }
}

impl<P: Pages> Frequencies for Chunks<'_, P> {
    fn has_form(&mut self, word: &str) -> Result<bool> {
        self.open()?;
        for (index, key) in &self.indexes {
            let hashes: Vec<u64> = with_analyzer(|analyzer| analyzer.query(word, *key)).terms.iter().map(|term| term.hash).collect();
            if index.frequencies(&hashes)?.iter().any(|frequency| *frequency > 0) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn of_spellings(&mut self, words: &[Spelling]) -> Result<Vec<u64>> {
        let mut sums = vec![0; words.len()];
        for (index, key) in &self.indexes {
            // Spellings have one stem, and so one hash, quite often.
            let hashes: Vec<u64> = words.iter().map(|word| word.hash(*key)).collect();
            let mut each = hashes.clone();
            each.sort_unstable();
            each.dedup();
            let frequencies = index.frequencies(&each)?;
            for (sum, hash) in sums.iter_mut().zip(hashes) {
                *sum += each.binary_search(&hash).map_or(0, |at| frequencies[at]);
            }
        }
        // Such spellings are in as many chunks: the one that is a word of the language is meant.
        for (sum, word) in sums.iter_mut().zip(words).filter(|(sum, _)| **sum > 0) {
            *sum = 2 * *sum + u64::from(self.question.is_word(word.as_str()));
        }
        Ok(sums)
    }
}

/// The question in other words, where one is misspelt that no chunk of the collections has, and what changed in it.
pub(crate) fn repaired<P: Pages>(
    pages: &P,
    collections: &[CollectionName],
    question: &Question,
) -> Result<Option<(Question, Corrections)>> {
    let runs = OnceCell::new();
    let mut chunks = Chunks { pages, collections, question, runs: &runs, indexes: Vec::new() };
    let repaired = repair(question.text(), |word| question.is_word(word), &mut chunks)?;
    Ok(repaired.map(|repaired| (Question::new(&repaired.text), repaired.changes)))
}
