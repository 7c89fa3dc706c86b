//! Filling an empty store with the values of another: a new generation is built beside the empty one, and takes its place by the
//! switch of a compaction. So all of it is there or nothing, whenever the process dies.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::copy::BATCH_BYTES;
use super::environment::{Environment, Mode, Snapshot};
use super::fork;
use super::gate::Store;
use super::generation::{self, Site};
use super::identity::{Secret, Seed};
use super::meta::Meta;
use super::pages::{Pages, PagesMut};
use super::vault::rekey::Rehash;
use super::vault::{StoreKey, Vault, is_exempt};
use crate::{Error, ErrorKind, Result};

/// Takes a key and its value.
pub type Put<'p> = dyn FnMut(&[u8], &[u8]) -> Result<()> + 'p;

/// Where values come from.
pub trait Values {
    /// When their store was made, microseconds since 1970 (UTC), and the key of its hashes.
    fn origin(&self) -> (i64, Secret);
    /// Gives the next values to `put`, in the order of their keys; whether there were any.
    fn next(&mut self, put: &mut Put<'_>) -> Result<bool>;
}

/// Loads values into an empty store and returns how many it has then. A body of several chunks counts once. `open` starts reading, and
/// starts again if another process compacts meanwhile. `check` can refuse the values before anyone sees them. An encrypted store has its
/// words hashed anew by `rehash`, where the hashes that come along would tell them. `complete` adds what the values of an older version
/// lack.
pub fn load<V: Values>(
    store: &Arc<Store>,
    busy_timeout: Duration,
    open: impl Fn() -> Result<V>,
    check: impl Fn(&Snapshot) -> Result<()>,
    rehash: Rehash<'_>,
    complete: Rehash<'_>,
) -> Result<u64> {
    let build = |site: &Site<'_>| {
        check_empty(store, &site.snapshot)?;
        let (mut values, id) = (open()?, Meta::expect(&site.snapshot)?.identity()?);
        let (created_at, origin) = values.origin();
        let rehash = (store.key().is_some() && origin.tells_words()).then_some(rehash);
        let secret = if rehash.is_some() { origin.telling_no_words() } else { origin };
        let meta = Meta { format: store.format(), created_at, store: Some(id), generation: site.number, secret, sealed: None };
        let fill = |workshop: &Path| {
            let (new, loaded) = fill(store.key().as_deref(), workshop, meta, &mut values)?;
            rehash.map_or(Ok(()), |rehash| rehash(&new))?;
            complete(&new)?;
            check(&new.snapshot()?)?;
            Ok((new, loaded))
        };
        // Hashes that came along would stand in free pages, and data keys that are put between values leave pages half full.
        site.build(store.key().is_some(), fill).map(Some)
    };
    let loaded = fork::giving_way(|| generation::replace_open(store, busy_timeout, generation::EITHER, build, || ()))?;
    Ok(loaded.map_or(0, |loaded| loaded.made)) // and what is left of the one before was empty
}

/// Refuses what was hashed before its store took another secret: it was empty then, and what was loaded into it came between, or it got a
/// key.
pub fn check_seed(prepared: Seed, stored: Seed) -> Result<()> {
    if prepared == stored {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::StoreBusy,
        "writing to a store: an export was loaded into it, or it got a key, while this was prepared; nothing was written: do it again",
    ))
}

fn check_empty(store: &Store, snapshot: &Snapshot) -> Result<()> {
    let mut is_empty = true;
    snapshot.scan(&[0], &[u8::MAX; 32], &mut |key, _| {
        is_empty = is_exempt(key);
        Ok(if is_empty { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    if is_empty {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "loading into {}: the store must be empty, and something was written to it: load into a new one",
        store.path().display()
    )))
}

/// Writes values into the generation in `workshop` that `meta` describes, encrypted where there is a key; and how many.
fn fill(key: Option<&StoreKey>, workshop: &Path, meta: Meta, values: &mut impl Values) -> Result<(Environment, u64)> {
    let mut new = Environment::build(workshop, meta.generation, Mode::building(meta.format), meta.identity()?, meta.secret)?;
    let mut sealed = None;
    if let Some(key) = key {
        let vault = Vault::new()?;
        sealed = Some(vault.seal_for(key, meta.secret)?);
        new = new.encrypted_by(vault);
    }
    let mut txn = new.write()?;
    Meta { sealed, ..meta }.write(&mut txn)?;
    let (mut bytes, mut loaded) = (0, 0);
    let mut goes_on = true;
    while goes_on {
        goes_on = values.next(&mut |key, value| {
            bytes += key.len() + value.len();
            // Data keys are put between what is loaded, out of the order of keys.
            if sealed.is_some() { txn.put(key, value) } else { txn.append(key, value) }
        })?;
        loaded += u64::from(goes_on);
        if bytes >= BATCH_BYTES || !goes_on {
            txn.commit()?;
            (txn, bytes) = (new.write()?, 0);
        }
    }
    drop(txn);
    Ok((new, loaded))
}
