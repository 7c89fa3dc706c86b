//! Composes a prompt: plain inputs in, segments under the limit out. A pure function.
//!
//! The window of history comes first and never looks at the volatile block; the block gets what is left (with `cut_step = 0`
//! it is the other way round). Then everything is laid out and counted again from what is really sent; a total above the limit
//! is never returned. Cost: O(window), never O(history); no text is copied except into the block.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::block::{self, Item};
use super::bounded::{self, Bounds, Content, KnownCost};
use super::breakpoints;
use super::cut::{Grid, Window};
use super::epoch::Epoch;
use super::fixed::Fixed;
use super::framing::Framing;
use super::history::{History, Stored};
use super::layout::{Laid, Layout};
use super::limit::{Budget, Order, section};
use super::message::Role;
use super::prompt::{Prompt, Scale, SetAside};
use super::report::{Report, disagrees, exceeded};
use super::rounds;
use super::segment::{Segment, chain};
use super::select::{Chooser, Chosen};
use super::squeeze::{most_saved, squeeze};
use super::turns::answers_turn;
use crate::tokens::bound::{Class, Tally};
use crate::tokens::{Counter, Factor};
use crate::{Error, Result};

/// The items of the volatile block.
#[derive(Debug, Clone, Copy)]
pub enum Volatile<'a> {
    /// The first call of a turn, or a call without an open user message: candidates of all volatile sections.
    Fresh(&'a [Item]),
    /// A tool round: what the turn's block showed before, in its order, less what was forgotten since.
    Frozen(&'a [Item]),
    /// An old call, from the ledger: the items its block showed, in their order, and its [`Prompt::set_aside`]. Composed with the
    /// epoch, the fixed sections and the transcript of that time, it gives the same bytes.
    Sent(&'a [Item], SetAside),
}

impl<'a> Volatile<'a> {
    fn items(self) -> &'a [Item] {
        let (Self::Fresh(items) | Self::Frozen(items) | Self::Sent(items, _)) = self;
        items
    }
}

/// Everything a prompt is made of.
#[derive(Clone, Copy)]
pub struct Inputs<'a> {
    /// The frame of the model's requests.
    pub framing: &'a Framing,
    /// Counts the volatile block; everything else comes counted.
    pub counter: &'a dyn Counter,
    /// The limit, in the model's own tokens ([`super::limit::input_limit`]).
    pub limit: u64,
    /// The reserve for the reply.
    pub output_tokens: u64,
    /// Order, cut and grants.
    pub budget: &'a Budget,
    /// The session's epoch.
    pub epoch: &'a Epoch,
    /// The epoch's fixed sections, less what was forgotten since.
    pub fixed: &'a Fixed,
    /// The transcript.
    pub history: &'a dyn History,
    /// The candidates of the volatile block.
    pub volatile: Volatile<'a>,
    /// The model requires that nothing that was sent is changed. A frozen block then counts as history, so `add` must ask
    /// [`Epoch::window`] with the block's tokens among the pending ones.
    pub append_only: bool,
    /// For a closed tokenizer: its known costs beyond the epoch's factor.
    pub bounds: Option<&'a Bounds>,
}

/// Composes the prompt.
///
/// # Errors
/// `BudgetExceeded` if the fixed sections and the newest message do not fit, with every number; `InvalidInput` for grants that
/// contradict themselves; `StoreCorrupt` if the stored counts are not those of the messages.
pub fn compose(inputs: &Inputs<'_>) -> Result<Prompt> {
    composed(inputs, false)
}

/// Whether there is a prompt of these inputs. Reads the window alone: the line that counts the rounds before it is taken to fill its
/// reserve, however many they are.
///
/// # Errors
/// Those of [`compose`].
pub fn check(inputs: &Inputs<'_>) -> Result<()> {
    composed(inputs, true).map(drop)
}

fn composed(inputs: &Inputs<'_>, reserves: bool) -> Result<Prompt> {
    check_sections(inputs.volatile)?;
    match inputs.bounds.filter(|bounds| bounds.informed()) {
        Some(bounds) => compose_bounded(inputs, bounds, reserves),
        None => Composer::new(inputs, reserves)?.compose(),
    }
}

/// Tries of [`compose_bounded`] and of [`Composer::settle`]: each takes off at least what was over.
const MOST_TRIES: usize = 16;
/// Tokens by which a try differs from the one before at least.
const LEAST_STEP: u64 = 8;

/// Where the epoch's own window is over the limit by what was learned since, this call gets a smaller one, as it would for a smaller
/// limit; the epoch's record stays, and the next `add` begins another.
fn compose_bounded(inputs: &Inputs<'_>, bounds: &Bounds, reserves: bool) -> Result<Prompt> {
    let slides = inputs.budget.cut_step.millionths() == 0;
    let mut factor = if slides { bounds.overall } else { inputs.epoch.factor };
    let mut tries = 0;
    loop {
        let epoch = Epoch { factor, ..inputs.epoch.clone() };
        let inputs = Inputs { epoch: &epoch, ..*inputs };
        let prompt = Composer::new(&inputs, reserves)?.compose()?;
        if prompt.total_tokens <= inputs.limit {
            return Ok(prompt);
        }
        tries += 1;
        if tries == MOST_TRIES {
            let beside = prompt.counted_tokens.saturating_sub(inputs.fixed.tokens(inputs.framing));
            return Err(exceeded(&inputs, beside, beside));
        }
        let over = u128::from(factor.per_mille()) * u128::from(prompt.total_tokens) / u128::from(inputs.limit.max(1));
        factor = Factor::new(u32::try_from(over).unwrap_or(u32::MAX).saturating_add(factor.per_mille() / 100 + 1));
    }
}

/// A block holds volatile sections and the caller's own, not what has its place elsewhere.
fn check_sections(volatile: Volatile<'_>) -> Result<()> {
    match volatile.items().iter().find(|item| section::is_reserved(&item.section)) {
        None => Ok(()),
        Some(item) => Err(Error::invalid(format!(
            "cannot assemble the prompt: an item belongs to a volatile section or to one of the caller's own, got \"{}\" (item \"{}\"): \
             give it another section name",
            item.section, item.id
        ))
        .with("section", &*item.section)),
    }
}

struct Composer<'a> {
    inputs: &'a Inputs<'a>,
    grid: Grid,
    /// The most tokens in all.
    room: u64,
    /// Counted tokens of what stands in every prompt.
    fixed: u64,
    /// The newest turn has an open user message.
    carried: bool,
    pending: u64,
    /// Tokens of a block that was sent and may not go again: it counts as history from then on.
    held: u64,
    /// History's grant, where the window slides.
    cut_by: Option<u64>,
    /// Nobody reads the line of rounds: a text that fills its reserve stands for it.
    reserves: bool,
}

impl<'a> Composer<'a> {
    fn new(inputs: &'a Inputs<'a>, reserves: bool) -> Result<Self> {
        let room = inputs.epoch.factor.room(inputs.limit);
        let fixed = inputs.fixed.tokens(inputs.framing);
        let end = Ending::of(inputs.history)?;
        let pending = end.open.iter().map(|id| inputs.framing.interrupted(id, inputs.counter)).sum();
        let grid = Grid { origin: 0, grant: 0, step: 0, rounds: 1, parts_turns: false, keeps_heads: false };
        let mut composer = Self { inputs, grid, room, fixed, carried: end.carried, pending, held: 0, cut_by: None, reserves };
        if fixed > room {
            let least = Grid { origin: inputs.epoch.origin, step: 1, keeps_heads: true, ..grid }.window(inputs.history, pending)?;
            return Err(composer.exceeded(&least)?);
        }
        composer.held = match inputs.volatile {
            Volatile::Frozen(_) if inputs.append_only && end.carried => composer.block_tokens(),
            // An epoch that began within a turn was planned beside the block before it.
            Volatile::Fresh(_) if inputs.append_only && end.carried => inputs.history.held(),
            Volatile::Sent(_, set_aside) => set_aside.as_history,
            _ => 0,
        };
        composer.grid = inputs.epoch.grid(inputs.limit, inputs.budget)?;
        Ok(composer)
    }

    fn compose(mut self) -> Result<Prompt> {
        if self.grid.step > 0 {
            let window = self.window(self.grid)?;
            let (window, squeezed) = self.fit_newest(window)?;
            let chosen = self.choose(self.available() - window.tokens)?;
            return self.finish(&window, chosen, &squeezed);
        }
        let reserve = self.newest_tokens()?.min(self.available().saturating_sub(self.floors()));
        let history = self.inputs.budget.grant(section::HISTORY, self.space());
        let chosen = self.choose(self.available() - reserve.max(history.floor).min(self.available()))?;
        let used = chosen.block.as_ref().map_or(0, |block| block.tokens + self.overhead());
        let grant = match self.inputs.volatile {
            Volatile::Sent(_, SetAside { for_history: Some(grant), .. }) => grant,
            _ => (self.available() - used).min(history.ceiling),
        };
        self.cut_by = Some(grant);
        let window = self.window(Grid { grant, ..self.grid })?;
        let (window, squeezed) = self.fit_newest(window)?;
        if window.tokens + used <= self.available() {
            return self.finish(&window, chosen, &squeezed);
        }
        let chosen = self.choose(self.available() - window.tokens)?;
        self.finish(&window, chosen, &squeezed)
    }

    fn window(&self, grid: Grid) -> Result<Window> {
        let inputs = self.inputs;
        let window = inputs.epoch.window_on(grid, inputs.history, self.pending + self.held)?;
        let tokens = window.tokens.saturating_sub(self.held);
        let shows = inputs.epoch.shows_rounds(&window);
        let line = match (shows, self.reserves) {
            (false, _) => None,
            (true, true) => Some(rounds::reserved(&window, inputs.framing, inputs.counter)),
            (true, false) => rounds::line(inputs.history, &window, inputs.epoch.renderer_version, inputs.framing, inputs.counter)?,
        };
        // Where not even the last round has room beside it, the line gives way, and with it a user message that it shows shortened. A turn
        // without a user message has none to lose.
        let line = line.filter(|line| tokens + line.cost.tokens <= self.grid.grant.min(self.available()));
        if line.is_none() && window.cut.shortened && grid.parts_turns {
            return self.window(Grid { parts_turns: false, ..grid });
        }
        Ok(Window { tokens: tokens + line.as_ref().map_or(0, |line| line.cost.tokens), rounds: line, ..window })
    }

    /// The tokens that the fixed sections leave now.
    fn available(&self) -> u64 {
        self.room - self.fixed
    }

    /// The tokens that they left when the epoch began: the base of grants, so that they do not move within an epoch.
    fn space(&self) -> u64 {
        self.room.saturating_sub(self.inputs.epoch.fixed_tokens)
    }

    fn floors(&self) -> u64 {
        self.inputs.budget.volatile_floors(self.space())
    }

    /// The cost of the block besides its own tokens: a message of its own, or in the classic order up to three system messages.
    fn overhead(&self) -> u64 {
        let counter = self.inputs.counter;
        match self.inputs.budget.order {
            Order::Classic => 3 * self.inputs.framing.frame(Role::System, None, counter) + 2 * block::wrapper_tokens(counter),
            Order::CacheFirst if self.carried => 0,
            Order::CacheFirst => self.inputs.framing.frame(Role::User, None, counter),
        }
    }

    fn newest_tokens(&self) -> Result<u64> {
        let history = self.inputs.history;
        let Some(turn) = history.turns().checked_sub(1) else { return Ok(0) };
        let total = history.tokens_before(history.messages())? + self.pending;
        Ok(total.saturating_sub(history.tokens_before(history.turn_start(turn)?)?))
    }

    /// Fills the block with what fits into `room`.
    fn choose(&self, room: u64) -> Result<Chosen> {
        let pinned = self.inputs.fixed.pinned.as_ref().map_or(&[][..], |pinned| &pinned.items);
        let room = if matches!(self.inputs.volatile, Volatile::Sent(..)) { u64::MAX } else { room.saturating_sub(self.overhead()) };
        let (budget, counter, step) = (self.inputs.budget, self.inputs.counter, self.grid.step);
        let has_spare = step > 0 && !self.inputs.append_only;
        let at_cut = if step > 0 { self.available().saturating_sub(self.grid.grant + self.overhead()) } else { u64::MAX };
        let chooser = Chooser { budget, space: self.space(), room, counter, pinned, has_spare, step, at_cut };
        match self.inputs.volatile {
            Volatile::Fresh(candidates) => chooser.choose(candidates),
            Volatile::Frozen(items) | Volatile::Sent(items, _) => Ok(chooser.repeat(items)),
        }
    }

    /// A window that is larger than its grant holds only the newest turn's message and last round. Results of that round, which
    /// nobody has seen, are shortened until the turn's block keeps its place; if that cannot be, until the window fits at all.
    fn fit_newest(&self, window: Window) -> Result<(Window, BTreeMap<u64, Arc<Stored>>)> {
        let available = self.available();
        if window.tokens <= self.grid.grant.min(available.saturating_sub(self.held)) {
            return Ok((window, BTreeMap::new()));
        }
        let wanted = available.saturating_sub(self.block_tokens());
        for target in [wanted, available] {
            if window.tokens <= target {
                return Ok((window, BTreeMap::new()));
            }
            if let Some(squeezed) = self.squeeze_to(&window, window.tokens - target)? {
                let saved = self.saved(&squeezed)?;
                return Ok((Window { tokens: window.tokens - saved, ..window }, squeezed));
            }
        }
        Err(self.exceeded(&window)?)
    }

    /// The tokens that the block needs: as it was sent, or the floors of a fresh one.
    fn block_tokens(&self) -> u64 {
        match self.inputs.volatile {
            Volatile::Fresh([]) => 0,
            Volatile::Fresh(_) => self.floors(),
            Volatile::Frozen(items) => block::render(items).map_or(0, |text| self.inputs.counter.count(&text) + self.overhead()),
            Volatile::Sent(_, set_aside) => set_aside.for_block,
        }
    }

    /// The error of a window that does not fit, however short its newest results are shown.
    fn exceeded(&self, window: &Window) -> Result<Error> {
        let (_, messages) = self.newest_results(window)?;
        let saved = most_saved(&messages, self.inputs.framing, self.inputs.counter);
        Ok(exceeded(self.inputs, window.tokens, window.tokens.saturating_sub(saved)))
    }

    fn squeeze_to(&self, window: &Window, over: u64) -> Result<Option<BTreeMap<u64, Arc<Stored>>>> {
        let (indices, messages) = self.newest_results(window)?;
        let squeezed = squeeze(&messages, over, self.inputs.framing, self.inputs.counter);
        Ok(squeezed.map(|squeezed| indices.into_iter().zip(squeezed).collect()))
    }

    /// The messages with results at the end of a window, newest first, with their indices.
    fn newest_results(&self, window: &Window) -> Result<(Vec<u64>, Vec<Arc<Stored>>)> {
        let mut round = Vec::new();
        for index in window.parts.iter().flat_map(Clone::clone).rev() {
            let stored = self.inputs.history.message(index)?;
            if stored.message.tool_results().next().is_none() {
                break;
            }
            round.push((index, stored));
        }
        Ok(round.into_iter().unzip())
    }

    fn saved(&self, squeezed: &BTreeMap<u64, Arc<Stored>>) -> Result<u64> {
        let mut saved = 0;
        for (index, stored) in squeezed {
            saved += self.inputs.history.message(*index)?.cost.tokens - stored.cost.tokens;
        }
        Ok(saved)
    }

    /// Lays out and counts again. Where counts of parts do not add up to the count of the whole, the block gives way. The sent prompt was
    /// within its limit, by what was known then.
    fn finish(&self, window: &Window, chosen: Chosen, squeezed: &BTreeMap<u64, Arc<Stored>>) -> Result<Prompt> {
        if let Some(bounds) = self.inputs.bounds.filter(|bounds| bounds.informed()) {
            return self.finish_bounded(bounds, window, squeezed);
        }
        let most = if matches!(self.inputs.volatile, Volatile::Sent(..)) { u64::MAX } else { self.room };
        let measure = |chosen: &Chosen| {
            let laid = self.lay(window, chosen, squeezed)?;
            Ok((self.counted(&laid), Some(laid)))
        };
        let (best, laid, counted) = self.settle(chosen, self.available() - window.tokens, most, |_| 0, measure)?;
        if counted > most {
            return Err(disagrees(counted, self.room));
        }
        let laid = laid.map_or_else(|| self.lay(window, &best, squeezed), Ok)?;
        let content = self.inputs.bounds.map(|_| self.content(window, &best, squeezed, &laid));
        let total = self.inputs.epoch.factor.bound(counted);
        self.prompt(laid, window, best, squeezed, total, content)
    }

    /// Finishes a prompt where something was learned of the tokenizer: the block gets what the bound leaves. A total above the limit means
    /// that the window alone is above it.
    fn finish_bounded(&self, bounds: &Bounds, window: &Window, squeezed: &BTreeMap<u64, Arc<Stored>>) -> Result<Prompt> {
        let (limit, empty) = (self.inputs.limit, Chosen::default());
        let history = match self.known(bounds, window, squeezed) {
            Some(known) => known,
            None => (self.walked(window, &empty, squeezed)?, None),
        };
        let at = |chosen: &Chosen| bounds.of(&history.0, history.1, &self.block_content(chosen));
        let spare = |left: u64| bounds.most().room(left);
        let room = match self.inputs.volatile {
            Volatile::Frozen(_) => u64::MAX,
            _ => spare(limit.saturating_sub(at(&empty))),
        };
        let (best, _, total) = self.settle(self.choose(room)?, room, limit, spare, |chosen| Ok((at(chosen), None)))?;
        let laid = self.lay(window, &best, squeezed)?;
        let content = self.content(window, &best, squeezed, &laid);
        self.prompt(laid, window, best, squeezed, total, Some(content))
    }

    /// The fullest block that keeps the whole within `limit`, with what was laid out to `measure` it: a block above gives way, and one that
    /// leaves room (`spare` tokens of what is left) is filled up. Where none fits, none.
    fn settle(
        &self,
        mut chosen: Chosen,
        mut room: u64,
        limit: u64,
        spare: impl Fn(u64) -> u64,
        measure: impl Fn(&Chosen) -> Result<(u64, Option<Laid>)>,
    ) -> Result<(Chosen, Option<Laid>, u64)> {
        let mut best = None;
        for _ in 0..MOST_TRIES {
            // Where there is no block to show, or none fits: `chosen` says why of each candidate.
            let Some(block) = &chosen.block else {
                return best.map_or_else(|| measure(&chosen).map(|(total, laid)| (chosen, laid, total)), Ok);
            };
            let ((total, laid), used, shown) = (measure(&chosen)?, block.tokens + self.overhead(), block.items.len());
            if let Some(over) = total.checked_sub(limit).filter(|over| *over > 0) {
                room = room.min(used).saturating_sub(over.max(LEAST_STEP));
            } else {
                let more = spare(limit - total);
                best = Some((chosen, laid, total));
                if shown == self.inputs.volatile.items().len() || more < LEAST_STEP || used + more <= room {
                    break;
                }
                room = used + more;
            }
            chosen = self.choose(room)?;
        }
        if let Some(best) = best {
            return Ok(best);
        }
        let none = self.choose(0)?;
        measure(&none).map(|(total, laid)| (none, laid, total))
    }

    /// Content and anchor of the window, where it is the epoch's own.
    fn known<'b>(
        &self,
        bounds: &'b Bounds,
        window: &Window,
        squeezed: &BTreeMap<u64, Arc<Stored>>,
    ) -> Option<(Tally, Option<&'b KnownCost>)> {
        let known = bounds.window.as_ref().filter(|known| known.cut == window.cut && known.messages == self.inputs.history.messages())?;
        // A window that slides is not summed up as it grows.
        let own = squeezed.is_empty() && self.grid.step > 0 && window.rounds.is_none();
        own.then(|| (known.content.plus(&bounded::like(Class::Prose, self.pending)), known.anchor.as_ref()))
    }

    fn walked(&self, window: &Window, chosen: &Chosen, squeezed: &BTreeMap<u64, Arc<Stored>>) -> Result<Tally> {
        let laid = self.lay(window, chosen, squeezed)?;
        Ok(bounded::segments(&laid.segments, self.inputs.framing, self.inputs.counter))
    }

    fn block_content(&self, chosen: &Chosen) -> Tally {
        let content = |block: &Arc<block::Block>| bounded::block(block, self.overhead(), self.inputs.counter);
        chosen.block.as_ref().map_or_else(Tally::default, content)
    }

    /// The parts of the prompt.
    fn content(&self, window: &Window, chosen: &Chosen, squeezed: &BTreeMap<u64, Arc<Stored>>, laid: &Laid) -> Content {
        let block = self.block_content(chosen);
        if let Some((history, _)) = self.inputs.bounds.and_then(|bounds| self.known(bounds, window, squeezed)) {
            return Content { request: history.plus(&block), block, anchors: true };
        }
        let request = bounded::segments(&laid.segments, self.inputs.framing, self.inputs.counter);
        Content { request, block, anchors: false }
    }

    fn counted(&self, laid: &Laid) -> u64 {
        self.inputs.framing.reply + laid.segments.iter().map(|segment| segment.tokens).sum::<u64>()
    }

    fn lay(&self, window: &Window, chosen: &Chosen, squeezed: &BTreeMap<u64, Arc<Stored>>) -> Result<Laid> {
        let inputs = self.inputs;
        let layout = Layout {
            framing: inputs.framing,
            counter: inputs.counter,
            order: inputs.budget.order,
            fixed: inputs.fixed,
            history: inputs.history,
            window,
            block: chosen.block.as_ref(),
            carried: self.carried,
            append_only: inputs.append_only,
            squeezed,
        };
        layout.lay()
    }

    fn prompt(
        &self,
        laid: Laid,
        window: &Window,
        chosen: Chosen,
        squeezed: &BTreeMap<u64, Arc<Stored>>,
        total: u64,
        content: Option<Content>,
    ) -> Result<Prompt> {
        let (inputs, counted) = (self.inputs, self.counted(&laid));
        let scale = Scale { counted, total, factor: inputs.epoch.factor };
        let report = Report { inputs, grid: self.grid, space: self.space(), scale };
        let sections = report.sections(&laid, &chosen, counted);
        let mut explained = report.explain_fixed();
        explained.extend(report.explain_history(&laid, window, squeezed)?);
        explained.extend(report.explain_blocks(window)?);
        explained.extend(chosen.explained);
        let factor = inputs.epoch.factor;
        let chain = chain(&laid.segments, inputs.epoch.renderer_version);
        Ok(Prompt {
            breakpoints: breakpoints::place(&laid.segments, &chain, laid.marks, scale),
            exact: factor == Factor::EXACT && laid.segments.iter().all(Segment::is_exact),
            segments: laid.segments,
            chain,
            sections,
            explained,
            block: chosen.block,
            carried: self.carried,
            set_aside: SetAside {
                for_block: if squeezed.is_empty() { 0 } else { self.block_tokens() },
                as_history: self.held,
                for_history: self.cut_by,
            },
            window: window.clone(),
            total_tokens: total,
            counted_tokens: counted,
            content,
            max_input_tokens: inputs.limit,
            max_output_tokens: inputs.output_tokens,
            factor,
            shape: inputs.framing.shape(),
            images: inputs.framing.images,
        })
    }
}

/// Whether the newest turn has an open user message, which a volatile block travels with.
pub fn carries_block(history: &dyn History) -> Result<bool> {
    Ok(Ending::of(history)?.carried)
}

/// How a transcript ends.
struct Ending {
    /// Calls without a result, in order.
    open: Vec<Box<str>>,
    /// A user message waits for the end of its turn: everything behind it belongs to rounds of tools.
    carried: bool,
}

impl Ending {
    fn of(history: &dyn History) -> Result<Self> {
        let mut answered: Vec<Box<str>> = Vec::new();
        for index in (0..history.messages()).rev() {
            let stored = history.message(index)?;
            let message = &stored.message;
            if message.tool_results().next().is_none() {
                let open: Vec<_> = message.tool_calls().map(|call| call.id.clone()).filter(|id| !answered.contains(id)).collect();
                let ended = answers_turn(message);
                return Ok(Self { open, carried: !ended && !history.is_answered()? && Self::has_user(history)? });
            }
            answered.extend(message.tool_results().map(|result| result.call_id.clone()));
        }
        Ok(Self { open: Vec::new(), carried: false })
    }

    /// Only the first turn can be without a user message.
    fn has_user(history: &dyn History) -> Result<bool> {
        if history.turns() > 1 {
            return Ok(true);
        }
        for index in 0..history.messages() {
            if history.message(index)?.message.opens_turn() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
