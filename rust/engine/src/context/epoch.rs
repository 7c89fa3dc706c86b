//! The epoch: the record that, with the messages, decides every byte before the newest turn.
//!
//! It is written when something that stands before the newest turn must change ([`Reason`]); between two of them a prompt
//! only grows at its end. It refers to memories, and holds no text of theirs. [`Epoch::open`] makes the next one in the order
//! that keeps it well defined: snapshot first (what is pinned), `G` second (what the fixed sections leave), the cut last.

use super::cut::{Cut, Grid, Window};
use super::history::History;
use super::limit::{Budget, section};
use super::rounds;
use crate::tokens::Factor;
use crate::{Error, ErrorKind, Result};

/// The version of the rendering rules: part of the prefix chain and of every epoch.
///
/// 2 gives pinned memories their dates, and rounds that left the window a line; 3 says of pinned memories that they are disputed; 4 parts
/// a turn that is too large to be left out whole; 5 says what became of the calls in rounds that left the window; 6 shows the user message
/// of a turn whose first rounds a summary stands for, and says of those calls that they have results; 7 knows a call that was cancelled
/// for a reason with an unpaired bracket. Entries of a block have a form of their own ([`super::block::Form`]).
pub const RENDERER_VERSION: u32 = 7;
/// Epochs from this version on go on: of their prompts a new one would change the words of one line alone.
const STILL_GOOD: u32 = 5;

/// The first version of the rendering rules with each of them: an epoch keeps those that it began with.
pub(crate) mod since {
    /// Every pinned memory has its date.
    pub const DATES: u32 = 2;
    /// A line stands for the rounds of a turn that left the window.
    pub const ROUNDS: u32 = 2;
    /// A pinned memory that another disputes says so.
    pub const DISPUTES: u32 = 3;
    /// A large turn is parted.
    pub const PARTED_TURNS: u32 = 4;
    /// The line of rounds says what became of their calls.
    pub const OUTCOMES: u32 = 5;
    /// A turn that was compacted in part keeps its user message.
    pub const KEPT_HEADS: u32 = 6;
    /// The line says of the other calls that they have results, and a text that only begins as that of a cancelled call is a result.
    pub const RESULTS: u32 = 6;
    /// A reason for which a call was cancelled may have brackets that are not in pairs.
    pub const UNPAIRED: u32 = 7;
}

/// One revision of one memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryRef {
    /// The partition it lives in.
    pub partition: u64,
    /// The memory.
    pub memory: u64,
    /// Its revision.
    pub revision: u64,
}

/// Why an epoch began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// The session's first message.
    Began,
    /// The window's beginning moved.
    Cut,
    /// Old turns became a summary.
    Compacted,
    /// Another model.
    ModelSwitched,
    /// Another system prompt or other tools.
    Instructions,
    /// Messages were taken back, or taken out of their text.
    Rewound,
    /// It is the copy of another session.
    Forked,
    /// Something pinned was forgotten.
    Forgotten,
}

/// The record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Epoch {
    /// Counts up within the session.
    pub number: u64,
    /// Why it began.
    pub reason: Reason,
    /// The first message that counts.
    pub origin: u64,
    /// The pinned snapshot, in the order it is shown.
    pub pinned: Vec<MemoryRef>,
    /// The version of the summary, 0 for none.
    pub summary_version: u64,
    /// The version of the system prompt, 0 for none.
    pub system_version: u64,
    /// The version of the tools, 0 for none.
    pub tools_version: u64,
    /// [`RENDERER_VERSION`] when it began.
    pub renderer_version: u32,
    /// Bounds the counts of a closed tokenizer.
    pub factor: Factor,
    /// Counted tokens of tools, system prompt, pinned memory and summary when it began, and of the reply's frame. Stays what
    /// it was if something pinned is forgotten, so that the cut stays where it was.
    pub fixed_tokens: u64,
    /// Where the window began for the session's own limit.
    pub cut: Cut,
}

/// The inputs of the next epoch, besides the transcript.
#[derive(Debug, Clone)]
pub struct Opening<'a> {
    /// The epoch before; `None` for the first.
    pub previous: Option<&'a Epoch>,
    /// Why.
    pub reason: Reason,
    /// The first message that counts.
    pub origin: u64,
    /// The pinned snapshot.
    pub pinned: Vec<MemoryRef>,
    /// Versions of summary, system prompt, tools; 0 for none.
    pub versions: [u64; 3],
    /// Bounds the counts of a closed tokenizer.
    pub factor: Factor,
    /// Counted tokens of the fixed sections ([`super::fixed::Fixed::tokens`]).
    pub fixed_tokens: u64,
}

impl Epoch {
    /// The next epoch, for the session's own `limit` and `budget`.
    pub fn open(opening: Opening<'_>, limit: u64, budget: &Budget, history: &dyn History, pending: u64) -> Result<Self> {
        let [summary_version, system_version, tools_version] = opening.versions;
        let mut epoch = Self {
            number: opening.previous.map_or(0, |epoch| epoch.number + 1),
            reason: opening.reason,
            origin: opening.origin,
            pinned: opening.pinned,
            summary_version,
            system_version,
            tools_version,
            renderer_version: RENDERER_VERSION,
            factor: opening.factor,
            fixed_tokens: opening.fixed_tokens,
            cut: Cut { start: opening.origin, ..Cut::default() },
        };
        epoch.cut = epoch.window(limit, budget, history, pending)?.cut;
        Ok(epoch)
    }

    /// The grid of this epoch for a limit, in counted tokens.
    pub fn grid(&self, limit: u64, budget: &Budget) -> Result<Grid> {
        budget.validate()?;
        let room = self.factor.room(limit);
        let space = room.saturating_sub(self.fixed_tokens);
        let history = budget.grant(section::HISTORY, space);
        let floors = budget.volatile_floors(space);
        let grant = space.checked_sub(floors).filter(|grant| *grant >= history.floor);
        let Some(grant) = grant else { return Err(self.no_room(limit, floors, history.floor)) };
        let grant = grant.min(history.ceiling);
        let step = if budget.cut_step.millionths() == 0 { 0 } else { budget.cut_step.of(grant).max(1) };
        let (parts_turns, keeps_heads) = (self.renderer_version >= since::PARTED_TURNS, self.renderer_version >= since::KEPT_HEADS);
        Ok(Grid { origin: self.origin, grant, step, rounds: budget.keep_rounds, parts_turns, keeps_heads })
    }

    /// The window of history for a limit.
    pub fn window(&self, limit: u64, budget: &Budget, history: &dyn History, pending: u64) -> Result<Window> {
        self.window_on(self.grid(limit, budget)?, history, pending)
    }

    /// Whether a line stands for what a window leaves out of its first turn.
    pub(super) fn shows_rounds(&self, window: &Window) -> bool {
        window.cut.resume.is_some() && self.renderer_version >= since::ROUNDS
    }

    /// The window on a grid. Where it leaves out rounds of its first turn there is room for the line that says so.
    pub(super) fn window_on(&self, grid: Grid, history: &dyn History, pending: u64) -> Result<Window> {
        let window = grid.window(history, pending)?;
        if !self.shows_rounds(&window) {
            return Ok(window);
        }
        Grid { grant: grid.grant.saturating_sub(rounds::TOKENS), ..grid }.window(history, pending)
    }

    /// Whether the session needs a new epoch, now that its own window is `window`. `add` asks after every message.
    ///
    /// A step that finds no turn to begin at changes nothing that is sent, and so begins no epoch. A sliding window is cut
    /// anew on every call and promises no prefix: with `cut_step = 0` ask only for the other reasons.
    #[must_use]
    pub fn is_over(&self, window: &Window) -> bool {
        self.cut != window.cut || self.is_outdated()
    }

    /// Whether prompts of a new epoch would be rendered by other rules.
    #[must_use]
    pub fn is_outdated(&self) -> bool {
        !(STILL_GOOD..=RENDERER_VERSION).contains(&self.renderer_version)
    }

    fn no_room(&self, limit: u64, floors: u64, history_floor: u64) -> Error {
        let fixed = self.factor.bound(self.fixed_tokens);
        let (floors, history_floor) = (self.factor.bound(floors), self.factor.bound(history_floor));
        let message = format!(
            "cannot plan the prompt: fixed sections and floors must fit the limit, got {fixed} tokens of tools, system prompt, pinned \
             memory and summary, {floors} of volatile floors and {history_floor} of history's floor for a limit of {limit} (budget): \
             lower the floors or raise max_input_tokens"
        );
        Error::new(ErrorKind::BudgetExceeded, message)
            .with("limit_tokens", limit as i64)
            .with("fixed_tokens", fixed as i64)
            .with("floor_tokens", floors as i64)
            .with("history_floor_tokens", history_floor as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::framing::Framing;
    use super::super::history::Transcript;
    use super::super::limit::Share;
    use super::super::message::{Message, Role};
    use super::super::testing::{WordCounter, words};
    use super::*;

    fn opening(previous: Option<&Epoch>, fixed_tokens: u64) -> Opening<'_> {
        Opening { previous, reason: Reason::Cut, origin: 0, pinned: Vec::new(), versions: [0, 1, 0], factor: Factor::EXACT, fixed_tokens }
    }

    /// The worked example of `docs/prompt.md`: a limit of 8,000, 400 of them fixed, turns of 500 tokens.
    #[test]
    fn the_example_of_the_docs_is_true() {
        let (budget, mut history) = (Budget::default(), Transcript::default());
        let mut epoch = Epoch::open(opening(None, 400), 8_000, &budget, &history, 0).unwrap();
        let grid = epoch.grid(8_000, &budget).unwrap();
        assert_eq!((grid.grant, grid.step), (7_312, 1_828));
        let mut epochs = Vec::new();
        for turn in 1..=30 {
            history.push(Message::text(Role::User, &words(123)), &Framing::GPT_4O, &WordCounter).unwrap();
            history.push(Message::text(Role::Assistant, &words(122)), &Framing::GPT_4O, &WordCounter).unwrap();
            assert_eq!(history.tally().tokens, 500 * turn);
            let window = epoch.window(8_000, &budget, &history, 0).unwrap();
            if epoch.is_over(&window) {
                epoch = Epoch::open(opening(Some(&epoch), 400), 8_000, &budget, &history, 0).unwrap();
                epochs.push((turn, window.steps, window.cut.start / 2, window.tokens));
            }
        }
        assert_eq!(epochs, [(15, 1, 4, 5_500), (19, 2, 8, 5_500), (22, 3, 11, 5_500), (26, 4, 15, 5_500), (30, 5, 19, 5_500)]);
    }

    #[test]
    fn what_does_not_fit_is_told_with_every_number() {
        let epoch = Epoch::open(opening(None, 400), 8_000, &Budget::default(), &Transcript::default(), 0).unwrap();
        let grant = super::super::budget::Grant { floor: 300, weight: 1, ceiling: 300 };
        let budget = Budget { grants: vec![("recalled".into(), grant)], ..Budget::default() };
        let error = epoch.grid(500, &budget).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BudgetExceeded);
        assert!(["400", "500", "fixed"].iter().all(|part| error.message().contains(part)), "{error}");
        let sliding = Budget { cut_step: Share::new(0), ..Budget::default() };
        assert_eq!(epoch.grid(8_000, &sliding).unwrap().step, 0);
        assert!(epoch.grid(400, &Budget::default()).is_ok(), "defaults shrink with the room");
    }

    #[test]
    fn a_new_renderer_ends_the_epoch() {
        let history = Transcript::default();
        let epoch = Epoch::open(opening(None, 0), 8_000, &Budget::default(), &history, 0).unwrap();
        let window = epoch.window(8_000, &Budget::default(), &history, 0).unwrap();
        assert!(!epoch.is_over(&window));
        assert!(Epoch { renderer_version: RENDERER_VERSION + 1, ..epoch }.is_over(&window));
    }
}
