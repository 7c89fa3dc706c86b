//! When memories were last recalled: buffered in the process, made durable with a later write or by maintenance.
//!
//! A recall never waits for a disk. Buffered recalls count only from when they are stored, so that two processes see the same.
//!
//! ```text
//! Table::Access | number u32 / 256 -> 256 rows of: last recalled u32 (seconds since 1970) | recalls u32, little-endian
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use crate::Result;
use crate::process::lock;
use crate::scope::{self, Row};
use crate::store::envelope::{self, Codec, ENVELOPE_BYTES};
use crate::store::keys::{Key, Partition, Table};
use crate::store::pages::{Pages, PagesMut};
use crate::store::verified;

const ROWS: u32 = 256;
const ROW_BYTES: usize = 8;
const BODY_BYTES: usize = ROWS as usize * ROW_BYTES;

/// How much is kept back before the next write takes it along.
const ENOUGH: usize = 1024;

/// One memory's recalls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Access {
    /// When it was last recalled, seconds since 1970; 0 never.
    pub last_seconds: u32,
    /// How often it was recalled.
    pub recalls: u32,
}

impl Access {
    /// When it was last recalled, microseconds since 1970 (UTC); none where it never was.
    #[must_use]
    pub fn last_at(self) -> Option<i64> {
        (self.last_seconds > 0).then(|| i64::from(self.last_seconds) * 1_000_000)
    }
}

/// Recalls by partition and number that are not on disk yet.
pub type Accesses = BTreeMap<(Partition, u32), Access>;

/// Recalls of this process that are not on disk yet.
#[derive(Debug, Default)]
pub struct AccessBuffer(Mutex<BTreeMap<Partition, BTreeMap<u32, Access>>>);

fn flat(buffer: BTreeMap<Partition, BTreeMap<u32, Access>>) -> Accesses {
    let own =
        |(partition, own): (Partition, BTreeMap<u32, Access>)| own.into_iter().map(move |(number, access)| ((partition, number), access));
    buffer.into_iter().flat_map(own).collect()
}

impl AccessBuffer {
    /// Notes that memories of a partition were recalled at `now` (microseconds since 1970).
    pub fn note(&self, partition: Partition, numbers: impl Iterator<Item = u32>, now: i64) {
        let seconds = u32::try_from(now / 1_000_000).unwrap_or(0);
        let mut buffer = lock(&self.0);
        let own = buffer.entry(partition).or_default();
        for number in numbers {
            let access = own.entry(number).or_default();
            access.last_seconds = access.last_seconds.max(seconds);
            access.recalls = access.recalls.saturating_add(1);
        }
    }

    /// A copy of everything, which stays.
    pub fn buffered(&self) -> Accesses {
        flat(lock(&self.0).clone())
    }

    /// The recalls that a write to a partition is to store with it: its own, once they are many. Those of others wait for their own
    /// writes, or the scores of one user would change when another asks.
    pub fn due(&self, partition: Partition) -> Accesses {
        let buffer = lock(&self.0);
        let own = buffer.get(&partition).filter(|own| own.len() >= ENOUGH);
        own.into_iter().flatten().map(|(number, access)| ((partition, *number), *access)).collect()
    }

    /// Forgets what was stored; what was noted meanwhile stays.
    pub fn stored(&self, accesses: &Accesses) {
        let mut buffer = lock(&self.0);
        for ((partition, number), stored) in accesses {
            let Some(own) = buffer.get_mut(partition) else { continue };
            if let Some(access) = own.get_mut(number) {
                access.recalls = access.recalls.saturating_sub(stored.recalls);
                if access.recalls == 0 {
                    own.remove(number);
                }
            }
        }
        buffer.retain(|_, own| !own.is_empty());
    }

    /// Adds what is buffered of memories of a partition.
    pub fn add_to<'a>(&self, partition: Partition, accesses: impl Iterator<Item = (u32, &'a mut Access)>) {
        let buffer = lock(&self.0);
        let Some(own) = buffer.get(&partition) else { return };
        for (number, access) in accesses {
            let noted = own.get(&number).copied().unwrap_or_default();
            access.recalls = access.recalls.saturating_add(noted.recalls);
            access.last_seconds = access.last_seconds.max(noted.last_seconds);
        }
    }

    /// Takes everything.
    pub fn take(&self) -> Accesses {
        flat(std::mem::take(&mut *lock(&self.0)))
    }

    /// Gives back what was taken and could not be stored.
    pub fn give_back(&self, accesses: &Accesses) {
        let mut buffer = lock(&self.0);
        for ((partition, number), taken) in accesses {
            let access = buffer.entry(*partition).or_default().entry(*number).or_default();
            access.last_seconds = access.last_seconds.max(taken.last_seconds);
            access.recalls = access.recalls.saturating_add(taken.recalls);
        }
    }

    /// Drops what was noted of a partition, which is erased.
    pub fn forget(&self, partition: Partition) {
        lock(&self.0).remove(&partition);
    }
}

fn key(partition: Partition, number: u32) -> Key {
    Key::new(partition, Table::Access).u32(number / ROWS)
}

fn read_row(body: &[u8], number: u32) -> Access {
    let at = (number % ROWS) as usize * ROW_BYTES;
    let u32_at = |at: usize| body.get(at..at + 4).map_or(0, |b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    Access { last_seconds: u32_at(at), recalls: u32_at(at + 4) }
}

/// One memory's recalls as they are on disk.
pub fn get<P: Pages + ?Sized>(pages: &P, partition: Partition, number: u32) -> Result<Access> {
    AccessBlocks::new(pages, partition).get(number)
}

/// The recalls of many memories of a partition: a block is looked up and verified once for neighbours.
#[derive(Debug)]
pub struct AccessBlocks<'p, P: ?Sized> {
    pages: &'p P,
    partition: Partition,
    known: Vec<(u32, &'p [u8])>,
}

impl<'p, P: Pages + ?Sized> AccessBlocks<'p, P> {
    /// The recalls of the memories of a partition.
    pub fn new(pages: &'p P, partition: Partition) -> Self {
        Self { pages, partition, known: Vec::new() }
    }

    /// Whose they are.
    #[must_use]
    pub fn partition(&self) -> Partition {
        self.partition
    }

    /// One memory's recalls as they are on disk.
    pub fn get(&mut self, number: u32) -> Result<Access> {
        let block = number / ROWS;
        if let Some((_, body)) = self.known.iter().rev().find(|(known, _)| *known == block) {
            return Ok(read_row(body, number));
        }
        let key = key(self.partition, number);
        let value = self.pages.get(key.as_slice())?;
        let body = value.map_or(Ok(&[][..]), |value| verified::open(key.as_slice(), value, 1, Codec::Packed as u8, |_| true))?;
        self.known.push((block, body));
        Ok(read_row(body, number))
    }
}

/// Those whose partition is a scope's: another process may have erased it since they were noted.
pub fn of_scopes<P: Pages + ?Sized>(pages: &P, accesses: &Accesses) -> Result<Accesses> {
    let partitions: BTreeSet<Partition> = accesses.keys().map(|(partition, _)| *partition).collect();
    let mut live = BTreeSet::new();
    for partition in partitions {
        if let Some(Row::Scope(_)) = scope::row(pages, partition)? {
            live.insert(partition);
        }
    }
    Ok(accesses.iter().filter(|((partition, _), _)| live.contains(partition)).map(|(at, access)| (*at, *access)).collect())
}

/// Adds what was buffered to what is on disk; a block of 256 memories is one page.
pub fn store(pages: &mut impl PagesMut, accesses: &Accesses) -> Result<()> {
    let mut entries = accesses.iter().peekable();
    while let Some((partition, first)) = entries.peek().map(|(at, _)| **at) {
        let key = key(partition, first);
        let mut value = vec![0; ENVELOPE_BYTES + BODY_BYTES];
        if let Some(stored) = pages.get(key.as_slice())? {
            let body = envelope::open(key.as_slice(), stored)?.body;
            let length = body.len().min(BODY_BYTES);
            value[ENVELOPE_BYTES..ENVELOPE_BYTES + length].copy_from_slice(&body[..length]);
        }
        let same_block = |at: &(Partition, u32)| at.0 == partition && at.1 / ROWS == first / ROWS;
        while let Some((&(_, number), new)) = entries.next_if(|(at, _)| same_block(at)) {
            let old = read_row(&value[ENVELOPE_BYTES..], number);
            let at = ENVELOPE_BYTES + (number % ROWS) as usize * ROW_BYTES;
            value[at..at + 4].copy_from_slice(&old.last_seconds.max(new.last_seconds).to_le_bytes());
            value[at + 4..at + 8].copy_from_slice(&old.recalls.saturating_add(new.recalls).to_le_bytes());
        }
        envelope::seal_in_place(key.as_slice(), 1, Codec::Packed as u8, &mut value);
        pages.put(key.as_slice(), &value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::pages::MemoryPages;

    #[test]
    fn buffered_recalls_add_up_on_disk() {
        let (mut pages, buffer) = (MemoryPages::new(), AccessBuffer::default());
        buffer.note(3, [1, 255, 256, 70_000].into_iter(), 5_000_000);
        assert!(buffer.due(3).is_empty(), "a few wait");
        store(&mut pages, &buffer.take()).expect("stored");
        buffer.note(3, [255].into_iter(), 9_000_000);
        store(&mut pages, &buffer.take()).expect("stored");
        assert_eq!(get(&pages, 3, 255).expect("row"), Access { last_seconds: 9, recalls: 2 });
        assert_eq!(get(&pages, 3, 256).expect("row"), Access { last_seconds: 5, recalls: 1 });
        assert_eq!(get(&pages, 3, 2).expect("row"), Access::default());
        assert!(buffer.take().is_empty());
    }

    #[test]
    fn a_write_stores_the_recalls_of_its_own_scope_and_of_no_other() {
        let buffer = AccessBuffer::default();
        buffer.note(1, 0..3, 1_000_000);
        buffer.note(2, 0..ENOUGH as u32, 1_000_000);
        assert!(buffer.due(1).is_empty(), "whatever others do");
        let due = buffer.due(2);
        assert_eq!(due.len(), ENOUGH);
        buffer.note(2, 7..8, 2_000_000);
        buffer.stored(&due);
        assert_eq!(buffer.take().keys().copied().collect::<Vec<_>>(), [(1, 0), (1, 1), (1, 2), (2, 7)]);
    }
}
