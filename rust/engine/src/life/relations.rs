//! Relations between what a scope knows: "payments-api" "runs on" "prod-eu-west-1", with when they held and which memory says so.
//!
//! Small and exact: neighbours, and the shortest paths of at most [`MAX_HOPS`] hops. No query language. Names are compared without
//! case, in Unicode normal form C; a relation that is not declared multi holds to several objects at a time.
//!
//! ```text
//! Table::Relation | number u32 | chunk u16 -> subject, relation, object, since, until, memory
//! ```

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::ControlFlow;

use crate::memory::Core;
use crate::scope::Scope;
use crate::store::chunks;
use crate::store::envelope::{self, Codec};
use crate::store::keys::{Key, Partition, Table, u32_at};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::Pages;
use crate::text::slot_key;
use crate::{Error, Result};

/// The longest path that is looked for.
pub const MAX_HOPS: usize = 8;
/// Relations of a scope at most: what is read to answer stays within a few milliseconds.
pub const MAX_RELATIONS: usize = 100_000;
/// The longest name, in bytes.
const MAX_NAME_BYTES: usize = 256;

/// That something stands to something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relation {
    /// Its number in the scope, from 1.
    pub number: u32,
    /// What it is said of.
    pub subject: String,
    /// How it stands.
    pub relation: String,
    /// To what.
    pub object: String,
    /// Since when it holds, microseconds since 1970.
    pub since: i64,
    /// When it stopped to hold; `None` while it does.
    pub until: Option<i64>,
    /// The number of the memory that says so.
    pub memory: Option<u32>,
}

fn key(partition: Partition, number: u32) -> Key {
    Key::new(partition, Table::Relation).u32(number)
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
fn all<P: Pages + ?Sized>(pages: &P, partition: Partition) -> Result<Vec<Relation>> {
    let range = Key::new(partition, Table::Relation).prefix_range();
    let mut found = Vec::new();
    pages.scan(&range.start, &range.end, &mut |key, value| {
        let (prefix, chunk) = key.split_at(key.len().saturating_sub(2));
        if chunk == [0, 0] {
            let number = u32_at(key, 5).ok_or_else(|| envelope::damaged(key, "its key is too short for a relation"))?;
            let (_, body) = chunks::join(pages, Key::from_slice(prefix)?, envelope::open(key, value)?)?;
            found.push(decode(key, number, &body)?);
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

fn check(what: &str, name: &str) -> Result<String> {
    let normal = slot_key(name);
    if normal.is_empty() || name.len() > MAX_NAME_BYTES {
        return Err(Error::invalid(format!(
            "relating: {what} has 1 to {MAX_NAME_BYTES} bytes with a letter among them, and it has {}: shorten it",
            name.len()
        )));
    }
    Ok(normal)
}

/// Says that something stands to something; the relation as it is stored, and whether it is new. One write transaction.
pub fn relate(engine: &Core, scope: &Scope, given: &Relation, holds: bool, now: i64) -> Result<(Relation, bool)> {
    let names = (check("the subject", &given.subject)?, check("the relation", &given.relation)?, check("the object", &given.object)?);
    let (scope, given) = (scope.clone(), given.clone());
    engine.write(move |txn| {
        let partition = scope.find_or_make(txn)?;
        let known = all(txn, partition)?;
        let same =
            |one: &&Relation| (slot_key(&one.subject), slot_key(&one.relation), slot_key(&one.object)) == names && one.until.is_none();
        let (relation, new) = match known.iter().find(same) {
            Some(one) if holds => return Ok((one.clone(), false)),
            Some(one) => (Relation { until: Some(now.max(one.since)), ..one.clone() }, false),
            None if !holds => {
                return Err(Error::invalid("relating: only a relation that holds can end, and this one does not: relate() it first"));
            }
            None if known.len() >= MAX_RELATIONS => {
                return Err(Error::invalid(format!(
                    "relating: a scope has at most {MAX_RELATIONS} relations, and this one has as many: keep them elsewhere"
                )));
            }
            None => (Relation { number: known.last().map_or(1, |last| last.number + 1), ..given.clone() }, true),
        };
        chunks::put(txn, key(partition, relation.number), 1, Codec::MessagePack, &encode(&relation))?;
        Ok((relation, new))
    })
}

/// The relations that held at a time (now: `None`) and have the entity at one of their ends.
pub fn neighbors(engine: &Core, scope: &Scope, entity: &str, at: Option<i64>) -> Result<Vec<Relation>> {
    let entity = check("the entity", entity)?;
    let held = holding(engine, scope, at)?;
    Ok(held.into_iter().filter(|one| slot_key(&one.subject) == entity || slot_key(&one.object) == entity).collect())
}

fn holding(engine: &Core, scope: &Scope, at: Option<i64>) -> Result<Vec<Relation>> {
    let known = engine.store().read(|snapshot| scope.find(snapshot)?.map_or(Ok(Vec::new()), |partition| all(snapshot, partition)))?;
    let holds = |one: &Relation| match at {
        None => one.until.is_none(),
        Some(at) => one.since <= at && one.until.is_none_or(|until| at < until),
    };
    Ok(known.into_iter().filter(holds).collect())
}

/// Every shortest path between two entities, along relations in either direction, of at most `hops`; each in order from `from`.
pub fn paths(engine: &Core, scope: &Scope, from: &str, to: &str, hops: usize, at: Option<i64>) -> Result<Vec<Vec<Relation>>> {
    let (from, to) = (check("the first entity", from)?, check("the second entity", to)?);
    if hops == 0 || hops > MAX_HOPS {
        return Err(Error::invalid(format!("finding paths: max_hops is 1 to {MAX_HOPS}, and it is {hops}: change it")));
    }
    Ok(shortest(&holding(engine, scope, at)?, &from, &to, hops))
}

/// Paths that are returned at most: many ways of one length say no more.
const MAX_PATHS: usize = 100;

fn shortest(relations: &[Relation], from: &str, to: &str, hops: usize) -> Vec<Vec<Relation>> {
    let mut edges: BTreeMap<String, Vec<(String, usize)>> = BTreeMap::new();
    for (at, one) in relations.iter().enumerate() {
        let (subject, object) = (slot_key(&one.subject), slot_key(&one.object));
        edges.entry(subject.clone()).or_default().push((object.clone(), at));
        edges.entry(object).or_default().push((subject, at));
    }
    let mut distance: BTreeMap<String, usize> = BTreeMap::from([(to.to_owned(), 0)]);
    let mut queue = VecDeque::from([to.to_owned()]);
    while let Some(here) = queue.pop_front() {
        let far = distance[&here];
        for (next, _) in edges.get(&here).into_iter().flatten().filter(|_| far < hops) {
            if !distance.contains_key(next) {
                distance.insert(next.clone(), far + 1);
                queue.push_back(next.clone());
            }
        }
    }
    let mut found = Vec::new();
    if from != to && distance.contains_key(from) {
        walk(relations, &edges, &distance, from, &mut Vec::new(), &mut found);
    }
    found
}

/// Follows every edge that comes nearer to the end.
fn walk(
    relations: &[Relation],
    edges: &BTreeMap<String, Vec<(String, usize)>>,
    distance: &BTreeMap<String, usize>,
    here: &str,
    path: &mut Vec<usize>,
    found: &mut Vec<Vec<Relation>>,
) {
    let left = distance[here];
    if left == 0 {
        found.push(path.iter().map(|at| relations[*at].clone()).collect());
        return;
    }
    let nearer: BTreeSet<&(String, usize)> = edges[here].iter().filter(|(next, _)| distance.get(next) == Some(&(left - 1))).collect();
    for (next, edge) in nearer {
        if found.len() < MAX_PATHS {
            path.push(*edge);
            walk(relations, edges, distance, next, path, found);
            path.pop();
        }
    }
}
