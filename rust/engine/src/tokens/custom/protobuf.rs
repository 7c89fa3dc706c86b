//! The fields of a protocol buffer's message, as far as `SentencePiece`'s files have them.
//!
//! Protocol Buffers, "Encoding" (<https://protobuf.dev/programming-guides/encoding>): a message is a row of fields, each a tag (number
//! and wire type) and a value. Groups, which have long been out of use, are an error.

/// The fields of a message, in order; `None` for the rest where it is damaged.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

/// The value of a field.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value<'a> {
    Number(u64),
    Float(f32),
    Bytes(&'a [u8]),
    /// Of eight bytes: nothing that is read here.
    Wide,
}

impl<'a> Fields<'a> {
    fn take(&mut self, size: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.take(1)?[0];
            value |= u64::from(byte & 127).checked_shl(shift)?;
            if byte < 128 {
                return Some(value);
            }
        }
        None
    }

    fn field(&mut self) -> Option<(u64, Value<'a>)> {
        let tag = self.number()?;
        let value = match tag & 7 {
            0 => Value::Number(self.number()?),
            1 => self.take(8).map(|_| Value::Wide)?,
            2 => {
                let size = usize::try_from(self.number()?).ok()?;
                Value::Bytes(self.take(size)?)
            }
            5 => Value::Float(f32::from_le_bytes(*self.take(4)?.first_chunk()?)),
            _ => return None,
        };
        Some((tag >> 3, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Option<(u64, Value<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_and_damage_is_seen() {
        let message = [0x08, 0x96, 0x01, 0x12, 0x02, b'h', b'i', 0x1D, 0, 0, 0x80, 0xBF, 0x21, 0, 0, 0, 0, 0, 0, 0, 0];
        let expected = [(1, Value::Number(150)), (2, Value::Bytes(b"hi")), (3, Value::Float(-1.0)), (4, Value::Wide)].map(Some);
        assert_eq!(Fields(&message).collect::<Vec<_>>(), expected);
        for damaged in [&[0x08][..], &[0x08, 0x96], &[0x12, 0x03, b'h'], &[0x1D, 0, 0], &[0x0B], &[0x21, 0], &[0xFF; 12], &[0x12, 0xFF]] {
            assert_eq!(Fields(damaged).collect::<Vec<_>>(), [None], "{damaged:?}");
        }
        let endless = [&[0x12][..], &[0xFF; 9], &[0x01]].concat();
        assert_eq!(Fields(&endless).collect::<Vec<_>>(), [None]);
    }
}
