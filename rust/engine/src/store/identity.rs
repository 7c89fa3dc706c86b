//! Which files belong together: the random identity of a store, and the secret that its hashes are keyed with.
//!
//! The identity stands in the manifest, in the [`super::meta`] record and in the [`super::progress`] of every generation, so that
//! files of two stores are never taken for one. A backup is a store of its own: it gets an identity of its own and keeps the secret,
//! which the keys of its records are made with.

use std::fmt;

use super::keys::Partition;
use crate::{Error, ErrorKind, Result};

/// Names a store: 16 random bytes, drawn when it is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreId(pub [u8; 16]);

impl StoreId {
    /// A new one.
    pub fn random() -> Result<Self> {
        random_bytes().map(Self)
    }

    /// From the 32 hexadecimal digits that a manifest has.
    #[must_use]
    pub fn from_hex(digits: &str) -> Option<Self> {
        if digits.len() != 32 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return None;
        }
        u128::from_str_radix(digits, 16).ok().map(|number| Self(number.to_be_bytes()))
    }
}

impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

/// What a store's hashes are keyed with. It never leaves the store's files and is no protection against who reads them: it keeps
/// those who choose names and texts from choosing their hashes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Secret {
    /// The key.
    pub key: [u8; 16],
    /// Partitions up to this one were begun by a format before 4: their terms keep the seed that follows from the scope's name.
    pub named_until: Partition,
}

impl Secret {
    /// A new store's.
    pub fn random() -> Result<Self> {
        Ok(Self { key: random_bytes()?, named_until: 0 })
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("named_until", &self.named_until).finish_non_exhaustive()
    }
}

fn random_bytes() -> Result<[u8; 16]> {
    let mut bytes = [0_u8; 16];
    loop {
        // SAFETY: the buffer is writable for its length; getrandom touches nothing else.
        let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
        if got == bytes.len() as isize {
            return Ok(bytes);
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(Error::new(
                ErrorKind::StoreIo,
                format!("making a store: its identity is 16 random bytes, and the operating system gave none: {error}: try again"),
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_is_read_back_from_its_digits() {
        let id = StoreId::random().expect("random");
        assert_eq!(StoreId::from_hex(&id.to_string()), Some(id));
        assert_ne!(StoreId::random().expect("random"), id);
        assert_eq!(StoreId::from_hex("+123456789012345678901234567890a"), None);
    }
}
