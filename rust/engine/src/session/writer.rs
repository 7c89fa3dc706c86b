//! A write transaction seen from one session: messages, words, the window and its epochs, the record.

use std::sync::Arc;

use super::add::Prepared;
use super::ledger::Call;
use super::place::{Place, SessionsHead};
use super::policy::Policy;
use super::record::{self, BlobRef, SessionRecord, StoredEpoch};
use super::summary::StoredSummary;
use super::transcript::blob;
use super::transcript::message::{MessageRecord, MessageState};
use super::transcript::view::{TurnRecord, View, kept_turns};
use super::transcript::words::Words;
use super::window::assemble::Assembled;
use super::window::bounds::{self, StoredAnchor, WindowContent};
use super::window::pinned::{self, Pinned};
use crate::compaction::Summary;
use crate::context::epoch::RENDERER_VERSION;
use crate::context::fixed::choose_pinned;
use crate::context::{
    Bounds, Epoch, Factor, Fixed, FixedText, FixedTools, History, Item, MemoryRef, Opening, Placed, Reason, Tools, Window, block, bounded,
};
use crate::models::Model;
use crate::scope::Scope;
use crate::store::envelope::{self, Codec};
use crate::store::identity::Seed;
use crate::store::msgpack::{Reader, Writer};
use crate::store::pages::{Pages, PagesMut};
use crate::tokens::CachedCounter;
use crate::tokens::bound::{Anchor, Class, Learned, Tally};
use crate::{Error, ErrorKind, Result};

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddAction {
    /// It is the newest message now.
    Added,
    /// It was added before, under the same id.
    Duplicate,
    /// It was added before, and its text was taken out since.
    Rejected,
}

impl AddAction {
    /// Its name in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Duplicate => "duplicate",
            Self::Rejected => "rejected",
        }
    }
}

/// A message that was added.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Added {
    /// Its index.
    pub index: u64,
    /// Its turn.
    pub turn: u64,
    /// Its count.
    pub tokens: u64,
    /// What became of it.
    pub action: AddAction,
}

/// A session in a write transaction.
pub(super) struct SessionWriter<'t, P: PagesMut> {
    pub pages: &'t mut P,
    pub scope: &'t Scope,
    pub place: Place,
    pub seed: Seed,
    pub record: SessionRecord,
    pub epoch: StoredEpoch,
    pub head: SessionsHead,
    /// Time of this transaction: later than that of every write before it.
    pub now: i64,
    pub words: Words,
    /// Messages were added or the budget changed: the window may have moved.
    unsettled: bool,
    /// A turn began: what its prompts will begin with is looked at.
    turn_opened: bool,
}

impl<'t, P: PagesMut> SessionWriter<'t, P> {
    /// The session of that id, whatever its state.
    pub fn open(pages: &'t mut P, scope: &'t Scope, id: &str, clock: i64) -> Result<Self> {
        let place = record::locate(pages, scope, id)?.ok_or_else(|| record::no_such_session(id))?;
        Self::at(pages, scope, place, clock)
    }

    /// The same by its place.
    pub fn at(pages: &'t mut P, scope: &'t Scope, place: Place, clock: i64) -> Result<Self> {
        let missing = || envelope::damaged(place.record().as_slice(), "its id refers to it and it is missing");
        let record = SessionRecord::read(pages, place)?.ok_or_else(missing)?;
        let epoch = StoredEpoch::read(pages, place, record.epoch)?;
        let head = SessionsHead::read(pages, place.partition)?;
        let now = clock.max(record.last_time + 1);
        let seed = scope.seed(pages.secret());
        Ok(Self { pages, scope, place, seed, record, epoch, head, now, words: Words::default(), unsettled: false, turn_opened: false })
    }

    /// A session that is made now. Its first epoch is begun by the caller.
    pub fn make(pages: &'t mut P, scope: &'t Scope, record: SessionRecord, model: Model, clock: i64) -> Result<Self> {
        let partition = scope.find_or_make(pages)?;
        let mut head = SessionsHead::read(pages, partition)?;
        head.sessions += 1;
        let place = Place { partition, session: head.sessions };
        let seed = scope.seed(pages.secret());
        let epoch = StoredEpoch {
            epoch: no_epoch(&model),
            model,
            system: None,
            tools: None,
            switch: 0,
            recounted: (0, 0),
            began_at: clock,
            stamps: Vec::new(),
            names_memories: false,
        };
        Ok(Self {
            pages,
            scope,
            place,
            seed,
            record,
            epoch,
            head,
            now: clock,
            words: Words::default(),
            unsettled: false,
            turn_opened: false,
        })
    }

    pub fn counter(&self) -> CachedCounter {
        CachedCounter::new(self.epoch.model.encoding)
    }

    fn view(&self) -> View<'_, P> {
        View::cold(&*self.pages, self.place, &self.record, &self.epoch)
    }

    /// Adds a message. `call` is the call in its turn that it is the reply to.
    pub fn add(&mut self, prepared: &Prepared, expect_index: Option<u64>, call: Option<u16>) -> Result<Added> {
        if let Some(known) = self.known(prepared)? {
            return Ok(known);
        }
        self.check_index(expect_index)?;
        let index = self.record.tally.messages;
        let shown = prepared.shown(index, &self.record, &self.epoch, self.most_of_result(&prepared.message)?)?;
        let (framing, counter) = (self.epoch.model.framing, self.counter());
        // The state is changed only once nothing can refuse the message any more.
        let mut tally = self.record.tally.clone();
        let kept = self.block_that_stays(prepared)?;
        tally.keep_block(kept.map_or(0, |block| block.1));
        let placed = tally.push(&shown.stored.message, shown.stored.cost.tokens, &framing, &counter)?;
        let others = (tally.tokens - self.record.tally.tokens).saturating_sub(shown.stored.cost.tokens + kept.map_or(0, |block| block.1));
        self.record.tally = tally;
        self.enter_turn(placed, kept.map(|block| block.0))?;
        if let Some(window) = &mut self.record.window {
            let own = bounded::message(&shown.stored.message, shown.stored.cost.tokens, framing.shape(), &counter);
            window.extend(&own.plus(&bounded::like(Class::Prose, others)));
        }
        let document = match &prepared.findable {
            Some(findable) => {
                let at = prepared.new.created_at.unwrap_or(self.now);
                self.words.add(self.pages, &mut self.head, self.place, (index, at), findable.clone())?
            }
            None => 0,
        };
        for (hole, data) in &prepared.blobs {
            blob::put(self.pages, self.place.partition, hole.hash, data, self.now)?;
        }
        MessageRecord {
            placed,
            cost: shown.stored.cost,
            digest: shown.stored.digest,
            format: prepared.format,
            state: MessageState::Given,
            added_at: self.now,
            created_at: prepared.new.created_at,
            document,
            call,
            id: prepared.new.id.clone(),
            author: prepared.new.author.clone(),
            reason: None,
            request: prepared.request,
            shown: shown.texts,
            holes: prepared.blobs.iter().map(|(hole, _)| *hole).collect(),
            rest: prepared.rest.clone(),
        }
        .write(self.pages, self.place)?;
        if let Some(id) = &prepared.new.id {
            put_id(self.pages, self.place, self.seed, id, KnownId { index, request: prepared.request, gone: false })?;
        }
        self.unsettled = true;
        Ok(Added { index, turn: placed.turn, tokens: shown.stored.cost.tokens, action: AddAction::Added })
    }

    /// What the caller's budget lets a tool result have; only asked for messages that have one.
    fn most_of_result(&self, message: &crate::context::Message) -> Result<Option<u64>> {
        if message.tool_results().next().is_none() {
            return Ok(None);
        }
        let most = Policy::read(&*self.pages, self.place)?.result_tokens;
        Ok((most > 0).then_some(most))
    }

    /// The message that has the id already.
    fn known(&self, prepared: &Prepared) -> Result<Option<Added>> {
        let Some(id) = &prepared.new.id else { return Ok(None) };
        let Some(known) = find_id(&*self.pages, self.place, self.seed, id)? else { return Ok(None) };
        if known.gone {
            return Ok(Some(Added { index: known.index, turn: 0, tokens: 0, action: AddAction::Rejected }));
        }
        if known.request != prepared.request {
            return Err(Error::new(
                ErrorKind::IdConflict,
                format!(
                    "adding a message: an id is given once in its session, and {id:?} is that of message {} with other content (session {:?}): give another id",
                    known.index, self.record.id
                ),
            )
            .with("id", id.as_str())
            .with("index", known.index as i64));
        }
        let brief = MessageRecord::brief_at(&*self.pages, self.place, known.index)?;
        Ok(Some(Added { index: known.index, turn: brief.placed.turn, tokens: brief.cost.tokens, action: AddAction::Duplicate }))
    }

    /// Refuses an index that is not the next one.
    pub fn check_index(&self, expected: Option<u64>) -> Result<()> {
        match expected {
            Some(expected) if expected != self.record.tally.messages => Err(moved(&self.record, expected)),
            _ => Ok(()),
        }
    }

    /// Call and tokens of the block that stays in the turn that this message ends.
    fn block_that_stays(&self, prepared: &Prepared) -> Result<Option<(u16, u64)>> {
        let tally = &self.record.tally;
        let ends = prepared.message.opens_turn() && tally.has_user;
        let Some(sent) = self.record.sent.filter(|sent| ends && sent.tokens > 0 && sent.turn + 1 == tally.turns) else { return Ok(None) };
        let start = self.view().turn_start(sent.turn)?;
        let after = (tally.tokens + tally.pending_tokens(&self.epoch.model.framing, &self.counter()))
            .saturating_sub(self.view().tokens_before(start)?);
        Ok(block::stays(sent.tokens, after, self.epoch.model.append_only).then_some((sent.call, sent.tokens)))
    }

    fn enter_turn(&mut self, placed: Placed, kept: Option<u16>) -> Result<()> {
        if !placed.opens_turn {
            return Ok(());
        }
        if let (Some(kept), Some(before)) = (kept, placed.turn.checked_sub(1)) {
            let turn = TurnRecord::read(&*self.pages, self.place, before)?;
            TurnRecord { kept: Some(kept), ..turn }.write(self.pages, self.place, before)?;
        }
        self.end_turn(kept.zip(placed.turn.checked_sub(1)))?;
        (self.record.sent, self.turn_opened) = (None, true);
        TurnRecord { start: placed.index, kept: None }.write(self.pages, self.place, placed.turn)
    }

    /// What the turn before was sent with leaves the window, or stays in it: `kept` are its call and its turn.
    fn end_turn(&mut self, kept: Option<(u16, u64)>) -> Result<()> {
        if self.record.window.is_none() {
            return Ok(());
        }
        let (counter, learned) = (self.counter(), bounds::read(&*self.pages, &self.epoch.model)?);
        let block = match kept {
            Some((call, turn)) => Call::read(&*self.pages, self.place, turn, call)?.block(&*self.pages, &counter, self.now)?,
            None => None,
        };
        let block = block.map(|block| bounded::block(&block, 0, &counter));
        if let Some(window) = &mut self.record.window {
            window.end_turn(block.as_ref(), &learned);
        }
        Ok(())
    }

    /// A provider told what a prompt did cost: what that says of the model's tokenizer, and of the next prompt. `is_sure` where it
    /// counted the prompt, or refused it, which is then more than the window has.
    pub fn observe(&mut self, sent: &Assembled, cost: u64, is_sure: bool) -> Result<bool> {
        let Some(content) = sent.prompt.content.filter(|_| sent.model.name == self.epoch.model.name) else { return Ok(false) };
        if !plausible(&content.request, cost, if is_sure { u64::MAX } else { sent.model.context_window }) {
            return Ok(false);
        }
        let mut learned = bounds::read(&*self.pages, &self.epoch.model)?;
        let anchor = self.record.window.as_ref().and_then(|window| window.anchor.as_ref()).filter(|anchor| {
            content.anchors && sent.epoch == self.record.epoch && anchor.block == content.block && anchor.since.tokens() > 0
        });
        let now = Anchor { counted: content.request, truth: cost };
        let observe = if is_sure { Learned::observe_sure } else { Learned::observe };
        let exceeded = match anchor {
            Some(anchor) if cost >= anchor.cost => {
                let before = Anchor { counted: Tally::default(), truth: anchor.cost };
                observe(&mut learned, Some(&before), &Anchor { counted: anchor.since, truth: cost })
            }
            // What a provider adds to every request weighs little in a long one.
            _ if self.epoch.tools.is_none() || content.request.tokens() >= LONG_REQUEST => observe(&mut learned, None, &now),
            _ => false,
        };
        bounds::write(self.pages, &self.epoch.model, &learned)?;
        if let Some(window) = self.record.window.as_mut().filter(|_| content.anchors && sent.epoch == self.epoch.epoch.number) {
            let (cost, block) = if sent.prompt.carried {
                (cost, content.block)
            } else {
                (cost.saturating_sub(learned.least_of(&content.block)), Tally::default())
            };
            window.anchor = Some(StoredAnchor { cost, since: Tally::default(), block });
        }
        self.unsettled = true;
        Ok(exceeded)
    }

    /// Begins the next epoch if what stands before the newest turn must change.
    pub fn settle(&mut self) -> Result<()> {
        let (limit, _) = self.record.budget.limit(&self.epoch.model)?;
        let window = self.epoch.epoch.window(limit, &self.record.budget.sections, &self.view(), self.pending())?;
        let slides = self.record.budget.sections.cut_step.millionths() == 0;
        let over = if slides { self.epoch.epoch.renderer_version != RENDERER_VERSION } else { self.epoch.epoch.is_over(&window) };
        let reason = match () {
            () if over || !slides && self.too_dear(limit)? => Reason::Cut,
            () if self.turn_opened && self.lost_text(window.first_turn)? => Reason::Forgotten,
            () if self.record.tally.messages == 1 && self.pinned_changed()? => Reason::Began,
            () => return Ok(()),
        };
        self.begin(reason, self.epoch.epoch.origin)
    }

    /// Whether the window is known to cost more than its epoch was planned with, and another factor would say so.
    fn too_dear(&self, limit: u64) -> Result<bool> {
        let Some(window) = &self.record.window else { return Ok(false) };
        let learned = bounds::read(&*self.pages, &self.epoch.model)?;
        let known = window.known(self.record.sent.is_some(), &learned);
        if !learned.has_samples() && known.is_none() {
            return Ok(false);
        }
        let own = Bounds { factors: learned.factors(), learned: true, overall: Factor::EXACT, window: None };
        let most = own.of(&window.content, known.as_ref(), &Tally::default());
        Ok(most > most_of_history(limit) && learned.factor_of(&window.content).per_mille() > self.epoch.epoch.factor.per_mille())
    }

    /// Tokens beside the stored messages that the window must leave room for.
    fn pending(&self) -> u64 {
        let pending = self.record.tally.pending_tokens(&self.epoch.model.framing, &self.counter());
        let held = self.record.sent.filter(|sent| self.epoch.model.append_only && sent.turn + 1 == self.record.tally.turns);
        pending + held.map_or(0, |sent| sent.tokens)
    }

    /// Whether something that prompts of the epoch begin with was forgotten, or has expired, since it began.
    fn lost_text(&self, first_turn: u64) -> Result<bool> {
        let lost = |memory: &MemoryRef| {
            Ok::<_, Error>(pinned::lost_at(&*self.pages, *memory, self.now)?.is_some_and(|at| at > self.epoch.began_at))
        };
        for memory in &self.epoch.epoch.pinned {
            if lost(memory)? {
                return Ok(true);
            }
        }
        for (turn, call) in kept_turns(&*self.pages, self.place, first_turn, self.record.tally.turns)? {
            let items = Call::read(&*self.pages, self.place, turn, call)?.sent.map_or_else(Vec::new, |sent| sent.items);
            for memory in items.iter().filter_map(|item| item.memory.as_ref()) {
                if lost(memory)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn pinned_changed(&self) -> Result<bool> {
        let pinned = Pinned::read(&*self.pages, &scopes(self.scope, &self.record), self.epoch.form(), self.now)?;
        Ok(!pinned.newer(&self.epoch.epoch.pinned).is_empty())
    }

    /// Begins the next epoch: what is pinned first, then the room that is left, then the cut.
    pub fn begin(&mut self, reason: Reason, origin: u64) -> Result<()> {
        let (limit, _) = self.record.budget.limit(&self.epoch.model)?;
        let scopes = scopes(self.scope, &self.record);
        let (mut fixed, shown) = fixed_for(&*self.pages, self.place, &self.epoch, &scopes, limit, self.now, None)?;
        let pinned: Vec<_> = shown.items.iter().filter_map(|item| item.memory).collect();
        let mut factor = self.factor_now()?;
        self.epoch.epoch = match self.next_epoch((reason, &mut factor), origin, limit, &fixed, &pinned) {
            // The caller's own floors leave no room for pinned memory: a message is not refused for that.
            Err(error) if error.kind() == ErrorKind::BudgetExceeded && fixed.pinned.take().is_some() => {
                self.next_epoch((reason, &mut factor), origin, limit, &fixed, &[])?
            }
            opened => opened?,
        };
        self.record.window = self.window_content(limit, &fixed)?.map(|content| WindowContent { content, anchor: None });
        (self.epoch.began_at, self.epoch.stamps) = (self.now, shown.stamps);
        for text in [self.epoch.system, self.epoch.tools].into_iter().flatten() {
            blob::refer(self.pages, self.place.partition, text.hash, text.length)?;
        }
        self.record.epoch = self.epoch.epoch.number;
        self.unsettled = false;
        self.epoch.write(self.pages, self.place)
    }

    /// The factor that an epoch begins with: what was learned, for content like that of the window before it.
    fn factor_now(&self) -> Result<Factor> {
        let model = &self.epoch.model;
        if model.factor == Factor::EXACT {
            return Ok(model.factor);
        }
        let learned = bounds::read(&*self.pages, model)?;
        let content = self.record.window.as_ref().map(|window| window.content).filter(|content| content.tokens() > 0);
        Ok(content.filter(|_| learned.has_samples()).map_or(model.factor, |content| learned.factor_of(&content)))
    }

    /// What the epoch's window is made of, where the tokenizer is closed.
    fn window_content(&self, limit: u64, fixed: &Fixed) -> Result<Option<Tally>> {
        if self.epoch.model.factor == Factor::EXACT {
            return Ok(None);
        }
        let window = self.epoch.epoch.window(limit, &self.record.budget.sections, &self.view(), self.pending())?;
        self.content_of(&window, fixed).map(Some)
    }

    fn content_of(&self, window: &Window, fixed: &Fixed) -> Result<Tally> {
        let (framing, counter, view) = (&self.epoch.model.framing, self.counter(), self.view());
        let (mut sum, mut tokens) = (bounded::fixed(fixed, framing, &counter), 0);
        for index in window.parts.iter().flat_map(Clone::clone) {
            let stored = view.message(index)?;
            tokens += stored.cost.tokens;
            sum = sum.plus(&bounded::message(&stored.message, stored.cost.tokens, framing.shape(), &counter));
        }
        for turn in window.first_turn..view.turns() {
            if let Some(block) = view.kept_block(turn)? {
                tokens += block.tokens;
                sum = sum.plus(&bounded::block(&block, 0, &counter));
            }
        }
        // Results that were rendered for calls without one, for good.
        let others = window.tokens.saturating_sub(tokens + self.pending());
        Ok(sum.plus(&bounded::like(Class::Prose, others)))
    }

    /// The next epoch, by a factor that bounds its window.
    fn next_epoch(
        &self,
        (reason, factor): (Reason, &mut Factor),
        origin: u64,
        limit: u64,
        fixed: &Fixed,
        pinned: &[MemoryRef],
    ) -> Result<Epoch> {
        let mut opened = self.epoch_by(*factor, reason, origin, limit, fixed, pinned)?;
        if self.epoch.model.factor == Factor::EXACT {
            return Ok(opened);
        }
        let learned = bounds::read(&*self.pages, &self.epoch.model)?;
        if !learned.has_samples() {
            return Ok(opened);
        }
        let bounds = Bounds { factors: learned.factors(), learned: true, overall: *factor, window: None };
        for _ in 0..MOST_FACTORS {
            let window = opened.window(limit, &self.record.budget.sections, &self.view(), self.pending())?;
            let content = self.content_of(&window, fixed)?;
            let (most, room) = (bounds.of(&content, None, &Tally::default()), most_of_history(limit).max(1));
            if most <= room || window.first_turn + 1 >= self.record.tally.turns {
                break;
            }
            let over = u128::from(factor.per_mille()) * u128::from(most) / u128::from(room) + 1;
            *factor = Factor::new(u32::try_from(over).unwrap_or(u32::MAX));
            opened = self.epoch_by(*factor, reason, origin, limit, fixed, pinned)?;
        }
        Ok(opened)
    }

    fn epoch_by(&self, factor: Factor, reason: Reason, origin: u64, limit: u64, fixed: &Fixed, pinned: &[MemoryRef]) -> Result<Epoch> {
        let (before, model) = (&self.epoch.epoch, &self.epoch.model);
        let opening = Opening {
            previous: (before.renderer_version > 0).then_some(before),
            reason,
            origin,
            pinned: pinned.to_vec(),
            versions: [before.summary_version, before.system_version, before.tools_version],
            factor,
            fixed_tokens: fixed.tokens(&model.framing),
        };
        Epoch::open(opening, limit, &self.record.budget.sections, &self.view(), self.pending())
    }

    /// Counted tokens of the fixed sections and of the window, for the session's own limit.
    pub fn shown_tokens(&self) -> Result<u64> {
        let (limit, _) = self.record.budget.limit(&self.epoch.model)?;
        let window = self.epoch.epoch.window(limit, &self.record.budget.sections, &self.view(), self.pending())?;
        Ok(self.epoch.epoch.fixed_tokens + window.tokens)
    }

    /// Stores a text for the epoch that begins next, which refers to it.
    pub fn put_text(&mut self, text: &[u8]) -> Result<BlobRef> {
        let blob = BlobRef { hash: blob::hash(self.seed, text), length: text.len() as u64 };
        blob::stage(self.pages, self.place.partition, blob.hash, text, usize::MAX >> 1, self.now)?;
        Ok(blob)
    }

    /// The window may have moved.
    pub fn unsettle(&mut self) {
        self.unsettled = true;
    }

    /// Applies what was collected: the last step of every transaction.
    pub fn finish(mut self) -> Result<()> {
        if self.unsettled {
            self.settle()?;
        }
        std::mem::take(&mut self.words).apply(self.pages, self.place.partition)?;
        self.head.write(self.pages, self.place.partition)?;
        self.record.last_time = self.now;
        self.record.write(self.pages, self.place)
    }
}

/// Requests of so many counted tokens tell what tokens cost, whatever a provider adds to each.
const LONG_REQUEST: u64 = 2_048;
/// Factors that are tried for an epoch: each takes off what was over.
const MOST_FACTORS: usize = 8;

/// What the history may cost by what is known of it, so that a block has a place beside it.
fn most_of_history(limit: u64) -> u64 {
    limit - limit / 64
}

/// Whether a request of this content can have cost that, and no more than `limit`: a provider that says so of a prompt that it did not
/// get is not believed.
fn plausible(content: &Tally, cost: u64, limit: u64) -> bool {
    let counted = content.tokens();
    let most = content.bytes().min(counted.saturating_mul(20)).saturating_add(4_000);
    cost >= counted / 4 && cost <= most.min(limit)
}

/// The fixed sections of an epoch that begins now, and what is pinned in them: as much as an eighth of what the instructions leave,
/// so that what somebody remembers can never make a session's instructions too large; `new` is a summary that is not written yet.
pub(super) fn fixed_for<P: Pages>(
    pages: &P,
    place: Place,
    epoch: &StoredEpoch,
    scopes: &[Scope],
    limit: u64,
    now: i64,
    new: Option<&Summary>,
) -> Result<(Fixed, Pinned)> {
    let (model, mut pinned) = (&epoch.model, Pinned::read(pages, scopes, epoch.form(), now)?);
    let (framing, counter) = (&model.framing, CachedCounter::new(model.encoding));
    let mut fixed = fixed(pages, place, epoch, Vec::new())?;
    if let Some(new) = new {
        fixed.summary = summary_text(new, model);
    }
    let room = model.factor.room(limit).saturating_sub(fixed.tokens(framing)) / PINNED_SHARE;
    let (items, _) = choose_pinned(std::mem::take(&mut pinned.items), room, framing, &counter);
    fixed.pinned = FixedText::pinned(items.clone(), framing, &counter);
    Ok((fixed, Pinned { items, ..pinned }))
}

/// Pinned memory may have one part in so many.
const PINNED_SHARE: u64 = 8;

/// The scopes whose memory a session sees: its own first.
pub(super) fn scopes(own: &Scope, record: &SessionRecord) -> Vec<Scope> {
    std::iter::once(own).chain(&record.reads).cloned().collect()
}

/// A summary as a prompt shows it.
fn summary_text(summary: &Summary, model: &Model) -> Option<Arc<FixedText>> {
    let shown = || FixedText::summary(&summary.text(), &model.framing, &CachedCounter::new(model.encoding));
    (!summary.is_empty()).then(shown)
}

/// The fixed sections of an epoch with these pinned memories.
pub(super) fn fixed<P: Pages>(pages: &P, place: Place, epoch: &StoredEpoch, pinned: Vec<Item>) -> Result<Fixed> {
    let (framing, counter) = (&epoch.model.framing, CachedCounter::new(epoch.model.encoding));
    let text = |blob: Option<BlobRef>| blob.map(|blob| blob::get(pages, place.partition, blob.hash)).transpose();
    let system = match text(epoch.system)? {
        Some(bytes) => Some(FixedText::system(&utf8(place, bytes)?, framing, &counter)),
        None => None,
    };
    let tools = match text(epoch.tools)? {
        Some(bytes) => Tools::parse(&bytes)?.map(|tools| FixedTools::new(tools, framing, &counter)),
        None => None,
    };
    let stored = StoredSummary::read(pages, place, epoch.epoch.summary_version)?;
    let summary = stored.and_then(|stored| summary_text(&stored.summary, &epoch.model));
    Ok(Fixed { tools, system, pinned: FixedText::pinned(pinned, framing, &counter), summary })
}

fn utf8(place: Place, bytes: Vec<u8>) -> Result<Arc<str>> {
    String::from_utf8(bytes).map(Arc::from).map_err(|_| envelope::damaged(place.record().as_slice(), "its system prompt is no UTF-8"))
}

/// What stands before the first epoch.
fn no_epoch(model: &Model) -> Epoch {
    Epoch {
        number: 0,
        reason: Reason::Began,
        origin: 0,
        pinned: Vec::new(),
        summary_version: 0,
        system_version: 0,
        tools_version: 0,
        renderer_version: 0,
        factor: model.factor,
        fixed_tokens: 0,
        cut: crate::context::Cut::default(),
    }
}

/// The error of a session that went on meanwhile.
pub(super) fn moved(record: &SessionRecord, expected: u64) -> Error {
    let messages = record.tally.messages;
    Error::new(
        ErrorKind::SessionMoved,
        format!(
            "writing to session {:?}: it must be as the caller saw it, with {expected} messages, and it has {messages}, or was compacted, rewound or redacted meanwhile: read the new messages, assemble() again, and decide anew",
            record.id
        ),
    )
    .with("session_id", record.id.as_str())
    .with("expected_index", expected as i64)
    .with("messages", messages as i64)
}

/// What is known of a caller's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct KnownId {
    pub index: u64,
    pub request: u64,
    /// The text was taken out.
    pub gone: bool,
}

pub(super) fn find_id<P: Pages>(pages: &P, place: Place, seed: Seed, id: &str) -> Result<Option<KnownId>> {
    read_id(pages, place.id(seed, id).as_slice())
}

/// The same by the key of the id.
pub(super) fn read_id<P: Pages>(pages: &P, key: &[u8]) -> Result<Option<KnownId>> {
    let Some(value) = pages.get(key)? else { return Ok(None) };
    let mut r = Reader::array(key, envelope::open(key, value)?.body)?;
    Ok(Some(KnownId { index: r.uint()?, request: r.uint()?, gone: r.bool()? }))
}

pub(super) fn put_id(pages: &mut impl PagesMut, place: Place, seed: Seed, id: &str, known: KnownId) -> Result<()> {
    let key = place.id(seed, id);
    let mut w = Writer::array(3);
    w.uint(known.index);
    w.uint(known.request);
    w.bool(known.gone);
    pages.put(key.as_slice(), &envelope::seal(key.as_slice(), 1, Codec::MessagePack, w.bytes()))
}
