//! Batches of writes: what they read, and whether one can end half done.

use std::cell::Cell;
use std::ops::ControlFlow;

use super::learn::Learning;
use super::near::Moved;
use super::new_memory::NewMemory;
use super::outcome::Action;
use super::record;
use super::remember;
use super::writer::PartitionWriter;
use crate::Result;
use crate::gate::Change;
use crate::scope::{Scope, ScopeType};
use crate::store::identity::Secret;
use crate::store::pages::{MemoryPages, Pages, PagesMut};

/// Counts values that are read, and batches that end half done.
#[derive(Default)]
struct Watched {
    pages: MemoryPages,
    read: Cell<usize>,
    half_done: usize,
}

impl Watched {
    fn count(&self) {
        self.read.set(self.read.get() + 1);
    }
}

impl Pages for Watched {
    fn get(&self, key: &[u8]) -> Result<Option<&[u8]>> {
        self.count();
        Pages::get(&self.pages, key)
    }

    fn floor(&self, key: &[u8]) -> Result<Option<(&[u8], &[u8])>> {
        self.count();
        self.pages.floor(key)
    }

    fn scan<'p>(&'p self, from: &[u8], to: &[u8], visit: &mut dyn FnMut(&'p [u8], &'p [u8]) -> Result<ControlFlow<()>>) -> Result<()> {
        self.pages.scan(from, to, &mut |key, value| {
            self.count();
            visit(key, value)
        })
    }
}

impl PagesMut for Watched {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.pages.put(key, value)
    }

    fn delete(&mut self, key: &[u8]) -> Result<bool> {
        self.pages.delete(key)
    }

    fn left_half_done(&mut self) {
        self.half_done += 1;
    }
}

fn scope() -> Scope {
    Scope::new(None, ScopeType::User, "u").expect("a name")
}

#[test]
fn a_slot_is_filled_newest_value_first_at_the_cost_of_the_other_order() {
    let read = |at: fn(i64) -> i64| {
        let (mut pages, scope) = (Watched::default(), scope());
        let row = |place| NewMemory {
            slot: Some("weight".to_owned()),
            occurred_at: Some(at(place)),
            ..NewMemory::new(format!("weight is {place} kg"))
        };
        let rows: Vec<_> = (0..300).map(|place| remember::prepare(&scope, Secret::default(), row(place)).expect("checked")).collect();
        let outcomes = remember::write(&mut pages, &scope, &rows, 5000, None).expect("written");
        assert!(outcomes.iter().all(Result::is_ok));
        pages.read.get()
    };
    let (oldest_first, newest_first) = (read(|place| place), read(|place| 1000 - place));
    assert!(newest_first < 2 * oldest_first, "{newest_first} reads, where the other order takes {oldest_first}");
}

#[test]
fn a_batch_that_is_dropped_with_changes_says_so() {
    let (mut pages, scope) = (Watched::default(), scope());
    let row = remember::prepare(&scope, Secret::default(), NewMemory::new("tea at five")).expect("checked");
    let mut writer = PartitionWriter::open(&mut pages, &scope, 10, None).expect("opened");
    row.write(&mut writer).expect("written");
    drop(writer);
    assert_eq!(pages.half_done, 1);
    let mut pages = Watched::default();
    let mut writer = PartitionWriter::open(&mut pages, &scope, 10, None).expect("opened");
    row.write(&mut writer).expect("written");
    let partition = writer.partition;
    writer.finish().expect("finished");
    drop(PartitionWriter::open(&mut pages, &scope, 20, None).expect("opened"));
    assert_eq!(pages.half_done, 0, "nothing was changed");
    assert_eq!(record::current(&pages, partition, 1).expect("read").map(|memory| memory.text).as_deref(), Some("tea at five"));
}

#[test]
fn claims_that_end_something_are_compared_with_those_that_name_it() {
    const MANY: usize = 300;
    let learnt =
        |text: String, learning: Learning| NewMemory { learning: Some(Box::new(learning)), occurred_at: Some(7), ..NewMemory::new(text) };
    let mut rows = Vec::new();
    for number in 0..MANY {
        let tool = format!("Tool{number}x");
        rows.push(learnt(format!("I use {tool}."), Learning::default()));
        rows.push(learnt(format!("I have a dinner with Sam{number}z on December 3 (2026-12-03)."), Learning::default()));
        rows.push(learnt(format!("We deploy Part{number}w to Heroku{number}v."), Learning::default()));
    }
    let before = rows.len();
    for number in 0..MANY {
        let tool = format!("Tool{number}x");
        rows.push(learnt(format!("I no longer use {tool}."), Learning { ends: Some(tool), ..Learning::default() }));
        let moved = format!("The dinner with Sam{number}z is cancelled.");
        rows.push(learnt(moved.clone(), Learning { moved: Moved::of(&moved), ..Learning::default() }));
        let changed = format!("We got rid of Heroku{number}v.");
        rows.push(learnt(changed.clone(), Learning { changed: Change::of(&changed), ..Learning::default() }));
    }
    let (mut pages, scope) = (Watched::default(), scope());
    let rows: Vec<_> = rows.into_iter().map(|row| remember::prepare(&scope, Secret::default(), row).expect("checked")).collect();
    let done = remember::write(&mut pages, &scope, &rows, 5000, None).expect("written");
    let done: Vec<_> = done.into_iter().map(|one| one.expect("written")).collect();
    for (at, one) in done[before..].iter().enumerate() {
        let older = done[at].memory.number;
        let is_met = if at % 3 == 2 {
            one.memory.provenance.disputes == [older]
        } else {
            one.action == Action::Superseded && one.memory.supersedes == Some(older)
        };
        assert!(is_met, "{:?}: {} / {}", one.action, one.memory.text, done[at].memory.text);
    }
}
