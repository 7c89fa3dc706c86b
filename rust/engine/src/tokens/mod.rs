//! Exact token counts: the encodings `cl100k_base` and `o200k_base`, embedded, with no download.
//!
//! A text is cut into pretokens by a hand-written scanner (`scan`, one file for each pattern); a pretoken that is a token is
//! found in a hash table (`pieces`); the others are merged (`merge`, or `backtrack` where they are long). The result is
//! `tiktoken`'s `encode_ordinary`, for every string: the strings of special tokens inside a text are text like any other, and
//! whoever frames messages adds the framing's own tokens. `o200k_harmony` cuts and counts ordinary text as `o200k_base` does.
//!
//! Not here: other tokenizers, message framing, and closed models, which have no exact count.
//!
//! The vocabularies are tiktoken's (by `OpenAI`, MIT licence; see NOTICE). Packed they take 342 KB and 727 KB; the first use of an
//! encoding unpacks it.

mod backtrack;
mod cache;
mod cached;
mod cl100k;
mod count;
mod counter;
mod encode;
#[cfg(test)]
mod fuzz;
mod load;
mod long;
mod merge;
mod o200k;
mod pieces;
mod recent;
mod scan;
mod swar;
mod truncate;
mod unicode;
mod vocabulary;

pub use cache::{CacheMetrics, CountCache};
pub use cached::{CachedCounter, shared_cache};
pub use count::{count, count_until};
pub use counter::TokenCounter;
pub use encode::{decode, encode};
pub use truncate::{truncate_end, truncate_start};

use crate::{Error, Result};
use scan::Pattern;

/// A tokenizer whose counts are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `cl100k_base`: GPT-4, GPT-3.5, text-embedding-3.
    Cl100k,
    /// `o200k_base`: GPT-4o and later; `o200k_harmony` counts ordinary text alike.
    O200k,
}

impl Encoding {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Cl100k, Self::O200k];

    /// The name that tiktoken gives it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cl100k => "cl100k_base",
            Self::O200k => "o200k_base",
        }
    }

    /// How many pretokens at the end of a text can change when more is appended to it.
    fn unsettled(self) -> usize {
        match self {
            Self::Cl100k => cl100k::Cl100k::UNSETTLED,
            Self::O200k => o200k::O200k::UNSETTLED,
        }
    }

    /// The encoding of a name, `o200k_harmony` included.
    pub fn from_name(name: &str) -> Result<Self> {
        match name {
            "cl100k_base" => Ok(Self::Cl100k),
            "o200k_base" | "o200k_harmony" => Ok(Self::O200k),
            _ => Err(Error::invalid(format!(
                "choosing an encoding: the name must be \"cl100k_base\", \"o200k_base\" or \"o200k_harmony\", got {name:?}: name one of these, or the model"
            ))
            .with("encoding", name)),
        }
    }
}
