//! What a prompt must know of a language model: its window, how its tokens are counted, how its requests are framed.
//!
//! Built-in models are rows of a table; a caller registers others by giving a [`Profile`]. A session stores the model it runs
//! on, so that an old prompt is counted for ever as it was. Prices and the like are in the profile, for those who choose a model.

#![cfg_attr(test, allow(clippy::unwrap_used))] // a test that unwraps fails, as it should

mod catalogue;
mod dialects;
mod framings;
mod nearest;
mod profile;
mod registry;

pub use catalogue::media;
pub use dialects::{dialect, dialect_of, dialects};
pub use framings::{framing, framing_name};
pub use profile::{CacheRules, Prices, Profile};
pub use registry::{check, get, names, register};

use std::sync::Arc;

use crate::Result;
use crate::context::limit::{Share, default_output, input_limit};
use crate::context::{Framing, Message, Tools};
use crate::tokens::{CachedCounter, Encoding, Factor};

/// A language model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The name that requests are sent with.
    pub name: Arc<str>,
    /// Tokens of prompt and reply together.
    pub context_window: u64,
    /// The most a request may have; some vendors keep the rest of the window for the reply.
    pub max_input_tokens: u64,
    /// The most a reply may have.
    pub max_output_tokens: u64,
    /// What counts its text: its own tokenizer, or for a closed one the reference that `factor` bounds.
    pub encoding: Encoding,
    /// [`Factor::EXACT`] where `encoding` is its own.
    pub factor: Factor,
    /// The frame of its requests.
    pub framing: Framing,
    /// What was sent may not change: the model's signed thinking covers it.
    pub append_only: bool,
    /// The shortest prefix that its provider caches, in tokens; 0 where it caches none.
    pub min_cached_tokens: u64,
}

impl Model {
    /// The model of a name, as [`get`] finds it, under the name that was asked for.
    pub fn named(name: &str) -> Result<Self> {
        get(name).map(|profile| Self { name: name.into(), ..profile.model.clone() })
    }

    /// The limit of a request where the caller names none: what a prompt may fill of the window, with the default reserve for a reply.
    pub fn default_input_limit(&self) -> Result<u64> {
        let limit = input_limit(self.context_window, default_output(self.max_output_tokens), Share::FILL, None)?;
        Ok(limit.min(self.max_input_tokens))
    }

    /// Tokens of messages with their frames: a bound where the tokenizer is closed.
    #[must_use]
    pub fn count_messages(&self, messages: &[Message]) -> u64 {
        self.factor.bound(self.sum(messages))
    }

    /// Tokens of a whole request: messages, tools and the frame of the reply; a bound where the tokenizer is closed.
    #[must_use]
    pub fn count_request(&self, messages: &[Message], tools: Option<&Tools>) -> u64 {
        let tools = tools.map_or(0, |tools| self.framing.tools(tools, &self.counter()));
        self.factor.bound(self.sum(messages) + tools + self.framing.reply)
    }

    fn sum(&self, messages: &[Message]) -> u64 {
        let counter = self.counter();
        messages.iter().map(|message| self.framing.message(message, &counter).tokens).sum()
    }

    /// What counts its text.
    #[must_use]
    pub fn counter(&self) -> CachedCounter {
        CachedCounter::new(self.encoding)
    }
}
