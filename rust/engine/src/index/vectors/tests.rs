//! The whole module against a map and brute force in f64.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::exact::Rounded;
use super::testing::Random;
use super::*;
use crate::ErrorKind;
use crate::store::envelope::ONE_PAGE;
use crate::store::pages::{MemoryPages, Pages, PagesMut};
use crate::units::score::SCORE_ONE;

const PARTITION: u32 = 7;
const EMBEDDING: u16 = 3;

type Model = BTreeMap<u32, UnitVector>;

fn set(dims: usize) -> VectorSet {
    VectorSet::new(PARTITION, EMBEDDING, dims).unwrap()
}

fn unit(values: &[f32]) -> UnitVector {
    UnitVector::new(values, values.len()).unwrap()
}

/// Cosines in plain f64, best first; equal ones by number.
fn brute_force(model: &Model, query: &UnitVector) -> Vec<(u32, f64)> {
    let dot =
        |vector: &UnitVector| -> f64 { vector.as_slice().iter().zip(query.as_slice()).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum() };
    let mut all: Vec<_> = model.iter().map(|(&number, vector)| (number, dot(vector))).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    all
}

/// First number and length of every block, checking that each fits its page.
fn blocks(set: &VectorSet, pages: &MemoryPages) -> Vec<(u32, usize)> {
    let mut found = Vec::new();
    let range = set.blocks().prefix_range();
    pages
        .scan(&range.start, &range.end, &mut |key, value| {
            assert!(value.len() <= ONE_PAGE || vectors_per_block(set.dims()) == 1);
            found.push((set.first_of(key).unwrap(), set.open_block(key, value)?.len()));
            Ok(ControlFlow::Continue(()))
        })
        .unwrap();
    found
}

/// The stored state against the model: numbers, exact vectors, scores within the error of int8, nothing left over.
fn compare(set: &VectorSet, pages: &MemoryPages, model: &Model, query: &Query) {
    let mut scores = Scores::new();
    set.scan(pages, query, &mut scores).unwrap();
    assert_eq!(scores.iter().map(|scored| scored.number).collect::<Vec<_>>(), model.keys().copied().collect::<Vec<_>>());
    let rounded: Model = model.iter().map(|(number, vector)| (*number, Rounded::new(vector).unit())).collect();
    let exact: BTreeMap<u32, f64> = brute_force(&rounded, query.unit()).into_iter().collect();
    for (number, vector) in &rounded {
        assert_eq!(set.get(pages, *number).unwrap().as_deref(), Some(vector.as_slice()));
        let cosine = set.cosine(pages, *number, query).unwrap().unwrap();
        assert!((f64::from(cosine) / f64::from(SCORE_ONE) - exact[number]).abs() < 1e-7);
        // Codes are off by half a step in either vector; half a step is at most 1/254 of the largest component.
        let off = (f64::from(scores.get(*number).unwrap()) / f64::from(SCORE_ONE) - exact[number]).abs();
        assert!(off < 0.02, "off by {off} at {} dimensions", set.dims());
    }
    let chunks = set.dims().div_ceil(2016);
    assert_eq!(pages.len(), blocks(set, pages).len() + model.len() * chunks, "no value is left over");
}

fn random_number(random: &mut Random) -> u32 {
    match random.below(20) {
        0 => 0,
        1 => u32::MAX,
        2 => u32::MAX - random.below(4) as u32,
        _ => random.below(400) as u32,
    }
}

fn step(random: &mut Random, set: &VectorSet, pages: &mut MemoryPages, model: &mut Model) {
    match random.below(10) {
        0..=3 => {
            let (number, vector) = (random_number(random), unit(&random.vector(set.dims())));
            set.put(pages, number, &vector).unwrap();
            model.insert(number, vector);
        }
        4..=7 => {
            let number = match model.keys().nth(random.below(model.len().max(1))) {
                Some(&number) if random.below(8) > 0 => number,
                _ => random_number(random),
            };
            assert_eq!(set.remove(pages, number).unwrap(), model.remove(&number).is_some());
        }
        8 => {
            let start = random.below(500) as u32;
            let batch: Vec<_> = (0..random.below(40)).map(|at| (start + at as u32, unit(&random.vector(set.dims())))).collect();
            put_batch(set, pages, model, &batch);
        }
        _ => {
            let batch: Vec<_> = (0..random.below(25)).map(|_| (random_number(random), unit(&random.vector(set.dims())))).collect();
            put_batch(set, pages, model, &batch);
        }
    }
}

fn put_batch(set: &VectorSet, pages: &mut MemoryPages, model: &mut Model, batch: &[(u32, UnitVector)]) {
    let borrowed: Vec<_> = batch.iter().map(|(number, vector)| (*number, vector)).collect();
    set.put_many(pages, &borrowed).unwrap();
    model.extend(batch.iter().cloned());
}

#[test]
fn any_history_leaves_what_a_map_holds() {
    for (seed, dims) in [1, 2, 3, 8, 33, 100, 255, 384, 500, 1008, 1009, 1100, 2100, 4096, 8192].into_iter().enumerate() {
        let mut random = Random::new(100 + seed as u64);
        let set = set(dims);
        let (mut pages, mut model) = (MemoryPages::new(), Model::new());
        for round in 0..if dims > 2000 { 25 } else { 160 } {
            step(&mut random, &set, &mut pages, &mut model);
            if round % 5 == 0 {
                compare(&set, &pages, &model, &Query::new(&random.vector(dims), dims).unwrap());
            }
        }
        for number in model.keys().copied().collect::<Vec<_>>() {
            assert!(set.remove(&mut pages, number).unwrap());
        }
        assert!(pages.is_empty(), "removing all leaves nothing");
    }
}

#[test]
fn random_dimensions_too() {
    let mut random = Random::new(5);
    for _ in 0..60 {
        let dims = 1 + random.below(1100);
        let set = set(dims);
        let (mut pages, mut model) = (MemoryPages::new(), Model::new());
        (0..12).for_each(|_| step(&mut random, &set, &mut pages, &mut model));
        compare(&set, &pages, &model, &Query::new(&random.vector(dims), dims).unwrap());
    }
}

/// The same vectors, whatever the way they came in, answer with the same scores.
#[test]
fn appending_one_by_one_equals_a_batch() {
    let mut random = Random::new(6);
    let set = set(384);
    let batch: Vec<_> = (0..57).map(|number| (number, unit(&random.vector(384)))).collect();
    let (mut one_by_one, mut at_once, mut model) = (MemoryPages::new(), MemoryPages::new(), Model::new());
    for (number, vector) in &batch {
        set.put(&mut one_by_one, *number, vector).unwrap();
    }
    put_batch(&set, &mut at_once, &mut model, &batch);
    assert_eq!(one_by_one, at_once, "byte for byte");
    assert_eq!(blocks(&set, &at_once), [(0, 10), (10, 10), (20, 10), (30, 10), (40, 10), (50, 7)]);
}

/// Counts the writes of each key.
struct Counted(MemoryPages, BTreeMap<Vec<u8>, usize>);

impl Pages for Counted {
    fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        Pages::get(&self.0, key)
    }

    fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        self.0.floor(key)
    }

    fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        self.0.scan(from, to, visit)
    }
}

impl PagesMut for Counted {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        *self.1.entry(key.to_vec()).or_default() += 1;
        self.0.put(key, value)
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        *self.1.entry(key.to_vec()).or_default() += 1;
        self.0.delete(key)
    }
}

#[test]
fn a_batch_writes_each_page_once() {
    let mut random = Random::new(7);
    let set = set(384);
    let mut pages = Counted(MemoryPages::new(), BTreeMap::new());
    for (start, step) in [(0, 1), (1000, 1), (500, 3), (0, 7)] {
        let batch: Vec<_> = (0..100).map(|at| (start + at * step, unit(&random.vector(384)))).collect();
        let borrowed: Vec<_> = batch.iter().map(|(number, vector)| (*number, vector)).collect();
        pages.1.clear();
        set.put_many(&mut pages, &borrowed).unwrap();
        assert!(pages.1.values().all(|&writes| writes == 1), "{start}");
        if (start, step) == (0, 1) {
            assert_eq!(pages.1.len(), 10 + 100);
        }
    }
}

#[test]
fn neighbours_of_a_block_are_joined_and_pages_stay_half_full() {
    let mut random = Random::new(8);
    let set = set(64);
    let most = vectors_per_block(64);
    let (mut pages, mut model) = (MemoryPages::new(), Model::new());
    let batch: Vec<_> = (0..2000).map(|number| (number, unit(&random.vector(64)))).collect();
    put_batch(&set, &mut pages, &mut model, &batch);
    while model.len() > 40 {
        let number = *model.keys().nth(random.below(model.len())).unwrap();
        assert!(set.remove(&mut pages, number).unwrap());
        model.remove(&number);
    }
    let lengths: Vec<usize> = blocks(&set, &pages).iter().map(|block| block.1).collect();
    assert_eq!(lengths.iter().sum::<usize>(), 40);
    assert!(lengths.windows(2).all(|pair| pair[0] + pair[1] > most || pair.iter().any(|&length| length * 2 > most)), "{lengths:?}");
    assert!(lengths.len() <= 3, "{lengths:?}");
}

/// Random directions, a few tight clusters, and many exact copies.
fn corpora() -> Vec<(&'static str, Model, Vec<UnitVector>)> {
    let mut random = Random::new(9);
    let dims = 384;
    let mut noisy =
        |centre: &[f32], noise: f32| -> UnitVector { unit(&centre.iter().map(|x| x + noise * random.bell()).collect::<Vec<_>>()) };
    let zeros = vec![0.0; dims];
    let centres: Vec<_> = (0..12).map(|_| noisy(&zeros, 1.0)).collect();
    let spread: Model = (0..3000).map(|number| (number, noisy(&zeros, 1.0))).collect();
    let clustered: Model = (0..3000).map(|number| (number, noisy(centres[number as usize % 12].as_slice(), 0.05))).collect();
    let copies: Model = (0..3000)
        .map(|number| (number, if number % 3 == 0 { centres[number as usize % 12].clone() } else { noisy(&zeros, 1.0) }))
        .collect();
    let mut queries: Vec<_> = centres.iter().map(|centre| noisy(centre.as_slice(), 0.03)).collect();
    queries.extend((0..12).map(|_| noisy(&zeros, 1.0)));
    vec![("random", spread, queries.clone()), ("clustered", clustered, queries.clone()), ("duplicates", copies, queries)]
}

#[test]
fn scan_and_rerank_of_40_find_the_exact_best_ten() {
    for (name, model, queries) in corpora() {
        let set = set(384);
        let mut pages = MemoryPages::new();
        put_batch(&set, &mut pages, &mut Model::new(), &model.clone().into_iter().collect::<Vec<_>>());
        let mut scores = Scores::new();
        for (at, query) in queries.into_iter().enumerate() {
            let query = Query::from_unit(query);
            set.scan(&pages, &query, &mut scores).unwrap();
            let mut found = scores.best(40, |_| true);
            set.rerank(&pages, &query, &mut found).unwrap();
            let expected = brute_force(&model, query.unit());
            let exact: BTreeMap<u32, f64> = expected.iter().copied().collect();
            // Sixteen bits put in another order only what is as near, to 3e-5.
            for (found, expected) in found.iter().zip(&expected).take(10) {
                assert!((exact[&found.number] - expected.1).abs() < 3e-5, "{name}, query {at}");
            }
        }
    }
}

#[test]
fn a_filter_loses_nothing() {
    let (_, model, queries) = corpora().swap_remove(0);
    let set = set(384);
    let mut pages = MemoryPages::new();
    put_batch(&set, &mut pages, &mut Model::new(), &model.clone().into_iter().collect::<Vec<_>>());
    let query = Query::from_unit(queries[0].clone());
    let mut scores = Scores::new();
    set.scan(&pages, &query, &mut scores).unwrap();
    for modulus in [2, 100, 1000] {
        let keep = |number: u32| number % modulus == 1;
        let mut found = scores.best(40, keep);
        set.rerank(&pages, &query, &mut found).unwrap();
        let expected: Vec<u32> =
            brute_force(&model, query.unit()).into_iter().map(|(number, _)| number).filter(|&number| keep(number)).take(10).collect();
        assert_eq!(found.iter().map(|scored| scored.number).take(10).collect::<Vec<_>>(), expected, "{modulus}");
    }
}

#[test]
fn every_kernel_scans_to_the_same_scores() {
    let mut random = Random::new(10);
    let (mut pages, mut model) = (MemoryPages::new(), Model::new());
    let set = set(384);
    let batch: Vec<_> = (0..333).map(|number| (number, unit(&random.vector(384)))).collect();
    put_batch(&set, &mut pages, &mut model, &batch);
    let query = Query::new(&random.vector(384), 384).unwrap();
    let mut expected = Scores::new();
    set.scan_with(&pages, &query, Kernel::Scalar, &mut expected).unwrap();
    for kernel in Kernel::ALL {
        let mut scores = Scores::new();
        set.scan_with(&pages, &query, kernel, &mut scores).unwrap();
        assert!(scores.iter().eq(expected.iter()), "{kernel:?}");
    }
}

/// Computed by an independent script from the formulas of `docs/format.md`, so that a change of formula, order or rounding on any processor shows.
#[test]
fn scores_are_pinned() {
    let vectors: Vec<Vec<f32>> = (0..3_u16).map(|at| (0..100_u16).map(|i| f32::from((i * 37 + at * 11) % 101) - 50.0).collect()).collect();
    let set = set(100);
    let mut pages = MemoryPages::new();
    for (number, vector) in (0..).zip(&vectors) {
        set.put(&mut pages, number, &unit(vector)).unwrap();
    }
    let query = Query::new(&vectors[0], 100).unwrap();
    let mut scores = Scores::new();
    set.scan(&pages, &query, &mut scores).unwrap();
    let scanned: Vec<i32> = scores.iter().map(|scored| scored.score).collect();
    let exact: Vec<i32> = (0..3).map(|number| set.cosine(&pages, number, &query).unwrap().unwrap()).collect();
    assert_eq!((scanned, exact), (vec![1_073_302_017, 446_025_193, -30_752_623], vec![1_073_743_300, 446_202_404, -30_573_005]));
}

#[test]
fn sets_do_not_see_each_other() {
    let mut pages = MemoryPages::new();
    let mut sets = Vec::new();
    for (partition, embedding) in [(1, 1), (1, 2), (1, u16::MAX), (2, 0), (u32::MAX, u16::MAX)] {
        sets.push((VectorSet::new(partition, embedding, 3).unwrap(), sets.len() as u32));
    }
    for (set, number) in &sets {
        set.put(&mut pages, *number, &unit(&[1.0, 2.0, 3.0])).unwrap();
    }
    let query = Query::new(&[1.0, 0.0, 0.0], 3).unwrap();
    let mut scores = Scores::new();
    for (set, number) in &sets {
        set.scan(&pages, &query, &mut scores).unwrap();
        assert_eq!(scores.iter().map(|scored| scored.number).collect::<Vec<_>>(), [*number]);
        assert!(!set.remove(&mut pages, number + 1).unwrap());
    }
    assert!(sets[1].0.remove(&mut pages, 1).unwrap());
    sets[1].0.scan(&pages, &query, &mut scores).unwrap();
    assert!(scores.is_empty());
}

#[test]
fn wrong_dimensions_are_refused_before_anything_is_written() {
    for dims in [0, MAX_DIMENSIONS + 1, usize::MAX] {
        assert_eq!(VectorSet::new(1, 1, dims).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    let mut pages = MemoryPages::new();
    let (good, bad) = (unit(&[1.0, 2.0, 3.0]), unit(&[1.0, 2.0]));
    let error = set(3).put_many(&mut pages, &[(1, &good), (2, &bad)]).unwrap_err();
    assert!(error.message().contains("3 dimensions") && error.message().contains("got 2"), "{error}");
    assert!(pages.is_empty());
    let query = Query::new(&[1.0], 1).unwrap();
    assert!(set(3).scan(&pages, &query, &mut Scores::new()).is_err());
    assert!(set(3).cosine(&pages, 1, &query).is_err());
    assert!(set(3).rerank(&pages, &query, &mut [Scored { number: 1, score: 0 }]).is_err());
}

/// Damages every value in turn, a random byte of it, by a cut, by its absence: reads fail as damage or do not touch it, and
/// nothing panics.
#[test]
fn damage_is_an_error_and_never_a_panic() {
    let mut random = Random::new(11);
    for dims in [5, 384, 1100, 5000] {
        let set = set(dims);
        let mut good = MemoryPages::new();
        for number in 0..if dims > 1000 { 7 } else { 25 } {
            set.put(&mut good, number, &unit(&random.vector(dims))).unwrap();
        }
        let query = Query::new(&random.vector(dims), dims).unwrap();
        for key in good.keys().cloned().collect::<Vec<_>>() {
            let mut pages = good.clone();
            let value = pages.get_mut(&key).unwrap();
            let at = random.below(value.len());
            match random.below(3) {
                0 => value[at] ^= 1 + random.below(255) as u8,
                1 => value.truncate(at),
                _ => value.extend_from_slice(&[0; 9]),
            }
            // A map in memory may put a damaged copy where an intact one was verified and freed; a store does not.
            crate::store::verified::forget_all();
            assert_all_reads_fail(&set, &mut pages, &key, &query);
            let mut without = good.clone();
            without.remove(&key);
            assert_reads_do_not_panic(&set, &mut without, &query);
        }
    }
}

fn assert_all_reads_fail(set: &VectorSet, pages: &mut MemoryPages, key: &[u8], query: &Query) {
    let number = u32::from_be_bytes(key[7..11].try_into().unwrap());
    if set.first_of(key).is_some() {
        assert_eq!(set.scan(pages, query, &mut Scores::new()).unwrap_err().kind(), ErrorKind::StoreCorrupt);
        assert_eq!(set.put(pages, number, query.unit()).unwrap_err().kind(), ErrorKind::StoreCorrupt);
        assert_eq!(set.remove(pages, number).unwrap_err().kind(), ErrorKind::StoreCorrupt);
    } else {
        assert_eq!(set.cosine(pages, number, query).unwrap_err().kind(), ErrorKind::StoreCorrupt);
        assert_eq!(set.get(pages, number).unwrap_err().kind(), ErrorKind::StoreCorrupt);
    }
}

fn assert_reads_do_not_panic(set: &VectorSet, pages: &mut MemoryPages, query: &Query) {
    let mut scores = Scores::new();
    set.scan(pages, query, &mut scores).unwrap();
    let mut found = scores.best(40, |_| true);
    let _ = set.rerank(pages, query, &mut found);
    for number in 0..26 {
        let _ = set.get(pages, number);
        let _ = set.remove(pages, number);
    }
}

/// Keys of a shape that no writer makes, between the blocks.
#[test]
fn a_foreign_key_among_the_blocks_stops_nothing() {
    let set = set(4);
    let mut pages = MemoryPages::new();
    set.put(&mut pages, 10, &unit(&[1.0; 4])).unwrap();
    pages.insert([set.block_key(20).as_slice(), &[0]].concat(), vec![1, 2, 3]);
    pages.insert(set.blocks().as_slice().to_vec(), Vec::new());
    for number in [0, 5, 15, 20, 21, 30] {
        let _ = set.put(&mut pages, number, &unit(&[1.0; 4]));
        let _ = set.remove(&mut pages, number);
    }
    let error = set.scan(&pages, &Query::new(&[1.0; 4], 4).unwrap(), &mut Scores::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreCorrupt);
}

#[test]
fn asked_again_with_a_filter_the_best_are_those_of_another_scan() {
    let mut random = Random::new(9);
    let (set, mut pages) = (VectorSet::of_messages(3, 1, 256), MemoryPages::new());
    let vectors: Vec<UnitVector> = (0..3_000).map(|_| unit(&random.vector(256))).collect();
    let numbered: Vec<(u32, &UnitVector)> = (1..).zip(&vectors).collect();
    set.put_many(&mut pages, &numbered).unwrap();
    let (query, mut all) = (Query::new(&random.vector(256), 256).unwrap(), Scores::new());
    set.scan(&pages, &query, &mut all).unwrap();
    for n in [0, 1, 40, 300] {
        let mut nearest = set.nearest(&pages, &query, n, |_| true).unwrap();
        assert_eq!(nearest.best, all.best(n, |_| true), "{n}");
        for number in [0, 1, 2_999, 3_001] {
            assert_eq!(nearest.score(set, &pages, &query, number).unwrap(), all.get(number));
        }
        for more in [n / 2, 2 * n] {
            nearest.find(set, &pages, &query, more, |number| number % 3 == 0).unwrap();
            assert_eq!(nearest.best, all.best(more, |number| number % 3 == 0), "{more} of a third");
        }
    }
}
