//! The part that this process has in LMDB's reader table, `lock.mdb`.
//!
//! LMDB tells by two locks on that file who is there. A shared one on its first byte says that somebody is, and the next to open leaves
//! the table as it is. One on the byte whose number is the process's id says that the slots under that id are of a process that lives.
//! Both are POSIX locks: they belong to the process, and the system drops them as soon as any code in it closes any descriptor of the
//! file (a backup tool, `shutil.copytree`). Then the table would be reset under its readers, or their slots would be taken back, and writers
//! would write over the pages that they read. So both bytes are held by an open file description of our own, too, or instead. Such a lock
//! goes when that description is closed, and for no other reason, and LMDB does not mind whose lock it finds.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::store::files::own;
use crate::store::folder::io_error;
use crate::store::read_lock::is_read_only_mount;
use crate::{Error, ErrorKind, Result};

/// LMDB's byte of those who have the table open.
const EVERYBODY: libc::off_t = 0;

const SHARED: i16 = libc::F_RDLCK as i16;
const NONE: i16 = libc::F_UNLCK as i16;

/// The open reader table, with both locks.
#[derive(Debug)]
pub(super) struct ReaderTable {
    file: File,
    /// LMDB's byte of this process.
    own: libc::off_t,
}

impl ReaderTable {
    /// Joins those who have the table at `path` open. LMDB has it open in this process, and nobody has a snapshot here yet. None where the
    /// mount is read-only: LMDB does without the table there, and the next to open the store for writing has to find that nobody uses it.
    pub fn join(path: &Path, read_only: bool) -> Result<Option<Self>> {
        if read_only && is_read_only_mount(path) {
            return Ok(None);
        }
        let failed = |e: &std::io::Error| io_error("opening the store", path, e);
        let file = match own().read(true).open(path) {
            Err(e) if read_only && e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|e| failed(&e))?,
        };
        let table = Self { file, own: libc::off_t::from(std::process::id() as i32) };
        table.lock(libc::F_OFD_SETLK, SHARED, EVERYBODY).map_err(|e| failed(&e))?;
        // LMDB took this one for writing, which keeps our own description out, and never takes it again in this environment.
        table.lock(libc::F_SETLK, NONE, table.own).map_err(|e| failed(&e))?;
        table.lock(libc::F_OFD_SETLK, SHARED, table.own).map_err(|e| failed(&e))?;
        Ok(Some(table))
    }

    /// The file, for as long as this lives.
    pub fn file(&self) -> &File {
        &self.file
    }

    fn lock(&self, command: libc::c_int, kind: i16, byte: libc::off_t) -> std::io::Result<()> {
        // SAFETY: all zeros is a flock without a process id, as it must be for an open file description.
        let mut range: libc::flock = unsafe { std::mem::zeroed() };
        range.l_type = kind;
        range.l_whence = libc::SEEK_SET as i16;
        range.l_start = byte;
        range.l_len = 1;
        // SAFETY: the descriptor belongs to `file`, and `range` outlives the call.
        if unsafe { libc::fcntl(self.file.as_raw_fd(), command, &raw const range) } == 0 {
            return Ok(());
        }
        Err(std::io::Error::last_os_error())
    }
}

/// The error of a first snapshot for which LMDB finds the byte of this process taken: by an environment of the same files. The one that is
/// closed first would give up the slots of both.
pub(super) fn taken(path: &Path, error: &heed::Error) -> Option<Error> {
    let heed::Error::Io(e) = error else { return None };
    (e.raw_os_error() == Some(libc::EAGAIN)).then(|| {
        Error::new(
            ErrorKind::StoreIo,
            format!(
                "opening the store at {}: this process has it open by another path (its folder was renamed since, or is mounted twice), and \
                 would lose its snapshots with the first that is closed: close it there, and open it again",
                path.display()
            ),
        )
    })
}

/// A child that was forked and has not come to its `exec` has the description, too, and keeps its locks. LMDB, which takes the byte of this
/// process when the generation is opened again, must not find it taken.
impl Drop for ReaderTable {
    fn drop(&mut self) {
        let _ = self.lock(libc::F_OFD_SETLK, NONE, self.own);
    }
}
