//! Content-addressed bytes of a scope: images, documents and very long messages, each stored once however often it is said.
//!
//! A blob is a record (`Table::Blob`: references, length, time) and chunks of one page (`Table::BlobChunk`). Chunks are written
//! in order and removed from the end, so the stored chunks are always a prefix, and a blob is whole when its last chunk is there. A
//! process that dies leaves at worst a prefix that nothing refers to. Long blobs are [`stage`]d ahead in
//! transactions of bounded length and only referred to by the one that commits the message; [`sweep`] removes chunks
//! that were staged and never used, and blobs that nothing refers to any more.
//!
//! A message is stored as it was given, so its blobs are holes in its text ([`split`], [`join`]): nothing is encoded anew.
//! The hash is keyed, and the bytes of a blob with the same hash are compared before a message refers to it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{ControlFlow, Range};

use crate::context::message::{Message, Part, Source};
use crate::session::codec;
use crate::store::chunks;
use crate::store::envelope::{self, CONTINUES, Codec, ENVELOPE_BYTES, ONE_PAGE_BODY, damaged};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::{Error, Result};

/// Layout of record and chunks. 1: the first.
const SCHEMA: u8 = 1;

/// A blob of at most this many chunks (255 KiB) is removed by the transaction that drops its last reference.
const REMOVED_AT_ONCE: usize = 64;

/// The longest blob: as many chunks as their number in the key can tell apart. Messages are bounded long before.
const MAX_BLOB_BYTES: usize = ONE_PAGE_BODY << 16;

/// The time of a blob whose last reference was dropped: the next sweep takes it, however young it is.
const RELEASED: i64 = i64::MIN;

/// Shorter parts of a message stay in it: a record, a chunk and two keys cost more than they take.
const LEAST_HOLE: usize = 2_048;

/// A message's text beside its holes is at most this long.
const MOST_REST: usize = 256 * 1_024;

/// A message with more parts to take out is taken out whole.
const MOST_HOLES: usize = 1_024;

/// The address of `bytes` in a scope; `seed` is the scope's, so that blobs of two scopes cannot be compared.
pub fn hash(seed: Seed, bytes: &[u8]) -> u128 {
    seed.hash128(bytes)
}

/// The record of a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) struct Blob {
    pub references: u64,
    pub length: u64,
    /// When it was first written, or last staged; microseconds since 1970.
    created_at: i64,
}

impl Blob {
    /// How many chunks it has when it is whole.
    pub fn chunks(self) -> usize {
        (self.length as usize).div_ceil(ONE_PAGE_BODY)
    }
}

fn record_key(partition: Partition, hash: u128) -> Key {
    Key::new(partition, Table::Blob).u128(hash)
}

fn chunk_prefix(partition: Partition, hash: u128) -> Key {
    Key::new(partition, Table::BlobChunk).u128(hash)
}

fn read<P: Pages>(pages: &P, partition: Partition, hash: u128) -> Result<Option<Blob>> {
    let key = record_key(partition, hash);
    pages.get(key.as_slice())?.map(|value| decode(key.as_slice(), value)).transpose()
}

pub(in crate::session) fn decode(key: &[u8], value: &[u8]) -> Result<Blob> {
    let mut r = Reader::array(key, envelope::open(key, value)?.body)?;
    let blob = Blob { references: r.uint()?, length: r.uint()?, created_at: r.int()? };
    if blob.length > MAX_BLOB_BYTES as u64 {
        return Err(damaged(key, "it names more bytes than a blob can have"));
    }
    Ok(blob)
}

fn write(pages: &mut impl PagesMut, partition: Partition, hash: u128, blob: Blob) -> Result<()> {
    let key = record_key(partition, hash);
    let mut w = Writer::array(3);
    w.uint(blob.references);
    w.uint(blob.length);
    w.int(blob.created_at);
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), SCHEMA, Codec::MessagePack, w.bytes()))
}

/// How many chunks are there: those from 0 to the last one.
fn present<P: Pages>(pages: &P, partition: Partition, hash: u128) -> Result<usize> {
    let prefix = chunk_prefix(partition, hash);
    let last = pages.floor(prefix.u16(u16::MAX).as_slice())?;
    let number = last.and_then(|(key, _)| key.strip_prefix(prefix.as_slice())).and_then(|rest| rest.try_into().ok());
    Ok(number.map_or(0, |bytes| usize::from(u16::from_be_bytes(bytes)) + 1))
}

/// The record of a blob of these bytes: the one that is there, or a new one without references.
fn record_of<P: Pages>(pages: &P, partition: Partition, hash: u128, bytes: &[u8], now: i64) -> Result<Blob> {
    let fresh = Blob { references: 0, length: bytes.len() as u64, created_at: now };
    if bytes.len() > MAX_BLOB_BYTES {
        let message = format!("cannot store a blob: it has at most {MAX_BLOB_BYTES} bytes, got {} (in a message): split it", bytes.len());
        return Err(Error::invalid(message).with("size_bytes", bytes.len()));
    }
    match read(pages, partition, hash)? {
        Some(blob) if blob.length != fresh.length => {
            Err(damaged(record_key(partition, hash).as_slice(), "it has another length than the bytes of that hash"))
        }
        Some(blob) => Ok(blob),
        None => Ok(fresh),
    }
}

/// Refuses bytes that are not those whose chunks are there under their hash.
fn compare<P: Pages>(pages: &P, partition: Partition, hash: u128, bytes: &[u8]) -> Result<()> {
    let (range, mut parts) = (chunk_prefix(partition, hash).prefix_range(), bytes.chunks(ONE_PAGE_BODY));
    let mut same = true;
    pages.scan(&range.start, &range.end, &mut |key, value| {
        same = parts.next() == Some(envelope::open(key, value)?.body);
        Ok(if same { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    if same { Ok(()) } else { Err(damaged(record_key(partition, hash).as_slice(), "it holds other bytes than those of the same hash")) }
}

/// Writes at most `most` of the chunks that are missing; says whether the blob is whole now.
fn fill(pages: &mut impl PagesMut, partition: Partition, hash: u128, bytes: &[u8], most: usize) -> Result<bool> {
    let parts = bytes.chunks(ONE_PAGE_BODY);
    let (count, first) = (parts.len(), present(pages, partition, hash)?);
    for (index, part) in parts.enumerate().skip(first).take(most) {
        let key = chunk_prefix(partition, hash).u16(index as u16);
        let mut value = vec![0; ENVELOPE_BYTES + part.len()];
        value[ENVELOPE_BYTES..].copy_from_slice(part);
        let goes_on = if index + 1 < count { CONTINUES } else { 0 };
        envelope::seal_in_place(key.as_slice(), SCHEMA, Codec::Raw as u8 | goes_on, &mut value);
        pages.put(key.as_slice(), &value)?;
    }
    Ok(first.saturating_add(most) >= count)
}

/// Writes what is missing of a blob, and refers to it once more.
pub fn put(pages: &mut impl PagesMut, partition: Partition, hash: u128, bytes: &[u8], now: i64) -> Result<()> {
    let blob = record_of(pages, partition, hash, bytes, now)?;
    compare(pages, partition, hash, bytes)?;
    fill(pages, partition, hash, bytes, usize::MAX)?;
    write(pages, partition, hash, Blob { references: blob.references + 1, created_at: blob.created_at.max(now), ..blob })
}

/// Writes at most `most_chunks` of a blob ahead of the message that will refer to it, going on where an earlier call or another
/// process stopped; says whether it is whole. The time is renewed, so that no sweep takes it from under a writer.
pub fn stage(pages: &mut impl PagesMut, partition: Partition, hash: u128, bytes: &[u8], most_chunks: usize, now: i64) -> Result<bool> {
    let blob = record_of(pages, partition, hash, bytes, now)?;
    if blob.references > 0 {
        compare(pages, partition, hash, bytes)?;
    }
    let whole = fill(pages, partition, hash, bytes, most_chunks)?;
    write(pages, partition, hash, Blob { created_at: blob.created_at.max(now), ..blob })?;
    Ok(whole)
}

/// Refers once more to a blob that is whole; `false`, and nothing is written, where it is not, or is not there.
pub fn reference(pages: &mut impl PagesMut, partition: Partition, hash: u128, length: u64) -> Result<bool> {
    let Some(blob) = read(pages, partition, hash)?.filter(|blob| blob.length == length) else { return Ok(false) };
    let whole = present(pages, partition, hash)? >= blob.chunks();
    if whole {
        write(pages, partition, hash, Blob { references: blob.references + 1, ..blob })?;
    }
    Ok(whole)
}

/// Refers once more to a blob that must be whole.
pub fn refer(pages: &mut impl PagesMut, partition: Partition, hash: u128, length: u64) -> Result<()> {
    let missing = || damaged(record_key(partition, hash).as_slice(), "something is to refer to it, and it is not whole");
    if reference(pages, partition, hash, length)? { Ok(()) } else { Err(missing()) }
}

/// Gives every blob of a partition as many references as are told, and removes the others, what is left of lost ones too.
pub fn count_anew(pages: &mut impl PagesMut, partition: Partition, references: &BTreeMap<u128, u64>) -> Result<()> {
    for hash in hashes(&*pages, partition)? {
        let known = read(&*pages, partition, hash)?;
        match (known, references.get(&hash)) {
            (Some(blob), Some(count)) if blob.references == *count => {}
            (Some(blob), Some(count)) => write(pages, partition, hash, Blob { references: *count, ..blob })?,
            _ => {
                chunks::clear(pages, chunk_prefix(partition, hash))?;
                pages.delete(record_key(partition, hash).as_slice())?;
            }
        }
    }
    Ok(())
}

/// The hashes of all blobs of a partition of which anything is there.
pub fn hashes<P: Pages>(pages: &P, partition: Partition) -> Result<BTreeSet<u128>> {
    let mut found = BTreeSet::new();
    for table in [Table::Blob, Table::BlobChunk] {
        let range = Key::new(partition, table).prefix_range();
        pages.scan(&range.start, &range.end, &mut |key, _| {
            found.extend(key.get(5..21).and_then(|hash| hash.try_into().ok()).map(u128::from_be_bytes));
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(found)
}

/// Drops a reference. Without any a short blob is gone at once, a long one is left to [`sweep`].
pub fn release(pages: &mut impl PagesMut, partition: Partition, hash: u128) -> Result<()> {
    let key = record_key(partition, hash);
    let blob = read(pages, partition, hash)?.filter(|blob| blob.references > 0);
    let blob = blob.ok_or_else(|| damaged(key.as_slice(), "something refers to it, and it knows of no reference"))?;
    if blob.references > 1 || blob.chunks() > REMOVED_AT_ONCE {
        let created_at = if blob.references == 1 { RELEASED } else { blob.created_at };
        return write(pages, partition, hash, Blob { references: blob.references - 1, created_at, ..blob });
    }
    shorten(pages, partition, hash, REMOVED_AT_ONCE)?;
    pages.delete(key.as_slice()).map(drop)
}

/// Removes at most `most` chunks from the end; says how many.
fn shorten(pages: &mut impl PagesMut, partition: Partition, hash: u128, most: usize) -> Result<usize> {
    let count = present(pages, partition, hash)?;
    let removed = count.min(most);
    for index in (count - removed..count).rev() {
        pages.delete(chunk_prefix(partition, hash).u16(index as u16).as_slice())?;
    }
    Ok(removed)
}

/// The bytes of a blob that something refers to.
pub fn get<P: Pages>(pages: &P, partition: Partition, hash: u128) -> Result<Vec<u8>> {
    let key = record_key(partition, hash);
    let blob = read(pages, partition, hash)?.ok_or_else(|| damaged(key.as_slice(), "something refers to it, and it is missing"))?;
    let mut bytes = Vec::new();
    let range = chunk_prefix(partition, hash).prefix_range();
    pages.scan(&range.start, &range.end, &mut |key, value| {
        bytes.extend_from_slice(envelope::open(key, value)?.body);
        Ok(ControlFlow::Continue(()))
    })?;
    if bytes.len() as u64 == blob.length { Ok(bytes) } else { Err(damaged(key.as_slice(), "its chunks have another length than it says")) }
}

/// Removes blobs that nothing refers to and that were written before `before`, at most `most_chunks` chunks in one call (and at
/// least one); says whether there may be more.
pub fn sweep(pages: &mut impl PagesMut, partition: Partition, before: i64, most_chunks: usize) -> Result<bool> {
    let mut left = most_chunks.max(1);
    let (orphans, all) = orphans(pages, partition, before, left)?;
    for hash in orphans {
        left = left.saturating_sub(shorten(pages, partition, hash, left)?.max(1));
        if present(pages, partition, hash)? == 0 {
            pages.delete(record_key(partition, hash).as_slice())?;
        }
        if left == 0 {
            return Ok(true);
        }
    }
    Ok(!all)
}

/// Blobs to remove, and whether they are all; else at least as many as `most_chunks` allows for if all their chunks are there.
fn orphans<P: Pages>(pages: &P, partition: Partition, before: i64, most_chunks: usize) -> Result<(Vec<u128>, bool)> {
    let range = Key::new(partition, Table::Blob).prefix_range();
    let (mut found, mut chunks) = (Vec::new(), 0);
    pages.scan(&range.start, &range.end, &mut |key, value| {
        let blob = decode(key, value)?;
        if blob.references == 0 && blob.created_at < before {
            let hash = key.last_chunk().ok_or_else(|| damaged(key, "its key is too short for a blob"))?;
            found.push(u128::from_be_bytes(*hash));
            chunks += blob.chunks().max(1);
        }
        Ok(if chunks < most_chunks { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok((found, chunks < most_chunks))
}

/// A range of a given text that is stored as a blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// Where it begins in the text as it was given, in bytes.
    pub offset: u64,
    /// The blob.
    pub hash: u128,
    /// Its bytes.
    pub length: u64,
}

/// Takes the blobs out of a message's text: base64 of images and documents as it stands there, and where what is left is still
/// too long for a record, that too. The holes are in order and do not overlap; each comes with its text.
pub fn split<'g>(given: &'g str, message: &Message, seed: Seed) -> (Vec<u8>, Vec<(Hole, &'g str)>) {
    let mut ranges = base64_ranges(given, message);
    let taken: usize = ranges.iter().map(Range::len).sum();
    if given.len() - taken > MOST_REST || ranges.len() > MOST_HOLES {
        ranges = with_the_rest(ranges, given.len());
    }
    let rest: Vec<u8> = gaps(&ranges, given.len()).flat_map(|gap| &given.as_bytes()[gap]).copied().collect();
    let hole = |range: Range<usize>| {
        let text = &given[range.clone()];
        (Hole { offset: range.start as u64, hash: hash(seed, text.as_bytes()), length: text.len() as u64 }, text)
    };
    (rest, ranges.into_iter().map(hole).collect())
}

/// The ranges, and long stretches between them; everything, where that is not enough.
fn with_the_rest(ranges: Vec<Range<usize>>, length: usize) -> Vec<Range<usize>> {
    let (long, short): (Vec<_>, Vec<_>) = gaps(&ranges, length).partition(|gap| gap.len() >= LEAST_HOLE);
    if short.iter().map(Range::len).sum::<usize>() > MOST_REST || ranges.len() + long.len() > MOST_HOLES {
        return std::iter::once(0..length).collect();
    }
    let mut all = [ranges, long].concat();
    all.sort_unstable_by_key(|range| range.start);
    all
}

/// The parts outside of ranges that are in order.
fn gaps(ranges: &[Range<usize>], length: usize) -> impl Iterator<Item = Range<usize>> {
    let starts = std::iter::once(0).chain(ranges.iter().map(|range| range.end));
    let ends = ranges.iter().map(|range| range.start).chain(std::iter::once(length));
    starts.zip(ends).map(|(start, end)| start..end)
}

/// Where the message's base64 stands. Text that escapes it (`\/`) does not hold it as it is, and keeps it.
fn base64_ranges(given: &str, message: &Message) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    for_each_base64(&message.parts, &mut |data| {
        let from = found.last().map_or(0, |range| range.end);
        if data.len() >= LEAST_HOLE
            && let Some(at) = find(&given[from..], data)
        {
            found.push(from + at..from + at + data.len());
        }
    });
    found
}

fn for_each_base64(parts: &[Part], visit: &mut impl FnMut(&str)) {
    for part in parts {
        let source = match part {
            Part::Image(image) => &image.source,
            Part::Document(document) => &document.source,
            Part::ToolResult(result) => {
                for_each_base64(&result.parts, visit);
                continue;
            }
            _ => continue,
        };
        if let Source::Base64 { data, .. } = source {
            visit(data);
        }
    }
}

/// Where `data` stands in `text`. Its beginning is nearly always enough; the search for the whole of it is linear, too, but has to
/// read 20 MB several times before it starts.
fn find(text: &str, data: &str) -> Option<usize> {
    let first = text.find(data.get(..64).unwrap_or(data))?;
    if text[first..].starts_with(data) { Some(first) } else { text[first..].find(data).map(|at| first + at) }
}

/// The text as it was given, from what [`split`] left and its holes; `key` is where they were found.
pub fn join(key: &[u8], rest: &[u8], holes: &[Hole], mut get: impl FnMut(&Hole) -> Result<Vec<u8>>) -> Result<String> {
    let wrong = |why: &str| damaged(key, &format!("its holes do not fit its text: {why}"));
    let (mut text, mut rest) = (Vec::with_capacity(rest.len()), rest);
    for hole in holes {
        let gap = (hole.offset as usize).checked_sub(text.len()).ok_or_else(|| wrong("two overlap"))?;
        let (before, behind) = rest.split_at_checked(gap).ok_or_else(|| wrong("one begins behind its end"))?;
        let bytes = get(hole)?;
        if bytes.len() as u64 != hole.length {
            return Err(wrong("one has another length than its blob"));
        }
        text.extend_from_slice(before);
        text.extend_from_slice(&bytes);
        rest = behind;
    }
    text.extend_from_slice(rest);
    String::from_utf8(text).map_err(|_| wrong("what they make is not UTF-8"))
}

/// `[offset, hash as 16 bytes, length]`.
pub fn write_hole(w: &mut Writer, hole: &Hole) {
    w.nested(3);
    w.uint(hole.offset);
    w.bin(&hole.hash.to_be_bytes());
    w.uint(hole.length);
}

/// See [`write_hole`].
pub fn read_hole<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Hole> {
    let mut r = codec::inner(r, key)?;
    let offset = r.uint()?;
    let hash = r.bin()?.try_into().map_err(|_| damaged(key, "the hash of a blob in it does not have 16 bytes"))?;
    Ok(Hole { offset, hash: u128::from_be_bytes(hash), length: r.uint()? })
}

#[cfg(test)]
#[path = "blob_tests.rs"]
mod tests;
