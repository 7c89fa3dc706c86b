//! The places of an answer: memories that nobody vouches for must not take all of them.
//!
//! A web page or an upload can be stuffed with the words of a question. So memories of trust 0
//! 1. leave half of the places to vouched-for memories, where these are about as good ([`REACH`] of the best score),
//! 2. take at most a quarter of the places for each source, but two at least.
//!
//! A memory that says the same as a better one is first listed as its duplicate ([`super::same`]). Places that stay free go to the memories
//! that waited. So an answer never gets shorter, and its order stays that of the scores.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::contenders::Contender;
use super::same;
use crate::memory::Outline;

/// A candidate with at least this share of the best score is about as good: one part in so many.
const REACH: i64 = 4;

/// The hits of an answer while they are chosen, each with its rank.
pub(super) struct Chosen<'m> {
    limit: usize,
    ranks: usize,
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
        let good = ranked.iter().filter(|hit| hit.memory.trust > 0 && hit.parts.fixed.saturating_mul(REACH) >= best).count();
        Self {
            limit,
            ranks: 0,
            untrusted: limit - good.min(limit.div_ceil(2)),
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

    /// The hits in the order of their ranks.
    pub fn contenders(mut self) -> Vec<Contender<'m>> {
        let room = self.limit.saturating_sub(self.taken.len());
        self.taken.extend(self.waiting.into_iter().take(room));
        self.taken.sort_by_key(|(rank, _)| *rank);
        self.taken.into_iter().map(|(_, hit)| hit).collect()
    }
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
