//! The inner loops, one file per instruction set, chosen at run time. The only `unsafe` of the vectors.
//!
//! Exactness: rows are any i8, a query's codes lie in -127..=127, and there are at most 8,192 of them, so a dot product
//! is at most 8192 * 128 * 127 = 133,169,152 and every partial sum of every kernel fits an i32 (the widest, unsigned rows
//! against signed queries, stays below 8192 * 255 * 127 + 8192 * 128 * 127 = 398,458,880). No kernel saturates, so integer
//! sums are equal in any order.
//! Dot products become scores by one f64 multiplication whose other factor is exact (24 x 24 bits), then truncation.

#![allow(clippy::inline_always)] // a loop is compiled for an instruction set only inside the function that enables it

mod float;
#[cfg(target_arch = "aarch64")]
mod neon;
mod scalar;
mod scattered;
#[cfg(target_arch = "x86_64")]
#[allow(clippy::wildcard_imports)] // thirty intrinsics, each named for its instruction
mod tile;
#[cfg(target_arch = "x86_64")]
#[allow(clippy::wildcard_imports)] // as above
mod x86;

pub(super) use float::{PartialDot, exact_dot};
pub(super) use scattered::{Dots, ROWS};

use super::Query;
use super::block::Block;
pub(super) use crate::store::prefetch::prefetch;
use crate::units::score::SCORE_ONE;

/// The ways to multiply int8 rows. All give the same scores; those that the processor lacks fall back to [`Scalar`](Self::Scalar).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kernel {
    /// x86-64: 64 products an instruction (`vpdpbusd` on 512 bits).
    Avx512Vnni,
    /// x86-64: 32 products an instruction (`vpdpbusd` on 256 bits).
    AvxVnni,
    /// x86-64: `vpmaddubsw` on magnitudes and signs.
    Avx2,
    /// Arm: `sdot`.
    NeonDot,
    /// Arm: widening multiplications.
    Neon,
    /// Any processor.
    Scalar,
}

type Scorer = unsafe fn(&Query, &Block<'_>, &[u8], &mut [i32]);

impl Kernel {
    /// Fastest first.
    pub const ALL: [Self; 6] = [Self::Avx512Vnni, Self::AvxVnni, Self::Avx2, Self::NeonDot, Self::Neon, Self::Scalar];

    /// The fastest that this processor has.
    #[must_use]
    pub fn best() -> Self {
        Self::ALL.into_iter().find(|kernel| kernel.is_available()).unwrap_or(Self::Scalar)
    }

    /// Whether this processor has it. The standard library asks the processor once and remembers.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => {
                is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vnni")
            }
            #[cfg(target_arch = "x86_64")]
            Self::AvxVnni => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("avxvnni"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => is_x86_feature_detected!("avx2"),
            #[cfg(target_arch = "aarch64")]
            Self::NeonDot => std::arch::is_aarch64_feature_detected!("dotprod"),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => std::arch::is_aarch64_feature_detected!("neon"),
            Self::Scalar => true,
            #[allow(unreachable_patterns)] // on processors other than the two above
            _ => false,
        }
    }

    /// A function that scores a block: `query` and block have the same dimensions, the slice of scores has one place a vector.
    /// `next` is the value that will be scored next, or nothing: its cache lines are asked for while this one is scored.
    pub(super) fn block_scorer(self) -> impl Fn(&Query, &Block<'_>, &[u8], &mut [i32]) + Copy {
        let scorer = self.scorer();
        move |query, block, next, scores| {
            assert!(query.dims() == block.dims() && scores.len() == block.len(), "one score a vector, of the query's dimensions");
            // SAFETY: `scorer` returned it after seeing that the processor has its instructions; the lengths were just compared,
            // `Block` holds len * dims bytes of rows, and `Query` pads its codes to a multiple of 64.
            unsafe { scorer(query, block, next, scores) }
        }
    }

    fn scorer(self) -> Scorer {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni if self.is_available() => x86::avx512_vnni,
            #[cfg(target_arch = "x86_64")]
            Self::AvxVnni if self.is_available() => x86::avx_vnni,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 if self.is_available() => x86::avx2,
            #[cfg(target_arch = "aarch64")]
            Self::NeonDot if self.is_available() => neon::dotprod,
            #[cfg(target_arch = "aarch64")]
            Self::Neon if self.is_available() => neon::widening,
            _ => scalar::score,
        }
    }
}

/// The factor of a dot product besides the scale of its row: 2^30 * scale of the query.
#[inline]
pub(super) fn score_factor(query: &Query) -> f64 {
    row_factor(query.scale)
}

/// The factor of a dot product besides the scale of its row, where a vector of that scale is the query.
#[inline]
pub(super) fn row_factor(scale: f32) -> f64 {
    f64::from(scale) * f64::from(SCORE_ONE)
}

/// `trunc(dot * (scale of the row * factor))`. Out of range it saturates, which only a block that no writer of ours makes
/// can reach; a NaN becomes the minimum.
#[inline(always)]
pub(super) fn to_score(dot: i32, scale: [u8; 4], factor: f64) -> i32 {
    let score = f64::from(dot) * (f64::from(f32::from_le_bytes(scale)) * factor);
    let score = if score > f64::from(i32::MIN) { score } else { f64::from(i32::MIN) };
    let score = if score < f64::from(i32::MAX) { score } else { f64::from(i32::MAX) };
    score as i32
}

#[cfg(test)]
mod tests;
