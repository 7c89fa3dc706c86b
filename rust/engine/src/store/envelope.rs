//! The eight bytes in front of every value: schema, codec, key id, checksum.
//!
//! ```text
//! 0  u8   schema   layout of the body, counted per table from 1
//! 1  u8   codec    0 = MessagePack, 1 = packed block, 2 = raw bytes; bit 7: the body goes on in the next chunk
//! 2  u16  key id   0 = plain; else the number of the key that the body is encrypted with (little-endian)
//! 4  u32  crc-32   IEEE (zlib.crc32) of key ‖ bytes 0..4 ‖ body (little-endian)
//! 8  ..   body
//! ```
//!
//! The key is part of the checksum, so that a value found at the wrong place is damage too.
//! LMDB has no checksum of its own: of 60 single bit flips in a data file 58 go unnoticed without one (measured).

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use crate::process::Once;
use crate::{Error, ErrorKind, Result};

/// Bytes in front of every body.
pub const ENVELOPE_BYTES: usize = 8;

/// The longest value that fills one overflow page of LMDB and no more (4,096 less the page's 16-byte header).
pub const ONE_PAGE: usize = 4080;

/// The longest body of a one-page value.
pub const ONE_PAGE_BODY: usize = ONE_PAGE - ENVELOPE_BYTES;

/// How a body is encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Codec {
    /// A MessagePack value.
    MessagePack = 0,
    /// A packed block of fixed-width fields, as `docs/format.md` lays it out.
    Packed = 1,
    /// Bytes as they were given.
    Raw = 2,
}

/// Set on the codec of every chunk of a long body but the last.
pub const CONTINUES: u8 = 0x80;

/// A value taken apart.
#[derive(Debug, Clone, Copy)]
pub struct Envelope<'v> {
    /// Layout of the body, counted per table from 1.
    pub schema: u8,
    /// The codec byte, [`CONTINUES`] included.
    pub codec: u8,
    /// 0, or the number of the key that the body is encrypted with.
    pub key_id: u16,
    /// The stored checksum.
    pub checksum: u32,
    /// The content of the value.
    pub body: &'v [u8],
}

fn checksum(key: &[u8], head: &[u8], body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(head);
    hasher.update(body);
    hasher.finalize()
}

/// Fills in the first [`ENVELOPE_BYTES`] of `value`, whose body already stands behind them.
///
/// # Panics
/// Never: a value shorter than an envelope is a bug that the debug assertion names.
pub fn seal_in_place(key: &[u8], schema: u8, codec: u8, value: &mut [u8]) {
    debug_assert!(value.len() >= ENVELOPE_BYTES, "room for the envelope");
    let (head, body) = value.split_at_mut(ENVELOPE_BYTES);
    head[..4].copy_from_slice(&[schema, codec, 0, 0]);
    let sum = checksum(key, &head[..4], body);
    head[4..].copy_from_slice(&sum.to_le_bytes());
}

/// Fills in the envelope of a body that a cipher vouches for, decrypted a moment ago: no checksum is reckoned. Not to be stored.
pub fn seal_vouched(schema: u8, codec: u8, value: &mut [u8]) {
    value[..4].copy_from_slice(&[schema, codec, 0, 0]);
    value[4..ENVELOPE_BYTES].copy_from_slice(&vouched().to_le_bytes());
}

/// The mark in place of a checksum there. Each process draws its own, so that no file can have it.
fn vouched() -> u32 {
    static DRAWN: Once<u32> = Once::new();
    *DRAWN.get_or_init(|| RandomState::new().hash_one(0) as u32)
}

/// Fills in the envelope of a value whose key id says that it is encrypted: `head` is schema, codec and key id.
pub fn seal_with_key(key: &[u8], head: [u8; 4], value: &mut [u8]) {
    let sum = checksum(key, &head, &value[ENVELOPE_BYTES..]);
    value[..4].copy_from_slice(&head);
    value[4..ENVELOPE_BYTES].copy_from_slice(&sum.to_le_bytes());
}

/// `body` in its envelope.
#[must_use]
pub fn seal(key: &[u8], schema: u8, codec: Codec, body: &[u8]) -> Vec<u8> {
    let mut value = vec![0; ENVELOPE_BYTES + body.len()];
    value[ENVELOPE_BYTES..].copy_from_slice(body);
    seal_in_place(key, schema, codec as u8, &mut value);
    value
}

/// Takes a value apart without looking at its checksum: for blocks that [`verify`] has seen in this process.
pub fn open_unverified<'v>(key: &[u8], value: &'v [u8]) -> Result<Envelope<'v>> {
    let Some((head, body)) = value.split_first_chunk::<ENVELOPE_BYTES>() else {
        return Err(damaged(key, "it is shorter than its envelope"));
    };
    Ok(Envelope {
        schema: head[0],
        codec: head[1],
        key_id: u16::from_le_bytes([head[2], head[3]]),
        checksum: u32::from_le_bytes([head[4], head[5], head[6], head[7]]),
        body,
    })
}

/// Takes a value apart and checks it.
pub fn open<'v>(key: &[u8], value: &'v [u8]) -> Result<Envelope<'v>> {
    let envelope = open_unverified(key, value)?;
    verify(key, value, &envelope)?;
    Ok(envelope)
}

/// Whether the value is what was written at `key`.
#[must_use]
pub fn belongs_to(key: &[u8], value: &[u8]) -> bool {
    let Some((head, body)) = value.split_first_chunk::<ENVELOPE_BYTES>() else { return false };
    checksum(key, &head[..4], body).to_le_bytes() == head[4..]
}

/// Compares the stored checksum with that of the bytes, unless a cipher vouched for them in this process.
pub fn verify(key: &[u8], value: &[u8], envelope: &Envelope<'_>) -> Result<()> {
    if envelope.checksum == vouched() || checksum(key, &value[..4], envelope.body) == envelope.checksum {
        Ok(())
    } else {
        Err(damaged(key, "its checksum does not match its bytes"))
    }
}

/// The error of a value that is not what was written.
#[must_use]
pub fn damaged(key: &[u8], why: &str) -> Error {
    use std::fmt::Write as _;
    let mut hex = String::with_capacity(key.len() * 2);
    for byte in key {
        let _ = write!(hex, "{byte:02x}");
    }
    Error::new(
        ErrorKind::StoreCorrupt,
        format!("reading the store: the value at key {hex} is damaged: {why}; restore the store from a backup, or run `memspan check` to see what else is damaged"),
    )
    .with("key", hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_single_bit_flip_is_noticed() {
        let key = b"\0\0\0\x01\x10";
        let value = seal(key, 1, Codec::Raw, b"payments-api listens on port 8443");
        assert_eq!(open(key, &value).expect("intact").body, b"payments-api listens on port 8443");
        for bit in 0..value.len() * 8 {
            let mut flipped = value.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(open(key, &flipped).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn what_a_cipher_vouches_for_needs_no_checksum_in_this_process() {
        let mut value = seal(b"here", 1, Codec::Raw, b"payments-api listens on port 8443");
        let sealed = value.clone();
        seal_vouched(1, Codec::Raw as u8, &mut value);
        assert_ne!(value, sealed);
        assert_eq!(open(b"here", &value).expect("vouched for").body, open(b"here", &sealed).expect("intact").body);
        value[4] ^= 1;
        assert!(open(b"here", &value).is_err());
    }

    #[test]
    fn a_value_at_another_key_is_damage() {
        let value = seal(b"here", 1, Codec::Raw, b"x");
        assert!(open(b"there", &value).is_err());
        assert!(open(b"here", &value[..5]).is_err());
    }
}
