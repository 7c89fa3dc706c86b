//! Relations between what a scope knows, as they are asked for: neighbours, and the shortest paths of at most [`MAX_HOPS`] hops. Small
//! and exact: no query language. How they are stored: [`crate::memory::relation`].

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::limits::{MAX_ENTITY_BYTES, MAX_HOPS, MAX_RELATIONS};
use crate::memory::Core;
pub use crate::memory::relation::Relation;
use crate::memory::relation::{self, Given};
use crate::scope::{Head, Scope};
use crate::store::pages::Pages;
use crate::text::slot_key;
use crate::{Error, Result};

fn check(what: &str, name: &str) -> Result<String> {
    let normal = slot_key(name);
    let (is, next) = if name.len() > MAX_ENTITY_BYTES {
        (format!("it has {}", name.len()), "shorten it")
    } else if normal.is_empty() {
        (format!("it is {name:?}"), "pass a name")
    } else {
        return Ok(normal);
    };
    Err(Error::invalid(format!("relating: {what} has 1 to {MAX_ENTITY_BYTES} bytes, not white space alone, and {is}: {next}")))
}

/// Says that something stands to something; the relation as it is stored, and whether it is new. One write transaction.
pub fn relate(engine: &Core, scope: &Scope, given: &Relation, holds: bool, now: i64) -> Result<(Relation, bool)> {
    let subject = check("the subject", &given.subject)?;
    check("the relation", &given.relation)?;
    check("the object", &given.object)?;
    let (scope, given) = (scope.clone(), given.clone());
    engine.write(move |txn| {
        let (partition, seed) = (scope.find_or_make(txn)?, scope.seed(txn.secret()));
        if holds {
            return match relation::give(txn, partition, seed, &given)? {
                Given::New(relation) => Ok((relation, true)),
                Given::Known(relation) => Ok((relation, false)),
                Given::Full => Err(Error::invalid(format!(
                    "relating: a scope has at most {MAX_RELATIONS} relations, and this one has as many: keep them elsewhere"
                ))),
            };
        }
        let known = relation::holding(txn, partition, seed, &subject)?.into_iter().find(|known| known.says(&given));
        let Some(known) = known else {
            return Err(Error::invalid("relating: only a relation that holds can end, and this one does not: relate() it first"));
        };
        let ended = Relation { until: Some(now.max(known.since)), ..known };
        relation::put(txn, partition, &ended)?;
        Ok((ended, false))
    })
}

/// The relations that held at a time (`None`: now) and have the entity at one of their ends.
pub fn neighbors(engine: &Core, scope: &Scope, entity: &str, at: Option<i64>, now: i64) -> Result<Vec<Relation>> {
    let entity = check("the entity", entity)?;
    let held = holding(engine, scope, at, now)?;
    Ok(held.into_iter().filter(|one| slot_key(&one.subject) == entity || slot_key(&one.object) == entity).collect())
}

/// Relations behind number `after`, at most `limit`, in the order in which they were given: those that ended, too.
pub fn page(engine: &Core, scope: &Scope, after: u32, limit: usize) -> Result<Vec<Relation>> {
    engine
        .store()
        .read(|pages| scope.find(pages)?.map_or_else(|| Ok(Vec::new()), |partition| relation::page(pages, partition, after, limit)))
}

/// Now is not earlier than the last write: what that said holds also where the clock stood still or went back since.
fn holding(engine: &Core, scope: &Scope, at: Option<i64>, now: i64) -> Result<Vec<Relation>> {
    engine.store().read(|snapshot| {
        let Some(partition) = scope.find(snapshot)? else { return Ok(Vec::new()) };
        let at = at.map_or_else(|| Ok::<_, Error>(now.max(Head::read(snapshot, partition)?.last_time)), Ok)?;
        let held = |one: &Relation| one.since <= at && one.until.is_none_or(|until| at < until);
        Ok(relation::all(snapshot, partition)?.into_iter().filter(held).collect())
    })
}

/// Every shortest path between two entities, along relations in either direction that held at a time (`None`: now), of at most `hops`;
/// each in order from the first.
pub fn paths(engine: &Core, scope: &Scope, (from, to): (&str, &str), hops: usize, at: Option<i64>, now: i64) -> Result<Vec<Vec<Relation>>> {
    let (from, to) = (check("the first entity", from)?, check("the second entity", to)?);
    if hops == 0 || hops > MAX_HOPS {
        return Err(Error::invalid(format!("finding paths: max_hops is 1 to {MAX_HOPS}, and it is {hops}: change it")));
    }
    Ok(shortest(&holding(engine, scope, at, now)?, &from, &to, hops))
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
