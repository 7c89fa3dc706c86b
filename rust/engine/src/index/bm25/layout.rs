//! Where an index keeps its values, and how large they get.

use std::ops::Range;

use crate::store::envelope::{self, Codec, ENVELOPE_BYTES, ONE_PAGE};
use crate::store::keys::{Key, Partition, Table};
use crate::store::verified;
use crate::{Error, Result};

/// One index: a partition, and a number within it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IndexId {
    /// The scope's partition.
    pub partition: Partition,
    /// 0 memories, 1 transcripts, then collections.
    pub index: u8,
}

/// Layout of every value here, as the envelope's schema byte says.
const SCHEMA: u8 = 1;

impl IndexId {
    fn key(self, table: Table) -> Key {
        Key::new(self.partition, table).u8(self.index)
    }

    /// The key of a page of the tail: the first has the index alone, the others their number behind it.
    pub(super) fn tail(self, page: usize) -> Key {
        let first = self.key(Table::Tail);
        if page == 0 { first } else { first.u8(page as u8) }
    }

    pub(super) fn block(self, table: Table, block: u32) -> Key {
        self.key(table).u32(block)
    }

    /// The key of what is known of its sealed runs.
    pub(super) fn catalog(self) -> Key {
        self.key(Table::RunCatalog)
    }

    /// The keys of the blocks of a sealed run.
    pub(super) fn run(self, run: u32) -> BlockKeys {
        BlockKeys::new(self.key(Table::RunPages).u32(run))
    }

    /// The keys of the blocks of its sealed runs.
    pub(super) fn runs(self) -> Key {
        self.key(Table::RunPages)
    }

    /// The keys of its blocks of postings.
    pub(super) fn postings(self) -> BlockKeys {
        BlockKeys::new(self.key(Table::Postings))
    }
}

/// The keys of blocks of postings that belong together: those of an index, or of one sealed run.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockKeys {
    prefix: Key,
}

impl BlockKeys {
    /// Keys that begin with `prefix`, and go on with a [`PostingKey`].
    pub fn new(prefix: Key) -> Self {
        Self { prefix }
    }

    /// The key of the block that begins at `place`.
    pub fn at(self, place: PostingKey) -> Key {
        self.prefix.u64(place.term).u32(place.number)
    }

    /// The place that `key` names, if it is one of these keys.
    pub fn place(self, key: &[u8]) -> Option<PostingKey> {
        let rest = key.strip_prefix(self.prefix.as_slice())?;
        let (term, number) = rest.split_first_chunk::<8>()?;
        let number: [u8; 4] = number.try_into().ok()?;
        Some(PostingKey { term: u64::from_be_bytes(*term), number: u32::from_be_bytes(number) })
    }

    /// All of them.
    pub fn range(self) -> Range<Vec<u8>> {
        self.prefix.prefix_range()
    }
}

/// A point in the order of all postings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PostingKey {
    pub term: u64,
    pub number: u32,
}

/// No document has this number: it closes the last range.
pub(super) const NO_NUMBER: u32 = u32::MAX;

/// How large values get. Tests shrink it so that blocks split and join often; a store knows only the default.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    /// The longest value, envelope included.
    pub page_bytes: usize,
    /// The most postings of a run.
    pub run_postings: usize,
    /// The tail may have one page for so many words of all documents, at least one.
    pub words_per_tail_page: u64,
    /// Pages are filled, as nothing comes between their terms later. Else they are left with room.
    pub dense: bool,
}

/// The most pages of a tail. A query reads one in about a microsecond.
const MAX_TAIL_PAGES: u64 = 16;

impl Default for Layout {
    fn default() -> Self {
        Self { page_bytes: ONE_PAGE, run_postings: super::list::RUN, words_per_tail_page: 40_000, dense: false }
    }
}

impl Layout {
    pub fn body_bytes(self) -> usize {
        self.page_bytes - ENVELOPE_BYTES
    }

    /// Pages that the tail may have. They grow with the index: the more blocks a merge rewrites, the more rarely it should,
    /// and the longer a query takes anyway. Values written for one add to 1,000 texts of 250 words: 56 with one page of
    /// tail, 12 with these six; to 500 texts of 2,000 words: 305, and 41 with sixteen (measured 2026-11-22, benches/bm25.rs).
    pub fn tail_pages(self, total_length: u64) -> usize {
        (total_length / self.words_per_tail_page).clamp(1, MAX_TAIL_PAGES) as usize
    }
}

/// The body of a value of an index, checked on first touch.
pub(super) fn body<'v>(key: &[u8], value: &'v [u8]) -> Result<&'v [u8]> {
    verified::open(key, value, SCHEMA, Codec::Packed as u8, |_| true)
}

/// A value whose body `fill` appends.
pub(super) fn value(key: &Key, capacity: usize, fill: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut value = Vec::with_capacity(ENVELOPE_BYTES + capacity);
    value.resize(ENVELOPE_BYTES, 0);
    fill(&mut value);
    envelope::seal_in_place(key.as_slice(), SCHEMA, Codec::Packed as u8, &mut value);
    value
}

/// The error of a block whose fields contradict each other behind a right checksum.
pub(super) fn malformed(key: &[u8]) -> Error {
    envelope::damaged(key, "its fields contradict each other")
}
