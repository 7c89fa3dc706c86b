//! Compaction as the package calls it: a draft is read, a model's replies are held against it, and it is committed.
//!
//! `CompactionDraft` serves sessions and plain lists of messages alike. What a session does with it are functions of their own, so that
//! `SessionCore` stays the list of a session's everyday calls.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use memspan_engine::compaction::{self, Compacted, Identifier, Line, Source, Summary, check, from_json, request, to_json};
use memspan_engine::context::{Counter, FixedText, Share};
use memspan_engine::models::Model;
use memspan_engine::session::{Draft, NewInstructions, Policy, StoredSummary, SwitchPlan};
use memspan_engine::tokens::CachedCounter;
use pyo3::prelude::*;

use crate::arguments::{maybe_text, number, text_of, whole};
use crate::budget::tokens;
use crate::errors::{Hold, run, to_python};
use crate::messages;
use crate::models::named_or_given;
use crate::session::SessionCore;
use crate::value::{Tuple, value};

value! {
    /// An identifier that a summary has, byte for byte.
    SummaryIdentifier("memspan.compaction.values") { text: String, phrase: String, messages: Tuple<u64> }
}

value! {
    /// A summary: as JSON, as text, as a prompt shows it, with the tokens of the text. Private.
    SummaryText("memspan._core") { json: String, text: String, shown: String, tokens: u64, identifiers: Tuple<SummaryIdentifier> }
}

value! {
    /// A summary that was made: its messages' identifiers, how many it has, how many of those the model had left out. Private.
    MadeSummary("memspan._core") { summary: SummaryText, identifiers: u64, kept: u64, restored: u64 }
}

value! {
    /// A line of a model that was not taken.
    RefusedLine("memspan.compaction.values") { text: String, reason: String }
}

value! {
    /// A reply held against the messages: what is wrong with its shape, lines taken, lines refused. Private.
    CheckedReply("memspan._core") { wrong: Option<String>, taken: usize, refused: Tuple<RefusedLine> }
}

value! {
    /// A message that leaves. Private.
    LeavingMessage("memspan._core") { index: u64, id: Option<String>, role: String, text: String }
}

value! {
    /// A compaction that was committed. Private.
    CommittedCompaction("memspan._core") { epoch: u64, version: u64, tokens_before: u64, tokens_after: u64 }
}

value! {
    /// What a switch of models keeps. Private.
    PlannedSwitch("memspan._core") {
        from_model: String, to_model: String, max_input_tokens: u64, kept_messages: u64, left_out_messages: u64, tokens: u64,
        first_message: u64, fixed_tokens: u64
    }
}

/// What a compaction is made of, and what a model wrote for it.
#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct CompactionDraft {
    draft: Draft,
    written: Mutex<Vec<Line>>,
    made: OnceLock<Compacted>,
}

impl CompactionDraft {
    fn new(draft: Draft) -> Self {
        Self { draft, written: Mutex::default(), made: OnceLock::new() }
    }

    fn counter(&self) -> CachedCounter {
        CachedCounter::new(self.draft.model.encoding)
    }

    fn lines(&self) -> Vec<Line> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The summary. Once it was made the draft is closed: what is shown is what is committed.
    fn made(&self) -> &Compacted {
        self.made.get_or_init(|| {
            let Draft { previous, sources, max_tokens, boundary, .. } = &self.draft;
            let mut made = compaction::compact(previous.as_ref(), sources, &self.lines(), *max_tokens, &self.counter());
            made.summary.covers.end = *boundary; // a message that was redacted is no source, and left all the same
            made
        })
    }

    fn stored(&self, written: &Written) -> StoredSummary {
        let (summary, made_at, refused) = (self.made().summary.clone(), 0, written.refused.len() as u64);
        StoredSummary { summary, made_at, checked: written.checked.clone(), prompt: written.prompt.clone(), refused }
    }
}

#[pymethods]
impl CompactionDraft {
    /// The messages that leave, as a half-open range.
    #[getter]
    fn covers(&self) -> (u64, u64) {
        (self.draft.sources.first().map_or(self.draft.boundary, |source| source.index), self.draft.boundary)
    }

    #[getter]
    fn max_tokens(&self) -> u64 {
        self.draft.max_tokens
    }

    fn messages(&self) -> Vec<LeavingMessage> {
        let row = |(source, id): (&Source, &Option<String>)| LeavingMessage {
            index: source.index,
            id: id.clone(),
            role: source.message.role.name().to_owned(),
            text: source.message.spoken(),
        };
        self.draft.sources.iter().zip(&self.draft.ids).map(row).collect()
    }

    /// The blocks that a model is given, each at most so many tokens.
    fn passes(&self, py: Python<'_>, max_tokens: u64) -> PyResult<Vec<String>> {
        run(py, Hold::Detached, || Ok(request::passes(&self.draft.sources, max_tokens, &self.counter())))
    }

    /// The summary before, as a model is given it.
    fn before(&self) -> Option<String> {
        self.draft.previous.as_ref().filter(|before| !before.is_empty()).map(request::before)
    }

    /// Holds a reply against the messages and takes the lines that pass.
    fn check(&self, py: Python<'_>, reply: &Bound<'_, PyAny>) -> PyResult<CheckedReply> {
        let reply = text_of("a model's reply", reply)?;
        let checked = run(py, Hold::Detached, || Ok(check::check(&reply, self.draft.previous.as_ref(), &self.draft.sources)))?;
        Ok(match checked {
            Err(wrong) => CheckedReply { wrong: Some(wrong), taken: 0, refused: Tuple(Vec::new()) },
            Ok(checked) => {
                let taken = checked.lines.len();
                self.written.lock().unwrap_or_else(PoisonError::into_inner).extend(checked.lines);
                let refused = checked.refused.into_iter().map(|line| RefusedLine { text: line.text, reason: line.reason }).collect();
                CheckedReply { wrong: None, taken, refused }
            }
        })
    }

    /// Forgets what a model wrote.
    fn clear(&self) {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Makes the summary.
    fn make(&self, py: Python<'_>) -> PyResult<MadeSummary> {
        let made = run(py, Hold::Detached, || Ok(self.made()))?;
        let restored = made.restored(&self.lines());
        let summary = summary_text(&made.summary, &self.draft.model);
        Ok(MadeSummary { summary, identifiers: made.identifiers, kept: made.kept, restored })
    }
}

fn summary_text(summary: &Summary, model: &Model) -> SummaryText {
    let counter = CachedCounter::new(model.encoding);
    let shown = FixedText::summary(&summary.text(), &model.framing, &counter).text.to_string();
    let named = |one: Identifier| SummaryIdentifier { text: one.text.into(), phrase: one.phrase.into(), messages: Tuple(one.sources) };
    let identifiers = summary.identifiers().into_iter().map(named).collect();
    SummaryText { json: to_json(summary), text: summary.text(), shown, tokens: counter.count(&summary.text()), identifiers }
}

/// Reads the JSON of a summary.
#[pyfunction]
pub fn read_summary(json: &Bound<'_, PyAny>, model: &Bound<'_, PyAny>) -> PyResult<SummaryText> {
    let summary = from_json(&text_of("a summary", json)?).map_err(|error| to_python(json.py(), &error))?;
    Ok(summary_text(&summary, &named_or_given(model)?))
}

/// A draft of plain messages, and the place of the first that stays. Leading system messages are the caller's own and no part of it.
#[pyfunction]
pub fn compaction_draft(
    given: &Bound<'_, PyAny>,
    model: &Bound<'_, PyAny>,
    previous: Option<&Bound<'_, PyAny>>,
    keep_exchanges: &Bound<'_, PyAny>,
    max_tokens: &Bound<'_, PyAny>,
) -> PyResult<(CompactionDraft, usize)> {
    let py = given.py();
    let model = named_or_given(model)?;
    let previous = previous.map(|json| from_json(&text_of("previous", json)?).map_err(|error| to_python(py, &error))).transpose()?;
    let keep = whole("keep_exchanges", keep_exchanges, 0, 1 << 20)? as usize;
    let max_tokens = whole("max_tokens", max_tokens, 1, 1 << 30)? as u64;
    let items = messages::items(given)?;
    let first = previous.as_ref().map_or(0, |before| before.covers.end);
    let mut sources = Vec::with_capacity(items.len()?);
    for at in 0..items.len()? {
        sources.push(Source { index: first + at as u64, message: Arc::new(messages::message_at(&items, at)?) });
    }
    let (draft, end) = Draft::of_messages(previous, sources, keep, max_tokens, model);
    Ok((CompactionDraft::new(draft), end))
}

/// A draft of a session; `None` where no turn is old enough.
#[pyfunction]
pub fn session_draft(
    py: Python<'_>,
    core: &Bound<'_, SessionCore>,
    keep_exchanges: &Bound<'_, PyAny>,
    max_tokens: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<CompactionDraft>> {
    let keep = whole("keep_exchanges", keep_exchanges, 0, 1 << 20)? as u64;
    let max_tokens = tokens("max_tokens", max_tokens)?;
    let draft = core.get().named.run(py, Hold::Detached, |session| session.draft(keep, max_tokens))?;
    Ok(draft.map(CompactionDraft::new))
}

/// A draft of everything that was said, for a brief of so many tokens; it cannot be committed.
#[pyfunction]
pub fn brief_draft(py: Python<'_>, core: &Bound<'_, SessionCore>, max_tokens: &Bound<'_, PyAny>) -> PyResult<CompactionDraft> {
    let max_tokens = whole("max_tokens", max_tokens, 1, 1 << 30)? as u64;
    core.get().named.run(py, Hold::Detached, |session| session.brief_draft(max_tokens)).map(CompactionDraft::new)
}

/// How a summary was written: what `memspan.compaction.writing.Written` says.
#[derive(FromPyObject)]
pub struct Written {
    checked: String,
    prompt: String,
    refused: Vec<RefusedLine>,
}

/// Commits a draft of a session.
#[pyfunction]
pub fn commit_compaction(
    py: Python<'_>,
    core: &Bound<'_, SessionCore>,
    draft: &Bound<'_, CompactionDraft>,
    written: Written,
) -> PyResult<CommittedCompaction> {
    let (named, draft) = (&core.get().named, draft.get());
    let now = named.now(py)?;
    let done = named.run(py, Hold::Detached, |session| session.commit(&draft.draft, draft.stored(&written), now))?;
    let (tokens_before, tokens_after) = done.tokens;
    Ok(CommittedCompaction { epoch: done.epoch, version: done.version, tokens_before, tokens_after })
}

/// The newest summary of a session.
#[pyfunction]
pub fn session_summary(py: Python<'_>, core: &Bound<'_, SessionCore>) -> PyResult<Option<SummaryText>> {
    let named = &core.get().named;
    let Some(stored) = named.run(py, Hold::Attached, |session| session.summary())? else { return Ok(None) };
    let model = named.run(py, Hold::Attached, |session| session.status())?.epoch.model;
    Ok(Some(summary_text(&stored.summary, &model)))
}

/// Why a session should be compacted.
#[pyfunction]
pub fn compaction_due(py: Python<'_>, core: &Bound<'_, SessionCore>) -> PyResult<Option<&'static str>> {
    Ok(core.get().named.run(py, Hold::Attached, |session| session.compaction_due())?.map(memspan_engine::session::Due::name))
}

/// Sets when a session is to be compacted, and how much of a tool result it shows.
#[pyfunction]
pub fn set_policy(
    py: Python<'_>,
    core: &Bound<'_, SessionCore>,
    at: Option<&Bound<'_, PyAny>>,
    every_turns: u64,
    result_tokens: u64,
) -> PyResult<()> {
    let at = at.map(|at| number("at", at)).transpose()?.map_or(Share::new(0), |at| Share::new((at * 1e6).round() as u32));
    let named = &core.get().named;
    let now = named.now(py)?;
    let policy = Policy { at, every_turns, result_tokens, task_ended: 0 };
    named.run(py, Hold::Detached, |session| session.set_policy(policy, now))
}

/// Notes that a task of a session ended.
#[pyfunction]
pub fn task_ended(py: Python<'_>, core: &Bound<'_, SessionCore>) -> PyResult<()> {
    let named = &core.get().named;
    let now = named.now(py)?;
    named.run(py, Hold::Detached, |session| session.task_ended(now))
}

/// Notes of a session: number, text.
#[pyfunction]
pub fn session_notes(py: Python<'_>, core: &Bound<'_, SessionCore>) -> PyResult<Vec<(u32, String)>> {
    core.get().named.run(py, Hold::Attached, |session| session.notes())
}

/// Adds a note to a session.
#[pyfunction]
pub fn add_note(py: Python<'_>, core: &Bound<'_, SessionCore>, text: &Bound<'_, PyAny>) -> PyResult<u32> {
    let (named, text) = (&core.get().named, text_of("a note", text)?);
    let now = named.now(py)?;
    named.run(py, Hold::Detached, |session| session.add_note(&text, now))
}

/// Takes a note out of a session.
#[pyfunction]
pub fn remove_note(py: Python<'_>, core: &Bound<'_, SessionCore>, number: &Bound<'_, PyAny>) -> PyResult<bool> {
    let (named, number) = (&core.get().named, whole("a note's number", number, 0, i64::from(u32::MAX))? as u32);
    let now = named.now(py)?;
    named.run(py, Hold::Detached, |session| session.remove_note(number, now))
}

/// A draft of what a switch of models would leave out; `None` where all of it fits.
#[pyfunction]
pub fn switch_draft(py: Python<'_>, core: &Bound<'_, SessionCore>, to: &Bound<'_, PyAny>) -> PyResult<Option<CompactionDraft>> {
    let (named, to) = (&core.get().named, named_or_given(to)?);
    let now = named.now(py)?;
    Ok(named.run(py, Hold::Detached, |session| session.switch_draft(&to, now))?.map(CompactionDraft::new))
}

/// What a switch would keep, with the summary of a draft.
#[pyfunction]
pub fn plan_switch(
    py: Python<'_>,
    core: &Bound<'_, SessionCore>,
    to: &Bound<'_, PyAny>,
    draft: Option<&Bound<'_, CompactionDraft>>,
) -> PyResult<PlannedSwitch> {
    let (named, to) = (&core.get().named, named_or_given(to)?);
    let now = named.now(py)?;
    let new = draft.map(|draft| draft.get().made().summary.clone());
    named.run(py, Hold::Detached, |session| session.plan_switch_with(&to, new.as_ref(), now)).map(PlannedSwitch::from)
}

/// Switches, and commits the summary of a draft with it.
#[pyfunction]
pub fn switch_model(
    py: Python<'_>,
    core: &Bound<'_, SessionCore>,
    to: &Bound<'_, PyAny>,
    system: Option<&Bound<'_, PyAny>>,
    tools: Option<&Bound<'_, PyAny>>,
    draft: Option<&Bound<'_, CompactionDraft>>,
    written: Written,
) -> PyResult<PlannedSwitch> {
    let (named, to, system) = (&core.get().named, named_or_given(to)?, maybe_text("system", system)?);
    let tools = tools.map(messages::tools_json).transpose()?;
    let now = named.now(py)?;
    let draft = draft.map(Bound::get);
    let told = NewInstructions { system: system.as_deref(), tools: tools.as_deref() };
    let plan = named.run(py, Hold::Detached, |session| {
        let compacted = draft.map(|draft| (&draft.draft, draft.stored(&written)));
        session.switch_model(&to, told, compacted, now)
    })?;
    core.get().forget_size();
    Ok(plan.into())
}

impl From<SwitchPlan> for PlannedSwitch {
    fn from(SwitchPlan { from, to, limit, kept, fixed_tokens, .. }: SwitchPlan) -> Self {
        Self {
            from_model: from.name.to_string(),
            to_model: to.name.to_string(),
            max_input_tokens: limit,
            kept_messages: kept.kept,
            left_out_messages: kept.left_out,
            tokens: kept.tokens,
            first_message: kept.origin,
            fixed_tokens,
        }
    }
}
