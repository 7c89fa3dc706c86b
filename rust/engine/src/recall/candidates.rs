//! Nominating: the memories of one scope that may be among the answers.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::explain::LexicalQuery;
use super::filter::Filter;
use super::priors::Attributes;
use super::ranking::memories::{FEWEST, PER_ANSWER};
use super::ranking::{NEAR, WINDOW};
use super::related::{self, Related};
use super::when::Range;
use super::{Asked, Question, Request, past};
use crate::Result;
use crate::index::bm25::{Hit, IndexId, Reader, Row, Statistics};
use crate::index::vectors::graph::Nearest;
use crate::index::vectors::{Query, VectorSet};
use crate::memory::Core;
use crate::memory::access::AccessBlocks;
use crate::memory::{Ages, Kind, MEMORIES, Memory, Stored};
use crate::scope::{Head, Scope};
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::units::clock::AHEAD;
use crate::units::score::SCORE_ONE;

/// Up to so many memories of a scope, every one that has a word of the question is scored; above, only the best.
const SCORED_WHOLE: u64 = 20_000;

/// A scope that is asked, as the snapshot has it.
pub struct Opened<'p, P> {
    /// Where it lives.
    pub partition: Partition,
    /// The key of its hashes.
    pub seed: Seed,
    /// Its words.
    pub reader: Reader<'p, P>,
}

impl<'p, P: Pages> Opened<'p, P> {
    /// A scope; `None` where nothing was ever written to it.
    pub fn new(snapshot: &'p P, scope: &Scope) -> Result<Option<Self>> {
        let Some(partition) = scope.find(snapshot)? else { return Ok(None) };
        let reader = Reader::open(snapshot, IndexId { partition, index: MEMORIES })?;
        Ok(Some(Self { partition, seed: scope.seed(snapshot.secret()), reader }))
    }
}

/// A memory that may be among the answers.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// Place of its scope in the request.
    pub scope: usize,
    /// Its number.
    pub number: u32,
    /// Its BM25 score in units of 2^-32.
    pub lexical: i64,
    /// Its own with a share of those of the events told before and behind it, in tenths.
    pub window: i64,
    /// Its cosine in units of 2^-30, from int8; `None` without a vector.
    pub dense: Option<i32>,
    /// It holds every identifier of the question, and there is one.
    pub identified: bool,
    /// The inputs of its prior.
    pub attributes: Attributes,
    /// Its text, where it is no longer current.
    pub past: Option<Box<Memory>>,
    /// How it is related to what the question names.
    pub related: Option<Box<Related>>,
}

/// The nominees of all scopes so far.
#[derive(Debug, Default)]
pub struct Nominated {
    /// In the order of their scopes, then numbers.
    pub candidates: Vec<Candidate>,
    /// The vectors of each scope, where they were used.
    pub sets: Vec<Option<Searched>>,
    /// The question by the built-in embedding, once a scope was searched by it that the engine's own embedding is still to reach.
    pub built_in: OnceCell<Option<Query>>,
    /// Why vectors were not used, or not all.
    pub degraded: Option<String>,
    /// Whether a memory holds every identifier of the question, and there is one.
    pub identified: bool,
}

/// The vectors of a scope, and which form of the question they are compared with.
#[derive(Debug, Clone, Copy)]
pub struct Searched {
    /// The vectors.
    pub set: VectorSet,
    /// The built-in embedding's, not that of the request.
    built_in: bool,
}

impl Nominated {
    /// The question as the vectors of a scope were searched with.
    #[must_use]
    pub fn question<'q>(&'q self, asked: &Asked<'q>, searched: Searched) -> Option<&'q Query> {
        if searched.built_in { self.built_in.get()?.as_ref() } else { asked.vector }
    }
}

/// Adds the candidates of one scope; returns what was asked of its words.
pub fn nominate<P: Pages>(
    engine: &Core,
    snapshot: &P,
    asked: &Asked<'_>,
    place: usize,
    opened: &mut Opened<'_, P>,
    found: &mut Nominated,
) -> Result<LexicalQuery> {
    let (request, partition, seed) = (asked.request, opened.partition, opened.seed);
    let (head, mut query) = lexical_query(snapshot, partition, seed, asked.question)?;
    let searched = vectors_of(engine, snapshot, asked, partition, &head, found)?;
    let compared = searched.and_then(|searched| Some((searched.set, found.question(asked, searched)?)));
    let filter = own_times(snapshot, request, partition, &head)?;
    let mut scope =
        ScopeSearch { snapshot, request, filter: &filter, partition, within: None, vouched: false, has_metadata: Vec::new(), failed: None };
    let reader = &mut opened.reader;
    let mut nominees = scope.nominees(reader, &mut query, compared)?;
    let mut related = related::nominate(snapshot, partition, seed, asked.question.text())?;
    scope.retain_found(reader, &mut related)?;
    nominees.numbers.extend(related.keys());
    let identified = nominees.identified;
    let scored = Scored { snapshot, place, compared, query: &query, half_lives: engine.half_lives() };
    let candidates = scored.candidates(reader, partition, nominees, related)?;
    found.candidates.extend(candidates);
    found.identified |= identified;
    if request.filter.reaches_back() {
        past::nominate(snapshot, &filter, place, partition, &query, found)?;
    }
    found.sets.push(searched);
    Ok(query)
}

/// The filter of a question with the time of a scope's own that its `known_at` stands for: another one where the clock once ran ahead.
fn own_times<'r, P: Pages>(snapshot: &P, request: &'r Request, partition: Partition, head: &Head) -> Result<Cow<'r, Filter>> {
    let filter = &request.filter;
    match filter.known_at {
        Some(asked) if head.last_time > filter.now.saturating_add(AHEAD) => {
            let known_at = Some(Ages::read(snapshot, partition, filter.now)?.own(asked));
            Ok(Cow::Owned(Filter { known_at, ..filter.clone() }))
        }
        _ => Ok(Cow::Borrowed(filter)),
    }
}

/// A scope's head, and a question as its words are asked.
pub(super) fn lexical_query<P: Pages>(snapshot: &P, partition: Partition, seed: Seed, question: &Question) -> Result<(Head, LexicalQuery)> {
    let head = Head::read(snapshot, partition)?;
    let statistics = Statistics { documents: head.documents, total_length: head.total_length };
    Ok((head, LexicalQuery::new(question, seed.terms, statistics)))
}

/// Who is nominated in a scope, and what it was scored by.
struct Nominees {
    /// In no order, some more than once.
    numbers: Vec<u32>,
    lexical: Lexical,
    dense: Nearest,
    /// Those that hold every identifier of the question, by number.
    holders: Vec<u32>,
    /// One of these may be found.
    identified: bool,
}

/// The inputs for the scores of a scope's nominees.
struct Scored<'s, P> {
    snapshot: &'s P,
    place: usize,
    compared: Option<(VectorSet, &'s Query)>,
    query: &'s LexicalQuery,
    half_lives: [Option<f64>; 7],
}

impl<P: Pages> Scored<'_, P> {
    /// The nominees as candidates, by number.
    fn candidates(
        &self,
        reader: &mut Reader<'_, P>,
        partition: Partition,
        nominees: Nominees,
        mut related: BTreeMap<u32, Related>,
    ) -> Result<Vec<Candidate>> {
        let Nominees { mut numbers, lexical, dense, holders, .. } = nominees;
        numbers.sort_unstable();
        numbers.dedup();
        let scores = lexical.scores(reader, self.query, &numbers)?;
        let mut accesses = AccessBlocks::new(self.snapshot, partition);
        let mut candidates = Vec::with_capacity(numbers.len());
        for (number, own) in numbers.into_iter().zip(scores) {
            let Some(row) = reader.row(number)? else { continue };
            let dense = self.compared.map_or(Ok(None), |(set, question)| dense.score(set, self.snapshot, question, number))?;
            candidates.push(Candidate {
                scope: self.place,
                number,
                lexical: own,
                window: window(reader, &row, number, own, &lexical)?,
                dense,
                identified: holders.binary_search(&number).is_ok(),
                attributes: attributes(&self.half_lives, &row, number, &mut accesses)?,
                past: None,
                related: related.remove(&number).map(Box::new),
            });
        }
        Ok(candidates)
    }
}

/// The score of a memory by words with a share of those of the events told before and behind it, in tenths.
fn window<P: Pages>(reader: &mut Reader<'_, P>, row: &Row, number: u32, own: i64, lexical: &Lexical) -> Result<i64> {
    let [of_own, of_before, of_behind] = WINDOW;
    if row.kind != Kind::Episodic as u8 {
        return Ok(of_own * own);
    }
    let [before, behind] = beside(number).map(|other| told_together(reader, row, other, |other| lexical.known(other)));
    Ok(of_own * own + of_before * before? + of_behind * behind?)
}

/// The numbers before and behind one.
fn beside(number: u32) -> [Option<u32>; 2] {
    [number.checked_sub(1), number.checked_add(1)]
}

/// The value of `of` for another memory, where both are events of one time that were written one behind the other: a conversation, told
/// turn by turn. 0 where they are not.
fn told_together<P: Pages>(reader: &mut Reader<'_, P>, row: &Row, other: Option<u32>, of: impl FnOnce(u32) -> i64) -> Result<i64> {
    let Some(other) = other.filter(|_| row.kind == Kind::Episodic as u8) else { return Ok(0) };
    let is_told = reader.row(other)?.is_some_and(|beside| beside.kind == row.kind && beside.occurred_at == row.occurred_at);
    Ok(if is_told { of(other) } else { 0 })
}

/// The inputs of a current memory's prior. Recalls of a fact count for nothing where facts do not decay, and are not read.
fn attributes<P: Pages>(half_lives: &[Option<f64>; 7], row: &Row, number: u32, accesses: &mut AccessBlocks<'_, P>) -> Result<Attributes> {
    let kind = Kind::from_number(row.kind).unwrap_or(Kind::Semantic);
    let recalls = if kind == Kind::Semantic && half_lives[kind as usize].is_none() { 0 } else { accesses.get(number)?.recalls };
    let (doubt, said_again) = (row.flags >> 1 & 15, row.flags >> 5);
    Ok(Attributes { kind, importance: row.importance, occurred_at: row.occurred_at, recalls, doubt, said_again, trust: row.trust })
}

/// The vectors to scan, and in `found` why there are none or not all.
///
/// While a partition waits for the vectors of another embedding, it is searched by those it has: with the question as its own embedder
/// made it, or, where that is the built-in one, as the engine makes it now.
fn vectors_of<P: Pages>(
    engine: &Core,
    snapshot: &P,
    asked: &Asked<'_>,
    partition: Partition,
    head: &Head,
    found: &mut Nominated,
) -> Result<Option<Searched>> {
    if engine.embedding().is_none() || head.documents == 0 {
        return Ok(None);
    }
    let place = asked.vector.map(Query::place);
    let own = place.map_or(Ok(None), |place| engine.vector_set_of(place, snapshot, partition))?;
    let searched = match own {
        Some((number, set)) if number == head.embedding => Some(Searched { set, built_in: false }),
        _ if head.embedding == 0 => None,
        _ => match engine.built_in_set(snapshot, partition, head.embedding)? {
            Some(set) if found.built_in.get_or_init(|| super::built_in_question(asked.question)).is_some() => {
                Some(Searched { set, built_in: true })
            }
            _ => None,
        },
    };
    let other = found.sets.iter().flatten().any(|before| searched.is_some_and(|now| !now.set.is_comparable(&before.set)));
    let why = match searched {
        Some(_) if head.vectors < head.documents => {
            Some(format!("{} of {} memories have no vector yet: maintain() makes them", head.documents - head.vectors, head.documents))
        }
        Some(_) if other => {
            Some("the scopes were embedded by different embedders, whose cosines compare badly: reembed() makes them one".to_owned())
        }
        Some(_) => None,
        None if asked.vector.is_none() => Some("the question could not be embedded: answered by words alone".to_owned()),
        None => Some("the memories were embedded by another embedder, or by none: maintain() embeds them anew".to_owned()),
    };
    found.degraded = found.degraded.take().or(why);
    Ok(searched)
}

/// One scope's search and what it filters by.
struct ScopeSearch<'s, P> {
    snapshot: &'s P,
    request: &'s Request,
    /// With the times of this scope.
    filter: &'s Filter,
    partition: Partition,
    /// Only what happened within this, while it is set.
    within: Option<Range>,
    /// By number, whether its metadata are the wanted ones: words and vectors ask of the same memories.
    has_metadata: Vec<Option<bool>>,
    /// Only what somebody vouches for, while this is set.
    vouched: bool,
    /// An error met inside a filter, which cannot return one.
    failed: Option<crate::Error>,
}

impl<P: Pages> ScopeSearch<'_, P> {
    /// Whether a memory may be found.
    fn keeps(&mut self, number: u32, row: &Row) -> bool {
        let filter = self.filter;
        if self.vouched && row.trust == 0 || !filter.keeps_row(row) || self.within.is_some_and(|range| !range.contains(row.occurred_at)) {
            return false;
        }
        filter.metadata.is_empty() || self.has_metadata(number)
    }

    /// Whether a memory has the metadata that the question asks for. Its record is read where it lies, and once.
    fn has_metadata(&mut self, number: u32) -> bool {
        let place = number as usize;
        if let Some(Some(known)) = self.has_metadata.get(place) {
            return *known;
        }
        let has = self.read_metadata(number).unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            false
        });
        if self.has_metadata.len() <= place {
            self.has_metadata.resize(place + 1, None);
        }
        self.has_metadata[place] = Some(has);
        has
    }

    fn read_metadata(&self, number: u32) -> Result<bool> {
        let Some(stored) = Stored::find(self.snapshot, self.partition, number)? else { return Ok(false) };
        Ok(self.request.filter.keeps_metadata(stored.outline()?.metadata))
    }

    /// The best by words and by vectors, of the time that was asked about as many again (it may have none among the best of all times), what
    /// was told beside them, and all that hold every identifier.
    fn nominees(
        &mut self,
        reader: &mut Reader<'_, P>,
        query: &mut LexicalQuery,
        compared: Option<(VectorSet, &Query)>,
    ) -> Result<Nominees> {
        let wanted = self.request.depth().saturating_mul(PER_ANSWER).max(FEWEST);
        let (lexical, mut dense) = (self.lexical(reader, query, wanted)?, Nearest::default());
        let mut numbers: Vec<u32> = lexical.best.iter().map(|hit| hit.number).collect();
        numbers.extend(self.dense(reader, compared, &mut dense, wanted)?);
        if self.request.filter.preferred.is_some() {
            self.within = self.request.filter.preferred;
            numbers.extend(self.lexical_within(reader, query, &lexical, wanted)?);
            numbers.extend(self.dense(reader, compared, &mut dense, wanted)?);
            self.within = None;
        }
        numbers.extend(self.vouched_for(reader, query, &lexical, compared, &mut dense, (&numbers, wanted))?);
        numbers.extend(self.told_beside(reader, &lexical.best)?);
        let holders = with_every_identifier(reader, query)?;
        let found = self.first_found(reader, &holders)?;
        let identified = !found.is_empty();
        numbers.extend(found);
        Ok(Nominees { numbers, lexical, dense, holders, identified })
    }

    /// Where memories of trust 0 take places among as many nominees as there may be, those that somebody vouches for are nominated besides:
    /// the best by words, and by vectors those that are near. Where there are none of these, nothing changes.
    fn vouched_for(
        &mut self,
        reader: &mut Reader<'_, P>,
        query: &LexicalQuery,
        lexical: &Lexical,
        compared: Option<(VectorSet, &Query)>,
        dense: &mut Nearest,
        (nominated, wanted): (&[u32], usize),
    ) -> Result<Vec<u32>> {
        let mut crowded = false;
        if self.request.filter.min_trust == 0 && nominated.len() >= wanted {
            for number in nominated {
                crowded = crowded || reader.row(*number)?.is_some_and(|row| row.trust == 0);
            }
        }
        if !crowded {
            return Ok(Vec::new());
        }
        self.vouched = true;
        let mut numbers = self.lexical_within(reader, query, lexical, self.request.depth())?;
        let near = self.dense(reader, compared, dense, self.request.depth())?;
        self.vouched = false;
        if let Some((set, question)) = compared {
            for number in near {
                let cosine = dense.score(set, self.snapshot, question, number)?;
                numbers.extend(cosine.is_some_and(|cosine| f64::from(cosine) >= NEAR * f64::from(SCORE_ONE)).then_some(number));
            }
        }
        Ok(numbers)
    }

    /// Keeps those that may be found.
    fn retain_found(&mut self, reader: &mut Reader<'_, P>, related: &mut BTreeMap<u32, Related>) -> Result<()> {
        for number in related.keys().copied().collect::<Vec<_>>() {
            if !reader.row(number)?.is_some_and(|row| self.keeps(number, &row)) {
                related.remove(&number);
            }
        }
        self.checked(())
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
            answer.best = self.best(reader, &found.hits, wanted)?;
            answer.all = Some(found.hits);
            query.frequencies = found.frequencies;
        } else {
            let found = reader.top_k(&question, wanted, |number, row| self.keeps(number, row))?;
            answer.best = found.hits;
            query.frequencies = found.frequencies;
        }
        self.checked(answer)
    }

    /// The best of the asked time, by the words that were scored before.
    fn lexical_within(&mut self, reader: &mut Reader<'_, P>, query: &LexicalQuery, scored: &Lexical, wanted: usize) -> Result<Vec<u32>> {
        let best = match &scored.all {
            Some(all) => self.best(reader, all, wanted)?,
            None if query.question().terms.is_empty() || query.statistics.documents == 0 => Vec::new(),
            None => reader.top_k(&query.question(), wanted, |number, row| self.keeps(number, row))?.hits,
        };
        self.checked(best.into_iter().map(|hit| hit.number).collect())
    }

    /// The best hits that may be found. Mostly they are the best hits: only where one of these may not be found is more put in order.
    fn best(&mut self, reader: &mut Reader<'_, P>, hits: &[Hit], wanted: usize) -> Result<Vec<Hit>> {
        let first = first(hits, wanted);
        let mut best = self.found(reader, &first, wanted)?;
        if best.len() < wanted && first.len() < hits.len() {
            let mut order = hits.to_vec();
            order.sort_unstable_by(by_score);
            best = self.found(reader, &order, wanted)?;
        }
        Ok(best)
    }

    /// The first of `order` that may be found.
    fn found(&mut self, reader: &mut Reader<'_, P>, order: &[Hit], wanted: usize) -> Result<Vec<Hit>> {
        let mut found = Vec::with_capacity(wanted.min(order.len()));
        for hit in order {
            if found.len() == wanted {
                break;
            }
            if let Some(row) = reader.row(hit.number)?
                && self.keeps(hit.number, &row)
            {
                found.push(*hit);
            }
        }
        Ok(found)
    }

    /// The nearest that may be found. Asked again with another `within`, it does not scan again what it scanned.
    fn dense(
        &mut self,
        reader: &mut Reader<'_, P>,
        compared: Option<(VectorSet, &Query)>,
        nearest: &mut Nearest,
        wanted: usize,
    ) -> Result<Vec<u32>> {
        let Some((set, question)) = compared else { return Ok(Vec::new()) };
        let mut broken = None;
        nearest.find(set, self.snapshot, question, wanted, |number| match reader.row(number) {
            Ok(row) => row.is_some_and(|row| self.keeps(number, &row)),
            Err(error) => {
                broken.get_or_insert(error);
                false
            }
        })?;
        broken.map_or(Ok(()), Err)?;
        self.checked(nearest.best.iter().map(|scored| scored.number).collect())
    }

    /// The events told before and behind these, which may answer without a word of the question.
    fn told_beside(&mut self, reader: &mut Reader<'_, P>, best: &[Hit]) -> Result<Vec<u32>> {
        let mut numbers = Vec::new();
        for hit in best {
            let Some(row) = reader.row(hit.number)?.filter(|row| row.kind == Kind::Episodic as u8) else { continue };
            for other in beside(hit.number) {
                let told = told_together(reader, &row, other, i64::from)? as u32;
                if told > 0
                    && let Some(row) = reader.row(told)?
                    && self.keeps(told, &row)
                {
                    numbers.push(told);
                }
            }
        }
        self.checked(numbers)
    }

    /// The first of those who hold every identifier that may be found: always candidates, however they score.
    fn first_found(&mut self, reader: &mut Reader<'_, P>, holders: &[u32]) -> Result<Vec<u32>> {
        let mut kept = Vec::new();
        for &number in holders {
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

/// The memories that hold every identifier of the question, by number.
fn with_every_identifier<P: Pages>(reader: &mut Reader<'_, P>, query: &LexicalQuery) -> Result<Vec<u32>> {
    let Some((first, others)) = query.identifiers().split_first() else { return Ok(Vec::new()) };
    let mut holders = reader.find(*first)?;
    for identifier in others {
        let these = reader.find(*identifier)?;
        holders.retain(|number| these.binary_search(number).is_ok());
    }
    Ok(holders)
}

/// Score descending, then number ascending.
fn by_score(a: &Hit, b: &Hit) -> Ordering {
    b.score.cmp(&a.score).then(a.number.cmp(&b.number))
}

/// The best `n` of hits whose numbers ascend, in order. Most are compared once, with a bar that rises: a later hit of the bar's score is no
/// better than the ones before.
fn first(hits: &[Hit], n: usize) -> Vec<Hit> {
    let n = n.min(hits.len());
    let mut best: Vec<Hit> = Vec::with_capacity(2 * n);
    let mut bar = i64::MIN;
    for hit in hits.iter().filter(|_| n > 0) {
        if hit.score > bar {
            best.push(*hit);
            if best.len() == 2 * n {
                best.select_nth_unstable_by(n - 1, by_score);
                best.truncate(n);
                bar = best[n - 1].score;
            }
        }
    }
    best.sort_unstable_by(by_score);
    best.truncate(n);
    best
}

/// The hits of a question's words.
#[derive(Default)]
struct Lexical {
    /// The best that the filter lets through.
    best: Vec<Hit>,
    /// Every score, by number, where the scope is small enough.
    all: Option<Vec<Hit>>,
}

impl Lexical {
    /// The score of a memory, where it was scored; 0 where it was not.
    fn known(&self, number: u32) -> i64 {
        match &self.all {
            Some(all) => all.binary_search_by_key(&number, |hit| hit.number).map_or(0, |at| all[at].score),
            None => self.best.iter().find(|hit| hit.number == number).map_or(0, |hit| hit.score),
        }
    }

    /// The scores of memories, whose numbers ascend.
    fn scores<P: Pages>(&self, reader: &mut Reader<'_, P>, query: &LexicalQuery, numbers: &[u32]) -> Result<Vec<i64>> {
        if self.all.is_some() || query.terms().is_empty() {
            return Ok(numbers.iter().map(|number| self.known(*number)).collect());
        }
        reader.scores_of(&query.question(), numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_hits_are_those_of_sorting_all() {
        for (count, spread) in [(0, 1), (5, 3), (200, 7), (1_000, 10_007)] {
            let hits: Vec<Hit> = (0..count).map(|at| Hit { number: at * 3, score: i64::from(at * 7_919 % spread) }).collect();
            let mut sorted = hits.clone();
            sorted.sort_by(by_score);
            for n in [0, 1, 2, 40, 1_000] {
                assert_eq!(first(&hits, n), sorted[..n.min(sorted.len())], "{count} {spread} {n}");
            }
        }
    }
}
