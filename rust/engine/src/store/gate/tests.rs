//! Tests of a store whose calls meet its compaction and its end.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use super::{Durability, Store, StoreOptions};
use crate::store::envelope::{self, Codec};
use crate::store::keys::{Key, Table};
use crate::store::pages::{Pages, PagesMut};
use crate::store::{Snapshot, WriteTransaction, copy};
use crate::{ErrorKind, Result, interrupt};

const LONG: Duration = Duration::from_secs(20);

fn filled(name: &str) -> (PathBuf, Arc<Store>) {
    let path = std::env::temp_dir().join(format!("memspan-{name}-{}", std::process::id()));
    let options = StoreOptions { durability: Durability::Relaxed, read_only: false, busy_timeout: LONG, now: 1 };
    let store = Store::open(&path, &options).unwrap();
    store.write(LONG, |txn| (0..100).try_for_each(|number| put(txn, number))).unwrap();
    (path, store)
}

fn put(txn: &mut WriteTransaction<'_>, number: u32) -> Result<()> {
    let key = Key::new(7, Table::Access).u32(number);
    txn.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::Raw, &[7; 400]))
}

fn has(snapshot: &Snapshot, number: u32) -> Result<bool> {
    Ok(snapshot.get(Key::new(7, Table::Access).u32(number).as_slice())?.is_some())
}

/// Runs `work` while a read is under way, and returns whether that read sees values 99 and 100 at its end.
fn while_reading(store: &Store, work: impl FnOnce()) -> (bool, bool) {
    let ((begun, begins), (release, released)) = (mpsc::channel(), mpsc::channel::<()>());
    std::thread::scope(|scope| {
        let reading = scope.spawn(move || {
            store.read(|snapshot| {
                begun.send(()).unwrap();
                released.recv_timeout(LONG).expect("nobody waits for this read");
                Ok((has(snapshot, 99)?, has(snapshot, 100)?))
            })
        });
        begins.recv().unwrap();
        work();
        release.send(()).expect("it still reads");
        reading.join().unwrap().unwrap()
    })
}

/// A check or an export takes minutes. A compaction that meets one was waited for by every call of the process.
#[test]
fn a_compaction_waits_for_no_read_and_calls_wait_for_neither() {
    let (path, store) = filled("long-read");
    let seen = while_reading(&store, || {
        copy::compact(&store, LONG).unwrap();
        assert_eq!(store.size().unwrap().0, 2);
        store.write(LONG, |txn| put(txn, 100)).unwrap();
        assert!(store.read(|snapshot| has(snapshot, 100)).unwrap());
        assert!(!path.join("gen-1").exists(), "its files are gone");
    });
    assert_eq!(seen, (true, false), "it ends in the generation that it began in");
    assert!(store.read(|snapshot| has(snapshot, 100)).unwrap());
    store.close();
    let _ = std::fs::remove_dir_all(path);
}

/// A generation is retired a moment before CURRENT names the next one. A call that looked for the next one there found the open one, which
/// LMDB does not open twice.
#[test]
fn calls_go_on_while_one_compaction_follows_another() {
    let (path, store) = filled("compactions");
    let is_over = AtomicBool::new(false);
    let reads = std::thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let mut reads = 0;
            while !is_over.load(Relaxed) {
                assert!(store.read(|snapshot| has(snapshot, 99)).unwrap());
                reads += 1;
            }
            reads
        });
        for _ in 0..8 {
            copy::compact(&store, LONG).unwrap();
        }
        is_over.store(true, Relaxed);
        reading.join().unwrap()
    });
    assert!(reads > 8, "{reads}");
    assert_eq!(store.size().unwrap().0, 9);
    store.close();
    let _ = std::fs::remove_dir_all(path);
}

#[test]
fn who_waits_to_close_a_store_may_be_interrupted_and_it_stays_open() {
    let (path, store) = filled("close");
    while_reading(&store, || {
        let waited = interrupt::watched(|| store.await_calls(), || true).unwrap();
        assert_eq!(waited.unwrap_err().kind(), ErrorKind::Interrupted);
        assert!(store.read(|snapshot| has(snapshot, 99)).unwrap());
    });
    store.await_calls().unwrap();
    store.leave();
    assert_eq!(store.read(|_| Ok(())).unwrap_err().kind(), ErrorKind::Closed);
    let _ = std::fs::remove_dir_all(path);
}
