//! How many tokens a growing text is, for a model.

use super::Model;
use crate::process::Shared;
use crate::tokens::TokenCounter;

/// A text that grows, and its count: a bound where the model's tokenizer is closed.
#[derive(Debug)]
pub struct TextCounter {
    model: Model,
    counter: Shared<TokenCounter>,
}

impl TextCounter {
    /// The counter of an empty text.
    #[must_use]
    pub fn new(model: Model) -> Self {
        Self { counter: Shared::new(TokenCounter::new(model.encoding)), model }
    }

    /// Appends to the text; the count of all of it.
    pub fn append(&self, text: &str) -> u64 {
        self.model.factor.bound(self.counter.with(|counter| counter.append(text)) as u64)
    }

    /// The count.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.model.factor.bound(self.counter.with(|counter| counter.count()) as u64)
    }

    /// Begins a new text.
    pub fn clear(&self) {
        self.counter.with(TokenCounter::clear);
    }

    /// The model that it counts for.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_growing_text_counts_as_the_whole_does() {
        for name in ["gpt-4o", "claude-sonnet-4-5"] {
            let model = Model::named(name).unwrap();
            let counter = TextCounter::new(model.clone());
            counter.append("one two ");
            assert_eq!(counter.append("three"), model.count_text("one two three"), "{name}");
            counter.clear();
            assert_eq!((counter.count(), &*counter.model().name), (0, name));
        }
    }
}
