//! Relations between what a scope knows, on disk: "payments-api" "runs on" "prod-eu-west-1", with when they held and which memory says so.
//!
//! Names are compared without case, in Unicode normal form C. A relation that a memory says ends when the memory is superseded, and is
//! erased with it when it is forgotten, unless another memory says so too. Where memories are merged, it is that of the one that stays.
//!
//! ```text
//! Table::Relation       number u32 | chunk u16 -> subject, relation, object, since, until, memory
//! Table::RelationOf     hash64 of an entity | number u32 -> nothing: it is at one of its ends
//! Table::RelationBy     memory u32 | number u32 -> nothing: that memory says so
//! ```

use std::collections::HashMap;
use std::ops::ControlFlow;

use crate::Result;
use crate::limits::MAX_RELATIONS;
use crate::store::chunks;
use crate::store::envelope::{self, Codec};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition, Table, u32_at};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::text::slot_key;

/// That something stands to something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// Its number in the scope, from 1.
    pub number: u32,
    /// The thing or person that it is said of.
    pub subject: String,
    /// How it stands.
    pub relation: String,
    /// To what.
    pub object: String,
    /// Since when it holds, microseconds since 1970.
    pub since: i64,
    /// When it stopped holding; `None` while it holds.
    pub until: Option<i64>,
    /// The number of the memory that says so.
    pub memory: Option<u32>,
}

impl Relation {
    /// Whether both say the same of the same.
    #[must_use]
    pub fn says(&self, other: &Self) -> bool {
        slot_key(&self.subject) == slot_key(&other.subject)
            && slot_key(&self.relation) == slot_key(&other.relation)
            && slot_key(&self.object) == slot_key(&other.object)
    }

    /// Whether it says the other with the same names, or with more words behind them: "prod-1 in Berlin" is of "prod-1".
    #[must_use]
    pub fn says_of_more(&self, other: &Self) -> bool {
        let begins = |own: &str, name: &str| {
            let (own, name) = (slot_key(own), slot_key(name));
            own.strip_prefix(&name).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        slot_key(&self.relation) == slot_key(&other.relation)
            && begins(&self.subject, &other.subject)
            && begins(&self.object, &other.object)
    }

    /// The end that is not `entity`, which is in normal form.
    #[must_use]
    pub fn beyond(&self, entity: &str) -> String {
        let subject = slot_key(&self.subject);
        if subject == entity { slot_key(&self.object) } else { subject }
    }
}

fn key(partition: Partition, number: u32) -> Key {
    Key::new(partition, Table::Relation).u32(number)
}

fn of_key(partition: Partition, seed: Seed, entity: &str) -> Key {
    Key::new(partition, Table::RelationOf).u64(seed.hash64(entity.as_bytes()))
}

fn by_key(partition: Partition, memory: u32) -> Key {
    Key::new(partition, Table::RelationBy).u32(memory)
}

fn encode(relation: &Relation) -> Vec<u8> {
    let mut body = Writer::array(6);
    body.text(&relation.subject);
    body.text(&relation.relation);
    body.text(&relation.object);
    body.int(relation.since);
    body.maybe_int(relation.until);
    body.maybe_int(relation.memory.map(i64::from));
    body.into_bytes()
}

fn decode(key: &[u8], number: u32, body: &[u8]) -> Result<Relation> {
    let mut r = Reader::array(key, body)?;
    Ok(Relation {
        number,
        subject: r.text()?.to_owned(),
        relation: r.text()?.to_owned(),
        object: r.text()?.to_owned(),
        since: r.int()?,
        until: r.maybe_int()?,
        memory: r.maybe_int()?.map(|number| number as u32),
    })
}

/// All relations of a partition, in the order in which they were given.
pub fn all<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<Vec<Relation>> {
    page(pages, partition, 0, usize::MAX)
}

/// Those behind number `after`, at most `most`.
pub fn page<P: Pages + ?Sized>(pages: &P, partition: Partition, after: u32, most: usize) -> Result<Vec<Relation>> {
    let end = Key::new(partition, Table::Relation).prefix_range().end;
    let mut found = Vec::new();
    pages.scan(key(partition, after.saturating_add(1)).as_slice(), &end, &mut |key, value| {
        let (prefix, chunk) = key.split_at(key.len().saturating_sub(2));
        if chunk == [0, 0] {
            let number = u32_at(key, 5).ok_or_else(|| envelope::damaged(key, "its key is too short for a relation"))?;
            let (_, body) = chunks::join(pages, Key::from_slice(prefix)?, envelope::open(key, value)?)?;
            found.push(decode(key, number, &body)?);
        }
        Ok(if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(found)
}

/// The number of the relation that was given last; 0 where there is none.
fn last<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<u32> {
    let range = Key::new(partition, Table::Relation).prefix_range();
    let end = pages.floor(&range.end)?;
    Ok(end
        .filter(|(key, _)| *key >= range.start.as_slice() && *key < range.end.as_slice())
        .and_then(|(key, _)| u32_at(key, 5))
        .unwrap_or(0))
}

fn numbers<P: Pages + ?Sized>(pages: &P, prefix: Key, at: usize, most: usize) -> Result<Vec<u32>> {
    let (range, mut found) = (prefix.prefix_range(), Vec::new());
    pages.scan(&range.start, &range.end, &mut |key, _| {
        found.extend(u32_at(key, at));
        Ok(if found.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    })?;
    Ok(found)
}

fn read<P: Pages + ?Sized>(pages: &P, partition: Partition, number: u32) -> Result<Option<Relation>> {
    let key = key(partition, number);
    let Some((_, body)) = chunks::get(pages, key)? else { return Ok(None) };
    decode(key.as_slice(), number, &body).map(Some)
}

/// Whether relations of a partition can be looked up by their ends: it has any.
pub fn any<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<bool> {
    Ok(!numbers(pages, Key::new(partition, Table::RelationOf), 13, 1)?.is_empty())
}

/// The relation of a number, where it holds and an entity (in normal form) is at one of its ends. Its key is a hash: the names decide.
fn holding_at<P: Pages + ?Sized>(pages: &P, partition: Partition, entity: &str, number: u32) -> Result<Option<Relation>> {
    let is_there = |one: &Relation| slot_key(&one.subject) == entity || slot_key(&one.object) == entity;
    Ok(read(pages, partition, number)?.filter(|one| one.until.is_none() && is_there(one)))
}

/// The relations that hold and at one of whose ends an entity (in normal form) is, the newest first, at most `most`; of more than
/// `looked_at` the newest are looked at.
pub fn newest_holding<P: Pages + ?Sized>(
    pages: &P,
    partition: Partition,
    seed: Seed,
    entity: &str,
    (most, looked_at): (usize, usize),
) -> Result<Vec<Relation>> {
    let mut found = Vec::new();
    for number in numbers(pages, of_key(partition, seed, entity), 13, usize::MAX)?.into_iter().rev().take(looked_at) {
        found.extend(holding_at(pages, partition, entity, number)?);
        if found.len() == most {
            break;
        }
    }
    Ok(found)
}

/// All of them, in the order in which they were given. The relations of version 0.4.0 are looked through where nothing was given since.
pub fn holding<P: Pages + ?Sized>(pages: &P, partition: Partition, seed: Seed, entity: &str) -> Result<Vec<Relation>> {
    if !any(pages, partition)? {
        return Ok(all(pages, partition)?.into_iter().filter(|relation| relation.until.is_none()).collect());
    }
    let mut found = Vec::new();
    for number in numbers(pages, of_key(partition, seed, entity), 13, usize::MAX)? {
        found.extend(holding_at(pages, partition, entity, number)?);
    }
    Ok(found)
}

/// The outcome of a relation that was given.
#[derive(Debug)]
pub enum Given {
    /// It is stored.
    New(Relation),
    /// One that holds says the same.
    Known(Relation),
    /// The scope has as many as it may have.
    Full,
}

/// The relations that a transaction read and gave so far. A batch of claims gives hundreds of relations of one user; each is read once.
#[derive(Debug, Default)]
pub struct Batch {
    /// The number of the last relation; `None` before the first is given.
    last: Option<u32>,
    /// The numbers of the relations at an entity, in order.
    at: HashMap<String, Vec<u32>>,
    /// The relations that were read, by their numbers, in normal form; `None` of one that holds no longer.
    read: HashMap<u32, Option<Normal>>,
}

/// A relation with its names in normal form.
#[derive(Debug, PartialEq, Eq)]
struct Normal {
    subject: String,
    relation: String,
    object: String,
}

impl Normal {
    fn of(relation: &Relation) -> Self {
        Self { subject: slot_key(&relation.subject), relation: slot_key(&relation.relation), object: slot_key(&relation.object) }
    }
}

impl Batch {
    /// Stores a relation, unless one that holds says the same: that holds since the earlier time then.
    pub fn give(&mut self, pages: &mut impl PagesMut, partition: Partition, seed: Seed, given: &Relation) -> Result<Given> {
        let normal = Normal::of(given);
        let last = self.last(pages, partition, seed)?;
        if let Some(mut known) = self.known(pages, partition, seed, &normal)? {
            if given.since < known.since {
                known.since = given.since;
                put(pages, partition, &known)?;
            }
            return Ok(Given::Known(known));
        }
        let number = last + 1;
        if number > MAX_RELATIONS {
            return Ok(Given::Full);
        }
        let relation = Relation { number, ..given.clone() };
        put(pages, partition, &relation)?;
        index(pages, partition, seed, &relation)?;
        self.note(number, normal);
        Ok(Given::New(relation))
    }

    fn last(&mut self, pages: &mut impl PagesMut, partition: Partition, seed: Seed) -> Result<u32> {
        if self.last.is_none() {
            index_older(pages, partition, seed)?;
            self.last = Some(last(pages, partition)?);
        }
        Ok(self.last.unwrap_or(0))
    }

    /// The one that holds and says the same. Only those at both ends are read: "user" may be at one end of thousands.
    fn known<P: Pages + ?Sized>(&mut self, pages: &P, partition: Partition, seed: Seed, given: &Normal) -> Result<Option<Relation>> {
        for entity in [&given.subject, &given.object] {
            if !self.at.contains_key(entity) {
                self.at.insert(entity.clone(), numbers(pages, of_key(partition, seed, entity), 13, usize::MAX)?);
            }
        }
        let (subjects, objects) = (&self.at[&given.subject], &self.at[&given.object]);
        for number in objects.iter().filter(|number| subjects.binary_search(number).is_ok()) {
            if !self.read.contains_key(number) {
                let holds = read(pages, partition, *number)?.filter(|known| known.until.is_none());
                self.read.insert(*number, holds.as_ref().map(Normal::of));
            }
            if self.read[number].as_ref() == Some(given) {
                return read(pages, partition, *number);
            }
        }
        Ok(None)
    }

    fn note(&mut self, number: u32, normal: Normal) {
        self.last = Some(number);
        for entity in [&normal.subject, &normal.object] {
            let numbers = self.at.entry(entity.clone()).or_default();
            if numbers.last() != Some(&number) {
                numbers.push(number);
            }
        }
        self.read.insert(number, Some(normal));
    }

    /// Forgets what was read: relations were ended or erased.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// Stores one relation, unless one that holds says the same.
pub fn give(pages: &mut impl PagesMut, partition: Partition, seed: Seed, given: &Relation) -> Result<Given> {
    Batch::default().give(pages, partition, seed, given)
}

/// Stores a relation as it is now.
pub fn put(pages: &mut impl PagesMut, partition: Partition, relation: &Relation) -> Result<()> {
    chunks::put(pages, key(partition, relation.number), 1, Codec::MessagePack, &encode(relation))
}

fn index(pages: &mut impl PagesMut, partition: Partition, seed: Seed, relation: &Relation) -> Result<()> {
    let ends = [&relation.subject, &relation.object].map(|name| of_key(partition, seed, &slot_key(name)));
    let by = relation.memory.map(|memory| by_key(partition, memory));
    for key in ends.into_iter().chain(by) {
        let key = key.u32(relation.number);
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::Raw, &[]))?;
    }
    Ok(())
}

/// Relations that version 0.4.0 stored have no keys by their ends: they get them when the next one is given.
fn index_older(pages: &mut impl PagesMut, partition: Partition, seed: Seed) -> Result<()> {
    if last(pages, partition)? == 0 || any(pages, partition)? {
        return Ok(());
    }
    for relation in all(pages, partition)? {
        index(pages, partition, seed, &relation)?;
    }
    Ok(())
}

/// Takes out what cannot be read and what memories say that are not there, and indexes the rest anew.
pub(super) fn mend<P: PagesMut>(pages: &mut P, partition: Partition, seed: Seed, is_there: impl Fn(u32) -> bool) -> Result<()> {
    let number = |key: &Key| u32_at(key.as_slice(), 5).unwrap_or(0);
    chunks::sift(pages, Key::new(partition, Table::Relation), |pages, key| Ok(read(pages, partition, number(&key))?.is_some()))?;
    chunks::clear(pages, Key::new(partition, Table::RelationOf))?;
    chunks::clear(pages, Key::new(partition, Table::RelationBy))?;
    for relation in all(pages, partition)? {
        if relation.memory.is_none_or(&is_there) {
            index(pages, partition, seed, &relation)?;
        } else {
            chunks::remove(pages, key(partition, relation.number))?;
        }
    }
    Ok(())
}

/// Ends what a memory says, which holds no longer; whether it said anything.
pub(super) fn end_of(pages: &mut impl PagesMut, partition: Partition, memory: u32, at: i64) -> Result<bool> {
    let said = numbers(pages, by_key(partition, memory), 9, usize::MAX)?;
    for number in said.iter().copied() {
        if let Some(relation) = read(pages, partition, number)?.filter(|relation| relation.until.is_none()) {
            put(pages, partition, &Relation { until: Some(at.max(relation.since)), ..relation })?;
        }
    }
    Ok(!said.is_empty())
}

/// The relations that a memory says, as far as they hold.
pub(super) fn said_by<P: Pages + ?Sized>(pages: &P, partition: Partition, memory: u32) -> Result<Vec<Relation>> {
    let mut said = Vec::new();
    for number in numbers(pages, by_key(partition, memory), 9, usize::MAX)? {
        said.extend(read(pages, partition, number)?.filter(|relation| relation.until.is_none()));
    }
    Ok(said)
}

/// Stores a relation that another memory than `before` says from now on, with the same ends.
pub(super) fn hand_over(pages: &mut impl PagesMut, partition: Partition, before: u32, relation: &Relation) -> Result<()> {
    put(pages, partition, relation)?;
    pages.delete(by_key(partition, before).u32(relation.number).as_slice())?;
    let Some(memory) = relation.memory else { return Ok(()) };
    let key = by_key(partition, memory).u32(relation.number);
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::Raw, &[]))
}

/// Removes what a memory says, which is forgotten.
pub(super) fn erase_of(pages: &mut impl PagesMut, partition: Partition, seed: Seed, memory: u32) -> Result<()> {
    for number in numbers(pages, by_key(partition, memory), 9, usize::MAX)? {
        if let Some(relation) = read(pages, partition, number)? {
            for name in [&relation.subject, &relation.object] {
                pages.delete(of_key(partition, seed, &slot_key(name)).u32(number).as_slice())?;
            }
            chunks::remove(pages, key(partition, number))?;
        }
        pages.delete(by_key(partition, memory).u32(number).as_slice())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Relation;

    fn relation(subject: &str, relation: &str, object: &str) -> Relation {
        let names = [subject, relation, object].map(str::to_owned);
        let [subject, relation, object] = names;
        Relation { number: 0, subject, relation, object, since: 0, until: None, memory: None }
    }

    #[test]
    fn a_name_with_more_words_behind_it_says_more_of_the_same() {
        let known = relation("Checkout", "runs on", "prod-1");
        for (subject, verb, object, more) in [
            ("checkout", "runs on", "prod-1", true),
            ("checkout", "runs on", "prod-1 in Berlin", true),
            ("checkout of the shop", "runs on", "prod-1", true),
            ("checkout", "runs on", "prod-12", false),
            ("checkout", "depends on", "prod-1", false),
            ("the checkout", "runs on", "prod-1", false),
        ] {
            assert_eq!(relation(subject, verb, object).says_of_more(&known), more, "{subject} {verb} {object}");
        }
    }
}
