//! Work that can wait: expiry, vectors that could not be made, vectors of another embedding, recalls to be made durable.
//!
//! Each step is a write of its own, bounded in size, so that other writers come between. A partition changes its embedding so:
//!
//! ```text
//! begin      head.building = new              the old vectors are searched; writes add to both, as far as they can
//! fill       vectors of `new`, beside         the last one switches: head.embedding = new, head.leaving = old
//! sweep      the old vectors, block by block  then head.leaving = 0
//! ```
//!
//! Whatever dies in between, the head says where the next one goes on.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::embedding::{self, EmbeddingNumber};
use super::record;
use super::writer::put_vectors;
use crate::index::vectors::{UnitVector, VectorSet, vectors_per_block};
use crate::scope::Head;
use crate::store::keys::{Key, Partition, STORE, Table, u32_at};
use crate::store::pages::{Pages, PagesMut};
use crate::store::reserve;
use crate::{ErrorKind, Result};

/// The tables whose keys begin with an embedding.
pub(crate) const OF_VECTORS: [Table; 6] =
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
    /// The text that is to be embedded.
    pub text: String,
}

/// Writes for all of `numbers`, [`STEP`] in a transaction. On a full disk it takes fewer: what a few free makes room for the others.
pub(crate) fn in_steps<T>(numbers: &[u32], mut write: impl FnMut(Vec<u32>) -> Result<T>) -> Result<Vec<T>> {
    let (mut rest, mut most, mut done) = (numbers, STEP, Vec::new());
    while !rest.is_empty() {
        let (step, behind) = rest.split_at(most.min(rest.len()));
        let mut attempt = || write(step.to_vec());
        let written = if step.len() > 1 { reserve::in_part(attempt) } else { attempt() };
        match written {
            Err(error) if error.kind() == ErrorKind::StoreFull && step.len() > 1 => most = step.len() / 2,
            written => {
                done.push(written?);
                rest = behind;
            }
        }
    }
    Ok(done)
}

/// The memories whose time to live is over at `now`, by partition; at most [`STEP`].
pub(crate) fn due<P: Pages + ?Sized>(pages: &P, now: i64) -> Result<BTreeMap<Partition, Vec<u32>>> {
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

/// Whether memories of a partition lack a vector of `embedding`, or are still searched by another.
pub(crate) fn lacks(head: &Head, embedding: EmbeddingNumber) -> bool {
    head.documents > 0 && (head.embedding != embedding || head.vectors < head.documents)
}

/// Memories of a partition from number `first` on that lack a vector of `embedding`; at most [`STEP`].
pub(crate) fn pending<P: Pages + ?Sized>(pages: &P, partition: Partition, set: VectorSet, first: u32) -> Result<Vec<Pending>> {
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

/// Begins to build the vectors of `embedding` beside those that a partition has. With `alone`, what is being built of another
/// embedding is given up even where `embedding` is the one that is searched.
pub(crate) fn begin(pages: &mut impl PagesMut, partition: Partition, embedding: EmbeddingNumber, alone: bool) -> Result<()> {
    let mut head = Head::read(pages, partition)?;
    let before = head;
    head.begin(embedding);
    if alone && head.embedding == embedding && head.building != 0 && head.leaving == 0 {
        (head.leaving, head.building, head.built) = (head.building, 0, 0);
    }
    if head == before { Ok(()) } else { head.write(pages, partition) }
}

/// Removes some of the vectors that nobody needs any more; whether any are left.
pub(crate) fn sweep(pages: &mut impl PagesMut, partition: Partition) -> Result<bool> {
    let mut head = Head::read(pages, partition)?;
    if head.leaving == 0 {
        return Ok(false);
    }
    let set = VectorSet::new(partition, head.leaving, embedding::dimensions(pages, head.leaving)?)?;
    if set.clear_some(pages, STEP / vectors_per_block(set.dims()) + 1)? {
        return Ok(true);
    }
    head.leaving = 0;
    head.write(pages, partition)?;
    Ok(false)
}

/// Makes the vectors of `embedding` those that are searched, where they are whole: but for `refused` texts, of which the embedder makes
/// none. Where it refuses most of them, the old ones stay.
pub(crate) fn conclude(pages: &mut impl PagesMut, partition: Partition, embedding: EmbeddingNumber, refused: u64) -> Result<()> {
    let mut head = Head::read(pages, partition)?;
    let whole = head.built + refused >= head.documents && head.built >= refused;
    if head.building != embedding || head.leaving != 0 || !whole {
        return Ok(());
    }
    head.switch();
    head.write(pages, partition)
}

/// Stores vectors that were made later; those whose memory has changed since are dropped. Returns how many were stored.
pub(crate) fn fill(
    pages: &mut impl PagesMut,
    partition: Partition,
    set: VectorSet,
    embedding: EmbeddingNumber,
    vectors: &[(u32, u32, UnitVector)],
) -> Result<u64> {
    let mut head = Head::read(pages, partition)?;
    if head.embedding != embedding && head.building != embedding {
        return Ok(0);
    }
    let mut upserts = Vec::new();
    for (number, revision, vector) in vectors {
        if record::current(pages, partition, *number)?.is_some_and(|memory| memory.revision == *revision) {
            upserts.push((*number, vector.clone()));
        }
    }
    let added = put_vectors(pages, set, &upserts)?;
    if head.embedding == embedding {
        head.vectors += added;
    } else {
        head.built += added;
        if head.built >= head.documents && head.leaving == 0 {
            head.switch();
        }
    }
    head.write(pages, partition)?;
    Ok(added)
}
