//! Plain values: JSON and MessagePack between their bytes and the values of the language that calls the engine.
//!
//! The reading side says what a part becomes once it is known ([`make`]), and the writing side says what a value is ([`mod@write`]). This
//! module decides about forms, depths, and numbers that a language does not hold. No tree is built between the two: a part becomes a value
//! of the caller's before the next one is read ([`read`]) or said.

use std::borrow::Cow;

pub mod make;
pub mod read;
pub mod write;

#[cfg(test)]
mod tests;

/// A value; `L` and `M` are what is known of the parts of a list and of a map.
#[derive(Debug, Clone, PartialEq)]
pub enum Plain<'a, L = (), M = ()> {
    /// Nothing.
    Null,
    /// Yes or no.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Above [`i64::MAX`].
    Uint(u64),
    /// A number by its decimal digits, where no other of these holds it.
    Digits(Cow<'a, str>),
    /// A number.
    Float(f64),
    /// A text.
    Text(Cow<'a, str>),
    /// Bytes, which only MessagePack has.
    Bytes(Cow<'a, [u8]>),
    /// Values in their order.
    List(L),
    /// Keys and values in their order.
    Map(M),
}

/// A value whose parts are `V` in the language of the caller.
pub type Whole<'a, V> = Plain<'a, Vec<V>, Vec<(V, V)>>;

impl<L, M> Plain<'_, L, M> {
    /// This value with its texts copied, so that it lasts.
    #[must_use]
    pub fn into_owned(self) -> Plain<'static, L, M> {
        match self {
            Self::Null => Plain::Null,
            Self::Bool(yes) => Plain::Bool(yes),
            Self::Int(number) => Plain::Int(number),
            Self::Uint(number) => Plain::Uint(number),
            Self::Digits(digits) => Plain::Digits(Cow::Owned(digits.into_owned())),
            Self::Float(number) => Plain::Float(number),
            Self::Text(text) => Plain::Text(Cow::Owned(text.into_owned())),
            Self::Bytes(bytes) => Plain::Bytes(Cow::Owned(bytes.into_owned())),
            Self::List(items) => Plain::List(items),
            Self::Map(entries) => Plain::Map(entries),
        }
    }
}
