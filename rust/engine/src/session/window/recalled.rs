//! The memories that a question recalls, as items of a prompt: each with the score by which it competes for the room.
//!
//! A score is the recall's, weighed by how sure the answer is. Some are raised, so that the floor of a prompt does not part what belongs
//! together: what was told later of the same as a memory stands beside it, or the outdated one would stand alone.

use super::pinned;
use crate::Result;
use crate::context::limit::section;
use crate::context::{Form, Item};
use crate::memory::{Memory, record};
use crate::recall::ranking::memories::{NEWER_BESIDE, OF_LEAST};
use crate::recall::{self, Hit, Recall};
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::units::score::SCORE_UNIT;

/// How recalled memories become items.
pub(super) struct Recalled {
    /// The time now, microseconds since 1970 (UTC).
    pub now: i64,
    /// The least score of a memory that somebody vouches for, 0 to 1: above 0 for a question about the user's own life.
    pub least: f64,
    /// A memory that was told later of the same stands beside the one that led to it, however little of the question it has: not where the
    /// caller asks for surer ones.
    pub follows: bool,
}

impl Recalled {
    /// The memories of an answer with their scores: a best answer that answers nothing scores low. One that something newer was said of says
    /// when; one that another contradicts, undecided, says so.
    pub fn items<P: Pages>(&self, pages: &P, answer: &Recall, form: impl Fn(Partition) -> Form) -> Result<Vec<Item>> {
        let confidence = answer.confidence();
        let item = |hit: &Hit| {
            let partition = answer.partition_of(hit);
            let is_vouched = hit.memory.trust > 0;
            let (sure, least) = if is_vouched { (recall::least_sure(&hit.memory.text, &hit.parts), self.least) } else { (0.0, 0.0) };
            let score = (hit.score * confidence).max(least).max(sure * (OF_LEAST + (1.0 - OF_LEAST) * hit.score));
            let disputed = is_disputed(pages, partition, &hit.memory, self.now)?;
            let form = Form { newer_at: hit.newer_at, disputed, ..form(partition) };
            pinned::item(pages, partition, &hit.memory, section::RECALLED, Some((score * SCORE_UNIT) as i64), form)
        };
        let mut items: Vec<Item> = answer.hits.iter().map(item).collect::<Result<_>>()?;
        stand_beside(&answer.hits, &mut items);
        if self.follows {
            bring_told_later(&answer.hits, &mut items);
        }
        if self.least > 0.0 {
            bring_newer(&answer.hits, &mut items);
        }
        Ok(items)
    }
}

/// Gives what was told later of the same as a memory (`recall/later.rs`), or says that it is otherwise now, the score of that: "Hermes got
/// renamed to Switchboard" has no word of "what's the gateway called?", and "The gateway is called Hermes" alone is outdated.
fn bring_told_later(hits: &[Hit], items: &mut [Item]) {
    for (at, later) in hits.iter().enumerate() {
        let Some(number) = later.told_after.filter(|_| later.newer_at.is_none()) else { continue };
        let led = |hit: &Hit| hit.scope == later.scope && hit.memory.number == number;
        let least = hits.iter().position(led).and_then(|older| items[older].score);
        items[at].score = items[at].score.max(least);
    }
}

/// Gives what is newer than the surest memory, and shares a name with it, the score that it takes to stand beside it: "joost upped to 135" may
/// say what holds now of "accountant is Joost, charges 110".
fn bring_newer(hits: &[Hit], items: &mut [Item]) {
    let Some(best) = (0..hits.len()).max_by_key(|at| items[*at].score) else { return };
    let (surest, least) = (&hits[best].memory, items[best].score.map(|score| score / NEWER_BESIDE + 1));
    for (hit, item) in hits.iter().zip(items) {
        let is_newer = hit.memory.trust > 0 && hit.memory.occurred_at > surest.occurred_at;
        if is_newer && recall::shares_name(&hit.memory.text, &surest.text) {
            item.score = item.score.max(least);
        }
    }
}

/// Gives each memory that somebody vouches for, and that answers by itself, a score above that of the memory of trust 0 of the same rank: a
/// prompt that has room for half of them shows as many of the one sort as of the other.
fn stand_beside(hits: &[Hit], items: &mut [Item]) {
    let of_nobody: Vec<i64> =
        hits.iter().zip(&*items).filter(|(hit, _)| hit.memory.trust == 0).filter_map(|(_, item)| item.score).collect();
    let vouched = hits.iter().zip(items).filter(|(hit, _)| hit.memory.trust > 0 && recall::is_sure(&hit.memory.text, &hit.parts));
    for (other, (_, item)) in of_nobody.into_iter().zip(vouched) {
        item.score = item.score.max(Some(other + 1));
    }
}

/// Whether a memory that still holds says otherwise.
fn is_disputed<P: Pages>(pages: &P, partition: Partition, memory: &Memory, now: i64) -> Result<bool> {
    for other in &memory.provenance.disputes {
        if record::current(pages, partition, *other)?.is_some_and(|other| !other.is_expired(now)) {
            return Ok(true);
        }
    }
    Ok(false)
}
