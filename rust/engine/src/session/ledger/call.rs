//! The ledger: of every call what the model was sent, and what it cost.
//!
//! An entry refers to revisions of memories and holds no text of theirs; the caller's items and task state, which nobody else
//! has, are kept as text. With the epoch and the transcript of that time it gives back the same bytes: see [`super::replay`].

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::passages::drop_gone;
use super::response::UsageTokens;
use crate::Result;
use crate::context::explain::Why;
use crate::context::limit::section;
use crate::context::{Block, Budget, Counter, Explained, Factor, Item, Prompt, SectionUse, SetAside};
use crate::session::codec;
use crate::session::codec::read_hash;
use crate::session::key::SessionKey;
use crate::session::record::SessionRecord;
use crate::session::stored_epoch::StoredEpoch;
use crate::session::window::pinned;
use crate::session::window::retrieved;
use crate::session::writer::{KnownId, find_id, put_id};
use crate::store::chunks;
use crate::store::envelope::{self, Codec, damaged};
use crate::store::identity::Seed;
use crate::store::keys::{Key, Partition};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};

const SCHEMA: u8 = 1;

/// Rows of a section that an entry keeps of what it did not show, or what stands in every prompt; the others are counted.
const MOST_LEFT_OUT: usize = 64;

/// The fate of the candidates: those that were shown for this question, and of each section the first of those that were not shown or that
/// stand in every prompt.
fn bounded(explained: &[Explained]) -> Vec<Explained> {
    let mut left_out: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut kept = Vec::new();
    for row in explained.iter().filter(|row| !row.why.is_of_blocks()) {
        let always = row.why.is_included() && row.why != Why::Fixed;
        let (count, last) = left_out.entry(&row.section).or_default();
        *count += usize::from(!always);
        if always || *count <= MOST_LEFT_OUT {
            kept.push(row.clone());
        } else if *count == MOST_LEFT_OUT + 1 {
            *last = kept.len();
            kept.push(row.clone());
        }
    }
    for (section, (count, last)) in left_out.into_iter().filter(|(_, (count, _))| *count > MOST_LEFT_OUT) {
        kept[last] = Explained::other(section, format!("{} more", count - MOST_LEFT_OUT), 0, kept[last].why.clone());
    }
    kept
}

/// The prompt that a model was sent.
#[derive(Debug, Clone, PartialEq)]
pub struct SentPrompt {
    /// How long the session was: messages, turns, tokens.
    pub messages: u64,
    /// Turns.
    pub turns: u64,
    /// Tokens of everything rendered until then, without results that were open.
    pub tokens: u64,
    /// The epoch.
    pub epoch: u64,
    /// The limit.
    pub limit: u64,
    /// The reserve for the reply.
    pub output_tokens: u64,
    /// Order, cut and grants.
    pub budget: Budget,
    /// The question to memory.
    pub query: Option<String>,
    /// The items of the volatile block, in its order.
    pub items: Vec<Item>,
    /// Whether the newest turn's user message was open: its block, or that it has none, stands still through the turn's tool rounds.
    pub carried: bool,
    /// Tokens of the block.
    pub block_tokens: u64,
    /// The other inputs of its composition.
    pub set_aside: SetAside,
    /// The fate of every candidate.
    pub explained: Vec<Explained>,
    /// The tokens that each section used.
    pub sections: Vec<SectionUse>,
    /// The chain's last link: proves the bytes. 0 once something of the prompt is gone.
    pub chain: u128,
    /// Its planned cost: its count, or its upper bound.
    pub planned: u64,
    /// The counter's figure.
    pub counted: u64,
    /// The factor that its window was cut by, where it is not the epoch's.
    pub factor: Option<Factor>,
    /// The plan was the true number.
    pub exact: bool,
}

impl SentPrompt {
    /// The ledger's record of a prompt of a session.
    pub(in crate::session) fn of(
        record: &SessionRecord,
        epoch: &StoredEpoch,
        prompt: &Prompt,
        output_tokens: u64,
        budget: Budget,
        query: Option<String>,
    ) -> Self {
        let items = prompt.block.as_ref().map_or_else(Vec::new, |block| block.items.clone());
        Self {
            messages: record.tally.messages,
            turns: record.tally.turns,
            tokens: record.tally.tokens,
            epoch: record.epoch,
            limit: prompt.max_input_tokens,
            output_tokens,
            budget,
            query,
            items,
            carried: prompt.carried,
            block_tokens: prompt.block.as_ref().map_or(0, |block| block.tokens),
            set_aside: prompt.set_aside,
            explained: bounded(&prompt.explained),
            sections: prompt.sections.clone(),
            chain: prompt.chain.last().copied().unwrap_or_default(),
            planned: prompt.total_tokens,
            counted: prompt.counted_tokens,
            factor: (prompt.factor != epoch.epoch.factor).then_some(prompt.factor),
            exact: prompt.exact,
        }
    }

    fn write(&self, w: &mut Writer) {
        w.nested(19);
        for number in [self.messages, self.turns, self.tokens, self.epoch, self.limit, self.output_tokens] {
            w.uint(number);
        }
        codec::write_budget(w, &self.budget);
        w.maybe_text(self.query.as_deref());
        codec::write_list(w, &self.items, codec::write_item);
        w.bool(self.carried);
        w.uint(self.block_tokens);
        codec::write_set_aside(w, self.set_aside);
        codec::write_list(w, &self.explained, codec::write_explained);
        codec::write_list(w, &self.sections, codec::write_section_use);
        w.bin(&self.chain.to_be_bytes());
        w.uint(self.planned);
        w.uint(self.counted);
        w.uint(self.factor.map_or(0, |factor| factor.per_mille().into()));
        w.bool(self.exact);
    }

    fn read<'b>(r: &mut Reader<'b>, key: &'b [u8]) -> Result<Option<Self>> {
        let Some(mut inner) = codec::maybe_inner(r, key)? else { return Ok(None) };
        let r = &mut inner;
        let mut sent = Self {
            messages: r.uint()?,
            turns: r.uint()?,
            tokens: r.uint()?,
            epoch: r.uint()?,
            limit: r.uint()?,
            output_tokens: r.uint()?,
            budget: codec::read_budget(r, key)?,
            query: r.maybe_text()?.map(str::to_owned),
            items: codec::read_list(r, |r| codec::read_item(r, key))?,
            carried: r.bool()?,
            block_tokens: r.uint()?,
            set_aside: codec::read_set_aside(r, key)?,
            explained: codec::read_list(r, |r| codec::read_explained(r, key))?,
            sections: codec::read_list(r, |r| codec::read_section_use(r, key))?,
            chain: read_hash(r, key)?,
            planned: r.uint()?,
            counted: r.uint()?,
            factor: Some(r.uint()? as u32).filter(|factor| *factor > 0).map(Factor::new),
            exact: r.bool()?,
        };
        if sent.planned == 0 {
            // Written before the plan was kept: sections add up to it.
            sent.planned = sent.sections.iter().map(|section| section.tokens).sum();
        }
        Ok(Some(sent))
    }
}

/// A call in its turn. Another may have its number once it was taken back, and then it was added at another time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallId {
    /// Its place in its turn.
    pub number: u16,
    /// The message that is its reply.
    pub reply: u64,
    /// When the reply was added.
    pub added_at: i64,
}

/// One call of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Its place in its turn.
    pub number: u16,
    /// The message that is its reply.
    pub reply: u64,
    /// When the reply was added.
    pub added_at: i64,
    /// The provider's id of the response.
    pub response_id: Option<String>,
    /// Hash of the response as it was given: tells a retry where the provider gave no id. 0 once the reply was redacted.
    pub hash: u128,
    /// The model that answered, in the provider's words.
    pub model: Option<String>,
    /// Why it stopped.
    pub finish: Option<String>,
    /// The provider's account, as it was given: JSON.
    pub usage: Option<Vec<u8>>,
    /// The provider's account in one vocabulary.
    pub usage_tokens: Option<UsageTokens>,
    /// The prompt that it was sent; none where the caller did not pass it.
    pub sent: Option<SentPrompt>,
}

impl Call {
    /// It tells the call from others of its session.
    #[must_use]
    pub fn id(&self) -> CallId {
        CallId { number: self.number, reply: self.reply, added_at: self.added_at }
    }

    fn encode(&self) -> Vec<u8> {
        let mut w = Writer::array(9);
        w.uint(self.reply);
        w.int(self.added_at);
        w.maybe_text(self.response_id.as_deref());
        w.maybe_text(self.model.as_deref());
        w.maybe_text(self.finish.as_deref());
        match &self.usage {
            None => w.nil(),
            Some(usage) => w.bin(usage),
        }
        match &self.usage_tokens {
            None => w.nil(),
            Some(tokens) => {
                w.nested(4);
                for number in [tokens.input_tokens, tokens.output_tokens, tokens.cached_tokens, tokens.cache_write_tokens] {
                    w.uint(number);
                }
            }
        }
        match &self.sent {
            None => w.nil(),
            Some(sent) => sent.write(&mut w),
        }
        w.bin(&self.hash.to_be_bytes());
        w.into_bytes()
    }

    fn decode(key: &[u8], number: u16, body: &[u8]) -> Result<Self> {
        let mut r = Reader::array(key, body)?;
        let (reply, added_at) = (r.uint()?, r.int()?);
        let mut text = || Ok::<_, crate::Error>(r.maybe_text()?.map(str::to_owned));
        let (response_id, model, finish) = (text()?, text()?, text()?);
        let usage = Some(r.bin()?.to_vec()).filter(|usage| !usage.is_empty());
        let usage_tokens = match codec::maybe_inner(&mut r, key)? {
            None => None,
            Some(mut r) => Some(UsageTokens {
                input_tokens: r.uint()?,
                output_tokens: r.uint()?,
                cached_tokens: r.uint()?,
                cache_write_tokens: r.uint()?,
            }),
        };
        let sent = SentPrompt::read(&mut r, key)?;
        Ok(Self { number, reply, added_at, response_id, model, finish, usage, usage_tokens, sent, hash: read_hash(&mut r, key)? })
    }

    /// Makes the response known, so that giving it again changes nothing.
    pub(in crate::session) fn put_name(&self, pages: &mut impl PagesMut, place: SessionKey, seed: Seed) -> Result<()> {
        put_id(pages, place, seed.apart(RESPONSES), &self.name(), self.known())
    }

    /// Forgets the hash of a reply whose text was taken out: a guess of the text could be tested by it. One without an id of the
    /// provider's stays known by its place. It is written by the caller.
    pub(in crate::session) fn forget_reply(&mut self, pages: &mut impl PagesMut, place: SessionKey, seed: Seed) -> Result<()> {
        pages.delete(self.name_key(place, seed).as_slice())?;
        self.hash = TAKEN_OUT;
        self.put_name(pages, place, seed)
    }

    /// Whether the hash of its reply is there.
    pub(in crate::session) fn has_hash(&self) -> bool {
        self.hash != TAKEN_OUT
    }

    /// Whether it was sent a block that stands still through its turn.
    pub(in crate::session) fn has_block(&self) -> bool {
        self.sent.as_ref().is_some_and(|sent| sent.carried)
    }

    /// Whether what it was sent was lost, and its reply is not known by a hash: a repair put it there.
    pub(in crate::session) fn is_lost(&self) -> bool {
        self.sent.is_none() && !self.has_hash() && self.response_id.is_none()
    }

    /// The entry that makes it known, and its key.
    pub(in crate::session) fn known(&self) -> KnownId {
        KnownId { index: self.reply, request: self.hash as u64, gone: false }
    }

    /// See [`Self::known`].
    pub(in crate::session) fn name_key(&self, place: SessionKey, seed: Seed) -> Key {
        place.id(seed.apart(RESPONSES), &self.name())
    }

    fn name(&self) -> Cow<'_, str> {
        response_name(self.response_id.as_deref(), self.hash, self.reply)
    }

    /// Call `number` of a turn.
    pub(in crate::session) fn read<P: Pages>(pages: &P, place: SessionKey, turn: u64, number: u16) -> Result<Self> {
        let key = place.call(turn, number);
        let missing = || damaged(key.as_slice(), "its turn refers to it and it is missing");
        let (_, body) = chunks::get(pages, key)?.ok_or_else(missing)?;
        Self::decode(key.as_slice(), number, &body)
    }

    /// Call `number` of a turn; `None` where the turn does not have so many.
    pub(in crate::session) fn find<P: Pages>(pages: &P, place: SessionKey, turn: u64, number: u16) -> Result<Option<Self>> {
        if number < count(pages, place, turn)? { Self::read(pages, place, turn, number).map(Some) } else { Ok(None) }
    }

    /// The epoch of the prompt that a call was sent, by the first chunk of its record where that has it; `None` where its caller did not
    /// pass the prompt.
    pub(in crate::session) fn sent_in<P: Pages>(pages: &P, place: SessionKey, turn: u64, number: u16) -> Result<Option<u64>> {
        let first = place.call(turn, number).u16(0);
        if let Some(value) = pages.get(first.as_slice())?
            && let Ok(epoch) = head(first.as_slice(), envelope::open(first.as_slice(), value)?.body)
        {
            return Ok(Some(epoch));
        }
        Ok(Self::read(pages, place, turn, number)?.sent.map(|sent| sent.epoch))
    }

    /// The calls of a turn, in order.
    pub(in crate::session) fn of_turn<P: Pages>(pages: &P, place: SessionKey, turn: u64) -> Result<Vec<Self>> {
        Self::of_turn_from(pages, place, turn, 0)
    }

    /// The calls of a turn from call `first` on, in order.
    pub(in crate::session) fn of_turn_from<P: Pages>(pages: &P, place: SessionKey, turn: u64, first: u16) -> Result<Vec<Self>> {
        (first..count(pages, place, turn)?).map(|number| Self::read(pages, place, turn, number)).collect()
    }

    /// Writes it, without the passages of documents that are gone.
    pub(in crate::session) fn write(&mut self, pages: &mut impl PagesMut, place: SessionKey, turn: u64) -> Result<()> {
        if let Some(sent) = &mut self.sent {
            drop_gone(&*pages, sent)?;
        }
        chunks::put(pages, place.call(turn, self.number), SCHEMA, Codec::MessagePack, &self.encode())
    }

    /// The block that it was sent with, less what was forgotten since.
    pub(in crate::session) fn block<P: Pages>(&self, pages: &P, counter: &dyn Counter, now: i64) -> Result<Option<Arc<Block>>> {
        Ok(Block::new(self.items(pages, now)?, counter))
    }

    /// The items of that block.
    pub(in crate::session) fn items<P: Pages>(&self, pages: &P, now: i64) -> Result<Vec<Item>> {
        Ok(self.shown(pages, now)?.items)
    }

    /// The block as it can be shown now.
    pub(in crate::session) fn shown<P: Pages>(&self, pages: &P, now: i64) -> Result<Shown> {
        self.sent.as_ref().map_or_else(|| Ok(Shown::default()), |sent| shown(pages, &sent.items, now))
    }
}

/// The hash of a reply whose text was taken out.
const TAKEN_OUT: u128 = 0;

/// Keys responses apart from the ids of callers.
const RESPONSES: u64 = 0x7265_7370_6f6e_7365;

/// The identity of a response: the provider's id of it, else the hash of its bytes and its place, since two may say the same.
fn response_name(id: Option<&str>, hash: u128, index: u64) -> Cow<'_, str> {
    id.map_or_else(|| format!("{hash:032x}-{index}").into(), Cow::Borrowed)
}

/// The message that a response is, where it was added before; one without an id of the provider's, where it would be message `index`.
pub(in crate::session) fn find_response<P: Pages>(
    pages: &P,
    place: SessionKey,
    seed: Seed,
    (id, hash): (Option<&str>, u128),
    index: u64,
) -> Result<Option<KnownId>> {
    find_id(pages, place, seed.apart(RESPONSES), &response_name(id, hash, index))
}

/// Whether message `index` is a reply that was redacted and had no id of the provider's: nothing tells another response from it any more.
pub(in crate::session) fn is_taken_out<P: Pages>(pages: &P, place: SessionKey, seed: Seed, index: u64) -> Result<bool> {
    Ok(find_response(pages, place, seed, (None, TAKEN_OUT), index)?.is_some())
}

/// The epoch in the beginning of a record of a call, whose end may be missing.
fn head(key: &[u8], beginning: &[u8]) -> Result<u64> {
    let mut r = Reader::array(key, beginning)?;
    r.uint()?; // the reply
    r.int()?; // when it was added
    for _ in 0..3 {
        r.maybe_text()?; // the response's id, the model, the finish
    }
    for _ in 0..2 {
        r.raw()?; // the usage, twice
    }
    r.nested()?;
    for _ in 0..3 {
        r.uint()?; // messages, turns and tokens when the prompt was made
    }
    r.uint()
}

/// The most calls of a turn.
pub(in crate::session) const MOST: u16 = u16::MAX;

/// How many calls a turn has.
pub(in crate::session) fn count<P: Pages>(pages: &P, place: SessionKey, turn: u64) -> Result<u16> {
    let range = place.calls_of(turn).prefix_range();
    let last = place.call(turn, u16::MAX).u16(u16::MAX);
    let Some((key, _)) = pages.floor(last.as_slice())? else { return Ok(0) };
    let own = key >= range.start.as_slice() && key.len() > range.start.len() + 1;
    if !own {
        return Ok(0);
    }
    let last = u16::from_be_bytes([key[range.start.len()], key[range.start.len() + 1]]);
    Ok(last.saturating_add(1)) // 0.17.0 wrote one more than there may be
}

fn kind_of(item: &Item) -> &'static str {
    match (item.memory, item.message) {
        (Some(_), _) => "memory",
        (None, Some(_)) => "message",
        (None, None) => "passage",
    }
}

/// Items of the ledger with the texts that they refer to.
#[derive(Debug, Default)]
pub(in crate::session) struct Shown {
    pub items: Vec<Item>,
    /// The kinds and ids of those whose text is gone.
    pub gone: Vec<String>,
    /// When the first of the memories expires.
    pub expires_at: Option<i64>,
}

/// Those whose text is there at `now`.
pub(in crate::session) fn shown<P: Pages>(pages: &P, items: &[Item], now: i64) -> Result<Shown> {
    let mut shown = Shown { items: Vec::with_capacity(items.len()), ..Shown::default() };
    for item in items {
        let found = match (item.memory, item.message) {
            (Some(memory), _) => match pinned::revision(pages, memory, now)? {
                Some(found) => {
                    shown.expires_at = [shown.expires_at, found.expires_at].into_iter().flatten().min();
                    Some(pinned::item(pages, memory.partition as Partition, &found, &item.section, item.score, item.form)?)
                }
                None => None,
            },
            (None, Some(message)) => retrieved::said(pages, message, item.score, item.form)?,
            // A passage whose document was deleted; a caller's own items have text.
            (None, None) => Some(item.clone()).filter(|item| !(item.text.is_empty() && &*item.section == section::RETRIEVED)),
        };
        match found {
            Some(found) => {
                if found.form.called != item.form.called {
                    shown.gone.push(format!("call of {} {}", kind_of(item), item.id));
                }
                shown.items.push(found);
            }
            None => shown.gone.push(format!("{} {}", kind_of(item), item.id)),
        }
    }
    Ok(shown)
}
