//! `EngineCore`: one open store, as the package's `Engine` calls it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memspan_engine::context::Factor;
use memspan_engine::engine::{Embed, Engine, EngineOptions};
use memspan_engine::index::vectors::UnitVector;
use memspan_engine::index::vectors::graph::GraphOptions;
use memspan_engine::limits::{MAX_DIMENSIONS, busy_timeout};
use memspan_engine::memory::KindRule;
use memspan_engine::memory::embedding::{Embedding, PROBE};
use memspan_engine::memory::maintain::Pending;
use memspan_engine::scope::{Scope, ScopeType};
use memspan_engine::session::LearnedModel;
use memspan_engine::store::Durability;
use memspan_engine::store::metrics::add;
use memspan_engine::text::screening::Screening;
use memspan_engine::tokens::bound::Class;
use memspan_engine::tokens::shared_cache;
use memspan_engine::{Error, ErrorKind, Result};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::arguments::{maybe_text, number, text_of, whole};
use crate::clock::Clock;
use crate::errors::{Hold, invalid, look_for_signals, run, to_python};
use crate::keys::store_key;
use crate::life::screening_of;
use crate::memory::Remembered;
use crate::rows::{Rows, scope_core};
use crate::scope::ScopeCore;
use crate::vectors::Vectors;

/// Up to so many memories in its scopes, a read is over in well under a millisecond and keeps the interpreter.
pub const ATTACHED_UP_TO: u64 = 20_000;

/// An open store, shared by the engine object and its scopes.
#[derive(Debug)]
pub struct Handle {
    engine: Engine,
    pub clock: Clock,
    closed: AtomicBool,
}

impl Handle {
    /// The engine, unless it was closed: another engine of this process may keep the store itself open.
    pub fn engine(&self) -> Result<&Engine> {
        if self.closed.load(Ordering::Acquire) {
            let path = self.engine.store().path();
            return Err(Error::new(
                ErrorKind::Closed,
                format!("using the engine on {}: it was closed: open it again with memspan.open()", path.display()),
            ));
        }
        Ok(&self.engine)
    }

    /// How a prompt that asks these scopes is assembled.
    pub fn hold(&self, scopes: &[Scope]) -> Result<Hold> {
        let small = self.engine()?.documents(scopes)? <= ATTACHED_UP_TO;
        Ok(if small { Hold::Attached } else { Hold::Detached })
    }
}

/// What a caller rules of a kind: its name, days to live, days in which a value halves, most of them.
type KindRow<'py> = (Bound<'py, PyAny>, Option<f64>, Option<f64>, Option<usize>);

/// Rules of kinds by name: days to live, days in which a value halves, most of them.
fn rules_of(given: Vec<KindRow<'_>>) -> PyResult<[KindRule; 7]> {
    const DAY: f64 = 86_400e6;
    let mut rules = [KindRule::default(); 7];
    for (name, ttl_days, half_life_days, cap) in given {
        let micros = |days: f64| (days * DAY).min(i64::MAX as f64 / 4.0) as i64;
        rules[crate::arguments::kind(&name)? as usize] = KindRule { ttl: ttl_days.map(micros), half_life: half_life_days.map(micros), cap };
    }
    Ok(rules)
}

/// What an embedder says of itself: name, dimensions, revision.
type Identity<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Option<Bound<'py, PyAny>>);

/// Model, encoding, prior, exceeded, classes: name, factor, samples.
type LearnedRow = (String, String, f64, u64, Vec<(&'static str, f64, usize)>);
/// Rules of graphs over vectors: threshold, M, ef_construction, ef_search, share from which on one is rebuilt.
type Graph<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct EngineCore {
    pub handle: Arc<Handle>,
}

#[pymethods]
impl EngineCore {
    /// Opens a store, or makes one. `embedding` is (name, dimensions, revision); with `by_default` it is the built-in one, unless the store
    /// has met another.
    #[new]
    #[pyo3(signature = (path, durability, read_only, busy_timeout_seconds, clock, embedding, by_default=false, graph=None, policy=None, kinds=None, key=None))]
    #[allow(clippy::too_many_arguments)] // those of `open()`, one by one
    fn new(
        py: Python<'_>,
        path: PathBuf,
        durability: &Bound<'_, PyAny>,
        read_only: bool,
        busy_timeout_seconds: &Bound<'_, PyAny>,
        clock: Option<&Bound<'_, PyAny>>,
        embedding: Option<Identity<'_>>,
        by_default: bool,
        graph: Option<Graph<'_>>,
        policy: Option<(String, String)>,
        kinds: Option<Vec<KindRow<'_>>>,
        key: Option<&[u8]>,
    ) -> PyResult<Self> {
        let clock = Clock::new(clock)?;
        let options = EngineOptions {
            durability: durability_of(durability)?,
            read_only,
            busy_timeout: busy_timeout(number("busy_timeout_seconds", busy_timeout_seconds)?).map_err(|error| to_python(py, &error))?,
            embedding: embedding.map(|(name, dimensions, revision)| embedding_of(&name, &dimensions, revision.as_ref())).transpose()?,
            now: clock.now(py)?,
        };
        let screening = policy.map_or(Ok(Screening::default()), |(secrets, personal)| screening_of(py, &secrets, &personal))?;
        let rules = rules_of(kinds.unwrap_or_default())?;
        let graph = graph.map_or(Ok(GraphOptions::default()), |graph| graph_of(&graph))?;
        let key = store_key(py, key)?;
        memspan_engine::interrupt::ask_by(look_for_signals);
        let engine = run(py, Hold::Long, || {
            graph.check()?;
            let engine = match key {
                Some(key) => Engine::open_encrypted(&path, options, by_default, key),
                None if by_default => Engine::open_by_default(&path, &options),
                None => Engine::open(&path, options),
            };
            Ok(engine?.with_graph(graph)?.with_screening(screening).with_rules(rules))
        })?;
        Ok(Self { handle: Arc::new(Handle { engine, clock, closed: AtomicBool::new(false) }) })
    }

    /// The store's folder.
    #[getter]
    fn path(&self) -> PathBuf {
        self.handle.engine.store().path()
    }

    #[getter]
    fn closed(&self) -> bool {
        self.handle.closed.load(Ordering::Acquire)
    }

    /// The dimensions of its embedding's vectors, and its place among those that the engine was given; `None` without an embedding.
    #[getter]
    fn space(&self) -> Option<(u32, u32)> {
        let place = self.handle.engine.embedding_place();
        self.handle.engine.embedding().map(|embedding| (embedding.dimensions, place))
    }

    /// Makes another embedding the one of this engine; its place.
    fn exchange_embedding(&self, embedding: Identity<'_>) -> PyResult<u32> {
        let (name, dimensions, revision) = embedding;
        Ok(self.handle.engine.exchange_embedding(&embedding_of(&name, &dimensions, revision.as_ref())?))
    }

    /// The place of the embedding that a scope is searched by, among those that the engine was given.
    fn place_of(&self, scope: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
        let core = scope_core(scope, "scope")?;
        let core = core.get();
        run(scope.py(), Hold::Attached, || self.handle.engine()?.place_of(&core.scope))
    }

    /// The text that every embedder embeds once, so that another model under the same name is noticed.
    #[classattr]
    const PROBE: &'static str = PROBE;

    /// Compares the first of these vectors, which is that of `PROBE`, with what the store knows.
    fn check_probe(&self, py: Python<'_>, probe: &Bound<'_, Vectors>) -> PyResult<()> {
        let probe = probe.get();
        let Some(vector) = probe.first() else { return Ok(()) };
        run(py, Hold::Detached, || self.handle.engine()?.check_probe(probe.place, &vector))
    }

    /// The names of the embeddings that the store has met.
    fn embeddings(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let known = run(py, Hold::Attached, || self.handle.engine()?.embeddings())?;
        Ok(known.into_iter().map(|embedding| embedding.name).collect())
    }

    /// A scope: `scope_type` is "user" or "shared".
    fn scope(&self, scope_type: &str, id: &Bound<'_, PyAny>, tenant: Option<&Bound<'_, PyAny>>) -> PyResult<ScopeCore> {
        let py = id.py();
        let scope_type = if scope_type == "user" { ScopeType::User } else { ScopeType::Shared };
        let (id, tenant) = (text_of("a scope's id", id)?, maybe_text("tenant", tenant)?);
        let scope = Scope::new(tenant.as_deref(), scope_type, &id).map_err(|error| to_python(py, &error))?;
        Ok(ScopeCore::new(&self.handle, scope))
    }

    /// Scopes behind partition `after`, in the order in which they were first written to: partition, scope.
    fn scopes(&self, py: Python<'_>, after: u32, limit: usize) -> PyResult<Vec<(u32, ScopeCore)>> {
        let page = run(py, Hold::Attached, || self.handle.engine()?.scopes(after, limit))?;
        Ok(page.into_iter().map(|(partition, scope)| (partition, ScopeCore::new(&self.handle, scope))).collect())
    }

    /// Writes rows; what became of each, a `Remembered` or an exception, and the transactions that it took.
    fn remember_many<'py>(
        &self,
        py: Python<'py>,
        rows: &Bound<'py, Rows>,
        embedded: Option<&Bound<'py, Vectors>>,
        all_or_nothing: bool,
    ) -> PyResult<(Bound<'py, PyList>, u64)> {
        let now = self.handle.clock.now(py)?;
        let new = rows.get().with_vectors(embedded.map(Bound::get));
        let scopes: Vec<Arc<Scope>> = new.iter().map(|(scope, _)| Arc::clone(scope)).collect();
        let (outcomes, transactions) = run(py, Hold::Long, || {
            let engine = self.handle.engine()?;
            let written = engine.remember_many(new, now, all_or_nothing)?;
            let named = |(outcome, scope): (Result<_>, &Arc<Scope>)| outcome.and_then(|one| Remembered::new(engine, scope, one));
            let outcomes: Vec<Result<Remembered>> = written.outcomes.into_iter().zip(&scopes).map(named).collect();
            Ok((outcomes, written.transactions))
        })?;
        let list = PyList::empty(py);
        for outcome in outcomes {
            match outcome {
                Ok(remembered) => list.append(Bound::new(py, remembered)?)?,
                Err(error) => list.append(to_python(py, &error).into_value(py))?,
            }
        }
        Ok((list, transactions))
    }

    /// Forgets what a kind has in a scope above its cap; how many.
    fn forget_over_cap(&self, py: Python<'_>) -> PyResult<u64> {
        let now = self.handle.clock.now(py)?;
        run(py, Hold::Detached, || self.handle.engine()?.forget_over_caps(now))
    }

    /// A whole, verified, compacted copy; how many values it has.
    fn backup(&self, py: Python<'_>, path: PathBuf) -> PyResult<u64> {
        run(py, Hold::Long, || self.handle.engine()?.backup(&path))
    }

    /// Does what can wait. `embed` takes a list of texts and returns `Vectors`, where the embedding is a caller's. A signal ends it
    /// between two steps.
    fn maintain(&self, py: Python<'_>, embed: Option<Py<PyAny>>) -> PyResult<Maintained> {
        let now = self.handle.clock.now(py)?;
        let mut calls = Calls::new(embed);
        let done = run(py, Hold::Detached, || {
            let mut signal = None;
            let mut between = || check_signals(&mut signal);
            let done = self.handle.engine()?.maintain(calls.embedder(), now, &mut between);
            calls.raised = calls.raised.take().filter(|_| !matches!(&done, Ok(done) if done.embedder_failed.is_some())).or(signal);
            done
        });
        let done = calls.or_raise(done)?;
        let memspan_engine::engine::Maintained { expired, made, recalls, sessions, collections, graphs, .. } = done;
        Ok(Maintained { expired, made, recalls, sessions, collections, graphs })
    }

    /// Makes the vectors that are missing and gives up what is built of any other embedding; `progress` is told of each step.
    fn reembed(&self, py: Python<'_>, embed: Option<Py<PyAny>>, progress: Py<PyAny>) -> PyResult<u64> {
        let mut calls = Calls::new(embed);
        let made = run(py, Hold::Detached, || {
            let mut raised = None;
            let mut told = |made: u64| call(&progress, (made,), &mut raised).map(drop);
            let made = self.handle.engine()?.reembed(calls.embedder(), &mut told);
            calls.raised = calls.raised.take().or(raised);
            made
        });
        calls.or_raise(made)
    }

    /// Rewrites the store into a new generation; how many values it has.
    fn compact(&self, py: Python<'_>) -> PyResult<u64> {
        run(py, Hold::Long, || self.handle.engine()?.compact())
    }

    /// Counts what an embedder was asked, and what it was not because it had been asked before.
    fn note_embedded(&self, texts: u64, reused: u64, questions_reused: u64) {
        let metrics = self.handle.engine.store().metrics();
        add(&metrics.texts_embedded, texts);
        add(&metrics.vectors_reused, reused);
        add(&metrics.questions_reused, questions_reused);
    }

    /// Counts memories whose vector could not be made.
    fn note_pending(&self, count: u64) {
        add(&self.handle.engine.store().metrics().vectors_pending, count);
    }

    /// What is in the store, and what happened since this process opened it.
    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (contents, counters) = run(py, Hold::Detached, || {
            let engine = self.handle.engine()?;
            Ok((engine.contents()?, engine.store().metrics().snapshot()))
        })?;
        let values = PyDict::new(py);
        values.set_item("generation", contents.generation)?;
        values.set_item("file_bytes", contents.file_bytes)?;
        values.set_item("scopes", contents.scopes)?;
        values.set_item("memories", contents.memories)?;
        values.set_item("vectors", contents.vectors)?;
        values.set_item("to_embed", contents.to_embed)?;
        values.set_item("collections", contents.collections)?;
        values.set_item("documents", contents.documents)?;
        values.set_item("chunks", contents.chunks)?;
        values.set_item("chunk_vectors", contents.chunk_vectors)?;
        for (name, value) in counters {
            values.set_item(name, value)?;
        }
        let counts = shared_cache().metrics();
        values.set_item("token_cache_hits", counts.hits)?;
        values.set_item("token_cache_misses", counts.misses)?;
        Ok(values)
    }

    /// What was learned of closed tokenizers: model, encoding, prior, times a bound was exceeded, and of each class its name, factor and
    /// samples.
    fn learned(&self, py: Python<'_>) -> PyResult<Vec<LearnedRow>> {
        let found = run(py, Hold::Attached, || memspan_engine::session::learned(self.handle.engine()?))?;
        let factor = |factor: Factor| f64::from(factor.per_mille()) / 1000.0;
        let row = |one: LearnedModel| {
            let class = |class: Class| (class.name(), factor(one.learned.factor(class)), one.learned.samples(class));
            let classes = Class::ALL.into_iter().map(class).collect();
            (one.model, one.encoding, factor(one.learned.prior()), one.learned.exceeded(), classes)
        };
        Ok(found.into_iter().map(row).collect())
    }

    /// Forgets what was learned of a model; whether there was something.
    fn forget_learned(&self, py: Python<'_>, model: &Bound<'_, PyAny>) -> PyResult<bool> {
        let model = text_of("model", model)?;
        run(py, Hold::Detached, || memspan_engine::session::forget_learned(self.handle.engine()?, &model))
    }

    /// Reads everything; what was counted, and what contradicts what.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let report = run(py, Hold::Long, || self.handle.engine()?.check())?;
        let values = PyDict::new(py);
        values.set_item("values", report.values)?;
        values.set_item("scopes", report.scopes)?;
        values.set_item("memories", report.memories)?;
        values.set_item("ended", report.ended)?;
        values.set_item("postings", report.postings)?;
        values.set_item("vectors", report.vectors)?;
        values.set_item("documents", report.documents)?;
        values.set_item("chunks", report.chunks)?;
        let mut findings: Vec<String> =
            report.findings.iter().map(|one| format!("{} of partition {}: {}", one.part, one.partition, one.what)).collect();
        if report.more_findings > 0 {
            findings.push(format!("and {} more", report.more_findings));
        }
        values.set_item("findings", PyTuple::new(py, findings)?)?;
        Ok(values)
    }

    /// Closes the engine; a second time does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if self.handle.closed.swap(true, Ordering::AcqRel) {
            return Ok(());
        }
        run(py, Hold::Detached, || self.handle.engine.close())
    }
}

fn durability_of(value: &Bound<'_, PyAny>) -> PyResult<Durability> {
    match text_of("durability", value)?.as_str() {
        "full" => Ok(Durability::Full),
        "relaxed" => Ok(Durability::Relaxed),
        other => Err(invalid(
            value.py(),
            format!(
                "opening a store: durability is \"full\" (what is acknowledged is on disk) or \"relaxed\" (a power cut may undo the last commit), and it is {other:?}: choose one"
            ),
        )),
    }
}

fn graph_of((threshold, m, ef_construction, ef_search, rebuild_share): &Graph<'_>) -> PyResult<GraphOptions> {
    Ok(GraphOptions {
        threshold: whole("graph.threshold", threshold, 1, i64::MAX)? as u64,
        m: whole("graph.m", m, 4, 64)? as usize,
        ef_construction: whole("graph.ef_construction", ef_construction, 4, 4096)? as usize,
        ef_search: whole("graph.ef_search", ef_search, 1, 65_535)? as usize,
        rebuild_share: number("graph.rebuild_share", rebuild_share)?,
    })
}

fn embedding_of(name: &Bound<'_, PyAny>, dimensions: &Bound<'_, PyAny>, revision: Option<&Bound<'_, PyAny>>) -> PyResult<Embedding> {
    let dimensions = whole("the embedder's dimensions", dimensions, 1, MAX_DIMENSIONS as i64)? as u32;
    let revision = maybe_text("the embedder's revision", revision)?.unwrap_or_default();
    Embedding::new(text_of("the embedder's name", name)?, dimensions, revision).map_err(|error| to_python(name.py(), &error))
}

/// What maintenance did. Frozen.
#[pyclass(frozen, get_all, module = "memspan._core")]
#[derive(Debug)]
pub struct Maintained {
    expired: u64,
    made: u64,
    recalls: u64,
    sessions: u64,
    collections: u64,
    graphs: u64,
}

/// A caller's embedder, called from the engine, and what it raised.
struct Calls {
    embed: Option<Py<PyAny>>,
    raised: Option<PyErr>,
}

impl Calls {
    fn new(embed: Option<Py<PyAny>>) -> Self {
        Self { embed, raised: None }
    }

    fn embedder(&mut self) -> Option<&mut dyn Embed> {
        if self.embed.is_some() { Some(self) } else { None }
    }

    /// What the engine says, unless Python raised something on its way.
    fn or_raise<T>(self, done: PyResult<T>) -> PyResult<T> {
        self.raised.map_or(done, Err)
    }
}

impl Embed for Calls {
    fn embed(&mut self, texts: &[Pending]) -> Result<Vec<Option<UnitVector>>> {
        let Self { embed: Some(embed), raised } = self else { return Ok(vec![None; texts.len()]) };
        let texts: Vec<&str> = texts.iter().map(|one| one.text.as_str()).collect();
        let made = call(embed, (texts,), raised)?;
        Python::attach(|py| match made.bind(py).cast::<Vectors>() {
            Ok(vectors) => Ok(vectors.get().rows.clone()),
            Err(_) => Err(Error::new(ErrorKind::Embedder, "embedding texts: the embedder returned no vectors: look at the embedder")),
        })
    }
}

/// Calls a function of Python's; what it raises is kept, and passes the engine as an error of the embedder or, if it is none of our
/// errors (an interrupt, say), as one that ends everything.
fn call<'a>(
    function: &Py<PyAny>,
    arguments: impl for<'py> pyo3::call::PyCallArgs<'py>,
    raised: &'a mut Option<PyErr>,
) -> Result<Py<PyAny>> {
    Python::attach(|py| {
        function.call1(py, arguments).map_err(|error| {
            let ours = error.value(py).hasattr("reason").unwrap_or(false);
            *raised = Some(error);
            Error::new(if ours { ErrorKind::Embedder } else { ErrorKind::InvalidInput }, "calling Python: it raised")
        })
    })
}

fn check_signals(signal: &mut Option<PyErr>) -> Result<()> {
    Python::attach(|py| {
        py.check_signals().map_err(|error| {
            *signal = Some(error);
            Error::invalid("building a graph: a signal came; what was built is given up")
        })
    })
}
