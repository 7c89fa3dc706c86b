//! The built-in models: public facts from the vendors' model pages (2026-11), one row a family.

use std::sync::{Arc, LazyLock};

use super::Model;
use super::framings::GPT_4O_MINI;
use crate::context::Factor;
use crate::context::framing::Framing;
use crate::tokens::Encoding;

struct Row {
    name: &'static str,
    context_window: u64,
    max_output_tokens: u64,
    encoding: Encoding,
    /// Thousandths.
    factor: u32,
    framing: Framing,
    append_only: bool,
    min_cached_tokens: u64,
}

const OPENAI: Row = Row {
    name: "",
    context_window: 128_000,
    max_output_tokens: 16_384,
    encoding: Encoding::O200k,
    factor: 1_000,
    framing: Framing::GPT_4O,
    append_only: false,
    min_cached_tokens: 1_024,
};

const CLAUDE: Row = Row { context_window: 200_000, max_output_tokens: 64_000, factor: 1_350, framing: Framing::ANTHROPIC, ..OPENAI };

const ROWS: &[Row] = &[
    Row { name: "gpt-4o-mini", framing: GPT_4O_MINI, ..OPENAI },
    Row { name: "gpt-4o", ..OPENAI },
    Row { name: "gpt-4.1", context_window: 1_047_576, max_output_tokens: 32_768, ..OPENAI },
    Row {
        name: "gpt-4-turbo",
        max_output_tokens: 4_096,
        encoding: Encoding::Cl100k,
        framing: Framing::GPT_4,
        min_cached_tokens: 0,
        ..OPENAI
    },
    Row {
        name: "gpt-4",
        context_window: 8_192,
        max_output_tokens: 8_192,
        encoding: Encoding::Cl100k,
        framing: Framing::GPT_4,
        min_cached_tokens: 0,
        ..OPENAI
    },
    Row {
        name: "gpt-3.5-turbo",
        context_window: 16_385,
        max_output_tokens: 4_096,
        encoding: Encoding::Cl100k,
        framing: Framing::GPT_4,
        min_cached_tokens: 0,
        ..OPENAI
    },
    Row { name: "gpt-5", context_window: 400_000, max_output_tokens: 128_000, ..OPENAI },
    Row { name: "claude-sonnet-4-5", ..CLAUDE },
    Row { name: "claude-opus-4-1", max_output_tokens: 32_000, ..CLAUDE },
    Row { name: "claude-haiku-4-5", min_cached_tokens: 4_096, ..CLAUDE },
];

/// The rows as models, sorted by name.
static MODELS: LazyLock<Vec<Arc<Model>>> = LazyLock::new(|| {
    let mut models: Vec<Arc<Model>> = ROWS.iter().map(|row| Arc::new(row.model())).collect();
    models.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    models
});

impl Row {
    fn model(&self) -> Model {
        Model {
            name: self.name.into(),
            context_window: self.context_window,
            max_output_tokens: self.max_output_tokens,
            encoding: self.encoding,
            factor: Factor::new(self.factor),
            framing: self.framing,
            append_only: self.append_only,
            min_cached_tokens: self.min_cached_tokens,
        }
    }
}

/// The model whose name `name` is, or else the one with the longest name that `name` begins with up to a dash.
pub(super) fn find(name: &str) -> Option<Arc<Model>> {
    let mut family = name;
    loop {
        if let Ok(at) = MODELS.binary_search_by(|model| (*model.name).cmp(family)) {
            return Some(Arc::clone(&MODELS[at]));
        }
        family = family.rsplit_once('-')?.0;
    }
}

/// All of them, sorted by name.
pub(super) fn models() -> impl Iterator<Item = &'static Arc<Model>> {
    MODELS.iter()
}
