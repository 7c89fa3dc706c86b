//! Replacing the generation of a store by one that is built beside it: a compaction, another key, a load, a step to another format.
//!
//! One commit replaces it: the record `Retired` in the old generation. A failure before it leaves the store as it was, and nothing of
//! the new generation. A failure after it undoes nothing: CURRENT is a hint, which every process that follows `Retired` corrects, and the
//! next process that opens the store for writing removes files that are left over.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::copy::copy;
use super::environment::{Environment, Snapshot};
use super::folder::{Folder, GenerationNumber};
use super::gate::{Store, outcome};
use super::meta::{self, Meta};
use crate::{Error, ErrorKind, Result, interrupt};

/// Where the next generation is built.
#[derive(Debug)]
pub(super) struct Site<'s> {
    folder: &'s Folder,
    /// The generation that is replaced.
    pub from: &'s Environment,
    /// All that is in it: nobody writes before it is replaced.
    pub snapshot: Snapshot,
    /// The number of the next one.
    pub number: GenerationNumber,
    /// The empty folder that becomes the next one.
    pub workshop: PathBuf,
}

impl Site<'_> {
    /// Finishes the environment that `build` makes in an empty folder. With `scrub` it is a draft, whose values are copied: `build` wrote
    /// some that it removed again, and nothing of them is to stand in free pages.
    pub fn build<T>(&self, scrub: bool, build: impl FnOnce(&Path) -> Result<(Environment, T)>) -> Result<T> {
        if !scrub {
            let (new, made) = build(&self.workshop)?;
            return new.finish().map(|()| made);
        }
        let draft = self.folder.workshop(self.number + 1)?;
        let made = build(&draft).and_then(|(new, made)| {
            let snapshot = new.snapshot()?;
            copy(&snapshot, &self.workshop, Meta::expect(&snapshot)?)?;
            drop(snapshot);
            new.close();
            Ok(made)
        });
        discard(&draft);
        made
    }
}

/// A generation that took the place of another.
#[derive(Debug)]
pub(super) struct Replaced<T> {
    /// The result of building it.
    pub made: T,
    /// Why files of the one before are still there, where they are.
    pub left: Option<Error>,
}

/// Replaces the generation `from` by the one that `build` makes; none where `build` gave up. The caller holds the writer lock. `doubt`
/// says what to do where nobody knows whether it was replaced.
pub(super) fn replace<T>(
    folder: &Folder,
    from: &Environment,
    doubt: &str,
    build: impl FnOnce(&Site<'_>) -> Result<Option<T>>,
) -> Result<Option<T>> {
    let (snapshot, number) = (from.snapshot()?, from.number() + 1);
    let site = Site { folder, from, snapshot, number, workshop: folder.workshop(number)? };
    let made = build(&site).and_then(|made| {
        let made = made.map(|made| switch(&site, doubt).map(|()| made));
        made.transpose()
    });
    if matches!(made, Ok(Some(_))) {
        let _ = folder.name_current(number);
    } else {
        discard(&site.workshop);
    }
    made
}

/// Publishes what was built and retires what it was built from: in one transaction, which is begun first, so that nothing is written
/// between the snapshot and the switch, also where the writers' lock was deleted.
fn switch(site: &Site<'_>, doubt: &str) -> Result<()> {
    let mut last = site.from.write()?;
    if last.id() != site.snapshot.id() + 1 {
        return Err(Error::new(
            ErrorKind::StoreBusy,
            format!(
                "replacing a generation of {}: nothing may be written while it is copied, and another process wrote: somebody removed the file `lock`; nothing was changed: try again",
                site.folder.root().display()
            ),
        ));
    }
    let published = site.folder.publish(&site.workshop, site.number).and_then(|()| meta::retire(&mut last, site.number));
    if let Err(error) = published {
        site.folder.withdraw(site.number); // before the transaction ends: nobody has switched to it
        return Err(error);
    }
    let id = last.id();
    // Also where a commit does not wait for its meta page: all that is written from now on depends on this one.
    last.commit().and_then(|()| site.from.sync()).map_err(|error| outcome(site.from, id, &error, doubt))
}

/// Replaces the generation that an open store uses, which it moves on from. `replaced` runs once it is replaced, before anybody looks.
pub(super) fn replace_open<T>(
    store: &Arc<Store>,
    busy_timeout: Duration,
    doubt: &str,
    build: impl Fn(&Site<'_>) -> Result<Option<T>>,
    replaced: impl Fn(),
) -> Result<Option<Replaced<T>>> {
    let made = store.exclusively(busy_timeout, |environment| {
        let made = replace(store.folder(), environment, doubt, &build)?;
        if made.is_some() {
            replaced();
        }
        Ok(made)
    })?;
    let Some(made) = made else { return Ok(None) };
    let tidied = interrupt::never(|| store.exclusively(busy_timeout, |environment| tidy(store.folder(), environment)));
    Ok(Some(Replaced { made, left: tidied.err() }))
}

/// Makes CURRENT name the generation in use, where it names another.
pub(super) fn name(folder: &Folder, environment: &Environment) -> Result<()> {
    let number = environment.number();
    if folder.current() == Some(number) { Ok(()) } else { while_in_use(environment, || folder.name_current(number)) }
}

/// Makes CURRENT name the generation in use, and removes the generations that are not.
pub(super) fn tidy(folder: &Folder, environment: &Environment) -> Result<()> {
    let number = environment.number();
    while_in_use(environment, || folder.name_current(number).and_then(|()| folder.sweep(number)))
}

/// Runs `work` inside a transaction of the generation, which keeps all others from switching meanwhile, unless it is no longer in use.
fn while_in_use(environment: &Environment, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let transaction = match environment.write() {
        Err(error) if error.kind() == ErrorKind::FilesReplaced => return Ok(()), // swept
        other => other?,
    };
    if meta::retired(&transaction)?.is_some() { Ok(()) } else { work() }
}

/// Makes the first generation of a folder that has none. Where that fails, the folder is empty again.
pub(super) fn found<T>(folder: &Folder, build: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    folder.make()?;
    let workshop = folder.workshop_of_copy()?;
    let made = build(&workshop).and_then(|made| {
        folder.publish(&workshop, 1)?;
        folder.name_current(1)?;
        Ok(made)
    });
    made.inspect_err(|_| {
        discard(&workshop);
        discard(&folder.generation(1));
        folder.unname();
    })
}

/// Removes a copy that came to nothing: on a full disk its room is what everyone waits for.
pub(super) fn discard(workshop: &Path) {
    let _ = std::fs::remove_dir_all(workshop); // what stays is swept by the next to open the store
}

/// The advice where it is unknown whether a generation was replaced, and both have the same content.
pub(super) const EITHER: &str =
    "the store is whole in this generation and in the next: open it again, and repeat the call if nothing changed";

/// The error of a generation that was replaced and whose files are still there. `now` says what is in force, `next` what to do.
pub(super) fn left_over(store: &Store, doing: &str, now: &str, why: &Error, next: &str) -> Error {
    Error::new(
        ErrorKind::StoreIo,
        format!(
            "{doing} {}: {now}, but files of the generation before could not be removed ({}): {next}",
            store.path().display(),
            why.message()
        ),
    )
    .with("outcome", "done")
}
