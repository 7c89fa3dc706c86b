//! The lengths of sealed documents, by number: 1,018 to a page, each as a u32 that is one more, and 0 where there is none.

use super::super::blocks::{self, Blocks};
use super::super::layout::IndexId;
use super::super::lengths::Lengths;
use super::super::merge::Write;
use crate::Result;
use crate::store::envelope::damaged;
use crate::store::keys::Table;
use crate::store::pages::Pages;

/// Lengths of a block.
const BLOCK: u32 = 1018;

/// A length is below this, so that one more still fits, and a sum of them is far from its limit.
pub(super) const MAX_LENGTH: u32 = 1 << 31;

pub(super) struct RunLengths<'p, P> {
    blocks: Blocks<'p, P>,
    /// The lengths to be written, by number: a length, or `None` for a document that goes.
    newer: Vec<(u32, Option<u32>)>,
}

impl<'p, P: Pages> RunLengths<'p, P> {
    pub fn new(pages: &'p P, index: IndexId) -> Self {
        Self { blocks: Blocks::new(pages, index, Table::RunLengths, size_of::<u32>()), newer: Vec::new() }
    }

    /// Lays a length, or the end of a document, over what is stored.
    pub fn set(&mut self, number: u32, length: Option<u32>) {
        match self.newer.binary_search_by_key(&number, |&(n, _)| n) {
            Ok(at) => self.newer[at].1 = length,
            Err(at) => self.newer.insert(at, (number, length)),
        }
    }

    /// The length of a sealed document, as it will be; `None` if there is no such document.
    pub fn find(&mut self, number: u32) -> Result<Option<u32>> {
        match self.newer.binary_search_by_key(&number, |&(n, _)| n) {
            Ok(at) => Ok(self.newer[at].1),
            Err(_) => self.stored(number),
        }
    }

    #[inline]
    fn stored(&mut self, number: u32) -> Result<Option<u32>> {
        Ok(one_more(self.block(number)?, number).checked_sub(1))
    }

    /// The block that `number` belongs to; empty where there is none.
    #[inline]
    fn block(&mut self, number: u32) -> Result<&'p [[u8; 4]]> {
        Ok(self.blocks.get(number / BLOCK)?.unwrap_or_default().as_chunks().0)
    }

    #[cold]
    fn missing(&self, number: u32) -> crate::Error {
        let key = self.blocks.key(number / BLOCK);
        damaged(key.as_slice(), &format!("it has no length for document {number}, which has postings"))
    }

    /// The blocks that hold everything laid over them.
    pub fn writes(&mut self) -> Result<Vec<Write>> {
        let newer = std::mem::take(&mut self.newer);
        let mut writes = Vec::new();
        for lengths in newer.chunk_by(|a, b| a.0 / BLOCK == b.0 / BLOCK) {
            let block = lengths[0].0 / BLOCK;
            let mut items = self.blocks.copy(block)?;
            for &(number, length) in lengths {
                let stored = length.map_or(0, |length| length + 1);
                blocks::put(&mut items, (number % BLOCK) as usize, &stored.to_le_bytes());
            }
            writes.push(Write::put(self.blocks.key(block), &items));
        }
        self.newer = newer;
        Ok(writes)
    }

    /// Calls `visit` with every document of block `block` and its length.
    pub fn each(&mut self, block: u32, visit: &mut dyn FnMut(u32, u32)) -> Result<()> {
        let first = block.saturating_mul(BLOCK);
        for (number, stored) in (first..).zip(self.block(first)?) {
            if let Some(length) = u32::from_le_bytes(*stored).checked_sub(1) {
                visit(number, length);
            }
        }
        Ok(())
    }
}

fn one_more(block: &[[u8; 4]], number: u32) -> u32 {
    block.get((number % BLOCK) as usize).map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

impl<P: Pages> Lengths for RunLengths<'_, P> {
    fn length(&mut self, number: u32) -> Result<u32> {
        self.find(number)?.ok_or_else(|| self.missing(number))
    }

    fn stored_length(&mut self, number: u32) -> Result<u32> {
        self.stored(number)?.ok_or_else(|| self.missing(number))
    }

    #[inline]
    fn stored_lengths(&mut self, numbers: &[u32], out: &mut [u16]) -> Result<bool> {
        // All bits of any length: of short ones alone they are those of a short one.
        let (mut bits, mut from) = (0, 0);
        while let Some(&number) = numbers.get(from) {
            let block = self.block(number)?;
            let first = number - number % BLOCK;
            let in_block = match numbers.last() {
                Some(&last) if last - first < BLOCK => numbers.len() - from,
                _ => numbers[from..].partition_point(|&number| number - first < BLOCK),
            };
            for (out, &number) in out[from..].iter_mut().zip(&numbers[from..from + in_block]) {
                // A document without a length becomes the longest, and a reader that reads long ones one by one finds out.
                let length = one_more(block, number).wrapping_sub(1);
                *out = length as u16;
                bits |= length;
            }
            from += in_block;
        }
        Ok(u16::try_from(bits).is_ok())
    }
}
