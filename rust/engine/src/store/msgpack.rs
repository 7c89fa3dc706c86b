//! MessagePack bodies: arrays of fields in a fixed order, written and read one field after the other.
//!
//! A reader takes what it knows and ignores fields behind it, so that a later format may append; a field that an older
//! body does not have reads as its default. Not a general MessagePack library: `rmp` does the
//! encoding. Reading is by hand, since every candidate of a recall is read.

use rmp::{Marker, encode};

use super::envelope::damaged;
use crate::{Error, Result};

/// The marker of nothing.
const NIL: u8 = 0xc0;

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

    /// The written bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The written bytes.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// A body being read.
#[derive(Debug)]
pub struct Reader<'b> {
    body: &'b [u8],
    at: usize,
    left: u32,
    key: &'b [u8],
}

impl<'b> Reader<'b> {
    /// The array in `body`, which was found at `key`.
    pub fn array(key: &'b [u8], body: &'b [u8]) -> Result<Self> {
        let mut reader = Self { body, at: 0, left: 0, key };
        reader.left = reader.array_length().ok_or_else(|| damaged(key, "its body is not an array"))?;
        Ok(reader)
    }

    /// The fields that it has yet.
    #[must_use]
    pub fn fields_left(&self) -> u32 {
        self.left
    }

    #[cold]
    fn wrong(&self, expected: &str) -> Error {
        damaged(self.key, &format!("at byte {} of its body there is no {expected}", self.at))
    }

    /// Begins a field: `false` where the body ends before it, or where it is nil.
    #[inline]
    fn begin(&mut self) -> Result<bool> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        match self.body.get(self.at) {
            Some(&NIL) => {
                self.at += 1;
                Ok(false)
            }
            Some(_) => Ok(true),
            None => Err(self.wrong("field")),
        }
    }

    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let byte = self.body.get(self.at).copied();
        self.at += usize::from(byte.is_some());
        byte
    }

    /// The next bytes as a big-endian number.
    #[inline]
    fn number<const BYTES: usize>(&mut self) -> Option<u64> {
        let bytes = self.body.get(self.at..)?.first_chunk::<BYTES>()?;
        self.at += BYTES;
        let mut number = [0; 8];
        number[8 - BYTES..].copy_from_slice(bytes);
        Some(u64::from_be_bytes(number))
    }

    /// A whole number, and whether it is one of the signed kind, in two's complement.
    #[inline]
    fn integer(&mut self) -> Option<(u64, bool)> {
        let signed = |number: i64| Some((number as u64, true));
        match self.byte()? {
            byte @ 0..=0x7f => Some((u64::from(byte), false)),
            byte @ 0xe0..=0xff => signed(i64::from(byte as i8)),
            0xcc => Some((self.number::<1>()?, false)),
            0xcd => Some((self.number::<2>()?, false)),
            0xce => Some((self.number::<4>()?, false)),
            0xcf => Some((self.number::<8>()?, false)),
            0xd0 => signed(i64::from(self.number::<1>()? as i8)),
            0xd1 => signed(i64::from(self.number::<2>()? as i16)),
            0xd2 => signed(i64::from(self.number::<4>()? as i32)),
            0xd3 => signed(self.number::<8>()? as i64),
            _ => None,
        }
    }

    #[inline]
    fn unsigned(&mut self) -> Option<u64> {
        if let Some(byte @ 0..=0x7f) = self.body.get(self.at).copied() {
            self.at += 1;
            return Some(byte.into()); // as mostly
        }
        let (number, is_signed) = self.integer()?;
        (!is_signed || number >> 63 == 0).then_some(number)
    }

    #[inline]
    fn signed(&mut self) -> Option<i64> {
        let (number, is_signed) = self.integer()?;
        (is_signed || number >> 63 == 0).then_some(number as i64)
    }

    #[inline]
    fn text_length(&mut self) -> Option<u64> {
        match self.byte()? {
            byte @ 0xa0..=0xbf => Some(u64::from(byte & 0x1f)),
            0xd9 => self.number::<1>(),
            0xda => self.number::<2>(),
            0xdb => self.number::<4>(),
            _ => None,
        }
    }

    fn bin_length(&mut self) -> Option<u64> {
        match self.byte()? {
            0xc4 => self.number::<1>(),
            0xc5 => self.number::<2>(),
            0xc6 => self.number::<4>(),
            _ => None,
        }
    }

    fn array_length(&mut self) -> Option<u32> {
        match self.byte()? {
            byte @ 0x90..=0x9f => Some(u32::from(byte & 0xf)),
            0xdc => self.number::<2>().map(|length| length as u32),
            0xdd => self.number::<4>().map(|length| length as u32),
            _ => None,
        }
    }

    /// A whole number that is never negative; 0 where it is missing.
    #[inline]
    pub fn uint(&mut self) -> Result<u64> {
        if self.begin()? { self.unsigned().ok_or_else(|| self.wrong("whole number")) } else { Ok(0) }
    }

    /// A whole number; 0 where it is missing.
    #[inline]
    pub fn int(&mut self) -> Result<i64> {
        Ok(self.maybe_int()?.unwrap_or(0))
    }

    /// A whole number, or nil.
    #[inline]
    pub fn maybe_int(&mut self) -> Result<Option<i64>> {
        if self.begin()? { self.signed().map(Some).ok_or_else(|| self.wrong("whole number")) } else { Ok(None) }
    }

    /// A number; 0 where it is missing.
    pub fn float(&mut self) -> Result<f64> {
        if !self.begin()? {
            return Ok(0.0);
        }
        let bits = if self.byte() == Some(0xcb) { self.number::<8>() } else { None };
        bits.map(f64::from_bits).ok_or_else(|| self.wrong("number"))
    }

    /// Yes or no; no where it is missing.
    pub fn bool(&mut self) -> Result<bool> {
        if !self.begin()? {
            return Ok(false);
        }
        match self.byte() {
            Some(0xc2) => Ok(false),
            Some(0xc3) => Ok(true),
            _ => Err(self.wrong("boolean")),
        }
    }

    /// A text; empty where it is missing.
    pub fn text(&mut self) -> Result<&'b str> {
        Ok(self.maybe_text()?.unwrap_or_default())
    }

    /// A text, or nil.
    #[inline]
    pub fn maybe_text(&mut self) -> Result<Option<&'b str>> {
        if !self.begin()? {
            return Ok(None);
        }
        let length = self.text_length().ok_or_else(|| self.wrong("text"))?;
        let bytes = self.take(length)?;
        std::str::from_utf8(bytes).map(Some).map_err(|_| self.wrong("text in UTF-8"))
    }

    /// Bytes; empty where they are missing.
    #[inline]
    pub fn bin(&mut self) -> Result<&'b [u8]> {
        if !self.begin()? {
            return Ok(&[]);
        }
        let length = self.bin_length().ok_or_else(|| self.wrong("bytes"))?;
        self.take(length)
    }

    /// The length of an array inside the array, whose fields count as fields of this one from here on.
    pub fn nested(&mut self) -> Result<u32> {
        if !self.begin()? {
            return Ok(0);
        }
        let length = self.array_length().ok_or_else(|| self.wrong("array"))?;
        self.left = self.left.saturating_add(length); // a damaged length is found when the fields are not there
        Ok(length)
    }

    /// Passes over an array; whether there is anything in it.
    pub fn has_any(&mut self) -> Result<bool> {
        Ok(!matches!(self.raw()?, [] | [0x90]))
    }

    /// The MessagePack bytes of one value of any type; empty where it is missing or nil.
    pub fn raw(&mut self) -> Result<&'b [u8]> {
        if !self.begin()? {
            return Ok(&[]);
        }
        let start = self.at;
        self.at = end(self.body, start).ok_or_else(|| self.wrong("whole value"))?;
        Ok(&self.body[start..self.at])
    }

    /// Passes over so many fields, whatever they are.
    pub fn pass(&mut self, fields: u32) -> Result<()> {
        let count = fields.min(self.left);
        self.left -= count;
        let mut at = self.at;
        for _ in 0..count {
            at = end(self.body, at).ok_or_else(|| self.wrong("whole value"))?;
        }
        self.at = at;
        Ok(())
    }

    #[inline]
    fn take(&mut self, length: u64) -> Result<&'b [u8]> {
        let end = usize::try_from(length).ok().and_then(|length| self.at.checked_add(length));
        let bytes = end.and_then(|end| self.body.get(self.at..end)).ok_or_else(|| self.wrong("whole value"))?;
        self.at += bytes.len();
        Ok(bytes)
    }
}

/// Bytes of a value by its first one; 0 where that alone does not tell.
static LENGTHS: [u8; 256] = {
    let (mut lengths, mut byte) = ([0; 256], 0);
    while byte < 256 {
        lengths[byte] = match byte as u8 {
            0..=0x7f | 0xe0..=0xff | NIL | 0x80 | 0x90 | 0xc2 | 0xc3 => 1,
            text @ 0xa0..=0xbf => 1 + (text & 0x1f),
            0xcc | 0xd0 => 2,
            0xcd | 0xd1 => 3,
            0xca | 0xce | 0xd2 => 5,
            0xcb | 0xcf | 0xd3 => 9,
            _ => 0,
        };
        byte += 1;
    }
    lengths
};

/// Where the value that begins at `at` ends. Numbers and short texts, of which there are most, are told by their first byte.
#[inline]
fn end(body: &[u8], at: usize) -> Option<usize> {
    match LENGTHS[usize::from(*body.get(at)?)] {
        0 => skip(body, at),
        length => Some(at + usize::from(length)).filter(|end| *end <= body.len()),
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
    fn numbers_and_lengths_are_read_as_they_are_written() {
        let edges = (0..64).flat_map(|bit| [1_u64 << bit, (1 << bit) - 1]).chain([u64::MAX]);
        for number in edges {
            let mut w = Writer::array(2);
            w.uint(number);
            w.int((number as i64).wrapping_neg());
            let mut r = Reader::array(b"k", w.bytes()).expect("array");
            assert_eq!((r.uint().expect("uint"), r.int().expect("int")), (number, (number as i64).wrapping_neg()));
            let mut r = Reader::array(b"k", w.bytes()).expect("array");
            assert_eq!(r.int().ok(), i64::try_from(number).ok(), "{number}");
            assert_eq!(r.uint().is_err(), (number as i64).wrapping_neg() < 0 && r.left == 0, "{number}");
        }
        for length in [0, 1, 31, 32, 255, 256, 65_535, 65_536] {
            let mut w = Writer::array(16);
            w.text(&"x".repeat(length));
            w.bin(&vec![7; length]);
            let raw = w.bytes()[3..].to_vec();
            let mut r = Reader::array(b"k", w.bytes()).expect("array");
            assert_eq!((r.text().expect("text").len(), r.bin().expect("bytes").len()), (length, length));
            assert_eq!(skip(&raw, 0).and_then(|at| skip(&raw, at)), Some(raw.len()));
        }
    }

    /// A marker of every kind, with bytes behind it: what is passed over is what [`skip`] says, and what is of another kind is an error.
    #[test]
    fn every_marker_is_read_or_refused() {
        for marker in 0..=u8::MAX {
            let mut body = vec![0x91, marker];
            body.extend([1; 40]);
            let reader = || Reader::array(b"k", &body).expect("array");
            let passed = reader().raw().map(<[u8]>::len).ok();
            let expected = if marker == NIL { Some(0) } else { skip(&body, 1).map(|end| end - 1) };
            assert_eq!(passed, expected, "{marker:#x}");
            let is_number = matches!(marker, 0..=0x7f | 0xe0..=0xff | 0xcc..=0xd3 | NIL);
            assert_eq!(reader().maybe_int().is_ok(), is_number, "{marker:#x}");
            assert_eq!(reader().maybe_text().is_ok(), matches!(marker, 0xa0..=0xbf | 0xd9 | NIL), "{marker:#x}");
            assert_eq!(reader().bin().is_ok(), matches!(marker, 0xc4 | NIL), "{marker:#x}");
            assert_eq!(reader().nested().is_ok(), matches!(marker, 0x90..=0x9f | 0xdc | 0xdd | NIL), "{marker:#x}");
            assert_eq!(reader().float().is_ok(), matches!(marker, 0xcb | NIL), "{marker:#x}");
            assert_eq!(reader().bool().is_ok(), matches!(marker, 0xc2 | 0xc3 | NIL), "{marker:#x}");
        }
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
