//! Making a generation and opening one: nothing is mapped before its files were checked.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use heed::types::Bytes;
use heed::{CommitOrAbort, Env, EnvFlags, EnvOpenOptions, WithoutTls};

use super::readers::{self, ReaderTable};
use super::{Environment, Mode, Shared, behind, lmdb_error, page_size};
use crate::store::door::Door;
use crate::store::files::{FileId, open_regular, own};
use crate::store::folder::{FORMAT_WITH_LOG, Folder, GenerationNumber, Manifest, corrupt, io_error};
use crate::store::identity::{Secret, StoreId};
use crate::store::log::Log;
use crate::store::log::recovery::{self, Recovered};
use crate::store::meta::Meta;
use crate::store::meta_pages::{MetaPage, MetaPages};
use crate::store::progress::{Progress, Verdict};
use crate::store::tree::map::DataFile;
use crate::store::vault::{StoreKey, Vault, wrong_key};
use crate::store::writer_lock::WriterLock;
use crate::{Error, ErrorKind, Result};

/// The least room in the address space that is reserved for a store, and the most: a process has 128 TiB, and may have many stores open.
/// Halved where the system refuses. The file grows as it is used.
const MAP_BYTES: [usize; 2] = if cfg!(target_pointer_width = "64") { [1 << 36, 1 << 40] } else { [1 << 30, 1 << 30] };
const SMALLEST_MAP_BYTES: usize = 1 << 28;
/// How often a file may grow into its own length before the store is to be opened again.
const GROWTH: u64 = 16;

/// Readers at one time, over all processes.
const MAX_READERS: u32 = 2048;
/// The size of LMDB's table of that many, a cache line each, and its head.
const READER_TABLE_BYTES: u64 = MAX_READERS as u64 * 64 + 4096;

impl Environment {
    /// Makes an empty generation in `path`, an empty folder, for a store of its own.
    pub fn create(path: &Path, number: GenerationNumber, mode: Mode) -> Result<Self> {
        Self::build(path, number, mode, StoreId::random()?, Secret::random()?)
    }

    /// Makes an empty generation of the store `id` in `path`, an empty folder.
    pub fn build(path: &Path, number: GenerationNumber, mode: Mode, id: StoreId, secret: Secret) -> Result<Self> {
        Manifest::of_this_machine(page_size(), mode.format, id, number).write(path)?;
        let mut environment = Self::map(path, number, mode, secret)?;
        environment.id = Some(id);
        Ok(environment)
    }

    /// This generation, whose values are encrypted from now on.
    #[must_use]
    pub fn encrypted_by(mut self, vault: Vault) -> Self {
        self.vault = Some(Arc::new(vault));
        self
    }

    /// Syncs a generation that was built, and vouches for what is in it.
    pub fn finish(self) -> Result<()> {
        self.sync()?;
        let pages = MetaPages::read(&self.data, u64::from(page_size()), &self.path)?;
        if let Some(id) = self.id {
            let place = if self.format >= FORMAT_WITH_LOG {
                Log::create(&self.path, id, self.number, page_size() as usize, self.metas()?)?
            } else {
                None
            };
            Progress::create(&self.path, id, self.number, &self.data, &pages, place)?;
        }
        self.close();
        Ok(())
    }

    /// Opens a damaged generation to save what is intact of it: its two meta pages must be LMDB's, and nothing else is looked at.
    pub fn open_unchecked(path: &Path, number: GenerationNumber, mode: Mode) -> Result<Self> {
        MetaPages::read(&open_data_file(&path.join("data.mdb"))?, u64::from(page_size()), path)?;
        Self::map(path, number, mode, Secret::default())
    }

    /// Opens a generation of the store in `folder`, behind the [`Door`], and checks whatever can be checked without reading all of it.
    pub fn open(folder: &Folder, number: GenerationNumber, mode: Mode, deadline: Instant) -> Result<Self> {
        Self::open_with(folder, number, mode, deadline, false)
    }

    /// Opens a generation of the store in `folder` for a caller that holds the writer lock.
    pub fn open_locked(folder: &Folder, number: GenerationNumber, mode: Mode, deadline: Instant) -> Result<Self> {
        Self::open_with(folder, number, mode, deadline, true)
    }

    fn open_with(folder: &Folder, number: GenerationNumber, mode: Mode, deadline: Instant, is_locked: bool) -> Result<Self> {
        // Who may not write a door has a mount on which LMDB does without its table, too, and a `ReadLock` where there are writers.
        let _door = match Door::enter(folder.root(), deadline) {
            Err(error) if mode.read_only && error.kind() == ErrorKind::ReadOnly => None,
            other => Some(other?),
        };
        let path = folder.generation(number);
        let manifest = Manifest::read(&path, mode.format)?;
        let file = open_data_file(&path.join("data.mdb"))?;
        let data = FileId::of(&file).map_err(|e| io_error("opening the store", &path, &e))?;
        let pages = || MetaPages::read(&file, u64::from(manifest.page_size), &path);
        let writers = if is_locked { None } else { Some(deadline) };
        let progress = manifest.store.map(|id| Progress::open(&path, id, number, data, mode.read_only)).transpose()?;
        let acknowledged = progress.as_ref().map_or(0, Progress::acknowledged);
        let (log, recovered) = open_log(folder, number, &manifest, acknowledged, mode.read_only, writers)?;
        // Of a data file that its log is to mend, any page may be missing, a meta page too.
        let newest = pages().map_err(|error| if recovered == Recovered::Behind { recovery::unrecovered(&path) } else { error })?.newest;
        let verdict = progress.as_ref().map_or(Ok(Verdict::Sound), |progress| {
            let verdict = progress.judge(pages)?;
            with_log(&path, recovered, progress, &newest, verdict, mode.read_only)
        })?;
        let mode = Mode { format: manifest.format, ..mode };
        let mut environment = Self::map(&path, number, mode, Secret::default())?;
        let table = ReaderTable::join(&path.join("lock.mdb"), mode.read_only)?;
        if let Some(table) = &table {
            environment.pages.measure_readers_by(table.file());
        }
        environment.shared = Some(Shared { data, progress, log, verdict, table });
        (environment.id, environment.secret) = (manifest.store, environment.identify(&manifest, newest.transaction)?);
        Ok(environment)
    }

    /// Whether the tree is that of the manifest's store, and of the newest transaction; the store's secret.
    fn identify(&self, manifest: &Manifest, newest: u64) -> Result<Secret> {
        let snapshot = self.snapshot()?;
        // The number in the reader table is written behind the meta page.
        if snapshot.id() + 1 < newest {
            return Err(behind(&self.path, snapshot.id(), newest));
        }
        let meta = Meta::read(&snapshot)?;
        let Some(id) = manifest.store else { return Ok(Secret::default()) };
        match meta {
            Some(meta) if meta.store == Some(id) && meta.generation == self.number && manifest.generation == self.number => Ok(meta.secret),
            Some(_) => Err(corrupt(&self.path, "its manifest and its data file are of two stores, or of two generations")),
            None => Err(corrupt(&self.path, "the store has no meta record: it was damaged, or written by something else")),
        }
    }

    fn map(path: &Path, number: GenerationNumber, mode: Mode, secret: Secret) -> Result<Self> {
        let env = reserve(path, mode)?;
        let failed = |e| lmdb_error("opening the store", path, e);
        let txn = env.read_txn().map_err(|e| readers::taken(path, &e).unwrap_or_else(|| failed(e)))?;
        let tree = env
            .open_databases_and_commit(txn, |opener, txn| {
                opener.open_database::<Bytes, Bytes>(txn, None).map(CommitOrAbort::<_, ()>::Commit)
            })
            .map_err(failed)?
            .commit()
            .flatten()
            .ok_or_else(|| corrupt(path, "LMDB finds no tree in the data file"))?;
        let data = env.try_clone_inner_file().map_err(failed)?;
        let pages = DataFile::open(path, page_size() as usize)?;
        let (relaxed, free_checked) = (AtomicBool::new(mode.relaxed), AtomicBool::new(false));
        Ok(Self {
            env,
            tree,
            data,
            pages,
            free_checked,
            path: path.to_owned(),
            number,
            format: mode.format,
            relaxed,
            id: None,
            secret,
            vault: None,
            shared: None,
        })
    }

    /// Opens what is encrypted with the caller's key, which must be there where the store is encrypted, and only there.
    pub fn unlock(&mut self, root: &Path, key: Option<&StoreKey>) -> Result<()> {
        let sealed = Meta::read(&self.snapshot()?)?.and_then(|meta| meta.sealed);
        let (vault, secret) = match (sealed, key) {
            (None, None) => return Ok(()),
            (None, Some(_)) => {
                let why = "a key was given, and the store is not encrypted: open it without, or encrypt it with `memspan rekey`";
                return Err(wrong_key(root, "not encrypted", why));
            }
            (Some(_), None) => {
                return Err(wrong_key(root, "missing", "the store is encrypted, and no key was given: open it with key="));
            }
            (Some(sealed), Some(key)) => Vault::open(key, &sealed)?.ok_or_else(|| {
                wrong_key(root, "wrong", "the key is not the one that the store was encrypted with; nothing was read: give the right one")
            })?,
        };
        (self.vault, self.secret) = (Some(Arc::new(vault)), secret);
        Ok(())
    }
}

/// The log of a generation that has one, and what it said of the data file, which is recovered where nobody else has it open. That takes
/// the writer lock, until `writers`, unless the caller holds it.
fn open_log(
    folder: &Folder,
    number: GenerationNumber,
    manifest: &Manifest,
    acknowledged: u64,
    read_only: bool,
    writers: Option<Instant>,
) -> Result<(Option<Log>, Recovered)> {
    let path = folder.generation(number);
    let Some(id) = manifest.store.filter(|_| manifest.format >= FORMAT_WITH_LOG) else { return Ok((None, Recovered::Whole)) };
    let log = Log::open(&path, id, number, manifest.page_size as usize, read_only)?;
    let Some(log) = log else { return Ok((None, Recovered::Missing)) };
    if !recovery::is_alone(&path)? {
        return Ok((Some(log), Recovered::Whole)); // the first to open it has recovered it
    }
    let data = own().read(true).write(!read_only).open(path.join("data.mdb"));
    let data = data.map_err(|e| io_error("opening the store", &path, &e))?;
    let mut recovered = log.recover(&path, &data, acknowledged, false)?;
    // Where somebody took `lock.mdb` away, others may be writing all the same.
    if matches!(recovered, Recovered::Behind | Recovered::Foreign) && !read_only {
        let lock = writers.map(|deadline| WriterLock::open(folder.root()).map(|lock| (lock, deadline))).transpose()?;
        let _guard = lock.as_ref().map(|(lock, deadline)| lock.acquire(*deadline)).transpose()?;
        recovered = log.recover(&path, &data, acknowledged, true)?;
    }
    Ok((Some(log), recovered))
}

/// The verdict on a generation, once its log was read.
fn with_log(
    path: &Path,
    recovered: Recovered,
    progress: &Progress,
    newest: &MetaPage,
    verdict: Verdict,
    read_only: bool,
) -> Result<Verdict> {
    let vouched = progress.vouches_for(newest);
    match recovered {
        Recovered::Whole => Ok(verdict),
        // A process died in a commit, and all that it wrote is in the system's cache.
        Recovered::Behind if progress.is_of_this_boot() => Ok(verdict),
        Recovered::Behind => Err(recovery::unrecovered(path)),
        _ if vouched && read_only => Ok(verdict),
        _ if vouched => progress.forget_place().map(|()| verdict),
        Recovered::Missing => Ok(Verdict::Unverified("its file `log` is missing or damaged")),
        Recovered::Foreign => Err(corrupt(
            &path.join("log"),
            "the log is damaged, or is not that of the data file beside it, which may lack its last writes; to go on with what it has, remove the file `log`",
        )),
    }
}

/// Takes the room of the reader table. LMDB maps that file with holes in it: where the disk is full, the first reader of a hole would be
/// killed. A table that has its length already, made by a version before 0.6.0, stays as it is where there is no room.
fn allocate_table(path: &Path, read_only: bool) -> Result<()> {
    let mut options = own();
    options.read(true).write(true).create(!read_only).truncate(false).mode(0o600);
    let file = match options.open(path) {
        Err(_) if read_only => return Ok(()), // nothing can be written there
        other => other.map_err(|e| io_error("opening the store", path, &e))?,
    };
    let length = file.metadata().map_err(|e| io_error("opening the store", path, &e))?.len();
    // SAFETY: the descriptor belongs to `file`. Nothing of what the file has is changed.
    let refused = unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, READER_TABLE_BYTES as libc::off_t) };
    if refused == 0 || length > 0 {
        return Ok(());
    }
    Err(io_error("opening the store", path, &std::io::Error::from_raw_os_error(refused)))
}

/// The address space for a generation: by the length of its file, and the most for one that is built, whose length nobody knows yet.
fn map_bytes(path: &Path, mode: Mode) -> usize {
    let [least, most] = MAP_BYTES;
    if mode.building {
        return most;
    }
    let length = std::fs::metadata(path.join("data.mdb")).map_or(0, |file| file.len());
    let wanted = length.saturating_mul(GROWTH).checked_next_power_of_two().and_then(|wanted| usize::try_from(wanted).ok());
    wanted.unwrap_or(most).clamp(least, most)
}

fn reserve(path: &Path, mode: Mode) -> Result<Env<WithoutTls>> {
    if heed::env_closing_event(path).is_none() {
        allocate_table(&path.join("lock.mdb"), mode.read_only)?; // before LMDB has its own lock on it, which goes with any descriptor
    }
    let mut flags = EnvFlags::empty();
    flags.set(EnvFlags::READ_ONLY, mode.read_only);
    flags.set(EnvFlags::NO_SYNC, mode.building || mode.format >= FORMAT_WITH_LOG);
    let mut map_bytes = map_bytes(path, mode);
    loop {
        let mut options = EnvOpenOptions::new().read_txn_without_tls();
        options.map_size(map_bytes).max_readers(MAX_READERS);
        // SAFETY: the file was checked, lies on a local file system, and is opened once per process (the gate's registry);
        // the unsafe flag NO_SYNC is for a generation not yet published, and for one with a log, by which it comes to the disk.
        let opened = unsafe { options.flags(flags).open(path) };
        match opened {
            // EINVAL: an address space that is small for another reason, under valgrind for one.
            Err(heed::Error::Io(e)) if matches!(e.raw_os_error(), Some(libc::ENOMEM | libc::EINVAL)) && map_bytes > SMALLEST_MAP_BYTES => {
                map_bytes /= 2;
            }
            // The last handle of the same store is being closed by another thread just now.
            Err(heed::Error::EnvAlreadyOpened) if closes_soon(path) => {}
            other => {
                let env = other.map_err(|e| refused(lmdb_error("opening the store", path, e), mode))?;
                keep_from_children(&path.join("data.mdb")).map_err(|e| io_error("opening the store", path, &e))?;
                return Ok(env);
            }
        }
    }
}

/// The error of an opening. LMDB opens the reader table for writing, also where its data are only read.
fn refused(error: Error, mode: Mode) -> Error {
    if mode.read_only && error.kind() == ErrorKind::ReadOnly {
        return error.and("read_only=True needs that right too, because a reader writes its lock beside the data");
    }
    error
}

/// Lets no program that this process starts have the data file: LMDB opens it without `O_CLOEXEC`, and gives its descriptor to nobody. So
/// those of this process are looked through.
fn keep_from_children(data: &Path) -> std::io::Result<()> {
    let wanted = std::fs::metadata(data)?;
    for entry in std::fs::read_dir("/dev/fd").into_iter().flatten().flatten() {
        let Some(descriptor) = entry.file_name().to_str().and_then(|name| name.parse::<libc::c_int>().ok()) else { continue };
        // SAFETY: all zeros is a `stat`, which outlives the call. A descriptor that is closed meanwhile is refused, and that is all.
        let (failed, stat) = unsafe {
            let mut stat: libc::stat = std::mem::zeroed();
            (libc::fstat(descriptor, &raw mut stat) != 0, stat)
        };
        #[allow(clippy::unnecessary_cast)] // `dev_t` is another type on other systems
        if failed || (stat.st_dev as u64, stat.st_ino as u64) != (wanted.dev(), wanted.ino()) {
            continue;
        }
        // SAFETY: these calls touch no memory. No child of this process is to have the file.
        unsafe {
            let flags = libc::fcntl(descriptor, libc::F_GETFD);
            if flags >= 0 {
                libc::fcntl(descriptor, libc::F_SETFD, flags | libc::FD_CLOEXEC);
            }
        }
    }
    Ok(())
}

/// Waits for an environment of this process to be closed; `false` where it is not.
fn closes_soon(path: &Path) -> bool {
    heed::env_closing_event(path).is_none_or(|event| event.wait_timeout(Duration::from_secs(10)))
}

fn open_data_file(path: &Path) -> Result<File> {
    open_regular(path).map_err(|e| {
        if e.kind() == std::io::ErrorKind::NotFound {
            corrupt(path, "the data file is missing")
        } else {
            io_error("opening the store", path, &e)
        }
    })
}
