//! A text cut into tokens once, with the word that each token is of: what everything that asks by one question begins with.

use std::sync::OnceLock;

use super::wordpiece::{self, Token};
use super::{Known, table};

/// Tokens among which a word is looked for one by one. Mostly a question has fewer.
const FEW: usize = 256;

/// The tokens of a text in its order, each with its word.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cut {
    /// The words in normal form, one behind the other.
    words: Vec<u8>,
    pieces: Vec<Piece>,
    /// Places of pieces by their words, one for each word; made for a long text that is asked for one.
    sorted: OnceLock<Vec<u32>>,
    /// Whether the table [knows](super::knows) the text.
    pub is_known: bool,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    /// Where its word lies.
    start: u32,
    end: u32,
    token: Token,
    /// The word has other pieces.
    is_part: bool,
}

impl Cut {
    /// The tokens of a text.
    pub fn of(text: &str) -> Self {
        let (words, pieces) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len() / 4));
        let (mut cut, mut known) = (Self { words, pieces, ..Self::default() }, Known::default());
        wordpiece::each_word_with_tokens(text, &mut |word, tokens| {
            let start = cut.words.len() as u32;
            cut.words.extend_from_slice(word);
            let (end, is_part) = (cut.words.len() as u32, tokens.len() > 1);
            for &token in tokens {
                known.note(word, token);
                cut.pieces.push(Piece { start, end, token, is_part });
            }
        });
        cut.is_known = known.is_enough();
        cut
    }

    /// How many tokens there are.
    pub fn count(&self) -> usize {
        self.pieces.len()
    }

    /// Each token that says something, with its word.
    pub fn telling(&self) -> impl Iterator<Item = (&[u8], Token)> {
        self.pieces.iter().filter(|piece| table::says_something(piece.token)).map(|piece| (self.word(piece), piece.token))
    }

    /// Whether the vocabulary has a word of the text whole; `None` where the text has no such word.
    pub fn has_whole(&self, word: &str) -> Option<bool> {
        let one_by_one = || self.pieces.iter().find(|piece| self.word(piece) == word.as_bytes());
        let piece = if self.pieces.len() <= FEW { one_by_one() } else { self.found(word) }?;
        Some(!piece.is_part && piece.token != wordpiece::UNKNOWN)
    }

    /// The first piece of a word, of a text that has many.
    fn found(&self, word: &str) -> Option<&Piece> {
        let of = |at: u32| self.word(&self.pieces[at as usize]);
        let sorted = self.sorted.get_or_init(|| {
            let mut sorted: Vec<u32> = (0..self.pieces.len() as u32).collect();
            sorted.sort_by(|one, other| of(*one).cmp(of(*other))); // of equals the first stays the first
            sorted.dedup_by(|one, other| of(*one) == of(*other));
            sorted
        });
        let place = sorted.binary_search_by(|at| of(*at).cmp(word.as_bytes())).ok()?;
        self.pieces.get(sorted[place] as usize)
    }

    fn word(&self, piece: &Piece) -> &[u8] {
        &self.words[piece.start as usize..piece.end as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_a_long_text_is_found_as_one_of_a_short_text() {
        let short = "The museum of unthinkable zyxwvut things: tea, Tea and \u{41A}\u{442}\u{43E}";
        let (few, many) = (Cut::of(short), Cut::of(&short.repeat(50)));
        assert!(few.count() <= FEW && many.count() > FEW);
        for word in ["the", "museum", "tea", "zyxwvut", "unthinkable", "things", "th", "teas", ""] {
            assert_eq!(few.has_whole(word), many.has_whole(word), "{word}");
        }
    }

    #[test]
    fn each_word_of_a_very_long_text_is_found() {
        let words = 1 << 17;
        let cut = Cut::of(&("tea ".repeat(words) + "museum"));
        assert!((0..words).all(|_| cut.has_whole("museum") == Some(true)));
    }
}
