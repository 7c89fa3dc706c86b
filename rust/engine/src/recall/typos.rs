//! The question with its misspelt words read as what the scopes have: the rules are [`crate::text::typos`], the look-ups are here.

use super::Question;
use crate::Result;
use crate::index::bm25::{IndexId, Reader};
use crate::memory::MEMORIES;
use crate::scope::Scope;
use crate::store::pages::Pages;
use crate::text::typos::{Frequencies, repair};
use crate::text::{TermClass, term_hash, with_analyzer};
use crate::units::term_key::TermKey;

/// What the memories of the scopes have: their readers, each with the seed of its hashes. Most questions have no word to look up, so
/// nothing is opened before the first.
struct Memories<'p, P> {
    pages: &'p P,
    scopes: &'p [Scope],
    open: Option<Vec<(Reader<'p, P>, TermKey)>>,
}

impl<'p, P: Pages> Memories<'p, P> {
    fn readers(&mut self) -> Result<&[(Reader<'p, P>, TermKey)]> {
        if self.open.is_none() {
            self.open = Some(self.scopes.iter().filter_map(|scope| self.reader(scope).transpose()).collect::<Result<_>>()?);
        }
        Ok(self.open.as_deref().unwrap_or_default())
    }

    fn reader(&self, scope: &Scope) -> Result<Option<(Reader<'p, P>, TermKey)>> {
        let Some(partition) = scope.find(self.pages)? else { return Ok(None) };
        let reader = Reader::open(self.pages, IndexId { partition, index: MEMORIES })?;
        Ok(Some((reader, scope.seed(self.pages.secret()).terms)))
    }
}

impl<P: Pages> Frequencies for Memories<'_, P> {
    fn of_forms(&mut self, word: &str) -> Result<u64> {
        let mut sum = 0;
        for (reader, seed) in self.readers()? {
            let hashes: Vec<u64> = with_analyzer(|analyzer| analyzer.query(word, *seed)).terms.iter().map(|term| term.hash).collect();
            sum += reader.frequencies(&hashes)?.iter().sum::<u64>();
        }
        Ok(sum)
    }

    fn of_spellings(&mut self, words: &[String]) -> Result<Vec<u64>> {
        let mut sums = vec![0; words.len()];
        for (reader, seed) in self.readers()? {
            let hashes: Vec<u64> = words.iter().map(|word| term_hash(TermClass::Word, word, *seed)).collect();
            sums.iter_mut().zip(reader.frequencies(&hashes)?).for_each(|(sum, more)| *sum += more);
        }
        Ok(sums)
    }
}

/// What was written and what it was read as, in order.
type Changes = Vec<(String, String)>;

/// The question with other words, and what was changed in it; `None` where nothing was.
pub(super) fn repaired<P: Pages>(pages: &P, scopes: &[Scope], question: &Question) -> Result<Option<(Question, Changes)>> {
    let repaired = repair(question.text(), |word| question.is_word(word), &mut Memories { pages, scopes, open: None })?;
    Ok(repaired.map(|repaired| (Question::new(&repaired.text), repaired.changes)))
}
