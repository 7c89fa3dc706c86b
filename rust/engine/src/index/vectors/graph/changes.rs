//! Changes to the vectors of a segment since it was built: two bits for each number that it knows.
//!
//! ```text
//! 0    512 bytes   stale: the segment's vector of this number does not count any more; bit i of byte b is number 8 b + i
//! 512  512 bytes   live: the number has a vector that is not the segment's, and must be scored from its block
//! ```
//!
//! One value for 4,096 numbers, written by the transaction that changes the vector. No value: nothing changed there.

use std::ops::ControlFlow;

use super::super::VectorSet;
use super::shape::{PADDING, Shape};
use crate::Result;
use crate::store::envelope::{self, Codec, damaged};
use crate::store::keys::{Key, Table, u32_at};
use crate::store::pages::{Pages, PagesMut};
use crate::store::verified;

const SCHEMA: u8 = 1;
const NUMBERS: u32 = 4096;
const HALF: usize = NUMBERS as usize / 8;

/// The changes, borrowed from a snapshot: pages ascending.
#[derive(Debug, Default)]
pub(super) struct Changes<'p> {
    pages: Vec<(u32, &'p [u8])>,
}

fn bit(number: u32) -> (usize, u8) {
    let at = number % NUMBERS;
    (at as usize / 8, 1 << (at % 8))
}

impl Changes<'_> {
    /// Whether the segment's vector of `number` does not count any more.
    pub fn is_stale(&self, number: u32) -> bool {
        let page = self.pages.binary_search_by_key(&(number / NUMBERS), |&(page, _)| page);
        let (byte, mask) = bit(number);
        page.is_ok_and(|at| self.pages[at].1[byte] & mask != 0)
    }

    /// Numbers whose vector must be scored from its block, ascending.
    pub fn live(&self) -> impl Iterator<Item = u32> {
        self.pages.iter().flat_map(|&(page, body)| {
            let set = |(at, &byte): (usize, &u8)| (0..8).filter(move |i| byte >> i & 1 == 1).map(move |i| at as u32 * 8 + i);
            body[HALF..].iter().enumerate().filter(|&(_, &byte)| byte != 0).flat_map(set).map(move |at| page * NUMBERS + at)
        })
    }

    /// How many segment vectors do not count, and how many must be scored from their blocks.
    pub fn counts(&self) -> (u64, u64) {
        let ones =
            |bytes: &[u8]| bytes.as_chunks::<8>().0.iter().map(|word| u64::from(u64::from_le_bytes(*word).count_ones())).sum::<u64>();
        self.pages.iter().fold((0, 0), |(stale, live), (_, body)| (stale + ones(&body[..HALF]), live + ones(&body[HALF..])))
    }
}

impl VectorSet {
    /// Blanks the codes of vectors that do not count any more in the segment's value `value`; `None` where it has no such value, and
    /// whether something was to be done. Links stay, so that searches go on through the node.
    pub fn blank_stale<P: PagesMut + ?Sized>(&self, pages: &mut P, value: u32) -> Result<Option<bool>> {
        let Some(in_use) = self.graph_catalog(pages)?.and_then(|catalog| catalog.in_use) else { return Ok(None) };
        let key = self.segment_key(Table::GraphNodes, in_use.segment).u32(value);
        let Some(stored) = pages.get(key.as_slice())? else { return Ok(None) };
        let mut body = envelope::open(key.as_slice(), stored)?.body.to_vec();
        let shape = Shape::new(self.dims, usize::from(in_use.m));
        let changes = self.graph_changes(pages, in_use.segment)?;
        let mut blanked = false;
        for record in body.get_mut(PADDING..).unwrap_or_default().chunks_exact_mut(shape.stride) {
            let is_stale = changes.is_stale(shape.number(record));
            let codes = &mut record[shape.head..];
            if is_stale && codes.iter().any(|code| *code != 0) {
                codes.fill(0);
                blanked = true;
            }
        }
        if blanked {
            pages.put(key.as_slice(), &envelope::seal(key.as_slice(), super::segment::SCHEMA, Codec::Packed, &body))?;
        }
        Ok(Some(blanked))
    }

    fn changes_of(&self, segment: u32) -> Key {
        self.graph_table(Table::GraphChanges).u32(segment)
    }

    /// The changes since `segment` was built.
    pub(super) fn graph_changes<'p, P: Pages + ?Sized>(&self, pages: &'p P, segment: u32) -> Result<Changes<'p>> {
        let prefix = self.changes_of(segment);
        let range = prefix.prefix_range();
        let mut changes = Changes::default();
        pages.scan(&range.start, &range.end, &mut |key, value| {
            let page = u32_at(key, prefix.as_slice().len()).ok_or_else(|| damaged(key, "its key is too short"))?;
            let body = verified::open(key, value, SCHEMA, Codec::Packed as u8, |body| body.len() == 2 * HALF)?;
            changes.pages.push((page, body));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(changes)
    }

    /// Tells the segments of the set that vectors change, `live` where they get another and not where they go. `numbers` ascend.
    /// Part of every write of vectors: without a graph, one look-up.
    pub(in super::super) fn note_changes<P: PagesMut + ?Sized>(&self, pages: &mut P, numbers: &[u32], live: bool) -> Result<()> {
        let Some(catalog) = self.graph_catalog(pages)? else { return Ok(()) };
        for (segment, last) in catalog.told() {
            let known = &numbers[..numbers.partition_point(|&number| number <= last)];
            for numbers in known.chunk_by(|a, b| a / NUMBERS == b / NUMBERS) {
                self.note_page(pages, segment, numbers, live)?;
            }
        }
        Ok(())
    }

    fn note_page<P: PagesMut + ?Sized>(&self, pages: &mut P, segment: u32, numbers: &[u32], live: bool) -> Result<()> {
        let key = self.changes_of(segment).u32(numbers[0] / NUMBERS);
        let key = key.as_slice();
        let mut body = match pages.get(key)? {
            Some(value) => verified::open(key, value, SCHEMA, Codec::Packed as u8, |body| body.len() == 2 * HALF)?.to_vec(),
            None => vec![0; 2 * HALF],
        };
        for &number in numbers {
            let (byte, mask) = bit(number);
            body[byte] |= mask;
            body[HALF + byte] = body[HALF + byte] & !mask | if live { mask } else { 0 };
        }
        pages.put(key, &envelope::seal(key, SCHEMA, Codec::Packed, &body))
    }
}
