//! Remembering, revising and learning: rows made ready, and committed in batches.

use std::sync::Arc;

use super::Core;
use crate::gate::Category;
use crate::limits::{MAX_BATCH_BYTES, MAX_BATCH_ROWS};
use crate::memory::access::{self, Accesses};
use crate::memory::embedders::Embedder;
use crate::memory::heard::{self, LearnMark};
use crate::memory::merge;
use crate::memory::new_memory::{NewMemory, Verdict};
use crate::memory::outcome::{Action, Remembered};
use crate::memory::quarantine;
use crate::memory::read;
use crate::memory::remember::{self, Prepared};
use crate::memory::revise::{self, Revision};
use crate::scope::Scope;
use crate::store::environment::WriteTransaction;
use crate::store::identity::Secret;
use crate::store::metrics::add;
use crate::store::pages::Pages;
use crate::store::reserve;
use crate::text::screening::Screened;
use crate::{Error, Result};

/// The outcomes of many rows.
#[derive(Debug)]
pub struct Written {
    /// The outcome of each, in order.
    pub outcomes: Vec<Result<Remembered>>,
    /// Transactions that it took.
    pub transactions: u64,
}

impl Core {
    /// A memory ready to be written, as the policy and the rule of its kind leave it.
    fn prepared(&self, embedder: &Embedder, scope: &Scope, mut new: NewMemory) -> Result<Prepared> {
        new.screen(self.screening);
        add(&self.store.metrics().texts_screened, u64::from(matches!(new.screened, Verdict::Redacted(_) | Verdict::Refused(_))));
        new.default_ttl = self.rules[new.kind as usize].ttl;
        prepare(embedder, scope, self.store.secret(), new)
    }

    /// Remembers one memory.
    pub fn remember(&self, scope: &Scope, new: NewMemory, now: i64) -> Result<Remembered> {
        let embedder = Arc::clone(self.embedders.now());
        let prepared = self.prepared(&embedder, scope, new)?;
        let groups = vec![Group { scope: Arc::new(scope.clone()), rows: vec![prepared] }];
        let mut outcomes = self.commit(embedder, groups, now, None)?;
        outcomes.pop().and_then(|mut group| group.pop()).unwrap_or_else(|| Err(Error::invalid("remembering: no row was given")))
    }

    /// Remembers rows of one or many scopes; the outcome of each in order.
    ///
    /// Up to 1,000 rows and 256 KB of text are one transaction; more are several, one after the other. With `all_or_nothing`
    /// the first row that fails fails its transaction, and the call; the error's field `row` says which it was. Within a
    /// transaction the rows of a scope are written together, in their order.
    pub fn remember_many(&self, rows: Vec<(Arc<Scope>, NewMemory)>, now: i64, all_or_nothing: bool) -> Result<Written> {
        let mut written = Written { outcomes: Vec::with_capacity(rows.len()), transactions: 0 };
        let mut outcomes: Vec<Option<Result<Remembered>>> = Vec::new();
        outcomes.resize_with(rows.len(), || None);
        let mut batch = Batch::default();
        let embedder = Arc::clone(self.embedders.now());
        for (at, (scope, row)) in rows.into_iter().enumerate() {
            let bytes = row.text.len() + row.metadata.len();
            match self.prepared(&embedder, &scope, row) {
                Err(error) if all_or_nothing => return Err(error.with("row", at)),
                Err(error) => outcomes[at] = Some(Err(error)),
                Ok(prepared) => {
                    if batch.is_full(bytes) {
                        let full = std::mem::take(&mut batch);
                        written.transactions += self.commit_batch(&embedder, full, now, all_or_nothing, &mut outcomes)?;
                    }
                    batch.push(at, scope, prepared, bytes);
                }
            }
        }
        written.transactions += self.commit_batch(&embedder, batch, now, all_or_nothing, &mut outcomes)?;
        written.outcomes.extend(outcomes.into_iter().flatten());
        Ok(written)
    }

    /// Commits a batch and files its outcomes; how many transactions that took.
    fn commit_batch(
        &self,
        embedder: &Arc<Embedder>,
        batch: Batch,
        now: i64,
        all: bool,
        outcomes: &mut [Option<Result<Remembered>>],
    ) -> Result<u64> {
        if batch.places.is_empty() {
            return Ok(0);
        }
        let places = Arc::new(batch.places);
        let must_hold = if all { Some(Arc::clone(&places)) } else { None };
        let mut written: Vec<Vec<_>> = self
            .commit(Arc::clone(embedder), batch.groups, now, must_hold)?
            .into_iter()
            .map(|group| group.into_iter().map(Some).collect())
            .collect();
        for place in places.iter() {
            outcomes[place.at] = written[place.group][place.row].take();
        }
        Ok(1)
    }

    /// Writes groups of rows in one transaction; with `must_hold` it is undone where one of these rows fails.
    fn commit(
        &self,
        embedder: Arc<Embedder>,
        groups: Vec<Group>,
        now: i64,
        must_hold: Option<Arc<Vec<RowAt>>>,
    ) -> Result<Vec<Vec<Result<Remembered>>>> {
        let count: usize = groups.iter().map(|group| group.rows.len()).sum();
        let buffered = Arc::clone(&self.accesses);
        let (written, stored) = self.write(move |txn| {
            let embedding = embedder.number_in_write(txn)?;
            let mut outcomes = Vec::with_capacity(groups.len());
            for group in &groups {
                outcomes.push(remember::write(txn, &group.scope, &group.rows, now, embedding)?);
            }
            for place in must_hold.iter().flat_map(|places| places.iter()) {
                if let Err(error) = &outcomes[place.group][place.row] {
                    return Err(error.clone().with("row", place.at));
                }
            }
            let mut stored = Accesses::new();
            for group in &groups {
                if let Some(partition) = group.scope.find(txn)? {
                    stored.append(&mut buffered.due(partition));
                }
            }
            access::store(txn, &stored)?;
            Ok((outcomes, stored))
        })?;
        self.store.unforked(|| self.accesses.stored(&stored));
        add(&self.store.metrics().memories_written, count as u64);
        Ok(written)
    }

    /// Corrects a memory.
    pub fn revise(&self, scope: &Scope, id: &str, mut revision: Revision, now: i64) -> Result<Remembered> {
        revision.check()?;
        let embedder = Arc::clone(self.embedders.now());
        let screened = revision.text.as_deref().map(|text| self.screening.apply(text, &revision.detected));
        if let Some(Screened::Rejected(types)) = &screened {
            let memory = self.get(scope, id, now)?.ok_or_else(|| read::no_such_memory(id))?;
            let reason = Some(format!("the policy refuses: {}", types.join(", ")));
            return Ok(Remembered { action: Action::Rejected, memory, reason });
        }
        let redacted = matches!(screened, Some(Screened::Redacted(..)));
        if let Some(Screened::Redacted(text, _)) = screened {
            (revision.text, revision.vector) = (Some(text), None);
        }
        let vector = revision.vector.take().filter(|_| revision.made_by == embedder.place);
        revision.vector = vector.or_else(|| embedder.embed(revision.text.as_deref()?));
        let (scope, id) = (scope.clone(), id.to_owned());
        self.write(move |txn| {
            let embedding = embedder.number_in_write(txn)?;
            let done = revise::write(txn, &scope, &id, &revision, now, embedding)?;
            Ok(Remembered { action: if redacted { Action::Redacted } else { done.action }, ..done })
        })
    }

    /// Stores claims of one scope in one transaction, with how far their session was learnt from. Nothing is stored where another
    /// process learnt from it meanwhile, or where `holds`, which looks at what they were read from, says no: `None`.
    pub fn learn(
        &self,
        scope: &Scope,
        claims: Vec<NewMemory>,
        mark: Option<(String, LearnMark, LearnMark)>,
        holds: impl Fn(&WriteTransaction<'_>) -> Result<bool> + Send + 'static,
        now: i64,
    ) -> Result<Option<Vec<Remembered>>> {
        let embedder = Arc::clone(self.embedders.now());
        let rows = claims.into_iter().map(|claim| self.prepared(&embedder, scope, claim)).collect::<Result<Vec<_>>>()?;
        let scope = scope.clone();
        let written = self.write(move |txn| {
            if !holds(txn)? {
                return Ok(None);
            }
            let embedding = embedder.number_in_write(txn)?;
            let (partition, seed) = (scope.find_or_make(txn)?, scope.seed(txn.secret()));
            if let Some((session, before, after)) = &mark {
                if heard::mark(txn, partition, seed, session)? != *before {
                    return Ok(None);
                }
                heard::put_mark(txn, partition, seed, session, *after)?;
            }
            remember::write(txn, &scope, &rows, now, embedding)?.into_iter().collect::<Result<Vec<_>>>().map(Some)
        })?;
        let metrics = self.store.metrics();
        add(&metrics.memories_written, written.iter().flatten().count() as u64);
        let became = |wanted: fn(Action) -> bool| written.iter().flatten().filter(|done| wanted(done.action)).count() as u64;
        add(&metrics.gate_stored, became(Action::keeps));
        add(&metrics.gate_quarantined, became(|action| action == Action::Quarantined));
        Ok(written)
    }

    /// Counts what the write gate judged.
    pub fn note_judged(&self, categories: impl Iterator<Item = Category>) {
        let metrics = self.store.metrics();
        for category in categories {
            add(&metrics.gate_seen, 1);
            let of_category = match category {
                Category::Preference => &metrics.gate_preference,
                Category::Decision => &metrics.gate_decision,
                Category::TaskOutcome => &metrics.gate_task_outcome,
                Category::Constraint => &metrics.gate_constraint,
                Category::Semantic => &metrics.gate_semantic,
                Category::Episodic => &metrics.gate_episodic,
                Category::Profile => &metrics.gate_profile,
                Category::Discard => &metrics.gate_discard,
            };
            add(of_category, 1);
        }
    }

    /// Remembers what waited, as the user's own word.
    pub fn approve(&self, scope: &Scope, id: &str, now: i64) -> Result<Remembered> {
        let memory = self.store.read(|pages| {
            let partition = scope.find(pages)?.ok_or_else(|| read::no_such_memory(id))?;
            quarantine::waiting(pages, partition, scope.seed(pages.secret()), id, now)
        })?;
        let embedder = Arc::clone(self.embedders.now());
        let prepared = self.prepared(&embedder, scope, quarantine::approved(&memory, now))?;
        let (scope, id) = (scope.clone(), id.to_owned());
        self.write(move |txn| {
            let embedding = embedder.number_in_write(txn)?;
            quarantine::approve(txn, &scope, &id, now, embedding, &prepared)
        })
    }

    /// Drops what waits; `false` where it was forgotten before.
    pub fn reject(&self, scope: &Scope, id: &str, now: i64) -> Result<bool> {
        let (scope, id) = (scope.clone(), id.to_owned());
        reserve::freeing(|| self.write(move |txn| quarantine::reject(txn, &scope, &id, now)))
    }

    /// Puts one memory in the place of several, given by number and revision: one of them, or a new text. `None` where one of them is not
    /// what it was any more.
    pub fn merge(
        &self,
        scope: &Scope,
        originals: Vec<(u32, u32)>,
        keep: Option<u32>,
        new: Option<NewMemory>,
        now: i64,
    ) -> Result<Option<Remembered>> {
        let embedder = Arc::clone(self.embedders.now());
        let new = new.map(|new| self.prepared(&embedder, scope, new)).transpose()?;
        let scope = scope.clone();
        self.write(move |txn| {
            let embedding = embedder.number_in_write(txn)?;
            merge::write(txn, &scope, &originals, keep, new.as_ref(), now, embedding)
        })
    }
}

/// A memory ready to be written; a vector that another embedder made is none.
fn prepare(embedder: &Embedder, scope: &Scope, secret: Secret, mut new: NewMemory) -> Result<Prepared> {
    new.vector = new.vector.filter(|_| new.made_by == embedder.place);
    let mut prepared = remember::prepare(scope, secret, new)?;
    prepared.fill_vector(|text| embedder.embed(text));
    Ok(prepared)
}

/// The rows that one transaction writes, sorted by scope.
#[derive(Default)]
struct Batch {
    groups: Vec<Group>,
    places: Vec<RowAt>,
    bytes: usize,
}

/// Rows of one scope.
struct Group {
    scope: Arc<Scope>,
    rows: Vec<Prepared>,
}

/// Where a row of the caller stands in a batch.
struct RowAt {
    at: usize,
    group: usize,
    row: usize,
}

impl Batch {
    fn is_full(&self, next: usize) -> bool {
        !self.places.is_empty() && (self.places.len() == MAX_BATCH_ROWS || self.bytes + next > MAX_BATCH_BYTES)
    }

    fn push(&mut self, at: usize, scope: Arc<Scope>, row: Prepared, bytes: usize) {
        // Rows of a scope mostly come together: looking from the end costs O(scopes of this batch) only where they do not.
        let known = self.groups.iter().rposition(|group| Arc::ptr_eq(&group.scope, &scope) || group.scope == scope);
        let group = known.unwrap_or_else(|| {
            self.groups.push(Group { scope, rows: Vec::new() });
            self.groups.len() - 1
        });
        let rows = &mut self.groups[group].rows;
        self.places.push(RowAt { at, group, row: rows.len() });
        rows.push(row);
        self.bytes += bytes;
    }
}
