//! A reader on a mount that it may not write to, of files to which others may write by another mount.
//!
//! LMDB opens its reader table for writing, and does without where the mount is read-only. Such a reader has no slot in it, and writers
//! would write over the pages that it reads. `flock` needs no right to write, and reaches every mount of a file. So the reader holds the
//! writers' lock, shared, for as long as it has the store open: nobody commits meanwhile. It does not stand in the way of those who had the
//! store open before it came, and is refused beside them. Where nobody can write, as on a medium that is read-only, it meets nobody.

use std::fs::File;
use std::mem::MaybeUninit;
use std::path::Path;
use std::time::{Duration, Instant};

use super::files::own;
use super::folder::io_error;
use super::waiting;
use super::writer_lock::flock;
use crate::{Error, ErrorKind, Result};

/// How long the file `open` is tried: another such reader holds it for a moment, too.
const PATIENCE: Duration = Duration::from_millis(200);

/// The writers' lock, shared among readers of a read-only mount.
#[derive(Debug)]
pub struct ReadLock {
    /// None where the file is not there, since nobody has opened the store for writing yet.
    _file: Option<File>,
}

impl ReadLock {
    /// Holds off writers of the store in `folder`, where that is on a read-only mount; none elsewhere.
    ///
    /// # Errors
    /// `StoreNotShareable` where a process has the store open.
    pub fn where_needed(folder: &Path, deadline: Instant) -> Result<Option<Self>> {
        if is_read_only_mount(folder) { Self::hold(folder, deadline).map(Some) } else { Ok(None) }
    }

    /// Waits for the write that is under way until `deadline`, and holds off the next one.
    fn hold(folder: &Path, deadline: Instant) -> Result<Self> {
        refuse_beside_others(folder)?; // those wait for nothing here
        let Some(file) = open(folder, "lock")? else { return Ok(Self { _file: None }) };
        match waiting::until(deadline, || Ok(is_locked(&file, libc::LOCK_SH).then_some(())))? {
            None => Err(in_use(folder)),
            // Who came between the two looks has written by now, or cannot.
            Some(()) => refuse_beside_others(folder).map(|()| Self { _file: Some(file) }),
        }
    }
}

/// Refuses where a process has the store open: it holds the file `open`.
fn refuse_beside_others(folder: &Path) -> Result<()> {
    let Some(file) = open(folder, "open")? else { return Ok(()) };
    let alone = waiting::until(Instant::now() + PATIENCE, || Ok(is_locked(&file, libc::LOCK_EX).then_some(())))?;
    alone.ok_or_else(|| in_use(folder)) // and the lock goes with the descriptor
}

/// Takes a lock; `false` where another holds it. A file system without locks has no writers: they need them.
fn is_locked(file: &File, operation: i32) -> bool {
    flock(file, operation | libc::LOCK_NB).unwrap_or(true)
}

fn open(folder: &Path, name: &str) -> Result<Option<File>> {
    let path = folder.join(name);
    match own().read(true).open(&path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some).map_err(|e| io_error("opening the store", &path, &e)),
    }
}

/// Whether nothing can be written to `path` because of its mount or its file system. False where the system does not say.
#[must_use]
pub fn is_read_only_mount(path: &Path) -> bool {
    let Ok(path) = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()) else { return false };
    let mut stat = MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: `path` is NUL-terminated and `stat` is a writable statvfs, zeroed, that is read only after success.
    unsafe { libc::statvfs(path.as_ptr(), stat.as_mut_ptr()) == 0 && stat.assume_init().f_flag & libc::ST_RDONLY != 0 }
}

fn in_use(folder: &Path) -> Error {
    Error::new(
        ErrorKind::StoreNotShareable,
        format!(
            "opening the store {} read-only: a process has it open, and a reader cannot announce itself to writers on this mount, which is \
             read-only: mount it writable, or read a backup",
            folder.display()
        ),
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that unwraps fails, as it should
mod tests {
    use super::*;
    use crate::store::presence::Presence;
    use crate::store::writer_lock::WriterLock;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(50)
    }

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("memspan-read-lock-{name}-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        folder
    }

    #[test]
    fn readers_that_cannot_announce_themselves_keep_writers_out_who_come_later() {
        let folder = folder("later");
        let ReadLock { _file: lock } = ReadLock::hold(&folder, soon()).unwrap();
        assert!(lock.is_none(), "nobody ever opened it");
        let writers = WriterLock::open(&folder).unwrap();
        let readers = [ReadLock::hold(&folder, soon()).unwrap(), ReadLock::hold(&folder, soon()).unwrap()];
        let presence = Presence::announce(&folder, soon()).unwrap();
        let busy = writers.acquire(soon()).unwrap_err();
        assert_eq!(busy.kind(), ErrorKind::StoreBusy);
        assert!(busy.message().contains("a mount that is read-only"), "{busy}");
        drop(readers);
        drop(writers.acquire(soon()).unwrap());
        drop(presence);
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn such_a_reader_is_refused_beside_those_who_have_the_store_open() {
        let folder = folder("beside");
        let (presence, writers) = (Presence::announce(&folder, soon()).unwrap(), WriterLock::open(&folder).unwrap());
        let refused = ReadLock::hold(&folder, soon()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::StoreNotShareable);
        drop(writers.acquire(Instant::now()).unwrap()); // which it left free
        drop(presence);
        let guard = writers.acquire(Instant::now()).unwrap();
        assert!(ReadLock::hold(&folder, soon()).is_err(), "a write is under way, and may come to its end");
        drop(guard);
        drop(ReadLock::hold(&folder, soon()).unwrap());
        assert!(ReadLock::where_needed(&folder, soon()).unwrap().is_none(), "here a reader can write its lock");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
