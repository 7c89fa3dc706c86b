//! Slots: the attributes that memories give values to. One current value each, unless a slot is declared `multi`.

use std::ops::ControlFlow;

use crate::Result;
use crate::store::chunks;
use crate::store::envelope::{self, Codec};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};

/// Entries of a scope's slots that are walked over in search of some.
const MOST_WALKED: usize = 16;

/// One slot of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slot {
    /// Its name: case-folded, in Unicode normal form C.
    pub name: String,
    /// Whether it holds several values at a time.
    pub multi: bool,
    /// The numbers of its current memories, oldest first; none where the last was forgotten.
    pub current: Vec<u32>,
}

impl Slot {
    /// Without its row it is the same. Of one that holds several values at a time, which a program said, it is not.
    fn is_empty(&self) -> bool {
        !self.multi && self.current.is_empty()
    }
}

fn key(partition: Partition, seed: Seed, name: &str) -> Key {
    Key::new(partition, Table::Slot).u64(seed.hash64(name.as_bytes()))
}

/// The slot of that normal name; an empty one where there is none yet.
pub fn get<P: Pages + ?Sized>(pages: &P, partition: Partition, seed: Seed, name: &str) -> Result<Slot> {
    let key = key(partition, seed, name);
    let none = || Slot { name: name.to_owned(), multi: false, current: Vec::new() };
    let Some((_, body)) = chunks::get(pages, key)? else { return Ok(none()) };
    let slot = decode(key.as_slice(), &body)?;
    if slot.name == name { Ok(slot) } else { Err(envelope::damaged(key.as_slice(), "it belongs to a slot of another name")) }
}

/// The slots that exist of those normal names. Most scopes have few slots or none, so that one walk over them finds all.
pub fn of_names<P: Pages + ?Sized>(pages: &P, partition: Partition, seed: Seed, names: &[&str]) -> Result<Vec<Slot>> {
    let range = Key::new(partition, Table::Slot).prefix_range();
    let keys: Vec<Key> = names.iter().map(|name| key(partition, seed, name).u16(0)).collect();
    let (mut walked, mut met) = (0, Vec::new());
    pages.scan(&range.start, &range.end, &mut |key, _| {
        walked += 1;
        met.extend(keys.iter().position(|own| own.as_slice() == key));
        Ok(if walked < MOST_WALKED { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    met.sort_unstable();
    let met = if walked < MOST_WALKED { met } else { (0..names.len()).collect() };
    met.into_iter().map(|at| get(pages, partition, seed, names[at])).collect()
}

/// Stores a slot.
pub fn put(pages: &mut impl PagesMut, partition: Partition, seed: Seed, slot: &Slot) -> Result<()> {
    let mut body = Writer::array(3);
    body.text(&slot.name);
    body.bool(slot.multi);
    body.nested(slot.current.len() as u32);
    for number in &slot.current {
        body.uint(u64::from(*number));
    }
    chunks::put(pages, key(partition, seed, &slot.name), 1, Codec::MessagePack, body.bytes())
}

/// Every slot of a scope, in the order of its name.
pub fn list<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<Vec<Slot>> {
    let range = Key::new(partition, Table::Slot).prefix_range();
    let mut found = Vec::new();
    pages.scan(&range.start, &range.end, &mut |key, value| {
        let (prefix, chunk) = key.split_at(key.len().saturating_sub(2));
        if chunk == [0, 0] {
            let (_, body) = chunks::join(pages, Key::from_slice(prefix)?, envelope::open(key, value)?)?;
            found.push(decode(key, &body)?);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    found.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(found)
}

/// The current memories of the first `most` slots whose names `is` takes, in the order of their keys; whether these were all slots.
/// `found` is given what `is` says of a slot. A name is read where it lies, and the rest of its slot only where it is taken.
pub fn named<P: Pages + ?Sized, T>(
    pages: &P,
    partition: Partition,
    most: usize,
    is: impl Fn(&str) -> Option<T>,
    found: &mut impl FnMut(Slot, T),
) -> Result<bool> {
    let range = Key::new(partition, Table::Slot).prefix_range();
    let mut walked = 0;
    pages.scan(&range.start, &range.end, &mut |key, value| {
        let (prefix, chunk) = key.split_at(key.len().saturating_sub(2));
        if chunk != [0, 0] {
            return Ok(ControlFlow::Continue(()));
        }
        walked += 1;
        if walked > most {
            return Ok(ControlFlow::Break(()));
        }
        let opened = envelope::open(key, value)?;
        let taken = Reader::array(key, opened.body)?.text().map(&is)?;
        if let Some(taken) = taken {
            let (_, body) = chunks::join(pages, Key::from_slice(prefix)?, opened)?;
            found(decode(key, &body)?, taken);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(walked <= most)
}

/// Slots that hold nothing and say nothing but their name, which may be a word of the user's: their last value was forgotten.
pub(crate) fn empty<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<Vec<Slot>> {
    Ok(list(pages, partition)?.into_iter().filter(Slot::is_empty).collect())
}

/// Removes those of `slots` that are still empty.
pub(crate) fn remove_empty(pages: &mut impl PagesMut, partition: Partition, seed: Seed, slots: &[Slot]) -> Result<()> {
    for slot in slots {
        if get(&*pages, partition, seed, &slot.name)?.is_empty() {
            chunks::remove(pages, key(partition, seed, &slot.name))?;
        }
    }
    Ok(())
}

/// The slot at a key of the table; `None` where there is none.
pub(super) fn at<P: Pages + ?Sized>(pages: &P, key: Key) -> Result<Option<Slot>> {
    let body = chunks::get(pages, key)?;
    body.map(|(_, body)| decode(key.as_slice(), &body)).transpose()
}

fn decode(key: &[u8], body: &[u8]) -> Result<Slot> {
    let mut r = Reader::array(key, body)?;
    let mut slot = Slot { name: r.text()?.to_owned(), multi: r.bool()?, current: Vec::new() };
    for _ in 0..r.nested()? {
        slot.current.push(r.uint()? as u32);
    }
    Ok(slot)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::{Scope, ScopeType};
    use crate::store::identity::Secret;
    use crate::store::pages::MemoryPages;

    #[test]
    fn slots_are_found_by_their_names_among_few_and_many() {
        let scope = Scope::new(None, ScopeType::User, "u").expect("a name");
        let (mut pages, seed) = (MemoryPages::new(), scope.seed(Secret::default()));
        let current = |pages: &MemoryPages| -> Vec<Vec<u32>> {
            let slots = of_names(pages, 3, seed, &["name", "nickname", "full name"]).expect("read");
            slots.into_iter().map(|slot| slot.current).filter(|current| !current.is_empty()).collect()
        };
        assert!(current(&pages).is_empty());
        for (at, name) in ["nickname", "editor", "name"].iter().enumerate() {
            let slot = Slot { name: (*name).to_owned(), multi: false, current: vec![at as u32] };
            put(&mut pages, 3, seed, &slot).expect("put");
            put(&mut pages, 4, seed, &Slot { current: vec![9], ..slot }).expect("put");
        }
        assert_eq!(current(&pages), [[2], [0]], "in the order in which they are named");
        for other in 0..2 * MOST_WALKED as u32 {
            put(&mut pages, 3, seed, &Slot { name: format!("s-{other}"), multi: true, current: vec![other] }).expect("put");
        }
        assert_eq!(current(&pages), [[2], [0]]);
    }
}
