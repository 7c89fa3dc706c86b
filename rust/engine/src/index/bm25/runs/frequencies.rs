//! How many documents have a term, which an explanation of a score names, and the documents of those that few have.

use super::super::lookup;
use super::super::matches::{TailMatches, in_order};
use super::super::rare;
use super::Runs;
use super::search::Snapshot;
use crate::Result;
use crate::store::pages::Pages;

impl Runs {
    /// How many documents have each of these terms, in their order. Costs a look-up for each block that has one, and the tail.
    pub fn frequencies<P: Pages>(&self, pages: &P, terms: &[u64]) -> Result<Vec<u64>> {
        self.snapshot(pages)?.frequencies(terms)
    }
}

impl<P: Pages> Snapshot<'_, P> {
    /// How many documents have each of these terms, in their order. Costs a look-up for each block that has one.
    pub fn frequencies(&self, terms: &[u64]) -> Result<Vec<u64>> {
        let places = in_order(terms);
        let hashes: Vec<u64> = places.iter().map(|place| terms[*place]).collect();
        let matches = TailMatches::new(&self.tail.records, &hashes);
        let (mut frequencies, mut counts) = (vec![0; terms.len()], vec![0; terms.len()]);
        for run in &self.runs.catalog.runs {
            lookup::count(self.pages, self.runs.index.run(run.id), &hashes, &mut counts)?;
        }
        for ((place, count), more) in places.iter().zip(counts).zip(&matches.more) {
            frequencies[*place] = count.saturating_add_signed(*more);
        }
        Ok(frequencies)
    }

    /// The documents that have each of some terms, as [`super::super::Reader::of_rare`] has them, with a look-up in each run.
    pub fn of_rare(&self, hashes: &[u64], most: usize) -> Result<Vec<Vec<u32>>> {
        rare::of_rare(self.pages, &mut self.blocks(), &self.tail.records, (hashes, most))
    }
}
