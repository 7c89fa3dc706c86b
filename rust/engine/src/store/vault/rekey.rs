//! Another key for a store: a key instead of another, a key for a store that had none, or none any more.
//!
//! With another key only what it opens is sealed anew, and the store is compacted, so that nothing of the old one stays. A store that
//! becomes encrypted, or plain, is copied value by value into the next generation, and switched over to it as a compaction is.
//! Other processes that have it open follow to the new generation, which their key does not open: they are told so.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
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

/// Writes what a generation is searched by anew, under the secret that its environment has.
pub type Rehash<'r> = &'r dyn Fn(&Environment) -> Result<()>;

/// Makes `key` the one that opens the store, or leaves it plain. Where it shall be encrypted and its words have hashes that need no key,
/// which are in the keys of its blocks, `rehash` gives it others.
pub fn rekey(store: &Arc<Store>, key: Option<StoreKey>, busy_timeout: Duration, rehash: Rehash<'_>) -> Result<()> {
    let key = key.map(Arc::new);
    match &key {
        Some(key) if store.is_encrypted() && !store.secret().tells_words() => seal_anew(store, key, busy_timeout)?,
        _ => rewrite(store, key.as_ref(), busy_timeout, rehash)?,
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
fn rewrite(store: &Arc<Store>, key: Option<&Arc<StoreKey>>, busy_timeout: Duration, rehash: Rehash<'_>) -> Result<()> {
    store.exclusively(busy_timeout, |environment| {
        let (folder, next) = (store.folder(), environment.number() + 1);
        let (workshop, snapshot) = (folder.workshop(next)?, environment.snapshot()?);
        let before = environment.identity().1;
        let rehash = (key.is_some() && before.tells_words()).then_some(rehash);
        let secret = if rehash.is_some() { before.telling_no_words() } else { before };
        let switched = build(&snapshot, environment, &workshop, next, key.map(Arc::as_ref), (secret, rehash))
            .and_then(|()| copy::switch(folder, environment, &snapshot, &workshop, next));
        switched.inspect_err(|_| drop(std::fs::remove_dir_all(&workshop)))?;
        store.exchange_key(key.cloned());
        folder.name_current(next)
    })
}

fn build(
    snapshot: &Snapshot,
    from: &Environment,
    workshop: &Path,
    next: u32,
    key: Option<&StoreKey>,
    (secret, rehash): (Secret, Option<Rehash<'_>>),
) -> Result<()> {
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
    match (vault, rehash) {
        (Some(vault), Some(rehash)) => {
            let new = new.encrypted_by(vault);
            rehash(&new)?;
            new.finish(id)
        }
        _ => new.finish(id),
    }
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
        let (data_key, _) = match self.keys.entry(partition) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(vault.new_data_key(partition)?),
        };
        txn.append(key, &Vault::encrypt(data_key, key, plain)?)
    }
}
