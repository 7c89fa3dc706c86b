//! Loops over the documents of a chunk, compiled twice: for processors with AVX2, whose registers have eight numbers, and for all others.
//!
//! Rust never fuses or reorders floating point, so that both give the same bits.

use super::{CHUNK, PAD};
use crate::recall::ranking::WINDOW;

/// Documents whose words are entered at once: they come in groups of so many.
const GROUP: usize = 8;

/// The shares of the words around a document in its estimate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shares {
    /// Of the words of the second before it, the one before, itself, the one behind and the second behind.
    pub around: [f32; 1 + 2 * PAD],
    /// Of its own words that are names.
    pub words: f32,
    /// For any name.
    pub name: f32,
}

/// Declares functions that have the name and the body of one of [`all`], and are compiled for AVX2 where the processor has it.
macro_rules! wide {
    ($($name:ident($($argument:ident: $type:ty),*) -> $made:ty;)*) => {$(
        #[doc = concat!("See [`all::", stringify!($name), "`].")]
        #[inline]
        pub(super) fn $name($($argument: $type),*) -> $made {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn of_eight($($argument: $type),*) -> $made {
                    all::$name($($argument),*)
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor has AVX2.
                    return unsafe { of_eight($($argument),*) };
                }
            }
            all::$name($($argument),*)
        }
    )*};
}

wide! {
    estimates(shares: &Shares, own: &[f32; CHUNK + 2 * PAD], names: Option<&[f32; CHUNK]>) -> ([f32; CHUNK], f32);
    highest_of_words(near: &[f32; CHUNK + 2]) -> (f32, f32);
    with_cosines(words: &[f32; CHUNK], cosines: &[i32; CHUNK], share: f32) -> ([f32; CHUNK], f32);
    reaching(amounts: &[f32; CHUNK], least: f32) -> u64;
    enter(scores: &[i64; GROUP], bar: i64, own: &mut [i64; GROUP], near: &mut [f32; GROUP]) -> bool;
}

/// The loops themselves.
#[allow(clippy::inline_always)] // a loop is compiled for an instruction set only inside the function that enables it
mod all {
    use super::{CHUNK, GROUP, PAD, Shares, WINDOW};

    /// The estimates of a chunk of documents, two documents more on either side of `own`; and the highest.
    #[inline(always)]
    pub fn estimates(shares: &Shares, own: &[f32; CHUNK + 2 * PAD], names: Option<&[f32; CHUNK]>) -> ([f32; CHUNK], f32) {
        let (mut estimates, [two_before, before, itself, behind, two_behind]) = ([0.0; CHUNK], shares.around);
        for (at, estimate) in estimates.iter_mut().enumerate() {
            let around = two_before * own[at] + before * own[at + 1] + behind * own[at + 3] + two_behind * own[at + 4];
            *estimate = around + itself * own[at + 2];
        }
        if let Some(names) = names {
            for (estimate, name) in estimates.iter_mut().zip(names) {
                *estimate = *estimate + shares.words * name + if *name > 0.0 { shares.name } else { 0.0 };
            }
        }
        (estimates, highest(&estimates))
    }

    /// The most that a document of a chunk has of its own and in its window, about; `near` has one document more on either side.
    #[inline(always)]
    pub fn highest_of_words(near: &[f32; CHUNK + 2]) -> (f32, f32) {
        let [of_own, of_before, of_after] = WINDOW.map(|share| share as f32);
        let windows = std::array::from_fn(|at| of_own * near[at + 1] + of_before * near[at] + of_after * near[at + 2]);
        let [_, own @ .., _] = near;
        (highest(own), highest(&windows))
    }

    /// A bit for each document of a chunk that has so much, the first as the lowest.
    #[inline(always)]
    pub fn reaching(amounts: &[f32; CHUNK], least: f32) -> u64 {
        amounts.iter().zip(0..).fold(0, |bits, (amount, at)| bits | u64::from(*amount >= least) << at)
    }

    /// Enters scores as they are, and about; whether one of them reaches the bar.
    #[inline(always)]
    pub fn enter(scores: &[i64; GROUP], bar: i64, own: &mut [i64; GROUP], near: &mut [f32; GROUP]) -> bool {
        *own = *scores;
        *near = scores.map(|score| score as f32);
        scores.iter().fold(false, |reaches, score| reaches | (*score >= bar))
    }

    /// Estimates with what vectors say; and the highest.
    #[inline(always)]
    pub fn with_cosines(words: &[f32; CHUNK], cosines: &[i32; CHUNK], share: f32) -> ([f32; CHUNK], f32) {
        let mut estimates = [0.0; CHUNK];
        for (estimate, (words, cosine)) in estimates.iter_mut().zip(words.iter().zip(cosines)) {
            *estimate = words + share * *cosine as f32;
        }
        (estimates, highest(&estimates))
    }

    /// The highest of a chunk, without a branch: half of them are compared with the other half, as often as there are two.
    #[inline(always)]
    fn highest(amounts: &[f32; CHUNK]) -> f32 {
        let of_sixteen = greater_ones::<32, 16>(&greater_ones(amounts));
        let of_four = greater_ones::<8, 4>(&greater_ones(&of_sixteen));
        let [one, other] = greater_ones(&of_four);
        greater(one, other)
    }

    /// Of each number and the one `HALF` places behind it the greater.
    #[inline(always)]
    fn greater_ones<const ALL: usize, const HALF: usize>(all: &[f32; ALL]) -> [f32; HALF] {
        const { assert!(ALL == 2 * HALF) };
        std::array::from_fn(|at| greater(all[at], all[at + HALF]))
    }

    #[inline(always)]
    fn greater(one: f32, other: f32) -> f32 {
        if one > other { one } else { other }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_give_the_same_bits() {
        let mut state = 7_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 9) as f32 / 1000.0
        };
        for round in 0..50 {
            let own: [f32; CHUNK + 2 * PAD] = std::array::from_fn(|at| if at % 7 < round % 7 { 0.0 } else { next() });
            let names: [f32; CHUNK] = std::array::from_fn(|at| if at % 5 == 0 { next() } else { 0.0 });
            let shares = Shares { around: std::array::from_fn(|_| next() / 1e6), words: next(), name: next() };
            let bits = |(estimates, highest): ([f32; CHUNK], f32)| (estimates.map(f32::to_bits), highest.to_bits());
            for names in [None, Some(&names)] {
                let made = estimates(&shares, &own, names);
                assert_eq!(bits(made), bits(all::estimates(&shares, &own, names)));
                assert_eq!(made.1.to_bits(), made.0.into_iter().fold(f32::MIN, f32::max).to_bits());
            }
            let cosines: [i32; CHUNK] = std::array::from_fn(|_| next() as i32);
            assert_eq!(bits(with_cosines(&names, &cosines, 0.37)), bits(all::with_cosines(&names, &cosines, 0.37)));
            let near = own.first_chunk().expect("two more than it needs");
            assert_eq!(highest_of_words(near), all::highest_of_words(near));
            assert_eq!(highest_of_words(near).0.to_bits(), near[1..=CHUNK].iter().copied().fold(f32::MIN, f32::max).to_bits());
            let expected = (0..CHUNK).filter(|at| names[*at] >= 0.5).fold(0, |bits, at| bits | 1 << at);
            assert_eq!((reaching(&names, 0.5), all::reaching(&names, 0.5)), (expected, expected));
            let (scores, bar) = (
                std::array::from_fn(|at| if at % 3 == round % 3 { 0 } else { i64::from(next() as u32) << 32 }),
                i64::from(next() as u32) << 32,
            );
            let entered = |reaches: bool, own: [i64; GROUP], near: [f32; GROUP]| (reaches, own, near.map(f32::to_bits));
            let (mut own, mut near, mut own_too, mut near_too) = ([1; GROUP], [1.0; GROUP], [1; GROUP], [1.0; GROUP]);
            let reaches = enter(&scores, bar, &mut own, &mut near);
            let reaches_too = all::enter(&scores, bar, &mut own_too, &mut near_too);
            let expected = entered(scores.iter().any(|score| *score >= bar), scores, scores.map(|score| score as f32));
            assert_eq!((entered(reaches, own, near), entered(reaches_too, own_too, near_too)), (expected, expected));
        }
    }
}
