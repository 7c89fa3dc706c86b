//! What a prompt must know of a language model: its window, how its tokens are counted, how its requests are framed.
//!
//! Built-in models are rows of a table; a caller registers others by giving a [`Model`]. A session stores the model it runs
//! on, so that an old prompt is counted for ever as it was. Prices and quality are not here.

mod table;

use std::sync::Arc;

use crate::context::{Factor, Framing};
use crate::tokens::Encoding;
use crate::{Error, ErrorKind, Result};

/// A language model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Model {
    /// The name that requests are sent with.
    pub name: Arc<str>,
    /// Tokens of prompt and reply together.
    pub context_window: u64,
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
    /// The built-in model of a name; a dated or suffixed name (`gpt-4o-2024-08-06`) is its family's.
    pub fn named(name: &str) -> Result<Self> {
        table::find(name).ok_or_else(|| {
            let known: Vec<&str> = table::names().collect();
            Error::new(
                ErrorKind::UnknownModel,
                format!(
                    "choosing a model: the name must be in the registry, got {name:?} (known: {}): name one of these, or tell memspan.models.register its window and tokenizer",
                    known.join(", ")
                ),
            )
            .with("model", name)
        })
    }
}
