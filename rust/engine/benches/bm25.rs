//! The inverted index alone: questions, single adds, bulk adds, bytes, and pages that a write dirties.
//!
//! `cargo bench -p memspan-engine --bench bm25 [-- [memory] DOCUMENTS...]`, by default 1000 5000 100000. Documents are 24 words of a
//! Zipf distribution over 20,000; questions are 7 words of the same distribution, with and without its 50 commonest words.
//! Everything goes through LMDB, in a store that does not wait for the disk. Prints medians and 99th percentiles of the
//! thread's processor time, so that neighbours on the machine do not count.

mod support;

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use memspan_engine::index::bm25::{IndexId, NEVER, Op, Parameters, Query, QueryTerm, Reader, Row, Statistics, TermCount, apply};
use memspan_engine::store::environment::{Environment, Mode};
use memspan_engine::store::pages::{MemoryPages, Pages, PagesMut};
use memspan_engine::{Error, Result};
use support::{Random, Zipf};

const WORDS: usize = 20_000;
const INDEX: IndexId = IndexId { partition: 1, index: 0 };
const QUESTIONS: usize = 1000;

/// The hash of a word that is not one of the `skip` commonest.
fn word(zipf: &Zipf, random: &mut Random, skip: usize) -> u64 {
    Random(zipf.rank(random, skip) as u64).next()
}

struct Document {
    terms: Vec<TermCount>,
    keys: [u64; 2],
    length: u32,
}

fn document(zipf: &Zipf, number: u32, words: usize) -> Document {
    let mut random = Random(u64::from(number) << 20);
    let length = words / 2 + random.next() as usize % (words + 1);
    let mut hashes: Vec<u64> = (0..length).map(|_| word(zipf, &mut random, 0)).collect();
    hashes.sort_unstable();
    let terms = hashes.chunk_by(|a, b| a == b).map(|same| TermCount { hash: same[0], count: same.len().min(255) as u8 }).collect();
    Document { terms, keys: [random.next(), random.next()], length: length as u32 }
}

fn op(number: u32, document: &Document) -> Op<'_> {
    let time = 1_700_000_000_000_000 + i64::from(number);
    let row = Row {
        kind: 1,
        trust: 3,
        flags: 0,
        importance: 128,
        length: document.length,
        occurred_at: time,
        known_from: time,
        expires_at: NEVER,
    };
    Op::Add { number, row, terms: &document.terms, keys: &document.keys }
}

fn add<P: PagesMut>(pages: &mut P, statistics: &mut Statistics, first: u32, documents: &[Document]) {
    let ops: Vec<Op<'_>> = documents.iter().zip(first..).map(|(document, number)| op(number, document)).collect();
    apply(pages, INDEX, statistics, &ops).expect("indexed");
}

/// The processor time of this thread.
fn now() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` outlives the call, which fills it in.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

struct Times(Vec<Duration>);

impl Times {
    fn report(mut self, what: &str) {
        self.0.sort_unstable();
        let at = |share: f64| self.0[((self.0.len() - 1) as f64 * share) as usize].as_nanos() as f64 / 1000.0;
        let mean = self.0.iter().map(Duration::as_nanos).sum::<u128>() as f64 / self.0.len() as f64 / 1000.0;
        println!("  {what:<44} p50 {:>9.2}  p99 {:>9.2}  mean {mean:>9.2} us", at(0.5), at(0.99));
    }
}

#[inline(never)]
fn ask<P: Pages>(zipf: &Zipf, pages: &P, statistics: Statistics, skip: usize, all: bool) {
    let mut random = Random(99);
    let (mut times, mut found) = (Times(Vec::new()), 0);
    let rounds = if statistics.documents > 50_000 { QUESTIONS / 5 } else { QUESTIONS };
    for _ in 0..rounds {
        let terms: Vec<_> = (0..7).map(|_| QueryTerm { hash: word(zipf, &mut random, skip), weight: 1.0 }).collect();
        let query = Query { terms: &terms, parameters: Parameters::default(), statistics };
        let started = now();
        let mut reader = Reader::open(pages, INDEX).expect("a reader");
        let hits = if all { reader.score_all(&query) } else { reader.top_k(&query, 10, |_, _| true) }.expect("answered").hits;
        times.0.push(now().saturating_sub(started));
        found += hits.len();
    }
    let what = format!("{} 7 words{}", if all { "score_all" } else { "top 10" }, if skip == 0 { "" } else { ", none common" });
    times.report(&format!("{what} ({} hits)", found / rounds));
}

fn ask_all<P: Pages>(zipf: &Zipf, pages: &P, statistics: Statistics) {
    for (skip, all) in [(0, true), (50, true), (0, false), (50, false)] {
        ask(zipf, pages, statistics, skip, all);
    }
}

/// The same questions to a map in memory: without LMDB's part, and under valgrind, which cannot map a store.
fn in_memory(zipf: &Zipf, documents: u32) {
    println!("{documents} documents in memory");
    let (mut pages, mut statistics) = (MemoryPages::new(), Statistics::default());
    for first in (0..documents).step_by(1000) {
        let batch: Vec<_> = (first..documents.min(first + 1000)).map(|number| document(zipf, number, 24)).collect();
        add(&mut pages, &mut statistics, first, &batch);
    }
    ask_all(zipf, &pages, statistics);
    let more: Vec<_> = (documents..documents + 500).map(|number| document(zipf, number, 24)).collect();
    let mut times = Times(Vec::new());
    for (document, number) in more.iter().zip(documents..) {
        let started = now();
        add_one(&mut pages, &mut statistics, number, document);
        times.0.push(now().saturating_sub(started));
    }
    times.report("add");
}

#[inline(never)]
fn add_one<P: PagesMut>(pages: &mut P, statistics: &mut Statistics, number: u32, document: &Document) {
    add(pages, statistics, number, std::slice::from_ref(document));
}

fn build(zipf: &Zipf, environment: &Environment, documents: u32) -> Statistics {
    let mut statistics = Statistics::default();
    let mut spent = Duration::ZERO;
    for first in (0..documents).step_by(1000) {
        let batch: Vec<_> = (first..documents.min(first + 1000)).map(|number| document(zipf, number, 24)).collect();
        let started = now();
        let mut transaction = environment.write().expect("a transaction");
        add(&mut transaction, &mut statistics, first, &batch);
        transaction.commit().expect("committed");
        spent += now().saturating_sub(started);
    }
    println!("  bulk, 1,000 a transaction                    {:>9.2} us a document", spent.as_secs_f64() * 1e6 / f64::from(documents));
    statistics
}

/// Adds one by one; `commit` says whether each is its own transaction.
fn singles(zipf: &Zipf, environment: &Environment, statistics: &mut Statistics, first: u32, commit: bool) {
    let documents: Vec<_> = (first..first + 500).map(|number| document(zipf, number, 24)).collect();
    let mut times = Times(Vec::new());
    let mut transaction = Some(environment.write().expect("a transaction"));
    for (document, number) in documents.iter().zip(first..) {
        let started = now();
        let mut open = transaction.take().unwrap_or_else(|| environment.write().expect("a transaction"));
        add_one(&mut open, statistics, number, document);
        if commit {
            open.commit().expect("committed");
        } else {
            transaction = Some(open);
        }
        times.0.push(now().saturating_sub(started));
    }
    if let Some(open) = transaction {
        open.commit().expect("committed");
    }
    times.report(if commit { "add and commit without a sync" } else { "add" });
}

/// Counts what is written.
#[derive(Default)]
struct Counting {
    pages: MemoryPages,
    puts: usize,
    written: usize,
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
        self.puts += 1;
        self.written += value.len();
        self.pages.put(key, value)
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        self.puts += 1;
        self.pages.delete(key)
    }
}

/// Bytes of an index of short, long and very long texts, and what a single add writes.
fn sizes(zipf: &Zipf, documents: u32, words: usize) {
    let mut pages = Counting::default();
    let mut statistics = Statistics::default();
    let all: Vec<_> = (0..documents + 200).map(|number| document(zipf, number, words)).collect();
    for first in (0..documents as usize).step_by(100) {
        add(&mut pages, &mut statistics, first as u32, &all[first..first + 100]);
    }
    let bytes: usize = pages.pages.iter().map(|(key, value)| key.len() + value.len() + 8).sum();
    // A value above half a page has LMDB overflow pages of its own.
    let on_disk: usize = pages.pages.values().map(|value| if value.len() > 2000 { 4096 } else { value.len() + 26 }).sum();
    let terms: usize = all.iter().map(|document| document.terms.len()).sum::<usize>() / all.len();
    let n = documents as usize;
    println!(
        "  {documents} of {words} words ({terms} terms): {} bytes a document, {} in pages, {} values",
        bytes / n,
        on_disk / n,
        pages.pages.len()
    );
    (pages.puts, pages.written) = (0, 0);
    let mut most = 0;
    for number in documents..documents + 200 {
        let before = pages.puts;
        add(&mut pages, &mut statistics, number, &all[number as usize..=number as usize]);
        most = most.max(pages.puts - before);
    }
    println!("    single add: {:.2} values written on average, {most} at most; {} bytes", pages.puts as f64 / 200.0, pages.written / 200);
}

fn open(path: &Path) -> Result<Environment, Error> {
    std::fs::create_dir_all(path).expect("a folder");
    Environment::create(
        path,
        1,
        Mode { read_only: false, relaxed: false, building: true, format: memspan_engine::store::folder::FORMAT_VERSION },
    )
}

fn main() {
    const { assert!(!cfg!(debug_assertions), "a debug build is not to be timed") };
    let mut wanted: Vec<u32> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    if wanted.is_empty() {
        wanted = vec![1000, 5000, 100_000];
    }
    let zipf = Zipf::new(WORDS);
    if std::env::args().any(|argument| argument == "memory") {
        return wanted.into_iter().for_each(|documents| in_memory(&zipf, documents));
    }
    println!("bytes");
    for (documents, words) in [(1000, 24), (1000, 250), (500, 2000)] {
        sizes(&zipf, documents, words);
    }
    for documents in wanted {
        println!("{documents} documents");
        let path = std::env::temp_dir().join(format!("memspan-bm25-{}-{documents}", std::process::id()));
        let environment = open(&path).expect("an environment");
        let mut statistics = build(&zipf, &environment, documents);
        ask_all(&zipf, &environment.snapshot().expect("a snapshot"), statistics);
        singles(&zipf, &environment, &mut statistics, documents, false);
        singles(&zipf, &environment, &mut statistics, documents + 500, true);
        environment.close();
        std::fs::remove_dir_all(&path).expect("removed");
    }
}
