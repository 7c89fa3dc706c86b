//! A session as it is stored: what every `add` reads and rewrites.

use super::codec;
use super::key::{SessionKey, by_name};
use super::recalls::Recalls;
use super::window::bounds::WindowContent;
use crate::collection::CollectionName;
use crate::context::limit::{default_output, input_limit};
use crate::context::{Budget, Share, Tally};
use crate::limits::DEFAULT_OUTPUT_TOKENS;
use crate::models::Model;
use crate::recall::ranking::SURE_ENOUGH;
use crate::scope::{Scope, ScopeType};
use crate::store::chunks;
use crate::store::envelope::{self, Codec, damaged};
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::units::clock::AHEAD;
use crate::units::score::SCORE_UNIT;
use crate::{Error, ErrorKind, Result};

const SCHEMA: u8 = 1;
/// The schema of the record of a session that names its reserve for the reply.
const NAMED_OUTPUT_SCHEMA: u8 = 2;
/// Fields of the record of a session that says where its messages were copied from.
const WITH_ORIGINS: u32 = 17;

/// The state of a session, which decides what may be done with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SessionState {
    /// It goes on.
    Live = 0,
    /// It was ended: it can be read and forked.
    Ended = 1,
    /// It is being deleted, or a fork of another that is not whole yet: nobody sees it.
    Hidden = 2,
}

/// The limits of a session's prompts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionBudget {
    /// The limit, where the caller named one.
    pub max_input_tokens: Option<u64>,
    /// The reserve for the reply; `None` is [`DEFAULT_OUTPUT_TOKENS`], or the model's maximum where that is less.
    pub output_tokens: Option<u64>,
    /// How much of the window a prompt may fill.
    pub fill: Share,
    /// Order, cut, grants, relevance.
    pub sections: Budget,
}

impl Default for SessionBudget {
    fn default() -> Self {
        let mut sections = Budget::default();
        sections.relevance.min_score = MIN_SCORE;
        Self { max_input_tokens: None, output_tokens: None, fill: Share::FILL, sections }
    }
}

/// The least score of a recalled memory, its share of the best times the answer's confidence, in units of 2^-32.
const MIN_SCORE: i64 = (SURE_ENOUGH * SCORE_UNIT) as i64;

/// The least reserve for models that think before they answer and count their thinking as reply (`OpenAI`, "Reasoning models").
const REASONING_OUTPUT: u64 = 25_000;

/// The reserve of a reply where the caller names none: room for hidden thinking too, in a window that is large enough.
fn reply_tokens(model: &Model) -> u64 {
    let usual = default_output(model.max_output_tokens);
    let thinks = crate::models::get(&model.name).is_ok_and(|profile| profile.thinks_by_default());
    if thinks { usual.max(REASONING_OUTPUT.min(model.context_window / 8)).min(model.max_output_tokens) } else { usual }
}

impl SessionBudget {
    /// The limit of a prompt and what is kept for the reply.
    pub fn limit(&self, model: &Model) -> Result<(u64, u64)> {
        let output = self.output_tokens.unwrap_or_else(|| reply_tokens(model));
        if output == 0 {
            return Err(Error::invalid("planning a prompt: the reply must have at least 1 token, and max_output_tokens is 0: raise it"));
        }
        if output > model.max_output_tokens {
            return Err(Error::invalid(format!(
                "planning a prompt: the reply may have at most {} tokens with {}, and output_tokens is {output}: lower it",
                model.max_output_tokens, model.name
            ))
            .with("output_tokens", output as i64));
        }
        let limit = input_limit(model.context_window, output, self.fill, self.max_input_tokens)?;
        if self.max_input_tokens.is_some() && limit > model.max_input_tokens {
            return Err(Error::new(
                ErrorKind::BudgetExceeded,
                format!(
                    "planning a prompt: {} takes requests of at most {} tokens, and max_input_tokens is {limit}: lower it",
                    model.name, model.max_input_tokens
                ),
            )
            .with("limit_tokens", limit as i64)
            .with("max_input_tokens", model.max_input_tokens as i64));
        }
        Ok((limit.min(model.max_input_tokens), output))
    }
}

impl SessionBudget {
    /// This budget for a model: a limit or a reserve that does not fit its window gives way to the default. It is stored as it was asked
    /// for, so that it holds again with a model that it fits.
    #[must_use]
    pub fn fitted(&self, model: &Model) -> Self {
        let mut budget = self.clone();
        if budget.limit(model).is_err() {
            budget.output_tokens = None;
        }
        if budget.limit(model).is_err() {
            budget.max_input_tokens = None;
        }
        budget
    }
}

/// The volatile block that the newest turn was sent with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentBlock {
    /// The turn.
    pub turn: u64,
    /// The call whose ledger entry has it.
    pub call: u16,
    /// Its tokens.
    pub tokens: u64,
}

fn read_state(r: &mut Reader<'_>, key: &[u8]) -> Result<SessionState> {
    match r.uint()? {
        0 => Ok(SessionState::Live),
        1 => Ok(SessionState::Ended),
        2 => Ok(SessionState::Hidden),
        _ => Err(damaged(key, "it names no state of a session")),
    }
}

/// Messages that a fork copied: those before `end`, from where the origin before it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The first message that is not of it.
    pub end: u64,
    /// The id of the session that they were said in.
    pub session: String,
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// The caller's id.
    pub id: String,
    /// Its state.
    pub state: SessionState,
    /// When it was made.
    pub created_at: i64,
    /// Time of its last write; the next is later.
    pub last_time: i64,
    /// The clock's time then, where `last_time` ran ahead of it; or when maintenance first met a session from the future.
    pub clock: Option<i64>,
    /// Number of its epoch.
    pub epoch: u64,
    /// Counts up whenever something that was written changes. Caches of processes are void then.
    pub edits: u64,
    /// The state of its transcript.
    pub tally: Tally,
    /// The block of the newest turn, once it was sent.
    pub sent: Option<SentBlock>,
    /// The limits of its prompts as they were asked for: with its model they may be others ([`Self::limit`]).
    pub budget: SessionBudget,
    /// The scopes it reads along.
    pub reads: Vec<Scope>,
    /// The collections that its prompts may show passages of.
    pub collections: Vec<CollectionName>,
    /// The content of its window by class, where the model's tokenizer is closed.
    pub window: Option<WindowContent>,
    /// Limits on the texts that its prompts recall.
    pub recalls: Recalls,
    /// The sessions that its first messages were copied from, oldest first.
    pub origins: Vec<Origin>,
}

fn write_scope(w: &mut Writer, scope: &Scope) {
    w.nested(3);
    w.maybe_text(scope.tenant.as_deref());
    w.uint(scope.scope_type as u64);
    w.text(&scope.id);
}

fn read_scope<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Scope> {
    let mut r = codec::inner(r, key)?;
    let tenant = r.maybe_text()?.map(str::to_owned);
    let scope_type = if r.uint()? == 0 { ScopeType::User } else { ScopeType::Shared };
    Ok(Scope::named(tenant, scope_type, r.text()?.to_owned()))
}

/// The reserve for the reply: the default is what was named only where the schema says so.
fn read_output(schema: u8, stored: u64) -> Option<u64> {
    Some(stored).filter(|tokens| schema >= NAMED_OUTPUT_SCHEMA || *tokens != DEFAULT_OUTPUT_TOKENS)
}

impl SessionRecord {
    /// When something was last added; when it was made where nothing was.
    #[must_use]
    pub fn last_added_at(&self) -> i64 {
        self.clock.unwrap_or(self.last_time.max(self.created_at))
    }

    /// When something was last added, as far as that is known at `now`; `made` is when a session was made that is at least as old.
    ///
    /// A time in the past is believed. In the place of one that is still to come counts what the clock said beside it, where that may be.
    fn told_at(&self, made: i64, now: i64) -> Option<i64> {
        let last = self.last_time.max(self.created_at);
        if last <= now { Some(last) } else { self.clock.filter(|at| (made..=now).contains(at)) }
    }

    /// Whether nothing was added since `before`.
    pub(super) fn is_old(&self, before: i64, made: i64, now: i64) -> bool {
        self.told_at(made, now).is_some_and(|last| last < before)
    }

    /// Whether its last write is from the future, and nothing tells how old it is.
    pub(super) fn is_ahead(&self, made: i64, now: i64) -> bool {
        self.last_time > now.saturating_add(AHEAD) && self.told_at(made, now).is_none()
    }

    /// The limit of a prompt for a model, and what is kept for the reply.
    pub fn limit(&self, model: &Model) -> Result<(u64, u64)> {
        self.budget.fitted(model).limit(model)
    }

    /// The id of the session that a message was copied from; `None` where it was said in this one, or copied before 0.12.0.
    #[must_use]
    pub fn origin_of(&self, message: u64) -> Option<&str> {
        self.origins.iter().find(|origin| message < origin.end).map(|origin| origin.session.as_str())
    }

    /// The origins of its messages up to `at`.
    pub(super) fn origins_before(&self, at: u64) -> Vec<Origin> {
        let mut origins: Vec<Origin> = Vec::new();
        for origin in &self.origins {
            let end = origin.end.min(at);
            if origins.last().map_or(0, |before| before.end) < end {
                origins.push(Origin { end, ..origin.clone() });
            }
        }
        origins
    }

    /// Whether it was ended.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.state == SessionState::Ended
    }

    fn encode(&self) -> Vec<u8> {
        let copied = self.clock.is_some() || !self.origins.is_empty();
        let recalls = copied || self.recalls != Recalls::default();
        let collections = recalls || !self.collections.is_empty();
        let fields = if self.clock.is_some() {
            WITH_ORIGINS + 1
        } else if copied {
            WITH_ORIGINS
        } else if recalls {
            16
        } else if collections {
            15
        } else {
            13 + u32::from(self.window.is_some())
        };
        let mut w = Writer::array(fields);
        w.text(&self.id);
        w.uint(self.state as u64);
        w.int(self.created_at);
        w.int(self.last_time);
        w.uint(self.epoch);
        w.uint(self.edits);
        codec::write_tally(&mut w, &self.tally);
        match self.sent {
            None => w.nil(),
            Some(sent) => {
                w.nested(3);
                w.uint(sent.turn);
                w.uint(u64::from(sent.call));
                w.uint(sent.tokens);
            }
        }
        w.maybe_int(self.budget.max_input_tokens.map(|tokens| tokens as i64));
        w.uint(self.budget.output_tokens.unwrap_or(DEFAULT_OUTPUT_TOKENS));
        w.uint(u64::from(self.budget.fill.millionths()));
        codec::write_budget(&mut w, &self.budget.sections);
        w.nested(self.reads.len() as u32);
        for scope in &self.reads {
            write_scope(&mut w, scope);
        }
        match &self.window {
            Some(window) => window.write(&mut w),
            None if collections => w.nil(),
            None => {}
        }
        if collections {
            codec::write_list(&mut w, &self.collections, |w, collection| {
                w.nested(2);
                write_scope(w, &collection.scope);
                w.text(&collection.name);
            });
        }
        if recalls {
            self.recalls.write(&mut w);
        }
        if copied {
            codec::write_list(&mut w, &self.origins, |w, origin| {
                w.nested(2);
                w.uint(origin.end);
                w.text(&origin.session);
            });
        }
        if let Some(clock) = self.clock {
            w.int(clock);
        }
        w.into_bytes()
    }

    fn decode(key: &[u8], schema: u8, body: &[u8]) -> Result<Self> {
        let mut r = Reader::array(key, body)?;
        let id = r.text()?.to_owned();
        let state = read_state(&mut r, key)?;
        let (created_at, last_time, epoch, edits) = (r.int()?, r.int()?, r.uint()?, r.uint()?);
        let tally = codec::read_tally(&mut r, key)?;
        let sent = match codec::maybe_inner(&mut r, key)? {
            None => None,
            Some(mut r) => Some(SentBlock { turn: r.uint()?, call: r.uint()? as u16, tokens: r.uint()? }),
        };
        let budget = SessionBudget {
            max_input_tokens: r.maybe_int()?.map(|tokens| tokens as u64),
            output_tokens: read_output(schema, r.uint()?),
            fill: Share::new(r.uint()? as u32),
            sections: codec::read_budget(&mut r, key)?,
        };
        let mut reads = Vec::new();
        for _ in 0..r.nested()? {
            reads.push(read_scope(&mut r, key)?);
        }
        let window = WindowContent::read(&mut r, key)?;
        let collections = codec::read_list(&mut r, |r| {
            let mut r = codec::inner(r, key)?;
            Ok(CollectionName { scope: read_scope(&mut r, key)?, name: r.text()?.to_owned() })
        })?;
        let recalls = Recalls::read(&mut r, key)?;
        let origins = codec::read_list(&mut r, |r| {
            let mut r = codec::inner(r, key)?;
            Ok(Origin { end: r.uint()?, session: r.text()?.to_owned() })
        })?;
        let clock = r.maybe_int()?;
        Ok(Self {
            id,
            state,
            created_at,
            last_time,
            clock,
            epoch,
            edits,
            tally,
            sent,
            budget,
            reads,
            collections,
            window,
            recalls,
            origins,
        })
    }

    /// The state of a session and how many messages it has. The fields behind these in its record are not decoded.
    pub(super) fn glance<P: Pages>(pages: &P, place: SessionKey) -> Result<Option<(SessionState, u64)>> {
        let key = place.record();
        let Some((_, body)) = chunks::get(pages, key)? else { return Ok(None) };
        let mut r = Reader::array(key.as_slice(), &body)?;
        r.text()?;
        let state = read_state(&mut r, key.as_slice())?;
        let (_created_at, _last_time, _epoch, _edits) = (r.int()?, r.int()?, r.uint()?, r.uint()?);
        Ok(Some((state, codec::read_tally(&mut r, key.as_slice())?.messages)))
    }

    /// The id of a session, without the rest of its record.
    pub(super) fn read_id<P: Pages>(pages: &P, place: SessionKey) -> Result<Option<String>> {
        let key = place.record();
        let Some((_, body)) = chunks::get(pages, key)? else { return Ok(None) };
        Ok(Some(Reader::array(key.as_slice(), &body)?.text()?.to_owned()))
    }

    /// The record of a session that has messages of others; `None` of every other, of which next to nothing is decoded.
    pub(super) fn read_fork<P: Pages>(pages: &P, place: SessionKey) -> Result<Option<Self>> {
        let key = place.record();
        let Some((schema, body)) = chunks::get(pages, key)? else { return Ok(None) };
        if Reader::array(key.as_slice(), &body)?.fields_left() < WITH_ORIGINS {
            return Ok(None);
        }
        Ok(Some(Self::decode(key.as_slice(), schema, &body)?).filter(|record| !record.origins.is_empty()))
    }

    /// The record of a session, whatever its state.
    pub(super) fn read<P: Pages>(pages: &P, place: SessionKey) -> Result<Option<Self>> {
        let key = place.record();
        let Some((schema, body)) = chunks::get(pages, key)? else { return Ok(None) };
        Self::decode(key.as_slice(), schema, &body).map(Some)
    }

    /// The record of a session that something refers to.
    pub(super) fn expect<P: Pages>(pages: &P, place: SessionKey) -> Result<Self> {
        Self::read(pages, place)?.ok_or_else(|| damaged(place.record().as_slice(), "its id refers to it and it is missing"))
    }

    /// Writes it.
    pub(super) fn write(&self, pages: &mut impl PagesMut, place: SessionKey) -> Result<()> {
        let schema = if self.budget.output_tokens.is_some() { NAMED_OUTPUT_SCHEMA } else { SCHEMA };
        chunks::put(pages, place.record(), schema, Codec::MessagePack, &self.encode())
    }

    /// Refuses what only a session that goes on may do.
    pub(super) fn check_live(&self, doing: &str) -> Result<()> {
        if self.state == SessionState::Live {
            return Ok(());
        }
        let rule = "a session that was ended stays as it is";
        let message = format!("{doing}: {rule}, and session {:?} was: fork() it to go on, or give a new id", self.id);
        Err(Error::new(ErrorKind::Closed, message).with("session_id", self.id.as_str()))
    }
}

/// The place of a session by its id, and its record.
pub(super) fn find<P: Pages>(pages: &P, partition: Partition, seed: Seed, id: &str) -> Result<Option<(SessionKey, SessionRecord)>> {
    let key = by_name(partition, seed, id);
    let Some(value) = pages.get(key.as_slice())? else { return Ok(None) };
    let mut r = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
    let place = SessionKey { partition, session: r.uint()? as u32 };
    let record = SessionRecord::expect(pages, place)?;
    if record.id != id {
        return Err(envelope::damaged(key.as_slice(), "it belongs to a session of another id"));
    }
    Ok(Some((place, record)))
}

/// The place of a session in a scope by its id, and its record.
pub(super) fn find_in<P: Pages>(pages: &P, scope: &Scope, id: &str) -> Result<Option<(SessionKey, SessionRecord)>> {
    match scope.find(pages)? {
        Some(partition) => find(pages, partition, scope.seed(pages.secret()), id),
        None => Ok(None),
    }
}

/// Where the session of an id is.
pub(super) fn locate<P: Pages>(pages: &P, scope: &Scope, id: &str) -> Result<Option<SessionKey>> {
    Ok(find_in(pages, scope, id)?.map(|(place, _)| place))
}

/// Names a session.
pub(super) fn name(pages: &mut impl PagesMut, place: SessionKey, seed: Seed, id: &str) -> Result<()> {
    let key = by_name(place.partition, seed, id);
    let mut w = Writer::array(1);
    w.uint(u64::from(place.session));
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, w.bytes()))
}

/// The error of an id that no session has.
pub(super) fn no_such_session(id: &str) -> Error {
    Error::new(
        ErrorKind::NotFound,
        format!("opening session {id:?}: it must have been made, and this scope has none of that id: name a model, session(id, model=...), to make it"),
    )
    .with("session_id", id)
}
