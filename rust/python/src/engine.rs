//! `EngineCore`: one open store, as the package's `Engine` calls it.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use memspan_engine::engine::{Engine, EngineOptions, Maintained};
use memspan_engine::index::vectors::graph::GraphOptions;
use memspan_engine::limits::busy_timeout;
use memspan_engine::memory::embedding::{Embedding, PROBE};
use memspan_engine::memory::{Kind, KindRule};
use memspan_engine::scope::{Scope, ScopeType};
use memspan_engine::session::LearnedModel;
use memspan_engine::store::metrics::add;
use memspan_engine::store::vault::StoreKey;
use memspan_engine::text::screening::Screening;
use memspan_engine::tokens::bound::Class;
use memspan_engine::{Error, ErrorKind, Result, interrupt};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::{Argument, calls, checked, field, options, reads};
use crate::calls::{Calls, call};
use crate::errors::{Pace, look_for_signals, run};
use crate::memory::{Draft, ToEmbed, with_vectors};
use crate::scope::{GivenScope, ScopeCore};
use crate::time::Clock;
use crate::value::{Named, Show, Tuple, shows};
use crate::vectors::{Space, Vectors};

/// An open store, shared by the engine object and its scopes.
#[derive(Debug)]
pub struct Handle {
    engine: Engine,
    clock: Clock,
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

    /// The time now, by the clock of the engine.
    pub fn now(&self, py: Python<'_>) -> PyResult<i64> {
        self.clock.now(py)
    }
}

/// Rules of kinds by name.
#[derive(Default)]
struct Rules([KindRule; 7]);

reads! {
    // An embedder's description of itself.
    Embedding: |name, value| {
        let dimensions = Argument::read("the embedder's dimensions", &value.getattr("dimensions")?)?;
        let revision = Option::<String>::read("the embedder's revision", &value.getattr("revision")?)?.unwrap_or_default();
        checked(value, Self::new(String::read("the embedder's name", &value.getattr("name")?)?, dimensions, revision))
    };
    // A `memspan.GraphOptions`.
    GraphOptions: |name, value| Ok(Self {
        threshold: field(value, "threshold")?,
        m: field(value, "m")?,
        ef_construction: field(value, "ef_construction")?,
        ef_search: field(value, "ef_search")?,
        rebuild_share: field(value, "rebuild_share")?,
    });
    // A `memspan.KindRule`.
    KindRule: |name, value| Ok(Self::of_days(field(value, "ttl_days")?, field(value, "half_life_days")?, field(value, "cap")?));
    Rules: |name, value| {
        let mut rules = Self::default();
        for (kind, rule) in Bound::<PyDict>::read(name, value)? {
            rules.0[Kind::read("kind", &kind)? as usize] = Argument::read(name, &rule)?;
        }
        Ok(rules)
    };
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
    EngineCore |it, py| (it.handle.engine(), it.handle.now(py)) {
        exchange_embedding(embedding: Embedding) Short |engine| Ok(engine.exchange_embedding(&embedding));
        place_of(scope: GivenScope) Short |engine| engine.place_of(&scope.0.get().scope);
        check_probe(probe: Py<Vectors>) Waits |engine| {
            let probe = &probe.get().0;
            probe.first().map_or(Ok(()), |vector| engine.check_probe(probe.place, &vector))
        };
        embeddings() Short |engine| Ok(engine.embeddings()?.into_iter().map(|embedding| embedding.name).collect::<Vec<_>>());
        scope(scope_type: String, id as "a scope's id": String, tenant: Option<String>) Short |_engine|
            Ok(ScopeCore::new(&it.handle, Scope::new(tenant.as_deref(), ScopeType::parse(&scope_type)?, &id)?));
        scopes(after: u32, limit: usize) Short |engine| {
            let page = engine.scopes(after, limit)?.into_iter();
            Ok(page.map(|(partition, scope)| (partition, ScopeCore::new(&it.handle, scope))).collect::<Vec<_>>())
        };
        owns(scope: GivenScope) Short |_engine| Ok(Arc::ptr_eq(&scope.0.get().handle, &it.handle));
        to_embed(drafts: Vec<Py<Draft>>, place: u32) Waits |engine| {
            let rows: Vec<_> = drafts.iter().map(|draft| (&*draft.get().scope, &draft.get().new)).collect();
            engine.to_embed(place, &rows).map(ToEmbed)
        };
        forget_over_cap() Waits |engine, now| engine.forget_over_caps(now);
        backup(path: PathBuf) Whole |engine| engine.backup(&path);
        export(path: PathBuf) Whole |engine| engine.export(&path);
        load(path: PathBuf) Whole |engine| engine.load(&path);
        is_encrypted() Short |engine| Ok(engine.store().is_encrypted());
        compact() Whole |engine| engine.compact();
        note_embedded(texts: u64, reused: u64, questions_reused: u64) Short |engine| {
            let metrics = engine.store().metrics();
            add(&metrics.texts_embedded, texts);
            add(&metrics.vectors_reused, reused);
            add(&metrics.questions_reused, questions_reused);
            Ok(())
        };
        note_pending(count: u64) Short |engine| {
            add(&engine.store().metrics().vectors_pending, count);
            Ok(())
        };
        metrics() Waits |engine| engine.metrics().map(Named);
        learned() Short |engine| memspan_engine::session::learned(engine);
        rekey(key: Option<Vec<u8>>) Whole |engine| engine.rekey(key.as_deref().map(StoreKey::new).transpose()?);
        remember_many(drafts: Vec<Py<Draft>>, embedded: Option<Py<Vectors>>, all_or_nothing: bool)
            Long with new = with_vectors(&drafts, embedded.as_ref()); |engine, now| {
                let scopes: Vec<Arc<Scope>> = new.iter().map(|draft| Arc::clone(&draft.scope)).collect();
                let rows = new.into_iter().map(|draft| (draft.scope, draft.new)).collect();
                let written = engine.remember_many(rows, now, all_or_nothing)?;
                let named = |(outcome, scope): (Result<_>, &Arc<Scope>)| outcome.and_then(|one| engine.answered_one(scope, one));
                Ok((written.outcomes.into_iter().zip(&scopes).map(named).collect::<Vec<_>>(), written.transactions))
            };
        check() Long |engine| {
            let report = engine.check()?;
            Ok((Named(report.counted()), report.lines()))
        };
        forget_learned(model: String) Waits |engine| memspan_engine::session::forget_learned(engine, &model);
    }

    /// Opens a store, or makes one. With `by_default` the embedding is the built-in one, unless the store has met another.
    #[new]
    fn new(py: Python<'_>, path: PathBuf, given: &Bound<'_, PyDict>) -> PyResult<Self> {
        path.as_path().into_pyobject(py)?; // the first path is made here, as all else in `touch`
        let (mut clock, mut by_default, mut key) = (Clock::System, false, None);
        let (mut screening, mut rules, mut graph) = (Screening::default(), Rules::default(), GraphOptions::default());
        let mut options = EngineOptions::default();
        options! { given of "memspan.open()" |name, value|
            durability => options.durability = Argument::read(name, value)?;
            read_only => options.read_only = Argument::read(name, value)?;
            busy_timeout_seconds => options.busy_timeout = checked(value, busy_timeout(f64::read(name, value)?))?;
            embedding => options.embedding = Some(Argument::read(name, value)?);
            by_default => by_default = Argument::read(name, value)?;
            clock => clock = Clock::new(value)?;
            key => key = Some(checked(value, StoreKey::new(&value.extract::<Vec<u8>>()?))?);
            policy => screening = Argument::read(name, value)?;
            kinds => rules = Argument::read(name, value)?;
            graph => graph = Argument::read(name, value)?;
        }
        options.now = clock.now(py)?;
        interrupt::ask_by(look_for_signals);
        let engine = run(py, Pace::Long, || {
            graph.check()?;
            Ok(Engine::open_as(&path, options, by_default, key)?.with_graph(graph)?.with_screening(screening).with_rules(rules.0))
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

    /// Does what can wait. `embed` takes a list of texts and returns `Vectors`, where the embedding is a caller's. A signal ends it
    /// between two steps.
    fn maintain<'py>(&self, py: Python<'py>, embed: Option<Py<PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let now = self.handle.now(py)?;
        let mut calls = Calls::new(embed);
        let done = run(py, Pace::Waits, || {
            let engine = self.handle.engine()?;
            let done = engine.maintain(calls.embedder(), now, &mut interrupt::ask);
            calls.raised = calls.raised.take().filter(|_| !matches!(&done, Ok(done) if done.embedder_failed.is_some()));
            done
        });
        calls.or_raise(done)?.show(py)
    }

    /// Makes the vectors that are missing and gives up what is built of any other embedding; `progress` is told of each step.
    fn reembed(&self, py: Python<'_>, embed: Option<Py<PyAny>>, progress: Py<PyAny>) -> PyResult<u64> {
        let mut calls = Calls::new(embed);
        let made = run(py, Pace::Waits, || {
            let engine = self.handle.engine()?;
            let mut raised = None;
            let mut told = |made: u64| call(&progress, (made,), &mut raised).map(drop);
            let made = engine.reembed(calls.embedder(), &mut told);
            calls.raised = calls.raised.take().or(raised);
            made
        });
        calls.or_raise(made)
    }

    /// Closes the engine; a second time does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let is_open = !self.handle.closed.load(Ordering::Acquire);
        let closed = if is_open { run(py, Pace::Long, || self.handle.engine.close()) } else { Ok(()) };
        self.handle.closed.fetch_or(self.handle.engine.has_left(), Ordering::AcqRel);
        closed
    }
}
