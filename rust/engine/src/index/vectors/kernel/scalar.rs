//! The kernel of any processor, and the oracle of the others.

use super::super::Query;
use super::super::block::Block;
use super::scale_dots;

/// Scores every row of `block`.
pub(super) fn score(query: &Query, block: &Block<'_>, scores: &mut [i32]) {
    let rows = block.rows().chunks_exact(block.dims());
    for (score, row) in scores.iter_mut().zip(rows) {
        *score = dot(query.codes(), row);
    }
    scale_dots(query, block.scales(), scores);
}

/// Dot product of a row with as many of the query's codes.
#[inline(always)]
pub(super) fn dot(codes: &[i8], row: &[u8]) -> i32 {
    codes.iter().zip(row).map(|(&code, &byte)| i32::from(code) * i32::from(byte as i8)).sum()
}
