//! Files that are taken away or put in while a store is open, or between: refused or repaired, and never a write lost in silence.

mod support;

use std::fs;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::Path;

use memspan_engine::ErrorKind;
use memspan_engine::engine::{Engine, EngineOptions};
use memspan_engine::memory::{Memory, NewMemory};
use memspan_engine::store::envelope;
use memspan_engine::store::pages::Pages;
use support::{Folder, assert_sound, copy_folder, join, memories, one, open, options, remember, role, spawn, user, wait_until, with_id};

fn ids(engine: &Engine) -> Vec<String> {
    memories(engine, &user("u"), 0).iter().map(Memory::id).collect()
}

fn filled(path: &Path, count: i64) -> Engine {
    let engine = open(path, false);
    (0..count).for_each(|at| drop(one(&engine, &user("u"), with_id(&format!("m{at}"), &format!("fact {at}")), at)));
    engine
}

/// The other process of the next two tests: writes whenever it is told to, and notes what was acknowledged.
#[test]
fn writer_process() {
    let Some((_, store)) = role() else { return };
    let engine = open(&store, false);
    for at in 0..10 {
        let id = format!("other{at}");
        one(&engine, &user("u"), with_id(&id, &id), at);
        fs::write(store.with_extension(format!("wrote{at}")), "").expect("told");
        wait_until("the other side", || store.with_extension(format!("go{at}")).exists());
    }
}

/// A cleaner of temporary files, `rsync --delete`: 30 of 61 acknowledged writes were lost, and the doctor found nothing.
#[test]
fn a_deleted_reader_table_or_lock_loses_nothing() {
    for file in ["gen-1/lock.mdb", "lock", "open", "door", "gen-1/progress", "gen-1/log"] {
        let folder = Folder::new();
        let engine = filled(&folder.0, 3);
        fs::remove_file(folder.0.join(file)).expect("removed");
        let mut other = spawn("writer_process", "writer", &folder.0);
        for at in 0..10 {
            wait_until("a write", || folder.0.with_extension(format!("wrote{at}")).exists());
            let id = format!("own{at}");
            one(&engine, &user("u"), with_id(&id, &id), 100 + at);
            assert!(ids(&engine).contains(&format!("other{at}")), "{file}: what the other one wrote is seen at once");
            fs::write(folder.0.with_extension(format!("go{at}")), "").expect("told");
        }
        assert!(other.wait().expect("waited").success(), "{file}");
        for at in 0..10 {
            let _ = fs::remove_file(folder.0.with_extension(format!("wrote{at}")));
            let _ = fs::remove_file(folder.0.with_extension(format!("go{at}")));
        }
        drop(engine);
        let engine = open(&folder.0, false);
        assert_eq!(ids(&engine).len(), 23, "{file}");
        assert_sound(&engine);
    }
}

#[test]
fn a_write_into_a_removed_store_fails_and_makes_no_new_one() {
    let folder = Folder::new();
    let engine = filled(&folder.0, 1);
    fs::remove_dir_all(&folder.0).expect("removed");
    for _ in 0..3 {
        let error = remember(&engine, &user("u"), NewMemory::new("too late"), 2).expect_err("no store");
        assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error}");
        assert!(error.message().contains("was removed or emptied"), "as an opening says it: {error}");
    }
    drop(engine);
    assert!(!folder.0.exists());
}

#[test]
fn another_store_in_the_place_of_the_open_one_is_not_written_to() {
    let (folder, other) = (Folder::new(), Folder::new());
    let engine = filled(&folder.0, 2);
    drop(filled(&other.0, 5));
    let aside = folder.0.with_extension("aside");
    fs::rename(&folder.0, &aside).expect("moved");
    copy_folder(&other.0, &folder.0);
    let error = remember(&engine, &user("u"), NewMemory::new("for the first one"), 9).expect_err("another store");
    assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error}");
    drop(engine);
    assert_eq!(ids(&open(&folder.0, false)).len(), 5);
    assert_eq!(ids(&open(&aside, false)).len(), 2, "what was moved away is whole");
    let _ = fs::remove_dir_all(aside);
}

#[test]
fn the_data_file_or_a_generation_of_another_store_is_refused() {
    let (folder, other) = (Folder::new(), Folder::new());
    drop(filled(&folder.0, 2));
    drop(filled(&other.0, 3));
    let data = fs::read(folder.0.join("gen-1/data.mdb")).expect("read");
    fs::copy(other.0.join("gen-1/data.mdb"), folder.0.join("gen-1/data.mdb")).expect("copied");
    assert_eq!(Engine::open(&folder.0, options(false)).expect_err("of two stores").kind(), ErrorKind::StoreCorrupt);
    fs::write(folder.0.join("gen-1/data.mdb"), data).expect("put back");
    fs::write(folder.0.join("gen-1/manifest"), fs::read(other.0.join("gen-1/manifest")).expect("read")).expect("written");
    assert_eq!(Engine::open(&folder.0, options(false)).expect_err("of two stores").kind(), ErrorKind::StoreCorrupt);
}

#[test]
fn a_renamed_generation_is_damage_and_no_new_store() {
    let folder = Folder::new();
    drop(filled(&folder.0, 2));
    for gone in [true, false] {
        fs::rename(folder.0.join("gen-1"), folder.0.join("gen-01")).expect("renamed");
        let current = fs::read(folder.0.join("CURRENT")).expect("read");
        if gone {
            fs::remove_file(folder.0.join("CURRENT")).expect("removed");
        }
        assert_eq!(Engine::open(&folder.0, options(false)).expect_err("damage").kind(), ErrorKind::StoreCorrupt, "CURRENT gone: {gone}");
        fs::rename(folder.0.join("gen-01"), folder.0.join("gen-1")).expect("renamed back");
        fs::write(folder.0.join("CURRENT"), current).expect("written");
        assert_eq!(ids(&open(&folder.0, false)).len(), 2);
    }
}

/// What `cp -r` makes of a store in use: the data file is read while commits go on.
#[test]
fn a_torn_copy_is_refused_and_a_copy_of_an_idle_store_is_checked_once() {
    let (folder, copy, torn) = (Folder::new(), Folder::new(), Folder::new());
    let engine = filled(&folder.0, 40);
    copy_folder(&folder.0, &copy.0);
    let read_only = Engine::open(&copy.0, EngineOptions { read_only: true, ..options(false) }).expect("checked, and nothing written");
    assert_eq!(ids(&read_only).len(), 40);
    drop(read_only);
    assert_eq!(ids(&open(&copy.0, false)).len(), 40, "nobody wrote meanwhile");
    // The beginning of the file before some commits, the rest behind them, and the other files last.
    let before = fs::read(folder.0.join("gen-1/data.mdb")).expect("read");
    (40..60).for_each(|at| drop(one(&engine, &user("u"), with_id(&format!("m{at}"), &format!("fact {at}")), at)));
    copy_folder(&folder.0, &torn.0);
    let data = fs::File::options().write(true).open(torn.0.join("gen-1/data.mdb")).expect("opened");
    data.write_all_at(&before[..8192], 0).expect("written");
    let log = torn.0.join("gen-1/log");
    let records = fs::read(&log).expect("read");
    fs::remove_file(&log).expect("removed");
    let error = Engine::open(&torn.0, options(false)).expect_err("torn");
    assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error}");
    // The same with the other files first, as they were while the store was closed: they do not vouch for pages that were copied later.
    fs::copy(copy.0.join("gen-1/progress"), torn.0.join("gen-1/progress")).expect("copied");
    let error = Engine::open(&torn.0, options(false)).expect_err("torn");
    assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error}");
    // The log began anew since the meta pages were copied: whether the copy has all that it does not say, nobody knows.
    fs::write(&log, records).expect("written");
    let error = Engine::open(&torn.0, options(false)).expect_err("torn");
    assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error}");
}

/// Somebody in the process closes another descriptor of the reader table: the system drops LMDB's own lock on it.
#[test]
fn a_backup_tool_in_the_process_does_not_unlock_the_store() {
    let folder = Folder::new();
    let engine = filled(&folder.0, 3);
    drop(fs::read(folder.0.join("gen-1/lock.mdb")).expect("read"));
    let mut other = spawn("writer_process", "writer", &folder.0);
    for at in 0..10 {
        wait_until("a write", || folder.0.with_extension(format!("wrote{at}")).exists());
        engine
            .store()
            .read(|pages| {
                one(&open(&folder.0, false), &user("u"), with_id(&format!("own{at}"), "text"), at);
                fs::write(folder.0.with_extension(format!("go{at}")), "").expect("told");
                memspan_engine::scope::Head::read(pages, 1).map(drop)
            })
            .expect("read");
    }
    assert!(other.wait().expect("waited").success());
    for at in 0..10 {
        let _ = fs::remove_file(folder.0.with_extension(format!("wrote{at}")));
        let _ = fs::remove_file(folder.0.with_extension(format!("go{at}")));
    }
    assert_eq!(ids(&engine).len(), 23);
    assert_sound(&engine);
}

/// The same takes away the lock by which LMDB knows that a process with open snapshots lives. The next to open takes back the slots of the dead
/// alone, and the pages of the snapshot are not written over.
#[test]
fn a_backup_tool_in_the_process_does_not_give_up_its_snapshots() {
    const COUNT: i64 = 60;
    if let Some((_, store)) = role() {
        for round in 0..3 {
            let engine = open(&store, false);
            for at in 0..COUNT {
                let text = format!("fact {at} of round {round}");
                remember(&engine, &user("u"), with_id(&format!("m{at}-{round}"), &text), COUNT).expect("written");
            }
        }
        return;
    }
    let folder = Folder::new();
    let engine = filled(&folder.0, COUNT);
    let read = engine.store().read(|pages| {
        drop(fs::read(folder.0.join("gen-1/lock.mdb")).expect("read"));
        join(spawn("a_backup_tool_in_the_process_does_not_give_up_its_snapshots", "writer", &folder.0));
        pages.check_pages()?;
        let mut seen = 0;
        pages.scan_stored(&[0], &[u8::MAX; 32], &mut |key, value| {
            seen += 1;
            envelope::open(key, value).map(|_| ControlFlow::Continue(()))
        })?;
        Ok((seen, pages.tree().entries()))
    });
    let (seen, entries) = read.expect("the snapshot is whole");
    assert_eq!(seen, entries);
    assert_sound(&engine);
}

/// LMDB gives up the slots of all snapshots of a process with the first of its environments that is closed.
#[test]
fn a_process_does_not_open_a_store_by_two_paths() {
    let folder = Folder::new();
    let engine = filled(&folder.0, 3);
    let moved = folder.0.with_extension("moved");
    fs::rename(&folder.0, &moved).expect("moved");
    let error = Engine::open(&moved, options(false)).expect_err("open by another path");
    assert!(error.message().contains("by another path"), "{error}");
    assert_eq!(ids(&engine).len(), 3);
    drop(engine);
    assert_eq!(ids(&open(&moved, false)).len(), 3);
    let _ = fs::remove_dir_all(moved);
}

/// Whoever opens a pipe waits for somebody to write to it.
#[test]
fn a_pipe_in_the_place_of_a_file_keeps_nobody_waiting() {
    for file in ["CURRENT", "gen-1/manifest", "gen-1/data.mdb"] {
        let folder = Folder::new();
        drop(filled(&folder.0, 3));
        let path = folder.0.join(file);
        fs::remove_file(&path).expect("removed");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo").success());
        match (file, Engine::open(&folder.0, options(false))) {
            ("CURRENT", opened) => assert_eq!(ids(&opened.expect("it is a hint")).len(), 3),
            (_, opened) => assert!(matches!(opened.expect_err(file).kind(), ErrorKind::StoreIo | ErrorKind::StoreCorrupt), "{file}"),
        }
    }
}

#[test]
fn a_link_in_the_place_of_a_file_is_not_followed() {
    let folder = Folder::new();
    filled(&folder.0, 1).close().expect("closed");
    let elsewhere = folder.0.with_extension("elsewhere");
    for file in ["lock", "open", "door", "gen-1/data.mdb", "gen-1/lock.mdb", "gen-1/progress", "gen-1/log", "gen-1/manifest"] {
        let path = folder.0.join(file);
        fs::rename(&path, &elsewhere).expect("moved");
        let before = fs::read(&elsewhere).expect("read");
        std::os::unix::fs::symlink(&elsewhere, &path).expect("linked");
        let error = Engine::open(&folder.0, options(false)).expect_err(file);
        assert_eq!(error.kind(), ErrorKind::StoreIo, "{file}: {error}");
        assert!(error.message().contains("a symbolic link stands in the place of the file"), "{file}: {error}");
        assert_eq!(fs::read(&elsewhere).expect("read"), before, "{file}: nothing was written through it");
        fs::rename(&elsewhere, &path).expect("moved back");
    }
    let link = folder.0.with_extension("link");
    std::os::unix::fs::symlink(&folder.0, &link).expect("linked");
    assert_eq!(ids(&open(&link, false)), ["m0"], "the folder itself may be a link");
    fs::remove_file(&link).expect("removed");
}

#[test]
#[cfg(target_os = "linux")]
fn a_program_that_is_started_has_no_file_of_the_store() {
    let folder = Folder::new();
    let engine = filled(&folder.0, 1);
    let listed = || std::process::Command::new("ls").args(["-l", "/proc/self/fd"]).output().expect("started");
    let mine = fs::read_dir("/proc/self/fd").expect("listed").flatten().filter_map(|entry| fs::read_link(entry.path()).ok());
    assert!(mine.into_iter().any(|path| path.starts_with(&folder.0)), "this process has it open");
    for _ in 0..2 {
        let output = listed();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && !text.contains(&folder.0.display().to_string()), "{text}");
        engine.compact().expect("compacted"); // which opens another generation
    }
}
