//! What the tests from outside share: a folder that goes away, a scope, an embedder, a child process, chance.
#![allow(dead_code)] // each test binary uses its own part

pub mod losses;
pub mod talk;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use memspan_engine::Result;
use memspan_engine::engine::{Engine, EngineOptions};
use memspan_engine::index::vectors::UnitVector;
use memspan_engine::memory::embedding::Embedding;
use memspan_engine::memory::{Memory, NewMemory, Remembered};
use memspan_engine::recall::{Filter, Request, recall};
use memspan_engine::scope::{Scope, ScopeType};
use memspan_engine::store::Durability;
use memspan_engine::store::pages::Pages;

/// A path of its own that is removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        Self::under(&std::env::temp_dir())
    }

    /// Where a sync costs nothing: for tests of what is stored, not of when.
    pub fn in_memory() -> Self {
        let shared_memory = Path::new("/dev/shm");
        if shared_memory.is_dir() { Self::under(shared_memory) } else { Self::new() }
    }

    fn under(parent: &Path) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("memspan-crash-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self(parent.join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub const DIMS: usize = 64;
pub const ALL_KINDS: u8 = 0x7f;

pub fn options(embedding: bool) -> EngineOptions {
    EngineOptions {
        durability: Durability::Full,
        read_only: false,
        busy_timeout: Duration::from_secs(20),
        embedding: embedding.then(|| Embedding { name: "hash".into(), dimensions: DIMS as u32, revision: String::new() }),
        now: 0,
    }
}

pub fn open(path: &Path, embedding: bool) -> Engine {
    Engine::open(path, options(embedding)).expect("open")
}

pub fn user(id: &str) -> Scope {
    Scope::new(None, ScopeType::User, id).expect("a name")
}

/// Words hashed into a vector: texts that share words are near.
pub fn embed(text: &str) -> UnitVector {
    let mut vector = vec![0.01; DIMS];
    for word in text.to_lowercase().split_whitespace() {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in word.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        vector[(hash % DIMS as u64) as usize] += if hash >> 63 == 0 { 1.0 } else { -1.0 };
    }
    UnitVector::new(&vector, DIMS).expect("a vector")
}

pub fn with_vector(text: &str) -> NewMemory {
    NewMemory { vector: Some(embed(text)), ..NewMemory::new(text) }
}

pub fn with_id(id: &str, text: &str) -> NewMemory {
    NewMemory { id: Some(id.into()), ..with_vector(text) }
}

pub fn remember(engine: &Engine, scope: &Scope, new: NewMemory, now: i64) -> Result<Remembered> {
    engine.remember(scope, new, now)
}

pub fn one(engine: &Engine, scope: &Scope, new: NewMemory, now: i64) -> Remembered {
    remember(engine, scope, new, now).expect("written")
}

pub fn memories(engine: &Engine, scope: &Scope, now: i64) -> Vec<Memory> {
    engine.memories(scope, 0, usize::MAX, ALL_KINDS, now).expect("listed")
}

/// The texts of the best `limit` answers, by words alone.
pub fn ask(engine: &Engine, scope: &Scope, text: &str, limit: usize, now: i64) -> Result<Vec<String>> {
    let request = Request {
        text: text.into(),
        vector: None,
        scopes: vec![scope.clone()],
        limit,
        filter: Filter::all(now),
        min_score: 0.0,
        max_tokens: None,
    };
    Ok(recall(engine, &request)?.hits.into_iter().map(|hit| hit.memory.text).collect())
}

/// Every key and value of a store.
pub fn values(engine: &Engine) -> Vec<(Vec<u8>, Vec<u8>)> {
    let read = engine.store().read(|snapshot| {
        let mut found = Vec::new();
        snapshot.scan(&[0], &[255; 32], &mut |key, value| {
            found.push((key.to_vec(), value.to_vec()));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    });
    read.expect("read")
}

/// The doctor finds nothing.
pub fn assert_sound(engine: &Engine) {
    let report = engine.check().expect("checked");
    assert!(report.is_sound(), "{:#?}", report.findings);
}

/// Starts this test binary again to run `test` alone, with `role` in its environment: how a test gets a second process.
pub fn spawn(test: &str, role: &str, store: &Path) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this binary"));
    command.args([test, "--exact", "--nocapture", "--test-threads=1", "--include-ignored"]);
    command.env("MEMSPAN_TEST_ROLE", role).env("MEMSPAN_TEST_STORE", store);
    command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().expect("started")
}

/// What [`spawn`] gave this process to do: its role, and the store.
pub fn role() -> Option<(String, PathBuf)> {
    Some((std::env::var("MEMSPAN_TEST_ROLE").ok()?, std::env::var_os("MEMSPAN_TEST_STORE")?.into()))
}

/// Waits for a child and for its success.
pub fn join(mut child: Child) {
    let status = child.wait().expect("waited");
    assert!(status.success(), "the other process failed: {status}");
}

/// Waits until `done` says so.
pub fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let started = Instant::now();
    while !done() {
        assert!(started.elapsed() < Duration::from_secs(30), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A small generator of chance (`SplitMix64`): the same numbers in every run.
pub struct Chance(pub u64);

impl Chance {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// The same bytes with something else in them: bits, bytes, a great number, a piece cut out, doubled, or taken from another input.
    pub fn mutated(&mut self, input: &[u8], others: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = input.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            let end = (at + 1 + self.below(16)).min(bytes.len());
            match self.below(7) {
                0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                1 if at < bytes.len() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff, b'"', b'{', b'<'][self.below(8)],
                2 => bytes.truncate(at),
                3 if at < end => drop(bytes.drain(at..end)),
                4 if at < end => bytes.extend_from_within(at..end),
                5 if at < end => {
                    let number = [u64::MAX, 1 << 40, u64::from(u32::MAX), 1 << 63][self.below(4)];
                    bytes.splice(at..=at, [0xcf].into_iter().chain(number.to_be_bytes())); // as MessagePack has it
                }
                _ => bytes.extend_from_slice(&others[self.below(others.len())]),
            }
        }
        bytes
    }
}

/// Copies a folder with everything in it.
pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("made");
    for entry in std::fs::read_dir(from).expect("listed").map(|entry| entry.expect("entry")) {
        let target = to.join(entry.file_name());
        if entry.file_type().expect("type").is_dir() {
            copy_folder(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("copied");
        }
    }
}
