//! What each thread lately merged: the number of tokens of pretokens of up to 15 bytes that are not tokens.
//!
//! About one pretoken in ten of prose has to be merged, which costs ten times what finding a token costs; but names and rare
//! words come again within minutes. One entry is a 128-bit word that holds the bytes themselves, so a hit is exact. A table a
//! thread needs no synchronisation; it is direct-mapped and keeps the newest.

use std::cell::RefCell;

use super::Encoding;

/// Entries a table: 64 KiB, which the second-level cache holds beside the vocabulary's filter.
const ENTRIES: usize = 4096;
/// Where the count stands in an entry, above the bytes and their number.
const COUNT_SHIFT: u32 = 124;
const KEY: u128 = (1 << COUNT_SHIFT) - 1;

/// The pretokens that this thread merged lately, for one encoding.
#[derive(Default)]
pub(super) struct Recent {
    /// Empty until first used: threads that never count pay nothing.
    entries: Vec<u128>,
}

impl Recent {
    /// Runs `work` with this thread's table of an encoding; with an empty one while the thread is being torn down.
    #[inline]
    pub(super) fn with<T>(encoding: Encoding, mut work: impl FnMut(&mut Self) -> T) -> T {
        thread_local! {
            static TABLES: [RefCell<Recent>; Encoding::ALL.len()] =
                const { [const { RefCell::new(Recent { entries: Vec::new() }) }; Encoding::ALL.len()] };
        }
        let with_own =
            TABLES.try_with(|tables| tables[encoding.number() as usize].try_borrow_mut().ok().map(|mut recent| work(&mut recent)));
        match with_own {
            Ok(Some(result)) => result,
            _ => work(&mut Self::default()),
        }
    }

    /// The count of the pretoken with this key, from the table or else from `merge`.
    #[inline]
    pub(super) fn count(&mut self, key: u128, merge: impl FnOnce() -> usize) -> usize {
        if self.entries.is_empty() {
            self.entries = vec![0; ENTRIES];
        }
        let entry = &mut self.entries[slot(key)];
        if *entry & KEY == key {
            return (*entry >> COUNT_SHIFT) as usize;
        }
        let count = merge();
        *entry = key | (count as u128) << COUNT_SHIFT;
        count
    }
}

#[inline]
fn slot(key: u128) -> usize {
    let folded = (key as u64) ^ ((key >> 64) as u64).rotate_left(29);
    (folded.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 52) as usize & (ENTRIES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_exactly_what_it_was_told() {
        let mut recent = Recent::default();
        let key = |i: u128| i | 7u128 << 120;
        for i in 0..50_000 {
            assert_eq!(recent.count(key(i), || (i % 15) as usize + 1), (i % 15) as usize + 1);
            assert_eq!(recent.count(key(i), || unreachable!("just told")), (i % 15) as usize + 1);
        }
        for i in 0..50_000 {
            assert_eq!(recent.count(key(i), || (i % 15) as usize + 1), (i % 15) as usize + 1);
        }
    }
}
