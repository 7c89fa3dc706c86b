//! `ScopeCore`: the memory of one scope, as the package's `Scope` calls it.

use std::sync::Arc;

use memspan_engine::collection::CollectionName;
use memspan_engine::engine::pace::Last;
use memspan_engine::engine::{Engine, Erased};
use memspan_engine::gate::Heard;
use memspan_engine::life::consolidate::{self, Rule};
use memspan_engine::life::judgement::Judgement;
use memspan_engine::life::{learn_told, relations};
use memspan_engine::memory::forget::Stale;
use memspan_engine::memory::revise::Revision;
use memspan_engine::memory::{self, Answered, Listing, Named, NewMemory, Origin};
use memspan_engine::scope::Scope;
use memspan_engine::session::{self, Session, sources};
use memspan_engine::text::screening::Detected;
use memspan_engine::{Result, collection, recall};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::answers::{self, Found};
use crate::arguments::{Argument, Conditions, Kinds, calls, extracted, options, reads};
use crate::collection::CollectionCore;
use crate::engine::Handle;
use crate::errors::{Pace, invalid, run, type_name};
use crate::life::{Judged, LearnedFrom};
use crate::memory::{Draft, new_memory, with_vectors};
use crate::messages::ToolsJson;
use crate::session::{SessionCore, SessionId};
use crate::value::{Attached, Moment, Tuple, as_is, shows};
use crate::vectors::Vectors;

shows! {
    Erased as ErasedCounts |it| { memories, revisions, messages, documents, ledger_entries, terms, vectors, values, bytes_checked }
    HeldSlot as HeldSlot |it| { name = it.0.name, multi = it.0.multi, memories = Tuple(it.1) }
}

/// A slot with its current memories.
struct HeldSlot(memory::slots::Slot, Vec<Arc<Named>>);

#[pyclass(frozen, module = "memspan._core")]
#[derive(Debug)]
pub struct ScopeCore {
    pub handle: Arc<Handle>,
    pub scope: Arc<Scope>,
    /// How many memories it had when it was last asked.
    last: Last,
}
as_is!(ScopeCore);
extracted!(Py<ScopeCore>);

/// The inside of a `Scope` object.
pub struct GivenScope(pub Py<ScopeCore>);

reads! {
    GivenScope: |name, value| {
        let core = value.getattr("_core").ok().and_then(|core| core.cast_into::<ScopeCore>().ok());
        let message =
            || format!("reading {name}: it must be a Scope, and it is {}: pass engine.user(...) or engine.shared(...)", type_name(value));
        core.map(|core| Self(core.unbind())).ok_or_else(|| invalid(value.py(), message()))
    };
}

/// A scope in its engine: what its calls work on.
pub struct Scoped<'a> {
    engine: &'a Engine,
    scope: &'a Scope,
}

impl<'a> Scoped<'a> {
    fn session(&self, id: &'a str) -> Session<'a> {
        Session { engine: self.engine, scope: self.scope, id }
    }

    /// Revisions with the ids that they name.
    fn known(&self, memories: Vec<memory::Memory>) -> Result<Vec<Arc<Named>>> {
        Ok(self.engine.named(self.scope, memories)?.into_iter().map(Arc::new).collect())
    }

    /// Relations with the ids of the memories that say so.
    fn related(&self, found: Vec<memory::Relation>) -> Result<Vec<(memory::Relation, Option<String>)>> {
        let numbers: Vec<u32> = found.iter().map(|one| one.memory.unwrap_or(0)).collect();
        Ok(found.into_iter().zip(self.engine.ids(self.scope, &numbers)?).collect())
    }

    fn answer(&self, done: memory::Remembered) -> Result<Answered> {
        self.engine.answered_one(self.scope, done)
    }
}

calls! {
    ScopeCore |it, py| (it.own(), it.handle.now(py)) {
        revise(
            memory_id: String, text: Option<String>, slot: Option<String>, importance: Option<f64>, metadata: Option<Attached>,
            occurred_at: Option<Moment>, reason: Option<String>, vector: Option<Py<Vectors>>, found: Option<Vec<Detected>>,
        ) Waits |own, now| {
            let (vector, made_by) = vector.as_ref().map_or((None, 0), |made| (made.get().0.first(), made.get().0.place));
            let (metadata, occurred_at, detected) = (metadata.map(|one| one.0), occurred_at.map(|at| at.0), found.unwrap_or_default());
            let revision = Revision { text, slot, importance, metadata, occurred_at, reason, vector, made_by, detected };
            own.answer(own.engine.revise(own.scope, &memory_id, revision, now)?)
        };
        get(memory_id: String) Short |own, now| Ok(own.known(own.engine.get(own.scope, &memory_id, now)?.into_iter().collect())?.pop());
        history(memory_id: String) Waits |own, now| own.known(own.engine.history(own.scope, &memory_id, now)?);
        memories(
            kinds: u8, newest_first: bool, all: bool, since: Option<Moment>, until: Option<Moment>, metadata: Option<Conditions>,
            first: Option<u32>, limit: usize,
        ) Waits |own, now| {
            let ([since, until], metadata) = ([since, until].map(|at| at.map(|at| at.0)), metadata.unwrap_or_default().0);
            let listing = Listing { kinds, newest_first, all, since, until, metadata };
            let (page, next) = own.engine.listed(own.scope, &listing, first, limit, now)?;
            Ok((own.known(page)?, next))
        };
        slots(only as "a slot's name": Option<String>) Short |own, now| {
            let held = own.engine.slots(own.scope, only.as_deref(), now)?.into_iter();
            held.map(|(slot, memories)| Ok(HeldSlot(slot, own.known(memories)?))).collect::<Result<Vec<_>>>()
        };
        declare_slot(name as "a slot's name": String, multi: bool) Waits |own| own.engine.declare_slot(own.scope, &name, multi);
        forget(memory_id: String, reason: Option<String>) Waits |own, now| own.engine.forget(own.scope, &memory_id, reason.as_deref(), now);
        erase() Whole |own| own.engine.erase(own.scope);
        forget_stale(unused_days: f64, max_importance: f64, dry_run: bool) Whole |own, now|
            own.known(own.engine.forget_stale(own.scope, Stale::new(unused_days, max_importance, now)?, now, dry_run)?);
        forget_old(kinds: u8, before: Moment) Long |own, now| own.engine.forget_old(own.scope, kinds, before.0, now);
        forget_from(source: Option<String>, session: Option<String>, since: Option<Moment>, derived: bool, dry_run: bool) Whole |own, now| {
            let origin = Origin { source, session, since: since.map(|at| at.0), derived };
            own.known(own.engine.forget_from(own.scope, &origin, now, dry_run)?)
        };
        quarantined() Short |own| own.known(own.engine.quarantined(own.scope)?);
        approve(memory_id: String) Waits |own, now| own.answer(own.engine.approve(own.scope, &memory_id, now)?);
        reject(memory_id: String) Waits |own, now| own.engine.reject(own.scope, &memory_id, now);
        /// The decisions on messages from `first` on. The ones before are read for their questions.
        judge(heard: Vec<Heard>, first: usize, discards_doubt: bool) (Pace::of_heard(&heard)) |own, now|
            Judgement::given(own.engine, own.scope, heard, first, discards_doubt, now).map(Judged);
        /// The same of the messages of a session from `begin` to before `end`.
        judge_session(session: String, begin: u64, end: u64, first: usize, discards_doubt: bool) Long |own, now|
            own.session(&session).judged(begin, end, first, discards_doubt, now).map(Judged);
        learn_mark(session: String) Short |own| {
            let before = own.engine.learn_mark(own.scope, &session)?;
            let now = own.session(&session).status()?.learn_mark();
            Ok((before.continued(&now), before, now))
        };
        shown_texts(session: String, first: u64, end: u64) Waits |own, now| {
            let turns = own.session(&session).shown_texts(first, end, now)?;
            Ok(turns.into_iter().map(|turn| (turn.start, turn.texts)).collect::<Vec<_>>())
        };
        /// The claims of a judgement that are to be stored, each with its id, as the policy leaves it. `found` has their findings.
        drafts(judged: Py<Judged>, ids: Vec<Option<String>>, session: Option<String>, found: Vec<Option<Vec<Detected>>>) Waits |own| {
            let memories = judged.get().0.screened(own.engine.screening(), ids, session.as_deref(), found)?.into_iter();
            Ok(memories.map(|new| Draft { scope: Arc::clone(&it.scope), new }).collect::<Vec<_>>())
        };
        /// Remembers what a model says by a tool: compared with what is known, as a claim is.
        tell(draft: Py<Draft>, embedded: Option<Py<Vectors>>) Waits with told = with_vectors(&[draft], embedded.as_ref()); |own, now| {
            let told = told.into_iter().map(|draft| learn_told(own.engine, own.scope, draft.new, now)).next();
            told.transpose()?.flatten().map(|one| own.answer(one)).transpose()
        };
        /// Stores the drafts of a judgement in one transaction; `None` where the session must be read again.
        learn(judged: Py<Judged>, drafts: Vec<Py<Draft>>, session: Option<LearnedFrom>, embedded: Option<Py<Vectors>>)
            (Pace::of_rows(drafts.len())) with claims = with_vectors(&drafts, embedded.as_ref()); |own, now| {
                let (judged, claims) = (&judged.get().0, claims.into_iter().map(|draft| draft.new).collect());
                let done = session::learn(own.engine, own.scope, claims, judged.from(), session.map(|from| from.0), now)?;
                done.map(|done| Ok(judged.decisions(own.engine.answered(own.scope, done)?))).transpose()
            };
        clusters(closeness: f64, min_points: usize) Long |own, now|
            consolidate::clusters(own.engine, own.scope, Rule { closeness, min_points }, now);
        merge(numbers: Vec<(u32, u32)>, keep: Option<usize>, draft: Option<Py<Draft>>) Waits |own, now| {
            let kept = keep.and_then(|at| numbers.get(at)).map(|one| one.0);
            let done = own.engine.merge(own.scope, numbers, kept, draft.map(|draft| draft.get().new.clone()), now)?;
            done.map(|one| own.answer(one)).transpose()
        };
        relate(subject: String, relation: String, object: String, since: Option<Moment>, memory: Option<u32>, holds: bool)
            Waits |own, now| {
                let since = since.map_or(now, |at| at.0);
                let given = memory::Relation { number: 0, subject, relation, object, since, until: None, memory };
                let (stored, is_new) = relations::relate(own.engine, own.scope, &given, holds, now)?;
                Ok((own.related(vec![stored])?.pop(), is_new))
            };
        neighbors(entity: String, at: Option<Moment>) Short |own, now|
            own.related(relations::neighbors(own.engine, own.scope, &entity, at.map(|at| at.0), now)?);
        paths(a: String, b: String, max_hops: usize, at: Option<Moment>) Waits |own, now| {
            let found = relations::paths(own.engine, own.scope, (&a, &b), max_hops, at.map(|at| at.0), now)?;
            found.into_iter().map(|path| own.related(path)).collect::<Result<Vec<_>>>()
        };
        relations(after: u32, limit: usize) Waits |own| {
            let page = own.related(relations::page(own.engine, own.scope, after, limit)?)?;
            Ok(page.into_iter().map(|one| (one.0.number, one)).collect::<Vec<_>>())
        };
        sessions(after: u32, limit: usize, newest_first: bool, since: Option<Moment>, until: Option<Moment>, metadata: Option<Conditions>)
        Waits |own| {
            let ([since, until], metadata) = ([since, until].map(|at| at.map(|at| at.0)), metadata.unwrap_or_default().0);
            let listing = session::Listing { after, limit, newest_first, since, until, metadata };
            Ok(session::list(own.engine, own.scope, &listing)?.into_iter().map(|one| (one.number, one)).collect::<Vec<_>>())
        };
        delete_old_sessions(before: Moment) Long |own, now| session::delete_old(own.engine, own.scope, before.0, now);
        draft(text: Bound<'py, PyAny>, fields: Bound<'py, PyDict>) Short with new = new_memory(&text, &fields, it.handle.space())?; |own| {
            let mut new = new;
            new.screen(own.engine.screening());
            Ok(Draft { scope: Arc::clone(&it.scope), new })
        };
        remember(text: Bound<'py, PyAny>, embed: Option<Bound<'py, PyAny>>, fields: Bound<'py, PyDict>) (Pace::of_work(new.text.len()))
            with new = it.embedded(new_memory(&text, &fields, it.handle.space())?, embed)?;
            |own, now| own.answer(own.engine.remember(own.scope, new, now)?);
        recall(scopes: Bound<'py, PyTuple>, query: String, vector: Option<Py<Vectors>>, degraded: Option<String>, given: Bound<'py, PyDict>)
            (Pace::of_recall(&request, &it.last))
            with request = it.question(&scopes, query, vector, &given)?; with scopes = scopes.unbind();
            |own| {
                let ask = || recall::ask(own.engine, &request, degraded.as_deref());
                let answer = it.last.noted(ask, |answer| answer.documents)?;
                Ok(Found::new(answer, Some(scopes)))
            };
        search(
            scopes: Bound<'py, PyTuple>, query: String, sources: Vec<String>, vector: Option<Py<Vectors>>, degraded: Option<String>,
            given: Bound<'py, PyDict>,
        ) (Pace::of_work(question.text.len()))
            with question = it.question(&scopes, query, vector, &given)?; with scopes = scopes.unbind();
            |own| {
                let request = sources::Request { question, sources: sources::Source::named(&sources), embedder_failed: degraded };
                Ok(Found::new(sources::ask(own.engine, &request)?, Some(scopes)))
            };
        search_transcripts(query: String, given: Bound<'py, PyDict>) (Pace::of_work(query.len()))
            with request = answers::transcripts(&query, &given, it.handle.now(py)?)?; |own|
            session::search(own.engine, own.scope, &request).map(|hits| Found::new(hits, None));
        session(id as "a session's id": String, given: Bound<'py, PyDict>)
            (Pace::of_work(options.system.as_ref().map_or(0, String::len))) with options = it.session_options(&given)?; |own, now| {
            let status = own.session(&id).open(options, now)?;
            let scopes = std::iter::once(Scope::clone(own.scope)).chain(status.record.reads).collect();
            Ok(SessionCore::new(SessionId { handle: Arc::clone(&it.handle), scope: Arc::clone(&it.scope), id }, scopes))
        };
        begun() Short |own| Ok(ScopeCore::new(&it.handle, own.engine.begun(own.scope)?));
        collection(name as "a collection's name": String) Short |own|
            Ok(CollectionCore { handle: Arc::clone(&it.handle), name: CollectionName::new(own.scope, &name)? });
        collections() Short |own|
            own.engine.store().read(|pages| Ok(collection::list(pages, own.scope)?.into_iter().map(|one| one.1).collect::<Vec<_>>()));
    }

    #[getter]
    fn id(&self) -> &str {
        &self.scope.id
    }

    #[getter]
    fn tenant(&self) -> Option<&str> {
        self.scope.tenant.as_deref()
    }

    #[getter]
    fn scope_type(&self) -> &'static str {
        self.scope.scope_type.name()
    }

    /// The bits of kinds, for `memories`.
    #[staticmethod]
    fn kind_bits(kinds_given: &Bound<'_, PyAny>) -> PyResult<u8> {
        Kinds::read("kinds", kinds_given).map(|kinds| kinds.0)
    }

    /// Whether two handles name the same scope of the same engine.
    fn is_same(&self, other: &Bound<'_, Self>) -> bool {
        Arc::ptr_eq(&self.handle, &other.get().handle) && self.scope == other.get().scope
    }
}

impl ScopeCore {
    pub fn new(handle: &Arc<Handle>, scope: Scope) -> Self {
        Self { handle: Arc::clone(handle), scope: Arc::new(scope), last: Last::default() }
    }

    fn own(&self) -> Result<Scoped<'_>> {
        Ok(Scoped { engine: self.handle.engine()?, scope: &self.scope })
    }

    /// A memory with its vector: its own, that of the same memory, or what `embed` makes of the text that may be stored.
    fn embedded(&self, mut new: NewMemory, embed: Option<Bound<'_, PyAny>>) -> PyResult<NewMemory> {
        let Some(embed) = embed else { return Ok(new) };
        let place = self.handle.space().map_or(0, |(_, place)| place);
        let known = run(embed.py(), Pace::Short, || {
            let own = self.own()?;
            new.screen(own.engine.screening());
            if new.to_embed().is_some() { own.engine.known_vector(place, own.scope, &new) } else { Ok(None) }
        })?;
        match (known, new.to_embed()) {
            (Some(vector), _) => (new.vector, new.made_by) = (Some(vector), place),
            (None, Some(text)) => {
                if let Some(made) = embed.call1((text,))?.extract::<Option<Bound<'_, Vectors>>>()? {
                    (new.vector, new.made_by) = (made.get().0.first(), made.get().0.place);
                }
            }
            (None, None) => {}
        }
        Ok(new)
    }

    /// The queries to the scopes behind `Scope` objects, the first of which is this one.
    fn question(
        &self,
        scopes: &Bound<'_, PyTuple>,
        query: String,
        vector: Option<Py<Vectors>>,
        given: &Bound<'_, PyDict>,
    ) -> PyResult<recall::Request> {
        let py = scopes.py();
        let also = scopes.iter().skip(1).map(|scope| GivenScope::read("also", &scope)).collect::<PyResult<Vec<_>>>()?;
        let also = self.own_scopes(py, "reading also: it", &also)?;
        let scopes = std::iter::once(Scope::clone(&self.scope)).chain(also).collect();
        answers::question(scopes, query, vector.as_ref(), given, self.handle.now(py)?)
    }

    /// The settings that a session is opened with.
    fn session_options(&self, given: &Bound<'_, PyDict>) -> PyResult<session::Options> {
        let mut options = session::Options::default();
        options! { given of "session()" |name, value|
            model => options.model = Some(Argument::read(name, value)?);
            system => options.system = Some(Argument::read(name, value)?);
            tools => options.tools = Some(ToolsJson::read(name, value)?.0);
            reads => options.reads = Some(self.own_scopes(value.py(), "opening a session: reads=", &Vec::read(name, value)?)?);
            budget => options.budget = Some(Argument::read(name, value)?);
            collections => {
                let given = Vec::<Py<CollectionCore>>::read(name, value)?;
                let own = given.iter().map(|other| (&other.get().handle, other.get().name.clone()));
                options.collections = Some(self.of_same_engine(value.py(), "opening a session: collections= takes collections", own)?);
            };
            recalls => options.recalls = Some(Argument::read(name, value)?);
        }
        Ok(options)
    }

    fn own_scopes(&self, py: Python<'_>, what: &str, scopes: &[GivenScope]) -> PyResult<Vec<Scope>> {
        let own = scopes.iter().map(|other| other.0.get()).map(|other| (&other.handle, Scope::clone(&other.scope)));
        self.of_same_engine(py, &format!("{what} takes scopes"), own)
    }

    /// Objects of this engine; `what` takes none of another one.
    fn of_same_engine<'a, T>(&self, py: Python<'_>, what: &str, given: impl Iterator<Item = (&'a Arc<Handle>, T)>) -> PyResult<Vec<T>> {
        let next = "take it from a scope of this engine";
        let foreign = || invalid(py, format!("{what} of the same engine, and one belongs to another: {next}"));
        given.map(|(handle, one)| if Arc::ptr_eq(handle, &self.handle) { Ok(one) } else { Err(foreign()) }).collect()
    }
}
