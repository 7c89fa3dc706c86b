//! Checks of what is not current any more: revisions in a row, tombstones without text, chains that end.

use std::collections::{BTreeMap, BTreeSet};

use crate::audit::Report;
use crate::memory::record::{Memory, State};
use crate::scope::Head;
use crate::store::keys::Partition;

/// The revisions that were seen of each memory, by number.
#[derive(Default)]
pub(super) struct Numbers(BTreeMap<u32, Vec<Revision>>);

struct Revision {
    number: u32,
    state: State,
    wordless: bool,
    supersedes: Option<u32>,
    superseded_by: Option<u32>,
    sequence: u64,
    known_from: i64,
}

impl Numbers {
    pub fn add(&mut self, memory: &Memory) {
        let revision = Revision {
            number: memory.revision,
            state: memory.state(),
            wordless: memory.text.is_empty() && memory.metadata.is_empty() && memory.slot.is_none(),
            supersedes: memory.supersedes,
            superseded_by: memory.ending.as_ref().and_then(|ending| ending.superseded_by),
            sequence: memory.sequence,
            known_from: memory.known_from,
        };
        self.0.entry(memory.number).or_default().push(revision);
    }
}

/// Checks the histories of one scope.
pub(super) fn check(report: &mut Report, partition: Partition, head: &Head, numbers: &Numbers) {
    let mut sequences = BTreeSet::new();
    for (number, revisions) in &numbers.0 {
        let mut order: Vec<&Revision> = revisions.iter().collect();
        order.sort_by_key(|revision| revision.number);
        for what in contradictions(&order) {
            report.note(partition, "history", format!("memory {number}: {what}"));
        }
        for revision in order {
            if *number >= head.next_number || revision.sequence > head.sequence || revision.known_from > head.last_time {
                report.note(partition, "head", format!("memory {number} is newer than its counters say"));
            }
            if !sequences.insert(revision.sequence) {
                report.note(partition, "history", format!("place {} in the order of writes was given twice", revision.sequence));
            }
            for other in [revision.supersedes, revision.superseded_by].into_iter().flatten() {
                if !numbers.0.contains_key(&other) {
                    report.note(partition, "history", format!("memory {number} names memory {other}, which never existed"));
                }
            }
        }
    }
    if let Some(number) = circle(numbers) {
        report.note(partition, "history", format!("memory {number} supersedes itself through others"));
    }
}

/// The contradictions among the revisions of one memory, which are given oldest first.
fn contradictions(revisions: &[&Revision]) -> Vec<&'static str> {
    let mut found = Vec::new();
    let Some(newest) = revisions.last() else { return found };
    let gone = matches!(newest.state, State::Forgotten | State::Expired);
    if gone && (revisions.len() > 1 || !newest.wordless) {
        found.push("it was forgotten, and words of it are left");
    }
    if newest.state == State::Revised {
        found.push("its last revision was revised, and the next one is missing");
    }
    let (last, earlier) = revisions.split_last().map_or((None, &[][..]), |(last, earlier)| (Some(last), earlier));
    if earlier.iter().any(|revision| revision.state != State::Revised) {
        found.push("an earlier revision did not end by being revised");
    }
    let contiguous = revisions.iter().enumerate().all(|(at, revision)| revision.number == at as u32 + 1);
    if last.is_some() && !gone && !contiguous {
        found.push("its revisions are not numbered 1, 2, 3 ...");
    }
    found
}

/// A memory from which the chain of superseded memories leads back to itself.
fn circle(numbers: &Numbers) -> Option<u32> {
    let next = |number: &u32| numbers.0.get(number)?.iter().max_by_key(|revision| revision.number)?.supersedes;
    let mut done = BTreeSet::new();
    for start in numbers.0.keys() {
        let mut path = BTreeSet::new();
        let mut at = Some(*start);
        while let Some(number) = at.filter(|number| !done.contains(number)) {
            if !path.insert(number) {
                return Some(number);
            }
            at = next(&number);
        }
        done.extend(path); // `append` would build the whole set anew, for every memory
    }
    None
}
