//! The sorted map of byte strings that every index is written against.
//!
//! Two implementations: a transaction of the store, and a `BTreeMap` for tests and fuzzing. Keys are whole keys
//! (partition number first); values are whole values, envelope included.

use std::collections::BTreeMap;
use std::ops::Bound::{Excluded, Included, Unbounded};
use std::ops::ControlFlow;

use super::identity::Secret;
use crate::Result;

/// The entry that was found at or below `key`, where it is of the same partition.
pub(in crate::store) fn in_partition_of<'p>(key: &[u8], found: Option<(&'p [u8], &'p [u8])>) -> Option<(&'p [u8], &'p [u8])> {
    found.filter(|(found, _)| found.get(..4) == key.get(..4))
}

/// A snapshot that can be read.
pub trait Pages {
    /// The key of the store's hashes.
    fn secret(&self) -> Secret {
        Secret::default()
    }

    /// The value at `key`.
    fn get(&self, key: &[u8]) -> Result<Option<&[u8]>>;

    /// The value at `key`, which no damage beside it hides; as it is stored.
    fn get_beside_damage(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        self.get(key)
    }

    /// The entry with the greatest key at or below `key`; none where that is of another partition, which may be erased just now.
    fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>>;

    /// Calls `visit` for every entry as [`Self::scan`] does, with the bytes that are stored: encrypted where the store is.
    fn scan_stored<'p>(
        &'p self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.scan(from, to, visit)
    }

    /// Fails unless the value stored at `key` was encrypted for that key, with its partition's key. A plain store always passes.
    fn authenticate(&self, _key: &[u8], _stored: &[u8]) -> Result<()> {
        Ok(())
    }

    /// Calls `visit` for every entry with `from <= key < to` in key order until it breaks.
    fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()>;

    /// Calls `visit` for every entry as [`Self::scan`] does, where `visit` opens each value, which compares it with its checksum.
    fn scan_to_open<'p>(
        &'p self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.scan(from, to, visit)
    }

    /// Shows `look` every entry as [`Self::scan`] does. A value is gone once it was looked at: an encrypted store keeps none of them.
    #[allow(clippy::type_complexity)] // a look at a key and a value
    fn look_through(&self, from: &[u8], to: &[u8], look: &mut dyn FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        self.scan(from, to, &mut |key, value| look(key, value))
    }
}

/// A write transaction: reads see its own writes.
pub trait PagesMut: Pages {
    /// Stores `value` at `key`, replacing what was there.
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()>;

    /// Removes `key`; says whether it was there.
    fn delete(&mut self, key: &[u8]) -> Result<bool>;

    /// Notes that a batch of changes ended half done: some are stored, and what belongs to them is not. A transaction must be undone then.
    fn left_half_done(&mut self) {}
}

/// A sorted map in memory, for tests and fuzzing.
pub type MemoryPages = BTreeMap<Vec<u8>, Vec<u8>>;

impl Pages for MemoryPages {
    fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        Ok(BTreeMap::get(self, key).map(Vec::as_slice))
    }

    fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        let below = self.range::<[u8], _>((Unbounded, Included(key))).next_back().map(|(k, v)| (k.as_slice(), v.as_slice()));
        Ok(in_partition_of(key, below))
    }

    fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        for (key, value) in self.range::<[u8], _>((Included(from), Excluded(to))) {
            if visit(key, value)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl PagesMut for MemoryPages {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.insert(key.to_vec(), value.to_vec());
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        Ok(self.remove(key).is_some())
    }
}
