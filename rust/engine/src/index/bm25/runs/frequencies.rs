//! How many documents have a term: what an explanation of a score names.

use super::super::cursor::Cursor;
use super::super::matches::TailMatches;
use super::Runs;
use crate::Result;
use crate::store::pages::Pages;

impl Runs {
    /// How many documents have each of these terms, in their order. Costs a look-up for each term and run, and the tail.
    pub fn frequencies<P: Pages>(&self, pages: &P, terms: &[u64]) -> Result<Vec<u64>> {
        let mut sorted: Vec<(u64, usize)> = terms.iter().copied().zip(0..).collect();
        sorted.sort_unstable();
        let hashes: Vec<u64> = sorted.iter().map(|(hash, _)| *hash).collect();
        let tail = self.tail(pages)?;
        let matches = TailMatches::new(&tail.records, &hashes);
        let mut frequencies = vec![0; terms.len()];
        for ((hash, place), more) in sorted.iter().zip(&matches.more) {
            let cursor = Cursor::open(pages, self.catalog.runs.iter().map(|run| self.index.run(run.id)), *hash)?;
            frequencies[*place] = cursor.postings().saturating_add_signed(*more);
        }
        Ok(frequencies)
    }
}
