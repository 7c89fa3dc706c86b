//! How close a text's words are to a question's, word by word: for each token of the question the token of the text that is most
//! like it.
//!
//! ```text
//! closeness = sum_q w_q * max_t cos(row_q, row_t) / sum_q w_q      w_q = |row_q| * rarity of its word; filler and punctuation left out
//! phrase    = sum_q v_q * max cos(q, t) * cos(q', t') / sum_q v_q  q' follows q in the question; t' stands at most three places from t
//! ```
//!
//! Cosines are read, not computed: `data/nearest.bin` has the 32 tokens that are most like each token (`tools/embedding/nearest.py`), and
//! any other token counts 0. So a text costs a look-up for each of its tokens, and the sums are those of small whole numbers. It
//! does not read word order beyond that, and it needs a text's tokens: it is for the few candidates that something cheaper found.
//! Source of the form: Khattab and Zaharia, "`ColBERT`", 2020.

#![allow(clippy::inline_always)] // a loop is compiled for an instruction set only inside the function that enables it

use std::cell::Cell;

use super::wordpiece::{self, Token};
use super::{Cut, table};
use crate::index::vectors::UnitVector;
use crate::text::is_filler;

/// The 32 nearest tokens of each token: u16 token, u8 cosine in units of 1/255, the nearest first.
static NEAREST: &[u8] = include_bytes!("data/nearest.bin");
const NEIGHBOURS: usize = 32;
const PAIR: usize = 3;
const _: () = assert!(NEAREST.len() == wordpiece::count() * NEIGHBOURS * PAIR);

/// The most tokens of a question.
const MAX_WANTED: usize = 64;
/// Lines of cosines are padded to multiples of it, so that each is compared in whole registers.
const LANE: usize = 16;
/// A cosine of 1.
const ONE: u8 = u8::MAX;
/// Cosines by their units.
static SHARES: [f64; ONE as usize + 1] = shares();
/// Tokens of a question whose neighbours in it are looked for.
const MAX_PAIRED: usize = 16;
/// Places between two tokens of a text that stand together.
const TOGETHER: usize = 3;

const fn shares() -> [f64; ONE as usize + 1] {
    let (mut shares, mut cosine) = ([0.0; ONE as usize + 1], 0);
    while cosine < shares.len() {
        shares[cosine] = cosine as f64 / ONE as f64;
        cosine += 1;
    }
    shares
}

thread_local! {
    /// For each token of the vocabulary its line in [`Wanted::cosines`], and 0 for all that are far; empty between two questions.
    static SPARE: Cell<Option<Vec<u16>>> = const { Cell::new(None) };
}

/// The tokens of a question that say what it is about, in its order, each once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Content {
    tokens: Vec<Token>,
    /// For each token the place of its word in `words`.
    owners: Vec<usize>,
    /// The words, in normal form.
    pub words: Vec<Box<[u8]>>,
    /// Whether the table [knows](super::knows) the question.
    pub is_known: bool,
}

impl Content {
    /// The tokens of a question but for filler, punctuation and `left_out` (as [`super::distinct_tokens`] has them), which stand for
    /// something else; all but punctuation where nothing is left. A question whose letters the table lacks says more than its question
    /// mark.
    pub fn of(question: &Cut, left_out: &[u8]) -> Self {
        let mut content = Self { is_known: question.is_known, ..Self::with_room(question.count()) };
        let is_mark = |word: &[u8]| word.is_ascii() && !word.iter().any(u8::is_ascii_alphanumeric);
        let is_left_out = |token: Token| left_out.as_chunks::<2>().0.contains(&token.to_le_bytes());
        for (word, token) in question.telling() {
            if !(is_filler(word) || is_ending(word) || is_mark(word) || is_left_out(token)) {
                content.push(word, token);
            }
        }
        if content.tokens.is_empty() {
            question.telling().filter(|(word, _)| !is_mark(word)).for_each(|(word, token)| content.push(word, token));
        }
        content
    }

    fn with_room(count: usize) -> Self {
        let most = count.min(MAX_WANTED);
        Self { tokens: Vec::with_capacity(most), owners: Vec::with_capacity(most), words: Vec::with_capacity(most), is_known: false }
    }

    fn push(&mut self, word: &[u8], token: Token) {
        if self.tokens.len() == MAX_WANTED || self.tokens.contains(&token) {
            return;
        }
        if self.words.last().is_none_or(|last| **last != *word) {
            self.words.push(word.into());
        }
        self.tokens.push(token);
        self.owners.push(self.words.len() - 1);
    }

    /// The direction of the sum of their rows; `None` where the table says nothing of any, or does not know the question.
    pub fn vector(&self) -> Option<UnitVector> {
        self.tokens.first().filter(|_| self.is_known)?;
        let mut sum = table::Sum::new();
        self.tokens.iter().for_each(|token| sum.add(*token)); // every one of them says something
        Some(sum.finish())
    }
}

/// The part that an apostrophe cuts off a word: it is a word of its own to the vocabulary, and in every second text.
fn is_ending(word: &[u8]) -> bool {
    matches!(word, b"s" | b"t" | b"d" | b"m" | b"ll" | b"re" | b"ve")
}

/// A question, token by token, ready to be compared.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// The weight of each token, and of each pair of it and the next.
    weights: Weights,
    pairs: Weights,
    /// Length of a line: above the number of tokens, so that what follows the last is 0.
    width: usize,
    /// Lines of cosines, as many as there may be; the first is that of tokens which are far from all.
    cosines: Vec<u8>,
    lines: Vec<u16>,
    /// Tokens that have a line.
    near: Vec<Token>,
}

/// The closeness of a text to a question: for each token of the question the greatest cosine, in units of 1/255.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Nearness {
    best: [u8; MAX_WANTED + LANE],
    /// How far what stands together in the question does so here, from 0 to 1.
    pub phrase: f64,
}

impl Wanted {
    /// `rarity` of each word of the content.
    pub fn new(content: &Content, rarity: &[f64]) -> Self {
        let lengths: Vec<f64> = content.tokens.iter().map(|token| table::length(*token)).collect();
        let weights: Vec<f64> = lengths.iter().zip(&content.owners).map(|(length, owner)| length * rarity[*owner]).collect();
        let pairs = Weights::of(lengths.windows(2).take(MAX_PAIRED).map(|pair| pair[0] * pair[1]).collect());
        let lines = SPARE.take().unwrap_or_else(|| vec![0; wordpiece::count()]);
        let width = (weights.len() + 1).next_multiple_of(LANE);
        let most = weights.len() * (NEIGHBOURS + 1);
        let (cosines, near) = (vec![0; width * (most + 1)], Vec::with_capacity(most));
        let mut wanted = Self { weights: Weights::of(weights), pairs, width, cosines, lines, near };
        for (at, &token) in content.tokens.iter().enumerate() {
            wanted.note(at, token, ONE);
            let start = token as usize * NEIGHBOURS * PAIR;
            for &[low, high, cosine] in NEAREST[start..start + NEIGHBOURS * PAIR].as_chunks::<PAIR>().0 {
                if cosine > 0 {
                    wanted.note(at, Token::from_le_bytes([low, high]), cosine);
                }
            }
        }
        wanted
    }

    fn note(&mut self, at: usize, token: Token, cosine: u8) {
        let line = &mut self.lines[token as usize];
        if *line == 0 {
            self.near.push(token);
            *line = self.near.len() as u16;
        }
        let place = &mut self.cosines[*line as usize * self.width + at];
        *place = cosine.max(*place);
    }

    fn line(&self, line: u16) -> &[u8] {
        &self.cosines[line as usize * self.width..][..self.width]
    }

    /// The closeness of a text with these tokens to the question.
    pub fn nearness(&self, tokens: &[u8]) -> Nearness {
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { self.nearness_avx2(tokens) };
        }
        self.nearness_of(tokens)
    }

    /// Computes [`Self::nearness`] in wider registers, by the same whole numbers.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn nearness_avx2(&self, tokens: &[u8]) -> Nearness {
        self.nearness_of(tokens)
    }

    #[inline(always)]
    fn nearness_of(&self, tokens: &[u8]) -> Nearness {
        if self.width == LANE { self.nearness_to_few(tokens) } else { self.nearness_to_many(tokens) }
    }

    /// Computes [`Self::nearness`] of a question whose lines are one lane, as those of most: each is one register.
    #[inline(always)]
    fn nearness_to_few(&self, tokens: &[u8]) -> Nearness {
        let (mut best, mut phrase, mut count) = ([0_u8; LANE], [0_u16; LANE], 0);
        let lines = self.cosines.as_chunks::<LANE>().0;
        let mut met = [(0, &[0; LANE]); TOGETHER + 1]; // the last tokens that are near to any, newest first
        for (place, token) in tokens.as_chunks::<2>().0.iter().enumerate() {
            let line = self.lines.get(Token::from_le_bytes(*token) as usize).copied().unwrap_or(0);
            let Some(cosines) = lines.get(usize::from(line)).filter(|_| line > 0) else { continue };
            best.iter_mut().zip(cosines).for_each(|(best, cosine)| *best = (*best).max(*cosine));
            for (_, before) in met[..count].iter().take_while(|(other, _)| place - other <= TOGETHER) {
                together_in_lane(&mut phrase, before, cosines);
            }
            met.copy_within(..TOGETHER, 1);
            (met[0], count) = ((place, cosines), (count + 1).min(TOGETHER));
        }
        let mut nearness = Nearness { best: [0; MAX_WANTED + LANE], phrase: self.phrase(&phrase) };
        nearness.best[..LANE].copy_from_slice(&best);
        nearness
    }

    /// How far what stands together in the question does so in a text, of what was noted for each of its pairs.
    fn phrase(&self, phrase: &[u16; MAX_PAIRED]) -> f64 {
        let one = f64::from(ONE) * f64::from(ONE);
        let any = phrase.iter().any(|best| *best > 0);
        if any { self.pairs.mean(phrase.iter().map(|best| f64::from(*best) / one)) } else { 0.0 }
    }

    #[inline(always)]
    fn nearness_to_many(&self, tokens: &[u8]) -> Nearness {
        let mut nearness = Nearness { best: [0; MAX_WANTED + LANE], phrase: 0.0 };
        let best = &mut nearness.best[..self.width];
        let mut met = [(0, 0_u16); TOGETHER + 1]; // the last tokens that are near to any, newest first
        let (mut phrase, mut count) = ([0_u16; MAX_PAIRED], 0);
        for (place, token) in tokens.as_chunks::<2>().0.iter().enumerate() {
            let line = self.lines.get(Token::from_le_bytes(*token) as usize).copied().unwrap_or(0);
            if line == 0 {
                continue;
            }
            let cosines = self.line(line);
            for (best, cosines) in best.as_chunks_mut::<LANE>().0.iter_mut().zip(cosines.as_chunks::<LANE>().0) {
                best.iter_mut().zip(cosines).for_each(|(best, cosine)| *best = (*best).max(*cosine));
            }
            for &(other, before) in met[..count].iter().take_while(|(other, _)| place - other <= TOGETHER) {
                debug_assert!(other < place);
                together(&mut phrase, self.line(before), cosines);
            }
            met.copy_within(..TOGETHER, 1);
            (met[0], count) = ((place, line), (count + 1).min(TOGETHER));
        }
        nearness.phrase = self.phrase(&phrase);
        nearness
    }

    /// How much of the question a text has, 0 to 1; 0 where either side has no tokens.
    pub fn closeness(&self, of: &Nearness) -> f64 {
        self.weights.mean(of.best.iter().map(|best| SHARES[*best as usize]))
    }

    /// The closeness of several texts together.
    pub fn closeness_of_all<'n>(&self, texts: impl Iterator<Item = &'n Nearness>) -> f64 {
        let mut best = [0; MAX_WANTED + LANE];
        for text in texts {
            best[..self.width].iter_mut().zip(&text.best).for_each(|(best, cosine)| *best = (*best).max(*cosine));
        }
        self.weights.mean(best.iter().map(|best| SHARES[*best as usize]))
    }

    /// The share of the question whose very tokens the text has.
    pub fn exact(&self, of: &Nearness) -> f64 {
        self.weights.mean(of.best.iter().map(|best| f64::from(u8::from(*best == ONE))))
    }
}

/// Notes how far two tokens of a text are two neighbours of the question, in either order; both lines are longer than a lane.
#[inline(always)]
fn together(phrase: &mut [u16; MAX_PAIRED], a: &[u8], b: &[u8]) {
    let (Some(a), Some(b)) = (a.first_chunk::<{ MAX_PAIRED + 1 }>(), b.first_chunk::<{ MAX_PAIRED + 1 }>()) else { return };
    for at in 0..MAX_PAIRED {
        let (one, other) = (u16::from(a[at]) * u16::from(b[at + 1]), u16::from(b[at]) * u16::from(a[at + 1]));
        phrase[at] = phrase[at].max(one).max(other);
    }
}

/// Raises the pairs of a phrase as [`together`] does, for lines that are one lane, whose last cosine is 0.
#[inline(always)]
fn together_in_lane(phrase: &mut [u16; MAX_PAIRED], a: &[u8; LANE], b: &[u8; LANE]) {
    let behind = |line: &[u8; LANE]| -> [u8; LANE] { std::array::from_fn(|at| if at + 1 < LANE { line[at + 1] } else { 0 }) };
    let (behind_a, behind_b) = (behind(a), behind(b));
    for at in 0..LANE {
        let (one, other) = (u16::from(a[at]) * u16::from(behind_b[at]), u16::from(b[at]) * u16::from(behind_a[at]));
        phrase[at] = phrase[at].max(one).max(other);
    }
}

const _: () = assert!(MAX_PAIRED == LANE, "a lane has a place for each pair");

impl Drop for Wanted {
    fn drop(&mut self) {
        for token in &self.near {
            self.lines[*token as usize] = 0;
        }
        SPARE.set(Some(std::mem::take(&mut self.lines)));
    }
}

/// The weights of values in a mean.
#[derive(Debug)]
struct Weights {
    each: Vec<f64>,
    sum: f64,
}

impl Weights {
    fn of(each: Vec<f64>) -> Self {
        let sum = each.iter().fold(0.0, |sum, weight| sum + weight);
        Self { each, sum }
    }

    /// The mean of as many values, or more; 0 where the weights are nothing.
    fn mean(&self, values: impl Iterator<Item = f64>) -> f64 {
        let sum = self.each.iter().zip(values).fold(0.0, |sum, (weight, value)| sum + weight * value);
        if self.sum > 0.0 { sum / self.sum } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::distinct_tokens;

    fn closeness(question: &str, text: &str) -> f64 {
        let content = Content::of(&Cut::of(question), &[]);
        let wanted = Wanted::new(&content, &vec![1.0; content.words.len()]);
        wanted.closeness(&wanted.nearness(&distinct_tokens(text, 256)))
    }

    /// The answer of two tokens to two neighbours of the question, place by place, whatever the length of a line.
    fn naive_phrase(wanted: &Wanted, tokens: &[u8]) -> [u16; MAX_PAIRED] {
        let (mut phrase, mut met) = ([0; MAX_PAIRED], Vec::<(usize, u16)>::new());
        for (place, token) in tokens.as_chunks::<2>().0.iter().enumerate() {
            let line = wanted.lines[Token::from_le_bytes(*token) as usize];
            for (other, before) in met.iter().rev().take(TOGETHER).filter(|(other, _)| line > 0 && place - other <= TOGETHER) {
                let (a, b) = (wanted.line(*before), wanted.line(line));
                for at in 0..MAX_PAIRED.min(wanted.width - 1) {
                    let product = |one: u8, next: u8| u16::from(one) * u16::from(next);
                    phrase[at] = phrase[at].max(product(a[at], b[at + 1])).max(product(b[at], a[at + 1]));
                }
                assert!(*other < place);
            }
            met.extend((line > 0).then_some((place, line)));
        }
        phrase
    }

    #[test]
    fn lines_of_one_lane_and_of_more_are_compared_as_place_by_place() {
        let words = "the rusty bike that Anna sold to a friend of hers in May was painted green again and rides as well as ever, she says, \
                     through forests, villages, bridges, markets, deserts, mountains and orchards, with music, coffee, bread and honey";
        let mut widths = Vec::new();
        for count in (1..=44).step_by(3) {
            let question: Vec<&str> = words.split(' ').take(count).collect();
            let content = Content::of(&Cut::of(&question.join(" ")), &[]);
            let wanted = Wanted::new(&content, &vec![1.0; content.words.len()]);
            widths.push(wanted.width);
            for from in 0..20 {
                let text: Vec<&str> = words.split(' ').skip(from).step_by(from % 3 + 1).collect();
                let tokens = distinct_tokens(&text.join(" "), 256);
                let (nearness, mut best) = (wanted.nearness(&tokens), [0; MAX_WANTED + LANE]);
                assert_eq!(nearness, wanted.nearness_of(&tokens));
                for token in tokens.as_chunks::<2>().0 {
                    let line = wanted.line(wanted.lines[Token::from_le_bytes(*token) as usize]);
                    best.iter_mut().zip(line).for_each(|(best, cosine)| *best = (*best).max(*cosine));
                }
                assert_eq!(nearness.best, best);
                assert_eq!(nearness.phrase.to_bits(), wanted.phrase(&naive_phrase(&wanted, &tokens)).to_bits());
            }
        }
        assert!(widths.contains(&LANE) && widths.iter().any(|width| *width > LANE), "{widths:?}");
    }

    /// The formula of the module in floating point, over all tokens of the table.
    fn naive(question: &str, text: &str) -> f64 {
        let row = |token: Token| -> Vec<f64> {
            (0..table::DIMENSIONS).map(|d| f64::from(table::code(token, d)) * f64::from(table::scale(d))).collect()
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (mut close, mut lengths) = (0.0, 0.0);
        for &wanted in &Content::of(&Cut::of(question), &[]).tokens {
            let (wanted, mut best) = (row(wanted), 0.0_f64);
            wordpiece::each_token(text, &mut |token| {
                let found = row(token);
                best = best.max(dot(&wanted, &found) / (dot(&wanted, &wanted) * dot(&found, &found)).sqrt());
            });
            close += dot(&wanted, &wanted).sqrt() * best;
            lengths += dot(&wanted, &wanted).sqrt();
        }
        close / lengths
    }

    #[test]
    fn is_the_formula_but_for_what_is_far_and_finds_what_is_meant() {
        let pairs = [
            ("Does she have a puppy?", "We got a dog yesterday"),
            ("Does she have a puppy?", "The invoice is due in April"),
            ("port of payments-api", "payments-api listens on 8443"),
            ("the of", "to the end"),
        ];
        for (question, text) in pairs {
            let (close, exact) = (closeness(question, text), naive(question, text));
            assert!(close < exact + 0.01 && close > exact - 0.45, "{question} {text} {close} {exact}");
        }
        assert!(closeness(pairs[0].0, pairs[0].1) > closeness(pairs[1].0, pairs[1].1));
        assert!(closeness("port", "The port!") > 0.99);
        assert!((closeness("puppy", "dog") - naive("puppy", "dog")).abs() < 0.01, "a near token has its cosine");
        assert_eq!(
            Content::of(&Cut::of("What is Anna's job?"), &distinct_tokens("Anna", 8)).words.len(),
            1,
            "what an apostrophe cuts off says nothing"
        );
    }

    #[test]
    fn nothing_on_either_side_is_far_from_everything() {
        assert!(closeness("", "text").abs() < 1e-9 && closeness("text", "").abs() < 1e-9);
        let content = Content::of(&Cut::of("Caroline museum"), &distinct_tokens("Caroline", 8));
        assert_eq!(content.tokens.len(), 1, "a left out token does not count");
        let wanted = Wanted::new(&content, &[1.0]);
        assert!(wanted.nearness(&[0xff, 0xff]).best.iter().all(|best| *best == 0), "a token that no vocabulary has");
        assert!(Content::of(&Cut::of("\u{1f600}"), &[]).vector().is_none() && Content::of(&Cut::of("cat"), &[]).vector().is_some());
    }

    #[test]
    fn what_stands_together_counts_as_a_phrase() {
        let content = Content::of(&Cut::of("guitar lesson"), &[]);
        let wanted = Wanted::new(&content, &[1.0, 1.0]);
        let phrase = |text: &str| wanted.nearness(&distinct_tokens(text, 256)).phrase;
        assert!(phrase("my first guitar lesson") > 0.99);
        assert!(phrase("a lesson on the guitar") > 0.99);
        assert!(phrase("the guitar is old and so is what I know of any lesson") < 0.1);
    }

    #[test]
    fn the_scratch_is_empty_for_the_next_question() {
        let apart = closeness("puppy", "dog");
        assert!(apart > 0.3);
        for _ in 0..3 {
            let (a, b) = (Content::of(&Cut::of("quarterly report"), &[]), Content::of(&Cut::of("puppy"), &[]));
            let (first, second) = (Wanted::new(&a, &[1.0, 1.0]), Wanted::new(&b, &[1.0]));
            let text = distinct_tokens("dog", 8);
            assert!(first.closeness(&first.nearness(&text)) < 0.5);
            assert!((second.closeness(&second.nearness(&text)) - apart).abs() < 1e-12);
        }
    }
}
