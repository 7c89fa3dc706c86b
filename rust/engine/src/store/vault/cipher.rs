//! AES-256-GCM as ring has it: a nonce of 12 random bytes, the ciphertext, a tag of 16. Nothing here is a cipher of our own.
//!
//! Nonces are random, so that no counter can be set back by a copy of the store; up to 2^32 values under one key two of them are
//! equal with a probability below 2^-32, and each scope has a key of its own.

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};

use crate::{Error, ErrorKind, Result};

/// Bytes of a key.
pub const KEY_BYTES: usize = 32;
/// Bytes in front of a ciphertext.
pub const NONCE_BYTES: usize = 12;
/// Bytes behind a ciphertext.
pub const TAG_BYTES: usize = 16;
/// The bytes by which a sealed text is longer than the text.
pub const OVERHEAD: usize = NONCE_BYTES + TAG_BYTES;

/// A key ready for use.
pub struct Cipher(LessSafeKey);

impl std::fmt::Debug for Cipher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Cipher")
    }
}

impl Cipher {
    /// The cipher of a key of 32 bytes.
    pub fn new(key: &[u8; KEY_BYTES]) -> Result<Self> {
        let key = UnboundKey::new(&AES_256_GCM, key).map_err(|_| refused("making a key"))?;
        Ok(Self(LessSafeKey::new(key)))
    }

    /// Appends `text`, sealed, to `out`. `context` is not stored, and must be given again to open it.
    pub fn seal(&self, context: &[u8], text: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let nonce: [u8; NONCE_BYTES] = random()?;
        out.extend_from_slice(&nonce);
        let start = out.len();
        out.extend_from_slice(text);
        let tag = self.0.seal_in_place_separate_tag(Nonce::assume_unique_for_key(nonce), Aad::from(context), &mut out[start..]);
        out.extend_from_slice(tag.map_err(|_| refused("encrypting a value"))?.as_ref());
        Ok(())
    }

    /// Opens what [`Self::seal`] made, into `room`, which has at least as many bytes; the text. None where key, context or bytes are others.
    pub fn open<'r>(&self, context: &[u8], sealed: &[u8], room: &'r mut [u8]) -> Option<&'r mut [u8]> {
        let (nonce, text) = sealed.split_first_chunk::<NONCE_BYTES>()?;
        let room = room.get_mut(..text.len())?;
        room.copy_from_slice(text);
        self.0.open_in_place(Nonce::assume_unique_for_key(*nonce), Aad::from(context), room).ok()
    }
}

/// Random bytes of the operating system.
pub fn random<const N: usize>() -> Result<[u8; N]> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| refused("drawing random bytes"))?;
    Ok(bytes)
}

fn refused(doing: &str) -> Error {
    Error::new(ErrorKind::StoreIo, format!("{doing}: the operating system or the cipher refused; nothing was written: try again"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_opens_with_the_same_key_and_context_alone() {
        let (one, other) = (Cipher::new(&[1; 32]).expect("a key"), Cipher::new(&[2; 32]).expect("a key"));
        let (mut sealed, mut room) = (Vec::new(), [0; 64]);
        one.seal(b"here", b"port 8443", &mut sealed).expect("sealed");
        assert_eq!(sealed.len(), 9 + OVERHEAD);
        assert_eq!(one.open(b"here", &sealed, &mut room).expect("opened"), b"port 8443");
        assert!(one.open(b"there", &sealed, &mut room).is_none());
        assert!(other.open(b"here", &sealed, &mut room).is_none());
        assert!(one.open(b"here", &sealed[..20], &mut room).is_none());
        for bit in 0..sealed.len() * 8 {
            let mut flipped = sealed.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(one.open(b"here", &flipped, &mut room).is_none(), "bit {bit}");
        }
    }

    #[test]
    fn one_text_is_never_sealed_the_same_way_twice() {
        let cipher = Cipher::new(&[1; 32]).expect("a key");
        let seal = || {
            let mut sealed = Vec::new();
            cipher.seal(b"", b"same", &mut sealed).expect("sealed");
            sealed
        };
        assert_ne!(seal(), seal());
    }
}
