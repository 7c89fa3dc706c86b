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

static SEEN: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];

/// Slots that lie on one page of memory.
const NEAR: usize = 4096 / size_of::<AtomicU64>();

/// Which of its pages were written to. A first read of memory that nobody wrote to has the system map a page of zeros, and the first
/// write another in its place: two faults, where a write alone costs one.
static TOUCHED: [AtomicU64; SLOTS / NEAR / 64] = [const { AtomicU64::new(0) }; SLOTS / NEAR / 64];

/// The slot of a value, and the word that stands there once it is verified.
///
/// Neighbouring pages have neighbouring slots (a scan walks the table in order); values within one page are spread over its own.
#[inline]
fn place(value: &[u8], checksum: u32) -> (usize, u64) {
    let address = value.as_ptr() as u64;
    let (page, offset) = (address >> 12, address & 0xfff);
    let slot = page as usize % PAGES * SLOTS_OF_A_PAGE + (offset.wrapping_mul(0x9E35) >> 14) as usize % SLOTS_OF_A_PAGE;
    // Slot, page above it and offset together are the whole address (of 47 or 48 bits).
    let tag = ((page >> PAGES.trailing_zeros()) << 12 | offset) as u32;
    (slot, u64::from(tag) << 32 | u64::from(checksum))
}

/// The content of a slot.
#[inline]
fn seen(slot: usize) -> u64 {
    let page = slot / NEAR;
    if TOUCHED[page / 64].load(Relaxed) >> (page % 64) & 1 == 0 {
        touch(slot);
    }
    SEEN[slot].load(Relaxed)
}

/// Writes to a page for the first time. A value that another thread noted in the slot meanwhile is verified once more.
#[cold]
#[inline(never)]
fn touch(slot: usize) {
    SEEN[slot].store(0, Relaxed);
    TOUCHED[slot / NEAR / 64].fetch_or(1 << (slot / NEAR % 64), Relaxed);
}

/// The body of a value of the given schema and codec. On first touch, checks its checksum and calls `is_consistent`.
#[inline]
pub fn open<'v>(key: &[u8], value: &'v [u8], schema: u8, codec: u8, is_consistent: impl FnOnce(&'v [u8]) -> bool) -> Result<&'v [u8]> {
    if let Some((head, body)) = value.split_first_chunk::<ENVELOPE_BYTES>() {
        let checksum = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
        let (slot, word) = place(value, checksum);
        if head[..4] == [schema, codec, 0, 0] && seen(slot) == word {
            return Ok(body);
        }
    }
    open_first(key, value, schema, codec, is_consistent)
}

/// Whether a value of any schema is what was written at `key`, computed once.
#[inline]
pub fn intact(key: &[u8], value: &[u8]) -> Result<()> {
    if let Some(head) = value.first_chunk::<ENVELOPE_BYTES>() {
        let (slot, word) = place(value, u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
        let seen = seen(slot);
        if seen == word || seen == weaker(word) {
            return Ok(());
        }
    }
    intact_first(key, value)
}

/// The first touch, and everything that is wrong.
#[cold]
#[inline(never)]
fn intact_first(key: &[u8], value: &[u8]) -> Result<()> {
    let envelope = envelope::open_unverified(key, value)?;
    envelope::verify(key, value, &envelope)?;
    let (slot, word) = place(value, envelope.checksum);
    SEEN[slot].store(weaker(word), Relaxed);
    Ok(())
}

/// Marks a value as intact whose envelope was just made from bytes that the cipher authenticated.
pub fn note(value: &[u8]) {
    if let Some(head) = value.first_chunk::<ENVELOPE_BYTES>() {
        let (slot, word) = place(value, u32::from_le_bytes([head[4], head[5], head[6], head[7]]));
        seen(slot);
        SEEN[slot].store(weaker(word), Relaxed);
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
    let (slot, word) = place(value, envelope.checksum);
    if seen(slot) != weaker(word) {
        envelope::verify(key, value, &envelope)?;
    }
    if (envelope.schema, envelope.codec, envelope.key_id) != (schema, codec, 0) {
        return Err(envelope::damaged(key, "its schema or codec is not one that this version of memspan writes there"));
    }
    if !is_consistent(envelope.body) {
        return Err(envelope::damaged(key, "its checksum is right but its fields contradict each other"));
    }
    SEEN[slot].store(word, Relaxed);
    Ok(envelope.body)
}

/// Forgets what was verified. To be called when an environment is unmapped: its addresses may hold another file next.
pub fn forget_all() {
    for (page, slots) in SEEN.chunks(NEAR).enumerate() {
        if TOUCHED[page / 64].load(Relaxed) >> (page % 64) & 1 == 1 {
            for slot in slots {
                slot.store(0, Relaxed);
            }
        }
    }
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
}
