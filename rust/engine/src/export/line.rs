//! One value of a store as one line of JSON, and back.
//!
//! ```text
//! {"table":"Memory","partition":1,"number":7,"value":{"id":null,"text":"Prefers tea",...}}
//! ```
//!
//! A body in `MessagePack` is an object of its fields where the table's fields have names, and else what it is; a packed or raw one is
//! bytes, `"block"` or `"raw"`. `"schema"` is left out where it is 1. A body of several chunks is one line.

use std::fmt::{self, Write as _};

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::json::{FromJson, ToJson, write_bytes};
use super::schema::{self, Schema};
use crate::store::envelope::{self, CONTINUES, Codec, ENVELOPE_BYTES, ONE_PAGE_BODY};
use crate::store::keys::{Key, MAX_KEY, Partition, Table};

/// A value without its checksum, all its chunks together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// Its key, without the number of a chunk.
    pub key: Vec<u8>,
    /// See [`envelope::Envelope`].
    pub schema: u8,
    /// The codec, with [`CONTINUES`] only where its chunks are lines of their own.
    pub codec: u8,
    /// The body.
    pub body: Vec<u8>,
}

/// The table of a key.
pub fn table_of(key: &[u8]) -> Option<Table> {
    key.get(4).and_then(|byte| schema::numbered(*byte))
}

/// Writes the line of a value, without its line feed; `None` where its key is none of ours. Each line is read back: what would not be the
/// same is written as bytes.
pub fn write(stored: &Stored, line: &mut String) -> Option<()> {
    let is_same = |line: &str| read(line).is_ok_and(|read| read == *stored);
    write_as(stored, line, true)?;
    if is_same(line) {
        return Some(());
    }
    write_as(stored, line, false)?;
    is_same(line).then_some(())
}

fn write_as(stored: &Stored, line: &mut String, by_fields: bool) -> Option<()> {
    let table = table_of(&stored.key)?;
    let shape = schema::of(table);
    let (partition, rest) = (stored.key.first_chunk::<4>()?, &stored.key[5..]);
    line.clear();
    let _ = write!(line, "{{\"table\":\"{table:?}\",\"partition\":{}", Partition::from_be_bytes(*partition));
    write_key(shape, rest, line)?;
    if stored.schema != 1 {
        let _ = write!(line, ",\"schema\":{}", stored.schema);
    }
    if stored.codec & CONTINUES != 0 {
        line.push_str(",\"continues\":true");
    }
    write_body(stored, shape, by_fields, line)?;
    line.push('}');
    Some(())
}

fn write_key(shape: Schema, rest: &[u8], line: &mut String) -> Option<()> {
    if shape.key.iter().map(|(_, bytes)| bytes).sum::<usize>() != rest.len() {
        line.push_str(",\"key\":\"");
        for byte in rest {
            let _ = write!(line, "{byte:02x}");
        }
        line.push('"');
        return Some(());
    }
    let mut at = 0;
    for (name, bytes) in shape.key {
        let part = rest.get(at..at + bytes)?;
        let number = part.iter().fold(0_u128, |number, byte| number << 8 | u128::from(*byte));
        // A hash is quoted: other programs read such numbers as floats.
        let _ = match *bytes {
            0..=4 => write!(line, ",\"{name}\":{number}"),
            _ => write!(line, ",\"{name}\":\"{number:0width$x}\"", width = 2 * bytes),
        };
        at += bytes;
    }
    Some(())
}

fn write_body(stored: &Stored, shape: Schema, by_fields: bool, line: &mut String) -> Option<()> {
    let codec = stored.codec & !CONTINUES;
    let start = line.len();
    if codec == Codec::MessagePack as u8 && by_fields {
        line.push_str(",\"value\":");
        if write_fields(&stored.body, shape, line).is_some() {
            return Some(());
        }
        line.truncate(start);
    }
    let known = [(Codec::MessagePack, "packed"), (Codec::Raw, "raw"), (Codec::Packed, "block")];
    let (_, name) = known.into_iter().find(|(one, _)| *one as u8 == codec)?;
    let _ = write!(line, ",\"{name}\":");
    write_bytes(&stored.body, line);
    Some(())
}

fn write_fields(body: &[u8], shape: Schema, line: &mut String) -> Option<()> {
    let mut values = ToJson::new(body);
    let count = if shape.fields.is_empty() { None } else { values.array() };
    match count {
        None => values.value(line, 0)?,
        Some(count) => {
            line.push('{');
            for place in 0..count as usize {
                line.push_str(if place > 0 { ",\"" } else { "\"" });
                match shape.fields.get(place) {
                    Some(name) => line.push_str(name),
                    None => line.push_str(&place.to_string()), // of a later version
                }
                line.push_str("\":");
                values.value(line, 1)?;
            }
            line.push('}');
        }
    }
    values.is_done().then_some(())
}

/// Reads a line. The error is the fault of a text that is not one.
pub fn read(line: &str) -> Result<Stored, String> {
    let fields: Fields<'_> = serde_json::from_str(line).map_err(|error| format!("it is not a JSON object of an export: {error}"))?;
    let name: &str = fields.value("table")?;
    let table = schema::named(name).ok_or_else(|| format!("there is no table {name:?} in a store of this format"))?;
    let shape = schema::of(table);
    let key = read_key(table, shape, &fields)?;
    let (codec, body) = read_body(shape, &fields)?;
    let continues = if fields.get("continues").is_some() { CONTINUES } else { 0 };
    let schema = if fields.get("schema").is_some() { fields.value("schema")? } else { 1 };
    Ok(Stored { key, schema, codec: codec as u8 | continues, body })
}

fn read_key(table: Table, shape: Schema, fields: &Fields<'_>) -> Result<Vec<u8>, String> {
    let mut key = Key::new(fields.value("partition")?, table).as_slice().to_vec();
    if fields.get("key").is_some() {
        let digits: &str = fields.value("key")?;
        let byte = |at: usize| digits.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok());
        let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
        key.append(&mut bytes.ok_or("its key is not a hexadecimal number")?);
    } else {
        for (name, bytes) in shape.key {
            let number = if *bytes > 4 {
                let digits: &str = fields.value(name)?;
                u128::from_str_radix(digits, 16).map_err(|_| format!("its {name} is not a hexadecimal number"))?
            } else {
                u128::from(fields.value::<u32>(name)?)
            };
            if *bytes < 16 && number >> (8 * bytes) > 0 {
                return Err(format!("its {name} is larger than {bytes} bytes hold"));
            }
            key.extend_from_slice(&number.to_be_bytes()[16 - bytes..]);
        }
    }
    if key.len() > MAX_KEY { Err("its key is longer than any of a store".to_owned()) } else { Ok(key) }
}

fn read_body(shape: Schema, fields: &Fields<'_>) -> Result<(Codec, Vec<u8>), String> {
    if let Some(json) = fields.get("value") {
        return body_of_json(shape, json).map(|body| (Codec::MessagePack, body));
    }
    for (name, codec) in [("packed", Codec::MessagePack), ("raw", Codec::Raw), ("block", Codec::Packed)] {
        if let Some(json) = fields.get(name) {
            let packed = packed_of_json(json).map_err(|error| format!("its {name} cannot be read: {error}"))?;
            let bytes = rmp::decode::read_bin_len(&mut packed.as_slice()).map(|length| packed[packed.len() - length as usize..].to_vec());
            return bytes.map(|bytes| (codec, bytes)).map_err(|_| format!("its {name} must be {{\"$bytes\": ...}} or {{\"$utf8\": ...}}"));
        }
    }
    Err("it has none of value, packed, raw, block".to_owned())
}

/// The body that a value in JSON stands for.
fn body_of_json(shape: Schema, json: &str) -> Result<Vec<u8>, String> {
    let failed = |error: serde_json::Error| format!("its value cannot be read: {error}");
    if shape.fields.is_empty() || !json.starts_with('{') {
        return packed_of_json(json).map_err(failed);
    }
    let named: Fields<'_> = serde_json::from_str(json).map_err(failed)?;
    let mut body = Vec::new();
    let _ = rmp::encode::write_array_len(&mut body, named.0.len() as u32);
    for (place, (name, value)) in named.0.iter().enumerate() {
        let expected = shape.fields.get(place).map_or_else(|| place.to_string(), |name| (*name).to_owned());
        if *name != expected {
            return Err(format!("field {place} of its value is {expected:?}, and it has {name:?} there"));
        }
        body.append(&mut packed_of_json(value.get()).map_err(failed)?);
    }
    Ok(body)
}

fn packed_of_json(json: &str) -> Result<Vec<u8>, serde_json::Error> {
    let (mut bytes, mut parser) = (Vec::new(), serde_json::Deserializer::from_str(json));
    FromJson(&mut bytes).deserialize(&mut parser)?;
    parser.end().map(|()| bytes)
}

/// The fields of an object in their order, unparsed.
pub(super) struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Fields<'a> {
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(own, _)| own == name).map(|(_, value)| value.get())
    }

    pub(super) fn value<T: Deserialize<'a>>(&self, name: &str) -> Result<T, String> {
        let json = self.get(name).ok_or_else(|| format!("it has no {name:?}"))?;
        serde_json::from_str(json).map_err(|error| format!("its {name} cannot be read: {error}"))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(entry) = entries.next_entry()? {
                    fields.push(entry);
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Pairs).map(Self)
    }
}

/// Whether the chunks of the values at such a key are one line.
pub fn is_chunked(key: &[u8]) -> bool {
    table_of(key).is_some_and(|table| schema::of(table).chunked)
}

/// The values that a stored one is kept as, each with its key and in its envelope.
pub fn values(stored: &Stored, mut put: impl FnMut(&[u8], &[u8]) -> crate::Result<()>) -> crate::Result<()> {
    if !is_chunked(&stored.key) {
        return put(&stored.key, &sealed(&stored.key, stored.schema, stored.codec, &stored.body));
    }
    let count = stored.body.len().div_ceil(ONE_PAGE_BODY).max(1);
    for index in 0..count {
        let part = &stored.body[index * ONE_PAGE_BODY..stored.body.len().min((index + 1) * ONE_PAGE_BODY)];
        let mut key = stored.key.clone();
        key.extend_from_slice(&(index as u16).to_be_bytes());
        put(&key, &sealed(&key, stored.schema, if index + 1 < count { stored.codec | CONTINUES } else { stored.codec }, part))?;
    }
    Ok(())
}

fn sealed(key: &[u8], schema: u8, codec: u8, body: &[u8]) -> Vec<u8> {
    let mut value = vec![0; ENVELOPE_BYTES + body.len()];
    value[ENVELOPE_BYTES..].copy_from_slice(body);
    envelope::seal_in_place(key, schema, codec, &mut value);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(table: Table, rest: &[u8], codec: Codec, body: &[u8]) -> Stored {
        let mut key = Key::new(7, table).as_slice().to_vec();
        key.extend_from_slice(rest);
        Stored { key, schema: 1, codec: codec as u8, body: body.to_vec() }
    }

    fn comes_back(one: &Stored) -> String {
        let mut line = String::new();
        write(one, &mut line).expect("written");
        assert_eq!(read(&line).as_ref(), Ok(one), "{line}");
        line
    }

    #[test]
    fn a_body_is_an_object_of_its_fields() {
        let line = comes_back(&stored(Table::Note, &[0, 0, 0, 1, 0, 0, 0, 2], Codec::MessagePack, &[0x91, 0xa3, b't', b'e', b'a']));
        assert_eq!(line, r#"{"table":"Note","partition":7,"session":1,"number":2,"value":{"text":"tea"}}"#);
        let later = comes_back(&stored(Table::Note, &[0, 0, 0, 1, 0, 0, 0, 2], Codec::MessagePack, &[0x92, 0xa0, 5]));
        assert!(later.ends_with(r#""value":{"text":"","1":5}}"#), "{later}");
    }

    #[test]
    fn what_has_no_names_comes_back_too() {
        let line = comes_back(&stored(Table::Postings, &[0, 1, 2], Codec::Packed, &[0xff, 0]));
        assert_eq!(line, r#"{"table":"Postings","partition":7,"key":"000102","block":{"$bytes":"/wA="}}"#);
        comes_back(&stored(Table::CollectionText, &[0, 0, 0, 1, 0, 0], Codec::Raw, b"tea at four"));
        comes_back(&stored(Table::Quarantine, &[0, 0, 0, 1], Codec::Raw, b""));
        comes_back(&stored(Table::Head, &[], Codec::MessagePack, &[0xc1, 0xff])); // no MessagePack: as bytes
        comes_back(&stored(Table::Note, &[0; 8], Codec::MessagePack, &[0x91, 0xcd, 0, 5])); // not in its shortest form
        comes_back(&stored(Table::Task, &[255; 12], Codec::MessagePack, &[0x90]));
        let mut continued = stored(Table::BlobChunk, &[1; 18], Codec::Raw, &[0; 9]);
        (continued.codec, continued.schema) = (continued.codec | CONTINUES, 3);
        comes_back(&continued);
    }

    #[test]
    fn a_wrong_line_is_told() {
        for (line, why) in [
            ("", "not a JSON object"),
            ("[]", "not a JSON object"),
            (r#"{"table":"Nothing","partition":1,"value":1}"#, "no table"),
            (r#"{"table":"Head","value":1}"#, "partition"),
            (r#"{"table":"Note","partition":1,"session":1,"value":{"text":""}}"#, "number"),
            (r#"{"table":"Note","partition":1,"session":1,"number":4294967296,"value":{}}"#, "number"),
            (r#"{"table":"Note","partition":1,"session":1,"number":1,"value":{"words":""}}"#, "field 0"),
            (r#"{"table":"Note","partition":1,"session":1,"number":1}"#, "none of value"),
            (r#"{"table":"Turn","partition":1,"key":"zz","value":[]}"#, "hexadecimal"),
            (r#"{"table":"Turn","partition":1,"key":"00000000000000000000000000000000000000000000000000","value":[]}"#, "longer"),
            (r#"{"table":"Postings","partition":1,"key":"00","block":"text"}"#, "block"),
        ] {
            let error = read(line).expect_err(line);
            assert!(error.contains(why), "{line}: {error}");
        }
    }
}
