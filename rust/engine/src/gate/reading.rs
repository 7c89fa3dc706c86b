//! The reading of a sentence by a rule: the category, the slot with its value, and what the claim replaces or ends.

use super::{Category, family};

/// The claims of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Its category.
    pub category: Category,
    /// Said so that it stands alone; `None` keeps the sentence.
    pub text: Option<String>,
    /// The attribute that it gives a value to.
    pub slot: Option<String>,
    /// The value that it replaces, in the user's words.
    pub replaces: Option<String>,
    /// Something that holds no longer, in the user's words.
    pub ends: Option<String>,
    /// In thousandths.
    pub importance: u16,
    /// In thousandths.
    pub confidence: u16,
    /// Which rule read it.
    pub rule: &'static str,
}

impl Reading {
    pub(super) fn new(category: Category, rule: &'static str) -> Self {
        let importance = match category {
            Category::Constraint => 900,
            Category::Profile => 800,
            Category::Preference | Category::Decision => 700,
            Category::TaskOutcome => 600,
            Category::Semantic | Category::Episodic | Category::Discard => 500,
        };
        Self { category, text: None, slot: None, replaces: None, ends: None, importance, confidence: 900, rule }
    }

    pub(super) fn text(mut self, text: String) -> Self {
        self.text = Some(text);
        self
    }

    /// The text where it says all that its sentence does; else the sentence is kept.
    pub(super) fn told(mut self, text: String, whole: bool) -> Self {
        self.text = whole.then_some(text);
        self
    }

    /// Whether it tells a model, or those who work with the user, what to do each time.
    pub(super) fn is_order(&self) -> bool {
        ["rule", "how to answer"].contains(&self.rule)
    }

    /// Whether it says something of somebody's health, or of what they must avoid.
    pub(super) fn is_of_health(&self) -> bool {
        ["allergy", "health", "diet", "medicine", family::RULE].contains(&self.rule)
    }

    pub(super) fn slot(mut self, slot: impl Into<String>) -> Self {
        self.slot = Some(slot.into());
        self
    }
}
