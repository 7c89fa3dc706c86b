//! Decrypted values, by the tag of their ciphertext: a value that is read again costs a look. It is bounded, and drops first what was not
//! used.
//!
//! A tag is that of one ciphertext under one key with one context, so the text that was opened once under it belongs to every
//! value with this tag, at the same place. A value that changed has another tag.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::cipher::TAG_BYTES;
use super::memory::Secret;
use crate::store::keys::Key;

/// Where it came from.
pub type Tag = [u8; TAG_BYTES];

/// A whole value as it was before it was encrypted, and where it comes from.
#[derive(Debug)]
pub struct Plain {
    /// Where it stands in the store.
    pub key: Key,
    /// The tag of its ciphertext.
    pub tag: Tag,
    /// Its bytes, envelope included.
    pub value: Secret,
}

/// Sets of [`WAYS`] values each.
const SETS: usize = 4096;
const WAYS: usize = 4;
/// Bytes that are kept, over all sets.
const MOST_BYTES: usize = 96 << 20;

/// One line of the processor's cache with its lock: a first recall looks at some hundred of them, each for the first time.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Set(Mutex<Values>);

#[derive(Debug, Default)]
struct Values {
    plains: [Option<Arc<Plain>>; WAYS],
    /// A part of each one's tag.
    prints: [u32; WAYS],
    /// The one that goes next: each is passed over once when it was used since.
    next: u8,
    /// A bit for each that was used.
    used: u8,
}

const _: () = assert!(size_of::<Set>() == 64);

impl Values {
    fn find(&mut self, tag: &Tag, key: &[u8]) -> Option<Arc<Plain>> {
        let print = print_of(tag);
        let (at, plain) = (0..WAYS).filter(|&at| self.prints[at] == print).find_map(|at| {
            let plain = self.plains[at].as_ref()?;
            (plain.tag == *tag && plain.key.as_slice() == key).then(|| (at, Arc::clone(plain)))
        })?;
        self.used |= 1 << at;
        Some(plain)
    }

    /// Keeps one more; what went for it.
    fn put(&mut self, plain: &Arc<Plain>) -> Option<Arc<Plain>> {
        while self.used >> self.next & 1 == 1 {
            self.used &= !(1 << self.next);
            self.next = (self.next + 1) % WAYS as u8;
        }
        let at = usize::from(self.next);
        self.next = (self.next + 1) % WAYS as u8;
        self.prints[at] = print_of(&plain.tag);
        self.plains[at].replace(Arc::clone(plain))
    }
}

fn print_of(tag: &Tag) -> u32 {
    u32::from_le_bytes([tag[2], tag[3], tag[4], tag[5]])
}

/// The values that a store has decrypted last.
#[derive(Debug)]
pub struct Cache {
    sets: Box<[Set]>,
    bytes: AtomicUsize,
    hand: AtomicUsize,
}

impl Default for Cache {
    fn default() -> Self {
        Self { sets: (0..SETS).map(|_| Set::default()).collect(), bytes: AtomicUsize::new(0), hand: AtomicUsize::new(0) }
    }
}

impl Cache {
    fn set(&self, tag: &Tag) -> MutexGuard<'_, Values> {
        self.lock(usize::from(u16::from_le_bytes([tag[0], tag[1]])) % SETS)
    }

    fn lock(&self, number: usize) -> MutexGuard<'_, Values> {
        self.sets[number].0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value that this tag was opened to, at this key.
    pub fn get(&self, tag: &Tag, key: &[u8]) -> Option<Arc<Plain>> {
        self.set(tag).find(tag, key)
    }

    /// Keeps a value.
    pub fn put(&self, plain: &Arc<Plain>) {
        let gone = self.set(&plain.tag).put(plain);
        self.bytes.fetch_add(plain.value.bytes().len(), Relaxed);
        if let Some(gone) = gone {
            self.bytes.fetch_sub(gone.value.bytes().len(), Relaxed);
        }
        while self.bytes.load(Relaxed) > MOST_BYTES {
            self.empty(self.hand.fetch_add(1, Relaxed) % SETS);
        }
    }

    fn empty(&self, number: usize) {
        let gone = std::mem::take(&mut *self.lock(number));
        let bytes: usize = gone.plains.iter().flatten().map(|plain| plain.value.bytes().len()).sum();
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

    fn plain(key: Key, tag: Tag, length: usize) -> Arc<Plain> {
        Arc::new(Plain { key, tag, value: Secret::with_room(None, length) })
    }

    #[test]
    fn a_value_is_found_at_its_own_key_alone() {
        let (cache, here, there) = (Cache::default(), Key::new(1, Table::Head), Key::new(2, Table::Head));
        cache.put(&plain(here, [7; TAG_BYTES], 9));
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
            cache.put(&plain(Key::new(number, Table::Head), tag, 10_000));
            assert!(cache.bytes.load(Relaxed) <= MOST_BYTES);
        }
        let kept: usize = cache.sets.iter().map(|set| set.0.lock().expect("alive").plains.iter().flatten().count()).sum();
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
            cache.put(&plain(key, tag(number), 10));
            assert!(number == 0 || cache.get(&tag(0), key.as_slice()).is_some(), "{number}");
        }
    }
}
