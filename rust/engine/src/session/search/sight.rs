//! First sight: what the indexes alone say of every document, and which of them are worth reading.
//!
//! One number per document and index, in arrays by document number, so that the words of the messages beside one cost nothing to look
//! up. Two documents whose numbers follow each other need not be of one session: at first sight that is not asked.
//!
//! The exact sums are reckoned for the few that can be among the best: an estimate in single precision, of many documents at once, passes
//! over those that cannot, so that nothing is lost by it.

mod reach;

use std::cell::Cell;
use std::cmp::Reverse;
use std::ops::Range;

use super::question::Question;
use crate::Result;
use crate::index::bm25::runs::Snapshot;
use crate::index::bm25::{Hit, Parameters, QueryTerm};
use crate::index::vectors::{Scored, Scores};
use crate::recall::ranking::{self, SIGHT, Sight, WINDOW};
use crate::store::pages::Pages;

const COSINE_ONE: f64 = (1 << 30) as f64;
const NEAR: i32 = (ranking::NEAR * COSINE_ONE) as i32;
/// Documents that are estimated at once.
const CHUNK: usize = 64;
/// Numbers that a processor compares at once, or a multiple of them.
const LANES: usize = 8;
/// Places before and behind the words of all documents, so that each has two on either side.
const PAD: usize = 2;
/// More than an estimate of a sum of a few dozens can be wrong by.
const SLACK: f32 = 1e-3;

thread_local! {
    /// Arrays, zero in every place, and scores of the last search of this thread.
    static SPARE: Cell<Option<Box<(Arrays, Scores)>>> = const { Cell::new(None) };
}

/// By document number: as many as the longest history needed that this thread searched, and 0 in each place that no search has entered, so
/// that a search clears what it entered and no more.
#[derive(Default)]
struct Arrays {
    own: Vec<i64>,
    names: Vec<i64>,
    cosines: Vec<i32>,
    /// `own` and `names` again, the first behind [`PAD`] places, and all of whole chunks.
    near_own: Vec<f32>,
    near_names: Vec<f32>,
    /// Documents with words, and those whose cosines were entered one by one.
    worded: Vec<u32>,
    compared: Vec<u32>,
    /// What a document has without its vector, about, in whole chunks, and the most of each chunk.
    words: Vec<f32>,
    peaks: Vec<f32>,
    /// Room for the scores of some documents, by meaning and by words.
    some: Vec<Scored>,
    hits: Vec<Hit>,
}

impl Arrays {
    /// Makes room for documents up to number `last`.
    fn reach(&mut self, last: u32) {
        let size = last as usize + 1;
        if self.own.len() >= size {
            return;
        }
        self.own.resize(size, 0);
        self.names.resize(size, 0);
        self.cosines.resize(size + CHUNK, 0);
        self.near_own.resize(size + CHUNK + 2 * PAD, 0.0);
        self.near_names.resize(size + CHUNK + 2 * PAD, 0.0);
    }

    /// Enters 0 in every place again; `is_scanned` where all cosines up to that of document `last` were entered.
    fn clear(&mut self, is_scanned: bool, last: u32) {
        for at in self.worded.drain(..).map(|number| number as usize) {
            (self.own[at], self.names[at], self.near_own[at + PAD], self.near_names[at]) = (0, 0, 0.0, 0.0);
        }
        if is_scanned {
            self.cosines[..=last as usize].fill(0);
        }
        for number in self.compared.drain(..) {
            self.cosines[number as usize] = 0;
        }
        self.words.clear();
        self.peaks.clear();
    }
}

/// What the indexes say of every document.
pub(super) struct Field {
    kept: Box<(Arrays, Scores)>,
    last: u32,
    best_own: f64,
    best_words: f64,
    best_window: f64,
    /// Whether the cosines of all documents are entered.
    is_scanned: bool,
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
        kept.0.reach(last);
        let (identified, dated) = (Vec::new(), Dated::default());
        Self { kept, last, best_own: 1.0, best_words: 1.0, best_window: 1.0, is_scanned: false, identified, dated }
    }

    pub fn last(&self) -> u32 {
        self.last
    }

    /// Documents up to the last, and number 0.
    fn size(&self) -> usize {
        self.last as usize + 1
    }

    /// Room for hits, which [`Self::give_back`] takes again.
    pub fn take_hits(&mut self) -> Vec<Hit> {
        std::mem::take(&mut self.kept.0.hits)
    }

    pub fn give_back(&mut self, hits: Vec<Hit>) {
        self.kept.0.hits = hits;
    }

    /// Enters the words of all documents; the best of them by all words, best first.
    pub fn enter_words(&mut self, hits: &[Hit], best: usize) -> Vec<u32> {
        let (size, mut first) = (self.size(), Best::new(best));
        let Arrays { own, near_own, worded, .. } = &mut self.kept.0;
        worded.reserve(hits.len());
        for hit in hits {
            let at = hit.number as usize;
            if at < size {
                (own[at], near_own[at + PAD]) = (hit.score, hit.score as f32);
                worded.push(hit.number);
            }
            first.offer((hit.score, hit.number));
        }
        let first = first.in_order();
        self.best_words = first.first().map_or(1.0, |one| one.0 as f64);
        first.into_iter().map(|one| one.1).collect()
    }

    /// Takes the words that are names out of a document's own, unless the question has no others.
    pub fn enter_names(&mut self, hits: &[Hit], only_names: bool) {
        let size = self.size();
        let Arrays { own, names, near_own, near_names, .. } = &mut self.kept.0;
        for hit in hits {
            let at = hit.number as usize;
            if at < size {
                names[at] = hit.score;
                near_names[at] = hit.score as f32;
                own[at] -= if only_names { 0 } else { hit.score };
                near_own[at + PAD] = own[at] as f32;
            }
        }
    }

    /// What the best of all documents have, once all words are entered.
    pub fn settle(&mut self, only_names: bool) {
        let Arrays { own, names, near_names, worded, .. } = &mut self.kept.0;
        if only_names {
            for at in worded.iter().map(|number| *number as usize) {
                (names[at], near_names[at]) = (0, 0.0);
            }
        }
        let best = |of: i64| of.max(1) as f64;
        self.best_own = best(worded.iter().map(|number| own[*number as usize]).max().unwrap_or(0));
        self.best_window = best(self.most_window());
    }

    /// The most that a document and a share of those beside it have: of the chunks that may have it by an estimate.
    fn most_window(&mut self) -> i64 {
        let size = self.size();
        let Arrays { own, near_own, peaks, worded, .. } = &mut self.kept.0;
        if worded.is_empty() {
            return 0;
        }
        let near = |first: usize| near_own[first + PAD - 1..].first_chunk().map_or(0.0, most_around);
        peaks.clear();
        peaks.extend((0..size).step_by(CHUNK).map(near));
        let least = peaks.iter().fold(0.0, |most, peak| if *peak > most { *peak } else { most }) * (1.0 - SLACK);
        let promising = (0..size).step_by(CHUNK).zip(peaks.drain(..)).filter(|(_, peak)| *peak >= least);
        let most = promising.map(|(first, _)| (first..size.min(first + CHUNK)).map(|at| window(&own[..size], at)).max().unwrap_or(0));
        most.max().unwrap_or(0)
    }

    /// Finds the documents that hold all identifiers of the question.
    pub fn identify<P: Pages>(&mut self, index: &Snapshot<'_, P>, question: &Question<'_>) -> Result<()> {
        for (at, &hash) in question.identifiers().iter().enumerate() {
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
        if at < self.size() { (arrays.own[at] + arrays.names[at]) as f64 / self.best_words } else { 0.0 }
    }

    /// Its words and a share of those beside it.
    pub fn window(&self, number: u32) -> f64 {
        let own = &self.kept.0.own[..self.size()];
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

    /// [`Self::sight`] of the documents from `first` on, about, without dates, identifiers and what their vectors say.
    fn estimates(&self, first: usize) -> [f32; CHUNK] {
        let Arrays { near_own, near_names, .. } = &self.kept.0;
        let (words, window, own) = (SIGHT.words / self.best_words, SIGHT.window / self.best_window, 1.0 / self.best_own);
        let of_words = words as f32;
        let shares = [
            SIGHT.before_two * own,
            window * WINDOW[1] as f64,
            words + window * WINDOW[0] as f64,
            window * WINDOW[2] as f64,
            SIGHT.after_two * own,
        ]
        .map(|share| share as f32);
        let name = SIGHT.name as f32;
        let mut estimates = [0.0; CHUNK];
        let of_chunk = (near_own[first..].first_chunk(), near_names[first..].first_chunk());
        let (Some(own), Some(names)): Chunks<'_> = of_chunk else { return estimates };
        for (at, estimate) in estimates.iter_mut().enumerate() {
            let named = if names[at] > 0.0 { name } else { 0.0 };
            let around = shares[0] * own[at] + shares[1] * own[at + 1] + shares[3] * own[at + 3] + shares[4] * own[at + 4];
            *estimate = around + shares[2] * own[at + 2] + of_words * names[at] + named;
        }
        estimates
    }

    /// The most that dates and identifiers add to a document of the chunk from `first` on.
    fn more_than_estimated(&self, first: u32) -> f32 {
        let end = first.saturating_add(CHUNK as u32);
        let is_in = |range: &Range<u32>| !range.is_empty() && range.start < end && first < range.end;
        let identified = self.identified.partition_point(|number| *number < first);
        let is_identified = self.identified.get(identified).is_some_and(|number| *number < end);
        let each =
            [(is_in(&self.dated.within), SIGHT.within), (is_in(&self.dated.behind), SIGHT.behind), (is_identified, SIGHT.identified)];
        each.into_iter().map(|(is, more)| if is { more as f32 } else { 0.0 }).sum()
    }
}

/// The words around the documents of a chunk, and their names.
type Chunks<'a> = (Option<&'a [f32; CHUNK + 2 * PAD]>, Option<&'a [f32; CHUNK]>);

/// The greatest of what it is offered.
struct Best {
    most: usize,
    kept: Vec<(i64, u32)>,
    /// What does not exceed it is not among them.
    bar: (i64, u32),
    /// Whether anything was left out.
    is_cut: bool,
}

impl Best {
    fn new(most: usize) -> Self {
        Self { most, kept: Vec::with_capacity(2 * most.min(1 << 12)), bar: (i64::MIN, 0), is_cut: false }
    }

    #[inline]
    fn offer(&mut self, one: (i64, u32)) {
        if one <= self.bar || self.most == 0 {
            self.is_cut = true;
        } else {
            self.keep(one);
        }
    }

    fn keep(&mut self, one: (i64, u32)) {
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
        self.kept.0.clear(self.is_scanned, self.last);
        SPARE.set(Some(std::mem::take(&mut self.kept)));
    }
}

/// The most of a chunk, in whatever order it is looked for: a lane for each of as many as a processor compares at once.
fn highest(amounts: &[f32; CHUNK]) -> f32 {
    let greater = |one: f32, other: f32| if one > other { one } else { other };
    let mut lanes = [f32::MIN; LANES];
    for some in amounts.as_chunks::<LANES>().0 {
        lanes.iter_mut().zip(some).for_each(|(lane, amount)| *lane = greater(*amount, *lane));
    }
    lanes.into_iter().fold(f32::MIN, greater)
}

/// The most words of a document of a chunk and a share of those beside it, about. `near` begins one place before the chunk.
fn most_around(near: &[f32; CHUNK + 2]) -> f32 {
    let [of_own, of_before, of_after] = WINDOW.map(|share| share as f32);
    highest(&std::array::from_fn(|at| of_own * near[at + 1] + of_before * near[at] + of_after * near[at + 2]))
}

/// The words of a document and a share of those beside it. Document 0 has none.
fn window(own: &[i64], at: usize) -> i64 {
    let beside = |at: Option<usize>| at.and_then(|at| own.get(at)).copied().unwrap_or(0);
    let [of_own, of_before, of_after] = WINDOW;
    of_own * own[at] + of_before * beside(at.checked_sub(1)) + of_after * beside(Some(at + 1))
}
