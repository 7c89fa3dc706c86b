//! First sight: what the indexes alone say of every document, and which of them are worth reading.
//!
//! One number per document and index, in arrays by document number, so that the words of the messages beside one cost nothing to look
//! up. Two documents whose numbers follow each other need not be of one session: at first sight that is not asked.

use std::cell::Cell;
use std::cmp::Reverse;
use std::ops::Range;

use super::question::{Meaning, Question};
use crate::Result;
use crate::index::bm25::runs::Snapshot;
use crate::index::bm25::{Hit, Parameters, QueryTerm};
use crate::index::vectors::{Scores, VectorSet};
use crate::recall::ranking::{self, Sight, WINDOW};
use crate::store::pages::Pages;

const COSINE_ONE: f64 = (1 << 30) as f64;
const NEAR: i32 = (ranking::NEAR * COSINE_ONE) as i32;

thread_local! {
    /// Arrays and scores of the last search of this thread.
    static SPARE: Cell<Option<Box<(Arrays, Scores)>>> = const { Cell::new(None) };
}

/// By document number.
#[derive(Default)]
struct Arrays {
    own: Vec<i64>,
    names: Vec<i64>,
    cosines: Vec<i32>,
}

/// What the indexes say of every document.
pub(super) struct Field {
    kept: Box<(Arrays, Scores)>,
    best_own: f64,
    best_words: f64,
    best_window: f64,
    /// Documents that hold all identifiers of the question, ascending.
    identified: Vec<u32>,
    /// Documents that were said when the question asks about.
    pub dated: Dated,
}

/// Ranges of documents by the time that a question asks about; empty where it asks about none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Dated {
    pub within: Range<u32>,
    pub behind: Range<u32>,
}

impl Field {
    /// Of documents up to number `last`.
    pub fn new(last: u32) -> Self {
        let mut kept = SPARE.take().unwrap_or_default();
        let (arrays, size) = (&mut kept.0, last as usize + 1);
        for array in [&mut arrays.own, &mut arrays.names] {
            array.clear();
            array.resize(size, 0);
        }
        arrays.cosines.clear();
        arrays.cosines.resize(size, 0);
        Self { kept, best_own: 1.0, best_words: 1.0, best_window: 1.0, identified: Vec::new(), dated: Dated::default() }
    }

    pub fn last(&self) -> u32 {
        (self.kept.0.own.len() - 1) as u32
    }

    /// Enters the words of all documents; the best of them by all words, best first.
    pub fn enter_words(&mut self, hits: &[Hit], best: usize) -> Vec<u32> {
        let own = &mut self.kept.0.own;
        for hit in hits {
            if let Some(own) = own.get_mut(hit.number as usize) {
                *own = hit.score;
            }
        }
        let mut first: Vec<(i64, u32)> = hits.iter().map(|hit| (hit.score, hit.number)).collect();
        if first.len() > best {
            first.select_nth_unstable_by_key(best, |one| Reverse(*one));
            first.truncate(best);
        }
        first.sort_unstable_by_key(|one| Reverse(*one));
        self.best_words = first.first().map_or(1.0, |one| one.0 as f64);
        first.into_iter().map(|one| one.1).collect()
    }

    /// Takes the words that are names out of a document's own, unless the question has no others.
    pub fn enter_names(&mut self, hits: &[Hit], only_names: bool) {
        let Arrays { own, names, .. } = &mut self.kept.0;
        for hit in hits {
            let at = hit.number as usize;
            if at < own.len() {
                names[at] = hit.score;
                own[at] -= if only_names { 0 } else { hit.score };
            }
        }
    }

    /// What the best of all documents have, once all words are entered.
    pub fn settle(&mut self, only_names: bool) {
        let Arrays { own, names, .. } = &mut self.kept.0;
        if only_names {
            names.fill(0);
        }
        let best = |of: i64| of.max(1) as f64;
        self.best_own = best(own.iter().copied().max().unwrap_or(0));
        let window = (0..own.len()).map(|at| window(own, at)).max();
        self.best_window = best(window.unwrap_or(0));
    }

    /// Enters the cosines of all documents.
    pub fn scan<P: Pages>(&mut self, pages: &P, vectors: &VectorSet, meaning: &Meaning) -> Result<()> {
        let (arrays, scores) = &mut *self.kept;
        if let Some(vector) = &meaning.vector {
            vectors.scan(pages, vector, scores)?;
            for near in scores.iter() {
                if let Some(cosine) = arrays.cosines.get_mut(near.number as usize) {
                    *cosine = near.score.max(0);
                }
            }
        }
        Ok(())
    }

    /// Finds the documents that hold all identifiers of the question.
    pub fn identify<P: Pages>(&mut self, index: &Snapshot<'_, P>, question: &Question) -> Result<()> {
        for (at, &hash) in question.identifiers.iter().enumerate() {
            let hits = index.score_all(&[QueryTerm { hash, weight: 1.0 }], Parameters::default())?.hits;
            let mut numbers: Vec<u32> = hits.iter().map(|hit| hit.number).collect();
            numbers.sort_unstable();
            if at > 0 {
                numbers.retain(|number| self.identified.binary_search(number).is_ok());
            }
            self.identified = numbers;
        }
        Ok(())
    }

    /// The words of a document that name nobody; the best document's are 1.
    pub fn own(&self, number: u32) -> f64 {
        self.kept.0.own.get(number as usize).map_or(0.0, |own| *own as f64 / self.best_own)
    }

    /// All its words.
    pub fn words(&self, number: u32) -> f64 {
        let at = number as usize;
        let arrays = &self.kept.0;
        if at < arrays.own.len() { (arrays.own[at] + arrays.names[at]) as f64 / self.best_words } else { 0.0 }
    }

    /// Its words and a share of those beside it.
    pub fn window(&self, number: u32) -> f64 {
        let own = &self.kept.0.own;
        if (number as usize) < own.len() { window(own, number as usize) as f64 / self.best_window } else { 0.0 }
    }

    /// Whether it has the name of somebody whom the question names.
    pub fn has_name(&self, number: u32) -> bool {
        self.kept.0.names.get(number as usize).is_some_and(|names| *names > 0)
    }

    /// Its cosine with the question, 0 where that is negative.
    pub fn cosine(&self, number: u32) -> f64 {
        self.kept.0.cosines.get(number as usize).map_or(0.0, |cosine| f64::from(*cosine) / COSINE_ONE)
    }

    pub fn is_identified(&self, number: u32) -> bool {
        self.identified.binary_search(&number).is_ok()
    }

    /// Whether it has a word of the question, stands close to a message that has one, or is near its meaning. Of one session or not is not asked.
    fn may_be_hit(&self, number: u32) -> bool {
        let (first, last) = (number.saturating_sub(ranking::BESIDE), number.saturating_add(ranking::BESIDE).min(self.last()));
        let Arrays { own, names, .. } = &self.kept.0;
        self.is_near(number) || (first as usize..=last as usize).any(|at| own[at] + names[at] > 0)
    }

    /// Whether its vector is near the question's.
    pub fn is_near(&self, number: u32) -> bool {
        self.kept.0.cosines.get(number as usize).is_some_and(|cosine| *cosine >= NEAR)
    }

    /// What speaks for a document before it is read, in units of 2^-30.
    fn sight(&self, number: u32) -> i64 {
        let own = |number: Option<u32>| number.map_or(0.0, |number| self.own(number));
        let is = |is: bool| f64::from(u8::from(is));
        let sight = Sight {
            words: self.words(number),
            window: self.window(number),
            meaning: self.cosine(number),
            name: is(self.has_name(number)),
            before_two: own(number.checked_sub(2)),
            after_two: own(number.checked_add(2)),
            within: is(self.dated.within.contains(&number)),
            behind: is(self.dated.behind.contains(&number)),
            identified: is(self.is_identified(number)),
        };
        sight.fixed()
    }

    /// The most promising documents, best first, of equals the newest; and whether there are no others.
    pub fn promising(&self, most: usize) -> (Vec<u32>, bool) {
        let mut best: Vec<(i64, u32)> = Vec::with_capacity(2 * most.min(1 << 16));
        let (mut bar, mut all) = ((i64::MIN, 0), true);
        for number in (1..=self.last()).filter(|number| self.may_be_hit(*number)) {
            let one = (self.sight(number), number);
            if one <= bar {
                continue;
            }
            best.push(one);
            if best.len() >= most.saturating_mul(2) {
                best.select_nth_unstable_by_key(most, |one| Reverse(*one));
                best.truncate(most);
                (bar, all) = (best.iter().copied().min().unwrap_or(bar), false);
            }
        }
        best.sort_unstable_by_key(|one| Reverse(*one));
        all &= best.len() <= most;
        best.truncate(most);
        (best.into_iter().map(|one| one.1).collect(), all)
    }
}

impl Drop for Field {
    fn drop(&mut self) {
        SPARE.set(Some(std::mem::take(&mut self.kept)));
    }
}

/// The words of a document and a share of those beside it. Document 0 has none.
fn window(own: &[i64], at: usize) -> i64 {
    let beside = |at: Option<usize>| at.and_then(|at| own.get(at)).copied().unwrap_or(0);
    let [of_own, of_before, of_after] = WINDOW;
    of_own * own[at] + of_before * beside(at.checked_sub(1)) + of_after * beside(Some(at + 1))
}
