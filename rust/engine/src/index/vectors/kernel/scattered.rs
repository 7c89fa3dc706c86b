//! Dot products with rows that lie anywhere, four at a time: what a walk over a graph asks for.
//!
//! Both sides are codes padded with zeros to a multiple of 64, so that no kernel has a remainder. The sums are those of the
//! block kernels, in the same bounds: see the head of [`super`].

use super::super::query::QUERY_ALIGN;
use super::Kernel;

/// Rows that are multiplied at once.
pub(in super::super) const ROWS: usize = 4;

type Multiply = unsafe fn(&[u8], i32, [&[u8]; ROWS]) -> [i32; ROWS];

/// One kernel's way to multiply four rows by one vector.
#[derive(Clone, Copy)]
pub(in super::super) struct Dots(Multiply);

impl Dots {
    /// Dot products of `codes` with each row. `sum` is that of the codes, which lie in -127..=127; all have one length.
    #[inline]
    pub fn of(self, codes: &[u8], sum: i32, rows: [&[u8]; ROWS]) -> [i32; ROWS] {
        let len = codes.len();
        assert!(len.is_multiple_of(QUERY_ALIGN) && rows.iter().all(|row| row.len() == len), "padded codes of one length");
        // SAFETY: `dots` chose it after seeing that the processor has its instructions; all lengths are the same multiple of 64.
        unsafe { (self.0)(codes, sum, rows) }
    }
}

impl Kernel {
    /// This kernel's way to multiply scattered rows; any processor's where it has none.
    pub(in super::super) fn dots(self) -> Dots {
        Dots(match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni if self.is_available() => super::x86::dots_512,
            #[cfg(target_arch = "x86_64")]
            Self::AvxVnni if self.is_available() => super::x86::dots_256_vnni,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 if self.is_available() => super::x86::dots_256,
            _ => scalar,
        })
    }
}

/// The compiler turns it into widening multiplications on Arm.
fn scalar(codes: &[u8], _sum: i32, rows: [&[u8]; ROWS]) -> [i32; ROWS] {
    rows.map(|row| codes.iter().zip(row).map(|(&a, &b)| i32::from(a as i8) * i32::from(b as i8)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::vectors::testing::Random;

    #[test]
    fn every_kernel_gives_the_plain_sums() {
        let mut random = Random::new(11);
        for len in [64, 128, 256, 384, 1024, 8192] {
            for extreme in [None, Some(-128_i8), Some(127)] {
                let codes: Vec<u8> = (0..len).map(|_| (extreme.map_or(random.next() as i8, i8::wrapping_neg)).max(-127) as u8).collect();
                let sum = codes.iter().map(|&code| i32::from(code as i8)).sum();
                let rows: Vec<Vec<u8>> =
                    (0..ROWS).map(|_| (0..len).map(|_| extreme.unwrap_or(random.next() as i8) as u8).collect()).collect();
                let rows: [&[u8]; ROWS] = std::array::from_fn(|at| rows[at].as_slice());
                let plain = rows.map(|row| codes.iter().zip(row).map(|(&a, &b)| i64::from(a as i8) * i64::from(b as i8)).sum::<i64>());
                for kernel in Kernel::ALL {
                    assert_eq!(kernel.dots().of(&codes, sum, rows).map(i64::from), plain, "{kernel:?} {len} {extreme:?}");
                }
            }
        }
    }
}
