//! The exact dot product: f32 components, multiplied and summed in f64 in one fixed order.
//!
//! A product of two f32 is exact in f64, so only the additions round. Component i goes to lane i mod 16, lanes are added up in
//! a tree (i with i + 8, then i + 4, i + 2, i + 1). Rust never fuses or reorders floating point, so compiling the same loop for wider
//! registers changes the speed and no bit.

/// Independent sums.
const LANES: usize = 16;

/// A dot product under way: for vectors that come in pieces. Every piece but the last has a multiple of [`LANES`] components.
#[derive(Debug, Clone, Copy, Default)]
pub(in super::super) struct PartialDot([f64; LANES]);

impl PartialDot {
    /// Adds the products of `query` with as many little-endian f32.
    pub fn add(&mut self, query: &[f32], stored: &[[u8; 4]]) {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor has AVX-512F.
                return unsafe { add_avx512(&mut self.0, query, stored) };
            }
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2.
                return unsafe { add_avx2(&mut self.0, query, stored) };
            }
        }
        add(&mut self.0, query, stored, from_float);
    }

    /// Adds the products of `query` with as many little-endian i16.
    pub fn add_codes(&mut self, query: &[f32], codes: &[[u8; 2]]) {
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor has AVX-512F.
                return unsafe { add_codes_avx512(&mut self.0, query, codes) };
            }
            if is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2.
                return unsafe { add_codes_avx2(&mut self.0, query, codes) };
            }
        }
        add(&mut self.0, query, codes, from_code);
    }

    /// The sum of the lanes.
    pub fn sum(self) -> f64 {
        let mut lanes = self.0;
        let mut half = LANES / 2;
        while half > 0 {
            for at in 0..half {
                lanes[at] += lanes[at + half];
            }
            half /= 2;
        }
        lanes[0]
    }
}

/// The dot product of two vectors of one length.
pub(in super::super) fn exact_dot(a: &[f32], b: &[f32]) -> f64 {
    let mut dot = PartialDot::default();
    let mut bytes = [[0; 4]; LANES];
    for (a, b) in a.chunks(LANES).zip(b.chunks(LANES)) {
        for (bytes, x) in bytes.iter_mut().zip(b) {
            *bytes = x.to_le_bytes();
        }
        dot.add(a, &bytes[..b.len()]);
    }
    dot.sum()
}

#[inline(always)]
fn add<const BYTES: usize>(lanes: &mut [f64; LANES], query: &[f32], stored: &[[u8; BYTES]], value: impl Fn([u8; BYTES]) -> f64 + Copy) {
    let (query, query_rest) = query.as_chunks::<LANES>();
    let (stored, stored_rest) = stored.as_chunks::<LANES>();
    let mut sums = *lanes;
    for (query, stored) in query.iter().zip(stored) {
        for lane in 0..LANES {
            sums[lane] += f64::from(query[lane]) * value(stored[lane]);
        }
    }
    for (lane, (query, stored)) in query_rest.iter().zip(stored_rest).enumerate() {
        sums[lane] += f64::from(*query) * value(*stored);
    }
    *lanes = sums;
}

#[inline(always)]
fn from_float(bytes: [u8; 4]) -> f64 {
    f64::from(f32::from_le_bytes(bytes))
}

#[inline(always)]
fn from_code(bytes: [u8; 2]) -> f64 {
    f64::from(i16::from_le_bytes(bytes))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_avx2(lanes: &mut [f64; LANES], query: &[f32], stored: &[[u8; 4]]) {
    add(lanes, query, stored, from_float);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_codes_avx2(lanes: &mut [f64; LANES], query: &[f32], codes: &[[u8; 2]]) {
    add(lanes, query, codes, from_code);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn add_codes_avx512(lanes: &mut [f64; LANES], query: &[f32], codes: &[[u8; 2]]) {
    add(lanes, query, codes, from_code);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn add_avx512(lanes: &mut [f64; LANES], query: &[f32], stored: &[[u8; 4]]) {
    add(lanes, query, stored, from_float);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::vectors::testing::Random;

    /// The formula of the module's head, one component at a time.
    fn oracle(a: &[f32], b: &[f32]) -> f64 {
        let mut lanes = [0.0; LANES];
        for (at, (&x, &y)) in a.iter().zip(b).enumerate() {
            lanes[at % LANES] += f64::from(x) * f64::from(y);
        }
        let eight: Vec<f64> = (0..8).map(|at| lanes[at] + lanes[at + 8]).collect();
        let four: Vec<f64> = (0..4).map(|at| eight[at] + eight[at + 4]).collect();
        (four[0] + four[2]) + (four[1] + four[3])
    }

    #[test]
    fn every_width_gives_the_bits_of_the_formula() {
        let mut random = Random::new(3);
        for dims in [1, 2, 15, 16, 17, 31, 33, 100, 384, 1009, 8192] {
            let (a, b) = (random.vector(dims), random.vector(dims));
            let bytes: Vec<[u8; 4]> = b.iter().map(|x| x.to_le_bytes()).collect();
            let expected = oracle(&a, &b).to_bits();
            assert_eq!(exact_dot(&a, &b).to_bits(), expected, "{dims}");
            let mut plain = PartialDot::default();
            add(&mut plain.0, &a, &bytes, from_float);
            assert_eq!(plain.sum().to_bits(), expected, "{dims}");
            let mut chosen = PartialDot::default();
            chosen.add(&a, &bytes);
            assert_eq!(chosen.sum().to_bits(), expected, "{dims}");
            #[cfg(target_arch = "x86_64")]
            if is_x86_feature_detected!("avx2") {
                let mut lanes = [0.0; LANES];
                // SAFETY: the processor has AVX2.
                unsafe { add_avx2(&mut lanes, &a, &bytes) };
                assert_eq!(PartialDot(lanes).sum().to_bits(), expected, "{dims}");
            }
        }
    }
}
