//! One memory as it is stored: `Table::Memory` holds the current revision, `Table::History` what is not current any more.
//!
//! The body is a MessagePack array (docs/format.md has the fields); the number of the memory is in the key.

use std::borrow::Cow;
use std::ops::ControlFlow;

use super::kind::Kind;
use super::provenance::Provenance;
use crate::Result;
use crate::embedding::{KeptTokens, Tokens};
use crate::store::chunks;
use crate::store::envelope::{self, Codec, damaged};
use crate::store::keys::{Key, Partition, Table, u32_at};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::units::clock::AHEAD;

/// Layout of the body. 1: the first.
const SCHEMA: u8 = 1;

/// Why a revision is not current.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// It is current.
    Current = 0,
    /// Another memory took its slot; it is still believed to have held before.
    Superseded = 1,
    /// It was corrected; it is not believed any more.
    Revised = 2,
    /// It was forgotten; its text is gone.
    Forgotten = 3,
    /// Its time to live ran out; its text is gone.
    Expired = 4,
    /// It waits for somebody to approve it; it was never current.
    Quarantined = 5,
}

impl State {
    /// Its name in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Superseded => "superseded",
            Self::Revised => "revised",
            Self::Forgotten => "forgotten",
            Self::Expired => "expired",
            Self::Quarantined => "quarantined",
        }
    }

    fn from_number(number: u64) -> Option<Self> {
        [Self::Current, Self::Superseded, Self::Revised, Self::Forgotten, Self::Expired, Self::Quarantined]
            .into_iter()
            .find(|s| *s as u64 == number)
    }
}

/// How a revision ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ending {
    /// Why.
    pub state: State,
    /// When the store learnt of it: the end of `known_at`.
    pub known_until: i64,
    /// When what it says stopped holding: the end of `valid_at`.
    pub valid_until: i64,
    /// The number of the memory that took its place.
    pub superseded_by: Option<u32>,
    /// Why, in the caller's words.
    pub reason: Option<String>,
}

/// One revision of a memory. Times are microseconds since 1970 (UTC).
#[derive(Debug, Clone, PartialEq)]
pub struct Memory {
    /// Its number in the scope: dense, never given twice, the same for all its revisions.
    pub number: u32,
    /// The caller's id, if one was given.
    pub given_id: Option<String>,
    /// The text that is remembered; empty once it is forgotten.
    pub text: String,
    /// Its kind: what it is about.
    pub kind: Kind,
    /// The attribute it gives a value to, in normal form.
    pub slot: Option<String>,
    /// 0 to 1.
    pub importance: f64,
    /// 0 to 1: how sure the source was.
    pub confidence: f64,
    /// 0 to 3.
    pub trust: u8,
    /// Who said it.
    pub source: String,
    /// Place in the order of the scope's writes.
    pub sequence: u64,
    /// 1, then one more with each revision.
    pub revision: u32,
    /// When its first revision was written.
    pub created_at: i64,
    /// When this revision was written: the beginning of `known_at`. Later than that of every write of the scope before it.
    pub known_from: i64,
    /// The clock's time then, where `known_from` ran ahead of it; or when maintenance first met a revision from the future.
    pub clock: Option<i64>,
    /// When what it says happened or began to hold: the beginning of `valid_at`.
    pub occurred_at: i64,
    /// When it is to be forgotten.
    pub expires_at: Option<i64>,
    /// MessagePack of the caller's mapping; empty where there is none.
    pub metadata: Vec<u8>,
    /// The number of the memory whose slot it took.
    pub supersedes: Option<u32>,
    /// Hash of what the caller asked for, to tell a retry from a conflict.
    pub request: u64,
    /// How it ended; `None` while it is current.
    pub ending: Option<Ending>,
    /// Where it comes from.
    pub provenance: Provenance,
}

impl Memory {
    /// The id by which a caller names it.
    #[must_use]
    pub fn id(&self) -> String {
        self.given_id.clone().unwrap_or_else(|| generated_id(self.number))
    }

    /// Why it is not current, or that it is.
    #[must_use]
    pub fn state(&self) -> State {
        self.ending.as_ref().map_or(State::Current, |ending| ending.state)
    }

    /// Why it is not current at `now`, where its time to live may be over, or that it is.
    #[must_use]
    pub fn state_at(&self, now: i64) -> State {
        match self.state() {
            State::Current | State::Quarantined if self.is_expired(now) => State::Expired,
            state => state,
        }
    }

    /// When this revision was written, by the clock, as far as that is known at `now`: the scope's own time is believed once it is past.
    #[must_use]
    pub fn written_at(&self, now: i64) -> i64 {
        if self.known_from <= now { self.known_from } else { self.clock.unwrap_or(self.known_from) }
    }

    /// Whether its event had happened by the clock of its own write: then it has happened by `now`, whatever that clock said.
    #[must_use]
    pub fn had_happened(&self, now: i64) -> bool {
        self.occurred_at <= self.written_at(now) || self.occurred_at.abs_diff(self.known_from) <= AHEAD as u64
    }

    /// When it was said last.
    #[must_use]
    pub fn last_seen(&self) -> i64 {
        self.provenance.last_seen.max(self.occurred_at)
    }

    /// Whether its time to live is over.
    #[must_use]
    pub fn is_expired(&self, now: i64) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// The body as it is stored: everything but the number, which is in the key.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let tokens = KeptTokens::of(&self.text);
        let tokened = !tokens.distinct.is_empty();
        let clocked = self.clock.is_some();
        let traced = tokened || clocked || !self.provenance.is_empty();
        let ended = if self.ending.is_some() || traced { 5 } else { 0 };
        let behind = 2 * u32::from(tokened || clocked) + u32::from(clocked);
        let mut body = Writer::array(17 + ended + if traced { Provenance::FIELDS } else { 0 } + behind);
        body.maybe_text(self.given_id.as_deref());
        body.text(&self.text);
        body.uint(self.kind as u64);
        body.maybe_text(self.slot.as_deref());
        body.float(self.importance);
        body.float(self.confidence);
        body.uint(u64::from(self.trust));
        body.text(&self.source);
        body.uint(self.sequence);
        body.uint(u64::from(self.revision));
        body.int(self.created_at);
        body.int(self.known_from);
        body.int(self.occurred_at);
        body.maybe_int(self.expires_at);
        body.raw(&self.metadata);
        body.maybe_int(self.supersedes.map(i64::from));
        body.uint(self.request);
        if let Some(ending) = &self.ending {
            body.uint(ending.state as u64);
            body.int(ending.known_until);
            body.int(ending.valid_until);
            body.maybe_int(ending.superseded_by.map(i64::from));
            body.maybe_text(ending.reason.as_deref());
        } else if traced {
            body.uint(State::Current as u64);
            body.int(0);
            body.int(0);
            body.nil();
            body.nil();
        }
        if traced {
            self.provenance.write(&mut body);
        }
        if tokened || clocked {
            body.bin(&tokens.distinct);
            body.bin(&tokens.repeats);
        }
        if let Some(clock) = self.clock {
            body.int(clock);
        }
        body.into_bytes()
    }

    /// The memory of that number, from a body found at `key`.
    pub fn decode(key: &[u8], number: u32, body: &[u8]) -> Result<Self> {
        Ok(Self::decode_with_tokens(key, number, body)?.0)
    }

    /// The memory of a number, from a body found at `key`, with what is kept of the tokens of its text.
    fn decode_with_tokens<'b>(key: &'b [u8], number: u32, body: &'b [u8]) -> Result<(Self, Tokens<'b>)> {
        let mut r = Reader::array(key, body)?;
        let mut memory = Self {
            number,
            given_id: r.maybe_text()?.map(str::to_owned),
            text: r.text()?.to_owned(),
            kind: Kind::from_number(r.uint()? as u8).ok_or_else(|| damaged(key, "it names no kind of memory"))?,
            slot: r.maybe_text()?.map(str::to_owned),
            importance: r.float()?,
            confidence: r.float()?,
            trust: r.uint()? as u8,
            source: r.text()?.to_owned(),
            sequence: r.uint()?,
            revision: r.uint()? as u32,
            created_at: r.int()?,
            known_from: r.int()?,
            clock: None,
            occurred_at: r.int()?,
            expires_at: r.maybe_int()?,
            metadata: r.raw()?.to_vec(),
            supersedes: r.maybe_int()?.map(|n| n as u32),
            request: r.uint()?,
            ending: None,
            provenance: Provenance::default(),
        };
        let state = State::from_number(r.uint()?).ok_or_else(|| damaged(key, "it names no state of a memory"))?;
        let ending = Ending {
            state,
            known_until: r.int()?,
            valid_until: r.int()?,
            superseded_by: r.maybe_int()?.map(|n| n as u32),
            reason: r.maybe_text()?.map(str::to_owned),
        };
        memory.ending = (state != State::Current).then_some(ending);
        memory.provenance = Provenance::read(&mut r)?;
        let tokens = Tokens { distinct: r.bin()?, repeats: r.bin()? };
        memory.clock = r.maybe_int()?;
        Ok((memory, tokens))
    }
}

/// The id of a memory for which the caller gave none.
#[must_use]
pub fn generated_id(number: u32) -> String {
    format!("mem-{number}")
}

/// The number in an id of the generated form.
#[must_use]
pub fn number_in(id: &str) -> Option<u32> {
    let number: u32 = id.strip_prefix("mem-")?.parse().ok()?;
    (generated_id(number) == id).then_some(number)
}

/// The error of a memory that an index refers to and that is not there.
#[must_use]
pub fn missing(partition: Partition, number: u32) -> crate::Error {
    damaged(current_key(partition, number).as_slice(), "an index refers to it and it is missing")
}

pub(super) fn current_key(partition: Partition, number: u32) -> Key {
    Key::new(partition, Table::Memory).u32(number)
}

pub(super) fn history_key(partition: Partition, number: u32, revision: u32) -> Key {
    Key::new(partition, Table::History).u32(number).u32(revision)
}

/// The current revision of a memory.
pub fn current<P: Pages + ?Sized>(pages: &P, partition: Partition, number: u32) -> Result<Option<Memory>> {
    let key = current_key(partition, number);
    let Some((_, body)) = chunks::get(pages, key)? else { return Ok(None) };
    Memory::decode(key.as_slice(), number, &body).map(Some)
}

/// Its body alone.
pub(super) fn body<P: Pages + ?Sized>(pages: &P, partition: Partition, number: u32) -> Result<Option<Cow<'_, [u8]>>> {
    Ok(chunks::get_known(pages, current_key(partition, number))?.map(|(_, body)| body))
}

/// Current memories from number `first` on of whose text this version keeps more tokens than are there: at most `most`, after looking at
/// as many as there are.
pub(crate) fn without_tokens<P: Pages + ?Sized>(pages: &P, partition: Partition, first: u32, most: usize) -> Result<Vec<u32>> {
    let mut range = Key::new(partition, Table::Memory).prefix_range();
    range.start = current_key(partition, first).as_slice().to_vec();
    let mut found = Vec::new();
    walk_bodies(pages, &range, 5, &mut |key, number, body| {
        let (memory, tokens) = Memory::decode_with_tokens(key, number, body)?;
        if tokens.lacks_some(&memory.text) {
            found.push(number);
        }
        Ok(if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(found)
}

/// Stores a current memory again, as this version does; whether it is there.
pub(crate) fn rewrite(pages: &mut impl PagesMut, partition: Partition, number: u32) -> Result<bool> {
    let Some(memory) = current(pages, partition, number)? else { return Ok(false) };
    put(pages, partition, &memory)?;
    Ok(true)
}

/// One revision that is not current any more.
pub fn ended<P: Pages + ?Sized>(pages: &P, partition: Partition, number: u32, revision: u32) -> Result<Option<Memory>> {
    let key = history_key(partition, number, revision);
    let Some((_, body)) = chunks::get(pages, key)? else { return Ok(None) };
    Memory::decode(key.as_slice(), number, &body).map(Some)
}

/// Stores a memory where its state belongs.
pub fn put(pages: &mut impl PagesMut, partition: Partition, memory: &Memory) -> Result<()> {
    let key = match memory.ending {
        None => current_key(partition, memory.number),
        Some(_) => history_key(partition, memory.number, memory.revision),
    };
    chunks::put(pages, key, SCHEMA, Codec::MessagePack, &memory.encode())
}

/// Takes a memory out of what is current.
pub fn remove_current(pages: &mut impl PagesMut, partition: Partition, number: u32) -> Result<bool> {
    chunks::remove(pages, current_key(partition, number))
}

/// The revisions of one memory that are not current any more, oldest first.
pub fn history<P: Pages + ?Sized>(pages: &P, partition: Partition, number: u32) -> Result<Vec<Memory>> {
    let mut found = Vec::new();
    walk(pages, &Key::new(partition, Table::History).u32(number).prefix_range(), 5, &mut |memory| {
        found.push(memory);
        ControlFlow::Continue(())
    })?;
    Ok(found)
}

/// Every revision of the scope that is not current any more, until `visit` breaks.
pub fn each_ended<P: Pages + ?Sized>(pages: &P, partition: Partition, visit: &mut dyn FnMut(Memory) -> ControlFlow<()>) -> Result<()> {
    walk(pages, &Key::new(partition, Table::History).prefix_range(), 5, visit)
}

/// The body of each of them.
pub(super) fn each_ended_body<P: Pages + ?Sized>(pages: &P, partition: Partition, visit: &mut Visit<'_>) -> Result<()> {
    walk_bodies(pages, &Key::new(partition, Table::History).prefix_range(), 5, visit)
}

/// The current memories from number `first` on, in the order of their numbers, until `visit` breaks.
pub fn each_current<P: Pages + ?Sized>(
    pages: &P,
    partition: Partition,
    first: u32,
    visit: &mut dyn FnMut(Memory) -> ControlFlow<()>,
) -> Result<()> {
    let mut range = Key::new(partition, Table::Memory).prefix_range();
    range.start = current_key(partition, first).as_slice().to_vec();
    walk(pages, &range, 5, visit)
}

fn walk<P: Pages + ?Sized>(
    pages: &P,
    range: &std::ops::Range<Vec<u8>>,
    at: usize,
    visit: &mut dyn FnMut(Memory) -> ControlFlow<()>,
) -> Result<()> {
    walk_bodies(pages, range, at, &mut |key, number, body| Ok(visit(Memory::decode(key, number, body)?)))
}

/// A function that is called with the key of a body, its number and itself.
pub(super) type Visit<'v> = dyn FnMut(&[u8], u32, &[u8]) -> Result<ControlFlow<()>> + 'v;

/// Visits every body in a range of keys with its number, which stands at `at` of the key.
fn walk_bodies<P: Pages + ?Sized>(pages: &P, range: &std::ops::Range<Vec<u8>>, at: usize, visit: &mut Visit<'_>) -> Result<()> {
    pages.scan(&range.start, &range.end, &mut |key, value| {
        let (prefix, chunk) = key.split_at(key.len().saturating_sub(2));
        if chunk != [0, 0] {
            return Ok(ControlFlow::Continue(()));
        }
        let number = u32_at(key, at).ok_or_else(|| damaged(key, "its key is too short for a memory"))?;
        let first = envelope::open(key, value)?;
        let (_, body) = chunks::join(pages, Key::from_slice(prefix)?, first)?;
        visit(key, number, &body)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::pages::MemoryPages;

    fn memory(text: &str) -> Memory {
        let body = |text: &str| {
            let mut body = Writer::array(3);
            body.nil();
            body.text(text);
            body.uint(Kind::Semantic as u64);
            body.into_bytes()
        };
        Memory::decode(b"key", 7, &body(text)).unwrap()
    }

    #[test]
    fn a_record_has_the_tokens_of_its_text_and_of_no_other() {
        for text in ["Anna works at Acme.", "port 8443", "\u{1f600} \u{41a}\u{442}\u{43e}", ""] {
            let body = memory(text).encode();
            let (back, tokens) = Memory::decode_with_tokens(b"key", 7, &body).unwrap();
            assert_eq!(back, memory(text));
            assert_eq!(tokens, KeptTokens::of(text).tokens(), "{text}");
        }
        let forgotten = Memory { text: String::new(), ..memory("Anna works at Acme.") };
        assert!(Memory::decode_with_tokens(b"key", 7, &forgotten.encode()).unwrap().1 == Tokens::default());
    }

    #[test]
    fn a_generated_id_has_its_number() {
        for number in [0, 7, 10, 4_711, u32::MAX] {
            assert_eq!(number_in(&generated_id(number)), Some(number));
        }
        assert_eq!((number_in("mem-07"), number_in("mem-"), number_in("x-7")), (None, None, None));
    }

    #[test]
    fn older_records_are_told_and_stored_anew() {
        let (mut pages, key) = (MemoryPages::new(), current_key(3, 7));
        let mut older = Writer::array(2);
        older.nil();
        older.text("Anna works at Acme.");
        chunks::put(&mut pages, key, SCHEMA, Codec::MessagePack, older.bytes()).unwrap();
        assert_eq!(without_tokens(&pages, 3, 0, 9).unwrap(), [7]);
        let tokens = |pages: &MemoryPages| {
            let body = body(pages, 3, 7).unwrap().unwrap();
            let tokens = Memory::decode_with_tokens(b"key", 7, &body).unwrap().1;
            KeptTokens { distinct: tokens.distinct.to_vec(), repeats: tokens.repeats.to_vec() }
        };
        assert_eq!(tokens(&pages), KeptTokens::default());
        assert!(rewrite(&mut pages, 3, 7).unwrap() && !rewrite(&mut pages, 3, 8).unwrap());
        assert!(without_tokens(&pages, 3, 0, 9).unwrap().is_empty());
        assert_eq!(current(&pages, 3, 7).unwrap().unwrap().text, "Anna works at Acme.");
        assert_eq!(tokens(&pages), KeptTokens::of("Anna works at Acme."));
    }
}
