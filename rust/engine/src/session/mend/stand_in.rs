//! A stand-in takes the place of a lost message: a message without a text, so that turns, calls and sums are what they were.
//!
//! Its role follows from its neighbours. The first of a turn is the user's. Results that follow need an assistant's calls of their ids.
//! Calls that were open need their results, unless these follow. Anything else is what an assistant said.

use std::collections::BTreeSet;

use super::super::edit::bare_json;
use super::super::key::SessionKey;
use super::super::ledger::Call;
use super::super::record::{SessionRecord, SessionState};
use super::super::stored_epoch::StoredEpoch;
use super::super::transcript::message::{MessageRecord, MessageState};
use super::super::transcript::view::{TurnRecord, View, find_recount, write_recount};
use super::super::writer::SessionWriter;
use super::{readable, recounts};
use crate::Result;
use crate::context::message::{Part, Role, ToolCall, ToolResult};
use crate::context::{Arguments, Format, Message, Reason, Stored, Tally};
use crate::scope::Scope;
use crate::store::pages::PagesMut;
use crate::tokens::CachedCounter;

/// The text that says so, where it counts no more than what was lost.
const LOST: &str = "[lost]";
/// Why a message has no text.
const REASON: &str = "it was lost: the store was damaged, and repaired";
/// The name of a tool whose call is lost.
const TOOL: &str = "lost";

type Id = Box<str>;

/// Puts stand-ins in the places of `lost` messages. The session begins an epoch, as it does behind a redaction.
pub(super) fn place<P: PagesMut>(pages: &mut P, scope: &Scope, place: SessionKey, lost: &BTreeSet<u64>) -> Result<()> {
    let session = SessionRecord::expect(&*pages, place)?;
    if session.state == SessionState::Hidden {
        // Nobody reads it any more: it is only taken away.
        return lost.iter().try_for_each(|index| gone(*index, &session).write(pages, place));
    }
    let mut turns = Turns::new(pages, place, session)?;
    for index in 0..turns.session.tally.messages {
        if lost.contains(&index) { turns.stand_in(pages, index, lost)? } else { turns.pass(pages, index)? }
    }
    let state = turns.tally;
    let mut writer = SessionWriter::at(pages, scope, place, i64::MIN)?;
    let tally = &mut writer.record.tally;
    (tally.open, tally.answered, tally.has_user, tally.is_answered) = (state.open, state.answered, state.has_user, state.is_answered);
    writer.record.edits += 1;
    let origin = writer.epoch.epoch.origin;
    writer.begin(Reason::Rewound, origin)?;
    writer.epoch.taken_back = lost.first().copied();
    writer.epoch.write(writer.pages, place)?;
    writer.finish()
}

/// A message of a session that is being deleted.
fn gone(index: u64, session: &SessionRecord) -> MessageRecord {
    let message = Message::text(Role::Assistant, "");
    let (rest, format) = bare_json(&message);
    MessageRecord {
        placed: crate::context::Placed { index, turn: 0, opens_turn: index == 0, tokens_before: 0 },
        cost: crate::context::image::Cost { tokens: 0, exact: true },
        digest: message.digest(),
        format,
        state: MessageState::Redacted,
        added_at: session.last_time,
        created_at: None,
        document: 0,
        call: None,
        id: None,
        author: None,
        reason: Some(REASON.to_owned()),
        request: 0,
        shown: Vec::new(),
        holes: Vec::new(),
        rest,
    }
}

/// A session while its messages are passed, from the first on.
struct Turns {
    place: SessionKey,
    session: SessionRecord,
    /// The last epoch of each model that the session ran on, oldest first.
    epochs: Vec<StoredEpoch>,
    /// The state before the next message. Its tokens mean nothing.
    tally: Tally,
    /// When the last message was added.
    added_at: i64,
}

impl Turns {
    fn new<P: PagesMut>(pages: &P, place: SessionKey, session: SessionRecord) -> Result<Self> {
        let epochs = recounts::epochs(pages, place, &session)?;
        let added_at = session.created_at;
        Ok(Self { place, session, epochs, tally: Tally::default(), added_at })
    }

    /// The epoch whose model a message was counted for when it was added.
    fn epoch_of(&self, index: u64) -> Option<&StoredEpoch> {
        self.epochs.iter().rev().find(|epoch| epoch.switch == 0 || epoch.recounted.1 <= index).or(self.epochs.first())
    }

    /// A message that is there.
    fn pass<P: PagesMut>(&mut self, pages: &P, index: u64) -> Result<()> {
        let record = MessageRecord::expect(pages, self.place, index)?;
        self.added_at = record.added_at;
        self.push(&record.whole(pages, self.place)?)
    }

    fn push(&mut self, message: &Message) -> Result<()> {
        let Some(epoch) = self.epochs.last() else { return Ok(()) };
        let counter = CachedCounter::new(epoch.model.encoding);
        self.tally.push(message, 0, &epoch.model.framing, &counter).map(drop)
    }

    fn stand_in<P: PagesMut>(&mut self, pages: &mut P, index: u64, lost: &BTreeSet<u64>) -> Result<()> {
        let message = self.message(&*pages, index, lost)?;
        let Some(epoch) = self.epoch_of(index).cloned() else { return Ok(()) };
        let (framing, counter) = (epoch.model.framing, CachedCounter::new(epoch.model.encoding));
        let view = View::cold(&*pages, self.place, &self.session, &epoch);
        let mut sums = self.tally.clone();
        sums.tokens = match index.checked_sub(1) {
            Some(before) => view.brief(before).map(|brief| brief.placed.tokens_before + brief.cost.tokens)?,
            None => 0,
        };
        if message.opens_turn() && sums.has_user {
            sums.keep_block(view.sent_block(sums.turns - 1)?.map_or(0, |block| block.tokens));
        }
        let room = self.room(&view, index, &sums, lost)?;
        let stored = |marker: &str| -> Result<(Vec<u8>, Format, Stored)> {
            let (rest, format) = bare_json(&message.redacted(marker));
            let read = Message::parse(&rest, Some(format), Arguments::Keep)?;
            Ok((rest, format, Stored::new(read, &framing, &counter)))
        };
        let (mut rest, mut format, mut bare) = stored(LOST)?;
        if bare.cost.tokens > room {
            (rest, format, bare) = stored("")?;
        }
        let placed = sums.push(&bare.message, bare.cost.tokens, &framing, &counter)?;
        let call = self.replied(pages, placed.turn, index)?;
        let record = MessageRecord {
            placed,
            cost: bare.cost,
            digest: bare.digest,
            added_at: self.added_at,
            call,
            format,
            rest,
            ..gone(index, &self.session)
        };
        record.write(pages, self.place)?;
        if placed.opens_turn && readable(TurnRecord::read(&*pages, self.place, placed.turn))?.is_none() {
            TurnRecord { start: index, kept: None }.write(pages, self.place, placed.turn)?;
        }
        self.count_anew(pages, index, &bare.message)?;
        self.push(&bare.message)
    }

    /// The tokens that it may count: no more than stand between its neighbours. Where the next is lost too, nothing is known.
    fn room<P: PagesMut>(&self, view: &View<'_, P>, index: u64, before: &Tally, lost: &BTreeSet<u64>) -> Result<u64> {
        let next = index + 1;
        let behind = if next == self.session.tally.messages {
            self.session.tally.tokens
        } else if lost.contains(&next) {
            return Ok(0);
        } else {
            view.brief(next)?.placed.tokens_before
        };
        Ok(behind.saturating_sub(before.tokens))
    }

    /// Its count for the model that the session runs on, where that is another than the one it was added for.
    fn count_anew<P: PagesMut>(&self, pages: &mut P, index: u64, message: &Message) -> Result<()> {
        let Some(now) = self.epochs.last() else { return Ok(()) };
        if let Some((_, before)) = readable(find_recount(&*pages, self.place, now.switch, index))?.flatten() {
            let counter = CachedCounter::new(now.model.encoding);
            let cost = now.model.framing.message(message, &counter);
            write_recount(pages, self.place, now.switch, index, cost, before)?;
        }
        Ok(())
    }

    /// The call whose reply it was, which may be given again.
    fn replied<P: PagesMut>(&self, pages: &mut P, turn: u64, index: u64) -> Result<Option<u16>> {
        let Some(calls) = readable(Call::of_turn(&*pages, self.place, turn))? else { return Ok(None) };
        Ok(calls.into_iter().find(|call| call.reply == index).map(|call| call.number))
    }

    /// Who speaks, and which calls it makes or answers.
    fn message<P: PagesMut>(&self, pages: &P, index: u64, lost: &BTreeSet<u64>) -> Result<Message> {
        let turn = self.tally.turns;
        let opens = turn > 0 && turn < self.session.tally.turns && self.begins(pages, turn)? == Some(index);
        if opens {
            return Ok(Message::text(Role::User, LOST));
        }
        let is_last = !lost.contains(&(index + 1));
        let follow = self.results_behind(pages, index, lost)?;
        if is_last && !follow.is_empty() && !follow.iter().all(|id| self.tally.open.contains(id)) {
            return Ok(calling(&follow));
        }
        let open: Vec<Id> = self.tally.open.iter().filter(|id| !follow.contains(id)).cloned().collect();
        if !open.is_empty() {
            return Ok(answering(&open));
        }
        if is_last && !follow.is_empty() {
            return Ok(calling(&follow));
        }
        let role = if self.is_users(pages, index)? { Role::User } else { Role::Assistant };
        Ok(Message::text(role, LOST))
    }

    fn begins<P: PagesMut>(&self, pages: &P, turn: u64) -> Result<Option<u64>> {
        Ok(readable(TurnRecord::read(pages, self.place, turn))?.map(|turn| turn.start))
    }

    /// The ids of the results that follow behind the run of lost messages that begins here; behind the last message those that the session
    /// still knows.
    fn results_behind<P: PagesMut>(&self, pages: &P, index: u64, lost: &BTreeSet<u64>) -> Result<Vec<Id>> {
        let mut found = Vec::new();
        for next in index + 1.. {
            if next == self.session.tally.messages {
                let tally = &self.session.tally;
                let known = tally.open.iter().chain(&tally.answered).filter(|id| !found.contains(*id)).cloned().collect::<Vec<_>>();
                found.extend(if tally.answered.is_empty() || found.is_empty() { known } else { Vec::new() });
                break;
            }
            if lost.contains(&next) && found.is_empty() {
                continue;
            }
            if lost.contains(&next) {
                break;
            }
            let message = MessageRecord::expect(pages, self.place, next)?.whole(pages, self.place)?;
            let before = found.len();
            found.extend(message.tool_results().map(|result| result.call_id.clone()));
            if found.len() == before {
                break;
            }
        }
        Ok(found)
    }

    /// Whether it is the first that the user says: a later one opened another turn.
    fn is_users<P: PagesMut>(&self, pages: &P, index: u64) -> Result<bool> {
        if self.tally.has_user {
            return Ok(false);
        }
        for next in index + 1..self.session.tally.messages {
            let Some(record) = readable(MessageRecord::expect(pages, self.place, next))? else { continue };
            if record.whole(pages, self.place)?.opens_turn() {
                return Ok(record.placed.opens_turn);
            }
        }
        Ok(self.session.tally.has_user)
    }
}

fn calling(ids: &[Id]) -> Message {
    let call = |id: &Id| Part::ToolCall(ToolCall { id: id.clone(), name: TOOL.into(), arguments: "{}".into(), custom: false });
    Message { role: Role::Assistant, name: None, parts: ids.iter().map(call).collect() }
}

fn answering(ids: &[Id]) -> Message {
    let result = |id: &Id| {
        Part::ToolResult(ToolResult { call_id: id.clone(), parts: vec![Part::Text(LOST.into())], is_error: true, images: false, key: None })
    };
    Message { role: Role::Tool, name: None, parts: ids.iter().map(result).collect() }
}
