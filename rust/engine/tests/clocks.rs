//! Clocks that jump: random lives of a scope and a session, whose clock is ahead or behind for single writes, against what really was.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use memspan_engine::engine::Engine;
use memspan_engine::memory::revise::Revision;
use memspan_engine::memory::{Memory, NewMemory};
use memspan_engine::recall::{Filter, Request, recall};
use memspan_engine::scope::Scope;
use memspan_engine::session::Session;
use support::{ALL_KINDS, Chance, Folder, assert_sound, memories, one, open, talk, user};

const SECOND: i64 = 1_000_000;
const HOUR: i64 = 3_600 * SECOND;
const DAY: i64 = 24 * HOUR;
/// In July 2025.
const START: i64 = 1_751_360_400 * SECOND;

/// A life, and what is true of it.
struct Life {
    engine: Engine,
    folder: Folder,
    scope: Scope,
    chance: Chance,
    /// The true time.
    real: i64,
    /// The texts that are current, by number, with the true time of their writes; the least, where the clock was behind.
    current: BTreeMap<u32, (String, i64)>,
    /// After each write by a right clock: when that was, and what was current then.
    known: Vec<(i64, BTreeSet<String>)>,
    /// The clock's time of each message.
    messages: Vec<i64>,
}

impl Life {
    fn new(seed: u64) -> Self {
        let folder = Folder::in_memory();
        let engine = open(&folder.0, false);
        let (current, known, messages) = (BTreeMap::new(), Vec::new(), Vec::new());
        let life = Self { engine, folder, scope: user("u"), chance: Chance(seed), real: START, current, known, messages };
        talk::begin(life.session(), START);
        life
    }

    fn session(&self) -> Session<'_> {
        Session { engine: &self.engine, scope: &self.scope, id: "s" }
    }

    /// The clock's time, and whether it is right.
    fn clock(&mut self) -> (i64, bool) {
        let off = 1 + self.chance.below(1_500) as i64;
        match self.chance.below(16) {
            0 => (self.real + off * DAY, false),
            1 => (self.real - off * DAY, false),
            _ => (self.real, true),
        }
    }

    fn write(&mut self, step: usize) {
        let (clock, right) = self.clock();
        let text = format!("Fact number {step} of this life");
        let numbers: Vec<u32> = self.current.keys().copied().collect();
        let written = match self.chance.below(4) {
            0 if !numbers.is_empty() => {
                let number = numbers[self.chance.below(numbers.len())];
                let revision = Revision { text: Some(text.clone()), ..Revision::default() };
                self.engine.revise(&self.scope, &format!("mem-{number}"), revision, clock).expect("revised").memory
            }
            1 => {
                let done = one(&self.engine, &self.scope, NewMemory { slot: Some("place".into()), ..NewMemory::new(&text) }, clock);
                assert!(done.memory.ending.is_none(), "the newest value takes its slot: {done:?}");
                self.current.retain(|number, _| Some(*number) != done.memory.supersedes);
                done.memory
            }
            _ => one(&self.engine, &self.scope, NewMemory::new(&text), clock).memory,
        };
        if written.revision == 1 {
            assert!((clock..=clock + SECOND).contains(&written.occurred_at), "{written:?} at {clock}");
        }
        self.current.insert(written.number, (text, if clock < self.real { i64::MIN } else { self.real }));
        if right {
            let texts = self.current.values().map(|(text, _)| text.clone()).collect();
            self.known.push((self.real, texts));
        }
    }

    fn say(&mut self, step: usize) {
        let (clock, _) = self.clock();
        talk::say(self.session(), &talk::said(&format!("message {step}")), clock);
        self.messages.push(clock);
    }

    fn live(&mut self, steps: usize) {
        for step in 0..steps {
            self.real += 1 + self.chance.below(10 * HOUR as usize) as i64;
            match self.chance.below(8) {
                0 => {
                    self.engine.close().expect("closed");
                    self.engine = open(&self.folder.0, false);
                }
                1 | 2 => self.say(step),
                _ => self.write(step),
            }
        }
        self.real += HOUR;
    }

    fn recalled(&self, known_at: i64) -> BTreeSet<String> {
        let request = Request {
            text: "fact number life".into(),
            vector: None,
            scopes: vec![self.scope.clone()],
            limit: 1_000,
            filter: Filter { known_at: Some(known_at), ..Filter::all(self.real) },
            min_score: 0.0,
            max_tokens: None,
        };
        recall(&self.engine, &request).expect("recalled").hits.into_iter().map(|hit| hit.memory.text).collect()
    }

    fn all(&self) -> Vec<Memory> {
        memories(&self.engine, &self.scope, self.real)
    }
}

#[test]
fn what_was_known_at_a_time_is_found_by_that_time() {
    for seed in 1..=12 {
        let mut life = Life::new(seed);
        life.live(60);
        for (at, texts) in &life.known {
            assert_eq!(&life.recalled(*at), texts, "seed {seed}, at {at}");
        }
        let now: BTreeSet<String> = life.current.values().map(|(text, _)| text.clone()).collect();
        assert_eq!(life.recalled(life.real), now, "seed {seed}");
        assert_sound(&life.engine);
    }
}

#[test]
fn the_scopes_own_time_follows_the_order_of_writes() {
    for seed in 1..=12 {
        let mut life = Life::new(seed);
        life.live(60);
        let mut all = life.all();
        all.sort_by_key(|memory| memory.sequence);
        assert!(all.is_sorted_by(|one, next| one.known_from < next.known_from), "seed {seed}");
        let messages = life.session().messages(0, u64::MAX).expect("read");
        assert!(messages.is_sorted_by(|one, next| one.record.added_at < next.record.added_at), "seed {seed}");
        for (message, clock) in messages.iter().zip(&life.messages) {
            let said = message.record.created_at.unwrap_or(message.record.added_at);
            assert!((*clock..=clock + SECOND).contains(&said), "seed {seed}: {said} for {clock}");
        }
    }
}

#[test]
fn nothing_is_forgotten_early_and_everything_in_the_end() {
    for seed in 1..=12 {
        let mut life = Life::new(seed);
        life.live(60);
        let before = START + life.chance.below((life.real - START) as usize) as i64;
        life.engine.forget_old(&life.scope, ALL_KINDS, before, life.real).expect("forgotten");
        let left: BTreeSet<u32> = life.all().iter().map(|memory| memory.number).collect();
        let young = life.current.iter().filter(|(_, (_, real))| *real >= before).map(|(number, _)| number);
        for number in young {
            assert!(left.contains(number), "seed {seed}: memory {number} is younger than {before}");
        }
        life.real += 100 * DAY;
        life.engine.forget_old(&life.scope, ALL_KINDS, life.real - 50 * DAY, life.real).expect("forgotten");
        // The maintenance before met the memories that no later write dates.
        life.real += 100 * DAY;
        life.engine.forget_old(&life.scope, ALL_KINDS, life.real - 50 * DAY, life.real).expect("forgotten");
        assert_eq!(life.all(), [], "seed {seed}");
        assert_sound(&life.engine);
    }
}
