//! Rewrites the index of a collection's chunks under the hashes that their store has now.

use super::head::Head;
use super::record::{self, ChunkRecord};
use super::writer::index;
use crate::index::bm25::runs::{Document, Runs};
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::pages::PagesMut;
use crate::text::analyze;
use crate::{Result, interrupt};

/// Chunks in one transaction.
const PAGE: usize = 1000;

/// Takes the words of all chunks out of their index. [`rehash`] puts them in again.
pub(crate) fn clear<P: PagesMut>(pages: &mut P, partition: Partition) -> Result<()> {
    Runs::clear(pages, index(partition))
}

/// Writes the words of the next chunks behind `after`; the last of them, none behind all. `seed` is what the store's hashes are keyed
/// with from now on.
pub(crate) fn rehash<P: PagesMut>(pages: &mut P, partition: Partition, seed: Seed, after: u32) -> Result<Option<u32>> {
    let seed = Head::read(pages, partition)?.seed(seed);
    let numbers = record::chunk_numbers(pages, partition, after.saturating_add(1), PAGE)?;
    let mut runs = Runs::open(pages, index(partition))?;
    for number in numbers.iter().filter(|number| **number > after) {
        interrupt::check()?;
        let analysis = analyze(&ChunkRecord::read(pages, partition, *number)?.indexed(pages, partition)?, seed.terms);
        runs.append(pages, &Document { number: *number, length: analysis.length, terms: &analysis.terms })?;
    }
    Ok(numbers.last().copied().filter(|last| *last > after))
}
