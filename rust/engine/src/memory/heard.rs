//! Claims that were heard already: how far a session was learnt from, and which claims said again what a memory says.
//!
//! A session whose messages changed is read again from its beginning. Its claims are known by their ids, which come from the message and the
//! place in it. A claim that became no memory of its own has its id here. Else somebody who said a thing twice and had it forgotten would
//! find it learnt again from the second time.

use xxhash_rust::xxh3::xxh3_128;

use crate::Result;
use crate::store::envelope::{self, Codec};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};

/// How far a session was learnt from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LearnMark {
    /// The first message that was not read.
    pub next: u64,
    /// The session's count of changes then: after a change it is read again.
    pub edits: u64,
    /// When the session was made: another one of the same id is read from its beginning.
    pub created_at: i64,
}

impl LearnMark {
    /// Where reading goes on in a session that is now as `now` says: at its beginning where it changed since, or is another one.
    #[must_use]
    pub fn continued(&self, now: &Self) -> u64 {
        let is_same = (self.edits, self.created_at) == (now.edits, now.created_at);
        if is_same { self.next.min(now.next) } else { 0 }
    }
}

fn mark_key(partition: Partition, seed: Seed, session: &str) -> Key {
    Key::new(partition, Table::LearnMark).u128(seed.hash128(session.as_bytes()))
}

/// How far that session was learnt from; the beginning where it never was.
pub fn mark<P: Pages + ?Sized>(pages: &P, partition: Partition, seed: Seed, session: &str) -> Result<LearnMark> {
    let key = mark_key(partition, seed, session);
    let Some(value) = pages.get(key.as_slice())? else { return Ok(LearnMark::default()) };
    let mut r = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
    Ok(LearnMark { next: r.uint()?, edits: r.uint()?, created_at: r.int()? })
}

/// Says how far that session was learnt from.
pub fn put_mark(pages: &mut impl PagesMut, partition: Partition, seed: Seed, session: &str, mark: LearnMark) -> Result<()> {
    let key = mark_key(partition, seed, session);
    let mut body = Writer::array(3);
    body.uint(mark.next);
    body.uint(mark.edits);
    body.int(mark.created_at);
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, body.bytes()))
}

/// Says of a session that a message of it taught something, though it was not read so far. It is read from its beginning then.
pub(super) fn reach(pages: &mut impl PagesMut, partition: Partition, seed: Seed, session: &str, message: u64) -> Result<()> {
    if mark(&*pages, partition, seed, session)?.next > message {
        return Ok(());
    }
    // No session has so many changes.
    put_mark(pages, partition, seed, session, LearnMark { next: message + 1, edits: i64::MAX as u64, created_at: 0 })
}

/// Forgets how far a session was learnt from: it is deleted.
pub fn drop_mark(pages: &mut impl PagesMut, partition: Partition, seed: Seed, session: &str) -> Result<()> {
    pages.delete(mark_key(partition, seed, session).as_slice()).map(drop)
}

/// The key of a claim. Its id is a hash of the message and the place already, so that it needs no seed, and stays where the store gets one.
fn again_key(partition: Partition, id: &str) -> Key {
    Key::new(partition, Table::SaidAgain).u128(xxh3_128(id.as_bytes()))
}

/// The number of the memory that the claim of that id said again, where it became none of its own.
pub(super) fn again<P: Pages + ?Sized>(pages: &P, partition: Partition, id: &str) -> Result<Option<u32>> {
    let key = again_key(partition, id);
    pages.get(key.as_slice())?.map(|value| read_again(key.as_slice(), value)).transpose()
}

/// The number in such a value.
pub(super) fn read_again(key: &[u8], value: &[u8]) -> Result<u32> {
    Ok(Reader::array(key, envelope::open(key, value)?.body)?.uint()? as u32)
}

/// Says that the claim of that id said a memory again.
pub(super) fn put_again(pages: &mut impl PagesMut, partition: Partition, id: &str, number: u32) -> Result<()> {
    let key = again_key(partition, id);
    let mut body = Writer::array(1);
    body.uint(u64::from(number));
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, body.bytes()))
}
