//! Reading an index: one [`Reader`] for each read transaction.

use std::cell::RefCell;

use super::Statistics;
use super::block::List;
use super::cursor::Cursor;
use super::formula::{Formula, MAX_WEIGHT, Parameters};
use super::layout::{self, BlockKeys, IndexId};
use super::lengths::Lengths;
use super::list::{Run, decode_short};
use super::lookup::{self, Met};
use super::matches::{Newer, TailMatches, in_order, more_of};
use super::pruned::{All, Best, Collector, Scorer, search};
use super::row::Row;
use super::rows::Rows;
use super::tail::{Record, Tail};
use crate::store::pages::Pages;
use crate::{Error, Result};

/// The most terms of a query.
const MAX_QUERY_TERMS: usize = 4096;

/// A document and its score, in units of 2^-32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hit {
    /// The document.
    pub number: u32,
    /// The sum of its contributions.
    pub score: i64,
}

/// A term that is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QueryTerm {
    /// The term's hash. A hash that stands twice counts twice.
    pub hash: u64,
    /// 0 to 1,000; 1 is a term like any other.
    pub weight: f32,
}

/// A question to an index.
#[derive(Debug, Clone, Copy)]
pub struct Query<'q> {
    /// At most 4,096 terms.
    pub terms: &'q [QueryTerm],
    /// The constants of the formula.
    pub parameters: Parameters,
    /// The statistics of the index, of the same transaction.
    pub statistics: Statistics,
}

/// The contribution of one term of a query to the score of a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contribution {
    /// The term as it was asked for.
    pub term: QueryTerm,
    /// How many documents have it.
    pub frequency: u64,
    /// Its inverse document frequency.
    pub idf: f64,
    /// How often this document has it: 0 if it does not.
    pub count: u8,
    /// The length of this document.
    pub length: u32,
    /// Its contribution, in units of 2^-32.
    pub score: i64,
}

/// The hits of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// The documents.
    pub hits: Vec<Hit>,
    /// How many documents have each term, in the query's order.
    pub frequencies: Vec<u64>,
}

/// A snapshot of one index.
pub struct Reader<'p, P> {
    pub(super) pages: &'p P,
    pub(super) index: IndexId,
    pub(super) tail: Vec<Record<'p>>,
    pub(super) rows: Rows<'p, P>,
    /// The lists of terms whose frequency was asked for: mostly a search asks for them next.
    looked_up: RefCell<Vec<LookedUp<'p>>>,
}

/// A term, and its lists with the keys of their blocks.
type LookedUp<'p> = (u64, Vec<(&'p [u8], List<'p>)>);

impl<'p, P: Pages> Reader<'p, P> {
    /// Reads the tail, and nothing else yet.
    pub fn open(pages: &'p P, index: IndexId) -> Result<Self> {
        let tail = Tail::read(pages, index)?.records;
        let rows = Rows::new(pages, index, &tail);
        Ok(Self { pages, index, tail, rows, looked_up: RefCell::default() })
    }

    /// The attributes of a document; `None` if it is not present.
    pub fn row(&mut self, number: u32) -> Result<Option<Row>> {
        Ok(self.rows.row(number)?.filter(Row::is_present))
    }

    /// The length that `number` is scored with, which is stored apart from its row.
    pub fn length(&mut self, number: u32) -> Result<u32> {
        self.rows.length(number)
    }

    /// The numbers that have `hash` as a term or key, ascending: also of documents that are gone and left the key.
    pub fn find(&self, hash: u64) -> Result<Vec<u32>> {
        let mut numbers = Vec::new();
        let mut run = Run::new();
        lookup::lists(self.pages, self.index.postings(), hash, &mut None, |key, list| {
            numbers_of(list, &mut run, &mut numbers)?.ok_or_else(|| layout::malformed(key))
        })?;
        for record in self.tail.iter().filter(|record| record.hashes().any(|other| other == hash)) {
            let place = numbers.partition_point(|&number| number < record.number);
            let found = numbers.get(place) == Some(&record.number);
            match record.kind {
                kind if kind.adds() && !found => numbers.insert(place, record.number),
                kind if !kind.adds() && found => drop(numbers.remove(place)),
                _ => {}
            }
        }
        Ok(numbers)
    }

    /// How many documents have a term.
    pub fn frequency(&self, hash: u64) -> Result<u64> {
        let (mut lists, mut count) = (Vec::new(), 0_u64);
        lookup::lists(self.pages, self.index.postings(), hash, &mut None, |key, list| {
            count += lookup::postings_of(key, list)?;
            lists.push((key, list));
            Ok(())
        })?;
        self.looked_up.borrow_mut().push((hash, lists));
        Ok(count.saturating_add_signed(more_of(&self.tail, hash)))
    }

    /// A cursor over the postings of a term, which is looked up in the blocks of the index unless it was before.
    fn cursor(&self, hash: u64, blocks: &mut [(BlockKeys, Met<'p>)]) -> Result<Cursor<'p>> {
        match self.looked_up.borrow().iter().find(|(known, _)| *known == hash) {
            Some((_, lists)) => Cursor::over(lists),
            None => Cursor::open(self.pages, blocks, hash),
        }
    }

    /// How many documents have each of these terms.
    pub fn frequencies(&self, hashes: &[u64]) -> Result<Vec<u64>> {
        let places = in_order(hashes);
        let sorted: Vec<u64> = places.iter().map(|place| hashes[*place]).collect();
        let tail = TailMatches::new(&self.tail, &sorted);
        let (mut frequencies, mut counts) = (vec![0; hashes.len()], vec![0; hashes.len()]);
        lookup::count(self.pages, self.index.postings(), &sorted, &mut counts)?;
        for (at, place) in places.into_iter().enumerate() {
            frequencies[place] = counts[at].saturating_add_signed(tail.more[at]);
        }
        Ok(frequencies)
    }

    /// Every document whose score is not 0, by number: all that have a term of the query with a weight.
    pub fn score_all(&mut self, query: &Query<'_>) -> Result<Found> {
        let mut hits = Vec::new();
        let frequencies = self.collect(query, &mut All(&mut hits))?;
        if !hits.is_sorted_by_key(|hit| hit.number) {
            hits.sort_unstable_by_key(|hit| hit.number);
        }
        Ok(Found { hits, frequencies })
    }

    /// The `limit` best documents that `keep` lets through, best first; of equal scores the smaller number.
    ///
    /// Exactly what sorting [`Self::score_all`] gives; `keep` sees only documents that would enter the result.
    pub fn top_k(&mut self, query: &Query<'_>, limit: usize, keep: impl FnMut(u32, &Row) -> bool) -> Result<Found> {
        let mut best = Best::new(limit, keep);
        let frequencies = self.collect(query, &mut best)?;
        Ok(Found { hits: best.into_hits(), frequencies })
    }

    /// The contribution of each term of the query to the score of `number`, in the query's order; empty if it is not present.
    pub fn explain(&mut self, query: &Query<'_>, number: u32) -> Result<Vec<Contribution>> {
        let Some(row) = self.row(number)? else { return Ok(Vec::new()) };
        let (mut terms, tail) = self.prepare(query)?;
        let formula = Formula::new(query.parameters, query.statistics);
        let newer = tail.documents.iter().find(|document| document.number == number);
        let mut contributions = Vec::with_capacity(terms.len());
        for (at, term) in terms.iter_mut().enumerate() {
            let count = match newer {
                Some(document) => document.counts.iter().find(|(term, _)| *term == at).map(|(_, count)| *count),
                None => term.cursor.count_at(number)?,
            }
            .unwrap_or(0);
            let (asked, frequency) = (term.asked, term.frequency);
            let score = formula.contribution(formula.factor(asked.weight, frequency), count, row.length);
            let idf = formula.idf(frequency);
            contributions.push((term.place, Contribution { term: asked, frequency, idf, count, length: row.length, score }));
        }
        contributions.sort_unstable_by_key(|(place, _)| *place);
        Ok(contributions.into_iter().map(|(_, contribution)| contribution).collect())
    }

    /// The score of each of these documents, whose numbers ascend; 0 where it is not present.
    pub fn scores_of(&mut self, query: &Query<'_>, numbers: &[u32]) -> Result<Vec<i64>> {
        let (mut terms, tail) = self.prepare(query)?;
        let formula = Formula::new(query.parameters, query.statistics);
        let factors: Vec<f64> = terms.iter().map(|term| formula.factor(term.asked.weight, term.frequency)).collect();
        let mut scores = Vec::with_capacity(numbers.len());
        for &number in numbers {
            let mut score = 0;
            if let Some(row) = self.row(number)? {
                let newer = tail.documents.iter().find(|document| document.number == number);
                for (at, (term, factor)) in terms.iter_mut().zip(&factors).enumerate() {
                    let count = match newer {
                        Some(document) => document.counts.iter().find(|(term, _)| *term == at).map(|(_, count)| *count),
                        None => term.cursor.count_at(number)?,
                    };
                    score += count.map_or(0, |count| formula.contribution(*factor, count, row.length));
                }
            }
            scores.push(score);
        }
        Ok(scores)
    }

    fn collect<C: Collector<Rows<'p, P>>>(&mut self, query: &Query<'_>, collector: &mut C) -> Result<Vec<u64>> {
        let (terms, tail) = self.prepare(query)?;
        let mut frequencies = vec![0; terms.len()];
        for term in &terms {
            frequencies[term.place] = term.frequency;
        }
        let formula = Formula::new(query.parameters, query.statistics);
        let factors: Vec<f64> = terms.iter().map(|term| formula.factor(term.asked.weight, term.frequency)).collect();
        for document in &tail.documents {
            self.offer_newer(document, &factors, &formula, collector)?;
        }
        let postings: u64 = terms.iter().map(|term| term.frequency).sum();
        collector.reserve(postings.min(query.statistics.documents));
        let found = terms.into_iter().zip(factors).filter(|(term, _)| term.cursor.postings() > 0);
        let mut scorers: Vec<_> = found.map(|(term, factor)| Scorer { cursor: term.cursor, factor }).collect();
        search(&mut scorers, query.statistics.documents, &formula, &mut self.rows, &tail.removed, collector)?;
        Ok(frequencies)
    }

    fn offer_newer<C: Collector<Rows<'p, P>>>(
        &mut self,
        document: &Newer,
        factors: &[f64],
        formula: &Formula,
        collector: &mut C,
    ) -> Result<()> {
        if document.counts.is_empty() {
            return Ok(());
        }
        let Newer { number, length, .. } = *document;
        let score = document.counts.iter().map(|&(term, count)| formula.contribution(factors[term], count, length)).sum();
        if score > 0 && score >= collector.threshold() { collector.offer(Hit { number, score }, &mut self.rows) } else { Ok(()) }
    }

    /// The query's terms by hash, and what the tail says of them.
    fn prepare(&self, query: &Query<'_>) -> Result<(Vec<Term<'p>>, TailMatches)> {
        validate(query.terms)?;
        let mut places: Vec<usize> = (0..query.terms.len()).collect();
        places.sort_by_key(|&place| query.terms[place].hash);
        let hashes: Vec<u64> = places.iter().map(|&place| query.terms[place].hash).collect();
        let tail = TailMatches::new(&self.tail, &hashes);
        let (mut terms, mut blocks) = (Vec::with_capacity(places.len()), [(self.index.postings(), None)]);
        for (at, &place) in places.iter().enumerate() {
            let cursor = self.cursor(hashes[at], &mut blocks)?;
            let frequency = cursor.postings().saturating_add_signed(tail.more[at]);
            terms.push(Term { asked: query.terms[place], place, frequency, cursor });
        }
        Ok((terms, tail))
    }
}

pub(super) fn validate(terms: &[QueryTerm]) -> Result<()> {
    if terms.len() > MAX_QUERY_TERMS {
        let message = format!("searching: a query has at most {MAX_QUERY_TERMS} terms, got {}: ask a shorter question", terms.len());
        return Err(Error::invalid(message).with("terms", terms.len()));
    }
    match terms.iter().find(|term| !(0.0..=MAX_WEIGHT).contains(&term.weight)) {
        None => Ok(()),
        Some(term) => {
            let message = format!(
                "searching: a term's weight must be a number from 0 to {MAX_WEIGHT}, got {}: give 1 for an ordinary term",
                term.weight
            );
            Err(Error::invalid(message).with("weight", f64::from(term.weight)))
        }
    }
}

/// Appends the numbers of a list. The inner result is `None` where its bytes are not a list.
fn numbers_of(list: List<'_>, run: &mut Run, numbers: &mut Vec<u32>) -> Result<Option<()>> {
    match list {
        List::Short(bytes) => Ok(decode_short(bytes, |posting| numbers.push(posting.number))),
        List::Packed(packed) => {
            for at in 0..packed.runs() {
                let Some(()) = packed.head(at)?.decode(packed.bytes_from(at)?, run) else { return Ok(None) };
                numbers.extend_from_slice(&run.numbers[..run.len]);
            }
            Ok(Some(()))
        }
    }
}

/// A term of a query, found.
struct Term<'p> {
    asked: QueryTerm,
    /// Where it stands in the query.
    place: usize,
    frequency: u64,
    cursor: Cursor<'p>,
}
