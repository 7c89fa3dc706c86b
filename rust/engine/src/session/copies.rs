//! The copies of a message: what forks of its session have of it, and the session that this one is a fork of.
//!
//! A fork copies messages to the places that they had, and names the session that each was said in. So the copies of a message stand at one
//! index in sessions that name one session for it, with its times, its id and its text. That session may be deleted, or another of its id.

use super::key::{SessionKey, SessionsHead};
use super::record::{self, SessionRecord, SessionState};
use super::transcript::message::{MessageRecord, MessageState};
use super::writer::SessionWriter;
use crate::Result;
use crate::scope::Scope;
use crate::store::identity::Seed;
use crate::store::pages::{Pages, PagesMut};

/// Takes the text out of a message and of each of its copies; `false` where none had it any more. Costs a look at every session of the scope.
pub(super) fn redact<P: PagesMut>(pages: &mut P, scope: &Scope, id: &str, index: u64, reason: Option<&str>, now: i64) -> Result<bool> {
    let (own, record) = record::find_in(&*pages, scope, id)?.ok_or_else(|| record::no_such_session(id))?;
    let mut done = false;
    let seed = scope.seed(pages.secret());
    for place in of(&*pages, own, seed, &record, index)? {
        let mut writer = SessionWriter::at(pages, scope, place, now)?;
        let was_there = writer.redact(index, reason)?;
        if was_there || place == own {
            writer.finish()?;
        }
        done |= was_there;
    }
    Ok(done)
}

/// A session that may have messages of another one.
pub(super) type Relative = (SessionKey, SessionRecord);

/// The id of the first of these sessions that has a message of this one.
pub(super) fn elsewhere<P: Pages>(
    pages: &P,
    (own, record): (SessionKey, &SessionRecord),
    relatives: &[Relative],
    index: u64,
) -> Result<Option<String>> {
    let Some(message) = MessageRecord::read(pages, own, index)?.filter(|_| index < record.tally.messages) else { return Ok(None) };
    for (place, other) in relatives {
        if has(pages, (*place, other), index, said_in(record, index), &message)? {
            return Ok(Some(other.id.clone()));
        }
    }
    Ok(None)
}

/// The sessions that may have messages of this one: one is a fork of the other, or both are of a third. Hidden ones are left out: a fork that
/// is not whole yet ends as soon as the session that it copies is changed. Costs a look at every session of the scope, and decodes forks alone.
pub(super) fn relatives<P: Pages>(pages: &P, own: SessionKey, seed: Seed, record: &SessionRecord) -> Result<Vec<Relative>> {
    let names =
        |of: &SessionRecord| -> Vec<String> { of.origins.iter().map(|origin| origin.session.clone()).chain([of.id.clone()]).collect() };
    let (own_names, mut relatives) = (names(record), Vec::new());
    for session in 1..=SessionsHead::read(pages, own.partition)?.sessions {
        let place = SessionKey { session, ..own };
        let Some(other) = SessionRecord::read_fork(pages, place)?.filter(|other| place != own && other.state != SessionState::Hidden)
        else {
            continue;
        };
        if names(&other).iter().any(|name| own_names.contains(name)) {
            relatives.push((place, other));
        }
    }
    for origin in &record.origins {
        let found = record::find(pages, own.partition, seed, &origin.session)?;
        relatives.extend(found.filter(|(place, other)| *place != own && other.origins.is_empty()));
    }
    Ok(relatives)
}

/// Whether another session has a message that was said in a session.
fn has<P: Pages>(
    pages: &P,
    (place, other): (SessionKey, &SessionRecord),
    index: u64,
    said_in: &str,
    message: &MessageRecord,
) -> Result<bool> {
    let may_have_it = index < other.tally.messages && self::said_in(other, index) == said_in;
    Ok(may_have_it && MessageRecord::read(pages, place, index)?.is_some_and(|copy| is_same(&copy, message)))
}

/// When a message was added that a session has from another one; `None` of its own.
pub(super) fn added_at<P: Pages>(pages: &P, own: SessionKey, record: &SessionRecord, index: u64) -> Result<Option<i64>> {
    if record.origin_of(index).is_none() {
        return Ok(None);
    }
    Ok(MessageRecord::read(pages, own, index)?.map(|message| message.added_at))
}

/// The sessions that have a message, the given one first.
fn of<P: Pages>(pages: &P, own: SessionKey, seed: Seed, record: &SessionRecord, index: u64) -> Result<Vec<SessionKey>> {
    let mut places = vec![own];
    let Some(message) = MessageRecord::read(pages, own, index)?.filter(|_| index < record.tally.messages) else { return Ok(places) };
    for (place, other) in relatives(pages, own, seed, record)? {
        if has(pages, (place, &other), index, said_in(record, index), &message)? {
            places.push(place);
        }
    }
    Ok(places)
}

/// The id of the session that a message was said in.
fn said_in(record: &SessionRecord, index: u64) -> &str {
    record.origin_of(index).unwrap_or(&record.id)
}

/// Whether two messages of one place are one. Of a redacted one no text is known.
pub(super) fn is_same(a: &MessageRecord, b: &MessageRecord) -> bool {
    let marks = |one: &'_ MessageRecord| (one.added_at, one.created_at, one.id.clone());
    let are_given = a.state == MessageState::Given && b.state == MessageState::Given;
    marks(a) == marks(b) && (!are_given || a.request == b.request)
}
