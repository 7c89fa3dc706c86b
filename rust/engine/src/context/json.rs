//! JSON as providers send it: objects as borrowed fields whose values stay the very bytes, and strings written back.
//!
//! The parser is `serde_json`; a value is looked into only where a rule asks for it, so numbers, key order and whitespace
//! of what is passed through (tool arguments, schemas, vendor blocks) survive byte for byte.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::{Error, Result};

/// An object: its fields in order, values unparsed. Of a key that is given twice, the last counts.
pub(super) struct Object<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Object<'a> {
    /// The raw value of `key`; `null` is the same as absent.
    pub(super) fn get(&self, key: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, raw)| raw.get()).filter(|raw| *raw != "null")
    }

    /// The text of `key`, if it is there; another type breaks the rule.
    pub(super) fn text(&self, key: &str, place: Place<'_>) -> Result<Option<Cow<'a, str>>> {
        self.get(key).map(|raw| text(raw).ok_or_else(|| place.wrong(key, "must be a string", raw))).transpose()
    }

    /// The text of `key`, which must be there.
    pub(super) fn need(&self, key: &str, place: Place<'_>) -> Result<Cow<'a, str>> {
        self.text(key, place)?.ok_or_else(|| place.wrong(key, "must be there and be a string", "nothing"))
    }

    /// The object at `key`, if it is there.
    pub(super) fn object(&self, key: &str, place: Place<'_>) -> Result<Option<Object<'a>>> {
        self.get(key).map(|raw| object(raw).ok_or_else(|| place.wrong(key, "must be an object", raw))).transpose()
    }
}

/// Where in the input something stands, for messages of errors.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// What is being done: `read a message`.
    pub(super) doing: &'static str,
    /// What the reader knows the spot by: `content[2]`.
    pub(super) at: &'a str,
}

impl Place<'_> {
    /// The five parts: what was being done, the rule, the value, where, and what to do next.
    pub(super) fn error(self, rule: &str, got: &str, next: &str) -> Error {
        let got = shown(got);
        let at = if self.at.is_empty() { "the message" } else { self.at };
        Error::invalid(format!("cannot {}: {rule}, got {got} (in {at}): {next}", self.doing))
            .with("rule", rule)
            .with("value", got)
            .with("at", self.at)
    }

    /// A key whose value has the wrong type.
    pub(super) fn wrong(self, key: &str, rule: &str, got: &str) -> Error {
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
pub(super) fn object(raw: &str) -> Option<Object<'_>> {
    serde_json::from_str(raw).ok()
}

/// Reads a list; the elements stay raw.
pub(super) fn list(raw: &str) -> Option<Vec<&str>> {
    let elements: Vec<&RawValue> = serde_json::from_str(raw).ok()?;
    Some(elements.into_iter().map(RawValue::get).collect())
}

/// Reads a string.
pub(super) fn text(raw: &str) -> Option<Cow<'_, str>> {
    serde_json::from_str(raw).ok().map(|Text(text)| text)
}

/// Whether `raw` is one whole JSON value.
pub(super) fn is_json(raw: &str) -> bool {
    serde_json::from_str::<&RawValue>(raw).is_ok()
}

/// Whether `raw` is one whole JSON object.
pub(super) fn is_object(raw: &str) -> bool {
    raw.trim_start_matches([' ', '\t', '\n', '\r']).starts_with('{') && is_json(raw)
}

/// Appends `text` as a JSON string.
pub(super) fn write_text(out: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(out, text).expect("a Vec takes every byte and a str is valid JSON text");
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
