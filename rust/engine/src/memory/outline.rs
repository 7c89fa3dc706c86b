//! The fields that rank a memory, read from its record where it lies: a recall looks at more memories than it answers with, and only those
//! are copied.

use std::borrow::Cow;

use super::kind::Kind;
use super::provenance::Provenance;
use super::record::{self, Memory, State};
use crate::Result;
use crate::embedding::Tokens;
use crate::store::envelope::damaged;
use crate::store::keys::{Key, Partition};
use crate::store::msgpack::Reader;
use crate::store::pages::Pages;

/// A part of a memory, borrowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outline<'b> {
    /// Its number in the scope.
    pub number: u32,
    /// The caller's id, if one was given.
    pub given_id: Option<&'b str>,
    /// The text that is remembered.
    pub text: &'b str,
    /// Its kind: what it is about.
    pub kind: Kind,
    /// The attribute it gives a value to, in normal form.
    pub slot: Option<&'b str>,
    /// 0 to 3.
    pub trust: u8,
    /// Who said it.
    pub source: &'b str,
    /// 1, then one more with each revision.
    pub revision: u32,
    /// When what it says happened or began to hold.
    pub occurred_at: i64,
    /// MessagePack of the caller's mapping; empty where there is none.
    pub metadata: &'b [u8],
    /// Whether it is not current any more.
    pub is_ended: bool,
    /// Whether another memory says otherwise.
    pub is_disputed: bool,
    /// The tokens of its text, as far as they are kept.
    pub tokens: Tokens<'b>,
}

impl<'b> Outline<'b> {
    /// The outline of a memory that was read.
    pub fn of(memory: &'b Memory) -> Self {
        Self {
            number: memory.number,
            given_id: memory.given_id.as_deref(),
            text: &memory.text,
            kind: memory.kind,
            slot: memory.slot.as_deref(),
            trust: memory.trust,
            source: &memory.source,
            revision: memory.revision,
            occurred_at: memory.occurred_at,
            metadata: &memory.metadata,
            is_ended: memory.ending.is_some(),
            is_disputed: !memory.provenance.disputes.is_empty(),
            tokens: Tokens::default(),
        }
    }

    /// The outline of a body; [`Memory::encode`] has its fields.
    fn of_body(key: &'b [u8], number: u32, body: &'b [u8]) -> Result<Self> {
        let mut r = Reader::array(key, body)?;
        let (given_id, text) = (r.maybe_text()?, r.text()?);
        let kind = Kind::from_number(r.uint()? as u8).ok_or_else(|| damaged(key, "it names no kind of memory"))?;
        let slot = r.maybe_text()?;
        r.pass(2)?; // importance, confidence
        let (trust, source) = (r.uint()? as u8, r.text()?);
        r.pass(1)?; // sequence
        let revision = r.uint()? as u32;
        r.pass(2)?; // created_at, known_from
        let occurred_at = r.int()?;
        r.pass(1)?; // expires_at
        let metadata = r.raw()?;
        r.pass(2)?; // supersedes, request
        let is_ended = r.uint()? != State::Current as u64;
        r.pass(4 + Provenance::FIELDS - 1)?; // the rest of its ending, and where it comes from
        let is_disputed = r.has_any()?;
        let tokens = Tokens { distinct: r.bin()?, repeats: r.bin()? };
        Ok(Self { number, given_id, text, kind, slot, trust, source, revision, occurred_at, metadata, is_ended, is_disputed, tokens })
    }

    /// The id by which a caller names it.
    pub fn id(&self) -> String {
        self.given_id.map_or_else(|| record::generated_id(self.number), str::to_owned)
    }
}

/// The body of a current memory, to be outlined, and to be decoded if it is answered with.
#[derive(Debug)]
pub(crate) struct Stored<'p> {
    key: Key,
    number: u32,
    body: Cow<'p, [u8]>,
}

impl<'p> Stored<'p> {
    /// The body of the memory with a number which an index refers to.
    pub fn read<P: Pages + ?Sized>(pages: &'p P, partition: Partition, number: u32) -> Result<Self> {
        Self::find(pages, partition, number)?.ok_or_else(|| record::missing(partition, number))
    }

    /// The body of the memory with a number, if it is a current memory's.
    pub fn find<P: Pages + ?Sized>(pages: &'p P, partition: Partition, number: u32) -> Result<Option<Self>> {
        let body = record::body(pages, partition, number)?;
        Ok(body.map(|body| Self { key: record::current_key(partition, number), number, body }))
    }

    /// The fields that rank it.
    pub fn outline(&self) -> Result<Outline<'_>> {
        Outline::of_body(self.key.as_slice(), self.number, &self.body)
    }

    /// All of it.
    pub fn memory(&self) -> Result<Memory> {
        Memory::decode(self.key.as_slice(), self.number, &self.body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedding::KeptTokens;
    use crate::memory::Ending;
    use crate::store::pages::MemoryPages;

    fn memory(text: &str) -> Memory {
        Memory {
            number: 7,
            given_id: Some("m-7".into()),
            text: text.into(),
            kind: Kind::Preference,
            slot: Some("editor".into()),
            importance: 0.5,
            confidence: 1.0,
            trust: 2,
            source: "user".into(),
            sequence: 9,
            revision: 3,
            created_at: 1,
            known_from: 2,
            clock: None,
            occurred_at: -3,
            expires_at: Some(i64::MAX),
            metadata: b"\x81\xa1n\x92\x01\xc0".to_vec(),
            supersedes: Some(5),
            request: u64::MAX,
            ending: None,
            provenance: Provenance::default(),
        }
    }

    fn assert_same(outline: &Outline<'_>, memory: &Memory) {
        let read = (outline.id(), outline.text, outline.kind, outline.slot, outline.trust, outline.source, outline.revision);
        let (slot, source) = (memory.slot.as_deref(), memory.source.as_str());
        assert_eq!(read, (memory.id(), memory.text.as_str(), memory.kind, slot, memory.trust, source, memory.revision));
        assert_eq!(
            (outline.occurred_at, outline.metadata, outline.is_ended),
            (memory.occurred_at, &memory.metadata[..], memory.ending.is_some())
        );
    }

    #[test]
    fn an_outline_has_the_fields_of_the_memory() {
        let traced = Provenance { session: Some("s".into()), derived_from: vec![1, 2], disputes: vec![3], ..Provenance::default() };
        for (text, provenance) in [("Prefers Vim.", traced.clone()), ("Prefers Vim.", Provenance::default()), ("", traced)] {
            let memory = Memory { provenance, ..memory(text) };
            let mut pages = MemoryPages::new();
            record::put(&mut pages, 3, &memory).expect("stored");
            let stored = Stored::read(&pages, 3, 7).expect("there");
            let outline = stored.outline().expect("read");
            assert_same(&outline, &memory);
            assert_same(&Outline::of(&memory), &memory);
            assert_eq!(outline.tokens, KeptTokens::of(text).tokens());
            assert_eq!(stored.memory().expect("read"), memory);
        }
        let generated = Memory { given_id: None, metadata: Vec::new(), slot: None, ..memory("x") };
        assert_eq!(Outline::of(&generated).id(), "mem-7");
        assert!(Stored::read(&MemoryPages::new(), 3, 7).is_err(), "an index refers to it");
        let ended = Ending { state: State::Revised, known_until: 0, valid_until: 0, superseded_by: None, reason: None };
        assert!(Outline::of(&Memory { ending: Some(ended), ..memory("x") }).is_ended);
    }

    #[test]
    fn a_cut_body_is_damage() {
        let body = memory("Prefers Vim.").encode();
        for cut in 0..body.len() {
            let stored = Stored { key: record::current_key(3, 7), number: 7, body: Cow::Borrowed(&body[..cut]) };
            assert!(stored.outline().is_err(), "{cut}");
        }
    }
}
