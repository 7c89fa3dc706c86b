//! The key of the hashes of a scope's terms.

use std::fmt;
use std::hash::Hasher as _;

use siphasher::sip::SipHasher24;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The key of a scope's terms, and which terms its words become.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct TermKey {
    key: Key,
    /// A word is its stem and nothing else, as documents have it since 0.7.0; else the word, and its light stem beside it.
    pub stems: bool,
}

/// A hash is 64 bits either way. The difference is how much somebody learns who has the files and no key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Key {
    /// XXH3 with this seed: fast, and not a secret from a reader of the files.
    Seed(u64),
    /// `SipHash-2-4` with this key, in stores that were made encrypted: the files show that two places have one term, and not which.
    Secret(u64, u64),
}

impl TermKey {
    /// The key of a store that was made encrypted.
    #[must_use]
    pub fn secret(low: u64, high: u64) -> Self {
        Self { key: Key::Secret(low, high), stems: false }
    }

    /// The seed of it; `None` of a secret one.
    #[must_use]
    pub fn seed(self) -> Option<u64> {
        if let Key::Seed(seed) = self.key { Some(seed) } else { None }
    }

    /// This key for words that are stems, or not.
    #[must_use]
    pub fn with_stems(self, stems: bool) -> Self {
        Self { stems, ..self }
    }

    /// The hash of a term: its class byte, then its normalised bytes.
    #[inline]
    #[must_use]
    pub fn hash(self, term: &[u8]) -> u64 {
        match self.key {
            Key::Seed(seed) => xxh3_64_with_seed(term, seed),
            Key::Secret(low, high) => {
                let mut hasher = SipHasher24::new_with_keys(low, high);
                hasher.write(term);
                hasher.finish()
            }
        }
    }

    /// Another key, for terms of another kind.
    #[must_use]
    pub fn apart(self, mark: u64) -> Self {
        let key = match self.key {
            Key::Seed(seed) => Key::Seed(seed ^ mark),
            Key::Secret(low, high) => Key::Secret(low ^ mark, high),
        };
        Self { key, ..self }
    }
}

impl Default for Key {
    fn default() -> Self {
        Self::Seed(0)
    }
}

impl From<u64> for TermKey {
    fn from(seed: u64) -> Self {
        Self { key: Key::Seed(seed), stems: false }
    }
}

impl fmt::Debug for TermKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TermKey")
    }
}
