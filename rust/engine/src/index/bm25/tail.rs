//! The tail: the newest operations of an index, one after the other in one value.
//!
//! ```text
//! 0         u8        1 add, 2 remove, 3 update
//! 1         u8        0
//! 2         u16       k: keys
//! 4         u16       o: terms with a count of 1
//! 6         u16       c: terms with another count
//! 8         u32       number of the document
//! 12        32 bytes  attribute row (add and update)
//! ..        u64 x o+c+k  hashes: terms of count 1, other terms, keys
//! ..        u8 x c    counts of the other terms
//! ```
//!
//! A removal counts all its hashes under `o`. It repeats the document's terms, so that frequencies stay exact although
//! nothing says which terms a stored document has.

use super::layout::malformed;
use super::row::ROW_BYTES;
use super::{Op, TermCount};
use crate::Result;

const HEAD_BYTES: usize = 12;

/// What an operation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    Add = 1,
    Remove = 2,
    Update = 3,
}

/// An operation of the tail.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'t> {
    pub kind: Kind,
    pub number: u32,
    /// The row of an add or update.
    pub row: Option<&'t [u8; ROW_BYTES]>,
    ones: usize,
    hashes: &'t [u8],
    counts: &'t [u8],
}

impl<'t> Record<'t> {
    /// Its terms with their counts, then its keys with a count of 0.
    pub fn terms(&self) -> impl Iterator<Item = TermCount> + use<'t> {
        let (ones, counts) = (self.ones, self.counts);
        self.hashes().enumerate().map(move |(i, hash)| {
            let count = if i < ones { 1 } else { counts.get(i - ones).copied().unwrap_or(0) };
            TermCount { hash, count }
        })
    }

    /// The hashes alone, in the same order.
    pub fn hashes(&self) -> impl Iterator<Item = u64> + use<'t> {
        self.hashes.chunks_exact(8).map(|b| u64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]))
    }

    fn parse(rest: &mut &'t [u8]) -> Option<Self> {
        let head = take(rest, HEAD_BYTES)?;
        let u16_at = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]) as usize;
        let (keys, ones, counted) = (u16_at(2), u16_at(4), u16_at(6));
        let kind = match head[0] {
            1 => Kind::Add,
            2 => Kind::Remove,
            3 => Kind::Update,
            _ => return None,
        };
        let number = u32::from_le_bytes([head[8], head[9], head[10], head[11]]);
        let row = if kind == Kind::Remove { None } else { Some(take(rest, ROW_BYTES)?.first_chunk()?) };
        let hashes = take(rest, 8 * (ones + counted + keys))?;
        Some(Self { kind, number, row, ones, hashes, counts: take(rest, counted)? })
    }
}

fn take<'t>(rest: &mut &'t [u8], n: usize) -> Option<&'t [u8]> {
    let (taken, left) = rest.split_at_checked(n)?;
    *rest = left;
    Some(taken)
}

/// The operations of a tail's body, oldest first.
pub(super) fn parse<'t>(key: &[u8], mut body: &'t [u8]) -> Result<Vec<Record<'t>>> {
    let mut records = Vec::with_capacity(body.len() / 200 + 1);
    while !body.is_empty() {
        records.push(Record::parse(&mut body).ok_or_else(|| malformed(key))?);
    }
    Ok(records)
}

/// Bytes that `op` takes in a tail, if no term of it is given twice; fewer if one is.
pub(super) fn bytes_of(op: &Op<'_>) -> usize {
    let counted = |terms: &[TermCount]| terms.iter().filter(|term| term.count != 1).count();
    HEAD_BYTES
        + match op {
            Op::Add { terms, keys, .. } => ROW_BYTES + 8 * (terms.len() + keys.len()) + counted(terms),
            Op::Remove { terms, keys, .. } => 8 * (terms.len() + keys.len()),
            Op::Update { .. } => ROW_BYTES,
        }
}

/// Appends an operation that fits; `terms` are its distinct terms, keys among them with a count of 0.
pub(super) fn push(kind: Kind, number: u32, row: Option<[u8; ROW_BYTES]>, terms: &[TermCount], out: &mut Vec<u8>) {
    let class = |term: &TermCount| match term.count {
        _ if kind == Kind::Remove => 1,
        0 => 0,
        1 => 1,
        _ => 2,
    };
    let of_class = |wanted: u8| terms.iter().filter(move |term| class(term) == wanted);
    let size = |wanted| (of_class(wanted).count() as u16).to_le_bytes();
    out.extend([kind as u8, 0]);
    out.extend([size(0), size(1), size(2)].as_flattened());
    out.extend(number.to_le_bytes());
    out.extend(row.into_iter().flatten());
    for wanted in [1, 2, 0] {
        out.extend(of_class(wanted).flat_map(|term| term.hash.to_le_bytes()));
    }
    out.extend(of_class(2).map(|term| term.count));
}
