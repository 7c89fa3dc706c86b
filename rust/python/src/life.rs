//! The life of a memory, as the package calls it: screening, the write gate, what `learn` and `consolidate` write, relations.

use memspan_engine::gate::{self, Claim, Speaker};
use memspan_engine::life;
use memspan_engine::life::consolidate::{self, Rule};
use memspan_engine::life::relations;
use memspan_engine::memory::{self, Core, LearnMark, Learning, NewMemory, Origin, Provenance};
use memspan_engine::session::Session;
use memspan_engine::text::screening::{self, Screened, Screening, Treatment};
use pyo3::prelude::*;

use crate::arguments::{maybe_text, text_of};
use crate::errors::{Hold, invalid, run, to_python};
use crate::memory::{Memory, Remembered, known};
use crate::rows::Draft;
use crate::scope::ScopeCore;
use crate::time;
use crate::value::{Moment, value};
use crate::vectors::Vectors;

/// A message to be judged.
#[derive(FromPyObject)]
pub struct Heard<'py> {
    role: String,
    text: Bound<'py, PyAny>,
    at: Option<Bound<'py, PyAny>>,
}

value! {
    /// What a message claims, with the letters of it that say so. Private.
    Judged("memspan._core") {
        index: usize, category: String, text: String, slot: Option<String>, replaces: Option<String>, ends: Option<String>,
        importance: f64, confidence: f64, span: (usize, usize), reason: String, doubt: Option<String>
    }
}

value! {
    /// What a draft says of others, and where it comes from. Private.
    Beside("memspan._core") {
        replaces: Option<String>, ends: Option<String>, doubt: Option<String>, session: Option<String>, message: Option<u64>,
        writer: Option<String>
    }
}

value! {
    /// How far a session was learnt from: the next message, its changes, when it was made. Private.
    Mark("memspan._core") { next: u64, edits: u64, created_at: i64 }
}

value! {
    /// From where on a session is to be learnt from, its mark, and what it is now. Private.
    LearnState("memspan._core") { first: u64, before: Mark, now: Mark }
}

value! {
    /// A session that claims come from: how far it was learnt from before, and after. Private.
    LearnedFrom("memspan._core") { session: String, before: Mark, after: Mark }
}

value! {
    /// A part of a text that is a secret or personal, by its letters. Private.
    SensitivePart("memspan._core") { what: String, start: usize, end: usize }
}

value! {
    /// How two things stand to each other, and since when.
    Relation("memspan.life") {
        subject: String, relation: String, object: String, since: Moment, until: Option<Moment>, memory_id: Option<String>
    }
}

value! {
    /// Memories of a cluster that say the same, by their places, and the place that stands for them. Private.
    Group("memspan._core") { places: Vec<usize>, stands: usize }
}

value! {
    /// Memories that are near each other, and the groups of them that rules merge. Private.
    FoundCluster("memspan._core") { memories: Vec<Memory>, groups: Vec<Group> }
}

/// A policy by its names.
pub fn screening_of(py: Python<'_>, secrets: &str, personal_data: &str) -> PyResult<Screening> {
    let treatment = |field, name| Treatment::parse(field, name).map_err(|error| to_python(py, &error));
    Ok(Screening { secrets: treatment("secrets", secrets)?, personal_data: treatment("personal_data", personal_data)? })
}

/// Secrets and personal data in a text.
#[pyfunction]
pub fn screen(text: &Bound<'_, PyAny>) -> PyResult<Vec<SensitivePart>> {
    let text = text_of("text", text)?;
    let letters = |to: usize| text[..to].chars().count();
    let part =
        |one: screening::Finding| SensitivePart { what: one.what.name().to_owned(), start: letters(one.start), end: letters(one.end) };
    Ok(screening::screen(&text).into_iter().map(part).collect())
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
    for Heard { role, text, at } in &heard {
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
    let (_, text, _) = &messages[index];
    let claims = gate::judge_among(messages, index);
    engine.note_judged(claims.iter().map(|claim| claim.category));
    let letters = |to: usize| text[..to].chars().count();
    let row = |claim: Claim| Judged {
        index,
        category: claim.category.name().to_owned(),
        span: (letters(claim.span.0), letters(claim.span.1)),
        importance: f64::from(claim.importance) / 1000.0,
        confidence: f64::from(claim.confidence) / 1000.0,
        text: claim.text,
        slot: claim.slot,
        replaces: claim.replaces,
        ends: claim.ends,
        reason: claim.reason,
        doubt: claim.doubt.map(str::to_owned),
    };
    claims.into_iter().map(row).collect()
}

/// How far a session was learnt from, and what it is now; the begin where it changed since or is another one.
#[pyfunction]
pub fn learn_mark(py: Python<'_>, scope: &Bound<'_, ScopeCore>, session: &str) -> PyResult<LearnState> {
    let scope = scope.get();
    run(py, Hold::Attached, || {
        let engine = scope.handle.engine()?;
        let mark = engine.learn_mark(&scope.scope, session)?;
        let record = Session { engine, scope: &scope.scope, id: session }.status()?.record;
        let now = LearnMark { next: record.tally.messages, edits: record.edits, created_at: record.created_at };
        Ok(LearnState { first: mark.continued(&now), before: mark.into(), now: now.into() })
    })
}

impl From<LearnMark> for Mark {
    fn from(LearnMark { next, edits, created_at }: LearnMark) -> Self {
        Self { next, edits, created_at }
    }
}

impl From<Mark> for LearnMark {
    fn from(Mark { next, edits, created_at }: Mark) -> Self {
        Self { next, edits, created_at }
    }
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

/// Stores claims in one transaction; `None` where another process learnt from the session meanwhile.
#[pyfunction]
pub fn learn(
    py: Python<'_>,
    scope: &Bound<'_, ScopeCore>,
    drafts: Vec<Bound<'_, Draft>>,
    beside: Vec<Beside>,
    session: Option<LearnedFrom>,
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
    for (claim, Beside { replaces, ends, doubt, session, message, writer }) in claims.iter_mut().zip(beside) {
        claim.provenance = Provenance { session, message, writer, ..Provenance::default() };
        claim.learning = Some(Box::new(Learning { near: Vec::new(), replaces, ends, doubt }));
    }
    let mark = session.map(|from| (from.session, from.before.into(), from.after.into()));
    run(py, Hold::Detached, || {
        let engine = scope.handle.engine()?;
        let Some(done) = life::learn(engine, &scope.scope, claims, mark, now)? else { return Ok(None) };
        Remembered::several(engine, &scope.scope, done).map(Some)
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
pub fn clusters(py: Python<'_>, scope: &Bound<'_, ScopeCore>, closeness: f64, min_points: usize) -> PyResult<Vec<FoundCluster>> {
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
    let group = |(places, stands)| Group { places, stands };
    let cluster = |(memories, groups): (Vec<_>, Vec<_>)| FoundCluster {
        memories: memories.into_iter().map(Memory).collect(),
        groups: groups.into_iter().map(group).collect(),
    };
    Ok(found.into_iter().map(cluster).collect())
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

fn related(py: Python<'_>, scope: &ScopeCore, found: Vec<memory::Relation>) -> PyResult<Vec<Relation>> {
    let numbers: Vec<u32> = found.iter().map(|one| one.memory.unwrap_or(0)).collect();
    let ids = run(py, Hold::Attached, || scope.handle.engine()?.ids(&scope.scope, &numbers))?;
    let named = |(one, memory_id): (memory::Relation, Option<String>)| Relation {
        subject: one.subject,
        relation: one.relation,
        object: one.object,
        since: Moment(one.since),
        until: one.until.map(Moment),
        memory_id,
    };
    Ok(found.into_iter().zip(ids).map(named).collect())
}

/// Says that something stands to something, or no longer does; the relation, and whether it is new.
#[pyfunction]
pub fn relate(
    py: Python<'_>,
    scope: &Bound<'_, ScopeCore>,
    subject: &Bound<'_, PyAny>,
    relation: &Bound<'_, PyAny>,
    object: &Bound<'_, PyAny>,
    since: Option<&Bound<'_, PyAny>>,
    memory: Option<&Bound<'_, Memory>>,
    holds: bool,
) -> PyResult<(Relation, bool)> {
    let scope = scope.get();
    let now = scope.handle.clock.now(py)?;
    let given = memory::Relation {
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
pub fn neighbors(
    py: Python<'_>,
    scope: &Bound<'_, ScopeCore>,
    entity: &Bound<'_, PyAny>,
    at: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Relation>> {
    let scope = scope.get();
    let (entity, at) = (text_of("entity", entity)?, time::maybe_from_python("at", at)?);
    let found = run(py, Hold::Attached, || relations::neighbors(scope.handle.engine()?, &scope.scope, &entity, at))?;
    related(py, scope, found)
}

/// The shortest paths between two entities at a time.
#[pyfunction]
pub fn paths(
    py: Python<'_>,
    scope: &Bound<'_, ScopeCore>,
    from: &Bound<'_, PyAny>,
    to: &Bound<'_, PyAny>,
    max_hops: usize,
    at: Option<&Bound<'_, PyAny>>,
) -> PyResult<Vec<Vec<Relation>>> {
    let scope = scope.get();
    let (from, to, at) = (text_of("a", from)?, text_of("b", to)?, time::maybe_from_python("at", at)?);
    let found = run(py, Hold::Detached, || relations::paths(scope.handle.engine()?, &scope.scope, &from, &to, max_hops, at))?;
    found.into_iter().map(|path| related(py, scope, path)).collect()
}
