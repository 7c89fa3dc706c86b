//! Decrypted values, by the tag of their ciphertext: a value that is read again costs a look. It is bounded, and drops first what was not
//! used.
//!
//! A tag is that of one ciphertext under one key with one context, so what was opened once under it is the text of whatever carries
//! it, at the same place. A value that changed has another tag.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::cipher::TAG_BYTES;
use super::memory::Secret;
use crate::store::keys::Key;

/// Where it came from.
pub type Tag = [u8; TAG_BYTES];

/// A whole value as it was before it was encrypted, and the key in the store that it belongs to.
#[derive(Debug)]
pub struct Plain {
    /// Where it stands.
    pub key: Key,
    /// Its bytes, envelope included.
    pub value: Secret,
}

/// Sets of [`WAYS`] values each.
const SETS: usize = 4096;
const WAYS: usize = 4;
/// Bytes that are kept, over all sets.
const MOST_BYTES: usize = 96 << 20;

#[derive(Debug, Default)]
struct Set {
    values: [Option<(Tag, Arc<Plain>)>; WAYS],
    /// The one that goes next: each is passed over once when it was used since.
    next: usize,
    used: [bool; WAYS],
}

impl Set {
    fn find(&mut self, tag: &Tag, key: &[u8]) -> Option<Arc<Plain>> {
        let at =
            self.values.iter().position(|one| one.as_ref().is_some_and(|(known, plain)| known == tag && plain.key.as_slice() == key))?;
        self.used[at] = true;
        self.values[at].as_ref().map(|(_, plain)| Arc::clone(plain))
    }

    /// A place for one more; what it held.
    fn free(&mut self) -> (usize, Option<Arc<Plain>>) {
        while std::mem::take(&mut self.used[self.next]) {
            self.next = (self.next + 1) % WAYS;
        }
        let at = self.next;
        self.next = (at + 1) % WAYS;
        (at, self.values[at].take().map(|(_, plain)| plain))
    }
}

/// The values that a store has decrypted last.
#[derive(Debug)]
pub struct Cache {
    sets: Box<[Mutex<Set>]>,
    bytes: AtomicUsize,
    hand: AtomicUsize,
}

impl Default for Cache {
    fn default() -> Self {
        Self { sets: (0..SETS).map(|_| Mutex::default()).collect(), bytes: AtomicUsize::new(0), hand: AtomicUsize::new(0) }
    }
}

impl Cache {
    fn set(&self, tag: &Tag) -> MutexGuard<'_, Set> {
        self.lock(usize::from(u16::from_le_bytes([tag[0], tag[1]])) % SETS)
    }

    fn lock(&self, number: usize) -> MutexGuard<'_, Set> {
        self.sets[number].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value that this tag was opened to, at this key.
    pub fn get(&self, tag: &Tag, key: &[u8]) -> Option<Arc<Plain>> {
        self.set(tag).find(tag, key)
    }

    /// Keeps a value.
    pub fn put(&self, tag: Tag, plain: &Arc<Plain>) {
        let mut set = self.set(&tag);
        let (at, gone) = set.free();
        set.values[at] = Some((tag, Arc::clone(plain)));
        drop(set);
        self.bytes.fetch_add(plain.value.bytes().len(), Relaxed);
        self.bytes.fetch_sub(gone.map_or(0, |gone| gone.value.bytes().len()), Relaxed);
        while self.bytes.load(Relaxed) > MOST_BYTES {
            self.empty(self.hand.fetch_add(1, Relaxed) % SETS);
        }
    }

    fn empty(&self, number: usize) {
        let gone = std::mem::take(&mut *self.lock(number));
        let bytes: usize = gone.values.iter().flatten().map(|(_, plain)| plain.value.bytes().len()).sum();
        self.bytes.fetch_sub(bytes, Relaxed);
    }

    /// Forgets everything.
    pub fn clear(&self) {
        (0..SETS).for_each(|number| self.empty(number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::keys::Table;

    fn plain(key: Key, length: usize) -> Arc<Plain> {
        Arc::new(Plain { key, value: Secret::with_room(None, length) })
    }

    #[test]
    fn a_value_is_found_at_its_own_key_alone() {
        let (cache, here, there) = (Cache::default(), Key::new(1, Table::Head), Key::new(2, Table::Head));
        cache.put([7; TAG_BYTES], &plain(here, 9));
        assert!(cache.get(&[7; TAG_BYTES], here.as_slice()).is_some());
        assert!(cache.get(&[7; TAG_BYTES], there.as_slice()).is_none());
        cache.clear();
        assert!(cache.get(&[7; TAG_BYTES], here.as_slice()).is_none());
        assert_eq!(cache.bytes.load(Relaxed), 0);
    }

    #[test]
    fn it_is_bounded_in_number_and_bytes() {
        let cache = Cache::default();
        for number in 0..40_000_u32 {
            let mut tag = [0; TAG_BYTES];
            tag[..4].copy_from_slice(&number.to_le_bytes());
            cache.put(tag, &plain(Key::new(number, Table::Head), 10_000));
            assert!(cache.bytes.load(Relaxed) <= MOST_BYTES);
        }
        let kept: usize = cache.sets.iter().map(|set| set.lock().expect("alive").values.iter().flatten().count()).sum();
        assert_eq!(cache.bytes.load(Relaxed), kept * 10_000, "the count is that of what is there");
        assert!(kept > 0);
    }

    #[test]
    fn what_is_used_stays() {
        let (cache, key) = (Cache::default(), Key::new(1, Table::Head));
        let tag = |number: u8| {
            let mut tag = [0; TAG_BYTES];
            tag[5] = number; // all in one set
            tag
        };
        for number in 0..100 {
            cache.put(tag(number), &plain(key, 10));
            assert!(number == 0 || cache.get(&tag(0), key.as_slice()).is_some(), "{number}");
        }
    }
}
