//! The frames of requests by name, so that a model can be written down and registered.

use crate::context::Framing;
use crate::context::image::ImageRule;
use crate::{Error, Result};

/// gpt-4o-mini: images cost 33 times as many tokens, each of which costs a 33rd of the price.
pub(super) const GPT_4O_MINI: Framing = Framing { images: ImageRule::Tiles { base: 2_833, tile: 5_667 }, ..Framing::GPT_4O };

const FRAMINGS: &[(&str, Framing)] =
    &[("gpt-4o", Framing::GPT_4O), ("gpt-4o-mini", GPT_4O_MINI), ("gpt-4", Framing::GPT_4), ("claude", Framing::ANTHROPIC)];

/// The frame of a name: that of the model family which it was observed on.
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
    FRAMINGS.iter().find(|(_, known)| *known == framing).map(|(name, _)| *name)
}
