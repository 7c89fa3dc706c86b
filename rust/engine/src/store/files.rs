//! Whether an open file is still the one at its path.
//!
//! A file that was removed, or replaced by a rename, lives on behind its descriptor. Locks on it keep nobody out, and
//! data written to it is gone with the process.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::{Error, ErrorKind, Result};

/// An error, for the gate alone, where the open file has no name any more: it was removed, or another one was renamed over it.
pub fn require_named(file: &File, path: &Path) -> Result<()> {
    if file.metadata().is_ok_and(|metadata| metadata.nlink() > 0) { Ok(()) } else { Err(replaced(path)) }
}

/// Which file it is: unique among the files that exist, and those that are open, on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    /// Its number in the file system: another one in every copy.
    pub inode: u64,
}

impl FileId {
    /// The identity of an open file.
    pub fn of(file: &File) -> std::io::Result<Self> {
        file.metadata().map(|metadata| Self { device: metadata.dev(), inode: metadata.ino() })
    }

    /// Whether `path` leads to this file.
    #[must_use]
    pub fn is_at(self, path: &Path) -> bool {
        std::fs::metadata(path).is_ok_and(|metadata| (metadata.dev(), metadata.ino()) == (self.device, self.inode))
    }

    /// An error, for the gate alone, where `path` leads elsewhere.
    pub fn require_at(self, path: &Path) -> Result<()> {
        if self.is_at(path) { Ok(()) } else { Err(replaced(path)) }
    }
}

fn replaced(path: &Path) -> Error {
    Error::new(
        ErrorKind::FilesReplaced,
        format!(
            "using the store's file {}: it must stay in its place while it is open, and it was removed, renamed or replaced; nothing was \
             written to it: the store is opened anew: try again",
            path.display()
        ),
    )
    .with("path", path.display().to_string())
}

/// How the files of a store are opened: a symbolic link in the place of one is refused. By one, somebody who can write to the folder would
/// have this process write to a file elsewhere, or read one. The folder itself may be a link.
#[must_use]
pub fn own() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.custom_flags(libc::O_NOFOLLOW);
    options
}

/// Opens a file for reading. Opening a pipe in its place would wait without end for somebody to write to it.
pub fn open_regular(path: &Path) -> std::io::Result<File> {
    let kind = std::fs::symlink_metadata(path)?.file_type();
    if kind.is_file() || kind.is_symlink() { own().read(true).open(path) } else { Err(std::io::ErrorKind::Unsupported.into()) }
}

/// The text of such a file.
pub fn read_text(path: &Path) -> std::io::Result<String> {
    std::io::read_to_string(open_regular(path)?)
}
