//! A model's reply: added with what it was sent, and what it tells of the cost of a prompt.

use std::sync::Arc;

use super::add::{NewMessage, Prepared};
use super::key::SessionKey;
use super::ledger::response::{Response, UsageTokens};
use super::ledger::{self, Call, SentPrompt};
use super::record::{SentBlock, SessionRecord};
use super::session::Session;
use super::stored_epoch::StoredEpoch;
use super::transcript::message::{MessageRecord, MessageState};
use super::window::assemble::Assembled;
use super::window::epochs::Observed;
use super::writer::{AddAction, Added, KnownId, SessionWriter, moved};
use crate::context::turns::is_paused;
use crate::context::{Arguments, Reason};
use crate::limits;
use crate::store::environment::WriteTransaction;
use crate::store::metrics::add;
use crate::store::pages::Pages;
use crate::{Error, ErrorKind, Result};

/// A reply that was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replied {
    /// The reply.
    pub added: Added,
    /// Its call in its turn.
    pub call: u16,
    /// Its bill, where the provider reported one.
    pub usage: Option<UsageTokens>,
    /// The planned cost of its prompt.
    pub planned: Option<u64>,
    /// It cost more than the bound.
    pub exceeded: bool,
    /// The provider's usage contradicts itself or cannot be: it was stored, and nothing was learned of it.
    pub usage_ignored: bool,
    /// It was stored now and calls no tool.
    pub is_last: bool,
}

impl Session<'_> {
    /// Adds a model's reply with what it was sent, in one transaction. Given twice, the stored one is returned.
    ///
    /// # Errors
    /// `SessionMoved` where the session went on since the prompt was assembled, `InvalidInput` for a prompt of another session
    /// or a response of an unknown shape.
    pub fn add_response(&self, response: &[u8], prompt: Option<&Assembled>, now: i64) -> Result<Replied> {
        self.add_reply(response, prompt, None, None, None, now)
    }

    /// Adds a model's reply as [`Self::add_response`] does; a reply that calls no tool, and in which the model did not pause, ends the
    /// lease of `holder`, in the same transaction. `expect_index` is the index it is to have, `created_at` when it was said.
    pub fn add_reply(
        &self,
        response: &[u8],
        prompt: Option<&Assembled>,
        holder: Option<&str>,
        expect_index: Option<u64>,
        created_at: Option<i64>,
        now: i64,
    ) -> Result<Replied> {
        let response = Response::read(response)?;
        let given = String::from_utf8_lossy(&response.message).into_owned();
        let new = NewMessage { format: Some(response.format), created_at, ..NewMessage::given(given) };
        let prepared = self.prepare(new, Arguments::Keep, now)?;
        let prompt = prompt.cloned().map(Arc::new);
        let sent = prompt.as_ref().map(|prompt| (prompt.place, Arc::clone(&prompt.sent)));
        let (response, holder) = (Arc::new(response), holder.map(str::to_owned));
        let replied = self.edit("adding a response", now, move |writer| {
            let newest = writer.record.tally.messages.saturating_sub(1);
            let asked = sent.as_ref().map_or(newest, |(_, sent)| sent.messages);
            let find = |id, index| ledger::find_response(&*writer.pages, writer.place, writer.seed, (id, response.hash), index);
            let (mut id, mut known) = (response.id.as_deref(), find(response.id.as_deref(), asked)?);
            // Some servers give an id again. A retry has the prompt that the known reply answered, or comes at once.
            if id.is_some() && known.as_ref().is_some_and(|known| known.index != asked && known.index != newest) {
                let retried = find(None, asked)?.or(find(None, newest)?);
                if retried.is_some() || sent.is_some() {
                    (id, known) = (None, retried);
                }
            }
            if let Some(known) = known {
                return replied_before(writer, known, &prepared);
            }
            if id.is_none() && ledger::is_taken_out(&*writer.pages, writer.place, writer.seed, asked)? {
                return Err(moved(&writer.record, asked)); // it may be that reply, given again
            }
            if let Some((place, sent)) = &sent {
                check_prompt(writer, *place, sent)?;
                writer.is_late = sent.epoch < writer.record.epoch;
            }
            let turn = writer.record.tally.turns.saturating_sub(1);
            let number = ledger::count(&*writer.pages, writer.place, turn)?;
            if number == ledger::MOST {
                let message =
                    format!("adding a reply: a turn has at most {number} calls, and turn {turn} has as many: begin the next turn");
                return Err(Error::invalid(message).with("turn", turn as i64));
            }
            let observed = match (&prompt, response.planned_tokens()) {
                (Some(prompt), Some(tokens)) => writer.observe(prompt, tokens, false)?,
                _ => Observed::default(),
            };
            let added = writer.add(&prepared, expect_index, Some(number))?;
            let sent = sent.as_ref().map(|(_, sent)| (**sent).clone());
            let planned = sent.as_ref().map(|sent| sent.planned);
            write_call(
                writer,
                Call { response_id: id.map(str::to_owned), ..call_of(&response, sent, number, added.index, writer.told) },
                added.turn,
            )?;
            let is_last = writer.record.tally.open.is_empty() && !is_paused(&prepared.message);
            if let Some(holder) = holder.as_ref().filter(|_| is_last) {
                super::reply::lease::end(writer.pages, writer.place, holder)?;
            }
            let usage = response.usage_tokens;
            Ok(Replied {
                added,
                call: number,
                usage,
                planned,
                exceeded: observed.exceeded,
                usage_ignored: observed.impossible || response.usage.is_some() && usage.is_none(),
                is_last,
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

    /// A provider's count of a prompt, by its endpoint for that or in the refusal of one that was too long: the truth of its cost,
    /// which may be more than the window has. Gives whether it was above the bound and something was learned of it.
    ///
    /// # Errors
    /// `SessionMoved` where the session went on since the prompt was assembled.
    pub fn learn_cost(&self, prompt: &Assembled, cost: u64, now: i64) -> Result<bool> {
        limits::within("the provider's count", cost, 1..=limits::MAX_TOKENS)?;
        let prompt = Arc::new(prompt.clone());
        let exceeded = self.edit("learning what a prompt costs", now, move |writer| {
            check_prompt(writer, prompt.place, &prompt.sent)?;
            Ok(writer.observe(&prompt, cost, true)?.exceeded)
        })?;
        add(&self.engine.store().metrics().bounds_exceeded, u64::from(exceeded));
        Ok(exceeded)
    }
}

/// A call of a model by what it answered.
fn call_of(response: &Response, sent: Option<SentPrompt>, number: u16, reply: u64, added_at: i64) -> Call {
    Call {
        number,
        reply,
        added_at,
        response_id: response.id.clone(),
        model: response.model.clone(),
        finish: response.finish.clone(),
        usage: response.usage.clone(),
        usage_tokens: response.usage_tokens,
        sent,
        hash: response.hash,
    }
}

/// Writes a call of a turn in place of what came of its reply so far, and keeps which block its prompt carried.
fn write_call(writer: &mut SessionWriter<'_, WriteTransaction<'_>>, mut call: Call, turn: u64) -> Result<()> {
    super::reply::partial::remove(writer.pages, writer.place)?;
    call.write(writer.pages, writer.place, turn)?;
    call.put_name(writer.pages, writer.place, writer.seed)?;
    if let Some(sent) = call.sent.filter(|sent| sent.carried) {
        writer.record.sent = Some(SentBlock { turn, call: call.number, tokens: sent.block_tokens });
    }
    Ok(())
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
    if prepared.new.created_at.zip(record.created_at).is_some_and(|(given, known)| given != known) {
        return Err(Error::new(
            ErrorKind::IdConflict,
            format!(
                "adding a response: a reply is given once, and this one is message {0} with another created_at (session {1:?}): give the \
                 one that it has, or none; where that one is wrong, rewind({0}) and add it and what follows it again",
                known.index, writer.record.id
            ),
        )
        .with("index", known.index as i64));
    }
    let added = Added { index: known.index, turn: record.placed.turn, tokens: record.cost.tokens, action: AddAction::Duplicate };
    let call = record.call.unwrap_or_default();
    Ok(Replied { added, call, usage: None, planned: None, exceeded: false, usage_ignored: false, is_last: false })
}

pub(super) fn check_prompt(writer: &SessionWriter<'_, WriteTransaction<'_>>, place: SessionKey, sent: &SentPrompt) -> Result<()> {
    if place != writer.place {
        return Err(Error::invalid(format!(
            "adding a response to session {:?}: its prompt must have been assembled by this session, and it was by another: add it there",
            writer.record.id
        ))
        .with("session_id", writer.record.id.as_str()));
    }
    let is_same = sent.messages == writer.record.tally.messages && !is_taken_back(&*writer.pages, place, sent, &writer.record)?;
    if is_same { Ok(()) } else { Err(moved(&writer.record, sent.messages)) }
}

/// Whether messages were taken back, or their text was, since a prompt was assembled: a session that went on then may be as long as it was,
/// and say something else.
pub(super) fn is_taken_back<P: Pages>(pages: &P, place: SessionKey, sent: &SentPrompt, now: &SessionRecord) -> Result<bool> {
    for epoch in sent.epoch + 1..=now.epoch {
        if StoredEpoch::read(pages, place, epoch)?.epoch.reason == Reason::Rewound {
            return Ok(true);
        }
    }
    Ok(false)
}
