//! The tail: the newest operations of an index, one after the other in one page, or a few in a large index.
//!
//! ```text
//! 0         u8        1 add, 2 remove, 3 update, 4 more terms of the add before, 5 more terms of the removal before,
//!                     6 add without a row
//! 1         u8        0
//! 2         u16       k: keys
//! 4         u16       o: terms with a count of 1
//! 6         u16       c: terms with another count
//! 8         u32       number of the document
//! 12        32 bytes  attribute row (1 and 3), or u32, the length (6)
//! ..        u64 x o+c+k  hashes: terms of count 1, other terms, keys
//! ..        u8 x c    counts of the other terms
//! ```
//!
//! A removal counts all its hashes under `o`. It repeats the document's terms, so that frequencies stay exact although
//! nothing says which terms a stored document has. Records do not cross pages; long ones go on in another record.

use std::ops::ControlFlow;

use super::apply::each_distinct;
use super::layout::{self, IndexId, Layout, malformed};
use super::merge::Write;
use super::row::{ROW_BYTES, Row};
use super::{Op, TermCount};
use crate::Result;
use crate::store::pages::Pages;

const HEAD_BYTES: usize = 12;

/// A record is continued in a page only where at least so many of its terms fit.
const FEWEST_TERMS: usize = 8;

/// The effect of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Add = 1,
    Remove = 2,
    Update = 3,
    AddMore = 4,
    RemoveMore = 5,
    /// An add that gives a length and no row, in an index of sealed runs.
    Document = 6,
}

impl Kind {
    /// Whether its terms are added; those of the others are removed, or there are none.
    pub fn adds(self) -> bool {
        matches!(self, Self::Add | Self::AddMore | Self::Document)
    }

    fn has_row(self) -> bool {
        matches!(self, Self::Add | Self::Update)
    }

    fn more(self) -> Self {
        if self.adds() { Self::AddMore } else { Self::RemoveMore }
    }
}

/// An operation of the tail.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'t> {
    pub kind: Kind,
    pub number: u32,
    /// The row of an add or update.
    pub row: Option<&'t [u8; ROW_BYTES]>,
    /// The length that an add gives.
    pub length: u32,
    ones: usize,
    hashes: &'t [u8],
    counts: &'t [u8],
}

impl<'t> Record<'t> {
    /// Its terms with their counts, then its keys with a count of 0.
    pub fn terms(&self) -> impl Iterator<Item = TermCount> + use<'t> {
        let record = *self;
        self.hashes().enumerate().map(move |(at, hash)| TermCount { hash, count: record.count(at) })
    }

    /// The count of the hash at `at`; 0 for a key.
    #[inline]
    pub fn count(&self, at: usize) -> u8 {
        if at < self.ones { 1 } else { self.counts.get(at - self.ones).copied().unwrap_or(0) }
    }

    /// The hashes alone, in the same order.
    #[inline]
    pub fn hashes(&self) -> impl Iterator<Item = u64> + use<'t> {
        self.hash_bytes().iter().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// The hashes as they are stored.
    #[inline]
    pub fn hash_bytes(&self) -> &'t [[u8; 8]] {
        self.hashes.as_chunks::<8>().0
    }

    /// The records of a page; `None` where its bytes are none.
    pub fn all(mut page: &'t [u8]) -> impl Iterator<Item = Option<Self>> {
        std::iter::from_fn(move || {
            let record = (!page.is_empty()).then(|| Self::parse(&mut page));
            if record.is_some_and(|record| record.is_none()) {
                page = &[];
            }
            record
        })
    }

    fn parse(rest: &mut &'t [u8]) -> Option<Self> {
        let head = take(rest, HEAD_BYTES)?;
        let u16_at = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]) as usize;
        let (keys, ones, counted) = (u16_at(2), u16_at(4), u16_at(6));
        let kind = match head[0] {
            1 => Kind::Add,
            2 => Kind::Remove,
            3 => Kind::Update,
            4 => Kind::AddMore,
            5 => Kind::RemoveMore,
            6 => Kind::Document,
            _ => return None,
        };
        let number = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
        let row = if kind.has_row() { Some(take(rest, ROW_BYTES)?.first_chunk()?) } else { None };
        let length = match row {
            None if kind == Kind::Document => u32::from_le_bytes(*take(rest, 4)?.first_chunk()?),
            row => row.map_or(0, |row| Row::from_bytes(row).length),
        };
        let hashes = take(rest, 8 * (ones + counted + keys))?;
        Some(Self { kind, number, row, length, ones, hashes, counts: take(rest, counted)? })
    }
}

fn take<'t>(rest: &mut &'t [u8], n: usize) -> Option<&'t [u8]> {
    let (taken, left) = rest.split_at_checked(n)?;
    *rest = left;
    Some(taken)
}

/// A tail that was read.
pub(super) struct Tail<'p> {
    bodies: Vec<&'p [u8]>,
    /// The content of its pages, oldest first.
    pub records: Vec<Record<'p>>,
}

impl<'p> Tail<'p> {
    pub fn read<P: Pages>(pages: &'p P, index: IndexId) -> Result<Self> {
        let mut tail = Self { bodies: Vec::new(), records: Vec::new() };
        let (from, to) = (index.tail(0), index.tail(u8::MAX as usize));
        pages.scan(from.as_slice(), to.as_slice(), &mut |key, value| {
            if key != index.tail(tail.bodies.len()).as_slice() {
                return Err(malformed(key));
            }
            let body = layout::body(key, value)?;
            tail.bodies.push(body);
            for record in Record::all(body) {
                tail.records.push(record.ok_or_else(|| malformed(key))?);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(tail)
    }

    /// How many pages there are.
    pub fn pages(&self) -> usize {
        self.bodies.len()
    }

    /// The pages that change when `ops` are appended; `None` if there would be more than `most` pages.
    pub fn append(&self, layout: Layout, index: IndexId, most: usize, ops: &[Op<'_>]) -> Option<Vec<Write>> {
        let capacity = layout.body_bytes();
        let bytes: usize = self.bodies.iter().map(|body| body.len()).sum::<usize>() + ops.iter().map(bytes_of).sum::<usize>();
        if bytes > most * capacity {
            return None;
        }
        let first = self.bodies.len().saturating_sub(1);
        let mut appended = Appended { capacity, pages: vec![self.bodies.last().copied().unwrap_or_default().to_vec()] };
        each_distinct(ops, |op, terms| match *op {
            Op::Add { number, row, .. } => appended.push(Kind::Add, number, &row.present().to_bytes(), terms),
            Op::Remove { number, .. } => appended.push(Kind::Remove, number, &[], terms),
            Op::Update { number, row } => appended.push(Kind::Update, number, &row.present().to_bytes(), terms),
        });
        (first + appended.pages.len() <= most).then(|| appended.writes(index, first))
    }
}

/// Bytes that `op` takes in a tail, if no term of it is given twice and no page ends in it.
fn bytes_of(op: &Op<'_>) -> usize {
    let counted = |terms: &[TermCount]| terms.iter().filter(|term| term.count != 1).count();
    HEAD_BYTES
        + match op {
            Op::Add { terms, keys, .. } => ROW_BYTES + 8 * (terms.len() + keys.len()) + counted(terms),
            Op::Remove { terms, keys, .. } => 8 * (terms.len() + keys.len()),
            Op::Update { .. } => ROW_BYTES,
        }
}

/// The last page of a tail, and those that are added.
pub(super) struct Appended {
    pub capacity: usize,
    pub pages: Vec<Vec<u8>>,
}

impl Appended {
    /// The pages, numbered from `first`.
    pub fn writes(&self, index: IndexId, first: usize) -> Vec<Write> {
        self.pages.iter().zip(first..).map(|(body, page)| Write::put(index.tail(page), body)).collect()
    }

    /// `fixed` is the row, or the length; `terms` are distinct, keys among them with a count of 0.
    pub fn push(&mut self, mut kind: Kind, number: u32, mut fixed: &[u8], mut terms: &[TermCount]) {
        loop {
            let used = self.pages.last().map_or(self.capacity, Vec::len);
            let head = HEAD_BYTES + fixed.len();
            let fitting = fitting(kind, terms, self.capacity.saturating_sub(used + head));
            let too_few = fitting < terms.len().min(FEWEST_TERMS);
            if used > 0 && (used + head > self.capacity || too_few) {
                self.pages.push(Vec::with_capacity(self.capacity));
                continue;
            }
            let (here, rest) = terms.split_at(fitting);
            if let Some(page) = self.pages.last_mut() {
                push_record(kind, number, fixed, here, page);
            }
            if rest.is_empty() {
                return;
            }
            (kind, fixed, terms) = (kind.more(), &[], rest);
        }
    }
}

/// How many of `terms` take at most `room` bytes.
fn fitting(kind: Kind, terms: &[TermCount], room: usize) -> usize {
    let mut bytes = 0;
    let fits = |term: &&TermCount| {
        bytes += 8 + usize::from(kind.adds() && term.count > 1);
        bytes <= room
    };
    terms.iter().take_while(fits).count()
}

fn push_record(kind: Kind, number: u32, fixed: &[u8], terms: &[TermCount], out: &mut Vec<u8>) {
    let class = |term: &TermCount| match term.count {
        _ if !kind.adds() => 1,
        0 => 0,
        1 => 1,
        _ => 2,
    };
    let of_class = |wanted: u8| terms.iter().filter(move |term| class(term) == wanted);
    let size = |wanted| (of_class(wanted).count() as u16).to_le_bytes();
    out.extend([kind as u8, 0]);
    out.extend([size(0), size(1), size(2)].as_flattened());
    out.extend(number.to_le_bytes());
    out.extend_from_slice(fixed);
    for wanted in [1, 2, 0] {
        out.extend(of_class(wanted).flat_map(|term| term.hash.to_le_bytes()));
    }
    out.extend(of_class(2).map(|term| term.count));
}
