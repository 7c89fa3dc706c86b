//! JSON as providers send it: objects as borrowed fields whose values stay the very bytes, and strings written back.
//!
//! The parser is `serde_json`; a value is looked into only where a rule asks for it, so numbers, key order and whitespace
//! of what is passed through (tool arguments, schemas, vendor blocks) survive byte for byte.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::interrupt::{self, Steps};
use crate::{Error, Result};

/// An object: its fields in order, values unparsed. Of a key that is given twice, the last counts.
pub(crate) struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Object<'a> {
    /// The raw value of `key`; `null` is the same as absent.
    pub(crate) fn get(&self, key: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, raw)| raw.get()).filter(|raw| *raw != "null")
    }

    /// The names of its fields with their raw values, in order.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &'a str)> {
        self.0.iter().map(|(name, raw)| (&**name, raw.get()))
    }

    /// The text of `key`, if it is there; another type breaks the rule.
    pub(crate) fn text(&self, key: &str, place: Position<'_>) -> Result<Option<Cow<'a, str>>> {
        self.get(key).map(|raw| text(raw).ok_or_else(|| place.wrong(key, "must be a string", raw))).transpose()
    }

    /// The text of `key`, which must be there.
    pub(crate) fn need(&self, key: &str, place: Position<'_>) -> Result<Cow<'a, str>> {
        self.text(key, place)?.ok_or_else(|| place.wrong(key, "must be present and a string", "nothing"))
    }

    /// This object with another value of `key`.
    pub(super) fn with(&self, key: &str, value: &str) -> String {
        let mut out = b"{".to_vec();
        for (at, (name, raw)) in self.0.iter().enumerate() {
            out.extend_from_slice(if at > 0 { b"," } else { b"" });
            write_text(&mut out, name);
            out.push(b':');
            out.extend_from_slice(if name == key { value } else { raw.get() }.as_bytes());
        }
        out.push(b'}');
        String::from_utf8_lossy(&out).into_owned()
    }

    /// The object at `key`, if it is there.
    pub(crate) fn object(&self, key: &str, place: Position<'_>) -> Result<Option<Object<'a>>> {
        self.get(key).map(|raw| object(raw).ok_or_else(|| place.wrong(key, "must be an object", raw))).transpose()
    }
}

/// Where in the input something stands, for messages of errors.
#[derive(Clone, Copy)]
pub(crate) struct Position<'a> {
    /// The operation under way: `read a message`.
    pub(crate) doing: &'static str,
    /// The place as the reader names it: `content[2]`.
    pub(crate) at: &'a str,
}

impl Position<'_> {
    /// The five parts: the operation, the rule, the value, the place, and the advice.
    pub(crate) fn error(self, rule: &str, got: &str, next: &str) -> Error {
        let got = shown(got);
        let at = if self.at.is_empty() { "the message" } else { self.at };
        Error::invalid(format!("cannot {}: {rule}, got {got} (in {at}): {next}", self.doing))
            .with("rule", rule)
            .with("value", got)
            .with("at", self.at)
    }

    /// A key whose value has the wrong type.
    pub(crate) fn wrong(self, key: &str, rule: &str, got: &str) -> Error {
        self.error(&format!("\"{key}\" {rule}"), got, &format!("give \"{key}\" that type"))
    }
}

/// At most 80 characters of a value that a user gave.
fn shown(value: &str) -> String {
    match value.char_indices().nth(80) {
        None => value.to_owned(),
        Some((end, _)) => format!("{}... ({} bytes)", &value[..end], value.len()),
    }
}

/// Reads an object.
pub(crate) fn object(raw: &str) -> Option<Object<'_>> {
    interrupt::step(); // between two passes: one is a tenth of a second where a message has 64 MB
    serde_json::from_str(raw).ok()
}

/// Reads a list; the elements stay raw.
pub(crate) fn list(raw: &str) -> Option<Vec<&str>> {
    let elements: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
    Some(elements.into_iter().map(RawValue::get).collect())
}

/// Reads a string.
pub(crate) fn text(raw: &str) -> Option<Cow<'_, str>> {
    interrupt::step();
    serde_json::from_str(raw).ok().map(|Text(text)| text)
}

/// Whether `raw` is one whole JSON value.
pub(crate) fn is_json(raw: &str) -> bool {
    interrupt::step();
    serde_json::from_str::<&RawValue>(raw).is_ok()
}

/// Whether `raw` is one whole JSON object.
pub(super) fn is_object(raw: &str) -> bool {
    raw.trim_start_matches([' ', '\t', '\n', '\r']).starts_with('{') && is_json(raw)
}

/// How deep lists and objects stand in one another in well-formed JSON.
pub(super) fn depth(raw: &str) -> usize {
    let (mut now, mut most, mut in_text, mut escaped) = (0_usize, 0, false, false);
    let mut steps = Steps::default();
    for (at, byte) in raw.bytes().enumerate() {
        steps.reach(at);
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b'{' | b'[' if !in_text => now += 1,
            b'}' | b']' if !in_text => now = now.saturating_sub(1),
            _ => {}
        }
        most = most.max(now);
    }
    most
}

/// Appends `text` as a JSON string, escaped as `serde_json` does.
///
/// Eight bytes at a time: prompts are mostly bytes that need nothing, and this is most of the time of rendering one
/// (28 KB: 66 us through `serde_json`, see the bench `context` for what it takes now).
pub(super) fn write_text(out: &mut Vec<u8>, text: &str) {
    let bytes = text.as_bytes();
    out.reserve(bytes.len() + 2);
    out.push(b'"');
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = next_escaped(bytes, at) {
        out.extend_from_slice(&bytes[copied..found]);
        write_escape(out, bytes[found]);
        (copied, at) = (found + 1, found + 1);
    }
    out.extend_from_slice(&bytes[copied..]);
    out.push(b'"');
}

/// The first byte from `at` on that a JSON string cannot hold as it is: a control character, `"` or `\\`.
fn next_escaped(bytes: &[u8], mut at: usize) -> Option<usize> {
    while let Some(word) = bytes.get(at..at + 8) {
        let word = u64::from_le_bytes(word.try_into().expect("eight bytes were asked for"));
        let marks = below_space(word) | has(word, b'"') | has(word, b'\\');
        if marks != 0 {
            return Some(at + (marks.trailing_zeros() / 8) as usize);
        }
        at += 8;
    }
    bytes[at..].iter().position(|byte| *byte < 0x20 || matches!(byte, b'"' | b'\\')).map(|found| at + found)
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// The high bit of each byte below 0x20; bits above the lowest one that is set may be wrong (Warren, "Hacker's Delight", 6-1).
fn below_space(word: u64) -> u64 {
    word.wrapping_sub(ONES * 0x20) & !word & HIGH
}

/// The high bit of each byte that equals `byte`; bits above the lowest one that is set may be wrong, as in [`below_space`].
fn has(word: u64, byte: u8) -> u64 {
    let word = word ^ (ONES * u64::from(byte));
    word.wrapping_sub(ONES) & !word & HIGH
}

fn write_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    match byte {
        b'"' => out.extend_from_slice(b"\\\""),
        b'\\' => out.extend_from_slice(b"\\\\"),
        b'\n' => out.extend_from_slice(b"\\n"),
        b'\r' => out.extend_from_slice(b"\\r"),
        b'\t' => out.extend_from_slice(b"\\t"),
        0x08 => out.extend_from_slice(b"\\b"),
        0x0C => out.extend_from_slice(b"\\f"),
        _ => out.extend_from_slice(&[b'\\', b'u', b'0', b'0', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]),
    }
}

struct Text<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextVisitor;
        impl<'de> Visitor<'de> for TextVisitor {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(TextVisitor)
    }
}

impl<'de> Deserialize<'de> for Object<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ObjectVisitor;
        impl<'de> Visitor<'de> for ObjectVisitor {
            type Value = Object<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((Text(key), value)) = map.next_entry::<Text<'de>, &'de RawValue>()? {
                    fields.push((key, value));
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(ObjectVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Random, nasty};
    use super::*;

    #[test]
    fn depth_is_that_of_brackets_outside_of_texts() {
        for (raw, deep) in [("7", 0), ("{}", 1), (r#"{"a":[[1],{"b":"[[[[\"{{"}]}"#, 3), (r#"["\\",[]]"#, 2), (r#""[\\""#, 0)] {
            assert_eq!(depth(raw), deep, "{raw}");
        }
    }

    #[test]
    fn strings_are_written_as_serde_json_writes_them() {
        let mut random = Random::new(41);
        for _ in 0..20_000 {
            let pieces = random.below(6);
            let mut text = nasty(&mut random, pieces);
            text.extend((0..random.below(20)).map(|_| char::from(random.below(128) as u8)));
            let mut out = Vec::new();
            write_text(&mut out, &text);
            assert_eq!(String::from_utf8(out).unwrap(), serde_json::to_string(&text).unwrap());
        }
    }
}
