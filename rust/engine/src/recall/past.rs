//! Questions that reach back: revisions that were current then, scored by the words of today's statistics.
//!
//! What is not current is in no index, so this reads the scope's whole history: O(revisions), only where `known_at` or
//! `valid_at` asks for it. It has no vectors.

use std::ops::ControlFlow;

use super::Request;
use super::candidates::{Candidate, Nominated};
use super::explain::LexicalQuery;
use crate::Result;
use crate::memory::record;
use crate::store::keys::Partition;
use crate::store::pages::Pages;

/// Adds the revisions that the filter lets through and that share a word with the question.
pub(super) fn nominate<P: Pages>(
    snapshot: &P,
    request: &Request,
    place: usize,
    partition: Partition,
    query: &LexicalQuery,
    found: &mut Nominated,
) -> Result<()> {
    record::each_ended(snapshot, partition, &mut |memory| {
        if request.filter.keeps_past(&memory) {
            let lexical = query.terms_of(&memory.text).iter().map(|term| term.score).sum();
            if lexical > 0 {
                let candidate = Candidate { scope: place, number: memory.number, lexical, dense: None, past: Some(Box::new(memory)) };
                found.candidates.push(candidate);
            }
        }
        ControlFlow::Continue(())
    })
}
