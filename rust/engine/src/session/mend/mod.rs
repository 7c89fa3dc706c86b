//! Sessions of a repaired store: what is left of each can be read, searched, prompted, compacted and deleted.
//!
//! | lost | what stands there instead |
//! |---|---|
//! | a message, or a blob that it has | a message of the role and the calls that its neighbours need, without a text: see [`stand_in`] |
//! | where a turn begins | what its messages say; a block that stayed in it is no longer shown |
//! | names, counters, ids, words, rows, vectors, counts of references | they are made anew of the messages |
//!
//! A session whose record or newest epoch is lost stays as it is, and every call of it says so. Nothing tells which model it had.

mod found_by;
mod stand_in;

use std::collections::BTreeSet;

use super::key::{SessionKey, SessionsHead};
use super::ledger::Call;
use super::record::{self, SessionRecord, SessionState};
use super::transcript::message::{MessageRecord, MessageState};
use super::transcript::view::TurnRecord;
use super::writer::{KnownId, put_id};
use super::{doctor, key};
use crate::audit::Report;
use crate::memory::doctor::numbers_in;
use crate::scope::Scope;
use crate::store::chunks;
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table};
use crate::store::pages::{Pages, PagesMut};
use crate::{ErrorKind, Result};

pub(crate) use found_by::{PAGE, documents, find_anew, forget_words, recount_blobs};

/// Indexes of lost messages that are named; the others are counted.
const NAMED: usize = 20;

/// Whether anything of a scope's sessions contradicts itself; what, in a sentence.
pub(crate) fn damage<P: Pages>(pages: &P, partition: Partition, seed: Seed) -> Result<Option<String>> {
    let mut report = Report::default();
    doctor::check(pages, &mut report, partition, seed)?;
    let count = report.findings.len() as u64 + report.more_findings;
    Ok(report.lines().into_iter().next().map(|first| format!("{count} contradictions of sessions, such as: {first}")))
}

/// The sessions of a scope.
pub(crate) fn sessions<P: Pages>(pages: &P, partition: Partition) -> Result<BTreeSet<u32>> {
    Ok(numbers_in(pages, partition, Table::Transcript)?.into_iter().map(|(session, _)| session).collect())
}

/// Mends one session; the loss, in a sentence.
pub(crate) fn mend<P: PagesMut>(pages: &mut P, scope: &Scope, place: SessionKey) -> Result<Option<String>> {
    let seed = scope.seed(pages.secret());
    let number = place.session;
    let Some(session) = readable(SessionRecord::read(&*pages, place))?.flatten() else {
        chunks::clear(pages, place.record())?;
        return Ok(Some(format!("the record of session {number}: none of its messages can be read without it")));
    };
    if session.state != SessionState::Hidden {
        record::name(pages, place, seed, &session.id)?;
    }
    let mut lost = BTreeSet::new();
    for index in 0..session.tally.messages {
        let message = MessageRecord::expect(&*pages, place, index);
        if readable(message.and_then(|record| record.whole(&*pages, place)))?.is_none() {
            chunks::clear(pages, place.message(index))?;
            lost.insert(index);
        }
    }
    turns(pages, place, &session)?;
    if !lost.is_empty() {
        stand_in::place(pages, scope, place, &lost)?;
    }
    ids(pages, place, seed, &session, &lost)?;
    if lost.is_empty() {
        return Ok(None);
    }
    let named: Vec<String> = lost.iter().take(NAMED).map(u64::to_string).collect();
    let more = if lost.len() > NAMED { format!(" and {} more", lost.len() - NAMED) } else { String::new() };
    Ok(Some(format!("messages {}{more} of session {:?}", named.join(", "), session.id)))
}

/// The value, and none where it is lost.
fn readable<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::StoreCorrupt => Ok(None),
        Err(error) => Err(error),
    }
}

/// Says again where turns begin, and shows no block of a call that is lost.
fn turns<P: PagesMut>(pages: &mut P, place: SessionKey, session: &SessionRecord) -> Result<()> {
    for turn in 0..session.tally.turns {
        let known = readable(TurnRecord::read(&*pages, place, turn))?;
        if let Some(known) = known {
            let call = known.kept.map(|call| readable(Call::read(&*pages, place, turn, call))).transpose()?;
            if call.is_some_and(|call| call.is_none()) {
                TurnRecord { kept: None, ..known }.write(pages, place, turn)?;
            }
            continue;
        }
        for index in 0..session.tally.messages {
            let placed = readable(MessageRecord::brief_at(&*pages, place, index))?.map(|brief| brief.placed);
            if placed.is_some_and(|placed| placed.opens_turn && placed.turn == turn) {
                TurnRecord { start: index, kept: None }.write(pages, place, turn)?;
                break;
            }
        }
    }
    Ok(())
}

/// Makes the ids of messages and responses anew. Those of lost messages may be given again.
fn ids<P: PagesMut>(pages: &mut P, place: SessionKey, seed: Seed, session: &SessionRecord, lost: &BTreeSet<u64>) -> Result<()> {
    chunks::clear(pages, place.all(Table::MessageId))?;
    for index in 0..session.tally.messages {
        let record = MessageRecord::expect(&*pages, place, index)?;
        if let Some(id) = &record.id {
            let gone = record.state == MessageState::Redacted;
            put_id(pages, place, seed, id, KnownId { index, request: record.request, gone })?;
        }
    }
    for turn in 0..session.tally.turns {
        for mut call in readable(Call::of_turn(&*pages, place, turn))?.unwrap_or_default() {
            if lost.contains(&call.reply) {
                call.forget_reply(pages, place, seed)?;
                call.write(pages, place, turn)?;
            }
            call.put_name(pages, place, seed)?;
        }
    }
    Ok(())
}

/// Names lead to sessions that are there, and the counters are above every number that was given.
pub(crate) fn heads<P: PagesMut>(pages: &mut P, partition: Partition, seed: Seed, newest_document: u32) -> Result<()> {
    let (range, mut names) = (Key::new(partition, Table::SessionByName).prefix_range(), Vec::new());
    pages.scan(&range.start, &range.end, &mut |key, _| {
        names.push(key.to_vec());
        Ok(std::ops::ControlFlow::Continue(()))
    })?;
    let (mut named, mut newest) = (BTreeSet::new(), 0);
    for session in sessions(&*pages, partition)? {
        newest = newest.max(session);
        let place = SessionKey { partition, session };
        if let Some(record) = SessionRecord::read(&*pages, place)?.filter(|record| record.state != SessionState::Hidden) {
            named.insert(key::by_name(partition, seed, &record.id).as_slice().to_vec());
        }
    }
    for name in names.iter().filter(|name| !named.contains(*name)) {
        pages.delete(name)?;
    }
    let head = readable(SessionsHead::read(&*pages, partition))?.unwrap_or_default();
    let head = SessionsHead { sessions: head.sessions.max(newest), last_document: head.last_document.max(newest_document) };
    if head == SessionsHead::default() { Ok(()) } else { head.write(pages, partition) }
}
