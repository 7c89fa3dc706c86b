//! Writes: each changes the exact vectors and the blocks together.
//!
//! Blocks partition the numbers: a block holds those from its key's to the next block's. A batch is cut along these borders
//! and each block is written once. Blocks at the end of the table are filled up, since numbers mostly ascend; a full block
//! in the middle is cut into even parts. A block that falls to half is joined with a neighbour that has room.

use std::ops::ControlFlow;

use super::block::{Entry, encode, vectors_per_block};
use super::exact::Rounded;
use super::query::quantise;
use super::{UnitVector, VectorSet};
use crate::Result;
use crate::store::keys::Key;
use crate::store::pages::{Pages, PagesMut};

impl VectorSet {
    /// Stores the vector of `number`, replacing the one it had.
    pub fn put<P: PagesMut + ?Sized>(&self, pages: &mut P, number: u32, vector: &UnitVector) -> Result<()> {
        self.put_many(pages, &[(number, vector)])
    }

    /// Stores many vectors, in any order; where a number comes twice, its last vector stands. Every page is written once.
    pub fn put_many<P: PagesMut + ?Sized>(&self, pages: &mut P, vectors: &[(u32, &UnitVector)]) -> Result<()> {
        vectors.iter().try_for_each(|&(number, vector)| self.check_vector(number, vector))?;
        let mut vectors = in_order(vectors);
        // Codes are those of the vector as it is read again, so that the blocks say what the exact vectors say.
        let rounded: Vec<Rounded> = vectors.iter().filter(|_| self.is_exact()).map(|(_, vector)| Rounded::new(vector)).collect();
        let units: Vec<UnitVector> = rounded.iter().map(Rounded::unit).collect();
        vectors.iter_mut().zip(&units).for_each(|((_, vector), unit)| *vector = unit);
        let mut rest = &vectors[..];
        while let [(number, _), ..] = rest {
            let target = self.block_for(pages, *number)?;
            let until = target.and_then(|target| target.next_first);
            let count = until.map_or(rest.len(), |until| rest.partition_point(|&(number, _)| number < until)).max(1); // a foreign key among the blocks must not stop the loop
            let (run, after) = rest.split_at(count);
            self.put_run(pages, target, run)?;
            rest = after;
        }
        if !self.is_exact() {
            return Ok(());
        }
        self.note_changes(pages, &vectors.iter().map(|&(number, _)| number).collect::<Vec<_>>(), true)?;
        vectors.iter().zip(&rounded).try_for_each(|(&(number, _), rounded)| self.put_exact(pages, number, rounded))
    }

    /// Removes the vector of `number`; says whether there was one.
    pub fn remove<P: PagesMut + ?Sized>(&self, pages: &mut P, number: u32) -> Result<bool> {
        let Some(target) = self.block_for(pages, number)? else { return Ok(false) };
        let mut entries = self.entries(pages, target.first)?;
        let Ok(at) = entries.binary_search_by_key(&number, |entry| entry.number) else { return Ok(false) };
        entries.remove(at);
        let mut dropped = vec![target.first];
        if let Some((neighbour, more)) = self.neighbour_with_room(pages, target, entries.len())? {
            dropped.push(neighbour);
            let at = entries.partition_point(|entry| entry.number < neighbour);
            entries.splice(at..at, more);
        }
        let blocks = self.encode_all(&entries, true);
        self.replace(pages, &dropped, &blocks)?;
        if self.is_exact() {
            self.delete_exact(pages, number)?;
            self.note_changes(pages, &[number], false)?;
        }
        Ok(true)
    }

    /// The block that holds `number`, or would: the last that begins at or below it, else the first; `None` without blocks.
    fn block_for<P: Pages + ?Sized>(&self, pages: &P, number: u32) -> Result<Option<Target>> {
        let below = pages.floor(self.block_key(number).as_slice())?.and_then(|(key, _)| self.first_of(key));
        let first = match below {
            Some(first) => Some(first),
            None => self.first_block_from(pages, 0)?,
        };
        let Some(first) = first else { return Ok(None) };
        let next_first = match first.checked_add(1) {
            Some(from) => self.first_block_from(pages, from)?,
            None => None,
        };
        Ok(Some(Target { first, next_first }))
    }

    /// The first number of the first block that begins at `from` or later.
    fn first_block_from<P: Pages + ?Sized>(&self, pages: &P, from: u32) -> Result<Option<u32>> {
        let mut found = None;
        pages.scan(self.block_key(from).as_slice(), &self.blocks().prefix_range().end, &mut |key, _| {
            found = self.first_of(key);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    fn entries<'p, P: Pages + ?Sized>(&self, pages: &'p P, first: u32) -> Result<Vec<Entry<'p>>> {
        let key = self.block_key(first);
        let Some(value) = pages.get(key.as_slice())? else { return Ok(Vec::new()) };
        Ok(self.open_block(key.as_slice(), value)?.entries().collect())
    }

    /// Merges `run` into the block that its numbers belong to.
    fn put_run<P: PagesMut + ?Sized>(&self, pages: &mut P, target: Option<Target>, run: &[(u32, &UnitVector)]) -> Result<()> {
        let mut codes = Vec::with_capacity(run.len() * self.dims);
        let scales: Vec<f32> = run.iter().map(|(_, vector)| quantise(vector.as_slice(), &mut codes)).collect();
        let codes: Vec<u8> = codes.into_iter().map(|code| code as u8).collect();
        let new = run.iter().zip(scales).zip(codes.chunks(self.dims)).map(|((&(number, _), scale), row)| Entry { number, scale, row });
        let old = target.map_or(Ok(Vec::new()), |target| self.entries(pages, target.first))?;
        let is_last = target.is_none_or(|target| target.next_first.is_none());
        let blocks = self.encode_all(&merge(&old, new), is_last);
        let dropped: Vec<u32> = target.map(|target| target.first).into_iter().collect();
        self.replace(pages, &dropped, &blocks)
    }

    /// Cuts `entries` into blocks: full ones where more will follow at the end, even ones elsewhere.
    fn encode_all(&self, entries: &[Entry<'_>], fill: bool) -> Vec<(Key, Vec<u8>)> {
        let most = vectors_per_block(self.dims);
        let size = if fill { most } else { entries.len().div_ceil(entries.len().div_ceil(most).max(1)).max(1) };
        let encode_block = |entries: &[Entry<'_>]| {
            let key = self.block_key(entries[0].number);
            (key, encode(key.as_slice(), self.dims, entries))
        };
        entries.chunks(size).map(encode_block).collect()
    }

    /// Writes `blocks` in the place of those whose keys begin at `dropped`.
    fn replace<P: PagesMut + ?Sized>(&self, pages: &mut P, dropped: &[u32], blocks: &[(Key, Vec<u8>)]) -> Result<()> {
        for &first in dropped {
            let key = self.block_key(first);
            if !blocks.iter().any(|(kept, _)| *kept == key) {
                pages.delete(key.as_slice())?;
            }
        }
        blocks.iter().try_for_each(|(key, value)| pages.put(key.as_slice(), value))
    }

    /// The block beside `target` that `left` vectors fit into, once they fill half a block or less; the next one first.
    fn neighbour_with_room<'p, P: Pages + ?Sized>(
        &self,
        pages: &'p P,
        target: Target,
        left: usize,
    ) -> Result<Option<(u32, Vec<Entry<'p>>)>> {
        let most = vectors_per_block(self.dims);
        if left == 0 || left * 2 > most {
            return Ok(None);
        }
        let before = match target.first.checked_sub(1) {
            Some(below) => pages.floor(self.block_key(below).as_slice())?.and_then(|(key, _)| self.first_of(key)),
            None => None,
        };
        for neighbour in [target.next_first, before].into_iter().flatten() {
            let entries = self.entries(pages, neighbour)?;
            if left + entries.len() <= most {
                return Ok(Some((neighbour, entries)));
            }
        }
        Ok(None)
    }

    fn check_vector(&self, number: u32, vector: &UnitVector) -> Result<()> {
        let got = vector.as_slice().len();
        if got == self.dims {
            return Ok(());
        }
        Err(crate::Error::invalid(format!(
            "storing the vector of memory {number}: it must have the {} dimensions of embedding {}, got {got} (partition {}): \
             embed the text again with the store's embedder",
            self.dims, self.embedding, self.partition
        ))
        .with("dimensions", self.dims)
        .with("got", got))
    }
}

/// A block by its first number, and the first number of the block behind it.
#[derive(Debug, Clone, Copy)]
struct Target {
    first: u32,
    next_first: Option<u32>,
}

/// Numbers ascending; of equal ones the last.
fn in_order<'v>(vectors: &[(u32, &'v UnitVector)]) -> Vec<(u32, &'v UnitVector)> {
    let mut sorted: Vec<_> = vectors.iter().rev().copied().collect();
    sorted.sort_by_key(|&(number, _)| number);
    sorted.dedup_by_key(|&mut (number, _)| number);
    sorted
}

/// Two ascending sequences as one; where both have a number, the new entry.
fn merge<'a>(old: &[Entry<'a>], new: impl Iterator<Item = Entry<'a>>) -> Vec<Entry<'a>> {
    let mut merged = Vec::with_capacity(old.len() + new.size_hint().0);
    let mut rest = old;
    for entry in new {
        let smaller = rest.partition_point(|old| old.number < entry.number);
        merged.extend_from_slice(&rest[..smaller]);
        rest = &rest[smaller..];
        if rest.first().is_some_and(|old| old.number == entry.number) {
            rest = &rest[1..];
        }
        merged.push(entry);
    }
    merged.extend_from_slice(rest);
    merged
}
