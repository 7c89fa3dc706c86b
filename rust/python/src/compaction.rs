//! Compaction as the package calls it: a draft is read, a model's replies are held against it, and it is committed.
//!
//! `CompactionDraft` serves sessions and plain lists of messages alike. What a session does with it are functions of their own, so that
//! `SessionCore` stays the list of a session's everyday calls.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use memspan_engine::compaction::{self, Compacted, Line, Source, Summary, check, from_json, request, to_json};
use memspan_engine::context::message::Role;
use memspan_engine::context::{Counter, FixedText, Share};
use memspan_engine::models::Model;
use memspan_engine::session::{Draft, NewInstructions, Place, Policy, StoredSummary, SwitchPlan};
use memspan_engine::tokens::CachedCounter;
use pyo3::prelude::*;

use crate::arguments::{maybe_text, number, text_of, whole};
use crate::budget::tokens;
use crate::errors::{Hold, run, to_python};
use crate::messages;
use crate::models::named_or_given;
use crate::session::SessionCore;
use crate::time;

/// JSON, text, text as a prompt shows it, tokens of that, identifiers with their phrases and messages.
type SummaryRow = (String, String, String, u64, Vec<(String, String, Vec<u64>)>);
/// How it was made, hash of the prompt, refused lines, when.
type MadeRow<'py> = (String, String, u64, Bound<'py, PyAny>);
/// Models, limit, kept messages, left out messages, tokens, first message, tokens of the fixed sections.
type SwitchRow = (String, String, u64, u64, u64, u64, u64, u64);
/// A reply held against the messages: what is wrong with its shape, lines taken, lines refused each with its reason.
type CheckedRow = (Option<String>, usize, Vec<(String, String)>);

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

    fn stored(&self, checked: &str, prompt: &str, refused: u64) -> StoredSummary {
        let (summary, made_at) = (self.made().summary.clone(), 0);
        StoredSummary { summary, made_at, checked: checked.to_owned(), prompt: prompt.to_owned(), refused }
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

    /// The messages that leave: index, id, role, text.
    fn messages(&self) -> Vec<(u64, Option<String>, &'static str, String)> {
        let row = |(source, id): (&Source, &Option<String>)| {
            let text = request_text(source);
            (source.index, id.clone(), source.message.role.name(), text)
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

    /// Holds a reply against the messages and takes the lines that pass: what is wrong with its shape, lines taken, lines refused.
    fn check(&self, py: Python<'_>, reply: &Bound<'_, PyAny>) -> PyResult<CheckedRow> {
        let reply = text_of("a model's reply", reply)?;
        let checked = run(py, Hold::Detached, || Ok(check::check(&reply, self.draft.previous.as_ref(), &self.draft.sources)))?;
        match checked {
            Err(wrong) => Ok((Some(wrong), 0, Vec::new())),
            Ok(checked) => {
                let (taken, refused) = (checked.lines.len(), checked.refused);
                self.written.lock().unwrap_or_else(PoisonError::into_inner).extend(checked.lines);
                Ok((None, taken, refused.into_iter().map(|line| (line.text, line.reason)).collect()))
            }
        }
    }

    /// Forgets what a model wrote.
    fn clear(&self) {
        self.written.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Makes the summary: itself, different identifiers, how many of them it has, how many of those the model had left out.
    fn make(&self, py: Python<'_>) -> PyResult<(SummaryRow, u64, u64, u64)> {
        let made = run(py, Hold::Detached, || Ok(self.made()))?;
        let row = summary_row(&made.summary, &self.draft.model);
        let written: String = self.lines().iter().flat_map(|line| [&*line.text, "\n"]).collect();
        let restored = if written.is_empty() { 0 } else { row.4.iter().filter(|one| !written.contains(&one.0)).count() as u64 };
        Ok((row, made.identifiers, made.kept, restored))
    }
}

/// Text and calls of a message.
fn request_text(source: &Source) -> String {
    let mut text = String::new();
    for part in &source.message.parts {
        if let memspan_engine::context::Part::Text(said) = part {
            text.push_str(said);
            text.push('\n');
        }
    }
    text.truncate(text.trim_end().len());
    text
}

fn summary_row(summary: &Summary, model: &Model) -> SummaryRow {
    let counter = CachedCounter::new(model.encoding);
    let shown = FixedText::summary(&summary.text(), &model.framing, &counter);
    let identifiers = summary.identifiers().into_iter();
    let rows = identifiers.map(|one| (one.text.into(), one.phrase.into(), one.sources)).collect();
    (to_json(summary), summary.text(), shown.text.to_string(), counter.count(&summary.text()), rows)
}

/// Reads the JSON of a summary.
#[pyfunction]
pub fn read_summary(json: &Bound<'_, PyAny>, model: &Bound<'_, PyAny>) -> PyResult<SummaryRow> {
    let summary = from_json(&text_of("a summary", json)?).map_err(|error| to_python(json.py(), &error))?;
    Ok(summary_row(&summary, &named_or_given(model)?))
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
    let end = newest_exchanges(&sources, keep);
    let boundary = first + end as u64;
    let system = sources.iter().take_while(|source| source.message.role == Role::System).count();
    sources.truncate(end);
    let sources: Vec<Source> = sources.split_off(system.min(end));
    let ids = vec![None; sources.len()];
    let place = Place { partition: 0, session: 0 };
    Ok((CompactionDraft::new(Draft { place, seen: (0, 0), previous, sources, ids, boundary, max_tokens, model }), end))
}

/// Where the newest `keep` exchanges begin.
fn newest_exchanges(sources: &[Source], keep: usize) -> usize {
    if keep == 0 {
        return sources.len();
    }
    let opens: Vec<usize> = (0..sources.len()).filter(|at| sources[*at].message.opens_turn()).collect();
    opens.len().checked_sub(keep).map_or(0, |at| if at == 0 { 0 } else { opens[at] })
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

/// Commits a draft of a session: epoch, version, tokens before and after.
#[pyfunction]
pub fn commit_compaction(
    py: Python<'_>,
    core: &Bound<'_, SessionCore>,
    draft: &Bound<'_, CompactionDraft>,
    checked: &str,
    prompt: &str,
    refused: u64,
) -> PyResult<(u64, u64, u64, u64)> {
    let (named, draft) = (&core.get().named, draft.get());
    let now = named.now(py)?;
    let done = named.run(py, Hold::Detached, |session| session.commit(&draft.draft, draft.stored(checked, prompt, refused), now))?;
    Ok((done.epoch, done.version, done.tokens.0, done.tokens.1))
}

/// The newest summary of a session, and how it was made.
#[pyfunction]
pub fn session_summary<'py>(py: Python<'py>, core: &Bound<'py, SessionCore>) -> PyResult<Option<(SummaryRow, MadeRow<'py>)>> {
    let named = &core.get().named;
    let Some(stored) = named.run(py, Hold::Attached, |session| session.summary())? else { return Ok(None) };
    let model = named.run(py, Hold::Attached, |session| session.status())?.epoch.model;
    let made_at = time::to_python(py, stored.made_at)?;
    Ok(Some((summary_row(&stored.summary, &model), (stored.checked, stored.prompt, stored.refused, made_at))))
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
) -> PyResult<SwitchRow> {
    let (named, to) = (&core.get().named, named_or_given(to)?);
    let now = named.now(py)?;
    let new = draft.map(|draft| draft.get().made().summary.clone());
    named.run(py, Hold::Detached, |session| session.plan_switch_with(&to, new.as_ref(), now)).map(switch_row)
}

/// Switches, and commits the summary of a draft with it: checked, prompt, refused.
#[pyfunction]
pub fn switch_model(
    py: Python<'_>,
    core: &Bound<'_, SessionCore>,
    to: &Bound<'_, PyAny>,
    system: Option<&Bound<'_, PyAny>>,
    tools: Option<&Bound<'_, PyAny>>,
    draft: Option<&Bound<'_, CompactionDraft>>,
    made: (String, String, u64),
) -> PyResult<SwitchRow> {
    let (named, to, system) = (&core.get().named, named_or_given(to)?, maybe_text("system", system)?);
    let tools = tools.map(messages::tools_json).transpose()?;
    let now = named.now(py)?;
    let draft = draft.map(Bound::get);
    let told = NewInstructions { system: system.as_deref(), tools: tools.as_deref() };
    let plan = named.run(py, Hold::Detached, |session| {
        let compacted = draft.map(|draft| (&draft.draft, draft.stored(&made.0, &made.1, made.2)));
        session.switch_model(&to, told, compacted, now)
    })?;
    core.get().forget_size();
    Ok(switch_row(plan))
}

fn switch_row(plan: SwitchPlan) -> SwitchRow {
    let SwitchPlan { from, to, limit, kept, fixed_tokens, .. } = plan;
    (from.name.to_string(), to.name.to_string(), limit, kept.kept, kept.left_out, kept.tokens, kept.origin, fixed_tokens)
}
