//! Counts for prompts: exact, and each text of a conversation once.

use std::sync::OnceLock;

use crate::context::Counter;
use crate::tokens::{CountCache, Encoding, count_until};

/// Counts that are kept: 1 MiB of them.
const KEPT: usize = 1 << 16;
/// Texts above this are not hashed to stop early: most of them end far behind the limit.
const LONG: usize = 64 << 10;

/// The counts of this process.
pub fn counts() -> &'static CountCache {
    static COUNTS: OnceLock<CountCache> = OnceLock::new();
    COUNTS.get_or_init(|| CountCache::new(KEPT))
}

/// Counts with an encoding, through the process's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted(pub Encoding);

impl Counter for Counted {
    fn count(&self, text: &str) -> u64 {
        counts().count(self.0, text) as u64
    }

    fn count_within(&self, text: &str, limit: u64) -> Option<u64> {
        if text.len() > LONG {
            return count_until(self.0, text, usize::try_from(limit).unwrap_or(usize::MAX)).map(|tokens| tokens as u64);
        }
        Some(self.count(text)).filter(|tokens| *tokens <= limit)
    }

    fn splits_at_tags(&self) -> bool {
        true
    }
}
