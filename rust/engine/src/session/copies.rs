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
use crate::store::pages::{Pages, PagesMut};

/// Takes the text out of a message and of each of its copies; `false` where none had it any more. Costs a look at every session of the scope.
pub(super) fn redact<P: PagesMut>(pages: &mut P, scope: &Scope, id: &str, index: u64, reason: Option<&str>, now: i64) -> Result<bool> {
    let (own, record) = record::find_in(&*pages, scope, id)?.ok_or_else(|| record::no_such_session(id))?;
    let mut done = false;
    for place in of(&*pages, own, &record, index)? {
        let mut writer = SessionWriter::at(pages, scope, place, now)?;
        let was_there = writer.redact(index, reason)?;
        if was_there || place == own {
            writer.finish()?;
        }
        done |= was_there;
    }
    Ok(done)
}

/// The id of another session that has a message of this one.
pub(super) fn elsewhere<P: Pages>(pages: &P, own: SessionKey, record: &SessionRecord, index: u64) -> Result<Option<String>> {
    let Some(place) = of(pages, own, record, index)?.into_iter().nth(1) else { return Ok(None) };
    Ok(SessionRecord::read(pages, place)?.map(|other| other.id))
}

/// When a message was added that a session has from another one; `None` of its own.
pub(super) fn added_at<P: Pages>(pages: &P, own: SessionKey, record: &SessionRecord, index: u64) -> Result<Option<i64>> {
    if record.origin_of(index).is_none() {
        return Ok(None);
    }
    Ok(MessageRecord::read(pages, own, index)?.map(|message| message.added_at))
}

/// The sessions that have a message, the given one first. Hidden ones are left out: a fork that is not whole yet ends as soon as the session
/// that it copies is changed.
fn of<P: Pages>(pages: &P, own: SessionKey, record: &SessionRecord, index: u64) -> Result<Vec<SessionKey>> {
    let mut places = vec![own];
    let Some(message) = MessageRecord::read(pages, own, index)?.filter(|_| index < record.tally.messages) else { return Ok(places) };
    let said_in = said_in(record, index);
    for session in 1..=SessionsHead::read(pages, own.partition)?.sessions {
        let place = SessionKey { session, ..own };
        let Some(other) = SessionRecord::read(pages, place)?.filter(|_| place != own) else { continue };
        let may_have_it = other.state != SessionState::Hidden && index < other.tally.messages && self::said_in(&other, index) == said_in;
        if may_have_it && MessageRecord::read(pages, place, index)?.is_some_and(|copy| is_same(&copy, &message)) {
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
