//! Up to sixteen rows of a block at once, on AVX-512 VNNI: one page of the common dimensions, and one register of scores.
//!
//! Four rows are multiplied side by side, and folded into a register that has a sum of each in each of its four parts. Four of those
//! are folded into sixteen sums. So a row costs its loads and three instructions more.

use std::arch::x86_64::*;

use super::super::Query;
use super::super::block::Block;
use super::{prefetch, score_factor};

/// Rows of a tile.
const TILE: usize = 16;
const QUAD: usize = 4;
const LINE: usize = 64;

/// Scores every row of `block`, of `LINES` times 64 dimensions, or of any multiple of 64 where that is 0.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn score<const LINES: usize>(query: &Query, block: &Block<'_>, next: &[u8], scores: &mut [i32]) {
    let lines = if LINES == 0 { block.dims() / LINE } else { LINES };
    let (dims, factor) = (lines * LINE, score_factor(query));
    let rows = block.rows().chunks(TILE * dims);
    for (at, ((scores, rows), scales)) in scores.chunks_mut(TILE).zip(rows).zip(block.scales().chunks(TILE)).enumerate() {
        let mask = first(scores.len());
        let dots = tile(query.codes(), query.sum, rows, dims, lines, |quad| prefetch(next, (at * TILE + quad * QUAD) * dims, QUAD * dims));
        // SAFETY: the mask lets through as many scales as there are, four bytes each.
        let scales = unsafe { _mm512_maskz_loadu_ps(mask, scales.as_ptr().cast()) };
        // SAFETY: the mask lets through as many scores as there is room for.
        unsafe { _mm512_mask_storeu_epi32(scores.as_mut_ptr(), mask, to_scores(dots, scales, factor)) };
    }
}

/// The bits of the first `count`, at most sixteen.
fn first(count: usize) -> u16 {
    u16::MAX >> (TILE - count.clamp(1, TILE))
}

/// Dot products of up to sixteen rows, `ahead` being called before each four.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn tile(codes: &[i8], sum: i32, rows: &[u8], dims: usize, lines: usize, ahead: impl Fn(usize)) -> __m512i {
    assert!(codes.len() >= lines * LINE && dims == lines * LINE && rows.len().is_multiple_of(dims), "rows and query are whole");
    let mut quads = [_mm512_setzero_si512(); TILE / QUAD];
    for (at, (quad, rows)) in quads.iter_mut().zip(rows.chunks(QUAD * dims)).enumerate() {
        ahead(at);
        *quad = four(codes, sum, rows, dims, lines);
    }
    across(quads)
}

/// Dot products of one to four rows, those that are missing being the last: see [`fold`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn four(codes: &[i8], sum: i32, rows: &[u8], dims: usize, lines: usize) -> __m512i {
    let (flip, last) = (_mm512_set1_epi8(i8::MIN), rows.len() / dims - 1);
    let mut sums = [_mm512_zextsi128_si512(_mm_cvtsi32_si128(-128 * sum)); QUAD];
    for at in (0..lines * LINE).step_by(LINE) {
        // SAFETY: `tile` compared the lengths: a line of the query begins at `at`.
        let code = unsafe { _mm512_loadu_si512(codes.as_ptr().add(at).cast()) };
        for (row, sum) in sums.iter_mut().enumerate() {
            // SAFETY: the row is one of `rows`, which has whole ones of `dims` bytes, and at + 64 <= dims.
            let bytes = unsafe { _mm512_loadu_si512(rows.as_ptr().add(row.min(last) * dims + at).cast()) };
            *sum = _mm512_dpbusd_epi32(*sum, _mm512_xor_si512(bytes, flip), code);
        }
    }
    fold(sums)
}

/// Four registers as one: each part of 128 bits has a partial sum of each of them.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn fold([a, b, c, d]: [__m512i; QUAD]) -> __m512i {
    let ab = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let cd = _mm512_add_epi32(_mm512_unpacklo_epi32(c, d), _mm512_unpackhi_epi32(c, d));
    _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd))
}

/// The parts of four such registers added up: sixteen sums in the order of their rows.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn across([a, b, c, d]: [__m512i; TILE / QUAD]) -> __m512i {
    let ab = _mm512_add_epi32(_mm512_shuffle_i32x4::<0x88>(a, b), _mm512_shuffle_i32x4::<0xDD>(a, b));
    let cd = _mm512_add_epi32(_mm512_shuffle_i32x4::<0x88>(c, d), _mm512_shuffle_i32x4::<0xDD>(c, d));
    _mm512_add_epi32(_mm512_shuffle_i32x4::<0x88>(ab, cd), _mm512_shuffle_i32x4::<0xDD>(ab, cd))
}

/// Sixteen dot products as scores: [`to_score`](super::to_score).
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn to_scores(dots: __m512i, scales: __m512, factor: f64) -> __m512i {
    let upper =
        _mm512_castpd_ps(_mm512_castsi512_pd(_mm512_shuffle_i32x4::<0xEE>(_mm512_castps_si512(scales), _mm512_castps_si512(scales))));
    let low = eight_scores(_mm512_castsi512_si256(dots), _mm512_castps512_ps256(scales), factor);
    let high = eight_scores(_mm512_extracti64x4_epi64::<1>(dots), _mm512_castps512_ps256(upper), factor);
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn eight_scores(dots: __m256i, scales: __m256, factor: f64) -> __m256i {
    let scales = _mm512_mul_pd(_mm512_cvtps_pd(scales), _mm512_set1_pd(factor));
    let scores = _mm512_mul_pd(_mm512_cvtepi32_pd(dots), scales);
    // Of a NaN and a bound, these two instructions choose the bound, their second operand.
    let scores = _mm512_max_pd(scores, _mm512_set1_pd(f64::from(i32::MIN)));
    let scores = _mm512_min_pd(scores, _mm512_set1_pd(f64::from(i32::MAX)));
    _mm512_cvttpd_epi32(scores)
}
