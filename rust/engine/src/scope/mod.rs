//! Scopes: whose memory it is, the partition it lives in, and the counters of that partition.

mod begun;
mod home;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use crate::limits::MAX_NAME_BYTES;
use crate::store::envelope::{self, Codec};
use crate::store::identity::{Secret, Seed};
use crate::store::keys::{Key, Partition, STORE, Table, u32_at};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::units::clip::first_chars;
use crate::{Error, ErrorKind, Result};

use begun::Begun;
pub(crate) use home::homes;
pub use home::{Home, Witness, Written};

/// The owner of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum ScopeType {
    /// One user.
    User = 0,
    /// Something that many users share: an organisation, a team, an agent.
    Shared = 1,
}

impl ScopeType {
    /// Its name in the API and in exports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Shared => "shared",
        }
    }

    /// The type of that name.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "user" => Ok(Self::User),
            "shared" => Ok(Self::Shared),
            other => {
                Err(Error::invalid(format!("reading a scope: its type must be \"user\" or \"shared\", and it is {other:?}: choose one")))
            }
        }
    }
}

/// The isolation boundary: tenant, type and id. Two scopes share nothing, not even a statistic.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Scope {
    /// Whose installation it is; `None` where there is only one.
    pub tenant: Option<String>,
    /// A user, or something shared.
    pub scope_type: ScopeType,
    /// The caller's id.
    pub id: String,
    /// The partition that a call of many writes began with.
    begun: Begun,
}

impl Scope {
    /// The scope of that name; ids have 1 to [`MAX_NAME_BYTES`] bytes.
    pub fn new(tenant: Option<&str>, scope_type: ScopeType, id: &str) -> Result<Self> {
        check_id(scope_type.name(), id)?;
        if let Some(tenant) = tenant {
            check_id("tenant", tenant)?;
        }
        Ok(Self::named(tenant.map(str::to_owned), scope_type, id.to_owned()))
    }

    pub(crate) fn named(tenant: Option<String>, scope_type: ScopeType, id: String) -> Self {
        Self { tenant, scope_type, id, begun: Begun::default() }
    }

    /// This scope for a call of many writes, which must not make a scope anew that was erased between two of them.
    #[must_use]
    pub(crate) fn begun(&self) -> Self {
        Self { begun: Begun::now(), ..self.clone() }
    }

    /// The name as bytes in which no two scopes are alike: lengths stand before texts.
    fn bytes(&self) -> Vec<u8> {
        let mut name = Writer::array(3);
        name.maybe_text(self.tenant.as_deref());
        name.uint(self.scope_type as u64);
        name.text(&self.id);
        name.into_bytes()
    }

    /// Keys the hashes of this scope, so that those of two scopes cannot be compared.
    #[must_use]
    pub fn seed(&self, secret: Secret) -> Seed {
        secret.seed(&self.bytes())
    }

    /// The partition it lives in; `None` where nothing was ever written to it.
    pub fn find<P: Pages + ?Sized>(&self, pages: &P) -> Result<Option<Partition>> {
        let name = self.bytes();
        let key = Key::new(STORE, Table::ScopeByName).u128(pages.secret().hash128(&name));
        let Some(value) = pages.get(key.as_slice())? else { return Ok(None) };
        let mut body = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
        let partition = body.uint()? as Partition;
        if body.bin()? != name {
            return Err(envelope::damaged(key.as_slice(), "it belongs to a scope of another name"));
        }
        self.begun.note(partition);
        Ok(Some(partition))
    }

    /// Takes its name away: nobody finds it any more, and a write to it begins anew in another partition.
    pub(crate) fn unlink(&self, pages: &mut impl PagesMut) -> Result<()> {
        let hash = pages.secret().hash128(&self.bytes());
        pages.delete(Key::new(STORE, Table::ScopeByName).u128(hash).as_slice()).map(drop)
    }

    /// The partition it lives in, given now where there was none.
    ///
    /// # Errors
    /// `NotFound` where a call of many writes began in a partition that was erased since.
    pub fn find_or_make(&self, pages: &mut impl PagesMut) -> Result<Partition> {
        self.check_begun(pages)?;
        if let Some(partition) = self.find(pages)? {
            return Ok(partition);
        }
        let partition = add_row(pages, &Row::Scope(self.clone()))?;
        self.lead_to(pages, partition)?;
        self.begun.made(partition);
        Ok(partition)
    }

    /// Refuses to go on with a call of many writes whose scope was erased since it began.
    pub(crate) fn check_begun<P: Pages + ?Sized>(&self, pages: &P) -> Result<()> {
        self.begun.partition().map_or(Ok(()), |partition| check_kept(pages, partition))
    }

    /// Lets its name lead to a partition.
    pub(crate) fn lead_to(&self, pages: &mut impl PagesMut, partition: Partition) -> Result<()> {
        let name = self.bytes();
        let mut body = Writer::array(2);
        body.uint(u64::from(partition));
        body.bin(&name);
        let by_name = Key::new(STORE, Table::ScopeByName).u128(pages.secret().hash128(&name));
        pages.put(by_name.as_slice(), &envelope::seal(by_name.as_slice(), 1, Codec::MessagePack, body.bytes()))
    }

    fn decode(key: &[u8], name: &[u8]) -> Result<Self> {
        let mut name = Reader::array(key, name)?;
        let tenant = name.maybe_text()?.map(str::to_owned);
        let scope_type = if name.uint()? == 0 { ScopeType::User } else { ScopeType::Shared };
        Ok(Self::named(tenant, scope_type, name.text()?.to_owned()))
    }
}

/// Whose a partition is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// A scope's.
    Scope(Scope),
    /// A collection's, which belongs to the scope of another partition.
    Collection {
        /// The scope's partition.
        owner: Partition,
        /// Its name in its scope.
        name: String,
    },
    /// Nobody's any more: its collection was dropped, and its number is never given again.
    Dropped {
        /// The partition of the scope that it belonged to; 0 in stores that dropped it before 0.4.0.
        owner: Partition,
    },
}

const COLLECTION: u64 = 2;
const DROPPED: u64 = 3;

impl Row {
    fn bytes(&self) -> Vec<u8> {
        let (kind, name, owner) = match self {
            Self::Scope(scope) => return scope.bytes(),
            Self::Collection { owner, name } => (COLLECTION, name.as_str(), *owner),
            Self::Dropped { owner } => (DROPPED, "", *owner),
        };
        let mut row = Writer::array(4);
        row.maybe_text(None);
        row.uint(kind);
        row.text(name);
        row.uint(u64::from(owner));
        row.into_bytes()
    }

    fn decode(key: &[u8], value: &[u8]) -> Result<Self> {
        let mut body = Reader::array(key, envelope::open(key, value)?.body)?;
        let tenant = body.maybe_text()?.map(str::to_owned);
        let kind = body.uint()?;
        let name = body.text()?.to_owned();
        Ok(match kind {
            COLLECTION => Self::Collection { owner: body.uint()? as Partition, name },
            DROPPED => Self::Dropped { owner: body.uint()? as Partition },
            0 => Self::Scope(Scope::named(tenant, ScopeType::User, name)),
            _ => Self::Scope(Scope::named(tenant, ScopeType::Shared, name)),
        })
    }
}

/// The scopes that a name leads to, by their partitions.
pub(crate) fn named<P: Pages + ?Sized>(pages: &P) -> Result<BTreeMap<Partition, Scope>> {
    let (range, mut found) = (Key::new(STORE, Table::ScopeByName).prefix_range(), BTreeMap::new());
    pages.scan(&range.start, &range.end, &mut |key, value| {
        let mut body = Reader::array(key, envelope::open(key, value)?.body)?;
        found.insert(body.uint()? as Partition, Scope::decode(key, body.bin()?)?);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

/// The next partition, which belongs to `row` from now on.
pub(crate) fn add_row(pages: &mut impl PagesMut, row: &Row) -> Result<Partition> {
    let partition = last_partition(pages)? + 1;
    put_row(pages, partition, row)?;
    Ok(partition)
}

/// Says whose a partition is.
pub(crate) fn put_row(pages: &mut impl PagesMut, partition: Partition, row: &Row) -> Result<()> {
    let key = Key::new(STORE, Table::ScopeByNumber).u32(partition);
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, &row.bytes()))
}

/// Whose a partition is; `None` where its number was never given.
pub fn row<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<Option<Row>> {
    let key = Key::new(STORE, Table::ScopeByNumber).u32(partition);
    pages.get(key.as_slice())?.map(|value| Row::decode(key.as_slice(), value)).transpose()
}

/// Whether a partition was somebody's and is nobody's any more.
pub(crate) fn is_dropped<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<bool> {
    Ok(partition != STORE && matches!(row(pages, partition)?, Some(Row::Dropped { .. })))
}

/// Refuses to leave values in a partition that was erased or dropped: nobody would find them, and nobody would remove them.
pub(crate) fn check_kept<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<()> {
    if !is_dropped(pages, partition)? {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::NotFound,
        "writing to a scope or a collection: it was erased or dropped while the call went on, so nothing was written: begin it anew",
    ))
}

pub(crate) fn check_id(what: &str, id: &str) -> Result<()> {
    if id.is_empty() || id.len() > MAX_NAME_BYTES {
        let next = match what {
            _ if !id.is_empty() => "give another id, for instance a hash of this one".to_owned(),
            "tenant" | "version" | "source" => format!("give the {what}'s own id, or leave it out"),
            _ => format!("give the {what}'s own id"),
        };
        return Err(Error::invalid(format!(
            "naming a {what}: an id has 1 to {MAX_NAME_BYTES} bytes of UTF-8, and this one has {} ({:?}): {next}",
            id.len(),
            first_chars(id, 40)
        ))
        .with("size_bytes", id.len()));
    }
    Ok(())
}

fn last_partition(pages: &impl Pages) -> Result<Partition> {
    let range = Key::new(STORE, Table::ScopeByNumber).prefix_range();
    let last = Key::new(STORE, Table::ScopeByNumber).u32(u32::MAX);
    Ok(match pages.floor(last.as_slice())? {
        Some((key, _)) if key >= range.start.as_slice() => u32_at(key, 5).unwrap_or(0),
        _ => 0,
    })
}

/// Whose the partitions behind `after` are, in the order in which they were first written to; at most `limit`.
pub fn rows<P: Pages + ?Sized>(pages: &P, after: Partition, limit: usize) -> Result<Vec<(Partition, Row)>> {
    let mut found = Vec::new();
    each_row(pages, after, &mut |partition, row| {
        if found.len() < limit {
            found.push((partition, row));
        }
        found.len() < limit
    })?;
    Ok(found)
}

/// The scopes behind partition `after`, in the order in which they were first written to; at most `limit`.
pub fn list<P: Pages + ?Sized>(pages: &P, after: Partition, limit: usize) -> Result<Vec<(Partition, Scope)>> {
    let mut found = Vec::new();
    each_row(pages, after, &mut |partition, row| {
        if let Row::Scope(scope) = row
            && found.len() < limit
        {
            found.push((partition, scope));
        }
        found.len() < limit
    })?;
    Ok(found)
}

/// Visits whose the partitions behind `after` are, until `visit` says no.
fn each_row<P: Pages + ?Sized>(pages: &P, after: Partition, visit: &mut dyn FnMut(Partition, Row) -> bool) -> Result<()> {
    let mut range = Key::new(STORE, Table::ScopeByNumber).prefix_range();
    range.start = Key::new(STORE, Table::ScopeByNumber).u32(after.saturating_add(1)).as_slice().to_vec();
    pages.scan(&range.start, &range.end, &mut |key, value| {
        let goes_on = visit(u32_at(key, 5).unwrap_or(0), Row::decode(key, value)?);
        Ok(if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })
}

/// The counters of a partition: read and rewritten by every write to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Head {
    /// The number that the next memory gets.
    pub next_number: u32,
    /// Place of the last write in the scope's order.
    pub sequence: u64,
    /// Time of the last write, or a little more since texts of sessions were taken back; the next is later.
    pub last_time: i64,
    /// Current memories.
    pub documents: u64,
    /// Sum of their lengths in words.
    pub total_length: u64,
    /// The analyzer that made the terms.
    pub analyzer: u16,
    /// The embedding of the vectors; 0 where there are none.
    pub embedding: u16,
    /// Current memories that have a vector of that embedding.
    pub vectors: u64,
    /// Whether a caller gave an id of the generated form, so that a new number must be looked up before it is given.
    pub ids_taken: bool,
    /// Whether the memories that prompts begin with have a key of their kind: those of a scope of format 1 have none.
    pub kinds_indexed: bool,
    /// The embedding that is to take the place of `embedding`, while its vectors are made beside the old ones; 0 where there is none.
    pub building: u16,
    /// Current memories that have a vector of that one.
    pub built: u64,
    /// The embedding whose vectors are of no use any more and are being removed; 0 where there is none.
    pub leaving: u16,
}

impl Head {
    /// How many current memories have a vector of that embedding.
    #[must_use]
    pub fn vectors_of(&self, embedding: u16) -> u64 {
        match embedding {
            0 => 0,
            number if number == self.embedding => self.vectors,
            number if number == self.building => self.built,
            _ => 0,
        }
    }

    /// The vectors that were being built are those that are searched from now on; the old ones leave.
    pub(crate) fn switch(&mut self) {
        self.leaving = self.embedding;
        (self.embedding, self.vectors) = (self.building, self.built);
        (self.building, self.built) = (0, 0);
    }

    /// Begins to build the vectors of `embedding` beside those that are searched. Where none are, there is nothing to wait for.
    pub(crate) fn begin(&mut self, embedding: u16) {
        if embedding == self.embedding || self.leaving != 0 {
            return;
        }
        if embedding != self.building {
            (self.leaving, self.building, self.built) = (self.building, embedding, 0);
        }
        if self.vectors == 0 {
            (self.embedding, self.vectors) = (self.building, self.built);
            (self.building, self.built) = (0, 0);
        }
    }
    /// The head of a partition; a fresh one where nothing was written.
    pub fn read<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<Self> {
        let key = Key::new(partition, Table::Head);
        let Some(value) = pages.get(key.as_slice())? else { return Ok(Self { next_number: 1, kinds_indexed: true, ..Self::default() }) };
        let mut r = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
        Ok(Self {
            next_number: r.uint()? as u32,
            sequence: r.uint()?,
            last_time: r.int()?,
            documents: r.uint()?,
            total_length: r.uint()?,
            analyzer: r.uint()? as u16,
            embedding: r.uint()? as u16,
            vectors: r.uint()?,
            ids_taken: r.bool()?,
            kinds_indexed: r.bool()?,
            building: r.uint()? as u16,
            built: r.uint()?,
            leaving: r.uint()? as u16,
        })
    }

    /// Counts as a write what takes a text out of a scope: what was read of it before is read anew.
    pub(crate) fn advance(pages: &mut impl PagesMut, partition: Partition) -> Result<()> {
        let head = Self::read(&*pages, partition)?;
        Self { last_time: head.last_time + 1, ..head }.write(pages, partition)
    }

    /// Writes it.
    pub fn write(&self, pages: &mut impl PagesMut, partition: Partition) -> Result<()> {
        let key = Key::new(partition, Table::Head);
        let migrates = self.building != 0 || self.leaving != 0;
        let mut w = Writer::array(if migrates { 13 } else { 10 });
        w.uint(u64::from(self.next_number));
        w.uint(self.sequence);
        w.int(self.last_time);
        w.uint(self.documents);
        w.uint(self.total_length);
        w.uint(u64::from(self.analyzer));
        w.uint(u64::from(self.embedding));
        w.uint(self.vectors);
        w.bool(self.ids_taken);
        w.bool(self.kinds_indexed);
        if migrates {
            w.uint(u64::from(self.building));
            w.uint(self.built);
            w.uint(u64::from(self.leaving));
        }
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, w.bytes()))
    }
}
