//! Questions that reach back: revisions that were current then, scored by the words of today's statistics.
//!
//! No index has what is not current, so this reads the scope's whole history: O(revisions), only where `known_at` or `valid_at` asks for
//! it. It has no vectors.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::candidates::{Candidate, Nominated};
use super::explain::LexicalQuery;
use super::filter::Filter;
use super::priors::Attributes;
use super::ranking::WINDOW;
use crate::Result;
use crate::memory::{Memory, doubt_of, importance_of, record, said_again, slots};
use crate::store::keys::Partition;
use crate::store::pages::Pages;

/// Adds the revisions that held then and that share a word with the question. Of several values of one slot that held, the
/// newest event is the one that held last, unless the slot holds several values at a time.
pub(super) fn nominate<P: Pages>(
    snapshot: &P,
    filter: &Filter,
    place: usize,
    partition: Partition,
    query: &LexicalQuery,
    found: &mut Nominated,
) -> Result<()> {
    let multi: BTreeSet<String> = slots::list(snapshot, partition)?.into_iter().filter(|slot| slot.multi).map(|slot| slot.name).collect();
    let (mut held, mut by_slot) = (Vec::new(), BTreeMap::<String, Memory>::new());
    record::each_ended(snapshot, partition, &mut |memory| {
        if filter.keeps_past(&memory) {
            match memory.slot.clone().filter(|slot| !multi.contains(slot)) {
                None => held.push(memory),
                Some(slot) => {
                    let later =
                        by_slot.remove(&slot).filter(|other| (other.occurred_at, other.sequence) > (memory.occurred_at, memory.sequence));
                    by_slot.insert(slot, later.unwrap_or(memory));
                }
            }
        }
        ControlFlow::Continue(())
    })?;
    for memory in held.into_iter().chain(by_slot.into_values()) {
        let lexical: i64 = query.terms_of(&memory.text).iter().map(|term| term.score).sum();
        if lexical > 0 && filter.keeps_metadata(&memory.metadata) {
            let attributes = Attributes {
                kind: memory.kind,
                importance: importance_of(&memory),
                occurred_at: memory.occurred_at,
                recalls: 0, // counted by number, for the revision that is current
                doubt: doubt_of(&memory),
                said_again: said_again(&memory),
                names_day: false,
                trust: memory.trust,
            };
            let identified = query.has_every_identifier(&memory.text);
            let (number, past) = (memory.number, Some(Box::new(memory)));
            let window = WINDOW[0] * lexical;
            found.candidates.push(Candidate {
                scope: place,
                number,
                lexical,
                window,
                dense: None,
                identified,
                attributes,
                past,
                related: None,
            });
        }
    }
    Ok(())
}
