//! Searching: the best documents of tail and runs, exactly as if there were one list for each term.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::cursor::Cursor;
use super::super::formula::{Formula, Parameters};
use super::super::matches::TailMatches;
use super::super::pruned::{Collector, Scorer, search};
use super::super::reader::validate;
use super::super::{Hit, QueryTerm};
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
        validate(terms)?;
        if limit == 0 {
            return Ok(Vec::new());
        }
        let mut asked = terms.to_vec();
        asked.sort_by_key(|term| term.hash);
        let hashes: Vec<u64> = asked.iter().map(|term| term.hash).collect();
        let tail = self.tail(pages)?;
        let statistics = self.statistics_with(&tail);
        let formula = Formula::new(parameters, statistics);
        let matches = TailMatches::new(&tail.records, &hashes);
        let mut scorers = Vec::with_capacity(asked.len());
        for (term, more) in asked.iter().zip(&matches.more) {
            let cursor = Cursor::open(pages, self.catalog.runs.iter().map(|run| self.index.run(run.id)), term.hash)?;
            let frequency = cursor.postings().saturating_add_signed(*more);
            scorers.push(Scorer { cursor, factor: formula.factor(term.weight, frequency) });
        }
        let mut newest = Newest { limit, keep, heap: BinaryHeap::new() };
        newest.offer_tail(&matches, &scorers, &formula)?;
        scorers.retain(|scorer| scorer.cursor.postings() > 0);
        search(&mut scorers, statistics.documents, &formula, &mut RunLengths::new(pages, self.index), &[], &mut newest)?;
        Ok(newest.into_hits())
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
            let contribution = |&(term, count): &(usize, u8)| formula.contribution(scorers[term].factor, count, document.length);
            let score = document.counts.iter().map(contribution).sum();
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
