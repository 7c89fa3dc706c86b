//! How close a text's words are to a question's, word by word: for each token of the question the token of the text that is most
//! like it.
//!
//! ```text
//! closeness = sum_q w_q * max_t cos(row_q, row_t) / sum_q w_q      w_q = |row_q|, filler and punctuation of the question left out
//! ```
//!
//! A fitted row is long where its token says much, so its length stands for the rarity of a word, and no statistics are read. The
//! dot products are those of integers; what is left is one division in one order. It does not read word order, and it needs a text's
//! tokens: it is for the few candidates that something cheaper found. Source of the form: Khattab and Zaharia, "`ColBERT`", 2020.

use super::table::{self, DIMENSIONS};
use super::wordpiece::{self, Token};
use crate::text::is_filler;

/// The most tokens of a question.
const MAX_WANTED: usize = 64;
/// Bits of a squared scale, the greatest being 1 << 15.
const SCALE_BITS: u32 = 15;
/// Bits that a question's row is multiplied by beyond its codes: 127 << 8 fits an `i16`, and a dot product an `i32`.
const ROW_BITS: u32 = 8;
const UNSEEN: u16 = u16::MAX;

/// What a question looks for, token by token.
#[derive(Debug)]
pub(crate) struct Wanted {
    tokens: Vec<Want>,
    squared_scales: [i32; DIMENSIONS],
    /// By token of a text: its place in `cosines`, once it was met.
    known: Vec<u16>,
    /// For each token that was met, its cosine with each token of the question.
    cosines: Vec<f64>,
}

#[derive(Debug)]
struct Want {
    row: [i16; DIMENSIONS],
    length: f64,
}

impl Wanted {
    /// The question's tokens without those in `left_out` (as [`super::distinct_tokens`] has them), which stand for something else.
    pub fn new(question: &str, left_out: &[u8]) -> Self {
        let squared_scales = squared_scales();
        let tokens = content(question, left_out).into_iter().map(|token| Want::new(token, &squared_scales)).collect();
        Self { tokens, squared_scales, known: vec![UNSEEN; wordpiece::count()], cosines: Vec::new() }
    }

    /// The closeness of a text with these tokens, 0 to 1; 0 where either side has none.
    pub fn closeness(&mut self, tokens: &[u8]) -> f64 {
        let mut best = vec![0.0_f64; self.tokens.len()];
        for &token in tokens.as_chunks::<2>().0 {
            let at = self.place(Token::from_le_bytes(token));
            for (best, cosine) in best.iter_mut().zip(&self.cosines[at * self.tokens.len()..]) {
                *best = best.max(*cosine);
            }
        }
        let lengths: f64 = self.tokens.iter().map(|want| want.length).sum();
        let close: f64 = self.tokens.iter().zip(best).map(|(want, best)| want.length * best).sum();
        if lengths > 0.0 { close / lengths } else { 0.0 }
    }

    /// Where the cosines of a text's token stand; computed the first time.
    fn place(&mut self, token: Token) -> usize {
        let token = if (token as usize) < wordpiece::count() { token } else { wordpiece::UNKNOWN };
        let known = self.known[token as usize];
        if known != UNSEEN {
            return known as usize;
        }
        let (row, length) = (table::row(token), length(token, &self.squared_scales));
        let place = self.cosines.len() / self.tokens.len().max(1);
        self.cosines.extend(self.tokens.iter().map(|want| {
            let dot: i32 = want.row.iter().zip(row).map(|(&a, &b)| i32::from(a) * i32::from(b as i8)).sum();
            (f64::from(dot) / f64::from(1 << ROW_BITS) / (want.length * length)).clamp(0.0, 1.0)
        }));
        self.known[token as usize] = place as u16;
        place
    }
}

impl Want {
    fn new(token: Token, squared_scales: &[i32; DIMENSIONS]) -> Self {
        let codes = table::row(token);
        let row = std::array::from_fn(|d| ((squared_scales[d] * i32::from(codes[d] as i8)) >> (SCALE_BITS - ROW_BITS)) as i16);
        Self { row, length: length(token, squared_scales) }
    }
}

/// The distinct tokens of a question that say what it is about; all of them where none does.
fn content(question: &str, left_out: &[u8]) -> Vec<Token> {
    let (mut content, mut all) = (Vec::new(), Vec::new());
    let is_left_out = |token: Token| left_out.as_chunks::<2>().0.contains(&token.to_le_bytes());
    wordpiece::each_token_of_word(question, &mut |word, token| {
        let says_little = is_filler(word) || word.is_ascii() && !word.iter().any(u8::is_ascii_alphanumeric) || is_left_out(token);
        if all.len() < MAX_WANTED && !all.contains(&token) {
            all.push(token);
        }
        if content.len() < MAX_WANTED && !says_little && !content.contains(&token) {
            content.push(token);
        }
    });
    if content.is_empty() { all } else { content }
}

/// The squares of the dimensions' scales as whole numbers.
fn squared_scales() -> [i32; DIMENSIONS] {
    let squares: [f64; DIMENSIONS] = std::array::from_fn(|d| f64::from(table::scale(d)) * f64::from(table::scale(d)));
    let most = squares.iter().fold(f64::MIN_POSITIVE, |most, square| most.max(*square));
    squares.map(|square| (square / most * f64::from(1 << SCALE_BITS)) as i32)
}

/// The length of a token's row, the largest scale being 1; never 0.
fn length(token: Token, squared_scales: &[i32; DIMENSIONS]) -> f64 {
    let squares = table::row(token).iter().zip(squared_scales).map(|(&code, &square)| i64::from(square * i32::from(code as i8).pow(2)));
    (squares.sum::<i64>().max(1) as f64 / f64::from(1 << SCALE_BITS)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::distinct_tokens;

    fn closeness(question: &str, text: &str) -> f64 {
        Wanted::new(question, &[]).closeness(&distinct_tokens(text, 256))
    }

    /// The formula of the module in floating point.
    fn naive(question: &str, text: &str) -> f64 {
        let row =
            |token: Token| -> Vec<f64> { (0..DIMENSIONS).map(|d| f64::from(table::code(token, d)) * f64::from(table::scale(d))).collect() };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (mut close, mut lengths) = (0.0, 0.0);
        for wanted in content(question, &[]) {
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
    fn is_the_formula_and_finds_what_is_meant() {
        let pairs = [
            ("Which museum did she visit?", "We went to the gallery yesterday"),
            ("Which museum did she visit?", "My cat sleeps all day"),
            ("port of payments-api", "payments-api listens on 8443"),
            ("the of", "to the end"),
        ];
        for (question, text) in pairs {
            assert!((closeness(question, text) - naive(question, text)).abs() < 0.01, "{question} {text}");
        }
        assert!(closeness(pairs[0].0, pairs[0].1) > closeness(pairs[1].0, pairs[1].1));
        assert!(closeness("port", "The port!") > 0.99);
    }

    #[test]
    fn nothing_on_either_side_is_far_from_everything() {
        assert!(closeness("", "text").abs() < 1e-9 && closeness("text", "").abs() < 1e-9);
        let caroline = distinct_tokens("Caroline", 8);
        let mut wanted = Wanted::new("Caroline museum", &caroline);
        assert_eq!(wanted.tokens.len(), 1, "a left out token does not count");
        assert!(wanted.closeness(&[0xff, 0xff]).is_finite(), "a token that no vocabulary has");
    }
}
