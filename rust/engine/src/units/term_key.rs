//! What the hashes of a scope's terms are keyed with.

use std::fmt;
use std::hash::Hasher as _;

use siphasher::sip::SipHasher24;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// The key of a scope's terms. A hash is 64 bits either way; what differs is what somebody learns who has the files and no key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TermKey {
    /// XXH3 with this seed: fast, and no secret from whoever reads the files.
    Seed(u64),
    /// `SipHash-2-4` with this key, in stores that were made encrypted: the files show that two places have one term, and not which.
    Secret(u64, u64),
}

impl TermKey {
    /// The hash of a term: its class byte, then its normalised bytes.
    #[inline]
    #[must_use]
    pub fn hash(self, term: &[u8]) -> u64 {
        match self {
            Self::Seed(seed) => xxh3_64_with_seed(term, seed),
            Self::Secret(low, high) => {
                let mut hasher = SipHasher24::new_with_keys(low, high);
                hasher.write(term);
                hasher.finish()
            }
        }
    }

    /// Another key, for terms of another kind.
    #[must_use]
    pub fn apart(self, mark: u64) -> Self {
        match self {
            Self::Seed(seed) => Self::Seed(seed ^ mark),
            Self::Secret(low, high) => Self::Secret(low ^ mark, high),
        }
    }
}

impl Default for TermKey {
    fn default() -> Self {
        Self::Seed(0)
    }
}

impl From<u64> for TermKey {
    fn from(seed: u64) -> Self {
        Self::Seed(seed)
    }
}

impl fmt::Debug for TermKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TermKey")
    }
}
