//! Opening beside processes that open, fail to open, write, compact and are killed: no acknowledged write is ever lost.
//!
//! LMDB's first opener resets the reader table and completes it last. Of 1,689 kills of openers, five runs of five lost acknowledged
//! writes before the door (`store/door.rs`); a run of this test without it loses one within seconds.

mod support;

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use memspan_engine::ErrorKind;
use memspan_engine::engine::{Engine, EngineOptions};
use memspan_engine::memory::Memory;
use support::{Chance, Folder, assert_sound, memories, open, options, remember, role, spawn, user, with_id};

const PROCESSES: usize = 8;

/// What one process does until it is killed: opens, perhaps with too little address space, writes, compacts at times, and closes.
fn work(store: &Path, role: &str) {
    let (name, seed) = role.split_once('/').expect("a name and a seed");
    let (mut chance, mut at) = (Chance(seed.parse().expect("a seed")), 0);
    let mut log = OpenOptions::new().create(true).append(true).open(store.with_extension(name)).expect("a log");
    let fails = chance.one_in(4);
    loop {
        if fails {
            narrow(chance.below(400) as u64 + 40);
        }
        let engine = match Engine::open(store, options(false)) {
            Ok(engine) => engine,
            // What a narrow process is refused is of no interest here; what it does to the others is.
            Err(error) if fails || error.kind() == ErrorKind::StoreBusy => continue,
            Err(error) => return tell(store, &format!("{name}: {error}")),
        };
        for _ in 0..chance.below(3) {
            at += 1;
            let id = format!("{name}-{seed}-{at}");
            match remember(&engine, &user("u"), with_id(&id, &format!("memory {id}")), at) {
                // One write, so that a kill leaves a whole line or none.
                Ok(_) => log.write_all(format!("{id}\n").as_bytes()).expect("noted"),
                Err(error) if fails || error.kind() == ErrorKind::StoreBusy => {}
                Err(error) => return tell(store, &format!("{name}: {error}")),
            }
        }
        if chance.one_in(40) {
            let _ = engine.compact();
        }
    }
}

fn tell(store: &Path, what: &str) {
    std::fs::write(store.with_extension("refused"), what).expect("told");
}

/// Leaves this process so many MiB of address space beyond what it has.
fn narrow(more: u64) {
    let pages = std::fs::read_to_string("/proc/self/statm").ok().and_then(|line| line.split(' ').next()?.parse::<u64>().ok());
    let room = pages.unwrap_or(1 << 16) * 4096 + (more << 20);
    let limit = libc::rlimit { rlim_cur: room, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: setrlimit reads the struct and nothing else.
    unsafe { libc::setrlimit(libc::RLIMIT_AS, &raw const limit) };
}

struct Workers<'t> {
    test: &'t str,
    store: &'t Path,
    children: Vec<Child>,
    started: u64,
}

impl Workers<'_> {
    fn start(&mut self, place: usize) -> Child {
        self.started += 1;
        spawn(self.test, &format!("w{place}/{}", self.started), self.store)
    }

    fn kill(&mut self, place: usize) {
        let next = self.start(place);
        let mut gone = std::mem::replace(&mut self.children[place], next);
        let _ = gone.kill();
        let _ = gone.wait();
    }
}

impl Drop for Workers<'_> {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Kills processes until `rounds` are over or the time is; how many writes were acknowledged, and how many kills there were.
fn run(test: &str, rounds: usize, time: Duration) -> (usize, usize) {
    let (folder, mut chance, started) = (Folder::in_memory(), Chance(rounds as u64), Instant::now());
    drop(open(&folder.0, false));
    let mut workers = Workers { test, store: &folder.0, children: Vec::new(), started: 0 };
    for place in 0..PROCESSES {
        let child = workers.start(place);
        workers.children.push(child);
    }
    let mut kills = 0;
    while kills < rounds && started.elapsed() < time {
        std::thread::sleep(Duration::from_millis(chance.below(40) as u64));
        workers.kill(chance.below(PROCESSES));
        kills += 1;
    }
    drop(workers);
    let refused = std::fs::read_to_string(folder.0.with_extension("refused")).unwrap_or_default();
    assert!(refused.is_empty(), "{refused}");
    (compare(&folder.0), kills)
}

/// Everything that was acknowledged is there.
fn compare(store: &Path) -> usize {
    let mut acknowledged = BTreeSet::new();
    for place in 0..PROCESSES {
        let path = store.with_extension(format!("w{place}"));
        acknowledged.extend(std::fs::read_to_string(&path).unwrap_or_default().lines().map(str::to_owned));
        let _ = std::fs::remove_file(path);
    }
    let engine = open(store, false);
    let there: BTreeSet<String> = memories(&engine, &user("u"), 0).iter().map(Memory::id).collect();
    let lost: Vec<_> = acknowledged.difference(&there).collect();
    assert!(lost.is_empty(), "{} of {} lost: {lost:?}", lost.len(), acknowledged.len());
    assert_sound(&engine);
    acknowledged.len()
}

#[test]
fn openers_that_die_and_fail_lose_nothing() {
    if let Some((role, store)) = role() {
        return work(&store, &role);
    }
    let (acknowledged, kills) = run("openers_that_die_and_fail_lose_nothing", 400, Duration::from_secs(20));
    assert!(acknowledged > 50 && kills > 20, "{acknowledged} acknowledged, {kills} kills");
}

#[test]
#[ignore = "long: make soak"]
fn openers_that_die_and_fail_lose_nothing_for_long() {
    if let Some((role, store)) = role() {
        return work(&store, &role);
    }
    let (acknowledged, kills) = run("openers_that_die_and_fail_lose_nothing_for_long", 2_000, Duration::from_secs(3_600));
    assert!(acknowledged > 1_000 && kills == 2_000, "{acknowledged} acknowledged, {kills} kills");
}

/// A process that holds the door keeps others waiting for as long as they allow, and no longer.
#[test]
fn who_waits_at_the_door_is_told_when_the_time_is_over() {
    let folder = Folder::new();
    drop(open(&folder.0, false));
    let door = OpenOptions::new().write(true).open(folder.0.join("door")).expect("a door");
    door.lock().expect("held");
    let started = Instant::now();
    let error = Engine::open(&folder.0, EngineOptions { busy_timeout: Duration::from_millis(200), ..options(false) }).expect_err("busy");
    assert_eq!(error.kind(), ErrorKind::StoreBusy, "{error}");
    assert!(started.elapsed() < Duration::from_secs(5));
    drop(door);
    drop(open(&folder.0, false));
}

/// An opener that died between emptying the file `open` and writing it: whoever comes next writes it anew.
#[test]
fn an_empty_presence_file_is_nobodys_world() {
    let folder = Folder::new();
    drop(open(&folder.0, false));
    let held = OpenOptions::new().write(true).open(folder.0.join("open")).expect("the file");
    held.lock().expect("held");
    held.set_len(0).expect("emptied");
    let path = folder.0.clone();
    let waiting = std::thread::spawn(move || Engine::open(&path, options(false)).map(drop));
    std::thread::sleep(Duration::from_millis(100));
    drop(held);
    waiting.join().expect("no panic").expect("opened");
}
