//! `fork`: both sides go on, whatever other threads were doing, and no write of either is lost.

mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use memspan_engine::ErrorKind;
use memspan_engine::engine::Engine;
use support::{Folder, ask, assert_sound, memories, one, open, options, remember, user, with_vector};

/// A child of this process that does `work` and exits. It is killed after 30 s, so that a lock taken for ever fails the test.
struct Fork(libc::pid_t);

impl Fork {
    fn new(work: impl FnOnce()) -> Self {
        // SAFETY: the child runs `work` and `_exit`, never the test harness; what it calls must bear a fork, which is what is tested.
        match unsafe { libc::fork() } {
            0 => {
                // SAFETY: neither call has a precondition.
                unsafe { libc::alarm(30) };
                let failed = catch_unwind(AssertUnwindSafe(work)).is_err();
                // SAFETY: as above.
                unsafe { libc::_exit(i32::from(failed)) }
            }
            child => Self(child),
        }
    }

    fn join(self) {
        assert!(self.0 > 0, "fork failed");
        let mut status = 0;
        // SAFETY: `status` is a writable int, and the child is ours.
        while unsafe { libc::waitpid(self.0, &raw mut status, 0) } != self.0 {}
        assert_eq!(status, 0, "the child failed (status {status:#x}; 0xe is the alarm: it hung)");
    }
}

fn write_some(engine: &Engine, scope: &str, count: i64) {
    for at in 0..count {
        let text = format!("{scope} wrote number-{at}-of-{scope}");
        one(engine, &user(scope), with_vector(&text), at);
        assert_eq!(ask(engine, &user(scope), &format!("number-{at}-of-{scope}"), 1, at).expect("found"), [text]);
    }
}

fn count(engine: &Engine, scope: &str) -> usize {
    memories(engine, &user(scope), 0).len()
}

#[test]
fn both_sides_write_at_the_same_time() {
    let folder = Folder::new();
    let engine = open(&folder.0, true);
    write_some(&engine, "before", 5);
    let child = Fork::new(|| {
        assert_eq!(count(&engine, "before"), 5);
        write_some(&engine, "child", 40);
        write_some(&engine, "both-c", 1);
    });
    write_some(&engine, "parent", 40);
    child.join();
    assert_eq!((count(&engine, "before"), count(&engine, "parent"), count(&engine, "child")), (5, 40, 40));
    assert_sound(&engine);
}

#[test]
fn a_fork_while_other_threads_write_and_recall() {
    let folder = Folder::new();
    let engine = open(&folder.0, true);
    let done = AtomicBool::new(false);
    let written: Vec<AtomicI64> = (0..4).map(|_| AtomicI64::new(0)).collect();
    std::thread::scope(|threads| {
        for (name, counter) in written.iter().enumerate() {
            let (engine, done) = (&engine, &done);
            threads.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    let at = counter.load(Ordering::Relaxed);
                    one(engine, &user(&format!("thread-{name}")), with_vector(&format!("thread {name} note {at}")), at);
                    counter.store(at + 1, Ordering::Relaxed);
                    ask(engine, &user(&format!("thread-{name}")), "note", 3, at).expect("found");
                }
            });
        }
        for at in 0..15 {
            Fork::new(|| write_some(&engine, &format!("child-{at}"), 2)).join();
            std::thread::sleep(Duration::from_millis(5));
        }
        done.store(true, Ordering::Relaxed);
    });
    for (name, counter) in written.iter().enumerate() {
        assert!(counter.load(Ordering::Relaxed) > 0);
        assert_eq!(count(&engine, &format!("thread-{name}")) as i64, counter.load(Ordering::Relaxed));
    }
    for at in 0..15 {
        assert_eq!(count(&engine, &format!("child-{at}")), 2);
    }
    assert_sound(&engine);
}

#[test]
fn a_fork_while_another_thread_compacts_and_opens() {
    let folder = Folder::new();
    let engine = open(&folder.0, true);
    write_some(&engine, "before", 20);
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                engine.compact().expect("compacted");
                drop(open(&folder.0, true));
                let other = Folder::new();
                write_some(&open(&other.0, true), "elsewhere", 1);
            }
        });
        for at in 0..10 {
            Fork::new(|| write_some(&engine, &format!("child-{at}"), 2)).join();
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!((0..10).map(|at| count(&engine, &format!("child-{at}"))).sum::<usize>(), 20);
    assert_eq!(count(&engine, "before"), 20);
    assert_sound(&engine);
}

#[test]
fn a_grandchild_and_a_child_that_opens_the_store_itself() {
    let folder = Folder::new();
    let engine = open(&folder.0, true);
    write_some(&engine, "parent", 1);
    Fork::new(|| {
        write_some(&engine, "child", 1);
        Fork::new(|| write_some(&engine, "grandchild", 1)).join();
        let again = Engine::open(&folder.0, options(true)).expect("opened in the child");
        write_some(&again, "again", 1);
        drop(again);
        write_some(&engine, "child-later", 1);
    })
    .join();
    for scope in ["parent", "child", "grandchild", "again", "child-later"] {
        assert_eq!(count(&engine, scope), 1, "{scope}");
    }
}

#[test]
fn a_closed_engine_stays_closed_in_the_child() {
    let folder = Folder::new();
    let engine = open(&folder.0, true);
    write_some(&engine, "u", 1);
    engine.close().expect("closed");
    Fork::new(|| {
        let error = remember(&engine, &user("u"), with_vector("too late"), 1).expect_err("closed");
        assert_eq!(error.kind(), ErrorKind::Closed);
    })
    .join();
}

/// A fork holds every store of the process for a moment, and its child for ever: neither keeps a store open that is closed meanwhile.
#[test]
fn a_store_is_closed_while_another_thread_forks_and_in_the_child() {
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                Fork::new(|| ()).join();
            }
        });
        for at in 0..40 {
            let folder = Folder::new();
            let engine = open(&folder.0, true);
            write_some(&engine, "u", 1);
            if at % 4 == 0 {
                Fork::new(|| {
                    engine.close().expect("closed in the child");
                    let error = remember(&engine, &user("u"), with_vector("too late"), 1).expect_err("closed");
                    assert_eq!(error.kind(), ErrorKind::Closed);
                })
                .join();
            }
            engine.close().expect("closed");
            assert_eq!(remember(&engine, &user("u"), with_vector("too late"), 1).expect_err("closed").kind(), ErrorKind::Closed);
        }
        done.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_child_that_dies_in_a_write_leaves_the_store_to_its_parent() {
    let folder = Folder::new();
    let engine = open(&folder.0, true);
    write_some(&engine, "parent", 3);
    // SAFETY: as in `Fork::new`; this child never returns from the write.
    let child = match unsafe { libc::fork() } {
        0 => {
            let die = |_: &mut memspan_engine::store::WriteTransaction<'_>| -> memspan_engine::Result<()> {
                // SAFETY: no precondition.
                unsafe { libc::_exit(9) }
            };
            drop(engine.store().write(Duration::from_secs(5), die));
            // SAFETY: no precondition.
            unsafe { libc::_exit(1) }
        }
        child => child,
    };
    let mut status = 0;
    // SAFETY: `status` is a writable int, and the child is ours.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status >> 8, 9, "it died inside its transaction");
    write_some(&engine, "parent-later", 3);
    assert_eq!(count(&engine, "parent"), 3);
    assert_sound(&engine);
}

/// Long calls begin anew behind a fork, and end with what they would have ended with.
#[test]
fn checks_copies_and_exports_give_way_to_forks() {
    let (folder, elsewhere) = (Folder::new(), Folder::new());
    let engine = open(&folder.0, true);
    for at in 0..40 {
        one(&engine, &user("u"), with_vector(&format!("note {at} of many")), at);
    }
    std::fs::create_dir_all(&elsewhere.0).expect("made");
    let done = AtomicBool::new(false);
    std::thread::scope(|threads| {
        let worker = threads.spawn(|| {
            let mut rounds = 0;
            while !done.load(Ordering::Relaxed) || rounds < 3 {
                assert_eq!(engine.check().expect("checked").findings.len(), 0);
                assert!(engine.export(&elsewhere.0.join("export")).expect("exported") > 40);
                assert!(engine.backup(&elsewhere.0.join(format!("backup-{rounds}"))).expect("copied") > 40);
                engine.compact().expect("compacted");
                rounds += 1;
            }
            rounds
        });
        for _ in 0..12 {
            Fork::new(|| assert_eq!(count(&engine, "u"), 40)).join();
            std::thread::sleep(Duration::from_millis(5));
        }
        done.store(true, Ordering::Relaxed);
        let rounds = worker.join().expect("it ended");
        for round in 0..rounds {
            assert_eq!(count(&open(&elsewhere.0.join(format!("backup-{round}")), true), "u"), 40);
        }
    });
    assert_sound(&engine);
}
