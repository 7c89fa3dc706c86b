//! The life of a memory, as the package calls it: screening, the write gate, what `learn` and `consolidate` write, relations.

use memspan_engine::gate::{self, Claim, Said, Speaker};
use memspan_engine::life::consolidate::{self, Rule};
use memspan_engine::life::near;
use memspan_engine::life::relations;
use memspan_engine::memory::{Core, LearnMark, Learning, NewMemory, Origin, Provenance, Relation};
use memspan_engine::session::Session;
use memspan_engine::text::screening::{self, Screened, Screening, Treatment};
use pyo3::prelude::*;

use crate::arguments::{maybe_text, text_of};
use crate::errors::{Hold, invalid, run};
use crate::memory::{Memory, Remembered, known};
use crate::rows::Draft;
use crate::scope::ScopeCore;
use crate::time;
use crate::vectors::Vectors;

/// A message to be judged: role, text, when it was said.
type Heard<'py> = (String, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);
/// A claim: message, category, text, slot, what it replaces, what it ends, importance, confidence, first letter, letter behind the last,
/// reason, doubt.
type Judged =
    (usize, &'static str, String, Option<String>, Option<String>, Option<String>, f64, f64, usize, usize, String, Option<&'static str>);
/// What a draft says of others: what it replaces, what it ends, doubt, session, message, writer, numbers that it is derived from.
type Beside = (Option<String>, Option<String>, Option<String>, Option<String>, Option<u64>, Option<String>);
/// How far a session was learnt from: next message, changes, when it was made.
type Mark = (u64, u64, i64);
/// A relation: subject, relation, object, since, until, id of the memory that says so.
type Related<'py> = (String, String, String, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>, Option<String>);

/// What is to be done with findings, by its name.
fn treatment(py: Python<'_>, what: &str, name: &str) -> PyResult<Treatment> {
    match name {
        "allow" => Ok(Treatment::Allow),
        "redact" => Ok(Treatment::Redact),
        "reject" => Ok(Treatment::Reject),
        _ => Err(invalid(py, format!("reading a policy: {what} is \"allow\", \"redact\" or \"reject\", and it is {name:?}: choose one"))),
    }
}

/// A policy by its names.
pub fn screening_of(py: Python<'_>, secrets: &str, personal_data: &str) -> PyResult<Screening> {
    Ok(Screening { secrets: treatment(py, "secrets", secrets)?, personal_data: treatment(py, "personal_data", personal_data)? })
}

/// Secrets and personal data in a text: type, first letter, letter behind the last.
#[pyfunction]
pub fn screen(text: &Bound<'_, PyAny>) -> PyResult<Vec<(&'static str, usize, usize)>> {
    let text = text_of("text", text)?;
    let letters = |to: usize| text[..to].chars().count();
    Ok(screening::screen(&text).into_iter().map(|one| (one.what.name(), letters(one.start), letters(one.end))).collect())
}

/// A text as a policy leaves it, and the types that it minded; `None` where nothing of it may be stored.
#[pyfunction]
pub fn screened(text: &Bound<'_, PyAny>, secrets: &str, personal_data: &str) -> PyResult<(Option<String>, Vec<&'static str>)> {
    let policy = screening_of(text.py(), secrets, personal_data)?;
    let text = text_of("text", text)?;
    let names = |types: Vec<screening::Sensitive>| types.into_iter().map(screening::Sensitive::name).collect();
    Ok(match policy.apply(&text) {
        Screened::Clean => (Some(text), Vec::new()),
        Screened::Redacted(left, types) => (Some(left), names(types)),
        Screened::Rejected(types) => (None, names(types)),
    })
}

/// What the gate's models see of a message: names of features, and numbers. For whoever fits their weights.
#[pyfunction]
pub fn gate_features(text: &Bound<'_, PyAny>, before: &Bound<'_, PyAny>) -> PyResult<(Vec<String>, Vec<f64>)> {
    Ok(gate::described(&text_of("text", text)?, &text_of("before", before)?))
}

/// What messages claim, in their order: those from `first` on; the ones before are read for what they ask.
#[pyfunction]
pub fn judge(py: Python<'_>, scope: &Bound<'_, ScopeCore>, heard: Vec<Heard<'_>>, first: usize) -> PyResult<Vec<Judged>> {
    let now = scope.get().handle.clock.now(py)?;
    let mut messages = Vec::with_capacity(heard.len());
    for (role, text, at) in &heard {
        let speaker = match role.as_str() {
            "user" => Speaker::User,
            "assistant" => Speaker::Assistant,
            _ => Speaker::Other,
        };
        messages.push((speaker, text_of("a message's text", text)?, time::maybe_from_python("created_at", at.as_ref())?.unwrap_or(now)));
    }
    let scope = scope.get();
    run(py, Hold::Detached, || {
        let engine = scope.handle.engine()?;
        Ok((first..messages.len()).flat_map(|index| judged(engine, &messages, index)).collect())
    })
}

fn judged(engine: &Core, messages: &[(Speaker, String, i64)], index: usize) -> Vec<Judged> {
    let (speaker, text, at) = &messages[index];
    let other = |message: &&(Speaker, String, i64)| message.0 != *speaker && message.0 != Speaker::Other;
    let before = messages[..index].iter().rev().take(4).find(other).map_or("", |message| message.1.as_str());
    let after = messages[index + 1..].iter().take(4).find(other).map_or("", |message| message.1.as_str());
    let claims = gate::judge(&Said { text, speaker: *speaker, before, after, at: *at });
    engine.note_judged(claims.iter().map(|claim| claim.category));
    let letters = |to: usize| text[..to].chars().count();
    let row = |claim: Claim| {
        let (from, to) = (letters(claim.span.0), letters(claim.span.1));
        let (importance, confidence) = (f64::from(claim.importance) / 1000.0, f64::from(claim.confidence) / 1000.0);
        let category = claim.category.name();
        (index, category, claim.text, claim.slot, claim.replaces, claim.ends, importance, confidence, from, to, claim.reason, claim.doubt)
    };
    claims.into_iter().map(row).collect()
}

/// How far a session was learnt from, and what it is now; the begin where it changed since or is another one.
#[pyfunction]
pub fn learn_mark(py: Python<'_>, scope: &Bound<'_, ScopeCore>, session: &str) -> PyResult<(u64, Mark, Mark)> {
    let scope = scope.get();
    run(py, Hold::Attached, || {
        let engine = scope.handle.engine()?;
        let mark = engine.learn_mark(&scope.scope, session)?;
        let record = Session { engine, scope: &scope.scope, id: session }.status()?.record;
        let is_same = mark.edits == record.edits && mark.created_at == record.created_at;
        let from = if is_same { mark.next.min(record.tally.messages) } else { 0 };
        Ok((from, (mark.next, mark.edits, mark.created_at), (record.tally.messages, record.edits, record.created_at)))
    })
}

/// What the calls of a session showed in the turns with messages from `first` to before `end`: of each turn its first message and the texts.
#[pyfunction]
pub fn shown_texts(py: Python<'_>, scope: &Bound<'_, ScopeCore>, session: &str, first: u64, end: u64) -> PyResult<Vec<(u64, Vec<String>)>> {
    let scope = scope.get();
    let now = scope.handle.clock.now(py)?;
    run(py, Hold::Detached, || {
        let found = Session { engine: scope.handle.engine()?, scope: &scope.scope, id: session }.shown_texts(first, end, now)?;
        Ok(found.into_iter().map(|turn| (turn.start, turn.texts)).collect())
    })
}

fn mark_of((next, edits, created_at): Mark) -> LearnMark {
    LearnMark { next, edits, created_at }
}

/// Stores claims in one transaction; `None` where another process learnt from the session meanwhile.
#[pyfunction]
pub fn learn(
    py: Python<'_>,
    scope: &Bound<'_, ScopeCore>,
    drafts: Vec<Bound<'_, Draft>>,
    beside: Vec<Beside>,
    session: Option<(String, Mark, Mark)>,
    embedded: Option<&Bound<'_, Vectors>>,
) -> PyResult<Option<Vec<Remembered>>> {
    let scope = scope.get();
    let now = scope.handle.clock.now(py)?;
    let mut claims: Vec<NewMemory> = drafts.iter().map(|draft| draft.get().0.clone()).collect();
    if let Some(vectors) = embedded {
        let vectors = vectors.get();
        for (claim, vector) in claims.iter_mut().zip(&vectors.rows) {
            (claim.vector, claim.made_by) = (vector.clone(), vectors.place);
        }
    }
    for (claim, (replaces, ends, doubt, session, message, writer)) in claims.iter_mut().zip(beside) {
        claim.provenance = Provenance { session, message, writer, ..Provenance::default() };
        claim.learning = Some(Box::new(Learning { near: Vec::new(), replaces, ends, doubt }));
    }
    let mark = session.map(|(session, before, after)| (session, mark_of(before), mark_of(after)));
    run(py, Hold::Detached, || {
        let engine = scope.handle.engine()?;
        let texts: Vec<String> = claims.iter().map(|claim| claim.text.clone()).collect();
        for (claim, near) in claims.iter_mut().zip(near(engine, &scope.scope, &texts, now)?) {
            if let Some(learning) = &mut claim.learning {
                learning.near = near;
            }
        }
        let Some(done) = engine.learn(&scope.scope, claims, mark, now)? else { return Ok(None) };
        done.into_iter().map(|one| Remembered::new(engine, &scope.scope, one)).collect::<memspan_engine::Result<Vec<_>>>().map(Some)
    })
}

/// What waits for somebody to approve it.
#[pyfunction]
pub fn quarantined(py: Python<'_>, scope: &Bound<'_, ScopeCore>) -> PyResult<Vec<Memory>> {
    let scope = scope.get();
    let waiting = run(py, Hold::Attached, || {
        let engine = scope.handle.engine()?;
        known(engine, &scope.scope, engine.quarantined(&scope.scope)?)
    })?;
    Ok(waiting.into_iter().map(Memory).collect())
}

/// Remembers what waited, as the user's own word.
#[pyfunction]
pub fn approve(py: Python<'_>, scope: &Bound<'_, ScopeCore>, memory_id: &Bound<'_, PyAny>) -> PyResult<Remembered> {
    let (scope, id) = (scope.get(), text_of("memory_id", memory_id)?);
    let now = scope.handle.clock.now(py)?;
    run(py, Hold::Detached, || {
        let engine = scope.handle.engine()?;
        Remembered::new(engine, &scope.scope, engine.approve(&scope.scope, &id, now)?)
    })
}

/// Forgets what comes from there.
#[pyfunction]
pub fn forget_from(
    py: Python<'_>,
    scope: &Bound<'_, ScopeCore>,
    source: Option<&Bound<'_, PyAny>>,
    session: Option<&Bound<'_, PyAny>>,
    since: Option<&Bound<'_, PyAny>>,
    derived: bool,
    dry_run: bool,
) -> PyResult<Vec<Memory>> {
    let scope = scope.get();
    let origin = Origin {
        source: maybe_text("source", source)?,
        session: maybe_text("session", session)?,
        since: time::maybe_from_python("since", since)?,
        derived,
    };
    let now = scope.handle.clock.now(py)?;
    let forgotten = run(py, Hold::Detached, || {
        let engine = scope.handle.engine()?;
        known(engine, &scope.scope, engine.forget_from(&scope.scope, &origin, now, dry_run)?)
    })?;
    Ok(forgotten.into_iter().map(Memory).collect())
}

/// The clusters of a scope's memories: memories, and the groups that rules merge (places, the place that stands for them).
#[pyfunction]
#[allow(clippy::type_complexity)] // clusters of memories with groups of places
pub fn clusters(
    py: Python<'_>,
    scope: &Bound<'_, ScopeCore>,
    closeness: f64,
    min_points: usize,
) -> PyResult<Vec<(Vec<Memory>, Vec<(Vec<usize>, usize)>)>> {
    let scope = scope.get();
    let now = scope.handle.clock.now(py)?;
    let found = run(py, Hold::Detached, || {
        let engine = scope.handle.engine()?;
        let clusters = consolidate::clusters(engine, &scope.scope, Rule { closeness, min_points }, now)?;
        clusters
            .into_iter()
            .map(|cluster| {
                let groups = consolidate::groups(&cluster);
                Ok((known(engine, &scope.scope, cluster)?, groups))
            })
            .collect::<memspan_engine::Result<Vec<_>>>()
    })?;
    Ok(found.into_iter().map(|(cluster, groups)| (cluster.into_iter().map(Memory).collect(), groups)).collect())
}

/// DBSCAN over rows of float32, as `consolidate` runs it: the cluster of each, `None` for noise.
#[pyfunction]
pub fn dbscan(py: Python<'_>, vectors: Vec<Vec<f32>>, closeness: f64, min_points: usize) -> PyResult<Vec<Option<u32>>> {
    run(py, Hold::Detached, || {
        let mut points = memspan_engine::life::cluster::Points::new(vectors.first().map_or(0, Vec::len));
        for vector in &vectors {
            points.push(vector);
        }
        memspan_engine::life::cluster::dbscan(&points, closeness, min_points)
    })
}

/// Puts one memory in the place of several: that at `keep`, or a draft.
#[pyfunction]
pub fn merge(
    py: Python<'_>,
    scope: &Bound<'_, ScopeCore>,
    originals: Vec<Memory>,
    keep: Option<usize>,
    draft: Option<&Bound<'_, Draft>>,
) -> PyResult<Option<Remembered>> {
    let scope = scope.get();
    let now = scope.handle.clock.now(py)?;
    let numbers: Vec<(u32, u32)> = originals.iter().map(|memory| (memory.0.memory.number, memory.0.memory.revision)).collect();
    let new = draft.map(|draft| {
        let mut new = draft.get().0.clone();
        new.provenance.writer = Some("consolidation".to_owned());
        new
    });
    run(py, Hold::Detached, || {
        let engine = scope.handle.engine()?;
        let done = engine.merge(&scope.scope, numbers.clone(), keep.and_then(|at| numbers.get(at)).map(|one| one.0), new, now)?;
        done.map(|one| Remembered::new(engine, &scope.scope, one)).transpose()
    })
}

fn related<'py>(py: Python<'py>, scope: &ScopeCore, found: Vec<Relation>) -> PyResult<Vec<Related<'py>>> {
    let numbers: Vec<u32> = found.iter().map(|one| one.memory.unwrap_or(0)).collect();
    let ids = run(py, Hold::Attached, || scope.handle.engine()?.ids(&scope.scope, &numbers))?;
    let row = |(one, id): (Relation, Option<String>)| {
        let until = time::maybe_to_python(py, one.until)?;
        Ok((one.subject, one.relation, one.object, time::to_python(py, one.since)?, until, id))
    };
    found.into_iter().zip(ids).map(row).collect()
}

/// Says that something stands to something, or no longer does; the relation, and whether it is new.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // those of `relate()`, one by one
pub fn relate<'py>(
    py: Python<'py>,
    scope: &Bound<'py, ScopeCore>,
    subject: &Bound<'py, PyAny>,
    relation: &Bound<'py, PyAny>,
    object: &Bound<'py, PyAny>,
    since: Option<&Bound<'py, PyAny>>,
    memory: Option<&Bound<'py, Memory>>,
    holds: bool,
) -> PyResult<(Related<'py>, bool)> {
    let scope = scope.get();
    let now = scope.handle.clock.now(py)?;
    let given = Relation {
        number: 0,
        subject: text_of("subject", subject)?,
        relation: text_of("relation", relation)?,
        object: text_of("object", object)?,
        since: time::maybe_from_python("since", since)?.unwrap_or(now),
        until: None,
        memory: memory.map(|memory| memory.get().0.memory.number),
    };
    let (stored, new) = run(py, Hold::Detached, || relations::relate(scope.handle.engine()?, &scope.scope, &given, holds, now))?;
    let mut rows = related(py, scope, vec![stored])?;
    rows.pop().map(|row| (row, new)).ok_or_else(|| invalid(py, "relating: the relation is gone: please report it"))
}

/// The relations of an entity at a time.
#[pyfunction]
pub fn neighbors<'py>(
    py: Python<'py>,
    scope: &Bound<'py, ScopeCore>,
    entity: &Bound<'py, PyAny>,
    at: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Related<'py>>> {
    let scope = scope.get();
    let (entity, at) = (text_of("entity", entity)?, time::maybe_from_python("at", at)?);
    let found = run(py, Hold::Attached, || relations::neighbors(scope.handle.engine()?, &scope.scope, &entity, at))?;
    related(py, scope, found)
}

/// The shortest paths between two entities at a time.
#[pyfunction]
pub fn paths<'py>(
    py: Python<'py>,
    scope: &Bound<'py, ScopeCore>,
    from: &Bound<'py, PyAny>,
    to: &Bound<'py, PyAny>,
    max_hops: usize,
    at: Option<&Bound<'py, PyAny>>,
) -> PyResult<Vec<Vec<Related<'py>>>> {
    let scope = scope.get();
    let (from, to, at) = (text_of("a", from)?, text_of("b", to)?, time::maybe_from_python("at", at)?);
    let found = run(py, Hold::Detached, || relations::paths(scope.handle.engine()?, &scope.scope, &from, &to, max_hops, at))?;
    found.into_iter().map(|path| related(py, scope, path)).collect()
}
