//! First sight: what the indexes alone say of every document, and which of them are worth reading.
//!
//! One number per document and index, in arrays by document number, so that the words of the messages beside one cost nothing to look
//! up. Two documents whose numbers follow each other need not be of one session: at first sight that is not asked.
//!
//! The exact sums are reckoned for the few that can be among the best: an estimate in single precision, of many documents at once, passes
//! over those that cannot, so that nothing is lost by it.

mod reach;
mod wide;

use std::cell::Cell;
use std::cmp::Reverse;
use std::ops::Range;

use super::dated::Dated;
use super::question::Question;
use crate::Result;
use crate::index::bm25::Hit;
use crate::index::bm25::runs::{Prepared, Snapshot};
use crate::index::vectors::{Scored, Scores};
use crate::recall::ranking::{self, SIGHT, Sight, WINDOW};
use crate::store::pages::Pages;

const COSINE_ONE: f64 = (1 << 30) as f64;
/// Documents that are estimated at once.
const CHUNK: usize = 64;
/// Places before and behind the words of all documents, so that each has two on either side.
const PAD: usize = 2;
/// More than an estimate of a sum of a few dozens can be wrong by.
const SLACK: f32 = 1e-3;

thread_local! {
    /// Arrays and scores of the last search of this thread.
    static SPARE: Cell<Option<Box<(Arrays, Scores)>>> = const { Cell::new(None) };
}

/// By document number.
#[derive(Default)]
struct Arrays {
    own: Vec<i64>,
    /// Empty where the question names nobody who speaks.
    names: Vec<i64>,
    cosines: Vec<i32>,
    /// `own` and `names` again, the first behind [`PAD`] places, and all of whole chunks.
    near_own: Vec<f32>,
    near_names: Vec<f32>,
    /// An estimate of the score of each document without its vector, in whole chunks, and the highest of each chunk.
    words: Vec<f32>,
    peaks: Vec<f32>,
    /// Room for the scores of some documents.
    some: Vec<Scored>,
}

/// A cosine in units of 2^-30.
fn units_of(cosine: f64) -> i32 {
    (cosine * COSINE_ONE) as i32
}

/// The figures of every document from the indexes.
pub(super) struct Field {
    kept: Box<(Arrays, Scores)>,
    best_own: f64,
    best_words: f64,
    best_window: f64,
    /// Whether the cosines of all documents are entered.
    is_scanned: bool,
    /// Documents that hold all identifiers of the question, ascending.
    identified: Vec<u32>,
    /// Those that hold one that says what it is about, which a time does not; `None` where there is none.
    of_it: Option<Vec<u32>>,
    /// Documents that are never among the best: a bit for each of a chunk; empty where there are none.
    left_out: Vec<u64>,
    /// Documents that were said when the question asks about.
    pub dated: Dated,
    /// From this cosine on a document is near the question's meaning, in units of 2^-30.
    near: i32,
}

impl Field {
    /// Of documents up to number `last`.
    pub fn new(last: u32) -> Self {
        let mut kept = SPARE.take().unwrap_or_default();
        let (arrays, size) = (&mut kept.0, last as usize + 1);
        emptied(&mut arrays.own, size);
        emptied(&mut arrays.near_own, size + CHUNK + 2 * PAD);
        emptied(&mut arrays.cosines, size + CHUNK);
        arrays.names.clear();
        arrays.near_names.clear();
        arrays.words.clear();
        arrays.peaks.clear();
        Self {
            kept,
            best_own: 1.0,
            best_words: 1.0,
            best_window: 1.0,
            is_scanned: false,
            identified: Vec::new(),
            of_it: None,
            left_out: Vec::new(),
            dated: Dated::default(),
            near: units_of(ranking::NEAR),
        }
    }

    pub fn last(&self) -> u32 {
        (self.kept.0.own.len() - 1) as u32
    }

    /// Enters the words of all documents, as `score` gives them: the number of the first of some documents, and the score of each. The best
    /// of them by all words, best first.
    pub fn enter_words(&mut self, score: impl FnOnce(&mut dyn FnMut(u32, &[i64])) -> Result<()>, best: usize) -> Result<Vec<u32>> {
        let Arrays { own, near_own, .. } = &mut self.kept.0;
        let mut first = Best::new(best);
        score(&mut |number, scores| {
            let from = own.len().min(number as usize);
            let (own, near) = (&mut own[from..], &mut near_own[from + PAD..]);
            // Documents come in groups, but for single ones and the last.
            let reaches = if let (Ok(scores), Some(own), Some(near)) = (scores.try_into(), own.first_chunk_mut(), near.first_chunk_mut()) {
                wide::enter(scores, first.bar.0, own, near)
            } else {
                for ((own, near), score) in own.iter_mut().zip(near).zip(scores) {
                    (*own, *near) = (*score, *score as f32);
                }
                scores.iter().any(|score| *score >= first.bar.0)
            };
            if reaches {
                for (number, &score) in (number..).zip(scores).filter(|(_, score)| **score > 0) {
                    first.offer((score, number));
                }
            }
        })?;
        let first = first.in_order();
        self.best_words = first.first().map_or(1.0, |one| one.0 as f64);
        Ok(first.into_iter().map(|one| one.1).collect())
    }

    /// Takes the words that are names out of a document's own.
    pub fn enter_names(&mut self, hits: &[Hit]) {
        let Arrays { own, names, near_own, near_names, .. } = &mut self.kept.0;
        emptied(names, own.len());
        emptied(near_names, own.len() + CHUNK);
        for hit in hits {
            let at = hit.number as usize;
            if at < own.len() {
                names[at] = hit.score;
                near_names[at] = hit.score as f32;
                own[at] -= hit.score;
                near_own[at + PAD] = own[at] as f32;
            }
        }
    }

    /// Finds the highest scores of all documents, once all words are entered.
    pub fn settle(&mut self) {
        let Arrays { own, near_own, .. } = &self.kept.0;
        let may_exceed = |highest: f32, most: i64| f64::from(highest) * (1.0 + f64::from(SLACK)) >= most as f64;
        let (mut most_own, mut most_window) = (1, 1);
        for first in (0..own.len()).step_by(CHUNK) {
            let Some(near) = near_own[first + PAD - 1..].first_chunk() else { break };
            let (highest_own, highest_window) = wide::highest_of_words(near);
            let chunk = || first..own.len().min(first + CHUNK);
            if may_exceed(highest_own, most_own) {
                most_own = chunk().map(|at| own[at]).fold(most_own, i64::max);
            }
            if may_exceed(highest_window, most_window) {
                most_window = chunk().map(|at| window(own, at)).fold(most_window, i64::max);
            }
        }
        (self.best_own, self.best_window) = (most_own as f64, most_window as f64);
    }

    /// Finds the documents that hold all identifiers of the question.
    pub fn identify<P: Pages>(&mut self, (index, terms): (&Snapshot<'_, P>, &Prepared<'_>), question: &Question<'_>) -> Result<()> {
        let beside_times = question.identifiers_beside_times();
        let mut all: Option<Vec<u32>> = None;
        for &hash in question.identifiers() {
            let mut numbers: Vec<u32> = index.score(terms, |term| term == hash)?.iter().map(|hit| hit.number).collect();
            numbers.sort_unstable();
            if beside_times.contains(&hash) {
                self.of_it.get_or_insert_default().extend(&numbers);
            }
            all = Some(in_both(&numbers, all.as_deref()));
        }
        self.identified = all.unwrap_or_default();
        self.of_it.iter_mut().for_each(|of_it| of_it.sort_unstable());
        Ok(())
    }

    /// The words of a document that name nobody; the best document's are 1.
    pub fn own(&self, number: u32) -> f64 {
        self.kept.0.own.get(number as usize).map_or(0.0, |own| *own as f64 / self.best_own)
    }

    /// All its words.
    pub fn words(&self, number: u32) -> f64 {
        let at = number as usize;
        self.kept.0.own.get(at).map_or(0.0, |own| (own + self.names(at)) as f64 / self.best_words)
    }

    /// Whether a document is never among the best.
    pub fn is_left_out(&self, number: u32) -> bool {
        self.left_out(number - number % CHUNK as u32) >> (number as usize % CHUNK) & 1 != 0
    }

    /// The words of a message and a share of those beside it in its session: the documents of the one before it, its own, and the one behind.
    pub fn window_of(&self, documents: [Option<u32>; 3]) -> f64 {
        let words = |number: Option<u32>| number.and_then(|number| self.kept.0.own.get(number as usize)).copied().unwrap_or(0);
        weighted(documents.map(words)) as f64 / self.best_window
    }

    /// Its words and a share of those of the documents beside it.
    fn window(&self, number: u32) -> f64 {
        let own = &self.kept.0.own;
        if (number as usize) < own.len() { window(own, number as usize) as f64 / self.best_window } else { 0.0 }
    }

    /// Whether it has the name of somebody whom the question names.
    pub fn has_name(&self, number: u32) -> bool {
        self.names(number as usize) > 0
    }

    /// Its words that name somebody whom the question names.
    fn names(&self, at: usize) -> i64 {
        self.kept.0.names.get(at).copied().unwrap_or(0)
    }

    /// Its cosine with the question, 0 where that is negative.
    pub fn cosine(&self, number: u32) -> f64 {
        self.kept.0.cosines.get(number as usize).map_or(0.0, |cosine| f64::from(*cosine) / COSINE_ONE)
    }

    /// Whether neither a document nor one close to it holds an identifier that says what the question is about. That sessions are not told
    /// apart doubts one less.
    pub fn is_apart(&self, number: u32) -> bool {
        let (first, last) = (number.saturating_sub(ranking::BESIDE), number.saturating_add(ranking::BESIDE));
        let is_close = |of_it: &Vec<u32>| of_it.get(of_it.partition_point(|one| *one < first)).is_some_and(|one| *one <= last);
        self.of_it.as_ref().is_some_and(|of_it| !is_close(of_it))
    }

    /// Which share of a score by words the document has that has most of them.
    pub fn share_of_best(&self, score: f64) -> f64 {
        self.best_words / score.max(1.0)
    }

    /// Leaves documents out of the best; whether that is new of any. The words of those beside them stay what they are.
    pub fn leave_out(&mut self, documents: &[Range<u32>]) -> bool {
        let last = self.last();
        if self.left_out.is_empty() {
            self.left_out = vec![0; last as usize / CHUNK + 1];
        }
        let mut is_new = false;
        for number in documents.iter().flat_map(|range| range.start..range.end.min(last.saturating_add(1))) {
            let (chunk, bit) = (&mut self.left_out[number as usize / CHUNK], 1 << (number as usize % CHUNK));
            is_new |= *chunk & bit == 0;
            *chunk |= bit;
        }
        is_new
    }

    /// Those of the chunk from `first` on that are left out.
    fn left_out(&self, first: u32) -> u64 {
        self.left_out.get(first as usize / CHUNK).copied().unwrap_or(0)
    }

    pub fn is_identified(&self, number: u32) -> bool {
        self.identified.binary_search(&number).is_ok()
    }

    /// Whether it has a word of the question, stands close to a message that has one, or is near its meaning. Sessions are not told apart
    /// here.
    fn may_be_hit(&self, number: u32) -> bool {
        let (first, last) = (number.saturating_sub(ranking::BESIDE), number.saturating_add(ranking::BESIDE).min(self.last()));
        self.is_near(number) || (first as usize..=last as usize).any(|at| self.kept.0.own[at] + self.names(at) > 0)
    }

    /// A document is near the question's meaning from this cosine on.
    pub fn near_from(&mut self, cosine: f64) {
        self.near = units_of(cosine);
    }

    /// Whether its vector is near the question's.
    pub fn is_near(&self, number: u32) -> bool {
        self.kept.0.cosines.get(number as usize).is_some_and(|cosine| *cosine >= self.near)
    }

    /// The score of a document before it is read, in units of 2^-30.
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
            within: is(self.dated.within.contains(number)),
            behind: is(self.dated.behind.contains(number)),
            identified: is(self.is_identified(number)),
        };
        sight.fixed()
    }

    /// The shares of an estimate: see [`wide::estimates`].
    fn shares(&self) -> wide::Shares {
        let (words, window, own) = (SIGHT.words / self.best_words, SIGHT.window / self.best_window, 1.0 / self.best_own);
        let around = [
            SIGHT.before_two * own,
            window * WINDOW[1] as f64,
            words + window * WINDOW[0] as f64,
            window * WINDOW[2] as f64,
            SIGHT.after_two * own,
        ];
        wide::Shares { around: around.map(|share| share as f32), words: words as f32, name: SIGHT.name as f32 }
    }

    /// [`Self::sight`] of the documents from `first` on, about, without dates, identifiers and what their vectors say; and the highest.
    fn estimates(&self, shares: &wide::Shares, first: usize) -> ([f32; CHUNK], f32) {
        let Arrays { near_own, near_names, .. } = &self.kept.0;
        let Some(own) = near_own[first..].first_chunk() else { return ([0.0; CHUNK], 0.0) };
        wide::estimates(shares, own, near_names.get(first..).and_then(|names| names.first_chunk()))
    }

    /// The most that dates and identifiers add to a document of the chunk from `first` on.
    fn more_than_estimated(&self, first: u32) -> f32 {
        let chunk = first..first.saturating_add(CHUNK as u32);
        let identified = self.identified.partition_point(|number| *number < first);
        let is_identified = self.identified.get(identified).is_some_and(|number| *number < chunk.end);
        let dated = [(self.dated.within.meet(&chunk), SIGHT.within), (self.dated.behind.meet(&chunk), SIGHT.behind)];
        let each = dated.into_iter().chain([(is_identified, SIGHT.identified)]);
        each.map(|(is, more)| if is { more.max(0.0) as f32 } else { 0.0 }).sum()
    }
}

fn emptied<T: Clone + Default>(array: &mut Vec<T>, size: usize) {
    array.clear();
    array.resize(size, T::default());
}

/// The greatest of what it is offered.
struct Best {
    most: usize,
    kept: Vec<(i64, u32)>,
    /// A score that does not exceed it is not among them.
    bar: (i64, u32),
    /// Whether anything was left out.
    is_cut: bool,
}

impl Best {
    fn new(most: usize) -> Self {
        Self { most, kept: Vec::with_capacity(2 * most.min(1 << 12)), bar: (i64::MIN, 0), is_cut: false }
    }

    fn offer(&mut self, one: (i64, u32)) {
        if one <= self.bar || self.most == 0 {
            self.is_cut = true;
            return;
        }
        self.kept.push(one);
        if self.kept.len() >= self.most.saturating_mul(2) {
            self.kept.select_nth_unstable_by_key(self.most - 1, |one| Reverse(*one));
            self.kept.truncate(self.most);
            (self.bar, self.is_cut) = (self.kept[self.most - 1], true);
        }
    }

    /// The greatest first.
    fn in_order(mut self) -> Vec<(i64, u32)> {
        self.kept.sort_unstable_by_key(|one| Reverse(*one));
        self.kept.truncate(self.most);
        self.kept
    }
}

impl Drop for Field {
    fn drop(&mut self) {
        SPARE.set(Some(std::mem::take(&mut self.kept)));
    }
}

/// The numbers of both lists, which ascend; of a first list all.
fn in_both(numbers: &[u32], others: Option<&[u32]>) -> Vec<u32> {
    let is_there = |number: &u32| others.is_none_or(|others| others.binary_search(number).is_ok());
    numbers.iter().copied().filter(is_there).collect()
}

/// The words of a document and a share of those beside it. Document 0 has none.
fn window(own: &[i64], at: usize) -> i64 {
    let beside = |at: Option<usize>| at.and_then(|at| own.get(at)).copied().unwrap_or(0);
    weighted([beside(at.checked_sub(1)), own[at], beside(Some(at + 1))])
}

/// The words before a message, its own, and those behind, by their shares of a window.
fn weighted([before, own, after]: [i64; 3]) -> i64 {
    let [of_own, of_before, of_after] = WINDOW;
    of_own * own + of_before * before + of_after * after
}
