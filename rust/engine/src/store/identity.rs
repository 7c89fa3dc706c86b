//! Which files belong together: the random identity of a store, and the secret that its hashes are keyed with.
//!
//! The identity stands in the manifest, in the [`super::meta`] record and in the [`super::progress`] of every generation, so that
//! files of two stores are never taken for one. A backup is a store of its own: it gets an identity of its own and keeps the secret,
//! which the keys of its records are made with.

use std::cell::Cell;
use std::fmt;

use siphasher::sip128::{Hasher128, SipHasher24};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed, xxh3_128, xxh3_128_with_seed};

use crate::units::term_key::TermKey;
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

/// The key of a store's hashes. It never leaves the store's files and is not a protection against readers of them: it keeps
/// those who choose names and texts from choosing their hashes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Secret {
    /// The key.
    pub key: [u8; 16],
    /// Whether the hashes are keyed. Those of a store that a format before 4 began are not: they are what its keys are made of.
    pub keyed: bool,
    /// Whether those of terms are, too: in a store that was made encrypted.
    pub terms_keyed: bool,
}

impl Secret {
    /// A new store's.
    pub fn random() -> Result<Self> {
        Ok(Self { key: random_bytes()?, keyed: true, terms_keyed: false })
    }

    /// The secret of a store which a format before 4 began: kept for what is keyed later.
    pub fn unkeyed() -> Result<Self> {
        Ok(Self { key: random_bytes()?, keyed: false, terms_keyed: false })
    }

    /// Whether hashes of words in an encrypted store would tell them. Those of a store that a format before 4 began do to its end: the
    /// hashes of its names have no key either, and its values refer to them.
    #[must_use]
    pub fn tells_words(self) -> bool {
        self.keyed && !self.terms_keyed
    }

    /// This secret with keyed hashes of words.
    #[must_use]
    pub fn telling_no_words(self) -> Self {
        Self { terms_keyed: true, ..self }
    }

    /// The hash of a name that is unique in the whole store.
    #[must_use]
    pub fn hash128(self, name: &[u8]) -> u128 {
        if self.keyed { sip(self.halves(), &[b"name\0", name]) } else { xxh3_128(name) }
    }

    /// The key of a scope's hashes.
    #[must_use]
    pub fn seed(self, scope: &[u8]) -> Seed {
        if !self.keyed {
            return Seed { terms: xxh3_64(scope).into(), names: None };
        }
        let terms = term_key(sip(self.halves(), &[b"terms\0", scope]), self.terms_keyed);
        Seed { terms, names: Some(halves(sip(self.halves(), &[b"names\0", scope]))) }
    }

    fn halves(self) -> (u64, u64) {
        halves(u128::from_le_bytes(self.key))
    }
}

fn halves(number: u128) -> (u64, u64) {
    (number as u64, (number >> 64) as u64)
}

/// The key of terms that a hash gives.
fn term_key(hash: u128, is_secret: bool) -> TermKey {
    let (low, high) = halves(hash);
    if is_secret { TermKey::secret(low, high) } else { low.into() }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secret").field("keyed", &self.keyed).finish_non_exhaustive()
    }
}

/// The key of the hashes of one scope, or of one collection: its names and contents by `SipHash-2-4`, so that nobody who
/// chooses them can choose two of one hash; its words by XXH3 with a seed of its own, since what two words of one hash cost is a memory
/// too many in an answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seed {
    /// The key of terms.
    pub terms: TermKey,
    /// The key of names and contents; none in a store that a format before 4 began, where the seed of terms seeds them, too.
    names: Option<(u64, u64)>,
}

impl Seed {
    /// The hash of a name, or of contents.
    #[must_use]
    pub fn hash128(self, bytes: &[u8]) -> u128 {
        self.names.map_or_else(|| xxh3_128_with_seed(bytes, self.unkeyed()), |key| sip(key, &[bytes]))
    }

    /// The hash of a name among the few of a scope or session.
    #[must_use]
    pub fn hash64(self, bytes: &[u8]) -> u64 {
        self.names.map_or_else(|| xxh3_64_with_seed(bytes, self.unkeyed()), |key| sip(key, &[bytes]) as u64)
    }

    /// The seed of a store whose hashes are not keyed.
    fn unkeyed(self) -> u64 {
        self.terms.seed().unwrap_or(0)
    }

    /// Another seed, for names of another kind.
    #[must_use]
    pub fn apart(self, mark: u64) -> Self {
        Self { terms: self.terms.apart(mark), names: self.names.map(|(low, high)| (low ^ mark, high)) }
    }

    /// The seed of a collection of the scope. `unkeyed` is what the seed was the hash of before.
    #[must_use]
    pub fn of_collection(self, name: &[u8], unkeyed: impl FnOnce(u64) -> u64) -> Self {
        let Some(key) = self.names else { return Self { terms: unkeyed(self.unkeyed()).into(), names: None } };
        let terms = term_key(sip(key, &[b"terms\0", name]), self.terms.seed().is_none());
        Self { terms, names: Some(halves(sip(key, &[b"names\0", name]))) }
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seed").finish_non_exhaustive()
    }
}

fn sip((low, high): (u64, u64), parts: &[&[u8]]) -> u128 {
    let mut hasher = SipHasher24::new_with_keys(low, high);
    for part in parts {
        std::hash::Hasher::write(&mut hasher, part);
    }
    hasher.finish128().as_u128()
}

thread_local! {
    static REPEATED: Cell<Option<u128>> = const { Cell::new(None) };
}

/// Runs `work`, in which stores that are made draw their identity and their secret from `seed`: for stores whose bytes are compared.
pub fn repeatably<T>(seed: u64, work: impl FnOnce() -> T) -> T {
    let before = REPEATED.replace(Some(u128::from(seed)));
    let result = work();
    REPEATED.set(before);
    result
}

fn random_bytes() -> Result<[u8; 16]> {
    if let Some(number) = REPEATED.get() {
        let next = xxh3_128(&number.to_le_bytes());
        REPEATED.set(Some(next));
        return Ok(next.to_le_bytes());
    }
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
    fn hashes_are_those_of_the_paper_and_differ_by_key() {
        // The first and the last vector of `vectors_sip128` in the reference implementation: key 00 to 0f, input of 0 and of 63 bytes.
        let key = (0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908);
        assert_eq!(sip(key, &[]).to_le_bytes()[..8], [0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6]);
        let (one, other) =
            (Secret { key: [1; 16], keyed: true, terms_keyed: false }, Secret { key: [2; 16], keyed: true, terms_keyed: false });
        assert_ne!(one.hash128(b"u-42"), other.hash128(b"u-42"));
        let seeds =
            [one.seed(b"a"), one.seed(b"b"), other.seed(b"a"), one.seed(b"a").apart(7), one.seed(b"a").of_collection(b"c", |seed| seed)];
        for (at, seed) in seeds.iter().enumerate() {
            assert!(seeds[..at].iter().all(|before| before.hash128(b"name") != seed.hash128(b"name")), "{at}");
        }
        assert_eq!(Secret { keyed: false, ..one }.seed(b"a").hash64(b"name"), xxh3_64_with_seed(b"name", xxh3_64(b"a")), "as format 3");
    }

    #[test]
    fn what_is_drawn_from_a_seed_is_the_same_every_time() {
        let draw = || repeatably(4, || (StoreId::random().expect("random"), Secret::random().expect("random")));
        assert_eq!(draw(), draw());
        assert_ne!(draw().0.0, draw().1.key);
        assert_ne!(StoreId::random().expect("random"), draw().0, "only within it");
    }

    #[test]
    fn an_identity_is_read_back_from_its_digits() {
        let id = StoreId::random().expect("random");
        assert_eq!(StoreId::from_hex(&id.to_string()), Some(id));
        assert_ne!(StoreId::random().expect("random"), id);
        assert_eq!(StoreId::from_hex("+123456789012345678901234567890a"), None);
    }
}
