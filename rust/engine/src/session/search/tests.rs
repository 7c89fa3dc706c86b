//! The ranking against one that reads everything, on small stores; and what is never found.

use super::super::properties::{Folder, engine};
use super::super::transcript::words::{speaker, text_of};
use super::*;
use crate::context::testing::Random;
use crate::engine::Engine;
use crate::index::vectors::UnitVector;
use crate::models::Model;
use crate::scope::ScopeType;
use crate::session::record::locate;
use crate::session::{NewMessage, Options, Session};
use crate::store::pages::{MemoryPages, PagesMut};
use crate::units::score::SCORE_ONE as COSINE_ONE;

const WORDS: [&str; 24] = [
    "port",
    "payments-api",
    "museum",
    "gallery",
    "visit",
    "yesterday",
    "Anna",
    "Bob",
    "cat",
    "dog",
    "the",
    "what",
    "deploy",
    "friday",
    "8443",
    "guitar",
    "lesson",
    "camping",
    "trip",
    "kids",
    "lake",
    "job",
    "bank",
    "lost",
];

fn text(random: &mut Random, most: u64) -> String {
    let words: Vec<&str> = (0..=random.below(most)).map(|_| WORDS[random.below(24) as usize]).collect();
    words.join(" ") + if random.chance(25) { "?" } else { "" }
}

struct Store {
    engine: Engine,
    scope: Scope,
    now: std::cell::Cell<i64>,
    _folder: Folder,
}

impl Store {
    fn new(seed: u64) -> Self {
        let folder = Folder::new();
        let engine = engine(&folder.0);
        let scope = Scope::new(None, ScopeType::User, "u").unwrap();
        let store = Self { engine, scope, _folder: folder, now: std::cell::Cell::new(1) };
        let mut random = Random::new(seed);
        for session in 0..4 {
            store.open(&format!("s-{session}"));
        }
        for _ in 0..80 {
            let (session, speaker) = (random.below(4), *random.pick(&["Anna", "Bob", ""]));
            let said = text(&mut random, 9);
            store.say(&format!("s-{session}"), speaker, &said);
        }
        store
    }

    fn tick(&self) -> i64 {
        self.now.set(self.now.get() + 1);
        self.now.get()
    }

    fn session<'s>(&'s self, id: &'s str) -> Session<'s> {
        Session { engine: &self.engine, scope: &self.scope, id }
    }

    fn open(&self, id: &str) {
        let options = Options { model: Some(Model::named("gpt-4o").unwrap()), ..Options::default() };
        self.session(id).open(options, self.tick()).unwrap();
    }

    fn say(&self, id: &str, speaker: &str, said: &str) -> u64 {
        let mut message = serde_json::json!({"role": "user", "content": said});
        if !speaker.is_empty() {
            message["name"] = speaker.into();
        }
        self.session(id).add(NewMessage::given(message.to_string()), None, self.tick()).unwrap().index
    }

    fn search(&self, question: &str, limit: usize) -> Vec<TranscriptHit> {
        search(&self.engine, &self.scope, question, limit).unwrap()
    }

    /// Every message in the order of the definition, computed from the messages themselves.
    fn naive(&self, question: &str) -> Vec<(i64, u32)> {
        let asked = Question::new(question, self.scope.term_seed());
        self.engine
            .store()
            .read(|pages| {
                let partition = self.scope.find(pages)?.unwrap();
                let rows = row::rows(pages, partition, 0, usize::MAX, |_| true)?;
                let runs = Runs::open(pages, index(partition))?;
                let all = |terms: &[QueryTerm]| runs.search(pages, terms, Parameters::default(), 10_000, &mut |_| Ok(true)).unwrap();
                let hits = all(&asked.terms);
                let words = |number: u32| {
                    let hit = hits.iter().find(|hit| hit.number == number);
                    hit.map_or(0.0, |hit| hit.score as f64 / hits[0].score as f64)
                };
                let holds = |number: u32| {
                    let mut held = asked.identifiers.iter().map(|&hash| all(&[QueryTerm { hash, weight: 1.0 }]));
                    !asked.identifiers.is_empty() && held.all(|hits| hits.iter().any(|hit| hit.number == number))
                };
                let mut speakers: Vec<String> = Vec::new();
                let mut scored = Vec::new();
                let stored = |row: &Row<'_>| stored_message(pages, Place { partition, session: row.session }, row.index);
                for row in rows.values() {
                    let message = stored(row)?;
                    let name = speaker(&message.record.parse(&message.given)?, None);
                    if asked.names(&name) && !speakers.contains(&name) {
                        speakers.push(name);
                    }
                }
                let names: Vec<u8> = speakers.iter().flat_map(|name| distinct_tokens(name, 256)).collect();
                for (&number, row) in &rows {
                    let message = stored(row)?;
                    let (said, parsed) = (message.text.clone(), message.record.parse(&message.given)?);
                    let text_vector = embed(&said);
                    let cosine = cosine(&asked.vector, &text_vector);
                    let beside = |by: i64| {
                        let other =
                            rows.iter().find(|(_, other)| other.session == row.session && other.index as i64 == row.index as i64 + by);
                        let other = other.filter(|(other, _)| i64::from(**other) == i64::from(number) + by);
                        other.map_or((0.0, false), |(number, other)| (words(*number), stored(other).unwrap().text.ends_with('?')))
                    };
                    let ((before, asks), (after, _)) = (beside(-1), beside(1));
                    if words(number) <= 0.0 && before <= 0.0 && cosine < NEAR {
                        continue;
                    }
                    let is = |is: bool| f64::from(u8::from(is));
                    let tokens = distinct_tokens(&said, 256);
                    let features = Features([
                        words(number),
                        before,
                        if asks { before } else { 0.0 },
                        after,
                        f64::from(cosine.max(0)) / f64::from(COSINE_ONE),
                        Wanted::new(question, &names).closeness(&tokens),
                        is(speakers.contains(&speaker(&parsed, None))),
                        Features::length(tokens.len() / 2),
                        is(text_of(&parsed).ends_with('?')),
                        is(holds(number)),
                    ]);
                    scored.push((features.score(), number));
                }
                scored.sort_unstable_by_key(|scored| std::cmp::Reverse(*scored));
                Ok(scored)
            })
            .unwrap()
    }
}

/// The score that a scan gives: that of a set of one vector.
fn cosine(query: &Query, vector: &UnitVector) -> i32 {
    let (set, mut pages, mut scores) = (vectors(1), MemoryPages::new(), Scores::new());
    set.put(&mut pages, 1, vector).unwrap();
    set.scan(&pages, query, &mut scores).unwrap();
    scores.get(1).unwrap()
}

#[test]
fn a_search_is_a_naive_scorer_that_reads_everything() {
    for seed in 0..3 {
        let (store, mut random) = (Store::new(seed), Random::new(seed + 100));
        for round in 0..6 {
            let question = text(&mut random, 6);
            if round == 3 {
                store.session("s-0").redact(random.below(8), None, store.tick()).unwrap();
                store.session("s-1").rewind(5, store.tick()).unwrap();
                store.session("s-2").delete(store.tick()).unwrap();
            }
            let naive = store.naive(&question);
            for limit in [1, 10, 1_000] {
                let found: Vec<(i64, u32)> =
                    store.search(&question, limit).iter().map(|hit| (hit.score, hit.message.record.document)).collect();
                assert_eq!(found, naive[..naive.len().min(limit)], "seed {seed} round {round} {question:?} limit {limit}");
            }
        }
        assert!(store.engine.check().unwrap().is_sound());
    }
}

#[test]
fn a_hidden_session_gives_its_places_to_others() {
    let store = Store::new(1);
    for n in 0..300 {
        store.say("s-0", "", &format!("quarterly report number {n}"));
    }
    for n in 0..20 {
        store.say("s-1", "", &format!("the quarterly report that we keep, {n}, and much else besides"));
    }
    let id = SessionPlace::of(&store, "s-0");
    id.hide(&store);
    let hits = store.search("quarterly report", 10);
    assert_eq!(hits.len(), 10);
    assert!(hits.iter().all(|hit| hit.session_id == "s-1"));
}

/// A session as a delete that was interrupted leaves it.
struct SessionPlace(Place);

impl SessionPlace {
    fn of(store: &Store, id: &str) -> Self {
        Self(store.engine.store().read(|pages| Ok(locate(pages, &store.scope, id)?.unwrap())).unwrap())
    }

    fn hide(self, store: &Store) {
        let place = self.0;
        let hide = move |txn: &mut crate::store::WriteTransaction<'_>| {
            let mut record = SessionRecord::read(&*txn, place)?.unwrap();
            record.state = SessionState::Hidden;
            record.write(txn, place)
        };
        store.engine.write(hide).unwrap();
    }
}

#[test]
fn who_is_named_is_preferred_and_found_by_name_alone() {
    let store = Store::new(2);
    store.open("talk");
    store.say("talk", "Caroline", "I adopted a rabbit last spring");
    store.say("talk", "Melanie", "I adopted a rabbit last spring");
    let first = |question: &str| {
        store.search(question, 1).remove(0).message.record.parse(&store.search(question, 1)[0].message.given).unwrap().name
    };
    assert_eq!(first("When did Caroline adopt the rabbit?").as_deref(), Some("Caroline"));
    assert_eq!(first("When did Melanie adopt the rabbit?").as_deref(), Some("Melanie"));
    assert_eq!(first("Caroline").as_deref(), Some("Caroline"));
}

#[test]
fn rows_of_an_older_version_are_filled_and_removed_as_they_were_written() {
    let store = Store::new(3);
    let place = SessionPlace::of(&store, "s-3").0;
    let naive = store.naive("museum port");
    // What a version without speakers, tokens and vectors wrote: the words of the text alone.
    store.open("old");
    let index = store.say("old", "", "museum of the old port");
    let old = SessionPlace::of(&store, "old").0;
    let strip = move |txn: &mut crate::store::WriteTransaction<'_>| {
        let (&number, _) = row::rows(&*txn, place.partition, 0, usize::MAX, |row| row.session == old.session)?.last_key_value().unwrap();
        let mut w = crate::store::msgpack::Writer::array(2);
        w.uint(u64::from(old.session));
        w.uint(index);
        let key = row::key(place.partition, number);
        txn.put(key.as_slice(), &crate::store::envelope::seal(key.as_slice(), 1, crate::store::envelope::Codec::MessagePack, w.bytes()))?;
        vectors(place.partition).remove(txn, number)
    };
    assert!(store.engine.write(strip).unwrap());
    assert!(store.engine.check().unwrap().is_sound(), "{:?}", store.engine.check().unwrap().findings);
    assert!(store.search("museum port", 1_000).len() > naive.len(), "found by its words");
    assert_eq!((fill_rows(&store.engine).unwrap(), fill_rows(&store.engine).unwrap()), (1, 0));
    assert!(store.engine.check().unwrap().is_sound());
    store.session("old").delete(store.tick()).unwrap();
    assert_eq!(store.naive("museum port"), naive);
    assert!(store.engine.check().unwrap().is_sound());
}
