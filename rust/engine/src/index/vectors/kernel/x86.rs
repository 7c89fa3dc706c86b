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
use super::scale_dots;

/// Rows that are multiplied at once.
const GROUP: usize = 4;

/// A kernel: `$rows::<N>` for every group of rows, then the scales, compiled as one function for `$features`.
macro_rules! kernel {
    ($name:ident, $rows:ident, $features:literal, $about:literal) => {
        #[doc = $about]
        #[target_feature(enable = $features)]
        pub(super) fn $name(query: &Query, block: &Block<'_>, scores: &mut [i32]) {
            let dims = block.dims();
            for (rows, dots) in block.rows().chunks(GROUP * dims).zip(scores.chunks_mut(GROUP)) {
                let sums = match dots.len() {
                    4 => $rows::<4>(query, rows, dims),
                    3 => $rows::<3>(query, rows, dims),
                    2 => $rows::<2>(query, rows, dims),
                    _ => $rows::<1>(query, rows, dims),
                };
                let mut lanes = [0; GROUP];
                // SAFETY: an array of four i32 has room for the 16 bytes of the register; the store needs no alignment.
                unsafe { _mm_storeu_si128(lanes.as_mut_ptr().cast(), sums) };
                dots.copy_from_slice(&lanes[..dots.len()]);
            }
            scale_dots(query, block.scales(), scores);
        }
    };
}

kernel!(avx512_vnni, rows_512, "avx512f,avx512bw,avx512vnni", "Scores every row of `block`, 64 products an instruction.");
kernel!(avx_vnni, rows_256_vnni, "avx2,avxvnni", "Scores every row of `block`, 32 products an instruction.");
kernel!(avx2, rows_256, "avx2", "Scores every row of `block`, 32 products in five instructions.");

/// Dot products of the first N rows of `rows`, in the first N lanes.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn rows_512<const N: usize>(query: &Query, rows: &[u8], dims: usize) -> __m128i {
    let codes = query.codes();
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
    let half = |sum: __m512i| _mm256_add_epi32(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64::<1>(sum));
    fold(sums.map(half))
}

/// Dot products of the first N rows of `rows`, in the first N lanes.
#[target_feature(enable = "avx2,avxvnni")]
fn rows_256_vnni<const N: usize>(query: &Query, rows: &[u8], dims: usize) -> __m128i {
    let flip = _mm256_set1_epi8(i8::MIN);
    let mut sums = [_mm256_zextsi128_si256(_mm_cvtsi32_si128(-128 * query.sum)); N];
    for at in (0..dims).step_by(32) {
        let code = load_query(query, at);
        for (row, sum) in sums.iter_mut().enumerate() {
            let bytes = load_row(&rows[row * dims..(row + 1) * dims], at);
            *sum = _mm256_dpbusd_avx_epi32(*sum, _mm256_xor_si256(bytes, flip), code);
        }
    }
    fold(sums)
}

/// Dot products of the first N rows of `rows`, in the first N lanes.
#[target_feature(enable = "avx2")]
fn rows_256<const N: usize>(query: &Query, rows: &[u8], dims: usize) -> __m128i {
    let ones = _mm256_set1_epi16(1);
    let mut sums = [_mm256_setzero_si256(); N];
    for at in (0..dims).step_by(32) {
        let code = load_query(query, at);
        for (row, sum) in sums.iter_mut().enumerate() {
            let bytes = load_row(&rows[row * dims..(row + 1) * dims], at);
            let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(bytes), _mm256_sign_epi8(code, bytes));
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
        }
    }
    fold(sums)
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
