//! A tokenizer file: which kind it is, and errors that name it.

use std::path::Path;

use serde_json::Value;

use super::{Cut, Parsed, json, ranks, sentencepiece};
use crate::units::clip::first_chars;
use crate::{Error, ErrorKind, Result};

/// The largest file that is read: five times the largest that is known (Gemma 3, 33 MB).
const MAX_BYTES: u64 = 160 << 20;

/// A file's name, for errors.
#[derive(Clone, Copy)]
pub(super) struct TokenizerPath<'a>(&'a Path);

impl TokenizerPath<'_> {
    /// The error of a file that is not what it should be.
    pub(super) fn wrong(self, rule: &str, got: &str, next: &str) -> Error {
        let path = self.0.display();
        let got = first_chars(got, 120);
        Error::new(ErrorKind::Tokenizer, format!("loading a tokenizer: {rule}, got {got} ({path}): {next}")).with("path", path.to_string())
    }
}

/// The bytes of a file.
pub(super) fn read(path: &Path) -> Result<Vec<u8>> {
    let place = TokenizerPath(path);
    let unreadable =
        |error: std::io::Error| place.wrong("the file must be readable", &error.to_string(), "check its path and its permissions");
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > MAX_BYTES {
        return Err(place.wrong(
            "the file must have at most 160 MiB",
            &format!("{size} bytes"),
            "pass the tokenizer's file, not the model's",
        ));
    }
    std::fs::read(path).map_err(unreadable)
}

/// Reads the bytes; `pattern` is for files that name none.
pub(super) fn parse(path: &Path, bytes: &[u8], pattern: Option<&str>) -> Result<Parsed> {
    let place = TokenizerPath(path);
    let is_json = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'{');
    if !is_json && pattern.is_none() && sentencepiece::is_model(bytes) {
        return sentencepiece::parse(place, bytes);
    }
    if !is_json {
        let cut = named(place, pattern)?;
        return Ok(Parsed::of_bytes(cut, ranks::tiktoken(place, bytes)?));
    }
    if pattern.is_some() {
        return Err(place.wrong("a JSON file names its own pattern", "pattern=", "leave pattern out"));
    }
    let next = "pass a tokenizer.json, a tekken.json, a SentencePiece .model or a .tiktoken file";
    let value: Value = serde_json::from_slice(bytes).map_err(|error| place.wrong("the file must be JSON", &error.to_string(), next))?;
    if value.get("model").is_some() {
        return json::parse(place, &value);
    }
    if value.get("config").is_some() && value.get("vocab").is_some() {
        return ranks::tekken(place, &value);
    }
    Err(place.wrong("a JSON file must have \"model\" (tokenizer.json) or \"config\" and \"vocab\" (tekken.json)", "neither", next))
}

fn named(place: TokenizerPath<'_>, pattern: Option<&str>) -> Result<Cut> {
    let next = format!("pass pattern= as one of {}", Cut::names());
    let Some(name) = pattern else { return Err(place.wrong("a .tiktoken file needs the name of its pattern", "none", &next)) };
    Cut::named(name).ok_or_else(|| place.wrong("the pattern must be one that is known", &format!("{name:?}"), &next))
}
