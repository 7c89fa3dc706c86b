//! The door: an exclusive `flock` on the file `door`, which a process holds while it opens an environment.
//!
//! LMDB's first opener resets the reader table: it sets the number of the last transaction to 0 and writes the true one at its very
//! end. If it fails or dies in between, a process that waits beside it goes on with 0, reads the tree of an old meta page and writes
//! over the new one. Behind the door nobody waits beside it: the next one finds either a table that a living process completed, or
//! no process at all, and then resets it again. The kernel opens the door when its holder dies.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Instant;

use super::files::{FileId, own};
use super::folder::{PRIVATE, io_error};
use super::waiting;
use super::writer_lock::flock;
use crate::{Error, ErrorKind, Result};

/// The door, which stays closed while this value exists.
#[derive(Debug)]
pub struct Door(File);

impl Door {
    /// Waits until nobody else opens an environment of the store in `folder`; [`ErrorKind::StoreBusy`] at `deadline`.
    pub fn enter(folder: &Path, deadline: Instant) -> Result<Self> {
        let path = folder.join("door");
        loop {
            let file = open(&path)?;
            let locked = waiting::until(deadline, || {
                let locked = flock(&file, libc::LOCK_EX | libc::LOCK_NB).map_err(|e| io_error("opening the store", &path, &e))?;
                Ok(locked.then_some(()))
            })?;
            if locked.is_none() {
                return Err(busy(folder));
            }
            // Somebody may have removed the file meanwhile: then another one is the door.
            if FileId::of(&file).is_ok_and(|id| id.is_at(&path)) {
                return Ok(Self(file));
            }
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = flock(&self.0, libc::LOCK_UN);
    }
}

fn open(path: &Path) -> Result<File> {
    let made = own().read(true).write(true).create(true).mode(PRIVATE).truncate(false).open(path);
    // Where this process may not write it may still be there, and flock asks for no right to write.
    made.or_else(|error| own().read(true).open(path).map_err(|_| error)).map_err(|e| io_error("opening the store", path, &e))
}

fn busy(folder: &Path) -> Error {
    Error::new(
        ErrorKind::StoreBusy,
        format!(
            "opening the store {}: processes open it one after another, and another one held its file `door` for as long as this one \
             was allowed to wait; nothing was changed: try again, or raise busy_timeout_seconds",
            folder.display()
        ),
    )
}
