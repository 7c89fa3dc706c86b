//! Nominating: the memories of one scope that may be among the answers.

use super::explain::LexicalQuery;
use super::{Request, past};
use crate::Result;
use crate::index::bm25::{Hit, IndexId, Reader, Row, Statistics};
use crate::index::vectors::VectorSet;
use crate::index::vectors::graph::Nearest;
use crate::memory::{Engine, Head, MEMORIES, Memory, record};
use crate::store::keys::Partition;
use crate::store::pages::Pages;

/// Nominated by words, and as many by vectors, for each memory that is asked for; not fewer than [`FEWEST`].
const PER_ANSWER: usize = 3;
const FEWEST: usize = 40;

/// Up to so many memories of a scope, every one that has a word of the question is scored; above, only the best.
const SCORED_WHOLE: u64 = 20_000;

/// A memory that may be among the answers.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Place of its scope in the request.
    pub scope: usize,
    /// Its number.
    pub number: u32,
    /// Its BM25 score in units of 2^-32.
    pub lexical: i64,
    /// Its cosine in units of 2^-30, from int8; `None` without a vector.
    pub dense: Option<i32>,
    /// What it said, where it is not current any more.
    pub past: Option<Box<Memory>>,
}

/// What was nominated in all scopes so far.
#[derive(Debug, Default)]
pub struct Nominated {
    /// In the order of their scopes, then numbers.
    pub candidates: Vec<Candidate>,
    /// The vectors of each scope, where they were used.
    pub sets: Vec<Option<VectorSet>>,
    /// Why vectors were not used, or not all.
    pub degraded: Option<String>,
    /// Whether a memory holds every identifier of the question, and there is one.
    pub identified: bool,
}

/// Adds the candidates of one scope; returns what was asked of its words.
pub fn nominate<P: Pages>(
    engine: &Engine,
    snapshot: &P,
    request: &Request,
    place: usize,
    partition: Partition,
    found: &mut Nominated,
) -> Result<LexicalQuery> {
    let head = Head::read(snapshot, partition)?;
    let statistics = Statistics { documents: head.documents, total_length: head.total_length };
    let mut query = LexicalQuery::new(&request.text, request.scopes[place].term_seed(), statistics);
    let mut reader = Reader::open(snapshot, IndexId { partition, index: MEMORIES })?;
    let mut scope = ScopeSearch { snapshot, request, partition, failed: None };
    let wanted = request.limit.saturating_mul(PER_ANSWER).max(FEWEST);

    let lexical = scope.lexical(&mut reader, &mut query, wanted)?;
    let set = vectors_of(engine, snapshot, request, partition, &head, found)?;
    let dense = scope.dense(&mut reader, set, wanted)?;
    let mut numbers: Vec<u32> = lexical.best.iter().map(|hit| hit.number).collect();
    numbers.extend(dense.best.iter().map(|scored| scored.number));
    let holders = scope.with_every_identifier(&mut reader, &query)?;
    found.identified |= !holders.is_empty();
    numbers.extend(holders);
    numbers.sort_unstable();
    numbers.dedup();
    for number in numbers {
        let lexical = lexical.score(&mut reader, &query, number)?;
        let dense = match (set, &request.vector) {
            (Some(set), Some(vector)) => dense.score(set, snapshot, vector, number)?,
            _ => None,
        };
        found.candidates.push(Candidate { scope: place, number, lexical, dense, past: None });
    }
    if request.filter.reaches_back() {
        past::nominate(snapshot, request, place, partition, &query, found)?;
    }
    found.sets.push(set);
    Ok(query)
}

/// The vectors to scan, and in `found` why there are none or not all.
fn vectors_of<P: Pages>(
    engine: &Engine,
    snapshot: &P,
    request: &Request,
    partition: Partition,
    head: &Head,
    found: &mut Nominated,
) -> Result<Option<VectorSet>> {
    if engine.embedding().is_none() || head.documents == 0 {
        return Ok(None);
    }
    let set = engine.vector_set(snapshot, partition)?;
    let why = match set {
        _ if request.vector.is_none() => Some("the question could not be embedded: answered by words alone".to_owned()),
        Some((number, _)) if number == head.embedding && head.vectors >= head.documents => None,
        Some((number, _)) if number == head.embedding => {
            Some(format!("{} of {} memories have no vector yet: maintain() makes them", head.documents - head.vectors, head.documents))
        }
        _ => Some("the memories were embedded by another embedder, or by none: maintain() embeds them anew".to_owned()),
    };
    found.degraded = found.degraded.take().or(why);
    Ok(set.filter(|(number, _)| *number == head.embedding && request.vector.is_some()).map(|(_, set)| set))
}

/// One scope's search and what it filters by.
struct ScopeSearch<'s, P> {
    snapshot: &'s P,
    request: &'s Request,
    partition: Partition,
    /// An error met inside a filter, which cannot return one.
    failed: Option<crate::Error>,
}

impl<P: Pages> ScopeSearch<'_, P> {
    /// Whether a memory may be found. Its record is read only where the question asks for metadata.
    fn keeps(&mut self, number: u32, row: &Row) -> bool {
        let filter = &self.request.filter;
        if !filter.keeps_row(row) || filter.metadata.is_empty() {
            return filter.keeps_row(row);
        }
        match record::current(self.snapshot, self.partition, number) {
            Ok(memory) => memory.is_some_and(|memory| filter.keeps_metadata(&memory.metadata)),
            Err(error) => {
                self.failed.get_or_insert(error);
                false
            }
        }
    }

    fn checked<T>(&mut self, value: T) -> Result<T> {
        self.failed.take().map_or(Ok(value), Err)
    }

    fn lexical(&mut self, reader: &mut Reader<'_, P>, query: &mut LexicalQuery, wanted: usize) -> Result<Lexical> {
        let question = query.question();
        let mut answer = Lexical::default();
        if question.terms.is_empty() || query.statistics.documents == 0 {
            return Ok(answer);
        }
        if query.statistics.documents <= SCORED_WHOLE {
            let found = reader.score_all(&question)?;
            for hit in best_first(&found.hits, wanted) {
                if answer.best.len() == wanted {
                    break;
                }
                if let Some(row) = reader.row(hit.number)?
                    && self.keeps(hit.number, &row)
                {
                    answer.best.push(hit);
                }
            }
            answer.all = Some(found.hits);
            query.frequencies = found.frequencies;
        } else {
            let found = reader.top_k(&question, wanted, |number, row| self.keeps(number, row))?;
            answer.best = found.hits;
            query.frequencies = found.frequencies;
        }
        self.checked(answer)
    }

    fn dense(&mut self, reader: &mut Reader<'_, P>, set: Option<VectorSet>, wanted: usize) -> Result<Nearest> {
        let (Some(set), Some(vector)) = (set, &self.request.vector) else { return Ok(Nearest::default()) };
        let mut broken = None;
        let nearest = set.nearest(self.snapshot, vector, wanted, |number| match reader.row(number) {
            Ok(row) => row.is_some_and(|row| self.keeps(number, &row)),
            Err(error) => {
                broken.get_or_insert(error);
                false
            }
        })?;
        broken.map_or(Ok(()), Err)?;
        self.checked(nearest)
    }

    /// The memories that hold every identifier of the question: always candidates, however they score.
    fn with_every_identifier(&mut self, reader: &mut Reader<'_, P>, query: &LexicalQuery) -> Result<Vec<u32>> {
        let Some((first, others)) = query.identifiers.split_first() else { return Ok(Vec::new()) };
        let mut holders = reader.find(*first)?;
        for identifier in others {
            let these = reader.find(*identifier)?;
            holders.retain(|number| these.binary_search(number).is_ok());
        }
        let mut kept = Vec::new();
        for number in holders {
            if kept.len() == FEWEST {
                break;
            }
            if let Some(row) = reader.row(number)?
                && self.keeps(number, &row)
            {
                kept.push(number);
            }
        }
        self.checked(kept)
    }
}

/// The hits in order: score descending, number ascending. Only as many are sorted at a time as are likely to be looked at.
fn best_first(hits: &[Hit], likely: usize) -> impl Iterator<Item = Hit> {
    let mut order = hits.to_vec();
    let mut sorted = 0;
    let by_score = |a: &Hit, b: &Hit| b.score.cmp(&a.score).then(a.number.cmp(&b.number));
    (0..order.len()).map(move |at| {
        if at == sorted {
            let rest = &mut order[sorted..];
            let next = likely.min(rest.len());
            if next < rest.len() {
                rest.select_nth_unstable_by(next, by_score);
            }
            rest[..next].sort_unstable_by(by_score);
            sorted += next;
        }
        order[at]
    })
}

/// What the words of a question found.
#[derive(Default)]
struct Lexical {
    /// The best that the filter lets through.
    best: Vec<Hit>,
    /// Every score, by number, where the scope is small enough.
    all: Option<Vec<Hit>>,
}

impl Lexical {
    fn score<P: Pages>(&self, reader: &mut Reader<'_, P>, query: &LexicalQuery, number: u32) -> Result<i64> {
        if let Some(all) = &self.all {
            return Ok(all.binary_search_by_key(&number, |hit| hit.number).map_or(0, |at| all[at].score));
        }
        match self.best.iter().find(|hit| hit.number == number) {
            Some(hit) => Ok(hit.score),
            None if query.terms.is_empty() => Ok(0),
            None => Ok(reader.explain(&query.question(), number)?.iter().map(|part| part.score).sum()),
        }
    }
}
