//! The epochs of a session: when the next one begins, and the contents of its window.

use std::sync::Arc;

use super::fixed::{fixed_for, fixed_of, scopes};
use crate::context::explain::{Explained, Why};
use crate::context::limit::section;
use crate::context::{Bounds, Epoch, Factor, Fixed, History, MemoryRef, Opening, Origin, Reason, Window, bounded};
use crate::models::Model;
use crate::scope::Scope;
use crate::session::ledger::{self, Call};
use crate::session::record::SessionRecord;
use crate::session::transcript::blob;
use crate::session::transcript::view::{Extent, kept_turns};
use crate::session::window::assemble::Assembled;
use crate::session::window::bounds::{self, StoredAnchor, WindowContent};
use crate::session::window::pinned::{self, Pinned};
use crate::session::writer::SessionWriter;
use crate::store::pages::{Pages, PagesMut};
use crate::tokens::bound::{Anchor, Class, Learned, Tally};
use crate::units::clock::AHEAD;
use crate::{Error, ErrorKind, Result};

/// The fate of the cost that a provider reported.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::session) struct Observed {
    /// It cannot be, and nothing was learned of it.
    pub impossible: bool,
    /// It was above the bound.
    pub exceeded: bool,
}

impl<P: PagesMut> SessionWriter<'_, P> {
    /// A provider reported the cost of a prompt: what that says of the model's tokenizer, and of the next prompt. `is_sure` where it
    /// counted the prompt, or refused it, which is then more than the window has.
    pub(in crate::session) fn observe(&mut self, sent: &Assembled, cost: u64, is_sure: bool) -> Result<Observed> {
        let Some(content) = sent.prompt.content.filter(|_| sent.model.learned_as() == self.epoch.model.learned_as()) else {
            return Ok(Observed::default());
        };
        if !sent.can_cost(cost) || !is_sure && cost > sent.model.context_window {
            return Ok(Observed { impossible: true, exceeded: false });
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
            // Tokens that a provider adds to every request weigh little in a long one.
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
        Ok(Observed { impossible: false, exceeded })
    }

    /// The model is asked at another address from now on: the cost of a prompt at the one before says nothing of it.
    pub(in crate::session) fn ask_at(&mut self, address: Arc<str>) -> Result<()> {
        self.epoch.model.base_url = address;
        if let Some(window) = &mut self.record.window {
            window.anchor = None;
        }
        self.unsettled = true;
        self.epoch.write(self.pages, self.place)
    }

    /// Begins the next epoch if what stands before the newest turn must change. A text that was forgotten goes at once, and its epoch ends with
    /// the turn; where thinking behind it would be refused, with the next message.
    pub(in crate::session) fn settle(&mut self) -> Result<()> {
        let (limit, _) = self.record.limit(&self.epoch.model)?;
        let window = self.epoch.epoch.window(limit, &self.record.budget.sections, &self.view(), self.pending())?;
        self.past = std::mem::take(&mut self.past).of(self.place, self.record.edits);
        self.past.begin(window.first_turn);
        let slides = self.record.budget.sections.cut_step.millionths() == 0;
        let over = if slides { self.epoch.epoch.is_outdated() } else { self.epoch.epoch.is_over(&window) };
        let binds_thinking = self.epoch.model.checks_prefix();
        let reason = match () {
            () if over || self.is_late && binds_thinking || self.epoch.names_others() || !slides && self.too_dear(limit)? => Reason::Cut,
            () if (self.turn_opened || binds_thinking) && self.lost_text()? => Reason::Forgotten,
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
        pending + if self.epoch.model.append_only { Extent::of(&self.record).held } else { 0 }
    }

    /// Whether something that prompts of the epoch begin with was forgotten, or has expired, since it began; or was replaced by what was, or
    /// by what the last prompt had no room for.
    fn lost_text(&mut self) -> Result<bool> {
        let read = |from, end| kept_turns(&*self.pages, self.place, from, end);
        let kept = self.past.kept(self.record.tally.turns, self.settled, read)?;
        let lost_since = |memory: &MemoryRef, began: i64| {
            Ok::<_, Error>(pinned::lost_at(&*self.pages, *memory, self.told)?.is_some_and(|at| at > began))
        };
        let lost = |memory: &MemoryRef| lost_since(memory, self.epoch.began_at);
        // Of an epoch from the future nobody knows when it began; what its prompts begin with was there then.
        let began = if self.epoch.began_at > self.told.saturating_add(AHEAD) { i64::MIN } else { self.epoch.began_at };
        let mut newer = Vec::new();
        for memory in &self.epoch.epoch.pinned {
            if lost_since(memory, began)? {
                return Ok(true);
            }
            if pinned::ended_at(&*self.pages, *memory)?.is_some() {
                let Some(current) = pinned::newer_than(&*self.pages, *memory, self.told)? else { return Ok(true) };
                newer.push(current);
            }
        }
        if self.had_no_room_for(&newer)? {
            return Ok(true);
        }
        // Within a turn its own block stands there, too.
        let own = self.record.sent.filter(|sent| sent.turn + 1 == self.record.tally.turns).map(|sent| (sent.turn, sent.call));
        for (turn, call) in kept.into_iter().chain(own) {
            let items = Call::read(&*self.pages, self.place, turn, call)?.sent.map_or_else(Vec::new, |sent| sent.items);
            for memory in items.iter().filter_map(|item| item.memory.as_ref()) {
                if lost(memory)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether the block of the turn before left out one of these memories, which took the place of pinned ones.
    fn had_no_room_for(&self, newer: &[MemoryRef]) -> Result<bool> {
        let Some(turn) = self.record.tally.turns.checked_sub(2).filter(|_| !newer.is_empty()) else { return Ok(false) };
        for number in 0..ledger::count(&*self.pages, self.place, turn)? {
            // The block is chosen for the first call of a turn or of an epoch, and stands still in the others.
            let chosen = Call::read(&*self.pages, self.place, turn, number)?.sent.filter(|sent| sent.carried);
            let Some(sent) = chosen.filter(|sent| sent.epoch == self.epoch.epoch.number) else { continue };
            for memory in sent.explained.iter().filter_map(left_out) {
                // It may have been replaced itself since then.
                let now_there = if newer.contains(&memory) { Some(memory) } else { pinned::newer_than(&*self.pages, memory, self.told)? };
                if now_there.is_some_and(|now_there| newer.contains(&now_there)) {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        Ok(false)
    }

    fn pinned_changed(&self) -> Result<bool> {
        let form = |partition| self.epoch.form_of(partition, self.place.partition);
        let pinned = Pinned::read(&*self.pages, &scopes(self.scope, &self.record), form, self.told)?;
        Ok(!pinned.newer(&*self.pages, &self.epoch, form, self.told)?.is_empty())
    }

    /// Begins the next epoch: pinned memories first, then the remaining room, then the cut.
    pub(in crate::session) fn begin(&mut self, reason: Reason, origin: u64) -> Result<()> {
        let (limit, _) = self.record.limit(&self.epoch.model)?;
        let scopes = scopes(self.scope, &self.record);
        self.epoch.own_names = self.epoch.names_memories && scopes.len() > 1;
        self.epoch.origin = origin_of(&scopes);
        let (mut fixed, shown) = fixed_for(&*self.pages, self.place, &self.epoch, &scopes, limit, self.told, None)?;
        let pinned: Vec<_> = shown.items.iter().filter_map(|item| item.memory).collect();
        let mut factor = factor_now(&*self.pages, &self.epoch.model, &self.record)?;
        self.epoch.epoch = match self.next_epoch((reason, &mut factor), origin, limit, &fixed, &pinned) {
            // The caller's own floors leave no room for pinned memory: a message is not refused for that.
            Err(error) if error.kind() == ErrorKind::BudgetExceeded && fixed.pinned.take().is_some() => {
                self.next_epoch((reason, &mut factor), origin, limit, &fixed, &[])?
            }
            opened => opened?,
        };
        self.record.window = self.window_content(limit, &fixed)?.map(|content| WindowContent { content, anchor: None });
        (self.epoch.began_at, self.epoch.stamps, self.epoch.taken_back) = (self.now, shown.stamps, None);
        let messages = self.record.tally.messages;
        self.epoch.thinking_from = (messages > 0 && self.epoch.model.checks_prefix()).then_some(messages);
        for text in [self.epoch.system, self.epoch.tools].into_iter().flatten() {
            blob::refer(self.pages, self.place.partition, text.hash, text.length)?;
        }
        self.record.epoch = self.epoch.epoch.number;
        self.unsettled = false;
        self.epoch.write(self.pages, self.place)
    }

    /// The content of the epoch's window by class, where the tokenizer is closed.
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

    /// The fixed sections of its epoch.
    pub(in crate::session) fn fixed(&self) -> Result<Fixed> {
        fixed_of(&*self.pages, self.place, &self.epoch, self.told)
    }

    /// Counted tokens of the fixed sections and of the window, for the session's own limit.
    pub(in crate::session) fn shown_tokens(&self) -> Result<u64> {
        let (limit, _) = self.record.limit(&self.epoch.model)?;
        let window = self.epoch.epoch.window(limit, &self.record.budget.sections, &self.view(), self.pending())?;
        Ok(self.epoch.epoch.fixed_tokens + window.tokens)
    }
}

/// The memory of `updated` for which a prompt had no room.
fn left_out(row: &Explained) -> Option<MemoryRef> {
    let no_room = matches!(row.why, Why::OverGrant { .. } | Why::OverCeiling { .. } | Why::OverRoom { .. });
    row.memory.filter(|_| no_room && &*row.section == section::UPDATED)
}

/// How memories say which of these scopes they are of, of which the first is the session's own.
fn origin_of(scopes: &[Scope]) -> Origin {
    let is_named_twice = |(at, scope): (usize, &Scope)| scopes[..at].iter().any(|other| other.id == scope.id);
    match scopes {
        [] | [_] => Origin::Unsaid,
        _ if scopes.iter().enumerate().any(is_named_twice) => Origin::TypeAndId,
        _ => Origin::Id,
    }
}

/// The factor that an epoch of a session begins with: the learned one, for content like that of the window before it.
pub(in crate::session) fn factor_now<P: Pages>(pages: &P, model: &Model, record: &SessionRecord) -> Result<Factor> {
    if model.factor == Factor::EXACT {
        return Ok(model.factor);
    }
    let learned = bounds::read(pages, model)?;
    let content = record.window.as_ref().map(|window| window.content).filter(|content| content.tokens() > 0);
    Ok(content.filter(|_| learned.has_samples()).map_or(model.factor, |content| learned.factor_of(&content)))
}

/// Requests of so many counted tokens tell what tokens cost, whatever a provider adds to each.
const LONG_REQUEST: u64 = 2_048;

/// Factors that are tried for an epoch: each takes off what was over.
const MOST_FACTORS: usize = 8;

/// The most that the history may cost by its known cost, so that a block has a place beside it.
fn most_of_history(limit: u64) -> u64 {
    limit - limit / 64
}
