//! Recent counts of any thread: the number of tokens of pretokens of up to 15 bytes that do not show at first sight to be one.
//!
//! About one pretoken in ten of prose has to be merged or sought for, which costs ten times as much as a look. But names and rare
//! words come again within minutes. An entry is two 64-bit words, the bytes themselves with their number and the count, so a hit is exact.
//! The first word is stored XOR a mix of the second: two threads that write one entry at a time leave words that match no key
//! (as in [`super::cache`]). No thread waits for another. A pair of entries is one row: the newest, and the one before.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use super::load::bring;

/// Rows a table. A row is 32 bytes, the table 512 KiB: the words of a language that are not tokens, and little against its vocabulary.
const ROWS: usize = 1 << 14;
/// Where the count stands in the second word, above the number of bytes.
const COUNT_SHIFT: u32 = 60;
const KEY: u64 = (1 << COUNT_SHIFT) - 1;
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// The pretokens of one encoding that were counted lately.
pub(super) struct Recent {
    rows: Box<[Row]>,
    /// The count of each character of three bytes (most of Asia's) where it stands alone; 0 where that is not known yet.
    alone: Box<[AtomicU8]>,
}

#[derive(Default)]
#[repr(align(32))]
struct Row([Entry; 2]);

#[derive(Default)]
struct Entry {
    low: AtomicU64,
    high: AtomicU64,
}

impl Recent {
    pub(super) fn new() -> Self {
        Self { rows: (0..ROWS).map(|_| Row::default()).collect(), alone: (0..=u16::MAX).map(|_| AtomicU8::new(0)).collect() }
    }

    /// The count of a character of three bytes, from the table or else from `count`.
    #[inline]
    pub(super) fn alone(&self, character: [u8; 3], count: impl FnOnce() -> usize) -> usize {
        let [first, second, third] = character.map(|byte| usize::from(byte & 63));
        let slot = &self.alone[(first << 12 | second << 6 | third) & 0xFFFF];
        match slot.load(Relaxed) {
            0 => {
                let count = count();
                slot.store(count as u8, Relaxed);
                count
            }
            known => usize::from(known),
        }
    }

    /// Brings the row of a key nearer.
    #[inline(always)]
    pub(super) fn bring(&self, hash: u64) {
        bring(&self.rows[row(hash)]);
    }

    /// The count of the pretoken with this key and its hash, from the table or else from `count`.
    #[inline(always)]
    pub(super) fn count(&self, [low, high]: [u64; 2], hash: u64, count: impl FnOnce() -> usize) -> usize {
        let row @ [newest, older] = &self.rows[row(hash)].0;
        newest.count(low, high).or_else(|| older.count(low, high)).unwrap_or_else(|| Self::learn(row, [low, high], count))
    }

    #[inline(never)]
    fn learn([newest, older]: &[Entry; 2], [low, high]: [u64; 2], count: impl FnOnce() -> usize) -> usize {
        let count = count();
        older.set(newest.low.load(Relaxed), newest.high.load(Relaxed));
        let marked = high | (count as u64) << COUNT_SHIFT;
        newest.set(low ^ mixed(marked), marked);
        count
    }
}

impl Entry {
    #[inline]
    fn count(&self, low: u64, high: u64) -> Option<usize> {
        let marked = self.high.load(Relaxed);
        (marked & KEY == high && self.low.load(Relaxed) ^ mixed(marked) == low).then_some((marked >> COUNT_SHIFT) as usize)
    }

    #[inline]
    fn set(&self, low: u64, high: u64) {
        self.low.store(low, Relaxed);
        self.high.store(high, Relaxed);
    }
}

#[inline]
fn mixed(word: u64) -> u64 {
    (word ^ word >> 29).wrapping_mul(MIX)
}

#[inline]
fn row(hash: u64) -> usize {
    (hash >> 50) as usize & (ROWS - 1)
}

#[cfg(test)]
mod tests {
    use super::super::pieces::hash;
    use super::*;

    fn key(number: u128) -> [u64; 2] {
        [number as u64, (number >> 64) as u64 | 7 << 56]
    }

    fn told(recent: &Recent, key: [u64; 2], count: impl FnOnce() -> usize) -> usize {
        recent.count(key, hash(key), count)
    }

    #[test]
    fn remembers_exactly_what_it_was_told() {
        let recent = Recent::new();
        for _ in 0..2 {
            for i in 0..100_000 {
                let count = (i % 15) as usize + 1;
                assert_eq!(told(&recent, key(i), || count), count);
                assert_eq!(told(&recent, key(i), || unreachable!("just told")), count);
            }
        }
    }

    /// Threads that write the same rows with other counts read their own keys' counts or none.
    #[test]
    fn threads_never_read_what_another_key_counts() {
        let recent = Recent::new();
        std::thread::scope(|scope| {
            for thread in 0..4u128 {
                let recent = &recent;
                scope.spawn(move || {
                    for round in 0..200_000u128 {
                        let number = ((round % 64) << 64) | ((round * 7 + thread) % 64);
                        let count = (number ^ (number >> 64)) as usize % 15 + 1;
                        assert_eq!(told(recent, key(number), || count), count);
                    }
                });
            }
        });
    }
}
