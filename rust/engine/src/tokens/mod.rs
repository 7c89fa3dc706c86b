//! Exact token counts: the encodings cl100k_base and o200k_base, embedded, with no download.
//!
//! A text is cut into pretokens by a hand-written scanner (`scan`, one file for each pattern); a pretoken that is a token is
//! found in a hash table (`pieces`); the others are merged (`merge`, or `backtrack` where they are long). The result is
//! `tiktoken`'s `encode_ordinary`, for every string: the strings of special tokens inside a text are text like any other, and
//! whoever frames messages adds the framing's own tokens. o200k_harmony cuts and counts ordinary text as o200k_base does.
//!
//! Not here: other tokenizers, message framing, and closed models, which have no exact count.
//!
//! The vocabularies are OpenAI's (tiktoken, MIT licence; see NOTICE). Packed they take 342 KB and 727 KB; the first use of an
//! encoding unpacks it.

mod backtrack;
mod cl100k;
mod load;
mod long;
mod merge;
mod o200k;
mod pieces;
mod recent;
mod scan;
mod swar;
mod unicode;
mod vocabulary;

use cl100k::Cl100k;
use o200k::O200k;
use pieces::NONE;
use recent::Recent;
use scan::{Pattern, Text};
use vocabulary::Vocabulary;

use crate::{Error, Result};

/// A tokenizer whose counts are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `cl100k_base`: GPT-4, GPT-3.5, text-embedding-3.
    Cl100k,
    /// `o200k_base`: GPT-4o and later; `o200k_harmony` counts ordinary text alike.
    O200k,
}

impl Encoding {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Cl100k, Self::O200k];

    /// The name that tiktoken gives it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cl100k => "cl100k_base",
            Self::O200k => "o200k_base",
        }
    }

    /// The encoding of a name, `o200k_harmony` included.
    pub fn from_name(name: &str) -> Result<Self> {
        match name {
            "cl100k_base" => Ok(Self::Cl100k),
            "o200k_base" | "o200k_harmony" => Ok(Self::O200k),
            _ => Err(Error::invalid(format!(
                "choosing an encoding: the name must be \"cl100k_base\", \"o200k_base\" or \"o200k_harmony\", got {name:?}: name one of these, or the model"
            ))
            .with("encoding", name)),
        }
    }
}

/// How many tokens `text` is. Linear in its length; the first call for an encoding unpacks the vocabulary.
#[must_use]
pub fn count(encoding: Encoding, text: &str) -> usize {
    let vocabulary = Vocabulary::get(encoding);
    Recent::with(encoding, |recent| match encoding {
        Encoding::Cl100k => count_pieces::<Cl100k>(vocabulary, recent, text),
        Encoding::O200k => count_pieces::<O200k>(vocabulary, recent, text),
    })
}

fn count_pieces<P: Pattern>(vocabulary: &Vocabulary, recent: &mut Recent, text: &str) -> usize {
    let text = Text::new(text);
    let (mut at, mut total) = (0, 0);
    while at < text.bytes.len() {
        let end = P::end(text, at);
        let known = end - at < 8 && vocabulary.has_short(text.bytes, at, end);
        total += if known { 1 } else { count_piece(vocabulary, recent, text.bytes, at, end) };
        at = end;
    }
    total
}

/// How many tokens the pretoken `text[start..end]` is, which is no token of less than 8 bytes.
#[inline(never)]
fn count_piece(vocabulary: &Vocabulary, recent: &mut Recent, text: &[u8], start: usize, end: usize) -> usize {
    if end - start >= 8 && vocabulary.find(text, start, end) != NONE {
        return 1;
    }
    if end - start < 16 {
        return recent.count(pieces::medium_key(text, start, end), || merge::count(vocabulary, text, start, end));
    }
    count_long(vocabulary, text, start, end)
}

#[inline(never)]
fn count_long(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize) -> usize {
    if end - start <= merge::MAX_PIECE {
        return merge::count(vocabulary, text, start, end);
    }
    let mut tokens = Vec::new();
    long::encode(vocabulary, text, start, end, &mut tokens);
    tokens.len()
}

/// Appends the tokens of `text` to `tokens`.
pub fn encode(encoding: Encoding, text: &str, tokens: &mut Vec<u32>) {
    let vocabulary = Vocabulary::get(encoding);
    match encoding {
        Encoding::Cl100k => encode_pieces::<Cl100k>(vocabulary, text, tokens),
        Encoding::O200k => encode_pieces::<O200k>(vocabulary, text, tokens),
    }
}

fn encode_pieces<P: Pattern>(vocabulary: &Vocabulary, text: &str, tokens: &mut Vec<u32>) {
    let text = Text::new(text);
    let mut at = 0;
    while at < text.bytes.len() {
        let end = P::end(text, at);
        match vocabulary.find(text.bytes, at, end) {
            NONE if end - at <= merge::MAX_PIECE => merge::encode::<{ merge::MAX_PIECE }>(vocabulary, text.bytes, at, end, tokens),
            NONE => long::encode(vocabulary, text.bytes, at, end, tokens),
            id => tokens.push(id),
        }
        at = end;
    }
}

/// The bytes that `tokens` spell; not UTF-8 when the tokens are a part of a text cut inside a character.
pub fn decode(encoding: Encoding, tokens: &[u32]) -> Result<Vec<u8>> {
    let vocabulary = Vocabulary::get(encoding);
    let mut bytes = Vec::with_capacity(tokens.len() * 4);
    for (index, &id) in tokens.iter().enumerate() {
        if id as usize >= vocabulary.len() {
            return Err(no_such_token(encoding, vocabulary.len(), index, id));
        }
        bytes.extend_from_slice(vocabulary.spelling(id));
    }
    Ok(bytes)
}

fn no_such_token(encoding: Encoding, count: usize, index: usize, id: u32) -> Error {
    let name = encoding.name();
    Error::invalid(format!(
        "decoding {name}: an ordinary token's id is at most {}, got {id} at index {index}: special tokens have no text, drop them first",
        count - 1
    ))
    .with("token", i64::from(id))
    .with("index", index)
}
