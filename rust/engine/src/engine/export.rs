//! Export and load: a whole store as a file of JSON lines, and back into an empty store.
//!
//! A file appears whole or not at all, and so does what is loaded from one. Neither holds anything that was forgotten, redacted or erased:
//! before it writes, an export takes out what a compaction would.

use std::fs::{File, Permissions};
use std::io::{BufReader, BufWriter, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::{Engine, audit};
use crate::audit::Finding;
use crate::export::{self, Loading};
use crate::memory::embedding::{self, Embedding};
use crate::store::Snapshot;
use crate::store::files::own;
use crate::store::folder::io_error;
use crate::store::fork;
use crate::store::identity::Secret;
use crate::store::load::{self, Values};
use crate::store::reserve;
use crate::{Error, Result};

impl Engine {
    /// Writes everything that the store holds to a file, one JSON object a line; how many values that are. Readable by its owner alone: it
    /// has what everybody said, and what the store's hashes are keyed with. It is plain text where the store is encrypted, too.
    ///
    /// Cost: one read transaction; one line in memory at a time.
    pub fn export(&self, path: &Path) -> Result<u64> {
        if !self.is_read_only() {
            self.flush_accesses_if_there_is_room()?;
            reserve::freeing(|| self.clear_remains())?; // who exports to make room has none
        }
        let beside = beside(path)?;
        let exported = fork::giving_way(|| self.write_export(&beside, path));
        if exported.is_err() {
            let _ = std::fs::remove_file(&beside); // what stays is taken up by the next export of this process
        }
        exported
    }

    fn write_export(&self, beside: &Path, path: &Path) -> Result<u64> {
        let refused = |error: std::io::Error| io_error("exporting the store", path, &error);
        let file = own().write(true).create(true).truncate(true).mode(0o600).open(beside).map_err(refused)?;
        file.set_permissions(Permissions::from_mode(0o600)).map_err(refused)?;
        let mut out = BufWriter::with_capacity(1 << 16, file);
        let written = self.store().read(|snapshot| export::write(snapshot, &mut out))?;
        out.flush().map_err(refused)?;
        out.get_ref().sync_all().map_err(refused)?;
        std::fs::rename(beside, path).map_err(refused)?;
        Ok(written)
    }

    /// Reads an export into this store, which must be empty; how many values it has then. All of it is there when this returns, or
    /// nothing. The whole is read by the doctor before anybody sees it.
    ///
    /// Cost: twice the size of the store on disk while it runs; one line in memory at a time.
    pub fn load(&self, path: &Path) -> Result<u64> {
        self.check_writable()?;
        let (name, format) = (path.display().to_string(), self.store().format());
        let open = || {
            let file = File::open(path).map_err(|error| io_error("loading an export", path, &error))?;
            Loading::begin(BufReader::with_capacity(1 << 16, file), &name, format).map(Lines)
        };
        load::load(self.store(), self.busy_timeout(), open, |snapshot| self.check_loaded(&name, snapshot), &super::rehash::rehash)
    }

    fn check_loaded(&self, name: &str, snapshot: &Snapshot) -> Result<()> {
        let known: Vec<Embedding> = embedding::list(snapshot)?.into_iter().map(|(_, embedding)| embedding).collect();
        if let Some(own) = self.embedding().filter(|own| !known.is_empty() && !known.contains(own)) {
            return Err(of_other_embeddings(name, own, &known));
        }
        match audit(snapshot)?.findings.first() {
            None => Ok(()),
            Some(finding) => Err(contradicts(name, finding)),
        }
    }
}

fn of_other_embeddings(name: &str, own: &Embedding, known: &[Embedding]) -> Error {
    let names: Vec<&str> = known.iter().map(|one| one.name.as_str()).collect();
    Error::invalid(format!(
        "loading {name}: its vectors are of {}, and this engine embeds with {}, which would give them up: open the empty store with that \
         embedder, or with embedder=None",
        names.join(", "),
        own.name
    ))
}

fn contradicts(name: &str, finding: &Finding) -> Error {
    Error::invalid(format!(
        "loading {name}: its values contradict each other, first in partition {}, {}: {}; nothing was loaded: run `memspan check` on the \
         store that it was exported from, and export it again",
        finding.partition, finding.part, finding.what
    ))
}

/// The file that an export is written to before it takes the place of `path`; another one for each.
fn beside(path: &Path) -> Result<PathBuf> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = path.file_name().ok_or_else(|| {
        Error::invalid(format!("exporting the store: the path names a file to be written, and {} names none: add a name", path.display()))
    })?;
    Ok(path.with_file_name(format!(".{}.{}.{}.part", name.to_string_lossy(), NEXT.fetch_add(1, Relaxed), std::process::id())))
}

/// The lines of an export, as the store takes them.
struct Lines(Loading<BufReader<File>>);

impl Values for Lines {
    fn origin(&self) -> (i64, Secret) {
        (self.0.created_at(), self.0.secret())
    }

    fn next(&mut self, put: &mut load::Put<'_>) -> Result<bool> {
        self.0.next(put)
    }
}
