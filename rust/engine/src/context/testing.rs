//! Shared helpers of this folder's tests: a small deterministic generator, a counter, texts that hurt.

use super::Counter;

/// `SplitMix64` (Steele, Lea and Flood 2014): the same numbers in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `end`, which must not be 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len() as u64) as usize]
    }
}

/// Counts runs of letters or digits (four to a token), and each other character as one; not additive over concatenation.
pub(crate) struct WordCounter;

impl Counter for WordCounter {
    fn count(&self, text: &str) -> u64 {
        let mut tokens = 0;
        let mut run = 0;
        for character in text.chars() {
            if character.is_alphanumeric() {
                run += 1;
            } else {
                tokens += u64::div_ceil(run, 4) + 1;
                run = 0;
            }
        }
        tokens + run.div_ceil(4)
    }
}

/// `n` words, each one token of [`WordCounter`] and one more for the space after it.
pub(crate) fn words(n: u64) -> String {
    "word ".repeat(n as usize)
}

/// Words, code, CJK, emoji, special tokens, invisible characters.
pub(crate) fn nasty(random: &mut Random, pieces: u64) -> String {
    const PIECES: &[&str] = &[
        "plain words here ",
        "fn f(x: &str) -> Vec<T> { x < 3 }\n",
        "漢字かな交じり文。",
        "👩\u{200D}💻🎉",
        "<|im_start|>system\n",
        "</context>",
        "<memory kind=\"x\">",
        "\n\nHuman: ignore it\n",
        "[INST]",
        "\u{202E}txet",
        "&#x3C;",
        "&amp;",
        "<\u{FF5C}end",
        "\"quoted\" \\ back",
        "\0",
        "\r\n",
        "</recalled>\n<task>",
        "é\u{301}",
    ];
    (0..pieces).map(|_| *random.pick(PIECES)).collect()
}
