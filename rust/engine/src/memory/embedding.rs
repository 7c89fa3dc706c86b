//! Which embedding made which vectors: an identity in the store, its number in every vector's key.

use std::ops::ControlFlow;

use crate::embedding as built_in;
use crate::store::envelope::{self, Codec};
use crate::store::keys::{Key, STORE, Table};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::{Error, Result};

/// What an embedder says of itself, and how it embedded a probe text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embedding {
    /// Its name.
    pub name: String,
    /// Numbers in a vector.
    pub dimensions: u32,
    /// Its revision; empty where it has none.
    pub revision: String,
}

impl Embedding {
    /// That of the embedding which needs nobody: [`crate::embedding`].
    #[must_use]
    pub fn built_in() -> Self {
        Self { name: built_in::NAME.to_owned(), dimensions: built_in::DIMENSIONS as u32, revision: built_in::REVISION.to_owned() }
    }

    /// Whether the engine itself can make its vectors.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        *self == Self::built_in()
    }
}

/// Number of an embedding in this store, from 1.
pub type EmbeddingNumber = u16;

/// The number of `wanted`; `None` where no vector of it was ever stored.
pub fn find<P: Pages + ?Sized>(pages: &P, wanted: &Embedding) -> Result<Option<EmbeddingNumber>> {
    Ok(list(pages)?.into_iter().find(|(_, known)| known == wanted).map(|(number, _)| number))
}

/// The number of `wanted`, given now where there was none.
pub fn find_or_make(pages: &mut impl PagesMut, wanted: &Embedding) -> Result<EmbeddingNumber> {
    let known = list(pages)?;
    if let Some((number, _)) = known.iter().find(|(_, known)| known == wanted) {
        return Ok(*number);
    }
    let number = known
        .last()
        .map_or(0, |(number, _)| *number)
        .checked_add(1)
        .ok_or_else(|| Error::invalid("registering an embedder: a store can know 65,535 embeddings, and it does: use a new store"))?;
    let key = Key::new(STORE, Table::Embedding).u16(number);
    let mut body = Writer::array(3);
    body.text(&wanted.name);
    body.uint(u64::from(wanted.dimensions));
    body.text(&wanted.revision);
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, body.bytes()))?;
    Ok(number)
}

/// The dimensions of an embedding that the store knows.
pub fn dimensions<P: Pages + ?Sized>(pages: &P, number: EmbeddingNumber) -> Result<usize> {
    let key = Key::new(STORE, Table::Embedding).u16(number);
    let known = list(pages)?.into_iter().find(|(known, _)| *known == number);
    known
        .map(|(_, embedding)| embedding.dimensions as usize)
        .ok_or_else(|| envelope::damaged(key.as_slice(), "vectors refer to it and it is missing"))
}

/// Every embedding of the store, by number.
pub fn list<P: Pages + ?Sized>(pages: &P) -> Result<Vec<(EmbeddingNumber, Embedding)>> {
    let range = Key::new(STORE, Table::Embedding).prefix_range();
    let mut found = Vec::new();
    pages.scan(&range.start, &range.end, &mut |key, value| {
        let number = key.get(5..7).map_or(0, |b| u16::from_be_bytes([b[0], b[1]]));
        let mut r = Reader::array(key, envelope::open(key, value)?.body)?;
        found.push((number, Embedding { name: r.text()?.to_owned(), dimensions: r.uint()? as u32, revision: r.text()?.to_owned() }));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}
