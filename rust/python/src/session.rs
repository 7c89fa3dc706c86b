//! `SessionCore`: one session, as the package's `Session` calls it.
//!
//! Writes wait for the disk and run detached. An assembly whose last prompt was small, in a scope that is small, takes a fraction
//! of a millisecond and stays attached; the first of a handle reads the whole window and does not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use memspan_engine::Result;
use memspan_engine::context::{Item, Share};
use memspan_engine::models::Model;
use memspan_engine::scope::Scope;
use memspan_engine::session::Assembled;
use memspan_engine::session::{Ask, Claim, Leased, NewInstructions, NewMessage, Options, PartialReply, Policy, Refusal, Session};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arguments::{Argument, Tokens, calls, option};
use crate::collection::CollectionCore;
use crate::compaction::{CompactionDraft, GivenWritten};
use crate::engine::Handle;
use crate::errors::{Hold, run};
use crate::messages::{Given, Messages, ToolsJson};
use crate::prompt::{ATTACHED_TOKENS, PromptCore};
use crate::scope::{GivenScope, ScopeCore};
use crate::value::{Attached, Json, Moment, Show, plain};
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
plain!(SessionCore);

calls! {
    SessionCore |it| {
        status() Attached |session| session.status();
        budget() Attached |session| session.budget();
        metadata() Attached |session| Ok(Attached(session.metadata()?));
        set_metadata(given as "metadata": Attached) Detached |session, now| session.set_metadata(given.0, now);
        /// The system prompt and the tools.
        instructions() Attached |session| session.instructions().map(|(system, tools)| (system, tools.map(Json)));
        versions() Detached |session| session.versions();
        add(row: NewMessage, expect_index: Option<Tokens>) Detached |session, now| session.add(row, expect_index.map(Tokens::number), now);
        /// Adds a message, with shorter texts of its long tool results.
        add_shortened(row: NewMessage, shortened: Vec<(u32, String)>, expect_index: Option<Tokens>) Detached |session, now|
            session.add(NewMessage { shortened, ..row }, expect_index.map(Tokens::number), now);
        /// The texts of a message's tool results that prompts would show shortened, by their places.
        long_results(row: NewMessage) Detached |session| session.long_results(&row);
        /// Adds messages; an error has the place of its message as field `row`.
        add_many(rows: Messages) Detached |session, now| session.add_many(rows.0, now);
        /// Adds a reply, which ends its holder's lease where it calls no tool.
        add_response(response as "a response": Given, prompt: Option<Arc<Assembled>>, holder as "a lease's holder": Option<String>)
            Detached |session, now| session.add_reply(&response.0, prompt.as_deref(), holder.as_deref(), now);
        take_lease(holder as "a lease's holder": String, seconds: f64, dead as "a dead holder": Option<String>)
            Detached |session, now| session.claim_lease(Claim::lasting(holder, dead, seconds, now)?);
        /// Takes the lease and adds a message in one transaction: what became of it, or whoever holds the lease.
        add_leased(row: NewMessage, holder as "a lease's holder": String, seconds: f64, dead as "a dead holder": Option<String>)
            Detached |session, now| Ok(match session.add_leased(row, Claim::lasting(holder, dead, seconds, now)?)? {
                Leased::Added(added) => (Some(added), None),
                Leased::Held(lease) => (None, Some(lease)),
            });
        release_lease(holder as "a lease's holder": String) Detached |session| session.release_lease(&holder);
        /// Keeps what came of a reply.
        keep_partial(response as "a response": String, messages: u64, began_at: Moment, error: Option<String>) Detached |session, now|
            session.keep_partial(PartialReply { messages, began_at: began_at.0, written_at: now, error, response });
        partial() Attached |session| session.partial_reply();
        drop_partial() Detached |session| session.drop_partial();
        open_calls() Attached |session| session.open_calls();
        /// A smaller prompt for one that was refused: what it was, what it may be, what its reply may have.
        refused(prompt: Arc<Assembled>, input_tokens: Option<Tokens>, limit_tokens: Option<Tokens>, output_tokens: Option<Tokens>)
            Detached |session, now| {
                let [input_tokens, limit_tokens, output_tokens] = [input_tokens, limit_tokens, output_tokens].map(|one| one.map(Tokens::number));
                Ok(it.prompt(session.refused(&prompt, Refusal { input_tokens, limit_tokens, output_tokens }, now)?))
            };
        /// Asks again what a prompt was asked for, of the session as it is now.
        again(prompt: Arc<Assembled>) Detached |session, now| Ok(it.prompt(session.again(&prompt, now)?));
        /// Learns what a prompt costs.
        learn_cost(prompt: Arc<Assembled>, tokens as "the provider's count": Tokens) Detached |session, now|
            session.learn_cost(&prompt, tokens.0, now);
        /// What the calls of at most `limit` turns from `first` on were planned to cost and did.
        usage(first: u64, limit: u64) Detached |session| session.usage(first, limit);
        fill() Attached |session| session.fill();
        turn(number as "a turn's number": u64) Attached |session| session.turn(number);
        /// What a call was sent.
        sent_prompt(turn: u64, call: u16) Detached |session, now|
            Ok(session.sent_prompt(turn, call, now)?.map(|replayed| PromptCore::replayed(&it.named, replayed)));
        rewind(index: u64) Detached |session, now| session.rewind(index, now);
        redact(index: u64, reason: Option<String>) Detached |session, now| session.redact(index, reason.as_deref(), now);
        end() Detached |session, now| session.end(now);
        delete() Detached |session, now| session.delete(now);
        fork(new_id as "a session's id": String, at: Option<Tokens>) Detached |session, now| {
            session.fork(&new_id, at.map(Tokens::number), now)?;
            Ok(Self::new(Named { handle: Arc::clone(&it.named.handle), scope: Arc::clone(&it.named.scope), id: new_id }, it.scopes.clone()))
        };
        cancel_tool_calls(reason: String) Detached |session, now| session.cancel_tool_calls(&reason, now);
        tool_result(key: String, offset: usize, max_tokens: usize) Detached |session| session.tool_result(&key, offset, max_tokens);
        notes() Attached |session| session.notes();
        add_note(text as "a note": String) Detached |session, now| session.add_note(&text, now);
        remove_note(number as "a note's number": u32) Detached |session, now| session.remove_note(number, now);
        /// When it is to be compacted, and how much of a tool result it shows.
        set_policy(at: Option<Share>, every_turns: u64, result_tokens: u64) Detached |session, now|
            session.set_policy(Policy { at: at.unwrap_or_default(), every_turns, result_tokens, task_ended: 0 }, now);
        task_ended() Detached |session, now| session.task_ended(now);
        compaction_due() Attached |session| Ok(session.compaction_due()?.map(memspan_engine::session::Due::name));
        /// What would leave; `None` where no turn is old enough.
        draft(keep_exchanges: u64, max_tokens: Option<Tokens>) Detached |session|
            Ok(session.draft(keep_exchanges, max_tokens.map(Tokens::number))?.map(CompactionDraft::new));
        /// Everything that was said, for a brief of so many tokens; it cannot be committed.
        brief_draft(max_tokens: u64) Detached |session| session.brief_draft(max_tokens).map(CompactionDraft::new);
        commit(draft: Py<CompactionDraft>, written: GivenWritten) Detached |session, now|
            session.commit(&draft.get().0.draft, draft.get().0.stored(written.0), now);
        /// The newest summary.
        summary() Attached |session| session.summary_text();
        /// What a switch of models would leave out; `None` where all of it fits.
        switch_draft(to as "model": Model) Detached |session, now| Ok(session.switch_draft(&to, now)?.map(CompactionDraft::new));
        /// What a switch would keep, with the summary of a draft.
        plan_switch(to as "model": Model, draft: Option<Py<CompactionDraft>>) Detached |session, now|
            session.plan_switch_written(&to, draft.as_ref().map(|draft| &draft.get().0), now);
        /// Switches, and commits the summary of a draft with it.
        switch_model(to as "model": Model, system: Option<String>, tools: Option<ToolsJson>, draft: Option<Py<CompactionDraft>>, written: GivenWritten)
            Detached |session, now| {
                let told = NewInstructions { system: system.as_deref(), tools: tools.as_ref().map(|tools| &*tools.0) };
                let draft = draft.as_ref().map(|draft| (&draft.get().0.draft, draft.get().0.stored(written.0)));
                it.last_tokens.store(u64::MAX, Ordering::Relaxed); // the next prompt may be of any size
                session.switch_model(&to, told, draft, now)
            };
    }

    /// Opens a session of a scope, or makes it.
    #[staticmethod]
    #[pyo3(signature = (scope, id, **options))]
    fn open<'py>(scope: &Bound<'py, ScopeCore>, id: &Bound<'py, PyAny>, options: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
        let (py, owner) = (scope.py(), scope.get());
        let reads: Option<Vec<GivenScope>> = option(options, "reads")?;
        let collections: Option<Vec<Py<CollectionCore>>> = option(options, "collections")?;
        let options = Options {
            model: option(options, "model")?,
            system: option(options, "system")?,
            tools: option::<ToolsJson>(options, "tools")?.map(|tools| tools.0),
            reads: reads.map(|reads| owner.own(py, "opening a session: reads=", &reads)).transpose()?,
            collections: collections.map(|collections| owner.own_collections(py, &collections)).transpose()?,
            budget: option(options, "budget")?,
            recalls: option(options, "recalls")?,
        };
        let id = String::read("a session's id", id)?;
        let named = Named { handle: Arc::clone(&owner.handle), scope: Arc::clone(&owner.scope), id };
        let now = named.handle.clock.now(py)?;
        let status = named.run(py, Hold::Detached, |session| session.open(options, now))?;
        let scopes = std::iter::once(Scope::clone(&owner.scope)).chain(status.record.reads).collect();
        Ok(Self::new(named, scopes))
    }

    #[getter]
    fn id(&self) -> &str {
        &self.named.id
    }

    /// The text to embed before `assemble`.
    fn question(&self, py: Python<'_>) -> PyResult<Option<String>> {
        self.named.run(py, self.hold(), |session| session.question())
    }

    /// Assembles a prompt; `degraded` is why the question has no vector, where there is an embedder.
    #[pyo3(signature = (items, vector, degraded, **options))]
    fn assemble<'py>(
        &self,
        items: &Bound<'py, PyTuple>,
        vector: Option<&Bound<'py, Vectors>>,
        degraded: Option<&str>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<PromptCore> {
        let py = items.py();
        let ask = Ask {
            query: option(options, "query")?,
            vector: vector.and_then(|vector| vector.get().query()),
            items: items.iter().enumerate().map(crate::budget::item).collect::<PyResult<Vec<Item>>>()?,
            budget: option(options, "budget")?,
            max_input_tokens: option(options, "max_input_tokens")?.map(Tokens::number),
            max_output_tokens: option(options, "max_output_tokens")?.map(Tokens::number),
            now: self.now(py)?,
        };
        let short = ask.items.iter().map(|item| item.text.len()).sum::<usize>() <= SHORT_ITEMS;
        let small = short && run(py, Hold::Attached, || self.named.handle.hold(&self.scopes))? == Hold::Attached;
        let assembled = self.named.run(py, if small { self.hold() } else { Hold::Detached }, |session| session.assemble(&ask))?;
        self.last_tokens.store(assembled.prompt.total_tokens, Ordering::Relaxed);
        Ok(PromptCore::assembled(&self.named, assembled, degraded))
    }

    /// Messages from `first` on, at most `limit`.
    fn messages<'py>(&self, py: Python<'py>, first: u64, limit: u64) -> PyResult<Bound<'py, PyAny>> {
        let hold = if limit == 1 { Hold::Attached } else { Hold::Detached };
        self.named.run(py, hold, |session| session.messages(first, limit))?.show(py)
    }

    /// Whether two handles name the same session of the same engine.
    fn is_same(&self, other: &Bound<'_, Self>) -> bool {
        let (one, other) = (&self.named, &other.get().named);
        Arc::ptr_eq(&one.handle, &other.handle) && one.scope == other.scope && one.id == other.id
    }
}

impl SessionCore {
    fn new(named: Named, scopes: Vec<Scope>) -> Self {
        Self { named: Arc::new(named), scopes, last_tokens: AtomicU64::new(u64::MAX) }
    }

    pub fn now(&self, py: Python<'_>) -> PyResult<i64> {
        self.named.handle.clock.now(py)
    }

    fn run<T: Send>(&self, py: Python<'_>, hold: Hold, work: impl FnOnce(Session<'_>) -> Result<T> + Send) -> PyResult<T> {
        self.named.run(py, hold, work)
    }

    fn prompt(&self, assembled: Assembled) -> PromptCore {
        PromptCore::assembled(&self.named, assembled, None)
    }

    /// How a read of the window is run, by the size of the last prompt.
    fn hold(&self) -> Hold {
        if self.last_tokens.load(Ordering::Relaxed) <= ATTACHED_TOKENS { Hold::Attached } else { Hold::Detached }
    }
}
