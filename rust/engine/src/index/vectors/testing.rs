//! A small deterministic source of numbers and vectors for the tests of this module.

/// xorshift64*: the same sequence on every machine.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((self.next() >> 11) % bound as u64) as usize
    }

    /// A number in -1..1, bell-shaped.
    pub(super) fn bell(&mut self) -> f32 {
        let sum: f64 = (0..4).map(|_| (self.next() >> 11) as f64 / (1_u64 << 53) as f64).sum();
        (sum / 2.0 - 1.0) as f32
    }

    pub(super) fn vector(&mut self, dims: usize) -> Vec<f32> {
        (0..dims).map(|_| self.bell()).collect()
    }
}
