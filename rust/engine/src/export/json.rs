//! MessagePack as JSON and back, value by value, without losing anything.
//!
//! Values that JSON has are written as themselves, whole numbers without a point and others with one. The rest are written as an object
//! with one key that begins with `$`, which no other object has:
//!
//! ```text
//! bytes                    {"$bytes": "base64"}, or {"$utf8": "text"} where they are text
//! a map whose keys are not texts, or begin with $     {"$map": [[key, value], ...]}
//! NaN and infinity         {"$float": "nan" | "inf" | "-inf"}
//! ```

use std::fmt::{self, Write as _};
use std::io::Cursor;

use rmp::{Marker, decode, encode};
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::units::base64;

/// Values may stand so deep in one another; deeper ones are written as bytes. The parser goes to 128.
const MAX_DEPTH: usize = 100;

/// Appends the JSON of a text.
pub fn write_text(text: &str, json: &mut String) {
    json.push_str(&serde_json::to_string(text).unwrap_or_default()); // every text has one
}

/// Appends the JSON of bytes.
pub fn write_bytes(bytes: &[u8], json: &mut String) {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && !text.contains('\0') => {
            json.push_str("{\"$utf8\":");
            write_text(text, json);
        }
        _ => {
            json.push_str("{\"$bytes\":\"");
            base64::encode(bytes, json);
            json.push('"');
        }
    }
    json.push('}');
}

/// Reads MessagePack and writes JSON.
pub struct ToJson<'b> {
    cursor: Cursor<&'b [u8]>,
}

impl<'b> ToJson<'b> {
    /// A reader of one value that fills `bytes`.
    pub fn new(bytes: &'b [u8]) -> Self {
        Self { cursor: Cursor::new(bytes) }
    }

    /// Whether everything was read.
    pub fn is_done(&self) -> bool {
        self.cursor.position() as usize == self.cursor.get_ref().len()
    }

    /// The length of the array that begins here, if one does.
    pub fn array(&mut self) -> Option<u32> {
        let is_array = matches!(self.marker()?, Marker::FixArray(_) | Marker::Array16 | Marker::Array32);
        if is_array { decode::read_array_len(&mut self.cursor).ok() } else { None }
    }

    fn marker(&self) -> Option<Marker> {
        self.cursor.get_ref().get(self.cursor.position() as usize).map(|byte| Marker::from_u8(*byte))
    }

    /// Appends the next value; `None` where it is none that the engine writes.
    pub fn value(&mut self, json: &mut String, depth: usize) -> Option<()> {
        let marker = self.marker().filter(|_| depth <= MAX_DEPTH)?;
        match marker {
            Marker::Null => {
                decode::read_nil(&mut self.cursor).ok()?;
                json.push_str("null");
            }
            Marker::True | Marker::False => json.push_str(if decode::read_bool(&mut self.cursor).ok()? { "true" } else { "false" }),
            Marker::F64 => write_float(decode::read_f64(&mut self.cursor).ok()?, json),
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => {
                let length = decode::read_str_len(&mut self.cursor).ok()?;
                write_text(std::str::from_utf8(self.take(length)?).ok()?, json);
            }
            Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => {
                let length = decode::read_bin_len(&mut self.cursor).ok()?;
                write_bytes(self.take(length)?, json);
            }
            Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => {
                let length = self.array()?;
                self.items(json, length, depth, |values, json| values.value(json, depth + 1))?;
            }
            Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => self.map(json, depth)?,
            _ => json.push_str(&decode::read_int::<i128, _>(&mut self.cursor).ok()?.to_string()),
        }
        Some(())
    }

    fn take(&mut self, length: u32) -> Option<&'b [u8]> {
        let (all, start) = (*self.cursor.get_ref(), self.cursor.position() as usize);
        let bytes = all.get(start..start.checked_add(length as usize)?)?;
        self.cursor.set_position((start + bytes.len()) as u64);
        Some(bytes)
    }

    fn items(
        &mut self,
        json: &mut String,
        count: u32,
        depth: usize,
        mut item: impl FnMut(&mut Self, &mut String) -> Option<()>,
    ) -> Option<()> {
        debug_assert!(depth <= MAX_DEPTH);
        json.push('[');
        for place in 0..count {
            if place > 0 {
                json.push(',');
            }
            item(self, json)?;
        }
        json.push(']');
        Some(())
    }

    fn map(&mut self, json: &mut String, depth: usize) -> Option<()> {
        let count = decode::read_map_len(&mut self.cursor).ok()?;
        let start = self.cursor.position();
        let plain = self.has_plain_keys(count)?;
        self.cursor.set_position(start);
        if !plain {
            json.push_str("{\"$map\":");
            self.items(json, count, depth, |values, json| values.items(json, 2, depth, |values, json| values.value(json, depth + 2)))?;
            json.push('}');
            return Some(());
        }
        json.push('{');
        for place in 0..count {
            if place > 0 {
                json.push(',');
            }
            self.value(json, depth + 1)?;
            json.push(':');
            self.value(json, depth + 1)?;
        }
        json.push('}');
        Some(())
    }

    /// Whether all keys of the map whose entries begin here are texts that no object of ours has.
    fn has_plain_keys(&mut self, count: u32) -> Option<bool> {
        for _ in 0..count {
            if !matches!(self.marker()?, Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32) {
                return Some(false);
            }
            let length = decode::read_str_len(&mut self.cursor).ok()?;
            if self.take(length)?.first() == Some(&b'$') {
                return Some(false);
            }
            let end = crate::store::msgpack::skip(self.cursor.get_ref(), self.cursor.position() as usize)?;
            self.cursor.set_position(end as u64);
        }
        Some(true)
    }
}

fn write_float(number: f64, json: &mut String) {
    if number.is_finite() {
        json.push_str(&serde_json::to_string(&number).unwrap_or_default()); // every finite number has one
    } else {
        let name = if number.is_nan() {
            "nan"
        } else if number > 0.0 {
            "inf"
        } else {
            "-inf"
        };
        let _ = write!(json, "{{\"$float\":\"{name}\"}}");
    }
}

/// Reads JSON and appends MessagePack.
pub struct FromJson<'v>(pub &'v mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for FromJson<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FromJson<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of an export")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        let _ = encode::write_nil(self.0);
        Ok(())
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        let _ = encode::write_bool(self.0, value);
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        let _ = encode::write_uint(self.0, value);
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        let _ = encode::write_sint(self.0, value);
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        let _ = encode::write_f64(self.0, value);
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        let _ = encode::write_str(self.0, value);
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let (mut body, mut count) = (Vec::new(), 0);
        while items.next_element_seed(FromJson(&mut body))?.is_some() {
            count += 1;
        }
        let _ = encode::write_array_len(self.0, count);
        self.0.append(&mut body);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        let (mut body, mut count) = (Vec::new(), 0);
        while let Some(key) = entries.next_key::<String>()? {
            if let Some(kind) = key.strip_prefix('$').filter(|_| count == 0) {
                special(kind, &mut entries, self.0)?;
                return if entries.next_key::<String>()?.is_some() {
                    Err(A::Error::custom("it has one key that begins with $"))
                } else {
                    Ok(())
                };
            }
            let _ = encode::write_str(&mut body, &key);
            entries.next_value_seed(FromJson(&mut body))?;
            count += 1;
        }
        let _ = encode::write_map_len(self.0, count);
        self.0.append(&mut body);
        Ok(())
    }
}

/// The value of an object that stands for what JSON does not have.
fn special<'de, A: MapAccess<'de>>(kind: &str, entries: &mut A, out: &mut Vec<u8>) -> Result<(), A::Error> {
    match kind {
        "bytes" => {
            let bytes = base64::decode(&entries.next_value::<String>()?).ok_or_else(|| A::Error::custom("its bytes are not base64"))?;
            let _ = encode::write_bin(out, &bytes);
        }
        "utf8" => {
            let _ = encode::write_bin(out, entries.next_value::<String>()?.as_bytes());
        }
        "float" => {
            let name = entries.next_value::<String>()?;
            let _ = encode::write_f64(out, name.parse().map_err(|_| A::Error::custom("its number is nan, inf or -inf"))?);
        }
        "map" => entries.next_value_seed(Pairs(out))?,
        other => return Err(A::Error::custom(format!("${other} must be $bytes, $utf8, $float or $map"))),
    }
    Ok(())
}

/// Reads a list of pairs and appends a map.
struct Pairs<'v>(&'v mut Vec<u8>);

impl<'de> DeserializeSeed<'de> for Pairs<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Pairs<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of pairs")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let (mut body, mut count) = (Vec::new(), 0);
        loop {
            let mut pair = Vec::new();
            if items.next_element_seed(FromJson(&mut pair))?.is_none() {
                break;
            }
            if pair.first() != Some(&0x92) {
                return Err(A::Error::custom("a map is a list of pairs"));
            }
            body.extend_from_slice(&pair[1..]);
            count += 1;
        }
        let _ = encode::write_map_len(self.0, count);
        self.0.append(&mut body);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeSeed as _;

    use super::*;

    fn to_json(bytes: &[u8]) -> Option<String> {
        let (mut reader, mut json) = (ToJson::new(bytes), String::new());
        reader.value(&mut json, 0).filter(|()| reader.is_done()).map(|()| json)
    }

    fn from_json(json: &str) -> Result<Vec<u8>, serde_json::Error> {
        let (mut bytes, mut parser) = (Vec::new(), serde_json::Deserializer::from_str(json));
        FromJson(&mut bytes).deserialize(&mut parser)?;
        parser.end().map(|()| bytes)
    }

    #[test]
    fn every_kind_of_value_comes_back_to_the_byte() {
        let mut values = Vec::new();
        let mut one = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = Vec::new();
            write(&mut bytes);
            values.push(bytes);
        };
        for number in [0, 1, 127, 128, 255, 256, 65_535, 65_536, u64::from(u32::MAX), 1 << 53, u64::MAX] {
            one(&|out| drop(encode::write_uint(out, number)));
        }
        for number in [-1, -32, -33, -128, -129, -32_768, -32_769, i64::from(i32::MIN), i64::MIN] {
            one(&|out| drop(encode::write_sint(out, number)));
        }
        for number in [0.0, -0.0, 0.1, 1.0, 1e300, 5e-324, 0.1 + 0.2, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            one(&|out| drop(encode::write_f64(out, number)));
        }
        for text in ["", "tea", "\u{0} \" \\ \n \u{2028} \u{1f600}", "$bytes"] {
            one(&|out| drop(encode::write_str(out, text)));
            one(&|out| drop(encode::write_bin(out, text.as_bytes())));
        }
        one(&|out| drop(encode::write_bin(out, &[0xff, 0, 1])));
        // {"$a": [nil, true]}, {1: {"b": false}}, {}
        values.extend([vec![0x81, 0xa2, b'$', b'a', 0x92, 0xc0, 0xc3], vec![0x81, 1, 0x81, 0xa1, b'b', 0xc2], vec![0x80], vec![0x90]]);
        for bytes in values {
            let json = to_json(&bytes).expect("written");
            assert_eq!(from_json(&json).expect("read"), bytes, "{json}");
        }
    }

    #[test]
    fn what_is_too_deep_or_cut_is_told() {
        let mut deep = vec![0x91; MAX_DEPTH + 2];
        deep.push(0xc0);
        assert_eq!(to_json(&deep), None);
        assert_eq!(to_json(&[0x92, 0xc0]), None);
        assert_eq!(to_json(&[0xd9, 5, b'a']), None);
        for wrong in ["{\"$bytes\":\"!\"}", "{\"$map\":[1]}", "{\"$map\":1}", "{\"$what\":1}", "{\"$utf8\":\"a\",\"b\":1}", "[1", "nul"] {
            assert!(from_json(wrong).is_err(), "{wrong}");
        }
    }
}
