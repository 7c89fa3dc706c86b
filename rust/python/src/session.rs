//! `SessionCore`: one session, as the package's `Session` calls it.
//!
//! Writes wait for the disk and run detached. An assembly whose last prompt was small, in a scope that is small, takes a fraction
//! of a millisecond and stays attached; the first of a handle reads the whole window and does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memspan_engine::Result;
use memspan_engine::collection::CollectionName;
use memspan_engine::scope::Scope;
use memspan_engine::session::{self, Ask, NewMessage, Options, Refusal, Session, SessionState, format_named};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arguments::{maybe_text, text_of, whole};
use crate::budget;
use crate::collection::CollectionCore;
use crate::engine::Handle;
use crate::errors::{Hold, invalid, run, to_python};
use crate::json;
use crate::messages::tools_json;
use crate::models::named_or_given;
use crate::prompt::{ATTACHED_TOKENS, PromptCore};
use crate::rows::scope_core;
use crate::scope::ScopeCore;
use crate::time;
use crate::turn::{Billed, Message, StoredTurn};
use crate::value::{Moment, value};
use crate::vectors::Vectors;

/// The largest items, together, with which an assembly is still short.
const SHORT_ITEMS: usize = 64 << 10;

/// A session by its name, and what its calls have in common.
#[derive(Debug)]
pub struct Named {
    pub handle: Arc<Handle>,
    pub scope: Arc<Scope>,
    pub id: String,
}

impl Named {
    pub fn run<T: Send>(&self, py: Python<'_>, hold: Hold, work: impl FnOnce(Session<'_>) -> Result<T> + Send) -> PyResult<T> {
        run(py, hold, || work(Session { engine: self.handle.engine()?, scope: &self.scope, id: &self.id }))
    }

    pub fn now(&self, py: Python<'_>) -> PyResult<i64> {
        self.handle.clock.now(py)
    }
}

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct SessionCore {
    pub named: Arc<Named>,
    /// Its own scope and those that it read along when it was opened: how large a recall is.
    scopes: Vec<Scope>,
    /// Tokens of the last prompt; more than any before the first.
    last_tokens: AtomicU64,
}

/// A message on its way in: `memspan.NewMessage`, or what has its fields.
#[derive(FromPyObject)]
pub struct NewRow<'py> {
    message: Bound<'py, PyAny>,
    id: Option<Bound<'py, PyAny>>,
    author: Option<Bound<'py, PyAny>>,
    created_at: Option<Bound<'py, PyAny>>,
    format: Option<Bound<'py, PyAny>>,
}

value! {
    /// What became of a message.
    ///
    /// Attributes:
    ///     index: Its index in the session.
    ///     tokens: Tokens of the form that is sent, its frame included; 0 where it was rejected.
    ///     action: "added"; "duplicate": its id was added before, with the same content; "rejected": its id is that of a redacted message.
    ///     turn: The number of its turn: `session.turn(added.turn)` has the reply, where there is one already.
    Added("memspan.short_term") { index: u64, tokens: u64, action: String, turn: u64 }
}

value! {
    /// What a session is now. Private.
    SessionStatus("memspan._core") {
        model: String, ended: bool, messages: u64, turns: u64, epoch: u64, created_at: Moment, last_added_at: Moment
    }
}

value! {
    /// A reply that was added: its turn, its place there, and whether its usage contradicts itself. Private.
    Replied("memspan._core") { turn: u64, call: u16, usage_ignored: bool }
}

value! {
    /// What one call was planned to cost, and what it did, in tokens: `memspan.usage.CallUsage` without prices. Private.
    StoredUsage("memspan._core") {
        turn: u64, call: u16, model: Option<String>, planned: Option<u64>, counted: Option<u64>, billed: Option<Billed>
    }
}

value! {
    /// How full the model's window is. Private.
    Fill("memspan._core") { epoch: u64, tokens: u64, window: u64 }
}

value! {
    /// A part of a stored tool result.
    ToolText("memspan.short_term") { text: String, next_offset: Option<usize>, total_characters: usize }
}

#[pymethods]
impl SessionCore {
    /// Opens a session of a scope, or makes it.
    #[staticmethod]
    fn open<'py>(
        py: Python<'py>,
        scope: &Bound<'py, ScopeCore>,
        id: &Bound<'py, PyAny>,
        model: Option<&Bound<'py, PyAny>>,
        system: Option<&Bound<'py, PyAny>>,
        tools: Option<&Bound<'py, PyAny>>,
        reads: Option<&Bound<'py, PyTuple>>,
        own_budget: Option<&Bound<'py, PyAny>>,
        collections: Option<Vec<Bound<'py, CollectionCore>>>,
        own_recalls: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Self> {
        let owner = scope.get();
        let options = Options {
            model: model.map(named_or_given).transpose()?,
            system: maybe_text("system", system)?,
            tools: tools.map(tools_json).transpose()?,
            reads: reads.map(|reads| read_along(owner, reads)).transpose()?,
            collections: collections.map(|collections| shown(owner, &collections)).transpose()?,
            budget: own_budget.map(budget::budget).transpose()?,
            recalls: own_recalls.map(budget::recalls).transpose()?,
        };
        let named = Named { handle: Arc::clone(&owner.handle), scope: Arc::clone(&owner.scope), id: text_of("a session's id", id)? };
        let now = named.now(py)?;
        let status = named.run(py, Hold::Detached, |session| session.open(options, now))?;
        let scopes = std::iter::once(Scope::clone(&owner.scope)).chain(status.record.reads).collect();
        Ok(Self { named: Arc::new(named), scopes, last_tokens: AtomicU64::new(u64::MAX) })
    }

    #[getter]
    fn id(&self) -> &str {
        &self.named.id
    }

    fn status(&self, py: Python<'_>) -> PyResult<SessionStatus> {
        let status = self.named.run(py, Hold::Attached, |session| session.status())?;
        let (record, tally) = (&status.record, &status.record.tally);
        Ok(SessionStatus {
            model: status.epoch.model.name.to_string(),
            ended: record.state == SessionState::Ended,
            messages: tally.messages,
            turns: tally.turns,
            epoch: record.epoch,
            created_at: Moment(record.created_at),
            last_added_at: Moment(record.last_time.max(record.created_at)),
        })
    }

    fn add(&self, py: Python<'_>, row: NewRow<'_>, expect_index: Option<&Bound<'_, PyAny>>) -> PyResult<Added> {
        let new = new_message(&row)?;
        let expect_index = budget::tokens("expect_index", expect_index)?;
        let now = self.named.now(py)?;
        self.named.run(py, Hold::Detached, |session| session.add(new, expect_index, now)).map(Added::from)
    }

    /// Adds messages; an error has the place of its message as field `row`.
    fn add_many(&self, py: Python<'_>, rows: Vec<NewRow<'_>>) -> PyResult<Vec<Added>> {
        let mut new = Vec::with_capacity(rows.len());
        for (place, row) in rows.iter().enumerate() {
            new.push(new_message(row).inspect_err(|error| {
                // An error without its place is better than an error about a place.
                let _ = error.value(py).getattr("fields").and_then(|fields| fields.set_item("row", place));
            })?);
        }
        let now = self.named.now(py)?;
        let added = self.named.run(py, Hold::Detached, |session| session.add_many(new, now))?;
        Ok(added.into_iter().map(Added::from).collect())
    }

    fn add_response(&self, py: Python<'_>, response: &Bound<'_, PyAny>, prompt: Option<&Bound<'_, PromptCore>>) -> PyResult<Replied> {
        let bytes = json::encode("a response", response)?;
        let prompt = prompt.map(|prompt| Arc::clone(&prompt.get().assembled));
        let now = self.named.now(py)?;
        let replied = self.named.run(py, Hold::Detached, |session| session.add_response(&bytes, prompt.as_deref(), now))?;
        Ok(Replied { turn: replied.added.turn, call: replied.call, usage_ignored: replied.usage_ignored })
    }

    /// A smaller prompt for one that a provider counted: so many tokens, and so many it may have.
    fn too_large(
        &self,
        py: Python<'_>,
        prompt: &Bound<'_, PromptCore>,
        tokens: &Bound<'_, PyAny>,
        limit: &Bound<'_, PyAny>,
    ) -> PyResult<PromptCore> {
        let tokens = whole("the provider's count", tokens, 1, 1 << 40)? as u64;
        let limit = whole("limit", limit, 1, 1 << 40)? as u64;
        self.smaller(py, prompt, Refusal { input_tokens: Some(tokens), limit_tokens: Some(limit), output_tokens: None })
    }

    /// Learns what a prompt costs.
    fn learn_cost(&self, py: Python<'_>, prompt: &Bound<'_, PromptCore>, tokens: &Bound<'_, PyAny>) -> PyResult<()> {
        let (assembled, now) = (Arc::clone(&prompt.get().assembled), self.named.now(py)?);
        let tokens = whole("the provider's count", tokens, 1, 1 << 40)? as u64;
        self.named.run(py, Hold::Detached, |session| session.learn_cost(&assembled, tokens, now).map(drop))
    }

    /// What the calls of at most `limit` turns from `first` on were planned to cost and did.
    fn usage(&self, py: Python<'_>, first: u64, limit: u64) -> PyResult<Vec<StoredUsage>> {
        let calls = self.named.run(py, Hold::Detached, |session| session.usage(first, limit))?;
        Ok(calls.into_iter().map(StoredUsage::from).collect())
    }

    fn fill(&self, py: Python<'_>) -> PyResult<Fill> {
        let session::Fill { epoch, tokens, window } = self.named.run(py, Hold::Attached, |session| session.fill())?;
        Ok(Fill { epoch, tokens, window })
    }

    /// The text to embed before `assemble`.
    fn question(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.named.run(py, self.hold(), |session| session.question())
    }

    /// Assembles a prompt; `degraded` is why the question has no vector, where there is an embedder.
    fn assemble<'py>(
        &self,
        py: Python<'py>,
        query: Option<&Bound<'py, PyAny>>,
        max_input_tokens: Option<&Bound<'py, PyAny>>,
        max_output_tokens: Option<&Bound<'py, PyAny>>,
        items: &Bound<'py, PyTuple>,
        own_budget: Option<&Bound<'py, PyAny>>,
        vector: Option<&Bound<'py, Vectors>>,
        degraded: Option<&str>,
    ) -> PyResult<PromptCore> {
        let ask = Ask {
            query: maybe_text("query", query)?,
            vector: vector.and_then(|vector| vector.get().query()),
            items: budget::items(items)?,
            budget: own_budget.map(budget::budget).transpose()?,
            max_input_tokens: budget::tokens("max_input_tokens", max_input_tokens)?,
            max_output_tokens: max_output_tokens
                .map(|most| whole("max_output_tokens", most, 1, 1 << 40))
                .transpose()?
                .map(|most| most as u64),
            now: self.named.now(py)?,
        };
        let short = ask.items.iter().map(|item| item.text.len()).sum::<usize>() <= SHORT_ITEMS;
        let small = short && run(py, Hold::Attached, || self.named.handle.hold(&self.scopes))? == Hold::Attached;
        let assembled = self.named.run(py, if small { self.hold() } else { Hold::Detached }, |session| session.assemble(&ask))?;
        self.last_tokens.store(assembled.prompt.total_tokens, Ordering::Relaxed);
        Ok(PromptCore::assembled(&self.named, assembled, degraded))
    }

    /// Messages from `first` on, at most `limit`.
    fn messages(&self, py: Python<'_>, first: u64, limit: u64) -> PyResult<Vec<Message>> {
        let hold = if limit == 1 { Hold::Attached } else { Hold::Detached };
        let page = self.named.run(py, hold, |session| session.messages(first, limit))?;
        Ok(page.into_iter().map(Message::from).collect())
    }

    fn turn(&self, py: Python<'_>, number: &Bound<'_, PyAny>) -> PyResult<StoredTurn> {
        let number = whole("a turn's number", number, 0, i64::MAX)? as u64;
        self.named.run(py, Hold::Attached, |session| session.turn(number)).map(StoredTurn::from)
    }

    /// What a call was sent.
    fn sent_prompt(&self, py: Python<'_>, turn: u64, call: u16) -> PyResult<Option<PromptCore>> {
        let now = self.named.now(py)?;
        let replayed = self.named.run(py, Hold::Detached, |session| session.sent_prompt(turn, call, now))?;
        Ok(replayed.map(|replayed| PromptCore::replayed(&self.named, replayed)))
    }

    fn rewind(&self, py: Python<'_>, index: &Bound<'_, PyAny>) -> PyResult<()> {
        let (index, now) = (whole("index", index, 0, i64::MAX)? as u64, self.named.now(py)?);
        self.named.run(py, Hold::Detached, |session| session.rewind(index, now))
    }

    fn redact(&self, py: Python<'_>, index: &Bound<'_, PyAny>, reason: Option<&Bound<'_, PyAny>>) -> PyResult<bool> {
        let (index, reason) = (whole("index", index, 0, i64::MAX)? as u64, maybe_text("reason", reason)?);
        let now = self.named.now(py)?;
        self.named.run(py, Hold::Detached, |session| session.redact(index, reason.as_deref(), now))
    }

    fn end(&self, py: Python<'_>) -> PyResult<()> {
        let now = self.named.now(py)?;
        self.named.run(py, Hold::Detached, |session| session.end(now))
    }

    fn delete(&self, py: Python<'_>) -> PyResult<()> {
        let now = self.named.now(py)?;
        self.named.run(py, Hold::Detached, |session| session.delete(now))
    }

    fn fork(&self, py: Python<'_>, new_id: &Bound<'_, PyAny>, at: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        let (new_id, at) = (text_of("a session's id", new_id)?, budget::tokens("at", at)?);
        let now = self.named.now(py)?;
        self.named.run(py, Hold::Detached, |session| session.fork(&new_id, at, now))?;
        let named = Named { handle: Arc::clone(&self.named.handle), scope: Arc::clone(&self.named.scope), id: new_id };
        Ok(Self { named: Arc::new(named), scopes: self.scopes.clone(), last_tokens: AtomicU64::new(u64::MAX) })
    }

    fn cancel_tool_calls(&self, py: Python<'_>, reason: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let (reason, now) = (text_of("reason", reason)?, self.named.now(py)?);
        self.named.run(py, Hold::Detached, |session| session.cancel_tool_calls(&reason, now))
    }

    fn tool_result(
        &self,
        py: Python<'_>,
        key: &Bound<'_, PyAny>,
        offset: &Bound<'_, PyAny>,
        max_tokens: &Bound<'_, PyAny>,
    ) -> PyResult<ToolText> {
        let key = text_of("key", key)?;
        let (offset, most) = (whole("offset", offset, 0, i64::MAX)? as usize, whole("max_tokens", max_tokens, 1, i64::MAX)? as usize);
        let part = self.named.run(py, Hold::Detached, |session| session.tool_result(&key, offset, most))?;
        let session::ResultText { text, next_offset, total_characters } = part;
        Ok(ToolText { text, next_offset, total_characters })
    }

    /// Whether two handles name the same session of the same engine.
    fn is_same(&self, other: &Bound<'_, Self>) -> bool {
        let (one, other) = (&self.named, &other.get().named);
        Arc::ptr_eq(&one.handle, &other.handle) && one.scope == other.scope && one.id == other.id
    }
}

impl SessionCore {
    fn smaller(&self, py: Python<'_>, prompt: &Bound<'_, PromptCore>, refusal: Refusal) -> PyResult<PromptCore> {
        let (assembled, now) = (Arc::clone(&prompt.get().assembled), self.named.now(py)?);
        let next = self.named.run(py, Hold::Detached, |session| session.refused(&assembled, refusal, now))?;
        Ok(PromptCore::assembled(&self.named, next, None))
    }

    /// The next prompt may be of any size.
    pub fn forget_size(&self) {
        self.last_tokens.store(u64::MAX, Ordering::Relaxed);
    }

    /// How a read of the window is run, by the size of the last prompt.
    fn hold(&self) -> Hold {
        if self.last_tokens.load(Ordering::Relaxed) <= ATTACHED_TOKENS { Hold::Attached } else { Hold::Detached }
    }
}

/// The message of a row.
pub fn new_message(NewRow { message, id, author, created_at, format }: &NewRow<'_>) -> PyResult<NewMessage> {
    let bytes = json::encode("a message", message)?;
    let format = maybe_text("format", format.as_ref())?;
    let format = format.map(|name| format_named(&name).map_err(|error| to_python(message.py(), &error))).transpose()?;
    Ok(NewMessage {
        given: String::from_utf8_lossy(&bytes).into_owned(), // UTF-8 already: it was made of Python's text
        format,
        id: maybe_text("id", id.as_ref())?,
        author: maybe_text("author", author.as_ref())?,
        created_at: time::maybe_from_python("created_at", created_at.as_ref())?,
        shortened: Vec::new(),
    })
}

impl From<session::Added> for Added {
    fn from(added: session::Added) -> Self {
        Self { index: added.index, tokens: added.tokens, action: added.action.name().to_owned(), turn: added.turn }
    }
}

impl From<session::CallUsage> for StoredUsage {
    fn from(session::CallUsage { turn, call, model, planned, counted, billed }: session::CallUsage) -> Self {
        Self { turn, call, model, planned, counted, billed: billed.map(|billed| Billed::new(billed, None)) }
    }
}

/// The scopes behind `reads=`.
fn read_along(own: &ScopeCore, reads: &Bound<'_, PyTuple>) -> PyResult<Vec<Scope>> {
    let mut scopes = Vec::with_capacity(reads.len());
    for scope in reads.iter() {
        let other = scope_core(&scope, "reads")?;
        if !Arc::ptr_eq(&other.get().handle, &own.handle) {
            return Err(invalid(
                scope.py(),
                "opening a session: reads= takes scopes of the same engine, and one belongs to another: take it from this engine's user() or shared()",
            ));
        }
        scopes.push(Scope::clone(&other.get().scope));
    }
    Ok(scopes)
}

fn shown(own: &ScopeCore, collections: &[Bound<'_, CollectionCore>]) -> PyResult<Vec<CollectionName>> {
    let mut names = Vec::with_capacity(collections.len());
    for collection in collections {
        if !Arc::ptr_eq(collection.get().handle(), &own.handle) {
            return Err(invalid(
                collection.py(),
                "opening a session: collections= takes collections of the same engine, and one belongs to another: take it from a scope of this engine",
            ));
        }
        names.push(collection.get().collection().clone());
    }
    Ok(names)
}
