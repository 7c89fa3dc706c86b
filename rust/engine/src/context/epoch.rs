//! The epoch: the record that, with the messages, decides every byte before the newest turn.
//!
//! It is written when something that stands before the newest turn must change ([`Reason`]); between two of them a prompt
//! only grows at its end. It refers to memories, and holds no text of theirs. [`Epoch::open`] makes the next one in the order
//! that keeps it well defined: snapshot first (what is pinned), `G` second (what the fixed sections leave), the cut last.

use super::cut::{Cut, Grid, Window};
use super::framing::Factor;
use super::history::History;
use super::limit::{Budget, section};
use crate::{Error, ErrorKind, Result};

/// The version of the rendering rules: part of the prefix chain and of every epoch.
pub const RENDERER_VERSION: u32 = 1;

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

/// What the next epoch is made of, besides the transcript.
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
            cut: Cut { start: opening.origin, resume: None },
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
        Ok(Grid { origin: self.origin, grant, step })
    }

    /// The window of history for a limit.
    pub fn window(&self, limit: u64, budget: &Budget, history: &dyn History, pending: u64) -> Result<Window> {
        self.grid(limit, budget)?.window(history, pending)
    }

    /// Whether the session needs a new epoch, now that its own window is `window`. `add` asks after every message.
    ///
    /// A step that finds no turn to begin at changes nothing that is sent, and so begins no epoch. A sliding window is cut
    /// anew on every call and promises no prefix: with `cut_step = 0` ask only for the other reasons.
    #[must_use]
    pub fn is_over(&self, window: &Window) -> bool {
        self.cut != window.cut || self.renderer_version != RENDERER_VERSION
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
