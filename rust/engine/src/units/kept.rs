//! Facts that follow from a text, kept for the texts that were looked at lately: the prompts of a session look at the same ones again and
//! again.
//!
//! A fact is found by the 128-bit xxh3 hash of its text, and the texts are not kept. It follows from the text alone, or from the text and
//! what is compared beside the hash, so that nothing can be out of date. A slot that another thread has in hand is passed by: no thread
//! waits for another, and neither does the child of a fork. The hash has a seed of the process, which nobody outside of it knows: two texts
//! of one hash would have the fact of one of them.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher as _;
use std::sync::{Mutex, OnceLock};

use xxhash_rust::xxh3::xxh3_128_with_seed;

/// The seed of the hashes of this process, so that nobody can make two texts of one hash before.
static SEED: OnceLock<u64> = OnceLock::new();

/// Facts of texts, each in the slot that the hash of its text names: the newest stays.
pub struct Kept<V, const SLOTS: usize, B = ()>([Mutex<Option<Fact<V, B>>>; SLOTS]);

struct Fact<V, B> {
    hash: u128,
    beside: B,
    value: V,
}

impl<V: Clone, const SLOTS: usize, B: PartialEq> Kept<V, SLOTS, B> {
    /// No facts.
    #[must_use]
    pub const fn empty() -> Self {
        Self([const { Mutex::new(None) }; SLOTS])
    }

    /// The fact of a text, which also follows from `beside`. Where it is not known, `find` finds it, and it is kept if it `is_small`.
    pub fn of(&self, text: &str, beside: B, find: impl FnOnce() -> V, is_small: impl FnOnce(&V) -> bool) -> V {
        let hash = xxh3_128_with_seed(text.as_bytes(), *SEED.get_or_init(|| RandomState::new().hash_one(0)));
        let slot = &self.0[hash as usize % SLOTS];
        if let Ok(fact) = slot.try_lock()
            && let Some(fact) = fact.as_ref().filter(|fact| fact.hash == hash && fact.beside == beside)
        {
            return fact.value.clone();
        }
        let value = find();
        if is_small(&value)
            && let Ok(mut fact) = slot.try_lock()
        {
            *fact = Some(Fact { hash, beside, value: value.clone() });
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::units::term_key::TermKey;

    #[test]
    fn a_thousand_facts_take_as_little_as_is_written() {
        let sizes = [size_of::<Kept<Arc<[u64]>, 1024, TermKey>>(), size_of::<Kept<u128, 1024>>(), size_of::<Kept<bool, 1024>>()];
        assert!(sizes[0] <= 96 << 10 && sizes[1] <= 64 << 10 && sizes[2] <= 48 << 10, "{sizes:?}");
    }

    #[test]
    fn a_fact_is_found_once_for_its_text_and_what_is_beside_it() {
        let kept = Kept::<usize, 64, u8>::empty();
        for (text, beside) in [("one", 1), ("three", 1), ("one", 2)] {
            assert_eq!(kept.of(text, beside, || text.len() + usize::from(beside), |_| true), text.len() + usize::from(beside));
            assert_eq!(kept.of(text, beside, || unreachable!(), |_| true), text.len() + usize::from(beside));
        }
        assert_eq!(kept.of("one", 1, || 7, |_| true), 7, "another fact took its slot");
        for value in [8, 9] {
            assert_eq!(kept.of("large", 1, || value, |_| false), value, "what is not small is not kept");
        }
    }

    #[test]
    fn texts_of_one_slot_keep_their_own_facts() {
        let kept = Kept::<String, 2>::empty();
        for _ in 0..3 {
            for at in 0..40 {
                let text = format!("text {at}");
                assert_eq!(kept.of(&text, (), || text.clone(), |_| true), text);
            }
        }
    }

    #[test]
    fn a_slot_in_hand_is_passed_by() {
        let kept = Kept::<u32, 1>::empty();
        kept.of("text", (), || 1, |_| true);
        let held = kept.0[0].lock();
        assert_eq!(kept.of("text", (), || 2, |_| true), 2);
        drop(held);
        assert_eq!(kept.of("text", (), || 3, |_| true), 1);
    }
}
