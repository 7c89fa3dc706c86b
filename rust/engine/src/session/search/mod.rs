//! Finding what was said: the messages of a scope by their words, their meaning, who spoke, and what stands around them.
//!
//! ```text
//! candidates   the best of BM25, what follows them in the session, the best of a scan of all vectors
//! first sight  words, neighbours' words and cosine: the first hundred go on
//! score        `score`: those and closeness token by token, speaker, length, over the rows of the documents
//! ```
//!
//! Nothing is read of the messages themselves but of those that are returned. A message is a hit only if it shares a word with the
//! question, follows one that does in its session, or its vector is near. It does not expand the question and asks no model.

pub(super) mod fill;
pub(super) mod row;
mod score;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap};

pub use fill::fill_rows;
pub use score::{FEATURES, Features, SCORE_ONE};

use self::row::Row;
use super::place::Place;
use super::record::{SessionRecord, SessionState};
use super::session::{StoredMessage, stored_message};
use super::transcript::words::{index, vectors};
use crate::Result;
use crate::embedding::{Wanted, distinct_tokens, embed};
use crate::index::bm25::runs::Runs;
use crate::index::bm25::{Parameters, QueryTerm};
use crate::index::vectors::{Query, Scores};
use crate::memory::Core;
use crate::scope::Scope;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::text::with_analyzer;

/// Candidates by words and by vectors, at least; twice as many as are wanted where that is more.
const BY_WORDS: usize = 128;
const BY_VECTORS: usize = 64;
/// Candidates whose rows are read, beyond those that are wanted.
const BEYOND: usize = 76;
/// A message that neither has a word of the question nor follows one is a hit from this cosine on, in units of 2^-30: texts that have nothing to do with each
/// other stay below .25.
const NEAR: i32 = (0.3 * (1 << 30) as f64) as i32;

/// A message that was found.
#[derive(Debug, Clone)]
pub struct TranscriptHit {
    /// The session.
    pub session_id: String,
    /// The message.
    pub message: StoredMessage,
    /// In units of [`SCORE_ONE`].
    pub score: i64,
    /// What the score is made of.
    pub features: Features,
}

/// The messages of a scope's sessions that answer the question, best first; of equals the newest.
pub fn search(engine: &Core, scope: &Scope, question: &str, limit: usize) -> Result<Vec<TranscriptHit>> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let question = Question::new(question, scope.term_seed());
    if question.terms.is_empty() {
        return Ok(Vec::new());
    }
    engine.store().read(|pages| {
        let Some(partition) = scope.find(pages)? else { return Ok(Vec::new()) };
        let mut hits = Vec::with_capacity(limit.min(64));
        for found in rank(pages, partition, &question, limit)? {
            let Some(record) = SessionRecord::read(pages, found.place)? else { continue };
            let message = stored_message(pages, found.place, found.index)?;
            hits.push(TranscriptHit { session_id: record.id, message, score: found.score, features: found.features });
        }
        Ok(hits)
    })
}

/// The same from a snapshot that the caller holds, without the messages themselves.
pub(super) fn found<P: Pages>(pages: &P, partition: Partition, seed: u64, question: &str, limit: usize) -> Result<Vec<Found>> {
    let question = Question::new(question, seed);
    if question.terms.is_empty() { Ok(Vec::new()) } else { rank(pages, partition, &question, limit) }
}

/// What is looked for.
struct Question {
    text: String,
    terms: Vec<QueryTerm>,
    identifiers: Vec<u64>,
    vector: Query,
    seed: u64,
}

impl Question {
    fn new(text: &str, seed: u64) -> Self {
        let query = with_analyzer(|analyzer| analyzer.query(text, seed));
        let terms = query.terms.iter().map(|term| QueryTerm { hash: term.hash, weight: term.weight }).collect();
        Self { text: text.to_owned(), terms, identifiers: query.identifiers, vector: Query::from_unit(embed(text)), seed }
    }

    /// Whether it has a word of that name.
    fn names(&self, speaker: &str) -> bool {
        if speaker.is_empty() {
            return false;
        }
        let name = with_analyzer(|analyzer| analyzer.query(speaker, self.seed));
        name.terms.iter().any(|term| term.weight >= 1.0 && self.terms.iter().any(|asked| asked.hash == term.hash))
    }
}

/// A message that was found, not yet read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    pub place: Place,
    pub index: u64,
    pub number: u32,
    pub score: i64,
    pub features: Features,
}

/// The best messages: score descending, of equals the newest document.
fn rank<P: Pages>(pages: &P, partition: Partition, question: &Question, limit: usize) -> Result<Vec<Found>> {
    let mut scores = Scores::new();
    vectors(partition).scan(pages, &question.vector, &mut scores)?;
    let runs = Runs::open(pages, index(partition))?;
    let mut wanted = limit;
    loop {
        let candidates = Candidates::find(pages, &runs, &scores, question, wanted)?;
        let mut found = Ranking { pages, partition, question, candidates: &candidates }.score()?;
        if found.len() >= limit || candidates.complete {
            found.truncate(limit);
            return Ok(found);
        }
        wanted = wanted.saturating_mul(4); // sessions that are being deleted had some of the best
    }
}

/// Documents that may be among the best, and what the indexes say of them.
struct Candidates {
    /// BM25 by document, the best one's being 1.
    words: HashMap<u32, f64>,
    cosines: HashMap<u32, i32>,
    identified: BTreeSet<u32>,
    /// The documents, the most promising first.
    numbers: Vec<u32>,
    /// There are no others.
    complete: bool,
}

impl Candidates {
    fn find<P: Pages>(pages: &P, runs: &Runs, scores: &Scores, question: &Question, wanted: usize) -> Result<Self> {
        let (by_words, by_vectors) = (BY_WORDS.max(wanted.saturating_mul(2)), BY_VECTORS.max(wanted));
        let mut search = |terms: &[QueryTerm]| runs.search(pages, terms, Parameters::default(), by_words, &mut |_| Ok(true));
        let hits = search(&question.terms)?;
        let near: Vec<_> = scores.best(by_vectors, |_| true).into_iter().filter(|near| near.score >= NEAR).collect();
        let identified = identified(question, &mut search)?;
        let complete = hits.len() < by_words && near.len() < by_vectors;
        let best = hits.first().map_or(1.0, |hit| hit.score as f64);
        let words: HashMap<u32, f64> = hits.iter().map(|hit| (hit.number, hit.score as f64 / best)).collect();
        let followers = hits.iter().filter_map(|hit| hit.number.checked_add(1));
        let pool: BTreeSet<u32> = hits.iter().map(|hit| hit.number).chain(followers).chain(near.iter().map(|near| near.number)).collect();
        let mut found = Self { words, cosines: HashMap::new(), identified, numbers: Vec::new(), complete: false };
        let mut promising = Vec::with_capacity(pool.len());
        for number in pool {
            let cosine = scores.get(number).unwrap_or(0).max(0);
            found.cosines.insert(number, cosine);
            let first = Features::first_sight(
                found.word(number),
                found.word(number.wrapping_sub(1)),
                found.word(number.wrapping_add(1)),
                found.cosine(number),
            );
            let first = first + f64::from(u8::from(found.identified.contains(&number))) * 4.0;
            promising.push((std::cmp::Reverse((first * SCORE_ONE as f64) as i64), std::cmp::Reverse(number)));
        }
        promising.sort_unstable();
        let most = wanted.saturating_add(BEYOND);
        found.complete = complete && promising.len() <= most;
        found.numbers = promising.into_iter().take(most).map(|(_, number)| number.0).collect();
        Ok(found)
    }

    fn word(&self, number: u32) -> f64 {
        self.words.get(&number).copied().unwrap_or(0.0)
    }

    fn cosine(&self, number: u32) -> f64 {
        f64::from(self.cosines.get(&number).copied().unwrap_or(0)) / f64::from(1 << 30)
    }
}

/// The documents that hold all identifiers of the question, as far as they are among the best for each.
fn identified(question: &Question, search: &mut impl FnMut(&[QueryTerm]) -> Result<Vec<crate::index::bm25::Hit>>) -> Result<BTreeSet<u32>> {
    let mut holding: Option<BTreeSet<u32>> = None;
    for &hash in &question.identifiers {
        let hits = search(&[QueryTerm { hash, weight: 1.0 }])?;
        let numbers: BTreeSet<u32> = hits.iter().map(|hit| hit.number).collect();
        holding = Some(match holding {
            Some(before) => before.intersection(&numbers).copied().collect(),
            None => numbers,
        });
    }
    Ok(holding.unwrap_or_default())
}

/// Candidates with their rows.
struct Ranking<'r, P> {
    pages: &'r P,
    partition: Partition,
    question: &'r Question,
    candidates: &'r Candidates,
}

impl<P: Pages> Ranking<'_, P> {
    fn score(&self) -> Result<Vec<Found>> {
        let mut rows: BTreeMap<u32, Row<'static>> = BTreeMap::new();
        for &number in &self.candidates.numbers {
            match Row::read(self.pages, self.partition, number)? {
                Some(row) => drop(rows.insert(number, row)),
                None if self.candidates.word(number) > 0.0 => drop(Row::expect(self.pages, self.partition, number)?),
                None => {} // what follows a message was taken back
            }
        }
        let mut speakers: BTreeSet<&str> = rows.values().map(|row| &*row.speaker).collect();
        speakers.retain(|speaker| self.question.names(speaker));
        let names: Vec<u8> = speakers.iter().flat_map(|speaker| distinct_tokens(speaker, row::MAX_TOKENS)).collect();
        let mut wanted = Wanted::new(&self.question.text, &names);
        let (mut hidden, mut found) = (BTreeMap::new(), Vec::with_capacity(rows.len()));
        for (&number, row) in &rows {
            if !self.is_visible(row.session, &mut hidden)? {
                continue;
            }
            let features = self.features(number, row, &rows, &mut wanted, speakers.contains(&*row.speaker))?;
            if !self.is_hit(number, &features) {
                continue;
            }
            let place = Place { partition: self.partition, session: row.session };
            found.push(Found { place, index: row.index, number, score: features.score(), features });
        }
        found.sort_unstable_by_key(|found| std::cmp::Reverse((found.score, found.number)));
        Ok(found)
    }

    fn features(
        &self,
        number: u32,
        row: &Row<'_>,
        rows: &BTreeMap<u32, Row<'static>>,
        wanted: &mut Wanted,
        named: bool,
    ) -> Result<Features> {
        let candidates = self.candidates;
        let (before, asked) = match number.checked_sub(1) {
            Some(other) => self.neighbour(row, other, row.index.checked_sub(1), rows)?,
            None => (0.0, false),
        };
        let (after, _) = self.neighbour(row, number.wrapping_add(1), row.index.checked_add(1), rows)?;
        let is = |is: bool| f64::from(u8::from(is));
        Ok(Features([
            candidates.word(number),
            before,
            if asked { before } else { 0.0 },
            after,
            candidates.cosine(number),
            wanted.closeness(&row.tokens),
            is(named),
            Features::length(row.tokens.len() / 2),
            is(row.asks),
            is(candidates.identified.contains(&number)),
        ]))
    }

    /// Whether a message has words of the question, is near it, or follows one that has words of it.
    fn is_hit(&self, number: u32, features: &Features) -> bool {
        let near = self.candidates.cosines.get(&number).is_some_and(|cosine| *cosine >= NEAR);
        near || features.words() > 0.0 || features.before() > 0.0
    }

    /// The words of the document `other`, and whether it asks, if it is message `index` of the same session.
    fn neighbour(&self, row: &Row<'_>, other: u32, index: Option<u64>, rows: &BTreeMap<u32, Row<'static>>) -> Result<(f64, bool)> {
        let words = self.candidates.word(other);
        if words <= 0.0 {
            return Ok((0.0, false));
        }
        let is_beside = |other: &Row<'_>| other.session == row.session && Some(other.index) == index;
        let seen = |other: &Row<'_>| if is_beside(other) { (words, other.asks) } else { (0.0, false) };
        match rows.get(&other) {
            Some(other) => Ok(seen(other)),
            None => Ok(Row::read(self.pages, self.partition, other)?.map_or((0.0, false), |other| seen(&other))),
        }
    }

    /// A session that is being deleted or copied is in no answer: its messages go, or come, step by step.
    fn is_visible(&self, session: u32, known: &mut BTreeMap<u32, bool>) -> Result<bool> {
        if let Some(visible) = known.get(&session) {
            return Ok(*visible);
        }
        let record = SessionRecord::read(self.pages, Place { partition: self.partition, session })?;
        let visible = record.is_some_and(|record| record.state != SessionState::Hidden);
        known.insert(session, visible);
        Ok(visible)
    }
}
