//! The tokens of texts that were cut lately: the closer look at a memory needs them for every question, and cutting a text costs more than
//! comparing it.
//!
//! The key is the hash of the text, with a seed of this cache that nobody outside knows; texts are not kept. So nothing in it can be out
//! of date, whatever is written. What was cut since the older half was dropped is one half, and when that is full the older one goes.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, PoisonError, RwLock};

use xxhash_rust::xxh3::xxh3_128_with_seed;

use super::distinct_tokens;

/// The most tokens of a text that are kept.
const MOST_TOKENS: usize = 256;
/// Bytes of a half, by [`cost`].
const HALF: usize = 4 << 20;
/// Bytes that a text takes beside its tokens.
const ENTRY: usize = 64;

/// A text's first [`MOST_TOKENS`] distinct tokens, as [`distinct_tokens`] has them.
pub(crate) type Tokens = Arc<[u8]>;

/// The tokens of texts that were cut lately, at most 8 MiB.
pub(crate) struct RecentTokens {
    seed: u64,
    halves: RwLock<[Half; 2]>,
}

#[derive(Default)]
struct Half {
    texts: HashMap<u128, Tokens>,
    bytes: usize,
}

impl Default for RecentTokens {
    fn default() -> Self {
        Self { seed: RandomState::new().hash_one(0), halves: RwLock::default() }
    }
}

impl RecentTokens {
    /// The tokens of each text.
    pub fn of<'t>(&self, texts: impl Iterator<Item = &'t str>) -> Vec<Tokens> {
        let hashed: Vec<(&str, u128)> = texts.map(|text| (text, xxh3_128_with_seed(text.as_bytes(), self.seed))).collect();
        let mut tokens = self.known(&hashed);
        let mut fresh = Vec::new();
        for ((text, hash), tokens) in hashed.iter().zip(&mut tokens).filter(|(_, tokens)| tokens.is_none()) {
            fresh.push((*hash, Arc::clone(tokens.insert(distinct_tokens(text, MOST_TOKENS).into()))));
        }
        self.keep(fresh);
        tokens.into_iter().flatten().collect()
    }

    fn known(&self, hashed: &[(&str, u128)]) -> Vec<Option<Tokens>> {
        let halves = self.halves.read().unwrap_or_else(PoisonError::into_inner);
        let of = |hash: &u128| halves.iter().find_map(|half| half.texts.get(hash)).cloned();
        hashed.iter().map(|(_, hash)| of(hash)).collect()
    }

    fn keep(&self, fresh: Vec<(u128, Tokens)>) {
        if fresh.is_empty() {
            return;
        }
        let mut halves = self.halves.write().unwrap_or_else(PoisonError::into_inner);
        for (hash, tokens) in fresh {
            halves[0].bytes += cost(&tokens);
            halves[0].texts.insert(hash, tokens);
            if halves[0].bytes >= HALF {
                halves[1] = std::mem::take(&mut halves[0]);
            }
        }
    }

    /// Of how many texts it has tokens.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.halves.read().unwrap().iter().map(|half| half.texts.len()).sum()
    }

    /// Forgets all: some of the texts were erased.
    pub fn forget(&self) {
        *self.halves.write().unwrap_or_else(PoisonError::into_inner) = Default::default();
    }
}

/// Bytes that a text takes.
fn cost(tokens: &Tokens) -> usize {
    tokens.len() + ENTRY
}

impl std::fmt::Debug for RecentTokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecentTokens").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_once_and_its_tokens_are_its_own() {
        let recent = RecentTokens::default();
        let texts = ["Anna works at Acme.", "Bob plays chess.", "Anna works at Acme.", ""];
        for _ in 0..2 {
            let tokens = recent.of(texts.into_iter());
            for (text, tokens) in texts.iter().zip(&tokens) {
                assert_eq!(**tokens, *distinct_tokens(text, MOST_TOKENS), "{text}");
            }
        }
        assert_eq!(recent.len(), 3);
        recent.forget();
        assert_eq!(recent.len(), 0);
    }

    #[test]
    fn it_stays_bounded_and_keeps_what_came_last() {
        let recent = RecentTokens::default();
        let many = 3 * HALF / ENTRY;
        let tokens: Tokens = vec![1, 0].into();
        for number in 0..many as u128 {
            recent.keep(vec![(number, Arc::clone(&tokens))]);
        }
        assert!(recent.len() * cost(&tokens) <= 2 * HALF + ENTRY);
        assert!(recent.known(&[("", many as u128 - 1)])[0].is_some() && recent.known(&[("", 0)])[0].is_none());
    }
}
