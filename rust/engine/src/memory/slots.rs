//! Slots: the attributes that memories give values to. One current value each, unless a slot is declared `multi`.

use std::ops::ControlFlow;

use crate::Result;
use crate::store::chunks;
use crate::store::envelope::{self, Codec};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};

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

fn decode(key: &[u8], body: &[u8]) -> Result<Slot> {
    let mut r = Reader::array(key, body)?;
    let mut slot = Slot { name: r.text()?.to_owned(), multi: r.bool()?, current: Vec::new() };
    for _ in 0..r.nested()? {
        slot.current.push(r.uint()? as u32);
    }
    Ok(slot)
}
