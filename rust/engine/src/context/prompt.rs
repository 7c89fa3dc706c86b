//! A composed prompt: neutral segments under a limit, with their count, their cache boundary and their reasons.

use std::sync::Arc;

use super::block::Block;
use super::cut::Window;
use super::explain::{Explained, SectionUse};
use super::framing::Factor;
use super::segment::{Body, Segment};

/// A place where a provider may keep what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breakpoint {
    /// It stands after this many segments.
    pub segments: usize,
    /// Bounded tokens before it, without the reply's frame.
    pub tokens: u64,
    /// The chain's link there.
    pub hash: u128,
    /// What stands before it outlives the turn: later prompts of the epoch begin with the same bytes. A breakpoint that does
    /// not last serves the tool rounds of this turn.
    pub lasting: bool,
}

/// Tokens that a block took from others, before its size was known or whatever it became.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SetAside {
    /// Kept free for it where results of the newest round had to be shortened; else 0.
    pub for_block: u64,
    /// Counted as history, because it may not go again; else 0.
    pub as_history: u64,
}

/// A prompt.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// The neutral segments, in the order they are sent.
    pub segments: Vec<Segment>,
    /// The chain: `segments.len() + 1` links.
    pub chain: Vec<u128>,
    /// Where a provider may cache; at most four, in order.
    pub breakpoints: Vec<Breakpoint>,
    /// What each section was granted and uses. Tokens add up to [`Self::total_tokens`]; `frame` holds what belongs to none.
    pub sections: Vec<SectionUse>,
    /// What became of every candidate.
    pub explained: Vec<Explained>,
    /// The volatile block that this prompt carries in its newest turn: for the ledger, which has it as sent.
    pub block: Option<Arc<Block>>,
    /// The newest turn has an open user message: the block stands before it and stays there through the turn's tool rounds.
    pub carried: bool,
    /// For the ledger: what it takes to compose this call again ([`super::compose::Volatile::Sent`]).
    pub set_aside: SetAside,
    /// The window of history.
    pub window: Window,
    /// Tokens of the whole request, bounded by [`Self::factor`]. Never above [`Self::max_input_tokens`].
    pub total_tokens: u64,
    /// The limit.
    pub max_input_tokens: u64,
    /// What is reserved for the reply.
    pub max_output_tokens: u64,
    /// [`Self::total_tokens`] is the true number, not a bound.
    pub exact: bool,
    /// The bound's factor.
    pub factor: Factor,
}

impl Prompt {
    /// The last breakpoint whose prefix lasts: the cache boundary.
    #[must_use]
    pub fn boundary(&self) -> Option<&Breakpoint> {
        self.breakpoints.iter().rev().find(|breakpoint| breakpoint.lasting)
    }

    /// The chain's link at the cache boundary: equal hashes, equal bytes before it.
    #[must_use]
    pub fn prefix_hash(&self) -> u128 {
        self.boundary().map_or(self.chain[0], |boundary| boundary.hash)
    }

    /// Indices of the session's messages in it, in order.
    pub fn message_indices(&self) -> impl Iterator<Item = u64> {
        self.segments.iter().filter_map(|segment| if let Body::Message(index, _) = segment.body { index } else { None })
    }
}
