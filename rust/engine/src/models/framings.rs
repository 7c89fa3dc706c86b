//! The frames of requests by name, so that a model can be written down and registered.
//!
//! `OpenAI`, "Images and vision" (2025-11), for the prices of images. The frames of open models are those of their chat templates:
//! Llama 3 puts four tokens and the role around a message, `ChatML` (Qwen) the same, Mistral and `DeepSeek` two, that of the role
//! included. Their tools are counted by `OpenAI`'s recipe, which their templates exceed: leave room for many or large ones.

use crate::context::image::ImageRule;
use crate::context::message::Media;
use crate::context::{Format, Framing};
use crate::{Error, Result};

const FRAMINGS: &[(&str, Framing)] = &[
    ("gpt-4o", Framing::GPT_4O),
    ("gpt-4o-mini", tiles(2_833, 5_667)),
    ("gpt-4.1-mini", patches(1_620)),
    ("gpt-4.1-nano", patches(2_460)),
    ("o1", tiles(75, 150)),
    ("o4-mini", patches(1_720)),
    ("gpt-5", tiles(70, 140)),
    ("gpt-4", Framing::GPT_4),
    ("claude", Framing::ANTHROPIC),
    ("gemini", Framing::GEMINI),
    ("gemini-3", Framing::GEMINI_3),
    ("llama-3", Framing { per_message: 4, reply: 5, ..Framing::GPT_4O }),
    ("chatml", Framing { per_message: 4, ..Framing::GPT_4O }),
    ("mistral", Framing { per_message: 1, reply: 1, ..Framing::GPT_4O }),
    ("deepseek", Framing { per_message: 1, reply: 2, ..Framing::GPT_4O }),
];

const fn tiles(base: u64, tile: u64) -> Framing {
    Framing { images: ImageRule::Tiles { base, tile }, ..Framing::GPT_4O }
}

const fn patches(per_mille: u64) -> Framing {
    Framing { images: ImageRule::Patches { per_mille }, ..Framing::GPT_4O }
}

/// The frame of a name: that of the model or the template which it was observed on.
pub fn framing(name: &str) -> Result<Framing> {
    FRAMINGS.iter().find(|(known, _)| *known == name).map(|(_, framing)| *framing).ok_or_else(|| {
        let known: Vec<&str> = FRAMINGS.iter().map(|(known, _)| *known).collect();
        Error::invalid(format!(
            "registering a model: framing must be one of {}, got {name:?}: name the family whose requests it takes",
            known.join(", ")
        ))
        .with("framing", name)
    })
}

/// The name of a frame; none where it was put together by hand.
#[must_use]
pub fn framing_name(framing: Framing) -> Option<&'static str> {
    let bare = Framing { media: Media::ALL, ..framing };
    FRAMINGS.iter().find(|(_, known)| *known == bare).map(|(name, _)| *name)
}

/// The name of a frame; of one that was put together by hand, the name of its vendor's.
#[must_use]
pub fn nearest_framing_name(framing: Framing) -> &'static str {
    framing_name(framing).unwrap_or(match framing.format {
        Format::Anthropic => "claude",
        Format::OpenAi | Format::Responses | Format::Gemini => "gpt-4o",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_frame_has_one_name() {
        for (name, framing) in FRAMINGS {
            assert_eq!(framing_name(*framing), Some(*name));
        }
        assert_eq!(framing_name(Framing { reply: 99, ..Framing::GPT_4O }), None);
    }
}
