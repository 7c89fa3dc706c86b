//! Sealed runs alone: pages that an append writes, and questions to a transcript.
//!
//! `cargo bench -p memspan-engine --bench runs [-- MESSAGES...]`, by default 5000 50000. Messages of 20, 190 and 1,500 words for
//! the pages, of 60 to 190 for the questions, of a Zipf distribution over 50,000 words. Questions have two or three words that
//! one message of the transcript has: any but the 100 commonest, as a question's filler is dropped; or any at all.
//! Everything goes through LMDB, in a store that does not wait for the disk. Times are of the thread's processor, so that
//! neighbours on the machine do not count.

mod support;

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

use memspan_engine::Result;
use memspan_engine::index::bm25::{IndexId, Parameters, QueryTerm, TermCount};
use memspan_engine::index::runs::{Document, Runs};
use memspan_engine::store::environment::{Environment, Mode, WriteTransaction};
use memspan_engine::store::folder::FORMAT_VERSION;
use memspan_engine::store::pages::{Pages, PagesMut};
use support::{Random, Zipf};

const WORDS: usize = 50_000;
const COMMON: usize = 100;
const INDEX: IndexId = IndexId { partition: 1, index: 1 };
const QUESTIONS: usize = 2000;
/// Messages in a transcript before its appends are counted, and how many are.
const STEADY: u32 = 5000;
const COUNTED: u32 = 2000;

/// The words of a message, as ranks.
fn ranks(zipf: &Zipf, number: u32, words: (u32, u32)) -> Vec<usize> {
    let mut random = Random(u64::from(number) << 20);
    let n = u64::from(words.0) + random.next() % u64::from(words.1 - words.0 + 1);
    (0..n).map(|_| zipf.rank(&mut random, 0)).collect()
}

fn hash(rank: usize) -> u64 {
    Random(rank as u64).next()
}

fn terms(ranks: &[usize]) -> Vec<TermCount> {
    let mut hashes: Vec<u64> = ranks.iter().map(|rank| hash(*rank)).collect();
    hashes.sort_unstable();
    hashes.chunk_by(|a, b| a == b).map(|same| TermCount { hash: same[0], count: same.len().min(255) as u8 }).collect()
}

/// The processor time of this thread.
fn now() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` outlives the call, which fills it in.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Numbers of which quantiles are printed.
struct Sample(Vec<f64>);

impl Sample {
    fn report(mut self, what: &str, unit: &str) {
        self.0.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| self.0[((self.0.len() - 1) as f64 * share) as usize];
        let mean = self.0.iter().sum::<f64>() / self.0.len() as f64;
        println!("  {what:<52} p50 {:>8.2}  p99 {:>8.2}  max {:>8.2}  mean {mean:>8.2} {unit}", at(0.5), at(0.99), at(1.0));
    }
}

/// Counts the pages of values that a transaction writes.
struct Counting<'t, 'e> {
    pages: &'t mut WriteTransaction<'e>,
    written: BTreeSet<Vec<u8>>,
    deleted: usize,
}

impl Pages for Counting<'_, '_> {
    fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        Pages::get(self.pages, key)
    }

    fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        self.pages.floor(key)
    }

    fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        self.pages.scan(from, to, visit)
    }
}

impl PagesMut for Counting<'_, '_> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.written.insert(key.to_vec());
        self.pages.put(key, value)
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        let was = self.pages.delete(key)?;
        self.deleted += usize::from(was);
        Ok(was)
    }
}

struct Store {
    path: PathBuf,
    environment: Environment,
}

impl Store {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("memspan-runs-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        let environment = open(&path).expect("an environment");
        Self { path, environment }
    }

    fn remove(self) {
        self.environment.close();
        std::fs::remove_dir_all(&self.path).expect("removed");
    }
}

fn open(path: &Path) -> Result<Environment> {
    Environment::create(path, 1, Mode { read_only: false, relaxed: false, building: true, format: FORMAT_VERSION })
}

fn append<P: PagesMut>(pages: &mut P, number: u32, ranks: &[usize]) {
    let terms = terms(ranks);
    let document = Document { number, length: ranks.len() as u32, terms: &terms };
    Runs::open(pages, INDEX).and_then(|mut runs| runs.append(pages, &document)).expect("appended");
}

/// Messages that come a hundred to a transaction. Returns the processor time of each, without the words.
fn build(zipf: &Zipf, store: &Store, messages: u32, words: (u32, u32)) -> f64 {
    let mut spent = Duration::ZERO;
    for first in (0..messages).step_by(100) {
        let texts: Vec<_> = (first..messages.min(first + 100)).map(|number| ranks(zipf, number, words)).collect();
        let started = now();
        let mut transaction = store.environment.write().expect("a transaction");
        for (number, ranks) in (first..).zip(&texts) {
            append(&mut transaction, number, ranks);
        }
        transaction.commit().expect("committed");
        spent += now().saturating_sub(started);
    }
    spent.as_secs_f64() * 1e6 / f64::from(messages)
}

/// What single appends to a transcript write, and the time of each with its commit.
fn appends(zipf: &Zipf, words: u32) {
    let store = Store::new(&words.to_string());
    let range = (words - words / 5, words + words / 5);
    let each = build(zipf, &store, STEADY, range);
    println!("messages of {words} words: {each:.1} us each, a hundred to a transaction");
    let (mut pages, mut removed, mut times) = (Sample(Vec::new()), Sample(Vec::new()), Sample(Vec::new()));
    for number in STEADY..STEADY + COUNTED {
        let ranks = ranks(zipf, number, range);
        let started = now();
        let mut transaction = store.environment.write().expect("a transaction");
        let mut counting = Counting { pages: &mut transaction, written: BTreeSet::new(), deleted: 0 };
        append(&mut counting, number, &ranks);
        let (written, deleted) = (counting.written.len(), counting.deleted);
        transaction.commit().expect("committed");
        times.0.push(now().saturating_sub(started).as_secs_f64() * 1e6);
        pages.0.push(written as f64);
        removed.0.push(deleted as f64);
    }
    pages.report("append: values written, a page each", "");
    removed.report("append: values removed", "");
    times.report("append and commit without a sync", "us");
    let snapshot = store.environment.snapshot().expect("a snapshot");
    let audit = Runs::verify(&snapshot, INDEX).expect("readable");
    assert!(audit.findings.is_empty(), "{:?}", audit.findings);
    drop(snapshot);
    store.remove();
}

/// Questions to a transcript.
fn questions(zipf: &Zipf, messages: u32) {
    let store = Store::new(&format!("all-{messages}"));
    let words = (60, 190);
    let each = build(zipf, &store, messages, words);
    println!("{messages} messages of 60 to 190 words: {each:.1} us each, a hundred to a transaction");
    let snapshot = store.environment.snapshot().expect("a snapshot");
    let bytes = bytes_of(&snapshot);
    println!("  {} bytes a message", bytes / messages as usize);
    for (what, common, asked) in
        [("two words, none common", COMMON, 2), ("three words, none common", COMMON, 3), ("two of any", 0, 2), ("three of any", 0, 3)]
    {
        let (mut times, mut found) = (Sample(Vec::new()), 0);
        let mut random = Random(7);
        for _ in 0..QUESTIONS {
            let terms = question(zipf, &mut random, messages, words, common, asked);
            let started = now();
            let runs = Runs::open(&snapshot, INDEX).expect("runs");
            let hits = runs.search(&snapshot, &terms, Parameters::default(), 10, &mut |_| Ok(true)).expect("answered");
            times.0.push(now().saturating_sub(started).as_secs_f64() * 1e6);
            found += hits.len();
        }
        times.report(&format!("top 10 of {what} ({} hits)", found / QUESTIONS), "us");
    }
    drop(snapshot);
    store.remove();
}

/// Different words of one message that are not among the commonest.
fn question(zipf: &Zipf, random: &mut Random, messages: u32, words: (u32, u32), common: usize, asked: usize) -> Vec<QueryTerm> {
    loop {
        let mut ranks = ranks(zipf, (random.next() % u64::from(messages)) as u32, words);
        ranks.retain(|rank| *rank >= common);
        let mut chosen = BTreeSet::new();
        for _ in 0..20 {
            if chosen.len() < asked && !ranks.is_empty() {
                chosen.insert(ranks[random.next() as usize % ranks.len()]);
            }
        }
        if chosen.len() == asked {
            return chosen.into_iter().map(|rank| QueryTerm { hash: hash(rank), weight: 1.0 }).collect();
        }
    }
}

fn bytes_of<P: Pages>(pages: &P) -> usize {
    let mut bytes = 0;
    let count = &mut |key: &[u8], value: &[u8]| {
        bytes += key.len() + value.len();
        Ok(ControlFlow::Continue(()))
    };
    pages.scan(&[0], &[u8::MAX; 32], count).expect("read");
    bytes
}

fn main() {
    const { assert!(!cfg!(debug_assertions), "a debug build is not to be timed") };
    let mut wanted: Vec<u32> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let zipf = Zipf::new(WORDS);
    if wanted.is_empty() {
        for words in [20, 190, 1500] {
            appends(&zipf, words);
        }
        wanted = vec![5000, 50_000];
    }
    for messages in wanted {
        questions(&zipf, messages);
    }
}
