//! Compaction: nothing is lost while others write, and a store is whole whatever moment a compaction died at.

mod support;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use memspan_engine::ErrorKind;
use memspan_engine::engine::Engine;
use memspan_engine::memory::{EngineOptions, Memory};
use memspan_engine::store::folder::{FORMAT_VERSION, Folder as StoreFolder};
use memspan_engine::store::repair::repair;
use memspan_engine::store::{WriteTransaction, meta};
use support::{
    Folder, ask, assert_sound, copy_folder, join, memories, one, open, options, role, spawn, user, wait_until, with_id, with_vector,
};

#[test]
fn everyone_moves_over_and_nothing_is_lost() {
    if let Some((writer, store)) = role() {
        return write_and_read(&store, &writer);
    }
    let folder = Folder::new();
    let engine = open(&folder.0, true);
    one(&engine, &user("seed"), with_vector("a memory of the first generation"), 1);
    let writers: Vec<_> = ["0", "1"].iter().map(|name| spawn("everyone_moves_over_and_nothing_is_lost", name, &folder.0)).collect();
    wait_until("both writers", || ["0", "1"].iter().all(|name| memories(&engine, &user(name), 0).len() > 3));
    for _ in 0..6 {
        engine.compact().expect("compacted");
        std::thread::sleep(Duration::from_millis(40));
    }
    fs::write(folder.0.join("stop"), "").expect("told");
    writers.into_iter().for_each(join);

    assert_eq!(engine.contents().expect("contents").generation, 7);
    for name in ["0", "1"] {
        let acknowledged = fs::read_to_string(folder.0.join(format!("acknowledged-{name}"))).expect("written");
        let ids: Vec<String> = memories(&engine, &user(name), 0).iter().map(Memory::id).collect();
        assert_eq!(ids, acknowledged.lines().collect::<Vec<_>>());
    }
    assert_sound(&engine);
}

/// The other process: writes, notes what was acknowledged, and finds each at once, whatever generation it is in.
fn write_and_read(store: &Path, name: &str) {
    let (engine, scope) = (open(store, true), user(name));
    let (mut acknowledged, started) = (String::new(), Instant::now());
    let mut at = 0;
    while !store.join("stop").exists() {
        assert!(started.elapsed() < Duration::from_secs(60), "nobody said stop");
        let id = format!("w{name}-{at}");
        one(&engine, &scope, with_id(&id, &format!("marker-{name}-{at} was written")), at);
        acknowledged += &id;
        acknowledged.push('\n');
        let found = ask(&engine, &scope, &format!("marker-{name}-{at}"), 1, at).expect("found");
        assert_eq!(found, [format!("marker-{name}-{at} was written")]);
        at += 1;
    }
    fs::write(store.join(format!("acknowledged-{name}")), acknowledged).expect("noted");
}

const MEMORIES: i64 = 30;

fn filled(path: &Path) -> Engine {
    let engine = open(path, true);
    for at in 0..MEMORIES {
        one(&engine, &user("u"), with_vector(&format!("fact number {at}")), at);
    }
    engine
}

/// A store as a process leaves it that died at some step of the compaction from generation 1 to 2.
fn died(folder: &Folder, leave: impl Fn(&StoreFolder, &Engine)) {
    let engine = filled(&folder.0);
    leave(&StoreFolder::new(folder.0.clone()), &engine);
}

/// A whole copy of the store, as a compaction builds it, as `name`.
fn build(folder: &StoreFolder, _: &Engine, name: &str) {
    let copy = Folder::new();
    copy_folder(folder.root(), &copy.0);
    open(&copy.0, true).compact().expect("compacted");
    copy_folder(&copy.0.join("gen-2"), &folder.root().join(name));
}

fn retire(engine: &Engine) {
    let write = |txn: &mut WriteTransaction<'_>| meta::retire(txn, 2);
    engine.store().write(Duration::from_secs(5), write).expect("retired");
}

/// Opens what is there, finds everything, writes, compacts, and leaves nothing behind.
fn assert_whole(folder: &Folder, generation: u32) {
    for round in 0..2 {
        let engine = open(&folder.0, true);
        let expected = MEMORIES + round;
        assert_eq!(memories(&engine, &user("u"), 0).len() as i64, expected, "round {round}");
        assert_eq!(engine.contents().expect("contents").generation, generation);
        one(&engine, &user("u"), with_vector(&format!("written after, {round}")), 1000 + round);
        assert_sound(&engine);
    }
    assert_eq!(names(&folder.0), ["CURRENT".to_owned(), "door".into(), format!("gen-{generation}"), "lock".into(), "open".into()]);
    let engine = open(&folder.0, true);
    engine.compact().expect("compacted");
    assert_eq!(memories(&engine, &user("u"), 0).len() as i64, MEMORIES + 2);
    assert_eq!(names(&folder.0), ["CURRENT".to_owned(), "door".into(), format!("gen-{}", generation + 1), "lock".into(), "open".into()]);
    assert_sound(&engine);
}

fn names(path: &Path) -> Vec<String> {
    let entries = fs::read_dir(path).expect("listed");
    let mut names: Vec<_> = entries.map(|entry| entry.expect("entry").file_name().into_string().expect("a name")).collect();
    names.sort();
    names
}

#[test]
fn died_with_a_generation_half_built() {
    let folder = Folder::new();
    died(&folder, |store, engine| {
        build(store, engine, "gen-2.new");
        let data = fs::File::options().write(true).open(store.root().join("gen-2.new/data.mdb")).expect("its data");
        data.set_len(5000).expect("cut off");
    });
    assert_whole(&folder, 1);
}

#[test]
fn died_with_a_generation_published_and_the_old_one_not_retired() {
    // What is written to the old one after that is not in the new one, so the new one must never be taken up.
    let folder = Folder::new();
    died(&folder, |store, engine| build(store, engine, "gen-2"));
    assert_whole(&folder, 1);
}

#[test]
fn died_between_publishing_and_retiring_and_compacted_without_opening_anew() {
    let folder = Folder::new();
    let engine = filled(&folder.0);
    build(&StoreFolder::new(folder.0.clone()), &engine, "gen-2");
    one(&engine, &user("u"), with_vector("written since"), 99);
    engine.compact().expect("compacted in spite of it");
    assert_eq!(memories(&engine, &user("u"), 0).len() as i64, MEMORIES + 1);
    assert_sound(&engine);
}

#[test]
fn died_with_the_old_generation_retired_and_current_not_rewritten() {
    let folder = Folder::new();
    died(&folder, |store, engine| {
        build(store, engine, "gen-2");
        retire(engine);
    });
    assert_whole(&folder, 2);
}

/// Those who may not write wait for no disk, and LMDB refuses to sync what is open for reading.
#[test]
fn who_only_reads_moves_over_from_a_retired_generation() {
    let folder = Folder::new();
    died(&folder, |store, engine| {
        build(store, engine, "gen-2");
        retire(engine);
    });
    let reader = read_only(&folder.0);
    assert_eq!(memories(&reader, &user("u"), 0).len() as i64, MEMORIES);
    assert_eq!(reader.contents().expect("contents").generation, 2);
    drop(reader);
    assert_whole(&folder, 2);
}

fn read_only(path: &Path) -> Engine {
    Engine::open(path, EngineOptions { read_only: true, ..options(true) }).expect("opened for reading")
}

#[test]
fn who_only_reads_beside_compactions_is_never_refused() {
    if let Some((_, store)) = role() {
        let engine = read_only(&store);
        while !store.join("stop").exists() {
            assert_eq!(memories(&engine, &user("u"), 0).len() as i64, MEMORIES);
            fs::write(store.join("reading"), "").expect("told");
        }
        return;
    }
    let folder = Folder::new();
    let engine = filled(&folder.0);
    let reader = spawn("who_only_reads_beside_compactions_is_never_refused", "reader", &folder.0);
    wait_until("the reader", || folder.0.join("reading").exists());
    for _ in 0..20 {
        engine.compact().expect("compacted");
    }
    fs::write(folder.0.join("stop"), "").expect("told");
    join(reader);
}

/// The next to open the generation alone takes that commit back and writes there, and who reads in the next one must not miss it.
#[test]
fn who_only_reads_and_moved_over_by_a_commit_that_is_not_in_the_log_sees_what_is_written_next() {
    if let Some((_, store)) = role() {
        one(&open(&store, true), &user("u"), with_vector("written behind it"), 500);
        return;
    }
    let folder = Folder::new();
    let files = ["gen-1/log", "gen-1/progress"].map(|name| folder.0.join(name));
    let before = std::cell::RefCell::new(Vec::new());
    died(&folder, |store, engine| {
        build(store, engine, "gen-2");
        *before.borrow_mut() = files.iter().map(|file| fs::read(file).expect("read")).collect();
        retire(engine);
    });
    for (file, bytes) in files.iter().zip(before.take()) {
        fs::write(file, bytes).expect("written");
    }
    let reader = read_only(&folder.0);
    assert_eq!(memories(&reader, &user("u"), 0).len() as i64, MEMORIES);
    let test = "who_only_reads_and_moved_over_by_a_commit_that_is_not_in_the_log_sees_what_is_written_next";
    join(spawn(test, "writer", &folder.0));
    assert_eq!(memories(&reader, &user("u"), 0).len() as i64, MEMORIES + 1);
    assert_sound(&reader);
    assert_eq!(reader.contents().expect("contents").generation, 2, "the writer brought it to the disk");
}

#[test]
fn died_with_current_rewritten_and_the_old_generation_not_swept() {
    let folder = Folder::new();
    died(&folder, |store, engine| {
        build(store, engine, "gen-2");
        retire(engine);
        store.name_current(2).expect("named");
    });
    assert_whole(&folder, 2);
}

#[test]
fn died_with_the_old_generation_set_aside() {
    let folder = Folder::new();
    died(&folder, |store, engine| {
        build(store, engine, "gen-2");
        retire(engine);
        store.name_current(2).expect("named");
        fs::rename(store.generation(1), store.root().join("gen-1.old")).expect("set aside");
        fs::remove_file(store.root().join("gen-1.old/manifest")).expect("half removed");
    });
    assert_whole(&folder, 2);
}

#[test]
fn died_while_the_store_was_made() {
    for made in ["gen-1.new", "gen-1.new/manifest", "gen-1.new/data.mdb"] {
        let folder = Folder::new();
        let path = folder.0.join(made);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        if made.contains('/') {
            fs::write(&path, "half").expect("written");
        } else {
            fs::create_dir(&path).expect("made");
        }
        fs::write(folder.0.join("lock"), "").expect("written");
        one(&open(&folder.0, true), &user("u"), with_vector("the first"), 1);
        let engine = open(&folder.0, true);
        assert_eq!(memories(&engine, &user("u"), 0).len(), 1);
        assert_eq!(names(&folder.0), ["CURRENT", "door", "gen-1", "lock", "open"]);
    }
    let folder = Folder::new();
    drop(filled(&folder.0));
    fs::remove_file(folder.0.join("CURRENT")).expect("made before CURRENT was");
    assert_whole(&folder, 1);
}

#[test]
fn a_current_that_says_nothing_is_repaired() {
    for garbage in ["", "gen-", "gen-0\n", "gen-99\n", "../elsewhere", "\0\u{fffd}\n", "gen-18446744073709551616"] {
        let folder = Folder::new();
        drop(filled(&folder.0));
        fs::write(folder.0.join("CURRENT"), garbage).expect("written");
        assert_whole(&folder, 1);
    }
}

#[test]
fn a_reader_in_a_retired_generation_finishes_and_moves_over() {
    let folder = Folder::new();
    let engine = filled(&folder.0);
    let other = spawn_reader(&folder);
    engine.compact().expect("compacted under a reader");
    fs::write(folder.0.join("compacted"), "").expect("told");
    join(other);
}

fn spawn_reader(folder: &Folder) -> std::process::Child {
    let child = spawn("reader_process", "reader", &folder.0);
    wait_until("the reader", || folder.0.join("reading").exists());
    child
}

/// Not a test of its own: the process of the one above. Its snapshot stays what it was while the store moves on.
#[test]
fn reader_process() {
    let Some((_, store)) = role() else { return };
    let engine = open(&store, true);
    let count = |snapshot: &memspan_engine::store::Snapshot| memspan_engine::scope::Head::read(snapshot, 1).map(|head| head.documents);
    engine
        .store()
        .read(|snapshot| {
            fs::write(store.join("reading"), "").expect("told");
            wait_until("the compaction", || store.join("compacted").exists());
            assert_eq!(count(snapshot)? as i64, MEMORIES);
            Ok(())
        })
        .expect("read to the end");
    assert_eq!(engine.contents().expect("moved over").generation, 2);
    one(&engine, &user("u"), with_vector("from the other side"), 500);
}

#[test]
fn what_is_written_while_current_cannot_be_is_saved_by_a_repair() {
    let (folder, saved) = (Folder::new(), Folder::new());
    let engine = filled(&folder.0);
    fs::create_dir(folder.0.join("CURRENT.new")).expect("in the way");
    let error = engine.compact().expect_err("the old generation stays");
    assert_eq!(error.kind(), ErrorKind::StoreIo);
    assert!(error.message().contains("in its new generation, and nothing is lost"), "{error}");
    one(&engine, &user("u"), with_vector("written since"), 99);
    assert_eq!((StoreFolder::new(folder.0.clone()).current(), engine.contents().expect("contents").generation), (Some(1), 2));
    drop(engine);

    let repaired = repair(&folder.0, &saved.0, FORMAT_VERSION, 9).expect("repaired");
    assert_eq!(repaired.lost, Vec::<String>::new());
    assert_eq!(memories(&open(&saved.0, true), &user("u"), 0).len() as i64, MEMORIES + 1);
    assert_eq!(memories(&open(&folder.0, true), &user("u"), 0).len() as i64, MEMORIES + 1, "it opens though CURRENT cannot be written");

    fs::remove_dir(folder.0.join("CURRENT.new")).expect("removed");
    assert_eq!(memories(&open(&folder.0, true), &user("u"), 0).len() as i64, MEMORIES + 1);
    assert_eq!(names(&folder.0), ["CURRENT", "door", "gen-2", "lock", "open"]);
}

#[test]
fn who_follows_to_another_generation_corrects_current() {
    let folder = Folder::new();
    let engine = filled(&folder.0);
    let store = StoreFolder::new(folder.0.clone());
    let other = spawn_reader(&folder);
    fs::create_dir(folder.0.join("CURRENT.new")).expect("in the way");
    engine.compact().expect_err("the old generation stays");
    assert_eq!(store.current(), Some(1));
    fs::remove_dir(folder.0.join("CURRENT.new")).expect("removed");
    fs::write(folder.0.join("compacted"), "").expect("told");
    join(other);
    assert_eq!(store.current(), Some(2), "the other process corrected it when it followed");
}

#[test]
fn a_repair_says_where_it_cannot_tell_whether_a_generation_was_replaced() {
    let (folder, saved, control) = (Folder::new(), Folder::new(), Folder::new());
    died(&folder, |store, engine| build(store, engine, "gen-2"));
    let whole = repair(&folder.0, &control.0, FORMAT_VERSION, 9).expect("repaired");
    assert_eq!(whole.lost, Vec::<String>::new(), "gen-2 was never switched to, and gen-1 is whole");

    let folder = Folder::new();
    died(&folder, |store, engine| {
        build(store, engine, "gen-2");
        retire(engine);
    });
    let data = folder.0.join("gen-1/data.mdb");
    let mut bytes = fs::read(&data).expect("read");
    let retired = [0, 0, 0, 0, 2, 1]; // its key, and the schema of its value
    let places: Vec<_> = (0..bytes.len() - 16).filter(|at| bytes[*at..].starts_with(&retired)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at + 10] ^= 1; // its checksum
    }
    fs::write(data, bytes).expect("written");
    let repaired = repair(&folder.0, &saved.0, FORMAT_VERSION, 9).expect("repaired");
    assert!(
        repaired.lost.iter().any(|lost| lost.contains("since gen-2 replaced gen-1: whether it did cannot be read")),
        "{:?}",
        repaired.lost
    );

    let gone = Folder::new();
    died(&gone, |_, engine| retire(engine));
    let repaired = repair(&gone.0, &Folder::new().0, FORMAT_VERSION, 9).expect("repaired");
    assert_eq!(repaired.lost, ["what was written since gen-2 replaced gen-1: gen-2 is not there"]);
}

/// A branch that points to an older page leads to fewer values than the tree counts, each of them whole.
#[test]
fn a_step_to_another_format_misses_what_the_tree_does_not_lead_to() {
    let folder = Folder::new();
    copy_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/format-5/store"), &folder.0);
    fs::remove_file(folder.0.join("gen-1/progress")).expect("it vouches for the meta pages");
    let data = folder.0.join("gen-1/data.mdb");
    let mut bytes = fs::read(&data).expect("read");
    for page in [0, 4096] {
        let counted = page + 16 + 24 + 48 + 32; // behind the page's head, the meta page's, the list of free pages and the tree's other fields
        bytes[counted] = bytes[counted].wrapping_add(1);
    }
    fs::write(data, bytes).expect("written");
    let error = Engine::open(&folder.0, options(true)).expect_err("a value is missing");
    assert!(error.kind() == ErrorKind::StoreCorrupt && error.message().contains("its meta page counts"), "{error}");
    assert_eq!(names(&folder.0).into_iter().filter(|name| name.starts_with("gen-")).collect::<Vec<_>>(), ["gen-1"]);
}

/// Tells the writer as a process dies that is killed in the last instant of a commit: its meta page is written, and readers are not told.
fn die_behind_a_commit(store: &Path) {
    let engine = open(store, false);
    one(&engine, &user("killed"), with_vector("written by the one that was killed"), 1);
    let table = fs::OpenOptions::new().read(true).write(true).open(store.join("gen-1/lock.mdb")).expect("the reader table");
    let _ = engine.store().write(Duration::from_secs(5), move |_: &mut WriteTransaction<'_>| -> memspan_engine::Result<()> {
        let mut newest = [0; 8]; // `mti_txnid` of LMDB's reader table
        table.read_exact_at(&mut newest, 8).expect("read");
        table.write_all_at(&(u64::from_ne_bytes(newest) - 1).to_ne_bytes(), 8).expect("written");
        // SAFETY: it ends this process, which is what it is for.
        unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
        Ok(())
    });
}

#[test]
fn a_writer_that_was_killed_behind_its_commit_is_noticed_before_a_compaction() {
    if let Some((_, store)) = role() {
        return die_behind_a_commit(&store);
    }
    let folder = Folder::new();
    let engine = open(&folder.0, true);
    one(&engine, &user("seed"), with_vector("a memory of the first generation"), 1);
    let mut writer = spawn("a_writer_that_was_killed_behind_its_commit_is_noticed_before_a_compaction", "writer", &folder.0);
    assert!(!writer.wait().expect("waited").success(), "it was to be killed");
    engine.compact().expect("compacted");
    assert_eq!(memories(&engine, &user("killed"), 0).len(), 1, "it was committed");
    assert_eq!(memories(&engine, &user("seed"), 0).len(), 1);
    assert_sound(&engine);
}
