//! The embeddings that one open engine was given, one after the other: by `open`, then by each `reembed` with another embedder.
//!
//! A vector says by its *place* in this row who made it, so that a thread that embedded a text just before the embedder was exchanged
//! never stores its vector among those of the new one. Entries are only appended, so reading needs no lock, on either side of a fork.

use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, OnceLock};

use super::embedding::{self, Embedding, EmbeddingNumber};
use crate::Result;
use crate::index::vectors::UnitVector;
use crate::store::environment::WriteTransaction;
use crate::store::pages::Pages;

/// One of them.
#[derive(Debug, Default)]
pub struct Embedder {
    /// The embedding that it declares; `None` where the engine goes by words alone.
    pub embedding: Option<Embedding>,
    /// Its place in the row, from 0.
    pub place: u32,
    /// Whether it is the built-in one, so that nobody else need make its vectors.
    pub embeds: bool,
    /// Its number in this store; 0 until it is known.
    number: AtomicU16,
    /// How it embedded the probe text, once that was seen.
    probe: OnceLock<Vec<u8>>,
    /// Whether the store was seen to have a probe of it.
    probe_kept: AtomicBool,
    next: OnceLock<Arc<Self>>,
}

impl Embedder {
    pub fn new(embedding: Option<Embedding>, place: u32) -> Self {
        let embeds = embedding.as_ref().is_some_and(Embedding::is_built_in);
        Self { embedding, place, embeds, ..Self::default() }
    }

    /// The vector of a text, where it is the built-in one.
    pub fn embed(&self, text: &str) -> Option<UnitVector> {
        self.embeds.then(|| crate::embedding::embed(text))
    }

    /// Its number; `None` where the store does not know it.
    pub fn number<P: Pages + ?Sized>(&self, pages: &P) -> Result<Option<EmbeddingNumber>> {
        let Some(embedding) = &self.embedding else { return Ok(None) };
        let known = self.number.load(Ordering::Relaxed);
        if known != 0 {
            return Ok(Some(known));
        }
        let found = embedding::find(pages, embedding)?;
        self.number.store(found.unwrap_or(0), Ordering::Relaxed);
        Ok(found)
    }

    /// Its number and dimensions; registered where the store does not know it yet.
    pub fn number_in_write(&self, txn: &mut WriteTransaction<'_>) -> Result<Option<(EmbeddingNumber, usize)>> {
        let Some(embedding) = &self.embedding else { return Ok(None) };
        let known = self.number.load(Ordering::Relaxed);
        // A number is remembered only once a snapshot has shown it: this transaction may yet be undone.
        let probe = self.probe.get().map(Vec::as_slice);
        let number = if known == 0 { embedding::find_or_make(txn, embedding, probe)? } else { known };
        if let Some(probe) = probe
            && !self.probe_kept.load(Ordering::Relaxed)
        {
            self.probe_kept.store(embedding::keep_probe(txn, number, embedding, probe)?, Ordering::Relaxed);
        }
        Ok(Some((number, embedding.dimensions as usize)))
    }

    /// Notes how it embedded the probe text.
    pub fn note_probe(&self, codes: Vec<u8>) {
        self.probe.get_or_init(|| codes);
    }
}

/// The row.
#[derive(Debug)]
pub(super) struct Embedders(Arc<Embedder>);

impl Embedders {
    pub fn new(embedding: Option<Embedding>) -> Self {
        Self(Arc::new(Embedder::new(embedding, 0)))
    }

    fn row(&self) -> impl Iterator<Item = &Arc<Embedder>> {
        std::iter::successors(Some(&self.0), |embedder| embedder.next.get())
    }

    /// The one that makes vectors now: the last.
    pub fn now(&self) -> &Arc<Embedder> {
        self.row().last().unwrap_or(&self.0)
    }

    /// The one at a place.
    pub fn at(&self, place: u32) -> Option<&Arc<Embedder>> {
        self.row().find(|embedder| embedder.place == place)
    }

    /// The newest that makes vectors of `embedding`.
    pub fn of(&self, embedding: &Embedding) -> Option<&Arc<Embedder>> {
        self.row().filter(|embedder| embedder.embedding.as_ref() == Some(embedding)).last()
    }

    /// Makes `embedding` the one of this engine from now on.
    pub fn push(&self, embedding: &Embedding) -> &Arc<Embedder> {
        loop {
            let last = self.now();
            if last.embedding.as_ref() == Some(embedding) {
                return last;
            }
            // Where another thread is faster, its own is the last, and ours comes behind it.
            let _ = last.next.set(Arc::new(Embedder::new(Some(embedding.clone()), last.place + 1)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_embedder_has_a_place_and_the_last_one_counts() {
        let named = |name: &str| Embedding { name: name.to_owned(), dimensions: 4, revision: String::new() };
        let row = Embedders::new(Some(named("a")));
        assert_eq!(row.push(&named("a")).place, 0, "the same one is not exchanged");
        assert_eq!(row.push(&named("b")).place, 1);
        assert_eq!(row.push(&named("a")).place, 2);
        assert_eq!((row.now().place, row.at(1).map(|one| one.place), row.at(3).is_none()), (2, Some(1), true));
        assert_eq!(row.of(&named("a")).map(|one| one.place), Some(2));
        assert!(row.of(&named("c")).is_none());
        assert!(!row.now().embeds && Embedders::new(Some(Embedding::built_in())).now().embeds);
    }
}
