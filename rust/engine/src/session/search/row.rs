//! The row of a message's document, which a search reads: table 0x5A.

use crate::Result;
use crate::context::Message;
use crate::embedding::distinct_tokens;
use crate::session::recalls::role_of;
use crate::store::envelope::{self, Codec, damaged};
use crate::store::keys::{Key, Partition, Table};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::store::verified;
use crate::text::speech;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

const SCHEMA: u8 = 1;

/// The most distinct tokens of a message that are kept.
pub(in crate::session) const MAX_TOKENS: usize = 256;

/// The speaker's name is among the words.
const NAMED: u64 = 1;
/// It has tokens, and its vector is stored.
const EMBEDDED: u64 = 2;
/// It ends with a question mark.
const ASKS: u64 = 4;
/// It is known whether it answers anything.
const JUDGED: u64 = 8;
/// It only asks, or only says that it does not know.
const EMPTY: u64 = 16;
/// It greets, thanks or acknowledges, and has no other word.
const COURTESY: u64 = 32;
/// The user said it, or a tool.
const BY_OTHERS: u64 = 64;
/// The model said it.
const BY_MODEL: u64 = 128;

/// The row of a document. One that an older version wrote has neither speaker nor tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)] // each is a bit of the flags on disk
pub(in crate::session) struct Row<'p> {
    pub session: u32,
    pub index: u64,
    /// The words hold the speaker's name.
    pub named: bool,
    /// Tokens and vector are there.
    pub embedded: bool,
    /// Its last character asks.
    pub asks: bool,
    /// Whether it only asks, or only says that it does not know, and no tool said it; `None` in a row of a version before format 5.
    pub is_empty: Option<bool>,
    /// Whether it has no word but those of courtesy, and no tool said it; false in a row of a version before 0.6.0.
    pub is_courtesy: bool,
    /// Whether the model said it; `None` in a row of a version before 0.13.0.
    pub by_model: Option<bool>,
    pub speaker: Cow<'p, str>,
    /// Two bytes each.
    pub tokens: Cow<'p, [u8]>,
    /// When it was said, in microseconds since 1970; `None` in a row of a version before format 4.
    pub at: Option<i64>,
}

impl Row<'static> {
    /// That of a message which gets its place later, and its text.
    pub fn of(message: &Message, speaker: String, text: &str) -> Self {
        let tokens = Cow::Owned(distinct_tokens(text, MAX_TOKENS));
        let asks = text.trim_end().ends_with(['?', '\u{ff1f}', '\u{61f}']);
        let role = role_of(message).0;
        let is_spoken = role != "tool";
        Self {
            session: 0,
            index: 0,
            named: true,
            embedded: true,
            asks,
            is_empty: Some(is_spoken && speech::answers_nothing(text)),
            is_courtesy: is_spoken && speech::acknowledges(text),
            by_model: Some(role == "assistant"),
            speaker: Cow::Owned(speaker),
            tokens,
            at: None,
        }
    }
}

impl<'p> Row<'p> {
    /// The same at a place, and at a time.
    pub fn placed(self, session: u32, index: u64, at: i64) -> Self {
        Self { session, index, at: Some(at), ..self }
    }

    /// Whether it has all that a row of this version has.
    pub fn is_full(&self) -> bool {
        self.embedded && self.at.is_some() && self.is_empty.is_some() && self.by_model.is_some()
    }

    /// Whether its list of tokens is full, so that the message may have more.
    pub fn is_cut(&self) -> bool {
        self.tokens.len() >= 2 * MAX_TOKENS
    }

    pub fn write(&self, pages: &mut impl PagesMut, partition: Partition, number: u32) -> Result<()> {
        let key = key(partition, number);
        let flag = |is: bool, bit: u64| if is { bit } else { 0 };
        let mut w = Writer::array(6);
        w.uint(u64::from(self.session));
        w.uint(self.index);
        let judged = flag(self.is_empty.is_some(), JUDGED) | flag(self.is_empty == Some(true), EMPTY) | flag(self.is_courtesy, COURTESY);
        let by = self.by_model.map_or(0, |by_model| if by_model { BY_MODEL } else { BY_OTHERS });
        w.uint(flag(self.named, NAMED) | flag(self.embedded, EMBEDDED) | flag(self.asks, ASKS) | judged | by);
        w.text(&self.speaker);
        w.bin(&self.tokens);
        w.maybe_int(self.at);
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), SCHEMA, Codec::MessagePack, w.bytes()))
    }

    pub fn decode(key: &'p [u8], value: &'p [u8]) -> Result<Self> {
        let mut r = Reader::array(key, verified::open(key, value, SCHEMA, Codec::MessagePack as u8, |_| true)?)?;
        let (session, index, flags) = (r.uint()? as u32, r.uint()?, r.uint()?);
        let (speaker, tokens) = (Cow::Borrowed(r.text()?), Cow::Borrowed(r.bin()?));
        let (is, at) = (|bit: u64| flags & bit != 0, r.maybe_int()?);
        let is_empty = is(JUDGED).then(|| is(EMPTY));
        let (named, embedded, asks, is_courtesy) = (is(NAMED), is(EMBEDDED), is(ASKS), is(COURTESY));
        let by_model = (is(BY_MODEL) || is(BY_OTHERS)).then(|| is(BY_MODEL));
        Ok(Self { session, index, named, embedded, asks, is_empty, is_courtesy, by_model, speaker, tokens, at })
    }

    /// Where a document's message stands; its other fields are left out.
    pub fn decode_place(key: &'p [u8], value: &'p [u8]) -> Result<Self> {
        let mut r = Reader::array(key, verified::open(key, value, SCHEMA, Codec::MessagePack as u8, |_| true)?)?;
        Ok(Self::at_place(r.uint()? as u32, r.uint()?))
    }

    /// The row of a message of which nothing more is known.
    pub fn at_place(session: u32, index: u64) -> Self {
        let (speaker, tokens) = (Cow::Borrowed(""), Cow::Borrowed(&[][..]));
        let (named, embedded, asks, is_courtesy) = (false, false, false, false);
        Self { session, index, named, embedded, asks, is_empty: None, is_courtesy, by_model: None, speaker, tokens, at: None }
    }

    /// Calls `of` with the row of a document, where it lies; `None` where there is no such document.
    pub fn look<T>(pages: &impl Pages, partition: Partition, number: u32, of: impl FnOnce(Row<'_>) -> T) -> Result<Option<T>> {
        let key = key(partition, number);
        let Some(value) = pages.get(key.as_slice())? else { return Ok(None) };
        Row::decode(key.as_slice(), value).map(|row| Some(of(row)))
    }

    /// The same of a document that must be there.
    pub fn expect<T>(pages: &impl Pages, partition: Partition, number: u32, of: impl FnOnce(Row<'_>) -> T) -> Result<T> {
        let missing = || damaged(key(partition, number).as_slice(), "the transcript index refers to it and it is missing");
        Self::look(pages, partition, number, of)?.ok_or_else(missing)
    }

    /// The same apart from the store.
    pub fn owned(self) -> Row<'static> {
        let (speaker, tokens) = (Cow::Owned(self.speaker.into_owned()), Cow::Owned(self.tokens.into_owned()));
        Row {
            session: self.session,
            index: self.index,
            named: self.named,
            embedded: self.embedded,
            asks: self.asks,
            is_empty: self.is_empty,
            is_courtesy: self.is_courtesy,
            by_model: self.by_model,
            speaker,
            tokens,
            at: self.at,
        }
    }
}

/// Where a document's row stands.
pub(in crate::session) fn key(partition: Partition, number: u32) -> Key {
    Key::new(partition, Table::Document).u32(number)
}

/// The rows of a partition by document.
pub(in crate::session) type Rows = BTreeMap<u32, Row<'static>>;

/// All rows of documents from `first` on, at most `limit` of those that `keep` lets through.
pub(in crate::session) fn rows<P: Pages>(
    pages: &P,
    partition: Partition,
    first: u32,
    limit: usize,
    keep: impl Fn(&Row<'_>) -> bool,
) -> Result<Rows> {
    let mut found = Rows::new();
    pages.scan(key(partition, first).as_slice(), &Key::new(partition, Table::Document).prefix_range().end, &mut |key, value| {
        let row = Row::decode(key, value)?;
        if keep(&row) {
            found.insert(crate::store::keys::u32_at(key, 5).unwrap_or_default(), row.owned());
        }
        Ok(if found.len() < limit { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(found)
}
