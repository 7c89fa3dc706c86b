//! Checks one session: its messages in a row, its epochs, and the values of each message that are stored elsewhere too.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ledger;
use super::sums::{self, Sums};
use super::{BESIDE, Visit, numbers};
use crate::context::Stored;
use crate::session::key::{RECORD, SessionKey};
use crate::session::notes;
use crate::session::policy::Policy;
use crate::session::record::{SessionRecord, SessionState};
use crate::session::stored_epoch::StoredEpoch;
use crate::session::summary::{self, StoredSummary};
use crate::session::transcript::message::{MessageRecord, MessageState};
use crate::session::transcript::words::text_of;
use crate::session::writer::KnownId;
use crate::store::chunks;
use crate::store::keys::Table;
use crate::store::pages::Pages;
use crate::{ErrorKind, Result};

/// The facts in a session's messages about its other tables.
#[derive(Default)]
pub(super) struct Expected {
    /// Where turns begin.
    pub starts: Vec<u64>,
    /// By turn and call, the reply.
    pub replies: BTreeMap<(u64, u16), u64>,
    /// By key, the message that has an id.
    pub ids: BTreeMap<Vec<u8>, KnownId>,
}

/// Checks one session.
pub(super) fn check<P: Pages>(visit: &mut Visit<'_, P>, place: SessionKey, record: SessionRecord) -> Result<()> {
    let epochs = epochs(visit, place, &record)?;
    let hidden = record.state == SessionState::Hidden;
    let mut one = One { visit, place, record, expected: Expected::default() };
    let indices = one.indices()?;
    if hidden {
        return indices.into_iter().try_for_each(|index| one.message(index).map(drop));
    }
    one.transcript(&epochs, &indices)?;
    one.summaries(&epochs)?;
    one.beside()?;
    ledger::check(one.visit, place, &one.record, one.expected)
}

struct One<'o, 'v, P> {
    visit: &'o mut Visit<'v, P>,
    place: SessionKey,
    record: SessionRecord,
    expected: Expected,
}

/// Reads every epoch, which must be numbered in a row up to that of the record. None where this process cannot count for a model of
/// the session, because a caller's file defines its tokenizer.
fn epochs<P: Pages>(visit: &mut Visit<'_, P>, place: SessionKey, record: &SessionRecord) -> Result<Vec<StoredEpoch>> {
    let (session, hidden) = (place.session, record.state == SessionState::Hidden);
    let found = numbers(visit.pages, place.all(Table::Epoch), true)?;
    if !hidden && !(0..=record.epoch).eq(found.iter().map(|number| u64::from(*number))) {
        visit.note("epoch", format!("session {session} is in epoch {}, and those stored are not the ones from 0 to it", record.epoch));
    }
    let mut epochs: Vec<StoredEpoch> = Vec::with_capacity(found.len());
    let mut uncounted = false;
    for number in found {
        let texts = StoredEpoch::texts(visit.pages, place, number.into());
        for text in visit.read("epoch", texts)?.unwrap_or_default() {
            visit.references.add(text.hash, text.length);
        }
        let epoch = StoredEpoch::read(visit.pages, place, number.into());
        uncounted |= epoch.as_ref().is_err_and(|error| error.kind() == ErrorKind::InvalidInput);
        if uncounted {
            continue;
        }
        let Some(epoch) = visit.read("epoch", epoch)? else { continue };
        let before = epochs.last().map_or((i64::MIN, 0), |epoch| (epoch.began_at, epoch.switch));
        if epoch.epoch.number != u64::from(number) || before > (epoch.began_at, u16::MAX) || before.1 > epoch.switch {
            let what = format!("epoch {number} of session {session} says that it is epoch {} of {}", epoch.epoch.number, epoch.began_at);
            visit.note("epoch", what);
        }
        epochs.push(epoch);
    }
    Ok(if uncounted { Vec::new() } else { epochs })
}

impl<P: Pages> One<'_, '_, P> {
    fn note(&mut self, part: &'static str, what: &str) {
        self.visit.note(part, format!("{what} (session {}, {:?})", self.place.session, self.record.id));
    }

    /// Messages are numbered without a gap from 0, and there are as many as the record says; those of them that are there.
    fn indices(&mut self) -> Result<Vec<u64>> {
        let found = numbers(self.visit.pages, self.place.all(Table::Transcript), true)?;
        let messages = self.record.tally.messages;
        let found = found.into_iter().filter(|index| *index != RECORD).map(u64::from);
        let (own, surplus): (Vec<u64>, Vec<u64>) = found.partition(|index| *index < messages);
        if !surplus.is_empty() {
            self.note("message", &format!("{} messages stand behind the {messages} that it counts", surplus.len()));
        }
        if own.len() as u64 != messages {
            self.note("message", &format!("it counts {messages} messages, and {} of them are there", own.len()));
        }
        Ok(own)
    }

    /// Reads a message whole and takes what is its own: blobs, words. `None` where something of it is damaged.
    fn message(&mut self, index: u64) -> Result<Option<(MessageRecord, Arc<Stored>)>> {
        let record = MessageRecord::expect(self.visit.pages, self.place, index);
        let Some(record) = self.visit.read("message", record)? else { return Ok(None) };
        self.visit.report.messages += 1;
        self.own(&record);
        for hole in &record.holes {
            self.visit.references.add(hole.hash, hole.length);
        }
        let given = record.given(self.visit.pages, self.place);
        let Some(given) = self.visit.read("message", given)? else { return Ok(None) };
        let message = record.parse(&given);
        let Some(message) = self.visit.read("message", message)? else { return Ok(None) };
        let text = text_of(&message);
        let findable = record.state == MessageState::Given && !text.trim().is_empty();
        if findable != (record.document != 0) {
            self.note("document", &format!("message {index} has words, or none, and is document {}", record.document));
        }
        if record.document != 0 {
            self.visit.findable(self.place, index, record.document, &message, record.author.as_deref());
        }
        let stored = record.stored(self.visit.pages, self.place);
        let Some(stored) = self.visit.read("message", stored)? else { return Ok(None) };
        if stored.message.digest() != record.digest {
            self.note("message", &format!("message {index} is not the one whose digest it has"));
        }
        Ok(Some((record, stored)))
    }

    fn transcript(&mut self, epochs: &[StoredEpoch], indices: &[u64]) -> Result<()> {
        let pages = self.visit.pages;
        let mut sums = sums::of_models(pages, self.place, &self.record, epochs);
        if indices.len() as u64 != self.record.tally.messages {
            sums.iter_mut().for_each(Sums::skip);
        }
        for &index in indices {
            let Some((record, stored)) = self.message(index)? else {
                sums.iter_mut().for_each(Sums::skip);
                continue;
            };
            for sums in &mut sums {
                let found = self.visit.read("tokens", sums.push(&record, &stored))?;
                for (part, what) in found.unwrap_or_default() {
                    self.note(part, &format!("message {index}: {what}"));
                }
            }
        }
        let found: Vec<String> = sums.into_iter().flat_map(|sums| sums.finish(&self.record.tally)).collect();
        for what in &found {
            self.note("session", what);
        }
        if let Some(epoch) = epochs.last() {
            self.window(epoch);
        }
        Ok(())
    }

    /// The facts in a message about itself.
    fn own(&mut self, record: &MessageRecord) {
        let index = record.placed.index;
        if record.placed.opens_turn {
            self.expected.starts.push(index);
        }
        if let Some(call) = record.call {
            self.expected.replies.insert((record.placed.turn, call), index);
        }
        if let Some(id) = &record.id {
            let known = KnownId { index, request: record.request, gone: record.state == MessageState::Redacted };
            self.expected.ids.insert(self.place.id(self.visit.seed, id).as_slice().to_vec(), known);
        }
        if self.record.state != SessionState::Hidden && record.added_at > self.record.last_time {
            self.note("message", &format!("message {index} was added after the last write"));
        }
    }

    /// Every summary can be read and covers messages that are there; that of the newest epoch is one of them.
    fn summaries(&mut self, epochs: &[StoredEpoch]) -> Result<()> {
        let (messages, place) = (self.record.tally.messages, self.place);
        let versions = self.visit.read("summary", summary::versions(self.visit.pages, place))?.unwrap_or_default();
        for version in &versions {
            let stored = StoredSummary::read(self.visit.pages, place, *version);
            let Some(Some(stored)) = self.visit.read("summary", stored)? else { continue };
            let covers = &stored.summary.covers;
            let outside =
                stored.summary.lines.iter().any(|line| line.sources.is_empty() || line.sources.iter().any(|at| !covers.contains(at)));
            if covers.end > messages || covers.start > covers.end || outside {
                self.note("summary", &format!("summary {version} covers messages {covers:?} of {messages}, or has a line of another"));
            }
        }
        let shown = epochs.last().map_or(0, |epoch| epoch.epoch.summary_version);
        if shown > 0 && !versions.contains(&shown) {
            self.note("summary", &format!("its epoch shows summary {shown}, which is not there"));
        }
        Ok(())
    }

    /// Values beside the messages have all their parts, and say what such a value can say.
    fn beside(&mut self) -> Result<()> {
        let (pages, place) = (self.visit.pages, self.place);
        for table in BESIDE {
            let broken = chunks::broken(pages, place.all(table), |pages, key| Ok(chunks::get(pages, key)?.is_some()))?;
            if !broken.is_empty() {
                self.note("session", &format!("{} values of its {table:?} table are not whole", broken.len()));
            }
        }
        let notes = notes::list(pages, place);
        self.visit.read("note", notes)?;
        let policy = Policy::read(pages, place);
        self.visit.read("policy", policy)?;
        Ok(())
    }

    /// The newest epoch's window begins within the transcript.
    fn window(&mut self, epoch: &StoredEpoch) {
        let (messages, start) = (self.record.tally.messages, epoch.epoch.cut.start);
        if epoch.epoch.origin > messages || start > messages {
            self.note("epoch", &format!("its window begins at message {start}, and it has {messages}"));
        }
    }
}
