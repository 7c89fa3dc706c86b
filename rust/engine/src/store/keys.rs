//! The key space: every key of the store is made here, and nowhere else.
//!
//! One sorted tree. A key is `partition u32 | table u8 | rest`, all big-endian, at most [`MAX_KEY`] bytes; no text of a user is ever part
//! of a key. Partition 0 belongs to the store itself, every scope and every collection has its own number, given once and never again. Keys
//! that one write touches stand together, so that a commit dirties few pages.

use std::ops::Range;

use super::envelope::damaged;
use crate::Result;

/// Number of a partition: dense, from 1, never reused. 0 is the store's own.
pub type Partition = u32;

/// The store's own partition.
pub const STORE: Partition = 0;

/// The longest key this module makes; LMDB allows 511.
pub const MAX_KEY: usize = 24;

/// The tables, in key order inside a partition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Table {
    // --- partition 0
    /// One value: the identity of the store.
    Meta = 0x01,
    /// One value, written last in a generation: the number of the next one.
    Retired = 0x02,
    /// hash128 of a scope's full name -> its partition.
    ScopeByName = 0x03,
    /// partition u32 -> the scope's full name: the list of scopes in the order they were made.
    ScopeByNumber = 0x04,
    /// `expires_at` i64 | partition u32 | number u32 -> nothing.
    Expiry = 0x05,
    /// embedding u16 -> its identity.
    Embedding = 0x06,
    /// hash128 of a model's name -> what was learned of its tokenizer.
    Learned = 0x08,

    /// partition u32 -> how far its erasure is: nobody has it any more, and its values go.
    Erasing = 0x0E,
    /// partition u32 -> its data key, wrapped by the store's; at 2^32 - 1 the store's own, as Meta has it.
    DataKey = 0x0F,

    // --- a scope's partition
    /// embedding u16 | number u32 | chunk u16 -> the vector as float32.
    VectorExact = 0x10,
    /// embedding u16 | first number u32 -> a block of int8 vectors.
    VectorBlock = 0x11,
    /// revision of the built-in embedding u16 | first number u32 -> a block of int8 vectors of messages.
    MessageVector = 0x13,
    /// embedding u16 -> which segment of a graph over the vectors is in use, and which is being built.
    GraphCatalog = 0x14,
    /// embedding u16 | segment u32 | value u32 -> some thousand nodes of a segment: links, number, scale, codes.
    GraphNodes = 0x15,
    /// embedding u16 | segment u32 | value u32 -> links of a segment's upper layers.
    GraphUpper = 0x16,
    /// embedding u16 | segment u32 | page u32 -> which of 4,096 vectors changed since the segment was built.
    GraphChanges = 0x17,
    /// number u32 | chunk u16 -> the current revision of a memory.
    Memory = 0x20,
    /// One value: counters and statistics of the partition. Next to the newest memories: it changes with them.
    Head = 0x21,
    /// index u8 | page u8, which the first page leaves out -> the newest documents of an index, not yet merged.
    Tail = 0x22,
    /// index u8 | term u64 | number u32 -> a block of postings.
    Postings = 0x30,
    /// index u8 | block u32 -> the attributes of 127 documents.
    Attributes = 0x31,
    /// index u8 | block u32 -> the lengths of 2,032 documents: what scoring reads of them, apart so that it stays in cache.
    Lengths = 0x32,
    /// index u8 | run u32 | term u64 | number u32 -> a block of postings of a sealed run.
    RunPages = 0x33,
    /// index u8 | chunk u16 -> which sealed runs there are, and which are being merged.
    RunCatalog = 0x34,
    /// index u8 | block u32 -> the lengths of 1,018 documents of sealed runs.
    RunLengths = 0x35,
    /// number u32 | revision u32 | chunk u16 -> what is not current any more, and tombstones.
    History = 0x40,
    /// hash64 of a slot's name | chunk u16 -> the slot.
    Slot = 0x41,
    /// number u32 / 256 -> when 256 memories were last recalled, and how often.
    Access = 0x42,
    /// number u32 -> nothing: a memory that waits for somebody to approve it.
    Quarantine = 0x43,
    /// hash128 of a session's id -> how far it was learnt from.
    LearnMark = 0x44,
    /// number u32 | chunk u16 -> that something stands to something.
    Relation = 0x45,
    /// hash64 of an entity | number u32 -> nothing: the relation has it at one of its ends.
    RelationOf = 0x46,
    /// memory u32 | number u32 -> nothing: the memory says the relation.
    RelationBy = 0x47,
    /// hash128 of a claim's id -> the memory that it said again, where it became none of its own.
    SaidAgain = 0x48,

    // --- sessions of a scope
    /// hash128 of a session's id -> its number.
    SessionByName = 0x50,
    /// session u32 | index u32 | chunk u16 -> a message; behind the last, at index 2^32 - 1, the session's own record, which
    /// changes with it.
    Transcript = 0x51,
    /// session u32 | turn u32 -> where the turn begins.
    Turn = 0x52,
    /// session u32 | switch u16 | index u32 -> a message counted anew for another model.
    Recount = 0x53,
    /// session u32 | turn u32 | call u16 | chunk u16 -> what a model was sent and what it cost: the ledger.
    Call = 0x54,
    /// session u32 | epoch u32 | chunk u16 -> an epoch.
    Epoch = 0x55,
    /// session u32 | hash64 of an id -> the message that has it.
    MessageId = 0x56,
    /// session u32 | hash64 of a name | chunk u16 -> the state of a task.
    Task = 0x57,
    /// hash128 -> how long a blob is and how many refer to it.
    Blob = 0x58,
    /// hash128 | chunk u16 -> a part of a blob.
    BlobChunk = 0x59,
    /// number u32 -> the session and the message that a document of the transcript index is.
    Document = 0x5A,
    /// One value: counters of the scope's sessions. Next to the newest document: it changes with it.
    SessionsHead = 0x5B,
    /// session u32 | version u32 | chunk u16 -> a summary of messages that left its prompts.
    Summary = 0x5C,
    /// session u32 -> when it is to be compacted, and how much of a tool result it shows.
    SessionPolicy = 0x5D,
    /// session u32 | number u32 | chunk u16 -> a note that its prompts show.
    Note = 0x5E,
    /// session u32 | chunk u16 -> what its caller keeps with it.
    SessionMetadata = 0x5F,

    // --- collections of a scope: the first in the scope's partition, the others in the collection's own
    /// hash128 of a collection's name -> its partition.
    CollectionByName = 0x60,
    /// One value: counters of the collection.
    CollectionHead = 0x61,
    /// hash128 of a document's id -> its number.
    CollectionId = 0x62,
    /// number u32 | chunk u16 -> a document, without its text.
    CollectionDocument = 0x63,
    /// revision u32 | part u16 -> a part of a document's text.
    CollectionText = 0x64,
    /// number u32 -> where a chunk stands.
    CollectionChunk = 0x65,
    /// revision u32 | chunk u16 -> which chunks a revision has, and whether it is found.
    CollectionRevision = 0x66,
    /// revision u32 -> nothing: it is being written or removed.
    CollectionWork = 0x67,

    // --- sessions of a scope, while their models answer
    /// session u32 -> who answers the session now, and until when.
    Lease = 0x68,
    /// session u32 | chunk u16 -> what came of a streamed reply so far.
    PartialReply = 0x69,
    /// session u32 -> what a provider refused, and so what prompts of the session may have at most.
    RefusedLimit = 0x6A,
}

impl Table {
    /// All of them, in key order.
    pub const ALL: [Self; 61] = [
        Self::Meta,
        Self::Retired,
        Self::ScopeByName,
        Self::ScopeByNumber,
        Self::Expiry,
        Self::Embedding,
        Self::Learned,
        Self::Erasing,
        Self::DataKey,
        Self::VectorExact,
        Self::VectorBlock,
        Self::MessageVector,
        Self::GraphCatalog,
        Self::GraphNodes,
        Self::GraphUpper,
        Self::GraphChanges,
        Self::Memory,
        Self::Head,
        Self::Tail,
        Self::Postings,
        Self::Attributes,
        Self::Lengths,
        Self::RunPages,
        Self::RunCatalog,
        Self::RunLengths,
        Self::History,
        Self::Slot,
        Self::Access,
        Self::Quarantine,
        Self::LearnMark,
        Self::Relation,
        Self::RelationOf,
        Self::RelationBy,
        Self::SaidAgain,
        Self::SessionByName,
        Self::Transcript,
        Self::Turn,
        Self::Recount,
        Self::Call,
        Self::Epoch,
        Self::MessageId,
        Self::Task,
        Self::Blob,
        Self::BlobChunk,
        Self::Document,
        Self::SessionsHead,
        Self::Summary,
        Self::SessionPolicy,
        Self::Note,
        Self::SessionMetadata,
        Self::CollectionByName,
        Self::CollectionHead,
        Self::CollectionId,
        Self::CollectionDocument,
        Self::CollectionText,
        Self::CollectionChunk,
        Self::CollectionRevision,
        Self::CollectionWork,
        Self::Lease,
        Self::PartialReply,
        Self::RefusedLimit,
    ];

    /// The table of a key which was read from the store; `None` for a key that this module does not make.
    #[must_use]
    pub fn of(key: &[u8]) -> Option<Self> {
        let byte = *key.get(4)?;
        Self::ALL.into_iter().find(|table| *table as u8 == byte)
    }

    /// Whether a repair makes all of its values anew from those of other tables, or maintenance does, so that nothing is lost with one.
    #[must_use]
    pub fn is_derived(self) -> bool {
        matches!(
            self,
            Self::Expiry
                | Self::Quarantine
                | Self::RelationOf
                | Self::RelationBy
                | Self::VectorBlock
                | Self::GraphCatalog
                | Self::GraphNodes
                | Self::GraphUpper
                | Self::GraphChanges
                | Self::Tail
                | Self::Postings
                | Self::Attributes
                | Self::Lengths
                | Self::RunPages
                | Self::RunCatalog
                | Self::RunLengths
                | Self::MessageVector
                | Self::MessageId
                | Self::Document
                | Self::CollectionId
        )
    }
}

/// A key under construction, on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    bytes: [u8; MAX_KEY],
    len: u8,
}

impl Key {
    /// The first key of a table.
    #[must_use]
    pub fn new(partition: Partition, table: Table) -> Self {
        let mut key = Self { bytes: [0; MAX_KEY], len: 0 };
        key.push(&partition.to_be_bytes());
        key.push(&[table as u8]);
        key
    }

    /// The key of a memory or a document in the store-wide order of expiry.
    #[must_use]
    pub fn of_expiry(at: i64, partition: Partition, number: u32) -> Self {
        Self::new(STORE, Table::Expiry).i64(at).u32(partition).u32(number)
    }

    /// The beginning of all keys of a partition.
    #[must_use]
    pub fn of_partition(partition: Partition) -> Self {
        let mut key = Self { bytes: [0; MAX_KEY], len: 0 };
        key.push(&partition.to_be_bytes());
        key
    }

    /// A key that was read from the store.
    pub fn from_slice(bytes: &[u8]) -> Result<Self> {
        if bytes.len() > MAX_KEY {
            return Err(damaged(bytes, "its key is longer than any of ours"));
        }
        let mut key = Self { bytes: [0; MAX_KEY], len: 0 };
        key.push(bytes);
        Ok(key)
    }

    fn push(&mut self, more: &[u8]) {
        let start = self.len as usize;
        self.bytes[start..start + more.len()].copy_from_slice(more);
        self.len += more.len() as u8;
    }

    /// Appends one byte.
    #[must_use]
    pub fn u8(mut self, value: u8) -> Self {
        self.push(&[value]);
        self
    }

    /// Appends two bytes, big-endian.
    #[must_use]
    pub fn u16(mut self, value: u16) -> Self {
        self.push(&value.to_be_bytes());
        self
    }

    /// Appends four bytes, big-endian.
    #[must_use]
    pub fn u32(mut self, value: u32) -> Self {
        self.push(&value.to_be_bytes());
        self
    }

    /// Appends eight bytes, big-endian.
    #[must_use]
    pub fn u64(mut self, value: u64) -> Self {
        self.push(&value.to_be_bytes());
        self
    }

    /// Appends a time (or another signed number) so that it sorts by value.
    #[must_use]
    pub fn i64(self, value: i64) -> Self {
        self.u64((value as u64) ^ (1 << 63))
    }

    /// Appends sixteen bytes, big-endian.
    #[must_use]
    pub fn u128(mut self, value: u128) -> Self {
        self.push(&value.to_be_bytes());
        self
    }

    /// The bytes.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len as usize]
    }

    /// Every key that begins with this one, as a half-open range.
    #[must_use]
    pub fn prefix_range(&self) -> Range<Vec<u8>> {
        let from = self.as_slice().to_vec();
        let mut to = from.clone();
        while let Some(last) = to.last_mut() {
            if *last == u8::MAX {
                to.pop();
            } else {
                *last += 1;
                return from..to;
            }
        }
        from..vec![u8::MAX; MAX_KEY]
    }
}

impl AsRef<[u8]> for Key {
    fn as_ref(&self) -> &[u8] {
        self.as_slice()
    }
}

/// The u32 at `at` of a key, big-endian; `None` where the key is too short.
#[must_use]
pub fn u32_at(key: &[u8], at: usize) -> Option<u32> {
    key.get(at..at + 4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_sort_by_value() {
        let key = |t| Key::new(STORE, Table::Expiry).i64(t);
        assert!(key(-1).as_slice() < key(0).as_slice());
        assert!(key(0).as_slice() < key(1).as_slice());
        assert!(key(i64::MIN).as_slice() < key(i64::MAX).as_slice());
    }

    #[test]
    fn a_prefix_range_ends_where_the_next_prefix_begins() {
        let range = Key::new(7, Table::Memory).prefix_range();
        assert_eq!(range.end, Key::new(7, Table::Head).as_slice());
        let range = Key::new(u32::MAX, Table::Memory).u8(255).prefix_range();
        assert_eq!(range.end, Key::new(u32::MAX, Table::Head).as_slice());
    }
}
