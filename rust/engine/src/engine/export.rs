//! Export and load: a whole store as a file of JSON lines, and back into an empty store.
//!
//! A file appears whole or not at all, and so does what is loaded from one. Neither holds anything that was forgotten, redacted or erased:
//! before it writes, an export takes out what a compaction would.

use std::collections::BTreeSet;
use std::fs::{File, Permissions};
use std::io::{BufReader, BufWriter, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::erase::under_way;
use super::{Engine, audit};
use crate::audit::Finding;
use crate::collection;
use crate::export::{self, Loading};
use crate::memory::embedding::{self, Embedding};
use crate::memory::maintain::STEP;
use crate::scope::{self, Row};
use crate::session;
use crate::store::Snapshot;
use crate::store::files::own;
use crate::store::folder::io_error;
use crate::store::fork;
use crate::store::identity::Secret;
use crate::store::keys::Partition;
use crate::store::load::{self, Values};
use crate::store::overlay::Overlay;
use crate::store::reserve;
use crate::store::vault::cipher::random;
use crate::store::writer_lock::flock;
use crate::{Error, Result};

impl Engine {
    /// Writes everything that the store holds to a file, one JSON object a line; how many values that are. Readable by its owner alone: it
    /// has what everybody said, and what the store's hashes are keyed with. It is plain text where the store is encrypted, too.
    ///
    /// It leaves out scopes and collections that are being erased or dropped, sessions that are being deleted or copied, and documents that
    /// are being added or deleted, also where that was interrupted.
    ///
    /// Cost: one read transaction; one line in memory at a time, and the keys of what is being removed.
    pub fn export(&self, path: &Path) -> Result<u64> {
        if !self.is_read_only() {
            self.flush_accesses_if_there_is_room()?;
            reserve::freeing(|| self.clear_remains())?; // who exports to make room has none
        }
        fork::giving_way(|| self.write_export(path))
    }

    fn write_export(&self, path: &Path) -> Result<u64> {
        let refused = |error: std::io::Error| io_error("exporting the store", path, &error);
        let part = Part::beside(path)?;
        let mut out = BufWriter::with_capacity(1 << 16, &part.file);
        let written = self.store().read(|snapshot| {
            let (pages, gone) = without_remains(snapshot)?;
            export::write(&pages, &gone, &mut out)
        })?;
        out.flush().map_err(refused)?;
        out.get_ref().sync_all().map_err(refused)?;
        std::fs::rename(&part.path, path).map_err(refused)?;
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
        let check = |snapshot: &Snapshot| self.check_loaded(&name, snapshot);
        load::load(self.store(), self.busy_timeout(), open, check, &super::rehash::rehash, &super::mend::count_orders)
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

/// A snapshot without what no call has finished, and the partitions whose values are being removed.
fn without_remains(snapshot: &Snapshot) -> Result<(Overlay<'_, Snapshot>, BTreeSet<Partition>)> {
    let (mut pages, mut after) = (Overlay::new(snapshot), 0);
    let mut gone: BTreeSet<Partition> = under_way(snapshot)?.into_iter().map(|(partition, _)| partition).collect();
    loop {
        let rows = scope::rows(snapshot, after, STEP)?;
        let Some((last, _)) = rows.last() else { return Ok((pages, gone)) };
        after = *last;
        for (partition, row) in rows {
            match row {
                Row::Scope(scope) => session::drop_unfinished(&mut pages, partition, &scope)?,
                Row::Collection { .. } => collection::drop_unfinished(&mut pages, partition)?,
                Row::Dropped { .. } => drop(gone.insert(partition)),
            }
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

/// The file that an export is written to before it takes the place of another; it is gone behind an error. It is locked while this lives:
/// the Python layer removes those that nobody holds, which dead processes left.
struct Part {
    file: File,
    path: PathBuf,
}

impl Part {
    /// A new one beside `path`, its owner's alone.
    fn beside(path: &Path) -> Result<Self> {
        if path.file_name().is_none() {
            let why = format!("exporting the store: the path names a file to be written, and {} names none: add a name", path.display());
            return Err(Error::invalid(why));
        }
        let refused = |error: std::io::Error| io_error("exporting the store", path, &error);
        loop {
            let name = format!(".memspan-{:016x}.part", u64::from_ne_bytes(random()?));
            let path = path.with_file_name(name);
            let file = own().write(true).create_new(true).mode(0o600).open(&path).map_err(refused)?;
            let part = Self { file, path };
            part.file.set_permissions(Permissions::from_mode(0o600)).map_err(refused)?;
            let _ = flock(&part.file, libc::LOCK_EX); // where there are no locks, nobody removes it either
            if part.file.metadata().map_err(refused)?.nlink() > 0 {
                return Ok(part);
            }
        }
    }
}

/// Behind an error, or a panic. Once it took the place of the other file, nothing has its name.
impl Drop for Part {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
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

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::super::erase::{empty_step, unlink};
    use super::*;
    use crate::collection::{CollectionName, NewDocument, Prepared};
    use crate::interrupt::counted::after;
    use crate::memory::{EngineOptions, NewMemory};
    use crate::models::Model;
    use crate::scope::{Scope, ScopeType};
    use crate::session::{NewMessage, Options, Session};
    use crate::store::envelope::ENVELOPE_BYTES;
    use crate::store::pages::Pages as _;
    use crate::store::vault::StoreKey;

    struct Place(PathBuf);

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    impl Place {
        fn new(name: &str) -> Self {
            let place = Self(std::env::temp_dir().join(format!("memspan-export-{name}-{}", std::process::id())));
            let _ = std::fs::remove_dir_all(&place.0);
            std::fs::create_dir_all(&place.0).unwrap();
            place
        }

        fn open(&self, name: &str, is_encrypted: bool, read_only: bool) -> Engine {
            let key = is_encrypted.then(|| StoreKey::new(&[7; 32]).unwrap());
            Engine::open_as(&self.0.join(name), EngineOptions { read_only, ..EngineOptions::default() }, false, key).unwrap()
        }

        /// The lines of an export, which a new store takes and gives back.
        fn exported(&self, engine: &Engine) -> String {
            let [first, second] = ["first", "second"].map(|name| self.0.join(name));
            engine.export(&first).unwrap();
            let loaded = self.open("loaded", false, false);
            loaded.load(&first).unwrap();
            drop(loaded);
            let loaded = self.open("loaded", false, true);
            assert!(loaded.check().unwrap().findings.is_empty());
            loaded.export(&second).unwrap();
            drop(loaded);
            std::fs::remove_dir_all(self.0.join("loaded")).unwrap();
            let [first, second] = [first, second].map(|path| std::fs::read_to_string(path).unwrap());
            assert!(first == second, "what was loaded is what was exported");
            first
        }
    }

    fn user(name: &str) -> Scope {
        Scope::new(None, ScopeType::User, name).unwrap()
    }

    /// A session with a text that is a blob, and a document; all of it has the word.
    fn talk(engine: &Engine, scope: &Scope, word: &str) {
        let session = Session { engine, scope, id: word };
        session.open(Options { model: Some(Model::named("gpt-4o").unwrap()), ..Options::default() }, 2).unwrap();
        let said = |number: usize| {
            let content = format!("{word} asks {number} ").repeat(if number == 3 { 3_000 } else { 1 });
            let role = ["user", "assistant"][number % 2];
            NewMessage::given(serde_json::json!({"role": role, "content": content}).to_string())
        };
        session.add_many((0..600).map(said).collect(), 3).unwrap();
        let text: Vec<String> = (0..400).map(|number| format!("{word} says in paragraph {number} what nobody asked.\n\n")).collect();
        let document = Prepared::new(NewDocument::new("d", text.concat())).unwrap();
        collection::add::add(engine, &CollectionName::new(scope, word).unwrap(), document, None, 4).unwrap();
    }

    /// The same with memories, of which some expire.
    fn fill(engine: &Engine, scope: &Scope, word: &str) {
        for number in 0..20 {
            let ttl = (number % 4 == 0).then_some(1 << 50);
            engine.remember(scope, NewMemory { ttl, ..NewMemory::new(format!("{word} has port {number}")) }, 1).unwrap();
        }
        talk(engine, scope, word);
    }

    #[test]
    fn an_encrypted_store_is_written_without_keeping_what_was_decrypted() {
        let place = Place::new("kept");
        let engine = place.open("store", true, false);
        fill(&engine, &user("u"), "zqkept");
        let read = engine.store().read(|snapshot| {
            let (pages, gone) = without_remains(snapshot)?;
            let (before, mut out) = (snapshot.kept(), Vec::new());
            let written = export::write(&pages, &gone, &mut out)?;
            let kept = [before, snapshot.kept()];
            let (mut shown, mut seen) = (Vec::new(), Vec::new());
            let entry = |key: &[u8], value: &[u8]| (key.to_vec(), value[..4].to_vec(), value[ENVELOPE_BYTES..].to_vec());
            let mut look = |key: &[u8], value: &[u8]| {
                shown.push(entry(key, value));
                Ok(ControlFlow::Continue(()))
            };
            pages.look_through(&[0], &[u8::MAX; 32], &mut look)?;
            pages.scan(&[0], &[u8::MAX; 32], &mut |key, value| {
                seen.push(entry(key, value));
                Ok(ControlFlow::Continue(()))
            })?;
            assert!(shown == seen, "the same values");
            assert!(snapshot.kept() as u64 > written, "a scan keeps {} of {written}", snapshot.kept());
            Ok((written, kept))
        });
        let (written, [before, after]) = read.unwrap();
        assert!(written > 600 && after - before < 4 && before < 20, "of {written} values {before}, then {after}");
        assert!(place.exported(&engine).contains("zqkept"));
    }

    #[test]
    fn nothing_of_a_scope_that_is_being_erased_is_exported() {
        for is_encrypted in [false, true] {
            let place = Place::new(if is_encrypted { "erased-encrypted" } else { "erased" });
            let engine = place.open("store", is_encrypted, false);
            fill(&engine, &user("stays"), "zqkept");
            fill(&engine, &user("goes"), "zqgone");
            let exported = place.exported(&engine);
            assert!(exported.contains("zqgone") && exported.contains("zqkept"));
            let partitions = engine.write(|txn| unlink(txn, &user("goes"))).unwrap();
            let expected = place.exported(&engine);
            assert!(!expected.contains("zqgone") && !expected.contains("Erasing") && expected.contains("zqkept"));
            for partition in partitions {
                engine.write(move |txn| empty_step(txn, partition)).unwrap();
                assert!(place.exported(&engine) == expected, "however far it is");
            }
            drop(engine);
            let reader = place.open("store", is_encrypted, true);
            assert_eq!(reader.store().read(under_way).unwrap().len(), 2, "who only reads ends no erasure");
            assert!(place.exported(&reader) == expected);
        }
    }

    #[test]
    fn nothing_that_is_being_dropped_deleted_or_copied_is_exported_by_who_only_reads() {
        let mut met = [0; 3];
        for looks in [1, 20, 60, 200] {
            let (place, scope) = (Place::new("deleted"), user("u"));
            let engine = place.open("store", false, false);
            for word in ["zqkept", "zqgone", "zqdropped"] {
                talk(&engine, &scope, word);
            }
            let session = |id| Session { engine: &engine, scope: &scope, id };
            let letters = |name| CollectionName::new(&scope, name).unwrap();
            let is_left = [
                after(looks, || session("zqgone").delete(5).map(drop)).0,
                after(looks, || collection::remove::delete(&engine, &letters("zqgone"), "d", 6).map(drop)).0,
                after(looks, || collection::remove::drop_collection(&engine, &letters("zqdropped")).map(drop)).0,
                after(looks, || session("zqkept").fork("zqcopy", None, 7)).0,
            ];
            assert!(is_left.iter().any(Result::is_err), "something was interrupted");
            let documents = |name| engine.store().read(|pages| collection::count(pages, &letters(name))).unwrap().documents;
            let is_gone = [session("zqgone").status().is_err(), documents("zqgone") == 0, documents("zqdropped") == 0];
            let is_copied = session("zqcopy").status().is_ok();
            drop(engine);
            let exported = place.exported(&place.open("store", false, true));
            assert!(exported.contains("zqkept asks") && exported.contains("zqkept says"));
            for (at, text) in ["zqgone asks", "zqgone says", "zqdropped says"].into_iter().enumerate() {
                assert!(!is_gone[at] || !exported.contains(text), "{text}");
                met[at] += usize::from(is_gone[at] && is_left[at].is_err());
            }
            assert_eq!(exported.contains("zqcopy"), is_copied);
        }
        assert!(met.iter().all(|met| *met > 0), "each was half done: {met:?}");
    }
}
