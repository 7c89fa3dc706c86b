//! A composed prompt: neutral segments under a limit, with their count, their cache boundary and their reasons.

use std::borrow::Cow;
use std::sync::Arc;

use super::block::Block;
use super::bounded::Content;
use super::cut::Window;
use super::explain::{Explained, SectionUse};
use super::image::ImageRule;
use super::lower;
use super::message::Shape;
use super::segment::{Body, Segment, shared_segments};
use crate::tokens::Factor;

/// A place where a provider may keep what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Breakpoint {
    /// It stands after this many segments.
    pub segments: usize,
    /// Bounded tokens before it, without the reply's frame.
    pub tokens: u64,
    /// The chain's link there.
    pub hash: u128,
    /// The part before it outlives the turn: later prompts of the epoch begin with the same bytes. A breakpoint that does
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
    /// The tokens of history's grant, where a window that slides was cut beside a block that changed its size later.
    pub for_history: Option<u64>,
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
    /// The grant and the tokens of each section. Tokens add up to [`Self::total_tokens`]; `frame` holds what belongs to none.
    pub sections: Vec<SectionUse>,
    /// The fate of every candidate.
    pub explained: Vec<Explained>,
    /// The volatile block that this prompt carries in its newest turn: for the ledger, which has it as sent.
    pub block: Option<Arc<Block>>,
    /// The newest turn has an open user message: the block stands before it and stays there through the turn's tool rounds.
    pub carried: bool,
    /// For the ledger: what it takes to compose this call again ([`super::compose::Volatile::Sent`]).
    pub set_aside: SetAside,
    /// The window of history.
    pub window: Window,
    /// Tokens of the whole request: the count, or the most it can be where the tokenizer is closed. Never above
    /// [`Self::max_input_tokens`].
    pub total_tokens: u64,
    /// The counter's figure, by the reference encoding where the tokenizer is closed.
    pub counted_tokens: u64,
    /// Its content by class, where the tokenizer is closed.
    pub content: Option<Content>,
    /// The limit.
    pub max_input_tokens: u64,
    /// The reserve for the reply.
    pub max_output_tokens: u64,
    /// [`Self::total_tokens`] is the true number, not a bound.
    pub exact: bool,
    /// The factor that its window was cut by.
    pub factor: Factor,
    /// The media that its model takes, and its shape.
    pub shape: Shape,
    /// How its model looks at images: tells generations of one vendor apart.
    pub images: ImageRule,
}

/// From counted tokens of a part to its share of the prompt's total: shares add up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scale {
    /// The counted tokens of the whole.
    pub counted: u64,
    /// The total.
    pub total: u64,
    /// The epoch's factor: where it makes the total, it makes the shares.
    pub factor: Factor,
}

impl Scale {
    /// The share of so many counted tokens, from the first on.
    #[must_use]
    pub fn of(self, counted: u64) -> u64 {
        if self.factor.bound(self.counted) == self.total || self.counted == 0 {
            return self.factor.bound(counted);
        }
        u64::try_from(u128::from(counted) * u128::from(self.total) / u128::from(self.counted)).unwrap_or(u64::MAX)
    }
}

/// Leading segments that two prompts share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shared {
    /// How many.
    pub segments: usize,
    /// Their tokens, as the older prompt's total and breakpoints count them.
    pub tokens: u64,
    /// The newer one's segment where they part.
    pub broken_by: Option<String>,
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

    /// The link after the last segment: equal digests, equal prompts.
    #[must_use]
    pub fn digest(&self) -> u128 {
        self.chain.last().copied().unwrap_or_default()
    }

    /// The beginning that it shares with another one.
    #[must_use]
    pub fn shared_with(&self, other: &Self) -> Shared {
        let segments = shared_segments(&self.chain, &other.chain).min(self.segments.len());
        let counted = self.segments[..segments].iter().map(|segment| segment.tokens).sum();
        let marked =
            other.breakpoints.iter().filter(|breakpoint| breakpoint.segments <= segments).map(|breakpoint| breakpoint.tokens).max();
        Shared {
            segments,
            tokens: other.scale().of(counted).max(marked.unwrap_or(0)),
            broken_by: self.segments.get(segments).map(Segment::name),
        }
    }

    /// Its provider's count is its cost, and the parts' shares follow.
    pub fn costs(&mut self, tokens: u64) {
        let scale =
            |share: u64| u64::try_from(u128::from(share) * u128::from(tokens) / u128::from(self.total_tokens.max(1))).unwrap_or(u64::MAX);
        let (mut before, mut after) = (0, 0);
        for section in &mut self.sections {
            before += section.tokens;
            let next = scale(before);
            section.tokens = next - after;
            (section.asked, section.granted) = (scale(section.asked), scale(section.granted).max(section.tokens));
            after = next;
        }
        for breakpoint in &mut self.breakpoints {
            breakpoint.tokens = scale(breakpoint.tokens);
        }
        (self.total_tokens, self.exact) = (tokens, true);
    }

    /// From counted tokens of its beginning to their share of the total.
    #[must_use]
    pub fn scale(&self) -> Scale {
        Scale { counted: self.counted_tokens, total: self.total_tokens, factor: self.factor }
    }

    /// Messages of it that hold what the model does not take, and what that is: it is sent as a text that names it.
    #[must_use]
    pub fn as_text(&self) -> Vec<(Option<u64>, Vec<&'static str>)> {
        let of = |segment: &Segment| {
            let Body::Message(index, stored) = &segment.body else { return None };
            let found = lower::as_text(&stored.message, self.shape);
            (!found.is_empty()).then_some((*index, found))
        };
        self.segments.iter().filter_map(of).collect()
    }

    /// Messages of it that hold media of a type that the API does not take, and what they are: they are sent as texts that name them.
    #[must_use]
    pub fn of_other_types(&self) -> Vec<(Option<u64>, Vec<Cow<'static, str>>)> {
        let of = |segment: &Segment| {
            let Body::Message(index, stored) = &segment.body else { return None };
            let found = lower::of_other_types(&stored.message, self.shape);
            (!found.is_empty()).then_some((*index, found))
        };
        self.segments.iter().filter_map(of).collect()
    }

    /// Whether messages of the session are left out before its first.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.message_indices().next().is_some_and(|first| first > 0)
    }

    /// Indices of the session's messages in it, in order.
    pub fn message_indices(&self) -> impl Iterator<Item = u64> {
        self.segments.iter().filter_map(|segment| if let Body::Message(index, _) = segment.body { index } else { None })
    }
}
