//! Every write knows its home: a witness sees all puts and deletes, and each scope's changes alone rebuild each scope's values.

mod support;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use memspan_engine::collection::{self, CollectionName, NewDocument, Prepared, remove};
use memspan_engine::engine::{Engine, EngineOptions};
use memspan_engine::memory::NewMemory;
use memspan_engine::memory::embedding::Embedding;
use memspan_engine::scope::{Home, Scope, Witness, Written};
use memspan_engine::session::Session;
use memspan_engine::store::pages::Pages;
use memspan_engine::{Error, ErrorKind, Result};
use support::talk::{answered, begin, pictured, reply, said, say};
use support::{Folder, options, user};

/// What a replica of each home would hold.
#[derive(Debug, Default)]
struct Replica(Mutex<BTreeMap<Home, Values>>);

/// Values by key, of one home.
type Values = BTreeMap<Vec<u8>, Vec<u8>>;

impl Witness for Replica {
    fn written(&self, changes: &[Written]) -> Result<()> {
        let mut homes = self.0.lock().expect("no panic before");
        for Written { home, change } in changes {
            let values = homes.entry(*home).or_default();
            match &change.value {
                Some(value) => drop(values.insert(change.key.clone(), value.clone())),
                None => drop(values.remove(&change.key)),
            }
        }
        Ok(())
    }
}

fn open(folder: &Folder, witness: Arc<dyn Witness>) -> Engine {
    let built_in = EngineOptions { embedding: Some(Embedding::built_in()), ..options(false) };
    Engine::open(&folder.0, built_in).expect("open").witnessed(witness)
}

fn work(engine: &Engine, scope: &Scope) {
    let lasting = engine.remember(scope, NewMemory::new("payments-api listens on port 8443"), 1).expect("remembered");
    engine.remember(scope, NewMemory { ttl: Some(10), ..NewMemory::new("the build is red") }, 2).expect("remembered");
    let slot = |text: &str| NewMemory { slot: Some("editor".into()), ..NewMemory::new(text) };
    engine.remember(scope, slot("uses vim"), 3).expect("remembered");
    engine.remember(scope, slot("uses helix"), 4).expect("superseded");
    engine.forget(scope, &lasting.memory.id(), None, 5).expect("forgotten");
    let session = Session { engine, scope, id: "s-1" };
    begin(session, 6);
    for turn in 0..12 {
        say(session, &said(&format!("question {turn} about port 8443")), 10 + turn);
        reply(session, Some(&format!("r-{turn}")), &answered("It is 8443."), 10 + turn);
    }
    say(session, &pictured("look", 20_000), 40);
    session.redact(0, None, 41).expect("redacted");
    session.fork("s-2", None, 42).expect("forked");
    session.delete(43).expect("deleted");
    for name in ["docs", "notes"] {
        let name = CollectionName::new(scope, name).expect("a name");
        for (id, ttl) in [("a.md", None), ("b.md", Some(6))] {
            let new = NewDocument { ttl, ..NewDocument::new(id, "# Ports\n\nThe port is 8443.\n") };
            collection::add::add(engine, &name, Prepared::new(new).expect("a document"), None, 44).expect("added");
        }
    }
    remove::drop_collection(engine, &CollectionName::new(scope, "notes").expect("a name")).expect("dropped");
}

#[test]
fn the_changes_of_each_home_rebuild_its_values() {
    let (folder, replica) = (Folder::in_memory(), Arc::new(Replica::default()));
    let engine = open(&folder, replica.clone());
    let scopes = [user("ann"), user("bob")];
    for scope in &scopes {
        work(&engine, scope);
    }
    engine.expire(100).expect("expired");
    let homes = replica.0.lock().expect("no panic before").clone();
    let homes: BTreeMap<_, _> = homes.into_iter().filter(|(_, values)| !values.is_empty()).collect();
    engine
        .store()
        .read(|pages| {
            let own: Vec<Home> = scopes.iter().map(|scope| Home::Scope(scope.find(pages).expect("read").expect("written to"))).collect();
            assert_eq!(homes.keys().copied().collect::<Vec<_>>(), [vec![Home::Store], own].concat());
            let mut stored = BTreeMap::<Home, BTreeMap<Vec<u8>, Vec<u8>>>::new();
            pages.scan(&[0], &[0xff; 24], &mut |key, value| {
                stored.entry(Home::of(pages, key, Some(value))?).or_default().insert(key.to_vec(), value.to_vec());
                Ok(ControlFlow::Continue(()))
            })?;
            for (home, values) in &homes {
                let of_home: BTreeMap<_, _> = stored[home].iter().filter(|(key, _)| key[4] >= 0x02).collect(); // not of the generation
                assert!(of_home.iter().eq(values.iter().collect::<BTreeMap<_, _>>().iter()), "{home:?}");
            }
            assert!(homes.values().map(BTreeMap::len).sum::<usize>() > 150);
            Ok(())
        })
        .expect("read");
}

/// Lets nothing through.
#[derive(Debug)]
struct Refuses;

impl Witness for Refuses {
    fn written(&self, _: &[Written]) -> Result<()> {
        Err(Error::invalid("replicating a write: the other side is away: try again"))
    }
}

#[test]
fn a_witness_that_refuses_undoes_the_write() {
    let folder = Folder::in_memory();
    drop(Engine::open(&folder.0, options(false)).expect("open"));
    let engine = Engine::open(&folder.0, options(false)).expect("open").witnessed(Arc::new(Refuses));
    let refused = engine.remember(&user("ann"), NewMemory::new("uses vim"), 1).expect_err("refused");
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    assert_eq!(engine.contents().expect("read").scopes, 0);
}
