//! BM25 over one partition: an inverted index in one-page values, updated in the transaction of the record.
//!
//! An index is a partition and a number ([`IndexId`]): memories, transcripts, a collection. It holds four kinds of values.
//! The TAIL is a page or a few with the newest operations, and every query scans it. POSTINGS are sorted blocks of (term, document,
//! count). ATTRIBUTES are 127 fixed rows a block with the fields that filters read. LENGTHS are the one attribute that scoring reads.
//! A write appends to the tail and dirties one page; when the tail is full it is merged into the blocks in the same
//! transaction. `docs/format.md` has the bytes.
//!
//! Scores are exact: every contribution is rounded to a whole number of 2^-32 before it is added, so that a sum does not
//! depend on its order, and [`Reader::top_k`], which skips what cannot win, answers as [`Reader::score_all`] would.
//!
//! Other modules say which terms a text has (`text`), define documents (`memory`) and fuse scores (`recall`).
//! Terms are 64-bit hashes; two texts whose hashes collide are one term.
//!
//! Source of the formula: Robertson, Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
//! inverse document frequency that is never negative (as in Lucene). Of the skipping: Turtle, Flood, "Query evaluation:
//! strategies and optimizations" (1995); its block maxima: Ding, Suel (SIGIR 2011).

mod apply;
mod audit;
mod bits;
mod block;
mod blocks;
mod cursor;
mod formula;
mod group;
mod layout;
mod lengths;
mod list;
mod lookup;
mod matches;
mod merge;
mod pruned;
mod rare;
mod reader;
mod rehash;
mod row;
mod rows;
pub mod runs;
mod tail;
mod window;

#[cfg(test)]
mod tests;

pub use crate::text::TermCount;
pub use apply::{Op, apply, is_unsettled, settle};
pub use audit::Indexed;
pub use formula::{Formula, Parameters};
pub use layout::IndexId;
pub use reader::{Contribution, Found, Hit, Query, QueryTerm, Reader};
pub use rehash::rehash;
pub use row::{NEVER, PRESENT, Row};

/// The figures of a whole index that the formula needs; the caller keeps it in the partition's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Documents that are present.
    pub documents: u64,
    /// The sum of their lengths.
    pub total_length: u64,
}

impl Statistics {
    /// Counts a document more; forged counts stay at their limit.
    fn count(&mut self, length: u32) {
        self.documents = self.documents.saturating_add(1);
        self.total_length = self.total_length.saturating_add(u64::from(length));
    }
}
