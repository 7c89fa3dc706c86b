//! The index against a dictionary: random changes, then every answer compared with a scorer that knows no index.

use std::collections::{BTreeMap, BTreeSet};

use super::apply::apply_with;
use super::layout::Layout;
use super::*;
use crate::ErrorKind;
use crate::store::pages::MemoryPages;

/// `SplitMix64`: small, and the same everywhere.
pub(super) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`, which is not 0.
    pub fn below(&mut self, limit: u32) -> u32 {
        (self.next() >> 32) as u32 % limit
    }
}

const INDEX: IndexId = IndexId { partition: 7, index: 1 };

fn term(word: u32) -> u64 {
    Random::new(word as u64).next()
}

/// The keys of the blocks that have a term, and how many postings each has.
fn lists_of<'p>(pages: &'p MemoryPages, term: u64, met: &mut lookup::Met<'p>) -> Vec<(&'p [u8], u64)> {
    let mut lists = Vec::new();
    let found = lookup::lists(pages, INDEX.postings(), term, met, |key, list| {
        lists.push((key, lookup::postings_of(key, list)?));
        Ok(())
    });
    found.map(|()| lists).expect("sound")
}

fn key(word: u32) -> u64 {
    Random::new(1 << 40 | word as u64).next()
}

#[derive(Clone)]
struct Document {
    row: Row,
    terms: Vec<TermCount>,
    keys: Vec<u64>,
}

/// The expected index: documents as they were given.
#[derive(Clone, Default)]
struct Model {
    documents: BTreeMap<u32, Document>,
    keys: BTreeSet<(u64, u32)>,
}

impl Model {
    fn statistics(&self) -> Statistics {
        let total_length = self.documents.values().map(|document| document.row.length as u64).sum();
        Statistics { documents: self.documents.len() as u64, total_length }
    }

    /// Every term and key, with the count of each document that has it.
    fn dictionary(&self) -> Dictionary {
        let mut dictionary = Dictionary::new();
        for &(key, number) in &self.keys {
            dictionary.entry(key).or_default().insert(number, 0);
        }
        for (&number, document) in &self.documents {
            for term in &document.terms {
                dictionary.entry(term.hash).or_default().insert(number, term.count);
            }
        }
        dictionary
    }

    /// BM25 written down from its definition, without any of the index's code.
    fn score_all(&self, dictionary: &Dictionary, terms: &[QueryTerm], k1: f64, b: f64) -> Vec<Hit> {
        let statistics = self.statistics();
        let n = statistics.documents as f64;
        let average = if statistics.total_length == 0 { 1.0 } else { statistics.total_length as f64 / n };
        let mut scores = BTreeMap::new();
        for term in terms {
            let Some(documents) = dictionary.get(&term.hash) else { continue };
            let df = documents.len() as f64;
            let idf = libm::log(1.0 + (n - df + 0.5) / (df + 0.5));
            for (&number, &count) in documents {
                let length = f64::from(self.documents[&number].row.length);
                let norm = k1 * (1.0 - b) + k1 * b / average * length;
                let factor = f64::from(term.weight) * idf * (k1 + 1.0);
                let contribution = factor * f64::from(count) / (f64::from(count) + norm);
                *scores.entry(number).or_insert(0) += (contribution * 4_294_967_296.0).round_ties_even() as i64;
            }
        }
        scores.into_iter().filter(|(_, score)| *score > 0).map(|(number, score)| Hit { number, score }).collect()
    }
}

type Dictionary = BTreeMap<u64, BTreeMap<u32, u8>>;

fn numbers_of(dictionary: &Dictionary, hash: u64) -> Vec<u32> {
    dictionary.get(&hash).map(|documents| documents.keys().copied().collect()).unwrap_or_default()
}

struct Pair {
    layout: Layout,
    pages: MemoryPages,
    statistics: Statistics,
    model: Model,
    words: u32,
    /// Documents have every stride-th number.
    stride: u32,
}

impl Pair {
    fn new(page_bytes: usize, run_postings: usize, words: u32) -> Self {
        let words_per_tail_page = if page_bytes == 4080 { 20_000 } else { 1000 };
        let layout = Layout { page_bytes, run_postings, words_per_tail_page, dense: false };
        Self { layout, pages: MemoryPages::new(), statistics: Statistics::default(), model: Model::default(), words, stride: 1 }
    }

    fn document(&self, random: &mut Random, number: u32) -> Document {
        let mut words = BTreeSet::new();
        for _ in 0..random.below(30) {
            // The product of two uniform numbers: a few words are everywhere, most are rare.
            words.insert((random.below(self.words) as u64 * random.below(self.words) as u64 / self.words as u64) as u32);
        }
        let count = |random: &mut Random| if random.below(4) == 0 { 1 + random.below(255) as u8 } else { 1 };
        let mut terms: Vec<_> = words.into_iter().map(|word| TermCount { hash: term(word), count: count(random) }).collect();
        if random.below(3) == 0 {
            terms.reverse();
        }
        let row = Row {
            kind: random.below(7) as u8,
            trust: random.below(4) as u8,
            flags: (random.below(8) as u8) << 1,
            importance: random.below(256) as u8,
            length: if random.below(40) == 0 { 65_530 + random.below(1 << 20) } else { random.below(60) },
            occurred_at: random.next() as i64,
            known_from: random.next() as i64,
            expires_at: if random.below(2) == 0 { NEVER } else { random.next() as i64 },
        };
        Document { row, terms, keys: vec![key(number), key(1_000_000 + random.below(20))] }
    }

    /// Random operations, applied to both.
    fn step(&mut self, random: &mut Random, operations: usize, numbers: u32, removals: u32) {
        let mut kept: Vec<(u32, Document, u8)> = Vec::new();
        let mut model = self.model.clone();
        for _ in 0..operations {
            let number = random.below(numbers) * self.stride;
            let present = model.documents.get(&number).cloned();
            match present {
                None => {
                    let document = self.document(random, number);
                    model.keys.extend(document.keys.iter().map(|&key| (key, number)));
                    model.documents.insert(number, document.clone());
                    kept.push((number, document, 0));
                }
                Some(mut document) if random.below(10) < removals => {
                    if random.below(2) == 0 {
                        document.keys.remove(0);
                    }
                    for &key in &document.keys {
                        model.keys.remove(&(key, number));
                    }
                    model.documents.remove(&number);
                    kept.push((number, document, 1));
                }
                Some(before) => {
                    let mut document = before.clone();
                    document.row = Row { length: before.row.length, ..self.document(random, number).row };
                    model.documents.insert(number, document.clone());
                    kept.push((number, document, 2));
                }
            }
        }
        let ops: Vec<Op<'_>> = kept
            .iter()
            .map(|(number, Document { row, terms, keys }, what)| match what {
                0 => Op::Add { number: *number, row: *row, terms, keys },
                1 => Op::Remove { number: *number, terms, keys },
                _ => Op::Update { number: *number, row: *row },
            })
            .collect();
        apply_with(self.layout, &mut self.pages, INDEX, &mut self.statistics, &ops).expect("sound operations");
        self.model = model;
    }

    fn query(&self, random: &mut Random) -> Vec<QueryTerm> {
        let weight = |random: &mut Random| [1.0, 0.3, 3.0, 0.0][random.below(4) as usize];
        (0..=random.below(7)).map(|_| QueryTerm { hash: term(random.below(self.words + 3)), weight: weight(random) }).collect()
    }

    fn check(&self, random: &mut Random) {
        assert_eq!(self.statistics, self.model.statistics());
        let dictionary = self.model.dictionary();
        let mut reader = Reader::open(&self.pages, INDEX).expect("a sound index");
        for hash in (0..self.words).map(term).chain((1_000_000..1_000_020).map(key)) {
            assert_eq!(reader.find(hash).expect("sound"), numbers_of(&dictionary, hash));
        }
        self.check_frequencies(&dictionary, random);
        for (number, document) in &self.model.documents {
            let row = reader.row(*number).expect("sound").expect("present");
            assert_eq!(row, Row { flags: document.row.flags | PRESENT, ..document.row });
        }
        for _ in 0..6 {
            self.check_query(&dictionary, random);
        }
    }

    /// Terms where blocks begin, beside them, and of none, some twice: asked together and one by one.
    fn check_frequencies(&self, dictionary: &Dictionary, random: &mut Random) {
        let reader = Reader::open(&self.pages, INDEX).expect("a sound index");
        let of_blocks = self.blocks().into_iter().filter_map(|(key, _)| INDEX.postings().place(key));
        let beside = of_blocks.map(|place| place.term).flat_map(|term| [term.wrapping_sub(1), term, term.wrapping_add(1)]);
        let words: Vec<u64> = (0..self.words + 20).map(term).collect();
        let mut hashes: Vec<u64> = beside.chain(words.iter().copied()).chain([0, u64::MAX]).filter(|_| random.below(3) > 0).collect();
        hashes.extend_from_within(..hashes.len() / 4);
        let expected: Vec<u64> = hashes.iter().map(|hash| reader.frequency(*hash).expect("sound")).collect();
        assert_eq!(reader.frequencies(&hashes).expect("sound"), expected);
        let expected: Vec<u64> = words.iter().map(|word| dictionary.get(word).map_or(0, |numbers| numbers.len() as u64)).collect();
        assert_eq!(reader.frequencies(&words).expect("sound"), expected);
        let mut met = None;
        for hash in hashes {
            assert_eq!(lists_of(&self.pages, hash, &mut met), lists_of(&self.pages, hash, &mut None), "whatever was met before");
        }
        let words: Vec<u64> = words.into_iter().filter(|_| random.below(3) > 0).collect::<BTreeSet<u64>>().into_iter().collect();
        for most in [0, 1, 5, 1000] {
            let rare = |word: &u64| Some(numbers_of(dictionary, *word)).filter(|all| all.len() <= most).unwrap_or_default();
            assert_eq!(reader.of_rare(&words, most).expect("sound"), words.iter().map(rare).collect::<Vec<_>>());
        }
    }

    fn check_query(&self, dictionary: &Dictionary, random: &mut Random) {
        let mut reader = Reader::open(&self.pages, INDEX).expect("a sound index");
        let terms = self.query(random);
        let (k1, b) = [(0.9, 0.4), (1.2, 0.75), (0.0, 0.0), (2.0, 1.0)][random.below(4) as usize];
        let query = Query { terms: &terms, parameters: Parameters::new(k1, b).expect("in range"), statistics: self.statistics };
        let expected = self.model.score_all(dictionary, &terms, k1, b);
        assert_eq!(reader.score_all(&query).expect("sound").hits, expected);

        let mut ranked = expected.clone();
        ranked.sort_by_key(|hit| (-hit.score, hit.number));
        let kind = random.below(7) as u8;
        for limit in [0, 1, 3, 10, 1000] {
            assert_eq!(reader.top_k(&query, limit, |_, _| true).expect("sound").hits, ranked[..limit.min(ranked.len())]);
            let kept = ranked.iter().filter(|hit| self.model.documents[&hit.number].row.kind == kind).take(limit);
            let filtered = reader.top_k(&query, limit, |_, row| row.kind == kind).expect("sound").hits;
            assert_eq!(filtered, kept.copied().collect::<Vec<_>>());
        }
        for hit in ranked.iter().take(3) {
            let parts = reader.explain(&query, hit.number).expect("sound");
            assert_eq!(parts.iter().map(|part| part.score).sum::<i64>(), hit.score);
            assert!(parts.iter().map(|part| part.term).eq(terms.iter().copied()));
        }
    }

    /// The blocks of postings, as (key, body).
    fn blocks(&self) -> Vec<(&[u8], &[u8])> {
        let prefix = crate::store::keys::Key::new(INDEX.partition, crate::store::keys::Table::Postings);
        let range = prefix.prefix_range();
        self.pages.range(range).map(|(key, value)| (key.as_slice(), &value[8..])).collect()
    }

    fn check_pages(&self) {
        for (key, value) in &self.pages {
            assert!(key[4] >= crate::store::keys::Table::Attributes as u8 || value.len() <= self.layout.page_bytes);
        }
        let small = self.blocks().iter().filter(|(_, body)| body.len() < self.layout.body_bytes() / 4).count();
        assert!(small <= 1 + self.blocks().len() / 8, "{small} of {} blocks are nearly empty", self.blocks().len());
    }
}

#[test]
fn agrees_with_a_dictionary_on_tiny_pages() {
    for seed in 0..12 {
        let random = &mut Random::new(seed);
        let mut pair = Pair::new(256 + 64 * (seed as usize % 3), 8, 120);
        for round in 0..40 {
            let operations = [1, 3, 40, 1, 100][random.below(5) as usize];
            pair.step(random, operations, 300, if round % 13 < 9 { 3 } else { 9 });
            pair.check(random);
        }
        pair.check_pages();
    }
}

#[test]
fn agrees_with_a_dictionary_on_whole_pages() {
    for seed in 100..103 {
        let random = &mut Random::new(seed);
        let mut pair = Pair::new(4080, 128, 300);
        for _ in 0..12 {
            let operations = [5, 300, 1000][random.below(3) as usize];
            pair.step(random, operations, 3000, 4);
            pair.check(random);
        }
        pair.check_pages();
    }
}

/// Gaps make many windows, so that there is something to skip.
#[test]
fn skips_nothing_that_belongs_to_the_best() {
    for seed in 200..204 {
        let random = &mut Random::new(seed);
        let mut pair = Pair { stride: 1 + random.below(500), ..Pair::new([256, 4080][seed as usize % 2], [8, 128][seed as usize % 2], 80) };
        for _ in 0..4 {
            pair.step(random, 1500, 3000, 2);
            for _ in 0..4 {
                pair.check(random);
            }
        }
    }
}

#[test]
fn an_emptied_index_leaves_no_postings() {
    let random = &mut Random::new(5);
    let mut pair = Pair::new(256, 8, 60);
    pair.step(random, 200, 100, 0);
    let all: Vec<_> = pair.model.documents.clone().into_iter().collect();
    let ops: Vec<_> = all.iter().map(|(number, d)| Op::Remove { number: *number, terms: &d.terms, keys: &d.keys }).collect();
    apply_with(pair.layout, &mut pair.pages, INDEX, &mut pair.statistics, &ops).expect("sound");
    assert_eq!(pair.statistics, Statistics::default());
    assert_eq!(pair.blocks().len(), 0);
}

#[test]
fn other_indexes_and_partitions_stay_apart() {
    let random = &mut Random::new(6);
    let mut pair = Pair::new(256, 8, 60);
    for (partition, index) in [(7, 0), (7, 2), (6, 255), (8, 0), (6, 1), (7, 255)] {
        let other = IndexId { partition, index };
        let document = pair.document(random, 3);
        let keys = [term(2)];
        let ops: Vec<_> = (0..50).map(|number| Op::Add { number, row: document.row, terms: &document.terms, keys: &keys }).collect();
        apply_with(pair.layout, &mut pair.pages, other, &mut Statistics::default(), &ops).expect("sound");
    }
    for _ in 0..20 {
        pair.step(random, 20, 100, 5);
        pair.check(random);
    }
}

#[test]
fn operations_that_contradict_the_index_change_nothing() {
    let random = &mut Random::new(8);
    let mut pair = Pair::new(4080, 128, 60);
    pair.step(random, 50, 100, 0);
    let (&present, document) = pair.model.documents.iter().next().expect("some");
    let longer = Row { length: document.row.length + 1, ..document.row };
    let wrong = [
        Op::Add { number: present, row: document.row, terms: &[], keys: &[] },
        Op::Remove { number: 5000, terms: &[], keys: &[] },
        Op::Update { number: 5000, row: document.row },
        Op::Update { number: present, row: longer },
    ];
    let before = pair.pages.clone();
    for op in wrong {
        let added = Op::Add { number: 4000, row: document.row, terms: &document.terms, keys: &[] };
        let error = apply(&mut pair.pages, INDEX, &mut pair.statistics.clone(), &[added, op]).expect_err("a contradiction");
        assert_eq!(error.kind(), ErrorKind::StoreCorrupt);
    }
    let full = Op::Add { number: u32::MAX, row: document.row, terms: &[], keys: &[] };
    let error = apply(&mut pair.pages, INDEX, &mut pair.statistics.clone(), &[full]).expect_err("no such number");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(before == pair.pages);
}

#[test]
fn queries_out_of_range_are_refused() {
    let pages = MemoryPages::new();
    let mut reader = Reader::open(&pages, INDEX).expect("an empty index");
    let mut ask =
        |terms: &[QueryTerm]| reader.score_all(&Query { terms, parameters: Parameters::default(), statistics: Statistics::default() });
    assert_eq!(ask(&[]).expect("nothing asked").hits, []);
    assert_eq!(ask(&[QueryTerm { hash: 1, weight: 1.0 }]).expect("nothing there").hits, []);
    for weight in [-1.0, f32::NAN, f32::INFINITY, 1001.0] {
        assert_eq!(ask(&[QueryTerm { hash: 1, weight }]).expect_err("a bad weight").kind(), ErrorKind::InvalidInput);
    }
    assert_eq!(ask(&vec![QueryTerm { hash: 1, weight: 1.0 }; 4097]).expect_err("too many").kind(), ErrorKind::InvalidInput);
}

#[test]
fn terms_given_twice_add_up_and_keys_do_not_score() {
    let mut pages = MemoryPages::new();
    let mut statistics = Statistics::default();
    let row = Row { kind: 0, trust: 0, flags: 0, importance: 0, length: 9, occurred_at: 0, known_from: 0, expires_at: NEVER };
    let terms = [(3, 200), (1, 1), (3, 100), (2, 0)].map(|(hash, count)| TermCount { hash, count });
    apply(&mut pages, INDEX, &mut statistics, &[Op::Add { number: 0, row, terms: &terms, keys: &[9, 9, 1] }]).expect("sound");
    let mut reader = Reader::open(&pages, INDEX).expect("sound");
    let asked = [1, 2, 3, 9].map(|hash| QueryTerm { hash, weight: 1.0 });
    let parts = reader.explain(&Query { terms: &asked, parameters: Parameters::default(), statistics }, 0).expect("sound");
    assert_eq!(parts.iter().map(|part| part.count).collect::<Vec<_>>(), [1, 1, 255, 0]);
    for hash in [1, 2, 3, 9] {
        assert_eq!(reader.find(hash).expect("sound"), [0]);
    }
}

/// Long texts fill a page of the tail with one operation, and a merge for each would rewrite the whole index.
#[test]
fn a_long_text_goes_to_the_tail_of_a_large_index() {
    let mut pages = MemoryPages::new();
    let mut statistics = Statistics::default();
    let row = Row { kind: 0, trust: 0, flags: 0, importance: 0, length: 2000, occurred_at: 0, known_from: 0, expires_at: NEVER };
    let terms: Vec<Vec<TermCount>> = (0..320)
        .map(|number| (0..900).map(|i| TermCount { hash: term(i * 320 + number % 40), count: 1 + (i % 3 == 0) as u8 }).collect())
        .collect();
    let op = |number: usize| Op::Add { number: number as u32, row, terms: &terms[number], keys: &[] };
    apply(&mut pages, INDEX, &mut statistics, &(0..300).map(op).collect::<Vec<_>>()).expect("sound");
    let before = pages.clone();
    apply(&mut pages, INDEX, &mut statistics, &[op(300)]).expect("sound");
    let changed = pages.iter().filter(|(key, value)| before.get(*key) != Some(value)).count();
    assert_eq!(changed, 2, "8 KB of operation in two pages, nothing merged");
    let reader = Reader::open(&pages, INDEX).expect("sound");
    for last in [0, 450, 899] {
        let found = reader.find(terms[300][last].hash).expect("sound");
        assert_eq!(found.last(), Some(&300));
    }
    let held = reader.postings().expect("sound");
    assert_eq!(held.iter().filter(|posting| posting.number == 300).count(), 900, "the doctor sees both pages");
}

#[test]
fn the_same_operations_give_the_same_bytes() {
    let build = || {
        let random = &mut Random::new(11);
        let mut pair = Pair::new(512, 16, 200);
        for _ in 0..30 {
            pair.step(random, 20, 500, 4);
        }
        pair.pages
    };
    assert!(build() == build());
}

/// Everything that can be asked of an index, as one value; an error where any question gives one.
/// The results of every look-up and every question.
type Answers = (Vec<Vec<u32>>, Vec<Vec<Hit>>);

fn interview(pages: &MemoryPages, statistics: Statistics, words: u32) -> crate::Result<Answers> {
    let mut reader = Reader::open(pages, INDEX)?;
    let found = (0..words).map(|word| reader.find(term(word))).collect::<crate::Result<_>>()?;
    let mut hits = Vec::new();
    for word in (0..words).step_by(5) {
        let terms: Vec<_> = (word..word + 5).map(|word| QueryTerm { hash: term(word), weight: 1.0 }).collect();
        let query = Query { terms: &terms, parameters: Parameters::default(), statistics };
        hits.push(reader.score_all(&query)?.hits);
        hits.push(reader.top_k(&query, 5, |_, _| true)?.hits);
        reader.explain(&query, word)?;
    }
    Ok((found, hits))
}

fn damage(random: &mut Random, pages: &mut MemoryPages, sealed: bool) {
    let at = random.below(pages.len() as u32) as usize;
    let (key, value) = pages.iter_mut().nth(at).expect("in range");
    for _ in 0..=random.below(3) {
        let at = random.below(value.len() as u32) as usize;
        value[at] = if random.below(2) == 0 { random.below(256) as u8 } else { value[at] ^ 1 << random.below(8) };
    }
    if random.below(8) == 0 {
        value.truncate(random.below(value.len() as u32 + 1) as usize);
    }
    if sealed && value.len() >= 8 {
        crate::store::envelope::seal_in_place(key, 1, 1, value);
    }
}

#[test]
fn damage_is_noticed_or_harmless() {
    let random = &mut Random::new(21);
    let mut pair = Pair::new(512, 16, 60);
    pair.step(random, 300, 300, 3);
    pair.step(random, 2, 300, 3);
    let right = interview(&pair.pages, pair.statistics, 60).expect("sound");
    // Kept until the end: a copy must not come to lie where another one was checked.
    let mut copies = Vec::new();
    for _ in 0..400 {
        let mut pages = pair.pages.clone();
        damage(random, &mut pages, false);
        match interview(&pages, pair.statistics, 60) {
            Ok(answer) => assert!(answer == right),
            Err(error) => assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error}"),
        }
        copies.push(pages);
    }
}

#[test]
fn forged_blocks_never_panic() {
    let random = &mut Random::new(22);
    for seed in 0..6 {
        let mut pair = Pair::new([512, 4080][seed % 2], [16, 128][seed % 2], 60);
        pair.step(random, 400, 400, 3);
        pair.step(random, 2, 400, 3);
        for _ in 0..300 {
            let mut pages = pair.pages.clone();
            damage(random, &mut pages, true);
            if let Err(error) = interview(&pages, pair.statistics, 60) {
                assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error}");
            }
            let document = pair.document(random, 0);
            let add = |number| Op::Add { number, row: document.row, terms: &document.terms, keys: &document.keys };
            let ops: Vec<_> = (1000..1040).map(add).collect();
            if let Err(error) = apply_with(pair.layout, &mut pages, INDEX, &mut pair.statistics.clone(), &ops) {
                assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error}");
            }
        }
    }
}
