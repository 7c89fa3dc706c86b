//! Retrieved texts that a prompt may show beside memories: messages outside of its window, and passages of the session's collections.
//!
//! Both are candidates of the volatile block like recalled memories. Messages come in the order of the search, as many as there is room for;
//! each must be sure enough of itself, so that a question which nothing answers brings nothing. A message with more tokens than the search
//! compares is as sure as its part that answers ([`Asked::look_closer`]). A message that only asks, or only says that
//! it does not know, answers nothing and is never one. Of a long one the part that answers is shown. A message is kept in the ledger by reference, so that redacting it takes it out of old
//! prompts; a passage is kept as text, because documents are replaced, beside the number of its document, with which it goes.
//!
//! The answers to a question that asks for a time alone come from all of that time, and stand in its order (`of_time.rs`).

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use super::called;
use super::excerpt::{self, Excerpts};
use super::replaced::{Replaced, Said, said_before, speaker_of};
use crate::Result;
use crate::collection;
use crate::context::limit::section;
use crate::context::{DocumentRef, Explained, Form, History, Item, Message, MessageRef, Role, Why};
use crate::embedding;
use crate::memory::Core;
use crate::memory::superseded::ByMessage;
use crate::recall::ranking::{BEHIND_THE_BEST, BEHIND_THE_CURRENT, FILLS, NEAR, SURE_ENOUGH, WELL_SURE};
use crate::recall::when;
use crate::recall::{self, Corrections, Overview, Question, Request};
use crate::scope::Scope;
use crate::session::key::{SessionKey, SessionsHead};
use crate::session::recalls::role_of;
use crate::session::record::SessionRecord;
use crate::session::search::{self, Asking, Found, SessionIds, Transcripts};
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
/// The most messages that are looked for where the caller names no number.
const MOST_MESSAGES: u64 = 128;
/// The fewest tokens that a message is taken for when it is reckoned how many there is room for: its frame and a few words.
pub(super) const LEAST_TOKENS: u64 = 24;
/// Words of a message at least that has none of the question and stands beside none that has: "yes" is near to every short one.
const LEAST_WORDS: usize = 3;
/// Letters of one word at least that tells something behind an exclamation mark.
const LEAST_LETTERS: usize = 6;
/// Bytes that are reckoned for a token of all messages together.
const BYTES_A_TOKEN: u64 = 4;
/// And for one of a single message, which may have more tokens than usual.
pub(super) const LEAST_BYTES_A_TOKEN: u64 = 3;
/// The most bytes that are shown of a message.
const EXCERPT_BYTES: usize = 1_200;
/// The fewest that are worth a frame.
const LEAST_EXCERPT: usize = 160;
/// So many of the best messages are read and looked at closer, where they have more tokens than the search compares.
const LOOKED_CLOSER: usize = 8;

/// The most bytes that are shown of a message which answers by when it was said: there are mostly several.
const BYTES_OF_A_TIME: usize = 400;
/// Tokens that such a message is taken for when it is reckoned how many there is room for.
const TOKENS_OF_A_TIME: u64 = 48;

/// Where the part of a text stands that answers: its start and length; `None` for all of it.
pub(super) type Span = Option<(u64, u64)>;

/// A question to the transcripts of a scope.
pub(in crate::session) struct Asked<'a> {
    pub scope: &'a Scope,
    pub place: SessionKey,
    pub record: &'a SessionRecord,
    /// The first message of the window.
    pub start: u64,
    /// Messages behind it that the window leaves out.
    pub left_out: Range<u64>,
    pub question: &'a Question,
    /// The same as parts of long messages are compared with it, once there is one.
    pub excerpts: OnceCell<Excerpts>,
    /// Who asks it.
    pub asking: Asking,
    /// The time now, microseconds since 1970 (UTC).
    pub now: i64,
    /// The time that the question asks about.
    pub preferred: Option<when::Range>,
    /// Tokens that what is recalled may have, about.
    pub room: u64,
    /// Messages that told what does not hold any more.
    pub replaced: &'a [Replaced],
    /// The messages of the scope that taught what was superseded since.
    pub superseded: &'a ByMessage,
    /// The question is about what holds now: these stand behind what replaced it.
    pub of_now: bool,
    /// Later messages about the same may answer it.
    pub follows: bool,
}

/// A message that a prompt may show.
pub(in crate::session) struct Shown {
    /// When it was said, where that alone makes it an answer.
    pub said_then: Option<i64>,
    pub item: Item,
}

/// Messages that were said before the window of a session, shortened in it, or said in other sessions of its scope: in the order of the
/// search, as many as there is room for. With them the words of the question that were read as others.
pub(in crate::session) fn messages<P: Pages>(
    (pages, transcripts): (&P, &Transcripts<'_, P>),
    asked: &Asked<'_>,
    history: &dyn History,
) -> Result<(Vec<Shown>, Corrections)> {
    let recalls = &asked.record.recalls;
    let least = if asked.question.overview().is_some_and(Overview::is_of_time) { TOKENS_OF_A_TIME } else { LEAST_TOKENS };
    let wanted = recalls.messages.unwrap_or(MOST_MESSAGES).min(asked.room / least + 1);
    if wanted == 0 || asked.question.asks_nothing() {
        return Ok(Default::default());
    }
    if !asked.reaches_out(pages, history)? {
        return Ok(Default::default());
    }
    let limit = (wanted + BEYOND) as usize;
    let request = search::Request {
        preferred: asked.preferred,
        asking: asked.asking,
        preferred_session: Some(asked.place.session),
        near: FILLS,
        answers_only: true,
        ..search::Request::new(asked.question.text(), limit, asked.now)
    };
    let (mut hits, corrections) = search::found(transcripts, asked.scope, &request, asked.question)?;
    let spans = asked.look_closer(pages, &mut hits, history)?;
    let mut surest = 0.0;
    for found in hits.iter().filter(|found| found.is_empty != Some(true) && asked.is_asked(found)) {
        let sure = found.confidence.max(found.follows);
        if sure > surest && asked.is_outside(found, history)? {
            surest = sure;
        }
    }
    if surest < recalls.sure_enough(SURE_ENOUGH) {
        return Ok((Vec::new(), corrections));
    }
    let least = if surest < WELL_SURE { recalls.sure_enough(SURE_ENOUGH).min(SURE_ENOUGH) * SCORE_UNIT } else { 0.0 };
    let (mut items, mut left, mut best) = (Vec::new(), asked.room.saturating_mul(BYTES_A_TOKEN), None);
    let mut sessions = SessionIds::default();
    let part = |number: u32, text: &str| spans.get(&number).copied().unwrap_or_else(|| asked.part_of(pages, text));
    for found in hits {
        if found.said_then.is_none() && (items.len() as u64 == wanted || left == 0) {
            break;
        }
        if !asked.may_show(&found) {
            continue;
        }
        let first = *best.get_or_insert(found.score.max(1));
        let score = surest * (found.score as f64 / first as f64).min(1.0) * SCORE_UNIT;
        if (score >= least || found.said_then.is_some())
            && !asked.is_whole_in_window(&found, history)?
            && let Some(item) = asked.candidate(pages, &mut sessions, &found, Some(score as i64), &|text| part(found.number, text))?
            && says_enough(&found, &item.text)
        {
            left = left.saturating_sub(item.text.len() as u64 + LEAST_TOKENS / 2 * BYTES_A_TOKEN);
            items.push(Shown { said_then: found.said_then, item });
        }
    }
    // Of a time all that there is room for, but no more than the caller allows.
    let most = recalls.messages.unwrap_or(u64::MAX);
    if items.len() as u64 > most {
        items = recall::spread(items, most as usize, |_| 0);
    }
    Ok((items, corrections))
}

impl Asked<'_> {
    /// Whether there is a message that the window does not show, or shows shorter than it is.
    pub(super) fn reaches_out<P: Pages>(&self, pages: &P, history: &dyn History) -> Result<bool> {
        Ok(self.start > 0 || !self.left_out.is_empty() || self.elsewhere(pages)? || self.shortened(history)?)
    }

    /// Whether the scope has messages of other sessions that may be recalled.
    fn elsewhere<P: Pages>(&self, pages: &P) -> Result<bool> {
        let head = SessionsHead::read(pages, self.place.partition)?;
        Ok(self.record.recalls.other_sessions && head.sessions > 1 && head.last_document > 0)
    }

    /// Whether the window shows tool results shorter than they are.
    fn shortened(&self, history: &dyn History) -> Result<bool> {
        for index in (self.start..history.messages()).filter(|index| !self.left_out.contains(index)) {
            if is_shortened(history, index)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the window has a message, shortened or whole.
    fn is_in_window(&self, found: &Found) -> bool {
        found.place.session == self.place.session && found.index >= self.start && !self.left_out.contains(&found.index)
    }

    /// Whether the window does not show a message, or shows it shorter than it is. A message that it shows whole answers a question
    /// already, and says nothing of how sure the others are.
    fn is_outside(&self, found: &Found, history: &dyn History) -> Result<bool> {
        let is_newest = found.index.saturating_add(1) >= self.record.tally.messages;
        Ok(!self.is_in_window(found) || !is_newest && is_shortened(history, found.index)?)
    }

    /// Whether the window shows a message as it was given: then nothing of it is read.
    pub(super) fn is_whole_in_window(&self, found: &Found, history: &dyn History) -> Result<bool> {
        Ok(self.is_in_window(found) && found.index < history.messages() && !is_shortened(history, found.index)?)
    }

    /// Whether a message, or what stands around it, is sure enough, and it is of a session that is asked.
    fn may_show(&self, found: &Found) -> bool {
        let around = if self.question.is_known() { found.features.sureness_around() } else { 0.0 };
        self.is_asked(found) && found.confidence.max(around) >= BEHIND_THE_BEST * self.record.recalls.sure_enough(SURE_ENOUGH)
    }

    /// Whether a message is of a session that is asked.
    pub(super) fn is_asked(&self, found: &Found) -> bool {
        found.place.session == self.place.session || self.record.recalls.other_sessions
    }

    /// Finds the part that answers of the best messages that have more tokens than the search compares, by the number of their documents.
    /// They become as sure as that part is: the search knows their beginnings alone.
    fn look_closer<P: Pages>(&self, pages: &P, hits: &mut [Found], history: &dyn History) -> Result<BTreeMap<u32, Span>> {
        let mut spans = BTreeMap::new();
        if !self.question.is_known() {
            return Ok(spans);
        }
        let is_cut = |found: &&mut Found| found.is_cut && found.said_then.is_none() && found.is_empty != Some(true) && self.is_asked(found);
        for found in hits.iter_mut().filter(is_cut).take(LOOKED_CLOSER) {
            if self.is_whole_in_window(found, history)? {
                continue;
            }
            let Some(record) = given(pages, found.place, reference_of(found))? else { continue };
            let text = text_of(&record.whole(pages, found.place)?);
            let span = self.part_of(pages, &text);
            found.confidence = found.confidence_of_part(self.excerpts(pages).closeness(&text, span));
            spans.insert(found.number, span);
        }
        Ok(spans)
    }

    /// The part of a message that answers.
    fn part_of<P: Pages>(&self, pages: &P, text: &str) -> Span {
        if text.len() <= self.most_bytes() { None } else { self.excerpts(pages).answering(text, self.most_bytes()) }
    }

    fn excerpts<P: Pages>(&self, pages: &P) -> &Excerpts {
        self.excerpts.get_or_init(|| Excerpts::of(self.question.text(), self.scope.seed(pages.secret()).terms))
    }

    /// The most bytes that are shown of a message.
    fn most_bytes(&self) -> usize {
        (self.room.saturating_mul(LEAST_BYTES_A_TOKEN) as usize).clamp(LEAST_EXCERPT, EXCERPT_BYTES)
    }

    /// The item of a message, with its score; `None` where it is in the window as it is, is of nobody who is asked, or answers nothing.
    /// `part` is that of its text which is shown.
    pub(super) fn candidate<P: Pages>(
        &self,
        pages: &P,
        sessions: &mut SessionIds,
        found: &Found,
        score: Option<i64>,
        part: &dyn Fn(&str) -> Span,
    ) -> Result<Option<Item>> {
        if found.is_empty == Some(true) {
            return Ok(None);
        }
        let in_window = self.is_in_window(found);
        let reference = reference_of(found);
        let Some(record) = given(pages, found.place, reference)? else { return Ok(None) };
        if in_window && record.shown.is_empty() {
            return Ok(None);
        }
        let Some(session_id) = sessions.of(pages, found.place)? else { return Ok(None) };
        let told = Told::of(pages, reference, session_id, record)?;
        // The instructions of one session are no other's, and nothing that the user said.
        let is_instruction = matches!(told.message.role, Role::System | Role::Developer) && found.place != self.place;
        let is_asked_for = !is_instruction && self.record.recalls.roles.have(&told.message);
        if !is_asked_for || found.is_empty.is_none() && told.is_of_no_use(found) {
            return Ok(None);
        }
        let span = match found.said_then {
            Some(_) => excerpt::beginning(&told.text, self.most_bytes().min(BYTES_OF_A_TIME)),
            None => part(&told.text),
        };
        if in_window && told.shows(span) {
            return Ok(None);
        }
        let by = || Ok(speaker_of(&told.message, &told.record));
        let (session, at) = (&*told.session_id, told.record.said_at());
        let behind = || said_before(pages, found.place, found.index);
        let said = Said { partition: found.place.partition, session, index: found.index, at, by: &by, behind: &behind };
        let part = excerpt::part(&told.text, span);
        let taught = Replaced::taught(pages, self.superseded, &said, self.now)?;
        let mut newer = None;
        for one in self.replaced.iter().chain(&taught) {
            if one.is_told(&said, &part)? {
                newer = newer.max(Some(one.newer_at));
            }
        }
        let score = score.map(|score| if newer.is_some() && self.of_now { score / BEHIND_THE_CURRENT } else { score });
        // The window has the call of a result that it shows shortened.
        let call = if in_window { None } else { called::find(pages, found.place, found.index, &told.message, span)? };
        Ok(Some(told.item(score, Form { span, newer_at: newer, ..Form::dated() }, call.as_ref())))
    }
}

/// Whether a message is worth a place: of the time that the question asks for or with a word of it all that says something, and of others
/// those of some words that are near to it. The model says much that is near to everything.
fn says_enough(found: &Found, text: &str) -> bool {
    if found.said_then.is_some() {
        return !is_short(text) || tells(text);
    }
    found.has_words() || !is_short(text) && (found.features.by_model <= 0.0 || found.features.meaning >= NEAR)
}

/// Whether one or two words tell something: "signed!", "Tom proposed". All that greets, thanks, agrees or only makes a sound does not, and of
/// one word alone, in whatever language, that is likely.
fn tells(text: &str) -> bool {
    let words = text.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count();
    let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
    let calls = text.trim_end().ends_with('!') && letters >= LEAST_LETTERS;
    (words > 1 || words == 1 && calls) && !speech::goes_on(text) && !speech::acknowledges(text)
}

/// Whether a text is too short to be shown where it has no word of the question, as "71.5 kg" is not.
pub(super) fn is_short(text: &str) -> bool {
    let has_number = || text.contains(char::is_numeric) && text.chars().filter(|sign| sign.is_alphanumeric()).nth(1).is_some();
    text.split_whitespace().nth(LEAST_WORDS - 1).is_none() && !has_number()
}

fn reference_of(found: &Found) -> MessageRef {
    let SessionKey { partition, session } = found.place;
    MessageRef { partition: partition.into(), session: session.into(), index: found.index, document: found.number.into() }
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

/// Whether a message is not there any more, or not what it was, or the call is not that its item says.
pub(in crate::session) fn is_gone<P: Pages>(pages: &P, message: MessageRef, called: Option<u64>) -> Result<bool> {
    let place = SessionKey { partition: message.partition as Partition, session: message.session as u32 };
    Ok(given(pages, place, message)?.is_none() || called::is_gone(pages, place, message.index, called)?)
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
    fn shows(&self, span: Span) -> bool {
        let Some((start, length)) = span else { return true };
        let part = self.text.get(start as usize..(start + length) as usize).unwrap_or_default();
        self.record.shown.iter().any(|(_, shown)| shown.contains(part))
    }

    /// Its item, which says a call where one is given.
    fn item(self, score: Option<i64>, form: Form, call: Option<&called::Before>) -> Item {
        let of = call.and_then(|call| called::attribute(&self.message, form.span, call));
        let form = Form { called: call.filter(|_| of.is_some()).map(|call| call.distance), ..form };
        let (attributes, text) = if form.version >= Form::DATED {
            (self.short_frame(of, form.newer_at), excerpt::part(&self.text, form.span).into())
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
            document: None,
            form,
            score,
        }
    }

    /// Who said it, of which call, and when, and since when something newer holds.
    fn short_frame(&self, of: Option<(Box<str>, Box<str>)>, newer_at: Option<i64>) -> Vec<(Box<str>, Box<str>)> {
        let by = self.message.name.as_deref().unwrap_or_else(|| role_of(&self.message).0);
        let mut frame: Vec<(Box<str>, Box<str>)> = vec![("by".into(), by.into())];
        frame.extend(of);
        frame.push(("on".into(), self.date().into()));
        frame.extend(newer_at.map(|at| ("newer_on".into(), iso_date(at).into())));
        frame
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
        iso_date(self.record.said_at())
    }
}

/// A message as a prompt showed it; `None` where it is not there any more, or not what it was. Where the call is gone that it said, it is
/// without it, and its form is another.
pub(in crate::session) fn said<P: Pages>(pages: &P, message: MessageRef, score: Option<i64>, form: Form) -> Result<Option<Item>> {
    let Some(told) = Told::read(pages, message)? else { return Ok(None) };
    let place = SessionKey { partition: message.partition as Partition, session: message.session as u32 };
    let call = form.called.map_or(Ok(None), |distance| called::at(pages, place, message.index, distance))?;
    Ok(Some(told.item(score, form, call.as_ref())))
}

/// The beginning of a text, as [`Form::FIRST`] shows it.
fn head(text: &str) -> Arc<str> {
    if text.len() <= EXCERPT_BYTES {
        return text.into();
    }
    format!("{}\u{2026}", clip(text, EXCERPT_BYTES)).into()
}

/// Passages of the session's collections for a question.
#[derive(Default)]
pub(in crate::session) struct Passages {
    /// Those that answer it.
    pub shown: Vec<Item>,
    /// The best of the others, and by how much they miss.
    pub left_out: Vec<Explained>,
    /// Why vectors were not used, where that is so.
    pub degraded: Option<String>,
    /// The words of the question that were read as others.
    pub corrections: Corrections,
}

/// Passages of the session's collections. Copies of a text are one passage, the best of them.
pub(in crate::session) fn passages<P: Pages>(
    engine: &Core,
    pages: &P,
    record: &SessionRecord,
    request: &Request,
    question: &Question,
) -> Result<Passages> {
    let recalls = &record.recalls;
    if record.collections.is_empty() || recalls.passages == 0 || question.asks_nothing() {
        return Ok(Passages::default());
    }
    let most = recalls.passages as usize;
    let mut asked = collection::Request::new(request.text.clone(), record.collections.clone(), most, request.filter.now);
    asked.vector.clone_from(&request.vector);
    asked.each_once = true;
    let repaired = collection::repaired(pages, &record.collections, question)?;
    if repaired.is_some() {
        asked = asked.read_otherwise(engine);
    }
    let (question, corrections) = repaired.as_ref().map_or((question, &[][..]), |(question, changes)| (question, changes));
    let answer = collection::search::search(engine, pages, &asked, question)?;
    let partition_of = |collection: usize| Ok::<_, crate::Error>(record.collections[collection].find(pages)?.map(u64::from));
    let least = recalls.sure_enough(SURE_ENOUGH);
    let mut passages = Passages { degraded: answer.degraded, corrections: corrections.to_vec(), ..Passages::default() };
    for hit in answer.hits.iter().take(most) {
        let sure = recall::confidence(answer.queries.get(hit.collection), &hit.indexed(), &hit.parts);
        let (document, collection) = (&hit.document, &record.collections[hit.collection].name);
        let mut attributes: Vec<(Box<str>, Box<str>)> =
            vec![("source".into(), format!("{collection}/{}", document.id).into()), ("version".into(), document.version.as_str().into())];
        if !hit.path.is_empty() {
            attributes.push(("heading".into(), hit.path.join(" > ").into()));
        }
        let item = Item {
            section: section::RETRIEVED.into(),
            id: format!("{collection}/{}#{}-{}", document.id, hit.characters.start, hit.characters.end).into(),
            attributes,
            text: hit.text.as_str().into(),
            memory: None,
            message: None,
            document: partition_of(hit.collection)?.map(|partition| DocumentRef { partition, document: document.number.into() }),
            form: Form::dated(),
            score: Some((sure * SCORE_UNIT) as i64),
        };
        if sure >= least {
            passages.shown.push(item);
        } else if hit.parts.is_relevant() {
            passages.left_out.push(Explained::of(&item, 0, Why::BelowFloor { floor: (least * SCORE_UNIT) as i64 }));
        }
    }
    Ok(passages)
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
