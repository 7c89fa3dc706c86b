//! The counter of production: exact counts, through one cache that the whole process shares.
//!
//! A conversation is counted over and over, and its messages do not change: most texts were counted before. It keeps counts,
//! no texts, and never waits for another thread.

use super::{CountCache, Counter, Encoding};
use crate::process::Once;

/// Counts that the shared cache holds: 1 MiB, the messages of some hundred long conversations.
const CAPACITY: usize = 65_536;

/// The cache that all counters of this process share; made on first use.
#[must_use]
pub fn shared_cache() -> &'static CountCache {
    static SHARED: Once<CountCache> = Once::new();
    SHARED.get_or_init(|| CountCache::new(CAPACITY))
}

/// Counts texts by an encoding, each text once as long as [`shared_cache`] remembers it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachedCounter {
    encoding: Encoding,
}

impl CachedCounter {
    /// A counter by `encoding`.
    #[must_use]
    pub fn new(encoding: Encoding) -> Self {
        Self { encoding }
    }
}

impl Counter for CachedCounter {
    fn count(&self, text: &str) -> u64 {
        shared_cache().count(self.encoding, text) as u64
    }

    fn count_within(&self, text: &str, limit: u64) -> Option<u64> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        shared_cache().count_within(self.encoding, text, limit).map(|tokens| tokens as u64)
    }

    fn splits_at_tags(&self) -> bool {
        self.encoding.is_local()
    }
}

#[cfg(test)]
mod tests {
    use super::super::count;
    use super::super::fuzz::Fuzz;
    use super::*;

    #[test]
    fn counts_are_those_of_the_encoding_at_once_and_again() {
        let mut fuzz = Fuzz::new(71);
        for _ in 0..2_000 {
            let text = fuzz.string();
            for encoding in Encoding::ALL {
                let expected = count(encoding, &text) as u64;
                let counter = CachedCounter::new(encoding);
                assert_eq!([counter.count(&text), counter.count(&text)], [expected; 2]);
            }
        }
    }

    #[test]
    fn a_limit_never_changes_a_count() {
        let mut fuzz = Fuzz::new(72);
        for round in 0..2_000 {
            let text = fuzz.string();
            for encoding in Encoding::ALL {
                let expected = count(encoding, &text) as u64;
                let counter = CachedCounter::new(encoding);
                let limit = (expected + fuzz.below(5) as u64).saturating_sub(2);
                // Every other text is in the cache by now.
                if round % 2 == 0 {
                    assert_eq!(counter.count(&text), expected);
                }
                assert_eq!(counter.count_within(&text, limit), (expected <= limit).then_some(expected), "{text:?} within {limit}");
                assert_eq!(counter.count_within(&text, u64::MAX), Some(expected));
            }
        }
    }

    /// The promise of [`Counter::splits_at_tags`].
    #[test]
    fn texts_split_at_tags_add_up() {
        let mut fuzz = Fuzz::new(73);
        for _ in 0..4_000 {
            let (left, right) = (fuzz.string() + ">\n", "<".to_owned() + &fuzz.string());
            for encoding in Encoding::ALL {
                let apart = count(encoding, &left) + count(encoding, &right);
                assert_eq!(count(encoding, &(left.clone() + &right)), apart, "{encoding:?}: {left:?} and {right:?}");
            }
        }
    }
}
