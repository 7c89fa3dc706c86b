//! One session of a scope, as a program uses it: each call is one snapshot or one write transaction, unless it says otherwise.

use std::sync::Arc;

use super::add::{NewMessage, Prepared, check_name};
use super::compact::{self, Draft, check_fresh};
use super::core::SessionCore;
use super::edit;
use super::ledger::replay::{Replayed, replay};
use super::ledger::response::{Response, UsageTokens};
use super::ledger::{self, Call, SentPrompt};
use super::open::{Instructions, ToolsChange, instruct};
use super::place::Place;
use super::policy::Policy;
use super::record::{self, SentBlock, SessionRecord, SessionState, StoredEpoch};
use super::summary::StoredSummary;
use super::transcript::blob;
use super::transcript::message::{MessageRecord, MessageState, read_result_key};
use super::transcript::view::{TurnRecord, View};
use super::window::assemble::{self, Ask, Assembled, check_items};
use super::window::recount::{self, Kept};
use super::writer::{AddAction, Added, KnownId, SessionWriter, moved};
use crate::collection::CollectionName;
use crate::context::message::Part;
use crate::context::{Arguments, Format, Message, Reason, Role, carries_block};
use crate::limits::{self, MAX_BATCH_BYTES, MAX_BATCH_ROWS};
use crate::memory::{LearnMark, learn};
use crate::models::Model;
use crate::recall;
use crate::scope::Scope;
use crate::store::Snapshot;
use crate::store::environment::WriteTransaction;
use crate::store::metrics::add;
use crate::store::pages::Pages;
use crate::store::reserve;
use crate::units::clip::first_chars;
use crate::{Error, ErrorKind, Result};

/// Above so many bytes a blob is written ahead, before the transaction that refers to it.
const AHEAD_BYTES: usize = 256 << 10;
/// Chunks that one transaction writes ahead.
const AHEAD_CHUNKS: usize = 64;

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

/// What is asked to be true of a session that is opened; `None` keeps what is stored.
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
    /// What its prompts may cost.
    pub budget: Option<super::record::SessionBudget>,
    /// What its prompts may recall.
    pub recalls: Option<super::recalls::Recalls>,
}

/// A session as it is now.
#[derive(Debug, Clone)]
pub struct Status {
    /// Where it is.
    pub place: Place,
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

/// A message with the JSON it was given as.
#[derive(Debug, Clone)]
pub struct StoredMessage {
    /// What is known of it.
    pub record: MessageRecord,
    /// Its JSON, byte for byte as it was given, or as little as is left of it.
    pub given: String,
    /// Its texts.
    pub text: String,
}

impl StoredMessage {
    /// Who speaks.
    pub fn role(&self) -> Result<Role> {
        Message::parse(self.given.as_bytes(), Some(self.record.format), Arguments::Keep).map(|message| message.role)
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
    /// The calls of its models, in order.
    pub calls: Vec<Call>,
}

/// A reply that was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replied {
    /// The reply.
    pub added: Added,
    /// Its call in its turn.
    pub call: u16,
    /// What it was billed, where the provider told.
    pub usage: Option<UsageTokens>,
    /// What its prompt was planned to cost.
    pub planned: Option<u64>,
    /// It cost more than the bound.
    pub exceeded: bool,
    /// The provider's usage contradicts itself, and was stored and not used.
    pub usage_ignored: bool,
    /// It was stored now and calls no tool.
    pub is_last: bool,
}

/// A part of a tool result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultText {
    /// The text.
    pub text: String,
    /// Where the next part begins, in characters; `None` at the end.
    pub next_offset: Option<usize>,
    /// Characters of the whole.
    pub total_characters: usize,
}

/// What a switch of models would do.
#[derive(Debug, Clone)]
pub struct SwitchPlan {
    /// The model of now.
    pub from: Model,
    /// The model of then.
    pub to: Model,
    /// The limit of prompts for it.
    pub limit: u64,
    /// What history may have of it.
    pub history_tokens: u64,
    /// What stays.
    pub kept: Kept,
    /// Counted tokens of tools, system prompt, pinned memory, summary and the reply's frame.
    pub fixed_tokens: u64,
}

impl Session<'_> {
    /// Opens the session, making it where there is none of that id. Writes only what is new.
    ///
    /// # Errors
    /// `ModelMismatch` for another model, `NotFound` where there is none and no model is named, `BudgetExceeded` where the
    /// budget's floors do not fit. Instructions that do not are an error of [`Self::assemble`]: another limit may hold them.
    pub fn open(&self, options: Options, now: i64) -> Result<Status> {
        crate::scope::check_id("session", self.id)?;
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
        let Some(place) = record::locate(pages, self.scope, self.id)? else { return Ok(None) };
        let missing = || crate::store::envelope::damaged(place.record().as_slice(), "its id refers to it and it is missing");
        let record = SessionRecord::read(pages, place)?.ok_or_else(missing)?;
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
        self.write(move |txn, scope, id| {
            let mut writer = SessionWriter::open(txn, scope, id, now)?;
            writer.record.check_live(doing)?;
            let done = operation(&mut writer)?;
            writer.finish()?;
            Ok(done)
        })
    }

    /// Adds a message. `expect_index` is the index it is to have.
    pub fn add(&self, new: NewMessage, expect_index: Option<u64>, now: i64) -> Result<Added> {
        let prepared = self.prepare(new, Arguments::MustBeJson, now)?;
        self.edit("adding a message", now, move |writer| writer.add(&prepared, expect_index, None))
    }

    /// The texts of a message's tool results that prompts would show shortened, by their places among the texts of results.
    pub fn long_results(&self, new: &NewMessage) -> Result<Vec<(u32, String)>> {
        let status = self.status()?;
        let most = self.engine.store().read(|pages| Policy::read(pages, status.place))?.result_tokens;
        let prepared = self.prepare_as(&status, new.clone(), Arguments::MustBeJson, 0)?;
        prepared.long_results(&status.record, &status.epoch, (most > 0).then_some(most))
    }

    /// Adds messages in order; up to 1,000 of them and 256 KB are one transaction, more are several. The error of a message has
    /// its place as field `row`; those of earlier transactions are stored then, none of its own.
    pub fn add_many(&self, messages: Vec<NewMessage>, now: i64) -> Result<Vec<Added>> {
        let (status, mut added) = (self.status()?, Vec::with_capacity(messages.len()));
        let (mut batch, mut bytes) = (Vec::new(), 0);
        for (row, new) in messages.into_iter().enumerate() {
            let size = new.given.len();
            if !batch.is_empty() && (batch.len() == MAX_BATCH_ROWS || bytes + size > MAX_BATCH_BYTES) {
                added.extend(self.add_batch(std::mem::take(&mut batch), now)?);
                bytes = 0;
            }
            let prepared = self.prepare_as(&status, new, Arguments::MustBeJson, now).map_err(|error| error.with("row", row))?;
            batch.push((row, prepared));
            bytes += size;
        }
        added.extend(self.add_batch(batch, now)?);
        Ok(added)
    }

    fn add_batch(&self, batch: Vec<(usize, Prepared)>, now: i64) -> Result<Vec<Added>> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        self.edit("adding messages", now, move |writer| {
            let add = |(row, prepared): &(usize, Prepared)| writer.add(prepared, None, None).map_err(|error| error.with("row", *row));
            batch.iter().map(add).collect()
        })
    }

    pub(super) fn prepare(&self, new: NewMessage, arguments: Arguments, now: i64) -> Result<Prepared> {
        self.prepare_as(&self.status()?, new, arguments, now)
    }

    /// Gets a message ready for a session that is as `status` says; the transaction counts it again where it is not.
    fn prepare_as(&self, status: &Status, new: NewMessage, arguments: Arguments, now: i64) -> Result<Prepared> {
        let prepared = Prepared::new(new, arguments, self.scope.seed(self.engine.store().secret()), &status.record, &status.epoch)?;
        for (hole, data) in &prepared.blobs {
            if data.len() > AHEAD_BYTES {
                self.write_ahead(status.place, hole.hash, data, now)?;
            }
        }
        Ok(prepared)
    }

    /// Writes a blob in bounded transactions; nothing refers to it yet.
    fn write_ahead(&self, place: Place, hash: u128, data: &Arc<[u8]>, now: i64) -> Result<()> {
        loop {
            let data = Arc::clone(data);
            if self.engine.write(move |txn| blob::stage(txn, place.partition, hash, &data, AHEAD_CHUNKS, now))? {
                return Ok(());
            }
        }
    }

    /// Adds a model's reply with what it was sent, in one transaction. Given twice, the stored one is returned.
    ///
    /// # Errors
    /// `SessionMoved` where the session went on since the prompt was assembled, `InvalidInput` for a prompt of another session
    /// or a response of an unknown shape.
    pub fn add_response(&self, response: &[u8], prompt: Option<&Assembled>, now: i64) -> Result<Replied> {
        self.add_reply(response, prompt, None, now)
    }

    /// The same; a reply that calls no tool ends the lease of `holder`, in the same transaction.
    pub fn add_reply(&self, response: &[u8], prompt: Option<&Assembled>, holder: Option<&str>, now: i64) -> Result<Replied> {
        let response = Response::read(response)?;
        let given = String::from_utf8_lossy(&response.message).into_owned();
        let new = NewMessage { format: Some(response.format), ..NewMessage::given(given) };
        let prepared = self.prepare(new, Arguments::Keep, now)?;
        let prompt = prompt.cloned().map(Arc::new);
        let sent = prompt.as_ref().map(|prompt| (prompt.place, Arc::clone(&prompt.sent)));
        let (response, holder) = (Arc::new(response), holder.map(str::to_owned));
        let replied = self.edit("adding a response", now, move |writer| {
            let known_by = (response.id.as_deref(), response.hash);
            let asked = sent.as_ref().map_or(writer.record.tally.messages.saturating_sub(1), |(_, sent)| sent.messages);
            if let Some(known) = ledger::find_response(&*writer.pages, writer.place, writer.seed, known_by, asked)? {
                return replied_before(writer, known, &prepared);
            }
            if let Some((place, sent)) = &sent {
                check_prompt(writer, *place, sent)?;
            }
            let turn = writer.record.tally.turns.saturating_sub(1);
            let number = ledger::count(&*writer.pages, writer.place, turn)?;
            let exceeded = match (&prompt, response.usage_tokens) {
                (Some(prompt), Some(usage)) => writer.observe(prompt, usage.input_tokens, false)?,
                _ => false,
            };
            let added = writer.add(&prepared, None, Some(number))?;
            let call = Call {
                number,
                reply: added.index,
                added_at: writer.now,
                response_id: response.id.clone(),
                model: response.model.clone(),
                finish: response.finish.clone(),
                usage: response.usage.clone(),
                usage_tokens: response.usage_tokens,
                sent: sent.as_ref().map(|(_, sent)| (**sent).clone()),
                hash: response.hash,
            };
            super::reply::partial::remove(writer.pages, writer.place)?;
            call.write(writer.pages, writer.place, added.turn)?;
            call.put_name(writer.pages, writer.place, writer.seed)?;
            let call_planned = call.sent.as_ref().map(|sent| sent.planned);
            if let Some(sent) = call.sent.filter(|sent| sent.carried) {
                writer.record.sent = Some(SentBlock { turn: added.turn, call: number, tokens: sent.block_tokens });
            }
            if let Some(holder) = holder.as_ref().filter(|_| writer.record.tally.open.is_empty()) {
                super::reply::lease::end(writer.pages, writer.place, holder)?;
            }
            let usage = response.usage_tokens;
            Ok(Replied {
                added,
                call: number,
                usage,
                planned: call_planned,
                exceeded,
                usage_ignored: response.usage.is_some() && usage.is_none(),
                is_last: writer.record.tally.open.is_empty(),
            })
        })?;
        self.note(&replied);
        Ok(replied)
    }

    /// Counts what was planned and billed.
    fn note(&self, replied: &Replied) {
        let metrics = self.engine.store().metrics();
        add(&metrics.tokens_planned, replied.planned.unwrap_or_default());
        if let Some(usage) = replied.usage {
            add(&metrics.tokens_billed, usage.input_tokens);
            add(&metrics.tokens_cached, usage.cached_tokens);
            add(&metrics.tokens_output, usage.output_tokens);
        }
        add(&metrics.bounds_exceeded, u64::from(replied.exceeded));
        add(&metrics.usages_ignored, u64::from(replied.usage_ignored));
    }

    /// What a provider counted of a prompt, by its endpoint for that or in the refusal of one that was too long: the truth of its cost,
    /// which may be more than the window has. Gives whether it was above the bound and something was learned of it.
    ///
    /// # Errors
    /// `SessionMoved` where the session went on since the prompt was assembled.
    pub fn learn_cost(&self, prompt: &Assembled, cost: u64, now: i64) -> Result<bool> {
        limits::within("the provider's count", cost, 1..=limits::MAX_TOKENS)?;
        let prompt = Arc::new(prompt.clone());
        let exceeded = self.edit("learning what a prompt costs", now, move |writer| {
            check_prompt(writer, prompt.place, &prompt.sent)?;
            writer.observe(&prompt, cost, true)
        })?;
        add(&self.engine.store().metrics().bounds_exceeded, u64::from(exceeded));
        Ok(exceeded)
    }

    /// The text to embed for the next [`Self::assemble`]: what the user said last; `None` where memory will not be asked.
    pub fn question(&self) -> Result<Option<String>> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let view = View::cold(pages, status.place, &status.record, &status.epoch);
            let frozen = status.record.sent.is_some_and(|sent| sent.turn + 1 == status.record.tally.turns) && carries_block(&view)?;
            if frozen { Ok(None) } else { assemble::newest_question(&view) }
        })
    }

    /// Assembles the next prompt. A pure read: nothing on disk changes.
    ///
    /// # Errors
    /// `BudgetExceeded` where the fixed sections and the newest message do not fit, with every number.
    pub fn assemble(&self, ask: &Ask) -> Result<Assembled> {
        check_items(&ask.items)?;
        ask.max_output_tokens.map(|most| limits::within("max_output_tokens", most, 1..=limits::MAX_TOKENS)).transpose()?;
        let (store, key) = (self.engine.store(), self.scope.seed(self.engine.store().secret()).hash128(self.id.as_bytes()));
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

    /// Messages from `first` on, at most `limit`, with their JSON.
    pub fn messages(&self, first: u64, limit: u64) -> Result<Vec<StoredMessage>> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let end = status.record.tally.messages.min(first.saturating_add(limit));
            (first..end).map(|index| stored_message(pages, status.place, index)).collect()
        })
    }

    /// A turn with its calls.
    pub fn turn(&self, number: u64) -> Result<TurnView> {
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
            Ok(TurnView { number, start, end, calls: Call::of_turn(pages, status.place, number)? })
        })
    }

    /// What a call was sent, composed again; `None` where its caller did not say.
    pub fn sent_prompt(&self, turn: u64, call: u16, now: i64) -> Result<Option<Replayed>> {
        self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let call = Call::read(pages, status.place, turn, call)?;
            replay(pages, status.place, &status.record, &call, now)
        })
    }

    /// Takes back message `index` and all behind it. Up to 256 messages are one transaction; more are several, from the end.
    pub fn rewind(&self, index: u64, now: i64) -> Result<()> {
        reserve::freeing(|| {
            while self.edit("rewinding", now, move |writer| writer.rewind_step(index))? {}
            Ok(())
        })
    }

    /// Takes the text out of a message, for good; `false` where that was done before.
    pub fn redact(&self, index: u64, reason: Option<&str>, now: i64) -> Result<bool> {
        check_name("reason", reason)?;
        let reason = reason.map(str::to_owned);
        let redact = move |txn: &mut WriteTransaction<'_>, scope: &Scope, id: &str| {
            let mut writer = SessionWriter::open(txn, scope, id, now)?;
            let done = writer.redact(index, reason.as_deref())?;
            writer.finish()?;
            Ok(done)
        };
        reserve::freeing(|| self.write(redact))
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
        reserve::freeing(|| self.remove(now))
    }

    fn remove(&self, now: i64) -> Result<()> {
        let place = self.write(move |txn, scope, id| {
            let mut writer = SessionWriter::open(txn, scope, id, now)?;
            writer.record.state = SessionState::Hidden;
            let place = writer.place;
            super::place::unname(writer.pages, place.partition, writer.seed, id)?;
            learn::drop_mark(writer.pages, place.partition, writer.seed, id)?;
            writer.finish()?;
            Ok(place)
        })?;
        super::sweep::purge(self.engine, place, self.scope.seed(self.engine.store().secret()), now)
    }

    /// Copies the session up to message `at` (all of it by default) under another id; the copy goes its own way.
    pub fn fork(&self, new_id: &str, at: Option<u64>, now: i64) -> Result<()> {
        super::fork::fork(self, new_id, at, now)
    }

    /// Answers every call that waits for a result with one that says it was cancelled; the ids of those calls.
    pub fn cancel_tool_calls(&self, reason: &str, now: i64) -> Result<Vec<String>> {
        check_name("reason", Some(reason))?;
        let status = self.status()?;
        let ids: Vec<String> = status.record.tally.open.iter().map(ToString::to_string).collect();
        let mut prepared = Vec::new();
        for id in &ids {
            let content = format!("[cancelled: {reason}]");
            let given = serde_json::json!({"role": "tool", "tool_call_id": id, "content": content}).to_string();
            prepared.push(self.prepare(NewMessage::given(given), Arguments::MustBeJson, now)?);
        }
        let (messages, cancelled) = (status.record.tally.messages, ids.clone());
        self.edit("cancelling tool calls", now, move |writer| {
            writer.check_index(Some(messages))?;
            for prepared in &prepared {
                writer.add(prepared, None, None)?;
            }
            writer.record.tally.closed.extend(cancelled.iter().map(|id| id.as_str().into())); // so that a late result is known
            Ok(())
        })?;
        Ok(ids)
    }

    /// The text of a tool result by the key that its shortened form shows, from character `offset` on.
    pub fn tool_result(&self, key: &str, offset: usize, max_tokens: usize) -> Result<ResultText> {
        limits::within("max_tokens", max_tokens as u64, 1..=u64::MAX)?;
        let (text, encoding) = self.engine.store().read(|pages| {
            let status = self.expect(pages)?;
            let found = read_result_key(key).filter(|(index, _)| *index < status.record.tally.messages);
            let (index, number) = found.ok_or_else(|| no_result(key))?;
            let record = MessageRecord::expect(pages, status.place, index)?;
            let message = record.whole(pages, status.place)?;
            let result = message.tool_results().nth(number).ok_or_else(|| no_result(key))?;
            let texts: Vec<&str> =
                result.parts.iter().filter_map(|part| if let Part::Text(text) = part { Some(&**text) } else { None }).collect();
            Ok((texts.join("\n"), status.epoch.model.encoding))
        })?;
        let total_characters = text.chars().count();
        let start = text.char_indices().nth(offset).map_or(text.len(), |(at, _)| at);
        let part = crate::tokens::truncate_end(encoding, &text[start..], max_tokens);
        let next = offset.saturating_add(part.chars().count());
        Ok(ResultText { text: part.to_owned(), next_offset: (next < total_characters).then_some(next), total_characters })
    }

    /// What switching to `model` would keep.
    pub fn plan_switch(&self, model: &Model, now: i64) -> Result<SwitchPlan> {
        self.plan_switch_with(model, None, now)
    }

    /// Moves the session to another model: recounted inside its window, a new budget, a new epoch; `compacted` is a summary of what
    /// does not fit it, made from [`Self::switch_draft`], committed with the switch.
    pub fn switch_model(
        &self,
        model: &Model,
        told: NewInstructions<'_>,
        compacted: Option<(&Draft, StoredSummary)>,
        now: i64,
    ) -> Result<SwitchPlan> {
        let new = compacted.as_ref().map(|(_, made)| &made.summary);
        let plan = self.plan_switch_with(model, new, now)?; // counts outside of the transaction: what it counts again is in the cache
        let (model, parsed) = (model.clone(), super::open::read_tools(told.tools)?);
        let (system, replaces) = (told.system.map(str::to_owned), told.tools.is_some());
        let compacted = compacted.map(|(draft, made)| (draft.place, draft.seen, made));
        self.edit("switching the model", now, move |writer| {
            if system.is_some() || replaces {
                let tools = replaces.then(|| ToolsChange::to(parsed.as_ref()));
                instruct(writer, &Instructions { system: system.clone(), tools })?;
            }
            if let Some((place, seen, made)) = &compacted {
                check_fresh(writer, *place, *seen)?;
                compact::put(writer, made)?;
            }
            recount::switch(writer, model.clone(), Reason::ModelSwitched)
        })?;
        Ok(plan)
    }
}

/// What a switch of models tells the model from then on; `None` keeps what is there.
#[derive(Debug, Clone, Copy, Default)]
pub struct NewInstructions<'a> {
    /// The system prompt.
    pub system: Option<&'a str>,
    /// The tools as JSON.
    pub tools: Option<&'a [u8]>,
}

fn replied_before(writer: &SessionWriter<'_, WriteTransaction<'_>>, known: KnownId, prepared: &Prepared) -> Result<Replied> {
    let record = MessageRecord::expect(&*writer.pages, writer.place, known.index)?;
    if record.state == MessageState::Given && record.request != prepared.request {
        return Err(Error::new(
            ErrorKind::IdConflict,
            format!(
                "adding a response: a provider gives each response an id of its own, and this one has that of message {}, which says something else (session {:?}): give it without its id, or with another",
                known.index, writer.record.id
            ),
        )
        .with("index", known.index as i64));
    }
    let added = Added { index: known.index, turn: record.placed.turn, tokens: record.cost.tokens, action: AddAction::Duplicate };
    let call = record.call.unwrap_or_default();
    Ok(Replied { added, call, usage: None, planned: None, exceeded: false, usage_ignored: false, is_last: false })
}

pub(super) fn check_prompt(writer: &SessionWriter<'_, WriteTransaction<'_>>, place: Place, sent: &SentPrompt) -> Result<()> {
    if place != writer.place {
        return Err(Error::invalid(format!(
            "adding a response to session {:?}: its prompt must have been assembled by this session, and it was by another: add it there",
            writer.record.id
        ))
        .with("session_id", writer.record.id.as_str()));
    }
    // A session that was rewound and went on may be as long as it was, and say something else.
    for epoch in sent.epoch + 1..=writer.record.epoch {
        if StoredEpoch::read(&*writer.pages, place, epoch)?.epoch.reason == Reason::Rewound {
            return Err(moved(&writer.record, sent.messages));
        }
    }
    if sent.messages == writer.record.tally.messages { Ok(()) } else { Err(moved(&writer.record, sent.messages)) }
}

fn no_result(key: &str) -> Error {
    let shown = first_chars(key, 80);
    Error::new(
        ErrorKind::NotFound,
        format!("reading a tool result: the key must be one that a shortened result shows, and {shown:?} is none of this session: copy it from the marker"),
    )
    .with("key", shown)
}

pub(super) fn stored_message<P: Pages>(pages: &P, place: Place, index: u64) -> Result<StoredMessage> {
    let record = MessageRecord::expect(pages, place, index)?;
    let given = record.given(pages, place)?;
    let text = super::transcript::words::text_of(&record.parse(&given)?);
    Ok(StoredMessage { record, given, text })
}

/// Reads the shape of a message that a caller names.
pub fn format_named(name: &str) -> Result<Format> {
    Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
        Error::invalid(format!("reading format={name:?}: it must be one of {}: leave it out where the shape tells", known.join(", ")))
            .with("format", name)
    })
}
