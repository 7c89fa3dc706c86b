//! Merging changes into the blocks of postings: each touched block is read once and written once.

use super::TermCount;
use super::group::Group;
use super::layout::{self, BlockKeys, Layout, PostingKey};
use super::lengths::Lengths;
use super::lookup;
use crate::store::keys::Key;
use crate::store::pages::{Pages, PagesMut};
use crate::{Error, Result};

/// Something to be written, once everything has been read.
pub(super) enum Write {
    Put(Key, Vec<u8>),
    Delete(Key),
}

impl Write {
    /// Puts a value with this body.
    pub fn put(key: Key, body: &[u8]) -> Self {
        Self::Put(key, layout::value(&key, body.len(), |out| out.extend_from_slice(body)))
    }

    /// Does it.
    pub fn apply(&self, pages: &mut impl PagesMut) -> Result<()> {
        match self {
            Self::Put(key, value) => pages.put(key.as_slice(), value),
            Self::Delete(key) => pages.delete(key.as_slice()).map(drop),
        }
    }
}

/// A change to one posting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    pub term: u64,
    pub number: u32,
    /// The new count; `None` removes the posting, if it is there.
    pub count: Option<u8>,
}

impl Change {
    pub fn place(self) -> PostingKey {
        PostingKey { term: self.term, number: self.number }
    }
}

/// Changes in the order of operations: `term | number | operation | action` in 128 bits, so that sorting is fast.
#[derive(Default)]
pub(super) struct Changes {
    packed: Vec<u128>,
    operations: u32,
}

const ACTION_BITS: u32 = 9;
const REMOVE: u128 = 1 << 8;
const MAX_OPERATIONS: u32 = 1 << (32 - ACTION_BITS);

impl Changes {
    /// Adds or removes the postings of a document.
    pub fn push(&mut self, number: u32, add: bool, terms: impl Iterator<Item = TermCount>) {
        let operation = ((number as u128) << 32) | ((self.operations.min(MAX_OPERATIONS - 1) as u128) << ACTION_BITS);
        self.packed.extend(terms.map(|term| {
            let action = if add { term.count as u128 } else { REMOVE };
            ((term.hash as u128) << 64) | operation | action
        }));
        self.operations += 1;
    }

    /// By term and number; of several changes to one posting the last.
    pub fn sorted(mut self) -> Result<Vec<Change>> {
        if self.operations > MAX_OPERATIONS {
            return Err(Error::invalid(format!(
                "indexing {} documents in one call: at most {MAX_OPERATIONS} are allowed: give them in smaller batches",
                self.operations
            )));
        }
        self.packed.sort_unstable();
        let posting = |change: &u128| change >> 32;
        let last_of_each = self.packed.chunk_by(|a, b| posting(a) == posting(b)).filter_map(<[u128]>::last);
        Ok(last_of_each.map(|&change| unpack(change)).collect())
    }
}

fn unpack(change: u128) -> Change {
    let count = if change & REMOVE == 0 { Some(change as u8) } else { None };
    Change { term: (change >> 64) as u64, number: (change >> 32) as u32, count }
}

/// Adds to `writes` what `changes`, sorted, make of the blocks. `lengths` are those after the changes.
///
/// Returns how many stored postings were removed or replaced.
pub(super) fn plan<P: Pages>(
    layout: Layout,
    pages: &P,
    keys: BlockKeys,
    lengths: &mut impl Lengths,
    changes: &[Change],
    writes: &mut Vec<Write>,
) -> Result<u64> {
    let mut rest = changes;
    let mut group = Group::new(layout, keys);
    while let Some(first) = rest.first() {
        group.clear();
        let mut block = lookup::block_at(pages, keys, first.place())?;
        loop {
            let place = block.map_or(PostingKey { term: 0, number: 0 }, |(place, _)| place);
            let next = lookup::block_after(pages, keys, place)?;
            let mine = next.map_or(rest.len(), |(upper, _)| rest.partition_point(|change| change.place() < upper));
            group.add(place, block.map(|(_, block)| block), &rest[..mine], lengths)?;
            rest = &rest[mine..];
            if next.is_none() || !group.is_small() {
                break;
            }
            block = next;
        }
        group.write(writes);
    }
    Ok(group.replaced)
}
