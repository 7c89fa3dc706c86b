//! The interface between stores and prompts: only the facts about a session's transcript that a prompt needs.
//!
//! A store gives counts by index and messages one at a time; only messages in the window are asked for. Finding the window
//! takes O(log window) calls of [`History::turn_start`] and [`History::tokens_before`], whatever the length of the history.
//! [`Transcript`] is the same in memory, for tests, benches and use from Rust without a store.

use std::sync::Arc;

use super::block::{Block, Item};
use super::framing::Framing;
use super::image::Cost;
use super::message::{Digest, Message, REDACTED};
use super::turns::{self, Placed, Tally};
use crate::tokens::Counter;
use crate::{Error, ErrorKind, Result};

/// A message of a transcript, ready for prompts. The store may cache it: it never changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The guarded neutral form ([`Message::guarded`]).
    pub message: Message,
    /// Its count in the session's framing.
    pub cost: Cost,
    /// Its digest.
    pub digest: Digest,
}

impl Stored {
    /// Counts and digests a message as it will be sent.
    #[must_use]
    pub fn new(message: Message, framing: &Framing, counter: &dyn Counter) -> Self {
        Self::counted(message, |message| framing.message(message, counter))
    }

    /// A message to be stored, with a count that the caller makes.
    #[must_use]
    pub fn counted(message: Message, count: impl FnOnce(&Message) -> Cost) -> Self {
        let message = message.guarded();
        let (cost, digest) = (count(&message), message.digest());
        Self { message, cost, digest }
    }
}

impl Stored {
    /// This message with its texts taken out. It never counts more than before, so that stored sums stay an upper bound: where the marker
    /// is longer than the text that it stands for, nothing stands there.
    #[must_use]
    pub fn redacted(&self, framing: &Framing, counter: &dyn Counter) -> Self {
        let marked = Self::new(self.message.redacted(REDACTED), framing, counter);
        if marked.cost.tokens <= self.cost.tokens { marked } else { Self::new(self.message.redacted(""), framing, counter) }
    }
}

/// A transcript, as a prompt reads it. All answers must come from one snapshot.
pub trait History {
    /// Number of messages.
    fn messages(&self) -> u64;

    /// Number of turns.
    fn turns(&self) -> u64;

    /// Index of the first message of `turn`, which is below [`Self::turns`].
    fn turn_start(&self, turn: u64) -> Result<u64>;

    /// Tokens of everything rendered before message `index` ([`Placed::tokens_before`]); at [`Self::messages`] those of all
    /// ([`Tally::tokens`]).
    fn tokens_before(&self, index: u64) -> Result<u64>;

    /// The turn that message `index` is in, where it does not begin it.
    fn turn_around(&self, index: u64) -> Result<Option<u64>>;

    /// The turn at which a window is likely to begin, since the last one did. Where it does not, finding it takes two look-ups more.
    fn likely_turn(&self) -> Option<u64> {
        None
    }

    /// Whether an assistant message without calls stands behind the last user message ([`Tally::is_answered`]).
    fn is_answered(&self) -> Result<bool> {
        turns::is_answered(self, self.messages())
    }

    /// Message `index`.
    fn message(&self, index: u64) -> Result<Arc<Stored>>;

    /// The volatile block that stayed in `turn` when the next turn began, if it did.
    fn kept_block(&self, turn: u64) -> Result<Option<Arc<Block>>>;

    /// Whether the block that the newest turn was sent with stays in it when the next turn begins. A prompt that no open user message ends
    /// lacks it until then.
    fn block_will_stay(&self) -> bool {
        false
    }

    /// Tokens of the block that the newest turn was sent with, 0 where it was not sent yet.
    fn held(&self) -> u64 {
        0
    }

    /// The items that the block showed when it was sent and shows no longer.
    fn left_out(&self, _turn: u64) -> Result<Vec<Item>> {
        Ok(Vec::new())
    }
}

/// A transcript in memory.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    tally: Tally,
    messages: Vec<(Placed, Arc<Stored>)>,
    starts: Vec<u64>,
    blocks: Vec<Option<Arc<Block>>>,
}

impl Transcript {
    /// Adds a message.
    pub fn push(&mut self, message: Message, framing: &Framing, counter: &dyn Counter) -> Result<Placed> {
        let stored = Stored::new(message, framing, counter);
        let placed = self.tally.push(&stored.message, stored.cost.tokens, framing, counter)?;
        if placed.opens_turn {
            self.starts.push(placed.index);
            self.blocks.push(None);
        }
        self.messages.push((placed, Arc::new(stored)));
        Ok(placed)
    }

    /// Keeps `block` in the newest turn, for good; called before the next turn's user message is pushed.
    pub fn keep_block(&mut self, block: Arc<Block>) {
        self.tally.keep_block(block.tokens);
        if let Some(last) = self.blocks.last_mut() {
            *last = Some(block);
        }
    }

    /// The running state.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.tally
    }
}

impl History for Transcript {
    fn messages(&self) -> u64 {
        self.messages.len() as u64
    }

    fn turns(&self) -> u64 {
        self.starts.len() as u64
    }

    fn turn_start(&self, turn: u64) -> Result<u64> {
        self.starts.get(turn as usize).copied().ok_or_else(|| outside("turn", turn, self.starts.len()))
    }

    fn tokens_before(&self, index: u64) -> Result<u64> {
        match self.messages.get(index as usize) {
            Some((placed, _)) => Ok(placed.tokens_before),
            None if index as usize == self.messages.len() => Ok(self.tally.tokens),
            None => Err(outside("message", index, self.messages.len())),
        }
    }

    fn turn_around(&self, index: u64) -> Result<Option<u64>> {
        let (placed, _) = self.messages.get(index as usize).ok_or_else(|| outside("message", index, self.messages.len()))?;
        Ok(Some(placed.turn).filter(|_| !placed.opens_turn))
    }

    fn is_answered(&self) -> Result<bool> {
        Ok(self.tally.is_answered)
    }

    fn message(&self, index: u64) -> Result<Arc<Stored>> {
        self.messages
            .get(index as usize)
            .map(|(_, stored)| Arc::clone(stored))
            .ok_or_else(|| outside("message", index, self.messages.len()))
    }

    fn kept_block(&self, turn: u64) -> Result<Option<Arc<Block>>> {
        self.blocks.get(turn as usize).cloned().ok_or_else(|| outside("turn", turn, self.blocks.len()))
    }
}

fn outside(what: &str, index: u64, count: usize) -> Error {
    let message = format!("cannot read the transcript: a {what} must be below {count}, got {index} (in memory): ask for one that exists");
    Error::new(ErrorKind::NotFound, message).with("index", index as i64)
}
