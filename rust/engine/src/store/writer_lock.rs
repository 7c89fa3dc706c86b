//! The one advisory lock between writers: the file `lock` beside `CURRENT`, held with `flock` around every write.
//!
//! LMDB has a lock of its own, which waits for ever; this one gives up after a timeout and can say who holds it.
//! `flock` belongs to the open file, so that closing another descriptor of the same file does not drop it (as POSIX
//! record locks do), and the kernel takes it back when a process dies. For the same reason it does not tell the threads of a
//! process apart: a process can take it twice. So a flag in memory orders its threads first.

use std::fs::File;
use std::io::ErrorKind as IoKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::files::{own, require_named};
use super::folder::{PRIVATE, io_error};
use super::waiting;
use crate::process::lock;
use crate::{Error, ErrorKind, Result};

/// The lock's file, open.
#[derive(Debug)]
pub struct WriterLock {
    file: File,
    path: PathBuf,
    /// Whether a thread of this process holds it. Taken only while the gate is open, so that no fork leaves it taken.
    taken: Mutex<bool>,
    released: Condvar,
}

/// The lock, held until dropped.
#[derive(Debug)]
pub struct WriterGuard<'l>(&'l WriterLock);

impl WriterLock {
    /// Opens the lock's file, making it where it is missing.
    pub fn open(folder: &Path) -> Result<Self> {
        let path = folder.join("lock");
        let file = own().read(true).write(true).create(true).mode(PRIVATE).truncate(false).open(&path);
        let file = file.map_err(|e| io_error("opening the writer lock", &path, &e))?;
        Ok(Self { file, path, taken: Mutex::new(false), released: Condvar::new() })
    }

    /// Waits for the lock until `deadline`; [`ErrorKind::StoreBusy`] names the holder.
    pub fn acquire(&self, deadline: Instant) -> Result<WriterGuard<'_>> {
        let started = Instant::now();
        if !self.take(deadline) {
            return Err(self.busy(started.elapsed()));
        }
        // From here on the guard gives back what was taken, also where the wait for other processes fails.
        let guard = WriterGuard(self);
        let locked = waiting::until(deadline, || {
            let locked =
                flock(&self.file, libc::LOCK_EX | libc::LOCK_NB).map_err(|e| io_error("taking the writer lock", &self.path, &e))?;
            Ok(locked.then_some(()))
        })?;
        if locked.is_none() {
            let shared = flock(&self.file, libc::LOCK_SH | libc::LOCK_NB).unwrap_or(false); // given back with the guard
            return Err(if shared { self.is_read(started.elapsed()) } else { self.busy(started.elapsed()) });
        }
        require_named(&self.file, &self.path)?;
        self.sign();
        Ok(guard)
    }

    /// Takes the lock among the threads of this process; `false` where another kept it until `deadline`.
    fn take(&self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let waited = self.released.wait_timeout_while(lock(&self.taken), left, |taken| *taken);
        let (mut taken, timeout) = waited.unwrap_or_else(PoisonError::into_inner);
        *taken = true;
        !timeout.timed_out()
    }

    /// Writes the holder of the lock, for the error of a process that waits in vain. Nothing depends on it.
    fn sign(&self) {
        let _ = self.file.write_at(&std::process::id().to_le_bytes(), 0);
    }

    fn holder(&self) -> u32 {
        let mut bytes = [0; 4];
        self.file.read_exact_at(&mut bytes, 0).map_or(0, |()| u32::from_le_bytes(bytes))
    }

    fn busy(&self, waited: Duration) -> Error {
        let holder = self.holder();
        Error::new(
            ErrorKind::StoreBusy,
            format!(
                "writing to the store {}: one writer at a time, and process {holder} held the lock when the time that this write was \
                 allowed to wait ran out; nothing was written: try again, or raise busy_timeout_seconds",
                self.path.parent().unwrap_or(&self.path).display(),
            ),
        )
        .with("holder", i64::from(holder))
        .with("waited_seconds", waited.as_secs_f64())
    }

    /// The error where readers hold it, each a [`super::read_lock::ReadLock`].
    fn is_read(&self, waited: Duration) -> Error {
        Error::new(
            ErrorKind::StoreBusy,
            format!(
                "writing to the store {}: a process reads it on a mount that is read-only, where it can only hold the writers' lock, \
                 and did so for as long as this write was allowed to wait; nothing was written: close it there, or mount it writable",
                self.path.parent().unwrap_or(&self.path).display(),
            ),
        )
        .with("waited_seconds", waited.as_secs_f64())
    }
}

impl Drop for WriterGuard<'_> {
    fn drop(&mut self) {
        let _ = flock(&self.0.file, libc::LOCK_UN);
        *lock(&self.0.taken) = false;
        self.0.released.notify_one();
    }
}

/// One `flock` call: `false` where another holds the lock.
pub fn flock(file: &File, operation: i32) -> std::io::Result<bool> {
    loop {
        // SAFETY: the descriptor belongs to `file`, which outlives the call; flock touches no memory of ours.
        if unsafe { libc::flock(file.as_raw_fd(), operation) } == 0 {
            return Ok(true);
        }
        let error = std::io::Error::last_os_error();
        match error.kind() {
            IoKind::WouldBlock => return Ok(false),
            IoKind::Interrupted => {}
            _ => return Err(error),
        }
    }
}
