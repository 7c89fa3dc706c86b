//! The exact vectors: f32 of length 1, read for the candidates that are reranked.
//!
//! Little-endian f32, raw, 1,008 to a value: a multiple of the lanes of the dot product, so that a vector in pieces sums like
//! one in a piece, and with its envelope less than a page. Every piece but the last has the `CONTINUES` bit.

use super::kernel::PartialDot;
use super::{Query, Scored, UnitVector, VectorSet, select};
use crate::Result;
use crate::store::envelope::{self, CONTINUES, Codec, ENVELOPE_BYTES};
use crate::store::keys::Key;
use crate::store::pages::{Pages, PagesMut};
use crate::store::verified;
use crate::units::score::SCORE_ONE;

/// Layout of an exact vector's body.
const EXACT_SCHEMA: u8 = 1;

/// Components in a value.
const CHUNK: usize = 1008;

impl VectorSet {
    /// The cosine of `query` and the vector of `number`, in fixed point; `None` where it has none.
    pub fn cosine<P: Pages + ?Sized>(&self, pages: &P, number: u32, query: &Query) -> Result<Option<i32>> {
        self.check_query(query)?;
        let mut dot = PartialDot::default();
        for (at, part) in query.unit().as_slice().chunks(CHUNK).enumerate() {
            let Some(stored) = self.chunk(pages, number, at)? else { return Ok(None) };
            dot.add(part, stored);
        }
        Ok(Some((dot.sum() * f64::from(SCORE_ONE)) as i32))
    }

    /// Replaces the scores of `candidates` by their exact cosines and puts them in order: score descending, number ascending.
    pub fn rerank<P: Pages + ?Sized>(&self, pages: &P, query: &Query, candidates: &mut [Scored]) -> Result<()> {
        for candidate in candidates.iter_mut() {
            let missing = || envelope::damaged(self.exact(candidate.number).as_slice(), "it is missing, and its vector stands in a block");
            candidate.score = self.cosine(pages, candidate.number, query)?.ok_or_else(missing)?;
        }
        select::sort(candidates);
        Ok(())
    }

    /// Whether `number` has a vector.
    pub fn contains<P: Pages + ?Sized>(&self, pages: &P, number: u32) -> Result<bool> {
        Ok(pages.get(self.exact(number).u16(0).as_slice())?.is_some())
    }

    /// The stored vector of `number`.
    pub fn get<P: Pages + ?Sized>(&self, pages: &P, number: u32) -> Result<Option<Vec<f32>>> {
        let mut vector = Vec::with_capacity(self.dims);
        for at in 0..self.chunks() {
            let Some(stored) = self.chunk(pages, number, at)? else { return Ok(None) };
            vector.extend(stored.iter().map(|&bytes| f32::from_le_bytes(bytes)));
        }
        Ok(Some(vector))
    }

    pub(super) fn put_exact<P: PagesMut + ?Sized>(&self, pages: &mut P, number: u32, vector: &UnitVector) -> Result<()> {
        for (at, part) in vector.as_slice().chunks(CHUNK).enumerate() {
            let key = self.chunk_key(number, at);
            let mut value = Vec::with_capacity(ENVELOPE_BYTES + 4 * part.len());
            value.resize(ENVELOPE_BYTES, 0);
            value.extend(part.iter().flat_map(|x| x.to_le_bytes()));
            envelope::seal_in_place(key.as_slice(), EXACT_SCHEMA, self.codec(at), &mut value);
            pages.put(key.as_slice(), &value)?;
        }
        Ok(())
    }

    pub(super) fn delete_exact<P: PagesMut + ?Sized>(&self, pages: &mut P, number: u32) -> Result<()> {
        (0..self.chunks()).try_for_each(|at| pages.delete(self.chunk_key(number, at).as_slice()).map(|_| ()))
    }

    /// One piece. The first may be missing (there is no such vector), a later one may not.
    fn chunk<'p, P: Pages + ?Sized>(&self, pages: &'p P, number: u32, at: usize) -> Result<Option<&'p [[u8; 4]]>> {
        let key = self.chunk_key(number, at);
        let key = key.as_slice();
        let Some(value) = pages.get(key)? else {
            return if at == 0 {
                Ok(None)
            } else {
                Err(envelope::damaged(key, "it is missing, and the piece before it says that it follows"))
            };
        };
        let body = verified::open(key, value, EXACT_SCHEMA, self.codec(at), is_finite)?;
        let (components, rest) = body.as_chunks::<4>();
        if rest.is_empty() && components.len() == CHUNK.min(self.dims - at * CHUNK) {
            return Ok(Some(components));
        }
        Err(envelope::damaged(key, "its length is not that of its part of a vector"))
    }

    fn chunk_key(&self, number: u32, at: usize) -> Key {
        self.exact(number).u16(at as u16)
    }

    fn chunks(&self) -> usize {
        self.dims.div_ceil(CHUNK)
    }

    fn codec(&self, at: usize) -> u8 {
        Codec::Raw as u8 | if at + 1 < self.chunks() { CONTINUES } else { 0 }
    }
}

fn is_finite(body: &[u8]) -> bool {
    body.as_chunks().0.iter().all(|&bytes| f32::from_le_bytes(bytes).is_finite())
}
