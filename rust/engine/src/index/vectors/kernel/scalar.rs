//! The kernel of any processor, and the oracle of the others.

use super::super::Query;
use super::super::block::Block;
use super::{score_factor, to_score};

/// Scores every row of `block`. The next rows arrive faster than this kernel needs them.
pub(super) fn score(query: &Query, block: &Block<'_>, _next: &[u8], scores: &mut [i32]) {
    let rows = block.rows().chunks_exact(block.dims());
    for (score, row) in scores.iter_mut().zip(rows) {
        *score = dot(query.codes(), row);
    }
    let factor = score_factor(query);
    for (score, &scale) in scores.iter_mut().zip(block.scales()) {
        *score = to_score(*score, scale, factor);
    }
}

/// Dot product of a row with as many of the query's codes.
fn dot(codes: &[i8], row: &[u8]) -> i32 {
    codes.iter().zip(row).map(|(&code, &byte)| i32::from(code) * i32::from(byte as i8)).sum()
}
