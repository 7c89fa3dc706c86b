//! Reading: bytes that the engine wrote or checked before, so that anything wrong in them is damage.

use std::borrow::Cow;

use jiter::{Jiter, JiterResult, Peek};
use rmp::{Marker, decode};

use super::Plain;
use super::make::Make;
use crate::limits::{MAX_JSON_DEPTH, MAX_METADATA_DEPTH};
use crate::{Error, ErrorKind, Result};

/// Digits of a whole number that the reader of JSON takes; a longer one is a text.
const MOST_DIGITS: usize = 4300;

/// Reads a JSON text. Whole numbers stay whole; a number beyond every float is a text, which a model that wrote it gets back as it was.
pub fn json<M: Make>(text: &str, make: &M) -> Result<M::Value, M::Error> {
    let mut reader = JsonReader { text, before: 0, json: Jiter::new(text.as_bytes()), make };
    let first = reader.json.peek();
    let first = reader.sound(first)?;
    let value = reader.value(first, 0)?;
    let end = reader.json.finish();
    reader.sound(end)?;
    Ok(value)
}

struct JsonReader<'j, 'm, M> {
    /// The value that `json` reads, and how many bytes were before it.
    text: &'j str,
    before: usize,
    json: Jiter<'j>,
    make: &'m M,
}

impl<'j, M: Make> JsonReader<'j, '_, M> {
    fn sound<T>(&self, read: JiterResult<T>) -> Result<T> {
        read.map_err(|_| self.damaged())
    }

    fn damaged(&self) -> Error {
        let at = self.before + self.json.current_index();
        Error::new(
            ErrorKind::StoreCorrupt,
            format!("reading JSON: it must be well formed, and it is not at byte {at}: restore the store from a backup"),
        )
    }

    fn value(&mut self, peek: Peek, depth: usize) -> Result<M::Value, M::Error> {
        let plain = match peek {
            Peek::String => return Ok(self.text()?),
            Peek::Object if depth < MAX_JSON_DEPTH => return self.map(depth),
            Peek::Array if depth < MAX_JSON_DEPTH => return self.list(depth),
            Peek::True | Peek::False => {
                let read = self.json.known_bool(peek);
                Plain::Bool(self.sound(read)?)
            }
            Peek::Null => {
                let read = self.json.known_null();
                self.sound(read)?;
                Plain::Null
            }
            _ if peek.is_num() => self.number(peek)?,
            _ => return Err(self.damaged().into()),
        };
        Ok(self.make.make(plain))
    }

    fn text(&mut self) -> Result<M::Value> {
        match self.json.known_str() {
            Ok(text) => Ok(self.make.make(Plain::Text(Cow::Borrowed(text)))),
            Err(_) => Err(self.damaged()),
        }
    }

    fn map(&mut self, depth: usize) -> Result<M::Value, M::Error> {
        let mut map = self.make.make(Plain::Map(()));
        let mut key = self.key(Jiter::known_object)?;
        while let Some(name) = key {
            let peek = self.json.peek();
            let peek = self.sound(peek)?;
            let value = self.value(peek, depth + 1)?;
            self.make.put(&mut map, Some(name), value)?;
            key = self.key(Jiter::next_key)?;
        }
        Ok(map)
    }

    fn key(&mut self, read: for<'r> fn(&'r mut Jiter<'j>) -> JiterResult<Option<&'r str>>) -> Result<Option<M::Value>> {
        match read(&mut self.json) {
            Ok(name) => Ok(name.map(|name| self.make.make(Plain::Text(Cow::Borrowed(name))))),
            Err(_) => Err(self.damaged()),
        }
    }

    fn list(&mut self, depth: usize) -> Result<M::Value, M::Error> {
        let mut list = self.make.make(Plain::List(()));
        let first = self.json.known_array();
        let mut next = self.sound(first)?;
        while let Some(peek) = next {
            let value = self.value(peek, depth + 1)?;
            self.make.put(&mut list, None, value)?;
            let step = self.json.array_step();
            next = self.sound(step)?;
        }
        Ok(list)
    }

    fn number(&mut self, peek: Peek) -> Result<Plain<'j>> {
        let start = self.json.current_index();
        let Ok(length) = self.json.known_number_bytes(peek).map(<[u8]>::len) else { return self.long_number(start) };
        let digits = &self.text[start..start + length];
        if digits.contains(['.', 'e', 'E']) {
            let number: f64 = digits.parse().map_err(|_| self.damaged())?;
            return Ok(if number.is_finite() { Plain::Float(number) } else { Plain::Text(Cow::Borrowed(digits)) });
        }
        Ok(digits.parse().map_or(Plain::Digits(Cow::Borrowed(digits)), Plain::Int))
    }

    /// A number that jiter refuses for its length, as text; reading goes on behind it, since jiter keeps no state but its place.
    fn long_number(&mut self, start: usize) -> Result<Plain<'j>> {
        let rest = &self.text[start..];
        let end = rest.find(|sign: char| !matches!(sign, '0'..='9' | '+' | '-' | '.' | 'e' | 'E')).unwrap_or(rest.len());
        if end <= MOST_DIGITS {
            return Err(self.damaged());
        }
        (self.before, self.text) = (self.before + start + end, &rest[end..]);
        self.json = Jiter::new(self.text.as_bytes());
        Ok(Plain::Text(Cow::Borrowed(&rest[..end])))
    }
}

/// Reads metadata: MessagePack of a mapping; no bytes are an empty one.
pub fn metadata<M: Make>(bytes: &[u8], make: &M) -> Result<M::Value, M::Error> {
    if bytes.is_empty() {
        return Ok(make.make(Plain::Map(())));
    }
    if !matches!(Marker::from_u8(bytes[0]), Marker::FixMap(_) | Marker::Map16 | Marker::Map32) {
        return Err(no_metadata().into());
    }
    PackReader { bytes, make }.value(0)
}

fn no_metadata() -> Error {
    let message = "reading metadata: its bytes are not MessagePack of a mapping; restore the store from a backup";
    Error::new(ErrorKind::StoreCorrupt, message)
}

struct PackReader<'b, 'm, M> {
    bytes: &'b [u8],
    make: &'m M,
}

impl<'b, M: Make> PackReader<'b, '_, M> {
    fn value(&mut self, depth: usize) -> Result<M::Value, M::Error> {
        let marker =
            self.bytes.first().map(|byte| Marker::from_u8(*byte)).filter(|_| depth <= MAX_METADATA_DEPTH).ok_or_else(no_metadata)?;
        let plain = match marker {
            Marker::Null => self.known(decode::read_nil).map(|()| Plain::Null)?,
            Marker::True | Marker::False => Plain::Bool(self.known(decode::read_bool)?),
            Marker::F64 => Plain::Float(self.known(decode::read_f64)?),
            Marker::FixStr(_) | Marker::Str8 | Marker::Str16 | Marker::Str32 => Plain::Text(Cow::Borrowed(self.text()?)),
            Marker::Bin8 | Marker::Bin16 | Marker::Bin32 => {
                let length = self.known(decode::read_bin_len)?;
                Plain::Bytes(Cow::Borrowed(self.take(length)?))
            }
            Marker::FixArray(_) | Marker::Array16 | Marker::Array32 => {
                let (mut list, length) = (self.make.make(Plain::List(())), self.known(decode::read_array_len)?);
                for _ in 0..length {
                    let value = self.value(depth + 1)?;
                    self.make.put(&mut list, None, value)?;
                }
                return Ok(list);
            }
            Marker::FixMap(_) | Marker::Map16 | Marker::Map32 => {
                let (mut map, length) = (self.make.make(Plain::Map(())), self.known(decode::read_map_len)?);
                for _ in 0..length {
                    let key = self.make.make(Plain::Text(Cow::Borrowed(self.text()?)));
                    let value = self.value(depth + 1)?;
                    self.make.put(&mut map, Some(key), value)?;
                }
                return Ok(map);
            }
            Marker::U64 => {
                let number = self.known(decode::read_u64)?;
                i64::try_from(number).map_or(Plain::Uint(number), Plain::Int)
            }
            _ => Plain::Int(self.known(decode::read_int::<i64, _>)?),
        };
        Ok(self.make.make(plain))
    }

    fn text(&mut self) -> Result<&'b str> {
        let length = self.known(decode::read_str_len)?;
        std::str::from_utf8(self.take(length)?).map_err(|_| no_metadata())
    }

    fn known<T, E>(&mut self, read: impl FnOnce(&mut &'b [u8]) -> Result<T, E>) -> Result<T> {
        read(&mut self.bytes).map_err(|_| no_metadata())
    }

    fn take(&mut self, length: u32) -> Result<&'b [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(length as usize).ok_or_else(no_metadata)?;
        self.bytes = rest;
        Ok(taken)
    }
}
