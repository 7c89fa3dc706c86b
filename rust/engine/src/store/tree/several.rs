//! The values of many keys, looked up together.
//!
//! A look-up waits for memory at each step: for the leaf, for the keys in it, for the value. Look-ups one behind another wait one behind
//! another. Here all keys take a step together, and each step asks the processor for what the next one reads.

use super::super::keys::Key;
use super::super::prefetch::prefetch;
use super::super::verified;
use super::page::{HEADER, Kind, Page};
use super::{NONE, Tree};
use crate::Result;

/// So many keys take a step together: what is fetched for them stays near the processor.
const TOGETHER: usize = 128;

/// Bytes of a leaf that a search reads before its keys: the header and where its first entries begin.
const OFFSETS: usize = HEADER + 2 * KEYS;

/// So many keys of a leaf are fetched: most leaves have no more.
const KEYS: usize = 24;

/// So many bytes of a value are fetched.
const VALUE: usize = 1_024;

impl Tree {
    /// Calls `visit` with the place of each of `keys` and the value at it, in their order. Keys that ascend cost the least.
    pub fn get_each<'m>(&'m self, keys: &[Key], visit: &mut dyn FnMut(usize, Option<&'m [u8]>) -> Result<()>) -> Result<()> {
        if self.root.page == NONE {
            return (0..keys.len()).try_for_each(|at| visit(at, None));
        }
        for (group, keys) in keys.chunks(TOGETHER).enumerate() {
            let leaves = self.leaves_of(keys)?;
            for (at, value) in self.values_in(&leaves, keys)?.into_iter().enumerate() {
                let value = match value {
                    Some(value) => self.intact(keys[at].as_slice(), value).map(|()| Some(value))?,
                    None => self.get(keys[at].as_slice())?, // that it is not there wants a proof
                };
                visit(group * TOGETHER + at, value)?;
            }
        }
        Ok(())
    }

    /// The leaf where each key belongs, fetched.
    fn leaves_of(&self, keys: &[Key]) -> Result<Vec<u64>> {
        let mut leaves: Vec<u64> = Vec::with_capacity(keys.len());
        let (mut first, mut end): (&[u8], Option<&[u8]>) = (&[], None);
        for key in keys.iter().map(Key::as_slice) {
            if let Some(&leaf) = leaves.last()
                && first <= key
                && end.is_some_and(|end| key < end)
            {
                leaves.push(leaf);
                continue;
            }
            let way = self.way_down(key)?;
            let leaf = way.pages[way.leaf];
            (first, end) = (key, None);
            if let Some(above) = way.leaf.checked_sub(1) {
                let (branch, index) = (Page::new(self.bytes(way.pages[above], 1)?), usize::from(way.indexes[above]) + 1);
                end = if index < branch.entries() { branch.key(index) } else { None };
            }
            prefetch(self.bytes(leaf, 1)?, 0, OFFSETS);
            self.mapped.map.checked.fetch(leaf);
            leaves.push(leaf);
        }
        Ok(leaves)
    }

    /// The value of each key in its leaf, fetched; `None` of those that are not there.
    fn values_in(&self, leaves: &[u64], keys: &[Key]) -> Result<Vec<Option<&[u8]>>> {
        for same in leaves.chunk_by(|one, next| one == next) {
            Page::new(self.bytes(same[0], 1)?).fetch_keys(KEYS);
        }
        let mut values = Vec::with_capacity(keys.len());
        for same in leaves.chunk_by(|one, next| one == next) {
            let (page, mut near) = (self.page(same[0], Kind::Leaf)?, None);
            for _ in same {
                let (index, exact) = self.some(same[0], page.search(keys[values.len()].as_slice(), 0, near))?;
                let value = if exact { Some(self.value(same[0], page, index)?) } else { None };
                if let Some(value) = value {
                    prefetch(value, 0, VALUE);
                    verified::fetch(value);
                }
                near = Some(index);
                values.push(value);
            }
        }
        Ok(values)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use std::time::Duration;

    use crate::engine::{Engine, EngineOptions};
    use crate::memory::NewMemory;
    use crate::memory::embedding::Embedding;
    use crate::scope::{Scope, ScopeType};
    use crate::store::keys::Key;
    use crate::store::pages::Pages;
    use crate::store::{Durability, Snapshot};

    /// What `get_each` says of keys in this order.
    fn each(snapshot: &Snapshot, keys: &[Key]) -> Vec<Option<Vec<u8>>> {
        let mut values = Vec::new();
        let visit = &mut |at, value: Option<&[u8]>| {
            assert_eq!(at, values.len(), "in their order");
            values.push(value.map(<[u8]>::to_vec));
            Ok(())
        };
        snapshot.get_each(keys, visit).unwrap();
        values
    }

    #[test]
    fn many_look_ups_say_what_each_alone_says() {
        let path = std::env::temp_dir().join(format!("memspan-several-{}", std::process::id()));
        let busy_timeout = Duration::from_secs(5);
        let embedding = Some(Embedding::built_in());
        let engine =
            Engine::open(&path, EngineOptions { durability: Durability::Relaxed, read_only: false, busy_timeout, embedding, now: 7 })
                .unwrap();
        let scope = Scope::new(None, ScopeType::User, "a").unwrap();
        let empty = engine.store().read(|snapshot| Ok(each(snapshot, &[Key::new(9, crate::store::keys::Table::Memory)]))).unwrap();
        assert_eq!(empty, [None], "of a store without memories");
        for at in 0..700 {
            let text = format!("fact {at} {}", "and more ".repeat(if at % 90 == 7 { 900 } else { at % 5 }));
            engine.remember(&scope, NewMemory::new(text), at as i64).unwrap();
        }
        let check = |snapshot: &Snapshot| {
            let mut keys = Vec::new();
            snapshot.scan(&[], &[255; 24], &mut |key, _| {
                keys.push(Key::from_slice(key)?);
                Ok(std::ops::ControlFlow::Continue(()))
            })?;
            assert!(keys.len() > 1_400, "{}", keys.len());
            // Between any two there may be none: a key with a byte more is missing.
            let room = |key: &&Key| key.as_slice().len() < 24;
            let missing: Vec<Key> = keys.iter().filter(room).map(|key| key.u8(1)).collect();
            let (mut all, mut turned) = ([keys.clone(), missing].concat(), keys.clone());
            all.sort_unstable_by(|a, b| a.as_slice().cmp(b.as_slice()));
            turned.reverse();
            let some = |step: usize| all.iter().copied().step_by(step).collect::<Vec<_>>();
            let repeated = [keys[0], keys[0], keys[9], keys[3], keys[9]].to_vec();
            for asked in [keys, turned, some(1), some(2), some(7), some(41), repeated, Vec::new()] {
                let alone: Vec<_> = asked.iter().map(|key| snapshot.get(key.as_slice()).unwrap().map(<[u8]>::to_vec)).collect();
                assert!(each(snapshot, &asked) == alone);
            }
            Ok(())
        };
        engine.store().read(check).unwrap();
        drop(engine);
        let _ = std::fs::remove_dir_all(path);
    }
}
