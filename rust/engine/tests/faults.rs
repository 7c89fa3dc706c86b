//! Every write, sync, rename and removal of what replaces a generation fails once, or it and all behind it: nothing that was acknowledged
//! is lost, and the error says what is in force.
//!
//! The functions of the C library that change files are defined here, so that this program calls these, LMDB and Rust's library included.
#![cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]

mod support;

use std::cell::Cell;
use std::fs;
use std::path::Path;

use libc::{c_char, c_int, c_long, c_uint, c_void, iovec, mode_t, off_t, size_t, ssize_t};
use memspan_engine::engine::Engine;
use memspan_engine::memory::Memory;
use memspan_engine::store::folder::FORMAT_VERSION;
use memspan_engine::store::repair::repair;
use memspan_engine::store::vault::StoreKey;
use memspan_engine::{Error, ErrorKind, Result};
use support::{Folder, assert_sound, copy_folder, memories, one, options, user, with_id};

thread_local! {
    /// How many calls are left before one fails; none where none shall.
    static LEFT: Cell<Option<u32>> = const { Cell::new(None) };
    static FAULT: Cell<Fault> = const { Cell::new(Fault { errno: 0, lasts: false }) };
    static FAILED: Cell<bool> = const { Cell::new(false) };
}

/// What fails.
#[derive(Debug, Clone, Copy)]
struct Fault {
    errno: c_int,
    /// All that comes behind it, too.
    lasts: bool,
}

/// An error of the device, and a disk that is full from then on.
const FAULTS: [Fault; 2] = [Fault { errno: libc::EIO, lasts: false }, Fault { errno: libc::ENOSPC, lasts: true }];

fn fails() -> bool {
    let Some(left) = LEFT.get() else { return false };
    if left > 0 {
        LEFT.set(Some(left - 1));
        return false;
    }
    let fault = FAULT.get();
    LEFT.set(fault.lasts.then_some(0));
    FAILED.set(true);
    // SAFETY: the pointer is this thread's own errno.
    unsafe { *libc::__errno_location() = fault.errno };
    true
}

macro_rules! failing {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty = $call:expr;)*) => { $(
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type),*) -> $result {
            // SAFETY: the caller's arguments, as they came.
            if fails() { -1 } else { unsafe { libc::syscall($call, $($argument as c_long),*) as $result } }
        }
    )* };
}

failing! {
    fsync(fd: c_int) -> c_int = libc::SYS_fsync;
    fdatasync(fd: c_int) -> c_int = libc::SYS_fdatasync;
    write(fd: c_int, data: *const c_void, count: size_t) -> ssize_t = libc::SYS_write;
    pwrite(fd: c_int, data: *const c_void, count: size_t, at: off_t) -> ssize_t = libc::SYS_pwrite64;
    pwrite64(fd: c_int, data: *const c_void, count: size_t, at: off_t) -> ssize_t = libc::SYS_pwrite64;
    pwritev(fd: c_int, parts: *const iovec, count: c_int, at: off_t) -> ssize_t = libc::SYS_pwritev;
    pwritev64(fd: c_int, parts: *const iovec, count: c_int, at: off_t) -> ssize_t = libc::SYS_pwritev;
    ftruncate(fd: c_int, length: off_t) -> c_int = libc::SYS_ftruncate;
    ftruncate64(fd: c_int, length: off_t) -> c_int = libc::SYS_ftruncate;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the caller's arguments, as they came.
    if fails() { -1 } else { unsafe { libc::renameat(libc::AT_FDCWD, from, libc::AT_FDCWD, to) } }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the caller's arguments, as they came.
    if fails() { -1 } else { unsafe { libc::mkdirat(libc::AT_FDCWD, path, mode) } }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
    let needs_no_room = FAULT.get().lasts;
    // SAFETY: the caller's arguments, as they came.
    if !needs_no_room && fails() { -1 } else { unsafe { libc::syscall(libc::SYS_unlinkat, folder, path, flags) as c_int } }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: c_uint) -> c_int {
    // SAFETY: the caller's arguments, as they came; a mode that was not given is not looked at.
    if flags & libc::O_CREAT != 0 && fails() { -1 } else { unsafe { libc::openat(libc::AT_FDCWD, path, flags, mode) } }
}

/// What came of `work` in which the call number `at` of this thread failed; none where it had fewer.
fn with_fault<T>(fault: Fault, at: u32, work: impl FnOnce() -> Result<T>) -> Option<Result<T>> {
    FAULT.set(fault);
    FAILED.set(false);
    LEFT.set(Some(at));
    let done = work();
    LEFT.set(None);
    FAILED.get().then_some(done)
}

/// Runs `attempt` with each call failing, until there are no more.
fn fail_each(least: u32, mut attempt: impl FnMut(Fault, u32) -> bool) {
    for fault in FAULTS {
        let calls = (0..10_000).find(|at| !attempt(fault, *at)).unwrap_or_default();
        assert!(calls >= least, "only {calls} calls could fail");
    }
}

fn key(byte: u8) -> StoreKey {
    StoreKey::new(&[byte; 32]).expect("a key")
}

fn open(store: &Path, byte: Option<u8>) -> Result<Engine> {
    match byte {
        Some(byte) => Engine::open_encrypted(store, options(false), false, key(byte)),
        None => Engine::open(store, options(false)),
    }
}

fn remember(engine: &Engine, id: &str) {
    one(engine, &user("u"), with_id(id, &format!("{id} is a fact about payments-api")), 1);
}

fn found(engine: &Engine) -> Vec<String> {
    memories(engine, &user("u"), 9).iter().map(Memory::id).collect()
}

fn generations(store: &Path) -> usize {
    let names = fs::read_dir(store).expect("listed").map(|entry| entry.expect("an entry").file_name());
    names.filter(|name| name.to_string_lossy().starts_with("gen-")).count()
}

/// How often the content of a plain store stands in the files.
fn plain_in(store: &Path) -> usize {
    let data = |folder: fs::DirEntry| fs::read(folder.path().join("data.mdb")).unwrap_or_default();
    let folders = fs::read_dir(store).expect("listed").map(|entry| data(entry.expect("an entry")));
    folders.map(|bytes| bytes.windows(12).filter(|part| *part == b"payments-api").count()).sum()
}

/// The closed store has what was acknowledged: after a repair of a copy, and when it is opened, which tidies it up.
fn assert_has(store: &Path, byte: Option<u8>, expected: &[&str], what: &str) {
    let saved = Folder::in_memory();
    let repaired = repair(store, &saved.0, FORMAT_VERSION, 9).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert_eq!(repaired.lost, Vec::<String>::new(), "{what}");
    for store in [&saved.0, store] {
        let engine = open(store, byte).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(found(&engine), expected, "{what}");
        assert_sound(&engine);
        engine.close().expect("closed");
        assert_eq!(generations(store), 1, "{what}");
    }
}

fn is_done(error: &Error) -> bool {
    error.fields().iter().any(|(name, value)| *name == "outcome" && *value == "done".into())
}

#[test]
fn a_compaction_loses_nothing_whatever_fails() {
    fail_each(20, |fault, at| {
        let (folder, what) = (Folder::in_memory(), format!("{fault:?} at {at}"));
        let engine = open(&folder.0, None).expect("made");
        remember(&engine, "first");
        let Some(done) = with_fault(fault, at, || engine.compact()) else { return false };
        remember(&engine, "second");
        let generation = engine.contents().expect("contents").generation;
        match &done {
            Ok(_) => assert_eq!(generation, 2, "{what}"),
            Err(error) if is_done(error) => {
                assert_eq!((generation, error.kind()), (2, ErrorKind::StoreIo), "{what}: {error}");
                assert!(error.message().contains("in its new generation, and nothing is lost"), "{what}: {error}");
            }
            Err(error) if error.kind() == ErrorKind::OutcomeUnknown => {
                assert!(error.message().contains("in this generation and in the next"), "{what}: {error}");
            }
            Err(error) => assert_eq!(generation, 1, "{what}: {error}"),
        }
        drop(engine);
        assert_has(&folder.0, None, &["first", "second"], &what);
        true
    });
}

fn rekey_under_faults(before: Option<u8>, after: Option<u8>) {
    fail_each(20, |fault, at| {
        let (folder, what) = (Folder::in_memory(), format!("{fault:?} at {at} of {before:?} to {after:?}"));
        let engine = open(&folder.0, before).expect("made");
        remember(&engine, "first");
        let Some(done) = with_fault(fault, at, || engine.rekey(after.map(key))) else { return false };
        let write = || support::remember(&engine, &user("u"), with_id("second", "second is a fact about payments-api"), 1);
        // It was prepared under the hashes of before: the error says to do it again.
        let written = write().or_else(|error| if error.kind() == ErrorKind::StoreBusy { write() } else { Err(error) });
        if let Err(error) = &written {
            let is_unknown = matches!(&done, Err(error) if error.kind() == ErrorKind::OutcomeUnknown);
            assert!(is_unknown && error.kind() == ErrorKind::WrongKey, "{what}: {error}");
        }
        drop(engine);
        let opens = |byte: Option<u8>| match open(&folder.0, byte) {
            Ok(_) => true,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WrongKey, "{what}: {error}");
                false
            }
        };
        let left = generations(&folder.0);
        let is_new = opens(after);
        assert_eq!(opens(before), !is_new, "{what}: one of the two opens it");
        match &done {
            Ok(()) => assert!(is_new && left == 1, "{what}"),
            Err(error) if is_done(error) => {
                let says = if after.is_some() { "the new key is in force" } else { "is not encrypted any more" };
                assert!(is_new && error.message().contains(says), "{what}: {error}");
            }
            Err(error) if error.kind() == ErrorKind::OutcomeUnknown => assert!(error.message().contains("keep both"), "{what}: {error}"),
            Err(error) => {
                assert!(!is_new && error.message().contains("the key of the store is what it was"), "{what}: {error}");
            }
        }
        let byte = if is_new { after } else { before };
        if written.is_err() {
            remember(&open(&folder.0, byte).expect("opened"), "second");
        }
        assert_has(&folder.0, byte, &["first", "second"], &what);
        assert_eq!(plain_in(&folder.0) > 0, byte.is_none(), "{what}");
        true
    });
}

#[test]
fn a_plain_store_that_gets_a_key_loses_neither_data_nor_key() {
    rekey_under_faults(None, Some(1));
}

#[test]
fn a_store_that_gets_another_key_loses_neither_data_nor_key() {
    rekey_under_faults(Some(1), Some(2));
}

#[test]
fn a_store_that_becomes_plain_loses_nothing() {
    rekey_under_faults(Some(1), None);
}

#[test]
fn a_load_is_all_there_or_nothing_whatever_fails() {
    let source = Folder::in_memory();
    let engine = open(&source.0, None).expect("made");
    remember(&engine, "first");
    let file = source.0.with_extension("jsonl");
    engine.export(&file).expect("exported");
    for byte in [None, Some(1)] {
        fail_each(20, |fault, at| {
            let (folder, what) = (Folder::in_memory(), format!("{fault:?} at {at} with {byte:?}"));
            let engine = open(&folder.0, byte).expect("made");
            let Some(done) = with_fault(fault, at, || engine.load(&file)) else { return false };
            let is_loaded = !found(&engine).is_empty();
            match &done {
                Ok(_) => assert!(is_loaded, "{what}"),
                Err(error) if error.kind() == ErrorKind::OutcomeUnknown => {}
                Err(error) => assert!(!is_loaded, "{what}: {error}"),
            }
            if !is_loaded {
                engine.load(&file).unwrap_or_else(|error| panic!("{what}: it can be repeated: {error}"));
            }
            remember(&engine, "second");
            drop(engine);
            assert_has(&folder.0, byte, &["first", "second"], &what);
            true
        });
    }
    fs::remove_file(file).expect("removed");
}

#[test]
fn a_store_of_an_older_format_opens_whatever_failed_before() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/format-5/store");
    let count = |engine: &Engine| {
        let scopes = engine.scopes(0, usize::MAX).expect("listed");
        scopes.iter().map(|(_, scope)| memories(engine, scope, 9).len()).sum::<usize>()
    };
    let whole = Folder::in_memory();
    copy_folder(&golden, &whole.0);
    let expected = count(&open(&whole.0, None).expect("opened"));
    assert!(expected > 10);
    fail_each(40, |fault, at| {
        let (folder, what) = (Folder::in_memory(), format!("{fault:?} at {at}"));
        copy_folder(&golden, &folder.0);
        let Some(done) = with_fault(fault, at, || open(&folder.0, None)) else { return false };
        let engine = done.or_else(|_| open(&folder.0, None)).unwrap_or_else(|error| panic!("{what}: {error}"));
        remember(&engine, "second");
        assert_eq!(count(&engine), expected + 1, "{what}");
        drop(engine);
        let saved = Folder::in_memory();
        let repaired = repair(&folder.0, &saved.0, FORMAT_VERSION, 9).expect("repaired");
        assert_eq!(repaired.lost, Vec::<String>::new(), "{what}");
        for store in [&saved.0, &folder.0] {
            let engine = open(store, None).unwrap_or_else(|error| panic!("{what}: {error}"));
            assert_eq!((count(&engine), found(&engine)), (expected + 1, vec!["second".to_owned()]), "{what}");
            drop(engine);
            assert_eq!(generations(store), 1, "{what}");
        }
        true
    });
}

#[test]
fn a_backup_and_a_repair_that_failed_can_be_repeated() {
    let source = Folder::in_memory();
    let engine = open(&source.0, None).expect("made");
    remember(&engine, "first");
    let closed = Folder::in_memory();
    engine.backup(&closed.0).expect("copied");
    let backup = |target: &Path| engine.backup(target).map(drop);
    let save = |target: &Path| repair(&closed.0, target, FORMAT_VERSION, 9).map(drop);
    for copy in [&backup as &dyn Fn(&Path) -> Result<()>, &save] {
        fail_each(10, |fault, at| {
            let (folder, what) = (Folder::in_memory(), format!("{fault:?} at {at}"));
            let Some(done) = with_fault(fault, at, || copy(&folder.0)) else { return false };
            if done.is_err() {
                let left = fs::read_dir(&folder.0).map_or(0, Iterator::count);
                assert_eq!(left, 0, "{what}: nothing is left of it");
                copy(&folder.0).unwrap_or_else(|error| panic!("{what}: it can be repeated: {error}"));
            }
            assert_eq!(found(&open(&folder.0, None).expect("opened")), ["first"], "{what}");
            true
        });
    }
}
