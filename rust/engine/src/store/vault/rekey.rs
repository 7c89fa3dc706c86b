//! Another key for a store: a key instead of another, a key for a store that had none, or none any more.
//!
//! With another key only what it opens is sealed anew, and the store is compacted, so that nothing of the old one stays. A store that
//! becomes encrypted, or plain, is copied value by value into the next generation, and switched over to it as a compaction is.
//! Other processes that have it open follow to the new generation, which their key does not open: they are told so.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::cipher::Cipher;
use super::{Sealed, StoreKey, Vault, is_exempt, record_of};
use crate::Result;
use crate::store::copy::{self, BATCH_BYTES};
use crate::store::envelope;
use crate::store::environment::{Environment, Mode, Snapshot, WriteTransaction};
use crate::store::gate::Store;
use crate::store::identity::Secret;
use crate::store::keys::{Key, Partition, STORE, Table, u32_at};
use crate::store::meta::Meta;
use crate::store::pages::Pages;

/// Makes `key` the one that opens the store, or leaves it plain.
pub fn rekey(store: &Arc<Store>, key: Option<StoreKey>, busy_timeout: Duration) -> Result<()> {
    let key = key.map(Arc::new);
    match &key {
        Some(key) if store.is_encrypted() => seal_anew(store, key, busy_timeout)?,
        _ => rewrite(store, key.as_ref(), busy_timeout)?,
    }
    copy::compact(store, busy_timeout).map(drop)
}

/// Seals the store's key with another one.
fn seal_anew(store: &Store, key: &Arc<StoreKey>, busy_timeout: Duration) -> Result<()> {
    store.exclusively(busy_timeout, |environment| {
        let Some(vault) = environment.vault() else { return Ok(()) };
        let mut txn = environment.write()?;
        let meta = meta_of(&txn)?;
        let sealed = Some(vault.seal_for(key, environment.identity().1)?);
        Meta { sealed, ..meta }.write(&mut txn)?;
        txn.commit()?;
        store.exchange_key(Some(Arc::clone(key)));
        Ok(())
    })
}

fn meta_of(pages: &impl Pages) -> Result<Meta> {
    Meta::read(pages)?.ok_or_else(|| envelope::damaged(Key::new(STORE, Table::Meta).as_slice(), "it is missing"))
}

/// Copies the store into its next generation, encrypted or plain.
fn rewrite(store: &Arc<Store>, key: Option<&Arc<StoreKey>>, busy_timeout: Duration) -> Result<()> {
    store.exclusively(busy_timeout, |environment| {
        let (folder, next) = (store.folder(), environment.number() + 1);
        let (workshop, snapshot) = (folder.workshop(next)?, environment.snapshot()?);
        let secret = environment.identity().1;
        let switched = build(&snapshot, environment, &workshop, next, key.map(Arc::as_ref), secret)
            .and_then(|()| copy::switch(folder, environment, &snapshot, &workshop, next));
        switched.inspect_err(|_| drop(std::fs::remove_dir_all(&workshop)))?;
        store.exchange_key(key.cloned());
        folder.name_current(next)
    })
}

fn build(snapshot: &Snapshot, from: &Environment, workshop: &Path, next: u32, key: Option<&StoreKey>, secret: Secret) -> Result<()> {
    let meta = meta_of(snapshot)?;
    let id = meta.store.ok_or_else(|| envelope::damaged(Key::new(STORE, Table::Meta).as_slice(), "it does not say which store it is"))?;
    let vault = key.map(|_| Vault::new()).transpose()?;
    let sealed: Option<Sealed> = vault.as_ref().zip(key).map(|(vault, key)| vault.seal_for(key, secret)).transpose()?;
    let mode = Mode { read_only: false, relaxed: false, building: true, format: meta.format };
    let new = Environment::build(workshop, next, mode, id, secret)?;
    let mut rewriting = Rewriting { vault: vault.as_ref(), old: from.vault().map(Arc::as_ref), keys: BTreeMap::new() };
    let mut at = Some(vec![0]);
    while let Some(from) = at {
        let mut txn = new.write()?;
        at = rewriting.batch(snapshot, &mut txn, &from)?;
        txn.commit()?;
    }
    let mut txn = new.write()?;
    for (partition, (_, record)) in &rewriting.keys {
        txn.put_stored(record_of(*partition).as_slice(), record)?;
    }
    Meta { generation: next, secret, sealed, ..meta }.write(&mut txn)?;
    txn.commit()?;
    new.finish(id)
}

/// A copy under way: from the values of `old`, plain where it is none, to those of `vault`.
struct Rewriting<'v> {
    vault: Option<&'v Vault>,
    old: Option<&'v Vault>,
    /// The data keys of the copy, with the values of their records.
    keys: BTreeMap<Partition, (Arc<Cipher>, Vec<u8>)>,
}

impl Rewriting<'_> {
    fn batch(&mut self, snapshot: &Snapshot, txn: &mut WriteTransaction<'_>, from: &[u8]) -> Result<Option<Vec<u8>>> {
        let (mut bytes, mut next) = (0, None);
        snapshot.scan_stored(from, &[u8::MAX; 32], &mut |key, stored| {
            if bytes >= BATCH_BYTES {
                next = Some(key.to_vec());
                return Ok(ControlFlow::Break(()));
            }
            envelope::open(key, stored)?;
            if !is_exempt(key) {
                self.copy(snapshot, txn, key, stored)?;
                bytes += key.len() + stored.len();
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(next)
    }

    fn copy(&mut self, snapshot: &Snapshot, txn: &mut WriteTransaction<'_>, key: &[u8], stored: &[u8]) -> Result<()> {
        let partition = u32_at(key, 0).unwrap_or_default();
        let Some(old) = self.old else { return self.append(txn, partition, key, stored) };
        let data_key = old.data_key(partition, |record| snapshot.get(record))?;
        let Some(data_key) = data_key else { return Ok(()) }; // erased, and not yet emptied: nobody can read it any more
        let plain = old.decrypt(&data_key, key, stored)?;
        self.append(txn, partition, key, plain.bytes())
    }

    fn append(&mut self, txn: &mut WriteTransaction<'_>, partition: Partition, key: &[u8], plain: &[u8]) -> Result<()> {
        let Some(vault) = self.vault else { return txn.append(key, plain) };
        if !self.keys.contains_key(&partition) {
            self.keys.insert(partition, vault.new_data_key(partition)?);
        }
        let (data_key, _) = &self.keys[&partition];
        txn.append(key, &Vault::encrypt(data_key, key, plain)?)
    }
}
