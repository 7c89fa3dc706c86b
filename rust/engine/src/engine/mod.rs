//! The engine: an open store with everything that can be done with it, above all other rooms.
//!
//! The rooms below hold what one memory, document or session needs, and take a [`Core`] or a [`SessionCore`]. This room holds what needs
//! all of them: opening, `maintain`, `graphs`, the `doctor`, copies. An engine stands for its core wherever one is taken.

pub mod doctor;
mod erase;
mod export;
mod graphs;
mod maintain;
pub mod mend;
pub mod pace;
mod rehash;
mod remains;

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

pub use crate::audit::{Finding, Report};
use crate::collection;
use crate::index::vectors::graph::GraphOptions;
use crate::memory::Core;
pub use crate::memory::EngineOptions;
use crate::memory::maintain::STEP;
use crate::scope::{self, Head, Witness};
use crate::session::SessionCore;
use crate::store::fork;
use crate::store::keys::STORE;
use crate::store::vault::{StoreKey, rekey};
use crate::store::{Snapshot, Store, copy};
use crate::{Error, ErrorKind, Result};
pub use erase::Erased;
pub use maintain::{Embed, Maintained};

/// One open store.
#[derive(Debug)]
pub struct Engine(SessionCore);

impl Deref for Engine {
    type Target = SessionCore;

    fn deref(&self) -> &SessionCore {
        &self.0
    }
}

/// The counts of a store's contents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Contents {
    /// Scopes that were ever written to.
    pub scopes: u64,
    /// Their collections.
    pub collections: u64,
    /// Documents of the collections.
    pub documents: u64,
    /// Their chunks.
    pub chunks: u64,
    /// Chunks that have a vector.
    pub chunk_vectors: u64,
    /// Current memories.
    pub memories: u64,
    /// Current memories that have a vector.
    pub vectors: u64,
    /// Current memories and chunks that have none of the engine's embedding, where it has one.
    pub to_embed: u64,
    /// Bytes of the data file.
    pub file_bytes: u64,
    /// Number of the generation.
    pub generation: u32,
}

impl Engine {
    /// Counts of the store's contents, and of events since this process opened it, by name. The counts of tokens are those of the process.
    pub fn metrics(&self) -> Result<Vec<(&'static str, u64)>> {
        let contents = self.contents()?;
        let counts = crate::tokens::shared_cache().metrics();
        let mut rows = vec![
            ("generation", contents.generation.into()),
            ("file_bytes", contents.file_bytes),
            ("free_bytes", self.store().read(|snapshot| Ok(snapshot.free_bytes()))?),
            ("scopes", contents.scopes),
            ("memories", contents.memories),
            ("vectors", contents.vectors),
            ("to_embed", contents.to_embed),
            ("collections", contents.collections),
            ("documents", contents.documents),
            ("chunks", contents.chunks),
            ("chunk_vectors", contents.chunk_vectors),
        ];
        rows.extend(self.store().metrics().snapshot());
        rows.extend([("token_cache_hits", counts.hits), ("token_cache_misses", counts.misses)]);
        Ok(rows)
    }

    /// Opens the store at `path`, or makes one there.
    pub fn open(path: &Path, options: EngineOptions) -> Result<Self> {
        Core::open(path, options).and_then(Self::of)
    }

    /// An engine on an open store, which is read as a whole first where nothing vouches for it: a copy of a store in use is torn in
    /// ways that single values do not show.
    fn of(core: Core) -> Result<Self> {
        if let Some(why) = core.store().unverified()? {
            let report = core.store().read(audit)?;
            if let Some(finding) = report.findings.first() {
                return Err(torn(core.store(), why, report.findings.len() as u64 + report.more_findings, finding));
            }
            core.store().vouch(core.busy_timeout())?;
        }
        Self(SessionCore::new(core)).resumed()
    }

    /// This engine, once it has finished whatever erasure another process died in. One that cannot be finished now waits for the next open.
    fn resumed(self) -> Result<Self> {
        if self.is_read_only() {
            return Ok(self);
        }
        match self.finish_erasures() {
            Err(error) if !matches!(error.kind(), ErrorKind::StoreBusy | ErrorKind::StoreFull | ErrorKind::ReadOnly) => Err(error),
            _ => Ok(self),
        }
    }

    /// Opens the store with the built-in embedding, unless it has met another one: see [`Core::open_by_default`].
    pub fn open_by_default(path: &Path, options: &EngineOptions) -> Result<Self> {
        Core::open_by_default(path, options, None).and_then(Self::of)
    }

    /// Opens a store that is encrypted, or makes one: with the embedding of `options`, or by default.
    pub fn open_encrypted(path: &Path, options: EngineOptions, by_default: bool, key: StoreKey) -> Result<Self> {
        Self::open_as(path, options, by_default, Some(key))
    }

    /// Opens a store as a caller says: with the embedding of `options`, or by default, and with a key, where it has one.
    pub fn open_as(path: &Path, options: EngineOptions, by_default: bool, key: Option<StoreKey>) -> Result<Self> {
        let core = if by_default { Core::open_by_default(path, &options, key) } else { Core::open_with_key(path, options, key) };
        core.and_then(Self::of)
    }

    /// This engine, whose writes `witness` sees with their homes. Only tests have one today; docs/decisions/0023 says what it is for.
    #[must_use]
    pub fn witnessed(mut self, witness: Arc<dyn Witness>) -> Self {
        self.0.core_mut().set_witness(witness);
        self
    }

    /// This engine with other rules for graphs over vectors.
    pub fn with_graph(mut self, graph: GraphOptions) -> Result<Self> {
        self.0.core_mut().set_graph(graph)?;
        Ok(self)
    }

    /// This engine with a policy for secrets and personal data in what is to be stored.
    #[must_use]
    pub fn with_screening(mut self, screening: crate::text::screening::Screening) -> Self {
        self.0.core_mut().set_screening(screening);
        self
    }

    /// This engine with rules of how long memories of each kind live, in the order of [`crate::memory::Kind::ALL`].
    #[must_use]
    pub fn with_rules(mut self, rules: [crate::memory::KindRule; 7]) -> Self {
        self.0.core_mut().set_rules(rules);
        self
    }

    /// Applies the caps of these rules to every scope; how many memories were forgotten.
    pub fn forget_over_caps(&self, now: i64) -> Result<u64> {
        let (mut after, mut forgotten) = (0, 0);
        loop {
            let page = self.scopes(after, STEP)?;
            let Some((last, _)) = page.last() else { return Ok(forgotten) };
            after = *last;
            for (_, scope) in &page {
                forgotten += self.forget_over_cap(scope, now)?;
            }
        }
    }

    /// Counts of the store's contents. Costs one read per scope.
    pub fn contents(&self) -> Result<Contents> {
        let mut contents = Contents::default();
        let mut after = 0;
        let embedder = self.embedder();
        // An embedding that the store does not know has made no vector; no partition has number 0 for it.
        let number = embedder.embedding.as_ref().map(|_| self.store().read(|snapshot| embedder.number(snapshot))).transpose()?;
        let number = number.map(Option::unwrap_or_default);
        loop {
            let page = self.store().read(|snapshot| {
                let page = scope::list(snapshot, after, STEP)?;
                page.iter().map(|(partition, _)| Ok((*partition, Head::read(snapshot, *partition)?))).collect::<Result<Vec<_>>>()
            })?;
            let Some((last, _)) = page.last() else { break };
            after = *last;
            for (_, head) in page {
                contents.scopes += 1;
                contents.memories += head.documents;
                contents.vectors += head.vectors;
                contents.to_embed += number.map_or(0, |number| head.documents.saturating_sub(head.vectors_of(number)));
            }
        }
        let (collections, heads) = self.store().read(collection::contents)?;
        (contents.collections, contents.documents) = (collections, heads.documents);
        (contents.chunks, contents.chunk_vectors) = (heads.chunks, heads.vectors);
        contents.to_embed += number.map_or(0, |_| heads.chunks.saturating_sub(heads.vectors));
        (contents.generation, contents.file_bytes) = self.store().size()?;
        Ok(contents)
    }

    /// A whole, verified, compacted copy in `target`; how many values it has.
    pub fn backup(&self, target: &Path) -> Result<u64> {
        copy::backup(self.store(), target)
    }

    /// Makes `key` the one that opens the store from now on, or leaves it plain: see [`rekey::rekey`]. Nothing of the old key stays in the
    /// files. The index of a plain store is written anew, under hashes that tell no word to anybody without the key.
    pub fn rekey(&self, key: Option<StoreKey>) -> Result<()> {
        self.check_writable()?;
        self.forget_warm();
        rekey::rekey(self.store(), key, self.busy_timeout(), &rehash::rehash)
    }

    /// Reads everything that is at the store's path now and says what contradicts what. Costs the whole store; see `doctor`.
    pub fn check(&self) -> Result<Report> {
        self.store().look_again()?;
        fork::giving_way(|| self.store().read(audit))
    }

    /// Rewrites the store into a new generation, without a byte of what was forgotten, and moves every process over to it.
    pub fn compact(&self) -> Result<u64> {
        self.check_writable()?;
        self.clear_remains()?;
        copy::compact(self.store(), self.busy_timeout())
    }
}

/// The findings of the doctor about the values, and of the reader of pages about pages that would be written over.
fn audit(snapshot: &Snapshot) -> Result<Report> {
    snapshot.tree().tolerate();
    let mut report = doctor::check(snapshot)?;
    report.read(STORE, "page", snapshot.check_pages())?;
    Ok(report)
}

fn torn(store: &Store, why: &str, findings: u64, first: &Finding) -> Error {
    Error::new(
        ErrorKind::StoreCorrupt,
        format!(
            "opening {}: {why}, so all of it was read, and {findings} things in it contradict each other, the first in partition {}: {}: {}; \
             nothing was changed: copy a store in use with memspan backup, or close it first",
            store.path().display(),
            first.partition,
            first.part,
            first.what
        ),
    )
}
