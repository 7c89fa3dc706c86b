//! The exact vectors, which the candidates of a scan are compared with once more.
//!
//! ```text
//! schema 2   f32 scale | i16 codes      x_i = code_i * scale, scale = max |x_i| / 32,767: what this version writes
//! schema 1   f32 components             what formats before 6 wrote; read, and never written
//! ```
//!
//! Little-endian, raw, in pieces that are less than a page and a multiple of the lanes of the dot product, so that a vector in pieces sums
//! like one in a piece. Every piece but the last has the `CONTINUES` bit; each of schema 2 begins with the scale. How near 16 bits come to
//! the order of 32 is measured: docs/decisions/0055.

use super::kernel::PartialDot;
use super::{Query, Scored, UnitVector, VectorSet, select};
use crate::Result;
use crate::store::envelope::{self, CONTINUES, Codec, ENVELOPE_BYTES};
use crate::store::keys::Key;
use crate::store::pages::{Pages, PagesMut};
use crate::store::verified;
use crate::units::score::SCORE_ONE;

/// Layout of a vector of 32 bits a component.
const FLOATS: u8 = 1;
/// Layout of a vector of 16 bits a component.
const CODES: u8 = 2;

/// Components in a piece of each.
const FLOATS_A_PIECE: usize = 1008;
const CODES_A_PIECE: usize = 2016;

const SCALE_BYTES: usize = 4;
const LARGEST: f64 = 32_767.0;

/// A piece of a stored vector.
enum Piece<'p> {
    Floats(&'p [[u8; 4]]),
    Codes(f32, &'p [[u8; 2]]),
}

impl Piece<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Floats(components) => components.len(),
            Self::Codes(_, codes) => codes.len(),
        }
    }
}

/// A vector as it is stored and read again: each component the nearest of 65,535 steps.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rounded {
    scale: f32,
    codes: Vec<i16>,
}

impl Rounded {
    pub fn new(vector: &UnitVector) -> Self {
        let max = vector.as_slice().iter().fold(0.0_f32, |max, x| max.max(x.abs()));
        if max == 0.0 {
            return Self { scale: f32::MIN_POSITIVE, codes: vec![0; vector.as_slice().len()] };
        }
        let inverse = LARGEST / f64::from(max);
        // Truncation of a positive number is `floor`; the sum is rounded once, so its order is part of the format.
        let code = |x: &f32| ((f64::from(*x) * inverse + (LARGEST + 1.5)) as i32 - 32_768).clamp(-32_767, 32_767) as i16;
        Self { scale: (f64::from(max) / LARGEST) as f32, codes: vector.as_slice().iter().map(code).collect() }
    }

    /// The components.
    pub fn unit(&self) -> UnitVector {
        UnitVector::stored(self.codes.iter().map(|code| component(*code, self.scale)).collect())
    }
}

fn component(code: i16, scale: f32) -> f32 {
    (f64::from(code) * f64::from(scale)) as f32
}

impl VectorSet {
    /// The cosine of `query` and the vector of `number`, in fixed point; `None` where it has none.
    pub fn cosine<P: Pages + ?Sized>(&self, pages: &P, number: u32, query: &Query) -> Result<Option<i32>> {
        self.check_query(query)?;
        let (mut dot, mut unit) = (PartialDot::default(), 1.0);
        let query = query.unit().as_slice();
        let found = self.each_piece(pages, number, |from, piece| {
            let part = &query[from..from + piece.len()];
            match piece {
                Piece::Floats(components) => dot.add(part, components),
                Piece::Codes(scale, codes) => {
                    unit = f64::from(scale);
                    dot.add_codes(part, codes);
                }
            }
        })?;
        Ok(found.then(|| (dot.sum() * (unit * f64::from(SCORE_ONE))) as i32))
    }

    /// Replaces the scores of `candidates` by their exact cosines and puts them in order: score descending, number
    /// ascending. For tests and benches; a recall asks for each cosine as it ranks.
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
        let found = self.each_piece(pages, number, |_, piece| match piece {
            Piece::Floats(components) => vector.extend(components.iter().map(|&bytes| f32::from_le_bytes(bytes))),
            Piece::Codes(scale, codes) => vector.extend(codes.iter().map(|&bytes| component(i16::from_le_bytes(bytes), scale))),
        })?;
        Ok(found.then_some(vector))
    }

    pub(super) fn put_exact<P: PagesMut + ?Sized>(&self, pages: &mut P, number: u32, vector: &Rounded) -> Result<()> {
        let pieces = self.dims.div_ceil(CODES_A_PIECE);
        for (at, part) in vector.codes.chunks(CODES_A_PIECE).enumerate() {
            let key = self.piece_key(number, at);
            let mut value = Vec::with_capacity(ENVELOPE_BYTES + SCALE_BYTES + 2 * part.len());
            value.resize(ENVELOPE_BYTES, 0);
            value.extend(vector.scale.to_le_bytes());
            value.extend(part.iter().flat_map(|code| code.to_le_bytes()));
            envelope::seal_in_place(key.as_slice(), CODES, codec(at + 1 < pieces), &mut value);
            pages.put(key.as_slice(), &value)?;
        }
        // The old value may have had another layout, with more pieces.
        self.delete_pieces(pages, number, pieces)
    }

    pub(super) fn delete_exact<P: PagesMut + ?Sized>(&self, pages: &mut P, number: u32) -> Result<()> {
        self.delete_pieces(pages, number, 0)
    }

    fn delete_pieces<P: PagesMut + ?Sized>(&self, pages: &mut P, number: u32, from: usize) -> Result<()> {
        let most = self.dims.div_ceil(FLOATS_A_PIECE);
        (from..most).try_for_each(|at| pages.delete(self.piece_key(number, at).as_slice()).map(drop))
    }

    /// Calls `visit` with each piece of a vector and the place of its first component; whether there is such a vector.
    fn each_piece<'p, P: Pages + ?Sized>(&self, pages: &'p P, number: u32, mut visit: impl FnMut(usize, Piece<'p>)) -> Result<bool> {
        let (mut at, mut from) = (0, 0);
        while from < self.dims {
            let Some(piece) = self.piece(pages, number, at, from)? else { return Ok(false) };
            let len = piece.len();
            visit(from, piece);
            (at, from) = (at + 1, from + len);
        }
        Ok(true)
    }

    /// One piece. The first may be missing (there is no such vector), a later one may not.
    fn piece<'p, P: Pages + ?Sized>(&self, pages: &'p P, number: u32, at: usize, from: usize) -> Result<Option<Piece<'p>>> {
        let key = self.piece_key(number, at);
        let key = key.as_slice();
        let Some(value) = pages.get(key)? else {
            return if at == 0 {
                Ok(None)
            } else {
                Err(envelope::damaged(key, "it is missing, and the piece before it says that it follows"))
            };
        };
        let left = self.dims - from;
        let (piece, wanted) = if value.first() == Some(&FLOATS) {
            let body = verified::open(key, value, FLOATS, codec(left > FLOATS_A_PIECE), is_finite)?;
            let (components, rest) = body.as_chunks::<4>();
            (rest.is_empty().then_some(Piece::Floats(components)), left.min(FLOATS_A_PIECE))
        } else {
            let body = verified::open(key, value, CODES, codec(left > CODES_A_PIECE), has_scale)?;
            let piece = body.split_first_chunk::<SCALE_BYTES>().and_then(|(scale, codes)| {
                let (codes, rest) = codes.as_chunks::<2>();
                rest.is_empty().then(|| Piece::Codes(f32::from_le_bytes(*scale), codes))
            });
            (piece, left.min(CODES_A_PIECE))
        };
        match piece.filter(|piece| piece.len() == wanted) {
            Some(piece) => Ok(Some(piece)),
            None => Err(envelope::damaged(key, "its length is not that of its part of a vector")),
        }
    }

    fn piece_key(&self, number: u32, at: usize) -> Key {
        self.exact(number).u16(at as u16)
    }
}

fn codec(goes_on: bool) -> u8 {
    Codec::Raw as u8 | if goes_on { CONTINUES } else { 0 }
}

fn is_finite(body: &[u8]) -> bool {
    body.as_chunks().0.iter().all(|&bytes| f32::from_le_bytes(bytes).is_finite())
}

fn has_scale(body: &[u8]) -> bool {
    body.first_chunk::<SCALE_BYTES>().is_some_and(|scale| f32::from_le_bytes(*scale) > 0.0 && f32::from_le_bytes(*scale) <= 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::vectors::testing::Random;
    use crate::store::pages::MemoryPages;

    #[test]
    fn sixteen_bits_keep_what_thirty_two_say() {
        let mut random = Random::new(5);
        for dims in [1, 16, 384, 1008, 2016, 2017, 4100] {
            let set = VectorSet::new(3, 1, dims).unwrap();
            let (unit, query) = (UnitVector::new(&random.vector(dims), dims).unwrap(), Query::new(&random.vector(dims), dims).unwrap());
            let rounded = Rounded::new(&unit);
            let step = f64::from(rounded.scale);
            let again = rounded.unit();
            let apart = unit.as_slice().iter().zip(again.as_slice()).map(|(a, b)| f64::from((a - b).abs())).fold(0.0, f64::max);
            assert!(apart <= step * 0.51 && Rounded::new(&again).codes == rounded.codes, "{dims}");
            let mut pages = MemoryPages::new();
            set.put_exact(&mut pages, 9, &rounded).unwrap();
            assert_eq!(set.get(&pages, 9).unwrap().as_deref(), Some(again.as_slice()));
            let exact: f64 = unit.as_slice().iter().zip(query.unit().as_slice()).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
            let cosine = f64::from(set.cosine(&pages, 9, &query).unwrap().unwrap()) / f64::from(SCORE_ONE);
            assert!((cosine - exact).abs() < 2e-5, "{dims} {cosine} {exact}");
            set.delete_exact(&mut pages, 9).unwrap();
            assert!(pages.is_empty() && set.get(&pages, 9).unwrap().is_none());
        }
    }

    #[test]
    fn vectors_of_older_formats_are_read_and_replaced() {
        let mut random = Random::new(6);
        for dims in [384, 2500] {
            let (set, unit) = (VectorSet::new(3, 1, dims).unwrap(), UnitVector::new(&random.vector(dims), dims).unwrap());
            let mut pages = MemoryPages::new();
            for (at, part) in unit.as_slice().chunks(FLOATS_A_PIECE).enumerate() {
                let key = set.piece_key(4, at);
                let mut value = vec![0; ENVELOPE_BYTES];
                value.extend(part.iter().flat_map(|x| x.to_le_bytes()));
                envelope::seal_in_place(key.as_slice(), FLOATS, codec((at + 1) * FLOATS_A_PIECE < dims), &mut value);
                pages.put(key.as_slice(), &value).unwrap();
            }
            assert_eq!(set.get(&pages, 4).unwrap().as_deref(), Some(unit.as_slice()));
            let rounded = Rounded::new(&unit);
            set.put_exact(&mut pages, 4, &rounded).unwrap();
            assert_eq!(set.get(&pages, 4).unwrap().as_deref(), Some(rounded.unit().as_slice()));
            assert_eq!(pages.len(), dims.div_ceil(CODES_A_PIECE));
        }
    }

    #[test]
    fn what_has_no_direction_is_stored_and_near_to_nothing() {
        let set = VectorSet::new(3, 1, 8).unwrap();
        let mut pages = MemoryPages::new();
        set.put_exact(&mut pages, 1, &Rounded::new(&UnitVector::without_direction(8))).unwrap();
        assert_eq!(set.cosine(&pages, 1, &Query::new(&[1.0; 8], 8).unwrap()).unwrap(), Some(0));
    }
}
