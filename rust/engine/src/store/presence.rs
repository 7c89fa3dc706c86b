//! Who else has the store open: the file `open`, on which every open store holds a shared `flock`.
//!
//! LMDB's reader table and its mutex work only between processes that see each other's process ids and share one C
//! library. The first to open writes the identity of its world. A process that joins later must live in the same one.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Instant;

use super::files::own;
use super::folder::{PRIVATE, io_error};
use super::waiting;
use super::writer_lock::flock;
use crate::{Error, ErrorKind, Result};

/// File systems whose locks or maps are not shared between machines: LMDB must not run there.
const NETWORK_FILE_SYSTEMS: [(i64, &str); 9] = [
    (0x6969, "NFS"),
    (0x517B, "SMB"),
    (0xFF53_4D42, "CIFS"),
    (0xFE53_4D42, "SMB2"),
    (0x0102_1997, "9p"),
    (0x5346_414F, "AFS"),
    (0x00C3_6400, "Ceph"),
    (0x0BD0_0BD0, "Lustre"),
    (0x7461_636F, "OCFS2"),
];

/// The shared lock that says "this store is open here".
#[derive(Debug)]
pub struct Presence {
    file: File,
}

impl Presence {
    /// Announces this process; refuses where another world has the store open.
    ///
    /// A process that finds nobody writes the file anew. The change from the exclusive lock to the shared one is not one step, and a
    /// process that dies on the way leaves the file half written and unlocked. So each round begins with the exclusive one, and the
    /// content of the file counts only under the shared one.
    pub fn announce(folder: &Path, deadline: Instant) -> Result<Self> {
        let path = folder.join("open");
        let failed = |e: &std::io::Error| io_error("announcing this process", &path, e);
        let file = own().read(true).write(true).create(true).mode(PRIVATE).truncate(false).open(&path).map_err(|e| failed(&e))?;
        let (ours, mut theirs) = (identity(), String::new());
        let announced = waiting::until(deadline, || {
            if flock(&file, libc::LOCK_EX | libc::LOCK_NB).map_err(|e| failed(&e))? {
                file.set_len(0).and_then(|()| file.write_all_at(ours.as_bytes(), 0)).map_err(|e| failed(&e))?;
            }
            if !flock(&file, libc::LOCK_SH | libc::LOCK_NB).map_err(|e| failed(&e))? {
                return Ok(None);
            }
            theirs = read(&file).map_err(|e| failed(&e))?;
            Ok((!theirs.is_empty()).then_some(()))
        })?;
        match announced {
            None => Err(busy(folder)),
            Some(()) if theirs == ours => Ok(Self { file }),
            Some(()) => Err(elsewhere(folder, &theirs, &ours)),
        }
    }

    /// Whether no other process, and nobody else in this one, has the store open; from then on nobody can open it until this is dropped.
    #[must_use]
    pub fn is_last(&self) -> bool {
        flock(&self.file, libc::LOCK_EX | libc::LOCK_NB).unwrap_or(false)
    }
}

fn read(file: &File) -> std::io::Result<String> {
    let mut bytes = [0; 1024];
    let length = file.read_at(&mut bytes, 0)?;
    Ok(String::from_utf8_lossy(&bytes[..length]).into_owned())
}

fn busy(folder: &Path) -> Error {
    Error::new(
        ErrorKind::StoreBusy,
        format!(
            "opening the store {}: its file `open` must be free or shared, and another process held it alone for as long as this one was \
             allowed to wait; nothing was changed: try again, or raise busy_timeout_seconds",
            folder.display()
        ),
    )
}

/// Boot, process-id namespace and C library of this process.
fn identity() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let pids = std::fs::read_link("/proc/self/ns/pid").map(|p| p.display().to_string()).unwrap_or_default();
    format!("boot={}\npids={pids}\nlibc={}\n", boot.trim(), libc_name())
}

/// The C library that this engine was built for.
#[must_use]
pub fn libc_name() -> &'static str {
    if cfg!(target_env = "musl") { "musl" } else { "gnu" }
}

fn elsewhere(folder: &Path, theirs: &str, ours: &str) -> Error {
    let flat = |world: &str| world.trim().replace('\n', ", ");
    Error::new(
        ErrorKind::StoreNotShareable,
        format!(
            "opening the store {}: all processes that have it open must share one process-id namespace, one boot and one C library, \
             but it is open in ({}) and this is ({}): run them in one container (or with a shared pid namespace), or give each its own store",
            folder.display(),
            flat(theirs),
            flat(ours)
        ),
    )
}

/// Refuses a folder on a network file system.
pub fn check_file_system(folder: &Path) -> Result<()> {
    let Ok(path) = std::ffi::CString::new(folder.as_os_str().as_encoded_bytes()) else { return Ok(()) };
    let mut stat = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: `path` is NUL-terminated and `stat` is a writable statfs, zeroed, that is read only after success.
    let kind = unsafe {
        if libc::statfs(path.as_ptr(), stat.as_mut_ptr()) != 0 {
            return Ok(());
        }
        i64::from(stat.assume_init().f_type as u32)
    };
    match NETWORK_FILE_SYSTEMS.iter().find(|(magic, _)| *magic == kind) {
        None => Ok(()),
        Some((_, name)) => Err(Error::new(
            ErrorKind::StoreNotShareable,
            format!(
                "opening the store {}: its folder must be on a local file system, and this is {name}, whose maps and locks are not \
                 shared between machines: put the store on a local disk",
                folder.display()
            ),
        )
        .with("file_system", *name)),
    }
}
