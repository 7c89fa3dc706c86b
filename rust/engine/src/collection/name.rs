//! Names of collections: the owner, the name, and the partition of a collection.

use std::ops::ControlFlow;

use xxhash_rust::xxh3::xxh3_64;

use crate::scope::{self, Row};
use crate::scope::{Scope, check_id};
use crate::store::envelope::{self, Codec, damaged};
use crate::store::identity::{Secret, Seed};
use crate::store::keys::{Key, Partition, Table};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::{Error, ErrorKind, Result};

/// A collection by its name. It is made by its first write.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CollectionName {
    /// Whose it is.
    pub scope: Scope,
    /// Its name in its scope.
    pub name: String,
}

impl CollectionName {
    /// The collection of that name; a name has 1 to 1,024 bytes.
    pub fn new(scope: &Scope, name: &str) -> Result<Self> {
        check_id("collection", name)?;
        Ok(Self { scope: scope.clone(), name: name.to_owned() })
    }

    /// Keys the hashes of this collection: those of no two collections can be compared.
    #[must_use]
    pub fn seed(&self, secret: Secret) -> Seed {
        self.scope.seed(secret).of_collection(self.name.as_bytes(), |seed| {
            let mut name = Writer::array(2);
            name.uint(seed);
            name.text(&self.name);
            xxh3_64(name.bytes())
        })
    }

    fn key(&self, owner: Partition, secret: Secret) -> Key {
        Key::new(owner, Table::CollectionByName).u128(self.scope.seed(secret).hash128(self.name.as_bytes()))
    }

    /// The partition it lives in; `None` where nothing was ever written to it, or it was dropped.
    pub fn find<P: Pages + ?Sized>(&self, pages: &P) -> Result<Option<Partition>> {
        let Some(owner) = self.scope.find(pages)? else { return Ok(None) };
        let key = self.key(owner, pages.secret());
        let Some(value) = pages.get(key.as_slice())? else { return Ok(None) };
        let (partition, name) = decode(key.as_slice(), value)?;
        if name != self.name {
            return Err(damaged(key.as_slice(), "it belongs to a collection of another name"));
        }
        Ok(Some(partition))
    }

    /// The partition it lives in, given now where there was none.
    pub fn find_or_make(&self, pages: &mut impl PagesMut) -> Result<Partition> {
        self.scope.check_begun(pages)?;
        if let Some(partition) = self.find(pages)? {
            return Ok(partition);
        }
        let owner = self.scope.find_or_make(pages)?;
        let partition = scope::add_row(pages, &Row::Collection { owner, name: self.name.clone() })?;
        self.lead_to(pages, owner, partition)?;
        Ok(partition)
    }

    /// Lets its name lead to a partition; `owner` is that of its scope.
    pub(crate) fn lead_to(&self, pages: &mut impl PagesMut, owner: Partition, partition: Partition) -> Result<()> {
        let mut body = Writer::array(2);
        body.uint(u64::from(partition));
        body.text(&self.name);
        let key = self.key(owner, pages.secret());
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, body.bytes()))
    }

    /// Takes the name away: nobody finds the collection any more, and its partition is to be emptied.
    pub(crate) fn unlink(&self, pages: &mut impl PagesMut) -> Result<Option<Partition>> {
        let Some(partition) = self.find(pages)? else { return Ok(None) };
        let Some(owner) = self.scope.find(pages)? else { return Ok(None) };
        pages.delete(self.key(owner, pages.secret()).as_slice())?;
        scope::put_row(pages, partition, &Row::Dropped { owner })?;
        Ok(Some(partition))
    }

    /// The error of one that is not there.
    #[must_use]
    pub fn missing(&self) -> Error {
        Error::new(
            ErrorKind::NotFound,
            format!(
                "writing to collection {:?} of {} {:?}: it was dropped while the document was written: add the document again",
                self.name,
                self.scope.scope_type.name(),
                self.scope.id
            ),
        )
    }
}

fn decode(key: &[u8], value: &[u8]) -> Result<(Partition, String)> {
    let mut r = Reader::array(key, envelope::open(key, value)?.body)?;
    Ok((r.uint()? as Partition, r.text()?.to_owned()))
}

/// The collections of a scope, in the order in which they were first written to.
pub fn list<P: Pages + ?Sized>(pages: &P, scope: &Scope) -> Result<Vec<(Partition, String)>> {
    scope.find(pages)?.map_or(Ok(Vec::new()), |owner| of_owner(pages, owner))
}

/// The collections of a scope, by the scope's partition.
pub(crate) fn of_owner<P: Pages + ?Sized>(pages: &P, owner: Partition) -> Result<Vec<(Partition, String)>> {
    let range = Key::new(owner, Table::CollectionByName).prefix_range();
    let mut found = Vec::new();
    pages.scan(&range.start, &range.end, &mut |key, value| {
        found.push(decode(key, value)?);
        Ok(ControlFlow::Continue(()))
    })?;
    found.sort_unstable();
    Ok(found)
}

/// The partitions of a scope's dropped collections that still have values: the call that drops one goes on, or was interrupted.
pub(crate) fn dropped_of<P: Pages + ?Sized>(pages: &P, owner: Partition) -> Result<Vec<Partition>> {
    let mut found = Vec::new();
    for (partition, row) in scope::rows(pages, 0, usize::MAX)? {
        if row == (Row::Dropped { owner }) && has_values(pages, partition)? {
            found.push(partition);
        }
    }
    Ok(found)
}

/// Whether a partition has a value, that of its key included.
pub(super) fn has_values<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<bool> {
    let mut found = false;
    pages.scan_stored(&partition.to_be_bytes(), &partition.saturating_add(1).to_be_bytes(), &mut |_, _| {
        found = true;
        Ok(ControlFlow::Break(()))
    })?;
    Ok(found)
}

/// Whether a partition is a collection's, dropped ones included.
pub(crate) fn is_collection<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<bool> {
    Ok(matches!(scope::row(pages, partition)?, Some(Row::Collection { .. } | Row::Dropped { .. })))
}
