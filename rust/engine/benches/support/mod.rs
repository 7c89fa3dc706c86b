//! What several benches need: numbers that are the same in every run, words and ranks of a distribution, times of calls.

#![allow(dead_code)] // each bench uses a part

use std::time::{Duration, Instant};

const SYLLABLES: [&str; 24] = [
    "ba", "be", "bi", "bo", "da", "de", "do", "fa", "fe", "ga", "ge", "ka", "ke", "ko", "la", "le", "li", "ma", "me", "na", "no", "pa",
    "ra", "so",
];

/// `SplitMix64`.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A word out of so many: that of rank r is about twice as common as that of rank 2r.
    pub fn word(&mut self, vocabulary: f64) -> String {
        let mut left = vocabulary.powf(self.unit()) as usize + SYLLABLES.len();
        let mut text = String::new();
        while left > 0 {
            text.push_str(SYLLABLES[left % SYLLABLES.len()]);
            left /= SYLLABLES.len();
        }
        text
    }
}

/// A Zipf distribution with exponent 1: the sums of the shares up to each rank.
pub struct Zipf(Vec<f64>);

impl Zipf {
    pub fn new(words: usize) -> Self {
        let mut sum = 0.0;
        let add = |rank| {
            sum += 1.0 / rank as f64;
            sum
        };
        Self((1..=words).map(add).collect())
    }

    /// A rank from `skip` on, counted from 0.
    pub fn rank(&self, random: &mut Random, skip: usize) -> usize {
        let skipped = if skip == 0 { 0.0 } else { self.0[skip - 1] };
        let at = skipped + random.unit() * (self.0[self.0.len() - 1] - skipped);
        self.0.partition_point(|sum| *sum < at)
    }
}

/// How long each of several calls took.
#[derive(Default)]
pub struct Times(pub Vec<Duration>);

impl Times {
    /// Times a call.
    pub fn take<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let started = Instant::now();
        let done = work();
        self.0.push(started.elapsed());
        done
    }

    /// Prints median, 99th percentile and mean in microseconds.
    pub fn report(mut self, what: &str) {
        self.0.sort_unstable();
        let at = |share: f64| self.0[((self.0.len() - 1) as f64 * share) as usize].as_nanos() as f64 / 1000.0;
        let mean = self.0.iter().map(Duration::as_nanos).sum::<u128>() as f64 / self.0.len() as f64 / 1000.0;
        println!("{what:<52} p50 {:>8.1}  p99 {:>8.1}  mean {mean:>8.1} us  (n={})", at(0.5), at(0.99), self.0.len());
    }
}
