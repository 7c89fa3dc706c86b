//! Facts about a model beyond those that a prompt needs: its prices, its provider's cache, its capabilities.
//!
//! They are for choosing a model and for reports. No prompt depends on them.

use super::Model;
use crate::context::Responses;

/// A model with its facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    /// The facts that a prompt needs.
    pub model: Model,
    /// Whose it is; empty where the program registered it.
    pub vendor: Box<str>,
    /// Up to where it was measured to work as well as on short texts; none where nobody measured.
    pub usable_window: Option<u64>,
    /// Its prices.
    pub prices: Prices,
    /// How its provider caches.
    pub cache: CacheRules,
    /// Its capabilities, as sorted names.
    pub capabilities: Vec<Box<str>>,
    /// The day from which it is not served any more, `2026-10-23`.
    pub retires_on: Option<Box<str>>,
}

/// Prices in millionths of a dollar for a million tokens; none where there is no such price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Prices {
    /// The price of the prompt.
    pub input: Option<u64>,
    /// The price of the reply.
    pub output: Option<u64>,
    /// The price of what the cache had.
    pub cache_read: Option<u64>,
    /// The price of what goes into the cache.
    pub cache_write: Option<u64>,
    /// The price of what goes into the cache for the longer lifetime that the provider offers.
    pub cache_write_long: Option<u64>,
}

/// How a provider caches the beginning of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheRules {
    /// The cached length is a multiple of this many tokens, beyond [`Model::min_cached_tokens`].
    pub step_tokens: u64,
    /// How long what was cached stays without being used.
    pub ttl_seconds: u64,
    /// How many places a request may mark; 0 where the provider finds them by itself.
    pub breakpoints: u64,
}

impl Profile {
    /// Whether its replies begin with hidden thinking that counts as output, unless it is asked not to. Anthropic's and Mistral's models
    /// think where they are asked to.
    #[must_use]
    pub fn thinks_by_default(&self) -> bool {
        let reasons = self.capabilities.iter().any(|capability| &**capability == "reasoning");
        reasons && !matches!(&*self.vendor, "anthropic" | "mistral")
    }

    /// The parts of `OpenAI`'s responses that it is sent; all where it is not known whose it is.
    #[must_use]
    pub fn responses(&self) -> Responses {
        if self.vendor.is_empty() {
            return Responses::ALL;
        }
        let own = &*self.vendor == "openai";
        Responses { own, reasoning: own && self.capabilities.iter().any(|capability| &**capability == "reasoning") }
    }

    /// The profile of a model that no catalogue knows.
    #[must_use]
    pub fn of(model: Model) -> Self {
        Self {
            vendor: "".into(),
            usable_window: None,
            prices: Prices::default(),
            cache: CacheRules { step_tokens: 1, ttl_seconds: 300, breakpoints: 0 },
            capabilities: Vec::new(),
            retires_on: None,
            model,
        }
    }
}
