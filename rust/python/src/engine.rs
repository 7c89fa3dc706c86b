//! `EngineCore`: one open store, as the package's `Engine` calls it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memspan_engine::context::Factor;
use memspan_engine::engine::{Engine, EngineOptions};
use memspan_engine::index::vectors::graph::GraphOptions;
use memspan_engine::limits::busy_timeout;
use memspan_engine::memory::KindRule;
use memspan_engine::memory::embedding::PROBE;
use memspan_engine::scope::{Scope, ScopeType};
use memspan_engine::session::LearnedModel;
use memspan_engine::store::Durability;
use memspan_engine::store::metrics::add;
use memspan_engine::text::screening::Screening;
use memspan_engine::tokens::bound::Class;
use memspan_engine::{Error, ErrorKind, Result};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyDict, PyList, PyTuple};

use crate::arguments::{maybe_text, number, text_of};
use crate::calls::{Calls, call, check_signals};
use crate::clock::Clock;
use crate::errors::{Hold, look_for_signals, run, to_python};
use crate::keys::store_key;
use crate::life::screening_of;
use crate::memory::Remembered;
use crate::options::{Graph, Identity, Treatments, embedding_of, graph_of, rules_of};
use crate::rows::{Rows, scope_core};
use crate::scope::ScopeCore;
use crate::value::{Tuple, value};
use crate::vectors::{Space, Vectors};

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

    /// The dimensions of its embedding's vectors, and its place among those that the engine was given; `None` without an embedding.
    pub fn space(&self) -> Space {
        self.engine.embedding().map(|embedding| (embedding.dimensions as usize, self.engine.embedding_place()))
    }

    /// How a prompt that asks these scopes is assembled.
    pub fn hold(&self, scopes: &[Scope]) -> Result<Hold> {
        let small = self.engine()?.documents(scopes)? <= ATTACHED_UP_TO;
        Ok(if small { Hold::Attached } else { Hold::Detached })
    }
}

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
        policy: Option<Treatments>,
        kinds: Option<&Bound<'_, PyDict>>,
        key: Option<&[u8]>,
    ) -> PyResult<Self> {
        let clock = Clock::new(clock)?;
        let options = EngineOptions {
            durability: Durability::parse(&text_of("durability", durability)?).map_err(|error| to_python(py, &error))?,
            read_only,
            busy_timeout: busy_timeout(number("busy_timeout_seconds", busy_timeout_seconds)?).map_err(|error| to_python(py, &error))?,
            embedding: embedding.as_ref().map(embedding_of).transpose()?,
            now: clock.now(py)?,
        };
        let screening = policy.map_or(Ok(Screening::default()), |given| screening_of(py, &given.secrets, &given.personal_data))?;
        let rules = kinds.map_or(Ok([KindRule::default(); 7]), rules_of)?;
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
    fn space(&self) -> Space {
        self.handle.space()
    }

    /// Makes another embedding the one of this engine; its place.
    fn exchange_embedding(&self, embedding: Identity<'_>) -> PyResult<u32> {
        Ok(self.handle.engine.exchange_embedding(&embedding_of(&embedding)?))
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
        run(py, Hold::Detached, || self.handle.engine()?.metrics())?.into_py_dict(py)
    }

    /// What was learned of closed tokenizers.
    fn learned(&self, py: Python<'_>) -> PyResult<Vec<LearnedTokens>> {
        let found = run(py, Hold::Attached, || memspan_engine::session::learned(self.handle.engine()?))?;
        Ok(found.into_iter().map(LearnedTokens::from).collect())
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

value! {
    /// What was learned of one class of text. Private.
    LearnedClass("memspan._core") { name: String, factor: f64, samples: usize }
}

value! {
    /// What was learned of a closed tokenizer. Private.
    LearnedTokens("memspan._core") { model: String, encoding: String, prior: f64, exceeded: u64, classes: Tuple<LearnedClass> }
}

impl From<LearnedModel> for LearnedTokens {
    fn from(LearnedModel { model, encoding, learned, .. }: LearnedModel) -> Self {
        let factor = |factor: Factor| f64::from(factor.per_mille()) / 1000.0;
        let class = |class: Class| LearnedClass {
            name: class.name().to_owned(),
            factor: factor(learned.factor(class)),
            samples: learned.samples(class),
        };
        let classes = Class::ALL.into_iter().map(class).collect();
        Self { model, encoding, prior: factor(learned.prior()), exceeded: learned.exceeded(), classes }
    }
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
