//! Kernels of 64-bit Arm: `sdot` where the processor has it, widening multiplications where not.
//!
//! `sdot` multiplies signed by signed bytes, four products to a 32-bit lane. The standard library offers it on nightly only
//! (feature `stdarch_neon_dotprod`), so it is written as assembly. Without it, `smull` makes 16-bit products, at most
//! 128 * 127 = 16,256, and `sadalp` adds pairs of them to 32-bit lanes.

use std::arch::aarch64::{int8x16_t, int32x4_t, vaddvq_s32, vdupq_n_s32, vget_low_s8, vld1q_s8, vmull_high_s8, vmull_s8, vpadalq_s16};
use std::arch::asm;

use super::super::Query;
use super::super::block::Block;
use super::{prefetch, score_factor, to_score};

/// Rows that are multiplied at once: each load of the query serves four.
const GROUP: usize = 4;

/// A kernel: `$step` for every 16 bytes of every row, then the scales, compiled as one function for `$features`.
macro_rules! kernel {
    ($name:ident, $rows:ident, $step:ident, $features:literal, $about:literal) => {
        #[doc = $about]
        #[target_feature(enable = $features)]
        pub(super) fn $name(query: &Query, block: &Block<'_>, next: &[u8], scores: &mut [i32]) {
            let dims = block.dims();
            for (at, (rows, dots)) in block.rows().chunks(GROUP * dims).zip(scores.chunks_mut(GROUP)).enumerate() {
                prefetch(next, at * GROUP * dims, GROUP * dims);
                match dots.len() {
                    4 => dots.copy_from_slice(&$rows::<4>(query, rows, dims)),
                    3 => dots.copy_from_slice(&$rows::<3>(query, rows, dims)),
                    2 => dots.copy_from_slice(&$rows::<2>(query, rows, dims)),
                    _ => dots.copy_from_slice(&$rows::<1>(query, rows, dims)),
                }
            }
            let factor = score_factor(query);
            for (score, &scale) in scores.iter_mut().zip(block.scales()) {
                *score = to_score(*score, scale, factor);
            }
        }

        #[target_feature(enable = $features)]
        fn $rows<const N: usize>(query: &Query, rows: &[u8], dims: usize) -> [i32; N] {
            let mut sums = [vdupq_n_s32(0); N];
            for at in (0..dims).step_by(16) {
                let code = load_query(query, at);
                for (row, sum) in sums.iter_mut().enumerate() {
                    *sum = $step(*sum, load_row(&rows[row * dims..(row + 1) * dims], at), code);
                }
            }
            sums.map(|sum| vaddvq_s32(sum))
        }
    };
}

kernel!(dotprod, rows_dot, step_dot, "neon,dotprod", "Scores every row of `block`, 16 products an instruction.");
kernel!(widening, rows_widening, step_widening, "neon", "Scores every row of `block`, 16 products in four instructions.");

#[inline]
#[target_feature(enable = "neon,dotprod")]
fn step_dot(mut sum: int32x4_t, row: int8x16_t, code: int8x16_t) -> int32x4_t {
    // SAFETY: `sdot` reads three registers and writes one; the function is compiled for processors that have it.
    unsafe {
        asm!("sdot {sum:v}.4s, {row:v}.16b, {code:v}.16b", sum = inout(vreg) sum, row = in(vreg) row, code = in(vreg) code, options(pure, nomem, nostack, preserves_flags));
    }
    sum
}

#[inline]
#[target_feature(enable = "neon")]
fn step_widening(sum: int32x4_t, row: int8x16_t, code: int8x16_t) -> int32x4_t {
    let low = vpadalq_s16(sum, vmull_s8(vget_low_s8(row), vget_low_s8(code)));
    vpadalq_s16(low, vmull_high_s8(row, code))
}

/// 16 codes of the query from `at` on, which lies below its dimensions.
#[inline]
#[target_feature(enable = "neon")]
fn load_query(query: &Query, at: usize) -> int8x16_t {
    let codes = query.codes();
    debug_assert!(at + 16 <= codes.len(), "the query is padded");
    // SAFETY: callers step by 16 below the query's dimensions, and its codes are padded to a multiple of 64.
    unsafe { vld1q_s8(codes.as_ptr().add(at)) }
}

/// 16 bytes of `row` from `at` on; zeros behind its end, where the query's codes are zeros too.
#[inline]
#[target_feature(enable = "neon")]
fn load_row(row: &[u8], at: usize) -> int8x16_t {
    if let Some(bytes) = row.get(at..at + 16) {
        // SAFETY: the slice has 16 bytes; the load needs no alignment.
        return unsafe { vld1q_s8(bytes.as_ptr().cast()) };
    }
    let mut padded = [0_u8; 16];
    padded[..row.len() - at].copy_from_slice(&row[at..]);
    // SAFETY: the array has 16 bytes.
    unsafe { vld1q_s8(padded.as_ptr().cast()) }
}
