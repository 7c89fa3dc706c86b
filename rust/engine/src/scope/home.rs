//! The home of a value: the scope that it belongs to, with its collections' partitions and its rows in partition 0.
//!
//! A scope's changes are one unit: who replicates or moves a scope follows its home. [`Witness`] is the seam through which every put
//! and delete of a transaction can be seen with its home. No backend is behind it yet, and without a witness it costs nothing.

use super::{Row, row};
use crate::Result;
use crate::store::changes::Change;
use crate::store::envelope;
use crate::store::keys::{Partition, STORE, Table, u32_at};
use crate::store::msgpack::Reader;
use crate::store::pages::Pages;

/// The owner of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Home {
    /// The store itself: which embeddings it knows, what it learned of tokenizers.
    Store,
    /// The scope of that partition.
    Scope(Partition),
}

impl Home {
    /// The home of a key with its value. `pages` shows the registry; a value is needed where a key says less than it.
    pub fn of<P: Pages + ?Sized>(pages: &P, key: &[u8], value: Option<&[u8]>) -> Result<Self> {
        let table = key.get(4).copied();
        let at = |place| u32_at(key, place).map_or(Ok(Self::Store), |partition| Self::of_partition(pages, partition));
        match (u32_at(key, 0), table) {
            (Some(STORE), Some(table)) if [Table::ScopeByNumber as u8, Table::Erasing as u8].contains(&table) => at(5),
            (Some(STORE), Some(table)) if table == Table::Expiry as u8 => at(13),
            (Some(STORE), Some(table)) if table == Table::ScopeByName as u8 => match value {
                Some(value) => Ok(Self::Scope(Reader::array(key, envelope::open(key, value)?.body)?.uint()? as Partition)),
                None => Ok(Self::Store), // a name that is erased: its row says whose it was
            },
            (Some(STORE) | None, _) => Ok(Self::Store),
            _ => at(0),
        }
    }

    /// The home of everything in a partition.
    pub fn of_partition<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<Self> {
        Ok(match row(pages, partition)? {
            Some(Row::Scope(_)) => Self::Scope(partition),
            Some(Row::Collection { owner, .. } | Row::Dropped { owner }) if owner != STORE => Self::Scope(owner),
            _ => Self::Store,
        })
    }
}

/// A change with its home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// Whose it is.
    pub home: Home,
    /// The put or the delete.
    pub change: Change,
}

/// Finds the home of each change, in a transaction that has made them all.
pub(crate) fn homes<P: Pages + ?Sized>(pages: &P, changes: Vec<Change>) -> Result<Vec<Written>> {
    let home = |change: Change| Ok(Written { home: Home::of(pages, &change.key, change.value.as_deref())?, change });
    changes.into_iter().map(home).collect()
}

/// Sees what every operation writes, before it is committed. Only tests have one today (docs/decisions/0023).
pub trait Witness: Send + Sync + std::fmt::Debug {
    /// The puts and deletes of one operation, in its order. It runs inside of the transaction, so it must be short and must not use the
    /// store; an error undoes the operation.
    fn written(&self, changes: &[Written]) -> Result<()>;
}
