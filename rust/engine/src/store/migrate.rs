//! Opening a store of an older format: each step copies it into a new generation, changed, and switches over like a compaction.
//!
//! The old generation is read and never changed but for its `retired` record, so that a process that dies on the way leaves
//! the store as it was. Stable in all formats, because they are read before the format's own reader could be: the manifest, the
//! envelope of a value, the keys and bodies of [`Table::Meta`] and [`Table::Retired`].
//! Processes with an older memspan that have the store open follow `retired` and are told to upgrade.

use std::time::Instant;

use super::copy::copy_values;
use super::environment::{Environment, Mode, Snapshot, WriteTransaction};
use super::folder::{FORMAT_VERSION, Folder, GenerationNumber, Manifest};
use super::generation::{self, Site};
use super::identity::{Secret, StoreId};
use super::keys::{Key, STORE, Table};
use super::meta::{self, Meta};
use super::writer_lock::WriterLock;
use crate::{Error, ErrorKind, Result};

/// Writes what becomes of one value of the old generation: itself, another, several, none. Chunks of a long body come one by
/// one; a step that changes such bodies joins them from the snapshot at chunk 0 and drops the others.
pub type Transform = fn(old: &Snapshot, key: &[u8], value: &[u8], new: &mut WriteTransaction<'_>) -> Result<()>;

/// The formats that an engine knows: the one it writes, and how to get there from each before it.
#[derive(Debug, Clone, Copy)]
pub struct Formats {
    /// The format of every store that is open.
    pub newest: u32,
    /// The step from format `n` to `n + 1`, oldest first, ending at `newest`; formats before the first are not read any more.
    pub steps: &'static [Transform],
}

impl Formats {
    /// The formats of this version of memspan. Format 2 added sessions and a field of the head, format 3 collections, vectors of messages
    /// and what was learned of models, format 4 the identity of a store, format 5 encryption, format 6 vectors of 16 bits a component and
    /// the tokens of a memory's text, format 7 collections whose words are stems, format 8 the log: each only adds, and every value of the
    /// formats before stays as it is.
    pub const KNOWN: Self = Self { newest: FORMAT_VERSION, steps: &[keep, keep, keep, keep, keep, keep, keep] };

    fn step_from(self, format: u32) -> Option<Transform> {
        let behind = self.newest.checked_sub(format)? as usize;
        self.steps.len().checked_sub(behind).and_then(|at| self.steps.get(at)).copied()
    }
}

/// The step to a format that only adds.
fn keep(_: &Snapshot, key: &[u8], value: &[u8], new: &mut WriteTransaction<'_>) -> Result<()> {
    new.append(key, value)
}

/// Brings the store to the newest format, if it is of an older one. Nothing of the store may be open in this process.
pub fn to_newest(folder: &Folder, formats: Formats, read_only: bool, deadline: Instant) -> Result<()> {
    let (_, format) = in_use(folder, formats, deadline)?;
    if format >= formats.newest {
        return Ok(()); // where it is newer, opening says so
    }
    if read_only {
        return Err(older(folder, format, formats, "and it is opened read-only: open it once without read_only=True"));
    }
    let lock = WriterLock::open(folder.root())?;
    let _guard = lock.acquire(deadline)?;
    loop {
        let (number, format) = in_use(folder, formats, deadline)?; // again: another process may have been faster
        if format >= formats.newest {
            return Ok(());
        }
        let step = formats.step_from(format);
        let step = step
            .ok_or_else(|| older(folder, format, formats, "which this memspan does not read any more: open it with an older one first"))?;
        run(folder, number, format, step, deadline)?;
    }
}

/// The generation in use and its format.
fn in_use(folder: &Folder, formats: Formats, deadline: Instant) -> Result<(GenerationNumber, u32)> {
    for _ in 0..100 {
        let number = folder.start()?;
        match follow(folder, formats, number, deadline) {
            Err(_) if !folder.generation(number).is_dir() => {} // swept since CURRENT was read: read it again
            other => return other,
        }
    }
    follow(folder, formats, folder.start()?, deadline)
}

/// From generation `number` on along what is retired.
fn follow(folder: &Folder, formats: Formats, mut number: GenerationNumber, deadline: Instant) -> Result<(GenerationNumber, u32)> {
    loop {
        let format = Manifest::read(&folder.generation(number), formats.newest)?.format;
        if format >= formats.newest {
            return Ok((number, format));
        }
        let old = open_old(folder, number, format, true, deadline)?;
        let next = old.snapshot().and_then(|snapshot| meta::retired(&snapshot));
        old.close();
        match next? {
            Some(next) => number = next,
            None => return Ok((number, format)),
        }
    }
}

fn open_old(folder: &Folder, number: GenerationNumber, format: u32, read_only: bool, deadline: Instant) -> Result<Environment> {
    let mode = Mode { read_only, relaxed: false, building: false, format };
    if read_only { Environment::open(folder, number, mode, deadline) } else { Environment::open_locked(folder, number, mode, deadline) }
}

/// One step: `number` of `format` becomes the next generation, of the next format.
fn run(folder: &Folder, number: GenerationNumber, format: u32, step: Transform, deadline: Instant) -> Result<()> {
    let old = open_old(folder, number, format, false, deadline)?;
    let replaced = generation::replace(folder, &old, generation::EITHER, |site| rewrite(site, format + 1, step).map(Some));
    old.close();
    replaced.map(drop)
}

/// Writes every value of a generation, changed, into the next one, and syncs it.
fn rewrite(site: &Site<'_>, format: u32, step: Transform) -> Result<()> {
    let old = Meta::read(&site.snapshot)?;
    let id = old.and_then(|meta| meta.store).map_or_else(StoreId::random, Ok)?;
    let secret = match old {
        Some(Meta { store: Some(_), secret, .. }) => secret,
        _ => Secret::unkeyed()?,
    };
    let meta = Meta {
        format,
        created_at: old.map_or(0, |meta| meta.created_at),
        store: Some(id),
        generation: site.number,
        secret,
        sealed: old.and_then(|meta| meta.sealed),
    };
    let new = Environment::build(&site.workshop, site.number, Mode::building(format), id, secret)?;
    let own = [Key::new(STORE, Table::Meta), Key::new(STORE, Table::Retired)];
    copy_values(&site.snapshot, &new, |key, value, txn| {
        if own.iter().any(|own| own.as_slice() == key) { Ok(()) } else { step(&site.snapshot, key, value, txn) }
    })?;
    let mut txn = new.write()?;
    meta.write(&mut txn)?;
    txn.commit()?;
    new.finish()
}

fn older(folder: &Folder, format: u32, formats: Formats, next: &str) -> Error {
    Error::new(
        ErrorKind::StoreVersion,
        format!(
            "opening {}: this memspan works on format {}, the store has format {format}, {next}",
            folder.root().display(),
            formats.newest
        ),
    )
    .with("format", i64::from(format))
}

#[cfg(test)]
#[path = "migrate_tests.rs"]
mod tests;
