//! The messages that the gate is given, and the claims that it gives back.

use super::without_blocks;
use crate::{Error, Result};

/// The category of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// A taste or a wish.
    Preference,
    /// A decision.
    Decision,
    /// How a task ended.
    TaskOutcome,
    /// A constraint.
    Constraint,
    /// A fact.
    Semantic,
    /// Something that happened or was wanted once.
    Episodic,
    /// Who somebody is.
    Profile,
    /// Nothing to store.
    Discard,
}

impl Category {
    /// Those that are kinds of memory.
    pub const KEPT: [Self; 7] =
        [Self::Preference, Self::Decision, Self::TaskOutcome, Self::Constraint, Self::Semantic, Self::Episodic, Self::Profile];

    /// The one of that name that is a kind of memory.
    pub fn of_kind(name: &str) -> Result<Self> {
        Self::KEPT
            .into_iter()
            .find(|category| category.name() == name)
            .ok_or_else(|| Error::invalid(format!("reading a claim: its category is a kind of memory, and it is {name:?}: choose one")))
    }

    /// Its name in the API: of all but the last, that of the kind of memory that it becomes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Preference => "preference",
            Self::Decision => "decision",
            Self::TaskOutcome => "task_outcome",
            Self::Constraint => "constraint",
            Self::Semantic => "semantic",
            Self::Episodic => "episodic",
            Self::Profile => "profile",
            Self::Discard => "discard",
        }
    }
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// The user.
    User,
    /// The model.
    Assistant,
    /// A tool, or the application.
    Other,
}

impl Speaker {
    /// Its role.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Other => "other",
        }
    }

    /// The speaker whose role that is.
    #[must_use]
    pub fn of_role(role: &str) -> Self {
        match role {
            "user" => Self::User,
            "assistant" => Self::Assistant,
            _ => Self::Other,
        }
    }
}

/// One message, as the gate reads it.
#[derive(Debug, Clone, Copy)]
pub struct Utterance<'a> {
    /// Its text.
    pub text: &'a str,
    /// Who said it.
    pub speaker: Speaker,
    /// The other side's last message; empty where there was none.
    pub before: &'a str,
    /// The other side's next message; empty where it is not known.
    pub after: &'a str,
    /// When, in microseconds since 1970.
    pub at: i64,
}

/// The gate's decision on a part of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Its category.
    pub category: Category,
    /// The text that would be stored; where nothing is stored, the words themselves.
    pub text: String,
    /// The attribute that it gives a value to.
    pub slot: Option<String>,
    /// The value that it replaces, in the user's words.
    pub replaces: Option<String>,
    /// The fact that holds no longer, in the user's words.
    pub ends: Option<String>,
    /// In thousandths.
    pub importance: u16,
    /// In thousandths.
    pub confidence: u16,
    /// The bytes of the message that it rests on.
    pub span: (usize, usize),
    /// How many days before it was said it was; 0 where no one day is named.
    pub days_ago: i64,
    /// Which rule, or why nothing is stored.
    pub reason: String,
    /// Why somebody must approve it first.
    pub doubt: Option<&'static str>,
}

/// A message of a conversation, as the gate is given it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// Its place in the conversation, from 0.
    pub index: u64,
    /// Who said it.
    pub speaker: Speaker,
    /// The speaker's name, where several users share a scope.
    pub by: Option<String>,
    /// Its text.
    pub text: String,
    /// When, in microseconds since 1970, where that is known.
    pub at: Option<i64>,
    /// When it was added to a session.
    pub added_at: Option<i64>,
    /// The session that it was copied from, where that is another one.
    pub origin: Option<String>,
}

impl Heard {
    /// A message of a role, by its place. Blocks that a prompt showed do not count as words of a speaker who quotes them.
    #[must_use]
    pub fn new(index: u64, role: &str, text: &str, at: Option<i64>) -> Self {
        Self { index, speaker: Speaker::of_role(role), by: None, text: without_blocks(text).into_owned(), at, added_at: None, origin: None }
    }

    /// This message as said by somebody of that name, where several users share a scope.
    #[must_use]
    pub fn said_by(self, by: Option<String>) -> Self {
        Self { by, ..self }
    }
}
