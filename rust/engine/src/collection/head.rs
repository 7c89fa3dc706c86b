//! The counters of a collection: read and rewritten by every write to it.

use crate::Result;
use crate::store::envelope::{self, Codec};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::text::STEMS;

/// See the fields. Numbers count from 1 and are never given twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// The newest document's number.
    pub last_document: u32,
    /// The newest revision's.
    pub last_revision: u32,
    /// The newest chunk's.
    pub last_chunk: u32,
    /// Time of the last write; the next is later.
    pub last_time: i64,
    /// Documents that are there.
    pub documents: u64,
    /// Bytes of their texts.
    pub bytes: u64,
    /// Chunks in the index: those of revisions that are being written or removed too.
    pub chunks: u64,
    /// The analyzer that made the terms.
    pub analyzer: u16,
    /// The embedding of the vectors; 0 where there are none.
    pub embedding: u16,
    /// Chunks that have a vector of that embedding.
    pub vectors: u64,
}

impl Head {
    /// The head of a partition; a fresh one where nothing was written.
    pub fn read<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<Self> {
        let key = Key::new(partition, Table::CollectionHead);
        let Some(value) = pages.get(key.as_slice())? else { return Ok(Self::default()) };
        let mut r = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
        Ok(Self {
            last_document: r.uint()? as u32,
            last_revision: r.uint()? as u32,
            last_chunk: r.uint()? as u32,
            last_time: r.int()?,
            documents: r.uint()?,
            bytes: r.uint()?,
            chunks: r.uint()?,
            analyzer: r.uint()? as u16,
            embedding: r.uint()? as u16,
            vectors: r.uint()?,
        })
    }

    /// The seed of its terms, as its analyzer makes them: that of an empty one is the newest.
    #[must_use]
    pub fn seed(&self, mut seed: Seed) -> Seed {
        seed.terms = seed.terms.with_stems(self.chunks == 0 || self.analyzer == STEMS);
        seed
    }

    /// Writes it.
    pub fn write(&self, pages: &mut impl PagesMut, partition: Partition) -> Result<()> {
        let key = Key::new(partition, Table::CollectionHead);
        let mut w = Writer::array(10);
        w.uint(u64::from(self.last_document));
        w.uint(u64::from(self.last_revision));
        w.uint(u64::from(self.last_chunk));
        w.int(self.last_time);
        w.uint(self.documents);
        w.uint(self.bytes);
        w.uint(self.chunks);
        w.uint(u64::from(self.analyzer));
        w.uint(u64::from(self.embedding));
        w.uint(self.vectors);
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, w.bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::identity::Secret;
    use crate::text::ANALYZER_VERSION;

    #[test]
    fn an_older_collection_keeps_its_terms() {
        let seed = Secret::default().seed(b"c");
        let stems = |chunks, analyzer| Head { chunks, analyzer, ..Head::default() }.seed(seed).terms.stems;
        assert_eq!((stems(3, ANALYZER_VERSION), stems(3, STEMS), stems(0, ANALYZER_VERSION)), (false, true, true));
    }
}
