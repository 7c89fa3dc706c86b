//! Files that list tokens in the order of their ranks: tiktoken's, and Mistral's tekken.
//!
//! Two parts merge where what they spell together is a token; its id is the rank.

use std::collections::HashMap;

use serde_json::Value;

use super::file::TokenizerPath;
use super::merges::{Merges, NONE, Rule};
use super::{Cut, Parsed};
use crate::Result;
use crate::units::base64;

const NEXT: &str = "get the file again from where the model is published";

/// A line a token: base64, a space, the rank.
pub(super) fn tiktoken(place: TokenizerPath<'_>, bytes: &[u8]) -> Result<Merges> {
    let text = std::str::from_utf8(bytes).map_err(|error| place.wrong("a .tiktoken file must be text", &error.to_string(), NEXT))?;
    let mut tokens = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let token = line.split_once(' ').and_then(|(token, rank)| Some((base64::decode(token)?, rank.trim().parse().ok()?)));
        let wrong = || place.wrong("a line must be base64, a space and a rank", &format!("line {}: {line:?}", number + 1), NEXT);
        tokens.push(token.ok_or_else(wrong)?);
    }
    by_rank(place, tokens)
}

/// `config` and `vocab` of a tekken.json.
pub(super) fn tekken(place: TokenizerPath<'_>, file: &Value) -> Result<Parsed> {
    let config = &file["config"];
    let number = |key: &str| config[key].as_u64().and_then(|number| usize::try_from(number).ok());
    let (Some(size), Some(special)) = (number("default_vocab_size"), number("default_num_special_tokens")) else {
        return Err(place.wrong("config must have default_vocab_size and default_num_special_tokens", "none", NEXT));
    };
    let pattern = config["pattern"].as_str().unwrap_or_default();
    let unknown =
        || place.wrong("the pattern must be one that this version has a scanner for", pattern, "use an embedded encoding with a factor");
    let cut = Cut::spelled(&[pattern]).ok_or_else(unknown)?;
    let entries = file["vocab"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut tokens = Vec::with_capacity(entries.len());
    for entry in entries.iter().take(size.saturating_sub(special)) {
        let token =
            entry["token_bytes"].as_str().and_then(base64::decode).zip(entry["rank"].as_u64().and_then(|rank| u32::try_from(rank).ok()));
        tokens.push(token.ok_or_else(|| place.wrong("a token must have token_bytes and rank", &entry.to_string(), NEXT))?);
    }
    Ok(Parsed::of_bytes(cut, by_rank(place, tokens)?))
}

/// Every byte must be a token, and no rank may be missing or given twice: a file that lost lines would count wrongly.
fn by_rank(place: TokenizerPath<'_>, tokens: Vec<(Vec<u8>, u32)>) -> Result<Merges> {
    let count = tokens.len();
    let mut seen = vec![false; count];
    let mut vocabulary = HashMap::with_capacity(count);
    for (token, rank) in tokens {
        let fresh = seen.get_mut(rank as usize).is_some_and(|seen| !std::mem::replace(seen, true));
        if !fresh || token.is_empty() || vocabulary.insert(token.into(), rank).is_some() {
            let got = format!("rank {rank} for {count} tokens, or its token, out of range or twice");
            return Err(place.wrong("ranks must count from 0 without gaps, and no token may stand twice", &got, NEXT));
        }
    }
    let bytes = single_bytes(place, &vocabulary)?;
    Ok(Merges { vocabulary, bytes, rule: Rule::Spelled, whole_pieces: true, unknown: NONE })
}

/// The tokens of the 256 single bytes.
pub(super) fn single_bytes(place: TokenizerPath<'_>, vocabulary: &HashMap<Box<[u8]>, u32>) -> Result<Box<[u32; 256]>> {
    let mut bytes = Box::new([NONE; 256]);
    for byte in 0..=255u8 {
        let missing = || place.wrong("every single byte must be a token", &format!("none for byte 0x{byte:02X}"), NEXT);
        bytes[usize::from(byte)] = *vocabulary.get(&[byte][..]).ok_or_else(missing)?;
    }
    Ok(bytes)
}
