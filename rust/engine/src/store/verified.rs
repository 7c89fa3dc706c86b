//! Checksums that are computed once: which values this process has already verified where they lie.
//!
//! A direct-mapped table of (address, checksum), one atomic word each. LMDB never changes a page that a reader can see, and a
//! new version of a page carries a new checksum, so a value with the same checksum at the same address is the one that was
//! verified. Forgetting (two values of one slot) costs a second verification, never a wrong answer. It does not
//! notice memory that goes bad while the process runs. Backups and the doctor read everything anew.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::envelope::{self, ENVELOPE_BYTES};
use crate::Result;

/// 4 MiB of zeros that the system hands out as they are touched: 512 MiB of pages, with so many slots each. Values that lie side by side in
/// a store has slots side by side, so that the values of a scope touch few pages of the table: each costs an interruption.
const SLOTS: usize = PAGES * SLOTS_OF_A_PAGE;
const PAGES: usize = 1 << 17;
const SLOTS_OF_A_PAGE: usize = 4;

static SEEN: Slots<SLOTS, { SLOTS / NEAR / 64 }> = Slots::new();

/// A page of small values has more of them than slots. The slots here, one for each of the places on a page where a value may begin, serve
/// those whose own slot holds another value of the same page.
const CROWDED_SLOTS: usize = CROWDED_PAGES * PLACES_OF_A_PAGE;
const CROWDED_PAGES: usize = 1 << 9;
const PLACES_OF_A_PAGE: usize = 1 << 6;

static CROWDED: Slots<CROWDED_SLOTS, { CROWDED_SLOTS / NEAR / 64 }> = Slots::new();

/// Slots that lie on one page of memory.
const NEAR: usize = 4096 / size_of::<AtomicU64>();

/// A table of N words.
struct Slots<const N: usize, const WORDS: usize> {
    words: [AtomicU64; N],
    /// Which of its pages were written to. A first read of memory that nobody wrote to has the system map a page of zeros, and the first
    /// write another in its place: two faults, where a write alone costs one.
    touched: [AtomicU64; WORDS],
}

impl<const N: usize, const WORDS: usize> Slots<N, WORDS> {
    const fn new() -> Self {
        Self { words: [const { AtomicU64::new(0) }; N], touched: [const { AtomicU64::new(0) }; WORDS] }
    }

    #[inline]
    fn get(&self, slot: usize) -> u64 {
        let page = slot / NEAR;
        if self.touched[page / 64].load(Relaxed) >> (page % 64) & 1 == 0 {
            self.touch(slot);
        }
        self.words[slot].load(Relaxed)
    }

    /// Writes to a page for the first time. A value that another thread noted in the slot meanwhile is verified once more.
    #[cold]
    #[inline(never)]
    fn touch(&self, slot: usize) {
        self.words[slot].store(0, Relaxed);
        self.touched[slot / NEAR / 64].fetch_or(1 << (slot / NEAR % 64), Relaxed);
    }

    /// Writes to a slot that was read.
    fn set(&self, slot: usize, word: u64) {
        self.words[slot].store(word, Relaxed);
    }

    fn clear(&self) {
        for (page, slots) in self.words.chunks(NEAR).enumerate() {
            if self.touched[page / 64].load(Relaxed) >> (page % 64) & 1 == 1 {
                for slot in slots {
                    slot.store(0, Relaxed);
                }
            }
        }
    }
}

/// The slots of a value, and the words that stand there once it is verified.
#[derive(Clone, Copy)]
struct Place {
    page: u64,
    offset: u64,
    checksum: u32,
}

impl Place {
    #[inline]
    fn of(value: &[u8], checksum: u32) -> Self {
        let address = value.as_ptr() as u64;
        Self { page: address >> 12, offset: address & 0xfff, checksum }
    }

    /// Neighbouring pages have neighbouring slots (a scan walks the table in order); values within one page are spread over its own.
    #[inline]
    fn slot(self) -> usize {
        self.page as usize % PAGES * SLOTS_OF_A_PAGE + (self.offset.wrapping_mul(0x9E35) >> 14) as usize % SLOTS_OF_A_PAGE
    }

    /// Slot, page above it and offset together are the whole address (of 47 or 48 bits).
    #[inline]
    fn word(self) -> u64 {
        self.worded(self.page >> PAGES.trailing_zeros() << 12 | self.offset)
    }

    /// The slot of a value among those of crowded pages.
    #[inline]
    fn crowded_slot(self) -> usize {
        self.page as usize % CROWDED_PAGES * PLACES_OF_A_PAGE + (self.offset >> OFFSETS_OF_A_PLACE) as usize
    }

    /// The whole address, as above.
    #[inline]
    fn crowded_word(self) -> u64 {
        let within = self.offset & ((1 << OFFSETS_OF_A_PLACE) - 1);
        self.worded(self.page >> CROWDED_PAGES.trailing_zeros() << OFFSETS_OF_A_PLACE | within)
    }

    #[inline]
    fn worded(self, tag: u64) -> u64 {
        u64::from(tag as u32) << 32 | u64::from(self.checksum)
    }

    /// The checks that this value passed.
    #[inline]
    fn noted(self) -> Noted {
        let (seen, word) = (SEEN.get(self.slot()), self.word());
        let noted = Noted::of(seen, word);
        if noted == Noted::Nothing && is_beside(seen, word) {
            Noted::of(CROWDED.get(self.crowded_slot()), self.crowded_word())
        } else {
            noted
        }
    }

    /// Notes it, unless another value of its page has its slot: among those of crowded pages then.
    fn note(self, as_word: impl Fn(u64) -> u64) {
        let (slot, word) = (self.slot(), self.word());
        if is_beside(SEEN.get(slot), word) {
            let slot = self.crowded_slot();
            CROWDED.get(slot);
            CROWDED.set(slot, as_word(self.crowded_word()));
        } else {
            SEEN.set(slot, as_word(word));
        }
    }
}

/// Bits of an offset that do not tell the place on a page.
const OFFSETS_OF_A_PLACE: u32 = 12 - PLACES_OF_A_PAGE.trailing_zeros();

/// Whether a slot holds another value of the page of the value that has this word there.
#[inline]
fn is_beside(seen: u64, word: u64) -> bool {
    let tags = (seen ^ word) >> 32;
    seen != 0 && tags != 0 && tags >> 12 == 0
}

/// The checks that a value passed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Noted {
    Nothing,
    /// Its checksum is right.
    Intact,
    /// A reader of its schema found it consistent as well.
    Consistent,
}

impl Noted {
    #[inline]
    fn of(seen: u64, word: u64) -> Self {
        match seen ^ word {
            0 => Self::Consistent,
            difference if difference == weaker(0) => Self::Intact,
            _ => Self::Nothing,
        }
    }
}

/// The body of a value of the given schema and codec. On first touch, checks its checksum and calls `is_consistent`.
#[inline]
pub fn open<'v>(key: &[u8], value: &'v [u8], schema: u8, codec: u8, is_consistent: impl FnOnce(&'v [u8]) -> bool) -> Result<&'v [u8]> {
    if let Some((head, body)) = value.split_first_chunk::<ENVELOPE_BYTES>()
        && head[..4] == [schema, codec, 0, 0]
        && Place::of(value, checksum_in(*head)).noted() == Noted::Consistent
    {
        return Ok(body);
    }
    open_first(key, value, schema, codec, is_consistent)
}

/// Whether a value of any schema is what was written at `key`, computed once.
#[inline]
pub fn intact(key: &[u8], value: &[u8]) -> Result<()> {
    if let Some(head) = value.first_chunk::<ENVELOPE_BYTES>()
        && Place::of(value, checksum_in(*head)).noted() != Noted::Nothing
    {
        return Ok(());
    }
    intact_first(key, value)
}

/// The first touch, and everything that is wrong.
#[cold]
#[inline(never)]
fn intact_first(key: &[u8], value: &[u8]) -> Result<()> {
    let envelope = envelope::open_unverified(key, value)?;
    envelope::verify(key, value, &envelope)?;
    Place::of(value, envelope.checksum).note(weaker);
    Ok(())
}

/// Marks a value as intact whose envelope was just made from bytes that the cipher authenticated.
pub fn note(value: &[u8]) {
    if let Some(head) = value.first_chunk::<ENVELOPE_BYTES>() {
        Place::of(value, checksum_in(*head)).note(weaker);
    }
}

/// The word in place of `word` where only the checksum was compared: `open` asks for more.
#[inline]
fn weaker(word: u64) -> u64 {
    word ^ u64::from(u32::MAX)
}

/// The first touch by a reader of one schema, and everything that is wrong.
#[cold]
#[inline(never)]
fn open_first<'v>(key: &[u8], value: &'v [u8], schema: u8, codec: u8, is_consistent: impl FnOnce(&'v [u8]) -> bool) -> Result<&'v [u8]> {
    let envelope = envelope::open_unverified(key, value)?;
    let place = Place::of(value, envelope.checksum);
    if place.noted() != Noted::Intact {
        envelope::verify(key, value, &envelope)?;
    }
    if (envelope.schema, envelope.codec, envelope.key_id) != (schema, codec, 0) {
        return Err(envelope::damaged(key, "its schema or codec is not one that this version of memspan writes there"));
    }
    if !is_consistent(envelope.body) {
        return Err(envelope::damaged(key, "its checksum is right but its fields contradict each other"));
    }
    place.note(|word| word);
    Ok(envelope.body)
}

/// Forgets what was verified. To be called when an environment is unmapped: its addresses may hold another file next.
pub fn forget_all() {
    SEEN.clear();
    CROWDED.clear();
}

/// The checksum in a head.
#[inline]
fn checksum_in(head: [u8; ENVELOPE_BYTES]) -> u32 {
    u32::from_le_bytes([head[4], head[5], head[6], head[7]])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::envelope::{Codec, seal};

    #[test]
    fn other_bytes_at_a_checked_address_are_checked_again() {
        let key = b"\0\0\0\x01\x30\0first";
        let read = |buffer: &[u8]| open(key, buffer, 1, Codec::Packed as u8, |_| true).map(<[u8]>::to_vec);
        let mut buffer = seal(key, 1, Codec::Packed, b"one block");
        assert!(read(&buffer).is_ok());
        buffer.copy_from_slice(&seal(key, 1, Codec::Packed, b"its twin."));
        assert_eq!(read(&buffer).expect("another checksum"), b"its twin.");
        buffer.copy_from_slice(&seal(b"elsewhere", 1, Codec::Packed, b"misplaced"));
        assert!(read(&buffer).is_err());
        assert!(open(key, &buffer, 2, Codec::Packed as u8, |_| true).is_err());
    }

    #[test]
    fn a_page_of_small_values_is_verified_once() {
        let key = b"\0\0\0\x01\x30\0small";
        let value = seal(key, 1, Codec::Packed, &[7; 88]);
        let mut memory = vec![0_u8; 3 * 4096];
        let start = memory.as_ptr().align_offset(4096);
        let page = &mut memory[start..start + 4096];
        page.chunks_exact_mut(value.len()).for_each(|place| place.copy_from_slice(&value));
        let is_noted = |value: &[u8], noted| Place::of(value, checksum_in(*value.first_chunk().expect("a head"))).noted() == noted;
        let values = || page.chunks_exact(value.len());
        assert!(values().len() > 40 && values().all(|value| is_noted(value, Noted::Nothing)));
        values().for_each(|value| intact(key, value).expect("as it was sealed"));
        assert!(values().all(|value| is_noted(value, Noted::Intact)));
        values().for_each(|value| assert!(open(key, value, 1, Codec::Packed as u8, |_| true).is_ok()));
        assert!(values().all(|value| is_noted(value, Noted::Consistent)));
    }
}
