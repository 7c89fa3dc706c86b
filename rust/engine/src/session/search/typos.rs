//! The question with its misspelt words read as what was said: the rules are [`crate::text::typos`], the look-ups are here.

use crate::Result;
use crate::index::bm25::runs::{Prepared, Snapshot};
use crate::recall::Question;
use crate::store::pages::Pages;
use crate::text::typos::{Frequencies, Spelling, repair};
use crate::text::with_analyzer;
use crate::units::term_key::TermKey;

/// The words of a scope's messages.
struct Messages<'p, P> {
    index: &'p Snapshot<'p, P>,
    /// The terms of the question.
    known: &'p Prepared<'p>,
    key: TermKey,
}

impl<P: Pages> Frequencies for Messages<'_, P> {
    fn has_form(&mut self, word: &str) -> Result<bool> {
        let hashes: Vec<u64> = with_analyzer(|analyzer| analyzer.query(word, self.key)).terms.iter().map(|term| term.hash).collect();
        if let Some(known) = hashes.iter().map(|hash| self.known.frequency(*hash)).sum::<Option<u64>>() {
            return Ok(known > 0);
        }
        Ok(self.index.frequencies(&hashes)?.iter().any(|frequency| *frequency > 0))
    }

    fn of_spellings(&mut self, words: &[Spelling]) -> Result<Vec<u64>> {
        let hashes: Vec<u64> = words.iter().map(|word| word.hash(self.key)).collect();
        self.index.frequencies(&hashes)
    }
}

/// The question read so; `None` where nothing in it changed.
pub(super) fn repaired<P: Pages>(
    (index, known): (&Snapshot<'_, P>, &Prepared<'_>),
    key: TermKey,
    question: &Question,
) -> Result<Option<Question>> {
    let is_word = |word: &str| question.is_word(word);
    Ok(repair(question.text(), is_word, &mut Messages { index, known, key })?.map(|repaired| Question::new(&repaired.text)))
}
