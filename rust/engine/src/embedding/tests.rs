//! What holds for the whole of the embedding: golden vectors, and what users can give.

use super::*;
use crate::index::vectors::Query;

fn cosine(a: &str, b: &str) -> f64 {
    let (a, b) = (embed(a), embed(b));
    a.as_slice().iter().zip(b.as_slice()).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum()
}

#[test]
fn every_text_has_a_vector_of_length_one() {
    let long = "x".repeat(1 << 20);
    let many = "the cat sat on the mat ".repeat(1 << 15);
    for text in ["", " ", "\0", "\u{200b}", "\u{1f600}", "a", "\u{4e2d}\u{6587}", "Prefers tea", &long, &many] {
        let unit = embed(text);
        assert_eq!(unit.as_slice().len(), DIMENSIONS);
        assert!((cosine(text, text) - 1.0).abs() < 1e-5);
        assert_eq!(Query::from_unit(unit).dims(), DIMENSIONS);
    }
    assert_eq!(embed(""), embed("\u{1f600}"), "no token is like one unknown word");
}

#[test]
fn the_order_and_the_case_of_words_do_not_count() {
    assert_eq!(embed("Which port does payments-api use?"), embed("use PORT which - payments api does ?"));
    assert_eq!(embed("caf\u{e9}"), embed("CAFE"));
}

#[test]
fn a_sum_of_many_tokens_is_that_of_a_few() {
    assert!((cosine(&"tea ".repeat(100_000), "tea") - 1.0).abs() < 1e-6);
}
