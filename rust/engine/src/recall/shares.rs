//! The places of an answer: memories that nobody vouches for must not take all of them.
//!
//! A web page or an upload can be stuffed with the words of a question. So memories of trust 0
//! 1. leave half of the places to vouched-for memories that answer by themselves ([`is_sure`]), whatever the scores are: these are measured
//!    by the best vouched-for memory ([`REACH`] of its score). Of an odd number the place in the middle is left to one that is about as good
//!    as the best of all,
//! 2. take at most a quarter of the places for each source, but two at least,
//! 3. leave room in the tokens of an answer for those that have such a place, up to half of it.
//!
//! A memory that says the same as a better one is first listed as its duplicate ([`super::same`]). Places that stay free go to the memories
//! that waited. So an answer never gets shorter, and its order stays that of the scores.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::contenders::Contender;
use super::fusion::Parts;
use super::same;
use super::sure::confidence;
use super::tokens_of;
use crate::memory::Outline;
use crate::recall::ranking::SURE_ENOUGH;
use crate::recall::ranking::memories::REACH;

/// Whether a memory answers by what it says, compared with no other, so that it has a place among better ones that nobody vouches for. Nobody
/// who copies the words of a question changes that.
pub(crate) fn is_sure(memory: &str, parts: &Parts) -> bool {
    parts.is_relevant() && (parts.closer.is_none() || confidence(None, memory, parts) >= SURE_ENOUGH)
}

/// The hits of an answer while they are chosen, each with its rank.
pub(super) struct Chosen<'m> {
    limit: usize,
    /// Places that are left to those that somebody vouches for.
    kept: usize,
    ranks: usize,
    /// Those that said the same as one before.
    copies: usize,
    /// Places of memories of trust 0, and of one source of theirs.
    untrusted: usize,
    of_source: usize,
    by_source: BTreeMap<(usize, &'m str), usize>,
    taken: Vec<(usize, Contender<'m>)>,
    waiting: Vec<(usize, Contender<'m>)>,
    distinct: Distinct<'m>,
}

impl<'m> Chosen<'m> {
    /// None yet, of these.
    pub fn new(limit: usize, ranked: &[Contender<'m>]) -> Self {
        let best = ranked.first().map_or(0, |hit| hit.parts.fixed);
        let vouched = || ranked.iter().filter(|hit| hit.memory.trust > 0);
        let best_vouched = vouched().map(|hit| hit.parts.fixed).max().unwrap_or(0);
        let reaches = |hit: &Contender<'_>, best: i64| hit.parts.fixed.saturating_mul(REACH) >= best;
        let good = vouched().filter(|hit| reaches(hit, best)).count().min(limit.div_ceil(2));
        let sure = if good == limit.div_ceil(2) || good == vouched().count() {
            good
        } else {
            vouched().filter(|hit| reaches(hit, best_vouched) && is_sure(hit.memory.text, &hit.parts)).count().min(limit / 2)
        };
        Self {
            limit,
            kept: good.max(sure),
            ranks: 0,
            copies: 0,
            untrusted: limit - good.max(sure),
            of_source: limit.div_ceil(4).max(2),
            by_source: BTreeMap::new(),
            taken: Vec::with_capacity(limit.min(ranked.len())),
            waiting: Vec::new(),
            distinct: Distinct::default(),
        }
    }

    /// Whether no better answer can come.
    pub fn is_full(&self) -> bool {
        self.taken.len() >= self.limit
    }

    /// The next hit by rank: it is taken, waits for a free place, or says the same as one before.
    pub fn offer(&mut self, hit: Contender<'m>) {
        self.ranks += 1;
        let before = self.distinct.before(&hit, self.ranks);
        if let Some(rank) = before {
            self.copies += 1;
            let all = self.taken.iter_mut().chain(&mut self.waiting);
            if let Some((_, first)) = all.into_iter().find(|(own, _)| *own == rank) {
                first.duplicates.push(hit.memory.id());
            }
            return;
        }
        if self.admits(&hit) { self.taken.push((self.ranks, hit)) } else { self.waiting.push((self.ranks, hit)) }
    }

    fn admits(&mut self, hit: &Contender<'m>) -> bool {
        if hit.memory.trust > 0 {
            return true;
        }
        let of_source = self.by_source.entry((hit.scope, hit.memory.source)).or_default();
        if self.untrusted == 0 || *of_source >= self.of_source {
            return false;
        }
        (self.untrusted, *of_source) = (self.untrusted - 1, *of_source + 1);
        true
    }

    /// How many said the same as one before.
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// How many places are left to those that somebody vouches for.
    pub fn kept(&self) -> usize {
        self.kept
    }

    /// The hits in the order of their ranks.
    pub fn contenders(mut self) -> Vec<Contender<'m>> {
        let room = self.limit.saturating_sub(self.taken.len());
        self.taken.extend(self.waiting.into_iter().take(room));
        self.taken.sort_by_key(|(rank, _)| *rank);
        self.taken.into_iter().map(|(_, hit)| hit).collect()
    }
}

/// Takes out the hits of trust 0 that leave no room in `most` tokens for the first `kept` that somebody vouches for, up to half of it. Where
/// no place is kept, all stay.
pub(super) fn leave_room(chosen: &mut Vec<Contender<'_>>, kept: usize, most: usize) {
    if kept == 0 || chosen.iter().all(|hit| hit.memory.trust > 0) {
        return;
    }
    let wanted: usize = chosen.iter().filter(|hit| hit.memory.trust > 0).take(kept).map(|hit| tokens_of(hit.memory.text)).sum();
    let mut left = most - wanted.min(most.div_ceil(2));
    chosen.retain(|hit| {
        if hit.memory.trust > 0 {
            return true;
        }
        let rest = left.checked_sub(tokens_of(hit.memory.text));
        left = rest.unwrap_or(left);
        rest.is_some()
    });
}

/// The first of each text that says something of its own, by rank. Most texts differ in their prints, and then nobody asks for their signatures.
#[derive(Default)]
struct Distinct<'m>(Vec<Once<'m>>);

struct Once<'m> {
    rank: usize,
    scope: usize,
    print: u64,
    memory: Outline<'m>,
    signature: OnceCell<Option<u64>>,
}

impl Once<'_> {
    fn signature(&self) -> Option<u64> {
        *self.signature.get_or_init(|| same::signature(&self.memory))
    }

    fn says(&self, other: &Self) -> bool {
        let may = self.scope == other.scope && (self.print == other.print || self.print == 0 || other.print == 0);
        may && self.signature().is_some_and(|own| other.signature() == Some(own))
    }
}

impl<'m> Distinct<'m> {
    /// The rank of the first that says the same as this one; if there is none, this is the first.
    fn before(&mut self, one: &Contender<'m>, rank: usize) -> Option<usize> {
        let (scope, memory) = (one.scope, one.memory);
        let once = Once { rank, scope, print: same::print(&memory), memory, signature: OnceCell::new() };
        let before = self.0.iter().find(|before| before.says(&once)).map(|before| before.rank);
        if before.is_none() {
            self.0.push(once);
        }
        before
    }
}
