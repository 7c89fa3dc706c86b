//! Checksums that are computed once: which values this process has already verified where they lie.
//!
//! A direct-mapped table of (address, checksum), one atomic word each. LMDB never changes a page that a reader can see, and a
//! new version of a page carries a new checksum, so a value with the same checksum at the same address is the one that was
//! verified. Forgetting (two values of one slot) costs a second verification, never a wrong answer. What this does not
//! notice: memory that goes bad while the process runs; backups and the doctor read everything anew.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::envelope::{self, Envelope};
use crate::Result;

/// 512 KiB of zeros that the system hands out as they are touched: 65,536 blocks, 256 MiB of pages.
const SLOTS: usize = 1 << 16;

static SEEN: [AtomicU64; SLOTS] = [const { AtomicU64::new(0) }; SLOTS];

/// The slot of a value, and the word that stands there once it is verified.
///
/// Neighbouring pages have neighbouring slots (a scan walks the table in order); values within one page are spread.
fn place(value: &[u8], checksum: u32) -> (usize, u64) {
    let address = value.as_ptr() as u64;
    let (page, offset) = (address >> 12, address & 0xfff);
    let slot = (page ^ (offset.wrapping_mul(0x9E35) & 0xff00)) as usize % SLOTS;
    // Slot, page above it and offset together are the whole address (of 47 or 48 bits).
    let tag = ((page >> 16) << 12 | offset) as u32;
    (slot, u64::from(tag) << 32 | u64::from(checksum))
}

/// Takes a value apart; checks its checksum on first touch.
#[inline]
pub fn open<'v>(key: &[u8], value: &'v [u8]) -> Result<Envelope<'v>> {
    let envelope = envelope::open_unverified(key, value)?;
    check(key, value, &envelope, |_| true)?;
    Ok(envelope)
}

/// Takes a value of the given schema and codec apart; on first touch, checks its checksum and calls `is_consistent`.
#[inline]
pub fn open_as<'v>(
    key: &[u8],
    value: &'v [u8],
    schema: u8,
    codec: u8,
    is_consistent: impl FnOnce(&'v [u8]) -> bool,
) -> Result<Envelope<'v>> {
    let envelope = envelope::open_unverified(key, value)?;
    if (envelope.schema, envelope.codec, envelope.key_id) != (schema, codec, 0) {
        return Err(unexpected_layout(key, value, &envelope));
    }
    check(key, value, &envelope, is_consistent)?;
    Ok(envelope)
}

#[inline]
fn check<'v>(key: &[u8], value: &'v [u8], envelope: &Envelope<'v>, is_consistent: impl FnOnce(&'v [u8]) -> bool) -> Result<()> {
    let (slot, word) = place(value, envelope.checksum);
    if SEEN[slot].load(Relaxed) != word {
        envelope::verify(key, value, envelope)?;
        if !is_consistent(envelope.body) {
            return Err(envelope::damaged(key, "its checksum is right but its fields contradict each other"));
        }
        SEEN[slot].store(word, Relaxed);
    }
    Ok(())
}

/// Damage to the checksum's own field's neighbours must read as damage, not as a newer layout.
#[cold]
fn unexpected_layout(key: &[u8], value: &[u8], envelope: &Envelope<'_>) -> crate::Error {
    match envelope::verify(key, value, envelope) {
        Ok(()) => envelope::damaged(key, "its schema or codec is not one that this version of memspan writes there"),
        Err(damage) => damage,
    }
}

/// Forgets what was verified. To be called when an environment is unmapped: its addresses may hold another file next.
pub fn forget_all() {
    for slot in &SEEN {
        slot.store(0, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::envelope::{Codec, seal};

    #[test]
    fn other_bytes_at_a_checked_address_are_checked_again() {
        let key = b"\0\0\0\x01\x30\0first";
        let mut buffer = seal(key, 1, Codec::Packed, b"one block");
        assert!(open(key, &buffer).is_ok());
        buffer.copy_from_slice(&seal(key, 1, Codec::Packed, b"its twin."));
        assert_eq!(open(key, &buffer).expect("another checksum").body, b"its twin.");
        buffer.copy_from_slice(&seal(b"elsewhere", 1, Codec::Packed, b"misplaced"));
        assert!(open(key, &buffer).is_err());
    }
}
