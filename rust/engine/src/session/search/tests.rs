//! Tests of the ranking against one that reads everything, on small stores, and of messages that are never found.

use super::super::properties::{Folder, engine};
use super::super::transcript::words::{index, speaker, text_of, vectors};
use super::*;
use crate::context::testing::Random;
use crate::embedding::{FIRST_PERSON, Nearness, SECOND_PERSON, TIME, distinct_tokens, embed, forms};
use crate::engine::Engine;
use crate::index::bm25::runs::Runs;
use crate::index::bm25::{Hit, Parameters, QueryTerm};
use crate::index::vectors::{Query, Scores, UnitVector};
use crate::models::Model;
use crate::scope::ScopeType;
use crate::session::record::{SessionState, locate};
use crate::session::{NewMessage, Options, Session};
use crate::store::Snapshot;
use crate::store::pages::{MemoryPages, PagesMut};
use crate::units::score::SCORE_ONE as COSINE_ONE;
use std::cmp::Reverse;

const WORDS: [&str; 24] = [
    "port",
    "payments-api",
    "museum",
    "gallery",
    "visit",
    "recital",
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
        for _ in 0..50 {
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
        search(&self.engine, &self.scope, &asked(question, limit)).unwrap()
    }

    /// Every message in the order of the definition, computed from the messages themselves, one by one.
    fn naive(&self, question: &str) -> Vec<(i64, u32)> {
        self.engine
            .store()
            .read(|pages| {
                let partition = self.scope.find(pages)?.unwrap();
                Ok(Naive::of(pages, partition, &self.scope, question).rank())
            })
            .unwrap()
    }

    /// The messages that say the question again: they are near to it, answer nothing, and nothing is sure of them.
    fn echoes(&self, question: &str) -> Vec<u32> {
        let is_echo = |hit: &TranscriptHit| hit.confidence == 0.0 && hit.features.sureness() > 0.3;
        let hits = self.search(question, 1_000);
        hits.iter().filter(|hit| is_echo(hit)).map(|hit| hit.message.record.document).collect()
    }
}

fn asked(question: &str, limit: usize) -> Request {
    Request::new(question, limit, 1_000)
}

/// A message as the oracle has it.
struct Line {
    number: u32,
    session: u32,
    index: u64,
    text: String,
    speaker: String,
    words: i64,
    own: i64,
    cosine: i32,
    identified: bool,
    is_empty: bool,
}

/// All messages of a scope, and the questions to them.
struct Naive {
    all: Vec<Line>,
    meaning: super::question::Meaning,
    asks_when: bool,
    speakers: Vec<String>,
}

impl Naive {
    fn of(pages: &Snapshot, partition: Partition, scope: &Scope, question: &str) -> Self {
        let question = recall::Question::new(question);
        let asked = Question::new(&question, scope.seed(pages.secret()).terms);
        let runs = Runs::open(pages, index(partition)).unwrap();
        let find = |terms: &[QueryTerm]| runs.search(pages, terms, Parameters::default(), 10_000, &mut |_| Ok(true)).unwrap();
        let hits = find(&asked.terms);
        let score = |hits: &[Hit], number: u32| hits.iter().find(|hit| hit.number == number).map_or(0, |hit| hit.score);
        let held: Vec<Vec<Hit>> = asked.identifiers().iter().map(|&hash| find(&[QueryTerm { hash, weight: 1.0 }])).collect();
        let mut all = Vec::new();
        for (&number, row) in &row::rows(pages, partition, 0, usize::MAX, |_| true).unwrap() {
            let message = stored_message(pages, SessionKey { partition, session: row.session }, row.index).unwrap();
            let parsed = message.record.parse(&message.given).unwrap();
            let identified = !held.is_empty() && held.iter().all(|hits| score(hits, number) > 0);
            let (words, text, speaker) = (score(&hits, number), text_of(&parsed), speaker(&parsed, None));
            all.push(Line {
                number,
                session: row.session,
                index: row.index,
                text,
                speaker,
                words,
                own: words,
                cosine: 0,
                identified,
                is_empty: row.is_empty == Some(true),
            });
        }
        let mut speakers: Vec<String> = hits.iter().take(16).map(|hit| by_number(&all, hit.number).speaker.clone()).collect();
        speakers.sort_unstable();
        speakers.dedup();
        let hashes: Vec<u64> = speakers.iter().flat_map(|name| asked.named(name)).collect();
        speakers.retain(|name| !asked.named(name).is_empty());
        let names: Vec<QueryTerm> = asked.terms.iter().filter(|term| hashes.contains(&term.hash)).copied().collect();
        let by_name = if names.is_empty() || names.len() == asked.terms.len() { Vec::new() } else { find(&names) };
        let every: Vec<u64> = asked.terms.iter().map(|term| term.hash).collect();
        let frequencies = runs.frequencies(pages, &every).unwrap();
        let documents = all.len() as f64;
        let rarity = |frequency: &u64| libm::log(1.0 + (documents - *frequency as f64 + 0.5) / (*frequency as f64 + 0.5));
        let meaning = asked.meaning(&speakers, &frequencies.iter().map(rarity).collect::<Vec<_>>());
        for one in &mut all {
            one.own -= score(&by_name, one.number);
            one.cosine = meaning.vector.as_ref().map_or(0, |vector| cosine(vector, &embed(&one.text)).max(0));
        }
        Self { all, meaning, asks_when: asked.asks_when(), speakers }
    }

    fn beside(&self, one: &Line, by: i64) -> Option<&Line> {
        self.all.iter().find(|other| other.session == one.session && other.index as i64 == one.index as i64 + by)
    }

    fn window(&self, one: &Line) -> i64 {
        let own = |by: i64| self.beside(one, by).map_or(0, |one| one.own);
        10 * own(0) + 5 * own(-1) + 3 * own(1)
    }

    /// The same by the numbers of the documents.
    fn window_at_sight(&self, number: u32) -> i64 {
        let own = |number: u32| self.all.iter().find(|other| other.number == number).map_or(0, |other| other.own);
        10 * own(number) + 5 * own(number.wrapping_sub(1)) + 3 * own(number + 1)
    }

    fn features(&self, one: &Line) -> Features {
        let most = |of: &dyn Fn(&Line) -> i64| self.all.iter().map(of).max().unwrap_or(0).max(1) as f64;
        let best_own = most(&|one| one.own);
        let own = |by: i64| self.beside(one, by).map_or(0.0, |one| one.own as f64 / best_own);
        let cosine_of = |by: i64| self.beside(one, by).map_or(0.0, |one| f64::from(one.cosine) / COSINE_ONE as f64);
        let (wanted, tokens) = (&self.meaning.wanted, distinct_tokens(&one.text, row::MAX_TOKENS));
        let near = |by: i64| self.beside(one, by).map(|one| wanted.nearness(&distinct_tokens(&one.text, row::MAX_TOKENS)));
        let around: Vec<Nearness> = [-1, 0, 1].into_iter().filter_map(near).collect();
        let mine = near(0).unwrap();
        let has = |form: u8| forms(&tokens).filter(|other| other & form != 0).count() as f64;
        let share = |form: u8| has(form) / (tokens.len() as f64 / 2.0 + 3.0);
        let is = |is: bool| f64::from(u8::from(is));
        let speaks = self.speakers.contains(&one.speaker);
        let last = self.all.iter().filter(|other| other.session == one.session).map(|other| other.index).max().unwrap();
        let any_name = self.all.iter().any(|other| other.own != other.words);
        Features {
            words: one.words as f64 / most(&|one| one.words),
            window: self.window(one) as f64 / most(&|one| self.window_at_sight(one.number)),
            before: own(-1),
            before_two: own(-2),
            after_two: own(2),
            answers: if self.beside(one, -1).is_some_and(|before| before.text.ends_with('?')) { own(-1) } else { 0.0 },
            meaning: cosine_of(0),
            meaning_around: (cosine_of(0) + 0.5 * cosine_of(-1) + 0.3 * cosine_of(1)) / 1.8,
            closeness: wanted.closeness(&mine),
            closeness_around: wanted.closeness_of_all(around.iter()),
            exact: wanted.exact(&mine),
            phrase: mine.phrase,
            phrase_before: near(-1).map_or(0.0, |before| before.phrase),
            speaker: is(speaks),
            name: is(any_name && one.own != one.words),
            first_person: share(FIRST_PERSON),
            own_words: if speaks { share(FIRST_PERSON) } else { 0.0 },
            second_person: share(SECOND_PERSON),
            time_asked: is(self.asks_when && has(TIME) > 0.0),
            opening: is(one.index < 2),
            place: one.index as f64 / last.max(1) as f64,
            length: Features::length_of(tokens.len() / 2),
            identified: is(one.identified),
            ..Features::default()
        }
    }

    fn is_hit(&self, one: &Line) -> bool {
        let words = (-2..=2).any(|by| self.beside(one, by).is_some_and(|other| other.words > 0));
        words || f64::from(one.cosine) >= 0.3 * COSINE_ONE as f64
    }

    fn rank(&self) -> Vec<(i64, u32)> {
        let best_own = self.all.iter().map(|one| one.own).max().unwrap_or(0).max(1) as f64;
        let mut ranked: Vec<(f64, &Line, Features)> = Vec::new();
        for one in self.all.iter().filter(|one| self.is_hit(one)) {
            let features = self.features(one);
            ranked.push((features.cheap(one.own as f64 / best_own), one, features));
        }
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.number.cmp(&a.1.number)));
        let mut sessions: Vec<u32> = Vec::new();
        for (_, one, _) in &ranked {
            if !sessions.contains(&one.session) {
                sessions.push(one.session);
            }
        }
        let best: Vec<(f64, &Line)> = ranked.iter().take(3).map(|(cheap, one, _)| (*cheap, *one)).collect();
        let mut scored: Vec<(i64, u32)> = Vec::new();
        for (_, one, features) in &ranked {
            let mut features = *features;
            features.session = 1.0 / (1 + sessions.iter().position(|session| *session == one.session).unwrap()) as f64;
            for (cheap, other) in &best {
                if other.session == one.session && other.number != one.number {
                    let near = cheap / best[0].0 * Features::nearness(other.index, one.index);
                    features.near_best = features.near_best.max(near);
                }
            }
            scored.push((features.score(), one.number));
        }
        scored.sort_unstable_by_key(|scored| Reverse(*scored));
        let mut asked: Vec<&str> = Vec::new();
        scored.retain(|(_, number)| {
            let one = by_number(&self.all, *number);
            let is_new = !one.is_empty || !asked.contains(&one.text.as_str());
            asked.push(&one.text);
            is_new
        });
        scored
    }
}

fn by_number(all: &[Line], number: u32) -> &Line {
    all.iter().find(|one| one.number == number).unwrap()
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
            let echoes = store.echoes(&question);
            let (behind, answers): (Vec<(i64, u32)>, Vec<_>) =
                store.naive(&question).into_iter().partition(|(_, number)| echoes.contains(number));
            for limit in [1, 10, 1_000] {
                let found: Vec<(i64, u32)> =
                    store.search(&question, limit).iter().map(|hit| (hit.score, hit.message.record.document)).collect();
                let mut expected = answers[..answers.len().min(limit)].to_vec();
                let least = expected.last().map_or(i64::MAX, |(score, _)| *score);
                let left = limit - expected.len();
                expected.extend(behind.iter().take(left).map(|(score, number)| ((*score).min(least), *number)));
                assert_eq!(found, expected, "seed {seed} round {round} {question:?} limit {limit}");
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
    let id = OfSession::of(&store, "s-0");
    id.hide(&store);
    let hits = store.search("quarterly report", 10);
    assert_eq!(hits.len(), 10);
    assert!(hits.iter().all(|hit| hit.session_id == "s-1"));
}

#[test]
fn a_session_that_is_half_deleted_stops_no_search() {
    let store = Store::new(6);
    for id in ["gone", "stays"] {
        store.open(id);
    }
    for n in 0..4 {
        store.say("gone", "", &format!("Where do we stand with shed {n}?"));
        store.say("stays", "", &format!("Where does shed {n} stand?"));
        store.say("gone", "", "We go for the blue one.");
        store.say("stays", "", "We go for the green one.");
    }
    let id = OfSession::of(&store, "gone");
    let place = id.0;
    id.hide(&store);
    let remove = move |txn: &mut crate::store::WriteTransaction<'_>| {
        for index in [1, 3, 5, 7] {
            txn.delete(place.message(index).u16(0).as_slice())?;
        }
        Ok(())
    };
    store.engine.write(remove).unwrap();
    let hits = store.search("What was settled about the shed?", 10);
    assert!(hits.iter().any(|hit| hit.message.text.contains("green")) && hits.iter().all(|hit| hit.session_id != "gone"));
}

/// A session as a delete that was interrupted leaves it.
struct OfSession(SessionKey);

impl OfSession {
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
fn a_reply_is_found_behind_its_question_however_many_sessions_go_on_between() {
    for others in [1, 4, 9] {
        let store = Store::new(5);
        store.open("talk");
        (0..others).for_each(|other| store.open(&format!("other-{other}")));
        for (thing, decision) in [("shed", "the blue one"), ("boiler", "next autumn"), ("lesson", "by phone")] {
            for said in [format!("Where do we stand with the old {thing}?"), format!("We go for {decision}.")] {
                store.say("talk", "", &said);
                (0..others).for_each(|other| _ = store.say(&format!("other-{other}"), "", "Thanks for that, noted well."));
            }
        }
        for (thing, decision) in [("shed", "the blue one"), ("boiler", "next autumn")] {
            let hits = store.search(&format!("What was settled about the {thing}?"), 4);
            assert!(hits.iter().any(|hit| hit.message.text.contains(decision)), "{others} others: {thing}");
        }
        assert!(store.engine.check().unwrap().is_sound());
    }
}

#[test]
fn a_question_that_was_asked_again_leaves_room_for_its_answers() {
    let store = Store::new(4);
    store.open("days");
    for run in 0..12 {
        store.say("days", "", "Which port does payments-api use?");
        store.say("days", "", &format!("payments-api listens on 8443, see run {run}"));
    }
    for copy in 0..4 {
        store.session("days").fork(&format!("copy-{copy}"), None, store.tick()).unwrap();
    }
    let hits = store.search("Which port does payments-api use?", 10);
    let answers = hits.iter().filter(|hit| hit.message.text.contains("8443")).count();
    let mut said: Vec<&str> = hits.iter().map(|hit| hit.message.text.as_str()).collect();
    said.sort_unstable();
    said.dedup();
    assert!(answers >= 5 && said.len() == hits.len(), "{said:?}");
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
    let place = OfSession::of(&store, "s-3").0;
    let naive = store.naive("museum port");
    // The entry of a version without speakers, tokens and vectors: the words of the text alone.
    store.open("old");
    let index = store.say("old", "", "museum of the old port");
    let old = OfSession::of(&store, "old").0;
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
