//! Scoring window by window: exhaustively, or without what cannot reach the best so far.
//!
//! In each window a term has a bound, from the greatest count and the least length of its runs there. The terms with the
//! smallest bounds, as long as these together stay below the threshold, are *optional*: a document that has only optional
//! terms cannot enter the result. The others are added up for the whole window, and only documents that still can reach
//! the threshold are looked up in the optional ones. A window whose bounds together stay below it is passed over.
//! A look-up costs as much as adding several postings, so only a term that is much more frequent than all that are added
//! up stays optional.
//!
//! Nothing is approximate: a document is dropped only when a bound of its score is below the score of the worst result.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Hit;
use super::cursor::Cursor;
use super::formula::Formula;
use super::lengths::Lengths;
use super::row::Row;
use super::rows::Rows;
use super::window::Window;
use crate::store::pages::Pages;
use crate::{Error, Result};

/// Statistics may be wrong: room is made for no more documents than this at once.
const MOST_RESERVED: u64 = 1 << 16;

/// Postings that are added up in the time of one look-up.
const POSTINGS_PER_LOOKUP: u64 = 2;

/// A query's term, ready to be scored.
#[derive(Clone)]
pub(super) struct Scorer<'p> {
    pub cursor: Cursor<'p>,
    pub factor: f64,
}

/// The collector of documents' scores.
pub(super) trait Collector<L> {
    /// A document with a smaller score need not be offered.
    fn threshold(&self) -> i64;

    /// Takes a document, or leaves it; `lengths` are those that it was scored with.
    fn offer(&mut self, hit: Hit, lengths: &mut L) -> Result<()>;

    /// Takes everything from a window at once, or says that it chooses.
    fn take_all(&mut self, _window: &mut Window) -> bool {
        false
    }

    /// Makes room for so many documents.
    fn reserve(&mut self, _documents: u64) {}
}

/// Offers `collector` every document of the blocks that can reach its threshold, but for those in `removed` (sorted).
pub(super) fn search<L: Lengths, C: Collector<L>>(
    scorers: &mut [Scorer<'_>],
    documents: u64,
    formula: &Formula,
    lengths: &mut L,
    removed: &[u32],
    collector: &mut C,
) -> Result<()> {
    let mut window = Window::take();
    let mut bounds = Bounds { terms: Vec::new(), added: scorers.iter().map(|scorer| scorer.cursor.postings()).sum() };
    while let Some(next) = scorers.iter().filter_map(|scorer| scorer.cursor.next()).min() {
        window.move_to(next.max(window.end), documents / bounds.added.max(1));
        let optional = bounds.split(scorers, &window, formula, collector.threshold())?;
        for &(_, term) in &bounds.terms[optional..] {
            let scorer = &mut scorers[term];
            scorer.cursor.accumulate(&mut window, formula, scorer.factor, lengths)?;
        }
        if !removed.is_empty() || !collector.take_all(&mut window) {
            choose(&mut window, scorers, &bounds.terms[..optional], formula, lengths, removed, collector)?;
        }
        for scorer in &mut *scorers {
            scorer.cursor.seek(window.end)?;
        }
    }
    window.give_back();
    Ok(())
}

/// Offers the documents of a window that can reach the threshold.
fn choose<L: Lengths, C: Collector<L>>(
    window: &mut Window,
    scorers: &mut [Scorer<'_>],
    optional: &[(i64, usize)],
    formula: &Formula,
    lengths: &mut L,
    removed: &[u32],
    collector: &mut C,
) -> Result<()> {
    let mut threshold = collector.threshold();
    let more: i64 = optional.iter().map(|(bound, _)| bound).sum();
    window.drain(|number, score| {
        if score + more < threshold || (!removed.is_empty() && removed.binary_search(&number).is_ok()) {
            return Ok(());
        }
        let score = if optional.is_empty() { score } else { complete(scorers, optional, formula, lengths, number, score, threshold)? };
        if score >= threshold {
            collector.offer(Hit { number, score }, lengths)?;
            threshold = collector.threshold();
        }
        Ok::<_, Error>(())
    })
}

/// The terms with what they add at most, the optional ones in front.
struct Bounds {
    terms: Vec<(i64, usize)>,
    /// Postings of the terms that are added up.
    added: u64,
}

impl Bounds {
    /// How many of the terms are optional in `window`; all, if no document there can reach `threshold`.
    fn split(&mut self, scorers: &mut [Scorer<'_>], window: &Window, formula: &Formula, threshold: i64) -> Result<usize> {
        self.terms.clear();
        for (term, scorer) in scorers.iter_mut().enumerate() {
            let bound = if threshold <= 0 { 0 } else { scorer.cursor.bound(window.start, window.end, formula, scorer.factor)? };
            self.terms.push((bound, term));
        }
        if threshold <= 0 {
            return Ok(0);
        }
        self.terms.sort_unstable();
        let mut sum = 0;
        let below = |(bound, _): &&(i64, usize)| {
            sum += bound;
            sum < threshold
        };
        let optional = self.terms.iter().take_while(below).count();
        Ok(if optional == self.terms.len() { optional } else { self.keep_frequent(scorers, optional) })
    }

    /// Of the first `optional` terms only those that are cheaper to look up stay so. Returns how many.
    fn keep_frequent(&mut self, scorers: &[Scorer<'_>], optional: usize) -> usize {
        let postings = |&(_, term): &(i64, usize)| scorers[term].cursor.postings();
        self.added = self.terms[optional..].iter().map(postings).sum();
        self.terms[..optional].sort_unstable_by_key(|term| (Reverse(postings(term)), term.1));
        let mut kept = optional;
        while kept > 0 && postings(&self.terms[kept - 1]) < POSTINGS_PER_LOOKUP * self.added {
            kept -= 1;
            self.added += postings(&self.terms[kept]);
        }
        kept
    }
}

/// The whole score of a document, or one below `threshold` once it is known that it is.
fn complete(
    scorers: &mut [Scorer<'_>],
    optional: &[(i64, usize)],
    formula: &Formula,
    lengths: &mut impl Lengths,
    number: u32,
    mut score: i64,
    threshold: i64,
) -> Result<i64> {
    let mut possible: i64 = optional.iter().map(|(bound, _)| bound).sum();
    // The rarest first: it has the largest bound, or nearly.
    for &(bound, term) in optional.iter().rev() {
        if score + possible < threshold {
            break;
        }
        let scorer = &mut scorers[term];
        if let Some(count) = scorer.cursor.count_at(number)? {
            score += formula.contribution(scorer.factor, count, lengths.stored_length(number)?);
        }
        possible -= bound;
    }
    Ok(score)
}

/// Every document.
pub(super) struct All<'o>(pub &'o mut Vec<Hit>);

impl<L> Collector<L> for All<'_> {
    fn threshold(&self) -> i64 {
        i64::MIN
    }

    fn offer(&mut self, hit: Hit, _: &mut L) -> Result<()> {
        self.0.push(hit);
        Ok(())
    }

    fn take_all(&mut self, window: &mut Window) -> bool {
        window.drain_into(self.0);
        true
    }

    fn reserve(&mut self, documents: u64) {
        self.0.reserve(documents.min(MOST_RESERVED) as usize);
    }
}

/// Every document, with its neighbours: calls a function with the number of the first of some documents and the score of each, 0 where it
/// has none.
pub(super) struct Groups<F>(pub F);

impl<L, F: FnMut(u32, &[i64])> Collector<L> for Groups<F> {
    fn threshold(&self) -> i64 {
        i64::MIN
    }

    fn offer(&mut self, hit: Hit, _: &mut L) -> Result<()> {
        (self.0)(hit.number, &[hit.score]);
        Ok(())
    }

    fn take_all(&mut self, window: &mut Window) -> bool {
        window.drain_each(&mut self.0);
        true
    }
}

/// The best documents that a filter keeps: by score, the smaller number first where scores are equal.
pub(super) struct Best<F> {
    limit: usize,
    keep: F,
    /// The worst on top.
    heap: BinaryHeap<Reverse<(i64, Reverse<u32>)>>,
}

impl<F: FnMut(u32, &Row) -> bool> Best<F> {
    pub fn new(limit: usize, keep: F) -> Self {
        Self { limit, keep, heap: BinaryHeap::new() }
    }

    pub fn into_hits(self) -> Vec<Hit> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse((score, Reverse(number)))| Hit { number, score }).collect()
    }
}

impl<'p, P: Pages, F: FnMut(u32, &Row) -> bool> Collector<Rows<'p, P>> for Best<F> {
    fn threshold(&self) -> i64 {
        match self.heap.peek() {
            Some(Reverse((score, _))) if self.heap.len() == self.limit => *score,
            _ => i64::MIN,
        }
    }

    fn offer(&mut self, hit: Hit, rows: &mut Rows<'p, P>) -> Result<()> {
        let entry = Reverse((hit.score, Reverse(hit.number)));
        let full = self.heap.len() == self.limit;
        if full && self.heap.peek().is_none_or(|worst| entry >= *worst) {
            return Ok(());
        }
        let row = rows.row(hit.number)?.ok_or_else(|| rows.missing(hit.number))?;
        if !(row.is_present() && (self.keep)(hit.number, &row)) {
            return Ok(());
        }
        if full {
            self.heap.pop();
        }
        self.heap.push(entry);
        Ok(())
    }
}
