//! The stored parts of a document: its record, its revision, the parts of its text, its chunks.

use std::ops::{ControlFlow, Range};

use super::chunk::Format;
use crate::Result;
use crate::limits::MAX_DOCUMENT_BYTES;
use crate::store::chunks;
use crate::store::envelope::{self, Codec, ONE_PAGE_BODY, damaged};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table, u32_at};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};

/// Bytes of text in one value.
pub(super) const PART_BYTES: usize = ONE_PAGE_BODY;

/// A document as it is now, without its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its number in the collection.
    pub number: u32,
    /// The caller's id.
    pub id: String,
    /// Its version: the caller's, or made of its content.
    pub version: String,
    /// The revision that holds its text and chunks.
    pub revision: u32,
    /// How it was cut.
    pub format: Format,
    /// Where it comes from, as the caller says.
    pub source: Option<String>,
    /// MessagePack of the caller's mapping; empty for none.
    pub metadata: Vec<u8>,
    /// When the id was first added.
    pub created_at: i64,
    /// When this version was.
    pub updated_at: i64,
    /// When it is to be removed.
    pub expires_at: Option<i64>,
    /// Bytes of its text.
    pub bytes: u64,
    /// Characters of its text.
    pub characters: u64,
    /// Chunks.
    pub chunks: u32,
    /// Tokens that they aim at.
    pub chunk_tokens: u32,
    /// Hash of what the caller gave, to tell a retry from a conflict.
    pub request: u64,
}

impl Document {
    /// Whether its time is over.
    #[must_use]
    pub fn is_expired(&self, now: i64) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    fn key(partition: Partition, number: u32) -> Key {
        Key::new(partition, Table::CollectionDocument).u32(number)
    }

    pub(super) fn read<P: Pages + ?Sized>(pages: &P, partition: Partition, number: u32) -> Result<Option<Self>> {
        let key = Self::key(partition, number);
        let Some((_, body)) = chunks::get(pages, key)? else { return Ok(None) };
        Self::decode(key.as_slice(), number, &body).map(Some)
    }

    /// Whether there is one of that number, which is not read.
    pub(super) fn is_stored<P: Pages + ?Sized>(pages: &P, partition: Partition, number: u32) -> Result<bool> {
        Ok(pages.get(Self::key(partition, number).u16(0).as_slice())?.is_some())
    }

    fn decode(key: &[u8], number: u32, body: &[u8]) -> Result<Self> {
        // A reader's result must not outlive the body, and errors name the key.
        let mut r = Reader::array(key, body)?;
        Ok(Self {
            number,
            id: r.text()?.to_owned(),
            version: r.text()?.to_owned(),
            revision: r.uint()? as u32,
            format: Format::from_number(r.uint()?),
            source: r.maybe_text()?.map(str::to_owned),
            metadata: r.bin()?.to_vec(),
            created_at: r.int()?,
            updated_at: r.int()?,
            expires_at: r.maybe_int()?,
            bytes: r.uint()?,
            characters: r.uint()?,
            chunks: r.uint()? as u32,
            chunk_tokens: r.uint()? as u32,
            request: r.uint()?,
        })
    }

    pub(super) fn write(&self, pages: &mut impl PagesMut, partition: Partition) -> Result<()> {
        let mut w = Writer::array(14);
        w.text(&self.id);
        w.text(&self.version);
        w.uint(u64::from(self.revision));
        w.uint(self.format as u64);
        w.maybe_text(self.source.as_deref());
        w.bin(&self.metadata);
        w.int(self.created_at);
        w.int(self.updated_at);
        w.maybe_int(self.expires_at);
        w.uint(self.bytes);
        w.uint(self.characters);
        w.uint(u64::from(self.chunks));
        w.uint(u64::from(self.chunk_tokens));
        w.uint(self.request);
        chunks::put(pages, Self::key(partition, self.number), 1, Codec::MessagePack, w.bytes())
    }

    pub(super) fn delete(&self, pages: &mut impl PagesMut, partition: Partition) -> Result<()> {
        chunks::remove(pages, Self::key(partition, self.number)).map(drop)
    }

    /// Documents from number `first` on, at most `limit`.
    pub(super) fn page<P: Pages + ?Sized>(pages: &P, partition: Partition, first: u32, limit: usize) -> Result<Vec<Self>> {
        let range = Key::new(partition, Table::CollectionDocument).prefix_range();
        let mut numbers = Vec::new();
        pages.scan(Self::key(partition, first).as_slice(), &range.end, &mut |key, _| {
            if numbers.len() == limit {
                return Ok(ControlFlow::Break(()));
            }
            if key.ends_with(&[0, 0]) {
                numbers.extend(u32_at(key, 5));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        numbers.into_iter().filter_map(|number| Self::read(pages, partition, number).transpose()).collect()
    }
}

/// The key under which the number of a document stands.
pub(super) fn id_key(partition: Partition, seed: Seed, id: &str) -> Key {
    Key::new(partition, Table::CollectionId).u128(seed.hash128(id.as_bytes()))
}

/// The document of that id, expired or not.
pub(super) fn by_id<P: Pages + ?Sized>(pages: &P, partition: Partition, seed: Seed, id: &str) -> Result<Option<Document>> {
    let key = id_key(partition, seed, id);
    let Some(value) = pages.get(key.as_slice())? else { return Ok(None) };
    let number = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?.uint()? as u32;
    let document = Document::read(pages, partition, number)?;
    match document {
        Some(document) if document.id == id => Ok(Some(document)),
        Some(_) => Err(damaged(key.as_slice(), "it belongs to a document of another id")),
        None => Err(damaged(key.as_slice(), "it leads to a document that is missing")),
    }
}

pub(super) fn put_id(pages: &mut impl PagesMut, partition: Partition, seed: Seed, document: &Document) -> Result<()> {
    let key = id_key(partition, seed, &document.id);
    let mut w = Writer::array(1);
    w.uint(u64::from(document.number));
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, w.bytes()))
}

/// The state of a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// It is being written, and seen by nobody.
    Writing = 0,
    /// It is that of its document.
    Current = 1,
    /// It is being removed, and seen by nobody.
    Removing = 2,
}

/// One version of a document's text with its chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Revision {
    pub number: u32,
    pub state: State,
    /// Its document; 0 while it is being written.
    pub document: u32,
    /// When something of it was last written.
    pub written_at: i64,
    /// Bytes of its text that are there.
    pub bytes: u64,
    /// Its chunks, ascending, as (first, how many): one run, unless others were written between.
    pub chunks: Vec<(u32, u32)>,
}

impl Revision {
    fn key(partition: Partition, number: u32) -> Key {
        Key::new(partition, Table::CollectionRevision).u32(number)
    }

    pub fn read<P: Pages + ?Sized>(pages: &P, partition: Partition, number: u32) -> Result<Option<Self>> {
        let key = Self::key(partition, number);
        let Some((_, body)) = chunks::get(pages, key)? else { return Ok(None) };
        let mut r = Reader::array(key.as_slice(), &body)?;
        let state = match r.uint()? {
            0 => State::Writing,
            1 => State::Current,
            _ => State::Removing,
        };
        let (document, written_at, bytes) = (r.uint()? as u32, r.int()?, r.uint()?);
        let runs = r.bin()?;
        let chunks = runs.chunks_exact(8).map(|run| (u32_at(run, 0).unwrap_or(0), u32_at(run, 4).unwrap_or(0))).collect();
        let revision = Self { number, state, document, written_at, bytes, chunks };
        // Each chunk has a byte of its own, so that nobody walks through numbers that a false record claims.
        let is_run = |(first, count): &(u32, u32)| *count > 0 && first.checked_add(*count).is_some();
        if bytes > MAX_DOCUMENT_BYTES as u64 || revision.count() as u64 > bytes + 1 || !revision.chunks.iter().all(is_run) {
            return Err(damaged(key.as_slice(), "the chunks of a document's text are more than it has bytes"));
        }
        Ok(Some(revision))
    }

    pub fn write(&self, pages: &mut impl PagesMut, partition: Partition) -> Result<()> {
        let mut w = Writer::array(5);
        w.uint(self.state as u64);
        w.uint(u64::from(self.document));
        w.int(self.written_at);
        w.uint(self.bytes);
        let runs: Vec<u8> = self.chunks.iter().flat_map(|(first, count)| [first.to_be_bytes(), count.to_be_bytes()].concat()).collect();
        w.bin(&runs);
        chunks::put(pages, Self::key(partition, self.number), 1, Codec::MessagePack, w.bytes())?;
        let work = Self::work_key(partition, self.number);
        if self.state == State::Current {
            pages.delete(work.as_slice())?;
        } else if pages.get(work.as_slice())?.is_none() {
            pages.put(work.as_slice(), &envelope::seal(work.as_slice(), 1, Codec::Raw, &[]))?;
        }
        Ok(())
    }

    pub fn delete(&self, pages: &mut impl PagesMut, partition: Partition) -> Result<()> {
        chunks::remove(pages, Self::key(partition, self.number))?;
        pages.delete(Self::work_key(partition, self.number).as_slice()).map(drop)
    }

    fn work_key(partition: Partition, number: u32) -> Key {
        Key::new(partition, Table::CollectionWork).u32(number)
    }

    /// The revisions that are being written or removed.
    pub fn unfinished<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<Vec<u32>> {
        let range = Key::new(partition, Table::CollectionWork).prefix_range();
        let mut found = Vec::new();
        pages.scan(&range.start, &range.end, &mut |key, _| {
            found.extend(u32_at(key, 5));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    }

    pub fn count(&self) -> usize {
        self.chunks.iter().map(|(_, count)| *count as usize).sum()
    }

    /// Adds the next chunk.
    pub fn push(&mut self, chunk: u32) {
        match self.chunks.last_mut() {
            Some((first, count)) if *first + *count == chunk => *count += 1,
            _ => self.chunks.push((chunk, 1)),
        }
    }

    /// Takes the last chunks away, at most so many.
    pub fn pop(&mut self, most: usize) -> Vec<u32> {
        let mut taken = Vec::new();
        while taken.len() < most
            && let Some((first, count)) = self.chunks.last_mut()
        {
            *count -= 1;
            taken.push(*first + *count);
            if *count == 0 {
                self.chunks.pop();
            }
        }
        taken.reverse();
        taken
    }

    /// The numbers of its chunks.
    pub fn numbers(&self) -> impl Iterator<Item = u32> + '_ {
        self.chunks.iter().flat_map(|(first, count)| *first..first.saturating_add(*count))
    }
}

fn part_key(partition: Partition, revision: u32, part: usize) -> Key {
    Key::new(partition, Table::CollectionText).u32(revision).u16(part as u16)
}

/// How many parts a text of so many bytes has.
pub(super) fn parts(bytes: u64) -> usize {
    (bytes as usize).div_ceil(PART_BYTES)
}

/// Writes the part of a text that begins at byte `part * PART_BYTES`.
pub(super) fn put_part(pages: &mut impl PagesMut, partition: Partition, revision: u32, part: usize, text: &[u8]) -> Result<()> {
    let key = part_key(partition, revision, part);
    let bytes = &text[part * PART_BYTES..text.len().min((part + 1) * PART_BYTES)];
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::Raw, bytes))
}

pub(super) fn delete_part(pages: &mut impl PagesMut, partition: Partition, revision: u32, part: usize) -> Result<()> {
    pages.delete(part_key(partition, revision, part).as_slice()).map(drop)
}

/// A range of a revision's text.
pub(super) fn text<P: Pages + ?Sized>(pages: &P, partition: Partition, revision: u32, span: Range<usize>) -> Result<String> {
    let first = span.start / PART_BYTES;
    if span.start > span.end || span.end > MAX_DOCUMENT_BYTES {
        return Err(damaged(part_key(partition, revision, first).as_slice(), "a part of a document's text is said to lie outside of it"));
    }
    let mut bytes = Vec::with_capacity(span.len());
    for part in first..span.end.div_ceil(PART_BYTES) {
        let key = part_key(partition, revision, part);
        let value = pages.get(key.as_slice())?.ok_or_else(|| damaged(key.as_slice(), "a part of a document's text is missing"))?;
        bytes.extend_from_slice(envelope::open(key.as_slice(), value)?.body);
    }
    let key = part_key(partition, revision, first);
    let skipped = span.start - first * PART_BYTES;
    let wanted = bytes
        .get(skipped..skipped + span.len())
        .ok_or_else(|| damaged(key.as_slice(), "a document's text is shorter than it should be"))?;
    let text = std::str::from_utf8(wanted).map_err(|_| damaged(key.as_slice(), "a document's text is not UTF-8 where it is cut"))?;
    Ok(text.to_owned())
}

/// A chunk: where it stands in which revision, and below which headings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChunkRecord {
    pub revision: u32,
    /// In bytes.
    pub span: Range<usize>,
    /// Its place in the text, in characters.
    pub characters: Range<usize>,
    pub path: Vec<String>,
}

impl ChunkRecord {
    fn key(partition: Partition, number: u32) -> Key {
        Key::new(partition, Table::CollectionChunk).u32(number)
    }

    pub fn find<P: Pages + ?Sized>(pages: &P, partition: Partition, number: u32) -> Result<Option<Self>> {
        let key = Self::key(partition, number);
        let Some(value) = pages.get(key.as_slice())? else { return Ok(None) };
        let mut r = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
        let revision = r.uint()? as u32;
        let mut number = || r.uint().map(|n| n as usize);
        let (span, characters) = (number()?..number()?, number()?..number()?);
        let mut path = Vec::new();
        for _ in 0..r.nested()? {
            path.push(r.text()?.to_owned());
        }
        Ok(Some(Self { revision, span, characters, path }))
    }

    /// The revision alone.
    pub fn revision_of<P: Pages + ?Sized>(pages: &P, partition: Partition, number: u32) -> Result<Option<u32>> {
        let key = Self::key(partition, number);
        let Some(value) = pages.get(key.as_slice())? else { return Ok(None) };
        Ok(Some(Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?.uint()? as u32))
    }

    pub fn read<P: Pages + ?Sized>(pages: &P, partition: Partition, number: u32) -> Result<Self> {
        let missing = || damaged(Self::key(partition, number).as_slice(), "the index refers to this chunk and it is missing");
        Self::find(pages, partition, number)?.ok_or_else(missing)
    }

    pub fn write(&self, pages: &mut impl PagesMut, partition: Partition, number: u32) -> Result<()> {
        let mut w = Writer::array(6);
        w.uint(u64::from(self.revision));
        for at in [self.span.start, self.span.end, self.characters.start, self.characters.end] {
            w.uint(at as u64);
        }
        w.nested(self.path.len() as u32);
        self.path.iter().for_each(|heading| w.text(heading));
        let key = Self::key(partition, number);
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, w.bytes()))
    }

    pub fn delete(pages: &mut impl PagesMut, partition: Partition, number: u32) -> Result<()> {
        pages.delete(Self::key(partition, number).as_slice()).map(drop)
    }

    /// The text that is indexed and embedded: its headings, and its own text below them.
    pub fn indexed<P: Pages + ?Sized>(&self, pages: &P, partition: Partition) -> Result<String> {
        Ok(indexed(&self.path, &text(pages, partition, self.revision, self.span.clone())?))
    }
}

/// See [`ChunkRecord::indexed`].
pub(super) fn indexed(path: &[String], text: &str) -> String {
    let mut all = String::with_capacity(text.len() + 64);
    for heading in path {
        // A heading that the chunk begins with is not said twice.
        if !text.lines().next().is_some_and(|first| first.contains(heading.as_str())) {
            all.push_str(heading);
            all.push('\n');
        }
    }
    all.push_str(text);
    all
}

/// The numbers of all chunks of a partition.
pub(super) fn chunk_numbers<P: Pages + ?Sized>(pages: &P, partition: Partition, first: u32, limit: usize) -> Result<Vec<u32>> {
    let range = Key::new(partition, Table::CollectionChunk).prefix_range();
    let mut found = Vec::new();
    pages.scan(ChunkRecord::key(partition, first).as_slice(), &range.end, &mut |key, _| {
        if found.len() == limit {
            return Ok(ControlFlow::Break(()));
        }
        found.extend(u32_at(key, 5));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}
