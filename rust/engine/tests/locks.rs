//! Who may write, and where a store may be open: every wait ends, and every refusal says why.

mod support;

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use memspan_engine::engine::{Engine, EngineOptions};
use memspan_engine::memory::NewMemory;
use memspan_engine::store::WriteTransaction;
use memspan_engine::store::environment::Environment;
use memspan_engine::{Error, ErrorKind, Field};
use support::{Folder, join, memories, one, open, options, remember, role, spawn, user, wait_until};

fn impatient(path: &std::path::Path, wait: Duration) -> Engine {
    Engine::open(path, EngineOptions { busy_timeout: wait, ..options(false) }).expect("open")
}

fn field(error: &Error, name: &str) -> Option<Field> {
    error.fields().iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone())
}

/// Holds the writers' lock from another process until the file `release` is there.
#[test]
fn holder_process() {
    let Some((_, store)) = role() else { return };
    let hold = |_: &Environment| {
        std::fs::write(store.join("held"), "").expect("told");
        wait_until("the release", || store.join("release").exists());
        Ok(())
    };
    open(&store, false).store().exclusively(Duration::from_secs(5), hold).expect("held");
}

#[test]
fn a_writer_gives_up_after_its_timeout_and_names_the_holder() {
    let folder = Folder::new();
    let engine = impatient(&folder.0, Duration::from_millis(300));
    one(&engine, &user("u"), NewMemory::new("before"), 1);
    let holder = spawn("holder_process", "holder", &folder.0);
    wait_until("the holder", || folder.0.join("held").exists());

    let started = Instant::now();
    let error = remember(&engine, &user("u"), NewMemory::new("in vain"), 2).expect_err("busy");
    assert_eq!(error.kind(), ErrorKind::StoreBusy);
    assert!(started.elapsed() >= Duration::from_millis(300) && started.elapsed() < Duration::from_secs(5));
    assert_eq!(field(&error, "holder"), Some(Field::Int(i64::from(holder.id()))), "{error}");
    assert!(error.message().contains("busy_timeout_seconds"), "{error}");
    assert_eq!(memories(&engine, &user("u"), 3).len(), 1, "reads go on");

    std::fs::write(folder.0.join("release"), "").expect("told");
    join(holder);
    one(&engine, &user("u"), NewMemory::new("after"), 4);
    let texts: Vec<_> = memories(&engine, &user("u"), 5).into_iter().map(|memory| memory.text).collect();
    assert_eq!(texts, ["before", "after"], "what timed out was not written");
}

#[test]
fn the_lock_of_a_killed_process_is_free() {
    let folder = Folder::new();
    let engine = impatient(&folder.0, Duration::from_secs(5));
    let mut holder = spawn("holder_process", "holder", &folder.0);
    wait_until("the holder", || folder.0.join("held").exists());
    holder.kill().expect("killed");
    holder.wait().expect("gone");
    one(&engine, &user("u"), NewMemory::new("at once"), 1);
}

#[test]
fn a_writer_in_the_queue_times_out_while_another_group_runs() {
    let folder = Folder::new();
    let (slow, fast) = (open(&folder.0, false), impatient(&folder.0, Duration::from_millis(150)));
    let running = Arc::new(AtomicBool::new(false));
    std::thread::scope(|threads| {
        let (slow, flag) = (&slow, Arc::clone(&running));
        threads.spawn(move || {
            // A group whose only operation takes its time: what queues behind it must not wait for ever.
            let group = move |_: &mut WriteTransaction<'_>| {
                flag.store(true, Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(600));
                Ok(())
            };
            slow.store().write(Duration::from_secs(5), group).expect("written");
        });
        wait_until("the group", || running.load(Ordering::Relaxed));
        let started = Instant::now();
        let error = remember(&fast, &user("u"), NewMemory::new("queued in vain"), 1).expect_err("busy");
        assert_eq!(error.kind(), ErrorKind::StoreBusy);
        assert!(started.elapsed() < Duration::from_millis(450), "{:?}", started.elapsed());
        assert_eq!(field(&error, "holder"), Some(Field::Int(i64::from(std::process::id()))));
    });
    assert!(memories(&fast, &user("u"), 2).is_empty(), "what gave up was not written");
    one(&fast, &user("u"), NewMemory::new("later"), 3);
}

#[test]
fn an_operation_that_panics_is_undone_and_harms_nobody() {
    let folder = Folder::new();
    let engine = open(&folder.0, false);
    let broken = |_: &mut WriteTransaction<'_>| -> memspan_engine::Result<()> { panic!("a bug") };
    let error = engine.store().write(Duration::from_secs(1), broken).expect_err("an error");
    assert!(error.message().contains("a bug"));
    one(&engine, &user("u"), NewMemory::new("goes on"), 1);
}

/// Opens the store and notes what it got: the process of the next test.
#[test]
fn opener_process() {
    let Some((_, store)) = role() else { return };
    let answer = match Engine::open(&store, options(false)) {
        Ok(_) => "opened".to_owned(),
        Err(error) => format!("{:?}: {error}", error.kind()),
    };
    std::fs::write(store.join("answer"), answer).expect("noted");
}

#[test]
fn another_pid_namespace_gets_a_typed_error() {
    let folder = Folder::new();
    let opener = || {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--mount-proc"]).arg(std::env::current_exe().expect("this binary"));
        command.args(["opener_process", "--exact", "--test-threads=1"]);
        command.env("MEMSPAN_TEST_ROLE", "opener").env("MEMSPAN_TEST_STORE", &folder.0).output()
    };
    let allowed = Command::new("unshare").args(["--pid", "--fork", "--mount-proc", "true"]).status();
    if !allowed.is_ok_and(|status| status.success()) {
        eprintln!("skipped: this user may not make a pid namespace");
        return;
    }
    let engine = open(&folder.0, false);
    one(&engine, &user("u"), NewMemory::new("here"), 1);
    opener().expect("ran");
    let answer = std::fs::read_to_string(folder.0.join("answer")).expect("an answer");
    assert!(answer.starts_with("StoreNotShareable"), "{answer}");
    drop(engine);
    opener().expect("ran");
    assert_eq!(std::fs::read_to_string(folder.0.join("answer")).expect("an answer"), "opened", "alone it may");
    assert_eq!(memories(&open(&folder.0, false), &user("u"), 2).len(), 1);
}
