//! Which tokenizer: its name, its vocabulary, and the pattern that cuts a text for it.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::cl100k::{Cl100k, Qwen2};
use super::custom::{self, Loaded};
use super::deepseek::DeepSeek;
use super::gemma3::Gemma3;
use super::o200k::{O200k, Tekken};
use super::scan::Pattern;
use super::vocabulary::MAX_WIDTH;
use crate::{Error, Result};

/// A tokenizer whose counts are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// `cl100k_base`: GPT-4, GPT-3.5, text-embedding-3.
    Cl100k,
    /// `o200k_base`: GPT-4o and later; `o200k_harmony` counts ordinary text alike.
    O200k,
    /// `qwen2`: Qwen 2, 2.5 and 3.
    Qwen2,
    /// `tekken`: Mistral's models from Nemo (2024-07) on.
    Tekken,
    /// `deepseek_v3`: `DeepSeek` V3, R1 and later.
    DeepSeekV3,
    /// `gemma3`: Gemma 3, and Gemini from 2.0 to 3.0.
    Gemma3,
    /// One from a user's file.
    Loaded(Loaded),
}

impl Encoding {
    /// Those that are embedded.
    pub const ALL: [Self; 6] = [Self::Cl100k, Self::O200k, Self::Qwen2, Self::Tekken, Self::DeepSeekV3, Self::Gemma3];

    /// The name: tiktoken's where it has one.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cl100k => "cl100k_base",
            Self::O200k => "o200k_base",
            Self::Qwen2 => "qwen2",
            Self::Tekken => "tekken",
            Self::DeepSeekV3 => "deepseek_v3",
            Self::Gemma3 => "gemma3",
            Self::Loaded(loaded) => loaded.name(),
        }
    }

    /// The encoding of a name, `o200k_harmony` included.
    pub fn from_name(name: &str) -> Result<Self> {
        let wanted = if name == "o200k_harmony" { "o200k_base" } else { name };
        let embedded = Self::ALL.into_iter().find(|encoding| encoding.name() == wanted);
        embedded.or_else(|| custom::named(name).map(Self::Loaded)).ok_or_else(|| {
            let known: Vec<&str> = Self::ALL.into_iter().map(Self::name).collect();
            Error::invalid(format!(
                "choosing an encoding: the name must be o200k_harmony or one of {}, got {name:?}: name one of these, \
                 or load its file first with memspan.tokenizers.load",
                known.join(", ")
            ))
            .with("encoding", name)
        })
    }

    /// Its number in hashes and tables: of an embedded one, its place in [`Self::ALL`].
    pub(super) fn number(self) -> u64 {
        match self {
            Self::Cl100k => 0,
            Self::O200k => 1,
            Self::Qwen2 => 2,
            Self::Tekken => 3,
            Self::DeepSeekV3 => 4,
            Self::Gemma3 => 5,
            Self::Loaded(loaded) => loaded.number(),
        }
    }

    /// Its packed vocabulary, if it is embedded.
    pub(super) fn packed(self) -> &'static [u8] {
        match self {
            Self::Cl100k => include_bytes!("data/cl100k_base.bin"),
            Self::O200k => include_bytes!("data/o200k_base.bin"),
            Self::Qwen2 => include_bytes!("data/qwen2.bin"),
            Self::Tekken => include_bytes!("data/tekken.bin"),
            Self::DeepSeekV3 => include_bytes!("data/deepseek_v3.bin"),
            Self::Gemma3 => include_bytes!("data/gemma3.bin"),
            Self::Loaded(_) => &[],
        }
    }

    /// How many pretokens at the end of a text can change when more is appended to it.
    pub(super) fn unsettled(self) -> usize {
        match self {
            Self::Cl100k => Cl100k::UNSETTLED,
            Self::O200k => O200k::UNSETTLED,
            Self::Qwen2 => Qwen2::UNSETTLED,
            Self::Tekken => Tekken::UNSETTLED,
            // The most of any pattern.
            Self::Loaded(_) => 2,
            Self::DeepSeekV3 => DeepSeek::UNSETTLED,
            Self::Gemma3 => Gemma3::UNSETTLED,
        }
    }

    /// Whether its merges begin with characters rather than with bytes.
    pub(super) fn merges_characters(self) -> bool {
        self == Self::Gemma3
    }

    /// Whether a pretoken depends only on what stands right behind it.
    pub(super) fn is_local(self) -> bool {
        if let Self::Loaded(loaded) = self { loaded.is_local() } else { true }
    }

    /// The widest token that it can have, in bytes: what bounds a count from below.
    pub(super) fn max_width(self) -> usize {
        if matches!(self, Self::Loaded(_)) { usize::MAX } else { MAX_WIDTH }
    }

    /// Whether texts are brought into Unicode normal form C before they are cut.
    pub(super) fn composes(self) -> bool {
        match self {
            Self::Qwen2 => true,
            Self::Loaded(loaded) => loaded.normalizes(),
            _ => false,
        }
    }

    /// The text that is cut: itself, but for characters that its normal form writes otherwise. To `gemma3` U+2581 is a space.
    pub(super) fn normalized(self, text: &str) -> Cow<'_, str> {
        if self == Self::Gemma3 && text.contains('\u{2581}') {
            return Cow::Owned(text.replace('\u{2581}', " "));
        }
        if !self.composes() || text.is_ascii() || is_nfc_quick(text.chars()) == IsNormalized::Yes {
            return Cow::Borrowed(text);
        }
        Cow::Owned(text.nfc().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for encoding in Encoding::ALL {
            assert_eq!(Encoding::from_name(encoding.name()).ok(), Some(encoding));
            assert_eq!(Encoding::ALL[encoding.number() as usize], encoding);
        }
        assert_eq!(Encoding::from_name("o200k_harmony").ok(), Some(Encoding::O200k));
        assert!(Encoding::from_name("p50k_base").is_err());
    }
}
