//! BM25 over documents that only ever come at the end: a tail, and sealed runs that are merged as they grow.
//!
//! For transcripts. A message of 190 words has a hundred distinct terms; merged into blocks in place, as
//! [`super::apply()`] does, each would dirty a page of its own. Here a full tail is SEALED into a run: blocks of postings like
//! those of any index, in pages with keys of their own, one behind the other and filled. Eight neighbouring runs of one size
//! class are merged into one of the next, a bounded number of pages with each write. `docs/format.md` has the bytes.
//!
//! Documents have ascending numbers, so runs hold ranges of numbers that do not overlap: the list of a term is the lists of
//! the runs, one behind the other, and a search runs over them like over the list of one index. A merge moves lists
//! together without decoding what is long. Nothing is approximate and nothing is a tombstone: a document that is deleted leaves
//! every page that has a term of it in the same write, so that frequencies are exact and none of its terms is found.
//!
//! Not here: attributes and keys of documents (there are none), and documents that come back under an old number.
//!
//! Source of the size classes: O'Neil and others, "The log-structured merge-tree" (1996); of merging neighbours only, so that
//! numbers stay in order: Lucene's `LogMergePolicy`.

mod append;
mod catalog;
mod delete;
mod frequencies;
mod lengths;
mod merge;
mod search;
mod tiers;
mod verify;

#[cfg(test)]
mod tests;

use self::catalog::Catalog;
use super::layout::{IndexId, Layout};
use super::tail::{Kind, Tail};
use super::{Statistics, TermCount, layout};
use crate::Result;
use crate::store::pages::{Pages, PagesMut};
pub use search::{Prepared, Scored, Snapshot};
pub use verify::Audit;

/// A document to be indexed.
#[derive(Debug, Clone, Copy)]
pub struct Document<'a> {
    /// Its number, above that of every document before it.
    pub number: u32,
    /// Its length in words, below 2^31.
    pub length: u32,
    /// Its terms, ascending by hash, each once and with a count of at least 1.
    pub terms: &'a [TermCount],
}

/// How large things get. Tests shrink it so that runs are sealed and merged all the time; a store knows only the default.
#[derive(Debug, Clone, Copy)]
struct Shape {
    layout: Layout,
    /// The most pages of the tail.
    tail_pages: usize,
    /// Runs that are merged into one.
    fan_in: usize,
    /// Blocks that a merge reads in one write, beyond the first of each run.
    step_blocks: usize,
    /// Postings from which on a run is not of the lowest class.
    first_class: u64,
    /// Terms of a long document that are put in blocks at a time.
    slice_terms: usize,
}

impl Default for Shape {
    /// A tail of 16 pages holds some 90 messages of 190 words, and a query reads it in 25 us at most; a merge of 32 blocks
    /// takes one to four milliseconds. `docs/decisions/0014-sealed-runs-for-transcripts.md` has what they give together.
    fn default() -> Self {
        let layout = Layout { dense: true, ..Layout::default() };
        Self { layout, tail_pages: 16, fan_in: 8, step_blocks: 32, first_class: 1 << 15, slice_terms: 1 << 15 }
    }
}

/// One index of sealed runs, as one transaction sees it: open it anew in the next.
///
/// After an error of a call that writes, the transaction must be given up.
#[derive(Debug, Clone)]
pub struct Runs {
    index: IndexId,
    shape: Shape,
    catalog: Catalog,
}

impl Runs {
    /// Reads which runs there are, and nothing else yet. An index that was never written to is empty.
    pub fn open<P: Pages>(pages: &P, index: IndexId) -> Result<Self> {
        Self::open_with(Shape::default(), pages, index)
    }

    fn open_with<P: Pages>(shape: Shape, pages: &P, index: IndexId) -> Result<Self> {
        Ok(Self { index, shape, catalog: Catalog::read(pages, index)? })
    }

    /// How many documents there are, and their lengths together: exact. Reads the tail.
    pub fn statistics<P: Pages>(&self, pages: &P) -> Result<Statistics> {
        Ok(self.statistics_with(&self.tail(pages)?))
    }

    fn statistics_with(&self, tail: &Tail<'_>) -> Statistics {
        let mut statistics = self.catalog.statistics;
        for record in tail.records.iter().filter(|record| record.kind == Kind::Document) {
            statistics.count(record.length);
        }
        statistics
    }

    fn tail<'p, P: Pages>(&self, pages: &'p P) -> Result<Tail<'p>> {
        let tail = Tail::read(pages, self.index)?;
        let mut last = None;
        for record in &tail.records {
            let follows = match record.kind {
                Kind::Document => last < Some(record.number) && record.number >= self.catalog.next_number,
                Kind::AddMore => last == Some(record.number),
                _ => false,
            };
            if !follows {
                return Err(layout::malformed(self.index.tail(0).as_slice()));
            }
            last = Some(record.number);
        }
        Ok(tail)
    }

    /// Whether merges are under way, or what they made of no use is still there.
    #[must_use]
    pub fn is_merging(&self) -> bool {
        self.catalog.is_busy()
    }

    /// Goes on with merges that are due, as far as one write may; says whether there is more to do.
    ///
    /// Every [`Self::append`] does as much, so that only a caller that wants all of it done now needs this.
    pub fn maintain<P: PagesMut>(&mut self, pages: &mut P) -> Result<bool> {
        self.advance(pages, 0)?;
        Ok(self.catalog.is_busy())
    }
}
