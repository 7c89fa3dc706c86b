//! Tests of the states that the file confirms, and of those that it contradicts. Each case is a few commits on a real environment, whose
//! files are changed afterwards.

use std::path::Path;
use std::time::{Duration, Instant};

use super::super::envelope::{Codec, seal};
use super::super::environment::{Environment, Mode};
use super::super::folder::{FORMAT_VERSION, Folder};
use super::super::identity::Secret;
use super::super::meta::Meta;
use super::super::pages::{Pages, PagesMut};
use super::*;
use crate::ErrorKind;

const MODE: Mode = Mode { read_only: false, relaxed: false, building: false, format: FORMAT_VERSION };

struct StoreFolder(std::path::PathBuf);

impl Drop for StoreFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl StoreFolder {
    /// A store with a few commits, closed.
    fn new(commits: usize) -> Self {
        static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let next = NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let place = Self(std::env::temp_dir().join(format!("memspan-progress-{}-{next}", std::process::id())));
        let folder = place.folder();
        folder.make().expect("made");
        let (workshop, id, secret) = (folder.workshop(1).expect("made"), StoreId::random().expect("random"), Secret::default());
        let new = Environment::build(&workshop, 1, Mode { building: true, ..MODE }, id, secret).expect("built");
        let mut txn = new.write().expect("begun");
        Meta { format: FORMAT_VERSION, created_at: 0, store: Some(id), generation: 1, secret, sealed: None }
            .write(&mut txn)
            .expect("written");
        txn.commit().expect("committed");
        new.finish().expect("finished");
        folder.publish(&workshop, 1).expect("published");
        let environment = place.open().expect("opened");
        (0..commits).for_each(|at| commit(&environment, at));
        environment.mark_closed(true);
        environment.close();
        place
    }

    fn folder(&self) -> Folder {
        Folder::new(self.0.clone())
    }

    fn open(&self) -> Result<Environment> {
        Environment::open(&self.folder(), 1, MODE, Instant::now() + Duration::from_secs(5))
    }

    fn data(&self) -> std::path::PathBuf {
        self.0.join("gen-1/data.mdb")
    }

    /// Replaces the data file by what `change` makes of it, in place or as another file.
    fn change(&self, in_place: bool, change: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = std::fs::read(self.data()).expect("read");
        change(&mut bytes);
        if !in_place {
            std::fs::rename(self.data(), self.0.join("gen-1/data.was")).expect("renamed");
        }
        std::fs::write(self.data(), bytes).expect("written");
    }
}

/// Takes the log away, which would bring the data file to its last state again.
fn remove_log(place: &StoreFolder) {
    let _ = std::fs::remove_file(place.0.join("gen-1/log"));
}

fn commit(environment: &Environment, at: usize) {
    let mut txn = environment.write().expect("begun");
    txn.put(format!("key {at}").as_bytes(), b"a value").expect("put");
    txn.commit().expect("committed");
}

fn refused(place: &StoreFolder, words: &str) {
    let error = place.open().expect_err("damage");
    assert_eq!(error.kind(), ErrorKind::StoreCorrupt, "{error}");
    assert!(error.message().contains(words), "{error}");
}

fn number(bytes: &[u8], page: usize) -> u64 {
    u64::from_le_bytes(bytes[page * 4096 + 144..page * 4096 + 152].try_into().expect("eight"))
}

#[test]
fn pages_that_a_commit_gave_back_make_no_file_that_was_cut_off() {
    let place = StoreFolder::new(2);
    let environment = place.open().expect("opened");
    let mut txn = environment.write().expect("begun");
    txn.put(b"large", &vec![7; 12_000_000]).expect("put");
    txn.delete(b"large").expect("deleted");
    txn.put(b"small", &seal(b"small", 1, Codec::Raw, b"a value")).expect("put");
    txn.commit().expect("committed");
    let length = || std::fs::metadata(place.data()).expect("there").len();
    let (_, used) = environment.sizes().expect("measured");
    assert!(used > 12_000_000 && length() >= used, "{used}, {}", length());
    environment.close();
    // A process that was killed before it could lengthen the file, and one of an older version.
    let whole = length();
    let file = std::fs::File::options().write(true).open(place.data()).expect("opened");
    file.set_len(whole - 9_000_000).expect("cut");
    let again = place.open().expect("its log says that nothing is missing");
    assert!(again.snapshot().expect("read").get(b"small").expect("read").is_some());
    assert_eq!(length(), used);
}

#[test]
fn an_older_tree_than_the_last_acknowledged_one_is_refused() {
    let place = StoreFolder::new(5);
    let before = std::fs::read(place.data()).expect("read");
    let environment = place.open().expect("opened");
    commit(&environment, 5);
    environment.close();
    place.change(true, |bytes| *bytes = before);
    remove_log(&place);
    refused(&place, "acknowledged");
}

#[test]
fn a_meta_page_rolled_back_by_any_bit_of_its_number_is_refused_or_changes_nothing() {
    let place = StoreFolder::new(6);
    let good = std::fs::read(place.data()).expect("read");
    let newest = usize::from(number(&good, 1) > number(&good, 0));
    for page in 0..2 {
        for bit in 0..64 {
            place.change(true, |bytes| {
                bytes.clone_from(&good);
                bytes[page * 4096 + 144 + bit / 8] ^= 1 << (bit % 8);
            });
            remove_log(&place);
            if let Ok(environment) = place.open() {
                let last = number(&good, newest);
                assert_eq!(environment.snapshot().expect("begun").id(), last, "page {page} bit {bit}");
                environment.close();
            }
        }
    }
}

#[test]
fn any_byte_of_the_newest_meta_page_is_covered() {
    let place = StoreFolder::new(6);
    let good = std::fs::read(place.data()).expect("read");
    let newest = usize::from(number(&good, 1) > number(&good, 0));
    for at in 16..152 {
        place.change(true, |bytes| {
            bytes.clone_from(&good);
            bytes[newest * 4096 + at] ^= 4;
        });
        remove_log(&place);
        assert!(place.open().is_err(), "byte {at}");
    }
}

#[test]
fn nothing_vouches_for_a_copy_until_it_was_read() {
    let place = StoreFolder::new(3);
    place.change(false, |_| ());
    let read_only = Environment::open(&place.folder(), 1, Mode { read_only: true, ..MODE }, Instant::now() + Duration::from_secs(5));
    let read_only = read_only.expect("opened");
    assert_eq!(read_only.unverified(), None, "it could not write down that it was read");
    read_only.close();
    let mut environment = place.open().expect("opened");
    assert!(environment.unverified().is_some());
    environment.vouch(true).expect("vouched");
    environment.close();
    assert_eq!(place.open().expect("opened").unverified(), None);
    let environment = place.open().expect("opened");
    commit(&environment, 3);
    place.change(false, |_| ());
    drop(environment);
    let environment = place.open().expect("opened");
    assert!(environment.unverified().is_some());
    environment.close();
    std::fs::remove_file(place.0.join("gen-1/progress")).expect("removed");
    let mut environment = place.open().expect("opened");
    assert!(environment.unverified().is_some());
    environment.vouch(true).expect("vouched");
    environment.close();
    assert_eq!(place.open().expect("opened").unverified(), None);
}

#[test]
fn a_process_that_dies_between_its_commit_and_its_record_does_no_harm() {
    let place = StoreFolder::new(3);
    let environment = place.open().expect("opened");
    let progress = place.0.join("gen-1/progress");
    let announced = {
        let mut txn = environment.write().expect("begun");
        txn.put(b"key", b"a value").expect("put");
        txn.announce().expect("announced");
        let announced = std::fs::read(&progress).expect("read");
        txn.commit().expect("committed");
        announced
    };
    environment.close();
    overwrite(&progress, &announced);
    let environment = place.open().expect("the commit was announced");
    commit(&environment, 9);
    environment.close();
    assert_eq!(place.open().expect("opened").unverified(), None);
}

/// After a power cut the file may be as old as it likes.
#[test]
fn after_another_start_of_the_machine_the_file_is_a_lower_bound() {
    let place = StoreFolder::new(3);
    let progress = place.0.join("gen-1/progress");
    let old = std::fs::read(&progress).expect("read");
    let environment = place.open().expect("opened");
    (3..6).for_each(|at| commit(&environment, at));
    environment.close();
    let earlier = Record { boot: [7; 16], closed: false, ..Record::decode(old[..].try_into().expect("96")).expect("a record") };
    overwrite(&progress, &earlier.encode());
    assert_eq!(place.open().expect("opened").unverified(), None);
    overwrite(&progress, &Record { boot: boot_id(), ..earlier }.encode());
    refused(&place, "nobody began");
    overwrite(&progress, &Record { durable: earlier.durable + 9, ..earlier }.encode());
    refused(&place, "acknowledged");
}

fn overwrite(path: &Path, bytes: &[u8]) {
    std::fs::OpenOptions::new().write(true).open(path).and_then(|file| file.write_all_at(bytes, 0)).expect("written");
}

#[test]
fn a_relaxed_commit_that_a_power_cut_undid_is_no_damage() {
    let place = StoreFolder::new(3);
    let (progress, before) = (place.0.join("gen-1/progress"), std::fs::read(place.data()).expect("read"));
    let environment = Environment::open(&place.folder(), 1, Mode { relaxed: true, ..MODE }, Instant::now()).expect("opened");
    commit(&environment, 3);
    environment.close();
    place.change(true, |bytes| *bytes = before);
    remove_log(&place);
    let record = Record::decode(std::fs::read(&progress).expect("read")[..].try_into().expect("96")).expect("a record");
    refused(&place, "acknowledged");
    overwrite(&progress, &Record { boot: [7; 16], ..record }.encode());
    assert!(place.open().expect("opened").unverified().is_some(), "its log is gone");
}
