//! The write transaction of a generation: puts, deletes and reads under it, encrypted where the store is.

use std::ops::Bound::{Excluded, Included};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use heed::RwTxn;

use super::{Environment, Handle, lmdb_error};
use crate::store::changes::Change;
use crate::store::identity::Secret;
use crate::store::keys::{Partition, u32_at};
use crate::store::pages::{Pages, PagesMut, in_partition_of};
use crate::store::progress::Standing;
use crate::store::reserve::Reach;
use crate::store::tree::changed::Roots;
use crate::store::tree::{Root, Tree};
use crate::store::vault::cipher::Cipher;
use crate::store::vault::kept::Kept;
use crate::store::vault::{Vault, is_exempt, record_of};
use crate::store::verified;
use crate::{Error, ErrorKind, Result, interrupt};

/// The write transaction of a generation.
pub struct WriteTransaction<'e> {
    pub(super) txn: RwTxn<'e>,
    /// The state committed before: the pages that LMDB walks until it copies them.
    pub(super) base: Tree,
    /// Its free pages.
    pub(super) base_free: Root,
    /// Its record in `progress`; none of a generation that is being built.
    pub(super) standing: Option<Standing>,
    pub(super) tree: Handle,
    pub(super) secret: Secret,
    pub(super) environment: &'e Environment,
    pub(super) changes: u64,
    /// Something was really changed: LMDB leaves no trace of a commit that changed nothing.
    pub(super) dirty: bool,
    pub(super) recorded: Option<Vec<Change>>,
    pub(super) kept: Kept,
    /// Data keys that this transaction made.
    pub(super) fresh: Vec<(Partition, Arc<Cipher>)>,
    /// Partitions that an operation wrote to.
    pub(super) written: Vec<Partition>,
    /// Whether an operation left a batch of changes half done.
    pub(super) half_done: bool,
    /// The least that an operation of it may reach to; none where none said.
    pub(super) reach: Option<Reach>,
}

impl std::fmt::Debug for WriteTransaction<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WriteTransaction").field("path", &self.environment.path).field("changes", &self.changes).finish_non_exhaustive()
    }
}

impl WriteTransaction<'_> {
    /// Its number in LMDB's count.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.txn.id() as u64
    }

    /// Values put and deleted so far: whether a failed operation left something behind.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Begins a write that may reach so far into the room that is kept. One that takes nothing away is refused while the files cannot be
    /// grown: the remaining space is kept for forgetting. Looked at before every write, since other processes use it up, too.
    pub fn require_room(&mut self, reach: Reach) -> Result<()> {
        if reach == Reach::Nothing {
            self.environment.grow_ahead(|| self.base.count_free(self.base_free))?;
        }
        self.reach = Some(self.reach.map_or(reach, |others| others.min(reach)));
        Ok(())
    }

    /// How far all that was written in it may reach.
    #[must_use]
    pub fn reach(&self) -> Reach {
        self.reach.unwrap_or(Reach::Nothing)
    }

    /// Records every put and delete from now on.
    pub fn record(&mut self) {
        self.recorded = Some(Vec::new());
    }

    /// The puts and deletes since [`record`](Self::record), in order; recording ends.
    pub fn recorded(&mut self) -> Vec<Change> {
        self.recorded.take().unwrap_or_default()
    }

    /// Forgets which partitions were written to: an operation begins.
    pub fn begin_operation(&mut self) {
        self.written.clear();
        self.half_done = false;
    }

    /// Refuses to go on where the operation left a batch of changes half done: it ended as if it had written nothing, and has to fail.
    pub fn check_whole(&self) -> Result<()> {
        let half_done = || {
            Error::new(
                ErrorKind::Internal,
                "writing to the store: a batch of changes was left half done, and was undone: please report this with the steps that led here",
            )
        };
        if self.half_done { Err(half_done()) } else { Ok(()) }
    }

    /// The partitions to which values were put since.
    #[must_use]
    pub fn written(&self) -> &[Partition] {
        &self.written
    }

    fn note(&mut self, key: &[u8], value: Option<&[u8]>) {
        if let Some(recorded) = &mut self.recorded {
            recorded.push(Change { key: key.to_vec(), value: value.map(<[u8]>::to_vec) });
        }
    }

    /// Appends a value at a key above all others: pages are filled to the brim.
    pub fn append(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.note(key, Some(value));
        self.changes += 1;
        self.dirty = true;
        self.tree
            .put_with_flags(&mut self.txn, heed::PutFlags::APPEND, key, value)
            .map_err(|e| lmdb_error("writing to the store", &self.environment.path, e))
    }

    /// Announces it, as its commit does first.
    #[cfg(test)]
    pub fn announce(&self) -> Result<()> {
        self.environment.announce(self.standing.as_ref())
    }

    /// Commits; returns when the commit is as durable as the environment's mode says.
    pub fn commit(self) -> Result<()> {
        if !self.dirty {
            return Ok(()); // a number that is announced and never in the file would read as a lost write
        }
        let Self { txn, base, base_free, standing, environment, .. } = self;
        let id = txn.id() as u64;
        environment.announce(standing.as_ref())?;
        txn.commit().map_err(|e| environment.refused(lmdb_error("committing to the store", &environment.path, e)))?;
        environment.cover();
        environment.committed(id, Roots { values: &base, free: base_free }, standing)
    }
}

/// Until something is written, what was committed before is all there is; after that LMDB reads, where the pages are whole.
impl Pages for WriteTransaction<'_> {
    fn secret(&self) -> Secret {
        self.secret
    }

    fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        let stored = self.stored(key)?;
        let (Some(vault), Some(stored)) = (self.vault(), stored) else { return Ok(stored) };
        self.reveal(vault, key, stored).map(Some)
    }

    fn get_beside_damage(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        if self.changes == 0 { self.base.get_beside_damage(key) } else { self.get(key) }
    }

    fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        let entry = in_partition_of(key, self.floor_stored(key)?);
        let (Some(vault), Some((key, stored))) = (self.vault(), entry) else { return Ok(entry) };
        Ok(Some((key, self.reveal(vault, key, stored)?)))
    }

    fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        self.scan_stored(from, to, &mut |key, stored| {
            verified::intact(key, stored)?;
            visit(key, self.vault().map_or(Ok(stored), |vault| self.reveal(vault, key, stored))?)
        })
    }

    fn scan_stored<'p>(
        &'p self,
        from: &[u8],
        to: &[u8],
        visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        if self.changes == 0 {
            return self.base.scan_stored(from, to, visit);
        }
        self.base.secure_range(from, to)?;
        for entry in self.tree.range(&self.txn, &(Included(from), Excluded(to))).map_err(read_error)? {
            let (key, value) = entry.map_err(read_error)?;
            if visit(key, value)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}

impl PagesMut for WriteTransaction<'_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        let environment = self.environment;
        let partition = u32_at(key, 0).unwrap_or_default();
        if self.written.last() != Some(&partition) && !self.written.contains(&partition) {
            self.written.push(partition);
        }
        match environment.vault.as_ref().filter(|_| !is_exempt(key)) {
            None => self.put_stored(key, value)?,
            Some(vault) => self.put_encrypted(vault, key, value)?,
        }
        self.note(key, Some(value));
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        interrupt::check()?;
        self.base.secure(key, true)?;
        self.note(key, None);
        self.changes += 1;
        let known = self.tree.delete(&mut self.txn, key).map_err(|e| lmdb_error("writing to the store", &self.environment.path, e))?;
        self.dirty |= known;
        Ok(known)
    }

    fn left_half_done(&mut self) {
        self.half_done = true;
    }
}

impl WriteTransaction<'_> {
    fn vault(&self) -> Option<&Vault> {
        self.environment.vault.as_deref()
    }

    fn stored(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        if self.changes == 0 {
            return self.base.get(key);
        }
        interrupt::check()?;
        self.base.secure(key, false)?;
        self.tree.get(&self.txn, key).map_err(read_error)
    }

    #[allow(clippy::type_complexity)] // a key and a value
    fn floor_stored(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        if self.changes == 0 {
            return self.base.floor(key);
        }
        self.base.secure_range(key, key)?;
        self.tree.get_lower_than_or_equal_to(&self.txn, key).map_err(read_error)
    }

    /// Stores bytes as they are: what the caller encrypted, or need not.
    pub fn put_stored(&mut self, key: &[u8], stored: &[u8]) -> Result<()> {
        interrupt::check()?;
        self.base.secure(key, false)?;
        self.changes += 1;
        self.dirty = true;
        self.tree.put(&mut self.txn, key, stored).map_err(|e| lmdb_error("writing to the store", &self.environment.path, e))
    }

    fn reveal<'s>(&'s self, vault: &'s Vault, key: &[u8], stored: &'s [u8]) -> Result<&'s [u8]> {
        let partition = u32_at(key, 0).unwrap_or_default();
        if let Some((_, data_key)) = self.fresh.iter().find(|(made, _)| *made == partition).filter(|_| !is_exempt(key)) {
            return vault.reveal_with(&self.kept, data_key, key, stored);
        }
        vault.reveal(&self.kept, key, stored, |record| self.base.get(record))
    }

    fn put_encrypted(&mut self, vault: &Vault, key: &[u8], value: &[u8]) -> Result<()> {
        self.kept.let_go();
        let data_key = self.data_key(vault, u32_at(key, 0).unwrap_or_default())?;
        let stored = Vault::encrypt(&data_key, key, value)?;
        self.put_stored(key, &stored)?;
        vault.remember(key, value, &stored)
    }

    /// The data key of a partition, made and stored where it has none.
    fn data_key(&mut self, vault: &Vault, partition: Partition) -> Result<Arc<Cipher>> {
        if let Some((_, made)) = self.fresh.iter().find(|(made, _)| *made == partition) {
            return Ok(Arc::clone(made));
        }
        if let Some(known) = vault.data_key(partition, |record| self.base.get(record))? {
            return Ok(known);
        }
        let (made, record) = vault.new_data_key(partition)?;
        self.put_stored(record_of(partition).as_slice(), &record)?;
        self.fresh.push((partition, Arc::clone(&made)));
        Ok(made)
    }
}

fn read_error(error: heed::Error) -> Error {
    lmdb_error("reading the store", Path::new("(open)"), error)
}
