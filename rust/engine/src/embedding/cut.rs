//! A text cut into tokens once, with the word that each token is of: what everything that asks by one question begins with.

use super::wordpiece::{self, Token};
use super::{Known, table};

/// The tokens of a text in its order, each with its word.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cut {
    /// The words in normal form, one behind the other.
    words: Vec<u8>,
    pieces: Vec<Piece>,
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
        let (mut cut, mut known) =
            (Self { words: Vec::with_capacity(text.len()), pieces: Vec::with_capacity(text.len() / 4), is_known: false }, Known::default());
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
        let piece = self.pieces.iter().find(|piece| self.word(piece) == word.as_bytes())?;
        Some(!piece.is_part && piece.token != wordpiece::UNKNOWN)
    }

    fn word(&self, piece: &Piece) -> &[u8] {
        &self.words[piece.start as usize..piece.end as usize]
    }
}
