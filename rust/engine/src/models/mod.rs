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
use crate::context::Framing;
use crate::tokens::Factor;
use crate::tokens::{CachedCounter, Encoding};

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

    /// What counts its text.
    #[must_use]
    pub fn counter(&self) -> CachedCounter {
        CachedCounter::new(self.encoding)
    }
}
