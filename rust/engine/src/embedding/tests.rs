//! Tests of the whole embedding: golden vectors, and any input that users can give.

use super::*;
use crate::index::vectors::Query;

fn cosine(a: &str, b: &str) -> f64 {
    let (a, b) = (embed(a), embed(b));
    a.as_slice().iter().zip(b.as_slice()).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum()
}

#[test]
fn what_the_table_knows_has_a_vector_of_length_one() {
    let many = "the cat sat on the mat ".repeat(1 << 10);
    for text in ["a", "Prefers tea", &many] {
        let unit = embed(text);
        assert_eq!(unit.as_slice().len(), DIMENSIONS);
        assert!(knows(text) && (cosine(text, text) - 1.0).abs() < 1e-5, "{text}");
        assert_eq!(Query::from_unit(unit).dims(), DIMENSIONS);
    }
}

/// Every text of such scripts had the vector of its full stop or of an unknown word, and all of them meant the same.
#[test]
fn what_the_table_does_not_know_has_no_direction() {
    let long = "x".repeat(1 << 16);
    let russian = "\u{42f} \u{436}\u{438}\u{432}\u{443} \u{432} \u{41c}\u{43e}\u{441}\u{43a}\u{432}\u{435}.";
    for text in ["", " ", "\0", "\u{200b}", "...", "\u{1f600}", "\u{4e2d}\u{6587}", russian, &long] {
        let unit = embed(text);
        assert!(!knows(text) && !unit.has_direction() && unit.as_slice().len() == DIMENSIONS, "{text}");
        assert!(cosine(text, "the port").abs() < 1e-9);
        assert_eq!(Query::from_unit(unit).dims(), DIMENSIONS);
    }
}

#[test]
fn the_order_and_the_case_of_words_do_not_count() {
    assert_eq!(embed("Which port does payments-api use?"), embed("use PORT which - payments api does ?"));
    assert_eq!(embed("caf\u{e9}"), embed("CAFE"));
}

#[test]
fn a_sum_of_many_tokens_is_that_of_a_few() {
    assert!((cosine(&"tea ".repeat(1_000), "tea") - 1.0).abs() < 1e-6);
}

/// The first numbers and a hash of all of them. A change here is a change of vectors: raise `REVISION` with it.
const GOLDEN: [(&str, [f32; 3], u64); 3] = [
    ("Prefers tea", [-0.230_976_6, -0.087_153_964, -0.141_718_28], 6_401_648_606_881_990_972),
    ("Which port does payments-api use in prod-eu-west-1?", [-0.077_282_82, 0.178_611_01, -0.148_595_38], 47_268_850_742_411_738),
    ("Caf\u{e9} \u{4e2d}\u{6587} \u{1f600} na\u{ef}ve", [-0.113_695_93, 0.092_401_44, -0.044_431_38], 9_553_533_472_668_785_869),
];

#[test]
fn golden_vectors() {
    let made = GOLDEN.map(|(text, ..)| {
        let unit = embed(text);
        let bytes: Vec<u8> = unit.as_slice().iter().flat_map(|x| x.to_le_bytes()).collect();
        (text, [unit.as_slice()[0], unit.as_slice()[1], unit.as_slice()[2]], xxhash_rust::xxh3::xxh3_64(&bytes))
    });
    assert_eq!(made, GOLDEN);
}

/// The formula of the module, in floating point and without a buffer.
#[test]
fn a_vector_is_the_scaled_sum_of_its_rows() {
    for text in ["Prefers tea", "a a a b", "Never deploy on a Friday, said the un\u{ef}que engineer"] {
        let mut sum = [0.0_f64; DIMENSIONS];
        wordpiece::each_token(text, &mut |token| {
            for (d, x) in sum.iter_mut().enumerate() {
                *x += f64::from(table::code(token, d)) * f64::from(table::scale(d));
            }
        });
        let length = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
        for (made, expected) in embed(text).as_slice().iter().zip(sum) {
            assert!((f64::from(*made) - expected / length).abs() < 1e-6, "{text}");
        }
    }
}

/// A long text is cut into tokens part by part, and only until there are enough: as if it were cut as one.
#[test]
fn distinct_tokens_of_a_long_text_are_those_of_the_whole() {
    let pieces = ["harbour ", "walls", " \u{301}mark ", "漢字かな ", "payments-api:8443\n", "naïve ", "\tunbelievably", " x\u{200d}y "];
    let text: String = (0..30_000_usize).map(|at| pieces[at.wrapping_mul(at) % 7919 % pieces.len()]).collect();
    for (text, most) in [(text.as_str(), 256), (&text[..40_000], 9), (&text[..100], 256), ("", 4)] {
        let mut expected: Vec<u8> = Vec::new();
        wordpiece::each_token(text, &mut |token| {
            let bytes = token.to_le_bytes();
            if expected.len() < most * 2 && !expected.as_chunks::<2>().0.contains(&bytes) {
                expected.extend(bytes);
            }
        });
        assert_eq!(distinct_tokens(text, most), expected);
    }
}

#[test]
fn words_that_say_what_a_text_is_about_are_told() {
    for word in ["rent", "dog", "sinemet", "duolingo", "docker", "copenhagen", "unagented"] {
        assert!(telling(word).is_some(), "{word}");
    }
    for word in ["moved", "monday", "january", "the", "going", "new", "14", ""] {
        assert!(telling(word).is_none(), "{word}");
    }
}
