//! Tokens of a text, and the text of tokens.

use super::ascii::Cuts;
use super::cl100k::{Cl100k, Qwen2};
use super::deepseek::DeepSeek;
use super::gemma3::Gemma3;
use super::o200k::{O200k, Tekken};
use super::pieces::NONE;
use super::vocabulary::Vocabulary;
use super::{Encoding, long, merge};
use crate::{Error, Result};

/// Appends the tokens of `text` to `tokens`: the ids of the published vocabulary, but for `gemma3`, whose are ours (see the tool that packs it).
pub fn encode(encoding: Encoding, text: &str, tokens: &mut Vec<u32>) {
    let normal = encoding.normalized(text);
    if let Encoding::Loaded(loaded) = encoding {
        return loaded.each_piece(&normal, |_, piece| {
            tokens.extend_from_slice(piece);
            true
        });
    }
    let vocabulary = Vocabulary::get(encoding);
    let (mut cuts, bytes, mut at) = (Cuts::new(&normal), normal.as_bytes(), 0);
    while at < bytes.len() {
        let end = piece_end(encoding, &mut cuts, at);
        encode_piece(vocabulary, bytes, at, end, tokens);
        at = end;
    }
}

/// The end of the pretoken at `start` in an embedded encoding, for callers that do not count in bulk.
pub(super) fn piece_end(encoding: Encoding, cuts: &mut Cuts<'_>, start: usize) -> usize {
    match encoding {
        Encoding::Cl100k => cuts.end::<Cl100k>(start),
        Encoding::O200k => cuts.end::<O200k>(start),
        Encoding::Qwen2 => cuts.end::<Qwen2>(start),
        Encoding::Tekken => cuts.end::<Tekken>(start),
        Encoding::DeepSeekV3 => cuts.end::<DeepSeek>(start),
        Encoding::Gemma3 => cuts.end::<Gemma3>(start),
        Encoding::Loaded(_) => cuts.text.bytes.len(),
    }
}

/// Appends the tokens of the pretoken `text[start..end]`.
pub(super) fn encode_piece(vocabulary: &Vocabulary, text: &[u8], start: usize, end: usize, tokens: &mut Vec<u32>) {
    match vocabulary.find(text, start, end) {
        NONE if end - start <= merge::MAX_PIECE => merge::encode::<{ merge::MAX_PIECE }>(vocabulary, text, start, end, tokens),
        NONE => long::encode(vocabulary, text, start, end, tokens),
        id => tokens.push(id),
    }
}

/// The bytes that `tokens` spell; not UTF-8 when the tokens are a part of a text cut inside a character.
pub fn decode(encoding: Encoding, tokens: &[u32]) -> Result<Vec<u8>> {
    if matches!(encoding, Encoding::Loaded(_)) {
        let name = encoding.name();
        return Err(Error::invalid(format!(
            "decoding {name}: only embedded encodings are decoded, got a loaded one: decode by its own library"
        )));
    }
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
    let (name, highest) = (encoding.name(), count - 1);
    Error::invalid(format!(
        "decoding {name}: the id of an ordinary token is at most {highest}, got {id} at index {index}: drop special tokens first, they have no text"
    ))
    .with("token", i64::from(id))
    .with("index", index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn decoding_gives_the_text_back() {
        for encoding in Encoding::ALL {
            for text in ["", "Hello, world", "naïve 中文 😀\r\n\t<|endoftext|>", &"x".repeat(1000)] {
                let mut tokens = Vec::new();
                encode(encoding, text, &mut tokens);
                assert_eq!(decode(encoding, &tokens).expect("own tokens"), text.as_bytes());
            }
        }
    }

    #[test]
    fn unknown_token_is_an_error_with_its_index() {
        let error = decode(Encoding::Cl100k, &[0, 100_256]).expect_err("not a token");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.message().contains("at most 100255, got 100256 at index 1"), "{}", error.message());
    }
}
