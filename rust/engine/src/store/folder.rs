//! The files of a store: `CURRENT`, `lock`, `open`, and one folder a generation.
//!
//! ```text
//! assistant.memspan/
//!   CURRENT        "gen-1\n": a hint where to begin; the `retired` record inside a generation is the switch
//!   lock           the writers' lock                        (writer_lock)
//!   open           who has the store open                   (presence)
//!   door           who is opening it                        (door)
//!   gen-1/manifest format, identity, page size, C library   (plain text, read before anything is mapped)
//!   gen-1/progress the last transaction acknowledged        (progress)
//!   gen-1/log      the pages of the last commits            (log)
//!   gen-1/data.mdb, gen-1/lock.mdb                          (LMDB's own)
//! ```
//!
//! A generation is built under another name and renamed when it is whole; a folder named `gen-N` is never half there.

use std::fs::{self, DirBuilder, File};
use std::io::{ErrorKind as IoKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::files::{own, read_text};
use super::identity::StoreId;
use super::presence::libc_name;
use crate::{Error, ErrorKind, Field, Result};

/// The layout of the bytes that this engine writes; `docs/format.md` has one chapter a version.
pub const FORMAT_VERSION: u32 = 8;
/// The folder in which the copy of a store is built.
const COPY: &str = "gen-1.copy";

/// The first format whose generations say which store they are of.
const FORMAT_WITH_IDENTITY: u32 = 4;
/// Generations of this format and later ones have a log.
pub const FORMAT_WITH_LOG: u32 = 8;

/// The mode of files that only their owner may read: a user who can read a lock can hold it, and stop everybody.
pub const PRIVATE: u32 = 0o600;
/// The mode of folders that only their owner may read.
const PRIVATE_FOLDER: u32 = 0o700;

/// Number of a generation: 1, then one more with each compaction, migration or restore.
pub type GenerationNumber = u32;

/// A store's folder.
#[derive(Debug, Clone)]
pub struct Folder {
    root: PathBuf,
}

/// The kind of object at a path that is to be opened.
#[derive(Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing, or an empty folder.
    Nothing,
    /// A store.
    Store,
}

impl Folder {
    /// The folder at `root`; nothing is touched.
    #[must_use]
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// The folder itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The kind of object there. A file, or a folder with something else in it, is an error.
    pub fn look(&self) -> Result<Found> {
        let entries = match fs::read_dir(&self.root) {
            Ok(entries) => entries,
            Err(e) if e.kind() == IoKind::NotFound => return Ok(Found::Nothing),
            Err(e) if e.kind() == IoKind::NotADirectory => return Err(self.foreign("a store is a folder, and this is a file")),
            Err(e) => return Err(io_error("opening the store", &self.root, &e)),
        };
        let (mut other, mut renamed, mut copying) = (None::<String>, None, false);
        for entry in entries {
            let entry = entry.map_err(|e| io_error("reading the store's folder", &self.root, &e))?;
            match entry.file_name().to_str() {
                Some("CURRENT") => return Ok(Found::Store),
                Some(name) if generation_number(name).is_some() => return Ok(Found::Store),
                Some("lock" | "open" | "door") => {}
                Some(name) if name.starts_with("gen-") && Path::new(name).extension().is_some_and(|end| end == "new") => {}
                Some(COPY) => copying = true,
                Some(name) if name.starts_with("gen-") => renamed = Some(name.to_owned()),
                Some("lost+found") if is_empty(&entry.path()) => {} // of the file system that is mounted here
                _ => other = other.into_iter().chain([entry.file_name().to_string_lossy().into_owned()]).min(),
            }
        }
        match renamed {
            Some(name) => Err(self.renamed(&name)),
            None if copying => Err(self.unfinished()),
            None => {
                other.map_or(Ok(Found::Nothing), |name| Err(self.foreign(&format!("it holds other files ({name:?} first) and no CURRENT"))))
            }
        }
    }

    fn renamed(&self, name: &str) -> Error {
        corrupt(&self.root, &format!("it holds only {name}, a generation of a store that was renamed"))
    }

    fn unfinished(&self) -> Error {
        Error::new(
            ErrorKind::StoreCorrupt,
            format!(
                "opening {}: it holds a copy of a store that is being made, or whose process died: wait for it, or remove the folder and make the copy again",
                self.root.display()
            ),
        )
    }

    fn foreign(&self, why: &str) -> Error {
        Error::new(
            ErrorKind::StoreCorrupt,
            format!(
                "opening {}: this is not a memspan store: {why}; give the path of a store, or of a folder that does not exist yet",
                self.root.display()
            ),
        )
    }

    /// Makes the folder, and those above it; behind a power cut it has its name.
    pub fn make(&self) -> Result<()> {
        let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let missing: Vec<&Path> = self.root.ancestors().skip(1).take_while(is_missing).collect();
        let make = || {
            self.root.parent().map_or(Ok(()), fs::create_dir_all)?;
            DirBuilder::new().recursive(true).mode(PRIVATE_FOLDER).create(&self.root)
        };
        make().map_err(|e| io_error("making the store's folder", &self.root, &e))?;
        // Its own name in any case: who made it before may have died.
        std::iter::once(self.root.as_path()).chain(missing).try_for_each(sync_name)
    }

    /// The folder of a generation.
    #[must_use]
    pub fn generation(&self, number: GenerationNumber) -> PathBuf {
        self.root.join(format!("gen-{number}"))
    }

    /// A fresh, empty folder in which a generation can be built.
    pub fn workshop(&self, number: GenerationNumber) -> Result<PathBuf> {
        self.workshop_named(&format!("gen-{number}.new"))
    }

    /// A fresh, empty folder for the copy of a store. Where it is never finished, the folder is not opened: an empty store would look like
    /// the copy.
    pub fn workshop_of_copy(&self) -> Result<PathBuf> {
        self.workshop_named(COPY)
    }

    fn workshop_named(&self, name: &str) -> Result<PathBuf> {
        let path = self.root.join(name);
        let made = match fs::remove_dir_all(&path) {
            Err(e) if e.kind() != IoKind::NotFound => Err(e),
            _ => DirBuilder::new().mode(PRIVATE_FOLDER).create(&path),
        };
        made.map_err(|e| io_error("making room for a generation", &path, &e))?;
        Ok(path)
    }

    /// Gives a finished generation its name, durably. One that has the name already was published and never switched to (the
    /// process died between): nobody has it open, and it lacks what was written since. The caller holds the writer lock.
    pub fn publish(&self, workshop: &Path, number: GenerationNumber) -> Result<()> {
        let path = self.generation(number);
        sync_folder(workshop)?;
        if path.is_dir() {
            self.set_aside(number)?;
        }
        fs::rename(workshop, &path).map_err(|e| io_error("publishing a generation", &path, &e))?;
        sync_folder(&self.root)
    }

    /// Takes back a generation that was published and that nobody can have switched to.
    pub fn withdraw(&self, number: GenerationNumber) {
        if self.set_aside(number).is_ok() {
            let _ = fs::remove_dir_all(self.aside(number)); // what stays is swept by the next to open the store
        }
    }

    /// Where to begin: what CURRENT names, or the lowest generation there is.
    pub fn start(&self) -> Result<GenerationNumber> {
        loop {
            let (current, numbers) = (self.current(), self.generations()?);
            let first = numbers.first().copied();
            match current {
                Some(number) if numbers.contains(&number) => return Ok(number),
                // A generation goes when CURRENT names a later one, so one that is gone from CURRENT's place was taken away. One
                // behind it may have been built and never switched to.
                Some(number) if self.current() == Some(number) && !self.generation(number).is_dir() => {
                    return first.filter(|first| *first < number).ok_or_else(|| self.missing(number));
                }
                Some(_) => {} // a switch came between: again
                None => return first.ok_or_else(|| self.foreign("CURRENT names no generation that is there")),
            }
        }
    }

    fn missing(&self, number: GenerationNumber) -> Error {
        corrupt(&self.root, &format!("CURRENT names gen-{number}, which is missing: it was renamed or removed"))
    }

    /// The content of CURRENT, where it can be read.
    #[must_use]
    pub fn current(&self) -> Option<GenerationNumber> {
        generation_number(read_text(&self.root.join("CURRENT")).ok()?.trim_end())
    }

    /// The generations that are whole, lowest first.
    pub fn generations(&self) -> Result<Vec<GenerationNumber>> {
        let entries = fs::read_dir(&self.root).map_err(|e| io_error("reading the store's folder", &self.root, &e))?;
        let mut numbers: Vec<_> = entries.flatten().filter_map(|e| generation_number(e.file_name().to_str()?)).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Makes CURRENT name a generation, durably.
    pub fn name_current(&self, number: GenerationNumber) -> Result<()> {
        let (new, path) = (self.root.join("CURRENT.new"), self.root.join("CURRENT"));
        let write = || -> std::io::Result<()> {
            let mut file = create(&new)?;
            writeln!(file, "gen-{number}")?;
            file.sync_all()?;
            fs::rename(&new, &path)
        };
        write().map_err(|e| io_error("naming the current generation", &path, &e))?;
        sync_folder(&self.root)
    }

    /// Removes CURRENT from a folder that became no store.
    pub fn unname(&self) {
        for name in ["CURRENT.new", "CURRENT"] {
            let _ = fs::remove_file(self.root.join(name));
        }
    }

    /// Whether CURRENT names `current` and no other generation is there, whole, half-built or set aside.
    pub fn is_tidy(&self, current: GenerationNumber) -> Result<bool> {
        let entries = fs::read_dir(&self.root).map_err(|e| io_error("reading the store's folder", &self.root, &e))?;
        let others = entries.flatten().map(|e| e.file_name()).filter(|name| name.to_string_lossy().starts_with("gen-"));
        let only = others.into_iter().all(|name| name.to_str().and_then(generation_number) == Some(current));
        Ok(only && self.current() == Some(current))
    }

    fn aside(&self, number: GenerationNumber) -> PathBuf {
        self.root.join(format!("gen-{number}.old"))
    }

    /// Renames a generation: an opener that still reads the old name finds nothing and rereads CURRENT.
    fn set_aside(&self, number: GenerationNumber) -> Result<()> {
        let aside = self.aside(number);
        let _ = fs::remove_dir_all(&aside);
        fs::rename(self.generation(number), &aside).map_err(|e| io_error("retiring a generation", &aside, &e))
    }

    /// Removes what a finished or interrupted switch left behind: generations before `current`, one behind it that was never
    /// switched to, half-built ones. The caller holds the writer lock, CURRENT durably names `current`, and that is not retired.
    /// A generation of another store, which somebody put there, stays.
    pub fn sweep(&self, current: GenerationNumber) -> Result<()> {
        let ours = Manifest::store_of(&self.generation(current));
        for number in self.generations()?.into_iter().filter(|n| *n != current) {
            let other = Manifest::store_of(&self.generation(number));
            if other.is_none() || other == ours {
                self.set_aside(number)?;
            }
        }
        let entries = fs::read_dir(&self.root).map_err(|e| io_error("reading the store's folder", &self.root, &e))?;
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let left_over = name.starts_with("gen-") && (name.ends_with(".old") || name.ends_with(".new"));
            if left_over {
                fs::remove_dir_all(entry.path()).map_err(|e| io_error("removing a retired generation", &entry.path(), &e))?;
            }
        }
        Ok(())
    }
}

/// Whether it is a folder with nothing in it, or one that nobody may look into.
fn is_empty(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(e) => e.kind() == IoKind::PermissionDenied,
    }
}

/// A file that is written anew, its owner's alone.
fn create(path: &Path) -> std::io::Result<File> {
    own().write(true).create(true).truncate(true).mode(PRIVATE).open(path)
}

fn generation_number(name: &str) -> Option<GenerationNumber> {
    let digits = name.strip_prefix("gen-")?;
    let number: u32 = digits.parse().ok()?;
    (number > 0 && number.to_string() == digits).then_some(number)
}

/// Makes the names in a folder durable.
pub fn sync_folder(path: &Path) -> Result<()> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|e| io_error("syncing a folder", path, &e))
}

/// Syncs the folder that has the name of `path`, where this user may read it.
fn sync_name(path: &Path) -> Result<()> {
    let Some(parent) = path.parent() else { return Ok(()) };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    match File::open(parent).and_then(|folder| folder.sync_all()) {
        Err(e) if e.kind() != IoKind::PermissionDenied => Err(io_error("syncing the folder of the store", parent, &e)),
        _ => Ok(()),
    }
}

/// The manifest of a generation, which is read before it is mapped: `key=value` lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Manifest {
    /// The layout of its bytes.
    pub format: u32,
    /// LMDB's page size when it was made.
    pub page_size: u32,
    /// The C library of the process that made it.
    pub libc: String,
    /// "little" or "big": LMDB's files are of one byte order.
    pub byte_order: String,
    /// Which store it is of; none in formats before 4.
    pub store: Option<StoreId>,
    /// Its number; 0 in formats before 4.
    pub generation: GenerationNumber,
}

impl Manifest {
    /// The manifest of a generation made here and now.
    #[must_use]
    pub fn of_this_machine(page_size: u32, format: u32, store: StoreId, generation: GenerationNumber) -> Self {
        Self { format, page_size, libc: libc_name().to_owned(), byte_order: byte_order().to_owned(), store: Some(store), generation }
    }

    /// Which store the generation in `folder` is of, where its manifest says so.
    #[must_use]
    pub fn store_of(folder: &Path) -> Option<StoreId> {
        let text = read_text(&folder.join("manifest")).ok()?;
        StoreId::from_hex(value_in(&text, "store"))
    }

    /// Writes it into a generation's folder, durably.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join("manifest");
        let identity = self.store.map(|store| format!("store={store}\ngeneration={}\n", self.generation)).unwrap_or_default();
        let Self { format, page_size, libc, byte_order, .. } = self;
        let text = format!("memspan={format}\npage_size={page_size}\nlibc={libc}\nbyte_order={byte_order}\n{identity}");
        let write = || -> std::io::Result<()> {
            let mut file = create(&path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        write().map_err(|e| io_error("writing the manifest", &path, &e))
    }

    /// Reads it and refuses what an engine cannot open that knows formats up to `newest`.
    pub fn read(folder: &Path, newest: u32) -> Result<Self> {
        let path = folder.join("manifest");
        let text = match read_text(&path) {
            Ok(text) => text,
            Err(e) if e.kind() == IoKind::NotFound && folder.is_dir() => {
                return Err(damaged_manifest(&path, "the manifest of this generation is missing"));
            }
            Err(e) if e.kind() == IoKind::InvalidData => return Err(damaged_manifest(&path, "the manifest is not a text")),
            Err(e) => return Err(io_error("reading the manifest", &path, &e)),
        };
        let value = |name: &str| value_in(&text, name);
        let (Ok(format), Ok(page_size)) = (value("memspan").parse(), value("page_size").parse()) else {
            return Err(damaged_manifest(&path, "the manifest does not say its format and page size"));
        };
        let (store, generation) = (StoreId::from_hex(value("store")), value("generation").parse().unwrap_or(0));
        let manifest =
            Self { format, page_size, libc: value("libc").to_owned(), byte_order: value("byte_order").to_owned(), store, generation };
        manifest.check(&path, newest)?;
        Ok(manifest)
    }

    fn check(&self, path: &Path, newest: u32) -> Result<()> {
        if self.format > newest {
            return Err(Error::new(
                ErrorKind::StoreVersion,
                format!(
                    "opening {}: the store has format {} and this memspan reads formats up to {newest}: install a newer memspan \
                     (pip install --upgrade memspan)",
                    path.display(),
                    self.format
                ),
            )
            .with("format", i64::from(self.format)));
        }
        if self.format == 0 || self.byte_order != byte_order() {
            return Err(damaged_manifest(path, "the manifest names a format or a byte order that this machine cannot read"));
        }
        if self.format >= FORMAT_WITH_IDENTITY && self.store.is_none() {
            return Err(damaged_manifest(path, "the manifest does not say which store it is of"));
        }
        Ok(())
    }
}

fn value_in<'t>(text: &'t str, name: &str) -> &'t str {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).unwrap_or_default()
}

fn byte_order() -> &'static str {
    if cfg!(target_endian = "little") { "little" } else { "big" }
}

/// The error of files that are not what a store's should be.
#[must_use]
pub fn corrupt(path: &Path, why: &str) -> Error {
    Error::new(
        ErrorKind::StoreCorrupt,
        format!("opening {}: {why}; nothing was changed: restore the store from a backup, or check the path", path.display()),
    )
}

/// The error of a damaged manifest: nothing else need be damaged, and a repair reads the data without it.
fn damaged_manifest(path: &Path, why: &str) -> Error {
    let next = "restore the store from a backup, or save what is intact with `memspan check STORE --repair NEW`";
    Error::new(ErrorKind::StoreCorrupt, format!("opening {}: {why}; nothing was changed: {next}", path.display()))
}

/// An error of the operating system, with what was being done and where.
#[must_use]
pub fn io_error(doing: &str, path: &Path, error: &std::io::Error) -> Error {
    let (kind, next) = match error.kind() {
        IoKind::StorageFull | IoKind::QuotaExceeded | IoKind::FileTooLarge => {
            (ErrorKind::StoreFull, "free some space and try again; nothing that was acknowledged is lost")
        }
        IoKind::PermissionDenied | IoKind::ReadOnlyFilesystem => {
            (ErrorKind::ReadOnly, "give this process the right to write there, or open a copy of the store")
        }
        _ if error.raw_os_error() == Some(libc::ELOOP) => (
            ErrorKind::StoreIo,
            "a symbolic link stands in the place of the file, and none is followed there: put the file itself in its place",
        ),
        _ if error.raw_os_error().is_some_and(is_descriptors) => {
            (ErrorKind::StoreIo, "close files or sockets that this process does not need, or raise its limit (ulimit -n), and try again")
        }
        _ => (ErrorKind::StoreIo, advice(error.raw_os_error())),
    };
    Error::new(kind, format!("{doing} at {}: the operating system refused: {error}: {next}", path.display()))
        .with("path", path.display().to_string())
        .with("errno", i64::from(error.raw_os_error().unwrap_or(0)))
}

/// The advice for the errors of the operating system that have a cure of their own.
fn advice(errno: Option<i32>) -> &'static str {
    match errno {
        Some(libc::ENOMEM) => "raise this process's limit of address space (ulimit -v), or open fewer stores, and try again",
        Some(libc::ENOLCK) => "the system has no room for more file locks: close stores or files that nobody needs, and try again",
        Some(libc::EISDIR) => "it is a folder: give the path of a file, for instance of one in it",
        _ => "see what the operating system says of this path and try again",
    }
}

/// Whether an error of the operating system says that there are too many open files.
fn is_descriptors(errno: i32) -> bool {
    matches!(errno, libc::EMFILE | libc::ENFILE)
}

/// Whether the operating system refused because there are too many open files.
#[must_use]
pub fn is_of_descriptors(error: &Error) -> bool {
    let is_it = |errno: i64| i32::try_from(errno).is_ok_and(is_descriptors);
    error.fields().iter().any(|(name, value)| *name == "errno" && matches!(value, Field::Int(errno) if is_it(*errno)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test that unwraps fails, as it should
mod tests {
    use super::*;

    #[test]
    fn the_root_of_an_empty_file_system_is_an_empty_folder() {
        let path = std::env::temp_dir().join(format!("memspan-look-{}", std::process::id()));
        let (folder, lost) = (Folder::new(path.clone()), path.join("lost+found"));
        fs::create_dir_all(&lost).unwrap();
        assert_eq!(folder.look().unwrap(), Found::Nothing);
        fs::write(lost.join("#12"), "found").unwrap();
        assert!(folder.look().is_err_and(|error| error.message().contains("(\"lost+found\" first)")), "somebody may want what is in it");
        fs::remove_file(lost.join("#12")).unwrap();
        for name in ["notes.txt", "mail.txt"] {
            fs::write(path.join(name), "text").unwrap();
        }
        let error = folder.look().unwrap_err();
        assert!(error.message().contains("(\"mail.txt\" first) and no CURRENT"), "{error}");
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn an_error_of_the_system_says_its_own_cure() {
        let said = |errno| io_error("opening the store", Path::new("s"), &std::io::Error::from_raw_os_error(errno));
        for (errno, cure) in
            [(libc::ENOMEM, "ulimit -v"), (libc::ENOLCK, "file locks"), (libc::EMFILE, "ulimit -n"), (libc::EIO, "see what")]
        {
            assert_eq!(said(errno).kind(), ErrorKind::StoreIo);
            assert!(said(errno).message().contains(cure), "{}", said(errno));
        }
    }
}
