//! Nominating by relations: memories that say how something stands to what the question names, or to what that stands to.
//!
//! "Where does checkout run?" names checkout; "checkout depends on payments-api" is one step away, "payments-api runs on
//! prod-eu-west-1" two, though it has no name of the question. A memory so found is as relevant as its steps say, or as its words do,
//! whichever is more. A scope without relations costs one look-up.

use std::collections::BTreeMap;

use super::ranking::memories::{FEWEST, RELATED};
use super::words::{bare_words, without_s};
use crate::Result;
use crate::memory::relation;
use crate::store::identity::Seed;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::text::slot_key;

/// Words of a question that are looked up, alone and with those behind them.
const MOST_WORDS: usize = 40;
/// Words of a name at most.
const NAME_WORDS: usize = 3;
/// Relations of one entity that are followed, the newest of those that hold.
const MOST_EACH: usize = 64;
/// How many relations of an entity are read: each of a slot's values ends that of the one before.
const MOST_READ: usize = 512;
/// Entities from which a step is taken: something that everything stands to tells nothing.
const MOST_ENTITIES: usize = 32;

/// How a memory is related to a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Related {
    /// The relevance that its steps give it.
    pub relevance: f64,
    /// The steps, in words.
    pub path: String,
}

/// The memories that say the relations of what a question names, by number.
pub fn nominate<P: Pages>(pages: &P, partition: Partition, seed: Seed, question: &str) -> Result<BTreeMap<u32, Related>> {
    let mut found = BTreeMap::new();
    if !relation::any(pages, partition)? {
        return Ok(found);
    }
    let mut reached: BTreeMap<String, String> = BTreeMap::new();
    let mut open: Vec<(String, String)> = names(question).into_iter().map(|name| (name, String::new())).collect();
    for relevance in RELATED {
        let mut next = Vec::new();
        for (entity, path) in open {
            if reached.contains_key(&entity) {
                continue;
            }
            for one in relation::newest_holding(pages, partition, seed, &entity, (MOST_EACH, MOST_READ))? {
                let step = format!("{} {} {}", one.subject, one.relation, one.object);
                let path = if path.is_empty() { step } else { format!("{path}, {step}") };
                if let Some(memory) = one.memory.filter(|_| found.len() < FEWEST) {
                    found.entry(memory).or_insert(Related { relevance, path: path.clone() });
                }
                next.push((one.beyond(&entity), path));
            }
            reached.insert(entity, path);
        }
        next.truncate(MOST_ENTITIES);
        open = next;
    }
    Ok(found)
}

/// The possible names in a question: each of its words, and runs of two and three.
fn names(question: &str) -> Vec<String> {
    let words: Vec<&str> = bare_words(question).map(without_s).filter(|word| !word.is_empty()).take(MOST_WORDS).collect();
    let runs = (1..=NAME_WORDS).flat_map(|length| words.windows(length));
    runs.map(|run| slot_key(&run.join(" "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::relation::Relation;
    use crate::store::identity::Secret;
    use crate::store::pages::MemoryPages;

    fn given(pages: &mut MemoryPages, seed: Seed, subject: &str, relation: &str, object: &str, memory: u32) {
        given_until(pages, seed, (subject, relation, object), memory, None);
    }

    fn given_until(pages: &mut MemoryPages, seed: Seed, (subject, relation, object): (&str, &str, &str), memory: u32, until: Option<i64>) {
        let (subject, relation, object) = (subject.to_owned(), relation.to_owned(), object.to_owned());
        let one = Relation { number: 0, subject, relation, object, since: 0, until, memory: Some(memory) };
        relation::give(pages, 3, seed, &one).expect("stored");
    }

    #[test]
    fn what_ended_takes_no_place_of_what_holds() {
        let (mut pages, seed) = (MemoryPages::new(), Secret::default().seed(b"u"));
        for host in 0..2 * MOST_EACH as u32 {
            let until = (host + 1 < 2 * MOST_EACH as u32).then_some(9);
            given_until(&mut pages, seed, ("billing", "runs on", &format!("h{host}")), host, until);
        }
        for question in ["Where is billing now?", "What is billing's host?", "What is billing\u{2019}s host?"] {
            let found = nominate(&pages, 3, seed, question).expect("read");
            assert_eq!(found.keys().copied().collect::<Vec<_>>(), [2 * MOST_EACH as u32 - 1], "{question}");
        }
    }

    #[test]
    fn two_steps_lead_from_what_is_named_to_what_says_more() {
        let (mut pages, seed) = (MemoryPages::new(), Secret::default().seed(b"u"));
        given(&mut pages, seed, "checkout", "depends on", "payments-api", 1);
        given(&mut pages, seed, "payments-api", "runs on", "prod-eu-west-1", 2);
        given(&mut pages, seed, "prod-eu-west-1", "belongs to", "Ops", 3);
        let found = nominate(&pages, 3, seed, "Where does Checkout run?").expect("read");
        assert_eq!(found.keys().copied().collect::<Vec<_>>(), [1, 2], "a third step is too far");
        assert_eq!(found[&2].path, "checkout depends on payments-api, payments-api runs on prod-eu-west-1");
        assert!(found[&1].relevance > found[&2].relevance);
        assert!(nominate(&pages, 3, seed, "What about billing?").expect("read").is_empty());
        assert!(nominate(&pages, 4, seed, "Where does Checkout run?").expect("read").is_empty(), "another scope");
    }
}
