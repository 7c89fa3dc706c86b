//! Chunks that wait for their vector: the same steps as for memories, on another table.

use super::head::Head;
use super::record::{self, ChunkRecord};
use crate::Result;
use crate::index::vectors::{UnitVector, VectorSet, vectors_per_block};
use crate::memory::embedding::{self, EmbeddingNumber};
use crate::memory::maintain::{Pending, STEP};
use crate::store::keys::Partition;
use crate::store::pages::{Pages, PagesMut};

/// Whether chunks of a partition lack a vector of `embedding`.
pub(crate) fn next_pending<P: Pages + ?Sized>(pages: &P, partition: Partition, embedding: EmbeddingNumber) -> Result<bool> {
    let head = Head::read(pages, partition)?;
    Ok(head.chunks > 0 && (head.embedding != embedding || head.vectors < head.chunks))
}

/// Makes `embedding` that of a partition, once the vectors of the one before are gone; removes some of these, and says whether it is to be
/// called again. Until then, and until the new vectors are made, the collection is searched by words.
pub(crate) fn adopt(pages: &mut impl PagesMut, partition: Partition, embedding: EmbeddingNumber) -> Result<bool> {
    let mut head = Head::read(pages, partition)?;
    let before = head.embedding;
    if before == embedding {
        return Ok(false);
    }
    head.vectors = 0;
    let mut left = false;
    if before != 0 {
        let set = VectorSet::new(partition, before, embedding::dimensions(pages, before)?)?;
        left = set.clear_some(pages, STEP / vectors_per_block(set.dims()) + 1)?;
    }
    if !left {
        head.embedding = embedding;
    }
    head.write(pages, partition)?;
    Ok(left)
}

/// Chunks from number `first` on that lack a vector; at most [`STEP`].
pub(crate) fn pending<P: Pages + ?Sized>(pages: &P, partition: Partition, set: VectorSet, first: u32) -> Result<Vec<Pending>> {
    let (mut found, mut from) = (Vec::new(), first);
    loop {
        let numbers = record::chunk_numbers(pages, partition, from, STEP)?;
        let Some(last) = numbers.last() else { return Ok(found) };
        from = last.saturating_add(1);
        for number in numbers {
            if !set.contains(pages, number)? {
                let text = ChunkRecord::read(pages, partition, number)?.indexed(pages, partition)?;
                found.push(Pending { number, revision: 1, text });
            }
            if found.len() == STEP {
                return Ok(found);
            }
        }
    }
}

/// Stores vectors that were made later; those whose chunk is gone are dropped. Returns how many were stored.
pub(crate) fn fill(
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
    let mut new = Vec::new();
    for (number, _, vector) in vectors {
        if ChunkRecord::find(pages, partition, *number)?.is_some() && !set.contains(pages, *number)? {
            new.push((*number, vector));
        }
    }
    set.put_many(pages, &new)?;
    head.vectors += new.len() as u64;
    head.write(pages, partition)?;
    Ok(new.len() as u64)
}
