//! Data files as a power cut may leave them, and as the log brings them back.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::super::envelope::{self, Codec};
use super::super::environment::{Environment, Mode};
use super::super::folder::{FORMAT_VERSION, Folder};
use super::super::identity::Secret;
use super::super::meta::Meta;
use super::super::pages::{Pages, PagesMut};
use super::*;
use crate::ErrorKind;

const MODE: Mode = Mode { read_only: false, relaxed: false, building: false, format: FORMAT_VERSION };
const PAGE: usize = 4096;

struct StoreFolder(PathBuf);

impl Drop for StoreFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

type Values = BTreeMap<Vec<u8>, Vec<u8>>;

impl StoreFolder {
    fn new(name: &str) -> Self {
        let place = Self(std::env::temp_dir().join(format!("memspan-log-{name}-{}", std::process::id())));
        let _ = std::fs::remove_dir_all(&place.0);
        let folder = place.folder();
        folder.make().expect("made");
        let (workshop, id, secret) = (folder.workshop(1).expect("made"), StoreId::random().expect("random"), Secret::default());
        let new = Environment::build(&workshop, 1, Mode::building(FORMAT_VERSION), id, secret).expect("built");
        let mut txn = new.write().expect("begun");
        let meta = Meta { format: FORMAT_VERSION, created_at: 0, store: Some(id), generation: 1, secret, sealed: None };
        meta.write(&mut txn).expect("written");
        txn.commit().expect("committed");
        new.finish().expect("finished");
        folder.publish(&workshop, 1).expect("published");
        place
    }

    fn folder(&self) -> Folder {
        Folder::new(self.0.clone())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join("gen-1").join(name)
    }

    fn open(&self, mode: Mode) -> Result<Environment> {
        Environment::open(&self.folder(), 1, mode, Instant::now() + Duration::from_secs(5))
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("read")
    }

    /// Puts bytes into a file as it is, which keeps its inode.
    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.path(name), bytes).expect("written");
    }

    fn put_back(&self, data: &[u8], log: &[u8], progress: &[u8]) {
        for (name, bytes) in [("data.mdb", data), ("log", log), ("progress", progress)] {
            self.write(name, bytes);
        }
    }

    /// A file `progress` of another start of the machine, as old as can be.
    fn restart_machine(&self, progress: &[u8]) {
        let mut progress = progress.to_vec();
        progress[64..80].copy_from_slice(&[7; 16]);
        let sum = crc32fast::hash(&progress[8..]);
        progress[4..8].copy_from_slice(&sum.to_le_bytes());
        self.write("progress", &progress);
    }
}

struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

/// One commit of random puts and deletes, some of them larger than a page.
fn commit(environment: &Environment, chance: &mut Chance, values: &mut Values) {
    let mut txn = environment.write().expect("begun");
    // Each key once: LMDB keeps the pages of a long value that is replaced by a shorter one in the same transaction.
    let keys: std::collections::BTreeSet<u64> = (0..=chance.below(12)).map(|_| chance.below(900)).collect();
    for key in keys {
        let key = format!("key {key:05}").into_bytes();
        if chance.below(3) == 0 {
            txn.delete(&key).expect("deleted");
            values.remove(&key);
        } else {
            let body = vec![chance.below(256) as u8; [20, 300, 3_000, 9_000][chance.below(4) as usize]];
            let value = envelope::seal(&key, 1, Codec::Raw, &body);
            txn.put(&key, &value).expect("put");
            values.insert(key, value);
        }
    }
    txn.commit().expect("committed");
}

fn stored(environment: &Environment) -> Values {
    let snapshot = environment.snapshot().expect("begun");
    snapshot.check_pages().expect("no page is used twice");
    let mut values = Values::new();
    let visit = &mut |key: &[u8], value: &[u8]| {
        values.insert(key.to_vec(), value.to_vec());
        Ok(std::ops::ControlFlow::Continue(()))
    };
    snapshot.scan_stored(b"key", b"key z", visit).expect("read");
    assert_eq!(values.len() as u64 + 1, snapshot.tree().entries(), "and the record of the store");
    values
}

/// A disk keeps any of the pages that were written since the data file was synced, and none of them is needed.
#[test]
fn whatever_a_power_cut_leaves_of_the_data_file_the_log_brings_it_back() {
    let place = StoreFolder::new("cut");
    let (mut chance, mut values) = (Chance(1), Values::new());
    let mut epochs = std::collections::BTreeSet::new();
    for round in 0..120 {
        let environment = place.open(MODE).expect("opened");
        let synced = if round % 2 == 0 {
            environment.empty_log().expect("emptied");
            place.read("data.mdb")
        } else {
            Vec::new()
        };
        let progress = place.read("progress");
        for _ in 0..=chance.below(9) {
            commit(&environment, &mut chance, &mut values);
        }
        epochs.insert(u32::from_le_bytes(place.read("progress")[84..88].try_into().expect("four")));
        environment.close();
        let last = place.read("data.mdb");
        let has_one_epoch = place.read("progress")[84..88] == progress[84..88];
        if round % 2 == 0 && has_one_epoch {
            let mut cut = synced.clone();
            cut.resize(if chance.below(4) == 0 { synced.len() } else { last.len() }, 0);
            let written = (0..cut.len() / PAGE)
                .map(|page| page * PAGE..(page + 1) * PAGE)
                .filter(|page| synced.get(page.clone()) != last.get(page.clone()));
            for page in written {
                match chance.below(4) {
                    0 => cut[page.clone()].copy_from_slice(&last[page]),
                    1 => cut[page.start..page.start + PAGE / 2].copy_from_slice(&last[page.start..page.start + PAGE / 2]),
                    _ => {}
                }
            }
            place.write("data.mdb", &cut);
            place.restart_machine(&progress);
            let refused = place.open(Mode { read_only: true, ..MODE }).err();
            assert!(refused.as_ref().is_none_or(|error| error.kind() == ErrorKind::ReadOnly), "round {round}: {refused:?}");
        }
        let environment = place.open(MODE).expect("recovered");
        assert_eq!(environment.unverified(), None);
        assert!(stored(&environment) == values, "round {round}");
        environment.close();
    }
    assert!(epochs.len() > 60, "the log begins anew: {}", epochs.len());
}

/// A commit that is not in the log was not acknowledged. Its pages belong to no tree before it.
#[test]
fn a_commit_that_the_log_lacks_is_undone_and_spoils_nothing() {
    let place = StoreFolder::new("undone");
    let (mut chance, mut values) = (Chance(2), Values::new());
    for round in 0..60 {
        let environment = place.open(MODE).expect("opened");
        for _ in 0..chance.below(4) {
            commit(&environment, &mut chance, &mut values);
        }
        let (log, progress, before) = (place.read("log"), place.read("progress"), values.clone());
        commit(&environment, &mut chance, &mut values);
        let was_logged = place.read("log")[..2 * PAGE] == log[..2 * PAGE];
        environment.close();
        if was_logged {
            place.write("log", &log);
            let read_only = place.open(Mode { read_only: true, ..MODE }).expect("the system's cache has all of it");
            assert!(stored(&read_only) == values, "round {round}");
            read_only.close();
            values = before;
        }
        place.restart_machine(&progress);
        let environment = place.open(MODE).expect("recovered");
        assert!(stored(&environment) == values, "round {round}");
        environment.close();
    }
}

#[test]
fn a_record_that_is_not_whole_ends_the_log_and_one_that_was_damaged_is_told() {
    let place = StoreFolder::new("torn");
    let (mut chance, mut values) = (Chance(3), Values::new());
    let environment = place.open(MODE).expect("opened");
    let data = place.read("data.mdb");
    let (mut ends, mut states) = (Vec::new(), Vec::new());
    for _ in 0..4 {
        commit(&environment, &mut chance, &mut values);
        ends.push(u32::from_le_bytes(place.read("progress")[88..92].try_into().expect("four")) as usize * PAGE);
        states.push(values.clone());
    }
    environment.close();
    let (log, progress) = (place.read("log"), place.read("progress"));
    let cut = |at: usize, byte: bool| {
        let mut torn = log.clone();
        if byte {
            torn[at] ^= 8;
        } else {
            torn[at..].fill(0);
        }
        place.write("log", &torn);
        place.write("data.mdb", &data);
        let mut old = progress.clone();
        old[48..56].fill(0); // nothing is known to be on disk
        place.restart_machine(&old);
        place.open(MODE)
    };
    for at in [ends[2] + 1, ends[2] + PAGE + 9, ends[3] - PAGE / 4] {
        let environment = cut(at, false).expect("opened");
        assert!(stored(&environment) == states[2], "the last record is not whole");
        environment.close();
    }
    for at in [2 * PAGE + 20, ends[0] + PAGE + 7, ends[1] + 200] {
        let error = cut(at, true).expect_err("others follow");
        assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error}");
    }
    place.write("log", &log);
    place.restart_machine(&progress);
    assert!(stored(&place.open(MODE).expect("opened")) == values);
}

/// A log of four commits behind a power cut, damaged anywhere: an error, or what some commit left. With right checksums over false
/// fields, which no damage makes: an answer or an error.
#[test]
fn a_log_that_says_anything_is_an_answer_or_an_error() {
    let place = StoreFolder::new("anything");
    let (mut chance, mut values) = (Chance(3), Values::new());
    let environment = place.open(MODE).expect("opened");
    let data = place.read("data.mdb");
    let (mut records, mut states) = (vec![2 * PAGE], vec![values.clone()]);
    for _ in 0..4 {
        commit(&environment, &mut chance, &mut values);
        records.push(u32::from_le_bytes(place.read("progress")[88..92].try_into().expect("four")) as usize * PAGE);
        states.push(values.clone());
    }
    environment.close();
    let (log, mut progress) = (place.read("log"), place.read("progress"));
    progress[48..56].fill(0); // nothing is known to be on disk
    let (mut answers, mut errors) = (0, 0);
    for round in 0..400 {
        let is_sealed = round % 2 == 0;
        let mut damaged = log.clone();
        for _ in 0..=chance.below(2) {
            let begin = [0, PAGE, records[0], records[1], records[2], records[3]][chance.below(6) as usize];
            let covered = if begin < records[0] {
                40 + 2 * FIELD_BYTES
            } else {
                records[records.iter().position(|at| *at == begin).expect("one") + 1] - begin
            };
            if is_sealed {
                let field = [4, 16, 24, 32, 36, 40, 48, 56, 64, 72, 80, 88, 96, 104, NUMBERS, NUMBERS + 8][chance.below(16) as usize];
                let number = [0, 1, u64::from(u32::MAX), u64::MAX, chance.below(1 << 40), chance.below(60)][chance.below(6) as usize];
                damaged[begin + field..begin + field + 8].copy_from_slice(&number.to_le_bytes());
                seal(&mut damaged[begin..begin + covered]);
                continue;
            }
            let at = begin + chance.below(covered as u64) as usize;
            match chance.below(4) {
                0 => damaged[at] ^= 1 << chance.below(8),
                1 => damaged[at..(at + 512).min(records[4])].fill(chance.below(256) as u8),
                2 => damaged.truncate(at),
                _ => damaged.copy_within(records[0]..records[0] + PAGE, begin),
            }
            damaged.resize(log.len(), 0);
        }
        place.write("data.mdb", &data);
        place.write("log", &damaged);
        place.restart_machine(&progress);
        let read = place.open(MODE).and_then(|environment| {
            let read = if is_sealed { read_through(&environment).map(|_| None) } else { Ok(Some(stored(&environment))) };
            environment.close();
            read
        });
        match read {
            Err(_) => errors += 1,
            Ok(read) => {
                answers += 1;
                assert!(read.is_none_or(|read| states.contains(&read)), "round {round}: no commit left that");
            }
        }
    }
    assert!(answers > 40 && errors > 40, "{answers} answers, {errors} errors");
}

/// Reads all pages and values, whatever they are.
fn read_through(environment: &Environment) -> Result<usize> {
    let (snapshot, mut count) = (environment.snapshot()?, 0);
    snapshot.check_pages()?;
    snapshot.scan_stored(&[0], &[255; 32], &mut |_, _| {
        count += 1;
        Ok(std::ops::ControlFlow::Continue(()))
    })?;
    Ok(count)
}

#[test]
fn a_store_without_its_log_is_read_as_a_whole_unless_it_was_closed() {
    let place = StoreFolder::new("missing");
    let (mut chance, mut values) = (Chance(4), Values::new());
    for for_good in [true, false] {
        let environment = place.open(MODE).expect("opened");
        commit(&environment, &mut chance, &mut values);
        environment.mark_closed(for_good);
        environment.close();
        std::fs::remove_file(place.path("log")).expect("removed");
        let progress = place.read("progress");
        place.restart_machine(&progress);
        let mut environment = place.open(MODE).expect("opened");
        assert_eq!(environment.unverified().is_some(), !for_good);
        environment.vouch(true).expect("vouched");
        commit(&environment, &mut chance, &mut values);
        environment.close();
        let environment = place.open(MODE).expect("opened");
        assert_eq!(environment.unverified(), None);
        assert!(stored(&environment) == values);
        environment.close();
    }
}

/// A process dies while the log begins anew, behind any of its writes: every commit but an unacknowledged one is there.
#[test]
fn a_death_while_the_log_begins_anew_loses_nothing() {
    let place = StoreFolder::new("anew");
    let (mut chance, mut values) = (Chance(7), Values::new());
    let environment = place.open(MODE).expect("opened");
    commit(&environment, &mut chance, &mut values);
    let files = ["data.mdb", "log", "progress"];
    let [_, log, progress] = files.map(|name| place.read(name));
    let acknowledged = values.clone();
    let mut txn = environment.write().expect("begun");
    for at in 0..400_u32 {
        let (key, body) = (format!("key large {at:03}").into_bytes(), vec![at as u8; 3_000]);
        let value = envelope::seal(&key, 1, Codec::Raw, &body);
        txn.put(&key, &value).expect("put");
        values.insert(key, value);
    }
    txn.commit().expect("more than a record may have");
    let [data, log_behind, _] = files.map(|name| place.read(name));
    environment.close();
    let mut forgotten = progress.clone();
    forgotten[84..92].fill(0);
    let sum = crc32fast::hash(&forgotten[8..]);
    forgotten[4..8].copy_from_slice(&sum.to_le_bytes());
    for (log, progress, expected) in [
        (&log, &progress, &acknowledged),
        (&log, &forgotten, &acknowledged),
        (&log_behind, &forgotten, &values),
        (&log_behind, &progress, &values),
    ] {
        place.put_back(&data, log, progress);
        let environment = place.open(MODE).expect("opened");
        assert_eq!(environment.unverified(), None);
        assert!(stored(&environment) == *expected);
        let mut more = expected.clone();
        commit(&environment, &mut chance, &mut more);
        assert!(stored(&environment) == more);
        environment.close();
    }
}

/// The data file is as old as when the log began, or has any byte of its meta pages wrong: the log has both.
#[test]
fn an_older_data_file_and_damaged_meta_pages_are_brought_to_the_last_commit() {
    let place = StoreFolder::new("older");
    let (mut chance, mut values) = (Chance(6), Values::new());
    let environment = place.open(MODE).expect("opened");
    let older = place.read("data.mdb");
    (0..3).for_each(|_| commit(&environment, &mut chance, &mut values));
    environment.close();
    let newest = place.read("data.mdb");
    place.write("data.mdb", &older);
    let check = |what: &str| {
        let environment = place.open(MODE).expect("recovered");
        assert!(stored(&environment) == values, "{what}");
        environment.close();
    };
    check("an older file");
    for page in 0..2 {
        for at in (16..152).step_by(5) {
            let mut damaged = newest.clone();
            damaged[page * PAGE + at] ^= 4;
            place.write("data.mdb", &damaged);
            match place.open(MODE) {
                Err(error) => assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error}"),
                Ok(environment) => environment.close(),
            }
            place.write("data.mdb", &newest);
            check("after it");
        }
    }
}

/// Two processes write by turns, and each finds where the other's record ends.
#[test]
fn writers_go_on_where_others_ended() {
    let place = StoreFolder::new("turns");
    let (mut chance, mut values) = (Chance(5), Values::new());
    for round in 0..40 {
        let environment = place.open(Mode { relaxed: round % 3 == 0, ..MODE }).expect("opened");
        let before = place.read("progress");
        commit(&environment, &mut chance, &mut values);
        commit(&environment, &mut chance, &mut values);
        let epochs = [&before, &place.read("progress")].map(|progress| progress[84..88].to_vec());
        assert!(epochs[0] == epochs[1] || round > 1, "two small commits fit into a new log");
        environment.close();
    }
    assert!(stored(&place.open(MODE).expect("opened")) == values);
}

/// The unlogged commit of a killed writer wrote over pages that the log has, too: with the meta pages back first, any part of a recovery
/// leaves the last commit of the log.
#[test]
fn a_recovery_that_was_killed_is_read_as_the_last_commit_of_the_log() {
    let place = StoreFolder::new("halfway");
    let (mut chance, mut values) = (Chance(8), Values::new());
    for round in 0..30 {
        let environment = place.open(MODE).expect("opened");
        for _ in 0..=chance.below(5) {
            commit(&environment, &mut chance, &mut values);
        }
        let (log, progress, before) = (place.read("log"), place.read("progress"), values.clone());
        commit(&environment, &mut chance, &mut values);
        let was_logged = place.read("log")[..2 * PAGE] == log[..2 * PAGE];
        environment.close();
        if !was_logged {
            continue;
        }
        let unlogged = place.read("data.mdb");
        place.put_back(&unlogged, &log, &progress);
        place.open(MODE).expect("recovered").close();
        let recovered = place.read("data.mdb");
        let mut halfway = unlogged;
        halfway.resize(recovered.len(), 0);
        halfway[..2 * PAGE].copy_from_slice(&recovered[..2 * PAGE]);
        for page in (2 * PAGE..recovered.len()).step_by(PAGE).filter(|_| chance.below(2) == 0) {
            halfway[page..page + PAGE].copy_from_slice(&recovered[page..page + PAGE]);
        }
        place.put_back(&halfway, &log, &progress);
        let read_only = place.open(Mode { read_only: true, ..MODE }).expect("opened");
        assert!(stored(&read_only) == before, "round {round}");
        read_only.close();
        let environment = place.open(MODE).expect("opened");
        assert!(stored(&environment) == before, "round {round}");
        environment.close();
        values = before;
    }
}

/// A data file from before the epoch, or of another store: nothing is written into it.
#[test]
fn a_data_file_that_the_log_is_not_of_stays_as_it_is() {
    let (place, other) = (StoreFolder::new("mine"), StoreFolder::new("theirs"));
    let (mut chance, mut values, mut of_other) = (Chance(9), Values::new(), Values::new());
    let theirs = other.open(MODE).expect("opened");
    (0..4).for_each(|_| commit(&theirs, &mut chance, &mut of_other));
    theirs.close();
    let mut older = Vec::new();
    for commits in 0..6 {
        let environment = place.open(MODE).expect("opened");
        for _ in 0..commits {
            commit(&environment, &mut chance, &mut values);
            older.push(place.read("data.mdb"));
        }
        environment.empty_log().expect("emptied");
        commit(&environment, &mut chance, &mut values);
        environment.close();
    }
    older.pop(); // the newest epoch began with it
    let (newest, log, progress) = (place.read("data.mdb"), place.read("log"), place.read("progress"));
    for wrong in older.iter().chain([&other.read("data.mdb")]) {
        for is_restarted in [false, true] {
            place.put_back(wrong, &log, &progress);
            if is_restarted {
                place.restart_machine(&progress);
            }
            for read_only in [true, false] {
                let error = place.open(Mode { read_only, ..MODE }).expect_err("of two times, or of two stores");
                assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error}");
                assert!(place.read("data.mdb") == *wrong, "nothing was changed");
            }
        }
    }
    place.write("data.mdb", &newest);
    place.write("progress", &progress);
    assert!(stored(&place.open(MODE).expect("opened")) == values);
}

/// The last record was acknowledged, and is damaged: the data file that has all of it is not taken back.
#[test]
fn a_log_that_lost_its_end_undoes_nothing_that_was_acknowledged() {
    let place = StoreFolder::new("end");
    let (mut chance, mut values) = (Chance(10), Values::new());
    let environment = place.open(MODE).expect("opened");
    (0..3).for_each(|_| commit(&environment, &mut chance, &mut values));
    let log = place.read("log");
    commit(&environment, &mut chance, &mut values);
    let (data, progress) = (place.read("data.mdb"), place.read("progress"));
    environment.close();
    let mut flipped = place.read("log");
    let last = (2 * PAGE..log.len()).find(|at| flipped[*at] != log[*at]).expect("a record more");
    flipped[last + 300] ^= 1;
    for log in [&log, &flipped] {
        place.put_back(&data, log, &progress);
        let environment = place.open(MODE).expect("opened");
        assert_eq!(environment.unverified(), None);
        assert!(stored(&environment) == values);
        environment.close();
        place.write("log", log);
        place.restart_machine(&progress);
        let error = place.open(MODE).expect_err("nobody knows what the disk has");
        assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error}");
        assert!(place.read("data.mdb") == data, "nothing was changed");
    }
}

/// A file that is much longer than a log can be is read as far as one.
#[test]
fn a_log_of_any_length_is_opened() {
    let place = StoreFolder::new("long");
    let (mut chance, mut values) = (Chance(11), Values::new());
    for length in [1 << 40, 3 * PAGE as u64, 0] {
        let environment = place.open(MODE).expect("opened");
        commit(&environment, &mut chance, &mut values);
        environment.close();
        std::fs::File::options().write(true).open(place.path("log")).expect("opened").set_len(length).expect("stretched");
        let environment = place.open(MODE).expect("opened");
        commit(&environment, &mut chance, &mut values);
        assert!(stored(&environment) == values, "{length}");
        environment.close();
    }
}

/// Opening a pipe waits for its other end, unless it is looked at first.
#[test]
fn a_pipe_in_the_place_of_the_log_is_not_waited_for() {
    let place = StoreFolder::new("pipe");
    let (mut chance, mut values) = (Chance(12), Values::new());
    let environment = place.open(MODE).expect("opened");
    commit(&environment, &mut chance, &mut values);
    environment.mark_closed(true);
    environment.close();
    std::fs::remove_file(place.path("log")).expect("removed");
    assert!(std::process::Command::new("mkfifo").arg(place.path("log")).status().expect("begun").success());
    let environment = place.open(Mode { read_only: true, ..MODE }).expect("closed, and vouched for");
    assert!(stored(&environment) == values);
    environment.close();
    let error = place.open(MODE).expect_err("no log");
    assert_eq!(error.kind(), ErrorKind::StoreIo, "{error}");
}

/// A sync of this process says nothing of another one's record behind it, and a failed one is not asked for again.
#[test]
fn a_sync_counts_for_the_place_that_it_was_asked_for() {
    let file = |path: &Path| std::fs::File::options().read(true).write(true).open(path).expect("opened");
    let place = StoreFolder::new("syncer");
    let (first, second) = (Place { epoch: 3, page: 9 }, Place { epoch: 3, page: 12 });
    let syncer = Syncer::new(&file(&place.path("log"))).expect("a thread");
    assert_eq!(syncer.wait(), None);
    for asked in [first, second] {
        syncer.ask(asked);
        assert_eq!(syncer.wait(), Some(Synced::Upto(asked)));
        assert_eq!(syncer.wait(), None);
    }
    let failing = Syncer::new(&file(Path::new("/dev/null"))).expect("a thread");
    failing.ask(first);
    assert_eq!(failing.wait(), Some(Synced::Failed), "/dev/null cannot be synced");
}
