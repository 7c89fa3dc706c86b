//! The documents of terms that few documents have.

use super::block::List;
use super::cursor::Cursor;
use super::layout::BlockKeys;
use super::lookup::{self, Met};
use super::matches::having;
use super::reader::Reader;
use super::tail::Record;
use crate::Result;
use crate::store::pages::Pages;

impl<P: Pages> Reader<'_, P> {
    /// The documents that have each of some terms, which ascend and stand once: ascending, and none of a term that more than `most` have.
    /// Costs the tail, and a look-up for every term that the tail does not have more often already.
    pub fn of_rare(&self, hashes: &[u64], most: usize) -> Result<Vec<Vec<u32>>> {
        of_rare(self.pages, &mut [(self.index.postings(), None)], &self.tail, (hashes, most))
    }
}

/// The documents that have each of some terms, in some blocks that follow each other in the order of documents, and a tail; none of a term
/// that more than `most` have.
pub(super) fn of_rare<'p, P: Pages>(
    pages: &'p P,
    blocks: &mut [(BlockKeys, Met<'p>)],
    tail: &[Record<'_>],
    (hashes, most): (&[u64], usize),
) -> Result<Vec<Vec<u32>>> {
    let (mut rare, removed) = having(tail, hashes);
    for (hash, rare) in hashes.iter().zip(&mut rare) {
        if rare.len() <= most {
            add_of_blocks((pages, &mut *blocks), *hash, &removed, most, rare)?;
        }
        if rare.len() > most {
            rare.clear();
        }
        rare.sort_unstable();
    }
    Ok(rare)
}

/// Adds the documents of blocks that have a term and are not removed, if they are not many more than `most`.
fn add_of_blocks<'p, P: Pages>(
    (pages, blocks): (&'p P, &mut [(BlockKeys, Met<'p>)]),
    hash: u64,
    removed: &[u32],
    most: usize,
    rare: &mut Vec<u32>,
) -> Result<()> {
    let (mut lists, mut count): (Vec<(&[u8], List<'_>)>, usize) = (Vec::new(), rare.len());
    for (keys, met) in blocks {
        lookup::lists(pages, *keys, hash, met, |key, list| {
            count += lookup::postings_of(key, list)? as usize;
            lists.push((key, list));
            Ok(())
        })?;
        if count > most + removed.len() {
            rare.clear();
            return Ok(());
        }
    }
    if lists.is_empty() {
        return Ok(()); // the tail has all of them
    }
    Cursor::over(&lists)?.each(|number| rare.extend(Some(number).filter(|number| removed.binary_search(number).is_err())))
}
