//! From what was nominated to what is answered with: the best candidates with their records, which are read where they lie. Only what is
//! answered with is copied.

use std::cmp::Reverse;

use super::candidates::{Candidate, Nominated};
use super::fusion::{self, Parts};
use super::priors::Moment;
use super::ranking::memories::newest::MOST_REPLACED;
use super::{Asked, Hit, newest};
use crate::Result;
use crate::embedding;
use crate::memory::{Outline, Stored};
use crate::store::keys::Partition;
use crate::store::pages::Pages;

/// The best candidates in their first order, with their records.
pub(super) struct Ranked<'p> {
    candidates: Vec<(Candidate, Parts)>,
    /// The record of each candidate; `None` of what is not current, which the candidate has itself.
    records: Vec<Option<Stored<'p>>>,
    /// Whether some that were nominated are not among them.
    is_cut: bool,
}

/// A memory that may be answered with.
#[derive(Debug, Clone)]
pub(super) struct Contender<'m> {
    /// The fields that rank it.
    pub memory: Outline<'m>,
    /// Its place among what was ranked.
    at: usize,
    /// Place of its scope in the request.
    pub scope: usize,
    /// Where its score comes from: much, and contenders are moved often.
    pub parts: Box<Parts>,
    /// The ids of memories that were left out because they say the same.
    pub duplicates: Vec<String>,
    /// When something newer was said of the same thing, if it was.
    pub newer_at: Option<i64>,
}

impl<'p> Ranked<'p> {
    /// The best candidates of what was nominated, which is taken out of `found`.
    pub fn new<P: Pages>(
        snapshot: &'p P,
        found: &mut Nominated,
        asked: &Asked<'_>,
        moment: &Moment,
        partitions: &[Option<Partition>],
    ) -> Result<Self> {
        let candidates = std::mem::take(&mut found.candidates);
        let nominated = candidates.len();
        let exact = |candidate: &Candidate| exact(snapshot, found, asked, candidate);
        let candidates = fusion::rank(fusion::weight_of_words(found.identified), asked.depth, moment, candidates, exact)?;
        let records = records(snapshot, partitions, &candidates)?;
        Ok(Self { is_cut: candidates.len() < nominated, candidates, records })
    }

    /// Whether more was nominated than is ranked.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// All of them but those that only a `built_in` vector speaks for which says nothing.
    pub fn contenders(&self, built_in: bool) -> Result<Vec<Contender<'_>>> {
        let mut contenders = Vec::with_capacity(self.candidates.len());
        for (at, ((candidate, parts), record)) in self.candidates.iter().zip(&self.records).enumerate() {
            let memory = match (record, &candidate.past) {
                (Some(record), _) => record.outline()?,
                (None, Some(past)) => Outline::of(past),
                (None, None) => continue,
            };
            let (scope, parts) = (candidate.scope, Box::new(*parts));
            let contender = Contender { memory, at, scope, parts, duplicates: Vec::new(), newer_at: None };
            if !(built_in && is_misjudged(&contender)) {
                contenders.push(contender);
            }
        }
        Ok(contenders)
    }

    /// The hit for an answer, with its whole record.
    pub fn hit(&self, contender: Contender<'_>) -> Result<Option<Hit>> {
        let Contender { at, scope, parts, duplicates, newer_at, .. } = contender;
        let (candidate, _) = &self.candidates[at];
        let memory = match (&self.records[at], &candidate.past) {
            (Some(record), _) => record.memory()?,
            (None, Some(past)) => past.as_ref().clone(),
            (None, None) => return Ok(None),
        };
        let related = candidate.related.as_ref().map(|related| related.path.clone());
        Ok(Some(Hit { memory, scope, score: parts.score(), parts, duplicates, related, newer_at, told_after: None }))
    }
}

/// The record of each candidate that is current. They are read in the order of their keys, in which they lie.
fn records<'p, P: Pages>(
    snapshot: &'p P,
    partitions: &[Option<Partition>],
    candidates: &[(Candidate, Parts)],
) -> Result<Vec<Option<Stored<'p>>>> {
    let mut order: Vec<usize> = (0..candidates.len()).filter(|at| candidates[*at].0.past.is_none()).collect();
    order.sort_unstable_by_key(|at| (candidates[*at].0.scope, candidates[*at].0.number));
    let mut records: Vec<Option<Stored<'p>>> = candidates.iter().map(|_| None).collect();
    for at in order {
        let candidate = &candidates[at].0;
        let partition = partitions.get(candidate.scope).copied().flatten().unwrap_or_default();
        records[at] = Some(Stored::read(snapshot, partition, candidate.number)?);
    }
    Ok(records)
}

/// The exact cosine of a candidate, where it has a vector.
fn exact<P: Pages>(snapshot: &P, found: &Nominated, asked: &Asked<'_>, candidate: &Candidate) -> Result<Option<i32>> {
    let Some(searched) = found.sets.get(candidate.scope).copied().flatten().filter(|_| candidate.dense.is_some()) else { return Ok(None) };
    found.question(asked, searched).map_or(Ok(None), |question| searched.set.cosine(snapshot, candidate.number, question))
}

/// Whether only a vector of the built-in embedding speaks for a memory that it knows nothing of: versions up to 0.3.0 stored one all the
/// same.
fn is_misjudged(one: &Contender<'_>) -> bool {
    let by_vector = one.parts.lexical == 0 && one.parts.dense.is_some() && one.parts.related == 0.0;
    by_vector && !one.memory.tokens.surely_know(one.memory.text) && !embedding::knows(one.memory.text)
}

/// Score descending, what was raised to it first and the newest of these, then scope, then number, then the newest revision: no two are equal.
pub(super) fn sort(contenders: &mut Vec<Contender<'_>>) {
    let key = |(at, one): (usize, &Contender<'_>)| {
        let place = (one.scope, one.memory.number, Reverse(one.memory.revision));
        let raised = one.parts.is_raised.then_some(one.memory.occurred_at);
        (Reverse((one.parts.fixed, raised)), place, at)
    };
    let mut keys: Vec<_> = contenders.iter().enumerate().map(key).collect();
    if keys.is_sorted() {
        return;
    }
    keys.sort_unstable();
    let order: Vec<usize> = keys.into_iter().map(|(_, _, at)| at).collect();
    put_in_order(contenders, order);
}

/// Puts the newer first of what holds, is of one scope and has one score, in places that these have already; of one time the last, and
/// before all the more trusted. More than [`MOST_REPLACED`] of them do not have to be values of one thing, and stay as they are.
pub(super) fn newest_of_equals(contenders: &mut [Contender<'_>]) {
    let key = |one: &Contender<'_>| (one.parts.fixed, one.parts.is_raised, one.scope);
    let mut order: Vec<usize> = (0..contenders.len()).collect();
    let mut end = 0;
    for run in contenders.chunk_by(|one, next| key(one) == key(next)) {
        end += run.len();
        if run.len() == 1 {
            continue; // as most are
        }
        let lasts = |at: &usize| newest::lasts(&contenders[*at].memory) && !contenders[*at].parts.is_raised;
        let places: Vec<usize> = (end - run.len()..end).filter(lasts).collect();
        if places.len() > MOST_REPLACED {
            continue;
        }
        let mut newest = places.clone();
        newest.sort_by_key(|at| {
            let memory = &contenders[*at].memory;
            Reverse((memory.trust, memory.occurred_at, memory.number, memory.revision))
        });
        places.into_iter().zip(newest).for_each(|(place, from)| order[place] = from);
    }
    put_in_order(contenders, order);
}

/// Puts each of `all` in its place: `order` has where each place is filled from. They are large, so that each is moved as seldom as can be.
fn put_in_order<T>(all: &mut [T], mut order: Vec<usize>) {
    for first in 0..order.len() {
        let mut at = first;
        while order[at] != first {
            let from = order[at];
            all.swap(at, from);
            (order[at], at) = (at, from);
        }
        order[at] = at;
    }
}

#[cfg(test)]
mod tests {
    use super::put_in_order;

    #[test]
    fn each_place_is_filled_from_where_the_order_says() {
        for count in 0..7_usize {
            for turn in 0..5_040_usize {
                let (mut left, mut rest): (Vec<usize>, usize) = ((0..count).collect(), turn);
                let order: Vec<usize> = (1..=count).rev().map(|of| (left.remove(rest % of), rest /= of).0).collect();
                let mut all: Vec<usize> = (0..count).collect();
                put_in_order(&mut all, order.clone());
                assert_eq!(all, order);
            }
        }
    }
}
