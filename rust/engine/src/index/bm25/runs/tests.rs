//! Runs against a dictionary: random documents come and go while runs are sealed and merged, and every answer is compared with
//! a scorer that knows no index. The index is opened anew for each change, as each transaction does.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use super::super::formula::Parameters;
use super::super::tests::Random;
use super::super::{Hit, Indexed, QueryTerm};
use super::*;
use crate::ErrorKind;
use crate::store::envelope::{ONE_PAGE, seal_in_place};
use crate::store::keys::Table;
use crate::store::pages::MemoryPages;

const INDEX: IndexId = IndexId { partition: 7, index: 1 };

fn term(word: u32) -> u64 {
    Random::new(u64::from(word)).next()
}

#[derive(Clone)]
struct Text {
    length: u32,
    terms: Vec<TermCount>,
}

impl Text {
    fn of(words: impl IntoIterator<Item = u32>, length: u32, random: &mut Random) -> Self {
        let words: BTreeSet<u64> = words.into_iter().map(term).collect();
        let count = |random: &mut Random| if random.below(4) == 0 { 1 + random.below(255) as u8 } else { 1 };
        Self { length, terms: words.into_iter().map(|hash| TermCount { hash, count: count(random) }).collect() }
    }

    /// A few words are everywhere, most are rare; one text in fifty is longer than any tail.
    fn random(random: &mut Random, words: u32, long: u32) -> Self {
        let n = if random.below(50) == 0 { long } else { random.below(30) };
        let word = |random: &mut Random| (u64::from(random.below(words)) * u64::from(random.below(words)) / u64::from(words)) as u32;
        let chosen: Vec<u32> = (0..n).map(|at| if n == long { words + at } else { word(random) }).collect();
        let length = if random.below(40) == 0 { 65_530 + random.below(1 << 20) } else { random.below(60) };
        Self::of(chosen, length, random)
    }
}

fn tiny(random: &mut Random) -> Shape {
    let layout = Layout { page_bytes: 256 + 64 * random.below(3) as usize, run_postings: 8, dense: true, ..Layout::default() };
    Shape {
        layout,
        tail_pages: 1 + random.below(3) as usize,
        fan_in: 2 + random.below(3) as usize,
        step_blocks: 1 + random.below(4) as usize,
        first_class: 100,
        slice_terms: 7,
    }
}

struct Pair {
    shape: Shape,
    pages: MemoryPages,
    model: BTreeMap<u32, Text>,
    next: u32,
    words: u32,
}

impl Pair {
    fn new(shape: Shape, words: u32) -> Self {
        Self { shape, pages: MemoryPages::new(), model: BTreeMap::new(), next: 0, words }
    }

    fn open(&self) -> Runs {
        Runs::open_with(self.shape, &self.pages, INDEX).expect("a sound index")
    }

    fn append(&mut self, gap: u32, text: Text) {
        let number = self.next + gap;
        let mut runs = self.open();
        runs.append(&mut self.pages, &Document { number, length: text.length, terms: &text.terms }).expect("appended");
        self.model.insert(number, text);
        self.next = number + 1;
    }

    fn delete(&mut self, numbers: &[u32]) {
        let texts: Vec<(u32, Text)> = numbers.iter().filter_map(|number| Some((*number, self.model.remove(number)?))).collect();
        let gone: Vec<_> = texts.iter().map(|(number, text)| (*number, &text.terms[..])).collect();
        let mut runs = self.open();
        assert_eq!(runs.delete(&mut self.pages, &gone).expect("removed"), gone.len());
        assert_eq!(runs.delete(&mut self.pages, &gone).expect("nothing left"), 0);
    }

    fn step(&mut self, random: &mut Random) {
        match random.below(10) {
            0 if !self.model.is_empty() => {
                let n = 1 + random.below(4);
                let at = |random: &mut Random| random.below(self.model.len() as u32) as usize;
                let numbers: BTreeSet<u32> = (0..n).filter_map(|_| self.model.keys().nth(at(random)).copied()).collect();
                self.delete(&numbers.into_iter().collect::<Vec<_>>());
            }
            1 => drop(self.open().maintain(&mut self.pages).expect("maintained")),
            _ => {
                let text = Text::random(random, self.words, 150);
                self.append(if random.below(9) == 0 { random.below(700) } else { 0 }, text);
            }
        }
    }

    fn statistics(&self) -> Statistics {
        let total_length = self.model.values().map(|text| u64::from(text.length)).sum();
        Statistics { documents: self.model.len() as u64, total_length }
    }

    /// BM25 written down from its definition, without any of the index's code; best first, newest first among equals.
    fn ranking(&self, terms: &[QueryTerm], k1: f64, b: f64) -> Vec<Hit> {
        let Statistics { documents, total_length } = self.statistics();
        let n = documents as f64;
        let average = if total_length == 0 { 1.0 } else { total_length as f64 / n };
        let mut scores: BTreeMap<u32, i64> = BTreeMap::new();
        for term in terms {
            let count = |text: &Text| text.terms.iter().find(|t| t.hash == term.hash).map(|t| f64::from(t.count));
            let having: Vec<_> = self.model.iter().filter_map(|(number, text)| Some((*number, text.length, count(text)?))).collect();
            let df = having.len() as f64;
            let idf = libm::log(1.0 + (n - df + 0.5) / (df + 0.5));
            for (number, length, count) in having {
                let norm = k1 * (1.0 - b) + k1 * b / average * f64::from(length);
                let contribution = f64::from(term.weight) * idf * (k1 + 1.0) * count / (count + norm);
                *scores.entry(number).or_insert(0) += (contribution * 4_294_967_296.0).round_ties_even() as i64;
            }
        }
        let mut hits: Vec<_> = scores.into_iter().filter(|(_, score)| *score > 0).map(|(number, score)| Hit { number, score }).collect();
        hits.sort_by_key(|hit| (-hit.score, std::cmp::Reverse(hit.number)));
        hits
    }

    fn check(&self, random: &mut Random) {
        let runs = self.open();
        assert_eq!(runs.statistics(&self.pages).expect("sound"), self.statistics());
        for _ in 0..3 {
            self.check_query(&runs, random);
        }
    }

    fn check_query(&self, runs: &Runs, random: &mut Random) {
        let weight = |random: &mut Random| [1.0, 0.3, 3.0, 0.0][random.below(4) as usize];
        let words = 0..=random.below(5);
        let terms: Vec<_> = words.map(|_| QueryTerm { hash: term(random.below(self.words + 3)), weight: weight(random) }).collect();
        let (k1, b) = [(0.9, 0.4), (1.2, 0.75), (0.0, 0.0), (2.0, 1.0)][random.below(4) as usize];
        let parameters = Parameters::new(k1, b).expect("in range");
        let ranked = self.ranking(&terms, k1, b);
        for limit in [0, 1, 3, 10, 1000] {
            let all = runs.search(&self.pages, &terms, parameters, limit, &mut |_| Ok(true)).expect("sound");
            assert_eq!(all, ranked[..limit.min(ranked.len())]);
            let odd = runs.search(&self.pages, &terms, parameters, limit, &mut |number| Ok(number % 2 == 1)).expect("sound");
            let expected = ranked.iter().filter(|hit| hit.number % 2 == 1).take(limit);
            assert_eq!(odd, expected.copied().collect::<Vec<_>>());
        }
        let snapshot = runs.snapshot(&self.pages).expect("sound");
        let prepared = snapshot.prepare(&terms, parameters).expect("sound");
        let end = self.model.last_key_value().map_or(3, |(number, _)| number + 3);
        let some: Vec<u32> = (0..end).filter(|_| random.below(3) > 0).collect();
        let known: BTreeMap<u32, i64> = ranked.iter().map(|hit| (hit.number, hit.score)).collect();
        let score = |number: &u32| known.get(number).copied().unwrap_or(0);
        assert_eq!(snapshot.scores_of(&prepared, &some).expect("sound"), some.iter().map(score).collect::<Vec<_>>());
        let has =
            |number: &u32, term: &QueryTerm| self.model.get(number).is_some_and(|text| text.terms.iter().any(|own| own.hash == term.hash));
        let having: Vec<u32> = some.iter().copied().filter(|number| terms.iter().all(|term| has(number, term))).collect();
        assert_eq!(snapshot.having_all(&prepared, &some).expect("sound"), having);
        let hashes: Vec<u64> = terms.iter().map(|term| term.hash).collect::<BTreeSet<u64>>().into_iter().collect();
        let with = |hash: &u64| -> Vec<u32> {
            self.model.iter().filter(|(_, text)| text.terms.iter().any(|own| own.hash == *hash)).map(|(number, _)| *number).collect()
        };
        for most in [0, 2, 30, 1000] {
            let rare: Vec<Vec<u32>> =
                hashes.iter().map(|hash| Some(with(hash)).filter(|all| all.len() <= most).unwrap_or_default()).collect();
            assert_eq!(snapshot.of_rare(&hashes, most).expect("sound"), rare);
        }
    }

    fn verify(&self) {
        let audit = Runs::verify(&self.pages, INDEX).expect("readable");
        assert_eq!(audit.findings, [] as [String; 0]);
        let lengths: BTreeMap<u32, u32> = self.model.iter().map(|(number, text)| (*number, text.length)).collect();
        assert!(audit.lengths == lengths);
        let of = |(&number, text): (&u32, &Text)| {
            text.terms.iter().map(|term| Indexed { number, hash: term.hash, count: term.count }).collect::<Vec<_>>()
        };
        assert!(audit.postings == self.model.iter().flat_map(of).collect::<Vec<_>>());
    }
}

fn is_block(key: &[u8]) -> bool {
    key[4] == Table::RunPages as u8
}

#[test]
fn agrees_with_a_dictionary_after_every_change() {
    for seed in 0..6 {
        let random = &mut Random::new(seed);
        let mut pair = Pair::new(tiny(random), 60);
        for _ in 0..200 {
            pair.step(random);
            pair.check(random);
            pair.verify();
        }
        let largest = pair.pages.iter().filter(|(key, _)| is_block(key)).map(|(_, value)| value.len()).max();
        assert!(largest <= Some(pair.shape.layout.page_bytes));
    }
}

#[test]
fn agrees_with_a_dictionary_over_many_merges() {
    for seed in 20..23 {
        let random = &mut Random::new(seed);
        let mut pair = Pair::new(tiny(random), 200);
        let mut merging = 0;
        for round in 0..2000 {
            pair.step(random);
            merging += u32::from(!pair.open().catalog.merges.is_empty());
            if round % 100 == 0 {
                pair.check(random);
                pair.verify();
            }
        }
        assert!(merging > 100, "merges were under way in {merging} states");
        while pair.open().maintain(&mut pair.pages).expect("maintained") {}
        pair.check(random);
        pair.verify();
        let runs = pair.open().catalog.runs.len();
        assert!(runs < 8 * pair.shape.fan_in, "{runs} runs are left");
    }
}

#[test]
fn agrees_with_a_dictionary_on_whole_pages() {
    let random = &mut Random::new(30);
    let mut pair = Pair::new(Shape { tail_pages: 2, fan_in: 4, step_blocks: 4, first_class: 3000, ..Shape::default() }, 2000);
    for round in 0..2500 {
        let word = |random: &mut Random| random.below(2000) * random.below(2000) / 2000;
        let words: Vec<u32> = (0..random.below(80)).map(|_| word(random)).collect();
        pair.append(0, Text::of(words, 40 + random.below(80), random));
        if round % 300 == 299 {
            let some: Vec<u32> = (0..20).map(|_| random.below(round)).collect::<BTreeSet<_>>().into_iter().collect();
            pair.delete(&some);
            pair.check(random);
            pair.verify();
        }
    }
}

/// The bits of a deleted document's terms are nowhere, whatever was going on when it was deleted.
#[test]
fn a_deleted_document_leaves_no_posting_anywhere() {
    for seed in 40..43 {
        let random = &mut Random::new(seed);
        let mut pair = Pair::new(tiny(random), 60);
        for round in 0..400_u32 {
            let secret = 1_000_000 + round;
            let mut words: Vec<u32> = (0..random.below(20)).map(|_| random.below(60)).collect();
            words.push(secret);
            pair.append(0, Text::of(words, 20, random));
            if round >= 5 {
                let old = random.below(round);
                if pair.model.contains_key(&old) {
                    pair.delete(&[old]);
                    let hash = term(1_000_000 + old).to_le_bytes();
                    assert!(!pair.pages.values().any(|value| value.windows(8).any(|bytes| bytes == hash)), "document {old}");
                }
            }
        }
        assert!(pair.model.len() > 50);
    }
}

#[test]
fn everything_can_be_deleted() {
    let random = &mut Random::new(50);
    let mut pair = Pair::new(tiny(random), 60);
    for _ in 0..300 {
        let text = Text::random(random, 60, 150);
        pair.append(0, text);
    }
    let all: Vec<u32> = pair.model.keys().copied().collect();
    for numbers in all.chunks(70) {
        pair.delete(numbers);
        pair.verify();
    }
    while pair.open().maintain(&mut pair.pages).expect("maintained") {}
    pair.verify();
    assert_eq!(pair.open().statistics(&pair.pages).expect("sound"), Statistics::default());
    assert_eq!(pair.pages.keys().filter(|key| is_block(key)).count(), 0);
    assert!(pair.open().catalog.runs.is_empty());
    pair.append(3, Text::of([1, 2], 2, random));
    pair.check(random);
}

#[test]
fn a_tail_without_a_document_is_the_tail_that_never_had_it() {
    let random = &mut Random::new(51);
    let texts: Vec<Text> = (0..40).map(|_| Text::random(random, 200, 29)).collect();
    let build = |skip: Option<u32>| {
        let mut pair = Pair::new(Shape::default(), 200);
        for (number, text) in (0..).zip(&texts).filter(|(number, _)| Some(*number) != skip) {
            pair.append(number - pair.next, text.clone());
        }
        pair
    };
    let mut with = build(None);
    with.delete(&[17]);
    let catalog = INDEX.catalog().u16(0);
    with.pages.remove(catalog.as_slice());
    assert!(with.pages == build(Some(17)).pages);
}

/// Counts what is written.
#[derive(Default)]
struct Counting {
    pages: MemoryPages,
    written: BTreeSet<Vec<u8>>,
}

impl Pages for Counting {
    fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        Pages::get(&self.pages, key)
    }

    fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        self.pages.floor(key)
    }

    fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        self.pages.scan(from, to, visit)
    }
}

impl PagesMut for Counting {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        assert!(value.len() <= ONE_PAGE);
        self.written.insert(key.to_vec());
        self.pages.put(key, value)
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        self.pages.delete(key)
    }
}

/// The cost of every add, and the most that one pays, however much is merged.
#[test]
fn an_append_writes_a_page_or_two_and_never_more_than_64() {
    let random = &mut Random::new(60);
    let mut pages = Counting::default();
    let mut counts = Vec::new();
    for number in 0..6000 {
        let words: Vec<u32> = (0..120).map(|_| random.below(4000) * random.below(4000) / 4000).collect();
        let text = Text::of(words, 190, random);
        pages.written.clear();
        let mut runs = Runs::open(&pages, INDEX).expect("sound");
        runs.append(&mut pages, &Document { number, length: text.length, terms: &text.terms }).expect("appended");
        counts.push(pages.written.len());
    }
    let mean = counts.iter().sum::<usize>() as f64 / counts.len() as f64;
    counts.sort_unstable();
    assert_eq!(counts[counts.len() / 2], 1);
    assert!(counts[counts.len() * 9 / 10] <= 2 && *counts.last().expect("some") <= 64 && mean < 4.0, "{mean} {:?}", counts.last());
    let runs = Runs::open(&pages, INDEX).expect("sound");
    assert!(runs.catalog.runs.len() < 25, "{} runs", runs.catalog.runs.len());
}

#[test]
fn a_document_longer_than_any_tail_is_a_run_of_its_own() {
    let random = &mut Random::new(61);
    let mut pair = Pair::new(Shape::default(), 100);
    pair.append(0, Text::of([1, 2, 3], 3, random));
    pair.append(0, Text::of(0..150_000, 1_000_000, random));
    pair.append(0, Text::of([3, 4], 2, random));
    assert_eq!(pair.open().catalog.runs.len(), 1);
    assert!(pair.pages.values().all(|value| value.len() <= ONE_PAGE));
    let blocks = pair.pages.keys().filter(|key| is_block(key)).count();
    assert!(blocks < 150_000 * 14 / 4000, "{blocks} blocks");
    pair.check(random);
    pair.verify();
    pair.delete(&[1]);
    pair.check(random);
    pair.verify();
    assert!(pair.pages.keys().filter(|key| is_block(key)).count() <= 1);
}

#[test]
fn long_documents_among_short_ones_do_not_pile_up() {
    let random = &mut Random::new(62);
    let mut pair = Pair::new(Shape { layout: Layout { page_bytes: 512, ..Shape::default().layout }, ..tiny(random) }, 60);
    let mut most = 0;
    for round in 0..400 {
        let n = if round % 3 == 0 { 600 } else { 10 };
        pair.append(0, Text::of((0..n).map(|at| at * 7 + round), n, random));
        most = most.max(pair.open().catalog.runs.len());
    }
    assert!(most < 40, "{most} runs");
    pair.verify();
}

#[test]
fn the_same_changes_give_the_same_bytes() {
    let build = || {
        let random = &mut Random::new(70);
        let mut pair = Pair::new(tiny(random), 60);
        for _ in 0..500 {
            pair.step(random);
        }
        pair.pages
    };
    assert!(build() == build());
}

#[test]
fn other_indexes_and_partitions_stay_apart() {
    let random = &mut Random::new(71);
    let mut pair = Pair::new(tiny(random), 60);
    for (partition, index) in [(7, 0), (7, 2), (6, 255), (8, 0), (6, 1), (7, 255)] {
        let mut runs = Runs::open_with(pair.shape, &pair.pages, IndexId { partition, index }).expect("empty");
        for number in 0..60 {
            let text = Text::random(random, 60, 150);
            runs.append(&mut pair.pages, &Document { number, length: text.length, terms: &text.terms }).expect("appended");
        }
    }
    for _ in 0..200 {
        pair.step(random);
    }
    pair.check(random);
    pair.verify();
    let others = pair.pages.keys().filter(|key| key[..4] != [0, 0, 0, 7] || key[5] != 1).count();
    Runs::clear(&mut pair.pages, INDEX).expect("cleared");
    assert_eq!(pair.pages.len(), others);
    (pair.model, pair.next) = (BTreeMap::new(), 0);
    pair.step(random);
    pair.check(random);
}

#[test]
fn what_breaks_a_rule_is_refused_and_changes_nothing() {
    let random = &mut Random::new(72);
    let mut pair = Pair::new(Shape::default(), 60);
    for _ in 0..5 {
        pair.append(0, Text::of([1, 2, 3], 3, random));
    }
    let before = pair.pages.clone();
    let (a, b) = (TermCount { hash: 1, count: 1 }, TermCount { hash: 2, count: 1 });
    let zero = TermCount { hash: 1, count: 0 };
    let wrong = [
        Document { number: 4, length: 1, terms: &[a, b] },
        Document { number: u32::MAX, length: 1, terms: &[a, b] },
        Document { number: 9, length: 1 << 31, terms: &[a, b] },
        Document { number: 9, length: 1, terms: &[b, a] },
        Document { number: 9, length: 1, terms: &[a, a] },
        Document { number: 9, length: 1, terms: &[zero] },
    ];
    let mut runs = pair.open();
    for document in wrong {
        let error = runs.append(&mut pair.pages, &document).expect_err("a rule is broken");
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    }
    let error = runs.delete(&mut pair.pages, &[(2, &[b, a])]).expect_err("not ascending");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let heavy = [QueryTerm { hash: 1, weight: 1001.0 }];
    let error = runs.search(&pair.pages, &heavy, Parameters::default(), 3, &mut |_| Ok(true)).expect_err("too heavy");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(pair.pages == before);
}

#[test]
fn an_error_of_the_filter_ends_the_search() {
    let random = &mut Random::new(73);
    let mut pair = Pair::new(Shape::default(), 60);
    pair.append(0, Text::of([1], 3, random));
    let asked = [QueryTerm { hash: term(1), weight: 1.0 }];
    let mut refuse = |_| Err(crate::Error::invalid("asked"));
    assert!(pair.open().search(&pair.pages, &asked, Parameters::default(), 3, &mut refuse).is_err());
}

/// A sealed document is removed with terms that it does not have, as after a change of the analyzer.
#[test]
fn other_terms_than_it_was_added_with_are_noticed() {
    let random = &mut Random::new(74);
    let mut pair = Pair::new(tiny(random), 60);
    for _ in 0..200 {
        pair.append(0, Text::of([1, 2, 3], 3, random));
    }
    let other = Text::of([1, 2, 4], 3, random);
    let mut runs = pair.open();
    let error = runs.delete(&mut pair.pages, &[(10, &other.terms)]).expect_err("it has no 4");
    assert_eq!(error.kind(), ErrorKind::StoreCorrupt);
    pair.verify();
}

fn damaged_pair(random: &mut Random) -> Pair {
    let mut pair = Pair::new(tiny(random), 60);
    while pair.model.len() < 200 || pair.open().catalog.merges.is_empty() {
        pair.step(random);
    }
    pair
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
        seal_in_place(key, 1, 1, value);
    }
}

fn interview(shape: Shape, pages: &MemoryPages) -> Result<(Statistics, Vec<Vec<Hit>>)> {
    let runs = Runs::open_with(shape, pages, INDEX)?;
    let mut hits = Vec::new();
    for word in 0..60 {
        let terms = [word, word + 1].map(|word| QueryTerm { hash: term(word), weight: 1.0 });
        hits.push(runs.search(pages, &terms, Parameters::default(), 5, &mut |_| Ok(true))?);
    }
    Ok((runs.statistics(pages)?, hits))
}

#[test]
fn damage_is_noticed_or_harmless() {
    let random = &mut Random::new(80);
    let pair = damaged_pair(random);
    let right = interview(pair.shape, &pair.pages).expect("sound");
    // Kept until the end: a copy must not come to lie where another one was checked.
    let mut copies = Vec::new();
    for _ in 0..200 {
        let mut pages = pair.pages.clone();
        damage(random, &mut pages, false);
        match interview(pair.shape, &pages) {
            Ok(answer) => assert!(answer == right),
            Err(error) => assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error}"),
        }
        if pages != pair.pages {
            let audit = Runs::verify(&pages, INDEX).expect("damage is a finding");
            assert_ne!(audit.findings, [] as [String; 0]);
        }
        copies.push(pages);
    }
}

#[test]
fn forged_values_never_panic() {
    let random = &mut Random::new(81);
    for _ in 0..4 {
        let pair = damaged_pair(random);
        for _ in 0..50 {
            let mut pages = pair.pages.clone();
            damage(random, &mut pages, true);
            let typed = |error: &crate::Error| matches!(error.kind(), ErrorKind::StoreCorrupt | ErrorKind::InvalidInput);
            if let Err(error) = interview(pair.shape, &pages) {
                assert!(typed(&error), "{error}");
            }
            Runs::verify(&pages, INDEX).expect("damage is a finding");
            let Ok(mut runs) = Runs::open_with(pair.shape, &pages, INDEX) else { continue };
            for number in pair.next..pair.next + 30 {
                let text = Text::random(random, 60, 150);
                let appended = runs.append(&mut pages, &Document { number, length: text.length, terms: &text.terms });
                if let Err(error) = appended {
                    assert!(typed(&error), "{error}");
                    break;
                }
            }
            let gone: Vec<_> = pair.model.iter().step_by(9).map(|(number, text)| (*number, &text.terms[..])).collect();
            if let Err(error) = runs.delete(&mut pages, &gone) {
                assert!(typed(&error), "{error}");
            }
        }
    }
}
