//! A session's transcript as prompts read it: [`History`] over one snapshot, with what this process has read before.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::message::{Brief, MessageRecord};
use crate::context::image::Cost;
use crate::context::{Block, History, Item, MemoryRef, Stored, Tally, block, is_thinking};
use crate::session::key::SessionKey;
use crate::session::ledger::{Call, Shown};
use crate::session::record::SessionRecord;
use crate::session::stored_epoch::StoredEpoch;
use crate::session::window::pinned;
use crate::session::window::warm::{ReadNow, Warm, WarmFixed};
use crate::store::envelope::{self, Codec, damaged};
use crate::store::keys::{Partition, u32_at};
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::tokens::CachedCounter;
use crate::{Error, ErrorKind, Result};

/// Where a turn begins, and the call whose block stays in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) struct TurnRecord {
    pub start: u64,
    pub kept: Option<u16>,
}

impl TurnRecord {
    pub fn read<P: Pages>(pages: &P, place: SessionKey, turn: u64) -> Result<Self> {
        let key = place.turn(turn);
        let missing = || damaged(key.as_slice(), "its session counts it and it is missing");
        let value = pages.get(key.as_slice())?.ok_or_else(missing)?;
        let mut r = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
        Ok(Self { start: r.uint()?, kept: r.maybe_int()?.map(|call| call as u16) })
    }

    pub fn write(self, pages: &mut impl PagesMut, place: SessionKey, turn: u64) -> Result<()> {
        let key = place.turn(turn);
        let mut w = Writer::array(2);
        w.uint(self.start);
        w.maybe_int(self.kept.map(i64::from));
        pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, w.bytes()))
    }
}

/// How much of a transcript is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::session) struct Extent {
    pub messages: u64,
    pub turns: u64,
    /// Tokens of everything rendered so far, without results that are still open.
    pub tokens: u64,
    /// Whether the newest turn was answered. Of an old call: whether its prompt was composed so.
    pub is_answered: bool,
    /// Tokens of the block that the newest turn was sent with. Of an old call none: its ledger says how many were set aside.
    pub held: u64,
}

impl Extent {
    pub fn of(record: &SessionRecord) -> Self {
        let Tally { messages, turns, tokens, is_answered, .. } = record.tally;
        let held = record.sent.filter(|sent| sent.turn + 1 == turns).map_or(0, |sent| sent.tokens);
        Self { messages, turns, tokens, is_answered, held }
    }
}

/// The transcript of a session.
pub(in crate::session) struct View<'p, P> {
    pub pages: &'p P,
    pub place: SessionKey,
    extent: Extent,
    /// Which counts hold: those of messages added since, and of those made anew at the last switch of models.
    switch: u16,
    recounted: (u64, u64),
    /// See [`StoredEpoch::thinking_from`].
    thinking_from: u64,
    counter: CachedCounter,
    /// Memories that have expired by then are not shown.
    now: i64,
    /// The state at the epoch's beginning: see [`Outdated`].
    outdated: Outdated,
    warm: Arc<Warm>,
    read: RefCell<ReadNow>,
    likely_turn: Option<u64>,
    /// False where nobody asked.
    block_will_stay: bool,
}

/// A block that stayed in its turn, as this epoch shows it.
#[derive(Debug, Default)]
pub(in crate::session) struct KeptBlock {
    pub block: Option<Arc<Block>>,
    /// The items that it showed when it was sent and shows no longer.
    pub left_out: Vec<Item>,
    /// When the first of the memories in it expires: it is another block from then on.
    expires_at: Option<i64>,
}

/// The items that blocks in earlier turns leave out from an epoch on: memories that writes before it ended, which would stand behind what
/// is true now, and those that are pinned in it. An epoch of version 0.3.0 has no stamps, and leaves out nothing.
struct Outdated {
    stamps: Vec<(Partition, i64)>,
    pinned: Vec<MemoryRef>,
}

impl Outdated {
    fn block<P: Pages>(&self, pages: &P, shown: Shown, counter: &CachedCounter) -> Result<KeptBlock> {
        let (mut kept, mut left_out) = (Vec::with_capacity(shown.items.len()), Vec::new());
        for item in shown.items {
            let is_out = !self.stamps.is_empty() && item.memory.map_or(Ok(false), |memory| self.has(pages, memory))?;
            if is_out { left_out.push(item) } else { kept.push(item) }
        }
        Ok(KeptBlock { block: Block::new(kept, counter), left_out, expires_at: shown.expires_at })
    }

    fn has<P: Pages>(&self, pages: &P, memory: MemoryRef) -> Result<bool> {
        let pinned = self.pinned.contains(&memory);
        let stamp = self.stamps.iter().find(|(partition, _)| u64::from(*partition) == memory.partition);
        Ok(pinned || stamp.map_or(Ok(None), |_| pinned::ended_at(pages, memory))?.zip(stamp).is_some_and(|(at, (_, stamp))| at <= *stamp))
    }
}

/// The turns from `from` up to `to` in which a block stays, with its call.
pub(in crate::session) fn kept_turns<P: Pages>(pages: &P, place: SessionKey, from: u64, to: u64) -> Result<Vec<(u64, u16)>> {
    let mut found = Vec::new();
    pages.scan(place.turn(from).as_slice(), place.turn(to).as_slice(), &mut |key, value| {
        let mut r = Reader::array(key, envelope::open(key, value)?.body)?;
        r.uint()?;
        if let (Some(call), Some(turn)) = (r.maybe_int()?, u32_at(key, 9)) {
            found.push((turn.into(), call as u16));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(found)
}

impl<'p, P: Pages> View<'p, P> {
    pub fn new(pages: &'p P, place: SessionKey, extent: Extent, epoch: &StoredEpoch, warm: Arc<Warm>, now: i64) -> Self {
        let outdated = Outdated { stamps: epoch.stamps.clone(), pinned: epoch.epoch.pinned.clone() };
        let (switch, recounted, counter) = (epoch.switch, epoch.recounted, CachedCounter::new(epoch.model.encoding));
        let likely_turn = warm.first_turn;
        Self {
            pages,
            place,
            extent,
            switch,
            recounted,
            thinking_from: epoch.thinking_from.unwrap_or(0),
            counter,
            now,
            outdated,
            warm,
            read: RefCell::default(),
            likely_turn,
            block_will_stay: false,
        }
    }

    /// A view that nothing was read for before.
    pub fn cold(pages: &'p P, place: SessionKey, record: &SessionRecord, epoch: &StoredEpoch) -> Self {
        Self::new(pages, place, Extent::of(record), epoch, Arc::default(), i64::MIN)
    }

    /// This view, where the window is likely to begin at a turn.
    pub fn beginning(self, likely_turn: Option<u64>) -> Self {
        Self { likely_turn, ..self }
    }

    /// This view with a prompt that says how much of it lasts: see [`History::block_will_stay`].
    pub fn lasting(self, record: &SessionRecord, epoch: &StoredEpoch) -> Result<Self> {
        let block_will_stay = self.block_that_stays(record, epoch)?.is_some();
        Ok(Self { block_will_stay, ..self })
    }

    /// The call whose block stays in the newest turn when the next one begins, and the tokens of the block.
    pub fn block_that_stays(&self, record: &SessionRecord, epoch: &StoredEpoch) -> Result<Option<(u16, u64)>> {
        let tally = &record.tally;
        let Some(sent) = record.sent.filter(|sent| sent.tokens > 0 && sent.turn + 1 == tally.turns) else { return Ok(None) };
        let all = tally.tokens + tally.pending_tokens(&epoch.model.framing, &self.counter);
        let after = all.saturating_sub(self.tokens_before(self.turn_start(sent.turn)?)?);
        Ok(block::stays(sent.tokens, after, epoch.model.append_only).then_some((sent.call, sent.tokens)))
    }

    /// The warm messages and those read since, from message `first` on, for the next view. The window began at `first_turn`.
    pub fn warmed(&self, (first, first_turn): (u64, u64), edits: u64, fixed: WarmFixed) -> Arc<Warm> {
        let mut read = self.read.borrow_mut();
        // A block may yet stay in the newest turn, so that its record is not final.
        read.turns.remove(&self.extent.turns.saturating_sub(1));
        self.warm.with((first, first_turn), (self.place, edits), &mut read, fixed)
    }

    pub fn brief(&self, index: u64) -> Result<Brief> {
        if let Some(brief) = self.read.borrow().briefs.get(&index) {
            return Ok(*brief);
        }
        let warm = self.warm.briefs.get(&index).copied();
        let brief = warm.map_or_else(|| self.read_brief(index), Ok)?;
        let mut read = self.read.borrow_mut();
        read.has_new_briefs |= warm.is_none();
        read.briefs.insert(index, brief);
        Ok(brief)
    }

    fn read_brief(&self, index: u64) -> Result<Brief> {
        let mut brief = MessageRecord::brief_at(self.pages, self.place, index)?;
        if let Some((tokens, before)) = self.recount(index)? {
            (brief.cost, brief.placed.tokens_before) = (tokens, before);
        }
        Ok(brief)
    }

    /// The count of a message after the last switch of models, and the tokens before it.
    fn recount(&self, index: u64) -> Result<Option<(Cost, u64)>> {
        if self.switch == 0 || !(self.recounted.0..self.recounted.1).contains(&index) {
            return Ok(None);
        }
        read_recount(self.pages, self.place, self.switch, index).map(Some)
    }

    /// A message as the epoch may send it. Its tokens stay those of the whole: its provider never counts more.
    fn sendable(&self, index: u64, mut stored: Arc<Stored>) -> Arc<Stored> {
        if index < self.thinking_from && stored.message.parts.iter().any(is_thinking) {
            Arc::make_mut(&mut stored).message.parts.retain(|part| !is_thinking(part));
        }
        stored
    }

    pub fn turn(&self, turn: u64) -> Result<TurnRecord> {
        if let Some(record) = self.warm.turns.get(turn).copied().or_else(|| self.read.borrow().turns.get(&turn).copied()) {
            return Ok(record);
        }
        let record = TurnRecord::read(self.pages, self.place, turn)?;
        self.read.borrow_mut().turns.insert(turn, record);
        Ok(record)
    }
}

impl<P: Pages> View<'_, P> {
    /// The block that stayed in a turn as it was sent, which is what its tokens were counted of.
    pub fn sent_block(&self, turn: u64) -> Result<Option<Arc<Block>>> {
        let Some(call) = self.turn(turn)?.kept else { return Ok(None) };
        Call::read(self.pages, self.place, turn, call)?.block(self.pages, &self.counter, self.now)
    }

    /// The block that stayed in a turn, if one did.
    fn kept(&self, turn: u64) -> Result<Option<Arc<KeptBlock>>> {
        let Some(call) = self.turn(turn)?.kept else { return Ok(None) };
        let holds = |kept: &&Arc<KeptBlock>| kept.expires_at.is_none_or(|at| at > self.now);
        if let Some(kept) = self.warm.blocks.get(turn).filter(holds).cloned().or_else(|| self.read.borrow().blocks.get(&turn).cloned()) {
            return Ok(Some(kept));
        }
        let shown = Call::read(self.pages, self.place, turn, call)?.shown(self.pages, self.now)?;
        let kept = Arc::new(self.outdated.block(self.pages, shown, &self.counter)?);
        self.read.borrow_mut().blocks.insert(turn, Arc::clone(&kept));
        Ok(Some(kept))
    }
}

/// The count of a message made anew at a switch of models, and the tokens before it.
pub(in crate::session) fn find_recount<P: Pages>(pages: &P, place: SessionKey, switch: u16, index: u64) -> Result<Option<(Cost, u64)>> {
    let key = place.recount(switch, index);
    let Some(value) = pages.get(key.as_slice())? else { return Ok(None) };
    let mut r = Reader::array(key.as_slice(), envelope::open(key.as_slice(), value)?.body)?;
    Ok(Some((Cost { tokens: r.uint()?, exact: r.bool()? }, r.uint()?)))
}

/// The count of a message made anew at a switch, which must be there, and the tokens before it.
pub(in crate::session) fn read_recount<P: Pages>(pages: &P, place: SessionKey, switch: u16, index: u64) -> Result<(Cost, u64)> {
    let missing =
        || damaged(place.recount(switch, index).as_slice(), "its epoch says that the message was counted anew, and the count is missing");
    find_recount(pages, place, switch, index)?.ok_or_else(missing)
}

pub(in crate::session) fn write_recount(
    pages: &mut impl PagesMut,
    place: SessionKey,
    switch: u16,
    index: u64,
    cost: Cost,
    before: u64,
) -> Result<()> {
    let key = place.recount(switch, index);
    let mut w = Writer::array(3);
    w.uint(cost.tokens);
    w.bool(cost.exact);
    w.uint(before);
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, w.bytes()))
}

impl<P: Pages> History for View<'_, P> {
    fn messages(&self) -> u64 {
        self.extent.messages
    }

    fn turns(&self) -> u64 {
        self.extent.turns
    }

    fn turn_start(&self, turn: u64) -> Result<u64> {
        if turn < self.extent.turns { Ok(self.turn(turn)?.start) } else { Err(outside("turn", turn, self.extent.turns)) }
    }

    fn likely_turn(&self) -> Option<u64> {
        self.likely_turn
    }

    fn tokens_before(&self, index: u64) -> Result<u64> {
        match index.cmp(&self.extent.messages) {
            std::cmp::Ordering::Less => Ok(self.brief(index)?.placed.tokens_before),
            std::cmp::Ordering::Equal => Ok(self.extent.tokens),
            std::cmp::Ordering::Greater => Err(outside("message", index, self.extent.messages)),
        }
    }

    fn turn_around(&self, index: u64) -> Result<Option<u64>> {
        if index >= self.extent.messages {
            return Err(outside("message", index, self.extent.messages));
        }
        let placed = self.brief(index)?.placed;
        Ok(Some(placed.turn).filter(|_| !placed.opens_turn))
    }

    fn is_answered(&self) -> Result<bool> {
        Ok(self.extent.is_answered)
    }

    fn message(&self, index: u64) -> Result<Arc<Stored>> {
        if index >= self.extent.messages {
            return Err(outside("message", index, self.extent.messages));
        }
        if let Some(stored) = self.warm.messages.get(index).cloned().or_else(|| self.read.borrow().messages.get(&index).cloned()) {
            return Ok(self.sendable(index, stored));
        }
        let record = MessageRecord::expect(self.pages, self.place, index)?;
        let mut stored = record.stored(self.pages, self.place)?;
        if let Some((cost, _)) = self.recount(index)? {
            Arc::make_mut(&mut stored).cost = cost;
        }
        self.read.borrow_mut().messages.insert(index, Arc::clone(&stored));
        Ok(self.sendable(index, stored))
    }

    fn kept_block(&self, turn: u64) -> Result<Option<Arc<Block>>> {
        Ok(self.kept(turn)?.and_then(|kept| kept.block.clone()))
    }

    fn block_will_stay(&self) -> bool {
        self.block_will_stay
    }

    fn held(&self) -> u64 {
        self.extent.held
    }

    fn left_out(&self, turn: u64) -> Result<Vec<Item>> {
        Ok(self.kept(turn)?.map_or_else(Vec::new, |kept| kept.left_out.clone()))
    }
}

fn outside(what: &str, index: u64, count: u64) -> Error {
    let message = format!("reading a transcript: a {what} must be below {count}, and {index} is not: ask for one that exists");
    Error::new(ErrorKind::NotFound, message).with("index", index as i64)
}
