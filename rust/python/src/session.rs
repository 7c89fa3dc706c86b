//! `SessionCore`: one session, as the package's `Session` calls it.
//!
//! Writes wait for the disk and give the interpreter up meanwhile.

use std::sync::Arc;

use memspan_engine::Result;
use memspan_engine::context::Share;
use memspan_engine::engine::pace::Last;
use memspan_engine::models::Model;
use memspan_engine::scope::Scope;
use memspan_engine::session::{
    Ask, Assembled, CallId, Claim, Leased, NewInstructions, NewMessage, PartialReply, Policy, Refusal, Session, Writing,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arguments::{Argument, Tokens, calls, holds, options};
use crate::compaction::{CompactionDraft, GivenWritten};
use crate::engine::Handle;
use crate::errors::{Pace, run};
use crate::messages::{Given, Messages, ToolsJson};
use crate::prompt::{GivenPrompt, PromptCore};
use crate::time::named_in;
use crate::value::{Attached, Json, Moment, Show, as_is};
use crate::vectors::Vectors;

/// A session by its name, and what its calls have in common.
#[derive(Debug, Clone)]
pub struct SessionId {
    pub handle: Arc<Handle>,
    pub scope: Arc<Scope>,
    pub id: String,
}

impl SessionId {
    pub fn own(&self) -> Result<Session<'_>> {
        Ok(Session { engine: self.handle.engine()?, scope: &self.scope, id: &self.id })
    }
}

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct SessionCore {
    pub named: Arc<SessionId>,
    /// Its own scope and those that it read along when it was opened: how large a recall is.
    scopes: Vec<Scope>,
    /// Tokens of the last prompt.
    last: Last,
}
as_is!(SessionCore);

calls! {
    SessionCore |it, py| (it.named.own(), it.named.handle.now(py)) {
        question() (Pace::of_prompt(it.last.size())) |session| session.question();
        assemble(items: Bound<'py, PyTuple>, vector: Option<Py<Vectors>>, degraded: Option<String>, given: Bound<'py, PyDict>)
            (it.pace(py, &ask)?) with ask = it.asked(&items, vector.as_ref(), &given, it.named.handle.now(py)?)?; |session| {
                let assemble = || session.assemble(&Ask { embedder_failed: degraded, ..ask });
                Ok(it.prompt(it.last.noted(assemble, |assembled| assembled.prompt.total_tokens)?))
            };
        messages(first: u64, limit: u64) (Pace::of_page(limit)) |session| session.messages(first, limit);
        status() Short |session| session.status();
        budget() Short |session| session.budget();
        metadata() Short |session| Ok(Attached(session.metadata()?));
        set_metadata(given as "metadata": Attached) Waits |session, now| session.set_metadata(given.0, now);
        instructions() Short |session| session.instructions().map(|(system, tools)| (system, tools.map(Json)));
        versions() Waits |session| session.versions();
        add(row: NewMessage, expect_index: Option<Tokens>) (Pace::of_new(&row)) |session, now|
            session.add(row, expect_index.map(|index| index.0), now);
        add_shortened(row: NewMessage, shortened: Vec<(u32, String)>, expect_index: Option<Tokens>) (Pace::of_new(&row)) |session, now|
            session.add(NewMessage { shortened, ..row }, expect_index.map(|index| index.0), now);
        long_results(row: NewMessage) (Pace::of_new(&row)) |session| session.long_results(&row);
        add_many(rows: Messages) Long |session, now| session.add_many(rows.0, now);
        add_response(
            response as "a response": Given, prompt: Option<GivenPrompt>, holder as "a lease's holder": Option<String>,
            expect_index: Option<u64>, created_at: Option<Moment>,
        ) (Pace::of_work(response.0.len())) |session, now|
            session.add_reply(&response.0, prompt.as_deref(), holder.as_deref(), expect_index, created_at.map(|at| at.0), now);
        take_lease(holder as "a lease's holder": String, seconds: f64, dead as "a dead holder": Option<String>)
            Waits |session, now| session.claim_lease(Claim::lasting(holder, dead, seconds, now)?);
        add_leased(row: NewMessage, holder as "a lease's holder": String, seconds: f64, dead as "a dead holder": Option<String>)
            (Pace::of_new(&row)) |session, now| Ok(match session.add_leased(row, Claim::lasting(holder, dead, seconds, now)?)? {
                Leased::Added(added) => (Some(added), None),
                Leased::Held(lease) => (None, Some(lease)),
            });
        release_lease(holder as "a lease's holder": String) Waits |session| session.release_lease(&holder);
        keep_partial(response as "a response": String, prompt: GivenPrompt, began_at: Moment, error: Option<String>) Waits |session, now|
            session.keep_partial(PartialReply { messages: prompt.sent.messages, began_at: began_at.0, written_at: now, error, response },
                Some(&prompt));
        partial() Short |session| session.partial_reply();
        drop_partial() Waits |session| session.drop_partial();
        open_calls() Short |session| session.open_calls();
        refused(prompt: GivenPrompt, input_tokens: Option<Tokens>, limit_tokens: Option<Tokens>, output_tokens: Option<Tokens>)
            Waits |session, now| {
                let [input_tokens, limit_tokens, output_tokens] = [input_tokens, limit_tokens, output_tokens].map(|one| one.map(|n| n.0));
                Ok(it.prompt(session.refused(&prompt, Refusal { input_tokens, limit_tokens, output_tokens }, now)?))
            };
        again(prompt: GivenPrompt) Waits |session, now| Ok(it.prompt(session.again(&prompt, now)?));
        learn_cost(prompt: GivenPrompt, tokens as "the provider's count": Tokens) Waits |session, now|
            session.learn_cost(&prompt, tokens.0, now);
        usage(first: u64, limit: u64) Waits |session| session.usage(first, limit);
        fill() Short |session| session.fill();
        turn(number as "a turn's number": u64, known: Option<(u16, (u64, u64))>) Short |session| session.turn_beyond(number, known);
        sent_prompt(turn: u64, call: u16, reply: u64, added_at: Moment) Long |session, now| {
            let call = CallId { number: call, reply, added_at: added_at.0 };
            Ok(session.sent_prompt(turn, call, now)?.map(|replayed| PromptCore::new(&it.named, replayed)))
        };
        rewind(index: u64) Whole |session, now| session.rewind(index, now);
        redact(index: u64, reason: Option<String>) Whole |session, now| session.redact(index, reason.as_deref(), now);
        end() Whole |session, now| session.end(now);
        delete() Whole |session, now| session.delete(now);
        fork(new_id as "a session's id": String, at: Option<Tokens>) Whole |session, now| {
            session.fork(&new_id, at.map(|at| at.0), now)?;
            Ok(Self::new(SessionId { id: new_id, ..SessionId::clone(&it.named) }, it.scopes.clone()))
        };
        cancel_tool_calls(reason: String) Waits |session, now| session.cancel_tool_calls(&reason, now);
        tool_result(key: String, offset: usize, max_tokens: usize) Long |session| session.tool_result(&key, offset, max_tokens);
        tasks() Short |session, now| Ok(session.tasks(now)?.into_iter().map(|task| task.name).collect::<Vec<_>>());
        notes() Short |session| session.notes();
        add_note(text as "a note": String) Waits |session, now| session.add_note(&text, now);
        remove_note(number as "a note's number": u32) Waits |session, now| session.remove_note(number, now);
        set_policy(at: Option<Share>, every_turns: u64, result_tokens: u64) Waits |session, now|
            session.set_policy(Policy { at: at.unwrap_or_default(), every_turns, result_tokens, task_ended: 0 }, now);
        task_ended() Waits |session, now| session.task_ended(now);
        compaction_due() Short |session, now| Ok(session.compaction_due(now)?.map(memspan_engine::session::Due::name));
        draft(keep_exchanges: Option<u64>, max_tokens: Option<Tokens>) Long |session, now|
            Ok(session.draft(keep_exchanges, max_tokens.map(|tokens| tokens.0), now)?.map(Writing::new).map(CompactionDraft));
        brief_draft(task: String, max: u64) Long |session, now| session.brief_draft(&task, max, now).map(Writing::new).map(CompactionDraft);
        commit(draft: Py<CompactionDraft>, written: GivenWritten) Whole |session, now|
            session.commit_written(&draft.get().0, &written.0, now);
        summary() Short |session| session.summary_text();
        switch_draft(to as "model": Model) Long |session, now| Ok(session.switch_draft(&to, now)?.map(Writing::new).map(CompactionDraft));
        plan_switch(to as "model": Model, draft: Option<Py<CompactionDraft>>) Long |session, now|
            session.plan_switch_written(&to, draft.as_ref().map(|draft| &draft.get().0), now);
        switch_model(
            to as "model": Model, system: Option<String>, tools: Option<ToolsJson>, draft: Option<Py<CompactionDraft>>,
            written: GivenWritten,
        ) Whole |session, now| {
            let told = NewInstructions { system: system.as_deref(), tools: tools.as_ref().map(|tools| &*tools.0) };
            let draft = draft.as_ref().map(|draft| (&draft.get().0.draft, draft.get().0.stored(written.0)));
            it.last.forget();
            session.switch_model(&to, told, draft, now)
        };
    }

    #[getter]
    fn id(&self) -> &str {
        &self.named.id
    }

    /// Whether two handles name the same session of the same engine.
    fn is_same(&self, other: &Bound<'_, Self>) -> bool {
        let (one, other) = (&self.named, &other.get().named);
        Arc::ptr_eq(&one.handle, &other.handle) && one.scope == other.scope && one.id == other.id
    }
}

impl SessionCore {
    pub fn new(named: SessionId, scopes: Vec<Scope>) -> Self {
        Self { named: Arc::new(named), scopes, last: Last::default() }
    }

    fn prompt(&self, assembled: Assembled) -> PromptCore {
        PromptCore::new(&self.named, assembled)
    }

    fn asked(&self, items: &Bound<'_, PyTuple>, vector: Option<&Py<Vectors>>, given: &Bound<'_, PyDict>, now: i64) -> PyResult<Ask> {
        let mut ask = Ask { vector: vector.and_then(|vector| vector.get().0.query()), now, ..Ask::default() };
        ask.items = items.iter().enumerate().map(crate::budget::item).collect::<PyResult<_>>()?;
        options! { given of "assemble()" |name, value|
            query => ask.query = Some(Argument::read(name, value)?);
            budget => ask.budget = Some(Argument::read(name, value)?);
            max_input_tokens => ask.max_input_tokens = Some(Tokens::read(name, value)?.0);
            max_output_tokens => ask.max_output_tokens = Some(Tokens::read(name, value)?.0);
            timezone => {
                let newest = || run(value.py(), Pace::of_prompt(self.last.size()), || self.named.own()?.question());
                let asked = ask.query.clone().map_or_else(newest, |query| Ok(Some(query)))?; // the names come in the order of the call
                ask.time = asked.map(|text| PyResult::Ok((named_in(value, &text, now)?, text))).transpose()?;
            };
        }
        Ok(ask)
    }

    /// How long an assembly takes.
    fn pace(&self, py: Python<'_>, ask: &Ask) -> PyResult<Pace> {
        run(py, Pace::Short, || Pace::of_assembly(self.named.handle.engine()?, &self.scopes, ask, &self.last))
    }
}

holds! {
    /// When the prompts of sessions reach a share of their model's window.
    WindowWatch(memspan_engine::session::WindowWatch);
}

#[pymethods]
impl WindowWatch {
    #[new]
    fn new() -> Self {
        Self(memspan_engine::session::WindowWatch::default())
    }

    /// The shares that a session reaches for the first time in its epoch, by its own prompt or one of so many tokens.
    fn look<'py>(&self, py: Python<'py>, of: &Bound<'py, SessionCore>, prompt_tokens: Option<u64>) -> PyResult<Bound<'py, PyAny>> {
        let of = of.get();
        run(py, Pace::Short, || self.0.look(&of.named.own()?, prompt_tokens))?.show(py)
    }
}
