//! Rewrites the index of a scope's messages under the hashes that their store has now.

use std::ops::Bound::{Excluded, Unbounded};

use super::key::SessionKey;
use super::search::row::{self, Row};
use super::transcript::message::MessageRecord;
use super::transcript::words;
use crate::index::bm25::runs::{Document, Runs};
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::pages::PagesMut;
use crate::{Result, interrupt};

/// Messages in one transaction.
const PAGE: usize = 1000;

/// Takes the words of all messages out of their index. [`rehash`] puts them in again.
pub(crate) fn clear<P: PagesMut>(pages: &mut P, partition: Partition) -> Result<()> {
    Runs::clear(pages, words::index(partition))
}

/// Writes the words of the next messages behind document `after`; the last of them, none behind all. `seed` is what the store's hashes
/// are keyed with from now on.
pub(crate) fn rehash<P: PagesMut>(pages: &mut P, partition: Partition, seed: Seed, after: u32) -> Result<Option<u32>> {
    let rows = row::rows(&*pages, partition, after.saturating_add(1), PAGE, |_| true)?;
    let mut runs = Runs::open(pages, words::index(partition))?;
    for (number, row) in rows.range((Excluded(after), Unbounded)) {
        interrupt::check()?;
        let analysis = words_of(&*pages, partition, seed, row)?;
        runs.append(pages, &Document { number: *number, length: analysis.length, terms: &analysis.terms })?;
    }
    Ok(rows.keys().next_back().copied().filter(|last| *last > after))
}

fn words_of<P: PagesMut>(pages: &P, partition: Partition, seed: Seed, row: &Row<'_>) -> Result<crate::text::Analysis> {
    let place = SessionKey { partition, session: row.session };
    let record = MessageRecord::expect(pages, place, row.index)?;
    Ok(words::words_of(&record.whole(pages, place)?, record.author.as_deref(), seed, row.named))
}
