//! Which embedding made which vectors: an identity in the store, its number in every vector's key.

use std::ops::ControlFlow;

use crate::embedding as built_in;
use crate::index::vectors::UnitVector;
use crate::limits::{MAX_DIMENSIONS, MAX_NAME_BYTES, within};
use crate::store::envelope::{self, Codec};
use crate::store::keys::{Key, STORE, Table};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::{Error, ErrorKind, Result};

/// An embedding as its embedder declares it, and how that embedded a probe text.
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
    /// An embedding as its embedder declares it: the identity of its vectors in the store.
    pub fn new(name: String, dimensions: u32, revision: String) -> Result<Self> {
        if name.is_empty() || name.len() > MAX_NAME_BYTES {
            return Err(Error::invalid(format!(
                "reading the embedder's name: it must have 1 to {MAX_NAME_BYTES} bytes of UTF-8, and it has {}: it is the identity of its vectors in the store",
                name.len()
            )));
        }
        within("the embedder's dimensions", u64::from(dimensions), 1..=MAX_DIMENSIONS as u64)?;
        Ok(Self { name, dimensions, revision })
    }

    /// The embedding that needs nobody: [`crate::embedding`].
    #[must_use]
    pub fn built_in() -> Self {
        Self { name: built_in::NAME.to_owned(), dimensions: built_in::DIMENSIONS as u32, revision: built_in::REVISION.to_owned() }
    }

    /// Whether the engine itself can make its vectors.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        (self.name.as_str(), self.dimensions as usize, self.revision.as_str()) == (built_in::NAME, built_in::DIMENSIONS, built_in::REVISION)
    }
}

/// Number of an embedding in this store, from 1.
pub type EmbeddingNumber = u16;

/// The number of `wanted`; `None` where no vector of it was ever stored.
pub fn find<P: Pages + ?Sized>(pages: &P, wanted: &Embedding) -> Result<Option<EmbeddingNumber>> {
    Ok(list(pages)?.into_iter().find(|(_, known)| known == wanted).map(|(number, _)| number))
}

/// The number of `wanted`, given now where there was none.
///
/// `probe` is how it embeds the probe text ([`probe_codes`]), where that is known.
pub fn find_or_make(pages: &mut impl PagesMut, wanted: &Embedding, probe: Option<&[u8]>) -> Result<EmbeddingNumber> {
    let known = list(pages)?;
    if let Some((number, _)) = known.iter().find(|(_, known)| known == wanted) {
        return Ok(*number);
    }
    let number = known
        .last()
        .map_or(0, |(number, _)| *number)
        .checked_add(1)
        .ok_or_else(|| Error::invalid("registering an embedder: a store can know 65,535 embeddings, and it does: use a new store"))?;
    put(pages, number, wanted, probe)?;
    Ok(number)
}

fn put(pages: &mut impl PagesMut, number: EmbeddingNumber, embedding: &Embedding, probe: Option<&[u8]>) -> Result<()> {
    let key = Key::new(STORE, Table::Embedding).u16(number);
    let mut body = Writer::array(if probe.is_some() { 4 } else { 3 });
    body.text(&embedding.name);
    body.uint(u64::from(embedding.dimensions));
    body.text(&embedding.revision);
    if let Some(probe) = probe {
        body.bin(probe);
    }
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, body.bytes()))
}

/// The text that is embedded to see whether a model still is what it was. Part of the format: another text would call every model changed.
pub const PROBE: &str = "The quick brown fox jumps over the lazy dog; payments-api listens on port 8443.";

/// Components of a probe that are kept.
const PROBE_DIMENSIONS: usize = 256;

/// Below this cosine of two probes the model is another: services give the same text the same vector to some 1e-4 only.
const SAME_MODEL: f64 = 0.99;

/// A probe's vector as it is kept: its first 256 components, in steps of 1/127 of the largest.
#[must_use]
pub fn probe_codes(vector: &UnitVector) -> Vec<u8> {
    let kept = &vector.as_slice()[..vector.as_slice().len().min(PROBE_DIMENSIONS)];
    let largest = kept.iter().fold(f64::from(f32::MIN_POSITIVE), |most, x| most.max(f64::from(x.abs())));
    kept.iter().map(|x| ((f64::from(*x) * 127.0 / largest).round() as i8) as u8).collect()
}

/// Compares how an embedder embeds the probe text with how it did when the store met it, where the store knows that.
pub fn compare_probe<P: Pages + ?Sized>(pages: &P, embedding: &Embedding, codes: &[u8]) -> Result<()> {
    let Some(number) = find(pages, embedding)? else { return Ok(()) };
    let Some(known) = probe(pages, number)? else { return Ok(()) };
    let cosine = cosine(&known, codes);
    if cosine >= SAME_MODEL {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Embedder,
        format!(
            "comparing the embedder {:?} with the one that made the store's vectors: it must embed the probe text as it did then, and the two have a cosine of {cosine:.3}: it is another model under the same name: give it another `revision`, then reembed()",
            embedding.name
        ),
    )
    .with("reason", "it is not the model that made the store's vectors: it embeds the probe text differently")
    .with("cosine", format!("{cosine:.3}")))
}

/// Keeps the probe of an embedding that the store knows without one; whether it had one.
pub fn keep_probe(pages: &mut impl PagesMut, number: EmbeddingNumber, embedding: &Embedding, codes: &[u8]) -> Result<bool> {
    if probe(pages, number)?.is_some() {
        return Ok(true);
    }
    put(pages, number, embedding, Some(codes))?;
    Ok(false)
}

fn probe<P: Pages + ?Sized>(pages: &P, number: EmbeddingNumber) -> Result<Option<Vec<u8>>> {
    let key = Key::new(STORE, Table::Embedding).u16(number);
    let Some(value) = pages.get(key.as_slice())? else { return Ok(None) };
    let mut r = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
    let (_, _, _) = (r.text()?, r.uint()?, r.text()?);
    Ok(Some(r.bin()?.to_vec()).filter(|probe| !probe.is_empty()))
}

/// The cosine of two rows of codes; 0 where one is zeros or their lengths differ.
fn cosine(a: &[u8], b: &[u8]) -> f64 {
    let dot = |a: &[u8], b: &[u8]| a.iter().zip(b).map(|(x, y)| i64::from(*x as i8) * i64::from(*y as i8)).sum::<i64>() as f64;
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if a.len() != b.len() || lengths == 0.0 { 0.0 } else { dot(a, b) / lengths }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::pages::MemoryPages;

    fn unit(values: &[f32]) -> UnitVector {
        UnitVector::new(values, values.len()).unwrap()
    }

    #[test]
    fn a_probe_tells_another_model_and_not_noise() {
        let mut pages = MemoryPages::default();
        let embedding = Embedding { name: "model".into(), dimensions: 4, revision: String::new() };
        let codes = probe_codes(&unit(&[0.9, -0.3, 0.1, 0.02]));
        compare_probe(&pages, &embedding, &codes).expect("the store does not know it");
        assert_eq!(find_or_make(&mut pages, &embedding, None).unwrap(), 1);
        compare_probe(&pages, &embedding, &[1, 2, 3, 4]).expect("no probe was kept");
        assert!(!keep_probe(&mut pages, 1, &embedding, &codes).unwrap());
        assert!(keep_probe(&mut pages, 1, &embedding, &[1, 2, 3, 4]).unwrap());
        compare_probe(&pages, &embedding, &probe_codes(&unit(&[0.901, -0.299, 0.1, 0.021]))).expect("noise");
        for other in [[0.1_f32, 0.9, 0.0, 0.0], [0.9, 0.3, 0.1, 0.02]] {
            let error = compare_probe(&pages, &embedding, &probe_codes(&unit(&other))).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Embedder);
            assert!(error.to_string().contains("another model under the same name"), "{error}");
        }
        assert!(compare_probe(&pages, &embedding, &codes[..3]).is_err());
        assert_eq!(list(&pages).unwrap(), [(1, embedding)]);
    }

    #[test]
    fn a_probe_keeps_256_components_of_any_size() {
        let long: Vec<f32> = (0..3072).map(|at| (at as f32).sin()).collect();
        assert_eq!(probe_codes(&unit(&long)).len(), 256);
        assert_eq!(probe_codes(&unit(&[1.0, -1.0])), [127, 129]);
    }
}
