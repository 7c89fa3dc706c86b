//! From a question to the chunks that answer it, each with its place in its document.
//!
//! ```text
//! nominate   every collection: BM25 over its chunks, a scan of their vectors or a walk of their graph, chunks that hold all identifiers
//! repair     words that are misspelt and that no chunk has, before all that (`typos`), where the caller does not know the reading
//! fuse       as memories are (`recall/fusion.rs`): a weighted sum of normalised scores
//! ```
//!
//! Of chunks with one text the best comes first, and the others have the places that stay free: ten copies of a document do not hide another.
//!
//! A chunk is seen if its revision is that of its document, and the document is not expired: this is asked while candidates are
//! chosen, so that a filter never loses results.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::name::CollectionName;
use super::record::{self, ChunkRecord, Document, Revision, State};
use super::typos::repaired;
use super::writer;
use crate::Result;
use crate::index::bm25::runs::{Runs, Snapshot};
use crate::index::bm25::{Parameters, QueryTerm};
use crate::index::vectors::graph::Nearest;
use crate::index::vectors::{Query, VectorSet};
use crate::memory::{Core, check_conditions, has_metadata};
use crate::recall::candidates::Candidate;
use crate::recall::explain::LexicalQuery;
use crate::recall::fusion::{self, Parts};
use crate::recall::priors::{Attributes, Moment};
use crate::recall::ranking::memories::{BEYOND, FEWEST, PER_ANSWER};
use crate::recall::ranking::{HOLDERS, WINDOW};
use crate::recall::when::Range;
use crate::recall::{Question, check_min_score, confidence, deep_enough, depth, is_built_in, question_vector, why_degraded};
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::metrics::add;
use crate::store::pages::Pages;

/// A question to collections.
#[derive(Debug, Clone)]
pub struct Request {
    /// The query.
    pub text: String,
    /// Its embedding; the built-in one makes its own where this is `None`.
    pub vector: Option<Query>,
    /// Why it has none, where a caller's embedder made none.
    pub embedder_failed: Option<String>,
    /// The searched collections.
    pub collections: Vec<CollectionName>,
    /// At most so many chunks.
    pub limit: usize,
    /// Keys of documents' metadata with the values (MessagePack) of which one must stand there.
    pub metadata: Vec<(String, Vec<Vec<u8>>)>,
    /// Only documents whose version was added then.
    pub updated: Range,
    /// Only documents of these ids.
    pub documents: Option<Vec<String>>,
    /// Only what scores at least this, 0 to 1.
    pub min_score: f64,
    /// Only what has a word of the question or is near its meaning.
    pub relevant_only: bool,
    /// Of chunks with the same text only the best is an answer. Otherwise the others have the places that stay free.
    pub each_once: bool,
    /// The time of the question.
    pub now: i64,
}

impl Request {
    /// A question without filters.
    #[must_use]
    pub fn new(text: impl Into<String>, collections: Vec<CollectionName>, limit: usize, now: i64) -> Self {
        Self {
            text: text.into(),
            vector: None,
            embedder_failed: None,
            collections,
            limit,
            metadata: Vec::new(),
            updated: Range::default(),
            documents: None,
            min_score: 0.0,
            relevant_only: false,
            each_once: false,
            now,
        }
    }

    /// This search for a question that is read otherwise than it was written: a vector that a caller's own embedder made stays, and that of
    /// the built-in one is made anew.
    #[must_use]
    pub(crate) fn read_otherwise(&self, engine: &Core) -> Self {
        let vector = self.vector.clone().filter(|_| !is_built_in(engine));
        Self { vector, ..self.clone() }
    }
}

/// A chunk that was found.
#[derive(Debug, Clone)]
pub struct Hit {
    /// Place of its collection in the request.
    pub collection: usize,
    /// Its document.
    pub document: Arc<Document>,
    /// Its number in the collection.
    pub chunk: u32,
    /// Where it stands in the document's text, in bytes.
    pub span: std::ops::Range<usize>,
    /// Its place in the text, in characters.
    pub characters: std::ops::Range<usize>,
    /// The headings above it, outermost first.
    pub path: Vec<String>,
    /// The document's text at `span`.
    pub text: String,
    /// 0 to 1: how it compares with the other answers to this question.
    pub score: f64,
    /// Where the score comes from.
    pub parts: Parts,
}

impl Hit {
    /// The text that was scored: the headings that its text does not begin with, and the text.
    #[must_use]
    pub fn indexed(&self) -> String {
        record::indexed(&self.path, &self.text)
    }
}

/// The answer.
#[derive(Debug, Clone, Default)]
pub struct Search {
    /// The best first.
    pub hits: Vec<Hit>,
    /// Why vectors were not used where they could have been.
    pub degraded: Option<String>,
    /// Whether the question had a vector.
    pub hybrid: bool,
    /// The query to each collection's words, for explanations.
    pub queries: Vec<LexicalQuery>,
}

impl Search {
    /// 0 to 1: how sure the engine is that the first answers the question. Costs an analysis of it.
    #[must_use]
    pub fn confidence(&self) -> f64 {
        let Some(best) = self.hits.first() else { return 0.0 };
        confidence(self.queries.get(best.collection), &best.indexed(), &best.parts)
    }
}

/// Answers a question from one snapshot of its own, and counts it.
pub fn ask(engine: &Core, request: &Request) -> Result<Search> {
    check_min_score("searching a collection", request.min_score)?;
    check_conditions("searching a collection", &request.metadata)?;
    let question = Question::new(&request.text);
    let answer = engine.store().read(|pages| match repaired(pages, &request.collections, &question)? {
        Some((read, _)) => search(engine, pages, &request.read_otherwise(engine), &read),
        None => search(engine, pages, request, &question),
    })?;
    let metrics = engine.store().metrics();
    add(&metrics.searches, 1);
    add(&metrics.searches_degraded, u64::from(answer.degraded.is_some()));
    Ok(answer)
}

/// Answers a question from the snapshot that its caller holds; `question` is what the request asks, misspelt words repaired.
pub fn search<P: Pages>(engine: &Core, pages: &P, request: &Request, question: &Question) -> Result<Search> {
    let own = if request.vector.is_none() { question_vector(engine, question) } else { None };
    let vector = request.vector.as_ref().or(own.as_ref());
    deep_enough(depth(request.limit), |depth| search_so_deep(engine, pages, &Asked { request, question, vector, depth }))
}

/// The answer from the candidates of one depth; and whether copies took more places than are set aside for them, so that more candidates
/// would have other texts.
fn search_so_deep<P: Pages>(engine: &Core, pages: &P, asked: &Asked<'_>) -> Result<(Search, bool)> {
    let request = asked.request;
    let mut found = Nominated::default();
    let mut answer = Search::default();
    for (place, name) in request.collections.iter().enumerate() {
        let query = match name.find(pages)? {
            Some(partition) => nominate(engine, pages, asked, place, (partition, name.seed(pages.secret())), &mut found)?,
            None => LexicalQuery::default(),
        };
        answer.queries.push(query);
    }
    let exact = |candidate: &Candidate| match (found.sets.get(&candidate.scope), asked.vector) {
        (Some(set), Some(query)) if candidate.dense.is_some() => set.cosine(pages, candidate.number, query),
        _ => Ok(None),
    };
    let moment = Moment { now: request.now, ..Moment::default() };
    let nominated = found.candidates.len();
    let ranked = fusion::rank(fusion::weight_of_words(found.identified), asked.depth, &moment, found.candidates, exact)?;
    let is_cut = ranked.len() < nominated;
    let mut places = Places::new(request.limit);
    for (candidate, parts) in ranked {
        if places.are_taken() || parts.score() < request.min_score {
            break;
        }
        if request.relevant_only && !parts.is_relevant() {
            continue;
        }
        let Some(hit) = load(pages, &found.documents, &found.partitions, &candidate, &parts)? else { continue };
        places.offer(hit);
    }
    let is_crowded = is_cut && places.are_crowded();
    answer.hits = places.hits(request.each_once);
    answer.hybrid = !found.sets.is_empty() || (asked.vector.is_some() && found.degraded.is_none());
    answer.degraded = why_degraded(&request.text, found.degraded, request.embedder_failed.as_deref());
    Ok((answer, is_crowded))
}

/// The places of an answer while they are filled: the best chunk of each text has one, and copies have those that stay free.
struct Places {
    limit: usize,
    /// The best of each text, with its rank.
    taken: Vec<(usize, Hit)>,
    /// Copies of these, with their ranks.
    copies: Vec<(usize, Hit)>,
}

impl Places {
    fn new(limit: usize) -> Self {
        Self { limit, taken: Vec::new(), copies: Vec::new() }
    }

    /// Whether no better answer can come.
    fn are_taken(&self) -> bool {
        self.taken.len() >= self.limit
    }

    /// The next hit by rank.
    fn offer(&mut self, hit: Hit) {
        let rank = self.taken.len() + self.copies.len();
        let is_copy = self.taken.iter().any(|(_, better)| better.text == hit.text);
        if is_copy { self.copies.push((rank, hit)) } else { self.taken.push((rank, hit)) }
    }

    /// Whether more copies than are set aside for them came while places were free.
    fn are_crowded(&self) -> bool {
        !self.are_taken() && self.copies.len() > BEYOND
    }

    /// The hits in the order of their ranks, each text `once` or with copies in the places that stayed free.
    fn hits(self, once: bool) -> Vec<Hit> {
        let (mut all, free) = (self.taken, if once { 0 } else { self.limit });
        let free = free.saturating_sub(all.len());
        all.extend(self.copies.into_iter().take(free));
        all.sort_by_key(|(rank, _)| *rank);
        all.into_iter().map(|(_, hit)| hit).collect()
    }
}

/// A request with its question as it was read.
struct Asked<'q> {
    request: &'q Request,
    question: &'q Question,
    /// Its vector: a caller's, or that of the built-in embedding.
    vector: Option<&'q Query>,
    /// Candidates are chosen for so many answers.
    depth: usize,
}

/// The nominees so far.
#[derive(Default)]
struct Nominated {
    candidates: Vec<Candidate>,
    sets: BTreeMap<usize, VectorSet>,
    partitions: BTreeMap<usize, Partition>,
    /// By collection and revision.
    documents: BTreeMap<(usize, u32), Option<Arc<Document>>>,
    degraded: Option<String>,
    identified: bool,
}

fn nominate<P: Pages>(
    engine: &Core,
    pages: &P,
    asked: &Asked<'_>,
    place: usize,
    (partition, seed): (Partition, Seed),
    found: &mut Nominated,
) -> Result<LexicalQuery> {
    let (request, vector) = (asked.request, asked.vector);
    found.partitions.insert(place, partition);
    let head = super::Head::read(pages, partition)?;
    let seed = head.seed(seed);
    let runs = Runs::open(pages, writer::index(partition))?;
    let words = runs.snapshot(pages)?;
    let mut query = LexicalQuery::new(asked.question, seed.terms, words.statistics()).by(Parameters::OF_DOCUMENTS);
    let terms = words.prepare(query.question().terms, query.parameters)?;
    query.frequencies = terms.frequencies().to_vec();
    let only = request.documents.as_ref().map(|ids| numbers(pages, partition, seed, ids)).transpose()?;
    let mut sight = Sight { pages, request, place, partition, only, documents: &mut found.documents };
    let wanted = asked.depth.saturating_mul(PER_ANSWER).max(FEWEST);

    let by_words = words.best(&terms, wanted, &mut |number| sight.shows(number))?;
    let (set, degraded) = vectors_of(engine, pages, partition, &head, vector.is_some())?;
    found.degraded = found.degraded.take().or(degraded);
    let compared = set.zip(vector);
    found.sets.extend(compared.map(|(set, _)| (place, set)));
    let nearest = compared.map_or(Ok(Nearest::default()), |(set, vector)| nearest(&mut sight, set, vector, wanted))?;
    let holders = holders(&mut sight, &words, &query)?;
    found.identified |= !holders.is_empty();
    let mut numbers: Vec<u32> = by_words.iter().map(|hit| hit.number).collect();
    numbers.extend(nearest.best.iter().map(|scored| scored.number).chain(holders.iter().copied()));
    numbers.sort_unstable();
    numbers.dedup();
    let scores = words.scores_of(&terms, &numbers)?;
    for (number, score) in numbers.into_iter().zip(scores) {
        found.candidates.push(Candidate {
            scope: place,
            number,
            lexical: score,
            window: WINDOW[0] * score,
            dense: compared.map_or(Ok(None), |(set, vector)| nearest.score(set, pages, vector, number))?,
            identified: holders.binary_search(&number).is_ok(),
            attributes: Attributes::NONE,
            past: None,
            related: None,
        });
    }
    Ok(query)
}

/// The chunks whose vectors are nearest, of those that are to be seen.
fn nearest<P: Pages>(sight: &mut Sight<'_, P>, set: VectorSet, vector: &Query, wanted: usize) -> Result<Nearest> {
    let (pages, mut failed) = (sight.pages, Ok(()));
    let mut shows = |number: u32| {
        sight.shows(number).unwrap_or_else(|error| {
            failed = Err(error);
            false
        })
    };
    let nearest = set.nearest(pages, vector, wanted, &mut shows)?;
    failed.map(|()| nearest)
}

/// The chunks that hold every identifier of a question, by number.
fn holders<P: Pages>(sight: &mut Sight<'_, P>, words: &Snapshot<'_, P>, query: &LexicalQuery) -> Result<Vec<u32>> {
    if query.identifiers().is_empty() {
        return Ok(Vec::new());
    }
    let named: Vec<QueryTerm> = query.identifiers().iter().map(|hash| QueryTerm { hash: *hash, weight: 1.0 }).collect();
    let named = words.prepare(&named, query.parameters)?;
    let best = words.best(&named, HOLDERS, &mut |number| sight.shows(number))?;
    let mut numbers: Vec<u32> = best.iter().map(|hit| hit.number).collect();
    numbers.sort_unstable();
    words.having_all(&named, &numbers)
}

/// The numbers of documents by their ids, ascending.
fn numbers<P: Pages>(pages: &P, partition: Partition, seed: Seed, ids: &[String]) -> Result<Vec<u32>> {
    let mut numbers = Vec::with_capacity(ids.len());
    for id in ids {
        numbers.extend(record::by_id(pages, partition, seed, id)?.map(|document| document.number));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// The vectors to scan, and why there are none or not all.
fn vectors_of<P: Pages>(
    engine: &Core,
    pages: &P,
    partition: Partition,
    head: &super::Head,
    asked: bool,
) -> Result<(Option<VectorSet>, Option<String>)> {
    if engine.embedding().is_none() || head.chunks == 0 {
        return Ok((None, None));
    }
    let set = engine.vector_set(pages, partition)?;
    let why = match set {
        _ if !asked => Some("the question could not be embedded: answered by words alone".to_owned()),
        Some((number, _)) if number == head.embedding && head.vectors >= head.chunks => None,
        Some((number, _)) if number == head.embedding => {
            Some(format!("{} of {} chunks have no vector yet: maintain() makes them", head.chunks - head.vectors, head.chunks))
        }
        _ => Some("the chunks were embedded by another embedder, or by none: maintain() embeds them anew".to_owned()),
    };
    Ok((set.filter(|(number, _)| *number == head.embedding && asked).map(|(_, set)| set), why))
}

/// The part of one collection that a question may see.
struct Sight<'s, P> {
    pages: &'s P,
    request: &'s Request,
    place: usize,
    partition: Partition,
    /// Only documents of these numbers.
    only: Option<Vec<u32>>,
    documents: &'s mut BTreeMap<(usize, u32), Option<Arc<Document>>>,
}

impl<P: Pages> Sight<'_, P> {
    fn shows(&mut self, number: u32) -> Result<bool> {
        let Some(revision) = ChunkRecord::revision_of(self.pages, self.partition, number)? else { return Ok(false) };
        if let Some(known) = self.documents.get(&(self.place, revision)) {
            return Ok(known.is_some());
        }
        let document = self.document(revision)?.filter(|document| self.lets_through(document)).map(Arc::new);
        let shown = document.is_some();
        self.documents.insert((self.place, revision), document);
        Ok(shown)
    }

    /// The document whose current revision it is.
    fn document(&self, number: u32) -> Result<Option<Document>> {
        let revision = Revision::read(self.pages, self.partition, number)?.filter(|revision| revision.state == State::Current);
        let Some(revision) = revision else { return Ok(None) };
        Ok(Document::read(self.pages, self.partition, revision.document)?.filter(|document| document.revision == number))
    }

    fn lets_through(&self, document: &Document) -> bool {
        !document.is_expired(self.request.now)
            && self.request.updated.contains(document.updated_at)
            && self.only.as_ref().is_none_or(|only| only.binary_search(&document.number).is_ok())
            && has_metadata(&self.request.metadata, &document.metadata)
    }
}

fn load<P: Pages>(
    pages: &P,
    documents: &BTreeMap<(usize, u32), Option<Arc<Document>>>,
    partitions: &BTreeMap<usize, Partition>,
    candidate: &Candidate,
    parts: &Parts,
) -> Result<Option<Hit>> {
    let Some(partition) = partitions.get(&candidate.scope).copied() else { return Ok(None) };
    let chunk = ChunkRecord::read(pages, partition, candidate.number)?;
    let Some(Some(document)) = documents.get(&(candidate.scope, chunk.revision)) else { return Ok(None) };
    let text = record::text(pages, partition, chunk.revision, chunk.span.clone())?;
    Ok(Some(Hit {
        collection: candidate.scope,
        document: Arc::clone(document),
        chunk: candidate.number,
        span: chunk.span,
        characters: chunk.characters,
        path: chunk.path,
        text,
        score: parts.score(),
        parts: *parts,
    }))
}
