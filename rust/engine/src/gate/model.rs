//! Two linear models over a message: whether it informs, and how much of what it says is worth keeping.
//!
//! ```text
//! informs  = bias + sum of the weights of its features: words, pairs of words, length, what was asked before it
//! matters  = bias + sum of weight * value over NUMBERS numbers: length, names, numbers, past, times, who is spoken of
//! ```
//!
//! Weights are data (`weights.tsv`), in 1/1024, and sums are integers: the same on every processor. `tools/gate/fit.py` fitted
//! them; docs/life.md says on what, and what they reach. Features that no weight knows count nothing.

use std::collections::HashMap;

use xxhash_rust::xxh3::xxh3_64;

use super::lexicon::{FILLERS, FIRST, GREETINGS, PAST, SECOND, TIMES};
use super::signs::begins_word;
use super::words::{Word, among, words};
use crate::process::Once;
use crate::units::calendar::is_named;

/// One as a weight.
pub const ONE: i64 = 1024;
/// Numbers of the second model.
pub const NUMBERS: usize = 18;
/// Words that are read of a message.
const MAX_WORDS: usize = 200;
/// Words of what was said before.
const MAX_BEFORE: usize = 40;

/// Weights of both models.
struct Weights {
    informs: HashMap<u64, i64>,
    informs_bias: i64,
    matters: [i64; NUMBERS],
    matters_bias: i64,
}

fn weights() -> &'static Weights {
    static WEIGHTS: Once<Weights> = Once::new();
    WEIGHTS.get_or_init(|| read(include_str!("weights.tsv")))
}

/// Lines of `feature TAB weight`; those of the second model are `#matters N`, the biases `#informs bias` and `#matters bias`.
fn read(table: &str) -> Weights {
    let mut weights = Weights { informs: HashMap::new(), informs_bias: 0, matters: [0; NUMBERS], matters_bias: 0 };
    for (feature, weight) in table.lines().filter_map(|line| line.split_once('\t')) {
        let weight = weight.parse().unwrap_or(0);
        match feature {
            "#informs bias" => weights.informs_bias = weight,
            "#matters bias" => weights.matters_bias = weight,
            _ => match feature.strip_prefix("#matters ").and_then(|number| number.parse::<usize>().ok()) {
                Some(number) if number < NUMBERS => weights.matters[number] = weight,
                _ => {
                    weights.informs.insert(xxh3_64(feature.as_bytes()), weight);
                }
            },
        }
    }
    weights
}

/// The words of a message as the model sees them: numbers are `#`, names inside a sentence `^`.
fn classes(words: &[Word]) -> Vec<&str> {
    let mut out: Vec<&str> = Vec::with_capacity(words.len());
    for word in words {
        let inside = out.last().is_some_and(|last| !matches!(*last, "?" | "!"));
        out.push(match word.lower.as_str() {
            _ if word.is_number() => "#",
            lower if word.capital && inside && lower != "i" && !lower.starts_with("i'") => "^",
            lower => lower,
        });
    }
    out
}

/// Visits every feature of a message once, in order, with the hash of its name; `before` is what the other side said last.
pub fn features(text: &[Word], asked: &str, before: &[Word], mut visit: impl FnMut(&str, u64)) {
    let own = classes(&text[..text.len().min(MAX_WORDS)]);
    let (mut seen, mut name): (Vec<u64>, String) = (Vec::with_capacity(own.len() * 2 + 16), String::new());
    let mut feature = |parts: &[&str]| {
        name.clear();
        for part in parts {
            name.push_str(if name.is_empty() { "" } else { " " });
            name.push_str(part);
        }
        let hash = xxh3_64(name.as_bytes());
        if !seen.contains(&hash) {
            visit(&name, hash);
            seen.push(hash);
        }
    };
    for word in &own {
        feature(&["w", word]);
    }
    let mut previous = "<";
    for word in own.iter().copied().chain([">"]) {
        feature(&["b", previous, word]);
        previous = word;
    }
    own.first().into_iter().for_each(|word| feature(&["f", word]));
    let count = own.iter().filter(|word| !matches!(**word, "?" | "!")).count() as u64;
    let length = ((count + 1) * (count + 1)).ilog2().min(12).to_string();
    feature(&["n", &length]);
    if own.last() == Some(&"?") {
        feature(&["q"]);
    }
    if asked.is_empty() {
        return;
    }
    if !asked.trim_end().ends_with('?') {
        return feature(&["p."]);
    }
    feature(&["p?"]);
    feature(&["p?n", &length]);
    let last = classes(&before[before.len().saturating_sub(MAX_BEFORE)..]);
    let end = last.len().saturating_sub(1);
    let begin = last[..end].iter().rposition(|word| matches!(*word, "?" | "!")).map_or(0, |at| at + 1);
    last[begin..end].iter().take(3).for_each(|word| feature(&["pa", word]));
}

/// How sure the model is that a message informs: above 0 it does; 1/1024 of a logit. `before` is what the other side said last.
pub fn informs(text: &[Word], before: &str) -> i64 {
    let weights = weights();
    let mut sum = weights.informs_bias;
    features(text, before, &last_words(before), |_, hash| sum += weights.informs.get(&hash).copied().unwrap_or(0));
    sum
}

/// The words at the end of a text that the first model may look at: so many that the rest of a long one is not cut.
fn last_words(text: &str) -> Vec<Word> {
    let (mut from, mut found) = (text.len(), 0);
    for part in text.split_inclusive(char::is_whitespace).rev() {
        if found == MAX_BEFORE {
            break;
        }
        from -= part.len();
        found += usize::from(part.contains(begins_word));
    }
    words(&text[from..])
}

/// Whether the first model has a weight for a word, in small letters: people type it in English.
pub fn is_word(word: &str) -> bool {
    weights().informs.contains_key(&xxh3_64(format!("w {word}").as_bytes()))
}

/// The numbers of the second model.
pub fn numbers(text: &str, own: &[Word], before: &str) -> [f64; NUMBERS] {
    let classes = classes(own);
    let count = |class: &[&str]| classes.iter().filter(|word| among(class, word)).count() as f64;
    let plain = classes.iter().filter(|word| !matches!(**word, "?" | "!")).count();
    let content = classes.iter().filter(|word| word.len() > 2 && !among(&FILLERS, word) && !among(&GREETINGS, word));
    let (mut contents, mut letters) = (0, 0);
    content.for_each(|word| {
        contents += 1;
        letters += word.len();
    });
    let past = classes.iter().filter(|word| among(&PAST, word) || word.len() > 4 && word.ends_with("ed")).count() as f64;
    let asks = |text: &str| f64::from(u8::from(text.trim_end().ends_with('?')));
    let has = |class: &str| f64::from(u8::from(classes.contains(&class)));
    let log = |count: usize| libm::log(count as f64 + 1.0);
    [
        log(plain),
        count(&["^"]),
        count(&["#"]),
        has("?"),
        asks(text),
        count(&FIRST),
        count(&SECOND),
        count(&["!"]),
        count(&TIMES) + classes.iter().filter(|word| is_named(word)).count() as f64,
        log(contents),
        f64::from(u8::from(classes.first().is_some_and(|word| among(&GREETINGS, word)))),
        count(&GREETINGS),
        past,
        asks(before),
        count(&["my", "our", "we"]),
        f64::from(u8::from(text.contains('.'))),
        f64::from(u8::from(count(&FIRST) > 0.0 && past > 0.0)),
        log(letters),
    ]
}

/// How much of a message is worth keeping, in thousandths: the second model through a logistic curve.
pub fn matters(text: &str, own: &[Word], before: &str) -> u16 {
    let weights = weights();
    let sum: i64 =
        numbers(text, own, before).iter().zip(weights.matters).map(|(value, weight)| (value * ONE as f64) as i64 * weight / ONE).sum();
    let logit = (weights.matters_bias + sum) as f64 / ONE as f64;
    (1000.0 / (1.0 + libm::exp(-logit))) as u16
}

/// The features of a message, and its numbers, for fitting the weights.
#[must_use]
pub fn described(text: &str, before: &str) -> (Vec<String>, Vec<f64>) {
    let (own, asked, mut names) = (words(text), words(before), Vec::new());
    features(&own, before, &asked, |feature, _| names.push(feature.to_owned()));
    (names, numbers(text, &own, before).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_of_a_text_are_cut_alone() {
        let long = "tea, \u{6771}\u{4EAC} don't - ok? im Ana ".repeat(1_000) + "\u{2019} \u{A0}Do you like it?\n ";
        let (last, all) = (last_words(&long), words(&long));
        assert!((MAX_BEFORE..2 * MAX_BEFORE).contains(&last.len()), "{} words", last.len());
        let lower = |words: &[Word]| words.iter().rev().take(MAX_BEFORE).map(|word| word.lower.clone()).collect::<Vec<_>>();
        assert_eq!(lower(&last), lower(&all));
        for short in ["", " ", "?!", "tea?", "Do you like it? "] {
            assert_eq!(last_words(short), words(short));
        }
    }
}
