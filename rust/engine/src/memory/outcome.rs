//! The outcome of a write: one word for it, the memory as it is stored now, and why.

use super::record::Memory;
use crate::{Error, Result};

/// The word for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It is a new memory.
    Added,
    /// It is a new revision of a memory.
    Updated,
    /// It took the slot of an older memory.
    Superseded,
    /// It was there already.
    Duplicate,
    /// It was not stored.
    Rejected,
    /// A memory that was there says it, and counts that it was said again.
    Reinforced,
    /// It is a new memory, without what the policy takes out.
    Redacted,
    /// It waits for somebody to approve it.
    Quarantined,
}

impl Action {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Added,
        Self::Updated,
        Self::Superseded,
        Self::Duplicate,
        Self::Rejected,
        Self::Reinforced,
        Self::Redacted,
        Self::Quarantined,
    ];

    /// The outcome of that name.
    pub fn parse(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name).ok_or_else(|| {
            Error::invalid("restoring a pickled Remembered: its action must be one of this version: pickle and restore with the same one")
        })
    }

    /// Whether something of the text is stored now that was not before, or counts for more.
    #[must_use]
    pub fn keeps(self) -> bool {
        matches!(self, Self::Added | Self::Updated | Self::Superseded | Self::Reinforced | Self::Redacted)
    }

    /// Its name in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Updated => "updated",
            Self::Superseded => "superseded",
            Self::Duplicate => "duplicate",
            Self::Rejected => "rejected",
            Self::Reinforced => "reinforced",
            Self::Redacted => "redacted",
            Self::Quarantined => "quarantined",
        }
    }
}

/// The answer to a write.
#[derive(Debug, Clone)]
pub struct Remembered {
    /// The word for what became of it.
    pub action: Action,
    /// The memory as it is stored now.
    pub memory: Memory,
    /// Why, where that is not plain.
    pub reason: Option<String>,
}
