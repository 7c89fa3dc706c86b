//! Remembers which values this process has already checked, so that a checksum is computed on first touch only.
//!
//! A direct-mapped table of atomics: a value's address, length, key and stored checksum are mixed into one 64-bit tag,
//! whose top bits choose the slot that holds it. LMDB never changes a page that a reader can see, so the same bytes at
//! the same address stay checked; a page that is used again carries another checksum, and another tag. A tag that is
//! pushed out of its slot costs one more checksum, never a wrong answer.
//!
//! What it does not see: a value changed in place behind its old checksum after it was checked. That is the doctor's
//! work, and a backup's, which read past this table. Call [`forget_all`] when a map is unmapped.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::envelope::{self, Envelope};
use crate::Result;

const SLOT_BITS: u32 = 16;

/// 512 KiB of zero pages, resident only where touched: the last 65,536 values.
static SLOTS: [AtomicU64; 1 << SLOT_BITS] = [const { AtomicU64::new(0) }; 1 << SLOT_BITS];

/// Takes a value apart, and checks it unless this process has.
pub fn open<'v>(key: &[u8], value: &'v [u8]) -> Result<Envelope<'v>> {
    let envelope = envelope::open_unverified(key, value)?;
    let tag = tag(key, value, envelope.checksum);
    let slot = &SLOTS[(tag >> (u64::BITS - SLOT_BITS)) as usize];
    if slot.load(Relaxed) != tag {
        envelope::verify(key, value, &envelope)?;
        slot.store(tag, Relaxed);
    }
    Ok(envelope)
}

/// Forgets what was checked: for an address range that is about to hold another file.
pub fn forget_all() {
    for slot in &SLOTS {
        slot.store(0, Relaxed);
    }
}

/// Never 0, which means an empty slot.
fn tag(key: &[u8], value: &[u8], checksum: u32) -> u64 {
    let place = mix(value.as_ptr() as u64, (checksum as u64) << 16 | value.len() as u64 & 0xffff);
    let last = key.last_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let first = key.first_chunk::<8>().map_or(key.len() as u64, |bytes| u64::from_le_bytes(*bytes));
    mix(place ^ last, first) | 1
}

fn mix(a: u64, b: u64) -> u64 {
    let product = u128::from(a ^ 0x9e37_79b9_7f4a_7c15) * u128::from(b ^ 0xd6e8_feb8_6659_fd93);
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::envelope::{Codec, seal};

    #[test]
    fn other_bytes_at_a_checked_address_are_checked_again() {
        let key = b"\0\0\0\x01\x30\0first";
        let mut value = seal(key, 1, Codec::Packed, &[7; 100]);
        assert!(open(key, &value).is_ok());
        let other = seal(key, 1, Codec::Packed, &[8; 100]);
        value.copy_from_slice(&other);
        assert!(open(key, &value).is_ok());
        value[4] ^= 1;
        assert!(open(key, &value).is_err(), "another stored checksum is another tag");
    }

    #[test]
    fn a_value_checked_under_its_key_is_damage_under_another() {
        let key = b"\0\0\0\x01\x30\0first";
        let value = seal(key, 1, Codec::Packed, &[7; 100]);
        assert!(open(key, &value).is_ok());
        assert!(open(b"\0\0\0\x01\x30\0other", &value).is_err());
        assert!(open(b"\0\0\0\x02\x30\0first", &value).is_err());
    }

    #[test]
    fn damage_is_seen_after_forgetting() {
        let key = b"\0\0\0\x01\x30\0damage";
        let mut value = seal(key, 1, Codec::Packed, &[7; 100]);
        assert!(open(key, &value).is_ok());
        value[50] ^= 1;
        forget_all();
        assert!(open(key, &value).is_err());
    }
}
