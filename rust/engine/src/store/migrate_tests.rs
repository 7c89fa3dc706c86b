//! The mechanism, with formats that only these tests know: the next format adds a field to every head, the one after renames nothing.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use super::*;
use crate::engine::{Engine, EngineOptions};
use crate::memory::NewMemory;
use crate::models::Model;
use crate::scope::{Head, Scope, ScopeType};
use crate::session::{NewMessage, Options, Session};
use crate::store::envelope::{self, Codec};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::store::{Durability, Store, StoreOptions};

const NOW: u32 = FORMAT_VERSION;
const FIRST: Formats = Formats { newest: NOW, steps: &[] };
const SECOND: Formats = Formats { newest: NOW + 1, steps: &[add_a_field] };
const THIRD: Formats = Formats { newest: NOW + 2, steps: &[add_a_field, keep] };
const FORGETFUL: Formats = Formats { newest: NOW + 2, steps: &[keep] };
const BROKEN: Formats = Formats { newest: NOW + 1, steps: &[fail_at_a_head] };

/// Every head gets an eleventh field: 42 times its first.
fn add_a_field(_: &Snapshot, key: &[u8], value: &[u8], new: &mut WriteTransaction<'_>) -> Result<()> {
    if key.get(4) != Some(&(Table::Head as u8)) {
        return new.put(key, value);
    }
    let body = envelope::open(key, value)?.body;
    let mut r = Reader::array(key, body)?;
    let mut w = Writer::array(11);
    let first = r.uint()?;
    w.uint(first);
    for _ in 1..10 {
        w.raw(r.raw()?);
    }
    w.uint(42 * first);
    new.put(key, &envelope::seal(key, 2, Codec::MessagePack, w.bytes()))
}

fn keep(_: &Snapshot, key: &[u8], value: &[u8], new: &mut WriteTransaction<'_>) -> Result<()> {
    new.put(key, value)
}

fn fail_at_a_head(_: &Snapshot, key: &[u8], value: &[u8], new: &mut WriteTransaction<'_>) -> Result<()> {
    if key.get(4) == Some(&(Table::Head as u8)) { Err(envelope::damaged(key, "this step cannot read it")) } else { new.put(key, value) }
}

struct Store1(PathBuf);

impl Drop for Store1 {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const TEXTS: usize = 40;

/// A store of today's format with memories in two scopes, and a session in one.
fn make() -> Store1 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("memspan-migrate-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let store = Store1(std::env::temp_dir().join(name));
    let busy_timeout = Duration::from_secs(5);
    let options = EngineOptions { durability: Durability::Full, read_only: false, busy_timeout, embedding: None, now: 7 };
    let engine = Engine::open(&store.0, options).expect("open");
    for at in 0..TEXTS {
        let scope = Scope::new(None, ScopeType::User, if at % 2 == 0 { "a" } else { "b" }).expect("a name");
        let text = format!("fact {at} {}", "long ".repeat(if at == 7 { 4000 } else { 1 }));
        engine.remember(&scope, NewMemory::new(text), at as i64).expect("written");
    }
    let scope = Scope::new(None, ScopeType::User, "a").expect("a name");
    let session = Session { engine: &engine, scope: &scope, id: "s" };
    let model = Some(Model::named("gpt-4o").expect("a model"));
    session.open(Options { model, ..Options::default() }, 50).expect("opened");
    let content = "long ".repeat(4000);
    session.add(NewMessage::given(format!(r#"{{"role":"user","content":"{content}"}}"#)), None, 51).expect("added");
    engine.close().expect("closed");
    store
}

fn open(store: &Store1, formats: Formats, read_only: bool) -> Result<std::sync::Arc<Store>> {
    let options = StoreOptions { durability: Durability::Full, read_only, busy_timeout: Duration::from_secs(5), now: 9 };
    Store::open_with(&store.0, &options, formats, None)
}

/// The eleventh field of a partition's head, and all that the current reader knows of it.
fn head(store: &Store, partition: u32) -> (u64, Head) {
    let read = store.read(|snapshot| {
        let key = Key::new(partition, Table::Head);
        let value = snapshot.get(key.as_slice())?.expect("a head");
        let mut r = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
        for _ in 0..10 {
            r.raw()?;
        }
        Ok((r.uint()?, Head::read(snapshot, partition)?))
    });
    read.expect("read")
}

fn values(store: &Store) -> Vec<(Vec<u8>, Vec<u8>)> {
    let read = store.read(|snapshot| {
        let mut found = Vec::new();
        snapshot.scan(&[0], &[255; 32], &mut |key, value| {
            found.push((key.to_vec(), value.to_vec()));
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(found)
    });
    read.expect("read")
}

fn names(store: &Store1) -> Vec<String> {
    let entries = std::fs::read_dir(&store.0).expect("listed");
    let mut names: Vec<_> = entries.map(|entry| entry.expect("entry").file_name().into_string().expect("a name")).collect();
    names.sort();
    names
}

#[test]
fn a_step_changes_what_it_names_and_keeps_the_rest() {
    let store = make();
    let opened = open(&store, FIRST, false).expect("open");
    let (before, own) = (values(&opened), opened.read(Meta::read).expect("read").expect("there"));
    drop(opened);
    let migrated = open(&store, SECOND, false).expect("migrated");
    assert_eq!(migrated.size().expect("size").0, 2);
    for partition in [1, 2] {
        let (added, known) = head(&migrated, partition);
        assert_eq!((added, known.documents), (42 * u64::from(known.next_number), TEXTS as u64 / 2));
    }
    let changed = |key: &[u8]| key[4] == Table::Head as u8 || key[..5] == [0, 0, 0, 0, Table::Meta as u8];
    let rest = |values: Vec<(Vec<u8>, Vec<u8>)>| values.into_iter().filter(|(key, _)| !changed(key)).collect::<Vec<_>>();
    assert_eq!(rest(values(&migrated)), rest(before), "not a bit of anything else");
    let meta = migrated.read(Meta::read).expect("read").expect("there");
    assert_eq!((meta.format, meta.created_at, meta.generation), (NOW + 1, 7, 2));
    assert_eq!((meta.store, meta.secret), (own.store, own.secret), "it is the same store");
    assert_eq!(names(&store), ["CURRENT", "door", "gen-2", "lock", "open"]);
}

#[test]
fn steps_follow_each_other_and_a_second_opening_changes_nothing() {
    let store = make();
    assert_eq!(open(&store, THIRD, false).expect("migrated").size().expect("size").0, 3);
    let again = open(&store, THIRD, false).expect("opened");
    assert_eq!(again.size().expect("size").0, 3);
    assert_eq!(head(&again, 1).0, 42 * u64::from(head(&again, 1).1.next_number));
    assert_eq!(names(&store), ["CURRENT", "door", "gen-3", "lock", "open"]);
}

#[test]
fn what_cannot_be_migrated_is_a_typed_error_and_stays_as_it_was() {
    let store = make();
    let read_only = open(&store, SECOND, true).expect_err("read-only");
    assert_eq!(read_only.kind(), ErrorKind::StoreVersion);
    assert!(read_only.message().contains("read_only"), "{read_only}");
    assert_eq!(open(&store, FORGETFUL, false).expect_err("too old").kind(), ErrorKind::StoreVersion);
    assert_eq!(open(&store, BROKEN, false).expect_err("damage").kind(), ErrorKind::StoreCorrupt);
    assert_eq!(names(&store), ["CURRENT", "door", "gen-1", "lock", "open"], "nothing is left of it");
    assert_eq!(open(&store, FIRST, false).expect("as it was").size().expect("size").0, 1);

    drop(open(&store, SECOND, false).expect("migrated"));
    let error = open(&store, FIRST, false).expect_err("an older memspan");
    assert_eq!(error.kind(), ErrorKind::StoreVersion);
    assert!(error.message().contains("upgrade"), "{error}");
}

#[test]
fn a_migration_that_died_is_done_again_or_taken_up() {
    let store = make();
    let folder = Folder::new(store.0.clone());
    // It died with the copy published and the old generation still in use.
    std::fs::create_dir(store.0.join("gen-2")).expect("made");
    std::fs::write(store.0.join("gen-2/manifest"), "half").expect("written");
    assert_eq!(open(&store, SECOND, false).expect("migrated").size().expect("size").0, 2);
    // It died after the switch, with CURRENT still naming the old one: put a retired generation 1 back beside it.
    let other = make();
    drop(open(&other, SECOND, false).expect("migrated"));
    let old = make();
    run(&Folder::new(old.0.clone()), 1, NOW, add_a_field, Instant::now() + Duration::from_secs(5)).expect("one step");
    Folder::new(old.0.clone()).name_current(1).expect("named");
    let taken_up = open(&old, SECOND, false).expect("taken up");
    assert_eq!((taken_up.size().expect("size").0, head(&taken_up, 1).1.documents), (2, TEXTS as u64 / 2));
    assert_eq!(names(&old), ["CURRENT", "door", "gen-2", "lock", "open"]);
    assert_eq!(folder.current(), Some(2));
}

#[test]
fn backups_and_compactions_write_the_format_of_their_store() {
    let store = make();
    let migrated = open(&store, SECOND, false).expect("migrated");
    crate::store::copy::compact(&migrated, Duration::from_secs(5)).expect("compacted");
    assert_eq!(head(&migrated, 1).0, 42 * u64::from(head(&migrated, 1).1.next_number));
    let copy = Store1(store.0.with_extension("copy"));
    crate::store::copy::backup(&migrated, &copy.0).expect("backup");
    for folder in [&store.0, &copy.0] {
        let newest = *Folder::new(folder.clone()).generations().expect("listed").last().expect("one");
        let path = Folder::new(folder.clone()).generation(newest);
        assert_eq!(Manifest::read(&path, NOW + 1).expect("manifest").format, NOW + 1);
    }
    let without_meta = |store: &Store| values(store).into_iter().filter(|(key, _)| key[4] != Table::Meta as u8).collect::<Vec<_>>();
    assert_eq!(without_meta(&open(&copy, SECOND, true).expect("opened")), without_meta(&migrated), "a backup has an identity of its own");
}
