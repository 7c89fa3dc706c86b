//! The graph against the scan, through a map in memory.

use std::collections::{BTreeMap, BTreeSet};

use super::super::testing::Random;
use super::super::{Kernel, Query, Scored, Scores, UnitVector, VectorSet};
use super::maintain::LEASE;
use super::*;
use crate::ErrorKind;
use crate::store::envelope::{self, Codec, ENVELOPE_BYTES};
use crate::store::keys::Table;
use crate::store::pages::MemoryPages;

const DIMS: usize = 24;

type Model = BTreeMap<u32, UnitVector>;

fn set() -> VectorSet {
    VectorSet::new(7, 3, DIMS).unwrap()
}

fn options() -> GraphOptions {
    GraphOptions { threshold: 100, m: 8, ef_construction: 60, ef_search: 64, rebuild_share: 0.2 }
}

/// A vector near one of `centres`, or anywhere where there is none.
fn near(random: &mut Random, centres: &[Vec<f32>]) -> UnitVector {
    let noise = random.vector(DIMS);
    let values = match centres.len() {
        0 => noise,
        count => centres[random.below(count)].iter().zip(noise).map(|(centre, noise)| centre + 0.4 * noise).collect(),
    };
    UnitVector::new(&values, DIMS).unwrap()
}

fn centres(random: &mut Random, count: usize) -> Vec<Vec<f32>> {
    (0..count).map(|_| random.vector(DIMS)).collect()
}

fn fill_with(pages: &mut MemoryPages, random: &mut Random, count: u32, centres: &[Vec<f32>]) -> Model {
    let model: Model = (1..=count).map(|number| (2 * number, near(random, centres))).collect();
    let vectors: Vec<_> = model.iter().map(|(&number, vector)| (number, vector)).collect();
    set().put_many(pages, &vectors).unwrap();
    model
}

fn built(pages: &mut MemoryPages, now: i64) -> Build {
    let (segment, last) = set().begin_graph(pages, now).unwrap().expect("nobody else is building");
    let mut build = Build::read(set(), pages, segment, last, &options()).unwrap().expect("there are vectors");
    while build.insert(100).unwrap() {}
    build
}

fn write(pages: &mut MemoryPages, build: &Build) {
    for at in 0..build.values() {
        assert!(build.put(pages, at).unwrap());
    }
    assert!(build.finish(pages).unwrap());
    while set().sweep_graph(pages).unwrap() {}
}

fn build(pages: &mut MemoryPages) {
    let build = built(pages, 0);
    write(pages, &build);
}

fn by_scan(pages: &MemoryPages, query: &Query, n: usize, keep: impl FnMut(u32) -> bool) -> Vec<Scored> {
    let mut scores = Scores::new();
    set().scan(pages, query, &mut scores).unwrap();
    scores.best(n, keep)
}

/// Asserts that what the graph finds has the scan's scores, in order, as many as there are; returns the share of the scan's it found.
fn recall(pages: &MemoryPages, query: &Query, n: usize, keep: impl Fn(u32) -> bool) -> f64 {
    let nearest = set().with_ef_search(64).nearest(pages, query, n, &keep).unwrap();
    let exact = by_scan(pages, query, n, &keep);
    let all: BTreeMap<u32, i32> = by_scan(pages, query, usize::MAX, |_| true).into_iter().map(|one| (one.number, one.score)).collect();
    assert_eq!(nearest.best.len(), exact.len(), "a filter loses nothing");
    assert!(nearest.best.iter().all(|one| keep(one.number) && all[&one.number] == one.score), "{:?}", nearest.best);
    assert!(nearest.best.is_sorted_by(|a, b| (b.score, a.number) < (a.score, b.number)));
    for (&number, &score) in all.iter().take(20) {
        assert_eq!(nearest.score(set(), pages, query, number).unwrap(), Some(score));
    }
    assert_eq!(nearest.score(set(), pages, query, 1).unwrap(), all.get(&1).copied());
    let found: BTreeSet<u32> = nearest.best.iter().map(|one| one.number).collect();
    let missed = exact.iter().filter(|one| !found.contains(&one.number)).count();
    1.0 - missed as f64 / exact.len().max(1) as f64
}

fn mean_recall(pages: &MemoryPages, random: &mut Random, centres: &[Vec<f32>]) -> f64 {
    let queries: Vec<Query> = (0..20).map(|_| Query::from_unit(near(random, centres))).collect();
    queries.iter().map(|query| recall(pages, query, 10, |_| true)).sum::<f64>() / queries.len() as f64
}

fn is_sound(pages: &MemoryPages) -> Result<u64> {
    let numbers = set().audit(pages)?;
    set().audit_graph(pages, &numbers)
}

/// The keys and values of a table.
fn table(pages: &MemoryPages, table: Table) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let range = set().graph_table(table).prefix_range();
    pages.range(range).map(|(key, value)| (key.clone(), value.clone())).collect()
}

#[test]
fn a_graph_finds_what_the_scan_finds() {
    let mut random = Random::new(21);
    // Directions at random are the hardest, and no text has them.
    for (clusters, at_least) in [(0, 0.9), (1, 0.95), (300, 0.98)] {
        let mut pages = MemoryPages::new();
        let centres = centres(&mut random, clusters);
        fill_with(&mut pages, &mut random, 2000, &centres);
        build(&mut pages);
        assert_eq!(is_sound(&pages).unwrap(), 2000);
        let query = Query::from_unit(near(&mut random, &centres));
        assert!(!set().nearest(&pages, &query, 10, |_| true).unwrap().is_exact(), "the graph answers");
        let recall = mean_recall(&pages, &mut random, &centres);
        assert!(recall > at_least, "{clusters} clusters: {recall}");
    }
}

#[test]
fn filters_lose_nothing_however_little_they_keep() {
    let mut random = Random::new(22);
    let (mut pages, centres) = (MemoryPages::new(), centres(&mut random, 40));
    let model = fill_with(&mut pages, &mut random, 3000, &centres);
    build(&mut pages);
    for query in (0..10).map(|_| Query::from_unit(near(&mut random, &centres))).collect::<Vec<_>>() {
        for modulus in [4, 10, 100, 1000, 6000, 7001] {
            let found = recall(&pages, &query, 10, |number| number % modulus == 0);
            assert!(found >= if modulus >= 100 { 1.0 } else { 0.9 }, "one in {modulus}: {found}");
        }
        // Memories that pass a filter are often near together, or far from the question.
        let order = by_scan(&pages, &query, model.len(), |_| true);
        let far: BTreeSet<u32> = order[order.len() - 30..].iter().map(|one| one.number).collect();
        assert!((recall(&pages, &query, 10, |number| far.contains(&number)) - 1.0).abs() < f64::EPSILON);
    }
}

#[test]
fn writes_between_and_during_builds_are_seen_at_once() {
    let mut random = Random::new(23);
    let (mut pages, centres) = (MemoryPages::new(), centres(&mut random, 20));
    let mut model = fill_with(&mut pages, &mut random, 600, &centres);
    let (mut next, mut now) = (1202, 0);
    for round in 0..24 {
        let under_way = (round % 6 == 5).then(|| built(&mut pages, now));
        now += 2 * LEASE;
        for _ in 0..random.below(30) {
            let vector = near(&mut random, &centres);
            let known: Vec<u32> = model.keys().copied().collect();
            // An odd number is one whose vector comes late: smaller than the segment's last, and not in it.
            let number = match random.below(4) {
                0 => known[random.below(known.len())],
                1 => 2 * random.below(next as usize / 2) as u32 + 1,
                _ => {
                    next += 2;
                    next
                }
            };
            if random.below(3) == 0 {
                assert_eq!(set().remove(&mut pages, number).unwrap(), model.remove(&number).is_some());
            } else {
                set().put(&mut pages, number, &vector).unwrap();
                model.insert(number, vector);
            }
        }
        if let Some(under_way) = under_way {
            write(&mut pages, &under_way);
        }
        is_sound(&pages).unwrap();
        for number in model.keys().copied().filter(|number| number % 16 < 2).collect::<Vec<_>>() {
            let query = Query::from_unit(model[&number].clone());
            let nearest = set().nearest(&pages, &query, 1, |_| true).unwrap();
            assert_eq!(nearest.best[0], by_scan(&pages, &query, 1, |_| true)[0], "round {round}, memory {number}");
        }
        assert!(mean_recall(&pages, &mut random, &centres) > 0.97, "round {round}");
    }
}

#[test]
fn copies_of_one_vector_do_not_cut_the_graph_apart() {
    let mut random = Random::new(24);
    let mut pages = MemoryPages::new();
    let (one, centres) = (near(&mut random, &[]), centres(&mut random, 10));
    let vectors: Vec<UnitVector> = (0..1500).map(|at| if at % 2 == 0 { one.clone() } else { near(&mut random, &centres) }).collect();
    set().put_many(&mut pages, &(1..).zip(&vectors).collect::<Vec<_>>()).unwrap();
    build(&mut pages);
    let recall = mean_recall(&pages, &mut random, &centres);
    assert!(recall > 0.97, "{recall}");
    let nearest = set().nearest(&pages, &Query::from_unit(one), 10, |_| true).unwrap();
    assert!(nearest.best.iter().all(|found| found.score == nearest.best[0].score), "all ten are copies");
}

#[test]
fn the_same_vectors_give_the_same_bytes_by_every_kernel_and_in_any_steps() {
    let mut random = Random::new(25);
    let mut pages = MemoryPages::new();
    fill_with(&mut pages, &mut random, 700, &[]);
    let (segment, last) = set().begin_graph(&mut pages, 0).unwrap().unwrap();
    let values = |kernel: Kernel, steps: u32| {
        let mut build = Build::read(set(), &pages, segment, last, &options()).unwrap().unwrap().with_kernel(kernel);
        while build.insert(steps).unwrap() {}
        (0..build.values()).map(|at| build.value(at)).collect::<Vec<_>>()
    };
    let first = values(Kernel::Scalar, 1);
    assert!(first.len() >= 2, "nodes and upper layers");
    for kernel in Kernel::ALL {
        assert!(values(kernel, 333) == first, "{kernel:?}");
    }
}

#[test]
fn a_build_that_was_killed_is_taken_up_after_an_hour_and_leaves_nothing() {
    let mut random = Random::new(26);
    let mut pages = MemoryPages::new();
    fill_with(&mut pages, &mut random, 400, &[]);
    let killed = built(&mut pages, 1000);
    assert!(killed.put(&mut pages, 0).unwrap());
    set().remove(&mut pages, 2).unwrap(); // noted for a segment that will never be
    assert_eq!(set().begin_graph(&mut pages, 1000 + LEASE - 1).unwrap(), None, "it may still be at work");
    assert!(!set().sweep_graph(&mut pages).unwrap() && table(&pages, Table::GraphNodes).len() == 1, "so nothing is swept");
    let query = Query::from_unit(near(&mut random, &[]));
    assert!(set().nearest(&pages, &query, 5, |_| true).unwrap().is_exact(), "no segment is in use: scanned");
    let next = built(&mut pages, 1000 + LEASE);
    assert!(!killed.put(&mut pages, 1).unwrap() && !killed.finish(&mut pages).unwrap(), "the first, were it alive, gives up");
    write(&mut pages, &next);
    for (name, values) in [Table::GraphNodes, Table::GraphUpper, Table::GraphChanges].map(|one| (one, table(&pages, one))) {
        let prefix = set().graph_table(name).u32(next.segment);
        assert!(values.keys().all(|key| key.starts_with(prefix.as_slice())), "{name:?} of the killed one are swept");
    }
    assert_eq!(is_sound(&pages).unwrap(), 399);
    // Given up on purpose: another may begin at once.
    let (segment, _) = set().begin_graph(&mut pages, 0).unwrap().unwrap();
    set().abandon_graph(&mut pages, segment).unwrap();
    assert!(set().begin_graph(&mut pages, 0).unwrap().is_some());
}

#[test]
fn a_graph_is_due_when_there_is_none_and_when_it_has_aged() {
    let mut random = Random::new(27);
    let mut pages = MemoryPages::new();
    let due = |pages: &MemoryPages, vectors| set().graph_due(pages, vectors, &options()).unwrap();
    assert_eq!(set().begin_graph(&mut pages, 0).unwrap(), None, "there is no vector");
    fill_with(&mut pages, &mut random, 200, &[]);
    assert_eq!((due(&pages, 99), due(&pages, 100)), (Due::Nothing, Due::Build));
    build(&mut pages);
    assert_eq!((due(&pages, 200), due(&pages, 240), due(&pages, 241)), (Due::Nothing, Due::Nothing, Due::Build));
    for number in 1..=41 {
        assert_eq!(due(&pages, 200 - u64::from(number) + 1), Due::Nothing);
        set().remove(&mut pages, 2 * number).unwrap();
    }
    assert_eq!(due(&pages, 159), Due::Build);
    assert_eq!(due(&pages, 99), Due::Drop);
    let higher = GraphOptions { threshold: 1000, ..options() };
    assert_eq!(set().graph_due(&pages, 159, &higher).unwrap(), Due::Nothing, "another process's threshold was lower");
    set().drop_graph(&mut pages).unwrap();
    while set().sweep_graph(&mut pages).unwrap() {}
    assert!([Table::GraphNodes, Table::GraphUpper, Table::GraphChanges].into_iter().all(|one| table(&pages, one).is_empty()));
    assert_eq!(due(&pages, 159), Due::Build);
}

#[test]
fn few_vectors_and_odd_questions() {
    let mut random = Random::new(28);
    for count in [1, 2, 3, 9, 40] {
        let mut pages = MemoryPages::new();
        fill_with(&mut pages, &mut random, count, &[]);
        build(&mut pages);
        let query = Query::from_unit(near(&mut random, &[]));
        for n in [0, 1, 10, 1000] {
            assert!((recall(&pages, &query, n, |_| true) - 1.0).abs() < f64::EPSILON, "{count} {n}");
        }
        for number in 1..=count {
            set().remove(&mut pages, 2 * number).unwrap();
        }
        assert!(set().nearest(&pages, &query, 10, |_| true).unwrap().best.is_empty());
        is_sound(&pages).unwrap();
    }
    let mut pages = MemoryPages::new();
    fill_with(&mut pages, &mut random, 10, &[]);
    build(&mut pages);
    let other = Query::new(&[1.0, 2.0], 2).unwrap();
    assert_eq!(set().nearest(&pages, &other, 1, |_| true).unwrap_err().kind(), ErrorKind::InvalidInput);
    for bad in [
        GraphOptions { m: 3, ..options() },
        GraphOptions { ef_construction: 7, ..options() },
        GraphOptions { ef_search: 0, ..options() },
        GraphOptions { rebuild_share: f64::NAN, ..options() },
        GraphOptions { threshold: 0, ..options() },
    ] {
        assert_eq!(bad.check().unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    GraphOptions::default().check().unwrap();
}

#[test]
fn damage_is_an_error_or_changes_nothing_and_the_doctor_sees_it() {
    let mut random = Random::new(29);
    let mut pages = MemoryPages::new();
    fill_with(&mut pages, &mut random, 300, &[]);
    build(&mut pages);
    set().remove(&mut pages, 20).unwrap();
    set().put(&mut pages, 40, &near(&mut random, &[])).unwrap();
    let query = Query::from_unit(near(&mut random, &[]));
    let tables = [Table::GraphCatalog, Table::GraphNodes, Table::GraphUpper, Table::GraphChanges];
    for (key, value) in tables.into_iter().flat_map(|one| table(&pages, one)) {
        let mut spoilt = Vec::new();
        for at in (0..value.len()).step_by(value.len() / 60 + 1) {
            let mut flipped = value.clone();
            flipped[at] ^= 1 << random.below(8);
            spoilt.push(Some(flipped));
        }
        spoilt.extend([0, 7, 8, value.len() / 2, value.len() - 1].map(|len| Some(value[..len].to_vec())));
        spoilt.push(None);
        for (at, spoilt) in spoilt.into_iter().enumerate() {
            let mut pages = pages.clone();
            crate::store::verified::forget_all(); // the allocator gives the address of an intact value to a spoilt one
            let gone = spoilt.is_none();
            match spoilt {
                Some(bytes) => pages.insert(key.clone(), bytes),
                None => pages.remove(&key),
            };
            let found = set().nearest(&pages, &query, 5, |_| true);
            assert!(found.is_ok() || found.is_err_and(|error| error.kind() == ErrorKind::StoreCorrupt));
            // Without its catalog there is no graph, and no lie either.
            assert!(is_sound(&pages).is_err() || (gone && key[4] == Table::GraphCatalog as u8), "{key:02x?} {at}");
        }
    }
}

#[test]
fn a_set_that_is_cleared_step_by_step_takes_its_graph_along() {
    let mut random = Random::new(41);
    let mut pages = MemoryPages::new();
    fill_with(&mut pages, &mut random, 600, &[]);
    build(&mut pages);
    set().remove(&mut pages, 20).unwrap();
    set().put(&mut pages, 40, &near(&mut random, &[])).unwrap();
    let late = built(&mut pages, LEASE);
    let query = Query::from_unit(near(&mut random, &[]));
    let mut steps = 0;
    while set().clear_some(&mut pages, 1).unwrap() {
        steps += 1;
        assert_eq!(is_sound(&pages).unwrap(), 0, "the graph goes first");
        let left = set().audit(&pages).unwrap().len();
        let nearest = set().nearest(&pages, &query, 1000, |_| true).unwrap();
        assert!(nearest.is_exact());
        assert_eq!(nearest.best.len(), left);
        assert!(!late.put(&mut pages, 0).unwrap(), "what was being built is given up");
    }
    assert!(steps > 2);
    assert!(pages.is_empty(), "not even the catalog is left");
    assert!(!late.finish(&mut pages).unwrap());
    set().abandon_graph(&mut pages, 2).unwrap();
    assert_eq!(set().begin_graph(&mut pages, 0).unwrap(), None);
    assert!(pages.is_empty());
}

/// A revision of the built-in embedding and an embedding of the store may have one number.
#[test]
fn vectors_of_messages_never_touch_a_graph() {
    let mut random = Random::new(42);
    let mut pages = MemoryPages::new();
    fill_with(&mut pages, &mut random, 300, &[]);
    build(&mut pages);
    let graph =
        |pages: &MemoryPages| [Table::GraphCatalog, Table::GraphNodes, Table::GraphUpper, Table::GraphChanges].map(|one| table(pages, one));
    let (before, messages) = (graph(&pages), VectorSet::of_messages(7, 3, 256));
    let vector = UnitVector::new(&random.vector(messages.dims()), messages.dims()).unwrap();
    messages.put_many(&mut pages, &[(2, &vector), (4, &vector)]).unwrap();
    assert!(messages.remove(&mut pages, 2).unwrap());
    assert_eq!(messages.begin_graph(&mut pages, 0).unwrap(), None);
    let nearest = messages.nearest(&pages, &Query::from_unit(vector), 5, |_| true).unwrap();
    assert!(nearest.is_exact());
    assert_eq!(nearest.best.len(), 1);
    while messages.clear_some(&mut pages, 1).unwrap() {}
    assert_eq!(graph(&pages), before);
    assert_eq!(is_sound(&pages).unwrap(), 300);
}

#[test]
fn a_second_filter_is_asked_of_what_was_scanned() {
    let mut random = Random::new(43);
    let mut pages = MemoryPages::new();
    let centres = centres(&mut random, 40);
    fill_with(&mut pages, &mut random, 2000, &centres);
    for graph in [false, true] {
        if graph {
            build(&mut pages);
        }
        let query = Query::from_unit(near(&mut random, &centres));
        let mut nearest = Nearest::default();
        for keep in [|_| true, |number: u32| number > 3000, |number: u32| number.is_multiple_of(1000)] {
            nearest.find(set(), &pages, &query, 10, keep).unwrap();
            let fresh = set().nearest(&pages, &query, 10, keep).unwrap();
            assert_eq!(nearest.best, fresh.best);
            assert!(graph || nearest.is_exact());
        }
    }
}

/// A writer's bug, not a bad disk: the checksum is right and the content is not.
#[test]
fn sealed_values_that_contradict_themselves_are_damage() {
    let mut random = Random::new(30);
    let mut pages = MemoryPages::new();
    fill_with(&mut pages, &mut random, 300, &[]);
    build(&mut pages);
    let query = Query::from_unit(near(&mut random, &[]));
    let shape = super::shape::Shape::new(DIMS, options().m);
    let spoil = |one: Table, at: usize, bytes: &[u8]| {
        let mut pages = pages.clone();
        let (key, mut value) = table(&pages, one).pop_first().unwrap();
        value[ENVELOPE_BYTES + at..][..bytes.len()].copy_from_slice(bytes);
        envelope::seal_in_place(&key, 1, Codec::Packed as u8, &mut value);
        pages.insert(key, value);
        (set().nearest(&pages, &query, 300, |_| true).map(|found| found.best.len()), is_sound(&pages))
    };
    let is_damage = |(found, audit): (Result<usize>, Result<u64>)| {
        assert!(found.is_ok_and(|found| found <= 300) || audit.as_ref().is_err_and(|error| error.kind() == ErrorKind::StoreCorrupt));
        assert_eq!(audit.unwrap_err().kind(), ErrorKind::StoreCorrupt);
    };
    let node = super::shape::PADDING + 5 * shape.stride;
    is_damage(spoil(Table::GraphNodes, node, &300_u32.to_le_bytes())); // a link to nowhere
    is_damage(spoil(Table::GraphNodes, node + shape.head - 8, &601_u32.to_le_bytes())); // a memory that is not
    is_damage(spoil(Table::GraphNodes, node + shape.head - 8, &6_u32.to_le_bytes())); // another memory
    is_damage(spoil(Table::GraphNodes, node + shape.head - 4, &f32::NAN.to_le_bytes()));
    is_damage(spoil(Table::GraphNodes, node + shape.head, &[1, 2, 3, 4])); // other codes
    is_damage(spoil(Table::GraphUpper, super::shape::PADDING, &400_u32.to_le_bytes()));
    is_damage(spoil(Table::GraphCatalog, 12, &301_u32.to_le_bytes())); // more nodes than there are
    is_damage(spoil(Table::GraphCatalog, 16, &12_u16.to_le_bytes())); // another M
    is_damage(spoil(Table::GraphCatalog, 16, &0_u16.to_le_bytes()));
    is_damage(spoil(Table::GraphCatalog, 18, &9_u16.to_le_bytes()));
    is_damage(spoil(Table::GraphCatalog, 8, &100_u32.to_le_bytes())); // a smaller last: nodes newer than it
}
