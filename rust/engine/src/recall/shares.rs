//! Who has which places of an answer: what nobody vouches for must not take all of them.
//!
//! A web page or an upload can be stuffed with the words of a question. So memories of trust 0
//! 1. leave half of the places to those that somebody vouches for, where such ones are about as good ([`REACH`] of the best score),
//! 2. have a quarter of the places for each source, two at least.
//!
//! What says the same as a better one is put to it first ([`super::same`]). Places that stay free go to those that waited, so an
//! answer is never shorter for it, and its order stays that of the scores.

use std::collections::BTreeMap;

use super::{Hit, same};

/// A candidate with at least this share of the best score is about as good: one part in so many.
const REACH: i64 = 4;

/// The hits of an answer while they are chosen, each with its rank.
pub(super) struct Chosen {
    limit: usize,
    ranks: usize,
    /// Places of memories of trust 0, and of one source of theirs.
    untrusted: usize,
    of_source: usize,
    by_source: BTreeMap<(usize, String), usize>,
    taken: Vec<(usize, Hit)>,
    waiting: Vec<(usize, Hit)>,
    said: BTreeMap<(usize, u64), usize>,
}

impl Chosen {
    /// None yet, of these.
    pub fn new(limit: usize, ranked: &[Hit]) -> Self {
        let best = ranked.first().map_or(0, |hit| hit.parts.fixed);
        let good = ranked.iter().filter(|hit| hit.memory.trust > 0 && hit.parts.fixed.saturating_mul(REACH) >= best).count();
        Self {
            limit,
            ranks: 0,
            untrusted: limit - good.min(limit.div_ceil(2)),
            of_source: limit.div_ceil(4).max(2),
            by_source: BTreeMap::new(),
            taken: Vec::new(),
            waiting: Vec::new(),
            said: BTreeMap::new(),
        }
    }

    /// Whether no better answer can come.
    pub fn is_full(&self) -> bool {
        self.taken.len() >= self.limit
    }

    /// The next hit by rank: it is taken, waits for a free place, or says the same as one before.
    pub fn offer(&mut self, hit: Hit) {
        self.ranks += 1;
        if let Some(signature) = same::signature(&hit.memory) {
            if let Some(first) = self.said.get(&(hit.scope, signature)) {
                let all = self.taken.iter_mut().chain(&mut self.waiting);
                if let Some((_, first)) = all.into_iter().find(|(rank, _)| rank == first) {
                    first.duplicates.push(hit.memory.id());
                }
                return;
            }
            self.said.insert((hit.scope, signature), self.ranks);
        }
        if self.admits(&hit) { self.taken.push((self.ranks, hit)) } else { self.waiting.push((self.ranks, hit)) }
    }

    fn admits(&mut self, hit: &Hit) -> bool {
        if hit.memory.trust > 0 {
            return true;
        }
        let of_source = self.by_source.entry((hit.scope, hit.memory.source.clone())).or_default();
        if self.untrusted == 0 || *of_source >= self.of_source {
            return false;
        }
        (self.untrusted, *of_source) = (self.untrusted - 1, *of_source + 1);
        true
    }

    /// The hits in the order of their ranks.
    pub fn hits(mut self) -> Vec<Hit> {
        let room = self.limit.saturating_sub(self.taken.len());
        self.taken.extend(self.waiting.into_iter().take(room));
        self.taken.sort_by_key(|(rank, _)| *rank);
        self.taken.into_iter().map(|(_, hit)| hit).collect()
    }
}
