//! The built-in models: the table that `tools/build_models.py` writes, which documents its columns and sources.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::profile::{CacheRules, Prices, Profile};
use super::{Model, framing};
use crate::context::Framing;
use crate::context::message::Media;
use crate::process::Lazy;
use crate::tokens::Encoding;
use crate::tokens::Factor;

const TABLE: &str = include_str!("data/catalogue.tsv");
const COLUMNS: usize = 21;

/// By name, and by the other names of each.
static MODELS: Lazy<BTreeMap<Box<str>, Arc<Profile>>> = Lazy::new(|| {
    let mut models = BTreeMap::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let row = Row::split(line);
        let profile = row.profile().map(Arc::new).expect("the table is embedded, and a test reads every line of it");
        for alias in row.list(1) {
            models.insert(alias.into(), Arc::clone(&profile));
        }
        models.insert(row.0[0].into(), profile);
    }
    models
});

/// The model of a name, of one of its other names, or of the name without its version: `gpt-4o-2024-08-06` is a `gpt-4o`.
/// A provider's prefix (`openai/gpt-4o`) and the case of letters do not count.
pub(super) fn find(name: &str) -> Option<Arc<Profile>> {
    let name = name.get(..name.len().min(256))?.rsplit('/').next()?.to_ascii_lowercase();
    let mut family = &*name;
    loop {
        if let Some(profile) = MODELS.get(family) {
            return Some(Arc::clone(profile));
        }
        let (rest, version) = family.rsplit_once('-')?;
        if !is_version(version) {
            return None;
        }
        family = rest;
    }
}

/// All of them, sorted by name.
pub(super) fn profiles() -> impl Iterator<Item = &'static Arc<Profile>> {
    MODELS.iter().filter(|(name, profile)| name.as_ref() == &*profile.model.name).map(|(_, profile)| profile)
}

/// A part of a date, a build number, or a word for a version. A single digit is none: `claude-opus-4-9` is another model than
/// `claude-opus-4`, with another window.
fn is_version(part: &str) -> bool {
    let digits = part.len() >= 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    digits || matches!(part, "latest" | "preview" | "instruct" | "exp")
}

/// A line of the table.
struct Row<'a>(Vec<&'a str>);

impl<'a> Row<'a> {
    fn split(line: &'a str) -> Self {
        Self(line.split('\t').collect())
    }

    fn profile(&self) -> Option<Profile> {
        if self.0.len() != COLUMNS {
            return None;
        }
        let capabilities: Vec<Box<str>> = self.list(19).map(Into::into).collect();
        let model = Model {
            name: self.0[0].into(),
            context_window: self.number(3)?,
            max_input_tokens: self.number(4)?,
            max_output_tokens: self.number(5)?,
            encoding: Encoding::from_name(self.0[7]).ok()?,
            factor: Factor::new(self.0[8].parse().ok()?),
            framing: Framing { media: media(&capabilities), ..framing(self.0[9]).ok()? },
            append_only: capabilities.iter().any(|capability| &**capability == "preserved_thinking"),
            min_cached_tokens: self.number(15)?,
            base_url: "".into(),
        };
        Some(Profile {
            vendor: self.0[2].into(),
            usable_window: self.number(6).filter(|window| *window > 0),
            prices: self.prices(),
            cache: CacheRules { step_tokens: self.number(16)?, ttl_seconds: self.number(17)?, breakpoints: self.number(18)? },
            capabilities,
            retires_on: Some(self.0[20]).filter(|day| !day.is_empty()).map(Into::into),
            model,
        })
    }

    fn number(&self, column: usize) -> Option<u64> {
        self.0[column].parse().ok()
    }

    fn list(&self, column: usize) -> impl Iterator<Item = &'a str> {
        self.0[column].split(',').filter(|item| !item.is_empty())
    }

    fn prices(&self) -> Prices {
        let [input, output, cache_read, cache_write, cache_write_long] = [10, 11, 12, 13, 14].map(|column| price(self.0[column]));
        Prices { input, output, cache_read, cache_write, cache_write_long }
    }
}

/// The media that a model takes by its capabilities; all where none are known.
pub fn media<S: AsRef<str>>(capabilities: &[S]) -> Media {
    let can = |name: &str| capabilities.is_empty() || capabilities.iter().any(|capability| capability.as_ref() == name);
    Media { images: can("vision"), documents: can("pdf"), audio: true } // the catalogue's sources do not say who takes sound
}

/// A decimal number of dollars as millionths; none where there is no price.
fn price(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let millionths: u64 = format!("{fraction:0<6}").parse().ok().filter(|_| fraction.len() <= 6)?;
    Some(whole.parse::<u64>().ok()? * 1_000_000 + millionths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_model_that_can_be() {
        let lines: Vec<&str> = TABLE.lines().filter(|line| !line.starts_with('#')).collect();
        assert!(lines.len() > 100 && TABLE.len() < 150_000 && lines.is_sorted());
        for line in lines {
            let profile = Row::split(line).profile().unwrap_or_else(|| panic!("{line}"));
            let model = &profile.model;
            assert!(model.max_input_tokens <= model.context_window && model.max_output_tokens <= model.context_window, "{line}");
            assert!(profile.usable_window.is_none_or(|usable| usable <= model.context_window), "{line}");
            assert!(profile.capabilities.is_sorted(), "{line}");
            assert!((10..15).all(|column| Row::split(line).0[column].is_empty() || price(Row::split(line).0[column]).is_some()), "{line}");
            assert!(profile.prices.cache_read.is_none_or(|read| Some(read) <= profile.prices.input), "{line}");
            assert!(Framing::GPT_4O.format == model.framing.format || &*profile.vendor == "anthropic", "{line}");
        }
    }

    #[test]
    fn the_models_of_every_years_transcripts_are_there() {
        for name in ["gpt-4o", "claude-3-7-sonnet", "claude-sonnet-4", "gemini-1.5-pro", "gemini-2.0-flash", "llama-3.3-70b"] {
            assert_eq!(&*find(name).unwrap().model.name, name);
        }
    }

    #[test]
    fn versions_prefixes_and_other_names_lead_to_the_family() {
        for (asked, name) in [
            ("gpt-4o-2024-08-06", "gpt-4o"),
            ("gpt-4o-mini-2024-07-18", "gpt-4o-mini"),
            ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
            ("claude-sonnet-4-20250514", "claude-sonnet-4"),
            ("gemini-2.0-flash-001", "gemini-2.0-flash"),
            ("openai/GPT-4o", "gpt-4o"),
            ("meta-llama/Llama-3.3-70B-Instruct", "llama-3.3-70b"),
            ("deepseek/deepseek-chat", "deepseek-chat"),
        ] {
            assert_eq!(&*find(asked).unwrap_or_else(|| panic!("{asked}")).model.name, name);
        }
        for other in ["claude-opus-4-9", "gpt-4o-audio", "gpt-6", "gpt", "", "/", "-", "gpt-4o-"] {
            assert!(find(other).is_none(), "{other}");
        }
        assert!(find(&"é".repeat(1_000)).is_none() && find(&"-1".repeat(100_000)).is_none());
    }

    #[test]
    fn prices_are_exact() {
        assert_eq!(["2.5", "0.0375", "15"].map(price), [Some(2_500_000), Some(37_500), Some(15_000_000)]);
        assert_eq!(["", "x", "1.2345678", "1.x", "-1"].map(price), [None; 5]);
        assert_eq!(find("gpt-4o").unwrap().prices.input, Some(2_500_000));
    }
}
