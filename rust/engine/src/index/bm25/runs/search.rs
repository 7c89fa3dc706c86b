//! Searching: the best documents of tail and runs, exactly as if there were one list for each term.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::cursor::Cursor;
use super::super::formula::{Formula, Parameters};
use super::super::layout::BlockKeys;
use super::super::lengths::Lengths;
use super::super::lookup::Met;
use super::super::matches::{Newer, TailMatches};
use super::super::pruned::{All, Collector, Groups, Scorer, search};
use super::super::reader::validate;
use super::super::tail::Tail;
use super::super::{Hit, QueryTerm, Statistics};
use super::Runs;
use super::lengths::RunLengths;
use crate::Result;
use crate::store::pages::Pages;

impl Runs {
    /// The `limit` best documents with a score above 0 that `keep` lets through, best first; of equal scores the newer one.
    ///
    /// At most 4,096 terms, weights from 0 to 1,000; a hash that stands twice counts twice. `keep` is asked only about documents
    /// that would enter the result. Costs a look-up for each term and run, and what cannot be passed over of their lists.
    pub fn search<P: Pages>(
        &self,
        pages: &P,
        terms: &[QueryTerm],
        parameters: Parameters,
        limit: usize,
        keep: &mut dyn FnMut(u32) -> Result<bool>,
    ) -> Result<Vec<Hit>> {
        let snapshot = self.snapshot(pages)?;
        snapshot.best(&snapshot.prepare(terms, parameters)?, limit, keep)
    }

    /// The index with its tail read, for several searches of one transaction.
    pub fn snapshot<'p, P: Pages>(&self, pages: &'p P) -> Result<Snapshot<'p, P>> {
        let tail = self.tail(pages)?;
        let statistics = self.statistics_with(&tail);
        Ok(Snapshot { runs: self.clone(), pages, tail, statistics })
    }
}

/// An index as one transaction sees it, its tail read once.
pub struct Snapshot<'r, P> {
    pub(super) runs: Runs,
    pub(super) pages: &'r P,
    pub(super) tail: Tail<'r>,
    statistics: Statistics,
}

/// The hits of a query in all places.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scored {
    /// Every document with a score above 0, in no order.
    pub hits: Vec<Hit>,
    /// The inverse document frequency of each term, in the query's order.
    pub rarity: Vec<f64>,
}

/// A query's terms, looked up for one search or several.
pub struct Prepared<'p> {
    /// The hash of each scorer's term, ascending.
    hashes: Vec<u64>,
    scorers: Vec<Scorer<'p>>,
    matches: TailMatches,
    formula: Formula,
    /// By term, in the query's order.
    frequencies: Vec<u64>,
}

impl Prepared<'_> {
    /// How many documents have each term, in the query's order.
    #[must_use]
    pub fn frequencies(&self) -> &[u64] {
        &self.frequencies
    }

    /// How many documents have a term of the query; `None` of another.
    #[must_use]
    pub fn frequency(&self, hash: u64) -> Option<u64> {
        let at = self.hashes.binary_search(&hash).ok()?;
        Some(self.scorers[at].cursor.postings().saturating_add_signed(self.matches.more[at]))
    }

    /// The documents of the tail that have one of those terms that `keep` lets through, and their scores.
    fn of_tail(&self, keep: &impl Fn(u64) -> bool) -> impl Iterator<Item = (u32, i64)> {
        let score = |document: &Newer| document.score_of(&self.scorers, &self.formula, |at| keep(self.hashes[at]));
        self.matches.documents.iter().map(move |document| (document.number, score(document))).filter(|(_, score)| *score > 0)
    }

    /// The score of a document of the average length that has each of some terms once, be there one or not. `terms` are those of the query,
    /// and `counts` says of the number of a term in it whether it is one of them.
    #[must_use]
    pub fn of_all(&self, terms: &[QueryTerm], counts: impl Fn(usize) -> bool) -> f64 {
        let counted = terms.iter().zip(&self.frequencies).enumerate().filter(|(at, _)| counts(*at));
        counted.map(|(_, (term, frequency))| self.formula.factor(term.weight, (*frequency).max(1))).sum::<f64>() / self.formula.gain()
    }

    /// The inverse document frequency of each term, in the query's order.
    #[must_use]
    pub fn rarity(&self) -> Vec<f64> {
        self.frequencies.iter().map(|frequency| self.formula.idf(*frequency)).collect()
    }
}

impl<'r, P: Pages> Snapshot<'r, P> {
    /// The statistics of all documents.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// The best documents, as [`Runs::search`] finds them, by terms that were looked up.
    pub fn best(&self, prepared: &Prepared<'_>, limit: usize, keep: &mut dyn FnMut(u32) -> Result<bool>) -> Result<Vec<Hit>> {
        if limit == 0 {
            return Ok(Vec::new());
        }
        let mut newest = Newest { limit, keep, heap: BinaryHeap::new() };
        newest.offer_tail(&prepared.matches, &prepared.scorers, &prepared.formula)?;
        self.score_sealed(prepared, |_| true, &mut newest)?;
        Ok(newest.into_hits())
    }

    /// The score of each of these documents, whose numbers ascend; 0 of one that has no term of the query. Reads of the lists what holds
    /// these numbers.
    pub fn scores_of(&self, prepared: &Prepared<'_>, numbers: &[u32]) -> Result<Vec<i64>> {
        let Prepared { scorers, matches, formula, .. } = prepared;
        let (mut scores, mut lengths) = (vec![0; numbers.len()], RunLengths::new(self.pages, self.runs.index));
        for scorer in scorers.iter().filter(|scorer| scorer.cursor.postings() > 0) {
            let mut cursor = scorer.cursor.clone();
            for (number, score) in numbers.iter().zip(&mut scores) {
                if let Some(count) = cursor.count_at(*number)? {
                    *score += formula.contribution(scorer.factor, count, lengths.stored_length(*number)?);
                }
            }
        }
        for document in &matches.documents {
            if let Ok(at) = numbers.binary_search(&document.number) {
                scores[at] += document.score(scorers, formula);
            }
        }
        Ok(scores)
    }

    /// The documents among `numbers`, which ascend, that have every term of the query.
    pub fn having_all(&self, prepared: &Prepared<'_>, numbers: &[u32]) -> Result<Vec<u32>> {
        let mut had = vec![0; numbers.len()];
        for scorer in &prepared.scorers {
            let mut cursor = scorer.cursor.clone();
            for (number, had) in numbers.iter().zip(&mut had) {
                *had += usize::from(cursor.count_at(*number)?.is_some());
            }
        }
        for document in &prepared.matches.documents {
            if let Ok(at) = numbers.binary_search(&document.number) {
                had[at] += document.counts.len();
            }
        }
        let has_all = |(number, had): (&u32, usize)| (had == prepared.scorers.len()).then_some(*number);
        Ok(numbers.iter().zip(had).filter_map(has_all).collect())
    }

    /// Scores every document that has a term of the query. In the bounds of [`Runs::search`], and costs all that its lists hold.
    pub fn score_all(&self, terms: &[QueryTerm], parameters: Parameters) -> Result<Scored> {
        let prepared = self.prepare(terms, parameters)?;
        Ok(Scored { hits: self.score(&prepared, |_| true)?, rarity: prepared.rarity() })
    }

    /// Scores every document that has one of those terms that `keep` lets through, in no order. Nothing is looked up again.
    pub fn score(&self, prepared: &Prepared<'_>, keep: impl Fn(u64) -> bool) -> Result<Vec<Hit>> {
        let mut hits = Vec::new();
        for (number, score) in prepared.of_tail(&keep) {
            hits.push(Hit { number, score });
        }
        self.score_sealed(prepared, keep, &mut All(&mut hits))?;
        Ok(hits)
    }

    /// Scores every document that has a term, for a caller that has a place for each: calls `visit` with the number of the first of some
    /// documents and the score of each, 0 where it has no term; with each document at most once that has one.
    pub fn score_each(&self, prepared: &Prepared<'_>, mut visit: impl FnMut(u32, &[i64])) -> Result<()> {
        self.score_sealed(prepared, |_| true, &mut Groups(&mut visit))?;
        // These come last: some sealed documents and their neighbours may have been given with the numbers of these, and scores of 0.
        prepared.of_tail(&|_| true).for_each(|(number, score)| visit(number, &[score]));
        Ok(())
    }

    fn score_sealed<C: Collector<RunLengths<'r, P>>>(
        &self,
        prepared: &Prepared<'_>,
        keep: impl Fn(u64) -> bool,
        collector: &mut C,
    ) -> Result<()> {
        let Prepared { hashes, scorers, formula, .. } = prepared;
        let is_wanted = |(hash, scorer): &(&u64, &Scorer<'_>)| scorer.cursor.postings() > 0 && keep(**hash);
        let mut scorers: Vec<Scorer<'_>> = hashes.iter().zip(scorers).filter(is_wanted).map(|(_, scorer)| scorer.clone()).collect();
        let mut lengths = RunLengths::new(self.pages, self.runs.index);
        search(&mut scorers, self.statistics.documents, formula, &mut lengths, &[], collector)
    }

    /// Looks up the terms of a query. In the bounds of [`Runs::search`].
    pub fn prepare(&self, terms: &[QueryTerm], parameters: Parameters) -> Result<Prepared<'r>> {
        validate(terms)?;
        let mut places: Vec<usize> = (0..terms.len()).collect();
        places.sort_by_key(|place| terms[*place].hash);
        let hashes: Vec<u64> = places.iter().map(|place| terms[*place].hash).collect();
        let formula = Formula::new(parameters, self.statistics);
        let matches = TailMatches::new(&self.tail.records, &hashes);
        let (mut scorers, mut frequencies) = (Vec::with_capacity(terms.len()), vec![0; terms.len()]);
        let mut blocks = self.blocks();
        for (&place, more) in places.iter().zip(&matches.more) {
            let cursor = Cursor::open(self.pages, &mut blocks, terms[place].hash)?;
            frequencies[place] = cursor.postings().saturating_add_signed(*more);
            scorers.push(Scorer { cursor, factor: formula.factor(terms[place].weight, frequencies[place]) });
        }
        Ok(Prepared { hashes, scorers, matches, formula, frequencies })
    }

    /// The blocks of its runs, in the order of documents, of which none was met.
    pub(super) fn blocks(&self) -> Vec<(BlockKeys, Met<'r>)> {
        self.runs.catalog.runs.iter().map(|run| (self.runs.index.run(run.id), None)).collect()
    }
}

impl Newer {
    fn score(&self, scorers: &[Scorer<'_>], formula: &Formula) -> i64 {
        self.score_of(scorers, formula, |_| true)
    }

    fn score_of(&self, scorers: &[Scorer<'_>], formula: &Formula, keep: impl Fn(usize) -> bool) -> i64 {
        let kept = self.counts.iter().filter(|(term, _)| keep(*term));
        kept.map(|&(term, count)| formula.contribution(scorers[term].factor, count, self.length)).sum()
    }
}

/// The best documents that a filter keeps: by score, the greater number first where scores are equal.
struct Newest<'k> {
    limit: usize,
    keep: &'k mut dyn FnMut(u32) -> Result<bool>,
    /// The worst on top.
    heap: BinaryHeap<Reverse<(i64, u32)>>,
}

impl Newest<'_> {
    fn offer_tail(&mut self, tail: &TailMatches, scorers: &[Scorer<'_>], formula: &Formula) -> Result<()> {
        for document in &tail.documents {
            let score = document.score(scorers, formula);
            if score > 0 {
                self.take(Hit { number: document.number, score })?;
            }
        }
        Ok(())
    }

    fn take(&mut self, hit: Hit) -> Result<()> {
        let entry = Reverse((hit.score, hit.number));
        let full = self.heap.len() == self.limit;
        if full && self.heap.peek().is_none_or(|worst| entry >= *worst) {
            return Ok(());
        }
        if !(self.keep)(hit.number)? {
            return Ok(());
        }
        if full {
            self.heap.pop();
        }
        self.heap.push(entry);
        Ok(())
    }

    fn into_hits(self) -> Vec<Hit> {
        self.heap.into_sorted_vec().into_iter().map(|Reverse((score, number))| Hit { number, score }).collect()
    }
}

impl<L> Collector<L> for Newest<'_> {
    fn threshold(&self) -> i64 {
        match self.heap.peek() {
            Some(Reverse((score, _))) if self.heap.len() == self.limit => *score,
            _ => i64::MIN,
        }
    }

    fn offer(&mut self, hit: Hit, _: &mut L) -> Result<()> {
        self.take(hit)
    }
}
