//! Of two memories that say otherwise, undecided (`Memory::disputes`), the newer stands first, and the older says when something newer
//! was said. Both stay in the answer: the reader decides. A newer one that the question does not find by itself stands right behind the
//! older one, for which alone the question speaks.

use std::cmp::Reverse;

use super::fusion::Parts;
use super::ranking::memories::DISPUTED_SHARE;
use super::{Hit, Request, tokens_of};
use crate::Result;
use crate::memory::{Memory, record};
use crate::store::keys::Partition;
use crate::store::pages::Pages;

/// Words before the id of an older memory, in the relation of one that stands behind it.
pub(super) const LATER: &str = "later than ";

/// Puts the newest of what disputes each memory, later than it, right behind it, where that is no better hit, and says at the older one when
/// something newer was said. The answer keeps its limits.
pub(super) fn bring<P: Pages>(pages: &P, partitions: &[Option<Partition>], request: &Request, hits: &mut Vec<Hit>) -> Result<()> {
    let related = |older: &Hit| format!("{LATER}{}, which it disputes", older.memory.id());
    let mut at = 0;
    while at < hits.len() {
        if let Some(newer) = newest(pages, partitions, request, &hits[at])? {
            hits[at].newer_at = hits[at].newer_at.max(Some(newer.occurred_at));
            let is_it = |hit: &Hit| hit.scope == hits[at].scope && hit.memory.number == newer.number;
            match hits.iter().position(is_it) {
                Some(place) if place > at => {
                    let (least, related) = (hits[at].parts.fixed, related(&hits[at]));
                    hits[at + 1..=place].rotate_right(1);
                    let raised = &mut hits[at + 1];
                    raised.parts.raise_to(least);
                    raised.score = raised.parts.score();
                    raised.leads_from(related);
                }
                None if at + 1 < request.limit && fits(request, hits, &newer) => {
                    hits.insert(at + 1, behind(&hits[at], newer, related(&hits[at])));
                }
                _ => {}
            }
        }
        at += 1;
    }
    Ok(())
}

impl Hit {
    /// Notes how it is related to an older one, before any other relation.
    pub(super) fn leads_from(&mut self, related: String) {
        self.related = Some(match self.related.take() {
            Some(known) => format!("{related}; {known}"),
            None => related,
        });
    }
}

/// A memory that stands behind an older one, for that alone; `related` says how both are related.
pub(super) fn behind(older: &Hit, newer: Memory, related: String) -> Hit {
    let Parts { prior, fixed, raised, .. } = *older.parts;
    let parts = Box::new(Parts { related: older.parts.relevance(), prior, fixed, raised, succeeds: true, ..Parts::default() });
    let (scope, score) = (older.scope, older.score);
    Hit { memory: newer, scope, score, parts, duplicates: Vec::new(), related: Some(related), newer_at: None, told_after: None }
}

/// Whether there are tokens for one more text, where the last of as many as are asked for makes room for it.
pub(super) fn fits(request: &Request, hits: &[Hit], one: &Memory) -> bool {
    let others = hits.iter().take(request.limit.saturating_sub(1));
    let used = || others.map(|hit| tokens_of(&hit.memory.text)).sum::<usize>() + tokens_of(&one.text);
    request.max_tokens.is_none_or(|most| used() <= most)
}

/// The newest current memory that disputes a hit, is later, and may be an answer.
fn newest<P: Pages>(pages: &P, partitions: &[Option<Partition>], request: &Request, old: &Hit) -> Result<Option<Memory>> {
    let Some(partition) = partitions.get(old.scope).copied().flatten().filter(|_| old.memory.ending.is_none()) else { return Ok(None) };
    let told = |memory: &Memory| (memory.occurred_at, memory.number);
    let mut newest: Option<Memory> = None;
    for number in &old.memory.provenance.disputes {
        let other = record::current(pages, partition, *number)?.filter(|other| request.filter.keeps_memory(other));
        let is_later = |other: &Memory| told(other) > told(newest.as_ref().unwrap_or(&old.memory)) && other.trust >= old.memory.trust;
        newest = other.filter(is_later).or(newest);
    }
    Ok(newest)
}

/// Puts the newest of what disputes each memory before it, among those that are answered with.
pub(super) fn lift(hits: &mut [Hit]) {
    let mut is_lifted = false;
    for older in 0..hits.len() {
        if hits[older].memory.provenance.disputes.is_empty() {
            continue;
        }
        let Some(newer) = newest_against(hits, older) else { continue };
        hits[older].newer_at = hits[older].newer_at.max(Some(hits[newer].memory.occurred_at));
        let least = hits[older].parts.fixed;
        hits[newer].parts.raise_to(least);
        hits[newer].score = hits[newer].parts.score();
        is_lifted = true;
    }
    if is_lifted {
        hits.sort_by_key(|hit| Reverse((hit.parts.fixed, hit.parts.is_raised))); // stable: others stay as they ranked
    }
}

/// The newest of the hits that say otherwise than one, and later.
fn newest_against(hits: &[Hit], older: usize) -> Option<usize> {
    let old = &hits[older];
    let is_newer = |new: &Hit| {
        new.scope == old.scope
            && old.memory.provenance.disputes.contains(&new.memory.number)
            && (new.memory.occurred_at, new.memory.number) > (old.memory.occurred_at, old.memory.number)
            && new.memory.ending.is_none()
            && old.memory.ending.is_none()
            && new.parts.fixed.saturating_mul(100) >= old.parts.fixed.saturating_mul(DISPUTED_SHARE)
    };
    let newer = hits.iter().enumerate().filter(|(_, new)| is_newer(new));
    newer.max_by_key(|(_, new)| (new.memory.occurred_at, new.memory.number)).map(|(at, _)| at)
}
