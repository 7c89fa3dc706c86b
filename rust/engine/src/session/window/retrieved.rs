//! Retrieved texts that a prompt may show beside memories: messages outside of its window, and passages of the session's collections.
//!
//! Both are candidates of the volatile block like recalled memories. Messages come in the order of the search, as many as there is room for;
//! each must be sure enough of itself, so that a question which nothing answers brings nothing. A message that only asks, or only says that
//! it does not know, answers nothing and is never one. Of a long one the part that answers is shown. A message is kept in the ledger by reference, so that redacting it takes it out of old
//! prompts; a passage is kept as text, because documents are replaced.

use std::sync::Arc;

use super::excerpt;
use crate::Result;
use crate::collection;
use crate::context::limit::section;
use crate::context::{Form, History, Item, Message, MessageRef};
use crate::embedding;
use crate::memory::Core;
use crate::recall::{self, Question, Request};
use crate::scope::Scope;
use crate::session::key::{SessionKey, SessionsHead};
use crate::session::recalls::role_of;
use crate::session::record::SessionRecord;
use crate::session::search::{self, Found, SessionIds};
use crate::session::transcript::message::{MessageRecord, MessageState};
use crate::session::transcript::words::text_of;
use crate::store::keys::Partition;
use crate::store::pages::Pages;
use crate::text::speech;
use crate::units::calendar::iso_date;
use crate::units::clip::clip;
use crate::units::score::SCORE_UNIT;

/// Messages that are looked at beyond those that are wanted, since the best are often in the window.
const BEYOND: u64 = 16;
/// The most messages that are looked for.
const MOST_MESSAGES: u64 = 128;
/// The fewest tokens that a message is taken for when it is reckoned how many there is room for: its frame and a few words.
const LEAST_TOKENS: u64 = 24;
/// Bytes that are reckoned for a token: more than English text has.
const BYTES_A_TOKEN: u64 = 4;
/// The most bytes that are shown of a message.
const EXCERPT_BYTES: usize = 1_200;
/// The fewest that are worth a frame.
const LEAST_EXCERPT: usize = 160;
/// A message without a word of the question must mean it: "yes" is near to every short question.
const NEAR: f64 = 0.5;
/// Where the best is less sure than this there is no answer, and nothing of the source is shown. Of ten questions that a conversation of
/// LoCoMo knows nothing of none passes .2, and two pass .1 (2026-11-22).
const LEAST: f64 = 0.15;
/// A message behind the best must reach a quarter of that. A tenth fills a prompt of 2,000 tokens to 1,818 and shows less of the evidence,
/// 86.2 % instead of 88.1 (docs/decisions/0026 has the figures).
const BEHIND_THE_BEST: f64 = 0.25;

/// The query to the transcripts of a scope.
pub(in crate::session) struct Asked<'a> {
    pub scope: &'a Scope,
    pub place: SessionKey,
    pub record: &'a SessionRecord,
    /// The first message of the window.
    pub start: u64,
    pub question: &'a Question,
    /// The time now, microseconds since 1970 (UTC).
    pub now: i64,
    /// Tokens that what is recalled may have, about.
    pub room: u64,
}

/// Messages before the window of a session, shortened in it, or of other sessions of its scope: in the order of the search, as
/// much as there is room for.
pub(in crate::session) fn messages<P: Pages>(pages: &P, asked: &Asked<'_>, history: &dyn History) -> Result<Vec<Item>> {
    let recalls = &asked.record.recalls;
    let wanted = recalls.messages.unwrap_or(MOST_MESSAGES).min(asked.room / LEAST_TOKENS + 1).min(MOST_MESSAGES);
    if wanted == 0 || asked.question.text().trim().is_empty() || speech::is_courtesy(asked.question.text()) {
        return Ok(Vec::new());
    }
    if asked.start == 0 && !asked.elsewhere(pages)? && !asked.shortened(history)? {
        return Ok(Vec::new());
    }
    let limit = (wanted + BEYOND) as usize;
    let request = search::Request::new(asked.question.text(), limit, asked.now);
    let hits = search::found(pages, asked.place.partition, asked.scope, &request, asked.question)?;
    let mut surest = 0.0;
    for found in hits.iter().filter(|found| asked.is_asked(found)) {
        if asked.sureness(found) > surest && asked.is_outside(found, history)? {
            surest = asked.sureness(found);
        }
    }
    if surest < recalls.sure_enough(LEAST) {
        return Ok(Vec::new());
    }
    let (mut items, mut left, mut best) = (Vec::new(), asked.room.saturating_mul(BYTES_A_TOKEN), None);
    let mut sessions = SessionIds::default();
    for found in hits {
        if items.len() as u64 == wanted || left == 0 {
            break;
        }
        if !asked.may_show(&found) {
            continue;
        }
        let first = *best.get_or_insert(found.score.max(1));
        let score = surest * (found.score as f64 / first as f64).min(1.0) * SCORE_UNIT;
        if !asked.is_whole_in_window(&found, history)?
            && let Some(item) = asked.candidate(pages, &mut sessions, &found, Some(score as i64))?
        {
            left = left.saturating_sub(item.text.len() as u64 + LEAST_TOKENS / 2 * BYTES_A_TOKEN);
            items.push(item);
        }
    }
    Ok(items)
}

impl Asked<'_> {
    /// Whether the scope has messages of other sessions that may be recalled.
    fn elsewhere<P: Pages>(&self, pages: &P) -> Result<bool> {
        let last = SessionsHead::read(pages, self.place.partition)?.last_document;
        Ok(self.record.recalls.other_sessions && u64::from(last) > self.record.tally.messages)
    }

    /// Whether the window shows tool results shorter than they are.
    fn shortened(&self, history: &dyn History) -> Result<bool> {
        for index in self.start..history.messages() {
            if is_shortened(history, index)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the window does not show a message, or shows it shorter than it is. A message that it shows whole answers a question
    /// already, and says nothing of how sure the others are.
    fn is_outside(&self, found: &Found, history: &dyn History) -> Result<bool> {
        let is_newest = found.index + 1 >= self.record.tally.messages;
        Ok(found.place.session != self.place.session || found.index < self.start || !is_newest && is_shortened(history, found.index)?)
    }

    /// Whether the window shows a message as it was given: then nothing of it is read.
    fn is_whole_in_window(&self, found: &Found, history: &dyn History) -> Result<bool> {
        let in_window = found.place.session == self.place.session && found.index >= self.start;
        Ok(in_window && found.index < history.messages() && !is_shortened(history, found.index)?)
    }

    /// Whether a message, or what stands around it, is sure enough, and it is of a session that is asked.
    fn may_show(&self, found: &Found) -> bool {
        let around = if self.question.is_known() { found.features.sureness_around() } else { 0.0 };
        self.is_asked(found) && self.sureness(found).max(around) >= BEHIND_THE_BEST * self.record.recalls.sure_enough(LEAST)
    }

    /// Whether a message is near to the question, and of a session that is asked. "5 years already!" is, behind "How long have you been
    /// married?".
    fn is_asked(&self, found: &Found) -> bool {
        let near = found.features.words > 0.0 || found.features.window > 0.0 || found.features.meaning >= NEAR;
        let own = found.place.session == self.place.session;
        near && (own || self.record.recalls.other_sessions)
    }

    /// How sure a message is to answer; by its words alone where the built-in embedding does not know the question's.
    fn sureness(&self, found: &Found) -> f64 {
        if self.question.is_known() { found.confidence } else { found.features.words }
    }

    /// The item of a message; `None` where it is in the window as it is, is of nobody who is asked, or answers nothing.
    fn candidate<P: Pages>(&self, pages: &P, sessions: &mut SessionIds, found: &Found, score: Option<i64>) -> Result<Option<Item>> {
        if found.is_empty == Some(true) {
            return Ok(None);
        }
        let in_window = found.place.session == self.place.session && found.index >= self.start;
        let reference = MessageRef {
            partition: found.place.partition.into(),
            session: found.place.session.into(),
            index: found.index,
            document: found.number.into(),
        };
        let Some(record) = given(pages, found.place, reference)? else { return Ok(None) };
        if in_window && record.shown.is_empty() {
            return Ok(None);
        }
        let Some(session_id) = sessions.of(pages, found.place)? else { return Ok(None) };
        let told = Told::of(pages, reference, session_id, record)?;
        if !self.record.recalls.roles.have(&told.message) || found.is_empty.is_none() && told.is_of_no_use(found) {
            return Ok(None);
        }
        let most = (self.room.saturating_mul(BYTES_A_TOKEN - 1) as usize).clamp(LEAST_EXCERPT, EXCERPT_BYTES);
        let span = excerpt::answering(self.question.text(), &told.text, self.scope.seed(pages.secret()).terms, most);
        if in_window && told.shows(span) {
            return Ok(None);
        }
        Ok(Some(told.item(score, Form { span, ..Form::dated() })))
    }
}

/// Whether a tool result of a message is shown shorter than it is.
fn is_shortened(history: &dyn History, index: u64) -> Result<bool> {
    Ok(history.message(index)?.message.tool_results().any(|result| result.key.is_some()))
}

/// The record of a message that is there as it was given; `None` where it is not there any more, or not what it was.
fn given<P: Pages>(pages: &P, place: SessionKey, reference: MessageRef) -> Result<Option<MessageRecord>> {
    let is_same = |record: &MessageRecord| u64::from(record.document) == reference.document && record.state == MessageState::Given;
    Ok(MessageRecord::read(pages, place, reference.index)?.filter(is_same))
}

/// A message with what it says.
struct Told {
    reference: MessageRef,
    session_id: Arc<str>,
    record: MessageRecord,
    message: Message,
    text: String,
}

impl Told {
    /// `None` where it is not there any more, or not what it was.
    fn read<P: Pages>(pages: &P, reference: MessageRef) -> Result<Option<Self>> {
        let place = SessionKey { partition: reference.partition as Partition, session: reference.session as u32 };
        let Some(session_id) = SessionRecord::read_id(pages, place)? else { return Ok(None) };
        given(pages, place, reference)?.map(|record| Self::of(pages, reference, session_id.into(), record)).transpose()
    }

    fn of<P: Pages>(pages: &P, reference: MessageRef, session_id: Arc<str>, record: MessageRecord) -> Result<Self> {
        let place = SessionKey { partition: reference.partition as Partition, session: reference.session as u32 };
        let message = record.whole(pages, place)?;
        let text = text_of(&message);
        Ok(Self { reference, session_id, record, message, text })
    }

    /// Whether a message answers nothing whose row is older than format 5: versions up to 0.3.0 stored a vector of what the table does not
    /// know, and no row said what its text does.
    fn is_of_no_use(&self, found: &Found) -> bool {
        found.features.words <= 0.0 && !embedding::knows(&self.text)
            || role_of(&self.message).0 != "tool" && speech::answers_nothing(&self.text)
    }

    /// Whether the shortened results that a window shows have a part already.
    fn shows(&self, span: Option<(u64, u64)>) -> bool {
        let Some((start, length)) = span else { return true };
        let part = self.text.get(start as usize..(start + length) as usize).unwrap_or_default();
        self.record.shown.iter().any(|(_, shown)| shown.contains(part))
    }

    fn item(self, score: Option<i64>, form: Form) -> Item {
        let (attributes, text) = if form.version >= Form::DATED {
            (self.short_frame(), excerpt::part(&self.text, form.span).into())
        } else {
            (self.first_frame(), head(&self.text))
        };
        Item {
            section: section::RECALLED.into(),
            id: format!("{}#{}", self.session_id, self.reference.index).into(),
            attributes,
            text,
            memory: None,
            message: Some(self.reference),
            form,
            score,
        }
    }

    /// Who said it, and when.
    fn short_frame(&self) -> Vec<(Box<str>, Box<str>)> {
        let by = self.message.name.as_deref().unwrap_or_else(|| role_of(&self.message).0);
        vec![("by".into(), by.into()), ("on".into(), self.date().into())]
    }

    fn first_frame(&self) -> Vec<(Box<str>, Box<str>)> {
        let mut attributes: Vec<(Box<str>, Box<str>)> =
            vec![("kind".into(), "message".into()), ("role".into(), self.message.role.name().into())];
        if let Some(name) = &self.message.name {
            attributes.push(("name".into(), (&**name).into()));
        }
        attributes.push(("session".into(), (&*self.session_id).into()));
        attributes.push(("date".into(), self.date().into()));
        attributes
    }

    fn date(&self) -> String {
        iso_date(self.record.created_at.unwrap_or(self.record.added_at))
    }
}

/// A message as a prompt showed it; `None` where it is not there any more, or not what it was.
pub(in crate::session) fn said<P: Pages>(pages: &P, message: MessageRef, score: Option<i64>, form: Form) -> Result<Option<Item>> {
    Ok(Told::read(pages, message)?.map(|told| told.item(score, form)))
}

/// The beginning of a text, as [`Form::FIRST`] shows it.
fn head(text: &str) -> Arc<str> {
    if text.len() <= EXCERPT_BYTES {
        return text.into();
    }
    format!("{}\u{2026}", clip(text, EXCERPT_BYTES)).into()
}

/// Passages of the session's collections that answer the question, and why vectors were not used where that is so.
pub(in crate::session) fn passages<P: Pages>(
    engine: &Core,
    pages: &P,
    record: &SessionRecord,
    request: &Request,
) -> Result<(Vec<Item>, Option<String>)> {
    let recalls = &record.recalls;
    if record.collections.is_empty() || recalls.passages == 0 {
        return Ok((Vec::new(), None));
    }
    let mut asked =
        collection::Request::new(request.text.clone(), record.collections.clone(), recalls.passages as usize, request.filter.now);
    asked.vector.clone_from(&request.vector);
    let answer = collection::search::search(engine, pages, &asked)?;
    let mut items = Vec::with_capacity(answer.hits.len());
    for hit in &answer.hits {
        let sure = recall::confidence(answer.queries.get(hit.collection), &hit.indexed(), &hit.parts);
        if sure < recalls.sure_enough(LEAST) {
            continue;
        }
        let (document, collection) = (&hit.document, &record.collections[hit.collection].name);
        let mut attributes: Vec<(Box<str>, Box<str>)> =
            vec![("source".into(), format!("{collection}/{}", document.id).into()), ("version".into(), document.version.as_str().into())];
        if !hit.path.is_empty() {
            attributes.push(("heading".into(), hit.path.join(" > ").into()));
        }
        items.push(Item {
            section: section::RETRIEVED.into(),
            id: format!("{collection}/{}#{}-{}", document.id, hit.characters.start, hit.characters.end).into(),
            attributes,
            text: hit.text.as_str().into(),
            memory: None,
            message: None,
            form: Form::dated(),
            score: Some((sure * SCORE_UNIT) as i64),
        });
    }
    Ok((items, answer.degraded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_ends_between_characters() {
        assert_eq!(&*head("short"), "short");
        let long = "\u{e9}".repeat(EXCERPT_BYTES);
        let shown = head(&long);
        assert!(shown.len() <= EXCERPT_BYTES + 3 && shown.ends_with('\u{2026}'));
        assert!(shown.trim_end_matches('\u{2026}').chars().all(|one| one == '\u{e9}'));
    }
}
