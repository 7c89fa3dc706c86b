//! What the layout costs: pages and bytes that one commit writes, bytes on disk for each memory, time with and without the disk.
//!
//! `cargo bench -p memspan-engine --bench layout [-- MEMORIES [SINGLES]]`. Texts of 15, 190 and 1,500 words (about 20, 250 and
//! 2,000 tokens of English), one 384-dimensional vector each, 100 users; MEMORIES are those of the shortest texts, 2/5 and 1/5
//! as many of the longer ones.
//!
//! Pages are counted, not estimated: `wchar` of /proc/self/io is what a commit gave to `write`, less the zeros by which the file
//! was grown. Time is measured on three copies of one store in turn: `full` and `relaxed` in the folder for temporary files,
//! `no disk` in /dev/shm, whose sync does nothing.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use memspan_engine::engine::{Engine, EngineOptions};
use memspan_engine::index::vectors::UnitVector;
use memspan_engine::memory::NewMemory;
use memspan_engine::memory::embedding::Embedding;
use memspan_engine::scope::{Scope, ScopeType};
use memspan_engine::store::Durability;
use memspan_engine::store::pages::Pages;
use support::Random;

const DIMS: usize = 384;
const USERS: usize = 100;
/// Single writes go to so few users that each of them merges its tail several times.
const WRITERS: usize = 10;
const BATCH: usize = 50;
/// Rows of a batch, and how many batches are timed.
const BATCHES: [(usize, usize); 2] = [(BATCH, 40), (1000, 4)];
const VOCABULARY: f64 = 3000.0;
const PAGE: u64 = 4096;
fn new_memory(words: usize, at: usize) -> NewMemory {
    let mut random = Random(at as u64 + 1);
    let mut text = format!("ID-{at:07}");
    for _ in 1..words {
        text.push(' ');
        text.push_str(&random.word(VOCABULARY));
    }
    let vector: Vec<f32> = (0..DIMS).map(|_| (random.next() >> 40) as f32 - 8_388_608.0).collect();
    NewMemory { vector: Some(UnitVector::new(&vector, DIMS).expect("a vector")), ..NewMemory::new(text) }
}

fn scope(user: usize) -> Scope {
    Scope::new(None, ScopeType::User, &format!("user{user:02}")).expect("a name")
}

fn open(path: &Path, durability: Durability) -> Engine {
    let embedding = Embedding { name: "random".into(), dimensions: DIMS as u32, revision: String::new() };
    let options = EngineOptions { durability, read_only: false, busy_timeout: Duration::from_secs(60), embedding: Some(embedding), now: 0 };
    Engine::open(path, options).expect("open")
}

/// What was written so far: by this process, and to the data file.
#[derive(Clone, Copy)]
struct Written {
    bytes: u64,
    length: u64,
    used: u64,
}

impl Written {
    fn now(data: &Path) -> Self {
        let io = fs::read_to_string("/proc/self/io").expect("Linux counts what a process writes");
        let bytes = io.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse().ok()).expect("a number");
        Self { bytes, length: fs::metadata(data).expect("there").len(), used: used_bytes(data) }
    }

    /// Pages written since `before`, the zeros that grew the file not counted.
    fn pages_since(self, before: Self) -> u64 {
        let zeros = self.length - self.length.min(before.length.max(self.used));
        (self.bytes - before.bytes - zeros) / PAGE
    }
}

/// Bytes up to the last page in use, from the newer of LMDB's two meta pages.
fn used_bytes(data: &Path) -> u64 {
    use std::os::unix::fs::FileExt;
    let file = fs::File::open(data).expect("there");
    let meta = |at: u64| {
        let mut bytes = [0; 16];
        file.read_exact_at(&mut bytes, at * PAGE + 136).expect("a meta page");
        let [last_page, transaction] = [0, 8].map(|at| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i])));
        (transaction, last_page)
    };
    (meta(0).max(meta(1)).1 + 1) * PAGE
}

struct Side {
    name: &'static str,
    engine: Engine,
    data: PathBuf,
    pages: Vec<u64>,
    times: Vec<Duration>,
    /// Commits and the microseconds they took, when the last report was made.
    reported: [u64; 2],
}

impl Side {
    fn new(name: &'static str, path: &Path, durability: Durability) -> Self {
        let engine = open(path, durability);
        Self { name, engine, data: path.join("gen-1/data.mdb"), pages: Vec::new(), times: Vec::new(), reported: [0; 2] }
    }

    fn remember(&mut self, user: usize, rows: Vec<NewMemory>) {
        let (rows, before) = (of_user(user, rows), Written::now(&self.data));
        let started = Instant::now();
        self.engine.remember_many(rows, 0, true).expect("written");
        self.times.push(started.elapsed());
        self.pages.push(Written::now(&self.data).pages_since(before));
    }

    fn report(&mut self, what: &str) {
        let (mut pages, mut times) = (std::mem::take(&mut self.pages), std::mem::take(&mut self.times));
        let mean_pages = pages.iter().sum::<u64>() as f64 / pages.len() as f64;
        let mean = times.iter().sum::<Duration>().as_secs_f64() * 1e6 / times.len() as f64;
        pages.sort_unstable();
        times.sort_unstable();
        let micros = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e6;
        let metrics = self.engine.store().metrics();
        let now = [metrics.commits.load(Relaxed), metrics.commit_microseconds.load(Relaxed)];
        let [commits, micros_in_them] = [now[0] - self.reported[0], now[1] - self.reported[1]];
        self.reported = now;
        println!(
            "  {what:<22} {:<8} pages p50 {:>4} mean {mean_pages:>6.1} max {:>4}   us p50 {:>8.1} p90 {:>8.1} mean {mean:>8.1}  \
             n={} commits={commits} of {:.0} us",
            self.name,
            pages[pages.len() / 2],
            pages[pages.len() - 1],
            micros(0.5),
            micros(0.9),
            times.len(),
            micros_in_them as f64 / commits as f64
        );
    }
}

fn of_user(user: usize, rows: Vec<NewMemory>) -> Vec<(Arc<Scope>, NewMemory)> {
    let scope = Arc::new(scope(user));
    rows.into_iter().map(|row| (Arc::clone(&scope), row)).collect()
}

fn load(path: &Path, words: usize, count: usize) {
    let engine = open(path, Durability::Relaxed);
    for first in (0..count).step_by(BATCH * USERS) {
        for user in 0..USERS {
            let batch = first + user * BATCH..(first + (user + 1) * BATCH).min(count);
            let rows = batch.map(|at| new_memory(words, at)).collect();
            engine.remember_many(of_user(user, rows), 0, true).expect("written");
        }
    }
}

/// Bytes of the nodes of each table: eight of LMDB's, key, value.
fn report_tables(engine: &Engine, count: usize) {
    let mut tables = BTreeMap::<(bool, u8), (u64, u64)>::new();
    let scan = engine.store().read(|snapshot| {
        snapshot.scan(&[0], &[u8::MAX; 32], &mut |key, value| {
            let table = tables.entry((key[..4] != [0; 4], key[4])).or_default();
            table.0 += 1;
            table.1 += (8 + key.len() + value.len()) as u64;
            Ok(ControlFlow::Continue(()))
        })
    });
    scan.expect("scanned");
    for ((_, table), (values, bytes)) in tables {
        println!("    table {table:#04x}  {values:>9} values  {:>8.1} bytes a memory", bytes as f64 / count as f64);
    }
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to.join("gen-1")).expect("made");
    for file in ["CURRENT", "gen-1/manifest", "gen-1/data.mdb"] {
        fs::copy(from.join(file), to.join(file)).expect("copied");
    }
}

fn measure(words: usize, count: usize, singles: usize) {
    let disk = std::env::temp_dir().join(format!("memspan-layout-{}", std::process::id()));
    let [full, relaxed, compacted] = ["full", "relaxed", "compacted"].map(|name| disk.join(name));
    let shm = PathBuf::from(format!("/dev/shm/memspan-layout-{}", std::process::id()));
    fs::create_dir_all(&disk).expect("made");
    load(&full, words, count);
    let bytes = new_memory(words, 0).text.len();
    println!("{count} memories of {words} words ({bytes} bytes of text)");
    copy_folder(&full, &relaxed);
    copy_folder(&full, &shm);
    let mut sides = [
        Side::new("full", &full, Durability::Full),
        Side::new("relaxed", &relaxed, Durability::Relaxed),
        Side::new("no disk", &shm, Durability::Full),
    ];
    let per_memory = |data: &Path| used_bytes(data) as f64 / count as f64;
    sides[0].engine.backup(&compacted).expect("backed up");
    println!(
        "  on disk: {:.0} bytes a memory after loading, {:.0} compacted, in pages of {PAGE}",
        per_memory(&sides[0].data),
        per_memory(&compacted.join("gen-1/data.mdb"))
    );
    report_tables(&sides[0].engine, count);
    for at in 0..singles {
        for side in &mut sides {
            side.remember(at % WRITERS, vec![new_memory(words, 10_000_000 + at)]);
        }
    }
    for side in &mut sides {
        side.report("remember");
    }
    for (batch, batches) in BATCHES {
        for at in 0..batches {
            for side in &mut sides {
                let rows = (0..batch).map(|row| new_memory(words, (20_000 + batch) * 1000 + at * batch + row)).collect();
                side.remember(at % USERS, rows);
            }
        }
        for side in &mut sides {
            side.report(&format!("remember_many of {batch}"));
        }
    }
    let mut compacted = Side::new("full", &compacted, Durability::Full);
    for at in 0..singles {
        compacted.remember(at % WRITERS, vec![new_memory(words, 30_000_000 + at)]);
    }
    compacted.report("remember, compacted");
    drop((sides, compacted));
    let _ = fs::remove_dir_all(&disk);
    let _ = fs::remove_dir_all(&shm);
}

fn main() {
    const { assert!(!cfg!(debug_assertions), "a debug build is not to be timed") };
    let mut numbers = std::env::args().filter_map(|argument| argument.parse::<usize>().ok());
    let (count, singles) = (numbers.next().unwrap_or(100_000), numbers.next().unwrap_or(500));
    for (words, count) in [(15, count), (190, count * 2 / 5), (1500, count / 5)] {
        measure(words, count, singles);
    }
}
