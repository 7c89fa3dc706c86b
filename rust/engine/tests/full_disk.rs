//! A disk without room: a typed error, nothing acknowledged lost, and the store goes on when there is room again.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use memspan_engine::engine::Engine;
use memspan_engine::memory::forget::Stale;
use memspan_engine::memory::{Kind, NewMemory, Origin};
use memspan_engine::store::vault::StoreKey;
use memspan_engine::{Error, ErrorKind};
use support::{Folder, ask, assert_sound, copy_folder, join, memories, open, remember, role, spawn, user, with_vector};

/// Writes until the disk refuses; the texts that were acknowledged, and the refusal.
fn fill(engine: &Engine, from: usize) -> (Vec<String>, Error) {
    let padding = "lorem ipsum dolor sit amet ".repeat(300);
    let mut acknowledged = Vec::new();
    for at in from..from + 100_000 {
        let text = format!("row {at} {padding}");
        match remember(engine, &user("u"), NewMemory::new(text.clone()), at as i64) {
            Ok(_) => acknowledged.push(text),
            Err(error) => return (acknowledged, error),
        }
    }
    panic!("the disk never filled up");
}

fn texts(engine: &Engine) -> Vec<String> {
    memories(engine, &user("u"), 0).into_iter().map(|memory| memory.text).collect()
}

/// Fills the store's disk, makes room, and goes on.
fn fill_and_go_on(store: &Path, no_room_for_a_copy: impl Fn(&Engine), make_room: impl Fn()) {
    let engine = open(store, false);
    let (mut acknowledged, error) = fill(&engine, 0);
    assert_eq!(error.kind(), ErrorKind::StoreFull, "{error}");
    assert!(acknowledged.len() > 50, "{}", acknowledged.len());
    assert_eq!(texts(&engine), acknowledged, "reads go on");
    for _ in 0..3 {
        let error = fill(&engine, 200_000).1;
        assert_eq!(error.kind(), ErrorKind::StoreFull, "and it says the same again: {error}");
        acknowledged = texts(&engine); // a smaller row may have found room
    }
    no_room_for_a_copy(&engine);
    assert_sound(&engine);

    make_room();
    remember(&engine, &user("u"), with_vector("there is room again"), 1 << 40).expect("written");
    acknowledged.push("there is room again".into());
    assert_eq!(texts(&engine), acknowledged);
    drop(engine);
    let engine = open(store, false);
    assert_eq!(texts(&engine), acknowledged, "after opening anew");
    engine.compact().expect("compacted");
    assert_eq!(texts(&engine), acknowledged, "after a compaction");
    assert_sound(&engine);
}

fn names(path: &Path) -> Vec<PathBuf> {
    let mut names: Vec<_> = std::fs::read_dir(path).expect("listed").map(|entry| entry.expect("entry").path()).collect();
    names.sort();
    names
}

/// A small file system of its own, for whoever may mount one.
struct SmallDisk(Folder);

impl SmallDisk {
    fn new() -> Option<Self> {
        Self::of(4)
    }

    fn of(megabytes: u32) -> Option<Self> {
        let folder = Folder::new();
        std::fs::create_dir(&folder.0).ok()?;
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &format!("size={megabytes}m"), "tmpfs"]).arg(&folder.0).output().ok()?;
        mounted.status.success().then_some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0.0).status();
    }
}

#[test]
fn a_full_disk_loses_nothing() {
    let Some(disk) = SmallDisk::new() else {
        eprintln!("skipped: this user may not mount a file system");
        return;
    };
    let remount = || {
        let done = Command::new("mount").args(["-o", "remount,size=64m"]).arg(&disk.0.0).status();
        assert!(done.expect("mount").success());
    };
    let store = disk.0.0.join("store");
    let compact = |engine: &Engine| {
        let before = names(&store);
        let error = engine.compact().expect_err("no room for a copy");
        assert_eq!(error.kind(), ErrorKind::StoreFull, "{error}");
        assert_eq!(names(&store), before, "the copy that came to nothing takes no room");
    };
    fill_and_go_on(&store, compact, remount);
}

#[test]
fn a_disk_that_is_full_from_the_start_makes_no_store() {
    let Some(disk) = SmallDisk::new() else { return };
    let filler = disk.0.0.join("filler");
    let _ = std::fs::write(&filler, vec![0; 4 << 20]); // as much as there is room for
    let store = disk.0.0.join("store");
    let error = Engine::open(&store, support::options(false)).expect_err("no room");
    assert_eq!(error.kind(), ErrorKind::StoreFull, "{error}");
    std::fs::remove_file(filler).expect("removed");
    remember(&open(&store, false), &user("u"), with_vector("made after all"), 1).expect("written");
}

/// Calls that only forget use the room that is kept for them.
#[test]
fn what_forgets_goes_on_where_nothing_is_left() {
    let Some(disk) = SmallDisk::new() else { return };
    let elsewhere = Folder::new();
    std::fs::create_dir(&elsewhere.0).expect("made");
    let (ballast, store, day) = (disk.0.0.join("ballast"), disk.0.0.join("store"), 86_400_000_000);
    let engine = open(&store, false);
    let many = |kind: Kind, ttl| {
        let source = if kind == Kind::Decision { "page" } else { "user" };
        let new = move |at| NewMemory {
            kind,
            ttl,
            importance: 0.1,
            source: source.into(),
            ..NewMemory::new(format!("{kind:?} {at} {}", "of some words ".repeat(12)))
        };
        let rows = (0..300).map(|at| (std::sync::Arc::new(user("u")), new(at))).collect();
        engine.remember_many(rows, 1, true).expect("written");
    };
    many(Kind::Decision, None);
    many(Kind::Semantic, None);
    many(Kind::Episodic, Some(day));
    many(Kind::Preference, None);
    remember(&engine, &user("kept"), NewMemory::new("Prefers Vim"), 1).expect("written");
    let full = |engine: &Engine| {
        fill_up(&ballast);
        let refused = remember(engine, &user("v"), NewMemory::new("x".repeat(100_000)), 2);
        refused.is_err_and(|error| error.kind() == ErrorKind::StoreFull)
    };
    assert!((0..100).any(|_| full(&engine)), "the control: nothing can be added");
    let recalled = |at| assert!(!ask(&engine, &user("kept"), "Vim", 5, at).expect("answered").is_empty());
    recalled(2);
    assert!(engine.flush_accesses().is_err_and(|error| error.kind() == ErrorKind::StoreFull), "the control: a recall cannot be stored");
    assert!(engine.export(&elsewhere.0.join("export")).expect("exported to another disk") > 0);
    assert_eq!(engine.maintain(None, 3, &mut || Ok(())).expect("maintained").recalls, 0);
    assert_eq!(engine.expire(2 * day).expect("expired"), 300);
    assert_eq!(engine.forget_old(&user("u"), Kind::Semantic.bit(), 2 * day, 2 * day).expect("forgotten"), 300);
    let origin = Origin { session: None, source: Some("page".into()), since: None, derived: false };
    let stale = Stale::new(0.5, 0.2, 2 * day).expect("a rule");
    assert_eq!(engine.forget_from(&user("u"), &origin, 2 * day, false).expect("forgotten").len(), 300);
    assert_eq!(engine.forget_stale(&user("u"), stale, 2 * day, false).expect("forgotten").len(), 300);
    engine.maintain(None, 3 * day, &mut || Ok(())).expect("maintained");
    assert!((0..100).any(|_| full(&engine)));
    recalled(4);
    open(&store, false).close().expect("another handle, with nothing to store");
    engine.close().expect("closed, without the recall");
    std::fs::remove_file(&ballast).expect("removed");
    assert_sound(&open(&store, false));
}

/// Whatever room comes back on a full disk: a step that takes the last of it leaves little for the next, and the log gives its pages then.
#[test]
fn whatever_room_there_is_what_forgets_finds_it() {
    let Some(disk) = SmallDisk::of(12) else { return };
    let made = Folder::in_memory();
    let engine = open(&made.0, false);
    let rows = (0..600).map(|at| {
        let new =
            NewMemory { source: "page".into(), ..NewMemory::new(format!("fact {at} about port {} {}", 8000 + at, "words ".repeat(10))) };
        (std::sync::Arc::new(user("u")), new)
    });
    engine.remember_many(rows.collect(), 1, true).expect("written");
    engine.close().expect("closed");
    let (ballast, store) = (disk.0.0.join("ballast"), disk.0.0.join("store"));
    let origin = Origin { session: None, source: Some("page".into()), since: None, derived: false };
    for room in [0, 44, 52, 56, 60, 64, 68, 72, 128] {
        copy_folder(&made.0, &store);
        let engine = open(&store, false);
        fill_up(&ballast);
        while remember(&engine, &user("v"), NewMemory::new("x".repeat(900)), 2).is_ok() {}
        fill_up(&ballast);
        let file = std::fs::File::options().write(true).open(&ballast).expect("a file");
        let left = file.metadata().expect("measured").len().saturating_sub(room << 10);
        file.set_len(left).expect("cut off");
        drop(file);
        let forgotten = engine.forget_from(&user("u"), &origin, 3, false);
        assert!(forgotten.as_ref().is_ok_and(|forgotten| forgotten.len() == 600), "{room} KiB: {:?}", forgotten.err());
        let more = remember(&engine, &user("v"), NewMemory::new("more"), 4);
        assert!(more.is_err_and(|error| error.kind() == ErrorKind::StoreFull), "{room} KiB: what adds something waits for the log");
        std::fs::remove_file(&ballast).expect("removed");
        remember(&engine, &user("v"), NewMemory::new("more"), 4).expect("there is room again");
        assert_sound(&engine);
        engine.close().expect("closed");
        std::fs::remove_dir_all(&store).expect("removed");
    }
}

/// The file could not grow, and so the store stayed full whatever was erased: it found no room to be compacted either.
#[test]
fn pages_that_an_erasure_gave_back_take_new_memories() {
    let Some(disk) = SmallDisk::of(8) else { return };
    let store = disk.0.0.join("store");
    let engine = open(&store, false);
    let add = |engine: &Engine, who: &str, at: usize| {
        remember(engine, &user(who), NewMemory::new(format!("fact {at} {}", "words ".repeat(200))), at as i64)
    };
    let filled = (0..100_000).take_while(|at| add(&engine, ["a", "b", "c"][at % 3], *at).is_ok()).count();
    let _ = engine.erase(&user("b")); // the copy of the store finds no room
    assert!(memories(&engine, &user("b"), 0).is_empty());
    let more = filled / 10;
    for at in filled..filled + more {
        add(&engine, "a", at).unwrap_or_else(|error| panic!("{at}, {filled}: {error}"));
    }
    engine.close().expect("closed");
    let engine = open(&store, false);
    let refused = (filled + more..).find_map(|at| add(&engine, "a", at).err()).expect("it fills up again");
    assert_eq!(refused.kind(), ErrorKind::StoreFull, "{refused}");
    assert!(refused.message().contains("enlarge the volume"), "{refused}");
    let _ = engine.erase(&user("c"));
    assert!(memories(&engine, &user("c"), 0).is_empty(), "what forgets still has room");
    assert_sound(&engine);
}

/// Fills a disk up, piece by piece.
fn fill_up(ballast: &Path) {
    for size in [1 << 16, 1 << 12, 1] {
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(ballast).expect("a file");
        while std::io::Write::write_all(&mut file, &vec![0; size]).is_ok() {}
    }
}

/// Whatever room there is, a store is made or refused: LMDB's table of readers has no hole that the first reader would die in.
#[test]
fn a_disk_that_is_nearly_full_kills_nobody() {
    let Some(disk) = SmallDisk::new() else { return };
    let (filler, store) = (disk.0.0.join("filler"), disk.0.0.join("store"));
    let mut made = 0;
    for room in (0..800).step_by(8) {
        let _ = std::fs::remove_dir_all(&store);
        std::fs::write(&filler, vec![0; (4 << 20) - (room << 10)]).expect("there is room");
        match Engine::open(&store, support::options(false)) {
            Ok(engine) => {
                made += 1;
                let _ = remember(&engine, &user("u"), with_vector("a memory"), 1);
                assert!(memories(&engine, &user("u"), 0).len() < 2);
            }
            Err(error) => assert_eq!(error.kind(), ErrorKind::StoreFull, "{room} KB: {error}"),
        }
    }
    assert!((1..100).contains(&made), "some had room, and some had not: {made}");
}

/// The same under a limit of the file's size, which any user can set: in a process of its own, whose limit it is.
#[test]
fn a_file_that_may_not_grow_loses_nothing() {
    if role().is_none() {
        let folder = Folder::new();
        join(spawn("a_file_that_may_not_grow_loses_nothing", "limited", &folder.0));
        return assert!(!texts(&open(&folder.0, false)).is_empty());
    }
    let (_, store) = role().expect("a role");
    limit_file_size(3 << 20);
    fill_and_go_on(&store, |_| (), || limit_file_size(u64::MAX));
}

/// LMDB tells a write that came to an end half way as an error of the device. Whoever copies a store is told of the full disk all the same.
#[test]
fn a_copy_that_finds_no_room_is_told_so() {
    let Some((_, store)) = role() else {
        let folder = Folder::new();
        fill_with_rows(&open(&folder.0, false), 300);
        return join(spawn("a_copy_that_finds_no_room_is_told_so", "limited", &folder.0));
    };
    let (engine, target, key) = (open(&store, false), Folder::new(), StoreKey::new(&[7; 32]).expect("a key"));
    limit_file_size((1 << 20) + 1000); // less than the copy has, and not at the end of a page
    let copies = [engine.backup(&target.0), engine.compact(), engine.rekey(Some(key)).map(|()| 0)];
    limit_file_size(u64::MAX);
    for copied in copies {
        assert!(copied.as_ref().is_err_and(|error| error.kind() == ErrorKind::StoreFull), "{copied:?}");
    }
    assert_eq!(texts(&engine).len(), 300);
    assert_sound(&engine);
}

fn fill_with_rows(engine: &Engine, rows: i64) {
    let padding = "lorem ipsum dolor sit amet ".repeat(300);
    for at in 0..rows {
        remember(engine, &user("u"), NewMemory::new(format!("row {at} {padding}")), at).expect("written");
    }
}

fn limit_file_size(bytes: u64) {
    // SAFETY: the limit is a plain struct that is read; ignoring a signal has no precondition.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit), 0);
    }
}
