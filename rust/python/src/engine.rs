//! `EngineCore`: one open store, as the package's `Engine` calls it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memspan_engine::engine::{Engine, EngineOptions, Maintained};
use memspan_engine::index::vectors::graph::GraphOptions;
use memspan_engine::limits::{MAX_DIMENSIONS, busy_timeout, within};
use memspan_engine::memory::embedding::{Embedding, PROBE};
use memspan_engine::memory::{Kind, KindRule};
use memspan_engine::scope::{Scope, ScopeType};
use memspan_engine::session::LearnedModel;
use memspan_engine::store::metrics::add;
use memspan_engine::store::vault::StoreKey;
use memspan_engine::text::screening::Screening;
use memspan_engine::tokens::bound::Class;
use memspan_engine::{Error, ErrorKind, Result};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::arguments::{Argument, calls, checked, field, option};
use crate::calls::{Calls, call, check_signals};
use crate::clock::Clock;
use crate::errors::{Hold, look_for_signals, run, to_python};
use crate::memory::Remembered;
use crate::rows::{Draft, ToEmbed, with_vectors};
use crate::scope::{GivenScope, ScopeCore};
use crate::value::{Named, Show, Tuple, shows};
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

/// What an embedder says of itself.
impl<'py> Argument<'py> for Embedding {
    fn read(_: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        let dimensions = u64::read("the embedder's dimensions", &value.getattr("dimensions")?)?;
        let dimensions = checked(value, within("the embedder's dimensions", dimensions, 1..=MAX_DIMENSIONS as u64))? as u32;
        let revision = Option::<String>::read("the embedder's revision", &value.getattr("revision")?)?.unwrap_or_default();
        checked(value, Self::new(String::read("the embedder's name", &value.getattr("name")?)?, dimensions, revision))
    }
}

/// A `memspan.GraphOptions`.
impl<'py> Argument<'py> for GraphOptions {
    fn read(_: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        fn part<'py, T: Argument<'py>>(graph: &Bound<'py, PyAny>, name: &str) -> PyResult<T> {
            T::read(&format!("graph.{name}"), &graph.getattr(name)?)
        }
        Ok(Self {
            threshold: part(value, "threshold")?,
            m: part(value, "m")?,
            ef_construction: part(value, "ef_construction")?,
            ef_search: part(value, "ef_search")?,
            rebuild_share: part(value, "rebuild_share")?,
        })
    }
}

/// Rules of kinds by name: `memspan.KindRule`.
struct Rules([KindRule; 7]);

impl<'py> Argument<'py> for Rules {
    fn read(name: &str, value: &Bound<'py, PyAny>) -> PyResult<Self> {
        let mut rules = [KindRule::default(); 7];
        for (kind, rule) in Bound::<PyDict>::read(name, value)? {
            let days = |name: &str| -> PyResult<Option<f64>> { field(&rule, name) };
            rules[Kind::read("kind", &kind)? as usize] =
                KindRule::of_days(days("ttl_days")?, days("half_life_days")?, field(&rule, "cap")?);
        }
        Ok(Self(rules))
    }
}

/// The key that a caller gave; `None` for a store that is not encrypted.
fn store_key(py: Python<'_>, given: Option<&[u8]>) -> PyResult<Option<StoreKey>> {
    given.map(StoreKey::new).transpose().map_err(|error| to_python(py, &error))
}

shows! {
    Maintained as Maintained |it| { expired, made, recalls, sessions, collections, graphs }
    LearnedModel as LearnedTokens |it| {
        prior = it.learned.prior().as_f64(), exceeded = it.learned.exceeded(),
        classes = Tuple(Class::ALL.iter().map(|class| (it.learned.factor(*class).as_f64(), it.learned.samples(*class), *class)).collect()),
        model, encoding
    }
    (f64, usize, Class) as LearnedClass |it| { name = it.2.name(), factor = it.0, samples = it.1 }
}

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct EngineCore {
    pub handle: Arc<Handle>,
}

calls! {
    EngineCore |it| {
        /// Makes another embedding the one of this engine; its place.
        exchange_embedding(embedding: Embedding) Attached |engine| Ok(engine.exchange_embedding(&embedding));
        /// The place of the embedding that a scope is searched by, among those that the engine was given.
        place_of(scope: GivenScope) Attached |engine| engine.place_of(&scope.0.get().scope);
        /// Compares the first of these vectors, which is that of `PROBE`, with what the store knows.
        check_probe(probe: Py<Vectors>) Detached |engine| {
            let probe = probe.get();
            probe.first().map_or(Ok(()), |vector| engine.check_probe(probe.place, &vector))
        };
        /// The names of the embeddings that the store has met.
        embeddings() Attached |engine| Ok(engine.embeddings()?.into_iter().map(|embedding| embedding.name).collect::<Vec<_>>());
        /// A scope: `scope_type` is "user" or "shared".
        scope(scope_type: String, id as "a scope's id": String, tenant: Option<String>) Attached |_engine|
            Ok(ScopeCore::new(&it.handle, Scope::new(tenant.as_deref(), ScopeType::parse(&scope_type)?, &id)?));
        /// Scopes behind partition `after`, in the order in which they were first written to: partition, scope.
        scopes(after: u32, limit: usize) Attached |engine| {
            let page = engine.scopes(after, limit)?.into_iter();
            Ok(page.map(|(partition, scope)| (partition, ScopeCore::new(&it.handle, scope))).collect::<Vec<_>>())
        };
        /// Whether a scope is one of this engine's.
        owns(scope: GivenScope) Attached |_engine| Ok(Arc::ptr_eq(&scope.0.get().handle, &it.handle));
        /// What the embedder at `place` is asked for drafts.
        to_embed(drafts: Vec<Py<Draft>>, place: u32) Detached |engine| ToEmbed::new(engine, &drafts, place);
        /// Forgets what a kind has in a scope above its cap; how many.
        forget_over_cap() Detached |engine, now| engine.forget_over_caps(now);
        /// A whole, verified, compacted copy; how many values it has.
        backup(path: PathBuf) Long |engine| engine.backup(&path);
        /// Writes everything that the store holds; how many values that are.
        export(path: PathBuf) Long |engine| engine.export(&path);
        /// Reads an export into the empty store; how many values it has then.
        load(path: PathBuf) Long |engine| engine.load(&path);
        is_encrypted() Attached |engine| Ok(engine.store().is_encrypted());
        /// Rewrites the store into a new generation; how many values it has.
        compact() Long |engine| engine.compact();
        /// Counts what an embedder was asked, and what it was not because it had been asked before.
        note_embedded(texts: u64, reused: u64, questions_reused: u64) Attached |engine| {
            let metrics = engine.store().metrics();
            add(&metrics.texts_embedded, texts);
            add(&metrics.vectors_reused, reused);
            add(&metrics.questions_reused, questions_reused);
            Ok(())
        };
        /// Counts memories whose vector could not be made.
        note_pending(count: u64) Attached |engine| {
            add(&engine.store().metrics().vectors_pending, count);
            Ok(())
        };
        /// What is in the store, and what happened since this process opened it.
        metrics() Detached |engine| engine.metrics().map(Named);
        /// What was learned of closed tokenizers.
        learned() Attached |engine| memspan_engine::session::learned(engine);
        /// Forgets what was learned of a model; whether there was something.
        forget_learned(model: String) Detached |engine| memspan_engine::session::forget_learned(engine, &model);
    }

    /// Opens a store, or makes one. With `by_default` the embedding is the built-in one, unless the store has met another.
    #[new]
    #[pyo3(signature = (path, durability, read_only, busy_timeout_seconds, **options))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        durability: &Bound<'_, PyAny>,
        read_only: bool,
        busy_timeout_seconds: &Bound<'_, PyAny>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let clock = Clock::new(option(options, "clock")?)?;
        let by_default = option(options, "by_default")?.unwrap_or_default();
        let key = option::<Bound<'_, PyAny>>(options, "key")?.map(|key| key.extract::<Vec<u8>>()).transpose()?;
        let key = store_key(py, key.as_deref())?;
        let screening: Screening = option(options, "policy")?.unwrap_or_default();
        let rules = option::<Rules>(options, "kinds")?.map_or([KindRule::default(); 7], |rules| rules.0);
        let graph: GraphOptions = option(options, "graph")?.unwrap_or_default();
        let options = EngineOptions {
            durability: Argument::read("durability", durability)?,
            read_only,
            busy_timeout: checked(durability, busy_timeout(f64::read("busy_timeout_seconds", busy_timeout_seconds)?))?,
            embedding: option(options, "embedding")?,
            now: clock.now(py)?,
        };
        memspan_engine::interrupt::ask_by(look_for_signals);
        let engine = run(py, Hold::Long, || {
            graph.check()?;
            Ok(Engine::open_as(&path, options, by_default, key)?.with_graph(graph)?.with_screening(screening).with_rules(rules))
        })?;
        Ok(Self { handle: Arc::new(Handle { engine, clock, closed: AtomicBool::new(false) }) })
    }

    /// The text that every embedder embeds once, so that another model under the same name is noticed.
    #[classattr]
    const PROBE: &'static str = PROBE;

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

    /// Makes `key` the one that opens the store, or leaves it plain.
    fn rekey(&self, py: Python<'_>, key: Option<&[u8]>) -> PyResult<()> {
        let key = store_key(py, key)?;
        self.run(py, Hold::Long, |engine| engine.rekey(key))
    }

    /// Writes drafts; what became of each, a `Remembered` or an exception, and the transactions that it took.
    fn remember_many<'py>(
        &self,
        py: Python<'py>,
        drafts: Vec<Py<Draft>>,
        embedded: Option<&Bound<'py, Vectors>>,
        all_or_nothing: bool,
    ) -> PyResult<(Bound<'py, PyList>, u64)> {
        let now = self.now(py)?;
        let new = with_vectors(&drafts, embedded.map(Bound::get));
        let scopes: Vec<Arc<Scope>> = new.iter().map(|(scope, _)| Arc::clone(scope)).collect();
        let (outcomes, transactions) = self.run(py, Hold::Long, |engine| {
            let written = engine.remember_many(new, now, all_or_nothing)?;
            let named = |(outcome, scope): (Result<_>, &Arc<Scope>)| outcome.and_then(|one| Remembered::new(engine, scope, one));
            Ok((written.outcomes.into_iter().zip(&scopes).map(named).collect::<Vec<_>>(), written.transactions))
        })?;
        let one = |outcome: Result<Remembered>| outcome.map_or_else(|error| to_python(py, &error).show(py), |done| done.show(py));
        Ok((PyList::new(py, outcomes.into_iter().map(one).collect::<PyResult<Vec<_>>>()?)?, transactions))
    }

    /// Does what can wait. `embed` takes a list of texts and returns `Vectors`, where the embedding is a caller's. A signal ends it
    /// between two steps.
    fn maintain<'py>(&self, py: Python<'py>, embed: Option<Py<PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let now = self.now(py)?;
        let mut calls = Calls::new(embed);
        let done = self.run(py, Hold::Detached, |engine| {
            let mut signal = None;
            let mut between = || check_signals(&mut signal);
            let done = engine.maintain(calls.embedder(), now, &mut between);
            calls.raised = calls.raised.take().filter(|_| !matches!(&done, Ok(done) if done.embedder_failed.is_some())).or(signal);
            done
        });
        calls.or_raise(done)?.show(py)
    }

    /// Makes the vectors that are missing and gives up what is built of any other embedding; `progress` is told of each step.
    fn reembed(&self, py: Python<'_>, embed: Option<Py<PyAny>>, progress: Py<PyAny>) -> PyResult<u64> {
        let mut calls = Calls::new(embed);
        let made = self.run(py, Hold::Detached, |engine| {
            let mut raised = None;
            let mut told = |made: u64| call(&progress, (made,), &mut raised).map(drop);
            let made = engine.reembed(calls.embedder(), &mut told);
            calls.raised = calls.raised.take().or(raised);
            made
        });
        calls.or_raise(made)
    }

    /// Reads everything; what was counted, and what contradicts what.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let report = self.run(py, Hold::Long, Engine::check)?;
        let counted = vec![
            ("values", report.values),
            ("scopes", report.scopes),
            ("memories", report.memories),
            ("ended", report.ended),
            ("postings", report.postings),
            ("vectors", report.vectors),
            ("documents", report.documents),
            ("chunks", report.chunks),
        ];
        let values = Named(counted).show(py)?;
        values.set_item("findings", PyTuple::new(py, report.lines())?)?;
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

impl EngineCore {
    fn now(&self, py: Python<'_>) -> PyResult<i64> {
        self.handle.clock.now(py)
    }

    fn run<T: Send>(&self, py: Python<'_>, hold: Hold, work: impl FnOnce(&Engine) -> Result<T> + Send) -> PyResult<T> {
        run(py, hold, || work(self.handle.engine()?))
    }
}
