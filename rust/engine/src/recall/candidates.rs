//! Candidates: the memories of one scope that may be among the answers, and what each is scored by.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::explain::LexicalQuery;
use super::filter::Filter;
use super::nominees::{Lexical, Nominees, ScopeSearch, beside, told_together};
use super::priors::Attributes;
use super::ranking::WINDOW;
use super::related::{self, Related};
use super::{Asked, Question, Request, past, slotted};
use crate::Result;
use crate::index::bm25::{IndexId, Reader, Row, Statistics};
use crate::index::vectors::{Query, VectorSet};
use crate::memory::Core;
use crate::memory::access::AccessBlocks;
use crate::memory::{Ages, Kind, MEMORIES, Memory};
use crate::scope::{Head, Scope};
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::units::clock::AHEAD;

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
    /// All of it, where it is no longer current.
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
    let mut scope = ScopeSearch::new(snapshot, asked, &filter, partition);
    let reader = &mut opened.reader;
    let mut nominees = scope.nominees(reader, &mut query, compared)?;
    let mut related = related::nominate(snapshot, partition, seed, asked.question.text())?;
    slotted::nominate(snapshot, partition, seed, asked.question, &mut related)?;
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
        let Nominees { mut numbers, lexical, dense, holders, dated, .. } = nominees;
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
                attributes: attributes(&self.half_lives, &row, number, dated.contains_key(&number), &mut accesses)?,
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

/// The inputs of a current memory's prior. Recalls of a fact count for nothing where facts do not decay, and are not read.
fn attributes<P: Pages>(
    half_lives: &[Option<f64>; 7],
    row: &Row,
    number: u32,
    names_day: bool,
    accesses: &mut AccessBlocks<'_, P>,
) -> Result<Attributes> {
    let kind = Kind::from_number(row.kind).unwrap_or(Kind::Semantic);
    let recalls = if kind == Kind::Semantic && half_lives[kind as usize].is_none() { 0 } else { accesses.get(number)?.recalls };
    let (doubt, said_again) = (row.flags >> 1 & 15, row.flags >> 5);
    Ok(Attributes {
        kind,
        importance: row.importance,
        occurred_at: row.occurred_at,
        recalls,
        doubt,
        said_again,
        names_day,
        trust: row.trust,
    })
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
