//! A bounded cache of counts, shared by all threads.
//!
//! The key is the 128-bit xxh3 hash of the text's bytes, with the encoding mixed in; the texts are not kept. A set of four slots is
//! one cache line, a slot two 64-bit words: `data` holds the count and the upper part of the hash, `check` the lower part of the hash
//! XOR `data` (R. Hyatt and T. Mann, "A lock-less transposition table implementation", ICGA Journal 25, 2002). Two threads that write
//! one slot at a time leave words that do not belong together: such a slot matches no hash, so it reads as a miss. No thread ever
//! waits for another.
//!
//! Not for adversaries who make two texts of one hash: they would get the count of the one for the other.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use xxhash_rust::xxh3::xxh3_128;

use super::{Encoding, count, count_until};

/// Texts below this length are counted: that takes no longer than a miss of the processor's caches.
const SHORTEST: usize = 32;
/// Slots a set: one cache line.
const WAYS: usize = 4;
/// The low bits of `data` hold the count plus one, so that no used slot is 0; the bits of the hash there choose the set.
const COUNT_BITS: u32 = 28;
const COUNT: u64 = (1 << COUNT_BITS) - 1;
/// Counters of hits and misses are spread over so many cache lines.
const STRIPES: usize = 16;

/// Counts of texts counted lately.
pub struct CountCache {
    sets: Box<[Set]>,
    stripes: [Stripe; STRIPES],
}

/// How often a [`CountCache`] knew the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheMetrics {
    /// Texts whose count was in the cache.
    pub hits: u64,
    /// Texts that had to be counted.
    pub misses: u64,
    /// How many counts fit in.
    pub capacity: usize,
}

#[derive(Default)]
#[repr(align(64))]
struct Set([Slot; WAYS]);

#[derive(Default)]
struct Slot {
    check: AtomicU64,
    data: AtomicU64,
}

#[derive(Default)]
#[repr(align(64))]
struct Stripe {
    hits: AtomicU64,
    misses: AtomicU64,
}

/// The hash of a text and an encoding.
#[derive(Clone, Copy)]
struct Key {
    low: u64,
    high: u64,
}

impl CountCache {
    /// A cache of at least `capacity` counts (rounded up to a power of two, at least 64), of 16 bytes each.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        let sets = (capacity.clamp(64, 1 << COUNT_BITS) / WAYS).next_power_of_two();
        Self { sets: (0..sets).map(|_| Set::default()).collect(), stripes: Default::default() }
    }

    /// How many tokens `text` is: what [`count()`] gives.
    #[must_use]
    pub fn count(&self, encoding: Encoding, text: &str) -> usize {
        self.count_by(encoding, text, || Some(count(encoding, text))).unwrap_or_default()
    }

    /// How many tokens `text` is, if at most `limit`. Unless it knows the answer it stops counting where it is above the limit.
    #[must_use]
    pub fn count_within(&self, encoding: Encoding, text: &str, limit: usize) -> Option<usize> {
        self.count_by(encoding, text, || count_until(encoding, text, limit)).filter(|count| *count <= limit)
    }

    /// How many tokens `text` is, if the cache knows. A text that it does not know is not a miss: the caller will count it.
    #[must_use]
    pub fn known(&self, encoding: Encoding, text: &str) -> Option<usize> {
        let key = (text.len() >= SHORTEST).then(|| Key::new(encoding, text))?;
        let count = self.get(key)?;
        self.stripe(key).hits.fetch_add(1, Relaxed);
        Some(count)
    }

    fn count_by(&self, encoding: Encoding, text: &str, count: impl FnOnce() -> Option<usize>) -> Option<usize> {
        if text.len() < SHORTEST {
            return count();
        }
        let key = Key::new(encoding, text);
        if let Some(count) = self.get(key) {
            self.stripe(key).hits.fetch_add(1, Relaxed);
            return Some(count);
        }
        self.stripe(key).misses.fetch_add(1, Relaxed);
        count().inspect(|count| self.put(key, *count))
    }

    fn stripe(&self, key: Key) -> &Stripe {
        &self.stripes[key.high as usize % STRIPES]
    }

    /// Hits, misses and size.
    #[must_use]
    pub fn metrics(&self) -> CacheMetrics {
        let sum = |pick: fn(&Stripe) -> &AtomicU64| self.stripes.iter().map(|stripe| pick(stripe).load(Relaxed)).sum();
        CacheMetrics { hits: sum(|stripe| &stripe.hits), misses: sum(|stripe| &stripe.misses), capacity: self.sets.len() * WAYS }
    }

    fn set(&self, key: Key) -> &[Slot; WAYS] {
        &self.sets[(key.high & COUNT) as usize & (self.sets.len() - 1)].0
    }

    fn get(&self, key: Key) -> Option<usize> {
        self.set(key).iter().find_map(|slot| slot.read(key))
    }

    /// Puts a count into a free slot of its set, else into the one that its hash names.
    fn put(&self, key: Key, count: usize) {
        let Some(data) = key.data(count) else { return };
        let set = self.set(key);
        let free = set.iter().find(|slot| slot.data.load(Relaxed) == 0);
        let slot = free.unwrap_or(&set[(key.low >> 62) as usize]);
        slot.data.store(data, Relaxed);
        slot.check.store(key.low ^ data, Relaxed);
    }
}

impl Slot {
    fn read(&self, key: Key) -> Option<usize> {
        let (data, check) = (self.data.load(Relaxed), self.check.load(Relaxed));
        let matches = check ^ data == key.low && data & !COUNT == key.high & !COUNT && data & COUNT != 0;
        matches.then(|| (data & COUNT) as usize - 1)
    }
}

impl Key {
    fn new(encoding: Encoding, text: &str) -> Self {
        let hash = xxh3_128(text.as_bytes());
        let (low, high) = (hash as u64, (hash >> 64) as u64);
        // Any constant that differs by encoding in all the words' bits does.
        Self { low: low ^ (encoding.number() + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15), high }
    }

    /// The word of a count; `None` if it is too large to be cached.
    fn data(self, count: usize) -> Option<u64> {
        let stored = count as u64 + 1;
        (stored <= COUNT).then_some(self.high & !COUNT | stored)
    }
}

impl std::fmt::Debug for CountCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("CountCache").field(&self.metrics()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(i: usize) -> String {
        format!("message number {i} of a conversation that is long enough: {}", "word ".repeat(i % 37))
    }

    #[test]
    fn second_time_is_a_hit_and_encodings_are_apart() {
        let cache = CountCache::new(1024);
        let text = "antidisestablishmentarianism, supercalifragilistic";
        for encoding in Encoding::ALL {
            assert_eq!(cache.count(encoding, text), count(encoding, text));
            assert_eq!(cache.count(encoding, text), count(encoding, text));
        }
        let each = Encoding::ALL.len() as u64;
        assert_eq!(cache.metrics(), CacheMetrics { hits: each, misses: each, capacity: 1024 });
    }

    #[test]
    fn what_is_above_a_limit_is_not_kept_and_what_is_known_is_not_a_miss() {
        let cache = CountCache::new(64);
        let text = text(36);
        let all = count(Encoding::O200k, &text);
        assert_eq!(cache.known(Encoding::O200k, &text), None);
        assert_eq!(cache.count_within(Encoding::O200k, &text, all - 1), None);
        assert_eq!(cache.known(Encoding::O200k, &text), None);
        assert_eq!(cache.count_within(Encoding::O200k, &text, all), Some(all));
        assert_eq!(cache.known(Encoding::O200k, &text), Some(all));
        assert_eq!(cache.count_within(Encoding::O200k, &text, all - 1), None);
        assert_eq!(cache.metrics(), CacheMetrics { hits: 2, misses: 2, capacity: 64 });
    }

    #[test]
    fn short_texts_pass_it_by() {
        let cache = CountCache::new(0);
        assert_eq!(cache.count(Encoding::O200k, "short"), 1);
        assert_eq!(cache.metrics(), CacheMetrics { hits: 0, misses: 0, capacity: 64 });
    }

    #[test]
    fn full_cache_stays_right_and_bounded() {
        let cache = CountCache::new(64);
        for round in 0..3 {
            for i in 0..500 {
                assert_eq!(cache.count(Encoding::Cl100k, &text(i)), count(Encoding::Cl100k, &text(i)), "round {round}");
            }
        }
        let metrics = cache.metrics();
        assert_eq!((metrics.hits + metrics.misses, metrics.capacity), (1500, 64));
    }

    /// Threads that overwrite each other's slots all the time see misses, never another text's count.
    #[test]
    fn threads_never_see_a_wrong_count() {
        let cache = CountCache::new(64);
        let texts: Vec<_> = (0..300).map(|i| (text(i), count(Encoding::O200k, &text(i)))).collect();
        std::thread::scope(|scope| {
            for worker in 0..4 {
                let (cache, texts) = (&cache, &texts);
                scope.spawn(move || {
                    for step in 0..20_000 {
                        let (text, expected) = &texts[(step * 7 + worker * 31) % texts.len()];
                        assert_eq!(cache.count(Encoding::O200k, text), *expected);
                    }
                });
            }
        });
        let metrics = cache.metrics();
        assert_eq!(metrics.hits + metrics.misses, 80_000);
    }

    /// Words of two different writes, put together, must not match either of them.
    #[test]
    fn torn_slot_is_a_miss() {
        let cache = CountCache::new(64);
        let (one, other) = (Key::new(Encoding::Cl100k, &text(1)), Key::new(Encoding::Cl100k, &text(2)));
        let slot = Slot::default();
        for (check, data) in [(one, other), (other, one)] {
            slot.data.store(data.data(5).expect("small"), Relaxed);
            slot.check.store(check.low ^ check.data(9).expect("small"), Relaxed);
            assert_eq!((slot.read(one), slot.read(other)), (None, None));
        }
        assert_eq!(cache.metrics().hits, 0);
    }

    #[test]
    fn counts_too_large_are_not_kept() {
        let key = Key { low: 1, high: u64::MAX };
        assert_eq!(key.data(COUNT as usize), None);
        assert_eq!(key.data(COUNT as usize - 1), Some(u64::MAX));
    }
}
