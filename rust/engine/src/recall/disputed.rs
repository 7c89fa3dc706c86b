//! Of two memories that say otherwise, undecided (`Memory::disputes`), the newer stands first, and the older says when something newer
//! was said. Both stay in the answer: the reader decides.

use std::cmp::Reverse;

use super::Hit;
use super::ranking::memories::DISPUTED_SHARE;

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
