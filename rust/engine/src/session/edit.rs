//! Edits of a session: rewind, redact, delete. A message that is taken back leaves every index and the transcript in the same transaction,
//! which also forgets the memories that were learnt from it alone.

use std::ops::Range;

use super::copies;
use super::key::SessionKey;
use super::ledger::{self, Call};
use super::policy::Policy;
use super::record::{self, SentBlock, SessionRecord, SessionState};
use super::reply::partial;
use super::stored_epoch::StoredEpoch;
use super::summary;
use super::sweep::REMOVED;
use super::transcript::blob;
use super::transcript::message::{MessageRecord, MessageState};
use super::transcript::view::{TurnRecord, View, read_recount, write_recount};
use super::transcript::words::Words;
use super::window::recount;
use super::writer::{KnownId, SessionWriter, put_id};
use crate::Result;
use crate::context::image::Cost;
use crate::context::message::{Part, REDACTED, Role, ToolCall};
use crate::context::{Format, History, Message, Reason, Stored, Tally};
use crate::memory::forget::{self, TakenBack};
use crate::memory::heard;
use crate::scope::Head;
use crate::store::chunks;
use crate::store::identity::Seed;
use crate::store::keys::{Key, Table};
use crate::store::pages::{Pages, PagesMut};
use crate::tokens::CachedCounter;
use crate::{Error, ErrorKind};

/// Messages that one transaction takes back.
pub(super) const STEP: u64 = 256;
/// Epochs, and keys of other tables, that one transaction removes.
const KEYS: usize = 1_024;
/// The parts of a session besides its transcript, epochs and record, which are removed with it.
const OWN_TABLES: [Table; 12] = [
    Table::Call,
    Table::Turn,
    Table::Recount,
    Table::MessageId,
    Table::Task,
    Table::Summary,
    Table::SessionPolicy,
    Table::Note,
    Table::SessionMetadata,
    Table::Lease,
    Table::PartialReply,
    Table::RefusedLimit,
];

impl<P: PagesMut> SessionWriter<'_, P> {
    /// Takes back messages from the end, down to message `to` or [`STEP`] of them; says whether there are more.
    pub fn rewind_step(&mut self, to: u64) -> Result<bool> {
        let end = self.record.tally.messages;
        if to > end {
            let message = format!(
                "rewinding session {:?}: the index must be at most its {end} messages, and it is {to}: give the index of the first message to take back",
                self.record.id
            );
            return Err(Error::new(ErrorKind::NotFound, message).with("index", to as i64).with("messages", end as i64));
        }
        if to == end {
            return Ok(false);
        }
        let step = to.max(end.saturating_sub(STEP));
        self.rewind_to(step)?;
        Ok(step > to)
    }

    fn rewind_to(&mut self, at: u64) -> Result<()> {
        let before = self.tally_before(at)?;
        self.forget_said(at..u64::MAX, "its message was taken back", true)?;
        let (messages, turns) = (self.record.tally.messages, self.record.tally.turns);
        for index in (at..messages).rev() {
            remove_message(self.pages, self.place, self.seed, index, &mut self.words)?;
        }
        for turn in before.turns..turns {
            self.pages.delete(self.place.turn(turn).as_slice())?;
        }
        for turn in before.turns.saturating_sub(1)..turns {
            remove_calls(self.pages, self.place, self.seed, turn, at)?;
        }
        if let Some(newest) = before.turns.checked_sub(1) {
            let turn = TurnRecord::read(&*self.pages, self.place, newest)?;
            TurnRecord { kept: None, ..turn }.write(self.pages, self.place, newest)?;
        }
        partial::remove(self.pages, self.place)?;
        let policy = Policy::read(&*self.pages, self.place)?;
        if policy.before(at) != policy {
            policy.before(at).write(self.pages, self.place)?;
        }
        self.record.tally = before;
        self.record.origins = self.record.origins_before(at);
        self.record.sent = sent_block(&*self.pages, self.place, self.record.tally.turns, &self.epoch)?;
        self.record.edits += 1;
        self.epoch.recounted.1 = self.epoch.recounted.1.min(at);
        let whole = whole_until(&View::cold(&*self.pages, self.place, &self.record, &self.epoch), at, &self.record.tally)?;
        let covered = summary::cut_back(self.pages, self.place, whole)?;
        self.epoch.epoch.summary_version = self.epoch.epoch.summary_version.min(covered);
        let origin = self.epoch.epoch.origin;
        if origin > 0 && (at <= origin || whole < origin) {
            let model = self.epoch.model.clone();
            recount::switch(self, model, Reason::Rewound)?;
        } else {
            self.begin(Reason::Rewound, self.epoch.epoch.origin)?;
        }
        self.say_taken_back(at)
    }

    /// Says in the epoch that just began what was taken back: a prompt of an epoch before it that saw this message is not what it was. Prompts
    /// of other sessions may have recalled it.
    fn say_taken_back(&mut self, message: u64) -> Result<()> {
        Head::advance(self.pages, self.place.partition)?;
        self.epoch.taken_back = Some(message);
        self.epoch.write(self.pages, self.place)
    }

    /// The state of the transcript before message `at`.
    fn tally_before(&self, at: u64) -> Result<Tally> {
        let view = View::cold(&*self.pages, self.place, &self.record, &self.epoch);
        tally_before(&view, &self.epoch, at)
    }

    /// Takes the text out of a message; `false` where that was done before.
    pub fn redact(&mut self, index: u64, reason: Option<&str>) -> Result<bool> {
        let count = self.record.tally.messages;
        if index >= count {
            let message = format!(
                "redacting in session {:?}: the index must be below its {count} messages, and it is {index}: give one that exists",
                self.record.id
            );
            return Err(Error::new(ErrorKind::NotFound, message).with("index", index as i64).with("messages", count as i64));
        }
        let mut record = MessageRecord::expect(&*self.pages, self.place, index)?;
        if record.state == MessageState::Redacted {
            return Ok(false);
        }
        self.forget_said(index..index + 1, "its message was redacted", false)?;
        let stored = record.stored(&*self.pages, self.place)?;
        self.forget_words(&mut record)?;
        release_blobs(self.pages, self.place, &record)?;
        if let Some(id) = record.id.clone() {
            put_id(self.pages, self.place, self.seed, &id, KnownId { index, request: 0, gone: true })?;
        }
        let (framing, counter) = (self.epoch.model.framing, CachedCounter::new(self.epoch.model.encoding));
        let recounted = self.recount_of(index)?;
        let counted = recounted.map_or(stored.cost.tokens, |(cost, _)| cost.tokens);
        let bare = without_text(&stored.message, counted, |message| Stored::new(message, &framing, &counter));
        record = MessageRecord {
            cost: if recounted.is_some() { record.cost } else { bare.2.cost },
            digest: bare.2.digest,
            format: bare.1,
            state: MessageState::Redacted,
            document: 0,
            author: None,
            reason: reason.map(str::to_owned),
            request: 0,
            shown: Vec::new(),
            holes: Vec::new(),
            rest: bare.0,
            ..record
        };
        record.write(self.pages, self.place)?;
        if let Some((_, before)) = recounted {
            write_recount(self.pages, self.place, self.epoch.switch, index, bare.2.cost, before)?;
        }
        self.forget_calls(record.placed.turn, index)?;
        partial::remove(self.pages, self.place)?;
        summary::erase(self.pages, self.place, index)?;
        self.record.edits += 1;
        self.begin(Reason::Rewound, self.epoch.epoch.origin)?;
        self.say_taken_back(index)?;
        Ok(true)
    }

    /// Forgets what was learnt from these messages alone; where copies count, also in sessions that have the same.
    fn forget_said(&mut self, messages: Range<u64>, reason: &str, copies_count: bool) -> Result<()> {
        let (place, record) = (self.place, &self.record);
        let relatives = if copies_count { copies::relatives(&*self.pages, place, self.seed, record)? } else { Vec::new() };
        let taken = TakenBack {
            session: &record.id,
            begun: record.created_at,
            messages,
            copied: &|pages: &P, index| copies::added_at(pages, place, record, index),
            kept_in: &|pages: &P, index| copies::elsewhere(pages, (place, record), &relatives, index),
        };
        forget::forget_said(self.pages, place.partition, self.seed, &taken, reason, self.told)
    }

    /// Gives what was learnt from its messages to sessions that have them too: it is deleted.
    pub(super) fn leave_said(&mut self) -> Result<()> {
        let (place, record) = (self.place, &self.record);
        let is_learnt_from = heard::mark(&*self.pages, place.partition, self.seed, &record.id)?.next > 0 || !record.origins.is_empty();
        let relatives = if is_learnt_from { copies::relatives(&*self.pages, place, self.seed, record)? } else { Vec::new() };
        if relatives.is_empty() {
            return Ok(());
        }
        let taken = TakenBack {
            session: &record.id,
            begun: record.created_at,
            messages: 0..u64::MAX,
            copied: &|pages: &P, index| copies::added_at(pages, place, record, index),
            kept_in: &|pages: &P, index| copies::elsewhere(pages, (place, record), &relatives, index),
        };
        forget::leave_said(self.pages, place.partition, self.seed, &taken, self.told)
    }

    fn forget_words(&mut self, record: &mut MessageRecord) -> Result<()> {
        if record.document == 0 {
            return Ok(());
        }
        let message = record.whole(&*self.pages, self.place)?;
        self.words.remove(self.pages, (self.place.partition, self.seed), record.document, &message, record.author.as_deref())
    }

    /// The count that prompts have of a message that was counted anew, and the tokens before it.
    fn recount_of(&self, index: u64) -> Result<Option<(Cost, u64)>> {
        if self.epoch.switch == 0 || !(self.epoch.recounted.0..self.epoch.recounted.1).contains(&index) {
            return Ok(None);
        }
        read_recount(&*self.pages, self.place, self.epoch.switch, index).map(Some)
    }

    /// Questions to memory of a turn's calls may repeat what its messages said, and a reply has a hash.
    fn forget_calls(&mut self, turn: u64, index: u64) -> Result<()> {
        for mut call in Call::of_turn(&*self.pages, self.place, turn)? {
            let question = call.sent.as_mut().and_then(|sent| sent.query.take());
            if call.reply == index {
                call.forget_reply(self.pages, self.place, self.seed)?;
            }
            if question.is_some() || call.reply == index {
                call.write(self.pages, self.place, turn)?;
            }
        }
        Ok(())
    }
}

/// The messages before `at` that are over: a round whose calls are open is none of them. Its results belong behind its calls, so no summary
/// may stand for these, and no window may begin behind them.
pub(super) fn whole_until<P: Pages>(view: &View<'_, P>, at: u64, tally: &Tally) -> Result<u64> {
    if tally.open.is_empty() {
        return Ok(at);
    }
    for index in (0..at).rev() {
        if view.message(index)?.message.tool_calls().next().is_some() {
            return Ok(index);
        }
    }
    Ok(at)
}

/// The state of a transcript before message `at`. Its tokens are those up to the message before and its own: what `at` added
/// beside itself (a block that stayed in the turn before, results of calls that it closed) is gone, whatever it counts by now.
pub(super) fn tally_before<P: Pages>(view: &View<'_, P>, epoch: &StoredEpoch, at: u64) -> Result<Tally> {
    let (framing, counter) = (epoch.model.framing, CachedCounter::new(epoch.model.encoding));
    let mut tally = Tally::resume(view, at, &framing, &counter)?;
    if let Some(last) = at.checked_sub(1).filter(|_| at < view.messages()) {
        tally.tokens = view.tokens_before(last)? + view.message(last)?.cost.tokens;
    }
    Ok(tally)
}

/// The block of the newest turn, if a call of it was sent with one, counted for the epoch's model, which need not be the call's.
pub(super) fn sent_block<P: Pages>(pages: &P, place: SessionKey, turns: u64, epoch: &StoredEpoch) -> Result<Option<SentBlock>> {
    let Some(turn) = turns.checked_sub(1) else { return Ok(None) };
    for number in (0..ledger::count(pages, place, turn)?).rev() {
        let call = Call::read(pages, place, turn, number)?;
        if call.sent.as_ref().is_some_and(|sent| sent.carried) {
            let block = call.block(pages, &CachedCounter::new(epoch.model.encoding), i64::MIN)?;
            return Ok(Some(SentBlock { turn, call: number, tokens: block.map_or(0, |block| block.tokens) }));
        }
    }
    Ok(None)
}

fn remove_message(pages: &mut impl PagesMut, place: SessionKey, seed: Seed, index: u64, words: &mut Words) -> Result<()> {
    let record = MessageRecord::expect(&*pages, place, index)?;
    if record.document != 0 {
        let message = record.whole(&*pages, place)?;
        words.remove(pages, (place.partition, seed), record.document, &message, record.author.as_deref())?;
    }
    release_blobs(pages, place, &record)?;
    if let Some(id) = &record.id {
        pages.delete(place.id(seed, id).as_slice())?;
    }
    chunks::remove(pages, place.message(index)).map(drop)
}

fn release_blobs(pages: &mut impl PagesMut, place: SessionKey, record: &MessageRecord) -> Result<()> {
    for hole in &record.holes {
        blob::release(pages, place.partition, hole.hash)?;
    }
    Ok(())
}

/// Removes the calls of a turn whose replies are message `from` or later; the same responses may be given again then.
fn remove_calls(pages: &mut impl PagesMut, place: SessionKey, seed: Seed, turn: u64, from: u64) -> Result<()> {
    for number in (0..ledger::count(&*pages, place, turn)?).rev() {
        let call = Call::read(&*pages, place, turn, number)?;
        if call.reply >= from {
            pages.delete(call.name_key(place, seed).as_slice())?;
            chunks::remove(pages, place.call(turn, number))?;
        }
    }
    Ok(())
}

/// A message without its text, as JSON and as it is sent. It never counts more than it was `counted`, so that stored sums stay a bound:
/// where the marker is longer than what it stands for, nothing stands there.
fn without_text(message: &Message, counted: u64, count: impl Fn(Message) -> Stored) -> (Vec<u8>, Format, Stored) {
    let marked = count(message.redacted(REDACTED));
    let marker = if marked.cost.tokens <= counted { REDACTED } else { "" };
    let (json, format) = bare_json(&message.redacted(marker));
    let read = Message::parse(&json, Some(format), crate::context::Arguments::Keep);
    (json, format, count(read.unwrap_or_else(|_| message.redacted(marker))))
}

/// A redacted message in Anthropic's shape, which has a place for calls and results alike; in OpenAI's where a call has no arguments, for
/// which the other one has an empty object.
pub(super) fn bare_json(message: &Message) -> (Vec<u8>, Format) {
    let calls = message.parts.iter().filter_map(|part| if let Part::ToolCall(call) = part { Some(call) } else { None });
    if message.role == Role::Assistant && calls.clone().any(|call| call.arguments.is_empty()) {
        let call = |call: &ToolCall| {
            let function = serde_json::json!({"name": &*call.name, "arguments": &*call.arguments});
            serde_json::json!({"id": &*call.id, "type": "function", "function": function})
        };
        let calls: Vec<_> = calls.map(call).collect();
        let message = serde_json::json!({"role": message.role.name(), "content": null, "tool_calls": calls});
        return (message.to_string().into_bytes(), Format::OpenAi);
    }
    let block = |part: &Part| match part {
        Part::ToolCall(call) => serde_json::json!({"type": "tool_use", "id": &*call.id, "name": &*call.name, "input": {}}),
        Part::ToolResult(result) => serde_json::json!({
            "type": "tool_result", "tool_use_id": &*result.call_id, "is_error": result.is_error, "content": marker_of(&result.parts),
        }),
        other => serde_json::json!({"type": "text", "text": marker_of(std::slice::from_ref(other))}),
    };
    let blocks: Vec<_> = message.parts.iter().map(block).collect();
    let role = if message.role == Role::Tool { Role::User } else { message.role };
    (serde_json::json!({"role": role.name(), "content": blocks}).to_string().into_bytes(), Format::Anthropic)
}

fn marker_of(parts: &[Part]) -> &str {
    parts.iter().find_map(|part| if let Part::Text(text) = part { Some(&**text) } else { None }).unwrap_or_default()
}

/// Removes a part of a hidden session; says whether there is more. Messages go first and epochs then, both from the end; the record goes last,
/// so that a death in between leaves something that maintenance finds.
pub(super) fn purge_step<P: PagesMut>(pages: &mut P, place: SessionKey, seed: Seed) -> Result<bool> {
    let hidden = SessionRecord::read(&*pages, place)?.filter(|record| record.state == SessionState::Hidden);
    let Some(mut record) = hidden else { return Ok(false) }; // nothing is left, or it is a session after all
    if record.tally.messages > 0 {
        let first = record.tally.messages.saturating_sub(STEP);
        let mut words = Words::default();
        for index in (first..record.tally.messages).rev() {
            remove_message(pages, place, seed, index, &mut words)?;
        }
        words.apply(pages, place.partition)?;
        (record.tally.messages, record.last_time) = (first, REMOVED);
        record.write(pages, place)?;
        return Ok(true);
    }
    if record.epoch > 0 {
        let first = record.epoch.saturating_sub(KEYS as u64);
        for number in (first + 1..=record.epoch).rev() {
            remove_epoch(pages, place, number)?;
        }
        record.epoch = first;
        record.write(pages, place)?;
        if first > 0 {
            return Ok(true);
        }
    }
    remove_epoch(pages, place, 0)?;
    for table in OWN_TABLES {
        if remove_some(pages, place.all(table))? {
            return Ok(true);
        }
    }
    chunks::remove(pages, place.record())?;
    Ok(false)
}

fn remove_epoch(pages: &mut impl PagesMut, place: SessionKey, number: u64) -> Result<()> {
    if chunks::get(&*pages, place.epoch(number))?.is_none() {
        return Ok(());
    }
    for text in StoredEpoch::texts(&*pages, place, number)? {
        blob::release(pages, place.partition, text.hash)?;
    }
    chunks::remove(pages, place.epoch(number)).map(drop)
}

/// Removes up to [`KEYS`] entries under a key; says whether there may be more.
fn remove_some(pages: &mut impl PagesMut, prefix: Key) -> Result<bool> {
    let (range, mut keys) = (prefix.prefix_range(), Vec::new());
    pages.scan(&range.start, &range.end, &mut |key, _| {
        keys.push(key.to_vec());
        Ok(if keys.len() < KEYS { std::ops::ControlFlow::Continue(()) } else { std::ops::ControlFlow::Break(()) })
    })?;
    for key in &keys {
        pages.delete(key)?;
    }
    Ok(keys.len() == KEYS)
}

/// A session that is being deleted is nobody's any more.
pub(super) fn check_not_hidden<P: PagesMut>(writer: &SessionWriter<'_, P>) -> Result<()> {
    if writer.record.state == SessionState::Hidden { Err(record::no_such_session(&writer.record.id)) } else { Ok(()) }
}

/// Ends a session: it can be read and forked from then on, and its task state is cleared.
pub(super) fn end<P: PagesMut>(writer: &mut SessionWriter<'_, P>) -> Result<()> {
    writer.record.state = SessionState::Ended;
    while remove_some(writer.pages, writer.place.all(Table::Task))? {}
    Ok(())
}
