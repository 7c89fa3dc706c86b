//! A read transaction: the state that was committed when it began, read by our own reader of LMDB's pages.

use std::ops::ControlFlow;
use std::sync::Arc;

use heed::{RoTxn, WithoutTls};

use super::page_size;
use crate::Result;
use crate::store::envelope::damaged;
use crate::store::identity::Secret;
use crate::store::keys::{Key, STORE, Table, u32_at};
use crate::store::pages::{Pages, in_partition_of};
use crate::store::tree::{Root, Tree};
use crate::store::vault::kept::Kept;
use crate::store::vault::{Vault, is_exempt};

/// A read transaction: the state committed when it began.
pub struct Snapshot {
    /// Keeps LMDB from writing over its pages.
    pub(super) _txn: RoTxn<'static, WithoutTls>,
    pub(super) pages: Tree,
    pub(super) free: Root,
    pub(super) id: u64,
    pub(super) secret: Secret,
    pub(super) vault: Option<Arc<Vault>>,
    pub(super) kept: Kept,
}

impl Snapshot {
    /// The pages that are free; none where that cannot be read.
    #[must_use]
    pub fn free_pages(&self) -> Option<std::collections::BTreeSet<u64>> {
        self.pages.free_pages(self.free)
    }

    /// Bytes of the pages that are free, those that have their list among them; 0 where that cannot be read.
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        self.pages.count_free(self.free).unwrap_or_default() * u64::from(page_size())
    }

    /// Checks the list of free pages, and that no page is used twice.
    pub fn check_pages(&self) -> Result<()> {
        self.pages.check_free(self.free, true)
    }

    /// How many decrypted values it has handed out and keeps.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> usize {
        self.kept.count()
    }

    /// Its tree.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.pages
    }

    /// The transaction that it shows the end of.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot").field("pages", &self.pages).finish_non_exhaustive()
    }
}

impl Snapshot {
    fn reveal<'s>(&'s self, vault: &'s Vault, key: &[u8], stored: &'s [u8]) -> Result<&'s [u8]> {
        vault.reveal(&self.kept, key, stored, |record| self.pages.get(record))
    }
}

impl Pages for Snapshot {
    fn secret(&self) -> Secret {
        self.secret
    }

    fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        let stored = self.pages.get(key)?;
        let (Some(vault), Some(stored)) = (&self.vault, stored) else { return Ok(stored) };
        self.reveal(vault, key, stored).map(Some)
    }

    fn get_beside_damage(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        self.pages.get_beside_damage(key)
    }

    fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        let entry = in_partition_of(key, self.pages.floor(key)?);
        let (Some(vault), Some((key, stored))) = (&self.vault, entry) else { return Ok(entry) };
        Ok(Some((key, self.reveal(vault, key, stored)?)))
    }

    fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        match &self.vault {
            None => self.pages.scan(from, to, visit),
            Some(vault) => self.pages.scan(from, to, &mut |key, stored| visit(key, self.reveal(vault, key, stored)?)),
        }
    }

    fn scan_to_open<'p>(
        &'p self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        if self.vault.is_some() { self.scan(from, to, visit) } else { self.pages.scan_stored(from, to, visit) }
    }

    fn look_through(&self, from: &[u8], to: &[u8], look: &mut dyn FnMut(&[u8], &[u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        self.pages.scan(from, to, &mut |key, stored| match &self.vault {
            None => look(key, stored),
            Some(vault) => vault.show(key, stored, |record| self.pages.get(record), |value| look(key, value)),
        })
    }

    fn scan_stored<'p>(
        &'p self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.pages.scan_stored(from, to, visit)
    }

    fn authenticate(&self, key: &[u8], stored: &[u8]) -> Result<()> {
        let Some(vault) = self.vault.as_ref().filter(|_| !is_exempt(key)) else { return Ok(()) };
        let partition = u32_at(key, 0).unwrap_or_default();
        match vault.data_key(partition, |record| self.pages.get(record))? {
            Some(data_key) => vault.decrypt(&data_key, key, stored).map(drop),
            None if self.pages.get(Key::new(STORE, Table::Erasing).u32(partition).as_slice())?.is_some() => Ok(()),
            None => Err(damaged(key, "the data key of its partition is missing")),
        }
    }
}
