//! The vectors of an open store: who makes them, which are there already, and those of a partition.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Core;
use crate::Result;
use crate::index::vectors::{UnitVector, VectorSet};
use crate::memory::embedders::Embedder;
use crate::memory::embedding::{self, Embedding, EmbeddingNumber};
use crate::memory::new_memory::NewMemory;
use crate::memory::remember;
use crate::scope::{Head, Scope};
use crate::store::keys::Partition;
use crate::store::metrics::add;
use crate::store::pages::Pages;

impl Core {
    /// The embeddings that the store has met, in that order.
    pub fn embeddings(&self) -> Result<Vec<Embedding>> {
        self.store.read(|snapshot| Ok(embedding::list(snapshot)?.into_iter().map(|(_, embedding)| embedding).collect()))
    }

    /// The vector of a text, where the embedding is the built-in one.
    #[must_use]
    pub fn embed(&self, text: &str) -> Option<UnitVector> {
        self.embedders.now().embed(text)
    }

    /// Makes `embedding` the one of this engine from now on; its place among those that the engine was given. Vectors that were made
    /// for the one before and come later are not stored among its own.
    pub fn exchange_embedding(&self, embedding: &Embedding) -> u32 {
        self.embedders.push(embedding).place
    }

    /// The place of the embedding that makes vectors now, among those that the engine was given.
    #[must_use]
    pub fn embedding_place(&self) -> u32 {
        self.embedders.now().place
    }

    /// The place of the embedding that a scope is searched by; `None` where that is none of those that the engine was given.
    pub fn place_of(&self, scope: &Scope) -> Result<Option<u32>> {
        self.store.read(|snapshot| {
            let Some(partition) = scope.find(snapshot)? else { return Ok(None) };
            let number = Head::read(snapshot, partition)?.embedding;
            let known = embedding::list(snapshot)?.into_iter().find(|(known, _)| *known == number);
            Ok(known.and_then(|(_, embedding)| self.embedders.of(&embedding)).map(|embedder| embedder.place))
        })
    }

    /// Compares how the embedder at `place` embeds [`embedding::PROBE`] with how it did when the store met it; an error says that it is
    /// another model under the same name. Where the store knows nothing of that, the next write of this engine keeps it.
    pub fn check_probe(&self, place: u32, vector: &UnitVector) -> Result<()> {
        let Some(embedder) = self.embedders.at(place) else { return Ok(()) };
        let Some(embedding) = &embedder.embedding else { return Ok(()) };
        let codes = embedding::probe_codes(vector);
        self.store.read(|snapshot| embedding::compare_probe(snapshot, embedding, &codes))?;
        embedder.note_probe(codes);
        Ok(())
    }

    /// The vectors that current memories of the same scope, kind, slot and text have already, so that no embedder need be asked again;
    /// `None` for each row without one. Made by the embedder at `place`.
    pub fn known_vectors(&self, place: u32, rows: &[(&Scope, &NewMemory)]) -> Result<Vec<Option<UnitVector>>> {
        let Some(embedder) = self.embedders.at(place) else { return Ok(vec![None; rows.len()]) };
        self.store.read(|snapshot| {
            let Some((number, dims)) = embedder.number(snapshot)?.zip(embedder.embedding.as_ref().map(|one| one.dimensions)) else {
                return Ok(vec![None; rows.len()]);
            };
            rows.iter().map(|(scope, new)| remember::known_vector(snapshot, scope, new, (number, dims as usize))).collect()
        })
    }

    /// The vector that a current memory of the same scope, kind, slot and text has already, counted as reused; `None` without one.
    pub fn known_vector(&self, place: u32, scope: &Scope, new: &NewMemory) -> Result<Option<UnitVector>> {
        let known = self.known_vectors(place, &[(scope, new)])?.pop().flatten();
        add(&self.store.metrics().vectors_reused, u64::from(known.is_some()));
        Ok(known)
    }

    /// The embedding that makes the vectors.
    #[must_use]
    pub fn embedding(&self) -> Option<&Embedding> {
        self.embedders.now().embedding.as_ref()
    }

    /// The number of this engine's embedding and its vectors in a partition; `None` without an embedder or any vector.
    ///
    /// It reads the snapshot that its caller holds: a second one would wait for those who wait for the first to end.
    pub fn vector_set<P: Pages + ?Sized>(&self, pages: &P, partition: Partition) -> Result<Option<(EmbeddingNumber, VectorSet)>> {
        self.vector_set_of(self.embedders.now().place, pages, partition)
    }

    /// The number and the vectors in a partition of the embedding at `place` among those that the engine was given; `None` without an
    /// embedder or any vector.
    pub fn vector_set_of<P: Pages + ?Sized>(
        &self,
        place: u32,
        pages: &P,
        partition: Partition,
    ) -> Result<Option<(EmbeddingNumber, VectorSet)>> {
        let Some(embedder) = self.embedders.at(place) else { return Ok(None) };
        let Some(number) = embedder.number(pages)? else { return Ok(None) };
        let dims = embedder.embedding.as_ref().map_or(0, |embedding| embedding.dimensions as usize);
        let set = VectorSet::new(partition, number, dims)?;
        Ok(Some((number, set.with_ef_search(self.graph.ef_search))))
    }

    /// The vectors of a partition that is searched by the built-in embedding, whose number `searched` then is.
    pub fn built_in_set<P: Pages + ?Sized>(&self, pages: &P, partition: Partition, searched: EmbeddingNumber) -> Result<Option<VectorSet>> {
        let mut number = self.built_in_number.load(Ordering::Relaxed);
        if number == 0 {
            number = embedding::find(pages, &Embedding::built_in())?.unwrap_or(0);
            self.built_in_number.store(number, Ordering::Relaxed);
        }
        if number == 0 || number != searched {
            return Ok(None);
        }
        let set = VectorSet::new(partition, number, crate::embedding::DIMENSIONS)?;
        Ok(Some(set.with_ef_search(self.graph.ef_search)))
    }

    /// The embedder that makes this engine's vectors, for use inside a transaction.
    pub(crate) fn embedder(&self) -> Arc<Embedder> {
        Arc::clone(self.embedders.now())
    }
}
