//! Everything that a set of vectors holds, for the doctor: are the blocks what the exact vectors say?

use std::ops::ControlFlow;

use super::VectorSet;
use super::query::quantise;
use crate::Result;
use crate::store::envelope::damaged;
use crate::store::keys::{Key, Table, u32_at};
use crate::store::pages::Pages;

impl VectorSet {
    /// The numbers that have a vector, ascending. Blocks and exact vectors that disagree are damage: a number that only one
    /// of them has, codes that are not those of the exact vector, blocks that overlap.
    pub fn audit<P: Pages + ?Sized>(&self, pages: &P) -> Result<Vec<u32>> {
        let mut numbers: Vec<u32> = Vec::new();
        let range = self.blocks().prefix_range();
        pages.scan(&range.start, &range.end, &mut |key, value| {
            for entry in self.open_block(key, value)?.entries() {
                if numbers.last().is_some_and(|last| *last >= entry.number) {
                    return Err(damaged(key, "its block overlaps the one before it"));
                }
                if self.is_exact() {
                    self.compare(pages, key, entry.number, entry.scale, entry.row)?;
                }
                numbers.push(entry.number);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if !self.is_exact() {
            return Ok(numbers);
        }
        match self.exact_numbers(pages)?.iter().find(|number| numbers.binary_search(number).is_err()) {
            None => Ok(numbers),
            Some(number) => Err(damaged(self.exact(*number).as_slice(), "this exact vector stands in no block, so that no scan finds it")),
        }
    }

    fn compare<P: Pages + ?Sized>(&self, pages: &P, key: &[u8], number: u32, scale: f32, row: &[u8]) -> Result<()> {
        let exact = self.get(pages, number)?;
        let exact = exact.ok_or_else(|| damaged(key, &format!("its vector of memory {number} has no exact vector")))?;
        let mut codes = Vec::with_capacity(row.len());
        let same = quantise(&exact, &mut codes).to_bits() == scale.to_bits() && codes.iter().zip(row).all(|(a, b)| *a as u8 == *b);
        if same { Ok(()) } else { Err(damaged(key, &format!("its codes of memory {number} are not those of the exact vector"))) }
    }

    fn exact_numbers<P: Pages + ?Sized>(&self, pages: &P) -> Result<Vec<u32>> {
        let prefix = Key::new(self.partition, Table::VectorExact).u16(self.embedding);
        let range = prefix.prefix_range();
        let mut numbers: Vec<u32> = Vec::new();
        pages.scan(&range.start, &range.end, &mut |key, _| {
            let number = u32_at(key, prefix.as_slice().len()).ok_or_else(|| damaged(key, "its key is too short for a vector"))?;
            if numbers.last() != Some(&number) {
                numbers.push(number);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(numbers)
    }
}
