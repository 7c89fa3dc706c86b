//! The question with its misspelt words read as what the scopes have: the rules are [`crate::text::typos`], the look-ups are here.

use super::Request;
use crate::Result;
use crate::embedding::has_word;
use crate::index::bm25::{IndexId, Reader};
use crate::memory::{Core, MEMORIES};
use crate::store::pages::Pages;
use crate::text::typos::{Frequencies, repair};
use crate::text::{TermClass, term_hash, with_analyzer};

/// What the memories of the scopes have: their readers, each with the seed of its hashes.
struct Memories<'p, P>(Vec<(Reader<'p, P>, u64)>);

impl<P: Pages> Frequencies for Memories<'_, P> {
    fn of_forms(&mut self, word: &str) -> Result<u64> {
        let mut sum = 0;
        for (reader, seed) in &self.0 {
            let hashes: Vec<u64> = with_analyzer(|analyzer| analyzer.query(word, *seed)).terms.iter().map(|term| term.hash).collect();
            sum += reader.frequencies(&hashes)?.iter().sum::<u64>();
        }
        Ok(sum)
    }

    fn of_spellings(&mut self, words: &[String]) -> Result<Vec<u64>> {
        let mut sums = vec![0; words.len()];
        for (reader, seed) in &self.0 {
            let hashes: Vec<u64> = words.iter().map(|word| term_hash(TermClass::Word, word, *seed)).collect();
            sums.iter_mut().zip(reader.frequencies(&hashes)?).for_each(|(sum, more)| *sum += more);
        }
        Ok(sums)
    }
}

/// What was written and what it was read as, in order.
type Changes = Vec<(String, String)>;

/// The request with another question, and what was changed in it; `None` where nothing was.
pub(super) fn repaired<P: Pages>(engine: &Core, pages: &P, request: &Request) -> Result<Option<(Request, Changes)>> {
    let mut memories = Vec::new();
    for scope in &request.scopes {
        let Some(partition) = scope.find(pages)? else { continue };
        memories.push((Reader::open(pages, IndexId { partition, index: MEMORIES })?, scope.seed(pages.secret()).terms));
    }
    let repaired = repair(&request.text, has_word, &mut Memories(memories))?;
    // The vector of a caller's own embedder stays as it was made; that of the built-in one is made anew.
    let vector = if super::is_built_in(engine) { None } else { request.vector.clone() };
    Ok(repaired.map(|repaired| (Request { text: repaired.text, vector, ..request.clone() }, repaired.changes)))
}
