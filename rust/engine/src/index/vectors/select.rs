//! The best n of many scores, in one total order: score descending, number ascending.
//!
//! Score and number are packed into one 64-bit key, so that an order is one comparison and two keys never tie. Keys are
//! gathered in a buffer of 2n; when it is full, quickselect keeps the better half and its worst becomes the bar that the
//! next score must pass. That is O(len) in total, whatever order the scores come in.
//! A filter is first asked about the best n alone: most questions filter nothing out, and asking means reading a row.

/// A memory and its score, [`SCORE_ONE`](crate::units::score::SCORE_ONE) being 1.0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scored {
    /// Number of the memory in its partition.
    pub number: u32,
    /// Fixed point: 2^30 is a cosine of 1.
    pub score: i32,
}

impl Scored {
    /// Greater is better, and among equal scores the smaller number.
    fn rank(self) -> u64 {
        u64::from(self.score as u32 ^ 1 << 31) << 32 | u64::from(!self.number)
    }

    fn from_rank(rank: u64) -> Self {
        Self { number: !(rank as u32), score: ((rank >> 32) as u32 ^ 1 << 31) as i32 }
    }
}

/// Puts `scored` in order: score descending, number ascending.
pub(super) fn sort(scored: &mut [Scored]) {
    scored.sort_unstable_by_key(|scored| std::cmp::Reverse(scored.rank()));
}

/// The most places that are made room for before they come: a caller may ask for more than there are.
const MOST_ROOM: usize = 4_096;

/// Scores that are compared with the bar at once.
const STRIDE: usize = 32;

/// The best `n` that `keep` lets through. `numbers` ascend.
pub(super) fn best(numbers: &[u32], scores: &[i32], n: usize, mut keep: impl FnMut(u32) -> bool) -> Vec<Scored> {
    let unfiltered = among(numbers, scores, n, |_| true);
    if unfiltered.iter().all(|scored| keep(scored.number)) { unfiltered } else { among(numbers, scores, n, keep) }
}

fn among(numbers: &[u32], scores: &[i32], n: usize, mut keep: impl FnMut(u32) -> bool) -> Vec<Scored> {
    let mut best = Best::new(n.min(numbers.len()));
    for (numbers, scores) in numbers.chunks(STRIDE).zip(scores.chunks(STRIDE)) {
        best.push_all(numbers, scores, &mut keep);
    }
    best.into_sorted()
}

/// Without a branch for each score, so that many are compared at once.
#[inline]
fn any_above(scores: &[i32], bar: i32) -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn eight_at_once(scores: &[i32], bar: i32) -> bool {
            any_of_all(scores, bar)
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { eight_at_once(scores, bar) };
        }
    }
    any_of_all(scores, bar)
}

#[allow(clippy::inline_always)] // a loop is compiled for an instruction set only inside the function that enables it
#[inline(always)]
fn any_of_all(scores: &[i32], bar: i32) -> bool {
    scores.iter().map(|&score| u32::from(score > bar)).sum::<u32>() > 0
}

/// The best of what was pushed, while more comes.
struct Best {
    n: usize,
    ranks: Vec<u64>,
    /// A score that does not exceed this one cannot be among the best: numbers ascend, so it loses every tie as well.
    bar: Option<i32>,
}

impl Best {
    fn new(n: usize) -> Self {
        Self { n, ranks: Vec::with_capacity(2 * n.min(MOST_ROOM)), bar: None }
    }

    /// Takes what is good enough of some scores, of which `keep` is asked; numbers ascend and are above all before.
    fn push_all(&mut self, numbers: &[u32], scores: &[i32], keep: &mut impl FnMut(u32) -> bool) {
        if self.n == 0 || self.bar.is_some_and(|bar| !any_above(scores, bar)) {
            return;
        }
        for (&number, &score) in numbers.iter().zip(scores) {
            if self.bar.is_none_or(|bar| score > bar) && keep(number) {
                self.push(Scored { number, score });
            }
        }
    }

    #[inline]
    fn push(&mut self, scored: Scored) {
        self.ranks.push(scored.rank());
        if self.ranks.len() == self.n.saturating_mul(2) {
            self.cut();
        }
    }

    /// Keeps the best n, and raises the bar to the worst of them.
    fn cut(&mut self) {
        let (_, worst, _) = self.ranks.select_nth_unstable_by(self.n - 1, |a, b| b.cmp(a));
        self.bar = Some(Scored::from_rank(*worst).score);
        self.ranks.truncate(self.n);
    }

    fn into_sorted(mut self) -> Vec<Scored> {
        self.ranks.sort_unstable_by(|a, b| b.cmp(a));
        self.ranks.truncate(self.n);
        self.ranks.into_iter().map(Scored::from_rank).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::vectors::testing::Random;

    fn naive(numbers: &[u32], scores: &[i32], n: usize, keep: impl Fn(u32) -> bool) -> Vec<Scored> {
        let mut all: Vec<_> = numbers.iter().zip(scores).filter(|&(&number, _)| keep(number)).collect();
        all.sort_by_key(|&(&number, &score)| (std::cmp::Reverse(score), number));
        all.into_iter().take(n).map(|(&number, &score)| Scored { number, score }).collect()
    }

    #[test]
    fn equal_to_sorting_everything() {
        let mut random = Random::new(2);
        for round in 0..400 {
            let len = random.below(700);
            let spread = [1, 3, 1000, u32::MAX as usize][round % 4];
            let mut number = 0;
            let numbers: Vec<u32> = (0..len)
                .map(|_| {
                    number += 1 + random.below(5) as u32;
                    number
                })
                .collect();
            let mut scores: Vec<i32> = (0..len).map(|_| random.below(spread) as u32 as i32).collect();
            if round % 3 == 0 {
                scores.sort_unstable();
            }
            for n in [0, 1, 2, 10, 40, len, usize::MAX] {
                for modulus in [1, 2, 97] {
                    let keep = |number: u32| number.is_multiple_of(modulus);
                    assert_eq!(best(&numbers, &scores, n, keep), naive(&numbers, &scores, n, keep), "{len} {n} {modulus}");
                }
            }
        }
    }

    #[test]
    fn extremes_keep_their_order() {
        let numbers = [0, 1, 2, u32::MAX];
        let scores = [i32::MIN, i32::MAX, i32::MAX, i32::MIN];
        let found = best(&numbers, &scores, 4, |_| true);
        assert_eq!(found.iter().map(|scored| scored.number).collect::<Vec<_>>(), [1, 2, 0, u32::MAX]);
    }

    #[test]
    fn a_filter_that_keeps_the_best_is_asked_about_no_other() {
        let (numbers, scores) = ((0..1_000).collect::<Vec<u32>>(), (0..1_000).map(|at| at * 7 % 1_000).collect::<Vec<i32>>());
        let mut asked = 0;
        assert_eq!(
            best(&numbers, &scores, 10, |_| {
                asked += 1;
                true
            })
            .len(),
            10
        );
        assert_eq!(asked, 10);
    }
}
