//! One session of a scope, as a program uses it: each call is one snapshot or one write transaction, unless it says otherwise.

use std::sync::Arc;

use super::add::check_name;
use super::copies;
use super::core::SessionCore;
use super::edit;
use super::key::SessionKey;
use super::ledger::replay::{Replayed, replay};
use super::ledger::{Call, CallId};
use super::record::{self, SessionRecord, SessionState};
use super::stored_epoch::StoredEpoch;
use super::sweep;
use super::transcript::blob;
use super::transcript::view::{TurnRecord, View};
use super::window::answered;
use super::window::assemble::{self, Ask, Assembled, check_items};
use super::window::goes_on::{asked_before, is_going_on};
use super::writer::SessionWriter;
use crate::collection::CollectionName;
use crate::context::carries_block;
use crate::limits;
use crate::memory::{LearnMark, heard};
use crate::models::Model;
use crate::recall;
use crate::scope::{Head, Scope};
use crate::store::Snapshot;
use crate::store::environment::WriteTransaction;
use crate::store::reserve;
use crate::{Error, ErrorKind, Result};

/// A session, named. Costs nothing to make: what it names need not exist.
#[derive(Debug, Clone, Copy)]
pub struct Session<'e> {
    /// The store.
    pub engine: &'e SessionCore,
    /// Whose session it is.
    pub scope: &'e Scope,
    /// Its id.
    pub id: &'e str,
}

/// The requested settings of a session that is opened; `None` keeps the stored ones.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The model. A new session needs one; another than the stored one is refused.
    pub model: Option<Model>,
    /// The system prompt; an empty one is none.
    pub system: Option<String>,
    /// The tools as JSON; an empty list is none.
    pub tools: Option<Vec<u8>>,
    /// Scopes whose memory it reads along.
    pub reads: Option<Vec<Scope>>,
    /// Collections that its prompts may show passages of.
    pub collections: Option<Vec<CollectionName>>,
    /// The limits of its prompts.
    pub budget: Option<super::record::SessionBudget>,
    /// Limits on the texts that its prompts recall.
    pub recalls: Option<super::recalls::Recalls>,
}

/// A session as it is now.
#[derive(Debug, Clone)]
pub struct Status {
    /// Where it is.
    pub place: SessionKey,
    /// Its record.
    pub record: SessionRecord,
    /// Its epoch.
    pub epoch: StoredEpoch,
}

impl Status {
    /// How far it can be learnt from now.
    #[must_use]
    pub fn learn_mark(&self) -> LearnMark {
        LearnMark { next: self.record.tally.messages, edits: self.record.edits, created_at: self.record.created_at }
    }
}

/// A turn.
#[derive(Debug, Clone)]
pub struct TurnView {
    /// Its number.
    pub number: u64,
    /// Its first message.
    pub start: u64,
    /// The message behind its last.
    pub end: u64,
    /// Equal in two reads of a session where no message of it was taken back or redacted between them: its calls are the same then.
    pub mark: (u64, u64),
    /// How many of its calls the reader knew.
    pub first: u16,
    /// The other calls of its models, in order.
    pub calls: Vec<Call>,
}

impl Session<'_> {
    /// Opens the session, making it where there is none of that id. Writes only what is new.
    ///
    /// # Errors
    /// `ModelMismatch` for another model, `NotFound` where there is none and no model is named, `BudgetExceeded` where the
    /// budget's floors do not fit. Instructions that do not are an error of [`Self::assemble`]: another limit may hold them.
    pub fn open(&self, options: Options, now: i64) -> Result<Status> {
        crate::scope::check_id("session", self.id)?;
        let options = options.checked()?;
        let tools = super::open::read_tools(options.tools.as_deref())?;
        let found = self.engine.store().read(|pages| self.find(pages))?;
        if found.is_none() && options.model.is_none() {
            return Err(record::no_such_session(self.id));
        }
        if let Some(status) = found
            && !super::open::changes(
                &status,
                &options,
                tools.as_ref(),
                &self.stored_tools(&status)?,
                self.scope.seed(self.engine.store().secret()),
            )?
        {
            return Ok(status);
        }
        self.write(move |txn, scope, id| super::open::open(txn, scope, id, &options, tools.as_ref(), now))?;
        self.status()
    }

    fn stored_tools(&self, status: &Status) -> Result<Vec<u8>> {
        let Some(tools) = status.epoch.tools else { return Ok(Vec::new()) };
        self.engine.store().read(|pages| blob::get(pages, status.place.partition, tools.hash))
    }

    /// The session as it is now.
    pub fn status(&self) -> Result<Status> {
        self.engine.store().read(|pages| self.expect(pages))
    }

    pub(super) fn find(&self, pages: &Snapshot) -> Result<Option<Status>> {
        let Some((place, record)) = record::find_in(pages, self.scope, self.id)? else { return Ok(None) };
        let epoch = StoredEpoch::read(pages, place, record.epoch)?;
        Ok(Some(Status { place, record, epoch }))
    }

    pub(super) fn expect(&self, pages: &Snapshot) -> Result<Status> {
        self.find(pages)?.ok_or_else(|| record::no_such_session(self.id))
    }

    /// Runs a write transaction on what this names.
    pub(super) fn write<T, F>(&self, mut operation: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut WriteTransaction<'_>, &Scope, &str) -> Result<T> + Send + 'static,
    {
        let (scope, id) = (self.scope.clone(), self.id.to_owned());
        self.engine.write(move |txn| operation(txn, &scope, &id))
    }

    /// Runs a write transaction on the session, which must not be ended.
    pub(super) fn edit<T, F>(&self, doing: &'static str, now: i64, mut operation: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnMut(&mut SessionWriter<'_, WriteTransaction<'_>>) -> Result<T> + Send + 'static,
    {
        let (store, key) = (self.engine.store(), self.warm_key());
        let known = store.unforked(|| self.engine.warm().past(key));
        let (done, past) = self.write(move |txn, scope, id| {
            let mut writer = SessionWriter::open(txn, scope, id, now)?.knowing(&known);
            writer.record.check_live(doing)?;
            let done = operation(&mut writer)?;
            Ok((done, writer.finish_knowing()?))
        })?;
        store.unforked(|| self.engine.warm().put_past(key, past));
        Ok(done)
    }

    /// The key of its cached parts in this process.
    fn warm_key(&self) -> u128 {
        self.scope.seed(self.engine.store().secret()).hash128(self.id.as_bytes())
    }

    /// The text to embed for the next [`Self::assemble`]: what the user said last, or what the turn's first call asked where its block is
    /// chosen anew; `None` where memory will not be asked.
    pub fn question(&self) -> Result<Option<String>> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let view = View::cold(pages, status.place, &status.record, &status.epoch);
            if carries_block(&view)? {
                if is_going_on(&view, &status.record, &status.epoch)? {
                    return Ok(None);
                }
                let as_before = asked_before(pages, status.place, &status.record, &Ask::default())?;
                if let Some(query) = as_before.and_then(|ask| ask.query) {
                    return Ok(Some(query));
                }
            }
            Ok(answered::newest_question(&view)?.map(|(_, text)| text))
        })
    }

    /// Assembles the next prompt. A pure read: nothing on disk changes.
    ///
    /// # Errors
    /// `BudgetExceeded` where the fixed sections and the newest message do not fit, with every number.
    pub fn assemble(&self, ask: &Ask) -> Result<Assembled> {
        check_items(&ask.items)?;
        ask.max_output_tokens.map(|most| limits::within("max_output_tokens", most, 1..=limits::MAX_TOKENS)).transpose()?;
        let (store, key) = (self.engine.store(), self.warm_key());
        let kept = store.unforked(|| self.engine.warm().get(key));
        let done = store.read(|pages| {
            let status = self.expect(pages)?;
            let warm = Arc::clone(&kept).of(status.place, status.record.edits);
            assemble::assemble(self.engine, pages, self.scope, status, ask, warm)
        })?;
        store.unforked(|| self.engine.warm().put(key, done.warm));
        if let Some((request, answer)) = &done.recalled {
            recall::note(self.engine, request, answer);
        }
        Ok(done.assembled)
    }

    /// A turn with its calls.
    pub fn turn(&self, number: u64) -> Result<TurnView> {
        self.turn_beyond(number, None)
    }

    /// A turn without the calls that the caller has read: `known` is how many of the first those are, and the mark they were read with. All
    /// calls where the mark is another by now.
    pub fn turn_beyond(&self, number: u64, known: Option<(u16, (u64, u64))>) -> Result<TurnView> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let turns = status.record.tally.turns;
            if number >= turns {
                let message = format!(
                    "reading a turn of session {:?}: its number must be below {turns}, and it is {number}: turns are numbered from 0",
                    self.id
                );
                return Err(Error::new(ErrorKind::NotFound, message).with("turn", number as i64).with("turns", turns as i64));
            }
            let start = TurnRecord::read(pages, status.place, number)?.start;
            let next = if number + 1 < turns { Some(TurnRecord::read(pages, status.place, number + 1)?.start) } else { None };
            let end = next.unwrap_or(status.record.tally.messages);
            let mark = (u64::from(status.place.partition) << 32 | u64::from(status.place.session), status.record.edits);
            let first = known.filter(|(_, then)| *then == mark).map_or(0, |(first, _)| first);
            Ok(TurnView { number, start, end, mark, first, calls: Call::of_turn_from(pages, status.place, number, first)? })
        })
    }

    /// The prompt that a call was sent, composed again; `None` where its caller did not pass it.
    ///
    /// # Errors
    /// `NotFound` where the call was taken back, though another may have its place in the ledger by now.
    pub fn sent_prompt(&self, turn: u64, call: CallId, now: i64) -> Result<Option<Replayed>> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let stored = Call::find(pages, status.place, turn, call.number)?.filter(|stored| stored.id() == call);
            let stored = stored.ok_or_else(|| taken_back(self.id, turn, call))?;
            replay(pages, self.scope, status.place, &status.record, &stored, now)
        })
    }

    /// Takes back message `index` and all behind it, in this session: forks keep theirs. Up to 256 messages are one transaction; more are several, from the end.
    pub fn rewind(&self, index: u64, now: i64) -> Result<()> {
        reserve::freeing(|| {
            while self.edit("rewinding", now, move |writer| writer.rewind_step(index))? {}
            Ok(())
        })
    }

    /// Takes the text out of a message and of its copies in forks, for good, in one transaction; `false` where that was done before.
    pub fn redact(&self, index: u64, reason: Option<&str>, now: i64) -> Result<bool> {
        check_name("reason", reason)?;
        let reason = reason.map(str::to_owned);
        reserve::freeing(|| self.write(move |txn, scope, id| copies::redact(txn, scope, id, index, reason.as_deref(), now)))
    }

    /// Ends the session: it can be read and forked from then on.
    pub fn end(&self, now: i64) -> Result<()> {
        self.write(move |txn, scope, id| {
            let mut writer = SessionWriter::open(txn, scope, id, now)?;
            edit::end(&mut writer)?;
            writer.finish()
        })
    }

    /// Deletes the session with everything in it. Nobody sees it from the first transaction on; its parts go in bounded ones.
    pub fn delete(&self, now: i64) -> Result<()> {
        reserve::freeing(|| self.remove(None, now)).map(drop)
    }

    /// Deletes the session where nothing was added to it since `before` ([`SessionRecord::is_old`]). `false` where something was, or where it
    /// is not there any more.
    pub(super) fn delete_old(&self, before: i64, made: i64, now: i64) -> Result<bool> {
        match reserve::freeing(|| self.remove(Some((before, made)), now)) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            done => done,
        }
    }

    /// `before` is compared in the transaction that hides it, so that no message that was added meanwhile is lost.
    fn remove(&self, before: Option<(i64, i64)>, now: i64) -> Result<bool> {
        let hidden = self.write(move |txn, scope, id| {
            let mut writer = SessionWriter::open(txn, scope, id, now)?;
            if let Some((before, made)) = before
                && !writer.record.is_old(before, made, now)
            {
                if writer.record.is_ahead(made, now) {
                    SessionRecord { clock: Some(now), ..writer.record.clone() }.write(writer.pages, writer.place)?;
                }
                return Ok(None);
            }
            writer.leave_said()?;
            writer.record.state = SessionState::Hidden;
            let place = writer.place;
            super::key::unname(writer.pages, place.partition, writer.seed, id)?;
            Head::advance(writer.pages, place.partition)?;
            heard::drop_mark(writer.pages, place.partition, writer.seed, id)?;
            writer.finish()?;
            SessionRecord { last_time: sweep::REMOVED, ..SessionRecord::expect(&*txn, place)? }.write(txn, place)?;
            Ok(Some(place))
        });
        if hidden.as_ref().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            sweep::sweep_removed(self.engine, self.scope)?; // an earlier call may have been interrupted
        }
        let Some(place) = hidden? else { return Ok(false) };
        sweep::purge(self.engine, place, self.scope.seed(self.engine.store().secret()))?;
        sweep::sweep_blobs(self.engine, place.partition, i64::MAX)?;
        Ok(true)
    }

    /// Copies the session up to message `at` (all of it by default) under another id; the copy goes its own way.
    pub fn fork(&self, new_id: &str, at: Option<u64>, now: i64) -> Result<()> {
        super::fork::fork(self, new_id, at, now)
    }
}

fn taken_back(session: &str, turn: u64, call: CallId) -> Error {
    let message = format!(
        "reading a prompt of session {session:?}: the call that it was sent by must be there, and call {} of turn {turn} was taken back: read the turns of the session anew",
        call.number
    );
    Error::new(ErrorKind::NotFound, message).with("turn", turn as i64).with("call", i64::from(call.number))
}
