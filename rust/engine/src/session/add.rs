//! Getting a message ready, outside of any transaction: read, checked, counted, analysed; and its counts for the place it gets.

use std::collections::BTreeSet;
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use super::record::SessionRecord;
use super::stored_epoch::StoredEpoch;
use super::transcript::blob::{self, Hole};
use super::transcript::message::{result_key, results_mut, show};
use super::transcript::words::{self, Findable};
use crate::context::message::Part;
use crate::context::shorten::{Between, sent_within, shorten, summarised};
use crate::context::{Arguments, Format, Message, Stored};
use crate::limits::{MAX_MESSAGE_BYTES, MAX_NAME_BYTES};
use crate::models::Model;
use crate::store::identity::Seed;
use crate::tokens::CachedCounter;
use crate::{Error, Result, interrupt};

/// A tool result is shown with at most this share of the session's limit.
const RESULT_SHARE: u64 = 4;

/// A message to be added.
#[derive(Debug, Clone)]
pub struct NewMessage {
    /// Its JSON.
    pub given: String,
    /// The shape it is in; `None` where the shape itself tells.
    pub format: Option<Format>,
    /// The caller's id: makes a retry harmless.
    pub id: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// When it was said, microseconds since 1970 (UTC).
    pub created_at: Option<i64>,
    /// Shorter texts of its long tool results, by their places among the texts of results: each is shown where it fits.
    pub shortened: Vec<(u32, String)>,
}

impl NewMessage {
    /// A message of which nothing but its JSON is known.
    #[must_use]
    pub fn given(given: impl Into<String>) -> Self {
        Self { given: given.into(), format: None, id: None, author: None, created_at: None, shortened: Vec::new() }
    }
}

/// A message that was read and analysed.
#[derive(Debug, Clone)]
pub(super) struct Prepared {
    pub new: NewMessage,
    pub format: Format,
    pub message: Message,
    /// Hash of what it says and who said it.
    pub request: u64,
    pub rest: Vec<u8>,
    pub blobs: Vec<(Hole, Arc<[u8]>)>,
    /// Its index entries; none where it has no text.
    pub findable: Option<Findable>,
    /// The key that its hashes were made with.
    pub seed: Seed,
    counted: Option<CountedFor>,
}

/// A count holds for one place, model and limit.
#[derive(Debug, Clone)]
struct CountedFor {
    index: u64,
    model: Model,
    room: u64,
    /// The fields beside the content.
    beside: BTreeSet<&'static str>,
    shown: SentForm,
}

/// The form that is sent, and the texts of results that are shown shorter than they are.
#[derive(Debug, Clone)]
pub(super) struct SentForm {
    pub stored: Stored,
    pub texts: Vec<(u32, String)>,
}

impl Prepared {
    /// Reads, checks and analyses a message; counts it for the place that it is likely to get.
    pub fn new(new: NewMessage, arguments: Arguments, seed: Seed, record: &SessionRecord, epoch: &StoredEpoch) -> Result<Self> {
        check_length(&new)?;
        let format = new.format.map_or_else(|| Format::of(new.given.as_bytes()), Ok)?;
        let message = Message::parse_whole(new.given.as_bytes(), Some(format), arguments)?;
        interrupt::step();
        let (rest, holes) = blob::split(&new.given, &message, seed);
        let blobs = holes.into_iter().map(|(hole, data)| (hole, Arc::from(data.as_bytes()))).collect();
        let said = if message.beside().next().is_some() { message.clone().without_beside().digest() } else { message.digest() };
        let request = said.hash as u64 ^ xxh3_64(new.author.as_deref().unwrap_or_default().as_bytes());
        let has_words = !words::text_of(&message).trim().is_empty();
        let findable = has_words.then(|| Findable::new(&message, new.author.as_deref(), seed));
        let mut prepared = Self { new, format, message, request, rest, blobs, findable, seed, counted: None };
        let (room, beside) = (room(record, epoch)?, prepared.beside(record, epoch));
        prepared.counted = Some(prepared.count(record.tally.messages, epoch.model.clone(), room, beside));
        Ok(prepared)
    }

    /// The form that is sent at `index`, counted now if it was counted for something else; a tool result has at most `most_of_result`
    /// tokens, where its caller says so.
    pub fn shown(&self, index: u64, record: &SessionRecord, epoch: &StoredEpoch, most_of_result: Option<u64>) -> Result<SentForm> {
        let beside = self.beside(record, epoch);
        let room = most_of_result.map_or(u64::MAX, |most| most.saturating_mul(RESULT_SHARE)).min(room(record, epoch)?);
        let holds = |counted: &&CountedFor| {
            let place = counted.index == index || counted.shown.texts.is_empty();
            place && counted.model == epoch.model && counted.room == room && counted.beside == beside
        };
        Ok(match self.counted.as_ref().filter(holds) {
            Some(counted) => counted.shown.clone(),
            None => self.count(index, epoch.model.clone(), room, beside).shown,
        })
    }

    /// The texts of tool results that are shown shortened, whole.
    pub fn long_results(&self, record: &SessionRecord, epoch: &StoredEpoch, most: Option<u64>) -> Result<Vec<(u32, String)>> {
        let shown = self.shown(record.tally.messages, record, epoch, most)?;
        let texts: Vec<&str> = self.message.tool_results().flat_map(|result| &result.parts).filter_map(text_of).collect();
        Ok(shown.texts.iter().map(|(at, _)| (*at, texts[*at as usize].to_owned())).collect())
    }

    /// The fields beside the content that are counted and sent: a file's type, the images of a result and the fields of Claude's blocks
    /// always; a model's thinking and signatures where its own server wants them back, in turns that call tools. `DeepSeek` and Moonshot
    /// answer 400 to calls without their thinking, and ignore that of other turns.
    fn beside(&self, record: &SessionRecord, epoch: &StoredEpoch) -> BTreeSet<&'static str> {
        let mut names: BTreeSet<_> = self.message.beside().collect();
        if names.is_empty() || self.format != Format::OpenAi {
            return names;
        }
        let calls = self.message.tool_calls().next().is_some() || !record.tally.answered.is_empty();
        let dialect = if calls { epoch.model.dialect() } else { None };
        names.retain(|name| dialect.is_some_and(|dialect| dialect.wants(name)));
        names
    }

    fn count(&self, index: u64, model: Model, room: u64, beside: BTreeSet<&'static str>) -> CountedFor {
        let mut message = self.message.clone().with_beside(|name| beside.contains(name));
        let texts = shorten_results(&mut message, &self.new.shortened, index, room / RESULT_SHARE, model.counter());
        let stored = Stored::counted(show(message, index, &texts), |message| model.cost(message));
        CountedFor { index, model, room, beside, shown: SentForm { stored, texts } }
    }
}

/// The token limits of a session's prompts.
fn room(record: &SessionRecord, epoch: &StoredEpoch) -> Result<u64> {
    Ok(epoch.model.factor.room(record.limit(&epoch.model)?.0))
}

fn shorten_results(message: &mut Message, given: &[(u32, String)], index: u64, most: u64, counter: CachedCounter) -> Vec<(u32, String)> {
    let (mut texts, mut at) = (Vec::new(), 0);
    for (number, result) in results_mut(message).enumerate() {
        for part in &result.parts {
            let Part::Text(text) = part else { continue };
            let key = result_key(index, number);
            if let Some(short) = shorten(text, Some(&key), most, &counter, Between::Clusters) {
                let told = given.iter().find(|(place, _)| *place == at).map(|(_, told)| summarised(text, told, &key));
                texts.push((at, told.filter(|told| sent_within(told, most, &counter)).unwrap_or(short.text)));
            }
            at += 1;
        }
    }
    texts
}

fn text_of(part: &Part) -> Option<&str> {
    if let Part::Text(text) = part { Some(text) } else { None }
}

fn check_length(new: &NewMessage) -> Result<()> {
    if new.given.len() > MAX_MESSAGE_BYTES {
        let message = format!(
            "adding a message: as JSON it may have at most {MAX_MESSAGE_BYTES} bytes, and it has {}: split it, or add what is long as a document",
            new.given.len()
        );
        return Err(Error::invalid(message).with("size_bytes", new.given.len()));
    }
    check_name("id", new.id.as_deref())?;
    check_name("author", new.author.as_deref())
}

/// Checks a name that a caller gives.
pub(super) fn check_name(what: &'static str, name: Option<&str>) -> Result<()> {
    let Some(name) = name else { return Ok(()) };
    if name.is_empty() || name.len() > MAX_NAME_BYTES {
        return Err(Error::invalid(format!(
            "adding to a session: {what} has 1 to {MAX_NAME_BYTES} bytes of UTF-8, and this one has {}: give another",
            name.len()
        ))
        .with("size_bytes", name.len()));
    }
    Ok(())
}
