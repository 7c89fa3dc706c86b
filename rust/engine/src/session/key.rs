//! Where everything of a session stands in the key space, and the counters of a scope's sessions.

use crate::Result;
use crate::scope::Scope;
use crate::store::envelope::{self, Codec};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};

/// The index of a session's own record: behind the last message it can have.
pub(super) const RECORD: u32 = u32::MAX;

/// One session: the partition of its scope, and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionKey {
    /// The scope's partition.
    pub partition: Partition,
    /// Dense in the scope, from 1, never given twice.
    pub session: u32,
}

impl SessionKey {
    fn table(self, table: Table) -> Key {
        Key::new(self.partition, table).u32(self.session)
    }

    pub(super) fn record(self) -> Key {
        self.table(Table::Transcript).u32(RECORD)
    }

    pub(super) fn message(self, index: u64) -> Key {
        self.table(Table::Transcript).u32(index as u32)
    }

    pub(super) fn turn(self, turn: u64) -> Key {
        self.table(Table::Turn).u32(turn as u32)
    }

    pub(super) fn recount(self, switch: u16, index: u64) -> Key {
        self.table(Table::Recount).u16(switch).u32(index as u32)
    }

    pub(super) fn call(self, turn: u64, call: u16) -> Key {
        self.table(Table::Call).u32(turn as u32).u16(call)
    }

    pub(super) fn calls_of(self, turn: u64) -> Key {
        self.table(Table::Call).u32(turn as u32)
    }

    pub(super) fn epoch(self, number: u64) -> Key {
        self.table(Table::Epoch).u32(number as u32)
    }

    pub(super) fn summary(self, version: u64) -> Key {
        self.table(Table::Summary).u32(version as u32)
    }

    pub(super) fn policy(self) -> Key {
        self.table(Table::SessionPolicy)
    }

    pub(super) fn metadata(self) -> Key {
        self.table(Table::SessionMetadata)
    }

    pub(super) fn note(self, number: u32) -> Key {
        self.table(Table::Note).u32(number)
    }

    pub(super) fn id(self, seed: Seed, id: &str) -> Key {
        self.table(Table::MessageId).u64(seed.hash64(id.as_bytes()))
    }

    pub(super) fn lease(self) -> Key {
        self.table(Table::Lease)
    }

    pub(super) fn partial(self) -> Key {
        self.table(Table::PartialReply)
    }

    pub(super) fn refused_limit(self) -> Key {
        self.table(Table::RefusedLimit)
    }

    /// Everything of one table that belongs to the session.
    pub(super) fn all(self, table: Table) -> Key {
        self.table(table)
    }
}

/// A name of a conversation for what providers keep of it: no other session of this store or of another one has it, and it says nothing of
/// its user.
pub(super) fn cache_key<P: Pages>(pages: &P, scope: &Scope, id: &str) -> u128 {
    scope.seed(pages.secret()).hash128(id.as_bytes())
}

/// The key under which a session's number is found by its id.
pub(super) fn by_name(partition: Partition, seed: Seed, id: &str) -> Key {
    Key::new(partition, Table::SessionByName).u128(seed.hash128(id.as_bytes()))
}

/// Takes a session's id back: nobody finds it by that from then on.
pub(super) fn unname(pages: &mut impl PagesMut, partition: Partition, seed: Seed, id: &str) -> Result<()> {
    pages.delete(by_name(partition, seed, id).as_slice()).map(drop)
}

/// Counters of a scope's sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SessionsHead {
    /// Sessions that were ever made: the number of the newest.
    pub sessions: u32,
    /// Documents that were ever put into the transcript index: the number of the newest.
    pub last_document: u32,
    /// In which order these were said; `None` where there are none, and in a scope of an older version until maintenance.
    pub said: Option<SaidOrder>,
}

/// In which order the documents of a scope were said, beside the order in which they were added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SaidOrder {
    /// When the last of them was said, in microseconds since 1970.
    pub newest_at: i64,
    /// How long before one that was added sooner a document was said, in microseconds, at most; 0 where all were added as they were said.
    pub most_behind: i64,
}

impl SaidOrder {
    /// The order of no document.
    pub const NONE: Self = Self { newest_at: i64::MIN, most_behind: 0 };

    /// With one that is added next, and was said at a time.
    pub fn and(self, at: i64) -> Self {
        Self { newest_at: self.newest_at.max(at), most_behind: self.most_behind.max(self.newest_at.saturating_sub(at)) }
    }
}

impl SessionsHead {
    /// The head of a partition's sessions.
    pub fn read<P: Pages>(pages: &P, partition: Partition) -> Result<Self> {
        let key = Key::new(partition, Table::SessionsHead);
        let Some(value) = pages.get(key.as_slice())? else { return Ok(Self::default()) };
        let mut r = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
        let (sessions, last_document, newest_at, most_behind) = (r.uint()? as u32, r.uint()? as u32, r.maybe_int()?, r.maybe_int()?);
        let said = newest_at.zip(most_behind).map(|(newest_at, most_behind)| SaidOrder { newest_at, most_behind });
        Ok(Self { sessions, last_document, said })
    }

    /// Counts a document that is added, and was said at a time; its number.
    pub fn counts(&mut self, at: i64) -> u32 {
        let before = if self.last_document == 0 { Some(SaidOrder::NONE) } else { self.said };
        self.said = before.map(|said| said.and(at));
        self.last_document += 1;
        self.last_document
    }

    pub(super) fn write(self, pages: &mut impl PagesMut, partition: Partition) -> Result<()> {
        let key = Key::new(partition, Table::SessionsHead);
        let mut w = Writer::array(4);
        w.uint(u64::from(self.sessions));
        w.uint(u64::from(self.last_document));
        w.maybe_int(self.said.map(|said| said.newest_at));
        w.maybe_int(self.said.map(|said| said.most_behind));
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, w.bytes()))
    }
}
