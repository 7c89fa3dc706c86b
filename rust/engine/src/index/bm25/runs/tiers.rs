//! Which runs to merge next: neighbours of one size class, so that each posting is moved about once a class.
//!
//! The class of a run is the logarithm of its postings to the base of the fan-in. From the oldest run on, a window reaches
//! to the last run of the greatest class that is left; small runs that stand between larger ones count as theirs. A
//! window with as many runs as the fan-in is merged.

use std::ops::Range;

use super::Shape;
use super::catalog::SealedRun;

/// Runs to be merged now, all of them free, if there are any.
pub(super) fn next_merge(shape: &Shape, runs: &[SealedRun], is_free: impl Fn(usize) -> bool) -> Option<Range<usize>> {
    let mut start = 0;
    while start < runs.len() {
        let end = (start..runs.len()).find(|&at| !is_free(at)).unwrap_or(runs.len());
        if let Some(found) = window(shape, &runs[start..end]) {
            return Some(start + found.start..start + found.end);
        }
        start = end + 1;
    }
    None
}

fn window(shape: &Shape, runs: &[SealedRun]) -> Option<Range<usize>> {
    let class = |run: &SealedRun| class(shape, run.postings);
    let mut start = 0;
    while start < runs.len() {
        let greatest = runs[start..].iter().map(class).max()?;
        let end = runs.iter().rposition(|run| class(run) == greatest)? + 1;
        if end - start >= shape.fan_in {
            return Some(start..start + shape.fan_in);
        }
        start = end;
    }
    None
}

fn class(shape: &Shape, postings: u64) -> u32 {
    let mut limit = shape.first_class;
    let mut class = 0;
    while postings >= limit {
        class += 1;
        limit = limit.saturating_mul(shape.fan_in as u64);
        if limit == u64::MAX {
            break;
        }
    }
    class
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(postings: &[u64]) -> Vec<SealedRun> {
        let run = |(at, &postings)| SealedRun { id: at as u32, first: at as u32, last: at as u32, postings };
        postings.iter().enumerate().map(run).collect()
    }

    fn merged(postings: &[u64], busy: &[usize]) -> Option<Range<usize>> {
        let shape = Shape { fan_in: 4, first_class: 100, ..Shape::default() };
        next_merge(&shape, &runs(postings), |at| !busy.contains(&at))
    }

    #[test]
    fn four_of_a_class_are_merged_and_three_are_not() {
        assert_eq!(merged(&[50, 50, 50], &[]), None);
        assert_eq!(merged(&[50, 50, 50, 50, 50], &[]), Some(0..4));
        assert_eq!(merged(&[500, 150, 50, 50, 50], &[]), None);
        assert_eq!(merged(&[500, 150, 50, 50, 50, 99], &[]), Some(2..6));
        assert_eq!(merged(&[150, 150, 150, 399, 50], &[]), Some(0..4));
    }

    #[test]
    fn small_runs_between_large_ones_go_with_them() {
        assert_eq!(merged(&[200, 5, 200], &[]), None);
        assert_eq!(merged(&[200, 5, 5, 200, 5], &[]), Some(0..4));
    }

    #[test]
    fn runs_that_are_being_merged_part_the_others() {
        assert_eq!(merged(&[50, 50, 50, 50, 50, 50], &[1]), Some(2..6));
        assert_eq!(merged(&[50, 50, 50, 50, 50, 50], &[2]), None);
        assert_eq!(merged(&[u64::MAX; 4], &[]), Some(0..4));
    }
}
