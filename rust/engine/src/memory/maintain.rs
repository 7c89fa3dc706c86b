//! What can wait: expiry, vectors that could not be made, recalls to be made durable.
//!
//! Each step is a write of its own, bounded in size, so that other writers come between.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::embedding::EmbeddingNumber;
use super::record;
use super::scope::{self, Head, Scope};
use super::writer::put_vectors;
use crate::Result;
use crate::index::vectors::{UnitVector, VectorSet};
use crate::store::keys::{Key, Partition, STORE, Table, u32_at};
use crate::store::pages::{Pages, PagesMut};

/// The tables whose keys begin with an embedding.
pub(super) const OF_VECTORS: [Table; 6] =
    [Table::VectorExact, Table::VectorBlock, Table::GraphCatalog, Table::GraphNodes, Table::GraphUpper, Table::GraphChanges];

/// Memories in one step.
pub const STEP: usize = 256;

/// A memory whose vector is still to be made.
#[derive(Debug, Clone)]
pub struct Pending {
    /// Its number.
    pub number: u32,
    /// The revision whose text this is.
    pub revision: u32,
    /// What is to be embedded.
    pub text: String,
}

/// The memories whose time to live is over at `now`, by partition; at most [`STEP`].
pub(super) fn due<P: Pages + ?Sized>(pages: &P, now: i64) -> Result<BTreeMap<Partition, Vec<u32>>> {
    let from = Key::new(STORE, Table::Expiry);
    let to = from.i64(now).u32(u32::MAX).u32(u32::MAX);
    let (mut found, mut count) = (BTreeMap::<Partition, Vec<u32>>::new(), 0);
    pages.scan(from.as_slice(), to.as_slice(), &mut |key, _| {
        if let (Some(partition), Some(number)) = (u32_at(key, 13), u32_at(key, 17)) {
            found.entry(partition).or_default().push(number);
            count += 1;
        }
        Ok(if count < STEP { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(found)
}

/// The next partition behind `after` in which memories lack a vector of `embedding`.
pub(super) fn next_pending<P: Pages + ?Sized>(
    pages: &P,
    embedding: EmbeddingNumber,
    after: Partition,
) -> Result<Option<(Partition, Scope)>> {
    let mut after = after;
    loop {
        let page = scope::list(pages, after, STEP)?;
        let Some((last, _)) = page.last() else { return Ok(None) };
        after = *last;
        for (partition, scope) in page {
            let head = Head::read(pages, partition)?;
            if head.documents > 0 && (head.embedding != embedding || head.vectors < head.documents) {
                return Ok(Some((partition, scope)));
            }
        }
    }
}

/// Memories of a partition from number `first` on that lack a vector of `embedding`; at most [`STEP`].
pub(super) fn pending<P: Pages + ?Sized>(pages: &P, partition: Partition, set: VectorSet, first: u32) -> Result<Vec<Pending>> {
    let (mut found, mut failed) = (Vec::new(), Ok(()));
    record::each_current(pages, partition, first, &mut |memory| {
        match set.contains(pages, memory.number) {
            Ok(true) => {}
            Ok(false) => found.push(Pending { number: memory.number, revision: memory.revision, text: memory.text }),
            Err(error) => {
                failed = Err(error);
                return ControlFlow::Break(());
            }
        }
        if found.len() < STEP { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    failed.map(|()| found)
}

/// Makes `embedding` that of a partition: the vectors of another are dropped, all of its memories wait for new ones.
pub(super) fn adopt(pages: &mut impl PagesMut, partition: Partition, embedding: EmbeddingNumber) -> Result<()> {
    let mut head = Head::read(pages, partition)?;
    if head.embedding == embedding {
        return Ok(());
    }
    if head.embedding != 0 {
        for table in OF_VECTORS {
            remove_all(pages, &Key::new(partition, table).u16(head.embedding))?;
        }
    }
    head.embedding = embedding;
    head.vectors = 0;
    head.write(pages, partition)
}

fn remove_all(pages: &mut impl PagesMut, prefix: &Key) -> Result<()> {
    let range = prefix.prefix_range();
    loop {
        let mut keys = Vec::new();
        pages.scan(&range.start, &range.end, &mut |key, _| {
            keys.push(key.to_vec());
            Ok(if keys.len() < STEP { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        if keys.is_empty() {
            return Ok(());
        }
        for key in keys {
            pages.delete(&key)?;
        }
    }
}

/// Stores vectors that were made later; those whose memory has changed since are dropped. Returns how many were stored.
pub(super) fn fill(
    pages: &mut impl PagesMut,
    partition: Partition,
    set: VectorSet,
    embedding: EmbeddingNumber,
    vectors: &[(u32, u32, UnitVector)],
) -> Result<u64> {
    let mut head = Head::read(pages, partition)?;
    if head.embedding != embedding {
        return Ok(0);
    }
    let mut upserts = Vec::new();
    for (number, revision, vector) in vectors {
        if record::current(pages, partition, *number)?.is_some_and(|memory| memory.revision == *revision) {
            upserts.push((*number, vector.clone()));
        }
    }
    let added = put_vectors(pages, set, &upserts)?;
    head.vectors += added;
    head.write(pages, partition)?;
    Ok(added)
}
