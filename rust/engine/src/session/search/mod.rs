//! The search of transcripts: it finds messages of a scope by their words, their meaning, the speaker, the time and their neighbours.
//!
//! ```text
//! question     its words; whom it names, among those who spoke the messages with most of them; its meaning without these names
//! first sight  `sight`: words of a message and of those beside it, and cosine, of all documents: the best go on
//! score        `score`: those and closeness token by token, who speaks, the session and the time, over the rows of the documents
//! ```
//!
//! A message is read itself where it is returned, or where its row does not tell whether it is a copy of another one, the question again, or
//! about another thing. A message is a hit only if it, or one of the two messages on either side of it in its session, shares a word with the
//! question, or its vector is near. It does not expand the question and asks no model.

mod beside;
pub(super) mod dated;
mod fill;
mod forks;
mod later;
mod overview;
mod places;
mod question;
mod rank;
pub(super) mod row;
mod score;
mod sight;
#[cfg(test)]
mod tests;
mod typos;

pub use fill::fill_rows;
pub(crate) use fill::{count_order, has_no_order};
pub(super) use later::{Later, Statement};
pub(super) use row::Row;
pub use score::{FEATURES, Features, SCORE_ONE};

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use self::question::{Question, has_identifier};
use self::rank::{Ranking, Words};
use super::asking::asking;
use super::key::SessionKey;
use super::messages::{StoredMessage, stored_message};
use super::record::SessionRecord;
use super::transcript::words::index;
use crate::Result;
use crate::index::bm25::Parameters;
use crate::index::bm25::runs::{Runs, Snapshot};
use crate::limits;
use crate::memory::{Core, check_conditions};
use crate::recall::ranking::memories::OF_ANOTHER;
use crate::recall::ranking::{CLOSER_BY_CHANCE, ECHO, NEAR, SURE_ENOUGH};
use crate::recall::when::{self, Range};
use crate::recall::{self, Corrections, asked_by_the_user};
use crate::scope::Scope;
use crate::store::keys::Partition;
use crate::store::pages::Pages;

/// A search of what was said.
#[derive(Debug, Clone)]
pub struct Request {
    /// The query.
    pub text: String,
    /// At most so many messages, and never more than [`limits::MAX_HITS`].
    pub limit: usize,
    /// The time now, microseconds since 1970 (UTC): "last week" is before it.
    pub now: i64,
    /// Only what was said then. Where it is open on both sides the question is read for a time that it prefers.
    pub said: Range,
    /// The time that the question asks about, read against the time now; by [`Self::new`] in UTC.
    pub preferred: Option<Range>,
    /// Only sessions whose metadata has these keys with one of these values (MessagePack).
    pub metadata: Vec<(String, Vec<Vec<u8>>)>,
    /// Who asks.
    pub asking: Asking,
    /// Of the copies that forks have of a message, that of this session is found; otherwise the one that the others were copied from.
    pub preferred_session: Option<u32>,
    /// The cosine from which on a message without a word of the question is a hit.
    pub near: f64,
    /// Whether messages that only ask are of no use, whatever they ask. Otherwise only those are that ask the same.
    pub answers_only: bool,
}

/// Who asks a question.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Asking {
    /// A caller.
    #[default]
    ByCaller,
    /// A message of the scope, by its session and index: what it says in the same words is the question, and no answer.
    ByMessage(u32, u64),
}

impl Request {
    /// A search at a time, in all that was said.
    #[must_use]
    pub fn new(text: &str, limit: usize, now: i64) -> Self {
        let preferred = when::read(text, now, 0);
        Self {
            text: text.to_owned(),
            limit,
            now,
            said: Range::default(),
            preferred,
            metadata: Vec::new(),
            asking: Asking::default(),
            preferred_session: None,
            near: NEAR,
            answers_only: false,
        }
    }
}

/// A message that was found.
#[derive(Debug, Clone)]
pub struct TranscriptHit {
    /// The session.
    pub session_id: String,
    /// Where it lies.
    pub(in crate::session) place: SessionKey,
    /// The message.
    pub message: StoredMessage,
    /// In units of [`SCORE_ONE`].
    pub score: i64,
    /// From 0 to 1: how sure it is that it answers, comparable with that of other answers.
    pub confidence: f64,
    /// The parts of the score.
    pub features: Features,
    /// When it was said, where that alone makes it an answer.
    pub said_then: Option<i64>,
}

/// The messages of a scope's sessions that answer the question, best first; of equals the newest. Behind them stands the question itself, where
/// it was asked before, and what else is as near and answers nothing. Of a question that asks for a time alone
/// (`overview`) what the user said then, in that order.
pub fn search(engine: &Core, scope: &Scope, request: &Request) -> Result<Vec<TranscriptHit>> {
    check_conditions("searching transcripts", &request.metadata)?;
    let asked = recall::Question::new(&request.text);
    engine.store().read(|pages| search_in(pages, scope, request, &asked))
}

/// The same from a snapshot that the caller holds; `asked` is what the request asks.
pub(super) fn search_in<P: Pages>(pages: &P, scope: &Scope, request: &Request, asked: &recall::Question) -> Result<Vec<TranscriptHit>> {
    let Some(partition) = scope.find(pages)? else { return Ok(Vec::new()) };
    let transcripts = Transcripts::new(pages, partition);
    let limit = request.limit.min(limits::MAX_HITS);
    let mut wanted = if limit == 0 { 0 } else { recall::depth(limit) };
    loop {
        let (found, _) = self::found(&transcripts, scope, &Request { limit: wanted, ..request.clone() }, asked)?;
        let has_more = found.len() == wanted;
        let (echoes, answers): (Vec<Found>, Vec<Found>) = found.into_iter().partition(Found::is_echo);
        let mut hits = said_once(pages, answers, limit)?;
        if !has_more || hits.len() == limit || wanted >= MOST_COPIES * limit {
            let least = hits.last().map_or(i64::MAX, |hit| hit.score);
            let echoes = said_once(pages, echoes, limit - hits.len())?;
            hits.extend(echoes.into_iter().map(|hit| TranscriptHit { score: hit.score.min(least), confidence: 0.0, ..hit }));
            return Ok(hits);
        }
        wanted *= 2;
    }
}

/// So many times as many messages as are asked for are looked at, where there are copies or the question itself among the first.
const MOST_COPIES: usize = 8;

/// The first of what was found, without copies: what answers nothing and was said before, as a question that is asked again, and what a fork
/// has of its session. [`Ranking`] leaves out the copies of forks by their rows, so that they take no places. Rows before format 4 do not
/// tell, and what answers by its time is not ranked.
fn said_once<P: Pages>(pages: &P, found: Vec<Found>, limit: usize) -> Result<Vec<TranscriptHit>> {
    let (mut hits, mut ids): (Vec<TranscriptHit>, _) = (Vec::with_capacity(limit.min(64)), SessionIds::default());
    let mut known: HashMap<u64, Vec<usize>> = HashMap::new();
    for found in found {
        if hits.len() == limit {
            break;
        }
        let Some(session_id) = ids.of(pages, found.place)? else { continue };
        let message = stored_message(pages, found.place, found.index)?;
        let times = |message: &StoredMessage| (message.record.added_at, message.record.created_at);
        let is_copy = |at: &usize| {
            let other: &StoredMessage = &hits[*at].message;
            other.given == message.given && (found.is_empty == Some(true) || times(other) == times(&message))
        };
        let alike: &mut Vec<usize> = known.entry(xxh3_64(message.given.as_bytes())).or_default();
        if !alike.iter().any(is_copy) {
            alike.push(hits.len());
            let Found { place, score, confidence, features, said_then, .. } = found;
            hits.push(TranscriptHit { session_id: session_id.to_string(), place, message, score, confidence, features, said_then });
        }
    }
    Ok(hits)
}

/// The transcripts of a scope in one snapshot. The tail of their index is read once for all that ask for it.
pub(super) struct Transcripts<'p, P> {
    pages: &'p P,
    partition: Partition,
    words: OnceCell<Snapshot<'p, P>>,
}

impl<'p, P: Pages> Transcripts<'p, P> {
    pub fn new(pages: &'p P, partition: Partition) -> Self {
        Self { pages, partition, words: OnceCell::new() }
    }

    fn words(&self) -> Result<&Snapshot<'p, P>> {
        if let Some(known) = self.words.get() {
            return Ok(known);
        }
        let read = Runs::open(self.pages, index(self.partition))?.snapshot(self.pages)?;
        Ok(self.words.get_or_init(|| read))
    }
}

/// As [`search_in`], without the messages themselves. A question that names the user, by whose name nobody
/// speaks, is read as the user asks it. With them the words of the question that were read as others.
pub(super) fn found<P: Pages>(
    transcripts: &Transcripts<'_, P>,
    scope: &Scope,
    request: &Request,
    asked: &recall::Question,
) -> Result<(Vec<Found>, Corrections)> {
    if request.limit == 0 {
        return Ok(Default::default());
    }
    let (pages, partition) = (transcripts.pages, transcripts.partition);
    if let Some(of) = asked.overview().filter(|of| of.is_of_time()) {
        let said = overview::found(pages, partition, request, of)?;
        if !said.is_empty() {
            return Ok((said, Corrections::new()));
        }
    }
    let seed = scope.seed(pages.secret());
    let snapshot = transcripts.words()?;
    let mut question = Question::new(asked, seed.terms);
    let mut terms = snapshot.prepare(&question.terms, Parameters::default())?;
    let repaired = typos::repaired((pages, partition), (snapshot, &terms), seed.terms, asked, request.asking)?;
    if let Some((read, _)) = &repaired {
        question = Question::new(read, seed.terms);
        terms = snapshot.prepare(&question.terms, Parameters::default())?;
    }
    if question.terms.is_empty() {
        return Ok(Default::default());
    }
    let words = Words::enter(pages, partition, (snapshot, &terms), &question)?;
    if !words.name_a_speaker()
        && let Some(own) = asked_by_the_user(pages, scope, partition, asked)?
    {
        drop(words);
        return found(transcripts, scope, request, &own);
    }
    let mut found = Ranking::new(pages, (snapshot, &terms), words, &question, request)?.best(request.limit, seed)?;
    if let Asking::ByMessage(..) = request.asking {
        for one in found.iter_mut().filter(|one| one.may_be_copy()).take(MOST_ECHOES) {
            let text = stored_message(pages, one.place, one.index)?.text;
            if says_again(&text, &request.text) {
                one.is_empty = Some(true);
            }
        }
    }
    for one in found.iter_mut().filter(|one| one.is_apart && one.confidence >= SURE_ENOUGH) {
        one.is_of_another = has_identifier(&stored_message(pages, one.place, one.index)?.text);
        one.confidence = one.doubted(one.confidence);
    }
    Ok((found, repaired.map(|(_, changes)| changes).unwrap_or_default()))
}

/// Whether a text has the letters and digits of a request, beside what was pasted into it: a request that is made again answers nothing,
/// whatever its form.
fn says_again(text: &str, request: &str) -> bool {
    let letters = |text: &'_ str| text.chars().filter(|letter| letter.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let request = letters(request);
    letters(text) == request || letters(&asking(text)) == request
}

/// The ids of sessions, each read once.
#[derive(Default)]
pub(super) struct SessionIds(Vec<(SessionKey, Option<Arc<str>>)>);

impl SessionIds {
    pub fn of<P: Pages>(&mut self, pages: &P, place: SessionKey) -> Result<Option<Arc<str>>> {
        if let Some((_, id)) = self.0.iter().find(|(known, _)| *known == place) {
            return Ok(id.clone());
        }
        let id = SessionRecord::read_id(pages, place)?.map(Arc::from);
        self.0.push((place, id.clone()));
        Ok(id)
    }
}

/// A message that was found, not yet read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found {
    pub place: SessionKey,
    pub index: u64,
    pub number: u32,
    /// Whether it answers nothing, where its row says so.
    pub is_empty: Option<bool>,
    pub score: i64,
    pub confidence: f64,
    /// From 0 to 1: how near the question is that it follows in its session; 0 where it follows none.
    pub follows: f64,
    pub features: Features,
    /// When it was said, where that alone makes it an answer.
    pub said_then: Option<i64>,
    /// Whether it may have more distinct tokens than its row keeps: then `features` are those of its beginning.
    pub is_cut: bool,
    /// How much closer those whom the question names come to it than others.
    pub named: f64,
    /// Whether neither it nor a message close to it has an identifier of the question.
    pub is_apart: bool,
    /// Whether it has one of its own then: it is about another invoice or host.
    pub is_of_another: bool,
}

/// So many messages are read to see whether they say what is asked once more.
const MOST_ECHOES: usize = 16;

impl Found {
    /// A message that states something, and of which no more is known yet.
    fn of(place: SessionKey, index: u64, number: u32) -> Self {
        Self {
            place,
            index,
            number,
            is_empty: Some(false),
            score: 0,
            confidence: 0.0,
            follows: 0.0,
            features: Features::default(),
            said_then: None,
            is_cut: false,
            named: 0.0,
            is_apart: false,
            is_of_another: false,
        }
    }

    /// How sure it is to answer where a part of it is so close to the question: as sure as its beginning is, or more.
    pub fn confidence_of_part(&self, closeness: f64) -> f64 {
        let closeness = (closeness - CLOSER_BY_CHANCE).max(self.features.closeness);
        self.doubted(Features { closeness, ..self.features }.confidence(self.named))
    }

    /// The confidence that is left where it is about another invoice or host than the question.
    fn doubted(&self, confidence: f64) -> f64 {
        if self.is_of_another { confidence * OF_ANOTHER } else { confidence }
    }

    /// Whether it has every word of the question, as the question itself has, and is not known for one. Lines that were pasted beside
    /// it make it less sure.
    fn may_be_copy(&self) -> bool {
        self.is_empty != Some(true) && self.said_then.is_none() && self.features.exact >= 1.0
    }

    /// Whether it has a word of the question, or stands beside a message that has one.
    pub fn has_words(&self) -> bool {
        self.features.words > 0.0 || self.features.window > 0.0
    }

    /// Whether it says the question again, and no more than that.
    fn is_echo(&self) -> bool {
        self.is_empty == Some(true) && self.confidence >= ECHO
    }
}
