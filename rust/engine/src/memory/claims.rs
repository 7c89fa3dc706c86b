//! The claims that a batch has learnt so far, and what a further one is compared with.
//!
//! No claim is compared with all the others: each is filed under what others can do something to it by. That is how it begins and what it
//! says ([`Statement::links`]), the names to which it gives values, its words, and the plan that it tells of.

use std::collections::{HashMap, HashSet};

use super::kind::Kind;
use super::learn::Learning;
use super::near::{Moved, Named, Relation, Statement};
use super::own::Said;
use super::record::Memory;
use crate::gate::{self, Lift};

/// A memory, read to be compared with those claims of a batch that are told of one speaker, or of nobody.
#[derive(Debug)]
struct Known {
    statement: Statement,
    slot: Option<String>,
    /// The slot that it gives a value to in plain words.
    attribute: Option<String>,
    /// Whether it is told of that speaker, and read as they would have said it alone.
    is_own: bool,
}

impl Known {
    fn of(memory: &Memory, said: &Said) -> Self {
        let own = said.own(memory).filter(|_| said.own.is_some());
        let seen = own.as_ref().unwrap_or(memory);
        let statement = Statement::of(&seen.text, seen.kind);
        let attribute = said.slot_of(&statement, own.is_some());
        Self { statement, slot: memory.slot.clone(), attribute, is_own: own.is_some() }
    }

    /// Whether a claim may do something to it: most do not, and its record is not read.
    fn concerns(&self, said: &Said, slot: Option<&String>, named: Option<&Named>) -> bool {
        let claim = said.own.as_ref().filter(|_| self.is_own).unwrap_or(&said.statement);
        let attribute = self.attribute.as_ref();
        claim.stands_to(&self.statement) != Relation::Different
            || named.is_some_and(|named| self.statement.speaks_of(named))
            || attribute.is_some() && (claim.attribute == self.statement.attribute || slot == attribute)
            || self.slot.is_some() && self.slot == said.attribute
            || claim.occasion.corrects(&self.statement.occasion)
            || claim.has_instead(&self.statement)
    }
}

/// A claim with what it names, which a batch looks for among those that it has written.
pub(super) struct Asked<'a> {
    pub said: &'a Said,
    pub learning: &'a Learning,
    pub named: Option<&'a Named>,
    pub lift: Option<&'a Lift>,
}

impl Asked<'_> {
    /// Whether it is about what it names, and not only about what begins as it does.
    fn names_another(&self) -> bool {
        self.named.is_some() || self.learning.moved.is_some() || self.learning.changed.is_some()
    }

    /// Groups of words: it can do something to a claim that has all words of one.
    fn groups(&self) -> Vec<Vec<String>> {
        let named = self.named.iter().flat_map(|named| named.runs()).map(<[String]>::to_vec);
        // The first word of an act may have another form.
        let act = self.lift.map(|lift| Named::of(&lift.phrase).runs()[0].get(1..).unwrap_or_default().to_vec());
        let changed = self.learning.changed.iter().flat_map(gate::Change::groups);
        named.chain(act).chain(changed).filter(|group| !group.is_empty()).collect()
    }
}

/// The claims that a batch has learnt so far, and the memories they were compared with.
#[derive(Debug, Default)]
pub(super) struct Claims {
    /// The memories by the name of the speaker whose claims are compared with them, and by number.
    known: HashMap<String, HashMap<u32, Known>>,
    ended: HashSet<u32>,
    /// How each written claim begins.
    begins: HashMap<u32, Vec<String>>,
    by_link: HashMap<String, Vec<u32>>,
    by_name: HashMap<String, Vec<u32>>,
    /// By the spelling of slots.
    by_spelling: HashMap<String, Vec<u32>>,
    by_word: HashMap<String, Vec<u32>>,
    /// Those that name a time, a day or a number of people.
    of_occasions: Vec<u32>,
    /// Standing orders and wishes by what they are about; all of them under an empty name.
    orders: HashMap<String, Vec<u32>>,
}

impl Claims {
    /// Adds a claim that was written.
    pub fn add(&mut self, memory: &Memory, learning: &Learning) {
        let (number, said) = (memory.number, Said::of(memory, learning.by.as_deref()));
        let own = said.own(memory);
        let texts = || [Some(&memory.text), own.as_ref().map(|own| &own.text)].into_iter().flatten();
        let file = |by: &mut HashMap<String, Vec<u32>>, keys: &mut dyn Iterator<Item = String>| {
            for key in keys {
                let numbers = by.entry(key).or_default();
                if numbers.last() != Some(&number) {
                    numbers.push(number);
                }
            }
        };
        file(&mut self.by_link, &mut said.links(Statement::links).into_iter().chain(texts().filter_map(|text| Moved::link_of(text))));
        file(&mut self.by_name, &mut said.attribute.iter().chain(&memory.slot).chain(said.class()).cloned());
        file(&mut self.by_spelling, &mut memory.slot.iter().map(|slot| gate::spelled(gate::present(slot))));
        let statements = [Some(&said.statement), said.own.as_ref()].into_iter().flatten();
        file(&mut self.by_word, &mut statements.flat_map(Statement::words).chain(texts().flat_map(|text| gate::Change::words_of(text))));
        let orders =
            [Some(memory), own.as_ref()].into_iter().flatten().filter(|seen| matches!(seen.kind, Kind::Constraint | Kind::Preference));
        let slots =
            orders.flat_map(|seen| gate::order_of(&seen.text).map(|order| order.slot.to_owned()).into_iter().chain([String::new()]));
        file(&mut self.orders, &mut slots.into_iter());
        if said.names_occasion() {
            self.of_occasions.push(number);
        }
        self.begins.insert(number, said.begins().collect());
        self.note(memory, &said);
    }

    /// The written claims that another may do something to, in the order in which they were written.
    pub fn beside(&self, asked: &Asked<'_>, slot: Option<&String>) -> Vec<u32> {
        fn of<'c>(by: &'c HashMap<String, Vec<u32>>, key: &str) -> &'c [u32] {
            by.get(key).map_or(&[], Vec::as_slice)
        }
        let said = asked.said;
        let mut near: Vec<u32> = said.links(Statement::sought).iter().flat_map(|link| of(&self.by_link, link)).copied().collect();
        near.extend(slot.map_or(&[][..], |slot| of(&self.by_spelling, &gate::spelled(slot))));
        if said.corrects_occasion() {
            near.extend(&self.of_occasions);
        }
        if asked.names_another() {
            near.extend(asked.learning.moved.iter().flat_map(|moved| of(&self.by_link, &moved.link())));
            near.extend(asked.groups().iter().flat_map(|group| self.with_all(group)));
            near.extend(asked.lift.map_or(&[][..], |lift| self.lifted(lift)));
        } else {
            let begins: Vec<String> = said.begins().collect();
            near.retain(|number| self.begins.get(number).is_some_and(|others| others.iter().any(|begin| begins.contains(begin))));
        }
        let names = said.attribute.iter().chain(slot).chain(said.class());
        near.extend(names.flat_map(|name| of(&self.by_name, name)));
        near.retain(|number| !self.ended.contains(number));
        near.sort_unstable();
        near.dedup();
        near
    }

    /// The claims that may have all words of a group: those that have the rarest one.
    fn with_all(&self, group: &[String]) -> &[u32] {
        let numbers = group.iter().map(|word| self.by_word.get(word).map_or(&[][..], Vec::as_slice));
        numbers.min_by_key(|numbers| numbers.len()).unwrap_or_default()
    }

    /// The orders that words about a thing with a slot, or a single word, may lift.
    fn lifted(&self, lift: &Lift) -> &[u32] {
        let is_word = Named::of(&lift.phrase).runs()[0].len() == 1;
        let slot = lift.order.as_ref().map(|order| order.slot).or(is_word.then_some(""));
        slot.and_then(|slot| self.orders.get(slot)).map_or(&[], Vec::as_slice)
    }

    /// Whether it is known that a claim does nothing to that memory.
    pub fn rules_out(&self, number: u32, asked: &Asked<'_>, slot: Option<&String>) -> bool {
        let known = self.known.get(asked.said.of_whom()).and_then(|known| known.get(&number));
        known.is_some_and(|known| !known.concerns(asked.said, slot, asked.named))
    }

    /// Forgets a memory that was ended: no claim does anything to it any more.
    pub fn forget(&mut self, number: u32) {
        self.ended.insert(number);
    }

    /// Notes what a memory of the store says to a claim.
    pub fn note(&mut self, memory: &Memory, said: &Said) {
        let known = self.known.entry(said.of_whom().to_owned()).or_default();
        known.entry(memory.number).or_insert_with(|| Known::of(memory, said));
    }
}
