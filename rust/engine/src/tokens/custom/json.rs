//! Hugging Face's `tokenizer.json`: byte-level BPE, and `SentencePiece` BPE with byte fallback.
//!
//! Every part that changes how ordinary text is counted is read or refused. Special tokens, post-processors and decoders are passed over.

use std::collections::HashMap;

use serde_json::Value;

use super::file::TokenizerPath;
use super::literals::Literals;
use super::merges::{Merges, NONE, Pairs, Rule, pair};
use super::ranks::single_bytes;
use super::space::{Prepended, Space};
use super::{Cut, Parsed, Way};
use crate::Result;

const NEXT: &str = "use an embedded encoding with a factor, or tell us of the tokenizer";

/// The step before merging.
#[derive(Default)]
struct Before {
    nfc: bool,
    space: Space,
    byte_level: bool,
    patterns: Vec<String>,
    gpt2: bool,
}

pub(super) fn parse(place: TokenizerPath<'_>, file: &Value) -> Result<Parsed> {
    let model = &file["model"];
    if model["type"].as_str().unwrap_or("BPE") != "BPE" || !model["merges"].is_array() {
        return Err(place.wrong("the model must be a byte-pair encoding", &model["type"].to_string(), NEXT));
    }
    for key in ["dropout", "continuing_subword_prefix", "end_of_word_suffix"] {
        if !matches!(&model[key], Value::Null) && model[key] != "" && model[key].as_f64() != Some(0.0) {
            return Err(place.wrong(&format!("the model must have no {key}"), &model[key].to_string(), NEXT));
        }
    }
    let mut before = Before::default();
    before.normalizer(place, &file["normalizer"])?;
    before.pre_tokenizer(place, &file["pre_tokenizer"])?;
    let way = if before.byte_level { before.bytes(place, model)? } else { before.characters(place, model)? };
    Ok(Parsed { way, normalizes: before.nfc, literals: literals(place, &file["added_tokens"])? })
}

impl Before {
    fn normalizer(&mut self, place: TokenizerPath<'_>, step: &Value) -> Result<()> {
        match step["type"].as_str() {
            None if step.is_null() => {}
            Some("NFC") => self.nfc = true,
            Some("Sequence") => {
                for step in step["normalizers"].as_array().map(Vec::as_slice).unwrap_or_default() {
                    self.normalizer(place, step)?;
                }
            }
            Some("Prepend") if step["prepend"] == "\u{2581}" => self.space.prepended = Prepended::Always,
            Some("Replace") if step["pattern"]["String"] == " " && step["content"] == "\u{2581}" => self.space.replaced = true,
            _ => return Err(place.wrong("a normalizer must be NFC, or show spaces as U+2581", &step.to_string(), NEXT)),
        }
        Ok(())
    }

    fn pre_tokenizer(&mut self, place: TokenizerPath<'_>, step: &Value) -> Result<()> {
        let wrong =
            || place.wrong("a pre-tokenizer must be a Split by a regular expression, ByteLevel or Metaspace", &step.to_string(), NEXT);
        match step["type"].as_str() {
            None if step.is_null() => {}
            Some("Sequence") => {
                for step in step["pretokenizers"].as_array().map(Vec::as_slice).unwrap_or_default() {
                    self.pre_tokenizer(place, step)?;
                }
            }
            Some("Split") if step["invert"] != true && step["behavior"] == "Isolated" => {
                self.patterns.push(step["pattern"]["Regex"].as_str().ok_or_else(wrong)?.to_owned());
            }
            // All spaces were replaced before it could split at one.
            Some("Split") if self.space.replaced && step["pattern"]["String"] == " " => {}
            Some("ByteLevel") if step["add_prefix_space"] != true => {
                self.byte_level = true;
                self.gpt2 = step["use_regex"] != false;
            }
            Some("Metaspace") => self.metaspace(step).ok_or_else(wrong)?,
            _ => return Err(wrong()),
        }
        Ok(())
    }

    fn metaspace(&mut self, step: &Value) -> Option<()> {
        let scheme = match (step["prepend_scheme"].as_str(), step["add_prefix_space"].as_bool()) {
            (Some("never"), _) | (None, Some(false)) => Prepended::Never,
            (Some("first"), _) => Prepended::First,
            (Some("always") | None, _) => Prepended::Unless,
            _ => return None,
        };
        self.space = Space { replaced: true, prepended: scheme, splits: step["split"] != false };
        (step["replacement"] == "\u{2581}").then_some(())
    }

    /// Byte-level: tokens are spelled in GPT-2's letters for bytes.
    fn bytes(&self, place: TokenizerPath<'_>, model: &Value) -> Result<Way> {
        let patterns: Vec<&str> = self.patterns.iter().map(String::as_str).collect();
        let cut = match (&*patterns, self.gpt2) {
            ([], true) => Some(Cut::Gpt2),
            (patterns, false) => Cut::spelled(patterns),
            _ => None,
        };
        let unknown = || place.wrong("the pattern must be one that this version has a scanner for", &patterns.join(" then "), NEXT);
        let (cut, letters) = (cut.ok_or_else(unknown)?, byte_letters());
        let spell = |token: &str| token.chars().map(|letter| letters.get(&letter).copied()).collect::<Option<Vec<u8>>>();
        let (ids, pairs) = tables(place, model)?;
        // Special tokens are not byte-level spellings, and are not ordinary text either.
        let vocabulary = ids.iter().filter_map(|(token, id)| Some((spell(token)?.into(), *id))).collect();
        let bytes = single_bytes(place, &vocabulary)?;
        let whole_pieces = model["ignore_merges"] == true;
        Ok(Way::Bytes { cut, merges: Merges { vocabulary, bytes, rule: Rule::Listed(pairs), whole_pieces, unknown: NONE } })
    }

    /// Characters: those without a token are spelled in tokens for bytes, or are unknown.
    fn characters(&self, place: TokenizerPath<'_>, model: &Value) -> Result<Way> {
        if !self.patterns.is_empty() || model["ignore_merges"] == true {
            return Err(place.wrong("a tokenizer of characters must not be cut by a pattern", &self.patterns.join(" then "), NEXT));
        }
        let (ids, pairs) = tables(place, model)?;
        let mut bytes = Box::new([NONE; 256]);
        if model["byte_fallback"] == true {
            for byte in 0..=255u8 {
                bytes[usize::from(byte)] = ids.get(&*format!("<0x{byte:02X}>")).copied().unwrap_or(NONE);
            }
        }
        let unknown = model["unk_token"].as_str().and_then(|token| ids.get(token)).copied();
        if unknown.is_none() && bytes.contains(&NONE) {
            return Err(place.wrong("characters without a token need tokens for bytes or an unknown token", "neither", NEXT));
        }
        let vocabulary = ids.into_iter().map(|(token, id)| (token.as_bytes().into(), id)).collect();
        let merges = Merges { vocabulary, bytes, rule: Rule::Listed(pairs), whole_pieces: false, unknown: unknown.unwrap_or(NONE) };
        Ok(Way::Characters { space: self.space, merges })
    }
}

/// Ids by spelling, and the merges in their order.
fn tables<'a>(place: TokenizerPath<'_>, model: &'a Value) -> Result<(HashMap<&'a str, u32>, Pairs)> {
    let wrong = |what: &str| place.wrong("vocab must give ids, and a merge two of its tokens that make a third", what, NEXT);
    let mut ids = HashMap::new();
    for (token, id) in model["vocab"].as_object().ok_or_else(|| wrong("no vocab"))? {
        let id = id.as_u64().and_then(|id| u32::try_from(id).ok()).filter(|id| *id != NONE).ok_or_else(|| wrong(token))?;
        ids.insert(token.as_str(), id);
    }
    let mut pairs = Pairs::default();
    for (rank, merge) in model["merges"].as_array().into_iter().flatten().enumerate() {
        let (left, right) = halves(merge).ok_or_else(|| wrong(&merge.to_string()))?;
        let find = |token: &str| ids.get(token).copied().ok_or_else(|| wrong(&merge.to_string()));
        let (left_id, right_id, result) = (find(left)?, find(right)?, find(&format!("{left}{right}"))?);
        pairs.entry(pair(left_id, right_id)).or_insert((rank as u32, result));
    }
    Ok((ids, pairs))
}

/// `"a b"`, or `["a", "b"]` in newer files.
fn halves(merge: &Value) -> Option<(&str, &str)> {
    match merge {
        Value::String(both) => both.split_once(' '),
        Value::Array(two) if two.len() == 2 => Some((two[0].as_str()?, two[1].as_str()?)),
        _ => None,
    }
}

/// Added tokens that are found in any text. Special ones are not: text is text.
fn literals(place: TokenizerPath<'_>, added: &Value) -> Result<Literals> {
    let mut words = Vec::new();
    for token in added.as_array().into_iter().flatten().filter(|token| token["special"] != true) {
        let plain = ["single_word", "lstrip", "rstrip"].into_iter().all(|key| token[key] != true);
        let (Some(word), Some(id), true) = (token["content"].as_str(), token["id"].as_u64(), plain) else {
            return Err(place.wrong("an added token must be a plain word", &token.to_string(), NEXT));
        };
        words.push((word.into(), id as u32));
    }
    Ok(Literals::new(words))
}

/// GPT-2's letters for bytes: printable ones stand for themselves, the others for U+0100 and following, in order.
fn byte_letters() -> HashMap<char, u8> {
    let printable = |byte: &u8| matches!(byte, 33..=126 | 161..=172 | 174..=255);
    let others = (0..=255u8).filter(|byte| !printable(byte)).zip('\u{100}'..);
    (0..=255u8).filter(printable).map(|byte| (char::from(byte), byte)).chain(others.map(|(byte, letter)| (letter, byte))).collect()
}
