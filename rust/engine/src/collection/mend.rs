//! A collection that lost records: documents that are not whole any more are taken out, and everything that was made from the others is made
//! anew. A caller adds such a document again, and it is as it was.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::head::Head;
use super::name::CollectionName;
use super::record::{self, ChunkRecord, Document, Revision, State};
use super::rehash;
use crate::memory::mend::{clear_expiry, mend_vectors};
use crate::store::chunks;
use crate::store::envelope::{self, Codec};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table, u32_at};
use crate::store::pages::PagesMut;
use crate::text::STEMS;
use crate::{ErrorKind, Result, interrupt};

/// Mends a collection but for its words, which [`rehash::rehash`] puts in again; the losses are added to `lost`.
pub(crate) fn mend<P: PagesMut>(pages: &mut P, partition: Partition, name: &CollectionName, lost: &mut Vec<String>) -> Result<()> {
    let seed = name.seed(pages.secret());
    let whose = format!("collection {:?} of {} {:?}", name.name, name.scope.scope_type.name(), name.scope.id);
    let before = Head::read(pages, partition)?;
    let number = |key: &Key| u32_at(key.as_slice(), 5).unwrap_or(0);
    let table = |table| Key::new(partition, table);
    let is_there = |pages: &P, key: Key| Ok(Document::read(pages, partition, number(&key))?.is_some());
    let broken = chunks::sift(pages, table(Table::CollectionDocument), is_there)?.len();
    chunks::sift(pages, table(Table::CollectionRevision), |pages, key| Ok(Revision::read(pages, partition, number(&key))?.is_some()))?;
    let mut kept =
        Kept { head: Head { documents: 0, bytes: 0, chunks: 0, analyzer: STEMS, embedding: 0, vectors: 0, ..before }, ..Kept::default() };
    for document in Document::page(pages, partition, 0, usize::MAX)? {
        interrupt::check()?;
        match whole(pages, partition, &document) {
            Ok(Some(revision)) => kept.add(&document, &revision),
            Err(error) if error.kind() != ErrorKind::StoreCorrupt => return Err(error),
            _ => {
                document.delete(pages, partition)?;
                lost.push(format!("document {:?} of {whose}, of which parts are missing: add it again", document.id));
            }
        }
    }
    let nameless = (before.documents as usize).saturating_sub(kept.documents.len()).max(broken);
    if nameless > 0 && before.documents > kept.head.documents {
        lost.push(format!("{} of {} documents of {whose}", before.documents - kept.head.documents, before.documents));
    }
    kept.clear_rest(pages, partition)?;
    kept.write(pages, partition, seed, before)
}

/// The revision of a document of which every part can be read.
fn whole<P: PagesMut>(pages: &P, partition: Partition, document: &Document) -> Result<Option<Revision>> {
    let Some(revision) = Revision::read(pages, partition, document.revision)? else { return Ok(None) };
    let fits = (revision.document, revision.state, revision.bytes, revision.count())
        == (document.number, State::Current, document.bytes, document.chunks as usize);
    let text = record::text(pages, partition, revision.number, 0..document.bytes as usize)?;
    for number in revision.numbers() {
        let chunk = ChunkRecord::read(pages, partition, number)?;
        chunk.indexed(pages, partition)?;
        if chunk.revision != revision.number {
            return Ok(None);
        }
    }
    Ok((fits && text.chars().count() as u64 == document.characters).then_some(revision))
}

/// The documents that stay, with the numbers of their parts.
#[derive(Default)]
struct Kept {
    head: Head,
    documents: Vec<Document>,
    revisions: BTreeSet<u32>,
    chunks: BTreeSet<u32>,
}

impl Kept {
    fn add(&mut self, document: &Document, revision: &Revision) {
        self.head.documents += 1;
        self.head.bytes += document.bytes;
        self.head.last_document = self.head.last_document.max(document.number);
        self.head.last_revision = self.head.last_revision.max(revision.number);
        self.head.last_time = self.head.last_time.max(document.updated_at);
        self.documents.push(document.clone());
        self.revisions.insert(revision.number);
        self.chunks.extend(revision.numbers());
    }

    /// Removes the parts that no document has: also of a document that was being written.
    fn clear_rest<P: PagesMut>(&mut self, pages: &mut P, partition: Partition) -> Result<()> {
        let tables = [
            (Table::CollectionRevision, &self.revisions),
            (Table::CollectionText, &self.revisions),
            (Table::CollectionWork, &BTreeSet::new()),
            (Table::CollectionChunk, &self.chunks),
        ];
        for (table, kept) in tables {
            let (range, mut keys) = (Key::new(partition, table).prefix_range(), Vec::new());
            pages.scan(&range.start, &range.end, &mut |key, _| {
                let number = u32_at(key, 5).unwrap_or(0);
                if !kept.contains(&number) {
                    keys.push(key.to_vec());
                    let newest = if table == Table::CollectionChunk { &mut self.head.last_chunk } else { &mut self.head.last_revision };
                    *newest = number.max(*newest);
                }
                Ok(ControlFlow::Continue(()))
            })?;
            keys.iter().try_for_each(|key| pages.delete(key).map(drop))?;
        }
        Ok(())
    }

    fn write<P: PagesMut>(mut self, pages: &mut P, partition: Partition, seed: Seed, before: Head) -> Result<()> {
        chunks::clear(pages, Key::new(partition, Table::CollectionId))?;
        clear_expiry(pages, partition)?;
        for document in &self.documents {
            record::put_id(pages, partition, seed, document)?;
            if let Some(at) = document.expires_at {
                let key = Key::of_expiry(at, partition, document.number);
                pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::Raw, &[]))?;
            }
        }
        self.head.chunks = self.chunks.len() as u64;
        self.head.last_chunk = self.head.last_chunk.max(self.chunks.last().copied().unwrap_or(0));
        (self.head.embedding, self.head.vectors) = mend_vectors(pages, partition, before.embedding, &self.chunks)?;
        self.head.write(pages, partition)?;
        rehash::clear(pages, partition)
    }
}
