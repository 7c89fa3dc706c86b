//! A block of postings: the sorted terms of a page, and for each its list.
//!
//! ```text
//! 0         u16       n: terms
//! 2         u16       0
//! 4         n x u64   hashes, ascending
//! 4 + 8n    n x u16   where each list begins, counted from the end of this array; bit 15: it is packed
//! 4 + 10n   ..        lists, in the order of the terms, without gaps
//! ```
//!
//! A packed list:
//!
//! ```text
//! 0         u16       postings
//! 2         u16       r: runs
//! 4         u8        greatest count
//! 5         u8        code of a length that no document is below
//! 6         r x 12    heads of the runs
//! 6 + 12r   ..        bytes of the runs
//! ```
//!
//! All little-endian. The key is a lower bound of what the block holds, and the next block's key an upper one.

use super::layout::malformed;
use super::list::{RunHead, length_of};
use crate::Result;
use crate::store::envelope::ONE_PAGE_BODY;

pub(super) const HEAD_BYTES: usize = 4;
const TERM_BYTES: usize = 10;
const PACKED: u16 = 0x8000;
const PACKED_HEAD_BYTES: usize = 6;

/// A block that can be read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'p> {
    pub key: &'p [u8],
    terms: &'p [u8],
    starts: &'p [u8],
    lists: &'p [u8],
}

impl<'p> Block<'p> {
    pub fn parse(key: &'p [u8], body: &'p [u8]) -> Result<Self> {
        let head = body.get(..HEAD_BYTES).filter(|_| body.len() <= ONE_PAGE_BODY).ok_or_else(|| malformed(key))?;
        let n = u16::from_le_bytes([head[0], head[1]]) as usize;
        let rest = &body[HEAD_BYTES..];
        if rest.len() < n * TERM_BYTES {
            return Err(malformed(key));
        }
        let (terms, rest) = rest.split_at(n * 8);
        let (starts, lists) = rest.split_at(n * 2);
        Ok(Self { key, terms, starts, lists })
    }

    pub fn len(&self) -> usize {
        self.starts.len() / 2
    }

    /// The term at `at`, which is below [`Self::len`].
    #[inline]
    pub fn term(&self, at: usize) -> u64 {
        self.terms.get(at * 8..).and_then(|rest| rest.first_chunk()).map_or(u64::MAX, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Where `term` is, or where it would be.
    pub fn find(&self, term: u64) -> Result<usize, usize> {
        let at = self.first_between(0, self.len(), term);
        if at < self.len() && self.term(at) == term { Ok(at) } else { Err(at) }
    }

    /// The first place from `at` on whose term is not below `term`; quick where that is near.
    pub fn first_from(&self, at: usize, term: u64) -> usize {
        let (mut low, mut step) = (at, 1);
        while low + step <= self.len() && self.term(low + step - 1) < term {
            low += step;
            step *= 2;
        }
        self.first_between(low, (low + step - 1).min(self.len()), term)
    }

    /// The first of these places whose term is not below `term`; `high` where there is none.
    fn first_between(&self, mut low: usize, mut high: usize, term: u64) -> usize {
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.term(middle) < term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    fn start(&self, at: usize) -> Option<u16> {
        let bytes = self.starts.get(at * 2..)?.first_chunk()?;
        Some(u16::from_le_bytes(*bytes))
    }

    /// The list of the term at `at`.
    pub fn list(&self, at: usize) -> Result<List<'p>> {
        self.list_at(at).ok_or_else(|| malformed(self.key))
    }

    /// Takes the block apart: its lists go to the end of `arena`, and `units` says which bytes are what.
    pub fn units(&self, arena: &mut Vec<u8>, units: &mut Vec<Unit>) -> Result<()> {
        units.reserve(self.len() + self.len() / 4);
        let base = arena.len() as u32;
        arena.extend_from_slice(self.lists);
        self.units_from(base, units).ok_or_else(|| malformed(self.key))
    }

    fn units_from(&self, base: u32, units: &mut Vec<Unit>) -> Option<()> {
        let (terms, starts) = (self.terms.as_chunks::<8>().0, self.starts.as_chunks::<2>().0);
        let ends = starts.iter().skip(1).map(|start| u16::from_le_bytes(*start) & !PACKED).chain([self.lists.len() as u16]);
        let mut last = None;
        for ((term, start), end) in terms.iter().zip(starts).zip(ends) {
            let (term, start) = (u64::from_le_bytes(*term), u16::from_le_bytes(*start));
            let from = start & !PACKED;
            if last >= Some(term) || from > end || end as usize > self.lists.len() {
                return None;
            }
            last = Some(term);
            if start & PACKED == 0 {
                units.push(Unit { term, start: base + from as u32, end: base + end as u32, head: None });
            } else {
                let packed = Packed::parse(self.key, &self.lists[from as usize..end as usize])?;
                packed.units(term, base + from as u32, units)?;
            }
        }
        Some(())
    }

    fn list_at(&self, at: usize) -> Option<List<'p>> {
        let start = self.start(at)?;
        let end = self.start(at + 1).map_or(self.lists.len(), |next| (next & !PACKED) as usize);
        let from = (start & !PACKED) as usize;
        let bytes = self.lists.get(from..end)?;
        if start & PACKED == 0 { Some(List::Short(bytes)) } else { Packed::parse(self.key, bytes).map(List::Packed) }
    }
}

/// A term's list in one block.
#[derive(Debug, Clone, Copy)]
pub(super) enum List<'p> {
    Short(&'p [u8]),
    Packed(Packed<'p>),
}

/// A list of runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packed<'p> {
    key: &'p [u8],
    pub postings: u32,
    pub max_count: u8,
    pub min_length: u32,
    heads: &'p [u8],
    bytes: &'p [u8],
}

impl<'p> Packed<'p> {
    fn parse(key: &'p [u8], list: &'p [u8]) -> Option<Self> {
        let (head, rest) = list.split_first_chunk::<PACKED_HEAD_BYTES>()?;
        let runs = u16::from_le_bytes([head[2], head[3]]) as usize;
        if runs == 0 || rest.len() < runs * RunHead::BYTES {
            return None;
        }
        let (heads, bytes) = rest.split_at(runs * RunHead::BYTES);
        let postings = u16::from_le_bytes([head[0], head[1]]) as u32;
        Some(Self { key, postings, max_count: head[4], min_length: length_of(head[5]), heads, bytes })
    }

    /// The runs, which must ascend; the list begins at `base` of the arena.
    fn units(&self, term: u64, base: u32, units: &mut Vec<Unit>) -> Option<()> {
        let base = base + (PACKED_HEAD_BYTES + self.heads.len()) as u32;
        let (mut start, mut last) = (0, None);
        for run in 0..self.runs() {
            let head = self.head(run).ok()?;
            if head.end < start || head.end as usize > self.bytes.len() || last >= Some(head.first) {
                return None;
            }
            units.push(Unit { term, start: base + start as u32, end: base + head.end as u32, head: Some(head) });
            (start, last) = (head.end, Some(head.first));
        }
        Some(())
    }

    pub fn runs(&self) -> usize {
        self.heads.len() / RunHead::BYTES
    }

    #[inline]
    pub fn head(&self, run: usize) -> Result<RunHead> {
        let bytes = self.heads.get(run * RunHead::BYTES..).and_then(|rest| rest.first_chunk());
        bytes.and_then(RunHead::from_bytes).ok_or_else(|| malformed(self.key))
    }

    /// The bytes of a run and all that follow: what decodes fastest.
    pub fn bytes_from(&self, run: usize) -> Result<&'p [u8]> {
        let start = if run == 0 { 0 } else { self.head(run - 1)?.end as usize };
        self.bytes.get(start..).ok_or_else(|| malformed(self.key))
    }
}

/// A part from which a block is put together: a short list, or a run. Its bytes are elsewhere.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit {
    pub term: u64,
    /// Where its bytes begin and end in the arena that the unit belongs to.
    pub start: u32,
    pub end: u32,
    /// The head of a run; a short list has none.
    pub head: Option<RunHead>,
}

impl Unit {
    pub fn bytes<'a>(&self, arena: &'a [u8]) -> &'a [u8] {
        &arena[self.start as usize..self.end as usize]
    }

    /// Bytes that the unit adds to a block whose last unit is `before`.
    pub fn cost(&self, before: Option<&Unit>) -> usize {
        let new_term = before.is_none_or(|unit| unit.term != self.term);
        let of_term = if new_term { TERM_BYTES + if self.head.is_some() { PACKED_HEAD_BYTES } else { 0 } } else { 0 };
        let of_head = if self.head.is_some() { RunHead::BYTES } else { 0 };
        of_term + of_head + (self.end - self.start) as usize
    }
}

/// Bytes of the body of a block of `units`.
pub(super) fn body_bytes(units: &[Unit]) -> usize {
    let mut before = None;
    HEAD_BYTES + units.iter().map(|unit| unit.cost(before.replace(unit))).sum::<usize>()
}

/// Appends the body of a block. No term may have both a short list and a run.
pub(super) fn write(units: &[Unit], arena: &[u8], out: &mut Vec<u8>) {
    let n = units.chunk_by(|a, b| a.term == b.term).count();
    out.extend((n as u32).to_le_bytes());
    let terms = out.len();
    out.resize(terms + n * TERM_BYTES, 0);
    let (starts, base) = (terms + n * 8, out.len());
    // Short lists that were neighbours before are copied together.
    let mut copied = 0..0;
    let mut rest = units;
    let mut at = 0;
    while let Some(unit) = rest.first() {
        if copied.end != unit.start || unit.head.is_some() {
            out.extend_from_slice(&arena[copied.start as usize..copied.end as usize]);
            copied = unit.start..unit.start;
        }
        let mut start = (out.len() - base) as u16 + (copied.end - copied.start) as u16;
        let mut of_term = 1;
        if unit.head.is_some() {
            start |= PACKED;
            of_term = rest.iter().take_while(|other| other.term == unit.term).count();
            write_list(&rest[..of_term], arena, out);
            copied = 0..0;
        } else {
            copied.end = unit.end;
        }
        out[terms + 8 * at..][..8].copy_from_slice(&unit.term.to_le_bytes());
        out[starts + 2 * at..][..2].copy_from_slice(&start.to_le_bytes());
        rest = &rest[of_term..];
        at += 1;
    }
    out.extend_from_slice(&arena[copied.start as usize..copied.end as usize]);
}

/// Appends a packed list.
fn write_list(list: &[Unit], arena: &[u8], out: &mut Vec<u8>) {
    let heads = || list.iter().filter_map(|unit| unit.head);
    let postings: u16 = heads().map(|head| head.postings as u16).sum();
    out.extend(postings.to_le_bytes());
    out.extend((list.len() as u16).to_le_bytes());
    out.push(heads().map(|head| head.max_count).max().unwrap_or(0));
    out.push(heads().map(|head| head.length_code).min().unwrap_or(0));
    let mut end = 0;
    for unit in list {
        end += (unit.end - unit.start) as u16;
        out.extend(unit.head.map(|head| RunHead { end, ..head }.to_bytes()).unwrap_or_default());
    }
    for unit in list {
        out.extend_from_slice(unit.bytes(arena));
    }
}
