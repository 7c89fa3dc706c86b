//! The engine: an open store with everything that can be done with it, above all other rooms.
//!
//! What one memory, document or session needs is in the rooms below, which take a [`Core`] or a [`SessionCore`]; here is what needs
//! all of them: opening, [`maintain`], [`graphs`], the [`doctor`], copies. An engine stands for its core wherever one is taken.

mod doctor;
mod graphs;
mod maintain;

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use crate::Result;
pub use crate::audit::{Finding, Report};
use crate::collection;
use crate::index::vectors::graph::GraphOptions;
use crate::memory::Core;
pub use crate::memory::EngineOptions;
use crate::memory::maintain::STEP;
use crate::scope::{self, Head, Witness};
use crate::session::SessionCore;
use crate::store::copy;
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

/// What is in a store.
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
    /// Opens the store at `path`, or makes one there.
    pub fn open(path: &Path, options: EngineOptions) -> Result<Self> {
        Core::open(path, options).map(|core| Self(SessionCore::new(core)))
    }

    /// Opens the store with the built-in embedding, unless it has met another one: see [`Core::open_by_default`].
    pub fn open_by_default(path: &Path, options: &EngineOptions) -> Result<Self> {
        Core::open_by_default(path, options).map(|core| Self(SessionCore::new(core)))
    }

    /// The same engine, whose writes `witness` sees with their homes.
    #[must_use]
    pub fn witnessed(mut self, witness: Arc<dyn Witness>) -> Self {
        self.0.core_mut().set_witness(witness);
        self
    }

    /// The same engine with other rules for graphs over vectors.
    pub fn with_graph(mut self, graph: GraphOptions) -> Result<Self> {
        self.0.core_mut().set_graph(graph)?;
        Ok(self)
    }

    /// What is in the store. Costs one read per scope.
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

    /// Reads everything and says what contradicts what. Costs the whole store; see [`doctor`].
    pub fn check(&self) -> Result<Report> {
        self.store().read(doctor::check)
    }

    /// Rewrites the store into a new generation and moves every process over to it.
    pub fn compact(&self) -> Result<u64> {
        self.check_writable()?;
        copy::compact(self.store(), self.busy_timeout())
    }
}
