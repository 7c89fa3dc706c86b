//! A prompt follows the best of what it recalls to the messages that were said later of the same: "my agent is Tobias Frell" leads to "fired
//! tobias", which the question "do I have an agent?" does not find (`session/search/later.rs`). Both stand side by side, and the reader
//! sees by their days which one holds.

use std::cell::{Cell, OnceCell};
use std::sync::Arc;

use super::excerpt::{self, Excerpts};
use super::retrieved::{Asked, Shown};
use crate::Result;
use crate::context::{History, Item};
use crate::gate;
use crate::recall::Recall;
use crate::recall::ranking::SURE_ENOUGH;
use crate::recall::ranking::later::{MOST_OF_ONE, MOST_SHOWN, STATEMENTS};
use crate::session::search::{Found, Later, Row, SessionIds, Statement, Transcripts};
use crate::session::transcript::message::MessageRecord;
use crate::store::pages::Pages;
use crate::units::score::SCORE_UNIT;

/// The best memory and the best message.
const FIRST: usize = 2;
/// Words that stand for somebody or something that was named before.
const THE_SAME: [&str; 11] = ["he", "him", "his", "she", "her", "they", "them", "their", "it", "its", "we"];
/// So many words of a text are looked at for one of them.
const FIRST_WORDS: usize = 8;
/// The most bytes that are shown of a message that something else led to.
const MOST_BYTES: usize = 300;

/// A statement that a prompt recalls, and its score there.
struct Recalled<'i> {
    text: &'i str,
    at: i64,
    score: i64,
}

/// The place of what was said later, where the prompt has it already.
#[derive(PartialEq)]
enum Known {
    Memory(usize),
    Message(usize),
}

/// How it went with a later message.
#[derive(PartialEq)]
enum Reached {
    New,
    /// The prompt shows it anyway, or has room for no more.
    Before,
    /// It may not be shown: it is nobody's statement, a copy, or off the record. Another may take its place.
    Never,
}

/// The later messages that statements led to.
#[derive(Default)]
struct Led {
    /// Those that the prompt has, with the least score that each is to have.
    known: Vec<(Known, i64)>,
    new: Vec<Shown>,
    /// So many of these there may be.
    most_new: usize,
    /// The text of each, and when it was said: what else was said of the same?
    next: Vec<(Arc<str>, i64)>,
}

impl Led {
    /// Whether a prompt has as many later messages as it may.
    fn is_full(&self) -> bool {
        self.known.len() + self.new.len() == MOST_SHOWN
    }

    fn adds(&mut self, item: Item, at: i64) {
        self.next.push((Arc::clone(&item.text), at));
        self.new.push(Shown { said_then: None, item });
    }

    /// Notes one that the prompt has; whether it is new here.
    fn knows(&mut self, place: Known, score: i64, statement: (Arc<str>, i64)) -> bool {
        let is_new = !self.known.iter().any(|(known, _)| *known == place);
        if is_new {
            self.known.push((place, score));
            self.next.push(statement);
        }
        is_new
    }
}

impl Asked<'_> {
    /// Adds to what a prompt recalls the messages that were said later of the same as the best of it, and of the same as these, or raises
    /// them where they were found and are behind. The memory that a message taught stands in its place. The messages that the best memory and
    /// the best message led to have their scores, and all others the least score of all that is followed. Where the session wants only so
    /// many messages, they take at most half of the places, and the weakest of all make room.
    pub(super) fn follow<P: Pages>(
        &self,
        (pages, transcripts): (&P, &Transcripts<'_, P>),
        (answer, memories): (&Recall, &mut [Item]),
        messages: &mut Vec<Shown>,
        history: &dyn History,
    ) -> Result<()> {
        if !self.follows() || !self.reaches_out(pages, history)? {
            return Ok(());
        }
        let most = self.record.recalls.messages.map_or(usize::MAX, |most| most as usize);
        let recalled = self.recalled(pages, (answer, memories), messages)?;
        let least = recalled.iter().map(|one| one.score).min().unwrap_or(0);
        let mut led = Led { most_new: (most / 2).max(most.saturating_sub(messages.len())), ..Led::default() };
        let later = &mut Later::new(transcripts, self.scope, self.question)?;
        self.lead((pages, later), &recalled, (answer, messages), history, &mut led)?;
        let next = std::mem::take(&mut led.next);
        let next: Vec<Recalled<'_>> = next.iter().take(STATEMENTS).map(|(text, at)| Recalled { text, at: *at, score: least }).collect();
        if !next.is_empty() && !led.is_full() {
            self.lead((pages, later), &next, (answer, messages), history, &mut led)?;
        }
        for (place, score) in led.known {
            let item = match place {
                Known::Memory(at) => &mut memories[at],
                Known::Message(at) => &mut messages[at].item,
            };
            if item.form.newer_at.is_none() {
                item.score = item.score.max(Some(score));
            }
        }
        messages.append(&mut led.new);
        while messages.len() > most {
            let weakest = messages.iter().enumerate().rev().min_by_key(|(_, one)| one.item.score).map_or(0, |(at, _)| at);
            messages.remove(weakest);
        }
        Ok(())
    }

    /// Adds what some statements lead to, each with what its speaker said next where that speaks of the same: "had a row with tobias", "so I
    /// fired him".
    fn lead<P: Pages>(
        &self,
        (pages, later): (&P, &mut Later<'_, P>),
        recalled: &[Recalled<'_>],
        (answer, messages): (&Recall, &[Shown]),
        history: &dyn History,
        led: &mut Led,
    ) -> Result<()> {
        let statements: Vec<Statement<'_>> = recalled.iter().map(|one| Statement { text: one.text, at: one.at }).collect();
        let mut found = later.of(&statements)?;
        for led_to in &mut found {
            led_to.retain(|(found, _)| self.is_asked(found));
        }
        let key = self.scope.seed(pages.secret()).terms;
        let mut sessions = SessionIds::default();
        let least = recalled.iter().map(|one| one.score).min().unwrap_or(0);
        let is_it = |found: &Found, one: &Shown| one.item.message.is_some_and(|message| message.document == u64::from(found.number));
        for (place, (one, led_to)) in recalled.iter().zip(&found).enumerate() {
            let score = if place < FIRST { one.score } else { least };
            let excerpts = OnceCell::new();
            let answering = |text: &str| excerpts.get_or_init(|| Excerpts::of(one.text, key)).answering(text, MOST_BYTES);
            let is_said = |text: &str| recalled.iter().any(|one| *one.text == *text);
            let mut reach = |found: &Found, at: i64, may_be: fn(&str) -> bool| {
                if led.is_full() || led.new.iter().any(|one| is_it(found, one)) {
                    return Ok::<_, crate::Error>(Reached::Before);
                }
                let known = match taught(pages, &mut sessions, found, answer)? {
                    Some(place) => Some((Known::Memory(place), answer.hits[place].memory.text.as_str().into())),
                    None => {
                        messages.iter().position(|one| is_it(found, one)).map(|place| (Known::Message(place), text_of(&messages[place])))
                    }
                };
                if let Some((place, text)) = known {
                    return Ok(match may_be(&text) && !gate::is_off_record(&text) {
                        true if led.knows(place, score, (text, at)) => Reached::New,
                        true => Reached::Before,
                        false => Reached::Never,
                    });
                }
                if led.new.len() >= led.most_new || self.stands_in_window(pages, found, history)? {
                    return Ok(Reached::Before);
                }
                let may_be_shown = Cell::new(false);
                let part = |text: &str| {
                    let span = if text.len() > MOST_BYTES { answering(text) } else { None };
                    may_be_shown.set(may_be(&excerpt::part(text, span)) && !gate::is_off_record(text));
                    span
                };
                let item = self.candidate(pages, &mut sessions, found, Some(score), &part)?;
                let is_new = |item: &Item| !is_said(&item.text) && led.new.iter().all(|one| *one.item.text != *item.text);
                let item = item.filter(|item| may_be_shown.get() && is_by_a_user(item) && is_new(item));
                Ok(item.map_or(Reached::Never, |item| {
                    led.adds(item, at);
                    Reached::New
                }))
            };
            let mut places = MOST_OF_ONE;
            for (found, at) in led_to {
                let reached = if places > 0 { reach(found, *at, |_| true)? } else { break };
                places -= usize::from(reached != Reached::Never);
                if reached == Reached::New
                    && let Some((next, at)) = later.next_statement(found)?
                {
                    reach(&next, at, speaks_of_the_same)?;
                }
            }
        }
        Ok(())
    }

    /// Whether the session wants what something else leads to: that may answer the question, and answers need not be surer than they mostly
    /// are.
    fn follows(&self) -> bool {
        let recalls = &self.record.recalls;
        self.follows && recalls.messages != Some(0) && recalls.sure_enough(SURE_ENOUGH) <= SURE_ENOUGH
    }

    /// Whether the window shows a message, or the copy of it that a fork has.
    fn stands_in_window<P: Pages>(&self, pages: &P, found: &Found, history: &dyn History) -> Result<bool> {
        let own = Found { place: self.place, ..*found };
        if found.place == self.place || !self.is_whole_in_window(&own, history)? {
            return self.is_whole_in_window(found, history);
        }
        let said_at = |place| Ok::<_, crate::Error>(MessageRecord::read(pages, place, found.index)?.map(|record| record.said_at()));
        Ok(said_at(self.place)? == said_at(found.place)?)
    }

    /// The best memories of the scope and the best messages of its users, in turn, each text once.
    fn recalled<'i, P: Pages>(
        &self,
        pages: &P,
        (answer, memories): (&'i Recall, &[Item]),
        messages: &'i [Shown],
    ) -> Result<Vec<Recalled<'i>>> {
        let least = (self.record.recalls.sure_enough(SURE_ENOUGH) * SCORE_UNIT) as i64;
        let of_memory = |(hit, item): (&'i crate::recall::Hit, &Item)| {
            let score = item.score.filter(|score| *score >= least)?;
            let is_own = answer.partition_of(hit) == self.place.partition && hit.newer_at.is_none();
            is_own.then(|| Recalled { text: &hit.memory.text, at: hit.memory.occurred_at, score })
        };
        let mut memories = answer.hits.iter().zip(memories).filter_map(of_memory).take(STATEMENTS);
        let mut messages = messages.iter().filter(|one| is_by_a_user(&one.item)).take(STATEMENTS);
        let mut all: Vec<Recalled<'i>> = Vec::with_capacity(2 * STATEMENTS);
        loop {
            let (memory, message) = (memories.next(), messages.next());
            if memory.is_none() && message.is_none() {
                return Ok(all);
            }
            all.extend(memory);
            let Some((item, message)) = message.and_then(|one| Some((&one.item, one.item.message?))) else { continue };
            let score = item.score.unwrap_or(0);
            if let Some(one) = all.iter_mut().find(|one| *one.text == *item.text) {
                one.score = one.score.max(score);
                continue;
            }
            // The model may speak under a name.
            let of_others = |row: Row<'_>| row.at.filter(|_| row.by_model != Some(true));
            if let Some(at) = Row::look(pages, self.place.partition, message.document as u32, of_others)?.flatten() {
                all.push(Recalled { text: &item.text, at, score });
            }
        }
    }
}

/// Whether a text begins with words that speak of somebody or something that was named before.
fn speaks_of_the_same(text: &str) -> bool {
    let mut words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()).take(FIRST_WORDS);
    words.any(|word| THE_SAME.iter().any(|known| word.eq_ignore_ascii_case(known)))
}

fn text_of(one: &Shown) -> Arc<str> {
    Arc::clone(&one.item.text)
}

/// Whether neither the model nor a tool said it.
fn is_by_a_user(item: &Item) -> bool {
    item.attributes.iter().any(|(name, by)| **name == *"by" && !["assistant", "tool", "system", "developer"].contains(&&**by))
}

/// The place of the memory that a message taught among those of an answer.
fn taught<P: Pages>(pages: &P, sessions: &mut SessionIds, found: &Found, answer: &Recall) -> Result<Option<usize>> {
    let may_be =
        |hit: &crate::recall::Hit| hit.memory.provenance.message == Some(found.index) && answer.partition_of(hit) == found.place.partition;
    if !answer.hits.iter().any(may_be) {
        return Ok(None); // as mostly, and no session is looked up
    }
    let session = sessions.of(pages, found.place)?;
    let is_it =
        |hit: &crate::recall::Hit| may_be(hit) && session.is_some() && hit.memory.provenance.session.as_deref() == session.as_deref();
    Ok(answer.hits.iter().position(is_it))
}
