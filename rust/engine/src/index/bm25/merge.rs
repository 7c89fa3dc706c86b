//! Merging changes into the blocks of postings: each touched block is read once and written once.

use super::TermCount;
use super::group::Group;
use super::layout::{IndexId, Layout, Place};
use super::lookup;
use super::rows::Rows;
use crate::store::keys::Key;
use crate::store::pages::Pages;
use crate::{Error, Result};

/// Something to be written, once everything has been read.
pub(super) enum Write {
    Put(Key, Vec<u8>),
    Delete(Key),
}

/// What becomes of one posting.
#[derive(Debug, Clone, Copy)]
pub(super) struct Change {
    pub term: u64,
    pub number: u32,
    /// The new count; `None` removes the posting, if it is there.
    pub count: Option<u8>,
}

impl Change {
    fn place(self) -> Place {
        Place { term: self.term, number: self.number }
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

/// Adds to `writes` what `changes`, sorted, make of the blocks. `rows` are the rows after the changes.
pub(super) fn plan<P: Pages>(
    layout: Layout,
    pages: &P,
    index: IndexId,
    rows: &mut Rows<'_, P>,
    changes: &[Change],
    writes: &mut Vec<Write>,
) -> Result<()> {
    let mut rest = changes;
    let mut group = Group::new(layout, index);
    while let Some(first) = rest.first() {
        group.clear();
        let mut block = lookup::block_at(pages, index, first.place())?;
        loop {
            let place = block.map_or(Place { term: 0, number: 0 }, |(place, _)| place);
            let next = lookup::block_after(pages, index, place)?;
            let mine = next.map_or(rest.len(), |(upper, _)| rest.partition_point(|change| change.place() < upper));
            group.add(place, block.map(|(_, block)| block), &rest[..mine], rows)?;
            rest = &rest[mine..];
            if next.is_none() || !group.is_small() {
                break;
            }
            block = next;
        }
        group.write(writes);
    }
    Ok(())
}
