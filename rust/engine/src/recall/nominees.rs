//! Who of one scope is nominated: the best by words, the nearest, what was told beside them, and all that hold every identifier or name a
//! day that is asked about.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::dated;
use super::explain::LexicalQuery;
use super::filter::Filter;
use super::ranking::NEAR;
use super::ranking::memories::{FEWEST, PER_ANSWER};
use super::related::Related;
use super::when::Range;
use super::{Asked, Request};
use crate::Result;
use crate::index::bm25::{Hit, Reader, Row};
use crate::index::vectors::graph::Nearest;
use crate::index::vectors::{Query, VectorSet};
use crate::memory::{Kind, Stored};
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::units::score::SCORE_ONE;

/// Up to so many memories of a scope, every one that has a word of the question is scored; above, only the best.
const SCORED_WHOLE: u64 = 20_000;

/// Who is nominated in a scope, and what it was scored by.
pub(super) struct Nominees {
    /// In no order, some more than once.
    pub numbers: Vec<u32>,
    pub lexical: Lexical,
    pub dense: Nearest,
    /// Those that hold every identifier of the question, by number.
    pub holders: Vec<u32>,
    /// Those that name a day of the time that is asked about, with that day.
    pub dated: BTreeMap<u32, i64>,
    /// One of the holders may be found.
    pub identified: bool,
}

/// One scope's search and what it filters by.
pub(super) struct ScopeSearch<'s, P> {
    snapshot: &'s P,
    request: &'s Request,
    /// How many answers candidates are nominated for.
    depth: usize,
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

impl<'s, P: Pages> ScopeSearch<'s, P> {
    /// A search of the scope in `partition`.
    pub fn new(snapshot: &'s P, asked: &Asked<'s>, filter: &'s Filter, partition: Partition) -> Self {
        let Asked { request, depth, .. } = *asked;
        Self { snapshot, request, depth, filter, partition, within: None, vouched: false, has_metadata: Vec::new(), failed: None }
    }

    /// Whether a memory may be found.
    fn keeps(&mut self, number: u32, row: &Row) -> bool {
        let filter = self.filter;
        if self.vouched && row.trust == 0 || !filter.keeps_row(row) || self.within.is_some_and(|range| !range.contains(row.occurred_at)) {
            return false;
        }
        filter.metadata.is_empty() || self.has_metadata(number)
    }

    /// Whether a memory has the metadata that the question asks for. Its record is read once.
    fn has_metadata(&mut self, number: u32) -> bool {
        let place = number as usize;
        if let Some(Some(known)) = self.has_metadata.get(place) {
            return *known;
        }
        let has = has_metadata(self.snapshot, self.partition, self.filter, number).unwrap_or_else(|error| {
            self.failed.get_or_insert(error);
            false
        });
        if self.has_metadata.len() <= place {
            self.has_metadata.resize(place + 1, None);
        }
        self.has_metadata[place] = Some(has);
        has
    }

    /// The best by words and by vectors, of the time that was asked about as many again (it may have none among the best of all times), what
    /// was told beside them, and all that hold every identifier.
    pub fn nominees(
        &mut self,
        reader: &mut Reader<'_, P>,
        query: &mut LexicalQuery,
        compared: Option<(VectorSet, &Query)>,
    ) -> Result<Nominees> {
        let wanted = self.depth.saturating_mul(PER_ANSWER).max(FEWEST);
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
        let dated = dated::named(self.snapshot, reader, self.partition, query.key(), self.request.filter.preferred)?;
        let of_days: Vec<u32> = dated.keys().copied().collect();
        numbers.extend(self.first_found(reader, &of_days)?);
        let holders = with_every_identifier(reader, query)?;
        let found = self.first_found(reader, &holders)?;
        let identified = !found.is_empty();
        numbers.extend(found);
        Ok(Nominees { numbers, lexical, dense, holders, dated, identified })
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
        let mut numbers = self.lexical_within(reader, query, lexical, self.depth)?;
        let near = self.dense(reader, compared, dense, self.depth)?;
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
    pub fn retain_found(&mut self, reader: &mut Reader<'_, P>, related: &mut BTreeMap<u32, Related>) -> Result<()> {
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

    /// The first of some that may be found: always candidates, however they score.
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

/// Whether a current memory has the metadata that a filter asks for. Its record is read where it lies.
pub(super) fn has_metadata<P: Pages>(snapshot: &P, partition: Partition, filter: &Filter, number: u32) -> Result<bool> {
    let Some(stored) = Stored::find(snapshot, partition, number)? else { return Ok(false) };
    Ok(filter.keeps_metadata(stored.outline()?.metadata))
}

/// The numbers before and behind one.
pub(super) fn beside(number: u32) -> [Option<u32>; 2] {
    [number.checked_sub(1), number.checked_add(1)]
}

/// The value of `of` for another memory, where both are events of one time that were written one behind the other: a conversation, told
/// turn by turn. 0 where they are not.
pub(super) fn told_together<P: Pages>(
    reader: &mut Reader<'_, P>,
    row: &Row,
    other: Option<u32>,
    of: impl FnOnce(u32) -> i64,
) -> Result<i64> {
    let Some(other) = other.filter(|_| row.kind == Kind::Episodic as u8) else { return Ok(0) };
    let is_told = reader.row(other)?.is_some_and(|beside| beside.kind == row.kind && beside.occurred_at == row.occurred_at);
    Ok(if is_told { of(other) } else { 0 })
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
pub(super) struct Lexical {
    /// The best that the filter lets through.
    best: Vec<Hit>,
    /// Every score, by number, where the scope is small enough.
    all: Option<Vec<Hit>>,
}

impl Lexical {
    /// The score of a memory, where it was scored; 0 where it was not.
    pub fn known(&self, number: u32) -> i64 {
        match &self.all {
            Some(all) => all.binary_search_by_key(&number, |hit| hit.number).map_or(0, |at| all[at].score),
            None => self.best.iter().find(|hit| hit.number == number).map_or(0, |hit| hit.score),
        }
    }

    /// The scores of memories, whose numbers ascend.
    pub fn scores<P: Pages>(&self, reader: &mut Reader<'_, P>, query: &LexicalQuery, numbers: &[u32]) -> Result<Vec<i64>> {
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
