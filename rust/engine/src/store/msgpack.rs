//! MessagePack bodies: arrays of fields in a fixed order, written and read one field after the other.
//!
//! A reader takes what it knows and ignores fields behind it, so that a later format may append; a field that an older
//! body does not have reads as its default. Not a general MessagePack library: `rmp` does the encoding.

use std::io::Cursor;

use rmp::{Marker, decode, encode};

use super::envelope::damaged;
use crate::{Error, Result};

/// A body under construction.
#[derive(Debug, Default)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// An array of `fields` fields, which the caller now appends.
    #[must_use]
    pub fn array(fields: u32) -> Self {
        let mut writer = Self(Vec::with_capacity(128));
        writer.nested(fields);
        writer
    }

    /// An array inside the array.
    pub fn nested(&mut self, fields: u32) {
        let _ = encode::write_array_len(&mut self.0, fields);
    }

    /// A whole number that is never negative.
    pub fn uint(&mut self, value: u64) {
        let _ = encode::write_uint(&mut self.0, value);
    }

    /// A whole number.
    pub fn int(&mut self, value: i64) {
        let _ = encode::write_sint(&mut self.0, value);
    }

    /// A number.
    pub fn float(&mut self, value: f64) {
        let _ = encode::write_f64(&mut self.0, value);
    }

    /// Yes or no.
    pub fn bool(&mut self, value: bool) {
        let _ = encode::write_bool(&mut self.0, value);
    }

    /// A text.
    pub fn text(&mut self, value: &str) {
        let _ = encode::write_str(&mut self.0, value);
    }

    /// Bytes.
    pub fn bin(&mut self, value: &[u8]) {
        let _ = encode::write_bin(&mut self.0, value);
    }

    /// A text, or nil.
    pub fn maybe_text(&mut self, value: Option<&str>) {
        match value {
            Some(text) => self.text(text),
            None => self.nil(),
        }
    }

    /// A whole number, or nil.
    pub fn maybe_int(&mut self, value: Option<i64>) {
        match value {
            Some(number) => self.int(number),
            None => self.nil(),
        }
    }

    /// A value that is MessagePack already, or nil where it is empty.
    pub fn raw(&mut self, value: &[u8]) {
        if value.is_empty() { self.nil() } else { self.0.extend_from_slice(value) }
    }

    /// Nothing.
    pub fn nil(&mut self) {
        let _ = encode::write_nil(&mut self.0);
    }

    /// What was written.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// What was written.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// A body being read.
#[derive(Debug)]
pub struct Reader<'b> {
    cursor: Cursor<&'b [u8]>,
    left: u32,
    key: &'b [u8],
}

impl<'b> Reader<'b> {
    /// The array in `body`, which was found at `key`.
    pub fn array(key: &'b [u8], body: &'b [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(body);
        let left = decode::read_array_len(&mut cursor).map_err(|_| damaged(key, "its body is not an array"))?;
        Ok(Self { cursor, left, key })
    }

    fn wrong(&self, expected: &str) -> Error {
        damaged(self.key, &format!("at byte {} of its body there is no {expected}", self.cursor.position()))
    }

    /// Begins a field: `false` where the body ends before it, or where it is nil.
    fn begin(&mut self) -> Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        let at = self.cursor.position() as usize;
        match self.cursor.get_ref().get(at) {
            Some(&byte) if Marker::from_u8(byte) == Marker::Null => {
                self.cursor.set_position(at as u64 + 1);
                Ok(false)
            }
            Some(_) => Ok(true),
            None => Err(self.wrong("field")),
        }
    }

    /// A whole number that is never negative; 0 where it is missing.
    pub fn uint(&mut self) -> Result<u64> {
        if self.begin()? { decode::read_int(&mut self.cursor).map_err(|_| self.wrong("whole number")) } else { Ok(0) }
    }

    /// A whole number; 0 where it is missing.
    pub fn int(&mut self) -> Result<i64> {
        Ok(self.maybe_int()?.unwrap_or(0))
    }

    /// A whole number, or nil.
    pub fn maybe_int(&mut self) -> Result<Option<i64>> {
        if self.begin()? { decode::read_int(&mut self.cursor).map(Some).map_err(|_| self.wrong("whole number")) } else { Ok(None) }
    }

    /// A number; 0 where it is missing.
    pub fn float(&mut self) -> Result<f64> {
        if self.begin()? { decode::read_f64(&mut self.cursor).map_err(|_| self.wrong("number")) } else { Ok(0.0) }
    }

    /// Yes or no; no where it is missing.
    pub fn bool(&mut self) -> Result<bool> {
        if self.begin()? { decode::read_bool(&mut self.cursor).map_err(|_| self.wrong("boolean")) } else { Ok(false) }
    }

    /// A text; empty where it is missing.
    pub fn text(&mut self) -> Result<&'b str> {
        Ok(self.maybe_text()?.unwrap_or_default())
    }

    /// A text, or nil.
    pub fn maybe_text(&mut self) -> Result<Option<&'b str>> {
        if !self.begin()? {
            return Ok(None);
        }
        let length = decode::read_str_len(&mut self.cursor).map_err(|_| self.wrong("text"))?;
        let bytes = self.take(length as usize)?;
        std::str::from_utf8(bytes).map(Some).map_err(|_| self.wrong("text in UTF-8"))
    }

    /// Bytes; empty where they are missing.
    pub fn bin(&mut self) -> Result<&'b [u8]> {
        if !self.begin()? {
            return Ok(&[]);
        }
        let length = decode::read_bin_len(&mut self.cursor).map_err(|_| self.wrong("bytes"))?;
        self.take(length as usize)
    }

    /// The length of an array inside the array, whose fields count as fields of this one from here on.
    pub fn nested(&mut self) -> Result<u32> {
        if !self.begin()? {
            return Ok(0);
        }
        let length = decode::read_array_len(&mut self.cursor).map_err(|_| self.wrong("array"))?;
        self.left = self.left.saturating_add(length); // a damaged length is found when the fields are not there
        Ok(length)
    }

    /// The MessagePack bytes of one value of any type; empty where it is missing or nil.
    pub fn raw(&mut self) -> Result<&'b [u8]> {
        if !self.begin()? {
            return Ok(&[]);
        }
        let start = self.cursor.position() as usize;
        let all = *self.cursor.get_ref();
        let end = skip(all, start).ok_or_else(|| self.wrong("whole value"))?;
        self.cursor.set_position(end as u64);
        Ok(&all[start..end])
    }

    /// Passes over so many fields, whatever they are.
    pub fn pass(&mut self, fields: u32) -> Result<()> {
        (0..fields).try_for_each(|_| self.raw().map(drop))
    }

    fn take(&mut self, length: usize) -> Result<&'b [u8]> {
        let start = self.cursor.position() as usize;
        let all = *self.cursor.get_ref();
        let bytes = start.checked_add(length).and_then(|end| all.get(start..end)).ok_or_else(|| self.wrong("whole value"))?;
        self.cursor.set_position((start + length) as u64);
        Ok(bytes)
    }
}

/// Where the value that begins at `at` ends. Not recursive: a deeply nested value costs no stack.
#[must_use]
pub fn skip(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut values: u64 = 1;
    while values > 0 {
        values -= 1;
        let marker = Marker::from_u8(*bytes.get(at)?);
        at += 1;
        let number =
            |width: usize| -> Option<u64> { Some(bytes.get(at..at + width)?.iter().fold(0u64, |n, byte| n << 8 | u64::from(*byte))) };
        let (header, content, children) = match marker {
            Marker::FixPos(_) | Marker::FixNeg(_) | Marker::Null | Marker::True | Marker::False | Marker::Reserved => (0, 0, 0),
            Marker::U8 | Marker::I8 => (1, 0, 0),
            Marker::U16 | Marker::I16 => (2, 0, 0),
            Marker::U32 | Marker::I32 | Marker::F32 => (4, 0, 0),
            Marker::U64 | Marker::I64 | Marker::F64 => (8, 0, 0),
            Marker::FixStr(n) => (0, u64::from(n), 0),
            Marker::Str8 | Marker::Bin8 => (1, number(1)?, 0),
            Marker::Str16 | Marker::Bin16 => (2, number(2)?, 0),
            Marker::Str32 | Marker::Bin32 => (4, number(4)?, 0),
            Marker::FixArray(n) => (0, 0, u64::from(n)),
            Marker::Array16 => (2, 0, number(2)?),
            Marker::Array32 => (4, 0, number(4)?),
            Marker::FixMap(n) => (0, 0, 2 * u64::from(n)),
            Marker::Map16 => (2, 0, 2 * number(2)?),
            Marker::Map32 => (4, 0, 2 * number(4)?),
            Marker::FixExt1 => (1, 1, 0),
            Marker::FixExt2 => (1, 2, 0),
            Marker::FixExt4 => (1, 4, 0),
            Marker::FixExt8 => (1, 8, 0),
            Marker::FixExt16 => (1, 16, 0),
            Marker::Ext8 => (1, number(1)? + 1, 0),
            Marker::Ext16 => (2, number(2)? + 1, 0),
            Marker::Ext32 => (4, number(4)? + 1, 0),
        };
        at = at.checked_add(header)?.checked_add(usize::try_from(content).ok()?)?;
        values = values.checked_add(children)?;
        if at > bytes.len() {
            return None;
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_in_order_and_missing_ones_are_defaults() {
        let mut w = Writer::array(6);
        w.text("Go");
        w.int(-5);
        w.nil();
        w.float(0.5);
        w.raw(&[0x82, 0xa1, b'a', 0x01, 0xa1, b'b', 0x92, 0x01, 0xc0]);
        w.bool(true);
        let mut r = Reader::array(b"k", w.bytes()).expect("array");
        assert_eq!(r.text().expect("text"), "Go");
        assert_eq!(r.int().expect("int"), -5);
        assert_eq!(r.maybe_text().expect("nil"), None);
        assert!((r.float().expect("float") - 0.5).abs() < f64::EPSILON);
        assert_eq!(r.raw().expect("raw").len(), 9);
        assert!(r.bool().expect("bool"));
        assert_eq!(r.uint().expect("past the end"), 0);
        assert_eq!(r.maybe_text().expect("past the end"), None);
    }

    #[test]
    fn every_cut_body_is_an_error_and_never_a_panic() {
        let mut w = Writer::array(3);
        w.text("payments-api listens on port 8443");
        w.raw(&[0x81, 0xa1, b'a', 0xcd, 0x01, 0x00]);
        w.uint(70_000);
        for cut in 0..w.bytes().len() {
            let Ok(mut r) = Reader::array(b"k", &w.bytes()[..cut]) else { continue };
            assert!(r.text().and_then(|_| r.raw()).and_then(|_| r.uint()).is_err(), "{cut}");
        }
    }
}
