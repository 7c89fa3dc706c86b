//! Kernels of x86-64: AVX-512 VNNI, AVX-VNNI, AVX2.
//!
//! `vpdpbusd` multiplies unsigned by signed bytes, four products to a 32-bit lane, without saturation. Rows are made
//! unsigned by flipping their top bit (+128), and 128 * sum(query) is taken off again by what each sum starts with.
//!
//! `vpmaddubsw` adds two such products in 16 bits and saturates there, so AVX2 multiplies |row| by the query's code with the row's
//! sign: at most 2 * 128 * 127 = 32,512, which fits. (Codes of a query are never -128, whose negation does not exist.)
//!
//! Four rows are multiplied at once: each load of the query serves four, and their sums are folded together.

use std::arch::x86_64::*;

use super::super::Query;
use super::super::block::Block;
use super::{prefetch, score_factor, tile};

/// Rows that are multiplied at once.
const GROUP: usize = 4;

/// A kernel: `$rows::<N>` and the scales for every group of rows, compiled as one function for `$features`.
macro_rules! kernel {
    ($name:ident, $groups:ident, $rows:ident, $features:literal, $about:literal) => {
        #[doc = $about]
        #[target_feature(enable = $features)]
        pub(super) fn $name(query: &Query, block: &Block<'_>, next: &[u8], scores: &mut [i32]) {
            // Loops of a known length are unrolled: a fifth less time, for the dimensions of the common small embeddings.
            match block.dims() {
                256 => $groups::<256>(query, block, next, scores),
                384 => $groups::<384>(query, block, next, scores),
                _ => $groups::<0>(query, block, next, scores),
            }
        }

        /// For blocks of `DIMS` dimensions, or of any where that is 0.
        #[target_feature(enable = $features)]
        fn $groups<const DIMS: usize>(query: &Query, block: &Block<'_>, next: &[u8], scores: &mut [i32]) {
            let dims = if DIMS == 0 { block.dims() } else { DIMS };
            let factor = score_factor(query);
            let (whole, rest) = scores.as_chunks_mut::<GROUP>();
            let (whole_scales, rest_scales) = block.scales().as_chunks::<GROUP>();
            let (whole_rows, rest_rows) = block.rows().split_at(whole.len() * GROUP * dims);
            for (at, (scores, scales)) in whole.iter_mut().zip(whole_scales).enumerate() {
                prefetch(next, at * GROUP * dims, GROUP * dims);
                let sums = $rows::<GROUP, DIMS>(query, &whole_rows[at * GROUP * dims..], dims);
                *scores = to_scores(sums, scales, factor);
            }
            let sums = match rest.len() {
                0 => return,
                1 => $rows::<1, DIMS>(query, rest_rows, dims),
                2 => $rows::<2, DIMS>(query, rest_rows, dims),
                _ => $rows::<3, DIMS>(query, rest_rows, dims),
            };
            let mut scales = [[0; 4]; GROUP];
            for (scale, stored) in scales.iter_mut().zip(rest_scales) {
                *scale = *stored;
            }
            for (score, made) in rest.iter_mut().zip(to_scores(sums, &scales, factor)) {
                *score = made;
            }
        }
    };
}

kernel!(odd_512, odd_groups_512, rows_512, "avx512f,avx512bw,avx512vnni", "The same for blocks of any dimensions.");
/// Scores every row of `block`, 64 products an instruction.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn avx512_vnni(query: &Query, block: &Block<'_>, next: &[u8], scores: &mut [i32]) {
    match block.dims() {
        256 => tile::score::<4>(query, block, next, scores),
        384 => tile::score::<6>(query, block, next, scores),
        dims if dims.is_multiple_of(64) => tile::score::<0>(query, block, next, scores),
        _ => odd_512(query, block, next, scores),
    }
}

kernel!(avx_vnni, groups_256_vnni, rows_256_vnni, "avx2,avxvnni", "Scores every row of `block`, 32 products an instruction.");
kernel!(avx2, groups_256, rows_256, "avx2", "Scores every row of `block`, 32 products in five instructions.");

/// Four dot products as scores: [`to_score`](super::to_score), four at once.
#[inline]
#[target_feature(enable = "avx2")]
fn to_scores(dots: __m128i, scales: &[[u8; 4]; GROUP], factor: f64) -> [i32; GROUP] {
    // SAFETY: the array has 16 bytes; the load needs no alignment.
    let scales = unsafe { _mm_loadu_ps(scales.as_ptr().cast()) };
    let scales = _mm256_mul_pd(_mm256_cvtps_pd(scales), _mm256_set1_pd(factor));
    let scores = _mm256_mul_pd(_mm256_cvtepi32_pd(dots), scales);
    // Of a NaN and a bound, these two instructions choose the bound, their second operand.
    let scores = _mm256_max_pd(scores, _mm256_set1_pd(f64::from(i32::MIN)));
    let scores = _mm256_min_pd(scores, _mm256_set1_pd(f64::from(i32::MAX)));
    let mut made = [0; GROUP];
    // SAFETY: an array of four i32 has room for the 16 bytes of the register.
    unsafe { _mm_storeu_si128(made.as_mut_ptr().cast(), _mm256_cvttpd_epi32(scores)) };
    made
}

/// Dot products of the first N rows of `rows`, in the first N lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn rows_512<const N: usize, const DIMS: usize>(query: &Query, rows: &[u8], dims: usize) -> __m128i {
    let (codes, dims) = (query.codes(), if DIMS == 0 { dims } else { DIMS });
    assert!(rows.len() >= N * dims && codes.len() >= dims.next_multiple_of(64), "rows and query are whole");
    let flip = _mm512_set1_epi8(i8::MIN);
    let mut sums = [_mm512_zextsi128_si512(_mm_cvtsi32_si128(-128 * query.sum)); N];
    let whole = dims / 64 * 64;
    for at in (0..whole).step_by(64) {
        // SAFETY: at + 64 <= whole <= the query's length.
        let code = unsafe { _mm512_loadu_si512(codes.as_ptr().add(at).cast()) };
        for (row, sum) in sums.iter_mut().enumerate() {
            // SAFETY: row < N and at + 64 <= dims, so the 64 bytes end within the N * dims bytes of the rows.
            let bytes = unsafe { _mm512_loadu_si512(rows.as_ptr().add(row * dims + at).cast()) };
            *sum = _mm512_dpbusd_epi32(*sum, _mm512_xor_si512(bytes, flip), code);
        }
    }
    if whole < dims {
        // SAFETY: the query is padded to a multiple of 64.
        let code = unsafe { _mm512_loadu_si512(codes.as_ptr().add(whole).cast()) };
        let mask = (1_u64 << (dims - whole)) - 1;
        for (row, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the mask lets through the dims - whole bytes that are left of this row, and the rest is not touched.
            let bytes = unsafe { _mm512_maskz_loadu_epi8(mask, rows.as_ptr().add(row * dims + whole).cast()) };
            *sum = _mm512_dpbusd_epi32(*sum, _mm512_xor_si512(bytes, flip), code);
        }
    }
    // A loop, not `map`: a closure that is compiled for these instructions is not inlined into a function of the library that is not.
    let mut halves = [_mm256_setzero_si256(); N];
    for (half, sum) in halves.iter_mut().zip(sums) {
        *half = _mm256_add_epi32(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64::<1>(sum));
    }
    fold(halves)
}

/// Dot products of the first N rows of `rows`, in the first N lanes.
#[inline]
#[target_feature(enable = "avx2,avxvnni")]
fn rows_256_vnni<const N: usize, const DIMS: usize>(query: &Query, rows: &[u8], dims: usize) -> __m128i {
    let (flip, dims) = (_mm256_set1_epi8(i8::MIN), if DIMS == 0 { dims } else { DIMS });
    let mut sums = [_mm256_zextsi128_si256(_mm_cvtsi32_si128(-128 * query.sum)); N];
    let rows = each_row::<N>(rows, dims);
    for at in (0..dims).step_by(32) {
        let code = load_query(query, at);
        for (row, sum) in rows.iter().zip(&mut sums) {
            *sum = _mm256_dpbusd_avx_epi32(*sum, _mm256_xor_si256(load_row(row, at), flip), code);
        }
    }
    fold(sums)
}

/// Dot products of the first N rows of `rows`, in the first N lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn rows_256<const N: usize, const DIMS: usize>(query: &Query, rows: &[u8], dims: usize) -> __m128i {
    let (ones, dims) = (_mm256_set1_epi16(1), if DIMS == 0 { dims } else { DIMS });
    let mut sums = [_mm256_setzero_si256(); N];
    let rows = each_row::<N>(rows, dims);
    for at in (0..dims).step_by(32) {
        let code = load_query(query, at);
        for (row, sum) in rows.iter().zip(&mut sums) {
            let bytes = load_row(row, at);
            let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(bytes), _mm256_sign_epi8(code, bytes));
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
        }
    }
    fold(sums)
}

/// The first N rows. Where their length is known when this is compiled, no load compares its place with their ends.
#[inline]
fn each_row<const N: usize>(rows: &[u8], dims: usize) -> [&[u8]; N] {
    let mut each = [&rows[..0]; N];
    for (row, one) in each.iter_mut().enumerate() {
        *one = &rows[row * dims..(row + 1) * dims];
    }
    each
}

/// 32 codes of the query from `at` on, which lies below its dimensions.
#[inline]
#[target_feature(enable = "avx2")]
fn load_query(query: &Query, at: usize) -> __m256i {
    let codes = query.codes();
    debug_assert!(at + 32 <= codes.len(), "the query is padded");
    // SAFETY: callers step by 32 below the query's dimensions, and its codes are padded to a multiple of 64.
    unsafe { _mm256_loadu_si256(codes.as_ptr().add(at).cast()) }
}

/// 32 bytes of `row` from `at` on; zeros behind its end, where the query's codes are zeros too.
#[inline]
#[target_feature(enable = "avx2")]
fn load_row(row: &[u8], at: usize) -> __m256i {
    if let Some(bytes) = row.get(at..at + 32) {
        // SAFETY: the slice has 32 bytes; the load needs no alignment.
        return unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) };
    }
    let mut padded = [0_u8; 32];
    padded[..row.len() - at].copy_from_slice(&row[at..]);
    // SAFETY: the array has 32 bytes.
    unsafe { _mm256_loadu_si256(padded.as_ptr().cast()) }
}

/// The sum of each register's lanes, in one lane each.
#[inline]
#[target_feature(enable = "avx2")]
fn fold<const N: usize>(sums: [__m256i; N]) -> __m128i {
    let mut four = [_mm256_setzero_si256(); GROUP];
    four[..N].copy_from_slice(&sums);
    let [a, b, c, d] = four;
    let sums = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256::<1>(sums))
}

/// Dot products of four scattered rows with `codes`; all have one length, a multiple of 64.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn dots_512(codes: &[u8], sum: i32, rows: [&[u8]; GROUP]) -> [i32; GROUP] {
    let flip = _mm512_set1_epi8(i8::MIN);
    let mut sums = [_mm512_zextsi128_si512(_mm_cvtsi32_si128(-128 * sum)); GROUP];
    for at in (0..codes.len()).step_by(64) {
        // SAFETY: the callers' lengths are one multiple of 64, so 64 bytes from `at` on end within each slice.
        let code = unsafe { _mm512_loadu_si512(codes.as_ptr().add(at).cast()) };
        for (row, sum) in sums.iter_mut().enumerate() {
            // SAFETY: as above.
            let bytes = unsafe { _mm512_loadu_si512(rows[row].as_ptr().add(at).cast()) };
            *sum = _mm512_dpbusd_epi32(*sum, _mm512_xor_si512(bytes, flip), code);
        }
    }
    // A loop, not `map`: see `rows_512`. With `map` half of the time of a clustering went into calls (measured).
    let mut halves = [_mm256_setzero_si256(); GROUP];
    for (half, sum) in halves.iter_mut().zip(sums) {
        *half = _mm256_add_epi32(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64::<1>(sum));
    }
    lanes(fold(halves))
}

/// Dot products of four scattered rows with `codes`, 32 products an instruction; all have one length, a multiple of 64.
#[target_feature(enable = "avx2,avxvnni")]
pub(super) fn dots_256_vnni(codes: &[u8], sum: i32, rows: [&[u8]; GROUP]) -> [i32; GROUP] {
    let flip = _mm256_set1_epi8(i8::MIN);
    let mut sums = [_mm256_zextsi128_si256(_mm_cvtsi32_si128(-128 * sum)); GROUP];
    for at in (0..codes.len()).step_by(32) {
        // SAFETY: the callers' lengths are one multiple of 64, so 32 bytes from `at` on end within each slice.
        let code = unsafe { _mm256_loadu_si256(codes.as_ptr().add(at).cast()) };
        for (row, sum) in rows.iter().zip(&mut sums) {
            // SAFETY: as above.
            let bytes = unsafe { _mm256_loadu_si256(row.as_ptr().add(at).cast()) };
            *sum = _mm256_dpbusd_avx_epi32(*sum, _mm256_xor_si256(bytes, flip), code);
        }
    }
    lanes(fold(sums))
}

/// Dot products of four scattered rows with `codes`, 32 products in five instructions; all have one length, a multiple of 64.
#[target_feature(enable = "avx2")]
pub(super) fn dots_256(codes: &[u8], _sum: i32, rows: [&[u8]; GROUP]) -> [i32; GROUP] {
    let ones = _mm256_set1_epi16(1);
    let mut sums = [_mm256_setzero_si256(); GROUP];
    for at in (0..codes.len()).step_by(32) {
        // SAFETY: the callers' lengths are one multiple of 64, so 32 bytes from `at` on end within each slice.
        let code = unsafe { _mm256_loadu_si256(codes.as_ptr().add(at).cast()) };
        for (row, sum) in rows.iter().zip(&mut sums) {
            // SAFETY: as above.
            let bytes = unsafe { _mm256_loadu_si256(row.as_ptr().add(at).cast()) };
            let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(bytes), _mm256_sign_epi8(code, bytes));
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
        }
    }
    lanes(fold(sums))
}

#[inline]
#[target_feature(enable = "avx2")]
fn lanes(dots: __m128i) -> [i32; GROUP] {
    let mut lanes = [0; GROUP];
    // SAFETY: an array of four i32 has room for the 16 bytes of the register.
    unsafe { _mm_storeu_si128(lanes.as_mut_ptr().cast(), dots) };
    lanes
}
