//! Sessions of a repaired store: what is left of each can be read, searched, prompted, compacted and deleted.
//!
//! | lost | what stands there instead |
//! |---|---|
//! | a message, or a blob that it has | a message of the role and the calls that its neighbours need, without a text: see [`stand_in`] |
//! | a call of the ledger | one that was sent nothing and cost nothing: see [`calls`] |
//! | where a turn begins | what its messages say; the block of the call that fits their sums stays in it |
//! | an epoch, or a text that it shows | the epoch before or behind it; prompts go on without the text |
//! | a count that a switch of models made | it is made again |
//! | names, counters, ids, words, rows, vectors, counts of references | they are made anew of the messages |
//!
//! A session whose record is lost, or every one of whose epochs, is taken out: nothing else tells its id, or which model it had. The
//! report of the repair says so, and the damaged store still has what it said.

pub(crate) mod blobs;
mod calls;
mod epochs;
mod found_by;
mod recounts;
mod stand_in;
mod turns;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use super::key::{SaidOrder, SessionKey, SessionsHead};
use super::ledger::Call;
use super::record::{self, SessionRecord, SessionState};
use super::transcript::message::{MessageRecord, MessageState};
use super::writer::{KnownId, put_id};
use super::{doctor, key, task};
use crate::audit::Report;
use crate::memory::doctor::numbers_in;
use crate::scope::Scope;
use crate::store::chunks;
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table, u32_at};
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

/// The sessions of a scope that have a value.
pub(crate) fn sessions<P: Pages>(pages: &P, partition: Partition) -> Result<BTreeSet<u32>> {
    let mut found = BTreeSet::new();
    for table in doctor::PARTS {
        let range = Key::new(partition, table).prefix_range();
        pages.scan(&range.start, &range.end, &mut |key, _| {
            found.extend(u32_at(key, 5));
            Ok(ControlFlow::Continue(()))
        })?;
    }
    Ok(found)
}

/// Mends one session; the loss, in a sentence.
pub(crate) fn mend<P: PagesMut>(pages: &mut P, scope: &Scope, place: SessionKey) -> Result<Option<String>> {
    let seed = scope.seed(pages.secret());
    let Some(session) = readable(SessionRecord::read(&*pages, place))?.flatten() else {
        return clear(pages, place)
            .map(|messages| Some(format!("the record of session {}, and with it {messages} messages", place.session)));
    };
    let id = &session.id;
    let hidden = session.state == SessionState::Hidden;
    let broken = broken(pages, place)?;
    let epochs = match epochs::mend(pages, place, &session)? {
        Some(epochs) => epochs,
        None if hidden => epochs::Mended::default(),
        None => {
            return clear(pages, place).map(|messages| Some(format!("the epochs of session {id:?}, and with them {messages} messages")));
        }
    };
    if !hidden {
        record::name(pages, place, seed, id)?;
    }
    let lost = lost(pages, place, &session)?;
    let calls = calls::stand_in(pages, place, &session)?;
    turns::mend(pages, place, &session)?;
    recounts::mend(pages, place, &session)?;
    let block_is_gone = calls::drop_blocks(pages, place, &session)?;
    if !lost.is_empty() {
        stand_in::place(pages, scope, place, &lost)?;
    }
    if epochs.newest_is_lost && !hidden {
        recounts::sums(pages, place, &session)?;
    }
    if (block_is_gone || epochs.texts_are_lost || epochs.newest_is_lost) && !hidden {
        calls::count_anew(pages, scope, place)?;
    }
    ids(pages, place, seed, &session, &lost)?;
    tasks(pages, place, seed)?;
    let mut said = epochs.lost;
    said.extend((calls > 0).then(|| format!("what {calls} calls were sent and cost")));
    said.extend((broken > 0).then(|| format!("{broken} of its tasks, notes, summaries, unfinished replies and metadata")));
    said.extend(named(&lost));
    Ok((!said.is_empty()).then(|| format!("{} of session {id:?}", said.join(", and "))))
}

/// Takes a session out of which nothing can be read; the messages that it had.
fn clear<P: PagesMut>(pages: &mut P, place: SessionKey) -> Result<u64> {
    let messages = numbers_in(&*pages, place.partition, Table::Transcript)?;
    for table in doctor::PARTS {
        chunks::clear(pages, place.all(table))?;
    }
    Ok(messages.into_iter().filter(|(session, index)| *session == place.session && *index != u32::MAX).count() as u64)
}

/// Takes out what is left of values that stand beside the messages and are not whole; how many.
fn broken<P: PagesMut>(pages: &mut P, place: SessionKey) -> Result<usize> {
    let mut broken = 0;
    for table in doctor::BESIDE {
        broken += chunks::sift(pages, place.all(table), |pages, key| Ok(chunks::get(pages, key)?.is_some()))?.len();
    }
    Ok(broken)
}

/// Takes out what is left of messages that cannot be read; their indexes.
fn lost<P: PagesMut>(pages: &mut P, place: SessionKey, session: &SessionRecord) -> Result<BTreeSet<u64>> {
    let mut lost = BTreeSet::new();
    for index in 0..session.tally.messages {
        let message = MessageRecord::expect(&*pages, place, index);
        if readable(message.and_then(|record| record.whole(&*pages, place)))?.is_none() {
            chunks::clear(pages, place.message(index))?;
            lost.insert(index);
        }
    }
    Ok(lost)
}

fn named(lost: &BTreeSet<u64>) -> Option<String> {
    let named: Vec<String> = lost.iter().take(NAMED).map(u64::to_string).collect();
    let more = if lost.len() > NAMED { format!(" and {} more", lost.len() - NAMED) } else { String::new() };
    (!lost.is_empty()).then(|| format!("messages {}{more}", named.join(", ")))
}

/// The value, and none where it is lost.
fn readable<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.kind() == ErrorKind::StoreCorrupt => Ok(None),
        Err(error) => Err(error),
    }
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

/// Puts tasks under the hashes that their names have now.
fn tasks<P: PagesMut>(pages: &mut P, place: SessionKey, seed: Seed) -> Result<()> {
    let mut moved = Vec::new();
    task::each(&*pages, place.partition, place.session, &mut |key, task| {
        if key != task::key(place.partition, place.session, seed, &task.name) {
            moved.push((key, task));
        }
    })?;
    for (key, task) in moved {
        chunks::remove(pages, key)?;
        task::put(pages, place.partition, place.session, seed, &task)?;
    }
    Ok(())
}

/// Names lead to sessions that are there, and the counters are above every number that was given. They count no order of the messages yet:
/// [`find_anew`] does.
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
    let (sessions, last_document) = (head.sessions.max(newest), head.last_document.max(newest_document));
    let said = (last_document > 0).then_some(SaidOrder::NONE);
    let head = SessionsHead { sessions, last_document, said };
    if head == SessionsHead::default() { Ok(()) } else { head.write(pages, partition) }
}
