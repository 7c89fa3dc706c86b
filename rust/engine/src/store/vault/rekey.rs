//! Another key for a store: a key instead of another, a key for a store that had none, or none any more.
//!
//! The store is copied into its next generation, which replaces the old one as a compaction does, so that nothing of the old key stays.
//! With another key only what it opens is sealed anew. A store that becomes encrypted, or plain, has each value rewritten on the way.
//! Other processes that have it open follow to the new generation, which their key does not open: they are told so.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::cipher::Cipher;
use super::{StoreKey, Vault, is_exempt, record_of};
use crate::store::copy::{copy, copy_values};
use crate::store::environment::{Environment, Mode, Snapshot, WriteTransaction};
use crate::store::fork;
use crate::store::gate::Store;
use crate::store::generation::{self, Site};
use crate::store::keys::{Partition, u32_at};
use crate::store::meta::Meta;
use crate::store::pages::Pages;
use crate::{ErrorKind, Result};

/// Writes what a generation is searched by anew, under the secret that its environment has.
pub type Rehash<'r> = &'r dyn Fn(&Environment) -> Result<()>;

/// The advice where it is unknown which key is in force.
const EITHER: &str = "the store opens with the old key or with the new one: keep both, close it in every process, and open it again";

/// Makes `key` the one that opens the store, or leaves it plain. Where it shall be encrypted and its words have hashes that need no key,
/// which are in the keys of its blocks, `rehash` gives it others.
pub fn rekey(store: &Arc<Store>, key: Option<StoreKey>, busy_timeout: Duration, rehash: Rehash<'_>) -> Result<()> {
    let key = key.map(Arc::new);
    let exchange = || store.exchange_key(key.clone());
    let build = |site: &Site<'_>| build(site, key.as_deref(), rehash).map(Some);
    let rekeyed = fork::giving_way(|| generation::replace_open(store, busy_timeout, EITHER, build, exchange)).map_err(|error| {
        if error.kind() == ErrorKind::OutcomeUnknown { error } else { error.and("the key of the store is what it was") }
    })?;
    let (now, next) = match &key {
        Some(_) => (
            "the new key is in force, and no other opens the store",
            "they have what the old key opens, or what was plain: keep the new key, and compact the store or open it again for writing",
        ),
        None => (
            "the store is not encrypted any more, and opens without a key",
            "they are of no use: compact the store, or open it again for writing",
        ),
    };
    rekeyed.and_then(|rekeyed| rekeyed.left).map_or(Ok(()), |why| Err(generation::left_over(store, "changing the key of", now, &why, next)))
}

/// Builds the next generation under `key`.
fn build(site: &Site<'_>, key: Option<&StoreKey>, rehash: Rehash<'_>) -> Result<()> {
    let meta = Meta { generation: site.number, ..Meta::expect(&site.snapshot)? };
    let before = site.from.identity().1;
    match (site.from.vault(), key) {
        // Values stay as they are, and only what the caller's key opens is sealed anew.
        (Some(vault), Some(key)) if !before.tells_words() => {
            let sealed = Some(vault.seal_for(key, before)?);
            copy(&site.snapshot, &site.workshop, Meta { sealed, ..meta }).map(drop)
        }
        _ => {
            let rehash = (key.is_some() && before.tells_words()).then_some(rehash);
            let secret = if rehash.is_some() { before.telling_no_words() } else { before };
            let meta = Meta { secret, sealed: None, ..meta };
            // Hashes that need no key would stand in free pages.
            site.build(rehash.is_some(), |workshop| Ok((rewrite(site, workshop, meta, key, rehash)?, ())))
        }
    }
}

/// Writes all values, encrypted or plain, into the generation in `workshop` that `meta` describes.
fn rewrite(site: &Site<'_>, workshop: &Path, meta: Meta, key: Option<&StoreKey>, rehash: Option<Rehash<'_>>) -> Result<Environment> {
    let vault = key.map(|_| Vault::new()).transpose()?;
    let sealed = vault.as_ref().zip(key).map(|(vault, key)| vault.seal_for(key, meta.secret)).transpose()?;
    let new = Environment::build(workshop, meta.generation, Mode::building(meta.format), meta.identity()?, meta.secret)?;
    let mut rewriting = Rewriting { vault: vault.as_ref(), old: site.from.vault().map(Arc::as_ref), keys: BTreeMap::new() };
    copy_values(
        &site.snapshot,
        &new,
        |key, stored, txn| {
            if is_exempt(key) { Ok(()) } else { rewriting.copy(&site.snapshot, txn, key, stored) }
        },
    )?;
    let mut txn = new.write()?;
    for (partition, (_, record)) in &rewriting.keys {
        txn.put_stored(record_of(*partition).as_slice(), record)?;
    }
    Meta { sealed, ..meta }.write(&mut txn)?;
    txn.commit()?;
    let new = match vault {
        Some(vault) => new.encrypted_by(vault),
        None => new,
    };
    rehash.map_or(Ok(()), |rehash| rehash(&new))?;
    Ok(new)
}

/// A copy under way: from the values of `old`, plain where it is none, to those of `vault`.
struct Rewriting<'v> {
    vault: Option<&'v Vault>,
    old: Option<&'v Vault>,
    /// The data keys of the copy, with the values of their records.
    keys: BTreeMap<Partition, (Arc<Cipher>, Vec<u8>)>,
}

impl Rewriting<'_> {
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
