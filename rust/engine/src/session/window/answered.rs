//! The answers to the question of a prompt: memories, messages of the scope, and passages, as items that compete for its room.

use std::cell::OnceCell;

use super::assemble::{Ask, effective, items_of};
use super::of_time::of_time;
use super::recalled::Recalled;
use super::replaced::Replaced;
use super::retrieved::{self, Asked};
use super::room::RoomLeft;
use super::warm::WarmFixed;
use crate::Result;
use crate::context::explain::Explained;
use crate::context::message::Part;
use crate::context::{History, Item, MemoryRef, Message, Role};
use crate::memory::Core;
use crate::recall::ranking::SURE_ENOUGH;
use crate::recall::{self, Corrections, Filter, Overview, Question, Recall, Request};
use crate::scope::Scope;
use crate::session::asking::asking;
use crate::session::key::SessionKey;
use crate::session::recalls::Recalls;
use crate::session::record::SessionRecord;
use crate::session::reply::refused;
use crate::session::search::{Asking, Transcripts};
use crate::session::stored_epoch::StoredEpoch;
use crate::session::transcript::view::View;
use crate::store::pages::Pages;

/// The prompt that a question is asked for, as far as it stands.
pub(super) struct AskedFor<'g, 's, P> {
    pub engine: &'g Core,
    pub pages: &'s P,
    pub scope: &'g Scope,
    pub place: SessionKey,
    pub record: &'g SessionRecord,
    pub epoch: &'g StoredEpoch,
    pub fixed: &'g WarmFixed,
    /// The items of its block that nothing was asked for.
    pub volatile: &'g [Item],
    pub view: &'g View<'s, P>,
    pub ask: &'g Ask,
}

/// The question, and the memories that answer it.
pub(super) struct Answered {
    pub request: Request,
    pub answer: Recall,
    question: Question,
    asking: Asking,
}

/// All that answers it.
pub(super) struct Answers {
    pub items: Vec<Item>,
    /// Passages that are not sure enough.
    pub left_out_passages: Vec<Explained>,
    /// Why collections were searched by words alone, where they were.
    pub degraded: Option<String>,
    /// The most tokens that recalled text may have.
    pub most_recalled: u64,
}

impl Answers {
    pub fn none() -> Self {
        Self { items: Vec::new(), left_out_passages: Vec::new(), degraded: None, most_recalled: u64::MAX }
    }
}

impl<P: Pages> AskedFor<'_, '_, P> {
    /// Asks the memories of some scopes; `None` where there is nothing to ask.
    pub fn memory(&self, scopes: Vec<Scope>) -> Result<Option<Answered>> {
        let asked = match &self.ask.query {
            Some(query) => Some((query.clone(), Asking::ByCaller)),
            None => newest_question(self.view)?.map(|(index, text)| (text, Asking::ByMessage(self.place.session, index))),
        };
        let Some((text, asking)) = asked.filter(|(text, _)| !text.trim().is_empty()) else { return Ok(None) };
        let mut request = memory_request(text, self.ask, scopes, &self.record.recalls);
        let memories = request.limit;
        let question = Question::new(&request.text);
        if memories == 0 || question.asks_nothing() {
            return Ok(Some(Answered { request, answer: Recall::default(), question, asking }));
        }
        if question.overview() != Some(Overview::User) {
            let answer = recall::answer(self.engine, self.pages, &request, &question)?;
            return Ok(Some(Answered { request, answer, question, asking }));
        }
        // Memories that stand in the prompt already are among the first of what answers, and take no place of others.
        let stand: Vec<MemoryRef> = items_of(&self.fixed.fixed).iter().chain(self.volatile).filter_map(|item| item.memory).collect();
        request.limit += stand.len();
        let mut answer = recall::answer(self.engine, self.pages, &request, &question)?;
        let (mut hits, mut left) = (std::mem::take(&mut answer.hits), memories);
        hits.retain(|hit| {
            let place = (u64::from(answer.partition_of(hit)), u64::from(hit.memory.number));
            let stands = stand.iter().any(|one| (one.partition, one.memory) == place);
            let stays = stands || left > 0;
            left = if stands { left } else { left.saturating_sub(1) };
            stays
        });
        answer.hits = hits;
        Ok(Some(Answered { request, answer, question, asking }))
    }

    /// The items that answer the question: memories, then messages, then passages. Words that it was read as are added to its answer.
    pub fn answers(&self, answered: &mut Answered) -> Result<Answers> {
        let Self { engine, pages, place, record, epoch, ask, .. } = *self;
        let Answered { request, answer, question, asking } = answered;
        let memories = self.memories(request, question, answer)?;
        let passages = retrieved::passages(engine, pages, record, request, question)?;
        let budget = effective(&record.budget, &epoch.model, ask);
        let limit = refused::limit(pages, place, &epoch.model.name, budget.limit(&epoch.model)?.0)?;
        let room = RoomLeft::of(limit, &budget.sections, epoch, &self.fixed.fixed, self.view)?;
        let asked = Asked {
            scope: self.scope,
            place,
            record,
            start: room.start,
            left_out: room.left_out,
            question,
            excerpts: OnceCell::new(),
            asking: *asking,
            now: ask.now,
            preferred: request.filter.preferred,
            room: room.tokens,
            replaced: &self.replaced(answer)?,
            superseded: &*engine.superseded(pages, place.partition)?,
            of_now: recall::is_of_now(&request.filter, question),
            follows: recall::may_be_of_now(&request.filter, question),
        };
        let (mut items, corrections) = self.with_messages(&asked, memories, answer)?;
        for one in corrections.into_iter().chain(passages.corrections) {
            if !answer.corrections.contains(&one) {
                answer.corrections.push(one);
            }
        }
        items.extend(passages.shown);
        Ok(Answers { items, left_out_passages: passages.left_out, degraded: passages.degraded, most_recalled: room.most_recalled })
    }

    fn memories(&self, request: &Request, question: &Question, answer: &Recall) -> Result<Vec<Item>> {
        let least = if recall::is_filled(request, question) { SURE_ENOUGH } else { 0.0 };
        let recalled = Recalled { now: self.ask.now, least, follows: request.filter.fills };
        recalled.items(self.pages, answer, |partition| self.epoch.form_of(partition, self.place.partition))
    }

    /// The messages that told what the memories of the block, or of an answer, replaced.
    fn replaced(&self, answer: &Recall) -> Result<Vec<Replaced>> {
        let mut replaced = self.fixed.pinned.replaced.clone();
        for hit in &answer.hits {
            Replaced::by(self.pages, answer.partition_of(hit), &hit.memory, &mut replaced)?;
        }
        Ok(replaced)
    }

    /// The memories and the messages that answer the question, and the words that it was read as.
    fn with_messages(&self, asked: &Asked<'_>, mut memories: Vec<Item>, answer: &Recall) -> Result<(Vec<Item>, Corrections)> {
        let transcripts = Transcripts::new(self.pages, self.place.partition);
        let source = (self.pages, &transcripts);
        let (mut messages, corrections) = retrieved::messages(source, asked, self.view)?;
        if asked.question.overview().is_some_and(Overview::is_of_time) {
            let elsewhere = [items_of(&self.fixed.fixed), self.volatile];
            return Ok((of_time(memories, answer, messages, asked.room, &elsewhere), corrections));
        }
        asked.follow(source, (answer, &mut memories), &mut messages, self.view)?;
        memories.extend(messages.into_iter().map(|one| one.item));
        Ok((memories, corrections))
    }
}

/// A question to the memory of some scopes.
pub(super) fn memory_request(text: String, ask: &Ask, scopes: Vec<Scope>, recalls: &Recalls) -> Request {
    let by_clock = ask.time.as_ref().filter(|(_, question)| *question == text);
    let preferred = by_clock.map_or_else(|| recall::when::read(&text, ask.now, 0), |(time, _)| *time);
    Request {
        text,
        vector: ask.vector.clone(),
        scopes,
        limit: recalls.memories as usize,
        filter: Filter { preferred, relevant_only: true, fills: recalls.fills(), ..Filter::all(ask.now) },
        min_score: 0.0,
        max_tokens: None,
    }
}

/// The index of the user's last message, and what it asks memory.
pub(in crate::session) fn newest_question(history: &dyn History) -> Result<Option<(u64, String)>> {
    let Some(turn) = history.turns().checked_sub(1) else { return Ok(None) };
    let start = history.turn_start(turn)?;
    for index in (start..history.messages()).rev() {
        let stored = history.message(index)?;
        if stored.message.opens_turn() {
            return Ok(Some((index, question(&stored.message))));
        }
    }
    Ok(None)
}

/// The question that a message [asks](asking) memory.
fn question(message: &Message) -> String {
    debug_assert_eq!(message.role, Role::User);
    let texts = message.parts.iter().filter_map(|part| if let Part::Text(said) = part { Some(&**said) } else { None });
    let text: String = texts.flat_map(|said| [said, "\n"]).collect();
    asking(&text).into_owned()
}
