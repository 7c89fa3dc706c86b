//! The question with its misspelt words read as what the scopes have: the rules are [`crate::text::typos`], the look-ups are here.

use super::candidates::Opened;
use super::{Corrections, Question};
use crate::Result;
use crate::store::pages::Pages;
use crate::text::typos::{Frequencies, Spelling, repair};
use crate::text::with_analyzer;

/// The words of the scopes' memories.
struct Memories<'s, 'p, P> {
    question: &'s Question,
    scopes: &'s [Option<Opened<'p, P>>],
}

impl<P: Pages> Frequencies for Memories<'_, '_, P> {
    fn has_form(&mut self, word: &str) -> Result<bool> {
        for Opened { reader, seed, .. } in self.scopes.iter().flatten() {
            // Mostly memories have the very word, and the question knows its hash.
            let own = self.question.hash_of(word, seed.terms);
            if own.map_or(Ok(false), |hash| Ok(reader.frequency(hash)? > 0))? {
                return Ok(true);
            }
            let hashes: Vec<u64> = with_analyzer(|analyzer| analyzer.query(word, seed.terms)).terms.iter().map(|term| term.hash).collect();
            if reader.frequencies(&hashes)?.iter().any(|frequency| *frequency > 0) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn of_spellings(&mut self, words: &[Spelling]) -> Result<Vec<u64>> {
        let mut sums = vec![0; words.len()];
        for Opened { reader, seed, .. } in self.scopes.iter().flatten() {
            let hashes: Vec<u64> = words.iter().map(|word| word.hash(seed.terms)).collect();
            sums.iter_mut().zip(reader.frequencies(&hashes)?).for_each(|(sum, more)| *sum += more);
        }
        Ok(sums)
    }
}

/// The question with other words, and the changes; `None` where there are none.
pub(super) fn repaired<P: Pages>(scopes: &[Option<Opened<'_, P>>], question: &Question) -> Result<Option<(Question, Corrections)>> {
    let repaired = repair(question.text(), |word| question.is_word(word), &mut Memories { question, scopes })?;
    Ok(repaired.map(|repaired| (question.repaired(&repaired.text), repaired.changes)))
}
