//! Every kernel that this processor has, against the plainest possible formula, bit for bit.

use super::*;
use crate::index::vectors::block::{Entry, encode, vectors_per_block};
use crate::index::vectors::testing::Random;
use crate::index::vectors::{UnitVector, VectorSet};

const DIMS: [usize; 22] = [1, 2, 7, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 256, 384, 1024, 1100, 4096, 8192];

fn formula(query: &Query, entries: &[Entry<'_>]) -> Vec<i32> {
    let score = |entry: &Entry<'_>| {
        let dot: i64 = entry.row.iter().zip(query.codes()).map(|(&byte, &code)| i64::from(byte as i8) * i64::from(code)).sum();
        (dot as f64 * (f64::from(entry.scale) * (f64::from(query.scale) * f64::from(SCORE_ONE)))) as i32
    };
    entries.iter().map(score).collect()
}

/// Compares every kernel with the formula on blocks of 1 vector to more than two tiles, whose rows `byte` makes.
fn compare(dims: usize, query: &Query, mut byte: impl FnMut() -> i8) {
    let set = VectorSet::new(1, 1, dims).unwrap();
    let counts = (1..=11).chain([15, 16, 17, 32, 35]).filter(|count| *count <= vectors_per_block(dims));
    for count in counts {
        let rows: Vec<Vec<u8>> = (0..count).map(|_| (0..dims).map(|_| byte() as u8).collect()).collect();
        let entries: Vec<_> =
            rows.iter().enumerate().map(|(at, row)| Entry { number: at as u32, scale: 0.003 * (at + 1) as f32, row }).collect();
        let key = set.block_key(0);
        let value = encode(key.as_slice(), dims, &entries);
        let block = set.open_block(key.as_slice(), &value).unwrap();
        let expected = formula(query, &entries);
        for kernel in Kernel::ALL {
            let mut scores = vec![i32::MIN; count];
            kernel.block_scorer()(query, &block, &value, &mut scores);
            assert_eq!(scores, expected, "{kernel:?}, {dims} dimensions, {count} rows");
        }
    }
}

#[test]
fn kernels_agree_on_random_rows() {
    let mut random = Random::new(4);
    for dims in DIMS {
        let query = Query::new(&random.vector(dims), dims).unwrap();
        compare(dims, &query, || random.next() as i8);
    }
}

/// Where `vpmaddubsw` would saturate, and where an i32 would overflow if the bounds in the module's head were wrong.
#[test]
fn kernels_agree_on_extreme_rows() {
    for dims in DIMS {
        for sign in [1.0, -1.0] {
            let all = vec![sign; dims];
            let alternating: Vec<f32> = (0..dims).map(|at| if at % 2 == 0 { sign } else { -sign }).collect();
            for values in [all, alternating] {
                let query = Query::new(&values, dims).unwrap();
                for extreme in [-128, -127, 0, 127] {
                    compare(dims, &query, || extreme);
                }
                let mut flip = 0_i8;
                compare(dims, &query, || {
                    flip = if flip == 127 { -128 } else { 127 };
                    flip
                });
            }
        }
    }
}

#[test]
fn the_best_kernel_is_available_and_scalar_always_is() {
    assert!(Kernel::best().is_available());
    assert!(Kernel::Scalar.is_available());
    #[cfg(target_arch = "aarch64")]
    assert!(Kernel::Neon.is_available());
}

#[test]
fn a_score_out_of_range_saturates() {
    let query = Query::from_unit(UnitVector::new(&vec![1.0; 8192], 8192).unwrap());
    let row = vec![127; 8192];
    for (byte, expected) in [(127_i8, i32::MAX), (-128, i32::MIN)] {
        let row: Vec<u8> = row.iter().map(|_| byte as u8).collect();
        let entry = Entry { number: 0, scale: 1.0, row: &row };
        let set = VectorSet::new(1, 1, 8192).unwrap();
        let value = encode(set.block_key(0).as_slice(), 8192, &[entry]);
        let block = set.open_block(set.block_key(0).as_slice(), &value).unwrap();
        for kernel in Kernel::ALL {
            let mut scores = [0];
            kernel.block_scorer()(&query, &block, &[], &mut scores);
            assert_eq!(scores, [expected], "{kernel:?}");
        }
    }
}
