//! Removes the remains that forgetting leaves until the next compaction, before that copies: hashes of words in tails and where merges
//! stopped, names of slots without a value, codes of vectors in graphs, passages and hashes in ledgers, and the remains of calls that were
//! never finished. Each step is a write of its own, so that a death between two of them undoes nothing.

use super::Engine;
use crate::Result;
use crate::collection;
use crate::index::bm25::runs::Runs;
use crate::index::bm25::{self, IndexId, Statistics};
use crate::index::vectors::VectorSet;
use crate::memory::MEMORIES;
use crate::memory::embedding;
use crate::memory::maintain::STEP;
use crate::memory::slots;
use crate::scope::{self, Head, Row, Scope};
use crate::session;
use crate::store::keys::{Key, Partition, Table};
use crate::store::pages::Pages;

impl Engine {
    /// Takes out what was forgotten and is still there.
    pub(super) fn clear_remains(&self) -> Result<()> {
        let mut after = 0;
        loop {
            let page = self.store().read(|snapshot| scope::rows(snapshot, after, STEP))?;
            let Some((last, _)) = page.last() else { return Ok(()) };
            after = *last;
            for (partition, row) in page {
                let cleared = self.clear_partition(partition, &row);
                // Of one that is erased meanwhile no value can be read any more where the store is encrypted.
                if cleared.is_err() && !self.store().read(|snapshot| scope::is_dropped(snapshot, partition))? {
                    return cleared;
                }
            }
        }
    }

    fn clear_partition(&self, partition: Partition, row: &Row) -> Result<()> {
        match row {
            Row::Scope(scope) => {
                session::sweep_unfinished(self, partition, scope)?;
                self.settle_tail(partition)?;
                self.remove_empty_slots(partition, scope)?;
                session::clear_ledgers(self, partition, scope)?;
            }
            Row::Collection { .. } => collection::sweep_unfinished(self, partition)?,
            Row::Dropped { .. } => return collection::sweep_dropped(self, partition).map(drop),
        }
        self.end_merges(partition)?;
        self.blank_graphs(partition)
    }

    fn settle_tail(&self, partition: Partition) -> Result<()> {
        let index = IndexId { partition, index: MEMORIES };
        if self.store().read(|snapshot| bm25::is_unsettled(snapshot, index))? {
            self.write_to(partition, move |txn| {
                let head = Head::read(txn, partition)?;
                bm25::settle(txn, index, Statistics { documents: head.documents, total_length: head.total_length })
            })?;
        }
        Ok(())
    }

    fn remove_empty_slots(&self, partition: Partition, scope: &Scope) -> Result<()> {
        let (empty, seed) = (self.store().read(|snapshot| slots::empty(snapshot, partition))?, scope.seed(self.store().secret()));
        for some in empty.chunks(STEP) {
            let some = some.to_vec();
            self.write_to(partition, move |txn| slots::remove_empty(txn, partition, seed, &some))?;
        }
        Ok(())
    }

    /// A merge that is under way names the term that it stopped at, forgotten or not.
    fn end_merges(&self, partition: Partition) -> Result<()> {
        for index in self.store().read(|snapshot| sealed(snapshot, partition))? {
            while self.write_to(partition, move |txn| Runs::open(txn, index)?.maintain(txn))? {}
        }
        Ok(())
    }

    fn blank_graphs(&self, partition: Partition) -> Result<()> {
        for set in self.store().read(|snapshot| graphs(snapshot, partition))? {
            let mut value = 0;
            while self.write_to(partition, move |txn| set.blank_stale(txn, value))?.is_some() {
                value += 1;
            }
        }
        Ok(())
    }
}

/// The indexes of a partition whose runs are being merged.
fn sealed<P: Pages>(pages: &P, partition: Partition) -> Result<Vec<IndexId>> {
    let (range, mut found): (_, Vec<IndexId>) = (Key::new(partition, Table::RunCatalog).prefix_range(), Vec::new());
    pages.scan(&range.start, &range.end, &mut |key, _| {
        found.extend(key.get(5).map(|index| IndexId { partition, index: *index }).filter(|index| !found.contains(index)));
        Ok(std::ops::ControlFlow::Continue(()))
    })?;
    let mut busy = Vec::new();
    for index in found {
        busy.extend(Runs::open(pages, index)?.is_merging().then_some(index));
    }
    Ok(busy)
}

/// The sets of vectors of a partition that have a graph.
fn graphs<P: Pages>(pages: &P, partition: Partition) -> Result<Vec<VectorSet>> {
    let prefix = Key::new(partition, Table::GraphCatalog);
    let (range, mut numbers) = (prefix.prefix_range(), Vec::new());
    pages.scan(&range.start, &range.end, &mut |key, _| {
        numbers.extend(key.last_chunk().map(|bytes| u16::from_be_bytes(*bytes)));
        Ok(std::ops::ControlFlow::Continue(()))
    })?;
    numbers.into_iter().map(|number| VectorSet::new(partition, number, embedding::dimensions(pages, number)?)).collect()
}
