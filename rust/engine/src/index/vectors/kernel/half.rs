//! What a score cannot exceed, from the first half of a row: rows that cannot be among the best are not read to their end.
//!
//! ```text
//! cos(q, x) <= dot(q', x') + |q"| * sqrt(|x|^2 - |x'|^2)      ' the first half, " the rest (Cauchy and Schwarz)
//! |x|       <= LONGEST + OFF_A_SCALE * scale                  a vector has length 1, and its codes are half a scale off in each dimension
//! ```
//!
//! It pays where first dimensions say most, as those of the built-in embedding do (83 % of the squares of a text lie in its first half), and
//! where vectors are so many that reading them takes the time. A row that it lets through gets its score as any other: nothing is
//! approximate. Processors without the instructions read all rows, and answer the same.

use super::super::Query;
use super::super::block::Block;
use super::Kernel;
use crate::units::score::SCORE_ONE;

/// Dimensions of the rows that are read so.
pub(in super::super) const WHOLE: usize = 256;
/// Of these, what is read first.
pub(in super::super) const HALF: usize = 128;
/// Bytes of a full block before its rows, envelope included.
pub(super) const BEFORE_ROWS: usize = 176;

/// Rows of a block that are looked at so.
pub(in super::super) const TILE: usize = 16;

/// Vectors are of length 1, but for roundings.
pub(super) const LONGEST: f32 = 1.001;
/// sqrt(256) / 2, rounded up.
pub(super) const OFF_A_SCALE: f32 = 8.01;
/// More than what the roundings of a bound can take off it, in units of a score: a cosine of 4e-6.
pub(super) const SLACK: f32 = 4_096.0;

/// The first half of a query, and how long the rest is.
#[derive(Debug)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))] // nobody else makes one
pub(in super::super) struct Half {
    pub(super) codes: [i8; HALF],
    pub(super) sum: i32,
    /// In units of a score.
    pub(super) rest: f32,
}

impl Half {
    /// That of a query; `None` where this processor, or its dimensions, are others.
    pub fn of(query: &Query) -> Option<Self> {
        if query.dims() != WHOLE || Kernel::best() != Kernel::Avx512Vnni {
            return None;
        }
        let (codes, rest) = query.codes()[..WHOLE].split_first_chunk::<HALF>()?;
        let squares: i64 = rest.iter().map(|code| i64::from(*code) * i64::from(*code)).sum();
        let rest = (squares as f64).sqrt() * f64::from(query.scale) * f64::from(SCORE_ONE);
        Some(Self { codes: *codes, sum: codes.iter().map(|code| i32::from(*code)).sum(), rest: rest as f32 })
    }

    /// Which of the first [`TILE`] rows of a block can exceed `bar`, a bit each. `next` is the value that comes after it.
    #[allow(unused_variables)] // on processors that never have one
    pub fn above(&self, query: &Query, block: &Block<'_>, next: &[u8], bar: i32) -> u16 {
        assert!(query.dims() == WHOLE && block.dims() == WHOLE, "rows of {WHOLE} dimensions");
        #[cfg(target_arch = "x86_64")]
        // SAFETY: `of` makes one only where the processor has the instructions; rows and query are as long as was just compared.
        unsafe {
            super::tile::above(query, self, block, next, bar)
        }
        #[cfg(not(target_arch = "x86_64"))]
        u16::MAX
    }
}
