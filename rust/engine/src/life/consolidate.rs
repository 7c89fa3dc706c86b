//! Consolidation: memories that say nearly the same become one, which supersedes the originals and never destroys them.
//!
//! A scope's vectors are clustered ([`super::cluster`]). The caller says what a cluster becomes (a model's text), or else the rules: the
//! most informative of those of its memories that are kept longest, where they do not differ in an identifier, a number, a name or a denial. One transaction a cluster: a
//! process that dies between two has merged some clusters and none by half. A merged memory is no longer a candidate.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::cluster::{Points, dbscan};
use crate::Result;
use crate::memory::{Core, Kind, Memory, Named, record};
use crate::scope::{Head, Scope};

/// Memories of a scope that are clustered at most, the newest.
pub const MAX_MEMORIES: usize = 20_000;

/// How clusters are found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// The cosine from which on two memories are neighbours.
    pub closeness: f64,
    /// Neighbours of a core, itself counted.
    pub min_points: usize,
}

/// Memories that are near each other, and what rules make of them.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// The memories, in the order of numbers.
    pub memories: Vec<Arc<Named>>,
    /// Those that say the same.
    pub groups: Vec<Group>,
}

/// Memories of a cluster that say the same, by their places in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The places.
    pub places: Vec<usize>,
    /// The place of the one that stands for all.
    pub stands: usize,
}

/// The clusters of a scope's memories with their groups, as the merging code reads them.
pub fn clusters(engine: &Core, scope: &Scope, rule: Rule, now: i64) -> Result<Vec<Cluster>> {
    let of = |cluster: Vec<Memory>| {
        let groups = groups(&cluster);
        Ok(Cluster { groups, memories: engine.named(scope, cluster)?.into_iter().map(Arc::new).collect() })
    };
    near_each_other(engine, scope, rule, now)?.into_iter().map(of).collect()
}

/// Kinds that are merged: constraints, the profile and decisions stay as they were said.
fn merges(kind: Kind) -> bool {
    matches!(kind, Kind::Episodic | Kind::Semantic | Kind::Preference | Kind::TaskOutcome)
}

/// The clusters of a scope's memories, each in the order of numbers; of one kind, without a slot. One snapshot.
fn near_each_other(engine: &Core, scope: &Scope, rule: Rule, now: i64) -> Result<Vec<Vec<Memory>>> {
    let (memories, points) = engine.store().read(|snapshot| {
        let Some(partition) = scope.find(snapshot)? else { return Ok((Vec::new(), Points::default())) };
        let mut memories = Vec::new();
        record::each_current(snapshot, partition, 0, &mut |memory| {
            if merges(memory.kind) && memory.slot.is_none() && !memory.is_expired(now) && memory.trust > 0 {
                memories.push(memory);
            }
            ControlFlow::Continue(())
        })?;
        let surplus = memories.len().saturating_sub(MAX_MEMORIES);
        memories.drain(..surplus);
        let head = Head::read(snapshot, partition)?;
        let set = engine.vector_set(snapshot, partition)?.filter(|(number, _)| *number == head.embedding);
        let Some((_, set)) = set else { return Ok((Vec::new(), Points::default())) };
        let mut points = Points::new(set.dims());
        let mut kept = Vec::with_capacity(memories.len());
        for memory in memories {
            if let Some(vector) = set.get(snapshot, memory.number)? {
                points.push(&vector);
                kept.push(memory);
            }
        }
        Ok((kept, points))
    })?;
    let labels = dbscan(&points, rule.closeness, rule.min_points)?;
    let count = labels.iter().flatten().max().map_or(0, |last| *last as usize + 1);
    let mut clusters: Vec<Vec<Memory>> = vec![Vec::new(); count];
    for (memory, label) in memories.into_iter().zip(labels) {
        if let Some(label) = label {
            clusters[label as usize].push(memory);
        }
    }
    Ok(clusters.into_iter().flat_map(by_kind).filter(|cluster| cluster.len() >= 2).collect())
}

/// A cluster's memories of each kind.
fn by_kind(cluster: Vec<Memory>) -> Vec<Vec<Memory>> {
    let mut kinds: Vec<Vec<Memory>> = Kind::ALL.iter().map(|_| Vec::new()).collect();
    for memory in cluster {
        kinds[memory.kind as usize].push(memory);
    }
    kinds
}

/// The groups of a cluster by rules: groups of memories with the same names, numbers and denials, of events also the day, each with the
/// place of the one that stands for it. A group of one stays as it is.
fn groups(cluster: &[Memory]) -> Vec<Group> {
    let mut groups: Vec<(Vec<String>, Vec<usize>)> = Vec::new();
    for (at, memory) in cluster.iter().enumerate() {
        let mut marks = marks(&memory.text);
        marks.extend(memory.kind.day(memory.occurred_at).map(|day| format!("day {day}"))); // no word has a space
        match groups.iter_mut().find(|(known, _)| *known == marks) {
            Some((_, places)) => places.push(at),
            None => groups.push((marks, vec![at])),
        }
    }
    let best = |places: &[usize]| {
        let end = |at: &usize| cluster[*at].expires_at.unwrap_or(i64::MAX);
        let value = |at: &usize| (end(at), cluster[*at].importance.to_bits(), cluster[*at].text.len(), cluster[*at].number);
        places.iter().copied().max_by_key(value).unwrap_or_default()
    };
    groups.into_iter().filter(|(_, places)| places.len() >= 2).map(|(_, places)| Group { stands: best(&places), places }).collect()
}

/// More words than these are compared as they stand.
const MOST_TURNED: usize = 64;

/// The parts in which two texts may not differ to be one, and the words that carry their meaning: all but function words, in their order, but
/// that the end may stand first ("On Fridays we deploy", "We deploy on Fridays"). "Ana reports to Bo" is not "Bo reports to Ana".
fn marks(text: &str) -> Vec<String> {
    const LIGHT: [&str; 34] = [
        "a", "an", "the", "i", "user", "is", "are", "was", "really", "very", "just", "also", "and", "it", "that", "this", "my", "of", "so",
        "now", "do", "be", "been", "have", "has", "had", "would", "will", "too", "quite", "please", "we", "our", "am",
    ];
    let trimmed = |word: &str| {
        word.trim_matches(|letter: char| letter.is_ascii_punctuation() && !matches!(letter, '-' | '_' | '/' | '#' | '+' | '$' | '%'))
            .to_owned()
    };
    let marks: Vec<String> = text
        .split_whitespace()
        .map(trimmed)
        .filter(|word| !word.is_empty() && !LIGHT.contains(&word.to_lowercase().as_str()))
        .map(|word| if word.chars().skip(1).any(char::is_uppercase) { word } else { stem(&word.to_lowercase()) })
        .collect();
    let turned = |at: usize| marks[at..].iter().chain(&marks[..at]);
    let first = (0..marks.len()).filter(|_| marks.len() <= MOST_TURNED).min_by(|one, other| turned(*one).cmp(turned(*other)));
    turned(first.unwrap_or(0)).cloned().collect()
}

/// A word without its ending: "running", "runs" and "run" are one.
fn stem(word: &str) -> String {
    let plain = |rest: &&str| rest.len() >= 3 && rest.bytes().all(|byte| byte.is_ascii_lowercase());
    let rest = ["ing", "ed", "s"].iter().find_map(|ending| word.strip_suffix(ending).filter(plain)).unwrap_or(word);
    let doubled = rest.len() > 3 && rest.len() < word.len() && rest.as_bytes()[rest.len() - 1] == rest.as_bytes()[rest.len() - 2];
    if doubled { rest[..rest.len() - 1].to_owned() } else { rest.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::marks;

    #[test]
    fn who_does_it_to_whom_tells_two_texts_apart() {
        for (one, other) in [
            ("We replicate from fra-1 to ams-2", "We replicate from ams-2 to fra-1"),
            ("Ana reports to Bo", "Bo reports to Ana"),
            ("Room A is for Tom and room B for Lee", "Room B is for Tom and room A for Lee"),
            ("The train leaves Ghent for Brussels at 8", "The train leaves Brussels for Ghent at 8"),
            ("The bug is in lexer.py, not in parser.py", "The bug is in parser.py, not in lexer.py"),
        ] {
            assert_ne!(marks(one), marks(other), "{one} {other}");
        }
        for (one, other) in [
            ("We deploy on Fridays.", "On Friday we deploy"),
            ("The user really likes running", "Likes running"),
            ("To ams-2 we replicate from fra-1", "We replicate from fra-1 to ams-2"),
        ] {
            assert_eq!(marks(one), marks(other), "{one} {other}");
        }
        assert!(marks("").is_empty());
    }
}
