//! The life of memories beyond one write: memories near a claim, clusters, relations.
//!
//! Each function reads one snapshot, or is one write transaction. [`crate::gate`] finds the claims of a message, and
//! [`crate::memory::learn`] applies a claim to known memories.

pub mod cluster;
pub mod consolidate;
pub mod judgement;
pub mod relations;

use crate::Result;
use crate::index::bm25::{IndexId, Reader, Statistics};
use crate::index::vectors::{Query, UnitVector, VectorSet};
use crate::memory::{Core, LearnMark, MEMORIES, NewMemory, Remembered};
use crate::recall::explain::LexicalQuery;
use crate::recall::{Filter, Question};
use crate::scope::{Head, Scope};
use crate::store::environment::WriteTransaction;
use crate::store::pages::Pages;
use crate::units::term_key::TermKey;

/// Memories that a claim is compared with: so many with the most of its words.
const BY_WORDS: usize = 8;
/// How many memories a claim is compared with because their meaning is the nearest.
const BY_MEANING: usize = 4;

/// Stores claims of one scope in one transaction, each compared with what is near it; `mark` and `holds` as [`Core::learn`] takes them.
pub fn learn(
    engine: &Core,
    scope: &Scope,
    mut claims: Vec<NewMemory>,
    mark: Option<(String, LearnMark, LearnMark)>,
    holds: impl Fn(&WriteTransaction<'_>) -> Result<bool> + Send + 'static,
    now: i64,
) -> Result<Option<Vec<Remembered>>> {
    for claim in claims.iter_mut().filter(|claim| claim.vector.is_none()) {
        (claim.vector, claim.made_by) = (engine.embed(&claim.text), engine.embedding_place());
    }
    let near = near(engine, scope, &claims, now)?;
    for (claim, near) in claims.iter_mut().zip(near) {
        if let Some(learning) = &mut claim.learning {
            learning.near = near;
        }
    }
    engine.learn(scope, claims, mark, holds, now)
}

/// Stores what a model says by a tool: compared with what is known, as a claim is.
pub fn learn_told(engine: &Core, scope: &Scope, mut told: NewMemory, now: i64) -> Result<Option<Remembered>> {
    told.provenance.writer = Some("tool".to_owned());
    told.learning = Some(Box::default());
    Ok(learn(engine, scope, vec![told], None, |_| Ok(true), now)?.and_then(|mut done| done.pop()))
}

/// The numbers of the memories of a scope that each claim may repeat or contradict. One snapshot, and one reader of its words.
fn near(engine: &Core, scope: &Scope, claims: &[NewMemory], now: i64) -> Result<Vec<Vec<u32>>> {
    engine.store().read(|snapshot| {
        let mut known = Known::open(snapshot, scope, now)?;
        let of = |claim| known.as_mut().map_or(Ok(Vec::new()), |known| known.near(engine, claim));
        claims.iter().map(of).collect()
    })
}

/// The known memories of a scope, with which claims are compared.
struct Known<'p, P> {
    pages: &'p P,
    reader: Reader<'p, P>,
    head: Head,
    partition: u32,
    key: TermKey,
    filter: Filter,
}

impl<'p, P: Pages> Known<'p, P> {
    /// `None` where the scope has no memory.
    fn open(pages: &'p P, scope: &Scope, now: i64) -> Result<Option<Self>> {
        let Some(partition) = scope.find(pages)? else { return Ok(None) };
        let head = Head::read(pages, partition)?;
        let reader = Reader::open(pages, IndexId { partition, index: MEMORIES })?;
        let key = scope.seed(pages.secret()).terms;
        Ok((head.documents > 0).then(|| Self { pages, reader, head, partition, key, filter: Filter::all(now) }))
    }

    /// The best by words, and the nearest vectors where they are of the embedder that made the claim's.
    fn near(&mut self, engine: &Core, claim: &NewMemory) -> Result<Vec<u32>> {
        let statistics = Statistics { documents: self.head.documents, total_length: self.head.total_length };
        let query = LexicalQuery::new(&Question::new(&claim.text), self.key, statistics);
        let best = self.reader.top_k(&query.question(), BY_WORDS, |_, row| self.filter.keeps_row(row))?;
        let mut numbers: Vec<u32> = best.hits.iter().map(|hit| hit.number).collect();
        let vector = claim.vector.as_ref().filter(|vector| vector.has_direction());
        for number in vector.map_or(Ok(Vec::new()), |vector| self.nearest(engine, claim.made_by, vector))? {
            let is_found = self.reader.row(number)?.is_some_and(|row| self.filter.keeps_row(&row));
            if is_found && !numbers.contains(&number) {
                numbers.push(number);
            }
        }
        Ok(numbers)
    }

    fn nearest(&self, engine: &Core, place: u32, vector: &UnitVector) -> Result<Vec<u32>> {
        let searched = engine.vector_set_of(place, self.pages, self.partition)?.filter(|(number, _)| *number == self.head.embedding);
        let of = |set: VectorSet| set.nearest(self.pages, &Query::from_unit(vector.clone()), BY_MEANING, |_| true);
        let found = searched.map(|(_, set)| of(set)).transpose()?;
        Ok(found.map_or_else(Vec::new, |found| found.best.iter().map(|scored| scored.number).collect()))
    }
}
