//! `SentencePiece`'s `.model` files, of byte-pair encodings.
//!
//! This module follows the library's steps (`normalizer.cc`, `bpe_model.cc`, `sentencepiece_processor.cc`). White space is trimmed where
//! the file says so, and shown as U+2581. User-defined pieces are found, the leftmost and longest. Between them characters merge while two
//! neighbours together are a piece, that of the best score first and the leftmost of equals. Characters that are then not a piece are
//! spelled in bytes, or are unknown, once for a run of them.
//!
//! Models of other kinds (unigram), tables of characters (`precompiled_charsmap`) and pieces of type `UNUSED` are refused.

use std::borrow::Cow;
use std::collections::HashMap;

use super::file::TokenizerPath;
use super::literals::{Literals, Segment};
use super::merges::{Merges, NONE, Rule};
use super::protobuf::{Fields, Value};
use super::{Parsed, Way};
use crate::Result;

const NEXT: &str = "use an embedded encoding with a factor, or the model's tokenizer.json";
const SHOWN: char = '\u{2581}';

/// The content of a file.
pub(super) struct Pieces {
    white: White,
    user_defined: Literals,
    merges: Merges,
}

/// The treatment of spaces.
#[derive(Debug, Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "they are the file's own switches")]
struct White {
    /// A text that is not empty gets one before it (`add_dummy_prefix`).
    prefixed: bool,
    /// Those at the ends are dropped, and of several in a row one stays (`remove_extra_whitespaces`).
    trimmed: bool,
    /// They become U+2581 (`escape_whitespaces`).
    shown: bool,
}

/// Whether the bytes begin as such a file does: with a piece that begins with its text.
pub(super) fn is_model(bytes: &[u8]) -> bool {
    matches!(bytes, [0x0A, ..=0x7F, 0x0A, ..] | [0x0A, 0x80..=0xFF, ..=0x7F, 0x0A, ..])
}

pub(super) fn parse(place: TokenizerPath<'_>, bytes: &[u8]) -> Result<Parsed> {
    let mut read = Read::default();
    let damaged = || place.wrong("a SentencePiece model must be a protocol buffer", "a damaged field", "get the file again");
    for field in Fields(bytes) {
        match field.ok_or_else(damaged)? {
            (1, Value::Bytes(piece)) => read.pieces.push(Piece::read(piece).ok_or_else(damaged)?),
            (2, Value::Bytes(trainer)) => read.trainer(trainer).ok_or_else(damaged)?,
            (3, Value::Bytes(normalizer)) => read.normalizer(normalizer).ok_or_else(damaged)?,
            _ => {}
        }
    }
    read.check(place)?;
    let way = Way::Pieces(Box::new(read.pieces(place)?));
    Ok(Parsed { normalizes: false, literals: Literals::default(), way })
}

/// The message, with the defaults of what it leaves out.
struct Read<'a> {
    pieces: Vec<Piece<'a>>,
    model_type: u64,
    byte_fallback: bool,
    suffixed: bool,
    charsmap: bool,
    white: White,
}

struct Piece<'a> {
    text: &'a str,
    score: f32,
    kind: u64,
}

const NORMAL: u64 = 1;
const UNKNOWN: u64 = 2;
const CONTROL: u64 = 3;
const USER_DEFINED: u64 = 4;
const UNUSED: u64 = 5;
const BYTE: u64 = 6;

impl Default for Read<'_> {
    fn default() -> Self {
        let white = White { prefixed: true, trimmed: true, shown: true };
        Self { pieces: Vec::new(), model_type: 1, byte_fallback: false, suffixed: false, charsmap: false, white }
    }
}

impl<'a> Piece<'a> {
    fn read(message: &'a [u8]) -> Option<Self> {
        let mut piece = Self { text: "", score: 0.0, kind: NORMAL };
        for field in Fields(message) {
            match field? {
                (1, Value::Bytes(text)) => piece.text = std::str::from_utf8(text).ok()?,
                (2, Value::Float(score)) => piece.score = score,
                (3, Value::Number(kind)) => piece.kind = kind,
                _ => {}
            }
        }
        Some(piece)
    }
}

impl Read<'_> {
    fn trainer(&mut self, message: &[u8]) -> Option<()> {
        for field in Fields(message) {
            match field? {
                (3, Value::Number(kind)) => self.model_type = kind,
                (24, Value::Number(is)) => self.suffixed = is != 0,
                (35, Value::Number(is)) => self.byte_fallback = is != 0,
                _ => {}
            }
        }
        Some(())
    }

    fn normalizer(&mut self, message: &[u8]) -> Option<()> {
        for field in Fields(message) {
            match field? {
                (2, Value::Bytes(charsmap)) => self.charsmap = !charsmap.is_empty(),
                (3, Value::Number(is)) => self.white.prefixed = is != 0,
                (4, Value::Number(is)) => self.white.trimmed = is != 0,
                (5, Value::Number(is)) => self.white.shown = is != 0,
                _ => {}
            }
        }
        Some(())
    }

    fn check(&self, place: TokenizerPath<'_>) -> Result<()> {
        if self.model_type != 2 {
            let kind = match self.model_type {
                1 => "a unigram model".into(),
                3 => "a model of words".into(),
                4 => "a model of characters".into(),
                other => format!("model_type {other}"),
            };
            return Err(place.wrong("a SentencePiece model must be a byte-pair encoding", &kind, NEXT));
        }
        if self.charsmap {
            return Err(place.wrong("a SentencePiece model must not replace characters", "a precompiled_charsmap", NEXT));
        }
        if self.suffixed {
            return Err(place.wrong("white space must begin words", "treat_whitespace_as_suffix", NEXT));
        }
        Ok(())
    }

    /// The tables of the pieces, which are checked one by one.
    fn pieces(&self, place: TokenizerPath<'_>) -> Result<Pieces> {
        let (mut vocabulary, mut user_defined) = (HashMap::with_capacity(self.pieces.len()), Vec::new());
        let (mut bytes, mut unknown) = (Box::new([NONE; 256]), NONE);
        let wrong = |rule: &str, at: usize, piece: &Piece<'_>| place.wrong(rule, &format!("piece {at}: {:?}", piece.text), NEXT);
        let mut texts = std::collections::HashSet::with_capacity(self.pieces.len());
        for (at, piece) in self.pieces.iter().enumerate() {
            let id = at as u32;
            if piece.text.is_empty() || piece.score.is_nan() || !texts.insert(piece.text) {
                return Err(wrong("a piece must have a text of its own and a score", at, piece));
            }
            match piece.kind {
                NORMAL => _ = vocabulary.insert(piece.text.as_bytes().into(), id),
                USER_DEFINED if piece.text.contains(' ') && (self.white.shown || self.white.trimmed) => {
                    return Err(wrong("a user-defined piece must show its spaces as U+2581", at, piece));
                }
                USER_DEFINED => user_defined.push((piece.text.into(), id)),
                UNKNOWN => unknown = id,
                BYTE => {
                    let byte = byte_of(piece.text).ok_or_else(|| wrong("a piece of a byte must be written as <0x0A>", at, piece))?;
                    bytes[usize::from(byte)] = id;
                }
                CONTROL if piece.text.chars().nth(1).is_some() => {}
                CONTROL => return Err(wrong("a control piece must have more than one character", at, piece)),
                UNUSED => return Err(wrong("a piece must not be of type UNUSED", at, piece)),
                _ => return Err(wrong("a piece must be of a type that is known", at, piece)),
            }
        }
        if self.byte_fallback && bytes.contains(&NONE) || !self.byte_fallback && unknown == NONE {
            let got = if self.byte_fallback { "byte_fallback without all 256" } else { "neither" };
            return Err(place.wrong("characters without a piece need pieces for bytes or an unknown piece", got, NEXT));
        }
        let unknown = if self.byte_fallback { NONE } else { unknown };
        let merges = Merges { vocabulary, bytes, rule: Rule::Ranked(self.ranks()), whole_pieces: false, unknown };
        Ok(Pieces { white: self.white, user_defined: Literals::new(user_defined), merges })
    }

    /// The place of each piece's score among all scores, the best first; equal scores are equal ranks.
    fn ranks(&self) -> Box<[u32]> {
        let mut scores: Vec<f32> = self.pieces.iter().map(|piece| piece.score).collect();
        scores.sort_unstable_by(|one, other| other.total_cmp(one));
        // The two zeros are one score.
        scores.dedup();
        self.pieces.iter().map(|piece| scores.partition_point(|score| *score > piece.score) as u32).collect()
    }
}

fn byte_of(text: &str) -> Option<u8> {
    let digits = text.strip_prefix("<0x")?.strip_suffix('>')?;
    u8::from_str_radix(digits, 16).ok().filter(|byte| *digits == format!("{byte:02X}"))
}

impl Pieces {
    /// Appends the tokens of a text.
    pub(super) fn encode(&self, text: &str, tokens: &mut Vec<u32>) {
        let shown = self.white.normalized(text);
        for (_, segment) in self.user_defined.segments(&shown) {
            match segment {
                Segment::Literal(id) => tokens.push(id),
                Segment::Text(part) => self.merges.encode_pieces(part, tokens),
            }
        }
    }
}

impl White {
    /// The text that is merged.
    fn normalized(self, text: &str) -> Cow<'_, str> {
        let text = if self.trimmed { text.trim_start_matches(' ') } else { text };
        if text.is_empty() {
            return Cow::Borrowed(text);
        }
        let space = if self.shown { SHOWN } else { ' ' };
        let mut normal = String::with_capacity(text.len() + text.len() / 2 + 3);
        normal.extend(self.prefixed.then_some(space));
        let mut skips = self.trimmed;
        for character in text.chars() {
            if character != ' ' || !skips {
                normal.push(if character == ' ' { space } else { character });
            }
            skips = self.trimmed && character == ' ';
        }
        if self.trimmed {
            normal.truncate(normal.trim_end_matches(space).len());
        }
        Cow::Owned(normal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_become_what_the_file_says() {
        let white = |prefixed, trimmed, shown| White { prefixed, trimmed, shown };
        for (white, text, expected) in [
            (white(true, false, true), " a  b ", "▁▁a▁▁b▁"),
            (white(true, true, true), "  a  b ", "▁a▁b"),
            (white(false, true, false), "  a  b ", "a b"),
            (white(false, false, true), "a b\n", "a▁b\n"),
            (white(true, true, true), "   ", ""),
            (white(true, false, true), "", ""),
            (white(false, true, true), "a▁ ", "a"),
        ] {
            assert_eq!(white.normalized(text), expected, "{white:?} {text:?}");
        }
    }

    #[test]
    fn files_are_told_from_texts() {
        assert!(is_model(b"\n\x0e\n\x05<unk>") && is_model(b"\n\x85\x01\n\x05"));
        for text in [&b"IQ== 0\n"[..], b"\nIQ== 0\n", b"", b"\n", b"\n\n"] {
            assert!(!is_model(text), "{text:?}");
        }
    }
}
